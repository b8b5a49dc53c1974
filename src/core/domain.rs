//! The laws: what each quantity is, and what time and events do to it.
//!
//! Nothing here reads a clock, a file or a server. `now` always arrives as a parameter, so a law can be asked about
//! any instant, past or simulated, and answers the same bits each time. Where a law also runs set-wide in Cypher, the
//! statement names its Rust twin (`law:` in its header) and `tests/it/parity.rs` holds the two to 1e-9.
//!
//! | quantity | unit | range | law |
//! |---|---|---|---|
//! | energy of a memory | deposits | `0 ..= 1e12` | [`memory`], on the [`decay`] kernel |
//! | rate λ of a tier | per hour | `> 0` | [`tunables`] |
//! | similarity | cosine | `-1 ..= 1` | [`similarity`] |
//! | tier | – | three live, three terminal | [`tier`] |
//! | instant | epoch milliseconds, UTC | years 0001 to 9999 | [`units::Timestamp`] |
//! | weight of a pair | sessions | whole, `>= 1` | [`coactivation`] |
//! | cluster | members, greatest weight | two members or more | [`cluster`] |
//! | weight of a relation | – | `0 ..= 1` | [`relation`], on the [`decay`] kernel |
//! | a pheromone | deposits | `0 ..= 1e6` | [`trail`], on the [`decay`] kernel |
//! | what a recall was worth | deposits | above 0, `<= 10` | [`outcome`] |
//! | cost of an edge | – | `0 ..= 10` | [`trail`] |
//! | confidence of a fact | – | `0 ..= 1` | [`fact`], on the [`decay`] kernel |
//! | which policy decides a fact | – | one, or none | [`policy`] |
//! | what one change may affect | items | a share of the live ones | [`guard`] |
//! | a consolidation attempt, a run | state, lease, fence | forward only | [`attempt`] |
//!
//! Glossary. **Anchor**: the instant a stored value is true for. **Due**: a sweep has something to write.
//! **Ripe**: an event lifted the energy over the threshold of the next tier; being ripe is a fact with a date, so
//! promotion does not depend on when its job happens to run. **Stub**: the record that a promotion leaves behind.

pub mod attempt;
pub mod cluster;
pub mod coactivation;
pub mod decay;
pub mod event;
pub mod fact;
pub mod guard;
pub mod ids;
pub mod key;
pub mod memory;
pub mod outcome;
pub mod policy;
pub mod relation;
pub mod retention;
pub mod similarity;
pub mod tier;
pub mod trail;
pub mod tunables;
pub mod units;
