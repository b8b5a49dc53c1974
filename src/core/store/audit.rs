//! Audits: scans of all memories for their health and dates, and the removal of expired records.

use super::Store;
use super::attempt::not_over;
use super::catalogue::{
    ATTEMPT_TRIM, CHANGE_TRIM, FACT_TRIM, JOURNAL_TRIM, KEY_PRUNE, MEMORY_AUDIT, MEMORY_HEALTH, MIRROR_TRIM,
    REQUEST_TRIM, RUN_TRIM, SESSION_TRIM, SWEEP_TRIM, TOMBSTONE_TRIM,
};
use super::decay::{BEFORE_ALL, Judged, release_page};
use super::error::Error;
use super::memory::TierHealth;
use super::run::Run;
use super::statement::{Call, PageMode};
use super::tally::Tally;
use super::tx::{Mode, Tx};
use crate::domain::fact::{DECAY_SOURCE, FactScope};
use crate::domain::ids::MemoryKey;
use crate::domain::retention::Retention;
use crate::domain::tunables::{ENERGY_FLOOR, Tunables};
use crate::domain::units::Timestamp;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::time::Duration;

/// Time for which a key is listed after its end.
const KEYS_KEPT_DAYS: i64 = 90;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuditRow {
    scanned: i64,
    mended: i64,
    #[serde(default)]
    quarantined: i64,
    last_id: Option<String>,
    last_scope: Option<String>,
}

impl Store {
    /// Memories by tier with their energies at `now`; quarantined rows are left out.
    pub async fn health(&self, now: Timestamp, tunables: &Tunables) -> Result<Vec<TierHealth>, Error> {
        let config = tunables.config();
        let call = MEMORY_HEALTH
            .call()
            .set("now", now.millis())
            .set("workingDecay", config.working_decay)
            .set("shortTermDecay", config.short_term_decay)
            .set("longTermDecay", config.long_term_decay);
        self.read(call).await
    }

    /// Attempts with an expired lease that are still open, among the hundred oldest.
    pub async fn stuck_attempts(&self) -> Result<i64, Error> {
        let open = self
            .transactions
            .run("attempt.stuck", Mode::Read, async |tx: &mut Tx| not_over(tx).await)
            .await?;
        Ok(i64::try_from(open.iter().filter(|open| open.overdue).count()).unwrap_or(i64::MAX))
    }

    /// Releases quarantined rows with valid values, a page after a number as a batch of `run`; without tunables, they are
    /// released for adoption to check. Returns the number of the last row, if more may follow.
    ///
    /// # Errors
    /// [`Error::Fenced`] if the run was lost; after one with [`Error::is_of_data`] leave the rows to adoption.
    pub async fn release(
        &self,
        run: &mut Run,
        tunables: Option<&Tunables>,
        after: Option<i64>,
    ) -> Result<Option<i64>, Error> {
        let (now, embeds) = (run.now, self.similarity.embeds());
        let of = (Judged::Mended, after.unwrap_or(BEFORE_ALL));
        let body = async |tx: &mut Tx| {
            let page = release_page(tx, (now, embeds), tunables, of).await?;
            let released = page.released;
            Ok((Tally { released, changed: released, ..Tally::default() }, page.last))
        };
        Ok(self.in_run(run, "memories.release", body).await?.1)
    }

    /// Scans a page of memories after one, by id and scope, and sets due dates again that no job would set, as a batch
    /// of `run`. Returns the size of the page; a short page is the last. Moves `after`.
    pub async fn audit(
        &self,
        run: &mut Run,
        after: &mut MemoryKey,
        page_mode: PageMode<'_>,
    ) -> Result<usize, Error> {
        let body = async |tx: &mut Tx| {
            let row = audit_page(tx, after, page_mode).await?;
            if row.quarantined > 0 {
                tx.touch_everything();
            }
            let AuditRow { scanned, mended: changed, quarantined, .. } = row;
            Ok((Tally { scanned, changed, quarantined, ..Tally::default() }, row.last()))
        };
        let (tally, last) = self.in_run(run, "memories.audit", body).await?;
        if let Some(last) = last {
            *after = last;
        }
        Ok(usize::try_from(tally.scanned).unwrap_or(0))
    }

