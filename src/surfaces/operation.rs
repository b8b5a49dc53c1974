//! An operation: its method and path, the right it needs, its request and answer, the function that does the work, and the
//! tool as which it is offered, if it is. HTTP mounts the table of them (see `operations`), MCP offers those with a tool, and
//! the OpenAPI document is made of it, so none can know an operation that the others do not, or a field that is not read.
//!
//! Every call is run here, whichever surface it comes from, in this order: check the caller's right, read the request, wait
//! for a permit for work of its kind, and run. The permit is kept until the answer is written as JSON.

mod backend;
mod call;
#[cfg(any(test, fuzzing))]
pub(super) mod fuzzing;
pub(super) mod lines;
pub(super) mod pages;
pub(super) mod problem;
pub(super) mod tool;

pub(super) use backend::Backend;
pub(super) use call::{Answer, Call, Reply, ReplyBody};

use super::http::body::{self, BATCH_MAX, BODY_MAX};
use super::limits::{Limits, Permit, QUEUE_TIMEOUT, Work};
use axum::RequestExt;
use axum::extract::{Path, Request};
use axum::http::{HeaderMap, Method};
use ebb_core::api::input::Nothing;
use ebb_core::domain::key::Right;
use ebb_core::service::committing;
use ebb_core::service::keys::Caller;
use problem::Problem;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::any::TypeId;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tool::{Fields, Tool};

/// How long a caller over HTTP waits for work.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// The right that an operation needs, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequiredRight {
    /// In the scope of the request.
    InScope(Right),
    /// Over the database as a whole.
    Everywhere(Right),
}

impl RequiredRight {
    pub(super) fn right(self) -> Right {
        match self {
            Self::InScope(right) | Self::Everywhere(right) => right,
        }
    }

    /// Refuses a caller that has the right nowhere, or not everywhere. In which scope is checked when that is known.
    pub(super) fn check(self, caller: &Caller) -> Result<(), Problem> {
        let right = self.right().name();
        match self {
            Self::InScope(needed) if needed <= caller.grant.right => Ok(()),
            Self::Everywhere(needed) if caller.grant.allows_everywhere(needed) => Ok(()),
            Self::InScope(_) => Err(Problem::forbidden(format!("this key has no right to {right}"))),
            Self::Everywhere(_) => Err(Problem::forbidden(format!(
                "this concerns the database as a whole and needs a key with the right {right} over every scope (*)"
            ))),
        }
    }
}

/// A request as it came, not read yet.
pub(super) enum Incoming {
    Http(Request),
    Tool {
        arguments: Fields,
        request_id: Option<String>,
        /// The bytes of the message that it came in.
        held: Arc<Option<Permit>>,
    },
}

/// Where an answer names the change that it made. Bodies of documented routes are as documented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeIn {
    Header,
    /// The header, and the field `change` if the body is an object.
    Body,
}

type Running = Pin<Box<dyn Future<Output = Result<Reply, Problem>> + Send>>;
type Handler = Box<dyn Fn(Arc<Backend>, Caller, &Operation, Incoming) -> Running + Send + Sync>;
type Schemas = fn(&mut SchemaGenerator) -> Schema;

/// A type that a part of a request is read into.
pub(super) trait Input: DeserializeOwned + JsonSchema + Send + 'static {}
impl<T: DeserializeOwned + JsonSchema + Send + 'static> Input for T {}

/// An operation.
pub(super) struct Operation {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) right: RequiredRight,
    /// What it does, in a line.
    pub(super) summary: &'static str,
    pub(super) description: &'static str,
    /// Those of 201, 202, 404 and 409 that it can answer.
    pub(super) statuses: &'static [u16],
    /// Type of its answer.
    pub(super) media: &'static str,
    /// Bytes of its body at most.
    pub(super) body_max: usize,
    /// The kind of work, where it is no dry run.
    work: Work,
    /// How long it is waited for over HTTP; `None` as long as it takes.
    timeout: Option<Duration>,
    pub(super) tool: Option<Tool>,
    pub(super) path_schema: Schemas,
    pub(super) query_schema: Schemas,
    pub(super) body_schema: Option<Schemas>,
    pub(super) answer_schema: Schemas,
    #[cfg(any(test, fuzzing))]
    pub(super) readers: fuzzing::Readers,
    handler: Handler,
}

