//! Contrast against its definition, computed with lists, sets and angles; the worked examples; the limits.

use super::*;
use crate::activation::{scratch, wavefront};
use crate::graph::builder::{EdgeRow, GraphBuilder, WeightRange};
use crate::graph::columns::NodeRow;
use crate::graph::kinds::{EdgeDirection, Kinds, NodeType};
use crate::graph::number::DecayFactor;
use crate::random::{mixed, stable_hash};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The recall parameters with the decay of the worked examples.
const RULE: ActivationConfig =
    ActivationConfig { decay: DecayFactor::REFERENCE, max_depth: 5, ..ActivationConfig::RECALL };

type Edge = (u32, u32, f32, bool);

/// A graph of a number of nodes; rows are inserted forwards or backwards.
fn built(nodes: u32, edges: &[Edge], cap: f32, backwards: bool) -> Graph {
    let range = WeightRange { cap, ..WeightRange::default() };
    let mut builder = GraphBuilder::new(Kinds::default(), range);
    for n in 0..nodes {
        let node = if backwards { nodes - 1 - n } else { n };
        builder.add_node(NodeRow::new(format!("n{node:04}"), "l", NodeType::Concept)).unwrap();
    }
    let mut edges = edges.to_vec();
    if backwards {
        edges.reverse();
    }
    for (source, target, weight, inhibitory) in edges {
        let edge = EdgeRow {
            source: format!("n{source:04}"),
            target: format!("n{target:04}"),
            relation: if inhibitory { "INHIBITS" } else { "LEADS_TO" }.to_owned(),
            weight,
            direction: EdgeDirection::Forward,
            inhibitory,
            causal: None,
        };
        builder.add_edge(&edge).unwrap();
    }
    builder.finalize().unwrap()
}

fn graph(nodes: u32, edges: &[Edge]) -> Graph {
    built(nodes, edges, 3.0, false)
}

fn node(graph: &Graph, number: u32) -> NodeId {
    graph.find(&format!("n{number:04}")).unwrap()
}

fn seeds(graph: &Graph, seeds: &[(u32, f32)]) -> Vec<(NodeId, f32)> {
    seeds.iter().map(|(number, score)| (node(graph, *number), *score)).collect()
}

/// Computes contrast, and checks that the scratch is reset.
fn asked(
    graph: &Graph,
    seeds: &[(NodeId, f32)],
    params: &ActivationConfig,
    budget: u32,
    scratch: &mut Scratch,
) -> XlrResult {
    let found = xlr(graph, graph.mean_degree(), seeds, params, budget, scratch);
    assert!(scratch.channel.cells.iter().all(|cell| *cell == 0) && scratch.channel.touched.is_empty());
    assert!(scratch.near.bits.iter().all(|word| *word == 0));
    assert!(scratch.hot.is_empty() && scratch.cold.is_empty() && scratch.seeds.is_empty());
    assert!(found.nodes.is_sorted_by(|a, b| a.node < b.node), "each once, by id");
    assert!(found.pulses <= u64::from(budget));
    for field in &found.nodes {
        assert_eq!(found.gate(field.node), Some(field.gate));
        let all = [field.hot, field.cold, field.overlap, field.density, field.net, field.gate];
        assert!(all.iter().all(|value| value.is_finite()), "{field:?}");
        assert!(field.hot > 0.0 && field.cold >= 0.0 && field.net <= 1.0, "{field:?}");
        assert!((0.0..=1.0).contains(&field.overlap) && (0.0..1.0).contains(&field.gate), "{field:?}");
        assert!((0.3..=2.0).contains(&field.density), "{field:?}");
    }
    found
}

fn simply(graph: &Graph, scores: &[(u32, f32)]) -> XlrResult {
    let seeds = seeds(graph, scores);
    asked(graph, &seeds, &RULE, XLR_PULSE_BUDGET, &mut Scratch::default())
}

fn of(graph: &Graph, found: &XlrResult, number: u32) -> Contrast {
    let node = node(graph, number);
    *found.nodes.iter().find(|field| field.node == node).unwrap()
}

/// A pulse by the definition, with an angle.
struct Pulse {
    amplitude: f32,
    phase: f64,
    frequency: f64,
    path: Vec<NodeId>,
}

