//! The history of a thread: an append-only tree of messages. Nothing is ever edited or taken out.
//!
//! Clients rewind, edit, retry and branch; each of these only moves the head. A [`Branch`](crate::window::Branch) is the path from
//! the root to a head, with everything that is worth knowing by position.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::{Ident, NodeId};
use crate::view::MessageView;

/// One message in the tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Node {
    /// The message before it; `None` for a first message.
    pub parent: Option<NodeId>,
    /// Digest of the path up to and including this message.
    pub prefix: Ident,
    /// The message.
    pub view: Arc<MessageView>,
}

/// The tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct History {
    nodes: Vec<Node>,
}

impl History {
    /// Adds a message after `parent`. O(1).
    pub fn append(&mut self, parent: Option<NodeId>, view: Arc<MessageView>) -> NodeId {
        let before = parent
            .and_then(|p| self.node(p))
            .map_or(Ident::EMPTY, |n| n.prefix);
        let id = NodeId(self.nodes.len() as u64);
        self.nodes.push(Node {
            parent,
            prefix: before.then(view.ident),
            view,
        });
        id
    }

    /// Makes room for so many more.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.nodes.reserve_exact(more);
    }

    /// The next node of a history that was stored.
    pub(crate) fn restore(&mut self, node: Node) {
        self.nodes.push(node);
    }

    /// The next nodes, which were not read: `node` stands for each.
    pub(crate) fn restore_absent(&mut self, count: usize, node: Node) {
        self.nodes.resize(self.nodes.len() + count, node);
    }

    /// A node, if there is one of that id.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(usize::try_from(id.0).ok()?)
    }

    /// Replaces what is *known about* a message (usage that came late, a pin), never what it says.
    pub(crate) fn annotate(&mut self, id: NodeId, change: impl FnOnce(&mut MessageView)) {
        if let Some(node) = usize::try_from(id.0)
            .ok()
            .and_then(|i| self.nodes.get_mut(i))
        {
            let ident = node.view.ident;
            change(Arc::make_mut(&mut node.view));
            debug_assert_eq!(
                ident, node.view.ident,
                "annotating must not change a message's identity"
            );
        }
    }

    /// The path from the root to `head`, oldest first. O(depth).
    pub fn path(&self, head: Option<NodeId>) -> Vec<NodeId> {
        let mut path = Vec::new();
        let mut next = head;
        while let Some(id) = next {
            path.push(id);
            next = self.node(id).and_then(|n| n.parent);
        }
        path.reverse();
        path
    }

    /// How many messages there are, over all branches.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}
