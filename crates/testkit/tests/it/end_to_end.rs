//! From the bytes of a request to the bytes of the next one, judged by the providers' rules: pictures that are sent
//! once, old ones that are left out, and signed reasoning behind a change.

use std::collections::BTreeSet;

use conspectus::{
    CompactRequest, Compaction, Document, Embedded, Format, OpenOptions, Outcome, RenderContext,
    compact, open_thread,
};
use conspectus_core::policy::{Clause, KeepOption, Options, PruneOption, PruneWhen, TriggerOption};
use conspectus_core::projection::Projection;
use conspectus_core::prune::find_reference;
use conspectus_wire::valid;
use serde_json::{Value, json};

/// Some picture's data, base64.
fn picture(seed: u8) -> String {
    let letters = (0..4_000u32).map(|n| b'A' + ((n * n + u32::from(seed) * 7) % 26) as u8);
    String::from_utf8(letters.collect()).expect("ASCII")
}

/// A document of `request`, which has no fault.
#[track_caller]
fn open(format: Format, request: &Value) -> Document {
    let bytes = serde_json::to_vec(request).expect("JSON");
    let faults = valid::check(format, &bytes);
    assert!(faults.is_empty(), "the scene itself: {faults:?}");
    let options = OpenOptions {
        format: Some(format),
        lenient: false,
    };
    Document::open(bytes, &options).expect("a request")
}

/// What is sent then, which has no fault either.
#[track_caller]
fn sent(document: &Document, projection: &Projection) -> Value {
    let context = RenderContext::default();
    let bytes = document.render(&[(0, projection)], &context);
    let bytes = bytes.expect("its own handles");
    let faults = valid::check(document.format(), &bytes);
    let text = String::from_utf8_lossy(&bytes);
    assert!(faults.is_empty(), "{faults:?}\n{text}");
    serde_json::from_slice(&bytes).expect("JSON")
}

#[track_caller]
fn compacted(document: &Document, options: Options) -> (Compaction, Value) {
    let request = CompactRequest::command(options);
    let conversation = &document.conversations()[0];
    let done = compact(conversation, &request, &mut Embedded::default()).expect("sane options");
    let sent = sent(document, &done.projection());
    (done, sent)
}

/// A request of one format: a word, a picture of the user, a call with a picture as its result, a reply.
struct Scene {
    format: Format,
    list: Vec<Value>,
    calls: usize,
}

impl Scene {
    const FORMATS: [Format; 3] = [Format::OpenAi, Format::Responses, Format::Anthropic];

    fn new(format: Format) -> Self {
        Self {
            format,
            list: Vec::new(),
            calls: 0,
        }
    }

    fn user(&mut self, text: &str, picture: Option<&str>) {
        let url = |data: &str| format!("data:image/png;base64,{data}");
        let (text, picture) = match self.format {
            Format::Responses => (
                json!({"type": "input_text", "text": text}),
                picture.map(|data| json!({"type": "input_image", "image_url": url(data)})),
            ),
            Format::Anthropic => (
                json!({"type": "text", "text": text}),
                picture.map(|data| {
                    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
                }),
            ),
            _ => (
                json!({"type": "text", "text": text}),
                picture.map(|data| json!({"type": "image_url", "image_url": {"url": url(data)}})),
            ),
        };
        let content: Vec<Value> = [Some(text), picture].into_iter().flatten().collect();
        self.list.push(json!({"role": "user", "content": content}));
    }

    fn reply(&mut self, text: &str) {
        self.list
            .push(json!({"role": "assistant", "content": text}));
    }

