//! Whether a sentence states a standing rule: a demand that holds beyond the answer to this message.
//!
//! An order alone is a request, not a rule. What makes it a rule is that it forbids, holds always, for every
//! reply, from now on, under a condition, within a bound, or says how to write. Questions, stories, things said
//! by others, things imagined and things for this once are none.

use super::lexicon::{Class, Lang, Sign, is_style};
use super::reading::{Reading, Signed, Valued};
use super::token::Kind;

/// How firmly a rule was stated: what is kept first when there is no room for all.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Force {
    /// A preference, a form, a condition.
    Plain,
    /// Always, never, must, don't, from now on.
    Explicit,
    /// The host pinned the message.
    Pinned,
}

/// The first units are those of texts: words, characters, lines, sentences, paragraphs, bullets.
const TEXT_UNITS: u16 = 5;
/// Opens an order.
const ORDERS: &[Sign] = &[Sign::Verb, Sign::Use, Sign::Style, Sign::Hold];
/// Speaks to the model.
const ADDRESSES: &[Sign] = &[
    Sign::YouMust,
    Sign::YouMustNot,
    Sign::YouMay,
    Sign::YouNeedNot,
];

/// The force with which the sentence states a rule, if it does.
pub(super) fn force(r: &Reading) -> Option<Force> {
    if r.len() < 2 || r.openings.is_empty() {
        return None;
    }
    let last = r.tokens.text(r.len() - 1);
    let is_lasting = r.has(Sign::Scope) || r.has(Sign::Always) || r.has(Sign::Never);
    if asks(r, last) {
        let is_request = r.has(Sign::AsksPolitely) || r.is_dense() && is_lasting;
        return (is_request && is_lasting && !r.begins(Sign::Asks)).then_some(Force::Explicit);
    }
    if r.has(Sign::Once) && !is_lasting {
        return None;
    }
    if is_explicit(r) {
        return Some(Force::Explicit);
    }
    if r.begins(Sign::Imagined) || r.has(Sign::Reported) && !r.has(Sign::YouMust) {
        return None;
    }
    is_plain(r, last).then_some(Force::Plain)
}

fn asks(r: &Reading, last: &str) -> bool {
    if matches!(last, "?" | "？") || r.begins(Sign::AsksPolitely) || r.begins(Sign::Asks) {
        return true;
    }
    // In Chinese, Japanese and Korean the particle stands at the end, and a question word anywhere.
    let ends = |s: Signed| r.lang == Lang::Zh || s.at + s.len + 2 > r.len();
    r.is_dense() && r.all(Sign::Asks).any(ends)
}

/// Whose deed the clause tells of up to `at`: the speaker's or somebody else's, not the model's.
fn is_story(r: &Reading, at: usize) -> bool {
    let before = r.clause_of(at)..at;
    // `It must …` is told of something else; `… and submitting it must …` is not.
    let opening = opening_of(r, at);
    let other = |s: Signed| s.at <= opening + 1 && before.contains(&s.at);
    let told = r.has_in(before.clone(), Sign::I) || r.all(Sign::They).any(other);
    let mine = [Sign::You, Sign::Want, Sign::We, Sign::Prefer];
    told && !r.has_any_in(&before, &mine) && !r.is_any_at(opening_of(r, at), ORDERS)
}

fn clause(r: &Reading, at: usize) -> std::ops::Range<usize> {
    r.clause_of(at)..r.end_of(at)
}

fn opening_of(r: &Reading, at: usize) -> usize {
    let start = r.clause_of(at);
    let nth = r.openings.partition_point(|open| *open < start);
    r.openings.get(nth).copied().unwrap_or(start)
}

/// Whether the clause that holds `at` is an order or speaks to the model.
fn is_order(r: &Reading, at: usize) -> bool {
    let opening = opening_of(r, at);
    r.is_any_at(opening, ORDERS)
        || r.is_at(opening, Sign::Dont)
        || r.has_any_in(&clause(r, at), ADDRESSES)
}

fn orders_anywhere(r: &Reading) -> bool {
    r.openings
        .iter()
        .any(|at| r.is_any_at(*at, ORDERS) || r.is_at(*at, Sign::Dont))
        || ADDRESSES.iter().any(|sign| r.has(*sign))
}

/// Languages in which an infinitive at the end gives an order.
fn has_infinitive_orders(r: &Reading) -> bool {
    matches!(
        r.lang,
        Lang::De | Lang::Nl | Lang::Ru | Lang::Pl | Lang::Fr | Lang::It
    )
}

