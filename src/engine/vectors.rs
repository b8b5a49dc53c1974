//! Ranking of nodes, and of facts, by the cosine similarity of their embeddings to a query vector: exact, by brute force, in memory.
//!
//! # Design notes
//! A cosine does not depend on the length of a vector, so a row is its components as 16-bit integers, the greatest scaled to
//! ±32,639: two bytes for a component, as in f16. The similarity to the vector as given differs by at most
//! `sqrt(dimensions) / 32,639` (held by `bounds_hold`), and by 1.4e-6 in the root mean square for vectors like MiniLM's,
//! where f16 has 1.0e-5. The similarity of a row is `query . row / (|query| |row|)`, computed in f64 and rounded once to f32.
//!
//! The high and the low bytes are in two planes. A query reads all high bytes, as 8-bit codes with integer arithmetic for
//! which the compiler uses SIMD instructions that every x86-64 has; the plane is a quarter of the f32 vectors. From it follow
//! an upper and a lower bound of each similarity (`query.rs` has the proof). A row whose upper bound is below the `most`-th
//! greatest lower bound is not among the best; the others are candidates. Their similarities are computed from both planes,
//! in descending order of the upper bounds, while these are not below the least similarity of the `most` best. So the
//! result is that of computing all similarities, ties included. Lists of several filters are kept in one pass.
//!
//! Rows are numbered in the order of insertion and found by hashes as in [`TextIndex`](super::text::ranking::TextIndex):
//! the node of each number is resolved once for each generation ([`VectorIndex::nodes`]), a node is identified by a 64-bit
//! hash of its external id, and its vector by another, so adding it again unchanged costs nothing. A fact is identified by its
//! [`fact_key`] instead, and an index has either nodes or facts. Rows are in immutable
//! segments, each at least twice as long as the next; additions form a short segment, and segments of similar length are
//! merged without replaced and removed rows. Copies of an index share the segments: a copy for each generation costs 9 bytes
//! for each row and the map of ids. If more rows were replaced or removed than are left, all segments are merged into one,
//! so neither rows nor numbers grow with the number of changes.
//!
//! Invariants: the result equals that of computing all similarities, whatever was added, replaced or removed before
//! (`vector_oracle`, `near_ties_are_exact`); the bounds hold (`bounds_hold`).

mod facts;
mod query;
mod segment;
mod similarities;

pub use facts::{RankedFact, VectorFacts, fact_key};
pub use similarities::Similarities;

use crate::Error;
use crate::folded::Folded;
use crate::graph::Graph;
use crate::graph::index::{NodeId, nodes};
use crate::text::words::hash;
use crate::top_k::TopK;
use query::{Bounds, Query};
use segment::Segment;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Greatest number of dimensions of a vector space.
pub const DIMENSIONS_MAX: usize = 4_096;
/// Number of replaced or removed rows that are always kept until their segment is merged.
const DROPPED_MIN: usize = 1_024;
/// Number of nodes by whose similarities the distribution of all is estimated: those with the greatest hashes of their external ids.
const SAMPLE_MAX: usize = 512;
/// No node or fact.
const NOTHING: u32 = u32::MAX;

/// Embeddings of nodes, or of facts, in one vector space.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct VectorIndex {
    dimensions: usize,
    /// By number: hash of the vector, and whether it was not replaced or removed.
    contents: Vec<u64>,
    held: Vec<bool>,
    /// The number of each vector, by hash of the external id of its node.
    numbers: HashMap<u64, u32, Folded>,
    segments: Vec<Arc<Segment>>,
}

/// The nodes of one graph for the numbers of a [`VectorIndex`].
#[derive(Debug, Clone, Default)]
pub struct VectorNodes {
    nodes: Vec<u32>,
    /// By number: whether it is in the sample.
    is_sampled: Vec<bool>,
    count: u32,
}

/// A node with the similarity of its vector to the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedVector {
    /// The node.
    pub node: NodeId,
    /// Cosine similarity, -1 to 1.
    pub similarity: f32,
}

/// A row that may be among the best of a list.
struct Candidate<const LISTS: usize> {
    /// Upper bound of its similarity.
    upper: f32,
    /// Its node or fact.
    owner: u32,
    segment: u32,
    row: u32,
    passes: [bool; LISTS],
}

impl<const LISTS: usize> Candidate<LISTS> {
    /// Whether it may be in any list, of which `least` are the least similarities.
    fn is_open(&self, least: &[f32; LISTS]) -> bool {
        self.passes.iter().zip(least).any(|(passes, least)| *passes && self.upper >= *least)
    }
}

fn content_hash(vector: &[f32]) -> u64 {
    let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
    xxh3_64(&bytes)
}

