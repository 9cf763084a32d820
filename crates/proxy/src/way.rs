//! What is done with a conversation on its way: nothing, the projection in force, a compaction now or in the background.
//!
//! The rules are the engine's; here stands what may be waited for, and that a fault of ours changes nothing: whatever is
//! done runs in a task of its own, and when that fails, the request goes on as it came.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use conspectus::Moment;
use conspectus::core::effect::Failure;
use conspectus::core::id::{Ident, IdentHasher};
use conspectus::store::ThreadKey;
use conspectus::threads::InStep;
use conspectus::wire::json::Object;
use hyper::HeaderMap;
use hyper::Response;
use hyper::body::Bytes;

use crate::answer::{Down, Ended};
use crate::api::Call;
use crate::book::Look;
use crate::handle::App;
use crate::keeper::About;
use crate::list::List;
use crate::note::{Done, Note};
use crate::own_summary::is_own_summary;
use crate::rewrite::{keeps_rules, rewritten};
use crate::sealed::answer;
use crate::upstream::Upstream;

/// A body with more that is new than this is read where requests are not held up by it.
const MOMENT: usize = 128 << 10;

/// Who asks for what.
pub(crate) struct Ask {
    pub(crate) tenant: Arc<str>,
    pub(crate) call: Call,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) head: Arc<HeaderMap>,
    pub(crate) scope: Ident,
}

/// What was seen of a request.
pub(crate) enum Seen {
    /// A conversation.
    Known(Look, About),
    /// None that anything can be done about.
    Unseen(Note),
}

/// A request that can be sent.
pub(crate) struct Prepared {
    /// The body to send; `None`: the one that came.
    pub(crate) body: Option<Bytes>,
    pub(crate) note: Note,
    pub(crate) seen: Option<(Look, About)>,
    /// Its thread has it all.
    pub(crate) is_stored: bool,
}

impl Seen {
    /// It goes on unread.
    pub(crate) fn unseen(why: &str) -> Self {
        Self::Unseen(Note {
            why: Some(why.to_owned()),
            ..Note::of(Done::Passed)
        })
    }

    /// Whether the client asked for a stream.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self, Self::Known(look, _) if look.list.is_true("stream"))
    }
}

/// What a conversation is told apart by, beside what is said in it.
pub(crate) fn scope(
    call: Call,
    upstream: &Upstream,
    credential: Ident,
    session: Option<Ident>,
) -> Ident {
    let mut hash = IdentHasher::new();
    hash.field(call.list().as_bytes());
    hash.field(format!("{:?}", call.format()).as_bytes());
    hash.field(upstream.name.as_bytes());
    hash.field(&credential.0);
    if let Some(session) = session {
        hash.field(&session.0);
    }
    hash.finish()
}

/// Looks at a body.
pub(crate) async fn look(app: &Arc<App>, ask: &Ask, body: &Bytes) -> Seen {
    let Some(format) = ask.call.format() else {
        return Seen::unseen("not a conversation");
    };
    let mut hash = IdentHasher::new();
    hash.field(ask.tenant.as_bytes());
    hash.field(&ask.scope.0);
    let (scope, key) = (hash.finish(), ask.call.list());
    let before = catch_unwind(AssertUnwindSafe(|| app.book.before(scope, body)));
    let before = before.ok().flatten();
    let is_long = body.len() - before.as_ref().map_or(0, |(_, both)| *both) > MOMENT;
    let found = match is_long {
        true => {
            let (app, body) = (app.clone(), body.clone());
            let work = app.work.clone();
            let read = work
                .spawn(async move { app.book.look(scope, format, key, &body, before.as_ref()) });
            read.await.ok()
        }
        false => catch_unwind(AssertUnwindSafe(|| {
            app.book.look(scope, format, key, body, before.as_ref())
        }))
        .ok(),
    };
    let look = match found {
        Some(Some(look)) => look,
        Some(None) => return Seen::unseen("the body is not understood"),
        None => return Seen::Unseen(Note::failed("a fault while the body was read")),
    };
    // The server has the history, or keeps it: what is here is a piece of it.
    let held = ["previous_response_id", "conversation", "thread"];
    if held.iter().any(|key| look.list.says(key)) {
        return Seen::unseen("the upstream holds the conversation");
    }
    let Some(model) = look.list.model() else {
        return Seen::unseen("no model is named");
    };
    let about = About {
        model: model.into(),
        tenant: ask.tenant.clone(),
        call: ask.call,
        upstream: ask.upstream.clone(),
        head: ask.head.clone(),
    };
    Seen::Known(look, about)
}

