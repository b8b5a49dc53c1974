//! Scores nodes by all dimensions of evidence that a query uses.
//!
//! The pool holds the most activated nodes, and every node that another dimension finds. A node found by one dimension is
//! scored by all that are used. Unused dimensions are not computed, and have no weight.
//!
//! Temporal scores follow semantic ones and precede contrast: relevance does not depend on contrast.

use super::config::{RecallConfig, TOP_K_MAX};
use super::fusion::lift;
use super::query::{Fusion, RecallQuery, ResolvedFilter, XlrMode};
use crate::activation::{ActivatedNode, ActivationResult};
use crate::causal::causal_chains;
use crate::graph::index::NodeId;
use crate::graph::kinds::Dimension;
use crate::merge::{MergedScore, merge, sort_by_score};
use crate::semantic::cooccurrence::CoOccurrenceIndex;
use crate::semantic::pipeline::SemanticScorer;
use crate::temporal::co_change::co_changed;
use crate::temporal::{TemporalConfig, temporal_scores};
use crate::text::ranking::RANKED_MAX;
use crate::xlr::{self, XlrResult, xlr};
use crate::{Flag, Flags, View};

/// Size of the pool: as many as the longest list of hits has.
const POOL: usize = TOP_K_MAX;
/// Semantic candidates: as many as there are by text.
const SEMANTIC_CANDIDATES: usize = RANKED_MAX;
/// Factor of the greatest PageRank on a score, above 1.
const RANK_BOOST: f64 = 0.05;

/// A query that is being scored.
pub(super) struct Scorer<'a> {
    pub(super) view: &'a View,
    pub(super) query: &'a RecallQuery,
    pub(super) config: &'a RecallConfig,
    pub(super) filter: &'a ResolvedFilter<'a>,
    /// Seeds of spreading, with their scores.
    pub(super) seeds: &'a [(NodeId, f32)],
    /// Sum of the initial values of the seeds.
    pub(super) mass: f64,
}

/// The ranking by score.
pub(super) struct Scored {
    pub(super) scored: Vec<MergedScore>,
    pub(super) contrast: Option<XlrResult>,
    pub(super) flags: Flags,
}

/// Scores of one dimension.
#[derive(Default)]
struct DimensionScores {
    /// Scores of nodes that pass the filter, and of memories that are fused, `0 ..= 1`.
    of: Vec<(NodeId, f32)>,
    /// Whether it found anything, also outside the filter: a filter selects hits and does not change their scores.
    active: bool,
}

