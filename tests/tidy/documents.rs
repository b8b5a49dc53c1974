//! What the page of the source documents says of each item: a file that does it, and a test that holds it.

use crate::docs::{exists, links, resolved};
use crate::none;
use crate::pages::{stands_at, tests_of};
use crate::source::{File, files};
use std::collections::BTreeMap;

const PAGE: &str = "docs/reference/documents.md";

/// One item of a document.
struct Row<'a> {
    /// Its line, counted from 1.
    line: usize,
    item: &'a str,
    /// What Ebb does.
    does: &'a str,
    /// The test that holds it, in back-ticks.
    test: &'a str,
}

impl Row<'_> {
    /// The test's module and function.
    fn held_by(&self) -> Option<(&str, &str)> {
        self.test.strip_prefix('`')?.strip_suffix('`')?.rsplit_once("::")
    }
}

fn page() -> &'static File {
    files().iter().find(|file| file.path == PAGE).expect(PAGE)
}

/// The rows of the page's tables, and the lines of them that are none.
fn rows() -> (Vec<Row<'static>>, Vec<String>) {
    let (mut rows, mut faults) = (Vec::new(), Vec::new());
    for (line, text) in (1..).zip(page().text.lines()) {
        if !text.starts_with('|') || text.starts_with("| item |") || text.starts_with("|---") {
            continue;
        }
        let cells: Vec<&str> = text.trim_matches('|').split(" | ").map(str::trim).collect();
        match cells[..] {
            [item, does, test] => rows.push(Row { line, item, does, test }),
            _ => faults.push(format!("{PAGE}:{line}: {} cells, not 3", cells.len())),
        }
    }
    (rows, faults)
}

#[test]
fn every_item_names_a_file_that_is_there() {
    let (rows, mut offences) = rows();
    for row in &rows {
        let cell = File { path: PAGE.to_owned(), text: row.does.to_owned() };
        let targets: Vec<&str> = links(&cell).into_iter().map(|(_, target)| target).collect();
        if targets.is_empty() {
            offences.push(format!("{PAGE}:{}: {} has no link", row.line, row.item));
        }
        let gone = targets.iter().filter(|target| !exists(&resolved(PAGE, target)));
        offences.extend(gone.map(|target| format!("{PAGE}:{}: {target}", row.line)));
    }
    none("a row links to the file that does it", &offences);
}

#[test]
fn every_item_is_held_by_a_test() {
    let mut homes: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for file in files().iter().filter(|file| file.path.ends_with(".rs")) {
        for name in tests_of(&file.text) {
            homes.entry(name).or_default().push(&file.path);
        }
    }
    let (rows, mut offences) = rows();
    for row in &rows {
        let is_test = |(place, name): (&str, &str)| {
            homes.get(name).is_some_and(|paths| paths.iter().any(|path| stands_at(path, place, PAGE)))
        };
        let is_sound = row.held_by().is_some_and(is_test);
        if !is_sound {
            offences.push(format!("{PAGE}:{}: {} is held by no test: {}", row.line, row.item, row.test));
        }
    }
    none("a row names a test, after the file it is in", &offences);
}

#[test]
fn the_items_are_counted() {
    let (rows, faults) = rows();
    none("a row has an item, what Ebb does, and a test", &faults);
    assert!(rows.len() > 200, "only {} items were found", rows.len());
}
