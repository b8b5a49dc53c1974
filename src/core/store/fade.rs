//! Pages of relations: the decay pass, which runs in Cypher, and the adoption of those of other writers, with keys
//! computed in Rust.

use super::Store;
use super::catalogue::{
    ENTITY_ADOPT, RELATION_ADOPT, RELATION_ANY, RELATION_FADE, RELATION_FOREIGN, RELATION_RELEASE,
};
use super::decay::{ReleasedPage, ReleasedRow};
use super::encode::{instants, list, slices};
use super::error::Error;
use super::run::Run;
use super::statement::PageMode;
use super::tally::Tally;
use super::tx::Tx;
use crate::domain::ids::relation_key;
use crate::domain::relation::{Fading, Pins, RelationState};
use crate::domain::units::{Timestamp, Weight};
use serde::Deserialize;
use std::collections::BTreeSet;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ForeignRow {
    element: String,
    scope: String,
    from: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    to: Option<String>,
    weight: Option<f64>,
    last_observed: Option<i64>,
    created: Option<i64>,
    pinned: Option<bool>,
    fault: Option<String>,
}

#[derive(Deserialize)]
struct FadedRow {
    #[serde(flatten)]
    tally: Tally,
    held: i64,
    last: Option<String>,
}

/// Key and state of a relation, or the reason why the row is invalid.
type Judged = Result<(String, RelationState), String>;

impl Store {
    /// Whether there are relations at all. Costs a counter.
    pub async fn has_relations(&self) -> Result<bool, Error> {
        let relations: i64 = self.read_one(RELATION_ANY.call()).await?;
        Ok(relations > 0)
    }

    /// Adopts a page of relations of other writers, as a batch of `run`. Returns its number of rows, valid and invalid.
    pub async fn adopt_relations(&self, run: &mut Run, page_mode: PageMode<'_>) -> Result<usize, Error> {
        let now = run.now;
        let tally =
            self.in_run(run, "relations.adopt", async |tx: &mut Tx| adopt(tx, now, page_mode).await).await?;
        Ok(usize::try_from(tally.adopted + tally.quarantined).unwrap_or(0))
    }

    /// Takes a page of entities of other writers that rows of Ebb's lead to, as a batch of `run`. Returns its number of rows.
    pub async fn adopt_entities(&self, run: &mut Run, page_mode: PageMode<'_>) -> Result<usize, Error> {
        let body = async |tx: &mut Tx| {
            let entities: i64 = tx.only(ENTITY_ADOPT.call().page(page_mode)).await?;
            if entities > 0 {
                tx.touch_everything();
            }
            Ok((Tally::default(), entities))
        };
        Ok(usize::try_from(self.in_run(run, "entities.adopt", body).await?.1).unwrap_or(0))
    }

    /// Stores the weights of one page of relations at the run's `now`, after the key `after`. Returns the number of
    /// rows of the page and the last key; a short page is the last.
    pub async fn fade(
        &self,
        run: &mut Run,
        after: &str,
        page_mode: PageMode<'_>,
    ) -> Result<(usize, String), Error> {
        let now = run.now;
        let body = async |tx: &mut Tx| fade(tx, now, (&self.fading, &self.pins), after, page_mode).await;
        let (tally, last) = self.in_run(run, "relations.fade", body).await?;
        Ok((usize::try_from(tally.scanned).unwrap_or(0), last))
    }
}

async fn fade(
    tx: &mut Tx,
    now: Timestamp,
    (fading, pins): (&Fading, &Pins),
    after: &str,
    page_mode: PageMode<'_>,
) -> Result<(Tally, String), Error> {
    let call = RELATION_FADE
        .call()
        .set("now", now.millis())
        .set("after", after)
        .set("halfLifeMs", fading.half_life_ms())
        .set("minimum", fading.minimum().value())
        .set("pinFrom", list(pins.0.iter().map(|pin| pin.from.as_deref())))
        .set("pinType", list(pins.0.iter().map(|pin| pin.kind.as_str())))
        .set("pinTo", list(pins.0.iter().map(|pin| pin.to.as_deref())))
        .page(page_mode);
    let FadedRow { mut tally, held, last } = tx.only(call).await?;
    if held + tally.adopted + tally.quarantined + tally.released > 0 {
        tx.touch_everything();
    }
    tally.skipped = tally.scanned - tally.changed - tally.quarantined;
    Ok((tally, last.unwrap_or_else(|| after.to_owned())))
}

