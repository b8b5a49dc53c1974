//! Errors of calls, sent as `application/problem+json`, and the one table from the service's errors to statuses.
//!
//! Callers branch on `code`, one of seven; people read `detail`. No input causes a status of 500 or more. 503 means
//! that the database is unreachable or that Ebb is overloaded, and has a `Retry-After`.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use ebb_core::domain::guard::TooFar;
use ebb_core::service::Error;
use ebb_core::service::memories::BatchError;
use ebb_core::service::recall;
use schemars::JsonSchema;
use serde::Serialize;
use tracing::{error, warn};

/// Kind of error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(in crate::surfaces) enum Code {
    /// The request is invalid.
    Validation,
    /// The key is missing, unknown, or lacks the right.
    Authorization,
    /// The resource does not exist, or not in this scope.
    NotFound,
    /// The request conflicts with the stored state.
    Conflict,
    /// The request is too large.
    TooLarge,
    /// The key exceeds its rate.
    RateLimited,
    /// The service is temporarily unavailable (503: retry after Retry-After), or an internal error occurred (500: the log has request_id).
    Unavailable,
}

/// An error of a call.
#[derive(Debug, Clone)]
pub(in crate::surfaces) struct Problem {
    pub(in crate::surfaces) status: StatusCode,
    code: Code,
    pub(in crate::surfaces) detail: String,
    /// Advice that fits callers of the API alone.
    pub(in crate::surfaces) advice: Option<Box<str>>,
    header: Option<(HeaderName, HeaderValue)>,
}

/// A problem as it is sent (RFC 9457).
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(in crate::surfaces) struct ProblemBody<'a> {
    /// `urn:ebb:problem:` and the code.
    #[serde(rename = "type")]
    kind: String,
    /// Reason phrase of the status.
    title: &'a str,
    /// HTTP status.
    status: u16,
    /// Kind of error.
    code: Code,
    /// Message for people: the error and its reason.
    detail: &'a str,
    /// Id of the request in the log.
    request_id: &'a str,
}

impl Problem {
    pub(in crate::surfaces) fn new(status: StatusCode, code: Code, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), advice: None, header: None }
    }

    /// 400: the request is invalid.
    pub(in crate::surfaces) fn validation(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Code::Validation, detail)
    }

    /// 401: the caller is not authenticated.
    pub(in crate::surfaces) fn unknown_caller(detail: impl Into<String>) -> Self {
        let challenge = HeaderValue::from_static("Bearer realm=\"ebb\"");
        let problem = Self::new(StatusCode::UNAUTHORIZED, Code::Authorization, detail);
        Self { header: Some((header::WWW_AUTHENTICATE, challenge)), ..problem }
    }

    /// 403: the caller lacks the right.
    pub(in crate::surfaces) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, Code::Authorization, detail)
    }

    /// 404: the resource does not exist.
    pub(in crate::surfaces) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, Code::NotFound, detail)
    }

    /// Turns 404 into 400, for a resource named in the body: 404 is for resources named in the URL.
    pub(in crate::surfaces) fn of_body(self) -> Self {
        match self.code {
            Code::NotFound => Self::validation(self.detail),
            _ => self,
        }
    }

    /// 409: the request conflicts with the stored state.
    pub(in crate::surfaces) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, Code::Conflict, detail)
    }

    /// 413: the request is too large.
    pub(in crate::surfaces) fn too_large(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, Code::TooLarge, detail)
    }

    /// 503: temporarily unavailable, with the time to retry.
    pub(in crate::surfaces) fn unavailable(detail: impl Into<String>, retry_after_s: u16) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, Code::Unavailable, detail).after(retry_after_s)
    }

    /// Adds `Retry-After`.
    pub(in crate::surfaces) fn after(self, seconds: u16) -> Self {
        Self { header: Some((header::RETRY_AFTER, HeaderValue::from(seconds))), ..self }
    }

    /// 500: an internal error, described in the log, that the caller cannot fix.
    pub(in crate::surfaces) fn own_fault(why: impl std::fmt::Display) -> Self {
        error!(%why, "a request failed with an internal error");
        let detail = "internal error; see Ebb's log";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, Code::Unavailable, detail)
    }

    /// Converts the problem to its response.
    pub(in crate::surfaces) fn response(self, request_id: &str) -> Response<Body> {
        let code = serde_json::to_value(self.code).ok();
        let detail = match &self.advice {
            Some(advice) => format!("{}. {advice}", self.detail),
            None => self.detail,
        };
        let sent = ProblemBody {
            kind: format!("urn:ebb:problem:{}", code.as_ref().and_then(|code| code.as_str()).unwrap_or("")),
            title: self.status.canonical_reason().unwrap_or("Problem"),
            status: self.status.as_u16(),
            code: self.code,
            detail: &detail,
            request_id,
        };
        let mut response = Response::new(Body::from(serde_json::to_vec(&sent).unwrap_or_default()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.extend(self.header);
        response
    }
}

impl IntoResponse for Problem {
    /// A response without a body; the router adds the body, which contains the request's id.
    fn into_response(self) -> Response<Body> {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.status;
        response.extensions_mut().insert(self);
        response
    }
}

/// Seconds to retry after if the database is unreachable.
const AWAY_S: u16 = 2;
/// Seconds to retry after if the database needs an operator.
const REFUSED_S: u16 = 10;

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match &error {
            Error::NotFound { .. } => Self::not_found(error.to_string()),
            Error::Invalid(_) => Self::validation(error.to_string()),
            Error::Conflict(_)
            | Error::Refused { .. }
            | Error::Quarantined { .. }
            | Error::Fenced(_)
            | Error::NotScratch(_) => Self::conflict(error.to_string()),
            Error::Guarded(too_much) => {
                let advice = format!("To accept, set accept_affected to {}", too_much.affected);
                Self { advice: Some(advice.into()), ..Self::conflict(error.to_string()) }
            }
            Error::TooFar(TooFar::Impossible(_)) => Self::validation(format!("advance: {error}")),
            Error::TooFar(TooFar::Unaccepted(cycles)) => {
                let advice = format!("To accept, set accept_cycles to {cycles}");
                Self { advice: Some(advice.into()), ..Self::conflict(error.to_string()) }
            }
            Error::OutcomeUnknown { .. } => {
                warn!(why = %error, "the outcome of a write is unknown");
                let detail = "the outcome of the write is unknown, since the connection to the database ended during its \
                              commit. A retry with the same Idempotency-Key writes only once; without a key, check \
                              first whether it was written";
                Self::unavailable(detail, AWAY_S)
            }
            Error::Unavailable { .. } | Error::Login { .. } => {
                warn!(why = %error, "a request could not be answered");
                Self::unavailable("the database is unreachable", AWAY_S)
            }
            Error::Query { code, .. } if error.is_passing() => {
                warn!(why = %error, "a request could not be answered");
                Self::unavailable(format!("the database could not run the request now ({code})"), AWAY_S)
            }
            _ if error.refusal().is_some() => {
                warn!(why = %error, "a request could not be answered");
                // The caller gets the kind of error, but not the address of the database or the statement.
                let why = error.refusal().map(|why| why.to_string()).unwrap_or_default();
                Self::unavailable(format!("{why}; run ebb doctor for the fix"), REFUSED_S)
            }
            Error::Schema(_) => {
                warn!(why = %error, "a request could not be answered");
                // The text names the address of the database.
                let detail = "this version of Ebb cannot use the database as it is; its operator finds out why with: ebb doctor";
                Self::unavailable(detail, 60)
            }
            Error::Tunables(_) | Error::TunableMissing(_) | Error::Policies(_) => {
                Self::unavailable(error.to_string(), 60)
            }
            _ => Self::own_fault(&error),
        }
    }
}

