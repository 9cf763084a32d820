//! Keys: where they come from, and that nobody sees them.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::BuildError;

/// A text that is printed as `****` and cannot be serialised.
///
/// ```
/// use conspectus_providers::Secret;
///
/// let key = Secret::new("sk-made-up");
/// assert_eq!(format!("{key} {key:?}"), "**** ****");
/// ```
///
/// ```compile_fail
/// serde_json::to_string(&conspectus_providers::Secret::new("sk-made-up"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Hides `text`.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text, for the one header that it goes into.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// `text` with `****` wherever this secret stands in it.
    pub(crate) fn scrub(&self, text: String) -> String {
        if self.0.is_empty() || !text.contains(&*self.0) {
            return text;
        }
        text.replace(&*self.0, "****")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("****")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("****")
    }
}

/// Where a key comes from. It is read once, when the model is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Key {
    /// None is sent: most local servers want none.
    #[default]
    None,
    /// The environment variable of this name.
    Env(String),
    /// A file that holds the key and nothing else; space around it does not count.
    File(PathBuf),
    /// This one.
    Given(Secret),
}

impl Key {
    /// The key, if one is to be sent.
    pub(crate) fn read(&self) -> Result<Option<Secret>, BuildError> {
        let (text, from) = match self {
            Self::None => return Ok(None),
            Self::Given(secret) => (secret.expose().to_owned(), "what was given".to_owned()),
            Self::Env(name) => (env(name)?, format!("the environment variable {name}")),
            Self::File(path) => {
                let text = std::fs::read_to_string(path).map_err(|source| BuildError::KeyFile {
                    path: path.clone(),
                    source,
                })?;
                (text, format!("the file {}", path.display()))
            }
        };
        let key = text.trim();
        // What a header can hold; the error must not quote it.
        match !key.is_empty() && key.bytes().all(|b| (0x21..0x7f).contains(&b)) {
            true => Ok(Some(Secret::new(key))),
            false => Err(BuildError::NotAKey { from }),
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "an adapter: the configuration names the variable"
)]
fn env(name: &str) -> Result<String, BuildError> {
    std::env::var(name).map_err(|_| BuildError::NoKey { name: name.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_never_quoted() {
        let check = |key: &Key, expect: Result<Option<&str>, &str>| match (key.read(), expect) {
            (Ok(got), Ok(want)) => assert_eq!(got.as_ref().map(Secret::expose), want),
            (Err(got), Err(want)) => assert_eq!(got.to_string(), want),
            (got, want) => panic!("{got:?} is not {want:?}"),
        };
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("it is written");
            Key::File(path)
        };
        check(&Key::None, Ok(None));
        check(&Key::Given(Secret::new(" sk-1 ")), Ok(Some("sk-1")));
        check(&file("good", "sk-2\r\n"), Ok(Some("sk-2")));
        let bad = folder.path().join("two");
        check(
            &file("two", "sk-1\nsk-2"),
            Err(&format!(
                "the file {} holds no key: it should be one word of plain characters",
                bad.display()
            )),
        );
        check(
            &Key::Env("CONSPECTUS_NO_SUCH_VARIABLE".into()),
            Err(
                "the environment variable CONSPECTUS_NO_SUCH_VARIABLE is not set; put the key there, or in a file",
            ),
        );
        let missing = Key::File(folder.path().join("missing"));
        assert!(matches!(missing.read(), Err(BuildError::KeyFile { .. })));
        // Cargo sets it for tests.
        assert!(Key::Env("CARGO_PKG_NAME".into()).read().is_ok());
    }

    #[test]
    fn secrets_are_scrubbed() {
        let scrub = |secret: &str, text: &str| Secret::new(secret).scrub(text.to_owned());
        assert_eq!(scrub("sk-1", "bad key sk-1, sk-1!"), "bad key ****, ****!");
        assert_eq!(scrub("", "nothing"), "nothing");
    }
}
