//! Fuzz entry point: cron patterns and time zones.

use super::{Job, repeating};
use crate::domain::units::Timestamp;
use crate::scheduler::calendar::{Pattern, Zone};
use crate::scheduler::due::Rhythm;

/// Zones for patterns of inputs that name none: without and with daylight saving, of half an hour, with a lost day.
const ZONES: [&str; 5] = ["UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia"];

/// Milliseconds of the years 1900 to 2900: the calendar of the patterns ends some centuries later.
const CALENDAR: std::ops::Range<i64> = -2_208_988_800_000..29_347_920_000_000;

/// Reads a pattern, on a second line the name of a zone, and on a third an instant in milliseconds.
pub fn read(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut lines = text.split('\n');
    let (pattern, zone, at) = (lines.next().unwrap_or_default(), lines.next(), lines.next());
    let pattern = match Pattern::parse(pattern) {
        Ok(pattern) => pattern,
        Err(why) => return assert!(!why.is_empty()),
    };
    assert_eq!(Pattern::parse(pattern.text()).as_ref(), Ok(&pattern));
    let zone = match zone.map(Zone::named) {
        Some(Ok(zone)) => zone,
        _ => Zone::named(ZONES[bytes.len() % ZONES.len()]).expect("a known zone"),
    };
    assert_eq!(Zone::named(zone.name()), Ok(zone));
    let millis = at.and_then(|at| at.parse().ok()).unwrap_or(1_767_225_600_000);
    let Ok(now) = Timestamp::from_millis(millis) else { return };
    let (next, latest) = (pattern.next(zone, now), pattern.latest(zone, now));
    if CALENDAR.contains(&millis) {
        let next = next.expect("a pattern fires again");
        assert!(next > now);
        assert_eq!(pattern.latest(zone, next), Some(next));
        let latest = latest.expect("a pattern has fired before");
        assert!(latest <= now);
        let before = Timestamp::from_millis(latest.millis() - 1).expect("an instant before another");
        assert_eq!(pattern.next(zone, before), Some(latest));
    }
    // A pattern that the timers refuse would be accepted and never fire.
    let timer = repeating(&Rhythm::Cron(Box::new(pattern), zone)).expect("a pattern repeats");
    let job = Job::new_tz(timer.text.clone(), timer.zone.tz(), |_, _| ());
    assert!(job.is_ok(), "the timers refuse {:?}", timer.text);
}