    /// Removes up to `limit` expired records of each kind that is not over, as a batch of `run`: of the kinds that only a
    /// scan finds, those of a page of as many rows. Moves `cursor`. Returns whether more may remain.
    pub async fn trim(&self, run: &mut Run, limit: usize, cursor: &mut TrimCursor) -> Result<bool, Error> {
        let (kept, now) = (*self.transactions.trims.retention(), run.now);
        let from = cursor.clone();
        let body = async |tx: &mut Tx| {
            let mut next = from.clone();
            let trimmed = trim_rest(tx, &kept, now, limit, &mut next).await?;
            Ok((Tally { changed: trimmed, trimmed, ..Tally::default() }, next))
        };
        *cursor = self.in_run(run, "ledger.trim", body).await?.1;
        Ok(cursor.more)
    }
}

/// The place of a removal of expired records: kinds without further ones, and the last rows of those that are scanned.
#[derive(Debug, Clone, Default)]
pub struct TrimCursor {
    /// Names of their statements.
    over: BTreeSet<&'static str>,
    session: (String, String),
    /// Place in the list of scopes, and the last id.
    fact: (usize, String),
    /// Whether a page was full.
    more: bool,
}

/// A page of sessions that are scanned.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionsRow {
    scanned: i64,
    trimmed: i64,
    last_id: Option<String>,
    last_scope: Option<String>,
}

/// A page of facts that are scanned.
#[derive(Deserialize)]
struct FactsRow {
    scanned: i64,
    trimmed: i64,
    last: Option<String>,
}

/// Requests, changes and nodes of the journal whose retention is over, found by an index.
fn requests(kept: &Retention) -> [Call; 3] {
    [
        REQUEST_TRIM.call().set("keptMs", ms(kept.requests)),
        JOURNAL_TRIM.call().set("keptMs", ms(kept.journal)),
        CHANGE_TRIM.call(),
    ]
}

/// The same of runs, attempts, sweeps, whose runs were removed before, mirror status and keys.
fn ledger(kept: &Retention) -> [Call; 5] {
    [
        RUN_TRIM.call().set("keptMs", ms(kept.runs)),
        ATTEMPT_TRIM.call().set("keptMs", ms(kept.runs)),
        SWEEP_TRIM.call(),
        MIRROR_TRIM.call(),
        KEY_PRUNE.call().set("days", KEYS_KEPT_DAYS),
    ]
}

/// Removes up to `limit` expired requests, changes and nodes of the journal each. Returns the numbers.
pub(super) async fn trim_page(tx: &mut Tx, kept: &Retention, limit: usize) -> Result<Vec<i64>, Error> {
    let mut trimmed = Vec::new();
    for call in requests(kept) {
        trimmed.push(trim(tx, call, limit).await?);
    }
    Ok(trimmed)
}

/// Removes up to `limit` requests whose retention is over, the oldest first. Returns the number.
pub(super) async fn trim_requests(tx: &mut Tx, kept: &Retention, limit: usize) -> Result<i64, Error> {
    let [requests, ..] = requests(kept);
    trim(tx, requests, limit).await
}

/// As [`trim_page`], with runs, attempts, sweeps, mirror status and keys.
pub(super) async fn trim_all(tx: &mut Tx, kept: &Retention, limit: usize) -> Result<Vec<i64>, Error> {
    let mut trimmed = trim_page(tx, kept, limit).await?;
    for call in ledger(kept) {
        trimmed.push(trim(tx, call, limit).await?);
    }
    Ok(trimmed)
}

