//! Probes for supervisors: `/healthz` (the process answers), `/readyz` (it can do its work, or why not) and `/metrics`.
//!
//! The answer to `/readyz` was found out beforehand, so that a probe does not wait for the database. A process whose
//! mirror is empty for want of room is not ready either. The reason is shown where only this machine has access.

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;

/// Whether a process can do its work, or why not.
pub type Ready = Result<(), String>;

/// The text format of Prometheus.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The routes of a worker's own port. `metrics` writes the page anew for each request.
pub fn router(
    ready: impl Fn() -> Ready + Clone + Send + Sync + 'static,
    metrics: impl Fn() -> String + Send + Sync + 'static,
) -> Router {
    let metrics = Arc::new(metrics);
    probes(ready, true).route("/metrics", get(move || async move { page(metrics()) }))
}

/// `/healthz` and `/readyz`, the reason only if it is to be shown.
pub(super) fn probes(ready: impl Fn() -> Ready + Clone + Send + Sync + 'static, told: bool) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(move || async move { readiness(&ready(), told) }))
}

/// A page of metrics.
pub(super) fn page(metrics: String) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, PROMETHEUS)], metrics)
}

fn readiness(ready: &Ready, told: bool) -> Response {
    match ready {
        Ok(()) => "ready\n".into_response(),
        Err(why) if told => (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {why}\n")).into_response(),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "not ready\n").into_response(),
    }
}
