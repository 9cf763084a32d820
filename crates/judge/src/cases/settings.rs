//! A case's settings as what a user of the engine would write: a configuration file, a model, a host.

use std::sync::Arc;

use conspectus_config::{Config, ConfigError, ResolvedConfig};
use conspectus_core::count::{TokenCounter, counter_for};
use conspectus_core::effect::Route;
use conspectus_core::policy::{ModelProfile, Options, Policy};

use super::counter::PerMessage;
use super::json::Json;

/// What needs parts of the product that are not built yet, and what is said about it.
const NOT_YET: [(&str, &str); 1] = [(
    "strict_alternation",
    "targets that want strict alternation are not built yet",
)];

/// What is understood here or by the engine.
const KNOWN: [&str; 35] = [
    "cache_breakpoint_on_summary",
    "trigger",
    "keep",
    "manual",
    "force",
    "instructions",
    "max_context_tokens",
    "reserve_output_tokens",
    "reserve_tokens",
    "overhead_tokens",
    "token_counter",
    "use_reported_usage",
    "prune",
    "summarizer_max_input_tokens",
    "summarizer_model_max_output_tokens",
    "summarizer_timeout_ms",
    "max_summary_tokens",
    "max_retries",
    "breaker",
    "on_failure",
    "pin_first",
    "pending_tool_calls",
    "invoked_by_tool_call",
    "durable",
    "redact",
    "archive",
    "store",
    "surface",
    "stream",
    "render_summary_as",
    "no_prefill",
    "summary_in_messages",
    "compact_on_overflow_error",
    "model",
    "summarizer_accepts_images",
];

/// The settings that hold now.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    config: Json,
}

impl Settings {
    /// The settings of a case, generated values put in.
    pub(super) fn new(config: Json) -> Self {
        Self { config }
    }

    /// These keys change.
    pub(super) fn change(&mut self, keys: &Json) {
        let names: Vec<&str> = keys.members().iter().map(|(k, _)| k.as_str()).collect();
        let mut members = self.config.clone().without(&names).members().to_vec();
        members.extend(keys.members().iter().cloned());
        self.config = Json::Object(members);
    }

    /// Why the engine cannot be asked, if so.
    pub(super) fn not_yet(&self) -> Option<String> {
        let is_on = |key: &str| match self.config.get(key) {
            None => false,
            Some(value) if value.is_null() => false,
            Some(Json::Plain(word)) => word != "false",
            Some(Json::Text(word)) => word != "library",
            Some(_) => true,
        };
        let missing = NOT_YET.iter().find(|(key, _)| is_on(key));
        let unknown = || {
            let mut keys = self.config.members().iter().map(|(key, _)| key.as_str());
            let is_known = |key: &str| KNOWN.contains(&key) || NOT_YET.iter().any(|n| n.0 == key);
            keys.find(|key| !is_known(key))
                .map(|key| format!("the setting {key} is not known here"))
        };
        missing.map(|m| m.1.to_owned()).or_else(unknown)
    }

    /// The policy that the engine makes of them.
    ///
    /// # Errors
    /// What the engine refuses.
    pub(super) fn resolve(&self) -> Result<ResolvedConfig, ConfigError> {
        let model = ModelProfile {
            name: self.config.text_at("model").map(Arc::from),
            window: self.number("max_context_tokens"),
            ..ModelProfile::default()
        };
        let file = Json::Object(vec![("summarization".to_owned(), self.section())]);
        Config::load("config", &file.to_string())?.resolve(&model)
    }

    /// The same as options, for who resolves them by himself.
    ///
    /// # Errors
    /// What the engine refuses.
    pub(super) fn options(&self) -> Result<Options, ConfigError> {
        let file = Json::Object(vec![("summarization".to_owned(), self.section())]);
        let config = Config::load("config", &file.to_string())?;
        Ok(Options {
            max_context: self.number("max_context_tokens"),
            ..config.options().clone()
        })
    }

    /// Whether the case goes through the proxy.
    pub(super) fn is_proxied(&self) -> bool {
        self.word("surface") == Some("http_proxy")
    }

