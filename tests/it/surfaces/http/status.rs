//! The status page: it loads its own files alone, and asks for no key.

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

    let policy = page.header("content-security-policy").expect("a policy");
    let rules: Vec<&str> = policy.split(';').map(str::trim).collect();
    for rule in [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    ] {
        assert!(rules.contains(&rule), "{rule} is not in {policy}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("://"), "{policy}");

    // Each file that it names is there, under the same policy, and nothing comes from elsewhere.
    let mut names: Vec<String> = Vec::new();
    for part in page.body.split(['"', '\'']).filter(|part| part.starts_with("/page/")) {
        names.push(part.to_owned());
    }
    assert!(names.len() >= 3, "{names:?}");
    let (mut at, mut scripts) = (0, String::new());
    while let Some(name) = names.get(at).cloned() {
        let file = api.get(&name);
        assert_eq!((file.status, file.header("content-security-policy")), (200, Some(policy)), "{name}");
        assert_eq!(file.header("x-content-type-options"), Some("nosniff"), "{name}");
        let kind = if name.ends_with(".css") { "text/css" } else { "text/javascript" };
        assert!(file.header("content-type").unwrap().starts_with(kind), "{name}");
        for imported in file.body.split("from './").skip(1) {
            let found = format!("/page/{}", imported.split('\'').next().unwrap());
            if !names.contains(&found) {
                names.push(found);
            }
        }
        if !name.contains("cytoscape") {
            scripts += &file.body;
        }
        at += 1;
    }
    for route in
        ["/v1/status", "/v1/health", "/v1/attempts", "/v1/trails/hot", "/v1/trails/cold", "/v1/jobs/history"]
    {
        assert!(scripts.contains(route), "{route}");
        assert_eq!(api.get(route).status, 200, "{route}");
    }
    for (route, body) in [
        ("/v1/memories:search", "{}"),
        ("/v1/recall", r#"{"text":"x"}"#),
        ("/v1/engine/around", r#"{"ids":["x"]}"#),
    ] {
        assert!(scripts.contains(route), "{route}");
        assert_eq!(api.post(route, body).status, 200, "{route}");
    }
    api.get("/page/none.js").fails(404, "not_found", "it is at /");
    api.get("/page/..%2Fstatus.rs").fails(404, "not_found", "it is at /");

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
    let before = api.get("/").body;
    assert_eq!(api.post("/v1/memories", r#"{"id":"secret-plan","content":"nobody knows"}"#).status, 201);
    ebb(&db, &["key", "create", "--name", "k", "--right", "read", "--scope", "team"]).json();
    eventually("a key is asked for", async || api.get("/v1/memories").status == 401).await;
    let page = api.get("/");
    assert_eq!(page.status, 200);
    assert_eq!(page.body, before);
    assert_eq!(api.get("/page/main.js").status, 200);
}
