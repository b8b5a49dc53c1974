//! Scores nodes by all dimensions of evidence that a query uses.
//!
//! The pool holds the most activated nodes, and every node that another dimension finds. A node found by one dimension is
//! scored by all that are used. Unused dimensions are not computed, and have no weight.
//!
//! Temporal scores follow semantic ones and precede contrast: relevance does not depend on contrast.

use super::ask::{Ask, Config, Sieve, Xlr};
use crate::activation::{Activated, Activation};
use crate::graph::index::NodeId;
use crate::graph::kinds::Dimension;
use crate::merge::{Merged, merge, ranked};
use crate::semantic::cooccurrence::CoOccurrenceIndex;
use crate::semantic::pipeline::Semantic;
use crate::temporal::co_change::co_changed;
use crate::temporal::decay::TemporalDecayScorer;
use crate::temporal::{Moment, temporal};
use crate::xlr::{self, Contrast, xlr};
use crate::{Flag, Flags, View};

/// Size of the pool: for each requested hit, and at least.
const POOL_EACH: usize = 10;
const POOL_MIN: usize = 200;
/// Factor of the greatest PageRank on a score, above 1.
const RANK_BOOST: f64 = 0.05;

/// A query that is being scored.
pub(super) struct Asking<'a> {
    pub(super) view: &'a View,
    pub(super) ask: &'a Ask,
    pub(super) config: &'a Config,
    pub(super) sieve: &'a Sieve<'a>,
    /// Where spreading began.
    pub(super) begun: &'a [(NodeId, f32)],
}

/// The ranking by score.
pub(super) struct Weighed {
    pub(super) scored: Vec<Merged>,
    pub(super) contrast: Option<Contrast>,
    pub(super) flags: Flags,
}

/// Scores of one dimension.
#[derive(Default)]
struct Heard {
    /// Scores of nodes that pass the filter, `0 ..= 1`.
    of: Vec<(NodeId, f32)>,
    /// Whether it found anything, also outside the filter: a filter selects hits and does not change their scores.
    active: bool,
}

