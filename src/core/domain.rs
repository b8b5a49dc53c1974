//! The laws of Ebb: quantities, and the effects of time and events on them.
//!
//! Nothing here reads a clock, a file or a server. `now` is always a parameter, so a law can be evaluated at any
//! instant, past or simulated, with identical results. Where a law also runs in Cypher, the statement names its Rust
//! twin (`law:` in its header) and `tests/it/parity.rs` checks that the two agree to 1e-9.
//!
//! | quantity | unit | range | law |
//! |---|---|---|---|
//! | energy of a memory | deposits | `0 ..= 1e12` | [`memory`], on the [`decay`] kernel |
//! | rate λ of a tier | per hour | `> 0` | [`tunables`] |
//! | tags of a memory | texts | at most 256 | [`annotations`] |
//! | similarity | cosine | `-1 ..= 1` | [`similarity`] |
//! | tier | – | three live, three terminal | [`tier`] |
//! | instant | epoch milliseconds, UTC | years 0001 to 9999 | [`units::Timestamp`] |
//! | weight of a pair | sessions | whole, `>= 1` | [`coactivation`] |
//! | cluster | members, greatest weight | two members or more | [`cluster`] |
//! | weight of a relation | – | `0 ..= 1` | [`relation`], on the [`decay`] kernel |
//! | a pheromone | deposits | `0 ..= 1e6` | [`trail`], on the [`decay`] kernel |
//! | reward of a recall | deposits | above 0, `<= 10` | [`outcome`] |
//! | cost of an edge | – | `0 ..= 10` | [`trail`] |
//! | confidence of a fact | – | `0 ..= 1` | [`fact`], on the [`decay`] kernel |
//! | policy that decides a fact | – | one, or none | [`policy`] |
//! | limit of one change | items | a share of the live ones | [`guard`] |
//! | a consolidation attempt, a run | state, lease, fence | forward only | [`attempt`] |
//!
//! Glossary. **Anchor**: the instant at which a stored value is valid. **Due**: a sweep must write it. **Ripe**: an
//! event raised the energy above the threshold of the next tier; ripeness has a date, so promotion does not depend on
//! when its job runs. **Stub**: the record that a promotion creates.

pub mod annotations;
pub mod attempt;
pub mod cluster;
pub mod coactivation;
pub mod decay;
pub mod event;
pub mod fact;
pub mod guard;
pub mod ids;
pub mod invisible;
pub mod journal;
pub mod key;
pub mod mapping;
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
