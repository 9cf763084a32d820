//! Which models are asked for a summary, in which order: the one that was named for it, those to fall back on, and
//! the one that the conversation runs on.

use std::sync::Arc;

use conspectus::core::effect::Route;
use conspectus::core::policy::{ASSUMED_WINDOW, Options};
use conspectus::{ModelProfile, catalog};
use conspectus_config::{Config, Model};

use super::place::{Api, Environment, Flags, Place};
use crate::fail::{Exit, Fail};

/// What a model may write when nobody knows: the summary's own cap is smaller.
const ANY_OUTPUT: u64 = 1 << 20;

/// A model that may be asked.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// Its name, for people; also the name in its route, unless the conversation runs on it.
    pub(super) name: Arc<str>,
    /// What is known of it.
    pub(super) profile: ModelProfile,
    /// Where it is, or why that cannot be said. The latter is a failed call, so that the next one is asked.
    pub(super) place: Result<Place, Arc<str>>,
    /// The conversation runs on it.
    pub(super) is_run: bool,
}

/// The models that were named, whatever the conversation.
#[derive(Clone, Debug, Default)]
pub(super) struct Named {
    /// In the order in which they are asked.
    pub(super) first: Vec<Link>,
    /// The one of `--model`.
    pub(super) run: Option<Link>,
}

impl Link {
    pub(super) fn of_list(model: &Model, environment: &Environment) -> Self {
        Self {
            name: model.name.clone(),
            profile: model.profile(),
            place: Place::of_list(model, environment).map_err(Into::into),
            is_run: false,
        }
    }

    /// How it is asked.
    pub(super) fn route(&self, options: &Options) -> Route {
        let told = options.max_context.filter(|_| self.is_run);
        let window = told.or(self.profile.window).unwrap_or(ASSUMED_WINDOW);
        let max_output = self.profile.max_output;
        let reserve = max_output.unwrap_or(0).min(window / 4);
        let limit = self.profile.max_input.filter(|_| told.is_none());
        let takes_schema = self.place.as_ref().is_ok_and(Place::takes_schema);
        Route {
            model: (!self.is_run).then(|| self.name.clone()),
            // Whether the conversation is a request that it takes is seen when it is asked.
            replay: true,
            max_input: limit.unwrap_or(window - reserve),
            max_output: max_output.unwrap_or(ANY_OUTPUT),
            takes_schema,
        }
    }
}

/// The models that flags and the configuration name.
///
/// # Errors
/// A name that leads nowhere.
pub(super) fn named(
    config: &Config,
    flags: &Flags<'_>,
    environment: &Environment,
) -> Result<Named, Fail> {
    if let Some(flag) = flags.about_place()
        && !config.models().is_empty()
    {
        let why =
            "the configuration has a list models:, which says where each one is; put it there";
        return Err(Fail::about(Exit::Usage, flag, why));
    }
    let link = |flag: &str, name: &Arc<str>| -> Result<Link, Fail> {
        if !config.models().is_empty() {
            return match config.model(name) {
                Some(model) => Ok(Link::of_list(model, environment)),
                None => Err(no_such_model(config, flag, name)),
            };
        }
        let place = Place::guess(name, flags, environment)
            .map_err(|why| Fail::about(Exit::Usage, format!("{flag} {name}"), &why))?;
        let provider = match place.api {
            _ if !place.is_its_providers() => None,
            Api::OpenAi => Some("openai"),
            Api::Anthropic => Some("anthropic"),
        };
        Ok(Link {
            name: name.clone(),
            profile: catalog::profile(name, provider),
            place: Ok(place),
            is_run: false,
        })
    };
    let mut first = Vec::new();
    // What the flag says is among the options already.
    if let Some(name) = &config.options().model {
        let said = flags
            .summary_model
            .map_or("model_name", |_| "--summary-model");
        first.push(link(said, name)?);
    }
    for name in flags.fallback {
        first.push(link("--fallback", &name.as_str().into())?);
    }
    let run = match flags.model {
        Some(name) => {
            let link = link("--model", &name.into())?;
            Some(Link {
                is_run: true,
                ..link
            })
        }
        None => None,
    };
    Ok(Named { first, run })
}

