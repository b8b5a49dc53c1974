//! Properties of the trail laws, and worked examples.

use super::*;
use proptest::prelude::*;

const RATES: Rates =
    Rates { exploitation: 0.02, exploration: 0.05, success: 0.01, traversal: 0.03, recency: 0.10 };

pub(super) fn documented() -> Evaporation {
    Evaporation::new(RATES, Pheromone::MAX).unwrap()
}

fn p(value: f64) -> Pheromone {
    Pheromone::new(value).unwrap()
}

fn any_pheromone() -> impl Strategy<Value = Option<Pheromone>> {
    prop::option::of(prop_oneof![3 => 0.0..3.0_f64, 1 => Just(NOISE_FLOOR), 1 => 0.0..1e6_f64])
        .prop_map(|value| value.map(p))
}

fn any_place() -> impl Strategy<Value = Place> {
    (any_pheromone(), any_pheromone(), -50..50_i64).prop_map(|(exploitation, exploration, cycle)| Place {
        exploitation,
        exploration,
        cycle,
    })
}

fn any_edge() -> impl Strategy<Value = Edge> {
    (any_pheromone(), any_pheromone(), any_pheromone(), -50..50_i64)
        .prop_map(|(success, traversal, recency, cycle)| Edge { success, traversal, recency, cycle })
}

fn close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-12, "{found} is not {wanted}");
}

fn values(edge: &Edge) -> [f64; 3] {
    [edge.success, edge.traversal, edge.recency].map(|value| value.map_or(0.0, Pheromone::value))
}

/// Equal to 1e-9, or both near the noise floor.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.max(b) || (a.max(b) < NOISE_FLOOR * 1.000_001)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn evaporation_composes(edge in any_edge(), place in any_place(), a in 0..400_i64, b in 0..400_i64) {
        let laws = documented();
        let (cycle, step) = (edge.cycle + a + b, edge.cycle + a);
        let (once, twice) = (edge.evaporated(cycle, &laws), edge.evaporated(step, &laws).evaporated(cycle, &laws));
        for (once, twice) in values(&once).into_iter().zip(values(&twice)) {
            prop_assert!(near(once, twice), "{once} against {twice}");
        }
        prop_assert_eq!(twice.evaporated(cycle, &laws), twice, "a repeat changes nothing");
        let cycle = place.cycle + a + b;
        let done = place.evaporated(place.cycle + a, &laws).evaporated(cycle, &laws);
        prop_assert_eq!(done.evaporated(cycle, &laws), done);
        prop_assert_eq!(done.exploitation.is_some(), place.exploitation.is_some(), "an absent value stays absent");
    }

    #[test]
    fn evaporation_never_raises_and_leaves_no_noise(edge in any_edge(), cycles in -20..2_000_i64) {
        let after = edge.evaporated(edge.cycle + cycles, &documented());
        for (before, after) in values(&edge).into_iter().zip(values(&after)) {
            prop_assert!(after <= before);
            prop_assert!(cycles <= 0 || after == 0.0 || after >= NOISE_FLOOR);
        }
        prop_assert!(after.cycle >= edge.cycle, "an anchor never moves back");
    }

    #[test]
    fn a_late_deposit_is_as_good_as_a_punctual_one(
        edge in any_edge(), place in any_place(), early in 0..60_i64, more in 0..60_i64, reward in 0.01..10.0_f64,
    ) {
        let laws = documented();
        let (first, then) = (edge.cycle + early, edge.cycle + early + more);
        let punctual = edge.succeeded((0, 2), p(reward), first, &laws).evaporated(then, &laws);
        let late = edge.evaporated(then, &laws).succeeded((0, 2), p(reward), first, &laws);
        let [success, traversal, _] = values(&punctual);
        let [late_success, late_traversal, late_recency] = values(&late);
        let fits = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.max(b) + NOISE_FLOOR;
        prop_assert!(fits(success, late_success) && fits(traversal, late_traversal));
        prop_assert!(late_recency >= values(&punctual)[2] - 1e-9);
        prop_assert_eq!(late.cycle, then, "the anchor never moves back");
        let (first, then) = (place.cycle + early, place.cycle + early + more);
        let punctual = place.explored(first, &laws).evaporated(then, &laws);
        let late = place.evaporated(then, &laws).explored(first, &laws);
        let value = |place: &Place| place.exploration.map_or(0.0, Pheromone::value);
        prop_assert!(fits(value(&punctual), value(&late)));
    }

    #[test]
    fn cost_is_bounded(edge in any_edge(), base in 0.0..20.0_f64) {
        let cost = edge.cost(base);
        prop_assert!(cost <= base && cost <= COST_MAX && cost >= (base / 2.0).min(COST_MAX) - 1e-12);
        prop_assert!((Edge::default().cost(base) - base.min(COST_MAX)).abs() < 1e-12, "no deposit: the base");
    }

    #[test]
    fn a_deposit_never_takes_away_and_never_passes_the_cap(edge in any_edge(), reward in 0.01..10.0_f64) {
        let laws = Evaporation::new(RATES, 50.0).unwrap();
        let after = edge.succeeded((0, 1), p(reward), edge.cycle, &laws);
        for (before, after) in values(&edge).into_iter().zip(values(&after)).take(2) {
            prop_assert!(after >= before || after == 0.0 && before < NOISE_FLOOR);
            prop_assert!(after <= 50.0_f64.max(before));
        }
    }

    #[test]
    fn cycles_count_on_when_their_length_changes(
        now in 0..4_000_000_000_000_i64, length in 1..100_000_000_i64, other in 1..100_000_000_i64, later in 0..1_000_i64,
    ) {
        let cycles = Cycles { epoch: Timestamp::EPOCH, length_ms: length, advances: 7 };
        let now = Timestamp::from_millis(now).unwrap();
        let changed = cycles.of_length(other, now);
        prop_assert!(changed.at(now) >= cycles.at(now), "it never goes back");
        let begun = changed.begins(changed.at(now) + later);
        prop_assert_eq!(changed.at(begun), changed.at(now) + later);
    }
}

