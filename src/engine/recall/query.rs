//! Queries.

use crate::graph;
use crate::graph::index::{Generation, NodeId};
use crate::graph::kinds::{Dimension, NodeType};
use crate::graph::metadata::MetadataFilter;
use crate::text::dates::span;
use crate::text::fold::fold;
use crate::{Error, View};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_128;

/// Greatest number of kinds, tiers or tags of a filter.
pub const NAMES_MAX: usize = 64;
/// Greatest length of a text in bytes.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;

/// A query.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallQuery {
    /// Text, at most [`TEXT_BYTES_MAX`] bytes; may be empty.
    pub text: String,
    /// A vector to compare with those of the memories, in their space.
    pub vector: Option<Vec<f32>>,
    /// Memories outside the graph, by id, with the similarities of their vectors to that of the query, which are finite: no
    /// hits, but the similarities of all memories are put on one scale.
    pub outside: Vec<(String, f32)>,
    /// External seeds: external ids with scores in `(0, 1]`.
    pub seeds: Vec<(String, f32)>,
    /// Greatest number of hits, from 1 to the configured maximum.
    pub top_k: usize,
    /// Least [relevance](super::Relevance) of a hit, 0 to 1. Hits below it are left out, as are those without one.
    pub min_relevance: Option<f32>,
    /// Whether the [relevance](super::Relevance) of hits is estimated; without it they have none.
    pub relevance: bool,
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
    /// The instant at which it is asked, to which dates such as "yesterday" are relative, epoch milliseconds; by default `now_ms`,
    /// else that of the snapshot.
    pub asked_ms: Option<i64>,
    /// Use of contrast.
    pub xlr: XlrMode,
    /// Whether seeds keep their initial values.
    pub seed_mass: SeedMass,
    /// Whether nodes that were often seeds together with the seeds are added.
    pub priming: bool,
}

impl Default for RecallQuery {
    fn default() -> Self {
        Self {
            text: String::new(),
            vector: None,
            outside: Vec::new(),
            seeds: Vec::new(),
            top_k: 20,
            min_relevance: None,
            relevance: true,
            filter: Filter::default(),
            profile: Profile::default(),
            spread: Spread::default(),
            fusion: Fusion::default(),
            dimensions: BTreeSet::from([Dimension::Structural]),
            now_ms: None,
            asked_ms: None,
            xlr: XlrMode::default(),
            seed_mass: SeedMass::default(),
            priming: false,
        }
    }
}

/// Use of contrast with other regions of the graph.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(inline))]
pub enum XlrMode {
    /// Not computed.
    #[default]
    Off,
    /// Reduces the scores of nodes that most queries would activate.
    Gate,
    /// Reported for each hit, without effect on scores.
    Report,
}

/// Treatment of the initial values of seeds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(inline))]
pub enum SeedMass {
    /// Included in their scores.
    #[default]
    Keep,
    /// Subtracted: a seed is scored by the activation that returns to it.
    Subtract,
}

/// Restricts the hits. Other nodes still conduct, and can be seeds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Names of types; empty for any. An unknown name matches nothing.
    pub kinds: Vec<String>,
    /// Tiers; empty for any.
    pub tiers: Vec<String>,
    /// Earliest time of the last change, epoch milliseconds; nodes without one are left out.
    pub since: Option<i64>,
    /// Session in which a node was last used.
    pub session: Option<String>,
    /// Tags, each of which a node has.
    pub tags: Vec<String>,
    /// Conditions on the metadata of a node.
    pub metadata: MetadataFilter,
    /// Whether only memories with a text pass.
    pub has_text: bool,
}

/// Parameters of spreading activation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(inline))]
pub enum Profile {
    /// Signals are added, and divided among neighbours.
    #[default]
    Recall,
    /// Only the strongest signal counts.
    Reference,
}

/// Measure of connection to the seeds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(inline))]
pub enum Spread {
    /// Spreading activation.
    #[default]
    Activation,
    /// Personalised PageRank; its cost grows with the graph.
    #[serde(rename = "ppr")]
    PersonalPageRank,
}

/// Use of the ranking by text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fusion {
    /// Added to links, with vectors, neighbours, time and speakers; also a source of seeds if there are no others.
    #[default]
    Text,
    /// Unused.
    Off,
}

