//! Real transcripts: nothing is lost, everything is counted.

use std::collections::BTreeMap;

use conspectus_core::view::{MediaKind, PartKind};
use conspectus_wire::{Conversation, Document, OpenOptions, RenderContext};

use crate::support::{data, everything, shared};

/// File, conversation, and the numbers of messages, calls, results and images.
type Row = (String, String, [usize; 4]);

fn expected() -> Vec<Row> {
    data("counts.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let fields: Vec<_> = line.split(' ').collect();
            let number = |n: usize| fields[n].parse().unwrap();
            let numbers = [number(2), number(3), number(4), number(5)];
            (fields[0].to_owned(), fields[1].to_owned(), numbers)
        })
        .collect()
}

fn counted(conversation: &Conversation) -> [usize; 4] {
    let parts = || conversation.views().iter().flat_map(|view| &view.parts);
    let count = |is: fn(&PartKind) -> bool| parts().filter(|part| is(&part.kind)).count();
    [
        conversation.views().len(),
        count(|kind| matches!(kind, PartKind::Call { .. })),
        count(|kind| matches!(kind, PartKind::Result { .. })),
        count(|kind| matches!(kind, PartKind::Media(MediaKind::Image))),
    ]
}

#[test]
fn counts_and_bytes_of_real_files() {
    let rows = expected();
    let Some(folder) = shared() else {
        println!("shared data not found, {} checks left out", rows.len());
        return;
    };
    let mut files: BTreeMap<String, Vec<(String, [usize; 4])>> = BTreeMap::new();
    for (file, label, counts) in rows {
        files.entry(file).or_default().push((label, counts));
    }
    for (file, expected) in files {
        let bytes = std::fs::read(folder.join("data").join(&file)).unwrap();
        let document = Document::open(bytes.clone(), &OpenOptions::default()).expect(&file);
        assert_eq!(document.faults(), [], "{file}");
        let found = document.conversations();
        let numbers: Vec<_> = found.iter().map(counted).collect();
        let numbers_expected: Vec<_> = expected.iter().map(|row| row.1).collect();
        assert_eq!(numbers, numbers_expected, "{file}");
        if found.len() > 1 && !file.starts_with("swe-smith") {
            let labels: Vec<_> = found.iter().map(Conversation::label).collect();
            let labels_expected: Vec<_> = expected.iter().map(|row| row.0.as_str()).collect();
            assert_eq!(labels, labels_expected, "{file}");
        }
        let projections: Vec<_> = found.iter().map(everything).collect();
        let edits: Vec<_> = projections.iter().enumerate().collect();
        let again = document.render(&edits, &RenderContext::default()).unwrap();
        assert!(again == bytes, "{file} changed although nothing was");
    }
}
