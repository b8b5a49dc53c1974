//! Conversion of rows of the store to rows of a graph. The only place where stored numbers, which are `f64`, become
//! those of the engine.
//!
//! # Design notes
//! The external id of a node is its key. If nodes of several labels have the same key, each is named `Label:key`:
//! otherwise a query for the key would return an arbitrary one of them. A key that itself begins with a label and a
//! colon always has its own label as a prefix, so that names are unique, whatever the keys are.
//!
//! Relations are stored with their decay: their weight is computed for each generation, at its instant. Of relations
//! between two entities that differ only in their type the graph has one slot, of the strongest; as facts each of them
//! counts.

use crate::domain::ids::labelled;
use crate::domain::relation::{Fading, RelationState};
use crate::domain::units::Timestamp;
use crate::store::{Amount, FadingRelation, MirrorQuery, MirroredNode, Relation};
use ebb_engine::graph::Graph;
use ebb_engine::graph::columns::NodeRow;
use ebb_engine::graph::index::NodeId;
use ebb_engine::graph::kinds::{Kinds, NodeType, Properties};
use ebb_engine::graph::snapshot::Snapshot;
use ebb_engine::text::fold::cut;
use ebb_engine::{Texts, View};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Most bytes of a label.
pub const LABEL_BYTES_MAX: usize = 200;
/// Type of relationships from a memory to what it mentions.
pub(super) const MENTIONS: &str = "MENTIONS";
/// Type of decaying relations.
pub(super) const RELATES_TO: &str = "RELATES_TO";
const DAY_MS: f64 = 86_400_000.0;

/// Builds a snapshot with the words of its memories and the relations that count at an instant. There may be a previous
/// view.
pub(super) fn view_of(
    before: Option<&View>,
    snapshot: Snapshot,
    texts: Texts,
    relations: &Relations,
    names: &Names,
    (at, fading): (Timestamp, &Fading),
) -> View {
    let ends = relations.ends(&snapshot.graph);
    let counting = relations.iter().zip(ends).filter(|((.., tied), _)| tied.is_retrievable(at, fading));
    let ends: Vec<(NodeId, NodeId, &str)> =
        counting.filter_map(|((_, _, kind, _), [from, to])| Some((from?, to?, kind))).collect();
    View::next(before, snapshot, texts, ends).with_type_names(names.further().map(str::to_owned).collect())
}

/// External names of nodes.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    labels: Vec<String>,
    /// Kind of the nodes of each label.
    types: Vec<NodeType>,
    /// Labels whose kind has no name of its own, in the order of their numbers.
    further: Vec<String>,
    /// Keys that nodes of several labels share.
    shared: HashSet<String>,
}

