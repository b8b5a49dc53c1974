//! The last queries of a process, a thousand or two megabytes of them, and how often nodes were in them, and seeds together.
//!
//! Counted are the queries in which a node was a seed or a hit, those in which it was a seed, and those in which two nodes
//! were, among the 32 strongest seeds of a query. A new query replaces the oldest, whose counts are removed. Nodes are identified by external ids, so the history
//! outlives the graphs it was recorded on. It is not stored: each process has its own.
//!
//! Invariant: the counts equal those of the queries that are kept (held by `ring_recount`).
//!
//! # Design notes
//! Priming divides by the queries in which a node was a seed, not by its frequency: the share of those in which another node
//! was a seed too is the likelihood that the other belongs to the next query. Otherwise a hub that most queries activate
//! would have no likely companion.

use crate::graph::Graph;
use crate::graph::index::NodeId;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Number of queries that are kept.
pub const QUERIES_MAX: usize = 1_000;
/// Bytes above which the oldest go, however few they are.
const BYTES_MAX: usize = 2 << 20;
/// Bytes of a pair of nodes, in the counts of one of them.
const PAIR_BYTES: usize = size_of::<(u32, u32)>();
/// Number of seeds of a query that form pairs.
pub const PAIRED_MAX: usize = 32;

/// The last queries and their counts.
#[derive(Debug, Clone, Default)]
pub struct QueryHistory {
    /// The oldest first.
    queries: VecDeque<StoredQuery>,
    handles: BTreeMap<Arc<str>, u32>,
    /// By handle.
    nodes: Vec<Node>,
    /// Handles that are not in use.
    free: Vec<u32>,
    /// Bytes of the queries, of their nodes and of the counts.
    bytes: usize,
}

/// A query of the history.
#[derive(Debug, Clone)]
pub struct StoredQuery {
    /// Text of the query.
    pub text: String,
    /// Handles, the strongest first.
    seeds: Vec<u32>,
    activated: Vec<u32>,
    /// Instant, epoch milliseconds.
    pub now_ms: i64,
}

impl StoredQuery {
    const fn bytes(&self) -> usize {
        size_of::<Self>() + self.text.len() + size_of::<u32>() * (self.seeds.len() + self.activated.len())
    }
}

#[derive(Debug, Clone)]
struct Node {
    id: Arc<str>,
    /// Number of references from queries.
    uses: u32,
    /// Number of queries in which it was a seed or a hit.
    frequency: u32,
    /// Number of queries in which it was a seed.
    seeded: u32,
    /// Number of queries in which it and another node were seeds, by the handle of the other.
    co_seeds: BTreeMap<u32, u32>,
}

impl Node {
    /// Bytes that it takes with its handle, without its pairs.
    fn bytes(&self) -> usize {
        size_of::<Self>() + size_of::<(Arc<str>, u32)>() + self.id.len()
    }
}

impl QueryHistory {
    /// Adds a query with its seeds, in any order, and the nodes of its hits. Primed nodes are no seeds here: otherwise a
    /// guess would confirm itself.
    pub fn record(
        &mut self,
        graph: &Graph,
        text: &str,
        seeds: &[(NodeId, f32)],
        activated: &[NodeId],
        now_ms: i64,
    ) {
        while self.queries.len() >= QUERIES_MAX || self.bytes > BYTES_MAX {
            let Some(oldest) = self.queries.pop_front() else { break };
            self.bytes -= oldest.bytes();
            self.release(&oldest);
        }
        let mut seeds = seeds.to_vec();
        seeds.sort_unstable_by_key(|(node, score)| (Reverse(score.to_bits()), graph.rank(*node)));
        let mut seen = BTreeSet::new();
        seeds.retain(|(node, _)| seen.insert(*node));
        let mut acquire = |node: NodeId| self.acquire(graph.external_id(node));
        let query = StoredQuery {
            text: text.to_owned(),
            seeds: seeds.iter().map(|(node, _)| acquire(*node)).collect(),
            activated: activated.iter().map(|node| acquire(*node)).collect(),
            now_ms,
        };
        self.tally(&query, 1);
        self.bytes += query.bytes();
        self.queries.push_back(query);
    }

