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
use ebb_engine::text::fold::cut;
use serde_json::json;
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

/// Most memories that are compared, and most of their words and pairs of words, which take some
/// hundred bytes each until they are compared.
const COMPARED_MAX: usize = 50_000;
const PARTS_MAX: usize = 4_000_000;
/// Most memories that are read, with those that have no text or values that no law can use.
const READ_MAX: usize = 100_000;
/// Most parts that comparisons read: some seconds of work.
const WORK_MAX: usize = 2_000_000_000;
const PAGE: usize = 500;
const MIN_SIMILARITY: f64 = 0.8;
/// Least value of a request: below it, nearly all are compared with all.
const LEAST_SIMILARITY: f64 = 0.3;
/// Most bytes of a text that are compared, and that are answered.
const TEXT_BYTES: usize = 4 * 1024;
const GROUPS: u32 = 100;
const GROUPS_MAX: u32 = 1_000;

/// A memory to compare, without its text.
struct Compared {
    id: String,
    /// Pinned ones, then those of higher tiers, are rather kept.
    pinned: bool,
    tier: Option<Tier>,
    energy: f64,
    created: Option<Timestamp>,
    shape: TextShape,
}

impl Compared {
    /// The one to keep first.
    fn by_preference(&self, other: &Self) -> Ordering {
        let rank = |one: &Self| (one.pinned, one.tier);
        let by_energy = || other.energy.total_cmp(&self.energy);
        let by_age = || (self.created, &self.id).cmp(&(other.created, &other.id));
        rank(other).cmp(&rank(self)).then_with(by_energy).then_with(by_age)
    }
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
        if !(LEAST_SIMILARITY..=1.0).contains(&min) {
            return Err(recall::Error::Invalid(format!(
                "min_similarity is {min}; it must be {LEAST_SIMILARITY} to 1"
            )));
        }
        let limit = query.limit.unwrap_or(GROUPS);
        if !(1..=GROUPS_MAX).contains(&limit) {
            return Err(recall::Error::Invalid(format!("limit is {limit}; it must be 1 to {GROUPS_MAX}")));
        }
        let (mut all, complete) = self.shapes(scope, at).await?;
        let (all, groups, compared) = self
            .compute
            .run(move |_| {
                all.sort_by(Compared::by_preference);
                let (ids, shapes): (Vec<String>, Vec<TextShape>) =
                    all.into_iter().map(|one| (one.id, one.shape)).unzip();
                let (mut groups, seen) = near_duplicates(&shapes, min, WORK_MAX);
                groups.sort_by_key(|group| Reverse(group.others.len()));
                (ids, groups, seen)
            })
            .await?;
        let (found, complete) = (groups.len(), complete && compared == all.len());
        let mut answer = Duplicates { groups: Vec::new(), found, compared, complete };
        for group in groups.into_iter().take(usize::try_from(limit).unwrap_or(usize::MAX)) {
            let keep = all[group.kept].clone();
            let duplicate = |(at, similarity): &(usize, f64)| Duplicate {
                id: all[*at].clone(),
                content: String::new(),
                similarity: *similarity,
            };
            let (duplicates, count) =
                (group.others.iter().take(MERGED_MAX).map(duplicate), group.others.len());
            let duplicates = duplicates.collect();
            answer.groups.push(Group { keep, content: String::new(), duplicates, count });
        }
        self.fill(scope, &mut answer).await?;
        Ok(answer)
    }

    /// The words of the live memories of a scope, and whether these are all.
    async fn shapes(&self, scope: &Scope, at: Timestamp) -> Result<(Vec<Compared>, bool), Error> {
        let tiers = Tier::ALL.into_iter().filter(|tier| tier.is_live()).collect();
        let filter = Filter { tiers, ..Filter::default() };
        let (mut all, mut after, mut parts, mut read) = (Vec::new(), String::new(), 0, 0);
        let tunables = self.store.tunables().await?;
        loop {
            let listed = (&filter, MemoryOrder::Id);
            let (page, next) = self.list_by(scope, listed, (&after, PAGE), (at, &tunables)).await?;
            read += page.len();
            for memory in page {
                let Some(content) =
                    memory.content.as_deref().filter(|_| memory.tier.is_some_and(Tier::is_live))
                else {
                    continue;
                };
                let shape = TextShape::of(cut(content, TEXT_BYTES));
                parts += shape.len();
                let (energy, created) = (memory.energy.unwrap_or(0.0), memory.created);
                let (pinned, tier) = (memory.pinned == Some(true), memory.tier);
                all.push(Compared { id: memory.id, pinned, tier, energy, created, shape });
            }
            match next {
                Some(next) if all.len() < COMPARED_MAX && parts < PARTS_MAX && read < READ_MAX => {
                    after = next;
                }
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
            let texts: BTreeMap<&str, &str> = records
                .iter()
                .filter_map(|record| Some((record.id.as_str(), cut(record.content.as_deref()?, TEXT_BYTES))))
                .collect();
            let text_of = |id: &str| texts.get(id).map(|text| (*text).to_owned());
            // One that was deleted meanwhile is no duplicate.
            group.content = text_of(&group.keep).unwrap_or_default();
            group.duplicates.retain_mut(|one| {
                let text = text_of(&one.id);
                let is_there = text.is_some();
                one.content = text.unwrap_or_default();
                is_there
            });
        }
        answer.groups.retain(|group| !group.content.is_empty() && !group.duplicates.is_empty());
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
