//! The order in which the model reads the records of a chain.

use std::collections::{BTreeMap, BTreeSet};

use super::record::Record;

/// `chain` with the other records put in where they stand in the file, but never before what they belong to.
pub(super) fn merge(chain: &[usize], forks: Vec<(usize, usize)>) -> Vec<usize> {
    let mut newest = 0;
    let place: Vec<usize> = chain
        .iter()
        .map(|index| {
            newest = newest.max(*index);
            newest
        })
        .collect();
    let of_chain = chain
        .iter()
        .enumerate()
        .map(|(at, index)| ((place[at], at, 0), *index));
    let of_forks = forks.into_iter().map(|(at, index)| {
        let after = place[at].max(index);
        let at = place
            .partition_point(|p| *p <= after)
            .saturating_sub(1)
            .max(at);
        ((after, at, index), index)
    });
    let mut all: Vec<_> = of_chain.chain(of_forks).collect();
    all.sort_by_key(|(key, _)| *key);
    all.into_iter().map(|(_, index)| index).collect()
}

/// `sequence` with the blocks of each reply side by side: results that came while the model was still
/// writing stand behind it, as the model reads them. What a boundary `kept` stays in the order of its list.
pub(super) fn together(
    records: &[Record],
    sequence: Vec<usize>,
    kept: &BTreeSet<usize>,
) -> Vec<usize> {
    let mut turn = 0;
    let keys: Vec<_> = sequence
        .iter()
        .map(|index| {
            turn += usize::from(records[*index].is_prompt());
            let reply = records[*index].reply.as_deref();
            Some((turn, reply.filter(|_| !kept.contains(index))?))
        })
        .collect();
    let mut last = BTreeMap::new();
    for (position, key) in keys.iter().enumerate() {
        last.extend(key.map(|key| (key, position)));
    }
    let mut out = Vec::with_capacity(sequence.len());
    let mut waiting = Vec::new();
    let mut open = None;
    for (position, index) in sequence.into_iter().enumerate() {
        let reply = keys[position];
        if open.is_some() && reply != open {
            waiting.push(index);
            continue;
        }
        out.push(index);
        open = reply.filter(|reply| last[reply] > position);
        if open.is_none() {
            out.append(&mut waiting);
        }
    }
    out.append(&mut waiting);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forks_stand_where_the_file_has_them() {
        let check = |chain: &[usize], forks: &[(usize, usize)], expect: &[usize]| {
            assert_eq!(merge(chain, forks.to_vec()), expect);
        };
        check(&[1, 2, 6, 7], &[(1, 3), (1, 4)], &[1, 2, 3, 4, 6, 7]);
        check(&[1, 2, 6, 7], &[(3, 9), (0, 8)], &[1, 2, 6, 7, 8, 9]);
        // Kept records are old ones behind a new summary.
        check(
            &[20, 21, 3, 4, 25],
            &[(3, 5), (4, 26)],
            &[20, 21, 3, 4, 5, 25, 26],
        );
        check(&[20, 21, 3, 4, 25], &[(2, 22)], &[20, 21, 3, 4, 22, 25]);
        check(&[], &[], &[]);
    }
}
