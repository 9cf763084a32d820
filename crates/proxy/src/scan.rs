//! Where the messages of a body stand, without reading them.
//!
//! Only structure is looked at: strings are jumped over, and what a body has in common with the one before is not
//! looked at again. Whether it is JSON in all its details is for whoever reads the messages, and in the end for the
//! upstream.

use memchr::memchr2;

/// A range of bytes. Bodies are far below four gigabytes.
pub(crate) type Span = (u32, u32);

/// The members of a body, and the elements of its list of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The object itself, braces included.
    pub(crate) object: Span,
    /// Keys with their quotes, and values, in order; the list too.
    pub(crate) members: Vec<(Span, Span)>,
    /// The list: an array, or one value that stands for it.
    pub(crate) list: Span,
    /// Its elements.
    pub(crate) elements: Vec<Span>,
}

/// Lists a body. `known`: the layout of a body with which this one has so many elements of the list in common, and
/// everything before them.
pub(crate) fn scan(body: &[u8], list: &str, known: Option<(&Layout, usize)>) -> Option<Layout> {
    if body.len() > u32::MAX as usize {
        return None;
    }
    Scanner { body, at: 0, list }.body(known)
}

impl Layout {
    /// The source of the value of `key`; `None` also where the key occurs twice.
    pub(crate) fn get<'b>(&self, body: &'b [u8], key: &str) -> Option<&'b [u8]> {
        let mut found = self
            .members
            .iter()
            .filter(|(at, _)| is_key(slice(body, *at), key));
        let (_, value) = found.next()?;
        found.next().is_none().then(|| slice(body, *value))
    }

    /// The string at `key`, if there is nothing to unescape in it.
    pub(crate) fn plain<'b>(&self, body: &'b [u8], key: &str) -> Option<&'b str> {
        let value = std::str::from_utf8(self.get(body, key)?).ok()?;
        let inner = value.strip_prefix('"')?.strip_suffix('"')?;
        (!inner.contains('\\')).then_some(inner)
    }
}

/// The bytes of a span.
pub(crate) fn slice(body: &[u8], (from, to): Span) -> &[u8] {
    body.get(from as usize..to as usize).unwrap_or_default()
}

/// So many bytes have both in common at their beginning.
pub(crate) fn common(a: &[u8], b: &[u8]) -> usize {
    let most = a.len().min(b.len());
    let mut at = 0;
    // Long steps first: where they differ, a shorter one says more closely where.
    for step in [4096, 256, 16] {
        while at + step <= most && a[at..at + step] == b[at..at + step] {
            at += step;
        }
    }
    let rest = a[at..most].iter().zip(&b[at..most]);
    at + rest.take_while(|(x, y)| x == y).count()
}

fn is_key(source: &[u8], key: &str) -> bool {
    source.len() == key.len() + 2 && &source[1..=key.len()] == key.as_bytes()
}

struct Scanner<'b> {
    body: &'b [u8],
    at: usize,
    list: &'b str,
}

