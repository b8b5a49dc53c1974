//! Properties of the memory laws over random histories, and the published numbers.

use super::*;
use crate::domain::tunables::ConsolidationConfig;
use crate::domain::units::HOUR_MS;
use proptest::prelude::*;

const START: i64 = 1_767_225_600_000;

fn tunables() -> Tunables {
    ConsolidationConfig::DOCUMENTED.check().unwrap()
}

fn at(hours: f64) -> Timestamp {
    Timestamp::from_millis(START).unwrap().after(hours * HOUR_MS as f64)
}

fn state(tier: Tier, energy: f64) -> MemoryState {
    MemoryState { tier, energy: Energy::new(energy).unwrap(), ..created(at(0.0), false) }
}

fn lives() -> impl Strategy<Value = MemoryState> {
    let tiers = prop_oneof![Just(Tier::Working), Just(Tier::ShortTerm), Just(Tier::LongTerm)];
    let energy =
        prop_oneof![0.0..8.0_f64, Just(0.0), Just(1e12), Just(2.0), Just(5.0), Just(f64::MIN_POSITIVE)];
    (tiers, energy, 0.0..100.0_f64, any::<bool>(), any::<bool>()).prop_map(
        |(tier, energy, age, pinned, ripe)| {
            let ripe_at = (ripe && !pinned && tier.next().is_some()).then(|| at(age));
            let born = MemoryState {
                energy_at: at(age),
                last_accessed: at(age),
                ripe_at,
                pinned,
                ..state(tier, energy)
            };
            MemoryState { due_at: None, ..born }.with_due()
        },
    )
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12 * b.abs(), "{a} is not {b}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn twice_is_once(life in lives(), hours in 0.0..2000.0_f64) {
        let (once, _) = decayed(life, at(hours), &tunables());
        let (twice, what) = decayed(once, at(hours), &tunables());
        prop_assert_eq!(twice, once);
        prop_assert_eq!(twice.energy.value().to_bits(), once.energy.value().to_bits());
        prop_assert_eq!(what, Decayed::Unchanged);
    }

    #[test]
    fn never_raises(life in lives(), hours in 0.0..2000.0_f64) {
        let (next, _) = decayed(life, at(hours), &tunables());
        prop_assert!(next.energy <= life.energy);
        prop_assert_eq!(next.last_accessed, life.last_accessed);
        prop_assert!(next.anchor() >= life.anchor());
        prop_assert!(next.tier == life.tier || next.tier == Tier::ExpiredWorking);
    }

    #[test]
    fn passes_compose(energy in 0.2..8.0_f64, steps in prop::collection::vec(1_u32..40, 1..30)) {
        let tunables = tunables();
        let (mut life, mut hour) = (state(Tier::ShortTerm, energy), 0.0);
        for step in steps {
            hour += f64::from(step) / 10.0;
            life = decayed(life, at(hour), &tunables).0;
        }
        let once = decayed(state(Tier::ShortTerm, energy), at(hour), &tunables).0;
        let (a, b) = (life.energy.value(), once.energy.value());
        prop_assert!((a - b).abs() <= 1e-12 * b, "{} against {}", a, b);
        prop_assert_eq!(life.energy_at, once.energy_at);
    }

    #[test]
    fn merged_is_as_if_each_access_had_been_of_one(events in prop::collection::vec((0.0..50.0_f64, any::<bool>()), 2..12)) {
        let tunables = tunables();
        let mut hours: Vec<(f64, bool)> = events;
        hours.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut both, mut one): ([Option<MemoryState>; 2], Option<MemoryState>) = ([None, None], None);
        let lift = |state: Option<MemoryState>, hour: f64| Some(match state {
            None => created(at(hour), false),
            Some(state) => accessed(state, at(hour), Revive::Yes, &tunables).unwrap().0,
        });
        for (hour, second) in hours {
            let of = &mut both[usize::from(second)];
            *of = lift(*of, hour);
            one = lift(one, hour);
        }
        let [Some(kept), Some(other)] = both else { return Ok(()) };
        let (merged, one) = (merged(kept, other, at(60.0), &tunables).unwrap(), one.unwrap());
        let (a, b) = (merged.energy.value(), one.energy_now(at(60.0), &tunables).value());
        prop_assert!((a - b).abs() <= 1e-9 * b, "{} against {}", a, b);
        prop_assert_eq!((merged.access_count, merged.last_accessed), (one.access_count, one.last_accessed));
        prop_assert_eq!(merged.energy_at, at(60.0));
    }

    /// Hours since the last event, and whether it is an access or a pass.
    #[test]
    fn accesses_make_the_same_whenever_passes_came(events in prop::collection::vec((0.01..12.0_f64, any::<bool>()), 1..20)) {
        let tunables = tunables();
        let (mut swept, mut left) = (created(at(0.0), false), created(at(0.0), false));
        let mut hour = 0.0;
        for (gap, is_access) in events {
            hour += gap;
            if is_access {
                [swept, left] = [swept, left].map(|life| accessed(life, at(hour), Revive::Yes, &tunables).unwrap().0);
                let (a, b) = (swept.energy.value(), left.energy.value());
                prop_assert!((a - b).abs() <= 1e-12 * a, "{} against {}", a, b);
                prop_assert_eq!((swept.ripe_at, swept.tier), (left.ripe_at, left.tier));
            } else {
                swept = decayed(swept, at(hour), &tunables).0;
            }
        }
    }

    #[test]
    fn late_access_is_as_good_as_punctual(life in lives(), first in 0.0..50.0_f64, gap in 0.0..20.0_f64) {
        let tunables = tunables();
        let hours = |h: f64| life.anchor().after(h * HOUR_MS as f64);
        let do_access = |v, h: f64| accessed(v, hours(h), Revive::Yes, &tunables).unwrap().0;
        let punctual = do_access(do_access(life, first), first + gap);
        let late = do_access(do_access(life, first + gap), first);
        let (a, b) = (punctual.energy.value(), late.energy.value());
        prop_assert!((a - b).abs() <= 1e-12 * a, "{} against {}", a, b);
        prop_assert_eq!((punctual.anchor(), punctual.access_count), (late.anchor(), late.access_count));
    }

    #[test]
    fn what_decays_often_is_what_is_read_at_once(life in lives(), hours in 0.0..500.0_f64) {
        let now = at(hours);
        let (next, _) = decayed(life, now, &tunables());
        let (stored, computed) = (next.energy_now(now, &tunables()), life.energy_now(now, &tunables()));
        prop_assert_eq!(stored, computed);
    }

    #[test]
    fn nothing_pinned_or_terminal_is_due_and_all_other_is_until_it_is_faint(life in lives()) {
        prop_assert_eq!(life.due_at.is_none(), life.pinned
            || (life.tier != Tier::Working && life.energy.value() < ENERGY_FLOOR));
    }

    #[test]
    fn a_crossing_is_the_first_moment_below(energy in 0.11..8.0_f64) {
        let life = state(Tier::Working, energy);
        for crossing in life.crossings(at(0.0), &tunables()) {
            let below = crossing.at.after(1.0);
            prop_assert!(life.energy_now(below, &tunables()).value() < crossing.threshold);
            let before = Timestamp::from_millis(crossing.at.millis() - 1).unwrap();
            prop_assert!(life.energy_now(before, &tunables()).value() >= crossing.threshold);
        }
    }
}