/// Amplitude, the two sides of Z, and F of each node that a wave reached.
type Waves = BTreeMap<NodeId, [f64; 4]>;

/// A wave by its definition: its fields, its pulses, and whether some were dropped.
#[expect(clippy::cast_possible_truncation, reason = "amplitudes are rounded once, as in the definition")]
fn wave(
    graph: &Graph,
    params: &ActivationConfig,
    begin: &[(NodeId, f32)],
    frequency: f64,
    budget: usize,
) -> (Waves, usize, bool) {
    let begun = |amplitude: f32| Pulse { amplitude, phase: 0.0, frequency, path: Vec::new() };
    let mut level: Vec<(NodeId, Pulse)> = begin.iter().map(|(node, score)| (*node, begun(*score))).collect();
    let (mut waves, mut left) = (Waves::new(), budget);
    for depth in 0..=params.max_depth {
        let name = |node: NodeId| graph.external_id(node);
        level.sort_by(|a, b| b.1.amplitude.total_cmp(&a.1.amplitude).then_with(|| name(a.0).cmp(name(b.0))));
        let dropped = level.len() > left;
        level.truncate(left);
        left -= level.len();
        for (node, pulse) in &level {
            let a = f64::from(pulse.amplitude);
            let parts = [a, a * libm::cos(pulse.phase), a * libm::sin(pulse.phase), a * pulse.frequency];
            let sums = waves.entry(*node).or_default();
            sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
        }
        if dropped || depth == params.max_depth {
            return (waves, budget - left, dropped);
        }
        level.sort_by_key(|(node, _)| *node);
        let mut arrivals: BTreeMap<NodeId, Vec<(NodeId, Pulse)>> = BTreeMap::new();
        for (sender, pulse) in &level {
            let fan = 1.0 / graph.out_strength(*sender).max(1.0);
            for slot in graph.slots(*sender).filter(|slot| !graph.kind(*slot).inhibitory) {
                let (target, signal) =
                    (graph.target(slot), pulse.amplitude * params.decay.get() * fan * graph.weight(slot));
                if signal > params.threshold && !pulse.path.contains(&target) {
                    let mut path = pulse.path.clone();
                    path.push(*sender);
                    let path = path.split_off(path.len().saturating_sub(3));
                    let phase = pulse.phase + 2.0 * std::f64::consts::PI * pulse.frequency / 16.0;
                    let one = Pulse { amplitude: signal, phase, frequency: pulse.frequency, path };
                    arrivals.entry(target).or_default().push((*sender, one));
                }
            }
        }
        let merged = |(node, all): (NodeId, Vec<(NodeId, Pulse)>)| {
            let sum = |part: fn(&Pulse) -> f64| -> f64 {
                all.iter().map(|(_, one)| f64::from(one.amplitude) * part(one)).sum()
            };
            let (real, imaginary) = (sum(|one| libm::cos(one.phase)), sum(|one| libm::sin(one.phase)));
            let (total, degree) = (sum(|_| 1.0), f64::from(graph.degree(node)));
            let frequency = sum(|one| one.frequency) / total;
            let pull = if degree > 0.0 { degree / (degree + graph.mean_degree()) } else { 0.0 };
            let strongest = all.iter().min_by(|(a, x), (b, y)| {
                y.amplitude.total_cmp(&x.amplitude).then_with(|| name(*a).cmp(name(*b)))
            });
            let pulse = Pulse {
                amplitude: total.min(16.0) as f32,
                phase: libm::atan2(imaginary, real),
                frequency: frequency + (2.35 - frequency) * pull,
                path: strongest.unwrap().1.path.clone(),
            };
            (node, pulse)
        };
        level = arrivals.into_iter().map(merged).collect();
    }
    unreachable!("the last level returns")
}

/// Each node with its neighbours and itself.
fn neighbourhoods(graph: &Graph) -> BTreeMap<NodeId, BTreeSet<NodeId>> {
    let mut all: BTreeMap<NodeId, BTreeSet<NodeId>> =
        graph.nodes().map(|node| (node, BTreeSet::from([node]))).collect();
    for source in graph.nodes() {
        for target in graph.slots(source).map(|slot| graph.target(slot)) {
            all.entry(source).or_default().insert(target);
            all.entry(target).or_default().insert(source);
        }
    }
    all
}