impl RecallQuery {
    pub(super) fn check(&self, top_k_max: usize) -> Result<(), Error> {
        check_count("text", self.text.len(), 0, TEXT_BYTES_MAX)?;
        check_count("kinds", self.filter.kinds.len(), 0, NAMES_MAX)?;
        check_count("tiers", self.filter.tiers.len(), 0, NAMES_MAX)?;
        check_count("tags", self.filter.tags.len(), 0, NAMES_MAX)?;
        check_count("top_k", self.top_k, 1, top_k_max)?;
        if let Some((id, _)) = self.outside.iter().find(|(_, similarity)| !similarity.is_finite()) {
            let owner = format!("{id}, which is outside the graph,");
            return Err(graph::Error::NonFinite { field: "similarity", owner }.into());
        }
        match self.min_relevance.filter(|least| !(0.0..=1.0).contains(least)) {
            None => Ok(()),
            Some(least) => {
                let (name, value) = ("min_relevance".to_owned(), f64::from(least));
                Err(graph::Error::ParameterOutOfRange { name, value, min: 0.0, max: 1.0 }.into())
            }
        }
    }

    /// The instant of the query.
    pub(super) fn instant(&self, view: &View) -> Option<i64> {
        self.now_ms.or(view.snapshot().as_of)
    }

    /// The instants that the text, which is given folded, speaks of.
    pub(super) fn dates(&self, folded: &str, view: &View) -> Option<Range<i64>> {
        span(folded, self.asked_ms.or_else(|| self.instant(view)))
    }

    /// Id of the query and its result: equal for equal queries of one generation with equal primed nodes.
    pub(super) fn id(&self, generation: Generation, primed: &[(&str, f32)]) -> String {
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
        let Filter { kinds, tiers, since, session, tags, metadata, has_text } = &self.filter;
        for list in [kinds, tiers] {
            put(&(list.len() as u64).to_le_bytes());
            list.iter().for_each(|name| put(name.as_bytes()));
        }
        put(&since.map_or_else(Vec::new, |since| since.to_le_bytes().to_vec()));
        put(session.as_deref().map_or(&[], str::as_bytes));
        put(&[u8::from(session.is_some()) | u8::from(*has_text) << 1]);
        for tag in tags {
            put(b"tag");
            put(tag.as_bytes());
        }
        if !metadata.is_empty() {
            put(b"metadata");
            put(metadata.to_string().as_bytes());
        }
        // A relative date is another one on another day.
        if let Some(dates) = self.asked_ms.and_then(|asked| span(&fold(&self.text), Some(asked))) {
            put(b"dates");
            put(&dates.start.to_le_bytes());
            put(&dates.end.to_le_bytes());
        }
        if let Some(vector) = &self.vector {
            put(b"vector");
            vector.iter().for_each(|number| put(&number.to_bits().to_le_bytes()));
        }
        for (id, similarity) in &self.outside {
            put(b"outside");
            put(id.as_bytes());
            put(&similarity.to_bits().to_le_bytes());
        }
        if self.priming {
            put(b"priming");
        }
        if let Some(least) = self.min_relevance {
            put(b"relevance");
            put(&least.to_bits().to_le_bytes());
        }
        if !self.relevance {
            put(b"no relevance");
        }
        for (id, score) in primed {
            put(id.as_bytes());
            put(&score.to_bits().to_le_bytes());
        }
        format!("{:032x}", xxh3_128(&all))
    }
}

/// Checks the range of an integer; `name` is used in the error.
pub(super) fn check_count(name: &str, value: usize, min: usize, max: usize) -> Result<(), Error> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    #[expect(clippy::cast_precision_loss, reason = "for people to read")]
    let [value, min, max] = [value, min, max].map(|count| count as f64);
    Err(graph::Error::ParameterOutOfRange { name: name.to_owned(), value, min, max }.into())
}

/// A filter, resolved for one view.
pub(super) struct ResolvedFilter<'a> {
    filter: &'a Filter,
    types: Vec<NodeType>,
    /// Of the conditions on metadata.
    fragments: Vec<String>,
}

impl<'a> ResolvedFilter<'a> {
    pub(super) fn of(view: &View, filter: &'a Filter) -> Self {
        let types = filter.kinds.iter().filter_map(|kind| view.node_type(kind)).collect();
        Self { filter, types, fragments: filter.metadata.fragments() }
    }

    /// Whether every node passes.
    pub(super) fn is_open(&self) -> bool {
        *self.filter == Filter::default()
    }

    pub(super) fn passes(&self, view: &View, node: NodeId) -> bool {
        let graph = view.graph();
        let Filter { kinds, tiers, since, session, tags, metadata, has_text } = self.filter;
        let has_tag = |tag: &String| graph.tags(node).any(|one| one == tag);
        (kinds.is_empty() || self.types.contains(&graph.node_type(node)))
            && (tiers.is_empty() || graph.tier(node).is_some_and(|tier| tiers.iter().any(|one| one == tier)))
            && since.is_none_or(|since| graph.last_modified(node).is_some_and(|at| at >= since))
            && session.as_deref().is_none_or(|session| graph.session(node) == Some(session))
            && (!has_text || view.has_text(node))
            && tags.iter().all(has_tag)
            && (metadata.is_empty() || metadata.holds_in(graph.metadata(node), &self.fragments))
    }
}
