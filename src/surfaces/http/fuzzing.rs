//! Fuzz entry point: requests over HTTP, up to the work of their operation.

use crate::surfaces::limits::Limits;
use crate::surfaces::operations::operations;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::routing::{MethodFilter, on};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use std::sync::{Arc, LazyLock};
use tokio::runtime::{Builder, Runtime};

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_time().build().expect("a runtime"));

/// All operations, each of which reads its request only.
static ROUTER: LazyLock<Router> = LazyLock::new(|| {
    let limits = Arc::new(Limits::new(8, 8));
    operations().into_iter().fold(Router::new(), |router, operation| {
        let (path, limits) = (operation.path, Arc::clone(&limits));
        let filter = MethodFilter::try_from(operation.method.clone()).expect("a standard method");
        let (read, body_max) = (operation.readers.http, operation.body_max);
        let answer = move |request: Request| {
            let reading = read(request, body_max, Arc::clone(&limits));
            async move { reading.await.map(|()| StatusCode::OK) }
        };
        router.route(path, on(filter, answer))
    })
});

/// Reads a request: a line with method and address, a line for each header, an empty line, the body. No request causes a
/// status of 500 or more.
pub(crate) fn read(bytes: &[u8]) {
    let Some(request) = request(bytes) else { return };
    let answer = RUNTIME.block_on(TowerToHyperService::new(ROUTER.clone()).call(request));
    let status = match answer {
        Ok(answer) => answer.status(),
        Err(never) => match never {},
    };
    assert!(status == StatusCode::OK || status.is_client_error(), "{status}");
}

/// `None` for bytes that the HTTP library does not accept as a request.
fn request(bytes: &[u8]) -> Option<Request> {
    let end = bytes.windows(2).position(|two| two == b"\n\n")?;
    let (head, body) = (&bytes[..end], &bytes[end + 2..]);
    let mut lines = head.split(|byte| *byte == b'\n');
    let mut first = lines.next()?.splitn(2, |byte| *byte == b' ');
    let mut request = Request::builder().method(first.next()?).uri(first.next()?);
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':')?;
        request = request.header(&line[..colon], line[colon + 1..].trim_ascii());
    }
    request.body(Body::from(body.to_vec())).ok()
}
