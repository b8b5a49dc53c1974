//! Queries and bodies of requests, read into types within limits.
//!
//! Unknown names are errors, so that a misspelt `dry_run` never writes. A body is counted as it arrives (see `limits`),
//! and is refused at its limit, whatever its stated length, or if it arrives too slowly. Bodies nest only as deep as
//! the types that they are read into, at most four levels: the first bracket beyond that is an error, and the rest is
//! not parsed. Only for a field of several types (a value, a place, the fields of a policy) is the limit the parser's,
//! 128 levels.

use crate::surfaces::limits::{Limits, Permit, QUEUE_TIMEOUT, SMALL};
use crate::surfaces::operation::problem::{Code, Problem};
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio::time::Instant;

/// Maximum bytes of a body: the longest text, 64 KiB, may be written in escapes of six bytes each.
pub(in crate::surfaces) const BODY_MAX: usize = 1 << 20;
/// Maximum bytes of the body of a batch.
pub(in crate::surfaces) const BATCH_MAX: usize = 16 << 20;
/// Maximum bytes of the body of a route that takes none.
const EMPTY_MAX: usize = 1 << 10;
/// How long a body may take to arrive.
const BODY_LIMIT: Duration = Duration::from_secs(30);
/// How long a body may take beyond its time at the minimum rate.
const BODY_GRACE: Duration = Duration::from_secs(5);
/// Minimum rate of a body, bytes a second.
const BODY_RATE_MIN: u32 = 16 << 10;
/// Maximum bytes of an `Idempotency-Key`.
pub(in crate::surfaces) const KEY_MAX: usize = 255;

/// Reads a query into its type.
pub(in crate::surfaces) fn query<T: DeserializeOwned>(text: Option<&str>) -> Result<T, Problem> {
    let pairs = form_urlencoded::parse(text.unwrap_or_default().as_bytes());
    let read = serde_path_to_error::deserialize(serde_urlencoded::Deserializer::new(pairs));
    read.map_err(|why| Problem::validation(format!("the query: {}", error_at(&why))))
}

/// The time from the start of a body at which it is late, after `arrived` bytes.
fn body_due(arrived: usize) -> Duration {
    let arrived = u32::try_from(arrived).unwrap_or(u32::MAX);
    (BODY_GRACE + Duration::from_secs(1) * arrived / BODY_RATE_MIN).min(BODY_LIMIT)
}

/// Reads a body to its end or its limit, with the permit for its bytes.
pub(in crate::surfaces) async fn read(
    headers: &HeaderMap,
    mut body: Body,
    limit: usize,
    limits: &Limits,
    caller: &str,
) -> Result<(Bytes, Option<Permit>), Problem> {
    let too_large =
        || Problem::too_large(format!("the body has more than {limit} bytes, the maximum for this route"));
    let encoded = headers.get(header::CONTENT_ENCODING).is_some_and(|coding| coding != "identity");
    if encoded {
        return Err(unsupported("the body must not have a Content-Encoding"));
    }
    let stated = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if stated.is_some_and(|stated: u64| stated > limit as u64) {
        return Err(too_large());
    }
    let late = || {
        let detail = format!(
            "the body arrived too slowly: the maximum is {} s, and the minimum {BODY_RATE_MIN} bytes a second after \
             the first {} s",
            BODY_LIMIT.as_secs(),
            BODY_GRACE.as_secs()
        );
        Problem::new(StatusCode::REQUEST_TIMEOUT, Code::Validation, detail)
    };
    let (mut begun, mut arrived, mut held) = (Instant::now(), Vec::new(), None::<Permit>);
    loop {
        let frame = tokio::time::timeout_at(begun + body_due(arrived.len()), body.frame()).await;
        let Some(frame) = frame.map_err(|_| late())? else { return Ok((arrived.into(), held)) };
        let frame = frame.map_err(|why| Problem::validation(format!("the body is incomplete: {why}")))?;
        let Ok(bytes) = frame.into_data() else { continue };
        if arrived.len() + bytes.len() > limit {
            return Err(too_large());
        }
        if arrived.len() + bytes.len() > SMALL {
            let since = Instant::now();
            let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            let full = |_| Problem::unavailable("too many bodies are being read", 5);
            let more = limits.bodies.take(caller, count, QUEUE_TIMEOUT).await.map_err(full)?;
            Permit::add(&mut held, more);
            // The wait for a permit does not count as the client's delay.
            begun += since.elapsed();
        }
        arrived.extend_from_slice(&bytes);
    }
}

/// Checks that the body of a route that takes none is empty or `{}`: the fields of any other would have no effect.
pub(in crate::surfaces) async fn check_none(mut body: Body) -> Result<(), Problem> {
    let refused = || Problem::validation("this route takes no body; its fields belong in the query");
    let (due, mut arrived) = (Instant::now() + BODY_GRACE, Vec::<u8>::new());
    loop {
        let frame = tokio::time::timeout_at(due, body.frame()).await.map_err(|_| refused())?;
        let Some(frame) = frame else { break };
        let frame = frame.map_err(|why| Problem::validation(format!("the body is incomplete: {why}")))?;
        let Ok(bytes) = frame.into_data() else { continue };
        arrived.extend_from_slice(&bytes);
        if arrived.len() > EMPTY_MAX {
            return Err(refused());
        }
    }
    if matches!(arrived.trim_ascii(), b"" | b"{}") { Ok(()) } else { Err(refused()) }
}

