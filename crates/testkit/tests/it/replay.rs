//! The request that asks a conversation's own model shares every byte of the last normal one, up to the end of its last
//! message: for conversations as they are, after compactions, and with shortened messages.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use conspectus::core::count::Estimator;
use conspectus::{
    Conversation, Decision, Document, Embedded, Format, Manual, ModelProfile, OpenOptions, Options,
    Policy, RenderContext, Sources, Thread, drive,
};
use conspectus_core::id::Handle;
use conspectus_core::policy::{KeepOption, PruneOption, PruneWhen};
use conspectus_core::projection::{Piece, Projection};
use conspectus_testkit::shared;
use conspectus_testkit::transcript::{self, Knobs, Transcript};
use conspectus_wire::json::{Object, Span};
use conspectus_wire::replay::Ask;
use conspectus_wire::valid::{self, Fault};

const INSTRUCTION: &str = "Write down what is needed to go on.";

fn open(bytes: Vec<u8>, format: Option<Format>) -> Option<Document> {
    let lenient = true;
    Document::open(bytes, &OpenOptions { format, lenient }).ok()
}

/// Everything from the first message to the end of the last; `None` where they do not stand in one list.
fn listed<'a>(document: &'a Document, conversation: &'a Conversation) -> Option<&'a str> {
    let count = u32::try_from(conversation.views().len()).ok()?;
    let source = std::str::from_utf8(document.bytes()).ok()?;
    let at = |n: u32| Span::of(source, conversation.json_of(Handle(n)));
    let all = Span::new(at(0).start, at(count.checked_sub(1)?).end).text(source);
    (!conversation.json_of(Handle(0)).starts_with('"')).then_some(all)
}

fn of(faults: Vec<Fault>, conversation: usize) -> Vec<Fault> {
    let mine = faults
        .into_iter()
        .filter(|f| f.conversation == conversation);
    mine.map(|fault| Fault {
        conversation: 0,
        detail: String::new(),
        ..fault
    })
    .collect()
}

/// What was looked at.
#[derive(Debug, Default)]
struct Seen {
    requests: usize,
    valid: usize,
    compacted: usize,
    edited: usize,
    faultless: usize,
}

/// The replay of `projection` against the normal request of it.
fn compare(
    document: &Document,
    index: usize,
    projection: &Projection,
    what: &str,
    seen: &mut Seen,
) {
    let pieces: Vec<Piece> = projection.pieces().cloned().collect();
    let ask = Ask::new(INSTRUCTION, 500);
    let Ok(body) = document.replay(index, &pieces, &ask) else {
        let normal = document.render(&[(index, projection)], &RenderContext::default());
        assert!(normal.is_err(), "{what}: it can be sent but not replayed");
        return;
    };
    let normal = document
        .render(&[(index, projection)], &RenderContext::default())
        .expect("what is replayed can be sent");
    let format = document.format();
    let before = of(valid::check(format, &normal), index);
    let after = of(valid::check(format, &body), 0);
    // What was wrong before may still be, and nothing else.
    for fault in &after {
        assert!(
            before.iter().any(|known| known.rule == fault.rule),
            "{what}: {fault:?}\n{}",
            String::from_utf8_lossy(&body)
        );
    }
    // Broken lines are left out of what is written, and too little may be left to tell what it is.
    let Some(normal) = open(normal, Some(format)) else {
        return;
    };
    let text = String::from_utf8_lossy(&body).into_owned();
    let replay = open(body, Some(format)).unwrap_or_else(|| panic!("{what}\n{text}"));
    let (sent, again) = (&normal.conversations()[index], &replay.conversations()[0]);
    assert_eq!(sent.fixed(), again.fixed(), "{what}");
    for key in ["system", "tools", "instructions", "systemInstruction"] {
        let of = |document: &Document| {
            let text = std::str::from_utf8(document.bytes())
                .expect("text")
                .to_owned();
            Object::of(text.trim()).and_then(|object| object.value(key).map(str::to_owned))
        };
        let (one, other) = (of(&normal), of(&replay));
        assert!(one.is_none() || one == other, "{what}: {key}");
    }
    let messages = sent.views().len();
    // A reply that has come to its reasoning only is valid at the end and nowhere else.
    let end = Handle(u32::try_from(messages.saturating_sub(1)).expect("few messages"));
    let end = Object::of(sent.json_of(end)).and_then(|item| item.string("type"));
    let is_whole = before.is_empty() && end.as_deref() != Some("reasoning");
    if is_whole && messages > 0 {
        seen.faultless += 1;
        if let Some(list) = listed(&normal, sent).filter(|_| !is_lines(&normal)) {
            let text = std::str::from_utf8(replay.bytes()).expect("text");
            let begin = Span::of(text, again.json_of(Handle(0))).start;
            assert!(text[begin..].starts_with(list), "{what}\n{list}\n{text}");
        }
    }
    // What is no valid request has at most its end set right.
    let same = |n: &usize| {
        let handle = Handle(u32::try_from(*n).expect("few messages"));
        sent.json_of(handle) == again.json_of(handle) || sent.json_of(handle).starts_with('"')
    };
    let shared = (0..messages).take_while(same).count();
    assert!(
        shared == messages || !is_whole && shared + 1 >= messages,
        "{what}"
    );
    let last = Handle(u32::try_from(again.views().len() - 1).expect("few"));
    assert!(again.json_of(last).contains(INSTRUCTION), "{what}");
    seen.requests += 1;
    seen.valid += usize::from(after.is_empty());
    let is_insert = |p: &&Piece| matches!(p, Piece::Insert(_));
    seen.compacted += usize::from(pieces.iter().any(|p| is_insert(&p)));
    seen.edited += usize::from(pieces.iter().any(|p| matches!(p, Piece::Edit(..))));
}

