//! New bytes from old ones: sorted replacements over the source.

use std::collections::BTreeSet;

use super::{Array, Object, Span};

/// Replacements of ranges of one source text. Ranges must not overlap; two at the same place stand in the
/// order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct Splices(Vec<(Span, String)>);

impl Splices {
    /// No replacement: the source as it is.
    pub fn new() -> Self {
        Self::default()
    }

    /// `text` stands where `span` stood.
    pub fn replace(&mut self, span: Span, text: impl Into<String>) {
        self.0.push((span, text.into()));
    }

    /// `text` stands before the byte at `offset`.
    pub fn insert(&mut self, offset: usize, text: impl Into<String>) {
        self.replace(Span::new(offset, offset), text);
    }

    /// Nothing stands where `span` stood.
    pub fn remove(&mut self, span: Span) {
        self.replace(span, "");
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text of `window` in `source` with the replacements that lie in it. A replacement that overlaps an
    /// earlier one is left out: half an edit is worse than none.
    pub fn apply(mut self, source: &str, window: Span) -> String {
        self.0.sort_by_key(|(span, _)| (span.start, span.end));
        let added: usize = self.0.iter().map(|(_, text)| text.len()).sum();
        let mut out = String::with_capacity(window.len() + added);
        let mut done = window.start;
        for (span, text) in &self.0 {
            if span.start < done || span.end > window.end {
                debug_assert!(false, "replacements lie apart and inside the window");
                continue;
            }
            out.push_str(Span::new(done, span.start).text(source));
            out.push_str(text);
            done = span.end;
        }
        out.push_str(Span::new(done, window.end).text(source));
        out
    }

    /// Takes these elements out of the array at `array`, each with exactly one comma. Spaces stay where they
    /// separate what stays.
    pub fn remove_elements(&mut self, source: &str, array: Span, gone: &BTreeSet<Span>) {
        let elements = Array::of(array.text(source)).unwrap_or_default().0;
        let spans: Vec<_> = elements.iter().map(|e| Span::of(source, e)).collect();
        let gone: Vec<_> = spans.iter().map(|span| gone.contains(span)).collect();
        self.remove_listed(array, &spans, &gone);
    }

    /// Takes the members with these values out of the object at `object`, each with exactly one comma.
    pub fn remove_members(&mut self, source: &str, object: Span, gone: &BTreeSet<Span>) {
        let members = Object::of(object.text(source)).unwrap_or_default().members;
        let values = members.iter().map(|m| Span::of(source, m.value));
        let gone: Vec<_> = values.clone().map(|value| gone.contains(&value)).collect();
        let keys = members.iter().map(|m| Span::of(source, m.key_source));
        let spans: Vec<_> = keys
            .zip(values)
            .map(|(key, value)| Span::new(key.start, value.end))
            .collect();
        self.remove_listed(object, &spans, &gone);
    }

    /// Something that stays before it gives its comma to the next one; leading ones take the comma behind.
    fn remove_listed(&mut self, list: Span, items: &[Span], gone: &[bool]) {
        if gone.iter().all(|gone| *gone) {
            if !items.is_empty() {
                self.remove(Span::new(list.start + 1, list.end - 1));
            }
            return;
        }
        let mut stays_before = false;
        for (n, item) in items.iter().enumerate() {
            if !gone[n] {
                stays_before = true;
            } else if stays_before {
                self.remove(Span::new(items[n - 1].end, item.end));
            } else {
                let next = items.get(n + 1).map_or(item.end, |next| next.start);
                self.remove(Span::new(item.start, next));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(json: &str, gone: &[usize]) -> String {
        let whole = Span::new(0, json.len());
        let elements = Array::of(json).unwrap().0;
        let gone = gone.iter().filter_map(|n| elements.get(*n));
        let gone = gone.map(|element| Span::of(json, element)).collect();
        let mut splices = Splices::new();
        splices.remove_elements(json, whole, &gone);
        splices.apply(json, whole)
    }

    #[test]
    fn an_element_owns_one_comma() {
        let check = |json: &str, gone: &[usize], expect: &str| {
            assert_eq!(without(json, gone), expect, "{json} without {gone:?}");
        };
        check("[1,2,3]", &[0], "[2,3]");
        check("[1,2,3]", &[1], "[1,3]");
        check("[1,2,3]", &[2], "[1,2]");
        check("[1,2,3]", &[0, 1], "[3]");
        check("[1,2,3]", &[0, 2], "[2]");
        check("[1,2,3]", &[1, 2], "[1]");
        check("[1,2,3]", &[0, 1, 2], "[]");
        check("[ 1 , 2 ]", &[0, 1], "[]");
        check("[]", &[0], "[]");
        check("[\n  1,\n  2,\n  3\n]", &[1], "[\n  1,\n  3\n]");
        check("[\n  1,\n  2,\n  3\n]", &[2], "[\n  1,\n  2\n]");
        check("[\n  1,\n  2,\n  3\n]", &[0], "[\n  2,\n  3\n]");
    }

    #[test]
    fn a_member_owns_one_comma() {
        let json = r#"{ "a": 1, "b": [2], "c": 3 }"#;
        let whole = Span::new(0, json.len());
        let check = |gone: &[&str], expect: &str| {
            let object = Object::of(json).unwrap();
            let gone = gone.iter().filter_map(|key| object.get(key));
            let gone = gone.map(|value| Span::of(json, value)).collect();
            let mut splices = Splices::new();
            splices.remove_members(json, whole, &gone);
            assert_eq!(splices.apply(json, whole), expect);
        };
        check(&["b"], r#"{ "a": 1, "c": 3 }"#);
        check(&["a"], r#"{ "b": [2], "c": 3 }"#);
        check(&["c", "x"], r#"{ "a": 1, "b": [2] }"#);
    }
}
