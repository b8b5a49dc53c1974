//! The next graph from the one there is and what changed, while readers keep the one they hold.
//!
//! Only rows that the batch touches are worked out anew; all others pass through as they are, with the ids of their targets
//! as they are called then. Degrees, and with them ids, move where a row changed or a neighbour came or went.

use super::assemble::{Parts, Slot, assemble, canonical, merged};
use super::{EdgeRow, owned_key, part_of, stage_kind};
use crate::graph::columns::{Columns, NodeRow, RowView};
use crate::graph::csr::{SlotKind, causal_of};
use crate::graph::index::{NodeId, nodes, slots};
use crate::graph::kinds::EdgeDirection;
use crate::graph::{Error, Graph};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// What changed between two states of a scope.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// Nodes that are gone, with all their relationships; one that is not there is no error.
    pub removed_nodes: Vec<String>,
    /// Relationships that are gone, by source, relation and target; one that is not there is no error.
    pub removed_edges: Vec<(String, String, String)>,
    /// Nodes that are new or carry something else.
    pub nodes: Vec<NodeRow>,
    /// Relationships that are new or weigh something else; of equal ones in a batch the heaviest counts.
    pub edges: Vec<EdgeRow>,
}

impl Graph {
    /// The graph after a batch: what is removed goes first, then comes what is new. It is what a builder would make of the
    /// changed content, byte for byte, and one generation on. What was learned is not in it.
    ///
    /// # Errors
    /// As those of [`GraphBuilder::add_node`](super::GraphBuilder::add_node) and [`GraphBuilder::add_edge`](super::GraphBuilder::add_edge), but for a duplicate, which is a change.
    pub fn apply(&self, batch: &Batch) -> Result<Self, Error> {
        let change = Change::of(self, batch)?;
        let ranks = change.ranks(self);
        let (order, degrees) = change.order(self, &ranks);
        let columns = Columns::of(order.iter().map(|old| change.row(self, *old)))?;
        let total = slots(change.total(self))? as usize;
        let parts = Parts {
            range: self.range,
            kinds: self.kinds.clone(),
            slot_kinds: change.slot_kinds.clone(),
            order,
            degrees,
            ranks,
            total,
        };
        let mut next = assemble(parts, columns, |old, into| change.fill(self, old, into));
        next.generation = self.generation.next();
        Ok(next)
    }
}

/// A batch in the ids of the graph it changes; new nodes come after its own.
struct Change<'a> {
    /// What a node carries from now on, where that is new.
    rows: BTreeMap<u32, NodeRow>,
    added: Vec<&'a str>,
    removed: BTreeSet<u32>,
    slot_kinds: Vec<SlotKind>,
    /// What the kinds of the graph are called now.
    renamed: Vec<u32>,
    /// Of each changed row the slots that are gone or replaced, by target and relation, and those that are there instead.
    gone: BTreeMap<u32, BTreeSet<(u32, &'a str)>>,
    new: BTreeMap<u32, Vec<Slot>>,
    /// Sources of changed slots by their target.
    from: BTreeMap<u32, BTreeSet<u32>>,
}