impl From<BatchError> for Problem {
    fn from(error: BatchError) -> Self {
        match error {
            BatchError::Event { index, why } => {
                let mut problem = Self::from(why);
                if problem.status.is_client_error() {
                    problem.detail =
                        format!("[{index}]: {}; nothing of the batch was written", problem.detail);
                }
                problem
            }
            BatchError::Store(why) => why.into(),
        }
    }
}

impl From<recall::Error> for Problem {
    fn from(why: recall::Error) -> Self {
        match why {
            recall::Error::Store(why) => why.into(),
            recall::Error::Invalid(why) => Self::validation(why),
            // Only a change of the configuration or the graph helps, and the graph is read every half minute.
            why @ recall::Error::Busy(recall::Refused::NoRoom { .. }) => {
                Self::unavailable(why.to_string(), 30)
            }
            why @ recall::Error::Busy(_) => Self::unavailable(why.to_string(), 1),
            why => Self::own_fault(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ebb_core::domain::guard::TooMuch;
    use ebb_core::service::{Class, RefusedWhy};

    #[test]
    fn each_error_has_its_status_and_none_reveals_the_address_of_the_database() {
        let uri = || "bolt://secret-host:7687".to_owned();
        let refused = |code: &str| Error::Query {
            statement: "x",
            code: code.to_owned(),
            message: uri(),
            class: Class::of(code, ""),
        };
        let cases = [
            (Error::Unavailable { uri: uri(), why: "refused".into() }, 503),
            (Error::Login { uri: uri(), user: "neo4j".into(), why: "no".into() }, 503),
            (Error::OutcomeUnknown { what: "memory.pin", why: uri() }, 503),
            (Error::Schema(uri()), 503),
            (refused("Neo.ClientError.General.WriteOnReadOnlyAccessDatabase"), 503),
            (refused("Neo.ClientError.Security.Forbidden"), 503),
            (refused("Neo.DatabaseError.Transaction.TransactionStartFailed"), 503),
            (Error::Tunables(Vec::new()), 503),
            (Error::Policies(Vec::new()), 503),
            (Error::Invalid("no such policy".into()), 400),
            (
                Error::Guarded(TooMuch {
                    affected: 60,
                    live: 60,
                    percent: 20.0,
                    scopes: Vec::new(),
                    policies: Vec::new(),
                }),
                409,
            ),
            (Error::TooFar(TooFar::Unaccepted(101)), 409),
            (Error::TooFar(TooFar::Impossible(10_001)), 400),
            (Error::NotFound { what: "memory", id: "m".into() }, 404),
            (Error::Conflict("taken".into()), 409),
            (Error::Refused { id: "m".into(), why: RefusedWhy::StubOf("x".into()) }, 409),
            (Error::Quarantined { id: "m".into(), reason: "x".into() }, 409),
            (Error::Fenced("lost".into()), 409),
            (Error::Decode { statement: "x", detail: "bolt://secret-host".into() }, 500),
        ];
        for (error, status) in cases {
            let name = format!("{error:?}");
            let problem = Problem::from(error);
            assert_eq!(problem.status.as_u16(), status, "{name}");
            assert!(!problem.detail.contains("secret-host"), "{}", problem.detail);
            assert_eq!(status == 503, problem.header.is_some(), "{name}");
        }
    }
}
