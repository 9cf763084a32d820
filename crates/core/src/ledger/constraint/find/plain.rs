//! What makes a sentence a rule without saying so: a preference, a bound, a condition, a permission, a wish.

use super::manner::{style_value, styled, used};
use super::{ADDRESSES, ORDERS, clause, has_infinitive_orders, is_story, opening_of};
use crate::ledger::constraint::lexicon::{Class, Lang, Sign};
use crate::ledger::constraint::reading::{Reading, Signed, Valued};

pub(super) fn is_plain(r: &Reading, last: &str) -> bool {
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
        let amount =
            |v: &Valued| v.class == Class::Amount && (near.contains(&v.at) || r.is_dense());
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
