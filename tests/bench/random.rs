//! The generator that all benches share: SplitMix64, so that every run on every machine sees the same numbers.

#![allow(dead_code, reason = "each program of this folder uses its own part")]
#![expect(clippy::cast_possible_truncation, reason = "what is drawn is below what was given")]

/// Words of generated texts.
pub(crate) const WORDS: [&str; 16] = [
    "parser", "deploy", "invoice", "latency", "cache", "index", "tenant", "schema", "retry", "budget",
    "alert", "queue", "report", "token", "branch", "release",
];

pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A whole number below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// A number in `[0, 1)`.
    pub(crate) fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / 16_777_216.0
    }

    /// All numbers below `n`, in an order by lot.
    pub(crate) fn shuffled(&mut self, n: u32) -> Vec<u32> {
        let mut all: Vec<u32> = (0..n).collect();
        for at in (1..all.len()).rev() {
            all.swap(at, self.below(at as u64 + 1) as usize);
        }
        all
    }
}
