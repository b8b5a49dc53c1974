//! The status page: `GET /`, one file for a browser, which asks the JSON routes for all it shows.
//!
//! The page holds no data and so needs no key; what it asks for does. Its headers let it load nothing, send nothing
//! elsewhere, and be framed by nobody. Memories may say anything: the page makes text of them, and if it ever made markup,
//! no script but its own, which carries the nonce of this one answer, would run.

use axum::http::{HeaderName, header};
use axum::response::IntoResponse;
use ebb_core::clock::chance;
use std::sync::LazyLock;

/// The page, put together: its style and its script are files of their own, for whoever writes them.
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
        // Its nonce is for once.
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    (headers, PAGE.replace("{nonce}", &nonce))
}
