//! Recall as one puts it together from textbooks: names from a hash map, an activation that scans the whole graph, every
//! posting of every trigram and word, a search that follows the strongest chain first, and lists merged in hash maps.
//!
//! It knows what the questions of the bench need: texts that are the name of somebody, seeds that were found elsewhere, a
//! graph too large for walks, no facts, no synonyms and no filter.

use super::{Plain, Rule, Trigrams, activate};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// A memory.
pub(crate) struct Memory {
    /// What it is called, and what it says.
    pub(crate) label: String,
    pub(crate) content: String,
    /// Its place by what it is known by outside.
    pub(crate) rank: u32,
    /// How well it stands beside the one that stands best.
    pub(crate) standing: f32,
    /// Hours since it last changed, and how often it does in a day.
    pub(crate) age: f64,
    pub(crate) frequency: f32,
}

/// Memories and what joins them.
pub(crate) struct Library {
    pub(crate) graph: Plain,
    pub(crate) memories: Vec<Memory>,
    /// How much of each slot is cause.
    pub(crate) causal: Vec<f32>,
    /// Whom each node was seen with, and how strongly.
    pub(crate) seen_with: HashMap<u32, Vec<(u32, f32)>>,
    rule: Rule,
    /// The stem of a word.
    stem: fn(&str) -> String,
    /// Who leads to each node, and how much of that is cause.
    causes: Vec<Vec<(u32, f32)>>,
    named: HashMap<String, Vec<u32>>,
    trigrams: Trigrams,
    /// By word: how many say it.
    spread: HashMap<String, usize>,
    /// By stem: who says it, and how often.
    postings: HashMap<String, Vec<(u32, f64)>>,
    lengths: Vec<f64>,
    length_mean: f64,
    /// Mean and deviation of how often memories change.
    pace: (f64, f64),
}

/// A node with what the four kinds of evidence say of it, and all of that as one score.
#[derive(Clone, Copy)]
pub(crate) struct Hit {
    pub(crate) node: u32,
    pub(crate) score: f32,
    pub(crate) dimensions: [f32; 4],
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

impl Library {
    pub(crate) fn of(
        (graph, rule): (Plain, Rule),
        memories: Vec<Memory>,
        causal: Vec<f32>,
        seen_with: HashMap<u32, Vec<(u32, f32)>>,
        stem: fn(&str) -> String,
    ) -> Self {
        let mut named: HashMap<String, Vec<u32>> = HashMap::new();
        let mut causes: Vec<Vec<(u32, f32)>> = vec![Vec::new(); graph.nodes()];
        let mut postings: HashMap<String, Vec<(u32, f64)>> = HashMap::new();
        let mut spread: HashMap<String, usize> = HashMap::new();
        let mut lengths = Vec::new();
        for (node, memory) in (0_u32..).zip(&memories) {
            let name = words(&memory.label).collect::<Vec<_>>().join(" ");
            named.entry(name).or_default().push(node);
            let mut counts: HashMap<String, f64> = HashMap::new();
            for word in words(&memory.content) {
                *counts.entry(stem(&word)).or_default() += 1.0;
            }
            let said: HashSet<String> = words(&memory.content).collect();
            said.into_iter().for_each(|word| *spread.entry(word).or_default() += 1);
            lengths.push(counts.values().sum::<f64>());
            counts
                .into_iter()
                .for_each(|(word, count)| postings.entry(word).or_default().push((node, count)));
        }
        for source in 0..graph.nodes() {
            for slot in graph.row(source).filter(|slot| causal[*slot] > 0.0) {
                causes[graph.targets[slot] as usize].push((source as u32, causal[slot]));
            }
        }
        let count = memories.len().max(1) as f64;
        let mean = memories.iter().map(|memory| f64::from(memory.frequency)).sum::<f64>() / count;
        let off = |memory: &Memory| (f64::from(memory.frequency) - mean).powi(2);
        let deviation = (memories.iter().map(off).sum::<f64>() / count).sqrt();
        let labels: Vec<String> = memories.iter().map(|memory| memory.label.clone()).collect();
        let (trigrams, pace) = (Trigrams::build(&labels), (mean, deviation));
        Self {
            length_mean: lengths.iter().sum::<f64>() / count,
            graph,
            memories,
            causal,
            seen_with,
            rule,
            stem,
            causes,
            named,
            trigrams,
            spread,
            postings,
            lengths,
            pace,
        }
    }