    /// Bytes that it takes: queries, ids of nodes, counts.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Number of queries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queries.len()
    }

    /// Whether there are no queries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }

    /// The queries, the oldest first.
    pub fn queries(&self) -> impl DoubleEndedIterator<Item = &StoredQuery> {
        self.queries.iter()
    }

    /// External ids of the seeds of a query of this history, the strongest first.
    pub fn seeds(&self, query: &StoredQuery) -> impl Iterator<Item = &str> {
        query.seeds.iter().map(|handle| self.name(*handle))
    }

    /// External ids of the hits of a query of this history.
    pub fn activated(&self, query: &StoredQuery) -> impl Iterator<Item = &str> {
        query.activated.iter().map(|handle| self.name(*handle))
    }

    /// Number of queries in which a node was a seed or a hit.
    #[must_use]
    pub fn frequency(&self, id: &str) -> u32 {
        self.node(id).map_or(0, |node| node.frequency)
    }

    /// Number of queries in which a node was a seed.
    #[must_use]
    pub fn seeded(&self, id: &str) -> u32 {
        self.node(id).map_or(0, |node| node.seeded)
    }

    /// External ids of all nodes of the queries, in their order.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.handles.keys().map(|id| &**id)
    }

    /// The nodes that were seeds together with a node, unordered, and the number of such queries.
    pub fn co_seeds(&self, id: &str) -> impl Iterator<Item = (&str, u32)> {
        let co_seeds = self.node(id).into_iter().flat_map(|node| &node.co_seeds);
        co_seeds.map(move |(other, count)| (self.name(*other), *count))
    }

    fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.get(*self.handles.get(id)? as usize)
    }

    fn name(&self, handle: u32) -> &str {
        self.nodes.get(handle as usize).map_or("", |node| &*node.id)
    }

    /// The handle of a node, with one more reference.
    fn acquire(&mut self, id: &str) -> u32 {
        if let Some(handle) = self.handles.get(id) {
            self.nodes[*handle as usize].uses += 1;
            return *handle;
        }
        let id: Arc<str> = id.into();
        let node = Node { id: Arc::clone(&id), uses: 1, frequency: 0, seeded: 0, co_seeds: BTreeMap::new() };
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
        self.bytes += self.nodes[handle as usize].bytes();
        self.handles.insert(id, handle);
        handle
    }

    fn release(&mut self, query: &StoredQuery) {
        self.tally(query, -1);
        for handle in query.seeds.iter().chain(&query.activated) {
            let node = &mut self.nodes[*handle as usize];
            node.uses -= 1;
            if node.uses == 0 {
                self.bytes -= node.bytes();
                self.handles.remove(&node.id);
                self.free.push(*handle);
            }
        }
    }

    /// Adds the nodes of a query to the counts, or removes them.
    fn tally(&mut self, query: &StoredQuery, step: i32) {
        let StoredQuery { seeds, activated, .. } = query;
        for node in seeds.iter().chain(activated).copied().collect::<BTreeSet<u32>>() {
            let frequency = &mut self.nodes[node as usize].frequency;
            *frequency = frequency.saturating_add_signed(step);
        }
        for seed in seeds {
            let seeded = &mut self.nodes[*seed as usize].seeded;
            *seeded = seeded.saturating_add_signed(step);
        }
        let paired = &seeds[..seeds.len().min(PAIRED_MAX)];
        for one in paired {
            let co_seeds = &mut self.nodes[*one as usize].co_seeds;
            for other in paired.iter().filter(|other| *other != one) {
                let count = co_seeds.entry(*other).or_insert_with(|| {
                    self.bytes += PAIR_BYTES;
                    0
                });
                *count = count.saturating_add_signed(step);
                if *count == 0 {
                    co_seeds.remove(other);
                    self.bytes -= PAIR_BYTES;
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

    /// Checks that the counts are those of the stored queries, and no others.
    fn check(history: &QueryHistory) {
        let (mut frequency, mut seeded) = (BTreeMap::<&str, u32>::new(), BTreeMap::<&str, u32>::new());
        let mut pairs: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        let mut named: BTreeSet<&str> = BTreeSet::new();
        for query in history.queries() {
            let seeds: Vec<&str> = history.seeds(query).collect();
            let all: BTreeSet<&str> = seeds.iter().copied().chain(history.activated(query)).collect();
            all.into_iter().for_each(|one| *frequency.entry(one).or_insert(0) += 1);
            for (at, one) in seeds.iter().enumerate() {
                *seeded.entry(*one).or_insert(0) += 1;
                for other in seeds.iter().take(32).skip(at + 1) {
                    *pairs.entry((*one, *other)).or_insert(0) += 1;
                    *pairs.entry((*other, *one)).or_insert(0) += 1;
                }
            }
            named.extend(seeds.into_iter().chain(history.activated(query)));
        }
        assert_eq!(history.handles.keys().map(|id| &**id).collect::<BTreeSet<_>>(), named);
        assert_eq!(history.nodes.len(), named.len() + history.free.len());
        let mut counted: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        for one in named {
            assert_eq!(history.frequency(one), frequency[one], "{one}");
            assert_eq!(history.seeded(one), seeded.get(one).copied().unwrap_or(0), "{one}");
            counted.extend(history.co_seeds(one).map(|(other, count)| ((one, other), count)));
        }
        assert_eq!(counted, pairs);
        let nodes = history.handles.values().map(|handle| history.nodes[*handle as usize].bytes());
        let queries = history.queries().map(StoredQuery::bytes);
        assert_eq!(history.bytes(), queries.chain(nodes).sum::<usize>() + pairs.len() * PAIR_BYTES);
    }

    #[test]
    fn ring_recount() {
        let graph = graph(60);
        let nodes: Vec<NodeId> = graph.nodes().collect();
        let (mut history, mut random) = (QueryHistory::default(), SplitMix64::new(1));
        for n in 0..2_300_u32 {
            // Every tenth has more seeds than form pairs, some of them twice; later ones use only half of the nodes.
            let most = if n.is_multiple_of(10) { 45 } else { random.draw_below(7) };
            let among = if n < 1_200 { 60 } else { 30 };
            let mut draw = |_| nodes[usize::try_from(random.draw_below(among)).unwrap()];
            let activated: Vec<NodeId> = (0..3).map(&mut draw).collect();
            let seeds: Vec<(NodeId, f32)> =
                (0..most).map(&mut draw).zip(1_u16..).map(|(node, score)| (node, f32::from(score))).collect();
            let text = format!("question {n}");
            history.record(&graph, &text, &seeds, &activated, i64::from(n));
            if n == 700 || n == 2_299 {
                check(&history);
            }
        }
        assert_eq!(history.len(), QUERIES_MAX);
        let first = history.queries().next().unwrap();
        assert_eq!((&*first.text, first.now_ms, first.activated.len()), ("question 1300", 1_300, 3));
        // The counts of half of the nodes were removed with their queries.
        assert_eq!((history.handles.len(), history.nodes.len()), (30, 60));
    }

    #[test]
    fn seeds_count_once_and_the_strongest_form_pairs() {
        let graph = graph(40);
        let node = |n: u32| graph.find(&format!("n{n:02}")).unwrap();
        // The last is the strongest, and the first is a duplicate.
        let mut seeds: Vec<(NodeId, f32)> =
            (0..40_u16).map(|n| (node(n.into()), f32::from(n + 1) / 64.0)).collect();
        seeds.push((node(0), 1.0));
        let mut history = QueryHistory::default();
        history.record(&graph, "", &seeds, &[], 0);
        assert_eq!((history.seeded("n00"), history.seeded("n01"), history.seeded("n41")), (1, 1, 0));
        assert!(history.nodes().is_sorted() && history.nodes().count() == 40);
        assert_eq!((history.co_seeds("n00").count(), history.co_seeds("n39").count()), (31, 31));
        // The eight weakest form none.
        assert_eq!((history.co_seeds("n08").count(), history.co_seeds("n09").count()), (0, 31));
        let first = history.queries().next().unwrap();
        assert!(history.seeds(first).take(2).eq(["n00", "n39"]));
        check(&history);
        (0..QUERIES_MAX).for_each(|_| history.record(&graph, "", &[], &[], 0));
        assert!(history.handles.is_empty() && history.co_seeds("n39").next().is_none());
    }
}