/// Anti-seeds by their definition.
fn opposed(graph: &Graph, seeds: &[NodeId]) -> Vec<NodeId> {
    let near = neighbourhoods(graph);
    let mut names: Vec<&str> = seeds.iter().map(|seed| graph.external_id(*seed)).collect();
    names.sort_unstable();
    let mut h = 0;
    for byte in names.iter().flat_map(|name| name.bytes().chain([0xFF])) {
        h = mixed(h ^ u64::from(byte));
    }
    let mut drawn: Vec<NodeId> = graph.nodes().collect();
    if drawn.len() <= 1_024 {
        drawn.sort_by_key(|node| (mixed(h ^ stable_hash(graph, *node)), graph.external_id(*node)));
    } else {
        let place = |k: u64| (u128::from(mixed(h.wrapping_add(k))) * graph.node_count() as u128) >> 64;
        drawn = (0..1_024).map(|k| NodeId(u32::try_from(place(k)).unwrap())).collect();
    }
    let degree = |node: &NodeId| near[node].len() as f64 - 1.0;
    let mean = seeds.iter().map(degree).sum::<f64>() / seeds.len() as f64;
    let mut chosen: Vec<NodeId> = Vec::new();
    for node in drawn {
        let like = if mean > 0.0 {
            (0.3 - 1e-12..=1.0 / 0.3 + 1e-12).contains(&(degree(&node) / mean))
        } else {
            degree(&node) < 0.5
        };
        let other = |seed: &NodeId| {
            let both = near[&node].intersection(&near[seed]).count() as f64;
            let either = near[&node].union(&near[seed]).count() as f64;
            !near[seed].contains(&node) && both / either < 0.2
        };
        if like && !chosen.contains(&node) && seeds.iter().all(other) && chosen.len() < 3 {
            chosen.push(node);
        }
    }
    chosen.sort_by_key(|node| graph.external_id(*node));
    chosen
}

/// All fields by their definition: node, hot, cold, then the derived values.
struct Wanted {
    fields: Vec<(NodeId, f32, f32, [f64; 4], bool)>,
    anti_seeds: Vec<NodeId>,
    pulses: usize,
    flags: Flags,
}

#[expect(clippy::cast_possible_truncation, reason = "amplitudes are rounded once, as in the definition")]
fn wanted(graph: &Graph, seeds: &BTreeMap<NodeId, f32>, params: &ActivationConfig, budget: u32) -> Wanted {
    let most = seeds.values().copied().fold(0.0, f32::max);
    let scores: Vec<(NodeId, f32)> = seeds.iter().map(|(node, score)| (*node, score / most)).collect();
    let names: Vec<NodeId> = seeds.keys().copied().collect();
    let anti_seeds = opposed(graph, &names);
    let total: f64 = scores.iter().map(|(_, score)| f64::from(*score)).sum();
    let share = (total / anti_seeds.len().max(1) as f64) as f32;
    let against: Vec<(NodeId, f32)> = anti_seeds.iter().map(|node| (*node, share)).collect();
    let half = (budget / 2) as usize;
    let (hot, pulses, cut) = wave(graph, params, &scores, 1.0, half);
    let (cold, pulses_cold, cut_cold) = wave(graph, params, &against, 3.7, half);
    let near = neighbourhoods(graph);
    let grown = |of: &BTreeSet<NodeId>| -> BTreeSet<NodeId> {
        of.iter().flat_map(|node| near[node].iter().copied()).collect()
    };
    let immune = grown(&grown(&names.iter().copied().collect()));
    let scale = hot.values().map(|sums| sums[0]).fold(1.0, f64::max);
    // Self-loops alone make no pair.
    let mean = graph.mean_degree().max(f64::MIN_POSITIVE);
    let made = |suppresses: bool| -> Vec<_> {
        let field = |(node, [a, x, y, f]): (&NodeId, &[f64; 4])| {
            let [b, u, v, g] = cold.get(node).copied().unwrap_or([0.0, 1.0, 0.0, 0.0]);
            let met = b > 0.0;
            let apart = if met { f / a - g / b } else { f64::INFINITY };
            let turned = libm::atan2(*y, *x) - libm::atan2(v, u);
            let overlap = libm::exp(-apart * apart / (2.0 * 0.8 * 0.8)) * (1.0 + libm::cos(turned)) / 2.0;
            let density = (f64::from(graph.degree(*node)) / mean).clamp(0.3, 2.0);
            let spared = immune.contains(node) || !suppresses;
            let net = (a - if spared { 0.0 } else { overlap * density * b }) / scale;
            let gate = (2.0 / (1.0 + libm::exp(-6.0 * net)) - 1.0).max(0.0);
            (*node, *a as f32, b as f32, [overlap, density, net, gate], met && immune.contains(node))
        };
        hot.iter().map(field).collect()
    };
    let mut fields = made(true);
    let over = !fields.is_empty() && !anti_seeds.is_empty() && fields.iter().all(|field| field.3[3] <= 0.01);
    if over {
        fields = made(false);
    }
    let flags = Flags::default()
        .with(Flag::XlrTruncated, cut || cut_cold)
        .with(Flag::XlrOverCancelled, over)
        .with(Flag::XlrNoAntiSeeds, anti_seeds.is_empty());
    Wanted { fields, anti_seeds, pulses: pulses + pulses_cold, flags }
}

