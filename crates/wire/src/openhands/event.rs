//! One event.

use conspectus_core::id::CallId;
use conspectus_core::view::{MediaKind, PartKind, Role, Usage};

use crate::conversation::{Home, TextAt};
use crate::json::{Kind, Object, Span, string};
use crate::log::Reading;

/// What the agent and its runtime tell each other.
const SILENT: [&str; 5] = [
    "agent_state_changed",
    "change_agent_state",
    "condensation",
    "condensation_request",
    "null",
];

/// An event, taken apart.
pub(super) struct Event<'a> {
    span: Span,
    /// Its number.
    pub(super) id: Option<u64>,
    kind: Kindred,
    name: String,
    event: Object<'a>,
    /// `args`, or the event itself in flat files.
    args: Object<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kindred {
    Action,
    Observation,
    Other,
}

/// What a condensation says.
pub(super) struct Forgotten {
    pub(super) ids: Vec<u64>,
    pub(super) range: Option<(u64, u64)>,
    pub(super) offset: usize,
    pub(super) has_summary: bool,
}

impl<'a> Event<'a> {
    pub(super) fn of(text: &'a str, span: Span) -> Self {
        let event = Object::of(span.text(text)).unwrap_or_default();
        let (kind, name) = match (event.string("observation"), event.string("action")) {
            (Some(name), _) if event.get("content").is_some() || event.get("extras").is_some() => {
                (Kindred::Observation, name)
            }
            (_, Some(name)) => (Kindred::Action, name),
            (Some(name), None) => (Kindred::Observation, name),
            (None, None) => (Kindred::Other, "".into()),
        };
        let args = event.object("args").unwrap_or_else(|| event.clone());
        Self {
            span,
            id: event.number("id"),
            kind,
            name: name.into_owned(),
            args,
            event,
        }
    }

    /// What it forgot, if it is a condensation.
    pub(super) fn condensation(&self) -> Option<Forgotten> {
        if self.kind != Kindred::Action || self.name != "condensation" {
            return None;
        }
        let number = |key: &str| self.args.number(key);
        let range = number("forgotten_events_start_id").zip(number("forgotten_events_end_id"));
        let ids = self.args.array("forgotten_event_ids").unwrap_or_default();
        Some(Forgotten {
            ids: ids.0.iter().filter_map(|id| id.parse().ok()).collect(),
            range: range.filter(|(start, end)| start <= end),
            offset: usize::try_from(number("summary_offset").unwrap_or(0)).unwrap_or(usize::MAX),
            has_summary: self.args.string("summary").is_some_and(|s| !s.is_empty()),
        })
    }

