//! The section `[engine]`: spreading, evidence and its weights, learning.
//!
//! # Design notes
//! Groups of synonyms replace the fifteen of the default file, as any list does: a word can be in one group only, so
//! with groups that cannot be removed many words could not be given another meaning.

use super::values::{groups, has_twins, map_of, whole};
use ebb_engine::activation::ActivationConfig;
use ebb_engine::causal::CausalConfig;
use ebb_engine::graph;
use ebb_engine::graph::builder::WeightRange;
use ebb_engine::graph::kinds::{CausalTable, Dimension, Kinds, NodeType};
use ebb_engine::graph::number::{DecayFactor, PosF32};
use ebb_engine::plasticity::{LearningMode, PlasticityConfig};
use ebb_engine::recall::{self, EvidenceConfig, RecallQuery, XlrMode};
use ebb_engine::semantic::synonyms::SynonymExpander;
use ebb_engine::temporal::decay::HalfLives;
use ebb_engine::{merge, resonance};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// The kinds of evidence, in the order of [`Dimension::ALL`].
const DIMENSIONS: [&str; 4] = ["structural", "semantic", "temporal", "causal"];
/// The key of the half-life of kinds without one of their own.
const OTHERS: &str = "others";

/// The section. The engine checks its numbers when `agreement` builds the parameters from them.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "each field is described in config/default.toml")]
pub struct Config {
    pub text_weight: f64,
    pub vector_weight: f64,
    pub link_weight: f64,
    pub neighbour_weight: f64,
    pub time_weight: f64,
    pub speaker_weight: f64,
    pub date_weight: f64,
    #[serde(deserialize_with = "hits")]
    pub top_k_max: usize,
    #[serde(deserialize_with = "dimensions")]
    pub dimensions: Vec<Dimension>,
    pub xlr: XlrMode,
    pub priming: bool,
    #[serde(deserialize_with = "pulses")]
    pub xlr_pulses: u32,
    #[serde(deserialize_with = "pulses")]
    pub resonance_pulses: u32,
    pub wavelength: f32,
    #[serde(deserialize_with = "seed")]
    pub random_seed: u64,
    pub learn: LearningMode,
    pub learning_rate: f32,
    pub decay_rate: f32,
    #[serde(deserialize_with = "groups")]
    pub synonyms: Vec<Vec<String>>,
    pub weight_floor: f32,
    pub weight_cap: f32,
    pub weights: Weights,
    pub causal: Causal,
    #[serde(deserialize_with = "half_lives")]
    pub half_lives: BTreeMap<String, f32>,
    pub recall: Profile,
    pub reference: Profile,
}

fn hits<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    whole(from, 1, 1_000, "hits")
}

fn pulses<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    whole(from, 1, 10_000_000, "pulses")
}

fn seed<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    whole(from, 0, u32::MAX, "any of them")
}

fn hops<'de, D: Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
    whole(from, 1, 20, "hops")
}

fn dimensions<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Dimension>, D::Error> {
    let given = Vec::deserialize(from).ok().filter(|given| !given.is_empty() && !has_twins(given));
    given.ok_or_else(|| {
        Error::custom(format!("it must be a list of \"{}\", none twice", DIMENSIONS.join("\" or \"")))
    })
}

/// Half-lives in hours, by kind of node: those of named kinds, and of all others.
fn half_lives<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, f32>, D::Error> {
    static KINDS: LazyLock<Vec<&str>> =
        LazyLock::new(|| NodeType::named().filter_map(NodeType::name).chain([OTHERS]).collect());
    map_of(from, &KINDS)
}

/// The section `[engine.weights]`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[expect(missing_docs, reason = "each field is described in config/default.toml")]
pub struct Weights {
    pub structural: f32,
    pub semantic: f32,
    pub temporal: f32,
    pub causal: f32,
}

/// The section `[engine.causal]`. Its names and strengths are checked when the table is built.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "each field is described in config/default.toml")]
pub struct Causal {
    #[serde(deserialize_with = "relations")]
    pub causes: Vec<String>,
    #[serde(deserialize_with = "relations")]
    pub caused_by: Vec<String>,
}

