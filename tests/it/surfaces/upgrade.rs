//! An upgrade of a database that version 0.1.0 filled: nothing is lost, and every answer of that version is given again.
//!
//! The graph and the answers are a fixture that `tests/fixtures/upgrade.py` writes with the program of that version.

use super::{CliOutput, command};
use crate::harness::graph::{everything, same};
use crate::harness::neo4j::{Fresh, empty};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const GRAPH: &str = include_str!("../../fixtures/upgrade-0.1.0.cypher");
const ANSWERS: &str = include_str!("../../fixtures/upgrade-0.1.0.json");
/// The records of the fixture are as old as the fixture.
const KEPT: &str = "[retention]\nrequests = \"3650d\"\nruns = \"3650d\"\nsessions = \"3650d\"\n";

#[derive(Deserialize)]
struct Answers {
    /// The event file that was imported.
    events: String,
    /// The instant of the last writes.
    asked: String,
    /// Commands and their answers.
    said: Vec<(Vec<String>, Value)>,
    later: Later,
}

/// The same after one run of each job.
#[derive(Deserialize)]
struct Later {
    at: String,
    said: Vec<(Vec<String>, Value)>,
}

/// The graph of the fixture, with the schema of 0.1.0.
async fn of_0_1_0() -> Fresh {
    let db = empty().await;
    db.store.uninstall().await.unwrap();
    let rows = GRAPH.split_once('\n').unwrap().1;
    for statement in rows.split(";\n").filter(|text| !text.is_empty()) {
        db.client.run(statement, &[]).await;
    }
    // Any write may be followed by a trim, and changes are kept for an hour.
    db.client.run("MATCH (c:EbbChange) SET c.at = datetime.realtime()", &[]).await;
    db
}

fn on(db: &Fresh, folder: &Path, args: &[impl AsRef<str>]) -> CliOutput {
    let args: Vec<&str> = args.iter().map(AsRef::as_ref).collect();
    command(db, folder, &[&args[..], &["-o", "json"]].concat()).output().unwrap().into()
}

/// A row under the names of 0.2.0: labels of memories and entities, and the key of relations.
fn renamed(line: &str) -> String {
    let mut text = line.to_owned();
    for labels in line.split('(').filter_map(|part| part.split(' ').next()) {
        let mut new: Vec<&str> = labels
            .split(':')
            .flat_map(|label| match label {
                "EbbStamped" => vec!["EbbMemory"],
                "Entity" => vec!["Entity", "EbbEntity"],
                label => vec![label],
            })
            .collect();
        new.sort_unstable();
        text = text.replace(&format!("({labels} "), &format!("({} ", new.join(":")));
    }
    let Some((before, properties)) = text.split_once("-[RELATES_TO {") else { return text };
    let (properties, after) = properties.split_once('}').unwrap();
    let mut properties: Vec<String> = properties
        .split(", ")
        .map(|one| one.strip_prefix("key: ").map_or(one.to_owned(), |key| format!("ebbKey: {key}")))
        .collect();
    properties.sort_unstable();
    format!("{before}-[RELATES_TO {{{}}}{after}", properties.join(", "))
}

/// Whether an upgrade adds this row: a migration, the settings, or the acceptance of a policy in a scope without facts.
fn is_added(line: &str) -> bool {
    let begins = |begin| line.starts_with(begin);
    begins("(EbbMigration ")
        || begins("(EbbSettings ")
        || begins("(EbbCounter ") && line.contains("name: \"guard:")
}

