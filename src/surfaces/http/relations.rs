//! Relations that fade: the three documented routes, and batches of observations.

use super::api::Api;
use super::door::Needs;
use super::input::{Items, Nothing};
use super::pages::{self, List, Page, Rest, Rows};
use super::problem::Problem;
use super::room::{Held, QUEUE_LIMIT};
use super::route::{Answer, Call, Route};
use ebb_core::api::relation::{Day, Edge, Passed, WrittenEdge};
use ebb_core::domain::event::{Observe, Tie};
use ebb_core::domain::ids::{EntityName, RelationType, Scope};
use ebb_core::domain::key::Right;
use ebb_core::domain::relation::Observation;
use ebb_core::domain::units::{Timestamp, Weight};
use ebb_core::service::memories::{RequestId, WriteMode};
use ebb_core::service::{JobName, ObservationEffect, Relation, RelationFilter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::pin::Pin;
use std::sync::Arc;

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/memory/graph/edges", Needs::InScope(Right::Read), list)
            .says("List relations as they weigh now")
            .note(
                "Without a limit all of them, heaviest first. With one, pages in an order that does not change; the \
                 Link header leads to the next.",
            )
            .reads_much(),
        Route::post("/memory/graph/edges", Needs::InScope(Right::Write), observe)
            .says("Say that a relation was seen")
            .note("It weighs 1 from now on, or what you say. 201 if it is new, 200 if it was there.")
            .also(&[201, 409]),
        Route::post("/memory/graph/edges:batch", Needs::InScope(Right::Write), observe_all)
            .says("Say that relations were seen, all or none, in their order")
            .also(&[409])
            .batch(),
        Route::post_or_dry("/memory/graph/decay", Needs::Everywhere(Right::Write), |pass: &DecayPassRequest| pass.dry_run, decay)
            .says("Write down what every relation weighs, as the job fade does")
            .note("With dryRun nothing is written; with list too, the relations of the scope that would be lowered are named.")
            .also(&[409])
            .patient(),
    ]
}

/// Which relations.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RelationQuery {
    /// Those below the minimum instead, which are left out of what is retrieved.
    #[serde(default)]
    decayed: bool,
    /// Whose data.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<Scope>,
    /// As of this instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    /// This many at most.
    #[schemars(range(min = 1, max = 10_000))]
    #[serde(default, deserialize_with = "super::input::page_size")]
    limit: Option<u32>,
    /// Where the page before ended: what its Link header says.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

async fn list(call: Call<Nothing, RelationQuery>) -> Result<Answer<Vec<Edge<Day>>>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    let at = call.at(call.query.at).await?;
    let which = if call.query.decayed { RelationFilter::Decayed } else { RelationFilter::Retrievable };
    let Some(limit) = call.query.limit else {
        if call.query.cursor.is_some() {
            return Err(Problem::validation("a cursor goes with a limit"));
        }
        let caller = call.caller.name();
        return Ok(Answer::list(
            heaviest_first(&call.api, caller, scope, which, at).await?,
            None::<RelationQuery>,
        ));
    };
    let size = usize::try_from(limit).unwrap_or(usize::MAX);
    let after = call.query.cursor.as_deref().unwrap_or_default();
    let rows = RelationsInOrder { api: Arc::clone(&call.api), scope: scope.clone(), which, at };
    let (list, cursor) = pages::listed(&NONE, rows, after, size).await?;
    let next = cursor.map(|cursor| RelationQuery {
        cursor: Some(cursor),
        at: Some(at),
        scope: Some(scope),
        ..call.query
    });
    Ok(Answer::list(list, next))
}

/// Relations of a page at most.
const PAGE: usize = 1_000;
const NONE: [Edge<Day>; 0] = [];

/// Relations by key.
struct RelationsInOrder {
    api: Arc<Api>,
    scope: Scope,
    which: RelationFilter,
    at: Timestamp,
}

impl Rows for RelationsInOrder {
    type Row = Edge<Day>;
    const PAGE: usize = PAGE;

    async fn read(&self, after: &str, limit: usize) -> Result<Vec<(String, Edge<Day>)>, Problem> {
        let found = self.api.service.relations_after(&self.scope, self.which, after, limit, self.at).await?;
        Ok(found.into_iter().map(|one| (one.key.clone(), Edge::of(one))).collect())
    }
}

/// All relations, heaviest first, then by name. Their order is found out first, from weights and names alone, which count
/// as bytes of the answer; then they are read anew, page by page, while they are sent.
async fn heaviest_first(
    api: &Arc<Api>,
    caller: &str,
    scope: Scope,
    which: RelationFilter,
    at: Timestamp,
) -> Result<List, Problem> {
    let (mut all, mut held) = (Vec::<Relation>::new(), None::<Held>);
    loop {
        let after = all.last().map(|last| last.key.clone()).unwrap_or_default();
        let page = api.service.relations_after(&scope, which, &after, PAGE, at).await?;
        let is_last = page.len() < PAGE;
        if !(is_last && all.is_empty()) {
            let names = |one: &Relation| one.key.len() + one.from.len() + one.kind.len() + one.to.len();
            let bytes = page.iter().map(|one| names(one) + size_of::<Relation>()).sum();
            api.room.hold(caller, bytes, QUEUE_LIMIT, &mut held).await?;
        }
        all.extend(page);
        if is_last {
            break;
        }
    }
    let by_name = |a: &Relation, b: &Relation| [&a.from, &a.kind, &a.to].cmp(&[&b.from, &b.kind, &b.to]);
    all.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| by_name(a, b)));
    let listed: Vec<(String, f64)> = all.iter().skip(PAGE).map(|one| (one.key.clone(), one.weight)).collect();
    all.truncate(PAGE);
    let items = pages::items(all.into_iter().map(Edge::<Day>::of))?;
    if let Some(held) = &mut held {
        held.keep(listed.iter().map(|(key, _)| key.len() + size_of::<(String, f64)>()).sum());
    }
    let rest = (!listed.is_empty()).then(|| {
        let (api, listed) = (Arc::clone(api), listed.into_iter());
        Box::new(Heaviest { api, scope, listed, _held: held }) as Box<dyn Rest>
    });
    List::new(&NONE, Page { items, rest })
}

