//! Reciprocal rank fusion of the ranking by score and the ranking by text.
//!
//! Each ranking adds `weight / (c + rank)`, ranks from 1 (Cormack, Clarke and Büttcher, 2009), so scores of different kinds
//! need no common scale. A node that a ranking lacks gets nothing from it.

use crate::graph::Graph;
use crate::graph::index::NodeId;
use crate::graph::number::PosF32;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The constant `c`: the smaller, the more the first ranks stand out.
pub const RRF_C: f64 = 5.0;

/// The nodes of both rankings, each of which names a node at most once, by `1 / (5 + rank by score) + text_weight / (5 +
/// rank by text)` descending, then by external id.
#[must_use]
pub fn fuse(
    graph: &Graph,
    by_score: &[NodeId],
    by_text: &[NodeId],
    text_weight: PosF32,
) -> Vec<(NodeId, f32)> {
    let mut sums: BTreeMap<NodeId, f64> = BTreeMap::new();
    for (ranking, weight) in [(by_score, 1.0), (by_text, f64::from(text_weight.get()))] {
        let mut place = RRF_C;
        for node in ranking {
            place += 1.0;
            *sums.entry(*node).or_default() += weight / place;
        }
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounded once; the parts are finite and so is their sum"
    )]
    let mut fused: Vec<(NodeId, f32)> =
        sums.into_iter().map(|(node, sum)| (node, sum.min(f64::from(f32::MAX)) as f32)).collect();
    fused.sort_unstable_by_key(|(node, score)| (Reverse(score.to_bits()), graph.rank(*node)));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::builder::GraphBuilder;
    use crate::graph::columns::NodeRow;
    use crate::graph::kinds::NodeType;
    use proptest::prelude::*;

    fn graph(count: u32) -> Graph {
        let mut builder = GraphBuilder::default();
        for n in 0..count {
            builder.add_node(NodeRow::new(format!("n{n}"), "", NodeType::MEMORY)).unwrap();
        }
        builder.finalize().unwrap()
    }

    fn names(graph: &Graph, fused: &[(NodeId, f32)]) -> Vec<String> {
        fused.iter().map(|(node, _)| graph.external_id(*node).to_owned()).collect()
    }

    #[test]
    fn a_node_of_both_rankings_comes_before_one_of_either() {
        let graph = graph(4);
        let node = |name: &str| graph.find(name).unwrap();
        let by_score = [node("n2"), node("n0")];
        let by_text = [node("n3"), node("n0")];
        let fused = fuse(&graph, &by_score, &by_text, PosF32::new(0.5).unwrap());
        assert_eq!(names(&graph, &fused), ["n0", "n2", "n3"]);
        let scores: Vec<f32> = fused.iter().map(|(_, score)| *score).collect();
        for (got, wanted) in scores.iter().zip([1.5 / 7.0, 1.0 / 6.0, 0.5 / 6.0]) {
            assert!((f64::from(*got) - wanted).abs() < 1e-6);
        }
        // Equal scores are ordered by id.
        let equal = fuse(&graph, &[node("n3")], &[node("n1")], PosF32::new(1.0).unwrap());
        assert_eq!(names(&graph, &equal), ["n1", "n3"]);
        assert!(fuse(&graph, &[], &[], PosF32::new(0.5).unwrap()).is_empty());
        assert!(
            fuse(&graph, &[], &by_text, PosF32::new(f32::MAX).unwrap()).iter().all(|(_, s)| s.is_finite())
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn fused_as_defined(
            a in Just((0_u32..12).collect::<Vec<_>>()).prop_shuffle(),
            b in Just((0_u32..12).collect::<Vec<_>>()).prop_shuffle(),
            (m, n) in (0_usize..12, 0_usize..12),
        ) {
            let graph = graph(12);
            let (a, b): (Vec<_>, Vec<_>) = (a[..m].iter().map(|n| NodeId(*n)).collect(), b[..n].iter().map(|n| NodeId(*n)).collect());
            let part = |list: &[NodeId], node| list.iter().position(|other| *other == node).map_or(0.0, |at| 1.0 / (6.0 + at as f64));
            let mut wanted: Vec<(NodeId, f64)> = graph
                .nodes()
                .map(|node| (node, part(&a, node) + 0.5 * part(&b, node)))
                .filter(|(_, score)| *score > 0.0)
                .collect();
            wanted.sort_by(|x, y| match (x.1 - y.1).abs() < 1e-9 {
                true => graph.rank(x.0).cmp(&graph.rank(y.0)),
                false => y.1.total_cmp(&x.1),
            });
            let got = fuse(&graph, &a, &b, PosF32::new(0.5).unwrap());
            prop_assert_eq!(got.len(), wanted.len());
            for ((node, score), (wanted, near)) in got.iter().zip(&wanted) {
                prop_assert_eq!(node, wanted);
                prop_assert!((f64::from(*score) - near).abs() < 1e-7);
            }
        }
    }
}
