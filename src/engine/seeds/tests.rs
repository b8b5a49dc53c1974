//! Seeds against a scan of all labels by the definition, and the cases it is designed for.

use super::*;
use crate::graph::builder::GraphBuilder;
use crate::graph::columns::NodeRow;
use crate::graph::kinds::NodeType;
use crate::semantic::trigram::TEXT_BYTES_MAX;
use crate::text::fold::cut;
use crate::text::ranking::TextIndex;
use crate::text::stem::stem;
use crate::text::stop::is_stop;
use crate::text::words::places;
use proptest::prelude::*;
use std::borrow::Cow;

/// A graph with its indexes.
struct World {
    graph: Graph,
    labels: Labels,
    facts: Facts,
    texts: TextIndex,
    documents: Documents,
}

impl World {
    /// Nodes `n00000`, `n00001`, ... of these labels and tags; PageRanks differ a little.
    fn of<S: AsRef<str>>(labels: &[(S, Vec<String>)]) -> Self {
        Self::with_memories(labels, |_| false)
    }

    /// Of these nodes some are memories.
    fn with_memories<S: AsRef<str>>(labels: &[(S, Vec<String>)], is_memory: impl Fn(usize) -> bool) -> Self {
        let mut builder = GraphBuilder::default();
        for (n, (label, tags)) in labels.iter().enumerate() {
            let node_type = if is_memory(n) { NodeType::MEMORY } else { NodeType::Concept };
            let row = NodeRow::new(format!("n{n:05}"), label.as_ref(), node_type);
            builder.add_node(NodeRow { tags: tags.clone(), ..row }).unwrap();
        }
        let graph = builder.finalize().unwrap();
        let standing = (0..graph.node_count()).map(|n| (n % 3) as f32).collect();
        let graph = graph.with_pagerank(standing);
        let (labels, facts) = (Labels::build(&graph), Facts::default());
        Self { graph, labels, facts, texts: TextIndex::default(), documents: Documents::default() }
    }

    /// Gives the first nodes these texts.
    fn say<S: AsRef<str>>(&mut self, texts: &[S]) {
        let ids: Vec<String> = (0..texts.len()).map(|n| format!("n{n:05}")).collect();
        let said = ids.iter().zip(texts).map(|(id, text)| (id.as_str(), text.as_ref()));
        self.texts.add(said).unwrap();
        self.documents = self.texts.documents(&self.graph);
        assert!(self.documents.count() as usize == texts.len(), "each text has a node");
    }

    fn named(labels: &[&str]) -> Self {
        Self::of(&labels.iter().map(|label| (*label, Vec::new())).collect::<Vec<_>>())
    }

    fn sources(&self) -> SeedIndexes<'_> {
        let Self { graph, labels, facts, texts, documents } = self;
        SeedIndexes { graph, labels, facts, texts, documents }
    }

    fn node(&self, label: &str) -> NodeId {
        self.graph.nodes().find(|node| self.graph.label(*node) == label).unwrap()
    }

    /// Labels and scores, without semantic similarity.
    fn scores(&self, text: &str) -> Vec<(String, f32)> {
        self.labelled_scores(&self.find(text, &[], &[]))
    }

    fn find(&self, text: &str, external: &[(&str, f32)], by_text: &[RankedMemory]) -> SeedResult {
        let query = SeedQuery { text, external, limit: MAX_SEEDS, with_memories: true };
        find(&self.sources(), &query, |most| by_text[..most.min(by_text.len())].to_vec(), |_, _| 0.0).unwrap()
    }

    fn labelled_scores(&self, seeds: &SeedResult) -> Vec<(String, f32)> {
        seeds.seeds.iter().map(|seed| (self.graph.label(seed.node).to_owned(), seed.score)).collect()
    }

    #[track_caller]
    fn expect(&self, text: &str, wanted: &[(&str, f64)]) {
        let got = self.scores(text);
        assert_eq!(got.len(), wanted.len(), "{text}: {got:?}");
        for ((label, score), (named, near)) in got.iter().zip(wanted) {
            assert!(label == named && (f64::from(*score) - near).abs() < 1e-6, "{text}: {got:?}");
        }
    }
}