impl Scorer<'_> {
    fn uses(&self, dimension: Dimension) -> bool {
        self.query.dimensions.contains(&dimension)
    }

    /// Scores of the nodes that pass the filter; with fusion, also those of all memories, which decide how much links are worth.
    fn passing(&self, mut found: Vec<(NodeId, f32)>) -> DimensionScores {
        let active = !found.is_empty();
        if !self.filter.is_open() {
            let is_fused = |node| self.query.fusion == Fusion::Text && self.view.has_text(node);
            found.retain(|(node, _)| is_fused(*node) || self.filter.passes(self.view, *node));
        }
        DimensionScores { of: found, active }
    }

    /// Scores activated nodes and those of the other dimensions.
    pub(super) fn score(&self, activation: ActivationResult, scratch: &mut xlr::Scratch) -> Scored {
        let temporal_config = self.uses(Dimension::Temporal).then(|| self.temporal_config());
        let graph = self.view.graph();
        let like = self.semantic();
        // The temporal dimension is active if it would score any node found by the others, also outside the filter.
        let timed = temporal_config.is_some_and(|config| {
            let reached = activation
                .nodes
                .iter()
                .filter(|_| self.uses(Dimension::Structural))
                .map(|reached| reached.node);
            let like = like.iter().map(|(node, _)| *node);
            reached.chain(like).any(|node| config.factor(graph, node) > 0.0)
        });
        let mut structural = self.structural(activation);
        let semantic = self.passing(like);
        let (causal, truncated) = self.causal();
        let temporal = temporal_config.map_or_else(DimensionScores::default, |config| {
            let scores = self.temporal(&config, &structural, &semantic);
            DimensionScores { active: scores.active || timed, ..scores }
        });
        let alone = self.uses(Dimension::Semantic) && self.context().is_none();
        let mut flags = Flags::default()
            .with(Flag::CausalTruncated, truncated)
            .with(Flag::CochangeFull, temporal_config.is_some() && self.view.co_change().is_full())
            .with(Flag::CooccurrenceDisabled, alone);
        let contrast = (self.query.xlr != XlrMode::Off).then(|| self.contrast(scratch));
        if let Some(contrast) = &contrast {
            flags = flags.union(contrast.flags);
            if self.query.xlr == XlrMode::Gate {
                for (node, value) in &mut structural.of {
                    *value *= contrast.gate(*node).unwrap_or(1.0);
                }
            }
        }
        let all = [structural, semantic, temporal, causal];
        Scored { scored: self.scored(&all), contrast, flags }
    }

    /// Merges the dimensions and applies PageRank.
    fn scored(&self, all: &[DimensionScores; 4]) -> Vec<MergedScore> {
        let (active, lists) =
            (all.each_ref().map(|scores| scores.active), all.each_ref().map(|scores| &scores.of[..]));
        let mut scored = merge(self.config.evidence.weights, active, lists);
        for one in &mut scored {
            let boost = 1.0 + RANK_BOOST * f64::from(self.view.relative_pagerank(one.node));
            #[expect(clippy::cast_possible_truncation, reason = "at most 1.575, rounded once")]
            let score = (f64::from(one.score) * boost) as f32;
            one.score = score;
        }
        sort_by_score(self.view.graph(), scored)
    }

    /// The strongest activated nodes that pass: their lift, or, without fusion or memories, their values divided by the greatest of
    /// all if that is above 1.
    fn structural(&self, mut activation: ActivationResult) -> DimensionScores {
        if !self.uses(Dimension::Structural) {
            return DimensionScores::default();
        }
        let active = !activation.nodes.is_empty();
        let most = activation.nodes.iter().map(|reached| reached.value).fold(1.0, f32::max);
        // How much links are worth is decided by all memories, whatever the filter.
        let mut memories = ActivationResult::default();
        if self.query.fusion == Fusion::Text {
            let of = activation.nodes.iter().filter(|reached| self.view.has_text(reached.node));
            memories.nodes = of.copied().collect();
            memories = memories.strongest(self.view.graph(), POOL);
        }
        if !self.filter.is_open() {
            activation.nodes.retain(|reached| self.filter.passes(self.view, reached.node));
        }
        let mut pool = activation.strongest(self.view.graph(), POOL);
        pool.nodes.append(&mut memories.nodes);
        #[expect(clippy::cast_possible_truncation, reason = "in 0 ..= 1, rounded once")]
        let score = |value: f32| match (self.query.fusion, self.view.memories()) {
            (Fusion::Off, _) | (_, 0) => value / most,
            (Fusion::Text, memories) => lift(f64::from(value) / self.mass, memories) as f32,
        };
        let of = pool.nodes.iter().map(|ActivatedNode { node, value }| (*node, score(*value))).collect();
        DimensionScores { of, active }
    }

    /// Nodes whose label or context resembles the query.
    fn semantic(&self) -> Vec<(NodeId, f32)> {
        if !self.uses(Dimension::Semantic) || self.query.text.is_empty() {
            return Vec::new();
        }
        let sources = self.view.sources();
        let semantic = SemanticScorer {
            graph: self.view.graph(),
            ngrams: sources.labels.ngrams(),
            cooccurrence: self.context(),
            synonyms: &self.config.evidence.synonyms,
        };
        semantic.query(&self.query.text, SEMANTIC_CANDIDATES).ranked()
    }

    fn context(&self) -> Option<&CoOccurrenceIndex> {
        self.view.cooccurrence(self.config.evidence.random_seed)
    }

    /// Effects and causes of the seeds; and whether the search was truncated.
    fn causal(&self) -> (DimensionScores, bool) {
        if !self.uses(Dimension::Causal) {
            return (DimensionScores::default(), false);
        }
        let found = causal_chains(self.view.graph(), self.seeds, self.config.evidence.causal);
        (self.passing(found.scores), found.truncated)
    }

    fn temporal_config(&self) -> TemporalConfig {
        let now_ms = self.query.instant(self.view).unwrap_or(i64::MIN);
        let half_lives = self.config.evidence.half_lives;
        TemporalConfig { half_lives, velocity: self.view.velocity(), now_ms }
    }

    /// Temporal scores of nodes found by the other dimensions, and of those that change with the seeds.
    fn temporal(
        &self,
        config: &TemporalConfig,
        structural: &DimensionScores,
        semantic: &DimensionScores,
    ) -> DimensionScores {
        let graph = self.view.graph();
        let with = self.passing(co_changed(graph, self.view.co_change(), self.seeds));
        let of = temporal_scores(graph, config, [&structural.of, &semantic.of], &with.of);
        DimensionScores { active: with.active || !of.is_empty(), of }
    }

    /// Contrast with anti-seeds. Uses the `Recall` parameters in any profile.
    fn contrast(&self, scratch: &mut xlr::Scratch) -> XlrResult {
        let (view, config) = (self.view, self.config);
        let params = config.activation(super::Profile::Recall);
        xlr(view.graph(), view.mean_degree(), self.seeds, params, config.evidence.pulses, scratch)
    }
}
