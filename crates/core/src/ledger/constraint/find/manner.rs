//! Rules about how to write and what to use: `answer in German`, `use tabs`, `round all values`.

use super::{ORDERS, TEXT_UNITS, opening_of};
use crate::ledger::constraint::lexicon::{Class, Lang, Sign, is_style};
use crate::ledger::constraint::reading::{Reading, Signed, Valued};

pub(super) fn style_value(r: &Reading, range: std::ops::Range<usize>) -> bool {
    r.values
        .iter()
        .any(|v| is_manner(r, v) && range.contains(&v.at) && !r.tokens.all[v.at].quoted)
}

/// `Answer in German`, `end every reply with …`, `keep answers short`.
pub(super) fn styled(r: &Reading) -> bool {
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
pub(super) fn used(r: &Reading) -> bool {
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
