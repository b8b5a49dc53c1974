//! Trails: the palace, what agents leave in it, and where that leads.
//!
//! Places and edges belong to a scope; the count of cycles, and evaporation with it, to the database as a whole.

use super::door::Needs;
use super::input::Nothing;
use super::problem::Problem;
use super::route::{Answer, Call, Route};
use ebb_core::api::trail::{
    CheapestPath, Evaporated, NextPlace, PlaceNames, TrailCycle, TrailEdge, TrailPlace, TrailStatus,
    TrailWritten,
};
use ebb_core::domain::event::{PlaceName, Trace, Walk};
use ebb_core::domain::ids::{NAME_BYTES_MAX, PlaceId, Scope, Term};
use ebb_core::domain::key::Right;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::JobName;
use ebb_core::service::memories::WriteMode;
use ebb_core::service::trails::{PlaceRef, place_name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Items of a list where nobody says how many.
const LIMIT: u32 = 20;

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    let (read, write) = (Needs::InScope(Right::Read), Needs::InScope(Right::Write));
    vec![
        Route::post("/v1/trails/nodes", write, node)
            .says("Add a place; one that exists stays as it is, but for its name")
            .note("201 if it is new, 200 if it was there.")
            .also(&[201, 409]),
        Route::post("/v1/trails/edges", write, edge)
            .says("Add an edge between two places; one that exists stays as it is, but for its base cost")
            .note("201 if it is new, 200 if it was there.")
            .also(&[201, 404, 409]),
        Route::post("/v1/trails/paths", write, deposit)
            .says("Say that a path led to something: its edges become cheaper, its places more worth coming back to")
            .note("The first edge earns the reward whole, later ones less. 400 for a place or an edge that is not there.")
            .also(&[409]),
        Route::post("/v1/trails/explorations", write, explore)
            .says("Say that somebody searched at a place: others are sent elsewhere for a while")
            .also(&[404, 409]),
        Route::get("/v1/trails/hot", read, hot).says("List the edges with most success and traversal left").reads_much(),
        Route::get("/v1/trails/cold", read, cold)
            .says("List the places with least exploitation and exploration left")
            .reads_much(),
        Route::get("/v1/trails/status", read, status)
            .says("Show what is left at a place, or on the edges between two")
            .also(&[404, 409]),
        Route::get("/v1/trails/path", read, path)
            .says("Find the cheapest way between two places")
            .also(&[404, 409]),
        Route::get("/v1/trails/next", read, next)
            .says("List where one might go from a place, what draws most first")
            .also(&[404, 409]),
        Route::post("/v1/trails/evaporate", Needs::Everywhere(Right::Write), evaporate)
            .says("Let everything evaporate to the present cycle, as the job evaporate does when it is time")
            .also(&[409])
            .patient(),
        Route::get("/v1/trails/cycle", Needs::Everywhere(Right::Read), cycle)
            .says("Show the present cycle")
            .also(&[409]),
        Route::post("/v1/trails/cycle", Needs::Everywhere(Right::Admin), advance)
            .says("Add cycles by hand")
            .note("It fades every trail of every scope, for good. 409 for more than 100 unless accept_cycles names their number.")
            .also(&[409]),
    ]
}

/// What is wrong with a field, for a person.
fn wrong(field: &str, why: impl std::fmt::Display) -> Problem {
    Problem::validation(format!("{field}: {why}"))
}

impl<P, Q, B> Call<P, Q, B> {
    /// The place that a field of a query names.
    fn place(&self, field: &str, text: &str) -> Result<PlaceName, Problem> {
        place_name(text, self.service().allowed()).map_err(|why| wrong(field, why))
    }

    /// The place that a field of a body names.
    fn place_of(&self, field: &str, place: &PlaceRef) -> Result<PlaceName, Problem> {
        place.clone().place(self.service().allowed()).map_err(|why| wrong(field, why))
    }

    async fn trace(&self, scope: Scope, at: Option<Timestamp>, what: Walk) -> Result<TrailWritten, Problem> {
        let at = self.written_at(at).await?;
        let mode = WriteMode::Once(self.request().clone());
        let mut done = self.service().trace(&mode, &[Trace { at, scope, what }]).await?;
        let done = done.pop().ok_or_else(|| Problem::own_fault("nothing was traced"))?;
        Ok(TrailWritten { traced: done, at, dry_run: false })
    }
}

/// A place to add.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewPlace {
    /// Its label, one of pheromones.labels.
    label: Term,
    /// Its id, unique among those of its label; of an Entity its name.
    id: PlaceId,
    /// What people call it.
    #[schemars(length(max = NAME_BYTES_MAX))]
    name: Option<String>,
    /// Whose data.
    scope: Option<Scope>,
    /// When; needs the right admin.
    at: Option<Timestamp>,
}

