//! Requests and responses about recall, and about the in-memory mirrors that answer it.

use crate::domain::ids::{Scope, Term};
use crate::domain::tier::Tier;
use crate::domain::units::Timestamp;
use ebb_engine::graph::kinds::Dimension;
use ebb_engine::graph::provenance::Provenance;
use ebb_engine::recall::{Dimensions, PrimedNode, Profile, RecallCounters, SeedMass, Spread, XlrMode};
use ebb_engine::seeds::Evidence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub use ebb_engine::xlr::Contrast;

/// Request to recall memories.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecallRequest {
    /// The question, in plain words. Without a question, seeds or an embedding, nothing is found.
    #[serde(default)]
    #[schemars(length(max = 65_536))]
    pub text: String,
    /// Embedding of the query, with embedding.dimensions numbers: memories whose embeddings are similar are found, too. A configured embedder embeds the text of a query without one.
    #[schemars(length(max = 4_096))]
    pub embedding: Option<Vec<f32>>,
    /// Seeds: ids to start from, such as the results of a vector index.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub seeds: Vec<GivenSeed>,
    /// Maximum number of hits.
    #[serde(default = "top_k")]
    #[schemars(range(min = 1, max = 1_000))]
    pub top_k: usize,
    /// Least relevance of a hit. Less relevant hits are left out, as are nodes without a text, so that there may be fewer hits or none: then the answer has the flag nothing_relevant.
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
    /// Only memories whose metadata fulfils these conditions: a field and its value, null for a missing field, or bounds such as {"$gte": 2020, "$lt": 2024}. The key is the path of the field, such as user.age.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 16))]
    pub metadata: Map<String, Value>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// A write that the hits must include: `change` of its answer. The recall waits for it, at most wait_ms, which is 1 s over MCP; if that is not enough, the answer has the flag change_not_reached: ask again.
    #[schemars(length(max = 128))]
    pub at_least: Option<String>,
    /// How long it waits for that write, milliseconds.
    #[serde(default = "wait_ms")]
    #[schemars(range(max = 5_000))]
    pub wait_ms: u32,
    /// Profile: the rule by which activation spreads.
    #[serde(default)]
    pub profile: Profile,
    /// Method of spreading from the seeds.
    #[serde(default)]
    pub spread: Spread,
    /// Kinds of evidence to use; default engine.dimensions.
    #[schemars(length(max = 4))]
    pub dimensions: Option<Vec<Dimension>>,
    /// Effect of the contrast with other parts of the graph; default engine.xlr.
    pub xlr: Option<XlrMode>,
    /// Whether to add nodes that were seeds together with these in earlier queries; default engine.priming.
    pub priming: Option<bool>,
    /// Whether a seed keeps its initial value.
    #[serde(default)]
    pub seed_mass: SeedMass,
    /// Whether to rank by the text of memories too.
    #[serde(default = "yes")]
    pub words: bool,
    /// Whether to return the evidence for each seed and the relationships of the path to each hit.
    #[serde(default)]
    pub why: bool,
    /// Whether to return the text of memories, which is read from the database.
    #[serde(default = "yes")]
    pub content: bool,
}

/// A request with the defaults and an empty text.
impl Default for RecallRequest {
    fn default() -> Self {
        Self {
            text: String::new(),
            embedding: None,
            seeds: Vec::new(),
            top_k: top_k(),
            min_relevance: None,
            kinds: Vec::new(),
            tiers: Vec::new(),
            since: None,
            session: None,
            tags: Vec::new(),
            metadata: Map::new(),
            scope: None,
            at_least: None,
            wait_ms: wait_ms(),
            profile: Profile::default(),
            spread: Spread::default(),
            dimensions: None,
            xlr: None,
            priming: None,
            seed_mass: SeedMass::default(),
            words: true,
            why: false,
            content: true,
        }
    }
}

const fn yes() -> bool {
    true
}

pub(super) const fn top_k() -> usize {
    20
}

pub(super) const fn wait_ms() -> u32 {
    1_000
}

