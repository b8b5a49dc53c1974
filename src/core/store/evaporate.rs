//! Evaporation and adoption of all trails, by the page: both run in Cypher on sets, since a page is more rows than are
//! worth transferring.

use super::Store;
use super::catalogue::{
    TRAIL_ADOPT_EDGES, TRAIL_ADOPT_PLACES, TRAIL_COUNT_EDGES, TRAIL_COUNT_PLACES, TRAIL_EVAPORATE_EDGES,
    TRAIL_EVAPORATE_PLACES, TRAIL_RELEASE_EDGES, TRAIL_RELEASE_PLACES,
};
use super::error::Error;
use super::run::Run;
use super::statement::{Call, PageMode};
use super::tally::Tally;
use super::trail::{Counter, hold, turn};
use super::tx::{Mode, Tx};
use crate::domain::trail::{COST_MAX, EdgeType, NOISE_FLOOR, PlaceLabel, base_cost};
use crate::domain::units::Pheromone;
use neo4rs::{BoltMap, BoltString, BoltType};

/// Target of an operation on pheromones: the places of these labels, or the edges of these types.
#[derive(Debug, Clone)]
pub enum TrailKind {
    Places(Vec<PlaceLabel>),
    Edges(Vec<EdgeType>),
}

impl TrailKind {
    /// Each label or type by itself.
    pub fn each(&self) -> Vec<Self> {
        match self {
            Self::Places(labels) => labels.iter().map(|label| Self::Places(vec![label.clone()])).collect(),
            Self::Edges(types) => types.iter().map(|kind| Self::Edges(vec![kind.clone()])).collect(),
        }
    }
}

/// Whether any node has a label.
pub(super) async fn is_in_use(tx: &mut Tx, label: &PlaceLabel) -> Result<bool, Error> {
    let call = TRAIL_COUNT_PLACES.about(std::slice::from_ref(label), &[]);
    Ok(tx.only::<i64>(call).await? > 0)
}

impl Store {
    /// Both targets, with the labels and types of the list that occur in the graph; one without any is left out.
    pub async fn trail_kinds(&self) -> Result<Vec<TrailKind>, Error> {
        let allowed = &self.trails.allowed;
        let (labels, types) = self
            .transactions
            .run("trails.count", Mode::Read, async |tx: &mut Tx| {
                let (mut labels, mut types) = (Vec::new(), Vec::new());
                for label in allowed.labels() {
                    if is_in_use(tx, label).await? {
                        labels.push(label.clone());
                    }
                }
                for kind in allowed.types() {
                    let call = TRAIL_COUNT_EDGES.about(&[], std::slice::from_ref(kind));
                    if tx.only::<i64>(call).await? > 0 {
                        types.push(kind.clone());
                    }
                }
                Ok((labels, types))
            })
            .await?;
        let places = (!labels.is_empty()).then_some(TrailKind::Places(labels));
        Ok(places.into_iter().chain((!types.is_empty()).then_some(TrailKind::Edges(types))).collect())
    }

    /// Whether the evaporation of all trails is due at `cycle`, `decay_interval_cycles` after the last.
    #[must_use]
    pub fn evaporates(&self, counter: &Counter, cycle: i64) -> bool {
        counter.next(&self.trails).is_none_or(|next| cycle >= next)
    }

    /// Adopts a page of places or edges with pheromones of other writers, as a batch of `run`: those of one label or type after
    /// those of another. Returns its number of rows, valid and invalid.
    pub async fn adopt_trails(
        &self,
        run: &mut Run,
        kind: &TrailKind,
        cycle: i64,
        page_mode: PageMode<'_>,
    ) -> Result<usize, Error> {
        let kinds = kind.each();
        let body = async |tx: &mut Tx| {
            let mut tally = Tally::default();
            for one in &kinds {
                let Some(rest) = page_mode.rest(tally.adopted + tally.quarantined) else { break };
                tally += self.adopt_page(tx, one, cycle, rest).await?;
            }
            Ok(tally)
        };
        let tally = self.in_run(run, "trails.adopt", body).await?;
        Ok(usize::try_from(tally.adopted + tally.quarantined).unwrap_or(0))
    }