#[test]
fn the_published_lives() {
    let tunables = tunables();
    close(created(at(0.0), false).energy_now(at(1.0), &tunables).value(), 0.606_530_659_712_633);
    close(created(at(0.0), false).energy_now(at(25.0), &tunables).value(), 3.726_653_172_078_671e-6);
    let (after, what) = accessed(created(at(0.0), false), at(1.0), Revive::Yes, &tunables).unwrap();
    close(after.energy.value(), 1.606_530_659_712_633);
    assert_eq!((what, after.access_count, after.ripe_at), (Access::Lifted, 2, None));
    let (six, _) = accessed(state(Tier::LongTerm, 6.0), at(1.0), Revive::Yes, &tunables).unwrap();
    close(six.energy.value(), 6.0 * (-0.001_f64).exp() + 1.0);
    let crossings = created(at(0.0), false).crossings(at(0.0), &tunables);
    assert_eq!((crossings.len(), crossings[0].name), (1, "expiry"));
    close(crossings[0].at.since(at(0.0)), 16_578_613.0);
}

#[test]
fn an_energy_that_was_below_a_threshold_does_not_cross_it() {
    let names = |energy: f64| -> Vec<&str> {
        let life = MemoryState { energy_at: at(5.0), last_accessed: at(5.0), ..state(Tier::Working, energy) };
        life.crossings(at(0.0), &tunables()).iter().map(|crossing| crossing.name).collect()
    };
    assert_eq!(names(0.05), [""; 0]);
    assert_eq!(names(1.0), ["expiry"]);
    assert_eq!(names(3.0), ["promotion", "expiry"]);
}

