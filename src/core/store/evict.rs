//! Eviction of a lock holder that is gone while its connection is still open.
//!
//! A program whose machine is gone or whose network is silent leaves a transaction open in the server, with the lock that
//! a taker needs. Who waits longer than two seconds for something whose lease is over asks the server, on another
//! connection, which transaction stands in the way, and ends it if a second look a second later names the same one.
//! That is always safe: what is ended has committed whole or never will. A user without the right to see transactions
//! waits until the server's own time-outs free the lock.

use super::Store;
use super::catalogue::{SERVER_BLOCKERS, SERVER_TERMINATE};
use super::error::Error;
use super::statement::Statement;
use super::tx::{Mode, Tx};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tracing::{debug, warn};

/// How long a wait may be an ordinary one.
const WAIT_TIMEOUT: Duration = Duration::from_secs(2);
/// Between two looks that must agree.
const SECOND_LOOK: Duration = Duration::from_secs(1);

impl Store {
    /// Awaits `work`, which waits at `statement` for a lock that nobody alive can hold; whoever holds it is evicted.
    pub(super) async fn evicting<T>(
        &self,
        statement: &'static Statement,
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
            // The work goes on waiting meanwhile, so it is still the one that is blocked.
            let look = self.blocker(statement);
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

    /// The transaction that this program's own one, waiting at `statement`, is blocked by.
    async fn blocker(&self, statement: &'static Statement) -> Result<Option<String>, Error> {
        let call = SERVER_BLOCKERS.call().set("holder", self.holder.as_str()).set("text", statement.body());
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

/// The transaction named in a status such as `Blocked by: [neo4j-transaction-143]`.
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
