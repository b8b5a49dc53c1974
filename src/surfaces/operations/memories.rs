//! Operations on memories and sessions.

use crate::surfaces::operation::pages::{self, Rows};
use crate::surfaces::operation::problem::Problem;
use crate::surfaces::operation::tool::{REQUEST_ID, Tool};
use crate::surfaces::operation::{Answer, Backend, Call, Operation, RequiredRight};
use axum::http::Method;
use ebb_core::api::duplicates::{Duplicates, DuplicatesQuery, MergeRequest};
use ebb_core::api::input::{Items, Nothing, ScopeAtQuery, ScopeQuery};
use ebb_core::api::memory::{
    Access, AccessRequest, DoneAll, ExplainQuery, Explained, Forgotten, Memories, Memory, MemoryPath,
    MemoryQuery, NewMemory, Pin, Touched,
};
use ebb_core::api::memory_list::{
    ForgetMemories, ForgottenMemories, FoundMemories, MemorySearch, SEARCH_MAX,
};
use ebb_core::api::memory_update::{MemoryPatch, Versions};
use ebb_core::api::recall::RecallRequest;
use ebb_core::api::session::{End, SessionEnd, SessionPath};
use ebb_core::api::why_not::WhyNot;
use ebb_core::domain::event::Event;
use ebb_core::domain::ids::{MemoryId, Scope};
use ebb_core::domain::key::Right;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::memories::WriteMode;
use ebb_core::service::{Error, EventEffect, Filter, MemoryOrder};
use std::sync::Arc;

/// Default number of memories in a page.
const PAGE: u32 = 100;

/// The operations.
pub(super) fn operations() -> Vec<Operation> {
    [by_conditions(), by_id()].into_iter().flatten().collect()
}

/// Those on the memories that fulfil conditions.
fn by_conditions() -> Vec<Operation> {
    vec![
        Operation::new(Method::POST, "/v1/memories:search", RequiredRight::InScope(Right::Read), search)
            .summary("List memories that fulfil conditions")
            .description(
                "Conditions are on tier, session, tags, text, metadata and creation. Reads the database, not the mirror, and \
                 counts as no access; to search by meaning: /v1/recall. Repeat the request with the cursor of the answer for \
                 the next page, until it is null: a page may be short, with conditions on metadata and after 16 MiB of texts.",
            )
            .tool(LIST_TOOL)
            .long_read(),
        Operation::with_dry_run(
            Method::POST,
            "/v1/memories:forget",
            RequiredRight::InScope(Right::Admin),
            |request: &ForgetMemories| request.dry_run,
            forget_where,
        )
        .summary("Delete memories that fulfil conditions permanently, with their stubs")
        .description(
            "At most 1,000 at once, all or none; left says how many are left. 409 if they are more than a fifth of the scope \
             and more than 50: the answer names the number to send as accept_affected.",
        )
        .statuses(&[409]),
        Operation::new(Method::GET, "/v1/duplicates", RequiredRight::InScope(Right::Read), duplicates)
            .summary("List groups of memories that say nearly the same in the same words")
            .description(
                "Each group has the memory to keep (pinned, else of the highest tier, else with the most energy) and its duplicates. Reads the texts of at most \
                 50,000 live memories, and 4,000,000 words and pairs of words, from the database; writes nothing. To merge a group: /v1/memories/{id}/merge.",
            )
            .long_read(),
        Operation::with_dry_run(
            Method::POST,
            "/v1/memories/{id}/merge",
            RequiredRight::InScope(Right::Admin),
            |request: &MergeRequest| request.dry_run,
            merge,
        )
        .summary("Merge memories that say the same into one, and delete them")
        .description(
            "The kept memory gets the energies, accesses, tags, metadata and mentions of all; its own fields of metadata win. \
             The texts of the others stay readable among its versions. Other relationships and learned weights of these are deleted.",
        )
        .statuses(&[404, 409]),
    ]
}

