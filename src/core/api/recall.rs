//! Recall: a question, what came back to mind and why, and what is held in memory to answer from.

use crate::domain::ids::{Scope, Term};
use crate::domain::units::Timestamp;
use ebb_engine::graph::kinds::Dimension;
use ebb_engine::graph::provenance::Provenance;
use ebb_engine::recall::{Dimensions, PrimedNode, Profile, RecallCounters, SeedMass, Spread, XlrMode};
use ebb_engine::seeds::Evidence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use ebb_engine::xlr::Contrast;

/// A question.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecallRequest {
    /// The question, in words.
    #[serde(default)]
    #[schemars(length(max = 65_536))]
    pub text: String,
    /// Ids to begin at, such as what a vector index found.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub seeds: Vec<GivenSeed>,
    /// How many hits at most.
    #[serde(default = "top_k")]
    #[schemars(range(min = 1, max = 1_000))]
    pub top_k: usize,
    /// Only nodes of these labels, such as Memory.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub kinds: Vec<Term>,
    /// Only memories of these tiers.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub tiers: Vec<Term>,
    /// Only what was used since.
    pub since: Option<Timestamp>,
    /// Only memories made in this session.
    pub session: Option<Term>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Profile: the rule by which activation spreads.
    #[serde(default)]
    pub profile: Profile,
    /// What it means to be joined to the seeds.
    #[serde(default)]
    pub spread: Spread,
    /// Which kinds of evidence are heard; those of engine.dimensions where nothing is said.
    #[schemars(length(max = 4))]
    pub dimensions: Option<Vec<Dimension>>,
    /// What contrast with other places of the graph does; engine.xlr where nothing is said.
    pub xlr: Option<XlrMode>,
    /// Whether nodes join that came with the seeds in earlier questions; engine.priming where nothing is said.
    pub priming: Option<bool>,
    /// Whether a seed keeps the value it begins with.
    #[serde(default)]
    pub seed_mass: SeedMass,
    /// Whether the words of memories count.
    #[serde(default = "yes")]
    pub words: bool,
    /// Whether to say what speaks for each seed, and by which relationships each hit was reached.
    #[serde(default)]
    pub why: bool,
    /// Whether to read what memories say; without it the answer comes from memory alone.
    #[serde(default = "yes")]
    pub content: bool,
}

/// A question in words of which nothing else is said.
impl Default for RecallRequest {
    fn default() -> Self {
        Self {
            text: String::new(),
            seeds: Vec::new(),
            top_k: top_k(),
            kinds: Vec::new(),
            tiers: Vec::new(),
            since: None,
            session: None,
            scope: None,
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

/// An id to begin at.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenSeed {
    /// Its id; of an entity its name.
    pub id: Term,
    /// How much it counts, above 0 and up to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub score: f32,
}

/// How current an answer from memory is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Freshness {
    /// How many outcomes had been learned when the question was begun.
    pub tick_start: u64,
    /// How many when it was done: another number says that weights moved meanwhile.
    pub tick_end: u64,
    /// The instant up to which the graph was seen.
    pub as_of: Option<Timestamp>,
    /// Milliseconds since the graph was last looked at.
    pub stale_ms: u64,
    /// Whether that is longer than is configured.
    pub stale: bool,
    /// Whether everything that may be held is; else only the hottest nodes were searched.
    pub whole: bool,
    /// Nodes that are held divided by nodes that may be, 1 where all are.
    pub held_share: f64,
}

impl Freshness {
    /// That of a file on which so many outcomes were learned: it is what it is.
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

/// An answer of the mirror.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Recall {
    /// A name for it, the same for the same question to the same state; nothing is kept under it.
    pub recall_id: String,
    /// Which state of the mirror was asked.
    pub generation: u64,
    /// Freshness of the data.
    #[serde(flatten)]
    pub freshness: Freshness,
    /// Whether something was cut short: which flag ends in truncated says what.
    pub truncated: bool,
    /// What was found, the best first.
    pub hits: Vec<Hit>,
    /// Where the search began, the strongest first.
    pub seeds: Vec<RecallSeed>,
    /// With priming: what joined them because it came together with them in earlier questions, the strongest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub primed: Vec<PrimedNode>,
    /// Seeds of the question that are not in the mirror.
    pub unknown_seeds: Vec<String>,
    /// With xlr: what was contrasted with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub anti_seeds: Vec<String>,
    /// What was cut short, or was still moving when it was taken.
    pub flags: Vec<&'static str>,
    /// What finding took.
    pub counters: RecallCounters,
}

/// A hit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Hit {
    /// Its id; of an entity its name.
    pub id: String,
    /// What people read: the name, or the first 200 bytes of a memory.
    pub label: String,
    /// Its label in the graph.
    pub kind: String,
    /// By what hits are ordered; comparable inside one answer only.
    pub score: f32,
    /// How it does by each kind of evidence, 0 to 1.
    pub dimensions: Dimensions,
    /// What agreement of several kinds of evidence multiplied its score by.
    pub bonus: f32,
    /// The strongest way from a seed to it, by ids; empty where its words alone speak for it.
    pub path: Vec<String>,
    /// With why: the relationships of that way, and what they weigh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<PathStep>>,
    /// Its place among memories by their words, from 1.
    pub text_rank: Option<u32>,
    /// With xlr: what contrast says of it, if waves reached it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contrast: Option<Contrast>,
    /// With content: what the memory says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Where it comes from, if anybody said.
    pub provenance: Option<Provenance>,
    /// Whether it lacks relationships because there was no room for their other ends.
    pub partial: bool,
}

/// A relationship of a way.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PathStep {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it weighs.
    pub weight: f32,
}

/// Where the search began.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecallSeed {
    /// Its id.
    pub id: String,
    /// What people read.
    pub label: String,
    /// Above 0, up to 1.
    pub score: f32,
    /// With why: what speaks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Vec<Evidence>>,
}

/// What is held of a scope in memory.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Mirror {
    /// Whose.
    #[schemars(with = "String")]
    pub scope: Scope,
    /// Whether it was loaded yet.
    pub loaded: bool,
    /// Which state.
    pub generation: Option<u64>,
    /// The instant up to which the graph was seen.
    pub as_of: Option<Timestamp>,
    /// Milliseconds since the graph was last looked at.
    pub stale_ms: Option<u64>,
    /// Whether that is longer than is configured.
    pub stale: bool,
    /// Whether everything that may be held is.
    pub whole: Option<bool>,
    /// Nodes that are held divided by nodes that may be, 1 where all are.
    pub held_share: Option<f64>,
    /// Nodes.
    pub nodes: Option<usize>,
    /// Relationships, each way by itself.
    pub slots: Option<usize>,
    /// Bytes.
    pub bytes: Option<usize>,
    /// How many outcomes it has learned.
    pub tick: Option<u64>,
    /// For how many relationships, each way by itself, something was learned.
    pub learned: Option<usize>,
    /// What could not be held, since some property is none of its kind: nodes and relationships.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Which state was saved last as a file, if mirror.folder says where.
    pub saved_generation: Option<u64>,
    /// How many saves failed since the process began.
    pub save_failures: u64,
    /// How often what was learned was not saved, since the graph it was learned on could not be.
    pub learned_saves_skipped: u64,
    /// Whether it is saved at all.
    #[serde(skip)]
    pub is_saved: bool,
}

impl Mirror {
    /// That of a scope of which nothing is held yet.
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
