//! Mirrors as operators meet them: in the status of all processes, told to read anew, looked at in files, written for other
//! programs, saved as questions are asked, and the same in four processes.

use super::http::{HttpRequest, TestServer};
use super::recall::{ids, told};
use super::{CliOutput, command, ebb};
use crate::harness::ebb::{remember, session};
use crate::harness::neo4j::{Fresh, fresh};
use crate::harness::proxy::Proxy;
use crate::harness::random::Random;
use crate::worker::process::eventually;
use ebb_core::domain::event::{Event, Remember};
use ebb_core::domain::ids::EntityName;
use ebb_core::jobs::JobName;
use roxmltree::{Document, Node};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

const OFTEN: (&str, &str) = ("EBB__MIRROR__REFRESH", "1s");
const QUESTION: &str = r#"{"text":"who maintains the Parser"}"#;

/// What processes say of their mirrors, as `ebb status` has it.
fn mirrors(db: &Fresh) -> Vec<Value> {
    ebb(db, &["status"]).json()["mirrors"].as_array().unwrap().clone()
}

async fn words(db: &Fresh) -> i64 {
    db.client.value("MATCH (c:EbbChange) RETURN count(c) AS n").await
}

/// The program in a folder, without a database that answers.
fn alone(db: &Fresh, folder: &Path, args: &[&str]) -> CliOutput {
    command(db, folder, args).env("NEO4J_URI", "bolt://127.0.0.1:1").output().unwrap().into()
}