    /// A call and its result, a picture where the format can have one there.
    fn look(&mut self, text: &str, data: &str) {
        self.calls += 1;
        let id = format!("call_{}", self.calls);
        let url = format!("data:image/png;base64,{data}");
        let pair = match self.format {
            Format::Responses => [
                json!({"type": "function_call", "call_id": id, "name": "look", "arguments": "{}"}),
                json!({"type": "function_call_output", "call_id": id, "output": [
                    {"type": "input_text", "text": text},
                    {"type": "input_image", "image_url": url},
                ]}),
            ],
            Format::Anthropic => [
                json!({"role": "assistant", "content": [
                    {"type": "tool_use", "id": id, "name": "look", "input": {}},
                ]}),
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": [
                    {"type": "text", "text": text},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
                ]}]}),
            ],
            _ => [
                json!({"role": "assistant", "content": null, "tool_calls": [
                    {"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}},
                ]}),
                json!({"role": "tool", "tool_call_id": id, "content": [
                    {"type": "text", "text": text},
                    {"type": "image_url", "image_url": {"url": url}},
                ]}),
            ],
        };
        self.list.extend(pair);
    }

    fn document(&self) -> Document {
        let tool = json!({"type": "object", "properties": {}});
        let request = match self.format {
            Format::Responses => json!({"model": "m", "input": self.list}),
            Format::Anthropic => json!({
                "model": "m", "max_tokens": 1000, "messages": self.list,
                "tools": [{"name": "look", "input_schema": tool}],
            }),
            _ => json!({"model": "m", "messages": self.list}),
        };
        open(self.format, &request)
    }
}

/// E5: a picture that is sent again and again is sent once, where it stands last.
#[test]
fn the_same_picture_is_sent_once() {
    for format in Scene::FORMATS {
        let (same, other) = (picture(1), picture(2));
        let mut scene = Scene::new(format);
        scene.user("What is this?", Some(&same));
        scene.reply("A valve.");
        scene.user("And this?", Some(&other));
        scene.reply("Another valve.");
        scene.look("the camera:", &same);
        scene.reply("It is the first one again.");
        scene.user("Once more, this one.", Some(&same));
        scene.reply("Still a valve.");
        scene.user("Thank you.", None);
        let document = scene.document();
        let before = document.conversations()[0].views().len();
        let (done, sent) = compacted(
            &document,
            Options {
                keep: Some(KeepOption::Messages(100)),
                ..Options::default()
            },
        );
        let text = sent.to_string();
        assert_eq!(done.report.outcome, Outcome::Pruned, "{format:?}: {text}");
        let pieces = done.projection().pieces().count();
        assert_eq!(pieces, before, "{format:?}: every message is there");
        assert_eq!(text.matches(&same).count(), 1, "{format:?}: {text}");
        assert_eq!(text.matches(&other).count(), 1, "{format:?}: {text}");
        let pointers = text.matches("image left out, the same one stands further on");
        assert_eq!(pointers.count(), 2, "{format:?}: {text}");
        let last = text.find("Once more").expect("the newest stays");
        assert!(text.find(&same) > Some(last), "{format:?}: {text}");
    }
}

/// E4: pictures of old results go with them, those of the newest three stay.
#[test]
fn old_pictures_of_results_are_left_out() {
    for format in Scene::FORMATS {
        let mut scene = Scene::new(format);
        scene.user("Watch the valve.", None);
        let pictures: Vec<String> = (0..12).map(picture).collect();
        for (n, data) in pictures.iter().enumerate() {
            scene.look(
                &format!("minute {n}: {}", "steam and noise. ".repeat(200)),
                data,
            );
        }
        scene.reply("It leaks.");
        scene.user("Since when?", None);
        let document = scene.document();
        let open_with = |trigger| Options {
            keep: Some(KeepOption::Messages(2)),
            trigger: TriggerOption::Any(vec![Clause {
                tokens: Some(trigger),
                ..Clause::default()
            }]),
            ..Options::default()
        };
        let request = CompactRequest {
            options: open_with(100_000),
            ..CompactRequest::command(Options::default())
        };
        let size = open_thread(&document.conversations()[0], &request).expect("sane");
        let src = conspectus::Sources {
            texts: &document.conversations()[0],
            counter: size.counter.as_ref(),
        };
        let size = size.thread.size(src).tokens;
        let mut request = CompactRequest::command(open_with(size * 2 / 3));
        request.manual.moment = conspectus_core::outcome::Moment::PreTurn;
        let conversation = &document.conversations()[0];
        let done = compact(conversation, &request, &mut Embedded::default()).expect("sane");
        let sent = sent(&document, &done.projection());
        let text = sent.to_string();
        assert_eq!(done.report.outcome, Outcome::Pruned, "{format:?}: {text}");
        let shown = |data: &&String| text.contains(data.as_str());
        let left = pictures.iter().filter(shown).count();
        assert!((3..12).contains(&left), "{format:?}: {left} left");
        assert!(pictures[9..].iter().all(|data| shown(&data)), "{format:?}");
        assert!(!shown(&&pictures[0]), "{format:?}");
        assert!(text.contains("recall by reference"), "{format:?}: {text}");
    }
}

