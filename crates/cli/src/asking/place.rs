//! Where a model is, and with which key: from the list of models, or guessed from its name, the flags and the
//! usual environment variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus_config::Model;
use conspectus_providers::{AnthropicMessages, BuildError, Endpoint, Key, OpenAiChat, Secret};

use conspectus::core::policy::AnswerForm;
use conspectus::{ChatModel, Format};

/// Whose API is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    /// Chat completions, as nearly every server speaks them.
    OpenAi,
    /// Messages.
    Anthropic,
}

impl Api {
    fn base_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
        }
    }

    fn url_variable(self) -> &'static str {
        match self {
            Self::OpenAi => "OPENAI_BASE_URL",
            Self::Anthropic => "ANTHROPIC_BASE_URL",
        }
    }

    fn key_variable(self) -> &'static str {
        match self {
            Self::OpenAi => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
        }
    }

    /// By a provider's name.
    fn of(provider: &str) -> Option<Self> {
        match provider {
            "openai" => Some(Self::OpenAi),
            "anthropic" => Some(Self::Anthropic),
            _ => None,
        }
    }

    /// By a model's name.
    fn guess(model: &str) -> Option<Self> {
        let starts = |all: &[&str]| all.iter().any(|start| model.starts_with(start));
        if starts(&["claude-", "claude."]) {
            Some(Self::Anthropic)
        } else if starts(&["gpt-", "chatgpt-", "o1", "o3", "o4"]) {
            Some(Self::OpenAi)
        } else {
            None
        }
    }
}

/// What the flags say about models.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags<'a> {
    /// `--model`
    pub(super) model: Option<&'a str>,
    /// `--summary-model`
    pub(super) summary_model: Option<&'a str>,
    /// `--fallback`
    pub(super) fallback: &'a [String],
    /// `--provider`
    pub(super) provider: Option<Api>,
    /// `--base-url`
    pub(super) base_url: Option<&'a str>,
    /// `--api-key-env`
    pub(super) key_variable: Option<&'a str>,
}

impl Flags<'_> {
    /// The first of those that say where a model is.
    pub(super) fn about_place(&self) -> Option<&'static str> {
        let said = [
            (self.base_url.is_some(), "--base-url"),
            (self.provider.is_some(), "--provider"),
            (self.key_variable.is_some(), "--api-key-env"),
        ];
        said.into_iter()
            .find_map(|(said, flag)| said.then_some(flag))
    }
}

/// The environment's variables that are not empty.
#[derive(Clone, Default)]
pub(super) struct Environment(BTreeMap<String, String>);

impl Environment {
    pub(super) fn of<N: Into<String>, V: Into<String>>(
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let all = variables.into_iter().map(|(n, v)| (n.into(), v.into()));
        Self(all.filter(|(_, v)| !v.trim().is_empty()).collect())
    }

    /// That of this process.
    pub(super) fn of_process() -> Self {
        let text = |(n, v): (std::ffi::OsString, std::ffi::OsString)| {
            Some((n.into_string().ok()?, v.into_string().ok()?))
        };
        Self::of(std::env::vars_os().filter_map(text))
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

/// Where a model is. A key in it prints as `****`.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) api: Api,
    /// What the server calls the model.
    pub(super) model: Arc<str>,
    pub(super) base_url: String,
    key: Key,
    headers: Vec<(String, Secret)>,
    /// What it can be asked for, where its owner says.
    form: Option<AnswerForm>,
}

impl Place {
    /// As the list of models says. What it leaves open is its provider's own.
    pub(super) fn of_list(model: &Model, environment: &Environment) -> Result<Self, String> {
        let provider = model.provider.as_deref();
        let own = provider.and_then(Api::of);
        let base_url = match (&model.base_url, own, provider) {
            (Some(url), ..) => url.to_string(),
            (None, Some(api), _) => api.base_url().to_owned(),
            (None, None, Some(provider)) => {
                return Err(format!(
                    "provider {provider} has no address of its own here; say its base_url"
                ));
            }
            (None, None, None) => return Err("neither provider nor base_url is said".to_owned()),
        };
        let api = own.unwrap_or(Api::OpenAi);
        let hidden = |secret: &conspectus_config::Secret| {
            let value = secret.reveal(|name| environment.get(name).map(str::to_owned));
            value.map(Secret::new).ok_or_else(|| {
                let name = secret.variable().unwrap_or("?");
                format!("the environment variable {name} is not set")
            })
        };
        let key = match &model.api_key {
            Some(key) => Key::Given(hidden(key)?),
            None if model.base_url.is_none() => Key::Env(api.key_variable().to_owned()),
            None => Key::None,
        };
        let headers = model
            .headers
            .iter()
            .map(|(name, value)| Ok((name.to_string(), hidden(value)?)))
            .collect::<Result<_, String>>()?;
        Ok(Self {
            api,
            model: model.model.clone(),
            base_url,
            key,
            headers,
            form: model.form,
        })
    }

