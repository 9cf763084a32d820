//! Sets of nodes, kept as sorted ranges: what a compaction removed, with pins surviving inside.

use serde::{Deserialize, Serialize};

use crate::id::NodeId;

/// A set of nodes of one branch. Node numbers ascend along a branch, so a run of neighbours is one range;
/// numbers of other branches that fall into a range mean nothing here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NodeRanges(Vec<(NodeId, NodeId)>);

impl NodeRanges {
    /// The set without any node.
    pub const EMPTY: Self = Self(Vec::new());

    /// Collects the nodes of `branch` (ascending) for which `is_in` holds; neighbours on the branch share a range.
    pub fn collect(branch: &[NodeId], mut is_in: impl FnMut(usize) -> bool) -> Self {
        let mut ranges: Vec<(NodeId, NodeId)> = Vec::new();
        let mut last_in = false;
        for (pos, &node) in branch.iter().enumerate() {
            let now_in = is_in(pos);
            match ranges.last_mut() {
                Some((_, end)) if now_in && last_in => *end = node,
                _ if now_in => ranges.push((node, node)),
                _ => {}
            }
            last_in = now_in;
        }
        Self(ranges)
    }

    /// Whether `node` is in the set. O(log ranges).
    pub fn contains(&self, node: NodeId) -> bool {
        let after = self.0.partition_point(|(start, _)| *start <= node);
        after.checked_sub(1).is_some_and(|i| node <= self.0[i].1)
    }

    /// The first node of a run, both ends included, that is not in the set. O(log ranges + ranges in the run).
    pub(crate) fn first_outside(&self, first: NodeId, last: NodeId) -> Option<NodeId> {
        let from = self.0.partition_point(|(_, end)| *end < first);
        let mut next = first;
        for (start, end) in &self.0[from..] {
            if *start > next || next > last {
                break;
            }
            next = NodeId(end.0.checked_add(1)?);
        }
        Some(next).filter(|next| *next <= last)
    }

    /// Whether the set has no node.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges, both ends included, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_become_ranges_and_gaps_split_them() {
        let branch: Vec<_> = [0, 1, 2, 5, 6, 9].map(NodeId).to_vec();
        let set = NodeRanges::collect(&branch, |pos| [0, 1, 3, 4, 5].contains(&pos));
        assert_eq!(
            set.iter().map(|(a, b)| (a.0, b.0)).collect::<Vec<_>>(),
            [(0, 1), (5, 9)]
        );
        let inside: Vec<_> = branch.iter().map(|n| set.contains(*n)).collect();
        assert_eq!(inside, [true, true, false, true, true, true]);
        let outside = |first, last| set.first_outside(NodeId(first), NodeId(last)).map(|n| n.0);
        let runs = [(0, 1), (1, 1), (0, 4), (2, 4), (5, 9), (6, 10), (10, 12)];
        let found = [None, None, Some(2), Some(2), None, Some(10), Some(10)];
        assert_eq!(runs.map(|(a, b)| outside(a, b)), found);
        let all = NodeRanges(vec![(NodeId(0), NodeId(u64::MAX))]);
        assert_eq!(all.first_outside(NodeId(0), NodeId(u64::MAX)), None);
        assert!(NodeRanges::collect(&branch, |_| false).is_empty());
    }
}
