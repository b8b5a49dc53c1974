//! Decaying relations: their present weight, and the effects of observing, pinning and time.
//!
//! A relation stores a base weight and its instant. Its weight now is `base * 0.5^(days / half-life)`, with fractional
//! days since that instant: always from the base, so that four weekly passes give the same weight as one pass after 28
//! days. A pass only stores the computed weight, for people who inspect the graph.
//!
//! | event | base | anchor | pinned |
//! |---|---|---|---|
//! | [`RelationState::observed`] | the weight given, else kept if pinned, else 1 | the instant | as requested, else kept |
//! | [`RelationState::pinned`] | the weight at the instant | the instant | yes |
//! | [`RelationState::unpinned`] | kept | the instant | no |
//!
//! A relation below the minimum is excluded from retrieval, never deleted, and included again once it is observed.
//!
//! Source: the relation decay document. Its `weight` is the stored one, as of the last pass; `baseWeight` and
//! `weightAt` are added by Ebb, because with a weight that each pass decays in place the half-life would depend on the
//! schedule.
//!
//! Invariant: an observation older than the anchor changes nothing (held by `late_observations_change_nothing`).
//! Invariant: time never increases a weight (held by `never_rises`).

use super::decay::{Curve, CurveError};
use super::units::{HOUR_MS_F, Timestamp, UnitError, Weight};
use serde::Deserialize;

/// Decay of relations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fading {
    curve: Curve,
    half_life_ms: f64,
    minimum: Weight,
}

/// Relations that configuration pins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Pins(pub Vec<Pin>);

/// All relations of a type; with an entity, only those from or to it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Pin {
    pub from: Option<String>,
    #[serde(rename = "type")]
    pub kind: String,
    pub to: Option<String>,
}

impl Pins {
    /// Whether they pin a relation.
    #[must_use]
    pub fn hold(&self, from: &str, kind: &str, to: &str) -> bool {
        let is = |named: &Option<String>, name| named.as_deref().is_none_or(|named| named == name);
        self.0.iter().any(|pin| pin.kind == kind && is(&pin.from, from) && is(&pin.to, to))
    }
}

/// An invalid decay setting.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FadingError {
    #[error(transparent)]
    Curve(#[from] CurveError),
    #[error(transparent)]
    Minimum(#[from] UnitError),
}

/// Stored state of a relation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RelationState {
    /// Weight at [`RelationState::weight_at`].
    pub base: Weight,
    pub weight_at: Timestamp,
    pub last_observed: Timestamp,
    /// It does not decay.
    pub pinned: bool,
}

/// An observation of a relation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    pub at: Timestamp,
    /// Weight, if it is not 1.
    pub weight: Option<Weight>,
    /// Whether to pin it; `None` leaves that unchanged.
    pub pinned: Option<bool>,
}

impl Fading {
    /// Halves every `half_life_days`; below `minimum` a relation is not retrieved.
    ///
    /// # Errors
    /// [`FadingError`] unless the half-life is finite and above 0 and the minimum a weight.
    pub fn new(half_life_days: f64, minimum: f64) -> Result<Self, FadingError> {
        let half_life_ms = half_life_days * 24.0 * HOUR_MS_F;
        Ok(Self { curve: Curve::HalfLife(half_life_ms)?, half_life_ms, minimum: Weight::new(minimum)? })
    }

    /// The half-life, milliseconds.
    #[must_use]
    pub const fn half_life_ms(&self) -> f64 {
        self.half_life_ms
    }

    /// Weight strictly below which a relation is excluded from retrieval.
    #[must_use]
    pub const fn minimum(&self) -> Weight {
        self.minimum
    }
}

impl RelationState {
    /// A stored relation. An agent that observes with its own Cypher updates `lastObserved` alone, so a relation
    /// observed after its anchor has weight 1 from then on, unless it is pinned.
    #[must_use]
    pub fn stored(base: Weight, weight_at: Timestamp, last_observed: Timestamp, pinned: bool) -> Self {
        if last_observed > weight_at && !pinned {
            return Self { base: Weight::ONE, weight_at: last_observed, last_observed, pinned };
        }
        Self { base, weight_at, last_observed, pinned }
    }

