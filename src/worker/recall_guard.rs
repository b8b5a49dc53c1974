//! Asks the questions of the recall guard after changes of the mirrors, and warns when they lost memories.
//!
//! A loss is one warning, then a line for each of the first questions with the memories that it does not find any more and where
//! they are. While it lasts, only questions that begin to lose are logged. It ends when the loss is 0 or less
//! than half of the greatest that is allowed, so that a loss about that limit is not logged again and again.

use super::Roles;
use crate::settings::sections;
use ebb_core::domain::ids::Scope;
use ebb_core::scheduler::meter::Meter;
use ebb_core::service::Service;
use ebb_core::service::evaluation::comparison::{COMPARED_AT, Comparison, Lost, LostMemory, saved};
use ebb_core::service::evaluation::guard::RecallGuard;
use ebb_core::service::evaluation::questions;
use ebb_core::service::recall::Error;
use ebb_core::store::GuardedRecall;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// Questions of one loss that are logged.
const LOGGED: usize = 20;

/// The guard of a process.
pub(super) struct Guarding {
    guard: RecallGuard,
    losses: Losses,
    every: Duration,
    /// The last error, which is logged once.
    failed: Option<String>,
}

impl Guarding {
    /// The guard of the settings, if they have questions and a process with these roles has mirrors.
    ///
    /// # Errors
    /// Files that cannot be used, questions in scopes that this process does not mirror, and too small an `engine.top_k_max`.
    pub(super) fn of(
        settings: &sections::RecallGuard,
        service: &Service,
        roles: Roles,
    ) -> Result<Option<Self>, String> {
        let file = settings.questions.as_deref().filter(|_| roles.answer_requests());
        let Some(file) = file else { return Ok(None) };
        let most = service.rules().top_k_max();
        if most < COMPARED_AT {
            return Err(format!("the first {COMPARED_AT} hits are compared, and engine.top_k_max is {most}"));
        }
        let similarity = service.store().similarity();
        let questions = questions(file, service.scope(), similarity).map_err(|why| why.to_string())?;
        let mirrored: BTreeSet<Scope> = service.mirrors().into_iter().map(|mirror| mirror.scope).collect();
        if let Some(other) = questions.iter().find(|question| !mirrored.contains(&question.scope)) {
            return Err(format!("the scope {} of a question is not in mirror.scopes", other.scope));
        }
        let unusable = |file: &Path, why: &dyn std::fmt::Display| format!("{}: {why}", file.display());
        let baseline = settings.baseline.as_deref();
        let baseline = baseline.map(|file| saved(file).map_err(|why| unusable(file, &why))).transpose()?;
        let guard = RecallGuard::new(questions, baseline).map_err(|why| unusable(file, &why))?;
        let uncovered = guard.uncovered();
        if uncovered > 0 {
            warn!(
                uncovered,
                "questions of the recall guard are not compared: the baseline has no answer to them with the same gold ids"
            );
        }
        let losses = Losses { max_loss: settings.max_loss, losing: BTreeSet::new() };
        Ok(Some(Self { guard, losses, every: settings.every, failed: None }))
    }

    /// Asks until the stop.
    pub(super) async fn run(mut self, service: &Service, meter: &Meter, stop: &CancellationToken) {
        let mut wait = Duration::ZERO;
        while stop.run_until_cancelled(tokio::time::sleep(wait)).await.is_some() {
            let looked = stop.run_until_cancelled(Box::pin(self.guard.look(service))).await;
            wait = match looked {
                None => return,
                Some(Ok(found)) => {
                    self.failed = None;
                    if let Some(found) = found {
                        stop.run_until_cancelled(Box::pin(self.report(found, service, meter))).await;
                    }
                    self.every
                }
                Some(Err(why)) => self.fail(&why, service, meter),
            };
        }
    }

    /// Counts a failure, logs one that is new, and returns when to ask again: the database and mirrors may be back sooner.
    fn fail(&mut self, why: &Error, service: &Service, meter: &Meter) -> Duration {
        meter.counts().recall_guard_failures += 1;
        let text = why.to_string();
        if self.failed.as_ref() != Some(&text) {
            warn!(why = text, "the questions of the recall guard could not be asked, and are asked again");
            self.failed = Some(text);
        }
        match why {
            Error::Store(_) | Error::Busy(_) => service.refresh_every(),
            _ => self.every,
        }
    }

