//! The tools: what each is called, what it takes, whose right it needs, and what it does.

use super::tool::{Call, Tool, to_json};
use super::{Fault, decay};
use crate::surfaces::http::{Kind, UsedHit};
use ebb_core::api::outcome::Outcome;
use ebb_core::api::recall::{GivenSeed, RecallRequest};
use ebb_core::api::relation::WrittenEdge;
use ebb_core::domain::event::{Observe, Remember, Tie};
use ebb_core::domain::ids::{
    EntityName, MemoryId, MemoryKey, RecallId, RelationType, Scope, SessionId, Term,
};
use ebb_core::domain::key::Right;
use ebb_core::domain::outcome::{self, Used};
use ebb_core::domain::relation::Observation;
use ebb_core::domain::units::Weight;
use ebb_core::service::ObservationEffect;
use ebb_core::service::memories::WriteMode;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;

/// Every tool, listed in this order. `decay_scope` is named and described as the decay document has it.
pub(super) static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    vec![
        Tool::new("decay_scope", Right::Read, decay::call)
            .takes_schema(decay::schema())
            .shares(Kind::List)
            .says(decay::DESCRIPTION)
            .retracts(),
        Tool::new("recall", Right::Read, recall).takes::<Question>().settles().says(
            "Say what a question reminds of: memories, entities and places, by what joins them and by their words, with how \
             each was reached. It writes nothing.",
        ),
        Tool::new("remember", Right::Write, remember).takes::<RememberRequest>().says(
            "Remember something as a working memory. It fades unless it is used; with an id that exists and the same \
             content it counts as a use.",
        ),
        Tool::new("observe_relation", Right::Write, observe).takes::<ObservationRequest>().settles().says(
            "Say that a relation between two entities was seen. It weighs 1 from now on, or what you say, and fades until \
             it is seen again.",
        ),
        Tool::new("report_outcome", Right::Write, report).takes::<OutcomeRequest>().says(
            "Say which hits of a recall were of use, each with the path that its answer gave, and what they were worth. They \
             come to mind more easily together from then on, and trails lead there.",
        ),
        Tool::new("explain_memory", Right::Read, explain).takes::<MemoryRequest>().settles().says(
            "Say why a memory is where it is: its energy now, when it will cross which threshold, and what happened to it.",
        ),
        Tool::new("maintenance_status", Right::Read, status).takes::<Nothing>().settles().says(
            "Say how maintenance stands: jobs and their lag, tiers, what waits, attempts, what is set aside.",
        ),
    ]
});

/// A question.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Question {
    /// The question, in words.
    #[serde(default)]
    #[schemars(length(max = 65_536))]
    text: String,
    /// Ids to begin at; of an entity its name.
    #[serde(default)]
    #[schemars(length(max = 200))]
    seeds: Vec<Term>,
    /// How many hits at most; 20 where nothing is said.
    #[schemars(range(min = 1, max = 1_000))]
    top_k: Option<usize>,
    /// Only nodes of these labels, such as Memory.
    #[serde(default)]
    #[schemars(length(max = 64))]
    kinds: Vec<Term>,
    /// Whether to answer the texts of memories, 4 KiB of each at most; their first 200 bytes stand in label.
    #[serde(default)]
    content: bool,
    /// Whose data; the usual scope where none is named.
    scope: Option<Scope>,
}

async fn recall(call: Call, asked: Question) -> Result<Value, Fault> {
    let scope = call.scope(asked.scope.as_ref(), Right::Read)?;
    let asked = RecallRequest {
        text: asked.text,
        seeds: asked.seeds.into_iter().map(|id| GivenSeed { id, score: 1.0 }).collect(),
        top_k: asked.top_k.unwrap_or(RecallRequest::default().top_k),
        kinds: asked.kinds,
        content: asked.content,
        why: true,
        ..RecallRequest::default()
    };
    to_json(call.service().recall(&scope, asked).await.map_err(|why| Fault(why.to_string()))?)
}

/// Something to remember.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RememberRequest {
    /// What to remember.
    content: String,
    /// Its id; a new one where none is given.
    id: Option<MemoryId>,
    /// The session in which it is made.
    session: Option<SessionId>,
    /// Names of what it mentions.
    #[serde(default)]
    mentions: Vec<EntityName>,
    /// Whether it neither fades nor expires nor rises.
    #[serde(default)]
    pinned: bool,
    /// Whose data; the usual scope where none is named.
    scope: Option<Scope>,
    /// A name for this call: repeated under the same one, it counts once.
    request_id: Option<String>,
}

