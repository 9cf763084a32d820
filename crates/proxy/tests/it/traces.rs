//! Calls of upstreams as spans.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Mutex;

use conspectus::Format;
use conspectus_testkit::server::Step;
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

use crate::compaction::Client;
use crate::support::{Rig, window};

/// The fields of a span.
#[derive(Clone, Debug, Default)]
struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}

/// Spans that ended, of the whole process: other tests have other models.
static ENDED: Mutex<Vec<Fields>> = Mutex::new(Vec::new());

struct Kept;

impl<S: Subscriber + for<'l> LookupSpan<'l>> Layer<S> for Kept {
    fn on_new_span(&self, of: &Attributes<'_>, id: &Id, ctx: Context<'_, S>) {
        let mut fields = Fields::default();
        of.record(&mut fields);
        if let Some(span) = ctx.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, ctx: Context<'_, S>) {
        if let Some(span) = ctx.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_close(&self, id: Id, ctx: Context<'_, S>) {
        if let Some(span) = ctx.span(&id)
            && let Some(fields) = span.extensions().get::<Fields>()
        {
            ENDED.lock().expect("nobody panics").push(fields.clone());
        }
    }
}

#[test]
fn a_call_is_a_span_that_says_whether_the_conversation_was_compacted() {
    let all = tracing_subscriber::registry().with(Kept);
    tracing::subscriber::set_global_default(all).expect("nobody else listens");
    let mut rig = Rig::with(
        |nth, asked| {
            let tokens = asked.body.len() / 4;
            let reply = format!(
                r#"{{"choices":[{{"index":0,"message":{{"role":"assistant","content":"fine"}}}}],"usage":{{"prompt_tokens":{tokens},"completion_tokens":1}}}}"#
            );
            let status = if nth == 3 { 429 } else { 200 };
            Step::answer(status, &[("content-type", "application/json")], &reply)
        },
        |s| s.options = window(6_000),
    );
    let mut client = Client::new(Format::OpenAi);
    for _ in 0..40 {
        client.asks();
        let body = client
            .body()
            .replace(r#""model":"m""#, r#""model":"traced""#);
        let key = [("authorization", "Bearer made-up-key")];
        rig.post(client.path(), &key, &body);
        client.is_told();
    }
    rig.stop();
    let ended: Vec<Fields> = ENDED.lock().expect("nobody panics").clone();
    let of_call = |fields: &&Fields| {
        fields
            .0
            .get("otel.name")
            .is_some_and(|n| n == "chat traced")
    };
    let calls: Vec<&Fields> = ended.iter().filter(of_call).collect();
    assert_eq!(calls.len(), 40);
    let count = |name: &str, value: &str| {
        let has = |call: &&&Fields| call.0.get(name).is_some_and(|found| found == value);
        calls.iter().filter(has).count()
    };
    assert_eq!(count("otel.kind", "client"), 40);
    assert_eq!(count("gen_ai.provider.name", "openai"), 40);
    assert_eq!(
        count(
            "server.address",
            rig.upstream.url().trim_start_matches("http://")
        ),
        40
    );
    assert_eq!(count("error.type", "429"), 1);
    let (yes, no) = (
        count("gen_ai.conversation.compacted", "true"),
        count("gen_ai.conversation.compacted", "false"),
    );
    assert!(yes >= 5 && no > 10 && yes + no == 40, "{yes} {no}");
    let told = format!("{ended:?}");
    for said in ["made-up-key", "lantern", "Be brief"] {
        assert!(!told.contains(said), "{said}");
    }
}
