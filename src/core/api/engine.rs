//! Requests and responses of the engine's mechanisms.
//!
//! Every response has hits with an id, a label, a kind and the score that orders them. Fields of the mechanism follow.

use super::recall::{Contrast, Freshness, GivenSeed, top_k};
use crate::domain::ids::{Scope, Term};
use crate::domain::tier::Tier;
use crate::domain::units::Timestamp;
use ebb_engine::causal::HOPS_MAX;
use ebb_engine::recall::Profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Request to activate nodes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActivateRequest {
    /// Seeds: ids to start from.
    #[schemars(length(max = 200))]
    pub seeds: Vec<GivenSeed>,
    /// Profile: the rule by which activation spreads.
    #[serde(default = "reference")]
    pub profile: Profile,
    /// Maximum number of hops; default that of the profile.
    #[schemars(range(min = 1, max = 20))]
    pub depth: Option<u8>,
    /// Maximum number of nodes.
    #[serde(default = "top_k")]
    #[schemars(range(min = 1, max = 1_000))]
    pub top_k: usize,
    /// Scope of the data.
    pub scope: Option<Scope>,
}

const fn reference() -> Profile {
    Profile::Reference
}

/// Request to rank nodes by PageRank.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageRankRequest {
    /// Seeds of personalised PageRank; empty for global PageRank.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub seeds: Vec<GivenSeed>,
    /// Maximum number of nodes.
    #[serde(default = "top_k")]
    #[schemars(range(min = 1, max = 1_000))]
    pub top_k: usize,
    /// Scope of the data.
    pub scope: Option<Scope>,
}

/// Response of a mechanism of the engine.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EngineAnswer {
    /// Generation of the graph that answered.
    pub generation: u64,
    /// Freshness of the data.
    #[serde(flatten)]
    pub freshness: Freshness,
    /// Whether the result is truncated; the flags that end in truncated name the part.
    pub truncated: bool,
    /// Hits, best first.
    pub hits: Vec<EngineHit>,
    /// Given seeds that are not in the graph.
    pub unknown_seeds: Vec<String>,
    /// Flags of a truncated or not converged result.
    pub flags: Vec<&'static str>,
    /// Number of relationships read, each direction counted.
    pub slots_read: u64,
    /// Number of nodes reached.
    pub nodes_touched: u64,
}

/// A node with its score.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct EngineHit {
    /// The node.
    #[serde(flatten)]
    pub node: EngineNode,
    /// Activation, or PageRank.
    pub score: f32,
}

/// State of the graph that answered, and the flags of the response.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EngineState {
    /// Generation of the graph that answered.
    pub generation: u64,
    /// Freshness of the data.
    #[serde(flatten)]
    pub freshness: Freshness,
    /// Whether the result is truncated; the flags that end in truncated name the part.
    pub truncated: bool,
    /// Flags of a truncated, partial or not converged result.
    pub flags: Vec<&'static str>,
    /// Given ids that are not in the graph.
    pub unknown_seeds: Vec<String>,
}

/// A node.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EngineNode {
    /// Id; for an entity its name.
    pub id: String,
    /// Display text.
    pub label: String,
    /// Label of the node in the graph.
    pub kind: String,
}

/// Most nodes of a neighbourhood.
pub const AROUND_MAX: usize = 200;
/// Most relationships between a node and the nodes around it.
pub const AROUND_DEPTH_MAX: u8 = 3;

/// Request for the nodes around some nodes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AroundRequest {
    /// Ids of the nodes; for an entity its name.
    #[schemars(length(min = 1, max = AROUND_MAX))]
    pub ids: Vec<Term>,
    /// Maximum number of nodes, with these.
    #[serde(default = "around_limit")]
    #[schemars(range(min = 1, max = AROUND_MAX))]
    pub limit: usize,
    /// Maximum number of relationships from the nearest of these nodes; with 0 only these nodes.
    #[serde(default = "around_depth")]
    #[schemars(range(min = 0, max = AROUND_DEPTH_MAX))]
    pub depth: u8,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the energies; default now.
    pub at: Option<Timestamp>,
}

const fn around_limit() -> usize {
    60
}

const fn around_depth() -> u8 {
    2
}

/// The nodes around some nodes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AroundAnswer {
    /// State of the graph that answered.
    #[serde(flatten)]
    pub state: EngineState,
    /// The requested nodes, then the others: the nearest first, then the most strongly joined.
    pub nodes: Vec<AroundNode>,
    /// Relationships among them, strongest first; one that holds in both directions appears once.
    pub edges: Vec<AroundEdge>,
}