impl Names {
    pub(super) fn new<'a>(asked: &MirrorQuery, keys: impl IntoIterator<Item = &'a str>) -> Self {
        let mut met: HashSet<&str> = HashSet::new();
        let shared = keys.into_iter().filter(|key| !met.insert(key)).map(str::to_owned).collect();
        Self::with_shared(asked, shared)
    }

    /// Names where nodes of several labels share these keys.
    pub(super) fn with_shared(asked: &MirrorQuery, shared: HashSet<String>) -> Self {
        let mut further: Vec<String> = Vec::new();
        let types = asked.labels().map(|(_, kind)| {
            let known = further.iter().position(|other| other == kind);
            NodeType::of_name(kind).unwrap_or_else(|| {
                let at = known.unwrap_or_else(|| {
                    further.push(kind.to_owned());
                    further.len() - 1
                });
                let number = NodeType::LABELS.len() + at;
                NodeType::Custom(u8::try_from(number).unwrap_or(u8::MAX))
            })
        });
        let types = types.collect();
        Self { labels: asked.labels().map(|(label, _)| label.to_owned()).collect(), types, further, shared }
    }

    /// Name of a node.
    pub(super) fn external_id(&self, label: usize, key: &str) -> String {
        match self.labels.get(label) {
            Some(label)
                if self.shared.contains(key)
                    || labelled(self.labels.iter().map(String::as_str), key).is_some() =>
            {
                format!("{label}:{key}")
            }
            _ => key.to_owned(),
        }
    }

    /// Key of a node of a label by its name, if it can be one of that label.
    pub(super) fn key<'i>(&self, label: usize, id: &'i str) -> Option<&'i str> {
        let prefixed = labelled([self.labels.get(label)?.as_str()], id).map(|(_, key)| key);
        [Some(id), prefixed].into_iter().flatten().find(|key| self.external_id(label, key) == id)
    }

    /// Keys that nodes of several labels share.
    pub(super) fn shared(&self) -> impl Iterator<Item = &str> {
        self.shared.iter().map(String::as_str)
    }

    pub(super) fn is_shared(&self, key: &str) -> bool {
        self.shared.contains(key)
    }

    /// Kind of the nodes of a label.
    pub(super) fn node_type(&self, label: usize) -> NodeType {
        self.types.get(label).copied().unwrap_or(NodeType::Custom(u8::MAX))
    }

    /// Labels whose nodes have the type of those of a label, itself among them.
    pub(super) fn of_type(&self, label: usize) -> impl Iterator<Item = usize> {
        let of = self.node_type(label);
        (0..self.types.len()).filter(move |other| self.types[*other] == of)
    }

    /// Labels whose kind has no name of its own, in the order of their numbers.
    pub(super) fn further(&self) -> impl Iterator<Item = &str> {
        self.further.iter().map(String::as_str)
    }

    /// Index of a label.
    pub(super) fn label(&self, name: &str) -> Option<usize> {
        self.labels.iter().position(|label| label == name)
    }

    /// A node as a row of a graph. Its rate of change is computed up to its last access, so that a row is the same
    /// whenever it is read. The last observation of an entity comes from its relations: see [`Relations::observed`].
    pub(super) fn row(&self, seen: &MirroredNode, partial: bool) -> NodeRow {
        let label = seen.content.as_deref().or(seen.name.as_deref()).unwrap_or(&seen.key);
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            reason = "a rate, rounded once"
        )]
        let frequency = |count: i64| {
            let lived = seen.created.zip(seen.last_accessed).map_or(0, |(from, to)| to.saturating_sub(from));
            let days = lived as f64 / DAY_MS;
            (count.max(0) as f64 / days.max(1.0)) as f32
        };
        NodeRow {
            external_id: self.external_id(seen.label, &seen.key),
            label: cut(label, LABEL_BYTES_MAX).to_owned(),
            node_type: self.node_type(seen.label),
            tags: seen.tags.clone(),
            last_modified: seen.last_accessed,
            change_frequency: seen.access_count.map_or(0.0, frequency),
            tier: seen.tier.clone(),
            session: seen.session.clone(),
            partial,
            provenance: seen.provenance.clone(),
            metadata: seen.metadata.clone(),
        }
    }
}

/// Conductance of a relationship, and its causal strengths, where they differ from those of its kind.
pub(super) type Conducts = (f32, Option<[f32; 2]>);

/// Conductance of a relationship that does not decay; `None` if a property of it is invalid.
pub(super) fn conductance(
    kinds: &Kinds,
    kind: &str,
    amount: &Amount,
    causal: Option<f32>,
) -> Option<Conducts> {
    let number = match amount {
        Amount::None => None,
        Amount::Number(number) => Some(*number),
        Amount::Relation(_) | Amount::Unusable => return None,
    };
    let rule = kinds.of(kind);
    let of = if rule.is_costed() {
        Properties { current_cost: number, ..Properties::default() }
    } else {
        Properties { weight: number, strength: number, ..Properties::default() }
    };
    let weight = rule.of(kind, &of).ok()?;
    Some((weight, causal.map(|own| rule.causal(weight, Some(own)))))
}

