//! A call of an operation: who makes it, with which request, and what it is answered.

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
    /// Makes a write count once.
    pub(in crate::surfaces) request_id: RequestId,
    pub(in crate::surfaces) path: P,
    pub(in crate::surfaces) query: Q,
    pub(in crate::surfaces) body: B,
}

impl<P, Q, B> Call<P, Q, B> {
    pub(in crate::surfaces) fn service(&self) -> &Service {
        &self.backend.service
    }

    /// A write that counts once.
    pub(in crate::surfaces) fn write_once(&self) -> WriteMode {
        WriteMode::Once(self.request_id.clone())
    }

    /// The scope of the request: the one named, else the only one of the caller's key, else the default. The caller must
    /// have the operation's right in it.
    pub(in crate::surfaces) fn scope(&self, named: Option<&Scope>) -> Result<Scope, Problem> {
        self.scope_with(named, self.right.right())
    }

    /// The same, where another right is needed than the operation's.
    pub(in crate::surfaces) fn scope_with(
        &self,
        named: Option<&Scope>,
        right: Right,
    ) -> Result<Scope, Problem> {
        self.caller.scope(named, self.service().scope(), right).map_err(|why| match why {
            why @ NotYours::Several(_) => Problem::validation(why.to_string()),
            why @ NotYours::Forbidden(_) => Problem::forbidden(why.to_string()),
        })
    }

    /// The instant of a question: the one stated, else now.
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
                return Err(Problem::validation(format!("at lies {ahead} s ahead of the server's clock")));
            }
        }
        self.instant(stated).await
    }

    /// The instant of the items of a batch that state none, once those that are stated have been checked.
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
    /// Looks as an `A` does, and is read while it is sent.
    List(List),
}

impl<A> Answer<A> {
    pub(in crate::surfaces) fn ok(body: A) -> Self {
        Self { status: StatusCode::OK, body: AnswerBody::Whole(body), next: None }
    }

    /// 201 for something new, else 200.
    pub(in crate::surfaces) fn created(new: bool, body: A) -> Self {
        Self { status: if new { StatusCode::CREATED } else { StatusCode::OK }, ..Self::ok(body) }
    }

    /// 202: it goes on after the answer.
    pub(in crate::surfaces) fn accepted(body: A) -> Self {
        Self { status: StatusCode::ACCEPTED, ..Self::ok(body) }
    }

    /// A list, with the query of the next page, if there is one.
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
    /// Given back when the answer has been taken over.
    pub(in crate::surfaces) permit: Permit,
}

/// The body of an answer as JSON.
pub(in crate::surfaces) enum ReplyBody {
    Json(Vec<u8>),
    List(List),
}

impl Reply {
    pub(super) fn new<A: Serialize>(answer: Answer<A>, permit: Permit) -> Result<Self, Problem> {
        let body = match answer.body {
            AnswerBody::Whole(body) => {
                ReplyBody::Json(serde_json::to_vec(&body).map_err(Problem::own_fault)?)
            }
            AnswerBody::List(list) => ReplyBody::List(list),
        };
        Ok(Self { status: answer.status, body, next: answer.next, permit })
    }
}
