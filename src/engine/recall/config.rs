//! Configuration of recall.

use super::query::{Profile, RecallQuery, check_count};
use crate::Error;
use crate::activation::ActivationConfig;
use crate::causal::CausalConfig;
use crate::graph::builder::within;
use crate::merge::DimensionWeights;
use crate::resonance::ResonanceConfig;
use crate::semantic::synonyms::SynonymExpander;
use crate::temporal::decay::HalfLives;
use crate::xlr::XLR_PULSE_BUDGET;
use std::sync::Arc;

/// Default seed of random walks.
pub const RANDOM_SEED: u64 = 42;
/// Greatest number of hits that can be configured.
pub const TOP_K_MAX: usize = 1_000;

/// Parameters of [`recall`](super::recall()).
#[derive(Debug, Clone)]
pub struct RecallConfig {
    recall: ActivationConfig,
    reference: ActivationConfig,
    pub(super) fusion: FusionWeights,
    pub(super) top_k_max: usize,
    pub(super) evidence: EvidenceConfig,
    default_query: RecallQuery,
}

/// Weights of the kinds of evidence in a fused ranking, each at least 0; 0 leaves it out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FusionWeights {
    /// Words.
    pub text: f64,
    /// Vectors.
    pub vectors: f64,
    /// Links from the seeds.
    pub links: f64,
    /// Factor of what neighbours in a session give.
    pub neighbours: f64,
    /// Addition to the factor of memories that speak of time, for a query that asks when.
    pub time: f64,
    /// Addition to the factor of memories whose speaker the query names.
    pub speaker: f64,
    /// Addition to the factor of memories that were created when a date of the query was.
    pub date: f64,
}

impl Default for FusionWeights {
    fn default() -> Self {
        Self { text: 1.0, vectors: 1.0, links: 2.5, neighbours: 1.0, time: 0.2, speaker: 0.2, date: 1.0 }
    }
}

impl FusionWeights {
    /// Checks that each is between 0 and 1,000.
    ///
    /// # Errors
    /// [`crate::graph::Error::NonFinite`], [`crate::graph::Error::ParameterOutOfRange`].
    pub fn checked(self) -> Result<Self, Error> {
        let Self { text, vectors, links, neighbours, time, speaker, date } = self;
        let all = [
            ("text_weight", text),
            ("vector_weight", vectors),
            ("link_weight", links),
            ("neighbour_weight", neighbours),
            ("time_weight", time),
            ("speaker_weight", speaker),
            ("date_weight", date),
        ];
        for (name, weight) in all {
            #[expect(clippy::cast_possible_truncation, reason = "checked, not used")]
            within(name, weight as f32, 0.0, FUSION_WEIGHT_MAX)?;
        }
        Ok(self)
    }
}

/// Greatest weight of a kind of evidence.
const FUSION_WEIGHT_MAX: f64 = 1_000.0;

/// Parameters of the dimensions of evidence, of contrast and of resonance.
#[derive(Debug, Clone)]
pub struct EvidenceConfig {
    /// Weights of the dimensions.
    pub weights: DimensionWeights,
    /// Half-lives of freshness.
    pub half_lives: HalfLives,
    /// Search for causal chains.
    pub causal: CausalConfig,
    /// Groups of synonyms.
    pub synonyms: Arc<SynonymExpander>,
    /// Seed of random walks.
    pub random_seed: u64,
    /// Pulse budget of XLR, half for each wave.
    pub pulses: u32,
    /// Parameters of resonance, which is a separate query.
    pub waves: ResonanceConfig,
}

impl Default for EvidenceConfig {
    fn default() -> Self {
        Self {
            weights: DimensionWeights::default(),
            half_lives: HalfLives::default(),
            causal: CausalConfig::default(),
            synonyms: Arc::default(),
            random_seed: RANDOM_SEED,
            pulses: XLR_PULSE_BUDGET,
            waves: ResonanceConfig::default(),
        }
    }
}

impl Default for RecallConfig {
    /// The documented defaults.
    fn default() -> Self {
        Self {
            recall: ActivationConfig::RECALL,
            reference: ActivationConfig::REFERENCE,
            fusion: FusionWeights::default(),
            top_k_max: TOP_K_MAX,
            evidence: EvidenceConfig::default(),
            default_query: RecallQuery::default(),
        }
    }
}

impl RecallConfig {
    /// Checks the activation parameters of both profiles, the weights of fusion, and the greatest number of hits,
    /// `1 ..= 1,000`.
    ///
    /// # Errors
    /// [`crate::graph::Error::NonFinite`], [`crate::graph::Error::ParameterOutOfRange`].
    pub fn new(
        recall: ActivationConfig,
        reference: ActivationConfig,
        fusion: FusionWeights,
        top_k_max: usize,
    ) -> Result<Self, Error> {
        let fusion = fusion.checked()?;
        check_count("top_k_max", top_k_max, 1, TOP_K_MAX)?;
        let (recall, reference) = (recall.checked()?, reference.checked()?);
        let (evidence, default_query) = (EvidenceConfig::default(), RecallQuery::default());
        Ok(Self { recall, reference, fusion, top_k_max, evidence, default_query })
    }

    /// Greatest number of hits that a query may ask for.
    #[must_use]
    pub const fn top_k_max(&self) -> usize {
        self.top_k_max
    }

    /// Replaces the parameters of evidence.
    #[must_use]
    pub fn with_evidence(self, evidence: EvidenceConfig) -> Self {
        Self { evidence, ..self }
    }

    /// Replaces the weights of fusion.
    ///
    /// # Errors
    /// As [`FusionWeights::checked`].
    pub fn with_fusion(self, fusion: FusionWeights) -> Result<Self, Error> {
        Ok(Self { fusion: fusion.checked()?, ..self })
    }

    /// The weights of fusion.
    #[must_use]
    pub const fn fusion(&self) -> &FusionWeights {
        &self.fusion
    }

    /// Replaces the default query.
    #[must_use]
    pub fn with_default_query(self, default_query: RecallQuery) -> Self {
        Self { default_query, ..self }
    }

    /// The query with defaults for everything that a caller leaves open.
    #[must_use]
    pub const fn default_query(&self) -> &RecallQuery {
        &self.default_query
    }

    /// The parameters of evidence.
    #[must_use]
    pub const fn evidence(&self) -> &EvidenceConfig {
        &self.evidence
    }

    /// The activation parameters of a profile.
    #[must_use]
    pub const fn activation(&self, profile: Profile) -> &ActivationConfig {
        match profile {
            Profile::Recall => &self.recall,
            Profile::Reference => &self.reference,
        }
    }
}
