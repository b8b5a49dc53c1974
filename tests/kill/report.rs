//! Times out of a history: how long what a dead worker held lay idle.

use super::history::{Known, Line, What};
use std::collections::BTreeMap;

/// Milliseconds from the moment at which a worker was hurt to the take of the run that it held, one for each run that it
/// held, in order of size. A take whose commit was lost counts if a later one shows by its fence that it landed: its holder
/// may be the next that is hurt.
pub(crate) fn retakes(history: &[Line]) -> Vec<i64> {
    let mut held: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    let mut waiting: BTreeMap<(&str, &str), i64> = BTreeMap::new();
    let mut found = Vec::new();
    let landed = |line: &Line, run: (&str, &str), fence: i64| {
        line.known == Known::Ok
            || history.iter().any(|later| {
                matches!(&later.what, What::Take { job, occurrence, fence: next, .. }
                    if later.known == Known::Ok && run == (job, occurrence) && *next > fence)
            })
    };
    for line in history {
        match &line.what {
            What::Take { job, occurrence, fence, .. }
                if matches!(line.known, Known::Ok | Known::Info)
                    && landed(line, (job.as_str(), occurrence.as_str()), *fence) =>
            {
                let run = (job.as_str(), occurrence.as_str());
                if let Some(since) = waiting.remove(&run) {
                    found.push(line.at - since);
                }
                held.insert(run, &line.process);
            }
            What::Close { job, occurrence, .. } if line.known == Known::Ok => {
                held.remove(&(job.as_str(), occurrence.as_str()));
            }
            What::Hurt { victim, .. } => {
                for (run, _) in held.iter().filter(|(_, holder)| *holder == victim) {
                    waiting.insert(*run, line.at);
                }
            }
            _ => {}
        }
    }
    found.sort_unstable();
    found
}

/// A distribution in words: how many, the least, half, 99 of 100, the greatest.
pub(crate) fn distribution(sorted: &[i64]) -> String {
    let at = |share: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a few hundred"
        )]
        let index = ((sorted.len() as f64 * share).ceil() as usize).clamp(1, sorted.len()) - 1;
        sorted[index]
    };
    if sorted.is_empty() {
        return "none".to_owned();
    }
    format!(
        "{} (ms: least {}, p50 {}, p90 {}, p99 {}, most {})",
        sorted.len(),
        sorted[0],
        at(0.5),
        at(0.9),
        at(0.99),
        sorted[sorted.len() - 1]
    )
}
