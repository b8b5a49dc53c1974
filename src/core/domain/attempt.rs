//! The protocol of runs and attempts, as a pure state machine.
//!
//! A **run** is one occurrence of a job: recorded once over all workers, with a lease that may be taken over after it
//! expires, and a fence that increases at each takeover, so that a former holder cannot commit. An **attempt** is one
//! claim of memories for consolidation: it is never taken over, it ends done, aborted or expired, and its commit is its
//! receipt. States only advance.
//!
//! # Where it runs
//! [`open_run`] and [`keeper`] decide in this program, over rows that the transaction has locked. [`RunRecord::step`]
//! and [`AttemptRecord::step`] need one locked node only and are the `WHERE` of a statement under `cypher/run` and
//! `cypher/attempt`: a read before the write would cost each transaction another round trip. These statements name
//! their step in their header, and `parity::protocol` compares each of them with it on a server, over all combinations
//! of state, holder, fence and lease.
//!
//! Invariant: no state transition goes backwards (held by `states_only_advance`).
//! Invariant: of several programs that request one occurrence, one works on it (held by `one_holder_at_a_time`).

use super::units::Timestamp;

/// State of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AttemptState {
    /// Created, no memories claimed.
    Planned,
    /// Has claimed memories.
    Claimed,
    /// Committed: the receipt.
    Done,
    /// Abandoned by its holder.
    Aborted,
    /// Ended by reap after its lease expired.
    Expired,
}

impl AttemptState {
    /// Name in the graph.
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

    /// Whether the state is terminal. Until then the attempt's claims count.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Done | Self::Aborted | Self::Expired)
    }

    /// Whether a transition to `next` is allowed.
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        matches!(
            (self, next),
            (Self::Planned, Self::Claimed | Self::Aborted | Self::Expired)
                | (Self::Claimed, Self::Done | Self::Aborted | Self::Expired)
        )
    }
}

/// State of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunState {
    /// In progress, or left by a holder that crashed.
    Open,
    /// Finished.
    Done,
    /// Stopped by the guard before it wrote.
    Guarded,
    /// Stopped by an error. Its commits remain; the rest is still due.
    Failed,
}

impl RunState {
    /// Name in the graph.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Guarded => "guarded",
            Self::Failed => "failed",
        }
    }

    /// The state with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Open, Self::Done, Self::Guarded, Self::Failed].into_iter().find(|state| state.name() == name)
    }

    /// Whether the state is terminal.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        !matches!(self, Self::Open)
    }
}

/// Record of a run when it is requested, read under the lock of its job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFacts {
    /// Occurrence of the job.
    pub occurrence: String,
    pub state: RunState,
    pub holder: Option<String>,
    /// End of the lease, by the server's clock.
    pub lease_until: Timestamp,
}

/// The requester, and its right to take over a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// One of many programs: an open run of another holder is respected while its lease lasts.
    Lease,
    /// The only program, since it holds the lock of a scratch database: its predecessor has ended, and its run is taken
    /// over at once.
    Scratch,
}

/// Decision about an occurrence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opening {
    /// Record it as open and work.
    Create,
    /// Take over the open run of this occurrence, with its own `now`; then decide again if it was another occurrence.
    Take(String),
    /// Skip: the occurrence is already done.
    AlreadyOver(RunState),
    /// Skip: only an open run was requested, and there is none.
    Nothing,
    /// Skip: another program holds a run of this job.
    Held {
        /// Occurrence of that run.
        occurrence: String,
        holder: String,
    },
}

/// Decides what `me` does about the `wanted` occurrence (with `None`, about any open run of the job), given the open
/// run, if any, and the record of the wanted occurrence, if any, both read under the job's lock at `server_now`.
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
        return if is_free(me, holder, open.lease_until <= server_now, right) {
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

/// Whether `me` may take over an open run.
fn is_free(me: &str, holder: &str, is_expired: bool, right: Right) -> bool {
    holder.is_empty() || holder == me || is_expired || right == Right::Scratch
}

/// Lease of an attempt of another writer, which has none, from when it is first seen, milliseconds.
pub const FOREIGN_LEASE_MS: i64 = 60_000;

/// A run as stored on its node.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RunRecord {
    pub state: RunState,
    pub holder: Option<String>,
    /// Increases by one at each takeover; work begun under a lower fence cannot be committed.
    pub fence: i64,
    /// End of the lease, by the server's clock, epoch milliseconds.
    pub lease_until: i64,
    /// Committed batches.
    pub batch: i64,
}