/// Those on named memories, and on their sessions.
fn by_id() -> Vec<Operation> {
    let (read, write) = (RequiredRight::InScope(Right::Read), RequiredRight::InScope(Right::Write));
    vec![
        Operation::new(Method::GET, "/v1/memories", read, list)
            .summary("List memories by id, with their current energy")
            .description("The default limit is 100; the Link header points to the next page.")
            .long_read(),
        Operation::new(Method::POST, "/v1/memories", write, remember)
            .summary("Store a memory")
            .description(
                "201 if it is new, 200 if the id exists with the same content, which counts as an access. Its tags and its \
                 provenance are then merged with the given ones; 409 if that makes more than 256 tags.",
            )
            .statuses(&[201, 409])
            .tool(REMEMBER_TOOL),
        Operation::new(Method::POST, "/v1/memories:batch", write, remember_all)
            .summary("Store memories in order, all or none")
            .statuses(&[409])
            .batch(),
        Operation::new(Method::GET, "/v1/memories/{id}", read, show)
            .summary("Show a memory")
            .statuses(&[404]),
        Operation::new(Method::PATCH, "/v1/memories/{id}", write, update)
            .summary("Change the text, the tags or the metadata of a memory")
            .description(
                "What is left out stays as it is. What the memory was stays readable under versions. This is no access: energy \
                 and tier stay as they are.",
            )
            .statuses(&[404, 409])
            .tool(UPDATE_TOOL),
        Operation::new(Method::GET, "/v1/memories/{id}/versions", read, versions)
            .summary("Show what a memory was before each change")
            .statuses(&[404]),
        Operation::new(Method::DELETE, "/v1/memories/{id}", RequiredRight::InScope(Right::Admin), forget)
            .summary("Delete a memory permanently, with its versions and stubs")
            .statuses(&[404, 409])
            .tool(FORGET_TOOL),
        Operation::new(Method::POST, "/v1/memories/{id}/access", write, access)
            .summary("Access a memory: add 1 to its energy, and revive it if expired")
            .statuses(&[404, 409])
            .tool(ACCESS_TOOL),
        Operation::new(Method::POST, "/v1/memories/{id}/pin", write, pin)
            .summary("Pin a memory: stop its decay, expiry and promotion")
            .statuses(&[404, 409])
            .tool(PIN_TOOL),
        Operation::new(Method::DELETE, "/v1/memories/{id}/pin", write, unpin)
            .summary("Unpin a memory: let it decay again from now on")
            .statuses(&[404, 409])
            .tool(UNPIN_TOOL),
        Operation::new(Method::GET, "/v1/memories/{id}/explain", read, explain)
            .summary("Explain the state of a memory and its next threshold crossings")
            .statuses(&[404, 409])
            .tool(EXPLAIN_TOOL),
        Operation::new(Method::POST, "/v1/memories/{id}/why-not", read, why_not)
            .summary("Explain why a memory is not among the hits of a recall, or why it is gone")
            .description(
                "The body is a request of /v1/recall; without a question, the answer concerns the memory alone. It ends at the \
                 first reason: not stored, forgotten, expired, not in the mirror, excluded by conditions, or ranked lower. \
                 Writes nothing, and counts neither as a recall nor as an access.",
            )
            .statuses(&[404]),
        Operation::new(Method::POST, "/v1/accesses:batch", write, access_all)
            .summary("Access memories in order, all or none")
            .statuses(&[404, 409])
            .batch(),
        Operation::with_dry_run(
            Method::POST,
            "/v1/sessions/{id}/end",
            write,
            |end: &End| end.dry_run,
            end_session,
        )
        .summary("End a session: promote its working memories above the threshold")
        .statuses(&[404, 409]),
    ]
}

async fn list(call: Call<Nothing, MemoryQuery>) -> Result<Answer<Memories>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    let at = call.instant(call.query.at).await?;
    let limit = call.query.limit.unwrap_or(PAGE);
    let filter = Filter {
        tiers: call.query.tier.into_iter().collect(),
        session: call.query.session.as_ref().map(ToString::to_string),
        ..Filter::default()
    };
    let after = call.query.cursor.clone().unwrap_or_default();
    let rows = MemoriesInOrder { backend: Arc::clone(&call.backend), scope: scope.clone(), filter, at };
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

