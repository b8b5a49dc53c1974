//! Batches of entries: what belongs together is judged together, before any of it is written.
//!
//! A job may change what belongs together in several transactions, as a cluster and its members. Entries that have a row in
//! common, or the end of a relationship, are a group, directly or by others between them; groups have nothing in common, so
//! that each batch of them may be judged without those before it.

use crate::domain::journal::{Entry, RowName, groups};
use crate::store::EntryOutcome;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{Hash, Hasher};

/// Whole groups of entries, in the order of the entries.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct EntryBatch {
    pub(super) entries: Vec<Entry>,
    /// The group of each entry.
    groups: Vec<usize>,
}

/// Sorts entries into batches of about `size`; a larger group is one of its own.
pub(super) fn batches(entries: Vec<Entry>, size: usize) -> Vec<EntryBatch> {
    let groups = groups(entries.iter().map(Entry::names));
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    for group in &groups {
        *sizes.entry(*group).or_default() += 1;
    }
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    let (mut batches, mut filled): (Vec<EntryBatch>, usize) = (Vec::new(), 0);
    for (group, entry) in groups.into_iter().zip(entries) {
        let place = *places.entry(group).or_insert_with(|| {
            let more = sizes.get(&group).copied().unwrap_or_default();
            if batches.is_empty() || filled + more > size {
                batches.push(EntryBatch::default());
                filled = 0;
            }
            filled += more;
            batches.len() - 1
        });
        batches[place].entries.push(entry);
        batches[place].groups.push(group);
    }
    batches
}

impl EntryBatch {
    /// Whether a group of it has several entries.
    pub(super) fn is_tied(&self) -> bool {
        self.groups.iter().collect::<BTreeSet<_>>().len() < self.groups.len()
    }

    /// Two halves of its groups; `None` of one group.
    pub(super) fn split(&self) -> Option<[Self; 2]> {
        let groups: BTreeSet<usize> = self.groups.iter().copied().collect();
        let half = groups.len() / 2;
        let later = *groups.iter().nth(half).filter(|_| half > 0)?;
        let mut halves = [Self::default(), Self::default()];
        for (entry, group) in self.entries.iter().zip(&self.groups) {
            let half = &mut halves[usize::from(*group >= later)];
            half.entries.push(entry.clone());
            half.groups.push(*group);
        }
        Some(halves)
    }

    /// Outcomes of its entries, of which those of a group are refused if one of them is.
    pub(super) fn judged(&self, outcomes: Vec<EntryOutcome>) -> Vec<EntryOutcome> {
        let is_refused = |outcome: &EntryOutcome| matches!(outcome, EntryOutcome::Refused(_));
        let refused = self.groups.iter().zip(&outcomes).filter(|(_, outcome)| is_refused(outcome));
        let refused: BTreeSet<usize> = refused.map(|(group, _)| *group).collect();
        let each = self.entries.iter().zip(&self.groups).zip(outcomes);
        each.map(|((entry, group), outcome)| match (outcome, entry.names().next()) {
            (EntryOutcome::Applied, Some(row)) if refused.contains(group) => {
                EntryOutcome::part_of_refused(row)
            }
            (outcome, _) => outcome,
        })
        .collect()
    }
}

/// Names that several entries of a run have. They are kept as hashes, since a run may have millions: two names of one hash
/// only tie more together.
#[derive(Default)]
pub(super) struct SharedNames {
    found: HashSet<u64>,
    again: HashSet<u64>,
}

impl SharedNames {
    pub(super) fn add(&mut self, entry: &Entry) {
        let names: BTreeSet<u64> = entry.names().map(hash).collect();
        let known = names.into_iter().filter(|name| !self.found.insert(*name));
        self.again.extend(known);
    }

    /// Whether an entry is one of several with a name.
    pub(super) fn ties(&self, entry: &Entry) -> bool {
        entry.names().any(|name| self.again.contains(&hash(name)))
    }
}

fn hash(name: &RowName) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::journal::{RowChange, RowLabel};

    fn entry(rows: &[&str]) -> Entry {
        let row = |key: &&str| RowName::new(RowLabel::Memory, "local", key);
        let rows = rows.iter().map(|key| RowChange { row: row(key), before: None, after: None });
        Entry { rule: "clusters".to_owned(), reason: String::new(), rows: rows.collect() }
    }

    /// The keys of each entry.
    fn rows(batch: &EntryBatch) -> Vec<String> {
        let keys =
            |entry: &Entry| -> String { entry.rows.iter().map(|change| change.row.key.as_str()).collect() };
        batch.entries.iter().map(keys).collect()
    }

    #[test]
    fn what_shares_a_row_is_in_one_batch_and_refused_together() {
        // a and c belong together by the last one.
        let entries = [&["a"][..], &["b"], &["c"], &["d"], &["a", "c"]].map(entry);
        let found = batches(entries.to_vec(), 3);
        assert_eq!(found.iter().map(rows).collect::<Vec<_>>(), [vec!["a", "c", "ac"], vec!["b", "d"]]);
        assert!(found[0].is_tied() && !found[1].is_tied());
        assert_eq!(found[0].split(), None);
        let halves = found[1].split().unwrap();
        assert_eq!(halves.each_ref().map(rows), [vec!["b"], vec!["d"]]);
        let larger = batches(entries.to_vec(), 1);
        assert_eq!(larger.iter().map(rows).collect::<Vec<_>>(), [vec!["a", "c", "ac"], vec!["b"], vec!["d"]]);

        let whole = &batches(entries.to_vec(), 9)[0];
        assert_eq!(rows(whole), ["a", "b", "c", "d", "ac"], "in their order");
        let why = EntryOutcome::Refused("why".to_owned());
        let outcomes =
            [EntryOutcome::Applied, why.clone(), EntryOutcome::Already, EntryOutcome::Applied, why.clone()];
        let part = EntryOutcome::Refused("memory a is part of a change that was refused".to_owned());
        assert_eq!(
            whole.judged(outcomes.to_vec()),
            [part, why.clone(), EntryOutcome::Already, EntryOutcome::Applied, why]
        );
    }

    #[test]
    fn a_name_of_several_entries_ties_them() {
        let mut shared = SharedNames::default();
        let entries = [&["a"][..], &["b", "b"], &["c"], &["a", "c"]].map(entry);
        entries.iter().for_each(|entry| shared.add(entry));
        assert_eq!(entries.each_ref().map(|entry| shared.ties(entry)), [true, false, true, true]);
    }
}