#[test]
fn thresholds_are_strict() {
    let tunables = tunables();
    let lifted = |energy| accessed(state(Tier::Working, energy), at(0.0), Revive::Yes, &tunables).unwrap().0;
    assert_eq!(lifted(1.0).ripe_at, None, "exactly 2.0 is not above 2.0");
    assert_eq!(lifted(1.000_001).ripe_at, Some(at(0.0)));
    let at_threshold = MemoryState { energy: Energy::new(0.1).unwrap(), ..created(at(0.0), false) };
    let barely = at(0.0).after(1.0);
    assert_eq!(decayed(at_threshold, barely, &tunables).0.tier, Tier::ExpiredWorking);
    let ended = |energy| session_ended(state(Tier::Working, energy), at(0.0), 1.5, &tunables);
    assert_eq!(ended(1.5), Err(Refused::NotRipe));
    assert_eq!(ended(1.6).unwrap().tier, Tier::ShortTerm);
}

#[test]
fn being_ripe_outlasts_fading_and_keeps_from_expiry() {
    let tunables = tunables();
    let ripe = accessed(state(Tier::Working, 1.5), at(0.0), Revive::Yes, &tunables).unwrap().0;
    let (faint, what) = decayed(ripe, at(30.0), &tunables);
    assert_eq!((what, faint.tier, faint.ripe_at), (Decayed::Faded, Tier::Working, Some(at(0.0))));
    let short = promoted(faint, at(31.0), &tunables).unwrap();
    assert_eq!((short.tier, short.ripe_at, short.due_at), (Tier::ShortTerm, None, None));
    assert_eq!(promoted(short, at(31.0), &tunables), Err(Refused::NotRipe));
}

#[test]
fn one_step_a_pass_and_ripe_again_at_once() {
    let tunables = tunables();
    let ripe = MemoryState { ripe_at: Some(at(0.0)), ..state(Tier::Working, 9.0) };
    let short = promoted(ripe, at(0.0), &tunables).unwrap();
    assert_eq!((short.tier, short.ripe_at), (Tier::ShortTerm, Some(at(0.0))));
    let long = promoted(short, at(0.5), &tunables).unwrap();
    assert_eq!((long.tier, long.ripe_at, long.due_at), (Tier::LongTerm, None, Some(at(24.5))));
    assert_eq!(promoted(long, at(1.0), &tunables), Err(Refused::NotRipe));
    assert_eq!(long.last_accessed, at(0.0));
}

