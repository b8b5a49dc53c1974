//! Memories and sessions: made, used, shown, explained, pinned, forgotten, ended.

use super::api::Api;
use super::door::Needs;
use super::input::{Items, Nothing};
use super::pages::{self, Rows};
use super::problem::Problem;
use super::route::{Answer, Call, Route};
use ebb_core::api::memory::{Explained, Memory};
use ebb_core::api::session::SessionEnd;
use ebb_core::domain::event::{Access, Event, Remember};
use ebb_core::domain::ids::{
    CONTENT_BYTES_MAX, EntityName, InstanceId, MemoryId, MemoryKey, Scope, SessionId,
};
use ebb_core::domain::key::Right;
use ebb_core::domain::memory::Revive;
use ebb_core::domain::tier::Tier;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::memories::WriteMode;
use ebb_core::service::{EventEffect, Filter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Memories of a page where nobody says how many.
const PAGE: u32 = 100;

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    let (read, write) = (Needs::InScope(Right::Read), Needs::InScope(Right::Write));
    vec![
        Route::get("/v1/memories", read, list)
            .says("List memories by id, with their current energy")
            .note("100 where no limit is given; the Link header leads to the next page.")
            .reads_much(),
        Route::post("/v1/memories", write, remember)
            .says("Remember something")
            .note("201 if it is new. An id that exists with the same content counts as an access: 200.")
            .also(&[201, 409]),
        Route::post("/v1/memories:batch", write, remember_all)
            .says("Remember things, all or none, in their order")
            .also(&[409])
            .batch(),
        Route::get("/v1/memories/{id}", read, show).says("Show a memory").also(&[404]),
        Route::delete("/v1/memories/{id}", Needs::InScope(Right::Admin), forget)
            .says("Forget a memory for good, with its traces")
            .also(&[404, 409]),
        Route::post("/v1/memories/{id}/access", write, access)
            .says("Use a memory: it gains 1 energy, and an expired one is revived")
            .also(&[404, 409]),
        Route::post("/v1/memories/{id}/pin", write, pin)
            .says("Pin a memory: it neither fades nor expires nor rises")
            .also(&[404, 409]),
        Route::delete("/v1/memories/{id}/pin", write, unpin)
            .says("Unpin a memory: it fades again from now on")
            .also(&[404, 409]),
        Route::get("/v1/memories/{id}/explain", read, explain)
            .says("Say why a memory is where it is, and when it will cross which threshold")
            .also(&[404, 409]),
        Route::post("/v1/accesses:batch", write, access_all)
            .says("Use memories, all or none, in their order")
            .also(&[404, 409])
            .batch(),
        Route::post_or_dry("/v1/sessions/{id}/end", write, |end: &End| end.dry_run, end_session)
            .says("End a session: its working memories of enough energy rise at once")
            .also(&[404, 409]),
    ]
}

/// Which memory.
#[derive(Debug, Deserialize, JsonSchema)]
struct MemoryPath {
    /// Its id.
    id: MemoryId,
}

/// Of which scope, and as of when.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ScopeAtQuery {
    /// Whose data.
    scope: Option<Scope>,
    /// As of this instant.
    at: Option<Timestamp>,
}

/// Of which scope.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ScopeQuery {
    /// Whose data.
    scope: Option<Scope>,
}

impl<Q, B> Call<MemoryPath, Q, B> {
    /// The memory meant, in a scope that the caller may ask about.
    fn key(&self, scope: &Scope) -> MemoryKey {
        MemoryKey::new(scope, &self.path.id)
    }
}

/// Which memories.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemoryQuery {
    /// Only this tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<Tier>,
    /// Only those made in this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<SessionId>,
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

/// A page of memories.
#[derive(Serialize, JsonSchema)]
struct Memories {
    memories: Vec<Memory>,
}

