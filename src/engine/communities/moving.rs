//! Local moving: each node moves to the neighbouring community with the greatest gain, until no move gains.
//!
//! A node of strength `k` gains `k_in / M - r * k * D / 2M^2` from a community of strength `D` that it is joined to by
//! `k_in`. It moves to the greatest, the smallest number among equals, if that exceeds its present community by more than
//! a billionth.
//!
//! # Design notes
//! All nodes are queued in the order of their ids, and a move queues the neighbours outside the joined community again. So
//! a level costs what still changes and not a full pass for each change.
//!
//! Gains are compared in units of weight, times `M`, so that nothing is divided.

use super::Scale;
use super::level::{Level, Tally};
use std::collections::VecDeque;

/// Moves nodes until none gains, visiting at most `looks_max`; returns whether that was enough. Numbers of communities are
/// below the number of nodes.
pub(super) fn move_nodes(
    level: &Level,
    of: &mut [u32],
    scale: Scale,
    looks_max: u64,
    tally: &mut Tally,
) -> bool {
    let mut strengths = level.strengths_of(of);
    let mut waits: VecDeque<u32> = level.nodes().collect();
    let mut waiting = vec![true; level.len()];
    let mut looks = 0;
    while let Some(node) = waits.pop_front() {
        if looks == looks_max {
            return false;
        }
        looks += 1;
        waiting[node as usize] = false;
        let own = of[node as usize];
        for (target, weight) in level.row(node) {
            tally.add(of[target as usize], weight);
        }
        let strength = level.strength(node);
        let cost = scale.cost * strength;
        let stays = tally.sum(own) - cost * (strengths[own as usize] - strength);
        let best = tally.best(own, stays + scale.gain_min, |of| Some(cost * strengths[of as usize]));
        let Some((new, _)) = best else { continue };
        strengths[own as usize] -= strength;
        strengths[new as usize] += strength;
        of[node as usize] = new;
        for (target, _) in level.row(node) {
            let target_at = target as usize;
            if of[target_at] != new && !waiting[target_at] {
                waiting[target_at] = true;
                waits.push_back(target);
            }
        }
    }
    true
}
