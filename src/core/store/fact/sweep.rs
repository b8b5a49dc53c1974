//! Sweeps of heads by the page: read and decided in Rust; heads that are to change are locked, checked again and
//! decayed.
//!
//! # Design notes
//! The law runs in Rust alone, not in Cypher: the deciding policy depends on patterns, which would require generated
//! Cypher, and of a million heads nearly all stay unchanged. A page is read without locks, with only the columns that
//! the law needs; only the lineages whose head is to change are locked, and decided again by their present heads. So
//! two concurrent sweeps see each other's facts, and each lineage changes once.

use super::requested::{self, RequestedSweep};
use crate::clock::rfc3339;
use crate::domain::fact::{DECAY_SOURCE, FactScope, Fate, Head, Origin, Speaker};
use crate::domain::ids::decay_id;
use crate::domain::journal::{RowLabel, RowName};
use crate::domain::policy::{Counters, Rules};
use crate::domain::units::{Confidence, Timestamp};
use crate::store::Store;
use crate::store::catalogue::{
    FACT_COUNT, FACT_DECAY, FACT_HEADS, FACT_LOCK, FACT_PAGE_END, FACT_QUARANTINE,
};
use crate::store::encode::{list, slices};
use crate::store::error::Error;
use crate::store::journal::{REDUCTION, RETRACTION};
use crate::store::run::Run;
use crate::store::statement::{Call, PageMode};
use crate::store::tally::Tally;
use crate::store::tx::{Mode, Tx};
use serde::Deserialize;
use std::collections::BTreeSet;

/// Result of a page of a sweep.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SweepPage {
    /// Counts.
    pub counters: Counters,
    /// Lineages of the page; a short page is the last.
    pub lineages: usize,
    /// Last key of the page.
    pub last: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HeadRow {
    key: String,
    relation: Option<String>,
    id: Option<String>,
    confidence: Option<f64>,
    asserted_at: Option<i64>,
    valid_until: Option<i64>,
    source: Option<String>,
    origin_confidence: Option<f64>,
    origin_at: Option<i64>,
    fault: Option<String>,
}

/// A head to replace: its lineage and id, the next confidence, and the origin of both.
struct Next {
    key: String,
    from: String,
    confidence: Confidence,
    origin: Origin,
}

/// Parameters of the decision on a page.
#[derive(Clone, Copy)]
struct Page<'a> {
    scope: FactScope,
    rules: &'a Rules,
    epsilon: f64,
    now: Timestamp,
    page_mode: PageMode<'a>,
}

impl Store {
    /// Counts what a sweep of a page of heads after the key `after` would do at `now`, without writes or locks.
    pub async fn preview_heads(
        &self,
        scope: FactScope,
        rules: &Rules,
        now: Timestamp,
        after: &str,
        limit: usize,
    ) -> Result<SweepPage, Error> {
        let page = Page { scope, rules, epsilon: self.regime.epsilon, now, page_mode: PageMode::Rows(limit) };
        self.transactions
            .run("facts.look", Mode::Read, async |tx: &mut Tx| {
                let rows = heads(tx, page, after).await?;
                let mut judge = rules.judge(now, page.epsilon);
                for row in &rows {
                    if let Some((relation, Ok(head))) = row.head() {
                        judge.judge(relation, &head);
                    }
                }
                Ok(SweepPage {
                    counters: judge.counters(),
                    lineages: distinct(&rows),
                    last: last(&rows, after),
                })
            })
            .await
    }

    /// The last key of a page of `limit` lineages after the key `after`; `None` if fewer follow.
    pub async fn heads_page_end(
        &self,
        scope: FactScope,
        after: &str,
        limit: usize,
    ) -> Result<Option<String>, Error> {
        let skip = i64::try_from(limit).unwrap_or(i64::MAX) - 1;
        let call = FACT_PAGE_END.call().set("scope", scope.name()).set("after", after).set("skip", skip);
        self.read_optional(call).await
    }

    /// Sweeps a page of heads at the run's `now`, after the key `after`, as a batch of `run`.
    pub async fn sweep_heads(
        &self,
        run: &mut Run,
        scope: FactScope,
        rules: &Rules,
        after: &str,
        page_mode: PageMode<'_>,
    ) -> Result<SweepPage, Error> {
        let page = Page { scope, rules, epsilon: self.regime.epsilon, now: run.now, page_mode };
        Ok(self.in_run(run, "facts.sweep", async |tx: &mut Tx| sweep(tx, page, after).await).await?.1)
    }

