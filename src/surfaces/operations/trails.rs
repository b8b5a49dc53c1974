//! Operations on trails: places, edges, pheromones and paths.
//!
//! Places and edges belong to a scope; cycles, and so evaporation, to the whole database.

use crate::surfaces::operation::problem::Problem;
use crate::surfaces::operation::{Answer, Call, Operation, RequiredRight};
use axum::http::Method;
use ebb_core::api::input::{AtQuery, Nothing};
use ebb_core::api::job::JobRunRequest;
use ebb_core::api::trail::{
    Advance, CheapestPath, ColdPlaces, Deposit, Evaporate, Evaporated, Exploration, HotEdges, NewEdge,
    NewPlace, NextPlaces, NextPlacesQuery, TrailCycle, TrailPathQuery, TrailStatus, TrailStatusQuery,
    TrailWritten, TrailsQuery, place_name,
};
use ebb_core::domain::event::{PlaceName, Trace, Walk};
use ebb_core::domain::ids::Scope;
use ebb_core::domain::key::Right;
use ebb_core::domain::trail::Allowed;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::JobName;

/// Default number of items in a list.
const LIMIT: u32 = 20;

/// The operations.
pub(super) fn operations() -> Vec<Operation> {
    let (read, write) = (RequiredRight::InScope(Right::Read), RequiredRight::InScope(Right::Write));
    vec![
        Operation::new(Method::POST, "/v1/trails/nodes", write, node)
            .summary("Add a place, or change the name of an existing one")
            .description("201 if it is new, 200 if it exists.")
            .statuses(&[201, 409]),
        Operation::new(Method::POST, "/v1/trails/edges", write, edge)
            .summary("Add an edge between two places, or change the base cost of an existing one")
            .description("201 if it is new, 200 if it exists.")
            .statuses(&[201, 404, 409]),
        Operation::new(Method::POST, "/v1/trails/paths", write, deposit)
            .summary("Reward a path: its edges become cheaper, its places more attractive")
            .description(
                "The first edge gets the full reward, later ones less. 400 for a place or an edge that does \
                 not exist.",
            )
            .statuses(&[409]),
        Operation::new(Method::POST, "/v1/trails/explorations", write, explore)
            .summary("Mark a place as explored, to lower its rank as a next place for a while")
            .statuses(&[404, 409]),
        Operation::new(Method::GET, "/v1/trails/hot", read, hot)
            .summary("List the edges with the most success and traversal")
            .long_read(),
        Operation::new(Method::GET, "/v1/trails/cold", read, cold)
            .summary("List the places with the least exploitation and exploration")
            .long_read(),
        Operation::new(Method::GET, "/v1/trails/status", read, status)
            .summary("Show the pheromones of a place, or of the edges between two")
            .statuses(&[404, 409]),
        Operation::new(Method::GET, "/v1/trails/path", read, path)
            .summary("Find the cheapest path between two places")
            .statuses(&[404, 409]),
        Operation::new(Method::GET, "/v1/trails/next", read, next)
            .summary("List candidates for the next place, most attractive first")
            .statuses(&[404, 409]),
        Operation::with_dry_run(
            Method::POST,
            "/v1/trails/evaporate",
            RequiredRight::Everywhere(Right::Write),
            |body: &Evaporate| body.dry_run,
            evaporate,
        )
        .summary("Evaporate all pheromones up to the current cycle, like the job evaporate")
        .statuses(&[409])
        .no_timeout(),
        Operation::new(Method::GET, "/v1/trails/cycle", RequiredRight::Everywhere(Right::Read), cycle)
            .summary("Show the current cycle")
            .statuses(&[409]),
        Operation::new(Method::POST, "/v1/trails/cycle", RequiredRight::Everywhere(Right::Admin), advance)
            .summary("Add cycles manually")
            .description(
                "Evaporates every trail of every scope; this cannot be undone. 409 for more than 100 unless \
                 accept_cycles repeats the number.",
            )
            .statuses(&[409]),
    ]
}

impl<P, Q, B> Call<P, Q, B> {
    /// The place that a field of a query names.
    fn place(&self, field: &str, text: &str) -> Result<PlaceName, Problem> {
        place_name(text, self.service().allowed())
            .map_err(|why| Problem::validation(format!("{field}: {why}")))
    }

    /// Records an event of a scope.
    async fn trace(
        &self,
        scope: Option<&Scope>,
        at: Option<Timestamp>,
        walk: impl FnOnce(&Allowed) -> Result<Walk, String>,
    ) -> Result<TrailWritten, Problem> {
        let scope = self.scope(scope)?;
        let what = walk(self.service().allowed()).map_err(Problem::validation)?;
        let at = self.write_instant(at).await?;
        let mut done = self.service().trace(&self.write_once(), &[Trace { at, scope, what }]).await?;
        let done = done.pop().ok_or_else(|| Problem::own_fault("no trail was written"))?;
        Ok(TrailWritten { traced: done, at, dry_run: false })
    }
}

