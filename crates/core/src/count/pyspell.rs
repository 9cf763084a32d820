//! How long Python would write a JSON value: `len(repr(x))` and `len(json.dumps(x))` after `json.loads`.
//!
//! LangChain's approximate counter measures tool calls and unknown blocks that way, so the lengths must be
//! right to the character. One pass over the JSON text without building values and without recursion.
//! Facts about the spelling are from Python's language reference (`str.__repr__`, `float.__repr__`,
//! `str.isprintable`) and from its `json` module.

use std::collections::HashMap;

use serde_json::value::RawValue;

/// Which of the two spellings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// `repr(x)`.
    Repr,
    /// `json.dumps(x)` with its defaults (ASCII only, `", "` and `": "`).
    Dumps,
}

/// The length in code points of the value that `json` holds. `None` if it is not one JSON text.
pub(super) fn spelled_len(json: &str, spelling: Spelling) -> Option<usize> {
    serde_json::from_str::<&RawValue>(json).ok()?;
    Some(Scanner::new(json, spelling).run())
}

/// `len(repr(x))` of an object whose `content` is a value of length `content` instead of its own.
pub(super) fn spelled_len_with_content(json: &str, content: usize) -> Option<usize> {
    let members: HashMap<String, &RawValue> = serde_json::from_str(json).ok()?;
    let own = spelled_len(members.get("content")?.get(), Spelling::Repr)?;
    Some(spelled_len(json, Spelling::Repr)? - own + content)
}

/// `len(repr(text))`.
pub(super) fn repr_str_len(text: &str) -> usize {
    let is_plain = |b: &u8| (b' '..=b'~').contains(b) && !matches!(b, b'\'' | b'\\');
    // Without an early end, so that it is many bytes at a time.
    let bytes = text.as_bytes().iter();
    match bytes.fold(true, |all, b| all & is_plain(b)) {
        true => text.len() + "''".len(),
        false => string_len(text.chars().map(u32::from), Spelling::Repr),
    }
}

/// One open list or object.
struct Frame {
    /// Length so far, without the brackets.
    len: usize,
    /// Finished members.
    members: usize,
    /// For objects: the value lengths by key, since a later value of the same key takes its place.
    seen: Option<HashMap<String, usize>>,
    /// For objects: the key whose value comes next, and its spelled length.
    key: Option<(String, usize)>,
}

impl Frame {
    fn list() -> Self {
        Self {
            len: 0,
            members: 0,
            seen: None,
            key: None,
        }
    }

    fn object() -> Self {
        Self {
            seen: Some(HashMap::new()),
            ..Self::list()
        }
    }

    /// Takes in a finished member of length `value`.
    fn add(&mut self, value: usize) {
        if let (Some(seen), Some((key, key_len))) = (&mut self.seen, self.key.take()) {
            if let Some(before) = seen.insert(key, value) {
                self.len = self.len - before + value;
                return;
            }
            self.len += key_len + ": ".len();
        }
        if self.members > 0 {
            self.len += ", ".len();
        }
        self.members += 1;
        self.len += value;
    }
}

/// Walks a JSON text that is known to be valid.
struct Scanner<'a> {
    json: &'a str,
    at: usize,
    spelling: Spelling,
    open: Vec<Frame>,
}

impl<'a> Scanner<'a> {
    fn new(json: &'a str, spelling: Spelling) -> Self {
        Self {
            json,
            at: 0,
            spelling,
            open: Vec::new(),
        }
    }

