//! `ebb backup` and `ebb restore`: what comes back is what was there, to the bit, and a database is never left with a part of it.

use super::{CliOutput, command, contents, ebb};
use crate::harness::graph;
use crate::harness::neo4j::{Fresh, empty, fresh};
use ebb_core::store::BackupRow;
use serde_json::{Value, json};
use std::path::Path;

const MONTH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/config/demo/month.ndjson");
/// The first days of the bundled month: promotions, expiries, relations, trails and facts.
const LINES: usize = 420;
/// After the last of these lines.
const THEN: &str = "2026-03-09T00:00:00Z";

/// Values of every type on a memory, a memory that is quarantined, and a row that is nobody's.
const ODD: &str = "
    CREATE (:Memory:EbbMemory:Project {scope: 'local', id: 'odd', content: 'a\\nb \"c\"', tier: 'longTerm', energy: 0.1 + 0.2,
      energyAt: datetime('2026-03-01T10:00:00.123456789+05:45'), lastAccessed: datetime('2026-03-01T10:00:00[Europe/Berlin]'),
      accessCount: 9007199254740993, pinned: true, tags: ['x', ''], embedding: [0.1, -0.0, 1.0], whole: [1, 2], none: [],
      day: date('2026-02-28'), noon: localtime('12:00:00.5'), zoned: time('12:00:00+01:00'), local: localdatetime('2026-03-01T10:00:00'),
      place: point({x: 1.5, y: 2.0}), high: point({longitude: 1.5, latitude: 2.0, height: 3.0}), far: datetime('+12026-03-01T00:00:00Z')})
    CREATE (bad:Memory:EbbMemory:EbbQuarantined {scope: 'local', id: 'bad', content: 'x', energy: 0.0 / 0.0, ebbReason: 'energy is NaN'})
    CREATE (note:Note {id: 'n', text: 'of another program'})-[:QUOTES]->(bad)";

fn on(db: &Fresh, folder: &Path, args: &[&str]) -> CliOutput {
    command(db, folder, args).output().unwrap().into()
}

/// A database with some of everything, and its backup in `b.ndjson`.
async fn filled(folder: &Path) -> Fresh {
    let db = fresh().await;
    let text = std::fs::read_to_string(MONTH).unwrap();
    let some: String = text.lines().take(LINES).map(|line| format!("{line}\n")).collect();
    std::fs::write(folder.join("days.ndjson"), some).unwrap();
    on(&db, folder, &["import", "days.ndjson"]).json();
    on(&db, folder, &["job", "run", "--all", "--at", THEN]).json();
    on(
        &db,
        folder,
        &["policy", "set", "p", "--relation", "status:*", "--for", "*", "--mode", "retract", "--ttl", "30d"],
    )
    .json();
    on(&db, folder, &["key", "create", "--name", "k", "--right", "read", "--scope", "team"]).json();
    on(&db, folder, &["memory", "add", "prefers tabs", "--id", "tabs", "--metadata", "topic=style"]).json();
    on(&db, folder, &["memory", "update", "tabs", "--content", "prefers spaces"]).json();
    db.client.run(ODD, &[]).await;
    let told = on(&db, folder, &["backup", "b.ndjson"]).json();
    assert_eq!(told["relationships_to_others"], 1, "{told:#}");
    assert_eq!(told["changed_meanwhile"], false, "{told:#}");
    db
}

/// All rows, without those that an initialisation dates and the change that a restore records.
async fn rows(db: &Fresh) -> Vec<String> {
    let mut rows = graph::everything(&db.client).await;
    rows.retain(|row| {
        let is_of = |label: &str| row.starts_with(&format!("({label}"));
        !["EbbChange", "EbbMigration", "EbbSettings"].into_iter().any(is_of)
    });
    rows
}