/// A page of all kinds that are not over, with those that need a scan: sessions without memories, and those with a
/// configured retention. Returns the number of what it removed.
async fn trim_rest(
    tx: &mut Tx,
    kept: &Retention,
    now: Timestamp,
    limit: usize,
    cursor: &mut TrimCursor,
) -> Result<i64, Error> {
    let before = |kept: Duration| now.millis().saturating_sub(ms(kept));
    let full = i64::try_from(limit).unwrap_or(i64::MAX);
    let tombstones = kept.tombstones.map(|kept| TOMBSTONE_TRIM.call().set("before", before(kept)));
    let mut trimmed = 0;
    cursor.more = false;
    for call in requests(kept).into_iter().chain(ledger(kept)).chain(tombstones) {
        let kind = call.statement.name;
        if cursor.over.contains(kind) {
            continue;
        }
        let count = trim(tx, call, limit).await?;
        trimmed += count;
        cursor.more |= count >= full;
        // A sweep is over once its run was removed.
        let waits = kind == SWEEP_TRIM.name && !cursor.over.contains(RUN_TRIM.name);
        if count < full && !waits {
            cursor.over.insert(kind);
        }
    }
    trimmed += trim_sessions(tx, before(kept.sessions), full, cursor).await?;
    if let Some(kept) = kept.decayed_facts {
        trimmed += trim_facts(tx, before(kept), full, cursor).await?;
    }
    Ok(trimmed)
}

async fn trim_sessions(tx: &mut Tx, before: i64, full: i64, cursor: &mut TrimCursor) -> Result<i64, Error> {
    if cursor.over.contains(SESSION_TRIM.name) {
        return Ok(0);
    }
    let call = SESSION_TRIM
        .call()
        .set("afterId", cursor.session.0.as_str())
        .set("afterScope", cursor.session.1.as_str())
        .set("before", before)
        .set("limit", full);
    match tx.only::<SessionsRow>(call).await? {
        SessionsRow { scanned, trimmed, last_id: Some(id), last_scope: Some(scope) } if scanned >= full => {
            cursor.session = (id, scope);
            cursor.more = true;
            Ok(trimmed)
        }
        SessionsRow { trimmed, .. } => {
            cursor.over.insert(SESSION_TRIM.name);
            Ok(trimmed)
        }
    }
}

async fn trim_facts(tx: &mut Tx, before: i64, full: i64, cursor: &mut TrimCursor) -> Result<i64, Error> {
    let (mut trimmed, mut room) = (0, full);
    while let Some(scope) = FactScope::ALL.get(cursor.fact.0).filter(|_| room > 0) {
        let call = FACT_TRIM
            .call()
            .set("scope", scope.name())
            .set("after", cursor.fact.1.as_str())
            .set("source", DECAY_SOURCE)
            .set("before", before)
            .set("limit", room);
        let row: FactsRow = tx.only(call).await?;
        cursor.fact = match row.last {
            Some(last) if row.scanned >= room => (cursor.fact.0, last),
            _ => (cursor.fact.0 + 1, String::new()),
        };
        trimmed += row.trimmed;
        room -= row.scanned;
    }
    cursor.more |= cursor.fact.0 < FactScope::ALL.len();
    Ok(trimmed)
}

async fn trim(tx: &mut Tx, call: Call, limit: usize) -> Result<i64, Error> {
    tx.only(call.set("limit", i64::try_from(limit).unwrap_or(i64::MAX))).await
}

fn ms(kept: Duration) -> i64 {
    i64::try_from(kept.as_millis()).unwrap_or(i64::MAX)
}

impl AuditRow {
    fn last(&self) -> Option<MemoryKey> {
        Some(MemoryKey::of_row(self.last_scope.as_deref()?, self.last_id.as_deref()?))
    }
}

async fn audit_page(tx: &mut Tx, after: &MemoryKey, page_mode: PageMode<'_>) -> Result<AuditRow, Error> {
    let call = MEMORY_AUDIT
        .call()
        .set("afterId", after.id())
        .set("afterScope", after.scope())
        .set("floor", ENERGY_FLOOR)
        .page(page_mode);
    tx.only(call).await
}
