//! A route: its method, its path, the right it needs, what is said in path, query and body, what it answers, and who does
//! the work. The server and the OpenAPI document are both made from these, so neither can know a route that the other
//! does not, or a field that is not read.
//!
//! What every route has in common happens here, in this order: who asks, may they, what do they say, is there room for work
//! of this kind, and then the work, whose place is kept until the answer is written down. The work has a thread of its own and is never dropped half-way: a transaction whose future is dropped
//! keeps its locks until its connection is used again. A caller that has gone, or has waited long enough, does not end it.

use super::api::Api;
use super::door::Needs;
use super::input::{self, BATCH_MAX, BODY_MAX, Nothing};
use super::pages::List;
use super::problem::Problem;
use super::room::{Held, Kind, QUEUE_LIMIT};
use axum::RequestExt;
use axum::body::Body;
use axum::extract::{Path, Request};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use ebb_core::clock::SKEW_MAX;
use ebb_core::domain::ids::Scope;
use ebb_core::domain::key::Right;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::Service;
use ebb_core::service::keys::{Caller, NotYours};
use ebb_core::service::memories::RequestId;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::TypeId;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// How long work is waited for.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// What a handler is given.
pub(super) struct Call<P = Nothing, Q = Nothing, B = Nothing> {
    pub(super) api: Arc<Api>,
    pub(super) caller: Caller,
    needs: Needs,
    request: RequestId,
    pub(super) path: P,
    pub(super) query: Q,
    pub(super) body: B,
}

impl<P, Q, B> Call<P, Q, B> {
    pub(super) fn service(&self) -> &Service {
        &self.api.service
    }

    /// What makes a write count once.
    pub(super) fn request(&self) -> &RequestId {
        &self.request
    }

    /// The scope that is meant, which the caller may ask about: the one named, else the only one of its key, else the
    /// usual one.
    pub(super) fn scope(&self, named: Option<&Scope>) -> Result<Scope, Problem> {
        self.scope_for(named, self.needs.right())
    }

    /// The same, where another right is needed than the route's.
    pub(super) fn scope_for(&self, named: Option<&Scope>, right: Right) -> Result<Scope, Problem> {
        let (caller, usual) = (&self.caller, self.service().scope());
        caller.scope(named, usual, right).map_err(|why| match why {
            why @ NotYours::Several(_) => Problem::validation(why.to_string()),
            why @ NotYours::Forbidden(_) => Problem::forbidden(why.to_string()),
        })
    }

    /// The instant to look at.
    pub(super) async fn at(&self, asked: Option<Timestamp>) -> Result<Timestamp, Problem> {
        Ok(self.service().instant(asked).await?)
    }

    /// The instant that a write is to count from: now, unless an admin says otherwise.
    pub(super) async fn written_at(&self, asked: Option<Timestamp>) -> Result<Timestamp, Problem> {
        if let Some(at) = asked {
            if self.caller.grant.right < Right::Admin {
                return Err(Problem::forbidden("stating an instant (at) needs the right admin"));
            }
            let ahead = self.service().ahead(at).await?;
            if ahead > SKEW_MAX {
                let ahead = ahead.as_secs();
                return Err(Problem::validation(format!("at lies {ahead} s ahead of the server's clock")));
            }
        }
        self.at(asked).await
    }

    /// For a batch: sees to it that the caller may state the instants it states, and answers the one of whatever states
    /// none.
    pub(super) async fn written_at_latest(
        &self,
        stated: impl Iterator<Item = Timestamp>,
    ) -> Result<Timestamp, Problem> {
        self.written_at(stated.max()).await?;
        self.at(None).await
    }
}

/// What a handler answers.
pub(super) struct Answer<A> {
    status: StatusCode,
    body: Content<A>,
    next: Option<String>,
}

enum Content<A> {
    Whole(A),
    /// It looks as an `A` does, and is read while it is sent.
    List(List),
}

impl<A> Answer<A> {
    pub(super) fn ok(body: A) -> Self {
        Self { status: StatusCode::OK, body: Content::Whole(body), next: None }
    }

    /// 201 for something new, else 200.
    pub(super) fn made(new: bool, body: A) -> Self {
        Self { status: if new { StatusCode::CREATED } else { StatusCode::OK }, ..Self::ok(body) }
    }

    /// 202: it goes on after the answer.
    pub(super) fn accepted(body: A) -> Self {
        Self { status: StatusCode::ACCEPTED, ..Self::ok(body) }
    }

