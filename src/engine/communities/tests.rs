//! Modularity against a dense matrix, communities against petgraph, and the worked examples.

use super::bridges::{bridges, community_links};
use super::level::{Level, Tally};
use super::moving::move_nodes;
use super::refining::refine;
use super::{Partition, Scale, communities, modularity, renumber};
use crate::Flags;
use crate::graph::Graph;
use crate::graph::builder::{EdgeRow, GraphBuilder};
use crate::graph::columns::NodeRow;
use crate::graph::index::{CommunityId, EdgeIdx};
use crate::graph::kinds::{EdgeDirection, NodeType};
use crate::graph::number::PosF32;
use crate::graph::pairs::neighbours;
use crate::random::SplitMix64;
use petgraph::algo::connected_components;
use petgraph::graph::{NodeIndex, UnGraph};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// An edge: source, relation, target and weight. `INHIBITS` is inhibitory.
type Edge = (u32, &'static str, u32, f32);

/// Nodes in the order in which they are named, and edges unchanged.
fn graph(nodes: &[u32], edges: &[Edge]) -> Graph {
    let mut builder = GraphBuilder::default();
    for node in nodes {
        builder.add_node(NodeRow::new(format!("n{node:04}"), "l", NodeType::Concept)).unwrap();
    }
    for (source, relation, target, weight) in edges {
        let edge = EdgeRow {
            source: format!("n{source:04}"),
            target: format!("n{target:04}"),
            relation: (*relation).to_owned(),
            weight: *weight,
            direction: EdgeDirection::Forward,
            inhibitory: *relation == "INHIBITS",
            causal: None,
        };
        builder.add_edge(&edge).unwrap();
    }
    builder.finalize().unwrap()
}

fn numbered(nodes: u32, edges: &[(u32, u32)]) -> Graph {
    let edges: Vec<Edge> = edges.iter().map(|(a, b)| (*a, "CALLS", *b, 1.0)).collect();
    graph(&(0..nodes).collect::<Vec<_>>(), &edges)
}

fn resolution(value: f32) -> PosF32 {
    PosF32::new(value).unwrap()
}

fn number(graph: &Graph, at: usize) -> u32 {
    let node = graph.nodes().nth(at).unwrap();
    graph.external_id(node)[1..].parse().unwrap()
}

/// A partition by the numbers in the names of nodes.
fn named(graph: &Graph, community: impl Fn(u32) -> u32) -> Vec<CommunityId> {
    (0..graph.node_count()).map(|at| CommunityId(community(number(graph, at)))).collect()
}

/// The community of each number.
fn by_number(graph: &Graph, partition: &Partition) -> BTreeMap<u32, CommunityId> {
    assert_eq!(partition.membership.len(), graph.node_count());
    (0..).zip(&partition.membership).map(|(at, of)| (number(graph, at), *of)).collect()
}

/// `sum over i, j of one community of (A - r * k_i * k_j / 2M) / 2M`, over a matrix of all excitatory slots.
fn dense(graph: &Graph, of: &[CommunityId], resolution: f64) -> f64 {
    let n = graph.node_count();
    let mut joined = vec![vec![0.0_f64; n]; n];
    for node in graph.nodes() {
        for slot in graph.slots(node).filter(|slot| !graph.kind(*slot).inhibitory) {
            let (a, b, weight) = (node.at(), graph.target(slot).at(), f64::from(graph.weight(slot)));
            joined[a][b] += weight;
            joined[b][a] += weight;
        }
    }
    let strength: Vec<f64> = joined.iter().map(|row| row.iter().sum()).collect();
    let twice: f64 = strength.iter().sum();
    let pairs = (0..n).flat_map(|a| (0..n).map(move |b| (a, b))).filter(|(a, b)| of[*a] == of[*b]);
    let sum: f64 = pairs.map(|(a, b)| joined[a][b] - resolution * strength[a] * strength[b] / twice).sum();
    if twice > 0.0 { sum / twice } else { 0.0 }
}

/// Nodes with the edges inside their communities, as a petgraph graph.
fn inside(graph: &Graph, of: &[u32]) -> UnGraph<(), ()> {
    let mut copy = UnGraph::with_capacity(0, 0);
    for _ in graph.nodes() {
        copy.add_node(());
    }
    for node in graph.nodes() {
        for slot in graph.slots(node).filter(|slot| graph.is_excitatory(node, *slot)) {
            let target = graph.target(slot);
            if of[node.at()] == of[target.at()] {
                copy.add_edge(NodeIndex::new(node.at()), NodeIndex::new(target.at()), ());
            }
        }
    }
    copy
}

fn edges(nodes: u32, most: usize) -> impl Strategy<Value = Vec<Edge>> {
    let relations = ["CALLS", "LEADS_TO", "INHIBITS"];
    let edge = (0..nodes, 0..3_usize, 0..nodes, 1..250_u8)
        .prop_map(move |(a, of, b, weight)| (a, relations[of], b, f32::from(weight) / 80.0));
    proptest::collection::vec(edge, 0..most)
}

/// A level, with the scale of gains at resolution 1.
fn level(graph: &Graph) -> (Level, Scale, Tally) {
    let mut tally = Tally::of(graph.node_count());
    let level = Level::of(graph, &mut tally);
    let total = level.total();
    (level, Scale { cost: 1.0 / (2.0 * total), gain_min: 1e-9 * total, gain_each: 0.0 }, tally)
}

proptest! {
    #[test]
    fn q_independent(edges in edges(14, 50), learned in proptest::collection::vec((any::<u16>(), 0.05_f32..3.0), 0..6), r in prop_oneof![Just(1.0_f32), Just(0.5), Just(2.5)], salt: u64) {
        let graph = graph(&(0..14).collect::<Vec<_>>(), &edges);
        for (slot, weight) in learned {
            let all: Vec<_> = graph.nodes().flat_map(|node| graph.slots(node).map(move |slot| (node, slot))).collect();
            if let Some((node, slot)) = all.get(usize::from(slot) % all.len().max(1)) {
                graph.write_weight(*node, *slot, weight).unwrap();
            }
        }
        let found = communities(&graph, resolution(r));
        prop_assert!((found.modularity - dense(&graph, &found.membership, f64::from(r))).abs() < 1e-9, "{found:?}");
        prop_assert!((found.modularity - modularity(&graph, &found.membership, resolution(r))).abs() < 1e-9);
        // Any partition has the modularity of the matrix, and the result is not worse than single nodes.
        let mut stream = SplitMix64::new(salt);
        let drawn: Vec<CommunityId> =
            graph.nodes().map(|_| CommunityId(u32::try_from(stream.draw_below(4)).unwrap())).collect();
        prop_assert!((modularity(&graph, &drawn, resolution(r)) - dense(&graph, &drawn, f64::from(r))).abs() < 1e-9);
        prop_assert!(found.modularity >= modularity(&graph, &[], resolution(r)) - 1e-9);
        prop_assert!(r > 1.0 || (-0.5..=1.0).contains(&found.modularity));
    }

    #[test]
    fn connected(edges in edges(40, 70)) {
        let graph = graph(&(0..40).collect::<Vec<_>>(), &edges);
        let found = communities(&graph, resolution(1.0));
        let of: Vec<u32> = found.membership.iter().map(|of| of.0).collect();
        prop_assert_eq!(connected_components(&inside(&graph, &of)), found.count);
        // The largest first, of equal ones that with the first external id; none is empty.
        let mut sizes = vec![(0_u32, u32::MAX); found.count];
        for (node, of) in graph.nodes().zip(&of) {
            let (size, first) = &mut sizes[*of as usize];
            *size += 1;
            *first = graph.rank(node).min(*first);
        }
        prop_assert!(sizes.iter().all(|(size, _)| *size > 0));
        prop_assert!(sizes.is_sorted_by_key(|(size, first)| (std::cmp::Reverse(*size), *first)));
        prop_assert_eq!(found.flags, Flags::default());
    }

    #[test]
    fn the_first_level_is_the_undirected_view(edges in edges(9, 40)) {
        let graph = graph(&(0..9).collect::<Vec<_>>(), &edges);
        let (level, _, _) = level(&graph);
        let mut wanted = Vec::new();
        let mut total = 0.0;
        for node in graph.nodes() {
            neighbours(&graph, node, &mut wanted);
            wanted.retain(|neighbour| neighbour.excitatory.is_some());
            let mut row: Vec<(u32, f64)> = level.row(node.0).collect();
            row.sort_by_key(|pair| pair.0);
            prop_assert_eq!(row.len(), wanted.len());
            for ((target, weight), neighbour) in row.iter().zip(&wanted) {
                prop_assert_eq!((*target, weight.to_bits()), (neighbour.node.0, neighbour.sum.to_bits()));
            }
            let slots = graph.slots(node).filter(|slot| graph.is_excitatory(node, *slot));
            let (own, others): (Vec<_>, Vec<_>) = slots.partition(|slot| graph.target(*slot) == node);
            let sum = |slots: &[EdgeIdx]| -> f64 { slots.iter().map(|slot| f64::from(graph.weight(*slot))).sum() };
            let joined: f64 = wanted.iter().map(|neighbour| neighbour.sum).sum();
            prop_assert!((level.strength(node.0) - joined - 2.0 * sum(&own)).abs() < 1e-9);
            total += sum(&own) + sum(&others);
        }
        prop_assert!((level.total() - total).abs() < 1e-9);
    }

    #[test]
    fn bridges_as_defined(edges in edges(12, 40), salt: u64, most in 0_usize..14) {
        let graph = graph(&(0..12).collect::<Vec<_>>(), &edges);
        let mut stream = SplitMix64::new(salt);
        let of: Vec<CommunityId> =
            graph.nodes().map(|_| CommunityId(u32::try_from(stream.draw_below(4)).unwrap())).collect();
        let mut outside: Vec<(f64, u32)> = Vec::new();
        for node in graph.nodes() {
            let mut sums: BTreeMap<CommunityId, f64> = BTreeMap::new();
            let slots = graph.nodes().flat_map(|from| graph.slots(from).map(move |slot| (from, slot)));
            for (source, slot) in slots {
                let target = graph.target(slot);
                let other = if source == node { target } else { source };
                if graph.is_excitatory(source, slot) && source != target && (source == node || target == node) {
                    *sums.entry(of[other.at()]).or_default() += f64::from(graph.weight(slot));
                }
            }
            let community_links = community_links(&graph, &of, node);
            let told: BTreeMap<CommunityId, f64> = community_links.iter().map(|link| (link.community, link.weight)).collect();
            prop_assert_eq!((&told, told.len()), (&sums, community_links.len()));
            prop_assert!(community_links.is_sorted_by_key(|link| (std::cmp::Reverse(link.weight.to_bits()), link.community)));
            let own = of[node.at()];
            let out: f64 = sums.iter().filter(|(community, _)| **community != own).map(|(_, sum)| sum).sum();
            if out > 0.0 {
                outside.push((out, graph.rank(node)));
            }
        }
        outside.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        outside.truncate(most);
        let found: Vec<u32> = bridges(&graph, &of, most).into_iter().map(|node| graph.rank(node)).collect();
        prop_assert_eq!(found, outside.into_iter().map(|(_, rank)| rank).collect::<Vec<_>>());
    }

    #[test]
    fn parts_are_connected_and_levels_keep_their_weight(edges in edges(30, 60)) {
        let graph = graph(&(0..30).collect::<Vec<_>>(), &edges);
        let (level, scale, mut tally) = level(&graph);
        let mut of: Vec<u32> = level.nodes().collect();
        let alone = level.quality(&of, level.len(), resolution(1.0));
        prop_assert!(move_nodes(&level, &mut of, scale, u64::MAX, &mut tally));
        let count = renumber(&mut of);
        let moved = level.quality(&of, count, resolution(1.0));
        prop_assert!(moved >= alone - 1e-12);
        let mut parts = refine(&level, &of, scale, &mut tally);
        let count = renumber(&mut parts);
        // Each part is inside one community, and connected.
        let mut home = vec![u32::MAX; count];
        for (part, community) in parts.iter().zip(&of) {
            let home = &mut home[*part as usize];
            prop_assert!(*home == u32::MAX || *home == *community);
            *home = *community;
        }
        prop_assert_eq!(connected_components(&inside(&graph, &parts)), count);
        // The next level has the same weight, and its communities the same modularity.
        let next = level.merged(&parts, count, &mut tally);
        prop_assert_eq!(next.len(), count);
        prop_assert!((next.total() - level.total()).abs() < 1e-9);
        let again = next.quality(&home, graph.node_count(), resolution(1.0));
        prop_assert!((again - moved).abs() < 1e-9);
    }
}

fn ring(nodes: u32) -> Vec<(u32, u32)> {
    (0..nodes).map(|at| (at, (at + 1) % nodes)).collect()
}

#[test]
fn examples_4_7() {
    let one = resolution(1.0);
    let near = |got: f64, want: f64| (got - want).abs() < 1e-6;
    let triangles = numbered(6, &[(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)]);
    assert!(near(modularity(&triangles, &named(&triangles, |at| at / 3), one), 0.357_143));
    let found = communities(&triangles, one);
    let want: BTreeMap<u32, CommunityId> = (0..6).map(|at| (at, CommunityId(at / 3))).collect();
    assert_eq!((by_number(&triangles, &found), found.count), (want, 2));
    assert!(near(found.modularity, 0.357_143));
    let star = numbered(101, &(1..=100).map(|leaf| (0, leaf)).collect::<Vec<_>>());
    assert!(near(modularity(&star, &named(&star, |_| 0), one), 0.0));
    let own = numbered(2, &[(0, 0), (0, 1)]);
    assert!(near(modularity(&own, &named(&own, |at| at), one), -0.125));
    // Without communities every node is alone, and so is a node with an invalid one.
    assert!(near(modularity(&own, &[], one), -0.125));
    assert!(near(modularity(&own, &named(&own, |_| u32::MAX), one), -0.125));
    let ring = numbered(256, &ring(256));
    assert!(near(modularity(&ring, &named(&ring, |at| at / 16), one), 0.875));
    assert!(near(modularity(&ring, &named(&ring, |at| at / 2), one), 0.492_188));
}

#[test]
fn ring256() {
    let mut stream = SplitMix64::new(7);
    for _ in 0..5 {
        let mut names: Vec<u32> = (0..256).collect();
        for at in (1..256_u64).rev() {
            let with = usize::try_from(stream.draw_below(at + 1)).unwrap();
            names.swap(usize::try_from(at).unwrap(), with);
        }
        let edges: Vec<(u32, u32)> =
            ring(256).into_iter().map(|(a, b)| (names[a as usize], names[b as usize])).collect();
        let found = communities(&numbered(256, &edges), resolution(1.0));
        assert!(found.modularity >= 0.86, "{} communities, Q {}", found.count, found.modularity);
    }
}

#[test]
fn a_higher_resolution_has_smaller_communities() {
    let ring = numbered(256, &ring(256));
    let counts = [0.25, 1.0, 4.0, 16.0].map(|r| communities(&ring, resolution(r)).count);
    assert!(counts.is_sorted_by(|a, b| a < b), "{counts:?}");
}

#[test]
fn cliques_are_found() {
    // Eight cliques of five in a ring.
    let mut edges = Vec::new();
    for clique in (0..40).step_by(5) {
        let members = clique..clique + 5;
        edges.extend(
            members.clone().flat_map(|a| members.clone().map(move |b| (a, b))).filter(|(a, b)| a < b),
        );
        edges.push((clique, (clique + 6) % 40));
    }
    let graph = numbered(40, &edges);
    let found = communities(&graph, resolution(1.0));
    let want: BTreeMap<u32, CommunityId> = (0..40).map(|at| (at, CommunityId(at / 5))).collect();
    assert_eq!((by_number(&graph, &found), found.count), (want, 8));
    assert!(
        (found.modularity - modularity(&graph, &named(&graph, |at| at / 5), resolution(1.0))).abs() < 1e-9
    );
}

#[test]
fn parallel_and_antiparallel_edges_count_in_full() {
    let joined: [Edge; 5] = [
        (0, "CALLS", 1, 1.0),
        (0, "LEADS_TO", 1, 0.5),
        (1, "CALLS", 0, 1.0),
        (2, "CALLS", 3, 1.0),
        (1, "CALLS", 2, 1.0),
    ];
    let four = graph(&[0, 1, 2, 3], &joined);
    // M 4.5, inside 2.5 and 1, strengths 6 and 3: 7/9 - 45/81.
    let q = modularity(&four, &named(&four, |at| at / 2), resolution(1.0));
    assert!((q - 2.0 / 9.0).abs() < 1e-9, "{q}");
    // Five parallel edges outweigh two heavier ones: 0 joins 1 and not 2.
    let relations = ["A", "B", "C", "D", "E"];
    let mut edges: Vec<Edge> = relations.iter().map(|of| (0, *of, 1, 0.5)).collect();
    edges.extend([(0, "A", 2, 1.0), (2, "A", 0, 1.0), (1, "A", 3, 2.0), (2, "A", 4, 2.5)]);
    let five = graph(&[0, 1, 2, 3, 4], &edges);
    let told = by_number(&five, &communities(&five, resolution(1.0)));
    assert!(told[&0] == told[&1] && told[&0] != told[&2], "{told:?}");
}

#[test]
fn the_partition_is_independent_of_order() {
    let mut stream = SplitMix64::new(11);
    let mut draw = |below: u64| u32::try_from(stream.draw_below(below)).unwrap();
    // Ten groups of twelve, most edges inside.
    let mut edges: Vec<Edge> = (0..600)
        .map(|_| {
            let (a, b, weight) =
                (draw(120), draw(120), 0.05 * f32::from(u8::try_from(1 + draw(40)).unwrap()));
            let b = if draw(10) < 7 { a / 12 * 12 + b % 12 } else { b };
            (a, ["CALLS", "LEADS_TO"][draw(2) as usize], b, weight)
        })
        .collect();
    let mut nodes: Vec<u32> = (0..120).collect();
    let mut first = None;
    for _ in 0..5 {
        for at in (1..edges.len()).rev() {
            edges.swap(at, draw(at as u64 + 1) as usize);
        }
        for at in (1..nodes.len()).rev() {
            nodes.swap(at, draw(at as u64 + 1) as usize);
        }
        let graph = graph(&nodes, &edges);
        let found = communities(&graph, resolution(1.0));
        let told = (by_number(&graph, &found), found.modularity.to_bits(), found.levels, found.flags);
        assert!(found.modularity > 0.4, "{}", found.modularity);
        assert_eq!(*first.get_or_insert_with(|| told.clone()), told);
    }
}

#[test]
fn unconnected_nodes_are_communities_of_one() {
    let empty = communities(&numbered(0, &[]), resolution(1.0));
    assert_eq!((empty.membership.len(), empty.count, empty.modularity.to_bits()), (0, 0, 0));
    // Inhibitory edges join no nodes.
    let edges: [Edge; 2] = [(0, "INHIBITS", 1, 1.0), (2, "INHIBITS", 0, 1.0)];
    let graph = graph(&[3, 1, 2, 0], &edges);
    let alone = communities(&graph, resolution(1.0));
    assert_eq!((alone.count, alone.modularity.to_bits(), alone.flags), (4, 0, Flags::default()));
    assert_eq!(by_number(&graph, &alone), (0..4).map(|at| (at, CommunityId(at))).collect::<BTreeMap<_, _>>());
    assert_eq!(modularity(&graph, &alone.membership, resolution(1.0)).to_bits(), 0);
    // A node with only a self-loop is a community of one.
    let own = communities(&numbered(2, &[(1, 1)]), resolution(1.0));
    assert_eq!((own.count, own.modularity.to_bits()), (2, 0));
}

#[test]
fn node_visits_are_counted() {
    let (level, scale, mut tally) = level(&numbered(64, &ring(64)));
    let mut of: Vec<u32> = level.nodes().collect();
    assert!(!move_nodes(&level, &mut of, scale, 63, &mut tally), "not all nodes were visited");
    let mut again: Vec<u32> = level.nodes().collect();
    assert!(move_nodes(&level, &mut again, scale, 20 * 64, &mut tally));
    // A budget of one visit for each node to visit is enough.
    assert!(move_nodes(&level, &mut again, scale, 64, &mut tally));
}

#[test]
fn separated_parts_are_two_communities() {
    let (level, _, _) = level(&numbered(5, &[(0, 1), (2, 3)]));
    // The first two pairs were one community, with the unconnected node 4 in it.
    let (of, count) = level.components(&[7; 5]);
    assert_eq!((of, count), (vec![0, 0, 1, 1, 2], 3));
}
