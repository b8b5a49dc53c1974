//! Trails: what agents leave on the places and edges of a palace, and what the cycles take of it.
//!
//! Five pheromones. A place carries *exploitation* ("worth coming back to") and *exploration* ("searched already"); an edge
//! *success* ("led to good outcomes"), *traversal* ("often walked") and *recency* ("walked lately"). Each loses its own
//! share a cycle, and a cycle is a length of time, so what is left is a function of the cycles since the anchor, whatever
//! ran meanwhile: `p(c) = p0 * (1-ρ)^(c - c0)`, and what comes below the noise floor is nothing.
//!
//! | pheromone | ρ a cycle | half is gone after | a deposit |
//! |---|---|---|---|
//! | exploitation | 0.02 | 34.3 cycles | `+0.2` for each time the path is at the place |
//! | exploration | 0.05 | 13.5 | `+0.3` |
//! | success | 0.01 | 69.0 | `+reward * (1 - i/n)` on edge `i` of `n` |
//! | traversal | 0.03 | 22.8 | `+0.1` |
//! | recency | 0.10 | 6.6 | back to 1 |
//!
//! Values are not capped at 1: saturation lives in the cost alone, so highways keep their rank, and evaporation bounds
//! their growth (one deposit of 1 a cycle settles success at 100). The cap of a million only keeps a sum from overflowing.
//!
//! Source: the stigmergy document. Its bulk statement applies a rate once in ten cycles, which would make every half-life
//! ten times what its table says; the table stands.
//!
//! Invariant: evaporating in steps is evaporating at once (held by `evaporation_composes`).
//! Invariant: a late deposit ends where the punctual one would have, but for the noise floor (held by
//! `a_late_deposit_is_as_good_as_a_punctual_one`).
//! Invariant: cost lies between half the base and the base (held by `cost_is_bounded`).
//! Invariant: highways form, explored areas come back, recency passes, quality outlasts popularity, dead paths fade (held by
//! `colony::highways_form`, `colony::explored_areas_come_back_before_valuable_ones_lose_their_signal`,
//! `colony::recency_boosts_for_about_seven_cycles`, `colony::quality_outlasts_popularity`,
//! `colony::paths_that_never_succeed_fade_to_nothing`).

#[cfg(test)]
mod colony;
mod names;
mod route;
#[cfg(test)]
mod tests;

pub use names::{Allowed, EdgeType, NamesError, PlaceLabel};
pub use route::{Found, Link, Route, route};

use super::decay::{Curve, CurveError};
use super::units::{Pheromone, Timestamp, UnitError};

/// A value below this is nothing; exactly this much stays.
pub const NOISE_FLOOR: f64 = 0.001;
/// What a path leaves on each of its places.
pub const EXPLOITATION_DEPOSIT: f64 = 0.2;
/// What a visit in search of something leaves on a place.
pub const EXPLORATION_DEPOSIT: f64 = 0.3;
/// What a path leaves on each of its edges beside its success.
pub const TRAVERSAL_DEPOSIT: f64 = 0.1;
/// The greatest cost of an edge.
pub const COST_MAX: f64 = 10.0;
/// The greatest reward of a path; the least is above 0.
pub const REWARD_MAX: f64 = 10.0;

/// How fast each pheromone evaporates, and what none exceeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaporation {
    rates: Rates,
    curves: Curves,
    cap: Pheromone,
}

/// The share of each pheromone that a cycle takes, between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    pub exploitation: f64,
    pub exploration: f64,
    pub success: f64,
    pub traversal: f64,
    pub recency: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Curves {
    exploitation: Curve,
    exploration: Curve,
    success: Curve,
    traversal: Curve,
    recency: Curve,
}

/// What every verb goes by that works on trails.
#[derive(Debug, Clone, PartialEq)]
pub struct Trails {
    /// How fast pheromones go.
    pub evaporation: Evaporation,
    /// Which labels and types carry them.
    pub allowed: Allowed,
    /// How long a cycle is, milliseconds, above 0.
    pub cycle_ms: i64,
    /// Cycles from one evaporation of all that lies there to the next, above 0.
    pub interval_cycles: i64,
}

/// A setting under which no trail can evaporate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EvaporationError {
    #[error("{0}: {1}")]
    Rate(&'static str, CurveError),
    #[error(transparent)]
    Cap(#[from] UnitError),
}

/// How long a cycle is, and since when cycles are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cycles {
    /// The instant at which cycle 0 began, advances apart.
    pub epoch: Timestamp,
    /// Milliseconds, above 0.
    pub length_ms: i64,
    /// Cycles that were added by hand.
    pub advances: i64,
}

