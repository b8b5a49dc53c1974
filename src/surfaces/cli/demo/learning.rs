//! The part of the demo about learning: a recall, outcomes for one hit, and the same recall again.
//!
//! The useful hit is the last one with a path to a seed, so that there is a path to strengthen and room to move up. It is reported as
//! often as it takes for the learned weight to stay.

use super::QUESTION;
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::page::{Column, Page};
use ebb_core::api::job::JobRunRequest;
use ebb_core::api::recall::{Hit, Recall, RecallRequest};
use ebb_core::domain::ids::RecallId;
use ebb_core::domain::outcome::{Outcome, Used};
use ebb_core::domain::units::Timestamp;
use ebb_core::service::memories::{RequestId, WriteMode};
use ebb_core::service::{JobName, Service};
use serde::Serialize;

/// Hits of the question.
const TOP: usize = 5;
/// Outcomes in a row after which a part of the learned weight is permanent.
const TIMES: u32 = 5;

/// The same recall before and after the outcomes.
#[derive(Debug, Serialize)]
pub(super) struct Learning {
    before: Recall,
    after: Recall,
    useful: String,
    said: u32,
    ways: i64,
}

/// Reports outcomes for a hit of the recall, runs the job learn and recalls again.
///
/// # Errors
/// Of the service; and if there are no hits or the useful hit does not gain weight, which would be defects of Ebb.
pub(super) async fn teach(service: &Service, before: Recall, at: Timestamp) -> Result<Learning, CliError> {
    let Some(hit) = before.hits.iter().rfind(|hit| hit.path.len() > 1) else {
        return Err(CliError::failed(
            "the recall at the end of the demo has no hits, which is a defect of Ebb",
        ));
    };
    let (useful, weighed) = (hit.id.clone(), hit.dimensions.structural);
    let used = vec![Used { id: hit.id.clone(), path: hit.path.clone() }];
    let name = RecallId::new(&before.recall_id).map_err(CliError::failed)?;
    let outcome = Outcome::new(name, used, 1.0).map_err(CliError::failed)?;
    for _ in 0..TIMES {
        service
            .report(&WriteMode::Once(RequestId::or_new("cli", None)), service.scope(), (&outcome, false), at)
            .await?;
    }
    let run = service.run_job(JobName::Learn, at, &JobRunRequest::default()).await?;
    service.refresh_mirror(service.scope()).await?;
    let after = ask(service).await?;
    if place(&after, &useful).is_none_or(|(_, hit)| hit.dimensions.structural <= weighed) {
        return Err(CliError::failed(
            "the useful hit does not gain weight at the end of the demo, which is a defect of Ebb",
        ));
    }
    Ok(Learning { before, after, useful, said: TIMES, ways: run.tally.changed })
}

/// The recall.
pub(super) async fn ask(service: &Service) -> Result<Recall, CliError> {
    let asked =
        RecallRequest { text: QUESTION.to_owned(), top_k: TOP, why: true, ..RecallRequest::default() };
    Ok(service.recall(service.scope(), asked).await?)
}

/// A hit with its rank, from 1.
fn place<'a>(answer: &'a Recall, id: &str) -> Option<(usize, &'a Hit)> {
    (1..).zip(&answer.hits).find(|(_, hit)| hit.id == id)
}

pub(super) fn lay_out(page: &mut Page, report: &Learning) {
    page.line("");
    page.heading(&format!("\u{201c}{QUESTION}\u{201d}: a recall before and after learning"));
    page.paragraph(&format!(
        "{} outcomes reported {} as useful (ebb outcome); the job learn raised {} weights, and the question ranks anew.",
        report.said, report.useful, report.ways
    ));
    let row = |of: &(usize, &Hit)| {
        let (at, hit) = of;
        let was = place(&report.before, &hit.id);
        let before = was.map_or_else(|| ["-".to_owned(), "-".to_owned()], |(at, hit)| shown(at, hit));
        let [now, joined] = shown(*at, hit);
        let [was, was_joined] = before;
        [was, now, was_joined, joined, hit.id.clone()]
    };
    let hits: Vec<(usize, &Hit)> = (1..).zip(&report.after.hits).collect();
    page.table(
        &[
            Column::right("rank"),
            Column::right("now"),
            Column::right("activation"),
            Column::right("now"),
            Column::left("hit"),
        ],
        hits.iter().map(row),
    );
}

fn shown(place: usize, hit: &Hit) -> [String; 2] {
    [place.to_string(), format!("{:.4}", hit.dimensions.structural)]
}
