//! The API: what all its routes share.

use super::door::{Door, Needs, Rules};
use super::problem::Problem;
use super::room::{Room, Usage};
use crate::surfaces::mcp::OverHttp;
use axum::http::{HeaderMap, StatusCode};
use ebb_core::service::Service;
use ebb_core::service::keys::{Caller, Keyring};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Span;

/// Responses so far, by the first digit of their status.
#[derive(Debug, Default)]
pub struct Answered([AtomicU64; 4]);

impl Answered {
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

/// What every request has to do with.
pub struct Api {
    pub(super) service: Arc<Service>,
    pub(super) door: Door,
    pub(super) room: Room,
    work: TaskTracker,
    /// Told when nothing new is to begin.
    pub(super) stop: CancellationToken,
    pub(super) answered: Arc<Answered>,
    pub(super) tools: Option<OverHttp>,
}

impl Api {
    /// An API over a service, which has so many connections for it. At `stop` it begins nothing new.
    #[must_use]
    pub fn new(service: Arc<Service>, rules: Rules, connections: usize, stop: CancellationToken) -> Self {
        let keys = Keyring::new(service.share_store());
        Self {
            service,
            door: Door::new(rules, keys),
            room: Room::over(connections),
            work: TaskTracker::new(),
            stop,
            answered: Arc::default(),
            tools: None,
        }
    }

    /// With the tools of MCP at /mcp.
    #[must_use]
    pub fn with_tools(self, tools: OverHttp) -> Self {
        Self { tools: Some(tools), ..self }
    }

    /// How it has answered so far.
    #[must_use]
    pub fn answered(&self) -> Arc<Answered> {
        Arc::clone(&self.answered)
    }

    /// Waits until all work that was begun has ended.
    pub async fn drained(&self) {
        self.work.close();
        self.work.wait().await;
    }

    /// Who asks, if they may do what a route needs. Over which scope is looked at when it is known which.
    pub(super) async fn enter(&self, headers: &HeaderMap, needs: Needs) -> Result<Caller, Problem> {
        if self.stop.is_cancelled() {
            return Err(Problem::unavailable("Ebb is shutting down", 5));
        }
        let caller = self.door.caller(headers).await?;
        let allowed = match needs {
            Needs::InScope(right) => right <= caller.grant.right,
            Needs::Everywhere(right) => caller.grant.allows_everywhere(right),
        };
        if allowed {
            return Ok(caller);
        }
        let right = needs.right().name();
        Err(Problem::forbidden(match needs {
            Needs::InScope(_) => format!("this key has no right to {right}"),
            Needs::Everywhere(_) => {
                format!(
                    "this concerns the database as a whole and needs a key with the right {right} over every scope (*)"
                )
            }
        }))
    }

    /// How much of its room is used.
    #[must_use]
    pub fn usage(&self) -> [(&'static str, Usage); 6] {
        self.room.usage()
    }

    /// Does work on a thread of its own, which what asks the database is bound to, and waits for it, for a while.
    pub(super) async fn work<A, Fut>(
        self: &Arc<Self>,
        patience: Option<Duration>,
        work: impl FnOnce() -> Fut + Send + 'static,
    ) -> Result<A, Problem>
    where
        A: Send + 'static,
        Fut: Future<Output = Result<A, Problem>>,
    {
        let (api, runtime, span) = (Arc::clone(self), Handle::current(), Span::current());
        let task = self.work.spawn_blocking(move || {
            let _entered = span.entered();
            runtime.block_on(async {
                api.service.prepared().await?;
                Box::pin(work()).await
            })
        });
        let done = match patience {
            None => task.await,
            Some(patience) => tokio::time::timeout(patience, task).await.map_err(|_| {
                let detail = format!(
                    "no answer within {} s; the work goes on. Repeat it with the same Idempotency-Key, and it counts once",
                    patience.as_secs()
                );
                Problem::unavailable(detail, 5)
            })?,
        };
        done.map_err(Problem::own_fault)?
    }
}
