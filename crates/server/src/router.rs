//! The table of routes with what stands before each: whose it is, and how long it may take.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::guard::{names, tenants, writers};
use crate::problem::Problem;
use crate::read::within;
use crate::record::record;
use crate::routes::{self, For};

/// All of it.
pub(crate) fn router(app: &Arc<App>) -> Router {
    let no_method = || async {
        let status = StatusCode::METHOD_NOT_ALLOWED;
        Problem::new(
            status,
            "no_method",
            "this is not done here with that method",
        )
    };
    let mut router = Router::new();
    for route in routes::all() {
        let (names, tenants) = (
            from_fn_with_state(app.clone(), names),
            from_fn_with_state(app.clone(), tenants),
        );
        let in_time = from_fn_with_state(app.clone(), in_time);
        // Pages ask with OPTIONS before they ask, so what stands before a route stands before its other methods too.
        let methods = route.methods.fallback(no_method);
        let methods = match route.reads {
            true => methods,
            false => methods.layer(from_fn(writers)),
        };
        // The last one is the outermost.
        let methods = match route.whose {
            For::Anybody => methods.layer(in_time),
            For::Reader => methods.layer(in_time).layer(names),
            For::Tenant => methods.layer(in_time).layer(tenants).layer(names),
            For::Waiting => methods.layer(tenants).layer(names),
        };
        router = router.route(route.path, methods);
    }
    let no_route = || async {
        let detail = "there is nothing here; /api/openapi.json says what there is";
        Problem::not_found("no_route", detail)
    };
    router
        .fallback(no_route)
        .layer(from_fn_with_state(app.clone(), record))
        .with_state(app.clone())
}

/// What waits for no model is over within the time of a request.
async fn in_time(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let limit = app.settings.limits.request;
    // A body is given its own time; this is for all of it.
    match within(limit.saturating_mul(2), next.run(request)).await {
        Some(response) => response,
        None => Problem::unavailable("timed_out", "it took too long; ask again").into_response(),
    }
}