impl Asking<'_> {
    fn uses(&self, dimension: Dimension) -> bool {
        self.ask.dimensions.contains(&dimension)
    }

    fn passing(&self, mut found: Vec<(NodeId, f32)>) -> Heard {
        let active = !found.is_empty();
        if !self.sieve.is_open() {
            found.retain(|(node, _)| self.sieve.passes(self.view, *node));
        }
        Heard { of: found, active }
    }

    /// Scores activated nodes and those of the other dimensions.
    pub(super) fn weigh(&self, lit: Activation, scratch: &mut xlr::Scratch) -> Weighed {
        let moment = self.uses(Dimension::Temporal).then(|| self.moment());
        let graph = self.view.graph();
        let like = self.semantic();
        // The temporal dimension is active if it would score any node found by the others, also outside the filter.
        let timed = moment.is_some_and(|moment| {
            let lit = lit.nodes.iter().filter(|_| self.uses(Dimension::Structural)).map(|lit| lit.node);
            let like = like.iter().map(|(node, _)| *node);
            lit.chain(like).any(|node| moment.share(graph, node) > 0.0)
        });
        let mut structural = self.structural(lit);
        let semantic = self.passing(like);
        let (causal, truncated) = self.causal();
        let temporal = moment.map_or_else(Heard::default, |moment| {
            let heard = self.temporal(&moment, &structural, &semantic);
            Heard { active: heard.active || timed, ..heard }
        });
        let alone = self.uses(Dimension::Semantic) && self.company().is_none();
        let mut flags = Flags::default()
            .with(Flag::CausalTruncated, truncated)
            .with(Flag::CochangeFull, moment.is_some() && self.view.co_change().is_full())
            .with(Flag::CooccurrenceDisabled, alone);
        let contrast = (self.ask.xlr != Xlr::Off).then(|| self.contrast(scratch));
        if let Some(contrast) = &contrast {
            flags = flags.and(contrast.flags);
            if self.ask.xlr == Xlr::Gate {
                for (node, value) in &mut structural.of {
                    *value *= contrast.gate(*node).unwrap_or(1.0);
                }
            }
        }
        let all = [structural, semantic, temporal, causal];
        Weighed { scored: self.scored(&all), contrast, flags }
    }

    /// Merges the dimensions and applies PageRank.
    fn scored(&self, all: &[Heard; 4]) -> Vec<Merged> {
        let (active, lists) =
            (all.each_ref().map(|heard| heard.active), all.each_ref().map(|heard| &heard.of[..]));
        let mut scored = merge(self.config.weighing.weights, active, lists);
        for one in &mut scored {
            let boost = 1.0 + RANK_BOOST * f64::from(self.view.standing(one.node));
            #[expect(clippy::cast_possible_truncation, reason = "at most 1.575, rounded once")]
            let score = (f64::from(one.score) * boost) as f32;
            one.score = score;
        }
        ranked(self.view.graph(), scored)
    }

    /// The strongest activated nodes that pass, divided by the greatest value of all if that is above 1.
    fn structural(&self, mut lit: Activation) -> Heard {
        if !self.uses(Dimension::Structural) {
            return Heard::default();
        }
        let active = !lit.nodes.is_empty();
        let most = lit.nodes.iter().map(|lit| lit.value).fold(1.0, f32::max);
        if !self.sieve.is_open() {
            lit.nodes.retain(|lit| self.sieve.passes(self.view, lit.node));
        }
        let pool = lit.strongest(self.view.graph(), POOL_MIN.max(POOL_EACH * self.ask.top_k));
        Heard {
            of: pool.nodes.iter().map(|Activated { node, value }| (*node, value / most)).collect(),
            active,
        }
    }

    /// Nodes whose label or context resembles the query.
    fn semantic(&self) -> Vec<(NodeId, f32)> {
        if !self.uses(Dimension::Semantic) || self.ask.text.is_empty() {
            return Vec::new();
        }
        let sources = self.view.sources();
        let semantic = Semantic {
            graph: self.view.graph(),
            ngrams: sources.labels.ngrams(),
            cooccurrence: self.company(),
            synonyms: &self.config.weighing.synonyms,
        };
        semantic.ask(&self.ask.text, self.ask.top_k).ranked()
    }

    fn company(&self) -> Option<&CoOccurrenceIndex> {
        self.view.cooccurrence(self.config.weighing.random_seed)
    }

    /// Effects and causes of the seeds; and whether the search was truncated.
    fn causal(&self) -> (Heard, bool) {
        if !self.uses(Dimension::Causal) {
            return (Heard::default(), false);
        }
        let found = self.config.weighing.causal.detect(self.view.graph(), self.begun);
        (self.passing(found.scores), found.truncated)
    }

    fn moment(&self) -> Moment {
        let now_ms = self.ask.now_ms.or(self.view.snapshot().as_of).unwrap_or(i64::MIN);
        let decay = TemporalDecayScorer::new(self.config.weighing.half_lives);
        Moment { decay, velocity: self.view.velocity(), now_ms }
    }

    /// Temporal scores of nodes found by the other dimensions, and of those that change with the seeds.
    fn temporal(&self, moment: &Moment, structural: &Heard, semantic: &Heard) -> Heard {
        let graph = self.view.graph();
        let with = self.passing(co_changed(graph, self.view.co_change(), self.begun));
        let of = temporal(graph, moment, [&structural.of, &semantic.of], &with.of);
        Heard { active: with.active || !of.is_empty(), of }
    }

    /// Contrast with anti-seeds. Uses the `Recall` parameters in any profile.
    fn contrast(&self, scratch: &mut xlr::Scratch) -> Contrast {
        let (view, config) = (self.view, self.config);
        let params = config.params(super::Profile::Recall);
        xlr(view.graph(), view.mean_degree(), self.begun, params, config.weighing.pulses, scratch)
    }
}
