//! Firings of the crate's patterns compared with the rhythms, and its scheduler at work.

use super::super::calendar::Pattern;
use super::*;
use croner::parser::{CronParser, Seconds};
use proptest::prelude::*;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms).unwrap()
}

fn cron(text: &str, zone: &str) -> Rhythm {
    Rhythm::Cron(Box::new(Pattern::parse(text).unwrap()), Zone::named(zone).unwrap())
}

/// The next firing of a pattern, read as the crate reads it.
fn next_firing(pattern: &TimerPattern, after: Timestamp) -> Option<i64> {
    let cron = CronParser::builder().seconds(Seconds::Required).dom_and_dow(true).build();
    let after = DateTime::from_timestamp_millis(after.millis()).unwrap().with_timezone(&pattern.zone.tz());
    let next = cron.parse(&pattern.text).unwrap().find_next_occurrence(&after, false).ok()?;
    // The crate stores seconds.
    Some(next.timestamp() * 1_000)
}

proptest! {
    #[test]
    fn intervals_that_repeat_fire_at_whole_multiples_since_1970(
        every_s in prop::sample::select(vec![1_i64, 2, 5, 15, 30, 60, 120, 600, 1_800, 3_600, 10_800, 43_200, 86_400]),
        now in 0_i64..4_000_000_000_000,
    ) {
        let rhythm = Rhythm::Every(every_s * 1_000);
        let pattern = repeating(&rhythm).unwrap();
        prop_assert_eq!(next_firing(&pattern, at(now)), rhythm.next(at(now)).map(Timestamp::millis));
    }

    #[test]
    fn other_intervals_fire_once_at_their_next_occurrence(every in 1_i64..3_000_000_000, now in 0_i64..4_000_000_000_000) {
        let rhythm = Rhythm::Every(every);
        prop_assume!(repeating(&rhythm).is_none());
        let next = rhythm.next(at(now)).unwrap();
        let fires = next_firing(&once(next), at(now));
        let late = fires.map(|fires| fires - next.millis());
        prop_assert!(late.is_some_and(|late| (0..1_000).contains(&late)), "{late:?}");
        prop_assert_eq!(next_firing(&once(next), at(fires.unwrap())), None, "and never again");
    }
}

#[test]
fn a_cron_pattern_gets_a_seconds_field_and_keeps_its_zone() {
    let rhythm = cron("30 4 * * 0", "Europe/Berlin");
    let pattern = repeating(&rhythm).unwrap();
    assert_eq!(pattern.text, "0 30 4 * * 0");
    // The clocks of Berlin changed on 29 March 2026, a Sunday.
    for after in [at(1_774_700_000_000), at(1_774_750_000_000), at(1_775_000_000_000)] {
        assert_eq!(next_firing(&pattern, after), rhythm.next(after).map(Timestamp::millis));
    }
}

#[test]
fn the_crate_reads_two_day_fields_otherwise_and_then_fires_once() {
    // Friday 13 February 2026 is the next day that is both; the Friday before it is due.
    let (rhythm, now) = (cron("0 0 13 * 5", "UTC"), at(1_770_000_000_000));
    let next = rhythm.next(now).unwrap();
    assert_ne!(next_firing(&repeating(&rhythm).unwrap(), now), Some(next.millis()));
    assert_eq!(next_firing(&once(next), now), Some(next.millis()));
}

/// Waits until a job has fired up to an occurrence after this one.
async fn fired_after(wake: &Wake, before: Timestamp) -> Timestamp {
    let fired = async {
        loop {
            if let Some(fired) = wake.fired(JobName::Decay).filter(|fired| *fired > before) {
                return fired;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), fired).await.expect("the crate never fired")
}

#[tokio::test]
async fn the_crate_fires_and_follows_a_changed_schedule() {
    let (clock, wake, stop) = (Clock::Real, Wake::default(), CancellationToken::new());
    let one = |rhythm| Arc::new(Rhythms::from([(JobName::Decay, rhythm)]));
    let weekly = Rhythm::Every(7 * 86_400_000);
    let (rhythms, followed) = watch::channel(one(weekly.clone()));
    let timers = Timers::start(clock.clone(), wake.clone()).await.unwrap();
    let test = async {
        let added = fired_after(&wake, Timestamp::EPOCH).await;
        assert_eq!(Some(added), weekly.latest(clock.now()), "an occurrence before is decided on at once");
        // 1,500 ms divide nothing: two firings are two jobs of the crate.
        for every in [1_000, 1_500] {
            rhythms.send_replace(one(Rhythm::Every(every)));
            let mut before = fired_after(&wake, added).await;
            for _ in 0..2 {
                before = fired_after(&wake, before).await;
                assert_eq!(before.millis() % every, 0, "{before:?} is no occurrence");
            }
        }
        stop.cancel();
    };
    tokio::join!(timers.follow(followed, stop.clone()), test);
}
