//! The README's figures: a table of the newest file of results, between two marks. Nobody types them.

use crate::record::{Record, State, TARGETS, Verdict};
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- figures: EBB_UPDATE=1 cargo test --test gates writes what stands here -->\n";
const END: &str = "<!-- end of the figures -->\n";

/// The files of results, the oldest first.
pub(crate) fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/results");
    let entries = std::fs::read_dir(&folder).expect("a folder of results");
    let is_file = |path: &PathBuf| {
        path.extension().is_some_and(|kind| kind == "json") && !path.ends_with("schema.json")
    };
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.expect("an entry").path()).filter(is_file).collect();
    files.sort();
    files
}

/// The page with its figures as the newest file has them.
pub(crate) fn in_page(page: &str, newest: Option<(&str, &Record)>) -> String {
    let (before, rest) = page.split_once(BEGIN).expect("the mark that begins the figures");
    let (_, after) = rest.split_once(END).expect("the mark that ends them");
    let figures = newest
        .map_or_else(|| "No release was measured yet.\n".to_owned(), |(name, record)| table(name, record));
    [before, BEGIN, &figures, END, after].concat()
}

fn table(name: &str, record: &Record) -> String {
    let machine = &record.machine;
    let mut text = format!(
        "Of {}, commit {}, on {} ({} cores, {}), one thread. Ratios, by the bad-side quartile of interleaved pairs:\n\n",
        name.get(..10).unwrap_or(name),
        record.commit.get(..10).unwrap_or_default(),
        machine.cpu,
        machine.cores,
        if machine.kind == "vm" { "virtual" } else { "bare" },
    );
    text.push_str("| | | must be | is | |\n|---|---|---|---|---|\n");
    let run = |verdict: &&Verdict| verdict.state != State::NotRun;
    for verdict in record.verdicts.iter().filter(run) {
        let target = TARGETS.iter().find(|target| target.id == verdict.target);
        let (what, sign) =
            target.map_or(("", ""), |target| (target.what, if target.more_is_better { "≥" } else { "≤" }));
        let state = match verdict.state {
            State::Pass => "met",
            State::AtRisk => "at risk",
            State::Fail | State::NotRun => "missed",
        };
        let is = verdict.value.unwrap_or_default();
        text.push_str(&format!(
            "| {} | {what} | {sign} {} | {} | {state} |\n",
            verdict.target,
            verdict.must,
            short(is)
        ));
    }
    let left: Vec<&str> = record.verdicts.iter().filter(|of| !run(of)).map(|of| of.target.as_str()).collect();
    if !left.is_empty() {
        text.push_str(&format!("\nNot measured: {}.\n", left.join(", ")));
    }
    text
}

/// Three digits of a number.
fn short(value: f64) -> String {
    match value.abs() {
        0.0..1.0 => format!("{value:.3}"),
        1.0..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}
