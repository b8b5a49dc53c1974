//! Memories that say the same: found by their words, and merged on request.

use super::memories::WriteMode;
use super::request_hash::request_hash;
use super::{Error, Service, recall};
use crate::api::duplicates::{Duplicate, Duplicates, DuplicatesQuery, Group};
use crate::api::memory::Memory;
use crate::domain::ids::{MemoryId, MemoryKey, Scope};
use crate::domain::tier::Tier;
use crate::domain::units::Timestamp;
use crate::store::{Filter, MERGED_MAX, MemoryOrder};
use ebb_engine::text::duplicates::{TextShape, near_duplicates};
use serde_json::json;
use std::cmp::Reverse;

/// Most memories that are compared.
const COMPARED_MAX: usize = 50_000;
const PAGE: usize = 500;
const MIN_SIMILARITY: f64 = 0.8;
const GROUPS: u32 = 100;
const GROUPS_MAX: u32 = 1_000;

/// A memory to compare, without its text.
struct Compared {
    id: String,
    energy: f64,
    created: Option<Timestamp>,
    shape: TextShape,
}

impl Service {
    /// Groups of live memories of a scope that say nearly the same at an instant, read from the database.
    ///
    /// # Errors
    /// [`recall::Error::Invalid`] for a value outside its range; errors of the store.
    pub async fn duplicates(
        &self,
        scope: &Scope,
        query: &DuplicatesQuery,
        at: Timestamp,
    ) -> Result<Duplicates, recall::Error> {
        let min = query.min_similarity.unwrap_or(MIN_SIMILARITY);
        if !(min > 0.0 && min <= 1.0) {
            return Err(recall::Error::Invalid(format!(
                "min_similarity is {min}; it must be above 0 and at most 1"
            )));
        }
        let limit = query.limit.unwrap_or(GROUPS);
        if !(1..=GROUPS_MAX).contains(&limit) {
            return Err(recall::Error::Invalid(format!("limit is {limit}; it must be 1 to {GROUPS_MAX}")));
        }
        let (mut all, complete) = self.shapes(scope, at).await?;
        let compared = all.len();
        let (all, groups) = self
            .compute
            .run(move |_| {
                all.sort_by(|a, b| {
                    b.energy.total_cmp(&a.energy).then(a.created.cmp(&b.created)).then(a.id.cmp(&b.id))
                });
                let (ids, shapes): (Vec<String>, Vec<TextShape>) =
                    all.into_iter().map(|one| (one.id, one.shape)).unzip();
                let mut groups = near_duplicates(&shapes, min);
                groups.sort_by_key(|group| Reverse(group.others.len()));
                (ids, groups)
            })
            .await?;
        let found = groups.len();
        let mut answer = Duplicates { groups: Vec::new(), found, compared, complete };
        for group in groups.into_iter().take(usize::try_from(limit).unwrap_or(usize::MAX)) {
            let keep = all[group.kept].clone();
            let duplicate = |(at, similarity): &(usize, f64)| Duplicate {
                id: all[*at].clone(),
                content: String::new(),
                similarity: *similarity,
            };
            let duplicates = group.others.iter().map(duplicate).collect();
            answer.groups.push(Group { keep, content: String::new(), duplicates });
        }
        self.fill(scope, &mut answer).await?;
        Ok(answer)
    }

    /// The words of the live memories of a scope, and whether these are all.
    async fn shapes(&self, scope: &Scope, at: Timestamp) -> Result<(Vec<Compared>, bool), Error> {
        let (filter, mut all, mut after) = (Filter::default(), Vec::new(), String::new());
        loop {
            let page = self.list(scope, (&filter, MemoryOrder::Id), (&after, PAGE), at).await?;
            for memory in page.0 {
                let Some(content) =
                    memory.content.as_deref().filter(|_| memory.tier.is_some_and(Tier::is_live))
                else {
                    continue;
                };
                let shape = TextShape::of(content);
                let (energy, created) = (memory.energy.unwrap_or(0.0), memory.created);
                all.push(Compared { id: memory.id, energy, created, shape });
            }
            match page.1 {
                Some(next) if all.len() < COMPARED_MAX => after = next,
                next => return Ok((all, next.is_none())),
            }
        }
    }

    /// Reads the texts of an answer.
    async fn fill(&self, scope: &Scope, answer: &mut Duplicates) -> Result<(), Error> {
        for group in &mut answer.groups {
            let named = std::iter::once(&group.keep).chain(group.duplicates.iter().map(|one| &one.id));
            let keys = named.map(|id| MemoryKey::of_row(scope.as_str(), id));
            let records = self.store.memories(&keys.collect::<Vec<_>>()).await?;
            let text_of = |id: &str| {
                let record = records.iter().find(|record| record.id == id);
                record.and_then(|record| record.content.clone()).unwrap_or_default()
            };
            group.content = text_of(&group.keep);
            group.duplicates.iter_mut().for_each(|one| one.content = text_of(&one.id));
        }
        Ok(())
    }

    /// Merges memories of a scope into another one, which gets their energies, accesses, tags, metadata and mentions, and their
    /// texts as versions; they are deleted.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Refused`] for a stub, or if the kept one has expired; [`Error::Invalid`].
    pub async fn merge(
        &self,
        mode: &WriteMode,
        (scope, kept): (&Scope, &MemoryId),
        duplicates: &[MemoryId],
        at: Timestamp,
    ) -> Result<Memory, Error> {
        let count = duplicates.len();
        if !(1..=MERGED_MAX).contains(&count) {
            return Err(Error::Invalid(format!(
                "there are {count} duplicates; 1 to {MERGED_MAX} are merged at once"
            )));
        }
        let mut ids = vec![kept.clone()];
        for id in duplicates {
            if ids.contains(id) {
                return Err(Error::Invalid(format!("memory {id} is named twice")));
            }
            ids.push(id.clone());
        }
        let tunables = self.store.tunables().await?;
        let texts: Vec<&str> = ids.iter().map(MemoryId::as_str).collect();
        let hash = request_hash("merge", &json!({ "scope": scope.as_str(), "ids": texts }));
        let record = self.store.merge_memories(mode.with_hash(&hash), (scope, &ids), at, &tunables).await?;
        Ok(Memory { dry_run: *mode == WriteMode::DryRun, ..Memory::at(record, at, &tunables) })
    }
}
