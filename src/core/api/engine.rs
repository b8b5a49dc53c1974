//! The engine, each mechanism on its own: what it is asked, and what it answers.
//!
//! Every answer has hits with an id, a label, a kind and the score by which they are ordered, whatever else a mechanism says
//! of them.

use super::recall::{Contrast, Freshness, GivenSeed, top_k};
use crate::domain::ids::{Scope, Term};
use ebb_engine::recall::Profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is to be lit.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActivateRequest {
    /// Seeds: ids to start from.
    #[schemars(length(max = 200))]
    pub seeds: Vec<GivenSeed>,
    /// Profile: the rule by which activation spreads.
    #[serde(default = "reference")]
    pub profile: Profile,
    /// Hops at most; that of the profile where nothing is said.
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

/// Who is asked for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageRankRequest {
    /// Ids at which a reader begins again and again; none for everybody's standing.
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

/// What a mechanism of the engine found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EngineAnswer {
    /// Generation of the graph that answered.
    pub generation: u64,
    /// Freshness of the data.
    #[serde(flatten)]
    pub freshness: Freshness,
    /// Whether something was cut short: which flag ends in truncated says what.
    pub truncated: bool,
    /// What was found, the best first.
    pub hits: Vec<EngineHit>,
    /// Seeds that are not there.
    pub unknown_seeds: Vec<String>,
    /// What was cut short, or was still moving when it was taken.
    pub flags: Vec<&'static str>,
    /// Relationships that were read, each way by itself.
    pub slots_read: u64,
    /// Nodes that were reached.
    pub nodes_touched: u64,
}

/// A node and how it does.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct EngineHit {
    /// Which.
    #[serde(flatten)]
    pub node: EngineNode,
    /// How strongly it is lit, or how well it stands.
    pub score: f32,
}

/// Which state was asked, and what is to be known of the answer as a whole.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EngineState {
    /// Generation of the graph that answered.
    pub generation: u64,
    /// Freshness of the data.
    #[serde(flatten)]
    pub freshness: Freshness,
    /// Whether something was cut short: which flag ends in truncated says what.
    pub truncated: bool,
    /// What was cut short, left out, or still moving when it was taken.
    pub flags: Vec<&'static str>,
    /// What was named in the question and is not there.
    pub unknown_seeds: Vec<String>,
}

/// A node.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EngineNode {
    /// Its id; of an entity its name.
    pub id: String,
    /// What people read.
    pub label: String,
    /// Its label in the graph.
    pub kind: String,
}

/// What is to be contrasted.
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

/// Waves that are to be read at one frequency.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResonateRequest {
    /// Ids that waves set out from, each with its amplitude.
    #[schemars(length(max = 200))]
    pub seeds: Vec<GivenSeed>,
    /// At which frequency they are read, above 0.
    #[serde(default = "once")]
    #[schemars(range(min = 0.0))]
    pub frequency: f32,
    /// How many relationships lie from crest to crest at frequency 1, above 0; 16 where nothing is said.
    #[schemars(range(min = 0.0))]
    pub wavelength: Option<f32>,
    /// How many relationships a wave crosses at most.
    #[serde(default = "hops")]
    #[schemars(range(min = 1, max = 10))]
    pub hops: u8,
    /// Maximum number of pulses; default 50,000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub pulses: Option<u32>,
    /// Whether to say what swings along far from every seed.
    #[serde(default)]
    pub sympathetic: bool,
    /// How many nodes at most, of each list.
    #[serde(default = "top_k")]
    #[schemars(range(min = 1, max = 1_000))]
    pub top_k: usize,
    /// Scope of the data.
    pub scope: Option<Scope>,
}

