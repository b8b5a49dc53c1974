//! The status page: one answer that needs nothing else, may load nothing else, and asks for no key.

use super::{HttpRequest, TestServer};
use crate::harness::neo4j::fresh;
use crate::surfaces::ebb;
use crate::worker::process::eventually;

/// Neo4j Browser loads them from its own origin, after a preflight.
#[tokio::test(flavor = "multi_thread")]
async fn every_origin_reads_the_guide_and_the_style_and_nothing_else() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let from = |method: &'static str, path: &'static str| {
        let headers = vec![("Origin", "http://localhost:7474"), ("Host", "localhost:9000")];
        api.ask(&HttpRequest { method, path, headers, body: None })
    };
    for (path, kind) in [("/browser/guide.html", "text/html"), ("/browser/style.grass", "text/plain")] {
        for method in ["GET", "OPTIONS"] {
            let file = from(method, path);
            assert_eq!(file.status, if method == "GET" { 200 } else { 204 }, "{path}");
            assert_eq!(file.header("access-control-allow-origin"), Some("*"), "{path}");
        }
        assert!(from("GET", path).header("content-type").unwrap().starts_with(kind), "{path}");
        assert_eq!(from("POST", path).status, 405, "{path}");
    }
    let guide = from("GET", "/browser/guide.html").body;
    assert!(guide.contains(":style http://localhost:9000/browser/style.grass"), "{guide}");
    assert!(guide.contains("MATCH (m:Memory {tier: tier})"), "{guide}");
    assert!(from("GET", "/browser/style.grass").body.contains("node.Memory {"));
    from("GET", "/v1/memories").fails(403, "authorization", "http.origins");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_status_page_is_whole_and_shut() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let page = api.get("/");
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(page.header("x-frame-options"), Some("DENY"));
    assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
    assert_eq!(page.header("cache-control"), Some("no-store"));

    let nonce = |policy: &str| {
        let (_, rest) = policy.split_once("script-src 'nonce-").expect("a nonce for scripts");
        rest.split('\'').next().unwrap().to_owned()
    };
    let policy = page.header("content-security-policy").expect("a policy");
    let own = nonce(policy);
    assert!(own.len() >= 32, "{own}");
    let rules: Vec<&str> = policy.split(';').map(str::trim).collect();
    for rule in [
        "default-src 'none'",
        &format!("script-src 'nonce-{own}'"),
        &format!("style-src 'nonce-{own}'"),
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    ] {
        assert!(rules.contains(&rule), "{rule} is not in {policy}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("://"), "{policy}");
    let again = api.get("/");
    assert_ne!(nonce(again.header("content-security-policy").unwrap()), own, "a nonce is for once");
    for tag in ["<script", "<style"] {
        assert_eq!(page.body.matches(tag).count(), 1, "{tag}");
        assert!(page.body.contains(&format!("{tag} nonce=\"{own}\">")), "{tag}");
    }

    // Nothing is left to fill in, nothing comes from elsewhere, and nothing makes markup of text.
    for never in [
        "{nonce}",
        "{style}",
        "{script}",
        "://",
        "src=",
        "@import",
        "url(",
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "DOMParser",
        "eval(",
        "localStorage",
    ] {
        assert!(!page.body.contains(never), "{never}");
    }
    for route in
        ["/v1/status", "/v1/health", "/v1/memories", "/v1/attempts", "/v1/trails/hot", "/v1/trails/cold"]
    {
        assert!(page.body.contains(route), "{route}");
        assert_eq!(api.get(route).status, 200, "{route}");
    }

    let head = api.ask(&HttpRequest { method: "HEAD", path: "/", headers: Vec::new(), body: None });
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    for told in [api.post("/", "{}"), api.put("/", "{}"), api.delete("/")] {
        told.fails(405, "validation", "is not allowed here");
        assert_eq!(told.header("allow"), Some("GET,HEAD"));
    }
    let elsewhere =
        HttpRequest { method: "GET", path: "/", headers: vec![("Host", "evil.example")], body: None };
    api.ask(&elsewhere).fails(403, "authorization", "this is not");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_status_page_needs_no_key_and_holds_no_data() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let without_nonce = |body: String| {
        let own = body.split("nonce=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned();
        body.replace(&own, "")
    };
    let before = without_nonce(api.get("/").body);
    assert_eq!(api.post("/v1/memories", r#"{"id":"secret-plan","content":"nobody knows"}"#).status, 201);
    ebb(&db, &["key", "create", "--name", "k", "--right", "read", "--scope", "team"]).json();
    eventually("a key is asked for", async || api.get("/v1/memories").status == 401).await;
    let page = api.get("/");
    assert_eq!(page.status, 200);
    assert_eq!(without_nonce(page.body), before);
}
