//! The last thousand queries of a process, and how often nodes were seeds, alone and in pairs.
//!
//! Counted are the queries in which a node was a seed, and those in which two nodes were, among the 32 strongest seeds of a
//! query. A new query replaces the oldest, whose counts are removed. Nodes are identified by external ids, so the history
//! outlives the graphs it was recorded on. It is not stored: each process has its own.
//!
//! Invariant: the counts equal those of the queries that are kept (held by `ring_recount`).
//!
//! # Design notes
//! The frequency of a node counts it as a seed only: the share of its queries in which another node was a seed too is then
//! at most 1, and is the likelihood that the other belongs to the next query. Otherwise a hub that most queries activate
//! would have no likely companion.

use crate::graph::Graph;
use crate::graph::index::NodeId;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Number of queries that are kept.
pub const QUERIES_MAX: usize = 1_000;
/// Number of seeds of a query that form pairs.
pub const PAIRED_MAX: usize = 32;

/// A query and its result.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// Text of the query.
    pub text: &'a str,
    /// Seeds in any order, without primed nodes: otherwise a guess would confirm itself.
    pub seeds: &'a [(NodeId, f32)],
    /// Nodes of its hits.
    pub activated: &'a [NodeId],
    /// Instant, epoch milliseconds.
    pub now_ms: i64,
}

/// A query of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered<'a> {
    /// Text of the query.
    pub text: &'a str,
    /// External ids of the seeds, the strongest first.
    pub seeds: Vec<&'a str>,
    /// External ids of the hits.
    pub activated: Vec<&'a str>,
    /// Instant, epoch milliseconds.
    pub now_ms: i64,
}

/// The last queries and their counts.
#[derive(Debug, Clone, Default)]
pub struct QueryMemory {
    /// The oldest first.
    ring: VecDeque<Asked>,
    handles: BTreeMap<Arc<str>, u32>,
    /// By handle.
    nodes: Vec<Node>,
    /// Handles that are not in use.
    free: Vec<u32>,
}

#[derive(Debug, Clone)]
struct Asked {
    text: String,
    seeds: Vec<u32>,
    activated: Vec<u32>,
    now_ms: i64,
}

#[derive(Debug, Clone)]
struct Node {
    id: Arc<str>,
    /// Number of references from queries.
    uses: u32,
    /// Number of queries in which it was a seed.
    frequency: u32,
    /// Number of queries in which it and another node were seeds, by the handle of the other.
    beside: BTreeMap<u32, u32>,
}

impl QueryMemory {
    /// Adds a query.
    pub fn record(&mut self, graph: &Graph, query: &Query<'_>) {
        if self.ring.len() == QUERIES_MAX
            && let Some(oldest) = self.ring.pop_front()
        {
            self.forget(&oldest);
        }
        let mut seeds = query.seeds.to_vec();
        seeds.sort_unstable_by_key(|(node, score)| (Reverse(score.to_bits()), graph.rank(*node)));
        let mut seen = BTreeSet::new();
        seeds.retain(|(node, _)| seen.insert(*node));
        let mut hold = |node: NodeId| self.hold(graph.external_id(node));
        let asked = Asked {
            text: query.text.to_owned(),
            seeds: seeds.iter().map(|(node, _)| hold(*node)).collect(),
            activated: query.activated.iter().map(|node| hold(*node)).collect(),
            now_ms: query.now_ms,
        };
        self.tally(&asked.seeds, 1);
        self.ring.push_back(asked);
    }

