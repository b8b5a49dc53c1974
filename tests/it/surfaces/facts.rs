//! `ebb fact`, `ebb sweep` and `ebb policy`, and facts in files of events.

use super::{CliOutput, command, contents, ebb};
use crate::harness::neo4j::fresh;
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn a_fact_from_its_assertion_to_its_retraction() {
    let db = fresh().await;
    let company =
        |args: &[&str], at: &str| ebb(&db, &[&["--scope", "company"], args, &["--at", at]].concat());
    let list = |more: &[&str]| ebb(&db, &[&["--scope", "company", "fact", "list"], more].concat()).json();
    let said = company(
        &["fact", "assert", "Atlas", "roadmap:status", "shipped", "--source", "agent-7"],
        "2026-01-01T00:00Z",
    );
    let said = said.json();
    assert_eq!(
        (&said["schema"], &said["head"], &said["confidence"]),
        (&json!("ebb.fact.assert/1"), &json!(true), &json!(1.0))
    );
    let memory = ["fact", "assert", "Atlas", "memory:size", "3", "--type", "number", "--confidence", "0.8"];
    assert_eq!(company(&memory, "2026-01-01T00:00Z").json()["value"], json!(3));
    let set = |args: &[&str]| ebb(&db, &[&["policy", "set"], args].concat());
    let stale = ["stale", "--relation", "roadmap:*", "--for", "company", "--mode", "retract", "--ttl", "30d"];
    assert_eq!(set(&stale).json()["new"], json!(true));
    let fading = ["fading", "--relation", "*", "--for", "*", "--mode", "confidence", "--half-life", "7d"];
    let fading = [&fading[..], &["--min-confidence", "0.1"]].concat();
    assert_eq!(set(&fading).json()["half_life_s"], json!(604_800));
    let listed = ebb(&db, &["policy", "list"]).json();
    assert_eq!((&listed["from"], &listed["policies"][0]["id"]), (&json!("graph"), &json!("stale")));
    set(&["bad", "--relation", "x", "--for", "*", "--mode", "retract", "--half-life", "7d"])
        .fails(2, "mode retract needs it, not half_life_s");

    let before = contents(&db).await;
    let dry = company(&["sweep", "--dry-run"], "2026-02-12T00:00Z").json();
    assert_eq!(
        (&dry["mode"], &dry["dry_run_would_retract"], &dry["dry_run_would_reduce"]),
        (&json!("dry_run"), &json!(1), &json!(1))
    );
    assert_eq!(contents(&db).await, before, "a dry run writes nothing");
    let swept = company(&["sweep"], "2026-02-12T00:00Z").json();
    assert_eq!(
        swept,
        json!({"schema": "ebb.sweep/1", "swept_at": "2026-02-12T00:00:00.000Z", "scope": "company", "mode": "retract",
            "facts_evaluated": 2, "facts_retracted": 1, "facts_reduced": 1, "dry_run_would_retract": 0,
            "dry_run_would_reduce": 0, "policies_applied": ["stale", "fading"]})
    );
    assert_eq!(company(&["sweep"], "2026-02-12T00:00Z").json()["facts_reduced"], json!(0));
    let heads = list(&[]);
    let head = |relation: &str| {
        let all = heads["facts"].as_array().unwrap();
        all.iter().find(|fact| fact["relation"] == relation).unwrap().clone()
    };
    assert_eq!(
        (&head("roadmap:status")["confidence"], &head("memory:size")["confidence"]),
        (&json!(0.0), &json!(0.1))
    );
    assert_eq!(head("memory:size")["origin_confidence"], json!(0.8));
    assert_eq!(list(&["--history"])["facts"].as_array().unwrap().len(), 4);
    assert_eq!(list(&["Atlas", "--relation", "memory:size"])["facts"].as_array().unwrap().len(), 1);
    let run = ebb(&db, &["job", "run", "sweep", "--at", "2026-02-12T00:00Z"]).json();
    assert_eq!((&run["changed"], &run["retracted"]), (&json!(0), &json!(0)));
    let inspected = ebb(&db, &["inspect", "facts"]).json();
    assert!(inspected.to_string().contains("roadmap:status"), "{inspected}");
    assert!(ebb(&db, &["inspect", "policies"]).json().to_string().contains("fading"));
    ebb(&db, &["policy", "remove", "stale"]).json();
    ebb(&db, &["policy", "remove", "stale"]).fails(1, "there is no policy stale");

    company(&["fact", "assert", "a", "b", "c", "--source", "system:me"], "2026-01-01T00:00Z")
        .fails(4, "the source system:me is not allowed");
    company(&["fact", "assert", "a", "b", "c", "--confidence", "2"], "2026-01-01T00:00Z")
        .fails(2, "confidence is 2, outside 0 ..= 1");
    let number =
        |value| company(&["fact", "assert", "a", "n", value, "--type", "number"], "2026-01-01T00:00Z");
    assert_eq!(number("9007199254740993").json()["value"], json!(9_007_199_254_740_993_i64));
    assert!(number("1.0").json()["value"].is_f64());
    number("9223372036854775808").fails(2, "which 64 bits do not hold digit by digit");
    number("many").fails(2, "\"many\", not a number");
    company(&["sweep", "--policy", "none"], "2026-01-01T00:00Z").fails(2, "there is no policy none");
    company(&["sweep", "--mode", "forget"], "2026-01-01T00:00Z")
        .fails(2, "a mode is retract, confidence or dry_run");
    ebb(&db, &["--scope", "mars", "sweep"]).fails(2, "facts have no scope mars");
    ebb(&db, &["sweep", "--job", "none"]).fails(1, "there is no sweep none");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_events_asserts_facts_once() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    let events = r#"{"at":"2026-01-01T10:00:00Z","kind":"fact","entity":"Atlas","relation":"memory:x","value":"a","source":"s"}
{"at":"2026-01-01T10:01:00Z","kind":"memory","id":"a","content":"Atlas is a"}
{"at":"2026-01-02T10:00:00Z","kind":"fact","entity":"Atlas","relation":"memory:x","value":"a","source":"s","confidence":0.5,"scope":"local"}
{"at":"2026-01-02T10:00:00Z","kind":"fact","entity":"Atlas","relation":"memory:n","value":7,"source":"s"}
"#;
    let path = folder.path().join("e.ndjson");
    std::fs::write(&path, events).unwrap();
    let import = || CliOutput::from(command(&db, folder.path(), &["import", "e.ndjson"]).output().unwrap());
    let once = import().json();
    assert_eq!((&once["events"], &once["by_kind"]["fact"]), (&json!(4), &json!(3)));
    assert_eq!(import().json()["events"], json!(0));
    let listed = ebb(&db, &["fact", "list", "--history"]).json();
    assert_eq!(listed["facts"].as_array().unwrap().len(), 3);
    let heads = ebb(&db, &["fact", "list"]).json();
    assert_eq!(heads["facts"].as_array().unwrap().len(), 2);
    assert!(
        heads.to_string().contains(r#""value":7}"#) || heads.to_string().contains(r#""value":7,"#),
        "{heads}"
    );
    std::fs::write(
        &path,
        format!("{events}{}", events.lines().next().unwrap().replace("\"s\"", "\"system:s\"")),
    )
    .unwrap();
    import().fails(1, "e.ndjson:5: the source system:s is not allowed");
}

#[tokio::test(flavor = "multi_thread")]
async fn policies_of_the_configuration_are_in_force_until_one_is_changed() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("ebb.toml"),
        "[[policies]]\nid = \"a\"\nrelation = \"*\"\nscope = \"*\"\nmode = \"retract\"\nttl_s = 60\n",
    )
    .unwrap();
    let env = r#"[{"id": "b", "relation": "x", "scope": "team", "mode": "dry_run", "ttl_s": 5}]"#;
    let run = |args: &[&str]| {
        let mut command = command(&db, folder.path(), args);
        CliOutput::from(command.env("STIGMEM_DECAY_POLICIES", env).output().unwrap())
    };
    let ids = |said: CliOutput| {
        let json = said.json();
        let ids: Vec<String> =
            json["policies"].as_array().unwrap().iter().map(|p| p["id"].to_string()).collect();
        (json["from"].as_str().unwrap().to_owned(), ids.join(" "))
    };
    assert_eq!(ids(run(&["policy", "list"])), ("configuration".to_owned(), "\"a\" \"b\"".to_owned()));
    run(&["policy", "remove", "a"]).json();
    assert_eq!(ids(run(&["policy", "list"])), ("graph".to_owned(), "\"b\"".to_owned()));
    assert_eq!(ids(ebb(&db, &["policy", "list"])), ("graph".to_owned(), "\"b\"".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_policy_is_accepted_once_by_the_number_that_the_guard_names() {
    let db = fresh().await;
    let many = |relation: &str| -> Vec<_> {
        (0..60).map(|n| crate::jobs::sweep::fact(relation, &format!("v{n}"), 0.0)).collect()
    };
    db.assert(&many("roadmap:status")).await;
    let run =
        |args: &[&str]| ebb(&db, &[&["--scope", "company"], args, &["--at", "2026-03-01T00:00Z"]].concat());
    for id in ["stale", "draft"] {
        let relation = if id == "stale" { "roadmap:status" } else { "draft:*" };
        let set =
            ["policy", "set", id, "--relation", relation, "--for", "*", "--mode", "retract", "--ttl", "30d"];
        ebb(&db, &set).json();
    }
    run(&["sweep"]).fails(8, "retract over 10 times as much as before: stale");
    run(&["sweep"]).fails(8, "the same command with --accept-affected 60");
    let dry_run = run(&["job", "run", "sweep", "--dry-run"]).json();
    assert!(dry_run["reason"].as_str().unwrap().contains("retract over 10 times as much as before: stale"));
    let text =
        run(&["job", "run", "sweep", "--dry-run", "--limit", "10", "-o", "table"]).out.replace('\n', " ");
    for says in [
        "Not everything was read: more may be due. A run would be stopped: ",
        "accept_affected 60 lets it run",
    ] {
        assert!(text.contains(says), "{text}");
    }
    run(&["job", "run", "sweep"]).fails(8, "the same command with --accept-affected 60");
    run(&["job", "run", "fade", "--accept-affected", "60"]).fails(2, "no guard stops fade");
    let accepted = run(&["job", "run", "sweep", "--accept-affected", "60"]).json();
    assert_eq!((&accepted["retracted"], &accepted["outcome"]), (&json!(60), &json!("done")));
    // Another policy is new to the facts that are there.
    db.assert(&many("draft:x")).await;
    run(&["job", "run", "--all"]).fails(8, "as before: draft");
    run(&["sweep", "--accept-affected", "60"]).json();
    db.assert(&many("draft:y")).await;
    assert_eq!(run(&["sweep"]).json()["facts_retracted"], json!(60), "it was accepted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_killed_at_a_page_is_finished_by_the_next() {
    let db = fresh().await;
    let facts: Vec<_> =
        (0..3_000).map(|n| crate::jobs::sweep::fact("memory:x", &format!("v{n}"), 0.0)).collect();
    db.assert(&facts).await;
    let folder = tempfile::tempdir().unwrap();
    let sweep = |stop: Option<&str>| {
        let mut command =
            command(&db, folder.path(), &["--scope", "company", "sweep", "--at", "2026-01-01T02:00Z"]);
        command.env("EBB__WORKER__LEASE", "1s").env(
            "EBB_DECAY_POLICIES",
            r#"[{"id": "m", "relation": "memory:*", "scope": "company", "mode": "confidence", "half_life_s": 3600}]"#,
        );
        // Commits: the sweep is recorded, its run opened, its first page swept.
        command.envs(stop.map(|stop| ("EBB_STOP", stop)));
        CliOutput::from(command.output().unwrap())
    };
    assert_eq!(sweep(Some("after_commit:3:kill")).code, None);
    let decayed = "MATCH (f:Fact {source: 'system:stigmem:decay'}) RETURN count(f) AS n";
    assert_eq!(db.client.value::<i64>(decayed).await, 1_000, "one page landed");
    db.leases_are_over().await;
    assert_eq!(sweep(None).json()["facts_reduced"], json!(0), "what the first left was finished before");
    let done = "MATCH (j:EbbSweepJob) WITH j ORDER BY j.id RETURN collect(j.state + ' ' + toString(j.reduced)) AS all";
    assert_eq!(db.client.value::<Vec<String>>(done).await, ["done 3000", "done 0"]);
    assert_eq!(db.client.value::<i64>(decayed).await, 3_000, "one for each lineage");
}

/// What the jobs before one that fails have done is done, and is shown beside the error.
#[tokio::test(flavor = "multi_thread")]
async fn of_all_jobs_those_before_one_that_fails_are_shown() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("facts.ndjson");
    let lines = (0..60).map(|n| {
        format!(
            r#"{{"at":"2026-01-01T00:00:00Z","kind":"fact","entity":"e{n}","relation":"status:x","value":{n},"source":"s","scope":"local"}}"#
        )
    });
    std::fs::write(&file, lines.collect::<Vec<_>>().join("\n")).unwrap();
    ebb(&db, &["import", file.to_str().unwrap()]).json();
    let policies = r#"[{"id": "old", "relation": "*", "scope": "*", "mode": "retract", "ttl_s": 60}]"#;
    let mut all = command(&db, folder.path(), &["job", "run", "--all", "--at", "2026-02-01T00:00:00Z"]);
    let ran = CliOutput::from(all.env("EBB_DECAY_POLICIES", policies).output().unwrap());
    ran.fails(8, "nothing was written");
    assert!(
        ran.err.contains("this is about sweep; the jobs before it have run, and these did not begin: learn"),
        "{}",
        ran.err
    );
    let runs = ran.any_json()["runs"].as_array().unwrap().clone();
    assert!(runs.iter().any(|run| run["job"] == "decay"), "{runs:?}");
    assert!(runs.iter().all(|run| run["job"] != "sweep"), "{runs:?}");
}
