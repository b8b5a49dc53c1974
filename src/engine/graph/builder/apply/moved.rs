//! Degrees, ranks and ids of nodes after a change.

use super::Change;
use crate::graph::index::NodeId;
use std::cmp::Reverse;

/// One direction between two nodes: whether there is a slot before and after the change, and how many are removed.
#[derive(Clone, Copy)]
struct PairChange {
    before: bool,
    after: bool,
    going: usize,
}

impl Change<'_> {
    fn held(&self, node: u32) -> bool {
        (node as usize) < self.graph.node_count()
    }

    /// The change of the slots from one node to another.
    fn change(&self, source: u32, target: u32) -> PairChange {
        let is_new =
            || self.new.binary_search_by_key(&(source, target), |(of, slot)| (*of, slot.target)).is_ok();
        if !self.held(source) || !self.held(target) {
            return PairChange { before: false, after: is_new(), going: 0 };
        }
        let (mut count, mut going) = (0, 0);
        for slot in self.graph.between(NodeId(source), NodeId(target)) {
            count += 1;
            going += usize::from(self.is_gone(source, target, self.graph.csr.kind(slot.at())));
        }
        PairChange { before: count > 0, after: count > going || is_new(), going }
    }

    /// The degree of each node after the change, and the number of slots. The degrees of removed nodes are meaningless.
    pub(super) fn degrees(&self) -> (Vec<u32>, usize) {
        let mut degrees = self.graph.columns.degree.clone();
        degrees.resize(self.graph.node_count() + self.added.len(), 0);
        let mut total = self.graph.slot_count() + self.new.len();
        for slots in self.gone.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (source, target, _) = slots[0];
            let forward = self.change(source, target);
            total -= forward.going;
            // A pair that changes in both directions is counted once.
            let from = self.gone.partition_point(|gone| (gone.0, gone.1) < (target, source));
            let both = self.gone.get(from).is_some_and(|gone| (gone.0, gone.1) == (target, source));
            if source == target || both && target < source {
                continue;
            }
            let back = self.change(target, source);
            let (before, after) = (forward.before || back.before, forward.after || back.after);
            for node in [source, target] {
                let degree = &mut degrees[node as usize];
                *degree = *degree + u32::from(after) - u32::from(before);
            }
        }
        total -= self.part(&mut degrees);
        (degrees, total)
    }

    /// Lowers the degrees of the neighbours of removed nodes; returns how many slots are removed.
    fn part(&self, degrees: &mut [u32]) -> usize {
        let mut slots = 0;
        let mut others: Vec<u32> = Vec::new();
        for removed in &self.removed {
            let node = NodeId(*removed);
            others.clear();
            others.extend(self.graph.sources(node).iter().filter(|source| !self.is_removed(**source)));
            slots += self.graph.out_slots(node) + others.len();
            others.extend(self.graph.targets(node).filter(|target| !self.is_removed(*target)));
            others.sort_unstable();
            others.dedup();
            others.iter().for_each(|other| degrees[*other as usize] -= 1);
        }
        slots
    }

    /// All remaining and new nodes by the bytes of their external ids.
    pub(super) fn by_rank(&self) -> Vec<u32> {
        let before = &self.graph.columns.by_rank;
        let first = u32::try_from(self.graph.node_count()).unwrap_or(u32::MAX);
        let mut by_rank = Vec::with_capacity(self.graph.node_count() + self.added.len());
        let is_left = |old: &&u32| !self.is_removed(**old);
        let mut from = 0;
        for ((_, position), node) in self.added.iter().zip(first..) {
            by_rank.extend(before[from..*position].iter().filter(is_left));
            by_rank.push(node);
            from = *position;
        }
        by_rank.extend(before[from..].iter().filter(is_left));
        by_rank
    }

    /// All remaining and new nodes in the order of their new ids. Those that keep their degree are in order already.
    pub(super) fn order(&self, degrees: &[u32], ranks: &[u32]) -> Vec<u32> {
        let before = &self.graph.columns.degree;
        let place = |node: u32| (Reverse(degrees[node as usize]), ranks[node as usize]);
        let ids = || (0..u32::MAX).zip(degrees);
        let moves = |node: u32, degree: u32| before.get(node as usize) != Some(&degree);
        let is_left = |node: u32| !self.is_removed(node);
        let mut moved: Vec<u32> = ids()
            .filter(|(node, degree)| moves(*node, **degree) && is_left(*node))
            .map(|(node, _)| node)
            .collect();
        moved.sort_unstable_by_key(|node| place(*node));
        let mut moved = moved.into_iter().peekable();
        let mut order = Vec::with_capacity(degrees.len());
        for (old, degree) in ids() {
            if moves(old, *degree) || !is_left(old) {
                continue;
            }
            while let Some(node) = moved.next_if(|node| place(*node) < place(old)) {
                order.push(node);
            }
            order.push(old);
        }
        order.extend(moved);
        order
    }
}
