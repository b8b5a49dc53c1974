//! Waves against enumerated walks, and the worked examples.

use super::harmonics::HarmonicAnalyzer;
use super::sympathetic::sympathetic_resonance;
use super::waves::{AMPLITUDE_MIN, AMPLITUDES, REFLECTION_PHASE_SHIFT};
use super::{NodeResonance, NodeWave, Resonance, ResonanceConfig, Scratch, WaveAccumulator, resonate};
use crate::graph::Graph;
use crate::graph::builder::{EdgeRow, GraphBuilder};
use crate::graph::columns::NodeRow;
use crate::graph::index::{CommunityId, NodeId};
use crate::graph::kinds::{EdgeDirection, NodeType};
use crate::graph::number::PosF32;
use crate::graph::pairs::neighbours;
use crate::{Flag, Flags};
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::f32::consts::SQRT_2;
use std::f64::consts::TAU;

/// An edge: source, target, weight, and whether it is inhibitory.
type Edge = (u32, u32, f32, bool);

fn graph(nodes: u32, edges: &[Edge]) -> Graph {
    let mut builder = GraphBuilder::default();
    for node in 0..nodes {
        builder.add_node(NodeRow::new(format!("n{node:04}"), "l", NodeType::Concept)).unwrap();
    }
    for (at, (source, target, weight, inhibitory)) in edges.iter().enumerate() {
        // Several relations, so that parallel edges are kept.
        let relation = if *inhibitory { "INHIBITS" } else { ["LEADS_TO", "CALLS"][at % 2] };
        let edge = EdgeRow {
            source: format!("n{source:04}"),
            target: format!("n{target:04}"),
            relation: relation.to_owned(),
            weight: *weight,
            direction: EdgeDirection::Forward,
            inhibitory: *inhibitory,
            causal: None,
        };
        builder.add_edge(&edge).unwrap();
    }
    builder.finalize().unwrap()
}

fn node(graph: &Graph, of: u32) -> NodeId {
    graph.find(&format!("n{of:04}")).unwrap()
}

fn number(graph: &Graph, of: NodeId) -> u32 {
    graph.external_id(of)[1..].parse().unwrap()
}

fn chain(nodes: u32) -> Graph {
    let edges: Vec<Edge> = (1..nodes).map(|to| (to - 1, to, 1.0, false)).collect();
    graph(nodes, &edges)
}

/// A hub, which is node 0, and its leaves.
fn star(leaves: u32) -> Graph {
    let edges: Vec<Edge> = (1..=leaves).map(|leaf| (0, leaf, 1.0, false)).collect();
    graph(leaves + 1, &edges)
}

fn clique(nodes: u32, weight: impl Fn(u32, u32) -> f32) -> Graph {
    let pairs = (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| (a, b)));
    let edges: Vec<Edge> = pairs.map(|(a, b)| (a, b, weight(a, b), false)).collect();
    graph(nodes, &edges)
}

fn positive(value: f32) -> PosF32 {
    PosF32::new(value).unwrap()
}

fn config(max_hops: u8, pulse_budget: u32) -> ResonanceConfig {
    ResonanceConfig { wavelength: positive(16.0), pulse_budget, max_hops }
}

const PLENTY: u32 = 1_000_000;

fn named(graph: &Graph, seeds: &[(u32, f32)]) -> Vec<(NodeId, f32)> {
    seeds.iter().map(|(of, amplitude)| (node(graph, *of), *amplitude)).collect()
}

#[track_caller]
fn run(graph: &Graph, seeds: &[(u32, f32)], config: &ResonanceConfig) -> Resonance {
    resonate(graph, graph.mean_degree(), &named(graph, seeds), config, &mut Scratch::default()).unwrap()
}

/// The amplitudes that reached each node, by the number in its name.
fn came(graph: &Graph, resonance: &Resonance) -> BTreeMap<u32, [f64; AMPLITUDES]> {
    let waves = resonance.waves.iter();
    let came: BTreeMap<_, _> = waves.map(|wave| (number(graph, wave.node), wave.amplitudes)).collect();
    assert_eq!(came.len(), resonance.waves.len(), "each node once");
    came
}

#[track_caller]
fn check(graph: &Graph, resonance: &Resonance, want: &[(u32, &[(usize, f64)])]) {
    let came = came(graph, resonance);
    for (of, want) in want {
        let mut cells = [0.0; AMPLITUDES];
        for (hop, amplitude) in *want {
            cells[*hop] = *amplitude;
        }
        let near = came[of].iter().zip(&cells).all(|(got, want)| (got - want).abs() < 1e-6);
        assert!(near, "{of}: {:?}, not {cells:?}", came[of]);
    }
}

