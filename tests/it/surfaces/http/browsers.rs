//! Web pages that somebody on this machine happens to look at: they can neither read nor write, nor tell what there is.

use super::{HttpAnswer, HttpRequest, TestServer};
use crate::harness::neo4j::fresh;

fn with<'a>(headers: &[(&'a str, &'a str)]) -> HttpRequest<'a> {
    HttpRequest { method: "GET", path: "/v1/memories", headers: headers.to_vec(), body: None }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_from_elsewhere_is_refused_unless_it_is_named() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[("EBB__HTTP__ORIGINS", "https://app.example.org")]);
    let own = format!("127.0.0.1:{}", api.port);
    assert_eq!(api.ask(&with(&[("Host", "localhost:1")])).status, 200);
    assert_eq!(api.ask(&with(&[("Host", "[::1]:1")])).status, 200);
    for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.1"] {
        api.ask(&with(&[("Host", host)])).fails(403, "authorization", "this is not");
    }
    for origin in
        ["https://evil.example", "null", "http://localhost:1", "https://app.example.org.evil.example"]
    {
        api.ask(&with(&[("Origin", origin)])).fails(403, "authorization", "may not send requests here");
    }
    assert_eq!(api.ask(&with(&[("Host", &own), ("Origin", &format!("http://{own}"))])).status, 200);
    let shared = api.ask(&with(&[("Origin", "https://app.example.org")]));
    assert_eq!(shared.status, 200);
    assert_eq!(shared.header("access-control-allow-origin"), Some("https://app.example.org"));
    let asks = [("Origin", "https://app.example.org"), ("Access-Control-Request-Method", "POST")];
    let preflight = api.ask(&HttpRequest { method: "OPTIONS", ..with(&asks) });
    assert_eq!(preflight.status, 204);
    let allowed: Vec<_> = preflight.header("access-control-allow-headers").unwrap().split(", ").collect();
    // Without one of them, a browser does not send the request of an MCP client in a page.
    for name in [
        "authorization",
        "content-type",
        "idempotency-key",
        "mcp-protocol-version",
        "mcp-session-id",
        "mcp-method",
        "mcp-name",
        "last-event-id",
    ] {
        assert!(allowed.contains(&name), "{name} of {allowed:?}");
    }
    assert!(preflight.header("access-control-allow-methods").unwrap().contains("PATCH"));
    assert!(shared.header("access-control-expose-headers").unwrap().contains("ebb-change"));
    let asks = [("Origin", "https://evil.example"), ("Access-Control-Request-Method", "POST")];
    api.ask(&HttpRequest { method: "OPTIONS", ..with(&asks) }).fails(
        403,
        "authorization",
        "may not send requests here",
    );
}

/// What a page sees of an answer that it may not read: whether it loaded. A browser blocks by the header, whatever came.
fn blind(told: &HttpAnswer) -> (u16, bool, bool) {
    let says = |name, what| told.header(name) == Some(what);
    (
        told.status,
        says("cross-origin-resource-policy", "same-origin"),
        says("x-content-type-options", "nosniff"),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_from_elsewhere_cannot_tell_what_there_is() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[("EBB__HTTP__ORIGINS", "https://app.example.org")]);
    api.post("/v1/memories", r#"{"id":"there","content":"x"}"#).json(201);
    let loaded = |path: &'static str, headers: &[(&'static str, &'static str)]| {
        api.ask(&HttpRequest { method: "GET", path, headers: headers.to_vec(), body: None })
    };
    // As an image, a script, a frame or a link would ask: no Origin, and no word of what comes back but success or failure.
    for site in ["cross-site", "same-site", "?"] {
        for (mode, dest) in
            [("no-cors", "image"), ("no-cors", "script"), ("navigate", "iframe"), ("navigate", "document")]
        {
            let says = [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", dest)];
            let (there, not) = (loaded("/v1/memories/there", &says), loaded("/v1/memories/not", &says));
            there.fails(403, "authorization", "pages of another origin");
            assert_eq!(blind(&there), blind(&not), "{site} {mode} {dest}");
        }
    }
    // A browser that says nothing is told that no other page may have it, found or not.
    let (there, not) = (loaded("/v1/memories/there", &[]), loaded("/v1/memories/not", &[]));
    assert_eq!((there.status, not.status), (200, 404));
    assert!([&there, &not].iter().all(|told| blind(told) == (told.status, true, true)));
    for site in ["same-origin", "none"] {
        assert_eq!(loaded("/v1/memories/there", &[("Sec-Fetch-Site", site)]).status, 200);
    }
    let named = [("Sec-Fetch-Site", "cross-site"), ("Origin", "https://app.example.org")];
    assert_eq!(loaded("/v1/memories/there", &named).status, 200, "a page that is named asks with its Origin");
    // A link to the status page may be followed; it may not be framed.
    let link =
        [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")];
    let page = loaded("/", &link);
    assert_eq!((page.status, page.header("x-frame-options")), (200, Some("DENY")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_says_once_whom_it_asks() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let ask = |head: &str| api.raw(format!("GET {head}\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
    assert_eq!(ask("/v1/jobs HTTP/1.1\r\nHost: localhost").status, 200);
    for twice in ["Host: localhost", "Host: evil.example", "host: localhost"] {
        ask(&format!("/v1/jobs HTTP/1.1\r\nHost: localhost\r\n{twice}")).fails(
            400,
            "validation",
            "several headers host",
        );
        ask(&format!("/readyz HTTP/1.1\r\nHost: localhost\r\n{twice}")).fails(
            400,
            "validation",
            "several headers host",
        );
    }
    ask("/v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b").fails(
        400,
        "validation",
        "several headers authorization",
    );
    ask("/v1/jobs HTTP/1.1").fails(400, "validation", "needs the header Host");
    ask("http://evil.example/v1/jobs HTTP/1.1\r\nHost: localhost").fails(400, "validation", "another host");
}