fn created(wrote: TrailWritten) -> Answer<TrailWritten> {
    Answer::created(wrote.traced.created == Some(true), wrote)
}

async fn node(call: Call<Nothing, Nothing, NewPlace>) -> Result<Answer<TrailWritten>, Problem> {
    let place = &call.body;
    Ok(created(call.trace(place.scope.as_ref(), place.at, |allowed| place.walk(allowed)).await?))
}

async fn edge(call: Call<Nothing, Nothing, NewEdge>) -> Result<Answer<TrailWritten>, Problem> {
    let edge = &call.body;
    Ok(created(call.trace(edge.scope.as_ref(), edge.at, |allowed| edge.walk(allowed)).await?))
}

async fn deposit(call: Call<Nothing, Nothing, Deposit>) -> Result<Answer<TrailWritten>, Problem> {
    let deposit = &call.body;
    let wrote = call.trace(deposit.scope.as_ref(), deposit.at, |allowed| deposit.walk(allowed)).await;
    Ok(Answer::ok(wrote.map_err(Problem::of_body)?))
}

async fn explore(call: Call<Nothing, Nothing, Exploration>) -> Result<Answer<TrailWritten>, Problem> {
    let search = &call.body;
    Ok(Answer::ok(call.trace(search.scope.as_ref(), search.at, |allowed| search.walk(allowed)).await?))
}

fn size(limit: Option<u32>) -> usize {
    usize::try_from(limit.unwrap_or(LIMIT)).unwrap_or(usize::MAX)
}

async fn hot(call: Call<Nothing, TrailsQuery>) -> Result<Answer<HotEdges>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    let at = call.instant(call.query.at).await?;
    let hot = call.service().hot_trails(&scope, size(call.query.limit), at).await?;
    Ok(Answer::ok(HotEdges { edges: hot.found }))
}

async fn cold(call: Call<Nothing, TrailsQuery>) -> Result<Answer<ColdPlaces>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    let at = call.instant(call.query.at).await?;
    let cold = call.service().cold_places(&scope, size(call.query.limit), at).await?;
    Ok(Answer::ok(ColdPlaces { nodes: cold.found }))
}

async fn status(call: Call<Nothing, TrailStatusQuery>) -> Result<Answer<TrailStatus>, Problem> {
    let TrailStatusQuery { place, to, scope, at } = &call.query;
    let scope = call.scope(scope.as_ref())?;
    let place = call.place("place", place)?;
    let to = to.as_deref().map(|to| call.place("to", to)).transpose()?;
    let at = call.instant(*at).await?;
    Ok(Answer::ok(call.service().trail_status(&scope, &place, to.as_ref(), at).await?))
}

async fn path(call: Call<Nothing, TrailPathQuery>) -> Result<Answer<CheapestPath>, Problem> {
    let TrailPathQuery { from, to, scope, at } = &call.query;
    let scope = call.scope(scope.as_ref())?;
    let (from, to) = (call.place("from", from)?, call.place("to", to)?);
    let at = call.instant(*at).await?;
    Ok(Answer::ok(call.service().cheapest_path(&scope, &from, &to, at).await?))
}

async fn next(call: Call<Nothing, NextPlacesQuery>) -> Result<Answer<NextPlaces>, Problem> {
    let NextPlacesQuery { place, limit, scope, at } = &call.query;
    let scope = call.scope(scope.as_ref())?;
    let place = call.place("place", place)?;
    let at = call.instant(*at).await?;
    let found = call.service().next_places(&scope, &place, size(*limit), at).await?;
    Ok(Answer::ok(NextPlaces { candidates: found.found }))
}

async fn evaporate(call: Call<Nothing, Nothing, Evaporate>) -> Result<Answer<Evaporated>, Problem> {
    let Evaporate { force, dry_run, at } = call.body;
    let at = call.write_instant(at).await?;
    let report = if dry_run {
        call.service().dry_run_job(JobName::Evaporate, at, &JobRunRequest::default(), force).await?
    } else {
        call.service()
            .evaporate(&call.request_id, at, force, Some(call.backend.stop.clone()))
            .await?
            .done()?
    };
    let cycle = call.service().cycles().await?.cycles.at(report.now);
    Ok(Answer::ok(Evaporated::of(&report, cycle, dry_run)))
}

async fn cycle(call: Call<Nothing, AtQuery>) -> Result<Answer<TrailCycle>, Problem> {
    let at = call.instant(call.query.at).await?;
    let counter = call.service().cycles().await?;
    Ok(Answer::ok(TrailCycle::of(&counter, counter.cycles.at(at), at, false)))
}

async fn advance(call: Call<Nothing, Nothing, Advance>) -> Result<Answer<TrailCycle>, Problem> {
    let at = call.write_instant(call.body.at).await?;
    let mode = call.write_once();
    let (more, accepted) = (call.body.advance.get(), call.body.accept_cycles);
    let cycle = call.service().advance_cycle(&mode, more, accepted, at).await?;
    Ok(Answer::ok(TrailCycle::of(&call.service().cycles().await?, cycle, at, false)))
}
