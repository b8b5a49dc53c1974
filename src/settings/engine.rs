//! The section `[engine]`: how signals spread, what is heard and what it weighs, what is learned.
//!
//! # Design notes
//! Each number is a law of its own to the engine, which is asked about each apart: so every fault is told, each at the key
//! that it is about. Groups of synonyms replace the fifteen that are there: as any list does, and because a word can be in
//! one group only, so beside groups that cannot be taken away many a word could not be given another meaning.

use ebb_engine::activation::ActivationConfig;
use ebb_engine::causal::CausalConfig;
use ebb_engine::graph;
use ebb_engine::graph::builder::WeightRange;
use ebb_engine::graph::kinds::{Dimension, NodeType};
use ebb_engine::graph::number::PosF32;
use ebb_engine::plasticity::{self, PlasticityConfig};
use ebb_engine::recall::{self, EvidenceConfig, RecallQuery, XlrMode};
use ebb_engine::semantic::synonyms::SynonymExpander;
use ebb_engine::temporal::decay::HalfLives;
use ebb_engine::{merge, resonance};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The kinds of evidence, in the order of [`Dimension::ALL`].
pub(super) const DIMENSIONS: [&str; 4] = ["structural", "semantic", "temporal", "causal"];
/// The key of the half-life of kinds that have none of their own.
const OTHERS: &str = "others";

/// The keys of half-lives: the kinds of nodes that have a name, and all others.
pub(super) fn half_life_keys() -> impl Iterator<Item = &'static str> {
    NodeType::named().filter_map(NodeType::name).chain([OTHERS])
}

/// How signals spread, what is heard, and what is learned. Every field is described in `config/default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "each is documented where it is set, in config/default.toml")]
pub struct Config {
    pub text_weight: f32,
    pub top_k_max: usize,
    pub dimensions: Vec<String>,
    pub xlr: Contrast,
    pub priming: bool,
    pub xlr_pulses: u32,
    pub resonance_pulses: u32,
    pub wavelength: f32,
    pub random_seed: u64,
    pub learn: Learn,
    pub learning_rate: f32,
    pub decay_rate: f32,
    pub synonyms: Vec<Vec<String>>,
    pub weight_floor: f32,
    pub weight_cap: f32,
    pub weights: Weights,
    pub half_lives: BTreeMap<String, f32>,
    pub recall: Profile,
    pub reference: Profile,
}

/// What contrast does to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contrast {
    /// Nothing.
    Off,
    /// What would light up for any question counts for less.
    Gate,
    /// It is told, and changes nothing.
    Report,
}

impl From<Contrast> for XlrMode {
    fn from(contrast: Contrast) -> Self {
        match contrast {
            Contrast::Off => Self::Off,
            Contrast::Gate => Self::Gate,
            Contrast::Report => Self::Report,
        }
    }
}

/// What teaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Learn {
    /// What somebody reports to have been of use.
    OnOutcome,
    /// That, and each recall by itself, as if all its hits had been of use.
    Always,
    /// Nothing; what was learned stays as it is.
    Off,
}

impl From<Learn> for plasticity::LearningMode {
    fn from(learn: Learn) -> Self {
        match learn {
            Learn::OnOutcome => Self::OnOutcome,
            Learn::Always => Self::Always,
            Learn::Off => Self::Off,
        }
    }
}

/// What the kinds of evidence weigh.
#[derive(Debug, Clone, Copy, Deserialize)]
#[expect(missing_docs, reason = "each is documented where it is set, in config/default.toml")]
pub struct Weights {
    pub structural: f32,
    pub semantic: f32,
    pub temporal: f32,
    pub causal: f32,
}

impl Weights {
    const fn of(self) -> [f32; 4] {
        [self.structural, self.semantic, self.temporal, self.causal]
    }
}

/// The numbers of a profile.
#[derive(Debug, Clone, Copy, Deserialize)]
#[expect(missing_docs, reason = "each is documented where it is set, in config/default.toml")]
pub struct Profile {
    pub threshold: f32,
    pub decay: f32,
    pub max_depth: u8,
    pub cap: f32,
}

impl Profile {
    const fn over(self, params: ActivationConfig) -> ActivationConfig {
        ActivationConfig {
            threshold: self.threshold,
            decay: self.decay,
            max_depth: self.max_depth,
            cap: self.cap,
            ..params
        }
    }

