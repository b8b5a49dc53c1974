//! The recovery of a worker after the database was unreachable, shared by all its loops.
//!
//! A server that has just come back plans each statement when it first receives it, once for each concurrent request.
//! So open runs are continued first, then one job runs, and all else waits until that has finished. Workers do not come
//! back at the same moment: each waits for up to a second, at random, and the statements of the first are planned for
//! all.

use crate::clock::jitter;
use std::time::Duration;
use tokio::sync::watch;

/// Longest delay of a worker after a database that was away answers again.
const RETURN: Duration = Duration::from_secs(1);

/// The stage of a recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The database did not answer the last request.
    Away,
    /// It was away and answers again, or failed otherwise.
    Back,
    /// It answers, and no job has finished yet.
    Cold,
    /// A job has finished since the database was last away, or none was due, or the database has answered for ten
    /// seconds.
    Warm,
}

/// The recovery of the database. Until it is complete, all other requests of a worker wait: planning them would delay
/// its jobs.
#[derive(Debug)]
pub struct Recovery(watch::Sender<Stage>);

impl Default for Recovery {
    fn default() -> Self {
        Self(watch::Sender::new(Stage::Cold))
    }
}

impl Recovery {
    /// Whether a job has finished since the database was last away.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        *self.0.borrow() == Stage::Warm
    }

    /// Marks the recovery as complete.
    pub fn mark_progress(&self) {
        self.set(|_| Stage::Warm);
    }

    /// Marks the database as away, until it [answers](Self::answers).
    pub fn away(&self) {
        self.set(|_| Stage::Away);
    }

    /// Marks a request to the database as failed.
    pub fn failed(&self) {
        self.set(|before| if before == Stage::Away { before } else { Stage::Back });
    }

    /// Marks the database as answering.
    pub fn answers(&self) {
        self.set(|before| if before == Stage::Away { Stage::Back } else { before });
    }

    /// Waits until the recovery is complete.
    pub async fn warm(&self) {
        let _ = self.0.subscribe().wait_for(|stage| *stage == Stage::Warm).await;
    }

    /// Waits until a database that was away answers, and then up to a second, at random.
    pub async fn returned(&self) {
        if matches!(*self.0.borrow(), Stage::Cold | Stage::Warm) {
            return;
        }
        let _ = self.0.subscribe().wait_for(|stage| *stage != Stage::Away).await;
        tokio::time::sleep(jitter(RETURN)).await;
    }

    fn set(&self, next: impl Fn(Stage) -> Stage) {
        self.0.send_if_modified(|stage| {
            let next = next(*stage);
            std::mem::replace(stage, next) != next
        });
    }
}
