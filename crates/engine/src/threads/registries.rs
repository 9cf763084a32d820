//! What code keeps of a conversation whatever is folded, with the places where it was said.

use std::sync::Arc;

use conspectus_core::id::NodeId;
use conspectus_core::ledger::{CommitFact, Delegation, ErrorFact, Force, PastRule, TestFact, Todo};
use conspectus_core::view::{MessageView, PartKind, PartRef, Role, Texts};
use serde::Serialize;
use serde_json::Value;

use super::Threads;
use super::error::ThreadsError;
use super::message::handle;
use super::open::{Much, Opened};
use super::settings::Asked;
use super::shelf::Shelf;
use crate::clock::Clock;
use crate::store::ThreadKey;

/// The beginning of a pinned message that is shown, in bytes.
const SHOWN: usize = 240;

/// What code keeps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Registries {
    /// Standing rules, oldest first.
    pub constraints: Vec<ListedRule>,
    /// Rules that hold no more.
    pub past_constraints: Vec<PastRule>,
    /// Work given to other agents, oldest first.
    pub delegations: Vec<Delegation>,
    /// Skills that were loaded, newest last.
    pub skills: Vec<Value>,
    /// The newest plan.
    pub todos: Vec<Todo>,
    /// Files that were touched, by path.
    pub files: Vec<ListedFile>,
    /// The last test run.
    pub test: Option<TestFact>,
    /// The last failure that was not overcome.
    pub error: Option<ErrorFact>,
    /// The branch of the repository.
    pub branch: Option<Arc<str>>,
    /// The last commit.
    pub commit: Option<CommitFact>,
    /// Addresses that were fetched.
    pub urls: Vec<Arc<str>>,
    /// Pinned messages, oldest first.
    pub pins: Vec<ListedPin>,
}

/// A standing rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedRule {
    /// In the speaker's own words.
    pub text: Arc<str>,
    /// Who said it.
    pub role: Role,
    /// How firmly.
    pub force: Force,
    /// The place of the message that says it.
    pub position: u64,
    /// That message's id.
    pub message_id: Option<Arc<str>>,
    /// It is folded: the model knows the rule from here only.
    pub folded: bool,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedFile {
    /// Its path.
    pub path: Arc<str>,
    /// What happened to it, in words.
    pub state: String,
    /// Anything but read.
    pub changed: bool,
    /// The place of the message that touched it last.
    pub position: u64,
}

/// A message that is kept for good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedPin {
    /// Its place.
    pub position: u64,
    /// Its id.
    pub message_id: Option<Arc<str>>,
    /// Who speaks.
    pub role: Role,
    /// How it begins.
    pub text: String,
    /// It was folded before it was pinned, and is so until that compaction is taken back.
    pub folded: bool,
}

impl<C: Clock> Threads<C> {
    /// What code keeps of a thread. Costs what is in the window.
    ///
    /// # Errors
    /// When there is no such thread.
    pub async fn registries(&self, key: &ThreadKey) -> Result<Registries, ThreadsError> {
        let opened = self.open(key, Much::Window, &Asked::default()).await?;
        let ledger = opened.thread.ledger();
        let path = opened.thread.branch().path();
        let mut constraints = Vec::new();
        for rule in ledger.rules() {
            let node = usize::try_from(rule.message).ok();
            let node = node.and_then(|at| path.get(at)).copied();
            let removed = opened.thread.active().map(|record| &record.removed);
            constraints.push(ListedRule {
                text: rule.text.clone(),
                role: rule.role,
                force: rule.force,
                position: rule.message,
                message_id: match node {
                    Some(node) => self.id_of(key, &opened, node).await?,
                    None => None,
                },
                folded: node
                    .zip(removed)
                    .is_some_and(|(node, all)| all.contains(node)),
            });
        }
        let files = ledger.files().map(|(path, fact)| ListedFile {
            path: path.into(),
            state: fact.state().to_string(),
            changed: fact.is_changed(),
            position: fact.last,
        });
        let mut pins = pins(&opened);
        pins.extend(self.folded_pins(key, &opened, &pins).await?);
        pins.sort_by_key(|pin| pin.position);
        let registries = Registries {
            constraints,
            past_constraints: ledger.constraints().past().to_vec(),
            delegations: ledger.delegations().to_vec(),
            skills: opened.meta.skills.clone(),
            todos: ledger.todos().to_vec(),
            files: files.collect(),
            test: ledger.test().cloned(),
            error: ledger.error().cloned(),
            branch: ledger.branch().map(Arc::from),
            commit: ledger.commit().cloned(),
            urls: ledger.urls().to_vec(),
            pins,
        };
        self.leave_open(key, opened);
        Ok(registries)
    }

    /// Pinned messages that are not in the window.
    async fn folded_pins(
        &self,
        key: &ThreadKey,
        opened: &Opened,
        listed: &[ListedPin],
    ) -> Result<Vec<ListedPin>, ThreadsError> {
        let mut pins = Vec::new();
        for node in &opened.meta.folded_pins {
            let mut path = opened.thread.branch().path().iter();
            let Some(position) = path.position(|one| one == node) else {
                continue;
            };
            if listed.iter().any(|pin| pin.position == position as u64) {
                continue;
            }
            let found = self.store().messages(key, *node, *node).await?;
            let shelf = Shelf::of(&found);
            let views = found.iter().map(|stored| &stored.message.known.view);
            let pinned = views.filter(|view| view.flags.pinned);
            pins.extend(pinned.map(|view| ListedPin {
                folded: true,
                ..pin(position, *node, view, &shelf)
            }));
        }
        Ok(pins)
    }

    /// The id of a message, read where it is not at hand.
    async fn id_of(
        &self,
        key: &ThreadKey,
        opened: &Opened,
        node: NodeId,
    ) -> Result<Option<Arc<str>>, ThreadsError> {
        if let Some(id) = opened.shelf.id(node) {
            return Ok(Some(id.clone()));
        }
        let found = self.store().messages(key, node, node).await?;
        let found = found.into_iter().next();
        Ok(found.and_then(|stored| stored.message.native_id))
    }
}

fn pins(opened: &Opened) -> Vec<ListedPin> {
    let branch = opened.thread.branch();
    let removed = opened.thread.active().map(|record| &record.removed);
    let all = branch.path().iter().zip(branch.views()).enumerate();
    let pinned = all.filter(|(_, (_, view))| view.flags.pinned);
    pinned
        .map(|(position, (node, view))| ListedPin {
            folded: removed.is_some_and(|all| all.contains(*node)),
            ..pin(position, *node, view, &opened.shelf)
        })
        .collect()
}

/// A pinned message as it is listed, in sight.
fn pin(position: usize, node: NodeId, view: &MessageView, shelf: &Shelf) -> ListedPin {
    let mut parts = view.parts.iter();
    let text = parts.position(|part| matches!(part.kind, PartKind::Text));
    let part = u16::try_from(text.unwrap_or(0)).unwrap_or(u16::MAX);
    let message = handle(node);
    ListedPin {
        position: position as u64,
        message_id: shelf.id(node).cloned(),
        role: view.role,
        text: shelf.head(PartRef { message, part }, SHOWN).into_owned(),
        folded: false,
    }
}
