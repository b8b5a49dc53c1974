//! Ways to rank memories for a question: recall as it is configured, without each of its parts, and what it is compared with.

use super::Question;
use crate::service::recall::{RecallConfig, RecallQuery, View};
use ebb_engine::graph::index::NodeId;
use ebb_engine::recall::{Filter, FusionWeights, recall};
use ebb_engine::scratch::Scratch;

/// A part of recall that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Words,
    Vectors,
    Links,
    Neighbours,
    Time,
    Speakers,
}

impl Part {
    /// All parts.
    pub const ALL: [Self; 6] =
        [Self::Words, Self::Vectors, Self::Links, Self::Neighbours, Self::Time, Self::Speakers];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Vectors => "vectors",
            Self::Links => "links",
            Self::Neighbours => "neighbours",
            Self::Time => "time",
            Self::Speakers => "speakers",
        }
    }

    const fn left_out_of(self, weights: FusionWeights) -> FusionWeights {
        match self {
            Self::Words => FusionWeights { text: 0.0, ..weights },
            Self::Vectors => FusionWeights { vectors: 0.0, ..weights },
            Self::Links => FusionWeights { links: 0.0, ..weights },
            Self::Neighbours => FusionWeights { neighbours: 0.0, ..weights },
            Self::Time => FusionWeights { time: 0.0, ..weights },
            Self::Speakers => FusionWeights { speaker: 0.0, ..weights },
        }
    }
}

/// A way to rank memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Words alone, by BM25.
    Words,
    /// Similarity of embeddings alone.
    Vectors,
    /// Recall as it is configured.
    Ebb,
    /// Recall without one of its parts.
    Without(Part),
}

impl Way {
    /// The ways of an evaluation: words alone, vectors alone, recall, and recall without each of these parts. Vectors take part if
    /// questions have them.
    #[must_use]
    pub fn all(without: &[Part], questions: &[Question]) -> Vec<Self> {
        let has_vectors = questions.iter().any(|question| question.embedding.is_some());
        let without = without.iter().map(|part| Self::Without(*part));
        [Self::Words, Self::Vectors, Self::Ebb]
            .into_iter()
            .chain(without)
            .filter(|way| has_vectors || !matches!(way, Self::Vectors | Self::Without(Part::Vectors)))
            .collect()
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Words => "words alone (BM25)".to_owned(),
            Self::Vectors => "vectors alone".to_owned(),
            Self::Ebb => "Ebb".to_owned(),
            Self::Without(part) => format!("without {}", part.name()),
        }
    }

    pub(super) fn rules(self, rules: &RecallConfig) -> Result<RecallConfig, ebb_engine::Error> {
        match self {
            Self::Without(part) => rules.clone().with_fusion(part.left_out_of(*rules.fusion())),
            _ => Ok(rules.clone()),
        }
    }

    /// The first memories with a text, the best first.
    pub(super) fn rank(
        self,
        view: &View,
        question: &Question,
        rules: &RecallConfig,
        depth: usize,
        scratch: &mut Scratch,
    ) -> Result<Vec<NodeId>, ebb_engine::Error> {
        let passes = |node: NodeId| view.has_text(node);
        Ok(match self {
            Self::Words => {
                let ranking = view.rank_by_text(&question.text, depth, passes);
                ranking.ranked.iter().map(|hit| hit.node).collect()
            }
            Self::Vectors => match &question.embedding {
                Some(vector) => {
                    let [ranked] = view.rank_by_vector(vector, depth, |node| [passes(node)])?;
                    ranked.iter().map(|hit| hit.node).collect()
                }
                None => Vec::new(),
            },
            Self::Ebb | Self::Without(_) => {
                let query = RecallQuery {
                    text: question.text.clone(),
                    vector: question.embedding.clone(),
                    top_k: depth,
                    relevance: false,
                    filter: Filter { has_text: true, ..Filter::default() },
                    ..rules.default_query().clone()
                };
                recall(view, &query, rules, scratch)?.hits.iter().map(|hit| hit.node).collect()
            }
        })
    }
}
