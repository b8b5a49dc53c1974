//! `ebb relation`, and relations in files of events.

use super::{command, contents, ebb};
use crate::harness::neo4j::fresh;
use crate::worker::process::{Worker, eventually};
use insta::assert_json_snapshot;

#[tokio::test(flavor = "multi_thread")]
async fn a_relation_from_its_first_sight_to_its_silence() {
    let db = fresh().await;
    let at = |args: &[&str], at: &str| ebb(&db, &[args, &["--at", at]].concat());
    let alex = ["relation", "observe", "Alex", "works_on", "ProjectAlpha"];
    assert_json_snapshot!("relation_observe", at(&alex, "2026-01-01T00:00Z").golden());
    assert_eq!(at(&alex, "2026-01-02T00:00Z").json()["outcome"], "again");
    assert_eq!(at(&alex, "2026-01-01T00:00Z").json()["outcome"], "late");
    let core =
        ["relation", "observe", "CoreAuthModule", "depends_on", "JWTLibrary", "--pinned", "--weight", "0.8"];
    at(&core, "2026-01-01T00:00Z").json();
    at(&["relation", "observe", "ProjectAlpha", "uses", "OldFramework"], "2025-01-01T00:00Z").json();
    assert_json_snapshot!("relation_list", at(&["relation", "list"], "2026-01-02T00:00Z").golden());
    assert_json_snapshot!(
        "relation_list_decayed",
        at(&["relation", "list", "--decayed"], "2026-01-02T00:00Z").golden()
    );
    let before = contents(&db).await;
    assert_json_snapshot!("plot_decay", at(&["plot", "decay"], "2026-01-02T00:00Z").golden());
    let plot = at(&["plot", "decay", "-o", "table"], "2026-01-02T00:00Z").out;
    assert!(plot.contains("OldFramework") && plot.contains("0.1, the minimum"), "{plot}");
    assert!(plot.contains("Not drawn: 1 pinned."), "{plot}");
    let lightest = at(&["plot", "decay", "--limit", "1"], "2026-01-02T00:00Z").json()["edges"].clone();
    assert_eq!((lightest.as_array().unwrap().len(), &lightest[0]["to"]), (1, &"OldFramework".into()));
    let curve = at(&["plot", "decay", "Alex", "works_on", "ProjectAlpha"], "2026-01-02T00:00Z").json();
    assert_eq!(curve["points"][0]["weight"], 1.0);
    assert!(curve["falls"].as_str().unwrap().starts_with("2026-10-27T23:21:52"), "{curve}");
    assert!(curve["points"].as_array().unwrap().iter().any(|point| point["ahead"] == true));
    let folder = tempfile::tempdir().unwrap();
    let svg = folder.path().join("decay.svg");
    at(&["plot", "decay", "--svg", svg.to_str().unwrap()], "2026-01-02T00:00Z").json();
    assert!(std::fs::read_to_string(svg).unwrap().contains("</svg>"));
    ebb(&db, &["plot", "decay", "Alex", "works_on", "nothing"])
        .fails(1, "there is no relation Alex works_on nothing");
    ebb(&db, &["plot", "decay", "Alex"]).fails(2, "<TYPE> <TO>");
    let dry = at(&["relation", "decay", "--dry-run", "--list"], "2026-04-02T00:00Z");
    assert_json_snapshot!("relation_decay_dry_run", dry.golden());
    assert_eq!(contents(&db).await, before, "a dry run writes nothing");
    assert_json_snapshot!("relation_decay", at(&["relation", "decay"], "2026-04-02T00:00Z").golden());
    let pin = at(&["relation", "pin", "Alex", "works_on", "ProjectAlpha"], "2026-04-02T00:00Z").json();
    assert_eq!(pin["weight"], 0.5);
    at(&["relation", "unpin", "Alex", "works_on", "ProjectAlpha"], "2026-05-02T00:00Z").json();
    ebb(&db, &["relation", "pin", "Alex", "works_on", "nothing"])
        .fails(1, "there is no relation Alex works_on nothing");
    ebb(&db, &["relation", "observe", "a", "b", "c", "--weight", "1.5"])
        .fails(2, "weight is 1.5, outside 0 ..= 1");
    ebb(&db, &["relation", "observe", " ", "b", "c"]).fails(2, "the name of an entity is empty");
    assert!(
        ebb(&db, &["--scope", "team", "relation", "list"]).json()["edges"].as_array().unwrap().is_empty()
    );
    let inspected = ebb(&db, &["inspect", "relations_below_minimum"]).json();
    assert!(inspected.to_string().contains("OldFramework"), "{inspected}");
}

/// From and to of the rows of a list of relations.
fn pairs(rows: &serde_json::Value) -> Vec<(String, String)> {
    let text = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap().to_owned();
    let mut pairs: Vec<_> =
        rows.as_array().unwrap().iter().map(|row| (text(row, "from"), text(row, "to"))).collect();
    pairs.sort();
    pairs
}