    fn run(mut self) -> usize {
        let mut total = 0;
        while let Some(&byte) = self.json.as_bytes().get(self.at) {
            let finished = match byte {
                b'{' => {
                    self.open.push(Frame::object());
                    self.at += 1;
                    None
                }
                b'[' => {
                    self.open.push(Frame::list());
                    self.at += 1;
                    None
                }
                b'}' | b']' => {
                    self.at += 1;
                    self.open.pop().map(|frame| frame.len + "[]".len())
                }
                b'"' => self.string(),
                b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' => {
                    self.at += 1;
                    None
                }
                _ => Some(self.scalar()),
            };
            if let Some(len) = finished {
                match self.open.last_mut() {
                    Some(frame) => frame.add(len),
                    None => total = len,
                }
            }
        }
        total
    }

    /// Reads a string. `None` when it is a key, which its object then holds.
    fn string(&mut self) -> Option<usize> {
        let inner = self.at + 1;
        let mut end = inner;
        let bytes = self.json.as_bytes();
        while end < bytes.len() && bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        let raw = &self.json[inner..end];
        self.at = end + 1;
        let len = string_len(CodePoints::new(raw), self.spelling);
        match self.open.last_mut() {
            Some(frame) if frame.seen.is_some() && frame.key.is_none() => {
                // Two spellings of one key are one key. A lone surrogate has no `String`: its source will do.
                let quoted = &self.json[inner - 1..end + 1];
                let key = serde_json::from_str(quoted).unwrap_or_else(|_| raw.to_owned());
                frame.key = Some((key, len));
                None
            }
            _ => Some(len),
        }
    }

    /// Reads a number, `true`, `false` or `null`.
    fn scalar(&mut self) -> usize {
        let rest = &self.json[self.at..];
        let end = rest
            .find([',', ']', '}', ' ', '\t', '\n', '\r'])
            .unwrap_or(rest.len());
        self.at += end;
        match &rest[..end] {
            // True and None, true and null: the same lengths.
            "true" | "null" => 4,
            "false" => 5,
            number if number.contains(['.', 'e', 'E']) => float_len(number, self.spelling),
            "-0" => 1,
            integer => integer.len(),
        }
    }
}

/// The length of a float: the shortest digits that read back as the same number, with an exponent below
/// 1e-4 and from 1e16 on.
fn float_len(source: &str, spelling: Spelling) -> usize {
    let value: f64 = source.parse().unwrap_or(0.0);
    let sign = usize::from(value.is_sign_negative());
    if value.is_infinite() {
        return sign
            + match spelling {
                Spelling::Repr => "inf".len(),
                Spelling::Dumps => "Infinity".len(),
            };
    }
    let scientific = format!("{:e}", value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = mantissa.len() - usize::from(mantissa.contains('.'));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    sign + match exponent {
        0..16 => {
            let whole = exponent as usize + 1;
            // At least one digit stands behind the point.
            whole + 1 + digits.saturating_sub(whole).max(1)
        }
        -4..0 => "0.".len() + (-exponent - 1) as usize + digits,
        _ => {
            let point = usize::from(digits > 1);
            let written = exponent.unsigned_abs().to_string().len().max(2);
            digits + point + "e+".len() + written
        }
    }
}

/// The length of a string of these code points (lone surrogates allowed), quotes included.
fn string_len(codes: impl Iterator<Item = u32>, spelling: Spelling) -> usize {
    match spelling {
        Spelling::Dumps => 2 + codes.map(dumped_len).sum::<usize>(),
        Spelling::Repr => {
            let (mut len, mut single, mut double) = (2, 0, false);
            for code in codes {
                len += repr_len(code);
                single += usize::from(code == u32::from('\''));
                double |= code == u32::from('"');
            }
            // Python takes the quote that needs no escape, if there is one, and else the single one.
            if double { len + single } else { len }
        }
    }
}

/// The length of one code point inside `repr`, quotes not escaped.
fn repr_len(code: u32) -> usize {
    match code {
        0x09 | 0x0a | 0x0d | 0x5c => 2,
        0x20..0x7f => 1,
        _ if is_printable(code) => 1,
        0..=0xff => "\\xNN".len(),
        0x100..=0xffff => "\\uNNNN".len(),
        _ => "\\UNNNNNNNN".len(),
    }
}

/// The length of one code point inside `json.dumps`.
fn dumped_len(code: u32) -> usize {
    match code {
        0x08 | 0x09 | 0x0a | 0x0c | 0x0d | 0x22 | 0x5c => 2,
        0x20..0x7f => 1,
        0..=0xffff => "\\uNNNN".len(),
        _ => "\\uNNNN\\uNNNN".len(),
    }
}

/// `str.isprintable` of one code point: not a control, format, private or unassigned character, no
/// surrogate, no separator but the space. The standard library's debug escape draws the same line (for
/// any character but the first), with a newer Unicode table: compared over all code points, only characters
/// assigned after Unicode 14 differ from Python 3.11.
fn is_printable(code: u32) -> bool {
    match code {
        0x4e00..0xa000 | 0xac00..0xd7a4 => true,
        0x20..0x7f => true,
        _ => char::from_u32(code).is_some_and(|c| {
            let mut buffer = [0; 5];
            buffer[0] = b'a';
            let end = 1 + c.encode_utf8(&mut buffer[1..]).len();
            std::str::from_utf8(&buffer[..end])
                .is_ok_and(|text| text.escape_debug().nth(1) == Some(c))
        }),
    }
}

/// The code points of a JSON string's source, escapes read.
struct CodePoints<'a> {
    chars: std::str::Chars<'a>,
}

