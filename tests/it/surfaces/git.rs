//! `ebb import --git`: files, commits and co-change of a repository, and recall over them.

use super::recall::ids;
use super::{CliOutput, command, contents, ebb};
use crate::harness::neo4j::fresh;
use serde_json::json;
use std::path::Path;
use std::process::Command;

/// Runs git in a folder.
fn git(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "user.name=t", "-c", "user.email=t@example.com"]).args(args);
    let done = command.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Commits the files with new contents.
fn commit(folder: &Path, day: u32, title: &str, files: &[&str]) {
    for file in files {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{title} {file} {day}\n")).unwrap();
    }
    git(folder, &["add", "-A"]);
    let date = format!("2026-03-{day:02}T12:00:00Z");
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "user.name=t", "-c", "user.email=t@example.com"]);
    command
        .args(["commit", "-q", "-m", title])
        .env("GIT_COMMITTER_DATE", &date)
        .env("GIT_AUTHOR_DATE", &date);
    assert!(command.status().unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_is_imported_once_and_its_new_commits_later() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    let repository = folder.path();
    git(repository, &["init", "-q"]);
    commit(repository, 1, "begin", &["src/lexer.rs", "src/parser.rs", "docs/grammar.md", "old.txt"]);
    for day in 2..6 {
        commit(repository, day, "grow", &["src/parser.rs", "docs/grammar.md"]);
    }
    commit(repository, 6, "tune", &["src/lexer.rs"]);
    db.client.run("CREATE (:File {scope: 'local', id: 'src/lexer.rs', owner: 'another'})", &[]).await;
    let import = |more: &[&str]| -> CliOutput {
        command(&db, repository, &[&["import", "--git", "."], more].concat()).output().unwrap().into()
    };
    let before = contents(&db).await;
    let rehearsed = import(&["--dry-run"]).json();
    assert_eq!(contents(&db).await, before);
    for (field, count) in [("files", 4), ("commits", 6), ("changes", 13), ("pairs", 6)] {
        assert_eq!(rehearsed[field], json!(count), "{field}");
    }
    let done = import(&[]).json();
    assert_eq!((&done["removed"], &done["dry_run"]), (&json!(0), &json!(false)));
    assert!(done["written"].as_i64().unwrap() > 20, "{done}");
    let theirs = "MATCH (f:File {owner: 'another'}) RETURN size(keys(f)) + COUNT { (f)--() }";
    assert_eq!(db.client.value::<i64>(theirs).await, 3, "a file of another writer stays as it is");
    let again = import(&[]).json();
    assert_eq!((&again["written"], &again["removed"]), (&json!(0), &json!(0)), "{again}");
    let pair = "MATCH (:File {id: 'docs/grammar.md'})-[c:COACTIVATED]->(:File {id: 'src/parser.rs'}) RETURN c.weight";
    assert_eq!(db.client.value::<i64>(pair).await, 5);

    // A rename keeps the history; a file that is gone goes.
    git(repository, &["mv", "docs/grammar.md", "docs/language.md"]);
    git(repository, &["rm", "-q", "old.txt"]);
    commit(repository, 7, "rename", &[]);
    let later = import(&[]).json();
    assert_eq!((&later["removed"], &later["commits"]), (&json!(2), &json!(7)), "{later}");
    let renamed = "MATCH (f:File {id: 'docs/language.md'}) RETURN f.accessCount + COUNT { (f)-[:ACCESSED_IN]->(:Session) }";
    assert_eq!(db.client.value::<i64>(renamed).await, 12);
    // The jobs leave the sessions of commits alone, and all that belongs to them.
    ebb(&db, &["job", "run", "coactivate"]).json();
    let taken =
        "MATCH (s:Session) WHERE coalesce(s.coactivateDue, s.coactivated) IS NOT NULL RETURN count(s) AS n";
    assert_eq!(db.client.value::<i64>(taken).await, 0);
    assert_eq!(import(&[]).json()["written"], json!(0));

    let asked =
        ["recall", "what changes with src/parser.rs", "--kind", "File", "--dimension", "structural,temporal"];
    let answer = ebb(&db, &asked).json();
    let found = ids(&answer);
    assert_eq!(found.iter().position(|id| *id == "docs/language.md"), Some(1), "{answer:#}");

    let other = tempfile::tempdir().unwrap();
    git(other.path(), &["init", "-q"]);
    let on = |args: &[&str]| -> CliOutput { command(&db, other.path(), args).output().unwrap().into() };
    on(&["import", "--git", "."]).fails(1, "git cannot read .: ");
    commit(other.path(), 1, "another", &["a.txt"]);
    on(&["import", "--git", "."]).fails(1, "holds the files of another repository");
    assert_eq!(on(&["--scope", "other", "import", "--git", "."]).json()["files"], 1);
    on(&["import", "--git", "nowhere"]).fails(1, "git cannot read nowhere: ");
    on(&["import"]).fails(2, "FILE");
    on(&["import", "x.ndjson", "--git", "."]).fails(2, "--git");
}
