//! A thread that owns what blocks, and futures of what it is asked. No runtime is needed.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;

use conspectus::store::{StoreError, Stores};

type Job<C> = Box<dyn FnOnce(&mut C) + Send>;

/// Does one thing after the other with a `C`, in the order in which it was asked.
#[derive(Debug)]
pub(crate) struct Worker<C> {
    jobs: Option<mpsc::Sender<Job<C>>>,
    thread: Option<JoinHandle<()>>,
}

impl<C: Send + 'static> Worker<C> {
    pub(crate) fn new(mut with: C) -> Self {
        let (jobs, asked) = mpsc::channel::<Job<C>>();
        let thread = std::thread::spawn(move || {
            while let Ok(job) = asked.recv() {
                job(&mut with);
            }
        });
        Self {
            jobs: Some(jobs),
            thread: Some(thread),
        }
    }

    /// Does `job` when its turn comes, also when nobody waits for it any more.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut C) -> Result<T, StoreError> + Send + 'static,
    ) -> Stores<'static, T> {
        let answer = Arc::new(Answer(Mutex::new((None, None))));
        let promise = Promise(answer.clone());
        let sent = self.jobs.as_ref().map(|jobs| {
            jobs.send(Box::new(move |with| {
                let result = job(with);
                promise.0.give(result);
            }))
        });
        // A job that could not be sent is dropped, and its promise says so.
        drop(sent);
        Box::pin(Waiting(answer))
    }
}

impl<C> Drop for Worker<C> {
    /// Waits for what was asked, so that the next one who opens the same finds it done.
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // What made it stop was told to whoever asked.
            let _ = thread.join();
        }
    }
}

type Slot<T> = (Option<Result<T, StoreError>>, Option<Waker>);

struct Answer<T>(Mutex<Slot<T>>);

impl<T> Answer<T> {
    fn give(&self, result: Result<T, StoreError>) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.0.is_none() {
            slot.0 = Some(result);
        }
        if let Some(waker) = slot.1.take() {
            waker.wake();
        }
    }
}

/// Tells that nothing will come, if it is dropped before something did.
struct Promise<T>(Arc<Answer<T>>);

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        let gone = StoreError::Unreachable("its thread stopped; open the store again".to_owned());
        self.0.give(Err(gone));
    }
}

struct Waiting<T>(Arc<Answer<T>>);

impl<T> Future for Waiting<T> {
    type Output = Result<T, StoreError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut slot = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        match slot.0.take() {
            Some(result) => Poll::Ready(result),
            None => {
                slot.1 = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}
