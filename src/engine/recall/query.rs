//! Queries and configuration of recall.

use crate::activation::Params;
use crate::causal::CausalChainDetector;
use crate::graph;
use crate::graph::builder::within;
use crate::graph::index::{Generation, NodeId};
use crate::graph::kinds::{Dimension, NodeType};
use crate::graph::number::PosF32;
use crate::merge::Weights;
use crate::resonance;
use crate::semantic::synonyms::SynonymExpander;
use crate::temporal::decay::HalfLives;
use crate::xlr::XLR_PULSE_BUDGET;
use crate::{Error, View};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_128;

/// Default seed of random walks.
pub const RANDOM_SEED: u64 = 42;
/// Greatest number of kinds or tiers of a filter.
pub const NAMES_MAX: usize = 64;
/// Greatest length of a text in bytes.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Default weight of the ranking by text relative to that by score.
const TEXT_WEIGHT: PosF32 = PosF32::THREE_QUARTERS;
/// Greatest number of hits that can be configured.
pub const TOP_K_MAX: usize = 1_000;

/// A query.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// Text, at most [`TEXT_BYTES_MAX`] bytes; may be empty.
    pub text: String,
    /// External seeds: external ids with scores in `(0, 1]`.
    pub seeds: Vec<(String, f32)>,
    /// Greatest number of hits, from 1 to the configured maximum.
    pub top_k: usize,
    /// Restricts the hits.
    pub filter: Filter,
    /// Parameters of spreading activation.
    pub profile: Profile,
    /// How connection to the seeds is measured.
    pub spread: Spread,
    /// Use of the ranking by text.
    pub fusion: Fusion,
    /// Dimensions of evidence to use.
    pub dimensions: BTreeSet<Dimension>,
    /// The instant for temporal scores, epoch milliseconds; by default that of the snapshot.
    pub now_ms: Option<i64>,
    /// Use of contrast.
    pub xlr: Xlr,
    /// Whether seeds keep their initial values.
    pub seed_mass: SeedMass,
    /// Whether nodes that were often seeds together with the seeds are added.
    pub priming: bool,
}

impl Default for Ask {
    fn default() -> Self {
        Self {
            text: String::new(),
            seeds: Vec::new(),
            top_k: 20,
            filter: Filter::default(),
            profile: Profile::default(),
            spread: Spread::default(),
            fusion: Fusion::default(),
            dimensions: BTreeSet::from([Dimension::Structural]),
            now_ms: None,
            xlr: Xlr::default(),
            seed_mass: SeedMass::default(),
            priming: false,
        }
    }
}

/// What joined the seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "PrimedNode"))]
pub struct Primed {
    /// Its id.
    pub id: String,
    /// Above 0, up to a tenth of the strongest seed.
    pub score: f32,
}

/// What contrast with other places of the graph does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(inline))]
pub enum Xlr {
    /// Nothing: it is not worked out.
    #[default]
    Off,
    /// What would light up for any question counts for less.
    Gate,
    /// It is told of each hit, and changes nothing.
    Report,
}

/// What becomes of the value that a seed begins with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(inline))]
pub enum SeedMass {
    /// It counts.
    #[default]
    Keep,
    /// It is taken off again: a seed counts for what comes back to it.
    Subtract,
}

/// Restricts the hits. Other nodes still conduct, and can be seeds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Names of types; empty for any. An unknown name matches nothing.
    pub kinds: Vec<String>,
    /// Tiers; empty for any.
    pub tiers: Vec<String>,
    /// Earliest time of the last change, epoch milliseconds; nodes without one are left out.
    pub since: Option<i64>,
    /// Session in which a node was last used.
    pub session: Option<String>,
}

/// By which rule signals spread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(inline))]
pub enum Profile {
    /// Evidence adds up, and neighbours share.
    #[default]
    Recall,
    /// The strongest signal alone counts.
    Reference,
}

/// What it means to be joined to the seeds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(inline))]
pub enum Spread {
    /// To be lit by them.
    #[default]
    Activation,
    /// To be met by a reader who starts at them again and again; costs the whole graph.
    #[serde(rename = "ppr")]
    PersonalPageRank,
}

/// Use of the ranking by text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fusion {
    /// Fused with the ranking by score; also a source of seeds if there are no others.
    #[default]
    Text,
    /// Unused.
    Off,
}

impl Ask {
    pub(super) fn check(&self, config: &Config) -> Result<(), Error> {
        count("text", self.text.len(), 0, TEXT_BYTES_MAX)?;
        count("kinds", self.filter.kinds.len(), 0, NAMES_MAX)?;
        count("tiers", self.filter.tiers.len(), 0, NAMES_MAX)?;
        count("top_k", self.top_k, 1, config.top_k_max)
    }

    /// Id of the query and its result: equal for equal queries of one generation with equal primed nodes.
    pub(super) fn id(&self, generation: Generation, primed: &[Primed]) -> String {
        let mut all = Vec::new();
        let mut put = |part: &[u8]| {
            all.extend_from_slice(&(part.len() as u64).to_le_bytes());
            all.extend_from_slice(part);
        };
        put(&generation.0.to_le_bytes());
        put(self.text.as_bytes());
        put(&[
            self.profile as u8,
            self.spread as u8,
            self.fusion as u8,
            self.xlr as u8,
            self.seed_mass as u8,
        ]);
        put(&self.dimensions.iter().map(|dimension| *dimension as u8).collect::<Vec<u8>>());
        put(&self.now_ms.map_or_else(Vec::new, |now| now.to_le_bytes().to_vec()));
        put(&(self.top_k as u64).to_le_bytes());
        put(&(self.seeds.len() as u64).to_le_bytes());
        for (id, score) in &self.seeds {
            put(id.as_bytes());
            put(&score.to_bits().to_le_bytes());
        }
        let Filter { kinds, tiers, since, session } = &self.filter;
        for list in [kinds, tiers] {
            put(&(list.len() as u64).to_le_bytes());
            list.iter().for_each(|name| put(name.as_bytes()));
        }
        put(&since.map_or_else(Vec::new, |since| since.to_le_bytes().to_vec()));
        put(session.as_deref().map_or(&[], str::as_bytes));
        put(&[u8::from(session.is_some())]);
        if self.priming {
            put(b"priming");
        }
        for one in primed {
            put(one.id.as_bytes());
            put(&one.score.to_bits().to_le_bytes());
        }
        format!("{:032x}", xxh3_128(&all))
    }
}

