//! Chat messages for servers that are stricter than the API: those that fill chat templates, and Mistral's.
//!
//! A summary is told by the user, and what is kept behind it may begin with the user, too; the rules that explain it stand
//! behind the client's own system message. Such servers refuse both, and more. Each rule is a name in the upstream's
//! options; what breaks one is put right in every request to it, always in the same way, so that the beginning of a
//! conversation stays the same bytes. A body that breaks none goes up as it is.

use std::collections::BTreeSet;

use conspectus::core::id::Ident;
use conspectus::wire::json::{Array, Kind, Object, string, with_members};

use crate::scan::{scan, slice};

/// What the servers of an upstream insist on. Nothing, unless said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strict {
    /// `turns`: users and assistants take turns, and a user begins.
    pub turns: bool,
    /// `one_system`: one system message, in front.
    pub one_system: bool,
    /// `after_tool`: an assistant follows on a tool, not a user.
    pub after_tool: bool,
    /// `short_ids`: ids of calls are nine letters and digits.
    pub short_ids: bool,
}

/// Every name, as the command line and the configuration take it.
pub const STRICT: [&str; 4] = ["turns", "one_system", "after_tool", "short_ids"];

/// What an assistant is made to say where one has to speak.
const BRIDGE: &str = r#"{"role":"assistant","content":"Understood."}"#;
/// What a user is made to say where one has to begin.
const BEGIN: &str = r#"{"role":"user","content":"(The conversation goes on.)"}"#;

impl Strict {
    /// All of it.
    pub const ALL: Self = Self {
        turns: true,
        one_system: true,
        after_tool: true,
        short_ids: true,
    };

    /// With the rule of this name too; `None`: there is none.
    #[must_use]
    pub fn with(mut self, name: &str) -> Option<Self> {
        match name {
            "turns" => self.turns = true,
            "one_system" => self.one_system = true,
            "after_tool" => self.after_tool = true,
            "short_ids" => self.short_ids = true,
            _ => return None,
        }
        Some(self)
    }

    /// Whether nothing is insisted on.
    pub(crate) fn is_none(self) -> bool {
        self == Self::default()
    }

    /// The body of a chat request as these servers take it. `None`: it is so already, or cannot be read.
    pub(crate) fn right(self, body: &[u8]) -> Option<Vec<u8>> {
        if self.is_none() {
            return None;
        }
        let layout = scan(body, "messages", None)?;
        let read = |element: &(u32, u32)| Message::read(slice(body, *element));
        let mut list: Vec<Message> = layout.elements.iter().map(read).collect::<Option<_>>()?;
        let mut is_changed = false;
        if self.one_system {
            is_changed |= one_system(&mut list)?;
        }
        if self.after_tool {
            is_changed |= after_tool(&mut list)?;
        }
        if self.turns {
            is_changed |= turns(&mut list)?;
        }
        if self.short_ids {
            is_changed |= short_ids(&mut list)?;
        }
        if !is_changed {
            return None;
        }
        let (from, to) = (layout.list.0 as usize, layout.list.1 as usize);
        let list: Vec<&str> = list.iter().map(|message| &*message.json).collect();
        let list = format!("[{}]", list.join(","));
        Some([&body[..from], list.as_bytes(), &body[to..]].concat())
    }
}

/// A message, and who speaks.
struct Message {
    json: String,
    role: String,
}

impl Message {
    fn read(source: &[u8]) -> Option<Self> {
        let json = std::str::from_utf8(source).ok()?.to_owned();
        let role = match Object::of(&json)?.string("role")?.as_ref() {
            "developer" => "system".to_owned(),
            role => role.to_owned(),
        };
        Some(Self { json, role })
    }

    fn is(&self, role: &str) -> bool {
        self.role == role
    }

    fn has_calls(&self) -> Option<bool> {
        let message = Object::of(&self.json)?;
        let calls = message.value("tool_calls").and_then(Array::of);
        let is_old = message
            .value("function_call")
            .is_some_and(|call| call != "null");
        Some(is_old || calls.is_some_and(|calls| !calls.0.is_empty()))
    }

    /// This message with what the next one says behind it, and its calls.
    fn joined(&self, next: &Self) -> Option<Self> {
        let content = |json| {
            Some(
                Object::of(json)?
                    .value("content")
                    .unwrap_or("null")
                    .to_owned(),
            )
        };
        let both = joined(&content(&self.json)?, &content(&next.json)?)?;
        // Whoever has calls keeps all its members.
        let base = if next.has_calls()? { next } else { self };
        Some(Self {
            json: with_members(&base.json, &[("content", Some(both))])?,
            role: self.role.clone(),
        })
    }
}

