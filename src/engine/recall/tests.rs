//! Whole queries: golden results, invariants, and the limits of parameters.

use super::*;
use crate::Texts;
use crate::graph;
use crate::graph::builder::{Batch, EdgeRow, GraphBuilder, Link, Links};
use crate::graph::columns::NodeRow;
use crate::graph::kinds::{Dimension, Kinds, NodeType};
use crate::graph::number::DecayFactor;
use crate::graph::snapshot::{SkippedCounts, Snapshot};
use crate::plasticity::{QueryHistory, prime};
use crate::text::ranking::{Content, TextIndex};
use crate::vectors::VectorIndex;
use proptest::prelude::*;
use std::fmt::Write;
use std::sync::Arc;

/// Content of a view, in the order of insertion.
#[derive(Debug, Clone, Default)]
struct World {
    nodes: Vec<NodeRow>,
    edges: Vec<EdgeRow>,
    /// Contents of memories by external id; without any, labels are texts.
    contents: Vec<(String, String)>,
    /// Relations by the external ids of their ends, with their types.
    relations: Vec<(String, String, &'static str)>,
}

impl World {
    fn node(&mut self, id: impl Into<String>, label: impl Into<String>, kind: NodeType) -> &mut NodeRow {
        self.nodes.push(NodeRow::new(id, label, kind));
        self.nodes.last_mut().unwrap()
    }

    fn edge(&mut self, source: &str, target: &str, relation: &str, weight: f32) {
        let rule = Kinds::default().of(relation).clone();
        self.edges.push(EdgeRow {
            source: source.to_owned(),
            target: target.to_owned(),
            relation: relation.to_owned(),
            weight,
            direction: rule.direction,
            inhibitory: rule.inhibitory,
            causal: None,
        });
    }

    /// A memory whose label is the beginning of its content, and the entities that it mentions.
    fn memory(&mut self, id: &str, content: &str, mentions: &[&str]) -> &mut NodeRow {
        self.contents.push((id.to_owned(), content.to_owned()));
        mentions.iter().for_each(|entity| self.edge(id, entity, "MENTIONS", 0.5));
        self.node(id, content, NodeType::MEMORY)
    }

    fn relate(&mut self, from: &str, kind: &'static str, to: &str) {
        self.edge(from, to, "RELATES_TO", 1.0);
        self.relations.push((from.to_owned(), to.to_owned(), kind));
    }

    fn view(&self) -> View {
        self.view_with(None)
    }

    /// Its view with a vector of each memory.
    fn view_with_vectors(&self) -> View {
        let (mut draw, mut space) = (drawn(41), VectorIndex::new(3).unwrap());
        let vectors: Vec<(&str, [f32; 3])> =
            self.contents.iter().map(|(id, _)| (id.as_str(), direction(&mut draw))).collect();
        space.add(vectors.iter().map(|(id, vector)| (*id, vector.as_slice()))).unwrap();
        self.view_with(Some(Arc::new(space)))
    }

    fn view_with(&self, vectors: Option<Arc<VectorIndex>>) -> View {
        let mut builder = GraphBuilder::default();
        self.nodes.iter().for_each(|row| _ = builder.add_node(row.clone()).unwrap());
        self.edges.iter().for_each(|edge| builder.add_edge(edge).unwrap());
        let graph = builder.finalize().unwrap();
        let snapshot = Snapshot { graph, as_of: Some(1_000), skipped: SkippedCounts::default() };
        if self.contents.is_empty() {
            return View::from_labels(snapshot).unwrap();
        }
        let mut index = TextIndex::default();
        index.add(self.contents.iter().map(|(id, content)| (id.as_str(), content.as_str()))).unwrap();
        let end = |id: &str| snapshot.graph.find(id).unwrap();
        let relations: Vec<_> =
            self.relations.iter().map(|(from, to, kind)| (end(from), end(to), *kind)).collect();
        View::new(snapshot, Texts { index: Arc::new(index), vectors, ..Texts::default() }, relations)
    }

    /// The same content in another order.
    fn shuffled(&self, draw: &mut impl FnMut(usize) -> usize) -> Self {
        let mut all = self.clone();
        mixed(&mut all.nodes, draw);
        mixed(&mut all.edges, draw);
        mixed(&mut all.contents, draw);
        mixed(&mut all.relations, draw);
        all
    }
}

fn mixed<T>(all: &mut [T], draw: &mut impl FnMut(usize) -> usize) {
    for at in (1..all.len()).rev() {
        all.swap(at, draw(at + 1));
    }
}

fn drawn(mut state: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    }
}

fn direction(draw: &mut impl FnMut(usize) -> usize) -> [f32; 3] {
    [(); 3].map(|()| f32::from(u8::try_from(1 + draw(100)).unwrap()))
}

const NAMES: [&str; 12] = [
    "Dana",
    "Rui",
    "Frank Herbert",
    "Dune",
    "Dune Messiah",
    "Porto",
    "Arrakis",
    "chat_handler",
    "São Paulo",
    "the build",
    "Neo4j",
    "Night Train",
];
const WORDS: [&str; 20] = [
    "wrote", "prefers", "small", "changes", "build", "needs", "java", "trains", "late", "night", "meets",
    "city", "desert", "handler", "fails", "after", "release", "café", "memória", "books",
];

