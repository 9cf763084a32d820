//! Where the tokens of a conversation are, and what a policy would do about them.

use std::collections::BTreeMap;

use conspectus_core::count::TokenCounter;
use conspectus_core::patch::{Patch, PatchCause};
use conspectus_core::plan::{Fate, Plan};
use conspectus_core::thread::{Size, Sources, Thread};
use conspectus_core::validity::Invalid;
use conspectus_core::view::{MessageView, PartKind, PartRef, Role, Texts};
use conspectus_wire::Conversation;
use serde::Serialize;

use crate::compact::{CompactRequest, Error, open_thread};

/// Tokens and messages of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// A role or a tool.
    pub name: String,
    /// Messages, or calls.
    pub count: u64,
    /// Tokens.
    pub tokens: u64,
}

/// A large tool result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LargeResult {
    /// Index of the message in the conversation.
    pub message: usize,
    /// The tool, where it is known.
    pub tool: Option<String>,
    /// The call's id.
    pub call: String,
    /// Characters of its text.
    pub chars: u64,
}

/// What a conversation holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inspection {
    /// Messages.
    pub messages: u64,
    /// Tokens of the request by the counter.
    pub tokens: u64,
    /// Of these: system prompt and tools outside the messages.
    pub fixed_tokens: u64,
    /// What the provider last reported, and an estimate of what came after it.
    pub reported_tokens: Option<u64>,
    /// By role.
    pub roles: Vec<Share>,
    /// By tool: calls, and tokens of calls and results; the largest first.
    pub tools: Vec<Share>,
    /// Tokens by message.
    pub by_message: Vec<u64>,
    /// The largest tool results.
    pub largest_results: Vec<LargeResult>,
    /// What is wrong with the pairing of calls and results.
    pub pairing_faults: Vec<String>,
    /// The token threshold of the trigger, if there is one.
    pub trigger_tokens: Option<u64>,
    /// The message threshold of the trigger, if there is one.
    pub trigger_messages: Option<u64>,
    /// Whether a trigger is reached now.
    pub triggered: bool,
    /// The first message at which a trigger would have been reached.
    pub triggers_at_message: Option<usize>,
    /// The window in tokens.
    pub window: u64,
}

/// Looks into a conversation.
///
/// # Errors
/// When the options cannot work.
pub fn inspect(conversation: &Conversation, request: &CompactRequest) -> Result<Inspection, Error> {
    let (thread, counter, _) = open_thread(conversation, request)?;
    let src = Sources {
        texts: conversation,
        counter: counter.as_ref(),
    };
    let size = thread.size(src);
    let by_message: Vec<u64> = conversation
        .views()
        .iter()
        .map(|view| counter.tokens(counter.message(view, conversation)))
        .collect();
    let policy = thread.policy();
    Ok(Inspection {
        messages: size.messages,
        tokens: size.estimated,
        fixed_tokens: size.fixed,
        reported_tokens: size.reported.then_some(size.tokens),
        roles: roles(conversation.views(), &by_message),
        tools: tools(conversation, &thread, counter.as_ref()),
        largest_results: largest(conversation, &thread),
        pairing_faults: faults(&thread),
        trigger_tokens: policy.trigger_tokens(),
        trigger_messages: policy.triggers.iter().filter_map(|t| t.messages).min(),
        triggered: thread.is_triggered(&size),
        triggers_at_message: first_trigger(&thread, src),
        window: policy.window,
        by_message,
    })
}

fn roles(views: &[MessageView], by_message: &[u64]) -> Vec<Share> {
    let names = [
        (Role::System, "system"),
        (Role::User, "user"),
        (Role::Assistant, "assistant"),
        (Role::Tool, "tool"),
    ];
    let share = |(role, name): &(Role, &str)| {
        let of_role = views
            .iter()
            .zip(by_message)
            .filter(|(view, _)| shown_role(view) == *role);
        let (count, tokens) = of_role.fold((0, 0), |(n, sum), (_, t)| (n + 1, sum + t));
        Share {
            name: (*name).to_owned(),
            count,
            tokens,
        }
    };
    names.iter().map(share).filter(|s| s.count > 0).collect()
}

/// Where results stand in user messages (Anthropic's format), they are a tool's all the same.
fn shown_role(view: &MessageView) -> Role {
    if view.is_only_results() {
        Role::Tool
    } else {
        view.role
    }
}

fn tools(conversation: &Conversation, thread: &Thread, counter: &dyn TokenCounter) -> Vec<Share> {
    let mut shares: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let branch = thread.branch();
    let part_weight = |at: usize, part: usize| {
        let view = branch.view(at);
        let own = std::iter::once(part);
        let inside =
            (0..view.parts.len()).filter(|i| view.parts[*i].inside.map(usize::from) == Some(part));
        let text = |i: usize| {
            let part = u16::try_from(i).unwrap_or(u16::MAX);
            counter.text(&conversation.text(PartRef {
                message: view.handle,
                part,
            }))
        };
        own.chain(inside)
            .filter(|i| !matches!(view.parts[*i].kind, PartKind::Media(_)))
            .map(text)
            .sum::<u64>()
    };
    for call in branch.units().calls() {
        let share = shares.entry(call.tool.as_ref()).or_default();
        let answers: u64 = call
            .answers
            .iter()
            .map(|(at, part)| part_weight(*at, *part))
            .sum();
        share.0 += 1;
        share.1 += part_weight(call.at, call.part) + answers;
    }
    let mut out: Vec<Share> = shares
        .into_iter()
        .map(|(name, (count, weight))| Share {
            name: name.to_owned(),
            count,
            tokens: counter.tokens(weight),
        })
        .collect();
    out.sort_by(|a, b| b.tokens.cmp(&a.tokens).then_with(|| a.name.cmp(&b.name)));
    out
}

