//! Consolidation attempts: listed, shown, released.

use super::Service;
use crate::store::{Attempt, Error};

impl Service {
    /// Attempts, those that are not over first; with `open` these alone.
    pub async fn attempts(&self, open: bool, limit: u32) -> Result<Vec<Attempt>, Error> {
        self.store.attempts(open, limit).await
    }

    /// One attempt, with the memories it holds, by id and tier.
    pub async fn attempt(&self, id: &str) -> Result<(Attempt, Vec<(String, String)>), Error> {
        self.store.attempt(id).await
    }

    /// Ends an attempt, also of another holder, which then commits nothing more; its memories can be claimed at once. Answers
    /// whether it was open.
    pub async fn release_attempt(&self, id: &str) -> Result<bool, Error> {
        self.store.release_attempt(id).await
    }
}
