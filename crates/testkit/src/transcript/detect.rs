//! Finds by looking what is nasty about a conversation, whoever made it, and counts it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::places::rounds;
use super::write::{LONE, is_object};
use super::{Answer, Block, BlockKind, Form, Message, Nasty, Speaker, Transcript};

/// A text is very long from here on, for the table.
const LONG: usize = 2_000;
/// A message of a person is a giant from here on.
const GIANT: usize = 10_000;

/// How many conversations had what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    seen: BTreeMap<Nasty, u64>,
    transcripts: u64,
    messages: u64,
}

impl Coverage {
    /// Nothing counted yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one conversation.
    pub fn add(&mut self, transcript: &Transcript) {
        self.transcripts += 1;
        self.messages += transcript.messages.len() as u64;
        for nasty in transcript.nasties() {
            *self.seen.entry(nasty).or_default() += 1;
        }
    }

    /// Adds up what another table counted.
    pub fn merge(&mut self, other: &Self) {
        self.transcripts += other.transcripts;
        self.messages += other.messages;
        for (nasty, n) in &other.seen {
            *self.seen.entry(*nasty).or_default() += n;
        }
    }

    /// In how many conversations it was seen.
    pub fn count(&self, nasty: Nasty) -> u64 {
        self.seen.get(&nasty).copied().unwrap_or(0)
    }

    /// What was never seen.
    pub fn missing(&self) -> Vec<Nasty> {
        let all = Nasty::ALL.iter().copied();
        all.filter(|&nasty| self.count(nasty) == 0).collect()
    }
}

impl fmt::Display for Coverage {
    /// A table: one nastiness a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} conversations, {} messages",
            self.transcripts, self.messages
        )?;
        for &nasty in Nasty::ALL {
            writeln!(f, "{:>8}  {}", self.count(nasty), nasty.name())?;
        }
        Ok(())
    }
}

/// Everything that is nasty about `t`, in the order of [`Nasty::ALL`].
pub(super) fn nasties(t: &Transcript) -> Vec<Nasty> {
    let seen = look(t);
    let all = Nasty::ALL.iter().copied();
    all.filter(|nasty| seen.contains(nasty)).collect()
}

fn look(t: &Transcript) -> BTreeSet<Nasty> {
    let mut seen = BTreeSet::new();
    let mut note = |nasty, holds: bool| {
        if holds {
            seen.insert(nasty);
        }
    };
    for (nasty, holds) in of_list(t).into_iter().chain(of_calls(t)) {
        note(nasty, holds);
    }
    for message in &t.messages {
        for (nasty, holds) in of_message(message) {
            note(nasty, holds);
        }
    }
    seen
}

type Found = Vec<(Nasty, bool)>;

fn of_list(t: &Transcript) -> Found {
    let messages = &t.messages;
    let front = t.leading_system();
    let speaker = |at: usize| messages.get(at).map(|m| m.speaker);
    let last = messages.len().checked_sub(1).and_then(speaker);
    let in_a_row = |who| {
        (1..messages.len()).any(|at| speaker(at) == Some(who) && speaker(at - 1) == Some(who))
    };
    let replies: Vec<_> = messages.iter().filter_map(|m| m.reply).collect();
    let orders = messages.iter().filter(|m| m.speaker == Speaker::User);
    let orders: Vec<String> = orders
        .map(|m| m.texts().concat())
        .filter(|text| !text.trim().is_empty())
        .collect();
    let two_users_last = in_a_row(Speaker::User)
        && last == Some(Speaker::User)
        && speaker(messages.len().saturating_sub(2)) == Some(Speaker::User);
    let markers: usize = messages
        .iter()
        .flat_map(|m| &m.blocks)
        .filter(|b| b.marker)
        .count();
    let some_user = messages.iter().any(|m| m.speaker == Speaker::User);
    let after_tool =
        |at: usize| speaker(at) == Some(Speaker::User) && speaker(at - 1) == Some(Speaker::Tool);
    vec![
        (Nasty::Empty, messages.is_empty()),
        (Nasty::OnlySystem, front == messages.len() && front > 0),
        (Nasty::NoUser, front < messages.len() && !some_user),
        (Nasty::ManySystems, front > 1),
        (
            Nasty::MidSystem,
            messages[front..]
                .iter()
                .any(|m| m.speaker == Speaker::System),
        ),
        (Nasty::ConsecutiveUsers, in_a_row(Speaker::User)),
        (Nasty::ConsecutiveAssistants, in_a_row(Speaker::Assistant)),
        (Nasty::TrailingUsers, two_users_last),
        (Nasty::TextAfterResults, (1..messages.len()).any(after_tool)),
        (Nasty::OpenToolLoop, last == Some(Speaker::Tool)),
        (
            Nasty::AssistantLast,
            messages
                .last()
                .is_some_and(|m| m.speaker == Speaker::Assistant && m.calls().next().is_none()),
        ),
        (Nasty::OrphanFront, speaker(front) == Some(Speaker::Tool)),
        (Nasty::SplitReply, has_twice(&replies)),
        (Nasty::RepeatedText, has_twice(&orders)),
        (Nasty::PendingCall, !t.pending.is_empty()),
        (Nasty::Secret, !t.secrets.is_empty()),
        (Nasty::CacheMarkers, markers > 0),
        (Nasty::TooManyMarkers, markers > 4),
        (Nasty::SpacedJson, t.spelling.spaced),
        (Nasty::EscapedJson, t.spelling.escaped),
    ]
}

