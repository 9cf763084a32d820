//! What is needed later: names and edited files from before a cut, told from what came behind it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::entity::{Kind, entities, occurs};
use crate::part::{Part, PartKind, groups, written};

/// A conversation cut in two, and what the second half needs of the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Later {
    /// The parts before the cut, as indices.
    pub before: Vec<usize>,
    /// Names seen before the cut that agent or user write again behind it before a result shows them.
    pub names: BTreeMap<String, Kind>,
    /// Names of files that an edit before the cut changed, without their folders.
    pub edited: BTreeSet<String>,
}

static EDITS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("(?i)edit|write|patch|create|replace").expect("patterns are constant")
});
static TARGET: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#""(?:file_path|path|filename|notebook_path)"\s*:\s*"([^"]+)""#)
        .expect("patterns are constant")
});

/// Cuts after the first `cut` groups. Names in the system prompt, and in more than 40% of the groups before the cut,
/// are not counted: they are there in any case, or nobody can miss them.
pub fn later(parts: &[Part], cut: usize) -> Later {
    let groups = groups(parts);
    let (first, second) = groups.split_at(cut.min(groups.len()));
    let mut seen: BTreeMap<String, (Kind, usize)> = BTreeMap::new();
    for group in first {
        let mut here = BTreeMap::new();
        for at in group {
            here.extend(entities(&written(&parts[*at])));
        }
        for (name, kind) in here {
            seen.entry(name).or_insert((kind, 0)).1 += 1;
        }
    }
    let systems = parts.iter().filter(|part| part.role == "system");
    let system: Vec<&str> = systems.map(|part| part.text.as_str()).collect();
    let system = system.join("\n");
    // n <= max(2, 0.4 * cut), in whole numbers.
    let rare = |n: usize| n <= 2 || n * 5 <= cut * 2;
    let (mut names, mut shown) = (BTreeMap::new(), BTreeSet::new());
    for part in second.iter().flatten().map(|at| &parts[*at]) {
        match part.kind {
            PartKind::Result => shown.extend(entities(&written(part)).into_keys()),
            PartKind::Text | PartKind::Call => {
                for name in entities(&written(part)).into_keys() {
                    let Some((kind, n)) = seen.get(&name) else {
                        continue;
                    };
                    if rare(*n) && !shown.contains(&name) && !occurs(&system, &name) {
                        names.insert(name, *kind);
                    }
                }
            }
            _ => {}
        }
    }
    let before: Vec<usize> = first.iter().flatten().copied().collect();
    let edited = before.iter().filter_map(|at| target(&parts[*at])).collect();
    Later {
        before,
        names,
        edited,
    }
}

fn target(part: &Part) -> Option<String> {
    if part.kind != PartKind::Call || !EDITS.is_match(&part.name) {
        return None;
    }
    let path = TARGET.captures(&part.text)?.get(1)?.as_str();
    Some(path.rsplit('/').next().unwrap_or(path).to_owned())
}
