//! The recall guard: saved questions that a process asks again whenever its mirrors changed, and what they lost.
//!
//! # Design notes
//! The baseline is a saved evaluation where one is given, so that a restart after a loss does not make the loss the new
//! baseline, and all processes compare with the same. Without one it is the first asking of this process.
//!
//! Questions are asked in a thread beside the permits of recalls, so that no request waits for them.

use super::comparison::{Comparison, SavedAnswer, State};
use super::ways::Way;
use super::{Question, Views, ask};
use crate::domain::ids::{MemoryKey, Scope};
use crate::service::Service;
use crate::service::recall::Error;
use crate::store;
use std::collections::BTreeMap;
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
    /// More than [`QUESTIONS_MAX`] questions; a baseline that has none of them.
    pub fn new(questions: Vec<Question>, baseline: Option<Vec<SavedAnswer>>) -> Result<Self, String> {
        if questions.len() > QUESTIONS_MAX {
            let count = questions.len();
            return Err(format!("there are {count} questions; at most {QUESTIONS_MAX} are asked"));
        }
        let is_asked = |answer: &SavedAnswer| {
            questions
                .iter()
                .any(|question| question.text == answer.question && question.scope == answer.scope)
        };
        if baseline.as_ref().is_some_and(|answers| !answers.iter().any(is_asked)) {
            return Err("the baseline has none of the questions".to_owned());
        }
        Ok(Self { questions: Arc::new(questions), baseline, asked: BTreeMap::new() })
    }

    /// Asks all questions and compares the answers with the baseline; `None` if no view changed since the last time.
    ///
    /// # Errors
    /// As a recall.
    pub async fn look(&mut self, service: &Service) -> Result<Option<Comparison>, Error> {
        let views = service.views(&self.questions).await?;
        let version = |(scope, view): (&Scope, &Arc<super::View>)| {
            (scope.clone(), (view.generation().0, view.ticks().at_start()))
        };
        let now: BTreeMap<Scope, (u64, u64)> = views.iter().map(version).collect();
        if now == self.asked {
            return Ok(None);
        }
        let answers = self.answers(&views, service).await?;
        self.asked = now;
        let baseline = self.baseline.get_or_insert_with(|| answers.clone());
        let Some(mut comparison) = Comparison::of(baseline, &answers, &views) else { return Ok(None) };
        service.find_lost(&mut comparison).await?;
        Ok(Some(comparison))
    }

    async fn answers(&self, views: &Views, service: &Service) -> Result<Vec<SavedAnswer>, Error> {
        let (questions, views, rules) = (Arc::clone(&self.questions), views.clone(), service.rules().clone());
        let depth = super::comparison::COMPARED_AT;
        let work = move || {
            let answers = ask(Way::Ebb, &questions, &views, &rules, depth)?;
            Ok(SavedAnswer::of(&questions, &answers))
        };
        let asked = tokio::task::spawn_blocking(work).await;
        let asked =
            asked.map_err(|why| Error::Fault(format!("the questions were not asked to the end: {why}")))?;
        asked.map_err(|why: ebb_engine::Error| Error::Invalid(why.to_string()))
    }
}

impl Service {
    /// Finds out why memories that a comparison lost are not in the graph in memory.
    pub async fn find_lost(&self, comparison: &mut Comparison) -> Result<(), store::Error> {
        for lost in &mut comparison.lost {
            let missing: Vec<_> =
                lost.memories.iter_mut().filter(|memory| memory.state == State::NotHeld).collect();
            let key = |id: &str| MemoryKey::of_row(lost.scope.as_str(), id);
            let keys: Vec<MemoryKey> = missing.iter().map(|memory| key(&memory.id)).collect();
            if keys.is_empty() {
                continue;
            }
            let rows = self.store.memories(&keys).await?;
            let is_live: BTreeMap<&str, bool> = rows
                .iter()
                .map(|row| (row.id.as_str(), row.life.as_ref().is_ok_and(|life| life.state.tier.is_live())))
                .collect();
            for memory in missing {
                memory.state = match is_live.get(memory.id.as_str()) {
                    Some(true) => State::NotHeld,
                    Some(false) => State::Expired,
                    None => State::Missing,
                };
            }
        }
        Ok(())
    }
}