fn has_twice<T: Ord>(items: &[T]) -> bool {
    let mut seen = BTreeSet::new();
    !items.iter().all(|item| seen.insert(item))
}

fn of_calls(t: &Transcript) -> Found {
    let messages = &t.messages;
    let mut calls: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut answers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let (mut no_id, mut texts) = (false, Vec::new());
    for (at, message) in messages.iter().enumerate() {
        for id in message.calls() {
            no_id |= id.is_none();
            calls.entry(id.unwrap_or_default()).or_default().push(at);
        }
        if let Some(id) = message.result() {
            no_id |= id.is_none();
            answers.entry(id.unwrap_or_default()).or_default().push(at);
            texts.push((message.texts().concat(), id));
        }
    }
    let none = Vec::new();
    let called = |id: &str| calls.get(id).unwrap_or(&none);
    let answered = |id: &str| answers.get(id).unwrap_or(&none);
    let waits = |id: &str| t.pending.iter().any(|p| p == id);
    let last = messages.len().saturating_sub(1);
    let unanswered = calls.iter().any(|(id, at)| {
        let open_end = at.iter().all(|&at| at == last);
        answered(id).iter().filter(|&&a| a > at[0]).count() < at.len() && !open_end && !waits(id)
    });
    // For each answer: the call before it that it can belong to.
    let before = |id: &str, at: usize| called(id).iter().rfind(|&&call| call < at).copied();
    let all_answers = || {
        answers
            .iter()
            .flat_map(|(id, at)| at.iter().map(move |&at| (*id, at)))
    };
    let is_user = |at: usize| messages[at].speaker == Speaker::User;
    let late = |id: &str, at: usize| before(id, at).is_some_and(|call| (call..at).any(is_user));
    let between = all_answers().any(|(id, at)| {
        before(id, at).is_some_and(|call| {
            (call..at).rfind(|&p| is_user(p)).is_some_and(|user| {
                let sibling = |a: usize| messages[a].result().flatten().unwrap_or_default();
                (call + 1..user).any(|a| {
                    messages[a].speaker == Speaker::Tool && before(sibling(a), a) == Some(call)
                })
            })
        })
    });
    let interleaved = (1..messages.len()).any(|at| {
        let is_split = messages[at].reply.is_some() && messages[at].reply == messages[at - 1].reply;
        let open = |p: usize| {
            messages[p]
                .calls()
                .flatten()
                .any(|id| answered(id).iter().any(|&a| a > at))
        };
        open(at) && open(at - 1) && !is_split
    });
    let swapped = rounds(messages).iter().any(|round| {
        let order: Vec<_> = messages[round.ai].calls().flatten().collect();
        let places: Vec<_> = round
            .results
            .iter()
            .filter_map(|&at| messages[at].result().flatten())
            .filter_map(|id| order.iter().position(|call| *call == id))
            .collect();
        !places.is_sorted()
    });
    texts.sort();
    let same = |pair: &[(String, Option<&str>)]| {
        pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1 && pair[0].0.len() > 30
    };
    vec![
        (Nasty::MissingCallIds, no_id),
        (
            Nasty::RepeatedCallIds,
            calls.iter().any(|(id, at)| at.len() > 1 && !id.is_empty()),
        ),
        (Nasty::MissingAnswer, unanswered),
        (
            Nasty::OrphanMiddle,
            all_answers().any(|(id, at)| called(id).is_empty() && at > t.leading_system()),
        ),
        (
            Nasty::DuplicateAnswer,
            answers
                .iter()
                .any(|(id, at)| at.len() > 1 && called(id).len() == 1),
        ),
        (
            Nasty::AnswerFirst,
            all_answers().any(|(id, at)| !called(id).is_empty() && before(id, at).is_none()),
        ),
        (
            Nasty::LateApproval,
            all_answers().any(|(id, at)| late(id, at)),
        ),
        (Nasty::UserBetweenResults, between),
        (Nasty::Interleaved, interleaved),
        (Nasty::SwappedAnswers, swapped),
        (Nasty::DuplicateResult, texts.windows(2).any(same)),
    ]
}

