//! `ebb graph refresh`: makes the mirrors of all processes reload the graph.

use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::instant::about;
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::server::mirrors;
use ebb_core::api::server::MirrorStatus;
use ebb_core::service::Service;
use serde::Serialize;
use std::time::Duration;

/// The mirrors that will refresh.
#[derive(Debug, Serialize)]
struct RefreshReport {
    dry_run: bool,
    /// Milliseconds until the last live mirror begins to read; none without one.
    within_ms: Option<i64>,
    mirrors: Vec<MirrorStatus>,
}

/// Runs the verb.
pub(super) async fn run(dry_run: bool, service: &Service, output: &Output) -> Result<(), CliError> {
    if !dry_run {
        service.refresh_all_mirrors().await?;
    }
    let kept = service.mirrors_status().await?;
    // One that was killed looks no more.
    let within_ms = kept.iter().filter(|kept| !kept.stale).map(|kept| kept.refresh_ms).max();
    let report = RefreshReport { dry_run, within_ms, mirrors: kept };
    output.emit("graph.refresh", &report, |page| {
        let reloads = if report.dry_run { "would reload" } else { "reloads" };
        page.paragraph(&match report.within_ms {
            Some(ms) => format!(
                "Every mirror {reloads} the graph at its next refresh, within {}.",
                about(Duration::from_millis(ms.unsigned_abs()))
            ),
            None => "No process has a mirror; one that starts loads the graph anyway.".to_owned(),
        });
        if !report.mirrors.is_empty() {
            page.line("");
            mirrors(&report.mirrors, page);
        }
    })
}