impl Operation {
    /// An operation whose requests are never dry runs.
    pub(super) fn new<P, Q, B, A, F, Fut>(
        method: Method,
        path: &'static str,
        right: RequiredRight,
        function: F,
    ) -> Self
    where
        P: Input,
        Q: Input,
        B: Input,
        A: Serialize + JsonSchema + Send + 'static,
        F: Fn(Call<P, Q, B>) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<Answer<A>, Problem>> + 'static,
    {
        Self::with_dry_run(method, path, right, |_| false, function)
    }

    /// An operation of which a request may be a dry run, which is a long read.
    pub(super) fn with_dry_run<P, Q, B, A, F, Fut>(
        method: Method,
        path: &'static str,
        right: RequiredRight,
        is_dry_run: fn(&B) -> bool,
        function: F,
    ) -> Self
    where
        P: Input,
        Q: Input,
        B: Input,
        A: Serialize + JsonSchema + Send + 'static,
        F: Fn(Call<P, Q, B>) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<Answer<A>, Problem>> + 'static,
    {
        let handler: Handler = Box::new(move |backend, caller, operation, incoming| {
            let function = function.clone();
            let (path, right, body_max, work) =
                (operation.path, operation.right, operation.body_max, operation.work);
            let timeout = operation.timeout.filter(|_| matches!(incoming, Incoming::Http(_)));
            Box::pin(async move {
                // A permit is taken after the request has been read: one that comes slowly keeps no other out.
                let (read, held) = match incoming {
                    Incoming::Http(request) => from_http(request, body_max, &backend.limits, &caller).await?,
                    Incoming::Tool { arguments, request_id, held } => {
                        (from_arguments(arguments, request_id, path)?, held)
                    }
                };
                let ReadRequest { path, query, body, request_id } = read;
                let request_id = caller.request(request_id.as_deref());
                let work = if is_dry_run(&body) { Work::List } else { work };
                let permit = backend.limits.permit(work, caller.name(), QUEUE_TIMEOUT).await?;
                let call =
                    Call { backend: Arc::clone(&backend), caller, right, request_id, path, query, body };
                let work = move || async move {
                    let _held = held;
                    let (answer, change) = committing(function(call)).await;
                    Reply::new(answer?, change.filter(|_| right.right() > Right::Read), permit)
                };
                backend.run(timeout, work).await
            })
        });
        let has_body = TypeId::of::<B>() != TypeId::of::<Nothing>();
        Self {
            method,
            path,
            right,
            summary: "",
            description: "",
            statuses: &[],
            media: "application/json",
            body_max: BODY_MAX,
            work: if right.right() == Right::Read { Work::Read } else { Work::Write },
            timeout: Some(WAIT_TIMEOUT),
            tool: None,
            path_schema: SchemaGenerator::root_schema_for::<P>,
            query_schema: SchemaGenerator::root_schema_for::<Q>,
            body_schema: has_body.then_some(SchemaGenerator::subschema_for::<B>),
            answer_schema: SchemaGenerator::subschema_for::<A>,
            #[cfg(any(test, fuzzing))]
            readers: fuzzing::Readers::of::<P, Q, B>(),
            handler,
        }
    }