/// Memories in order of their ids.
struct MemoriesInOrder {
    backend: Arc<Backend>,
    scope: Scope,
    filter: Filter,
    at: Timestamp,
}

impl Rows for MemoriesInOrder {
    type Row = Memory;
    /// Smaller than the default, because a memory may be long.
    const PAGE: usize = 128;
    const CURSORS: usize = 10_000;

    async fn read(&self, after: &str, limit: usize) -> Result<Vec<(String, Memory)>, Problem> {
        let listed = (&self.filter, MemoryOrder::Id);
        let service = &self.backend.service;
        let read =
            async |after: &str, limit| service.list(&self.scope, listed, (after, limit), self.at).await;
        let found = pages::fill(after, limit, read).await?;
        Ok(found.into_iter().map(|memory| (memory.id.clone(), memory)).collect())
    }

    async fn cursors(&self, after: &str, limit: usize) -> Result<Vec<String>, Problem> {
        let listed = (&self.filter, MemoryOrder::Id);
        let found = self.backend.service.list_keys(&self.scope, listed, (after, limit)).await?;
        Ok(found.keys.iter().map(|key| key.id().to_owned()).collect())
    }
}

const LIST_TOOL: Tool = Tool::new(
    "list_memories",
    &["filter", "sort", "limit", "cursor", "scope"],
    "List stored memories by conditions on tier, session, tags, text, metadata and creation, by id or the newest first, \
     with their current energy. A long content is cut. To find memories by meaning use recall. Writes nothing.",
)
.idempotent();

async fn search(call: Call<Nothing, Nothing, MemorySearch>) -> Result<Answer<FoundMemories>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let at = call.instant(call.body.at).await?;
    let filter = call.body.filter.checked().map_err(Problem::validation)?;
    let limit = call.body.limit.unwrap_or(PAGE);
    if !(1..=SEARCH_MAX).contains(&limit) {
        return Err(Problem::validation(format!("limit is {limit}; a page has 1 to {SEARCH_MAX} memories")));
    }
    let after = call.body.cursor.as_deref().unwrap_or_default();
    let page = (after, usize::try_from(limit).unwrap_or(usize::MAX));
    let (memories, cursor) = call.service().list(&scope, (&filter, call.body.sort), page, at).await?;
    Ok(Answer::ok(FoundMemories { memories, cursor }))
}

async fn forget_where(
    call: Call<Nothing, Nothing, ForgetMemories>,
) -> Result<Answer<ForgottenMemories>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let at = call.instant(None).await?;
    let ForgetMemories { filter, dry_run, accept_affected, .. } = &call.body;
    if filter.is_empty() {
        return Err(Problem::validation("filter: give at least one condition"));
    }
    let mode = if *dry_run { WriteMode::DryRun } else { call.write_once() };
    let conditions = filter.checked().map_err(Problem::validation)?;
    let chosen = (&scope, &conditions);
    Ok(Answer::ok(call.service().forget_where(&mode, chosen, at, *accept_affected).await?))
}

async fn duplicates(call: Call<Nothing, DuplicatesQuery>) -> Result<Answer<Duplicates>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    let at = call.instant(None).await?;
    Ok(Answer::ok(call.service().duplicates(&scope, &call.query, at).await?))
}

async fn merge(call: Call<MemoryPath, Nothing, MergeRequest>) -> Result<Answer<Memory>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let at = call.write_instant(call.body.at).await?;
    let mode = if call.body.dry_run { WriteMode::DryRun } else { call.write_once() };
    let kept = (&scope, &call.path.id);
    Ok(Answer::ok(call.service().merge(&mode, kept, &call.body.duplicates, at).await?))
}