/// The pheromones of a place, as of a cycle. One that nobody ever left there is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Place {
    /// "Worth coming back to".
    pub exploitation: Option<Pheromone>,
    /// "Searched already".
    pub exploration: Option<Pheromone>,
    /// The cycle these are of.
    pub cycle: i64,
}

/// The pheromones of an edge, as of a cycle.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Edge {
    /// "Led to good outcomes".
    pub success: Option<Pheromone>,
    /// "Often walked".
    pub traversal: Option<Pheromone>,
    /// "Walked lately".
    pub recency: Option<Pheromone>,
    /// The cycle these are of.
    pub cycle: i64,
}

impl Evaporation {
    /// Takes these shares each cycle; no deposit lifts a value above `cap`.
    pub fn new(rates: Rates, cap: f64) -> Result<Self, EvaporationError> {
        let curve = |name, rate| Curve::PerCycle(rate).map_err(|why| EvaporationError::Rate(name, why));
        let curves = Curves {
            exploitation: curve("exploitation_decay", rates.exploitation)?,
            exploration: curve("exploration_decay", rates.exploration)?,
            success: curve("success_decay", rates.success)?,
            traversal: curve("traversal_decay", rates.traversal)?,
            recency: curve("recency_decay", rates.recency)?,
        };
        Ok(Self { rates, curves, cap: Pheromone::new(cap)? })
    }

    /// The shares.
    #[must_use]
    pub const fn rates(&self) -> &Rates {
        &self.rates
    }
}

impl Cycles {
    /// The cycle that an instant lies in. Before the epoch they are counted backwards, so that an event of long ago is
    /// as late as it is.
    #[must_use]
    pub const fn at(&self, now: Timestamp) -> i64 {
        let gone = (now.millis() - self.epoch.millis()).div_euclid(self.length_ms);
        gone.saturating_add(self.advances)
    }

    /// The instant at which a cycle begins; the nearest that a calendar can print.
    #[must_use]
    pub fn begins(&self, cycle: i64) -> Timestamp {
        let ms = cycle.saturating_sub(self.advances).saturating_mul(self.length_ms);
        #[expect(clippy::cast_precision_loss, reason = "held at the years of a calendar, where it is exact")]
        Timestamp::from_millis(self.epoch.millis().saturating_add(ms))
            .unwrap_or_else(|_| Timestamp::EPOCH.after(ms as f64))
    }

    /// Cycles of another length from the one that `now` lies in on: the count goes on from where it is.
    #[must_use]
    pub fn of_length(self, length_ms: i64, now: Timestamp) -> Self {
        if length_ms == self.length_ms {
            return self;
        }
        let cycle = self.at(now);
        Self { epoch: self.begins(cycle), length_ms, advances: cycle }
    }
}

/// The share that is left after so many cycles.
fn share(curve: Curve, cycles: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a count of cycles beyond 2^53 leaves nothing either way")]
    curve.factor(cycles as f64)
}

/// Nothing, if it is below the noise floor.
fn heard(value: Pheromone) -> Pheromone {
    if value.value() < NOISE_FLOOR { Pheromone::NONE } else { value }
}

/// What is left of a value after so many cycles; before any, what it is.
fn left(value: Option<Pheromone>, curve: Curve, cycles: i64) -> Option<Pheromone> {
    let value = value?;
    Some(if cycles == 0 { value } else { heard(value.faded(share(curve, cycles))) })
}

/// A value, and a deposit that was made so many cycles before it.
fn plus(
    value: Option<Pheromone>,
    deposit: Pheromone,
    curve: Curve,
    late: i64,
    cap: Pheromone,
) -> Option<Pheromone> {
    let sum = value.unwrap_or(Pheromone::NONE).plus(deposit.faded(share(curve, late)), cap);
    Some(heard(sum))
}

impl Place {
    /// What is left at a cycle; before its own, what it has.
    #[must_use]
    pub fn evaporated(self, cycle: i64, evaporation: &Evaporation) -> Self {
        let cycles = cycle.saturating_sub(self.cycle).max(0);
        Self {
            exploitation: left(self.exploitation, evaporation.curves.exploitation, cycles),
            exploration: left(self.exploration, evaporation.curves.exploration, cycles),
            cycle: self.cycle.max(cycle),
        }
    }

