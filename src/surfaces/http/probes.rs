//! Probes for supervisors: `/healthz` (liveness), `/readyz` (readiness, with the reason if not ready) and `/metrics`.
//!
//! `/readyz` returns a state determined beforehand, so that a probe does not wait for the database. A process whose
//! mirror is empty because the graph does not fit into memory is not ready either. The reason is shown only if the port
//! is open to this machine alone.

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;

/// Readiness of a process, with the reason if it is not ready.
pub type Ready = Result<(), String>;

/// The text format of Prometheus.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The routes of a worker's own port. `metrics` renders the page for each request.
pub fn router(
    ready: impl Fn() -> Ready + Clone + Send + Sync + 'static,
    metrics: impl Fn() -> String + Send + Sync + 'static,
) -> Router {
    let metrics = Arc::new(metrics);
    probes(ready, true).route("/metrics", get(move || async move { page(metrics()) }))
}

/// `/healthz` and `/readyz`, with the reason if `show_reason`.
pub(super) fn probes(ready: impl Fn() -> Ready + Clone + Send + Sync + 'static, show_reason: bool) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(move || async move { readiness(&ready(), show_reason) }))
}

/// A page of metrics.
pub(super) fn page(metrics: String) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, PROMETHEUS)], metrics)
}

fn readiness(ready: &Ready, show_reason: bool) -> Response {
    match ready {
        Ok(()) => "ready\n".into_response(),
        Err(why) if show_reason => {
            (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {why}\n")).into_response()
        }
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "not ready\n").into_response(),
    }
}