async fn remember(call: Call, new: RememberRequest) -> Result<Value, Fault> {
    let service = call.service();
    let scope = call.scope(new.scope.as_ref(), Right::Write)?;
    let request = call.request(new.request_id.as_deref())?;
    let id = match new.id {
        Some(id) => id,
        None => MemoryId::new(&request.names(0)).map_err(|why| Fault(why.to_string()))?,
    };
    let remember = Remember {
        at: service.instant(None).await?,
        id,
        scope,
        content: new.content,
        session: new.session,
        instance: None,
        mentions: new.mentions,
        pinned: new.pinned,
        embedding: None,
    };
    let remember = remember.checked().map_err(|why| Fault(why.to_string()))?;
    let memory = service.remember(&request.into(), remember).await?;
    to_json(memory)
}

/// A relation that was seen.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ObservationRequest {
    /// The entity it begins at.
    from: EntityName,
    /// What it says, such as works_on.
    #[serde(rename = "type")]
    kind: RelationType,
    /// The entity it ends at.
    to: EntityName,
    /// What it weighs: 1 where nothing is said.
    #[schemars(with = "Option<f64>", range(min = 0.0, max = 1.0))]
    weight: Option<Weight>,
    /// Whether it does not fade; as it was where nothing is said.
    pinned: Option<bool>,
    /// Whose data; the usual scope where none is named.
    scope: Option<Scope>,
    /// A name for this call: repeated under the same one, it counts once.
    request_id: Option<String>,
}

async fn observe(call: Call, seen: ObservationRequest) -> Result<Value, Fault> {
    let service = call.service();
    let scope = call.scope(seen.scope.as_ref(), Right::Write)?;
    let at = service.instant(None).await?;
    let tie = Tie { scope, from: seen.from, kind: seen.kind, to: seen.to };
    let observe = Observe { tie, seen: Observation { at, weight: seen.weight, pinned: seen.pinned } };
    let mode = WriteMode::Once(call.request(seen.request_id.as_deref())?);
    let done = service.observe(&mode, std::slice::from_ref(&observe)).await?;
    let outcome = done.first().copied().unwrap_or(ObservationEffect::Late);
    to_json(WrittenEdge::of(&observe.tie, Some(outcome), None, at, false))
}

/// What came of a recall.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OutcomeRequest {
    /// The recall_id of its answer.
    recall_id: RecallId,
    /// The hits that were of use, each once.
    #[schemars(length(min = 1, max = 1_000))]
    used: Vec<UsedHit>,
    /// What they were worth together, above 0 and at most 10: 1 where nothing is said.
    #[schemars(range(max = 10.0))]
    reward: Option<f64>,
    /// Whose data; the usual scope where none is named.
    scope: Option<Scope>,
    /// A name for this call: repeated under the same one, it counts once.
    request_id: Option<String>,
}

async fn report(call: Call, came: OutcomeRequest) -> Result<Value, Fault> {
    let service = call.service();
    let scope = call.scope(came.scope.as_ref(), Right::Write)?;
    let used = came.used.iter().map(Used::from).collect();
    let outcome = outcome::Outcome::new(came.recall_id, used, came.reward.unwrap_or(1.0));
    let outcome = outcome.map_err(|why| Fault(why.to_string()))?;
    let mode = WriteMode::Once(call.request(came.request_id.as_deref())?);
    let at = service.instant(None).await?;
    let reported = service.report(&mode, &scope, &outcome, at).await?;
    to_json(Outcome::of(&outcome, &reported, false))
}

/// A memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemoryRequest {
    /// Its id.
    id: MemoryId,
    /// Whose data; the usual scope where none is named.
    scope: Option<Scope>,
}

async fn explain(call: Call, which: MemoryRequest) -> Result<Value, Fault> {
    let scope = call.scope(which.scope.as_ref(), Right::Read)?;
    let at = call.service().instant(None).await?;
    to_json(call.service().explain(&MemoryKey::new(&scope, &which.id), at).await?.explained)
}

/// Nothing is asked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

async fn status(call: Call, _: Nothing) -> Result<Value, Fault> {
    if !call.caller.grant.allows_everywhere(Right::Read) {
        let why = "maintenance concerns the database as a whole and needs a key over every scope (*)";
        return Err(Fault(why.to_owned()));
    }
    let at = call.service().instant(None).await?;
    to_json(call.service().status(at).await?)
}