fn is_explicit(r: &Reading) -> bool {
    always_or_never(r) || forbids(r) || addresses(r) || for_good(r) || obliges(r) || names_a_rule(r)
}

fn always_or_never(r: &Reading) -> bool {
    let counts = |s: Signed| {
        if is_story(r, s.at) {
            return false;
        }
        let around = clause(r, s.at);
        let opening = opening_of(r, s.at);
        let next = s.at + s.len;
        let speaks_of_itself =
            opening == s.at && next < r.len() && !r.is_any_at(next, &[Sign::I, Sign::They]);
        let we = r.has_in(around.start..s.at, Sign::We);
        let plea = r.has(Sign::Filler) && has_infinitive_orders(r);
        speaks_of_itself
            || is_order(r, s.at)
            || we
            || plea
            || r.is_dense() && !r.has_in(around.clone(), Sign::I)
            || has_infinitive_orders(r)
                && r.lang != Lang::Fr
                && !r.has_any_in(&around, &[Sign::I, Sign::They, Sign::We])
            || r.has_any_in(&around, &[Sign::Must, Sign::MustNot])
            || r.begins(Sign::When) && orders_anywhere(r)
    };
    r.all(Sign::Always).chain(r.all(Sign::Never)).any(counts)
}

fn forbids(r: &Reading) -> bool {
    let counts = |s: Signed| {
        let next = s.at + s.len;
        if next >= r.len() || r.is_at(next, Sign::Idle) || r.tokens.all[next].kind == Kind::Mark {
            // Japanese and Korean deny at the end.
            return matches!(r.lang, Lang::Ja | Lang::Ko) && !r.has_in(clause(r, s.at), Sign::I);
        }
        match r.lang {
            Lang::Zh => !r.has_in(r.clause_of(s.at)..s.at, Sign::I),
            Lang::Ja | Lang::Ko => true,
            Lang::De | Lang::Nl => {
                let opening = opening_of(r, s.at);
                opening == s.at || r.is_any_at(opening, ORDERS)
            }
            _ => opening_of(r, s.at) == s.at && denies_an_order(r, s),
        }
    };
    let none = |s: Signed| {
        let opening = opening_of(r, s.at);
        let next = s.at + s.len;
        let is_noun = next < r.len() && r.tokens.all[next].kind != Kind::Mark;
        let is_short = r.end_of(s.at) - s.at <= 9 && r.clause_of(s.at) == r.clauses[0];
        let is_empty = is_noun
            && (r.is_any_at(
                next,
                &[Sign::I, Sign::They, Sign::You, Sign::We, Sign::Idle],
            ) || is_polite_no(r.tokens.text(next)));
        let ordered = opening != s.at
            && r.is_any_at(opening, ORDERS)
            && matches!(r.lang, Lang::De | Lang::Nl);
        let said = opening == s.at && is_short && s.at == r.openings[0];
        is_noun && !is_empty && (ordered || said) && !thanks(r)
    };
    let stops = |at: &usize| {
        let next = at + 1;
        r.tokens.text(*at) == "stop" && next < r.len() && r.tokens.text(next).ends_with("ing")
    };
    r.all(Sign::Dont).any(counts) || r.all(Sign::No).any(none) || r.openings.iter().any(stops)
}

/// A `no` that answers or soothes.
fn is_polite_no(next: &str) -> bool {
    matches!(
        next,
        "problem"
            | "problems"
            | "worries"
            | "idea"
            | "way"
            | "one"
            | "thanks"
            | "thank"
            | "wonder"
            | "matter"
            | "luck"
            | "rush"
            | "need"
            | "changes"
            | "hurry"
            | "issue"
            | "issues"
            | "questions"
            | "reason"
            | "doubt"
            | "longer"
            | "more"
            | "other"
            | "additional"
            | "extra"
            | "special"
            | "such"
            | "data"
            | "idee"
            | "problème"
            | "problema"
    )
}

fn thanks(r: &Reading) -> bool {
    (0..r.len()).any(|at| {
        matches!(
            r.tokens.text(at),
            "thanks" | "thank" | "needed" | "necessary" | "required"
        )
    })
}

