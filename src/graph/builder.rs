//! From rows to a graph, and from a graph and what changed to the next one: same content, same bytes.
//!
//! A graph under construction cannot be asked anything, and a finished one cannot be changed: [`GraphBuilder::finalize`]
//! consumes the one and makes the other, and [`Graph::apply`] makes a new one beside that which readers hold. Both end in
//! [`assemble`], so what is patched and what is rebuilt cannot differ.
//!
//! # Design notes
//! Ids go by undirected degree, greatest first, then by the bytes of external ids: nodes that are often met lie side by
//! side, and no id depends on the order in which rows came. Slots with the same source, relation and target are merged to
//! the one with the larger base weight. Nothing here is sorted as a whole: slots are counted into rows, and rows are short.

use super::columns::{Columns, NodeRow, RowView};
use super::csr::{BOUND_BLOCK, Csr, SlotKind, WIDE, causal_of};
use super::index::{Generation, NodeId, nodes, slots};
use super::interner::StringInterner;
use super::kinds::{EdgeDirection, Kinds};
use super::{Error, Graph};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU32;

/// Between what effective weights lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightRange {
    /// The least, `0.01 ..= 1`.
    pub floor: f32,
    /// The greatest, `1 ..= 16`.
    pub cap: f32,
}

impl Default for WeightRange {
    fn default() -> Self {
        Self { floor: 0.05, cap: 3.0 }
    }
}

impl WeightRange {
    /// Checked.
    ///
    /// # Errors
    /// [`Error::NonFinite`], [`Error::ParameterOutOfRange`].
    pub fn checked(self) -> Result<Self, Error> {
        within("WEIGHT_FLOOR", self.floor, 0.01, 1.0)?;
        within("WEIGHT_CAP", self.cap, 1.0, 16.0)?;
        Ok(self)
    }

    /// A weight that is effective.
    #[must_use]
    pub fn clamp(&self, weight: f32) -> f32 {
        weight.clamp(self.floor, self.cap)
    }
}

/// A number of a range; `name` stands in the error.
pub(crate) fn within(name: &'static str, value: f32, min: f64, max: f64) -> Result<f32, Error> {
    if !value.is_finite() {
        return Err(Error::NonFinite { field: name, owner: value.to_string() });
    }
    if !(min..=max).contains(&f64::from(value)) {
        return Err(Error::ParameterOutOfRange { name: name.to_owned(), value: f64::from(value), min, max });
    }
    Ok(value)
}

/// A relationship as it comes into a graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EdgeRow {
    /// The external id of the node it begins at.
    pub source: String,
    /// The external id of the node it leads to.
    pub target: String,
    /// Its type.
    pub relation: String,
    /// Its base weight, at least 0; more than the cap is the cap.
    pub weight: f32,
    /// Which ways it can be walked.
    pub direction: EdgeDirection,
    /// Whether it holds back.
    pub inhibitory: bool,
    /// How much of it is cause, `0 ..= 1`, where that is not what its kind says.
    pub causal: Option<f32>,
}

/// A node that is staged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Staged(u32);

/// A kind of slots that is staged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StagedKind(u32);

#[derive(Debug, Clone, Copy)]
struct PendingEdge {
    source: u32,
    target: u32,
    kind: u32,
    weight: f32,
}

/// A slot between two rows, its target in the ids of whoever hands it over.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Slot {
    target: u32,
    kind: u32,
    weight: f32,
    causal: f32,
}

/// Collects nodes and relationships.
#[derive(Debug)]
pub struct GraphBuilder {
    kinds: Kinds,
    range: WeightRange,
    ids: StringInterner,
    rows: Vec<NodeRow>,
    slot_kinds: Vec<SlotKind>,
    known_kinds: BTreeMap<(String, EdgeDirection, bool), u32>,
    edges: Vec<PendingEdge>,
    /// What an edge causes, where that is not what its kind says; by the place of the edge.
    causal: BTreeMap<usize, f32>,
    doubled: usize,
    /// Edges of which only the half as it stands is meant, by place.
    halves: BTreeSet<usize>,
}

