//! The service with its limits, as the surfaces call it.
//!
//! Work runs on a thread of its own and is never dropped half-way, even if the caller disconnects or times out: a
//! transaction whose future is dropped keeps its locks until its connection is used again.

use super::problem::Problem;
use crate::surfaces::limits::Limits;
use ebb_core::service::{SHARED_MAX, Service};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Span;

/// The service with its limits.
pub(in crate::surfaces) struct Backend {
    pub(in crate::surfaces) service: Arc<Service>,
    pub(in crate::surfaces) limits: Limits,
    tasks: TaskTracker,
    /// Cancelled at shutdown: no new work starts.
    pub(in crate::surfaces) stop: CancellationToken,
}

impl Backend {
    /// Creates a backend for a service that has `connections` connections for calls. After `stop` no new work starts.
    pub(in crate::surfaces) fn new(
        service: Arc<Service>,
        connections: usize,
        stop: CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self {
            service,
            limits: Limits::new(connections, SHARED_MAX),
            tasks: TaskTracker::new(),
            stop,
        })
    }

    /// Waits until all running work has ended.
    pub(in crate::surfaces) async fn drained(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Starts work on a blocking thread. At shutdown its end is awaited.
    pub(in crate::surfaces) fn start<Fut: Future<Output = ()>>(
        &self,
        work: impl FnOnce() -> Fut + Send + 'static,
    ) {
        let (runtime, span) = (Handle::current(), Span::current());
        self.tasks.spawn_blocking(move || {
            let _entered = span.entered();
            runtime.block_on(Box::pin(work()));
        });
    }

    /// Runs work on a blocking thread and waits for it, without limit if there is no timeout.
    pub(super) async fn run<A, Fut>(
        &self,
        timeout: Option<Duration>,
        work: impl FnOnce() -> Fut + Send + 'static,
    ) -> Result<A, Problem>
    where
        A: Send + 'static,
        Fut: Future<Output = Result<A, Problem>>,
    {
        let (service, runtime, span) = (Arc::clone(&self.service), Handle::current(), Span::current());
        let task = self.tasks.spawn_blocking(move || {
            let _entered = span.entered();
            runtime.block_on(async {
                service.prepared().await?;
                Box::pin(work()).await
            })
        });
        let done = match timeout {
            None => task.await,
            Some(timeout) => tokio::time::timeout(timeout, task).await.map_err(|_| {
                let detail = format!(
                    "no response within {} s; the work continues. If it writes, a retry with the same Idempotency-Key \
                     writes only once; without a key, check first whether it was written",
                    timeout.as_secs()
                );
                Problem::unavailable(detail, 5)
            })?,
        };
        done.map_err(Problem::own_fault)?
    }
}
