//! Configuration of recall.

use super::query::{Profile, RecallQuery, check_count};
use crate::Error;
use crate::activation::ActivationConfig;
use crate::causal::CausalConfig;
use crate::graph::builder::within;
use crate::graph::number::PosF32;
use crate::merge::DimensionWeights;
use crate::resonance::ResonanceConfig;
use crate::semantic::synonyms::SynonymExpander;
use crate::temporal::decay::HalfLives;
use crate::xlr::XLR_PULSE_BUDGET;
use std::sync::Arc;

/// Default seed of random walks.
pub const RANDOM_SEED: u64 = 42;
/// Default weight of the ranking by text relative to that by score.
const TEXT_WEIGHT: PosF32 = PosF32::THREE_QUARTERS;
/// Greatest number of hits that can be configured.
pub const TOP_K_MAX: usize = 1_000;

/// Parameters of [`recall`](super::recall()).
#[derive(Debug, Clone)]
pub struct RecallConfig {
    recall: ActivationConfig,
    reference: ActivationConfig,
    pub(super) text_weight: PosF32,
    pub(super) top_k_max: usize,
    pub(super) evidence: EvidenceConfig,
    default_query: RecallQuery,
}

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
            text_weight: TEXT_WEIGHT,
            top_k_max: TOP_K_MAX,
            evidence: EvidenceConfig::default(),
            default_query: RecallQuery::default(),
        }
    }
}

impl RecallConfig {
    /// Checks the activation parameters of both profiles, the weight of the ranking by text, and the greatest number of hits,
    /// `1 ..= 1,000`.
    ///
    /// # Errors
    /// [`crate::graph::Error::NonFinite`], [`crate::graph::Error::ParameterOutOfRange`].
    pub fn new(
        recall: ActivationConfig,
        reference: ActivationConfig,
        text_weight: f32,
        top_k_max: usize,
    ) -> Result<Self, Error> {
        let (least, most) = (f64::from(f32::from_bits(1)), f64::from(f32::MAX));
        let text_weight = PosF32::new(within("text_weight", text_weight, least, most)?)?;
        check_count("top_k_max", top_k_max, 1, TOP_K_MAX)?;
        let (recall, reference) = (recall.checked()?, reference.checked()?);
        let (evidence, default_query) = (EvidenceConfig::default(), RecallQuery::default());
        Ok(Self { recall, reference, text_weight, top_k_max, evidence, default_query })
    }

    /// Replaces the parameters of evidence.
    #[must_use]
    pub fn with_evidence(self, evidence: EvidenceConfig) -> Self {
        Self { evidence, ..self }
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