/// A semantic score derived from the node, so that it affects the order.
fn some_d2(node: NodeId) -> f32 {
    (node.0.wrapping_mul(2_654_435_761) >> 24) as f32 / 255.0
}

/// The words of a folded text, each with whether the one before overlaps it.
fn joined_words(folded: &str) -> Vec<(&str, bool)> {
    let mut end = 0;
    let word = |place: Range<usize>| {
        let overlaps = place.start < end;
        end = place.end;
        (&folded[place], overlaps)
    };
    places(folded).map(word).collect()
}

/// Level 0 by every label.
fn naive_names(world: &World, folded: &str, labels: &[String]) -> BTreeMap<NodeId, f32> {
    let graph = &world.graph;
    let mut seeds: BTreeMap<NodeId, f32> = BTreeMap::new();
    let asked = joined_words(folded);
    let spoken: Vec<Vec<(&str, bool)>> = labels.iter().map(|label| joined_words(label)).collect();
    let stems: Vec<BTreeSet<Cow<'_, str>>> =
        spoken.iter().map(|words| words.iter().map(|(word, _)| stem(word)).collect()).collect();
    let is_same = |label: &[(&str, bool)], asked: &[(&str, bool)]| match (label, asked) {
        ([(first, _), rest @ ..], [(word, _), more @ ..]) => first == word && rest == more,
        _ => false,
    };
    let with = |word: &str| stems.iter().filter(|own| own.contains(&stem(word))).count();
    let mut at = 0;
    while at < asked.len() {
        let run = (at + 1..=asked.len())
            .rev()
            .find(|end| spoken.iter().any(|words| is_same(words, &asked[at..*end])));
        let Some(end) = run else {
            at += 1;
            continue;
        };
        let telling = asked[at..end].iter().filter(|(word, _)| !is_stop(word));
        let rarest = telling.map(|(word, _)| with(word)).min().unwrap_or(labels.len()).max(1);
        for node in
            graph.nodes().filter(|node| is_same(&spoken[node.at()], &asked[at..end])).take(CANDIDATES_MAX)
        {
            seeds.insert(node, narrow(1.0 / rarest as f64));
        }
        // A pair that the last one overlaps is within the name.
        at = end + usize::from(asked.get(end).is_some_and(|(_, overlaps)| *overlaps));
    }
    seeds
}

/// Levels 1 to 5 by every label, for every token: the relevance of each node.
fn naive_relevances(
    world: &World,
    (query, with_memories): (&str, bool),
    labels: &[String],
) -> Vec<(NodeId, f64)> {
    let (graph, folded, tokens) = (&world.graph, fold(query), tokens(query));
    let mut matched: BTreeMap<NodeId, Vec<f64>> = BTreeMap::new();
    let has_tag = |node: NodeId, token: &String| {
        graph.tags(node).any(|tag| fold(tag) == *token || fold(tag) == format!("#{token}"))
    };
    let is_memory = |node: NodeId| graph.node_type(node) == NodeType::MEMORY;
    for token in &tokens {
        let like = world.labels.ngrams().query(token);
        let trigram = |node: NodeId| f64::from(like.score(node.0));
        let tagged = |node: NodeId| has_tag(node, token);
        let said = |node: &NodeId| !labels[node.at()].is_empty();
        let holds: [&dyn Fn(NodeId) -> Option<f64>; 5] = [
            &|node| (labels[node.at()] == *token).then_some(1.0),
            &|node| labels[node.at()].starts_with(token).then_some(0.9),
            &|node| labels[node.at()].contains(token).then_some(0.8),
            &|node| tagged(node).then_some(0.7),
            &|node| Some(0.6 * trigram(node)).filter(|score| *score > 0.6 * 0.3),
        ];
        let mut first: BTreeMap<NodeId, f64> = BTreeMap::new();
        for (at, level) in holds.into_iter().enumerate() {
            let all = graph.nodes().filter(said).filter_map(|node| Some((node, level(node)?)));
            let (mut memories, mut names): (Vec<_>, Vec<_>) = (Vec::new(), all.collect());
            // A tag finds all nodes alike.
            if !with_memories && at != 3 {
                (memories, names) = names.into_iter().partition(|(node, _)| is_memory(*node));
                memories.truncate(CANDIDATES_MAX);
                memories.retain(|(node, _)| at != 4 && tokens.iter().any(|token| has_tag(*node, token)));
            }
            names.truncate(CANDIDATES_MAX);
            for (node, score) in names.into_iter().chain(memories) {
                first.entry(node).or_insert(f64::from(narrow(score)));
            }
        }
        first.into_iter().for_each(|(node, score)| matched.entry(node).or_default().push(score));
    }
    let relevance = |(node, scores): (NodeId, Vec<f64>)| {
        let (count, sum) = (scores.len() as f64, scores.iter().sum::<f64>());
        let best = scores.iter().copied().fold(0.0, f64::max);
        let relevance = match labels[node.at()] == folded {
            true => 1.0,
            false => 0.5 * (sum / count) + 0.35 * (count / tokens.len() as f64) + 0.15 * best,
        };
        (relevance >= 0.1).then_some((node, relevance))
    };
    matched.into_iter().filter_map(relevance).collect()
}

