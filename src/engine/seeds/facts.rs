//! An index of relations as short sentences, so that a query without names still finds the nodes it is about.
//!
//! A fact is the words of its two ends and of its type, without stop words, a plural s dropped. Its score for a query is the
//! sum of `idf` over the shared words, divided by `sqrt(1 + 0.3 * its words)`, where `idf = ln(1 + (F - f + 0.5) / (f +
//! 0.5))`, `F` is the number of facts and `f` of those with the word: short facts of rare words come first.
//!
//! Invariant: scores equal the formula computed for every fact (held by `facts_oracle`).

use crate::counting::sort_by_number;
use crate::folded::Folded;
use crate::graph::Graph;
use crate::graph::index::NodeId;
use crate::text::fold::fold;
use crate::text::merge::merge_postings;
use crate::text::stop::is_stop;
use crate::text::words::{hash, singular, words};
use crate::top_k::TopK;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// Relationship type of facts.
pub const RELATION: &str = "RELATES_TO";
/// Weight of the length in the score.
const LENGTH_SHARE: f64 = 0.3;

/// The facts of one graph.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Ends by number, in the order of the external ids of the ends and of the types.
    ends: Vec<(NodeId, NodeId)>,
    /// Type of each fact, by its place among the names.
    kinds: Vec<u32>,
    kind_names: Vec<String>,
    /// Number of words of each fact.
    lengths: Vec<u32>,
    words: Vec<u64>,
    /// End of the facts of each word in `numbers`.
    word_ends: Vec<usize>,
    /// Ascending for each word.
    numbers: Vec<u32>,
}

/// A fact with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fact {
    /// The nodes that it joins.
    pub ends: (NodeId, NodeId),
    /// Score, above 0; unbounded.
    pub score: f32,
}

impl Facts {
    /// An index of relations, given by their ends in `graph` and their types; duplicates count once.
    #[must_use]
    pub fn build<'a>(graph: &Graph, relations: impl IntoIterator<Item = (NodeId, NodeId, &'a str)>) -> Self {
        Self::of_sorted(graph, &sorted(graph, relations))
    }

    /// As [`Self::build`], but shares `before`, the facts of a graph with the same nodes and the same labels of their ends, if they are the same.
    pub(crate) fn next<'a>(
        before: Option<&Arc<Self>>,
        graph: &Graph,
        relations: impl IntoIterator<Item = (NodeId, NodeId, &'a str)>,
    ) -> Arc<Self> {
        let all = sorted(graph, relations);
        let same = before.filter(|before| before.are(&all));
        same.map_or_else(|| Arc::new(Self::of_sorted(graph, &all)), Arc::clone)
    }

    /// Whether no end of a fact is among some nodes.
    pub(crate) fn are_apart(&self, by_node: &[bool]) -> bool {
        self.ends.iter().all(|(from, to)| !by_node[from.at()] && !by_node[to.at()])
    }

    /// Whether these are the facts, in their order.
    fn are(&self, all: &[(NodeId, NodeId, &str)]) -> bool {
        let own = self.ends.iter().zip(&self.kinds);
        let own = own.map(|((from, to), kind)| (*from, *to, self.kind_names[*kind as usize].as_str()));
        own.eq(all.iter().copied())
    }

    fn of_sorted(graph: &Graph, all: &[(NodeId, NodeId, &str)]) -> Self {
        let (mut facts, mut spoken) = (Self::default(), Spoken::default());
        let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
        let mut numbers: HashMap<u64, usize, Folded> = HashMap::default();
        let (mut said, mut of_words, mut own) = (Vec::new(), Vec::new(), Vec::new());
        for (number, (from, to, kind)) in (0..u32::MAX).zip(all.iter().copied()) {
            own.clear();
            own.extend_from_slice(spoken.by_node(graph, from));
            own.extend_from_slice(spoken.by_node(graph, to));
            own.extend_from_slice(spoken.by_kind(kind));
            own.sort_unstable();
            own.dedup();
            for word in &own {
                let count = numbers.len();
                of_words.push(*numbers.entry(*word).or_insert(count));
                said.push(number);
            }
            facts.ends.push((from, to));
            facts.lengths.push(u32::try_from(own.len()).unwrap_or(u32::MAX));
            let kind = *kinds.entry(kind).or_insert_with(|| {
                facts.kind_names.push(kind.to_owned());
                u32::try_from(facts.kind_names.len() - 1).unwrap_or(u32::MAX)
            });
            facts.kinds.push(kind);
        }
        let mut sorted = vec![0; said.len()];
        let ends = sort_by_number(&said, &mut sorted, numbers.len(), |at| of_words[at]);
        let mut words: Vec<(u64, usize)> = numbers.into_iter().collect();
        words.sort_unstable();
        for (word, at) in words {
            let begin = at.checked_sub(1).map_or(0, |before| ends[before]);
            facts.words.push(word);
            facts.numbers.extend(&sorted[begin..ends[at]]);
            facts.word_ends.push(facts.numbers.len());
        }
        facts
    }

    /// An index of the `RELATES_TO` slots of a graph, one fact for each pair of nodes.
    #[must_use]
    pub fn of_slots(graph: &Graph) -> Self {
        let Some(relation) = graph.find_relation(RELATION) else { return Self::default() };
        let of = |source: NodeId| {
            graph.slots(source).filter(move |slot| graph.is_of(*slot, relation)).map(move |slot| {
                let target = graph.target(slot);
                let swap = graph.rank(target) < graph.rank(source);
                if swap { (target, source, "") } else { (source, target, "") }
            })
        };
        Self::build(graph, graph.nodes().flat_map(of))
    }

    /// The `most` facts with the greatest scores for a query, then by the external ids of their ends.
    #[must_use]
    pub fn best(&self, query: &str, most: usize) -> Vec<Fact> {
        let mut asked: Vec<u64> = hashes(query).collect();
        asked.sort_unstable();
        asked.dedup();
        let lists: Vec<&[u32]> = asked.iter().map(|word| self.of(*word)).collect();
        #[expect(clippy::cast_precision_loss, reason = "fewer facts than an f64 counts exactly")]
        let rarity = |list: &&[u32]| {
            let (all, spread) = (self.ends.len() as f64, list.len() as f64);
            libm::log(1.0 + (all - spread + 0.5) / (spread + 0.5))
        };
        let rarities: Vec<f64> = lists.iter().map(rarity).collect();
        let mut best = TopK::new(most);
        merge_postings(
            &lists,
            |number| *number,
            |number, met| {
                let shared: f64 = met.iter().map(|(word, _)| rarities[*word]).sum();
                let length = f64::from(self.lengths[number as usize]);
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "rounded once, far below the greatest f32"
                )]
                let score = (shared / f64::sqrt(1.0 + LENGTH_SHARE * length)) as f32;
                best.push((score.to_bits(), Reverse(number)));
            },
        );
        let best = best.into_sorted().into_iter();
        best.map(|(score, Reverse(number))| Fact {
            ends: self.ends[number as usize],
            score: f32::from_bits(score),
        })
        .collect()
    }

    fn of(&self, word: u64) -> &[u32] {
        let Ok(at) = self.words.binary_search(&word) else { return &[] };
        let begin = if at == 0 { 0 } else { self.word_ends[at - 1] };
        &self.numbers[begin..self.word_ends[at]]
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<(NodeId, NodeId)>() * self.ends.capacity()
            + 4 * (self.lengths.capacity() + self.numbers.capacity() + self.kinds.capacity())
            + 8 * (self.words.capacity() + self.word_ends.capacity())
    }
}

