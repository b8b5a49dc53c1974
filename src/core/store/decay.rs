//! Pages of memories: the decay of due memories, and the adoption of those of other writers. Both laws run in Cypher,
//! since a page is more rows than are worth transferring.

use super::Store;
use super::adoption::{self, AdoptedLabel};
use super::catalogue::{
    MEMORY_ADOPT, MEMORY_DECAY, MEMORY_EXPIRES, MEMORY_RELEASE, MEMORY_WAITING, SESSION_ADOPT,
};
use super::error::Error;
use super::journal::EXPIRY;
use super::memory::Waiting;
use super::run::Run;
use super::statement::{Call, PageMode};
use super::tally::Tally;
use super::tx::{Mode, Tx};
use crate::domain::ids::MemoryKey;
use crate::domain::journal::RowName;
use crate::domain::tunables::{ENERGY_FLOOR, LONG_TERM_REWRITE_MS, Tunables};
use crate::domain::units::{Energy, Timestamp};
use serde::Deserialize;

/// Cursor of a decay pass: the last (dueAt, id, scope).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecayCursor {
    second: i64,
    nano: i64,
    id: String,
    scope: String,
}

impl Default for DecayCursor {
    fn default() -> Self {
        Self { second: Timestamp::FIRST.millis() / 1_000, nano: 0, id: String::new(), scope: String::new() }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SweptRow {
    scanned: i64,
    changed: i64,
    expired: i64,
    quarantined: i64,
    left: Vec<MemoryKey>,
    last_second: Option<i64>,
    last_nano: Option<i64>,
    last_id: Option<String>,
    last_scope: Option<String>,
}

impl Store {
    /// Adopts a page of memories of other writers, as a batch of `run`. Returns its number of rows, valid and invalid.
    pub async fn adopt(
        &self,
        run: &mut Run,
        tunables: &Tunables,
        page_mode: PageMode<'_>,
    ) -> Result<usize, Error> {
        let now = run.now;
        let tally = self
            .in_run(run, "memories.adopt", async |tx: &mut Tx| {
                adopt_page(tx, (now, tunables), self.similarity.embeds(), page_mode).await
            })
            .await?;
        Ok(usize::try_from(tally.adopted + tally.quarantined).unwrap_or(0))
    }

    /// Checks quarantined rows again: those with valid values are released, the others are quarantined again. If a
    /// statement fails on any of a page, all of it are left to the next run, which finds out which. Returns the number of
    /// released rows.
    pub async fn release_sound(&self, now: Timestamp, tunables: &Tunables) -> Result<i64, Error> {
        let embeds = self.similarity.embeds();
        let nodes = async |after, tunables: Option<&Tunables>| {
            let page =
                async |tx: &mut Tx| release_page(tx, (now, embeds), tunables, (Judged::All, after)).await;
            self.transactions.run("rows.release", Mode::Write, page).await
        };
        let relations = async |after, tunables: Option<&Tunables>| {
            let page = async |tx: &mut Tx| {
                super::fade::release(tx, now, (RELEASED, after), tunables.is_some()).await
            };
            self.transactions.run("relations.release", Mode::Write, page).await
        };
        let released = release_all(nodes, tunables).await? + release_all(relations, tunables).await?;
        Ok(released + self.release_trails(RELEASED).await?)
    }

    /// Sweeps one page of due memories at the run's `now`, after `cursor`, which it moves. Returns the number of rows
    /// of the page; a short page is the last.
    pub async fn decay(
        &self,
        run: &mut Run,
        tunables: &Tunables,
        cursor: &mut DecayCursor,
        page_mode: PageMode<'_>,
    ) -> Result<usize, Error> {
        let (now, from) = (run.now, cursor.clone());
        let body = async |tx: &mut Tx| decay_page(tx, now, tunables, &from, page_mode).await;
        let (tally, last) = self.in_run(run, "memories.decay", body).await?;
        if let Some(last) = last {
            *cursor = last;
        }
        Ok(usize::try_from(tally.scanned).unwrap_or(0))
    }

    /// Adopts a page of memories of other writers and decays `most` memories at most, as one batch of a dry run, which is
    /// rolled back as a whole. Returns the number of adopted rows, valid and invalid.
    pub async fn count_decay(
        &self,
        run: &mut Run,
        tunables: &Tunables,
        most: usize,
        page_mode: PageMode<'_>,
    ) -> Result<usize, Error> {
        let now = run.now;
        let decayed = match page_mode {
            PageMode::Rows(limit) => PageMode::Rows(limit.min(most)),
            quarantine @ PageMode::Quarantine(_) => quarantine,
        };
        let body = async |tx: &mut Tx| {
            let adopted = adopt_page(tx, (now, tunables), self.similarity.embeds(), page_mode).await?;
            let (mut tally, _) = decay_page(tx, now, tunables, &DecayCursor::default(), decayed).await?;
            let (full, rows) = (decayed.is_full(tally.scanned), adopted.adopted + adopted.quarantined);
            tally += adopted;
            Ok((tally, (full || page_mode.is_full(rows), rows)))
        };
        let (_, (full, rows)) = self.in_run(run, "memories.count", body).await?;
        run.cap_if(full);
        Ok(usize::try_from(rows).unwrap_or(0))
    }

    /// Counts the memories that a run would promote, `most` at most, as a batch of a dry run; one that `adopts` first
    /// adopts a page of memories of other writers. Returns the number of those.
    pub async fn count_promotions(
        &self,
        run: &mut Run,
        tunables: &Tunables,
        (adopts, most): (bool, i64),
        page_mode: PageMode<'_>,
    ) -> Result<usize, Error> {
        let now = run.now;
        let body = async |tx: &mut Tx| {
            let mut tally = match adopts {
                true => adopt_page(tx, (now, tunables), self.similarity.embeds(), page_mode).await?,
                false => Tally::default(),
            };
            let waiting: Waiting = tx.only(MEMORY_WAITING.call().set("now", now.millis())).await?;
            let ripe = waiting.ripe.min(most);
            let rows = tally.adopted + tally.quarantined;
            tally += Tally { scanned: ripe, changed: ripe, promoted: ripe, ..Tally::default() };
            Ok((tally, (ripe < waiting.ripe || page_mode.is_full(rows), rows)))
        };
        let (_, (full, rows)) = self.in_run(run, "promotions.count", body).await?;
        run.cap_if(full);
        Ok(usize::try_from(rows).unwrap_or(0))
    }
}

/// From when on a decay pass may let a memory expire, if nothing accesses it before; `None` if none will.
pub(super) async fn first_expiry(tx: &mut Tx, tunables: &Tunables) -> Result<Option<Timestamp>, Error> {
    let config = tunables.config();
    let call = MEMORY_EXPIRES.call().set("rate", config.working_decay).set("expiry", config.expiry_threshold);
    let at: Option<f64> = tx.only(call).await?;
    // Its logarithm may differ from ours in the last bit.
    Ok(at.filter(|at| !at.is_nan()).map(|at| Timestamp::EPOCH.after(at - 1.0)))
}

/// Rows that are checked again at a time.
pub(super) const RELEASED: usize = 10_000;
/// Number before that of every row.
pub(super) const BEFORE_ALL: i64 = -1;

/// A page of quarantined rows that were checked again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ReleasedPage {
    /// Rows that are released.
    pub(super) released: i64,
    /// Number of the last row, if more may follow.
    pub(super) last: Option<i64>,
}

/// Rows that a statement released, before they are checked.
#[derive(Deserialize)]
pub(super) struct ReleasedRow {
    pub(super) released: i64,
    last: Option<i64>,
}

impl ReleasedRow {
    /// The page of `limit` rows, `quarantined` of which are quarantined again.
    pub(super) fn page(&self, limit: usize, quarantined: i64) -> ReleasedPage {
        let is_full = usize::try_from(self.released).is_ok_and(|rows| rows >= limit);
        ReleasedPage { released: (self.released - quarantined).max(0), last: self.last.filter(|_| is_full) }
    }
}

/// Releases page after page. Rows of one on which a statement fails are left to adoption. Returns the number of released
/// rows.
async fn release_all(
    page: impl AsyncFn(i64, Option<&Tunables>) -> Result<ReleasedPage, Error>,
    tunables: &Tunables,
) -> Result<i64, Error> {
    let (mut released, mut after) = (0, Some(BEFORE_ALL));
    while let Some(from) = after {
        let done = match page(from, Some(tunables)).await {
            Err(why) if why.is_of_data() => page(from, None).await?,
            done => done?,
        };
        released += done.released;
        after = done.last;
    }
    Ok(released)
}

/// Selection of quarantined rows to check again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judged {
    /// All, on request of a person.
    All,
    /// Rows that still have the property they were quarantined for.
    Mended,
}