    /// A list, with the query of the next one, if there is one.
    pub(super) fn list(list: List, next: Option<impl Serialize>) -> Self {
        let next = next.and_then(|query| serde_urlencoded::to_string(query).ok());
        Self { status: StatusCode::OK, body: Content::List(list), next }
    }
}

type Working = Pin<Box<dyn Future<Output = Result<Response<Body>, Problem>> + Send>>;
type Handler = Box<dyn Fn(Arc<Api>, &Route, Request) -> Working + Send + Sync>;
type Schemas = fn(&mut SchemaGenerator) -> Schema;

/// What a part of a request is read into.
pub(super) trait Input: DeserializeOwned + JsonSchema + Send + 'static {}
impl<T: DeserializeOwned + JsonSchema + Send + 'static> Input for T {}

/// What an answer is made of.
pub(super) trait Output: Serialize + JsonSchema + Send + 'static {}
impl<T: Serialize + JsonSchema + Send + 'static> Output for T {}

/// A route.
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) needs: Needs,
    /// What it does, in a line.
    pub(super) summary: &'static str,
    /// What else is to be known.
    pub(super) description: &'static str,
    /// Whether it can answer 201, 202, 404, 409.
    pub(super) also: &'static [u16],
    /// Bytes of its body at most.
    pub(super) body_max: usize,
    /// What kind of work it is, where it is no dry run.
    kind: Kind,
    /// How long it is waited for; `None` as long as it takes.
    patience: Option<Duration>,
    pub(super) path_schema: Schemas,
    pub(super) query_schema: Schemas,
    pub(super) body_schema: Option<Schemas>,
    pub(super) answer_schema: Schemas,
    handler: Handler,
}

impl Route {
    fn new<P, Q, B, A, F, Fut>(
        method: Method,
        path: &'static str,
        needs: Needs,
        is_dry: fn(&B) -> bool,
        work: F,
    ) -> Self
    where
        P: Input,
        Q: Input,
        B: Input,
        A: Output,
        F: Fn(Call<P, Q, B>) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<Answer<A>, Problem>> + 'static,
    {
        let silent = TypeId::of::<B>() == TypeId::of::<Nothing>();
        let handler: Handler = Box::new(move |api, route, request| {
            let work = work.clone();
            let (needs, body_max, patience, path) = (route.needs, route.body_max, route.patience, route.path);
            let kind = route.kind;
            Box::pin(async move {
                let caller = api.enter(request.headers(), needs).await?;
                let name = caller.name().to_owned();
                // A place is taken by whoever has said all: one that dawdles keeps nobody out.
                let (call, body) = read(Arc::clone(&api), caller, needs, request, silent, body_max).await?;
                let kind = if is_dry(&call.body) { Kind::List } else { kind };
                let place = api.room.place(kind, &name, QUEUE_LIMIT).await?;
                let owned = Arc::clone(&api);
                let work = move || async move {
                    let _held = (place, body);
                    let answer = work(call).await?;
                    sent(&owned, &name, answer, path).await
                };
                api.work(patience, work).await
            })
        });
        Self {
            method,
            path,
            needs,
            summary: "",
            description: "",
            also: &[],
            body_max: BODY_MAX,
            kind: if needs.right() == Right::Read { Kind::Read } else { Kind::Write },
            patience: Some(WAIT_TIMEOUT),
            path_schema: SchemaGenerator::root_schema_for::<P>,
            query_schema: SchemaGenerator::root_schema_for::<Q>,
            body_schema: (!silent).then_some(SchemaGenerator::subschema_for::<B>),
            answer_schema: SchemaGenerator::subschema_for::<A>,
            handler,
        }
    }