fn largest(conversation: &Conversation, thread: &Thread) -> Vec<LargeResult> {
    let mut out = Vec::new();
    for call in thread.branch().units().calls() {
        for (at, part) in &call.answers {
            let view = thread.branch().view(*at);
            let chars = (0..view.parts.len())
                .filter(|i| i == part || view.parts[*i].inside.map(usize::from) == Some(*part))
                .filter(|i| !matches!(view.parts[*i].kind, PartKind::Media(_)))
                .filter_map(|i| u16::try_from(i).ok())
                .map(|part| {
                    conversation
                        .text(PartRef {
                            message: view.handle,
                            part,
                        })
                        .chars()
                        .count() as u64
                })
                .sum();
            let tool = Some(call.tool.to_string()).filter(|t| !t.is_empty());
            out.push(LargeResult {
                message: *at,
                tool,
                call: call.id.as_str().to_owned(),
                chars,
            });
        }
    }
    out.sort_by(|a, b| {
        b.chars
            .cmp(&a.chars)
            .then_with(|| a.message.cmp(&b.message))
    });
    out.truncate(10);
    out
}

fn faults(thread: &Thread) -> Vec<String> {
    let describe = |fault| match fault {
        Invalid::OrphanAnswer(id) => format!("result {:?} answers no call", id.as_str()),
        Invalid::UnansweredCall(id) => format!("call {:?} was never answered", id.as_str()),
        Invalid::SummaryInsideCall => "a summary stands between a call and its result".to_owned(),
        Invalid::LateSystem => "a system message of ours stands after other messages".to_owned(),
    };
    thread
        .checked()
        .faults(|_| false)
        .into_iter()
        .map(describe)
        .collect()
}

/// Adds the messages one by one to an empty thread and sees when a trigger is reached.
fn first_trigger(thread: &Thread, src: Sources<'_>) -> Option<usize> {
    let mut grown = Thread::new(thread.policy().clone());
    grown.set_fixed(thread.fixed().clone());
    thread
        .branch()
        .views()
        .iter()
        .enumerate()
        .find_map(|(at, view)| {
            grown.append([view.as_ref().clone()], src);
            let size: Size = grown.size(src);
            grown.is_triggered(&size).then_some(at)
        })
}

/// What happens to one unit, for a line of `conspectus plan`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnitLine {
    /// Indices of its messages.
    pub messages: Vec<usize>,
    /// `stays`, `goes` or `gone`.
    pub fate: &'static str,
    /// Why it stays.
    pub why: Option<&'static str>,
    /// Its tokens.
    pub tokens: u64,
    /// Who speaks first, and the tools that are called.
    pub what: String,
    /// The beginning of its text.
    pub begins: String,
    /// Parts that would be shortened in it.
    pub shortened: u64,
}

/// The plan, unit by unit.
pub fn units(
    conversation: &Conversation,
    thread: &Thread,
    plan: &Plan,
    src: Sources<'_>,
) -> Vec<UnitLine> {
    let branch = thread.branch();
    let line = |members: &[usize]| {
        let first = branch.view(members[0]);
        let (fate, why) = match plan.fates[members[0]] {
            Fate::Stays(stay) => ("stays", Some(stay.words())),
            Fate::Goes => ("goes", None),
            Fate::Gone => ("gone", None),
        };
        let tools: Vec<&str> = members
            .iter()
            .flat_map(|m| branch.view(*m).calls())
            .map(|(_, _, tool)| tool.as_ref())
            .collect();
        let role = match shown_role(first) {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        };
        let what = if tools.is_empty() {
            role.to_owned()
        } else {
            format!("{role} calls {}", tools.join(", "))
        };
        let is_cut = |p: &&Patch| {
            matches!(
                p.cause(),
                PatchCause::Oversized | PatchCause::Duplicate | PatchCause::Arguments
            )
        };
        UnitLine {
            messages: members.to_vec(),
            fate,
            why,
            tokens: src.counter.tokens(
                members
                    .iter()
                    .map(|m| src.counter.message(branch.view(*m), src.texts))
                    .sum(),
            ),
            what,
            begins: begins(conversation, first),
            shortened: members
                .iter()
                .flat_map(|m| thread.patches_at(*m))
                .filter(is_cut)
                .count() as u64,
        }
    };
    branch
        .units()
        .iter()
        .map(|unit| line(&unit.members))
        .collect()
}

/// The first words of a message, on one line.
fn begins(texts: &dyn Texts, view: &MessageView) -> String {
    let shown = view
        .parts
        .iter()
        .position(|p| matches!(p.kind, PartKind::Text))
        .or(Some(0).filter(|_| !view.parts.is_empty()));
    let Some(part) = shown.and_then(|i| u16::try_from(i).ok()) else {
        return String::new();
    };
    let text = texts.text(PartRef {
        message: view.handle,
        part,
    });
    let mut out = String::new();
    for word in text.split_whitespace() {
        if out.chars().count() + word.chars().count() > 70 {
            out.push('…');
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}