/// Thirty nodes, few enough edges for some to be far from others, and none, a tenth or half of them inhibiting.
fn sample() -> impl Strategy<Value = (Vec<Edge>, Vec<(u32, f32)>)> {
    (0..3_usize).prop_flat_map(|share| {
        let tenths = [0_u8, 1, 5][share];
        let edge = (0..30_u32, 0..30_u32, 1..250_u16, 0..10_u8)
            .prop_map(move |(a, b, weight, roll)| (a, b, f32::from(weight) / 80.0, roll < tenths));
        let seeds = proptest::collection::vec((0..30_u32, 0.01_f32..1.0), 1..4);
        (proptest::collection::vec(edge, 1..70), seeds)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn xlr_oracle(
        (edges, scores) in sample(),
        learned in proptest::collection::vec((any::<u16>(), 0.05_f32..3.0), 0..6),
        depth in 1..=5_u8,
        budget in prop_oneof![Just(XLR_PULSE_BUDGET), Just(1_u32), 2..60_u32],
    ) {
        let graph = graph(30, &edges);
        let row = |node: NodeId| graph.slots(node).map(move |slot| (node, slot));
        let slots: Vec<_> = graph.nodes().flat_map(row).collect();
        for (slot, weight) in learned {
            let (node, slot) = slots[usize::from(slot) % slots.len()];
            graph.write_weight(node, slot, weight).unwrap();
        }
        let seeds = seeds(&graph, &scores);
        let params = ActivationConfig { max_depth: depth, ..RULE };
        let mut distinct: BTreeMap<NodeId, f32> = BTreeMap::new();
        for (node, score) in &seeds {
            let held = distinct.entry(*node).or_default();
            *held = held.max(*score);
        }
        let wanted = wanted(&graph, &distinct, &params, budget);
        let mut scratch = Scratch::default();
        let found = asked(&graph, &seeds, &params, budget, &mut scratch);
        // With the same scratch again: data left by one query would change the next.
        prop_assert_eq!(&asked(&graph, &seeds, &params, budget, &mut scratch), &found);
        prop_assert_eq!(&found.anti_seeds, &wanted.anti_seeds);
        prop_assert_eq!(found.pulses, wanted.pulses as u64);
        prop_assert_eq!(found.flags, wanted.flags);
        prop_assert_eq!(found.nodes.len(), wanted.fields.len());
        for (field, (node, hot, cold, rest, immune)) in found.nodes.iter().zip(&wanted.fields) {
            prop_assert_eq!(field.node, *node);
            prop_assert_eq!(field.hot.to_bits(), hot.to_bits());
            prop_assert_eq!(field.cold.to_bits(), cold.to_bits());
            prop_assert_eq!(field.immune, *immune);
            for (got, want) in [field.overlap, field.density, field.net, field.gate].iter().zip(rest) {
                prop_assert!((f64::from(*got) - want).abs() < 1e-5, "{field:?} {rest:?}");
            }
        }
    }
}

proptest! {
    #[test]
    fn xlr_order_free((edges, scores) in sample()) {
        let said = |backwards: bool| {
            let graph = built(30, &edges, 3.0, backwards);
            let mut scores = scores.clone();
            if backwards {
                scores.reverse();
            }
            let found = simply(&graph, &scores);
            let name = |node: NodeId| graph.external_id(node).to_owned();
            let field = |field: &Contrast| {
                let all = [field.hot, field.cold, field.overlap, field.density, field.net, field.gate];
                (name(field.node), all.map(f32::to_bits), field.immune)
            };
            let fields: BTreeSet<_> = found.nodes.iter().map(field).collect();
            let against: Vec<String> = found.anti_seeds.iter().map(|node| name(*node)).collect();
            (fields, against, found.flags, found.pulses)
        };
        prop_assert_eq!(said(false), said(true));
    }
}

#[track_caller]
fn near(got: f64, want: f64) {
    assert!((got - want).abs() < 1e-6, "{got} is not {want}");
}

#[test]
fn example_4_2a() {
    near(gate(0.0), 0.0);
    near(gate(0.04), 0.119_427);
    near(gate(-0.2), 0.0);
    near(gate(1.0), 0.995_055);
    assert_eq!(gate(-1e300).to_bits(), 0);
}

#[test]
fn example_4_2b() {
    let (hot, cold) = (Wave::source(1.7), Wave::source(2.5));
    let overlap = overlap(&hot, &cold);
    near(overlap, 0.606_531);
    let taken = overlap * density(7, 7.0) * 0.3;
    near(taken, 0.181_959);
    near(0.5 - taken, 0.318_041);
    near(gate(0.5 - taken), 0.741_644);
    near(gate(0.5), 0.905_148);
}

#[test]
fn example_4_2c() {
    let hop = |wave: Wave, pull: f64| wave.advanced().pulled(pull);
    let [hot, cold] = [F_HOT, F_COLD].map(Wave::source);
    let [hot_1, cold_1] = [hot, cold].map(|wave| hop(wave, 0.5));
    let [hot_2, cold_2] = [hot_1, cold_1].map(|wave| hop(wave, 0.5));
    let frequencies = [hot_1, hot_2, cold_1, cold_2].map(|wave| wave.frequency);
    frequencies.iter().zip([1.675, 2.0125, 3.025, 2.6875]).for_each(|(got, want)| near(*got, want));
    let turned = libm::atan2(hot_2.y, hot_2.x) - libm::atan2(cold_2.y, cold_2.x);
    near(libm::cos(turned), libm::cos(-1.590_431));
    near(libm::sin(turned), libm::sin(-1.590_431));
    near(overlap(&hot_2, &cold_2), 0.343_375);
    let taken = overlap(&hot_2, &cold_2) * density(3, 2.0) * 0.4;
    near(taken, 0.206_025);
    near(0.3 - taken, 0.093_975);
    near(gate(0.3 - taken), 0.274_686);
    // The overlap of waves in phase.
    let alike = |hot: Wave, cold: Wave| {
        let in_step = |wave: Wave| Wave { x: 1.0, y: 0.0, ..wave };
        overlap(&in_step(hot), &in_step(cold))
    };
    near(alike(hot_2, cold_2), 0.700_503);
    near(alike(hot_1, cold_1), 0.240_790);
    near(alike(hop(hot, 0.9), hop(cold, 0.9)), 0.944_638);
    near(alike(hot, cold), 0.003_362);
    near(density(0, 0.0), 0.3);
    near(density(9, 2.0), 2.0);
}

/// Two paths from 0 over 1 and 2: to 5 over 3, a hub if it has leaves, on the path from 7 too; and to 6 over 4, not
/// shared. 0 and 7 have eleven leaves each, so that 7 is the only possible anti-seed of 0.
fn contrasted(leaves: u32) -> Graph {
    let ways = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 0.9), (2, 4, 0.6), (3, 5, 1.0), (4, 6, 1.0), (7, 3, 1.0)];
    let mut edges: Vec<Edge> = ways.map(|(a, b, weight)| (a, b, weight, false)).to_vec();
    let mut next = 8;
    for (to, count) in [(0, 11), (7, 11), (3, leaves)] {
        edges.extend((next..next + count).map(|leaf| (leaf, to, 0.5, false)));
        next += count;
    }
    graph(next, &edges)
}

