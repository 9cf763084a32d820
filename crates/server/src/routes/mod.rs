//! Every route, in one table. What a route does stands in the file of its name; none of them decides anything about a
//! conversation.

mod change;
mod compact;
mod events;
mod info;
mod look;
mod messages;
mod recall;
mod runs;
mod state;
mod status;
mod threads;
mod transfer;

use std::sync::Arc;

use axum::routing::{MethodRouter, get, post};

use crate::app::App;
use crate::{health, openapi, page};

/// Whose a route is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum For {
    /// Anybody's, under any name of the server.
    Anybody,
    /// Anybody's who knows the server's name.
    Reader,
    /// A tenant's; it is over within the time of a request.
    Tenant,
    /// A tenant's; it waits for models, or for what happens.
    Waiting,
}

/// A path and what is done there.
pub(crate) struct Route {
    pub(crate) path: &'static str,
    pub(crate) whose: For,
    /// Nothing there changes anything, whatever the method.
    pub(crate) reads: bool,
    pub(crate) methods: MethodRouter<Arc<App>>,
}

/// All of them.
pub(crate) fn all() -> Vec<Route> {
    let route = |whose, path, methods| Route {
        path,
        whose,
        reads: false,
        methods,
    };
    let tenant = |path, methods| route(For::Tenant, path, methods);
    let waiting = |path, methods| route(For::Waiting, path, methods);
    let looking = |path, methods| Route {
        reads: true,
        ..route(For::Tenant, path, methods)
    };
    vec![
        route(For::Anybody, "/healthz", get(health::healthz)),
        route(For::Anybody, "/readyz", get(health::readyz)),
        route(For::Reader, "/api/openapi.json", get(openapi::document)),
        route(For::Reader, "/", get(page::index)),
        route(For::Reader, "/threads/{thread}", get(page::index)),
        route(For::Reader, "/threads/{thread}/{tab}", get(page::index)),
        route(For::Reader, "/assets/{version}/{name}", get(page::asset)),
        tenant("/api/info", get(info::info)),
        tenant("/metrics", get(health::metrics)),
        tenant("/api/threads", post(threads::create).get(threads::list)),
        looking("/api/threads/search", post(threads::search)),
        looking("/api/threads/count", post(threads::count)),
        tenant("/api/threads/prune", post(threads::prune)),
        tenant(
            "/api/threads/{thread_id}",
            get(threads::get)
                .patch(threads::patch)
                .delete(threads::delete),
        ),
        tenant("/api/threads/{thread_id}/copy", post(change::copy)),
        tenant(
            "/api/threads/{thread_id}/messages",
            post(messages::append).get(messages::visible),
        ),
        tenant(
            "/api/threads/{thread_id}/state",
            get(state::newest).post(state::update).patch(state::patch),
        ),
        looking(
            "/api/threads/{thread_id}/state/checkpoint",
            post(state::at_checkpoint),
        ),
        tenant(
            "/api/threads/{thread_id}/state/{checkpoint_id}",
            get(state::at),
        ),
        looking(
            "/api/threads/{thread_id}/history",
            post(state::history).get(state::history_page),
        ),
        tenant("/api/threads/{thread_id}/request", get(messages::request)),
        waiting("/api/threads/{thread_id}/compact", post(compact::compact)),
        waiting("/api/threads/{thread_id}/apply", post(compact::apply)),
        tenant("/api/threads/{thread_id}/undo", post(change::undo)),
        tenant("/api/threads/{thread_id}/redo", post(change::redo)),
        tenant("/api/threads/{thread_id}/rewind", post(change::rewind)),
        tenant("/api/threads/{thread_id}/branches", post(change::branch)),
        tenant(
            "/api/threads/{thread_id}/messages/{message_id}",
            get(recall::message),
        ),
        tenant(
            "/api/threads/{thread_id}/messages/{message_id}/pin",
            post(messages::pin).delete(messages::unpin),
        ),
        tenant(
            "/api/threads/{thread_id}/references/{reference}",
            get(recall::reference),
        ),
        tenant("/api/threads/{thread_id}/recall", get(recall::recall)),
        tenant("/api/threads/{thread_id}/status", get(status::status)),
        tenant("/api/threads/{thread_id}/log", get(status::log)),
        tenant("/api/threads/{thread_id}/attempts", get(look::attempts)),
        tenant("/api/threads/{thread_id}/curve", get(look::curve)),
        tenant("/api/threads/{thread_id}/registries", get(look::registries)),
        tenant("/api/threads/{thread_id}/tree", get(look::tree)),
        waiting("/api/threads/{thread_id}/events", get(events::events)),
        waiting("/api/events", get(events::changes)),
        tenant(
            "/api/threads/{thread_id}/runs",
            post(runs::create).get(runs::list),
        ),
        waiting(
            "/api/threads/{thread_id}/runs/stream",
            post(runs::create_and_stream),
        ),
        waiting(
            "/api/threads/{thread_id}/runs/wait",
            post(runs::create_and_wait),
        ),
        tenant("/api/threads/{thread_id}/runs/{run_id}", get(runs::get)),
        waiting(
            "/api/threads/{thread_id}/runs/{run_id}/join",
            get(runs::join),
        ),
        waiting(
            "/api/threads/{thread_id}/runs/{run_id}/stream",
            get(runs::listen),
        ),
        waiting(
            "/api/threads/{thread_id}/runs/{run_id}/cancel",
            post(runs::cancel),
        ),
        tenant("/api/threads/{thread_id}/export", get(transfer::export)),
        tenant("/api/threads/{thread_id}/import", post(transfer::import)),
        tenant("/api/threads/{thread_id}/purge", post(change::purge)),
    ]
}