    /// Its numbers by their keys, each among others that are sound.
    const fn each(self) -> [(&'static str, ActivationConfig); 3] {
        let sound = ActivationConfig::RECALL;
        [
            ("threshold", ActivationConfig { threshold: self.threshold, ..sound }),
            ("decay", ActivationConfig { decay: self.decay, ..sound }),
            ("cap", ActivationConfig { cap: self.cap, ..sound }),
        ]
    }
}

impl Config {
    /// The rules by which questions are answered, and what is usual where a question leaves it open.
    ///
    /// # Errors
    /// For a number outside its range, or a word that means two things.
    pub fn rules(&self) -> Result<recall::RecallConfig, ebb_engine::Error> {
        let (recall, reference) =
            (self.recall.over(ActivationConfig::RECALL), self.reference.over(ActivationConfig::REFERENCE));
        let rules = recall::RecallConfig::new(recall, reference, self.text_weight, self.top_k_max)?;
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

    /// Between what effective weights lie.
    pub fn range(&self) -> Result<WeightRange, graph::Error> {
        WeightRange { floor: self.weight_floor, cap: self.weight_cap }.checked()
    }

    /// How fast is learned and forgotten.
    pub fn plasticity(&self) -> Result<PlasticityConfig, graph::Error> {
        PlasticityConfig::new(self.learning_rate, self.decay_rate)
    }

    /// How far waves run, and how they are read.
    pub fn resonance(&self) -> Result<resonance::ResonanceConfig, graph::Error> {
        Ok(resonance::ResonanceConfig {
            wavelength: PosF32::new(self.wavelength)?,
            pulse_budget: self.resonance_pulses,
            max_hops: resonance::HOPS_MAX,
        })
    }

    fn usual(&self) -> RecallQuery {
        let named = Dimension::ALL.into_iter().zip(DIMENSIONS);
        let heard = named.filter(|(_, name)| self.dimensions.iter().any(|one| one == *name));
        RecallQuery {
            dimensions: heard.map(|(dimension, _)| dimension).collect(),
            xlr: self.xlr.into(),
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

    /// What the engine refuses: the key of each value, and why.
    pub(super) fn refused(&self) -> Vec<(String, String)> {
        let mut refused = Vec::new();
        let mut ask = |key: &str, answer: Result<(), ebb_engine::Error>| {
            refused.extend(answer.err().map(|why| (format!("engine.{key}"), why.to_string())));
        };
        for (name, profile) in [("recall", self.recall), ("reference", self.reference)] {
            for (key, params) in profile.each() {
                ask(&format!("{name}.{key}"), made(params.checked()));
            }
        }
        ask(
            "text_weight",
            recall::RecallConfig::new(
                ActivationConfig::RECALL,
                ActivationConfig::REFERENCE,
                self.text_weight,
                1,
            )
            .map(drop),
        );
        let sound = WeightRange::default();
        ask("weight_floor", made(WeightRange { floor: self.weight_floor, ..sound }.checked()));
        ask("weight_cap", made(WeightRange { cap: self.weight_cap, ..sound }.checked()));
        ask("learning_rate", made(PlasticityConfig::new(self.learning_rate, 0.0)));
        ask("decay_rate", made(PlasticityConfig::new(1.0, self.decay_rate)));
        ask("wavelength", made(PosF32::new(self.wavelength)));
        ask("synonyms", SynonymExpander::new(&self.synonyms).map(drop));
        for (kind, hours) in &self.half_lives {
            ask(&format!("half_lives.{kind}"), made(PosF32::new(*hours)));
        }
        let weights = self.weights.of();
        for (at, name) in DIMENSIONS.into_iter().enumerate() {
            let mut beside = [1.0; 4];
            beside[at] = weights[at];
            ask(&format!("weights.{name}"), made(merge::DimensionWeights::new(beside)));
        }
        // Each may be 0, but not all of them.
        if weights.iter().all(|weight| *weight == 0.0) {
            ask("weights.structural", made(merge::DimensionWeights::new(weights)));
        }
        refused
    }
}

/// Whether something could be made.
fn made<T>(of: Result<T, graph::Error>) -> Result<(), ebb_engine::Error> {
    of.map(drop).map_err(ebb_engine::Error::from)
}
