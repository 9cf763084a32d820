//! The user's standing rules: sentences that demand something for good, found by their words in several
//! languages, kept verbatim. Dropped when a later sentence takes them back.

use std::collections::BTreeSet;

use super::fact::Rule;
use super::{MAX_RULES, MAX_TEXT};
use crate::digest::{said, sentences, words};
use crate::view::MessageView;

/// In long messages (pastes) only the two ends are what the user says.
const SAID_AT_ENDS: usize = 3_000;
/// The oldest rules that are never evicted.
const FIRST_RULES: usize = 10;

/// Words that stand alone (matched on word boundaries, lower case).
const RULE_WORDS: &[&str] = &[
    "never",
    "always",
    "must",
    "mustn't",
    "don't",
    "dont",
    "do not",
    "shouldn't",
    "should not",
    "cannot",
    "can't",
    "only",
    "avoid",
    "make sure",
    "ensure",
    "instead of",
    "prefer",
    "at most",
    "at least",
    "from now on",
    "no longer",
    "not allowed",
    "forbidden",
    "remember to",
    "without asking",
    "under no circumstances",
    "required",
    // German
    "nie",
    "niemals",
    "immer",
    "nicht",
    "kein",
    "keine",
    "muss",
    "musst",
    "müssen",
    "nur",
    "statt",
    // French
    "jamais",
    "toujours",
    "ne pas",
    "n'utilise",
    "dois",
    "doit",
    "seulement",
    "uniquement",
    // Spanish, Portuguese, Italian
    "nunca",
    "siempre",
    "sempre",
    "debe",
    "debes",
    "deve",
    "solo",
    "sólo",
    "solamente",
    "evita",
    "evite",
    "não",
    "mai",
    "devi",
    "soltanto",
    // Russian
    "никогда",
    "всегда",
    "нельзя",
    "должен",
    "должна",
    "только",
    "обязательно",
    "не надо",
];

/// Parts of sentences in scripts without word boundaries.
const RULE_PARTS: &[&str] = &[
    "不要",
    "不能",
    "不得",
    "不可",
    "不许",
    "不准",
    "必须",
    "必須",
    "务必",
    "務必",
    "禁止",
    "只能",
    "只用",
    "只要",
    "总是",
    "總是",
    "始终",
    "始終",
    "一律",
    "切勿",
    "请用",
    "請用",
    "请勿",
    "請勿",
    "应该",
    "應該",
    "别用",
    "別用",
    "而不是",
    "しないで",
    "してください",
    "必ず",
    "絶対",
    "だけ",
    "こと。",
    "てはいけ",
    "なければ",
    "ではなく",
    "使わない",
    "절대",
    "항상",
    "반드시",
    "하지 마",
    "말고",
    "마세요",
];

/// Sentences that take something back.
const TAKE_BACK: &[&str] = &[
    "no longer",
    "forget",
    "ignore the",
    "drop the",
    "you can now",
    "you may now",
    "never mind",
    "nevermind",
    "not anymore",
    "doesn't apply",
    "does not apply",
    "lift the",
    "不用再",
    "取消",
    "不再需要",
    "もう必要",
    "やめて",
];

/// Adds the rules that `text` of `message` states, and drops those it takes back.
pub(super) fn fold(rules: &mut Vec<Rule>, text: &str, message: &MessageView, ordinal: u64) {
    let text = said(text);
    let mut fenced = false;
    for part in ends(&text) {
        let mut found: Vec<&str> = Vec::new();
        for line in part.lines() {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
            } else if !fenced {
                sentences(line, &mut |sentence| found.push(sentence));
            }
        }
        for sentence in found {
            let lower = sentence.to_lowercase();
            let before = rules.len();
            if TAKE_BACK.iter().any(|mark| lower.contains(mark)) {
                let back = content(&lower);
                rules.retain(|rule| !takes_back(&back, &content(&rule.text.to_lowercase())));
            }
            // What takes a rule back is itself a rule from now on.
            if rules.len() == before && !is_rule(sentence, &lower) {
                continue;
            }
            if rules.iter().any(|rule| rule.text.as_ref() == sentence) {
                continue;
            }
            if rules.len() == MAX_RULES {
                rules.remove(FIRST_RULES);
            }
            rules.push(Rule {
                text: sentence.into(),
                role: message.role,
                message: ordinal,
                ident: message.ident,
            });
        }
    }
}

fn ends(text: &str) -> impl Iterator<Item = &str> {
    let (head, tail) = if text.len() <= 2 * SAID_AT_ENDS {
        (text, "")
    } else {
        let head = text.floor_char_boundary(SAID_AT_ENDS);
        let tail = text.ceil_char_boundary(text.len() - SAID_AT_ENDS);
        (&text[..head], &text[tail..])
    };
    [head, tail].into_iter().filter(|t| !t.is_empty())
}

fn is_rule(sentence: &str, lower: &str) -> bool {
    let sized = sentence.len() >= 6 && sentence.len() <= MAX_TEXT;
    let asks = sentence.ends_with(['?', '？']);
    let code = sentence.ends_with([';', '{', '}']) || sentence.starts_with("//");
    sized
        && !asks
        && !code
        && (has_rule_word(lower)
            || (!sentence.is_ascii() && RULE_PARTS.iter().any(|part| sentence.contains(part))))
}

/// Whether one of [`RULE_WORDS`] stands in `text` with no letter or digit around it. One pass.
fn has_rule_word(text: &str) -> bool {
    let mut in_word = false;
    text.char_indices().any(|(at, c)| {
        let starts = !std::mem::replace(&mut in_word, c.is_alphanumeric()) && in_word;
        let rest = &text.as_bytes()[at..];
        starts
            && RULE_WORDS.iter().any(|word| {
                // Most words differ in the first byte.
                word.as_bytes()[0] == rest[0]
                    && text[at..].strip_prefix(word).is_some_and(|rest| {
                        rest.chars().next().is_none_or(|c| !c.is_alphanumeric())
                    })
            })
    })
}

/// Hashes of the words of four letters and more: what a sentence is about.
fn content(lower: &str) -> BTreeSet<u64> {
    let mut set = BTreeSet::new();
    for word in lower.split(|c: char| !c.is_alphanumeric()) {
        let short = word.is_ascii() && word.len() < 4;
        if !short && !RULE_WORDS.contains(&word) {
            words(word, &mut |hash| {
                set.insert(hash);
            });
        }
    }
    set
}

fn takes_back(back: &BTreeSet<u64>, rule: &BTreeSet<u64>) -> bool {
    let shared = back.intersection(rule).count();
    !rule.is_empty() && shared * 2 >= rule.len()
}
