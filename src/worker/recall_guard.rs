//! Asks the questions of the recall guard after changes of the mirrors, and warns when they lost memories.
//!
//! A loss is logged once, and again when other questions lose: the warning, then a line for each of the first questions with
//! the memories that it does not find any more and where they are.

use super::Roles;
use crate::settings::sections;
use ebb_core::domain::ids::Scope;
use ebb_core::scheduler::meter::{GuardedRecall, Meter};
use ebb_core::service::Service;
use ebb_core::service::evaluation::comparison::{Comparison, Lost, LostMemory, saved};
use ebb_core::service::evaluation::guard::RecallGuard;
use ebb_core::service::evaluation::questions;
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
    max_loss: f64,
    every: Duration,
    /// Questions that had lost memories at the last warning; empty if there is no loss.
    warned: BTreeSet<(Scope, String)>,
    /// The last error, which is logged once.
    failed: Option<String>,
}

impl Guarding {
    /// The guard of the settings, if they have questions and a process with these roles has mirrors.
    ///
    /// # Errors
    /// Files that cannot be used, and questions in scopes that this process does not mirror.
    pub(super) fn of(
        settings: &sections::RecallGuard,
        service: &Service,
        roles: Roles,
    ) -> Result<Option<Self>, String> {
        let file = settings.questions.as_deref().filter(|_| roles.http || roles.mcp);
        let Some(file) = file else { return Ok(None) };
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
        let (max_loss, every) = (settings.max_loss, settings.every);
        Ok(Some(Self { guard, max_loss, every, warned: BTreeSet::new(), failed: None }))
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
                        self.judge(&found, meter);
                    }
                    self.every
                }
                Some(Err(why)) => {
                    let why = why.to_string();
                    if self.failed.as_ref() != Some(&why) {
                        warn!(
                            why,
                            "the questions of the recall guard could not be asked, and are asked again"
                        );
                        self.failed = Some(why);
                    }
                    service.refresh_every()
                }
            };
        }
    }

    /// Counts a result, and logs a loss that is new.
    fn judge(&mut self, found: &Comparison, meter: &Meter) {
        let Comparison { before, now, loss, lost, questions, .. } = found;
        meter.counts().recall_guard =
            Some(GuardedRecall { recall: *now, baseline: *before, lost_questions: lost.len() });
        if *loss <= self.max_loss {
            if !self.warned.is_empty() {
                info!(recall = now, baseline = before, "recall is as good as before again");
            }
            self.warned.clear();
            return;
        }
        let losing: BTreeSet<(Scope, String)> =
            lost.iter().map(|one| (one.scope.clone(), one.question.clone())).collect();
        if losing.is_subset(&self.warned) {
            return;
        }
        warn!(recall = now, baseline = before, questions, lost = lost.len(), "recall is worse than before");
        for Lost { question, scope, memories } in lost.iter().take(LOGGED) {
            let memory = |lost: &LostMemory| format!("{} ({})", lost.id, lost.state.text());
            let memories: Vec<String> = memories.iter().map(memory).collect();
            warn!(%scope, question, memories = memories.join(", "), "a question does not find memories any more");
        }
        self.warned = losing;
    }
}
