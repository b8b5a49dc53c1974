//! What can be asked, and by which rules it is answered.

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

/// What chance begins with where nothing else is configured.
pub const RANDOM_SEED: u64 = 42;
/// Kinds or tiers of a filter at most.
pub const NAMES_MAX: usize = 64;
/// How long a question may be, in bytes.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;
/// What the ranking by text counts beside that by score.
const TEXT_WEIGHT: PosF32 = PosF32::THREE_QUARTERS;
/// How many hits anybody may ask for, whatever is configured.
pub const TOP_K_MAX: usize = 1_000;

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// In words, at most [`TEXT_BYTES_MAX`] bytes; may be empty.
    pub text: String,
    /// External ids that somebody else found, with scores above 0 and up to 1.
    pub seeds: Vec<(String, f32)>,
    /// How many hits at most, from 1 to what is configured.
    pub top_k: usize,
    /// Which nodes can be hits.
    pub filter: Filter,
    /// By which rule signals spread.
    pub profile: Profile,
    /// What it means to be joined to the seeds.
    pub spread: Spread,
    /// What is made of the words of memories.
    pub fusion: Fusion,
    /// Which kinds of evidence are heard.
    pub dimensions: BTreeSet<Dimension>,
    /// The instant by which nodes are fresh or old, epoch milliseconds; that of the snapshot where nothing is said.
    pub now_ms: Option<i64>,
    /// What contrast does.
    pub xlr: Xlr,
    /// Whether a seed keeps the value it begins with.
    pub seed_mass: SeedMass,
    /// Whether nodes join that used to come together with the seeds.
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

/// Which nodes can be hits. Others conduct, and can be seeds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// What they are called by their type, one of these; empty for any. What nothing is called matches nothing.
    pub kinds: Vec<String>,
    /// In which tier they are, one of these; empty for any.
    pub tiers: Vec<String>,
    /// When they last changed at the earliest, epoch milliseconds; a node that never did is left out.
    pub since: Option<i64>,
    /// In which session they were last used.
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

/// What is made of the words of memories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fusion {
    /// A ranking of its own, made one with that by score; and seeds, where nothing else finds any.
    #[default]
    Text,
    /// Nothing.
    Off,
}

impl Ask {
    pub(super) fn check(&self, config: &Config) -> Result<(), Error> {
        count("text", self.text.len(), 0, TEXT_BYTES_MAX)?;
        count("kinds", self.filter.kinds.len(), 0, NAMES_MAX)?;
        count("tiers", self.filter.tiers.len(), 0, NAMES_MAX)?;
        count("top_k", self.top_k, 1, config.top_k_max)
    }

    /// A name for it and its answer: what is asked of one generation twice has one, unless other nodes were primed.
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

/// A whole number of a range; `name` stands in the error.
fn count(name: &str, value: usize, min: usize, max: usize) -> Result<(), Error> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    #[expect(clippy::cast_precision_loss, reason = "for people to read")]
    let [value, min, max] = [value, min, max].map(|count| count as f64);
    Err(graph::Error::ParameterOutOfRange { name: name.to_owned(), value, min, max }.into())
}

/// A filter, ready for the nodes of one view.
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

/// By which rules questions are answered.
#[derive(Debug, Clone)]
pub struct Config {
    recall: Params,
    reference: Params,
    pub(super) text_weight: PosF32,
    top_k_max: usize,
    pub(super) weighing: Weighing,
    usual: Ask,
}

/// How kinds of evidence are weighed and found.
#[derive(Debug, Clone)]
pub struct Weighing {
    /// What each weighs.
    pub weights: Weights,
    /// How long nodes stay fresh.
    pub half_lives: HalfLives,
    /// How chains of causes are found.
    pub causal: CausalChainDetector,
    /// Words that mean the same.
    pub synonyms: Arc<SynonymExpander>,
    /// What chance begins with.
    pub random_seed: u64,
    /// Pulses of contrast at most, half for either wave.
    pub pulses: u32,
    /// How far waves run that are asked for by themselves.
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
    /// The documented numbers.
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
    /// Checked: how signals spread in either profile, what the ranking by text counts beside that by score, and how many
    /// hits may be asked for, `1 ..= 1,000`.
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

    /// The same with other ways to weigh and find evidence.
    #[must_use]
    pub fn with_weighing(self, weighing: Weighing) -> Self {
        Self { weighing, ..self }
    }

    /// The same with another answer to what a caller leaves open.
    #[must_use]
    pub fn with_usual(self, usual: Ask) -> Self {
        Self { usual, ..self }
    }

    /// A question of which nothing is said yet: what is heard, and how, where a caller leaves it open.
    #[must_use]
    pub const fn usual(&self) -> &Ask {
        &self.usual
    }

    /// How kinds of evidence are weighed and found.
    #[must_use]
    pub const fn weighing(&self) -> &Weighing {
        &self.weighing
    }

    /// How signals spread in a profile.
    #[must_use]
    pub const fn params(&self, profile: Profile) -> &Params {
        match profile {
            Profile::Recall => &self.recall,
            Profile::Reference => &self.reference,
        }
    }
}
