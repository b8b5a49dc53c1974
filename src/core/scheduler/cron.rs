//! The tick of a worker, once a second.
//!
//! The cron crate gets one pattern, every second, and no schedule of a user: it knows nothing of the ledger, rejects
//! patterns that users write (`30 4 * * 0`), and may drop ticks under load. So a wait for a tick ends after
//! `SILENCE_MAX` at the latest; which jobs are due does not depend on how often that is checked.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio_cron_scheduler::{Job, JobScheduler, JobSchedulerError};

/// The longest wait for a tick.
const SILENCE_MAX: Duration = Duration::from_secs(3);

/// A wake-up signal without contents: sent each second, and after a write that may make a job due.
#[derive(Debug, Clone, Default)]
pub struct Wake(Arc<Notify>);

impl Wake {
    /// Sends the signal.
    pub fn look(&self) {
        self.0.notify_one();
    }

    /// Waits for the signal, at most `SILENCE_MAX`.
    pub async fn wait(&self) {
        // A timeout counts as a tick.
        let _ = tokio::time::timeout(SILENCE_MAX, self.0.notified()).await;
    }
}

/// The ticks, until they are stopped.
pub struct Ticks(JobScheduler);

/// Why ticks cannot start.
#[derive(Debug, thiserror::Error)]
#[error("the worker's timer cannot start: {0}")]
pub struct Error(#[from] JobSchedulerError);

impl Ticks {
    /// Starts to send the signal once a second.
    pub async fn start(wake: Wake) -> Result<Self, Error> {
        let scheduler = JobScheduler::new().await?;
        scheduler.add(Job::new("* * * * * *", move |_, _| wake.look())?).await?;
        scheduler.start().await?;
        Ok(Self(scheduler))
    }

    /// Ends the ticks.
    pub async fn stop(mut self) {
        // A timer that does not stop ends with the process.
        let _ = self.0.shutdown().await;
    }
}
