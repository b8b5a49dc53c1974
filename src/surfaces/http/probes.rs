//! Probes for supervisors: `/healthz` (liveness), `/readyz` (readiness, with the reason if not ready) and `/metrics`.
//!
//! `/readyz` returns a state determined beforehand, so that a probe does not wait for the database. A process whose
//! mirror is empty because the graph does not fit into memory is not ready either. Reasons are shown only if the port
//! is open to this machine alone. At another address a supervisor names a worker's port by any host, so no request is refused for
//! its host there, and nothing is shown that a web page must not read.
//!
//! # Design notes
//! A supervisor takes requests away from a process that is not ready. So one that answers requests stays ready while no job
//! can run, and names the failing part; `ebb_jobs_stopped` at `/metrics` is what alerts use. One that only runs jobs then
//! does nothing, and is not ready. `/healthz` never depends on it: a restart would not help.

use super::authorization::names_this_machine;
use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
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

/// The routes of a worker's own port. `metrics` renders the page for each request. If only this machine has access (`is_local`),
/// reasons are shown, and a request for another host is refused.
pub fn router(
    is_local: bool,
    ready: impl Fn() -> Readiness + Clone + Send + Sync + 'static,
    metrics: impl Fn() -> String + Send + Sync + 'static,
) -> Router {
    let metrics = Arc::new(metrics);
    let router = probes(ready, is_local).route("/metrics", get(move || async move { page(metrics()) }));
    if is_local { router.layer(from_fn(check_host)) } else { router }
}

/// Refuses a request for another host: it can come from a web page whose name resolves to this machine (DNS rebinding).
async fn check_host(request: Request, next: Next) -> Response {
    let is_here = |host: &HeaderValue| host.to_str().is_ok_and(names_this_machine);
    if request.headers().get_all(header::HOST).iter().all(is_here) {
        return next.run(request).await;
    }
    (StatusCode::FORBIDDEN, "the header Host must name this machine, such as localhost\n").into_response()
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

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use http_body_util::BodyExt;
    use hyper::service::Service;
    use hyper_util::service::TowerToHyperService;

    async fn ask(is_local: bool, path: &str, host: Option<&str>) -> (u16, String) {
        let not_ready = || Readiness::NotReady("the disk is full".to_owned());
        let router = router(is_local, not_ready, || "counts\n".to_owned());
        let request = host.into_iter().fold(axum::http::Request::builder().uri(path), |request, host| {
            request.header(header::HOST, host)
        });
        let request = request.body(Body::empty()).unwrap();
        let response = TowerToHyperService::new(router).call(request).await.unwrap();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn on_this_machine_reasons_are_shown_and_another_host_is_refused() {
        for host in [None, Some("localhost:9464"), Some("127.0.0.1:9464"), Some("[::1]")] {
            assert_eq!(ask(true, "/readyz", host).await, (503, "not ready: the disk is full\n".to_owned()));
            assert_eq!(ask(true, "/metrics", host).await, (200, "counts\n".to_owned()));
        }
        for path in ["/readyz", "/metrics", "/healthz", "/nowhere"] {
            let (status, text) = ask(true, path, Some("evil.example:9464")).await;
            assert!(status == 403 && text.starts_with("the header Host"), "{path}: {status} {text}");
        }
    }

    #[tokio::test]
    async fn at_another_address_any_host_is_answered_and_no_reason_is_shown() {
        for host in [None, Some("10.1.2.3:9464"), Some("ebb-worker")] {
            assert_eq!(ask(false, "/healthz", host).await, (200, "ok\n".to_owned()));
            assert_eq!(ask(false, "/readyz", host).await, (503, "not ready\n".to_owned()));
            assert_eq!(ask(false, "/metrics", host).await, (200, "counts\n".to_owned()));
        }
    }
}