impl Scanner<'_> {
    fn body(mut self, known: Option<(&Layout, usize)>) -> Option<Layout> {
        let mut layout = Layout::default();
        let mut found = false;
        let resumed = known.filter(|(_, count)| *count > 0);
        if let Some((known, count)) = resumed {
            layout.object = known.object;
            let before = |(_, value): &&(Span, Span)| value.1 <= known.list.0;
            layout.members = known.members.iter().take_while(before).copied().collect();
            let key = known.members.get(layout.members.len())?.0;
            layout.list = known.list;
            layout.elements.reserve(known.elements.len() + 8);
            layout.elements.extend(&known.elements[..count]);
            self.at = layout.elements.last()?.1 as usize;
            self.elements(&mut layout.elements)?;
            layout.list.1 = self.here();
            layout.members.push((key, layout.list));
            found = true;
        } else {
            self.space();
            layout.object.0 = self.here();
            self.expect(b'{')?;
            self.space();
            if self.peek()? == b'}' {
                return None;
            }
            found |= self.member(&mut layout)?;
        }
        loop {
            self.space();
            match self.peek()? {
                b',' => {
                    self.at += 1;
                    self.space();
                    let is_list = self.member(&mut layout)?;
                    if is_list && found {
                        return None;
                    }
                    found |= is_list;
                }
                b'}' => {
                    self.at += 1;
                    layout.object.1 = self.here();
                    self.space();
                    return (found && self.at == self.body.len()).then_some(layout);
                }
                _ => return None,
            }
        }
    }

    /// One member; whether it is the list.
    fn member(&mut self, layout: &mut Layout) -> Option<bool> {
        let from = self.at;
        self.string()?;
        let key = (u32::try_from(from).ok()?, self.here());
        // A key that is written with escapes could be any.
        if slice(self.body, key).contains(&b'\\') {
            return None;
        }
        self.space();
        self.expect(b':')?;
        self.space();
        let from = self.here();
        let is_list = is_key(slice(self.body, key), self.list);
        if is_list && self.peek()? == b'[' {
            self.at += 1;
            self.space();
            if self.peek()? == b']' {
                self.at += 1;
            } else {
                self.element(&mut layout.elements)?;
                self.elements(&mut layout.elements)?;
            }
            layout.list = (from, self.here());
        } else {
            self.value()?;
            if is_list {
                layout.list = (from, self.here());
                layout.elements.push(layout.list);
            }
        }
        layout.members.push((key, (from, self.here())));
        Some(is_list)
    }

    /// The rest of a list, behind one of its elements.
    fn elements(&mut self, elements: &mut Vec<Span>) -> Option<()> {
        loop {
            self.space();
            match self.peek()? {
                b',' => {
                    self.at += 1;
                    self.space();
                    self.element(elements)?;
                }
                b']' => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    fn element(&mut self, elements: &mut Vec<Span>) -> Option<()> {
        let from = self.here();
        self.value()?;
        elements.push((from, self.here()));
        Some(())
    }

    /// Jumps over a value.
    fn value(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.string(),
            b'{' | b'[' => self.nested(),
            b',' | b']' | b'}' | b':' => None,
            _ => {
                let rest = &self.body[self.at..];
                let is_end = |b: &u8| b",]}: \t\r\n\"[{".contains(b);
                self.at += rest.iter().position(is_end).unwrap_or(rest.len());
                Some(())
            }
        }
    }

    fn nested(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return Some(());
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn string(&mut self) -> Option<()> {
        self.expect(b'"')?;
        loop {
            let rest = self.body.get(self.at..)?;
            let found = memchr2(b'"', b'\\', rest)?;
            self.at += found + 1;
            if rest[found] == b'"' {
                return Some(());
            }
            self.at += 1;
        }
    }

    fn space(&mut self) {
        while matches!(self.body.get(self.at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn peek(&self) -> Option<u8> {
        self.body.get(self.at).copied()
    }

    fn here(&self) -> u32 {
        u32::try_from(self.at).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(body: &str) -> Option<Vec<&str>> {
        let layout = scan(body.as_bytes(), "messages", None)?;
        let all = layout.elements.iter();
        let text = all.map(|(from, to)| &body[*from as usize..*to as usize]);
        Some(text.collect())
    }

    #[test]
    fn bodies() {
        let check = |body: &str, expect: Option<&[&str]>| {
            assert_eq!(elements(body).as_deref(), expect, "{body}");
        };
        check(r#"{"messages":[]}"#, Some(&[]));
        check(
            r#" {"a" : {"messages":[1]}, "messages" : [ {"x":"]}\""} , [{}],"s" ] , "b":-1.5e3 } "#,
            Some(&[r#"{"x":"]}\""}"#, "[{}]", "\"s\""]),
        );
        check(r#"{"messages":"text","n":null}"#, Some(&["\"text\""]));
        for odd in [
            "",
            "{",
            "{}",
            "[]",
            "3",
            r#"{"a":1}"#,
            r#"{"messages":[1"#,
            r#"{"messages":[1,]}"#,
            r#"{"messages":[1]}x"#,
            r#"{"messages":[],"messages":[]}"#,
            r#"{"messages":["a}"#,
            r#"{"m\u0065ssages":[1],"messages":[]}"#,
            r#"{"messages":[1] "a":2}"#,
            r#"{"a"}"#,
            r#"{"messages":]}"#,
            r#"{"messages":[}]}"#,
        ] {
            check(odd, None);
        }
    }

    #[test]
    fn what_is_known_is_not_looked_at_again() {
        let one = r#"{"model":"m","messages":[{"a":"1"},{"b":"2"}],"stream":true}"#;
        let two = r#"{"model":"m","messages":[{"a":"1"},{"b":"2"} , {"c":"3"}],"n":1}"#;
        let known = scan(one.as_bytes(), "messages", None).expect("a body");
        let both = common(one.as_bytes(), two.as_bytes());
        let count = known.elements.partition_point(|e| e.1 as usize <= both);
        assert_eq!(count, 2);
        let resumed = scan(two.as_bytes(), "messages", Some((&known, count)));
        assert_eq!(resumed, scan(two.as_bytes(), "messages", None));
        let resumed = resumed.expect("a body");
        assert_eq!(resumed.get(two.as_bytes(), "n"), Some(&b"1"[..]));
        assert_eq!(resumed.plain(two.as_bytes(), "model"), Some("m"));
        assert_eq!(resumed.get(two.as_bytes(), "stream"), None);
    }

    #[test]
    fn beginnings() {
        let long = "x".repeat(10_000);
        let other = format!("{}y", &long[..9_000]);
        assert_eq!(common(long.as_bytes(), other.as_bytes()), 9_000);
        assert_eq!(common(long.as_bytes(), long.as_bytes()), 10_000);
        assert_eq!(common(b"", b"a"), 0);
    }
}