/// A seed given by the caller.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenSeed {
    /// Id; for an entity its name.
    pub id: Term,
    /// Score of the seed, above 0 and up to 1.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0))]
    pub score: f32,
}

/// Freshness of a response that the mirror gives.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Freshness {
    /// Number of learned outcomes at the start of the query.
    pub tick_start: u64,
    /// Number of learned outcomes at its end; if it differs, weights changed during the query.
    pub tick_end: u64,
    /// Instant up to which changes of the graph are included.
    pub as_of: Option<Timestamp>,
    /// Milliseconds since the last refresh from the graph.
    pub stale_ms: u64,
    /// Whether a change of the scope is missing that this process has written or seen, or stale_ms exceeds the limit.
    pub stale: bool,
    /// Whether all eligible nodes are in memory; otherwise only the hottest nodes are.
    pub whole: bool,
    /// Share of the eligible nodes that are in memory, 0 to 1.
    pub held_share: f64,
}

impl Freshness {
    /// Freshness of a file with this number of learned outcomes: never stale.
    #[must_use]
    pub const fn of_file(tick: u64) -> Self {
        Self {
            tick_start: tick,
            tick_end: tick,
            as_of: None,
            stale_ms: 0,
            stale: false,
            whole: true,
            held_share: 1.0,
        }
    }
}

/// Response to a recall.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Recall {
    /// Id of the recall, equal for equal queries of the same state; the server does not store it.
    pub recall_id: String,
    /// Generation of the mirror that answered.
    pub generation: u64,
    /// Freshness of the data.
    #[serde(flatten)]
    pub freshness: Freshness,
    /// Whether the result is truncated; the flags that end in truncated name the part.
    pub truncated: bool,
    /// Hits, best first.
    pub hits: Vec<Hit>,
    /// Seeds of the search, strongest first.
    pub seeds: Vec<RecallSeed>,
    /// Nodes added by priming, strongest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub primed: Vec<PrimedNode>,
    /// Given seeds that are not in the mirror.
    pub unknown_seeds: Vec<String>,
    /// Anti-seeds of the contrast, with xlr.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub anti_seeds: Vec<String>,
    /// Flags of a result that is truncated, not converged, without the embedding of its text (embedding_unavailable), without the write of at_least (change_not_reached), without a hit of the relevance that was requested (nothing_relevant), or without memories that did not fit into memory: all of them (vector_index_unavailable) or some (vector_index_limited).
    pub flags: Vec<&'static str>,
    /// Counters of the work done.
    pub counters: RecallCounters,
}

/// A hit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Hit {
    /// Id; for an entity its name.
    pub id: String,
    /// Display text: the name, or the first 200 bytes of a memory.
    pub label: String,
    /// Label of the node in the graph.
    pub kind: String,
    /// Score that orders the hits; comparable inside one response only.
    pub score: f32,
    /// Estimated probability that it is relevant to the question, 0 to 1, by its own text and embedding. Nodes without a text have none, and no node has one if the question has neither a word that counts nor an embedding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance: Option<f32>,
    /// Score by each kind of evidence, 0 to 1.
    pub dimensions: Dimensions,
    /// Factor of the score for agreement of several kinds of evidence.
    pub bonus: f32,
    /// Ids of a path from a seed to the hit, the strongest or else the shortest; empty if activation did not reach it.
    pub path: Vec<String>,
    /// Relationships of the path with their weights, with why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<PathStep>>,
    /// Rank by text among memories, from 1.
    pub text_rank: Option<u32>,
    /// Similarity of its embedding to that of the request, -1 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f32>,
    /// Contrast of the hit, with xlr, if waves reached it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contrast: Option<Contrast>,
    /// Text of the memory, with content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Tags, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Fields that its writer gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// Source of the text, if recorded; its excerpt with content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// Whether it lacks relationships because their other ends did not fit into memory.
    pub partial: bool,
    /// Whether it did not fit into memory itself, and was found by the vector index of the database.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub from_database: bool,
}