/// Decides what is sent.
pub(crate) async fn prepare(app: &Arc<App>, seen: Seen) -> Prepared {
    let (look, about) = match seen {
        Seen::Known(look, about) => (look, about),
        Seen::Unseen(note) => {
            return Prepared {
                body: None,
                note,
                seen: None,
                is_stored: false,
            };
        }
    };
    let (body, note, is_stored) = match needs_care(app, &look, &about) {
        true => careful(app, &look, &about).await,
        false => (None, untouched(app, &look), false),
    };
    Prepared {
        body,
        note,
        seen: Some((look, about)),
        is_stored,
    }
}

/// Nothing has to be done; where it is only watched, what would have been is said.
fn untouched(app: &App, look: &Look) -> Note {
    let saved = match app.settings.observe {
        true => look.line.state().would_save,
        false => 0,
    };
    let done = if saved > 0 {
        Done::Observed
    } else {
        Done::Untouched
    };
    Note {
        saved,
        ..Note::of(done)
    }
}

/// Whether the thread must be asked before the request is sent.
fn needs_care(app: &App, look: &Look, about: &About) -> bool {
    if app.settings.observe {
        return false;
    }
    let state = look.line.state();
    let is_refused = state.refusal.is_some();
    // It was tried with these messages, and nothing could be folded.
    let is_all_known = look.known == look.list.len();
    if !is_refused && is_all_known && look.list.len() <= state.futile {
        return false;
    }
    if state.is_changed || state.is_busy || is_refused {
        return true;
    }
    let trigger = state.trigger;
    drop(state);
    if !about.call.is_turn() {
        return false;
    }
    let trigger = trigger.or_else(|| app.keeper.trigger(about));
    // The rough count is never so far below the true one.
    trigger.is_some_and(|trigger| look.tokens.saturating_mul(5) >= trigger.saturating_mul(4))
}

/// Asks the thread, and compacts it where that is due.
async fn careful(app: &Arc<App>, look: &Look, about: &About) -> (Option<Bytes>, Note, bool) {
    let (line, list) = (look.line.clone(), look.list.clone());
    let (task_app, about) = (app.clone(), about.clone());
    let work = app.work.spawn(async move {
        let app = task_app;
        let (key, mut step) = match app.keeper.in_step(&line, &list, &about).await {
            Ok(found) => found,
            Err(why) => return (None, Note::failed(why), false),
        };
        let mut done = Done::Applied;
        let count = list.len();
        let refusal = line.state().refusal.take();
        let may_compact = about.call.is_turn() && !is_own_summary(&list);
        if may_compact && (step.is_due || refusal.is_some()) {
            let before = step.record;
            let compacting = app.keeper.compact(&key, &about, refusal, moment(&list));
            match in_time(&app, compacting).await {
                Some(Ok(_)) => {}
                Some(Err(why)) => return (None, Note::failed(why), true),
                None => return (None, Note::failed("the compaction takes too long"), true),
            }
            step = match app.keeper.in_step(&line, &list, &about).await {
                Ok((_, step)) => step,
                Err(why) => return (None, Note::failed(why), true),
            };
            if step.record != before {
                done = Done::Compacted;
                line.state().is_given_up = false;
            } else if step.projection.is_untouched() {
                // Nothing of it can be folded: what was before it is no news either.
                let mut state = line.state();
                state.futile = state.futile.max(count);
            }
        } else if may_compact && step.is_soft && app.keeper.asks_models() {
            background(&app, &line, &key, &about);
        }
        let (body, note) = projected(&list, &key, &step, done);
        (body, note, true)
    });
    match tokio::time::timeout(app.settings.limits.wait, work).await {
        Ok(Ok(done)) => done,
        Ok(Err(_)) => (None, Note::failed("a fault while it was compacted"), false),
        Err(_) => (None, Note::failed("the compaction takes too long"), false),
    }
}