/// Checks the range of an integer; `name` is used in the error.
fn count(name: &str, value: usize, min: usize, max: usize) -> Result<(), Error> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    #[expect(clippy::cast_precision_loss, reason = "for people to read")]
    let [value, min, max] = [value, min, max].map(|count| count as f64);
    Err(graph::Error::ParameterOutOfRange { name: name.to_owned(), value, min, max }.into())
}

/// A filter, resolved for one view.
pub(super) struct Sieve<'a> {
    filter: &'a Filter,
    types: Vec<NodeType>,
}

impl<'a> Sieve<'a> {
    pub(super) fn of(view: &View, filter: &'a Filter) -> Self {
        Self { filter, types: filter.kinds.iter().filter_map(|kind| view.node_type(kind)).collect() }
    }

    /// Whether every node passes.
    pub(super) fn is_open(&self) -> bool {
        *self.filter == Filter::default()
    }

    pub(super) fn passes(&self, view: &View, node: NodeId) -> bool {
        let (graph, Filter { kinds, tiers, since, session }) = (view.graph(), self.filter);
        (kinds.is_empty() || self.types.contains(&graph.node_type(node)))
            && (tiers.is_empty() || graph.tier(node).is_some_and(|tier| tiers.iter().any(|one| one == tier)))
            && since.is_none_or(|since| graph.last_modified(node).is_some_and(|at| at >= since))
            && session.as_deref().is_none_or(|session| graph.session(node) == Some(session))
    }
}

/// Parameters of [`recall`](super::recall()).
#[derive(Debug, Clone)]
pub struct Config {
    recall: Params,
    reference: Params,
    pub(super) text_weight: PosF32,
    top_k_max: usize,
    pub(super) weighing: Weighing,
    usual: Ask,
}

/// Parameters of the dimensions of evidence, of contrast and of resonance.
#[derive(Debug, Clone)]
pub struct Weighing {
    /// Weights of the dimensions.
    pub weights: Weights,
    /// Half-lives of freshness.
    pub half_lives: HalfLives,
    /// Search for causal chains.
    pub causal: CausalChainDetector,
    /// Groups of synonyms.
    pub synonyms: Arc<SynonymExpander>,
    /// Seed of random walks.
    pub random_seed: u64,
    /// Pulse budget of XLR, half for each wave.
    pub pulses: u32,
    /// Parameters of resonance, which is a separate query.
    pub waves: resonance::Config,
}

impl Default for Weighing {
    fn default() -> Self {
        Self {
            weights: Weights::default(),
            half_lives: HalfLives::default(),
            causal: CausalChainDetector::default(),
            synonyms: Arc::default(),
            random_seed: RANDOM_SEED,
            pulses: XLR_PULSE_BUDGET,
            waves: resonance::Config::default(),
        }
    }
}

impl Default for Config {
    /// The documented defaults.
    fn default() -> Self {
        Self {
            recall: Params::RECALL,
            reference: Params::REFERENCE,
            text_weight: TEXT_WEIGHT,
            top_k_max: TOP_K_MAX,
            weighing: Weighing::default(),
            usual: Ask::default(),
        }
    }
}

impl Config {
    /// Checks the activation parameters of both profiles, the weight of the ranking by text, and the greatest number of hits,
    /// `1 ..= 1,000`.
    ///
    /// # Errors
    /// [`graph::Error::NonFinite`], [`graph::Error::ParameterOutOfRange`].
    pub fn new(recall: Params, reference: Params, text_weight: f32, top_k_max: usize) -> Result<Self, Error> {
        let (least, most) = (f64::from(f32::from_bits(1)), f64::from(f32::MAX));
        let text_weight = PosF32::new(within("text_weight", text_weight, least, most)?)?;
        count("top_k_max", top_k_max, 1, TOP_K_MAX)?;
        let (recall, reference) = (recall.checked()?, reference.checked()?);
        let (weighing, usual) = (Weighing::default(), Ask::default());
        Ok(Self { recall, reference, text_weight, top_k_max, weighing, usual })
    }

    /// Replaces the parameters of evidence.
    #[must_use]
    pub fn with_weighing(self, weighing: Weighing) -> Self {
        Self { weighing, ..self }
    }

    /// Replaces the default query.
    #[must_use]
    pub fn with_usual(self, usual: Ask) -> Self {
        Self { usual, ..self }
    }

    /// The query with defaults for everything that a caller leaves open.
    #[must_use]
    pub const fn usual(&self) -> &Ask {
        &self.usual
    }

    /// The parameters of evidence.
    #[must_use]
    pub const fn weighing(&self) -> &Weighing {
        &self.weighing
    }

    /// The activation parameters of a profile.
    #[must_use]
    pub const fn params(&self, profile: Profile) -> &Params {
        match profile {
            Profile::Recall => &self.recall,
            Profile::Reference => &self.reference,
        }
    }
}