    /// The best hits for the name of somebody and seeds that were found elsewhere, the best first; the score is that of words
    /// and links, of which as much counts as they agree.
    pub(crate) fn recall(&self, text: &str, external: &[(u32, f32)], most: usize) -> Vec<Hit> {
        let by_text = self.by_text(text, 200);
        let mut seeds: HashMap<u32, f32> = external.iter().copied().collect();
        let name = words(text).collect::<Vec<_>>().join(" ");
        let spread = words(text).map(|word| self.spread.get(&word).copied().unwrap_or(0)).min().unwrap_or(0);
        for node in self.named.get(&name).into_iter().flatten() {
            let held = seeds.entry(*node).or_default();
            *held = held.max((1.0 / spread.max(1) as f64) as f32);
        }
        let mut seeds: Vec<(u32, f32)> = seeds.into_iter().collect();
        seeds.sort_unstable_by_key(|(node, _)| *node);
        let greatest = seeds.iter().map(|(_, score)| *score).fold(0.0, f32::max);
        let mass: f64 = seeds.iter().map(|(_, score)| f64::from(score / greatest)).sum();
        let reached = self.structural(&seeds);
        let chance = self.memories.len() as f64 / 3.0;
        let lift = |value: f32| ((f64::from(value) / mass * chance).ln_1p() / chance.ln_1p()).min(1.0) as f32;
        let structural: Vec<(u32, f32)> =
            reached.iter().take(usize::max(1_000, most)).map(|(node, value)| (*node, lift(*value))).collect();
        let (like, _) = self.trigrams.like(text, 3 * most);
        let semantic: Vec<(u32, f32)> = like
            .into_iter()
            .filter(|(_, like)| *like > 0.01)
            .map(|(node, like)| (node, like as f32))
            .collect();
        let mut causal = self.causal(&seeds, true);
        causal.extend(self.causal(&seeds, false));
        let temporal = self.temporal(&structural, &semantic, &seeds);
        let by_score = self.merged([structural, semantic, temporal, causal]);
        let best = by_text.first().map_or(1.0, |(_, score)| f64::from(*score));
        let mut sums: HashMap<u32, f64> =
            by_text.iter().map(|(node, score)| (*node, f64::from(*score) / best)).collect();
        let said = |node: &u32| sums.get(node).copied().unwrap_or(0.0);
        let all: f64 = sums.values().sum::<f64>() / self.memories.len() as f64;
        let (mut met, mut lit) = (0.0, 0.0);
        for (node, value) in &reached {
            met += f64::from(*value) * said(node);
            lit += f64::from(*value);
        }
        let agree = match (by_text.is_empty(), lit > 0.0) {
            (true, _) => 1.0,
            (false, true) => (2.0 * (met / lit - all)).clamp(0.0, 1.0),
            (false, false) => 0.0,
        };
        for hit in &by_score {
            *sums.entry(hit.node).or_default() += 3.0 * agree * f64::from(hit.score);
        }
        let scored: HashMap<u32, Hit> = by_score.into_iter().map(|hit| (hit.node, hit)).collect();
        let hit = |(node, sum): (u32, f64)| {
            let dimensions = scored.get(&node).map_or([0.0; 4], |hit| hit.dimensions);
            Hit { node, score: sum as f32, dimensions }
        };
        let mut hits: Vec<Hit> = sums.into_iter().map(hit).filter(|hit| hit.score > 0.0).collect();
        self.sort(&mut hits);
        hits.truncate(most);
        hits
    }

