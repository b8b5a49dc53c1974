//! The guard: a change that would hide or delete too much at once stops before it writes.
//!
//! A policy that is wrong, or a list of ids that came from a wrong query, is found out by its size. What promotes,
//! expires, merges or fades does not count: it hides nothing, and nothing of it is lost.

/// What a change may affect before a person has to accept the number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guard {
    /// Whether it looks at all.
    pub enabled: bool,
    /// Of the live items in scope, the share that may be affected, `0 ..= 1`.
    pub max_affected_ratio: f64,
}

/// Up to this many items no guard stops: of a handful, one is soon a fifth.
pub const FEW: i64 = 50;

/// Up to this many cycles no guard stops: the trails that they leave are still the trails that were.
pub const FEW_CYCLES: u32 = 100;
/// Cycles that can be added at once: of the slowest pheromone at its usual rate no trace is left after them.
pub const CYCLES_MAX: u32 = 10_000;

/// A change that is too large to make without being told so.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{affected} of {live} live items would be affected, more than {percent:.0} % of them")]
pub struct TooMuch {
    pub affected: i64,
    /// How many live items there are in its scope.
    pub live: i64,
    /// What is allowed, in per cent.
    pub percent: f64,
}

impl Guard {
    /// Whether `affected` of `live` items may be changed, when a person has accepted `accepted`.
    pub fn judge(&self, affected: i64, live: i64, accepted: Option<i64>) -> Result<(), TooMuch> {
        // Both numbers are counts of nodes, far below what a float holds exactly.
        #[expect(clippy::cast_precision_loss, reason = "counts of nodes are far below 2^53")]
        let too_much = affected as f64 > self.max_affected_ratio * live as f64;
        if self.enabled && affected > FEW && too_much && accepted != Some(affected) {
            return Err(TooMuch { affected, live, percent: self.max_affected_ratio * 100.0 });
        }
        Ok(())
    }

    /// Whether this many cycles may be added at once, when a person has accepted `accepted`: they fade every trail of every
    /// scope, for good.
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

/// More cycles at once than may be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooFar {
    /// More than ever.
    #[error("{0} cycles are more than can be added at once, which is {CYCLES_MAX}")]
    Impossible(u32),
    /// More than without a person's word.
    #[error("{0} cycles at once, more than {FEW_CYCLES}, would fade every trail of every scope, for good")]
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