    /// By the name alone. A key goes only where it belongs: that of a usual variable to its provider's own address
    /// and to the one that stands beside it in the environment, never to one that a flag names.
    pub(super) fn guess(
        model: &str,
        flags: &Flags<'_>,
        environment: &Environment,
    ) -> Result<Self, String> {
        let by_url = match flags.base_url {
            Some(_) => Some(Api::OpenAi),
            None => Api::guess(model).or_else(|| {
                let is_set = environment.get(Api::OpenAi.url_variable()).is_some();
                is_set.then_some(Api::OpenAi)
            }),
        };
        let Some(api) = flags.provider.or(by_url) else {
            return Err(
                "whose model that is cannot be told from its name; add --base-url, --provider, or a list \
                 models: to the configuration"
                    .to_owned(),
            );
        };
        let said = flags.base_url.or(environment.get(api.url_variable()));
        if said.is_some_and(has_password) {
            return Err("its URL holds a password; put the key into a variable and name that with --api-key-env".to_owned());
        }
        let usual = api.key_variable();
        let key = match flags.key_variable {
            // Somebody may give the key itself, which no error may repeat.
            Some(name) if !is_variable(name) => {
                return Err("--api-key-env takes the name of a variable, not the key".to_owned());
            }
            Some(name) => Key::Env(name.to_owned()),
            None if flags.base_url.is_some() => Key::None,
            None if said.is_some() && environment.get(usual).is_none() => Key::None,
            None => Key::Env(usual.to_owned()),
        };
        Ok(Self {
            api,
            model: model.into(),
            base_url: said.unwrap_or(api.base_url()).to_owned(),
            key,
            headers: Vec::new(),
            form: None,
        })
    }

    /// Its URL for people: what follows the path may be nobody's business.
    pub(super) fn shown(&self) -> &str {
        self.base_url.split(['?', '#']).next().unwrap_or_default()
    }

    /// Whether it is at its provider's own address.
    pub(super) fn is_its_providers(&self) -> bool {
        self.base_url.trim_end_matches('/') == self.api.base_url()
    }

    /// The format of the requests that are taken here.
    pub(super) fn takes(&self) -> Format {
        match self.api {
            Api::OpenAi => Format::OpenAi,
            Api::Anthropic => Format::Anthropic,
        }
    }

    /// Whether the model can surely be held to a JSON schema. Elsewhere sections are asked for, which every model
    /// can write.
    pub(super) fn takes_schema(&self) -> bool {
        if let Some(form) = self.form {
            return form == AnswerForm::Fields;
        }
        let old = ["gpt-3", "gpt-4-", "o1-mini", "o1-preview", "chatgpt-"];
        self.api == Api::OpenAi
            && self.is_its_providers()
            && *self.model != *"gpt-4"
            && !old.iter().any(|start| self.model.starts_with(start))
    }