/// Waves that are to be read at all frequencies.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HarmonicsRequest {
    /// Ids that waves set out from, each with its amplitude.
    #[schemars(length(max = 200))]
    pub seeds: Vec<GivenSeed>,
    /// The frequency whose multiples are read, above 0.
    #[serde(default = "once")]
    #[schemars(range(min = 0.0))]
    pub frequency: f32,
    /// How many relationships lie from crest to crest at frequency 1, above 0; 16 where nothing is said.
    #[schemars(range(min = 0.0))]
    pub wavelength: Option<f32>,
    /// How many relationships a wave crosses at most.
    #[serde(default = "hops")]
    #[schemars(range(min = 1, max = 10))]
    pub hops: u8,
    /// Maximum number of pulses; default 50,000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub pulses: Option<u32>,
    /// How many nodes at most, of each harmonic.
    #[serde(default = "top_k")]
    #[schemars(range(min = 1, max = 1_000))]
    pub top_k: usize,
    /// Scope of the data.
    pub scope: Option<Scope>,
}

/// How a graph is to be divided.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommunitiesRequest {
    /// Above 0; above 1 communities get smaller.
    #[serde(default = "once")]
    #[schemars(range(min = 0.0))]
    pub resolution: f32,
    /// Only the community of this id, and how it is joined to others.
    pub node: Option<Term>,
    /// All communities with all their members, whatever is said below.
    #[serde(skip)]
    pub all: bool,
    /// How many communities at most.
    #[serde(default = "top_k")]
    #[schemars(range(min = 1, max = 1_000))]
    pub top_k: usize,
    /// How many members of each at most; 5 where nothing is said, and 20 of the community of a node.
    #[schemars(range(min = 1, max = 1_000))]
    pub members: Option<usize>,
    /// Scope of the data.
    pub scope: Option<Scope>,
}

impl From<HarmonicsRequest> for ResonateRequest {
    fn from(asked: HarmonicsRequest) -> Self {
        let HarmonicsRequest { seeds, frequency, wavelength, hops, pulses, top_k, scope } = asked;
        Self { seeds, frequency, wavelength, hops, pulses, sympathetic: false, top_k, scope }
    }
}

const fn once() -> f32 {
    1.0
}

const fn hops() -> u8 {
    10
}

/// What contrast made of what seeds light up.
#[derive(Debug, Serialize, JsonSchema)]
pub struct XlrAnswer {
    /// State of the graph that answered.
    #[serde(flatten)]
    pub state: EngineState,
    /// What is lit, by what is left of it; of nodes that are left with as much, what was lit more comes first.
    pub hits: Vec<XlrHit>,
    /// What was contrasted with.
    pub anti_seeds: Vec<String>,
    /// Relationships that were read to light it up, each way by itself.
    pub slots_read: u64,
    /// Nodes that were reached.
    pub nodes_touched: u64,
    /// Pulses of both waves.
    pub pulses: u64,
}

/// A node that is lit, and what contrast makes of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct XlrHit {
    /// Which.
    #[serde(flatten)]
    pub node: EngineNode,
    /// What contrast left of its activation.
    pub score: f32,
    /// How strongly it is lit.
    pub activation: f32,
    /// Its place by that alone, from 1.
    pub was: usize,
    /// What contrast says of it; null where the wave from the seeds did not come, which leaves it as it is.
    pub contrast: Option<Contrast>,
}

/// What waves make of the nodes they came to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ResonateAnswer {
    /// State of the graph that answered.
    #[serde(flatten)]
    pub state: EngineState,
    /// By amplitude, the largest first.
    pub hits: Vec<ResonateHit>,
    /// Sum of the squared amplitudes of all nodes.
    pub energy: f64,
    /// With sympathetic: what swings along far from every seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sympathetic: Option<Sympathy>,
    /// How the waves ran.
    #[serde(flatten)]
    pub waves: WavesRun,
}

/// How a node swings.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ResonateHit {
    /// Which.
    #[serde(flatten)]
    pub node: EngineNode,
    /// Its amplitude.
    pub score: f32,
    /// How far it swings.
    pub amplitude: f32,
    /// Where in its turn it is, 0 to 2 pi.
    pub phase: f64,
    /// How much of what came is in step, 0 to 1.
    pub coherence: f32,
    /// Whether it swings at least half as far as the node that swings farthest.
    pub antinode: bool,
    /// Whether much came and next to nothing is left of it.
    pub quiet: bool,
}

/// What swings along far from every seed: more than two relationships away.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Sympathy {
    /// By amplitude, the largest first.
    pub hits: Vec<Sympathetic>,
    /// How many there are beside these.
    pub left_out: usize,
    /// How many nodes no wave came to.
    pub unreached: usize,
}

