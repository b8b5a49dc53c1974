//! Freshness: `2^(-age / half-life)`, with a half-life for each type of node.
//!
//! A node that was dormant for more than five weeks gets a bonus of `0.3 * (1 - 840 / age)`, ages in hours: it grows from 0
//! and approaches 0.3. A node without a time has freshness 0.
//!
//! # Design notes
//! The bonus is added: a factor would have no effect at such ages. It begins at 0, so that freshness has no jump.
//!
//! Invariant: freshness is continuous where a node becomes dormant (held by `dormancy_continuous`).

use crate::graph::kinds::NodeType;
use crate::graph::number::PosF32;

/// Age in hours from which a node is dormant.
pub const DORMANCY: f64 = 840.0;
/// Limit of the bonus of a dormant node.
pub const RESURRECTION_FLOOR: f64 = 0.3;
const HOUR_MS: f64 = 3_600_000.0;

/// Half-lives in hours, by type of node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HalfLives {
    /// For types with a name, by index.
    own: [f32; NodeType::NAMED_COUNT],
    others: f32,
}

/// A week for files, two for functions, thirty days for everything else.
impl Default for HalfLives {
    fn default() -> Self {
        Self::with(720.0, [(NodeType::File, 168.0), (NodeType::Function, 336.0)])
    }
}

impl HalfLives {
    /// Half-lives in hours for some types with a name, and for all others.
    #[must_use]
    pub fn new(others: PosF32, own: impl IntoIterator<Item = (NodeType, PosF32)>) -> Self {
        Self::with(others.get(), own.into_iter().map(|(node_type, hours)| (node_type, hours.get())))
    }

    fn with(others: f32, own: impl IntoIterator<Item = (NodeType, f32)>) -> Self {
        let mut lives = Self { own: [others; NodeType::NAMED_COUNT], others };
        for (node_type, hours) in own {
            if let Some(held) = node_type.place().and_then(|at| lives.own.get_mut(at)) {
                *held = hours;
            }
        }
        lives
    }

    fn of(&self, node_type: NodeType) -> f64 {
        let own = node_type.place().and_then(|at| self.own.get(at));
        f64::from(own.copied().unwrap_or(self.others))
    }

    /// Freshness of a node that last changed at `last_modified`, at `now_ms`, both epoch milliseconds: `0 ..= 1`. A change
    /// in the future counts as one now.
    #[must_use]
    pub fn freshness(&self, node_type: NodeType, last_modified: Option<i64>, now_ms: i64) -> f64 {
        let Some(last_modified) = last_modified else { return 0.0 };
        let age = now_ms.saturating_sub(last_modified).max(0) as f64 / HOUR_MS;
        let raw = libm::exp2(-age / self.of(node_type));
        if age > DORMANCY { (raw + RESURRECTION_FLOOR * (1.0 - DORMANCY / age)).min(1.0) } else { raw }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOUR: i64 = 3_600_000;
    const NOW: i64 = 1_700_000_000_000;

    /// The share left after a number of half-lives.
    const LEFT: [(i64, f64); 5] = [(0, 1.0), (1, 0.5), (2, 0.25), (5, 0.031_25), (10, 0.000_976_562_5)];

    fn at(node_type: NodeType, hours: i64) -> f64 {
        HalfLives::default().freshness(node_type, Some(NOW - hours * HOUR), NOW)
    }

    #[test]
    fn decay_closed_form() {
        let kinds = [
            (NodeType::File, 168_i64),
            (NodeType::Function, 336),
            (NodeType::Module, 720),
            (NodeType::Concept, 720),
            (NodeType::MEMORY, 720),
        ];
        for (node_type, half_life) in kinds {
            for (times, left) in LEFT {
                let hours = times * half_life;
                let back = if hours > 840 { 0.3 * (1.0 - 840.0 / hours as f64) } else { 0.0 };
                let got = at(node_type, hours);
                assert!((got - (left + back)).abs() < 1e-12, "{node_type:?} after {hours} h: {got}");
            }
        }
    }

    #[test]
    fn example_4_9() {
        for (days, want) in [(7, 0.5), (35, 0.031_25), (70, 0.150_977)] {
            let got = at(NodeType::File, 24 * days);
            assert!((got - want).abs() < 1e-6, "{days} days: {got}");
        }
    }

    #[test]
    fn half_lives_are_those_of_the_kind() {
        let hours = |hours: f32| PosF32::new(hours).unwrap();
        let own = [
            (NodeType::File, 1.0),
            (NodeType::MEMORY, 2.0),
            (NodeType::Custom(5), 4.0),
            (NodeType::Custom(6), 9.0),
        ]
        .map(|(node_type, of)| (node_type, hours(of)));
        let half_lives = HalfLives::new(hours(3.0), own);
        for (node_type, hours) in [
            (NodeType::File, 1),
            (NodeType::MEMORY, 2),
            (NodeType::Custom(5), 4),
            (NodeType::Function, 3),
            (NodeType::Custom(1), 3),
            // A custom type without a name has the half-life of other types.
            (NodeType::Custom(6), 3),
            (NodeType::Custom(255), 3),
        ] {
            let got = half_lives.freshness(node_type, Some(NOW - hours * HOUR), NOW);
            assert!((got - 0.5).abs() < 1e-12, "{node_type:?}: {got}");
        }
        let half_lives = HalfLives::new(hours(f32::from_bits(1)), []);
        let score = |age: i64| half_lives.freshness(NodeType::File, Some(NOW - age), NOW);
        assert_eq!([score(0).to_bits(), score(1).to_bits()], [1.0_f64.to_bits(), 0]);
    }

    #[test]
    fn no_time_and_times_at_the_edge() {
        let half_lives = HalfLives::default();
        let score = |last_modified, now_ms| half_lives.freshness(NodeType::MEMORY, last_modified, now_ms);
        assert_eq!(score(None, NOW).to_bits(), 0.0_f64.to_bits());
        for (last_modified, now_ms) in [(NOW + HOUR, NOW), (i64::MAX, i64::MIN), (i64::MAX, 0), (NOW, NOW)] {
            assert_eq!(score(Some(last_modified), now_ms).to_bits(), 1.0_f64.to_bits());
        }
        let ages = score(Some(i64::MIN), i64::MAX);
        assert!((ages - RESURRECTION_FLOOR).abs() < 1e-6, "{ages}");
    }

    #[test]
    fn dormancy_continuous() {
        for node_type in [NodeType::File, NodeType::Function, NodeType::MEMORY] {
            let half_lives = HalfLives::default();
            let score = |age: i64| half_lives.freshness(node_type, Some(NOW - age), NOW);
            let border = 840 * HOUR;
            for age in [border - 1, border, border + 1] {
                assert!((score(age) - score(age + 1)).abs() < 1e-8, "{node_type:?} at {age} ms");
            }
            let raw = libm::exp2(-841.0 / HalfLives::default().of(node_type));
            assert!(score(841 * HOUR) > raw + 0.000_3, "an hour later something was given back");
        }
    }

    proptest! {
        #[test]
        fn fresh_from_0_to_1_and_without_jumps(age in 0_i64..100_000_000_000_000, code in 0_u16..17) {
            let half_lives = HalfLives::default();
            let node_type = NodeType::of_code(code).unwrap();
            let [now, next] = [age, age + 1].map(|age| half_lives.freshness(node_type, Some(NOW - age), NOW));
            prop_assert!((0.0..=1.0).contains(&now));
            prop_assert!((now - next).abs() < 1e-6);
        }
    }
}
