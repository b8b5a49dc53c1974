//! The status page: `GET /`, one HTML file that fetches its data from the JSON routes.
//!
//! The page contains no data and so needs no key; its requests do. Its headers forbid loading anything else, sending
//! anything elsewhere, and framing. Memories are untrusted: the page renders them as text, and if it ever rendered
//! markup, only its own script, with the nonce of the response, would run.

use axum::http::{HeaderName, header};
use axum::response::IntoResponse;
use ebb_core::clock::chance;
use std::sync::LazyLock;

/// The page with its style and script, which are separate files for easier editing.
static PAGE: LazyLock<String> = LazyLock::new(|| {
    include_str!("status.html")
        .replace("{style}", include_str!("status.css"))
        .replace("{script}", include_str!("status.js"))
});

/// `GET /`
pub(super) async fn page() -> impl IntoResponse {
    let nonce = chance();
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
         trusted-types 'none'"
    );
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin".to_owned()),
        // The nonce is valid for one response.
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    (headers, PAGE.replace("{nonce}", &nonce))
}
