//! Nastiness of the list: which messages stand where, and which calls belong to which answers.

use super::places::{Draft, Round, rounds};
use super::{Block, BlockKind, Message, Speaker, words};
use crate::rng::Rng;

fn set_result_id(message: &mut Message, new: Option<&str>) {
    for block in &mut message.blocks {
        if let BlockKind::Result { id, .. } = &mut block.kind {
            *id = new.map(str::to_owned);
        }
    }
}

/// A round with at least `calls` calls that are all answered, made when there is none.
fn full_round(draft: &mut Draft, rng: &mut Rng, calls: usize) -> Option<Round> {
    let fits = |messages: &[Message], round: &Round| {
        let count = messages[round.ai].calls().count();
        count >= calls && count == round.results.len()
    };
    match draft.some_round(rng, fits) {
        Some(round) => Some(round),
        None => draft.add_round(rng, calls),
    }
}

pub(super) fn parallel_calls(draft: &mut Draft, rng: &mut Rng) {
    let Some(round) = full_round(draft, rng, 1) else {
        return;
    };
    for _ in 0..rng.between(1, 4) {
        let work = words::work(rng);
        let id = draft.ids.next(rng);
        let call = super::places::call(&id, &work);
        draft.messages[round.ai].blocks.push(call.into());
        let answer = super::places::answer(&id, &work);
        draft.messages.insert(round.end(), answer);
    }
}

pub(super) fn repeated_ids(draft: &mut Draft, rng: &mut Rng) {
    if draft.knobs.max_turns > 1 && rounds(&draft.messages).len() < 2 {
        draft.add_round(rng, 1);
        draft.add_round(rng, 1);
    }
    let plain = rng.percent(50);
    for round in rounds(&draft.messages) {
        let mut number = 0;
        let mut renamed: Vec<(Option<String>, String)> = Vec::new();
        for block in &mut draft.messages[round.ai].blocks {
            if let BlockKind::Call { id, .. } = &mut block.kind {
                let new = if plain {
                    number.to_string()
                } else {
                    format!("functions.tool:{number}")
                };
                renamed.push((id.replace(new.clone()), new));
                number += 1;
            }
        }
        for at in round.results {
            let old = draft.messages[at].result().flatten().map(str::to_owned);
            if let Some((_, new)) = renamed.iter().find(|(before, _)| *before == old) {
                set_result_id(&mut draft.messages[at], Some(new));
            }
        }
    }
}

pub(super) fn split_reply(draft: &mut Draft, rng: &mut Rng) {
    let many = |m: &Message| m.speaker == Speaker::Assistant && m.blocks.len() > 1;
    let Some(at) = draft.some(rng, |m| many(m) && m.reply.is_none()) else {
        return;
    };
    let whole = draft.messages[at].clone();
    let number = draft.messages.iter().filter_map(|m| m.reply).max();
    let calls_together = draft.knobs.valid.is_some();
    let mut pieces: Vec<Message> = Vec::new();
    for block in whole.blocks.iter().cloned() {
        let is_call = matches!(block.kind, BlockKind::Call { .. });
        match pieces.last_mut() {
            Some(last) if is_call && calls_together && last.calls().next().is_some() => {
                last.blocks.push(block);
            }
            _ => pieces.push(Message {
                blocks: vec![block],
                reply: Some(number.map_or(0, |n| n + 1)),
                ..whole.clone()
            }),
        }
    }
    draft.messages.splice(at..=at, pieces);
}

pub(super) fn interleaved(draft: &mut Draft, rng: &mut Rng) {
    let Some(round) = full_round(draft, rng, 1) else {
        return;
    };
    let mut other = draft.new_round(rng, 1);
    let answer = other.pop().into_iter();
    let end = round.end();
    draft.messages.splice(end..end, answer);
    draft.messages.splice(round.ai + 1..round.ai + 1, other);
}

pub(super) fn user_between_results(draft: &mut Draft, rng: &mut Rng) {
    if let Some(round) = full_round(draft, rng, 2) {
        let at = round.results[rng.between(1, round.results.len() - 1)];
        let aside = Message::text(Speaker::User, words::aside(rng));
        draft.messages.insert(at, aside);
    }
}

