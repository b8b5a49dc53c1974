//! Pages of the reference that are written from the program itself, so that they cannot be wrong.

use ebb_files::Readers;
use std::fmt::Write;
use std::path::Path;

/// Holds that a page is what the program says. With `INSTA_UPDATE=always`, as for the other golden files, it is written.
#[track_caller]
#[expect(clippy::disallowed_methods, reason = "as insta reads it")]
pub(crate) fn holds(page: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference").join(page);
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        drop(ebb_files::replace(&path, Readers::Everybody, text.as_bytes()).unwrap());
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == text,
        "docs/reference/{page} is stale: INSTA_UPDATE=always cargo test --lib reference_page"
    );
}

/// A row of a table, with its bars escaped.
pub(crate) fn row(into: &mut String, cells: &[&str]) {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
    writeln!(into, "| {} |", cells.join(" | ")).unwrap();
}

/// The head of a table.
pub(crate) fn head(into: &mut String, cells: &[&str]) {
    row(into, cells);
    row(into, &vec!["---"; cells.len()]);
}
