//! What must hold for every request that is made of a history: the numbers are those of the project's list of
//! invariants. Written from the list and independent of how the core decides.

use std::collections::{BTreeMap, BTreeSet};

use std::sync::Arc;

use conspectus_core::frame;
use conspectus_core::id::{Handle, ReplyId};
use conspectus_core::patch::{Patch, PatchCause};
use conspectus_core::policy::{Placement, Preset};
use conspectus_core::projection::{Block, BlockKind, Piece, Projection};
use conspectus_core::record::Record;
use conspectus_core::view::{MessageView, Part, PartKind, Role};
use conspectus_core::window::Branch;

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Its number in the list.
    pub number: u8,
    /// What is wrong.
    pub what: String,
}

/// The history with what the host said about it.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// All messages, oldest first. Its pairing of calls and answers is taken as given; it has tests of its own.
    pub branch: &'a Branch,
    /// Call ids whose answer the host still waits for.
    pub pending: &'a BTreeSet<String>,
    /// The record in force.
    pub record: Option<&'a Record>,
}

impl<'a> Given<'a> {
    fn history(&self) -> &'a [Arc<MessageView>] {
        self.branch.views()
    }
}

/// Everything that is wrong with `request` as a request for the history.
pub fn broken(given: Given<'_>, request: &Projection) -> Vec<Broken> {
    let mut check = Check::new(given, request);
    check.subsequence();
    check.system_first();
    check.current_request();
    check.pins_and_pending();
    check.units();
    check.not_empty();
    check.placement();
    check.pairing();
    if let Some(record) = given.record {
        // A peer's record leaves the faults of its cut in the list.
        if record.peer.is_none() {
            check.repaired(request);
        }
        check.complete(record);
        check.rank(record);
    }
    check.out
}

struct Check<'a> {
    given: Given<'a>,
    pieces: Vec<&'a Piece>,
    position: BTreeMap<Handle, usize>,
    /// Positions that are shown, with whether they are as they were.
    shown: BTreeMap<usize, bool>,
    out: Vec<Broken>,
}

impl<'a> Check<'a> {
    fn new(given: Given<'a>, request: &'a Projection) -> Self {
        let handles = given.history().iter().map(|v| v.handle);
        Self {
            given,
            pieces: request.pieces().collect(),
            position: handles.zip(0..).collect(),
            shown: BTreeMap::new(),
            out: Vec::new(),
        }
    }

    fn broken(&mut self, number: u8, what: String) {
        self.out.push(Broken { number, what });
    }

    /// 3: what is shown is a part of the history, in its order.
    fn subsequence(&mut self) {
        let mut newest = None;
        for piece in self.pieces.clone() {
            let (handle, whole) = match piece {
                Piece::Keep(handle) => (handle, true),
                // An answer that no call asked for may be taken out of a message beside what a person says.
                Piece::Edit(handle, patches) => {
                    let is_orphan = |p: &Patch| p.cause() == PatchCause::Orphan;
                    // What a tool answered is not what the person said, also in one message with it.
                    let parts = self
                        .position
                        .get(handle)
                        .map(|at| self.given.history()[*at].parts.as_slice());
                    let is_answer = |p: &Patch| {
                        let part = parts.and_then(|parts| parts.get(usize::from(p.part())));
                        part.is_some_and(|p| {
                            p.inside.is_some() || matches!(p.kind, PartKind::Result { .. })
                        })
                    };
                    (handle, patches.iter().all(|p| is_orphan(p) || is_answer(p)))
                }
                Piece::Insert(_) => continue,
            };
            match self.position.get(handle).copied() {
                None => self.broken(3, format!("handle {} was invented", handle.0)),
                Some(at) => {
                    if newest.is_some_and(|n| at <= n) {
                        self.broken(3, format!("message {at} is out of order"));
                    }
                    newest = newest.max(Some(at));
                    self.shown.insert(at, whole);
                }
            }
        }
    }

    /// 5: the leading system messages are in front, unchanged but for a summary at the end of the newest.
    fn system_first(&mut self) {
        let leading = (self.given.history().iter())
            .take_while(|v| v.role == Role::System && !v.flags.summary)
            .count();
        for at in 0..leading {
            let handle = self.given.history()[at].handle;
            let is_summary = |p: &Patch| p.cause() == PatchCause::Summary;
            let is_there = match self.pieces.get(at) {
                Some(Piece::Keep(kept)) => *kept == handle,
                Some(Piece::Edit(kept, edits)) => {
                    *kept == handle && at + 1 == leading && edits.iter().all(is_summary)
                }
                _ => false,
            };
            if !is_there {
                self.broken(5, format!("system message {at} is not where it was"));
            }
        }
    }

