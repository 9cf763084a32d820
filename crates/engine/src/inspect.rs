//! Where the tokens of a conversation are, and what a policy would do about them.

use std::collections::BTreeMap;

use conspectus_core::count::TokenCounter;
use conspectus_core::policy::WindowSource;
use conspectus_core::redact::Redactor;
use conspectus_core::thread::{Size, Sources, Thread};
use conspectus_core::validity::Invalid;
use conspectus_core::view::{MessageView, PartRef, Texts};
use conspectus_wire::Conversation;
use serde::Serialize;

use crate::compact::{CompactRequest, Error, OpenThread, open_thread};
use crate::text::{begins, chars_of, parts_of, role_name};

/// How many of the largest are listed.
const LISTED: usize = 10;

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

/// A large message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LargeMessage {
    /// Index of the message in the conversation.
    pub message: usize,
    /// Who speaks.
    pub role: &'static str,
    /// Its tokens.
    pub tokens: u64,
    /// The beginning of its text.
    pub begins: String,
}

/// One clause of the trigger, in numbers: reached when all of its sizes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TriggerState {
    /// Tokens.
    pub tokens: Option<u64>,
    /// Messages.
    pub messages: Option<u64>,
    /// Whether it is reached now.
    pub reached: bool,
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
    /// The largest messages, at most ten.
    pub largest_messages: Vec<LargeMessage>,
    /// The largest tool results, at most ten.
    pub largest_results: Vec<LargeResult>,
    /// What is wrong with the pairing of calls and results.
    pub pairing_faults: Vec<String>,
    /// The clauses of the trigger; any of them fires.
    pub triggers: Vec<TriggerState>,
    /// Whether a trigger is reached now.
    pub triggered: bool,
    /// The first message at which a trigger would have been reached.
    pub triggers_at_message: Option<usize>,
    /// The window in tokens.
    pub window: u64,
    /// Where that is known from.
    pub window_source: WindowSource,
    /// Tokens of the window that belong to the reply.
    pub output_reserve: u64,
}

/// Looks into a conversation.
///
/// # Errors
/// When the options cannot work.
pub fn inspect(conversation: &Conversation, request: &CompactRequest) -> Result<Inspection, Error> {
    let OpenThread {
        thread, counter, ..
    } = open_thread(conversation, request)?;
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
        tokens: size.request,
        fixed_tokens: size.fixed,
        reported_tokens: size.reported.then_some(size.tokens),
        roles: roles(conversation.views(), &by_message),
        tools: tools(conversation, &thread, counter.as_ref()),
        largest_results: largest(conversation, &thread),
        pairing_faults: faults(&thread),
        largest_messages: largest_messages(conversation, &by_message, &policy.redact),
        triggers: policy
            .triggers
            .iter()
            .map(|threshold| TriggerState {
                tokens: threshold.tokens,
                messages: threshold.messages,
                reached: size.reaches(threshold, policy.reached),
            })
            .collect(),
        triggered: thread.is_triggered(&size),
        triggers_at_message: first_trigger(&thread, src),
        window: policy.window,
        window_source: policy.window_source,
        output_reserve: policy.output_reserve,
        by_message,
    })
}

fn roles(views: &[MessageView], by_message: &[u64]) -> Vec<Share> {
    let names = ["system", "user", "assistant", "tool"];
    let share = |name: &&str| {
        let of_role = views
            .iter()
            .zip(by_message)
            .filter(|(view, _)| role_name(view) == *name);
        let (count, tokens) = of_role.fold((0, 0), |(n, sum), (_, t)| (n + 1, sum + t));
        Share {
            name: (*name).to_owned(),
            count,
            tokens,
        }
    };
    names.iter().map(share).filter(|s| s.count > 0).collect()
}

fn largest_messages(
    conversation: &Conversation,
    by_message: &[u64],
    redactor: &Redactor,
) -> Vec<LargeMessage> {
    let mut order: Vec<usize> = (0..by_message.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(by_message[*at]), *at));
    let large = |at: usize| {
        let view = &conversation.views()[at];
        LargeMessage {
            message: at,
            role: role_name(view),
            tokens: by_message[at],
            begins: begins(conversation, view, redactor),
        }
    };
    order.into_iter().take(LISTED).map(large).collect()
}

fn tools(conversation: &Conversation, thread: &Thread, counter: &dyn TokenCounter) -> Vec<Share> {
    let mut shares: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let branch = thread.branch();
    let part_weight = |at: usize, part: usize| -> u64 {
        let view = branch.view(at);
        let text = |part| {
            counter.text(&conversation.text(PartRef {
                message: view.handle,
                part,
            }))
        };
        parts_of(view, part).map(text).sum()
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
            let chars = chars_of(conversation, view, *part);
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
    out.truncate(LISTED);
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
