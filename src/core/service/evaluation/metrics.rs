//! Shares of gold memories among the first hits, reciprocal ranks, and bootstrap intervals of their means.
//!
//! An interval holds 95 % of the means of samples that draw as many questions, with replacement. All samples begin with the same
//! seed, so means of the same questions by two ways are of the same draws: their differences are paired, and repeating an
//! evaluation gives the same numbers.

use ebb_engine::random::SplitMix64;
use serde::Serialize;

/// Seed of the draws.
const SEED: u64 = 42;

/// Ranks of the gold memories of one question, from 1; `None` for one that is not among the hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranks(pub Vec<Option<u32>>);

impl Ranks {
    /// Share of the gold memories among the first `k` hits.
    #[must_use]
    pub fn recall(&self, k: usize) -> f64 {
        let found = self.0.iter().flatten().filter(|rank| **rank as usize <= k).count();
        share(found, self.0.len())
    }

    /// 1 over the rank of the first gold memory; 0 if none is among the first `k` hits.
    #[must_use]
    pub fn reciprocal(&self, k: usize) -> f64 {
        let first = self.0.iter().flatten().min().filter(|first| **first as usize <= k);
        first.map_or(0.0, |first| 1.0 / f64::from(*first))
    }
}

/// A mean with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// Mean over all questions.
    pub mean: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Estimate {
    /// The mean of values, one of each question, with the interval of so many samples.
    #[must_use]
    pub fn of(values: &[f64], samples: usize) -> Self {
        let mut draws = SplitMix64::new(SEED);
        let mut draw = || {
            let at = draws.draw_below(values.len() as u64);
            values.get(usize::try_from(at).unwrap_or(usize::MAX)).copied().unwrap_or(0.0)
        };
        let mut means: Vec<f64> = (0..samples).map(|_| mean((0..values.len()).map(|_| draw()))).collect();
        means.sort_by(f64::total_cmp);
        let tail = samples / 40;
        let mean = mean(values.iter().copied());
        let end = |at: usize| means.get(at).copied().unwrap_or(mean);
        Self { mean, low: end(tail), high: end(samples.saturating_sub(tail + 1)) }
    }
}

/// The mean of values; 0 of none.
#[must_use]
pub fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1);
    values.sum::<f64>() / whole(count)
}

/// The value below which this share of the values lies; `values` are sorted.
#[must_use]
pub fn percentile<T: Copy + Default>(values: &[T], percent: usize) -> T {
    let at = (values.len() * percent / 100).min(values.len().saturating_sub(1));
    values.get(at).copied().unwrap_or_default()
}

fn share(part: usize, of: usize) -> f64 {
    whole(part) / whole(of.max(1))
}

#[expect(clippy::cast_precision_loss, reason = "counts of questions")]
const fn whole(count: usize) -> f64 {
    count as f64
}
