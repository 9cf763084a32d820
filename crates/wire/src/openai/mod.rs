//! OpenAI's chat completions, and what copies them: DeepSeek and vLLM (`reasoning_content`), OpenRouter
//! (`reasoning_details`), LiteLLM (`thinking_blocks`), tau-bench, tau2-bench (calls with their arguments as an
//! object, answers with the call's id as `id`), mini-swe-agent.

mod read;
mod write;

pub(crate) use read::{OpenAi, form, result};
