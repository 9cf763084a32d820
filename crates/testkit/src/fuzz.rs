//! What fuzzing checks: one function a target, any bytes in, a panic when something does not hold.
//!
//! The programs in `fuzz/` hand them what the fuzzer finds; `tests/it/fuzz.rs` runs the same functions over the
//! committed corpus and over [`mutated`] copies of it, so that they also hold on every commit.

mod answer;

use std::sync::Arc;

use conspectus::{CompactRequest, Embedded, compact};
use conspectus_config::{Config, Overrides, TriggerArg, parse_keep, parse_preset, parse_trigger};
use conspectus_core::frame;
use conspectus_core::patch::{Patch, PatchCause, Site};
use conspectus_core::policy::{KeepOption, ModelProfile, Options, Placement, PruneOption};
use conspectus_core::projection::{Piece, Projection};
use conspectus_core::view::{MessageView, PartKind, PartRef, Texts};
use conspectus_wire::json::{
    Array, Kind, Object, Span, Splices, compact as compacted, depth, string,
};
use conspectus_wire::{
    Conversation, Document, Format, OpenOptions, RenderContext, Target as Form, valid,
};

use crate::rng::Rng;
pub use answer::answer;

/// A target: its name, which is also that of its corpus, and what it does.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 19] = [
    ("openai", openai),
    ("anthropic", anthropic),
    ("langchain", langchain),
    ("claude", claude),
    ("gemini", gemini),
    ("gemini_cli", gemini_cli),
    ("copilot", copilot),
    ("cline", cline),
    ("pi", pi),
    ("openhands", openhands),
    ("swe_agent", swe_agent),
    ("inspect", inspect),
    ("goose", goose),
    ("neutral", neutral),
    ("detect", detect),
    ("splice", splice),
    ("config", config),
    ("frame", frame_target),
    ("answer", answer),
];

/// Nothing larger is tried: size has tests of its own.
const MAX_BYTES: usize = 1 << 20;

/// A value that no message may repeat.
const SECRET: &str = "sk-Zx81fuzzsecretfuzzsecret99";

/// The reader and writer of OpenAI's chat format.
pub fn openai(data: &[u8]) {
    format(data, Some(Format::OpenAi));
}

/// The reader and writer of Anthropic's messages.
pub fn anthropic(data: &[u8]) {
    format(data, Some(Format::Anthropic));
}

/// The reader and writer of LangChain's messages.
pub fn langchain(data: &[u8]) {
    format(data, Some(Format::LangChain));
}

/// The reader and writer of Claude Code's sessions.
pub fn claude(data: &[u8]) {
    format(data, Some(Format::Claude));
}

/// The reader and writer of requests to Gemini.
pub fn gemini(data: &[u8]) {
    format(data, Some(Format::Gemini));
}

/// The reader of Gemini CLI's chats.
pub fn gemini_cli(data: &[u8]) {
    format(data, Some(Format::GeminiCli));
}

/// The reader of Copilot CLI's sessions.
pub fn copilot(data: &[u8]) {
    format(data, Some(Format::Copilot));
}

/// The reader and writer of Cline's sessions.
pub fn cline(data: &[u8]) {
    format(data, Some(Format::Cline));
}

/// The reader of pi's sessions.
pub fn pi(data: &[u8]) {
    format(data, Some(Format::Pi));
}

/// The reader of OpenHands' events.
pub fn openhands(data: &[u8]) {
    format(data, Some(Format::OpenHands));
}

/// The reader of SWE-agent's trajectories.
pub fn swe_agent(data: &[u8]) {
    format(data, Some(Format::SweAgent));
}

/// The reader of Inspect's logs.
pub fn inspect(data: &[u8]) {
    format(data, Some(Format::Inspect));
}

/// The reader of goose's sessions.
pub fn goose(data: &[u8]) {
    format(data, Some(Format::Goose));
}

