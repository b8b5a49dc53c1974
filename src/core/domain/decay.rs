//! The decay curves that all laws share.
//!
//! A decaying quantity is a value and the instant of that value: the value now is a *function* of the elapsed time,
//! never an event. So it does not matter how often a sweep runs, whether it ran twice, or whether a week of sweeps was
//! missed: `v(t) = v0 * f(t - t0)` with `f(0) = 1` exactly and `f(a + b) = f(a) * f(b)`.
//!
//! | curve | `f(x)` | x in | half-life | used by |
//! |---|---|---|---|---|
//! | [`Curve::Exponential`] | `exp(-λ·x/3.6e6)` | ms | `ln 2 / λ` hours | memory energy |
//! | [`Curve::HalfLife`] | `0.5^(x/H)` | ms | `H` | relations, facts |
//! | [`Curve::PerCycle`] | `(1-ρ)^x` | cycles | `ln 2 / -ln(1-ρ)` cycles | pheromones |
//! | [`Curve::Ttl`] | 1 until `x > ttl`, then 0 | ms | – | facts |
//!
//! Invariant: `f` is 1 at 0, never increases and never leaves `0..=1` (held by `never_rises`).
//! Invariant: the first three compose to 1e-12 relative (held by `composes`); a time to live does not, and need not,
//! since its age is always measured from the origin.
//! Invariant: `crossing` and `factor` agree (held by `crossing_agrees_with_value`).

use super::units::HOUR_MS_F;

/// A decay curve. Build it with the checked constructors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve(Kind);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Exponential { rate_per_hour: f64 },
    HalfLife { half_life_ms: f64 },
    PerCycle { rate: f64 },
    Ttl { ttl_ms: f64 },
}

/// A parameter outside its range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{parameter} is {value}; it must be {range}")]
pub struct CurveError {
    parameter: &'static str,
    value: f64,
    range: &'static str,
}

impl CurveError {
    /// The rule that the value breaks.
    #[must_use]
    pub fn rule(&self) -> String {
        format!("it must be {}", self.range)
    }
}

impl Curve {
    /// Decays by `exp(-rate)` an hour. `rate_per_hour > 0`.
    #[expect(non_snake_case, reason = "reads as the variant it builds")]
    pub fn Exponential(rate_per_hour: f64) -> Result<Self, CurveError> {
        positive("decay rate per hour", rate_per_hour)
            .map(|rate_per_hour| Self(Kind::Exponential { rate_per_hour }))
    }

    /// Halves every `half_life_ms` milliseconds. `half_life_ms > 0`.
    ///
    /// # Errors
    /// [`CurveError`] unless the half-life is finite and above 0: a half-life of 0 would make NaN of `0/0`.
    #[expect(non_snake_case, reason = "reads as the variant it builds")]
    pub fn HalfLife(half_life_ms: f64) -> Result<Self, CurveError> {
        positive("half-life in ms", half_life_ms).map(|half_life_ms| Self(Kind::HalfLife { half_life_ms }))
    }

    /// Loses the share `rate` each cycle. `0 < rate < 1`.
    #[expect(non_snake_case, reason = "reads as the variant it builds")]
    pub fn PerCycle(rate: f64) -> Result<Self, CurveError> {
        if rate > 0.0 && rate < 1.0 {
            Ok(Self(Kind::PerCycle { rate }))
        } else {
            Err(CurveError { parameter: "evaporation rate per cycle", value: rate, range: "between 0 and 1" })
        }
    }

    /// Stays 1 until the age is strictly above `ttl_ms`, then 0. `ttl_ms > 0`.
    #[expect(non_snake_case, reason = "reads as the variant it builds")]
    pub fn Ttl(ttl_ms: f64) -> Result<Self, CurveError> {
        positive("time to live in ms", ttl_ms).map(|ttl_ms| Self(Kind::Ttl { ttl_ms }))
    }

    /// The remaining share after `elapsed` (milliseconds, or cycles for [`Curve::PerCycle`]), in `0..=1`. A negative
    /// `elapsed` counts as 0: an anchor in the future causes no decay.
    #[must_use]
    pub fn factor(self, elapsed: f64) -> f64 {
        let elapsed = elapsed.max(0.0);
        match self.0 {
            Kind::Exponential { rate_per_hour } => (-(rate_per_hour * (elapsed / HOUR_MS_F))).exp(),
            Kind::HalfLife { half_life_ms } => (-(elapsed / half_life_ms)).exp2(),
            Kind::PerCycle { rate } => (1.0 - rate).powf(elapsed),
            Kind::Ttl { ttl_ms } => f64::from(u8::from(elapsed <= ttl_ms)),
        }
    }

    /// The `elapsed` after which a value of `v0` has decayed to `threshold`; from then on it is below. 0 if it is below
    /// already, `None` if it never is (for a threshold of 0 or less).
    #[must_use]
    pub fn crossing(self, v0: f64, threshold: f64) -> Option<f64> {
        if threshold <= 0.0 {
            return None;
        }
        if v0 < threshold {
            return Some(0.0);
        }
        let folds = (v0 / threshold).ln();
        Some(match self.0 {
            Kind::Exponential { rate_per_hour } => folds / rate_per_hour * HOUR_MS_F,
            Kind::HalfLife { half_life_ms } => folds / std::f64::consts::LN_2 * half_life_ms,
            Kind::PerCycle { rate } => folds / -(-rate).ln_1p(),
            Kind::Ttl { ttl_ms } => ttl_ms,
        })
    }

