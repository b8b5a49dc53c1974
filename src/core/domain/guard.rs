//! The guard: stops a change that would hide or delete too much at once before it writes.
//!
//! A wrong policy, or a list of ids from a wrong query, shows in the number of affected items. Promotion, expiry,
//! merging and decay do not count: they hide nothing, and lose nothing.

/// Limits above which a change needs confirmation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guard {
    /// Whether the guard is on.
    pub enabled: bool,
    /// Greatest share of the live items in scope that may be affected, `0 ..= 1`.
    pub max_affected_ratio: f64,
}

/// Up to this many items are always allowed: in a small scope one item is soon a fifth.
pub const FEW: i64 = 50;

/// Up to this many cycles are always allowed: trails change little.
pub const FEW_CYCLES: u32 = 100;
/// Most cycles that can be added at once: after them nothing remains of the slowest pheromone at its default rate.
pub const CYCLES_MAX: u32 = 10_000;

/// A change too large to make without confirmation.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{affected} of {live} live items would be affected, more than {percent:.0} % of them")]
pub struct TooMuch {
    pub affected: i64,
    /// Live items in the scope.
    pub live: i64,
    /// Allowed share, in per cent.
    pub percent: f64,
}

impl Guard {
    /// Whether `affected` of `live` items may be changed, given the number that was `accepted`.
    pub fn judge(&self, affected: i64, live: i64, accepted: Option<i64>) -> Result<(), TooMuch> {
        // Both numbers are counts of nodes, far below what a float holds exactly.
        #[expect(clippy::cast_precision_loss, reason = "counts of nodes are far below 2^53")]
        let too_much = affected as f64 > self.max_affected_ratio * live as f64;
        if self.enabled && affected > FEW && too_much && accepted != Some(affected) {
            return Err(TooMuch { affected, live, percent: self.max_affected_ratio * 100.0 });
        }
        Ok(())
    }

    /// Whether this many cycles may be added at once, given the number that was `accepted`: they evaporate every trail
    /// of every scope, permanently.
    pub fn judge_cycles(&self, cycles: u32, accepted: Option<u32>) -> Result<(), TooFar> {
        if cycles > CYCLES_MAX {
            return Err(TooFar::Impossible(cycles));
        }
        if self.enabled && cycles > FEW_CYCLES && accepted != Some(cycles) {
            return Err(TooFar::Unaccepted(cycles));
        }
        Ok(())
    }
}

/// Too many cycles to add at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooFar {
    /// More than the maximum.
    #[error("{0} cycles are more than can be added at once, which is {CYCLES_MAX}")]
    Impossible(u32),
    /// More than allowed without confirmation.
    #[error(
        "{0} cycles at once, more than {FEW_CYCLES}, would evaporate every trail of every scope, permanently"
    )]
    Unaccepted(u32),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn it_stops_above_both_bounds_unless_that_very_number_is_accepted() {
        let guard = Guard { enabled: true, max_affected_ratio: 0.2 };
        assert_eq!(guard.judge(50, 50, None), Ok(()), "a handful");
        assert_eq!(guard.judge(200, 1_000, None), Ok(()), "a fifth is allowed");
        let stopped = guard.judge(201, 1_000, None).unwrap_err();
        assert_eq!(stopped.to_string(), "201 of 1000 live items would be affected, more than 20 % of them");
        assert_eq!(guard.judge(201, 1_000, Some(201)), Ok(()));
        assert!(guard.judge(202, 1_000, Some(201)).is_err(), "it has grown since it was accepted");
        assert_eq!(Guard { enabled: false, ..guard }.judge(1_000, 1_000, None), Ok(()));
    }

    #[test]
    fn cycles_are_few_or_accepted_and_never_beyond_the_bound() {
        let guard = Guard { enabled: true, max_affected_ratio: 0.2 };
        assert_eq!(guard.judge_cycles(100, None), Ok(()));
        assert_eq!(guard.judge_cycles(101, None), Err(TooFar::Unaccepted(101)));
        assert_eq!(guard.judge_cycles(101, Some(102)), Err(TooFar::Unaccepted(101)));
        assert_eq!(guard.judge_cycles(10_000, Some(10_000)), Ok(()));
        for cycles in [10_001, u32::MAX] {
            for enabled in [true, false] {
                let judged = Guard { enabled, ..guard }.judge_cycles(cycles, Some(cycles));
                assert_eq!(judged, Err(TooFar::Impossible(cycles)));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn what_is_allowed_stays_allowed_when_less_is_affected(
            ratio in 0.0_f64..1.0, live in 0_i64..100_000, affected in 0_i64..100_000, less in 0_i64..100_000
        ) {
            let guard = Guard { enabled: true, max_affected_ratio: ratio };
            if guard.judge(affected, live, None).is_ok() {
                prop_assert!(guard.judge(affected.min(less), live, None).is_ok());
            }
        }
    }
}
