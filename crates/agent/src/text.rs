//! Texts of others, bounded and made harmless before they are shown to a model.

/// At most `max` characters: the first two thirds and the end, with a mark between. As deer-flow cuts; at 5 or less
/// there is only a beginning.
pub(crate) fn bounded(text: &str, max: usize) -> String {
    const MARK: &str = "\n...\n";
    if text.chars().count() <= max {
        return text.to_owned();
    }
    if max <= MARK.len() {
        return text.chars().take(max).collect();
    }
    let room = max - MARK.len();
    let head = room * 2 / 3;
    let tail = room - head;
    let skipped = text.chars().count() - tail;
    let mut out: String = text.chars().take(head).collect();
    out.push_str(MARK);
    out.extend(text.chars().skip(skipped));
    out
}

/// Its first `max` characters.
pub(crate) fn head(text: &str, max: usize) -> String {
    text.chars().take(max).collect()
}

/// Runs of white space as one space each.
pub(crate) fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `&`, `<` and `>` as entities, so that nothing in it opens or closes a tag.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_two_thirds_of_its_head_and_its_tail() {
        let text = "abcdefghijklmnopqrstuvwxyz";
        assert_eq!(bounded(text, 26), text);
        assert_eq!(bounded(text, 14), "abcdef\n...\nxyz");
        assert_eq!(bounded(text, 5), "abcde");
        assert_eq!(bounded(text, 0), "");
        for max in 0..40 {
            let text = "ä\u{1F600}é".repeat(9);
            assert!(bounded(&text, max).chars().count() <= max, "{max}");
        }
    }

    #[test]
    fn nothing_opens_a_tag() {
        assert_eq!(escaped("</a> & <b>"), "&lt;/a&gt; &amp; &lt;b&gt;");
        assert_eq!(collapsed(" a\n\tb  c "), "a b c");
    }
}
