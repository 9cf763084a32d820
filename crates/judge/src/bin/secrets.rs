//! What the rules for secrets find in every real session: how much of which kind, how fast, and, to look at, where.
//!
//!     secrets [--show KIND] [FOLDER]
//!
//! Nothing that was found is printed: of a secret its first four letters and its length, with what stands before it.
#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use conspectus::core::redact::{Found, Redactor};
use conspectus::core::view::{PartKind, PartRef, Texts as _};
use conspectus::{Document, OpenOptions};
use conspectus_judge::sessions::{files, shared};

/// Bytes before a secret that are shown.
const BEFORE: usize = 40;

/// What was searched, and what was found in it.
#[derive(Default)]
struct Tally {
    texts: u64,
    bytes: u64,
    spent: Duration,
    kinds: BTreeMap<&'static str, BTreeMap<String, u64>>,
}

fn main() -> anyhow::Result<()> {
    let mut show = None;
    let mut folder = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--show" => show = Some(arguments.next().context("--show KIND, or all")?),
            other => folder = Some(PathBuf::from(other)),
        }
    }
    let folder = match folder {
        Some(folder) => folder,
        None => match shared() {
            Some(shared) => shared.join("data"),
            None => {
                println!("shared data not found, nothing was read");
                return Ok(());
            }
        },
    };
    let (mut texts, mut raw) = (Tally::default(), Tally::default());
    let (mut conversations, mut messages) = (0_u64, 0);
    for path in files(&folder)? {
        let name = path.strip_prefix(&folder).unwrap_or(&path);
        let name = name.iter().next().unwrap_or_default().to_string_lossy();
        let bytes = std::fs::read(&path)?;
        raw.search(&name, &String::from_utf8_lossy(&bytes), show.as_deref());
        let Ok(document) = Document::open(bytes, &OpenOptions::default()) else {
            continue;
        };
        for conversation in document.conversations() {
            conversations += 1;
            messages += conversation.views().len();
            for view in conversation.views() {
                for (index, part) in view.parts.iter().enumerate() {
                    if matches!(part.kind, PartKind::Media(_)) {
                        continue;
                    }
                    let at = PartRef {
                        message: view.handle,
                        part: u16::try_from(index)?,
                    };
                    texts.search(&name, &conversation.text(at), None);
                }
            }
        }
    }
    println!("{conversations} conversations, {messages} messages");
    texts.print("texts");
    raw.print("whole files");
    Ok(())
}

impl Tally {
    fn search(&mut self, source: &str, text: &str, show: Option<&str>) {
        let redactor = Redactor::default();
        #[expect(clippy::disallowed_methods, reason = "it measures")]
        let start = Instant::now();
        let found = redactor.find(text);
        self.spent += start.elapsed();
        self.texts += 1;
        self.bytes += text.len() as u64;
        for one in found {
            let by_source = self.kinds.entry(one.kind).or_default();
            *by_source.entry(source.to_owned()).or_default() += 1;
            if show.is_some_and(|kind| kind == one.kind || kind == "all") {
                println!("{source}: {}", shown(text, &one));
            }
        }
    }

    fn print(&self, what: &str) {
        let mb = self.bytes as f64 / 1e6;
        let speed = mb / self.spent.as_secs_f64().max(1e-9);
        println!("{} {what}, {mb:.1} MB, {speed:.0} MB/s", self.texts);
        for (kind, by_source) in &self.kinds {
            let count: u64 = by_source.values().sum();
            let sources: Vec<String> = by_source.iter().map(|(s, n)| format!("{s} {n}")).collect();
            println!("{count:6}  {kind:<20} {}", sources.join(", "));
        }
    }
}

fn shown(text: &str, one: &Found) -> String {
    let before = text.floor_char_boundary(one.range.start.saturating_sub(BEFORE));
    let secret = &text[one.range.clone()];
    let head: String = secret.chars().take(4).collect();
    let context = text[before..one.range.start].replace(char::is_control, " ");
    format!("…{context}«{head}… {} bytes»", secret.len())
}