#[track_caller]
fn check_amplitudes(graph: &Graph, resonance: &Resonance, want: &[(u32, f32)]) {
    let report = resonance.report(graph, positive(1.0));
    for (of, want) in want {
        let got = report.nodes.iter().find(|one| one.node == node(graph, *of)).unwrap().amplitude;
        assert!((got - want).abs() < 1e-6, "{of}: {got}, not {want}");
    }
}

/// Waves with given amplitudes.
fn by_hand(waves: &[(NodeId, &[(usize, f64)])], wavelength: f32) -> Resonance {
    let wave = |(of, cells): &(NodeId, &[(usize, f64)])| {
        let mut s = [0.0; AMPLITUDES];
        for (hop, amplitude) in *cells {
            s[*hop] = *amplitude;
        }
        NodeWave { node: *of, amplitudes: s }
    };
    Resonance {
        waves: waves.iter().map(wave).collect(),
        seeds: Vec::new(),
        wavelength: positive(wavelength),
        pulses: 0,
        pairs_read: 0,
        dropped_energy: 0.0,
        flags: Flags::default(),
    }
}

/// Amplitude of one node at a frequency.
fn swing(cells: &[(usize, f64)], frequency: f32, wavelength: f32) -> f32 {
    let graph = graph(1, &[]);
    by_hand(&[(NodeId(0), cells)], wavelength).report(&graph, positive(frequency)).nodes[0].amplitude
}

#[test]
fn example_4_3a() {
    for (apart, want) in [(0_u8, 2.0), (4, SQRT_2), (8, 0.0)] {
        // One seed next to node 1, the other some hops farther away, and too few hops to return.
        let last = 2 + u32::from(apart);
        let chain = chain(last + 1);
        let resonance = run(&chain, &[(0, 1.0), (last, 1.0)], &config(1 + apart, PLENTY));
        check_amplitudes(&chain, &resonance, &[(1, want)]);
    }
    assert_eq!(libm::cos(REFLECTION_PHASE_SHIFT).to_bits(), (-1.0_f64).to_bits());
}

#[test]
fn example_4_3b() {
    let dead_end = chain(3);
    let resonance = run(&dead_end, &[(0, 1.0)], &config(4, PLENTY));
    let want: [(u32, &[(usize, f64)]); 3] =
        [(0, &[(0, 1.0), (4, -1.0)]), (1, &[(1, 1.0), (3, -1.0)]), (2, &[(2, 1.0)])];
    check(&dead_end, &resonance, &want);
    check_amplitudes(&dead_end, &resonance, &[(0, SQRT_2), (1, 0.765_367), (2, 1.0)]);
    assert_eq!(resonance.pulses, 5);
    // A chain of directed slots passes waves in both directions.
    let long = chain(5);
    let resonance = run(&long, &[(0, 1.0)], &config(10, PLENTY));
    check_amplitudes(&long, &resonance, &[(0, 2.0), (1, 1.0), (2, 1.0), (3, 0.765_367), (4, 1.0)]);
    let resonance = run(&long, &[(4, 1.0)], &config(10, PLENTY));
    check_amplitudes(&long, &resonance, &[(4, 2.0), (3, 1.0), (2, 1.0), (1, 0.765_367), (0, 1.0)]);
}

#[test]
fn example_4_3c() {
    let star = star(10);
    let resonance = run(&star, &[(1, 1.0)], &config(3, PLENTY));
    let leaf = 0.7 / 9.0;
    check(&star, &resonance, &[(0, &[(1, 1.0), (3, -0.4)]), (1, &[(0, 1.0), (2, -0.3)]), (10, &[(2, leaf)])]);
    check_amplitudes(&star, &resonance, &[(0, 0.770_918), (1, 0.815_926), (2, 0.077_778)]);
    assert_eq!(resonance.pulses, 1 + 1 + 10 + 10);
}

#[test]
fn example_4_3d() {
    let cells = [(1, 1.0), (3, -1.0)];
    for (harmonic, long, short) in [
        (1.0, 0.765_367, 2.0),
        (2.0, SQRT_2, 0.0),
        (3.0, 1.847_759, 2.0),
        (4.0, 2.0, 0.0),
        (5.0, 1.847_759, 2.0),
    ] {
        assert!((swing(&cells, harmonic, 16.0) - long).abs() < 1e-6);
        assert!((swing(&cells, harmonic, 4.0) - short).abs() < 1e-6);
    }
}

