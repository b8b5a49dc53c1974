//! Standing waves by a queue: pulses leave it in the order in which they came, one propagation for each frequency.
//!
//! [`propagated`] is what is timed. A pulse is added to where it is with the phase of its hop, and sends to whoever is
//! joined to that node; nothing enters the queue beyond the pulses that may yet be taken from it. [`by_rule`] is what
//! answers are held to: hop by hop, pulses of one hop with the same node and the same previous node made one, the largest
//! first where a hop has too many. Where no two pulses are alike and the budget is not reached both say the same.

use super::Plain;
use std::collections::{BTreeMap, VecDeque};
use std::f64::consts::TAU;

/// What a pulse must be larger than.
const LEAST: f64 = 0.0001;

/// Who is joined to whom, whichever way, each from both its ends; and how well that conducts.
pub(crate) struct Undirected {
    offsets: Vec<usize>,
    others: Vec<u32>,
    conducts: Vec<f32>,
}

impl Undirected {
    pub(crate) fn of(graph: &Plain) -> Self {
        let mut pairs: Vec<(u32, u32, f32)> = Vec::with_capacity(2 * graph.targets.len());
        for source in 0..graph.nodes() {
            for slot in graph.row(source) {
                let (source, target, weight) =
                    (source as u32, graph.targets[slot], graph.weights[slot].min(1.0));
                let conducts = if graph.inhibitory[slot] { -0.5 * weight } else { weight };
                if source != target {
                    pairs.extend([(source, target, conducts), (target, source, conducts)]);
                }
            }
        }
        pairs.sort_unstable_by_key(|(from, to, _)| (*from, *to));
        pairs.dedup_by(|more, kept| {
            let same = (more.0, more.1) == (kept.0, kept.1);
            if same {
                // What passes on goes before what holds back; of either the stronger.
                let most = kept.2.max(more.2);
                kept.2 = if most > 0.0 { most } else { kept.2.min(more.2) };
            }
            same
        });
        let mut offsets = vec![0; graph.nodes() + 1];
        for (from, _, _) in &pairs {
            offsets[*from as usize + 1] += 1;
        }
        for node in 0..graph.nodes() {
            offsets[node + 1] += offsets[node];
        }
        let (others, conducts) = pairs.into_iter().map(|(_, to, conducts)| (to, conducts)).unzip();
        Self { offsets, others, conducts }
    }

    pub(crate) fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whom a node is joined to, ascending.
    pub(crate) fn others(&self, node: u32) -> &[u32] {
        &self.others[self.offsets[node as usize]..self.offsets[node as usize + 1]]
    }

    pub(crate) fn degree(&self, node: u32) -> usize {
        self.others(node).len()
    }

    pub(crate) fn mean_degree(&self) -> f64 {
        self.others.len() as f64 / self.nodes().max(1) as f64
    }

    fn row(&self, node: u32) -> impl Iterator<Item = (u32, f64)> {
        let row = self.offsets[node as usize]..self.offsets[node as usize + 1];
        self.others[row.clone()].iter().zip(&self.conducts[row]).map(|(other, t)| (*other, f64::from(*t)))
    }

    /// What a node makes of a pulse of strength 1: to each of the others, and back to where it came from. A seed, whose pulse
    /// came from nowhere, sends all of it to everybody.
    fn shares(&self, node: u32, is_seed: bool, hub_above: f64) -> (f64, f64) {
        let degree = self.degree(node) as f64;
        if is_seed {
            (1.0, 0.0)
        } else if degree < 1.5 {
            (0.0, -1.0)
        } else if degree > hub_above {
            (0.7 / (degree - 1.0), -0.3)
        } else {
            (1.0 / (degree - 1.0), 0.0)
        }
    }
}

/// A pulse in the queue; that of a seed came from the seed itself.
struct Pulse {
    node: u32,
    previous: u32,
    hop: usize,
    amplitude: f64,
}

/// How long waves run.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Pulses at most.
    pub(crate) pulses: usize,
    /// Hops at most.
    pub(crate) hops: usize,
}

/// What waves from some seeds, each once, make of every node at a frequency that turns so much of a circle at each hop, as
/// the two sides of a complex number; and how many pulses that took.
pub(crate) fn propagated(
    rows: &Undirected,
    mean_degree: f64,
    seeds: &[(u32, f32)],
    turns: f64,
    limits: Limits,
) -> (Vec<[f64; 2]>, u64) {
    let phases: Vec<[f64; 2]> = (0..=limits.hops)
        .map(|hop| TAU * turns * hop as f64)
        .map(|angle| [angle.cos(), angle.sin()])
        .collect();
    let mut field = vec![[0.0; 2]; rows.nodes()];
    let begun = |(node, amplitude): &(u32, f32)| Pulse {
        node: *node,
        previous: *node,
        hop: 0,
        amplitude: f64::from(*amplitude),
    };
    let mut queue: VecDeque<Pulse> = seeds.iter().map(begun).collect();
    let mut taken = 0;
    while let Some(Pulse { node, previous, hop, amplitude }) = queue.pop_front() {
        if taken == limits.pulses {
            break;
        }
        taken += 1;
        let [real, imaginary] = &mut field[node as usize];
        *real += amplitude * phases[hop][0];
        *imaginary += amplitude * phases[hop][1];
        if hop == limits.hops {
            continue;
        }
        let (onward, back) = rows.shares(node, hop == 0, 4.0 * mean_degree);
        for (other, conducts) in rows.row(node) {
            if taken + queue.len() >= limits.pulses {
                break;
            }
            let share = if other == previous { back } else { onward };
            let amplitude = amplitude * share * conducts;
            if amplitude.abs() > LEAST {
                queue.push_back(Pulse { node: other, previous: node, hop: hop + 1, amplitude });
            }
        }
    }
    (field, taken as u64)
}

/// What came to each node at each hop; and how many pulses that took.
pub(crate) type Came = (BTreeMap<u32, Vec<f64>>, u64);

/// The same by the rule. `rank` orders pulses of equal size: the first stay.
pub(crate) fn by_rule(
    rows: &Undirected,
    mean_degree: f64,
    seeds: &[(u32, f32)],
    rank: impl Fn(u32) -> u32,
    limits: Limits,
) -> Came {
    let mut came: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let mut level: BTreeMap<(u32, u32), f64> =
        seeds.iter().map(|(node, amplitude)| ((*node, *node), f64::from(*amplitude))).collect();
    let mut left = limits.pulses;
    for hop in 0..=limits.hops {
        let mut pulses: Vec<((u32, u32), f64)> =
            level.into_iter().filter(|(_, amplitude)| amplitude.abs() > LEAST).collect();
        let cut = pulses.len() > left;
        if cut {
            let place = |(node, previous): (u32, u32)| (rank(node), rank(previous));
            pulses.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(place(a.0).cmp(&place(b.0))));
            pulses.truncate(left);
        }
        left -= pulses.len();
        level = BTreeMap::new();
        for ((node, previous), amplitude) in pulses {
            came.entry(node).or_insert_with(|| vec![0.0; limits.hops + 1])[hop] += amplitude;
            // What a cut hop, or the last one, would send is not worked out.
            if cut || hop == limits.hops {
                continue;
            }
            let (onward, back) = rows.shares(node, hop == 0, 4.0 * mean_degree);
            for (other, conducts) in rows.row(node) {
                let share = if other == previous { back } else { onward };
                *level.entry((other, node)).or_default() += amplitude * share * conducts;
            }
        }
        if cut {
            break;
        }
    }
    (came, (limits.pulses - left) as u64)
}
