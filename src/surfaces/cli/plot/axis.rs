//! Positions and labels of the ticks of an axis.

use chrono::{DateTime, Datelike, NaiveDate, Utc};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// Steps of a time axis below a month.
const STEPS: [i64; 19] = [
    1_000,
    5_000,
    15_000,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    3 * DAY,
    7 * DAY,
    14 * DAY,
];

/// Ticks of a value axis from 0 to at least `greatest`, about `wanted` of them, at 1, 2 or 5 times a power of ten. The
/// last one is the end of the axis.
pub(super) fn values(greatest: f64, wanted: u32) -> Vec<(f64, String)> {
    let greatest = if greatest.is_finite() && greatest > 0.0 { greatest } else { 1.0 };
    let rough = greatest / f64::from(wanted.max(1));
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= rough).unwrap_or(rough);
    let mut ticks = Vec::new();
    for i in 0..=64_u32 {
        let value = f64::from(i) * step;
        ticks.push((value, number(value, step)));
        if value >= greatest {
            break;
        }
    }
    ticks
}

/// A number as short as its step allows.
fn number(value: f64, step: f64) -> String {
    for (unit, suffix) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if value >= unit * 10.0 {
            return format!("{}{suffix}", value / unit);
        }
    }
    let decimals = (0..6).find(|d| (step * 10_f64.powi(*d)).fract() < 1e-9).unwrap_or(6);
    format!("{value:.*}", usize::try_from(decimals).unwrap_or(0))
}

/// A count with its thousands apart.
pub(super) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Ticks of a time axis between two instants, at most `most` of them, at round times of the UTC calendar.
pub(super) fn times(from: i64, to: i64, most: usize) -> Vec<(i64, String)> {
    let most = i64::try_from(most.max(1)).unwrap_or(1);
    let length = (to - from).max(1);
    if let Some(step) = STEPS.into_iter().find(|step| length / step < most) {
        let first = from.div_euclid(step) * step + if from.rem_euclid(step) == 0 { 0 } else { step };
        let form = move |at: i64| match step {
            _ if at.rem_euclid(DAY) == 0 => "%b %-d",
            ..MINUTE => "%H:%M:%S",
            _ => "%H:%M",
        };
        return (0..=most)
            .map(|i| first + i * step)
            .filter(|at| *at <= to)
            .map(|at| (at, text(at, form(at))))
            .collect();
    }
    let months = [1, 2, 3, 6, 12, 24, 60, 120, 600, 1_200, 12_000];
    let step = months.into_iter().find(|m| length / (m * 30 * DAY) < most).unwrap_or(12_000);
    let month = |at: i64| date(at).map_or(0, |d| i64::from(d.year()) * 12 + i64::from(d.month0()));
    let first = (month(from) + step - 1).div_euclid(step) * step;
    let starts = (0..=most + 1).filter_map(|i| month_start(first + i * step));
    let form = if step % 12 == 0 { "%Y" } else { "%b %Y" };
    starts.filter(|at| (from..=to).contains(at)).map(|at| (at, text(at, form))).collect()
}

fn month_start(month: i64) -> Option<i64> {
    let (year, month) =
        (i32::try_from(month.div_euclid(12)).ok()?, u32::try_from(month.rem_euclid(12)).ok()?);
    Some(NaiveDate::from_ymd_opt(year, month + 1, 1)?.and_hms_opt(0, 0, 0)?.and_utc().timestamp_millis())
}

fn date(ms: i64) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_millis(ms)
}

fn text(ms: i64, form: &str) -> String {
    date(ms).map(|at| at.format(form).to_string()).unwrap_or_default()
}

/// A day for a note.
pub(super) fn day(ms: i64) -> String {
    text(ms, "%Y-%m-%d")
}

/// An instant for a legend.
pub(super) fn instant(ms: i64) -> String {
    text(ms, "%Y-%m-%d %H:%M")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels<T>(ticks: Vec<(T, String)>) -> String {
        ticks.into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn value_ticks_are_round_and_reach_the_top() {
        assert_eq!(labels(values(2.9, 5)), "0 1 2 3");
        assert_eq!(labels(values(1.0, 5)), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(labels(values(0.03, 4)), "0.00 0.01 0.02 0.03");
        assert_eq!(labels(values(81_000.0, 4)), "0 50k 100k");
        for nothing in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(values(nothing, 2).len(), 3);
        }
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(100), "100");
    }

    #[test]
    fn time_ticks_are_round_whatever_the_span() {
        let start = 1_772_359_260_000; // 2026-03-01T10:01:00Z
        let over = |length| labels(times(start, start + length, 6));
        assert_eq!(over(40_000), "10:01:00 10:01:15 10:01:30");
        assert_eq!(over(50 * MINUTE), "10:10 10:20 10:30 10:40 10:50");
        assert_eq!(over(20 * HOUR), "12:00 18:00 Mar 2 06:00");
        assert_eq!(over(30 * DAY), "Mar 5 Mar 12 Mar 19 Mar 26");
        assert_eq!(over(200 * DAY), "May 2026 Jul 2026 Sep 2026");
        assert_eq!(over(3_000 * DAY), "2028 2030 2032 2034");
        assert!(times(start, start, 6).len() <= 6);
    }
}
