//! The energy of a memory before its anchor, as far as it is known, for the plot.
//!
//! The graph keeps the instants of promotions with their energies, and of each session's last access, not every access.
//! So the past is computed by the laws from a known start (its creation, or a promotion) over the known accesses, and
//! it is accepted only if it matches every recorded energy, up to the stored one. Otherwise an access is missing, and
//! nothing is drawn. The earliest start that fits is used.

use crate::domain::memory::{MemoryState, Revive, accessed, created};
use crate::domain::tier::Tier;
use crate::domain::tunables::Tunables;
use crate::domain::units::{Energy, Timestamp};
use crate::store::{Life, MemoryEvent};

/// Instants with energies, in order; between two points the energy decays smoothly.
pub type Stretch = Vec<(Timestamp, f64)>;

/// Points of one stretch.
const POINTS: u32 = 48;
/// Greatest relative difference between a computed and a recorded energy.
const NEAR: f64 = 1e-6;

#[derive(Clone, Copy)]
enum Step {
    Accessed,
    Promoted(Tier, f64),
    Expired,
}

/// The stretches between events, from the earliest start that explains the stored energy to the anchor.
pub(super) fn stretches(
    life: &Life,
    history: &[MemoryEvent],
    last_expired: Option<Timestamp>,
    tunables: &Tunables,
) -> Vec<Stretch> {
    let state = &life.state;
    let mut steps = steps(state, history, last_expired);
    steps.retain(|(at, _)| *at > life.created && *at <= state.anchor());
    let born = (life.created, created(life.created, state.pinned), 0);
    let promotions = steps.iter().enumerate().filter_map(|(index, (at, step))| {
        let Step::Promoted(tier, energy) = *step else { return None };
        let energy = Energy::new(energy).ok()?;
        let start =
            MemoryState { tier, energy, energy_at: *at, last_accessed: *at, ..created(*at, state.pinned) };
        Some((*at, start, index + 1))
    });
    let mut starts = std::iter::once(born).chain(promotions);
    starts
        .find_map(|(at, start, index)| follow(at, start, &steps[index..], state, tunables))
        .unwrap_or_default()
}

fn steps(
    state: &MemoryState,
    history: &[MemoryEvent],
    last_expired: Option<Timestamp>,
) -> Vec<(Timestamp, Step)> {
    let mut uses: Vec<Timestamp> = vec![state.last_accessed];
    uses.extend(history.iter().filter(|event| event.what == "ACCESSED_IN").map(|event| event.at));
    uses.sort();
    uses.dedup();
    let promotion = |event: &MemoryEvent| {
        let tier = match event.what.as_str() {
            "PROMOTED_TO" => Tier::ShortTerm,
            "CRYSTALLIZED_INTO" => Tier::LongTerm,
            _ => return None,
        };
        Some((event.at, Step::Promoted(tier, event.energy?)))
    };
    let mut steps: Vec<(Timestamp, Step)> = uses.into_iter().map(|at| (at, Step::Accessed)).collect();
    steps.extend(history.iter().filter_map(promotion));
    steps.extend(last_expired.map(|at| (at, Step::Expired)));
    // At one instant, an access comes before the promotion that it caused.
    steps.sort_by_key(|(at, step)| (*at, matches!(step, Step::Promoted(..))));
    steps
}

/// Computes from a start over the steps to the stored energy; `None` if it does not match.
fn follow(
    from: Timestamp,
    start: MemoryState,
    steps: &[(Timestamp, Step)],
    stored: &MemoryState,
    tunables: &Tunables,
) -> Option<Vec<Stretch>> {
    let (mut at, mut now, mut drawn) = (from, start, Vec::new());
    for (next, step) in steps {
        drawn.push(sampled(&now, at, *next, tunables));
        let energy = now.energy_now(*next, tunables);
        now = match *step {
            Step::Accessed => accessed(now, *next, Revive::Yes, tunables).ok()?.0,
            Step::Promoted(tier, recorded) if near(energy.value(), recorded) => {
                MemoryState { tier, energy, energy_at: *next, ..now }
            }
            Step::Promoted(..) => return None,
            Step::Expired => MemoryState { tier: Tier::ExpiredWorking, energy, energy_at: *next, ..now },
        };
        at = *next;
    }
    drawn.push(sampled(&now, at, stored.anchor(), tunables));
    let fits = now.tier == stored.tier
        && near(now.energy_now(stored.anchor(), tunables).value(), stored.energy.value());
    fits.then_some(drawn)
}

fn sampled(state: &MemoryState, from: Timestamp, to: Timestamp, tunables: &Tunables) -> Stretch {
    let step = to.since(from) / f64::from(POINTS);
    let mut points: Stretch = (0..=POINTS)
        .map(|i| from.after(step * f64::from(i)).min(to))
        .map(|at| (at, state.energy_now(at, tunables).value()))
        .collect();
    points.dedup_by_key(|(at, _)| *at);
    points
}

fn near(found: f64, recorded: f64) -> bool {
    (found - recorded).abs() <= NEAR * recorded.abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{MemoryId, Scope};
    use crate::domain::tunables::ConsolidationConfig;

    fn at(hours: f64) -> Timestamp {
        Timestamp::EPOCH.after(hours * 3_600_000.0)
    }

    fn used(hours: f64) -> MemoryEvent {
        MemoryEvent { what: "ACCESSED_IN".to_owned(), at: at(hours), energy: None, detail: None, count: 1 }
    }

    fn life(state: MemoryState) -> Life {
        let id = MemoryId::new("m").unwrap();
        Life { id, scope: Scope::local(), state, created: at(0.0), session: None }
    }

    #[test]
    fn a_past_is_drawn_only_if_every_access_is_known() {
        let tunables = ConsolidationConfig::DOCUMENTED.check().unwrap();
        let touch = |state, hours| accessed(state, at(hours), Revive::Yes, &tunables).unwrap().0;
        let twice = touch(touch(created(at(0.0), false), 1.0), 2.0);
        let known = [used(1.0), used(2.0)];
        let drawn = stretches(&life(twice), &known, None, &tunables);
        assert_eq!(drawn.len(), 3, "to the first access, to the second, and to the anchor");
        assert_eq!(drawn[0].first(), Some(&(at(0.0), 1.0)));
        let last = drawn[1].last().unwrap().1;
        assert!((last + 1.0 - twice.energy.value()).abs() < 1e-12);
        assert!(stretches(&life(twice), &known[1..], None, &tunables).is_empty(), "an access is missing");
    }

    #[test]
    fn a_past_can_start_at_a_promotion() {
        let tunables = ConsolidationConfig::DOCUMENTED.check().unwrap();
        let promoted = MemoryState {
            tier: Tier::ShortTerm,
            energy: Energy::new(2.5).unwrap(),
            energy_at: at(3.0),
            last_accessed: at(2.9),
            access_count: 9,
            ..created(at(0.0), false)
        };
        let promotion = MemoryEvent { what: "PROMOTED_TO".to_owned(), energy: Some(2.5), ..used(3.0) };
        let later = accessed(promoted, at(8.0), Revive::Yes, &tunables).unwrap().0;
        let drawn = stretches(&life(later), &[used(8.0), promotion], None, &tunables);
        assert_eq!(drawn[0].first(), Some(&(at(3.0), 2.5)));
    }
}
