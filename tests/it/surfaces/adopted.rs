//! Graphs of other libraries, read where they are: recall, changes, rerank, pins and hides, and not one of their rows
//! changed.

use super::http::{HttpRequest, TestServer};
use super::mcp::{answered, call, failed, talk};
use super::recall::ids;
use super::{CliOutput, command, contents};
use crate::harness::neo4j::{Fresh, fresh};
use crate::worker::process::eventually;
use serde_json::{Value, json};

/// A graph as Graphiti writes it: groups, one of them empty; a retired fact; an episode twice; an evidence that was deleted.
const GRAPHITI: &str = "
    UNWIND [{g: '', p: 'e'}, {g: 'one', p: 'o'}] AS of
    CREATE (ann:Entity:Person {uuid: of.p + 'ann', name: 'Ann', group_id: of.g, summary: 'Ann works', created_at: datetime('2026-01-01T00:00:00Z'), name_embedding: [0.1, 0.2]}),
      (acme:Entity {uuid: of.p + 'acme', name: 'Acme', group_id: of.g, summary: 'A company', created_at: datetime('2026-01-01T00:00:00Z')}),
      (oslo:Entity {uuid: of.p + 'oslo', name: 'Oslo', group_id: of.g, summary: '', created_at: datetime('2026-01-01T00:00:00Z')}),
      (first:Episodic {uuid: of.p + 'first', name: '1', group_id: of.g, content: 'The harbour is where the office of Acme stands', valid_at: datetime(), created_at: datetime()}),
      (:Episodic {uuid: of.p + 'first', name: '1', group_id: of.g, content: 'A copy with the same uuid', valid_at: datetime(), created_at: datetime()}),
      (ann)-[:RELATES_TO {uuid: of.p + 'works', name: 'WORKS_AT', fact: 'Ann works at Acme', group_id: of.g, episodes: [of.p + 'first', 'deleted'], created_at: datetime('2020-01-01T00:00:00Z'), valid_at: datetime('2020-01-01T00:00:00Z')}]->(acme),
      (ann)-[:RELATES_TO {uuid: of.p + 'lived', name: 'LIVES_IN', fact: 'Ann lives in Oslo', group_id: of.g, episodes: [], created_at: datetime('2026-01-01T00:00:00Z'), expired_at: datetime('2026-02-01T00:00:00Z')}]->(oslo),
      (first)-[:MENTIONS {uuid: of.p + 'm', group_id: of.g, created_at: datetime()}]->(acme)";

