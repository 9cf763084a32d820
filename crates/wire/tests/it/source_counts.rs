//! The counts of each data set's `SOURCE.md`, found again by our readers.

use conspectus_core::view::{MediaKind, PartKind};
use conspectus_wire::{Document, Format, OpenOptions, RecordCounts};

use crate::support::shared;

/// Folders and the format of their files.
const FOLDERS: [(&str, Format); 12] = [
    ("cline", Format::Cline),
    ("copilot-cli", Format::Copilot),
    ("gemini-cli", Format::GeminiCli),
    ("gemini-cli-pomodoro", Format::GeminiCli),
    ("inspect-ai", Format::Inspect),
    ("mini-swe-agent", Format::MiniSweAgent),
    ("openhands", Format::OpenHands),
    ("openhands-traj", Format::OpenHands),
    ("pi", Format::Pi),
    ("swe-agent", Format::SweAgent),
    ("swe-agent-llm-log", Format::OpenAi),
    ("swe-smith", Format::SweAgent),
];

/// What the views of one conversation, or of all, hold.
fn in_views(document: &Document, only: Option<usize>) -> RecordCounts {
    let mut counts = RecordCounts::default();
    for (n, conversation) in document.conversations().iter().enumerate() {
        if only.is_some_and(|only| only != n) {
            continue;
        }
        for view in conversation.views() {
            counts.messages += 1;
            counts.summaries += usize::from(view.flags.summary);
            for part in &view.parts {
                match part.kind {
                    PartKind::Call { .. } => counts.calls += 1,
                    PartKind::Result { .. } => counts.results += 1,
                    PartKind::Media(MediaKind::Image) => counts.images += 1,
                    _ => {}
                }
            }
        }
    }
    counts
}

#[test]
fn counts_of_the_sources() {
    let Some(shared) = shared() else {
        println!("shared data not found, {} checks left out", FOLDERS.len());
        return;
    };
    let mut checked = 0;
    for (folder, format) in FOLDERS {
        let folder = shared.join("data").join(folder);
        let table = std::fs::read_to_string(folder.join("SOURCE.md")).unwrap();
        for row in table.lines().filter(|line| line.starts_with("| ")) {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            let Ok(conversations) = cells[5].parse::<usize>() else {
                continue;
            };
            let number = |n: usize| cells[n].parse::<usize>().unwrap();
            let bytes = std::fs::read(folder.join(cells[0])).unwrap();
            let document = Document::open(bytes, &OpenOptions::default()).expect(cells[0]);
            assert_eq!(document.format(), format, "{}", cells[0]);
            assert_eq!(document.faults(), [], "{}", cells[0]);
            // The log of calls repeats the conversation as it grows; the last one counts.
            let is_growing = folder.ends_with("swe-agent-llm-log");
            let last = document.conversations().len() - 1;
            if !is_growing {
                assert_eq!(
                    document.conversations().len(),
                    conversations,
                    "{}",
                    cells[0]
                );
            }
            let counts = document
                .record_counts()
                .unwrap_or_else(|| in_views(&document, is_growing.then_some(last)));
            let expected = RecordCounts {
                messages: number(6),
                calls: number(7),
                results: number(8),
                images: number(9),
                summaries: number(10),
            };
            assert_eq!(counts, expected, "{}", cells[0]);
            checked += 1;
        }
    }
    assert_eq!(checked, 28, "every row of every table");
}
