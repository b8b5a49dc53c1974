//! The guides for operators: their commands and statements do what they say.

use super::{CliOutput, command, ebb};
use crate::harness::neo4j::{Fresh, empty, fresh, run};
use serde_json::json;
use std::path::Path;

/// The texts in a page's fences of this language.
fn fences<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let opening = format!("```{language}\n");
    let texts = page.match_indices(&opening).map(|(at, _)| &page[at + opening.len()..]);
    texts.map(|text| text.split("```").next().unwrap()).collect()
}

/// The commands of a page, without the program's name and their comments.
fn commands(page: &'static str) -> Vec<Vec<&'static str>> {
    let lines = fences(page, "sh").into_iter().flat_map(str::lines);
    let words = |line: &'static str| line.split(" #").next().unwrap_or_default().split_whitespace().collect();
    lines.map(|line| words(line.strip_prefix("ebb ").unwrap())).collect()
}

fn on(db: &Fresh, folder: &Path, args: &[&str]) -> CliOutput {
    command(db, folder, args).output().unwrap().into()
}

/// Community knows the statements about roles, and refuses them for its edition alone.
#[tokio::test(flavor = "multi_thread")]
async fn the_statements_about_permissions_are_well_formed() {
    let db = fresh().await;
    let page = include_str!("../../../docs/guide/permissions.md");
    let statements: Vec<&str> = fences(page, "cypher")
        .into_iter()
        .flat_map(str::lines)
        .map(|line| line.trim_end_matches(';'))
        .collect();
    assert_eq!(statements.len(), 23, "{statements:#?}");
    for statement in statements {
        let mut tx = db.client.begin().await;
        if let Err(why) = run(&mut tx, &format!("EXPLAIN {statement}")).await {
            assert!(why.to_string().contains("Unsupported administration command"), "{statement}: {why}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_an_upgrade_apply_what_is_missing_and_lead_back() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    ebb(&db, &["memory", "add", "prefers tabs", "--id", "tabs"]).json();
    let commands = commands(include_str!("../../../docs/guide/upgrade.md"));
    let verbs: Vec<&str> = commands.iter().map(|command| command[0]).collect();
    assert_eq!(verbs, ["backup", "init", "init", "doctor", "restore"]);
    let ask = |command: &[&str]| on(&db, folder.path(), command).json();
    ask(&commands[0]);
    // As a version without the last migration has left it.
    db.client.run("MATCH (m:EbbMigration {version: 'V017'}) DELETE m", &[]).await;
    ebb(&db, &["memory", "list"]).fails(1, "is not initialised for this version of Ebb");
    let (planned, applied) = (ask(&commands[1]), ask(&commands[2]));
    assert_eq!(planned["applied"], applied["applied"]);
    assert_eq!(applied["applied"].as_array().unwrap().len(), 1, "{applied:#}");
    ask(&commands[3]);
    db.client.run("MATCH (n) DETACH DELETE n", &[]).await;
    ask(&commands[4]);
    assert_eq!(ebb(&db, &["memory", "show", "tabs"]).json()["content"], "prefers tabs");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_a_removal_leave_what_the_page_says() {
    let page = include_str!("../../../docs/guide/removal.md");
    let db = empty().await;
    let folder = tempfile::tempdir().unwrap();
    let ask = |args: &[&str]| on(&db, folder.path(), args).json();
    let states = "MATCH (m:Memory) WHERE m.content IS NOT NULL RETURN reduce(row = m.id + ': ' + m.content, of IN labels(m) | row + ' ' + of) AS line";
    for with_memories in [false, true] {
        ask(&["init", "--yes"]);
        ask(&["memory", "add", "prefers tabs", "--id", "tabs", "--mention", "Ann"]);
        ask(&["relation", "observe", "Ann", "knows", "Bob"]);
        for session in ["s1", "s2"] {
            ask(&["memory", "access", "tabs", "--session", session]);
        }
        assert_eq!(ask(&["job", "run", "promote"])["changed"], json!(1), "with a stub");
        if with_memories {
            let [statement] = fences(page, "cypher")[..] else { panic!("one statement") };
            db.client.run(statement.strip_prefix(":auto ").unwrap(), &[]).await;
        }
        std::fs::remove_file(folder.path().join("before-removal.ndjson")).ok();
        for command in commands(page) {
            ask(&command);
        }
        assert!(db.store.footprint().await.unwrap().is_empty());
        let stay: &[&str] = if with_memories { &[] } else { &["tabs: prefers tabs Memory"] };
        assert_eq!(db.client.column::<String>(states).await, stay);
        let again = ask(&["uninstall", "--yes"]);
        assert_eq!(again["own_nodes"], json!(0));
        if !with_memories {
            for command in
                [&["init", "--yes"][..], &["job", "run", "--all"], &["memory", "forget", "tabs", "--yes"]]
            {
                ask(command);
            }
            let left: i64 = db.client.value("MATCH (m:Memory) RETURN count(m)").await;
            assert_eq!(left, 0, "the stub goes with its memory");
        }
        db.client.run("MATCH (n) DETACH DELETE n", &[]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_about_a_scope_export_and_delete_it() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    ebb(&db, &["memory", "add", "prefers tabs", "--id", "tabs", "--scope", "alice"]).json();
    let commands = commands(include_str!("../../../docs/guide/scopes.md"));
    let verbs: Vec<&str> = commands.iter().map(|command| command[1]).collect();
    assert_eq!(verbs, ["list", "export", "delete", "delete", "receipts"]);
    let answers: Vec<_> = commands.iter().map(|command| on(&db, folder.path(), command).json()).collect();
    assert_eq!(answers[0]["scopes"], json!([{"scope": "alice", "memories": 1}]));
    assert_eq!((&answers[2]["total"], &answers[2]["dry_run"]), (&answers[3]["total"], &json!(true)));
    assert_eq!(answers[4]["receipts"], json!([answers[3]["receipt"]]));
    ebb(&db, &["memory", "show", "tabs", "--scope", "alice"]).fails(1, "tabs");
}
