//! The list `models:` at the top of the file: which models there are, what they hold, and how they are reached.
//!
//! Nothing here calls a model. What may be secret is a [`Secret`] from the first line on: it prints as `****`,
//! or as the name of the variable that holds it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use conspectus_core::policy::{AnswerForm, ModelProfile, Preset, Prices as CorePrices, Rates};

use crate::error::{ConfigError, ConfigWarning, Place, Problem};
use crate::reader::below;
use crate::section::FORMS;
use crate::suggest::nearest;
use crate::value::{real, text, whole, word, wrong};
use crate::yaml::{Entry, Node, Value};

/// The name of the list.
pub(crate) const MODELS: &str = "models";

/// Every field of a model that is read. Fields of other programs beside them are passed over.
pub(crate) const FIELDS: [&str; 13] = [
    "name",
    "provider",
    "use",
    "model",
    "base_url",
    "api_key",
    "window",
    "context",
    "max_output",
    "max_tokens",
    "prices",
    "headers",
    "form",
];

pub(crate) const PRICES: [&str; 4] = ["input", "output", "cache_read", "cache_write"];

/// Fields with two names.
const SAME: [(&str, &str); 2] = [("window", "context"), ("max_output", "max_tokens")];

/// A model of the list.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Model {
    /// What `model_name` and `--model` call it. No two share one.
    pub name: Arc<str>,
    /// Whose API it speaks, in small letters: `openai`, `anthropic` and so on.
    pub provider: Option<Arc<str>>,
    /// What its provider calls it; the name unless said.
    pub model: Arc<str>,
    /// Where it is reached, when not at its provider's own address. Holds no user and no password.
    pub base_url: Option<Arc<str>>,
    /// The key.
    pub api_key: Option<Secret>,
    /// The window in tokens.
    pub window: Option<u64>,
    /// The most it can write in one reply, in tokens.
    pub max_output: Option<u64>,
    /// What it costs.
    pub prices: Prices,
    /// Further headers of each request, by name.
    pub headers: Vec<(Arc<str>, Secret)>,
    /// What summaries it can be asked for: fields where its server holds it to a JSON schema. `None`: nobody said.
    pub form: Option<AnswerForm>,
    /// What is known of it from elsewhere, where somebody looked.
    pub(crate) completed: Option<ModelProfile>,
}

/// Prices in dollars a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prices {
    /// Of what is sent.
    pub input: Option<f64>,
    /// Of what is written.
    pub output: Option<f64>,
    /// Of what is sent and was in the provider's cache.
    pub cache_read: Option<f64>,
    /// Of what is put into the provider's cache.
    pub cache_write: Option<f64>,
}

impl Prices {
    /// As the core takes them, where input and output are told. What is cached costs as input unless told.
    fn known(&self) -> Option<CorePrices> {
        let (input, output) = (micros(self.input?), micros(self.output?));
        Some(CorePrices::flat(Rates {
            input,
            output,
            cache_read: self.cache_read.map_or(input, micros),
            cache_write: self.cache_write.map_or(input, micros),
        }))
    }
}

/// Dollars in micro-dollars, to the nearest. The cast saturates.
pub(crate) fn micros(dollars: f64) -> u64 {
    (dollars * 1e6).round() as u64
}

/// A value that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Source);

#[derive(Clone, PartialEq, Eq)]
enum Source {
    /// An environment variable holds it.
    Variable(Arc<str>),
    /// The file holds it.
    Literal(Arc<str>),
}

impl Secret {
    /// `$NAME` or `${NAME}` names a variable; anything else is the value itself.
    pub(crate) fn of(text: &str) -> Self {
        let named = text.strip_prefix('$').map(|name| {
            let inside = name.strip_prefix('{').and_then(|n| n.strip_suffix('}'));
            inside.unwrap_or(name)
        });
        let is_name = |name: &&str| {
            let fine = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
            name.bytes().all(fine)
                && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        };
        Self(match named.filter(is_name) {
            Some(name) => Source::Variable(name.into()),
            None => Source::Literal(text.into()),
        })
    }

