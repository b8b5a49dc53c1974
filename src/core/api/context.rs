//! Requests and responses about context: the memories that answer a question, as text for a prompt.

use super::recall::{Freshness, GivenSeed, RecallRequest, wait_ms};
use crate::domain::ids::{Scope, Term};
use crate::domain::tier::Tier;
use crate::domain::units::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Greatest number of tokens of a text.
pub const TOKENS_MAX: usize = 16_000;

/// Request for the memories that answer a question, as text for a prompt.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextRequest {
    /// The question, in plain words. Without a question, seeds or an embedding, nothing is found.
    #[serde(default)]
    #[schemars(length(max = 65_536))]
    pub text: String,
    /// Embedding of the query, as in a recall.
    #[schemars(length(max = 4_096))]
    pub embedding: Option<Vec<f32>>,
    /// Seeds: ids to start from.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub seeds: Vec<GivenSeed>,
    /// Maximum number of tokens of the text, by an estimate that is rather too high.
    #[serde(default = "max_tokens")]
    #[schemars(range(min = 1, max = 16_000))]
    pub max_tokens: usize,
    /// Order of the memories in the text.
    #[serde(default)]
    pub order: ContextOrder,
    /// Least relevance of a memory of the text, as in a recall: of hits, and of those between two of them.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_relevance: Option<f32>,
    /// Only nodes of these labels, such as Memory.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub kinds: Vec<Term>,
    /// Only memories of these tiers: working, shortTerm, longTerm or expiredWorking; default all of them.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub tiers: Vec<Tier>,
    /// Only nodes accessed since this instant.
    pub since: Option<Timestamp>,
    /// Only memories created in this session.
    pub session: Option<Term>,
    /// Only memories with each of these tags.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub tags: Vec<Term>,
    /// Only memories whose metadata fulfils these conditions, as in a recall.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 16))]
    pub metadata: Map<String, Value>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// A write that the text must include, as in a recall.
    #[schemars(length(max = 128))]
    pub at_least: Option<String>,
    /// How long it is waited for, milliseconds, as in a recall.
    #[serde(default = "wait_ms")]
    #[schemars(range(max = 5_000))]
    pub wait_ms: u32,
}

impl ContextRequest {
    /// The recall that finds the memories, and the text that is made of them.
    #[must_use]
    pub fn into_parts(self) -> (RecallRequest, ContextOptions) {
        let Self {
            text,
            embedding,
            seeds,
            max_tokens,
            order,
            min_relevance,
            kinds,
            tiers,
            since,
            session,
            tags,
            metadata,
            ..
        } = self;
        let Self { scope, at_least, wait_ms, .. } = self;
        let recall = RecallRequest {
            text,
            embedding,
            seeds,
            min_relevance,
            kinds,
            tiers,
            since,
            session,
            tags,
            metadata,
            scope,
            at_least,
            wait_ms,
            ..RecallRequest::default()
        };
        (recall, ContextOptions { max_tokens, order })
    }
}

const fn max_tokens() -> usize {
    1_000
}

/// The text that is made of the memories of a recall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextOptions {
    /// Maximum number of tokens of the text, 1 to [`TOKENS_MAX`].
    pub max_tokens: usize,
    /// Order of the memories in the text.
    pub order: ContextOrder,
}

/// Order of the memories in a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextOrder {
    /// The oldest first, as they followed each other.
    #[default]
    Time,
    /// The best first.
    Rank,
}

/// The memories that answer a question, as text for a prompt.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Context {
    /// Id of the recall that found the memories, for outcomes.
    pub recall_id: String,
    /// Generation of the mirror that answered.
    pub generation: u64,
    /// Freshness of the data.
    #[serde(flatten)]
    pub freshness: Freshness,
    /// Whether hits did not fit or were cut, or the search was truncated.
    pub truncated: bool,
    /// A line for each memory: instant of its creation (UTC), id in brackets, content. Further lines of a content are
    /// indented; an empty line stands between sessions.
    pub text: String,
    /// Estimated number of tokens of the text.
    pub tokens: usize,
    /// Memories of the text, in its order.
    pub memories: Vec<ContextMemory>,
    /// Number of hits that did not fit.
    pub omitted: usize,
    /// Given seeds that are not in the mirror.
    pub unknown_seeds: Vec<String>,
    /// Flags of the recall, as in its response.
    pub flags: Vec<&'static str>,
}

/// A memory of the text.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ContextMemory {
    /// Its id.
    pub id: String,
    /// Instant of its creation, if known.
    pub created: Option<Timestamp>,
    /// Session in which it was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Rank among the hits, from 1; null if it is no hit and stands between two hits of its session.
    pub rank: Option<usize>,
    /// Score that orders the hits; comparable inside one response only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
    /// Estimated probability that it is relevant to the question, 0 to 1, as in a recall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance: Option<f32>,
    /// Ids of a path from a seed to the hit; empty if activation did not reach it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// Older hits with the same text, which is not repeated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub duplicates: Vec<Duplicate>,
    /// Whether its content was cut to fit.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// A hit with the text of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Duplicate {
    /// Its id.
    pub id: String,
    /// Instant of its creation, if known.
    pub created: Option<Timestamp>,
}
