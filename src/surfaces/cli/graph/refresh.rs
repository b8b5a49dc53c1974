//! `ebb graph refresh`: a word for the mirrors of all processes, and by when they have heeded it.

use super::RefreshArgs;
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::instant::about;
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::server::mirrors;
use ebb_core::api::server::MirrorStatus;
use ebb_core::service::Service;
use serde::Serialize;
use std::time::Duration;

/// What was left, and who heeds it.
#[derive(Debug, Serialize)]
struct Left {
    dry_run: bool,
    /// Milliseconds until the last mirror of a process that is there has begun to read; without any, nobody need.
    within_ms: Option<i64>,
    mirrors: Vec<MirrorStatus>,
}

/// Runs the verb.
pub(super) async fn run(args: &RefreshArgs, service: &Service, output: &Output) -> Result<(), CliError> {
    if !args.dry_run {
        service.refresh_all_mirrors().await?;
    }
    let kept = service.mirrors_status().await?;
    // One that was killed looks no more.
    let within_ms = kept.iter().filter(|kept| !kept.stale).map(|kept| kept.refresh_ms).max();
    let left = Left { dry_run: args.dry_run, within_ms, mirrors: kept };
    output.emit("graph.refresh", &left, |page| {
        let reads = if left.dry_run { "would read" } else { "reads" };
        page.paragraph(&match left.within_ms {
            Some(ms) => format!(
                "Every mirror {reads} the graph anew at its next look, within {}.",
                about(Duration::from_millis(ms.unsigned_abs()))
            ),
            None => "No process says that it has a mirror; one that starts reads the graph anew anyway."
                .to_owned(),
        });
        if !left.mirrors.is_empty() {
            page.line("");
            mirrors(&left.mirrors, page);
        }
    })
}
