//! A branch by position: units, prefix sums, and which messages are still in the active window.

use std::sync::Arc;

use crate::count::{TokenCounter, Weight};
use crate::history::History;
use crate::id::{Ident, NodeId};
use crate::record::Weights;
use crate::unit::{Pos, Units};
use crate::view::{MessageView, Role, Texts};

/// The path from the root to the head, with what is known by position. Appending costs O(log n).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Branch {
    path: Vec<NodeId>,
    views: Vec<Arc<MessageView>>,
    units: Units,
    /// `sums[i]` is the weight of the first `i` messages, unpatched.
    sums: Vec<Weight>,
    /// `bytes[i]` is what the texts of the first `i` messages have in bytes, unpatched.
    bytes: Vec<u64>,
    prefix: Ident,
}

impl Default for Branch {
    fn default() -> Self {
        let (path, views, units) = (Vec::new(), Vec::new(), Units::default());
        Self {
            path,
            views,
            units,
            sums: Vec::new(),
            bytes: Vec::new(),
            prefix: Ident::EMPTY,
        }
    }
}

impl Branch {
    /// The branch that ends at `head`. O(depth): used when the head moves, not when messages arrive.
    pub fn to(
        history: &History,
        head: Option<NodeId>,
        texts: &dyn Texts,
        counter: &dyn TokenCounter,
    ) -> Self {
        let mut branch = Self::default();
        for node in history.path(head) {
            if let Some(found) = history.node(node) {
                let weight = counter.message(&found.view, texts);
                branch.push(node, found.view.clone(), weight);
            }
        }
        branch
    }

    /// Adds the next message.
    pub fn push(&mut self, node: NodeId, view: Arc<MessageView>, weight: Weight) {
        self.units.push(&view);
        self.prefix = self.prefix.then(view.ident);
        self.path.push(node);
        let bytes: u64 = view.parts.iter().map(|part| u64::from(part.len)).sum();
        self.bytes.push(self.bytes.last().unwrap_or(&0) + bytes);
        self.views.push(view);
        self.sums.push(self.sum_before(self.sums.len()) + weight);
    }

    /// The next messages, which were not read: neighbouring numbers, both ends included. `view` is the placeholder of
    /// each and weighs nothing.
    pub(crate) fn skip(&mut self, (first, last): (NodeId, NodeId), view: &Arc<MessageView>) {
        let before = self.path.len();
        self.path.extend((first.0..=last.0).map(NodeId));
        let len = self.path.len();
        self.units.skip(len - before);
        self.views.resize(len, view.clone());
        self.bytes
            .resize(len, self.bytes.last().copied().unwrap_or(0));
        self.sums.resize(len, self.sum_before(before));
    }

    /// Makes room for so many more messages.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.path.reserve_exact(more);
        self.views.reserve_exact(more);
        self.sums.reserve_exact(more);
        self.bytes.reserve_exact(more);
        self.units.reserve(more);
    }

    /// The digest of the whole path, where messages before were not read.
    pub(crate) fn set_prefix(&mut self, prefix: Ident) {
        self.prefix = prefix;
    }

    pub(crate) fn replace_view(&mut self, at: Pos, view: Arc<MessageView>) {
        self.views[at] = view;
    }

    fn sum_before(&self, at: Pos) -> Weight {
        at.checked_sub(1).map_or(0, |i| self.sums[i])
    }

    /// Messages on the branch.
    pub fn len(&self) -> usize {
        self.path.len()
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.path.is_empty()
    }

    /// The nodes, oldest first.
    pub fn path(&self) -> &[NodeId] {
        &self.path
    }

    /// Digest of the whole path.
    pub fn prefix(&self) -> Ident {
        self.prefix
    }

    /// The newest message.
    pub fn head(&self) -> Option<NodeId> {
        self.path.last().copied()
    }

    /// Where `node` stands on this branch, if it does. O(log n), since node numbers ascend.
    pub fn position(&self, node: NodeId) -> Option<Pos> {
        self.path.binary_search(&node).ok()
    }

    /// The message at `at`.
    pub fn view(&self, at: Pos) -> &Arc<MessageView> {
        &self.views[at]
    }

    /// All messages.
    pub fn views(&self) -> &[Arc<MessageView>] {
        &self.views
    }

    /// The units.
    pub fn units(&self) -> &Units {
        &self.units
    }

    /// The weight of the messages in `from..to`, unpatched. O(1).
    pub fn weight(&self, from: Pos, to: Pos) -> Weight {
        self.sum_before(to) - self.sum_before(from)
    }

    /// Bytes of the texts of the messages in `from..to`, unpatched. O(1).
    pub fn bytes(&self, from: Pos, to: Pos) -> u64 {
        let before = |at: Pos| at.checked_sub(1).map_or(0, |i| self.bytes[i]);
        before(to) - before(from)
    }

    /// What the message at `at` weighs with its patches, given what the patched ones weigh. O(log n).
    pub(crate) fn patched_weight(&self, at: Pos, patched: &Weights) -> Weight {
        let known = patched.get(&self.path[at]).copied();
        known.unwrap_or_else(|| self.weight(at, at + 1))
    }

    /// The number of leading system messages: the run of them at the start.
    pub fn leading_system(&self) -> usize {
        self.views
            .iter()
            .take_while(|v| v.role == Role::System && !v.flags.summary)
            .count()
    }
}
