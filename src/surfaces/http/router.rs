//! The router of all operations, and the middleware of every response: request id, headers, log line.

use super::api::Api;
use super::authorization::{self, Authorization};
use super::body::{self, BODY_MAX};
use super::browser;
use super::openapi;
use super::probes::{self, Readiness};
use super::status;
use crate::surfaces::limits::QUEUE_TIMEOUT;
use crate::surfaces::mcp::OverHttp;
use crate::surfaces::operation::problem::{Code, Problem};
use crate::surfaces::operation::{ChangeIn, Incoming, Operation, Reply, ReplyBody, RequiredRight};
use crate::surfaces::operations::operations;
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

/// The header with the change that a write made.
pub(super) const CHANGE_HEADER: HeaderName = HeaderName::from_static("ebb-change");

/// The router: all operations, the OpenAPI document, the status page and the guide, unless the API has none; the tools, if it has
/// any; the probes. `metrics` renders its page for each request.
pub fn router(
    api: &Arc<Api>,
    ready: impl Fn() -> Readiness + Clone + Send + Sync + 'static,
    metrics: impl Fn() -> String + Send + Sync + 'static,
) -> Router {
    let has_operations = api.has_operations;
    let mut router = if has_operations { with_operations() } else { Router::new() };
    if let Some(tools) = api.tools.clone() {
        let answer = move |State(api): State<Arc<Api>>, request: Request| {
            let tools = tools.clone();
            async move { answer_tools(&api, tools, request).await }
        };
        router = router.route("/mcp", any(answer));
    }
    let metrics = Arc::new(metrics);
    let page = move |State(api): State<Arc<Api>>, headers: HeaderMap| async move {
        // Metrics count every scope; they need no key if only this machine has access.
        if !api.authorization.is_open() {
            RequiredRight::Everywhere(Right::Read).check(&api.caller(&headers).await?)?;
        }
        Ok::<_, Problem>(probes::page(metrics()))
    };
    let nowhere = move |request: Request| async move {
        let served = match has_operations {
            true => "/openapi.json lists all routes",
            false => "this process serves /mcp, probes and metrics, and with --roles http,mcp the API, too",
        };
        Problem::not_found(format!("there is no {}; {served}", request.uri().path()))
    };
    let other_method = |method: Method| async move {
        let detail = format!("{method} is not allowed here; the header Allow lists the methods");
        Problem::new(StatusCode::METHOD_NOT_ALLOWED, Code::Validation, detail)
    };
    let router = router
        .route("/metrics", get(page))
        .fallback(nowhere)
        .method_not_allowed_fallback(other_method)
        .with_state(Arc::clone(api))
        .merge(probes::probes(ready, api.authorization.is_open()))
        .layer(from_fn_with_state(Arc::clone(api), around));
    if has_operations { router.merge(browser::files().with_state(Arc::clone(api))) } else { router }
}

/// The routes of all operations, with their description and the status page.
fn with_operations() -> Router<Arc<Api>> {
    let mut router = Router::new()
        .route("/", get(status::page))
        .route("/page/{file}", get(status::file))
        .route("/openapi.json", get(openapi::document));
    for operation in operations() {
        let path = operation.path;
        // Operations have only standard methods.
        let Ok(filter) = MethodFilter::try_from(operation.method.clone()) else { continue };
        let operation = Arc::new(operation);
        let answer = move |State(api): State<Arc<Api>>, request: Request| {
            let operation = Arc::clone(&operation);
            async move { answer(&api, &operation, request).await }
        };
        router = router.route(path, on(filter, answer));
    }
    router
}