    /// A relation at its first observation.
    #[must_use]
    pub fn new(seen: Observation) -> Self {
        Self {
            base: seen.weight.unwrap_or(Weight::ONE),
            weight_at: seen.at,
            last_observed: seen.at,
            pinned: seen.pinned.unwrap_or(false),
        }
    }

    /// Weight at `now`, `0 ..= 1`. Before its anchor, and while it is pinned, the base weight.
    #[must_use]
    pub fn weight(&self, now: Timestamp, fading: &Fading) -> Weight {
        if self.pinned { self.base } else { self.base.faded(fading.curve.factor(now.since(self.weight_at))) }
    }

    /// Whether it is retrieved at `now`.
    #[must_use]
    pub fn is_retrievable(&self, now: Timestamp, fading: &Fading) -> bool {
        self.pinned || self.weight(now, fading) >= fading.minimum
    }

    /// When its weight falls below the minimum unless it is observed; `None` if it is pinned or the minimum is 0.
    #[must_use]
    pub fn falls(&self, fading: &Fading) -> Option<Timestamp> {
        if self.pinned {
            return None;
        }
        let elapsed = fading.curve.crossing(self.base.value(), fading.minimum.value())?;
        Some(self.weight_at.after(elapsed))
    }

    /// Whether an instant is before the last known observation: an observation then changes nothing.
    #[must_use]
    pub fn is_past(&self, at: Timestamp) -> bool {
        at < self.weight_at.max(self.last_observed)
    }

    /// Observed again.
    #[must_use]
    pub fn observed(self, seen: Observation) -> Self {
        if self.is_past(seen.at) {
            return self;
        }
        let pinned = seen.pinned.unwrap_or(self.pinned);
        let kept = if self.pinned && pinned { self.base } else { Weight::ONE };
        Self { base: seen.weight.unwrap_or(kept), weight_at: seen.at, last_observed: seen.at, pinned }
    }

    /// Pinned with its weight at `now`.
    #[must_use]
    pub fn pinned(self, now: Timestamp, fading: &Fading) -> Self {
        if self.pinned {
            return self;
        }
        Self { base: self.weight(now, fading), weight_at: now.max(self.weight_at), pinned: true, ..self }
    }

