//! Clusters of memories: the connected components of strong pairs, stored with stable keys.
//!
//! A pair is strong if strictly more sessions than a threshold accessed both, and it counts while both memories are
//! live. A component of two or more is a cluster. Its key is its smallest id, its strength the greatest weight of its
//! pairs. Components that join merge into the cluster with the smaller key; a memory that is no longer connected
//! leaves; a cluster with fewer than two members is dissolved: marked, kept, and reused if the same component forms
//! again.
//!
//! Members, key and strength follow from the pairs alone. The *node* of a component depends on its history, so that a
//! known cluster keeps its identity through small changes: the node with the component's key, else, among those that
//! share members with it, the one with the smallest key that is not another component's. So no two nodes have one key.
//!
//! Source: the three-tier consolidation document, whose statement makes two clusters for each pair and merges none.
//!
//! Invariant: keys, members and strengths do not depend on the order of events (held by `any_history_ends_alike`).
//! Invariant: settling a settled graph changes nothing (held by `any_history_ends_alike`).
//! Invariant: the components equal those of a graph search (held by `components_are_what_a_search_finds`).

use petgraph::unionfind::UnionFind;
use serde::{Deserialize, Deserializer};
use std::collections::{BTreeMap, BTreeSet};

/// Two live memories that more sessions than the threshold accessed.
#[derive(Debug, Clone, PartialEq)]
pub struct Strong {
    pub a: String,
    pub b: String,
    pub weight: f64,
}

/// A cluster as stored.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Cluster {
    pub id: String,
    /// Smallest id of its members when it was last settled; `None` for a cluster of another writer.
    pub key: Option<String>,
    /// Greatest weight then; `None` if unknown.
    pub strength: Option<f64>,
    /// Stored number of members; `None` if there is none.
    #[serde(deserialize_with = "count")]
    pub size: Option<usize>,
    pub dissolved: bool,
    /// Ids of its current members.
    pub members: BTreeSet<String>,
}

/// Converts a count; `None` if it is negative.
fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<usize>, D::Error> {
    Ok(Option::<i64>::deserialize(from)?.and_then(|count| usize::try_from(count).ok()))
}

/// A component and its node.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    /// Its node; `None` creates one.
    pub id: Option<String>,
    /// Its smallest member.
    pub key: String,
    /// Greatest weight of its pairs.
    pub strength: f64,
    pub members: BTreeSet<String>,
    /// Whether the node must be written: it is new, dissolved or outdated.
    pub changed: bool,
    /// Whether the node is new, or was dissolved.
    pub forms: bool,
}

/// Changes that make the clusters equal to the components of the pairs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// Components by key.
    pub settled: Vec<Settled>,
    /// Nodes to dissolve.
    pub dissolved: Vec<String>,
    /// Memberships to add: memory, and index into `settled`.
    pub joins: Vec<(String, usize)>,
    /// Memberships to remove: memory, and node.
    pub leaves: Vec<(String, String)>,
}

impl Plan {
    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.dissolved.is_empty()
            && self.joins.is_empty()
            && self.leaves.is_empty()
            && self.settled.iter().all(|settled| !settled.changed)
    }
}

/// The components of these pairs with their strengths, by their smallest member.
#[must_use]
pub fn components(pairs: &[Strong]) -> BTreeMap<String, (BTreeSet<String>, f64)> {
    let ids: BTreeSet<&str> = pairs.iter().flat_map(|pair| [pair.a.as_str(), pair.b.as_str()]).collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    let place = |id: &str| ids.binary_search(&id).unwrap_or(0);
    let mut sets = UnionFind::<usize>::new(ids.len());
    for pair in pairs {
        sets.union(place(&pair.a), place(&pair.b));
    }
    let mut found: BTreeMap<usize, (BTreeSet<String>, f64)> = BTreeMap::new();
    for (index, id) in ids.iter().enumerate() {
        found.entry(sets.find(index)).or_default().0.insert((*id).to_owned());
    }
    for pair in pairs {
        let (_, strength) = found.entry(sets.find(place(&pair.a))).or_default();
        *strength = strength.max(pair.weight);
    }
    let named = |(members, strength): (BTreeSet<String>, f64)| {
        let key = members.first().cloned()?;
        (members.len() > 1).then_some((key, (members, strength)))
    };
    found.into_values().filter_map(named).collect()
}

/// Settles a part of the graph: `pairs` are all strong pairs among its live memories, `clusters` all nodes with a
/// member in this part, each with all its members, and those with a key that is the smallest member of a component.
#[must_use]
pub fn settle(pairs: &[Strong], clusters: &[Cluster]) -> Plan {
    let components = components(pairs);
    let mut free: BTreeMap<&str, &Cluster> = clusters.iter().map(|c| (c.id.as_str(), c)).collect();
    let mut plan = Plan::default();
    for (key, (members, strength)) in &components {
        let shares = |cluster: &Cluster| !cluster.dissolved && !cluster.members.is_disjoint(members);
        let wanted_by_another = |cluster: &Cluster| {
            cluster.key.as_ref().is_some_and(|other| other != key && components.contains_key(other))
        };
        let its_own = free.values().find(|cluster| cluster.key.as_ref() == Some(key));
        let taken = its_own.or_else(|| {
            let heirs = free.values().filter(|cluster| shares(cluster) && !wanted_by_another(cluster));
            heirs.min_by_key(|cluster| (cluster.key.is_none(), &cluster.key, &cluster.id))
        });
        let taken = taken.copied();
        let none = BTreeSet::new();
        let before = taken.map_or(&none, |cluster| &cluster.members);
        let index = plan.settled.len();
        plan.joins.extend(members.difference(before).map(|id| (id.clone(), index)));
        let as_it_says = taken.is_some_and(|cluster| {
            !cluster.dissolved
                && cluster.key.as_ref() == Some(key)
                && cluster.size == Some(members.len())
                && cluster.strength.is_some_and(|said| said.to_bits() == strength.to_bits())
        });
        plan.settled.push(Settled {
            id: taken.map(|cluster| cluster.id.clone()),
            key: key.clone(),
            strength: *strength,
            members: members.clone(),
            changed: !as_it_says,
            forms: taken.is_none_or(|cluster| cluster.dissolved),
        });
        if let Some(cluster) = taken {
            plan.leaves.extend(before.difference(members).map(|id| (id.clone(), cluster.id.clone())));
            free.remove(cluster.id.as_str());
        }
    }
    for cluster in free.into_values() {
        plan.leaves.extend(cluster.members.iter().map(|id| (id.clone(), cluster.id.clone())));
        if !cluster.dissolved {
            plan.dissolved.push(cluster.id.clone());
        }
    }
    plan.joins.sort();
    plan.leaves.sort();
    plan
}

#[cfg(test)]
mod tests;
