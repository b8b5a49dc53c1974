//! Response to the question why a memory is not among the hits of a recall.

use super::memory::Memory;
use super::recall::PathStep;
use crate::domain::ids::Scope;
use crate::domain::units::Timestamp;
use ebb_engine::recall::Dimensions;
use schemars::JsonSchema;
use serde::Serialize;

/// The first reason that holds, in the order in which a memory is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum LossReason {
    /// Nothing is stored under the id in the scope, and no deletion is recorded.
    NotStored,
    /// It was deleted on request.
    Forgotten,
    /// It is the record that a promotion left of another memory.
    Stub,
    /// Its row is quarantined.
    Quarantined,
    /// It is a row of another library that is hidden, or not live for its library.
    NotLive,
    /// It has expired, and expired memories are not searched or there was no question.
    Expired,
    /// It was written after the state of the mirror that answered.
    NotYetHeld,
    /// The mirror does not hold it.
    NotHeld,
    /// Conditions of the request exclude it.
    Excluded,
    /// Nothing of the question leads to it.
    NoEvidence,
    /// Other nodes rank higher.
    Outranked,
    /// It is less relevant than the request wants (min_relevance).
    NotRelevant,
    /// It is a hit.
    Hit,
    /// It can be found; there was no question.
    Searchable,
}

/// Why a memory is not among the hits of a recall, and what would change that. Parts that were not checked are null or empty.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WhyNot {
    /// Id of the memory.
    pub id: String,
    /// Scope that was searched.
    #[schemars(with = "String")]
    pub scope: Scope,
    /// First reason that holds.
    pub reason: LossReason,
    /// The reason with its figures, a sentence each.
    pub because: Vec<String>,
    /// Changes by which it would be a hit, or would still be live.
    pub remedies: Vec<Remedy>,
    /// The memory as it is stored now.
    pub memory: Option<Memory>,
    /// Instant of its deletion, if it was forgotten.
    pub forgotten_at: Option<Timestamp>,
    /// Memory of which it is the record, if it is a stub.
    pub stub_of: Option<String>,
    /// Its expiry, if it has expired.
    pub expiry: Option<Expiry>,
    /// The mirror that was searched.
    pub mirror: Option<MirrorSearched>,
    /// Conditions of the request that it does not fulfil.
    pub excluded_by: Vec<&'static str>,
    /// Its place in the ranking.
    pub ranking: Option<RankComparison>,
    /// Flags of the recall, as in its response.
    pub flags: Vec<&'static str>,
}

/// A change that would have helped.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Remedy {
    /// The change, in a sentence.
    pub text: String,
    /// Name of the setting to change, if it is one.
    pub setting: Option<&'static str>,
    /// Its present value.
    pub value: Option<f64>,
    /// The value that would suffice.
    pub needed: Option<f64>,
}

/// How a memory expired.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Expiry {
    /// Instant of the pass that marked it as expired.
    pub expired_at: Option<Timestamp>,
    /// Instant at which its energy fell below the threshold; null if it is not known.
    pub crossed_at: Option<Timestamp>,
    /// The threshold, memory.expiryThreshold.
    pub threshold: f64,
    /// Half-life of its energy, hours.
    pub half_life_hours: Option<f64>,
    /// Instant of the last access.
    pub last_accessed: Timestamp,
    /// Energy after the last access; null if the recorded accesses do not explain its energy.
    pub energy_then: Option<f64>,
}

/// The mirror that was searched.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MirrorSearched {
    /// Its generation.
    pub generation: u64,
    /// Instant up to which changes of the graph are included.
    pub as_of: Timestamp,
    /// Whether all eligible nodes are in memory.
    pub whole: bool,
    /// Share of the eligible nodes that are in memory, 0 to 1.
    pub held_share: f64,
    /// Whether it holds the memory.
    pub holds: bool,
}

/// The place of a memory in the ranking of a recall.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RankComparison {
    /// Maximum number of hits of the request.
    pub top_k: usize,
    /// Number of nodes that were ranked, at most 1,000.
    pub ranked: usize,
    /// Words of the question that count.
    pub words: Vec<QuestionWord>,
    /// Number of seeds from which activation spread.
    pub seeds: usize,
    /// The memory, if it was ranked.
    pub own: Option<RankEvidence>,
    /// The last hit of the request.
    pub last: Option<RankEvidence>,
}

/// A word of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QuestionWord {
    pub word: String,
    /// Whether the text of the memory has it, in any form.
    pub in_text: bool,
}

/// The evidence about a ranked node.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RankEvidence {
    pub id: String,
    /// Rank among all nodes that were found, from 1: the top_k that shows it.
    pub rank: usize,
    pub score: f32,
    /// Estimated probability that it is relevant to the question, 0 to 1, as in a recall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance: Option<f32>,
    /// Rank by text among memories, from 1; null beyond the first 200.
    pub text_rank: Option<u32>,
    /// Similarity of its embedding to that of the question; null if they were not compared, or beyond the 200 most similar.
    pub similarity: Option<f32>,
    /// Score by each kind of evidence, 0 to 1.
    pub dimensions: Dimensions,
    /// Ids of the path from a seed; empty if activation did not reach it.
    pub path: Vec<String>,
    /// Relationships of the path with their weights.
    pub steps: Vec<PathStep>,
}