    /// A route that only looks.
    pub(super) fn get<P, Q, A, F, Fut>(path: &'static str, needs: Needs, work: F) -> Self
    where
        P: Input,
        Q: Input,
        A: Output,
        F: Fn(Call<P, Q>) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<Answer<A>, Problem>> + 'static,
    {
        Self::new(Method::GET, path, needs, |_| false, work)
    }

    /// A route that does something.
    pub(super) fn post<P, B, A, F, Fut>(path: &'static str, needs: Needs, work: F) -> Self
    where
        P: Input,
        B: Input,
        A: Output,
        F: Fn(Call<P, Nothing, B>) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<Answer<A>, Problem>> + 'static,
    {
        Self::new(Method::POST, path, needs, |_| false, work)
    }

    /// A route that does something, or says what it would do.
    pub(super) fn post_or_dry<P, B, A, F, Fut>(
        path: &'static str,
        needs: Needs,
        is_dry: fn(&B) -> bool,
        work: F,
    ) -> Self
    where
        P: Input,
        B: Input,
        A: Output,
        F: Fn(Call<P, Nothing, B>) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<Answer<A>, Problem>> + 'static,
    {
        Self::new(Method::POST, path, needs, is_dry, work)
    }

    /// A route that sets something, in the place of what was there.
    pub(super) fn put<P, B, A, F, Fut>(path: &'static str, needs: Needs, work: F) -> Self
    where
        P: Input,
        B: Input,
        A: Output,
        F: Fn(Call<P, Nothing, B>) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<Answer<A>, Problem>> + 'static,
    {
        Self::new(Method::PUT, path, needs, |_| false, work)
    }

    /// A route that takes something away.
    pub(super) fn delete<P, Q, A, F, Fut>(path: &'static str, needs: Needs, work: F) -> Self
    where
        P: Input,
        Q: Input,
        A: Output,
        F: Fn(Call<P, Q>) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<Answer<A>, Problem>> + 'static,
    {
        Self::new(Method::DELETE, path, needs, |_| false, work)
    }

    /// What it does, in a line, for the document.
    pub(super) fn says(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    /// What else is to be known, for the document.
    pub(super) fn note(self, description: &'static str) -> Self {
        Self { description, ..self }
    }

    /// What it can answer besides what every route can: 201, 202, 404, 409.
    pub(super) fn also(self, statuses: &'static [u16]) -> Self {
        Self { also: statuses, ..self }
    }

    /// Its body may be as large as that of a batch.
    pub(super) fn batch(self) -> Self {
        Self { body_max: BATCH_MAX, kind: Kind::Batch, ..self }
    }

    /// It is long work, and waited for as long as it takes.
    pub(super) fn patient(self) -> Self {
        Self { patience: None, kind: Kind::Batch, ..self }
    }

    /// It reads much: a list, or what is counted over all there is.
    pub(super) fn reads_much(self) -> Self {
        Self { kind: Kind::List, ..self }
    }

    /// Whether it changes anything.
    pub(super) fn writes(&self) -> bool {
        self.method != Method::GET
    }

    /// Answers a request.
    pub(super) fn answer(&self, api: Arc<Api>, request: Request) -> Working {
        (self.handler)(api, self, request)
    }
}

/// What a request says.
async fn read<P, Q, B>(
    api: Arc<Api>,
    caller: Caller,
    needs: Needs,
    mut request: Request,
    silent: bool,
    body_max: usize,
) -> Result<(Call<P, Q, B>, Option<Held>), Problem>
where
    P: DeserializeOwned + Send + 'static,
    Q: DeserializeOwned,
    B: DeserializeOwned,
{
    let path = request.extract_parts::<Path<P>>().await;
    let Path(path) = path.map_err(|why| Problem::validation(format!("the path: {}", why.body_text())))?;
    let query = input::query(request.uri().query())?;
    let key = input::idempotency_key(request.headers())?;
    let name = caller.request(key.as_deref());
    let (parts, body) = request.into_parts();
    let (body, held) = if silent {
        (input::json(&HeaderMap::new(), b"")?, None)
    } else {
        let (bytes, held) = input::body(&parts.headers, body, body_max, &api.room, caller.name()).await?;
        (input::json(&parts.headers, &bytes)?, held)
    };
    Ok((Call { api, caller, needs, request: name, path, query, body }, held))
}

async fn sent<A: Serialize>(
    api: &Arc<Api>,
    caller: &str,
    answer: Answer<A>,
    path: &str,
) -> Result<Response<Body>, Problem> {
    let body = match answer.body {
        Content::Whole(body) => {
            let bytes = serde_json::to_vec(&body).map_err(Problem::own_fault)?;
            drop(body);
            Body::from(api.room.answer(caller, bytes, QUEUE_LIMIT).await?)
        }
        Content::List(list) => list.body(api, caller).await?,
    };
    let mut response = Response::new(body);
    *response.status_mut() = answer.status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(next) = &answer.next {
        let link = HeaderValue::from_str(&format!("<{path}?{next}>; rel=\"next\""));
        headers.insert(header::LINK, link.map_err(Problem::own_fault)?);
    }
    Ok(response)
}
