//! The due occurrence of a schedule, as a pure function of schedule, last run and now.
//!
//! Intervals fall on whole multiples since 1970-01-01T00:00Z, so every program finds the same instants, and a schedule
//! needs no record of its start; cron patterns are in [`super::calendar`]. After missed occurrences there is one
//! catch-up: the latest occurrence, if it is not older than [`WINDOW_MS`]. Those missed before it are counted.
//!
//! Jitter delays a run, not its occurrence: by a share of the job's greatest delay that follows from job and
//! occurrence, so all workers use the same delay, and so does a worker that restarts.
//!
//! Invariant: after the catch-up nothing is due (held by `one_catch_up_whatever_was_missed`).

use super::calendar::{Pattern, Zone};
use crate::domain::units::Timestamp;
use std::time::Duration;

/// An occurrence older than this, a week, is not caught up: its successor is near, or it is no longer needed.
pub const WINDOW_MS: i64 = 7 * 24 * 3_600_000;

/// Greatest number of occurrences counted: those of a pattern of every minute in ten weeks.
pub const COUNT_MAX: u64 = 100_000;

/// The recurrence of a job.
#[derive(Debug, Clone, PartialEq)]
pub enum Rhythm {
    /// At whole multiples of this many milliseconds since 1970.
    Every(i64),
    /// When the clocks of a zone show such a time.
    Cron(Box<Pattern>, Zone),
}

/// A rhythm and the greatest delay of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    pub rhythm: Rhythm,
    /// Greatest delay of a run after its occurrence, milliseconds.
    pub jitter_ms: i64,
}

/// A due occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    pub at: Timestamp,
    /// Number of missed occurrences before it, of the last week.
    pub missed: u64,
}

impl Rhythm {
    /// The first occurrence after an instant; `None` at the end of the calendar.
    #[must_use]
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Every(every) => {
                let every = (*every).max(1);
                let at = (after.millis().div_euclid(every) + 1).saturating_mul(every);
                Timestamp::from_millis(at).ok()
            }
            Self::Cron(pattern, zone) => pattern.next(*zone, after),
        }
    }

    /// The last occurrence at or before an instant.
    #[must_use]
    pub fn latest(&self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Every(every) => {
                let every = (*every).max(1);
                Timestamp::from_millis(now.millis().div_euclid(every).saturating_mul(every)).ok()
            }
            Self::Cron(pattern, zone) => pattern.latest(*zone, now),
        }
    }

    /// Number of occurrences between two instants, both excluded; of a cron pattern at most [`COUNT_MAX`], because they
    /// are found one by one.
    #[must_use]
    pub fn between(&self, after: Timestamp, before: Timestamp) -> u64 {
        if let Self::Every(every) = self {
            let every = (*every).max(1);
            let count = (before.millis() - 1).div_euclid(every) - after.millis().div_euclid(every);
            return u64::try_from(count).unwrap_or(0);
        }
        let mut count = 0;
        let mut at = after;
        while let Some(next) = self.next(at).filter(|next| *next < before && count < COUNT_MAX) {
            count += 1;
            at = next;
        }
        count
    }
}

impl Schedule {
    /// A schedule without delays.
    #[must_use]
    pub const fn of(rhythm: Rhythm) -> Self {
        Self { rhythm, jitter_ms: 0 }
    }

    /// Earliest instant at which the run of an occurrence may begin.
    #[must_use]
    pub fn begins(&self, job: &str, occurrence: Timestamp) -> Timestamp {
        let share = hash(job, occurrence) % (self.jitter_ms.max(0).unsigned_abs() + 1);
        let delayed = occurrence.millis().saturating_add(i64::try_from(share).unwrap_or(0));
        Timestamp::from_millis(delayed).unwrap_or(occurrence)
    }

    /// The occurrence due at `now`, if the last run was of `last`.
    #[must_use]
    pub fn due(&self, job: &str, last: Option<Timestamp>, now: Timestamp) -> Option<Due> {
        let oldest = Timestamp::from_millis(now.millis() - WINDOW_MS).unwrap_or(Timestamp::FIRST);
        let begun = last.map_or(oldest, |last| last.max(oldest));
        let mut at = self.rhythm.latest(now)?;
        // An occurrence that is still delayed hides none before it.
        while at > begun && self.begins(job, at) > now {
            at = self.rhythm.latest(Timestamp::from_millis(at.millis() - 1).ok()?)?;
        }
        let missed = || if last.is_some() { self.rhythm.between(begun, at) } else { 0 };
        (at > begun).then(|| Due { at, missed: missed() })
    }

    /// How long a run has been due: since the first occurrence after `since`, the instant of the last run or of what lets
    /// the schedule apply after it, or since the occurrence that is due if that is unknown. Zero if none is due.
    #[must_use]
    pub fn lag(
        &self,
        job: &str,
        last: Option<Timestamp>,
        since: Option<Timestamp>,
        now: Timestamp,
    ) -> Duration {
        let Some(due) = self.due(job, last, now) else { return Duration::ZERO };
        // An instant ahead is from a wrong clock.
        let since = since.filter(|since| *since <= now);
        let first = since.and_then(|since| self.rhythm.next(since)).map_or(due.at, |first| first.min(due.at));
        let begun = since.map_or(first, |since| since.max(first));
        Duration::from_millis(now.millis().saturating_sub(begun.millis()).max(0).unsigned_abs())
    }
}

impl std::fmt::Display for Rhythm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Every(ms) => write!(f, "every {ms} ms"),
            Self::Cron(pattern, zone) => write!(f, "{} {}", pattern.text(), zone.name()),
        }
    }
}