    /// The model. `timeout_ms`: what one call may take.
    pub(super) fn make(&self, timeout_ms: u64) -> Result<Arc<dyn ChatModel>, BuildError> {
        let endpoint = self.endpoint(timeout_ms);
        Ok(match self.api {
            Api::OpenAi => Arc::new(OpenAiChat::new(&endpoint)?),
            Api::Anthropic => Arc::new(AnthropicMessages::new(&endpoint)?),
        })
    }

    /// The same model for an agent to run on.
    #[cfg(feature = "threads")]
    pub(super) fn make_agent(
        &self,
        timeout_ms: u64,
    ) -> Result<Arc<dyn conspectus::AgentModel>, BuildError> {
        let endpoint = self.endpoint(timeout_ms);
        Ok(match self.api {
            Api::OpenAi => Arc::new(OpenAiChat::new(&endpoint)?),
            Api::Anthropic => Arc::new(AnthropicMessages::new(&endpoint)?),
        })
    }

    fn endpoint(&self, timeout_ms: u64) -> Endpoint {
        let mut endpoint = Endpoint::new(self.base_url.as_str(), &*self.model);
        endpoint.key = self.key.clone();
        endpoint.headers = self.headers.clone();
        // The policy's own limit is the one that counts, also where it is longer.
        let timeouts = &mut endpoint.timeouts;
        timeouts.first_byte_ms = timeouts.first_byte_ms.max(timeout_ms);
        timeouts.total_ms = timeouts.total_ms.max(timeout_ms);
        endpoint
    }
}

/// Whether a user and a password stand before the host.
fn has_password(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#'])
        .next()
        .is_some_and(|host| host.contains('@'))
}

fn is_variable(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses() {
        #[track_caller]
        fn check(model: &str, flags: Flags<'_>, variables: &[(&str, &str)], expect: &str) {
            let environment = Environment::of(variables.iter().copied());
            let got = match Place::guess(model, &flags, &environment) {
                Ok(place) => format!("{:?} {} {:?}", place.api, place.base_url, place.key),
                Err(why) => why.split(';').next().unwrap_or_default().to_owned(),
            };
            assert_eq!(got, expect);
        }
        let none = Flags::default();
        let openai = r#"OpenAi https://api.openai.com/v1 Env("OPENAI_API_KEY")"#;
        check("gpt-5-mini", none, &[], openai);
        let anthropic = r#"Anthropic https://api.anthropic.com Env("ANTHROPIC_API_KEY")"#;
        check("claude-haiku-5-5", none, &[], anthropic);
        let unknown = "whose model that is cannot be told from its name";
        check("qwen3", none, &[("OPENAI_API_KEY", "k")], unknown);
        let local = [("OPENAI_BASE_URL", "http://h/v1")];
        check("qwen3", none, &local, "OpenAi http://h/v1 None");
        let both = [local[0], ("OPENAI_API_KEY", "k")];
        let with_key = r#"OpenAi http://h/v1 Env("OPENAI_API_KEY")"#;
        check("qwen3", none, &both, with_key);
        check("claude-x", none, &both, anthropic);
        let flag = Flags {
            base_url: Some("http://flag/v1"),
            ..none
        };
        check("claude-x", flag, &both, "OpenAi http://flag/v1 None");
        let named = Flags {
            key_variable: Some("MY_KEY"),
            provider: Some(Api::Anthropic),
            ..flag
        };
        let messages = r#"Anthropic http://flag/v1 Env("MY_KEY")"#;
        check("qwen3", named, &both, messages);
    }

    #[test]
    fn a_schema_only_where_it_is_surely_taken() {
        let takes = |model: &str, url: Option<&str>| {
            let flags = Flags {
                base_url: url,
                ..Flags::default()
            };
            Place::guess(model, &flags, &Environment::default())
                .expect("known")
                .takes_schema()
        };
        assert!(takes("gpt-5-mini", None) && takes("gpt-4o", None));
        assert!(!takes("gpt-4", None) && !takes("gpt-3.5-turbo", None));
        assert!(!takes("gpt-5-mini", Some("http://127.0.0.1:8080/v1")));
        assert!(!takes("claude-haiku-5-5", None));
    }
}