async fn list(call: Call<Nothing, MemoryQuery>) -> Result<Answer<Memories>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    let at = call.at(call.query.at).await?;
    let limit = call.query.limit.unwrap_or(PAGE);
    let filter = Filter {
        tier: call.query.tier,
        session: call.query.session.as_ref().map(ToString::to_string),
        after: String::new(),
    };
    let after = call.query.cursor.clone().unwrap_or_default();
    let rows = MemoriesInOrder { api: Arc::clone(&call.api), scope: scope.clone(), filter, at };
    let size = usize::try_from(limit).unwrap_or(usize::MAX);
    let (list, cursor) = pages::listed(&Memories { memories: Vec::new() }, rows, &after, size).await?;
    let next = cursor.map(|cursor| MemoryQuery {
        cursor: Some(cursor),
        at: Some(at),
        scope: Some(scope),
        limit: Some(limit),
        ..call.query
    });
    Ok(Answer::list(list, next))
}

/// Memories by id.
struct MemoriesInOrder {
    api: Arc<Api>,
    scope: Scope,
    filter: Filter,
    at: Timestamp,
}

impl MemoriesInOrder {
    fn after(&self, after: &str, limit: usize) -> (Filter, u32) {
        (Filter { after: after.to_owned(), ..self.filter.clone() }, u32::try_from(limit).unwrap_or(u32::MAX))
    }
}

impl Rows for MemoriesInOrder {
    type Row = Memory;
    /// Memories may be long.
    const PAGE: usize = 128;
    const CURSORS: usize = 10_000;

    async fn read(&self, after: &str, limit: usize) -> Result<Vec<(String, Memory)>, Problem> {
        let (filter, limit) = self.after(after, limit);
        let found = self.api.service.list(&self.scope, &filter, limit, self.at).await?;
        Ok(found.into_iter().map(|memory| (memory.id.clone(), memory)).collect())
    }

    async fn cursors(&self, after: &str, limit: usize) -> Result<Vec<String>, Problem> {
        let (filter, limit) = self.after(after, limit);
        let keys = self.api.service.list_keys(&self.scope, &filter, limit).await?;
        Ok(keys.iter().map(ToString::to_string).collect())
    }
}

/// Something to remember.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewMemory {
    /// Its id; a new one where none is given.
    id: Option<MemoryId>,
    /// What to remember: not blank, at most 65536 bytes.
    #[schemars(length(min = 1, max = CONTENT_BYTES_MAX), pattern(r"\S"))]
    content: String,
    /// The session in which it is made.
    session: Option<SessionId>,
    /// The instance of the agent that makes it.
    instance: Option<InstanceId>,
    /// Names of what it mentions.
    #[serde(default)]
    #[schemars(length(max = 256))]
    mentions: Vec<EntityName>,
    /// Whether it neither fades nor expires nor rises.
    #[serde(default)]
    pinned: bool,
    /// What it means, as numbers: as many as similarity.embedding_dimensions says, and none where it says nothing.
    #[schemars(length(min = 1, max = 4_096))]
    embedding: Option<Vec<f64>>,
    /// Whose data.
    scope: Option<Scope>,
    /// When; needs the right admin.
    at: Option<Timestamp>,
}

impl<P, Q, B> Call<P, Q, B> {
    /// A memory as the laws take it; `index` is its place in the request.
    fn checked(
        &self,
        new: NewMemory,
        index: usize,
        scope: Scope,
        at: Timestamp,
    ) -> Result<Remember, Problem> {
        let fault = |why: &dyn std::fmt::Display| Problem::validation(format!("[{index}]: {why}"));
        let id = match new.id {
            Some(id) => id,
            None => MemoryId::new(&self.request().names(index)).map_err(|why| fault(&why))?,
        };
        let embedding = new.embedding.map(|numbers| self.service().embedding(&id, numbers)).transpose();
        let remember = Remember {
            at,
            embedding: embedding.map_err(|why| fault(&why))?,
            id,
            scope,
            content: new.content,
            session: new.session,
            instance: new.instance,
            mentions: new.mentions,
            pinned: new.pinned,
        };
        remember.checked().map_err(|why| fault(&why))
    }
}

