//! What is answered: hits, where each comes from, and what finding them took.

use super::ask::{Ask, Primed};
use crate::Flags;
use crate::activation::paths::Path;
use crate::graph::Graph;
use crate::graph::index::{Generation, NodeId};
use crate::graph::provenance::Provenance;
use crate::plasticity::{Query, QueryMemory};
use crate::seeds::Evidence;
use crate::text::fold::cut;
use crate::xlr::Field;
use serde::Serialize;

/// What of a question is remembered, in bytes: a thousand long ones would take more room than what they say together.
const REMEMBERED_BYTES: usize = 1_024;

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// A name for logs and outcomes, 32 hexadecimal digits; nothing is kept under it.
    pub id: String,
    /// Which state of the scope was asked.
    pub generation: Generation,
    /// The instant up to which that is true, epoch milliseconds; of a file nobody knows.
    pub as_of: Option<i64>,
    /// The best first; of equals the one whose external id comes first.
    pub hits: Vec<Hit>,
    /// Where spreading began, the strongest first.
    pub seeds: Vec<Seed>,
    /// What joined them because it used to come together with them, the strongest first.
    pub primed: Vec<Primed>,
    /// Seeds of the question that the graph does not hold, as they came in.
    pub unknown: Vec<String>,
    /// What contrast was made with, by external id; empty where it was not asked.
    pub anti_seeds: Vec<String>,
    /// What was cut short.
    pub flags: Flags,
    /// What it took.
    pub counters: Counters,
}

impl Recalled {
    /// Has a memory keep the question for those that come after: where spreading began, without what was primed, and what
    /// was found.
    pub fn remember(&self, graph: &Graph, ask: &Ask, memory: &mut QueryMemory) {
        let seeds: Vec<(NodeId, f32)> = self.seeds.iter().map(|seed| (seed.node, seed.score)).collect();
        let activated: Vec<NodeId> = self.hits.iter().map(|hit| hit.node).collect();
        let now_ms = ask.now_ms.or(self.as_of).unwrap_or_default();
        let text = cut(&ask.text, REMEMBERED_BYTES);
        memory.record(graph, &Query { text, seeds: &seeds, activated: &activated, now_ms });
    }
}

/// A node that answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The node, in this generation.
    pub node: NodeId,
    /// What it is known by outside.
    pub id: String,
    /// What people read.
    pub label: String,
    /// What it is called by its type: `Memory`, `Entity`.
    pub kind: String,
    /// By what hits are ordered, above 0; comparable inside one answer only.
    pub score: f32,
    /// How it does by each kind of evidence.
    pub dimensions: Dimensions,
    /// What agreement of three or more kinds of evidence multiplied its score by; 1 with fewer.
    pub bonus: f32,
    /// The strongest way from a seed; none where its text alone speaks for it, or where it is more than five hops away.
    pub route: Option<Route>,
    /// Its place among the memories that pass the filter by their texts, from 1; none beyond the first 200.
    pub text_rank: Option<u32>,
    /// What contrast says of it, if it was asked and waves reached it.
    pub contrast: Option<Field>,
    /// Where it comes from.
    pub provenance: Option<Provenance>,
    /// Whether it lacks relationships because their other ends were not loaded.
    pub partial: bool,
}

/// How a hit does by each kind of evidence, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Dimensions {
    /// What joins it to the seeds.
    pub structural: f32,
    /// How like the question it is called, or what stands with it.
    pub semantic: f32,
    /// How fresh it is for what it is worth, or how it changes with the seeds.
    pub temporal: f32,
    /// How the seeds lead to it as causes, or it to them.
    pub causal: f32,
}

impl From<[f32; 4]> for Dimensions {
    fn from([structural, semantic, temporal, causal]: [f32; 4]) -> Self {
        Self { structural, semantic, temporal, causal }
    }
}

/// A way from a seed to a hit.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// The external ids of its nodes, the seed's first and the hit's last.
    pub ids: Vec<String>,
    /// Its slots, and what arrives; it replays.
    pub path: Path,
}

/// Where spreading began.
#[derive(Debug, Clone, PartialEq)]
pub struct Seed {
    /// The node, in this generation.
    pub node: NodeId,
    /// What the node is known by outside.
    pub id: String,
    /// What people read.
    pub label: String,
    /// Above 0 and up to 1.
    pub score: f32,
    /// What speaks for it.
    pub evidence: Vec<Evidence>,
}

/// What finding took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "RecallCounters"))]
pub struct Counters {
    /// Relationships that were read, each way by itself.
    pub slots_read: u64,
    /// Of these, how many carried something.
    pub useful_slots: u64,
    /// Nodes that passed something on.
    pub rows_touched: u64,
    /// Nodes that were reached.
    pub nodes_touched: u64,
    /// Of these, how many lack relationships for want of room.
    pub partial_nodes: u64,
    /// Places of words that were looked at.
    pub postings_read: u64,
}