fn sentence(draw: &mut impl FnMut(usize) -> usize, length: usize) -> String {
    let words = (0..length).map(|_| match draw(5) {
        0 => NAMES[draw(NAMES.len())],
        _ => WORDS[draw(WORDS.len())],
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Memories that mention entities, which relations join.
fn agent() -> World {
    let mut draw = drawn(1);
    let mut world = World::default();
    NAMES.iter().for_each(|name| _ = world.node(*name, *name, NodeType::Concept));
    for n in 0..150 {
        let (first, second) = (NAMES[draw(NAMES.len())], NAMES[draw(NAMES.len())]);
        let length = 4 + draw(20);
        let said = format!("{} {first} {second}", sentence(&mut draw, length));
        let row = world.memory(&format!("m{n:03}"), &said, &[first, second]);
        row.tier = Some(["working", "shortTerm", "longTerm"][draw(3)].to_owned());
        row.session = Some(format!("s{}", draw(9)));
        row.last_modified = (draw(4) > 0).then(|| i64::try_from(draw(1_000)).unwrap());
        row.partial = draw(7) == 0;
        if n > 0 && draw(6) == 0 {
            world.edge(&format!("m{n:03}"), &format!("m{:03}", draw(n)), "SUPERSEDES", 0.5);
        }
    }
    for _ in 0..25 {
        let (from, to) = (draw(NAMES.len()), draw(NAMES.len()));
        let kind = ["wrote", "lives in", "prefers", "fails after"][draw(4)];
        if from != to && !world.relations.contains(&(NAMES[from].to_owned(), NAMES[to].to_owned(), kind)) {
            world.relate(NAMES[from], kind, NAMES[to]);
        }
    }
    world
}

/// Files of code that call each other, with tags and places of a palace.
fn code() -> World {
    let mut draw = drawn(2);
    let mut world = World::default();
    for n in 0..200 {
        let label = format!("{}_{}.rs", WORDS[draw(WORDS.len())], NAMES[draw(NAMES.len())]);
        let kind = [NodeType::File, NodeType::Function, NodeType::Module, NodeType::Custom(3)][draw(4)];
        let row = world.node(format!("f{n:03}"), label, kind);
        row.tags = (0..draw(3)).map(|_| format!("#{}", WORDS[draw(WORDS.len())])).collect();
    }
    for _ in 0..900 {
        let (a, b) = (draw(200), draw(200));
        let relation = ["CALLS", "IMPORTS", "CONTAINS", "INHIBITS", "SIMILAR_TO"][draw(5)];
        let weight = f32::from(u8::try_from(1 + draw(100)).unwrap()) / 50.0;
        world.edge(&format!("f{a:03}"), &format!("f{b:03}"), relation, weight);
    }
    world
}

/// Memories joined by co-activation, without entities.
fn bare() -> World {
    let mut draw = drawn(3);
    let mut world = World::default();
    for n in 0..180 {
        let said = sentence(&mut draw, 12);
        world.memory(&format!("m{n:03}"), &said, &[]);
        if n % 5 > 0 {
            world.edge(&format!("m{n:03}"), &format!("m{:03}", n - 1), "COACTIVATED", 0.5);
        }
    }
    world
}

fn questions(seed: u64, world: &World) -> Vec<RecallQuery> {
    let mut draw = drawn(seed);
    let mut question = |n: usize| {
        let length = draw(7);
        let text = sentence(&mut draw, length);
        let top_k = 1 + draw(4);
        let mut query = RecallQuery { text, top_k, ..RecallQuery::default() };
        if draw(4) == 0 {
            let id = world.nodes[draw(world.nodes.len())].external_id.clone();
            query.seeds = vec![(id, 0.5), (format!("unknown {n}"), 1.0)];
        }
        match draw(9) {
            0 => query.filter.kinds = vec!["Memory".to_owned(), "Function".to_owned()],
            1 => query.filter.tiers = vec!["working".to_owned()],
            2 => query.filter.since = Some(500),
            3 => query.filter.session = Some("s1".to_owned()),
            4 => query.profile = Profile::Reference,
            5 => query.spread = Spread::PersonalPageRank,
            6 => query.fusion = Fusion::Off,
            _ => {}
        }
        query
    };
    (0..200).map(&mut question).collect()
}

/// The same query with every dimension of evidence, and contrast.
fn with_all_evidence(query: &RecallQuery) -> RecallQuery {
    RecallQuery {
        dimensions: Dimension::ALL.into_iter().collect(),
        now_ms: Some(1_000),
        xlr: XlrMode::Gate,
        ..query.clone()
    }
}

/// Queries, and the same with every dimension and contrast.
fn with_and_without_evidence(mut asks: Vec<RecallQuery>) -> Vec<RecallQuery> {
    let more: Vec<RecallQuery> = asks.iter().map(with_all_evidence).collect();
    asks.extend(more);
    asks
}

fn config() -> RecallConfig {
    RecallConfig::default()
}

fn answer(view: &View, query: &RecallQuery, scratch: &mut Scratch) -> RecallResult {
    recall(view, query, &config(), scratch).unwrap()
}

fn answer_once(view: &View, query: &RecallQuery) -> RecallResult {
    answer(view, query, &mut Scratch::default())
}

/// All complete results, computed by a number of threads.
fn answers(view: &View, asks: &[RecallQuery], threads: usize) -> Vec<String> {
    let mut all = Vec::new();
    std::thread::scope(|scope| {
        let share = |asks: &[RecallQuery]| {
            let mut scratch = Scratch::default();
            asks.iter().map(|query| format!("{:?}", answer(view, query, &mut scratch))).collect::<Vec<_>>()
        };
        let parts: Vec<_> =
            asks.chunks(asks.len().div_ceil(threads)).map(|part| scope.spawn(move || share(part))).collect();
        parts.into_iter().for_each(|part| all.extend(part.join().unwrap()));
    });
    all
}

fn ids(recalled: &RecallResult) -> Vec<&str> {
    recalled.hits.iter().map(|hit| hit.id.as_str()).collect()
}

#[test]
fn recall_golden() {
    for (name, world) in [("agent", agent()), ("code", code()), ("bare", bare())] {
        let (view, mut scratch) = (world.view(), Scratch::default());
        let mut told = String::new();
        for query in questions(7, &world) {
            let found = answer(&view, &query, &mut scratch);
            let flags: Vec<&str> = found.flags.names().collect();
            let work = found.counters;
            write!(told, "{} [{}] {}", &found.id[..8], query.text, found.seeds.len()).unwrap();
            write!(told, " {} {} {}", work.slots_read, work.nodes_touched, work.postings_read).unwrap();
            for hit in &found.hits {
                let hops = hit.route.as_ref().map(|route| route.ids.len() - 1);
                let place = (hit.text_rank, hops, hit.dimensions.structural.to_bits());
                write!(told, " | {} {:08x} {place:x?}", hit.id, hit.score.to_bits()).unwrap();
            }
            writeln!(told, " {}", flags.join(" ")).unwrap();
        }
        insta::assert_snapshot!(format!("golden_{name}"), told);
    }
}

#[test]
fn recall_order_free() {
    for (n, world) in (0..).zip([agent(), code(), bare()]) {
        let asks = with_and_without_evidence(questions(11, &world));
        let wanted = answers(&world.view(), &asks, 1);
        assert!(wanted.iter().filter(|one| one.contains("Hit {")).count() > 100, "most have hits");
        let mut draw = drawn(n);
        for threads in [2, 8] {
            assert_eq!(answers(&world.shuffled(&mut draw).view(), &asks, threads), wanted);
        }
    }
}

/// A change of a world, as a batch for the graph of a view.
fn changed(world: &mut World, step: usize, before: &View, draw: &mut impl FnMut(usize) -> usize) -> Batch {
    let mut batch = Batch::default();
    let memory = |draw: &mut dyn FnMut(usize) -> usize, world: &World| {
        world.contents[draw(world.contents.len())].0.clone()
    };
    match step % 6 {
        // Accesses.
        0 => {
            for _ in 0..5 {
                let id = memory(draw, world);
                let row = world.nodes.iter_mut().find(|row| row.external_id == id).unwrap();
                (row.last_modified, row.tier) = (Some(900), Some("shortTerm".to_owned()));
                batch.nodes.push(row.clone());
            }
        }
        // Another text, and another tag.
        1 => {
            let (id, said) = (memory(draw, world), sentence(draw, 9));
            world.contents.iter_mut().find(|(of, _)| *of == id).unwrap().1.clone_from(&said);
            let row = world.nodes.iter_mut().find(|row| row.external_id == id).unwrap();
            (row.label, row.tags) = (said, vec!["#desert".to_owned()]);
            batch.nodes.push(row.clone());
        }
        // A new memory.
        2 => {
            let (id, said) = (format!("new {step}"), sentence(draw, 7));
            let first = world.edges.len();
            let mentioned = world.nodes[0].external_id.clone();
            batch.nodes.push(world.memory(&id, &said, &[&mentioned]).clone());
            batch.edges = world.edges[first..].to_vec();
        }
        // A memory that is gone.
        3 => {
            let id = memory(draw, world);
            world.nodes.retain(|row| row.external_id != id);
            world.edges.retain(|edge| edge.source != id && edge.target != id);
            world.contents.retain(|(of, _)| *of != id);
            batch.removed_nodes.push(id);
        }
        // Relations with less weight.
        4 => {
            let node = |id: &String| before.graph().find(id).unwrap();
            let mut links = Links { relation: "RELATES_TO".to_owned(), ..Links::default() };
            for edge in world.edges.iter_mut().filter(|edge| edge.relation == "RELATES_TO") {
                edge.weight *= 0.9;
                (links.direction, links.inhibitory) = (edge.direction, edge.inhibitory);
                let (source, target) = (node(&edge.source), node(&edge.target));
                links.list.push(Link { source, target, weight: edge.weight, causal: edge.causal });
            }
            batch.links.push(links);
        }
        // A relationship between two nodes that there are.
        _ => {
            let [from, to] = [memory(draw, world), memory(draw, world)];
            world.edge(&from, &to, "COACTIVATED", 0.7);
            batch.edges.extend(world.edges.last().cloned());
        }
    }
    batch
}

#[test]
fn a_view_after_batches_answers_as_one_that_is_built_anew() {
    for (n, mut world) in (0..).zip([agent(), bare()]) {
        let (mut view, mut draw) = (world.view(), drawn(17 + n));
        let asks = with_and_without_evidence(questions(19, &world));
        for step in 0..18 {
            let batch = changed(&mut world, step, &view, &mut draw);
            let mut texts = view.texts().clone();
            let changes = |id: &String| batch.nodes.iter().any(|row| row.external_id == *id);
            let told: Vec<_> = world.contents.iter().filter(|(id, _)| changes(id)).collect();
            let fresh = told.iter().map(|(id, said)| Content::from((id.as_str(), said.as_str())));
            if fresh.clone().any(|content| !texts.index.has(content)) || !batch.removed_nodes.is_empty() {
                let index = Arc::make_mut(&mut texts.index);
                batch.removed_nodes.iter().for_each(|id| index.remove(id));
                index.add(fresh).unwrap();
            }
            let graph = view.graph().apply(&batch).unwrap();
            let end = |id: &str| graph.find(id).unwrap();
            let relations: Vec<_> =
                world.relations.iter().map(|(from, to, kind)| (end(from), end(to), *kind)).collect();
            let snapshot = Snapshot { graph, as_of: Some(1_000), skipped: SkippedCounts::default() };
            view = View::next(Some(&view), snapshot, texts, relations);
            let anew = world.view().with_generation(view.generation());
            let mut scratch = Scratch::default();
            for ask in asks.iter().skip(step).step_by(6) {
                // A replaced memory leaves postings behind.
                let mut answer = |view: &View| RecallResult {
                    counters: RecallCounters::default(),
                    ..answer(view, ask, &mut scratch)
                };
                assert_eq!(answer(&view), answer(&anew), "after step {step}: {ask:?}");
            }
        }
    }
}

#[test]
fn every_explanation_replays() {
    let (mut routes, mut hops_most) = (0, 0);
    for world in [agent(), code(), bare()] {
        let (view, mut scratch) = (world.view(), Scratch::default());
        for query in with_and_without_evidence(questions(13, &world)) {
            let found = answer(&view, &query, &mut scratch);
            for hit in &found.hits {
                assert!(
                    hit.route.is_some() || hit.dimensions.structural.to_bits() == 0,
                    "{} has a path",
                    hit.id
                );
                let Some(Route { ids, path }) = &hit.route else { continue };
                assert!(found.seeds.iter().any(|seed| seed.id == ids[0]) && *ids.last().unwrap() == hit.id);
                assert_eq!(ids.len(), path.slots.len() + 1);
                for (slot, ends) in path.slots.iter().zip(ids.windows(2)) {
                    let [source, target] = [&ends[0], &ends[1]].map(|id| view.graph().find(id).unwrap());
                    assert!(view.graph().slots(source).any(|own| own == *slot));
                    assert_eq!(view.graph().target(*slot), target);
                }
                let replayed = path.replayed(view.graph(), config().activation(query.profile));
                assert_eq!(replayed.to_bits(), path.arrival.to_bits());
                routes += 1;
                hops_most = hops_most.max(path.slots.len());
            }
        }
    }
    assert!(routes > 500 && (4..=10).contains(&hops_most), "{routes} {hops_most}");
}

#[test]
fn a_filtered_answer_is_the_answer_filtered() {
    let filters = [
        Filter { kinds: vec!["Memory".to_owned()], ..Filter::default() },
        Filter { kinds: vec!["Entity".to_owned(), "Room".to_owned()], ..Filter::default() },
        Filter { tiers: vec!["working".to_owned(), "longTerm".to_owned()], ..Filter::default() },
        Filter { since: Some(400), session: Some("s2".to_owned()), ..Filter::default() },
        Filter { kinds: vec!["Nothing".to_owned()], ..Filter::default() },
    ];
    let world = agent();
    let (view, mut scratch) = (world.view_with_vectors(), Scratch::default());
    let rows: BTreeMap<&str, &NodeRow> =
        world.nodes.iter().map(|row| (row.external_id.as_str(), row)).collect();
    let passes = |filter: &Filter, hit: &Hit| {
        let row = rows[hit.id.as_str()];
        let among = |list: &[String], one: Option<&str>| {
            list.is_empty() || one.is_some_and(|one| list.iter().any(|other| other == one))
        };
        among(&filter.kinds, Some(&hit.kind))
            && among(&filter.tiers, row.tier.as_deref())
            && filter.since.is_none_or(|since| row.last_modified.is_some_and(|at| at >= since))
            && (filter.session.is_none() || row.session == filter.session)
    };
    let (mut kept, mut left_out) = (0, 0);
    let asks = questions(17, &world);
    let mut draw = drawn(43);
    for query in asks[..60].iter().cloned().chain(asks[..12].iter().map(with_all_evidence)) {
        let vector = Some(direction(&mut draw).to_vec());
        for (fusion, vector) in [(Fusion::Off, None), (Fusion::Text, None), (Fusion::Text, vector)] {
            let filter = Filter::default();
            let open = RecallQuery { filter, top_k: TOP_K_MAX, fusion, vector, ..query.clone() };
            let whole = answer(&view, &open, &mut scratch);
            for filter in &filters {
                let narrow =
                    answer(&view, &RecallQuery { filter: filter.clone(), ..open.clone() }, &mut scratch);
                assert_eq!(narrow.seeds, whole.seeds);
                let wanted: Vec<&Hit> = whole.hits.iter().filter(|hit| passes(filter, hit)).collect();
                kept += wanted.len();
                left_out += whole.hits.len() - wanted.len();
                if fusion == Fusion::Off {
                    assert_eq!(narrow.hits.iter().collect::<Vec<_>>(), wanted);
                }
                // Fused hits have the same scores; their places among texts are those among themselves.
                let scores = |hit: &Hit| (hit.id.clone(), hit.score.to_bits());
                let wanted: Vec<_> = wanted.into_iter().map(scores).collect();
                assert_eq!(narrow.hits.iter().map(scores).collect::<Vec<_>>(), wanted);
                let places: BTreeSet<u32> = narrow.hits.iter().filter_map(|hit| hit.text_rank).collect();
                assert!(places.iter().copied().eq((1..).take(places.len())), "no place is left empty");
            }
        }
    }
    assert!(kept > 1_000 && left_out > 1_000, "{kept} {left_out}");
}

/// Memories and entities, joined at random, some of them by inhibition.
fn tangle(seed: u64) -> World {
    let mut draw = drawn(seed);
    let mut world = World::default();
    NAMES.iter().for_each(|name| _ = world.node(*name, *name, NodeType::Concept));
    let count = 100 + draw(200);
    for n in 0..count {
        let (length, mention) = (3 + draw(9), NAMES[draw(NAMES.len())]);
        let said = sentence(&mut draw, length);
        let mentions: &[&str] = if draw(3) > 0 { &[mention] } else { &[] };
        let row = world.memory(&format!("m{n:03}"), &said, mentions);
        row.last_modified = (draw(3) > 0).then(|| i64::try_from(draw(1_000)).unwrap());
    }
    for _ in 0..2 * count {
        let relation = ["CALLS", "COACTIVATED", "LEADS_TO", "SUPERSEDES", "INHIBITS"][draw(5)];
        let weight = f32::from(u8::try_from(1 + draw(100)).unwrap()) / 50.0;
        world.edge(&format!("m{:03}", draw(count)), &format!("m{:03}", draw(count)), relation, weight);
    }
    world
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_longer_answer_begins_with_the_shorter(seed: u64, shorter in 1_usize..200) {
        let world = tangle(seed);
        let (view, mut scratch) = (world.view(), Scratch::default());
        for query in with_and_without_evidence(questions(seed, &world).into_iter().take(6).collect()) {
            let longest = answer(&view, &RecallQuery { top_k: 200, ..query.clone() }, &mut scratch);
            for top_k in [shorter, 1, 5, 20] {
                let found = answer(&view, &RecallQuery { top_k, ..query.clone() }, &mut scratch);
                prop_assert_eq!(&found.seeds, &longest.seeds);
                prop_assert_eq!(&found.hits[..], &longest.hits[..top_k.min(longest.hits.len())]);
            }
        }
    }
}

/// Concepts `n00`, `n01`, ... that lead to each other over slots of weight 1.
fn shape(count: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> View {
    let mut world = World::default();
    (0..count).for_each(|n| _ = world.node(format!("n{n:02}"), format!("n{n:02}"), NodeType::Concept));
    edges
        .into_iter()
        .for_each(|(a, b)| world.edge(&format!("n{a:02}"), &format!("n{b:02}"), "LEADS_TO", 1.0));
    world.view()
}

fn from_n00(top_k: usize) -> RecallQuery {
    RecallQuery { seeds: vec![("n00".to_owned(), 0.3)], top_k, fusion: Fusion::Off, ..RecallQuery::default() }
}

#[test]
fn shapes_at_the_edge() {
    let star = answer_once(&shape(30, (1..30).map(|n| (0, n))), &from_n00(30));
    assert_eq!((star.hits.len(), star.counters.slots_read, star.counters.nodes_touched), (30, 29, 30));
    // Equal hits are ordered by id.
    assert!(star.hits[1..].is_sorted_by(|a, b| a.id < b.id && a.score.to_bits() == b.score.to_bits()));
    let clique = shape(20, (0..400).map(|n| (n / 20, n % 20)).filter(|(a, b)| a != b));
    let clique = answer_once(&clique, &from_n00(20));
    assert_eq!((clique.hits[0].id.as_str(), clique.hits.len()), ("n00", 20));
    let ladder = shape(20, (0..9).flat_map(|n| [(n, n + 1), (n + 10, n + 11), (n, n + 10)]));
    let ladder = answer_once(&ladder, &from_n00(20));
    assert_eq!(ladder.hits.len(), 20, "ten steps from one corner");
    let chain = answer_once(&shape(13, (0..12).map(|n| (n, n + 1))), &from_n00(20));
    let within_ten: Vec<String> = (0..=10).map(|n| format!("n{n:02}")).collect();
    assert_eq!(ids(&chain), within_ten);
    let last = chain.hits[10].route.as_ref().unwrap();
    assert_eq!(last.ids, within_ten, "as deep as spreading goes");
    assert!((f64::from(last.path.arrival) - 0.85_f64.powi(10)).abs() < 1e-6);
    // Personalised PageRank goes one hop an iteration.
    let walk = RecallQuery { spread: Spread::PersonalPageRank, ..from_n00(40) };
    let chain = answer_once(&shape(40, (0..39).map(|n| (n, n + 1))), &walk);
    let hops: BTreeSet<usize> =
        chain.hits.iter().map(|hit| hit.route.as_ref().unwrap().path.slots.len()).collect();
    assert!(hops.into_iter().eq(0..=usize::from(HOPS_MAX)));
    // The last is reached by the sum of many signals, of which none is above the threshold by itself.
    let fan = (1..201).map(|n| (0, n)).chain((1..201).map(|n| (n, 201))).chain([(201, 202)]);
    let fan = answer_once(&shape(203, fan), &from_n00(210));
    let last = fan.hits.iter().find(|hit| hit.id == "n202").unwrap();
    assert_eq!(last.route.as_ref().unwrap().ids.len(), 4);
    let empty =
        answer_once(&World::default().view(), &RecallQuery { text: "anything".to_owned(), ..from_n00(5) });
    assert_eq!((empty.hits.len(), empty.unknown), (0, vec!["n00".to_owned()]));
}

#[test]
fn no_evidence_is_an_empty_answer() {
    let view = agent().view();
    for text in ["", "zebra quantum", "?!"] {
        let found = answer_once(&view, &RecallQuery { text: text.to_owned(), ..RecallQuery::default() });
        assert_eq!((found.hits.len(), found.seeds.len(), found.counters.slots_read), (0, 0, 0), "{text}");
    }
}

#[test]
fn unknown_seeds_are_reported_and_others_count() {
    let view = shape(3, [(0, 1)]);
    let seeds = ["nobody", "n00", ""].map(|id| (id.to_owned(), 1.0)).to_vec();
    let found = answer_once(&view, &RecallQuery { seeds, ..RecallQuery::default() });
    assert_eq!(found.unknown, ["nobody", ""]);
    assert_eq!(ids(&found), ["n00", "n01"]);
    assert_eq!(found.seeds.len(), 1);
}

/// A name, a similar name, an effect of it, and a memory that mentions it.
fn four() -> View {
    let mut world = World::default();
    world.node("Alpha", "Alpha", NodeType::Concept);
    world.node("Alphabet", "Alphabet", NodeType::Concept);
    world.node("effect", "what follows", NodeType::Function);
    world.memory("m", "this much was said", &["Alpha"]).last_modified = Some(1_000);
    world.edge("Alpha", "effect", "CALLS", 0.9);
    world.view()
}

#[test]
fn dimensions_count_only_when_requested() {
    let view = four();
    let hits = |dimensions: &[Dimension]| {
        let dimensions = dimensions.iter().copied().collect();
        let query = RecallQuery {
            text: "alpha".to_owned(),
            fusion: Fusion::Off,
            dimensions,
            ..RecallQuery::default()
        };
        let found = answer_once(&view, &query);
        let hit = |hit: &Hit| {
            let Dimensions { structural, semantic, temporal, causal } = hit.dimensions;
            (hit.id.clone(), [structural, semantic, temporal, causal], hit.bonus)
        };
        found.hits.iter().map(hit).collect::<Vec<_>>()
    };
    assert!(hits(&[]).is_empty(), "nothing has a score without dimensions");
    for (at, dimension) in Dimension::ALL.into_iter().enumerate() {
        let found = hits(&[dimension]);
        let alone =
            |of: &[f32; 4]| of.iter().enumerate().all(|(other, value)| (*value > 0.0) == (other == at));
        assert!(
            found.iter().all(|(_, of, bonus)| alone(of) && bonus.to_bits() == 1.0_f32.to_bits()),
            "{found:?}"
        );
        let ids: BTreeSet<&str> = found.iter().map(|(id, ..)| id.as_str()).collect();
        let wanted: &[&str] = match dimension {
            Dimension::Structural => &["Alpha", "effect", "m"],
            Dimension::Semantic => &["Alpha", "Alphabet"],
            // Nodes that change with the seed: without other dimensions nothing else is relevant.
            Dimension::Temporal => &["effect", "m"],
            Dimension::Causal => &["effect"],
        };
        assert!(wanted.iter().all(|id| ids.contains(id)), "{dimension:?}: {ids:?}");
        let resembles = matches!(dimension, Dimension::Structural | Dimension::Semantic);
        assert_eq!(ids.contains("Alphabet"), resembles, "{dimension:?}");
    }
    let all = hits(&Dimension::ALL);
    let of = |id: &str| all.iter().find(|(hit, ..)| hit == id).unwrap();
    assert!(of("effect").1[3] > 0.5 && of("effect").2 >= 1.3, "{all:?}");
    assert!(of("Alphabet").1[1] > 0.0);
}

#[test]
fn temporal_scores_use_requested_dimensions_only() {
    // Causes of a seed count, but not spreading: the activation and the time of the seed have no effect.
    let mut world = World::default();
    world.node("seed", "", NodeType::Function).last_modified = Some(1_000);
    world.node("cause", "", NodeType::Function);
    world.edge("cause", "seed", "CALLS", 1.0);
    let seeds = vec![("seed".to_owned(), 1.0)];
    let dimensions = BTreeSet::from([Dimension::Temporal, Dimension::Causal]);
    let query = RecallQuery { seeds, dimensions, fusion: Fusion::Off, ..RecallQuery::default() };
    let found = answer_once(&world.view(), &query);
    assert_eq!(ids(&found), ["cause"]);
    assert!(found.hits[0].score >= found.hits[0].dimensions.causal, "{:?}", found.hits[0]);

    // A dated node of similar name is filtered out: the score of the remaining node is the same with and without it.
    let mut world = World::default();
    world.node("dated", "alpine meadows", NodeType::Concept).last_modified = Some(1_000);
    world.memory("undated", "alphorns were blown in the valley", &[]);
    let (text, dimensions) = ("alpha".to_owned(), BTreeSet::from([Dimension::Semantic, Dimension::Temporal]));
    let query = RecallQuery { text, dimensions, fusion: Fusion::Off, ..RecallQuery::default() };
    let of_undated = |kinds: Vec<String>| {
        let query = RecallQuery { filter: Filter { kinds, ..Filter::default() }, ..query.clone() };
        let found = answer_once(&world.view(), &query);
        (found.hits.len(), found.hits.into_iter().find(|hit| hit.id == "undated").unwrap().score.to_bits())
    };
    let (all, score) = of_undated(Vec::new());
    assert_eq!(all, 2);
    assert_eq!(of_undated(vec!["Memory".to_owned()]), (1, score));
}

#[test]
fn contrast_is_reported_and_gates() {
    let (world, mut scratch, mut gated) = (agent(), Scratch::default(), 0);
    let view = world.view();
    for query in questions(19, &world).into_iter().take(60) {
        let with = |xlr| RecallQuery { xlr, fusion: Fusion::Off, top_k: TOP_K_MAX, ..query.clone() };
        let [off, report, gate] =
            [XlrMode::Off, XlrMode::Report, XlrMode::Gate].map(|xlr| answer(&view, &with(xlr), &mut scratch));
        assert!(off.anti_seeds.is_empty() && off.hits.iter().all(|hit| hit.contrast.is_none()));
        let told: Vec<Hit> = report.hits.iter().map(|hit| Hit { contrast: None, ..hit.clone() }).collect();
        assert_eq!(told, off.hits, "a report changes no score");
        assert_eq!(report.anti_seeds, gate.anti_seeds);
        let plain: BTreeMap<&str, &Hit> = report.hits.iter().map(|hit| (hit.id.as_str(), hit)).collect();
        for hit in &gate.hits {
            let before = plain[hit.id.as_str()];
            assert_eq!(hit.contrast, before.contrast);
            let factor = hit.contrast.map_or(1.0, |field| field.gate);
            let wanted = before.dimensions.structural * factor;
            assert_eq!(hit.dimensions.structural.to_bits(), wanted.to_bits());
            gated += usize::from(factor < 0.9);
        }
    }
    assert!(gated > 100, "{gated}");
}

#[test]
fn a_seed_without_its_mass_scores_returned_activation() {
    let view = shape(3, [(0, 1)]);
    let without = RecallQuery { seed_mass: SeedMass::Subtract, fusion: Fusion::Off, ..from_n00(3) };
    assert_eq!(ids(&answer_once(&view, &without)), ["n01"], "no activation returns to n00");
    let with = RecallQuery { seed_mass: SeedMass::Keep, ..without };
    assert_eq!(ids(&answer_once(&view, &with)), ["n00", "n01"]);
}

#[test]
fn invalid_queries_are_refused_by_name() {
    let view = shape(3, [(0, 1)]);
    let refused = |query: &RecallQuery| {
        recall(&view, query, &config(), &mut Scratch::default()).unwrap_err().to_string()
    };
    for top_k in [0, 1_001, usize::MAX] {
        assert!(refused(&from_n00(top_k)).contains("top_k"));
    }
    answer_once(&view, &from_n00(1_000));
    for least in [-0.1, 1.5, f32::NAN, f32::INFINITY] {
        let query = RecallQuery { min_relevance: Some(least), ..from_n00(1) };
        assert!(refused(&query).contains("min_relevance"), "{least}");
    }
    for similarity in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let outside = vec![("fine".to_owned(), 0.5), ("elsewhere".to_owned(), similarity)];
        let told = refused(&RecallQuery { outside, ..from_n00(1) });
        assert!(told.contains("similarity") && told.contains("elsewhere"), "{told}");
    }
    let long = |bytes: usize| RecallQuery { text: "a".repeat(bytes), ..from_n00(1) };
    assert!(refused(&long(TEXT_BYTES_MAX + 1)).contains("text"));
    let names = |count: usize| vec!["Memory".to_owned(); count];
    let of = |kinds: usize, tiers: usize| RecallQuery {
        filter: Filter { kinds: names(kinds), tiers: names(tiers), ..Filter::default() },
        ..RecallQuery::default()
    };
    assert!(refused(&of(NAMES_MAX + 1, 0)).contains("kinds"));
    assert!(refused(&of(0, NAMES_MAX + 1)).contains("tiers"));
    assert!(recall(&view, &of(NAMES_MAX, NAMES_MAX), &config(), &mut Scratch::default()).is_ok());
    assert_eq!(answer_once(&view, &long(TEXT_BYTES_MAX)).hits.len(), 1);
    for score in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, -0.0, 0.0, 1.5] {
        let seeds = vec![("n00".to_owned(), score)];
        assert!(refused(&RecallQuery { seeds, ..RecallQuery::default() }).contains("n00"), "{score}");
    }
    let least = vec![("n00".to_owned(), f32::from_bits(1))];
    assert_eq!(
        answer_once(&view, &RecallQuery { seeds: least, ..RecallQuery::default() }).hits.len(),
        2,
        "divided by the greatest"
    );
}

#[test]
fn invalid_configs_are_refused_by_name() {
    let config = |params: ActivationConfig, text: f32, top_k_max: usize| {
        let fusion = FusionWeights { text: f64::from(text), ..FusionWeights::default() };
        let one = RecallConfig::new(params, ActivationConfig::REFERENCE, fusion, top_k_max);
        assert_eq!(
            one.is_ok(),
            RecallConfig::new(ActivationConfig::RECALL, params, fusion, top_k_max).is_ok()
        );
        one.map_err(|why| why.to_string())
    };
    let base = ActivationConfig::RECALL;
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, -0.0, 0.0] {
        assert!(bad == 0.0 || config(base, bad, 10).unwrap_err().contains("text_weight"));
        assert!(
            config(ActivationConfig { threshold: bad, ..base }, 0.5, 10).unwrap_err().contains("threshold")
        );
        assert!(DecayFactor::new(bad).unwrap_err().to_string().contains("decay"));
        assert!(config(ActivationConfig { cap: bad, ..base }, 0.5, 10).unwrap_err().contains("cap"));
    }
    for (max_depth, sound) in [(0, false), (1, true), (20, true), (21, false)] {
        assert_eq!(config(ActivationConfig { max_depth, ..base }, 0.5, 10).is_ok(), sound);
    }
    for (top_k_max, sound) in [(0, false), (1, true), (1_000, true), (1_001, false)] {
        assert_eq!(config(base, 0.5, top_k_max).is_ok(), sound);
    }
    let few = config(base, 1_000.0, 2).unwrap();
    let view = shape(3, [(0, 1)]);
    assert!(recall(&view, &from_n00(3), &few, &mut Scratch::default()).is_err());
    let query = RecallQuery { fusion: Fusion::Text, ..from_n00(2) };
    let found = recall(&view, &query, &few, &mut Scratch::default()).unwrap();
    assert!(found.hits.iter().all(|hit| hit.score.is_finite() && hit.score > 0.0));
}

#[test]
fn rank_boost_before_cut() {
    // `b` is a little nearer; all nodes link to `a`.
    let mut world = World::default();
    world.node("seed", "start", NodeType::Concept);
    ["a", "b"].iter().for_each(|id| _ = world.node(*id, *id, NodeType::MEMORY));
    world.edge("seed", "a", "LEADS_TO", 0.50);
    world.edge("seed", "b", "LEADS_TO", 0.51);
    for n in 0..20 {
        let id = format!("n{n:02}");
        world.node(&id, &id, NodeType::Concept);
        world.edge(&id, "a", "LEADS_TO", 0.5);
    }
    let filter = Filter { kinds: vec!["Memory".to_owned()], ..Filter::default() };
    let query = RecallQuery {
        seeds: vec![("seed".to_owned(), 1.0)],
        filter,
        fusion: Fusion::Off,
        ..RecallQuery::default()
    };
    let found = answer_once(&world.view(), &RecallQuery { top_k: 1, ..query.clone() });
    assert_eq!(ids(&found), ["a"]);
    let both = answer_once(&world.view(), &query);
    assert!(both.hits[0].dimensions.structural < both.hits[1].dimensions.structural);
    // `a` has the greatest PageRank, so its score is 1.05 times its value.
    let a = &both.hits[0];
    assert!((f64::from(a.score) - 1.05 * f64::from(a.dimensions.structural)).abs() < 1e-6);
}

#[test]
fn text_adds_unconnected_memories_and_can_be_disabled() {
    let mut world = World::default();
    world.node("Dana", "Dana", NodeType::Concept);
    world.memory("m1", "Dana prefers small changes", &["Dana"]);
    world.memory("m2", "what somebody prefers is written down", &[]).label = "a note".to_owned();
    let view = world.view();
    let query = RecallQuery { text: "what Dana prefers".to_owned(), ..RecallQuery::default() };
    let found = answer_once(&view, &query);
    let only_text = found.hits.iter().find(|hit| hit.id == "m2").unwrap();
    assert_eq!((only_text.text_rank, &only_text.route), (Some(2), &None));
    assert_eq!(found.hits.iter().find(|hit| hit.id == "m1").unwrap().text_rank, Some(1));
    let off = answer_once(&view, &RecallQuery { fusion: Fusion::Off, ..query });
    assert!(off.hits.iter().all(|hit| hit.text_rank.is_none()) && off.counters.postings_read == 0);
    // A query without names is seeded by texts alone, also if these do not pass the filter.
    let filter = Filter { kinds: vec!["Entity".to_owned()], ..Filter::default() };
    let led = RecallQuery { text: "written down".to_owned(), filter, ..RecallQuery::default() };
    assert_eq!(answer_once(&view, &led).seeds[0].id, "m2");
}

/// Links with a name of the query count for memories that words do not find, and not again for those that they do.
#[test]
fn links_say_what_words_do_not_say() {
    let mut world = World::default();
    for name in ["staging", "Vega"] {
        world.node(name, name, NodeType::Concept);
    }
    world.relate("staging", "runs_on", "Vega");
    world.memory("asked", "The backfill on staging was fast", &["staging"]);
    for number in 0..6 {
        world.memory(&format!("topic{number}"), "An adapter on staging printed twice", &["staging"]);
    }
    world.memory("unnamed", "It was switched off at night", &["staging"]);
    world.memory("related", "A cluster with two nodes", &["Vega"]);
    let view = world.view();
    for seed_mass in [SeedMass::Keep, SeedMass::Subtract] {
        let text = "how fast was the backfill on staging".to_owned();
        let query = RecallQuery { text, seed_mass, ..RecallQuery::default() };
        let recalled = answer_once(&view, &query);
        let link = |id: &str| {
            let hit = recalled.hits.iter().find(|hit| hit.id == id);
            hit.unwrap_or_else(|| panic!("{id} among {:?}", ids(&recalled))).dimensions.structural
        };
        assert_eq!(recalled.hits[0].id, "asked", "{:?}", ids(&recalled));
        for known in ["asked", "topic0", "topic5"] {
            assert!(link(known) < link("unnamed") / 4.0 && link(known) < link("related") / 4.0, "{known}");
        }
    }
}

#[test]
fn memories_are_found_in_languages_without_spaces() {
    let mut world = World::default();
    for name in ["张三", "東京都", "สมชาย", "서울"] {
        world.node(name, name, NodeType::Concept);
    }
    for (id, content, mentions) in [
        ("zh tea", "张三早上喜欢喝绿茶，不喜欢咖啡。", &["张三"][..]),
        ("zh work", "张三在上海的一家银行工作。", &["张三"]),
        ("zh train", "去北京的火车每天早上八点出发。", &[]),
        ("ja home", "田中さんは東京都に住んでいて、電車で通勤しています。", &["東京都"]),
        ("ja lunch", "昨日の昼ごはんはラーメンでした。", &[]),
        ("ja server", "サーバーの再起動には管理者のパスワードが必要です。", &[]),
        ("th cat", "สมชายเลี้ยงแมวสองตัวที่บ้าน", &["สมชาย"]),
        ("th food", "ร้านอาหารใกล้สถานีเปิดตอนสิบโมง", &[]),
        ("ko home", "민수는 서울에서 회사를 다닌다.", &["서울"]),
        ("ko sea", "바다는 여름에 가장 아름답다.", &[]),
        ("en build", "The build needs Java 21", &[]),
    ] {
        world.memory(id, content, mentions);
    }
    let view = world.view();
    for (question, wanted) in [
        ("张三喜欢喝什么", "zh tea"),
        ("谁在银行工作", "zh work"),
        ("火车几点出发", "zh train"),
        ("誰が東京都に住んでいますか", "ja home"),
        ("サーバーを再起動するには何が必要ですか", "ja server"),
        ("ラーメンを食べたのはいつ", "ja lunch"),
        ("แมวของสมชายมีกี่ตัว", "th cat"),
        ("ร้านอาหารเปิดกี่โมง", "th food"),
        ("서울에 있는 회사", "ko home"),
        ("여름 바다", "ko sea"),
        ("what does the build need", "en build"),
    ] {
        let query = RecallQuery { text: question.to_owned(), ..RecallQuery::default() };
        let found = answer_once(&view, &query);
        assert_eq!(ids(&found).first(), Some(&wanted), "{question}: {:?}", ids(&found));
        assert!(found.hits[0].text_rank.is_some(), "{question}");
    }
}

#[test]
fn partial_nodes_are_counted_and_reported() {
    let mut world = World::default();
    (0..4).for_each(|n| world.node(format!("n{n:02}"), "l", NodeType::Concept).partial = n % 2 == 1);
    (0..3).for_each(|n| world.edge(&format!("n{n:02}"), &format!("n{:02}", n + 1), "LEADS_TO", 1.0));
    let found = answer_once(&world.view(), &from_n00(3));
    assert_eq!(found.counters.partial_nodes, 2, "the fourth was reached, though it is no hit");
    assert_eq!(found.hits.iter().map(|hit| hit.partial).collect::<Vec<_>>(), [false, true, false]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn any_query_has_a_valid_result(text in "\\PC{0,60}", ids in prop::collection::vec("[mn0-9]{0,4}|Dana|Dune", 0..4), score in 1e-9_f32..=1.0, top_k in 1_usize..=1_000, since: i64) {
        thread_local! {
            static VIEW: View = agent().view();
        }
        VIEW.with(|view| {
            let seeds: Vec<(String, f32)> = ids.into_iter().map(|id| (id, score)).collect();
            for (profile, spread) in [(Profile::Recall, Spread::Activation), (Profile::Reference, Spread::PersonalPageRank)] {
                let filter = Filter { since: Some(since).filter(|since| since % 2 == 0), ..Filter::default() };
                let query = RecallQuery { text: text.clone(), seeds: seeds.clone(), top_k, filter, profile, spread, ..RecallQuery::default() };
                let found = answer_once(view, &query);
                assert!(found.hits.len() <= top_k && found.seeds.len() <= 200);
                assert!(found.hits.iter().all(|hit| hit.score > 0.0 && hit.score.is_finite()));
                assert!(found.hits.iter().all(|hit| (0.0..=1.0).contains(&hit.dimensions.structural)));
                assert!(found.hits.is_sorted_by(|a, b| (b.score, &a.id) < (a.score, &b.id)));
                assert_eq!(answer_once(view, &query).id, found.id);
            }
        });
    }
}

#[test]
fn the_id_depends_on_the_whole_query() {
    let base = from_n00(3);
    let filter = |change: fn(&mut Filter)| {
        let mut filter = Filter::default();
        change(&mut filter);
        RecallQuery { filter, ..base.clone() }
    };
    let asks = [
        base.clone(),
        RecallQuery { text: "x".to_owned(), ..base.clone() },
        from_n00(4),
        RecallQuery { seeds: vec![("n00".to_owned(), 0.4)], ..base.clone() },
        RecallQuery { seeds: Vec::new(), ..base.clone() },
        RecallQuery { profile: Profile::Reference, ..base.clone() },
        RecallQuery { spread: Spread::PersonalPageRank, ..base.clone() },
        RecallQuery { fusion: Fusion::Text, ..base.clone() },
        filter(|filter| filter.kinds = vec!["Memory".to_owned()]),
        filter(|filter| filter.tiers = vec!["Memory".to_owned()]),
        filter(|filter| filter.since = Some(0)),
        filter(|filter| filter.session = Some(String::new())),
        RecallQuery { priming: true, ..base.clone() },
        RecallQuery { min_relevance: Some(0.0), ..base.clone() },
        RecallQuery { min_relevance: Some(0.5), ..base.clone() },
        RecallQuery { relevance: false, ..base.clone() },
    ];
    let at =
        |generation: u64| asks.iter().map(move |query| query.id(graph::index::Generation(generation), &[]));
    let mut names: BTreeSet<String> = at(0).chain(at(1)).collect();
    assert_eq!(names.len(), 2 * asks.len());
    // The id also depends on the primed nodes.
    let primed = |id: &str, score: f32| {
        RecallQuery { priming: true, ..base.clone() }.id(graph::index::Generation(0), &[(id, score)])
    };
    names.extend([primed("n01", 0.1), primed("n02", 0.1), primed("n02", 0.05)]);
    assert_eq!(names.len(), 2 * asks.len() + 3);
    assert!(names.iter().all(|name| name.len() == 32));
}

/// A least relevance takes hits out and changes nothing about the others, which are the same in any list.
#[test]
fn a_relevant_answer_is_the_answer_without_the_others() {
    let mut world = World::default();
    world.node("Ada", "Ada", NodeType::Concept);
    for (id, text) in [
        ("m1", "Ada found the key of the harbour office"),
        ("m2", "the harbour was cold"),
        ("m3", "soup again"),
        ("m4", "where is the key"),
    ] {
        world.memory(id, text, &["Ada"]);
    }
    let view = world.view();
    let of = |top_k: usize, min_relevance: Option<f32>| {
        let text = "key of the harbour office of Ada".to_owned();
        answer_once(&view, &RecallQuery { text, top_k, min_relevance, ..RecallQuery::default() }).hits
    };
    let all = of(20, None);
    let relevance = |id: &str| all.iter().find(|hit| hit.id == id).and_then(|hit| hit.relevance);
    assert!(relevance("m1") > relevance("m4") && relevance("m4") > relevance("m3"), "{all:#?}");
    assert_eq!(relevance("Ada"), None);
    for least in [0.0, 0.03, 0.1, 0.5, 1.0] {
        let kept: Vec<Hit> =
            all.iter().filter(|hit| hit.relevance.is_some_and(|own| own >= least)).cloned().collect();
        assert_eq!(of(20, Some(least)), kept, "{least}");
    }
    assert_eq!(of(1, None), all[..1]);
    // Nothing is known of a question without a word that counts.
    let stop = RecallQuery { text: "of the".to_owned(), ..RecallQuery::default() };
    let seeded = RecallQuery { seeds: vec![("Ada".to_owned(), 1.0)], ..stop };
    assert!(answer_once(&view, &seeded).hits.iter().all(|hit| hit.relevance.is_none()));
}

/// Two unconnected names, and a memory that mentions the second.
fn apart() -> View {
    let mut world = World::default();
    ["Ada", "Bea"].iter().for_each(|name| _ = world.node(*name, *name, NodeType::Concept));
    world.memory("m", "what was said of her", &["Bea"]);
    world.view()
}

/// Recalls with priming by a history, and records the query in it.
fn recall_with_history(view: &View, query: &RecallQuery, memory: &mut QueryHistory) -> RecallResult {
    let primes = |seeds: &[(NodeId, f32)]| prime(view.graph(), memory, seeds);
    let found = recall_primed(view, query, &config(), primes, &mut Scratch::default()).unwrap();
    found.record_in(view.graph(), query, 7, memory);
    found
}

#[test]
fn nodes_queried_together_twice_are_primed() {
    let (view, mut memory) = (apart(), QueryHistory::default());
    let mut about = |text: &str, priming: bool| {
        let query =
            RecallQuery { text: text.to_owned(), priming, fusion: Fusion::Off, ..RecallQuery::default() };
        recall_with_history(&view, &query, &mut memory)
    };
    let ids = |found: &RecallResult| found.hits.iter().map(|hit| hit.id.clone()).collect::<BTreeSet<_>>();
    assert_eq!(ids(&about("Ada and Bea", false)).len(), 3);
    let once = about("Ada", true);
    assert!(once.primed.is_empty() && ids(&once).len() == 1, "one common query does not prime: {once:?}");
    let both = about("Ada and Bea", true);
    assert!(both.primed.is_empty(), "a seed is not primed: {both:?}");
    // Of three queries with Ada two were with Bea.
    let third = about("Ada", true);
    assert_eq!(third.primed.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["Bea"]);
    let part = third.primed[0].score / third.seeds[0].score;
    assert!((part - 0.2 / 3.0).abs() < 1e-6, "{part}");
    assert_eq!(ids(&third).into_iter().collect::<Vec<_>>(), ["Ada", "Bea", "m"]);
    assert_eq!(third.hits[0].id, "Ada", "priming does not dominate the query");
    let m = third.hits.iter().find(|hit| hit.id == "m").unwrap();
    assert_eq!(m.route.as_ref().unwrap().ids, ["Bea", "m"], "it was reached from the primed node");
    let without = about("Ada", false);
    assert!(without.primed.is_empty() && ids(&without).len() == 1);
    assert!(without.id != third.id);
}

#[test]
fn primed_scores_are_relative_to_the_strongest_seed() {
    let (view, mut memory) = (apart(), QueryHistory::default());
    let query = |seeds: &[(&str, f32)]| RecallQuery {
        seeds: seeds.iter().map(|(id, score)| ((*id).to_owned(), *score)).collect(),
        priming: true,
        ..RecallQuery::default()
    };
    for _ in 0..2 {
        recall_with_history(&view, &query(&[("Ada", 1.0), ("Bea", 1.0)]), &mut memory);
    }
    let found = recall_with_history(&view, &query(&[("Ada", 0.002)]), &mut memory);
    assert!((found.primed[0].score - 0.0002).abs() < 1e-9, "{found:?}");
    let [ada, bea] = ["Ada", "Bea"].map(|id| found.hits.iter().find(|hit| hit.id == id).unwrap());
    assert!(ada.dimensions.structural > 5.0 * bea.dimensions.structural, "{found:?}");
}

#[test]
fn primed_nodes_that_the_graph_does_not_have_are_ignored() {
    let view = apart();
    let seeds = vec![("Ada".to_owned(), 1.0)];
    let query = RecallQuery { seeds, priming: true, ..RecallQuery::default() };
    let bea = view.graph().find("Bea").unwrap();
    let primed = |nodes: Vec<(NodeId, f32)>| {
        recall_primed(&view, &query, &config(), |_| nodes, &mut Scratch::default()).unwrap()
    };
    assert_eq!(primed(vec![(NodeId(3), 0.5), (bea, 0.5)]), primed(vec![(bea, 0.5)]));
}

#[test]
fn history_keeps_ids_without_primed_nodes() {
    let (view, mut memory) = (apart(), QueryHistory::default());
    for text in ["Ada Bea", "Ada Bea", "Ada"] {
        let query = RecallQuery { text: text.to_owned(), priming: true, ..RecallQuery::default() };
        recall_with_history(&view, &query, &mut memory);
    }
    let long = RecallQuery { text: "é".repeat(10_000), ..RecallQuery::default() };
    recall_with_history(&view, &long, &mut memory);
    let kept: Vec<_> = memory.queries().collect();
    assert_eq!((kept.len(), &*kept[2].text, kept[2].now_ms), (4, "Ada", 7));
    assert!(memory.seeds(kept[2]).eq(["Ada"]), "otherwise priming would reinforce itself");
    let activated: Vec<&str> = memory.activated(kept[2]).collect();
    assert!(activated.contains(&"Bea") && activated.contains(&"m"));
    assert_eq!((kept[3].text.len(), kept[3].now_ms), (1_024, 7), "cut, at the instant of the caller");
}

#[test]
fn unset_fields_take_the_defaults() {
    assert_eq!(*config().default_query(), RecallQuery::default());
    let default_query =
        RecallQuery { dimensions: Dimension::ALL.into(), priming: true, ..RecallQuery::default() };
    assert_eq!(*config().with_default_query(default_query.clone()).default_query(), default_query);
}
