//! Operations on decaying relations: the three documented ones, and batches of observations.

use crate::surfaces::limits::{BYTES_EACH, Permit, QUEUE_TIMEOUT};
use crate::surfaces::operation::pages::{self, List, Page, Rest, Rows};
use crate::surfaces::operation::problem::Problem;
use crate::surfaces::operation::tool::{REQUEST_ID, Tool};
use crate::surfaces::operation::{Answer, Backend, Call, Operation, RequiredRight};
use axum::http::Method;
use ebb_core::api::input::{Items, Nothing};
use ebb_core::api::job::JobRunRequest;
use ebb_core::api::relation::{
    Day, DecayPassRequest, Edge, ObservationRequest, ObservedAll, Passed, RelationQuery, WrittenEdge,
};
use ebb_core::domain::event::Observe;
use ebb_core::domain::ids::Scope;
use ebb_core::domain::key::Right;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::{JobName, ObservationEffect, Relation, RelationFilter};
use std::convert::identity;
use std::pin::Pin;
use std::sync::Arc;

/// The operations.
pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(Method::GET, "/memory/graph/edges", RequiredRight::InScope(Right::Read), list)
            .summary("List relations with their current weight")
            .description(
                "Without a limit, all relations, heaviest first. With a limit, pages in a fixed order; the Link header \
                 points to the next page.",
            )
            .long_read(),
        Operation::new(Method::POST, "/memory/graph/edges", RequiredRight::InScope(Right::Write), observe)
            .summary("Record an observed relation")
            .description(
                "Sets its weight to 1 (one that stays pinned keeps its own), or to the given weight. 201 if it is new, 200 if \
                 it exists.",
            )
            .statuses(&[201, 409])
            .tool(TOOL),
        Operation::new(Method::POST, "/memory/graph/edges:batch", RequiredRight::InScope(Right::Write), observe_all)
            .summary("Record observed relations in order, all or none")
            .statuses(&[409])
            .batch(),
        Operation::with_dry_run(Method::POST, "/memory/graph/decay", RequiredRight::Everywhere(Right::Write), |pass: &DecayPassRequest| pass.dry_run, decay)
            .summary("Store the current weight of every relation, like the job fade")
            .description(
                "With dryRun, nothing is written. With dryRun and list, the response lists the relations of the \
                 scope that would be lowered.",
            )
            .statuses(&[409])
            .no_timeout(),
    ]
}

async fn list(call: Call<Nothing, RelationQuery>) -> Result<Answer<Vec<Edge<Day>>>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    let at = call.instant(call.query.at).await?;
    let which = if call.query.decayed { RelationFilter::Decayed } else { RelationFilter::Retrievable };
    let rows = RelationsInOrder { backend: Arc::clone(&call.backend), scope: scope.clone(), which, at };
    let Some(limit) = call.query.limit else {
        if call.query.cursor.is_some() {
            return Err(Problem::validation("a cursor needs a limit"));
        }
        return Ok(Answer::list(heaviest_first(rows, call.caller.name()).await?, None::<RelationQuery>));
    };
    let size = usize::try_from(limit).unwrap_or(usize::MAX);
    let after = call.query.cursor.as_deref().unwrap_or_default();
    let (list, cursor) = pages::listed(&NONE, rows, after, size).await?;
    let next = cursor.map(|cursor| RelationQuery {
        cursor: Some(cursor),
        at: Some(at),
        scope: Some(scope),
        ..call.query
    });
    Ok(Answer::list(list, next))
}

/// Maximum number of relations in a page.
const PAGE: usize = 1_000;
const NONE: [Edge<Day>; 0] = [];

/// Relations in order of their keys.
struct RelationsInOrder {
    backend: Arc<Backend>,
    scope: Scope,
    which: RelationFilter,
    at: Timestamp,
}

impl Rows for RelationsInOrder {
    type Row = Edge<Day>;
    const PAGE: usize = PAGE;

    async fn read(&self, after: &str, limit: usize) -> Result<Vec<(String, Edge<Day>)>, Problem> {
        let found = self.after(after, limit).await?;
        Ok(found.into_iter().map(|one| (one.key.clone(), Edge::of(one))).collect())
    }
}

