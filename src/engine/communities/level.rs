//! The weighted graph of one level: rows of neighbours with weights, and self-loops.
//!
//! The first level is the undirected view of the excitatory slots. Each further one has a node for each part of the one
//! before, and weights are added up, so `M` and `Q` mean the same at every level.
//!
//! # Design notes
//! Rows are laid out in one pass: outgoing and incoming slots of a node are added up in a [`Tally`], which has a cell for
//! each node and a list of touched cells, so nothing is sorted or hashed. Sums of slots are exact, from either end
//! ([`crate::graph::pairs`]).

use super::quality;
use crate::counting::sort_by_number;
use crate::graph::Graph;
use crate::graph::csr::weight_of;
use crate::graph::number::PosF32;
use crate::graph::raw::in_large_pages;
use std::ops::Range;

/// Sparse accumulator of weights by number. All cells are 0 between uses.
#[derive(Debug)]
pub(super) struct Tally {
    weights: Vec<f64>,
    /// The touched numbers, and how many of them count.
    touched: Vec<u32>,
    len: usize,
}

impl Tally {
    /// With cells for the numbers below `count`.
    pub(super) fn of(count: usize) -> Self {
        Self { weights: in_large_pages(vec![0.0; count]), touched: vec![0; count + 1], len: 0 }
    }

    /// Adds a weight above 0.
    #[inline]
    pub(super) fn add(&mut self, number: u32, weight: f64) {
        let sum = &mut self.weights[number as usize];
        // Without a branch, which would go either way as often: a number that is not new is overwritten by the next.
        self.touched[self.len] = number;
        self.len += usize::from(sum.to_bits() == 0);
        *sum += weight;
    }

    /// The sum of a number.
    #[inline]
    pub(super) fn sum(&self, number: u32) -> f64 {
        self.weights[number as usize]
    }

    /// Visits all sums in the order in which their numbers were first added, and clears them.
    #[inline]
    pub(super) fn drain(&mut self, mut each: impl FnMut(u32, f64)) {
        for number in &self.touched[..std::mem::take(&mut self.len)] {
            each(*number, std::mem::take(&mut self.weights[*number as usize]));
        }
    }

    /// The number other than `own` with the greatest sum minus cost above `least`, and its sum; of equal ones the smallest.
    /// Numbers without a cost are skipped. Clears all sums.
    #[inline]
    pub(super) fn best(
        &mut self,
        own: u32,
        least: f64,
        cost: impl Fn(u32) -> Option<f64>,
    ) -> Option<(u32, f64)> {
        let (mut best, mut most): (Option<(u32, f64)>, f64) = (None, least);
        self.drain(|number, sum| {
            if number == own {
                return;
            }
            let Some(cost) = cost(number) else { return };
            let gain = sum - cost;
            let equal = gain.to_bits() == most.to_bits();
            if gain > most || equal && best.is_some_and(|(held, _)| number < held) {
                (best, most) = (Some((number, sum)), gain);
            }
        });
        best
    }
}

/// A level.
#[derive(Debug)]
pub(super) struct Level {
    /// Row bounds.
    offsets: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<f64>,
    /// The weight of the self-loop of each node.
    loops: Vec<f64>,
    /// The strength of each node; loops count twice.
    strengths: Vec<f64>,
}

impl Level {
    fn with_room(nodes: usize, pairs: usize) -> Self {
        let mut offsets = Vec::with_capacity(nodes + 1);
        offsets.push(0);
        Self {
            offsets,
            targets: in_large_pages(Vec::with_capacity(pairs)),
            weights: in_large_pages(Vec::with_capacity(pairs)),
            loops: Vec::with_capacity(nodes),
            strengths: Vec::with_capacity(nodes),
        }
    }

    /// The first level. The tally has a cell for each node.
    pub(super) fn of(graph: &Graph, tally: &mut Tally) -> Self {
        let pairs: usize = graph.nodes().map(|node| graph.degree(node) as usize).sum();
        let mut level = Self::with_room(graph.node_count(), pairs);
        let inhibits = graph.has_inhibition();
        for node in graph.nodes() {
            let part = graph.excitatory(node);
            for (target, weight) in part.targets.iter().zip(part.weights) {
                tally.add(*target, f64::from(weight_of(weight)));
            }
            // A loop is both outgoing and incoming: it has been added already.
            let incoming = graph.incoming(node).filter(|(source, _)| *source != node);
            for (source, slot) in incoming {
                if !inhibits || graph.is_excitatory(source, slot) {
                    tally.add(source.0, f64::from(graph.weight(slot)));
                }
            }
            level.end_row(node.0, 0.0, 1.0, tally);
        }
        level
    }

