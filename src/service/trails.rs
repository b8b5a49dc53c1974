//! Trails: places and edges of the palace, what agents leave there, and where it leads.

use super::Service;
use super::memories::{Intent, hash};
use crate::domain::attempt::Right;
use crate::domain::event::{PlaceName, Trace};
use crate::domain::ids::{NameError, PlaceId};
use crate::domain::trail::Allowed;
use crate::domain::units::Timestamp;
use crate::jobs::{JobName, Request, evaporate};
use crate::scheduler::driver::{self, JobReport, Wanted};
use crate::store::{Candidate, Counter, EdgeSeen, Error, Hot, PlaceSeen, Seen, Tally, Traced, Trodden};

/// Places that a search for the cheapest way reads at most.
pub const PLACES_MAX: usize = 10_000;

/// A place as text names it: `Label:id`, or an id alone where no label of the list stands before a colon.
///
/// # Errors
/// [`NameError`] for an id that can be none.
pub fn place_name(text: &str, allowed: &Allowed) -> Result<PlaceName, NameError> {
    let labelled = text.split_once(':').and_then(|(label, id)| Some((allowed.label(label).ok()?, id)));
    Ok(match labelled {
        Some((label, id)) => PlaceName { label: Some(label.clone()), id: PlaceId::new(id)? },
        None => PlaceName { label: None, id: PlaceId::new(text)? },
    })
}

impl Service {
    /// The labels and relationship types that carry pheromones.
    #[must_use]
    pub fn allowed(&self) -> &Allowed {
        self.store.allowed()
    }

    /// Lets happen in the palace what did, in order, all or none; answers what each did.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a place or an edge that does not exist; [`Error::Conflict`] for an id that several places
    /// have, or a request id that was used for other words; [`Error::Quarantined`] for what no law can use.
    pub async fn trace(&self, intent: &Intent, traces: &[Trace]) -> Result<Vec<Traced>, Error> {
        let words: Vec<String> =
            traces.iter().map(|trace| format!("{:?}", ("trace", &trace.scope, &trace.what))).collect();
        self.store.trace(intent.lasting(&hash(&words.join("\n"))), traces).await
    }

    /// A place at an instant, or the edges between two.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Conflict`], [`Error::Quarantined`].
    pub async fn trail_status(
        &self,
        place: &PlaceName,
        to: Option<&PlaceName>,
        at: Timestamp,
    ) -> Result<Seen, Error> {
        self.store.trail_status(self.scope(), place, to, at).await
    }

    /// The edges on which most success and traversal is left, most first.
    ///
    /// # Errors
    /// Of the store.
    pub async fn hot_trails(&self, limit: usize, at: Timestamp) -> Result<Hot<EdgeSeen>, Error> {
        self.store.hot_trails(self.scope(), limit, at).await
    }

    /// The places on which least exploitation and exploration is left, least first.
    ///
    /// # Errors
    /// Of the store.
    pub async fn cold_places(&self, limit: usize, at: Timestamp) -> Result<Hot<PlaceSeen>, Error> {
        self.store.cold_places(self.scope(), limit, at).await
    }

    /// Where one might go from a place, what draws most first.
    ///
    /// # Errors
    /// As [`Service::trail_status`].
    pub async fn next_places(
        &self,
        place: &PlaceName,
        limit: usize,
        at: Timestamp,
    ) -> Result<Hot<Candidate>, Error> {
        self.store.next_places(self.scope(), place, limit, at).await
    }

    /// The cheapest way between two places, among the nearest [`PLACES_MAX`].
    ///
    /// # Errors
    /// As [`Service::trail_status`].
    pub async fn cheapest_path(
        &self,
        from: &PlaceName,
        to: &PlaceName,
        at: Timestamp,
    ) -> Result<Trodden, Error> {
        self.store.cheapest_path(self.scope(), from, to, PLACES_MAX, at).await
    }

    /// How cycles are counted.
    ///
    /// # Errors
    /// [`Error::Conflict`] for a counter that somebody made unusable.
    pub async fn cycles(&self) -> Result<Counter, Error> {
        self.store.cycles().await
    }

    /// Adds cycles by hand; answers the one it is then.
    ///
    /// # Errors
    /// As [`Service::cycles`]; [`Error::Conflict`] for a request id that was used for other words.
    pub async fn advance_cycle(&self, intent: &Intent, cycles: u32, at: Timestamp) -> Result<i64, Error> {
        let hash = hash(&format!("{:?}", ("advance cycle", cycles)));
        self.store.advance_cycle(intent.lasting(&hash), cycles, at).await
    }

    /// Runs the job evaporate by hand; with `force` also where it is not yet time.
    ///
    /// # Errors
    /// Of the store.
    pub async fn evaporate(&self, at: Timestamp, force: bool) -> Result<JobReport, Error> {
        let time_limit = Some(self.job_config(JobName::Evaporate).time_limit);
        let request = Request { time_limit, force, ..Request::default() };
        let wanted = Wanted::by_hand(at, Right::Lease);
        driver::run_job(&self.store, JobName::Evaporate, &wanted, request).await
    }

    /// What [`Service::evaporate`] would do, nothing written.
    ///
    /// # Errors
    /// Of the store.
    pub async fn rehearse_evaporate(&self, at: Timestamp, force: bool) -> Result<Tally, Error> {
        evaporate::rehearse(&self.store, at, None, force).await
    }
}
