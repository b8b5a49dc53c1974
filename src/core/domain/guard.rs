//! The guard: stops a change that would hide or delete too much at once before it writes.
//!
//! A wrong policy, or a list of ids from a wrong query, shows in the number of affected items. Promotion, expiry,
//! merging and decay do not count: they hide nothing, and lose nothing.
//!
//! A request is confirmed each time: a deletion of many memories, an advance of many cycles. A decay policy runs by
//! schedule, and retracting is its purpose, so it is confirmed once in each scope:
//!
//! | policy in a scope | is stopped above [`FEW`] facts and the ratio |
//! |---|---|
//! | new, or changed since it was accepted | always; accepting the number accepts the policy |
//! | accepted, has retracted up to `most` in a run | if it would retract more than [`JUMP`] times `most` |
//! | accepted, has not retracted yet | never |
//!
//! A policy that is in force before the first fact of a scope counts as accepted there: it surprises nobody who writes
//! facts under it.

use super::fact::FactScope;

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

/// A policy that was accepted may retract this many times as much as in any run before, counted as [`FEW`] at least:
/// the facts of ten days after ten days of downtime.
pub const JUMP: i64 = 10;

/// Up to this many cycles are always allowed: trails change little.
pub const FEW_CYCLES: u32 = 100;
/// Most cycles that can be added at once: after them nothing remains of the slowest pheromone at its default rate.
pub const CYCLES_MAX: u32 = 10_000;

/// A change too large to make without confirmation.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{affected} of {live} live items{} would be affected, more than {percent:.0} % of them{}", of(.scopes), causes(.policies))]
pub struct TooMuch {
    pub affected: i64,
    /// Live items in the scope.
    pub live: i64,
    /// Allowed share, in per cent.
    pub percent: f64,
    /// Scopes of facts that a sweep would affect too much.
    pub scopes: Vec<String>,
    /// Policies to confirm, if a sweep was stopped.
    pub policies: Vec<String>,
}

fn of(scopes: &[String]) -> String {
    if scopes.is_empty() { String::new() } else { format!(" of {}", scopes.join(", ")) }
}

fn causes(policies: &[String]) -> String {
    match policies {
        [] => String::new(),
        ids => format!(
            ", by policies that were not accepted here before or retract over {JUMP} times as much as before: {}",
            ids.join(", ")
        ),
    }
}

/// The guard's record of a policy in a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Record {
    /// It is new, or was changed since it was accepted.
    #[default]
    New,
    /// It was accepted; `most` is the largest number of facts that it retracted in a run, if any.
    Accepted { most: Option<i64> },
}

/// Effect of a policy in a sweep of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// Id of the policy.
    pub policy: String,
    /// Number of facts that it would retract.
    pub retracts: i64,
    pub record: Record,
}

impl TooMuch {
    /// Whether this number of items was confirmed, or more.
    #[must_use]
    pub fn is_accepted(&self, accepted: Option<i64>) -> bool {
        accepted.is_some_and(|accepted| accepted >= self.affected)
    }

    /// The sum with that of another scope.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.affected += other.affected;
        self.live += other.live;
        self.scopes.extend(other.scopes);
        self.policies
            .extend(other.policies.into_iter().filter(|id| !self.policies.contains(id)).collect::<Vec<_>>());
        self
    }
}

impl Guard {
    /// Whether `affected` of `live` items may be changed, given the number that was `accepted`.
    pub fn judge(&self, affected: i64, live: i64, accepted: Option<i64>) -> Result<(), TooMuch> {
        let stopped = self.too_much(affected, live, Vec::new());
        if self.is_many(affected, live) && !stopped.is_accepted(accepted) { Err(stopped) } else { Ok(()) }
    }

    /// Whether a sweep of a scope of `live` facts with these effects needs no confirmation.
    ///
    /// # Errors
    /// The number to confirm: all facts that the sweep would retract in the scope.
    pub fn judge_sweep(&self, scope: FactScope, live: i64, effects: &[Effect]) -> Result<(), TooMuch> {
        let is_new = |effect: &&Effect| effect.record == Record::New && effect.retracts > 0;
        let new = effects.iter().filter(is_new).map(|effect| effect.retracts).sum();
        let news = self.is_many(new, live);
        let jumps = |effect: &Effect| {
            matches!(effect.record, Record::Accepted { most: Some(most) }
                if effect.retracts > JUMP.saturating_mul(most.max(FEW)))
                && self.is_many(effect.retracts, live)
        };
        let to_confirm = effects.iter().filter(|effect| news && is_new(effect) || jumps(effect));
        let policies: Vec<String> = to_confirm.map(|effect| effect.policy.clone()).collect();
        if policies.is_empty() {
            return Ok(());
        }
        let affected = effects.iter().map(|effect| effect.retracts).sum();
        let scopes = vec![scope.name().to_owned()];
        Err(TooMuch { scopes, ..self.too_much(affected, live, policies) })
    }