/// A graph as another library writes it, the preset, its scope, a question, and a row that answers it.
type Layout = (&'static str, &'static str, &'static str, &'static str, &'static str);

const LAYOUTS: [Layout; 5] = [
    (
        "CREATE (a:Entity:Person {id: 'a', name: 'Ann', type: 'PERSON', created_at: datetime()}),
           (b:Entity {id: 'b', name: 'Acme', type: 'ORGANIZATION', created_at: datetime()}),
           (a)-[:RELATED_TO {id: 'r', type: 'works_at', confidence: 0.9, created_at: '2026-01-01T00:00:00+00:00', valid_until: '2999-01-01'}]->(b),
           (:Message {id: 'm', role: 'user', content: 'She moved to the harbour', timestamp: datetime()})-[:MENTIONS {confidence: 1.0}]->(b),
           (:Fact {id: 'f', subject: 'Bob', predicate: 'likes', object: 'tea', created_at: datetime(), valid_from: '2026-01-01'})",
        "neo4j-agent-memory",
        "local",
        "Where is Ann now? harbour",
        "m",
    ),
    (
        "CREATE (a:__Entity__:person {name: 'ann', user_id: 'u', created: 1767225600000, embedding: [0.1]})
           -[:works_at {created_at: 1767225600000, updated_at: 1767225600000, mentions: 1, valid: true}]->
           (:__Entity__:company {name: 'acme', user_id: 'u', created: 1767225600000}),
         (a)-[:lives_in {created_at: 1767225600000, valid: false, invalidated_at: datetime()}]->(:__Entity__ {name: 'oslo', user_id: 'u', created: 1767225600})",
        "mem0",
        "u",
        "ann",
        "acme",
    ),
    (
        "CREATE (a:person {name: 'ann', user_id: 'u', created: 1767225600000, mentions: 1, embedding: [0.1]})
           -[:works_at {created_at: 1767225600000, updated_at: 1767225600000, mentions: 1, valid: true}]->
           (:company {name: 'acme', user_id: 'u', created: 1767225600000, mentions: 1, embedding: [0.1]}),
         (a)-[:lives_in {created_at: 1767225600000, valid: false, invalidated_at: datetime()}]->
           (:city {name: 'oslo', user_id: 'u', created: 1767225600, mentions: 1, embedding: [0.1]}),
         (a)-[:likes {created_at: 1767225600000}]->(:thing {name: '3', user_id: 'u', created: 1767225600})",
        "mem0",
        "u",
        "ann",
        "acme",
    ),
    (
        "CREATE (:Memory {id: '1', memory: 'Ann works at the harbour', status: 'activated', user_name: 'u', created_at: datetime(), updated_at: datetime()})
           -[:RELATE_TO]->(:Memory {id: '2', memory: 'Tea', status: 'activated', user_name: 'u', created_at: datetime()}),
         (:Memory {id: '3', memory: 'The old harbour', status: 'archived', user_name: 'u', created_at: datetime()})",
        "memos",
        "u",
        "harbour",
        "2",
    ),
    (
        "CREATE (:Memory:person {name: 'Ann', type: 'person', observations: ['works at Acme']})-[:WORKS_AT]->
           (:Memory:company {name: 'Acme', type: 'company', observations: []})",
        "mcp-neo4j-memory",
        "local",
        "Ann",
        "Acme",
    ),
];

fn adopting(preset: &str) -> String {
    format!(r#"[{{"preset": "{preset}"}}]"#)
}

fn run(db: &Fresh, preset: &str, args: &[&str]) -> CliOutput {
    let folder = tempfile::tempdir().unwrap();
    command(db, folder.path(), args).env("EBB__ADOPT", adopting(preset)).output().unwrap().into()
}

fn ask(db: &Fresh, preset: &str, args: &[&str]) -> Value {
    run(db, preset, args).json()
}

/// Everything but the nodes of Ebb's own.
async fn theirs(db: &Fresh) -> Vec<String> {
    contents(db)
        .await
        .into_iter()
        .filter(|row| !row.contains(" Ebb") && !row.contains("ConsolidationConfig"))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_layout_answers_and_stays_as_it_was() {
    for (rows, preset, scope, question, expected) in LAYOUTS {
        let db = fresh().await;
        db.client.run(rows, &[]).await;
        let before = theirs(&db).await;
        let answer = ask(&db, preset, &["recall", question, "--scope", scope]);
        assert!(ids(&answer).contains(&expected), "{preset}: {answer:#}");
        assert!(!ids(&answer).contains(&"3") && !ids(&answer).contains(&"oslo"), "{preset}: {answer:#}");
        // Without the mapping nothing of it is read.
        let folder = tempfile::tempdir().unwrap();
        let bare = command(&db, folder.path(), &["recall", question, "--scope", scope]).output().unwrap();
        assert_eq!(CliOutput::from(bare).json()["hits"], json!([]), "{preset}");
        ask(&db, preset, &["job", "run", "--all"]);
        ask(&db, preset, &["graph", "verify", "--scope", scope]);
        assert_eq!(before, theirs(&db).await, "{preset}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_is_a_scope_and_the_empty_one_is_the_default() {
    let db = fresh().await;
    db.client.run(GRAPHITI, &[]).await;
    let before = theirs(&db).await;
    for (scope, prefix) in [("local", "e"), ("one", "o")] {
        let answer = ask(&db, "graphiti", &["recall", "Ann harbour", "--scope", scope, "--why"]);
        let found = ids(&answer);
        assert!(found.iter().all(|id| id.starts_with(prefix)), "{answer:#}");
        // By the fact to Acme, and from there by a mention; the fact about Oslo is retired.
        assert!(found.contains(&format!("{prefix}acme").as_str()), "{answer:#}");
        assert!(!found.contains(&format!("{prefix}oslo").as_str()), "{answer:#}");
        let hits = answer["hits"].as_array().unwrap();
        let hit = |id: &str| hits.iter().find(|hit| hit["id"] == format!("{prefix}{id}")).unwrap();
        assert_eq!(
            (&hit("ann")["kind"], &hit("ann")["content"]),
            (&json!("Entity"), &json!("Ann\nAnn works"))
        );
        assert_eq!(hit("first")["kind"], "Episodic");
    }
    assert_eq!(ask(&db, "graphiti", &["recall", "Ann", "--scope", "none"])["hits"], json!([]));
    assert_eq!(before, theirs(&db).await);
}

/// One result of a rerank.
fn scored<'a>(answer: &'a Value, key: &str) -> &'a Value {
    answer["results"].as_array().unwrap().iter().find(|row| row["key"] == key).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn results_of_the_library_are_scored_pinned_and_hidden() {
    let db = fresh().await;
    db.client.run(GRAPHITI, &[]).await;
    let before = theirs(&db).await;
    let adopt = adopting("graphiti");
    let api = TestServer::on(&db, &[("EBB__ADOPT", &adopt), ("EBB__MIRROR__REFRESH", "1s")]);
    let body = r#"{"scope": "one", "query": "Ann", "keys": ["olived", "oworks", "oann", "ooslo", "eann", "nobody"]}"#;
    let answer = api.post("/v1/rerank", body).json(200);
    let keys: Vec<&str> =
        answer["results"].as_array().unwrap().iter().map(|row| row["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["olived", "oworks", "oann", "ooslo", "eann", "nobody"], "in the order of the request");
    // Its own instant is years ago; the episode that it was learned from again is of today.
    let works = scored(&answer, "oworks");
    assert_eq!((&works["kind"], &works["live"]), (&json!("fact"), &json!(true)), "{answer:#}");
    assert!(works["weight"].as_f64().unwrap() > 0.99 && works["score"].as_f64().unwrap() > 0.0, "{answer:#}");
    let lived = scored(&answer, "olived");
    assert_eq!((&lived["live"], &lived["score"]), (&json!(false), &json!(0.0)));
    assert!(lived["why"].as_str().unwrap().contains("not live since 2026-02-01"), "{answer:#}");
    assert!(scored(&answer, "oann")["score"].as_f64() > scored(&answer, "ooslo")["score"].as_f64());
    for missing in ["eann", "nobody"] {
        assert_eq!(scored(&answer, missing)["kind"], Value::Null, "{answer:#}");
    }

    let state = |body: &str| api.post("/v1/states", body);
    state(r#"{"scope": "one", "keys": ["oacme", "nobody"], "hidden": true}"#).fails(
        404,
        "not_found",
        "nobody",
    );
    state(r#"{"scope": "one", "keys": ["oacme"]}"#).fails(400, "validation", "nothing would change");
    state(r#"{"scope": "one", "keys": [], "hidden": true}"#).fails(400, "validation", "keys");
    assert_eq!(api.get("/v1/hidden?scope=one").json(200), json!({"hidden": []}));
    let hide = HttpRequest {
        method: "POST",
        path: "/v1/states",
        headers: vec![("Idempotency-Key", "hide")],
        body: Some(r#"{"scope": "one", "keys": ["oacme", "oworks"], "hidden": true}"#),
    };
    assert_eq!(
        api.ask(&hide).unchanging(200),
        api.ask(&hide).unchanging(200),
        "a repeat has the instant of the first"
    );
    assert_eq!(
        api.get("/v1/hidden?scope=one").json(200),
        json!({"hidden": [{"key": "oacme", "kind": "node"}, {"key": "oworks", "kind": "fact"}]})
    );
    assert_eq!(api.get("/v1/hidden").json(200), json!({"hidden": []}), "another scope");
    let answer = api.post("/v1/rerank", r#"{"scope": "one", "keys": ["oacme", "oworks", "oann"]}"#).json(200);
    assert_eq!(scored(&answer, "oacme")["why"], "hidden", "{answer:#}");
    assert_eq!(scored(&answer, "oworks")["live"], false, "{answer:#}");
    eventually("the mirror follows", async || {
        let found = api.post("/v1/recall", r#"{"scope": "one", "text": "Ann Acme"}"#).json(200);
        !ids(&found).contains(&"oacme") && ids(&found).contains(&"oann")
    })
    .await;
    // A fact to a hidden node is not live either.
    state(r#"{"scope": "one", "keys": ["oworks"], "hidden": false}"#).json(200);
    let answer = api.post("/v1/rerank", r#"{"scope": "one", "keys": ["oworks"]}"#).json(200);
    let works = scored(&answer, "oworks");
    assert_eq!((&works["live"], &works["score"]), (&json!(false), &json!(0.0)), "{answer:#}");
    assert!(works["why"].as_str().unwrap().contains("its end oacme is hidden"), "{answer:#}");
    state(r#"{"scope": "one", "keys": ["oacme"], "hidden": false}"#).json(200);
    eventually("it is back with its fact", async || {
        let found = api.post("/v1/recall", r#"{"scope": "one", "text": "Ann"}"#).json(200);
        ids(&found).contains(&"oacme")
    })
    .await;
    // A pin or an access holds the weight of an entity of January.
    let weight = |key: &str| {
        let body = json!({"scope": "one", "keys": [key]}).to_string();
        scored(&api.post("/v1/rerank", &body).json(200), key)["weight"].as_f64().unwrap()
    };
    assert!(weight("oann") < 0.95);
    state(r#"{"scope": "one", "keys": ["oann"], "accessed": true}"#).json(200);
    state(r#"{"scope": "one", "keys": ["ooslo"], "pinned": true}"#).json(200);
    assert!(weight("oann") > 0.99 && weight("ooslo") < 0.95, "an access renews the weight, a pin keeps it");
    let pinned = weight("ooslo");
    assert!((weight("ooslo") - pinned).abs() < 1e-15, "and it does not fade");
    assert_eq!(before, theirs(&db).await);
    let states: i64 = db.client.value("MATCH (s:EbbState) RETURN count(s) AS n").await;
    assert_eq!(states, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_scores_pins_hides_and_accesses() {
    let db = fresh().await;
    db.client.run(GRAPHITI, &[]).await;
    let before = theirs(&db).await;
    let adopted = |args: &[&str]| run(&db, "graphiti", &[&["adopted", "--scope", "one"], args].concat());
    let answer = adopted(&["rerank", "--query", "Ann", "olived", "oann", "nobody"]).json();
    assert_eq!(answer["schema"], "ebb.adopted.rerank/1");
    let keys: Vec<&Value> = answer["results"].as_array().unwrap().iter().map(|row| &row["key"]).collect();
    assert_eq!(keys, ["olived", "oann", "nobody"]);
    assert!(scored(&answer, "oann")["score"].as_f64().unwrap() > 0.0, "{answer:#}");
    let table = adopted(&["rerank", "oworks", "olived", "-o", "table"]).out;
    assert!(table.contains("fact  yes   oworks"), "{table}");
    assert!(table.contains("fact  no    olived  not live since 2026-02-01"), "{table}");

    // Facts are listed and drawn without the retired one; another scope has its own, a scope without rows none.
    let facts = adopted(&["facts"]).json()["edges"].clone();
    assert_eq!(facts.as_array().unwrap().len(), 1, "{facts:#}");
    let fact = (&facts[0]["from"], &facts[0]["type"], &facts[0]["to"]);
    assert_eq!(fact, (&json!("Ann"), &json!("WORKS_AT"), &json!("Acme")));
    assert_eq!(run(&db, "graphiti", &["adopted", "--scope", "none", "facts"]).json()["edges"], json!([]));
    let drawn = run(&db, "graphiti", &["plot", "--scope", "one", "decay", "-o", "table"]).out;
    assert!(drawn.contains("Ann WORKS_AT Acme"), "{drawn}");
    let curve = ["plot", "--scope", "one", "decay", "Ann", "WORKS_AT", "Acme"];
    let curve = run(&db, "graphiti", &curve).json();
    let points = curve["points"].as_array().unwrap().len();
    assert!(points > 2 && curve["falls"].is_null(), "{points}: {}", curve["falls"]);

    let states = || db.client.value::<i64>("MATCH (s:EbbState) RETURN count(s) AS n");
    let dry = adopted(&["hide", "oacme", "oworks", "--dry-run"]).json();
    assert_eq!((&dry["rows"], &dry["dry_run"], states().await), (&json!(2), &json!(true), 0));
    adopted(&["hide", "oacme", "nobody"]).fails(1, "nobody");
    assert_eq!(states().await, 0, "all or none");
    assert_eq!(adopted(&["hide", "oacme", "oworks", "-o", "table"]).out, "2 rows hidden.\n");
    assert_eq!(
        adopted(&["hidden"]).json()["hidden"],
        json!([{"key": "oacme", "kind": "node"}, {"key": "oworks", "kind": "fact"}])
    );
    adopted(&["unhide", "oacme", "oworks"]).json();
    assert_eq!(adopted(&["hidden", "-o", "table"]).out, "No row is hidden.\n");

    let weight = |key: &str| adopted(&["rerank", key]).json()["results"][0]["weight"].as_f64().unwrap();
    let faded = weight("oann");
    adopted(&["access", "oann", "--at", "2026-01-08T00:00:00Z", "--request-id", "r"]).json();
    adopted(&["access", "oann", "--at", "2026-01-08T00:00:00Z", "--request-id", "r"]).json();
    assert!(weight("oann") > faded, "a week younger");
    assert_eq!(db.client.value::<i64>("MATCH (s:EbbState {key: 'oann'}) RETURN s.accesses AS n").await, 1);
    adopted(&["pin", "ooslo", "--at", "2026-01-01T00:00:00Z"]).json();
    assert!((weight("ooslo") - 1.0).abs() < 1e-12, "pinned at its instant");
    adopted(&["unpin", "ooslo"]).json();
    assert!(weight("ooslo") < 0.95);
    assert_eq!(before, theirs(&db).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_scores_rows_and_changes_states_where_writes_are_allowed() {
    let db = fresh().await;
    db.client.run(GRAPHITI, &[]).await;
    let adopt = adopting("graphiti");
    let hide = call("set_row_states", json!({"keys": ["oacme"], "hidden": true, "scope": "one"}));
    let rerank = call("rerank", json!({"keys": ["oacme", "oann"], "query": "Ann", "scope": "one"}));
    let answers = talk(&db, &[("EBB__ADOPT", &adopt)], &[hide.clone(), rerank.clone()]);
    assert!(failed(&answers[0]).contains("mcp.allow_writes"), "{answers:?}");
    assert_eq!(scored(answered(&answers[1]), "oacme")["live"], true, "{answers:?}");
    let allowed = [("EBB__ADOPT", adopt.as_str()), ("EBB__MCP__ALLOW_WRITES", "true")];
    let dated = call("set_row_states", json!({"keys": ["oacme"], "hidden": true, "at": 0}));
    let answers = talk(&db, &allowed, &[hide, rerank, dated]);
    assert_eq!(answered(&answers[0])["rows"], 1, "{answers:?}");
    assert_eq!(scored(answered(&answers[1]), "oacme")["why"], "hidden", "{answers:?}");
    assert!(failed(&answers[2]).contains("unknown field `at`"), "{answers:?}");
}

/// New rows are found by the instants that the library stores, deleted ones by the comparison, and at once in an answer.
#[tokio::test(flavor = "multi_thread")]
async fn the_mirror_follows_what_the_library_writes() {
    let db = fresh().await;
    db.client.run(GRAPHITI, &[]).await;
    let adopt = adopting("graphiti");
    let api = TestServer::on(&db, &[("EBB__ADOPT", &adopt), ("EBB__MIRROR__REFRESH", "1s")]);
    let found = |text: &str| {
        let answer = api.post("/v1/recall", &json!({"scope": "one", "text": text}).to_string()).json(200);
        ids(&answer).into_iter().map(str::to_owned).collect::<Vec<String>>()
    };
    assert!(!found("Ann").contains(&"otea".to_owned()));
    db.client
        .run(
            "MATCH (ann:Entity {uuid: 'oann'})
             CREATE (ann)-[:RELATES_TO {uuid: 'olikes', name: 'LIKES', fact: 'Ann likes tea', group_id: 'one', created_at: datetime()}]->
               (:Entity {uuid: 'otea', name: 'Tea', group_id: 'one', summary: '', created_at: datetime()})",
            &[],
        )
        .await;
    eventually("the new fact is followed", async || found("Ann").contains(&"otea".to_owned())).await;
    db.client.run("MATCH ()-[r:RELATES_TO {uuid: 'olikes'}]->() SET r.expired_at = datetime()", &[]).await;
    eventually("the retired fact is not", async || !found("Ann").contains(&"otea".to_owned())).await;
    db.client.run("MATCH (n:Episodic {uuid: 'ofirst'}) DETACH DELETE n", &[]).await;
    assert!(!found("harbour").contains(&"ofirst".to_owned()), "a deleted row is not answered");
    db.client.run("MATCH (n:Entity {uuid: 'oacme'}) DETACH DELETE n", &[]).await;
    assert!(!found("Acme").contains(&"oacme".to_owned()), "nor is an entity");
}

/// A fact that is written again counts by its live row, whatever the order of rows is; and a row of a library without ids
/// is scored by its name.
#[tokio::test(flavor = "multi_thread")]
async fn a_live_fact_counts_beside_a_retired_one() {
    let db = fresh().await;
    for (first, last) in [("datetime()", "null"), ("null", "datetime()")] {
        let text = format!(
            "CREATE (a:__Entity__ {{name: 'a' + $n, user_id: 'u', created: 1}}), (b:__Entity__ {{name: 'b' + $n, user_id: 'u', created: 1}}),
               (a)-[:knows {{created_at: timestamp(), invalidated_at: {first}}}]->(b), (a)-[:knows {{created_at: timestamp(), invalidated_at: {last}}}]->(b)"
        );
        db.client.run(&text.replace("$n", if last == "null" { "'1'" } else { "'2'" }), &[]).await;
    }
    let adopt = adopting("mem0");
    let api = TestServer::on(&db, &[("EBB__ADOPT", &adopt)]);
    for number in ["1", "2"] {
        let body = json!({"scope": "u", "text": format!("a{number}")}).to_string();
        let answer = api.post("/v1/recall", &body).json(200);
        assert!(ids(&answer).contains(&format!("b{number}").as_str()), "{answer:#}");
    }
    let answer = api
        .post("/v1/rerank", r#"{"scope": "u", "query": "a1", "keys": ["a1", "b2", "nobody", "4:x:1"]}"#)
        .json(200);
    assert!(scored(&answer, "a1")["score"].as_f64().unwrap() > 0.0, "{answer:#}");
    assert!(
        scored(&answer, "b2")["why"].as_str().unwrap().ends_with("not reached from the query"),
        "{answer:#}"
    );
    assert_eq!(
        (&scored(&answer, "nobody")["kind"], &scored(&answer, "4:x:1")["kind"]),
        (&Value::Null, &Value::Null)
    );
}

/// An entity fades from the last logged access, whatever the type of its instant, and a refresh finds a new one, also beside a
/// row whose key is no text.
#[tokio::test(flavor = "multi_thread")]
async fn accesses_that_a_library_logs_count() {
    let db = fresh().await;
    db.client
        .run(
            "CREATE (s:ReasoningTrace {id: 't', success: true})-[:HAS_STEP {order: 0}]->(step:ReasoningStep {id: 's'})
             WITH step UNWIND [['none', null], ['zoned', datetime('2026-03-01T00:00Z')], ['local', localdatetime('2026-03-01T00:00')],
               ['date', date('2026-03-01')], ['text', '2026-03-01T00:00:00+00:00'], ['seconds', 1772323200], ['ms', 1772323200000],
               ['earlier', datetime('2025-01-01T00:00Z')], ['wrong', [1, 2]], ['mixed', null]] AS row
             CREATE (e:Entity {id: row[0], name: 'Ann ' + row[0], created_at: datetime('2026-01-01T00:00Z')})
             FOREACH (_ IN CASE WHEN row[1] IS NULL THEN [] ELSE [1] END | CREATE (step)-[:TOUCHED {recorded_at: row[1]}]->(e))
             FOREACH (at IN CASE WHEN row[0] = 'mixed' THEN ['2026-03-01', 'unknown', '5 days', 5, 9223372036854775807, true, datetime('2026-02-01T00:00Z'), datetime('+10000-01-01T00:00Z')] ELSE [] END |
               CREATE (step)-[:TOUCHED {recorded_at: at}]->(e))",
            &[],
        )
        .await;
    let before = theirs(&db).await;
    let adopt = adopting("neo4j-agent-memory");
    let api = TestServer::on(&db, &[("EBB__ADOPT", &adopt), ("EBB__MIRROR__REFRESH", "1s")]);
    let touched = ["zoned", "local", "date", "text", "seconds", "ms", "mixed"];
    let others = ["none", "earlier", "wrong"];
    let keys = [&touched[..], &others[..]].concat();
    let body = json!({ "keys": keys }).to_string();
    let answer = api.post("/v1/rerank", &body).json(200);
    let why = |key: &str| scored(&answer, key)["why"].as_str().unwrap().to_owned();
    for key in touched {
        assert!(why(key).starts_with("last observed 2026-03-01T00:00:00"), "{key}: {answer:#}");
        assert!(
            scored(&answer, key)["weight"].as_f64() > scored(&answer, "none")["weight"].as_f64(),
            "{key}"
        );
    }
    for key in others {
        assert!(why(key).starts_with("last observed 2026-01-01T00:00:00"), "{key}: {answer:#}");
    }
    let since = |instant: &str| {
        let body = json!({"text": "Ann", "since": instant}).to_string();
        let mut found: Vec<String> =
            ids(&api.post("/v1/recall", &body).json(200)).into_iter().map(str::to_owned).collect();
        found.sort();
        found
    };
    let mut expected = touched.map(str::to_owned);
    expected.sort();
    assert_eq!(since("2026-02-15T00:00:00Z"), expected);
    assert_eq!(since("2026-06-01T00:00:00Z"), [""; 0]);
    assert_eq!(before, theirs(&db).await);
    db.client
        .run("MATCH (s:ReasoningStep), (e:Entity {id: 'none'}) CREATE (s)-[:TOUCHED {recorded_at: datetime()}]->(e)
             CREATE (s)-[:TOUCHED {recorded_at: datetime()}]->(:Entity {id: 7, name: 'Ann', created_at: datetime()})
               -[:RELATED_TO {id: 'r', type: 'knows', created_at: datetime()}]->(e)", &[])
        .await;
    eventually("the new access is followed", async || since("2026-06-01T00:00:00Z") == ["none"]).await;
    ask(&db, "neo4j-agent-memory", &["graph", "verify"]);
}

/// Two users of neo4j-agent-memory, and rows of no user: a key begins with the scopes of its row. A conversation has no
/// user, another an empty one, and an entity is mentioned in messages with and without a user.
pub(super) const USERS: &str = "
    UNWIND [['a', 'ann'], ['b', 'bob'], ['l', null], ['le', '']] AS of
    CREATE (:Conversation {id: of[0] + '-c', user_identifier: of[1]})-[:HAS_MESSAGE]->
      (m:Message {id: of[0] + '-m', content: 'The harbour of ' + of[0], timestamp: datetime('2026-01-01T00:00Z')})
    WITH collect(m) AS m
    UNWIND [['a-e', [0]], ['b-e', [1]], ['ab-e', [0, 1]], ['ab-e2', [0, 1]], ['l-e', [2]], ['al-e', [0, 3]], ['l-e2', []]] AS row
    CREATE (e:Entity {id: row[0], name: 'harbour ' + row[0], created_at: datetime('2026-01-01T00:00Z')})
    FOREACH (i IN row[1] | FOREACH (one IN [m[i]] | CREATE (one)-[:MENTIONS]->(e)))
    WITH m, collect(e) AS e
    UNWIND [['a-r', 0, 2], ['b-r', 2, 1], ['ab-r', 2, 3], ['l-r', 4, 6], ['-ab', 0, 1], ['-al', 6, 0], ['-bl', 5, 1]] AS row
    FOREACH (one IN [e[row[1]]] | FOREACH (two IN [e[row[2]]] |
      CREATE (one)-[:RELATED_TO {id: row[0], type: 'near', created_at: datetime('2026-01-01T00:00Z')}]->(two)))
    FOREACH (one IN CASE row[0] WHEN 'a-r' THEN [m[0]] ELSE [] END | FOREACH (two IN [m[1]] | CREATE (one)-[:NEXT_MESSAGE]->(two)))
    WITH DISTINCT 1 AS one
    CREATE (:User {identifier: 'ann'})-[:HAS_PREFERENCE]->(:Preference {id: 'a-p', preference: 'harbour', created_at: datetime()}),
      (:User {identifier: 'bob'})-[:HAS_PREFERENCE]->(:Preference {id: 'b-p', preference: 'harbour', created_at: datetime()}),
      (:Preference {id: 'l-p', preference: 'harbour', created_at: datetime()}),
      (:Fact {id: 'l-f', subject: 'harbour', predicate: 'is', object: 'old', created_at: datetime()})";

/// Whether a row of [`USERS`] is of a scope.
fn is_of(key: &str, scope: &str) -> bool {
    key.split_once('-').unwrap().0.contains(&scope[..1])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scope_by_path_never_shows_a_row_of_another() {
    let db = fresh().await;
    db.client.run(USERS, &[]).await;
    let before = theirs(&db).await;
    let keys: Vec<String> = db
        .client
        .column(
            "MATCH (n) WHERE n:Entity OR n:Message OR n:Fact OR n:Preference RETURN n.id AS key ORDER BY key
             UNION MATCH ()-[r:RELATED_TO]->() RETURN r.id AS key ORDER BY key",
        )
        .await;
    assert_eq!(keys.len(), 22);
    let adopt = adopting("neo4j-agent-memory");
    let api = TestServer::on(&db, &[("EBB__ADOPT", &adopt), ("EBB__MIRROR__REFRESH", "1s")]);
    let found = |scope: &str| {
        let body = json!({"scope": scope, "text": "harbour", "top_k": 1000}).to_string();
        let answer = api.post("/v1/recall", &body).json(200);
        let mut found: Vec<String> = ids(&answer).into_iter().map(str::to_owned).collect();
        found.sort();
        found
    };
    let rerank = |scope: &str| {
        let body = json!({"scope": scope, "query": "harbour", "keys": keys}).to_string();
        api.post("/v1/rerank", &body).json(200)
    };
    let nodes_of = |scope: &str| -> Vec<String> {
        let nodes = keys.iter().filter(|key| !key.contains("-r") && is_of(key, scope));
        nodes.cloned().collect()
    };
    for scope in ["ann", "bob", "local", "nobody"] {
        assert_eq!(found(scope), nodes_of(scope), "{scope}");
        let answer = rerank(scope);
        for key in &keys {
            let row = scored(&answer, key);
            assert_eq!(row["live"], is_of(key, scope), "{scope}: {row}");
            assert!(
                is_of(key, scope) || row["why"].as_str().unwrap().starts_with("there is no such row"),
                "{row}"
            );
        }
        ask(&db, "neo4j-agent-memory", &["graph", "verify", "--scope", scope]);
    }

    let state = |scope: &str, key: &str, what: &str| {
        api.post("/v1/states", &json!({"scope": scope, "keys": [key], what: true}).to_string())
    };
    for (scope, key) in
        [("ann", "b-e"), ("ann", "b-m"), ("bob", "a-p"), ("bob", "l-f"), ("ann", "-ab"), ("local", "a-r")]
    {
        state(scope, key, "hidden").fails(404, "not_found", key);
        state(scope, key, "pinned").fails(404, "not_found", key);
    }
    state("ann", "ab-e", "hidden").json(200);
    state("ann", "ab-r", "hidden").json(200);
    state("ann", "ab-e2", "pinned").json(200);
    assert_eq!(api.get("/v1/hidden?scope=bob").json(200), json!({"hidden": []}));
    eventually("the row is hidden", async || !found("ann").contains(&"ab-e".to_owned())).await;
    assert_eq!(found("bob"), nodes_of("bob"));
    let answer = rerank("bob");
    assert_eq!(
        (&scored(&answer, "ab-e")["live"], &scored(&answer, "ab-r")["live"]),
        (&json!(true), &json!(true))
    );
    assert!(!scored(&answer, "ab-e2")["why"].as_str().unwrap().contains("pinned"), "{answer:#}");
    assert_eq!(before, theirs(&db).await);
}

/// A new message brings what it mentions into the scope, also an entity that the library did not touch.
#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_follows_the_path_of_a_scope() {
    let db = fresh().await;
    db.client.run(USERS, &[]).await;
    let adopt = adopting("neo4j-agent-memory");
    let api = TestServer::on(&db, &[("EBB__ADOPT", &adopt), ("EBB__MIRROR__REFRESH", "1s")]);
    let has = |scope: &str, key: &str| {
        let body = json!({"scope": scope, "text": "harbour", "top_k": 1000}).to_string();
        ids(&api.post("/v1/recall", &body).json(200)).contains(&key)
    };
    let scopes = ["ann", "bob", "local"];
    assert!(scopes.iter().all(|scope| !has(scope, "new")) && !has("ann", "b-e") && has("local", "l-m"));
    db.client
        .run(
            "MATCH (c:Conversation {id: 'a-c'})
             CREATE (c)-[:HAS_MESSAGE]->(:Message {id: 'new', content: 'A new harbour', timestamp: datetime()})",
            &[],
        )
        .await;
    eventually("the new message is found", async || has("ann", "new")).await;
    // The entity is extracted after that.
    db.client.run("MATCH (m {id: 'new'}), (e {id: 'b-e'}) CREATE (m)-[:MENTIONS]->(e)", &[]).await;
    eventually("the entity is found", async || has("ann", "b-e")).await;
    assert!(has("bob", "b-e") && !has("bob", "new") && !has("local", "new") && !has("ann", "l-m"));
    let body = r#"{"scope": "ann", "keys": ["-ab"]}"#;
    assert_eq!(
        api.post("/v1/rerank", body).json(200)["results"][0]["live"],
        true,
        "both ends are of the scope"
    );
    ask(&db, "neo4j-agent-memory", &["graph", "verify", "--scope", "ann"]);
    // A conversation gets its user later: its rows leave the scope at once, and reach that of the user with a load.
    db.client.run("MATCH (c:Conversation {id: 'l-c'}) SET c.user_identifier = 'ann'", &[]).await;
    assert!(!has("local", "l-m"));
    ask(&db, "neo4j-agent-memory", &["graph", "refresh", "--scope", "ann"]);
    eventually("the user has the message", async || has("ann", "l-m") && has("ann", "l-e")).await;
}

/// Entities of no common label: several thousand are read, and what is written later is followed.
#[tokio::test(flavor = "multi_thread")]
async fn entities_of_any_label_are_loaded_and_followed() {
    let db = fresh().await;
    db.client
        .run(
            "UNWIND range(1, 4000) AS i
             CREATE (:person {name: 'p' + i, user_id: 'u', created: timestamp() - i, mentions: 1, embedding: [0.1]})
               -[:knows {created_at: timestamp() - i, updated_at: timestamp() - i, valid: true}]->
               (:city {name: 'c' + i, user_id: 'u', created: timestamp() - i, mentions: 1, embedding: [0.1]})",
            &[],
        )
        .await;
    let adopt = adopting("mem0");
    let api = TestServer::on(&db, &[("EBB__ADOPT", &adopt), ("EBB__MIRROR__REFRESH", "1s")]);
    let found = |text: &str| {
        let answer = api.post("/v1/recall", &json!({"scope": "u", "text": text}).to_string()).json(200);
        ids(&answer).into_iter().map(str::to_owned).collect::<Vec<String>>()
    };
    assert!(found("p17").contains(&"c17".to_owned()));
    db.client
        .run(
            "MATCH (n:person {name: 'p17'})
             CREATE (n)-[:plays {created_at: timestamp(), updated_at: timestamp(), valid: true}]->
               (:`board-game` {name: 'go', user_id: 'u', created: timestamp(), mentions: 1, embedding: [0.1]})",
            &[],
        )
        .await;
    eventually("the new entity is followed", async || found("p17").contains(&"go".to_owned())).await;
    db.client
        .run("MATCH ()-[r:knows]->({name: 'c17'}) SET r.valid = false, r.invalidated_at = datetime()", &[])
        .await;
    eventually("the retired fact is not", async || !found("p17").contains(&"c17".to_owned())).await;
    let answer = api.post("/v1/rerank", r#"{"scope": "u", "keys": ["p17", "go", "none"]}"#).json(200);
    assert_eq!(
        (&scored(&answer, "go")["kind"], &scored(&answer, "none")["kind"]),
        (&json!("node"), &Value::Null)
    );
    ask(&db, "mem0", &["graph", "verify", "--scope", "u"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_groups_need_no_list() {
    let db = fresh().await;
    db.client
        .run(
            "UNWIND range(1, 1000) AS g
             CREATE (:Entity {uuid: 'a' + g, name: 'Ann', group_id: 'g' + g, created_at: datetime()})
               -[:RELATES_TO {uuid: 'r' + g, name: 'R', fact: 'f', group_id: 'g' + g, created_at: datetime()}]->
               (:Entity {uuid: 'b' + g, name: 'Bob', group_id: 'g' + g, created_at: datetime()})",
            &[],
        )
        .await;
    let adopt = adopting("graphiti");
    let api = TestServer::on(&db, &[("EBB__ADOPT", &adopt)]);
    for group in (1..=1_000).step_by(3) {
        let body = json!({"scope": format!("g{group}"), "text": "Ann", "content": false}).to_string();
        let answer = api.post("/v1/recall", &body).json(200);
        let mut found = ids(&answer);
        found.sort_unstable();
        assert_eq!(found, [format!("a{group}"), format!("b{group}")], "{answer:#}");
    }
}
