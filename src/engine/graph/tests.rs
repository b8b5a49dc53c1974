//! The graph against a simple model: a map from source, relation and target to a slot.

use super::builder::{Batch, EdgeRow, GraphBuilder, Link, Links, WeightRange};
use super::columns::NodeRow;
use super::csr::{BOUND_BLOCK, SlotKind, weight_of};
use super::index::{EdgeIdx, NodeId};
use super::kinds::{EdgeDirection, Kinds, NodeType};
use super::provenance::Provenance;
use super::{Error, Graph, Lineage};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Content of a graph: nodes by external id, and edges.
#[derive(Debug, Clone, Default)]
pub(super) struct Content {
    pub(super) nodes: Vec<NodeRow>,
    pub(super) edges: Vec<EdgeRow>,
}

pub(super) fn build(content: &Content) -> Graph {
    let mut builder = GraphBuilder::default();
    for node in &content.nodes {
        builder.add_node(node.clone()).unwrap();
    }
    for edge in &content.edges {
        builder.add_edge(edge).unwrap();
    }
    builder.finalize().unwrap()
}

fn node(n: u32) -> NodeRow {
    NodeRow {
        tags: (0..n % 9).map(|tag| format!("tag {tag}")).collect(),
        last_modified: (!n.is_multiple_of(3)).then_some(i64::from(n) * 1_000),
        session: n.is_multiple_of(2).then(|| format!("s{}", n % 4)),
        provenance: Provenance {
            source_path: (n % 3 == 1).then(|| format!("src/{}.rs", n % 4)),
            namespace: n.is_multiple_of(4).then(|| format!("s{}", n % 8)),
            line_start: (n % 3 == 1).then_some(n),
            ..Provenance::default()
        },
        ..NodeRow::new(format!("n{n}"), format!("label {}", n % 5), NodeType::MEMORY)
    }
}

const RELATIONS: [&str; 5] = ["CALLS", "HALL", "SUPERSEDES", "MENTIONS", "CAUSED_BY"];

fn edge((source, target, relation, weight, both): (u32, u32, usize, u8, bool)) -> EdgeRow {
    let relation = RELATIONS[relation % RELATIONS.len()];
    EdgeRow {
        source: format!("n{source}"),
        target: format!("n{target}"),
        relation: relation.to_owned(),
        weight: f32::from(weight) / 64.0,
        direction: if both { EdgeDirection::Bidirectional } else { EdgeDirection::Forward },
        inhibitory: relation == "SUPERSEDES",
        causal: (weight % 16 == 7).then_some([0.25, 0.75]),
    }
}

pub(super) fn content(nodes: u32, edges: usize) -> impl Strategy<Value = Content> {
    let edges = proptest::collection::vec(
        (0..nodes, 0..nodes, 0..RELATIONS.len(), any::<u8>(), any::<bool>()),
        0..edges,
    );
    edges.prop_map(move |edges| Content {
        nodes: (0..nodes).map(node).collect(),
        edges: edges.into_iter().map(edge).collect(),
    })
}

/// The whole of a graph as text: equal texts are equal arrays.
pub(super) fn arrays(graph: &Graph) -> String {
    let Graph { generation: _, range, kinds: _, csr, columns, identity: _, lineage: _ } = graph;
    let strings: Vec<&str> = columns.strings.iter().collect();
    let columns = (
        (&columns.pagerank, &columns.out_strength, &columns.degree, &columns.rank, &columns.by_rank),
        (&columns.in_strength, &columns.external_id, &columns.label, &columns.node_type, &columns.tags),
        (&columns.last_modified, &columns.change_frequency, &columns.tier, &columns.session),
        (&columns.partial, &columns.origin, strings),
    );
    format!("{range:?} {csr:?} {columns:?}")
}

type Model = BTreeMap<(String, String, String), (u32, bool, bool)>;