/// A hash independent of the compiler: FNV-1a, its bits mixed by the finaliser of splitmix64.
fn hash(job: &str, occurrence: Timestamp) -> u64 {
    let bytes = job.bytes().chain(occurrence.millis().to_le_bytes());
    let fnv = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mixed = (fnv ^ (fnv >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms).unwrap()
    }

    fn every(ms: i64) -> Schedule {
        Schedule::of(Rhythm::Every(ms))
    }

    fn cron(text: &str, zone: &str) -> Schedule {
        let pattern = Pattern::parse(text).unwrap();
        Schedule::of(Rhythm::Cron(Box::new(pattern), Zone::named(zone).unwrap()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn one_catch_up_whatever_was_missed(
            interval in 1_i64..10_000_000,
            jitter_ms in 0_i64..1_000_000,
            now in 0_i64..4_000_000_000_000,
            ago in 0_i64..WINDOW_MS,
        ) {
            let schedule = Schedule { jitter_ms, ..every(interval) };
            let last = at((now - ago).max(0));
            match schedule.due("decay", Some(last), at(now)) {
                Some(Due { at: found, missed }) => {
                    prop_assert!(found > last && schedule.begins("decay", found) <= at(now));
                    prop_assert_eq!(found.millis() % interval, 0);
                    let before = (found.millis() - 1) / interval - last.millis() / interval;
                    prop_assert_eq!(missed, u64::try_from(before).unwrap());
                    let again = schedule.due("decay", Some(found), at(now));
                    prop_assert_eq!(again, None, "after the catch-up nothing is due");
                    prop_assert!(schedule.rhythm.next(found).unwrap() > at(now - jitter_ms));
                }
                None => {
                    let next = schedule.rhythm.next(last).unwrap();
                    prop_assert!(schedule.begins("decay", next) > at(now) || ago == WINDOW_MS);
                }
            }
        }

        #[test]
        fn jitter_delays_and_every_worker_agrees(occurrence in 0_i64..4_000_000_000_000, jitter_ms in 0_i64..3_600_000) {
            let schedule = Schedule { jitter_ms, ..every(3_600_000) };
            let begins = schedule.begins("sweep", at(occurrence));
            prop_assert!(begins >= at(occurrence) && begins.millis() - occurrence <= jitter_ms);
            prop_assert_eq!(begins, schedule.clone().begins("sweep", at(occurrence)));
        }
    }

    #[test]
    fn the_delay_of_an_occurrence_is_the_same_in_every_version() {
        let schedule = Schedule { jitter_ms: 600_000, ..every(3_600_000) };
        let delays: Vec<i64> =
            (1..=4).map(|n| n * 3_600_000).map(|o| schedule.begins("decay", at(o)).millis() - o).collect();
        assert_eq!(delays, [375_777, 84_566, 583_083, 225_824]);
        assert_ne!(schedule.begins("decay", at(0)), schedule.begins("promote", at(0)));
    }

    #[test]
    fn instants_are_whole_multiples_since_1970() {
        assert_eq!(Rhythm::Every(600_000).next(at(0)), Some(at(600_000)));
        assert_eq!(Rhythm::Every(600_000).next(at(599_999)), Some(at(600_000)));
        assert_eq!(Rhythm::Every(600_000).next(at(-1)), Some(at(0)));
        let first = every(3_600_000).due("decay", None, at(3_600_001));
        assert_eq!(first, Some(Due { at: at(3_600_000), missed: 0 }));
    }

    #[test]
    fn a_week_of_downtime_is_one_run_and_what_is_older_is_left() {
        let nightly = cron("0 2 * * *", "UTC");
        let day = 86_400_000;
        let ran = at(10 * day + 2 * 3_600_000);
        let back = |days: i64| at(ran.millis() + days * day + 3_600_000);
        let due = |days| nightly.due("sweep", Some(ran), back(days));
        assert_eq!(due(0), None);
        assert_eq!(due(1), Some(Due { at: at(ran.millis() + day), missed: 0 }));
        assert_eq!(due(7), Some(Due { at: at(ran.millis() + 7 * day), missed: 6 }));
        let monthly = cron("0 0 1 * *", "UTC");
        let first_of_february = 31 * day;
        assert!(monthly.due("fade", Some(at(0)), at(first_of_february + 6 * day)).is_some());
        assert_eq!(monthly.due("fade", Some(at(0)), at(first_of_february + 8 * day)), None);
    }

    #[test]
    fn a_lag_counts_from_the_first_occurrence_that_could_run() {
        let minutely = every(60_000);
        let lag_s = |last: Option<i64>, since: Option<i64>| {
            let lag = minutely.lag("learn", last.map(at), since.map(at), at(630_000));
            lag.as_secs()
        };
        assert_eq!(lag_s(Some(600_000), Some(600_000)), 0, "nothing is due");
        assert_eq!(lag_s(Some(540_000), Some(540_000)), 30);
        assert_eq!(lag_s(Some(0), Some(0)), 570, "nine later occurrences do not shorten it");
        assert_eq!(lag_s(Some(0), Some(310_000)), 270, "the schedule was changed");
        assert_eq!(lag_s(Some(0), None), 30, "it was changed, and when is not known");
        assert_eq!(lag_s(None, None), 30);
        assert_eq!(lag_s(None, Some(310_000)), 270);
        assert_eq!(lag_s(None, Some(620_000)), 10, "it was planned before the database was initialised");
        assert_eq!(lag_s(Some(0), Some(700_000)), 30, "a wrong clock wrote an instant ahead");
    }

    #[test]
    fn a_clock_that_went_back_makes_nothing_due() {
        assert_eq!(every(1_000).due("decay", Some(at(100_000)), at(50_000)), None);
    }
}
