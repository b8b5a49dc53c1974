//! The service, and the limits under which surfaces call it.
//!
//! Work has a thread of its own and is never dropped half-way: a transaction whose future is dropped keeps its locks until
//! its connection is used again. A caller that has gone, or has waited long enough, does not end it.

use super::problem::Problem;
use crate::surfaces::limits::Limits;
use ebb_core::service::Service;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Span;

/// The service, and the limits under which surfaces call it.
pub(in crate::surfaces) struct Backend {
    pub(in crate::surfaces) service: Arc<Service>,
    pub(in crate::surfaces) limits: Limits,
    tasks: TaskTracker,
    /// Cancelled when nothing new is to begin.
    pub(in crate::surfaces) stop: CancellationToken,
}

impl Backend {
    /// For a service that has so many connections for calls. At `stop` it begins nothing new.
    pub(in crate::surfaces) fn new(
        service: Arc<Service>,
        connections: usize,
        stop: CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self { service, limits: Limits::new(connections), tasks: TaskTracker::new(), stop })
    }

    /// Waits until all work that was begun has ended.
    pub(in crate::surfaces) async fn drained(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Runs work on a blocking thread and waits for it; for as long as it takes where no timeout is given.
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
                    "no answer within {} s; the work goes on. Repeat it with the same Idempotency-Key, and it counts once",
                    timeout.as_secs()
                );
                Problem::unavailable(detail, 5)
            })?,
        };
        done.map_err(Problem::own_fault)?
    }
}
