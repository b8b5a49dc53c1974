//! `ebb init`, `doctor`, `status`, `job`, `inspect`: golden answers and exit codes.

use super::{command, contents, ebb};
use crate::harness::neo4j::{empty, fresh};
use insta::assert_json_snapshot;

#[tokio::test(flavor = "multi_thread")]
async fn an_uninitialised_database_is_refused_by_all_but_those_that_look() {
    let db = empty().await;
    for args in [
        ["memory", "list"].as_slice(),
        &["memory", "add", "x"],
        &["job", "run", "--all"],
        &["session", "end", "s"],
        &["inspect", "tiers"],
        &["plot", "tiers"],
        &["graph", "refresh"],
    ] {
        ebb(&db, args).fails(1, "try: ebb init");
    }
    assert!(ebb(&db, &["status"]).any_json()["stopped"].as_str().unwrap().contains("not initialised"));
    let before = contents(&db).await;
    ebb(&db, &["doctor"]).fails(7, "the doctor found 18 problems");
    assert_eq!(contents(&db).await, before);
    assert_json_snapshot!("init_dry_run", ebb(&db, &["init", "--dry-run"]).golden());
    ebb(&db, &["init"]).fails(3, "--yes");
    assert_eq!(contents(&db).await, before);
    assert_json_snapshot!("init", ebb(&db, &["init", "--yes"]).golden());
    assert_json_snapshot!("init_again", ebb(&db, &["init"]).golden());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_at_which_the_server_routes_answers_without_a_warning() {
    let (db, folder) = (fresh().await, tempfile::tempdir().unwrap());
    let uri = db.config.uri.replacen("bolt", "neo4j", 1);
    let told = command(&db, folder.path(), &["status"]).env("NEO4J_URI", uri).output().unwrap();
    assert_eq!((told.status.code(), String::from_utf8_lossy(&told.stderr).as_ref()), (Some(0), ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_is_written_once_and_never_replaced() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    let init = |args: &[&str]| -> super::CliOutput {
        let args = [&["init", "--write-config"], args].concat();
        command(&db, folder.path(), &args).output().unwrap().into()
    };
    assert_eq!(init(&[]).json()["config_written"], "ebb.toml");
    let sample = std::fs::read_to_string(folder.path().join("ebb.toml")).unwrap();
    assert!(sample.contains("# workingDecay = 0.5\n"), "{sample}");
    // As after a failure that came between the file and the database.
    assert_eq!(init(&[]).json()["config_written"], "ebb.toml");
    let own = "[worker]\nlease = \"20s\"\n";
    std::fs::write(folder.path().join("ebb.toml"), own).unwrap();
    init(&["--yes"]).fails(1, "ebb.toml exists");
    assert_eq!(std::fs::read_to_string(folder.path().join("ebb.toml")).unwrap(), own);
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_by_hand_and_what_they_leave_in_the_ledger() {
    let db = fresh().await;
    let at = |at: &str, args: &[&str]| ebb(&db, &[args, &["--at", at]].concat());
    at("2026-01-01T10:00Z", &["memory", "add", "fades", "--id", "a"]).json();
    at("2026-01-01T19:50Z", &["memory", "add", "rises", "--id", "b"]).json();
    at("2026-01-01T19:51Z", &["memory", "access", "b"]).json();
    at("2026-01-01T19:52Z", &["memory", "access", "b"]).json();
    assert_json_snapshot!("job_run", at("2026-01-01T20:00Z", &["job", "run", "decay"]).golden());
    assert_json_snapshot!("job_run_all", at("2026-01-01T20:00Z", &["job", "run", "--all"]).golden());
    assert_json_snapshot!("job_list", ebb(&db, &["job", "list"]).golden());
    assert_json_snapshot!("job_history", ebb(&db, &["job", "history", "decay", "--limit", "2"]).golden());
    assert_json_snapshot!("status", at("2026-01-01T20:30Z", &["status"]).golden());
    let doctor = ebb(&db, &["doctor"]).json();
    assert_eq!((&doctor["problems"], &doctor["mended"]), (&0.into(), &serde_json::json!([])));
    assert_eq!(doctor["findings"][0]["what"], "server");
    assert_json_snapshot!("plot_tiers", at("2026-01-02", &["plot", "tiers"]).golden());
    let curve = at("2026-01-01T21:00Z", &["plot", "energy", "b"]).json();
    assert_eq!(curve["thresholds"][0]["what"], "promoted above 5");
    assert!(curve["points"].as_array().unwrap().iter().any(|point| point["ahead"] == true));
    let folder = tempfile::tempdir().unwrap();
    let svg = folder.path().join("b.svg");
    at("2026-01-01T21:00Z", &["plot", "energy", "b", "--svg", svg.to_str().unwrap()]).json();
    assert!(std::fs::read_to_string(svg).unwrap().contains("</svg>"));
}

#[tokio::test(flavor = "multi_thread")]
async fn tiers_are_drawn_of_the_memories_that_ebb_keeps() {
    let db = fresh().await;
    let rows = "UNWIND [\
          {id: 'working', tier: 'working'}, {id: 'short', tier: 'shortTerm'}, {id: 'long', tier: 'longTerm'}, \
          {id: 'stub', tier: 'archivedWorking'}, {id: 'bad', tier: 'shortTerm', energy: 'much'}, \
          {content: 'of another library'}] AS row \
        CREATE (m:Memory {content: 'x', created: datetime('2026-01-01T10:00Z')}) SET m += row \
        WITH m WHERE m.id = 'long' \
        CREATE (:Memory {id: 'gone', content: 'x', tier: 'expiredWorking', created: datetime('2026-01-01T10:00Z'), \
          lastExpired: datetime('2026-01-01T12:00Z')}) \
        CREATE (:Memory {id: 'former', content: 'x', tier: 'archivedShortTerm'})\
          -[:CRYSTALLIZED_INTO {at: datetime('2026-01-01T11:00Z')}]->(m)";
    db.client.run(rows, &[]).await;
    ebb(&db, &["job", "run", "decay", "--at", "2026-01-01T10:00Z"]).json();
    let drawn = ebb(&db, &["plot", "tiers", "--at", "2026-01-02"]).json();
    let counts = |hour: &serde_json::Value| {
        ["working", "shortTerm", "longTerm", "expiredWorking"].map(|tier| hour[tier].as_i64().unwrap())
    };
    let hours: Vec<[i64; 4]> = drawn["hours"].as_array().unwrap().iter().map(counts).collect();
    assert_eq!(hours, [[2, 2, 0, 0], [2, 1, 1, 0], [1, 1, 1, 1]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_history_names_the_jobs_that_wait_in_text_and_json() {
    let db = fresh().await;
    let history = |name: &str| ebb(&db, &["job", "history", name]).json();
    let text = |name: &str| {
        let told = ebb(&db, &["job", "history", name, "-o", "table"]).out;
        told.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(history("decay")["waiting"][0]["cause"], "due");
    assert!(text("decay").contains("no worker has run it. Start one with: ebb worker"), "{}", text("decay"));
    assert_eq!(history("embed")["waiting"], serde_json::json!([{ "job": "embed", "cause": "disabled" }]));
    assert!(text("embed").contains("embed is disabled"), "{}", text("embed"));
    let left = "MERGE (c:EbbCounter {name: 'job:decay'}) SET c.latest = 'left'
        CREATE (:EbbRun {job: 'decay', occurrence: 'left', id: 'left', trigger: 'schedule', state: 'open', fence: 1, batch: 0,
          holder: 'gone', now: datetime(), started: datetime(), leaseUntil: datetime.realtime().epochMillis + $left})";
    db.client.run(left, &[("left", 3_600_000_i64.into())]).await;
    assert_eq!(history("decay")["waiting"], serde_json::json!([]), "it is in progress");
    db.client.run("MATCH (r:EbbRun) SET r.leaseUntil = datetime.realtime().epochMillis - 60000", &[]).await;
    assert_eq!(history("decay")["waiting"][0]["cause"], "stranded");
    assert!(text("decay").contains("lost its holder"), "{}", text("decay"));
    db.client.run("MATCH (r:EbbRun) DELETE r", &[]).await;

    db.store.claim_scratch("work").await.unwrap();
    let scratch = history("decay");
    assert_eq!(scratch["waiting"], serde_json::json!([]));
    let why = ebb_core::scheduler::dispatcher::UNSCHEDULED;
    assert_eq!(scratch["unscheduled"], why);
    assert!(text("decay").contains(why), "{}", text("decay"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_question_is_answered_in_every_format() {
    let db = fresh().await;
    for (id, at) in [("a", "2026-01-01T10:00Z"), ("a", "2026-01-01T10:01Z"), ("a", "2026-01-01T10:02Z")] {
        ebb(&db, &["memory", "add", "x", "--id", id, "--session", "s", "--mention", "e", "--at", at]).json();
    }
    ebb(&db, &["job", "run", "--all", "--at", "2026-01-01T10:10Z"]).json();
    let style = ebb(&db, &["inspect", "--style"]).out;
    assert!(
        style.contains("node.Memory {") && style.matches('{').count() == style.matches('}').count(),
        "{style}"
    );
    let list = ebb(&db, &["inspect"]).golden();
    assert_json_snapshot!("inspect", list);
    for question in list["questions"].as_array().unwrap() {
        let name = question["name"].as_str().unwrap();
        let answer = ebb(&db, &["inspect", name]).json();
        assert_eq!(answer["title"], question["title"], "{name}");
        for format in ["table", "ndjson"] {
            let said = ebb(&db, &["inspect", name, "-o", format]);
            assert_eq!(said.code, Some(0), "{name} as {format}: {}", said.err);
        }
        let text = ebb(&db, &["inspect", name, "--cypher"]).out;
        db.client.run(&text, &[]).await;
    }
    assert_json_snapshot!("inspect_tiers", ebb(&db, &["inspect", "tiers"]).golden());
    let places = ebb(&db, &["inspect", "places_cold"]).json();
    assert_eq!(places["rows"], serde_json::json!([]), "an entity on no trail is no place");
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_without_a_usable_value_take_no_place_of_others() {
    let db = fresh().await;
    // In descending order null and NaN come first.
    let unusable = "UNWIND range(1, 30) AS i
        CREATE (:Memory {scope: 'a', id: 'nan' + i, content: 'c', tier: 'longTerm', energy: 0.0 / 0.0})
        CREATE (:Memory {scope: 'a', id: 'text' + i, content: 'c', tier: 'longTerm', energy: 'high'})
        CREATE (x:Memory:EbbMemory {scope: 'a', id: 'x' + i, content: 'c', tier: 'expiredWorking', energy: 0.01, energyAt: datetime('2026-01-01T00:00Z')})
        CREATE (y:Memory:EbbMemory {scope: 'a', id: 'y' + i, content: 'c', tier: 'archivedWorking'})
        CREATE (y)-[:PROMOTED_TO {energy: 2.5}]->(x), (y)-[:COACTIVATED {weight: 0.0 / 0.0}]->(x)";
    db.client.run(unusable, &[]).await;
    db.client
        .run("UNWIND range(1, 201) AS i CREATE (:EbbState {scope: 'a', kind: 'node', key: 'k' + i, hidden: true})", &[])
        .await;
    let usable = "CREATE (m:Memory:EbbMemory {scope: 'team', id: 'strong', content: 'c', tier: 'longTerm', energy: 6.0, energyAt: datetime('2026-01-05T00:00Z')}),
        (late:Memory:EbbMemory {scope: 'team', id: 'late', content: 'c', tier: 'expiredWorking', energy: 0.01, energyAt: datetime('2026-01-05T00:00Z'), lastExpired: datetime('2026-01-06T00:00Z')}),
        (m)<-[:CRYSTALLIZED_INTO {at: datetime('2026-01-05T00:00Z'), energy: 6.0}]-(:Memory {scope: 'team', id: 'stub', tier: 'archivedShortTerm'}),
        (m)-[:COACTIVATED {weight: 3}]->(late),
        (:EbbState {scope: 'team', kind: 'node', key: 'used', lastAccess: datetime('2026-01-05T00:00Z')})";
    db.client.run(usable, &[]).await;
    let shown = |name: &str, column: &str| {
        let answered = ebb(&db, &["inspect", name]);
        let rows = answered.json()["rows"].as_array().unwrap().clone();
        assert_eq!(rows[0]["scope"], "team", "{name}: {rows:?}");
        (rows.len(), rows[0][column].clone(), answered.err)
    };
    assert_eq!(shown("tiers", "energyAt"), (1, "2026-01-05T00:00:00.000Z".into(), String::new()));
    assert_eq!(shown("promotions", "id"), (1, "strong".into(), String::new()));
    assert_eq!(shown("coactivation", "weight"), (1, 3.into(), String::new()));
    let (rows, latest, remark) = shown("expired", "expiredAt");
    assert_eq!((rows, latest), (25, "2026-01-06T00:00:00.000Z".into()));
    assert!(remark.contains("at most 25 rows are shown"), "{remark}");
    let (rows, key, remark) = shown("states", "key");
    assert_eq!((rows, key), (200, "used".into()));
    assert!(remark.contains("at most 200 rows are shown"), "{remark}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_most_similar_memory_is_that_of_the_strongest_reinforcement() {
    let db = fresh().await;
    let pairs = "CREATE (o:Memory:EbbMemory {scope: 'team', id: 'o', content: 'old', tier: 'longTerm'})
        WITH o UNWIND [['near', 0.9], ['far', 0.6], ['odd', 'x'], ['nan', 0.0 / 0.0]] AS pair
        CREATE (o)<-[:REINFORCES {strength: pair[1]}]-(:Memory:EbbMemory {scope: 'team', id: pair[0], content: pair[0], tier: 'working'})";
    db.client.run(pairs, &[]).await;
    let rows = ebb(&db, &["inspect", "reinforcements"]).json()["rows"].clone();
    let wanted =
        serde_json::json!([{"scope": "team", "times": 4, "strongest": 0.9, "memory": "old", "by": "near"}]);
    assert_eq!(rows, wanted);
}

/// An interrupt while the program waits for a person's words.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_ends_with_130() {
    use std::process::{Command, Stdio};
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    let mut program = command(&db, folder.path(), &["memory", "add", "-"]);
    let mut child =
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Held to the end: words that end are an answer too, and would race with the signal.
    let words = child.stdin.take();
    let listens = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & 2 != 0
    };
    while !listens() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    super::CliOutput::from(child.wait_with_output().unwrap()).fails(130, "interrupted");
    drop(words);
}

/// An interrupt while the program waits for an API that does not answer.
#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_is_noticed_while_another_program_is_asked() {
    use std::process::{Command, Stdio};
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    silent.set_nonblocking(true).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_ebb"))
        .args(["engine", "queries"])
        .current_dir(folder.path())
        .env_clear()
        .env("EBB__HTTP__LISTEN", silent.local_addr().unwrap().to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Held to the end: one that closes is an answer too.
    let asked = loop {
        match silent.accept() {
            Ok(asked) => break asked,
            Err(_) => assert_eq!(child.try_wait().unwrap(), None),
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    };
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    super::CliOutput::from(child.wait_with_output().unwrap()).fails(130, "interrupted");
    drop(asked);
}

#[tokio::test(flavor = "multi_thread")]
async fn health_tells_energies_as_they_are_now() {
    let db = fresh().await;
    for (id, at) in [("a", "2026-01-01T10:00Z"), ("b", "2026-01-01T11:00Z"), ("b", "2026-01-01T11:00Z")] {
        ebb(&db, &["memory", "add", "x", "--id", id, "--session", "s", "--at", at]).json();
    }
    assert_json_snapshot!("health", ebb(&db, &["health", "--at", "2026-01-01T12:00Z"]).golden());
    assert_eq!(ebb(&db, &["health", "-o", "table"]).code, Some(0));
    let wrong = ebb(&db, &["memory", "add", "x", "--embedding", "1,2,3"]);
    wrong.fails(2, "embedding.dimensions is not set: set it to 3");
}