/// In languages whose `not` is one word for all: whether an order follows, by its form.
fn denies_an_order(r: &Reading, s: Signed) -> bool {
    let word = r.tokens.text(s.at);
    let next = r.tokens.text(s.at + s.len);
    let ends = |all: &[&str]| all.iter().any(|end| next.ends_with(end));
    let follows = |all: &[&str]| (s.at..r.end_of(s.at)).any(|at| all.contains(&r.tokens.text(at)));
    match (r.lang, word) {
        (Lang::Fr, "ne" | "n'") if s.len == 1 => {
            follows(&["pas", "jamais", "plus", "aucun", "aucune", "rien"])
                && !r.is_at(s.at + s.len, Sign::Idle)
        }
        (Lang::Es, "no") if s.len == 1 => ends(&["as", "es", "a", "e", "an", "en", "lo", "la"]),
        (Lang::Pt, "não") => ends(&["e", "a", "es", "as", "em", "am", "r"]),
        (Lang::It, "non") => ends(&[
            "are", "ere", "ire", "rre", "arlo", "erlo", "i", "ate", "ete",
        ]),
        (Lang::Ru, "не") => ends(&[
            "й",
            "йте",
            "и",
            "ите",
            "ь",
            "ьте",
            "йся",
            "йтесь",
            "ать",
            "ить",
            "еть",
        ]),
        (Lang::Pl, "nie") => ends(&[
            "aj", "ajcie", "uj", "ujcie", "j", "jcie", "sz", "ń", "ać", "ić", "ować",
        ]),
        _ => true,
    }
}

fn addresses(r: &Reading) -> bool {
    let counts = |s: Signed| {
        let next = s.at + s.len;
        // `… to make sure you …` tells a purpose.
        let is_ensuring = matches!(r.tokens.text(s.at), "make" | "ensure" | "be");
        next < r.len()
            && !r.is_at(next, Sign::Idle)
            && !r.has_in(r.clause_of(s.at)..s.at, Sign::Reported)
            && (!is_ensuring || opening_of(r, s.at) >= s.at)
    };
    // `When you have done it, you must …` is a rule all the same.
    let holds = |s: &Signed| {
        let is_firm = (s.at..s.at + s.len).any(|at| r.tokens.text(at) == "must");
        !r.begins(Sign::Imagined) || is_firm && s.at >= r.end_of(0)
    };
    let mut all = r.all(Sign::YouMustNot).chain(r.all(Sign::YouMust));
    all.any(|s| holds(&s) && counts(s))
}

fn for_good(r: &Reading) -> bool {
    let own = r.begins(Sign::I) && !r.has(Sign::Want) && !r.has(Sign::Prefer);
    let signs = [
        Sign::Reply,
        Sign::Must,
        Sign::We,
        Sign::Want,
        Sign::AsksPolitely,
    ];
    let content = signs.iter().any(|sign| r.has(*sign));
    r.has(Sign::Scope)
        && !own
        && (orders_anywhere(r)
            || content
            || r.is_dense()
            || has_infinitive_orders(r) && r.len() > 4)
}

/// What must or must not be, said of the things that are made.
fn obliges(r: &Reading) -> bool {
    let made = |range: std::ops::Range<usize>| {
        r.has_any_in(&range, &[Sign::Reply, Sign::Artefact, Sign::Each])
    };
    let denies = |s: Signed| !is_story(r, s.at) && s.at + s.len < r.len();
    let must = |s: Signed| {
        let around = clause(r, s.at);
        if is_story(r, s.at) || s.at == around.start {
            return false;
        }
        let is_firm = matches!(
            r.tokens.text(s.at),
            "must"
                | "shall"
                | "muss"
                | "müssen"
                | "doit"
                | "doivent"
                | "debe"
                | "deben"
                | "deve"
                | "devem"
                | "devono"
                | "moet"
                | "moeten"
                | "должен"
                | "должна"
                | "должно"
                | "должны"
                | "musi"
                | "muszą"
        );
        let bound = r.has_any_in(
            &around,
            &[
                Sign::Only,
                Sign::Limit,
                Sign::Each,
                Sign::Always,
                Sign::Never,
            ],
        ) || style_value(r, around.clone());
        let is_made = made(around.start..s.at);
        is_made
            && (is_firm
                || bound
                || r.has_in(around.start..s.at, Sign::Each)
                || r.has_in(around.start..s.at, Sign::Reply))
    };
    // Japanese and Korean demands of a thing stand at the end.
    let at_end = |s: Signed| matches!(r.lang, Lang::Ja | Lang::Ko) && s.at + s.len + 2 > r.len();
    r.all(Sign::MustNot).any(denies) || r.all(Sign::Must).any(|s| must(s) || at_end(s))
}