    pub(super) fn summary(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    pub(super) fn description(self, description: &'static str) -> Self {
        Self { description, ..self }
    }

    /// Those of 201, 202, 404 and 409 that it can answer.
    pub(super) fn statuses(self, statuses: &'static [u16]) -> Self {
        Self { statuses, ..self }
    }

    /// Its body may be as large as that of a batch.
    pub(super) fn batch(self) -> Self {
        Self { body_max: BATCH_MAX, work: Work::Batch, ..self }
    }

    /// It is long work, and waited for as long as it takes.
    pub(super) fn no_timeout(self) -> Self {
        Self { timeout: None, work: Work::Batch, ..self }
    }

    /// It reads much: a list, or counts over the whole database or graph.
    pub(super) fn long_read(self) -> Self {
        Self { work: Work::List, ..self }
    }

    /// Its answer is lines of JSON, read while they are sent.
    pub(super) fn lines(self) -> Self {
        Self { media: "application/x-ndjson", ..self.long_read() }
    }

    /// MCP offers it as this tool.
    pub(super) fn tool(self, tool: Tool) -> Self {
        Self { tool: Some(tool), ..self }
    }

    pub(super) fn writes(&self) -> bool {
        self.method != Method::GET
    }

    /// Whether a request of it may be sent twice for one effect, by its `Idempotency-Key`.
    pub(super) fn takes_key(&self) -> bool {
        self.writes() && matches!(self.work, Work::Write | Work::Batch)
    }

    /// Whether its answer names the change of the graph that it made, in its body and in a header, or in the header alone.
    pub(super) fn names_change(&self) -> Option<ChangeIn> {
        let is_ours = self.path.starts_with("/v1/");
        let place = if is_ours { ChangeIn::Body } else { ChangeIn::Header };
        (self.writes() && self.right.right() > Right::Read).then_some(place)
    }

    /// Runs a call of it.
    pub(super) async fn run(
        &self,
        backend: &Arc<Backend>,
        caller: Caller,
        incoming: Incoming,
    ) -> Result<Reply, Problem> {
        self.right.check(&caller)?;
        (self.handler)(Arc::clone(backend), caller, self, incoming).await
    }
}

/// A request, read into its types.
struct ReadRequest<P, Q, B> {
    path: P,
    query: Q,
    body: B,
    /// The caller's own name for it.
    request_id: Option<String>,
}

async fn from_http<P, Q, B>(
    mut request: Request,
    body_max: usize,
    limits: &Limits,
    caller: &Caller,
) -> Result<(ReadRequest<P, Q, B>, Arc<Option<Permit>>), Problem>
where
    P: Input,
    Q: Input,
    B: Input,
{
    let path = request.extract_parts::<Path<P>>().await;
    let Path(path) = path.map_err(|why| Problem::validation(format!("the path: {}", why.body_text())))?;
    let query = body::query(request.uri().query())?;
    let request_id = body::idempotency_key(request.headers())?;
    let (parts, sent) = request.into_parts();
    let (body, held) = if TypeId::of::<B>() == TypeId::of::<Nothing>() {
        body::check_none(sent).await?;
        (body::json(&HeaderMap::new(), b"")?, None)
    } else {
        let (bytes, held) = body::read(&parts.headers, sent, body_max, limits, caller.name()).await?;
        (body::json(&parts.headers, &bytes)?, held)
    };
    Ok((ReadRequest { path, query, body, request_id }, Arc::new(held)))
}

/// Arguments that the path names are its parameters; the others are the body of an operation that has one, else its query.
fn from_arguments<P, Q, B>(
    mut arguments: Fields,
    request_id: Option<String>,
    path: &str,
) -> Result<ReadRequest<P, Q, B>, Problem>
where
    P: Input,
    Q: Input,
    B: Input,
{
    let names = path.split('{').skip(1).filter_map(|part| part.split('}').next());
    let parameters: Fields = names.filter_map(|name| arguments.remove_entry(name)).collect();
    let (query, body) = if TypeId::of::<B>() == TypeId::of::<Nothing>() {
        (arguments, Fields::new())
    } else {
        (Fields::new(), arguments)
    };
    Ok(ReadRequest {
        path: argument(parameters)?,
        query: argument(query)?,
        body: argument(body)?,
        request_id,
    })
}

/// Reads arguments of a tool as strictly as the body of a request.
pub(super) fn argument<T: Input>(fields: Fields) -> Result<T, Problem> {
    let read = serde_path_to_error::deserialize(Value::Object(fields));
    read.map_err(|why| Problem::validation(body::error_at(&why)))
}
