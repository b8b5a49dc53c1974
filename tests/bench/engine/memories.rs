//! A million memories: what they are called, what they say, when they changed and what joins them. Generated, as the sets
//! are.
//!
//! What joins them is a set of eight edges a node. One in a hundred is a cause, one in a thousand says that two were used in
//! one session, and all others are plain. What a memory says is what it and two others are called.

use crate::random::SplitMix64;
use crate::sets::{Set, Shape, id, labels};
use ebb_engine::graph::builder::GraphBuilder;
use ebb_engine::graph::columns::NodeRow;
use ebb_engine::graph::index::NodeId;
use ebb_engine::graph::kinds::{EdgeDirection, NodeType};
use ebb_engine::graph::snapshot::{SkippedCounts, Snapshot};
use ebb_engine::text::ranking::TextIndex;
use ebb_engine::{Texts, View};
use std::sync::Arc;

/// The instant at which they are asked about, epoch milliseconds.
pub(crate) const NOW: i64 = 1_700_000_000_000;
const HOUR: i64 = 3_600_000;

/// Seeds that are given with each question.
const SEEDS: usize = 3;
/// Words of a name that a question asks for, at least: shorter ones are many memories'.
const WORDS_MIN: usize = 3;

/// What is asked: the name of somebody, and seeds with their scores.
pub(crate) type Question = (String, Vec<(NodeId, f32)>);

/// Memories, in the order of the set.
pub(crate) struct Memories {
    pub(crate) labels: Vec<String>,
    pub(crate) contents: Vec<String>,
    pub(crate) view: View,
}

impl Memories {
    pub(crate) fn of(set: &Set) -> Self {
        let labels = labels(set.nodes as usize);
        let another = |at: usize, times: usize| labels[(at * times + 5) % labels.len()].as_str();
        let content = |at: usize| [labels[at].as_str(), another(at, 7), another(at, 13)].join(", ");
        let contents: Vec<String> = (0..labels.len()).map(content).collect();
        let (mut builder, mut random) = (GraphBuilder::default(), SplitMix64(set.seed ^ 0x2b));
        let mut staged = Vec::with_capacity(labels.len());
        for (node, label) in (0..).zip(&labels) {
            // Of the last four months, and up to twice a day.
            let age = i64::try_from(random.below(3_000)).unwrap_or(0) * HOUR;
            let row = NodeRow {
                last_modified: Some(NOW - age),
                change_frequency: 2.0 * random.unit(),
                ..NodeRow::new(id(node), label.as_str(), NodeType::MEMORY)
            };
            staged.push(builder.add_node(row).expect("a memory of its own"));
        }
        let kinds = ["LEADS_TO", "CALLS", "COACTIVATED"]
            .map(|relation| builder.kind(relation, EdgeDirection::Forward, false));
        for (at, edge) in set.edges.iter().enumerate() {
            let kind = match at % 1_000 {
                0 => kinds[2],
                draw if draw % 100 == 1 => kinds[1],
                _ => kinds[0],
            };
            let (source, target) = (staged[edge.source as usize], staged[edge.target as usize]);
            builder.connect(source, target, kind, Shape::PLAIN.weight(edge.unit)).expect("an edge");
        }
        let graph = builder.finalize().expect("a graph");
        let mut index = TextIndex::default();
        let ids: Vec<String> = (0..set.nodes).map(id).collect();
        index.add(ids.iter().map(String::as_str).zip(contents.iter().map(String::as_str))).expect("memories");
        let snapshot = Snapshot { graph, as_of: Some(NOW), skipped: SkippedCounts::default() };
        let texts = Texts { index: Arc::new(index), ..Texts::default() };
        let view = View::new(snapshot, texts, [] as [(NodeId, NodeId, &str); 0]);
        Self { labels, contents, view }
    }

    /// Questions: what some memory is called, and three others that somebody found.
    pub(crate) fn questions(&self, count: usize) -> Vec<Question> {
        let (mut random, mut questions) = (SplitMix64(23), Vec::new());
        let all = self.labels.len() as u64;
        let mut draw = || usize::try_from(random.below(all)).unwrap_or(0);
        while questions.len() < count {
            let name = &self.labels[draw()];
            let others: Vec<String> = (0..SEEDS).filter_map(|_| u32::try_from(draw()).ok()).map(id).collect();
            let node = |id: &String| self.view.graph().find(id).expect("a memory");
            let mut seeds: Vec<NodeId> = others.iter().map(node).collect();
            seeds.sort_unstable();
            seeds.dedup();
            if name.split(['_', ' ']).count() >= WORDS_MIN {
                let scored = seeds.into_iter().zip([1.0, 0.8, 0.6]).collect();
                questions.push((name.clone(), scored));
            }
        }
        questions
    }
}
