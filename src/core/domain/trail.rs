//! Trails: deposits of agents on the places and edges of a palace, and their evaporation by cycles.
//!
//! Five pheromones. A place carries *exploitation* ("worth coming back to") and *exploration* ("searched already"); an
//! edge *success* ("led to good outcomes"), *traversal* ("often walked") and *recency* ("walked lately"). Each loses
//! its own share a cycle, and a cycle is a length of time, so the remainder is a function of the cycles since the
//! anchor, whatever ran meanwhile: `p(c) = p0 * (1-ρ)^(c - c0)`, and values below the noise floor are 0.
//!
//! | pheromone | ρ a cycle | half-life | a deposit |
//! |---|---|---|---|
//! | exploitation | 0.02 | 34.3 cycles | `+0.2` for each occurrence of the place on the path |
//! | exploration | 0.05 | 13.5 | `+0.3` |
//! | success | 0.01 | 69.0 | `+reward * (1 - i/n)` on edge `i` of `n` |
//! | traversal | 0.03 | 22.8 | `+0.1` |
//! | recency | 0.10 | 6.6 | back to 1 |
//!
//! Values are not capped at 1: saturation applies in the cost alone, so highways keep their rank, and evaporation
//! bounds their growth (one deposit of 1 a cycle converges to a success of 100). The cap of a million only prevents
//! overflow.
//!
//! Source: the stigmergy document. Its bulk statement applies a rate once in ten cycles, which would make every
//! half-life ten times that of its table; Ebb follows the table.
//!
//! Invariant: evaporation in steps equals evaporation at once (held by `evaporation_composes`).
//! Invariant: a late deposit gives the same value as a punctual one, except for the noise floor (held by
//! `a_late_deposit_is_as_good_as_a_punctual_one`).
//! Invariant: cost is between half the base and the base (held by `cost_is_bounded`).
//! Invariant: highways form, explored areas recover, recency is temporary, quality outlasts popularity, unsuccessful
//! paths evaporate (held by
//! `colony::highways_form`, `colony::explored_areas_come_back_before_valuable_ones_lose_their_signal`,
//! `colony::recency_boosts_for_about_seven_cycles`, `colony::quality_outlasts_popularity`,
//! `colony::paths_that_never_succeed_fade_to_nothing`).

#[cfg(test)]
mod colony;
mod names;
mod route;
#[cfg(test)]
mod tests;

pub(crate) use names::is_plain;
pub use names::{Allowed, EdgeType, MirroredLabel, NamesError, PlaceLabel};
pub use route::{Found, Link, Route, route};

use super::decay::{Curve, CurveError};
use super::units::{Pheromone, Timestamp, UnitError};

/// A value below this is 0; exactly this much is kept.
pub const NOISE_FLOOR: f64 = 0.001;
/// Deposit of a path on each of its places.
pub const EXPLOITATION_DEPOSIT: f64 = 0.2;
/// Deposit of a search on a place.
pub const EXPLORATION_DEPOSIT: f64 = 0.3;
/// Deposit of a path on each of its edges beside its success.
pub const TRAVERSAL_DEPOSIT: f64 = 0.1;
/// The greatest cost of an edge.
pub const COST_MAX: f64 = 10.0;
/// The greatest reward of a path; the least is above 0.
pub const REWARD_MAX: f64 = 10.0;

/// Evaporation rates of the pheromones, and their cap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaporation {
    rates: Rates,
    curves: Curves,
    cap: Pheromone,
}

/// Share of each pheromone that a cycle removes, between 0 and 1.
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

/// Settings of all operations on trails.
#[derive(Debug, Clone, PartialEq)]
pub struct Trails {
    /// Evaporation rates.
    pub evaporation: Evaporation,
    /// Labels and types that carry pheromones.
    pub allowed: Allowed,
    /// Length of a cycle, milliseconds, above 0.
    pub cycle_ms: i64,
    /// Cycles between two evaporations of everything stored, above 0.
    pub interval_cycles: i64,
    /// Labels of nodes without pheromones that mirrors hold, and paths lead over.
    pub mirrored: Vec<MirroredLabel>,
}

/// An invalid setting of evaporation.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EvaporationError {
    #[error("{0}: {1}")]
    Rate(&'static str, CurveError),
    #[error(transparent)]
    Cap(#[from] UnitError),
}

/// Length of a cycle, and the start of the count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cycles {
    /// Start of cycle 0, apart from advances.
    pub epoch: Timestamp,
    /// Length of a cycle, milliseconds, above 0.
    pub length_ms: i64,
    /// Cycles that were added by hand.
    pub advances: i64,
}

/// Pheromones of a place, as of a cycle. Absent if never deposited.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Place {
    /// "Worth coming back to".
    pub exploitation: Option<Pheromone>,
    /// "Searched already".
    pub exploration: Option<Pheromone>,
    /// Cycle of these values.
    pub cycle: i64,
}

/// Pheromones of an edge, as of a cycle.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Edge {
    /// "Led to good outcomes".
    pub success: Option<Pheromone>,
    /// "Often walked".
    pub traversal: Option<Pheromone>,
    /// "Walked lately".
    pub recency: Option<Pheromone>,
    /// Cycle of these values.
    pub cycle: i64,
}

impl Evaporation {
    /// Evaporation by these shares each cycle; no deposit raises a value above `cap`.
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
    /// The cycle of an instant. Before the epoch cycles are negative, so that an old event is as late as it is.
    #[must_use]
    pub const fn at(&self, now: Timestamp) -> i64 {
        let gone = (now.millis() - self.epoch.millis()).div_euclid(self.length_ms);
        gone.saturating_add(self.advances)
    }