    fn is_many(&self, affected: i64, live: i64) -> bool {
        // Both numbers are counts of nodes, far below what a float holds exactly.
        #[expect(clippy::cast_precision_loss, reason = "counts of nodes are far below 2^53")]
        let is_large_share = affected as f64 > self.max_affected_ratio * live as f64;
        self.enabled && affected > FEW && is_large_share
    }

    fn too_much(&self, affected: i64, live: i64, policies: Vec<String>) -> TooMuch {
        TooMuch { affected, live, percent: self.max_affected_ratio * 100.0, scopes: Vec::new(), policies }
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
    fn it_stops_above_both_bounds_unless_that_number_is_accepted() {
        let guard = Guard { enabled: true, max_affected_ratio: 0.2 };
        assert_eq!(guard.judge(50, 50, None), Ok(()), "a handful");
        assert_eq!(guard.judge(200, 1_000, None), Ok(()), "a fifth is allowed");
        let stopped = guard.judge(201, 1_000, None).unwrap_err();
        assert_eq!(stopped.to_string(), "201 of 1000 live items would be affected, more than 20 % of them");
        assert_eq!(guard.judge(201, 1_000, Some(201)), Ok(()));
        assert!(guard.judge(202, 1_000, Some(201)).is_err(), "it has grown since it was accepted");
        assert_eq!(guard.judge(201, 1_000, Some(202)), Ok(()), "less than was accepted");
        assert_eq!(Guard { enabled: false, ..guard }.judge(1_000, 1_000, None), Ok(()));
    }

    fn effect(policy: &str, retracts: i64, record: Record) -> Effect {
        Effect { policy: policy.to_owned(), retracts, record }
    }

    #[test]
    fn a_policy_is_confirmed_once_and_then_only_where_it_jumps() {
        let guard = Guard { enabled: true, max_affected_ratio: 0.2 };
        let to_confirm = |live, effects: &[Effect]| match guard.judge_sweep(FactScope::Team, live, effects) {
            Ok(()) => (0, Vec::new()),
            Err(stopped) => (stopped.affected, stopped.policies),
        };
        let free = (0, Vec::new());
        let accepted = |most| Record::Accepted { most };
        assert_eq!(to_confirm(60, &[effect("a", 50, Record::New)]), free, "a handful");
        assert_eq!(to_confirm(60, &[effect("a", 60, Record::New)]), (60, vec!["a".to_owned()]));
        assert_eq!(to_confirm(60, &[effect("a", 60, accepted(None))]), free, "its purpose");
        // New ones count together; those that were accepted are part of the number, but not confirmed again.
        let both =
            [effect("a", 40, Record::New), effect("b", 20, Record::New), effect("c", 30, accepted(Some(30)))];
        assert_eq!(to_confirm(90, &both), (90, vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(to_confirm(1_000, &both), free);
        for (most, limit) in [(0, 500), (50, 500), (60, 600), (i64::MAX, i64::MAX)] {
            assert_eq!(to_confirm(limit, &[effect("a", limit, accepted(Some(most)))]), free, "{most}");
            let Some(above) = limit.checked_add(1) else { continue };
            let jump = [effect("a", above, accepted(Some(most)))];
            assert_eq!(to_confirm(above, &jump), (above, vec!["a".to_owned()]), "{most}");
            assert_eq!(to_confirm(above * 5, &jump), free, "a fifth of the scope");
        }
        assert_eq!(Guard { enabled: false, ..guard }.judge_sweep(FactScope::Team, 60, &both), Ok(()));
    }

    #[test]
    fn scopes_are_confirmed_together() {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let of = |affected, scopes: &[&str], policies: &[&str]| TooMuch {
            affected,
            live: affected,
            percent: 20.0,
            scopes: owned(scopes),
            policies: owned(policies),
        };
        let both = of(60, &["company"], &["a"]).and(of(70, &["team"], &["a", "b"]));
        assert_eq!(both, of(130, &["company", "team"], &["a", "b"]));
        assert!(
            both.to_string().starts_with("130 of 130 live items of company, team would be affected"),
            "{both}"
        );
        assert!(both.is_accepted(Some(130)) && !both.is_accepted(Some(129)) && !both.is_accepted(None));
        assert!(both.to_string().ends_with("as before: a, b"), "{both}");
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
