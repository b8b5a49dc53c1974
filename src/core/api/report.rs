//! Report on the graphs of other libraries in a database: size, growth, and findings with what to do about each.

use super::layout::{Layout, UnknownLabel};
use crate::domain::units::Timestamp;
use serde::Serialize;

/// The report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GraphReport {
    /// Instant of the report.
    pub at: Timestamp,
    /// A report for each layout.
    pub layouts: Vec<LayoutReport>,
    /// Nodes that neither a layout nor Ebb explains, by label.
    pub unknown: Vec<UnknownLabel>,
    /// What was sampled, and where a count ended before the last row.
    pub notes: Vec<String>,
}

/// Report on one layout.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LayoutReport {
    /// The layout with its sizes.
    #[serde(flatten)]
    pub layout: Layout,
    /// Growth; none of a layout that cannot be read.
    pub growth: Option<Growth>,
    /// Live and retired rows, by label or type.
    pub liveness: Vec<Liveness>,
    /// Findings, the most urgent first.
    pub findings: Vec<GraphFinding>,
    /// Names of the checks without a finding.
    pub clean: Vec<&'static str>,
}

/// Rows by the instant at which they were written.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Growth {
    /// Properties with the instants.
    pub by: Vec<String>,
    /// Rows of the last 30 days, divided by 30.
    pub rows_per_day: f64,
    /// Facts among them.
    pub facts_per_day: f64,
    /// The last 30 days that have rows, the oldest first.
    pub days: Vec<Period>,
    /// The last 52 weeks that have rows, from Monday, the oldest first.
    pub weeks: Vec<Period>,
    /// Rows without a usable instant.
    pub undated: i64,
}

/// Rows of a day or a week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Period {
    /// Its beginning, UTC.
    pub start: Timestamp,
    /// Nodes and facts.
    pub rows: i64,
    /// Facts among them.
    pub facts: i64,
}

/// Live and retired rows of a label or type.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Liveness {
    /// Label or type.
    pub of: String,
    /// Role.
    pub role: &'static str,
    /// All rows.
    pub rows: i64,
    /// Rows that are no longer live.
    pub not_live: i64,
    /// Their share.
    pub share: f64,
    /// Properties that say so.
    pub by: Vec<String>,
}

/// A finding, with advice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GraphFinding {
    /// Name of the check.
    pub check: &'static str,
    /// Severity.
    pub level: FindingLevel,
    /// Label or type; none if it concerns the whole layout.
    pub of: Option<String>,
    /// Number of rows.
    pub count: i64,
    /// Result, in one sentence.
    pub found: String,
    /// Why it matters.
    pub why: &'static str,
    /// What to do.
    pub fix: String,
    /// Some of the rows.
    pub examples: Vec<String>,
    /// Statements that would repair it. The report runs none of them.
    pub statements: Vec<String>,
}

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingLevel {
    /// To be looked at.
    Warning,
    /// To be known.
    Note,
}