/// Relations in the order of the external ids of their ends and of their types, each once.
fn sorted<'a>(
    graph: &Graph,
    relations: impl IntoIterator<Item = (NodeId, NodeId, &'a str)>,
) -> Vec<(NodeId, NodeId, &'a str)> {
    let mut all: Vec<(NodeId, NodeId, &str)> = relations.into_iter().collect();
    all.sort_unstable_by_key(|(from, to, kind)| (graph.rank(*from), graph.rank(*to), *kind));
    all.dedup();
    all
}

/// Hashes of the words of labels and types, each read once: a node has many facts.
#[derive(Default)]
struct Spoken<'a> {
    words: Vec<u64>,
    nodes: HashMap<NodeId, Range<usize>, Folded>,
    kinds: BTreeMap<&'a str, Range<usize>>,
}

impl<'a> Spoken<'a> {
    fn by_node(&mut self, graph: &Graph, node: NodeId) -> &[u64] {
        let Self { words, nodes, .. } = self;
        let range = nodes.entry(node).or_insert_with(|| append(words, graph.label(node)));
        &words[range.clone()]
    }

    fn by_kind(&mut self, kind: &'a str) -> &[u64] {
        let Self { words, kinds, .. } = self;
        let range = kinds.entry(kind).or_insert_with(|| append(words, kind));
        &words[range.clone()]
    }
}

/// Appends the hashes of the words of a text and returns where they are.
fn append(words: &mut Vec<u64>, text: &str) -> Range<usize> {
    let begin = words.len();
    words.extend(hashes(text));
    begin..words.len()
}

