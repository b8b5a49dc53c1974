//! `ebb status`: jobs, tiers, backlog, leases, mirrors and the recall guard.

use super::Status;
use crate::surfaces::cli::attempt::lease;
use crate::surfaces::cli::exit::{CliError, Exit, conclude};
use crate::surfaces::cli::instant::{about, readable};
use crate::surfaces::cli::job;
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::page::{Column, Page, percent};
use ebb_core::api::server::{
    GuardedRecall, MirrorStatus, OpenAttempt, OpenRun, Server, Status as Answer, TierCount, Waiting,
};
use ebb_core::service::Service;
use std::time::Duration;

/// Runs `ebb status`.
///
/// # Errors
/// Of the service; and if no job can run, after the report.
pub async fn status(args: &Status, service: &Service, output: &Output) -> Result<(), CliError> {
    loop {
        service.try_write().await;
        let at = args.when.instant(service).await?;
        let answer = service.status(at).await?;
        let Some(pause) = args.watch else {
            let printed = output.emit("status", &answer, |page| lay_out(&answer, page));
            let verdict = match answer.stopped {
                Some(_) => Err(CliError::new(Exit::Findings, "no job can run").try_this("ebb doctor")),
                None => Ok(()),
            };
            return conclude(printed, verdict);
        };
        output.emit_again("status", &answer, |page| lay_out(&answer, page))?;
        tokio::time::sleep(pause).await;
    }
}

fn lay_out(status: &Answer, page: &mut Page) {
    let Server { uri, name, version, edition } = &status.server;
    let time = match (status.scratch, status.simulated_now) {
        (true, Some(at)) => format!("scratch database, simulated time: {} UTC", readable(at)),
        (true, None) => "scratch database, simulated time: not started".to_owned(),
        (false, _) => format!("{} UTC", readable(status.at)),
    };
    let mut fields = vec![("server", format!("{name} {version} {edition} at {uri}")), ("time", time)];
    fields.extend(status.unscheduled.clone().map(|why| ("schedules", why)));
    page.fields(&fields);
    page.line("");
    if let Some(stopped) = &status.stopped {
        job::explain_stop(page, stopped, status.fallback_tunables);
    }
    if !status.jobs.is_empty() {
        job::table(page, &status.jobs, status.at);
        page.line("");
    }
    if status.tiers.is_empty() {
        page.line("No memories.");
    } else {
        let columns = [Column::left("TIER"), Column::right("MEMORIES"), Column::right("QUARANTINED")];
        let row =
            |tier: &TierCount| [tier.tier.clone(), tier.memories.to_string(), tier.quarantined.to_string()];
        page.table(&columns, status.tiers.iter().map(row));
    }
    page.line("");
    let Waiting { for_jobs: waiting, unstamped } = &status.waiting;
    let mut waits = vec![
        ("due for decay", waiting.due.to_string()),
        ("ready for promotion", waiting.ripe.to_string()),
        ("sessions to count", waiting.sessions.to_string()),
        ("due for clustering", waiting.clusters.to_string()),
        ("due for embedding", waiting.embed.to_string()),
        ("due for reinforcement", waiting.reinforce.to_string()),
        ("outcomes to learn", waiting.outcomes.to_string()),
    ];
    if *unstamped > 0 {
        waits.push((
            "not adopted yet",
            format!("{unstamped} of other writers; the next run adopts those of the documented shape"),
        ));
    }
    let foreign = status.foreign.memories + status.foreign.facts;
    if foreign > 0 {
        waits.push(("of other libraries", format!("{foreign}; never changed")));
    }
    if waiting.quarantined > 0 {
        waits.push(("quarantined", format!("{}; see: ebb inspect quarantine", waiting.quarantined)));
    }
    page.fields(&waits);
    lay_out_leases(status, page);
    if !status.mirrors.is_empty() {
        page.line("");
        mirrors(&status.mirrors, page);
    }
    if let Some(found) = &status.recall_guard {
        page.line("");
        recall_guard(found, page);
    }
}

/// Lays out the last result of the recall guard.
fn recall_guard(found: &GuardedRecall, page: &mut Page) {
    let columns = [
        Column::left("RECALL GUARD"),
        Column::cut("PROCESS"),
        Column::right("QUESTIONS"),
        Column::right("LOSING"),
        Column::right("R@10 BEFORE"),
        Column::right("NOW"),
        Column::left("STATE"),
    ];
    let state = if found.is_loss() { "lost more than recall_guard.max_loss" } else { "ok" };
    let row = [
        format!("{} ago", about(Duration::from_millis(found.age_ms.max(0).unsigned_abs()))),
        found.process.clone(),
        found.questions.to_string(),
        found.lost_questions.to_string(),
        percent(found.baseline),
        percent(found.recall),
        state.to_owned(),
    ];
    page.table(&columns, [row]);
}

/// Lays out open runs and attempts.
fn lay_out_leases(status: &Answer, page: &mut Page) {
    let none = || "-".to_owned();
    if !status.runs.is_empty() {
        page.line("");
        let columns = [
            Column::left("RUNNING"),
            Column::left("OCCURRENCE"),
            Column::left("HOLDER"),
            Column::right("BATCHES"),
            Column::right("FENCE"),
            Column::left("LEASE"),
        ];
        let row = |run: &OpenRun| {
            [
                run.job.clone(),
                run.occurrence.clone(),
                run.holder.clone().unwrap_or_else(none),
                run.batch.to_string(),
                run.fence.to_string(),
                lease(run.lease_left_ms),
            ]
        };
        page.table(&columns, status.runs.iter().map(row));
    }
    if !status.attempts.is_empty() {
        page.line("");
        let columns = [
            Column::left("ATTEMPT"),
            Column::left("PHASE"),
            Column::left("HOLDER"),
            Column::right("HOLDS"),
            Column::left("LEASE"),
        ];
        let row = |attempt: &OpenAttempt| {
            [
                attempt.id.clone(),
                attempt.phase.clone().unwrap_or_else(|| "-".to_owned()),
                attempt.holder.clone().unwrap_or_else(none),
                attempt.holds.to_string(),
                lease(attempt.lease_left_ms),
            ]
        };
        page.table(&columns, status.attempts.iter().map(row));
    }
}

/// Lays out the mirrors of all processes.
pub(in crate::surfaces::cli) fn mirrors(mirrors: &[MirrorStatus], page: &mut Page) {
    let columns = [
        Column::left("MIRROR OF"),
        Column::cut("PROCESS"),
        Column::left("REFRESHED"),
        Column::right("GENERATION"),
        Column::right("NODES"),
        Column::right("RELATIONSHIPS"),
        Column::right("LEARNED"),
        Column::right("BYTES"),
        Column::left("HOLDS"),
    ];
    let row = |kept: &MirrorStatus| {
        let age = about(Duration::from_millis(kept.age_ms.max(0).unsigned_abs()));
        [
            kept.scope.clone(),
            kept.process.clone(),
            if kept.stale { format!("{age} ago: stale") } else { format!("{age} ago") },
            kept.generation.to_string(),
            kept.nodes.to_string(),
            kept.slots.to_string(),
            kept.learned.to_string(),
            kept.bytes.to_string(),
            if kept.whole {
                "everything".to_owned()
            } else {
                format!("hottest {}", percent(kept.held_share))
            },
        ]
    };
    page.table(&columns, mirrors.iter().map(row));
}