/// Slots by source, relation and target: weight bits, polarity, direction. Of equal ones the heaviest, then the one
/// that comes first by direction.
fn model(content: &Content) -> Model {
    let mut slots: Model = BTreeMap::new();
    for edge in &content.edges {
        let weight = edge.weight.min(3.0).to_bits();
        let both = edge.direction == EdgeDirection::Bidirectional;
        let ways = [(&edge.source, &edge.target), (&edge.target, &edge.source)];
        for (source, target) in ways.into_iter().take(1 + usize::from(both && edge.source != edge.target)) {
            let key = (source.clone(), edge.relation.clone(), target.clone());
            let slot = (weight, edge.inhibitory, both);
            let held = slots.entry(key).or_insert(slot);
            if slot.0 > held.0 || slot.0 == held.0 && !slot.2 {
                *held = slot;
            }
        }
    }
    slots
}

fn read(graph: &Graph) -> Model {
    let slot = |source: NodeId, slot: EdgeIdx| {
        let kind = graph.kind(slot);
        let key = [graph.external_id(source), &kind.relation, graph.external_id(graph.target(slot))]
            .map(str::to_owned);
        let both = kind.direction == EdgeDirection::Bidirectional;
        (key.into(), (graph.base(slot).to_bits(), kind.inhibitory, both))
    };
    graph.nodes().flat_map(|source| graph.slots(source).map(move |of| slot(source, of))).collect()
}

fn check_bounds(graph: &Graph) {
    for node in graph.nodes() {
        for part in [graph.excitatory(node), graph.inhibitory(node)] {
            assert_eq!(part.bounds.len(), part.targets.len().div_ceil(BOUND_BLOCK));
            for (block, bound) in part.bounds.iter().enumerate() {
                for weight in &part.weights[block * BOUND_BLOCK..] {
                    assert!(
                        weight_of(weight) <= weight_of(bound) && weight_of(bound) <= graph.weight_bound()
                    );
                }
            }
        }
    }
}

fn check_shape(graph: &Graph) {
    let mut pairs: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
    let mut back: BTreeMap<NodeId, Vec<(NodeId, EdgeIdx)>> = BTreeMap::new();
    for source in graph.nodes() {
        let key = |slot: &EdgeIdx| {
            let kind = graph.kind(*slot);
            let descending = std::cmp::Reverse(graph.base(*slot).to_bits());
            (kind.inhibitory, descending, graph.target(*slot), kind.relation.clone())
        };
        assert!(graph.slots(source).is_sorted_by_key(|slot| key(&slot)));
        for slot in graph.slots(source) {
            let target = graph.target(slot);
            back.entry(target).or_default().push((source, slot));
            if source != target {
                pairs.entry(source).or_default().insert(target);
                pairs.entry(target).or_default().insert(source);
            }
        }
    }
    let mut last = None;
    for node in graph.nodes() {
        assert_eq!(graph.incoming(node).collect::<Vec<_>>(), back.remove(&node).unwrap_or_default());
        assert_eq!(graph.degree(node) as usize, pairs.get(&node).map_or(0, BTreeSet::len));
        assert_eq!(graph.find(graph.external_id(node)), Some(node));
        let place = (std::cmp::Reverse(graph.degree(node)), graph.external_id(node).to_owned());
        assert!(last.replace(place.clone()).is_none_or(|last| last < place));
    }
    let ids: Vec<&str> = graph.by_rank().map(|node| graph.external_id(node)).collect();
    assert!(ids.is_sorted() && ids.len() == graph.node_count());
}

proptest! {
    #[test]
    fn csr_model(content in content(12, 60)) {
        let graph = build(&content);
        prop_assert_eq!(read(&graph), model(&content));
    }

    #[test]
    fn csr_transpose(content in content(12, 60)) {
        let graph = build(&content);
        check_shape(&graph);
        check_bounds(&graph);
    }

    #[test]
    fn build_order_free(content in content(10, 50), seed: u64) {
        let mut shuffled = content.clone();
        let mut state = seed;
        let mut turn = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(state >> 33).unwrap() % n
        };
        for at in (1..shuffled.nodes.len()).rev() {
            shuffled.nodes.swap(at, turn(at + 1));
        }
        for at in (1..shuffled.edges.len()).rev() {
            shuffled.edges.swap(at, turn(at + 1));
        }
        prop_assert_eq!(arrays(&build(&content)), arrays(&build(&shuffled)));
    }

    #[test]
    fn bounds_hold(content in content(8, 120), writes in proptest::collection::vec((any::<u16>(), 0.0_f32..4.0), 0..80)) {
        let graph = build(&content);
        for (slot, weight) in writes {
            if graph.slot_count() == 0 {
                break;
            }
            let slot = EdgeIdx(u32::from(slot) % u32::try_from(graph.slot_count()).unwrap());
            let source = graph.nodes().find(|node| graph.slots(*node).any(|of| of == slot)).unwrap();
            graph.write_weight(source, slot, weight).unwrap();
            prop_assert_eq!(graph.weight(slot).to_bits(), weight.clamp(0.05, 3.0).to_bits());
            prop_assert!(graph.excitatory(source).learned);
        }
        check_bounds(&graph);
    }
}

