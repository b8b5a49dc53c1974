//! Result of a recall: hits, seeds and counters.

use super::fusion::VectorScale;
use super::query::RecallQuery;
use super::relevance::Relevance;
use crate::Flags;
use crate::activation::paths::Path;
use crate::graph::Graph;
use crate::graph::index::{Generation, NodeId};
use crate::graph::metadata::Metadata;
use crate::graph::provenance::Provenance;
use crate::plasticity::QueryHistory;
use crate::seeds::Evidence;
use crate::text::fold::cut;
use crate::xlr::Contrast;
use serde::Serialize;

/// Bytes of the text of a query that are kept in the history.
const STORED_BYTES: usize = 1_024;

/// Result of a recall.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallResult {
    /// Id of the query and result for logs and outcomes, 32 hexadecimal digits.
    pub id: String,
    /// Generation of the graph.
    pub generation: Generation,
    /// The instant up to which the graph is complete, epoch milliseconds; `None` for a graph from a file.
    pub as_of: Option<i64>,
    /// Hits, the best first, then by external id.
    pub hits: Vec<Hit>,
    /// Estimates the relevance of memories to the query.
    pub relevance: Relevance,
    /// Scale of the similarities, for the scores of memories outside the graph.
    pub scale: VectorScale,
    /// Seeds, the strongest first.
    pub seeds: Vec<Seed>,
    /// Nodes that priming added to the seeds, the strongest first.
    pub primed: Vec<PrimedNode>,
    /// External ids of seeds of the query that the graph does not have.
    pub unknown: Vec<String>,
    /// External ids of the anti-seeds; empty without contrast.
    pub anti_seeds: Vec<String>,
    /// Reasons why the result is incomplete.
    pub flags: Flags,
    /// Work done.
    pub counters: RecallCounters,
}

impl RecallResult {
    /// Records the query of an instant in a history, with its seeds, without primed nodes, and its hits.
    pub fn record_in(&self, graph: &Graph, query: &RecallQuery, now_ms: i64, history: &mut QueryHistory) {
        let seeds: Vec<(NodeId, f32)> = self.seeds.iter().map(|seed| (seed.node, seed.score)).collect();
        let activated: Vec<NodeId> = self.hits.iter().map(|hit| hit.node).collect();
        let text = cut(&query.text, STORED_BYTES);
        history.record(graph, text, &seeds, &activated, now_ms);
    }
}

/// A node of the result.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The node, in this generation.
    pub node: NodeId,
    /// External id.
    pub id: String,
    /// Text for people.
    pub label: String,
    /// Name of the type: `Memory`, `Entity`.
    pub kind: String,
    /// The score by which hits are sorted, above 0; comparable within one result only.
    pub score: f32,
    /// Estimate of the probability that it is relevant to the query, 0 to 1, by its text and its vector; `None` without a text,
    /// and for a query without a word that counts and without a vector.
    pub relevance: Option<f32>,
    /// Scores by dimension.
    pub dimensions: Dimensions,
    /// Factor for agreement of three or more dimensions; 1 with fewer.
    pub bonus: f32,
    /// The strongest path from a seed, or one with the fewest hops if only several signals together reached it; `None` if
    /// none did, and it was found by its text or by another dimension.
    pub route: Option<Route>,
    /// Rank by text among the memories that pass the filter, from 1; `None` beyond the first 200.
    pub text_rank: Option<u32>,
    /// Similarity of its vector to that of the query, -1 to 1; `None` beyond the 200 most similar.
    pub similarity: Option<f32>,
    /// Contrast, if it was enabled and the hot wave reached the node.
    pub contrast: Option<Contrast>,
    /// Tags, in order.
    pub tags: Vec<String>,
    /// Fields that its writer gave it.
    pub metadata: Option<Metadata>,
    /// Source of the node.
    pub provenance: Option<Provenance>,
    /// Whether it lacks relationships because their other ends were not loaded.
    pub partial: bool,
}

/// Scores of a hit by dimension of evidence, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Dimensions {
    /// Connection to the seeds.
    pub structural: f32,
    /// Similarity of its label or its context to the query.
    pub semantic: f32,
    /// Freshness, weighted by relevance, or change together with the seeds.
    pub temporal: f32,
    /// Causal chains from the seeds to it, or from it to them.
    pub causal: f32,
}

impl From<[f32; 4]> for Dimensions {
    fn from([structural, semantic, temporal, causal]: [f32; 4]) -> Self {
        Self { structural, semantic, temporal, causal }
    }
}

/// A path from a seed to a hit.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// External ids of its nodes, from the seed to the hit.
    pub ids: Vec<String>,
    /// Its slots and its arrival, for replay.
    pub path: Path,
}

/// A node at which spreading began.
#[derive(Debug, Clone, PartialEq)]
pub struct Seed {
    /// The node, in this generation.
    pub node: NodeId,
    /// External id.
    pub id: String,
    /// Text for people.
    pub label: String,
    /// Score, in `(0, 1]`.
    pub score: f32,
    /// Matches by which it was found.
    pub evidence: Vec<Evidence>,
}

/// A node added because it was often a seed together with the seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct PrimedNode {
    /// External id.
    pub id: String,
    /// Score, above 0, up to a tenth of the strongest seed.
    pub score: f32,
}

/// Work done by a query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RecallCounters {
    /// Relationships read, each direction counted.
    pub slots_read: u64,
    /// Relationships that carried a signal.
    pub useful_slots: u64,
    /// Nodes that sent a signal.
    pub rows_touched: u64,
    /// Nodes reached.
    pub nodes_touched: u64,
    /// Nodes reached that lack relationships because their other ends were not loaded.
    pub partial_nodes: u64,
    /// Text index postings read.
    pub postings_read: u64,
}