fn thought(n: usize) -> Value {
    json!({"type": "thinking", "thinking": format!("thought {n}"), "signature": format!("c2lnbmVkIG51bWJlciA{n}")})
}

/// Turns with signed thinking around a call; the last one is open.
fn thoughtful(ends_open: bool) -> Document {
    let mut messages = Vec::new();
    for n in 0..6 {
        let filler = format!("the log of pump {n} says the same. ").repeat(120);
        let id = format!("toolu_{n}");
        messages.push(json!({"role": "user", "content": format!("question {n}")}));
        messages.push(json!({"role": "assistant", "content": [
            thought(2 * n),
            {"type": "tool_use", "id": id, "name": "look", "input": {"n": n}},
        ]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": filler},
        ]}));
        if n < 5 || !ends_open {
            messages.push(json!({"role": "assistant", "content": [
                thought(2 * n + 1),
                {"type": "redacted_thinking", "data": "b3BhcXVl"},
                {"type": "text", "text": format!("answer {n}")},
            ]}));
        }
    }
    if !ends_open {
        messages.push(json!({"role": "user", "content": "question 6"}));
    }
    open(
        Format::Anthropic,
        &json!({
            "model": "m", "max_tokens": 4000, "thinking": {"type": "enabled", "budget_tokens": 2000},
            "tools": [{"name": "look", "input_schema": {"type": "object", "properties": {}}}],
            "messages": messages,
        }),
    )
}

/// C7: behind a summary no thinking is sent that was signed before it, but for the turn that is open.
#[test]
fn thinking_behind_a_summary() {
    let options = || Options {
        keep: Some(KeepOption::Messages(9)),
        ..Options::default()
    };
    for ends_open in [false, true] {
        let document = thoughtful(ends_open);
        let (done, sent) = compacted(&document, options());
        assert_eq!(done.report.outcome, Outcome::Compacted);
        let text = sent["messages"].to_string();
        let left: Vec<usize> = (0..12)
            .filter(|n| text.contains(&thought(*n).to_string()))
            .collect();
        assert_eq!(left, if ends_open { vec![10] } else { vec![] }, "{text}");
        let any = text.matches("thinking\"").count();
        // The word stands twice in a block of its own: as its type and as its key.
        assert_eq!(any, 2 * left.len(), "whole or not at all: {text}");
        // What was said with it is there.
        assert!(
            text.contains("answer 4") && text.contains("toolu_5"),
            "{text}"
        );
    }
}

/// The same for limits at every rendering: what the open turn thought behind a result holds it back.
#[test]
fn thinking_behind_limits_at_every_rendering() {
    for ends_open in [false, true] {
        let document = thoughtful(ends_open);
        let request = CompactRequest::command(Options {
            prune: PruneOption {
                when: Some(PruneWhen::Always),
                max_result_chars: Some(600),
                keep_recent_results: Some(1),
                ..PruneOption::default()
            },
            ..Options::default()
        });
        let conversation = &document.conversations()[0];
        let opened = open_thread(conversation, &request).expect("sane options");
        let sent = sent(&document, &opened.thread.projection());
        let text = sent["messages"].to_string();
        let is_left = |n: &usize| text.contains(&thought(*n).to_string());
        let left: Vec<usize> = (0..12).filter(is_left).collect();
        // The first thought stands before the first result.
        let (expect, cuts) = match ends_open {
            true => ((0..11).collect(), 0),
            false => (vec![0], 5),
        };
        assert_eq!(
            (left, text.matches("left out").count()),
            (expect, cuts),
            "{text}"
        );
    }
}

