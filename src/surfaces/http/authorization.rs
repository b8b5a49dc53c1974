//! Authorization: checks the host and the origin of a request, its key, and the key's rate.
//!
//! Until the first key exists, programs on this machine may call everything, but a web page opened in a browser here
//! may not. So a request for another host is refused (DNS rebinding), and so is a request that a browser sends for a
//! page of another origin, unless the configuration lists that origin. The origin is in the header `Origin`, or, if a
//! page only loads something (an image, a script), which would reveal by success or failure whether it exists, in
//! `Sec-Fetch-Site`. For browsers that send neither, response headers keep other pages from reading the response.
//! Beyond loopback, or behind a proxy, every request needs a key, and each key has a rate limit.

use crate::surfaces::operation::problem::{Code, Problem};
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Uri, Version, header};
use ebb_core::service::keys::{Caller, Denied, Keyring};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Rules of authorization.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Listening address.
    pub address: SocketAddr,
    /// Whether all requests come through a proxy that terminates TLS.
    pub proxy: bool,
    /// Other origins that may send requests, such as `https://app.example.org`.
    pub origins: Vec<String>,
    /// Maximum rate of a key beyond loopback, requests a second.
    pub rate: u32,
}

impl Rules {
    /// Whether only programs on this machine have access: no key is needed until one exists.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.address.ip().is_loopback() && !self.proxy
    }
}

/// The checks before a request is read: host, origin, key, and the key's rate.
pub(super) struct Authorization {
    rules: Rules,
    keys: Keyring,
    buckets: Mutex<BTreeMap<String, Bucket>>,
}

impl Authorization {
    pub(super) fn new(rules: Rules, keys: Keyring) -> Self {
        Self { rules, keys, buckets: Mutex::default() }
    }

    pub(super) fn is_open(&self) -> bool {
        self.rules.is_open()
    }

    /// Refuses a request for another host, or from an unknown origin. Returns the origin that may read the response.
    pub(super) fn check_origin(&self, request: &Parts) -> Result<Option<HeaderValue>, Problem> {
        let headers = &request.headers;
        if let Some(name) = SINGLE.into_iter().find(|name| headers.get_all(name).iter().count() > 1) {
            return Err(Problem::validation(format!("there are several headers {name}")));
        }
        let text = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or("?"));
        let host = text(header::HOST);
        if host.is_none() && request.version == Version::HTTP_11 {
            return Err(Problem::validation("HTTP/1.1 needs the header Host"));
        }
        let named = request.uri.authority().map(Authority::as_str);
        if named.is_some_and(|named| Some(named) != host) {
            return Err(Problem::validation("the address names another host than the header Host"));
        }
        if self.is_open()
            && let Some(host) = host.filter(|host| !names_this_machine(host))
        {
            return Err(Problem::forbidden(format!(
                "this is not {host}: use localhost, or configure the proxy in front of Ebb (http.proxy)"
            )));
        }
        let Some(origin) = text(header::ORIGIN) else {
            let site = text(SEC_FETCH_SITE);
            let from_here = site.is_none_or(|site| matches!(site, "same-origin" | "none"));
            return if from_here || is_link_to_page(&request.method, &request.uri, headers) {
                Ok(None)
            } else {
                Err(Problem::forbidden("pages of another origin may not load anything from here"))
            };
        };
        let own = origin.split_once("://").is_some_and(|(_, from)| Some(from) == host);
        if own {
            return Ok(None);
        }
        if self.rules.origins.iter().any(|known| known == origin) {
            return Ok(headers.get(header::ORIGIN).cloned());
        }
        Err(Problem::forbidden(format!(
            "pages of {origin} may not send requests here; http.origins lists the allowed origins"
        )))
    }

    /// The caller, by its key.
    pub(super) async fn caller(&self, headers: &HeaderMap) -> Result<Caller, Problem> {
        let token =
            match headers.get(header::AUTHORIZATION) {
                None => None,
                Some(value) => Some(bearer(value).ok_or_else(|| {
                    Problem::unknown_caller("Authorization must be: Bearer ebb_<id>_<secret>")
                })?),
            };
        let caller = self.keys.caller(token, self.is_open()).await.map_err(|why| match why {
            Denied::Store(why) => why.into(),
            why => Problem::unknown_caller(why.to_string()),
        })?;
        if let Some(key) = caller.key.as_ref().filter(|_| !self.is_open()) {
            self.count(key, Instant::now())?;
        }
        Ok(caller)
    }

    /// Counts a request of a key against its rate.
    fn count(&self, key: &str, now: Instant) -> Result<(), Problem> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let rate = f64::from(self.rules.rate);
        let bucket = buckets.entry(key.to_owned()).or_insert(Bucket { left: BURST * rate, at: now });
        if bucket.takes(rate, now) {
            return Ok(());
        }
        let detail = format!("this key may send {} requests a second", self.rules.rate);
        Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, Code::RateLimited, detail).after(1))
    }

    /// The response to a CORS preflight request.
    pub(super) fn preflight(method: &Method, headers: &HeaderMap) -> Option<Response<Body>> {
        let is_preflight = headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        (method == Method::OPTIONS && is_preflight).then(|| {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NO_CONTENT;
            let allow = [
                (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PUT, PATCH, DELETE"),
                (header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS),
                (header::ACCESS_CONTROL_MAX_AGE, "600"),
            ];
            response.headers_mut().extend(allow.map(|(name, value)| (name, HeaderValue::from_static(value))));
            response
        })
    }

    /// Lets a page of a known origin read the response.
    pub(super) fn allow_origin(origin: Option<HeaderValue>, response: &mut Response<Body>) {
        let Some(origin) = origin else { return };
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("origin"));
        let exposed = HeaderValue::from_static("link, retry-after, x-request-id, ebb-change");
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
}