fn naive(world: &World, query: &SeedQuery<'_>, by_text: &[RankedMemory]) -> Vec<(NodeId, f32)> {
    let SeedQuery { text: query, limit, with_memories, .. } = *query;
    let graph = &world.graph;
    let label = |node: NodeId| {
        let folded = fold(graph.label(node));
        cut(&folded, TEXT_BYTES_MAX).to_owned()
    };
    let labels: Vec<String> = graph.nodes().map(label).collect();
    let mut seeds = naive_names(world, &fold(query), &labels);
    let mut relevances = naive_relevances(world, (query, with_memories), &labels);
    relevances.retain(|(node, _)| !seeds.contains_key(node));
    let smallest = seeds.values().copied().reduce(f32::min);
    if smallest.is_some() {
        relevances.sort_by(|a, b| {
            let standing = |node: NodeId| (Reverse(graph.pagerank(node).to_bits()), graph.rank(node));
            b.1.total_cmp(&a.1).then_with(|| standing(a.0).cmp(&standing(b.0)))
        });
        relevances.truncate(50);
    }
    let mut others: Vec<(NodeId, f32)> = relevances
        .into_iter()
        .map(|(node, relevance)| (node, narrow(0.6 * relevance + 0.4 * f64::from(some_d2(node)))))
        .collect();
    sort(graph, &mut others);
    if let Some(smallest) = smallest {
        others.truncate(10);
        others.iter_mut().for_each(|(_, score)| {
            *score = narrow(0.01 * f64::from(smallest) * f64::from(*score));
        });
    } else if !with_memories {
        others.truncate(20);
    }
    seeds.extend(others);
    if smallest.is_none()
        && let Some(best) = by_text.first()
    {
        for ranked in by_text.iter().take(20) {
            let score = narrow(f64::from(ranked.score) / f64::from(best.score));
            let held = seeds.entry(ranked.node).or_default();
            *held = held.max(score);
        }
    }
    let mut seeds: Vec<(NodeId, f32)> = seeds.into_iter().collect();
    sort(graph, &mut seeds);
    seeds.truncate(limit);
    seeds
}

fn sort(graph: &Graph, seeds: &mut [(NodeId, f32)]) {
    let pagerank = |node: NodeId| graph.pagerank(node);
    seeds.sort_by(|a, b| {
        b.1.total_cmp(&a.1)
            .then(pagerank(b.0).total_cmp(&pagerank(a.0)))
            .then(graph.rank(a.0).cmp(&graph.rank(b.0)))
    });
}

