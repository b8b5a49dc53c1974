//! Instants and spans as people write them, and instants as answers print them.
//!
//! Everything is UTC, so an instant without a zone is UTC too. A relative instant is only an instant once it is known
//! what now is, and time is a parameter everywhere below: hence [`Moment`], which is resolved against the clock by the
//! verb that uses it.

use chrono::{DateTime, NaiveDate, NaiveDateTime};
pub use ebb_core::clock::rfc3339;
use ebb_core::domain::units::{Timestamp, UnitError};
use std::str::FromStr;
use std::time::Duration;

/// An instant as the command line names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A fixed one.
    At(Timestamp),
    /// This many milliseconds from now; negative is past.
    FromNow(i64),
}

/// A text that names no instant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "not an instant; write RFC 3339 such as 2026-03-01T10:00:00Z (UTC where no zone is given), a date such as \
     2026-03-01, `now`, or a span from now such as -3h or +2d"
)]
pub struct NoInstant;

impl Moment {
    /// The instant meant, if now is `now`.
    ///
    /// # Errors
    /// [`UnitError::Instant`] when a span leads out of the years 0001 to 9999.
    pub fn resolve(self, now: Timestamp) -> Result<Timestamp, UnitError> {
        match self {
            Self::At(at) => Ok(at),
            Self::FromNow(ms) => Timestamp::from_millis(now.millis().saturating_add(ms)),
        }
    }
}

impl FromStr for Moment {
    type Err = NoInstant;

    fn from_str(text: &str) -> Result<Self, NoInstant> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("now") {
            return Ok(Self::FromNow(0));
        }
        let relative = |rest, sign: i64| Some(Self::FromNow(sign * span_ms(rest)?));
        let moment = match (text.strip_prefix('-'), text.strip_prefix('+')) {
            (Some(rest), _) => relative(rest, -1),
            (_, Some(rest)) => relative(rest, 1),
            _ => fixed_ms(text).and_then(|ms| Timestamp::from_millis(ms).ok()).map(Self::At),
        };
        moment.ok_or(NoInstant)
    }
}

fn span_ms(text: &str) -> Option<i64> {
    i64::try_from(humantime::parse_duration(text).ok()?.as_millis()).ok()
}

/// Epoch milliseconds of a date or a date with a time of day. Digits beyond milliseconds are cut off.
fn fixed_ms(text: &str) -> Option<i64> {
    if let Ok(date) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return Some(date.and_hms_opt(0, 0, 0)?.and_utc().timestamp_millis());
    }
    let text = text.replacen([' ', 't'], "T", 1).replace(['Z', 'z'], "+00:00");
    let zoned = ["%Y-%m-%dT%H:%M:%S%.f%:z", "%Y-%m-%dT%H:%M%:z"];
    let bare = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M"];
    let zoned = zoned.iter().find_map(|form| DateTime::parse_from_str(&text, form).ok());
    let bare = || bare.iter().find_map(|form| NaiveDateTime::parse_from_str(&text, form).ok());
    zoned.map(|at| at.timestamp_millis()).or_else(|| bare().map(|at| at.and_utc().timestamp_millis()))
}

/// A span of time above 0, such as `1h` or `90s`.
///
/// # Errors
/// The expected form of a span.
pub fn span(text: &str) -> Result<Duration, String> {
    let span = humantime::parse_duration(text.trim()).ok().filter(|span| span.as_millis() > 0);
    span.ok_or_else(|| "not a span of time; write a number and a unit, such as 90s, 10m or 1h".to_owned())
}

/// A duration as it is written in a configuration, such as `1h 30m`.
#[must_use]
pub fn spelt(span: Duration) -> String {
    humantime::format_duration(span).to_string()
}

/// An instant as tables show it: UTC, to the second; it can be pasted after `--at`.
#[must_use]
pub fn readable(at: Timestamp) -> String {
    DateTime::from_timestamp_millis(at.millis()).unwrap_or_default().format("%Y-%m-%d %H:%M:%S").to_string()
}

/// A span of time in its two greatest units, such as `4h 36m`.
#[must_use]
pub fn about(span: Duration) -> String {
    if span < Duration::from_secs(1) {
        return format!("{} ms", span.as_millis());
    }
    let text = humantime::format_duration(Duration::from_secs(span.as_secs())).to_string();
    text.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

/// The span between two instants, whichever comes first.
#[must_use]
pub fn between(a: Timestamp, b: Timestamp) -> Duration {
    Duration::from_millis(a.millis().abs_diff(b.millis()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> String {
        let now = Timestamp::from_millis(1_772_359_200_000).unwrap(); // 2026-03-01T10:00:00Z
        match text.parse::<Moment>() {
            Ok(moment) => rfc3339(moment.resolve(now).unwrap()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn an_instant_may_be_written_in_many_ways() {
        for (written, meant) in [
            ("2026-03-01T10:00:00Z", "2026-03-01T10:00:00.000Z"),
            ("2026-03-01T10:00:00.1239Z", "2026-03-01T10:00:00.123Z"),
            ("2026-03-01T10:00Z", "2026-03-01T10:00:00.000Z"),
            ("2026-03-01 10:00:30", "2026-03-01T10:00:30.000Z"),
            ("2026-03-01T10:00+02:00", "2026-03-01T08:00:00.000Z"),
            ("2026-03-01", "2026-03-01T00:00:00.000Z"),
            ("now", "2026-03-01T10:00:00.000Z"),
            ("-3h", "2026-03-01T07:00:00.000Z"),
            ("+2d", "2026-03-03T10:00:00.000Z"),
            ("-1h 30m", "2026-03-01T08:30:00.000Z"),
        ] {
            assert_eq!(at(written), meant, "{written}");
        }
    }

    #[test]
    fn tables_show_instants_and_spans_short() {
        let at = Timestamp::from_millis(1_772_359_200_999).unwrap();
        assert_eq!(readable(at), "2026-03-01 10:00:00");
        assert_eq!(
            "2026-03-01 10:00:00".parse::<Moment>(),
            Ok(Moment::At(Timestamp::from_millis(1_772_359_200_000).unwrap()))
        );
        for (ms, said) in
            [(0, "0 ms"), (950, "950 ms"), (61_000, "1m 1s"), (16_560_000, "4h 36m"), (90_061_000, "1day 1h")]
        {
            assert_eq!(about(Duration::from_millis(ms)), said);
        }
    }

    #[test]
    fn what_is_no_instant_is_refused_with_examples() {
        for bad in ["", "yesterday", "2026-02-30", "2026-03-01T25:00Z", "3h", "-", "1772359200000", "12:00"] {
            assert!(at(bad).starts_with("not an instant; write RFC 3339 such as"), "{bad}: {}", at(bad));
        }
        let end = Timestamp::from_millis(253_402_300_799_999).unwrap();
        assert!("+1d".parse::<Moment>().unwrap().resolve(end).is_err());
        assert!(span("0s").is_err() && span("5").is_err());
        assert_eq!(span("90s"), Ok(Duration::from_secs(90)));
    }
}