/// The reader and writer of our own form.
pub fn neutral(data: &[u8]) {
    format(data, Some(Format::Neutral));
}

/// Finding the format by content.
pub fn detect(data: &[u8]) {
    format(data, None);
}

fn format(data: &[u8], format: Option<Format>) {
    if data.len() > MAX_BYTES {
        return;
    }
    let mut is_done = false;
    for lenient in [false, true] {
        let options = OpenOptions { format, lenient };
        match Document::open(data.to_vec(), &options) {
            // What is readable strictly is the same file leniently.
            Ok(document) if is_done => assert_eq!(document.bytes(), data),
            Ok(document) => {
                file(data, &document, lenient);
                is_done = true;
            }
            Err(error) => {
                assert!(!is_done, "a lenient reader refuses less: {error}");
                let again = Document::open(data.to_vec(), &options).err();
                let again = again.as_ref();
                assert_eq!(Some(&error), again, "the same bytes, the same answer");
                assert!(error.to_string().len() < 1_000, "a short message: {error}");
            }
        }
    }
}

/// Everything that holds for a file that was read.
fn file(data: &[u8], document: &Document, lenient: bool) {
    assert_eq!(document.bytes(), data);
    let context = RenderContext::default();
    let rendered = document.render(&[], &context).expect("no edit");
    assert!(rendered == data, "without an edit, the same bytes");
    let _ = valid::check(document.format(), data);
    for (at, conversation) in document.conversations().iter().enumerate() {
        for view in conversation.views() {
            parts(view, conversation);
        }
        let whole = script(conversation.views().iter().map(|v| Piece::Keep(v.handle)));
        let same = document
            .render(&[(at, &whole)], &context)
            .expect("keeps all");
        assert!(
            same == data || document.format() == Format::Claude,
            "all kept, the same bytes"
        );
        let cut = script(conversation.views().iter().map(|v| halved(v, conversation)));
        read_again(document, at, &cut, lenient);
        compaction(document, at, conversation, lenient);
    }
}

fn parts(view: &MessageView, texts: &dyn Texts) {
    for (index, part) in view.parts.iter().enumerate() {
        let Ok(index) = u16::try_from(index) else {
            break;
        };
        let at = PartRef {
            message: view.handle,
            part: index,
        };
        let text = texts.text(at);
        let _ = texts.json(at);
        if matches!(part.kind, PartKind::Text) {
            assert_eq!(part.len as usize, text.len(), "{:?}", part.kind);
        }
    }
}

/// The message with the middle of its first text or result left out.
fn halved(view: &MessageView, texts: &dyn Texts) -> Piece {
    let is_text = |kind: &PartKind| matches!(kind, PartKind::Text | PartKind::Result { .. });
    let found = view.parts.iter().position(|part| is_text(&part.kind));
    let Some(part) = found.and_then(|part| u16::try_from(part).ok()) else {
        return Piece::Keep(view.handle);
    };
    let text = texts.text(PartRef {
        message: view.handle,
        part,
    });
    let start = text.floor_char_boundary(text.len() / 4);
    let end = text.floor_char_boundary(text.len() / 4 * 3).max(start);
    let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end)) else {
        return Piece::Keep(view.handle);
    };
    let patch = Patch::Cut {
        part,
        site: Site::Text,
        range: start..end,
        marker: "[\"cut\"]".into(),
        cause: PatchCause::Oversized,
    };
    Piece::Edit(view.handle, [patch].into_iter().collect())
}

fn script(pieces: impl Iterator<Item = Piece>) -> Projection {
    Projection {
        frozen: Arc::default(),
        tail: Arc::new(pieces.collect()),
    }
}