/// `House rule: …`, `our convention is …`.
fn names_a_rule(r: &Reading) -> bool {
    r.all(Sign::RuleNoun).any(|s| {
        let next = s.at + s.len;
        let is_named = next + 1 < r.len()
            && matches!(
                r.tokens.text(next),
                ":" | "：" | "is" | "are" | "ist" | "est" | "es" | "é" | "è" | "—" | "-"
            );
        let is_heading = matches!(r.tokens.text(next.min(r.len() - 1)), ":" | "：" | "—" | "-")
            && matches!(
                r.tokens.text(s.at),
                "convention"
                    | "conventions"
                    | "guideline"
                    | "guidelines"
                    | "instruction"
                    | "instructions"
                    | "requirement"
            );
        !is_heading
            && s.at <= 4
            && is_named
            && !r.has_in(0..s.at, Sign::They)
            && !r.has(Sign::Gone)
            && !r.begins(Sign::Forget)
    })
}

fn is_plain(r: &Reading, last: &str) -> bool {
    prefers(r)
        || only(r)
        || instead(r)
        || bounded(r)
        || styled(r)
        || used(r)
        || conditional(r)
        || permits(r)
        || called(r)
        || wants(r)
        || r.openings
            .first()
            .is_some_and(|at| r.is_at(*at, Sign::Hold))
        || placed(r)
        || tooled(r)
        || eats(r)
        || matches!(last, ":" | "：")
            && r.has(Sign::Reply)
            && (r.begins(Sign::Each) || r.begins(Sign::When))
}

fn prefers(r: &Reading) -> bool {
    r.all(Sign::Prefer).any(|s| {
        let next = s.at + s.len;
        let wants_to =
            r.tokens.text(s.at + s.len - 1) == "want" && r.tokens.get(next) == Some("to");
        let is_phrase = s.len > 1 && !wants_to;
        let is_ours = r.has_in(r.clause_of(s.at)..s.at, Sign::We);
        // `Preferably` says how an order is meant.
        let is_verb = opening_of(r, s.at) == s.at && next < r.len();
        (r.is_dense() || is_phrase || is_ours || is_verb) && next < r.len()
    })
}

fn only(r: &Reading) -> bool {
    r.all(Sign::Only).any(|s| {
        let around = clause(r, s.at);
        let content = r.has_any_in(&around, &[Sign::Reply, Sign::Artefact, Sign::Each])
            || style_value(r, around.clone());
        let first = r.openings[0];
        let bound = r.is_any_at(first, ORDERS)
            && r.has(Sign::Each)
            && (r.has(Sign::Reply) || r.has(Sign::Artefact));
        !is_story(r, s.at)
            && (bound
                || match opening_of(r, s.at) {
                    open if open == s.at => {
                        let next = s.at + s.len;
                        next < r.len()
                            && (r.is_any_at(next, ORDERS)
                                || has_infinitive_orders(r)
                                || r.is_dense())
                    }
                    open => {
                        r.is_any_at(open, ORDERS) || r.is_dense() && (content || r.has(Sign::Verb))
                    }
                })
            && !r.has_in(around, Sign::Want)
    })
}

fn instead(r: &Reading) -> bool {
    let replaces = |s: Signed| {
        let open = opening_of(r, s.at);
        let ordered =
            r.is_any_at(open, ORDERS) || r.openings.iter().any(|at| r.is_any_at(*at, ORDERS));
        !is_story(r, s.at) && (ordered || r.is_dense()) && !r.has(Sign::Switch)
    };
    // `…, not X`: an order, a comma, a not with a noun.
    let contrast = |s: Signed| {
        let first = r.openings[0];
        s.at == opening_of(r, s.at)
            && s.at > first
            && r.is_any_at(first, ORDERS)
            && s.at + 1 < r.len()
    };
    r.all(Sign::Instead).any(replaces) || r.all(Sign::Not).any(contrast) || we_do(r)
}

/// `We use X, not Y`, `we only deploy on Mondays`.
fn we_do(r: &Reading) -> bool {
    let first = r.openings[0];
    let near = first..(first + 4).min(r.len());
    let is_ours = r.is_at(first, Sign::We);
    let choice = r.has(Sign::Instead) || r.has(Sign::Not) || r.has(Sign::Only);
    let uses = (near.start..near.end).any(|at| {
        r.is_at(at, Sign::Use) || matches!(r.tokens.text(at), "uses" | "deploys" | "runs")
    });
    let valued = r
        .values
        .iter()
        .any(|v| !v.is_denied && v.class != Class::Amount);
    is_ours && uses && !r.has(Sign::Switch) && (choice || valued && r.len() <= 12)
}

