//! What this machine can do: small kernels beside which the engine's are put. Their arrays stand in large pages, as the
//! engine's do.

use crate::measure::seconds;
use crate::random::SplitMix64;
use crate::record::Probe;
use ebb_engine::graph::raw::{in_large_pages, prefetch};
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};

/// P1: items of an array are gathered in an order by lot.
pub(crate) struct Gather {
    order: Vec<u32>,
    state: Vec<u32>,
}

impl Gather {
    /// Over so many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        let count = u32::try_from(bytes / 4).expect("a size");
        let mut state = in_large_pages(vec![0; bytes / 4]);
        state.iter_mut().zip(0..count).for_each(|(item, at)| *item = at);
        Self { order: SplitMix64(5).shuffled(count), state }
    }

    /// Seconds for each item.
    pub(crate) fn run(&self) -> f64 {
        let sum = || self.order.iter().fold(0_u32, |sum, at| sum.wrapping_add(self.state[*at as usize]));
        seconds(sum) / self.order.len() as f64
    }
}

/// P2: a front is pushed over rows in an order by lot, of the mean length of a graph, into a cell for each of its nodes.
pub(crate) struct Push {
    rows: Vec<u32>,
    targets: Vec<u32>,
    weights: Vec<f32>,
    cells: Vec<f32>,
    length: usize,
}

impl Push {
    /// For a graph of so many nodes and slots.
    pub(crate) fn new(nodes: usize, slots: usize) -> Self {
        let mut random = SplitMix64(7);
        let length = (slots / nodes).max(1);
        let rows = random.shuffled(u32::try_from(nodes).expect("nodes of a graph"));
        let target = |random: &mut SplitMix64| u32::try_from(random.below(nodes as u64)).unwrap_or(0);
        let mut targets = in_large_pages(vec![0; nodes * length]);
        targets.iter_mut().for_each(|of| *of = target(&mut random));
        let mut weights = in_large_pages(vec![0.0; nodes * length]);
        weights.iter_mut().for_each(|of| *of = random.unit());
        Self { rows, targets, weights, cells: in_large_pages(vec![0.0; nodes]), length }
    }

    pub(crate) fn bytes(&self) -> usize {
        4 * self.cells.len()
    }

    /// Seconds for each edge.
    pub(crate) fn run(&mut self) -> f64 {
        self.cells.fill(0.0);
        let took = seconds(|| {
            for (at, row) in self.rows.iter().enumerate() {
                if let Some(ahead) = self.rows.get(at + 12) {
                    let begin = *ahead as usize * self.length;
                    prefetch(&self.targets[begin..]);
                    prefetch(&self.weights[begin..]);
                }
                let begin = *row as usize * self.length;
                let range = begin..begin + self.length;
                for (target, weight) in self.targets[range.clone()].iter().zip(&self.weights[range]) {
                    let cell = &mut self.cells[*target as usize];
                    if *weight > *cell {
                        *cell = *weight;
                    }
                }
            }
        });
        black_box(&self.cells);
        took / self.targets.len() as f64
    }
}

/// P3: weights of an array are written in an order by lot, as learning writes them: by compare-and-swap, with nobody else
/// there.
pub(crate) struct Swap {
    order: Vec<u32>,
    weights: Vec<AtomicU32>,
}

impl Swap {
    /// Over so many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        let count = u32::try_from(bytes / 4).expect("a size");
        let mut weights = in_large_pages(Vec::with_capacity(bytes / 4));
        weights.extend((0..count).map(AtomicU32::new));
        Self { order: SplitMix64(13).shuffled(count), weights }
    }

    /// Seconds for each write.
    pub(crate) fn run(&self) -> f64 {
        let swaps = |at: &&u32| {
            let weight = &self.weights[**at as usize];
            let seen = weight.load(Ordering::Relaxed);
            weight.compare_exchange_weak(seen, seen ^ 1, Ordering::Release, Ordering::Relaxed).is_ok()
        };
        seconds(|| self.order.iter().filter(swaps).count()) / self.order.len() as f64
    }

    /// The same by a load and a store.
    pub(crate) fn plainly(&self) -> f64 {
        let write = |at: &u32| {
            let weight = &self.weights[*at as usize];
            weight.store(weight.load(Ordering::Relaxed) ^ 1, Ordering::Relaxed);
        };
        seconds(|| self.order.iter().for_each(write)) / self.order.len() as f64
    }
}

/// P4: `a = b + s c` over arrays that no cache holds.
fn triad() -> f64 {
    const COUNT: usize = 8 << 20;
    let (mut a, b, c) = (vec![0.0_f64; COUNT], vec![1.0_f64; COUNT], vec![2.0_f64; COUNT]);
    let took = seconds(|| {
        for ((a, b), c) in a.iter_mut().zip(&b).zip(&c) {
            *a = b + 3.0 * c;
        }
    });
    black_box(a);
    took / COUNT as f64
}

/// What the machine does before and after some work: a gather over 4 and 64 MiB, a push at 2^16 nodes, writes over 4 MiB,
/// a triad.
pub(crate) fn around(work: impl FnOnce()) -> Vec<Probe> {
    let (small, large, mut push) = (Gather::new(4 << 20), Gather::new(64 << 20), Push::new(1 << 16, 1 << 20));
    let swap = Swap::new(4 << 20);
    let push_bytes = push.bytes() as u64;
    let mut look = || {
        let best =
            |mut probe: Box<dyn FnMut() -> f64 + '_>| (0..5).map(|_| probe()).fold(f64::INFINITY, f64::min);
        [
            best(Box::new(|| small.run())),
            best(Box::new(|| large.run())),
            best(Box::new(|| push.run())),
            best(Box::new(|| swap.run())),
            best(Box::new(triad)),
        ]
    };
    let before = look();
    work();
    let after = look();
    let named =
        [("P1", 4_u64 << 20), ("P1", 64 << 20), ("P2", push_bytes), ("P3", 4 << 20), ("P4", 192 << 20)];
    let probe = |((id, size), (before, after)): ((&str, u64), (f64, f64))| Probe {
        id: id.to_owned(),
        size,
        before: before * 1e9,
        after: after * 1e9,
    };
    named.into_iter().zip(before.into_iter().zip(after)).map(probe).collect()
}
