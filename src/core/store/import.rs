//! Imports: how far a file of events has come, advanced in each batch's own transaction.
//!
//! Whoever opens a file last holds it: an older program that is still at work finds the lock changed and stops before it
//! writes. So the same command may be repeated after a kill at once, and two at a time do no harm.

use super::Store;
use super::batch::{Batch, BatchOutcome, EventEffect, apply};
use super::catalogue::{IMPORT_ADVANCE, IMPORT_GUARD, IMPORT_OPEN};
use super::error::Error;
use super::fact::assert;
use super::outcome::{OutcomeReport, take_in};
use super::relation::observe;
use super::request::RequestMode;
use super::session::EndedSession;
use super::trail::{TraceOutcome, trace};
use super::tx::{Mode, Tx};
use crate::domain::event::{Observe, Trace};
use crate::domain::fact::Assertion;
use crate::domain::ids::{Scope, SessionId};
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use serde::Deserialize;

/// The progress of the import of a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Progress {
    pub lines: i64,
    pub digest: String,
    /// The instant of the last event among them, epoch milliseconds.
    pub at: Option<i64>,
}

/// The events of a batch of lines that do not concern memories.
#[derive(Debug, Clone, Copy, Default)]
pub struct OtherEvents<'a> {
    /// Relations that were seen, in order.
    pub seen: &'a [Observe],
    /// Facts that were asserted, in order.
    pub facts: &'a [Assertion],
    /// What happened in the palace, in order, after all that.
    pub traces: &'a [Trace],
}

impl Store {
    /// Begins or goes on with a file. From here on an older import of the same file stops.
    pub async fn open_import(&self, key: &str, name: &str) -> Result<Progress, Error> {
        self.transactions
            .run("import.open", Mode::Write, async |tx: &mut Tx| {
                let call =
                    IMPORT_OPEN.call().set("key", key).set("name", name).set("holder", self.holder.as_str());
                tx.only(call).await
            })
            .await
    }

    /// How far a file has come, nothing written.
    pub async fn look_import(&self, key: &str, name: &str) -> Result<Progress, Error> {
        self.transactions
            .run("import.look", Mode::Write, async |tx: &mut Tx| {
                tx.abandon();
                let call =
                    IMPORT_OPEN.call().set("key", key).set("name", name).set("holder", self.holder.as_str());
                tx.only(call).await
            })
            .await
    }

    /// Applies the next lines of a file, what they say of memories, relations and facts, and then what happened in the
    /// palace: `from` lines are done before, `progress` says what is done after. In the answer, what is wrong in the palace
    /// is counted on after the events of memories. A batch that landed before (its commit was lost) is not applied again.
    ///
    /// # Errors
    /// [`Error::Fenced`] if another program has opened the file since; those of the connection.
    pub async fn import_events(
        &self,
        key: &str,
        from: i64,
        progress: &Progress,
        batch: Batch<'_>,
        others: OtherEvents<'_>,
    ) -> Result<BatchOutcome, Error> {
        let body = async |tx: &mut Tx| {
            if self.landed(tx, key, from, progress.lines).await? {
                return Ok((BatchOutcome::Written(vec![EventEffect::Accessed; batch.events.len()]), ()));
            }
            tx.changes.by = Some("import".to_owned());
            let applied = apply(tx, batch).await?;
            if matches!(applied, BatchOutcome::Written(_)) {
                observe(tx, others.seen, &self.pins).await?;
                assert(tx, others.facts).await?;
                if let TraceOutcome::Rejected(mut faults) = trace(tx, &self.trails, others.traces).await? {
                    faults.iter_mut().for_each(|fault| fault.index += batch.events.len());
                    return Ok((BatchOutcome::Rejected(faults), ()));
                }
                advance(tx, key, progress).await?;
            }
            Ok((applied, ()))
        };
        Ok(self.apply_or_rollback("import.events", body).await?.0)
    }

    /// Ends a session as the next line of a file.
    #[expect(
        clippy::too_many_arguments,
        reason = "a line's place in its file, and the facts of the one law it applies"
    )]
    pub async fn import_session_end(
        &self,
        key: &str,
        from: i64,
        progress: &Progress,
        scope: &Scope,
        session: &SessionId,
        now: Timestamp,
        tunables: &Tunables,
    ) -> Result<EndedSession, Error> {
        let threshold = tunables.config().session_end_threshold;
        self.end_pages("import.session_end", async |tx: &mut Tx, ended: EndedSession, after: &str| {
            if self.landed(tx, key, from, progress.lines).await? {
                return Ok((ended, None));
            }
            let (ended, rest) =
                self.end_page(tx, scope, session, now, threshold, tunables, ended, after).await?;
            if rest.is_none() {
                advance(tx, key, progress).await?;
            }
            Ok((ended, rest))
        })
        .await
    }

    /// Takes an outcome in as the next line of a file.
    pub async fn import_outcome(
        &self,
        key: &str,
        from: i64,
        progress: &Progress,
        mode: RequestMode<'_>,
        report: OutcomeReport<'_>,
    ) -> Result<(), Error> {
        self.transactions
            .run("import.outcome", Mode::Write, async |tx: &mut Tx| {
                if !self.landed(tx, key, from, progress.lines).await? {
                    take_in(tx, &self.trails, mode, report).await?;
                    advance(tx, key, progress).await?;
                }
                Ok(())
            })
            .await
    }

    /// Records lines that had nothing to apply, such as blank ones and those quarantined.
    pub async fn skip_lines(&self, key: &str, from: i64, progress: &Progress) -> Result<(), Error> {
        self.transactions
            .run("import.skip", Mode::Write, async |tx: &mut Tx| {
                if !self.landed(tx, key, from, progress.lines).await? {
                    advance(tx, key, progress).await?;
                }
                Ok(())
            })
            .await
    }

    /// Holds the file to commit and says whether the lines up to `to` are done already.
    async fn landed(&self, tx: &mut Tx, key: &str, from: i64, to: i64) -> Result<bool, Error> {
        let guard = IMPORT_GUARD.call().set("key", key).set("holder", self.holder.as_str());
        match tx.row::<i64>(guard).await? {
            Some(lines) if lines == from => Ok(false),
            Some(lines) if lines == to => Ok(true),
            _ => Err(Error::Fenced(
                "another program has begun to import the same file, and goes on with it; this one stops here. \
                 Nothing is lost or counted twice"
                    .to_owned(),
            )),
        }
    }
}

async fn advance(tx: &mut Tx, key: &str, progress: &Progress) -> Result<(), Error> {
    let call = IMPORT_ADVANCE
        .call()
        .set("key", key)
        .set("lines", progress.lines)
        .set("digest", progress.digest.as_str())
        .set("at", progress.at);
    tx.run(call).await
}
