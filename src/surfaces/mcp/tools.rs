//! The tools: what each is called, what it takes, whose right it needs, and what it does.

use super::{Fault, Place, Tools, decay};
use crate::surfaces::answer::memory::{Explained, Shown};
use crate::surfaces::answer::outcome::Outcome;
use crate::surfaces::answer::recall::Recall;
use crate::surfaces::answer::relation::WrittenEdge;
use crate::surfaces::answer::server::Status;
use crate::surfaces::http::{AnyTerm, KEY_MAX, Kind, Name, UsedHit, told};
use ebb_core::domain::event::{Observe, Remember, Tie};
use ebb_core::domain::ids::{
    EntityName, MemoryId, MemoryKey, RecallId, RelationType, Scope, SessionId, Term,
};
use ebb_core::domain::key::Right;
use ebb_core::domain::outcome::{self, Used};
use ebb_core::domain::relation::Observation;
use ebb_core::domain::units::Weight;
use ebb_core::service::keys::Caller;
use ebb_core::service::memories::{RequestId, WriteMode};
use ebb_core::service::recall::{Ask, Filter};
use ebb_core::service::{Observed, Service};
use rmcp::model::{JsonObject, Tool as Described, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::pin::Pin;
use std::sync::LazyLock;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tracing::error;

type Working = Pin<Box<dyn Future<Output = Result<Value, Fault>> + Send>>;

/// A tool.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    /// The least right that is of any use with it.
    pub(super) needs: Right,
    /// Whose places it takes over HTTP.
    pub(super) kind: Kind,
    /// Whether a call may take away what was there, and whether a second one changes nothing more.
    hints: (bool, bool),
    schema: JsonObject,
    work: Box<dyn Fn(Call, Value) -> Working + Send + Sync>,
}

/// Who calls, and what.
pub(super) struct Call {
    pub(super) tools: Tools,
    pub(super) caller: Caller,
    /// Held until the work has ended; over stdio there is none.
    pub(super) place: Option<Place>,
}

/// Every tool, listed in this order. `decay_scope` is named and described as the decay document has it.
pub(super) static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    vec![
        Tool { schema: decay::schema(), kind: Kind::List, ..Tool::new("decay_scope", Right::Read, decay::call) }
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

impl Tool {
    /// The work has a thread of its own, as that of a route has: it ends as it began, whoever goes meanwhile.
    fn new<T, F, Fut>(name: &'static str, needs: Right, work: F) -> Self
    where
        T: DeserializeOwned + Send + 'static,
        F: Fn(Call, T) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<Value, Fault>>,
    {
        let work = move |call: Call, said| -> Working {
            let work = work.clone();
            Box::pin(async move {
                let (said, runtime) = (read(said)?, Handle::current());
                let task = spawn_blocking(move || {
                    // Given back when the work has ended, whoever waits for it.
                    let _place = call.place.clone();
                    runtime.block_on(async {
                        call.service().prepared().await?;
                        work(call, said).await
                    })
                });
                task.await.unwrap_or_else(|fallen| {
                    error!(tool = name, %fallen, "a call met a fault");
                    Err(Fault("Ebb met a fault of its own; its log says which".to_owned()))
                })
            })
        };
        Self {
            name,
            description: "",
            needs,
            kind: if needs == Right::Read { Kind::Read } else { Kind::Write },
            hints: (false, false),
            schema: JsonObject::new(),
            work: Box::new(work),
        }
    }

    fn says(self, description: &'static str) -> Self {
        Self { description, ..self }
    }

    fn takes<T: JsonSchema>(self) -> Self {
        Self { schema: schema::<T>(), ..self }
    }

    /// It may take confidence away, and a second call changes nothing more.
    fn retracts(self) -> Self {
        Self { hints: (true, true), ..self }
    }

    /// A second call changes nothing more.
    fn settles(self) -> Self {
        Self { hints: (self.hints.0, true), ..self }
    }

    /// As clients see it.
    pub(super) fn described(&self) -> Described {
        let (takes_away, settles) = self.hints;
        let annotations = ToolAnnotations::new()
            .read_only(self.needs == Right::Read && !takes_away)
            .destructive(takes_away)
            .idempotent(settles)
            .open_world(false);
        Described::new(self.name, self.description, self.schema.clone()).with_annotations(annotations)
    }

    pub(super) async fn call(&self, call: Call, said: Value) -> Result<Value, Fault> {
        (self.work)(call, said).await
    }
}

/// What a type takes, as JSON Schema, whole in itself.
fn schema<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let made = settings.for_deserialize().into_generator().into_root_schema_for::<T>();
    let mut fields = made.as_object().cloned().unwrap_or_default();
    // Names of our types and of the dialect say nothing to a client.
    fields.retain(|name, _| name != "$schema" && name != "title");
    fields
}

fn read<T: DeserializeOwned>(said: Value) -> Result<T, Fault> {
    serde_path_to_error::deserialize(said).map_err(|why| Fault(told(&why)))
}

pub(super) fn said(answer: impl Serialize) -> Result<Value, Fault> {
    serde_json::to_value(answer).map_err(|why| Fault(format!("the answer cannot be written as JSON: {why}")))
}

impl Call {
    pub(super) fn service(&self) -> &Service {
        &self.tools.service
    }

    /// The scope that is meant, over which the caller has the right.
    pub(super) fn scope(&self, named: Option<&Scope>, right: Right) -> Result<Scope, Fault> {
        self.caller.scope(named, self.service().scope(), right).map_err(|why| Fault(why.to_string()))
    }

    /// What makes a write count once.
    fn request(&self, named: Option<&str>) -> Result<RequestId, Fault> {
        if named.is_some_and(|named| named.is_empty() || named.len() > KEY_MAX) {
            return Err(Fault(format!("request_id: it must have 1 to {KEY_MAX} bytes")));
        }
        Ok(self.caller.request(named))
    }
}

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
    #[schemars(with = "Vec<AnyTerm>")]
    seeds: Vec<Term>,
    /// How many hits at most; 20 where nothing is said.
    #[schemars(range(min = 1, max = 1_000))]
    top_k: Option<usize>,
    /// Only nodes of these labels, such as Memory.
    #[serde(default)]
    #[schemars(length(max = 64))]
    #[schemars(with = "Vec<AnyTerm>")]
    kinds: Vec<Term>,
    /// Whether to answer the texts of memories, 4 KiB of each at most; their first 200 bytes stand in label.
    #[serde(default)]
    content: bool,
    /// Whose data; the usual scope where none is named.
    #[schemars(with = "Option<Name>")]
    scope: Option<Scope>,
}

