//! From bytes to bytes: random conversations through the formats and the library.

use conspectus::{CompactRequest, Document, Embedded, OpenOptions, compact};
use conspectus_core::policy::{KeepOption, Options, PruneOption};
use conspectus_core::projection::Piece;
use conspectus_core::view::{MessageView, PartKind, PartRef, Texts};
use conspectus_testkit::rng::Rng;
use conspectus_testkit::transcript::{Format, Knobs, Nasty, Strict, Transcript, violations};

fn wire_format(format: Format) -> conspectus_wire::Format {
    match format {
        Format::OpenAi => conspectus_wire::Format::OpenAi,
        Format::Anthropic => conspectus_wire::Format::Anthropic,
        Format::LangChain => conspectus_wire::Format::LangChain,
    }
}

fn open(format: Format, bytes: &[u8]) -> Document {
    let options = OpenOptions {
        format: Some(wire_format(format)),
        lenient: true,
    };
    Document::open(bytes.to_vec(), &options).expect("a lenient reader reads it")
}

/// What a view says, one line a part, without digests, handles and what only the host knows.
fn told(view: &MessageView, texts: &dyn Texts) -> Vec<String> {
    let mut out = vec![format!("{:?} {:?}", view.role, view.form)];
    for (index, part) in view.parts.iter().enumerate() {
        let at = PartRef {
            message: view.handle,
            part: u16::try_from(index).expect("few parts"),
        };
        // The source of what nobody knows is shown as it is spelled.
        let text = match part.kind {
            PartKind::Opaque { .. } => "".into(),
            _ => texts.text(at),
        };
        out.push(format!("{:?} {:?} {text:?}", part.kind, part.inside));
    }
    out
}

#[test]
fn what_is_written_is_read_as_it_was_meant() {
    // Contents that formats may see in more than one way.
    let knobs = [
        Nasty::DuplicateKeys,
        Nasty::DeepNesting,
        Nasty::LoneSurrogate,
        Nasty::BrokenArguments,
        Nasty::NullContent,
        Nasty::EmptyText,
        Nasty::NoUser,
        Nasty::Empty,
    ];
    let knobs = knobs.into_iter().fold(Knobs::default(), Knobs::without);
    for t in Transcript::campaign(0..150, &knobs) {
        for format in Format::ALL {
            // Signed thoughts in chat completions are one field, whose source is their text.
            let bound = match format {
                Format::OpenAi => vec![Nasty::ThinkingSigned, Nasty::ThinkingRedacted],
                Format::Anthropic | Format::LangChain => vec![],
            };
            if t.nasties().iter().any(|n| bound.contains(n)) {
                continue;
            }
            let rendered = t.render(format);
            if rendered.messages.is_empty() {
                continue;
            }
            let document = open(format, &rendered.body());
            let conversation = &document.conversations()[0];
            let (views, texts, labels) = t.views(format);
            assert_eq!(conversation.views().len(), views.len());
            for ((mine, theirs), label) in views.iter().zip(conversation.views()).zip(labels) {
                assert_eq!(
                    told(theirs, conversation),
                    told(mine, &texts),
                    "{} seed {} {label:?}",
                    format.name(),
                    t.seed
                );
            }
        }
    }
}

#[test]
fn untouched_is_byte_for_byte() {
    for t in Transcript::campaign(0..150, &Knobs::default()) {
        for format in Format::ALL {
            let body = t.render(format).body();
            let document = open(format, &body);
            let again = document
                .render(&[], &conspectus_wire::RenderContext::default())
                .expect("no edits");
            assert!(again == body, "{} seed {}", format.name(), t.seed);
        }
    }
}

/// Options of a command that does much.
fn options(rng: &mut Rng) -> Options {
    Options {
        keep: Some(KeepOption::Messages(rng.below(6) as u64)),
        prune: PruneOption {
            max_result_chars: Some(*rng.pick(&[0, 200, 1_000])),
            max_argument_chars: Some(*rng.pick(&[0, 200])),
            duplicates: Some(rng.percent(50)),
            keep_recent_results: Some(rng.below(3) as u64),
            ..PruneOption::default()
        },
        max_context: Some(*rng.pick(&[4_000, 30_000])),
        ..Options::default()
    }
}

/// Compacts by command, without a model. The bytes, whether anything changed, and the messages kept as they are.
fn compacted(format: Format, body: &[u8], rng: &mut Rng) -> (Vec<u8>, bool, Vec<String>) {
    let document = open(format, body);
    let Some(conversation) = document.conversations().first() else {
        return (body.to_vec(), false, Vec::new());
    };
    let request = CompactRequest::command(options(rng));
    let done = compact(conversation, &request, &mut Embedded::default()).expect("options work");
    let projection = done.projection();
    let kept = projection.pieces().filter_map(|piece| match piece {
        Piece::Keep(handle) => Some(conversation.json_of(*handle).to_owned()),
        _ => None,
    });
    let kept = kept.collect();
    let context = conspectus_wire::RenderContext::default();
    let bytes = document
        .render(&[(0, &projection)], &context)
        .expect("its own handles");
    (bytes, done.is_change(), kept)
}

/// Invariant 4: what a strict server took before, it takes after.
#[test]
fn valid_in_valid_out() {
    let mut changed = 0;
    for format in Format::ALL {
        for t in Transcript::campaign(0..120, &Knobs::valid(format)) {
            let body = t.render(format).body();
            let (after, change, _) = compacted(format, &body, &mut Rng::new(t.seed));
            changed += usize::from(change);
            let found = violations(format, &after, Strict::default());
            assert!(
                found.is_empty(),
                "{} seed {}: {found:?}\n{}",
                format.name(),
                t.seed,
                String::from_utf8_lossy(&after)
            );
        }
    }
    assert!(changed > 150, "{changed} conversations changed");
}

/// What must be found of a kept message: itself, or what its content says where a stand-in had to join it.
fn pieces(json: &str, after: &str) -> Vec<String> {
    use serde_json::value::RawValue;
    if after.contains(json) {
        return vec![json.to_owned()];
    }
    let fields: std::collections::BTreeMap<String, &RawValue> =
        serde_json::from_str(json).expect("an object");
    let content = fields["content"].get();
    match serde_json::from_str::<Vec<&RawValue>>(content) {
        Ok(blocks) => blocks.iter().map(|b| b.get().to_owned()).collect(),
        Err(_) => vec![content.to_owned()],
    }
}

/// Invariants 3 and 4: whatever comes in, what is kept is there byte for byte, and JSON stays JSON.
#[test]
fn what_is_kept_is_kept_byte_for_byte() {
    for t in Transcript::campaign(0..150, &Knobs::default()) {
        for format in Format::ALL {
            let body = t.render(format).body();
            let (after, _, kept) = compacted(format, &body, &mut Rng::new(t.seed));
            let after = String::from_utf8(after).expect("UTF-8");
            let mut from = 0;
            for json in kept {
                for piece in pieces(&json, &after) {
                    let at = after[from..].find(&piece);
                    let at = at.unwrap_or_else(|| {
                        panic!("{} seed {}: {piece}\n{after}", format.name(), t.seed)
                    });
                    from += at + piece.len();
                }
            }
            let is_json = serde_json::from_str::<&serde_json::value::RawValue>(&after).is_ok();
            assert!(is_json, "{} seed {}", format.name(), t.seed);
        }
    }
}
