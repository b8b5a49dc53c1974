//! `ebb health`: the documented health check, for energies as they are now.

use super::Health;
use crate::service::Service;
use crate::service::admin::Health as Found;
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::instant::{Rfc3339, readable};
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::page::{Column, Page};
use serde::Serialize;

#[derive(Serialize)]
struct Answer {
    at: Rfc3339,
    tiers: Vec<Tier>,
    stuck_attempts: i64,
    quarantined: i64,
    due: i64,
    ripe: i64,
    sessions: i64,
    clusters: i64,
    reinforce: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tier {
    tier: String,
    count: i64,
    avg_energy: Option<f64>,
    min_energy: Option<f64>,
    max_energy: Option<f64>,
}

/// Runs `ebb health`.
///
/// # Errors
/// How the program ends, unless well.
pub async fn health(args: &Health, service: &Service, output: &Output) -> Result<(), CliError> {
    let at = args.when.instant(service).await?;
    let Found { tiers, stuck_attempts, waiting } = service.health(at).await?;
    let mut tiers: Vec<Tier> = tiers
        .into_iter()
        .map(|row| Tier {
            tier: row.tier,
            count: row.count,
            avg_energy: row.avg_energy,
            min_energy: row.min_energy,
            max_energy: row.max_energy,
        })
        .collect();
    tiers.sort_by_key(|row| crate::domain::tier::Tier::named(&row.tier));
    let answer = Answer {
        at: Rfc3339(at),
        tiers,
        stuck_attempts,
        quarantined: waiting.quarantined,
        due: waiting.due,
        ripe: waiting.ripe,
        sessions: waiting.sessions,
        clusters: waiting.clusters,
        reinforce: waiting.reinforce,
    };
    output.emit("health", &answer, |page| answer.lay_out(page))
}

impl Answer {
    fn lay_out(&self, page: &mut Page) {
        page.heading(&format!("Energies at {} UTC", readable(self.at.0)));
        if self.tiers.is_empty() {
            page.line("No memories.");
        } else {
            let columns = [
                Column::left("TIER"),
                Column::right("MEMORIES"),
                Column::right("AVERAGE"),
                Column::right("LEAST"),
                Column::right("GREATEST"),
            ];
            let energy =
                |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
            let row = |tier: &Tier| {
                [
                    tier.tier.clone(),
                    tier.count.to_string(),
                    energy(tier.avg_energy),
                    energy(tier.min_energy),
                    energy(tier.max_energy),
                ]
            };
            page.table(&columns, self.tiers.iter().map(row));
        }
        page.line("");
        let hint = |count: i64, see: &str| match count {
            0 => "none".to_owned(),
            n => format!("{n}; see: {see}"),
        };
        page.fields(&[
            ("stuck attempts", hint(self.stuck_attempts, "ebb attempt list")),
            ("set aside", hint(self.quarantined, "ebb inspect quarantine")),
            ("due for decay", self.due.to_string()),
            ("ripe for promotion", self.ripe.to_string()),
            ("sessions to be counted", self.sessions.to_string()),
            ("to be looked at by clusters", self.clusters.to_string()),
            ("new, to strengthen what is like them", self.reinforce.to_string()),
        ]);
    }
}