#[tokio::test(flavor = "multi_thread")]
async fn the_statement_for_the_browser_follows_half_life_minimum_labels_and_types() {
    #[derive(serde::Deserialize)]
    struct Row {
        from: String,
        to: String,
    }
    let db = fresh().await;
    db.client.run("CREATE (:EbbScratch {name: 'scratch', now: datetime('2026-01-01T00:00:00Z')})", &[]).await;
    // 40, 80, 250 and 320 days: below 0.2 after 70 days of a half-life of 30, below 0.1 after 299 of 90.
    for (to, day) in
        [("d40", "2025-11-22"), ("d80", "2025-10-13"), ("d250", "2025-04-26"), ("d320", "2025-02-15")]
    {
        ebb(&db, &["relation", "observe", "a", "uses", to, "--at", &format!("{day}T00:00Z")]).json();
    }
    let toml = "[relation]\nhalfLifeDays = 30\nminimumWeight = 0.2\n[pheromones]\nlabels = [\"Shelf\"]\n\
                relationship_types = [\"LEADS_TO\"]\n";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ebb.toml"), toml).unwrap();
    let configured =
        |args: &[&str]| super::CliOutput::from(command(&db, folder.path(), args).output().unwrap());
    let pasted = async || {
        let text = configured(&["inspect", "relations_below_minimum", "--cypher"]).out;
        let rows: Vec<Row> = db.client.rows(&text, &[]).await;
        let mut pairs: Vec<_> = rows.into_iter().map(|row| (row.from, row.to)).collect();
        pairs.sort();
        pairs
    };
    let listed = |edges: super::CliOutput| pairs(&edges.json()["edges"]);
    let by_default = listed(ebb(&db, &["relation", "list", "--decayed"]));
    assert_eq!(
        (pasted().await, by_default.len()),
        (by_default, 1),
        "without settings: those of the documents"
    );

    // A worker stores its settings when it starts.
    let worker = Worker::begin(&db.config, toml, &[]);
    let stored = async || -> Vec<String> {
        let text = "MATCH (s:EbbSettings) RETURN s.relationHalfLifeMs / 86400000.0 + ' ' + s.by + ' ' + s.at";
        db.client.column(text).await
    };
    eventually("they are stored", async || stored().await.iter().any(|row| row.starts_with("30.0 "))).await;
    drop(worker);
    let below = listed(configured(&["relation", "list", "--decayed"]));
    assert_eq!((pasted().await, below.len()), (below.clone(), 3));
    assert_eq!(pairs(&configured(&["inspect", "relations_below_minimum"]).json()["rows"]), below);

    // Equal settings write nothing, others replace them, and a later layout stays.
    let before = stored().await;
    configured(&["init", "--yes"]).json();
    assert_eq!(stored().await, before);
    ebb(&db, &["init", "--yes"]).json();
    assert!(matches!(&stored().await[..], [row] if row.starts_with("90.0 ")));
    db.client.run("MATCH (s:EbbSettings) SET s.layout = 99", &[]).await;
    configured(&["init", "--yes"]).json();
    assert!(matches!(&stored().await[..], [row] if row.starts_with("90.0 ")));

    db.client
        .run("CREATE (:Shelf {id: 's1'})-[:LEADS_TO {pheromone_cycle: 1}]->(:Shelf {id: 's2'})", &[])
        .await;
    let places = configured(&["inspect", "places_cold"]).json();
    assert_eq!((&places["rows"][0]["place"], &places["rows"][0]["label"]), (&"s1".into(), &"Shelf".into()));
    assert_eq!(configured(&["inspect", "trails_hot"]).json()["rows"][0]["type"], "LEADS_TO");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_events_observes_relations_once() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    let events = r#"{"at":"2026-01-01T10:00:00Z","kind":"observe","from":"Alex","type":"works_on","to":"Alpha"}
{"at":"2026-01-01T10:01:00Z","kind":"memory","id":"a","content":"Alex works on Alpha","mentions":["Alex"]}
{"at":"2026-01-02T10:00:00Z","kind":"observe","from":"Alex","type":"works_on","to":"Alpha","weight":0.5}
{"at":"2026-01-02T10:00:00Z","kind":"observe","from":"Alpha","type":"uses","to":"Rust","pinned":true}
"#;
    std::fs::write(folder.path().join("e.ndjson"), events).unwrap();
    let import =
        || super::CliOutput::from(command(&db, folder.path(), &["import", "e.ndjson"]).output().unwrap());
    let once = import().json();
    assert_eq!((&once["events"], &once["by_kind"]["observe"]), (&4.into(), &3.into()));
    assert_eq!(import().json()["events"], 0);
    let edges = ebb(&db, &["relation", "list", "--at", "2026-01-02T10:00Z"]).json();
    assert_eq!(edges["edges"].as_array().unwrap().len(), 2);
    assert_eq!(edges["edges"][1]["weight"], 0.5);
    let bad = events.replace("0.5}", "2}");
    std::fs::write(
        folder.path().join("e.ndjson"),
        bad.replace(
            "10:00:00Z\",\"kind\":\"observe\",\"from\":\"Alex\"",
            "09:00:00Z\",\"kind\":\"observe\",\"from\":\"Alex\"",
        ),
    )
    .unwrap();
    import().fails(1, "e.ndjson:3: weight is 2, outside 0 ..= 1");
}