fn bounded(r: &Reading) -> bool {
    r.all(Sign::Limit).any(|s| {
        let around = clause(r, s.at);
        let near = s.at..(s.at + s.len + 4).min(r.len());
        let amount = |v: &super::reading::Valued| {
            v.class == Class::Amount && (near.contains(&v.at) || r.is_dense())
        };
        let number = near.clone().any(|at| {
            r.tokens
                .text(at)
                .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '$' | '€' | '£'))
        });
        let made = r.has_any_in(&(0..s.at), &[Sign::Reply, Sign::Artefact]);
        let open = opening_of(r, s.at);
        let told = r.has_any_in(&around, &[Sign::I, Sign::They])
            && !r.has_any_in(&around, &[Sign::You, Sign::Want]);
        let ordered = r.is_any_at(open, ORDERS)
            || open == s.at && open == r.openings[0]
            || made
            || r.is_dense();
        (number || r.values.iter().any(amount))
            && ordered
            && (!told || r.is_any_at(open, ORDERS))
            && !is_story(r, s.at)
    })
}

fn style_value(r: &Reading, range: std::ops::Range<usize>) -> bool {
    r.values
        .iter()
        .any(|v| is_manner(r, v) && range.contains(&v.at) && !r.tokens.all[v.at].quoted)
}

/// `Answer in German`, `end every reply with …`, `keep answers short`.
fn styled(r: &Reading) -> bool {
    let dense = r.is_dense()
        && r.has(Sign::Style)
        && (dense_style(r) || r.has(Sign::Each) && r.has(Sign::Reply));
    let opens = |at: &usize| {
        if !r.is_at(*at, Sign::Style) {
            return false;
        }
        let near = *at..(at + 7).min(r.end_of(*at));
        let reply = r.has_in(near.clone(), Sign::Reply);
        let all = r.has_any_in(&near, &[Sign::Each, Sign::You]);
        let value = style_value(r, near.clone());
        let made = r.has_in(near.clone(), Sign::Artefact)
            || (near.start..near.end)
                .any(|at| matches!(r.tokens.text(at), "it" | "things" | "everything"));
        let each = (near.start..near.end).any(|at| is_each(r.tokens.text(at)));
        if reply && all || each && r.has_in(near.clone(), Sign::Artefact) {
            return true;
        }
        let is_explained = r
            .values
            .iter()
            .any(|v| v.class == Class::Audience && (*at..r.end_of(*at)).contains(&v.at));
        if is_explained
            && matches!(
                r.tokens.text(*at),
                "explain" | "write" | "talk" | "speak" | "say"
            )
        {
            return true;
        }
        // `Give temperatures in Celsius`: things at large, not a thing.
        let made = made
            || r.tokens
                .get(at + 1)
                .is_some_and(|word| word.len() > 4 && word.ends_with('s'));
        let of_things = matches!(
            r.tokens.text(*at),
            "make"
                | "keep"
                | "give"
                | "show"
                | "present"
                | "render"
                | "name"
                | "mach"
                | "mache"
                | "halte"
                | "gib"
                | "fais"
                | "faites"
                | "garde"
                | "gardez"
                | "donne"
                | "haz"
                | "mantén"
                | "da"
                | "faça"
                | "mantenha"
                | "tieni"
                | "mantieni"
                | "maak"
                | "houd"
                | "держи"
                | "list"
                | "convert"
                | "express"
                | "say"
                | "start"
                | "begin"
                | "end"
                | "finish"
        );
        match of_things {
            true => value && (reply || made),
            // The value belongs to the verb: `answer in German`, not `write a page about Germany in …`.
            false => value && (reply || value_follows(r, *at)),
        }
    };
    dense || r.openings.iter().any(opens) || everywhere(r)
}

/// `Round all values to …`, `… in every message`: a manner in which all of a kind is treated.
fn everywhere(r: &Reading) -> bool {
    const MANNERS: &[&str] = &[
        "round",
        "treat",
        "prefix",
        "suffix",
        "mark",
        "label",
        "tag",
        "spell",
        "translate",
        "format",
        "put",
        "place",
        "store",
        "save",
        "keep",
        "log",
        "cite",
        "quote",
        "wrap",
        "escape",
        "address",
        "sign",
        "capitalize",
        "capitalise",
        "italicize",
        "bold",
        "indent",
        "abbreviate",
        "number",
        "runde",
        "zitiere",
        "speichere",
        "arrondis",
        "cita",
        "redondea",
        "arredonde",
        "arrotonda",
    ];
    let manner = |s: Signed| {
        let open = opening_of(r, s.at);
        open == r.openings[0] && s.at == open + 1 && MANNERS.contains(&r.tokens.text(open))
    };
    let each_reply = |at: usize| {
        let nouns = at + 1..(at + 3).min(r.len());
        is_each(r.tokens.text(at))
            && r.is_any_at(opening_of(r, at), ORDERS)
            && r.has_in(nouns, Sign::Reply)
    };
    r.all(Sign::Each).any(manner) || (0..r.len()).any(each_reply)
}