async fn node(call: Call<Nothing, Nothing, NewPlace>) -> Result<Answer<TrailWritten>, Problem> {
    let NewPlace { label, id, name, scope, at } = &call.body;
    let scope = call.scope(scope.as_ref())?;
    let label = call.service().allowed().label(label.as_str()).map_err(|why| wrong("label", why))?.clone();
    let what = Walk::node(label, id.clone(), name.clone());
    let what = what.map_err(|why| Problem::validation(why.to_string()))?;
    let wrote = call.trace(scope, *at, what).await?;
    Ok(Answer::made(wrote.traced.created == Some(true), wrote))
}

/// An edge to add.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewEdge {
    /// Where it begins.
    #[schemars(with = "PlaceNames")]
    from: PlaceRef,
    /// Where it ends.
    #[schemars(with = "PlaceNames")]
    to: PlaceRef,
    /// Its type, one of pheromones.relationship_types.
    #[serde(rename = "type")]
    kind: Term,
    /// What it costs where nobody has walked; where nothing is said, what its type costs.
    #[schemars(range(min = 0.0, max = 10.0))]
    base_cost: Option<f64>,
    /// Whose data.
    scope: Option<Scope>,
    /// When; needs the right admin.
    at: Option<Timestamp>,
}

async fn edge(call: Call<Nothing, Nothing, NewEdge>) -> Result<Answer<TrailWritten>, Problem> {
    let NewEdge { from, to, kind, base_cost, scope, at } = &call.body;
    let scope = call.scope(scope.as_ref())?;
    let kind = call.service().allowed().kind(kind.as_str()).map_err(|why| wrong("type", why))?.clone();
    let (from, to) = (call.place_of("from", from)?, call.place_of("to", to)?);
    let what = Walk::edge(from, to, kind, *base_cost).map_err(|why| wrong("base_cost", why))?;
    let wrote = call.trace(scope, *at, what).await?;
    Ok(Answer::made(wrote.traced.created == Some(true), wrote))
}

/// A path that led to something.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Deposit {
    /// Its places in order.
    #[schemars(with = "Vec<PlaceNames>", length(min = 2, max = 1_000))]
    path: Vec<PlaceRef>,
    /// What it was worth, above 0 and at most 10: 1 where nothing is said.
    #[schemars(range(max = 10.0))]
    reward: Option<f64>,
    /// Whose data.
    scope: Option<Scope>,
    /// When; needs the right admin.
    at: Option<Timestamp>,
}

async fn deposit(call: Call<Nothing, Nothing, Deposit>) -> Result<Answer<TrailWritten>, Problem> {
    let Deposit { path, reward, scope, at } = &call.body;
    let scope = call.scope(scope.as_ref())?;
    let allowed = call.service().allowed();
    let step = |(index, place): (usize, &PlaceRef)| {
        place.clone().step(allowed).map_err(|why| wrong(&format!("path[{index}]"), why))
    };
    let path = path.iter().enumerate().map(step).collect::<Result<_, _>>()?;
    let what =
        Walk::deposit(path, reward.unwrap_or(1.0)).map_err(|why| Problem::validation(why.to_string()))?;
    Ok(Answer::ok(call.trace(scope, *at, what).await.map_err(Problem::of_body)?))
}

/// A place where somebody searched.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Exploration {
    /// Which.
    #[schemars(with = "PlaceNames")]
    node: PlaceRef,
    /// Whose data.
    scope: Option<Scope>,
    /// When; needs the right admin.
    at: Option<Timestamp>,
}

async fn explore(call: Call<Nothing, Nothing, Exploration>) -> Result<Answer<TrailWritten>, Problem> {
    let Exploration { node, scope, at } = &call.body;
    let scope = call.scope(scope.as_ref())?;
    let what = Walk::Explore { place: call.place_of("node", node)? };
    Ok(Answer::ok(call.trace(scope, *at, what).await?))
}

/// How many, of which scope, and as of when.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Listing {
    /// This many at most; 20, where nothing is said.
    #[schemars(range(min = 1, max = 10_000))]
    #[serde(default, deserialize_with = "super::input::page_size")]
    limit: Option<u32>,
    /// Whose data.
    scope: Option<Scope>,
    /// As of this instant.
    at: Option<Timestamp>,
}

fn size(limit: Option<u32>) -> usize {
    usize::try_from(limit.unwrap_or(LIMIT)).unwrap_or(usize::MAX)
}

/// Edges, most walked first.
#[derive(Serialize, JsonSchema)]
struct HotEdges {
    edges: Vec<TrailEdge>,
}

async fn hot(call: Call<Nothing, Listing>) -> Result<Answer<HotEdges>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    let at = call.at(call.query.at).await?;
    let hot = call.service().hot_trails(&scope, size(call.query.limit), at).await?;
    Ok(Answer::ok(HotEdges { edges: hot.found }))
}

/// Places, least visited first.
#[derive(Serialize, JsonSchema)]
struct ColdPlaces {
    nodes: Vec<TrailPlace>,
}