    /// Evaporates a page of places or edges to `cycle`, as a batch of `run`. Returns the number of rows of the page; a short page
    /// is the last.
    pub async fn evaporate(
        &self,
        run: &mut Run,
        kind: &TrailKind,
        cycle: i64,
        page_mode: PageMode<'_>,
    ) -> Result<usize, Error> {
        let body = async |tx: &mut Tx| self.evaporate_page(tx, kind, cycle, page_mode).await;
        let tally = self.in_run(run, "trails.evaporate", body).await?;
        Ok(usize::try_from(tally.scanned).unwrap_or(0))
    }

    /// Records that all trails were evaporated to `cycle`, and sets the length of a cycle from the configuration, as a
    /// batch of `run`.
    pub async fn evaporated(&self, run: &mut Run, cycle: i64) -> Result<(), Error> {
        let now = run.now;
        self.in_run(run, "trails.evaporated", async |tx: &mut Tx| {
            let held = hold(tx, &self.trails).await?;
            let cycles = held.cycles.of_length(self.trails.cycle_ms, now);
            let next =
                Counter { cycles, evaporated: Some(held.evaporated.map_or(cycle, |last| last.max(cycle))) };
            if next != held {
                turn(tx, &next).await?;
            }
            Ok(Tally::default())
        })
        .await?;
        Ok(())
    }

    /// Releases up to `limit` places and as many edges on which a statement failed, for the next pass.
    /// Returns their number.
    pub(super) async fn release_trails(&self, limit: usize) -> Result<i64, Error> {
        let mut all = 0;
        for kind in self.trail_kinds().await? {
            all += self
                .transactions
                .run("trails.release", Mode::Write, async |tx: &mut Tx| {
                    let call = match &kind {
                        TrailKind::Places(labels) => TRAIL_RELEASE_PLACES.about(labels, &[]),
                        TrailKind::Edges(types) => TRAIL_RELEASE_EDGES.about(&[], types),
                    };
                    let released: i64 = tx.only(call.page(PageMode::Rows(limit))).await?;
                    if released > 0 {
                        tx.touch_everything();
                    }
                    Ok(released)
                })
                .await?;
        }
        Ok(all)
    }

    async fn adopt_page(
        &self,
        tx: &mut Tx,
        kind: &TrailKind,
        cycle: i64,
        page_mode: PageMode<'_>,
    ) -> Result<Tally, Error> {
        let call = match kind {
            TrailKind::Places(labels) => TRAIL_ADOPT_PLACES.about(labels, &[]),
            TrailKind::Edges(types) => edges(TRAIL_ADOPT_EDGES.about(&[], types), types),
        };
        let tally: Tally = tx.only(paged(call, cycle, page_mode)).await?;
        if tally.adopted + tally.quarantined > 0 {
            tx.touch_everything();
        }
        Ok(tally)
    }

    async fn evaporate_page(
        &self,
        tx: &mut Tx,
        kind: &TrailKind,
        cycle: i64,
        page_mode: PageMode<'_>,
    ) -> Result<Tally, Error> {
        let rates = self.trails.evaporation.rates();
        let call = match kind {
            TrailKind::Places(labels) => TRAIL_EVAPORATE_PLACES
                .over(labels, &[])
                .set("exploitation", rates.exploitation)
                .set("exploration", rates.exploration),
            TrailKind::Edges(types) => edges(TRAIL_EVAPORATE_EDGES.over(&[], types), types)
                .set("success", rates.success)
                .set("traversal", rates.traversal)
                .set("recency", rates.recency),
        };
        let mut tally: Tally = tx.only(paged(call, cycle, page_mode).set("floor", NOISE_FLOOR)).await?;
        if tally.changed + tally.quarantined > 0 {
            tx.touch_everything();
        }
        tally.skipped = tally.scanned - tally.changed - tally.quarantined;
        Ok(tally)
    }
}

fn paged(call: Call, cycle: i64, page_mode: PageMode<'_>) -> Call {
    call.set("cycle", cycle).set("most", Pheromone::MAX).page(page_mode)
}

fn edges(call: Call, types: &[EdgeType]) -> Call {
    let base = |kind: &EdgeType| (BoltString::from(kind.as_str()), base_cost(kind.as_str(), None).into());
    let bases: BoltMap = types.iter().map(base).collect();
    call.set("bases", BoltType::Map(bases)).set("costMost", COST_MAX)
}
