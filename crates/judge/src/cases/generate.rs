//! The generated values of a case: long texts are spelled as what makes them.

use sha2::{Digest as _, Sha256};

use super::json::Json;

/// `value` with every generated value put in.
pub(super) fn expand(value: &Json) -> Json {
    match value {
        Json::Object(_) => {
            if let Some(spec) = value.get("$gen") {
                return Json::Text(generated(spec));
            }
            if let Some(object) = value.get("$gen_json") {
                let mut text = String::new();
                pairs(object).write(&mut text, ", ", ": ");
                return Json::Text(text);
            }
            let members = value.members().iter();
            Json::Object(members.map(|(k, v)| (k.clone(), expand(v))).collect())
        }
        Json::List(items) => {
            let mut out = Vec::with_capacity(items.len());
            for item in items {
                let Some(repeat) = item.get("$repeat") else {
                    out.push(expand(item));
                    continue;
                };
                for i in 1..=repeat.number_at("n").unwrap_or(0) {
                    let messages = repeat.items_at("messages").iter();
                    out.extend(messages.map(|m| expand(&numbered(m, &i.to_string()))));
                }
            }
            Json::List(out)
        }
        _ => value.clone(),
    }
}

/// The text that a `$gen` stands for.
fn generated(spec: &Json) -> String {
    let prefix = spec.text_at("prefix").unwrap_or_default();
    if let Some(times) = spec.number_at("repeat") {
        let text = spec.text_at("text").unwrap_or_default();
        return [prefix, &text.repeat(size(times))].concat();
    }
    let bytes = size(spec.number_at("base64_bytes").unwrap_or(0));
    let seed = spec.number_at("seed").unwrap_or(1);
    let mut data = Vec::with_capacity(bytes + 32);
    for i in 0.. {
        if data.len() >= bytes {
            break;
        }
        data.extend_from_slice(&Sha256::digest(format!("{seed}:{i}")));
    }
    data.truncate(bytes);
    [prefix, &base64(&data)].concat()
}

fn size(n: u64) -> usize {
    usize::try_from(n).unwrap_or(0)
}

/// Standard alphabet, padded.
fn base64(data: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(data.len().div_ceil(3) * 4);
    for three in data.chunks(3) {
        let byte = |n: usize| u32::from(three.get(n).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for n in 0..4u32 {
            let index = (bits >> (18 - 6 * n)) & 63;
            let is_padding = n as usize > three.len();
            out.push(if is_padding {
                '='
            } else {
                char::from(ALPHABET[index as usize])
            });
        }
    }
    out
}

/// `{"repeat":N,"text":T}` inside `$gen_json`.
fn pairs(value: &Json) -> Json {
    match value {
        Json::Object(members) => {
            let is_pair =
                members.len() == 2 && value.get("repeat").is_some() && value.get("text").is_some();
            if is_pair {
                return Json::Text(generated(value));
            }
            let members = members.iter().map(|(k, v)| (k.clone(), pairs(v)));
            Json::Object(members.collect())
        }
        Json::List(items) => Json::List(items.iter().map(pairs).collect()),
        _ => value.clone(),
    }
}

/// `{i}` replaced in every string.
fn numbered(value: &Json, i: &str) -> Json {
    match value {
        Json::Text(text) => Json::Text(text.replace("{i}", i)),
        Json::List(items) => Json::List(items.iter().map(|v| numbered(v, i)).collect()),
        Json::Object(members) => Json::Object(
            members
                .iter()
                .map(|(k, v)| (k.clone(), numbered(v, i)))
                .collect(),
        ),
        Json::Plain(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &str, expect: &str) {
        let made = expand(&Json::parse(value).expect("JSON"));
        assert_eq!(made.to_string(), expect);
    }

    #[test]
    fn values_are_generated() {
        check(
            r#"{"$gen":{"repeat":3,"text":"ab","prefix":">"}}"#,
            r#"">ababab""#,
        );
        check(
            r#"{"$gen_json":{"b":1.0,"a":[{"repeat":2,"text":"é"}]}}"#,
            r#""{\"b\": 1.0, \"a\": [\"éé\"]}""#,
        );
        check(
            r#"[{"$repeat":{"n":2,"messages":[{"_id":"m{i}","c":{"$gen":{"repeat":2,"text":"{i}"}}}]}}]"#,
            r#"[{"_id":"m1","c":"11"},{"_id":"m2","c":"22"}]"#,
        );
        for (data, expect) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ] {
            assert_eq!(base64(data.as_bytes()), expect);
        }
    }
}
