//! Names of tools as models are told of them: letters, digits, `_` and `-`, at most 64, no two the same.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

/// The longest name that every provider takes.
const LONGEST: usize = 64;

/// `mcp__SERVER__TOOL`, made fit. A name that had to be changed ends in some letters of its digest.
pub(crate) fn name(server: &str, tool: &str) -> String {
    let whole = format!("mcp__{server}__{tool}");
    let fit: String = whole
        .chars()
        .map(
            |c| match c.is_ascii_alphanumeric() || c == '_' || c == '-' {
                true => c,
                false => '_',
            },
        )
        .collect();
    match fit == whole && fit.len() <= LONGEST {
        true => fit,
        false => marked(&fit, &whole, 0),
    }
}

/// The same, other than those that are taken.
pub(crate) fn free(server: &str, tool: &str, taken: &mut BTreeSet<String>) -> String {
    let mut found = name(server, tool);
    let mut turn = 0;
    while !taken.insert(found.clone()) {
        turn += 1;
        found = marked(&found, &format!("{server}\0{tool}"), turn);
    }
    found
}

fn marked(fit: &str, whole: &str, turn: u32) -> String {
    let digest = Sha256::digest(format!("{whole}\0{turn}"));
    let mark: String = digest[..4].iter().map(|b| format!("{b:02x}")).collect();
    let room = LONGEST - mark.len() - 1;
    format!("{}_{mark}", &fit[..fit.len().min(room)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_fit_and_differ() {
        assert_eq!(name("files", "read_file"), "mcp__files__read_file");
        let all = [
            name("files", "read.file"),
            name("files", "read file"),
            name("files", &"x".repeat(80)),
            name("files", &format!("{}y", "x".repeat(80))),
            name("größe", "a"),
        ];
        let fit = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        for name in &all {
            assert!(name.len() <= LONGEST && name.chars().all(fit), "{name}");
        }
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    }

    #[test]
    fn two_ways_to_one_name_are_told_apart() {
        let mut taken = BTreeSet::new();
        let (one, two) = (free("a__b", "c", &mut taken), free("a", "b__c", &mut taken));
        assert_eq!(one, "mcp__a__b__c");
        assert_ne!(one, two);
        assert_eq!(two, {
            let mut taken = BTreeSet::from([one]);
            free("a", "b__c", &mut taken)
        });
    }
}
