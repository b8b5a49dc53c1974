//! The protocol of runs and attempts under everything that can happen to it, without a server.
//!
//! The model holds what the records hold: runs, attempts, marks, tiers with their stubs, receipts, one server's clock and
//! the clocks of workers. What it decides, it asks of `domain::attempt`; nothing else of the product is in it. A guarded
//! transaction is one atomic step, since the guard's lock is held to commit; its commit is applied and known, applied and
//! unknown, or lost and unknown, or the transaction hangs with its locks until somebody ends it.
//!
//! Two ways through it: random walks, long and with many workers, each drawn from a seed that a failure prints; and every
//! state of a small world, breadth first. The invariants bear the numbers of the checker of `tests/kill`. That the model
//! can fail is shown by breaking the protocol in it, one rule at a time.
//!
//! `EBB_MODEL_RUNS` and `EBB_MODEL_SEED` make the walks more, and other ones.

#![expect(clippy::unwrap_used, reason = "a draw that cannot be made fails the test")]

#[expect(dead_code, reason = "the walks draw less than the tests on a server")]
#[path = "it/harness/random.rs"]
mod random;
#[path = "model/walk.rs"]
mod walk;
#[path = "model/world.rs"]
mod world;

use std::collections::HashSet;
use std::time::Instant;
use walk::{drain, draw};
use world::{Bug, World};

/// Every walk is of up to this many steps.
const STEPS: usize = 1_000;

#[expect(clippy::disallowed_methods, reason = "how long the walks are to be is said by who runs them")]
fn asked(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

/// What random walks came to.
#[derive(Debug, Default)]
struct Walked {
    walks: u64,
    steps: u64,
    faults: u64,
    promotions: u64,
}

/// Walks that many times; the first broken invariant ends it, with its seed and its last steps.
fn walk(walks: u64, first: u64, bug: Option<Bug>) -> Result<Walked, String> {
    let mut walked = Walked::default();
    for seed in first..first + walks {
        let mut random = random::Random(seed);
        let (workers, memories) = (2 + random.below(7), 3 + random.below(10));
        let mut world = World::new(workers, memories, bug);
        let length = STEPS / 10 + random.below(STEPS * 9 / 10 + 1);
        let mut last = Vec::new();
        let broken = |why: String, last: &[String]| {
            let from = last.len().saturating_sub(40);
            format!("seed {seed}, step {}: {why}\n  {}", last.len(), last[from..].join("\n  "))
        };
        for _ in 0..length {
            let event = draw(&world, &mut random);
            last.push(format!("{event:?}"));
            world.step(event);
            world.check().map_err(|why| broken(why, &last))?;
        }
        while world.faults < 5 {
            world.step(draw(&world, &mut random));
            world.check().map_err(|why| broken(why, &last))?;
        }
        walked.steps += length as u64;
        walked.faults += world.faults;
        drain(&mut world).and_then(|()| world.check_rest()).map_err(|why| broken(why, &last))?;
        walked.promotions += world.promotions();
        walked.walks += 1;
    }
    Ok(walked)
}

#[test]
fn whatever_happens_every_invariant_holds() {
    let (runs, seed) = (asked("EBB_MODEL_RUNS", 2_000), asked("EBB_MODEL_SEED", 1));
    let began = Instant::now();
    let walked = walk(runs, seed, None).unwrap_or_else(|why| panic!("{why}"));
    println!("{walked:?} from seed {seed} in {:.1} s", began.elapsed().as_secs_f64());
    assert!(walked.faults >= 5 * runs);
    assert!(walked.promotions > runs, "the walks come to promotions");
}

#[test]
fn every_state_of_a_small_world() {
    let began = Instant::now();
    let mut seen = HashSet::new();
    let mut edge = vec![World::new(2, 3, None)];
    let mut transitions = 0_u64;
    for depth in 1..=12 {
        let mut next = Vec::new();
        for world in edge {
            for event in world.events() {
                let mut after = world.clone();
                after.step(event);
                after.check().unwrap_or_else(|why| panic!("depth {depth}, {event:?} after {world:?}: {why}"));
                transitions += 1;
                let after = after.normal();
                if seen.insert(after.digest()) && depth < 12 {
                    next.push(after);
                }
            }
        }
        edge = next;
        println!("depth {depth}: {} states, {transitions} transitions", seen.len());
    }
    println!("{} states in {:.1} s", seen.len(), began.elapsed().as_secs_f64());
    assert!(seen.len() > 10_000);
}

/// The model notices when a rule is missing.
#[test]
fn a_protocol_with_a_rule_missing_is_caught() {
    for bug in Bug::ALL {
        let why = walk(2_000, 1, Some(bug)).err().unwrap_or_else(|| panic!("{bug:?} is not noticed"));
        println!("{bug:?}: {}", why.lines().next().unwrap_or_default());
    }
}
