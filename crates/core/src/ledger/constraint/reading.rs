//! A sentence, read: its tokens, what they are signs of, values, notions and where its clauses begin.

use super::lexicon::{Class, LANGS, Lang, Meaning, NUMBERS, Sign, UNITS, lexicon};
use super::token::{Kind, Tokens, hash_of, tokens_of};
use std::sync::LazyLock;

/// A sign in a sentence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signed {
    pub(super) at: usize,
    pub(super) len: usize,
    pub(super) sign: Sign,
}

/// A value in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Valued {
    pub(super) at: usize,
    pub(super) len: usize,
    pub(super) class: Class,
    /// What is counted, for amounts.
    pub(super) unit: u16,
    pub(super) value: u32,
    /// It is what is not wanted: behind a not.
    pub(super) is_denied: bool,
}

/// A notion in a sentence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noted {
    pub(super) at: usize,
    pub(super) len: usize,
    pub(super) concept: u16,
    pub(super) is_light: bool,
}

/// A sentence, read.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) tokens: Tokens,
    pub(super) lang: Lang,
    pub(super) signs: Vec<Signed>,
    pub(super) values: Vec<Valued>,
    pub(super) concepts: Vec<Noted>,
    /// Where clauses begin, words that may stand in front of an order left out.
    pub(super) openings: Vec<usize>,
    /// Where they begin, such words included.
    pub(super) clauses: Vec<usize>,
    /// Tokens that are signs or frame words only, no topics.
    pub(super) is_frame: Vec<bool>,
}

impl Reading {
    /// Reads a sentence of a message that is otherwise in `around`.
    pub(super) fn of(sentence: &str, around: Option<Lang>) -> Self {
        let tokens = Tokens::of(sentence);
        let count = tokens.all.len();
        let mut found: Vec<(usize, usize, Meaning)> = Vec::new();
        for (at, token) in tokens.all.iter().enumerate() {
            lexicon().at(
                token.hash,
                |ahead| tokens.get(at + ahead),
                &mut |len, meaning| found.push((at, len, meaning)),
            );
        }
        let lang = language(&tokens, &found).or(around).unwrap_or(Lang::En);
        let mut signs = Vec::new();
        let mut values = Vec::new();
        let mut concepts = Vec::new();
        let mut is_frame = vec![false; count];
        // A longer phrase that began earlier says what its words mean.
        let mut covered = 0;
        let mut start = usize::MAX;
        let mut longest = 0;
        for (at, len, meaning) in found {
            match meaning {
                Meaning::Sign(of, sign) if of == lang => {
                    if sign == Sign::Stop {
                        is_frame[at..at + len].fill(true);
                        continue;
                    }
                    if at + len <= covered && at != start {
                        continue;
                    }
                    if at != start {
                        (start, longest) = (at, 0);
                    }
                    // Phrases come longest first.
                    let is_weak = matches!(
                        sign,
                        Sign::No
                            | Sign::Dont
                            | Sign::Not
                            | Sign::Must
                            | Sign::Only
                            | Sign::Limit
                            | Sign::Never
                            | Sign::Always
                            | Sign::Once
                            | Sign::Asks
                            | Sign::When
                            | Sign::YouMay
                            | Sign::Allowed
                    );
                    if is_weak && len < longest {
                        continue;
                    }
                    longest = longest.max(len);
                    if len > 1 {
                        covered = covered.max(at + len);
                    }
                    let is_noun = matches!(sign, Sign::Reply | Sign::Artefact)
                        || matches!(sign, Sign::Verb | Sign::Style | Sign::Use | Sign::Hold);
                    if !is_noun {
                        is_frame[at..at + len].fill(true);
                    }
                    signs.push(Signed { at, len, sign });
                }
                Meaning::Sign(..) => {}
                Meaning::Value(class, value) => values.push(Valued {
                    at,
                    len,
                    class,
                    unit: 0,
                    value: u32::from(value),
                    is_denied: false,
                }),
                Meaning::Concept(concept, is_light) => concepts.push(Noted {
                    at,
                    len,
                    concept,
                    is_light,
                }),
            }
        }
        keep_longest(&mut values, |v| (v.at, v.len));
        keep_longest(&mut concepts, |c| (c.at, c.len));
        let mut reading = Self {
            tokens,
            lang,
            signs,
            values,
            concepts,
            openings: Vec::new(),
            clauses: Vec::new(),
            is_frame,
        };
        reading.amounts();
        reading.find_clauses();
        reading.frame_orders();
        reading.deny_values();
        reading
    }