const ODD_MARKS: &[&str] = &[r#""ratio":"#, "x_score"];

fn of_message(m: &Message) -> Found {
    let texts = m.texts();
    let any = |test: fn(char) -> bool| texts.iter().any(|t| t.contains(test));
    let has = |what: &str| texts.iter().any(|t| t.contains(what));
    let kinds = || m.blocks.iter().map(|b| &b.kind);
    let inner = || {
        kinds().flat_map(|k| match k {
            BlockKind::Result {
                answer: Answer::Blocks(blocks),
                ..
            } => blocks.as_slice(),
            _ => &[],
        })
    };
    let is_picture = |b: &Block| matches!(b.kind, BlockKind::Image(_));
    let (tool, user) = (m.speaker == Speaker::Tool, m.speaker == Speaker::User);
    let own_texts = || {
        kinds().filter_map(|k| match k {
            BlockKind::Text(text)
            | BlockKind::Result {
                answer: Answer::Text(text),
                ..
            } => Some(text.as_str()),
            _ => None,
        })
    };
    let args = || {
        kinds().filter_map(|k| match k {
            BlockKind::Call { args, .. } => Some(args.as_str()),
            _ => None,
        })
    };
    let extra = |key: &str| m.extras.iter().any(|(k, _)| k == key);
    let total: usize = texts.iter().map(|t| t.len()).sum();
    let odd = ODD_MARKS
        .iter()
        .any(|mark| extra(mark) || args().any(|a| a.contains(mark)));
    let twice = |a: &str| a.matches(r#""path":"#).count() > 1;
    vec![
        (Nasty::ParallelCalls, m.calls().count() > 1),
        (Nasty::Pin, m.flags.pinned),
        (Nasty::Hidden, m.flags.hidden),
        (Nasty::Reminder, m.flags.reminder),
        (Nasty::EarlierSummary, m.flags.summary),
        (Nasty::Partial, m.flags.partial),
        (Nasty::NoMessageIds, !m.has_id),
        (
            Nasty::Cjk,
            any(
                |c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}'),
            ),
        ),
        (
            Nasty::Emoji,
            any(|c| c >= '\u{1f000}' || c == '\u{200d}' || matches!(c, '\u{300}'..='\u{36f}')),
        ),
        (
            Nasty::Rtl,
            any(|c| matches!(c, '\u{590}'..='\u{6ff}' | '\u{202b}')),
        ),
        (Nasty::LoneSurrogate, any(|c| c == LONE)),
        (Nasty::Control, any(|c| c == '\u{1b}')),
        (
            Nasty::Injection,
            has("</summary>") || has("\n\nSystem: ") || has("<|im_start|>") || has("{{7*7}}"),
        ),
        (Nasty::Giant, user && total > GIANT),
        (Nasty::LongResult, tool && total > LONG),
        (Nasty::LongArguments, args().any(|a| a.len() > LONG)),
        (Nasty::BrokenArguments, args().any(|a| !is_object(a))),
        (
            Nasty::ErrorResult,
            kinds().any(|k| matches!(k, BlockKind::Result { error: true, .. })),
        ),
        (Nasty::Image, m.blocks.iter().any(is_picture)),
        (Nasty::ImageInResult, inner().any(is_picture)),
        (
            Nasty::ThinkingSigned,
            kinds().any(|k| {
                matches!(
                    k,
                    BlockKind::Thinking {
                        signature: Some(_),
                        ..
                    }
                )
            }),
        ),
        (
            Nasty::ThinkingPlain,
            kinds().any(|k| {
                matches!(
                    k,
                    BlockKind::Thinking {
                        signature: None,
                        ..
                    }
                )
            }),
        ),
        (
            Nasty::ThinkingRedacted,
            kinds().any(|k| matches!(k, BlockKind::Redacted(_))),
        ),
        (Nasty::EmptyText, own_texts().any(str::is_empty)),
        (
            Nasty::BlankText,
            own_texts().any(|t| !t.is_empty() && t.trim().is_empty()),
        ),
        (
            Nasty::NullContent,
            matches!(m.form, Form::Null | Form::Missing),
        ),
        (Nasty::BlockContent, m.form == Form::Blocks),
        (
            Nasty::Opaque,
            kinds().any(|k| matches!(k, BlockKind::Opaque { .. })),
        ),
        (Nasty::UnknownFields, !m.extras.is_empty()),
        (Nasty::OddNumbers, odd),
        (Nasty::DuplicateKeys, extra("x_twice") || args().any(twice)),
        (Nasty::DeepNesting, extra("x_deep")),
        (Nasty::Usage, m.usage.is_some()),
    ]
}