async fn cold(call: Call<Nothing, Listing>) -> Result<Answer<ColdPlaces>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    let at = call.at(call.query.at).await?;
    let cold = call.service().cold_places(&scope, size(call.query.limit), at).await?;
    Ok(Answer::ok(ColdPlaces { nodes: cold.found }))
}

/// A place, or two.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlacesQuery {
    /// The place: an id, or Label:id.
    place: String,
    /// The other end, to see the edges between the two.
    to: Option<String>,
    /// Whose data.
    scope: Option<Scope>,
    /// As of this instant.
    at: Option<Timestamp>,
}

async fn status(call: Call<Nothing, PlacesQuery>) -> Result<Answer<TrailStatus>, Problem> {
    let PlacesQuery { place, to, scope, at } = &call.query;
    let scope = call.scope(scope.as_ref())?;
    let place = call.place("place", place)?;
    let to = to.as_deref().map(|to| call.place("to", to)).transpose()?;
    let at = call.at(*at).await?;
    Ok(Answer::ok(call.service().trail_status(&scope, &place, to.as_ref(), at).await?))
}

/// From where to where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Ends {
    /// Where it begins: an id, or Label:id.
    from: String,
    /// Where it is to lead: an id, or Label:id.
    to: String,
    /// Whose data.
    scope: Option<Scope>,
    /// As of this instant.
    at: Option<Timestamp>,
}

async fn path(call: Call<Nothing, Ends>) -> Result<Answer<CheapestPath>, Problem> {
    let Ends { from, to, scope, at } = &call.query;
    let scope = call.scope(scope.as_ref())?;
    let (from, to) = (call.place("from", from)?, call.place("to", to)?);
    let at = call.at(*at).await?;
    Ok(Answer::ok(call.service().cheapest_path(&scope, &from, &to, at).await?))
}

/// From where, and how many.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Onward {
    /// The place: an id, or Label:id.
    place: String,
    /// This many at most; 20, where nothing is said.
    #[schemars(range(min = 1, max = 10_000))]
    #[serde(default, deserialize_with = "super::input::page_size")]
    limit: Option<u32>,
    /// Whose data.
    scope: Option<Scope>,
    /// As of this instant.
    at: Option<Timestamp>,
}

/// Where one might go.
#[derive(Serialize, JsonSchema)]
struct NextPlaces {
    candidates: Vec<NextPlace>,
}

async fn next(call: Call<Nothing, Onward>) -> Result<Answer<NextPlaces>, Problem> {
    let Onward { place, limit, scope, at } = &call.query;
    let scope = call.scope(scope.as_ref())?;
    let place = call.place("place", place)?;
    let at = call.at(*at).await?;
    let found = call.service().next_places(&scope, &place, size(*limit), at).await?;
    Ok(Answer::ok(NextPlaces { candidates: found.found }))
}

/// How to let evaporate.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Evaporate {
    /// Also where pheromones.decay_interval_cycles have not yet passed.
    #[serde(default)]
    force: bool,
    /// Whether nothing is to be written.
    #[serde(default)]
    dry_run: bool,
    /// As of when; needs the right admin.
    at: Option<Timestamp>,
}

async fn evaporate(call: Call<Nothing, Nothing, Evaporate>) -> Result<Answer<Evaporated>, Problem> {
    let Evaporate { force, dry_run, at } = call.body;
    let at = call.written_at(at).await?;
    let tally = if dry_run {
        call.service().dry_run_job(JobName::Evaporate, at, None, force).await?
    } else {
        call.service().evaporate(call.request(), at, force, Some(call.api.stop.clone())).await?.done()?
    };
    let cycle = call.service().cycles().await?.cycles.at(at);
    Ok(Answer::ok(Evaporated::of(&tally, cycle, at, dry_run)))
}

/// As of when.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AtQuery {
    /// As of this instant.
    at: Option<Timestamp>,
}

async fn cycle(call: Call<Nothing, AtQuery>) -> Result<Answer<TrailCycle>, Problem> {
    let at = call.at(call.query.at).await?;
    let counter = call.service().cycles().await?;
    Ok(Answer::ok(TrailCycle::of(&counter, counter.cycles.at(at), at, false)))
}

/// How many cycles to add.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Advance {
    /// This many.
    #[schemars(range(min = 1, max = 10_000))]
    advance: NonZeroU32,
    /// The same number again, where it is more than 100: a person accepts it.
    accept_cycles: Option<u32>,
    /// When; needs the right admin.
    at: Option<Timestamp>,
}

async fn advance(call: Call<Nothing, Nothing, Advance>) -> Result<Answer<TrailCycle>, Problem> {
    let at = call.written_at(call.body.at).await?;
    let mode = WriteMode::Once(call.request().clone());
    let (more, accepted) = (call.body.advance.get(), call.body.accept_cycles);
    let cycle = call.service().advance_cycle(&mode, more, accepted, at).await?;
    Ok(Answer::ok(TrailCycle::of(&call.service().cycles().await?, cycle, at, false)))
}