fn compare(world: &World, query: &str, limit: usize, by_text: &[RankedMemory]) {
    for with_memories in [true, false] {
        let query = SeedQuery { text: query, external: &[], limit, with_memories };
        compare_query(world, &query, by_text);
    }
}

fn compare_query(world: &World, query: &SeedQuery<'_>, by_text: &[RankedMemory]) {
    let best = |most: usize| by_text[..most.min(by_text.len())].to_vec();
    let d2 = |node, least| Some(some_d2(node)).filter(|d2| f64::from(*d2) >= least).unwrap_or_default();
    let found = find(&world.sources(), query, best, d2).unwrap();
    let got: Vec<(NodeId, f32)> = found.seeds.iter().map(|seed| (seed.node, seed.score)).collect();
    assert_eq!(got, naive(world, query, by_text), "{query:?}");
}

/// Labels as code and people write them.
fn label(draw: &mut impl FnMut(usize) -> usize) -> String {
    let parts =
        ["chat", "handler", "room", "Dune", "memória", "go", "x", "Ação", "graph", "night", "data base", "a"];
    let joints = [" ", "_", "", "-", ". "];
    let count = 1 + draw(4);
    let mut label = String::new();
    for n in 0..count {
        if n > 0 {
            label.push_str(joints[draw(5)]);
        }
        match draw(3) {
            0 => label.push_str(&format!("w{}", draw(400))),
            _ => label.push_str(parts[draw(12)]),
        }
    }
    label
}

fn drawn(mut state: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    }
}

#[test]
fn seeds_oracle() {
    let mut draw = drawn(3);
    let tags = |draw: &mut dyn FnMut(usize) -> usize| match draw(9) {
        0 => vec!["#Dune".to_owned(), "night".to_owned()],
        _ => Vec::new(),
    };
    let labels: Vec<(String, Vec<String>)> =
        (0..10_000).map(|_| (label(&mut draw), tags(&mut draw))).collect();
    let mut world = World::with_memories(&labels, |n| n % 3 > 0);
    world.say(&labels.iter().map(|(label, _)| label).collect::<Vec<_>>());
    let mut cut = 0;
    for query in [
        "chatHandler",
        "who saw the w17 in the night",
        "Dune Messiah w3",
        "go",
        "the data base of Ação",
        "memoria",
        "unheard zebra",
        "x",
        "w",
        "W399_GRAPH handlers",
    ] {
        compare(&world, query, MAX_SEEDS, &[]);
        compare(&world, query, 7, &[]);
        cut += usize::from(world.find(query, &[], &[]).truncated);
    }
    assert!(cut > 0, "no token exceeded the limit");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn seeds_oracle_on_few_labels(
        labels in prop::collection::vec("[abÁ_ ]{0,3}[abC]{0,3}|[东京、a ]{1,4}", 1..24),
        tagged in prop::collection::vec("#?[abC]{1,2}", 0..24),
        query in "[abCá]{0,4}([ _][abC]{1,4}){0,3}|[东京、a ]{1,9}",
        texts in prop::collection::vec((0_u32..24, 1_u8..50), 0..3),
        limit in 1_usize..30,
    ) {
        let tags = tagged.iter().map(|tag| vec![tag.clone()]).chain(std::iter::repeat(Vec::new()));
        let labels: Vec<(String, Vec<String>)> = labels.into_iter().zip(tags).collect();
        let mut world = World::with_memories(&labels, |n| n % 2 > 0);
        world.say(&labels.iter().map(|(label, _)| label).collect::<Vec<_>>());
        let count = u32::try_from(labels.len()).unwrap();
        let mut by_text: Vec<RankedMemory> =
            texts.iter().map(|(node, score)| RankedMemory { node: NodeId(node % count), score: f32::from(*score) }).collect();
        by_text.sort_by(|a, b| b.score.total_cmp(&a.score));
        compare(&world, &query, limit, &by_text);
    }
}

