//! Noise cancelled by contrast, with a hash map of pulses for each level, phases as angles, and sets of neighbours.
//!
//! Amplitudes are `f32`, each product rounded, and are summed in `f64` over ascending senders: so the answer is one to the
//! bit, whoever works it out. What is made of phases is not.

use super::waves::Undirected;
use super::{Plain, Rule};
use std::collections::{HashMap, HashSet};
use std::f64::consts::TAU;
use xxhash_rust::xxh3::xxh3_64;

/// What contrast is worked out on.
pub(crate) struct Scene<'a> {
    pub(crate) graph: &'a Plain,
    pub(crate) pairs: &'a Undirected,
    /// What nodes are known by outside, in the order of their ids.
    pub(crate) names: &'a [String],
    /// How signals spread; each node shares what it sends by its strength.
    pub(crate) rule: Rule,
    /// Pulses of both waves at most.
    pub(crate) budget: usize,
}

/// What is said of a node that the hot wave reached.
pub(crate) struct Field {
    pub(crate) node: u32,
    pub(crate) hot: f32,
    pub(crate) cold: f32,
    pub(crate) overlap: f64,
    pub(crate) gate: f64,
}

/// All of it.
pub(crate) struct Contrast {
    /// By node.
    pub(crate) fields: Vec<Field>,
    /// By name.
    pub(crate) anti_seeds: Vec<u32>,
    pub(crate) pulses: u64,
}

struct Pulse {
    amplitude: f32,
    phase: f64,
    frequency: f64,
    path: Vec<u32>,
}

/// What comes to a node in a level.
#[derive(Default)]
struct Arrivals {
    /// Amplitude, the two sides of the phase and the frequency, all weighed by amplitudes.
    sums: [f64; 4],
    strongest: f32,
    sender: u32,
    path: Vec<u32>,
}

/// Amplitude, the two sides of the phase and the frequency of each node that a wave reached.
type Wave = HashMap<u32, [f64; 4]>;

