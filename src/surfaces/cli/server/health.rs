//! `ebb health`: the documented health check, for energies as they are now.

use crate::surfaces::cli::ReadOptions;
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::instant::readable;
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::page::{Column, Page};
use ebb_core::api::server::{Health as Answer, TierHealth};
use ebb_core::service::Service;

/// Runs `ebb health`.
pub async fn health(when: &ReadOptions, service: &Service, output: &Output) -> Result<(), CliError> {
    let at = when.instant(service).await?;
    let answer = service.health(at).await?;
    output.emit("health", &answer, |page| lay_out(&answer, page))
}

fn lay_out(health: &Answer, page: &mut Page) {
    page.heading(&format!("Energies at {} UTC", readable(health.at)));
    if let Some(used) = health.fallback_tunables {
        page.paragraph(&format!("The tunables of the graph are invalid; these energies follow {used}."));
    }
    if health.tiers.is_empty() {
        page.line("No memories.");
    } else {
        let columns = [
            Column::left("TIER"),
            Column::right("MEMORIES"),
            Column::right("AVERAGE"),
            Column::right("LEAST"),
            Column::right("GREATEST"),
        ];
        let energy = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
        let row = |tier: &TierHealth| {
            [
                tier.tier.clone(),
                tier.count.to_string(),
                energy(tier.avg_energy),
                energy(tier.min_energy),
                energy(tier.max_energy),
            ]
        };
        page.table(&columns, health.tiers.iter().map(row));
    }
    page.line("");
    let hint = |count: i64, see: &str| match count {
        0 => "none".to_owned(),
        n => format!("{n}; see: {see}"),
    };
    page.fields(&[
        ("stuck attempts", hint(health.stuck_attempts, "ebb attempt list")),
        ("quarantined", hint(health.quarantined, "ebb inspect quarantine")),
        ("due for decay", health.due.to_string()),
        ("ready for promotion", health.ripe.to_string()),
        ("sessions to count", health.sessions.to_string()),
        ("due for clustering", health.clusters.to_string()),
        ("due for embedding", health.embed.to_string()),
        ("due for reinforcement", health.reinforce.to_string()),
        ("outcomes to learn", health.outcomes.to_string()),
    ]);
}