/// Hashes of the words of a text that count in facts.
fn hashes(text: &str) -> impl Iterator<Item = u64> {
    let folded = fold(text);
    let own: Vec<u64> =
        words(&folded).filter(|word| !is_stop(word)).map(|word| hash(singular(word))).collect();
    own.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::builder::{EdgeRow, GraphBuilder};
    use crate::graph::columns::NodeRow;
    use crate::graph::kinds::{EdgeDirection, NodeType};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn graph(labels: &[String]) -> Graph {
        let mut builder = GraphBuilder::default();
        for (n, label) in labels.iter().enumerate() {
            builder.add_node(NodeRow::new(format!("n{n:02}"), label, NodeType::Concept)).unwrap();
        }
        builder.finalize().unwrap()
    }

    fn content_words(text: &str) -> BTreeSet<String> {
        words(&fold(text)).filter(|word| !is_stop(word)).map(|word| singular(word).to_owned()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn facts_oracle(
            labels in prop::collection::vec("[a-c]{2,4}s?( the)?( [a-c]{2,3})?", 1..10),
            joined in prop::collection::vec((0_usize..10, 0_usize..10, "|WORKS_AT|[a-c]{3}s"), 0..14),
            query in "[a-c]{2,4}s?( [a-c]{2,3}){0,3} works",
        ) {
            let graph = graph(&labels);
            let node = |n: usize| graph.find(&format!("n{:02}", n % labels.len())).unwrap();
            let facts: BTreeSet<(u32, u32, &str)> =
                joined.iter().map(|(a, b, kind)| (graph.rank(node(*a)), graph.rank(node(*b)), kind.as_str())).collect();
            let by_rank: Vec<NodeId> = graph.by_rank().collect();
            let sentences: Vec<BTreeSet<String>> = facts
                .iter()
                .map(|(a, b, kind)| [graph.label(by_rank[*a as usize]), graph.label(by_rank[*b as usize]), kind])
                .map(|texts| texts.into_iter().flat_map(content_words).collect())
                .collect();
            let mut wanted = Vec::new();
            for (fact, sentence) in facts.iter().zip(&sentences) {
                let idf = |word: &String| {
                    let f = sentences.iter().filter(|other| other.contains(word)).count() as f64;
                    (1.0 + (facts.len() as f64 - f + 0.5) / (f + 0.5)).ln()
                };
                let shared: Vec<f64> = content_words(&query).iter().filter(|word| sentence.contains(*word)).map(idf).collect();
                if !shared.is_empty() {
                    let score = shared.iter().sum::<f64>() / (1.0 + 0.3 * sentence.len() as f64).sqrt();
                    wanted.push(((fact.0, fact.1), score));
                }
            }
            let index = Facts::build(&graph, joined.iter().map(|(a, b, kind)| (node(*a), node(*b), kind.as_str())));
            let got = index.best(&query, usize::MAX);
            prop_assert_eq!(got.len(), wanted.len());
            prop_assert!(got.is_sorted_by(|a, b| a.score >= b.score));
            let mut unfound = wanted;
            for fact in &got {
                let ends = (graph.rank(fact.ends.0), graph.rank(fact.ends.1));
                let at = unfound.iter().position(|(other, score)| *other == ends && (score - f64::from(fact.score)).abs() < 1e-5);
                prop_assert!(at.is_some(), "{:?}", fact);
                unfound.swap_remove(at.unwrap());
            }
            prop_assert_eq!(index.best(&query, 2), got.into_iter().take(2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_relation_that_can_be_walked_both_ways_is_one_fact() {
        let mut builder = GraphBuilder::default();
        for label in ["Frank Herbert", "Dune"] {
            builder.add_node(NodeRow::new(label, label, NodeType::Concept)).unwrap();
        }
        let edge = |relation: &str| EdgeRow {
            source: "Frank Herbert".to_owned(),
            target: "Dune".to_owned(),
            relation: relation.to_owned(),
            weight: 0.5,
            direction: EdgeDirection::Bidirectional,
            inhibitory: false,
            causal: None,
        };
        builder.add_edge(&edge(RELATION)).unwrap();
        builder.add_edge(&edge("MENTIONS")).unwrap();
        let graph = builder.finalize().unwrap();
        let facts = Facts::of_slots(&graph);
        assert_eq!(facts.ends, [(graph.find("Dune").unwrap(), graph.find("Frank Herbert").unwrap())]);
        assert_eq!(facts.lengths, [3]);
        assert!(facts.best("?", 2).is_empty());
    }

    #[test]
    fn facts_are_shared_only_if_ends_and_types_are_the_same() {
        let graph = graph(&["a".to_owned(), "b".to_owned(), "c".to_owned()]);
        let [a, b, c] = ["n00", "n01", "n02"].map(|id| graph.find(id).unwrap());
        let before = Arc::new(Facts::build(&graph, [(a, b, "KNOWS"), (b, c, "OWNS")]));
        let is_shared = |relations: &[(NodeId, NodeId, &str)]| {
            let next = Facts::next(Some(&before), &graph, relations.iter().copied());
            Arc::ptr_eq(&before, &next)
        };
        assert!(is_shared(&[(b, c, "OWNS"), (a, b, "KNOWS"), (a, b, "KNOWS")]));
        assert!(!is_shared(&[(a, b, "KNOWS"), (b, c, "KNOWS")]));
        assert!(!is_shared(&[(a, b, "KNOWS"), (c, b, "OWNS")]));
        assert!(!is_shared(&[(a, b, "KNOWS")]) && !is_shared(&[]));
        assert!(!Arc::ptr_eq(&before, &Facts::next(None, &graph, [(a, b, "KNOWS"), (b, c, "OWNS")])));
    }
}