    /// The tool definitions that came with the system prompt.
    pub(super) fn tools(&self) -> Option<&'a str> {
        let is_system = self.kind == Kindred::Action && self.name == "system";
        self.args.value("tools").filter(|_| is_system)
    }

    /// What came back when knowledge was recalled; to the model it is told like a user's message.
    pub(super) fn is_recollection(&self) -> bool {
        self.kind == Kindred::Observation && self.name == "recall"
    }

    /// Adds the condensation's summary.
    pub(super) fn add_summary(&self, reading: &mut Reading<'_>) {
        let summary = self.args.value("summary");
        let view = reading.add(self.span, Role::User, |builder| builder.said(summary));
        if let Some(view) = view {
            view.flags.summary = true;
        }
    }

    /// Adds what the model sees of it.
    pub(super) fn add(&self, reading: &mut Reading<'_>) {
        if SILENT.contains(&self.name.as_str()) {
            return;
        }
        match (self.kind, self.name.as_str()) {
            (Kindred::Action, "message") => self.message(reading),
            (Kindred::Action, "system") => {
                let said = self.args.value("content");
                reading.add(self.span, Role::System, |builder| builder.said(said));
            }
            // Asks for knowledge; what comes back is seen.
            (Kindred::Action, "recall") => {}
            (Kindred::Action, _) => self.call(reading),
            (Kindred::Observation, _) if self.is_recollection() => {
                let said = self.event.value("content");
                let view = reading.add(self.span, Role::User, |builder| builder.said(said));
                if let Some(view) = view {
                    view.flags.hidden = true;
                }
            }
            (Kindred::Observation, _) => self.result(reading),
            (Kindred::Other, _) => reading.add_unknown(self.span, "event"),
        }
    }

    fn message(&self, reading: &mut Reading<'_>) {
        let role = match self.event.string("source").as_deref() {
            Some("agent") => Role::Assistant,
            _ => Role::User,
        };
        let said = self
            .args
            .value("content")
            .or_else(|| self.event.value("message"));
        let images = self.args.array("image_urls").unwrap_or_default().0;
        let view = reading.add(self.span, role, |builder| {
            builder.said(said)?;
            for image in images {
                builder.text_of(PartKind::Media(MediaKind::Image), image);
            }
            Ok(())
        });
        if let Some(view) = view.filter(|_| role == Role::Assistant) {
            view.usage = self.usage();
        }
    }

    /// Its thought as text, and the call. Its id is the event's: those of providers repeat in some files.
    fn call(&self, reading: &mut Reading<'_>) {
        let meta = self.event.object("tool_call_metadata").unwrap_or_default();
        let tool = meta.string("function_name");
        let kind = PartKind::Call {
            id: CallId::from(
                self.id
                    .map(|id| id.to_string())
                    .unwrap_or_default()
                    .as_str(),
            ),
            tool: tool.as_deref().unwrap_or(&self.name).into(),
        };
        let thought = self.args.value("thought");
        let thought = thought.filter(|t| Kind::of(t) == Kind::String && *t != "\"\"");
        let is_agents = self.event.string("source").as_deref() != Some("user");
        let arguments = match self.event.value("args") {
            Some(args) => Span::of(reading.text(), args),
            None => self.span,
        };
        // A call of the person's own (a command typed in) is answered all the same.
        let view = reading.add(self.span, Role::Assistant, |builder| {
            builder.said(thought.filter(|_| is_agents && self.name != "think"))?;
            builder.push(kind, TextAt::Json(arguments), arguments, Home::Whole);
            Ok(())
        });
        if let Some(view) = view {
            view.usage = self.usage();
        }
    }

    fn result(&self, reading: &mut Reading<'_>) {
        let cause = self
            .event
            .value("cause")
            .map(|cause| match Kind::of(cause) {
                Kind::String => string::decode(cause).into_owned(),
                _ => cause.to_owned(),
            });
        let meta = self.event.object("tool_call_metadata").unwrap_or_default();
        let tool = meta.string("function_name");
        let extras = self.event.object("extras").unwrap_or_default();
        let code = extras
            .object("metadata")
            .and_then(|metadata| metadata.number("exit_code"))
            .or_else(|| extras.number("exit_code"));
        let kind = PartKind::Result {
            id: CallId::from(cause.unwrap_or_default().as_str()),
            tool: Some(tool.as_deref().unwrap_or(&self.name).into()),
            error: self.name == "error" || code.is_some_and(|code| code != 0),
        };
        let said = self.event.value("content");
        let screenshot = extras
            .value("screenshot")
            .filter(|image| string::decode(image).starts_with("data:"));
        reading.add(self.span, Role::Tool, |builder| {
            builder.result_of(kind, said)?;
            if let Some(image) = screenshot {
                let span = builder.span(image);
                let media = PartKind::Media(MediaKind::Image);
                builder.push_inside(media, TextAt::String(span), span, Home::Whole, Some(0));
            }
            Ok(())
        });
    }

    /// As the provider reported it, in the reply that the event came of.
    fn usage(&self) -> Option<Usage> {
        let meta = self.event.object("tool_call_metadata")?;
        let usage = meta.object("model_response")?.object("usage")?;
        let details = usage.object("prompt_tokens_details").unwrap_or_default();
        let usage = Usage {
            input: usage.number("prompt_tokens")?,
            output: usage.number("completion_tokens").unwrap_or(0),
            cache_read: details.number("cached_tokens").unwrap_or(0),
            cache_write: 0,
            reported_total: usage.number("total_tokens"),
            provider: None,
        };
        (usage.input > 0).then_some(usage)
    }
}
