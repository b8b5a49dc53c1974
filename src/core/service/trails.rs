//! Trails: places and edges, the pheromones that agents deposit there, and paths by them.

use super::Service;
use super::memories::{RequestId, WriteMode};
use super::request_hash::request_hash;
pub use crate::api::trail::place_name;
use crate::domain::event::{PlaceName, Step, Trace, Walk};
use crate::domain::ids::Scope;
use crate::domain::trail::{Allowed, PlaceLabel};
use crate::domain::units::Timestamp;
use crate::jobs::{JobName, Request};
use crate::scheduler::driver::JobReport;
use crate::store::{
    CheapestPath, Counter, Error, Hot, NextPlace, TraceEffect, TrailEdge, TrailPlace, TrailStatus,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Places that a search for the cheapest path reads at most.
pub const PLACES_MAX: usize = 10_000;

impl Service {
    /// The labels and relationship types that carry pheromones.
    #[must_use]
    pub fn allowed(&self) -> &Allowed {
        self.store.allowed()
    }

    /// Applies trail events in order, all or none; returns the effect of each.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a place or an edge that does not exist; [`Error::Conflict`] for an id that several
    /// places have, or a request id that was used for another request; [`Error::Quarantined`] for invalid values.
    pub async fn trace(&self, mode: &WriteMode, traces: &[Trace]) -> Result<Vec<TraceEffect>, Error> {
        let hash = request_hash("trace", &traces.iter().map(document).collect());
        self.store.trace(mode.with_hash(&hash), traces).await
    }

    /// A place at an instant, or the edges between two.
    pub async fn trail_status(
        &self,
        scope: &Scope,
        place: &PlaceName,
        to: Option<&PlaceName>,
        at: Timestamp,
    ) -> Result<TrailStatus, Error> {
        self.store.trail_status(scope, place, to, at).await
    }

    /// The edges with the most success and traversal, highest first.
    pub async fn hot_trails(
        &self,
        scope: &Scope,
        limit: usize,
        at: Timestamp,
    ) -> Result<Hot<TrailEdge>, Error> {
        self.store.hot_trails(scope, limit, at).await
    }

    /// The places with the least exploitation and exploration, lowest first.
    pub async fn cold_places(
        &self,
        scope: &Scope,
        limit: usize,
        at: Timestamp,
    ) -> Result<Hot<TrailPlace>, Error> {
        self.store.cold_places(scope, limit, at).await
    }

    /// The next places from a place, most attractive first.
    pub async fn next_places(
        &self,
        scope: &Scope,
        place: &PlaceName,
        limit: usize,
        at: Timestamp,
    ) -> Result<Hot<NextPlace>, Error> {
        self.store.next_places(scope, place, limit, at).await
    }

    /// The cheapest path between two places, among the nearest [`PLACES_MAX`].
    pub async fn cheapest_path(
        &self,
        scope: &Scope,
        from: &PlaceName,
        to: &PlaceName,
        at: Timestamp,
    ) -> Result<CheapestPath, Error> {
        self.store.cheapest_path(scope, from, to, PLACES_MAX, at).await
    }

    /// The parameters of cycles.
    pub async fn cycles(&self) -> Result<Counter, Error> {
        self.store.cycles().await
    }

    /// Adds cycles manually; returns the new cycle. More than a few are added only if `accepted` is their number.
    pub async fn advance_cycle(
        &self,
        mode: &WriteMode,
        cycles: u32,
        accepted: Option<u32>,
        at: Timestamp,
    ) -> Result<i64, Error> {
        // A dry run shows the number to be accepted.
        let accepted = if *mode == WriteMode::DryRun { Some(cycles) } else { accepted };
        self.config.guard.judge_cycles(cycles, accepted).map_err(Error::TooFar)?;
        let hash = request_hash("advance_cycle", &json!({ "cycles": cycles }));
        self.store.advance_cycle(mode.with_hash(&hash), cycles, at).await
    }

    /// Runs the job evaporate manually, once under a request id, until its end or `stop`, if given; with `force` even
    /// before it is due.
    pub async fn evaporate(
        &self,
        request: &RequestId,
        at: Timestamp,
        force: bool,
        stop: Option<CancellationToken>,
    ) -> Result<JobReport, Error> {
        let work = Request { force, stop: stop.unwrap_or_default(), ..Request::default() };
        self.run_once(request, JobName::Evaporate, at, work).await
    }
}

/// A trail event in the document of a request.
fn document(trace: &Trace) -> Value {
    let place = |place: &PlaceName| json!({ "label": place.label.as_ref().map(PlaceLabel::as_str), "id": place.id.as_str() });
    let what = match &trace.what {
        Walk::Node { label, id, name } => {
            json!({ "node": { "label": label.as_str(), "id": id.as_str(), "name": name } })
        }
        Walk::Edge { from, to, kind, base_cost } => {
            json!({ "edge": { "from": place(from), "to": place(to), "type": kind.as_str(), "base_cost": base_cost } })
        }
        Walk::Deposit { path, reward } => {
            let step = |step: &Step| json!({ "to": place(&step.to), "via": step.via });
            json!({ "deposit": { "path": path.iter().map(step).collect::<Vec<_>>(), "reward": reward.value() } })
        }
        Walk::Explore { place: at } => json!({ "explore": place(at) }),
    };
    json!({ "scope": trace.scope.as_str(), "what": what })
}
