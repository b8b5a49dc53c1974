//! Mechanisms as a textbook has them: short, obvious, over dense arrays and hash maps, every edge read. What the engine's
//! answers are held to, and what its times are divided by. Nothing here is shared with what it judges.
//!
//! Here is what finding and spreading is held to; in the folder beside it [`grouping`] by Louvain, [`learning`] over the
//! whole graph, [`contrast`] and [`waves`] of pulses, and [`recall`], which puts all of it together.

#![allow(dead_code, reason = "the tests of the library and each bench use their own part of it")]
#![expect(
    clippy::needless_range_loop,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "as a textbook has it; values lie in 0 to 16"
)]

use std::collections::BTreeMap;

#[path = "reference/contrast.rs"]
pub(crate) mod contrast;
#[path = "reference/grouping.rs"]
pub(crate) mod grouping;
#[path = "reference/learning.rs"]
pub(crate) mod learning;
#[path = "reference/recall.rs"]
pub(crate) mod recall;
#[path = "reference/waves.rs"]
pub(crate) mod waves;

/// A graph as plain rows.
pub(crate) struct Plain {
    pub(crate) offsets: Vec<u32>,
    pub(crate) targets: Vec<u32>,
    pub(crate) weights: Vec<f32>,
    pub(crate) inhibitory: Vec<bool>,
    /// Of each node the sum of the base weights of its excitatory slots.
    pub(crate) out_strength: Vec<f32>,
}

/// How a signal spreads.
#[derive(Clone, Copy)]
pub(crate) struct Rule {
    /// The strongest arrival counts, or else their sum.
    pub(crate) strongest: bool,
    /// 0: each slot gets all; 1: by the root of the strength; 2: by the strength.
    pub(crate) fan: u8,
    pub(crate) threshold: f32,
    pub(crate) decay: f32,
    pub(crate) depth: u8,
    pub(crate) cap: f32,
}

impl Plain {
    pub(crate) fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    fn row(&self, node: usize) -> std::ops::Range<usize> {
        self.offsets[node] as usize..self.offsets[node + 1] as usize
    }
}

/// Values of all nodes after an activation; seeds are distinct and hold their values.
pub(crate) fn activate(graph: &Plain, seeds: &[(u32, f32)], rule: Rule) -> Vec<f32> {
    let n = graph.nodes();
    let (mut value, mut fires) = (vec![0.0_f32; n], vec![0.0_f32; n]);
    for (node, score) in seeds {
        value[*node as usize] = score.min(rule.cap);
        fires[*node as usize] = value[*node as usize];
    }
    for _ in 0..rule.depth {
        let (mut most, mut sum, mut held_back) = (vec![0.0_f32; n], vec![0.0_f64; n], vec![0_u64; n]);
        for source in 0..n {
            if fires[source] <= rule.threshold {
                continue;
            }
            let strength = graph.out_strength[source].max(1.0);
            let share = [1.0, 1.0 / strength.sqrt(), 1.0 / strength][usize::from(rule.fan)];
            let k = (fires[source] * rule.decay) * share;
            for slot in graph.row(source) {
                let signal = k * graph.weights[slot];
                let target = graph.targets[slot] as usize;
                if signal <= rule.threshold {
                    continue;
                }
                if graph.inhibitory[slot] {
                    let units = (f64::from(signal * 0.5) * 1_099_511_627_776.0).round_ties_even();
                    held_back[target] = held_back[target].saturating_add(units as u64);
                } else {
                    most[target] = most[target].max(signal);
                    sum[target] += f64::from(signal);
                }
            }
        }
        let mut any = false;
        for node in 0..n {
            let old = value[node];
            let less = held_back[node] as f64 / 1_099_511_627_776.0;
            let lifted =
                if rule.strongest { f64::from(old.max(most[node])) } else { f64::from(old) + sum[node] };
            let new = (lifted - less).clamp(0.0, f64::from(rule.cap)) as f32;
            value[node] = new;
            fires[node] = if new <= old {
                0.0
            } else if rule.strongest {
                new
            } else {
                new - old
            };
            any |= fires[node] > rule.threshold;
        }
        if !any {
            break;
        }
    }
    value
}

/// Standing by power iteration in f64: pull over unweighted in-slots, dangling mass shared by all.
pub(crate) fn pagerank(graph: &Plain, damping: f64, iterations: usize) -> Vec<f64> {
    let n = graph.nodes();
    let out = |node: usize| graph.row(node).filter(|slot| !graph.inhibitory[*slot]).count();
    let mut rank = vec![1.0 / n as f64; n];
    for _ in 0..iterations {
        let dangling: f64 = (0..n).filter(|node| out(*node) == 0).map(|node| rank[node]).sum();
        let mut next = vec![(1.0 - damping + damping * dangling) / n as f64; n];
        for source in 0..n {
            for slot in graph.row(source).filter(|slot| !graph.inhibitory[*slot]) {
                next[graph.targets[slot] as usize] += damping * rank[source] / out(source) as f64;
            }
        }
        rank = next;
    }
    rank
}

/// Texts by the windows of three characters that they have, each posting with what it weighs in a text of length 1.
pub(crate) struct Trigrams {
    postings: BTreeMap<u32, Vec<(u32, f64)>>,
    texts: usize,
}

/// The windows of a text and how often each is there; by their hashes, FNV-1a cut to 24 bits.
fn windows(text: &str) -> BTreeMap<u32, f64> {
    let lower: Vec<char> = text.to_lowercase().chars().collect();
    let mut counts = BTreeMap::new();
    for window in lower.windows(3) {
        let said: String = window.iter().collect();
        let hash = said
            .bytes()
            .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        *counts.entry(hash & 0x00ff_ffff).or_insert(0.0) += 1.0;
    }
    counts
}

impl Trigrams {
    pub(crate) fn build(texts: &[String]) -> Self {
        let mut postings: BTreeMap<u32, Vec<(u32, f64)>> = BTreeMap::new();
        for (at, text) in (0..).zip(texts) {
            for (window, count) in windows(text) {
                postings.entry(window).or_default().push((at, count));
            }
        }
        let mut squares = vec![0.0; texts.len()];
        for of_window in postings.values_mut() {
            let rarity = (texts.len() as f64 / of_window.len() as f64).ln() + 1.0;
            for (text, weight) in of_window {
                *weight *= rarity;
                squares[*text as usize] += *weight * *weight;
            }
        }
        for (text, weight) in postings.values_mut().flatten() {
            *weight /= squares[*text as usize].sqrt();
        }
        Self { postings, texts: texts.len() }
    }

    /// The `most` texts with the greatest cosine, by reading every posting of every window; and how many those were.
    pub(crate) fn like(&self, text: &str, most: usize) -> (Vec<(u32, f64)>, u64) {
        let (mut scores, mut read, mut square) = (vec![0.0_f64; self.texts], 0, 0.0);
        for (window, count) in windows(text) {
            let of_window = self.postings.get(&window).map_or(&[][..], Vec::as_slice);
            let weight = count * ((self.texts as f64 / of_window.len().max(1) as f64).ln() + 1.0);
            square += weight * weight;
            read += of_window.len() as u64;
            for (text, held) in of_window {
                scores[*text as usize] += weight * held;
            }
        }
        let mut like: Vec<(u32, f64)> = (0..).zip(scores.iter().map(|score| score / square.sqrt())).collect();
        like.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        like.truncate(most);
        (like, read)
    }
}