#[test]
fn xlr_overlap_is_live() {
    let held = contrasted(80);
    let found = simply(&held, &[(0, 1.0)]);
    assert_eq!(found.anti_seeds, [node(&held, 7)]);
    assert_eq!(found.flags, Flags::default());
    let [hub, shared, alone] = [3, 5, 6].map(|number| of(&held, &found, number));
    for (field, want) in [
        (hub, [0.099_825, 0.55, 0.956_178, 2.0, -0.951_971, 0.0]),
        (shared, [0.054_904, 0.3025, 0.959_716, 0.504_587, -0.091_585, 0.0]),
        (alone, [0.036_603, 0.0, 0.0, 0.504_587, 0.036_603, 0.109_368]),
    ] {
        let got = [field.hot, field.cold, field.overlap, field.density, field.net, field.gate];
        got.iter().zip(want).for_each(|(got, want)| near(f64::from(*got), want));
        assert!(!field.immune);
    }
    // By activation the shared node comes first; with contrast it does not.
    let activated = wavefront::activate(
        &held,
        &seeds(&held, &[(0, 1.0)]),
        &RULE,
        usize::MAX,
        &mut scratch::Scratch::default(),
    );
    let value = |number: u32| {
        activated.nodes.iter().find(|activated| activated.node == node(&held, number)).unwrap().value
    };
    assert!(value(5) > value(6));
    let gated = |number: u32| value(number) * found.gate(node(&held, number)).unwrap();
    assert!(gated(5) < gated(6));
    assert_eq!(found.gate(node(&held, 7)), None);
    // The hub makes the frequencies agree.
    let plain = contrasted(0);
    let without = simply(&plain, &[(0, 1.0)]);
    near(f64::from(of(&plain, &without, 3).overlap), 0.700_450);
}

