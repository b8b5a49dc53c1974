//! Facts by the similarity of their embeddings.
//!
//! A fact is a relation of one type between two nodes. Its vector has the hash of its [`fact_key`] for an id, so an index outlives
//! a generation, and which of its facts count is decided by the relations of each view.

use super::{NOTHING, VectorIndex};
use crate::Error;
use crate::graph::Graph;
use crate::graph::index::NodeId;
use crate::text::words::hash;

/// The facts of one graph for the numbers of a [`VectorIndex`].
#[derive(Debug, Clone, Default)]
pub struct VectorFacts {
    /// By number of the vector.
    facts: Vec<u32>,
    /// Ends by fact, in the order of their external ids and of the types.
    ends: Vec<[NodeId; 2]>,
}

/// A fact with the similarity of its vector to the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedFact {
    /// The nodes that it joins.
    pub ends: [NodeId; 2],
    /// Cosine similarity, -1 to 1.
    pub similarity: f32,
}

/// The id of the vector of a fact, by the external ids of its ends and its type.
#[must_use]
pub fn fact_key(from: &str, to: &str, kind: &str) -> String {
    // With the lengths, no two facts have the same key, whatever their names are.
    format!("{}:{}:{from}{to}{kind}", from.len(), to.len())
}

impl VectorIndex {
    /// Resolves the facts of a graph that have a vector.
    #[must_use]
    pub fn facts(&self, graph: &Graph, relations: &[(NodeId, NodeId, &str)]) -> VectorFacts {
        let mut resolved = VectorFacts { facts: vec![NOTHING; self.contents.len()], ends: Vec::new() };
        let number = |(from, to, kind): &(NodeId, NodeId, &str)| {
            let key = fact_key(graph.external_id(*from), graph.external_id(*to), kind);
            self.numbers.get(&hash(&key)).copied()
        };
        let mut known: Vec<_> =
            relations.iter().filter_map(|relation| Some((relation, number(relation)?))).collect();
        known.sort_unstable_by_key(|((from, to, kind), _)| (graph.rank(*from), graph.rank(*to), *kind));
        for ((from, to, _), number) in known {
            let place = &mut resolved.facts[number as usize];
            if *place == NOTHING {
                *place = u32::try_from(resolved.ends.len()).unwrap_or(NOTHING);
                resolved.ends.push([*from, *to]);
            }
        }
        resolved
    }

    /// The `most` facts whose vectors are the most similar to a query, the best first, then by the external ids of their ends and
    /// their types. `facts` are those of this index.
    ///
    /// # Errors
    /// As [`Self::check`], for the query.
    pub fn rank_facts(
        &self,
        facts: &VectorFacts,
        query: &[f32],
        most: usize,
    ) -> Result<Vec<RankedFact>, Error> {
        let [ranked] = self.best(&facts.facts, query, most, (|_| [true], |_, _| ()), |fact| fact)?;
        let fact = |(fact, similarity)| RankedFact { ends: facts.ends[fact as usize], similarity };
        Ok(ranked.into_iter().map(fact).collect())
    }
}

impl VectorFacts {
    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        4 * self.facts.capacity() + size_of::<[NodeId; 2]>() * self.ends.capacity()
    }
}
