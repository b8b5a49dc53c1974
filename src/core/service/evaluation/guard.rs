//! The recall guard: saved questions that a process asks again whenever its mirrors changed, and what they lost.
//!
//! # Design notes
//! The baseline is a saved evaluation where one is given, so that a restart after a loss does not make the loss the new
//! baseline, and all processes compare with the same. Without one it is the first asking of this process, of whole mirrors that
//! were refreshed before: one from a saved state is as old as that, and a partial one may hold other memories each time.
//!
//! Questions are asked in a thread beside the permits of recalls, so that no request waits for them.

use super::comparison::{COMPARED_AT, Comparison, Lost, SavedAnswer, State, uncovered};
use super::ways::Way;
use super::{Question, Views, ask};
use crate::domain::ids::{MemoryKey, Scope};
use crate::service::Service;
use crate::service::recall::Error;
use crate::store;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Most questions: all are asked after each change of a mirror.
pub const QUESTIONS_MAX: usize = 1_000;

/// Questions with the answers that they had.
#[derive(Debug)]
pub struct RecallGuard {
    questions: Arc<Vec<Question>>,
    baseline: Option<Vec<SavedAnswer>>,
    /// Generation and number of learned outcomes of each view that was asked last.
    asked: BTreeMap<Scope, (u64, u64)>,
}

impl RecallGuard {
    /// A guard of these questions.
    ///
    /// # Errors
    /// More than [`QUESTIONS_MAX`] questions; a baseline that has none of them with the same gold ids.
    pub fn new(questions: Vec<Question>, baseline: Option<Vec<SavedAnswer>>) -> Result<Self, String> {
        if questions.len() > QUESTIONS_MAX {
            let count = questions.len();
            return Err(format!("there are {count} questions; at most {QUESTIONS_MAX} are asked"));
        }
        let guard = Self { questions: Arc::new(questions), baseline, asked: BTreeMap::new() };
        match guard.uncovered() == guard.questions.len() {
            true => Err("the baseline has none of the questions with the same gold ids".to_owned()),
            false => Ok(guard),
        }
    }

    /// Number of questions that a given baseline does not cover, so that their losses are not noticed.
    #[must_use]
    pub fn uncovered(&self) -> usize {
        self.baseline.as_ref().map_or(0, |baseline| uncovered(&self.questions, baseline))
    }

    /// Asks all questions and compares the answers with the baseline; `None` if no view changed since the last time.
    ///
    /// # Errors
    /// As a recall.
    pub async fn look(&mut self, service: &Service) -> Result<Option<Comparison>, Error> {
        if self.baseline.is_none() {
            self.prepare_baseline(service).await?;
        }
        let views = service.views(&self.questions).await?;
        let version = |(scope, view): (&Scope, &Arc<super::View>)| {
            (scope.clone(), (view.generation().0, view.ticks().at_start()))
        };
        let now: BTreeMap<Scope, (u64, u64)> = views.iter().map(version).collect();
        if now == self.asked {
            return Ok(None);
        }
        let answers = self.answers(&views, service).await?;
        let baseline = self.baseline.get_or_insert_with(|| answers.clone());
        let comparison = Comparison::of(baseline, &answers, &views);
        self.asked = now;
        Ok(comparison)
    }

    /// Brings the mirrors up to date, and refuses partial ones.
    async fn prepare_baseline(&self, service: &Service) -> Result<(), Error> {
        let scopes: BTreeSet<&Scope> = self.questions.iter().map(|question| &question.scope).collect();
        for scope in scopes {
            let mirror = service.refresh_mirror(scope).await?;
            if mirror.whole != Some(true) {
                return Err(Error::Fault(format!(
                    "the graph in memory holds a part of the scope {scope} only, which is no baseline: raise \
                     mirror.max_bytes, or set recall_guard.baseline"
                )));
            }
        }
        Ok(())
    }

    async fn answers(&self, views: &Views, service: &Service) -> Result<Vec<SavedAnswer>, Error> {
        let (questions, views, rules) = (Arc::clone(&self.questions), views.clone(), service.rules().clone());
        let work = move || {
            let answers = ask(Way::Ebb, &questions, &views, &rules, COMPARED_AT)?;
            Ok(SavedAnswer::of(&questions, &answers))
        };
        let asked = tokio::task::spawn_blocking(work).await;
        let asked =
            asked.map_err(|why| Error::Fault(format!("the questions were not asked to the end: {why}")))?;
        asked.map_err(|why: ebb_engine::Error| Error::Invalid(why.to_string()))
    }
}

impl Service {
    /// Finds out why memories of these questions are not in the graph in memory. If the store fails, they are left as they are.
    ///
    /// # Errors
    /// Of the store.
    pub async fn find_lost(&self, lost: &mut [Lost]) -> Result<(), store::Error> {
        let missing = lost.iter_mut().flat_map(|Lost { scope, memories, .. }| {
            let missing = memories.iter_mut().filter(|memory| memory.state == State::NotHeld);
            missing.map(|memory| (MemoryKey::of_row(scope.as_str(), &memory.id), memory))
        });
        let (keys, missing): (Vec<MemoryKey>, Vec<_>) = missing.unzip();
        if keys.is_empty() {
            return Ok(());
        }
        let rows = self.store.memories(&keys).await?;
        // A row without a scope is in this one.
        let local = Scope::local();
        let is_live: BTreeMap<(&str, &str), bool> = rows
            .iter()
            .map(|row| {
                let is_live = row.life.as_ref().is_ok_and(|life| life.state.tier.is_live());
                ((row.scope.as_deref().unwrap_or(local.as_str()), row.id.as_str()), is_live)
            })
            .collect();
        for (key, memory) in keys.iter().zip(missing) {
            memory.state = match is_live.get(&(key.scope(), key.id())) {
                Some(true) => State::NotHeld,
                Some(false) => State::Expired,
                None => State::Missing,
            };
        }
        Ok(())
    }
}