    /// Sweeps the next page of a requested sweep, from its recorded progress. Returns its new state and the number of
    /// lineages of the page.
    pub async fn sweep_requested(
        &self,
        run: &mut Run,
        id: &str,
        rules: &Rules,
        page_mode: PageMode<'_>,
    ) -> Result<(RequestedSweep, usize), Error> {
        let now = run.now;
        let body = async |tx: &mut Tx| {
            // Only this run writes the record, so it does not change before this transaction ends. A page whose commit
            // was reported as lost but succeeded is not counted again: the cursor has passed it.
            let mut asked = requested::read(tx, id).await?.asked;
            let page = Page { scope: asked.scope, rules, epsilon: self.regime.epsilon, now, page_mode };
            let (tally, swept) = sweep(tx, page, &asked.cursor).await?;
            asked.cursor = swept.last;
            asked.counters += swept.counters;
            requested::advance(tx, &asked).await?;
            Ok((tally, (asked, swept.lineages)))
        };
        Ok(self.in_run(run, "facts.sweep.asked", body).await?.1)
    }

    /// Number of lineages of a scope.
    pub async fn count_lineages(&self, scope: FactScope) -> Result<i64, Error> {
        self.read_one(FACT_COUNT.call().set("scope", scope.name())).await
    }
}

async fn heads(tx: &mut Tx, page: Page<'_>, after: &str) -> Result<Vec<HeadRow>, Error> {
    let call = FACT_HEADS.call().set("scope", page.scope.name()).set("after", after).page(page.page_mode);
    tx.rows(call).await
}

/// Rows are in the order of their keys; a lineage with two heads of other writers has two.
fn distinct(rows: &[HeadRow]) -> usize {
    rows.chunk_by(|one, next| one.key == next.key).count()
}

fn last(rows: &[HeadRow], after: &str) -> String {
    rows.last().map_or(after, |row| row.key.as_str()).to_owned()
}

/// Sweeps a page inside a transaction of the caller.
async fn sweep(tx: &mut Tx, page: Page<'_>, after: &str) -> Result<(Tally, SweepPage), Error> {
    let rows = heads(tx, page, after).await?;
    let (lineages, last) = (distinct(&rows), last(&rows, after));
    // Unchanged heads are counted as read here; changing heads, as read under their lock.
    let mut staying = page.rules.judge(page.now, page.epsilon);
    let (mut changing, mut spoilt) = (BTreeSet::new(), BTreeSet::new());
    let mut probe = page.rules.judge(page.now, page.epsilon);
    for row in &rows {
        match row.head() {
            Some((relation, Ok(head))) => match probe.judge(relation, &head) {
                Fate::Reduced(_) | Fate::Retracted => {
                    changing.insert(row.key.as_str());
                }
                Fate::Stays => {
                    staying.judge(relation, &head);
                }
            },
            Some((_, Err(_))) => {
                spoilt.insert(row.key.as_str());
            }
            None => {}
        }
    }
    let mut counters = staying.counters();
    let keys: Vec<&str> = changing.union(&spoilt).copied().collect();
    let (more, next, faults) = lock(tx, page, &keys).await?;
    counters += more;
    for slice in slices(&FACT_DECAY, &next, |next| next.key.len() + next.from.len() + 36 + 40) {
        tx.run(decay(page.now, slice)).await?;
    }
    for Next { key, confidence, origin, .. } in &next {
        let scope = page.scope.name();
        let id = decay_id(key, origin.at, page.now, *confidence);
        let rows = [(RowLabel::EbbLineage, key.as_str()), (RowLabel::Fact, id.as_str())];
        let rows = rows.map(|(label, key)| RowName::new(label, scope, key)).to_vec();
        let (origin, at) = (origin.confidence.value(), rfc3339(origin.at));
        match confidence.value() {
            0.0 => tx.track(RETRACTION, format!("a policy ends facts of {at}"), rows),
            _ => tx.track(REDUCTION, format!("a policy reduces confidence {origin} of {at}"), rows),
        }
    }
    for slice in slices(&FACT_QUARANTINE, &faults, |(id, reason)| id.len() + reason.len() + 4) {
        let call = FACT_QUARANTINE
            .call()
            .set("scope", page.scope.name())
            .set("id", list(slice.iter().map(|(id, _)| id.as_str())))
            .set("reason", list(slice.iter().map(|(_, reason)| reason.as_str())));
        tx.run(call).await?;
    }
    let count = |many: usize| i64::try_from(many).unwrap_or(i64::MAX);
    let quarantined = match page.page_mode {
        PageMode::Rows(_) => faults.len(),
        PageMode::Quarantine(_) => lineages,
    };
    let tally = Tally {
        scanned: count(lineages),
        changed: count(next.len()),
        skipped: count(lineages) - count(next.len()) - count(quarantined),
        quarantined: count(quarantined),
        retracted: counters.retracted,
        reduced: counters.reduced,
        rehearsed: counters.would_retract + counters.would_reduce,
        ..Tally::default()
    };
    Ok((tally, SweepPage { counters, lineages, last }))
}