pub(super) fn late_approval(draft: &mut Draft, rng: &mut Rng) {
    let Some(round) = full_round(draft, rng, 1) else {
        return;
    };
    let Some(&from) = round.results.last() else {
        return;
    };
    let answer = draft.messages.remove(from);
    let to = rng.between(from, draft.messages.len());
    if to == from {
        let aside = Message::text(Speaker::User, words::aside(rng));
        draft.messages.insert(from, aside);
        draft.messages.insert(from + 1, answer);
    } else {
        draft.messages.insert(to, answer);
    }
}

pub(super) fn pending_call(draft: &mut Draft, rng: &mut Rng) {
    let Some(round) = full_round(draft, rng, 1) else {
        return;
    };
    let Some(&at) = round.results.last() else {
        return;
    };
    let Some(id) = draft.messages[at].result().flatten().map(str::to_owned) else {
        return;
    };
    // A host may have put a provisional answer in.
    if rng.percent(70) {
        draft.messages.remove(at);
    }
    draft.pending.push(id);
}

pub(super) fn missing_ids(draft: &mut Draft, rng: &mut Rng) {
    let Some(round) = full_round(draft, rng, 1) else {
        return;
    };
    let (calls, results) = *rng.pick(&[(true, true), (true, false), (false, true)]);
    for block in &mut draft.messages[round.ai].blocks {
        if let BlockKind::Call { id, .. } = &mut block.kind
            && calls
        {
            *id = None;
        }
    }
    if results && let Some(&at) = round.results.first() {
        set_result_id(&mut draft.messages[at], None);
    }
}

pub(super) fn missing_answer(draft: &mut Draft, rng: &mut Rng) {
    if let Some(round) = full_round(draft, rng, 1) {
        let at = *rng.pick(&round.results);
        draft.messages.remove(at);
        if at == draft.messages.len() {
            let aside = Message::text(Speaker::User, words::aside(rng));
            draft.messages.push(aside);
        }
    }
}

fn orphan(draft: &mut Draft, rng: &mut Rng) -> Message {
    let id = draft.ids.next(rng);
    super::places::answer(&id, &words::work(rng))
}

pub(super) fn orphan_front(draft: &mut Draft, rng: &mut Rng) {
    let (orphan, at) = (orphan(draft, rng), draft.front());
    draft.messages.insert(at, orphan);
}

pub(super) fn orphan_middle(draft: &mut Draft, rng: &mut Rng) {
    let (orphan, at) = (orphan(draft, rng), draft.gap(rng));
    draft.messages.insert(at, orphan);
}

pub(super) fn duplicate_answer(draft: &mut Draft, rng: &mut Rng) {
    if let Some(from) = draft.some(rng, |m| m.speaker == Speaker::Tool) {
        let again = draft.messages[from].clone();
        let later = rng.between(from + 1, draft.messages.len());
        let at = *rng.pick(&[from + 1, later]);
        draft.messages.insert(at, again);
    }
}

pub(super) fn answer_first(draft: &mut Draft, rng: &mut Rng) {
    if let Some(round) = full_round(draft, rng, 1) {
        let answer = draft.messages.remove(round.results[0]);
        draft.messages.insert(round.ai, answer);
    }
}

pub(super) fn swapped_answers(draft: &mut Draft, rng: &mut Rng) {
    if let Some(round) = full_round(draft, rng, 2) {
        draft.messages[round.ai + 1..round.end()].reverse();
    }
}

pub(super) fn text_after_results(draft: &mut Draft, rng: &mut Rng) {
    if let Some(round) = full_round(draft, rng, 1) {
        let mut aside = Message::text(Speaker::User, words::aside(rng));
        aside.joined = rng.percent(60);
        draft.messages.insert(round.end(), aside);
    }
}

pub(super) fn consecutive_users(draft: &mut Draft, rng: &mut Rng) {
    if let Some(at) = draft.some(rng, |m| m.speaker == Speaker::User) {
        let aside = Message::text(Speaker::User, words::aside(rng));
        draft.messages.insert(at + 1, aside);
    }
}

pub(super) fn consecutive_assistants(draft: &mut Draft, rng: &mut Rng) {
    if let Some(at) = draft.some(rng, |m| m.speaker == Speaker::Assistant) {
        let remark = Message::text(Speaker::Assistant, words::remark(rng));
        draft.messages.insert(at, remark);
    }
}

