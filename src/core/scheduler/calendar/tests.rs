//! Patterns in zones compared with a walk through every minute, and the nights of clock changes.

use super::*;
use proptest::prelude::*;

fn pattern(text: &str) -> Pattern {
    Pattern::parse(text).unwrap()
}

fn at(text: &str) -> Timestamp {
    crate::clock::parse_rfc3339(text).unwrap()
}

/// The occurrences after an instant, each found from the one before.
fn run(text: &str, zone: &str, after: &str, count: usize) -> Vec<String> {
    let (pattern, zone) = (pattern(text), Zone::named(zone).unwrap());
    let next = |last: &Timestamp| pattern.next(zone, *last);
    std::iter::successors(next(&at(after)), next).take(count).map(crate::clock::rfc3339).collect()
}

#[test]
fn a_time_that_does_not_exist_runs_after_the_gap() {
    // Berlin, 2026-03-29: 02:00 to 03:00 does not exist; 01:00Z is the first instant after it.
    let nights = run("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2);
    assert_eq!(nights, ["2026-03-29T01:00:00.000Z", "2026-03-30T00:30:00.000Z"]);
    let both = run("0,30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2);
    assert_eq!(both, ["2026-03-29T01:00:00.000Z", "2026-03-30T00:00:00.000Z"], "two of one gap are one");
}

#[test]
fn a_time_that_exists_twice_runs_once_and_an_interval_through_both_hours() {
    // Berlin, 2026-10-25: 02:00 to 03:00 occurs twice, from 00:00Z and from 01:00Z.
    let nights = run("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2);
    assert_eq!(nights, ["2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z"]);
    let twice_a_day = run("0 2,14 * * *", "Europe/Berlin", "2026-10-24T13:00:00Z", 2);
    assert_eq!(twice_a_day, ["2026-10-25T00:00:00.000Z", "2026-10-25T13:00:00.000Z"]);
    let halves = run("*/30 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", 6);
    let wanted = ["00:00", "00:30", "01:00", "01:30", "02:00", "02:30"];
    assert_eq!(halves, wanted.map(|time| format!("2026-10-25T{time}:00.000Z")));
}

#[test]
fn a_skipped_day_runs_at_its_end() {
    // Apia went from the 29th to the 31st of December 2011.
    let nights = run("0 12 30 * *", "Pacific/Apia", "2011-12-01T00:00:00Z", 2);
    assert_eq!(nights, ["2011-12-30T10:00:00.000Z", "2012-01-29T22:00:00.000Z"]);
}

#[test]
fn a_pattern_that_is_none_or_never_fires_is_refused() {
    for (text, why) in [
        ("0 0 31 2 *", "never fires"),
        ("0 0 30 2 *", "never fires"),
        ("* * * *", "4 fields"),
        ("0 * * * * *", "6 fields"),
        ("", "fields"),
        ("@daily", "1 fields"),
        ("61 * * * *", "not a cron pattern"),
        ("a b c d e", "not a cron pattern"),
    ] {
        let said = Pattern::parse(text).unwrap_err();
        assert!(said.contains(why), "{text}: {said}");
    }
    for text in ["30 4 * * 0", "0 0 29 2 *", "*/5 8-17 * * MON-FRI", "0 0 31 2 1", " 0  2 * * 7 "] {
        assert!(Pattern::parse(text).is_ok(), "{text}");
    }
    assert!(Zone::named("Europe/Berlin").is_ok());
    assert!(Zone::named("Europe/Atlantis").unwrap_err().contains("IANA"));
}

/// The result of a walk through every minute: the definition, in its simplest form. Occurrences in `[from, until)`.
fn walked(text: &str, zone: Zone, from: DateTime<Utc>, until: DateTime<Utc>) -> Vec<DateTime<Utc>> {
    let pattern = pattern(text);
    let matches = |local: NaiveDateTime| pattern.cron.is_time_matching(&local.and_utc()).unwrap();
    let shown = |at: DateTime<Utc>| at.with_timezone(&zone.0).naive_local();
    let minute = Duration::minutes(1);
    let mut found = Vec::new();
    // Local times so far, so that a repeated one is recognised.
    let mut furthest = shown(from - Duration::days(2));
    let mut at = from - Duration::days(2);
    while at < until {
        let (local, before) = (shown(at), shown(at - minute));
        let again = local <= furthest && at > from - Duration::days(2);
        let skipped = local - before > minute;
        let missing = |n: i64| before + minute * i32::try_from(n).unwrap();
        let is_substitute = skipped && (1..(local - before).num_minutes()).any(|n| matches(missing(n)));
        if (matches(local) && (!again || pattern.is_interval)) || is_substitute {
            found.push(at);
        }
        furthest = furthest.max(local);
        at += minute;
    }
    found.retain(|at| *at >= from);
    found
}

/// Every kind of rule: northern and southern summer time, one of half an hour, one by the lunar calendar, midnight
/// gaps, odd offsets, a crossing of the date line, none at all.
const ZONES: [&str; 20] = [
    "UTC",
    "Europe/Berlin",
    "Europe/London",
    "Europe/Lisbon",
    "Europe/Istanbul",
    "America/New_York",
    "America/St_Johns",
    "America/Sao_Paulo",
    "America/Santiago",
    "America/Havana",
    "America/Asuncion",
    "Africa/Casablanca",
    "Africa/Cairo",
    "Asia/Tehran",
    "Asia/Kathmandu",
    "Asia/Beirut",
    "Australia/Lord_Howe",
    "Australia/Adelaide",
    "Pacific/Apia",
    "Pacific/Chatham",
];
const PATTERNS: [&str; 10] = [
    "*/30 * * * *",
    "30 2 * * *",
    "0 0 * * *",
    "15 1,2,3 * * *",
    "*/20 1 * * *",
    "5 */2 * * *",
    "0 3 * * 0",
    "59 23 31 * *",
    "45 0-4 * 3,4,9,10 *",
    "0 0 1 * 1",
];

/// Compares a year of a pattern in a zone with the walk, in both directions.
fn compare(text: &str, zone: &str, from: DateTime<Utc>, days: i64) {
    let named = Zone::named(zone).unwrap();
    let until = from + Duration::days(days);
    let wanted: Vec<Timestamp> = walked(text, named, from, until).into_iter().filter_map(timestamp).collect();
    let pattern = pattern(text);
    let (first, last) = (timestamp(from - Duration::minutes(1)).unwrap(), timestamp(until).unwrap());
    let next = |at: &Timestamp| pattern.next(named, *at).filter(|at| *at < last);
    let found: Vec<Timestamp> = std::iter::successors(next(&first), next).collect();
    assert_eq!(found, wanted, "{text} in {zone} from {from}");
    for pair in wanted.windows(2) {
        let before = Timestamp::from_millis(pair[1].millis() - 1).unwrap();
        assert_eq!(
            pattern.latest(named, before),
            Some(pair[0]),
            "{text} in {zone} before {}",
            pair[1].millis()
        );
        assert_eq!(pattern.latest(named, pair[0]), Some(pair[0]), "{text} in {zone}");
    }
}

fn midnight(year: i32, day: u32) -> DateTime<Utc> {
    Utc.with_ymd_and_hms(year, 1, 1, 0, 0, 0).unwrap() + Duration::days(day.into())
}

#[test]
fn twenty_zones_agree_with_a_walk_through_every_minute() {
    // The weeks of clock changes in ten years; another pattern each year, so that each zone is tested with each
    // pattern.
    for (z, zone) in ZONES.iter().enumerate() {
        for year in 2009..2019 {
            let text = PATTERNS[(z + usize::try_from(year).unwrap()) % PATTERNS.len()];
            for change in changes(zone, year) {
                compare(text, zone, change - Duration::days(2), 4);
            }
        }
    }
}

/// The days of a year on which the clocks of a zone change.
fn changes(zone: &str, year: i32) -> Vec<DateTime<Utc>> {
    let zone = Zone::named(zone).unwrap();
    let shift = |at: DateTime<Utc>| chrono::Offset::fix(&zone.0.offset_from_utc_datetime(&at.naive_utc()));
    (0..365)
        .map(|day| midnight(year, day))
        .filter(|day| shift(*day) != shift(*day + Duration::days(1)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_ten_days_anywhere_agree_with_a_walk(z in 0..ZONES.len(), p in 0..PATTERNS.len(), year in 2000..2036, day in 0_u32..355) {
        compare(PATTERNS[p], ZONES[z], midnight(year, day), 10);
    }
}

#[test]
#[ignore = "minutes: twenty zones for ten whole years, each year another pattern"]
fn ten_whole_years_agree_with_a_walk_through_every_minute() {
    for (z, zone) in ZONES.iter().enumerate() {
        for year in 2010..2020 {
            let text = PATTERNS[(z + usize::try_from(year).unwrap()) % PATTERNS.len()];
            compare(text, zone, midnight(year, 0), 366);
        }
    }
}

#[test]
fn no_text_makes_the_pattern_parser_panic() {
    let seeds =
        ["30 4 * * 0", "*/10 9-17 1,15 JAN-MAR MON-FRI", "0 2 29 2 *", "59 23 31 12 7", "Europe/Berlin"];
    let mut sound = 0;
    for text in crate::mutated::mutated(&seeds, 3).take(crate::mutated::MANY) {
        let _ = Zone::named(&text);
        match Pattern::parse(&text) {
            Ok(pattern) => {
                sound += 1;
                assert!(Pattern::parse(pattern.text()).is_ok(), "{text:?}");
            }
            Err(why) => assert!(!why.is_empty()),
        }
    }
    assert!(sound > 500, "{sound} were patterns all the same");
}
