//! Probes for supervisors: `/healthz` (liveness), `/readyz` (readiness, with the reason if not ready) and `/metrics`.
//!
//! `/readyz` returns a state determined beforehand, so that a probe does not wait for the database. A process whose
//! mirror is empty because the graph does not fit into memory is not ready either. Reasons are shown only if the port
//! is open to this machine alone.
//!
//! # Design notes
//! A supervisor takes requests away from a process that is not ready. So one that answers requests stays ready while no job
//! can run, and names the failing part; `ebb_jobs_stopped` at `/metrics` is what alerts use. One that only runs jobs then
//! does nothing, and is not ready. `/healthz` never depends on it: a restart would not help.

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;

/// Whether the database is ready, with the reason if it is not.
pub type Ready = Result<(), String>;

/// Readiness of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readiness {
    /// All of its work can be done.
    Ready,
    /// It answers requests, and this part of its work fails.
    Partial(String),
    /// The reason that it is not ready.
    NotReady(String),
}

impl Readiness {
    /// Whether it can be sent requests.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        matches!(self, Self::Ready | Self::Partial(_))
    }
}

/// The text format of Prometheus.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The routes of a worker's own port. `metrics` renders the page for each request.
pub fn router(
    ready: impl Fn() -> Readiness + Clone + Send + Sync + 'static,
    metrics: impl Fn() -> String + Send + Sync + 'static,
) -> Router {
    let metrics = Arc::new(metrics);
    probes(ready, true).route("/metrics", get(move || async move { page(metrics()) }))
}

/// `/healthz` and `/readyz`, with the reason if `show_reason`.
pub(super) fn probes(
    ready: impl Fn() -> Readiness + Clone + Send + Sync + 'static,
    show_reason: bool,
) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(move || async move { readiness(ready(), show_reason) }))
}

/// A page of metrics.
pub(super) fn page(metrics: String) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, PROMETHEUS)], metrics)
}

fn readiness(ready: Readiness, show_reason: bool) -> Response {
    let (status, state, why) = match ready {
        Readiness::Ready => (StatusCode::OK, "ready", None),
        Readiness::Partial(why) => (StatusCode::OK, "ready in part", Some(why)),
        Readiness::NotReady(why) => (StatusCode::SERVICE_UNAVAILABLE, "not ready", Some(why)),
    };
    match why.filter(|_| show_reason) {
        Some(why) => (status, format!("{state}: {why}\n")).into_response(),
        None => (status, format!("{state}\n")).into_response(),
    }
}
