//! Which occurrence of a schedule is due: a pure function of schedule, last run and now.
//!
//! Intervals fall on whole multiples since 1970-01-01T00:00Z, so every program that asks finds the same instants, and a
//! schedule needs no memory of when it was begun. Whatever was missed, there is one catch-up.

use crate::domain::units::Timestamp;

/// The first instant of the schedule after `after`.
#[must_use]
pub fn next(every_ms: i64, after: Timestamp) -> Timestamp {
    let every = every_ms.max(1);
    let at = (after.millis().div_euclid(every) + 1).saturating_mul(every);
    Timestamp::from_millis(at).unwrap_or(after)
}

/// The occurrence due at `now`: the latest instant of the schedule that is not after now, unless it is not after `last`.
#[must_use]
pub fn due(every_ms: i64, last: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
    let every = every_ms.max(1);
    let at = now.millis().div_euclid(every).saturating_mul(every);
    let at = Timestamp::from_millis(at).ok()?;
    last.is_none_or(|last| at > last).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms).unwrap()
    }

    proptest! {
        #[test]
        fn one_catch_up_whatever_was_missed(every in 1_i64..10_000_000, now in 0_i64..4_000_000_000_000, ago in 0_i64..10_000_000_000) {
            let last = at((now - ago).max(0));
            match due(every, Some(last), at(now)) {
                Some(found) => {
                    prop_assert!(found > last && found <= at(now));
                    prop_assert_eq!(found.millis() % every, 0);
                    prop_assert_eq!(due(every, Some(found), at(now)), None, "after the catch-up nothing is due");
                    prop_assert!(next(every, found) > at(now));
                }
                None => prop_assert!(next(every, last) > at(now)),
            }
        }
    }

    #[test]
    fn instants_are_whole_multiples_since_1970() {
        assert_eq!(next(600_000, at(0)), at(600_000));
        assert_eq!(next(600_000, at(599_999)), at(600_000));
        assert_eq!(next(600_000, at(-1)), at(0));
        assert_eq!(due(3_600_000, None, at(3_600_001)), Some(at(3_600_000)));
    }
}
