//! Clients that mean no good, or that are merely wrong: each gets a clear refusal, at little cost.

use super::{HttpAnswer, HttpRequest, TestServer};
use crate::harness::neo4j::fresh;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread")]
async fn what_makes_no_sense_is_refused_with_a_problem() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    api.get("/nowhere").fails(404, "not_found", "there is no /nowhere");
    let other = api.delete("/v1/memories");
    other.fails(405, "validation", "DELETE is not allowed here");
    assert!(other.header("allow").is_some_and(|allow| allow.contains("GET") && allow.contains("POST")));
    let text = HttpRequest {
        method: "POST",
        path: "/v1/memories",
        headers: vec![("Content-Type", "text/plain")],
        body: Some(r#"{"content":"x"}"#),
    };
    api.ask(&text).fails(415, "validation", "application/json");
    let packed = HttpRequest { headers: vec![("Content-Encoding", "gzip")], ..text };
    api.ask(&packed).fails(415, "validation", "Content-Encoding");
    for (body, says) in [
        ("", "missing field `content`"),
        ("nonsense", "expected ident"),
        ("{\"content\":\"x\"", "EOF"),
        ("[]", "invalid length 0"),
        (r#"{"content":"x","contents":"y"}"#, "unknown field `contents`"),
        (r#"{"content":"x","content":"y"}"#, "duplicate field"),
        (r#"{"content":7}"#, "content: invalid type: integer"),
        (r#"{"content":"x","at":"yesterday"}"#, "at: \"yesterday\" is not an RFC 3339 instant"),
        (r#"{"content":"x","at":"9999-01-01T00:00:00Z"}"#, "ahead of the server's clock"),
        (r#"{"content":"\ud800"}"#, "content"),
    ] {
        api.post("/v1/memories", body).fails(400, "validation", says);
    }
    api.get("/v1/memories?limits=5").fails(400, "validation", "unknown field `limits`");
    api.get("/v1/memories/%00").fails(400, "validation", "control character");
    api.get("/v1/memories/%ff").fails(400, "validation", "the path");
    assert_eq!(db.client.value::<i64>("MATCH (m:Memory) RETURN count(m)").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_is_refused_where_a_route_takes_none() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    api.post("/v1/memories", r#"{"id":"m","content":"x"}"#).json(201);
    let ask = |method, path, headers, body| api.ask(&HttpRequest { method, path, headers, body });
    for (method, path, body) in [
        ("DELETE", "/v1/scopes/local", r#"{"dry_run":true}"#),
        ("DELETE", "/v1/memories/m", r#"{"scope":"local"}"#),
        ("POST", "/v1/mirror/refresh", r#"{"scope":"local"}"#),
        ("GET", "/v1/memories", r#"{"limit":1}"#),
    ] {
        ask(method, path, Vec::new(), Some(body)).fails(400, "validation", "this route takes no body");
    }
    assert_eq!(db.client.value::<i64>("MATCH (m:Memory) RETURN count(m)").await, 1);
    for kind in ["application/json", "text/plain"] {
        let headers = || vec![("Content-Type", kind)];
        ask("GET", "/v1/memories/m", headers(), None).json(200);
        ask("GET", "/v1/memories/m", headers(), Some("")).json(200);
        ask("POST", "/v1/mirror/refresh", headers(), Some("{}")).json(200);
    }
    api.post("/v1/memories/m/pin", "").json(200);
    let chunked = "DELETE /v1/memories/m/pin HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
        Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    api.raw(chunked.as_bytes()).unwrap().json(200);
    ask("DELETE", "/v1/memories/m", vec![("Content-Length", "0")], None).json(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_ends_at_its_limit_whatever_it_claims() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let large = format!(r#"{{"content":"{}"}}"#, "x".repeat(2 << 20));
    api.post("/v1/memories", &large).fails(413, "too_large", "1048576 bytes");
    let deep = format!(r#"{{"content":{}"#, "[".repeat(1_000_000));
    api.post("/v1/memories", &deep).fails(400, "validation", "invalid type: sequence");
    let many = format!("[{}]", vec![r#"{"id":"x"}"#; 10_001].join(","));
    api.post("/v1/accesses:batch", &many).fails(400, "validation", "invalid length 10001");
    // Ten gigabytes in chunks, as far as anybody listens.
    let mut stream = api.connect();
    let head = "POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(65_536));
    let sent = (0..160_000).take_while(|_| stream.write_all(chunk.as_bytes()).is_ok()).count();
    assert!(sent < 1_000, "{sent} chunks were taken");
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(answer.is_empty() || HttpAnswer::of(&answer).status == 413);
    assert_eq!(api.get("/v1/memories").status, 200, "others are answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_dribbles_does_not_keep_others_waiting() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let mut slow: Vec<_> = (0..200).map(|_| api.connect()).collect();
    for (n, client) in slow.iter_mut().enumerate() {
        // Half dribble their head, half their body.
        let head: &[u8] = if n % 2 == 0 {
            b"GET /v1/memories HTTP/1.1\r\nHost: loc"
        } else {
            b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"
        };
        client.write_all(head).unwrap();
    }
    for n in 0..50 {
        api.post("/v1/memories", &format!(r#"{{"id":"m{n}","content":"x"}}"#)).json(201);
    }
    let begun = Instant::now();
    for client in slow.iter_mut().step_by(2) {
        let _ = client.read_to_end(&mut Vec::new());
    }
    assert!(begun.elapsed() < Duration::from_secs(30), "heads are not waited for: {:?}", begun.elapsed());
}
