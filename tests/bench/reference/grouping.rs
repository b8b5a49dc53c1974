//! Louvain's method as its authors wrote it down (Blondel, Guillaume, Lambiotte and Lefebvre, 2008): pass after pass over
//! all nodes, what joins a node to a community looked up in a hash map. A level ends with the pass that gains less than a
//! millionth, and so do the levels.

use super::Plain;
use std::collections::HashMap;

/// What a pass must gain of modularity for another one to follow.
const GAIN_MIN: f64 = 1e-6;

/// The graph of a level.
struct Level {
    /// Who is joined to whom and by how much, from both ends; who is joined by several slots stands there several times.
    rows: Vec<Vec<(u32, f64)>>,
    /// What each node has with itself.
    loops: Vec<f64>,
}

impl Level {
    fn of(graph: &Plain) -> Self {
        let n = graph.nodes();
        let mut level = Self { rows: vec![Vec::new(); n], loops: vec![0.0; n] };
        for source in 0..n {
            for slot in graph.row(source).filter(|slot| !graph.inhibitory[*slot]) {
                let (target, weight) = (graph.targets[slot], f64::from(graph.weights[slot]));
                if target as usize == source {
                    level.loops[source] += weight;
                } else {
                    level.rows[source].push((target, weight));
                    level.rows[target as usize].push((source as u32, weight));
                }
            }
        }
        level
    }

    fn strength(&self, node: usize) -> f64 {
        self.rows[node].iter().map(|(_, weight)| weight).sum::<f64>() + 2.0 * self.loops[node]
    }

    /// Lets nodes move to whichever community gains most; answers where they are and what all of that gained.
    fn settled(&self) -> (Vec<u32>, f64) {
        let n = self.rows.len();
        let strengths: Vec<f64> = (0..n).map(|node| self.strength(node)).collect();
        let twice: f64 = strengths.iter().sum();
        let mut of: Vec<u32> = (0..n as u32).collect();
        let (mut totals, mut gained) = (strengths.clone(), 0.0);
        loop {
            let mut of_pass = 0.0;
            for node in 0..n {
                let (own, strength) = (of[node], strengths[node]);
                let mut joined: HashMap<u32, f64> = HashMap::with_capacity(self.rows[node].len());
                for (other, weight) in &self.rows[node] {
                    *joined.entry(of[*other as usize]).or_default() += weight;
                }
                totals[own as usize] -= strength;
                let gain = |community: u32, inside: f64| {
                    inside - strength * totals[community as usize] / twice.max(f64::MIN_POSITIVE)
                };
                let stays = gain(own, joined.get(&own).copied().unwrap_or_default());
                let all = joined.iter().map(|(community, inside)| (gain(*community, *inside), *community));
                let best = all.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
                let (most, new) = best.filter(|(most, _)| *most > stays).unwrap_or((stays, own));
                totals[new as usize] += strength;
                of[node] = new;
                of_pass += most - stays;
            }
            // From both ends of each pair, and in parts of all weight.
            let of_pass = 2.0 * of_pass / twice.max(f64::MIN_POSITIVE);
            gained += of_pass;
            if of_pass < GAIN_MIN {
                return (of, gained);
            }
        }
    }

    /// The level whose nodes are the communities of this one.
    fn merged(&self, of: &[u32], count: usize) -> Self {
        let mut pairs: HashMap<(u32, u32), f64> = HashMap::new();
        let mut loops = vec![0.0; count];
        for node in 0..self.rows.len() {
            let own = of[node];
            loops[own as usize] += self.loops[node];
            for (other, weight) in &self.rows[node] {
                let other = of[*other as usize];
                if own == other {
                    loops[own as usize] += weight / 2.0;
                } else {
                    *pairs.entry((own, other)).or_default() += weight;
                }
            }
        }
        let mut pairs: Vec<((u32, u32), f64)> = pairs.into_iter().collect();
        pairs.sort_unstable_by_key(|(pair, _)| *pair);
        let mut rows = vec![Vec::new(); count];
        for ((own, other), weight) in pairs {
            rows[own as usize].push((other, weight));
        }
        Self { rows, loops }
    }
}

/// The same communities with numbers from 0 on; and how many there are.
fn numbered(of: &[u32]) -> (Vec<u32>, usize) {
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let mut renamed = Vec::with_capacity(of.len());
    for community in of {
        let next = numbers.len() as u32;
        renamed.push(*numbers.entry(*community).or_insert(next));
    }
    (renamed, numbers.len())
}

/// The community of each node.
pub(crate) fn communities(graph: &Plain) -> Vec<u32> {
    let mut level = Level::of(graph);
    let mut place: Vec<u32> = (0..graph.nodes() as u32).collect();
    loop {
        let (of, gained) = level.settled();
        let (of, count) = numbered(&of);
        for node in &mut place {
            *node = of[*node as usize];
        }
        if gained < GAIN_MIN || count == level.rows.len() {
            return place;
        }
        level = level.merged(&of, count);
    }
}

/// The modularity of any partition: the share of all weight that lies inside communities, less what lies there by chance,
/// which is the square of each one's share of all ends.
pub(crate) fn modularity(graph: &Plain, of: &[u32]) -> f64 {
    let count = of.iter().max().map_or(0, |most| *most as usize + 1);
    let (mut all, mut inside, mut ends) = (0.0, 0.0, vec![0.0; count]);
    for source in 0..graph.nodes() {
        for slot in graph.row(source).filter(|slot| !graph.inhibitory[*slot]) {
            let (own, other) = (of[source], of[graph.targets[slot] as usize]);
            let weight = f64::from(graph.weights[slot]);
            all += weight;
            inside += if own == other { weight } else { 0.0 };
            ends[own as usize] += weight;
            ends[other as usize] += weight;
        }
    }
    if all > 0.0 {
        let by_chance: f64 = ends.iter().map(|ends| (ends / (2.0 * all)).powi(2)).sum();
        inside / all - by_chance
    } else {
        0.0
    }
}
