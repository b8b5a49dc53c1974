//! Imports: progress through a file of events, advanced in each batch's own transaction.
//!
//! The latest program to open a file owns its import: an older program that is still at work finds that its lock has
//! changed, and stops before it writes. So the command may be repeated at once after a kill, and two concurrent imports
//! are safe.

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
use super::tx::{Mode, PriorTry, Tx};
use crate::domain::event::{Observe, Trace};
use crate::domain::fact::Assertion;
use crate::domain::ids::{Scope, SessionId};
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use serde::Deserialize;

/// Progress of the import of a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Progress {
    pub lines: i64,
    pub digest: String,
    /// Instant of the last event among them, epoch milliseconds.
    pub at: Option<i64>,
}

/// Row of `import/open`.
#[derive(Deserialize)]
struct Opened {
    lines: i64,
    digest: String,
    at: Option<i64>,
    /// `None` if an earlier version imported the lines.
    scope: Option<String>,
}

/// Events of a batch of lines other than those on memories.
#[derive(Debug, Clone, Copy, Default)]
pub struct OtherEvents<'a> {
    /// Observed relations, in order.
    pub seen: &'a [Observe],
    /// Asserted facts, in order.
    pub facts: &'a [Assertion],
    /// Trail events, in order, applied after all others.
    pub traces: &'a [Trace],
}

impl Store {
    /// Begins or continues the import of a file, whose lines without a scope are of this one. From here on an older import
    /// of the same file stops.
    ///
    /// # Errors
    /// [`Error::Conflict`] if lines of it were imported with another default scope.
    pub async fn open_import(&self, key: &str, name: &str, scope: &Scope) -> Result<Progress, Error> {
        self.transactions
            .run("import.open", Mode::Write, async |tx: &mut Tx| self.opened(tx, key, name, scope).await)
            .await
    }

    /// Progress of a file, without a write.
    ///
    /// # Errors
    /// As those of [`Self::open_import`].
    pub async fn look_import(&self, key: &str, name: &str, scope: &Scope) -> Result<Progress, Error> {
        self.transactions
            .run("import.look", Mode::Write, async |tx: &mut Tx| {
                tx.abandon();
                self.opened(tx, key, name, scope).await
            })
            .await
    }

    async fn opened(&self, tx: &mut Tx, key: &str, name: &str, scope: &Scope) -> Result<Progress, Error> {
        let call = IMPORT_OPEN
            .call()
            .set("key", key)
            .set("name", name)
            .set("scope", scope.as_str())
            .set("holder", self.holder.as_str());
        let Opened { lines, digest, at, scope: before } = tx.only(call).await?;
        match before {
            Some(before) if before != scope.as_str() => Err(Error::Conflict(format!(
                "{lines} lines of {name} were imported with the default scope {before} before; with {scope} they would be \
                 skipped. Nothing was written. New lines of {scope} name their scope in the file, or stand in a file of \
                 their own. To import its lines without a scope into {scope} as well, put these alone into a file of another \
                 name: lines that name a scope would count a second time. Run: the same command with --scope {before}"
            ))),
            _ => Ok(Progress { lines, digest, at }),
        }
    }

    /// Applies the next lines of a file: events on memories, relations and facts, then those on trails. `from` lines
    /// are done before, `progress` is the state after. In the result, errors of trail events are numbered after the
    /// events on memories. A batch that is committed already (its commit was reported as lost) is not applied again.
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
            if self.is_applied(tx, key, from, progress.lines).await? {
                return Ok((BatchOutcome::Written(vec![EventEffect::Accessed; batch.events.len()]), ()));
            }
            tx.changes.by = Some("import".to_owned());
            let applied = apply(tx, batch, self.similarity.embeds()).await?;
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
        Ok(self.apply_or_rollback(PriorTry::default(), "import.events", body).await?.0)
    }

    /// Ends a session as the next line of a file.
    #[expect(
        clippy::too_many_arguments,
        reason = "the position of a line in its file, and the parameters of its law"
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
            if self.is_applied(tx, key, from, progress.lines).await? {
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

    /// Applies an outcome as the next line of a file.
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
                if !self.is_applied(tx, key, from, progress.lines).await? {
                    take_in(tx, self, mode, report).await?;
                    advance(tx, key, progress).await?;
                }
                Ok(())
            })
            .await
    }

    /// Records lines without events to apply, such as blank and quarantined ones.
    pub async fn skip_lines(&self, key: &str, from: i64, progress: &Progress) -> Result<(), Error> {
        self.transactions
            .run("import.skip", Mode::Write, async |tx: &mut Tx| {
                if !self.is_applied(tx, key, from, progress.lines).await? {
                    advance(tx, key, progress).await?;
                }
                Ok(())
            })
            .await
    }

    /// Locks the import until commit, and returns whether the lines up to `to` are done already.
    /// Locks an import until commit.
    ///
    /// # Errors
    /// [`Error::Fenced`] if another program has opened it since.
    pub(super) async fn hold_import(&self, tx: &mut Tx, key: &str, lines: i64) -> Result<(), Error> {
        self.is_applied(tx, key, lines, lines).await.map(drop)
    }

    async fn is_applied(&self, tx: &mut Tx, key: &str, from: i64, to: i64) -> Result<bool, Error> {
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

pub(super) async fn advance(tx: &mut Tx, key: &str, progress: &Progress) -> Result<(), Error> {
    let call = IMPORT_ADVANCE
        .call()
        .set("key", key)
        .set("lines", progress.lines)
        .set("digest", progress.digest.as_str())
        .set("at", progress.at);
    tx.run(call).await
}