#[test]
fn expiry_keeps_everything_and_an_access_revives() {
    let tunables = tunables();
    let (gone, what) = decayed(created(at(0.0), false), at(5.0), &tunables);
    assert_eq!((what, gone.tier, gone.due_at), (Decayed::Expired, Tier::ExpiredWorking, None));
    close(gone.energy.value(), (-2.5_f64).exp());
    assert_eq!(gone.energy_now(at(500.0), &tunables), gone.energy, "a terminal energy does not decay");
    assert_eq!(accessed(gone, at(6.0), Revive::No, &tunables), Err(Refused::Expired));
    let (back, what) = accessed(gone, at(6.0), Revive::Yes, &tunables).unwrap();
    assert_eq!((what, back.tier, back.due_at), (Access::Revived, Tier::Working, Some(at(6.0))));
    close(back.energy.value(), (-3.0_f64).exp() + 1.0);
    // A late one finds what a punctual one had left.
    let late = accessed(gone, at(4.0), Revive::Yes, &tunables).unwrap().0;
    close(late.energy.value(), ((-2.0_f64).exp() + 1.0) * (-0.5_f64).exp());
    let stub = MemoryState { tier: Tier::ArchivedWorking, ..gone };
    assert_eq!(accessed(stub, at(6.0), Revive::Yes, &tunables), Err(Refused::Stub));
}

#[test]
fn pinned_rests_and_unpinned_fades_from_there() {
    let tunables = tunables();
    let rest = pinned(state(Tier::Working, 1.0), at(1.0), &tunables).unwrap();
    assert_eq!((rest.due_at, rest.ripe_at, rest.pinned), (None, None, true));
    assert_eq!(decayed(rest, at(100.0), &tunables), (rest, Decayed::Unchanged));
    let lifted = accessed(
        accessed(rest, at(50.0), Revive::Yes, &tunables).unwrap().0,
        at(60.0),
        Revive::Yes,
        &tunables,
    );
    let lifted = lifted.unwrap().0;
    close(lifted.energy.value(), 2.606_530_659_712_633);
    assert_eq!(lifted.ripe_at, None, "a pinned memory is not promoted");
    let free = unpinned(lifted, at(70.0), &tunables).unwrap();
    assert_eq!((free.ripe_at, free.due_at, free.energy), (Some(at(70.0)), Some(at(70.0)), lifted.energy));
    let (gone, _) = decayed(created(at(0.0), false), at(5.0), &tunables);
    assert_eq!(pinned(gone, at(6.0), &tunables), Err(Refused::Expired));
}

#[test]
fn a_foreign_access_counts_from_its_own_instant() {
    let tunables = tunables();
    let foreign =
        MemoryState { energy: Energy::new(2.5).unwrap(), last_accessed: at(2.0), ..created(at(0.0), false) };
    let (next, what) = decayed(foreign, at(3.0), &tunables);
    assert_eq!((what, next.ripe_at, next.energy_at), (Decayed::Faded, Some(at(2.0)), at(3.0)));
    close(next.energy.value(), 2.5 * (-0.5_f64).exp());
    assert_eq!(decayed(next, at(3.0), &tunables), (next, Decayed::Unchanged));
}

#[test]
fn a_like_memory_strengthens_what_was_promoted_and_is_no_access() {
    let tunables = tunables();
    let old = state(Tier::ShortTerm, 3.0);
    let next = reinforced(old, 0.8, at(10.0), &tunables).unwrap();
    close(next.energy.value(), 3.0 * (-0.5_f64).exp() + 0.4);
    assert_eq!((next.last_accessed, next.access_count), (old.last_accessed, old.access_count));
    assert_eq!((next.energy_at, next.ripe_at), (at(10.0), None));

    // Two equal memories on one day may make it ripe; a late one gives the same result as a punctual one.
    let ripe = reinforced(state(Tier::ShortTerm, 4.9), 1.0, at(0.0), &tunables).unwrap();
    assert_eq!(ripe.ripe_at, Some(at(0.0)));
    let late = reinforced(MemoryState { energy_at: at(10.0), ..old }, 1.0, at(0.0), &tunables).unwrap();
    close(late.energy.value(), 3.0 + 0.5 * (-0.5_f64).exp());
    assert_eq!(late.energy_at, at(10.0));

    for tier in [Tier::Working, Tier::ExpiredWorking, Tier::ArchivedShortTerm] {
        assert_eq!(reinforced(state(tier, 1.0), 1.0, at(0.0), &tunables), Err(Refused::NotPromoted));
    }
}
