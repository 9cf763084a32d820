//! What people can try after a failure.

use conspectus::core::effect::{Failure, Refusal};

/// What to try after a failure, where its own words do not say it.
pub(crate) fn hint(failure: &Failure) -> Option<&'static str> {
    Some(match failure {
        Failure::ContextOverflow { .. } | Failure::TooManyBytes => {
            "say its window in the list models:, so that it is asked in smaller pieces"
        }
        Failure::Unavailable { .. } => "try again later, or name another model with --fallback",
        Failure::TimedOut { .. } => {
            "a slow model needs more time: call_timeout_ms and deadline_ms in the configuration, or \
             CONSPECTUS_SUMMARIZATION_CALL_TIMEOUT_MS"
        }
        Failure::NotASummary(Refusal::CutOff | Refusal::TooLong) => {
            "give it more room with max_summary_tokens, or name another model"
        }
        Failure::NotASummary(_) => "a more capable model may do better",
        Failure::Unusable { message } if message.contains("check the key") => {
            "name the variable with the key by --api-key-env, or by api_key in the list models:"
        }
        Failure::SpendCap => "raise max_spend, or name a cheaper model",
        _ => return None,
    })
}