/// The numbers of the engine's worked example 4.11.
#[test]
fn levels_worked_example() {
    let world = World::named(&["chat_handler", "handler", "chat_room"]);
    // Without a name.
    let without = World::named(&["chat_handler", "chat_room"]);
    without.expect(
        "chat handlers",
        &[
            ("chat_handler", 0.6 * relevance_of(&[0.9, like(&without, "handlers", "chat_handler")])),
            ("chat_room", 0.6 * (0.45 + 0.175 + 0.135)),
        ],
    );
    let tokens = tokens("chat handler");
    let (hits, truncated) = hits(&world.sources(), (&tokens, "chat handler"), true);
    assert!(!truncated);
    let of = |label: &str| {
        let node = world.node(label).0;
        let of_node: Vec<Hit> = hits.iter().filter(|hit| hit.node == node).copied().collect();
        relevance(&of_node, tokens.len(), false)
    };
    for (label, wanted) in [("chat_handler", 0.91), ("handler", 0.825), ("chat_room", 0.76)] {
        assert!((of(label) - wanted).abs() < 1e-6, "{label} {}", of(label));
    }
    let best = [(0.91, world.node("chat_handler"))];
    let reranked = reranked(&world.graph, best.into_iter(), 1, |_, _| 0.5);
    assert!((f64::from(reranked[0].1) - 0.746).abs() < 1e-6);
}

fn like(world: &World, token: &str, label: &str) -> f64 {
    0.6 * f64::from(world.labels.ngrams().query(token).score(world.node(label).0))
}

/// Relevance of a node that all tokens match.
fn relevance_of(scores: &[f64]) -> f64 {
    0.5 * scores.iter().sum::<f64>() / scores.len() as f64
        + 0.35
        + 0.15 * scores.iter().copied().fold(0.0, f64::max)
}

/// The numbers of the engine's worked example 4.11b.
#[test]
fn seeds_level0() {
    let mut world = World::named(&["Dune", "Messiah", "Dune Messiah", "Arrakis"]);
    world.say(&["dune", "Dune rolls on", "a dune, Messiah", "messiah of Dune"]);
    let found = world.find("who wrote Dune Messiah", &[], &[]);
    let told = world.labelled_scores(&found);
    assert_eq!(told[0], ("Dune Messiah".to_owned(), 0.5), "the longest name");
    assert!(told[1..].iter().all(|(_, score)| *score <= 0.005), "others in it are resemblances: {told:?}");
    let name = Evidence { ground: MatchKind::Name, of: "dune messiah".to_owned(), score: 0.5 };
    assert_eq!(found.seeds[0].evidence, [name]);
}