#[test]
fn the_published_numbers() {
    let laws = documented();
    let place =
        Place { exploitation: Some(p(1.0)), exploration: Some(p(1.0)), cycle: 5 }.evaporated(15, &laws);
    let edge = Edge { success: Some(p(1.0)), traversal: Some(p(1.0)), recency: Some(p(1.0)), cycle: 5 };
    let edge = edge.evaporated(15, &laws);
    let [success, traversal, recency] = values(&edge);
    let found = [
        place.exploitation.unwrap().value(),
        place.exploration.unwrap().value(),
        success,
        traversal,
        recency,
    ];
    let wanted = [
        0.817_072_806_887_547,
        0.598_736_939_238_379,
        0.904_382_075_008_804,
        0.737_424_126_894_928,
        0.348_678_440_100_000,
    ];
    for (found, wanted) in found.into_iter().zip(wanted) {
        assert!((found - wanted).abs() < 1e-14, "{found} is not {wanted}");
    }
}

#[test]
fn the_first_steps_of_a_path_earn_most() {
    let laws = documented();
    let earned: Vec<f64> = (0..4)
        .map(|index| values(&Edge::default().succeeded((index, 4), Pheromone::ONE, 0, &laws))[0])
        .collect();
    assert_eq!(earned, [1.0, 0.75, 0.5, 0.25]);
    let edge = Edge::default().succeeded((0, 4), Pheromone::ONE, 3, &laws);
    assert_eq!((values(&edge), edge.cycle), ([1.0, 0.1, 1.0], 3));
    let twice = Place::default().exploited(3, &laws).exploited(3, &laws);
    assert_eq!((twice.exploitation, twice.exploration), (Some(p(0.4)), None));
}

#[test]
fn the_noise_floor_is_strict() {
    let laws = Evaporation::new(Rates { success: 0.5, ..RATES }, Pheromone::MAX).unwrap();
    let edge = |success| Edge { success: Some(p(success)), ..Edge::default() };
    assert_eq!(edge(0.002).evaporated(1, &laws).success, Some(p(0.001)), "exactly the floor is kept");
    assert_eq!(edge(0.001_999).evaporated(1, &laws).success, Some(Pheromone::NONE));
    assert!(edge(0.001_999).evaporated(1, &laws).is_silent());
    assert!(!edge(0.002).evaporated(1, &laws).is_silent());
}

#[test]
fn a_late_walk_brings_back_what_would_be_left_of_its_recency() {
    let laws = documented();
    let edge = Edge { recency: Some(p(0.9)), cycle: 10, ..Edge::default() };
    let late = edge.succeeded((0, 1), Pheromone::ONE, 5, &laws);
    assert_eq!(late.recency, Some(p(0.9)), "its last walk was later");
    assert_eq!(edge.succeeded((0, 1), Pheromone::ONE, 10, &laws).recency, Some(Pheromone::ONE));
    let old = Edge { recency: Some(p(0.1)), ..edge }.succeeded((0, 1), Pheromone::ONE, 5, &laws);
    assert!((old.recency.unwrap().value() - 0.9_f64.powi(5)).abs() < 1e-12);
}

#[test]
fn costs_weigh_quality_before_freshness_before_popularity() {
    let edge = |success, recency, traversal| Edge {
        success: Some(p(success)),
        recency: Some(p(recency)),
        traversal: Some(p(traversal)),
        cycle: 0,
    };
    close(edge(1.0, 1.0, 1.0).cost(1.0), 0.5);
    close(edge(100.0, 0.0, 0.0).cost(1.0), 0.75);
    close(edge(0.0, 1.0, 0.0).cost(1.0), 0.85);
    close(edge(0.0, 0.0, 1.0).cost(1.0), 0.9);
    close(edge(0.0, 0.0, 0.0).cost(30.0), COST_MAX);
    let base = |kind| base_cost(kind, None);
    for (kind, cost) in [("HAS_DRAWER", 0.3), ("HALL", 0.5), ("TUNNEL", 0.7), ("RELATES_TO", 1.0)] {
        close(base(kind), cost);
    }
    assert!((base_cost("SIMILAR_TO", Some(0.8)) - 0.2).abs() < 1e-12);
}

#[test]
fn cycles_are_counted_from_the_epoch_both_ways_and_advance_by_hand() {
    let cycles = Cycles { epoch: Timestamp::EPOCH, length_ms: 3_600_000, advances: 0 };
    let at = |ms| Timestamp::from_millis(ms).unwrap();
    assert_eq!([cycles.at(at(0)), cycles.at(at(3_599_999)), cycles.at(at(3_600_000))], [0, 0, 1]);
    assert_eq!(cycles.at(at(-1)), -1);
    assert_eq!(Cycles { advances: 5, ..cycles }.at(at(0)), 5);
    assert_eq!(cycles.begins(3), at(3 * 3_600_000));
}

#[test]
fn impossible_settings_are_refused_by_name() {
    let bad = Evaporation::new(Rates { traversal: 1.0, ..RATES }, 1e6).unwrap_err().to_string();
    assert_eq!(bad, "traversal_decay: evaporation rate per cycle is 1; it must be between 0 and 1");
    assert!(Evaporation::new(RATES, f64::NAN).is_err() && Evaporation::new(RATES, 2e6).is_err());
}
