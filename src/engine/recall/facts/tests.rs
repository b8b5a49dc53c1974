//! Memories of facts against all facts and all memories, and what they change in a ranking.

use super::{FactMemories, SLOTS_MAX};
use crate::graph::builder::{EdgeRow, GraphBuilder};
use crate::graph::columns::NodeRow;
use crate::graph::index::NodeId;
use crate::graph::kinds::{EdgeDirection, NodeType};
use crate::graph::snapshot::{SkippedCounts, Snapshot};
use crate::recall::{Filter, FusionWeights, RecallConfig, RecallQuery, RecallResult, recall};
use crate::scratch::Scratch;
use crate::text::ranking::TextIndex;
use crate::vectors::{VectorIndex, fact_key};
use crate::{Texts, View};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Memories that mention entities, facts with vectors or without, and vectors of memories.
#[derive(Debug, Clone, Default)]
struct World {
    mentions: Vec<(String, Vec<String>)>,
    facts: Vec<(String, String, Option<[f32; 2]>)>,
    vectors: Vec<(String, [f32; 2])>,
}

impl World {
    fn new(mentions: &[(&str, &[&str])], facts: &[(&str, &str, [f32; 2])]) -> Self {
        let mention = |(memory, of): &(&str, &[&str])| {
            ((*memory).to_owned(), of.iter().map(|name| (*name).to_owned()).collect())
        };
        let fact = |(from, to, vector): &(&str, &str, [f32; 2])| {
            ((*from).to_owned(), (*to).to_owned(), Some(*vector))
        };
        let (mentions, facts) = (mentions.iter().map(mention).collect(), facts.iter().map(fact).collect());
        Self { mentions, facts, vectors: Vec::new() }
    }

    fn entities(&self) -> BTreeSet<&String> {
        let ends = self.facts.iter().flat_map(|(from, to, _)| [from, to]);
        self.mentions.iter().flat_map(|(_, names)| names).chain(ends).collect()
    }

    /// The view, by an index of facts to which these vectors were added and from which they were removed again.
    fn view_after(&self, removed: &[(String, String)]) -> View {
        let mut builder = GraphBuilder::default();
        for (memory, _) in &self.mentions {
            builder.add_node(NodeRow::new(memory, memory, NodeType::MEMORY)).unwrap();
        }
        for name in self.entities() {
            builder.add_node(NodeRow::new(name, name, NodeType::Concept)).unwrap();
        }
        let mentions = self.mentions.iter();
        let mentions =
            mentions.flat_map(|(memory, names)| names.iter().map(move |name| (memory, name, "MENTIONS")));
        let facts = self.facts.iter().map(|(from, to, _)| (from, to, "RELATES_TO"));
        for (source, target, relation) in mentions.chain(facts) {
            let (source, target, relation) = (source.clone(), target.clone(), relation.to_owned());
            let direction = EdgeDirection::Bidirectional;
            let row = EdgeRow { source, target, relation, weight: 0.5, direction, ..EdgeRow::default() };
            builder.add_edge(&row).unwrap();
        }
        let graph = builder.finalize().unwrap();
        let mut index = TextIndex::default();
        index.add(self.mentions.iter().map(|(memory, _)| (memory.as_str(), memory.as_str()))).unwrap();
        let (mut vectors, mut facts) = (VectorIndex::new(2).unwrap(), VectorIndex::new(2).unwrap());
        vectors.add(self.vectors.iter().map(|(id, vector)| (id.as_str(), vector.as_slice()))).unwrap();
        for (from, to) in removed {
            let key = fact_key(from, to, "KNOWS");
            facts.add([(key.as_str(), [1.0, 1.0].as_slice())]).unwrap();
            facts.remove(&key);
        }
        for (from, to, vector) in &self.facts {
            let key = fact_key(from, to, "KNOWS");
            vector.iter().for_each(|vector| facts.add([(key.as_str(), vector.as_slice())]).unwrap());
        }
        let end = |id: &String| graph.find(id).unwrap();
        let relations: Vec<_> =
            self.facts.iter().map(|(from, to, _)| (end(from), end(to), "KNOWS")).collect();
        let texts =
            Texts { index: Arc::new(index), vectors: Some(Arc::new(vectors)), facts: Some(Arc::new(facts)) };
        assert!(texts.is_sound());
        let snapshot = Snapshot { graph, as_of: Some(0), skipped: SkippedCounts::default() };
        View::new(snapshot, texts, relations)
    }

    fn view(&self) -> View {
        self.view_after(&[])
    }

