//! The ranking against all similarities, its bounds against f64, and what happens to an index over time.

use super::segment::COMPONENT_MAX;
use super::*;
use crate::graph::builder::GraphBuilder;
use crate::graph::columns::NodeRow;
use crate::graph::kinds::NodeType;
use crate::random::SplitMix64;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn graph<'a>(ids: impl IntoIterator<Item = &'a str>) -> Graph {
    let mut builder = GraphBuilder::default();
    for id in ids {
        builder.add_node(NodeRow::new(id, id, NodeType::MEMORY)).unwrap();
    }
    builder.finalize().unwrap()
}

/// All rows that are held, by external id, as they are stored.
fn stored(index: &VectorIndex, graph: &Graph) -> Vec<(NodeId, Vec<i32>)> {
    let nodes = index.nodes(graph, |_| true);
    let rows = index.segments.iter().flat_map(|segment| {
        segment.numbers().iter().enumerate().map(|(at, number)| (*number, segment.row(at)))
    });
    let of = |number: u32| nodes.nodes.get(number as usize).filter(|node| **node != NOTHING);
    rows.filter_map(|(number, row)| Some((NodeId(*of(number)?), row.components().collect()))).collect()
}

fn cosine(a: impl Iterator<Item = f64> + Clone, b: impl Iterator<Item = f64> + Clone) -> f64 {
    let product: f64 = a.clone().zip(b.clone()).map(|(a, b)| a * b).sum();
    let length =
        |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>().sqrt();
    product / (length(&mut a.clone()) * length(&mut b.clone()))
}

/// All similarities by the definition, sorted. The similarity is a quotient of the same numbers if the components of the
/// query are integers: then no sum rounds.
fn oracle(index: &VectorIndex, graph: &Graph, query: &[f32]) -> Vec<(String, u32)> {
    let query = query.iter().map(|value| f64::from(*value));
    let mut all: Vec<(f32, NodeId)> = stored(index, graph)
        .iter()
        .map(|(node, row)| {
            let row = row.iter().take(index.dimensions).map(|value| f64::from(*value));
            #[expect(clippy::cast_possible_truncation, reason = "rounded once")]
            let rounded = cosine(query.clone(), row).clamp(-1.0, 1.0) as f32;
            (rounded + 0.0, *node)
        })
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| graph.external_id(a.1).cmp(graph.external_id(b.1))));
    all.iter().map(|(similarity, node)| (graph.external_id(*node).to_owned(), similarity.to_bits())).collect()
}

fn answer(index: &VectorIndex, graph: &Graph, query: &[f32], most: usize) -> Vec<(String, u32)> {
    let [ranked] = index.rank((graph, &index.nodes(graph, |_| true)), query, most, |_| [true]).unwrap();
    ranked.iter().map(|one| (graph.external_id(one.node).to_owned(), one.similarity.to_bits())).collect()
}

fn is_within(index: &VectorIndex) -> bool {
    let rows: usize = index.segments.iter().map(|segment| segment.len()).sum();
    index.is_sound()
        && rows <= 2 * index.len() + DROPPED_MIN
        && index.held.len() <= 2 * index.len() + DROPPED_MIN
}

#[derive(Debug, Clone)]
enum Step {
    Add(Vec<(u8, Vec<f32>)>),
    Remove(u8),
    Compact,
}

fn small(dimensions: usize, most: i32) -> impl Strategy<Value = Vec<f32>> {
    let component = (-most..=most).prop_map(|value| value as f32);
    prop::collection::vec(component, dimensions)
        .prop_filter("a vector without a direction", |vector| vector.iter().any(|value| *value != 0.0))
}

fn step(dimensions: usize) -> impl Strategy<Value = Step> {
    let vector = prop_oneof![small(dimensions, 1), small(dimensions, 1_000)];
    prop_oneof![
        6 => prop::collection::vec((0_u8..40, vector), 0..20).prop_map(Step::Add),
        2 => (0_u8..40).prop_map(Step::Remove),
        1 => Just(Step::Compact),
    ]
}