/// A reply that was cut off while it thought holds nothing else.
#[test]
fn a_reply_of_thinking_alone_leaves_no_empty_message() {
    let filler = "the log of the pump says the same. ".repeat(300);
    let messages = json!([
        {"role": "user", "content": filler},
        {"role": "assistant", "content": "a long answer"},
        {"role": "user", "content": "go on"},
        {"role": "assistant", "content": [thought(1), {"type": "text", "text": "and"}]},
        {"role": "user", "content": "go on, I said"},
        {"role": "assistant", "content": [
            {"type": "redacted_thinking", "data": "b3BhcXVl"}, thought(2), {"type": "text", "text": "yes"},
        ]},
        {"role": "user", "content": "and now?"},
    ]);
    let mut request = json!({"model": "m", "max_tokens": 4000, "messages": messages});
    // No fault by the rules of today's servers for what is sent; files hold it all the same.
    request["messages"][3]["content"] = json!([thought(1)]);
    let bytes = serde_json::to_vec(&request).expect("JSON");
    let options = OpenOptions {
        format: Some(Format::Anthropic),
        lenient: false,
    };
    let document = Document::open(bytes, &options).expect("a request");
    let (done, sent) = compacted(
        &document,
        Options {
            keep: Some(KeepOption::Messages(5)),
            ..Options::default()
        },
    );
    assert_eq!(done.report.outcome, Outcome::Compacted);
    assert!(!sent.to_string().contains("signature"), "{sent}");
}

/// E7: every reference in the request that is sent leads back to all that it stands for.
#[test]
fn what_was_cut_is_read_back_by_its_reference() {
    let mut scene = Scene::new(Format::Anthropic);
    scene.user("Watch the valve.", Some(&picture(9)));
    scene.reply("Yes.");
    let noise = |n: u8| format!("minute {n}: {}", "steam and noise. ".repeat(900));
    for n in 0..5u8 {
        scene.look(&noise(n), &picture(n));
    }
    let note = "a long note. ".repeat(8_000);
    let id = "toolu_note";
    scene.list.push(json!({"role": "assistant", "content": [
        {"type": "tool_use", "id": id, "name": "look", "input": {"at": "pump", "note": note}},
    ]}));
    let done = json!({"type": "tool_result", "tool_use_id": id, "content": "noted"});
    scene.list.push(json!({"role": "user", "content": [done]}));
    scene.reply("It leaks.");
    scene.user("The first picture once more.", Some(&picture(9)));
    let document = scene.document();
    let prune = PruneOption {
        max_result_chars: Some(500),
        max_argument_chars: Some(500),
        duplicates: Some(true),
        ..PruneOption::default()
    };
    let keep = Some(KeepOption::Messages(100));
    let (done, sent) = compacted(
        &document,
        Options {
            prune,
            keep,
            ..Options::default()
        },
    );
    assert_eq!(done.report.outcome, Outcome::Pruned);
    let text = sent.to_string();
    let conversation = &document.conversations()[0];
    let mut read = BTreeSet::new();
    let mut rest = text.as_str();
    while let Some(reference) = find_reference(rest) {
        let found = done.thread.recall(reference, conversation);
        assert!(!found.is_empty(), "{reference}");
        // The same middle was cut out of all five results.
        read.extend(found.into_iter().map(|found| found.text));
        rest = &rest[rest.find(reference).expect("found there") + reference.len()..];
    }
    let whole = (0..5).map(noise).chain([note, picture(9)]);
    let heads = |of: &BTreeSet<String>| -> Vec<_> {
        of.iter().map(|t| (t.len(), t[..12].to_owned())).collect()
    };
    assert_eq!(heads(&read), heads(&whole.collect()));
    assert_eq!(done.thread.recall("cx-000000000000", conversation), []);
}

/// E6, E1: limits in force at every rendering, in every shape.
#[test]
fn limits_at_every_rendering_leave_valid_requests() {
    for format in Scene::FORMATS {
        let mut scene = Scene::new(format);
        scene.user("Watch the valve.", None);
        for n in 0..5u8 {
            let text = format!("minute {n}: {}", "steam and noise. ".repeat(900));
            scene.look(&text, &picture(n));
        }
        let document = scene.document();
        let request = CompactRequest::command(Options {
            prune: PruneOption {
                when: Some(PruneWhen::Always),
                max_result_chars: Some(500),
                ..PruneOption::default()
            },
            ..Options::default()
        });
        let conversation = &document.conversations()[0];
        let opened = open_thread(conversation, &request).expect("sane options");
        let sent = sent(&document, &opened.thread.projection());
        let text = sent.to_string();
        assert_eq!(text.matches("minute ").count(), 5, "{format:?}: {text}");
        assert_eq!(text.matches("left out").count(), 5, "{format:?}: {text}");
        assert!(text.len() < 5 * 6_000, "{format:?}: {}", text.len());
    }
}
