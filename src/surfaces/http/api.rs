//! The HTTP API: the backend, the checks of callers, and the counts of responses.

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

/// Counts of responses by status class.
#[derive(Debug, Default)]
pub struct ResponseCounts([AtomicU64; 4]);

impl ResponseCounts {
    /// The status classes with their counts.
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

/// The HTTP API.
pub struct Api {
    pub(super) backend: Arc<Backend>,
    pub(super) authorization: Authorization,
    pub(super) answered: Arc<ResponseCounts>,
    /// Whether it serves the operations, and with them their description, the status page and the guide.
    pub(super) has_operations: bool,
    pub(super) tools: Option<OverHttp>,
}

impl Api {
    /// Creates the API for a service that has `connections` connections for it. After `stop` no new work starts.
    #[must_use]
    pub fn new(service: Arc<Service>, rules: Rules, connections: usize, stop: CancellationToken) -> Self {
        let authorization = Authorization::new(rules, Keyring::new(service.share_store()));
        let backend = Backend::new(service, connections, stop);
        Self { backend, authorization, answered: Arc::default(), has_operations: true, tools: None }
    }

    /// Leaves out the operations: what remains is tools, probes and metrics.
    #[must_use]
    pub fn without_operations(self) -> Self {
        Self { has_operations: false, ..self }
    }

    /// Adds the MCP tools at /mcp.
    #[must_use]
    pub fn with_tools(self, allow_writes: bool) -> Self {
        let tools = Tools::of_callers(Arc::clone(&self.backend), allow_writes);
        Self { tools: Some(tools.over_http()), ..self }
    }

    /// The counts of responses.
    #[must_use]
    pub fn answered(&self) -> Arc<ResponseCounts> {
        Arc::clone(&self.answered)
    }

    /// Waits until all running work has ended.
    pub async fn drained(&self) {
        self.backend.drained().await;
    }

    /// The usage of the limits.
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
