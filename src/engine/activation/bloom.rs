//! A Bloom filter: no false negatives, about one false positive in a hundred.
//!
//! Two hashes give all positions of a key (double hashing). Positives are looked up in the table, so the filter never
//! changes a result.

/// Bits and positions for each key at a hundredth: `m/n = -ln p / ln^2 2`, `k = m/n * ln 2`.
const BITS_EACH: f64 = 9.585;
const PLACES: u64 = 7;

/// A set of numbers, approximately.
#[derive(Debug, Clone)]
pub(super) struct BloomFilter {
    bits: Vec<u64>,
}

impl BloomFilter {
    /// A filter for about this many keys.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a size in bits, rounded up"
    )]
    pub(super) fn of(things: usize) -> Self {
        let bits = (things.max(1) as f64 * BITS_EACH).ceil() as usize;
        Self { bits: vec![0; bits.div_ceil(64)] }
    }

    fn places(&self, thing: u32) -> impl Iterator<Item = (usize, u64)> + use<> {
        let size = self.bits.len() as u64 * 64;
        let (first, step) = (mixed(u64::from(thing)), mixed(u64::from(thing) ^ 0x9E37_79B9_7F4A_7C15) | 1);
        (0..PLACES).map(move |place| {
            let at = first.wrapping_add(place.wrapping_mul(step)) % size;
            (usize::try_from(at / 64).unwrap_or(0), 1 << (at % 64))
        })
    }

    pub(super) fn insert(&mut self, thing: u32) {
        for (word, bit) in self.places(thing) {
            self.bits[word] |= bit;
        }
    }

    /// Whether a key may be in the set; `false` is certain.
    pub(super) fn may_hold(&self, thing: u32) -> bool {
        self.places(thing).all(|(word, bit)| self.bits[word] & bit != 0)
    }
}

/// The finalizer of SplitMix64: every output bit depends on every input bit.
fn mixed(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bloom_no_false_negative() {
        let mut filter = BloomFilter::of(10_000);
        (0..10_000).for_each(|n| filter.insert(n * 7));
        assert!((0..10_000).all(|n| filter.may_hold(n * 7)));
        let alarms = (0..100_000).filter(|n| filter.may_hold(n * 7 + 1)).count();
        assert!(alarms <= 2_000, "{alarms} of 100,000 where 1,000 are meant");
    }

    #[test]
    fn splitmix_vectors() {
        assert_eq!([mixed(0), mixed(42)], [0xe220_a839_7b1d_cdaf, 0xbdd7_3226_2feb_6e95]);
    }
}
