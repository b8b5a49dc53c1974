//! Wrong input of every kind: each ends with its code and says what to do.

use super::{command, ebb};
use crate::harness::neo4j::fresh;

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_key_of_the_configuration_is_named_with_the_nearest() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ebb.toml"), "[jobs.decay]\nevry = \"30m\"\n").unwrap();
    let said: super::CliOutput = command(&db, folder.path(), &["status"]).output().unwrap().into();
    said.fails(6, "ebb.toml:2:1");
    said.fails(6, "`jobs.decay.every`");
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_are_not_what_they_should_be_are_usage_errors() {
    let db = fresh().await;
    for (args, says) in [
        (["memory", "show", "a", "--at", "yesterday"].as_slice(), "not an instant; write RFC 3339"),
        (&["memory", "add", "  "], "is empty"),
        (&["memory", "add", "x", "--id", " "], "the id of a memory is empty"),
        (&["memory", "access", "a\u{1}"], "control character"),
        (&["job", "run", "deccay"], "the nearest name is decay"),
        (&["inspect", "tierz"], "the nearest name is tiers"),
        (&["--scope", "", "memory", "list"], "a scope is empty"),
    ] {
        ebb(&db, args).fails(2, says);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_no_law_can_use_is_set_aside_shown_and_released_once_it_is_mended() {
    let db = fresh().await;
    for (id, energy) in [("nan", "0.0 / 0.0"), ("text", "'high'")] {
        let text = format!(
            "CREATE (:Memory {{id: '{id}', content: 'x', tier: 'working', energy: {energy}, created: datetime('2026-01-01T00:00Z')}})"
        );
        db.client.run(&text, &[]).await;
    }
    let run = ebb(&db, &["job", "run", "decay", "--at", "2026-01-01T01:00Z"]).json();
    assert_eq!((&run["quarantined"], &run["adopted"]), (&2.into(), &0.into()));
    let shown = ebb(&db, &["memory", "show", "nan"]).json();
    assert!(
        shown["energy"].is_null() && shown["quarantined"].as_str().unwrap().contains("energy"),
        "{shown}"
    );
    let table = ebb(&db, &["inspect", "quarantine", "-o", "table"]).out;
    assert!(table.contains("NaN") && table.contains("high"), "{table}");
    assert_eq!(ebb(&db, &["inspect", "quarantine"]).json()["rows"][1]["energy"], "NaN");
    ebb(&db, &["memory", "explain", "nan"]).fails(1, "memory nan is quarantined");
    ebb(&db, &["memory", "access", "text"]).fails(1, "try: ebb inspect quarantine");
    ebb(&db, &["doctor"]).fails(7, "the doctor found a problem");
    ebb(&db, &["doctor", "--fix"]).fails(7, "the doctor found a problem");
    db.client.run("MATCH (m:EbbQuarantined) SET m.energy = 1.5", &[]).await;
    let mended = ebb(&db, &["doctor", "--fix"]).json();
    assert_eq!(mended["mended"], serde_json::json!(["released 2 rows whose values are valid"]));
    assert_eq!(ebb(&db, &["memory", "show", "nan"]).json()["tier"], "working");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_counts_what_was_set_aside_of_relations_and_trails() {
    let db = fresh().await;
    let write = "CREATE (a:Entity {name: 'a'})-[:RELATES_TO {type: 'uses', weight: 'much'}]->(:Entity {name: 'b'}),
        (:Room {id: 'r', exploitation_pheromone: 'high'})-[:HALL {success_pheromone: -1.0}]->(:Room {id: 's'})";
    db.client.run(write, &[]).await;
    ebb(&db, &["job", "run", "fade", "--at", "2026-01-01T00:00Z"]).json();
    ebb(&db, &["trail", "evaporate", "--force", "--at", "2026-01-01T00:00Z"]).json();
    let rows = || async {
        let found = ebb(&db, &["doctor"]);
        let said: serde_json::Value = serde_json::from_str(&found.out).unwrap();
        let rows = said["findings"].as_array().unwrap().iter().find(|one| one["what"] == "rows").unwrap();
        rows["found"].as_str().unwrap().to_owned()
    };
    assert_eq!(rows().await, "1 relation, 1 place, 1 edge quarantined, values unchanged");
    let mend = "MATCH ()-[r:RELATES_TO]->() SET r.weight = 0.5 WITH count(*) AS n
        MATCH (r:Room {id: 'r'})-[h:HALL]->() SET r.exploitation_pheromone = 1.0, h.success_pheromone = 1.0";
    db.client.run(mend, &[]).await;
    let mended = ebb(&db, &["doctor", "--fix"]);
    assert!(mended.out.contains("released 1 rows whose values are valid"), "{}", mended.out);
    ebb(&db, &["trail", "evaporate", "--force", "--at", "2026-01-01T00:00Z"]).json();
    assert_eq!(rows().await, "none is quarantined");
    assert_eq!(
        ebb(&db, &["relation", "list", "--at", "2026-01-01T00:00Z"]).json()["edges"][0]["weight"],
        0.5
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn text_where_a_tunable_belongs_stops_every_job_with_its_name() {
    let db = fresh().await;
    db.client.run("MATCH (c:ConsolidationConfig) SET c.workingDecay = 'fast'", &[]).await;
    ebb(&db, &["job", "run", "decay"]).fails(6, "workingDecay");
    db.client.run("MATCH (c:ConsolidationConfig) SET c.workingDecay = -1.0", &[]).await;
    ebb(&db, &["job", "run", "decay"]).fails(6, "workingDecay is -1; ");
    assert!(ebb(&db, &["status"]).any_json()["stopped"].as_str().unwrap().contains("workingDecay"));
    ebb(&db, &["doctor"]).fails(7, "the doctor found a problem");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_is_taken_by_other_content_is_refused() {
    let db = fresh().await;
    ebb(&db, &["memory", "add", "one", "--id", "a"]).json();
    ebb(&db, &["memory", "add", "two", "--id", "a"]).fails(1, "exists with other content");
    assert_eq!(ebb(&db, &["memory", "show", "a"]).json()["content"], "one");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_not_there_is_told_as_such() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for args in [
        ["status"].as_slice(),
        &["memory", "list"],
        &["doctor"],
        &["init", "--yes"],
        &["job", "run", "--all"],
    ] {
        let mut program = command(&db, folder.path(), args);
        let said: super::CliOutput =
            program.env("NEO4J_URI", format!("bolt://127.0.0.1:{port}")).output().unwrap().into();
        assert_eq!((said.code, said.out.as_str()), (Some(5), ""), "{args:?}: {}", said.err);
        assert!(said.err.contains(&port.to_string()), "{}", said.err);
    }
}
