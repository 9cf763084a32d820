//! Server-sent events, decoded from bytes as they arrive (WHATWG HTML, 9.2).
//!
//! A stream may be cut anywhere: inside a line, a code point, or between the two bytes of a line end. However it
//! is cut, the same events come out.

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// The name; empty: none was given.
    pub event: String,
    /// The data lines, joined by line feeds.
    pub data: String,
}

/// An event is larger than the decoder allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is larger than {most} bytes")]
pub struct EventTooLarge {
    /// The cap.
    pub most: usize,
}

/// Decodes one stream.
#[derive(Clone, Debug)]
pub struct SseDecoder {
    most: usize,
    line: Vec<u8>,
    /// The last byte was a carriage return that ended a line; a line feed next belongs to it.
    after_cr: bool,
    is_first_line: bool,
    event: SseEvent,
    has_data: bool,
}

impl SseDecoder {
    /// Events may have up to `most` bytes.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            line: Vec::new(),
            after_cr: false,
            is_first_line: true,
            event: SseEvent::default(),
            has_data: false,
        }
    }

    /// Adds `bytes` of the stream; `each` gets the events that they complete.
    ///
    /// # Errors
    /// When an event is too large. The decoder is of no use afterwards.
    pub fn push(
        &mut self,
        bytes: &[u8],
        mut each: impl FnMut(SseEvent),
    ) -> Result<(), EventTooLarge> {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|b| matches!(b, b'\n' | b'\r'));
            self.line
                .extend_from_slice(&rest[..end.unwrap_or(rest.len())]);
            if self.line.len() + self.event.data.len() > self.most {
                return Err(EventTooLarge { most: self.most });
            }
            let Some(end) = end else { break };
            self.after_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if let Some(event) = self.end_line() {
                each(event);
            }
        }
        Ok(())
    }

    /// The event that the end of the stream left open, if it has data. The standard drops it; servers that forget
    /// the last empty line exist.
    pub fn finish(mut self) -> Option<SseEvent> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.end_event()
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if std::mem::take(&mut self.is_first_line) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            return self.end_event();
        }
        let colon = line.iter().position(|b| *b == b':');
        let (field, value) = match colon {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let value = String::from_utf8_lossy(value);
        match field {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(&value);
            }
            b"event" => self.event.event = value.into_owned(),
            // Comments (an empty field), ids, retry times and what is unknown.
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<SseEvent> {
        let event = std::mem::take(&mut self.event);
        std::mem::take(&mut self.has_data).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(chunks: &[&[u8]]) -> Vec<(String, String)> {
        let mut decoder = SseDecoder::new(1 << 20);
        let mut events = Vec::new();
        for chunk in chunks {
            let pushed = decoder.push(chunk, |e| events.push(e));
            pushed.expect("no event is that large");
        }
        events.extend(decoder.finish());
        events.into_iter().map(|e| (e.event, e.data)).collect()
    }

    fn check(stream: &str, expect: &[(&str, &str)]) {
        let owned = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs
                .iter()
                .map(|(e, d)| ((*e).into(), (*d).into()))
                .collect()
        };
        assert_eq!(decode(&[stream.as_bytes()]), owned(expect), "{stream:?}");
    }

    #[test]
    fn events() {
        check("", &[]);
        check("data: a\n\n", &[("", "a")]);
        check("data:a\ndata:  b\n\ndata\n\n", &[("", "a\n b"), ("", "")]);
        check("event: x\r\ndata: 1\r\n\r\n", &[("x", "1")]);
        check(
            "data: 1\r\rdata: 2\r\n\ndata: 3\n\r\n",
            &[("", "1"), ("", "2"), ("", "3")],
        );
        check("\u{feff}data: a\n\n\u{feff}data: b\n\n", &[("", "a")]);
        check(
            ": ping\n\nevent: lost\n\ndata: a\nid: 7\nretry: 9\nwhat: x\n\n",
            &[("", "a")],
        );
        check("data: half\n", &[("", "half")]);
        check("data: [DONE]", &[("", "[DONE]")]);
        check("data: a:b: c\n\n", &[("", "a:b: c")]);
    }

    #[test]
    fn an_event_without_end_is_stopped() {
        let mut decoder = SseDecoder::new(100);
        let mut pushed = Ok(());
        for _ in 0..20 {
            pushed = decoder.push(b"data: ten bytes\n", |_| {});
            if pushed.is_err() {
                break;
            }
        }
        assert_eq!(pushed, Err(EventTooLarge { most: 100 }));
        let mut decoder = SseDecoder::new(100);
        assert!(decoder.push(&[b'x'; 101], |_| {}).is_err());
    }

    proptest! {
        #[test]
        fn cuts_change_nothing(
            lines in proptest::collection::vec("(data|event|id|)(:| ?:)[a-zé€😀 :]{0,6}(\r\n|\n|\r|\n\n)", 0..12),
            cuts in proptest::collection::vec(0usize..200, 0..8),
        ) {
            let stream = lines.concat().into_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(stream.len())).collect();
            cuts.extend([0, stream.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|w| &stream[w[0]..w[1]]).collect();
            let bytes: Vec<&[u8]> = stream.chunks(1).collect();
            let whole = decode(&[&stream]);
            prop_assert_eq!(decode(&chunks), whole.clone());
            prop_assert_eq!(decode(&bytes), whole);
        }

        #[test]
        fn any_bytes_are_taken(chunks in proptest::collection::vec(
            proptest::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b':'), Just(b'd')], 0..20), 0..10,
        )) {
            let joined = chunks.concat();
            let pieces: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(decode(&pieces), decode(&[&joined]));
        }
    }
}