/// Checks a page of quarantined rows again by these tunables, or leaves that to the next run: those after a number.
pub(super) async fn release_page(
    tx: &mut Tx,
    (now, embeds): (Timestamp, bool),
    tunables: Option<&Tunables>,
    (judged, after): (Judged, i64),
) -> Result<ReleasedPage, Error> {
    let call = MEMORY_RELEASE.call().set("limit", i64::try_from(RELEASED).unwrap_or(i64::MAX));
    let found: ReleasedRow = tx.only(call.set("all", judged == Judged::All).set("after", after)).await?;
    if found.released == 0 {
        return Ok(ReleasedPage::default());
    }
    tx.touch_everything();
    let mut adopted = Tally::default();
    if let Some(tunables) = tunables {
        adopted += adopt_page(tx, (now, tunables), embeds, PageMode::Rows(RELEASED)).await?;
        adopted += super::fact::adopt(tx, now, PageMode::Rows(RELEASED)).await?;
    }
    Ok(found.page(RELEASED, adopted.quarantined))
}

async fn adopt_page(
    tx: &mut Tx,
    (now, tunables): (Timestamp, &Tunables),
    embeds: bool,
    page_mode: PageMode<'_>,
) -> Result<Tally, Error> {
    if let PageMode::Rows(_) = page_mode {
        tx.run(SESSION_ADOPT.call().page(page_mode)).await?;
    }
    let before = adoption::counts(tx, AdoptedLabel::Memory).await?;
    let call = laws(MEMORY_ADOPT.call(), tunables).set("now", now.millis()).set("embeds", embeds);
    let call = call.page(page_mode);
    let tally: Tally = tx.only(call).await?;
    adoption::record(tx, AdoptedLabel::Memory, before, page_mode, tally).await?;
    if tally.adopted + tally.quarantined > 0 {
        tx.touch_everything();
    }
    Ok(tally)
}

