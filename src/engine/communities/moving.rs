//! Local moving: each node moves to the neighbouring community with the greatest gain, until that no longer pays.
//!
//! A node of strength `k` gains `k_in / M - r * k * D / 2M^2` from a community of strength `D` that it is joined to by
//! `k_in`. It moves to the greatest, the smallest number among equals, if that exceeds its present community by more than
//! a billionth.
//!
//! # Design notes
//! The first round visits all nodes, from the last id to the first. Ids go by degree, so nodes with few neighbours are
//! grouped first, and hubs choose between groups. From the other end all nodes join hubs, which stay where they are: on
//! R-MAT graphs with drawn weights that costs a fiftieth of the modularity, on lattices nothing; with equal weights it gains
//! about as much.
//!
//! A move queues the neighbours outside the joined community for the next round. So a level costs what still changes and
//! not a full pass for each change.
//!
//! Late rounds gain little and visit mostly hubs, which are neighbours of everything. So a round that gains less than is due
//! for the pairs that it read ([`Scale::gain_each`]) is the last. A small round may gain little.
//!
//! Gains are compared in units of weight, times `M`, so that nothing is divided.

use super::Scale;
use super::level::{Level, Tally};

/// Moves nodes until none gains or a round does not pay, visiting at most `looks_max`; returns whether that was enough.
/// Numbers of communities are below the number of nodes.
pub(super) fn move_nodes(
    level: &Level,
    of: &mut [u32],
    scale: Scale,
    looks_max: u64,
    tally: &mut Tally,
) -> bool {
    let mut strengths = level.strengths_of(of);
    let (mut round, mut next) = (level.nodes().rev().collect::<Vec<u32>>(), Vec::new());
    let mut waiting = vec![true; level.len()];
    let mut looks = 0;
    while !round.is_empty() {
        let (mut gained, mut least) = (0.0, 0.0);
        for node in round.drain(..) {
            if looks == looks_max {
                return false;
            }
            looks += 1;
            waiting[node as usize] = false;
            let own = of[node as usize];
            for (target, weight) in level.row(node) {
                tally.add(of[target as usize], weight);
            }
            least += scale.gain_each * level.row(node).len() as f64;
            let strength = level.strength(node);
            let cost = scale.cost * strength;
            let stays = tally.sum(own) - cost * (strengths[own as usize] - strength);
            let best = tally.best(own, stays + scale.gain_min, |of| Some(cost * strengths[of as usize]));
            let Some((new, joined)) = best else { continue };
            gained += joined - cost * strengths[new as usize] - stays;
            strengths[own as usize] -= strength;
            strengths[new as usize] += strength;
            of[node as usize] = new;
            for (target, _) in level.row(node) {
                let target_at = target as usize;
                if of[target_at] != new && !waiting[target_at] {
                    waiting[target_at] = true;
                    next.push(target);
                }
            }
        }
        if gained < least {
            break;
        }
        std::mem::swap(&mut round, &mut next);
    }
    true
}
