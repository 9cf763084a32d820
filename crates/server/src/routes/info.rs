//! What the service offers to whoever asks, and who that is to it.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use serde::Serialize;

use crate::answer::{Answer, Answered};
use crate::app::App;
use crate::guard::Tenant;
use crate::tokens::Role;

/// The service as a client sees it.
#[derive(Serialize)]
pub(crate) struct Info {
    version: &'static str,
    /// Whose threads there are.
    tenant: Arc<str>,
    /// What may be done with them.
    role: Role,
    /// A token was needed.
    needs_token: bool,
    /// Models by name; the first is the default.
    models: Vec<Model>,
    /// Agents that have a model of their own.
    agents: Vec<Arc<str>>,
    /// Agents can be run.
    runs: bool,
}

#[derive(Serialize)]
struct Model {
    name: Arc<str>,
    /// Its window in tokens, where the configuration says it.
    window: Option<u64>,
}

pub(crate) async fn info(
    State(app): State<Arc<App>>,
    Extension(Tenant(tenant)): Extension<Tenant>,
    Extension(role): Extension<Role>,
) -> Answered<Info> {
    let settings = app.threads.settings();
    let models = settings.models.iter().map(|model| Model {
        name: model.name.clone(),
        window: model.profile.window,
    });
    Ok(Answer(Info {
        version: env!("CARGO_PKG_VERSION"),
        tenant,
        role,
        needs_token: !app.settings.tokens.is_empty(),
        models: models.collect(),
        agents: settings.agents.keys().cloned().collect(),
        runs: app.runs.is_some(),
    }))
}