impl GraphBuilder {
    /// An empty one.
    #[must_use]
    pub fn new(kinds: Kinds, range: WeightRange) -> Self {
        Self {
            kinds,
            range,
            ids: StringInterner::default(),
            rows: Vec::new(),
            slot_kinds: Vec::new(),
            known_kinds: BTreeMap::new(),
            edges: Vec::new(),
            causal: BTreeMap::new(),
            doubled: 0,
            halves: BTreeSet::new(),
        }
    }

    /// Adds a node.
    ///
    /// # Errors
    /// [`Error::DuplicateNode`], [`Error::TooManyNodes`], and for a number that is none.
    pub fn add_node(&mut self, row: NodeRow) -> Result<Staged, Error> {
        let row = row.checked()?;
        nodes(self.rows.len() + 1)?;
        let handle = self.ids.intern(&row.external_id)?;
        if handle.at() < self.rows.len() {
            return Err(Error::DuplicateNode { external_id: row.external_id });
        }
        self.rows.push(row);
        Ok(Staged(handle.0))
    }

    /// The node of an external id.
    #[must_use]
    pub fn find(&self, external_id: &str) -> Option<Staged> {
        self.ids.find(external_id).map(|handle| Staged(handle.0))
    }

    /// The kind of slots of a relation that can be walked so.
    pub fn kind(&mut self, relation: &str, direction: EdgeDirection, inhibitory: bool) -> StagedKind {
        stage_kind(&self.kinds, &mut self.slot_kinds, &mut self.known_kinds, relation, direction, inhibitory)
    }

    /// Adds a relationship between nodes that are there.
    ///
    /// # Errors
    /// [`Error::DanglingEdge`] for a node that is not; [`Error::NonFinite`], [`Error::ParameterOutOfRange`] for a weight
    /// that is none; [`Error::TooManySlots`].
    pub fn add_edge(&mut self, edge: &EdgeRow) -> Result<(), Error> {
        let end = |name: &String| {
            self.find(name).ok_or_else(|| Error::DanglingEdge {
                source_id: edge.source.clone(),
                target_id: edge.target.clone(),
                missing: name.clone(),
            })
        };
        let (source, target) = (end(&edge.source)?, end(&edge.target)?);
        let causal = edge.causal.map(|causal| part_of("causal_strength", causal, 1.0, edge)).transpose()?;
        let weight = part_of("weight", edge.weight, f64::from(f32::MAX), edge)?;
        let kind = self.kind(&edge.relation, edge.direction, edge.inhibitory);
        self.connect(source, target, kind, weight)?;
        let at = self.edges.len() - 1;
        let of_its_kind = causal_of(self.edges[at].weight, &self.slot_kinds[kind.0 as usize]);
        if let Some(causal) = causal.filter(|causal| causal.to_bits() != of_its_kind.to_bits()) {
            self.causal.insert(at, causal);
        }
        Ok(())
    }

    /// Adds a relationship between staged nodes, of a weight that is at least 0.
    ///
    /// # Errors
    /// [`Error::NonFinite`], [`Error::ParameterOutOfRange`], [`Error::TooManySlots`].
    pub fn connect(
        &mut self,
        source: Staged,
        target: Staged,
        kind: StagedKind,
        weight: f32,
    ) -> Result<(), Error> {
        let weight = within("weight", weight, 0.0, f64::from(f32::MAX))?.min(self.range.cap) + 0.0;
        if self.is_doubled(source.0, target.0, kind.0) {
            self.doubled += 1;
        }
        slots(self.edges.len() + 1 + self.doubled)?;
        self.edges.push(PendingEdge { source: source.0, target: target.0, kind: kind.0, weight });
        Ok(())
    }

    /// Adds one slot, of a relationship that can be walked both ways too: its other half is another call.
    ///
    /// # Errors
    /// As [`Self::add_edge`].
    pub fn add_slot(&mut self, edge: &EdgeRow) -> Result<(), Error> {
        let end = self.edges.len();
        self.add_edge(edge)?;
        let added = self.edges[end];
        if self.is_doubled(added.source, added.target, added.kind) {
            self.doubled -= 1;
            self.halves.insert(end);
        }
        Ok(())
    }

    fn is_doubled(&self, source: u32, target: u32, kind: u32) -> bool {
        source != target && self.slot_kinds[kind as usize].direction == EdgeDirection::Bidirectional
    }