/// A node of a neighbourhood.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AroundNode {
    /// The node.
    #[serde(flatten)]
    pub node: EngineNode,
    /// Number of relationships between it and the nearest of the requested nodes.
    pub hops: u8,
    /// Tier of a memory.
    pub tier: Option<Tier>,
    /// Energy of a memory at the requested instant; null before its last access or change, where it is not known.
    pub energy: Option<f64>,
    /// Instant of the creation of a memory.
    pub created: Option<Timestamp>,
    /// Whether it is a pinned memory.
    pub pinned: bool,
}

/// A relationship of a neighbourhood.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct AroundEdge {
    /// Id of the node at its start.
    pub from: String,
    /// Id of the node at its end.
    pub to: String,
    /// Type of the relationship.
    #[serde(rename = "type")]
    pub kind: String,
    /// Weight of the relationship.
    pub weight: f32,
}

/// Request to activate nodes and contrast them (XLR).
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct XlrRequest {
    /// Seeds: ids to start from.
    #[schemars(length(max = 200))]
    pub seeds: Vec<GivenSeed>,
    /// Maximum number of nodes.
    #[serde(default = "top_k")]
    #[schemars(range(min = 1, max = 1_000))]
    pub top_k: usize,
    /// Scope of the data.
    pub scope: Option<Scope>,
}

/// Request to follow causal chains.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CausalRequest {
    /// Seeds: ids to start from.
    #[schemars(length(max = 200))]
    pub seeds: Vec<GivenSeed>,
    /// Direction: the effects of the seeds (default), or their causes.
    #[serde(default)]
    pub direction: CausalDirection,
    /// Maximum number of relationships of a chain.
    #[serde(default = "chain_hops")]
    #[schemars(range(min = 1, max = 6))]
    pub depth: u8,
    /// Maximum number of nodes.
    #[serde(default = "top_k")]
    #[schemars(range(min = 1, max = 1_000))]
    pub top_k: usize,
    /// Scope of the data.
    pub scope: Option<Scope>,
}

/// Direction of causal chains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum CausalDirection {
    /// From causes to effects.
    #[default]
    Effects,
    /// From effects to causes.
    Causes,
}

const fn chain_hops() -> u8 {
    HOPS_MAX
}

/// Request to run waves and read them at one frequency.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResonateRequest {
    /// Seeds of the waves: ids with amplitudes.
    #[schemars(length(max = 200))]
    pub seeds: Vec<GivenSeed>,
    /// Frequency of the reading, above 0.
    #[serde(default = "once")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub frequency: f32,
    /// Wavelength at frequency 1, in relationships, above 0; default 16.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub wavelength: Option<f32>,
    /// Maximum number of relationships that a wave crosses.
    #[serde(default = "hops")]
    #[schemars(range(min = 1, max = 10))]
    pub hops: u8,
    /// Maximum number of pulses; default 50,000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub pulses: Option<u32>,
    /// Whether to return the nodes that resonate far from every seed.
    #[serde(default)]
    pub sympathetic: bool,
    /// Maximum number of nodes in each list.
    #[serde(default = "top_k")]
    #[schemars(range(min = 1, max = 1_000))]
    pub top_k: usize,
    /// Scope of the data.
    pub scope: Option<Scope>,
}

/// Request to run waves and read them at all frequencies.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HarmonicsRequest {
    /// Seeds of the waves: ids with amplitudes.
    #[schemars(length(max = 200))]
    pub seeds: Vec<GivenSeed>,
    /// Base frequency of the harmonics, above 0.
    #[serde(default = "once")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub frequency: f32,
    /// Wavelength at frequency 1, in relationships, above 0; default 16.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub wavelength: Option<f32>,
    /// Maximum number of relationships that a wave crosses.
    #[serde(default = "hops")]
    #[schemars(range(min = 1, max = 10))]
    pub hops: u8,
    /// Maximum number of pulses; default 50,000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub pulses: Option<u32>,
    /// Maximum number of nodes for each harmonic.
    #[serde(default = "top_k")]
    #[schemars(range(min = 1, max = 1_000))]
    pub top_k: usize,
    /// Scope of the data.
    pub scope: Option<Scope>,
}

