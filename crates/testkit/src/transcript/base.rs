//! The calm conversation that everything nasty is done to: valid in every format.

use super::nasty::Knobs;
use super::places::{Draft, Ids};
use super::{Message, Speaker, Spelling, words};
use crate::rng::Rng;

/// One to `max_turns` turns: an order, rounds of tool calls, a finding. The last turn ends with the order or
/// with answers of tools, so that a model could be called.
pub(super) fn calm(rng: &mut Rng, knobs: &Knobs) -> Draft {
    let mut draft = Draft {
        messages: Vec::new(),
        pending: Vec::new(),
        secrets: Vec::new(),
        spelling: Spelling::default(),
        knobs: knobs.clone(),
        ids: Ids::new(rng),
    };
    if rng.percent(60) {
        let system = Message::text(Speaker::System, words::system(rng));
        draft.messages.push(system);
    }
    let turns = rng.between(1, knobs.max_turns);
    for turn in 1..=turns {
        let order = Message::text(Speaker::User, words::order(rng));
        draft.messages.push(order);
        let last = turn == turns;
        if last && rng.percent(50) {
            break;
        }
        let rounds = rng.between(usize::from(last), knobs.max_rounds);
        for _ in 0..rounds {
            let mut round = draft.new_round(rng, 1);
            draft.messages.append(&mut round);
        }
        if !last {
            let finding = Message::text(Speaker::Assistant, words::finding(rng));
            draft.messages.push(finding);
        }
    }
    draft
}