    /// Start of a cycle, limited to the range of a timestamp.
    #[must_use]
    pub fn begins(&self, cycle: i64) -> Timestamp {
        let ms = cycle.saturating_sub(self.advances).saturating_mul(self.length_ms);
        #[expect(
            clippy::cast_precision_loss,
            reason = "limited to the years of a calendar, where it is exact"
        )]
        Timestamp::from_millis(self.epoch.millis().saturating_add(ms))
            .unwrap_or_else(|_| Timestamp::EPOCH.after(ms as f64))
    }

    /// The counter with another length of a cycle from the cycle of `now` on; the count continues.
    #[must_use]
    pub fn of_length(self, length_ms: i64, now: Timestamp) -> Self {
        if length_ms == self.length_ms {
            return self;
        }
        let cycle = self.at(now);
        Self { epoch: self.begins(cycle), length_ms, advances: cycle }
    }
}

/// The remaining share after so many cycles.
fn share(curve: Curve, cycles: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a count of cycles beyond 2^53 leaves nothing either way")]
    curve.factor(cycles as f64)
}

/// 0 if the value is below the noise floor.
fn above_noise(value: Pheromone) -> Pheromone {
    if value.value() < NOISE_FLOOR { Pheromone::NONE } else { value }
}

/// Remainder of a value after so many cycles; unchanged for 0 cycles.
fn left(value: Option<Pheromone>, curve: Curve, cycles: i64) -> Option<Pheromone> {
    let value = value?;
    Some(if cycles == 0 { value } else { above_noise(value.faded(share(curve, cycles))) })
}

/// A value with a deposit made so many cycles before it.
fn plus(
    value: Option<Pheromone>,
    deposit: Pheromone,
    curve: Curve,
    late: i64,
    cap: Pheromone,
) -> Option<Pheromone> {
    let sum = value.unwrap_or(Pheromone::NONE).plus(deposit.faded(share(curve, late)), cap);
    Some(above_noise(sum))
}

impl Place {
    /// Remainder at a cycle; unchanged before its own.
    #[must_use]
    pub fn evaporated(self, cycle: i64, evaporation: &Evaporation) -> Self {
        let cycles = cycle.saturating_sub(self.cycle).max(0);
        Self {
            exploitation: left(self.exploitation, evaporation.curves.exploitation, cycles),
            exploration: left(self.exploration, evaporation.curves.exploration, cycles),
            cycle: self.cycle.max(cycle),
        }
    }

    /// Deposit of a successful path through it, at a cycle.
    #[must_use]
    pub fn exploited(self, cycle: i64, evaporation: &Evaporation) -> Self {
        let now = self.evaporated(cycle, evaporation);
        let (curve, cap) = (evaporation.curves.exploitation, evaporation.cap);
        let deposit = Pheromone::ONE.faded(EXPLOITATION_DEPOSIT);
        let late = now.cycle.saturating_sub(cycle);
        Self { exploitation: plus(now.exploitation, deposit, curve, late, cap), ..now }
    }

    /// Deposit of a search, at a cycle.
    #[must_use]
    pub fn explored(self, cycle: i64, evaporation: &Evaporation) -> Self {
        let now = self.evaporated(cycle, evaporation);
        let (curve, cap) = (evaporation.curves.exploration, evaporation.cap);
        let deposit = Pheromone::ONE.faded(EXPLORATION_DEPOSIT);
        let late = now.cycle.saturating_sub(cycle);
        Self { exploration: plus(now.exploration, deposit, curve, late, cap), ..now }
    }

    /// Whether nothing remains: such a place needs no cycle, and no run examines it.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        [self.exploitation, self.exploration].into_iter().flatten().all(|value| value == Pheromone::NONE)
    }
}

impl Edge {
    /// Remainder at a cycle; unchanged before its own.
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

    /// Deposit on edge `index` (from 0) of `count` on a path with `reward`, at a cycle.
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
        let walked = above_noise(Pheromone::ONE.faded(share(curves.recency, late)));
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

    /// Cost for a base cost: at most the base, at least half of it, `0 ..= 10`.
    #[must_use]
    pub fn cost(&self, base: f64) -> f64 {
        let factor = 0.5 * level(self.success) + 0.3 * level(self.recency) + 0.2 * level(self.traversal);
        (base * (1.0 - 0.5 * factor)).clamp(0.0, COST_MAX)
    }

    /// Success plus traversal: the rank among highways.
    #[must_use]
    pub fn heat(&self) -> f64 {
        [self.success, self.traversal].into_iter().flatten().map(Pheromone::value).sum()
    }

    /// Whether nothing remains.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        let all = [self.success, self.traversal, self.recency];
        all.into_iter().flatten().all(|value| value == Pheromone::NONE)
    }
}

/// Part of a pheromone that counts in a cost: at most 1.
fn level(value: Option<Pheromone>) -> f64 {
    value.map_or(0.0, |value| value.value().min(1.0))
}

/// Resistance of an edge of this cost to a place, least first: exploitation attracts, exploration repels.
#[must_use]
pub fn resistance(cost: f64, place: &Place) -> f64 {
    cost * (1.0 + level(place.exploration)) / (1.0 + level(place.exploitation))
}

/// Default base cost of an edge type, `0 ..= 10`. Similar nodes are near: for a similarity the base is 1 minus it. One that is
/// not a number is none.
#[must_use]
pub fn base_cost(kind: &str, similarity: Option<f64>) -> f64 {
    match (kind, similarity) {
        ("SIMILAR_TO", Some(similarity)) if !similarity.is_nan() => (1.0 - similarity).clamp(0.0, 1.0),
        ("HALL" | "REFERENCES", _) => 0.5,
        ("TUNNEL", _) => 0.7,
        (kind, _) if kind.starts_with("HAS_") => 0.3,
        _ => 1.0,
    }
}