async fn remember(mut call: Call<Nothing, Nothing, NewMemory>) -> Result<Answer<Memory>, Problem> {
    let new = std::mem::take(&mut call.body);
    let scope = call.scope(new.scope.as_ref())?;
    let at = call.written_at(new.at).await?;
    let remember = call.checked(new, 0, scope, at)?;
    let memory = call.service().remember(&call.request().clone().into(), remember).await?;
    Ok(Answer::made(memory.did == Some(EventEffect::Created), memory))
}

/// What a batch did to each memory, in its order.
#[derive(Serialize, JsonSchema)]
struct DoneAll {
    memories: Vec<Touched>,
}

/// What became of a memory.
#[derive(Serialize, JsonSchema)]
struct Touched {
    /// Its id.
    id: String,
    /// created, accessed or revived; forgotten for one that was forgotten on request and stays so.
    did: EventEffect,
}

impl DoneAll {
    fn of(done: Vec<(MemoryId, EventEffect)>) -> Self {
        let touched = |(id, did): (MemoryId, EventEffect)| Touched { id: id.to_string(), did };
        Self { memories: done.into_iter().map(touched).collect() }
    }
}

async fn remember_all(
    mut call: Call<Nothing, Nothing, Items<NewMemory>>,
) -> Result<Answer<DoneAll>, Problem> {
    let items = std::mem::take(&mut call.body.0);
    let now = call.written_at_latest(items.iter().filter_map(|new| new.at)).await?;
    let mut events = Vec::with_capacity(items.len());
    for (index, new) in items.into_iter().enumerate() {
        let scope = call.scope(new.scope.as_ref())?;
        let at = new.at.map_or(now, |at| at);
        events.push(Event::Remember(call.checked(new, index, scope, at)?));
    }
    let done = call.service().apply_all(call.request(), &events).await?;
    Ok(Answer::ok(DoneAll::of(done)))
}

async fn show(call: Call<MemoryPath, ScopeAtQuery>) -> Result<Answer<Memory>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    let at = call.at(call.query.at).await?;
    let memory = call.service().show(&call.key(&scope), at).await?;
    Ok(Answer::ok(memory))
}

async fn explain(call: Call<MemoryPath, ScopeAtQuery>) -> Result<Answer<Explained>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    let at = call.at(call.query.at).await?;
    let explanation = call.service().explain(&call.key(&scope), at).await?;
    Ok(Answer::ok(explanation.explained))
}

/// What was forgotten.
#[derive(Serialize, JsonSchema)]
struct Forgotten {
    /// Its id.
    forgotten: Vec<String>,
    /// Nodes that went: the memory and its stubs.
    nodes: i64,
}

async fn forget(call: Call<MemoryPath, ScopeQuery>) -> Result<Answer<Forgotten>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    let at = call.at(None).await?;
    let id = &call.path.id;
    let ids = (&scope, std::slice::from_ref(id));
    let nodes = call.service().forget(&WriteMode::Once(call.request().clone()), ids, at, None).await?;
    Ok(Answer::ok(Forgotten { forgotten: vec![id.to_string()], nodes }))
}

/// A use.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AccessRequest {
    /// The session in which it is used.
    session: Option<SessionId>,
    /// The instance of the agent that uses it.
    #[serde(rename = "instance")]
    _instance: Option<InstanceId>,
    /// Whether an expired one comes back: yes, where nothing is said.
    revive: Option<bool>,
    /// Whose data.
    scope: Option<Scope>,
    /// When; needs the right admin.
    at: Option<Timestamp>,
}

fn revive(asked: Option<bool>) -> Revive {
    if asked == Some(false) { Revive::No } else { Revive::Yes }
}

