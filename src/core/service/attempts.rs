//! Consolidation attempts, as a person looks at them and ends them.

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

    /// Ends an attempt whoever holds it; its memories can be claimed at once, and its holder commits nothing more. Answers
    /// whether it was open.
    pub async fn release_attempt(&self, id: &str) -> Result<bool, Error> {
        self.store.release_attempt(id).await
    }
}