    fn must_stay(&mut self, number: u8, at: usize, why: &str, verbatim: bool) {
        match self.shown.get(&at) {
            None => self.broken(number, format!("message {at} is gone: {why}")),
            Some(false) if verbatim => {
                self.broken(number, format!("message {at} is changed: {why}"))
            }
            Some(_) => {}
        }
    }

    /// 6: the newest request and the whole run of unanswered ones at the end are there, word for word.
    fn current_request(&mut self) {
        let history = self.given.history();
        if let Some(at) = history.iter().rposition(|v| v.is_user_request()) {
            self.must_stay(6, at, "current request", true);
        }
        for at in (0..history.len()).rev() {
            if history[at].role != Role::User || history[at].is_only_results() {
                break;
            }
            if history[at].is_user_request() {
                self.must_stay(6, at, "unanswered request", true);
            }
        }
    }

    /// 7: pins and pending calls survive. What streams does too. An answer that no provider would take (it has
    /// no call, or its call was answered before) cannot be sent, pinned or not.
    fn pins_and_pending(&mut self) {
        let unsendable = self.unsendable();
        for (at, view) in self.given.history().iter().enumerate() {
            if view.flags.pinned && !unsendable.contains(&at) {
                self.must_stay(7, at, "pinned", false);
            }
            if view.flags.partial {
                self.must_stay(7, at, "still streaming", false);
            }
            let pending = self.given.pending;
            if view.calls().any(|(_, id, _)| pending.contains(id.as_str())) {
                self.must_stay(7, at, "pending call", false);
            }
        }
    }

    /// Answers that no call asked for, and second answers.
    fn unsendable(&self) -> BTreeSet<usize> {
        let second = self.given.branch.units().calls().iter();
        let second = second.flat_map(|call| call.answers.iter().skip(1));
        let orphans = self.given.branch.units().orphans().iter();
        let folded = self
            .given
            .branch
            .units()
            .calls()
            .iter()
            .filter(|call| !self.shown.contains_key(&call.at));
        let late = folded.flat_map(|call| call.answers.iter());
        second
            .chain(orphans)
            .chain(late)
            .map(|(at, _)| *at)
            .collect()
    }

    /// 2: a call and its answer are there or they are not, and so are the pieces of one reply. Answers that
    /// cannot be sent may be left out, also out of a message that answers other calls.
    fn units(&mut self) {
        let is_shown = |at: usize| self.shown.contains_key(&at);
        let mut torn = Vec::new();
        for call in self.given.branch.units().calls() {
            let Some((at, part)) = call.answers.first() else {
                continue;
            };
            let answered = is_shown(*at) && !self.is_left_out(*at, *part);
            match (is_shown(call.at), answered) {
                (false, true) => {
                    torn.push(format!("message {at} answers {}, which is gone", call.at))
                }
                (true, false) => torn.push(format!(
                    "message {} calls, its answer {at} is gone",
                    call.at
                )),
                _ => {}
            }
        }
        let mut replies: BTreeMap<ReplyId, Vec<usize>> = BTreeMap::new();
        for (at, view) in self.given.history().iter().enumerate() {
            view.reply
                .into_iter()
                .for_each(|reply| replies.entry(reply).or_default().push(at));
        }
        for pieces in replies.values() {
            let there = pieces.iter().filter(|at| is_shown(**at)).count();
            if there != 0 && there != pieces.len() {
                torn.push(format!("{there} pieces of the reply {pieces:?} are shown"));
            }
        }
        torn.into_iter().for_each(|what| self.broken(2, what));
    }

    fn is_left_out(&self, at: usize, part: usize) -> bool {
        let handle = self.given.history()[at].handle;
        let is_it = |patch: &Patch| matches!(patch, Patch::Remove { part: gone, .. } if usize::from(*gone) == part);
        self.pieces.iter().any(|piece| match piece {
            Piece::Edit(edited, patches) => *edited == handle && patches.iter().any(is_it),
            _ => false,
        })
    }

    /// 8: where there was a message there is one.
    fn not_empty(&mut self) {
        let history = self.given.history();
        let unsendable = self.unsendable();
        let is_message = |at: &usize| {
            let view = &history[*at];
            view.role != Role::System && !view.flags.summary && !unsendable.contains(at)
        };
        let had = (0..history.len()).any(|at| is_message(&at));
        let has = self
            .shown
            .keys()
            .any(|at| history[*at].role != Role::System);
        if had && !has {
            self.broken(8, "no message is left".to_owned());
        }
    }