impl<'a> CodePoints<'a> {
    fn new(raw: &'a str) -> Self {
        Self { chars: raw.chars() }
    }

    /// The four digits after `\u`.
    fn hex(&mut self) -> u32 {
        (0..4).fold(0, |code, _| {
            let digit = self.chars.next().and_then(|c| c.to_digit(16));
            code * 16 + digit.unwrap_or(0)
        })
    }
}

impl Iterator for CodePoints<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let c = self.chars.next()?;
        if c != '\\' {
            return Some(c.into());
        }
        let code = match self.chars.next()? {
            'n' => 0x0a,
            't' => 0x09,
            'r' => 0x0d,
            'b' => 0x08,
            'f' => 0x0c,
            'u' => self.hex(),
            other => other.into(),
        };
        if !(0xd800..0xdc00).contains(&code) {
            return Some(code);
        }
        let mut ahead = Self::new(self.chars.as_str());
        let low = match (ahead.chars.next(), ahead.chars.next()) {
            (Some('\\'), Some('u')) => ahead.hex(),
            _ => 0,
        };
        if (0xdc00..0xe000).contains(&low) {
            self.chars = ahead.chars;
            return Some(0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
        }
        Some(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_python() {
        // (json, repr as Python 3.11 writes it)
        let rows = [
            (r#"{"p":1}"#, "{'p': 1}"),
            (
                r#"[true,false,null,-0,-0.0, 12345678901234567890123]"#,
                "[True, False, None, 0, -0.0, 12345678901234567890123]",
            ),
            (
                "[1.0,1e5,1e15,1e16,1.5e16,1e-4,1e-5,1.25e-7,0.1,1e400]",
                "[1.0, 100000.0, 1000000000000000.0, 1e+16, 1.5e+16, 0.0001, 1e-05, 1.25e-07, 0.1, inf]",
            ),
            ("[1e100,-2.5E-300]", "[1e+100, -2.5e-300]"),
            (r#""it's""#, r#""it's""#),
            (r#""say \"hi\"""#, r#"'say "hi"'"#),
            (r#""it's \"hi\"""#, r#"'it\'s "hi"'"#),
            (
                r#""a\nb\t\\ \u0007\u00a0é中🙂""#,
                r"'a\nb\t\\ \x07\xa0é中🙂'",
            ),
            (
                r#""\u200b\u2028\ue000\ud83d\ude42""#,
                r"'\u200b\u2028\ue000🙂'",
            ),
            (r#""\ud83d x \udc00""#, r"'\ud83d x \udc00'"),
            (
                r#"{"a":1,"b":[],"\u0061":{"c":22}}"#,
                "{'a': {'c': 22}, 'b': []}",
            ),
            (" {} ", "{}"),
        ];
        for (json, repr) in rows {
            let want = repr.chars().count();
            assert_eq!(spelled_len(json, Spelling::Repr), Some(want), "{json}");
        }
        assert_eq!(spelled_len("{", Spelling::Repr), None);
    }

    #[test]
    fn dumps_is_ascii() {
        let rows = [
            (
                r#"{"a":"é\"","b":[1.0,true,null]}"#,
                r#"{"a": "\u00e9\"", "b": [1.0, true, null]}"#,
            ),
            (
                "[\"🙂\\u007f'\",1e400]",
                r#"["\ud83d\ude42\u007f'", Infinity]"#,
            ),
        ];
        for (json, dumped) in rows {
            let want = dumped.chars().count();
            assert_eq!(spelled_len(json, Spelling::Dumps), Some(want), "{json}");
        }
    }

    #[test]
    fn deep_nesting_does_not_overflow_the_stack() {
        let json = ["[".repeat(100_000), "]".repeat(100_000)].concat();
        assert_eq!(spelled_len(&json, Spelling::Repr), Some(200_000));
    }
}
