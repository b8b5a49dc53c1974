//! Velocity: how many standard deviations the change frequency of a node is above the mean.
//!
//! Mean and deviation are those of all nodes of a graph, computed once for each generation. The velocity is 1 from three
//! deviations above the mean, and 0 up to the mean.

use crate::graph::Graph;
use crate::graph::index::NodeId;

/// Least deviation, for graphs whose nodes change equally often.
const SIGMA_MIN: f64 = 0.01;
/// Deviations above the mean for a velocity of 1.
const Z_MAX: f64 = 3.0;

/// Mean and deviation of change frequencies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VelocityScorer {
    mean: f64,
    sigma: f64,
}

impl VelocityScorer {
    /// Computes mean and deviation over all nodes.
    #[must_use]
    pub fn of(graph: &Graph) -> Self {
        let count = graph.node_count().max(1) as f64;
        let frequency = |node: NodeId| f64::from(graph.change_frequency(node));
        let mean = graph.nodes().map(frequency).sum::<f64>() / count;
        let square = |node: NodeId| {
            let off = frequency(node) - mean;
            off * off
        };
        let variance = graph.nodes().map(square).sum::<f64>() / count;
        Self { mean, sigma: variance.sqrt() }
    }

    /// Velocity of a node, by its changes per day, `0 ..= 1`.
    #[must_use]
    pub fn score(&self, frequency: f32) -> f64 {
        let z = (f64::from(frequency) - self.mean) / self.sigma.max(SIGMA_MIN);
        if z > 0.0 { (z / Z_MAX).min(1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::builder::GraphBuilder;
    use crate::graph::columns::NodeRow;
    use crate::graph::kinds::NodeType;

    fn scorer(frequencies: &[f32]) -> VelocityScorer {
        let mut builder = GraphBuilder::default();
        for (at, frequency) in frequencies.iter().enumerate() {
            let row = NodeRow::new(format!("n{at}"), "", NodeType::File);
            builder.add_node(NodeRow { change_frequency: *frequency, ..row }).unwrap();
        }
        VelocityScorer::of(&builder.finalize().unwrap())
    }

    #[track_caller]
    fn check(scorer: VelocityScorer, frequency: f32, want: f64) {
        let got = scorer.score(frequency);
        assert!((got - want).abs() < 1e-5, "{got} is not {want}");
    }

    #[test]
    fn velocity_z() {
        // Mean 8/13, deviation 12/13.
        let mut frequencies = [0.0; 13];
        frequencies[..4].fill(2.0);
        let uneven = scorer(&frequencies);
        check(uneven, 2.0, 0.5);
        check(uneven, 8.0 / 13.0 + 12.0 / 13.0, 1.0 / 3.0);
        check(uneven, 44.0 / 13.0, 1.0);
        check(uneven, 40.0, 1.0);
        check(uneven, 8.0 / 13.0, 0.0);
        assert_eq!(uneven.score(0.0).to_bits(), 0.0_f64.to_bits());
        // If all are equal, the least deviation counts.
        let even = scorer(&[0.5; 3]);
        check(even, 0.5, 0.0);
        check(even, 0.515, 0.5);
        check(even, 0.53, 1.0);
    }

    #[test]
    fn numbers_at_the_edge() {
        let none = scorer(&[]);
        check(none, 0.0, 0.0);
        check(none, 0.015, 0.5);
        let far = scorer(&[0.0, f32::MAX, 0.0, f32::MAX]);
        check(far, f32::MAX, 1.0 / 3.0);
        for nothing in [f32::NAN, f32::NEG_INFINITY, -1.0, -0.0] {
            assert_eq!(none.score(nothing).to_bits(), 0.0_f64.to_bits());
        }
        check(far, f32::INFINITY, 1.0);
    }
}