    /// The environment variable that holds it, if one does.
    pub fn variable(&self) -> Option<&str> {
        match &self.0 {
            Source::Variable(name) => Some(name),
            Source::Literal(_) => None,
        }
    }

    /// The value, for whoever sends it. `environment` looks variables up.
    pub fn reveal(&self, environment: impl FnOnce(&str) -> Option<String>) -> Option<String> {
        match &self.0 {
            Source::Variable(name) => environment(name),
            Source::Literal(value) => Some(value.as_ref().to_owned()),
        }
    }
}

/// `$NAME`, or `****`.
impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Source::Variable(name) => write!(f, "${name}"),
            Source::Literal(_) => f.write_str("****"),
        }
    }
}

/// As [`fmt::Display`].
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Model {
    /// What a policy needs to know of it: what the file says, and what [`Config::complete_models`](crate::Config::complete_models)
    /// added.
    pub fn profile(&self) -> ModelProfile {
        self.completed.clone().unwrap_or_else(|| ModelProfile {
            name: Some(self.name.clone()),
            window: self.window,
            max_output: self.max_output,
            prices: self.prices.known(),
            provider: self.provider.clone(),
            ..ModelProfile::default()
        })
    }

    /// Whether its tokens are counted Anthropic's way.
    pub fn is_anthropic(&self) -> bool {
        self.provider.as_deref() == Some("anthropic")
    }

    /// Whether what is sent to one goes to the same place as what is sent to the other.
    pub fn is_same_place(&self, other: &Model) -> bool {
        let known = self.provider.is_some() || self.base_url.is_some();
        known && self.provider == other.provider && self.base_url == other.base_url
    }
}

/// The list, and what its owner should be told.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Models {
    pub(crate) all: Vec<Model>,
    pub(crate) warnings: Vec<ConfigWarning>,
}

/// Reads the list. `preset` decides what a field means that is nearly one of ours: an error in our own.
pub(crate) fn read(file: &Arc<str>, list: &Entry, preset: Preset) -> Result<Models, ConfigError> {
    let mut models = Models::default();
    let items = match &list.node.value {
        Value::Null => return Ok(models),
        Value::List(items) => items.as_slice(),
        _ => {
            let expected = "a list of models, each with a name";
            let place = at(file, list.line, MODELS);
            let problem = wrong(&list.node, expected);
            return Err(ConfigError::Option { place, problem });
        }
    };
    let mut lines = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let mut reader = Reader {
            file,
            path: format!("{MODELS}[{index}]"),
            preset,
            warnings: &mut models.warnings,
        };
        let model = reader.model(item)?;
        if let Some(first) = lines.insert(model.name.clone(), item.line) {
            return Err(reader.fail(item.line, "name", Problem::Twice { first }));
        }
        models.all.push(model);
    }
    Ok(models)
}

fn at(file: &Arc<str>, line: usize, option: &str) -> Place {
    Place {
        file: Some(file.clone()),
        line: Some(line),
        option: option.to_owned(),
    }
}

/// Reads one model.
struct Reader<'a> {
    file: &'a Arc<str>,
    path: String,
    preset: Preset,
    warnings: &'a mut Vec<ConfigWarning>,
}