/// What SplitMix64 answers first when it begins so.
fn mixed(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Scene<'_> {
    fn name(&self, node: u32) -> &str {
        &self.names[node as usize]
    }

    /// A node and whoever is joined to it.
    fn around(&self, node: u32) -> HashSet<u32> {
        self.pairs.others(node).iter().copied().chain([node]).collect()
    }

    /// The first three nodes of an order by lot that are as well connected as the seeds, and unlike each of them.
    fn anti_seeds(&self, seeds: &[(u32, f32)]) -> Vec<u32> {
        let mut names: Vec<&str> = seeds.iter().map(|(seed, _)| self.name(*seed)).collect();
        names.sort_unstable();
        let bytes = names.iter().flat_map(|name| name.bytes().chain([0xFF]));
        let named = bytes.fold(0, |state, byte| mixed(state ^ u64::from(byte)));
        let count = self.names.len() as u64;
        let mut drawn: Vec<u32> = (0..self.names.len() as u32).collect();
        if count > 1_024 {
            let place = |draw| (u128::from(mixed(named.wrapping_add(draw))) * u128::from(count)) >> 64;
            drawn = (0..1_024).map(|draw| place(draw) as u32).collect();
        } else {
            let hash = |node: u32| mixed(named ^ xxh3_64(self.name(node).as_bytes()));
            drawn.sort_by_key(|node| (hash(*node), self.name(*node)));
        }
        let near: Vec<HashSet<u32>> = seeds.iter().map(|(seed, _)| self.around(*seed)).collect();
        let degrees: usize = seeds.iter().map(|(seed, _)| self.pairs.degree(*seed)).sum();
        let mut chosen: Vec<u32> = Vec::new();
        for node in drawn {
            // Three tenths of the mean at least, and the mean three tenths of it: both times the seeds and by ten.
            let degree = self.pairs.degree(node) * seeds.len();
            let fits = 10 * degree >= 3 * degrees && 3 * degree <= 10 * degrees;
            if !fits || chosen.contains(&node) || near.iter().any(|near| near.contains(&node)) {
                continue;
            }
            let own = self.around(node);
            // Less than a fifth of both is shared.
            let unlike = |near: &HashSet<u32>| 5 * own.intersection(near).count() < own.union(near).count();
            if near.iter().all(unlike) {
                chosen.push(node);
                if chosen.len() == 3 {
                    break;
                }
            }
        }
        chosen.sort_by_key(|node| self.name(*node));
        chosen
    }

    /// Who is at most two steps from a seed.
    fn immune(&self, seeds: &[(u32, f32)]) -> Vec<bool> {
        let mut immune = vec![false; self.names.len()];
        let mut level: Vec<u32> = seeds.iter().map(|(seed, _)| *seed).collect();
        for _ in 0..=2 {
            let mut next = Vec::new();
            for node in level {
                if !immune[node as usize] {
                    immune[node as usize] = true;
                    next.extend(self.pairs.others(node));
                }
            }
            level = next;
        }
        immune
    }

    /// A wave of at most so many pulses: what it leaves, and its pulses.
    fn wave(&self, begin: &[(u32, f32)], frequency: f64, budget: usize) -> (Wave, u64) {
        let begun = |amplitude: f32| Pulse { amplitude, phase: 0.0, frequency, path: Vec::new() };
        let mut level: Vec<(u32, Pulse)> = begin.iter().map(|(node, score)| (*node, begun(*score))).collect();
        let (mut wave, mut left) = (Wave::new(), budget);
        for depth in 0..=self.rule.depth {
            let cut = level.len() > left;
            if cut {
                let by = |a: &(u32, Pulse), b: &(u32, Pulse)| b.1.amplitude.total_cmp(&a.1.amplitude);
                level.sort_by(|a, b| by(a, b).then_with(|| self.name(a.0).cmp(self.name(b.0))));
                level.truncate(left);
            }
            left -= level.len();
            for (node, pulse) in &level {
                let amplitude = f64::from(pulse.amplitude);
                let sides = [amplitude * pulse.phase.cos(), amplitude * pulse.phase.sin()];
                let sums = wave.entry(*node).or_default();
                for (sum, part) in
                    sums.iter_mut().zip([amplitude, sides[0], sides[1], amplitude * pulse.frequency])
                {
                    *sum += part;
                }
            }
            if cut || depth == self.rule.depth || level.is_empty() {
                break;
            }
            level.sort_by_key(|(node, _)| *node);
            level = self.fired(&level);
        }
        (wave, (budget - left) as u64)
    }

    /// The next level: what all pulses send, made one pulse for each node.
    fn fired(&self, level: &[(u32, Pulse)]) -> Vec<(u32, Pulse)> {
        let mut arrivals: HashMap<u32, Arrivals> = HashMap::new();
        for (sender, pulse) in level {
            let strength = self.graph.out_strength[*sender as usize].max(1.0);
            let k = (pulse.amplitude * self.rule.decay) * (1.0 / strength);
            let phase = pulse.phase + TAU * pulse.frequency / 16.0;
            let (cos, sin) = (phase.cos(), phase.sin());
            for slot in self.graph.row(*sender as usize).filter(|slot| !self.graph.inhibitory[*slot]) {
                let (target, signal) = (self.graph.targets[slot], k * self.graph.weights[slot]);
                if signal <= self.rule.threshold || pulse.path.contains(&target) {
                    continue;
                }
                let coming = arrivals.entry(target).or_default();
                let amplitude = f64::from(signal);
                let parts = [amplitude, amplitude * cos, amplitude * sin, amplitude * pulse.frequency];
                coming.sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
                let is_first = || self.name(*sender) < self.name(coming.sender);
                let as_strong = signal.to_bits() == coming.strongest.to_bits();
                if signal > coming.strongest || as_strong && is_first() {
                    (coming.strongest, coming.sender) = (signal, *sender);
                    coming.path.clone_from(&pulse.path);
                }
            }
        }
        let mean = self.pairs.mean_degree();
        let merged = |(node, coming): (u32, Arrivals)| {
            let [amplitude, x, y, frequency] = coming.sums;
            let (degree, frequency) = (self.pairs.degree(node) as f64, frequency / amplitude);
            let pull = if degree > 0.0 { degree / (degree + mean) } else { 0.0 };
            let mut path = coming.path;
            path.push(coming.sender);
            let path = path.split_off(path.len().saturating_sub(3));
            let frequency = frequency + (2.35 - frequency) * pull;
            (node, Pulse { amplitude: amplitude.min(16.0) as f32, phase: y.atan2(x), frequency, path })
        };
        arrivals.into_iter().map(merged).collect()
    }

    /// Contrasts what seeds reach, each once and with the amplitude that it begins with, with what others would.
    pub(crate) fn contrasted(&self, seeds: &[(u32, f32)]) -> Contrast {
        let anti_seeds = self.anti_seeds(seeds);
        let sum: f64 = seeds.iter().map(|(_, score)| f64::from(*score)).sum();
        let share = (sum / anti_seeds.len().max(1) as f64) as f32;
        let against: Vec<(u32, f32)> = anti_seeds.iter().map(|node| (*node, share)).collect();
        let (hot, pulses) = self.wave(seeds, 1.0, self.budget / 2);
        let (cold, pulses_cold) = self.wave(&against, 3.7, self.budget / 2);
        let immune = self.immune(seeds);
        let most = hot.values().map(|sums| sums[0]).fold(1.0, f64::max);
        let field = |suppresses: bool, (node, [a, x, y, f]): (&u32, &[f64; 4])| {
            let (mut overlap, mut amplitude) = (0.0, 0.0);
            if let Some([b, u, v, g]) = cold.get(node) {
                let (apart, turned) = (f / a - g / b, y.atan2(*x) - v.atan2(*u));
                overlap = (-apart * apart / (2.0 * 0.8 * 0.8)).exp() * (1.0 + turned.cos()) / 2.0;
                amplitude = *b;
            }
            let degree = self.pairs.degree(*node) as f64;
            let density = (degree / self.pairs.mean_degree().max(f64::MIN_POSITIVE)).clamp(0.3, 2.0);
            let spared = !suppresses || immune[*node as usize];
            let net = (a - if spared { 0.0 } else { overlap * density * amplitude }) / most;
            let gate = (2.0 / (1.0 + (-6.0 * net).exp()) - 1.0).max(0.0);
            Field { node: *node, hot: *a as f32, cold: amplitude as f32, overlap, gate }
        };
        let mut fields: Vec<Field> = hot.iter().map(|reached| field(true, reached)).collect();
        // Where contrast would leave nothing it is left out.
        if !anti_seeds.is_empty() && fields.iter().all(|field| field.gate <= 0.01) {
            fields = hot.iter().map(|reached| field(false, reached)).collect();
        }
        fields.sort_by_key(|field| field.node);
        Contrast { fields, anti_seeds, pulses: pulses + pulses_cold }
    }
}