/// The body as the thread shows it.
fn projected(list: &List, key: &ThreadKey, step: &InStep, done: Done) -> (Option<Bytes>, Note) {
    let note = |done| Note {
        thread: Some(key.thread.clone()),
        ..Note::of(done)
    };
    // An earlier state of the conversation, from before what was folded.
    let is_before = step.frozen > list.len() as u64;
    if is_before || step.projection.is_untouched() {
        return (None, note(Done::Untouched));
    }
    let messages = usize::try_from(step.messages).unwrap_or(usize::MAX);
    match rewritten(list, &step.projection, messages) {
        Ok(body) => {
            let saved = spared(list, step);
            let note = Note {
                saved,
                ..note(done)
            };
            (Some(body.into()), note)
        }
        Err(why) => {
            let thread = Some(key.thread.clone());
            (
                None,
                Note {
                    thread,
                    ..Note::failed(why)
                },
            )
        }
    }
}

/// The body as the servers of its upstream take it; `None`: they take what it is. `is_ours`: it was rewritten, and breaks no
/// rule that the client's kept.
pub(crate) fn in_strict_form(
    about: &About,
    look: &Look,
    body: &Bytes,
    is_ours: bool,
) -> Option<Bytes> {
    let strict = about.upstream.strict;
    if strict.is_none() || about.call != Call::Chat {
        return None;
    }
    // What came may have been compressed.
    let plain = if is_ours { body } else { look.list.body() };
    let right = catch_unwind(|| strict.right(plain)).ok()??;
    keeps_rules(look.list.format(), plain, &right).ok()?;
    Some(right.into())
}

/// The upstream said that the request is too large: compacts, and gives the body to send once more.
pub(crate) async fn recover(
    app: &Arc<App>,
    look: &Look,
    about: &About,
    failure: Failure,
) -> Option<(Bytes, Note)> {
    let (line, list) = (look.line.clone(), look.list.clone());
    let (task_app, about) = (app.clone(), about.clone());
    let work = app.work.spawn(async move {
        let app = task_app;
        let (key, step) = app.keeper.in_step(&line, &list, &about).await.ok()?;
        let before = step.record;
        let compacting = app
            .keeper
            .compact(&key, &about, Some(failure), Moment::Overflow);
        in_time(&app, compacting).await?.ok()?;
        let (key, step) = app.keeper.in_step(&line, &list, &about).await.ok()?;
        if step.record == before {
            return None;
        }
        let (body, note) = projected(&list, &key, &step, Done::Recovered);
        Some((body?, note))
    });
    let done = tokio::time::timeout(app.settings.limits.wait, work).await;
    done.ok()?.ok()?
}

/// The answer is over: what it said is noted, and the thread is brought in step where that has not been done.
pub(crate) fn after(
    app: &Arc<App>,
    look: Look,
    about: About,
    ended: Ended,
    is_fine: bool,
    is_stored: bool,
    saved: (u64, u64),
) {
    if !about.call.is_turn() {
        return;
    }
    {
        let mut state = look.line.state();
        state.savings.requests += 1;
        if !app.settings.observe {
            state.savings.tokens += saved.0;
            state.savings.micros += saved.1;
        }
        if let Some(usage) = &ended.heard.usage {
            state.savings.input += usage.input;
            state.savings.cache_read += usage.cache_read;
            if state.count == look.list.len() && !app.settings.observe {
                state.tokens = state.tokens.max(usage.context());
                state.usage = Some((look.list.len(), usage.clone()));
            }
        }
        if let Some(refusal) = ended.heard.refusal {
            state.refusal = Some(refusal);
        }
    }
    let is_new = look.known < look.list.len();
    if is_stored || !is_fine || !is_new {
        return;
    }
    // When there is too much to do, the next request tells it all again.
    let Ok(place) = app.beside.clone().try_acquire_owned() else {
        return;
    };
    let app = app.clone();
    let work = app.work.clone();
    work.spawn(async move {
        let _place = place;
        let (line, list) = (&look.line, &look.list);
        let Ok((key, step)) = app.keeper.in_step(line, list, &about).await else {
            return;
        };
        if app.settings.observe {
            observe(&app, &look, &about, &key, step).await;
        } else if step.is_soft && !step.is_due && app.keeper.asks_models() {
            background(&app, line, &key, &about);
        }
    });
}