    /// Whether the word is a name, path or number. German writes all nouns with a capital, and every language
    /// the first word.
    pub(super) fn is_proper(&self, at: usize) -> bool {
        let token = &self.tokens.all[at];
        let first = self.tokens.all.iter().position(|t| t.kind == Kind::Word);
        token.coded || token.capital && self.lang != Lang::De && first != Some(at)
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.all.len()
    }

    /// Whether this sign is anywhere, outside quotation marks.
    pub(super) fn has(&self, sign: Sign) -> bool {
        self.all(sign).next().is_some()
    }

    /// All places of a sign, outside quotation marks.
    pub(super) fn all(&self, sign: Sign) -> impl Iterator<Item = Signed> + '_ {
        let mine = self.signs.iter().filter(move |s| s.sign == sign);
        mine.filter(|s| !self.tokens.all[s.at].quoted).copied()
    }

    /// Whether this sign stands at the token.
    pub(super) fn is_at(&self, at: usize, sign: Sign) -> bool {
        self.all(sign).any(|s| s.at == at)
    }

    /// Whether one of these stands at the token.
    pub(super) fn is_any_at(&self, at: usize, signs: &[Sign]) -> bool {
        signs.iter().any(|sign| self.is_at(at, *sign))
    }

    /// Whether a clause opens with this sign.
    pub(super) fn opens(&self, sign: Sign) -> bool {
        self.openings.iter().any(|at| self.is_at(*at, sign))
    }

    /// Whether the first clause opens with this sign, words in front of an order left out or not.
    pub(super) fn begins(&self, sign: Sign) -> bool {
        let first = [self.openings.first(), self.clauses.first()];
        first.into_iter().flatten().any(|at| self.is_at(*at, sign))
    }

    /// Where the clause that holds the token begins.
    pub(super) fn clause_of(&self, at: usize) -> usize {
        let after = self.clauses.partition_point(|start| *start <= at);
        after.checked_sub(1).map_or(0, |nth| self.clauses[nth])
    }

    /// Where it ends.
    pub(super) fn end_of(&self, at: usize) -> usize {
        let after = self.clauses.partition_point(|start| *start <= at);
        self.clauses.get(after).copied().unwrap_or(self.len())
    }

    /// Whether a sign stands in these tokens.
    pub(super) fn has_in(&self, range: std::ops::Range<usize>, sign: Sign) -> bool {
        self.all(sign).any(|s| range.contains(&s.at))
    }

    /// Whether one of these stands in these tokens.
    pub(super) fn has_any_in(&self, range: &std::ops::Range<usize>, signs: &[Sign]) -> bool {
        signs.iter().any(|sign| self.has_in(range.clone(), *sign))
    }

    /// Whether the script is written without spaces.
    pub(super) fn is_dense(&self) -> bool {
        matches!(self.lang, Lang::Zh | Lang::Ja | Lang::Ko)
    }

    /// A verb is one where it opens an order; elsewhere the same word may be a noun, and a topic.
    fn frame_orders(&mut self) {
        let orders = [Sign::Verb, Sign::Style, Sign::Use, Sign::Hold];
        for s in &self.signs {
            if orders.contains(&s.sign)
                && (self.openings.contains(&s.at) || s.len > 1 || self.lang >= Lang::Zh)
            {
                self.is_frame[s.at..s.at + s.len].fill(true);
            }
        }
    }

    fn find_clauses(&mut self) {
        let mut starts = vec![0];
        for at in 0..self.len() {
            let token = &self.tokens.all[at];
            let splits = token.kind == Kind::Mark
                && matches!(
                    self.tokens.text(at),
                    "," | ";"
                        | ":"
                        | "("
                        | ")"
                        | "—"
                        | "–"
                        | "-"
                        | "。"
                        | "，"
                        | "；"
                        | "："
                        | "、"
                        | "."
                        | "!"
                        | "！"
                        | "？"
                        | "•"
                        | ">"
                        | "…"
                        | "（"
                        | "）"
                );
            let joins = self.is_at(at, Sign::Joint) && at > 0;
            if splits || joins {
                starts.push(at + 1);
            }
            // `Please …` in the middle of a sentence opens an order too.
            if token.kind == Kind::Dense
                && self.is_at(at, Sign::Filler)
                && !self.is_at(at, Sign::Joint)
            {
                starts.push(at);
            }
        }
        starts.retain(|at| *at < self.len());
        starts.sort_unstable();
        starts.dedup();
        self.openings = starts
            .iter()
            .map(|start| self.past_fillers(*start))
            .filter(|at| *at < self.len())
            .collect();
        self.openings.dedup();
        self.clauses = starts;
    }

    /// Behind marks, a list's number and words that may stand in front of an order.
    fn past_fillers(&self, mut at: usize) -> usize {
        loop {
            let before = at;
            if at < self.len() && self.tokens.all[at].kind == Kind::Mark {
                at += 1;
            }
            let filler = self.all(Sign::Filler).filter(|s| s.at == at);
            let longer = |len: usize| {
                // `no` may open an order, `no longer` is no filler.
                let sign = |s: &Signed| s.at == at && s.len >= len && s.sign != Sign::Filler;
                self.signs.iter().any(|s| {
                    sign(s)
                        && !matches!(
                            s.sign,
                            Sign::Joint
                                | Sign::Verb
                                | Sign::Actually
                                | Sign::Stop
                                | Sign::YouMust
                                | Sign::Want
                                | Sign::Gone
                                | Sign::Style
                        )
                })
            };
            if let Some(len) = filler.map(|s| s.len).max().filter(|len| !longer(*len)) {
                at += len;
            }
            if at == before {
                return at;
            }
        }
    }

    /// Numbers with what they count.
    fn amounts(&mut self) {
        for at in 0..self.len() {
            let Some(value) = self.number_at(at) else {
                continue;
            };
            let end = self.number_end(at);
            // What is counted stands behind, at most two words away, or is the number's own sign.
            let unit = (end..(end + 3).min(self.len()))
                .find_map(|place| self.unit_at(place).map(|unit| (place, unit)));
            let (len, unit) = match unit {
                Some((place, (unit, len))) => (place + len - at, unit),
                None if self.tokens.text(at).starts_with(['$', '€', '£']) => (1, money()),
                None => {
                    self.version(at);
                    continue;
                }
            };
            self.values.push(Valued {
                at,
                len,
                class: Class::Amount,
                unit,
                value,
                is_denied: false,
            });
        }
        // A number of spaces is a way to indent as well as an amount; the amount tells more.
        self.values.sort_by_key(|v| v.at);
    }

    /// `Python 3.12`, `port 8080`: a name and its number.
    fn version(&mut self, at: usize) {
        let Some(name) = at.checked_sub(1) else {
            return;
        };
        let (token, text) = (&self.tokens.all[name], self.tokens.text(at));
        let is_number = text.chars().all(|c| c.is_ascii_digit() || c == '.') && text.len() <= 12;
        let is_name = token.kind == Kind::Word && !self.is_frame[name] && !token.coded;
        if is_number && is_name {
            let [low, high, ..] = token.hash.to_le_bytes();
            let value = hash_of(text).to_le_bytes();
            self.values.push(Valued {
                at,
                len: 1,
                class: Class::Version,
                unit: u16::from_le_bytes([low, high]),
                value: u32::from_le_bytes([value[0], value[1], value[2], value[3]]),
                is_denied: false,
            });
        }
    }

    fn number_at(&self, at: usize) -> Option<u32> {
        let text = self.tokens.text(at);
        if at > 0
            && self.tokens.all[at - 1].kind == Kind::Dense
            && self.tokens.all[at].kind == Kind::Dense
        {
            return None;
        }
        let digits: String = text
            .trim_start_matches(['$', '€', '£'])
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == ',')
            .filter(char::is_ascii_digit)
            .take(9)
            .collect();
        match digits.parse() {
            Ok(number) => Some(number),
            Err(_) => NUMBERS.iter().find(|(word, _)| *word == text).map(|n| n.1),
        }
    }

    /// Behind the number: `1,000` is three tokens where the comma stands alone.
    fn number_end(&self, at: usize) -> usize {
        at + 1
    }

    fn unit_at(&self, at: usize) -> Option<(u16, usize)> {
        let hash = self.tokens.all[at].hash;
        let from = UNIT_WORDS.partition_point(|(known, ..)| *known < hash);
        UNIT_WORDS[from..]
            .iter()
            .take_while(|(known, ..)| *known == hash)
            .filter(|(_, words, _)| {
                words
                    .iter()
                    .enumerate()
                    .all(|(n, word)| self.tokens.get(at + n) == Some(word.as_ref()))
            })
            .max_by_key(|(_, words, _)| words.len())
            .map(|(_, words, unit)| (*unit, words.len()))
    }

    /// Marks values that are named as what is not wanted: behind `not`, `instead of`, `no`.
    fn deny_values(&mut self) {
        let choosy = |text: &str| {
            matches!(
                text,
                "prefer" | "pick" | "choose" | "favor" | "favour" | "select"
            )
        };
        let chooses = (0..self.len()).any(|at| choosy(self.tokens.text(at)));
        let mut denied = Vec::new();
        for (nth, value) in self.values.iter().enumerate() {
            let clause = self.clause_of(value.at);
            let before = clause..value.at;
            let is_replaced = self
                .all(Sign::Instead)
                .any(|s| before.contains(&s.at) && value.at <= s.at + s.len + 3);
            let over = chooses
                && value.at > 0
                && (before.start..value.at).any(|at| self.tokens.text(at) == "over");
            let is_not = [Sign::Not, Sign::No, Sign::Dont].iter().any(|sign| {
                self.all(*sign)
                    .any(|s| before.contains(&s.at) && value.at < s.at + s.len + 5)
            });
            // `from tabs to spaces`: the first is what was.
            let from = value.at > 0
                && matches!(
                    self.tokens.text(value.at - 1),
                    "from" | "von" | "de" | "da" | "van" | "从" | "從"
                )
                && self.has(Sign::Switch);
            // In Japanese and Korean the denial stands behind.
            let after = value.at + value.len..(value.at + value.len + 4).min(self.len());
            let behind = matches!(self.lang, Lang::Ja | Lang::Ko)
                && self.has_any_in(&after, &[Sign::Instead, Sign::Dont]);
            if is_replaced || over || is_not || from || behind {
                denied.push(nth);
            }
        }
        for nth in denied {
            self.values[nth].is_denied = true;
        }
    }
}