/// Answers a request for an operation.
async fn answer(api: &Arc<Api>, operation: &Operation, request: Request) -> Result<Response<Body>, Problem> {
    let caller = api.caller(request.headers()).await?;
    let name = caller.name().to_owned();
    let reply = operation.run(&api.backend, caller, Incoming::Http(request)).await?;
    let Reply { status, body, next, change, permit } = reply;
    let body = match (body, &change, operation.names_change()) {
        (ReplyBody::Json(bytes), Some(change), Some(ChangeIn::Body)) => {
            ReplyBody::Json(with_change(bytes, change))
        }
        (body, ..) => body,
    };
    let body = match body {
        ReplyBody::Json(bytes) => Body::from(api.backend.limits.answer(&name, bytes, QUEUE_TIMEOUT).await?),
        ReplyBody::List(list) => list.body(&api.backend, &name).await?,
    };
    drop(permit);
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(operation.media));
    if let Some(next) = next {
        let link = HeaderValue::from_str(&format!("<{}?{next}>; rel=\"next\"", operation.path));
        headers.insert(header::LINK, link.map_err(Problem::own_fault)?);
    }
    if let Some(change) = change {
        headers.insert(CHANGE_HEADER, HeaderValue::from_str(&change).map_err(Problem::own_fault)?);
    }
    Ok(response)
}

/// A JSON object with the change as its first field; any other value as it is.
fn with_change(object: Vec<u8>, change: &str) -> Vec<u8> {
    match object.as_slice() {
        [b'{', b'}'] => format!("{{\"change\":\"{change}\"}}").into_bytes(),
        [b'{', rest @ ..] => [format!("{{\"change\":\"{change}\",").as_bytes(), rest].concat(),
        _ => object,
    }
}

/// Answers an MCP message.
async fn answer_tools(api: &Arc<Api>, tools: OverHttp, request: Request) -> Result<Response<Body>, Problem> {
    let caller = api.caller(request.headers()).await?;
    RequiredRight::InScope(Right::Read).check(&caller)?;
    let (mut parts, sent) = request.into_parts();
    let (name, limits) = (caller.name().to_owned(), &api.backend.limits);
    let (message, held) = body::read(&parts.headers, sent, BODY_MAX, limits, &name).await?;
    parts.extensions.insert(caller);
    parts.extensions.insert(Arc::new(held));
    let request = Request::from_parts(parts, Body::from(message));
    let (parts, answer) = tools.handle(request).await.into_parts();
    // Responses are complete JSON, never a stream.
    let answer = answer.collect().await.map_err(Problem::own_fault)?.to_bytes();
    let answer = limits.answer(&name, answer.into(), QUEUE_TIMEOUT).await?;
    Ok(Response::from_parts(parts, Body::from(answer)))
}

/// Middleware of every response: request id, check of the origin, body of a problem, counts.
async fn around(State(api): State<Arc<Api>>, request: Request, next: Next) -> Response<Body> {
    let id = new_id();
    let (method, path, begun) = (request.method().clone(), request.uri().path().to_owned(), Instant::now());
    let span = info_span!("http", request_id = id);
    let answer = async {
        let (parts, body) = request.into_parts();
        match api.authorization.check_origin(&parts) {
            Err(problem) => problem.into_response(),
            Ok(origin) => {
                let preflight =
                    Authorization::preflight(&method, &parts.headers).filter(|_| origin.is_some());
                let mut response = match preflight {
                    Some(response) => response,
                    None => next.run(Request::from_parts(parts, body)).await,
                };
                Authorization::allow_origin(origin, &mut response);
                response
            }
        }
    };
    let mut response = answer.instrument(span).await;
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        let headers = std::mem::take(response.headers_mut());
        response = problem.response(&id);
        for (name, value) in headers {
            // The length of the empty body does not apply to this one.
            if let Some(name) = name.filter(|name| *name != header::CONTENT_LENGTH) {
                response.headers_mut().entry(name).or_insert(value);
            }
        }
    }
    authorization::set_security_headers(&mut response);
    debug!(request_id = id, %method, path, status = response.status().as_u16(), elapsed_ms = begun.elapsed().as_millis());
    api.answered.count(response.status());
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(HeaderName::from_static("x-request-id"), id);
    }
    response
}
