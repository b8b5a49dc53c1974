//! The protocol of runs and attempts, as a pure state machine.
//!
//! A **run** is one occurrence of a job: recorded once over all workers, with a lease that may be taken over when it
//! runs out and a fence that rises at each take, so that whoever lost it commits nothing. An **attempt** is one claim of
//! memories for consolidation: it is never taken over, it ends done, aborted or expired, and its commit is its receipt.
//! States only advance. `store/` turns decisions made here into statements and rows into what is asked here, and decides
//! nothing itself.
//!
//! Invariant: no state is ever left backwards (held by `states_only_advance`).
//! Invariant: of several programs that ask for one occurrence, one works on it (held by `one_holder_at_a_time`).

use super::units::Timestamp;

/// The life of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AttemptState {
    /// Created, holds nothing.
    Planned,
    /// Holds memories.
    Claimed,
    /// Its work is committed: the receipt.
    Done,
    /// Given up by its holder.
    Aborted,
    /// Ended by reap, its lease being over.
    Expired,
}

impl AttemptState {
    /// Its name in the graph.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Claimed => "claimed",
            Self::Done => "done",
            Self::Aborted => "aborted",
            Self::Expired => "expired",
        }
    }

    /// Whether the attempt is over. A claim counts until then.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Done | Self::Aborted | Self::Expired)
    }

    /// Whether `next` may follow.
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        matches!(
            (self, next),
            (Self::Planned, Self::Claimed | Self::Aborted | Self::Expired)
                | (Self::Claimed, Self::Done | Self::Aborted | Self::Expired)
        )
    }
}

/// The life of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunState {
    /// Being worked on, or left by a holder that died.
    Open,
    /// Finished.
    Done,
    /// Stopped by the guard before it wrote.
    Guarded,
    /// Stopped by a fault; what it wrote stands, what it did not is still due.
    Failed,
}

impl RunState {
    /// Its name in the graph.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Guarded => "guarded",
            Self::Failed => "failed",
        }
    }

    /// The state of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Open, Self::Done, Self::Guarded, Self::Failed].into_iter().find(|state| state.name() == name)
    }

    /// Whether the run is over.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        !matches!(self, Self::Open)
    }
}

/// What is known of a run when somebody asks for it, read under the lock of its job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFacts {
    /// Which occurrence of the job it is.
    pub occurrence: String,
    /// Where it stands.
    pub state: RunState,
    /// Who holds it.
    pub holder: Option<String>,
    /// Until when, by the server's clock.
    pub lease_until: Timestamp,
}

/// Who asks, and by what right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// One of many: an open run of somebody else is respected while its lease lasts.
    Lease,
    /// The only one, by holding the lock of a scratch database: a predecessor is dead and its run is taken at once.
    Scratch,
}

/// What to do about an occurrence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opening {
    /// Record it as open and work.
    Create,
    /// Take over the open run of this occurrence, with its own `now`; then ask again if it was another occurrence.
    Take(String),
    /// Leave it: it has been worked on already.
    AlreadyOver(RunState),
    /// Nothing was asked for beyond an open run, and there is none.
    Nothing,
    /// Leave it: another program holds a run of this job.
    Held {
        /// The occurrence it works on.
        occurrence: String,
        /// Who.
        holder: String,
    },
}

/// Decides what `me` does about the `wanted` occurrence (or, with none, about whatever run of the job is open), given the
/// open run, if any, and the record of the wanted occurrence, if any, both read under the job's lock at `server_now`.
#[must_use]
pub fn open_run(
    me: &str,
    wanted: Option<&str>,
    open: Option<&RunFacts>,
    record: Option<&RunFacts>,
    server_now: Timestamp,
    right: Right,
) -> Opening {
    if let Some(open) = open {
        let holder = open.holder.as_deref().unwrap_or_default();
        let free =
            holder.is_empty() || holder == me || open.lease_until <= server_now || right == Right::Scratch;
        return if free {
            Opening::Take(open.occurrence.clone())
        } else {
            Opening::Held { occurrence: open.occurrence.clone(), holder: holder.to_owned() }
        };
    }
    match (wanted, record) {
        (None, _) => Opening::Nothing,
        (Some(_), Some(record)) => Opening::AlreadyOver(record.state),
        (Some(_), None) => Opening::Create,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(holder: Option<&str>, until: i64) -> RunFacts {
        RunFacts {
            occurrence: "o1".to_owned(),
            state: RunState::Open,
            holder: holder.map(str::to_owned),
            lease_until: Timestamp::from_millis(until).unwrap(),
        }
    }

    #[test]
    fn states_only_advance() {
        use AttemptState::{Aborted, Claimed, Done, Expired, Planned};
        let all = [Planned, Claimed, Done, Aborted, Expired];
        for from in all {
            for to in all {
                if from.may_become(to) {
                    assert!(from < to && !from.is_terminal(), "{from:?} to {to:?}");
                }
            }
        }
        assert!(!Planned.may_become(Done), "an attempt that claimed nothing has nothing to finish");
    }

    #[test]
    fn one_holder_at_a_time() {
        let now = Timestamp::from_millis(1_000).unwrap();
        let ask = |open: &RunFacts, right| open_run("me", Some("o2"), Some(open), None, now, right);
        let held = Opening::Held { occurrence: "o1".into(), holder: "other".into() };
        assert_eq!(ask(&facts(Some("other"), 1_001), Right::Lease), held);
        assert_eq!(ask(&facts(Some("other"), 1_000), Right::Lease), Opening::Take("o1".into()));
        assert_eq!(ask(&facts(Some("other"), 9_999), Right::Scratch), Opening::Take("o1".into()));
        assert_eq!(ask(&facts(Some("me"), 9_999), Right::Lease), Opening::Take("o1".into()));
        assert_eq!(ask(&facts(None, 9_999), Right::Lease), Opening::Take("o1".into()));
    }

    #[test]
    fn an_occurrence_happens_once() {
        let now = Timestamp::from_millis(1_000).unwrap();
        let done = RunFacts { state: RunState::Done, ..facts(Some("other"), 0) };
        assert_eq!(
            open_run("me", Some("o1"), None, Some(&done), now, Right::Lease),
            Opening::AlreadyOver(RunState::Done)
        );
        assert_eq!(open_run("me", Some("o1"), None, None, now, Right::Lease), Opening::Create);
        assert_eq!(open_run("me", None, None, None, now, Right::Lease), Opening::Nothing);
    }
}