impl Reader<'_> {
    fn model(&mut self, item: &Node) -> Result<Model, ConfigError> {
        let Value::Map(entries) = &item.value else {
            let problem = wrong(item, "a map with at least a name");
            return Err(self.fail(item.line, "", problem));
        };
        self.once(entries, "")?;
        for entry in entries {
            self.known(entry)?;
        }
        let get = |key: &str| {
            let entry = entries.iter().find(|entry| entry.key == key);
            entry.filter(|entry| entry.node.value != Value::Null)
        };
        for (a, b) in SAME {
            if let (Some(a), Some(b)) = (get(a), get(b)) {
                let (first, second) = if a.line <= b.line { (a, b) } else { (b, a) };
                let other = format!("{}.{}", self.path, first.key);
                let problem = Problem::Both {
                    other,
                    line: Some(first.line),
                };
                return Err(self.fail(second.line, &second.key, problem));
            }
        }
        let Some(name) = get("name") else {
            let problem = Problem::Found {
                found: "no name".to_owned(),
                expected: "what model_name and --model call it".to_owned(),
            };
            return Err(self.fail(item.line, "name", problem));
        };
        let name: Arc<str> = self.text(name, "a model's name")?;
        let model = get("model").map(|e| self.text(e, "what its provider calls it"));
        let provider = match get("provider") {
            Some(entry) => Some(self.text(entry, "a provider's name such as openai")?),
            None => get("use").and_then(|entry| provider_of_class(&entry.node)),
        };
        let url = get("base_url").map(|entry| self.url(entry));
        let key = get("api_key").map(|entry| self.secret(entry, "api_key", &entry.node));
        let window = get("window").or(get("context"));
        let window = window.map(|entry| self.value(entry, |n| whole(n, 1)));
        let output = get("max_output").or(get("max_tokens"));
        let output = output.map(|entry| self.value(entry, |n| whole(n, 1)));
        Ok(Model {
            model: model.transpose()?.unwrap_or_else(|| name.clone()),
            name,
            provider: provider.map(|p| p.to_lowercase().into()),
            base_url: url.transpose()?,
            api_key: key.transpose()?,
            window: window.transpose()?,
            max_output: output.transpose()?,
            prices: get("prices").map_or(Ok(Prices::default()), |e| self.prices(e))?,
            headers: get("headers").map_or(Ok(Vec::new()), |e| self.headers(e))?,
            form: get("form")
                .map(|entry| self.value(entry, |n| word(n, &FORMS)))
                .transpose()?,
            completed: None,
        })
    }

    fn prices(&self, entry: &Entry) -> Result<Prices, ConfigError> {
        let Value::Map(entries) = &entry.node.value else {
            let problem = wrong(
                &entry.node,
                "a map of input, output, cache_read and cache_write",
            );
            return Err(self.fail(entry.line, "prices", problem));
        };
        self.once(entries, "prices")?;
        let mut prices = Prices::default();
        for entry in entries {
            let field = match entry.key.as_str() {
                "input" => &mut prices.input,
                "output" => &mut prices.output,
                "cache_read" => &mut prices.cache_read,
                "cache_write" => &mut prices.cache_write,
                _ => {
                    let suggestion = nearest(&entry.key, &PRICES);
                    let suggestion = suggestion.map(|name| below("prices", name));
                    let path = below("prices", &entry.key);
                    return Err(self.fail(entry.line, &path, Problem::Unknown { suggestion }));
                }
            };
            let price = real(&entry.node).filter(|price| *price >= 0.0);
            *field = Some(price.ok_or_else(|| {
                let problem = wrong(&entry.node, "dollars a million tokens, a number >= 0");
                self.fail(entry.node.line, &below("prices", &entry.key), problem)
            })?);
        }
        Ok(prices)
    }

    fn headers(&self, entry: &Entry) -> Result<Vec<(Arc<str>, Secret)>, ConfigError> {
        let Value::Map(entries) = &entry.node.value else {
            let problem = wrong(&entry.node, "a map of header names and their values");
            return Err(self.fail(entry.line, "headers", problem));
        };
        self.once(entries, "headers")?;
        let mut headers = Vec::new();
        for entry in entries {
            let path = below("headers", &entry.key);
            let fine = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
            if entry.key.is_empty() || !entry.key.bytes().all(fine) {
                let problem = Problem::Found {
                    found: "a name that no header can have".to_owned(),
                    expected: "a name such as X-Title".to_owned(),
                };
                return Err(self.fail(entry.line, &path, problem));
            }
            let value = self.hidden(&entry.node, &path)?;
            headers.push((Arc::from(entry.key.as_str()), value));
        }
        Ok(headers)
    }

    fn url(&self, entry: &Entry) -> Result<Arc<str>, ConfigError> {
        let expected =
            "an http or https address without user, password and spaces; keys go to api_key";
        let url = self.text(entry, expected)?;
        let rest = url
            .strip_prefix("https://")
            .or_else(|| url.strip_prefix("http://"));
        let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
        let is_fine = host.is_some_and(|host| !host.is_empty() && !host.contains('@'))
            && !url.contains(|c: char| c.is_whitespace() || c.is_control())
            && !url.contains('?');
        match is_fine {
            true => Ok(url),
            false => Err(self.fail(entry.line, &entry.key, hidden(expected))),
        }
    }

    /// A key. One that stands in the file itself is taken, and said so.
    fn secret(&mut self, entry: &Entry, path: &str, node: &Node) -> Result<Secret, ConfigError> {
        let secret = self.hidden(node, path)?;
        if secret.variable().is_none() {
            let place = self.place(entry.line, path);
            self.warnings.push(ConfigWarning::KeyInFile { place });
        }
        Ok(secret)
    }

    fn hidden(&self, node: &Node, path: &str) -> Result<Secret, ConfigError> {
        let expected = "$NAME of an environment variable, or the value itself on one line";
        match &node.value {
            Value::Scalar { text, .. }
                if !text.trim().is_empty() && !text.contains(char::is_control) =>
            {
                Ok(Secret::of(text.trim()))
            }
            _ => Err(self.fail(node.line, path, hidden(expected))),
        }
    }

    fn text(&self, entry: &Entry, expected: &str) -> Result<Arc<str>, ConfigError> {
        let one_line = |n: &Node| {
            let text = text(n, expected)?;
            match text.contains(char::is_control) {
                true => Err(wrong(n, expected)),
                false => Ok(Arc::from(text.trim())),
            }
        };
        self.value(entry, one_line)
    }

    fn value<T>(
        &self,
        entry: &Entry,
        read: impl FnOnce(&Node) -> Result<T, Problem>,
    ) -> Result<T, ConfigError> {
        read(&entry.node).map_err(|problem| self.fail(entry.node.line, &entry.key, problem))
    }

    fn once(&self, entries: &[Entry], path: &str) -> Result<(), ConfigError> {
        let mut seen = BTreeMap::new();
        for entry in entries {
            if let Some(first) = seen.insert(&entry.key, entry.line) {
                let path = below(path, &entry.key);
                return Err(self.fail(entry.line, &path, Problem::Twice { first }));
            }
        }
        Ok(())
    }

    /// Other programs keep fields of their own here. What is nearly one of ours was meant to be.
    fn known(&mut self, entry: &Entry) -> Result<(), ConfigError> {
        if FIELDS.contains(&entry.key.as_str()) {
            return Ok(());
        }
        let Some(near) = nearest(&entry.key, &FIELDS) else {
            return Ok(());
        };
        let place = self.place(entry.line, &below("", &entry.key));
        let suggestion = Some(near.to_owned());
        let problem = Problem::Unknown { suggestion };
        if self.preset == Preset::Default {
            return Err(ConfigError::Option { place, problem });
        }
        self.warnings.push(ConfigWarning::Ignored {
            place,
            problem,
            preset: self.preset.name(),
        });
        Ok(())
    }

    fn fail(&self, line: usize, path: &str, problem: Problem) -> ConfigError {
        ConfigError::Option {
            place: self.place(line, path),
            problem,
        }
    }

    fn place(&self, line: usize, path: &str) -> Place {
        let path = match path {
            "" => self.path.clone(),
            path => format!("{}.{path}", self.path),
        };
        at(self.file, line, &path)
    }
}

/// The problem of a value that is not to be shown whatever it is.
fn hidden(expected: &str) -> Problem {
    Problem::Found {
        found: "a value that is not shown".to_owned(),
        expected: expected.to_owned(),
    }
}

/// `langchain_openai:ChatOpenAI`, as deer-flow names a model's class, is OpenAI's.
fn provider_of_class(node: &Node) -> Option<Arc<str>> {
    let Value::Scalar { text, .. } = &node.value else {
        return None;
    };
    let package = text.split([':', '.']).next()?.strip_prefix("langchain_")?;
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    (!package.is_empty() && package.bytes().all(is_name)).then(|| package.into())
}