    fn rank(&self, node: u32) -> u32 {
        self.memories[node as usize].rank
    }

    fn sort(&self, hits: &mut [Hit]) {
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(self.rank(a.node).cmp(&self.rank(b.node))));
    }

    /// BM25 over all postings of the words.
    fn by_text(&self, text: &str, most: usize) -> Vec<(u32, f32)> {
        let all = self.lengths.len() as f64;
        let mut asked: Vec<String> = words(text).map(|word| (self.stem)(&word)).collect();
        asked.sort_unstable();
        asked.dedup();
        let mut scores: HashMap<u32, f64> = HashMap::new();
        for of_word in asked.iter().filter_map(|word| self.postings.get(word)) {
            let spread = of_word.len() as f64;
            let rarity = (1.0 + (all - spread + 0.5) / (spread + 0.5)).ln();
            for (node, count) in of_word {
                let saturation = 0.9 * (1.0 - 0.4 + 0.4 * self.lengths[*node as usize] / self.length_mean);
                *scores.entry(*node).or_default() += rarity * count * 1.9 / (count + saturation);
            }
        }
        let hit = |(node, score): (u32, f64)| Hit { node, score: score as f32, dimensions: [0.0; 4] };
        let mut hits: Vec<Hit> = scores.into_iter().map(hit).collect();
        self.sort(&mut hits);
        hits.into_iter().take(most).map(|hit| (hit.node, hit.score)).collect()
    }

    /// All that the seeds light, the strongest first.
    fn structural(&self, seeds: &[(u32, f32)]) -> Vec<(u32, f32)> {
        let greatest = seeds.iter().map(|(_, score)| *score).fold(0.0, f32::max);
        let begun: Vec<(u32, f32)> = seeds.iter().map(|(node, score)| (*node, score / greatest)).collect();
        let values = activate(&self.graph, &begun, self.rule);
        let lit = (0_u32..).zip(values).filter(|(_, value)| *value > 0.0);
        let mut hits: Vec<Hit> = lit.map(|(node, score)| Hit { node, score, dimensions: [0.0; 4] }).collect();
        self.sort(&mut hits);
        hits.into_iter().map(|hit| (hit.node, hit.score)).collect()
    }

    /// The strongest chain of causes from any of the seeds to each node that has one, forward or backward: for each seed all
    /// that it reaches, hop by hop.
    fn causal(&self, seeds: &[(u32, f32)], forward: bool) -> Vec<(u32, f32)> {
        let mut all = Vec::new();
        for (seed, score) in seeds.iter().filter(|(_, score)| *score > 0.01) {
            let mut best: HashMap<u32, f32> = HashMap::from([(*seed, *score)]);
            let mut level = vec![(*seed, *score)];
            for _ in 0..6 {
                let mut next: HashMap<u32, f32> = HashMap::new();
                for (node, strength) in level {
                    let mut hop = |other: u32, causal: f32| {
                        let strength = strength * (causal * 0.7);
                        let held = best.entry(other).or_default();
                        if strength > 0.01 && strength > *held {
                            *held = strength;
                            next.insert(other, strength);
                        }
                    };
                    if forward {
                        let row = self.graph.row(node as usize).filter(|slot| self.causal[*slot] > 0.0);
                        row.for_each(|slot| hop(self.graph.targets[slot], self.causal[slot]));
                    } else {
                        self.causes[node as usize].iter().for_each(|(other, causal)| hop(*other, *causal));
                    }
                }
                level = next.into_iter().collect();
            }
            best.remove(seed);
            all.extend(best.into_iter().filter(|(_, strength)| *strength > 0.0));
        }
        all
    }