/// Locks lineages and decides their heads again: counts, heads to replace, and ids of rows to quarantine.
async fn lock(
    tx: &mut Tx,
    page: Page<'_>,
    keys: &[&str],
) -> Result<(Counters, Vec<Next>, Vec<(String, String)>), Error> {
    let mut judge = page.rules.judge(page.now, page.epsilon);
    let (mut next, mut faults): (Vec<Next>, Vec<(String, String)>) = (Vec::new(), Vec::new());
    for slice in slices(&FACT_LOCK, keys, |key| key.len() + 2) {
        let rows: Vec<HeadRow> = tx.rows(FACT_LOCK.call().set("key", list(slice.iter().copied()))).await?;
        for row in rows {
            let Some((relation, head)) = row.head() else { continue };
            let head = match head {
                Ok(head) => head,
                Err(reason) => {
                    faults.extend(row.id.map(|id| (id, reason)));
                    continue;
                }
            };
            let confidence = match judge.judge(relation, &head) {
                Fate::Reduced(confidence) => confidence,
                Fate::Retracted => Confidence::ZERO,
                Fate::Stays => continue,
            };
            // With two heads of other writers in one lineage, the first is replaced for both.
            if let Some(from) = row.id.filter(|_| next.last().is_none_or(|last| last.key != row.key)) {
                next.push(Next { key: row.key, from, confidence, origin: head.origin });
            }
        }
    }
    Ok((judge.counters(), next, faults))
}

fn decay(now: Timestamp, next: &[Next]) -> Call {
    FACT_DECAY
        .call()
        .set("now", now.millis())
        .set("source", DECAY_SOURCE)
        .set("key", list(next.iter().map(|next| next.key.as_str())))
        .set("from", list(next.iter().map(|next| next.from.as_str())))
        .set("id", list(next.iter().map(|next| decay_id(&next.key, next.origin.at, now, next.confidence))))
        .set("confidence", list(next.iter().map(|next| next.confidence.value())))
        .set("originConfidence", list(next.iter().map(|next| next.origin.confidence.value())))
        .set("originAt", list(next.iter().map(|next| next.origin.at.millis())))
}

impl HeadRow {
    /// The relation and the head, or the reason why the row is invalid. `None` for a lineage without a head, or with a
    /// quarantined one.
    fn head(&self) -> Option<(&str, Result<Head, String>)> {
        self.id.as_ref()?;
        if self.fault.as_deref() == Some("quarantined") {
            return None;
        }
        Some((self.relation.as_deref().unwrap_or_default(), self.check()))
    }

    fn check(&self) -> Result<Head, String> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let instant =
            |name: &str, ms: i64| Timestamp::from_millis(ms).map_err(|why| format!("{name}: {why}"));
        let confidence = self.confidence.ok_or("confidence is missing or not a number")?;
        let confidence = Confidence::new(confidence).map_err(|why| why.to_string())?;
        let at = self.asserted_at.ok_or("assertedAt is missing or not a date with time and zone")?;
        let speaker = self.source.as_deref().map_or(Speaker::Agent, Speaker::of);
        let own = Origin { confidence, at: instant("assertedAt", at)? };
        let origin = match (speaker, self.origin_confidence, self.origin_at) {
            (Speaker::Sweep, Some(sure), Some(ms)) => Origin {
                confidence: Confidence::new(sure).map_err(|why| format!("originConfidence: {why}"))?,
                at: instant("originAt", ms)?,
            },
            _ => own,
        };
        let valid_until = self.valid_until.map(|ms| instant("validUntil", ms)).transpose()?;
        Ok(Head { confidence, origin, valid_until, speaker })
    }
}
