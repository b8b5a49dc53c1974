//! The router over all routes, and what surrounds every answer.

use super::api::Api;
use super::door::Needs;
use super::door::{self, Door};
use super::families::routes;
use super::input::{self, BODY_MAX};
use super::openapi;
use super::probes::{self, Ready};
use super::problem::{Code, Problem};
use super::room::QUEUE_LIMIT;
use super::status;
use crate::surfaces::mcp::{self, Place};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{MethodFilter, any, get, on};
use ebb_core::clock::new_id;
use ebb_core::domain::key::Right;
use http_body_util::BodyExt;
use std::sync::Arc;
use std::time::Instant;
use tracing::{Instrument, debug, info_span};

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