/// Request to find communities.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommunitiesRequest {
    /// Resolution, above 0; above 1 communities get smaller.
    #[serde(default = "once")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub resolution: f32,
    /// Id of a node, to return only its community and its links to others.
    pub node: Option<Term>,
    /// Whether to return all communities with all members, ignoring the limits below.
    #[serde(skip)]
    pub all: bool,
    /// Maximum number of communities.
    #[serde(default = "top_k")]
    #[schemars(range(min = 1, max = 1_000))]
    pub top_k: usize,
    /// Maximum number of members of each; default 5, and 20 for the community of a node.
    #[schemars(range(min = 1, max = 1_000))]
    pub members: Option<usize>,
    /// Scope of the data.
    pub scope: Option<Scope>,
}

impl From<HarmonicsRequest> for ResonateRequest {
    fn from(request: HarmonicsRequest) -> Self {
        let HarmonicsRequest { seeds, frequency, wavelength, hops, pulses, top_k, scope } = request;
        Self { seeds, frequency, wavelength, hops, pulses, sympathetic: false, top_k, scope }
    }
}

const fn once() -> f32 {
    1.0
}

const fn hops() -> u8 {
    10
}

/// Response of XLR.
#[derive(Debug, Serialize, JsonSchema)]
pub struct XlrAnswer {
    /// State of the graph that answered.
    #[serde(flatten)]
    pub state: EngineState,
    /// Activated nodes by score after contrast, then by activation.
    pub hits: Vec<XlrHit>,
    /// Anti-seeds of the contrast.
    pub anti_seeds: Vec<String>,
    /// Number of relationships read by activation, each direction counted.
    pub slots_read: u64,
    /// Number of nodes reached.
    pub nodes_touched: u64,
    /// Number of pulses of both waves.
    pub pulses: u64,
}

/// An activated node with its contrast.
#[derive(Debug, Serialize, JsonSchema)]
pub struct XlrHit {
    /// The node.
    #[serde(flatten)]
    pub node: EngineNode,
    /// Activation after contrast.
    pub score: f32,
    /// Activation before contrast.
    pub activation: f32,
    /// Rank by activation alone, from 1.
    pub was: usize,
    /// Contrast of the node; null if the wave from the seeds did not reach it, which leaves its activation unchanged.
    pub contrast: Option<Contrast>,
}

/// Response of causal chains.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CausalAnswer {
    /// State of the graph that answered.
    #[serde(flatten)]
    pub state: EngineState,
    /// Effects or causes of the seeds by the strength of their chain, strongest first.
    pub hits: Vec<CausalHit>,
    /// Number of nodes that a chain leads to.
    pub nodes_touched: usize,
}

/// A node with the strongest causal chain to it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CausalHit {
    /// The node.
    #[serde(flatten)]
    pub node: EngineNode,
    /// Strength of the chain: the score of its seed, times 0.7 and the causal strength of each relationship.
    pub score: f32,
    /// Ids of the nodes of the chain, the seed first.
    pub path: Vec<String>,
    /// Relationships of the chain, from the seed on.
    pub steps: Vec<CausalStep>,
}

/// A relationship of a causal chain.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CausalStep {
    /// Type of the relationship.
    #[serde(rename = "type")]
    pub kind: String,
    /// Causal strength, 0 to 1.
    pub strength: f32,
}

/// Response of resonance.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ResonateAnswer {
    /// State of the graph that answered.
    #[serde(flatten)]
    pub state: EngineState,
    /// Nodes by amplitude, largest first.
    pub hits: Vec<ResonateHit>,
    /// Sum of the squared amplitudes of all nodes.
    pub energy: f64,
    /// Nodes that resonate far from every seed, with sympathetic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sympathetic: Option<Sympathy>,
    /// Counters of the waves.
    #[serde(flatten)]
    pub waves: WavesRun,
}

/// Oscillation of a node.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ResonateHit {
    /// The node.
    #[serde(flatten)]
    pub node: EngineNode,
    /// Score: the amplitude.
    pub score: f32,
    /// Amplitude.
    pub amplitude: f32,
    /// Phase, 0 to 2 pi.
    pub phase: f64,
    /// Share of the incoming amplitude that is in phase, 0 to 1.
    pub coherence: f32,
    /// Whether the amplitude is at least half of the largest.
    pub antinode: bool,
    /// Whether much amplitude arrived and at most a tenth of it remains.
    pub quiet: bool,
}

