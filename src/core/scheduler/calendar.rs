//! Cron patterns in a time zone, as instants: croner reads the pattern, this module converts its local times.
//!
//! Local time is no function of time: once a year an hour is skipped, once it is repeated. The rules:
//!
//! - A local time that does not exist means the first instant after the gap. Two in one gap are one occurrence.
//! - A local time that exists twice means the first of the two. A pattern whose minutes or hours begin with `*` is an
//!   interval rather than a time of day, and runs through both hours.
//!
//! # Design notes
//! The pattern is searched among local times as such (in UTC, where each exists once), and the result is converted to
//! the zone; croner's own search in a zone misses occurrences when it starts inside a repeated hour, and treats
//! `0 2,14 * * *` as an interval.
//!
//! Invariant: the result is the same as of a walk through all minutes (held by
//! `calendar::tests::twenty_zones_agree_with_a_walk_through_every_minute`).

use crate::domain::units::Timestamp;
use chrono::{DateTime, Duration, MappedLocalTime, NaiveDateTime, TimeZone, Timelike, Utc};
use chrono_tz::Tz;
use croner::parser::{CronParser, Seconds, Year};

/// A five-field cron pattern that fires.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    text: String,
    cron: croner::Cron,
    is_interval: bool,
}

/// A zone of the IANA database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone(Tz);

impl Zone {
    /// The zone UTC.
    pub const UTC: Self = Self(Tz::UTC);

    /// The zone of that name, such as `Europe/Berlin`.
    ///
    /// # Errors
    /// The rule that the name breaks, as the end of a sentence.
    pub fn named(name: &str) -> Result<Self, String> {
        let rule = "it must be a zone of the IANA database, such as \"UTC\" or \"Europe/Berlin\"";
        name.trim().parse().map(Self).map_err(|_| rule.to_owned())
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The zone as the timer takes it.
    pub(super) const fn tz(self) -> Tz {
        self.0
    }
}

impl Pattern {
    /// Reads a pattern: minute, hour, day of the month, month, day of the week.
    ///
    /// # Errors
    /// The fault, as the end of a sentence; a pattern that never fires is refused.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let fields: Vec<&str> = text.split(' ').collect();
        let &[minute, hour, ..] = fields.as_slice() else {
            return Err(five_fields(fields.len()));
        };
        if fields.len() != 5 {
            return Err(five_fields(fields.len()));
        }
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
        let cron = parser.parse(&text).map_err(|why| format!("it is not a cron pattern: {why}"))?;
        let is_interval = minute.starts_with('*') || hour.starts_with('*');
        let pattern = Self { text, cron, is_interval };
        let fires = pattern.local_from(DateTime::UNIX_EPOCH.naive_utc()).is_some();
        if fires { Ok(pattern) } else { Err("it never fires".to_owned()) }
    }

    /// The original text of the pattern.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The first occurrence after an instant; `None` at the end of the calendar.
    #[must_use]
    pub fn next(&self, zone: Zone, after: Timestamp) -> Option<Timestamp> {
        let after = instant(after)?;
        let (local, shown_twice) = shown(zone, after);
        // In the first of two equal hours, occurrences of the second are still to come although their local time has
        // passed.
        let mut local = self.local_from(local - shown_twice)?;
        let mut first: Option<DateTime<Utc>> = None;
        loop {
            let [early, late] = instants(zone, local);
            for at in [early, late.filter(|_| self.is_interval)].into_iter().flatten() {
                if at > after && first.is_none_or(|first| at < first) {
                    first = Some(at);
                }
            }
            // The earlier of two instants never decreases as local times increase.
            if first.is_some_and(|first| early.is_some_and(|early| early >= first)) {
                return first.and_then(timestamp);
            }
            local = self.local_from(local + Duration::minutes(1))?;
        }
    }