impl VectorIndex {
    /// An empty index of a vector space.
    ///
    /// # Errors
    /// [`crate::graph::Error::ParameterOutOfRange`] for 0 dimensions or more than [`DIMENSIONS_MAX`].
    pub fn new(dimensions: usize) -> Result<Self, Error> {
        if !(1..=DIMENSIONS_MAX).contains(&dimensions) {
            #[expect(clippy::cast_precision_loss, reason = "only shown")]
            let (value, max) = (dimensions as f64, DIMENSIONS_MAX as f64);
            let name = "the number of dimensions".to_owned();
            return Err(crate::graph::Error::ParameterOutOfRange { name, value, min: 1.0, max }.into());
        }
        let (contents, held, numbers, segments) = (Vec::new(), Vec::new(), HashMap::default(), Vec::new());
        Ok(Self { dimensions, contents, held, numbers, segments })
    }

    /// Whether an index that was read from a file is consistent, so that no query can fail on it. Reads all rows.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let count = self.contents.len();
        // A number that is held is that of one id and of one row.
        let mut rows: Vec<u8> = vec![0; count];
        let mut ids = rows.clone();
        let mark = |seen: &mut [u8], number: u32| {
            let place = seen.get_mut(number as usize);
            place.is_some_and(|place| std::mem::replace(place, 1) == 0)
        };
        (1..=DIMENSIONS_MAX).contains(&self.dimensions)
            && self.held.len() == count
            && nodes(count).is_ok()
            && self.segments.iter().all(|segment| {
                segment.is_sound(self.dimensions)
                    && segment.numbers().iter().all(|number| mark(&mut rows, *number))
            })
            && self.numbers.values().all(|number| mark(&mut ids, *number))
            && (0..count).all(|n| self.held[n] == (ids[n] == 1) && rows[n] >= ids[n])
    }

    /// Number of dimensions of the vector space.
    #[must_use]
    pub const fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Number of vectors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether it has no vectors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Checks that a vector is one of this space; `owner` names its owner in errors.
    ///
    /// # Errors
    /// [`Error::VectorDimensions`], [`Error::ZeroVector`], and [`crate::graph::Error::NonFinite`] for NaN and infinities.
    pub fn check(&self, owner: &str, vector: &[f32]) -> Result<(), Error> {
        let owner = || owner.to_owned();
        if vector.len() != self.dimensions {
            let (expected, found) = (self.dimensions, vector.len());
            return Err(Error::VectorDimensions { owner: owner(), expected, found });
        }
        if vector.iter().any(|value| !value.is_finite()) {
            let field = "a component of the vector";
            return Err(crate::graph::Error::NonFinite { field, owner: owner() }.into());
        }
        if vector.iter().all(|value| value.abs() <= 0.0) {
            return Err(Error::ZeroVector { owner: owner() });
        }
        Ok(())
    }

    /// Adds vectors by external id. The vector of a node that has one is replaced, unless it is the same.
    ///
    /// # Errors
    /// As [`Self::check`], and [`crate::graph::Error::TooManyNodes`] if numbers run out; the vectors before are added.
    pub fn add<'a>(&mut self, vectors: impl IntoIterator<Item = (&'a str, &'a [f32])>) -> Result<(), Error> {
        let mut segment = Segment::default();
        let outcome = vectors.into_iter().try_for_each(|(id, vector)| {
            self.check(id, vector)?;
            let (id, content) = (hash(id), content_hash(vector));
            let before = self.numbers.get(&id).map(|number| *number as usize);
            if before.is_some_and(|before| self.contents[before] == content) {
                return Ok(());
            }
            let number = nodes(self.contents.len() + 1)? - 1;
            if let Some(before) = before {
                self.held[before] = false;
            }
            self.numbers.insert(id, number);
            self.contents.push(content);
            self.held.push(true);
            segment.push_vector(number, vector);
            Ok(())
        });
        self.add_segment(&segment);
        self.compact();
        outcome
    }

    /// Whether a node has this vector, or none.
    #[must_use]
    pub fn has(&self, id: &str, vector: Option<&[f32]>) -> bool {
        self.content_hash(id) == vector.map(content_hash)
    }

    /// Hash of the vector of a node, if it has one.
    #[must_use]
    pub fn content_hash(&self, id: &str) -> Option<u64> {
        self.numbers.get(&hash(id)).map(|number| self.contents[*number as usize])
    }

    /// Removes the vector of a node; its row is dropped when its segment is merged.
    pub fn remove(&mut self, id: &str) {
        if let Some(number) = self.numbers.remove(&hash(id)) {
            self.held[number as usize] = false;
            self.compact();
        }
    }

    fn add_segment(&mut self, segment: &Segment) {
        if segment.len() == 0 {
            return;
        }
        let kept = |number: u32| self.held[number as usize].then_some(number);
        let mut segment = Segment::merged([segment], self.dimensions, kept);
        while let Some(before) = self.segments.pop_if(|before| before.len() < 2 * segment.len()) {
            segment = Segment::merged([before.as_ref(), &segment], self.dimensions, kept);
        }
        if segment.len() > 0 {
            self.segments.push(Arc::new(segment));
        }
    }

    /// Merges all segments and numbers the rows anew, if most of them were replaced or removed.
    fn compact(&mut self) {
        if self.held.len() <= 2 * self.numbers.len() + DROPPED_MIN {
            return;
        }
        let mut next = 0;
        let renumbered: Vec<Option<u32>> = self
            .held
            .iter()
            .map(|held| {
                let number = held.then_some(next);
                next += u32::from(*held);
                number
            })
            .collect();
        let of = |number: u32| renumbered[number as usize];
        let all = Segment::merged(self.segments.iter().map(Arc::as_ref), self.dimensions, of);
        self.segments = if all.len() > 0 { vec![Arc::new(all)] } else { Vec::new() };
        self.numbers.values_mut().for_each(|number| *number = of(*number).unwrap_or_default());
        self.numbers.shrink_to_fit();
        let kept = self.contents.iter().zip(&self.held).filter(|(_, held)| **held);
        self.contents = kept.map(|(content, _)| *content).collect();
        self.held = vec![true; self.contents.len()];
    }

    /// Resolves the nodes of a graph, and takes a sample of those that `counts` accepts.
    #[must_use]
    pub fn nodes(&self, graph: &Graph, counts: impl Fn(NodeId) -> bool) -> VectorNodes {
        let rows = self.contents.len();
        let mut resolved =
            VectorNodes { nodes: vec![NOTHING; rows], is_sampled: vec![false; rows], count: 0 };
        let mut sample = TopK::new(SAMPLE_MAX);
        for node in graph.nodes() {
            let id = hash(graph.external_id(node));
            let Some(number) = self.numbers.get(&id) else { continue };
            let place = &mut resolved.nodes[*number as usize];
            if *place == NOTHING {
                *place = node.0;
                resolved.count += 1;
                if counts(node) {
                    sample.push((id, *number));
                }
            }
        }
        sample.into_sorted().iter().for_each(|(_, number)| resolved.is_sampled[*number as usize] = true);
        resolved
    }

    /// Lists of the `most` nodes of `graph` whose vectors are the most similar to a query, among those that pass for each list: the
    /// best first, then by external id. `nodes` are those of this index and graph.
    ///
    /// # Errors
    /// As [`Self::check`], for the query.
    pub fn rank<const LISTS: usize>(
        &self,
        (graph, nodes): (&Graph, &VectorNodes),
        query: &[f32],
        most: usize,
        passes: impl Fn(NodeId) -> [bool; LISTS],
    ) -> Result<[Vec<RankedVector>; LISTS], Error> {
        let rank = |node| graph.rank(NodeId(node));
        let lists = self.best(&nodes.nodes, query, most, (|node| passes(NodeId(node)), |_, _| ()), rank)?;
        Ok(lists.map(ranked_nodes))
    }

    /// The same lists, and the distribution of the similarities of the sample.
    ///
    /// # Errors
    /// As [`Self::rank`].
    pub fn rank_and_compare<const LISTS: usize>(
        &self,
        (graph, nodes): (&Graph, &VectorNodes),
        query: &[f32],
        most: usize,
        passes: impl Fn(NodeId) -> [bool; LISTS],
    ) -> Result<([Vec<RankedVector>; LISTS], Similarities), Error> {
        let rank = |node| graph.rank(NodeId(node));
        // A branch that depends on a hash would cost more than the rest: those that are not sampled are overwritten.
        let (mut sampled, mut count) = (vec![0.0; SAMPLE_MAX + 1], 0);
        let add = |number: u32, bounds: Bounds| {
            sampled[count] = bounds.estimate;
            count += usize::from(nodes.is_sampled[number as usize]);
        };
        let lists = self.best(&nodes.nodes, query, most, (|node| passes(NodeId(node)), add), rank)?;
        let mut similarities = Similarities::default();
        sampled[..count].iter().for_each(|similarity| similarities.add(*similarity));
        Ok((lists.map(ranked_nodes), similarities))
    }

    /// Lists of the `most` owners of vectors, of the most similar ones that pass for each list, then in the order of `rank`.
    /// `owners` are by number; `each` is called for the number of each of them with the bounds of its similarity.
    fn best<const LISTS: usize>(
        &self,
        owners: &[u32],
        query: &[f32],
        most: usize,
        (passes, each): (impl Fn(u32) -> [bool; LISTS], impl FnMut(u32, Bounds)),
        rank: impl Fn(u32) -> u32,
    ) -> Result<[Vec<(u32, f32)>; LISTS], Error> {
        self.check("the query", query)?;
        if most == 0 {
            return Ok([const { Vec::new() }; LISTS]);
        }
        let query = Query::new(query);
        let mut candidates = self.candidates(owners, &query, most, (passes, each));
        candidates.sort_unstable_by(|a, b| b.upper.total_cmp(&a.upper));
        let mut lists: [TopK<(i32, Reverse<u32>, u32)>; LISTS] = [(); LISTS].map(|()| TopK::new(most));
        for candidate in candidates {
            let least = lists
                .each_ref()
                .map(|list| list.threshold().map_or(f32::NEG_INFINITY, |(least, ..)| of_ordered(*least)));
            if !candidate.is_open(&least) {
                continue;
            }
            let segment = &self.segments[candidate.segment as usize];
            let row = candidate.row as usize;
            let similarity = query.exact().similarity(segment.row(row), segment.length(row));
            let place = (ordered(similarity), Reverse(rank(candidate.owner)), candidate.owner);
            for (list, _) in lists.iter_mut().zip(candidate.passes).filter(|(_, passes)| *passes) {
                list.push(place);
            }
        }
        let ranked = |(key, _, owner)| (owner, of_ordered(key));
        Ok(lists.map(|list| list.into_sorted().into_iter().map(ranked).collect()))
    }

    /// The rows that pass and are not excluded by bounds; the first pass over all rows.
    fn candidates<const LISTS: usize>(
        &self,
        owners: &[u32],
        query: &Query,
        most: usize,
        (passes, mut each): (impl Fn(u32) -> [bool; LISTS], impl FnMut(u32, Bounds)),
    ) -> Vec<Candidate<LISTS>> {
        let mut candidates = Vec::new();
        let mut lowers = [(); LISTS].map(|()| TopK::new(most));
        // By list: a row with a lesser upper bound is not among the best.
        let mut least = [f32::NEG_INFINITY; LISTS];
        for (segment, at) in self.segments.iter().zip(0..) {
            for ((number, scanned), row) in segment.scan().zip(0..) {
                let owner = owners.get(number as usize).copied().unwrap_or(NOTHING);
                if owner == NOTHING {
                    continue;
                }
                let bounds = query.bounds(scanned);
                each(number, bounds);
                let Bounds { lower, upper, .. } = bounds;
                if least.iter().all(|least| upper < *least) {
                    continue;
                }
                let passes = passes(owner);
                for list in (0..LISTS).filter(|list| passes[*list]) {
                    lowers[list].push(ordered(lower));
                    least[list] = lowers[list].threshold().map_or(least[list], |key| of_ordered(*key));
                }
                let candidate = Candidate { upper, owner, segment: at, row, passes };
                if candidate.is_open(&least) {
                    candidates.push(candidate);
                }
            }
        }
        candidates.retain(|candidate| candidate.is_open(&least));
        candidates
    }

    /// Size in bytes, with an upper bound for the map of ids.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let columns = 8 * self.contents.capacity() + self.held.capacity();
        // A hash table has one more byte for each bucket, and up to 8 buckets for 7 entries.
        let numbers = self.numbers.capacity() * 8 / 7 * (size_of::<(u64, u32)>() + 1);
        columns + numbers + self.segments.iter().map(|segment| segment.bytes()).sum::<usize>()
    }
}

impl VectorNodes {
    /// Number of nodes of the graph with a vector.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        4 * self.nodes.capacity() + self.is_sampled.capacity()
    }
}

fn ranked_nodes(list: Vec<(u32, f32)>) -> Vec<RankedVector> {
    let ranked = |(node, similarity)| RankedVector { node: NodeId(node), similarity };
    list.into_iter().map(ranked).collect()
}

/// A key in the order of numbers, as [`f32::total_cmp`].
const fn ordered(number: f32) -> i32 {
    let bits = number.to_bits().cast_signed();
    bits ^ ((bits >> 31).cast_unsigned() >> 1).cast_signed()
}

/// The number of a key of [`ordered`].
const fn of_ordered(key: i32) -> f32 {
    let bits = key ^ ((key >> 31).cast_unsigned() >> 1).cast_signed();
    f32::from_bits(bits.cast_unsigned())
}

#[cfg(test)]
mod tests;