/// One random batch of changes.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) batch: Batch,
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    steps_of(14, 8)
}

/// Steps that add and remove some of these nodes, with fewer than `edges` edges in each.
fn steps_of(nodes: u32, edges: usize) -> impl Strategy<Value = Vec<Step>> {
    let edges = move || {
        let edge = (0..nodes, 0..nodes, 0..RELATIONS.len(), any::<u8>(), any::<bool>());
        proptest::collection::vec(edge, 0..edges)
    };
    let step = (
        proptest::collection::vec(0..nodes, 0..3),
        proptest::collection::vec(0..nodes, 0..3),
        edges(),
        edges(),
    );
    let step = step.prop_map(|(gone, fresh, cut, set)| {
        let triple = |edge: EdgeRow| (edge.source, edge.relation, edge.target);
        Step {
            batch: Batch {
                removed_nodes: gone.iter().map(|n| format!("n{n}")).collect(),
                nodes: fresh.into_iter().map(|n| NodeRow { label: format!("new {n}"), ..node(n) }).collect(),
                removed_edges: cut.into_iter().map(|of| triple(edge(of))).collect(),
                edges: set.into_iter().map(edge).collect(),
                links: Vec::new(),
            },
        }
    });
    proptest::collection::vec(step, 1..6)
}

/// Content as input of a builder: every slot as a separate edge.
fn after(graph: &Graph, batch: &mut Batch) -> Content {
    let gone: BTreeSet<&String> = batch.removed_nodes.iter().collect();
    let mut nodes: BTreeMap<String, NodeRow> =
        graph.nodes().map(|node| (graph.external_id(node).to_owned(), graph.row(node))).collect();
    nodes.retain(|id, _| !gone.contains(id));
    for row in &batch.nodes {
        nodes.insert(row.external_id.clone(), row.clone());
    }
    batch.edges.retain(|edge| nodes.contains_key(&edge.source) && nodes.contains_key(&edge.target));
    let mut slots: BTreeMap<(String, String, String), EdgeRow> = BTreeMap::new();
    for source in graph.nodes() {
        for slot in graph.slots(source) {
            let kind = graph.kind(slot);
            let edge = EdgeRow {
                source: graph.external_id(source).to_owned(),
                target: graph.external_id(graph.target(slot)).to_owned(),
                relation: kind.relation.clone(),
                weight: graph.base(slot),
                direction: kind.direction,
                inhibitory: kind.inhibitory,
                causal: Some([graph.causal(slot); 2]),
            };
            slots.insert((edge.source.clone(), edge.relation.clone(), edge.target.clone()), edge);
        }
    }
    slots.retain(|(source, _, target), _| !gone.contains(source) && !gone.contains(target));
    for (source, relation, target) in &batch.removed_edges {
        let removed = slots.get(&(source.clone(), relation.clone(), target.clone())).cloned();
        let also = removed.filter(|edge| edge.direction == EdgeDirection::Bidirectional);
        slots.remove(&(source.clone(), relation.clone(), target.clone()));
        if also.is_some() {
            slots.remove(&(target.clone(), relation.clone(), source.clone()));
        }
    }
    for edge in &batch.edges {
        slots.remove(&(edge.source.clone(), edge.relation.clone(), edge.target.clone()));
        if edge.direction == EdgeDirection::Bidirectional {
            slots.remove(&(edge.target.clone(), edge.relation.clone(), edge.source.clone()));
        }
    }
    // A slot of a bidirectional edge is only itself here: its other half is in the map as well.
    let mut edges: Vec<EdgeRow> = slots.into_values().collect();
    edges.extend(batch.edges.iter().cloned());
    Content { nodes: nodes.into_values().collect(), edges }
}

