//! The tick of a worker, once a second.
//!
//! The ticking crate sees one pattern, every second, and no schedule of a user: it knows nothing of the ledger, rejects
//! patterns that users write (`30 4 * * 0`), and may leave out ticks under load. So whoever waits for a tick does not
//! wait longer than `SILENCE_MAX`: what is due does not depend on how often one looks.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio_cron_scheduler::{Job, JobScheduler, JobSchedulerError};

/// The longest wait for a tick.
const SILENCE_MAX: Duration = Duration::from_secs(3);

/// A wake-up signal without contents: sent by the clock, or after a write that may make a job due.
#[derive(Debug, Clone, Default)]
pub struct Wake(Arc<Notify>);

impl Wake {
    /// Says "look".
    pub fn look(&self) {
        self.0.notify_one();
    }

    /// Waits until somebody says so.
    pub async fn wait(&self) {
        // Silence is as good as a tick.
        let _ = tokio::time::timeout(SILENCE_MAX, self.0.notified()).await;
    }
}

/// The ticks, until they are stopped.
pub struct Ticks(JobScheduler);

/// Why there are no ticks.
#[derive(Debug, thiserror::Error)]
#[error("the worker's timer cannot start: {0}")]
pub struct Error(#[from] JobSchedulerError);

impl Ticks {
    /// Wakes once a second from here on.
    pub async fn start(wake: Wake) -> Result<Self, Error> {
        let scheduler = JobScheduler::new().await?;
        scheduler.add(Job::new("* * * * * *", move |_, _| wake.look())?).await?;
        scheduler.start().await?;
        Ok(Self(scheduler))
    }

    /// Ends the ticks.
    pub async fn stop(mut self) {
        // One that does not stop ends with the process.
        let _ = self.0.shutdown().await;
    }
}