    /// The section of a configuration file. What a case does not say is left to the engine, but for the rules of
    /// all cases: one model, no digest as a last resort, and no pruning unless asked for.
    fn section(&self) -> Json {
        let mut section = vec![
            ("preset".to_owned(), Json::from("default")),
            ("strategy".to_owned(), Json::from("transcript")),
            ("on_failure".to_owned(), Json::from("unchanged")),
            ("prune".to_owned(), self.prune()),
        ];
        let mut put = |name: &str, value: Option<Json>| {
            if let Some(value) = value {
                section.push((name.to_owned(), value));
            }
        };
        let said = |key: &str| self.config.get(key).cloned();
        put("trigger", said("trigger"));
        put("keep", said("keep"));
        // What an automatic trigger must leave free is room for the reply.
        let reserve = said("reserve_output_tokens").or_else(|| said("reserve_tokens"));
        put("output_reserve", reserve);
        put("call_timeout_ms", said("summarizer_timeout_ms"));
        put("max_summary_tokens", said("max_summary_tokens"));
        put("max_retries", said("max_retries"));
        let placement = (self.config.text_at("render_summary_as") == Some("system"))
            .then(|| Json::from("system_end"));
        put("placement", placement);
        put("redact", said("redact"));
        put("breaker", said("breaker").map(|b| breaker(&b)));
        Json::Object(section)
    }

    fn prune(&self) -> Json {
        let plain = |word: &str| Json::Plain(word.to_owned());
        let Some(limits) = self.config.get("prune").filter(|p| !p.is_null()) else {
            return plain("false");
        };
        let mut out = vec![
            ("when".to_owned(), Json::from("always")),
            ("duplicates".to_owned(), plain("false")),
            ("max_argument_chars".to_owned(), plain("0")),
        ];
        for (key, name) in [
            ("max_tool_result_tokens", "max_result_tokens"),
            ("max_total_tool_tokens", "max_total_result_tokens"),
            ("max_tool_args_tokens", "max_argument_tokens"),
            ("keep_recent_tool_results", "keep_recent_results"),
        ] {
            if let Some(value) = limits.get(key) {
                out.push((name.to_owned(), value.clone()));
            }
        }
        Json::Object(out)
    }

    /// The counter: the policy's, or the fake one.
    pub(super) fn counter(&self, policy: &Policy) -> Arc<dyn TokenCounter> {
        let counter = counter_for(policy.counter);
        match self.config.get("token_counter") {
            Some(fake) if !fake.is_null() => Arc::new(PerMessage {
                tokens: fake.number_at("per_message").unwrap_or(0),
                texts: counter,
            }),
            _ => counter,
        }
    }

    /// The only summariser.
    pub(super) fn route(&self, policy: &Policy) -> Route {
        let max_input = self.number("summarizer_max_input_tokens");
        Route {
            model: None,
            replay: false,
            max_input: max_input.unwrap_or_else(|| policy.input_limit()),
            max_output: self
                .number("summarizer_model_max_output_tokens")
                .unwrap_or(u64::MAX),
            takes_schema: false,
        }
    }

    /// A number.
    pub(super) fn number(&self, key: &str) -> Option<u64> {
        self.config.number_at(key)
    }

    /// Whether it is on.
    pub(super) fn is_on(&self, key: &str) -> bool {
        self.config.is_true_at(key)
    }

    /// Whether it was switched off.
    pub(super) fn is_off(&self, key: &str) -> bool {
        matches!(self.config.get(key), Some(Json::Plain(word)) if word == "false")
    }

    /// A word.
    pub(super) fn word(&self, key: &str) -> Option<&str> {
        self.config.text_at(key)
    }

    /// The words of a list.
    pub(super) fn words(&self, key: &str) -> impl Iterator<Item = &str> {
        self.config.texts_at(key)
    }

    /// A message that contains one of these is pinned.
    pub(super) fn pin_markers(&self) -> impl Iterator<Item = &str> {
        let durable = self.config.get("durable");
        durable.into_iter().flat_map(|d| d.texts_at("pin_markers"))
    }
}

/// Seconds as milliseconds.
fn breaker(breaker: &Json) -> Json {
    let mut out = Vec::new();
    if let Some(failures) = breaker.get("failures") {
        out.push(("failures".to_owned(), failures.clone()));
    }
    if let Some(seconds) = breaker.number_at("cooldown_s") {
        out.push(("cooldown_ms".to_owned(), Json::from(seconds * 1000)));
    }
    Json::Object(out)
}
