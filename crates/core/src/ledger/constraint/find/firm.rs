//! What makes a rule explicit: it forbids, obliges, holds always or never, from now on, or says that it is a rule.

use super::manner::style_value;
use super::{
    ORDERS, clause, has_infinitive_orders, is_order, is_story, opening_of, orders_anywhere,
};
use crate::ledger::constraint::lexicon::{Lang, Sign};
use crate::ledger::constraint::reading::{Reading, Signed};
use crate::ledger::constraint::token::Kind;

pub(super) fn is_explicit(r: &Reading) -> bool {
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