    /// The graph of all that was added.
    ///
    /// # Errors
    /// [`Error::InternerFull`] beyond 4 GiB of names.
    pub fn finalize(mut self) -> Result<Graph, Error> {
        let renamed = canonical(&mut self.slot_kinds);
        let count = self.rows.len();
        // Slots are counted into rows.
        let mut begins = vec![0_u32; count + 1];
        let doubles: Vec<bool> = renamed
            .iter()
            .map(|kind| self.slot_kinds[*kind as usize].direction == EdgeDirection::Bidirectional)
            .collect();
        let halves = std::mem::take(&mut self.halves);
        let both = |at: usize, edge: &PendingEdge| {
            doubles[edge.kind as usize]
                && edge.source != edge.target
                && (halves.is_empty() || !halves.contains(&at))
        };
        for (at, edge) in self.edges.iter().enumerate() {
            begins[edge.source as usize + 1] += 1;
            if both(at, edge) {
                begins[edge.target as usize + 1] += 1;
            }
        }
        sum_up(&mut begins);
        let total = begins[count] as usize;
        let empty = Slot { target: 0, kind: 0, weight: 0.0, causal: 0.0 };
        let (mut staged, mut next) = (vec![empty; total], begins.clone());
        for (at, edge) in std::mem::take(&mut self.edges).into_iter().enumerate() {
            let kind = renamed[edge.kind as usize];
            let of = &self.slot_kinds[kind as usize];
            let causal = self.causal.get(&at).copied().unwrap_or_else(|| causal_of(edge.weight, of));
            let ways = [(edge.source, edge.target), (edge.target, edge.source)];
            for (source, target) in ways.into_iter().take(1 + usize::from(both(at, &edge))) {
                let place = &mut next[source as usize];
                staged[*place as usize] = Slot { target, kind, weight: edge.weight, causal };
                *place += 1;
            }
        }
        drop(next);
        // Equal ones of a row become one.
        let mut ends = begins.clone();
        for node in 0..count {
            let row = &mut staged[begins[node] as usize..begins[node + 1] as usize];
            let kept = merged(row, &self.slot_kinds);
            ends[node] = begins[node] + u32::try_from(kept).unwrap_or(u32::MAX);
        }
        let row = |node: usize| &staged[begins[node] as usize..ends[node] as usize];
        let degrees = degrees(count, &row);
        let ranks = ranked((0..count).map(|at| self.rows[at].external_id.as_str()));
        let order = ordered(&degrees, &ranks);
        let columns = Columns::of(order.iter().map(|old| RowView::New(&self.rows[*old as usize])))?;
        let total = (0..count).map(|node| row(node).len()).sum();
        let fill = |old: u32, into: &mut Vec<Slot>| into.extend_from_slice(row(old as usize));
        let parts = Parts {
            range: self.range,
            kinds: self.kinds,
            slot_kinds: self.slot_kinds,
            order,
            degrees,
            ranks,
            total,
        };
        Ok(assemble(parts, columns, fill))
    }
}

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
    /// As those of [`GraphBuilder::add_node`] and [`GraphBuilder::add_edge`], but for a duplicate, which is a change.
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
        let mut ids: BTreeMap<&'a str, u32> = BTreeMap::new();
        change.removed =
            batch.removed_nodes.iter().filter_map(|id| graph.find(id)).map(|node| node.0).collect();
        let count = graph.node_count();
        for node in &batch.nodes {
            let row = node.clone().checked()?;
            let known = ids.get(node.external_id.as_str()).copied();
            let id = match known.or_else(|| graph.find(&node.external_id).map(|node| node.0)) {
                Some(id) if !change.removed.contains(&id) => id,
                _ => {
                    let id = nodes(count + change.added.len() + 1)? - 1;
                    change.added.push(&node.external_id);
                    id
                }
            };
            ids.insert(&node.external_id, id);
            change.rows.insert(id, row);
        }
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

/// What a graph is assembled of, beside its columns and slots. `degrees` and `ranks` are by the ids before.
struct Parts {
    range: WeightRange,
    kinds: Kinds,
    slot_kinds: Vec<SlotKind>,
    order: Vec<u32>,
    degrees: Vec<u32>,
    ranks: Vec<u32>,
    total: usize,
}