    /// The greatest similarity of a fact that each memory mentions, by the definition.
    fn oracle(&self, query: [f32; 2]) -> BTreeMap<String, f32> {
        let mut best = BTreeMap::new();
        let last: BTreeMap<_, _> =
            self.facts.iter().filter_map(|(from, to, vector)| Some(((from, to), (*vector)?))).collect();
        for ((from, to), vector) in last {
            for (memory, _) in
                self.mentions.iter().filter(|(_, names)| names.contains(from) && names.contains(to))
            {
                let similarity = cosine(query, vector);
                let known = best.entry(memory.clone()).or_insert(similarity);
                *known = similarity.max(*known);
            }
        }
        best
    }
}

fn cosine([a, b]: [f32; 2], [x, y]: [f32; 2]) -> f32 {
    (a * x + b * y) / (a.hypot(b) * x.hypot(y))
}

fn found(view: &View, query: [f32; 2]) -> BTreeMap<String, f32> {
    let all = FactMemories::of(view, &query).unwrap();
    let id = |node: NodeId| view.graph().external_id(node).to_owned();
    all.memories.into_iter().map(|(node, similarity)| (id(node), similarity)).collect()
}

fn asked(view: &View, text: &str, query: &RecallQuery) -> RecallResult {
    let config = RecallConfig::default().with_fusion(FusionWeights::default()).unwrap();
    let query =
        RecallQuery { text: text.to_owned(), vector: Some(vec![1.0, 0.2]), top_k: 100, ..query.clone() };
    recall(view, &query, &config, &mut Scratch::default()).unwrap()
}

fn scores(found: &RecallResult) -> Vec<(String, u32)> {
    found.hits.iter().map(|hit| (hit.id.clone(), hit.score.to_bits())).collect()
}

fn world() -> impl Strategy<Value = World> {
    let name = (0_u8..6).prop_map(|n| format!("e{n}"));
    let component = (-5_i8..=5).prop_map(f32::from);
    let vector = (component.clone(), component).prop_map(|(a, b)| [a, b]);
    let vector = vector.prop_filter("a direction", |[a, b]| a.abs() + b.abs() > 0.0);
    let mentions = prop::collection::vec(prop::collection::btree_set(name.clone(), 0..5), 0..12);
    let facts = prop::collection::vec((name.clone(), name, prop::option::of(vector.clone())), 0..12);
    let vectors = prop::collection::vec(prop::option::of(vector), 12);
    (mentions, facts, vectors).prop_map(|(mentions, facts, vectors)| {
        let mentions: Vec<_> =
            (0..).zip(mentions).map(|(n, names)| (format!("m{n}"), names.into_iter().collect())).collect();
        let vectors = (0..mentions.len()).zip(vectors).filter_map(|(n, of)| Some((format!("m{n}"), of?)));
        World { vectors: vectors.collect(), mentions, facts }
    })
}

proptest! {
    #[test]
    fn memories_of_facts_are_those_of_all_pairs(world in world(), order in any::<u64>()) {
        let view = world.view();
        let query = [1.0, 0.3];
        let (is, wanted) = (found(&view, query), world.oracle(query));
        prop_assert_eq!(is.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>());
        for (id, similarity) in &is {
            prop_assert!((similarity - wanted[id]).abs() < 1e-3, "{}: {} {}", id, similarity, wanted[id]);
        }
        // Neither the order of rows nor vectors that were removed change a bit.
        let mut other = world.clone();
        let at = |length: usize| usize::try_from(order % (length.max(1) as u64)).unwrap();
        other.mentions.rotate_left(at(world.mentions.len()));
        let removed: Vec<_> = world.facts.iter().map(|(from, to, _)| (from.clone(), to.clone())).collect();
        let other = other.view_after(&removed);
        let bits = |found: BTreeMap<String, f32>| {
            found.into_iter().map(|(id, similarity)| (id, similarity.to_bits())).collect::<Vec<_>>()
        };
        prop_assert_eq!(bits(found(&other, query)), bits(is));
        let [whole, again] = [&view, &other].map(|view| asked(view, "m1 e1", &RecallQuery::default()));
        prop_assert_eq!(scores(&whole), scores(&again));
        // A filter selects hits, and a longer list begins with a shorter one.
        let kinds = Filter { kinds: vec!["Memory".to_owned()], ..Filter::default() };
        let filtered = asked(&view, "m1 e1", &RecallQuery { filter: kinds, ..RecallQuery::default() });
        let memories: Vec<_> = scores(&whole).into_iter().filter(|(id, _)| id.starts_with('m')).collect();
        prop_assert_eq!(scores(&filtered), memories);
        let query = RecallQuery {
            text: "m1 e1".to_owned(), vector: Some(vec![1.0, 0.2]), top_k: 3, ..RecallQuery::default()
        };
        let short = recall(&view, &query, &RecallConfig::default(), &mut Scratch::default()).unwrap();
        prop_assert_eq!(scores(&short), scores(&whole).into_iter().take(3).collect::<Vec<_>>());
    }
}