/// Neighbours in front become one; what the system says later is said by the user.
fn one_system(list: &mut Vec<Message>) -> Option<bool> {
    let mut is_changed = false;
    while list.len() > 1 && list[0].is("system") && list[1].is("system") {
        let second = list.remove(1);
        list[0] = list[0].joined(&second)?;
        is_changed = true;
    }
    for message in list
        .iter_mut()
        .skip(1)
        .filter(|message| message.is("system"))
    {
        let said = [("role", Some("\"user\"".to_owned()))];
        message.json = with_members(&message.json, &said)?;
        message.role = "user".to_owned();
        is_changed = true;
    }
    Some(is_changed)
}

fn after_tool(list: &mut Vec<Message>) -> Option<bool> {
    let places: Vec<usize> = (1..list.len())
        .filter(|at| list[*at].is("user") && list[*at - 1].is("tool"))
        .collect();
    for at in places.iter().rev() {
        list.insert(*at, Message::read(BRIDGE.as_bytes())?);
    }
    Some(!places.is_empty())
}

fn turns(list: &mut Vec<Message>) -> Option<bool> {
    let mut out: Vec<Message> = Vec::with_capacity(list.len());
    let mut is_changed = false;
    for message in list.drain(..) {
        let joins = match out.last() {
            Some(last) if last.role != message.role => false,
            Some(last) if message.is("assistant") => !last.has_calls()?,
            Some(_) => message.is("user") || message.is("system"),
            None => false,
        };
        match out.last_mut().filter(|_| joins) {
            Some(last) => {
                *last = last.joined(&message)?;
                is_changed = true;
            }
            None => out.push(message),
        }
    }
    let first = out.iter().position(|message| !message.is("system"));
    if let Some(at) = first.filter(|at| out[*at].is("assistant")) {
        out.insert(at, Message::read(BEGIN.as_bytes())?);
        is_changed = true;
    }
    *list = out;
    Some(is_changed)
}

fn short_ids(list: &mut [Message]) -> Option<bool> {
    let mut taken = BTreeSet::new();
    for message in list.iter() {
        taken.extend(ids(&message.json)?.into_iter().filter(|id| is_short(id)));
    }
    let mut is_changed = false;
    for message in list {
        let odd: Vec<String> = ids(&message.json)?;
        if odd.iter().all(|id| is_short(id)) {
            continue;
        }
        let object = Object::of(&message.json)?;
        let mut fields = Vec::new();
        if let Some(id) = object.string("tool_call_id") {
            fields.push(("tool_call_id", Some(string::encode(&short(&id, &taken)))));
        }
        if let Some(calls) = object.value("tool_calls").and_then(Array::of) {
            let set = |call: &&str| {
                let id = Object::of(call)?.string("id")?;
                with_members(call, &[("id", Some(string::encode(&short(&id, &taken))))])
            };
            let calls: Vec<String> = calls.0.iter().map(set).collect::<Option<_>>()?;
            fields.push(("tool_calls", Some(format!("[{}]", calls.join(",")))));
        }
        message.json = with_members(&message.json, &fields)?;
        is_changed = true;
    }
    Some(is_changed)
}

/// The ids of calls that a message makes or answers.
fn ids(message: &str) -> Option<Vec<String>> {
    let message = Object::of(message)?;
    let mut ids: Vec<String> = Vec::new();
    ids.extend(message.string("tool_call_id").map(|id| id.into_owned()));
    for call in message
        .value("tool_calls")
        .and_then(Array::of)
        .iter()
        .flat_map(|a| a.0.iter())
    {
        ids.extend(Object::of(call)?.string("id").map(|id| id.into_owned()));
    }
    Some(ids)
}

