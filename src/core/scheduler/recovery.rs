//! The recovery of a worker after the database was unreachable, shared by all its loops.
//!
//! A server that has just come back plans each statement when it first meets it, once for everybody who asks. So what
//! was under way goes first, then one job, and all else waits until it has come to its end. Workers do not come back at
//! the same moment: each waits for up to a second, drawn by lot, and what the first of them asks is planned
//! for all.

use crate::clock::jitter;
use std::time::Duration;
use tokio::sync::watch;

/// Within which the workers of a database that was away come back to it.
const RETURN: Duration = Duration::from_secs(1);

/// The stage of a recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The database was away when it was last asked.
    Away,
    /// It was, and answers again, or something else went wrong with it.
    Back,
    /// It answers, and nothing has been done yet.
    Cold,
    /// A job has come to its end since the database was last away, or there was none to do, or it has answered for ten
    /// seconds.
    Warm,
}

/// How far work gets on. Until it does, all else that a worker asks of the database can wait: while a server that has
/// just come back plans that, work waits.
#[derive(Debug)]
pub struct Recovery(watch::Sender<Stage>);

impl Default for Recovery {
    fn default() -> Self {
        Self(watch::Sender::new(Stage::Cold))
    }
}

impl Recovery {
    /// Whether work gets on.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        *self.0.borrow() == Stage::Warm
    }

    /// Says that it does.
    pub fn mark_progress(&self) {
        self.set(|_| Stage::Warm);
    }

    /// Says that the database is away, until it [answers](Self::answers).
    pub fn away(&self) {
        self.set(|_| Stage::Away);
    }

    /// Says that a question to the database failed.
    pub fn failed(&self) {
        self.set(|before| if before == Stage::Away { before } else { Stage::Back });
    }

    /// Says that it answers.
    pub fn answers(&self) {
        self.set(|before| if before == Stage::Away { Stage::Back } else { before });
    }

    /// Waits until work gets on.
    pub async fn warm(&self) {
        let _ = self.0.subscribe().wait_for(|stage| *stage == Stage::Warm).await;
    }

    /// Waits until a database that was away answers, and for up to a second by lot.
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
