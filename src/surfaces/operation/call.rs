//! A call of an operation: its caller, its request and its answer.

use super::RequiredRight;
use super::backend::Backend;
use super::pages::List;
use super::problem::Problem;
use crate::surfaces::limits::Permit;
use axum::http::StatusCode;
use ebb_core::api::input::Nothing;
use ebb_core::clock::SKEW_MAX;
use ebb_core::domain::ids::Scope;
use ebb_core::domain::key::Right;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::ChangeToken;
use ebb_core::service::Service;
use ebb_core::service::keys::{Caller, NotYours};
use ebb_core::service::memories::{RequestId, WriteMode};
use serde::Serialize;
use std::sync::Arc;

/// A call of an operation.
pub(in crate::surfaces) struct Call<P = Nothing, Q = Nothing, B = Nothing> {
    pub(in crate::surfaces) backend: Arc<Backend>,
    pub(in crate::surfaces) caller: Caller,
    pub(super) right: RequiredRight,
    /// Makes a write idempotent.
    pub(in crate::surfaces) request_id: RequestId,
    pub(in crate::surfaces) path: P,
    pub(in crate::surfaces) query: Q,
    pub(in crate::surfaces) body: B,
}

impl<P, Q, B> Call<P, Q, B> {
    pub(in crate::surfaces) fn service(&self) -> &Service {
        &self.backend.service
    }

    /// The mode of an idempotent write.
    pub(in crate::surfaces) fn write_once(&self) -> WriteMode {
        WriteMode::Once(self.request_id.clone())
    }

    /// The scope of the request: the named one, otherwise the only one of the caller's key, otherwise the default. The
    /// caller must have the operation's right in it.
    pub(in crate::surfaces) fn scope(&self, named: Option<&Scope>) -> Result<Scope, Problem> {
        self.scope_with(named, self.right.right())
    }

    /// Like [`Call::scope`], with another right than the operation's.
    pub(in crate::surfaces) fn scope_with(
        &self,
        named: Option<&Scope>,
        right: Right,
    ) -> Result<Scope, Problem> {
        self.caller.scope(named, self.service().scope(), right).map_err(|why| match why {
            why @ NotYours::Several(_) => Problem::validation(why.to_string()),
            why @ NotYours::Forbidden(..) => Problem::forbidden(why.to_string()),
        })
    }

    /// The instant of a read: the stated one, otherwise now.
    pub(in crate::surfaces) async fn instant(&self, stated: Option<Timestamp>) -> Result<Timestamp, Problem> {
        Ok(self.service().instant(stated).await?)
    }

    /// The instant of a write: now, unless an admin states another.
    pub(in crate::surfaces) async fn write_instant(
        &self,
        stated: Option<Timestamp>,
    ) -> Result<Timestamp, Problem> {
        if let Some(at) = stated {
            if self.caller.grant.right < Right::Admin {
                return Err(Problem::forbidden("stating an instant (at) needs the right admin"));
            }
            let ahead = self.service().ahead(at).await?;
            if ahead > SKEW_MAX {
                let ahead = ahead.as_secs();
                return Err(Problem::validation(format!("at is {ahead} s ahead of the server's clock")));
            }
        }
        self.instant(stated).await
    }

    /// Checks the stated instants of a batch and returns the instant for the items without one.
    pub(in crate::surfaces) async fn batch_instant(
        &self,
        stated: impl Iterator<Item = Option<Timestamp>>,
    ) -> Result<Timestamp, Problem> {
        self.write_instant(stated.flatten().max()).await?;
        self.instant(None).await
    }
}

/// The answer of an operation.
pub(in crate::surfaces) struct Answer<A> {
    status: StatusCode,
    body: AnswerBody<A>,
    next: Option<String>,
}

enum AnswerBody<A> {
    Whole(A),
    /// Has the JSON form of an `A`, and is read while it is sent.
    List(List),
}

impl<A> Answer<A> {
    pub(in crate::surfaces) fn ok(body: A) -> Self {
        Self { status: StatusCode::OK, body: AnswerBody::Whole(body), next: None }
    }

    /// 201 if the resource is new, otherwise 200.
    pub(in crate::surfaces) fn created(new: bool, body: A) -> Self {
        Self { status: if new { StatusCode::CREATED } else { StatusCode::OK }, ..Self::ok(body) }
    }

    /// 202: the work continues after the answer.
    pub(in crate::surfaces) fn accepted(body: A) -> Self {
        Self { status: StatusCode::ACCEPTED, ..Self::ok(body) }
    }

    /// Lines of JSON, read while they are sent.
    pub(in crate::surfaces) fn lines(lines: List) -> Self {
        Self { status: StatusCode::OK, body: AnswerBody::List(lines), next: None }
    }

    /// A list, with the query of its next page, if any.
    pub(in crate::surfaces) fn list(list: List, next: Option<impl Serialize>) -> Self {
        let next = next.and_then(|query| serde_urlencoded::to_string(query).ok());
        Self { status: StatusCode::OK, body: AnswerBody::List(list), next }
    }
}

/// An answer as JSON, for any surface.
pub(in crate::surfaces) struct Reply {
    pub(in crate::surfaces) status: StatusCode,
    pub(in crate::surfaces) body: ReplyBody,
    /// The query of the next page.
    pub(in crate::surfaces) next: Option<String>,
    /// The last write that the call committed.
    pub(in crate::surfaces) change: Option<String>,
    /// Released when the surface has taken over the answer.
    pub(in crate::surfaces) permit: Permit,
}

/// The body of an answer as JSON.
pub(in crate::surfaces) enum ReplyBody {
    Json(Vec<u8>),
    List(List),
}

impl Reply {
    pub(super) fn new<A: Serialize>(
        answer: Answer<A>,
        change: Option<ChangeToken>,
        permit: Permit,
    ) -> Result<Self, Problem> {
        let body = match answer.body {
            AnswerBody::Whole(body) => {
                ReplyBody::Json(serde_json::to_vec(&body).map_err(Problem::own_fault)?)
            }
            AnswerBody::List(list) => ReplyBody::List(list),
        };
        Ok(Self {
            status: answer.status,
            body,
            next: answer.next,
            change: change.map(|change| change.to_string()),
            permit,
        })
    }
}
