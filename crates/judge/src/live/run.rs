//! One compaction by a real model.

use std::sync::Arc;

use conspectus::core::count::counter_for;
use conspectus::core::effect::{Event, Route};
use conspectus::core::policy::{KeepOption, ToolResults, TriggerOption};
use conspectus::core::policy::{ModelProfile, Rolling};
use conspectus::core::record::{Author, Record};
use conspectus::core::thread::Fixed;
use conspectus::{
    ChatModel, Compactor, Control, Conversation, Decision, Manual, Models, Options, Outcome,
    Policy, Report, Shared, Sources, Surroundings, Thread,
};
use conspectus_providers::{AnthropicMessages, Endpoint, OpenAiChat, TokioClock};

use super::watched::{Asked, Watched};

/// Which model, and what it is asked for.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The base URL of an OpenAI-compatible server.
    pub base_url: String,
    /// The model's name there.
    pub model: String,
    /// The server is spoken to as Anthropic's, not as OpenAI's.
    pub anthropic: bool,
    /// It can be held to a JSON schema.
    pub takes_schema: bool,
    /// The largest request it takes.
    pub max_input: u64,
    /// The most it writes in one reply.
    pub max_output: u64,
    /// The summary's cap.
    pub max_summary_tokens: u64,
    /// Further tries.
    pub max_retries: u32,
    /// The time for one call.
    pub call_timeout_ms: u64,
    /// What becomes of the summary so far.
    pub rolling: Rolling,
}

impl Setup {
    /// For a small model on a slow machine.
    pub fn new(base_url: &str, model: &str) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            anthropic: false,
            takes_schema: false,
            max_input: 4_500,
            max_output: 500,
            max_summary_tokens: 500,
            max_retries: 1,
            call_timeout_ms: 300_000,
            rolling: Rolling::default(),
        }
    }

    pub(super) fn options(&self) -> Options {
        Options {
            trigger: TriggerOption::Never,
            keep: Some(KeepOption::Messages(2)),
            tool_results: Some(ToolResults::Excerpt),
            rolling: Some(self.rolling),
            max_summary_tokens: Some(self.max_summary_tokens),
            max_retries: Some(self.max_retries),
            call_timeout_ms: Some(self.call_timeout_ms),
            deadline_ms: Some(self.call_timeout_ms.saturating_mul(4)),
            max_parallel: Some(1),
            max_context: Some(100_000),
            ..Options::default()
        }
    }

    pub(super) fn manual(&self) -> Manual {
        Manual {
            routes: vec![Route {
                model: None,
                replay: false,
                max_input: self.max_input,
                max_output: self.max_output,
                takes_schema: self.takes_schema,
            }],
            ..Manual::default()
        }
    }

    /// The model, watched, and a compactor that has it.
    pub(super) fn compactor(&self) -> anyhow::Result<(Arc<Watched>, Compactor<TokioClock>)> {
        let mut endpoint = Endpoint::new(&self.base_url, &self.model);
        endpoint.timeouts.first_byte_ms = self.call_timeout_ms;
        endpoint.fields.insert("temperature".into(), 0.into());
        let clock = TokioClock::new();
        let model: Arc<dyn ChatModel> = if self.anthropic {
            Arc::new(AnthropicMessages::new(&endpoint)?)
        } else {
            Arc::new(OpenAiChat::new(&endpoint)?)
        };
        let model = Arc::new(Watched::new(model, clock));
        let asked: Arc<dyn ChatModel> = model.clone();
        let models = Models::new().with_run::<String>(Ok(asked));
        Ok((model, Compactor::new(models, clock)))
    }
}

/// What one compaction came to.
#[derive(Debug)]
pub struct Ran {
    /// Messages that there were.
    pub messages: usize,
    /// How it ended.
    pub report: Report,
    /// What was committed.
    pub record: Option<Arc<Record>>,
    /// The calls.
    pub asked: Vec<Asked>,
}

impl Ran {
    /// A summary stands, whoever wrote it, the request is smaller, and nothing that the core's own check refuses
    /// got in.
    pub fn is_good(&self) -> bool {
        let measured = self.report.measured;
        let smaller = measured
            .tokens_after
            .is_some_and(|n| n < measured.tokens_before);
        let by_model = self
            .record
            .as_ref()
            .and_then(|r| r.summary.as_ref())
            .is_some_and(|s| matches!(s.author, Author::Model(_)));
        let was_accepted = self
            .asked
            .iter()
            .any(|a| a.answer.is_ok() && a.refused.is_none());
        self.report.outcome == Outcome::Compacted && smaller && (!by_model || was_accepted)
    }
}

/// Compacts the first messages of a conversation, `max_tokens` of them, by a real model.
///
/// # Errors
/// When the options cannot work or the model cannot be made.
pub async fn end_to_end(
    conversation: &Conversation,
    max_tokens: u64,
    setup: &Setup,
) -> anyhow::Result<Ran> {
    let (model, compactor) = setup.compactor()?;
    let policy = Policy::resolve(&setup.options(), &ModelProfile::default())?.policy;
    let counter = counter_for(policy.counter);
    let src = Sources {
        texts: conversation,
        counter: counter.as_ref(),
    };
    let mut thread = Thread::new(Arc::new(policy));
    let fixed = conversation.fixed();
    thread.set_fixed(Fixed::of(
        [fixed.system.as_str(), fixed.tools.as_str()],
        counter.as_ref(),
    ));
    let mut tokens = 0;
    for view in conversation.views() {
        let more = counter.tokens(counter.message(view, conversation));
        if tokens + more > max_tokens && tokens > 0 {
            break;
        }
        tokens += more;
        thread.append([view.clone()], src);
    }
    let messages = thread.branch().len();
    let (report, thread) = once(&compactor, thread, conversation, setup).await;
    Ok(Ran {
        messages,
        report,
        record: thread.active().cloned(),
        asked: model.take(),
    })
}

/// One attempt.
pub(super) async fn once(
    compactor: &Compactor<TokioClock>,
    mut thread: Thread,
    conversation: &Conversation,
    setup: &Setup,
) -> (Report, Thread) {
    let counter = counter_for(thread.policy().counter);
    let src = Sources {
        texts: conversation,
        counter: counter.as_ref(),
    };
    match thread.manual(0, &setup.manual(), src) {
        Decision::Send(report) => (report, thread),
        Decision::Start(attempt, _) => {
            let home = Shared::new(thread, conversation, counter.as_ref());
            let report = compactor
                .run(&home, *attempt, &Quiet, &Control::new())
                .await;
            (report, home.into_thread())
        }
        Decision::Wait(_) => unreachable!("no other attempt is under way"),
    }
}

struct Quiet;

impl Surroundings for Quiet {
    fn emit(&self, _: &Event) {}
}
