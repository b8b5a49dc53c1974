//! Consolidation attempts: listed, shown, released.

use super::Service;
use crate::store::{Attempt, Error};

impl Service {
    /// Attempts, open ones first; with `open` only these.
    pub async fn attempts(&self, open: bool, limit: u32) -> Result<Vec<Attempt>, Error> {
        self.store.attempts(open, limit).await
    }

    /// One attempt, with the ids and tiers of the memories it holds.
    pub async fn attempt(&self, id: &str) -> Result<(Attempt, Vec<(String, String)>), Error> {
        self.store.attempt(id).await
    }

    /// Ends an attempt, even one of another holder, which can then commit nothing more; its memories can be claimed at
    /// once. Returns whether it was open.
    pub async fn release_attempt(&self, id: &str) -> Result<bool, Error> {
        self.store.release_attempt(id).await
    }
}