/// What is written is read again, as the same format and as many conversations; a log in the forms that it is
/// converted to.
fn read_again(document: &Document, at: usize, projection: &Projection, lenient: bool) {
    let edits = [(at, projection)];
    if document.format().is_written_in_place() {
        let rendered = document.render(&edits, &RenderContext::default());
        let bytes = rendered.expect("handles of this file");
        read_as(document, bytes, document.format(), lenient);
    }
    let is_small = document.bytes().len() < 10_000;
    if is_small && !document.conversations().is_empty() {
        for target in [Form::OpenAi, Form::Neutral] {
            // Goes on from a history that only the server has.
            if let Ok(bytes) = document.convert(&edits, target) {
                read_as(document, bytes, target.format(), false);
            }
        }
    }
}

fn read_as(document: &Document, bytes: Vec<u8>, format: Format, lenient: bool) {
    let options = OpenOptions {
        format: Some(format),
        lenient: true,
    };
    let again = Document::open(bytes.clone(), &options);
    let again = again.unwrap_or_else(|e| panic!("{e} in {}", String::from_utf8_lossy(&bytes)));
    assert_eq!(
        again.conversations().len(),
        document.conversations().len(),
        "{}",
        String::from_utf8_lossy(&bytes)
    );
    let strict = OpenOptions {
        lenient: false,
        ..options
    };
    let is_readable = Document::open(bytes, &strict).is_ok();
    assert!(lenient || is_readable, "what was readable stays so");
}

/// A compaction that folds and shortens as much as it may.
fn compaction(document: &Document, at: usize, conversation: &Conversation, lenient: bool) {
    let mut request = CompactRequest::command(Options {
        keep: Some(KeepOption::Messages(1)),
        prune: PruneOption {
            max_result_chars: Some(40),
            max_argument_chars: Some(20),
            ..PruneOption::default()
        },
        ..Options::default()
    });
    for below_keep in [false, true] {
        request.manual.below_keep = below_keep;
        let compaction = compact(conversation, &request, &mut Embedded::default());
        let compaction = compaction.expect("the options work");
        if compaction.is_change() {
            let before = compaction.report.measured.tokens_before;
            let after = compaction.report.measured.tokens_after;
            assert!(
                after.is_none_or(|after| after <= before),
                "{before} -> {after:?}"
            );
        }
        read_again(document, at, &compaction.projection(), lenient);
    }
}

/// JSON in place: listing, decoding, cutting and splicing. The first byte picks what is taken out.
pub fn splice(data: &[u8]) {
    let (Some((pick, rest)), true) = (data.split_first(), data.len() <= MAX_BYTES) else {
        return;
    };
    let Ok(source) = std::str::from_utf8(rest) else {
        return;
    };
    let pick = usize::from(*pick);
    let _ = depth(source);
    let json = source.trim_matches([' ', '\t', '\r', '\n']);
    if serde_json::from_str::<&serde_json::value::RawValue>(json).is_err() {
        return;
    }
    let deep = depth(json) > 100;
    let same = |a: &str, b: &str| {
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text);
        match (value(a), value(b)) {
            (Ok(a), Ok(b)) => assert_eq!(a, b),
            // A lone surrogate, a number out of range, or levels without end: nothing to compare.
            (a, b) => assert_eq!(a.is_ok(), b.is_ok() && a.is_ok()),
        }
    };
    if !deep {
        same(json, &compacted(json));
    }
    match Kind::of(json) {
        Kind::Object => {
            let object = Object::parse(json).expect("well-formed");
            let spans = object.members.iter().map(|m| Span::of(json, m.value));
            taken_out(
                json,
                &spans.collect::<Vec<_>>(),
                pick,
                Splices::remove_members,
                |left| Object::parse(left).map(|o| o.members.len()).ok(),
            );
        }
        Kind::Array => {
            let array = Array::of(json).expect("well-formed");
            let spans = array
                .0
                .iter()
                .map(|e| Span::of(json, e))
                .collect::<Vec<_>>();
            taken_out(json, &spans, pick, Splices::remove_elements, |left| {
                Array::of(left).map(|a| a.0.len())
            });
        }
        Kind::String => literal(json, pick),
        _ => {}
    }
}