impl RelationsInOrder {
    async fn after(&self, after: &str, limit: usize) -> Result<Vec<Relation>, Problem> {
        let service = &self.backend.service;
        Ok(service.relations_after(&self.scope, self.which, after, limit, self.at).await?)
    }

    /// What `make` keeps of each relation, with a permit for its `bytes`.
    ///
    /// # Errors
    /// 400 with `advice` if that alone is more than a caller may hold: to wait would not help.
    async fn gathered<T>(
        &self,
        caller: &str,
        make: impl Fn(Relation) -> T,
        bytes: impl Fn(&T) -> usize,
        advice: &str,
    ) -> Result<(Vec<T>, Option<Permit>), Problem> {
        let (mut all, mut held, mut total) = (Vec::new(), None::<Permit>, 0_u64);
        let mut after = String::new();
        loop {
            let page = self.after(&after, PAGE).await?;
            let is_last = page.len() < PAGE;
            if let Some(last) = page.last() {
                after.clone_from(&last.key);
            }
            let page: Vec<T> = page.into_iter().map(&make).collect();
            if !(is_last && all.is_empty()) {
                let more: usize = page.iter().map(&bytes).sum();
                total = total.saturating_add(u64::try_from(more).unwrap_or(u64::MAX));
                if total > BYTES_EACH {
                    let (count, most) = (all.len() + page.len(), BYTES_EACH >> 20);
                    return Err(Problem::validation(format!(
                        "the first {count} relations take more than the {most} MiB that one answer may hold to sort \
                         them: {advice}"
                    )));
                }
                self.backend.limits.hold(caller, more, QUEUE_TIMEOUT, &mut held).await?;
            }
            all.extend(page);
            if is_last {
                return Ok((all, held));
            }
        }
    }
}

/// A relation whose place in a list is not known yet.
struct Unsorted {
    weight: f64,
    key: String,
    /// Start, type and end, in the order of comparison.
    names: Box<str>,
}

impl Unsorted {
    fn of(relation: Relation) -> Self {
        let Relation { key, from, kind, to, weight, .. } = relation;
        // The least character, so that the whole is in the order of its parts.
        Self { weight, key, names: [from, kind, to].join("\0").into_boxed_str() }
    }

    fn bytes(&self) -> usize {
        self.key.len() + self.names.len() + size_of::<Self>()
    }
}

/// Sorts relations: heaviest first, then by name.
fn sort(all: &mut [Relation]) {
    let by_name = |a: &Relation, b: &Relation| [&a.from, &a.kind, &a.to].cmp(&[&b.from, &b.kind, &b.to]);
    all.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| by_name(a, b)));
}

/// Lists all relations, heaviest first, then by name. If they are more than a page, the order is determined first, from
/// weights and names alone, which count as bytes of the answer; then the relations are read again, page by page, while
/// they are sent.
async fn heaviest_first(rows: RelationsInOrder, caller: &str) -> Result<List, Problem> {
    let mut first = rows.after("", PAGE).await?;
    if first.len() < PAGE {
        sort(&mut first);
        let items = pages::items(first.into_iter().map(Edge::<Day>::of))?;
        return List::new(&NONE, Page { items, rest: None });
    }
    drop(first);
    let advice = "list them with a limit, in pages";
    let (mut all, mut held) = rows.gathered(caller, Unsorted::of, Unsorted::bytes, advice).await?;
    all.sort_unstable_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.names.cmp(&b.names)));
    let listed: Vec<(String, f64)> = all.into_iter().map(|one| (one.key, one.weight)).collect();
    if let Some(held) = &mut held {
        held.keep(listed.iter().map(|(key, _)| key.len() + size_of::<(String, f64)>()).sum());
    }
    let RelationsInOrder { backend, scope, .. } = rows;
    let all = Heaviest { backend, scope, listed: listed.into_iter(), _held: held };
    List::new(&NONE, Box::new(all).page().await?)
}

/// Relations in a known order that are not read yet.
struct Heaviest {
    backend: Arc<Backend>,
    scope: Scope,
    listed: std::vec::IntoIter<(String, f64)>,
    /// Counts the bytes of the keys.
    _held: Option<Permit>,
}

