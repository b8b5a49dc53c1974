//! Malformed requests: those of random histories, with invalid values, bytes, paths and headers. None is answered by a status of 500
//! or more; none is told the text of a scope that the caller has no access to, or changes that scope; the next valid request is answered,
//! and jobs run over whatever was accepted.
//!
//! `EBB_MALFORMED_REQUESTS` and `EBB_MALFORMED_SEED` ask for more, or for those after others; each round prints the seed of the next.

use super::history::draw;
use super::program::{DONE, Keys, Program, ScopeRequest};
use crate::harness::neo4j::{Fresh, fresh};
use crate::harness::random::{Random, number_from_env};
use axum::body::Body;
use axum::http::Request;
use ebb_core::jobs::JobName;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Requests of a round, which begins on an empty database.
const ROUND: u64 = 4_000;
const SEED: u64 = 26;
/// The scope of the caller, and one that it has no access to.
const SCOPES: [&str; 2] = ["local", "vault"];
/// The other scope says this.
const SECRET: &str = "the combination of the vault is 7-31-4";

/// Values that are invalid for most fields.
fn nasty(random: &mut Random) -> Value {
    let deep = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    match random.below(30) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-1),
        3 => json!(0),
        4 => json!(i64::MAX),
        5 => json!(i64::MIN),
        6 => json!(u64::MAX),
        7 => json!(1e308),
        8 => json!(-0.0),
        9 => json!(5e-324),
        10 => json!(""),
        11 => json!(" "),
        12 => json!("\u{0}"),
        13 => json!("x".repeat(70_000)),
        14 => json!("\u{202e}\u{feff}\u{1f9e8}"),
        15 => json!("2026-02-30T25:61:00Z"),
        16 => json!("+999999999-12-31T23:59:59Z"),
        17 => json!("0000-01-01T00:00:00Z"),
        18 => json!("vault"),
        19 => json!("*"),
        20 => json!([]),
        21 => json!({}),
        22 => deep(3),
        23 => deep(200),
        24 => json!([null, 1, "a", [], {}]),
        25 => Value::Array(vec![json!("a"); 1_100]),
        26 => json!({"id": "a", "label": "Room", "$gte": 1}),
        27 => json!("}) DETACH DELETE n //"),
        28 => json!("NaN"),
        _ => json!(random.bits()),
    }
}

/// Parts of a path or a query, percent-encoded as they are sent, that are invalid for most.
const PARTS: [&str; 16] = [
    "",
    "%00",
    "%ff%fe",
    "%2e%2e%2f",
    "..",
    "a%20b",
    "%E2%80%AE",
    "{id}",
    "*",
    "-1",
    "1e9",
    "vault",
    "true",
    "2026-02-30",
    "%F0%9F%A7%A8",
    "99999999999999999999",
];
const QUERIES: [&str; 12] = [
    "limit",
    "cursor",
    "at",
    "scope",
    "tier",
    "order",
    "min_similarity",
    "now",
    "depth",
    "dry_run",
    "nonsense",
    "session",
];
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// One value somewhere in a document, replaced, removed, renamed or doubled.
fn mangle(value: &mut Value, random: &mut Random) {
    match value {
        Value::Object(fields) if !fields.is_empty() && !random.once_in(6) => {
            let name = fields.keys().nth(random.below(fields.len())).cloned().unwrap_or_default();
            match random.below(8) {
                0 => drop(fields.remove(&name)),
                1 => {
                    let moved = fields.remove(&name).unwrap_or_default();
                    fields.insert(format!("{name}_"), moved);
                }
                2 => drop(fields.insert("nonsense".to_owned(), nasty(random))),
                _ => mangle(&mut fields[&name], random),
            }
        }
        Value::Array(items) if !items.is_empty() && !random.once_in(6) => {
            let at = random.below(items.len());
            match random.below(6) {
                0 => drop(items.remove(at)),
                1 => items.push(items[at].clone()),
                _ => mangle(&mut items[at], random),
            }
        }
        _ => *value = nasty(random),
    }
}

/// The bytes of a body, some of which are changed, lost, doubled or made up.
fn scratched(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        match random.below(5) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, u8::try_from(random.below(256)).unwrap_or(0)),
            2 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            3 if at < bytes.len() => drop(bytes.remove(at)),
            4 => bytes.extend_from_within(at..),
            _ => {}
        }
    }
    bytes
}