impl Named {
    /// Nobody was named.
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty() && self.run.is_none()
    }

    /// The models to ask about a conversation that runs on `run`: that one comes last, where it can be reached.
    pub(super) fn chain(
        &self,
        config: &Config,
        run: &ModelProfile,
        environment: &Environment,
    ) -> Vec<Link> {
        let of_list = || {
            let model = config.model(run.name.as_deref()?)?;
            Some(Link {
                is_run: true,
                ..Link::of_list(model, environment)
            })
        };
        let run = self.run.clone().or_else(of_list);
        let mut chain: Vec<Link> = Vec::new();
        for link in self.first.iter().cloned().chain(run) {
            match chain.iter_mut().find(|known| known.name == link.name) {
                Some(known) => known.is_run |= link.is_run,
                None => chain.push(link),
            }
        }
        chain
    }
}

fn no_such_model(config: &Config, flag: &str, name: &str) -> Fail {
    let names: Vec<&str> = config.models().iter().map(|m| &*m.name).collect();
    let why = format!(
        "found {name:?}, expected a name of the list models: {}",
        names.join(", ")
    );
    Fail::about(Exit::Config, flag, &why)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "models:
  - {name: main, provider: anthropic, model: claude-sonnet-4-5, api_key: $A}
  - {name: small, provider: openai, base_url: http://127.0.0.1:1/v1, window: 8000}
  - {name: odd, provider: somebody}
";

    fn environment() -> Environment {
        Environment::of([("OPENAI_API_KEY", "x"), ("A", "y")])
    }

    #[track_caller]
    fn check(file: &str, flags: &Flags<'_>, run: Option<&str>, expect: Result<&str, &str>) {
        let config = Config::load("c.yaml", file).expect("it is fine");
        let environment = environment();
        let run = ModelProfile {
            name: run.map(Into::into),
            ..ModelProfile::default()
        };
        let got = named(&config, flags, &environment)
            .map(|named| {
                let chain = named.chain(&config, &run, &environment);
                let words = chain.iter().map(|link| {
                    let place = match &link.place {
                        Ok(place) => format!("{} {}", place.base_url, place.model),
                        Err(why) => why.to_string(),
                    };
                    let run = if link.is_run { "*" } else { "" };
                    format!("{}{run} at {place}", link.name)
                });
                words.collect::<Vec<_>>().join("; ")
            })
            .map_err(|fail| fail.message());
        assert_eq!(got.as_deref().map_err(String::as_str), expect);
    }

    #[test]
    fn the_named_one_then_fallbacks_then_the_one_the_conversation_runs_on() {
        let none = Flags::default();
        let main = "main* at https://api.anthropic.com claude-sonnet-4-5";
        check("", &none, Some("gpt-5"), Ok(""));
        check(LIST, &none, Some("main"), Ok(main));
        check(LIST, &none, Some("elsewhere"), Ok(""));
        let small = "small at http://127.0.0.1:1/v1 small";
        let file = format!("{LIST}summarization: {{preset: default, model_name: small}}\n");
        check(&file, &none, Some("main"), Ok(&format!("{small}; {main}")));
        let odd = "odd at provider somebody has no address of its own here; say its base_url";
        let fallback = Flags {
            fallback: &["odd".to_owned(), "main".to_owned()],
            ..none
        };
        let all = format!("{small}; {odd}; {main}");
        check(&file, &fallback, Some("main"), Ok(&all));
        let flags = Flags {
            model: Some("gpt-5-mini"),
            ..none
        };
        let hosted = "gpt-5-mini* at https://api.openai.com/v1 gpt-5-mini";
        check("", &flags, None, Ok(hosted));
        check(
            LIST,
            &Flags {
                fallback: &["gpt-5".to_owned()],
                ..none
            },
            None,
            Err(
                "--fallback: found \"gpt-5\", expected a name of the list models: main, small, odd",
            ),
        );
        check(
            LIST,
            &Flags {
                base_url: Some("http://127.0.0.1:2"),
                ..none
            },
            None,
            Err(
                "--base-url: the configuration has a list models:, which says where each one is; put it there",
            ),
        );
    }

    #[test]
    fn a_route_takes_what_the_window_leaves() {
        let config = Config::load("c.yaml", LIST).expect("it is fine");
        let model = config.model("small").expect("it is there");
        let link = Link::of_list(model, &environment());
        let route = |link: &Link, max_context| {
            let options = Options {
                max_context,
                ..Options::default()
            };
            link.route(&options).max_input
        };
        assert_eq!(route(&link, Some(1000)), 8000, "it is not its window");
        let run = Link {
            is_run: true,
            ..link
        };
        assert_eq!(route(&run, Some(1000)), 1000);
    }
}