/// Releases a page of quarantined relations after a number, and adopts those of other writers at once, or leaves that to
/// the next pass.
pub(super) async fn release(
    tx: &mut Tx,
    now: Timestamp,
    (limit, after): (usize, i64),
    is_judged: bool,
) -> Result<ReleasedPage, Error> {
    let call = RELATION_RELEASE.call().page(PageMode::Rows(limit)).set("after", after);
    let found: ReleasedRow = tx.only(call).await?;
    if found.released == 0 {
        return Ok(ReleasedPage::default());
    }
    tx.touch_everything();
    let judged = if is_judged { adopt(tx, now, PageMode::Rows(limit)).await? } else { Tally::default() };
    Ok(found.page(limit, judged.quarantined))
}

/// Adopts a page of relations of other writers, anchored at their last observation, else at their creation, else now.
async fn adopt(tx: &mut Tx, now: Timestamp, page_mode: PageMode<'_>) -> Result<Tally, Error> {
    let foreign = RELATION_FOREIGN.call().page(page_mode);
    if let PageMode::Quarantine(_) = page_mode {
        tx.touch_everything();
        return tx.only(foreign).await;
    }
    let rows: Vec<ForeignRow> = tx.rows(foreign).await?;
    let mut taken = BTreeSet::new();
    let rows: Vec<(ForeignRow, Judged)> = rows
        .into_iter()
        .map(|row| {
            let judged = row.check(now).and_then(|(key, state)| {
                if taken.insert(key.clone()) {
                    Ok((key, state))
                } else {
                    Err("the same relation exists already".to_owned())
                }
            });
            (row, judged)
        })
        .collect();
    if !rows.is_empty() {
        tx.touch_everything();
    }
    let mut tally = Tally::default();
    for slice in slices(&RELATION_ADOPT, &rows, |(row, _)| row.element.len() + 100) {
        let sound = || slice.iter().map(|(_, judged)| judged.as_ref().ok());
        let call = RELATION_ADOPT
            .call()
            .set("element", list(slice.iter().map(|(row, _)| row.element.as_str())))
            .set("key", list(sound().map(|sound| sound.map(|(key, _)| key.as_str()))))
            .set("base", list(sound().map(|sound| sound.map(|(_, state)| state.base.value()))))
            .set("weightAt", instants(sound().map(|sound| sound.map(|(_, state)| state.weight_at))))
            .set("pinned", list(sound().map(|sound| sound.map(|(_, state)| state.pinned))))
            .set("fault", list(slice.iter().map(|(_, judged)| judged.as_ref().err().map(String::as_str))));
        tally += tx.only::<Tally>(call).await?;
    }
    Ok(tally)
}

impl ForeignRow {
    fn check(&self, now: Timestamp) -> Judged {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let (Some(from), Some(kind), Some(to)) = (&self.from, &self.kind, &self.to) else {
            return Err("an end or the type has no name".to_owned());
        };
        let weight = self.weight.map_or(Ok(Weight::ONE), Weight::new).map_err(|why| why.to_string())?;
        let at = self.last_observed.or(self.created).map_or(Ok(now), Timestamp::from_millis);
        let at = at.map_err(|why| why.to_string())?;
        let state = RelationState {
            base: weight,
            weight_at: at,
            last_observed: at,
            pinned: self.pinned.unwrap_or(false),
        };
        Ok((relation_key(&self.scope, from, kind, to), state))
    }
}
