//! Checked single-precision numbers: never NaN, never infinite, and above 0.
//!
//! Parameters of the engine carry them, so that a value is checked once, where it enters. Without zeros of two signs
//! equality, order and hash agree, and a number can be a key.
//!
//! # Design notes
//! Columns of a graph, and the values and scores computed from them, are plain `f32`: a weight may be 0, and the loops over
//! them are the cost of a query. They are checked when a row is added (`check_amount`), stay finite because each
//! computation is capped, and are checked again where a file is written ([`codec`](super::codec)). A type for every finite
//! number would add nothing to that.

use super::Error;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// Checks that a number lies in `0 ..= max`; `owner` names its owner in errors.
///
/// # Errors
/// [`Error::NonFinite`], [`Error::ParameterOutOfRange`].
pub(super) fn check_amount(
    name: &'static str,
    owner: impl Fn() -> String,
    value: f64,
    max: f64,
) -> Result<(), Error> {
    if !value.is_finite() {
        return Err(Error::NonFinite { field: name, owner: owner() });
    }
    if !(0.0..=max).contains(&value) {
        let name = format!("{name} of {}", owner());
        return Err(Error::ParameterOutOfRange { name, value, min: 0.0, max });
    }
    Ok(())
}

macro_rules! number {
    ($(#[$doc:meta])* $type:ident, $name:literal, $within:expr, $least:expr, $greatest:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $type(f32);

        impl $type {
            /// Checks a plain number.
            ///
            /// # Errors
            /// [`Error::NonFinite`] for NaN and infinities, [`Error::ParameterOutOfRange`] outside the range.
            pub fn new(value: f32) -> Result<Self, Error> {
                if !value.is_finite() {
                    return Err(Error::NonFinite { field: $name, owner: value.to_string() });
                }
                let within: fn(f32) -> bool = $within;
                if !within(value) {
                    let (value, min, max) = (f64::from(value), $least, $greatest);
                    return Err(Error::ParameterOutOfRange { name: $name.to_owned(), value, min, max });
                }
                Ok(Self(value))
            }

            /// The plain number.
            #[must_use]
            pub const fn get(self) -> f32 {
                self.0
            }
        }

        impl Eq for $type {}

        impl Ord for $type {
            fn cmp(&self, other: &Self) -> Ordering {
                self.0.total_cmp(&other.0)
            }
        }

        impl PartialOrd for $type {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Hash for $type {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.to_bits().hash(state);
            }
        }
    };
}

number!(
    /// A finite number above 0: a frequency, a wavelength.
    PosF32, "positive number", |value| value > 0.0, 0.0, f64::from(f32::MAX)
);
impl PosF32 {
    /// 1, the default frequency and resolution.
    pub const ONE: Self = Self(1.0);
    /// 16, the default wavelength.
    pub const SIXTEEN: Self = Self(16.0);
    /// 0.75, the default weight of the ranking by text.
    pub const THREE_QUARTERS: Self = Self(0.75);
}

number!(
    /// Fraction by which one outcome changes a weight, above 0 and at most 1.
    LearningRate, "learning rate", |value| value > 0.0 && value <= 1.0, 0.0, 1.0
);
number!(
    /// Factor of a signal per hop, above 0 and at most 1.
    DecayFactor, "decay", |value| value > 0.0 && value <= 1.0, 0.0, 1.0
);

impl DecayFactor {
    /// 0.55, that of the source document.
    pub const REFERENCE: Self = Self(0.55);
    /// 0.85, that of recall.
    pub const RECALL: Self = Self(0.85);
}

impl LearningRate {
    /// The default. The source document has 0.08: with 0.3 outcomes improved more of the questions they were about, and other
    /// questions lost nothing (`cargo bench --bench recall`).
    pub const USUAL: Self = Self(0.3);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn number_construct() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert!(matches!(PosF32::new(bad), Err(Error::NonFinite { .. })));
            assert!(matches!(DecayFactor::new(bad), Err(Error::NonFinite { .. })));
        }
        for (value, positive, share) in [
            (-1.0, false, false),
            (-0.0, false, false),
            (0.0, false, false),
            (1e-45, true, true),
            (1.0, true, true),
            (1.000_000_1, true, false),
            (3e38, true, false),
        ] {
            assert_eq!(PosF32::new(value).is_ok(), positive, "{value}");
            assert_eq!(LearningRate::new(value).is_ok(), share, "{value}");
            assert_eq!(DecayFactor::new(value).is_ok(), share, "{value}");
        }
    }

    proptest! {
        #[test]
        fn number_total_order(a: f32, b: f32, c: f32) {
            let all: Vec<PosF32> = [a, b, c, 1.0].into_iter().filter_map(|x| PosF32::new(x).ok()).collect();
            for x in &all {
                for y in &all {
                    prop_assert_eq!(x == y, x.cmp(y) == Ordering::Equal);
                    prop_assert_eq!(x.cmp(y), y.cmp(x).reverse());
                    prop_assert_eq!(x.get() < y.get(), x < y);
                }
            }
            let distinct: BTreeSet<u32> = all.iter().map(|x| x.get().to_bits()).collect();
            prop_assert_eq!(distinct.len(), all.iter().collect::<BTreeSet<_>>().len());
        }
    }
}
