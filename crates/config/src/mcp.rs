//! The section `mcp:` at the top of the file: servers whose tools agents have.
//!
//! It only says what was written. `conspectus chat` and `conspectus serve` begin the servers; `conspectus mcp` shows them.

use std::sync::Arc;

use crate::error::{ConfigError, Problem};
use crate::models::Secret;
use crate::options::Reader;
use crate::reader::below;
use crate::value::{text, whole, wrong};
use crate::yaml::{Entry, Node, Value};

/// The name of the section.
pub(crate) const MCP: &str = "mcp";

/// Every option of a server.
pub(crate) const SERVER: [&str; 9] = [
    "command",
    "args",
    "env",
    "url",
    "headers",
    "tools",
    "start_ms",
    "timeout_ms",
    "max_result_chars",
];

/// A server of the section.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct McpServer {
    /// Its name.
    pub name: Arc<str>,
    /// Where it is.
    pub place: McpPlace,
    /// The tools of it that agents have, by its own names; `None`: all.
    pub tools: Option<Vec<Arc<str>>>,
    /// The time for beginning it.
    pub start_ms: Option<u64>,
    /// The time for one call.
    pub timeout_ms: Option<u64>,
    /// Characters of a result beyond which its middle is left out.
    pub max_result_chars: Option<u64>,
}

/// Where a server is.
#[derive(Clone, Debug, PartialEq)]
pub enum McpPlace {
    /// A program that is begun.
    Command {
        /// The program.
        command: Arc<str>,
        /// Its arguments.
        args: Vec<Arc<str>>,
        /// Variables of its environment.
        env: Vec<(Arc<str>, Secret)>,
    },
    /// An address.
    Url {
        /// The address.
        url: Secret,
        /// Headers that go with every request.
        headers: Vec<(Arc<str>, Secret)>,
    },
}

/// Reads the section.
pub(crate) fn read(file: &Arc<str>, section: &Entry) -> Result<Vec<McpServer>, ConfigError> {
    let reader = Reader { file, section: MCP };
    let all = reader.options(section, "a map of names and servers")?;
    all.iter().map(|entry| server(&reader, entry)).collect()
}

fn server(reader: &Reader<'_>, entry: &Entry) -> Result<McpServer, ConfigError> {
    let path = entry.key.trim();
    let mut command = None;
    let (mut args, mut env, mut headers) = (Vec::new(), Vec::new(), Vec::new());
    let mut url = None;
    let mut server = McpServer {
        name: path.into(),
        place: McpPlace::Command {
            command: "".into(),
            args: Vec::new(),
            env: Vec::new(),
        },
        tools: None,
        start_ms: None,
        timeout_ms: None,
        max_result_chars: None,
    };
    let mut of_command = None;
    let mut of_url = None;
    for option in reader.entries(&entry.node, entry.line, path, "a map with command or url")? {
        let number = |min| reader.below(path, option, |node| whole(node, min));
        match option.key.as_str() {
            "command" => {
                command = reader.below(path, option, |node| text(node, "a program"))?;
            }
            "args" => args = texts(reader, path, option)?.unwrap_or_default(),
            "env" => env = secrets(reader, path, option)?,
            "url" => url = reader.below(path, option, address)?,
            "headers" => headers = secrets(reader, path, option)?,
            "tools" => server.tools = texts(reader, path, option)?,
            "start_ms" => server.start_ms = number(1)?,
            "timeout_ms" => server.timeout_ms = number(1)?,
            "max_result_chars" => server.max_result_chars = number(1)?,
            _ => return Err(reader.unknown(option, path, &SERVER)),
        }
        let name = option.key.as_str();
        if ["args", "env"].contains(&name) {
            of_command = of_command.or(Some(option));
        }
        if name == "headers" {
            of_url = Some(option);
        }
    }
    let fail = |line, path: &str, found: &str, expected: &str| {
        let problem = Problem::Found {
            found: found.to_owned(),
            expected: expected.to_owned(),
        };
        Err(reader.fail(line, path, problem))
    };
    server.place = match (command, url) {
        (Some(command), None) => {
            if let Some(odd) = of_url {
                let path = below(path, &odd.key);
                return fail(odd.line, &path, "headers beside command", "env");
            }
            McpPlace::Command {
                command: command.trim().into(),
                args,
                env,
            }
        }
        (None, Some(url)) => {
            if let Some(odd) = of_command {
                let path = below(path, &odd.key);
                let found = format!("{} beside url", odd.key);
                return fail(odd.line, &path, &found, "headers");
            }
            McpPlace::Url { url, headers }
        }
        (None, None) => {
            let found = "neither command nor url";
            return fail(entry.line, path, found, "one of them");
        }
        (Some(_), Some(_)) => {
            return fail(entry.line, path, "command and url", "one of them");
        }
    };
    Ok(server)
}