/// A request that is like this one and is not it; `None` if it is none that can be sent.
fn mangled(ask: &ScopeRequest, keys: &Keys, random: &mut Random) -> Option<Request<Body>> {
    let mut body = ask.body.clone();
    let (mut path, mut method) = (ask.path.clone(), ask.method);
    let mut headers: BTreeMap<&str, Vec<u8>> = BTreeMap::from([
        ("host", b"localhost".to_vec()),
        ("authorization", format!("Bearer {}", keys.of(SCOPES[0])).into_bytes()),
        ("content-type", b"application/json".to_vec()),
        ("accept", b"application/json, text/event-stream".to_vec()),
    ]);
    if path == "/mcp" {
        headers.insert("mcp-protocol-version", b"2025-06-18".to_vec());
    }
    let mut scratch = false;
    for _ in 0..=random.below(2) {
        // A request without a body has only its other parts.
        let from = if body.is_some() { 0 } else { 7 };
        match from + random.below(12 - from) {
            0..=5 => body.iter_mut().for_each(|body| mangle(body, random)),
            6 => scratch = true,
            7 => method = random.pick(&METHODS),
            8 => {
                let parts: Vec<&str> = path.split('/').collect();
                let at = 1 + random.below(parts.len().max(2) - 1);
                let parts: Vec<&str> = parts
                    .iter()
                    .enumerate()
                    .map(|(n, part)| if n == at { random.pick(&PARTS) } else { part })
                    .collect();
                path = parts.join("/");
            }
            9 | 10 => {
                let (mark, name, value) =
                    (if path.contains('?') { '&' } else { '?' }, random.pick(&QUERIES), random.pick(&PARTS));
                path = format!("{path}{mark}{name}={value}");
            }
            _ => {
                let name = random.pick(&[
                    "authorization",
                    "content-type",
                    "accept",
                    "idempotency-key",
                    "mcp-protocol-version",
                    "origin",
                    "host",
                    "content-encoding",
                    "mcp-session-id",
                ]);
                let value = random.pick::<&[u8]>(&[
                    b"",
                    b"x",
                    b"\xff\xfe",
                    b"application/json",
                    b"null",
                    b"http://localhost",
                    b"Bearer ebb_",
                    b"gzip",
                    &[b'k'; 300],
                ]);
                headers.insert(name, value.to_vec());
            }
        }
    }
    let mut bytes = body.map_or_else(Vec::new, |body| body.to_string().into_bytes());
    if scratch {
        bytes = scratched(bytes, random);
    }
    let request = Request::builder().method(method).uri(path);
    let request =
        headers.iter().fold(request, |request, (name, value)| request.header(*name, value.as_slice()));
    request.body(Body::from(bytes)).ok()
}

/// Contents of the scope that the caller has no access to.
async fn vault(program: &Program, keys: &Keys) -> String {
    let listed = ScopeRequest::new("GET", "", "/v1/memories?scope=vault".to_owned(), None);
    let listed = program.ask(keys, SCOPES[1], &listed).await;
    format!("{listed} {:?}", program.held(SCOPES[1]).await)
}

/// Sends the requests of a round; how many were answered by each status.
async fn round(db: &Fresh, count: u64, random: &mut Random, statuses: &mut BTreeMap<u16, u64>) -> u64 {
    db.clear().await;
    let scopes = SCOPES.map(str::to_owned);
    let program = Program::on(db, &scopes);
    let keys = program.keys(&scopes).await;
    let secret = json!({"id": "kitchen1", "content": SECRET, "scope": SCOPES[1], "session": "s1", "mentions": ["Ada1"]});
    let secret = ScopeRequest::new("POST", "", "/v1/memories".to_owned(), Some(secret));
    assert!(program.ask(&keys, SCOPES[1], &secret).await.starts_with("201"));
    program.pass(0.1, &[], &SCOPES).await;
    let before = vault(&program, &keys).await;
    assert!(before.contains(SECRET), "{before}");
    let mut sent = 0;
    while sent < count {
        // The second pair of a plan has the scope `local`.
        let plan = draw(2, random);
        for ask in plan.pairs[1].sides[0].asks.iter().flatten().filter(|ask| !ask.by_operator) {
            let Some(request) = mangled(ask, &keys, random) else { continue };
            let told = format!("{} {}", request.method(), request.uri());
            let (status, answer) = program.answer(request).await;
            assert!(status < 500, "{told}, mangled of {ask}: {status} {answer}");
            assert!(!answer.contains(SECRET), "{told}, mangled of {ask}: {answer}");
            let is_problem = status >= 400 && !told.starts_with("HEAD") && !told.contains("/mcp");
            if is_problem {
                let problem: Map<String, Value> =
                    serde_json::from_str(&answer).unwrap_or_else(|why| panic!("{told}: {why}: {answer}"));
                assert!(problem["code"].is_string() && problem["detail"].is_string(), "{told}: {answer}");
            }
            *statuses.entry(status).or_default() += 1;
            sent += 1;
        }
        let sound = ScopeRequest::new("GET", "", "/v1/memories?scope=local".to_owned(), None);
        let answer = program.ask(&keys, SCOPES[0], &sound).await;
        assert!(answer.starts_with("200"), "{answer}");
    }
    assert_eq!(vault(&program, &keys).await, before);
    for (job, ended) in program.pass(1.0, &JobName::ALL, &SCOPES).await {
        assert_eq!(ended, DONE, "{job}");
    }
    sent
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mangled_request_is_refused_or_done_and_tells_nothing() {
    let db = fresh().await;
    let count = number_from_env("EBB_MALFORMED_REQUESTS", 600);
    let mut random = Random::seeded(number_from_env("EBB_MALFORMED_SEED", SEED));
    let (mut sent, mut statuses) = (0, BTreeMap::new());
    while sent < count {
        sent += round(&db, ROUND.min(count - sent), &mut random, &mut statuses).await;
        println!("{sent} mangled requests, by status {statuses:?}; next seed {}", random.0);
    }
    let count_of = |status: u16| statuses.get(&status).copied().unwrap_or(0);
    assert!([400, 403, 404, 405].map(count_of).iter().all(|count| *count > 0), "{statuses:?}");
    assert!(count_of(200) + count_of(201) > sent / 20, "{statuses:?}");
}