/// Conductance of each pair of numbers, in both directions, from the edges themselves.
fn pairs(edges: &[Edge]) -> BTreeMap<u32, BTreeMap<u32, f64>> {
    let mut most: BTreeMap<(u32, u32), [f32; 2]> = BTreeMap::new();
    for (a, b, weight, inhibitory) in edges.iter().filter(|edge| edge.0 != edge.1) {
        let held = &mut most.entry((*a.min(b), *a.max(b))).or_default()[usize::from(*inhibitory)];
        *held = held.max(weight.clamp(0.05, 3.0));
    }
    let mut pairs: BTreeMap<u32, BTreeMap<u32, f64>> = BTreeMap::new();
    for ((a, b), [excitatory, inhibitory]) in most {
        let conducts = if excitatory > 0.0 { excitatory.min(1.0) } else { -0.5 * inhibitory.min(1.0) };
        pairs.entry(a).or_default().insert(b, f64::from(conducts));
        pairs.entry(b).or_default().insert(a, f64::from(conducts));
    }
    pairs
}

/// The targets of one pulse by the definition, with the share of the pulse that reaches each.
fn onward(row: &BTreeMap<u32, f64>, previous: Option<u32>, hub_above: f64) -> Vec<(u32, f64)> {
    let Some(previous) = previous else {
        return row.iter().map(|(to, conducts)| (*to, *conducts)).collect();
    };
    if row.len() == 1 {
        return vec![(previous, -row[&previous])];
    }
    let hub = row.len() as f64 > hub_above;
    let (through, back) = if hub { (0.7, -0.3) } else { (1.0, 0.0) };
    let others = row.len() as f64 - 1.0;
    let share = |to: u32| if to == previous { back } else { through / others };
    let ways = row.iter().map(|(to, conducts)| (*to, share(*to) * conducts));
    ways.filter(|(_, share)| share.abs() > 0.0).collect()
}

/// Every walk by itself: its node, its previous node, and its amplitude. Walks with the same end are dropped together,
/// if their sum is too small. `None` where a sum is so near to the threshold that rounding decides.
fn by_walks(
    edges: &[Edge],
    hub_above: f64,
    seeds: &BTreeMap<u32, f32>,
    hops: usize,
) -> Option<BTreeMap<u32, [f64; AMPLITUDES]>> {
    let (pairs, alone) = (pairs(edges), BTreeMap::new());
    let mut came: BTreeMap<u32, [f64; AMPLITUDES]> = BTreeMap::new();
    let mut walks: Vec<(u32, Option<u32>, f64)> =
        seeds.iter().map(|(seed, amplitude)| (*seed, None, f64::from(*amplitude))).collect();
    for hop in 0..=hops {
        let mut sums: BTreeMap<(u32, Option<u32>), f64> = BTreeMap::new();
        for (at, previous, amplitude) in &walks {
            *sums.entry((*at, *previous)).or_default() += amplitude;
        }
        if sums.values().any(|sum| (sum.abs() - AMPLITUDE_MIN).abs() < 1e-9) {
            return None;
        }
        sums.retain(|_, sum| sum.abs() > AMPLITUDE_MIN);
        for ((at, _), sum) in &sums {
            came.entry(*at).or_default()[hop] += sum;
        }
        let mut next = Vec::new();
        for (at, previous, amplitude) in walks {
            if sums.contains_key(&(at, previous)) {
                let ways = onward(pairs.get(&at).unwrap_or(&alone), previous, hub_above);
                next.extend(ways.into_iter().map(|(to, share)| (to, Some(at), amplitude * share)));
            }
        }
        walks = next;
    }
    Some(came)
}

fn edges(nodes: u32, most: usize) -> impl Strategy<Value = Vec<Edge>> {
    let edge = (0..nodes, 0..nodes, 1..200_u16, 0..5_u8)
        .prop_map(|(a, b, weight, roll)| (a, b, f32::from(weight) / 120.0, roll == 0));
    proptest::collection::vec(edge, 0..most)
}

fn seeds(nodes: u32) -> impl Strategy<Value = Vec<(u32, f32)>> {
    proptest::collection::vec((0..nodes, 0.01_f32..1.0), 1..4)
}

