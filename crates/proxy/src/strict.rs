//! Chat messages for servers whose templates want turns: neighbours that speak with one voice become one message.
//!
//! A summary is told by the user, and what is kept behind it may begin with the user, too; the rules that explain it stand
//! behind the client's own system message. Servers that fill chat templates refuse both.

use conspectus::wire::json::{Array, Kind, Object, string, with_members};

use crate::scan::{scan, slice};

/// The body with neighbouring messages of the system, or of the user, in one. `None`: it cannot be read, or nothing was
/// to be done.
pub(crate) fn in_turns(body: &[u8]) -> Option<Vec<u8>> {
    let layout = scan(body, "messages", None)?;
    let mut list: Vec<String> = Vec::with_capacity(layout.elements.len());
    let mut last = String::new();
    for element in &layout.elements {
        let message = std::str::from_utf8(slice(body, *element)).ok()?;
        let object = Object::of(message)?;
        let role = match object.string("role")?.as_ref() {
            "developer" => "system".to_owned(),
            role => role.to_owned(),
        };
        let joins = last == role && ["system", "user"].contains(&role.as_str());
        match list.last_mut().filter(|_| joins) {
            Some(before) => {
                let first = Object::of(before)?.value("content")?.to_owned();
                let both = joined(&first, object.value("content")?)?;
                *before = with_members(before, &[("content", Some(both))])?;
            }
            None => list.push(message.to_owned()),
        }
        last = role;
    }
    if list.len() == layout.elements.len() {
        return None;
    }
    let (from, to) = (layout.list.0 as usize, layout.list.1 as usize);
    let list = format!("[{}]", list.join(","));
    Some([&body[..from], list.as_bytes(), &body[to..]].concat())
}

/// Two contents as one: a string if both are.
fn joined(first: &str, second: &str) -> Option<String> {
    if Kind::of(first) == Kind::String && Kind::of(second) == Kind::String {
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

    #[test]
    fn neighbours_become_one() {
        let check = |list: &str, expect: Option<&str>| {
            let body = |list: &str| format!(r#"{{"messages":[{list}],"x":1}}"#);
            let got = in_turns(body(list).as_bytes());
            let got = got.map(|got| String::from_utf8(got).expect("text"));
            assert_eq!(got, expect.map(body), "{list}");
        };
        check(
            r#"{"role":"system","content":"a"},{"role":"developer","content":"b"},{"role":"user","content":"c\n"},{"role":"user","content":"d","name":"n"},{"role":"assistant","content":"e"}"#,
            Some(
                r#"{"role":"system","content":"a\n\nb"},{"role":"user","content":"c\n\n\nd"},{"role":"assistant","content":"e"}"#,
            ),
        );
        check(
            r#"{"role":"user","content":"a"},{"role":"user","content":[{"type":"text","text":"b"}]}"#,
            Some(
                r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#,
            ),
        );
        check(
            r#"{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"assistant","content":"c"}"#,
            None,
        );
        check(r#"{"role":"user","content":"a"},{"role":"user"}"#, None);
    }
}