    /// 9 and 28: one summary at most, before what is kept of the conversation, by no means the assistant's.
    fn placement(&mut self) {
        let history = self.given.history();
        let mut summaries = 0;
        let mut begun = false;
        let leading = history
            .iter()
            .take_while(|v| v.role == Role::System)
            .count();
        for piece in self.pieces.clone() {
            match piece {
                Piece::Insert(Block { kind, role, .. }) if *kind == BlockKind::Summary => {
                    summaries += 1;
                    if *role == Role::Assistant {
                        self.broken(9, "the summary speaks as the assistant".to_owned());
                    }
                    if begun {
                        self.broken(9, "the summary stands behind messages".to_owned());
                    }
                }
                Piece::Insert(_) => {}
                Piece::Keep(handle) | Piece::Edit(handle, _) => {
                    begun |= self.position.get(handle).is_some_and(|at| *at >= leading);
                }
            }
        }
        let old = self.shown.keys().filter(|at| self.must_go(**at)).count();
        let piles = self
            .given
            .record
            .is_some_and(|r| r.peer == Some(Preset::Nous));
        if summaries > 1 && !piles || (summaries == 1 && old > 0 && self.new_summary_covers_old()) {
            self.broken(
                28,
                format!("{summaries} summaries and {old} old ones are shown"),
            );
        }
    }

    /// An old summary that nothing holds: no pin, no block that nobody knows.
    fn must_go(&self, at: usize) -> bool {
        let view = &self.given.history()[at];
        let is_opaque = |p: &Part| matches!(p.kind, PartKind::Opaque { .. });
        view.flags.summary && !view.flags.pinned && !view.parts.iter().any(is_opaque)
    }

    /// Whether an old summary stands before something that was folded: then it had to go with it. One that is
    /// part of what came later may stay.
    fn new_summary_covers_old(&self) -> bool {
        let history = self.given.history();
        let last_gone = (0..history.len())
            .rev()
            .find(|at| !self.shown.contains_key(at));
        let first_old = (0..history.len()).find(|at| {
            history[*at].flags.summary && !history[*at].flags.pinned && self.shown.contains_key(at)
        });
        matches!((first_old, last_gone), (Some(old), Some(gone)) if old < gone)
    }

    /// 1 and 4: pairing is no worse than it was. With a record in force it is right, but for what is pending.
    fn pairing(&mut self) {
        let before = faults(
            self.given.history().iter().map(|v| Sent::message(v)),
            self.given.pending,
        );
        let position = &self.position;
        let sent = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Insert(block) => Some(Sent::Block(block)),
            Piece::Keep(handle) => {
                Some(Sent::message(&self.given.history()[*position.get(handle)?]))
            }
            Piece::Edit(handle, patches) => {
                let view = &self.given.history()[*position.get(handle)?];
                let removed = |p: &&Patch| matches!(p, Patch::Remove { .. });
                let gone = patches
                    .iter()
                    .filter(removed)
                    .map(|p| usize::from(p.part()));
                Some(Sent::Message(view, gone.collect()))
            }
        });
        let after = faults(sent, self.given.pending);
        if after.0 > before.0 {
            let what = format!("{} answers without a call, {} before", after.0, before.0);
            self.broken(1, what);
        }
        if after.1 > before.1 {
            let what = format!("{} calls without an answer, {} before", after.1, before.1);
            self.broken(1, what);
        }
    }
}