#[test]
fn a_resemblance_joins_the_names() {
    let labels = [
        ("router", "#gateway"),
        ("chat_handler", "#x"),
        ("handlr", "#x"),
        ("proxy", "#handler"),
        ("Lunch", "#x"),
    ];
    let world = World::of(&labels.map(|(label, tag)| (label, vec![tag.to_owned()])));
    let found = world.find("router handler", &[], &[]);
    let grounds: Vec<(&str, MatchKind)> =
        found.seeds.iter().map(|seed| (world.graph.label(seed.node), seed.evidence[0].ground)).collect();
    let wanted = [
        ("router", MatchKind::Name),
        ("chat_handler", MatchKind::Contains),
        ("proxy", MatchKind::Tag),
        ("handlr", MatchKind::Trigram),
    ];
    assert_eq!(grounds, wanted);
    assert!(found.seeds[1].score <= 0.01 * found.seeds[0].score, "a resemblance is worth less than any name");
    // However many there are, ten join.
    let many: Vec<String> = (0..40).map(|n| format!("handler_{n}")).chain(["router".to_owned()]).collect();
    let many = World::named(&many.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(many.scores("router handler").len(), 11);
}

#[test]
fn names_and_tags_are_found_in_clauses_without_spaces() {
    let labels = [
        "张三",
        "東京都",
        "京都",
        "서울",
        "大阪城 公園",
        "GPT模型",
        "ประเทศไทย",
        "दिल्ली",
        "猫",
        "İstanbul",
        "東京タワー",
    ];
    let mut world = World::named(&labels);
    world.say(&labels);
    let named = |text: &str| -> Vec<String> {
        let found = world.find(text, &[], &[]);
        let names =
            found.seeds.iter().filter(|seed| seed.evidence.iter().any(|e| e.ground == MatchKind::Name));
        let mut names: Vec<String> = names.map(|seed| world.graph.label(seed.node).to_owned()).collect();
        names.sort_unstable();
        names
    };
    for (question, wanted) in [
        ("张三住在哪里", &["张三"][..]),
        ("昨天张三去哪了？", &["张三"]),
        ("東京都に住んでいる", &["東京都"]),
        ("東京タワーと東京都と京都", &["京都", "東京タワー", "東京都"]),
        // Two cities are not the prefecture with the same pairs.
        ("東京、京都", &["京都"]),
        ("서울에 살아요", &["서울"]),
        ("昨日は大阪城・公園へ", &["大阪城 公園"]),
        ("用GPT模型吗", &["GPT模型"]),
        ("ฉันอยู่ในประเทศไทยนะ", &["ประเทศไทย"]),
        ("वह दिल्ली में है", &["दिल्ली"]),
        ("猫が好き", &[]),
        ("猫 は", &["猫"]),
        ("who lives in istanbul", &["İstanbul"]),
        ("ISTANBUL", &["İstanbul"]),
    ] {
        assert_eq!(named(question), wanted, "{question}");
    }
    let name = Evidence { ground: MatchKind::Name, of: "東京都".to_owned(), score: 0.5 };
    assert_eq!(world.find("東京都に住んでいる", &[], &[]).seeds[0].evidence, [name], "as it is written");
    let tags = [("office", "#東京都"), ("model", "GPT模型"), ("home", "京都"), ("cat", "data base")];
    let world = World::of(&tags.map(|(label, tag)| (label, vec![tag.to_owned()])));
    let tagged = |text| world.scores(text).into_iter().map(|(label, _)| label).collect::<Vec<_>>();
    assert_eq!(tagged("東京都の事務所"), ["home", "office"]);
    assert_eq!(tagged("東京、京都"), ["home"]);
    assert_eq!(tagged("新しいGPT模型は"), ["model"]);
    assert!(tagged("data base").is_empty(), "as before");
}

#[test]
fn seeds_no_evidence() {
    let world = World::named(&["chat_handler", "handler", "chat_room", ""]);
    assert!(world.scores("zebra quantum").is_empty());
    assert!(world.scores("").is_empty());
    assert!(world.scores("?! ... _").is_empty());
    let found = world.find("", &[("n00001", 0.5), ("nobody", 1.0)], &[]);
    assert_eq!(world.labelled_scores(&found), [("handler".to_owned(), 0.5)]);
    assert_eq!(found.unknown, ["nobody"]);
    let nothing = World::named(&[]);
    assert!(nothing.scores("chat").is_empty());
}

#[test]
fn five_nodes_of_one_label_all_appear() {
    let world = World::named(&["Meeting", "meeting", "MEETING", "Meeting", " meeting!", "other"]);
    let found = world.find("the next meeting", &[], &[]);
    assert_eq!(found.seeds.iter().filter(|seed| seed.evidence[0].ground == MatchKind::Name).count(), 5);
    let levels = world.find("meetings", &[], &[]);
    assert_eq!(levels.seeds.len(), 5);
}

#[test]
fn the_300th_word_of_a_content_counts() {
    let mut world = World::named(&["Arrakis", "Caladan", "Oregon"]);
    let long = format!("{} Arrakis", "sand ".repeat(299));
    world.say(&[long.as_str(), "Arrakis", "Caladan"]);
    world.expect("Arrakis or Caladan", &[("Caladan", 1.0), ("Arrakis", 0.5)]);
}

#[test]
fn a_query_without_names_is_seeded_by_facts() {
    let mut world = World::named(&["Frank Herbert", "Dune Messiah", "Oregon", "Arrakis"]);
    let (herbert, dune) = (world.node("Frank Herbert"), world.node("Dune Messiah"));
    let (oregon, arrakis) = (world.node("Oregon"), world.node("Arrakis"));
    let facts = [(herbert, dune, "WROTE_BOOK"), (herbert, oregon, "LIVED_IN"), (arrakis, dune, "STAGE_OF")];
    world.facts = Facts::build(&world.graph, facts);
    world.say(&["Frank Herbert wrote Dune Messiah", "Dune Messiah", "Herbert", "Oregon"]);
    let found = world.find("which books did somebody write?", &[], &[]);
    let told = world.labelled_scores(&found);
    // `book` is the only shared word: two memories have the rarest word of one end, one that of the other.
    assert_eq!(told, [("Frank Herbert".to_owned(), 0.5), ("Dune Messiah".to_owned(), 0.25)]);
    assert_eq!(found.seeds[0].evidence.iter().map(|e| e.ground).collect::<Vec<_>>(), [MatchKind::Fact]);
    assert_eq!(found.seeds[0].evidence[0].of, "Dune Messiah");
    // With a name, which is scaled to 1 first, an end that is already a seed keeps the larger score.
    let named = world.labelled_scores(&world.find("books set in Oregon", &[], &[]));
    assert_eq!(named[..2], [("Oregon".to_owned(), 1.0), ("Frank Herbert".to_owned(), 0.5)]);
}

#[test]
fn memories_without_names_are_found_by_text() {
    let contents = ["alpha beta beta", "beta gamma", "delta"];
    let mut world = World::named(&["note one", "note two", "note three"]);
    world.say(&contents);
    let by_text = world.texts.rank((&world.graph, &world.documents), "beta", 20, |_| true).ranked;
    assert_eq!(by_text.len(), 2);
    let found = world.find("beta", &[], &by_text);
    let told = world.labelled_scores(&found);
    assert_eq!((told.len(), &told[0]), (2, &("note one".to_owned(), 1.0)));
    assert_eq!(found.seeds[0].evidence[0].ground, MatchKind::Text);
    // If other sources found seeds, text adds none.
    assert_eq!(
        world.labelled_scores(&world.find("beta", &[("n00002", 0.1)], &by_text)),
        [("note three".to_owned(), 0.1)]
    );
}

#[test]
fn invalid_scores_are_refused_by_name() {
    let world = World::named(&["a", "b"]);
    let ask = |score: f32, limit: usize| {
        let external = [("n00000", 0.5), ("n00001", score)];
        find(
            &world.sources(),
            &SeedQuery { text: "", external: &external, limit, with_memories: true },
            |_| Vec::new(),
            |_, _| 0.0,
        )
    };
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0, -1.0, 1.5] {
        let why = ask(bad, 5).unwrap_err().to_string();
        assert!(why.contains("n00001"), "{why}");
    }
    assert!(ask(0.5, 0).is_err() && ask(0.5, 201).is_err());
    let least = f32::from_bits(1);
    assert_eq!(ask(least, 200).unwrap().seeds[1].score.to_bits(), 1);
    assert_eq!(ask(least, 1).unwrap().seeds.len(), 1);
}

