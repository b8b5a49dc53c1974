//! Measured rows: a file of them, to which each is appended at once, and one table of all sizes.

use crate::line::Line;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

/// A measured value at one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) nodes: u64,
    pub(crate) name: String,
    pub(crate) value: f64,
    /// `s`, `ms`, `bytes`, `share` or `rows/s`.
    pub(crate) unit: String,
    /// Rows that were processed.
    pub(crate) rows: Option<i64>,
    /// Time of all of them.
    pub(crate) seconds: Option<f64>,
    /// Whether the time limit ended it.
    pub(crate) truncated: bool,
    /// The commit that was measured, ten digits.
    pub(crate) commit: String,
}

impl Row {
    pub(crate) fn new(nodes: u64, name: &str, value: f64, unit: &str) -> Self {
        let (name, unit) = (name.to_owned(), unit.to_owned());
        Self { nodes, name, value, unit, rows: None, seconds: None, truncated: false, commit: String::new() }
    }

    pub(crate) fn seconds(nodes: u64, name: &str, value: f64) -> Self {
        Self::new(nodes, name, value, "s")
    }

    /// With the number of its rows.
    pub(crate) fn of(self, rows: i64) -> Self {
        Self { rows: Some(rows), ..self }
    }

    /// What grows with the size: a time or a memory; of a rate the time of a row. `None` if that has no meaning.
    fn cost(&self) -> Option<f64> {
        let cost = match self.unit.as_str() {
            "rows/s" => 1.0 / self.value,
            "share" => return None,
            _ => self.value,
        };
        (cost.is_finite() && cost > 0.0).then_some(cost)
    }

    fn cell(&self) -> String {
        let value = match self.unit.as_str() {
            "share" => format!("{:.0} %", self.value * 100.0),
            unit => format!("{} {unit}", short(self.value)),
        };
        match (self.rows, self.seconds) {
            (Some(rows), Some(seconds)) => {
                let end = if self.truncated { ", limit" } else { "" };
                format!("{value} ({rows} in {} s{end})", short(seconds))
            }
            _ => value,
        }
    }
}

/// A number with three digits that count.
fn short(value: f64) -> String {
    match value.abs() {
        0.0..0.1 => format!("{value:.4}"),
        0.1..1.0 => format!("{value:.3}"),
        1.0..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// All rows of a file, the latest of each name and size.
pub(crate) struct Rows {
    rows: Vec<Row>,
    file: File,
    commit: String,
}

impl Rows {
    pub(crate) fn open(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        // The last line may have been broken off.
        let former: Vec<Row> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let file = File::options().create(true).append(true).open(path).expect("a file of rows");
        let head = Command::new("git")
            .args(["rev-parse", "--short=10", "HEAD"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output();
        let commit = head.map(|head| String::from_utf8_lossy(&head.stdout).trim().to_owned());
        let mut all = Self { rows: Vec::new(), file, commit: commit.unwrap_or_default() };
        former.into_iter().for_each(|row| all.keep(row));
        all
    }

    fn keep(&mut self, row: Row) {
        match self.rows.iter_mut().find(|one| (one.nodes, &one.name) == (row.nodes, &row.name)) {
            Some(former) => *former = row,
            None => self.rows.push(row),
        }
    }

    /// Prints a row, and appends it to the file.
    pub(crate) fn add(&mut self, row: Row) {
        let row = Row { commit: self.commit.clone(), ..row };
        println!("{:>9} nodes  {:<38} {}", row.nodes, row.name, row.cell());
        let line = serde_json::to_string(&row).expect("a line");
        writeln!(self.file, "{line}").and_then(|()| self.file.sync_data()).expect("appended");
        self.keep(row);
    }

    /// Whether there is a row of a size.
    pub(crate) fn has(&self, nodes: u64, name: &str) -> bool {
        self.rows.iter().any(|row| row.nodes == nodes && row.name == name)
    }

    /// All rows as a table in Markdown: a column for each size, and the exponent.
    pub(crate) fn table(&self) -> String {
        let sizes: BTreeSet<u64> = self.rows.iter().map(|row| row.nodes).collect();
        let commits: BTreeSet<&str> = self.rows.iter().map(|row| row.commit.as_str()).collect();
        let mut names: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !names.contains(&row.name.as_str()) {
                names.push(&row.name);
            }
        }
        let mut text = format!("Commit {}.\n\n| nodes |", commits.into_iter().collect::<Vec<_>>().join(", "));
        sizes.iter().for_each(|nodes| _ = write!(text, " {nodes} |"));
        text += " exponent |\n|---|";
        text += &"---|".repeat(sizes.len() + 1);
        text += "\n";
        for name in names {
            let row = |nodes: &u64| self.rows.iter().find(|row| row.name == name && row.nodes == *nodes);
            _ = write!(text, "| {name} |");
            for nodes in &sizes {
                _ = write!(text, " {} |", row(nodes).map(Row::cell).unwrap_or_default());
            }
            let points: Vec<(f64, f64)> = sizes
                .iter()
                .filter_map(|nodes| Some(((*nodes as f64).ln(), row(nodes)?.cost()?.ln())))
                .collect();
            let exponent =
                Line::through(&points).map(|line| format!("{:.2}", line.slope)).unwrap_or_default();
            _ = writeln!(text, " {exponent} |");
        }
        text
    }
}
