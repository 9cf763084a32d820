//! What an answer says beside itself: usage, and a refusal inside of a stream.
//!
//! It listens to bytes that are already on their way to the client. It never waits, keeps a bounded amount, and what it
//! cannot read it does not know.

use std::io::Write as _;

use conspectus::Format;
use conspectus::core::effect::Failure;
use conspectus::core::view::Usage;
use conspectus::wire::failure::{ErrorClass, ProviderError};
use conspectus::wire::json::Object;
use conspectus::wire::sse::SseDecoder;
use conspectus::wire::{anthropic_usage, openai_usage, responses_usage};

use crate::body::Coding;

/// The most that is kept of an answer that is one document, or of one event.
const MOST: usize = 8 << 20;

/// What was heard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    /// What the provider reported.
    pub(crate) usage: Option<Usage>,
    /// The request was too large, which was said in a stream that had begun well.
    pub(crate) refusal: Option<Failure>,
}

/// Listens to one answer.
pub(crate) struct Tee {
    format: Format,
    way: Way,
    heard: Heard,
}

enum Way {
    Stream(Box<SseDecoder>, Unpack),
    Document(Vec<u8>, Coding),
    Deaf,
}

/// How a stream is unpacked as it comes.
enum Unpack {
    Plain,
    Gzip(Box<flate2::write::MultiGzDecoder<Vec<u8>>>),
    Deflate(Box<flate2::write::ZlibDecoder<Vec<u8>>>),
}

impl Tee {
    /// For an answer to a request of this format.
    pub(crate) fn new(format: Format, is_stream: bool, coding: Coding) -> Self {
        let unpack = match coding {
            Coding::Identity => Some(Unpack::Plain),
            Coding::Gzip => Some(Unpack::Gzip(Box::new(flate2::write::MultiGzDecoder::new(
                Vec::new(),
            )))),
            Coding::Deflate => Some(Unpack::Deflate(Box::new(flate2::write::ZlibDecoder::new(
                Vec::new(),
            )))),
            Coding::Zstd | Coding::Unknown => None,
        };
        let way = match (is_stream, unpack, coding) {
            (true, Some(unpack), _) => Way::Stream(Box::new(SseDecoder::new(MOST)), unpack),
            (_, _, Coding::Unknown) => Way::Deaf,
            _ => Way::Document(Vec::new(), coding),
        };
        Self {
            format,
            way,
            heard: Heard::default(),
        }
    }

    /// The next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let is_fine = match &mut self.way {
            Way::Deaf => true,
            Way::Document(kept, _) => {
                let fits = kept.len() + bytes.len() <= MOST;
                if fits {
                    kept.extend_from_slice(bytes);
                }
                fits
            }
            Way::Stream(decoder, unpack) => {
                let (format, heard) = (self.format, &mut self.heard);
                let mut each = |plain: &[u8]| {
                    decoder
                        .push(plain, |event| listen(format, &event.data, heard))
                        .is_ok()
                };
                match unpack {
                    Unpack::Plain => each(bytes),
                    Unpack::Gzip(inner) => {
                        inner.write_all(bytes).is_ok()
                            && inner.flush().is_ok()
                            && each(&std::mem::take(inner.get_mut()))
                    }
                    Unpack::Deflate(inner) => {
                        inner.write_all(bytes).is_ok()
                            && inner.flush().is_ok()
                            && each(&std::mem::take(inner.get_mut()))
                    }
                }
            }
        };
        if !is_fine {
            self.way = Way::Deaf;
        }
    }

    /// What was heard in all.
    pub(crate) fn end(mut self) -> Heard {
        match self.way {
            Way::Document(kept, coding) => {
                let plain = coding.decode(&kept.into(), MOST);
                let text = plain
                    .as_deref()
                    .and_then(|plain| std::str::from_utf8(plain).ok());
                if let Some(text) = text {
                    if text.trim_start().starts_with('{') {
                        document(self.format, text.trim(), &mut self.heard);
                    } else {
                        // A stream that could not be unpacked as it came.
                        let mut decoder = SseDecoder::new(MOST);
                        let (format, heard) = (self.format, &mut self.heard);
                        let _ = decoder.push(text.as_bytes(), |e| listen(format, &e.data, heard));
                    }
                }
            }
            Way::Stream(decoder, _) => {
                if let Some(event) = decoder.finish() {
                    listen(self.format, &event.data, &mut self.heard);
                }
            }
            Way::Deaf => {}
        }
        self.heard
    }
}

/// One event.
fn listen(format: Format, data: &str, heard: &mut Heard) {
    const WORDS: [&str; 3] = ["\"usage\"", "\"error\"", "context_window"];
    if !WORDS.iter().any(|word| data.contains(word)) {
        return;
    }
    let Some(event) = Object::of(data) else {
        return;
    };
    if event.value("error").is_some() || event.string("type").as_deref() == Some("error") {
        refused(data, heard);
    }
    match format {
        Format::Anthropic => {
            let started = event.object("message");
            if let Some(usage) = started.and_then(|message| message.object("usage")) {
                heard.usage = anthropic_usage(&usage);
            }
            if let Some(usage) = event.object("usage") {
                ended(&usage, heard);
            }
            let delta = event.object("delta");
            stopped(
                delta
                    .and_then(|delta| delta.string("stop_reason"))
                    .as_deref(),
                heard,
            );
        }
        Format::Responses => {
            let Some(response) = event.object("response") else {
                return;
            };
            if let Some(usage) = response.object("usage") {
                heard.usage = responses_usage(&usage).or(heard.usage.take());
            }
            if let Some(error) = response.value("error") {
                refused(&format!("{{\"error\":{error}}}"), heard);
            }
        }
        _ => {
            if let Some(usage) = event.object("usage") {
                heard.usage = openai_usage(&usage).or(heard.usage.take());
            }
        }
    }
}

