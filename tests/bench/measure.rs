//! Ratios of two things done back to back, in interleaved pairs, with a probe of the machine around each pair.
//!
//! Time is the processor's, of this process, which is held to one core: what else runs on the machine takes none of it, and
//! what it does to the caches and the clock is what the probe sees.

#![allow(dead_code, reason = "each program of this folder uses its own part")]

use crate::record::Run;
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;

/// Pairs of each figure that count.
const PAIRS: usize = 9;
/// Pairs that are tried for them.
const TRIES: usize = 6 * PAIRS;

/// Holds this process to the core it is on; answers which.
pub(crate) fn pin() -> usize {
    let core = sched_getcpu();
    let mut cores = CpuSet::new();
    cores.set(core);
    sched_setaffinity(None, &cores).expect("held to one core");
    core
}

/// Lets this process run on every core that there is, whatever the one that started it was held to.
pub(crate) fn free() {
    let mut cores = CpuSet::new();
    (0..CpuSet::MAX_CPU).for_each(|core| cores.set(core));
    sched_setaffinity(None, &cores).expect("on any core");
}

/// The processor time that this process took for some work.
pub(crate) fn seconds<T>(work: impl FnOnce() -> T) -> f64 {
    let now = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    };
    let begun = now();
    let done = std::hint::black_box(work());
    let took = now() - begun;
    drop(done);
    took
}

/// Times of pairs in which the machine stayed the same.
pub(crate) struct Pairs {
    kept: Vec<(f64, f64)>,
    discarded: usize,
}

impl Pairs {
    /// Does `a` and `b` in turn, after each once untimed. Each answers what one of its items took, and so does the probe.
    pub(crate) fn of(
        mut probe: impl FnMut() -> f64,
        mut a: impl FnMut() -> f64,
        mut b: impl FnMut() -> f64,
    ) -> Self {
        let (mut kept, mut discarded) = (Vec::new(), 0);
        // The first of two finds in the caches what other work left there.
        let mut look = || {
            probe();
            probe()
        };
        a();
        b();
        while kept.len() < PAIRS {
            let before = look();
            let pair = (a(), b());
            if (before / look() - 1.0).abs() <= 0.15 {
                kept.push(pair);
            } else {
                discarded += 1;
            }
            assert!(kept.len() + discarded < TRIES, "the machine changes too much to measure anything on it");
        }
        Self { kept, discarded }
    }

    /// What an item of `a` takes in the middle of all pairs.
    pub(crate) fn a(&self) -> f64 {
        quartiles(self.kept.iter().map(|pair| pair.0))[1]
    }

    pub(crate) fn b(&self) -> f64 {
        quartiles(self.kept.iter().map(|pair| pair.1))[1]
    }

    /// As a figure: the time of `a` over that of `b`.
    pub(crate) fn a_over_b(&self, run: Run) -> Run {
        self.figure(run, |(a, b)| a / b)
    }

    /// How many times faster `a` is than `b`.
    pub(crate) fn b_over_a(&self, run: Run) -> Run {
        self.figure(run, |(a, b)| b / a)
    }

    fn figure(&self, run: Run, ratio: impl Fn(&(f64, f64)) -> f64) -> Run {
        let [q1, median, q3] = quartiles(self.kept.iter().map(ratio));
        Run { pairs: self.kept.len(), discarded: self.discarded, q1, median, q3, ..run }
    }
}

/// A figure that is still to be measured.
pub(crate) fn run(target: Option<&str>, kernel: &str, dataset: &str, class: &str) -> Run {
    Run {
        target: target.map(str::to_owned),
        kernel: kernel.to_owned(),
        dataset: dataset.to_owned(),
        class: class.to_owned(),
        pairs: 0,
        discarded: 0,
        q1: 0.0,
        median: 0.0,
        q3: 0.0,
        counters: BTreeMap::new(),
        correct: true,
    }
}

/// One that is counted and not timed.
pub(crate) fn counted(target: Option<&str>, kernel: &str, dataset: &str, value: f64) -> Run {
    Run { q1: value, median: value, q3: value, ..run(target, kernel, dataset, "") }
}

/// The same with what stands beside it.
pub(crate) fn with<const N: usize>(run: Run, counters: [(&str, f64); N]) -> Run {
    let counters = counters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Run { counters, ..run }
}

fn quartiles(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|part| values[(values.len() - 1) * part / 4])
}
