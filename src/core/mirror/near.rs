//! The graph around some nodes, equal to that part of a mirror of their scope; learning works on it.
//!
//! The changes of one outcome depend on the paths between its nodes and on all relationships to them. So these are
//! read, by the same statement as in a refresh, and converted to slots by the same rules. Other nodes are included only
//! as ends of relationships: without contents, and without relationships among themselves. Nothing learns causal
//! strengths, so they are left out.
//!
//! Invariant: learning here is bit by bit the same as on a mirror of everything (held by
//! `jobs::learn::rows_are_those_of_the_engine_on_the_whole_graph`).
//!
//! # Design notes
//! Node ids differ from those of a mirror, and so does the order in which base weights are summed. The sums do not:
//! base weights are multiples of 2^-30, so some millions of them are summed in double precision without any rounding.

use super::Error;
use super::content::{Names, RELATES_TO, Relations, conductance};
use super::load::asked;
use crate::domain::ids::{Scope, labelled};
use crate::domain::relation::Fading;
use crate::domain::units::Timestamp;
use crate::store::{Amount, MirrorQuery, MirroredEnd, Sought, Store};
use ebb_engine::graph::Graph;
use ebb_engine::graph::builder::{GraphBuilder, WeightRange};
use ebb_engine::graph::columns::NodeRow;
use ebb_engine::graph::kinds::Kinds;
use ebb_engine::plasticity::PlasticityConfig;
use std::collections::BTreeSet;

/// Keys of one request.
const PAGE: usize = 2_000;

/// Settings of a learner: those of all mirrors, which apply the weights that it writes.
#[derive(Debug, Clone)]
pub struct Learning {
    /// Kinds of relationships and their conductance.
    pub kinds: Kinds,
    /// Bounds of effective weights.
    pub range: WeightRange,
    /// Whether expired memories are mirrored.
    pub expired: bool,
    /// Learning and decay rates.
    pub rules: PlasticityConfig,
}

impl Default for Learning {
    fn default() -> Self {
        Self {
            kinds: Kinds::default(),
            range: WeightRange::default(),
            expired: true,
            rules: PlasticityConfig::default(),
        }
    }
}

/// A node of a label, by its key, with its relationships.
type Met = (usize, String, Vec<MirroredEnd>);

/// The graph around the nodes of a scope with these external ids, with relations weighed as of `at` by the laws' clock.
/// Excluded and missing nodes are omitted. `called` are known names of nearby nodes: this read cannot detect whether
/// one shares its key with a node of another label.
pub async fn around(
    store: &Store,
    scope: &Scope,
    learning: &Learning,
    at: Timestamp,
    ids: &BTreeSet<&str>,
    called: &BTreeSet<&str>,
) -> Result<Graph, Error> {
    let asked = asked(store, scope, &learning.kinds, learning.expired)?;
    let keys = keys(&asked, ids);
    let mut met: Vec<Met> = Vec::new();
    for label in 0..asked.label_count() {
        for page in keys.chunks(PAGE) {
            let found = store.mirrored_around(&asked, label, Sought::Keys(page), None).await?;
            met.extend(found.into_iter().map(|(key, ends)| (label, key, ends)));
        }
    }
    built(&asked, (met.as_slice(), called), learning, (at, store.fading()))
}

/// Possible keys of nodes: if nodes of several labels share one, their names include the label.
fn keys<'i>(asked: &MirrorQuery, ids: &BTreeSet<&'i str>) -> Vec<&'i str> {
    let keys = ids.iter().copied();
    let keys: BTreeSet<&str> = keys.clone().chain(keys.filter_map(|id| bare(asked, id))).collect();
    keys.into_iter().collect()
}

/// Key of a node whose name includes its label.
fn bare<'i>(asked: &MirrorQuery, id: &'i str) -> Option<&'i str> {
    labelled(asked.labels().map(|(label, _)| label), id).map(|(_, key)| key)
}

fn built(
    asked: &MirrorQuery,
    (met, called): (&[Met], &BTreeSet<&str>),
    learning: &Learning,
    (at, fading): (Timestamp, &Fading),
) -> Result<Graph, Error> {
    let mut nodes: BTreeSet<(usize, &str)> = BTreeSet::new();
    for (label, key, ends) in met {
        nodes.insert((*label, key.as_str()));
        nodes.extend(ends.iter().map(|end| (end.label, end.key.as_str())));
    }
    let keys: BTreeSet<&str> = nodes.iter().map(|(_, key)| *key).collect();
    let shared = called.iter().copied().filter(|id| !keys.contains(id)).filter_map(|id| bare(asked, id));
    let names = Names::new(asked, nodes.iter().map(|(_, key)| *key).chain(shared));
    let mut builder = GraphBuilder::new(learning.kinds.clone(), learning.range);
    for (label, key) in nodes {
        // Of two nodes with one name the first is kept, as in a mirror.
        builder.add_node(NodeRow::new(names.external_id(label, key), "", names.node_type(label))).ok();
    }
    let mut relations = Relations::default();
    for (label, key, ends) in met {
        let id = names.external_id(*label, key);
        for end in ends {
            let other = names.external_id(end.label, &end.key);
            let (from, to) = if end.begins { (id.clone(), other) } else { (other, id.clone()) };
            if let Amount::Relation(tied) = &end.amount {
                relations.put(from, to, tied.clone());
            } else if let Some((weight, _)) = conductance(&learning.kinds, &end.kind, &end.amount, end.causal)
            {
                connect(&mut builder, &learning.kinds, (&from, &to), &end.kind, weight)?;
            }
        }
    }
    for (from, to, weight) in relations.weighed(&learning.kinds, at, fading) {
        if let Some((weight, _)) = weight {
            connect(&mut builder, &learning.kinds, (from, to), RELATES_TO, weight)?;
        }
    }
    Ok(builder.finalize()?)
}

fn connect(
    builder: &mut GraphBuilder,
    kinds: &Kinds,
    (from, to): (&str, &str),
    kind: &str,
    weight: f32,
) -> Result<(), Error> {
    let (Some(from), Some(to)) = (builder.find(from), builder.find(to)) else { return Ok(()) };
    let rule = kinds.of(kind);
    let kind = builder.kind(kind, rule.direction, rule.inhibitory);
    Ok(builder.connect(from, to, kind, weight)?)
}
