//! The API over HTTP: the backend, the checks of callers, and the count of responses.

use super::authorization::{Authorization, Rules};
use crate::surfaces::limits::Usage;
use crate::surfaces::mcp::{OverHttp, Tools};
use crate::surfaces::operation::Backend;
use crate::surfaces::operation::problem::Problem;
use axum::http::{HeaderMap, StatusCode};
use ebb_core::service::Service;
use ebb_core::service::keys::{Caller, Keyring};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio_util::sync::CancellationToken;

/// Responses so far, by the first digit of their status.
#[derive(Debug, Default)]
pub struct ResponseCounts([AtomicU64; 4]);

impl ResponseCounts {
    /// The classes of statuses, each with its count.
    #[must_use]
    pub fn by_class(&self) -> [(&'static str, u64); 4] {
        let [ok, moved, refused, failed] = &self.0;
        [("2xx", ok), ("3xx", moved), ("4xx", refused), ("5xx", failed)]
            .map(|(class, count)| (class, count.load(Ordering::Relaxed)))
    }

    pub(super) fn count(&self, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100);
        if let Some(count) = class.checked_sub(2).and_then(|class| self.0.get(class)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The API over HTTP.
pub struct Api {
    pub(super) backend: Arc<Backend>,
    pub(super) authorization: Authorization,
    pub(super) answered: Arc<ResponseCounts>,
    pub(super) tools: Option<OverHttp>,
}

impl Api {
    /// An API over a service, which has so many connections for it. At `stop` it begins nothing new.
    #[must_use]
    pub fn new(service: Arc<Service>, rules: Rules, connections: usize, stop: CancellationToken) -> Self {
        let authorization = Authorization::new(rules, Keyring::new(service.share_store()));
        let backend = Backend::new(service, connections, stop);
        Self { backend, authorization, answered: Arc::default(), tools: None }
    }

    /// With the tools of MCP at /mcp.
    #[must_use]
    pub fn with_tools(self, allow_writes: bool) -> Self {
        let tools = Tools::of_callers(Arc::clone(&self.backend), allow_writes);
        Self { tools: Some(tools.over_http()), ..self }
    }

    /// How it has answered so far.
    #[must_use]
    pub fn answered(&self) -> Arc<ResponseCounts> {
        Arc::clone(&self.answered)
    }

    /// Waits until all work that was begun has ended.
    pub async fn drained(&self) {
        self.backend.drained().await;
    }

    /// How much of its limits is used.
    #[must_use]
    pub fn usage(&self) -> [(&'static str, Usage); 6] {
        self.backend.limits.usage()
    }

    /// The caller of a request.
    pub(super) async fn caller(&self, headers: &HeaderMap) -> Result<Caller, Problem> {
        if self.backend.stop.is_cancelled() {
            return Err(Problem::unavailable("Ebb is shutting down", 5));
        }
        self.authorization.caller(headers).await
    }
}
