//! `ebb doctor`: findings, each with its fix.

use crate::surfaces::cli::exit::{CliError, Exit, conclude};
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::page::Page;
use ebb_core::service::Service;
use ebb_core::service::doctor::{Finding, Level};
use serde::Serialize;

#[derive(Serialize)]
struct DoctorReport {
    problems: usize,
    warnings: usize,
    mended: Vec<String>,
    findings: Vec<Finding>,
}

/// Runs `ebb doctor`. Warnings alone end well.
///
/// # Errors
/// Exit 7 if there is a problem.
pub async fn doctor(fix: bool, service: &Service, output: &Output) -> Result<(), CliError> {
    // A database that was never initialised is left to `ebb init`, which asks first.
    let mended =
        if fix && service.store().check_schema().await.is_ok() { service.mend().await? } else { Vec::new() };
    let findings = service.doctor().await?;
    let count = |level| findings.iter().filter(|finding| finding.level == level).count();
    let (problems, warnings) = (count(Level::Problem), count(Level::Warning));
    let answer = DoctorReport { problems, warnings, mended, findings };
    let printed = output.emit("doctor", &answer, |page| answer.lay_out(page, fix));
    let verdict = match problems {
        0 => Ok(()),
        1 => Err(CliError::new(Exit::Findings, "the doctor found a problem")),
        n => Err(CliError::new(Exit::Findings, format!("the doctor found {n} problems"))),
    };
    conclude(printed, verdict)
}

impl DoctorReport {
    fn lay_out(&self, page: &mut Page, fix: bool) {
        for row in &self.findings {
            let (sign, ink) = match row.level {
                Level::Well => ("✓", "\x1b[32m"),
                Level::Warning => ("!", "\x1b[33m"),
                Level::Problem => ("✗", "\x1b[31m"),
            };
            page.sign(sign, ink, &format!("{}: {}", row.what, row.found));
            if !row.fix.is_empty() {
                page.line(&format!("    {}", row.fix));
            }
        }
        page.line("");
        self.mended.iter().for_each(|done| page.line(&format!("Repaired: {done}.")));
        if fix && self.mended.is_empty() {
            page.line("--fix found nothing to repair.");
        }
        page.line(&match (self.problems, self.warnings) {
            (0, 0) => "No problems.".to_owned(),
            (0, 1) => "No problem, 1 warning.".to_owned(),
            (0, n) => format!("No problem, {n} warnings."),
            (1, n) => format!("1 problem, {n} warnings."),
            (p, n) => format!("{p} problems, {n} warnings."),
        });
    }
}