/// Headers that may occur only once, since a proxy could read duplicates differently.
const SINGLE: [HeaderName; 5] = [
    header::HOST,
    header::ORIGIN,
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    HeaderName::from_static("idempotency-key"),
];
/// Headers that a page of another origin may send. The second line is those of MCP clients; as sessions have no id, these need
/// no header of a response.
const REQUEST_HEADERS: &str = "authorization, content-type, idempotency-key, \
    mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, last-event-id";
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether a Host header names this machine.
pub(super) fn names_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let address: Option<IpAddr> = name.parse().ok();
    name.eq_ignore_ascii_case("localhost") || address.is_some_and(|address| address.is_loopback())
}

/// Whether the request follows a link to the status page, which contains no data.
fn is_link_to_page(method: &Method, uri: &Uri, headers: &HeaderMap) -> bool {
    let is = |name, expected| headers.get(name).is_some_and(|value| value == expected);
    method == Method::GET
        && uri.path() == "/"
        && is("sec-fetch-mode", "navigate")
        && is("sec-fetch-dest", "document")
}

/// Sets the headers that make browsers hide the response from other origins and not guess its type.
pub(super) fn set_security_headers(response: &mut Response<Body>) {
    let headers = response.headers_mut();
    for (name, value) in [
        ("cross-origin-resource-policy", "same-origin"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}

fn bearer(value: &HeaderValue) -> Option<&str> {
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Burst: seconds' worth of requests that may come at once.
const BURST: f64 = 2.0;

/// Token bucket of a key.
struct Bucket {
    left: f64,
    at: Instant,
}

impl Bucket {
    fn takes(&mut self, rate: f64, now: Instant) -> bool {
        let filled = now.saturating_duration_since(self.at).as_secs_f64() * rate;
        self.left = (self.left + filled).min(BURST * rate);
        self.at = now;
        let takes = self.left >= 1.0;
        if takes {
            self.left -= 1.0;
        }
        takes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_key_has_a_burst_and_then_its_rate() {
        let begun = Instant::now();
        let mut bucket = Bucket { left: BURST * 10.0, at: begun };
        let taken = (0..100).filter(|_| bucket.takes(10.0, begun)).count();
        assert_eq!(taken, 20);
        let later = begun + Duration::from_secs(1);
        assert_eq!((0..100).filter(|_| bucket.takes(10.0, later)).count(), 10);
        let much_later = begun + Duration::from_secs(100);
        assert_eq!((0..100).filter(|_| bucket.takes(10.0, much_later)).count(), 20);
    }

    #[test]
    fn a_bearer_token_is_read_whatever_the_case_of_its_scheme() {
        let read = |text: &'static str| bearer(&HeaderValue::from_static(text)).map(str::to_owned);
        assert_eq!(read("bearer  ebb_a_b"), Some("ebb_a_b".to_owned()));
        assert_eq!(read("Basic dXNlcg=="), None);
        assert_eq!(read("ebb_a_b"), None);
    }
}
