//! Checked numbers: an energy that is never NaN and an instant within the calendar.
//!
//! Constructors check and return `Result`; nothing clamps. So a row with a bad number in the database is quarantined
//! with its reason, and the number is never read as zero.

use serde::{Deserialize, Deserializer, Serialize};

/// Milliseconds in an hour; rates are per hour, instants are milliseconds.
pub const HOUR_MS: i64 = 3_600_000;
/// The same as a float, for laws that divide by it.
pub(crate) const HOUR_MS_F: f64 = 3_600_000.0;

/// An instant: milliseconds since 1970-01-01T00:00:00Z, between the years 0001 and 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// The reason why a number is no value of the quantity.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UnitError {
    #[error("{quantity} is {value}, not a finite number")]
    NotFinite { quantity: &'static str, value: f64 },
    /// Finite, but outside the range of the quantity.
    #[error("{quantity} is {value}, outside {range}")]
    OutOfRange { quantity: &'static str, value: f64, range: &'static str },
    /// An instant outside the years that RFC 3339 can print.
    #[error("instant {0} ms is outside the years 0001 to 9999")]
    Instant(i64),
}

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(0);
    /// The first valid instant, 0001-01-01T00:00:00Z: before any stored one.
    pub const FIRST: Self = Self(Self::LEAST);
    const LEAST: i64 = -62_135_596_800_000;
    const GREATEST: i64 = 253_402_300_799_999;

    /// An instant from epoch milliseconds.
    ///
    /// # Errors
    /// [`UnitError::Instant`] outside the years 0001 to 9999.
    pub fn from_millis(ms: i64) -> Result<Self, UnitError> {
        if (Self::LEAST..=Self::GREATEST).contains(&ms) { Ok(Self(ms)) } else { Err(UnitError::Instant(ms)) }
    }

    /// Epoch milliseconds.
    #[must_use]
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Milliseconds from `earlier` to `self`; 0 when `earlier` is later, because a future anchor causes no decay.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "at most 2.6e14 ms between any two instants, exact in f64"
    )]
    pub fn since(self, earlier: Self) -> f64 {
        (self.0 - earlier.0).max(0) as f64
    }

    /// The instant `ms` milliseconds later, at most the last instant of the year 9999.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "limited to the range of a Timestamp before the cast"
    )]
    pub fn after(self, ms: f64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a Timestamp is below 2^53")]
        let at = (self.0 as f64 + ms.ceil()).clamp(Self::LEAST as f64, Self::GREATEST as f64);
        Self(at as i64)
    }
}

/// Serializes an instant as epoch milliseconds, the format in the graph.
pub(crate) mod millis {
    use super::Timestamp;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(at: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_i64(at.millis())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
        Timestamp::from_millis(i64::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// The same for an optional instant; an invalid value is `None`.
pub(crate) fn maybe_millis<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Timestamp>, D::Error> {
    Ok(Option::<i64>::deserialize(from)?.and_then(|ms| Timestamp::from_millis(ms).ok()))
}

/// Checks a finite number from 0 to `greatest`; `range` is its text.
fn within(quantity: &'static str, value: f64, greatest: f64, range: &'static str) -> Result<f64, UnitError> {
    if !value.is_finite() {
        return Err(UnitError::NotFinite { quantity, value });
    }
    if !(0.0..=greatest).contains(&value) {
        return Err(UnitError::OutOfRange { quantity, value, range });
    }
    Ok(value)
}

macro_rules! unit {
    ($(#[$doc:meta])* $type:ident, $quantity:literal, $greatest:expr, $range:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(try_from = "f64", into = "f64")]
        pub struct $type(f64);

        impl $type {
            #[doc = concat!("Of a plain number in `", $range, "`.")]
            pub fn new(value: f64) -> Result<Self, UnitError> {
                within($quantity, value, $greatest, $range).map(Self)
            }

            /// The plain number.
            #[must_use]
            pub const fn value(self) -> f64 {
                self.0
            }

            /// The value multiplied by a decay factor in `0 ..= 1`.
            #[must_use]
            pub fn faded(self, factor: f64) -> Self {
                debug_assert!((0.0..=1.0).contains(&factor), "a kernel factor is in 0..=1, not {factor}");
                Self(self.0 * factor)
            }
        }

        impl TryFrom<f64> for $type {
            type Error = UnitError;
            fn try_from(value: f64) -> Result<Self, UnitError> {
                Self::new(value)
            }
        }

        impl From<$type> for f64 {
            fn from(quantity: $type) -> Self {
                quantity.0
            }
        }
    };
}

unit!(
    /// The energy of a memory: finite, `0 ..= 1e12`. One access deposits 1.0.
    Energy, "energy", Energy::MAX, "0 ..= 1e12"
);
unit!(
    /// The weight of a relation: finite, `0 ..= 1`. A new observation gives 1.
    Weight, "weight", 1.0, "0 ..= 1"
);
unit!(
    /// A pheromone on a place or an edge of the palace: finite, `0 ..= 1e6`. A deposit is of the order of 1.
    Pheromone, "pheromone", Pheromone::MAX, "0 ..= 1e6"
);
unit!(
    /// The confidence of a fact: finite, `0 ..= 1`. The default of an assertion is 1, of a retraction 0.
    Confidence, "confidence", 1.0, "0 ..= 1"
);

impl Energy {
    /// No energy.
    pub const ZERO: Self = Self(0.0);
    /// Initial energy of a memory, and the deposit of one access.
    pub const ONE: Self = Self(1.0);
    /// A greater stored energy is an error of its writer: a deposit a second would take 31,000 years.
    pub const MAX: f64 = 1e12;

    /// This energy plus a deposit, at most [`Energy::MAX`].
    #[must_use]
    pub fn plus(self, deposit: Self) -> Self {
        Self((self.0 + deposit.0).min(Self::MAX))
    }
}

impl Weight {
    /// Weight after an observation.
    pub const ONE: Self = Self(1.0);
}

impl Pheromone {
    /// Nothing left.
    pub const NONE: Self = Self(0.0);
    /// Recency after a walk.
    pub const ONE: Self = Self(1.0);
    /// A greater stored value is an error of its writer: one deposit a cycle converges to 100.
    pub const MAX: f64 = 1e6;

    /// The sum with a deposit, at most `cap`, or the present value if that is greater: a deposit never reduces it.
    #[must_use]
    pub fn plus(self, deposit: Self, cap: Self) -> Self {
        Self((self.0 + deposit.0).min(cap.0.max(self.0)))
    }
}

impl Confidence {
    /// Confidence of a retraction.
    pub const ZERO: Self = Self(0.0);
    /// Default confidence of an assertion.
    pub const ONE: Self = Self(1.0);
}