/// A relationship of a path.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PathStep {
    /// Type of the relationship.
    #[serde(rename = "type")]
    pub kind: String,
    /// Weight of the relationship.
    pub weight: f32,
}

/// Query for the earlier queries of a scope.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueriesQuery {
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Maximum number of queries, of nodes and of pairs.
    #[serde(default = "top_k")]
    #[schemars(range(min = 1, max = 1_000))]
    pub limit: usize,
}

/// The last recalls of a scope that this process answered.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Queries {
    /// Number of recalls that are kept, at most 1,000.
    pub count: usize,
    /// The recalls, the newest first.
    pub queries: Vec<PastQuery>,
    /// The nodes that were in most of them.
    pub nodes: Vec<QueriedNode>,
    /// The nodes that were seeds together in most of them, which primes later recalls.
    pub pairs: Vec<SeedPair>,
}

/// An earlier recall.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PastQuery {
    /// Its text, at most 1,024 bytes.
    pub text: String,
    /// When it was answered, by the clock of the process.
    pub queried_at: Timestamp,
    /// Its seeds, the strongest first.
    pub seeds: Vec<String>,
    /// Its hits, best first.
    pub activated: Vec<String>,
}

/// A node of earlier recalls.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct QueriedNode {
    /// Id; for an entity its name.
    pub id: String,
    /// Number of recalls in which it was a seed or a hit.
    pub frequency: u32,
    /// Number of recalls in which it was a seed.
    pub seeded: u32,
}

/// Two nodes that were seeds of the same recalls.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SeedPair {
    /// Ids of both, in their order.
    pub ids: [String; 2],
    /// Number of such recalls.
    pub count: u32,
}

/// A seed of the search.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecallSeed {
    /// Its id.
    pub id: String,
    /// Display text.
    pub label: String,
    /// Score, above 0 and up to 1.
    pub score: f32,
    /// Evidence for the seed, with why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Vec<Evidence>>,
}

/// Mirror of a scope in memory.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Mirror {
    /// Scope of the mirror.
    #[schemars(with = "String")]
    pub scope: Scope,
    /// Whether the mirror is loaded.
    pub loaded: bool,
    /// Generation of the mirror.
    pub generation: Option<u64>,
    /// Instant up to which changes of the graph are included.
    pub as_of: Option<Timestamp>,
    /// Milliseconds since the last refresh from the graph.
    pub stale_ms: Option<u64>,
    /// Whether a change of the scope is missing that this process has written or seen, or stale_ms exceeds the limit.
    pub stale: bool,
    /// Whether all eligible nodes are in memory.
    pub whole: Option<bool>,
    /// Share of the eligible nodes that are in memory, 0 to 1.
    pub held_share: Option<f64>,
    /// Number of nodes.
    pub nodes: Option<usize>,
    /// Number of relationships, each direction counted.
    pub slots: Option<usize>,
    /// Size in bytes.
    pub bytes: Option<usize>,
    /// Number of learned outcomes.
    pub tick: Option<u64>,
    /// Number of relationships with learned weights, each direction counted.
    pub learned: Option<usize>,
    /// Number of nodes and relationships skipped because a property has a wrong type.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Generation last saved as a file by this process, if mirrors are saved.
    pub saved_generation: Option<u64>,
    /// Number of failed saves since the process started.
    pub save_failures: u64,
    /// Number of times that learned weights were not saved because saving their graph failed.
    pub learned_saves_skipped: u64,
    /// Whether the mirror is saved.
    #[serde(skip)]
    pub is_saved: bool,
}

impl Mirror {
    /// Mirror of a scope that is not loaded.
    #[must_use]
    pub const fn unloaded(scope: Scope) -> Self {
        Self {
            scope,
            loaded: false,
            generation: None,
            as_of: None,
            stale_ms: None,
            stale: false,
            whole: None,
            held_share: None,
            nodes: None,
            slots: None,
            bytes: None,
            tick: None,
            learned: None,
            skipped: BTreeMap::new(),
            saved_generation: None,
            save_failures: 0,
            learned_saves_skipped: 0,
            is_saved: false,
        }
    }
}