fn without_note(rows: Vec<String>) -> Vec<String> {
    rows.into_iter().filter(|row| !row.contains("(Note")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_back_is_what_was_there_and_lives_on_alike() {
    let folder = tempfile::tempdir().unwrap();
    let db = filled(folder.path()).await;
    let before = without_note(rows(&db).await);
    let ask = |args: &[&str]| on(&db, folder.path(), args).json();
    let list = ["memory", "list", "--limit", "1000", "--at", "2026-03-10T00:00:00Z"];
    let energies = ask(&list);
    let later = ["job", "run", "--all", "--at", "2026-03-16T00:00:00Z"];
    ask(&later);
    let matured = without_note(graph::remembered(&db.client).await);

    db.client.run("MATCH (n) DETACH DELETE n", &[]).await;
    let checked = ask(&["restore", "b.ndjson", "--dry-run"]);
    let told = ask(&["restore", "b.ndjson", "--yes"]);
    assert_eq!((&told["nodes"], &told["dry_run"]), (&checked["nodes"], &json!(false)));
    assert_eq!(told["relationships_left_out"], 0, "{told:#}");
    graph::same(&before, &rows(&db).await, "restored");
    assert_eq!(ask(&list), energies);
    ask(&later);
    graph::same(&matured, &graph::remembered(&db.client).await, "a week after the restore");
    let refused = on(&db, folder.path(), &["restore", "b.ndjson", "--yes"]);
    refused.fails(1, "has rows of Ebb's already");
    // NEO4J_URI, which is set here, takes precedence over a home.
    let other = "try: env -u NEO4J_URI EBB__NEO4J__HOME=.ebb/restored ebb restore FILE";
    assert!(refused.err.contains(other), "{}", refused.err);
    on(&db, folder.path(), &["backup", "b.ndjson"]).fails(3, "b.ndjson exists");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_that_was_broken_off_is_refused_by_all_and_starts_again() {
    let folder = tempfile::tempdir().unwrap();
    let db = filled(folder.path()).await;
    let before = without_note(rows(&db).await);
    db.client.run("MATCH (n) DETACH DELETE n", &[]).await;
    ebb(&db, &["init", "--yes"]).json();
    let node = |name: &str| BackupRow::Node {
        name: name.to_owned(),
        labels: vec!["Memory".to_owned(), "EbbMemory".to_owned()],
        values: json!({ "scope": "local", "id": name }).as_object().unwrap().clone(),
    };
    let store = db.another();
    store.hold_restore(None, "of another file", true).await.unwrap();
    let faster = db.another().hold_restore(None, "of a third file", true).await;
    assert!(faster.unwrap_err().to_string().contains("at the same time"), "one of two goes on");
    store.clear_restore().await.unwrap();
    assert_eq!(store.restore_batch(1, &[node("1"), node("2")], true).await.unwrap(), 2);
    assert_eq!(
        store.restore_batch(1, &[node("1"), node("2")], true).await.unwrap(),
        2,
        "a batch counts once"
    );
    db.client.run("CREATE (:Note {id: 'n'})", &[]).await;
    for args in [
        ["memory", "list"].as_slice(),
        &["memory", "add", "x"],
        &["job", "run", "--all"],
        &["init", "--yes"],
        &["backup", "other.ndjson"],
        &["uninstall", "--yes"],
    ] {
        on(&db, folder.path(), args).fails(1, "try: ebb restore FILE");
    }
    let said = ebb(&db, &["doctor", "-o", "table"]);
    assert!(said.code == Some(7) && said.out.contains("ebb restore FILE"), "{}{}", said.out, said.err);
    assert!(ebb(&db, &["status"]).any_json()["stopped"].as_str().unwrap().contains("broken off"));
    on(&db, folder.path(), &["restore", "b.ndjson", "--yes"]).json();
    assert!(
        store.restore_batch(2, &[node("3")], true).await.is_err(),
        "the process before has lost the database"
    );
    graph::same(&before, &without_note(rows(&db).await), "started again");
    assert_eq!(db.client.value::<i64>("MATCH (n:Note) RETURN count(n)").await, 1, "a row of others stays");

    // One that lacks only its end is completed, by the same file alone.
    let checksum = std::fs::read_to_string(folder.path().join("b.ndjson")).unwrap();
    let last: Value = serde_json::from_str(checksum.lines().last().unwrap()).unwrap();
    let checksum = last["end"]["sha256"].as_str().unwrap();
    on(&db, folder.path(), &["backup", "later.ndjson"]).json();
    let marked = format!(
        "CREATE (:EbbMigration {{version: 'restore', checksum: '{checksum}', lock: 'p', batch: 9, created: 9, isLoaded: true}}) \
         WITH 1 AS one MATCH (m:Memory) SET m:EbbRestored, m.ebbRestored = m.id"
    );
    db.client.run(&marked, &[]).await;
    for args in [
        ["restore", "--abandon", "--yes"].as_slice(),
        &["restore", "later.ndjson", "--yes"],
        &["restore", "later.ndjson", "--dry-run"],
        &["memory", "list"],
    ] {
        let said = on(&db, folder.path(), args);
        said.fails(1, "try: ebb restore FILE --yes");
        assert!(said.err.contains(&checksum[..12]) && !said.err.contains("--abandon"), "{}", said.err);
    }
    on(&db, folder.path(), &["restore", "b.ndjson", "--dry-run"]).json();
    on(&db, folder.path(), &["restore", "b.ndjson", "--yes"]).json();
    graph::same(&before, &without_note(rows(&db).await), "completed");

    // One that is given up leaves a database that works.
    db.client.run("MATCH (n) DETACH DELETE n", &[]).await;
    ebb(&db, &["init", "--yes"]).json();
    store.hold_restore(None, "of another file", true).await.unwrap();
    store.clear_restore().await.unwrap();
    store.restore_batch(1, &[node("1")], true).await.unwrap();
    let seen = store.unfinished_restore().await.unwrap();
    store.mark_restore_loaded().await.unwrap();
    let late = db.another().hold_restore(seen.as_ref(), "of another file", true).await;
    assert!(late.is_err(), "its last row came after it was looked at");
    db.client.run("MATCH (m:EbbMigration {version: 'restore'}) SET m.isLoaded = false", &[]).await;
    assert_eq!(on(&db, folder.path(), &["restore", "--abandon", "--yes"]).json()["abandoned"], true);
    assert_eq!(on(&db, folder.path(), &["memory", "list"]).json()["memories"], json!([]));
    ebb(&db, &["memory", "add", "x"]).json();
    on(&db, folder.path(), &["restore", "b.ndjson", "--dry-run"]).fails(1, "has rows of Ebb's already");
    assert!(store.restore_batch(2, &[node("2")], true).await.is_err(), "it has lost the database");
}

/// The reader must not wait for a writer that has failed.
#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_cannot_be_written_ends() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    db.client
        .run("UNWIND range(1, 5000) AS i CREATE (:Memory:EbbMemory {scope: 'local', id: 'm' + i, content: 'c'})", &[])
        .await;
    on(&db, folder.path(), &["backup", "none/such/b.ndjson"]).fails(1, "none/such");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_and_a_value_without_a_form_write_nothing() {
    let db = empty().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("b.ndjson");
    on(&db, folder.path(), &["restore", "b.ndjson", "--yes"]).fails(1, "cannot be read");
    std::fs::write(&file, "{\"at\":\"2026-01-01T10:00:00Z\",\"kind\":\"memory\"}\n").unwrap();
    let said = on(&db, folder.path(), &["restore", "b.ndjson", "--yes"]);
    said.fails(1, "b.ndjson:1: this is not the first line of a backup");
    assert_eq!(contents(&db).await, [] as [String; 0]);
    ebb(&db, &["init", "--yes"]).json();
    db.client.run("CREATE (:Memory:EbbMemory {scope: 'local', id: 'a', wait: duration('P1M')})", &[]).await;
    let said = on(&db, folder.path(), &["backup", "c.ndjson"]);
    said.fails(1, "its property wait has a duration, which a backup cannot hold");
    assert!(said.err.contains("try: ebb backup FILE"), "{}", said.err);
    assert!(!folder.path().join("c.ndjson").exists());
}

/// As other writers make them: places with a pheromone and no scope, an edge between two places that have neither, and rows that
/// adoption has yet to take.
const NOT_TAKEN: &str = "
    CREATE (:Room {id: 'a', exploitation_pheromone: 1.0})-[:HALL {success_pheromone: 1.0}]->(:Room {id: 'b', exploration_pheromone: 0.5}),
      (:Closet {id: 'c'})-[:HALL {success_pheromone: 1.0}]->(:Closet {id: 'd'}),
      (:Memory {id: 'm', content: 'prefers tabs', tier: 'longTerm'}), (:Memory {id: 'other', text: 'of another library'}),
      (:Fact {entity: 'Flo', relation: 'status', value: 'busy'}),
      (:Entity {name: 'Ann'})-[:RELATES_TO {type: 'knows', weight: 1.0}]->(:Entity {name: 'Bob'}),
      (:Entity {uuid: 'u', name: 'Cy'})-[:RELATES_TO {type: 'knows', weight: 1.0}]->(:Entity {uuid: 'v', name: 'Di'})";

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_taken_over_yet_is_counted_and_a_place_without_a_scope_comes_back() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    db.client.run(NOT_TAKEN, &[]).await;
    let ask = |args: &[&str]| on(&db, folder.path(), args).json();
    let told = ask(&["backup", "before.ndjson"]);
    let left = json!({"memories": 1, "facts": 1, "entities": 0, "relations": 1, "edges": 1});
    assert_eq!((&told["left_out"], &told["uri"]), (&left, &json!(db.config.uri)), "{told:#}");
    let said = on(&db, folder.path(), &["backup", "before.ndjson", "--yes", "-o", "table"]).out;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let advice = "Not in it: 1 memories, 1 facts, 1 relations, not taken over yet; ebb job run --all,";
    assert!(said.contains(advice), "{said}");
    assert!(said.contains(&format!("of the database at {} to before.ndjson.", db.config.uri)), "{said}");
    ask(&["memory", "add", "prefers spaces", "--id", "n"]);
    db.client.run("MATCH (m:Memory {id: 'n'}) CREATE (m)-[:MENTIONS]->(:Entity {name: 'Eve'})", &[]).await;
    assert_eq!(ask(&["backup", "before.ndjson", "--yes"])["left_out"]["entities"], 1);

    ask(&["job", "run", "--all"]);
    let told = ask(&["backup", "b.ndjson"]);
    let left = json!({"memories": 0, "facts": 0, "entities": 0, "relations": 0, "edges": 1});
    assert_eq!(told["left_out"], left, "{told:#}");
    let places = "MATCH (a)-[r:HALL]->(b:Room) RETURN a.id + b.id + ' ' + a.exploitation_pheromone + ' ' + r.success_pheromone";
    let before: Vec<String> = db.client.column(places).await;
    assert_eq!(before.len(), 1, "{before:?}");
    db.client.run("MATCH (n) DETACH DELETE n", &[]).await;
    ask(&["restore", "b.ndjson", "--yes"]);
    assert_eq!(db.client.column::<String>(places).await, before);
    let known = "MATCH (:EbbEntity {name: 'Ann'})-[r:RELATES_TO]->(:EbbEntity {name: 'Bob'}) RETURN r.type";
    assert_eq!(db.client.value::<String>(known).await, "knows");
}

/// The server gives the number of a deleted node to another one: here a node becomes another row between the two readings.
#[tokio::test(flavor = "multi_thread")]
async fn a_relationship_of_a_row_that_took_the_number_of_another_is_not_given_to_that() {
    let db = fresh().await;
    db.client
        .run(
            "UNWIND range(1, 100) AS i CREATE (:EbbTombstone {hash: 'h' + i, scope: 'local'})
             WITH count(*) AS made
             CREATE (:Memory:EbbMemory {scope: 'local', id: 'm', content: 'old', tier: 'longTerm'})
               -[:PREVIOUS_VERSION]->(:EbbVersion {scope: 'local', content: 'older', until: datetime('2026-03-01T10:00:00Z')})",
            &[],
        )
        .await;
    // Nothing is read ahead of one row, and many tombstones come after the first.
    let (to, mut rows) = tokio::sync::mpsc::channel(1);
    let read = async {
        let read = db.store.read_backup(&to).await;
        drop(to);
        read
    };
    let change = async {
        let (mut names, mut relationships, mut gone) = (Vec::new(), Vec::new(), None);
        while let Some(row) = rows.recv().await {
            match row {
                BackupRow::Node { name, labels, values } => {
                    if gone.is_none() && labels == ["EbbTombstone"] {
                        let becomes = format!(
                            "MATCH (e:EbbTombstone {{hash: '{}'}}) REMOVE e:EbbTombstone
                             SET e = {{scope: 'local', id: 'new', content: 'x'}}, e:Memory:EbbMemory
                             WITH e MATCH (m:Memory {{id: 'm'}}) SET m.content = 'changed' CREATE (e)-[:REINFORCES]->(m)",
                            values["hash"].as_str().unwrap()
                        );
                        db.client.run(&becomes, &[]).await;
                        gone = Some(name.clone());
                    }
                    names.push(name);
                }
                BackupRow::Relationship { kind, from, to, .. } => relationships.push((kind, from, to)),
            }
        }
        (names, relationships, gone.unwrap())
    };
    let (read, (names, mut relationships, gone)) = tokio::join!(read, change);
    read.unwrap();
    relationships.sort();
    let [(version, from, to), (stale, of, _)] = &relationships[..] else { panic!("{relationships:?}") };
    assert_eq!([version.as_str(), stale.as_str()], ["PREVIOUS_VERSION", "REINFORCES"]);
    assert!(names.contains(from) && names.contains(to), "a row that changed keeps its name");
    assert!(!names.contains(of), "{of} is not {gone}");
    let number = |name: &str| name.split('-').next().unwrap().to_owned();
    assert_eq!(number(of), number(&gone), "the test has made another row of it");
}

/// As one that a backup read whose end was written after its page.
#[tokio::test(flavor = "multi_thread")]
async fn a_relationship_without_its_end_is_left_out_of_a_restore() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    ebb(&db, &["memory", "add", "prefers tabs", "--id", "tabs", "--mention", "Ann"]).json();
    db.client
        .run("MATCH (m:Memory {id: 'tabs'}) CREATE (m)-[:SEEN_IN]->(:EbbSynapse {scope: 'local'})", &[])
        .await;
    on(&db, folder.path(), &["scope", "export", "local", "b.ndjson"]).json();
    db.client.run("MATCH (n) DETACH DELETE n", &[]).await;
    let told = on(&db, folder.path(), &["restore", "b.ndjson", "--yes"]).json();
    assert_eq!((&told["relationships"], &told["relationships_left_out"]), (&json!(1), &json!(1)), "{told:#}");
    let found = "MATCH (m:Memory {id: 'tabs'})-[:MENTIONS]->(e:EbbEntity) RETURN m.content + ' ' + e.name";
    assert_eq!(db.client.value::<String>(found).await, "prefers tabs Ann");
}

/// The commands of the guide, in their order.
#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_guide_do_what_it_says() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    ebb(&db, &["memory", "add", "prefers tabs", "--id", "tabs"]).json();
    let before = rows(&db).await;
    let fences = include_str!("../../../docs/guide/backup.md").split("```sh\n").skip(1);
    let commands: Vec<Vec<&str>> = fences
        .flat_map(|fence| fence.split("```").next().unwrap().lines())
        .map(|command| command.split(' ').skip(1).collect())
        .collect();
    assert_eq!(commands.len(), 3, "{commands:?}");
    for command in commands {
        if command[0] == "restore" {
            db.client.run("MATCH (n) DETACH DELETE n", &[]).await;
        }
        on(&db, folder.path(), &command).json();
    }
    graph::same(&before, &rows(&db).await, "after the commands of the guide");
}