fn saved(db: &Fresh, folder: &Path) -> Value {
    CliOutput::from(command(db, folder, &["graph", "save", "memory.json"]).output().unwrap()).json()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_finds_the_write_that_it_names_in_every_process() {
    let db = fresh().await;
    // Neither looks by itself.
    let rarely = [("EBB__MIRROR__REFRESH", "1h"), ("EBB__MIRROR__STALENESS", "2h")];
    let both = [TestServer::on(&db, &rarely), TestServer::on(&db, &rarely)];
    let ask = |api: &TestServer, text: &str, change: &Value| {
        let body = json!({"text": text, "at_least": change, "wait_ms": 5_000}).to_string();
        api.post("/v1/recall", &body)
    };
    let mut last = Value::Null;
    for n in 0..25 {
        let (id, text) = (format!("kettle-{n}"), format!("The kettle of floor x{n} leaks"));
        let body = json!({"id": id, "content": text}).to_string();
        let made = both[n % 2].once(&id, "/v1/memories", &body).json(201);
        last = made["change"].clone();
        // Whoever does not name it gets it, or an answer that says that it lacks something.
        let found =
            both[n % 2].post("/v1/recall", &json!({"text": format!("kettle x{n}")}).to_string()).json(200);
        assert!(found["hits"][0]["id"] == json!(id) || found["stale"] == true, "{found}");
        for api in &both {
            let found = ask(api, &format!("kettle x{n}"), &last).json(200);
            assert_eq!((&found["hits"][0]["id"], &found["flags"]), (&json!(id), &json!([])), "{found}");
            assert_eq!(found["stale"], false, "{found}");
        }
        // A repeated request names what the first one wrote.
        let again = both[1 - n % 2].once(&id, "/v1/memories", &body).json(201);
        let found = ask(&both[n % 2], &format!("kettle x{n}"), &again["change"]).json(200);
        assert_eq!((&found["hits"][0]["id"], &found["flags"]), (&json!(id), &json!([])), "{found}");
    }
    let gone = both[0].delete("/v1/memories/kettle-24").json(200);
    for api in &both {
        let found = ask(api, "kettle x24", &gone["change"]).json(200);
        assert_eq!(found["flags"], json!([]), "{found}");
        assert!(found["hits"].as_array().unwrap().iter().all(|hit| hit["id"] != "kettle-24"), "{found}");
        let text = json!({"text": "kettle x3", "at_least": last}).to_string();
        let context = api.post("/v1/context", &text).json(200);
        assert!(context["text"].as_str().unwrap().contains("floor x3"), "{context}");
    }
    // Documented answers are as documented: there the header has it.
    let observed = both[0].post("/memory/graph/edges", r#"{"from":"Ann","to":"Bob","type":"knows"}"#);
    assert!(observed.header("ebb-change").is_some_and(|change| change.contains('@')), "{observed:?}");
    assert_eq!(observed.json(201)["change"], Value::Null);
}

/// A scope whose refresh takes long, here because its connection is held, holds up no other.
#[tokio::test(flavor = "multi_thread")]
async fn a_scope_that_takes_long_holds_up_no_other() {
    let db = fresh().await;
    let proxy = Proxy::before(&db.config.uri).await;
    let uri = proxy.uri();
    let variables = [
        ("NEO4J_URI", uri.as_str()),
        ("EBB__MIRROR__REFRESH", "1h"),
        ("EBB__MIRROR__STALENESS", "2h"),
        ("EBB__MIRROR__SCOPES", "slow-one,quick"),
    ];
    let (api, other) = (TestServer::on(&db, &variables), TestServer::on(&db, &[]));
    let add = |scope: &str, text: &str| {
        let body = json!({"scope": scope, "content": text}).to_string();
        other.post("/v1/memories", &body).json(201)["change"].clone()
    };
    let reads = |scope: &str, change: &Value, wait: u32| {
        let body = json!({"scope": scope, "text": "kettle", "at_least": change, "wait_ms": wait});
        api.post("/v1/recall", &body.to_string()).json(200)
    };
    for scope in ["slow-one", "quick", "on-demand"] {
        // The second one is applied once all of the first load is over.
        for text in ["the kettle leaks", "the kettle drips"] {
            let change = add(scope, text);
            eventually("it is read", async || reads(scope, &change, 5_000)["flags"] == json!([])).await;
        }
    }
    proxy.hold("slow-one");
    let late = add("slow-one", "the kettle whistles");
    proxy.held().await;
    for scope in ["quick", "on-demand"] {
        for text in ["the kettle boils", "the kettle is new"] {
            let change = add(scope, text);
            let found = reads(scope, &change, 5_000);
            assert_eq!((&found["flags"], &found["stale"]), (&json!([]), &json!(false)), "{scope}: {found}");
        }
    }
    let found = reads("slow-one", &late, 50);
    assert_eq!(found["flags"], json!(["change_not_reached"]), "it is in progress still: {found}");
    proxy.go();
    eventually("its refresh ends", async || reads("slow-one", &late, 5_000)["flags"] == json!([])).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_is_not_reached_is_said() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let made = api.post("/v1/memories", r#"{"id":"m","content":"the kettle leaks"}"#).json(201);
    let known = made["change"].as_str().unwrap();
    let (element, at) = known.rsplit_once('@').unwrap();
    let later = format!("{element}0@{}", at.parse::<i64>().unwrap() + 60_000);
    let ask = |change: &str, wait: u32| {
        let body = json!({"text": "kettle", "at_least": change, "wait_ms": wait}).to_string();
        api.post("/v1/recall", &body)
    };
    let found = ask(&later, 50).json(200);
    assert_eq!(found["flags"], json!(["change_not_reached"]), "{found}");
    ask("yesterday", 50).fails(400, "validation", "at_least: not the change of a write");
    ask(known, 5_001).fails(400, "validation", "wait_ms is 5001, and 5000 at most");
    assert_eq!(ask(known, 5_000).json(200)["hits"][0]["id"], "m");
}

#[tokio::test(flavor = "multi_thread")]
async fn mirrors_follow_what_any_process_writes_and_other_programs_change_on_request() {
    let db = fresh().await;
    let rarely = [("EBB__MIRROR__REFRESH", "1h"), ("EBB__MIRROR__STALENESS", "2h")];
    let (one, other) = (TestServer::on(&db, &rarely), TestServer::on(&db, &rarely));
    one.post("/v1/memories", r#"{"id":"m","content":"the kettle leaks"}"#).json(201);
    for api in [&one, &other] {
        eventually("it is found", async || {
            api.post("/v1/recall", r#"{"text":"kettle"}"#).json(200)["hits"][0]["id"] == "m"
        })
        .await;
    }
    db.client.run("MATCH (m:Memory {id: 'm'}) SET m.content = 'the toaster smokes'", &[]).await;
    let before = other.get("/v1/mirror").json(200)["generation"].clone();
    let refreshed = other.ask(&HttpRequest {
        method: "POST",
        path: "/v1/mirror/refresh",
        headers: Vec::new(),
        body: None,
    });
    let refreshed = refreshed.json(200);
    assert_eq!(refreshed["generation"], before, "the change has neither a record nor an instant of its own");
    assert_eq!(ebb(&db, &["graph", "refresh"]).code, Some(0));
    for api in [&one, &other] {
        eventually("it is found", async || {
            api.post("/v1/recall", r#"{"text":"toaster"}"#).json(200)["hits"][0]["id"] == "m"
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn status_shows_the_mirrors_of_serving_processes_until_they_stop() {
    let db = fresh().await;
    told(&db);
    assert_eq!(ebb(&db, &["recall", "Parser"]).code, Some(0));
    assert_eq!(mirrors(&db), [Value::Null; 0], "a verb of the command line leaves none");
    let variables = [OFTEN, ("EBB__MIRROR__STALENESS", "5s"), ("EBB__MIRROR__SCOPES", "local,a \"b\"")];
    let mut api = TestServer::on(&db, &variables);
    eventually("both mirrors are told of", async || mirrors(&db).len() == 2).await;
    let before = words(&db).await;
    let kept = mirrors(&db);
    assert_eq!([&kept[0]["scope"], &kept[1]["scope"]], ["a \"b\"", "local"]);
    assert_eq!(kept[0]["process"], kept[1]["process"]);
    let held = api.get("/v1/mirror").json(200);
    for field in ["nodes", "slots", "generation", "whole", "bytes"] {
        assert_eq!(kept[1][field], held[field], "{field}");
    }
    assert_eq!((&kept[1]["stale"], &kept[1]["refresh_ms"]), (&json!(false), &json!(1_000)));
    let nodes = number(&held["nodes"]);
    assert!(nodes > 5 && kept[0]["nodes"] == 0, "{kept:?}");

    let over_http = api.get("/v1/status").json(200);
    assert_eq!(over_http["mirrors"].as_array().unwrap().len(), 2);
    let metrics = api.get("/metrics").body;
    for line in [
        format!("ebb_mirror_nodes{{scope=\"local\"}} {nodes}"),
        "ebb_mirror_nodes{scope=\"a \\\"b\\\"\"} 0".to_owned(),
        "ebb_mirror_generation{scope=\"local\"} 1".to_owned(),
    ] {
        assert!(metrics.lines().any(|told| told == line), "{line}\n{metrics}");
    }
    let table = ebb(&db, &["status", "-o", "table"]).out;
    assert!(table.contains("MIRROR OF") && table.contains("everything"), "{table}");
    assert_eq!(ebb(&db, &["doctor"]).code, Some(0));

    // It is told of at every look, which is no change of the graph.
    db.client.run("MATCH (c:EbbCounter) WHERE c.name STARTS WITH 'mirror:' DELETE c", &[]).await;
    eventually("it is told of again", async || mirrors(&db).len() == 2).await;
    assert_eq!(words(&db).await, before);
    assert!(api.stop(), "{}", api.log());
    assert_eq!(mirrors(&db), [Value::Null; 0], "{}", api.log());

    // One that was killed leaves its word, which grows old.
    let api = TestServer::on(&db, &variables);
    eventually("it is told of", async || mirrors(&db).len() == 2).await;
    drop(api);
    eventually("it is late, or gone", async || mirrors(&db).iter().all(|kept| kept["stale"] == true)).await;
    let told = ebb(&db, &["graph", "refresh", "--dry-run"]).json();
    assert_eq!((told["mirrors"].as_array().unwrap().len(), &told["within_ms"]), (2, &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_word_makes_mirrors_take_over_what_others_changed() {
    let db = fresh().await;
    told(&db);
    let api = TestServer::on(&db, &[OFTEN]);
    let recalled =
        || api.post("/v1/recall", r#"{"text":"who maintains the Parser","content":false}"#).json(200);
    let before = recalled();
    assert!(ids(&before).contains(&"m1"), "{before:#}");
    eventually("its mirror is told of", async || mirrors(&db).len() == 1).await;
    db.client.run("MATCH (m:Memory {id: 'm1'}) DETACH DELETE m", &[]).await;
    db.client
        .run("MATCH (e:Entity {name: 'Parser', scope: 'local'}) CREATE (:Memory {id: 'm9', scope: 'local', tier: 'working', content: 'The Parser again'})-[:MENTIONS]->(e)", &[])
        .await;
    // Looks go by, and nobody has told.
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    let still = recalled();
    assert_eq!((&still["generation"], &still["hits"]), (&before["generation"], &before["hits"]));

    let left = words(&db).await;
    let rehearsed = ebb(&db, &["graph", "refresh", "--dry-run"]).json();
    assert_eq!((&rehearsed["dry_run"], words(&db).await), (&json!(true), left));
    let refreshed = ebb(&db, &["graph", "refresh"]).json();
    assert_eq!(refreshed["schema"], "ebb.graph.refresh/1");
    assert_eq!((&refreshed["within_ms"], &refreshed["dry_run"]), (&json!(1_000), &json!(false)));
    assert_eq!((refreshed["mirrors"].as_array().unwrap().len(), words(&db).await), (1, left + 1));
    eventually("the mirror follows", async || {
        let later = recalled();
        !ids(&later).contains(&"m1") && ids(&later).contains(&"m9")
    })
    .await;
    let table = ebb(&db, &["graph", "refresh", "-o", "table"]).out;
    assert!(table.contains("reloads the graph at its next refresh, within 1s"), "{table}");
}

#[tokio::test(flavor = "multi_thread")]
async fn over_stdio_a_mirror_follows_from_its_first_question_to_the_end() {
    let db = fresh().await;
    told(&db);
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(&db, folder.path(), &["mcp"])
        .envs([OFTEN])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap()).lines();
    let client = json!({"name": "by hand", "version": "1"});
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}});
    writeln!(to, "{hello}").unwrap();
    from.next().unwrap().unwrap();
    writeln!(to, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
    let question = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "recall", "arguments": {"text": "who maintains the Parser"}}});
    let mut recalled = || {
        writeln!(to, "{question}").unwrap();
        let answer: Value = serde_json::from_str(&from.next().unwrap().unwrap()).unwrap();
        answer["result"]["structuredContent"].clone()
    };
    // Looks go by, and nobody has asked.
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(mirrors(&db), [Value::Null; 0]);
    let first = recalled();
    assert!(ids(&first).contains(&"m1"), "{first:#}");
    eventually("its mirror is told of", async || mirrors(&db).len() == 1).await;
    ebb(&db, &["memory", "add", "The Parser again", "--id", "m9", "--mention", "Parser"]).json();
    eventually("the mirror follows", async || ids(&recalled()).contains(&"m9")).await;
    drop(to);
    assert!(child.wait().unwrap().success(), "it ends with its client");
    assert_eq!(mirrors(&db), [Value::Null; 0], "its word is taken away");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_says_what_it_holds_or_why_it_is_none() {
    let db = fresh().await;
    told(&db);
    let folder = tempfile::tempdir().unwrap();
    let mirror = &saved(&db, folder.path())["mirror"];
    let load = |name: &str| alone(&db, folder.path(), &["graph", "load", name]);
    let loaded = load("memory.json").json();
    assert_eq!(loaded["schema"], "ebb.graph.load/1");
    assert_eq!((&loaded["nodes"], &loaded["slots"]), (&mirror["nodes"], &mirror["slots"]));
    assert_eq!(loaded["kinds"], json!({"Entity": 3, "Memory": 3}));
    let relations = loaded["relations"].as_object().unwrap();
    assert_eq!(relations.keys().collect::<Vec<_>>(), ["MENTIONS", "RELATES_TO"]);
    assert_eq!(relations.values().map(number).sum::<u64>(), number(&loaded["slots"]));
    assert_eq!((&loaded["checksum"], number(&loaded["bytes"]) > 0), (&json!(true), true));

    let whole = fs::read(folder.path().join("memory.json")).unwrap();
    assert_eq!(number(&loaded["file_bytes"]), whole.len() as u64);
    let broken = |bytes: &[u8], why: &str| {
        fs::write(folder.path().join("broken.json"), bytes).unwrap();
        let said = load("broken.json");
        assert_eq!(said.code, Some(2), "{why}: {}{}", said.out, said.err);
        assert!(said.err.contains("broken.json cannot be used: "), "{why}: {}", said.err);
    };
    let mut random = Random::seeded(0x5eed_f11e);
    for _ in 0..12 {
        let length = random.below(whole.len());
        broken(&whole[..length], &format!("cut to {length} bytes"));
        let (at, bit) = (random.below(whole.len()), random.below(8));
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << bit;
        broken(&flipped, &format!("bit {bit} of byte {at}"));
    }
    broken(b"", "empty");
    broken(b"{\"version\":4,\"nodes\":[],\"edges\":[]}", "another version");
    load("nowhere.json").fails(2, "cannot open nowhere.json");
    // One that others wrote may have no sum.
    let text = String::from_utf8(whole).unwrap();
    let unsummed = text.split(",\"checksum\"").next().unwrap().to_owned() + "}";
    fs::write(folder.path().join("unsummed.json"), unsummed).unwrap();
    let loaded = load("unsummed.json").json();
    assert_eq!((&loaded["checksum"], &loaded["nodes"]), (&json!(false), &mirror["nodes"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graph_is_exported_for_other_programs() {
    let db = fresh().await;
    told(&db);
    let odd = "</data> & \"quotes\" \u{1f9ed} and more";
    ebb(&db, &["memory", "add", odd, "--id", "m <4>", "--mention", "Parser & Co"]).json();
    let stats = ebb(&db, &["graph", "stats"]).json();
    let written = ebb(&db, &["graph", "export", "--format", "graphml"]);
    assert_eq!(written.code, Some(0), "{}", written.err);
    let document = Document::parse(&written.out).unwrap();
    let count = |name: &str| document.descendants().filter(|node| node.has_tag_name(name)).count() as u64;
    assert_eq!((count("node"), count("edge")), (number(&stats["nodes"]), number(&stats["slots"])));
    let texts: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
    for told in [odd, "m <4>", "Parser & Co", "Entity", "Memory", "MENTIONS", "working"] {
        assert!(texts.contains(&told), "{told}");
    }
    let data = |id: &str, key: &str| {
        let holds = |node: &Node<'_, '_>| node.children().any(|data| data.text() == Some(id));
        let node = document.descendants().filter(|node| node.has_tag_name("node")).find(holds).unwrap();
        node.children()
            .find(|data| data.attribute("key") == Some(key))
            .map(|data| data.text().unwrap().to_owned())
    };
    let energy: f64 = data("m1", "energy").unwrap().parse().unwrap();
    assert!(energy > 0.9 && energy <= 1.0, "{energy}");
    let shown = ebb(&db, &["memory", "show", "m1"]).json();
    for (key, field) in [("created", "created"), ("last_used", "lastAccessed")] {
        assert_eq!(data("m1", key).as_deref(), shown[field].as_str(), "{key}");
    }
    assert_eq!((data("Parser & Co", "energy"), data("Parser & Co", "tier")), (None, None));
}

/// One page, whatever the graph holds.
#[tokio::test(flavor = "multi_thread")]
async fn a_graph_is_drawn_on_one_page() {
    let db = fresh().await;
    told(&db);
    let odd = "</text><script>alert(1)</script> & more of a text that is longer than a label";
    ebb(&db, &["memory", "add", odd, "--id", "m <4>", "--mention", "Parser"]).json();
    let draw = |top: &str| ebb(&db, &["graph", "export", "--format", "svg", "--top", top]);
    let drawn = draw("100");
    assert_eq!(drawn.code, Some(0), "{}", drawn.err);
    let document = Document::parse(&drawn.out).unwrap();
    let count =
        |class: &str| document.descendants().filter(|node| node.attribute("class") == Some(class)).count();
    let nodes = ebb(&db, &["graph", "stats"]).json()["nodes"].as_u64().unwrap();
    let nodes = usize::try_from(nodes).unwrap();
    // The legend has one of each kind.
    assert_eq!(count("label"), nodes);
    assert_eq!((count("node working"), count("node entity")), (4 + 1, nodes - 4 + 1), "{}", drawn.out);
    assert!(count("tie") > 0 && !drawn.out.contains("<script"), "{}", drawn.out);
    assert_eq!(draw("100").out.len(), drawn.out.len());
    ebb(&db, &["memory", "forget", "m1", "m2", "m3", "--yes"]).json();
    three_thousand(&db).await;
    let large = draw("100").out;
    let large = Document::parse(&large).unwrap();
    let legend = large.descendants().filter(|node| node.attribute("class") == Some("note")).count() - 1;
    let shapes = large.descendants().filter(|node| node.has_tag_name("g")).count() - legend;
    let labels = large.descendants().filter(|node| node.attribute("class") == Some("label")).count();
    assert_eq!(shapes, 60);
    assert!((20..=60).contains(&labels), "{labels}");
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_recalls_leave_a_file_that_answers_the_same() {
    let db = fresh().await;
    told(&db);
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("mirrors");
    let api = TestServer::on(&db, &[("EBB__MIRROR__FOLDER", home.to_str().unwrap())]);
    let ask = || api.post("/v1/recall", QUESTION).json(200);
    for _ in 1..50 {
        ask();
    }
    assert!(!home.exists(), "forty-nine are too few");
    assert_eq!(api.get("/v1/mirror").json(200)["saved_generation"], Value::Null);
    let answer = ask();
    eventually("it is saved", async || {
        api.get("/v1/mirror").json(200)["saved_generation"] == answer["generation"]
    })
    .await;
    assert!(api.get("/metrics").body.contains("\nebb_mirror_saved_generation{scope=\"local\"} 1\n"));
    let file =
        alone(&db, folder.path(), &["recall", "who maintains the Parser", "--graph", "mirrors/local.json"])
            .json();
    assert!(!ids(&file).is_empty());
    assert_eq!(ids(&file), ids(&answer), "the same hits in the same order");
    drop(api);

    // A folder that cannot be: answers go on, and the failure is told.
    fs::write(folder.path().join("taken"), "").unwrap();
    let taken = folder.path().join("taken/here");
    let variables = [("EBB__MIRROR__FOLDER", taken.to_str().unwrap()), ("EBB__MIRROR__PERSIST_EVERY", "1")];
    let api = TestServer::on(&db, &variables);
    let again = api.post("/v1/recall", QUESTION).json(200);
    assert_eq!(ids(&again), ids(&answer));
    eventually("the failure is counted", async || api.get("/v1/mirror").json(200)["save_failures"] == 1)
        .await;
    let held = api.get("/v1/mirror").json(200);
    assert_eq!(held["saved_generation"], Value::Null);
    assert!(api.get("/metrics").body.contains("\nebb_mirror_save_failures_total{scope=\"local\"} 1\n"));
    assert!(api.log().contains("the mirror could not be saved"), "{}", api.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_answers_from_what_the_stop_saved() {
    let db = fresh().await;
    told(&db);
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("mirrors");
    let saving = ("EBB__MIRROR__FOLDER", home.to_str().unwrap());
    let mut api = TestServer::on(&db, &[saving]);
    let answer = api.post("/v1/recall", QUESTION).json(200);
    assert!(api.stop());
    let files: Vec<_> = fs::read_dir(&home).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, ["local.state"]);

    let mut api = TestServer::on(&db, &[saving]);
    let again = api.post("/v1/recall", QUESTION).json(200);
    assert_eq!((ids(&again), &again["generation"]), (ids(&answer), &answer["generation"]));
    let answering = "answering from the saved state";
    assert!(api.log().contains(answering), "{}", api.log());
    assert!(api.stop());

    // Off: nothing is read, and nothing written.
    fs::write(home.join("local.state"), "untouched").unwrap();
    let mut api = TestServer::on(&db, &[saving, ("EBB__MIRROR__PERSIST_EVERY", "0")]);
    assert_eq!(ids(&api.post("/v1/recall", QUESTION).json(200)), ids(&answer));
    assert!(!api.log().contains("saved state"), "{}", api.log());
    assert!(api.stop());
    assert_eq!(fs::read_to_string(home.join("local.state")).unwrap(), "untouched");
}

/// A memory that mentions some entities, which it is not alone in mentioning.
fn mentioning(name: &str, n: usize, content: &str) -> Event {
    let entities = [format!("E{}", n % 40), format!("E{}", n * 7 % 40)];
    Event::Remember(Remember {
        content: content.to_owned(),
        mentions: entities.iter().map(|name| EntityName::new(name).unwrap()).collect(),
        session: Some(session(&format!("s{}", n % 30))),
        ..remember(name, n as f64 * 0.01)
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_while_saving_leaves_a_file_that_loads() {
    let db = fresh().await;
    let text = "What somebody said about something, at some length, ".repeat(4);
    for part in 0..3_usize {
        let all = (0..1_000).map(|n| mentioning(&format!("m{part}-{n}"), n, &text));
        db.apply(&all.collect::<Vec<_>>()).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let (file, partial) = (folder.path().join("local.json"), folder.path().join(".local.json.ebb-partial"));
    let variables =
        [("EBB__MIRROR__FOLDER", folder.path().to_str().unwrap()), ("EBB__MIRROR__PERSIST_EVERY", "1")];
    let nodes = || {
        let loaded = alone(&db, folder.path(), &["graph", "load", "local.json"]).json();
        assert_eq!(loaded["checksum"], true);
        number(&loaded["nodes"])
    };
    let ask = |api: &TestServer| api.post("/v1/recall", r#"{"text":"E7","content":false}"#).json(200);

    let api = TestServer::on(&db, &variables);
    ask(&api);
    let begun = Instant::now();
    eventually("the first is saved", async || file.exists()).await;
    let took = begun.elapsed();
    drop(api);
    let first = nodes();
    let (mut before, mut broken_off) = (first, 0);
    let mut random = Random::seeded(0x6b11_19ed);
    for round in 1..=8_u64 {
        // So that a new file can be told from the old one.
        db.apply(&[mentioning(&format!("new{round}"), 3, "new")]).await;
        // Else this one would begin with what the one before saved last, and save nothing before it has caught up.
        let _ = fs::remove_file(folder.path().join("local.state"));
        // What the one before left is written over, or there is none.
        let fresh_start = round % 2 == 0;
        if fresh_start {
            let _ = fs::remove_file(&partial);
        }
        let api = TestServer::on(&db, &variables);
        ask(&api);
        if fresh_start {
            let deadline = Instant::now() + took;
            while !partial.exists() && Instant::now() < deadline {
                std::hint::spin_loop();
            }
        }
        // Somewhere in a save; now and then before it, or after.
        std::thread::sleep(took.mul_f64(random.unit() * 0.8));
        drop(api);
        broken_off += u32::from(partial.exists());
        let after = nodes();
        assert!(after == before || after == first + round, "round {round}: {before} became {after}");
        before = after;
    }
    eprintln!("{broken_off} of 8 were broken off; a save took {took:?}");
    assert!(broken_off > 0, "no kill met a save: it took {took:?}");
}

/// An answer without the fields that tell when it was given.
fn without(body: &str, fields: &[&str]) -> String {
    let mut body = body.to_owned();
    for field in fields {
        let from = body.find(&format!("\"{field}\":")).unwrap_or_else(|| panic!("no {field} in {body}"));
        let to = from + body[from..].find(',').unwrap() + 1;
        body.replace_range(from..to, "");
    }
    body
}

#[tokio::test(flavor = "multi_thread")]
async fn four_processes_give_the_same_answers_to_the_byte() {
    let db = fresh().await;
    let all =
        (0..300).map(|n| mentioning(&format!("m{n}"), n, &format!("word{} of thing {}", n % 17, n % 5)));
    db.apply(&all.collect::<Vec<_>>()).await;
    // What is pinned does not fade: of others the weight is that of the instant at which each process looked.
    for (from, kind, to) in [("E1", "knows", "E2"), ("E2", "helps", "E3"), ("E5", "knows", "E1")] {
        ebb(&db, &["relation", "observe", from, kind, to, "--pinned"]).json();
    }
    for job in [JobName::Coactivate, JobName::Cluster] {
        db.run(job, 5.0).await;
    }
    let four: Vec<TestServer> = (0..4).map(|_| TestServer::on(&db, &[OFTEN])).collect();
    let questions = [
        r#"{"text":"E1"}"#,
        r#"{"text":"who knows E1","why":true}"#,
        r#"{"text":"word3 of thing 2","top_k":50}"#,
        r#"{"text":"word3 of thing 2","words":false,"why":true}"#,
        r#"{"seeds":[{"id":"E7","score":1},{"id":"m12","score":0.25}],"top_k":100}"#,
        r#"{"text":"E2 E3","profile":"reference"}"#,
        r#"{"text":"E2 E3","spread":"ppr","top_k":30}"#,
        r#"{"text":"thing","kinds":["Memory"],"content":false}"#,
        r#"{"text":"E4","session":"s4"}"#,
        r#"{"text":"nothing of the kind"}"#,
    ];
    let same = |fields: &[&str]| {
        let mut met = 0;
        for question in questions {
            let answers: Vec<String> = four
                .iter()
                .map(|api| {
                    let told = api.post("/v1/recall", question);
                    met += told.json(200)["hits"].as_array().unwrap().len();
                    without(&told.body, fields)
                })
                .collect();
            for answer in &answers[1..] {
                assert_eq!(answer, &answers[0], "{question}");
            }
        }
        assert!(met > 400, "{met} hits");
    };
    same(&["as_of", "stale_ms"]);

    // After changes each has made its own generations, which the id of an answer tells apart.
    db.apply(&[mentioning("late1", 1, "word3 of thing 2 came late")]).await;
    tokio::time::sleep(Duration::from_millis(700)).await;
    db.apply(&[mentioning("late2", 2, "word3 of thing 2 came last")]).await;
    for api in &four {
        eventually("it follows", async || {
            let answer = api.post("/v1/recall", r#"{"text":"came last","content":false}"#).json(200);
            ids(&answer).contains(&"late2")
        })
        .await;
    }
    same(&["as_of", "stale_ms", "generation", "recall_id"]);
}

/// Memories `m0` to `m2999`, each hotter than the one before, with a word of its own.
async fn three_thousand(db: &Fresh) {
    let text = "UNWIND range(0, 2999) AS n CREATE (:Memory:EbbMemory {scope: 'local', id: 'm' + n, \
        content: 'note of word' + n, tier: 'longTerm', energy: 1.0 + n / 1000.0, energyAt: datetime(), lastAccessed: datetime(), \
        created: datetime(), accessCount: 1})";
    db.client.run(text, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scope_beyond_its_budget_answers_with_the_hottest_and_says_so() {
    let db = fresh().await;
    three_thousand(&db).await;
    let small = ("EBB__MIRROR__MAX_BYTES", "1 MiB");
    let ebb = |args: &[&str]| -> CliOutput {
        let folder = tempfile::tempdir().unwrap();
        command(&db, folder.path(), args).env(small.0, small.1).output().unwrap().into()
    };
    let partial = |answer: &Value| {
        let share = answer["held_share"].as_f64().unwrap();
        assert!(answer["whole"] == false && share > 0.01 && share < 0.9, "{answer:#}");
        share
    };
    let stats = ebb(&["graph", "stats"]).json();
    let share = partial(&stats);
    assert!((stats["nodes"].as_f64().unwrap() / 3_000.0 - share).abs() < 1e-9, "{stats:#}");
    let table = ebb(&["graph", "stats", "-o", "table"]).out;
    assert!(table.contains("no: the hottest"), "{table}");
    let hot = ebb(&["recall", "word2999"]).json();
    partial(&hot);
    assert_eq!(ids(&hot)[0], "m2999");
    let cold = ebb(&["recall", "word0"]).json();
    partial(&cold);
    assert!(!ids(&cold).contains(&"m0"), "{cold:#}");
    let table = ebb(&["recall", "word0", "-o", "table"]).out;
    assert!(table.contains("Searched the hottest"), "{table}");
    for args in [
        &["engine", "pagerank"][..],
        &["engine", "activate", "--seed", "m2999"],
        &["engine", "communities"],
        &["engine", "resonate", "--seed", "m2999"],
    ] {
        partial(&ebb(args).json());
    }

    let mut api = TestServer::on(&db, &[small]);
    partial(&api.post("/v1/recall", r#"{"text":"word2999"}"#).json(200));
    partial(&api.get("/v1/mirror").json(200));
    eventually("its mirror is told of", async || mirrors(&db).len() == 1).await;
    partial(&mirrors(&db)[0]);
    assert_eq!(api.get("/readyz").status, 200, "a part is enough to answer");
    assert!(api.get("/metrics").body.contains("ebb_mirror_held_share{scope=\"local\"} 0."));
    let found = ebb(&["doctor"]);
    assert!(found.code == Some(0) && found.out.contains("raise mirror.max_bytes"), "{}", found.out);
    assert!(api.stop(), "{}", api.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mirror_that_is_empty_for_want_of_room_is_not_ready() {
    let db = fresh().await;
    // A quarter of it is less than the longest text takes.
    let small = [("EBB__MIRROR__MAX_BYTES", "1 MiB"), ("EBB__MIRROR__SCOPES", "local,a,b,c")];
    let api = TestServer::on(&db, &[OFTEN, small[0], small[1]]);
    // There is nothing to hold.
    let nothing = api.post("/v1/recall", QUESTION).json(200);
    assert_eq!(
        (&nothing["whole"], &nothing["held_share"], &nothing["hits"]),
        (&json!(true), &json!(1.0), &json!([]))
    );
    let giant = "CREATE (:Memory:EbbMemory {scope: 'local', id: 'giant', tier: 'longTerm', energy: 1.0, energyAt: datetime(), \
        content: reduce(text = '', n IN range(0, 12000) | text + 'w' + n + ' '), lastAccessed: datetime(), created: datetime(), \
        accessCount: 1})";
    db.client.run(giant, &[]).await;
    ebb(&db, &["graph", "refresh"]).json();
    eventually("it is not ready", async || api.get("/readyz").status == 503).await;
    let why = api.get("/readyz").body;
    assert!(why.contains("scope local is empty") && why.contains("raise mirror.max_bytes"), "{why}");
    let says = "raise mirror.max_bytes";
    api.post("/v1/recall", QUESTION).fails(503, "unavailable", says);
    api.post("/v1/engine/pagerank", "{}").fails(503, "unavailable", says);
    let held = api.get("/v1/mirror").json(200);
    assert_eq!(
        (&held["nodes"], &held["whole"], &held["held_share"]),
        (&json!(0), &json!(false), &json!(0.0))
    );
    eventually("it is told of", async || mirrors(&db).iter().any(|kept| kept["held_share"] == 0.0)).await;
    let found = ebb(&db, &["doctor"]);
    assert!(found.code != Some(0) && found.out.contains("recall returns 503"), "{}", found.out);
    let folder = tempfile::tempdir().unwrap();
    let mut alone = command(&db, folder.path(), &["recall", "Parser"]);
    CliOutput::from(alone.envs(small).output().unwrap()).fails(1, says);
    // What fits is held as soon as it is there, however large its neighbour.
    told(&db);
    eventually("it is ready", async || api.get("/readyz").status == 200).await;
    let answer = api.post("/v1/recall", QUESTION).json(200);
    assert!(ids(&answer).contains(&"m1") && answer["whole"] == false, "{answer:#}");
}