#[test]
fn xlr_over_cancelled() {
    let held = contrasted(80);
    // Scores that are not normalised, and so small that every gate is closed.
    let params = ActivationConfig { normalised: false, ..RULE };
    let seeds = seeds(&held, &[(0, 0.003)]);
    let found = asked(&held, &seeds, &params, XLR_PULSE_BUDGET, &mut Scratch::default());
    assert_eq!(found.flags, Flags::default().with(Flag::XlrOverCancelled, true));
    assert!(of(&held, &found, 5).cold > of(&held, &found, 5).hot);
    for field in &found.nodes {
        assert_eq!(field.net.to_bits(), field.hot.to_bits(), "nothing is suppressed: {field:?}");
        assert!(field.gate > 0.0);
    }
}

#[test]
fn a_graph_without_others_is_not_suppressed() {
    let full: Vec<Edge> =
        (0..12).flat_map(|a| (0..12).filter(move |b| *b != a).map(move |b| (a, b, 0.5, false))).collect();
    let triangle = vec![(0, 1, 1.0, false), (1, 2, 1.0, false), (2, 0, 1.0, false)];
    for (nodes, edges) in [(12, full), (3, triangle), (1, Vec::new())] {
        let graph = graph(nodes, &edges);
        let found = simply(&graph, &[(0, 0.5)]);
        assert_eq!(found.flags, Flags::default().with(Flag::XlrNoAntiSeeds, true));
        assert!(found.anti_seeds.is_empty());
        assert_eq!(found.nodes.len(), nodes as usize);
        let untouched = |field: &Contrast| field.gate > 0.0 && field.cold.to_bits() == 0 && !field.immune;
        assert!(found.nodes.iter().all(untouched));
    }
    let bare = graph(3, &[]);
    let graph = graph(3, &[(0, 1, 1.0, false)]);
    for nothing in [f32::NAN, f32::INFINITY, -1.0, 0.0, -0.0] {
        assert_eq!(simply(&graph, &[(0, nothing)]), XlrResult::default());
    }
    assert_eq!(simply(&graph, &[]), XlrResult::default());
    assert_eq!(simply(&built(0, &[], 3.0, false), &[]), XlrResult::default());
    // A node without neighbours is contrasted with other such nodes.
    assert!(simply(&graph, &[(2, 1.0)]).anti_seeds.is_empty());
    assert_eq!(simply(&bare, &[(2, 1.0)]).anti_seeds.len(), 2);
}