const UPDATE_TOOL: Tool = Tool::new(
    "update_memory",
    &["id", "content", "tags", "metadata", "scope", REQUEST_ID],
    "Correct the text, the tags or the metadata of a memory; what is left out stays, and former versions are kept. content \
     replaces all of the text, so never send back one that ends with … [cut]. A null in metadata removes a field. Returns \
     the memory.",
);

async fn update(mut call: Call<MemoryPath, Nothing, MemoryPatch>) -> Result<Answer<Memory>, Problem> {
    let patch = std::mem::take(&mut call.body);
    let scope = call.scope(patch.scope.as_ref())?;
    let at = call.write_instant(patch.at).await?;
    let update = call.service().checked_update(&call.path.id, patch)?;
    let key = call.path.key(&scope);
    Ok(Answer::ok(call.service().update(&call.write_once(), &key, &update, at).await?))
}

async fn versions(call: Call<MemoryPath, ScopeQuery>) -> Result<Answer<Versions>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    let versions = call.service().versions(&call.path.key(&scope)).await?;
    Ok(Answer::ok(Versions { versions: versions.into_iter().map(Into::into).collect() }))
}

const FORGET_TOOL: Tool = Tool {
    is_destructive: true,
    is_idempotent: true,
    ..Tool::new(
        "forget_memory",
        &["id", "scope", REQUEST_ID],
        "Delete a memory permanently, with its former versions, such as at the request of a person. This cannot be undone; \
         a memory that is only of no use fades by itself.",
    )
};

const ACCESS_TOOL: Tool = Tool::new(
    "access_memory",
    &["id", "session", "revive", "scope", REQUEST_ID],
    "Record that a memory was used: adds 1 to its energy, so that it stays longer; enough accesses promote it. An expired \
     memory is revived; with revive false the call is refused instead. Each call counts. Not for hits that report_outcome names: it \
     records them.",
);

const PIN_TOOL: Tool = Tool::new(
    "pin_memory",
    &["id", "scope", REQUEST_ID],
    "Pin a memory, so that it does not decay, expire or get promoted. An expired one is refused: call access_memory first. \
     Returns the memory.",
)
.idempotent();

const UNPIN_TOOL: Tool = Tool::new(
    "unpin_memory",
    &["id", "scope", REQUEST_ID],
    "Unpin a memory, so that it decays again from now on. Returns the memory.",
)
.idempotent();

const REMEMBER_TOOL: Tool = Tool::new(
    "remember",
    &[
        "content",
        "id",
        "session",
        "mentions",
        "tags",
        "metadata",
        "provenance",
        "pinned",
        "scope",
        REQUEST_ID,
    ],
    "Store text for later sessions as a working memory, which decays unless it is accessed. Returns the memory with \
     its id, tier and energy. An existing id with the same content counts as an access; with other content it is refused: \
     use update_memory.",
);

async fn remember(mut call: Call<Nothing, Nothing, NewMemory>) -> Result<Answer<Memory>, Problem> {
    let new = std::mem::take(&mut call.body);
    let scope = call.scope(new.scope.as_ref())?;
    let at = call.write_instant(new.at).await?;
    let remember =
        call.service().remember_event(&call.request_id, 0, new, scope, at).map_err(Error::Invalid)?;
    let memory = call.service().remember(&call.write_once(), remember).await?;
    Ok(Answer::created(memory.did == Some(EventEffect::Created), memory))
}

async fn remember_all(
    mut call: Call<Nothing, Nothing, Items<NewMemory>>,
) -> Result<Answer<DoneAll>, Problem> {
    let items = std::mem::take(&mut call.body.0);
    let now = call.batch_instant(items.iter().map(|new| new.at)).await?;
    let mut events = Vec::with_capacity(items.len());
    for (index, new) in items.into_iter().enumerate() {
        let scope = call.scope(new.scope.as_ref())?;
        let remember = call.service().remember_event(&call.request_id, index, new, scope, now);
        events.push(Event::Remember(remember.map_err(|why| Error::Invalid(format!("[{index}]: {why}")))?));
    }
    apply_all(&call, &events).await
}