/// A list of texts; `null` says nothing.
fn texts(
    reader: &Reader<'_>,
    path: &str,
    option: &Entry,
) -> Result<Option<Vec<Arc<str>>>, ConfigError> {
    reader.below(path, option, |node| {
        let Value::List(items) = &node.value else {
            return Err(wrong(node, "a list, [] for none"));
        };
        let read = |item| text(item, "a text").map(Arc::from);
        items.iter().map(read).collect()
    })
}

/// A map of names and values that are not shown.
fn secrets(
    reader: &Reader<'_>,
    path: &str,
    option: &Entry,
) -> Result<Vec<(Arc<str>, Secret)>, ConfigError> {
    let path = below(path, &option.key);
    let entries = reader.entries(
        &option.node,
        option.line,
        &path,
        "a map of names and values",
    )?;
    let read = |entry: &Entry| {
        let value = reader.below(&path, entry, |node| {
            let expected = "$NAME of an environment variable, or the value itself on one line";
            secret(node, expected)
        })?;
        // null says nothing.
        Ok(value.map(|value| (Arc::from(entry.key.as_str()), value)))
    };
    let all: Result<Vec<_>, _> = entries.iter().map(read).collect();
    Ok(all?.into_iter().flatten().collect())
}

/// An address, whose query may be a key.
fn address(node: &Node) -> Result<Secret, Problem> {
    const URL: &str = "$NAME of an environment variable, or an http:// or https:// address without user and password";
    let url = secret(node, URL)?;
    let fine = |url: &str| {
        let starts = ["http://", "https://"];
        starts
            .iter()
            .any(|start| url.len() > start.len() && url.starts_with(start))
            && !url.split('/').nth(2).unwrap_or_default().contains('@')
    };
    let is_fine = url.variable().is_some() || url.reveal(|_| None).is_some_and(|url| fine(&url));
    match is_fine {
        true => Ok(url),
        false => Err(unshown(URL)),
    }
}

fn secret(node: &Node, expected: &str) -> Result<Secret, Problem> {
    match &node.value {
        Value::Scalar { text, .. }
            if !text.trim().is_empty() && !text.contains(char::is_control) =>
        {
            Ok(Secret::of(text.trim()))
        }
        _ => Err(unshown(expected)),
    }
}

fn unshown(expected: &str) -> Problem {
    Problem::Found {
        found: "a value that is not shown".to_owned(),
        expected: expected.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn reads_what_is_written() {
        let file = "mcp:\n  files:\n    command: npx\n    args: [-y, some-server, 8]\n    env: {TOKEN: $FILES_TOKEN, MODE: quiet}\n    \
                    tools: [read]\n    timeout_ms: 5000\n  tickets: {url: 'https://h/mcp?key=k', headers: {authorization: $AUTH}}\n";
        let config = Config::load("c.yaml", file).expect("loads");
        let [files, tickets] = config.mcp() else {
            panic!("two servers");
        };
        assert_eq!((&*files.name, files.timeout_ms), ("files", Some(5000)));
        assert_eq!(files.tools.as_deref(), Some(&["read".into()][..]));
        let McpPlace::Command { command, args, env } = &files.place else {
            panic!("a program");
        };
        let args: Vec<&str> = args.iter().map(|arg| &**arg).collect();
        assert_eq!(
            (&**command, &args[..]),
            ("npx", &["-y", "some-server", "8"][..])
        );
        assert_eq!(env[0].1.variable(), Some("FILES_TOKEN"));
        let shown = format!("{files:?} {tickets:?}");
        assert!(
            !shown.contains("quiet") && !shown.contains("key=k"),
            "{shown}"
        );
        assert!(
            Config::load("c.yaml", "mcp:\n")
                .expect("loads")
                .mcp()
                .is_empty()
        );
    }

    #[test]
    fn says_what_is_wrong() {
        #[track_caller]
        fn check(server: &str, expect: &str) {
            let text = format!("mcp:\n  a: {server}\n");
            let error = Config::load("c.yaml", &text).expect_err("is refused");
            assert_eq!(error.to_string(), format!("c.yaml:2: mcp.a{expect}"));
        }
        check(
            "{}",
            ": found neither command nor url, expected one of them",
        );
        check(
            "{command: x, url: 'http://h'}",
            ": found command and url, expected one of them",
        );
        check("npx", ": found \"npx\", expected a map with command or url");
        check(
            "{comand: x}",
            ".comand: unknown option, did you mean command?",
        );
        check(
            "{command: x, headers: {a: b}}",
            ".headers: found headers beside command, expected env",
        );
        check(
            "{url: 'http://h', args: [x]}",
            ".args: found args beside url, expected headers",
        );
        check(
            "{url: 'http://me:pass@h'}",
            ".url: found a value that is not shown, expected $NAME of an environment variable, or an http:// or https:// address \
             without user and password",
        );
        check(
            "{command: x, args: y}",
            ".args: found \"y\", expected a list, [] for none",
        );
        check(
            "{command: x, timeout_ms: 0}",
            ".timeout_ms: found 0, expected a whole number > 0",
        );
    }
}