fn is_lines(document: &Document) -> bool {
    let text = std::str::from_utf8(document.bytes()).expect("text");
    serde_json::from_str::<&serde_json::value::RawValue>(text).is_err()
}

/// A thread that grows and is compacted on the way, once a third.
fn follow(document: &Document, index: usize, what: &str, seen: &mut Seen) {
    let conversation = &document.conversations()[index];
    if document.can_replay(index).is_err() {
        return;
    }
    let options = Options {
        keep: Some(KeepOption::Messages(2)),
        prune: PruneOption {
            when: Some(PruneWhen::Always),
            max_result_chars: Some(400),
            keep_recent_results: Some(1),
            ..PruneOption::default()
        },
        ..Options::default()
    };
    let resolved = Policy::resolve(&options, &ModelProfile::default()).expect("it can work");
    let mut thread = Thread::new(Arc::new(resolved.policy));
    let counter = Estimator::new();
    let src = Sources {
        texts: conversation,
        counter: &counter,
    };
    let views = conversation.views();
    let whole: Vec<Piece> = views.iter().map(|view| Piece::Keep(view.handle)).collect();
    let whole = Projection {
        frozen: Arc::from(whole),
        tail: Arc::default(),
    };
    compare(document, index, &whole, what, seen);
    let third = views.len().div_ceil(3).max(1);
    for (n, part) in views.chunks(third).enumerate() {
        thread.append(part.iter().cloned(), src);
        let now = format!("{what}, part {n}");
        compare(document, index, &thread.projection(), &now, seen);
        let manual = Manual {
            force: true,
            ..Manual::default()
        };
        if let Decision::Start(attempt, _) = thread.manual(0, &manual, src) {
            drive(&mut thread, *attempt, src, &mut Embedded::default());
            compare(
                document,
                index,
                &thread.projection(),
                &format!("{now}, compacted"),
                seen,
            );
        }
    }
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, out);
        } else if path
            .extension()
            .is_some_and(|e| e == "json" || e == "jsonl")
        {
            out.push(path);
        }
    }
}

#[test]
fn real_conversations() {
    let Some(folder) = shared::path("data") else {
        println!("shared data not found, 1 check left out");
        return;
    };
    let mut all = Vec::new();
    files(&folder, &mut all);
    if let Some(examples) = shared::path("wire/examples") {
        files(&examples, &mut all);
    }
    let mut seen = Seen::default();
    for path in all {
        let size = path.metadata().map_or(0, |meta| meta.len());
        let Some(document) = std::fs::read(&path).ok().filter(|_| size < 700_000) else {
            continue;
        };
        let Some(document) = open(document, None) else {
            continue;
        };
        // The first ones of a long list are like the others.
        for index in 0..document.conversations().len().min(3) {
            follow(
                &document,
                index,
                &format!("{} {index}", path.display()),
                &mut seen,
            );
        }
    }
    println!("{seen:?}");
    assert!(
        seen.requests > 100 && seen.compacted > 30 && seen.edited > 2,
        "{seen:?}"
    );
}

#[test]
fn random_conversations() {
    let formats = [
        (transcript::Format::OpenAi, Format::OpenAi),
        (transcript::Format::Anthropic, Format::Anthropic),
    ];
    for (format, wire) in formats {
        let mut seen = Seen::default();
        for t in Transcript::campaign(0..60, &Knobs::valid(format)) {
            let document = open(t.render(format).body(), Some(wire)).expect("it is read");
            follow(
                &document,
                0,
                &format!("{} seed {}", format.name(), t.seed),
                &mut seen,
            );
        }
        assert!(
            seen.valid == seen.requests && seen.faultless > 200,
            "valid in, valid out: {seen:?}"
        );
        assert!(seen.compacted > 40 && seen.edited > 10, "{seen:?}");
        for t in Transcript::campaign(1_000..1_060, &Knobs::default()) {
            let document = open(t.render(format).body(), Some(wire)).expect("it is read");
            follow(
                &document,
                0,
                &format!("{} seed {}", format.name(), t.seed),
                &mut seen,
            );
        }
    }
}
