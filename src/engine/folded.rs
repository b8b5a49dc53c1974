//! A hasher of numbers that are spread already, such as hashes: one multiplication and a seed of its own for each map.
//!
//! The standard hasher takes several times as long, which shows where a million ids are looked up at once. The seed keeps
//! those who choose the ids from choosing their places in a table.

use std::hash::{BuildHasher, Hasher, RandomState};

/// An odd number without a pattern: the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Builds the hashers of one map.
#[derive(Debug, Clone)]
pub(crate) struct Folded(u64);

impl Default for Folded {
    fn default() -> Self {
        Self(RandomState::new().hash_one(SPREAD))
    }
}

impl BuildHasher for Folded {
    type Hasher = FoldedHasher;

    fn build_hasher(&self) -> FoldedHasher {
        FoldedHasher(self.0)
    }
}

/// A hasher of one number.
pub(crate) struct FoldedHasher(u64);

impl Hasher for FoldedHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        let wide = u128::from(self.0 ^ number) * u128::from(SPREAD);
        #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
        let both = (wide >> 64) as u64 ^ wide as u64;
        self.0 = both;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn numbers_are_spread_and_maps_differ() {
        let (one, other) = (Folded::default(), Folded::default());
        let places = |of: &Folded| (0..1_000_u64).map(|number| of.hash_one(number << 32)).collect::<Vec<_>>();
        assert_ne!(places(&one), places(&other));
        assert_eq!(places(&one), places(&one.clone()));
        let cells: HashSet<u64> = places(&one).iter().map(|place| place & 0xffff).collect();
        assert!(cells.len() > 900, "{}", cells.len());
    }
}