/// A node for each count, with that number of leaves.
fn stars(leaves: &[u32]) -> Graph {
    let mut next = u32::try_from(leaves.len()).unwrap();
    let mut edges: Vec<Edge> = Vec::new();
    for (star, count) in (0..).zip(leaves) {
        edges.extend((next..next + count).map(|leaf| (leaf, star, 0.5, false)));
        next += count;
    }
    graph(next, &edges)
}

#[test]
fn xlr_band_edges() {
    // Degrees of seeds, then of the only candidate, and whether it is accepted.
    let cases: [(&[u32], u32, bool); 6] = [
        (&[10], 3, true),
        (&[10], 2, false),
        (&[30], 100, true),
        (&[30], 101, false),
        (&[10, 30], 6, true),
        (&[10, 30], 5, false),
    ];
    for (degrees, candidate, does) in cases {
        let held = stars(&[degrees, &[candidate]].concat());
        let scores: Vec<(u32, f32)> = (0..).zip(degrees).map(|(star, _)| (star, 1.0)).collect();
        let found = simply(&held, &scores);
        let number = u32::try_from(degrees.len()).unwrap();
        let wanted = if does { vec![node(&held, number)] } else { Vec::new() };
        assert_eq!(found.anti_seeds, wanted, "{degrees:?} {candidate}");
        assert_eq!(found.flags.contains(Flag::XlrNoAntiSeeds), !does);
    }
}

#[test]
fn similar_neighbourhoods_are_refused_from_a_fifth_on() {
    // 2 is joined to both. With it they share one node of five, and with another leaf one of six.
    let fifth: Vec<Edge> = [(2, 0), (3, 0), (2, 1), (4, 1)].map(|(a, b)| (a, b, 0.5, false)).to_vec();
    let held = graph(5, &fifth);
    assert_eq!(simply(&held, &[(0, 1.0)]).anti_seeds, [node(&held, 4)]);
    let mut sixth = fifth;
    sixth.push((1, 5, 0.5, false));
    let held = graph(6, &sixth);
    assert_eq!(simply(&held, &[(0, 1.0)]).anti_seeds, [1, 4, 5].map(|number| node(&held, number)));
}

#[test]
fn large_graphs_are_sampled() {
    let edges: Vec<Edge> = (0..1_500_u32)
        .flat_map(|n| [(n, (n * 7 + 1) % 1_500), (n, (n * 31 + 5) % 1_500), (n, n % 3 * 40)])
        .map(|(a, b)| (a, b, 0.5, false))
        .collect();
    let held = graph(1_500, &edges);
    let mut all = BTreeSet::new();
    // 0, 40 and 80 have five hundred neighbours each.
    for numbers in [&[7][..], &[7, 900], &[40], &[40, 7], &[1_313]] {
        let scores: Vec<(u32, f32)> = numbers.iter().map(|number| (*number, 1.0)).collect();
        let found = simply(&held, &scores);
        let names: Vec<NodeId> = numbers.iter().map(|number| node(&held, *number)).collect();
        assert_eq!(found.anti_seeds, opposed(&held, &names), "{numbers:?}");
        all.insert(found.anti_seeds);
    }
    assert!(all.len() >= 4, "each query has its own: {all:?}");
}

#[test]
fn xlr_budget() {
    let star: Vec<Edge> = (1..=10_u8).map(|n| (0, u32::from(n), f32::from(n) / 10.0, false)).collect();
    let even: Vec<Edge> = (1..=10).map(|n| (0, n, 0.5, false)).collect();
    let reached = |edges: &[Edge], budget: u32| {
        let graph = graph(11, edges);
        let seeds = seeds(&graph, &[(0, 1.0)]);
        let found = asked(&graph, &seeds, &RULE, budget, &mut Scratch::default());
        let ids: BTreeSet<String> =
            found.nodes.iter().map(|field| graph.external_id(field.node)[3..].to_owned()).collect();
        assert_eq!(found.pulses, ids.len() as u64);
        (ids.into_iter().collect::<Vec<_>>().join(" "), found.flags.contains(Flag::XlrTruncated))
    };
    for nothing in [0, 1] {
        assert_eq!(reached(&star, nothing), (String::new(), true));
    }
    assert_eq!(reached(&star, 2), ("00".to_owned(), true));
    assert_eq!(reached(&star, 9), ("00 08 09 10".to_owned(), true));
    assert_eq!(reached(&even, 8), ("00 01 02 03".to_owned(), true));
    assert!(!reached(&even, 22).1, "exactly the budget");
    assert_eq!(reached(&even[..1], 4), ("00 01".to_owned(), false));
    assert_eq!(reached(&even[..1], 3), ("00".to_owned(), true));
}