fn relations<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let rule = "it must be a list of names, none twice, with \"=\" and a share above 0, up to 1, or without";
    Vec::deserialize(from).map_err(|_| Error::custom(rule))
}

/// The sections `[engine.recall]` and `[engine.reference]`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[expect(missing_docs, reason = "each field is described in config/default.toml")]
pub struct Profile {
    pub threshold: f32,
    pub decay: f32,
    pub cap: f32,
    #[serde(deserialize_with = "hops")]
    pub max_depth: u8,
}

impl Weights {
    const fn of(self) -> [f32; 4] {
        [self.structural, self.semantic, self.temporal, self.causal]
    }
}

impl Profile {
    fn over(self, params: ActivationConfig) -> Result<ActivationConfig, graph::Error> {
        let Self { threshold, decay, cap, max_depth } = self;
        Ok(ActivationConfig { threshold, decay: DecayFactor::new(decay)?, max_depth, cap, ..params })
    }
}

impl Config {
    /// The parameters of recall, with defaults for what a request omits.
    ///
    /// # Errors
    /// For a number outside its range, or a word in two groups.
    pub fn rules(&self) -> Result<recall::RecallConfig, ebb_engine::Error> {
        let (recall, reference) =
            (self.recall.over(ActivationConfig::RECALL)?, self.reference.over(ActivationConfig::REFERENCE)?);
        let fusion = recall::FusionWeights {
            text: self.text_weight,
            vectors: self.vector_weight,
            links: self.link_weight,
            neighbours: self.neighbour_weight,
            time: self.time_weight,
            speaker: self.speaker_weight,
            date: self.date_weight,
        };
        let rules = recall::RecallConfig::new(recall, reference, fusion, self.top_k_max)?;
        let weighing = EvidenceConfig {
            weights: merge::DimensionWeights::new(self.weights.of())?,
            half_lives: self.half_lives()?,
            causal: CausalConfig::default(),
            synonyms: Arc::new(SynonymExpander::new(&self.synonyms)?),
            random_seed: self.random_seed,
            pulses: self.xlr_pulses,
            waves: self.resonance()?,
        };
        Ok(rules.with_evidence(weighing).with_default_query(self.usual()))
    }

    /// The kinds of relationships, with the causal ones.
    ///
    /// # Errors
    /// For a name that is given twice, or a strength outside its range.
    pub fn kinds(&self) -> Result<Kinds, graph::Error> {
        Ok(Kinds::new(CausalTable::new(&self.causal.causes, &self.causal.caused_by)?))
    }

    /// The range of effective weights.
    pub fn range(&self) -> Result<WeightRange, graph::Error> {
        WeightRange { floor: self.weight_floor, cap: self.weight_cap }.checked()
    }

    /// The rates of learning and decay.
    pub fn plasticity(&self) -> Result<PlasticityConfig, graph::Error> {
        PlasticityConfig::new(self.learning_rate, self.decay_rate)
    }

    /// The reach of waves, and how they are read.
    pub fn resonance(&self) -> Result<resonance::ResonanceConfig, graph::Error> {
        Ok(resonance::ResonanceConfig {
            wavelength: PosF32::new(self.wavelength)?,
            pulse_budget: self.resonance_pulses,
            max_hops: resonance::HOPS_MAX,
        })
    }

    fn usual(&self) -> RecallQuery {
        RecallQuery {
            dimensions: self.dimensions.iter().copied().collect(),
            xlr: self.xlr,
            priming: self.priming,
            ..RecallQuery::default()
        }
    }

    fn half_lives(&self) -> Result<HalfLives, graph::Error> {
        let others = PosF32::new(self.half_lives.get(OTHERS).copied().unwrap_or_default())?;
        let mut own = Vec::new();
        for (kind, hours) in &self.half_lives {
            if let Some(node_type) = NodeType::of_name(kind) {
                own.push((node_type, PosF32::new(*hours)?));
            }
        }
        Ok(HalfLives::new(others, own))
    }
}