    /// Counts a result, records it for `status`, and logs what is new.
    async fn report(&mut self, found: Comparison, service: &Service, meter: &Meter) {
        let Comparison { before: baseline, now: recall, questions, lost, .. } = &found;
        let lost_questions = lost.len();
        let whole = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let guarded = GuardedRecall {
            process: service.store().holder().to_owned(),
            age_ms: 0,
            questions: whole(*questions),
            recall: *recall,
            baseline: *baseline,
            max_loss: self.losses.max_loss,
            lost_questions: whole(lost_questions),
        };
        meter.counts().recall_guard = Some(guarded.clone());
        if let Err(why) = service.store().record_guarded_recall(&guarded).await {
            warn!(%why, "the result of the recall guard could not be recorded: status shows an earlier one");
        }
        match self.losses.judge(&found) {
            Verdict::Same => {}
            Verdict::Recovered => info!(recall, baseline, "recall is near its baseline again"),
            Verdict::Worse(mut lost) => {
                warn!(recall, baseline, questions, lost = lost_questions, "recall is worse than before");
                lost.truncate(LOGGED);
                if let Err(why) = service.find_lost(&mut lost).await {
                    warn!(%why, "the state of lost memories could not be read");
                }
                lost.iter().for_each(log);
            }
        }
    }
}

fn log(Lost { question, scope, memories }: &Lost) {
    let memory = |lost: &LostMemory| format!("{} ({})", lost.id, lost.state.text());
    let memories: Vec<String> = memories.iter().map(memory).collect();
    warn!(%scope, question, memories = memories.join(", "), "a question does not find memories any more");
}

/// Questions that lose memories, from a warning until recall is near its baseline again.
struct Losses {
    max_loss: f64,
    losing: BTreeSet<(Scope, String)>,
}

/// News of a result.
#[derive(Debug, PartialEq)]
enum Verdict {
    /// None.
    Same,
    /// A loss has ended.
    Recovered,
    /// These questions began to lose memories.
    Worse(Vec<Lost>),
}

impl Losses {
    fn judge(&mut self, found: &Comparison) -> Verdict {
        if found.loss <= self.max_loss {
            let is_over = !self.losing.is_empty() && (found.loss <= 0.0 || found.loss < self.max_loss / 2.0);
            if is_over {
                self.losing.clear();
            }
            return if is_over { Verdict::Recovered } else { Verdict::Same };
        }
        let question = |lost: &Lost| (lost.scope.clone(), lost.question.clone());
        let is_new = |lost: &&Lost| !self.losing.contains(&question(lost));
        let new: Vec<Lost> = found.lost.iter().filter(is_new).cloned().collect();
        self.losing = found.lost.iter().map(question).collect();
        if new.is_empty() { Verdict::Same } else { Verdict::Worse(new) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(loss: f64, lost: &[&str]) -> Comparison {
        let one = |question: &&str| Lost {
            question: (*question).to_owned(),
            scope: Scope::local(),
            memories: Vec::new(),
        };
        let lost = lost.iter().map(one).collect();
        Comparison { questions: 9, left_out: 0, before: 1.0, now: 1.0 - loss, loss, lost }
    }

    #[test]
    fn a_question_is_logged_when_it_begins_to_lose() {
        let mut losses = Losses { max_loss: 0.1, losing: BTreeSet::new() };
        for (loss, lost, logged) in [
            (0.0, &[][..], Some(&[][..])),
            (0.1, &["a"], Some(&[])),
            (0.2, &["a"], Some(&["a"])),
            (0.3, &["a", "b"], Some(&["b"])),
            (0.2, &["b"], Some(&[])),
            (0.1, &["b"], Some(&[])),
            (0.2, &["b"], Some(&[])),
            (0.04, &["b"], None),
            (0.0, &[], Some(&[])),
            (0.2, &["b"], Some(&["b"])),
            (0.0, &[], None),
        ] {
            let expected = match logged {
                None => Verdict::Recovered,
                Some([]) => Verdict::Same,
                Some(new) => Verdict::Worse(comparison(loss, new).lost),
            };
            assert_eq!(losses.judge(&comparison(loss, lost)), expected, "{loss} {lost:?}");
        }
    }
}