/// Nodes that resonate far from every seed: more than two relationships away.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Sympathy {
    /// Nodes by amplitude, largest first.
    pub hits: Vec<Sympathetic>,
    /// Number of such nodes not listed.
    pub left_out: usize,
    /// Number of nodes that no wave reached.
    pub unreached: usize,
}

/// A node that resonates far from every seed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Sympathetic {
    /// Oscillation of the node.
    #[serde(flatten)]
    pub swing: ResonateHit,
    /// Whether its community contains no seed.
    pub cross_region: bool,
}

/// Counters of the waves.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WavesRun {
    /// Number of nodes reached.
    pub nodes_touched: usize,
    /// Number of pulses followed.
    pub pulses: u64,
    /// Sum of the squared amplitudes of pulses dropped because the budget was spent.
    pub dropped_energy: f64,
}

/// Response of harmonics.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HarmonicsAnswer {
    /// State of the graph that answered.
    #[serde(flatten)]
    pub state: EngineState,
    /// Harmonics, at most five: a phase shift is at most half a turn for each relationship.
    pub harmonics: Vec<Harmonic>,
    /// Nodes with the greatest amplitude at each harmonic, by harmonic, then by amplitude.
    pub hits: Vec<HarmonicsHit>,
    /// Sweep over all distinct frequencies; higher ones are mirror images.
    pub sweep: Vec<SweepStep>,
    /// Counters of the waves.
    #[serde(flatten)]
    pub waves: WavesRun,
}

/// A multiple of the base frequency.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Harmonic {
    /// Number of the harmonic, from 1.
    pub harmonic: u8,
    /// Frequency of the harmonic.
    pub frequency: f64,
    /// Sum of the squared amplitudes of all nodes.
    pub energy: f64,
    /// Number of nodes whose greatest amplitude is at this harmonic, the lowest of equal ones.
    pub nodes: usize,
}

/// Response of a node to the harmonics.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HarmonicsHit {
    /// The node.
    #[serde(flatten)]
    pub node: EngineNode,
    /// Amplitude at its harmonic.
    pub score: f32,
    /// Harmonic with its greatest amplitude.
    pub harmonic: u8,
    /// Amplitude at each harmonic.
    pub amplitudes: Vec<f32>,
}

/// A frequency of a sweep.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SweepStep {
    /// Frequency of the step.
    pub frequency: f64,
    /// Number of relationships in a period; null at frequency 0.
    pub period: Option<f64>,
    /// Sum of the squared amplitudes of all nodes.
    pub energy: f32,
    /// Whether the energy is greater than at the two neighbouring frequencies.
    pub resonant: bool,
}

/// Response of communities.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommunitiesAnswer {
    /// State of the graph that answered.
    #[serde(flatten)]
    pub state: EngineState,
    /// Modularity: at resolution 1 from -0.5 to 1, and 0 in a graph without relationships.
    pub modularity: f64,
    /// Number of communities.
    pub count: usize,
    /// Number of communities with one node.
    pub alone: usize,
    /// Number of levels of the algorithm.
    pub levels: u32,
    /// Listed communities, largest first.
    pub communities: Vec<Community>,
    /// Members of the listed communities, by community, then by PageRank, best first.
    pub hits: Vec<CommunitiesHit>,
    /// Number of members not listed: of the requested node's community, otherwise of all communities.
    pub left_out: usize,
    /// Nodes with the strongest links between communities, or the requested node alone.
    pub bridges: Vec<Bridge>,
}

/// A community.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Community {
    /// Number of the community; 0 is the largest.
    pub community: u32,
    /// Number of nodes.
    pub size: usize,
}

/// A node with its community.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommunitiesHit {
    /// The node.
    #[serde(flatten)]
    pub node: EngineNode,
    /// PageRank in the whole graph.
    pub score: f32,
    /// Number of its community.
    pub community: u32,
}

/// A node with links to communities.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Bridge {
    /// The node.
    #[serde(flatten)]
    pub node: EngineNode,
    /// Number of its community.
    pub community: u32,
    /// Sum of the weights of its relationships inside its community, each direction counted.
    pub inside: f64,
    /// Sum of the weights of its relationships to other communities.
    pub outside: f64,
    /// Links to other communities, heaviest first.
    pub ties: Vec<CommunityTie>,
}

/// Link between a node and a community.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommunityTie {
    /// Number of the community.
    pub community: u32,
    /// Sum of the weights of the relationships.
    pub weight: f64,
}
