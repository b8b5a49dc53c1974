//! Why a memory is not among the hits of a recall: each reason, on the command line and over HTTP.

use super::http::TestServer;
use super::{CliOutput, command, contents, ebb};
use crate::harness::ebb::remember;
use crate::harness::neo4j::{Fresh, fresh};
use ebb_core::api::recall::RecallRequest;
use ebb_core::api::why_not::LossReason;
use ebb_core::domain::event::Event;
use ebb_core::domain::ids::{MemoryId, Scope};
use serde_json::{Value, json};

const LONG_AGO: &str = "2026-01-01T10:00Z";

fn add(db: &Fresh, id: &str, content: &str, rest: &[&str]) {
    ebb(db, &[&["memory", "add", content, "--id", id], rest].concat()).json();
}

/// The answer, whose reason is this one and whose sentences have these parts.
#[track_caller]
fn reason(answer: &CliOutput, reason: &str, says: &[&str]) -> Value {
    let answer = answer.json();
    assert_eq!(
        (&answer["schema"], &answer["reason"]),
        (&json!("ebb.why_not/1"), &json!(reason)),
        "{answer:#}"
    );
    let because = answer["because"].as_array().unwrap();
    let all = [because.as_slice(), answer["remedies"].as_array().unwrap()].concat();
    let all: Vec<&str> = all.iter().map(|one| one["text"].as_str().or(one.as_str()).unwrap()).collect();
    for part in says {
        assert!(all.iter().any(|sentence| sentence.contains(part)), "{part}: {answer:#}");
    }
    assert!((1..=8).contains(&because.len()), "{answer:#}");
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_that_is_gone_or_was_never_there() {
    let db = fresh().await;
    add(&db, "m1", "Alex owns the parser", &["--at", LONG_AGO]);
    ebb(&db, &["--scope", "team", "memory", "add", "theirs", "--id", "t1"]).json();
    let says = ["Nothing is stored under this id in the scope local", "no deletion of it is recorded"];
    for id in ["none", "t1"] {
        reason(&ebb(&db, &["why-not", id, "parser"]), "not_stored", &says);
    }
    let found =
        reason(&ebb(&db, &["why-not", "m1"]), "searchable", &["tier working", "no question was given"]);
    assert_eq!((&found["ranking"], &found["memory"]["id"]), (&Value::Null, &json!("m1")));

    // It is accessed until it is promoted, which leaves a stub.
    for _ in 0..2 {
        ebb(&db, &["memory", "access", "m1", "--at", LONG_AGO]).json();
    }
    ebb(&db, &["job", "run", "promote", "--at", LONG_AGO]).json();
    let stub: String = db.client.value("MATCH (s:Memory)-[:PROMOTED_TO]->(:Memory) RETURN s.id").await;
    let found = reason(
        &ebb(&db, &["why-not", &stub, "parser"]),
        "stub",
        &["the promotion of m1 left", "ebb why-not m1"],
    );
    assert_eq!(found["stub_of"], "m1");

    ebb(&db, &["memory", "forget", "m1", "--yes", "--at", "2026-01-02T10:00Z"]).json();
    let found = reason(
        &ebb(&db, &["why-not", "m1", "parser"]),
        "forgotten",
        &["It was forgotten at 2026-01-02T10:00:00"],
    );
    assert!(found["forgotten_at"].as_str().unwrap().starts_with("2026-01-02T10:00:00"), "{found:#}");

    let bad = "CREATE (:Memory {id: 'bad', content: 'x', tier: 'working', energy: 0.0 / 0.0, \
        created: datetime('2026-01-01T00:00Z'), scope: 'local'})";
    db.client.run(bad, &[]).await;
    ebb(&db, &["job", "run", "decay", "--at", LONG_AGO]).json();
    reason(&ebb(&db, &["why-not", "bad", "x"]), "quarantined", &["Its row is quarantined", "energy"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_memory_names_the_settings_that_would_have_kept_it() {
    let db = fresh().await;
    add(&db, "m1", "Alex owns the parser", &["--at", LONG_AGO]);
    ebb(&db, &["job", "run", "decay", "--at", "2026-01-01T15:00Z"]).json();
    let before = contents(&db).await;
    let says = [
        "It expired at 2026-01-01T15:00:00",
        "its energy was 1.000",
        "halves every 1.4 hours and fell below 0.1",
        "ebb memory access m1",
        "memory.workingDecay of ",
    ];
    let found = reason(&ebb(&db, &["why-not", "m1"]), "expired", &says);
    // ln(1 / 0.1) / 0.5 hours after its creation.
    assert!(found["expiry"]["crossed_at"].as_str().unwrap().starts_with("2026-01-01T14:36:18"), "{found:#}");
    let setting = |name: &str| {
        let remedies = found["remedies"].as_array().unwrap().iter();
        remedies.clone().find(|remedy| remedy["setting"] == name).cloned().unwrap()
    };
    let rate = setting("memory.workingDecay");
    assert!(rate["value"] == 0.5 && rate["needed"].as_f64().unwrap() < 0.1, "{found:#}");

    // By the threshold of today it would not have expired then.
    db.client.run("MATCH (c:ConsolidationConfig) SET c.expiryThreshold = 0.05", &[]).await;
    let says =
        ["It expired at 2026-01-01T15:00:00", "0.082 then", "is not below memory.expiryThreshold, 0.05 now"];
    let changed = reason(&ebb(&db, &["why-not", "m1"]), "expired", &says);
    assert_eq!(changed["expiry"]["crossed_at"], Value::Null, "{changed:#}");
    let explained = ebb(&db, &["memory", "explain", "m1"]).json();
    let because = explained["because"].as_str().unwrap();
    assert!(because.contains("another threshold than that of now, 0.05"), "{because}");
    db.client.run("MATCH (c:ConsolidationConfig) SET c.expiryThreshold = 0.1", &[]).await;

    // Expired memories are searched, unless configured otherwise.
    let hit = ebb(&db, &["why-not", "m1", "who owns the parser"]);
    reason(&hit, "hit", &["It expired at", "Recall searches expired memories, too", "It is a hit: rank 1"]);
    let folder = tempfile::tempdir().unwrap();
    let live: CliOutput = command(&db, folder.path(), &["why-not", "m1", "parser"])
        .env("EBB__MIRROR__EXPIRED", "false")
        .output()
        .unwrap()
        .into();
    reason(&live, "expired", &["mirror.expired is false", "Set mirror.expired = true"]);
    assert_eq!(contents(&db).await, before, "nothing is written");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_that_conditions_exclude_or_others_outrank() {
    let db = fresh().await;
    super::recall::told(&db);
    add(&db, "m4", "Parser parser parser: the parser of the parser", &["--tag", "ops", "--session", "s1"]);
    let asked = |rest: &[&str]| ebb(&db, &[&["why-not", "m1", "the parser"], rest].concat());
    let rest =
        ["--tag", "ops", "--session", "s1", "--kind", "Entity", "--tier", "longTerm", "--where", "a=1"];
    let found = reason(
        &asked(&rest),
        "excluded",
        &[
            "The condition tags excludes it: the request wants ops; it has no tag.",
            "The condition session excludes it: the request wants s1; it has no session.",
            "The condition kinds excludes it: the request wants Entity; it has Memory.",
            "The condition tiers excludes it: the request wants longTerm; it has working.",
            "The condition metadata excludes it",
        ],
    );
    assert_eq!(found["excluded_by"], json!(["kinds", "tiers", "session", "tags", "metadata"]));

    let found = reason(
        &asked(&["--top", "1"]),
        "outranked",
        &["It ranks ", "has all words of the question", "A top_k (--top) of"],
    );
    let rank = found["ranking"]["own"]["rank"].as_u64().unwrap();
    assert!(rank > 1 && found["ranking"]["last"]["rank"] == 1, "{found:#}");
    assert_eq!(found["ranking"]["words"], json!([{"word": "parser", "in_text": true}]));
    // The suggested number shows it, and one less does not.
    let hits = |top: u64| {
        let answer = ebb(&db, &["recall", "the parser", "--top", &top.to_string()]).json();
        super::recall::ids(&answer).contains(&"m1")
    };
    assert!(hits(rank) && !hits(rank - 1), "{found:#}");
    let hit = reason(&asked(&["--top", &rank.to_string()]), "hit", &["It is a hit"]);
    assert_eq!(hit["remedies"], json!([]));

    let none = ["why-not", "m3", "who maintains the Parser"];
    let found = reason(
        &ebb(&db, &none),
        "no_evidence",
        &[
            "Nothing of the question leads to it",
            "Its text has none of the words of the question: maintains, parser",
            "No links from the",
            "No embeddings were compared",
            "ebb memory update m3 --tag maintains --tag parser",
        ],
    );
    assert_eq!(found["ranking"]["own"], Value::Null);
    let table = ebb(&db, &[&none[..], &["-o", "table"]].concat()).out;
    assert!(
        table.contains("Nothing of the question leads to it") && table.contains("What would change that"),
        "{table}"
    );

    // A link that is followed has its path.
    let linked =
        ebb(&db, &["why-not", "m2", "--seed", "Alex", "--no-words", "--top", "1", "--kind", "Memory"]);
    reason(&linked, "hit", &["rank 1"]);
    let linked = ebb(&db, &["why-not", "m1", "--seed", "Alex", "--no-words", "--top", "1"]);
    reason(
        &linked,
        "outranked",
        &["Links lead to it over Alex -", "-> m1, with a strength of", "was not searched, as requested"],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_that_the_mirror_does_not_hold() {
    let db = fresh().await;
    let text = "UNWIND range(0, 2999) AS n CREATE (:Memory:EbbMemory {scope: 'local', id: 'm' + n, \
        content: 'note of word' + n, tier: 'longTerm', energy: 1.0 + n / 1000.0, energyAt: datetime(), lastAccessed: datetime(), \
        created: datetime(), accessCount: 1, pinned: false})";
    db.client.run(text, &[]).await;
    let folder = tempfile::tempdir().unwrap();
    let small: CliOutput = command(&db, folder.path(), &["why-not", "m0", "word0"])
        .env("EBB__MIRROR__MAX_BYTES", "1 MiB")
        .output()
        .unwrap()
        .into();
    let says = [
        "The mirror has no room for it: mirror.max_bytes is 1048576",
        "Raise mirror.max_bytes",
        "ebb memory pin m0",
    ];
    let found = reason(&small, "not_held", &says);
    assert_eq!((&found["mirror"]["whole"], &found["mirror"]["holds"]), (&json!(false), &json!(false)));

    // The mirror of a server has no record of what another program writes.
    let api = TestServer::on(&db, &[("EBB__MIRROR__REFRESH", "1h")]);
    let ask = |id: &str, body: Value| api.post(&format!("/v1/memories/{id}/why-not"), &body.to_string());
    assert_eq!(ask("m0", json!({"text": "word0"})).json(200)["reason"], "hit");
    db.client.run(&text.replace("range(0, 2999)", "[3000]"), &[]).await;
    let found = ask("m3000", json!({"text": "word3000"})).json(200);
    assert_eq!(found["reason"], "not_held", "{found:#}");
    assert!(found["because"][1].as_str().unwrap().contains("no record tells of it"), "{found:#}");
    ask("m0", json!({"text": "x", "top_k": 0})).fails(400, "validation", "top_k");
    ask("m0", json!({"text": "x", "limit": 1})).fails(400, "validation", "unknown field `limit`");
    ask("m0", json!({"text": "x", "kinds": ["Nothing"]})).fails(400, "validation", "no node is a");
}

/// Nothing brings the mirror of this process up to date but the question itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_memory_that_was_written_after_the_mirror_was_read() {
    let db = fresh().await;
    let service = db.service("[]");
    let scope = Scope::local();
    db.apply(&[Event::Remember(remember("old", 0.0))]).await;
    service.view(&scope).await.unwrap();
    db.apply(&[Event::Remember(remember("new", 0.0))]).await;
    let ask = async || {
        let request = RecallRequest { text: "new".to_owned(), ..RecallRequest::default() };
        Box::pin(service.why_not(&scope, &MemoryId::new("new").unwrap(), request)).await.unwrap()
    };
    let first = ask().await;
    assert_eq!(first.reason, LossReason::NotYetHeld, "{:?}", first.because);
    assert!(first.because[1].contains("is older than the last write"), "{:?}", first.because);
    assert_ne!(ask().await.reason, LossReason::NotYetHeld);
}
