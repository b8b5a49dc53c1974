//! Fuzz entry point: the requests of each operation, read and not run.

use super::problem::Problem;
use super::tool::Fields;
use super::{Input, Limits, from_arguments, from_http};
use axum::extract::Request;
use ebb_core::service::keys::Caller;
use std::pin::Pin;
use std::sync::Arc;

type Reading = Pin<Box<dyn Future<Output = Result<(), Problem>> + Send>>;

/// The readers of an operation's requests.
pub(in crate::surfaces) struct Readers {
    pub(in crate::surfaces) http: fn(Request, usize, Arc<Limits>) -> Reading,
    pub(in crate::surfaces) tool: fn(Fields, Option<String>, &str) -> Result<(), Problem>,
}

impl Readers {
    pub(super) fn of<P: Input, Q: Input, B: Input>() -> Self {
        Self {
            http: |request, body_max, limits| {
                Box::pin(async move {
                    let caller = Caller::local("fuzzing");
                    from_http::<P, Q, B>(request, body_max, &limits, &caller).await.map(drop)
                })
            },
            tool: |arguments, request_id, path| {
                from_arguments::<P, Q, B>(arguments, request_id, path).map(drop)
            },
        }
    }
}