/// Puts rows in the order of the next ids into arrays. `fill` hands over the slots of a node, their targets in ids before.
fn assemble(parts: Parts, mut columns: Columns, mut fill: impl FnMut(u32, &mut Vec<Slot>)) -> Graph {
    let Parts { range, kinds, slot_kinds, order, degrees, ranks, total } = parts;
    let count = order.len();
    let mut place = vec![u32::MAX; ranks.len()];
    for (new, old) in (0..).zip(&order) {
        place[*old as usize] = new;
    }
    columns.degree = order.iter().map(|old| degrees[*old as usize]).collect();
    columns.rank = order.iter().map(|old| ranks[*old as usize]).collect();
    columns.by_rank = vec![0; count];
    for (new, rank) in (0..).zip(&columns.rank) {
        columns.by_rank[*rank as usize] = new;
    }
    columns.pagerank = vec![0.0; count];
    columns.out_strength = Vec::with_capacity(count);
    columns.in_strength = vec![0.0; count];
    let mut csr = Csr {
        offsets: Vec::with_capacity(count + 1),
        exc_end: Vec::with_capacity(count),
        targets: Vec::with_capacity(total),
        base: Vec::with_capacity(total),
        weights: Vec::with_capacity(total),
        kind: Vec::with_capacity(total),
        block_offsets: Vec::with_capacity(count + 1),
        bounds: Vec::with_capacity(total / BOUND_BLOCK + count),
        learned: (0..count.div_ceil(32)).map(|_| AtomicU32::new(0)).collect(),
        ..Csr::default()
    };
    csr.offsets.push(0);
    csr.block_offsets.push(0);
    let mut used = vec![false; slot_kinds.len()];
    let (mut row, mut causal, mut deviates) = (Vec::new(), Vec::new(), false);
    let mut bounds = Vec::new();
    for old in &order {
        row.clear();
        fill(*old, &mut row);
        for slot in &mut row {
            slot.target = place[slot.target as usize];
        }
        let key = |slot: &Slot| {
            let polarity = u64::from(slot_kinds[slot.kind as usize].inhibitory) << 63;
            (
                polarity | u64::from(!slot.weight.to_bits() & 0x7fff_ffff) << 32 | u64::from(slot.target),
                slot.kind,
            )
        };
        if !row.is_sorted_by_key(key) {
            row.sort_unstable_by_key(key);
        }
        let exc = row.partition_point(|slot| !slot_kinds[slot.kind as usize].inhibitory);
        let mut strength = 0.0_f64;
        for slot in &row[..exc] {
            let weight = f64::from(range.clamp(slot.weight));
            strength += weight;
            columns.in_strength[slot.target as usize] += weight;
        }
        #[expect(clippy::cast_possible_truncation, reason = "rounded once; at most 2^32 weights of 16")]
        columns.out_strength.push(strength as f32);
        let begin = csr.targets.len();
        for slot in &row {
            let kind = slot.kind as usize;
            used[kind] = true;
            deviates |= slot.causal.to_bits() != causal_of(slot.weight, &slot_kinds[kind]).to_bits();
            csr.kind.push(u8::try_from(kind).unwrap_or(WIDE));
            if kind >= usize::from(WIDE) {
                csr.wide.push((len(&csr.targets), slot.kind));
            }
            csr.targets.push(slot.target);
            csr.base.push(slot.weight);
            csr.weights.push(AtomicU32::new(range.clamp(slot.weight).to_bits()));
            if deviates {
                // From the first that deviates on; those before it are filled in at the end.
                causal.push(slot.causal);
            }
        }
        for part in [&row[..exc], &row[exc..]] {
            bounds.clear();
            // Base weights descend, so the greatest of a block and all later ones is its first.
            bounds.extend(part.chunks(BOUND_BLOCK).map(|block| range.clamp(block[0].weight)));
            csr.bounds.extend(bounds.iter().map(|bound| AtomicU32::new(bound.to_bits())));
        }
        csr.exc_end.push(u32::try_from(begin + exc).unwrap_or(u32::MAX));
        csr.offsets.push(len(&csr.targets));
        csr.block_offsets.push(len(&csr.bounds));
    }
    csr.bounds.shrink_to_fit();
    csr.kinds = slot_kinds;
    if deviates {
        let first = csr.targets.len() - causal.len();
        let before = (0..first).map(|slot| causal_of(csr.base[slot], &csr.kinds[csr.kind(slot)]));
        csr.causal = Some(before.chain(causal).collect());
    }
    forget_unused(&mut csr, &used);
    turn_round(&mut csr, count);
    Graph { generation: Generation::default(), range, kinds, csr, columns }
}

