//! The signal that makes the dispatcher survey the ledger, and how far the timer of each job has fired.
//!
//! An occurrence starts once its timer has fired. A job that has waited a minute for that starts without, by the
//! occurrence that is due then, and is counted: the timer lost a firing, and a job that runs late is better than one
//! that never runs.

use crate::domain::units::Timestamp;
use crate::jobs::JobName;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// The longest time between two surveys: open runs without a holder, requested sweeps and edits in the graph send no
/// signal.
const SURVEY_EVERY: Duration = Duration::from_secs(1);

/// How long a due job waits for its timer. In time that passes, whatever clocks are set to.
pub(super) const FIRING_MAX: Duration = Duration::from_secs(60);

/// A signal, sent by timers and after a write that may make a job due.
#[derive(Debug, Clone, Default)]
pub struct Wake(Arc<State>);

#[derive(Debug, Default)]
struct State {
    notify: Notify,
    /// The latest occurrence that the timer of a job has reached.
    fired: Mutex<BTreeMap<JobName, Timestamp>>,
}

impl Wake {
    /// Sends the signal.
    pub fn look(&self) {
        self.0.notify.notify_one();
    }

    /// Sends the signal: occurrences of this job may start up to this one.
    pub fn fire(&self, job: JobName, occurrence: Timestamp) {
        let mut fired = self.0.fired.lock().unwrap_or_else(PoisonError::into_inner);
        let latest = fired.entry(job).or_insert(occurrence);
        *latest = occurrence.max(*latest);
        drop(fired);
        self.look();
    }

    /// Waits for the signal, or until the next survey is due.
    pub async fn wait(&self) {
        // Both mean the same: survey.
        let _ = tokio::time::timeout(SURVEY_EVERY, self.0.notify.notified()).await;
    }

    /// The occurrence up to which a job may start.
    pub(super) fn fired(&self, job: JobName) -> Option<Timestamp> {
        self.0.fired.lock().unwrap_or_else(PoisonError::into_inner).get(&job).copied()
    }
}

/// Due jobs whose timer has not fired, and since when they wait. A later occurrence does not begin the wait anew: of a job that
/// runs each minute or more often, none would ever have waited long enough.
#[derive(Debug, Default)]
pub(super) struct Unfired(BTreeMap<JobName, Instant>);

/// The state of the timer of a due occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Firing {
    Fired,
    Awaited,
    /// It should have fired long ago.
    Lost,
}

impl Unfired {
    /// Whether an occurrence may start, by the occurrence up to which its job has fired.
    pub(super) fn check(
        &mut self,
        job: JobName,
        occurrence: Timestamp,
        fired: Option<Timestamp>,
        now: Instant,
    ) -> Firing {
        if fired.is_some_and(|fired| fired >= occurrence) {
            self.0.remove(&job);
            return Firing::Fired;
        }
        let since = *self.0.entry(job).or_insert(now);
        if now.duration_since(since) < FIRING_MAX {
            return Firing::Awaited;
        }
        self.0.remove(&job);
        Firing::Lost
    }

    /// Ends the wait of a job that is not due: it is disabled, or this or another worker has started it.
    pub(super) fn clear(&mut self, job: JobName) {
        self.0.remove(&job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms).unwrap()
    }

    #[test]
    fn an_occurrence_starts_when_its_timer_fired_or_after_a_minute_without() {
        let (mut unfired, wake) = (Unfired::default(), Wake::default());
        let (job, begun) = (JobName::Decay, Instant::now());
        let after = |seconds| begun + Duration::from_secs(seconds);
        let mut check =
            |occurrence, seconds| unfired.check(job, at(occurrence), wake.fired(job), after(seconds));
        assert_eq!(check(1_000, 0), Firing::Awaited);
        wake.fire(JobName::Promote, at(1_000));
        assert_eq!(check(1_000, 59), Firing::Awaited, "another job was fired");
        wake.fire(job, at(999));
        assert_eq!(check(1_000, 59), Firing::Awaited, "an earlier occurrence was fired");
        assert_eq!(check(1_000, 60), Firing::Lost);
        assert_eq!(check(2_000, 61), Firing::Awaited, "after a start the wait begins anew");
        wake.fire(job, at(2_000));
        wake.fire(job, at(1_000));
        assert_eq!(check(2_000, 500), Firing::Fired, "an earlier firing takes nothing back");
        assert_eq!(check(3_000, 501), Firing::Awaited);
    }

    #[test]
    fn a_job_of_each_minute_starts_after_a_minute_without_its_timer() {
        let (mut unfired, job, begun) = (Unfired::default(), JobName::Decay, Instant::now());
        let check = |unfired: &mut Unfired, minute: i64, seconds| {
            let (occurrence, fired) = (at(60_000 * minute), at(60_000));
            unfired.check(job, occurrence, Some(fired), begun + Duration::from_secs(seconds))
        };
        assert_eq!(check(&mut unfired, 1, 0), Firing::Fired);
        assert_eq!(check(&mut unfired, 2, 61), Firing::Awaited);
        assert_eq!(check(&mut unfired, 3, 120), Firing::Awaited);
        assert_eq!(check(&mut unfired, 3, 121), Firing::Lost, "the wait began with the occurrence before");
        assert_eq!(check(&mut unfired, 4, 180), Firing::Awaited);
        unfired.clear(job);
        assert_eq!(check(&mut unfired, 5, 240), Firing::Awaited, "it was started elsewhere meanwhile");
    }
}