/// Takes some of the values out; what is left is well-formed and has as many fewer.
fn taken_out(
    json: &str,
    spans: &[Span],
    pick: usize,
    remove: impl Fn(&mut Splices, &str, Span, &std::collections::BTreeSet<Span>),
    count: impl Fn(&str) -> Option<usize>,
) {
    let gone = spans
        .iter()
        .enumerate()
        .filter(|(at, _)| (pick >> (at % 8)) & 1 == 1)
        .map(|(_, span)| *span)
        .collect();
    let whole = Span::new(0, json.len());
    let mut splices = Splices::new();
    remove(&mut splices, json, whole, &gone);
    let left = splices.apply(json, whole);
    assert_eq!(
        count(&left),
        Some(spans.len() - gone.len()),
        "{json} -> {left}"
    );
    // Every value replaced by a number.
    let mut splices = Splices::new();
    spans.iter().for_each(|span| splices.replace(*span, "0"));
    let left = splices.apply(json, whole);
    assert_eq!(count(&left), Some(spans.len()), "{json} -> {left}");
}

fn literal(json: &str, pick: usize) {
    let text = string::decode(json);
    assert_eq!(string::decode(&string::encode(&text)), text);
    let start = text.floor_char_boundary(text.len() * (pick % 16) / 16);
    let end = text
        .floor_char_boundary(text.len() * (pick / 16) / 16)
        .max(start);
    if let Some(cut) = string::cut(json, start..end, "[m]") {
        let expect = [&text[..start], "[m]", &text[end..]].concat();
        assert_eq!(string::decode(&cut), expect, "{json} {start}..{end}");
        let whole: Result<&serde_json::value::RawValue, _> = serde_json::from_str(&cut);
        assert!(whole.is_ok(), "{cut}");
    }
    if let Some(range) = string::locate(json, start..end) {
        assert!(json.get(range).is_some(), "on characters of the source");
    }
}

