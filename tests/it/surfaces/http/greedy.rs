//! Slow and greedy clients: readers that do not read, bodies that dribble, one key in loops of dry runs and lists. Others
//! are served meanwhile, and what is held in memory has an end.

use super::{HttpAnswer, HttpRequest, TestServer};
use crate::harness::neo4j::{Fresh, fresh};
use crate::harness::proxy::Proxy;
use crate::surfaces::ebb;
use crate::worker::process::eventually;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// A server, and keys for two who share it.
struct Shared {
    api: TestServer,
    greedy: String,
    other: String,
}

impl Shared {
    async fn on(db: &Fresh, roles: &str, variables: &[(&str, &str)]) -> Self {
        let key = |right: &str, scope: &str| {
            let made = ebb(db, &["key", "create", "--name", "k", "--right", right, "--scope", scope]).json();
            format!("Bearer {}", made["secret"].as_str().unwrap())
        };
        let (greedy, other) = (key("write", "company"), key("write", "team"));
        Self { api: TestServer::with_roles(db, roles, variables), greedy, other }
    }

    fn ask(&self, key: &str, method: &str, path: &str, body: Option<&str>) -> HttpAnswer {
        self.api.ask(&HttpRequest { method, path, headers: vec![("Authorization", key)], body })
    }

    /// Writes and recalls of the other key, each of which must succeed.
    #[track_caller]
    fn others_are_served(&self, name: &str) {
        for n in 0..20 {
            let body = format!(r#"{{"id":"{name}-{n}","content":"note {n} of the {name}"}}"#);
            self.ask(&self.other, "POST", "/v1/memories", Some(&body)).json(201);
            self.ask(&self.other, "POST", "/v1/recall", Some(r#"{"text":"note"}"#)).json(200);
        }
    }

    /// Memories of the greedy key: `count` of 8 KB.
    fn fill(&self, count: usize) {
        let text = "x".repeat(8_000);
        for from in (0..count).step_by(250) {
            let one = |n: usize| format!(r#"{{"id":"m{n:05}","content":"{text}{n}"}}"#);
            let all: Vec<String> = (from..count.min(from + 250)).map(one).collect();
            let body = format!("[{}]", all.join(","));
            self.ask(&self.greedy, "POST", "/v1/memories:batch", Some(&body)).json(200);
        }
    }

    /// A request for a long list, of which nothing is read.
    fn reader(&self) -> TcpStream {
        let mut stream = self.api.connect();
        let head = format!(
            "GET /v1/memories?limit=10000 HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\n\r\n",
            self.greedy
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }

    /// A figure of the metrics.
    fn figure(&self, name: &str) -> u64 {
        let page = self.api.get("/metrics").body;
        let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {page}")).parse().unwrap()
    }
}

/// Whether the others are to stop.
type Over = AtomicBool;

/// Says so when it is dropped, also by an assertion that failed.
struct Ends<'a>(&'a Over);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// `mirror.scopes` with the scope of the other key.
const SCOPES: (&str, &str) = ("EBB__MIRROR__SCOPES", "team");

#[tokio::test(flavor = "multi_thread")]
async fn readers_that_do_not_read_hold_little_and_are_cut_off() {
    let db = fresh().await;
    let shared = Shared::on(&db, "http", &[SCOPES]).await;
    shared.fill(2_000);
    let before = shared.api.resident_mib();
    let mut readers: Vec<TcpStream> = (0..24).map(|_| shared.reader()).collect();
    // Each has its first page once it has a head.
    let served =
        readers.iter().filter(|reader| reader.peek(&mut [0; 16]).is_ok_and(|count| count > 0)).count();
    assert_eq!(served, 24);
    shared.others_are_served("reader");
    let held = shared.figure("ebb_http_used{of=\"answer_bytes\"}");
    assert!(held <= 48 << 20, "{held} bytes");
    let grown = shared.api.resident_mib().saturating_sub(before);
    assert!(grown < 192, "24 lists of 16 MiB took {grown} MiB");
    let served = readers
        .iter_mut()
        .filter_map(|reader| {
            let mut head = [0; 12];
            reader.read_exact(&mut head).ok().filter(|()| head == *b"HTTP/1.1 200")
        })
        .count();
    assert!(served > 0);
    eventually("all are cut off", async || {
        shared.figure("ebb_http_cut_total") >= u64::try_from(served).unwrap()
            && shared.figure("ebb_http_used{of=\"answer_bytes\"}") == 0
    })
    .await;
    let mut rest = Vec::new();
    let _ = readers.pop().unwrap().read_to_end(&mut rest);
    assert!(!rest.ends_with(b"0\r\n\r\n"), "who is cut off sees that there was more");
    assert!(shared.ask(&shared.greedy, "GET", "/v1/memories?limit=1", None).status == 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_the_same_in_one_answer_and_in_many() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    for from in (0..1_200).step_by(400) {
        let items = |one: &dyn Fn(usize) -> String| {
            format!("[{}]", (from..from + 400).map(one).collect::<Vec<_>>().join(","))
        };
        let memory = |n: usize| format!(r#"{{"id":"m{n}","content":"note {n}"}}"#);
        api.post("/v1/memories:batch", &items(&memory)).json(200);
        let fact = |n: usize| format!(r#"{{"entity":"e{n}","relation":"r","value":{n},"source":"s"}}"#);
        api.post("/v1/facts:batch", &items(&fact)).json(201);
        let edge = |n: usize| {
            format!(r#"{{"from":"e{n}","to":"e{}","type":"t","weight":0.{}}}"#, n + 1, 2 + (n * 7) % 8)
        };
        api.post("/memory/graph/edges:batch", &items(&edge)).json(200);
    }
    let rows = |told: &HttpAnswer| {
        let body = told.json(200);
        let list = body.as_array().or_else(|| body.as_object()?.values().next()?.as_array());
        list.cloned().unwrap()
    };
    let next = |told: &HttpAnswer| {
        let link = told.header("link")?.split(['<', '>']).nth(1)?;
        Some(link.to_owned())
    };
    for list in ["/v1/memories", "/v1/facts", "/v1/facts?history=true", "/memory/graph/edges"] {
        let mark = if list.contains('?') { '&' } else { '?' };
        // Below and above the pages in which lists are read, and at their ends.
        for size in [1_199, 1_200, 1_000, 256] {
            let (mut path, mut all) = (Some(format!("{list}{mark}limit={size}")), Vec::new());
            while let Some(at) = path {
                let told = api.get(&at);
                let found = rows(&told);
                path = next(&told);
                assert!(
                    found.len() <= size && (path.is_none() || found.len() == size),
                    "{at}: {}",
                    found.len()
                );
                all.extend(found);
            }
            assert_eq!(all.len(), 1_200, "{list} by {size}");
            let name = |row: &serde_json::Value| {
                ["id", "from"].iter().find_map(|name| Some(row.get(name)?.as_str()?.to_owned())).unwrap()
            };
            let once: BTreeMap<_, _> = all.iter().map(|row| (name(row), row)).collect();
            assert_eq!(once.len(), 1_200, "{list} by {size}: each once");
        }
    }
    let heaviest = rows(&api.get("/memory/graph/edges"));
    let order: Vec<(f64, &str)> =
        heaviest.iter().map(|row| (row["weight"].as_f64().unwrap(), row["from"].as_str().unwrap())).collect();
    assert_eq!(order.len(), 1_200);
    assert!(order.is_sorted_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)).is_le()), "{order:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_cannot_be_read_to_its_end_has_none() {
    let db = fresh().await;
    let proxy = Proxy::before(&db.config.uri).await;
    let shared = Shared::on(&db, "http", &[("NEO4J_URI", &proxy.uri())]).await;
    shared.fill(2_000);
    let mut reader = shared.reader();
    let mut told = vec![0; 1 << 16];
    reader.read_exact(&mut told).unwrap();
    assert!(told.starts_with(b"HTTP/1.1 200") && told.windows(7).any(|part| part == b"chunked"));
    drop(proxy);
    let _ = reader.read_to_end(&mut told);
    assert!(told.len() > 1 << 16 && told.len() < 15 << 20, "{} bytes", told.len());
    assert!(!told.ends_with(b"0\r\n\r\n"), "a client sees that the body is not whole");
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_dribble_keep_no_place_and_end() {
    let db = fresh().await;
    let shared = Shared::on(&db, "http", &[SCOPES]).await;
    let mut slow: Vec<TcpStream> = (0..40).map(|_| shared.api.connect()).collect();
    for client in &mut slow {
        let head = format!(
            "POST /v1/memories:batch HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\nContent-Type: application/json\r\nContent-Length: 16000000\r\n\r\n[",
            shared.greedy
        );
        client.write_all(head.as_bytes()).unwrap();
    }
    let over = Over::default();
    thread::scope(|scope| {
        let _ends = Ends(&over);
        let mut dribbling = slow.iter().map(|client| client.try_clone().unwrap()).collect::<Vec<_>>();
        let over = &over;
        scope.spawn(move || {
            while !over.load(Ordering::Relaxed) {
                dribbling.iter_mut().for_each(|client| drop(client.write_all(b" ")));
                thread::sleep(Duration::from_millis(100));
            }
        });
        let batch = r#"[{"content":"one"},{"content":"two"}]"#;
        for key in [&shared.other, &shared.greedy] {
            for _ in 0..5 {
                shared.ask(key, "POST", "/v1/memories:batch", Some(batch)).json(200);
            }
        }
        shared.others_are_served("dribbler");
        for client in &mut slow {
            let mut answer = Vec::new();
            let _ = client.read_to_end(&mut answer);
            // Whoever goes on sending into a connection that is closed may lose the answer.
            assert!(
                answer.is_empty() || HttpAnswer::of(&answer).status == 408,
                "{}",
                String::from_utf8_lossy(&answer)
            );
        }
    });
    assert_eq!(shared.figure("ebb_http_used{of=\"body_bytes\"}"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_key_in_loops_keeps_neither_others_nor_jobs_waiting() {
    let db = fresh().await;
    let policy = r#"[{"id":"p","relation":"*","scope":"company","mode":"confidence","half_life_s":604800}]"#;
    let variables = [SCOPES, ("EBB_DECAY_POLICIES", policy), ("EBB__JOBS__LEARN__EVERY", "1s")];
    let shared = Shared::on(&db, "worker,http", &variables).await;
    shared.fill(500);
    let fact = |n: usize| format!(r#"{{"entity":"e{n}","relation":"r","value":{n},"source":"s"}}"#);
    let facts = format!("[{}]", (0..500).map(fact).collect::<Vec<_>>().join(","));
    shared.ask(&shared.greedy, "POST", "/v1/facts:batch", Some(&facts)).json(201);
    let done = || shared.figure("ebb_runs_total{job=\"learn\",outcome=\"done\"}");
    let over = Over::default();
    thread::scope(|scope| {
        let _ends = Ends(&over);
        let (shared, over) = (&shared, &over);
        for n in 0..80 {
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let told = if n % 2 == 0 {
                        let sweep = r#"{"scope":"company","mode":"dry_run"}"#;
                        shared.ask(&shared.greedy, "POST", "/v1/decay/sweep", Some(sweep))
                    } else {
                        shared.ask(&shared.greedy, "GET", "/v1/memories?limit=10000", None)
                    };
                    match told.status {
                        200 => {}
                        _ => told.fails(503, "unavailable", "too many lists and dry runs"),
                    }
                }
            });
        }
        let waiting = || shared.figure("ebb_http_waiting{of=\"lists\"}");
        while waiting() < 40 {
            thread::sleep(Duration::from_millis(20));
        }
        let runs = done();
        shared.others_are_served("key");
        shared.ask(&shared.other, "GET", "/v1/memories?limit=5", None).json(200);
        while done() == runs {
            thread::sleep(Duration::from_millis(100));
        }
    });
    for of in ["reads", "writes", "batches"] {
        assert_eq!(shared.figure(&format!("ebb_http_refused_total{{of=\"{of}\"}}")), 0, "{of}");
    }
}
