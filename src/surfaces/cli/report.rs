//! `ebb report`: the state of the graphs of other libraries, for people, as JSON or as a page.

mod html;

pub(in crate::surfaces) use html::escaped;

use super::adopt::{as_json, state, unknown_labels};
use super::exit::CliError;
use super::instant::rfc3339;
use super::output::Output;
use super::page::{Column, Page};
use clap::Args;
use ebb_core::api::layout::thousands;
use ebb_core::api::report::{FindingLevel, GraphFinding, GraphReport, Growth, LayoutReport};
use ebb_core::domain::units::Timestamp;
use ebb_core::service::Service;
use ebb_files::Readers;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

/// `ebb report`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Reads and never writes, and needs no `ebb init`: run it before anything else. Facts that are no longer live, names and keys
that repeat, references to nothing, hubs, missing indexes: each with why it matters and what to do.

With --at, growth ends at that instant, and by it rows are live or not; sizes and other faults are those of now.

Examples:
  ebb report
  ebb report --json
  ebb report --html report.html")]
pub struct Report {
    /// Print JSON: `--output json`
    #[arg(long, conflicts_with = "html")]
    pub json: bool,
    /// Write a page that is complete in itself; readable by you alone, since it names rows of the graph
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Read options.
    #[command(flatten)]
    pub when: super::ReadOptions,
}

#[derive(Serialize)]
struct Reported<'a> {
    #[serde(flatten)]
    report: &'a GraphReport,
    seconds: f64,
}

#[derive(Serialize)]
struct Written {
    file: String,
    bytes: usize,
}

/// Runs `ebb report`.
pub async fn run(args: &Report, service: &Service, output: &Output) -> Result<(), CliError> {
    let begun = Instant::now();
    let report = service.graph_report(args.when.instant(service).await?).await?;
    let seconds = (begun.elapsed().as_secs_f64() * 10.0).round() / 10.0;
    let Some(file) = &args.html else {
        let reported = Reported { report: &report, seconds };
        return as_json(args.json, output).emit("report", &reported, |page| lay_out(&report, seconds, page));
    };
    let text = html::page(&report);
    ebb_files::replace(file, Readers::Owner, text.as_bytes())
        .map_err(|why| CliError::failed("the page cannot be written").why(why))?;
    let written = Written { file: file.display().to_string(), bytes: text.len() };
    output.emit("report.html", &written, |page| page.line(&format!("Written to {}", written.file)))
}

fn lay_out(report: &GraphReport, seconds: f64, page: &mut Page) {
    if report.layouts.is_empty() {
        page.line("No known layout is in this database: nothing to report.");
    }
    for layout in &report.layouts {
        lay_out_layout(layout, page);
    }
    unknown_labels(&report.unknown, page);
    if !report.layouts.is_empty() {
        page.line("");
        report.notes.iter().for_each(|note| page.line(&format!("Note: {note}.")));
        page.line(&format!("Nothing was written. Read in {seconds} s."));
    }
}

fn lay_out_layout(report: &LayoutReport, page: &mut Page) {
    let layout = &report.layout;
    page.heading(&format!("{}  {}  ({})", layout.library, layout.summary(), state(layout)));
    layout.problems.iter().for_each(|problem| page.line(problem));
    let nodes = layout.nodes.iter().map(|row| [row.label.clone(), row.role.to_owned(), thousands(row.nodes)]);
    let types = layout.relationships.iter().map(|row| {
        let kind = row.kind.clone().unwrap_or_else(|| "other types".to_owned());
        [kind, row.role.to_owned(), thousands(row.relationships)]
    });
    page.table(
        &[Column::left("LABEL OR TYPE"), Column::left("ROLE"), Column::right("ROWS")],
        nodes.chain(types),
    );
    if let Some(growth) = &report.growth {
        lay_out_growth(growth, page);
    }
    for finding in &report.findings {
        page.line("");
        let (sign, ink) = match finding.level {
            FindingLevel::Warning => ("!", "\x1b[33m"),
            FindingLevel::Note => ("-", "\x1b[36m"),
        };
        page.sign(sign, ink, &format!("{}.", finding.found.trim_end_matches('.')));
        lay_out_advice(finding, page);
    }
    page.line("");
    if !report.clean.is_empty() && report.growth.is_some() {
        page.line(&format!("Without a finding: {}", report.clean.join(", ").replace('_', " ")));
        page.line("");
    }
}

fn lay_out_growth(growth: &Growth, page: &mut Page) {
    if growth.by.is_empty() {
        page.line("Growth: not known, since this layout has no instants.");
        return;
    }
    page.line(&format!(
        "Growth: {:.1} rows a day in the last 30 days, {:.1} of them facts (by {})",
        growth.rows_per_day,
        growth.facts_per_day,
        growth.by.join(", ")
    ));
    let weeks = growth.weeks.iter().rev().take(8).rev();
    let weeks = weeks.map(|week| format!("{} {}", day(week.start), thousands(week.rows)));
    page.paragraph(&format!("Rows by week: {}", weeks.collect::<Vec<_>>().join("; ")));
    if growth.undated > 0 {
        page.line(&format!("Without a usable instant: {} rows", thousands(growth.undated)));
    }
}

fn lay_out_advice(finding: &GraphFinding, page: &mut Page) {
    page.paragraph(finding.why);
    page.paragraph(&finding.fix);
    if !finding.examples.is_empty() {
        page.paragraph(&format!("Such as: {}", finding.examples.join("; ")));
    }
    finding.statements.iter().for_each(|statement| page.line(&format!("    {statement};")));
}

/// The day of an instant.
fn day(at: Timestamp) -> String {
    rfc3339(at).chars().take(10).collect()
}
