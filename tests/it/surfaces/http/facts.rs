//! Facts, sweeps and policies: the documented answers byte for byte, the documented errors, and the guard.

use super::{HttpRequest, TestServer};
use crate::harness::neo4j::fresh;
use crate::surfaces::{contents, ebb};
use crate::worker::process::eventually;
use serde_json::json;
use std::collections::BTreeSet;

const STALE: &str = r#"{"relation":"roadmap:*","scope":"company","mode":"retract","ttl_s":2592000}"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_fact_is_asserted_swept_and_listed() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let shipped = r#"{"entity":"Atlas","relation":"roadmap:status","value":"shipped","source":"agent-7","scope":"company","at":"2026-01-01T00:00:00Z"}"#;
    let said = api.once("f1", "/v1/facts", shipped).json(201);
    assert_eq!((&said["head"], &said["confidence"]), (&json!(true), &json!(1.0)));
    assert_eq!(api.once("f1", "/v1/facts", shipped).json(201)["id"], said["id"], "a request counts once");
    let now = r#"{"entity":"x","relation":"r","value":true,"source":"s"}"#;
    let first = api.once("f2", "/v1/facts", now).unchanging(201);
    assert_eq!(api.once("f2", "/v1/facts", now).unchanging(201), first, "also a moment later");

    let set = api.put("/v1/decay/policies/stale", STALE).json(201);
    assert_eq!((&set["id"], &set["new"], &set["ttl_s"]), (&json!("stale"), &json!(true), &json!(2592000)));
    assert_eq!(api.put("/v1/decay/policies/stale", STALE).json(200)["new"], false);
    let listed = api.get("/v1/decay/policies");
    assert_eq!(
        listed.body,
        r#"{"policies":[{"id":"stale","relation":"roadmap:*","scope":"company","mode":"retract","ttl_s":2592000,"min_confidence":0.0,"exempt_relations":[]}],"from":"graph"}"#
    );

    let before = contents(&db).await;
    let sweep = |mode: &str| {
        api.post("/v1/decay/sweep", &format!(r#"{{"scope":"company"{mode},"at":"2026-02-12T00:00:00Z"}}"#))
    };
    let dry = sweep(r#","mode":"dry_run""#);
    dry.json(200);
    assert_eq!(
        dry.body,
        r#"{"swept_at":"2026-02-12T00:00:00.000Z","scope":"company","mode":"dry_run","facts_evaluated":1,"facts_retracted":0,"facts_reduced":0,"dry_run_would_retract":1,"dry_run_would_reduce":0,"policies_applied":["stale"]}"#
    );
    assert_eq!(contents(&db).await, before, "a dry run writes nothing");
    let swept = sweep("");
    swept.json(200);
    assert_eq!(
        swept.body,
        r#"{"swept_at":"2026-02-12T00:00:00.000Z","scope":"company","mode":"retract","facts_evaluated":1,"facts_retracted":1,"facts_reduced":0,"dry_run_would_retract":0,"dry_run_would_reduce":0,"policies_applied":["stale"]}"#
    );
    assert_eq!(sweep("").json(200)["facts_retracted"], 0, "twice is once");
    let once = |_| api.once("s1", "/v1/decay/sweep", r#"{"scope":"company"}"#).json(200);
    assert_eq!(once(0), once(1), "what the same request did");

    let heads = api.get("/v1/facts?scope=company&entity=Atlas&relation=roadmap:status").json(200);
    assert_eq!(
        (&heads["facts"][0]["confidence"], &heads["facts"][0]["source"], &heads["facts"][1]),
        (&json!(0.0), &json!("system:stigmem:decay"), &json!(null)),
        "heads of confidence 0 are listed"
    );
    let all = api.get("/v1/facts?scope=company&history=true").json(200);
    assert_eq!(all["facts"].as_array().unwrap().len(), 2);

    assert_eq!(api.delete("/v1/decay/policies/stale").json(200)["id"], "stale");
    api.delete("/v1/decay/policies/stale").fails(404, "not_found", "there is no policy stale");
    assert_eq!(sweep("").json(200)["policies_applied"], json!([]));
}

/// Numbers as they are asserted and as they come back.
const NUMBERS: [(&str, &str); 12] = [
    ("1", "1"),
    ("2.0", "2.0"),
    ("-3", "-3"),
    ("9007199254740993", "9007199254740993"),
    ("-9007199254740993", "-9007199254740993"),
    ("9223372036854775807", "9223372036854775807"),
    ("-9223372036854775808", "-9223372036854775808"),
    ("0.30000000000000004", "0.30000000000000004"),
    ("0.10000000000000001", "0.1"),
    ("5e-324", "5e-324"),
    ("1.7976931348623157e308", "1.7976931348623157e+308"),
    ("1152921504606847000", "1152921504606847000"),
];

#[tokio::test(flavor = "multi_thread")]
async fn numbers_come_back_as_they_were_asserted() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let fact = |n: usize, value: &str| {
        format!(
            r#"{{"entity":"e","relation":"r:{n}","value":{value},"source":"s","scope":"team","at":"2026-01-01T00:00:00Z"}}"#
        )
    };
    let all: Vec<String> = NUMBERS.iter().enumerate().map(|(n, (said, _))| fact(n, said)).collect();
    let told = api.post("/v1/facts:batch", &format!("[{}]", all.join(",")));
    told.json(201);
    let shown = |answer: &str| {
        for (n, (said, back)) in NUMBERS.iter().enumerate() {
            let held = format!(r#""relation":"r:{n}","value":{back},"#);
            assert!(answer.contains(&held), "{said}: {held} is not in {answer}");
        }
    };
    shown(&told.body);
    shown(&api.get("/v1/facts?scope=team").body);
    shown(&api.get("/v1/facts?scope=team&history=true").body);
    shown(&api.get("/v1/facts?scope=team&entity=e").body);
    let types: String = db
        .client
        .value("MATCH (f:Fact) WITH valueType(f.value) AS t, count(*) AS n ORDER BY t RETURN reduce(all = '', one IN collect(t + ' ' + n) | all + one + ';')")
        .await;
    assert_eq!(types, "FLOAT NOT NULL 5;INTEGER NOT NULL 7;");
    // A sweep copies what it fades.
    api.put(
        "/v1/decay/policies/p",
        r#"{"relation":"*","scope":"team","mode":"confidence","half_life_s":3600}"#,
    )
    .json(201);
    let swept = api.post("/v1/decay/sweep", r#"{"scope":"team","at":"2026-01-01T02:00:00Z"}"#).json(200);
    assert_eq!(swept["facts_reduced"], 12);
    shown(&api.get("/v1/facts?scope=team").body);
    // 1 and 1.0 are of one lineage, whose head is as the later of them was asserted.
    let later = fact(0, "1.0").replace("2026-01-01", "2026-02-01");
    assert_eq!(api.post("/v1/facts", &later).json(201)["head"], true);
    let heads = api.get("/v1/facts?scope=team");
    assert!(heads.body.contains(r#""relation":"r:0","value":1.0,"#), "{}", heads.body);
    assert_eq!(heads.json(200)["facts"].as_array().unwrap().len(), 12);
    for refused in ["9223372036854775808", "1234567890123456789012", "0.1000000000000000055", "1e400"] {
        api.post("/v1/facts", &fact(0, refused)).fails(400, "validation", "assert it as text");
    }
    for refused in ["null", "[1]", "{}"] {
        api.post("/v1/facts", &fact(0, refused)).fails(400, "validation", "text, a number, or true or false");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_facts_show_each_once() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let many: Vec<String> = (0..25)
        .map(|n| format!(r#"{{"entity":"e{n}","relation":"r","value":{n},"source":"s","scope":"team"}}"#))
        .collect();
    let told = api.post("/v1/facts:batch", &format!("[{}]", many.join(","))).json(201);
    assert_eq!(told["facts"].as_array().unwrap().len(), 25);
    for history in ["false", "true"] {
        let mut path = format!("/v1/facts?scope=team&limit=10&history={history}");
        let (mut seen, mut pages) = (BTreeSet::new(), 0);
        loop {
            let page = api.get(&path);
            for fact in page.json(200)["facts"].as_array().unwrap() {
                assert!(seen.insert(fact["id"].as_str().unwrap().to_owned()), "{fact} came twice");
            }
            pages += 1;
            let Some(link) = page.header("link") else { break };
            path = link.trim_start_matches('<').split_once('>').unwrap().0.to_owned();
        }
        assert_eq!((seen.len(), pages), (25, 3), "history {history}");
    }
    let before = contents(&db).await;
    let reserved = r#"{"entity":"a","relation":"r","value":1,"source":"system:x","scope":"team"}"#;
    let bad = format!("[{},{reserved}]", many[0]);
    api.post("/v1/facts:batch", &bad).fails(403, "authorization", "[1]: the source system:x is not allowed");
    assert_eq!(contents(&db).await, before, "nothing of the batch was written");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_documented_errors_of_a_sweep_and_of_facts() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let before = contents(&db).await;
    let sweep = |body: &str, says: &str| api.post("/v1/decay/sweep", body).fails(400, "validation", says);
    sweep("{}", "missing field `scope`");
    sweep(r#"{"scope":"mars"}"#, "scope: unknown variant `mars`");
    sweep(r#"{"scope":"team","mode":"forget"}"#, "mode: unknown variant `forget`");
    sweep(r#"{"scope":"team","policy_id":"none"}"#, "there is no policy none");
    sweep(r#"{"scope":"team","policyid":"none"}"#, "unknown field `policyid`");
    api.get("/v1/decay/jobs/none").fails(404, "not_found", "there is no sweep none");
    let fact = |more: &str| api.post("/v1/facts", &format!(r#"{{"entity":"a","relation":"r"{more}}}"#));
    fact(r#","value":1,"source":"system:me""#).fails(
        403,
        "authorization",
        "the source system:me is not allowed",
    );
    fact(r#","value":1"#).fails(400, "validation", "missing field `source`");
    fact(r#","value":"","source":"s""#).fails(400, "validation", "the value of a fact is empty");
    fact(r#","value":1,"source":"s","scope":"mars""#).fails(400, "validation", "unknown variant `mars`");
    fact(r#","value":1,"source":"s","confidence":2"#).fails(400, "validation", "outside 0 ..= 1");
    let endless = r#"{"relation":"x","scope":"team","mode":"retract","ttl_s":1e306}"#;
    api.put("/v1/decay/policies/bad", endless).fails(400, "validation", "it is a number of seconds above 0");
    let bad = r#"{"relation":7,"scope":"mars","mode":"retract","half_life_s":60,"colour":"red"}"#;
    let told = api.put("/v1/decay/policies/bad", bad);
    for fault in ["relation", "scope", "half_life_s", "colour"] {
        told.fails(400, "validation", fault);
    }
    api.put("/v1/decay/policies/a", r#"{"id":"b"}"#).fails(400, "validation", "\"a\" in the path");
    assert_eq!(contents(&db).await, before, "nothing was written");

    let made = ebb(&db, &["key", "create", "--name", "k", "--right", "read", "--scope", "team"]).json();
    let bearer = format!("Bearer {}", made["secret"].as_str().unwrap());
    let with_key = |body: &str| {
        let headers = vec![("Authorization", bearer.as_str())];
        api.ask(&HttpRequest { method: "POST", path: "/v1/decay/sweep", headers, body: Some(body) })
    };
    let dry = r#"{"scope":"team","mode":"dry_run"}"#;
    eventually("the key is known", async || with_key(dry).status == 200).await;
    with_key(r#"{"scope":"team"}"#).fails(403, "authorization", "");
    with_key(r#"{"scope":"company","mode":"dry_run"}"#).fails(403, "authorization", "");
    assert_eq!(with_key(dry).json(200)["mode"], "dry_run");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_writer_hung_on_an_entity_stays_in_its_own_scope() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    api.post("/v1/facts", r#"{"entity":"Alex","relation":"r","value":1,"source":"s"}"#).json(201);
    let foreign = "MATCH (e:Entity {scope: 'local', name: 'Alex'})
        CREATE (:Fact {entity: 'Alex', relation: 'pin', value: 'secret', scope: 'team', source: 'a'})-[:ABOUT]->(e)";
    db.client.run(foreign, &[]).await;
    api.post("/v1/jobs/sweep/run", "{}").json(200);
    let relations = |scope: &str| {
        let listed = api.get(&format!("/v1/facts?entity=Alex&scope={scope}")).json(200);
        let facts = listed["facts"].as_array().unwrap().iter();
        facts.map(|fact| fact["relation"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((relations("local"), relations("team")), (vec!["r".to_owned()], vec!["pin".to_owned()]));
}

/// Sixty facts that a policy of [`STALE`] retracts, about entities whose names begin with `name`, without brackets.
fn stale_facts(name: &str) -> String {
    let fact = |n| {
        format!(
            r#"{{"entity":"{name}{n}","relation":"roadmap:status","value":{n},"source":"s","scope":"company","at":"2026-01-01T00:00:00Z"}}"#
        )
    };
    (0..60).map(fact).collect::<Vec<_>>().join(",")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_guard_names_the_number_to_accept() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let many = stale_facts("e");
    api.post("/v1/facts:batch", &format!("[{many}]")).json(201);
    api.put("/v1/decay/policies/stale", STALE).json(201);
    let sweep = |more: &str| {
        api.post("/v1/decay/sweep", &format!(r#"{{"scope":"company","at":"2026-02-12T00:00:00Z"{more}}}"#))
    };
    sweep("").fails(409, "conflict", "60 of 60");
    sweep("").fails(409, "conflict", "before: stale. To accept, set accept_affected to 60");
    sweep(r#","accept_affected":59"#).fails(409, "conflict", "set accept_affected to 60");
    let run =
        |more: &str| api.post("/v1/jobs/sweep/run", &format!(r#"{{"at":"2026-02-12T00:00:00Z"{more}}}"#));
    run("").fails(409, "conflict", "set accept_affected to 60");
    api.post("/v1/jobs/fade/run", r#"{"accept_affected":1}"#).fails(400, "validation", "for the job sweep");
    assert_eq!(db.client.value::<i64>("MATCH (f:Fact) RETURN count(f)").await, 60, "no fact was written");
    assert_eq!(sweep(r#","accept_affected":60"#).json(200)["facts_retracted"], 60);
    let fresh = many.replace("\"value\":", "\"value\":1");
    api.post("/v1/facts:batch", &format!("[{fresh}]")).json(201);
    assert_eq!(run("").json(200)["retracted"], 60, "it was accepted");
    // A change of the policy is a new one.
    api.put("/v1/decay/policies/stale", &STALE.replace("2592000", "2592001")).json(200);
    let third = many.replace("\"value\":", "\"value\":2");
    api.post("/v1/facts:batch", &format!("[{third}]")).json(201);
    sweep("").fails(409, "conflict", "set accept_affected to 60");
    assert_eq!(run(r#","accept_affected":60"#).json(200)["retracted"], 60);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_of_a_run_that_the_guard_stopped_is_refused() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    api.post("/v1/facts:batch", &format!("[{}]", stale_facts("e"))).json(201);
    api.put("/v1/decay/policies/stale", STALE).json(201);
    let run = |key: &str, more: &str| {
        api.once(key, "/v1/jobs/sweep/run", &format!(r#"{{"at":"2026-02-12T00:00:00Z"{more}}}"#))
    };
    let accepting = r#","accept_affected":60"#;
    run("k1", "").fails(409, "conflict", "set accept_affected to 60");
    run("k1", "").fails(409, "conflict", "is guarded: the guard stopped this");
    run("k1", accepting).fails(409, "conflict", "used for another request; choose a new one");
    assert_eq!(db.client.value::<i64>("MATCH (f:Fact) RETURN count(f)").await, 60, "no fact was written");
    let done = run("k2", accepting).json(200);
    assert_eq!((&done["outcome"], &done["retracted"]), (&json!("done"), &json!(60)), "{done}");
    let again = run("k2", accepting).json(200);
    assert_eq!((&again["run_id"], &again["retracted"]), (&done["run_id"], &json!(60)), "{again}");
    run("k2", "").fails(409, "conflict", "used for another request");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_documented_call_and_schedule_retract_by_a_documented_policy_of_a_fresh_database() {
    let db = fresh().await;
    let documented = r#"[{"id": "memory-context-decay", "relation": "memory:*", "scope": "company",
        "mode": "confidence", "half_life_s": 604800, "min_confidence": 0.1},
        {"id": "stale-roadmap-retract", "relation": "roadmap:status", "scope": "company", "mode": "retract",
        "ttl_s": 2592000}]"#;
    let variables = [("STIGMEM_DECAY_POLICIES", documented), ("EBB__JOBS__SWEEP__EVERY", "1s")];
    let api = TestServer::on(&db, &variables);
    let assert = |name: &str| api.post("/v1/facts:batch", &format!("[{}]", stale_facts(name))).json(201);
    assert("a");
    let swept = api.post("/v1/decay/sweep", r#"{"scope":"company"}"#).json(200);
    assert_eq!((&swept["facts_retracted"], &swept["mode"]), (&json!(60), &json!("retract")));
    assert_eq!(api.post("/v1/decay/sweep", r#"{"scope":"company"}"#).json(200)["facts_retracted"], 0);
    // The schedule, in two workers.
    let workers = [(); 2].map(|()| TestServer::with_roles(&db, "worker,http", &variables));
    assert("b");
    let retracted = "MATCH (f:Fact {confidence: 0.0, source: 'system:stigmem:decay'}) RETURN count(f)";
    eventually("the schedule retracts", async || db.client.value::<i64>(retracted).await == 120).await;
    drop(workers);
    let states = "MATCH (r:EbbRun {job: 'sweep', state: 'guarded'}) RETURN count(r)";
    assert_eq!(db.client.value::<i64>(states).await, 0);
}