    /// The last occurrence at or before an instant.
    #[must_use]
    pub fn latest(&self, zone: Zone, now: Timestamp) -> Option<Timestamp> {
        let now = instant(now)?;
        let (local, shown_twice) = shown(zone, now);
        // In the second of two equal hours, all occurrences of the first have passed.
        let mut local = self.local_until(local + shown_twice)?;
        let mut last: Option<DateTime<Utc>> = None;
        loop {
            let [early, late] = instants(zone, local);
            let late = late.filter(|_| self.is_interval);
            for at in [early, late].into_iter().flatten() {
                if at <= now && last.is_none_or(|last| at > last) {
                    last = Some(at);
                }
            }
            if last.is_some_and(|last| late.or(early).is_some_and(|latest| latest <= last)) {
                return last.and_then(timestamp);
            }
            local = self.local_until(local - Duration::minutes(1))?;
        }
    }

    /// The first local time of the pattern from this one on.
    fn local_from(&self, local: NaiveDateTime) -> Option<NaiveDateTime> {
        // A minute that has begun is over.
        let whole = local.with_second(0)?.with_nanosecond(0)?;
        let from = if whole < local { whole + Duration::minutes(1) } else { whole };
        let found = self.cron.find_next_occurrence(&from.and_utc(), true).ok()?;
        Some(found.naive_utc())
    }

    /// The last local time of the pattern up to this one.
    fn local_until(&self, local: NaiveDateTime) -> Option<NaiveDateTime> {
        let whole = local.with_second(0)?.with_nanosecond(0)?;
        let found = self.cron.find_previous_occurrence(&whole.and_utc(), true).ok()?;
        Some(found.naive_utc())
    }
}

fn five_fields(there: usize) -> String {
    format!(
        "it has {there} fields; a cron pattern has five: minute, hour, day of the month, month, day of the week"
    )
}

/// The local time at an instant, and by how much clocks are set back around it, if that time occurs twice.
fn shown(zone: Zone, at: DateTime<Utc>) -> (NaiveDateTime, Duration) {
    let local = at.with_timezone(&zone.0).naive_local();
    match zone.0.from_local_datetime(&local) {
        MappedLocalTime::Ambiguous(early, late) => {
            (local, late.with_timezone(&Utc) - early.with_timezone(&Utc))
        }
        _ => (local, Duration::zero()),
    }
}

/// The instants of a local time: one, two, or the end of the gap that it falls into.
fn instants(zone: Zone, local: NaiveDateTime) -> [Option<DateTime<Utc>>; 2] {
    match zone.0.from_local_datetime(&local) {
        MappedLocalTime::Single(at) => [Some(at.with_timezone(&Utc)), None],
        MappedLocalTime::Ambiguous(early, late) => {
            [Some(early.with_timezone(&Utc)), Some(late.with_timezone(&Utc))]
        }
        MappedLocalTime::None => [end_of_gap(zone, local), None],
    }
}

/// The first instant after the gap that a local time falls into.
fn end_of_gap(zone: Zone, local: NaiveDateTime) -> Option<DateTime<Utc>> {
    // The longest gap ever was a day, where a zone crossed the date line.
    let day = Duration::days(1) + Duration::hours(1);
    let offset = |at: NaiveDateTime| zone.0.offset_from_utc_datetime(&at);
    let shift = |at: NaiveDateTime| chrono::Offset::fix(&offset(at)).local_minus_utc();
    let (mut before, mut after) = (local - day, local + day);
    let old = shift(before);
    // Offsets change on whole seconds.
    while after - before > Duration::seconds(1) {
        let middle = before + Duration::seconds((after - before).num_seconds() / 2);
        if shift(middle) == old { before = middle } else { after = middle }
    }
    Some(after.and_utc())
}

fn instant(at: Timestamp) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_millis(at.millis())
}

fn timestamp(at: DateTime<Utc>) -> Option<Timestamp> {
    Timestamp::from_millis(at.timestamp_millis()).ok()
}

#[cfg(test)]
mod tests;
