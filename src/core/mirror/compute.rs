//! Queries on a view: a limited number at a time, each on a thread of its own, with reused memory.
//!
//! A query uses one core, so there are as many permits as cores, and a caller beyond that waits for one, up to a limit:
//! a late response is useless to an agent. Buffers of the size of a graph are reused between queries.

use crate::domain::ids::Scope;
use ebb_engine::scratch::Scratch;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Time-out of waiting for a permit.
const WAIT_TIMEOUT: Duration = Duration::from_secs(10);

/// The reason why a view was not queried.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// All permits are in use, and none was released in time.
    #[error("too many queries are running; try again in a moment")]
    Full,
    /// Another caller is loading it.
    #[error("the scope {scope} is being loaded; try again in a moment")]
    Loading { scope: Scope },
    /// There are candidates and no memory for any of them.
    #[error(
        "the mirror of the scope {scope} is empty: none of its {nodes} nodes fits its share of mirror.max_bytes, {bytes} bytes; \
         raise mirror.max_bytes"
    )]
    NoRoom {
        scope: Scope,
        /// Number of candidates.
        nodes: u64,
        /// Memory limit of the scope.
        bytes: u64,
    },
    #[error("the process is ending")]
    Stopped,
    #[error("a query failed in the engine; see the log")]
    Panicked,
}

/// Permits and buffers.
#[derive(Debug, Clone)]
pub struct Compute {
    permits: Arc<Semaphore>,
    pool: Arc<Mutex<Vec<Scratch>>>,
}

impl Compute {
    /// Creates a pool with so many permits, at least one.
    #[must_use]
    pub fn new(permits: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(permits.max(1))), pool: Arc::default() }
    }

    /// Runs work with a permit, on a thread that may block.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Scratch) -> T + Send + 'static,
    ) -> Result<T, Refused> {
        let waiting = tokio::time::timeout(WAIT_TIMEOUT, Arc::clone(&self.permits).acquire_owned());
        let permit = waiting.await.ok().and_then(Result::ok).ok_or(Refused::Full)?;
        let pool = Arc::clone(&self.pool);
        let task = tokio::task::spawn_blocking(move || {
            let kept = pool.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut scratch = kept.unwrap_or_default();
            let answer = work(&mut scratch);
            pool.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
            drop(permit);
            answer
        });
        task.await.map_err(|_| Refused::Panicked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_falls_gives_its_permit_back() {
        let compute = Compute::new(1);
        let fallen = compute.run(|_| -> u32 { panic!("as asked") }).await;
        assert!(matches!(fallen, Err(Refused::Panicked)));
        assert_eq!(compute.run(|_| 7).await.unwrap(), 7);
        assert_eq!(compute.pool.lock().unwrap().len(), 1);
    }
}
