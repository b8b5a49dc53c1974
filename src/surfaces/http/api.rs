//! The API: what all its routes share, and the router over them.
//!
//! A family of routes is a file with a function `routes`, and a line in [`FAMILIES`]. The server mounts them, the OpenAPI
//! document lists them, and the tests ask each of them with every kind of key.

use super::door::{self, Door, Rules};
use super::input::{self, BODY_MAX};
use super::openapi;
use super::probes::{self, Ready};
use super::problem::{Code, Problem};
use super::room::{QUEUE_LIMIT, Room, Usage};
use super::route::{Needs, Route};
use super::{engine, facts, jobs, memories, outcomes, recall, relations, server, status, sweeps, trails};
use crate::surfaces::mcp::{self, OverHttp, Place};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{MethodFilter, any, get, on};
use ebb_core::clock::new_id;
use ebb_core::domain::key::Right;
use ebb_core::service::Service;
use ebb_core::service::keys::{Caller, Keyring};
use http_body_util::BodyExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{Instrument, Span, debug, info_span};

/// Every family of routes.
const FAMILIES: [fn() -> Vec<Route>; 10] = [
    relations::routes,
    memories::routes,
    facts::routes,
    sweeps::routes,
    trails::routes,
    recall::routes,
    engine::routes,
    outcomes::routes,
    jobs::routes,
    server::routes,
];

/// All routes.
pub(super) fn routes() -> Vec<Route> {
    FAMILIES.iter().flat_map(|family| family()).collect()
}

/// Responses so far, by the first digit of their status.
#[derive(Debug, Default)]
pub struct Answered([AtomicU64; 4]);