/// A node that swings along.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Sympathetic {
    /// How it swings.
    #[serde(flatten)]
    pub swing: ResonateHit,
    /// Whether its community is that of no seed.
    pub cross_region: bool,
}

/// How waves ran.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WavesRun {
    /// Nodes that something came to.
    pub nodes_touched: usize,
    /// Pulses that were followed.
    pub pulses: u64,
    /// Sum of the squared amplitudes of pulses that were dropped for want of budget.
    pub dropped_energy: f64,
}

/// At which frequencies nodes swing.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HarmonicsAnswer {
    /// State of the graph that answered.
    #[serde(flatten)]
    pub state: EngineState,
    /// The harmonics there are, at most five: no relationship makes more than half a turn.
    pub harmonics: Vec<Harmonic>,
    /// Who answers most to each, by harmonic, then by amplitude.
    pub hits: Vec<HarmonicsHit>,
    /// All frequencies there are: what lies beyond is their mirror image.
    pub sweep: Vec<SweepStep>,
    /// How the waves ran.
    #[serde(flatten)]
    pub waves: WavesRun,
}

/// A multiple of the frequency that was asked about.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Harmonic {
    /// Which multiple, from 1.
    pub harmonic: u8,
    /// The frequency itself.
    pub frequency: f64,
    /// Sum of the squared amplitudes of all nodes.
    pub energy: f64,
    /// How many nodes answer most to it, of equal ones to the lower.
    pub nodes: usize,
}

/// How a node answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HarmonicsHit {
    /// Which.
    #[serde(flatten)]
    pub node: EngineNode,
    /// How far it swings at its harmonic.
    pub score: f32,
    /// The harmonic it answers most to.
    pub harmonic: u8,
    /// How far it swings at each.
    pub amplitudes: Vec<f32>,
}

/// A frequency of a sweep.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SweepStep {
    /// Which.
    pub frequency: f64,
    /// How many relationships a whole turn takes; null at frequency 0, where nothing turns.
    pub period: Option<f64>,
    /// Sum of the squared amplitudes of all nodes.
    pub energy: f32,
    /// Whether that is above what it is just below and just above this frequency.
    pub resonant: bool,
}

/// Who belongs together.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommunitiesAnswer {
    /// State of the graph that answered.
    #[serde(flatten)]
    pub state: EngineState,
    /// How much more is joined inside communities than chance would have it: at resolution 1 from -0.5 to 1, and 0 where
    /// nobody is joined to anybody.
    pub modularity: f64,
    /// How many communities there are.
    pub count: usize,
    /// How many of them are of one node.
    pub alone: usize,
    /// How many levels it took.
    pub levels: u32,
    /// Those that are told, the largest first.
    pub communities: Vec<Community>,
    /// Members of these, by community, those that stand best first.
    pub hits: Vec<CommunitiesHit>,
    /// How many nodes are not among them: of the one community that was asked about, else of all.
    pub left_out: usize,
    /// Who joins communities to each other most; or the one node that was asked about.
    pub bridges: Vec<Bridge>,
}

/// A community.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Community {
    /// Its number: 0 is the largest.
    pub community: u32,
    /// How many nodes belong to it.
    pub size: usize,
}

/// A node and the community it belongs to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommunitiesHit {
    /// Which.
    #[serde(flatten)]
    pub node: EngineNode,
    /// How well it stands in the whole graph.
    pub score: f32,
    /// Its community.
    pub community: u32,
}

/// A node that is joined to communities.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Bridge {
    /// Which.
    #[serde(flatten)]
    pub node: EngineNode,
    /// Its own community.
    pub community: u32,
    /// What joins it to others of its own: the weights of relationships, each way by itself.
    pub inside: f64,
    /// What joins it to all other communities.
    pub outside: f64,
    /// What joins it to each of these, the most first.
    pub ties: Vec<CommunityTie>,
}

/// What joins a node to a community.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommunityTie {
    /// Which one.
    pub community: u32,
    /// The weights of the relationships that do.
    pub weight: f64,
}