    /// Unpinned at `now`: it decays from then, with its last observation unchanged.
    #[must_use]
    pub fn unpinned(self, now: Timestamp) -> Self {
        if !self.pinned {
            return self;
        }
        Self { weight_at: now.max(self.weight_at), pinned: false, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::super::units::HOUR_MS;
    use super::*;
    use proptest::prelude::*;

    const DAY: i64 = 24 * HOUR_MS;

    fn at(days: i64) -> Timestamp {
        Timestamp::from_millis(days * DAY).unwrap()
    }

    fn fading() -> Fading {
        Fading::new(90.0, 0.10).unwrap()
    }

    fn seen(days: i64) -> Observation {
        Observation { at: at(days), weight: None, pinned: None }
    }

    fn weight(value: f64) -> Weight {
        Weight::new(value).unwrap()
    }

    fn any_observation() -> impl Strategy<Value = Observation> {
        (0..400_i64, prop::option::of(0.0..=1.0_f64), prop::option::of(any::<bool>()))
            .prop_map(|(days, value, pinned)| Observation { at: at(days), weight: value.map(weight), pinned })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn never_rises(first in any_observation(), sooner in 0..800_i64, later in 0..800_i64) {
            let bond = RelationState::new(first);
            let (sooner, later) = (sooner.min(later), sooner.max(later));
            let (before, after) = (bond.weight(at(sooner), &fading()), bond.weight(at(later), &fading()));
            prop_assert!(after <= before);
            prop_assert!((0.0..=1.0).contains(&after.value()));
        }

        #[test]
        fn late_observations_change_nothing(first in any_observation(), late in any_observation(), days in 1..400_i32) {
            let bond = RelationState::new(first);
            let late = Observation { at: first.at.after(-f64::from(days) * 24.0 * HOUR_MS_F), ..late };
            prop_assert_eq!(bond.observed(late), bond);
        }

        #[test]
        fn twice_is_once(first in any_observation(), next in any_observation(), now in 0..800_i64) {
            let once = RelationState::new(first).observed(next);
            prop_assert_eq!(once.observed(next), once);
            let pinned = once.pinned(at(now), &fading());
            prop_assert_eq!(pinned.pinned(at(now + 9), &fading()), pinned);
            let free = pinned.unpinned(at(now));
            prop_assert_eq!(free.unpinned(at(now + 9)), free);
        }

        #[test]
        fn it_is_retrieved_until_it_falls(first in any_observation()) {
            let bond = RelationState::new(Observation { pinned: None, ..first });
            let falls = bond.falls(&fading()).unwrap();
            prop_assert!(!bond.is_retrievable(falls.after(2.0), &fading()));
            prop_assert!(falls == bond.weight_at || bond.is_retrievable(falls.after(-2.0), &fading()));
            prop_assert_eq!(bond.pinned(first.at, &fading()).falls(&fading()), None);
        }

        #[test]
        fn a_pin_holds_what_it_weighed(first in any_observation(), pinned in 0..800_i64, more in 0..800_i64) {
            let bond = RelationState::new(first);
            let held = bond.pinned(at(pinned), &fading());
            prop_assert_eq!(held.weight(at(pinned + more), &fading()), bond.weight(at(pinned), &fading()));
            let let_go = held.unpinned(at(pinned + more));
            prop_assert_eq!(let_go.weight(at(pinned + more), &fading()), held.base);
            prop_assert_eq!(let_go.last_observed, bond.last_observed);
        }
    }

    #[test]
    fn the_published_numbers() {
        let bond = RelationState::new(seen(0));
        let close = |days, expected: f64| {
            let weight = bond.weight(at(days), &fading()).value();
            assert!((weight - expected).abs() < 1e-12, "{weight} is not {expected}");
        };
        close(0, 1.0);
        close(28, 0.806_020_752_323_338);
        close(45, std::f64::consts::FRAC_1_SQRT_2);
        close(90, 0.5);
        close(180, 0.25);
    }

    #[test]
    fn below_the_minimum_is_strict_and_an_observation_brings_it_back() {
        let fading = Fading::new(90.0, 0.25).unwrap();
        let bond = RelationState::new(seen(0));
        assert!(bond.is_retrievable(at(180), &fading), "0.25 is not below 0.25");
        assert!(!bond.is_retrievable(at(181), &fading));
        assert!(bond.observed(seen(181)).is_retrievable(at(181), &fading));
        assert!(bond.pinned(at(300), &fading).is_retrievable(at(900), &fading), "pinned is always retrieved");
    }

    #[test]
    fn an_explicit_weight_wins_and_a_pinned_one_keeps_its_own() {
        let bond =
            RelationState::new(Observation { weight: Some(weight(0.3)), pinned: Some(true), ..seen(0) });
        assert_eq!(bond.observed(seen(5)).base, weight(0.3));
        assert_eq!(bond.observed(Observation { pinned: Some(false), ..seen(5) }).base, Weight::ONE);
        assert_eq!(bond.observed(Observation { weight: Some(weight(0.7)), ..seen(5) }).base, weight(0.7));
    }

    #[test]
    fn what_another_writer_observed_weighs_one_from_then_on() {
        let stored = RelationState::stored(weight(0.4), at(0), at(30), false);
        assert_eq!((stored.base, stored.weight_at), (Weight::ONE, at(30)));
        let pinned = RelationState::stored(weight(0.4), at(0), at(30), true);
        assert_eq!(pinned.base, weight(0.4));
    }

    #[test]
    fn a_pin_of_the_configuration_holds_what_it_names_exactly() {
        let pin = |from: Option<&str>, to: Option<&str>| Pin {
            from: from.map(str::to_owned),
            kind: "uses".to_owned(),
            to: to.map(str::to_owned),
        };
        let any = Pins(vec![pin(None, None)]);
        assert!(
            any.hold("a", "uses", "b")
                && !any.hold("a", "use", "b")
                && !Pins::default().hold("a", "uses", "b")
        );
        let some = Pins(vec![pin(Some("a"), Some("b")), pin(None, Some("c"))]);
        assert!(some.hold("a", "uses", "b") && some.hold("x", "uses", "c"));
        assert!(!some.hold("a", "uses", "d") && !some.hold("x", "uses", "b"));
    }

    #[test]
    fn impossible_settings_are_refused() {
        assert!(Fading::new(0.0, 0.1).is_err() && Fading::new(f64::NAN, 0.1).is_err());
        assert!(Fading::new(90.0, 1.1).is_err() && Fading::new(90.0, -0.1).is_err());
    }
}
