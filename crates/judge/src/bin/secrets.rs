//! What the rules for secrets find in every real session: how much of which kind, how fast, and, to look at, where.
//!
//!     secrets [--show KIND] [FOLDER]
//!
//! Nothing that was found is printed: of a secret its first four letters and its length, with what stands before it.
#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context as _;
use conspectus::core::redact::{Found, Redactor};
use conspectus::core::view::{PartKind, PartRef, Texts as _};
use conspectus::{Document, OpenOptions};
use conspectus_judge::sessions::{files, shared};

/// Bytes before a secret that are shown.
const BEFORE: usize = 40;

fn main() -> anyhow::Result<()> {
    let mut show = None;
    let mut folder = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--show" => show = Some(arguments.next().context("--show KIND")?),
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
    let redactor = Redactor::default();
    let mut kinds: BTreeMap<&'static str, (u64, BTreeMap<String, u64>)> = BTreeMap::new();
    let (mut sessions, mut messages, mut parts, mut bytes) = (0_u64, 0, 0_u64, 0_u64);
    let mut spent = std::time::Duration::ZERO;
    for path in files(&folder)? {
        let Ok(document) = Document::open(std::fs::read(&path)?, &OpenOptions::default()) else {
            continue;
        };
        let name = path.strip_prefix(&folder).unwrap_or(&path);
        let name = name.iter().next().unwrap_or_default().to_string_lossy();
        for conversation in document.conversations() {
            sessions += 1;
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
                    let text = conversation.text(at);
                    parts += 1;
                    bytes += text.len() as u64;
                    #[expect(clippy::disallowed_methods, reason = "it measures")]
                    let start = Instant::now();
                    let found = redactor.find(&text);
                    spent += start.elapsed();
                    for one in found {
                        let (count, by_source) = kinds.entry(one.kind).or_default();
                        *count += 1;
                        *by_source.entry(name.to_string()).or_default() += 1;
                        if show
                            .as_deref()
                            .is_some_and(|kind| kind == one.kind || kind == "all")
                        {
                            println!("{name}: {}", shown(&text, &one));
                        }
                    }
                }
            }
        }
    }
    println!(
        "{sessions} conversations, {messages} messages, {parts} texts, {:.1} MB, searched at {:.0} MB/s",
        bytes as f64 / 1e6,
        bytes as f64 / 1e6 / spent.as_secs_f64()
    );
    for (kind, (count, by_source)) in kinds {
        let sources: Vec<String> = by_source.iter().map(|(s, n)| format!("{s} {n}")).collect();
        println!("{count:6}  {kind:<20} {}", sources.join(", "));
    }
    Ok(())
}

fn shown(text: &str, one: &Found) -> String {
    let before = text.floor_char_boundary(one.range.start.saturating_sub(BEFORE));
    let secret = &text[one.range.clone()];
    let head: String = secret.chars().take(4).collect();
    let context = text[before..one.range.start].replace(char::is_control, " ");
    format!("…{context}«{head}… {} bytes»", secret.len())
}
