//! The body of an answer on its way down: as it came, piece by piece, while a tee listens.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep};

use crate::tee::{Heard, Tee};
use crate::waiting::Held;

/// What becomes known when an answer has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) heard: Heard,
    /// Bytes that were passed on.
    pub(crate) bytes: u64,
    /// It came to its end, and did not break off.
    pub(crate) is_whole: bool,
}

type Then = Box<dyn FnOnce(Ended) + Send>;

/// The body of an answer.
pub(crate) enum Down {
    /// One of our own.
    Own(Option<Bytes>),
    /// What was read already, then the rest of the upstream's.
    Passing(Box<Passing>),
    /// A stream that was begun before the upstream was asked.
    Held(Box<Held>),
}

pub(crate) struct Passing {
    first: Option<Bytes>,
    rest: Option<Incoming>,
    tee: Option<Tee>,
    idle: Option<(Pin<Box<Sleep>>, Duration)>,
    bytes: u64,
    is_whole: bool,
    then: Option<Then>,
}

/// Nothing came from the upstream for too long, or it broke off.
#[derive(Debug, thiserror::Error)]
#[error("the upstream broke off")]
pub(crate) struct BrokenOff;

impl Down {
    pub(crate) fn own(bytes: impl Into<Bytes>) -> Self {
        Self::Own(Some(bytes.into()))
    }

    /// `first`: what was read already. `then` is called once, when it is over.
    pub(crate) fn passing(
        first: Option<Bytes>,
        rest: Option<Incoming>,
        tee: Option<Tee>,
        idle: Duration,
        then: Then,
    ) -> Self {
        let idle = rest
            .is_some()
            .then(|| (Box::pin(tokio::time::sleep(idle)), idle));
        Self::Passing(Box::new(Passing {
            first,
            rest,
            tee,
            idle,
            bytes: 0,
            is_whole: false,
            then: Some(then),
        }))
    }
}

impl Passing {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        if let Some(first) = self.first.take() {
            self.listen(&first);
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        let Some(rest) = &mut self.rest else {
            return self.over(true);
        };
        match Pin::new(rest).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(data) = frame.data_ref() {
                    let data = data.clone();
                    self.listen(&data);
                }
                if let Some((sleep, idle)) = &mut self.idle {
                    sleep.as_mut().reset(Instant::now() + *idle);
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(_))) => {
                self.rest = None;
                let _ = self.over(false);
                Poll::Ready(Some(Err(BrokenOff)))
            }
            Poll::Ready(None) => self.over(true),
            Poll::Pending => {
                let is_silent = self
                    .idle
                    .as_mut()
                    .is_some_and(|(sleep, _)| sleep.as_mut().poll(cx).is_ready());
                if is_silent {
                    self.rest = None;
                    let _ = self.over(false);
                    return Poll::Ready(Some(Err(BrokenOff)));
                }
                Poll::Pending
            }
        }
    }

    fn over(&mut self, is_whole: bool) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        self.is_whole = is_whole;
        self.tell();
        Poll::Ready(None)
    }

    /// A fault of the listener is none of the stream's.
    fn listen(&mut self, bytes: &Bytes) {
        self.bytes += bytes.len() as u64;
        if let Some(tee) = &mut self.tee
            && catch_unwind(AssertUnwindSafe(|| tee.push(bytes))).is_err()
        {
            self.tee = None;
        }
        // Whoever knows how much is to come does not ask for the end.
        if self.rest.as_ref().is_some_and(Body::is_end_stream)
            || (self.rest.is_none() && self.first.is_none())
        {
            self.is_whole = true;
            self.tell();
        }
    }

    fn tell(&mut self) {
        let Some(then) = self.then.take() else {
            return;
        };
        let heard = self.tee.take().and_then(|tee| {
            let end = AssertUnwindSafe(|| tee.end());
            catch_unwind(end).ok()
        });
        then(Ended {
            heard: heard.unwrap_or_default(),
            bytes: self.bytes,
            is_whole: self.is_whole,
        });
    }
}

/// The client went away: what was heard so far is told.
impl Drop for Passing {
    fn drop(&mut self) {
        self.tell();
    }
}

impl Body for Down {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        match self.get_mut() {
            Self::Own(bytes) => {
                let bytes = bytes.take().filter(|bytes| !bytes.is_empty());
                Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
            }
            Self::Passing(passing) => passing.poll(cx),
            Self::Held(held) => held.poll(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Own(bytes) => bytes.as_ref().is_none_or(Bytes::is_empty),
            Self::Passing(passing) => {
                passing.first.is_none() && passing.rest.as_ref().is_none_or(Body::is_end_stream)
            }
            Self::Held(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Own(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Passing(passing) => {
                let first = passing.first.as_ref().map_or(0, |first| first.len() as u64);
                let rest = passing.rest.as_ref().map(Body::size_hint);
                match rest.map_or(Some(0), |rest| rest.exact()) {
                    Some(rest) => SizeHint::with_exact(first + rest),
                    None => SizeHint::default(),
                }
            }
            Self::Held(_) => SizeHint::default(),
        }
    }
}
