//! Sessions: the promotions at their end.

use super::Store;
use super::attempt::{Promotion, finish, promote};
use super::catalogue::{SESSION_END, SESSION_MADE};
use super::error::Error;
use super::memory::lock;
use super::tx::{Mode, Tx};
use crate::domain::attempt::AttemptState;
use crate::domain::ids::{MemoryKey, Scope, SessionId};
use crate::domain::memory;
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use serde::{Deserialize, Serialize};

/// Most memories promoted in one transaction; a session with more takes several, each complete in itself.
const PAGE: usize = 500;

/// Result of ending a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedSession {
    /// Ids of the promoted memories.
    pub promoted: Vec<String>,
    /// Memories of another attempt, which will promote them, since it claimed them as ripe.
    pub held: i64,
}

impl Store {
    /// Ends a session page by page, each in a transaction of its own: `step` gets the result so far and the last id,
    /// and returns the new result, with the last id if more may follow.
    pub(super) async fn end_pages<F>(&self, name: &'static str, step: F) -> Result<EndedSession, Error>
    where
        F: AsyncFn(&mut Tx, EndedSession, &str) -> Result<(EndedSession, Option<String>), Error>,
    {
        let (mut ended, mut after) = (EndedSession::default(), String::new());
        loop {
            let body = async |tx: &mut Tx| step(tx, ended.clone(), &after).await;
            let (now, rest) = self.transactions.run(name, Mode::Write, body).await?;
            ended = now;
            match rest {
                Some(last) => after = last,
                None => return Ok(ended),
            }
        }
    }

    /// One page of a session's end at `now`, inside a transaction of the caller: working memories created in it with an
    /// energy strictly above `threshold` are promoted to short-term. `ended` is the result of the pages before; returns
    /// it with this page added, and the last id if more may follow.
    #[expect(clippy::too_many_arguments, reason = "each is a parameter of the law")]
    pub(super) async fn end_page(
        &self,
        tx: &mut Tx,
        scope: &Scope,
        session: &SessionId,
        now: Timestamp,
        threshold: f64,
        tunables: &Tunables,
        mut ended: EndedSession,
        after: &str,
    ) -> Result<(EndedSession, Option<String>), Error> {
        let end = SESSION_END
            .call()
            .set("scope", scope.as_str())
            .set("id", session.as_str())
            .set("at", now.millis());
        if tx.only::<i64>(end).await? == 0 {
            return Err(Error::NotFound { what: "session", id: session.to_string() });
        }
        let made = SESSION_MADE
            .call()
            .set("scope", scope.as_str())
            .set("session", session.as_str())
            .set("after", after)
            .set("limit", i64::try_from(PAGE).unwrap_or(i64::MAX));
        let made: Vec<String> = tx.rows(made).await?;
        let keys: Vec<MemoryKey> = made.iter().map(|id| MemoryKey::of_row(scope.as_str(), id)).collect();
        let wanted: Vec<(&MemoryKey, Option<&str>)> = keys.iter().map(|key| (key, None)).collect();
        let mut promotions = Vec::new();
        for (key, locked) in lock(tx, &wanted).await? {
            // An invalid row is left for the sweep and the audit, which quarantine it.
            let Ok(life) = locked.life else { continue };
            if let Ok(after) = memory::session_ended(life.state, now, threshold, tunables) {
                if !locked.claims.is_empty() {
                    ended.held += 1;
                } else {
                    promotions.push(Promotion { key: key.clone(), before: life.state, after });
                }
            }
        }
        if !promotions.is_empty() {
            let attempt = crate::clock::new_id();
            self.open_attempt(tx, &attempt, "sessionEnd", now).await?;
            promotions = promote(tx, promotions, now).await?;
            let applied = i64::try_from(promotions.len()).unwrap_or(i64::MAX);
            finish(tx, &attempt, AttemptState::Claimed, applied).await?;
            finish(tx, &attempt, AttemptState::Done, applied).await?;
        }
        ended.promoted.extend(promotions.into_iter().map(|promotion| promotion.key.to_string()));
        Ok((ended, keys.last().filter(|_| keys.len() == PAGE).map(ToString::to_string)))
    }
}