pub(super) fn trailing_users(draft: &mut Draft, rng: &mut Rng) {
    for _ in 0..rng.between(1, 3) {
        let aside = Message::text(Speaker::User, words::aside(rng));
        draft.messages.push(aside);
    }
}

pub(super) fn open_tool_loop(draft: &mut Draft, rng: &mut Rng) {
    if draft.messages.last().map(|m| m.speaker) == Some(Speaker::User) {
        for _ in 0..rng.between(1, 3) {
            let calls = if draft.knobs.chance(super::Nasty::ParallelCalls) > 0 {
                rng.between(1, 2)
            } else {
                1
            };
            let mut round = draft.new_round(rng, calls);
            draft.messages.append(&mut round);
        }
    }
}

pub(super) fn assistant_last(draft: &mut Draft, rng: &mut Rng) {
    if draft.messages.last().map(|m| m.speaker) != Some(Speaker::Assistant) {
        let finding = Message::text(Speaker::Assistant, words::finding(rng));
        draft.messages.push(finding);
    }
}

pub(super) fn no_user(draft: &mut Draft, _: &mut Rng) {
    draft.messages.retain(|m| m.speaker != Speaker::User);
}

pub(super) fn many_systems(draft: &mut Draft, rng: &mut Rng) {
    for _ in 0..=usize::from(draft.front() == 0) {
        let system = Message::text(Speaker::System, words::system(rng));
        draft.messages.insert(0, system);
    }
}

pub(super) fn mid_system(draft: &mut Draft, rng: &mut Rng) {
    let at = rng.between(draft.front() + 1, draft.messages.len());
    if at <= draft.messages.len() {
        let system = Message::text(Speaker::System, words::system(rng));
        draft.messages.insert(at, system);
    }
}

/// Puts a message of the host before an order of a person.
fn before_order(draft: &mut Draft, rng: &mut Rng, message: Message) {
    if let Some(at) = draft.some_order(rng) {
        draft.messages.insert(at, message);
    }
}

pub(super) fn reminder(draft: &mut Draft, rng: &mut Rng) {
    let (day, path) = (rng.between(1, 28), words::path(rng));
    let text =
        format!("<context>\nToday is 2026-02-{day:02}. Remember: {path} is generated.\n</context>");
    let mut message = Message::text(Speaker::User, text);
    message.flags.reminder = true;
    before_order(draft, rng, message);
}

pub(super) fn hidden(draft: &mut Draft, rng: &mut Rng) {
    let text = format!("[host] {} was opened in the editor", words::path(rng));
    let mut message = Message::text(Speaker::User, text);
    message.flags.hidden = true;
    before_order(draft, rng, message);
}

pub(super) fn earlier_summary(draft: &mut Draft, rng: &mut Rng) {
    let text = format!(
        "Summary of the earlier conversation:\n- {}\n- {}",
        words::finding(rng),
        words::finding(rng)
    );
    let mut message = Message::text(Speaker::User, text);
    message.flags.summary = true;
    message.name = Some("summary".to_owned());
    let front = draft.front();
    if rng.percent(80) {
        draft.messages.insert(front, message);
    } else {
        before_order(draft, rng, message);
    }
}

pub(super) fn pin(draft: &mut Draft, rng: &mut Rng) {
    if let Some(at) = draft.some(rng, |m| m.speaker != Speaker::System) {
        draft.messages[at].flags.pinned = true;
    }
}

pub(super) fn partial(draft: &mut Draft, rng: &mut Rng) {
    assistant_last(draft, rng);
    if let Some(last) = draft.messages.last_mut() {
        last.flags.partial = true;
        if let Some(BlockKind::Text(text)) = last.blocks.last_mut().map(|b| &mut b.kind) {
            let mut cut = text.len() / 2;
            while !text.is_char_boundary(cut) {
                cut -= 1;
            }
            text.truncate(cut);
        } else if last.blocks.is_empty() {
            last.blocks.push(Block::text("Let me"));
        }
    }
}

pub(super) fn only_system(draft: &mut Draft, rng: &mut Rng) {
    many_systems(draft, rng);
    draft.messages.truncate(draft.front());
}

pub(super) fn empty(draft: &mut Draft, _: &mut Rng) {
    draft.messages.clear();
}
