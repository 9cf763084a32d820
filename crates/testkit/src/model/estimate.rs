//! The judge's estimate of tokens, which is also the scripted model's.

/// Tokens of texts in messages: a quarter for an ASCII character, 0.6 for a wide one (CJK, kana, hangul, full
/// width), 0.5 for any other; 4 a message; 1,500 for a picture, sound or file. Rounded up once.
pub fn estimate<'t>(
    texts: impl IntoIterator<Item = &'t str>,
    messages: usize,
    media: usize,
) -> u64 {
    let twentieths: u64 = texts
        .into_iter()
        .flat_map(str::chars)
        .map(|c| match c {
            '\0'..='\x7f' => 5,
            c if is_wide(c) => 12,
            _ => 10,
        })
        .sum();
    twentieths.div_ceil(20) + 4 * messages as u64 + 1_500 * media as u64
}

fn is_wide(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11ff}'
        | '\u{2e80}'..='\u{9fff}'
        | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff00}'..='\u{ffef}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_cost_by_script() {
        for (text, expect) in [
            ("abcd", 1),
            ("abcde", 2),
            ("漢字漢字漢", 3),
            ("éé", 1),
            ("", 0),
        ] {
            assert_eq!(estimate([text], 0, 0), expect, "{text}");
        }
        assert_eq!(estimate(["abcd"], 2, 1), 1 + 8 + 1500);
    }
}