#[test]
fn a_pulse_does_not_go_back_where_it_was() {
    let ring =
        |length: u32| -> Vec<Edge> { (0..length).map(|n| (n, (n + 1) % length, 1.0, false)).collect() };
    let hot = |nodes: u32, edges: &[Edge]| {
        let graph = graph(nodes, edges);
        f64::from(of(&graph, &simply(&graph, &[(0, 1.0)]), 0).hot)
    };
    for length in [2, 3, 4] {
        near(hot(length, &ring(length)), 1.0);
    }
    near(hot(5, &ring(5)), 1.0 + libm::pow(0.55, 5.0));
    // A self-loop is followed once.
    near(hot(1, &[(0, 0, 1.0, false)]), 1.55);
    // Inhibitory slots are not followed, and not counted in the fan-out.
    near(hot(3, &[(0, 2, 3.0, true), (2, 0, 1.0, false)]), 1.0);
    let held = graph(3, &[(0, 2, 3.0, true), (0, 1, 1.0, false)]);
    let found = simply(&held, &[(0, 1.0)]);
    assert_eq!(found.gate(node(&held, 2)), None);
    near(f64::from(of(&held, &found, 1).hot), 0.55);
}

#[test]
fn xlr_stays_bounded() {
    // Learned slots of weight 16 lead from hub to hub, each of which has fifty leaves. 306 has other neighbours
    // than all of these, and leads to a hub as well. 309 is three steps from the nearest leaf.
    let mut edges: Vec<Edge> = (0..5).map(|n| (n, n + 1, 0.05, false)).collect();
    edges.extend((6..306).map(|leaf| (leaf, leaf % 6, 16.0, false)));
    let others = [(306, 307, 16.0), (307, 3, 16.0), (5, 308, 1.0), (308, 309, 1.0)];
    edges.extend(others.map(|(a, b, weight)| (a, b, weight, false)));
    let held = built(310, &edges, 16.0, false);
    for hub in (0..5).map(|number| node(&held, number)) {
        for slot in held.slots(hub) {
            held.write_weight(hub, slot, 16.0).unwrap();
        }
    }
    // The sum that reaches a hub from all its seeds at once exceeds the limit of a pulse.
    let scores: Vec<(u32, f32)> = (6..206).map(|leaf| (leaf, 1.0)).collect();
    let begun = seeds(&held, &scores);
    for max_depth in [5, 20] {
        let params = ActivationConfig { max_depth, ..RULE };
        let found = asked(&held, &begun, &params, XLR_PULSE_BUDGET, &mut Scratch::default());
        assert_eq!(found.anti_seeds, [306, 309].map(|number| node(&held, number)));
        let most = found.nodes.iter().map(|field| field.hot).fold(0.0, f32::max);
        assert!((16.0..=16.0 * 20.0).contains(&most), "{most}");
        let far = of(&held, &found, 309);
        assert!(!far.immune && far.cold >= 100.0 && far.overlap > 0.0, "{far:?}");
        assert!(of(&held, &found, 4).immune);
    }
}

#[test]
fn seeds_that_the_graph_does_not_have_are_ignored() {
    let graph = graph(4, &[(0, 1, 1.0, false), (2, 3, 1.0, false)]);
    let known = seeds(&graph, &[(0, 1.0)]);
    let all = [known.clone(), vec![(NodeId(4), 1.0), (NodeId(u32::MAX), 1.0)]].concat();
    let of = |seeds| asked(&graph, seeds, &RULE, XLR_PULSE_BUDGET, &mut Scratch::default());
    assert_eq!(of(&all), of(&known));
    assert_eq!(of(&all[1..]), XlrResult::default());
}
