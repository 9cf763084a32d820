//! Every real session that we have, compacted at several triggers: does it read, is the result valid and smaller?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use conspectus::core::policy::{Clause, Preset, TriggerOption};
use conspectus::wire::{Target, valid};
use conspectus::{
    CompactRequest, Conversation, Document, Embedded, Format, OpenOptions, Options, Outcome,
    Projection, Reason, RenderContext, compact, inspect,
};

/// Triggers of our own preset, as shares of a conversation's size; the presets that follow a peer are tried at the middle one.
const SHARES: [f64; 3] = [0.10, 0.25, 0.50];
const PEERS_SHARE: [f64; 1] = [0.25];

/// What one format's sessions came to.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Names of the files read.
    pub files: Vec<String>,
    /// Conversations in them.
    pub conversations: u32,
    /// Messages in these.
    pub messages: u64,
    /// Compactions tried: conversations times triggers.
    pub tried: u32,
    /// By outcome.
    pub outcomes: BTreeMap<&'static str, u32>,
    /// Tokens before and after, of those that changed.
    pub tokens: (u64, u64),
    /// What did not change, and why.
    pub unchanged: Vec<String>,
    /// Of those that changed: the result has faults that the input had not.
    pub invalid: Vec<String>,
    /// Of those that changed: the result is not smaller.
    pub larger: Vec<String>,
}

/// The folder with real sessions: `CONSPECTUS_SHARED`, or `shared` beside the project.
pub fn shared() -> Option<PathBuf> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test tool asks where its data is"
    )]
    let named = std::env::var("CONSPECTUS_SHARED").ok().map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    named.or(Some(beside)).filter(|p| p.join("data").is_dir())
}

/// All files below `folder`, sorted.
pub fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut out = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in
            std::fs::read_dir(&next).with_context(|| format!("cannot list {}", next.display()))?
        {
            let path = entry?.path();
            match path.extension().and_then(|e| e.to_str()) {
                _ if path.is_dir() => open.push(path),
                Some("json" | "jsonl" | "traj") => out.push(path),
                _ => {}
            }
        }
    }
    out.sort();
    Ok(out)
}

/// Compacts every conversation of a document in one preset and adds what came out to `tally`.
fn try_document(
    name: &str,
    document: &Document,
    preset: Preset,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    tally.files.push(name.to_owned());
    let forms = Form::of(document)?;
    for (index, conversation) in document.conversations().iter().enumerate() {
        tally.conversations += 1;
        tally.messages += conversation.views().len() as u64;
        let shares: &[f64] = if preset == Preset::Default {
            &SHARES
        } else {
            &PEERS_SHARE
        };
        for share in shares {
            tally.tried += 1;
            try_one(name, document, index, (preset, *share), &forms, tally)?;
        }
    }
    Ok(())
}

fn request(size: u64, (preset, share): (Preset, f64)) -> CompactRequest {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a token count"
    )]
    let tokens = ((size as f64 * share) as u64).max(1);
    let trigger = TriggerOption::Any(vec![Clause {
        tokens: Some(tokens),
        ..Clause::default()
    }]);
    let options = Options {
        trigger,
        enabled: Some(true),
        max_context: Some((size * 2).max(1_000)),
        ..Options::from(preset)
    };
    CompactRequest::command(options)
}

/// How the result of a compaction is written: in place, or for logs in each form that they can be converted to.
struct Form {
    /// In place without one.
    target: Option<Target>,
    /// The format of what is written.
    format: Format,
    /// The file in this form with nothing compacted.
    whole: Document,
    /// What is wrong with that, by conversation.
    rules: BTreeMap<usize, Vec<String>>,
}

impl Form {
    fn of(document: &Document) -> anyhow::Result<Vec<Self>> {
        let targets = match document.format().is_written_in_place() {
            true => vec![None],
            false => vec![Some(Target::OpenAi), Some(Target::Neutral)],
        };
        let forms = targets.into_iter().map(|target| {
            let format = target.map_or(document.format(), Target::format);
            let bytes = written(document, &[], target)?;
            let rules = broken_rules(format, &bytes);
            let whole = reopened(bytes, format)?;
            Ok(Self {
                target,
                format,
                whole,
                rules,
            })
        });
        forms.collect()
    }
}

fn written(
    document: &Document,
    edits: &[(usize, &Projection)],
    target: Option<Target>,
) -> anyhow::Result<Vec<u8>> {
    Ok(match target {
        Some(target) => document.convert(edits, target)?,
        None => document.render(edits, &RenderContext::default())?,
    })
}

fn reopened(bytes: Vec<u8>, format: Format) -> anyhow::Result<Document> {
    let options = OpenOptions {
        format: Some(format),
        lenient: false,
    };
    Ok(Document::open(bytes, &options)?)
}