async fn apply_all<P, Q, B>(call: &Call<P, Q, B>, events: &[Event]) -> Result<Answer<DoneAll>, Problem> {
    let done = call.service().apply_all(&call.request_id, events).await?;
    let touched = |(id, did): (MemoryId, EventEffect)| Touched { id: id.to_string(), did };
    Ok(Answer::ok(DoneAll { memories: done.into_iter().map(touched).collect() }))
}

async fn show(call: Call<MemoryPath, ScopeAtQuery>) -> Result<Answer<Memory>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    let at = call.instant(call.query.at).await?;
    let memory = call.service().show(&call.path.key(&scope), at).await?;
    Ok(Answer::ok(memory))
}

const EXPLAIN_TOOL: Tool = Tool::new(
    "explain_memory",
    &["id", "scope"],
    "Explain why a memory has its tier and energy; takes an id, for instance of a hit of recall. Returns its current \
     energy, the thresholds that it will cross and when, and its history; writes nothing.",
)
.idempotent();

async fn explain(call: Call<MemoryPath, ExplainQuery>) -> Result<Answer<Explained>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    let at = call.instant(call.query.at).await?;
    let explanation = call.service().explain(&call.path.key(&scope), at).await?;
    Ok(Answer::ok(if call.query.curve { explanation.with_curve() } else { explanation.explained }))
}

async fn why_not(call: Call<MemoryPath, Nothing, RecallRequest>) -> Result<Answer<WhyNot>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let answer = call.service().why_not(&scope, &call.path.id, call.body.clone());
    Ok(Answer::ok(Box::pin(answer).await?))
}

async fn forget(call: Call<MemoryPath, ScopeQuery>) -> Result<Answer<Forgotten>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    let at = call.instant(None).await?;
    let id = &call.path.id;
    let ids = (&scope, std::slice::from_ref(id));
    let nodes = call.service().forget(&call.write_once(), ids, at, None).await?;
    Ok(Answer::ok(Forgotten { forgotten: vec![id.to_string()], nodes }))
}

async fn access(mut call: Call<MemoryPath, Nothing, AccessRequest>) -> Result<Answer<Memory>, Problem> {
    let access = std::mem::take(&mut call.body).of(call.path.id.clone());
    let scope = call.scope(access.scope.as_ref())?;
    let at = call.write_instant(access.at).await?;
    Ok(Answer::ok(call.service().access(&call.write_once(), access.event(scope, at)).await?))
}

async fn access_all(mut call: Call<Nothing, Nothing, Items<Access>>) -> Result<Answer<DoneAll>, Problem> {
    let items = std::mem::take(&mut call.body.0);
    let now = call.batch_instant(items.iter().map(|access| access.at)).await?;
    let mut events = Vec::with_capacity(items.len());
    for access in items {
        let scope = call.scope(access.scope.as_ref())?;
        events.push(Event::Access(access.event(scope, now)));
    }
    apply_all(&call, &events).await
}

async fn pin(call: Call<MemoryPath, Nothing, Pin>) -> Result<Answer<Memory>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let at = call.write_instant(call.body.at).await?;
    pinned(&call, &scope, true, at).await
}

async fn unpin(call: Call<MemoryPath, ScopeQuery>) -> Result<Answer<Memory>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    let at = call.instant(None).await?;
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
    let mode = call.write_once();
    let memory = call.service().pin(&mode, ids, pin, at).await?.pop();
    let memory = memory.ok_or_else(|| Problem::not_found(format!("there is no memory {id}")))?;
    Ok(Answer::ok(memory))
}

async fn end_session(call: Call<SessionPath, Nothing, End>) -> Result<Answer<SessionEnd>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let at = call.write_instant(call.body.at).await?;
    let End { threshold, dry_run, .. } = call.body;
    if threshold.is_some_and(|threshold| threshold < 0.0) {
        return Err(Problem::validation("threshold: an energy is a finite number, 0 or more"));
    }
    let mode = if dry_run { WriteMode::DryRun } else { call.write_once() };
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