/// Relations whose order is known.
struct Heaviest {
    api: Arc<Api>,
    scope: Scope,
    listed: std::vec::IntoIter<(String, f64)>,
    /// Of the keys.
    _held: Option<Held>,
}

impl Rest for Heaviest {
    fn read(mut self: Box<Self>) -> Pin<Box<dyn Future<Output = Result<Page, Problem>>>> {
        Box::pin(async move {
            let listed: Vec<(String, f64)> = self.listed.by_ref().take(PAGE).collect();
            let found = self.api.service.relations_of(&self.scope, &listed).await?;
            let items = pages::items(found.into_iter().map(Edge::<Day>::of))?;
            let more = self.listed.len() > 0;
            Ok(Page { items, rest: more.then_some(self as Box<dyn Rest>) })
        })
    }
}

/// A relation that was seen.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Observation")]
struct ObservationRequest {
    /// The entity it begins at.
    from: EntityName,
    /// The entity it ends at.
    to: EntityName,
    /// What it says, such as works_on.
    #[serde(rename = "type")]
    kind: RelationType,
    /// What it weighs: 1 where nothing is said.
    #[schemars(with = "Option<f64>", range(min = 0.0, max = 1.0))]
    weight: Option<Weight>,
    /// Whether it does not fade; as it was where nothing is said.
    pinned: Option<bool>,
    /// Whose data.
    scope: Option<Scope>,
    /// When; needs the right admin.
    at: Option<Timestamp>,
}

impl ObservationRequest {
    fn observe(self, scope: Scope, at: Timestamp) -> Observe {
        let tie = Tie { scope, from: self.from, kind: self.kind, to: self.to };
        Observe { tie, seen: Observation { at, weight: self.weight, pinned: self.pinned } }
    }
}

fn wrote(observe: &Observe, outcome: ObservationEffect) -> WrittenEdge {
    WrittenEdge::of(&observe.tie, Some(outcome), None, observe.seen.at, false)
}

async fn observe(call: Call<Nothing, Nothing, ObservationRequest>) -> Result<Answer<WrittenEdge>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let at = call.written_at(call.body.at).await?;
    let (api, mode) = (call.api.clone(), WriteMode::Once(call.request().clone()));
    let observe = call.body.observe(scope, at);
    let done = api.service.observe(&mode, std::slice::from_ref(&observe)).await?;
    let outcome = done.first().copied().unwrap_or(ObservationEffect::Late);
    Ok(Answer::made(outcome == ObservationEffect::Created, wrote(&observe, outcome)))
}

/// What a batch of observations did, in its order.
#[derive(Serialize, JsonSchema)]
struct ObservedAll {
    edges: Vec<WrittenEdge>,
}

async fn observe_all(
    call: Call<Nothing, Nothing, Items<ObservationRequest>>,
) -> Result<Answer<ObservedAll>, Problem> {
    let mut scopes = Vec::new();
    for seen in &call.body.0 {
        scopes.push(call.scope(seen.scope.as_ref())?);
    }
    let now = call.written_at_latest(call.body.0.iter().filter_map(|seen| seen.at)).await?;
    let (api, mode) = (call.api.clone(), WriteMode::Once(call.request().clone()));
    let seen = call.body.0.into_iter().zip(scopes).map(|(seen, scope)| {
        let at = seen.at.map_or(now, |at| at);
        seen.observe(scope, at)
    });
    let seen: Vec<Observe> = seen.collect();
    let done = api.service.observe(&mode, &seen).await?;
    let edges = seen.iter().zip(done).map(|(observe, outcome)| wrote(observe, outcome)).collect();
    Ok(Answer::ok(ObservedAll { edges }))
}

/// A pass.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct DecayPassRequest {
    /// Whether nothing is to be written.
    #[serde(default)]
    dry_run: bool,
    /// With dryRun: whether the relations that would be lowered are to be named.
    #[serde(default)]
    list: bool,
    /// Whose relations are named.
    scope: Option<Scope>,
    /// As of when; needs the right admin.
    at: Option<Timestamp>,
}

async fn decay(call: Call<Nothing, Nothing, DecayPassRequest>) -> Result<Answer<Passed<Day>>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let at = call.written_at(call.body.at).await?;
    let DecayPassRequest { dry_run, list, .. } = call.body;
    if list && !dry_run {
        return Err(Problem::validation("list goes with dryRun: after a pass nothing would be lowered"));
    }
    let service = call.service();
    if !dry_run {
        let tally = run(&call.api, call.request(), JobName::Fade, at, None).await?.done()?;
        return Ok(Answer::ok(Passed::of(&tally, None)));
    }
    let tally = service.dry_run_job(JobName::Fade, at, None, false).await?;
    let edges = if list {
        let lowered = service.relations(&scope, RelationFilter::Lowered, None, at).await?;
        Some(lowered.into_iter().map(Edge::of).collect())
    } else {
        None
    };
    Ok(Answer::ok(Passed::of(&tally, edges)))
}

/// Runs a job by hand until the process is told to stop.
pub(super) async fn run(
    api: &Api,
    request: &RequestId,
    job: JobName,
    at: Timestamp,
    limit: Option<u64>,
) -> Result<ebb_core::service::JobReport, Problem> {
    Ok(api.service.run_job_once(request, job, at, limit, api.stop.clone()).await?)
}