/// The checks that need the record in force.
impl Check<'_> {
    /// 1: a list that is rendered anew is set right. In the frozen part no answer stands without its call before
    /// it, and no call that a person spoke after is left without an answer.
    fn repaired(&mut self, request: &Projection) {
        let units = self.given.branch.units();
        let mut stand_ins: BTreeMap<&str, usize> = BTreeMap::new();
        let mut shown = Vec::new();
        for piece in request.frozen.iter() {
            match piece {
                Piece::Insert(Block {
                    kind: BlockKind::Answer { id, .. },
                    ..
                }) => *stand_ins.entry(id.as_str()).or_default() += 1,
                Piece::Insert(_) => {}
                Piece::Keep(handle) | Piece::Edit(handle, _) => {
                    shown.extend(self.position.get(handle).copied());
                }
            }
        }
        let history = self.given.history();
        let is_shown = |at: usize| shown.contains(&at);
        let mut wrong = Vec::new();
        for at in &shown {
            for (part, id) in history[*at].results() {
                let call = units.call_of(*at, part);
                let is_first = call.is_some_and(|c| {
                    is_shown(c.at)
                        && (c.answers[0] == (*at, part)
                            || self.given.pending.contains(c.id.as_str()))
                });
                if !is_first && !self.is_left_out(*at, part) {
                    let id = id.as_str();
                    wrong.push(format!(
                        "message {at} answers {id:?}, which nothing asked for"
                    ));
                }
            }
        }
        let last_word = shown
            .iter()
            .filter(|at| history[**at].is_user_request())
            .max();
        for call in units.open_calls() {
            let is_awaited = self.given.pending.contains(call.id.as_str());
            let is_passed = last_word.is_some_and(|at| *at > call.at);
            if is_shown(call.at) && is_passed && !is_awaited {
                match stand_ins.get_mut(call.id.as_str()) {
                    Some(n) if *n > 0 => *n -= 1,
                    _ => wrong.push(format!("call {:?} has no answer", call.id.as_str())),
                }
            }
        }
        wrong.into_iter().for_each(|what| self.broken(1, what));
    }

    /// 29 and 36: every message is shown or folded, never neither and never both. An answer that cannot be sent
    /// is neither.
    fn complete(&mut self, record: &Record) {
        let unsendable = self.unsendable();
        for (at, node) in self.given.branch.path().iter().enumerate() {
            let folded = record.removed.contains(*node);
            match (self.shown.contains_key(&at), folded) {
                (true, true) => self.broken(29, format!("message {at} is folded and shown")),
                (false, false) if !unsendable.contains(&at) => {
                    self.broken(29, format!("message {at} is neither folded nor shown"));
                }
                _ => {}
            }
        }
    }

    /// 28 and 32: the summary is shown once, framed as data that cannot close its frame, with no rank but the
    /// one that the policy gives it.
    fn rank(&mut self, record: &Record) {
        let mut shown = 0;
        for piece in self.pieces.clone() {
            let in_prompt = |p: &&Patch| p.cause() == PatchCause::Summary;
            let (role, text) = match piece {
                Piece::Insert(block) if block.kind == BlockKind::Summary => {
                    (block.role, &block.text)
                }
                Piece::Edit(_, edits) => match edits.iter().find(in_prompt) {
                    Some(Patch::Cut { marker, .. }) => (Role::System, marker),
                    _ => continue,
                },
                _ => continue,
            };
            shown += 1;
            let may_be_system =
                matches!(record.placement, Placement::System | Placement::SystemEnd);
            if role != Role::User && !(may_be_system && role == Role::System) {
                self.broken(32, format!("the summary has the rank of {role:?}"));
            }
            let tags = |tag| text.to_ascii_lowercase().matches(tag).count();
            // Nous's pile up; at the end of the system prompt in one text.
            let most = match record.peer {
                Some(Preset::Nous) => record.summaries as usize,
                _ => 1,
            };
            let (opened, closed) = (tags(frame::OPEN), tags(frame::CLOSE));
            if opened != closed || !(1..=most).contains(&opened) || !text.ends_with(frame::CLOSE) {
                self.broken(32, "the summary closes its frame".to_owned());
            }
        }
        let most = match record.peer {
            Some(Preset::Nous) => record.summaries as usize,
            _ => 1,
        };
        if (shown > 0) != record.summary.is_some() || shown > most {
            self.broken(28, format!("the summary is shown {shown} times"));
        }
    }
}

/// One thing that is sent.
enum Sent<'a> {
    Message(&'a MessageView, BTreeSet<usize>),
    Block(&'a Block),
}

impl<'a> Sent<'a> {
    fn message(view: &'a MessageView) -> Self {
        Self::Message(view, BTreeSet::new())
    }
}

/// Answers without a call before them, and calls that are not answered although a person spoke or the model
/// replied since. By count of ids, so repeated ids pair in order.
fn faults<'a>(sent: impl Iterator<Item = Sent<'a>>, pending: &BTreeSet<String>) -> (usize, usize) {
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    let mut orphans = 0;
    let mut answer = |open: &mut BTreeMap<String, usize>, id: &str| match open.get_mut(id) {
        Some(1) => {
            open.remove(id);
        }
        Some(n) => *n -= 1,
        None => orphans += 1,
    };
    let mut passed: BTreeMap<String, usize> = BTreeMap::new();
    for sent in sent {
        match sent {
            Sent::Block(block) => {
                if let BlockKind::Answer { id, .. } = &block.kind {
                    answer(&mut open, id.as_str());
                }
            }
            Sent::Message(view, gone) => {
                if view.is_user_request() {
                    passed.clone_from(&open);
                }
                for (index, part) in view.parts.iter().enumerate() {
                    if gone.contains(&index) {
                        continue;
                    }
                    match &part.kind {
                        PartKind::Call { id, .. } => {
                            *open.entry(id.as_str().to_owned()).or_default() += 1;
                        }
                        PartKind::Result { id, .. } => answer(&mut open, id.as_str()),
                        _ => {}
                    }
                }
            }
        }
    }
    let never: usize = passed
        .iter()
        .filter(|(id, _)| !pending.contains(*id))
        .map(|(id, n)| (*n).min(open.get(id).copied().unwrap_or(0)))
        .sum();
    (orphans, never)
}
