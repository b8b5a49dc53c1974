//! Recall over questions that take several steps to answer: `cargo bench --bench recall -- --events FILE --questions FILE`.
//!
//! Events are lines as `ebb import` reads them, memories with their mentions and relations; a question is `{"question",
//! "gold": [ids of memories]}`. The graph is built as the mirror builds it, without a server. Reported is the mean share of
//! gold memories among the first 2, 5, 10 and 20 hits: of the whole pipeline, without the ranking by text, of that alone, and
//! of personalised PageRank; and the same for memories that nothing joins, where only texts are left. Then what a question
//! costs on one thread. The data has a licence of its own, so it is no part of the repository; without files there is
//! nothing to do.

#![expect(clippy::print_stdout, reason = "a benchmark talks to a person")]
#![expect(clippy::cast_precision_loss, reason = "counts of questions")]

use ebb::engine::activation::Params;
use ebb::engine::recall::{Ask, Config, Filter, Fusion, Spread, recall};
use ebb::engine::scratch::Scratch;
use ebb::engine::text::counts::WordCounts;
use ebb::engine::text::fold::cut;
use ebb::engine::text::ranking::TextIndex;
use ebb::engine::{Texts, View};
use ebb::graph::builder::{EdgeRow, GraphBuilder, WeightRange};
use ebb::graph::columns::NodeRow;
use ebb::graph::kinds::{EdgeDirection, Kinds, NodeType};
use ebb::graph::snapshot::{Skipped, Snapshot};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::{File, read_to_string};
use std::io::{BufRead, BufReader};
use std::sync::Arc;
use std::time::Instant;

/// How many hits are looked at.
const AT: [usize; 4] = [2, 5, 10, 20];
/// What the pipeline must reach at each, in percent, and how many questions a second.
const MUST: [f64; 4] = [48.0, 68.0, 78.0, 83.0];
const MUST_RATE: f64 = 1_000.0;
/// How often all questions are asked.
const PASSES: usize = 10;
/// What of a content is its label, in bytes.
const LABEL_BYTES: usize = 200;

struct Question {
    text: String,
    gold: Vec<String>,
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let after = |flag: &str| words.iter().position(|word| word == flag).and_then(|at| words.get(at + 1));
    let (Some(events), Some(questions)) = (after("--events"), after("--questions")) else {
        println!("recall: nothing to measure without --events FILE and --questions FILE");
        return;
    };
    let events = lines(events);
    let questions: Vec<Question> = lines(questions).iter().map(question).collect();
    let begun = Instant::now();
    let view = view(&events, true);
    let (graph, bytes) = (view.graph(), view.bytes());
    println!(
        "{} questions; {} nodes, {} slots, made in {:.2} s; {bytes:?}, {:.1} MB in all",
        questions.len(),
        graph.node_count(),
        graph.slot_count(),
        begun.elapsed().as_secs_f64(),
        bytes.total() as f64 / 1e6
    );
    println!(
        "{:<44} {:>6} {:>6} {:>6} {:>6}   touched",
        "share of gold memories among the first", 2, 5, 10, 20
    );
    let memories = Filter { kinds: vec!["Memory".to_owned()], ..Filter::default() };
    let whole = Ask { filter: memories, ..Ask::default() };
    let off = Ask { fusion: Fusion::Off, ..whole.clone() };
    let walk = Ask { spread: Spread::PersonalPageRank, ..off.clone() };
    let reached = report("recall: structure, facts and text", &view, &questions, &whole);
    report("without text", &view, &questions, &off);
    report("personalised PageRank from the same seeds", &view, &questions, &walk);
    by_text_alone(&view, &questions);
    let bare = self::view(&events, false);
    println!("without mentions and relations:");
    let alone = report("recall", &bare, &questions, &whole);
    let text = by_text_alone(&bare, &questions);
    let rate = speed(&view, &questions, &whole);
    for (at, (reached, must)) in AT.iter().zip(reached.iter().zip(MUST)) {
        verdict(&format!("R@{at}"), *reached, must);
    }
    for (at, (alone, text)) in AT.iter().zip(alone.iter().zip(text)) {
        verdict(&format!("R@{at} without mentions and relations"), *alone, text - 1.0);
    }
    verdict("questions a second on one core", rate, MUST_RATE);
}

fn verdict(what: &str, is: f64, must: f64) {
    let state = if is >= must { "met" } else { "MISSED" };
    println!("{what:<44} {is:>8.1}   must {must:>7.1} {state}");
}

fn lines(path: &str) -> Vec<Value> {
    let file = File::open(path).expect("the file");
    let parse = |line: std::io::Result<String>| serde_json::from_str(&line.expect("a line")).expect("JSON");
    BufReader::new(file).lines().map(parse).collect()
}

fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of[key].as_str().unwrap_or_default()
}