#[tokio::test(flavor = "multi_thread")]
async fn states_of_rows_of_other_libraries_come_back_by_their_keys() {
    const GRAPH: &str = "CREATE (:Entity:Person {uuid: 'ann', name: 'Ann', group_id: '', created_at: datetime()})
        -[:RELATES_TO {uuid: 'works', name: 'WORKS_AT', fact: 'Ann works at Acme', group_id: '', episodes: [], created_at: datetime()}]->
        (:Entity {uuid: 'acme', name: 'Acme', group_id: '', created_at: datetime()})";
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    let mapped = |args: &[&str]| -> CliOutput {
        let adopt = r#"[{"preset": "graphiti"}]"#;
        command(&db, folder.path(), args).env("EBB__ADOPT", adopt).output().unwrap().into()
    };
    db.client.run(GRAPH, &[]).await;
    mapped(&["adopted", "hide", "works"]).json();
    mapped(&["adopted", "pin", "ann"]).json();
    mapped(&["backup", "b.ndjson"]).json();
    let text = std::fs::read_to_string(folder.path().join("b.ndjson")).unwrap();
    assert!(!text.contains("Acme"), "rows of another library are not in it: {text}");
    for (rows, without) in [("RETURN 1", 2), (GRAPH, 0)] {
        db.client.run("MATCH (n) DETACH DELETE n", &[]).await;
        db.client.run(rows, &[]).await;
        let told = mapped(&["restore", "b.ndjson", "--yes"]).json();
        assert_eq!((&told["states"], &told["states_without_row"]), (&json!(2), &json!(without)), "{told:#}");
    }
    assert_eq!(mapped(&["adopted", "hidden"]).json()["hidden"][0]["key"], "works");
}
