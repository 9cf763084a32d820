//! A reply that comes as a stream of events: pure, however the stream is cut.

use conspectus::Delta;
use conspectus::core::view::Usage;
use conspectus::wire::sse::SseDecoder;

use crate::dialect::{Dialect, Odd};
use crate::draft::Draft;

/// One event. A tool call's arguments come in pieces, so this is ample.
const MOST_EVENT_BYTES: usize = 4 << 20;

/// Follows one stream.
pub(crate) struct Following<'a> {
    dialect: &'a dyn Dialect,
    decoder: SseDecoder,
    draft: Draft,
    /// What was told of its usage.
    told: Option<Usage>,
    bytes: usize,
    most_bytes: usize,
    max_output_tokens: u64,
    on_delta: &'a (dyn Fn(Delta) + Send + Sync),
}

impl<'a> Following<'a> {
    /// A stream of up to `most_bytes`, with a reply of up to `max_output_tokens`.
    pub(crate) fn new(
        dialect: &'a dyn Dialect,
        most_bytes: usize,
        max_output_tokens: u64,
        on_delta: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> Self {
        Self {
            dialect,
            decoder: SseDecoder::new(MOST_EVENT_BYTES),
            draft: Draft::default(),
            told: None,
            bytes: 0,
            most_bytes,
            max_output_tokens,
            on_delta,
        }
    }

    /// Reads on. True: that was all, or more than there may be.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Result<bool, Odd> {
        self.bytes += piece.len();
        let (dialect, draft, mut odd) = (self.dialect, &mut self.draft, None);
        let pushed = self.decoder.push(piece, |event| {
            if odd.is_none() && !draft.is_complete {
                odd = dialect.event(&event, draft).err();
            }
        });
        self.draft.news.drain(..).for_each(self.on_delta);
        if let Some(odd) = odd {
            return Err(odd);
        }
        let is_over = pushed.is_err()
            || self.bytes > self.most_bytes
            || self.draft.is_over(self.max_output_tokens);
        if is_over && !self.draft.is_complete {
            self.draft.cut();
        }
        Ok(self.draft.is_complete)
    }

    /// What it was reported to cost, if that is new.
    pub(crate) fn new_usage(&mut self) -> Option<&Usage> {
        if self.draft.usage == self.told {
            return None;
        }
        self.told.clone_from(&self.draft.usage);
        self.told.as_ref()
    }

    /// The reply, if the stream may end here. How it ended may be known before its terminator and its figures come.
    pub(crate) fn end(mut self) -> Option<Draft> {
        if !self.draft.is_complete
            && let Some(last) = self.decoder.finish()
        {
            // Half an event is no event.
            let _ = self.dialect.event(&last, &mut self.draft);
        }
        let may_end = self.draft.is_complete || self.draft.end.is_some();
        may_end.then_some(self.draft)
    }

    /// Whether how it ended is known already.
    pub(crate) fn may_end(&self) -> bool {
        self.draft.end.is_some()
    }
}

#[cfg(test)]
mod tests {
    use conspectus_testkit::rng::Rng;

    use super::*;
    use crate::{anthropic, openai};

    const OPENAI: &str = concat!(
        ": OPENROUTER PROCESSING\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Tea — \"},\"finish_reason\":null}],\"usage\":null}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"done \\ud83d\\ude00.\"}}]}\r\n\r\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":15,\"completion_tokens\":4}}\n\n",
        "data: [DONE]\n\n",
    );
    const ANTHROPIC: &str = concat!(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"content\":[],\"usage\":{\"input_tokens\":5}}}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        "event: ping\ndata: {\"type\":\"ping\"}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Tea — \"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"done \\ud83d\\ude00.\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":4}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    );

    fn dialects() -> [(Box<dyn Dialect>, &'static str); 2] {
        [
            (Box::new(openai::Spelling::default()), OPENAI),
            (Box::new(anthropic::Spelling::default()), ANTHROPIC),
        ]
    }

    /// The text of a stream in these pieces, if it is a whole reply.
    fn read(dialect: &dyn Dialect, pieces: &[&[u8]]) -> Option<String> {
        let mut following = Following::new(dialect, 1 << 20, 100, &|_| {});
        for piece in pieces {
            match following.push(piece) {
                Ok(false) => {}
                Ok(true) => break,
                Err(_) => return None,
            }
        }
        Some(following.end()?.text)
    }

    #[test]
    fn a_stream_cut_anywhere_is_whole_or_nothing() {
        for (dialect, stream) in dialects() {
            let bytes = stream.as_bytes();
            let whole = Some("Tea — done 😀.".to_owned());
            assert_eq!(read(dialect.as_ref(), &[bytes]), whole);
            let mut ends = 0;
            for cut in 0..bytes.len() {
                let (start, rest) = bytes.split_at(cut);
                assert_eq!(read(dialect.as_ref(), &[start, rest]), whole, "{cut}");
                let half = read(dialect.as_ref(), &[start]);
                assert!(half.is_none() || half == whole, "{cut}: {half:?}");
                ends += usize::from(half.is_some());
            }
            assert!(ends > 0 && ends < bytes.len() / 2, "{ends}");
        }
    }

    #[test]
    fn changed_streams_do_no_harm() {
        let mut rng = Rng::new(7);
        for (dialect, stream) in dialects() {
            for _ in 0..3_000 {
                let mut bytes = stream.as_bytes().to_vec();
                for _ in 0..=rng.below(4) {
                    if bytes.is_empty() {
                        break;
                    }
                    let at = rng.below(bytes.len());
                    match rng.below(4) {
                        0 => bytes[at] = b"{}[]\":,\n\r\xff0"[rng.below(11)],
                        1 => drop(bytes.remove(at)),
                        2 => bytes.truncate(at),
                        _ => {
                            let piece = bytes[at..].to_vec();
                            bytes.extend(piece);
                        }
                    }
                }
                let pieces: Vec<&[u8]> = bytes.chunks(rng.below(90) + 1).collect();
                let in_pieces = read(dialect.as_ref(), &pieces);
                assert_eq!(in_pieces, read(dialect.as_ref(), &[&bytes]));
                let _ = dialect.whole(&String::from_utf8_lossy(&bytes), &mut Draft::default());
            }
        }
    }
}