    /// A path that led to something was here, at a cycle.
    #[must_use]
    pub fn exploited(self, cycle: i64, evaporation: &Evaporation) -> Self {
        let now = self.evaporated(cycle, evaporation);
        let (curve, cap) = (evaporation.curves.exploitation, evaporation.cap);
        let deposit = Pheromone::ONE.faded(EXPLOITATION_DEPOSIT);
        let late = now.cycle.saturating_sub(cycle);
        Self { exploitation: plus(now.exploitation, deposit, curve, late, cap), ..now }
    }

    /// Somebody searched here, at a cycle.
    #[must_use]
    pub fn explored(self, cycle: i64, evaporation: &Evaporation) -> Self {
        let now = self.evaporated(cycle, evaporation);
        let (curve, cap) = (evaporation.curves.exploration, evaporation.cap);
        let deposit = Pheromone::ONE.faded(EXPLORATION_DEPOSIT);
        let late = now.cycle.saturating_sub(cycle);
        Self { exploration: plus(now.exploration, deposit, curve, late, cap), ..now }
    }

    /// Whether nothing is left: such a place needs no cycle of its own, and no run looks at it.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        [self.exploitation, self.exploration].into_iter().flatten().all(|value| value == Pheromone::NONE)
    }
}

impl Edge {
    /// What is left at a cycle; before its own, what it has.
    #[must_use]
    pub fn evaporated(self, cycle: i64, evaporation: &Evaporation) -> Self {
        let cycles = cycle.saturating_sub(self.cycle).max(0);
        Self {
            success: left(self.success, evaporation.curves.success, cycles),
            traversal: left(self.traversal, evaporation.curves.traversal, cycles),
            recency: left(self.recency, evaporation.curves.recency, cycles),
            cycle: self.cycle.max(cycle),
        }
    }

    /// It was edge `index` (from 0) of `count` on a path that led to something worth `reward`, at a cycle.
    #[must_use]
    pub fn succeeded(
        self,
        (index, count): (usize, usize),
        reward: Pheromone,
        cycle: i64,
        evaporation: &Evaporation,
    ) -> Self {
        let now = self.evaporated(cycle, evaporation);
        let (curves, cap) = (&evaporation.curves, evaporation.cap);
        let late = now.cycle.saturating_sub(cycle);
        #[expect(clippy::cast_precision_loss, reason = "a path has few edges")]
        let weight = 1.0 - index.min(count) as f64 / count.max(1) as f64;
        let traversal = Pheromone::ONE.faded(TRAVERSAL_DEPOSIT);
        let walked = heard(Pheromone::ONE.faded(share(curves.recency, late)));
        let recency = match now.recency {
            Some(recency) if late > 0 && recency > walked => recency,
            _ => walked,
        };
        Self {
            success: plus(now.success, reward.faded(weight), curves.success, late, cap),
            traversal: plus(now.traversal, traversal, curves.traversal, late, cap),
            recency: Some(recency),
            cycle: now.cycle,
        }
    }

    /// What it costs to walk, given its base: at most the base, at least half of it, `0 ..= 10`.
    #[must_use]
    pub fn cost(&self, base: f64) -> f64 {
        let factor = 0.5 * level(self.success) + 0.3 * level(self.recency) + 0.2 * level(self.traversal);
        (base * (1.0 - 0.5 * factor)).clamp(0.0, COST_MAX)
    }

    /// Success and traversal: how much of a highway it is.
    #[must_use]
    pub fn heat(&self) -> f64 {
        [self.success, self.traversal].into_iter().flatten().map(Pheromone::value).sum()
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        let all = [self.success, self.traversal, self.recency];
        all.into_iter().flatten().all(|value| value == Pheromone::NONE)
    }
}

/// What of a pheromone counts in a cost: 1 at most.
fn level(value: Option<Pheromone>) -> f64 {
    value.map_or(0.0, |value| value.value().min(1.0))
}

/// How hard it is to be drawn over an edge of this cost to a place, least first: exploitation attracts, exploration repels.
#[must_use]
pub fn resistance(cost: f64, place: &Place) -> f64 {
    cost * (1.0 + level(place.exploration)) / (1.0 + level(place.exploitation))
}

/// What an edge of a type costs that nobody has walked, `0 ..= 10`, where nobody says otherwise. Things that are like each
/// other are near: of those, the base is what their likeness lacks to 1.
#[must_use]
pub fn base_cost(kind: &str, similarity: Option<f64>) -> f64 {
    match (kind, similarity) {
        ("SIMILAR_TO", Some(similarity)) => (1.0 - similarity).clamp(0.0, 1.0),
        ("HALL" | "REFERENCES", _) => 0.5,
        ("TUNNEL", _) => 0.7,
        (kind, _) if kind.starts_with("HAS_") => 0.3,
        _ => 1.0,
    }
}