impl Answered {
    /// The classes of statuses, each with its count.
    #[must_use]
    pub fn by_class(&self) -> [(&'static str, u64); 4] {
        let [ok, moved, refused, failed] = &self.0;
        [("2xx", ok), ("3xx", moved), ("4xx", refused), ("5xx", failed)]
            .map(|(class, count)| (class, count.load(Ordering::Relaxed)))
    }

    fn count(&self, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100);
        if let Some(count) = class.checked_sub(2).and_then(|class| self.0.get(class)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// What every request has to do with.
pub struct Api {
    pub(super) service: Arc<Service>,
    door: Door,
    pub(super) room: Room,
    work: TaskTracker,
    /// Told when nothing new is to begin.
    pub(super) stop: CancellationToken,
    answered: Arc<Answered>,
    tools: Option<OverHttp>,
}

impl Api {
    /// An API over a service, which has so many connections for it. At `stop` it begins nothing new.
    #[must_use]
    pub fn new(service: Arc<Service>, rules: Rules, connections: usize, stop: CancellationToken) -> Self {
        let keys = Keyring::new(service.share_store());
        Self {
            service,
            door: Door::new(rules, keys),
            room: Room::over(connections),
            work: TaskTracker::new(),
            stop,
            answered: Arc::default(),
            tools: None,
        }
    }

    /// With the tools of MCP at /mcp.
    #[must_use]
    pub fn with_tools(self, tools: OverHttp) -> Self {
        Self { tools: Some(tools), ..self }
    }

    /// How it has answered so far.
    #[must_use]
    pub fn answered(&self) -> Arc<Answered> {
        Arc::clone(&self.answered)
    }

    /// Waits until all work that was begun has ended.
    pub async fn drained(&self) {
        self.work.close();
        self.work.wait().await;
    }

    /// Who asks, if they may do what a route needs. Over which scope is looked at when it is known which.
    pub(super) async fn enter(&self, headers: &HeaderMap, needs: Needs) -> Result<Caller, Problem> {
        if self.stop.is_cancelled() {
            return Err(Problem::unavailable("Ebb is shutting down", 5));
        }
        let caller = self.door.caller(headers).await?;
        let allowed = match needs {
            Needs::InScope(right) => right <= caller.grant.right,
            Needs::Everywhere(right) => caller.grant.allows_everywhere(right),
        };
        if allowed {
            return Ok(caller);
        }
        let right = needs.right().name();
        Err(Problem::forbidden(match needs {
            Needs::InScope(_) => format!("this key has no right to {right}"),
            Needs::Everywhere(_) => {
                format!(
                    "this concerns the database as a whole and needs a key with the right {right} over every scope (*)"
                )
            }
        }))
    }

    /// How much of its room is used.
    #[must_use]
    pub fn usage(&self) -> [(&'static str, Usage); 6] {
        self.room.usage()
    }

    /// Does work on a thread of its own, which what asks the database is bound to, and waits for it, for a while.
    pub(super) async fn work<A, Fut>(
        self: &Arc<Self>,
        patience: Option<Duration>,
        work: impl FnOnce() -> Fut + Send + 'static,
    ) -> Result<A, Problem>
    where
        A: Send + 'static,
        Fut: Future<Output = Result<A, Problem>>,
    {
        let (api, runtime, span) = (Arc::clone(self), Handle::current(), Span::current());
        let task = self.work.spawn_blocking(move || {
            let _entered = span.entered();
            runtime.block_on(async {
                api.service.prepared().await?;
                Box::pin(work()).await
            })
        });
        let done = match patience {
            None => task.await,
            Some(patience) => tokio::time::timeout(patience, task).await.map_err(|_| {
                let detail = format!(
                    "no answer within {} s; the work goes on. Repeat it with the same Idempotency-Key, and it counts once",
                    patience.as_secs()
                );
                Problem::unavailable(detail, 5)
            })?,
        };
        done.map_err(Problem::own_fault)?
    }
}

/// The router: every route, the probes, the document, the status page. `metrics` writes its page anew for each that asks.
pub fn router(
    api: &Arc<Api>,
    ready: impl Fn() -> Ready + Clone + Send + Sync + 'static,
    metrics: impl Fn() -> String + Send + Sync + 'static,
) -> Router {
    let mut router =
        Router::new().route("/", get(status::page)).route("/openapi.json", get(openapi::document));
    for route in routes() {
        let path = route.path;
        // Only the usual methods are made into routes.
        let Ok(filter) = MethodFilter::try_from(route.method.clone()) else { continue };
        let route = Arc::new(route);
        let answer = move |State(api): State<Arc<Api>>, request: Request| {
            let route = Arc::clone(&route);
            async move { route.answer(api, request).await }
        };
        router = router.route(path, on(filter, answer));
    }
    if let Some(tools) = api.tools.clone() {
        let answer = move |State(api): State<Arc<Api>>, request: Request| {
            let tools = tools.clone();
            async move {
                let caller = api.enter(request.headers(), Needs::InScope(Right::Read)).await?;
                let (mut parts, sent) = request.into_parts();
                let name = caller.name().to_owned();
                // A place is taken by whoever has said all: one that dawdles keeps nobody out.
                let (sent, held) = input::body(&parts.headers, sent, BODY_MAX, &api.room, &name).await?;
                let place = api.room.place(mcp::kind(&sent), &name, QUEUE_LIMIT).await?;
                let place: Place = Arc::new((place, held));
                parts.extensions.insert(caller);
                parts.extensions.insert(place);
                let (parts, told) =
                    tools.handle(Request::from_parts(parts, Body::from(sent))).await.into_parts();
                // Answers are whole: JSON, never a stream.
                let told = told.collect().await.map_err(Problem::own_fault)?.to_bytes();
                let told = api.room.answer(&name, told.into(), QUEUE_LIMIT).await?;
                Ok::<_, Problem>(Response::from_parts(parts, Body::from(told)))
            }
        };
        router = router.route("/mcp", any(answer));
    }
    let metrics = Arc::new(metrics);
    let page = move |State(api): State<Arc<Api>>, headers: HeaderMap| async move {
        // What is counted is of every scope; on this machine alone anybody may know.
        if !api.door.is_open() {
            api.enter(&headers, Needs::Everywhere(Right::Read)).await?;
        }
        Ok::<_, Problem>(probes::page(metrics()))
    };
    let nowhere = |request: Request| async move {
        Problem::not_found(format!("there is no {}; /openapi.json lists what there is", request.uri().path()))
    };
    let other_method = |method: Method| async move {
        let detail = format!("{method} is not understood here; Allow names what is");
        Problem::new(StatusCode::METHOD_NOT_ALLOWED, Code::Validation, detail)
    };
    router
        .route("/metrics", get(page))
        .fallback(nowhere)
        .method_not_allowed_fallback(other_method)
        .with_state(Arc::clone(api))
        .merge(probes::probes(ready, api.door.is_open()))
        .layer(from_fn_with_state(Arc::clone(api), around))
}

/// What surrounds every answer: its id, the look at where the request comes from, its problem in words, the counts.
async fn around(State(api): State<Arc<Api>>, request: Request, next: Next) -> Response<Body> {
    let id = new_id();
    let (method, path, begun) = (request.method().clone(), request.uri().path().to_owned(), Instant::now());
    let span = info_span!("http", request_id = id);
    let answer = async {
        let (parts, body) = request.into_parts();
        match api.door.looks_right(&parts) {
            Err(problem) => problem.into_response(),
            Ok(origin) => {
                let preflight = Door::preflight(&method, &parts.headers).filter(|_| origin.is_some());
                let mut response = match preflight {
                    Some(response) => response,
                    None => next.run(Request::from_parts(parts, body)).await,
                };
                Door::share(origin, &mut response);
                response
            }
        }
    };
    let mut response = answer.instrument(span).await;
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        let headers = std::mem::take(response.headers_mut());
        response = problem.response(&id);
        for (name, value) in headers {
            // Those of the empty body say nothing of this one.
            if let Some(name) = name.filter(|name| *name != header::CONTENT_LENGTH) {
                response.headers_mut().entry(name).or_insert(value);
            }
        }
    }
    door::keep(&mut response);
    debug!(request_id = id, %method, path, status = response.status().as_u16(), elapsed_ms = begun.elapsed().as_millis());
    api.answered.count(response.status());
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(HeaderName::from_static("x-request-id"), id);
    }
    response
}