/// Of overlapping finds the longer, then the earlier.
fn keep_longest<T>(all: &mut Vec<T>, place: impl Fn(&T) -> (usize, usize)) {
    all.sort_by_key(|item| {
        let (at, len) = place(item);
        (at, std::cmp::Reverse(len))
    });
    let mut end = 0;
    all.retain(|item| {
        let (at, len) = place(item);
        let is_free = at >= end;
        if is_free {
            end = at + len;
        }
        is_free
    });
}

/// The hash of a unit's first token, its tokens, the unit.
type UnitWord = (u64, Vec<Box<str>>, u16);

/// Words of units by hash, with the unit.
static UNIT_WORDS: LazyLock<Vec<UnitWord>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for (unit, words) in UNITS.iter().enumerate() {
        let unit = u16::try_from(unit).expect("few units");
        for word in words.split('|') {
            let tokens = tokens_of(word);
            all.push((hash_of(&tokens[0]), tokens, unit));
        }
    }
    all.sort();
    all
});

/// The unit of a number that stands behind a currency's sign.
fn money() -> u16 {
    let at = UNITS.iter().position(|words| words.starts_with('$'));
    u16::try_from(at.expect("money is a unit")).expect("few units")
}

/// The language by script, or by the words that each language is known by.
fn language(tokens: &Tokens, found: &[(usize, usize, Meaning)]) -> Option<Lang> {
    let (mut han, mut kana, mut hangul, mut cyrillic, mut words) = (0, 0, 0, 0, 0);
    for at in 0..tokens.all.len() {
        match tokens.text(at).chars().next() {
            Some('\u{3040}'..='\u{30ff}') => kana += 1,
            Some('\u{ac00}'..='\u{d7af}') => hangul += 1,
            Some('\u{400}'..='\u{4ff}') => cyrillic += 1,
            Some(_) if tokens.all[at].kind == Kind::Dense => han += 1,
            Some(_) if tokens.all[at].kind == Kind::Word => words += 1,
            _ => {}
        }
    }
    if kana * 8 > han && kana + han > words {
        return Some(Lang::Ja);
    }
    if hangul > words {
        return Some(Lang::Ko);
    }
    if han > words {
        return Some(Lang::Zh);
    }
    if cyrillic * 2 > words {
        return Some(Lang::Ru);
    }
    let mut votes = [0_u32; LANGS];
    // Each place speaks once for a language, and the words that it is known by twice.
    let mut last = [usize::MAX; LANGS];
    for (at, len, meaning) in found {
        let Meaning::Sign(lang, sign) = meaning else {
            continue;
        };
        let lang = *lang as usize;
        let weight = if *sign == Sign::Stop || *len > 1 {
            2
        } else {
            1
        };
        if last[lang] == *at {
            votes[lang] += u32::from(weight == 2 && *sign == Sign::Stop);
        } else {
            votes[lang] += weight;
        }
        last[lang] = *at;
    }
    let latin = [
        Lang::En,
        Lang::De,
        Lang::Fr,
        Lang::Es,
        Lang::Pt,
        Lang::It,
        Lang::Nl,
        Lang::Pl,
    ];
    // The first of equals: English.
    let mut best: Option<(Lang, u32)> = None;
    for lang in latin {
        let count = votes[lang as usize];
        if count > best.map_or(0, |b| b.1) {
            best = Some((lang, count));
        }
    }
    best.map(|b| b.0)
}
