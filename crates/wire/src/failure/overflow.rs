//! How servers say that a request does not fit the model: machine codes, then words.

use super::ErrorClass;
use super::stated::Stated;

/// Codes that say it by themselves.
const CODES: [&str; 4] = [
    "context_length_exceeded",
    "model_max_prompt_tokens_exceeded",
    "exceed_context_size_error",
    "prompt_too_long",
];

/// Words that say it, in lower case. `*` stands for anything, `{limit}` and `{actual}` for numbers. The first
/// that fits counts, so those that tell numbers come first.
const WORDS: [&str; 43] = [
    // OpenAI, Azure, vLLM, DeepSeek, OpenRouter, LiteLLM around any of them.
    "maximum context length is {limit} tokens*resulted in {actual} tokens",
    "maximum context length is {limit} tokens*requested about {actual} tokens",
    "maximum context length is {limit} tokens*requested {actual} tokens",
    "maximum context length is {limit} tokens*request has {actual} input tokens",
    "maximum context length is {limit} tokens",
    "input tokens exceed the configured limit of {limit} tokens*resulted in {actual}",
    "input tokens exceed the configured limit of {limit}",
    "exceeds the context window",
    "max_tokens must be at least 1, got -",
    "contextwindowexceedederror",
    // Anthropic and gateways before it.
    "prompt is too long: {actual} tokens > {limit}",
    "prompt is too long",
    "exceed context limit: {actual} + *> {limit}",
    "prompt_too_long",
    // Bedrock.
    "input is too long for requested model",
    // Gemini, Vertex.
    "input token count ({actual}) exceeds the maximum number of tokens allowed ({limit})",
    "exceeds the maximum number of tokens allowed ({limit})",
    // llama.cpp and what is built on it.
    "request ({actual} tokens) exceeds the available context size ({limit} tokens)",
    "exceeds the available context size",
    "prompt has {actual} tokens, but the configured context size is {limit} tokens",
    // Ollama.
    "prompt too long; exceeded*context length",
    "input length exceeds*context length",
    // SGLang, TGI, LM Studio.
    "input ({actual} tokens) is longer than the model's context length ({limit} tokens)",
    "longer than the model's context length",
    "input length ({actual} tokens) exceeds the maximum allowed length ({limit} tokens)",
    "exceeds the maximum allowed length",
    "exceeds the maximum allowed input length",
    "`inputs` tokens + `max_new_tokens` must be <= {limit}. given: {actual}",
    "`inputs` tokens + `max_new_tokens` must be <= {limit}",
    "greater than the context length",
    // Mistral, xAI, Cerebras, Groq, Kimi, MiniMax, Copilot.
    "prompt contains {actual} tokens*too large for model with {limit} maximum context length",
    "too large for model with {limit} maximum context length",
    "maximum prompt length is {limit} but the request contains {actual}",
    "maximum prompt length is {limit}",
    "current length is {actual} while limit is {limit}",
    "reduce the length of the messages",
    "exceeded model token limit: {limit} (requested: {actual})",
    "exceeded model token limit",
    "context window exceeds limit",
    "prompt token count of {actual} exceeds the limit of {limit}",
    "exceeds the model's context window",
    "exceeds the model's maximum context",
    "context length exceeded",
];

/// Words about bytes.
const BYTES: [&str; 5] = [
    "request_too_large",
    "request too large",
    "request entity too large",
    "payload too large",
    "request exceeds the maximum size",
];

/// Whether the body says that the request is too large, and how large it may be.
pub(super) fn recognise(stated: &Stated) -> Option<ErrorClass> {
    let is_code = |codes: &[&str]| stated.words().any(|w| codes.contains(&w));
    if is_code(&["string_above_max_length"]) || is_rate_limit(stated) {
        return None;
    }
    let told = WORDS
        .iter()
        .find_map(|pattern| find(&stated.haystack, pattern));
    if is_code(&CODES) || told.is_some() {
        let told = told.unwrap_or_default();
        return Some(ErrorClass::Overflow {
            limit: stated.limit.or(told.limit),
            actual: stated.actual.or(told.actual),
        });
    }
    let about_bytes = is_code(&["request_too_large"])
        || BYTES.iter().any(|words| stated.haystack.contains(words));
    about_bytes.then_some(ErrorClass::TooManyBytes)
}

/// Whether it is about how much is asked for in a time.
pub(super) fn is_rate_limit(stated: &Stated) -> bool {
    const WORDS: [&str; 4] = [
        "rate limit",
        "rate_limit",
        "tokens per min",
        "too many requests",
    ];
    let has = |text: &str| WORDS.iter().any(|w| text.contains(w));
    has(&stated.haystack) || stated.words().any(has)
}

/// The numbers that a message told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Told {
    limit: Option<u64>,
    actual: Option<u64>,
}

/// Looks for `pattern` in `text`.
fn find(text: &str, pattern: &str) -> Option<Told> {
    let mut told = Told::default();
    let mut from = 0;
    for segment in pattern.split('*') {
        let literal = segment.split('{').next().unwrap_or_default();
        let (end, numbers) = text[from..].match_indices(literal).find_map(|(at, _)| {
            let start = from + at;
            let (length, numbers) = matches(&text[start..], segment)?;
            Some((start + length, numbers))
        })?;
        from = end;
        told.limit = numbers.limit.or(told.limit);
        told.actual = numbers.actual.or(told.actual);
    }
    Some(told)
}

/// Whether `text` begins with `segment`: the bytes it takes, and the numbers.
fn matches(text: &str, segment: &str) -> Option<(usize, Told)> {
    let mut told = Told::default();
    let mut rest = text;
    let mut pieces = segment.split('{');
    rest = rest.strip_prefix(pieces.next().unwrap_or_default())?;
    for piece in pieces {
        let (name, literal) = piece.split_once('}').unwrap_or((piece, ""));
        let digits = rest
            .find(|c: char| !(c.is_ascii_digit() || c == ',' || c == '_'))
            .unwrap_or(rest.len());
        // A comma behind the number ends the clause.
        let number = rest[..digits].trim_end_matches([',', '_']);
        let value = number.replace([',', '_'], "").parse().ok()?;
        match name {
            "limit" => told.limit = Some(value),
            _ => told.actual = Some(value),
        }
        rest = rest[number.len()..].strip_prefix(literal)?;
    }
    Some((text.len() - rest.len(), told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_find_numbers() {
        let check = |text: &str, pattern: &str, expect: Option<(Option<u64>, Option<u64>)>| {
            let found = find(text, pattern).map(|t| (t.limit, t.actual));
            assert_eq!(found, expect, "{text} / {pattern}");
        };
        check(
            "at most 1,024 of",
            "most {limit} of",
            Some((Some(1024), None)),
        );
        check(
            "at most 7, or 8",
            "most {limit}, or {actual}",
            Some((Some(7), Some(8))),
        );
        check("a 1 b a 2 c", "a {limit} c", Some((Some(2), None)));
        check(
            "a 1 then b 2",
            "a {limit}*b {actual}",
            Some((Some(1), Some(2))),
        );
        check("b 2 then a 1", "a {limit}*b {actual}", None);
        check("a x", "a {limit}", None);
        check("a ,", "a {limit}", None);
        check("a 99999999999999999999", "a {limit}", None);
        check("é a 5", "a {limit}", Some((Some(5), None)));
    }
}
