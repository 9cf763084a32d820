//! What a server may answer: a stream cut anywhere, an error of any kind.

use conspectus_wire::failure::{ErrorClass, ProviderError, retry_after_ms};
use conspectus_wire::sse::{SseDecoder, SseEvent};

use super::SECRET;

/// Streams and errors of providers. The first two bytes say where the stream is cut and which status it has.
pub fn answer(data: &[u8]) {
    let (head, body) = data.split_at(data.len().min(2));
    let number = |at: usize| usize::from(head.get(at).copied().unwrap_or_default());
    stream(body, number(0) + 1);
    let status = [400, 413, 422, 429, 500, 503, 401, 404][number(1) % 8];
    error(body, status);
    let text = String::from_utf8_lossy(body);
    let _ = retry_after_ms(|name| (name == "retry-after").then_some(&*text), || 0);
}

fn stream(body: &[u8], step: usize) {
    let whole = decoded([body].into_iter());
    assert_eq!(whole, decoded(body.chunks(step)), "cuts change nothing");
    let told: usize = whole.iter().map(|e| e.data.len() + e.event.len()).sum();
    // A byte that is no UTF-8 is shown as three; joined lines are no longer than they were.
    assert!(told <= body.len() * 3, "events come from the bytes");
}

fn decoded<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<SseEvent> {
    let mut decoder = SseDecoder::new(usize::MAX);
    let mut events = Vec::new();
    for piece in pieces {
        let pushed = decoder.push(piece, |event| events.push(event));
        pushed.expect("nothing is too large");
    }
    events.extend(decoder.finish());
    events
}

fn error(body: &[u8], status: u16) {
    let hide = |text: String| text.replace(SECRET, "****");
    let told = ProviderError::of_answer(status, None, body, &hide);
    let again = ProviderError::of_answer(status, Some("application/json"), body, &hide);
    assert_eq!(told, again, "the body itself says what it is");
    let in_stream = ProviderError::in_stream(body, &hide);
    for error in [&told, &in_stream] {
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains(SECRET), "{shown}");
        // One for the sign that something was left out.
        assert!(error.message.chars().count() <= 301, "{shown}");
        assert!(!error.message.contains(['\n', '\r']), "{shown}");
    }
    match status {
        429 | 500 | 503 | 401 | 404 => assert!(!told.class.is_overflow(), "{told:?}"),
        413 => assert!(
            told.class.is_overflow()
                || told.class == ErrorClass::Rejected
                || told.class == ErrorClass::NoCredit,
            "{told:?}"
        ),
        _ => {}
    }
    if body.trim_ascii().is_empty() && status != 413 {
        assert!(!told.class.is_overflow() && !in_stream.class.is_overflow());
    }
}
