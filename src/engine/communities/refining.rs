//! Refinement: splits each community into well-connected parts, which become the nodes of the next level.
//!
//! Nodes begin alone. One that is still alone joins, from the last id to the first, the part of its own community with
//! the greatest gain, `k_in - r * k * K / 2M` and above 0, the smallest number among equals. Only well-connected nodes and
//! parts take part: those of strength `k` in a community of strength `D` that are joined to the rest of it by at least
//! `r * k * (D - k) / 2M`.
//!
//! # Design notes
//! Without refinement a community could lose the node that held it together and never split, since later levels move
//! it as a whole. Parts join again at the next level if they gain by it.
//!
//! Ids go by degree, so parts begin around nodes with few neighbours and stay small, and small parts leave the next level
//! a choice. From the other end nearly all of a community joins its hub.

use super::Scale;
use super::level::{Level, Tally};

/// The part of each node, by the number of the first node of the part.
pub(super) fn refine(level: &Level, of: &[u32], scale: Scale, tally: &mut Tally) -> Vec<u32> {
    let strengths = level.strengths_of(of);
    let inside = |node: u32| {
        let own = of[node as usize];
        level.row(node).filter(move |(target, _)| of[*target as usize] == own)
    };
    let mut parts: Vec<u32> = level.nodes().collect();
    // For each part its strength, its weight to the rest of its community, and whether it has more than one node.
    let mut sizes = level.strengths().to_vec();
    let mut cuts: Vec<f64> =
        level.nodes().map(|node| inside(node).fold(0.0, |sum, (_, weight)| sum + weight)).collect();
    let mut joined = vec![false; level.len()];
    for node in level.nodes().rev() {
        let at = node as usize;
        let all = strengths[of[at] as usize];
        let holds = |cut: f64, size: f64| cut >= scale.cost * size * (all - size);
        let (strength, cut) = (level.strength(node), cuts[at]);
        if joined[at] || !holds(cut, strength) {
            continue;
        }
        for (target, weight) in inside(node) {
            tally.add(parts[target as usize], weight);
        }
        let cost = |part: u32| {
            let size = sizes[part as usize];
            holds(cuts[part as usize], size).then_some(scale.cost * strength * size)
        };
        if let Some((part, weight)) = tally.best(node, 0.0, cost) {
            parts[at] = part;
            joined[part as usize] = true;
            sizes[part as usize] += strength;
            cuts[part as usize] += cut - 2.0 * weight;
        }
    }
    parts
}