#[test]
fn a_fact_gives_half_of_what_its_vector_is_worth() {
    let mut world = World::new(
        &[("m1", &["a", "b"]), ("m2", &["a"]), ("m3", &["b", "c"]), ("m4", &["c", "d"])],
        &[("a", "b", [1.0, 0.2]), ("b", "c", [0.5, 0.5]), ("c", "d", [0.0, 1.0])],
    );
    let facts = asked(&world.view(), "", &RecallQuery::default());
    let score =
        |found: &RecallResult, id: &str| found.hits.iter().find(|hit| hit.id == id).map(|hit| hit.score);
    assert!((score(&facts, "m1").unwrap() - 0.5).abs() < 1e-3, "{:?}", scores(&facts));
    assert!(score(&facts, "m1") > score(&facts, "m3") && score(&facts, "m3") > score(&facts, "m4"));
    assert_eq!(score(&facts, "m2"), None, "it mentions one end of a fact only");
    assert!(facts.seeds.is_empty() && facts.hits.iter().all(|hit| hit.similarity.is_none()));
    assert!(facts.counters.slots_read > 0);
    // What the vector of a memory says counts, if it is more.
    world.vectors = vec![("m1".to_owned(), [1.0, 0.2]), ("m4".to_owned(), [0.2, -1.0])];
    let both = asked(&world.view(), "", &RecallQuery::default());
    assert!((score(&both, "m1").unwrap() - 1.0).abs() < 1e-3, "{:?}", scores(&both));
    assert_eq!(score(&both, "m3"), score(&facts, "m3"));
    assert!(both.hits[0].similarity.is_some_and(|similarity| similarity > 0.99));
}

#[test]
fn without_vectors_of_facts_all_is_as_before() {
    let mut world = World::new(&[("m1", &["a", "b"]), ("m2", &["b", "c"])], &[("a", "b", [1.0, 0.2])]);
    world.vectors = vec![("m2".to_owned(), [1.0, 0.0])];
    let with = asked(&world.view(), "a", &RecallQuery::default());
    world.facts = vec![("a".to_owned(), "b".to_owned(), None)];
    let empty = world.view();
    let relations = [(empty.graph().find("a").unwrap(), empty.graph().find("b").unwrap(), "KNOWS")];
    let texts = Texts { facts: None, ..empty.texts().clone() };
    let snapshot = world.view().snapshot().graph.apply(&crate::graph::builder::Batch::default()).unwrap();
    let snapshot = Snapshot { graph: snapshot, as_of: Some(0), skipped: SkippedCounts::default() };
    let none = View::new(snapshot, texts, relations);
    let [empty, none] = [&empty, &none].map(|view| asked(view, "a", &RecallQuery::default()));
    assert_eq!((scores(&empty), empty.counters), (scores(&none), none.counters));
    assert_ne!(scores(&with), scores(&none));
}

#[test]
fn two_hubs_tell_nothing_and_one_of_them_does_not_matter() {
    let names: Vec<(String, Vec<String>)> = (0..=SLOTS_MAX)
        .map(|n| (format!("m{n:04}"), vec!["a".to_owned(), "b".to_owned()]))
        .chain([("rare".to_owned(), vec!["a".to_owned(), "c".to_owned()])])
        .collect();
    let fact = |from: &str, to: &str| (from.to_owned(), to.to_owned(), Some([1.0, 0.2]));
    let hubs = World { mentions: names.clone(), facts: vec![fact("a", "b")], vectors: Vec::new() };
    let all = FactMemories::of(&hubs.view(), &[1.0, 0.0]).unwrap();
    assert_eq!((all.memories.len(), all.slots_read, all.similarities.len()), (0, 0, 1));
    let one = World { facts: vec![fact("a", "c")], ..hubs };
    let all = FactMemories::of(&one.view(), &[1.0, 0.0]).unwrap();
    assert_eq!((all.memories.len(), all.slots_read), (1, 2), "the row of c: a memory, and the fact");
}