fn is_short(id: &str) -> bool {
    id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// Nine letters and digits that follow from the id alone, unless somebody has them.
fn short(id: &str, taken: &BTreeSet<String>) -> String {
    if is_short(id) {
        return id.to_owned();
    }
    let nine = |text: &str| -> String {
        let digit = |byte: &u8| char::from_digit(u32::from(*byte) % 36, 36).unwrap_or('0');
        Ident::of(text).0.iter().take(9).map(digit).collect()
    };
    let mut name = nine(id);
    let mut nth = 0;
    while taken.contains(&name) {
        nth += 1;
        name = nine(&format!("{id} {nth}"));
    }
    name
}

/// Two contents as one: a string if both are, and what is nothing adds nothing.
fn joined(first: &str, second: &str) -> Option<String> {
    let (one, two) = (Kind::of(first), Kind::of(second));
    if one == Kind::Null || two == Kind::Null {
        return Some(if one == Kind::Null { second } else { first }.to_owned());
    }
    if one == Kind::String && two == Kind::String {
        let text = format!("{}\n\n{}", string::decode(first), string::decode(second));
        return Some(string::encode(&text));
    }
    let parts = |content: &str| match Kind::of(content) {
        Kind::String => Some(format!(r#"{{"type":"text","text":{content}}}"#)),
        _ => Some(Array::of(content)?.0.join(",")),
    };
    let both = [parts(first)?, parts(second)?];
    let said: Vec<_> = both.into_iter().filter(|part| !part.is_empty()).collect();
    Some(format!("[{}]", said.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(strict: Strict, list: &str, expect: Option<&str>) {
        let body = |list: &str| format!(r#"{{"messages":[{list}],"x":1}}"#);
        let got = strict.right(body(list).as_bytes());
        let got = got.map(|got| String::from_utf8(got).expect("text"));
        assert_eq!(got, expect.map(body), "{list}");
        // What is right stays.
        if let Some(got) = got {
            assert_eq!(strict.right(got.as_bytes()), None, "{got}");
        }
    }

    fn only(name: &str) -> Strict {
        Strict::default().with(name).expect("a name")
    }

    #[test]
    fn neighbours_become_one() {
        check(
            only("turns"),
            r#"{"role":"system","content":"a"},{"role":"developer","content":"b"},{"role":"user","content":"c\n"},{"role":"user","content":"d","name":"n"},{"role":"assistant","content":"e"}"#,
            Some(
                r#"{"role":"system","content":"a\n\nb"},{"role":"user","content":"c\n\n\nd"},{"role":"assistant","content":"e"}"#,
            ),
        );
        check(
            only("turns"),
            r#"{"role":"user","content":"a"},{"role":"user","content":[{"type":"text","text":"b"}]}"#,
            Some(
                r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#,
            ),
        );
        check(
            only("turns"),
            r#"{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"assistant","content":null,"tool_calls":[{"id":"c"}]},{"role":"tool","tool_call_id":"c","content":"d"},{"role":"tool","tool_call_id":"c","content":"e"}"#,
            Some(
                r#"{"role":"user","content":"a"},{"role":"assistant","content":"b","tool_calls":[{"id":"c"}]},{"role":"tool","tool_call_id":"c","content":"d"},{"role":"tool","tool_call_id":"c","content":"e"}"#,
            ),
        );
        check(only("turns"), r#"{"role":"user","content":"a"}"#, None);
        check(
            only("turns"),
            r#"{"role":"system","content":"s"},{"role":"assistant","content":"a"}"#,
            Some(&format!(
                r#"{{"role":"system","content":"s"}},{BEGIN},{{"role":"assistant","content":"a"}}"#
            )),
        );
    }

    #[test]
    fn the_system_speaks_once() {
        check(
            only("one_system"),
            r#"{"role":"system","content":"a"},{"role":"system","content":"b"},{"role":"user","content":"c"},{"role":"system","content":"d"}"#,
            Some(
                r#"{"role":"system","content":"a\n\nb"},{"role":"user","content":"c"},{"role":"user","content":"d"}"#,
            ),
        );
    }

    #[test]
    fn an_assistant_follows_on_a_tool() {
        check(
            only("after_tool"),
            r#"{"role":"tool","tool_call_id":"c","content":"d"},{"role":"user","content":"e"}"#,
            Some(&format!(
                r#"{{"role":"tool","tool_call_id":"c","content":"d"}},{BRIDGE},{{"role":"user","content":"e"}}"#
            )),
        );
        check(Strict::default(), "{}", None);
    }

    #[test]
    fn ids_are_nine_letters_and_the_same_in_call_and_answer() {
        let list = |a: &str, b: &str| {
            format!(
                r#"{{"role":"assistant","tool_calls":[{{"id":"{a}","type":"function"}},{{"id":"{b}"}}]}},{{"role":"tool","tool_call_id":"{a}"}},{{"role":"tool","tool_call_id":"{b}"}}"#
            )
        };
        let taken = BTreeSet::new();
        let (a, b) = (short("call_1", &taken), short("call_2", &taken));
        assert!(is_short(&a) && is_short(&b) && a != b);
        check(
            only("short_ids"),
            &list("call_1", "call_2"),
            Some(&list(&a, &b)),
        );
        check(
            only("short_ids"),
            &list("abcdefgh1", "call_2"),
            Some(&list("abcdefgh1", &b)),
        );
        check(only("short_ids"), &list("abcdefgh1", "ABCDEFGH2"), None);
        // Somebody else's by chance.
        assert_ne!(short("call_1", &BTreeSet::from([a.clone()])), a);
    }

    #[test]
    fn names() {
        let all = STRICT
            .iter()
            .try_fold(Strict::default(), |all, name| all.with(name));
        assert_eq!(all, Some(Strict::ALL));
        assert_eq!(Strict::default().with("other"), None);
    }
}