/// Each one by itself.
fn is_each(word: &str) -> bool {
    matches!(
        word,
        "every"
            | "each"
            | "jede"
            | "jeder"
            | "jedes"
            | "jeden"
            | "chaque"
            | "cada"
            | "ogni"
            | "elke"
            | "elk"
            | "каждый"
            | "каждая"
            | "каждое"
            | "каждую"
            | "każdy"
            | "każda"
            | "każde"
    )
}

/// Whether a value stands right beside what says how to write: `用中文`, `日本語で`.
fn dense_style(r: &Reading) -> bool {
    let beside = |s: Signed| {
        r.values.iter().any(|v| {
            let is_near = match r.lang {
                Lang::Zh => v.at >= s.at + s.len && v.at <= s.at + s.len + 1,
                _ => v.at < s.at && s.at <= v.at + v.len + 8,
            };
            is_near && is_style(v.class)
        })
    };
    r.all(Sign::Style).any(beside) && !r.has(Sign::I) && (r.has(Sign::Reply) || r.len() < 24)
}

/// Whether the value says how to write: also `in three sentences`.
fn is_manner(r: &Reading, v: &Valued) -> bool {
    let is_length = v.class == Class::Amount
        && v.unit <= TEXT_UNITS
        && v.at > 0
        && matches!(
            r.tokens.text(v.at - 1),
            "in" | "auf" | "en" | "em" | "with" | "mit" | "under" | "within"
        );
    is_style(v.class) || is_length
}

/// Whether a style value follows the verb with no thing of its own between.
fn value_follows(r: &Reading, at: usize) -> bool {
    let is_made = |place: usize| {
        let mut nouns = r.all(Sign::Artefact).chain(r.all(Sign::Reply));
        nouns.any(|s| (s.at..s.at + s.len).contains(&place))
    };
    let is_open = |place: usize| {
        r.is_frame[place]
            && !matches!(
                r.tokens.text(place),
                "a" | "an" | "the" | "this" | "that" | "me"
            )
            || is_made(place)
    };
    let mut values = r
        .values
        .iter()
        .filter(|v| is_manner(r, v) && v.at > at && !v.is_denied);
    values
        .next()
        .is_some_and(|v| v.at - at <= 5 && (at + 1..v.at).all(is_open))
}

/// `Use tabs`: short, of a known kind of choice, or at least no thing that was spoken of before.
fn used(r: &Reading) -> bool {
    r.openings.iter().any(|at| {
        if !r.is_at(*at, Sign::Use) || r.is_dense() && !r.is_at(*at, Sign::Verb) {
            return r.is_dense() && used_dense(r, *at);
        }
        let end = r.end_of(*at);
        let len = r
            .all(Sign::Use)
            .filter(|s| s.at == *at)
            .map(|s| s.len)
            .max()
            .unwrap_or(1);
        let next = at + len;
        if next >= end {
            return false;
        }
        let is_pointed = matches!(
            r.tokens.text(next),
            "the"
                | "this"
                | "that"
                | "my"
                | "it"
                | "them"
                | "a"
                | "an"
                | "your"
                | "these"
                | "those"
                | "der"
                | "die"
                | "das"
                | "den"
                | "dies"
                | "le"
                | "la"
                | "les"
                | "ce"
                | "cette"
                | "el"
                | "los"
                | "las"
                | "esta"
                | "este"
                | "o"
                | "os"
                | "il"
                | "lo"
                | "i"
                | "de"
                | "het"
                | "dit"
                | "deze"
                | "esa"
                | "ein"
                | "eine"
                | "einen"
                | "un"
                | "une"
                | "una"
                | "um"
                | "uma"
        );
        let has_purpose = (next..end).any(|at| {
            matches!(
                r.tokens.text(at),
                "to" | "zu" | "um" | "pour" | "para" | "per" | "om" | "чтобы"
            )
        });
        let valued = r
            .values
            .iter()
            .any(|v| (next..end).contains(&v.at) && !v.is_denied && v.at <= next + 3);
        let is_short = r.len() <= 10 && r.clauses.len() <= 2;
        match valued {
            true => !is_pointed && !has_purpose && r.len() <= 24,
            false => {
                let is_numbered = (next..end).any(|at| {
                    r.tokens.text(at).len() > 3
                        && r.tokens.text(at).chars().all(|c| c.is_ascii_digit())
                });
                len == 1
                    && !is_numbered
                    && !is_pointed
                    && !has_purpose
                    && is_short
                    && r.openings[0] == *at
                    && !r.has(Sign::They)
            }
        }
    })
}

