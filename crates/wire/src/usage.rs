//! What providers report about a call, in the core's one form.

use conspectus_core::view::Usage;

use crate::json::Object;

/// The `usage` object of a chat completion. `prompt_tokens` includes cached ones. DeepSeek tells what its cache held
/// in a field of its own.
pub fn openai_usage(usage: &Object<'_>) -> Option<Usage> {
    let details = usage.object("prompt_tokens_details");
    let detail = |name: &str| details.as_ref().and_then(|details| details.number(name));
    let cache_read = detail("cached_tokens").or_else(|| usage.number("prompt_cache_hit_tokens"));
    Some(Usage {
        input: usage.number("prompt_tokens")?,
        output: usage.number("completion_tokens").unwrap_or(0),
        cache_read: cache_read.unwrap_or(0),
        cache_write: detail("cache_write_tokens").unwrap_or(0),
        reported_total: usage.number("total_tokens"),
        provider: None,
    })
}

/// The `usage` object of Anthropic's API. A compaction pass on the server is listed apart and never counts.
pub fn anthropic_usage(usage: &Object<'_>) -> Option<Usage> {
    let cache_read = usage.number("cache_read_input_tokens").unwrap_or(0);
    let cache_write = usage.number("cache_creation_input_tokens").unwrap_or(0);
    Some(Usage {
        input: usage
            .number("input_tokens")?
            .saturating_add(cache_read)
            .saturating_add(cache_write),
        output: usage.number("output_tokens").unwrap_or(0),
        cache_read,
        cache_write,
        reported_total: None,
        provider: None,
    })
}

/// The `usage` object of the Responses API. `input_tokens` includes cached ones.
pub fn responses_usage(usage: &Object<'_>) -> Option<Usage> {
    let details = usage.object("input_tokens_details").unwrap_or_default();
    Some(Usage {
        input: usage.number("input_tokens")?,
        output: usage.number("output_tokens").unwrap_or(0),
        cache_read: details.number("cached_tokens").unwrap_or(0),
        cache_write: details.number("cache_write_tokens").unwrap_or(0),
        reported_total: usage.number("total_tokens"),
        provider: None,
    })
}