fn space() -> impl Strategy<Value = (usize, Vec<Step>, Vec<f32>)> {
    prop_oneof![1_usize..=4, Just(31), Just(32), Just(33), Just(70)].prop_flat_map(|dimensions| {
        let query = prop_oneof![small(dimensions, 2), small(dimensions, 30_000)];
        (Just(dimensions), prop::collection::vec(step(dimensions), 0..8), query)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn vector_oracle((dimensions, steps, query) in space(), gone in 0_u8..40, most in 0_usize..12) {
        let mut index = VectorIndex::new(dimensions).unwrap();
        let mut vectors: BTreeMap<String, Vec<f32>> = BTreeMap::new();
        for step in &steps {
            match step {
                Step::Add(batch) => {
                    let named: Vec<(String, &Vec<f32>)> = batch.iter().map(|(id, vector)| (format!("m{id}"), vector)).collect();
                    index.add(named.iter().map(|(id, vector)| (id.as_str(), vector.as_slice()))).unwrap();
                    vectors.extend(named.into_iter().map(|(id, vector)| (id, vector.clone())));
                }
                Step::Remove(id) => {
                    index.remove(&format!("m{id}"));
                    vectors.remove(&format!("m{id}"));
                }
                Step::Compact => {
                    // As many rows as are always kept.
                    let vector = vec![1.0; dimensions];
                    for _ in 0..=DROPPED_MIN {
                        index.add([("gone", vector.as_slice())]).unwrap();
                        index.remove("gone");
                    }
                }
            }
            prop_assert!(is_within(&index));
        }
        prop_assert_eq!(index.len(), vectors.len());
        // One node is only in the index, another only in the graph.
        vectors.remove(&format!("m{gone}"));
        let graph = graph(vectors.keys().map(String::as_str).chain(["without a vector"]));
        prop_assert_eq!(index.nodes(&graph, |_| true).count() as usize, vectors.len());
        let all = answer(&index, &graph, &query, usize::MAX);
        prop_assert_eq!(&all, &oracle(&index, &graph, &query));
        prop_assert_eq!(all.len(), vectors.len());
        // An index that grew and one built at once are equal to the bit.
        let mut rebuilt = VectorIndex::new(dimensions).unwrap();
        rebuilt.add(vectors.iter().rev().map(|(id, vector)| (id.as_str(), vector.as_slice()))).unwrap();
        prop_assert_eq!(&answer(&rebuilt, &graph, &query, usize::MAX), &all);
        // So are the distributions of their similarities, and a similarity by itself is that of the list.
        let compared = |index: &VectorIndex| {
            let odd = |node: NodeId| graph.external_id(node).ends_with(['1', '3', '5', '7', '9']);
            index.rank_and_compare((&graph, &index.nodes(&graph, odd)), &query, 1, |_| [true]).unwrap().1
        };
        prop_assert_eq!(compared(&index), compared(&rebuilt));
        let nodes: Vec<NodeId> = graph.nodes().collect();
        let known: BTreeMap<&str, u32> = all.iter().map(|(id, similarity)| (id.as_str(), *similarity)).collect();
        for (node, similarity) in nodes.iter().zip(index.similarities(&graph, &query, &nodes)) {
            prop_assert_eq!(similarity.map(f32::to_bits), known.get(graph.external_id(*node)).copied());
        }
        // A shorter list is the beginning of the full one.
        prop_assert_eq!(&answer(&index, &graph, &query, most), &all[..most.min(all.len())]);
        // Nodes that do not pass displace no others.
        let passes = |id: &str| id.ends_with(['1', '3', '5', '7', '9']);
        let nodes = index.nodes(&graph, |_| true);
        let sides = |node: NodeId| [true, false].map(|side| passes(graph.external_id(node)) == side);
        let lists = index.rank((&graph, &nodes), &query, most, sides).unwrap();
        for (list, side) in lists.iter().zip([true, false]) {
            let list: Vec<_> = list.iter().map(|one| (graph.external_id(one.node).to_owned(), one.similarity.to_bits())).collect();
            let wanted = all.iter().filter(|(id, _)| passes(id) == side).take(most);
            prop_assert_eq!(list, wanted.cloned().collect::<Vec<_>>());
        }
    }

    #[test]
    fn near_ties_are_exact(seed: u64, dimensions in 1_usize..=200, spread in 0_u64..4, most in 1_usize..40) {
        // Rows that differ from one vector in their last bits, so that all of them are candidates, in a random order.
        let mut draws = SplitMix64::new(seed);
        let mut within = |most: u64| (draws.draw() % (2 * most + 1)) as f32 - most as f32;
        let base: Vec<f32> = (0..dimensions).map(|_| within(30_000)).collect();
        let mut index = VectorIndex::new(dimensions).unwrap();
        let ids: Vec<String> = (0..300).map(|n| format!("m{n}")).collect();
        let mut rows: Vec<Vec<f32>> =
            ids.iter().map(|_| base.iter().map(|value| value + within(spread)).collect()).collect();
        // The greatest component is that of the stored row, so no component rounds.
        rows.iter_mut().for_each(|row| row[0] = 32_639.0);
        index.add(ids.iter().zip(&rows).map(|(id, row)| (id.as_str(), row.as_slice()))).unwrap();
        let graph = graph(ids.iter().map(String::as_str));
        for (node, row) in stored(&index, &graph) {
            let n: usize = graph.external_id(node)[1..].parse().unwrap();
            prop_assert!(row.iter().zip(&rows[n]).all(|(stored, given)| (*stored as f32).total_cmp(&(given + 0.0)).is_eq()));
        }
        let query: Vec<f32> = base.iter().map(|value| value + within(1)).map(|value| if value == 0.0 { 1.0 } else { value }).collect();
        prop_assert_eq!(&answer(&index, &graph, &query, most), &oracle(&index, &graph, &query)[..most]);
    }

    #[test]
    fn bounds_hold(seed: u64, shape in 0_u32..5, dimensions in prop_oneof![1_usize..50, Just(384), Just(4_096)]) {
        // Vectors of many shapes: even, with a few great components, sparse, with equal ones, tiny or huge.
        let mut draws = SplitMix64::new(seed);
        let mut vector = |shape: u32| -> Vec<f32> {
            let mut all: Vec<f32> = (0..dimensions)
                .map(|_| {
                    let even = (draws.draw() >> 40) as f32 / (1 << 23) as f32 - 1.0;
                    match shape {
                        0 => even,
                        1 => even.powi(31),
                        2 if !draws.draw().is_multiple_of(16) => 0.0,
                        2 => even,
                        3 => even.signum(),
                        _ => even * [1e-44, 1e38][(draws.draw() % 2) as usize],
                    }
                })
                .collect();
            if all.iter().all(|value| *value == 0.0) {
                all[0] = 1.0;
            }
            all
        };
        let (given, asked) = (vector(shape), vector((seed % 5) as u32));
        let mut segment = Segment::default();
        segment.push_vector(0, &given);
        prop_assert!(segment.is_sound(dimensions));
        let query = Query::new(&asked);
        let row: Vec<f64> = segment.row(0).components().take(dimensions).map(f64::from).collect();
        let exact = cosine(asked.iter().map(|value| f64::from(*value)), row.iter().copied());
        let similarity = query.exact().similarity(segment.row(0), segment.length(0));
        prop_assert!((f64::from(similarity) - exact).abs() < 1e-7);
        let (_, scanned) = segment.scan().next().unwrap();
        let Bounds { lower, upper, .. } = query.bounds(scanned);
        prop_assert!(lower <= similarity && similarity <= upper, "{} {} {}", lower, similarity, upper);
        prop_assert!(f64::from(lower) < exact && exact < f64::from(upper));
        prop_assert!(upper - lower < 1.0);
        // What the row lost when it was stored.
        let full = cosine(asked.iter().map(|value| f64::from(*value)), given.iter().map(|value| f64::from(*value)));
        prop_assert!((full - exact).abs() <= (dimensions as f64).sqrt() / COMPONENT_MAX + 1e-12);
    }

    #[test]
    fn keys_are_in_the_order_of_numbers(a: f32, b: f32) {
        prop_assert_eq!(ordered(a).cmp(&ordered(b)), a.total_cmp(&b));
        prop_assert_eq!(of_ordered(ordered(a)).to_bits(), a.to_bits());
    }
}

#[test]
fn the_greatest_sums_do_not_wrap() {
    for dimensions in [1, 257, 384, DIMENSIONS_MAX] {
        for sign in [1.0, -1.0] {
            let mut segment = Segment::default();
            segment.push_vector(0, &vec![3e38; dimensions]);
            let query = Query::new(&vec![sign * 1e-45; dimensions]);
            let (_, scanned) = segment.scan().next().unwrap();
            let Bounds { lower, upper, .. } = query.bounds(scanned);
            assert!(lower <= sign && sign <= upper && upper - lower < 0.01, "{dimensions} {lower} {upper}");
            assert!((query.exact().similarity(segment.row(0), segment.length(0)) - sign).abs() < 1e-6);
        }
    }
}

#[test]
fn vectors_of_another_space_are_refused() {
    assert!(VectorIndex::new(0).is_err() && VectorIndex::new(DIMENSIONS_MAX + 1).is_err());
    assert_eq!(VectorIndex::new(DIMENSIONS_MAX).unwrap().dimensions(), DIMENSIONS_MAX);
    let mut index = VectorIndex::new(2).unwrap();
    let graph = graph(["m1", "m2"]);
    for (vector, message) in [
        (&[1.0][..], "the vector of m2 has 1 dimensions; it must have 2"),
        (&[1.0, 2.0, 3.0], "the vector of m2 has 3 dimensions; it must have 2"),
        (&[0.0, -0.0], "the vector of m2 has length 0, so its similarity to others is not defined"),
        (&[1.0, f32::NAN], "a component of the vector of m2 is not a finite number"),
        (&[f32::INFINITY, 1.0], "a component of the vector of m2 is not a finite number"),
    ] {
        // Those before are added.
        let refused = index.add([("m1", &[1.0, 2.0][..]), ("m2", vector)]).unwrap_err();
        assert_eq!(refused.to_string(), message);
        assert_eq!(index.len(), 1);
        let refused =
            index.rank((&graph, &index.nodes(&graph, |_| true)), vector, 5, |_| [true]).unwrap_err();
        assert_eq!(refused.to_string(), message.replace("m2", "the query"));
    }
    // A square that f32 cannot hold is no reason.
    index.add([("m2", &[1e-45, 0.0][..]), ("m1", &[f32::MAX, f32::MAX])]).unwrap();
    let [ranked] =
        index.rank((&graph, &index.nodes(&graph, |_| true)), &[f32::MAX, 0.0], 5, |_| [true]).unwrap();
    assert_eq!(ranked.iter().map(|one| one.similarity).collect::<Vec<_>>(), [1.0, 0.5_f32.sqrt()]);
}

#[test]
fn adding_an_unchanged_vector_again_costs_nothing() {
    let mut index = VectorIndex::new(3).unwrap();
    let (a, b) = ([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]);
    index.add([("a", &a[..]), ("b", &b)]).unwrap();
    let before = (index.bytes(), index.contents.len());
    index.add([("b", &b[..]), ("a", &a)]).unwrap();
    assert_eq!((index.bytes(), index.contents.len()), before);
    index.add([("a", &b[..])]).unwrap();
    let graph = graph(["a", "b"]);
    let same = answer(&index, &graph, &b, 5);
    assert_eq!(same, [("a".to_owned(), 1_f32.to_bits()), ("b".to_owned(), 1_f32.to_bits())]);
}

#[test]
fn a_copy_shares_all_rows_and_grows_on_its_own() {
    let mut index = VectorIndex::new(1).unwrap();
    index.add([("a", &[1.0][..]), ("b", &[2.0]), ("c", &[-1.0])]).unwrap();
    let mut copy = index.clone();
    assert!(index.segments.iter().zip(&copy.segments).all(|(a, b)| Arc::ptr_eq(a, b)));
    copy.add([("d", &[1.0][..])]).unwrap();
    copy.remove("a");
    let graph = graph(["a", "b", "c", "d"]);
    assert_eq!([index.len(), copy.len()], [3, 3]);
    let ids = |index: &VectorIndex| {
        answer(index, &graph, &[1.0], 5).into_iter().map(|(id, _)| id).collect::<String>()
    };
    assert_eq!([ids(&index), ids(&copy)], ["abc", "bdc"]);
    assert!(Arc::ptr_eq(&index.segments[0], &copy.segments[0]));
    // The nodes of an earlier index do not know later rows.
    let [ranked] = copy.rank((&graph, &index.nodes(&graph, |_| true)), &[1.0], 5, |_| [true]).unwrap();
    assert_eq!(ranked.len(), 3);
}

#[test]
fn many_changes_leave_few_rows_and_segments() {
    let mut index = VectorIndex::new(2).unwrap();
    for n in 0..5_000_u16 {
        index.add([(format!("m{}", n % 50).as_str(), &[f32::from(n), 1.0][..])]).unwrap();
        assert!(index.segments.iter().is_sorted_by(|a, b| a.len() >= 2 * b.len()));
    }
    assert!(is_within(&index) && index.len() == 50 && index.segments.len() <= 10, "{}", index.segments.len());
    for n in 0..50 {
        index.remove(&format!("m{n}"));
    }
    assert!(is_within(&index) && index.is_empty());
    assert!(answer(&index, &graph(["m1"]), &[1.0, 0.0], 5).is_empty());
}

#[test]
fn a_damaged_file_is_not_sound() {
    let mut index = VectorIndex::new(2).unwrap();
    index.add([("a", &[1.0, 2.0][..]), ("b", &[3.0, 1.0])]).unwrap();
    index.add([("c", &[1.0, 2.0][..]), ("b", &[3.0, 4.0])]).unwrap();
    let text = serde_json::to_string(&index).unwrap();
    let read: VectorIndex = serde_json::from_str(&text).unwrap();
    let graph = graph(["a", "b", "c"]);
    assert!(read.is_sound());
    assert_eq!(answer(&read, &graph, &[1.0, 1.0], 5), answer(&index, &graph, &[1.0, 1.0], 5));
    // Every number of the file, made greater: it is refused, or all queries work.
    let digits = |at: usize| text[at..].chars().next().is_some_and(|c| c.is_ascii_digit());
    let mut refused = 0;
    for at in (0..text.len()).filter(|at| digits(*at)) {
        for digit in ["0", "1", "9"] {
            let damaged = format!("{}{digit}{}", &text[..at], &text[at + 1..]);
            let Ok(read) = serde_json::from_str::<VectorIndex>(&damaged) else { continue };
            if read.is_sound() {
                let query = vec![1.0; read.dimensions];
                assert!(answer(&read, &graph, &query, 5).len() <= 3);
                let mut changed = read.clone();
                changed.add([("a", query.as_slice()), ("d", &query)]).unwrap();
                changed.remove("b");
            } else {
                refused += 1;
            }
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn an_index_knows_which_vector_a_node_has() {
    let mut index = VectorIndex::new(2).unwrap();
    index.add([("a", &[1.0, 0.5][..])]).unwrap();
    assert!(index.has("a", Some(&[1.0, 0.5])) && index.has("b", None));
    assert!(
        !index.has("a", Some(&[1.0, 0.25])) && !index.has("a", None) && !index.has("b", Some(&[1.0, 0.5]))
    );
    index.remove("a");
    assert!(index.has("a", None));
}
