//! Every real session that we have, compacted at several triggers: does it read, is the result valid and smaller?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use conspectus::core::policy::{Clause, Preset, TriggerOption};
use conspectus::wire::valid;
use conspectus::{
    CompactRequest, Conversation, Document, Embedded, Format, OpenOptions, Options, Outcome,
    Reason, RenderContext, compact, inspect,
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
    let rules = broken_rules(document, &document.render(&[], &RenderContext::default())?);
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
            try_one(name, document, index, (preset, *share), &rules, tally)?;
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

/// What is wrong with each conversation by the provider's own rules. Session files are no requests; of Codex's, whose
/// records hold the items of one, what is in sight is judged. Positions are left out, since they differ before and
/// after.
fn broken_rules(document: &Document, bytes: &[u8]) -> BTreeMap<usize, Vec<String>> {
    let mut out = BTreeMap::<usize, Vec<String>>::new();
    let faults = match document.format() {
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
    rules_before: &BTreeMap<usize, Vec<String>>,
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
    let written = document
        .render(&[(index, &result.projection())], &RenderContext::default())
        .with_context(who)?;
    let rules_after = broken_rules(document, &written);
    let options = OpenOptions {
        format: Some(document.format()),
        lenient: false,
    };
    let again = Document::open(written, &options).with_context(who)?;
    let after = &again.conversations()[index];
    let mut known = pairing(conversation, size)?;
    known.extend(rules_before.get(&index).into_iter().flatten().cloned());
    let mut now = pairing(after, size)?;
    now.extend(rules_after.get(&index).into_iter().flatten().cloned());
    for fault in now {
        match known.iter().position(|k| *k == fault) {
            Some(old) => drop(known.remove(old)),
            None => tally.invalid.push(format!("{}: {fault}", who())),
        }
    }
    let smaller = inspect(after, &whole)?.tokens;
    tally.tokens.0 += size;
    tally.tokens.1 += smaller;
    if smaller >= size {
        tally
            .larger
            .push(format!("{}: {size} tokens became {smaller}", who()));
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