/// Event on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEvent<'a> {
    /// A takeover, decided by [`open_run`] under the lock of the job, and again under that of the run: its holder may
    /// have renewed the lease meanwhile.
    Take { me: &'a str, right: Right },
    /// A transaction of the run begins, or its holder sends a heartbeat.
    Guard { me: &'a str, fence: i64 },
    /// A transaction of the run ends with its receipt. Only in the transaction that a guard began.
    Receipt,
    /// Its holder releases it to the next one.
    Release { me: &'a str, fence: i64 },
    /// Its holder ends it. A repeat with the same arguments finds it done.
    Close { me: &'a str, fence: i64, state: RunState },
}

/// An event that the record does not allow: another holder took over, or the run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("refused: the run or attempt is over, or another program holds it")]
pub struct Refused;

impl RunRecord {
    /// The record after an event.
    pub fn step(&self, event: RunEvent<'_>, server_now: i64, lease_ms: i64) -> Result<Self, Refused> {
        let open = self.state == RunState::Open;
        let ours = |me: &str, fence: i64| self.fence == fence && self.holder.as_deref() == Some(me);
        let lease_until = server_now.saturating_add(lease_ms);
        let (holder, is_expired) =
            (self.holder.as_deref().unwrap_or_default(), self.lease_until <= server_now);
        match event {
            RunEvent::Take { me, right } if open && is_free(me, holder, is_expired, right) => {
                Ok(Self { fence: self.fence + 1, holder: Some(me.to_owned()), lease_until, ..*self })
            }
            RunEvent::Guard { me, fence } if open && ours(me, fence) => {
                Ok(Self { lease_until, ..self.clone() })
            }
            RunEvent::Receipt if open => Ok(Self { batch: self.batch + 1, ..self.clone() }),
            RunEvent::Release { me, fence } if open && ours(me, fence) => {
                Ok(Self { holder: None, lease_until: 0, ..*self })
            }
            RunEvent::Close { me, fence, state } if open && state.is_terminal() && ours(me, fence) => {
                Ok(Self { state, holder: None, lease_until: 0, ..*self })
            }
            RunEvent::Close { fence, state, .. } if state == self.state && !open && self.fence == fence => {
                Ok(Self { holder: None, lease_until: 0, ..*self })
            }
            _ => Err(Refused),
        }
    }
}

/// An attempt as stored on its node.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AttemptRecord {
    /// Its state; `None` for an attempt of another writer that has not been adopted.
    pub state: Option<AttemptState>,
    pub holder: Option<String>,
    /// End of the lease, by the server's clock, epoch milliseconds.
    pub lease_until: i64,
}

/// Event on an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptEvent<'a> {
    /// It claims memories.
    Claim { me: &'a str },
    /// The transaction that applies it begins. A done attempt returns its receipt.
    Guard { me: &'a str },
    /// It ends, its claims removed, in the transaction that a guard or its opening began.
    Finish { state: AttemptState },
    /// Reap checks whether its lease has expired, and then ends it.
    Reap { right: Right },
    /// An attempt of another writer is adopted: it gets a state, a holder and a lease.
    Adopt {
        /// Its `instanceId`.
        instance: &'a str,
    },
}

impl AttemptRecord {
    /// The record after an event.
    pub fn step(&self, event: AttemptEvent<'_>, server_now: i64, lease_ms: i64) -> Result<Self, Refused> {
        let Some(state) = self.state else {
            return match event {
                AttemptEvent::Adopt { instance } => Ok(Self {
                    state: Some(AttemptState::Claimed),
                    holder: Some(instance.to_owned()),
                    lease_until: server_now.saturating_add(FOREIGN_LEASE_MS),
                }),
                _ => Err(Refused),
            };
        };
        let ours = |me: &str| self.holder.as_deref() == Some(me);
        let lease_until = server_now.saturating_add(lease_ms);
        match event {
            AttemptEvent::Claim { me } if ours(me) && !state.is_terminal() => {
                Ok(Self { state: Some(AttemptState::Claimed), lease_until, ..self.clone() })
            }
            AttemptEvent::Guard { me } if ours(me) && state == AttemptState::Claimed => {
                Ok(Self { lease_until, ..self.clone() })
            }
            AttemptEvent::Guard { me } if ours(me) && state == AttemptState::Done => Ok(self.clone()),
            AttemptEvent::Finish { state: end } if state.may_become(end) => {
                Ok(Self { state: Some(end), ..self.clone() })
            }
            AttemptEvent::Reap { right }
                if !state.is_terminal() && (right == Right::Scratch || self.lease_until <= server_now) =>
            {
                Ok(Self { state: Some(AttemptState::Expired), ..self.clone() })
            }
            _ => Err(Refused),
        }
    }
}

/// A claim of a memory by an attempt in progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    pub attempt: String,
    /// Start of the attempt, epoch milliseconds; an attempt without one is last in order.
    pub started: Option<i64>,
}

/// Selects the claim that keeps a memory: that of the earliest attempt, by `started`, then by id.
#[must_use]
pub fn keeper(marks: &[Mark]) -> Option<&Mark> {
    marks.iter().min_by_key(|mark| (mark.started.unwrap_or(i64::MAX), &mark.attempt))
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

    fn record(state: RunState, holder: Option<&str>, fence: i64) -> RunRecord {
        RunRecord { state, holder: holder.map(str::to_owned), fence, lease_until: 500, batch: 3 }
    }

    #[test]
    fn a_taken_run_refuses_its_former_holder() {
        let step = |record: &RunRecord, event| record.step(event, 1_000, 100);
        let open = record(RunState::Open, Some("a"), 1);
        let guard = |me, fence| RunEvent::Guard { me, fence };
        assert_eq!(
            step(&open, guard("a", 1)).unwrap().lease_until,
            1_100,
            "an expired lease remains valid until it is taken over"
        );
        let take = |me| RunEvent::Take { me, right: Right::Lease };
        let taken = step(&open, take("b")).unwrap();
        assert_eq!((taken.fence, taken.holder.as_deref()), (2, Some("b")));
        assert_eq!(step(&taken, guard("a", 1)), Err(Refused));
        assert_eq!(step(&taken, guard("a", 2)), Err(Refused));
        assert_eq!(step(&taken, guard("b", 1)), Err(Refused), "even its own older self");
        assert_eq!(step(&taken, take("c")), Err(Refused), "a renewed lease lasts");
        assert_eq!(step(&taken, RunEvent::Take { me: "c", right: Right::Scratch }).unwrap().fence, 3);
        let close = |me, fence| RunEvent::Close { me, fence, state: RunState::Done };
        assert_eq!(step(&taken, close("a", 1)), Err(Refused));
        let done = step(&taken, close("b", 2)).unwrap();
        assert_eq!(step(&done, close("b", 2)).as_ref(), Ok(&done), "a repeat finds its receipt");
        assert_eq!(step(&done, take("c")), Err(Refused));
        assert_eq!(step(&done, RunEvent::Receipt), Err(Refused));
        let free = step(&taken, RunEvent::Release { me: "b", fence: 2 }).unwrap();
        assert_eq!((free.state, free.holder.as_deref(), free.lease_until), (RunState::Open, None, 0));
        assert_eq!(step(&free, guard("b", 2)), Err(Refused));
    }

    #[test]
    fn an_attempt_ends_once() {
        let held = AttemptRecord {
            state: Some(AttemptState::Claimed),
            holder: Some("a".to_owned()),
            lease_until: 1_001,
        };
        let step = |record: &AttemptRecord, event| record.step(event, 1_000, 100);
        let reap = |right| AttemptEvent::Reap { right };
        assert_eq!(step(&held, reap(Right::Lease)), Err(Refused));
        let over = AttemptRecord { lease_until: 1_000, ..held.clone() };
        assert!(step(&over, AttemptEvent::Guard { me: "a" }).is_ok(), "only reap ends a lease");
        let expired = step(&over, reap(Right::Lease)).unwrap();
        assert_eq!(step(&held, reap(Right::Scratch)).unwrap().state, Some(AttemptState::Expired));
        for event in [
            AttemptEvent::Guard { me: "a" },
            AttemptEvent::Claim { me: "a" },
            AttemptEvent::Finish { state: AttemptState::Done },
            reap(Right::Scratch),
        ] {
            assert_eq!(step(&expired, event), Err(Refused), "{event:?}");
        }
        let foreign = AttemptRecord { state: None, holder: None, lease_until: 0 };
        assert_eq!(step(&foreign, reap(Right::Lease)), Err(Refused), "one without a lease gets one first");
        let met = step(&foreign, AttemptEvent::Adopt { instance: "theirs" }).unwrap();
        assert_eq!((met.state, met.lease_until), (Some(AttemptState::Claimed), 61_000));
    }

    #[test]
    fn the_earlier_attempt_keeps_a_memory() {
        let mark = |attempt: &str, started| Mark { attempt: attempt.to_owned(), started };
        let marks = [mark("c", Some(5)), mark("b", Some(4)), mark("a", Some(4)), mark("0", None)];
        assert_eq!(keeper(&marks).unwrap().attempt, "a");
        assert_eq!(keeper(&marks[3..]).unwrap().attempt, "0");
        assert_eq!(keeper(&[]), None);
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
