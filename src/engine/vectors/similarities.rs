//! Mean and deviation of the similarities of a query to the memories of a view.
//!
//! # Design notes
//! They are those of a sample, since to count all slows the scan down. By 512 of 1,890 passages, the deviations
//! above the mean of the most similar ones differ from those by all by 0.1 on average, by 0.5 at most. The memories with the greatest hashes are as good a sample as any, and the same one
//! for each query of a view, however its index came about.
//!
//! They are those that the scan estimates, counted in fixed point: so they are the same bits in whatever order the rows are.

use super::VectorIndex;
use super::query::Exact;
use crate::graph::Graph;
use crate::graph::index::NodeId;
use crate::text::words::hash;

/// Steps of a similarity of 1: the sum of squares of 2^32 rows fits in an `i64`.
const STEPS: f32 = 32_768.0;

/// The distribution of the similarities of one query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Similarities {
    count: u32,
    sum: i64,
    squares: i64,
}

impl Similarities {
    /// Adds the similarity of one memory.
    pub(crate) fn add(&mut self, similarity: f32) {
        #[expect(clippy::cast_possible_truncation, reason = "at most a few STEPS")]
        let steps = i64::from((similarity * STEPS) as i32);
        self.count = self.count.saturating_add(1);
        self.sum += steps;
        self.squares += steps * steps;
    }

    /// Number of memories that were compared.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// How many standard deviations a similarity is above the mean; `None` if all are alike.
    #[must_use]
    pub fn standard(&self, similarity: f32) -> Option<f64> {
        let count = f64::from(self.count.max(1));
        #[expect(clippy::cast_precision_loss, reason = "rounded once")]
        let [mean, square] = [self.sum, self.squares].map(|sum| sum as f64 / count);
        let deviation = (square - mean * mean).max(0.0).sqrt();
        (deviation >= 1.0).then(|| (f64::from(similarity) * f64::from(STEPS) - mean) / deviation)
    }
}

impl VectorIndex {
    /// Similarities of the vectors of nodes to a vector, -1 to 1; `None` for nodes without one, and for a vector of another space.
    #[must_use]
    pub fn similarities(&self, graph: &Graph, vector: &[f32], nodes: &[NodeId]) -> Vec<Option<f32>> {
        if self.check("the query", vector).is_err() {
            return vec![None; nodes.len()];
        }
        let query = Exact::new(vector);
        let of = |node: &NodeId| {
            let number = self.numbers.get(&hash(graph.external_id(*node)))?;
            self.segments.iter().find_map(|segment| {
                let row = segment.numbers().binary_search(number).ok()?;
                Some(query.similarity(segment.row(row), segment.length(row)))
            })
        };
        nodes.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_similarity_is_measured_in_deviations_from_the_mean() {
        let mut all = Similarities::default();
        assert_eq!(all.standard(0.5), None, "nothing was compared");
        [0.1, 0.3].iter().for_each(|similarity| all.add(*similarity));
        assert_eq!(all.count(), 2);
        let standard = |similarity: f32| all.standard(similarity).unwrap();
        for (similarity, wanted) in [(0.2, 0.0), (0.3, 1.0), (0.6, 4.0), (-0.1, -3.0)] {
            assert!((standard(similarity) - wanted).abs() < 0.01, "{similarity}");
        }
        let mut same = Similarities::default();
        [0.3, 0.3, 0.3].iter().for_each(|similarity| same.add(*similarity));
        assert_eq!(same.standard(0.9), None, "all are alike");
    }
}