async fn decay_page(
    tx: &mut Tx,
    now: Timestamp,
    tunables: &Tunables,
    from: &DecayCursor,
    page_mode: PageMode<'_>,
) -> Result<(Tally, Option<DecayCursor>), Error> {
    let config = tunables.config();
    let call = laws(MEMORY_DECAY.call(), tunables)
        .set("now", now.millis())
        .set("afterSecond", from.second)
        .set("afterNano", from.nano)
        .set("afterId", from.id.as_str())
        .set("afterScope", from.scope.as_str())
        .set("workingDecay", config.working_decay)
        .set("shortTermDecay", config.short_term_decay)
        .set("longTermDecay", config.long_term_decay)
        .set("expiry", config.expiry_threshold)
        .page(page_mode);
    let row: SweptRow = tx.only(call).await?;
    tx.touch_memories(&row.left, "");
    for key in &row.left {
        let reason = format!("its energy fell below {}", config.expiry_threshold);
        tx.track(EXPIRY, reason, vec![RowName::memory(key)]);
    }
    let tally = Tally {
        scanned: row.scanned,
        changed: row.changed,
        skipped: row.scanned - row.changed - row.quarantined,
        quarantined: row.quarantined,
        expired: row.expired,
        ..Tally::default()
    };
    let last = match (row.last_second, row.last_nano, row.last_id, row.last_scope) {
        (Some(second), Some(nano), Some(id), Some(scope)) => Some(DecayCursor { second, nano, id, scope }),
        _ => None,
    };
    Ok((tally, last))
}

/// The parameters that `memory/decay` and `memory/adopt` share.
fn laws(call: Call, tunables: &Tunables) -> Call {
    let config = tunables.config();
    call.set("workingToShort", config.working_to_short_threshold)
        .set("shortToLong", config.short_to_long_threshold)
        .set("floor", ENERGY_FLOOR)
        .set("longTermRewriteMs", LONG_TERM_REWRITE_MS)
        .set("energyMax", Energy::MAX)
}