/// An answer that is one document.
fn document(format: Format, text: &str, heard: &mut Heard) {
    let Some(answer) = Object::of(text) else {
        return;
    };
    if let Some(usage) = answer.object("usage") {
        heard.usage = match format {
            Format::Anthropic => anthropic_usage(&usage),
            Format::Responses => responses_usage(&usage),
            _ => openai_usage(&usage),
        };
    }
    stopped(answer.string("stop_reason").as_deref(), heard);
}

/// Anthropic counts up while it writes.
fn ended(usage: &Object<'_>, heard: &mut Heard) {
    let now = anthropic_usage(usage);
    let output = usage.number("output_tokens").unwrap_or(0);
    match (&mut heard.usage, now) {
        (_, Some(now)) if now.input > 0 => heard.usage = Some(now),
        (Some(known), _) => known.output = known.output.max(output),
        (None, now) => heard.usage = now,
    }
}

/// The window was full before the reply was.
fn stopped(reason: Option<&str>, heard: &mut Heard) {
    if reason == Some("model_context_window_exceeded") {
        heard.refusal = Some(Failure::TOO_LARGE);
    }
}

fn refused(data: &str, heard: &mut Heard) {
    let error = ProviderError::in_stream(data.as_bytes(), &|text| text);
    if let Some(failure) = overflow(error.class) {
        heard.refusal = Some(failure);
    }
}

/// The failure that asks for a compaction, where an error does.
pub(crate) fn overflow(class: ErrorClass) -> Option<Failure> {
    match class {
        ErrorClass::Overflow { limit, actual } => Some(Failure::ContextOverflow { limit, actual }),
        ErrorClass::TooManyBytes => Some(Failure::TooManyBytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANTHROPIC: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":90,\"cache_creation_input_tokens\":0,\"output_tokens\":1}}}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":7}}\n\n";

    fn usage(input: u64, output: u64, cache_read: u64) -> Usage {
        Usage {
            input,
            output,
            cache_read,
            ..Usage::default()
        }
    }

    fn hear(format: Format, is_stream: bool, coding: Coding, bytes: &[u8], step: usize) -> Heard {
        let mut tee = Tee::new(format, is_stream, coding);
        bytes.chunks(step).for_each(|chunk| tee.push(chunk));
        tee.end()
    }

    #[test]
    fn streams_however_they_are_cut() {
        for step in [1, 3, 50, 10_000] {
            let heard = hear(
                Format::Anthropic,
                true,
                Coding::Identity,
                ANTHROPIC.as_bytes(),
                step,
            );
            assert_eq!(heard.usage, Some(usage(100, 7, 90)));
            let chat = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2,\"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\ndata: [DONE]\n\n";
            let heard = hear(
                Format::OpenAi,
                true,
                Coding::Identity,
                chat.as_bytes(),
                step,
            );
            assert_eq!(heard.usage, Some(usage(5, 2, 4)));
            let failed = "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Your input exceeds the context window of this model.\"}}}\n\n";
            let heard = hear(
                Format::Responses,
                true,
                Coding::Identity,
                failed.as_bytes(),
                step,
            );
            assert_eq!(heard.refusal, Some(Failure::TOO_LARGE));
        }
    }

    #[test]
    fn compressed_streams() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(ANTHROPIC.as_bytes())
            .expect("it fits into memory");
        let gzip = gzip.finish().expect("it fits into memory");
        for step in [1, 7, 10_000] {
            let heard = hear(Format::Anthropic, true, Coding::Gzip, &gzip, step);
            assert_eq!(heard.usage, Some(usage(100, 7, 90)));
        }
        let zstd = ruzstd::encoding::compress_to_vec(
            ANTHROPIC.as_bytes(),
            ruzstd::encoding::CompressionLevel::Fastest,
        );
        let heard = hear(Format::Anthropic, true, Coding::Zstd, &zstd, 9);
        assert_eq!(heard.usage, Some(usage(100, 7, 90)));
    }

    #[test]
    fn documents_and_what_is_none() {
        let document = br#"{"usage":{"input_tokens":3,"output_tokens":4,"input_tokens_details":{"cached_tokens":1}}}"#;
        let heard = hear(Format::Responses, false, Coding::Identity, document, 5);
        assert_eq!(heard.usage, Some(usage(3, 4, 1)));
        let full = br#"{"stop_reason":"model_context_window_exceeded"}"#;
        let heard = hear(Format::Anthropic, false, Coding::Identity, full, 100);
        assert_eq!(heard.refusal, Some(Failure::TOO_LARGE));
        for odd in [
            &b"\xff\xfe"[..],
            b"",
            b"{",
            b"data: {\"usage\":3}\n\n",
            b"null",
        ] {
            for coding in [Coding::Identity, Coding::Gzip, Coding::Unknown] {
                for is_stream in [true, false] {
                    let heard = hear(Format::OpenAi, is_stream, coding, odd, 2);
                    assert_eq!(heard, Heard::default());
                }
            }
        }
    }
}