/// The way back: for each node who leads to it, ascending, and over which slot.
fn turn_round(csr: &mut Csr, count: usize) {
    let mut offsets = vec![0_u32; count + 1];
    for target in &csr.targets {
        offsets[*target as usize + 1] += 1;
    }
    sum_up(&mut offsets);
    let mut next = offsets.clone();
    csr.rev_sources = vec![0; csr.targets.len()];
    csr.rev_edge_idx = vec![0; csr.targets.len()];
    for source in 0..count {
        for slot in csr.offsets[source]..csr.offsets[source + 1] {
            let place = &mut next[csr.targets[slot as usize] as usize];
            csr.rev_sources[*place as usize] = u32::try_from(source).unwrap_or(u32::MAX);
            csr.rev_edge_idx[*place as usize] = slot;
            *place += 1;
        }
    }
    csr.rev_offsets = offsets;
}

/// Leaves out kinds of which no slot is left. The rest keep their order, so rows keep theirs.
fn forget_unused(csr: &mut Csr, used: &[bool]) {
    if used.iter().all(|used| *used) {
        return;
    }
    let kinds: Vec<usize> = (0..csr.targets.len()).map(|slot| csr.kind(slot)).collect();
    let mut renamed = vec![0; used.len()];
    let mut kept = Vec::new();
    for (kind, of) in std::mem::take(&mut csr.kinds).into_iter().enumerate().filter(|(kind, _)| used[*kind]) {
        renamed[kind] = kept.len();
        kept.push(of);
    }
    csr.kinds = kept;
    csr.wide.clear();
    for (slot, kind) in kinds.into_iter().map(|kind| renamed[kind]).enumerate() {
        csr.kind[slot] = u8::try_from(kind).unwrap_or(WIDE);
        if kind >= usize::from(WIDE) {
            csr.wide.push((u32::try_from(slot).unwrap_or(u32::MAX), u32::try_from(kind).unwrap_or(u32::MAX)));
        }
    }
}

fn len<T>(all: &[T]) -> u32 {
    u32::try_from(all.len()).unwrap_or(u32::MAX)
}

fn owned_key(kind: &SlotKind) -> (String, EdgeDirection, bool) {
    (kind.relation.clone(), kind.direction, kind.inhibitory)
}

fn stage_kind(
    kinds: &Kinds,
    slot_kinds: &mut Vec<SlotKind>,
    known: &mut BTreeMap<(String, EdgeDirection, bool), u32>,
    relation: &str,
    direction: EdgeDirection,
    inhibitory: bool,
) -> StagedKind {
    let key = (relation.to_owned(), direction, inhibitory);
    StagedKind(*known.entry(key).or_insert_with(|| {
        let causal = kinds.of(relation).causal;
        slot_kinds.push(SlotKind { relation: relation.to_owned(), direction, inhibitory, causal });
        len(slot_kinds) - 1
    }))
}

/// Brings kinds into the order of their keys; answers what each is called now.
fn canonical(kinds: &mut Vec<SlotKind>) -> Vec<u32> {
    let mut order: Vec<usize> = (0..kinds.len()).collect();
    order.sort_unstable_by(|a, b| kinds[*a].key().cmp(&kinds[*b].key()));
    let mut renamed = vec![0; kinds.len()];
    for (new, old) in (0..).zip(&order) {
        renamed[*old] = new;
    }
    *kinds = order.into_iter().map(|old| kinds[old].clone()).collect();
    renamed
}