impl Heaviest {
    async fn page(mut self: Box<Self>) -> Result<Page, Problem> {
        let listed: Vec<(String, f64)> = self.listed.by_ref().take(PAGE).collect();
        let found = self.backend.service.relations_of(&self.scope, &listed).await?;
        let items = pages::items(found.into_iter().map(Edge::<Day>::of))?;
        let more = self.listed.len() > 0;
        Ok(Page { items, rest: more.then_some(self as Box<dyn Rest>) })
    }
}

impl Rest for Heaviest {
    fn read(self: Box<Self>) -> Pin<Box<dyn Future<Output = Result<Page, Problem>>>> {
        Box::pin(self.page())
    }
}

fn wrote(observe: &Observe, outcome: ObservationEffect) -> WrittenEdge {
    WrittenEdge::of(&observe.tie, Some(outcome), None, observe.seen.at, false)
}

const TOOL: Tool = Tool::new(
    "observe_relation",
    &["from", "type", "to", "weight", "pinned", "scope", REQUEST_ID],
    "Record that a relation between two entities was observed. Sets its weight to 1 (one that stays pinned keeps its own), \
     or to the given weight, which decays until the next observation; returns the outcome: created, again (it existed) or late (a later one is \
     stored).",
)
.idempotent();

async fn observe(call: Call<Nothing, Nothing, ObservationRequest>) -> Result<Answer<WrittenEdge>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let at = call.write_instant(call.body.at).await?;
    let (backend, mode) = (Arc::clone(&call.backend), call.write_once());
    let observe = call.body.event(scope, at);
    let done = backend.service.observe(&mode, std::slice::from_ref(&observe)).await?;
    let outcome = done.first().copied().unwrap_or(ObservationEffect::Late);
    Ok(Answer::created(outcome == ObservationEffect::Created, wrote(&observe, outcome)))
}

async fn observe_all(
    call: Call<Nothing, Nothing, Items<ObservationRequest>>,
) -> Result<Answer<ObservedAll>, Problem> {
    let mut scopes = Vec::new();
    for seen in &call.body.0 {
        scopes.push(call.scope(seen.scope.as_ref())?);
    }
    let now = call.batch_instant(call.body.0.iter().map(|seen| seen.at)).await?;
    let (backend, mode) = (Arc::clone(&call.backend), call.write_once());
    let seen = call.body.0.into_iter().zip(scopes);
    let seen: Vec<Observe> = seen.map(|(seen, scope)| seen.event(scope, now)).collect();
    let done = backend.service.observe(&mode, &seen).await?;
    let edges = seen.iter().zip(done).map(|(observe, outcome)| wrote(observe, outcome)).collect();
    Ok(Answer::ok(ObservedAll { edges }))
}

async fn decay(call: Call<Nothing, Nothing, DecayPassRequest>) -> Result<Answer<Passed<Day>>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let at = call.write_instant(call.body.at).await?;
    let DecayPassRequest { dry_run, list, .. } = call.body;
    if list && !dry_run {
        return Err(Problem::validation("list needs dryRun: after a pass no relation is left to lower"));
    }
    let (service, all) = (call.service(), JobRunRequest::default());
    if !dry_run {
        let stop = call.backend.stop.clone();
        let report = service.run_job_once(&call.request_id, JobName::Fade, at, &all, stop).await?;
        return Ok(Answer::ok(Passed::of(&report.done()?, None)));
    }
    let report = service.dry_run_job(JobName::Fade, at, &all, false).await?;
    let edges = if list {
        let backend = Arc::clone(&call.backend);
        let rows = RelationsInOrder { backend, scope, which: RelationFilter::Lowered, at };
        let names = |one: &Relation| one.key.len() + one.from.len() + one.kind.len() + one.to.len();
        let bytes = |one: &Relation| names(one) + size_of::<Relation>();
        let advice = "leave out list, and see the counts";
        let (mut lowered, _held) = rows.gathered(call.caller.name(), identity, bytes, advice).await?;
        sort(&mut lowered);
        Some(lowered.into_iter().map(Edge::of).collect())
    } else {
        None
    };
    Ok(Answer::ok(Passed::of(&report, edges)))
}