async fn access(mut call: Call<MemoryPath, Nothing, AccessRequest>) -> Result<Answer<Memory>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let at = call.written_at(call.body.at).await?;
    let access = Access {
        at,
        id: call.path.id.clone(),
        scope,
        session: call.body.session.take(),
        revive: revive(call.body.revive),
    };
    Ok(Answer::ok(call.service().access(&call.request().clone().into(), access).await?))
}

/// A use of a memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Access")]
struct AccessOfRequest {
    /// Of which memory.
    id: MemoryId,
    /// The session in which it is used.
    session: Option<SessionId>,
    /// The instance of the agent that uses it.
    #[serde(rename = "instance")]
    _instance: Option<InstanceId>,
    /// Whether an expired one comes back: yes, where nothing is said.
    revive: Option<bool>,
    /// Whose data.
    scope: Option<Scope>,
    /// When; needs the right admin.
    at: Option<Timestamp>,
}

async fn access_all(
    mut call: Call<Nothing, Nothing, Items<AccessOfRequest>>,
) -> Result<Answer<DoneAll>, Problem> {
    let items = std::mem::take(&mut call.body.0);
    let now = call.written_at_latest(items.iter().filter_map(|used| used.at)).await?;
    let mut events = Vec::with_capacity(items.len());
    for used in items {
        let scope = call.scope(used.scope.as_ref())?;
        let at = used.at.map_or(now, |at| at);
        let AccessOfRequest { id, session, .. } = used;
        events.push(Event::Access(Access { at, id, scope, session, revive: revive(used.revive) }));
    }
    let done = call.service().apply_all(call.request(), &events).await?;
    Ok(Answer::ok(DoneAll::of(done)))
}

/// A pin.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Pin {
    /// Whose data.
    scope: Option<Scope>,
    /// When; needs the right admin.
    at: Option<Timestamp>,
}

async fn pin(call: Call<MemoryPath, Nothing, Pin>) -> Result<Answer<Memory>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let at = call.written_at(call.body.at).await?;
    pinned(&call, &scope, true, at).await
}

async fn unpin(call: Call<MemoryPath, ScopeQuery>) -> Result<Answer<Memory>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    let at = call.at(None).await?;
    pinned(&call, &scope, false, at).await
}

async fn pinned<Q, B>(
    call: &Call<MemoryPath, Q, B>,
    scope: &Scope,
    pin: bool,
    at: Timestamp,
) -> Result<Answer<Memory>, Problem> {
    let id = &call.path.id;
    let ids = (scope, std::slice::from_ref(id));
    let mode = WriteMode::Once(call.request().clone());
    let memory = call.service().pin(&mode, ids, pin, at).await?.pop();
    let memory = memory.ok_or_else(|| Problem::not_found(format!("there is no memory {id}")))?;
    Ok(Answer::ok(memory))
}

/// Which session.
#[derive(Debug, Deserialize, JsonSchema)]
struct Session {
    /// Its id.
    id: SessionId,
}

/// The end of a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct End {
    /// Promote what has more energy than this: sessionEndThreshold, where nothing is said.
    #[schemars(range(min = 0.0))]
    threshold: Option<f64>,
    /// Whether nothing is to be written.
    #[serde(default)]
    dry_run: bool,
    /// Whose data.
    scope: Option<Scope>,
    /// When; needs the right admin.
    at: Option<Timestamp>,
}

async fn end_session(call: Call<Session, Nothing, End>) -> Result<Answer<SessionEnd>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let at = call.written_at(call.body.at).await?;
    let End { threshold, dry_run, .. } = call.body;
    if threshold.is_some_and(|threshold| threshold < 0.0) {
        return Err(Problem::validation("threshold: an energy is a finite number, 0 or more"));
    }
    let mode = if dry_run { WriteMode::DryRun } else { WriteMode::Once(call.request().clone()) };
    let session = &call.path.id;
    let ended = call.service().end_session(&mode, &scope, session, at, threshold).await?;
    Ok(Answer::ok(SessionEnd {
        session: session.to_string(),
        promoted: ended.promoted,
        held: ended.held,
        at,
        dry_run,
    }))
}