    /// The level whose nodes are the parts of this one; `parts` gives each node a number below `count`.
    pub(super) fn merged(&self, parts: &[u32], count: usize, tally: &mut Tally) -> Self {
        let nodes: Vec<u32> = self.nodes().collect();
        let mut members = vec![0; nodes.len()];
        let ends = sort_by_number(&nodes, &mut members, count, |node| parts[node] as usize);
        let mut level = Self::with_room(count, self.entries());
        let mut begin = 0;
        for (part, end) in (0..).zip(&ends) {
            let mut loops = 0.0;
            for member in &members[begin..*end] {
                loops += self.loops[*member as usize];
                for (target, weight) in self.row(*member) {
                    tally.add(parts[target as usize], weight);
                }
            }
            begin = *end;
            // A pair inside a part was visited from both ends.
            level.end_row(part, loops, 0.5, tally);
        }
        level.targets.shrink_to_fit();
        level.weights.shrink_to_fit();
        level
    }

    /// Ends the row of a node with the sums of the tally. Its loop is `loops` plus `share` times its own sum.
    fn end_row(&mut self, node: u32, mut loops: f64, share: f64, tally: &mut Tally) {
        let mut strength = 0.0;
        tally.drain(|target, weight| {
            if target == node {
                loops += share * weight;
            } else {
                strength += weight;
                self.targets.push(target);
                self.weights.push(weight);
            }
        });
        self.offsets.push(self.targets.len());
        self.loops.push(loops);
        self.strengths.push(strength + 2.0 * loops);
    }

    /// Number of nodes.
    pub(super) fn len(&self) -> usize {
        self.loops.len()
    }

    /// Number of entries in all rows: twice the pairs.
    pub(super) fn entries(&self) -> usize {
        self.targets.len()
    }

    /// All nodes.
    pub(super) fn nodes(&self) -> Range<u32> {
        0..u32::try_from(self.len()).unwrap_or(u32::MAX)
    }

    /// The neighbours of a node with the weights to them.
    #[inline]
    pub(super) fn row(&self, node: u32) -> impl ExactSizeIterator<Item = (u32, f64)> {
        let row = self.offsets[node as usize]..self.offsets[node as usize + 1];
        self.targets[row.clone()].iter().copied().zip(self.weights[row].iter().copied())
    }

    /// The strength of a node.
    pub(super) fn strength(&self, node: u32) -> f64 {
        self.strengths[node as usize]
    }

    /// The strengths of all nodes.
    pub(super) fn strengths(&self) -> &[f64] {
        &self.strengths
    }

    /// The weight of all pairs and loops.
    pub(super) fn total(&self) -> f64 {
        self.strengths.iter().fold(0.0, |sum, strength| sum + strength) / 2.0
    }

    /// The strength of each community; their numbers are below the number of nodes.
    pub(super) fn strengths_of(&self, of: &[u32]) -> Vec<f64> {
        let mut sums = vec![0.0; self.len()];
        for (community, strength) in of.iter().zip(&self.strengths) {
            sums[*community as usize] += strength;
        }
        sums
    }

    /// The connected components of all communities, numbered by their first nodes; and their count.
    pub(super) fn components(&self, of: &[u32]) -> (Vec<u32>, usize) {
        let mut found = vec![u32::MAX; self.len()];
        let (mut count, mut waiting) = (0, Vec::new());
        for first in self.nodes() {
            if found[first as usize] != u32::MAX {
                continue;
            }
            found[first as usize] = count;
            waiting.push(first);
            while let Some(node) = waiting.pop() {
                for (target, _) in self.row(node) {
                    let target_at = target as usize;
                    if of[target_at] == of[first as usize] && found[target_at] == u32::MAX {
                        found[target_at] = count;
                        waiting.push(target);
                    }
                }
            }
            count += 1;
        }
        (found, count as usize)
    }

    /// The modularity of `count` communities.
    pub(super) fn quality(&self, of: &[u32], count: usize, resolution: PosF32) -> f64 {
        let (mut inner, mut strength) = (vec![0.0; count], vec![0.0; count]);
        for node in self.nodes() {
            let (at, own) = (node as usize, of[node as usize]);
            strength[own as usize] += self.strengths[at];
            inner[own as usize] += self.loops[at];
            for (_, weight) in self.row(node).filter(|(target, _)| of[*target as usize] == own) {
                inner[own as usize] += 0.5 * weight;
            }
        }
        quality(&inner, &strength, self.total(), resolution)
    }
}