/// What is wrong with each conversation by the provider's own rules. Session files are no requests; of Codex's, whose
/// records hold the items of one, what is in sight is judged. Positions are left out, since they differ before and
/// after.
fn broken_rules(format: Format, bytes: &[u8]) -> BTreeMap<usize, Vec<String>> {
    let mut out = BTreeMap::<usize, Vec<String>>::new();
    let faults = match format {
        Format::Codex => valid::check(Format::Responses, &in_sight(bytes)),
        format => valid::check(format, bytes),
    };
    for fault in faults {
        out.entry(fault.conversation)
            .or_default()
            .push(format!("{:?}", fault.rule));
    }
    out
}

/// The items in sight in a rollout, as a request. A summary that stands there as a bare string is a message.
fn in_sight(rollout: &[u8]) -> Vec<u8> {
    let options = OpenOptions {
        format: Some(Format::Codex),
        lenient: true,
    };
    let document = Document::open(rollout.to_vec(), &options);
    let items: Vec<String> = document
        .iter()
        .flat_map(Document::conversations)
        .flat_map(|conversation| {
            let items = conversation
                .views()
                .iter()
                .map(|view| conversation.json_of(view.handle));
            items.map(|json| match json.starts_with('"') {
                true => format!(r#"{{"role":"user","content":{json}}}"#),
                false => json.to_owned(),
            })
        })
        .collect();
    format!(r#"{{"model":"m","input":[{}]}}"#, items.join(",")).into_bytes()
}

/// What is wrong with it by the core's automaton.
fn pairing(conversation: &Conversation, size: u64) -> anyhow::Result<Vec<String>> {
    Ok(inspect(conversation, &request(size, (Preset::Default, 0.5)))?.pairing_faults)
}

fn try_one(
    name: &str,
    document: &Document,
    index: usize,
    case: (Preset, f64),
    forms: &[Form],
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let conversation = &document.conversations()[index];
    let who = || {
        format!(
            "{name} conversation {} with {} at {}",
            conversation.label(),
            case.0.name(),
            case.1
        )
    };
    let whole = CompactRequest::command(Options::default());
    let size = inspect(conversation, &whole)?.tokens;
    let result =
        compact(conversation, &request(size, case), &mut Embedded::default()).with_context(who)?;
    *tally
        .outcomes
        .entry(result.report.outcome.as_str())
        .or_default() += 1;
    if !matches!(result.report.outcome, Outcome::Compacted | Outcome::Pruned) {
        let reasons: Vec<&str> = result.report.reasons.iter().map(Reason::as_str).collect();
        tally.unchanged.push(format!(
            "{}: {} at {size} tokens in {} messages {}",
            who(),
            result.report.outcome,
            conversation.views().len(),
            reasons.join(" ")
        ));
        return Ok(());
    }
    let projection = result.projection();
    for form in forms {
        let who = || match form.target {
            Some(target) => format!("{} as {}", who(), target.name()),
            None => who(),
        };
        let bytes = written(document, &[(index, &projection)], form.target).with_context(who)?;
        let rules_after = broken_rules(form.format, &bytes);
        let again = reopened(bytes, form.format).with_context(who)?;
        let (before, after) = (
            &form.whole.conversations()[index],
            &again.conversations()[index],
        );
        let mut known = pairing(before, size)?;
        known.extend(form.rules.get(&index).into_iter().flatten().cloned());
        let mut now = pairing(after, size)?;
        now.extend(rules_after.get(&index).into_iter().flatten().cloned());
        for fault in now {
            match known.iter().position(|k| *k == fault) {
                Some(old) => drop(known.remove(old)),
                None => tally.invalid.push(format!("{}: {fault}", who())),
            }
        }
        let larger = inspect(before, &whole)?.tokens;
        let smaller = inspect(after, &whole)?.tokens;
        tally.tokens.0 += larger;
        tally.tokens.1 += smaller;
        if smaller >= larger {
            tally
                .larger
                .push(format!("{}: {larger} tokens became {smaller}", who()));
        }
    }
    Ok(())
}

/// All sessions below `folder`, by format and preset; files of formats that are not read yet are counted under their folder.
pub fn all(folder: &Path) -> anyhow::Result<(BTreeMap<String, Tally>, Vec<String>)> {
    let mut tallies = BTreeMap::<String, Tally>::new();
    let mut unread = Vec::new();
    for path in files(folder)? {
        let name = path
            .strip_prefix(folder)
            .unwrap_or(&path)
            .display()
            .to_string();
        let bytes = std::fs::read(&path).with_context(|| format!("cannot read {name}"))?;
        match Document::open(bytes, &OpenOptions::default()) {
            Ok(document) => {
                for preset in Preset::ALL {
                    let key = format!("{}, {}", document.format(), preset.name());
                    try_document(&name, &document, preset, tallies.entry(key).or_default())?;
                }
            }
            Err(why) => unread.push(format!("{name}: {why}")),
        }
    }
    Ok((tallies, unread))
}
