//! Inspect's logs: samples with chat messages.
//!
//! Long texts stand beside the messages, once, under `attachments`; a message names one as `attachment://` and its
//! hash, and is read with the text itself. The last reply's usage is that of the sample's output.

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus_core::id::Ident;
use conspectus_core::view::{PartKind, Usage};

use crate::conversation::{Conversation, TextAt};
use crate::document::OpenOptions;
use crate::error::{Fault, ReadError};
use crate::format::Format;
use crate::json::{Kind, Object, Span, string};
use crate::log::{Log, Reading, file_as_text, unknown};
use crate::openai::OpenAi;
use crate::source::Source;

/// The format.
pub(crate) struct Inspect;

/// How a reference to an attachment begins.
const REFERENCE: &str = "attachment://";

impl Log for Inspect {
    fn format(&self) -> Format {
        Format::Inspect
    }

    fn read(
        &self,
        source: &Arc<Source>,
        options: &OpenOptions,
    ) -> Result<(Vec<Conversation>, Vec<Fault>), ReadError> {
        let (records, mut faults) = file_as_text(source, options.lenient)?;
        let text = source.text();
        let mut out = Vec::new();
        for span in records {
            let record = Object::of(span.text(text)).unwrap_or_default();
            let samples = match record.array("samples") {
                Some(samples) => samples.0,
                // A sample by itself.
                None => vec![span.text(text)],
            };
            for sample in samples {
                let sample = Object::of(sample).unwrap_or_default();
                if sample.array("messages").is_some() {
                    let mut reading = one(source, &sample, out.len());
                    faults.append(&mut reading.faults);
                    out.push(reading.conversation);
                }
            }
        }
        match out.is_empty() {
            true => Err(unknown(source)),
            false => Ok((out, faults)),
        }
    }
}

fn one<'a>(source: &'a Arc<Source>, sample: &Object<'a>, index: usize) -> Reading<'a> {
    let text = source.text();
    let id = sample.value("id").map(|id| match Kind::of(id) {
        Kind::String => string::decode(id).into_owned(),
        _ => id.to_owned(),
    });
    let mut reading = Reading::new(source, id.unwrap_or_else(|| index.to_string()));
    let attachments = sample.object("attachments").unwrap_or_default();
    let attachments: BTreeMap<&str, Span> = attachments
        .members
        .iter()
        .filter(|member| Kind::of(member.value) == Kind::String)
        .map(|member| (member.key.as_ref(), Span::of(text, member.value)))
        .collect();
    for json in sample.array("messages").unwrap_or_default().0 {
        reading.add_as(&OpenAi, Span::of(text, json));
        resolve(&mut reading, &attachments);
    }
    if let Some(usage) = sample.object("output").and_then(|output| usage(&output))
        && let Some(view) = reading.newest_reply()
    {
        view.usage = Some(usage);
    }
    reading
}

/// The newest message with the texts that it refers to.
fn resolve(reading: &mut Reading<'_>, attachments: &BTreeMap<&str, Span>) {
    let source = reading.text();
    let conversation = &mut reading.conversation;
    let (Some(view), Some(message)) = (
        conversation.views.last_mut(),
        conversation.messages.last_mut(),
    ) else {
        return;
    };
    for (part, place) in view.parts.iter_mut().zip(&mut message.parts) {
        let TextAt::String(span) = place.text else {
            continue;
        };
        if matches!(part.kind, PartKind::Opaque { .. }) {
            continue;
        }
        let reference = string::decode(span.text(source));
        let there = reference.strip_prefix(REFERENCE);
        if let Some(at) = there.and_then(|hash| attachments.get(hash)) {
            let said = string::decode(at.text(source));
            place.text = TextAt::String(*at);
            part.len = u32::try_from(said.len()).unwrap_or(u32::MAX);
            view.ident = view.ident.then(Ident::of(&said));
        }
    }
}

fn usage(output: &Object<'_>) -> Option<Usage> {
    let usage = output.object("usage")?;
    let number = |key: &str| usage.number(key).unwrap_or(0);
    let (cache_read, cache_write) = (
        number("input_tokens_cache_read"),
        number("input_tokens_cache_write"),
    );
    let usage = Usage {
        input: number("input_tokens")
            .saturating_add(cache_read)
            .saturating_add(cache_write),
        output: number("output_tokens"),
        cache_read,
        cache_write,
        reported_total: usage.number("total_tokens"),
        provider: None,
    };
    (usage.input > 0).then_some(usage)
}

/// Whether a file is a log with samples, or one sample.
pub(crate) fn is_it<'a>(mut records: impl Iterator<Item = &'a str>) -> bool {
    let record = records.next().and_then(Object::of).unwrap_or_default();
    let has = |key: &str| record.get(key).is_some();
    let samples = record.array("samples").unwrap_or_default();
    let first = samples.0.first().copied().and_then(Object::of);
    let is_sample = |sample: &Object<'_>| sample.array("messages").is_some();
    (has("eval") && first.is_some_and(|sample| is_sample(&sample)))
        || (is_sample(&record) && has("epoch") && has("target"))
}
