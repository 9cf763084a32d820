//! Words: a text without case and punctuation, and the share of a user's words that survive.

use std::collections::BTreeSet;

const STOP: &str = "a an the of to in on at for and or is are was were be been it its this that with as by from my your his her their i you he she they we me him them do does did have has had not no yes so if but about into than then there here what which who when where how will would can could should may might just also more most some any all one";

/// Words of letters a to z and digits, and single characters of Chinese, Japanese and Korean, in lower case and in order.
/// A comma does not part a word.
pub fn normal(text: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    for c in text
        .chars()
        .flat_map(char::to_lowercase)
        .filter(|c| *c != ',')
    {
        if c.is_ascii_alphanumeric() {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
        {
            words.push(c.to_string());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Whether a word says nothing by itself.
pub(crate) fn is_stop(word: &str) -> bool {
    STOP.split(' ').any(|stop| stop == word)
}

/// The mean share of each message's content words that stand in `text`; messages without any are left out, and
/// nothing is said when none has some.
pub fn user_words<'a>(text: &str, said: impl IntoIterator<Item = &'a str>) -> Option<f64> {
    let have: BTreeSet<String> = normal(text).into_iter().collect();
    let (mut sum, mut messages) = (0.0, 0u32);
    for message in said {
        let mut words: BTreeSet<String> = normal(message).into_iter().collect();
        words.retain(|word| !is_stop(word));
        if words.is_empty() {
            continue;
        }
        let kept = words.iter().filter(|word| have.contains(*word)).count();
        sum += kept as f64 / words.len() as f64;
        messages += 1;
    }
    (messages > 0).then(|| sum / f64::from(messages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_without_case_commas_and_signs() {
        assert_eq!(
            normal("It's 1,234 — Café 日本"),
            ["it", "s", "1234", "caf", "日", "本"]
        );
        assert_eq!(
            user_words("tests pass", ["run the tests", "is it"]),
            Some(0.5)
        );
        assert_eq!(user_words("tests", ["is it"]), None);
    }
}