    /// Number of queries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether there are no queries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// The queries, the oldest first.
    pub fn queries(&self) -> impl ExactSizeIterator<Item = Remembered<'_>> {
        let names =
            move |handles: &[u32]| -> Vec<&str> { handles.iter().map(|handle| self.name(*handle)).collect() };
        self.ring.iter().map(move |asked| Remembered {
            text: &asked.text,
            seeds: names(&asked.seeds),
            activated: names(&asked.activated),
            now_ms: asked.now_ms,
        })
    }

    /// Number of queries in which a node was a seed.
    #[must_use]
    pub fn frequency(&self, id: &str) -> u32 {
        self.node(id).map_or(0, |node| node.frequency)
    }

    /// The nodes that were seeds together with a node, unordered, and the number of such queries.
    pub fn beside(&self, id: &str) -> impl Iterator<Item = (&str, u32)> {
        let beside = self.node(id).into_iter().flat_map(|node| &node.beside);
        beside.map(move |(other, count)| (self.name(*other), *count))
    }

    fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.get(*self.handles.get(id)? as usize)
    }

    fn name(&self, handle: u32) -> &str {
        self.nodes.get(handle as usize).map_or("", |node| &*node.id)
    }

    /// The handle of a node, with one more reference.
    fn hold(&mut self, id: &str) -> u32 {
        if let Some(handle) = self.handles.get(id) {
            self.nodes[*handle as usize].uses += 1;
            return *handle;
        }
        let id: Arc<str> = id.into();
        let node = Node { id: Arc::clone(&id), uses: 1, frequency: 0, beside: BTreeMap::new() };
        let handle = match self.free.pop() {
            Some(handle) => {
                self.nodes[handle as usize] = node;
                handle
            }
            None => {
                self.nodes.push(node);
                u32::try_from(self.nodes.len() - 1).unwrap_or(u32::MAX)
            }
        };
        self.handles.insert(id, handle);
        handle
    }

    fn forget(&mut self, asked: &Asked) {
        self.tally(&asked.seeds, -1);
        for handle in asked.seeds.iter().chain(&asked.activated) {
            let node = &mut self.nodes[*handle as usize];
            node.uses -= 1;
            if node.uses == 0 {
                self.handles.remove(&node.id);
                self.free.push(*handle);
            }
        }
    }

    /// Adds the seeds of a query to the counts, or removes them.
    fn tally(&mut self, seeds: &[u32], step: i32) {
        for seed in seeds {
            let frequency = &mut self.nodes[*seed as usize].frequency;
            *frequency = frequency.saturating_add_signed(step);
        }
        let paired = &seeds[..seeds.len().min(PAIRED_MAX)];
        for one in paired {
            let beside = &mut self.nodes[*one as usize].beside;
            for other in paired.iter().filter(|other| *other != one) {
                let count = beside.entry(*other).or_default();
                *count = count.saturating_add_signed(step);
                if *count == 0 {
                    beside.remove(other);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::builder::GraphBuilder;
    use crate::graph::columns::NodeRow;
    use crate::graph::kinds::NodeType;
    use crate::random::SplitMix64;

    fn graph(count: u32) -> Graph {
        let mut builder = GraphBuilder::default();
        for n in 0..count {
            builder.add_node(NodeRow::new(format!("n{n:02}"), "", NodeType::MEMORY)).unwrap();
        }
        builder.finalize().unwrap()
    }

    /// The counts as the kept questions say them, and nothing beside.
    fn check(memory: &QueryMemory) {
        let mut frequency: BTreeMap<&str, u32> = BTreeMap::new();
        let mut pairs: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        let mut named: BTreeSet<&str> = BTreeSet::new();
        for query in memory.queries() {
            for (at, one) in query.seeds.iter().enumerate() {
                *frequency.entry(*one).or_insert(0) += 1;
                for other in query.seeds.iter().take(32).skip(at + 1) {
                    *pairs.entry((*one, *other)).or_insert(0) += 1;
                    *pairs.entry((*other, *one)).or_insert(0) += 1;
                }
            }
            named.extend(query.seeds.into_iter().chain(query.activated));
        }
        assert_eq!(memory.handles.keys().map(|id| &**id).collect::<BTreeSet<_>>(), named);
        assert_eq!(memory.nodes.len(), named.len() + memory.free.len());
        let mut counted: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        for one in named {
            assert_eq!(memory.frequency(one), frequency.get(one).copied().unwrap_or(0), "{one}");
            counted.extend(memory.beside(one).map(|(other, count)| ((one, other), count)));
        }
        assert_eq!(counted, pairs);
    }

    #[test]
    fn ring_recount() {
        let graph = graph(60);
        let nodes: Vec<NodeId> = graph.nodes().collect();
        let (mut memory, mut chance) = (QueryMemory::default(), SplitMix64::new(1));
        for n in 0..2_300_u32 {
            // Every tenth has more seeds than form pairs, some of them twice; late ones know only half of the nodes.
            let most = if n.is_multiple_of(10) { 45 } else { chance.draw_below(7) };
            let among = if n < 1_200 { 60 } else { 30 };
            let mut draw = |_| nodes[usize::try_from(chance.draw_below(among)).unwrap()];
            let activated: Vec<NodeId> = (0..3).map(&mut draw).collect();
            let seeds: Vec<(NodeId, f32)> =
                (0..most).map(&mut draw).zip(1_u16..).map(|(node, score)| (node, f32::from(score))).collect();
            let text = format!("question {n}");
            let query = Query { text: &text, seeds: &seeds, activated: &activated, now_ms: i64::from(n) };
            memory.record(&graph, &query);
            if n == 700 || n == 2_299 {
                check(&memory);
            }
        }
        assert_eq!(memory.len(), QUERIES_MAX);
        let first = memory.queries().next().unwrap();
        assert_eq!((first.text, first.now_ms, first.activated.len()), ("question 1300", 1_300, 3));
        // What half of the nodes did went with the questions that named them.
        assert_eq!((memory.handles.len(), memory.nodes.len()), (30, 60));
    }

    #[test]
    fn seeds_count_once_and_the_strongest_form_pairs() {
        let graph = graph(40);
        let node = |n: u32| graph.find(&format!("n{n:02}")).unwrap();
        // The last is the strongest, and the first is there twice.
        let mut seeds: Vec<(NodeId, f32)> =
            (0..40_u16).map(|n| (node(n.into()), f32::from(n + 1) / 64.0)).collect();
        seeds.push((node(0), 1.0));
        let mut memory = QueryMemory::default();
        let query = Query { text: "", seeds: &seeds, activated: &[], now_ms: 0 };
        memory.record(&graph, &query);
        assert_eq!((memory.frequency("n00"), memory.frequency("n01"), memory.frequency("n41")), (1, 1, 0));
        assert_eq!((memory.beside("n00").count(), memory.beside("n39").count()), (31, 31));
        // The eight weakest form none.
        assert_eq!((memory.beside("n08").count(), memory.beside("n09").count()), (0, 31));
        assert_eq!(memory.queries().next().unwrap().seeds[..2], ["n00", "n39"]);
        check(&memory);
        let many = std::iter::repeat_n(Query { seeds: &[], ..query }, QUERIES_MAX);
        many.for_each(|query| memory.record(&graph, &query));
        assert!(memory.handles.is_empty() && memory.beside("n39").next().is_none());
    }
}