fn used_dense(r: &Reading, _at: usize) -> bool {
    let valued = r
        .values
        .iter()
        .any(|v| !v.is_denied && v.class != Class::Amount);
    r.has(Sign::Use) && valued && r.len() <= 24 && !r.has(Sign::I)
}

/// `When you cite, use …`, `before deleting, ask`, `ask before you delete`.
fn conditional(r: &Reading) -> bool {
    let first = r.openings[0];
    let gerund = |at: usize| {
        r.tokens
            .get(at)
            .is_some_and(|word| word.len() > 4 && word.ends_with("ing"))
    };
    let starts = r.is_at(first, Sign::When) || r.is_at(first, Sign::Around);
    if starts && !r.begins(Sign::Imagined) {
        let len = r
            .signs
            .iter()
            .filter(|s| s.at == first)
            .map(|s| s.len)
            .max()
            .unwrap_or(1);
        let end = r.end_of(first);
        let head = first..end;
        // `If a task …`: any of its kind.
        let any = r.tokens.get(first + len);
        let general = r.has_any_in(&head, &[Sign::You, Sign::Each])
            || matches!(any, Some("a" | "an" | "any" | "no" | "multiple"))
            || gerund(first + len)
            || r.is_dense()
            || has_infinitive_orders(r) && !r.has_any_in(&head, &[Sign::I, Sign::They])
            || matches!(r.lang, Lang::Es | Lang::Pt)
                && !r.has_any_in(&head, &[Sign::I, Sign::They]);
        let then = r.openings.iter().skip(1).any(|at| {
            *at >= end
                && (r.is_any_at(*at, ORDERS)
                    || r.is_any_at(*at, &[Sign::Dont, Sign::Always, Sign::Never]))
        });
        let told = ADDRESSES
            .iter()
            .any(|sign| r.all(*sign).any(|s| s.at >= end));
        let dense = r.is_dense() && (r.has(Sign::Verb) || r.has(Sign::Use)) && r.len() < 60;
        if general && (then || told || dense) {
            return true;
        }
    }
    let is_before = |s: &Signed| {
        matches!(
            r.tokens.text(s.at),
            "before"
                | "unless"
                | "prior"
                | "bevor"
                | "ehe"
                | "avant"
                | "antes"
                | "prima"
                | "voordat"
                | "перед"
                | "прежде"
                | "zanim"
                | "przed"
                | "vor"
                | "之"
                | "以"
                | "前"
                | "す"
                | "하"
                | "전"
        )
    };
    let asks = |r: &Reading| r.concepts.iter().any(|c| c.concept == 0);
    r.all(Sign::Around).filter(is_before).any(|s| {
        let open = opening_of(r, s.at);
        let next = s.at + s.len;
        let rest = next..r.end_of(s.at).max(next);
        let general = r.has_any_in(&rest, &[Sign::You, Sign::Each]) || gerund(next);
        let ordered = r.is_any_at(open, ORDERS) && s.at > open;
        let dense = r.is_dense() && asks(r) && !r.has_in(0..s.at, Sign::I);
        ordered && (general || asks(r)) || dense
    })
}

fn permits(r: &Reading) -> bool {
    let is_general = r.has(Sign::Each) || r.has(Sign::Always) || r.has(Sign::Only);
    let may = |s: Signed| {
        let next = s.at + s.len;
        let is_free = matches!(
            r.tokens.text(s.at),
            "feel" | "sinta-se" | "siéntete" | "sentiti"
        );
        let is_idle = next >= r.len()
            || r.is_at(next, Sign::Idle)
            || matches!(
                r.tokens.text(next),
                "ask"
                    | "let"
                    | "reach"
                    | "contact"
                    | "correct"
                    | "share"
                    | "suggest"
                    | "skip"
                    | "call"
            );
        !is_idle
            && (is_free || is_general)
            && r.begins(Sign::YouMay)
            && !r.begins(Sign::AsksPolitely)
    };
    let need_not = |s: Signed| {
        let next = s.at + s.len;
        next < r.len()
            && !matches!(
                r.tokens.text(s.at),
                "we" | "isn't" | "is" | "are" | "aren't" | "not"
            )
            && !r.is_at(next, Sign::Idle)
            && !r.has_in(0..s.at, Sign::I)
            && (r.lang != Lang::Zh || r.clause_of(s.at) == s.at || opening_of(r, s.at) == s.at)
            && r.clause_of(s.at) == r.clauses[0]
    };
    r.all(Sign::YouMay).any(may) || r.all(Sign::YouNeedNot).any(need_not)
}

