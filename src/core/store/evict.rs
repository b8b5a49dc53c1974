//! Eviction of a lock holder that is gone while its connection is still open.
//!
//! A program whose machine or network has failed leaves a transaction open in the server, with the lock that a takeover
//! needs. A program that waits longer than two seconds for a job, or for a row with an expired lease, queries the server, on another
//! connection, for the blocking transaction, and ends it if a second query a second later returns the same one. That is
//! always safe: a transaction that is ended has committed whole or never will. A user without the right to see
//! transactions waits until the server's own time-outs free the lock.

use super::Store;
use super::catalogue::{SERVER_BLOCKERS, SERVER_TERMINATE};
use super::encode::list;
use super::error::Error;
use super::statement::Statement;
use super::tx::{Mode, Tx};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tracing::{debug, warn};

/// Longest ordinary wait.
const WAIT_TIMEOUT: Duration = Duration::from_secs(2);
/// Interval between two queries that must agree.
const SECOND_LOOK: Duration = Duration::from_secs(1);

impl Store {
    /// Awaits `work`, which waits at one of `statements` for a lock that no live program can hold, and evicts its holder.
    pub(super) async fn evicting<T>(
        &self,
        statements: &[&'static Statement],
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let mut work = std::pin::pin!(work);
        let mut before: Option<String> = None;
        let mut wait = WAIT_TIMEOUT;
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = tokio::time::sleep(wait) => {}
            }
            wait = SECOND_LOOK;
            // The work continues to wait meanwhile, so it is still the one that is blocked.
            let look = self.blocker(statements);
            let seen = tokio::select! {
                biased;
                done = &mut work => return done,
                seen = look => seen,
            };
            match (seen, &before) {
                (Ok(Some(id)), Some(first)) if id == *first => {
                    warn!(transaction = id, "terminating the transaction of a holder that is gone");
                    let ended = self.terminate(&id).await;
                    self.counters().evicted.fetch_add(1, Ordering::Relaxed);
                    debug!(transaction = id, ?ended, "ended");
                    before = None;
                }
                (Ok(seen), _) => before = seen,
                (Err(why), _) => {
                    debug!(%why, "the blocking transaction cannot be found; waiting for the server's own time-outs");
                    return work.await;
                }
            }
        }
    }

    /// The transaction that blocks this program's own one, which waits at one of `statements`.
    async fn blocker(&self, statements: &[&'static Statement]) -> Result<Option<String>, Error> {
        let texts = list(statements.iter().map(|statement| statement.body()));
        let call = SERVER_BLOCKERS.call().set("holder", self.holder.as_str()).set("text", texts);
        let states: Vec<String> = self.read(call).await?;
        Ok(states.iter().find_map(|status| blocked_by(status)))
    }

    async fn terminate(&self, id: &str) -> Result<String, Error> {
        self.transactions
            .run("server.terminate", Mode::Read, async |tx: &mut Tx| {
                tx.only(SERVER_TERMINATE.call().set("id", id)).await
            })
            .await
    }
}

/// Parses the transaction in a status such as `Blocked by: [neo4j-transaction-143]`.
fn blocked_by(status: &str) -> Option<String> {
    let (_, rest) = status.split_once('[')?;
    let first = rest.split([']', ',']).next()?.trim();
    (!first.is_empty()).then(|| first.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocker_is_read_from_the_status() {
        assert_eq!(
            blocked_by("Blocked by: [neo4j-transaction-143]").as_deref(),
            Some("neo4j-transaction-143")
        );
        assert_eq!(blocked_by("Blocked by: [a-1, a-2]").as_deref(), Some("a-1"));
        assert_eq!(blocked_by("Blocked by: []"), None);
        assert_eq!(blocked_by("Running"), None);
    }
}
