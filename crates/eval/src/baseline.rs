//! What a compactor must beat: the newest whole groups, and the same with old results cut short.

use crate::part::{Part, PartKind, groups, render_all, tokens};

/// The newest whole groups that fit `budget` tokens; the end of the newest one when not even that does.
pub fn keep_last(parts: &[Part], budget: usize) -> String {
    let (mut kept, mut used) = (Vec::new(), 0);
    for group in groups(parts).iter().rev() {
        let text = render_all(group.iter().map(|at| &parts[*at]));
        let size = tokens(&text);
        if used + size > budget {
            if kept.is_empty() {
                let skip = text
                    .chars()
                    .count()
                    .saturating_sub(budget.saturating_mul(4));
                kept.push(text.chars().skip(skip).collect());
            }
            break;
        }
        kept.push(text);
        used += size;
    }
    kept.reverse();
    kept.join("\n")
}

/// All but the 10 newest results cut to 120 characters, then [`keep_last`].
pub fn mask_results(parts: &[Part], budget: usize) -> String {
    let results = parts
        .iter()
        .filter(|part| part.kind == PartKind::Result)
        .count();
    let (mut nth, mut masked) = (0, parts.to_vec());
    for part in masked
        .iter_mut()
        .filter(|part| part.kind == PartKind::Result)
    {
        nth += 1;
        if nth + 10 > results {
            break;
        }
        let cut = part.text.chars().count() > 120;
        let head: String = part.text.chars().take(120).collect();
        part.text = head.replace('\n', " ") + if cut { " …[masked]" } else { "" };
    }
    keep_last(&masked, budget)
}