#[test]
fn the_first_tokens_of_a_long_query_are_looked_up() {
    let world = World::named(&["late comer", "w7 comer"]);
    let page = (0..64).fold(String::new(), |page, n| format!("{page} w{n}"));
    let (fits, long) = (world.find(&page, &[], &[]), world.find(&format!("{page} late"), &[], &[]));
    assert_eq!((fits.truncated, long.truncated), (false, true));
    assert_eq!(world.labelled_scores(&long), world.labelled_scores(&fits));
    assert_eq!(world.labelled_scores(&fits).len(), 1);
}

#[test]
fn equal_seeds_are_ordered_by_pagerank_then_ids() {
    let world = World::named(&["chat one", "chat two", "chat six", "chat ten"]);
    let found = world.find("chatting chat", &[], &[]);
    let standing: Vec<f32> = found.seeds.iter().map(|seed| world.graph.pagerank(seed.node)).collect();
    assert!(standing.is_sorted_by(|a, b| a >= b) && standing[0] > standing[3], "{standing:?}");
    assert_eq!(world.graph.external_id(found.seeds[2].node), "n00000");
}

#[test]
fn byte_counts_grow_with_content() {
    let (one, two) = (World::named(&["chat"]), World::named(&["chat", "a longer label"]));
    assert!(one.labels.bytes() > 0 && two.labels.bytes() > one.labels.bytes());
}