proptest! {
    #[test]
    fn waves_path_oracle(edges in edges(8, 16), seeds in seeds(8), hops in 0..=4_u8, mean in prop_oneof![Just(0.5), Just(1.0), Just(9.0)]) {
        let graph = graph(8, &edges);
        let named = named(&graph, &seeds);
        let mut largest: BTreeMap<u32, f32> = BTreeMap::new();
        for (seed, amplitude) in &seeds {
            let held = largest.entry(*seed).or_default();
            *held = held.max(*amplitude);
        }
        let Some(wanted) = by_walks(&edges, 4.0 * mean, &largest, usize::from(hops)) else {
            return Ok(());
        };
        let mut scratch = Scratch::default();
        let first = resonate(&graph, mean, &named, &config(hops, PLENTY), &mut scratch).unwrap();
        let found = came(&graph, &first);
        prop_assert!(found.keys().eq(wanted.keys()), "{found:?} {wanted:?}");
        for (of, want) in &wanted {
            for (got, want) in found[of].iter().zip(want) {
                prop_assert!((got - want).abs() < 1e-9, "{of}: {:?} {:?}", found[of], wanted[of]);
            }
        }
        prop_assert!(first.flags == Flags::default() && first.dropped_energy.to_bits() == 0);
        // The same with a scratch used for another graph, and with one used for the same query.
        resonate(&clique(12, |_, _| 0.7), 3.0, &[(NodeId(11), 1.0)], &config(4, 200), &mut scratch).unwrap();
        for _ in 0..2 {
            let again = resonate(&graph, mean, &named, &config(hops, PLENTY), &mut scratch).unwrap();
            prop_assert_eq!(&again, &first);
        }
    }

    #[test]
    fn rows_are_the_undirected_view(edges in edges(9, 40), order in Just((0..9_u32).collect::<Vec<_>>()).prop_shuffle()) {
        let graph = graph(9, &edges);
        let mut scratch = Scratch::default();
        let mut wanted = Vec::new();
        for _ in 0..2 {
            scratch.rows.begin(&graph);
            // Each twice: read, and cached.
            for of in order.iter().chain(&order) {
                neighbours(&graph, NodeId(*of), &mut wanted);
                let mut row = scratch.rows.of(&graph, NodeId(*of)).to_vec();
                row.sort_by_key(|crossing| crossing.node);
                prop_assert_eq!(row.len(), wanted.len());
                for (crossing, neighbour) in row.iter().zip(&wanted) {
                    let held_back = || -0.5 * neighbour.inhibitory.unwrap().min(1.0);
                    let conducts = neighbour.excitatory.map_or_else(held_back, |weight| weight.min(1.0));
                    prop_assert_eq!(crossing.node, neighbour.node.0);
                    prop_assert_eq!(crossing.conducts.to_bits(), conducts.to_bits());
                }
            }
            let degrees: usize = graph.nodes().map(|of| graph.degree(of) as usize).sum();
            prop_assert_eq!(scratch.rows.read_pairs(), degrees);
        }
    }

    #[test]
    fn a_short_wavelength_repeats_and_is_mirrored(edges in edges(12, 30), seeds in seeds(12), long in 1..8_u8) {
        let graph = graph(12, &edges);
        let mut resonance = run(&graph, &seeds, &config(10, PLENTY));
        let by_id = |resonance: &Resonance, frequency: f32| {
            let mut nodes = resonance.report(&graph, positive(frequency)).nodes;
            nodes.sort_by_key(|of| of.node);
            nodes
        };
        let same = |resonance: &Resonance, a: f32, b: f32| {
            let (a, b) = (by_id(resonance, a), by_id(resonance, b));
            a.iter().zip(&b).all(|(a, b)| (a.field.amplitude() - b.field.amplitude()).abs() < 1e-9)
        };
        let frequency = f32::from(long);
        prop_assert!(same(&resonance, frequency, 16.0 - frequency) && same(&resonance, frequency, 16.0 + frequency));
        resonance.wavelength = positive(4.0);
        prop_assert!(same(&resonance, 1.0, 3.0) && same(&resonance, 1.0, 5.0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn one_pass_equals_27(edges in edges(12, 24), seeds in seeds(12)) {
        let graph = graph(12, &edges);
        let resonance = run(&graph, &seeds, &config(10, PLENTY));
        let waves: BTreeMap<NodeId, &NodeWave> = resonance.waves.iter().map(|wave| (wave.node, wave)).collect();
        for step in 1..=27_u8 {
            let frequency = f32::from(step) * 0.37;
            let separate = propagated(&graph, &edges, &seeds, f64::from(frequency) / 16.0);
            let report = resonance.report(&graph, positive(frequency));
            let place = |of: &NodeResonance| (Reverse(of.amplitude.to_bits()), graph.rank(of.node));
            prop_assert!(report.nodes.is_sorted_by_key(place));
            prop_assert_eq!(report.nodes.len(), waves.len());
            let mut energy = 0.0;
            for of in &report.nodes {
                let (real, imaginary) = separate.get(&of.node).copied().unwrap_or_default();
                prop_assert!((of.field.real - real).abs() < 1e-9 && (of.field.imaginary - imaginary).abs() < 1e-9);
                let amplitude = (real * real + imaginary * imaginary).sqrt();
                prop_assert!((f64::from(of.amplitude) - amplitude).abs() < 1e-6);
                prop_assert!((0.0..TAU).contains(&of.field.phase()));
                let came: f64 = waves[&of.node].amplitudes.iter().map(|amplitude| amplitude.abs()).sum();
                prop_assert!((f64::from(of.coherence) * came - amplitude).abs() < 1e-6);
                energy += real * real + imaginary * imaginary;
            }
            prop_assert!((report.energy - energy).abs() < 1e-9);
        }
    }
}

/// One frequency by itself: pulses are complex numbers that turn with each hop, and by half a turn when reflected.
fn propagated(
    graph: &Graph,
    edges: &[Edge],
    seeds: &[(u32, f32)],
    turns: f64,
) -> BTreeMap<NodeId, (f64, f64)> {
    let (pairs, alone) = (pairs(edges), BTreeMap::new());
    let (cos, sin) = (libm::cos(TAU * turns), libm::sin(TAU * turns));
    let mut fields: BTreeMap<NodeId, (f64, f64)> = BTreeMap::new();
    let mut pulses: BTreeMap<(u32, Option<u32>), (f64, f64)> = BTreeMap::new();
    for (seed, amplitude) in seeds {
        let held = pulses.entry((*seed, None)).or_default();
        held.0 = held.0.max(f64::from(*amplitude));
    }
    for _ in 0..AMPLITUDES {
        let mut next: BTreeMap<(u32, Option<u32>), (f64, f64)> = BTreeMap::new();
        for ((at, previous), (real, imaginary)) in pulses {
            if (real * real + imaginary * imaginary).sqrt() <= AMPLITUDE_MIN {
                continue;
            }
            let field = fields.entry(node(graph, at)).or_default();
            *field = (field.0 + real, field.1 + imaginary);
            let row = pairs.get(&at).unwrap_or(&alone);
            for (to, share) in onward(row, previous, 4.0 * graph.mean_degree()) {
                let held = next.entry((to, Some(at))).or_default();
                held.0 += share * (real * cos - imaginary * sin);
                held.1 += share * (real * sin + imaginary * cos);
            }
        }
        pulses = next;
    }
    fields
}

/// The largest pulse of each hop in turn, from waves of that number of hops.
fn largest_pulses(graph: &Graph, mean: f64, seeds: &[(NodeId, f32)], hops: &[u8]) -> Vec<f64> {
    let mut scratch = Scratch::default();
    let largest = |hops: &u8| {
        let found = resonate(graph, mean, seeds, &config(*hops, PLENTY), &mut scratch).unwrap();
        assert!(found.flags == Flags::default());
        scratch.pulses.iter().map(|pulse| pulse.amplitude.abs()).fold(0.0, f64::max)
    };
    hops.iter().map(largest).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn waves_maximum_principle(seeds in proptest::collection::vec((0..30_u32, 0.01_f32..1.0), 1..30), light in 1..100_u16, hubs: bool) {
        let weight = |a: u32, b: u32| if (a + b).is_multiple_of(u32::from(light)) { 0.4 } else { 1.0 };
        let clique = clique(30, weight);
        let mean = if hubs { 1.0 } else { clique.mean_degree() };
        let seeds = named(&clique, &seeds);
        let most = seeds.iter().map(|seed| f64::from(seed.1)).fold(0.0, f64::max);
        for largest in largest_pulses(&clique, mean, &seeds, &[1, 2, 3, 6, 10]) {
            prop_assert!(largest <= most + 1e-12, "{largest} of {most}");
        }
    }
}

#[test]
fn waves_in_step_do_not_grow_in_a_clique() {
    let clique = clique(100, |_, _| 1.0);
    let seeds: Vec<(NodeId, f32)> = clique.nodes().map(|of| (of, 1.0)).collect();
    for largest in largest_pulses(&clique, clique.mean_degree(), &seeds, &[1, 5]) {
        assert!((largest - 1.0).abs() < 1e-9, "{largest}");
    }
    // From 99 neighbours 99 pulses of 1, at each hop.
    let seeds: Vec<(u32, f32)> = (0..100).map(|of| (of, 1.0)).collect();
    let resonance = run(&clique, &seeds, &config(4, PLENTY));
    for wave in &resonance.waves {
        assert!(wave.amplitudes[1..=4].iter().all(|amplitude| (amplitude - 99.0).abs() < 1e-6), "{wave:?}");
    }
}

#[test]
fn waves_budget_flag() {
    let clique = clique(30, |_, _| 1.0);
    let truncated = Flags::default().with(Flag::ResonanceTruncated, true);
    let one = run(&clique, &[(0, 1.0)], &config(10, 1));
    assert_eq!((one.pulses, one.waves.len(), one.flags), (1, 1, truncated));
    assert!((one.dropped_energy - 29.0).abs() < 1e-9);
    // 1 seed, 29 neighbours, and 70 of the 812 equal pulses between these: those of the first two, by
    // external id of node and previous node, and half of those of the third.
    let hundred = run(&clique, &[(0, 1.0)], &config(10, 100));
    assert_eq!((hundred.pulses, hundred.waves.len(), hundred.flags), (100, 30, truncated));
    assert!((hundred.dropped_energy - 742.0 / (28.0 * 28.0)).abs() < 1e-9);
    let came = came(&clique, &hundred);
    let second = |of: u32| came[&of][2];
    assert!((second(1) - 1.0).abs() < 1e-9 && (second(2) - 1.0).abs() < 1e-9);
    assert!((second(3) - 0.5).abs() < 1e-9 && second(4).abs() < 1e-9);
    // With a sufficient budget nothing is dropped. With one less, the last pulse is.
    let chain = chain(3);
    let fits = run(&chain, &[(0, 1.0)], &config(4, 5));
    assert_eq!((fits.pulses, fits.flags, fits.dropped_energy.to_bits()), (5, Flags::default(), 0));
    let short = run(&chain, &[(0, 1.0)], &config(4, 4));
    assert_eq!((short.pulses, short.flags), (4, truncated));
    assert!((short.dropped_energy - 1.0).abs() < 1e-9);
    let none = run(&chain, &[(0, 1.0), (1, 0.5)], &config(4, 0));
    assert_eq!((none.pulses, none.waves.len(), none.flags), (0, 0, truncated));
    assert!((none.dropped_energy - 1.25).abs() < 1e-9);
    // The largest seeds are kept first too.
    let seeds = run(&chain, &[(0, 0.5), (1, 0.25), (2, 0.75)], &config(0, 2));
    assert_eq!(seeds.waves.iter().map(|wave| number(&chain, wave.node)).collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn of_equal_pulses_the_first_by_external_id_are_kept() {
    // With few leaves pulses are cut at the end of the hop, with many during it.
    for leaves in [4, 5, 50] {
        let star = star(leaves);
        let resonance = run(&star, &[(0, 1.0)], &config(10, 3));
        assert_eq!(came(&star, &resonance).into_keys().collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(resonance.pulses, 3);
        assert!((resonance.dropped_energy - f64::from(leaves - 2)).abs() < 1e-9);
    }
    // Two hubs: larger pulses that the second sends later replace those of the first.
    let edges: Vec<Edge> = (1..=8_u8)
        .flat_map(|of| {
            let weight = f32::from(of) / 10.0;
            [(0, u32::from(of), weight, false), (9, 9 + u32::from(of), weight + 0.05, false)]
        })
        .collect();
    let hubs = graph(18, &edges);
    let resonance = run(&hubs, &[(0, 1.0), (9, 1.0)], &config(10, 4));
    assert_eq!(came(&hubs, &resonance).into_keys().collect::<Vec<_>>(), [0, 8, 9, 17]);
    // Squares of 0.1 to 0.7 and of 0.15 to 0.75.
    assert!((resonance.dropped_energy - (1.4 + 1.6975)).abs() < 1e-5, "{}", resonance.dropped_energy);
}

#[test]
fn a_leaf_of_a_large_hub_does_not_read_its_row() {
    let star = star(8_000);
    let mut scratch = Scratch::default();
    let seeds = named(&star, &[(1, 1.0)]);
    let found = resonate(&star, star.mean_degree(), &seeds, &config(10, 50_000), &mut scratch).unwrap();
    // Each leaf would get less of 0.7 than the threshold: the wave oscillates between the two nodes.
    assert_eq!((found.pulses, found.waves.len(), scratch.rows.read_pairs()), (11, 2, 1));
    check(
        &star,
        &found,
        &[
            (1, &[(0, 1.0), (2, -0.3), (4, -0.09), (6, -0.027), (8, -0.008_1), (10, -0.002_43)]),
            (0, &[(1, 1.0), (3, 0.3), (5, 0.09), (7, 0.027), (9, 0.008_1)]),
        ],
    );
}

#[test]
fn without_seeds_or_neighbours() {
    let mut scratch = Scratch::default();
    let empty = graph(0, &[]);
    let nothing = resonate(&empty, 0.0, &[], &config(10, 100), &mut scratch).unwrap();
    let report = nothing.report(&empty, positive(1.0));
    assert!(nothing.waves.is_empty() && report.nodes.is_empty() && report.energy.to_bits() == 0);
    assert_eq!(nothing.flags, Flags::default());
    let three = graph(3, &[(0, 1, 1.0, false), (2, 2, 1.0, false)]);
    assert!(run(&three, &[], &config(10, 100)).waves.is_empty());
    // A node with only a self-loop keeps its amplitude; of duplicate seeds the larger counts.
    let alone = run(&three, &[(2, 0.25), (2, 0.5)], &config(10, 100));
    check(&three, &alone, &[(2, &[(0, 0.5)])]);
    assert_eq!((alone.pulses, alone.seeds.as_slice()), (1, &[node(&three, 2)][..]));
    let report = alone.report(&three, positive(1.0));
    let of = &report.nodes[0];
    assert!(of.antinode && !of.quiet && (of.coherence - 1.0).abs() < 1e-6);
    assert!((report.energy - 0.25).abs() < 1e-9);
    // Too small for a pulse.
    let faint = run(&three, &[(0, 0.000_1)], &config(10, 100));
    assert!(faint.waves.is_empty() && faint.flags == Flags::default());
}

#[test]
fn input_out_of_range_is_named() {
    let chain = chain(3);
    let asked = |seeds: &[(NodeId, f32)], config: &ResonanceConfig| {
        resonate(&chain, 1.0, seeds, config, &mut Scratch::default()).map(|found| found.pulses)
    };
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.5, 0.0, -0.0, 1.5] {
        assert!(asked(&[(NodeId(0), 0.5), (NodeId(1), bad)], &config(1, 9)).is_err(), "{bad}");
    }
    // The smallest number above 0 is a valid seed, but too small for a pulse.
    assert_eq!(asked(&[(NodeId(0), f32::from_bits(1))], &config(1, 9)), Ok(0));
    assert!(asked(&[(NodeId(3), 0.5)], &config(1, 9)).is_err());
    assert!(asked(&[], &config(11, 9)).is_err());
    assert!(asked(&[], &config(10, u32::MAX)).is_ok());
}

#[test]
fn antinodes_oscillate_and_quiet_nodes_do_not() {
    let graph = graph(4, &[]);
    let waves: [(NodeId, &[(usize, f64)]); 4] = [
        (NodeId(0), &[(0, 1.0), (8, 1.0)]),
        (NodeId(1), &[(3, -1.0)]),
        (NodeId(2), &[(0, 0.5)]),
        (NodeId(3), &[(0, 0.2), (8, 0.2)]),
    ];
    let report = by_hand(&waves, 16.0).report(&graph, positive(1.0));
    // Eight hops apart is half a wavelength. The amplitude of the last is too small to call it quiet.
    let told: Vec<_> = report.nodes.iter().map(|of| (of.node.0, of.antinode, of.quiet)).collect();
    assert_eq!(told, [(1, true, false), (2, true, false), (0, false, true), (3, false, false)]);
    assert!((report.energy - 1.25).abs() < 1e-9);
    // Three hops of a sixteenth of a turn, and half a turn for the sign.
    let phase = report.nodes[0].field.phase();
    assert!((phase - TAU * (3.0 / 16.0 + 0.5)).abs() < 1e-9, "{phase}");
    let below = WaveAccumulator { real: 1.0, imaginary: -1e-20 };
    assert_eq!([below.phase().to_bits(), WaveAccumulator::default().phase().to_bits()], [0, 0]);
}

#[test]
fn nodes_are_grouped_by_their_strongest_harmonic() {
    let chain = chain(3);
    let resonance = run(&chain, &[(0, 1.0)], &config(4, PLENTY));
    let harmonics = HarmonicAnalyzer::new(&chain, &resonance).harmonics(positive(1.0));
    // Node 2 responds equally to all: the lowest counts.
    let groups: Vec<(u8, Vec<u32>)> = harmonics
        .groups
        .iter()
        .map(|group| (group.harmonic, group.nodes.iter().map(|of| number(&chain, of.node)).collect()))
        .collect();
    assert_eq!((harmonics.count, groups), (5, vec![(1, vec![2]), (2, vec![0]), (4, vec![1])]));
    let of_one = harmonics.groups[2].nodes[0].amplitudes;
    let want = [0.765_367, SQRT_2, 1.847_759, 2.0, 1.847_759];
    assert!(of_one.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-6), "{of_one:?}");
    // Harmonics above half a turn a hop mirror those below.
    for (frequency, count) in [(1.5, 5), (2.0, 4), (4.0, 2), (8.0, 1), (8.5, 0)] {
        let harmonics = HarmonicAnalyzer::new(&chain, &resonance).harmonics(positive(frequency));
        assert_eq!((harmonics.count, harmonics.groups.is_empty()), (count, count == 0));
    }
}

#[test]
fn a_sweep_finds_the_resonant_frequencies() {
    let resonant = |graph: &Graph, resonance: &Resonance| -> Vec<usize> {
        let sweep = HarmonicAnalyzer::new(graph, resonance).sweep();
        assert_eq!(sweep.len(), 33);
        (0..33).filter(|step| sweep[*step].resonant).collect()
    };
    let chain = chain(3);
    let resonance = run(&chain, &[(0, 1.0)], &config(4, PLENTY));
    // The energy is 1 + 20 u - 16 u^2, with u the squared sine of the phase of a hop: greatest near u = 5/8, at step 9,
    // and at its mirror image.
    let sweep = HarmonicAnalyzer::new(&chain, &resonance).sweep();
    assert!((sweep[0].energy - 1.0).abs() < 1e-6 && (sweep[16].energy - 5.0).abs() < 1e-5);
    assert!((sweep[9].energy - 7.238).abs() < 1e-3 && (sweep[9].frequency - 2.25).abs() < 1e-9);
    assert_eq!(resonant(&chain, &resonance), [9, 23]);
    // Greatest at the end, whose successor is the mirror image; greatest at frequency 0; equal everywhere.
    let one = graph(1, &[]);
    assert_eq!(resonant(&one, &by_hand(&[(NodeId(0), &[(0, 1.0), (1, -1.0)])], 16.0)), [32]);
    assert!(resonant(&one, &by_hand(&[(NodeId(0), &[(0, 1.0), (1, 1.0)])], 16.0)).is_empty());
    assert!(resonant(&one, &by_hand(&[(NodeId(0), &[(3, 1.0)])], 16.0)).is_empty());
    assert!(resonant(&one, &by_hand(&[], 16.0)).is_empty());
}

#[test]
fn sympathetic_distance() {
    // Two more nodes, not connected to the chain.
    let edges: Vec<Edge> = [(0, 1), (1, 2), (2, 3), (3, 4), (5, 6)].map(|(a, b)| (a, b, 1.0, false)).to_vec();
    let chain = graph(7, &edges);
    let resonance = run(&chain, &[(0, 1.0)], &config(10, PLENTY));
    let far = |communities: Option<&[CommunityId]>| {
        let found = sympathetic_resonance(&chain, &resonance, positive(1.0), communities);
        assert_eq!(found.unreached, 2);
        found.nodes.iter().map(|of| (number(&chain, of.node), of.cross_region)).collect::<Vec<_>>()
    };
    assert_eq!(far(None), [(4, None), (3, None)]);
    let mut communities = vec![CommunityId(0); 7];
    communities[node(&chain, 4).at()] = CommunityId(1);
    assert_eq!(far(Some(&communities)), [(4, Some(true)), (3, Some(false))]);
    // From both ends every node is at most two away.
    let resonance = run(&chain, &[(0, 1.0), (4, 1.0)], &config(10, PLENTY));
    assert!(sympathetic_resonance(&chain, &resonance, positive(1.0), None).nodes.is_empty());
    // A tenth of the greatest amplitude is enough, a two-hundredth is not.
    let faint = [(0, 1, 1.0, false), (1, 2, 1.0, false), (2, 3, 0.1, false), (3, 4, 0.05, false)];
    let faint = graph(5, &faint);
    let resonance = run(&faint, &[(0, 1.0)], &config(10, PLENTY));
    let found = sympathetic_resonance(&faint, &resonance, positive(1.0), None);
    assert_eq!(found.nodes.iter().map(|of| number(&faint, of.node)).collect::<Vec<_>>(), [3]);
    assert_eq!(found.unreached, 0);
}

#[test]
fn waves_are_independent_of_insertion_order() {
    let edges: Vec<Edge> = (0..120_u32)
        .map(|n| {
            let weight = 0.2 + 0.05 * f32::from(u8::try_from(n % 17).unwrap());
            (n % 40, (n * 7 + n / 40 * 3 + 1) % 40, weight, n.is_multiple_of(6))
        })
        .collect();
    let told = |edges: &[Edge]| {
        let graph = graph(40, edges);
        let found = run(&graph, &[(0, 1.0), (9, 0.5)], &config(10, 300));
        let bits = |(of, s): (u32, [f64; AMPLITUDES])| (of, s.map(f64::to_bits));
        let came: Vec<_> = came(&graph, &found).into_iter().map(bits).collect();
        (came, found.pulses, found.dropped_energy.to_bits())
    };
    let first = told(&edges);
    assert_eq!(first.1, 300);
    for turn in 1..4 {
        let mut turned = edges.clone();
        // The relation of an edge depends on whether its position is even.
        turned.rotate_left(2 * turn);
        assert_eq!(told(&turned), first);
    }
}