    /// What is fresh for what it is worth, or changes with the seeds.
    fn temporal(
        &self,
        structural: &[(u32, f32)],
        semantic: &[(u32, f32)],
        seeds: &[(u32, f32)],
    ) -> Vec<(u32, f32)> {
        let mut relevance: HashMap<u32, f32> = HashMap::new();
        for (node, value) in structural.iter().chain(semantic) {
            let held = relevance.entry(*node).or_default();
            *held = held.max(*value);
        }
        let timed = |(node, r): (u32, f32)| (node, (f64::from(r) * self.share(node)) as f32);
        let mut all: Vec<(u32, f32)> = relevance.into_iter().map(timed).collect();
        for (seed, score) in seeds {
            let row = self.seen_with.get(seed).into_iter().flatten().copied();
            all.extend(row.chain(self.expected(*seed)).map(|(node, value)| (node, score * value)));
        }
        all
    }

    /// How much of its relevance time leaves to a memory.
    fn share(&self, node: u32) -> f64 {
        let Memory { age, frequency, .. } = self.memories[node as usize];
        let raw = (-age / 720.0).exp2();
        let fresh = if age > 840.0 { (raw + 0.3 * (1.0 - 840.0 / age)).min(1.0) } else { raw };
        let (mean, deviation) = self.pace;
        let fast = ((f64::from(frequency) - mean) / deviation.max(0.01) / 3.0).clamp(0.0, 1.0);
        0.6 * fresh + 0.4 * fast
    }

    /// Whom a node may be expected to change with: the hundred best products over at most three slots, the best first.
    fn expected(&self, from: u32) -> Vec<(u32, f32)> {
        let wait = |node: u32, value: f32, hops: u8| {
            (value.to_bits(), Reverse(self.rank(node)), Reverse(hops), node)
        };
        let mut waiting = BinaryHeap::from([wait(from, 1.0, 0)]);
        let (mut hops_at, mut found): (HashMap<u32, u8>, Vec<(u32, f32)>) = (HashMap::new(), Vec::new());
        while let Some((bits, _, Reverse(hops), node)) = waiting.pop() {
            let held = hops_at.get(&node).copied();
            if held.is_some_and(|held| held <= hops) {
                continue;
            }
            hops_at.insert(node, hops);
            if held.is_none() && node != from {
                found.push((node, f32::from_bits(bits)));
                if found.len() == 100 {
                    break;
                }
            }
            if hops == 3 {
                continue;
            }
            for slot in self.graph.row(node as usize) {
                let value = f32::from_bits(bits) * (self.graph.weights[slot] * 0.3).min(0.95);
                if value > 0.001 {
                    waiting.push(wait(self.graph.targets[slot], value, hops + 1));
                }
            }
        }
        found
    }

    /// All that is heard as one score, the best first.
    fn merged(&self, heard: [Vec<(u32, f32)>; 4]) -> Vec<Hit> {
        let weights = [0.35_f32, 0.25, 0.15, 0.25].map(f64::from);
        let active = heard.each_ref().map(|list| !list.is_empty());
        let sum: f64 =
            weights.iter().zip(active).filter(|(_, active)| *active).map(|(weight, _)| weight).sum();
        let mut found: HashMap<u32, [f32; 4]> = HashMap::new();
        for (dimension, list) in heard.into_iter().enumerate() {
            for (node, value) in list {
                let held = &mut found.entry(node).or_default()[dimension];
                *held = held.max(value.clamp(0.0, 1.0));
            }
        }
        let one = |(node, dimensions): (u32, [f32; 4])| {
            let parts = weights.iter().zip(dimensions).map(|(weight, value)| weight / sum * f64::from(value));
            let bonus = [1.0, 1.0, 1.0, 1.3_f32, 1.5][dimensions.iter().filter(|of| **of > 0.01).count()];
            let score = (parts.sum::<f64>() * f64::from(bonus)) as f32;
            let lifted = f64::from(score) * (1.0 + 0.05 * f64::from(self.memories[node as usize].standing));
            Hit { node, score: lifted as f32, dimensions }
        };
        let mut hits: Vec<Hit> = found.into_iter().map(one).filter(|hit| hit.score > 0.0).collect();
        self.sort(&mut hits);
        hits
    }
}
