//! JSON without the spaces between its tokens, for digests.

use std::borrow::Cow;

/// `json` without space outside of strings; borrowed when there is none.
pub fn compact(json: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in json.bytes().enumerate() {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
        } else if byte == b'"' {
            in_string = true;
        } else if byte.is_ascii_whitespace() {
            out.push_str(&json[done..at]);
            done = at + 1;
        }
    }
    if done == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(&json[done..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_space_between_tokens_goes() {
        let check = |json: &str, expect: &str| assert_eq!(compact(json), expect);
        check(r#"{"a":1}"#, r#"{"a":1}"#);
        check("{ \"a b\" : [ 1 ,\n\t2 ] }", r#"{"a b":[1,2]}"#);
        check(r#" "x \" y\\" , " z" "#, r#""x \" y\\"," z""#);
        check(" 中 ", "中");
    }
}