/// Rank of a relation among those between two nodes under one predicate, of which the greatest counts. Of those of another library
/// that is the one that stays live longest, then the last observed. Of others it is one with an anchor, since the job fade
/// quarantines what lacks one beside it, then the one of the larger base weight, as of all parallel relationships. The further
/// values make the order total: the database returns rows in any order, and equal content is to make equal graphs.
pub(super) fn rank(of: &FadingRelation) -> impl Ord + use<> {
    let RelationState { base, weight_at, last_observed, pinned } = of.bond;
    // Bits are in the order of numbers that are not negative; zero has two patterns.
    let bits = |number: f64| (number + 0.0).to_bits();
    (
        of.is_adopted,
        of.until.unwrap_or(i64::MAX),
        of.is_adopted.then_some(last_observed),
        weight_at != Timestamp::EPOCH,
        bits(base.value()),
        last_observed,
        weight_at,
        pinned,
        bits(of.confidence.unwrap_or(1.0)),
        of.causal.map(f32::to_bits),
    )
}

/// The ids of the ends of a relation, and its type.
pub(super) type RelationKey = (Arc<str>, Arc<str>, Arc<str>);

/// Relations of a scope, by the ids of their ends and their type. A copy shares all of them until it is changed.
#[derive(Debug, Clone, Default)]
pub(super) struct Relations(Arc<BTreeMap<RelationKey, FadingRelation>>);

impl Relations {
    /// Adds a relation if it counts, and returns whether it does: of several between two nodes under one predicate the greatest
    /// by [`rank`] does, of equal ones the last one put.
    pub(super) fn put(&mut self, from: String, to: String, tied: FadingRelation) -> bool {
        let key: RelationKey = (from.into(), to.into(), tied.kind.as_str().into());
        let counts = self.0.get(&key).is_none_or(|known| rank(known) <= rank(&tied));
        if counts {
            Arc::make_mut(&mut self.0).insert(key, tied);
        }
        counts
    }

    /// Removes all that begin or end at these, and returns their ends and types.
    pub(super) fn drop_of(&mut self, ends: &HashSet<&str>) -> Vec<RelationKey> {
        if ends.is_empty() {
            return Vec::new();
        }
        let is_of = |(from, to, _): &&RelationKey| ends.contains(&**from) || ends.contains(&**to);
        let dropped: Vec<RelationKey> = self.0.keys().filter(is_of).cloned().collect();
        if !dropped.is_empty() {
            let own = Arc::make_mut(&mut self.0);
            dropped.iter().for_each(|key| drop(own.remove(key)));
        }
        dropped
    }