/// Does what would have been done, where nobody sees it but who asks for it.
async fn observe(app: &App, look: &Look, about: &About, key: &ThreadKey, step: InStep) {
    let mut step = step;
    if step.is_due && !is_own_summary(&look.list) {
        let moment = moment(&look.list);
        let compacting = app.keeper.compact(key, about, None, moment);
        if !matches!(in_time(app, compacting).await, Some(Ok(_))) {
            return;
        }
        match app.keeper.in_step(&look.line, &look.list, about).await {
            Ok((_, now)) => step = now,
            Err(_) => return,
        }
    }
    let saved = spared(&look.list, &step);
    look.line.state().would_save = match step.record {
        Some(_) => saved,
        None => 0,
    };
}

/// A summary is made while the conversation goes on; requests that come meanwhile go as they are.
fn background(app: &Arc<App>, line: &Arc<crate::book::Line>, key: &ThreadKey, about: &About) {
    {
        let mut state = line.state();
        if state.is_given_up || std::mem::replace(&mut state.is_busy, true) {
            return;
        }
    }
    let (app, line, key, about) = (app.clone(), line.clone(), key.clone(), about.clone());
    let work = app.work.clone();
    work.spawn(async move {
        let work = {
            let app = app.clone();
            tokio::spawn(async move {
                let compacting = app.keeper.compact(&key, &about, None, Moment::Background);
                in_time(&app, compacting).await
            })
        };
        let done = work.await;
        let mut state = line.state();
        state.is_busy = false;
        state.is_given_up = matches!(&done, Ok(None));
        state.is_changed |= matches!(&done, Ok(Some(Ok(compacted))) if compacted.is_change());
    });
}

/// A compaction, for as long as one may take, whoever waits for it: what is given up leaves the thread as it was, and
/// nothing holds the client's key any more.
async fn in_time<T>(app: &App, compacting: impl Future<Output = T>) -> Option<T> {
    let limit = app.settings.limits.background;
    tokio::time::timeout(limit, compacting).await.ok()
}

/// When it happens in the conversation.
fn moment(list: &List) -> Moment {
    match list.ends_with_request() {
        true => Moment::PreTurn,
        false => Moment::MidTurn,
    }
}

/// Tokens of the list that are not sent.
fn spared(list: &List, step: &InStep) -> u64 {
    let sent = step.size.request.saturating_sub(step.size.fixed);
    list.tokens().saturating_sub(sent)
}

/// The answer to a client that asks for a compaction; `None`: the upstream is asked.
pub(crate) async fn sealed(app: &Arc<App>, ask: &Ask, body: Bytes) -> Option<Response<Down>> {
    let model = std::str::from_utf8(&body)
        .ok()
        .and_then(Object::of)
        .and_then(|body| Some(Arc::from(&*body.string("model")?)))?;
    let about = About {
        model,
        tenant: ask.tenant.clone(),
        call: ask.call,
        upstream: ask.upstream.clone(),
        head: ask.head.clone(),
    };
    let task_app = app.clone();
    let work = app
        .work
        .spawn(async move { in_time(&task_app, answer(&task_app, &about, &body)).await? });
    let done = tokio::time::timeout(app.settings.limits.wait, work).await;
    done.ok()?.ok()?
}
