//! Recalls a second of one thread, by its own time where the system tells that, and what the relevance of hits takes of it.

use crate::quality::config;
use ebb_engine::View;
use ebb_engine::recall::{RecallQuery, recall};
use ebb_engine::scratch::Scratch;
use std::fs::read_to_string;
use std::time::Instant;

/// How often all questions are asked.
const PASSES: usize = 10;
/// How often each question is asked in each of two ways.
const PAIRED: usize = 40;

/// Nanoseconds that this thread has run, where the system tells.
fn ran() -> Option<f64> {
    let told = read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split(' ').next()?.parse().ok()
}

/// Recalls a second, each of a view, after a first pass that is not counted.
pub(crate) fn speed(name: &str, asks: &[(&View, RecallQuery)]) -> f64 {
    let (config, mut scratch) = (config(), Scratch::default());
    let mut times = Vec::with_capacity(asks.len() * PASSES);
    let (mut own, begun) = (ran(), Instant::now());
    for pass in 0..=PASSES {
        if pass == 1 {
            times.clear();
            own = ran();
        }
        for (view, ask) in asks {
            let begun = Instant::now();
            let found = recall(view, ask, &config, &mut scratch).expect("an answer");
            times.push(begun.elapsed().as_secs_f64());
            std::hint::black_box(found);
        }
    }
    let wall = begun.elapsed().as_secs_f64() * PASSES as f64 / (PASSES + 1) as f64;
    let took = own.zip(ran()).map_or(wall, |(before, now)| (now - before) / 1e9);
    times.sort_by(f64::total_cmp);
    let at = |share: usize| 1e6 * times.get(times.len() * share / 100).copied().unwrap_or_default();
    let rate = (asks.len() * PASSES) as f64 / took;
    println!("{name}: {rate:.0} recalls a second of thread time; p50 {:.0} us, p99 {:.0} us", at(50), at(99));
    rate
}

/// What a recall takes, as a multiple of what it takes without the relevance of its hits, on average over the questions. Both are asked in
/// turn, and of each the least time of all passes counts, which other processes disturb least.
pub(crate) fn with_over_without_relevance(asks: &[(&View, RecallQuery)]) -> f64 {
    let (config, mut scratch) = (config(), Scratch::default());
    let mut sums = [0.0; 2];
    for (view, ask) in asks {
        let ways = [true, false].map(|relevance| RecallQuery { relevance, ..ask.clone() });
        let mut least = [f64::INFINITY; 2];
        for pass in 0..2 * PAIRED {
            let way = pass % 2;
            let begun = Instant::now();
            let found = recall(view, &ways[way], &config, &mut scratch).expect("an answer");
            least[way] = least[way].min(begun.elapsed().as_secs_f64());
            std::hint::black_box(found);
        }
        (0..2).for_each(|way| sums[way] += least[way]);
    }
    sums[0] / sums[1]
}