#[test]
fn beside_a_ranking_by_text_memories_are_found_by_their_tags_alone() {
    let mut builder = GraphBuilder::default();
    let rows = [
        ("m1", "chat about boats", NodeType::MEMORY, ""),
        ("m2", "boats", NodeType::MEMORY, "chat"),
        ("e1", "chatter", NodeType::Concept, ""),
    ];
    for (id, label, node_type, tag) in rows {
        let tags = if tag.is_empty() { Vec::new() } else { vec![tag.to_owned()] };
        builder.add_node(NodeRow { tags, ..NodeRow::new(id, label, node_type) }).unwrap();
    }
    let graph = builder.finalize().unwrap();
    let (labels, facts) = (Labels::build(&graph), Facts::default());
    let (texts, documents) = (TextIndex::default(), Documents::default());
    let sources =
        SeedIndexes { graph: &graph, labels: &labels, facts: &facts, texts: &texts, documents: &documents };
    let found = |with_memories| {
        let query = SeedQuery { text: "a chat", external: &[], limit: MAX_SEEDS, with_memories };
        let found = find(&sources, &query, |_| Vec::new(), |_, _| 0.0).unwrap();
        let mut ids: Vec<&str> = found.seeds.iter().map(|seed| graph.external_id(seed.node)).collect();
        ids.sort_unstable();
        ids.join(" ")
    };
    assert_eq!([found(true), found(false)], ["e1 m1 m2", "e1 m2"]);
}

/// However many memories have a token, they take no place of other nodes, and cut off nothing.
#[test]
fn memories_take_no_place_of_names() {
    const MEMORIES: usize = 6_000;
    let mut builder = GraphBuilder::default();
    for n in 0..MEMORIES {
        let label = format!("Ann: note {n}");
        builder.add_node(NodeRow::new(format!("m{n}"), label, NodeType::MEMORY)).unwrap();
    }
    for label in ["Annapurna", "Port Annan"] {
        builder.add_node(NodeRow::new(label, label, NodeType::Concept)).unwrap();
    }
    // Memories are better connected.
    for (n, to) in (0..MEMORIES).flat_map(|n| [1, 2].map(|to| (n, (n + to) % MEMORIES))) {
        builder.relate(&format!("m{n}"), "REINFORCES", &format!("m{to}"), 0.5).unwrap();
    }
    let graph = builder.finalize().unwrap();
    let (labels, facts) = (Labels::build(&graph), Facts::default());
    let (texts, documents) = (TextIndex::default(), Documents::default());
    let sources =
        SeedIndexes { graph: &graph, labels: &labels, facts: &facts, texts: &texts, documents: &documents };
    let query = SeedQuery { text: "ann", external: &[], limit: MAX_SEEDS, with_memories: false };
    let found = find(&sources, &query, |_| Vec::new(), |_, _| 0.0).unwrap();
    let grounds: Vec<(&str, MatchKind)> =
        found.seeds.iter().map(|seed| (graph.label(seed.node), seed.evidence[0].ground)).collect();
    assert_eq!(grounds, [("Annapurna", MatchKind::Prefix), ("Port Annan", MatchKind::Contains)]);
    assert!(!found.truncated, "no node was left out");
    let all = find(&sources, &SeedQuery { with_memories: true, ..query }, |_| Vec::new(), |_, _| 0.0);
    assert!(all.unwrap().truncated);
}