/// Builds slots unchanged, without adding their second halves.
fn build_slots(content: &Content, both: &[EdgeRow]) -> Graph {
    let mut builder = GraphBuilder::default();
    for node in &content.nodes {
        builder.add_node(node.clone()).unwrap();
    }
    let halves = content.edges.len() - both.len();
    for (at, edge) in content.edges.iter().enumerate() {
        if at < halves {
            builder.add_slot(edge).unwrap();
        } else {
            builder.add_edge(edge).unwrap();
        }
    }
    builder.finalize().unwrap()
}

proptest! {
    #[test]
    fn apply_equals_build(content in content(12, 50), steps in steps()) {
        check_steps(&content, steps);
    }

    #[test]
    fn apply_equals_build_with_strengths_of_kinds(mut content in content(4, 20), mut steps in steps_of(4, 20)) {
        content.edges.iter_mut().for_each(give_strengths_of_kind);
        steps.iter_mut().flat_map(|step| &mut step.batch.edges).for_each(give_strengths_of_kind);
        check_steps(&content, steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Rows of many slots, of equal weights and to the same targets by several relations among them.
    #[test]
    fn apply_equals_build_where_rows_are_long(content in content(60, 6_000), steps in steps_of(64, 400)) {
        prop_assert_eq!(read(&build(&content)), model(&content));
        check_shape(&build(&content));
        check_steps(&content, steps);
    }
}

/// Gives an edge the causal strengths that its slots have by their kind.
fn give_strengths_of_kind(edge: &mut EdgeRow) {
    let share = Kinds::default().of(&edge.relation).causal_share(edge.direction);
    edge.causal = Some([(edge.weight.min(3.0) * share).min(1.0); 2]);
}

#[test]
fn slots_of_two_kinds_keep_the_greatest_causal_strength() {
    // By its kind, a slot that leads both ways causes nothing.
    let mut both = EdgeRow { weight: 0.7, ..edge((0, 1, 0, 0, true)) };
    give_strengths_of_kind(&mut both);
    assert_eq!(both.causal.map(|causal| causal.map(f32::to_bits)), Some([0; 2]));
    let one_way = EdgeRow { weight: 0.5, ..edge((0, 1, 0, 0, false)) };
    let nodes: Vec<NodeRow> = (0..2).map(node).collect();
    let built = build(&Content { nodes: nodes.clone(), edges: vec![one_way.clone(), both.clone()] });
    let empty = build(&Content { nodes, edges: Vec::new() });
    let applied = empty.apply(&Batch { edges: vec![one_way, both], ..Batch::default() }).unwrap();
    for graph in [&built, &applied] {
        let [source, target] = ["n0", "n1"].map(|id| graph.find(id).unwrap());
        let slot = graph.slot(source, "CALLS", target).unwrap();
        assert_eq!([graph.base(slot), graph.causal(slot)].map(f32::to_bits), [0.7, 0.5].map(f32::to_bits));
    }
    assert_eq!(arrays(&applied), arrays(&built));
}

fn check_steps(content: &Content, steps: Vec<Step>) {
    let mut graph = build(content);
    for Step { mut batch } in steps {
        let content = after(&graph, &mut batch);
        let next = graph.apply(&batch).unwrap();
        let built = build_slots(&content, &batch.edges);
        assert!(arrays(&next) == arrays(&built), "an applied batch equals a build");
        assert_eq!(next.generation(), graph.generation().next());
        check_shape(&next);
        check_lineage(&graph, &next);
        assert!(
            arrays(&graph.apply(&linked(&graph, batch)).unwrap()) == arrays(&next),
            "links are edges by ids"
        );
        check_same_slots(&next);
        graph = next;
    }
}

/// Gives slots of a graph other weights, many of them equal, and nodes other attributes.
fn check_same_slots(graph: &Graph) {
    let slots = graph.nodes().flat_map(|source| graph.slots(source).map(move |slot| (source, slot)));
    let other = |(n, (source, slot)): (usize, (NodeId, EdgeIdx))| {
        let SlotKind { relation, direction, inhibitory, .. } = graph.kind(slot).clone();
        EdgeRow {
            source: graph.external_id(source).to_owned(),
            target: graph.external_id(graph.target(slot)).to_owned(),
            relation,
            weight: [0.25, 0.5, 2.0, graph.base(slot)][n % 4],
            direction,
            inhibitory,
            causal: (n % 5 == 0).then_some([0.5, 0.75]),
        }
    };
    let edges: Vec<EdgeRow> = slots.enumerate().filter(|(n, _)| n % 3 > 0).map(other).collect();
    let nodes = graph.nodes().step_by(2).map(|node| NodeRow {
        tags: vec![format!("a {}", node.0 % 2)],
        session: Some("another".to_owned()),
        ..graph.row(node)
    });
    let relabelled = graph
        .nodes()
        .skip(1)
        .step_by(4)
        .map(|node| NodeRow { label: graph.label(node).repeat(2), ..graph.row(node) });
    for nodes in [Vec::new(), nodes.collect(), relabelled.collect()] {
        for edges in [Vec::new(), edges.clone()] {
            let has_edges = !edges.is_empty();
            let mut batch = Batch { nodes: nodes.clone(), edges, ..Batch::default() };
            let built = build_slots(&after(graph, &mut batch), &batch.edges);
            let next = graph.apply(&linked(graph, batch)).unwrap();
            assert!(arrays(&next) == arrays(&built), "where slots stay, an applied batch equals a build");
            check_lineage(graph, &next);
            assert!(has_edges || Arc::ptr_eq(&next.csr.slots, &graph.csr.slots), "slots are shared");
            // An edge both ways replaces one of another direction.
            assert!(has_edges || next.lineage.unwrap().keeps_slots);
        }
    }
}

/// The same batch with links for edges, where it may have these.
fn linked(graph: &Graph, mut batch: Batch) -> Batch {
    let end = |id: &String| graph.find(id).filter(|_| !batch.removed_nodes.contains(id));
    let mut left = Vec::new();
    for edge in std::mem::take(&mut batch.edges) {
        let (Some(source), Some(target)) = (end(&edge.source), end(&edge.target)) else {
            left.push(edge);
            continue;
        };
        let EdgeRow { relation, direction, inhibitory, weight, causal, .. } = edge;
        let is_same = |links: &&mut Links| {
            (&links.relation, links.direction, links.inhibitory) == (&relation, direction, inhibitory)
        };
        let link = Link { source, target, weight, causal };
        match batch.links.iter_mut().find(is_same) {
            Some(links) => links.list.push(link),
            None => batch.links.push(Links { relation, direction, inhibitory, list: vec![link] }),
        }
    }
    Batch { edges: left, ..batch }
}

/// Whether each node is where the lineage of a graph has it, and nodes that are not given have the attributes they had.
fn check_lineage(before: &Graph, next: &Graph) {
    let lineage = next.lineage.as_ref().unwrap();
    assert!(lineage.is_from(before) && !lineage.is_from(next));
    let mut kept = BTreeSet::new();
    for (node, place) in before.nodes().zip(&lineage.places) {
        let place = NodeId(*place);
        if place.0 != Lineage::REMOVED {
            assert_eq!(before.external_id(node), next.external_id(place));
            assert!(lineage.given.contains(&place) || before.row(node) == next.row(place));
            kept.insert(place);
        }
    }
    assert!(next.nodes().all(|node| kept.contains(&node) || lineage.given.contains(&node)));
    let has_same_ids = before.node_count() == next.node_count()
        && before.nodes().zip(&lineage.places).all(|(node, place)| node.0 == *place);
    assert_eq!(lineage.keeps_ids, has_same_ids);
    // Inhibitory slots may have other places in a row.
    assert!(!lineage.keeps_slots || next.has_inhibition() || next.has_shape_of(before));
}

#[test]
fn a_node_in_the_place_of_a_removed_one_is_another() {
    let graph = build(&Content { nodes: (0..2).map(node).collect(), edges: Vec::new() });
    let batch = Batch { nodes: vec![node(2)], removed_nodes: vec!["n1".to_owned()], ..Batch::default() };
    let next = graph.apply(&batch).unwrap();
    check_lineage(&graph, &next);
    assert!(!next.lineage.unwrap().keeps_ids);
}

#[test]
fn a_link_has_ends_that_stay_and_numbers_in_their_ranges() {
    let graph = build(&Content { nodes: (0..2).map(node).collect(), edges: Vec::new() });
    let ends = ["n0", "n1"].map(|id| graph.find(id).unwrap());
    let applied = |target: NodeId, weight: f32, causal: Option<[f32; 2]>, removed: &[&str]| {
        let link = Link { source: ends[0], target, weight, causal };
        let links = vec![Links { relation: "HALL".to_owned(), list: vec![link], ..Links::default() }];
        let removed_nodes = removed.iter().map(|id| (*id).to_owned()).collect();
        graph.apply(&Batch { links, removed_nodes, ..Batch::default() })
    };
    assert_eq!(applied(ends[1], 0.5, None, &[]).unwrap().slot_count(), 1);
    assert!(matches!(applied(ends[1], 0.5, None, &["n1"]), Err(Error::DanglingEdge { .. })));
    assert!(matches!(applied(NodeId(2), 0.5, None, &[]), Err(Error::DanglingEdge { .. })));
    assert!(matches!(applied(ends[1], f32::NAN, None, &[]), Err(Error::NonFinite { .. })));
    assert!(matches!(applied(ends[1], 0.5, Some([0.5, 1.5]), &[]), Err(Error::ParameterOutOfRange { .. })));
}

proptest! {
    #[test]
    fn a_finder_finds_in_any_order(nodes in 0_u32..40, asked in proptest::collection::vec(0_u32..60, 0..40)) {
        let graph = build(&Content { nodes: (0..nodes).map(node).collect(), edges: Vec::new() });
        let mut finder = graph.finder();
        let mut sorted: Vec<String> = asked.iter().map(|n| format!("n{n}")).collect();
        for id in &sorted {
            prop_assert_eq!(finder.find(id), graph.find(id));
        }
        sorted.sort();
        for id in &sorted {
            prop_assert_eq!(finder.find(id), graph.find(id));
        }
    }
}

#[test]
fn build_bidirectional() {
    let both = |source: &str, target: &str| EdgeRow {
        source: source.to_owned(),
        target: target.to_owned(),
        relation: "HALL".to_owned(),
        weight: 17.0,
        direction: EdgeDirection::Bidirectional,
        inhibitory: false,
        causal: None,
    };
    let content = Content {
        nodes: ["a", "b"].map(|id| NodeRow::new(id, id, NodeType::Concept)).to_vec(),
        edges: vec![both("a", "b"), both("b", "b"), both("b", "a")],
    };
    let graph = build(&content);
    assert_eq!(graph.slot_count(), 3);
    assert!(
        graph
            .nodes()
            .flat_map(|node| graph.slots(node))
            .all(|slot| graph.base(slot).to_bits() == 3.0_f32.to_bits())
    );
}

#[test]
fn a_range_of_weights_may_end_where_the_limits_do() {
    for (floor, cap) in [(0.01, 1.0), (0.01, 16.0), (1.0, 1.0)] {
        assert!(WeightRange { floor, cap }.checked().is_ok(), "{floor} {cap}");
    }
    let why = WeightRange { floor: 0.009, cap: 3.0 }.checked().unwrap_err().to_string();
    assert_eq!(why, "WEIGHT_FLOOR is 0.008999999612569809; it must be 0.01 to 1");
}

#[test]
fn build_errors_name_their_cause() {
    let mut builder = GraphBuilder::default();
    builder.add_node(NodeRow::new("a", "a", NodeType::Concept)).unwrap();
    let again = builder.add_node(NodeRow::new("a", "other", NodeType::Concept));
    assert!(matches!(again, Err(Error::DuplicateNode { external_id }) if external_id == "a"));
    let plain = edge((0, 0, 0, 64, false));
    let from_a = |target: &str, weight: f32, causal| EdgeRow {
        source: "a".to_owned(),
        target: target.to_owned(),
        weight,
        causal,
        ..plain.clone()
    };
    let dangling = builder.add_edge(&from_a("b", 1.0, None));
    assert!(matches!(dangling, Err(Error::DanglingEdge { missing, .. }) if missing == "b"));
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0] {
        assert!(builder.add_edge(&from_a("a", bad, None)).is_err());
        assert!(builder.add_edge(&from_a("a", bad, Some([0.25; 2]))).is_err());
        assert!(builder.add_edge(&from_a("a", 1.0, Some([bad; 2]))).is_err());
    }
    assert!(builder.add_edge(&from_a("a", -0.0, None)).is_ok());
    for range in [
        WeightRange { floor: f32::NAN, cap: 3.0 },
        WeightRange { floor: 0.001, cap: 3.0 },
        WeightRange { floor: 0.05, cap: 17.0 },
    ] {
        assert!(range.checked().is_err());
    }
    for (floor, cap) in [(2.0, 1.0), (f32::NAN, 3.0), (0.05, f32::NAN), (0.05, -1.0)] {
        let mut builder = GraphBuilder::new(Kinds::default(), WeightRange { floor, cap });
        builder.add_node(NodeRow::new("a", "a", NodeType::Concept)).unwrap();
        builder.add_edge(&from_a("a", 0.5, None)).unwrap();
        assert!(builder.finalize().is_err(), "{floor} {cap}");
    }
    let graph = builder.finalize().unwrap();
    assert_eq!((graph.node_count(), graph.slot_count()), (1, 1));
    assert_eq!(graph.base(EdgeIdx(0)).to_bits(), 0);
    assert_eq!(graph.causal(EdgeIdx(0)).to_bits(), 0);
    let gone = Batch { removed_nodes: vec!["never".to_owned(), "a".to_owned()], ..Batch::default() };
    let empty = graph.apply(&gone).unwrap();
    assert_eq!((empty.node_count(), empty.slot_count()), (0, 0));
    assert_eq!(empty.mean_degree().to_bits(), 0);
}

#[test]
fn causal_strengths_of_staged_nodes_are_checked() {
    let mut builder = GraphBuilder::default();
    let node = builder.add_node(NodeRow::new("a", "a", NodeType::Concept)).unwrap();
    let kind = builder.kind("CALLS", EdgeDirection::Bidirectional, false);
    for bad in [f32::NAN, f32::INFINITY, -0.25, 1.5] {
        for causal in [[bad, 0.5], [0.5, bad]] {
            let why = builder.connect_causal(node, node, kind, 0.5, Some(causal)).unwrap_err();
            assert_eq!(matches!(why, Error::NonFinite { .. }), !bad.is_finite(), "{why}");
            assert!(why.to_string().contains("causal_strength"), "{why}");
        }
        assert!(builder.connect_slot(node, node, kind, 0.5, bad).is_err());
    }
    builder.connect_causal(node, node, kind, 0.5, Some([-0.0; 2])).unwrap();
    let graph = builder.finalize().unwrap();
    assert_eq!(graph.slot_count(), 1, "what is refused is not added");
    assert_eq!(graph.causal(EdgeIdx(0)).to_bits(), 0);
}

#[test]
fn pagerank_has_a_value_for_each_node() {
    let graph = || build(&Content { nodes: (0..2).map(node).collect(), edges: Vec::new() });
    for (given, wanted) in [(&[][..], [0.0, 0.0]), (&[0.5], [0.5, 0.0]), (&[0.5, 0.25, 0.125], [0.5, 0.25])] {
        let graph = graph().with_pagerank(given.to_vec());
        assert_eq!([0, 1].map(|n| graph.pagerank(NodeId(n)).to_bits()), wanted.map(f32::to_bits));
    }
}

#[test]
fn inhibition_follows_the_slots() {
    let [calls, supersedes] = [edge((0, 1, 0, 64, false)), edge((1, 0, 2, 64, false))];
    let graph = build(&Content { nodes: (0..2).map(node).collect(), edges: vec![calls] });
    assert!(!graph.has_inhibition());
    let removed_edges =
        vec![(supersedes.source.clone(), supersedes.relation.clone(), supersedes.target.clone())];
    let graph = graph.apply(&Batch { edges: vec![supersedes.clone()], ..Batch::default() }).unwrap();
    assert!(graph.has_inhibition());
    let lighter = EdgeRow { weight: 0.5, ..supersedes };
    let graph = graph.apply(&Batch { edges: vec![lighter], ..Batch::default() }).unwrap();
    assert!(graph.has_inhibition());
    let graph = graph.apply(&Batch { removed_edges, ..Batch::default() }).unwrap();
    assert!(!graph.has_inhibition(), "its kind has no slot any more");
}

#[test]
fn more_kinds_than_a_byte_names() {
    let content = Content {
        nodes: (0..4).map(node).collect(),
        edges: (0..600)
            .map(|n| EdgeRow { relation: format!("R{n:03}"), ..edge((n % 4, (n + 1) % 4, 0, 200, false)) })
            .collect(),
    };
    let graph = build(&content);
    assert_eq!(read(&graph), model(&content));
    let cut = content.edges[..500].iter().map(|e| (e.source.clone(), e.relation.clone(), e.target.clone()));
    let next = graph.apply(&Batch { removed_edges: cut.collect(), ..Batch::default() }).unwrap();
    assert_eq!(read(&next), model(&Content { edges: content.edges[500..].to_vec(), ..content }));
}

/// With more kinds than types: a type has a kind for each direction and polarity.
#[test]
fn a_relation_is_compared_by_its_handle() {
    let edges = (0..600).map(|n| EdgeRow {
        relation: format!("R{:03}", n / 3),
        inhibitory: n % 3 == 2,
        ..edge((n % 7, (n + n / 7) % 7, 0, 200, n % 2 == 0))
    });
    let graph = build(&Content { nodes: (0..7).map(node).collect(), edges: edges.collect() });
    let slots: Vec<EdgeIdx> = graph.nodes().flat_map(|node| graph.slots(node)).collect();
    for n in 0..200 {
        let name = format!("R{n:03}");
        let relation = graph.find_relation(&name).unwrap();
        assert!(slots.iter().all(|slot| graph.is_of(*slot, relation) == (graph.relation(*slot) == name)));
    }
    assert_eq!(["", "R", "R0000", "S"].map(|name| graph.find_relation(name)), [None; 4]);
}

/// Slots of `count` nodes, 16 for each node in the mean, some inhibitory. `skew` draws ends near the first nodes.
fn crowd(count: u32, skew: u32, inhibitory: u32, seed: u64) -> Graph {
    let mut builder = GraphBuilder::default();
    let staged: Vec<_> = (0..count)
        .map(|n| builder.add_node(NodeRow::new(format!("n{n}"), "", NodeType::MEMORY)).unwrap())
        .collect();
    let kinds = [false, true].map(|inhibitory| builder.kind("CALLS", EdgeDirection::Forward, inhibitory));
    let mut state = seed;
    let mut below = |end: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(((state >> 32) * u64::from(end)) >> 32).unwrap()
    };
    let mut drawn = BTreeSet::new();
    while drawn.len() < 16 * count as usize {
        let mut end = || (0..skew).fold(count, |end, _| below(end) + 1) - 1;
        let pair = (end(), end());
        if drawn.insert(pair) {
            let weight = f32::from(u8::try_from(below(192)).unwrap()) / 64.0;
            let kind = kinds[usize::from(below(100) < inhibitory)];
            builder.connect(staged[pair.0 as usize], staged[pair.1 as usize], kind, weight).unwrap();
        }
    }
    builder.finalize().unwrap()
}

proptest! {
    // A case is a graph of 65,536 slots or more.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn slot_bytes_at_16_slots_a_node(
        count in 4_096_u32..6_000,
        skew in 1_u32..4,
        inhibitory in prop_oneof![Just(0), Just(10), Just(50)],
        seed: u64,
    ) {
        let graph = crowd(count, skew, inhibitory, seed);
        prop_assert_eq!(graph.slot_count(), 16 * count as usize);
        prop_assert!(graph.slot_bytes() <= 24 * graph.slot_count(), "{}", graph.slot_bytes());
        // An applied graph is as compact as a built one.
        let edge = EdgeRow { relation: "CALLS".to_owned(), ..edge((1, 2, 0, 200, false)) };
        let next = graph.apply(&Batch { edges: vec![edge], ..Batch::default() }).unwrap();
        prop_assert!(next.slot_bytes() <= 24 * next.slot_count(), "{}", next.slot_bytes());
    }
}