    /// Half-life in the unit of `elapsed`; `None` for a time to live.
    #[must_use]
    pub fn half_life(self) -> Option<f64> {
        if matches!(self.0, Kind::Ttl { .. }) { None } else { self.crossing(2.0, 1.0) }
    }
}

fn positive(parameter: &'static str, value: f64) -> Result<f64, CurveError> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(CurveError { parameter, value, range: "a finite number above 0" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fading() -> impl Strategy<Value = Curve> {
        prop_oneof![
            (1e-4..2.0_f64).prop_map(|r| Curve::Exponential(r).unwrap()),
            (1e3..1e10_f64).prop_map(|h| Curve::HalfLife(h).unwrap()),
            (1e-3..0.5_f64).prop_map(|r| Curve::PerCycle(r).unwrap()),
        ]
    }

    fn any_curve() -> impl Strategy<Value = Curve> {
        prop_oneof![3 => fading(), 1 => (1.0..1e10_f64).prop_map(|t| Curve::Ttl(t).unwrap())]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn never_rises(curve in any_curve(), a in 0.0..1e11_f64, b in 0.0..1e11_f64) {
            let (sooner, later) = if a <= b { (a, b) } else { (b, a) };
            prop_assert!((0.0..=1.0).contains(&curve.factor(a)));
            prop_assert!(curve.factor(later) <= curve.factor(sooner));
            prop_assert_eq!(curve.factor(0.0).to_bits(), 1.0_f64.to_bits());
            prop_assert_eq!(curve.factor(-a).to_bits(), 1.0_f64.to_bits());
        }

        // Elapsed times are chosen in half-lives, so that nothing underflows and the relative error is meaningful.
        #[test]
        fn composes(curve in fading(), a in 0.0..100.0_f64, b in 0.0..100.0_f64) {
            let unit = curve.half_life().unwrap();
            let (a, b) = (a * unit, b * unit);
            let (once, twice) = (curve.factor(a + b), curve.factor(a) * curve.factor(b));
            prop_assert!((once - twice).abs() <= 1e-12 * once, "{once} against {twice}");
        }

        #[test]
        fn crossing_agrees_with_value(curve in fading(), v0 in 1e-3..1e6_f64, share in 1e-6..1.0_f64) {
            let threshold = v0 * share;
            let at = curve.crossing(v0, threshold).unwrap();
            let value = v0 * curve.factor(at);
            prop_assert!((value - threshold).abs() <= 1e-9 * threshold);
            prop_assert!(v0 * curve.factor(at * 1.001 + 1.0) < threshold);
        }
    }

    #[test]
    fn a_time_to_live_is_strict() {
        let curve = Curve::Ttl(1000.0).unwrap();
        assert_eq!((curve.factor(1000.0), curve.factor(1001.0)), (1.0, 0.0));
        assert_eq!(curve.crossing(0.7, 0.5), Some(1000.0));
        assert_eq!(curve.half_life(), None);
    }

    #[test]
    fn impossible_parameters_are_refused_by_name() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(
                Curve::Exponential(bad).is_err() && Curve::HalfLife(bad).is_err() && Curve::Ttl(bad).is_err()
            );
            assert!(Curve::PerCycle(bad).is_err());
        }
        assert!(Curve::PerCycle(1.0).is_err());
        let said = Curve::HalfLife(0.0).unwrap_err().to_string();
        assert_eq!(said, "half-life in ms is 0; it must be a finite number above 0");
    }

    #[test]
    fn the_published_numbers() {
        let close = |a: f64, b: f64| assert!((a - b).abs() <= 1e-12 * b, "{a} is not {b}");
        let hours = |h: f64| h * HOUR_MS_F;
        let working = Curve::Exponential(0.5).unwrap();
        close(working.factor(hours(1.0)), 0.606_530_659_712_633);
        close(working.factor(hours(0.5)), 0.778_800_783_071_405);
        close(working.factor(hours(25.0)), 3.726_653_172_078_671e-6);
        close(3.0 * Curve::Exponential(0.05).unwrap().factor(hours(10.0)), 1.819_591_979_137_9);
        close(6.0 * Curve::Exponential(0.001).unwrap().factor(hours(1000.0)), 2.207_276_647_028_654);
        close(working.crossing(1.0, 0.1).unwrap() / HOUR_MS_F, 4.605_170_185_988_092);
        close(working.crossing(3.0, 2.0).unwrap() / 60_000.0, 48.655_812_972_985_8);
        for (rate, left, half) in [
            (0.02, 0.817_072_806_887_547, 34.310),
            (0.05, 0.598_736_939_238_379, 13.513),
            (0.01, 0.904_382_075_008_804, 68.968),
            (0.03, 0.737_424_126_894_928, 22.757),
            (0.10, 0.348_678_440_100_000, 6.579),
        ] {
            let curve = Curve::PerCycle(rate).unwrap();
            assert!((curve.factor(10.0) - left).abs() < 1e-14);
            assert!((curve.half_life().unwrap() - half).abs() < 5e-4);
        }
        let relation = Curve::HalfLife(90.0 * 24.0 * HOUR_MS_F).unwrap();
        close(relation.factor(45.0 * 24.0 * HOUR_MS_F), std::f64::consts::FRAC_1_SQRT_2);
        close(relation.factor(180.0 * 24.0 * HOUR_MS_F), 0.25);
    }
}