/// Makes one of those that share target and relation, the heaviest; answers how many are left, which stand first.
fn merged(row: &mut [Slot], kinds: &[SlotKind]) -> usize {
    let relation = |slot: &Slot| &kinds[slot.kind as usize].relation;
    row.sort_unstable_by(|a, b| {
        let same = a.target.cmp(&b.target).then_with(|| {
            if a.kind == b.kind { std::cmp::Ordering::Equal } else { relation(a).cmp(relation(b)) }
        });
        same.then(b.weight.total_cmp(&a.weight)).then(a.kind.cmp(&b.kind)).then(b.causal.total_cmp(&a.causal))
    });
    let mut kept = 0;
    for at in 0..row.len() {
        let is_same = |other: &Slot| other.target == row[at].target && relation(other) == relation(&row[at]);
        if kept == 0 || !is_same(&row[kept - 1]) {
            row[kept] = row[at];
            kept += 1;
        }
    }
    kept
}

/// With how many others each node is joined, whichever way; rows are in the order of their targets.
fn degrees<'a>(count: usize, row: &impl Fn(usize) -> &'a [Slot]) -> Vec<u32> {
    let mut begins = vec![0_u32; count + 1];
    for node in 0..count {
        row(node).iter().for_each(|slot| begins[slot.target as usize + 1] += 1);
    }
    sum_up(&mut begins);
    let (mut sources, mut next) = (vec![0_u32; begins[count] as usize], begins.clone());
    for node in 0..count {
        for slot in row(node) {
            let place = &mut next[slot.target as usize];
            sources[*place as usize] = u32::try_from(node).unwrap_or(u32::MAX);
            *place += 1;
        }
    }
    let joined = |node: usize| {
        let back = &sources[begins[node] as usize..begins[node + 1] as usize];
        let (mut out, mut back) =
            (row(node).iter().map(|slot| slot.target).peekable(), back.iter().copied().peekable());
        let (mut last, mut joined) = (None, 0);
        loop {
            let next = match (out.peek(), back.peek()) {
                (Some(a), Some(b)) if a <= b => out.next(),
                (_, Some(_)) => back.next(),
                (_, None) => out.next(),
            };
            let Some(next) = next else { return joined };
            if last != Some(next) && next as usize != node {
                joined += 1;
            }
            last = Some(next);
        }
    };
    (0..count).map(joined).collect()
}

/// The place of each by the bytes of its name.
fn ranked<'a>(names: impl Iterator<Item = &'a str>) -> Vec<u32> {
    let names: Vec<&str> = names.collect();
    // The first eight bytes decide most comparisons, and they are a number.
    let head = |name: &str| {
        let mut first = [0; 8];
        let len = name.len().min(8);
        first[..len].copy_from_slice(&name.as_bytes()[..len]);
        u64::from_be_bytes(first)
    };
    let mut order: Vec<(u64, u32)> = (0..).zip(&names).map(|(at, name)| (head(name), at)).collect();
    order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| names[a.1 as usize].cmp(names[b.1 as usize])));
    let mut ranks = vec![0; names.len()];
    for (rank, (_, at)) in (0..).zip(order) {
        ranks[at as usize] = rank;
    }
    ranks
}

/// Nodes by degree, greatest first, then by rank.
fn ordered(degrees: &[u32], ranks: &[u32]) -> Vec<u32> {
    let mut order: Vec<(u64, u32)> = (0..)
        .zip(degrees.iter().zip(ranks))
        .map(|(at, (degree, rank))| (u64::from(!degree) << 32 | u64::from(*rank), at))
        .collect();
    order.sort_unstable();
    order.into_iter().map(|(_, at)| at).collect()
}

/// Counts become where each begins.
fn sum_up(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        sum += *count;
        *count = sum;
    }
}

/// A number of a relationship, `0 ..= max`.
fn part_of(name: &'static str, value: f32, max: f64, edge: &EdgeRow) -> Result<f32, Error> {
    let owner = || format!("{} -{}-> {}", edge.source, edge.relation, edge.target);
    if !value.is_finite() {
        return Err(Error::NonFinite { field: name, owner: owner() });
    }
    if !(0.0..=max).contains(&f64::from(value)) {
        let name = format!("{name} of {}", owner());
        return Err(Error::ParameterOutOfRange { name, value: f64::from(value), min: 0.0, max });
    }
    Ok(value + 0.0)
}