/// `Call me Bob`: not every mention of a name, which most forms ask for.
fn called(r: &Reading) -> bool {
    r.all(Sign::CallMe).any(|s| {
        let phrase = (s.at..s.at + s.len).any(|at| {
            matches!(
                r.tokens.text(at),
                "call"
                    | "address"
                    | "refer"
                    | "called"
                    | "pronouns"
                    | "go"
                    | "nenn"
                    | "nenne"
                    | "nennen"
                    | "sprich"
                    | "sprechen"
                    | "appelle-moi"
                    | "appelez-moi"
                    | "llámame"
                    | "llámeme"
                    | "llamarme"
                    | "dirígete"
                    | "chame"
                    | "chame-me"
                    | "chamar"
                    | "chiamami"
                    | "chiami"
                    | "chiamarmi"
                    | "noem"
                    | "называй"
                    | "называйте"
                    | "зови"
                    | "зовите"
                    | "обращайся"
                    | "mów"
                    | "nazywaj"
                    | "zwracaj"
                    | "叫"
                    | "称"
                    | "稱"
                    | "喊"
                    | "呼"
                    | "불"
            )
        });
        let is_mine = r.lang != Lang::Zh || r.tokens.text(s.at) != "我";
        phrase
            && is_mine
            && r.len() <= 24
            && (s.at + s.len < r.len() || matches!(r.lang, Lang::Ja | Lang::Ko))
    })
}

/// `I want all commits signed`, `I want replies in French`.
fn wants(r: &Reading) -> bool {
    r.all(Sign::Want).any(|s| {
        let rest = s.at + s.len..r.len();
        let made = r.has_any_in(&rest, &[Sign::Reply, Sign::Artefact]);
        let all = r.has_in(rest.clone(), Sign::Each);
        let next = r.tokens.get(s.at + s.len);
        made && !matches!(next, Some("to" | "a" | "an" | "the" | "me"))
            && (all || style_value(r, rest.clone()))
            && !r.is_dense()
    })
}

/// `Write tests with jest`: a tool for things at large.
fn tooled(r: &Reading) -> bool {
    let first = r.openings[0];
    let value = r
        .values
        .iter()
        .find(|v| v.class != Class::Amount && !v.is_denied && v.at > first + 1);
    let with = value.is_some_and(|v| {
        matches!(
            r.tokens.text(v.at - 1),
            "with" | "in" | "using" | "mit" | "avec" | "con" | "com" | "met" | "via"
        )
    });
    let pointed = (first..r.len()).any(|at| {
        matches!(
            r.tokens.text(at),
            "a" | "an"
                | "the"
                | "this"
                | "that"
                | "my"
                | "me"
                | "it"
                | "ein"
                | "eine"
                | "einen"
                | "un"
                | "une"
                | "una"
                | "um"
                | "uma"
        )
    });
    with && !pointed
        && r.len() <= 9
        && r.is_any_at(first, ORDERS)
        && r.has(Sign::Artefact)
        && !r.is_dense()
}

/// `Deploy to eu-west`: where things run is a setting, not a deed.
fn placed(r: &Reading) -> bool {
    let region = r
        .values
        .iter()
        .any(|v| v.class == Class::Region && !v.is_denied);
    region && r.is_any_at(r.openings[0], ORDERS) && r.len() <= 12
}

/// `I'm vegetarian`.
fn eats(r: &Reading) -> bool {
    let first = r.openings[0];
    let is_me = matches!(
        r.tokens.text(first),
        "i'm" | "i" | "ich" | "je" | "j'" | "soy" | "sou" | "sono" | "ik" | "я" | "我" | "私"
    );
    is_me
        && r.len() <= 14
        && r.values
            .iter()
            .any(|v| v.class == Class::Diet && !v.is_denied)
}

/// Whether the sentence asks rather than tells.
pub(super) fn is_question(r: &Reading) -> bool {
    r.openings.is_empty() || asks(r, r.tokens.text(r.len() - 1))
}