async fn recall(call: Call, asked: Question) -> Result<Value, Fault> {
    let scope = call.scope(asked.scope.as_ref(), Right::Read)?;
    let usual = call.service().usual();
    let ask = Ask {
        text: asked.text,
        seeds: asked.seeds.into_iter().map(|id| (id.into(), 1.0)).collect(),
        top_k: asked.top_k.unwrap_or(usual.top_k),
        filter: Filter { kinds: asked.kinds.into_iter().map(Into::into).collect(), ..usual.filter },
        ..usual
    };
    let answered = call.service().recall(&scope, ask, asked.content).await;
    said(Recall::of(answered.map_err(|why| Fault(why.to_string()))?, true))
}

/// Something to remember.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RememberRequest {
    /// What to remember.
    content: String,
    /// Its id; a new one where none is given.
    #[schemars(with = "Option<Name>")]
    id: Option<MemoryId>,
    /// The session in which it is made.
    #[schemars(with = "Option<Name>")]
    session: Option<SessionId>,
    /// Names of what it mentions.
    #[serde(default)]
    #[schemars(with = "Vec<Name>")]
    mentions: Vec<EntityName>,
    /// Whether it neither fades nor expires nor rises.
    #[serde(default)]
    pinned: bool,
    /// Whose data; the usual scope where none is named.
    #[schemars(with = "Option<Name>")]
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
    let (done, memory) = service.remember(&request.into(), remember).await?;
    said(Shown::after(memory, Some(done), false))
}

/// A relation that was seen.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ObservationRequest {
    /// The entity it begins at.
    #[schemars(with = "Name")]
    from: EntityName,
    /// What it says, such as works_on.
    #[serde(rename = "type")]
    #[schemars(with = "Name")]
    kind: RelationType,
    /// The entity it ends at.
    #[schemars(with = "Name")]
    to: EntityName,
    /// What it weighs: 1 where nothing is said.
    #[schemars(with = "Option<f64>", range(min = 0.0, max = 1.0))]
    weight: Option<Weight>,
    /// Whether it does not fade; as it was where nothing is said.
    pinned: Option<bool>,
    /// Whose data; the usual scope where none is named.
    #[schemars(with = "Option<Name>")]
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
    let outcome = done.first().copied().unwrap_or(Observed::Late);
    said(WrittenEdge::of(&observe.tie, Some(outcome), None, at, false))
}

/// What came of a recall.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OutcomeRequest {
    /// The recall_id of its answer.
    #[schemars(with = "Name")]
    recall_id: RecallId,
    /// The hits that were of use, each once.
    #[schemars(length(min = 1, max = 1_000))]
    used: Vec<UsedHit>,
    /// What they were worth together, above 0 and at most 10: 1 where nothing is said.
    #[schemars(range(max = 10.0))]
    reward: Option<f64>,
    /// Whose data; the usual scope where none is named.
    #[schemars(with = "Option<Name>")]
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
    said(Outcome::of(&outcome, &reported, false))
}

/// A memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemoryRequest {
    /// Its id.
    #[schemars(with = "Name")]
    id: MemoryId,
    /// Whose data; the usual scope where none is named.
    #[schemars(with = "Option<Name>")]
    scope: Option<Scope>,
}

async fn explain(call: Call, which: MemoryRequest) -> Result<Value, Fault> {
    let scope = call.scope(which.scope.as_ref(), Right::Read)?;
    let at = call.service().instant(None).await?;
    said(Explained::from(call.service().explain(&MemoryKey::new(&scope, &which.id), at).await?))
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
    said(Status::from(call.service().status(at).await?))
}
