//! Deterministic pseudo-random numbers: SplitMix64 (Steele, Lea and Flood, 2014), with a stream for each node.
//!
//! A stream is seeded by a seed and the external id of a node, so it does not depend on the position of the node in its
//! graph or on earlier draws.

use crate::graph::Graph;
use crate::graph::index::NodeId;
use xxhash_rust::xxh3::xxh3_64;

/// Increment of the state: 2^64 over the golden ratio, odd.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The first output of SplitMix64 with this state.
#[must_use]
pub const fn mixed(state: u64) -> u64 {
    let mut z = state.wrapping_add(STEP);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Maps 64 random bits to a number below `bound`; 0 if `bound` is 0.
#[must_use]
pub const fn below(bits: u64, bound: u64) -> u64 {
    ((bits as u128 * bound as u128) >> 64) as u64
}

/// Hash of the external id of a node.
#[must_use]
pub fn stable_hash(graph: &Graph, node: NodeId) -> u64 {
    xxh3_64(graph.external_id(node).as_bytes())
}

/// A stream of numbers.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The stream with a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn draw(&mut self) -> u64 {
        let drawn = mixed(self.0);
        self.0 = self.0.wrapping_add(STEP);
        drawn
    }

    /// The next number below a bound.
    pub const fn draw_below(&mut self, bound: u64) -> u64 {
        below(self.draw(), bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_numbers() {
        assert_eq!(mixed(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mixed(42), 0xbdd7_3226_2feb_6e95);
        let mut stream = SplitMix64::new(0);
        assert_eq!([stream.draw(), stream.draw()], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn draws_are_below_their_bound_and_reach_all() {
        assert_eq!([below(u64::MAX, 10), below(0, 10), below(u64::MAX, 0)], [9, 0, 0]);
        let (mut stream, mut seen) = (SplitMix64::new(7), [0_u32; 6]);
        for _ in 0..6_000 {
            seen[usize::try_from(stream.draw_below(6)).unwrap()] += 1;
        }
        assert!(seen.iter().all(|count| (850..1_150).contains(count)), "{seen:?}");
    }
}