impl<'a> Change<'a> {
    fn of(graph: &Graph, batch: &'a Batch) -> Result<Self, Error> {
        let mut change = Self {
            rows: BTreeMap::new(),
            added: Vec::new(),
            removed: BTreeSet::new(),
            slot_kinds: graph.csr.kinds.clone(),
            renamed: Vec::new(),
            gone: BTreeMap::new(),
            new: BTreeMap::new(),
            from: BTreeMap::new(),
        };
        change.removed =
            batch.removed_nodes.iter().filter_map(|id| graph.find(id)).map(|node| node.0).collect();
        let ids = change.of_nodes(graph, batch)?;
        let held = |id: &str| graph.find(id).map(|node| node.0).filter(|id| !change.removed.contains(id));
        let find = |id: &str| ids.get(id).copied().or_else(|| held(id));
        let mut gone: Vec<(u32, u32, &'a str)> = Vec::new();
        for (source, relation, target) in &batch.removed_edges {
            let (Some(source), Some(target)) = (held(source), held(target)) else { continue };
            gone.push((source, target, relation));
            let other_way = graph
                .slots_between(source, target, relation)
                .any(|slot| graph.csr.kinds[graph.csr.kind(slot)].direction == EdgeDirection::Bidirectional);
            if other_way {
                gone.push((target, source, relation));
            }
        }
        let mut known_kinds: BTreeMap<_, _> =
            (0..).zip(&change.slot_kinds).map(|(at, kind)| (owned_key(kind), at)).collect();
        let mut fresh: Vec<(u32, Slot)> = Vec::new();
        for edge in &batch.edges {
            let end = |name: &String| {
                find(name).ok_or_else(|| Error::DanglingEdge {
                    source_id: edge.source.clone(),
                    target_id: edge.target.clone(),
                    missing: name.clone(),
                })
            };
            let (source, target) = (end(&edge.source)?, end(&edge.target)?);
            let weight =
                part_of("weight", edge.weight, f64::from(f32::MAX), edge)?.min(graph.range.cap) + 0.0;
            let kind = stage_kind(
                &graph.kinds,
                &mut change.slot_kinds,
                &mut known_kinds,
                &edge.relation,
                edge.direction,
                edge.inhibitory,
            )
            .0;
            let causal = match edge.causal {
                Some(causal) => part_of("causal_strength", causal, 1.0, edge)?,
                None => causal_of(weight, &change.slot_kinds[kind as usize]),
            };
            let both = edge.direction == EdgeDirection::Bidirectional && source != target;
            for (source, target) in
                [(source, target), (target, source)].into_iter().take(1 + usize::from(both))
            {
                fresh.push((source, Slot { target, kind, weight, causal }));
                gone.push((source, target, &edge.relation));
            }
        }
        change.renamed = canonical(&mut change.slot_kinds);
        for (source, slot) in fresh {
            let slot = Slot { kind: change.renamed[slot.kind as usize], ..slot };
            change.new.entry(source).or_default().push(slot);
        }
        for row in change.new.values_mut() {
            let kept = merged(row, &change.slot_kinds);
            row.truncate(kept);
        }
        for (source, target, relation) in gone {
            change.gone.entry(source).or_default().insert((target, relation));
            change.from.entry(target).or_default().insert(source);
        }
        Ok(change)
    }

    /// Takes in what nodes carry from now on; answers their ids.
    fn of_nodes(&mut self, graph: &Graph, batch: &'a Batch) -> Result<BTreeMap<&'a str, u32>, Error> {
        let mut ids: BTreeMap<&'a str, u32> = BTreeMap::new();
        for node in &batch.nodes {
            let row = node.clone().checked()?;
            let known = ids.get(node.external_id.as_str()).copied();
            let id = match known.or_else(|| graph.find(&node.external_id).map(|node| node.0)) {
                Some(id) if !self.removed.contains(&id) => id,
                _ => {
                    let id = nodes(graph.node_count() + self.added.len() + 1)? - 1;
                    self.added.push(&node.external_id);
                    id
                }
            };
            ids.insert(&node.external_id, id);
            self.rows.insert(id, row);
        }
        Ok(ids)
    }

    fn is_removed(&self, node: u32) -> bool {
        !self.removed.is_empty() && self.removed.contains(&node)
    }

    fn row<'b>(&'b self, graph: &'b Graph, old: u32) -> RowView<'b> {
        match self.rows.get(&old) {
            Some(row) => RowView::New(row),
            None => RowView::Old(&graph.columns, old as usize),
        }
    }

    /// The slots of a row after the change, in the ids before it.
    fn fill(&self, graph: &Graph, old: u32, into: &mut Vec<Slot>) {
        if (old as usize) < graph.node_count() {
            let gone = self.gone.get(&old);
            let (begin, _, end) = graph.csr.row(NodeId(old));
            for slot in begin..end {
                let (target, kind) = (graph.csr.targets[slot], graph.csr.kind(slot));
                let is_gone = self.is_removed(target)
                    || gone.is_some_and(|gone| {
                        gone.contains(&(target, graph.csr.kinds[kind].relation.as_str()))
                    });
                if !is_gone {
                    let (kind, weight) = (self.renamed[kind], graph.csr.base[slot]);
                    into.push(Slot { target, kind, weight, causal: graph.csr.causal(slot) });
                }
            }
        }
        into.extend(self.new.get(&old).into_iter().flatten());
    }

    fn total(&self, graph: &Graph) -> usize {
        let mut changed: BTreeSet<u32> = self.gone.keys().copied().collect();
        for removed in &self.removed {
            changed.extend(graph.incoming(NodeId(*removed)).map(|(source, _)| source.0));
            changed.insert(*removed);
        }
        let held = |node: &u32| (*node as usize) < graph.node_count();
        let before: usize =
            changed.iter().filter(|node| held(node)).map(|node| graph.out_slots(NodeId(*node))).sum();
        let mut row = Vec::new();
        let mut after = 0;
        for node in changed.iter().filter(|node| !self.is_removed(**node)) {
            row.clear();
            self.fill(graph, *node, &mut row);
            after += row.len();
        }
        graph.slot_count() - before + after
    }

    /// All nodes by the bytes of their external ids, as places in that order; of removed ones it means nothing.
    fn ranks(&self, graph: &Graph) -> Vec<u32> {
        let count = graph.node_count();
        let mut added: Vec<(&str, u32)> =
            self.added.iter().copied().zip(u32::try_from(count).unwrap_or(u32::MAX)..).collect();
        added.sort_unstable();
        let mut ranks = vec![u32::MAX; count + added.len()];
        let mut added = added.into_iter().peekable();
        let mut place = 0;
        let mut put = |node: u32| {
            ranks[node as usize] = place;
            place += 1;
        };
        for old in graph.columns.by_rank.iter().filter(|old| !self.is_removed(**old)) {
            while let Some((_, node)) =
                added.next_if(|(id, _)| *id < graph.columns.external_id.get(*old as usize))
            {
                put(node);
            }
            put(*old);
        }
        added.for_each(|(_, node)| put(node));
        ranks
    }

    /// The nodes in the order of their next ids, and the undirected degrees of all.
    fn order(&self, graph: &Graph, ranks: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let count = graph.node_count();
        let mut touched: BTreeSet<u32> = self.gone.keys().chain(self.from.keys()).copied().collect();
        touched.extend((count..count + self.added.len()).filter_map(|node| u32::try_from(node).ok()));
        for removed in &self.removed {
            touched.extend(graph.incoming(NodeId(*removed)).map(|(source, _)| source.0));
            touched.extend(graph.targets(NodeId(*removed)));
        }
        touched.retain(|node| !self.is_removed(*node));
        let mut degrees = graph.columns.degree.clone();
        degrees.resize(count + self.added.len(), 0);
        let mut row = Vec::new();
        for node in &touched {
            row.clear();
            self.fill(graph, *node, &mut row);
            let mut others: Vec<u32> = row.iter().map(|slot| slot.target).collect();
            // Who led here before and still does, and who does so since.
            let held = (*node as usize) < count;
            let before = held.then(|| graph.incoming(NodeId(*node))).into_iter().flatten();
            for (source, slot) in before {
                let relation = graph.relation(slot);
                let gone = self.is_removed(source.0)
                    || self.gone.get(&source.0).is_some_and(|gone| gone.contains(&(*node, relation)));
                if !gone {
                    others.push(source.0);
                }
            }
            for source in self.from.get(node).into_iter().flatten() {
                if self.new.get(source).is_some_and(|row| row.iter().any(|slot| slot.target == *node)) {
                    others.push(*source);
                }
            }
            others.sort_unstable();
            others.dedup();
            others.retain(|other| other != node);
            degrees[*node as usize] = u32::try_from(others.len()).unwrap_or(u32::MAX);
        }
        // Those that keep their degree are in order already.
        let place = |node: u32| (Reverse(degrees[node as usize]), ranks[node as usize]);
        let mut moved: Vec<u32> = touched.iter().copied().collect();
        moved.sort_unstable_by_key(|node| place(*node));
        let mut moved = moved.into_iter().peekable();
        let mut order = Vec::with_capacity(count + self.added.len());
        for old in 0..u32::try_from(count).unwrap_or(u32::MAX) {
            if self.is_removed(old) || touched.contains(&old) {
                continue;
            }
            while let Some(node) = moved.next_if(|node| place(*node) < place(old)) {
                order.push(node);
            }
            order.push(old);
        }
        order.extend(moved);
        (order, degrees)
    }
}