/// The configuration file, the flags' values and the environment's.
pub fn config(data: &[u8]) {
    if data.len() > MAX_BYTES {
        return;
    }
    let text = String::from_utf8_lossy(data);
    let _ = parse_keep(&text).map_err(|e| short(&e.to_string()));
    let _ = parse_preset(&text).map_err(|e| short(&e.to_string()));
    let trigger: Result<TriggerArg, _> = parse_trigger(&text).map_err(|e| short(&e.to_string()));
    for option in ["TRIGGER", "KEEP", "PRUNE", "MAX_RETRIES", "SUMMARY_PROMPT"] {
        let name = format!("CONSPECTUS_SUMMARIZATION_{option}");
        if let Err(error) = Config::default().with_environment([(&name, &*text)]) {
            let error = error.to_string();
            assert!(error.starts_with(&name), "{error}");
            short(&error);
        }
    }
    let config = match Config::load("config.yaml", &text) {
        Ok(config) => config,
        Err(error) => return short(&error.to_string()),
    };
    config.warnings().iter().for_each(|w| short(&w.to_string()));
    assert!(!format!("{:?}", config.models()).contains(SECRET) || is_named(&config));
    let flags = Overrides {
        trigger: trigger.into_iter().collect(),
        ..Overrides::default()
    };
    let profile = ModelProfile {
        name: Some("m".into()),
        window: Some(100_000),
        max_output: Some(4_096),
        ..ModelProfile::default()
    };
    for profile in [profile, config.run_model(None).unwrap_or_default()] {
        match config
            .clone()
            .with_overrides(&flags)
            .and_then(|c| c.resolve(&profile))
        {
            Ok(resolved) => {
                for text in resolved.advice.iter().map(ToString::to_string) {
                    assert!(!text.is_empty());
                }
                let policy = resolved.policy;
                assert!(policy.output_reserve < policy.window);
                assert!(
                    policy
                        .triggers
                        .iter()
                        .all(|t| t.tokens.or(t.messages).is_some())
                );
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// Whether the secret stands where a name belongs, which is shown.
fn is_named(config: &Config) -> bool {
    config.models().iter().any(|model| {
        let plain = [
            Some(&model.name),
            Some(&model.model),
            model.provider.as_ref(),
            model.base_url.as_ref(),
        ];
        let headers = model.headers.iter().map(|(name, _)| name);
        plain
            .into_iter()
            .flatten()
            .chain(headers)
            .any(|text| text.contains(SECRET))
            || model
                .api_key
                .as_ref()
                .is_some_and(|key| key.variable().is_some())
    })
}

fn short(message: &str) {
    assert!(!message.contains(SECRET), "{message}");
    assert!(
        message.chars().count() < 1_000,
        "a short message: {message}"
    );
}

/// The frame around a summary, and text that wants to get out of it.
pub fn frame_target(data: &[u8]) {
    if data.len() > MAX_BYTES {
        return;
    }
    let text = String::from_utf8_lossy(data);
    let defused = frame::defused(&text);
    assert_eq!(frame::defused(&defused), defused, "once is enough");
    assert_eq!(
        defused.replace("&lt;", "<"),
        text.replace("&lt;", "<"),
        "all else stays"
    );
    for tag in [frame::OPEN, frame::CLOSE] {
        assert!(!defused.to_lowercase().contains(tag), "{defused:?}");
    }
    for placement in [
        Placement::Frozen,
        Placement::Front,
        Placement::Message,
        Placement::System,
        Placement::SystemEnd,
    ] {
        let blocks = frame::blocks(&text, "", placement);
        for block in &blocks {
            assert!(
                frame::is_ours(&block.text),
                "{placement:?}: {:?}",
                block.text
            );
        }
        let shown = &blocks.last().expect("a block").text;
        for tag in [frame::OPEN, frame::CLOSE] {
            assert_eq!(shown.matches(tag).count(), 1, "{shown:?}");
        }
        let content = frame::content(shown).expect("ours");
        let heading = defused
            .trim_matches('\n')
            .starts_with("## Conversation summary so far");
        if !heading {
            let (content, text) = (content.trim_matches('\n'), defused.trim_matches('\n'));
            assert_eq!(content, text, "{placement:?}");
        }
        // What is kept beside the summary is as hostile, and each is read back as what it is.
        let kept = defused.trim_matches('\n');
        let beside = frame::blocks("plain", &text, placement);
        let shown = &beside.last().expect("a block").text;
        let tags = [
            frame::OPEN,
            frame::CLOSE,
            frame::OPEN_DURABLE,
            frame::CLOSE_DURABLE,
        ];
        if !text.is_empty() {
            for tag in tags {
                assert_eq!(shown.matches(tag).count(), 1, "{shown:?}");
            }
            assert_eq!(frame::content(shown), Some("plain"), "{placement:?}");
            assert_eq!(frame::durable(shown), Some(kept), "{placement:?}");
        }
    }
    let _ = frame::content(&text);
}

/// Words that inputs of a target are made of.
fn words(target: &str) -> &'static [&'static str] {
    match target {
        "config" => &[
            "summarization:",
            "models:",
            "enabled: true",
            "trigger:",
            "keep:",
            "  - ",
            "type: tokens",
            "value: ",
            "fraction",
            "messages",
            "preset: default",
            "preset: nous",
            "model_name: m",
            "name: m",
            "api_key: ",
            SECRET,
            "$KEY",
            "headers: {X: y}",
            "prices: {input: 1}",
            "window: 1000",
            "null",
            "auto",
            "-1",
            "1e999",
            "0.5",
            "&a",
            "*a",
            "<<: ",
            "{",
            "}",
            "[",
            "]",
            "\n",
            "\n  ",
            "#",
            "|",
            ">",
            "'",
            "\"",
            "tokens=1",
            "strict_parity: true",
            "prune: ",
            "strategy: replay",
            "max_context: 32",
            "---",
            "\u{feff}",
        ],
        "frame" => &[
            "<conversation_record>",
            "</conversation_record>",
            "< / Conversation_Record",
            "<",
            "&lt;",
            "\n",
            "\u{0}",
            "## Conversation summary so far\n",
            "Summary of earlier messages:\n",
            "\u{fffd}",
            "</",
            "CONVERSATION_",
        ],
        _ => &[
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\\",
            "\\ud83d",
            "\\u0000",
            "null",
            "true",
            "1e400",
            "-0",
            "\n",
            " ",
            "\"role\":\"user\"",
            "\"role\":\"tool\"",
            "\"role\":\"assistant\"",
            "\"role\":\"system\"",
            "\"content\":null",
            "\"content\":[]",
            "\"content\":\"x\"",
            "\"tool_calls\":[]",
            "\"tool_call_id\":\"c\"",
            "\"type\":\"tool_use\"",
            "\"type\":\"tool_result\"",
            "\"type\":\"thinking\"",
            "\"type\":\"text\"",
            "\"id\":\"c\"",
            "\"uuid\":\"u\"",
            "\"parentUuid\":null",
            "\"type\":\"human\"",
            "\"lc\":1",
            "\"kwargs\":{}",
            "\"isSidechain\":true",
            "\"subtype\":\"compact_boundary\"",
            "\"isMeta\":true",
            "\"messages\":[]",
            "\"parts\":[{\"text\":\"x\"}]",
            "\"functionCall\":{\"name\":\"f\",\"args\":{}}",
            "\"functionResponse\":{\"name\":\"f\",\"response\":{\"a\":1}}",
            "{\"$rewindTo\":\"m1\"}",
            "{\"$set\":{\"messages\":[]}}",
            "\"type\":\"compaction\"",
            "\"parentId\":\"c\"",
            "\"firstKeptEntryIndex\":1",
            "\"action\":\"condensation\"",
            "\"forgotten_event_ids\":[1]",
            "\"observation\":\"run\"",
            "\"tool_call_ids\":[\"c\"]",
            "attachment://a",
            "\"agentVisible\":false",
            "\"type\":\"opaque\",\"value\":1",
            "\u{feff}",
            "\"usage\":{\"input_tokens\":9}",
            "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}",
            "{\"a\":1,\"a\":2}",
        ],
    }
}

/// A changed copy of one of `seeds`: bytes turned, pieces removed, doubled, moved or taken from another seed,
/// and words of the target's own put in.
pub fn mutated(rng: &mut Rng, target: &str, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut data = if seeds.is_empty() {
        Vec::new()
    } else {
        rng.pick(seeds).clone()
    };
    for _ in 0..rng.between(1, 6) {
        let at = rng.below(data.len() + 1);
        let end = (at + rng.below(40)).min(data.len());
        match rng.below(8) {
            0 if !data.is_empty() => {
                let at = rng.below(data.len());
                data[at] ^= 1 << rng.below(8);
            }
            1 => drop(data.drain(at..end)),
            2 => {
                let piece = data[at..end].to_vec();
                data.splice(at..at, piece);
            }
            3 => data.truncate(at),
            4 if !seeds.is_empty() => {
                let other = rng.pick(seeds);
                let start = rng.below(other.len() + 1);
                let stop = (start + rng.below(200)).min(other.len());
                data.splice(at..end, other[start..stop].iter().copied());
            }
            5 => {
                let byte = u8::try_from(rng.below(256)).unwrap_or_default();
                data.insert(at, byte);
            }
            _ => {
                let word = rng.pick(words(target)).as_bytes();
                data.splice(at..end.min(at + rng.below(8)), word.iter().copied());
            }
        }
    }
    data
}
