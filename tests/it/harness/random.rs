//! Random numbers from a seed that is printed: the same seed draws the same case on every machine.

/// A splitmix64 generator, by its state: a seed that the caller prints.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Begins with a seed, and prints it so that a failure can be drawn again.
    pub(crate) fn seeded(seed: u64) -> Self {
        eprintln!("seed {seed}");
        Self(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0 .. end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.bits() % end as u64).unwrap()
    }

    /// A whole number in `0 .. end`.
    pub(crate) fn whole(&mut self, end: i64) -> i64 {
        i64::try_from(self.bits() % end.unsigned_abs()).unwrap()
    }

    /// A number in `0 .. 1`.
    pub(crate) fn unit(&mut self) -> f64 {
        f64::from(u32::try_from(self.bits() >> 32).unwrap()) / f64::from(u32::MAX)
    }

    /// True once in so many times.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of these.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A value, or nothing once in so many times.
    pub(crate) fn unless_once_in<T>(&mut self, times: usize, value: T) -> Option<T> {
        (!self.once_in(times)).then_some(value)
    }
}

/// A number that the environment may state instead: how far a random test goes, or the seed from which it goes on.
#[expect(clippy::disallowed_methods, reason = "campaigns ask for more than a run of the tests")]
pub(crate) fn number_from_env(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |number| number.parse().expect("a whole number"))
}