/// What of an answer is not in another one: a newer version may say more, in other words, a number may differ in its last
/// digits, and the id of a fact that a sweep derives follows from its origin as well.
fn lacks(old: &Value, new: &Value, place: &str, found: &mut Vec<String>) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let is_derived = old.contains_key("origin_at");
            for (name, value) in
                old.iter().filter(|(name, _)| *name != "because" && (*name != "id" || !is_derived))
            {
                lacks(value, new.get(name).unwrap_or(&Value::Null), &format!("{place}.{name}"), found);
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (n, (old, new)) in old.iter().zip(new).enumerate() {
                lacks(old, new, &format!("{place}[{n}]"), found);
            }
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            if (a - b).abs() > 1e-9 * a.abs() {
                found.push(format!("{place}: {a} is {b}"));
            }
        }
        (old, new) if old == new => {}
        (old, new) => found.push(format!("{place}: {old} is {new}")),
    }
}

fn same_answers(db: &Fresh, folder: &Path, said: &[(Vec<String>, Value)], when: &str) {
    let mut found = Vec::new();
    for (command, old) in said {
        lacks(old, &on(db, folder, command).json(), &command.join(" "), &mut found);
    }
    assert!(found.is_empty(), "{when}\n{}", found.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_0_1_0_keeps_every_row_and_every_answer() {
    let db = of_0_1_0().await;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ebb.toml"), KEPT).unwrap();
    let answers: Answers = serde_json::from_str(ANSWERS).unwrap();
    let ask = |args: &[&str]| on(&db, folder.path(), args).json();
    let before = everything(&db.client).await;
    on(&db, folder.path(), &["memory", "list"]).fails(1, "is not initialised for this version of Ebb");

    let planned = ask(&["init", "--dry-run"]);
    assert_eq!(before, everything(&db.client).await, "a dry run");
    let applied = ask(&["init", "--yes"]);
    assert_eq!(planned["applied"], applied["applied"]);
    let migrations: Vec<&str> =
        applied["applied"].as_array().unwrap().iter().map(|name| &name.as_str().unwrap()[7..11]).collect();
    assert_eq!(migrations, ["V010", "V011", "V012", "V013", "V014", "V015", "V016", "V017"]);

    let after = everything(&db.client).await;
    let mut kept: Vec<String> = before.iter().map(|line| renamed(line)).collect();
    kept.sort();
    let is_kept = |line: &String| kept.binary_search(line).is_ok() || !is_added(line);
    same(
        &kept,
        &after.iter().filter(|line| is_kept(line)).cloned().collect::<Vec<_>>(),
        "rows of an upgrade",
    );
    same_answers(&db, folder.path(), &answers.said, "after the upgrade");
    assert_eq!(problems(&on(&db, folder.path(), &["doctor"])), ["rows"], "the row that no law can use");

    let settled = everything(&db.client).await;
    let second = ask(&["init", "--yes"]);
    assert_eq!((&second["applied"], &second["tunables_added"]), (&json!([]), &json!(0)));
    same(&settled, &everything(&db.client).await, "a second init");

    // Neither an import nor a request counts again.
    fs::write(folder.path().join("events.ndjson"), &answers.events).unwrap();
    assert_eq!(ask(&["import", "events.ndjson"])["events"], 0);
    same_answers(&db, folder.path(), &answers.said, "after a repeated import");
    let (id, once) = ("once", "Stored once under a request id");
    let repeated =
        ask(&["memory", "add", once, "--id", id, "--request-id", "request-1", "--at", &answers.asked]);
    assert_eq!((&repeated["did"], &repeated["accessCount"]), (&json!("created"), &json!(1)));

    ask(&["job", "run", "--all", "--at", &answers.later.at]);
    same_answers(&db, folder.path(), &answers.later.said, "after a run of each job");
    db.client.run("MATCH (m:EbbQuarantined) SET m.energy = 1.0", &[]).await;
    ask(&["doctor", "--fix"]);
    assert_eq!(problems(&on(&db, folder.path(), &["doctor"])), [""; 0]);
}

/// The subjects of the problems that the doctor found.
fn problems(doctor: &CliOutput) -> Vec<String> {
    let found = doctor.any_json();
    let problems = found["findings"].as_array().unwrap().iter().filter(|one| one["level"] == "problem");
    problems.map(|one| one["what"].as_str().unwrap().to_owned()).collect()
}
