//! Embeddings of facts: which are compared, and their reading, some facts at a time.
//!
//! A fact is compared under the ids of its ends and its predicate, as [`Relations`](super::content::Relations) has it: of several
//! between two nodes under one predicate, the one that counts is compared. Whether it is live is decided for each generation.

use super::Error;
use super::content::RelationKey;
use super::load::set_vectors;
use crate::store::{EmbeddedFact, FadingRelation, MirrorQuery, Store};
use ebb_engine::vectors::{VectorIndex, fact_key};
use std::collections::{BTreeMap, HashMap};

/// Facts that were read, by their keys in the index of vectors: where the embedding is, if there may be one. `None` keeps
/// nothing, since nothing is compared.
#[derive(Debug, Default)]
pub(super) struct ReadFacts(Option<BTreeMap<String, Option<EmbeddedFact>>>);

/// Embeddings by the keys of their facts; `None`: the fact has none.
pub(super) type Embeddings = Vec<(String, Option<Vec<f32>>)>;

impl ReadFacts {
    /// None yet of those that a query may find.
    pub(super) fn of(asked: &MirrorQuery) -> Self {
        Self(asked.dimensions.map(|_| BTreeMap::new()))
    }

    /// A fact that is gone, unless it is read again.
    pub(super) fn remove(&mut self, (from, to, kind): &RelationKey) {
        self.set((from, to, kind), None);
    }

    /// A fact that counts.
    pub(super) fn put(
        &mut self,
        (from, to): (&str, &str),
        tied: &FadingRelation,
        embedded: Option<EmbeddedFact>,
    ) {
        self.set((from, to, &tied.kind), embedded);
    }

    fn set(&mut self, (from, to, kind): (&str, &str, &str), embedded: Option<EmbeddedFact>) {
        if let Some(facts) = &mut self.0 {
            facts.insert(fact_key(from, to, kind), embedded);
        }
    }

    /// Reads the embeddings, so many at a time, and passes them on.
    pub(super) async fn read(
        self,
        store: &Store,
        asked: &MirrorQuery,
        most: usize,
        mut pass: impl FnMut(Embeddings) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut by_label: BTreeMap<usize, Vec<(String, String)>> = BTreeMap::new();
        let mut without = Vec::new();
        for (key, embedded) in self.0.unwrap_or_default() {
            match embedded {
                Some(EmbeddedFact { label, element }) => {
                    by_label.entry(label).or_default().push((key, element));
                }
                None => without.push((key, None)),
            }
        }
        if !without.is_empty() {
            pass(without)?;
        }
        for (label, facts) in by_label {
            for part in facts.chunks(most) {
                let elements: Vec<&str> = part.iter().map(|(_, element)| element.as_str()).collect();
                let mut found: HashMap<_, _> = store.fact_vectors(asked, label, &elements).await?;
                pass(part.iter().map(|(key, element)| (key.clone(), found.remove(element))).collect())?;
            }
        }
        Ok(())
    }
}

/// Sets the embeddings of facts.
pub(super) fn set_facts(index: &mut VectorIndex, embeddings: &Embeddings) -> Result<(), Error> {
    set_vectors(index, embeddings.iter().map(|(key, embedding)| (key.as_str(), embedding.as_deref())))
}