fn texts<'a>(of: &'a Value, key: &str) -> Vec<&'a str> {
    of[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn question(line: &Value) -> Question {
    let gold = texts(line, "gold").into_iter().map(str::to_owned).collect();
    Question { text: text(line, "question").to_owned(), gold }
}

/// The view of these events; without what joins memories unless they are `joined`.
fn view(events: &[Value], joined: bool) -> View {
    let of_kind = |kind: &'static str| events.iter().filter(move |event| text(event, "kind") == kind);
    let memories: Vec<&Value> = of_kind("memory").collect();
    let observed: Vec<&Value> = of_kind("observe").filter(|_| joined).collect();
    let mut builder = GraphBuilder::new(Kinds::default(), WeightRange::default());
    for memory in &memories {
        let row =
            NodeRow::new(text(memory, "id"), cut(text(memory, "content"), LABEL_BYTES), NodeType::MEMORY);
        let session = memory["session"].as_str().map(str::to_owned);
        builder.add_node(NodeRow { session, ..row }).expect("a memory of its own");
    }
    let mentioned = memories.iter().filter(|_| joined).flat_map(|memory| texts(memory, "mentions"));
    let ends = observed.iter().flat_map(|event| [text(event, "from"), text(event, "to")]);
    let entities: BTreeSet<&str> = mentioned.chain(ends).collect();
    let taken: BTreeSet<&str> = memories.iter().map(|memory| text(memory, "id")).collect();
    let named = |name: &str| if taken.contains(name) { format!("Entity:{name}") } else { name.to_owned() };
    for name in entities {
        builder.add_node(NodeRow::new(named(name), name, NodeType::Concept)).expect("an entity of its own");
    }
    let edge = |source: String, target: String, relation: &str, weight: f32| EdgeRow {
        source,
        target,
        relation: relation.to_owned(),
        weight,
        direction: EdgeDirection::Bidirectional,
        inhibitory: false,
        causal: None,
    };
    for memory in memories.iter().filter(|_| joined) {
        for name in texts(memory, "mentions") {
            let edge = edge(text(memory, "id").to_owned(), named(name), "MENTIONS", 0.5);
            builder.add_edge(&edge).expect("both are there");
        }
    }
    for event in &observed {
        let edge = edge(named(text(event, "from")), named(text(event, "to")), "RELATES_TO", 1.0);
        builder.add_edge(&edge).expect("both are there");
    }
    let graph = builder.finalize().expect("a graph");
    let (mut index, mut counts) = (TextIndex::default(), WordCounts::default());
    index
        .add(memories.iter().map(|memory| (text(memory, "id"), text(memory, "content"))))
        .expect("few memories");
    counts.add(memories.iter().map(|memory| text(memory, "content")));
    let end = |event: &Value, key: &str| graph.find(&named(text(event, key))).expect("an entity");
    let relations: Vec<_> =
        observed.iter().map(|event| (end(event, "from"), end(event, "to"), text(event, "type"))).collect();
    let snapshot = Snapshot { graph, as_of: None, skipped: Skipped::default() };
    View::new(snapshot, Texts { index: Arc::new(index), counts: Arc::new(counts) }, relations)
}

fn config() -> Config {
    Config::new(Params::RECALL, Params::REFERENCE, 0.75, 1_000).expect("the documented numbers")
}

/// The shares of gold ids among the first of a ranking.
fn shares(gold: &[String], ranked: &[String]) -> [f64; 4] {
    AT.map(|at| {
        let found = gold.iter().filter(|id| ranked.iter().take(at).any(|hit| hit == *id)).count();
        found as f64 / gold.len().max(1) as f64
    })
}

/// Asks all questions by a rule; tells the mean shares, in percent.
fn tell(what: &str, questions: &[Question], mut rank: impl FnMut(&str) -> (Vec<String>, u64)) -> [f64; 4] {
    let (mut sums, mut touched) = ([0.0; 4], 0);
    for question in questions {
        let (ranked, work) = rank(&question.text);
        touched += work;
        sums.iter_mut().zip(shares(&question.gold, &ranked)).for_each(|(sum, share)| *sum += share);
    }
    let count = questions.len().max(1) as f64;
    let means = sums.map(|sum| 100.0 * sum / count);
    let [a, b, c, d] = means;
    println!("{what:<44} {a:>6.1} {b:>6.1} {c:>6.1} {d:>6.1}   {:.0}", touched as f64 / count);
    means
}

fn report(what: &str, view: &View, questions: &[Question], ask: &Ask) -> [f64; 4] {
    let (config, mut scratch) = (config(), Scratch::default());
    tell(what, questions, |text| {
        let ask = Ask { text: text.to_owned(), ..ask.clone() };
        let found = recall(view, &ask, &config, &mut scratch).expect("an answer");
        (found.hits.into_iter().map(|hit| hit.id).collect(), found.counters.nodes_touched)
    })
}

fn by_text_alone(view: &View, questions: &[Question]) -> [f64; 4] {
    tell("BM25", questions, |text| {
        let ranked = view.by_text(text, 20, |_| true).ranked;
        (ranked.iter().map(|hit| view.graph().external_id(hit.node).to_owned()).collect(), 0)
    })
}

/// Nanoseconds that this thread has run, where the system tells.
fn ran() -> Option<f64> {
    let told = read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split(' ').next()?.parse().ok()
}

/// Questions a second of one thread, by its own time where the system tells that.
fn speed(view: &View, questions: &[Question], ask: &Ask) -> f64 {
    let (config, mut scratch) = (config(), Scratch::default());
    let asks: Vec<Ask> =
        questions.iter().map(|question| Ask { text: question.text.clone(), ..ask.clone() }).collect();
    let mut times = Vec::with_capacity(asks.len() * PASSES);
    let (mut own, begun) = (ran(), Instant::now());
    for pass in 0..=PASSES {
        if pass == 1 {
            times.clear();
            own = ran();
        }
        for ask in &asks {
            let begun = Instant::now();
            let found = recall(view, ask, &config, &mut scratch).expect("an answer");
            times.push(begun.elapsed().as_secs_f64());
            std::hint::black_box(found);
        }
    }
    let wall = begun.elapsed().as_secs_f64() * PASSES as f64 / (PASSES + 1) as f64;
    let took = own.zip(ran()).map_or(wall, |(before, now)| (now - before) / 1e9);
    times.sort_by(f64::total_cmp);
    let at = |share: usize| 1e6 * times.get(times.len() * share / 100).copied().unwrap_or_default();
    let rate = (asks.len() * PASSES) as f64 / took;
    println!("{rate:.0} questions a second of thread time; p50 {:.0} us, p99 {:.0} us", at(50), at(99));
    rate
}