/// Reads a JSON body into its type. An empty body is `{}`.
pub(in crate::surfaces) fn json<T: DeserializeOwned>(
    headers: &HeaderMap,
    bytes: &[u8],
) -> Result<T, Problem> {
    let bytes = if bytes.is_empty() { b"{}" } else { bytes };
    let named = headers.get(header::CONTENT_TYPE);
    if bytes != b"{}" || named.is_some() {
        let kind = named.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            return Err(unsupported("the body must be JSON, with Content-Type: application/json"));
        }
    }
    let mut from = serde_json::Deserializer::from_slice(bytes);
    let read = serde_path_to_error::deserialize(&mut from);
    let value = read.map_err(|why| Problem::validation(format!("the body: {}", error_at(&why))))?;
    from.end().map_err(|why| Problem::validation(format!("the body: {why}")))?;
    Ok(value)
}

/// The `Idempotency-Key`, if any.
pub(in crate::surfaces) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(given) = headers.get("idempotency-key") else { return Ok(None) };
    let fits =
        |text: &&str| (1..=KEY_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    match given.to_str().ok().map(str::trim).filter(fits) {
        Some(key) => Ok(Some(key.to_owned())),
        None => Err(Problem::validation(format!(
            "Idempotency-Key must be 1 to {KEY_MAX} visible ASCII characters"
        ))),
    }
}

fn unsupported(detail: &str) -> Problem {
    Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::Validation, detail)
}

/// Formats an error with its path.
pub(in crate::surfaces) fn error_at<E: std::fmt::Display>(why: &serde_path_to_error::Error<E>) -> String {
    match why.path().to_string().as_str() {
        "." => why.inner().to_string(),
        path => format!("{path}: {}", why.inner()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ebb_core::api::input::{ITEMS_MAX, Items};
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Example {
        #[serde(default)]
        dry_run: bool,
        limit: Option<u32>,
    }

    fn json_headers() -> HeaderMap {
        [(header::CONTENT_TYPE, "application/json; charset=utf-8".parse().unwrap())].into_iter().collect()
    }

    fn fault<T: std::fmt::Debug>(read: Result<T, Problem>) -> String {
        format!("{:?}", read.unwrap_err())
    }

    #[test]
    fn unknown_names_are_errors_and_errors_have_a_path() {
        assert_eq!(query::<Example>(Some("limit=7")).unwrap().limit, Some(7));
        assert!(!query::<Example>(None).unwrap().dry_run);
        assert!(fault(query::<Example>(Some("dryrun=true"))).contains("unknown field `dryrun`"));
        assert!(fault(query::<Example>(Some("limit=x"))).contains("limit: invalid digit"));
        assert!(fault(query::<Example>(Some("limit=1&limit=2"))).contains("duplicate field"));
        let items = json::<Items<Example>>(&json_headers(), br#"[{"limit": 1}, {"limit": -1}]"#);
        assert!(fault(items).contains("[1].limit: invalid value"));
        assert!(fault(json::<Example>(&json_headers(), b"{} x")).contains("trailing characters"));
        assert!(fault(json::<Example>(&HeaderMap::new(), br#"{"limit": 1}"#)).contains("415"));
        assert!(json::<Example>(&HeaderMap::new(), b"").is_ok());
    }

    #[tokio::test]
    async fn a_route_without_a_body_accepts_an_empty_one_only() {
        for accepted in ["", "{}", " {}\n"] {
            assert!(check_none(Body::from(accepted)).await.is_ok(), "{accepted:?}");
        }
        for refused in [r#"{"dry_run":true}"#, "{", "[]", "null", " ".repeat(2 * EMPTY_MAX).as_str()] {
            let fault = fault(check_none(Body::from(refused.to_owned())).await);
            assert!(fault.contains("400") && fault.contains("takes no body"), "{refused:.20}: {fault}");
        }
    }

    #[test]
    fn endless_brackets_are_refused_at_the_first() {
        let deep = "[".repeat(5_000_000);
        assert!(fault(json::<Example>(&json_headers(), deep.as_bytes())).contains("invalid type: sequence"));
        let deep = format!("{{\"limit\":{deep}");
        assert!(fault(json::<Example>(&json_headers(), deep.as_bytes())).contains("invalid type: sequence"));
    }

    #[test]
    fn a_batch_has_a_limit() {
        let many = format!("[{}]", vec!["{}"; ITEMS_MAX + 1].join(","));
        assert!(
            fault(json::<Items<Example>>(&json_headers(), many.as_bytes())).contains("invalid length 10001")
        );
        assert!(fault(json::<Items<Example>>(&json_headers(), b"[]")).contains("invalid length 0"));
        let most = format!("[{}]", vec!["{}"; ITEMS_MAX].join(","));
        assert_eq!(json::<Items<Example>>(&json_headers(), most.as_bytes()).unwrap().0.len(), ITEMS_MAX);
    }
}