    /// Ends of those of these relations that were observed at another instant before, or are there only now or only before.
    pub(super) fn ends_observed_otherwise<'k>(
        &self,
        before: &Self,
        keys: &'k BTreeSet<RelationKey>,
    ) -> BTreeSet<&'k str> {
        let observed = |all: &Self, key: &RelationKey| all.0.get(key).map(|tied| tied.bond.last_observed);
        let changed = keys.iter().filter(|key| observed(self, key) != observed(before, key));
        changed.flat_map(|(from, to, _)| [&**from, &**to]).collect()
    }

    /// Adds the relations of other nodes: one by one, since a whole tree is built anew to append another.
    pub(super) fn append(&mut self, other: Self) {
        if !other.is_empty() {
            Arc::make_mut(&mut self.0).extend(Arc::unwrap_or_clone(other.0));
        }
    }

    /// The nodes of a graph at the ends of each, in their order.
    pub(super) fn ends(&self, graph: &Graph) -> Vec<[Option<NodeId>; 2]> {
        let (mut finder, mut nodes) = (graph.finder(), HashMap::<&str, Option<NodeId>>::new());
        let (mut ends, mut last) = (Vec::with_capacity(self.0.len()), None);
        for (from, ..) in self.0.keys() {
            let known = last.filter(|(of, _)| *of == from).map(|(_, node)| node);
            let node = known.unwrap_or_else(|| {
                let node = finder.find(from);
                nodes.insert(from, node);
                node
            });
            last = Some((from, node));
            ends.push([node, None]);
        }
        for ((_, to, _), ends) in self.0.keys().zip(&mut ends) {
            ends[1] = *nodes.entry(to).or_insert_with(|| graph.find(to));
        }
        ends
    }

    /// Weights at an instant, with causal strengths by predicate, by ends; `None` for a relation below the minimum or with an
    /// invalid confidence.
    pub(super) fn weighed<'a>(
        &'a self,
        kinds: &'a Kinds,
        at: Timestamp,
        fading: &'a Fading,
    ) -> impl Iterator<Item = (&'a str, &'a str, Option<Conducts>)> {
        let rule = kinds.of(RELATES_TO);
        self.0.iter().map(move |((from, to, _), tied)| {
            let weight = Some(tied.weight(at, fading).value());
            let of = Properties { weight, confidence: tied.confidence, ..Properties::default() };
            let conducts = rule.of(RELATES_TO, &of).ok().filter(|_| tied.is_retrievable(at, fading));
            let causal = |weight| Some(kinds.causal(RELATES_TO, &tied.kind, weight, tied.causal));
            (&**from, &**to, conducts.map(|weight| (weight, causal(weight))))
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Approximate size in bytes: entries, with a third more for the unused capacity of a tree, and their strings.
    pub(super) fn bytes(&self) -> usize {
        let entry = size_of::<(RelationKey, FadingRelation)>() * 4 / 3;
        let strings = |((from, to, kind), tied): (&RelationKey, &FadingRelation)| {
            from.len() + to.len() + kind.len() + tied.kind.len()
        };
        self.0.len() * entry + self.0.iter().map(strings).sum::<usize>()
    }

    /// All relations, by ends and type.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str, &str, &FadingRelation)> {
        self.0.iter().map(|((from, to, kind), tied)| (&**from, &**to, &**kind, tied))
    }

    /// The live ones of other libraries, heaviest first at an instant, their ends by the labels of a view. They have no key.
    pub(super) fn adopted(&self, view: &View, at: Timestamp, fading: &Fading) -> Vec<Relation> {
        let name = |id: &str| {
            let node = view.graph().find(id);
            node.map_or_else(|| id.to_owned(), |node| view.graph().label(node).to_owned())
        };
        let adopted = self.iter().filter(|(.., tied)| tied.is_adopted && tied.is_live(at));
        let mut found: Vec<Relation> = adopted
            .map(|(from, to, kind, tied)| Relation {
                key: String::new(),
                from: name(from),
                kind: kind.to_owned(),
                to: name(to),
                weight: tied.weight(at, fading).value(),
                base: tied.bond.base.value(),
                weight_at: tied.bond.weight_at.millis(),
                last_observed: tied.bond.last_observed.millis(),
                pinned: tied.bond.pinned,
            })
            .collect();
        let names = |one: &Relation| (one.from.clone(), one.kind.clone(), one.to.clone());
        found.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| names(a).cmp(&names(b))));
        found
    }

    /// Last observation of each entity, epoch milliseconds.
    pub(super) fn observed(&self) -> BTreeMap<&str, i64> {
        self.observed_of(|_, _| true)
    }

    /// The same of those entities that are asked for, by the position of a relation, and whether it ends there.
    pub(super) fn observed_of(&self, is_asked: impl Fn(usize, bool) -> bool) -> BTreeMap<&str, i64> {
        let mut observed = BTreeMap::new();
        for (place, ((from, to, _), tied)) in self.0.iter().enumerate() {
            let at = tied.bond.last_observed;
            for (end, ends) in [(from, false), (to, true)] {
                if at > Timestamp::EPOCH && is_asked(place, ends) {
                    let latest = observed.entry(&**end).or_insert(at.millis());
                    *latest = at.millis().max(*latest);
                }
            }
        }
        observed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::units::Weight;

    const DAY: i64 = 86_400_000;

    fn at(days: i64) -> Timestamp {
        Timestamp::from_millis(days * DAY).unwrap()
    }

    /// One that no pass has given an anchor yet.
    fn foreign(base: f64) -> FadingRelation {
        let bond = RelationState {
            base: Weight::new(base).unwrap(),
            weight_at: Timestamp::EPOCH,
            last_observed: Timestamp::EPOCH,
            pinned: true,
        };
        let kind = "knows".to_owned();
        FadingRelation { kind, bond, confidence: None, causal: None, until: None, is_adopted: false }
    }

    fn anchored(base: f64, days: i64) -> FadingRelation {
        let bond = RelationState::stored(Weight::new(base).unwrap(), at(days), at(days), false);
        FadingRelation { bond, ..foreign(base) }
    }

    fn adopted(days: i64, until: Option<i64>) -> FadingRelation {
        FadingRelation { is_adopted: true, until, ..anchored(1.0, days) }
    }

    /// The one that counts of these, put in this order.
    fn counting(all: &[&FadingRelation]) -> FadingRelation {
        let mut relations = Relations::default();
        for tied in all {
            relations.put("a".to_owned(), "b".to_owned(), (*tied).clone());
        }
        let mut found = relations.iter().map(|(.., tied)| tied.clone());
        let one = found.next().unwrap();
        assert!(found.next().is_none());
        one
    }

    #[test]
    fn of_parallel_relations_the_same_one_counts_in_any_order() {
        let observed = |days| {
            let mut tied = foreign(0.9);
            tied.bond.last_observed = at(days);
            tied
        };
        let sure = |confidence| FadingRelation { confidence: Some(confidence), ..foreign(0.9) };
        let causal = |causal| FadingRelation { causal: Some(causal), ..foreign(0.9) };
        // The first of each pair counts.
        let pairs = [
            (foreign(0.9), foreign(0.2)),
            (anchored(0.2, 3), foreign(0.9)),
            (anchored(0.9, 3), anchored(0.2, 5)),
            (anchored(0.9, 5), anchored(0.9, 3)),
            (observed(5), observed(3)),
            (foreign(0.9), sure(0.5)),
            (sure(0.5), sure(0.4)),
            (causal(0.5), causal(0.4)),
            (causal(0.5), foreign(0.9)),
            (adopted(3, None), adopted(5, Some(9))),
            (adopted(5, Some(9)), adopted(3, Some(9))),
        ];
        for (one, other) in &pairs {
            assert_eq!(counting(&[one, other]), *one);
            assert_eq!(counting(&[other, one]), *one);
            assert_eq!(counting(&[other, one, other]), *one);
        }
    }

    #[test]
    fn a_name_has_the_key_that_it_was_made_of() {
        let labels = ["Memory", "Entity", "Room"].map(str::to_owned).to_vec();
        let names = Names { labels, shared: HashSet::from(["tea".to_owned()]), ..Names::default() };
        for label in 0..3 {
            for key in ["ann", "tea", "Room:5", "Entity:Room:5", "Lobby:1"] {
                assert_eq!(names.key(label, &names.external_id(label, key)), Some(key));
            }
        }
        assert_eq!((names.key(0, "Entity:tea"), names.key(0, "tea")), (None, None));
        assert_eq!((names.key(0, "ann"), names.key(3, "ann")), (Some("ann"), None));
    }

    #[test]
    fn the_ends_of_relations_that_were_observed_otherwise_are_known() {
        let of = |all: &[(&str, &str, i64)]| {
            let mut relations = Relations::default();
            for (from, to, days) in all {
                relations.put((*from).to_owned(), (*to).to_owned(), anchored(1.0, *days));
            }
            relations
        };
        let before = of(&[("a", "b", 1), ("c", "d", 1), ("e", "f", 1), ("i", "k", 1)]);
        let after = of(&[("a", "b", 1), ("c", "d", 2), ("g", "h", 1), ("i", "k", 2)]);
        let read = [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")];
        let keys = BTreeSet::from(read.map(|(from, to)| (from.into(), to.into(), "knows".into())));
        let ends = after.ends_observed_otherwise(&before, &keys);
        assert_eq!(Vec::from_iter(ends), ["c", "d", "e", "f", "g", "h"]);
    }
}
