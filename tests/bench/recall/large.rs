//! What a question costs among many memories: generated notes and turns of dialogues, with entities that they mention.
//!
//! Words follow Zipf's law, with stop words between them; three in ten memories name "the user", a third begin with the name of a
//! speaker, and each mentions up to three of many entities. A question is made of words of one memory, half of them with an entity
//! that it mentions. There are no vectors: a million of 384 components are 770 MB, which
//! `cargo run --release -p ebb-engine --example vectors` measures.

use crate::measure::seconds;
use crate::quality::{config, whole};
use ebb_engine::graph::builder::{EdgeRow, GraphBuilder};
use ebb_engine::graph::columns::NodeRow;
use ebb_engine::graph::kinds::{EdgeDirection, NodeType};
use ebb_engine::graph::snapshot::{SkippedCounts, Snapshot};
use ebb_engine::random::SplitMix64;
use ebb_engine::recall::{Filter, RecallCounters, RecallQuery, recall};
use ebb_engine::scratch::Scratch;
use ebb_engine::text::fold::cut;
use ebb_engine::text::ranking::{Content, TextIndex};
use ebb_engine::{Texts, View};
use std::sync::Arc;
use std::time::Instant;

/// Different words, and the number of the most frequent ones that Zipf's law leaves out, which are stop words.
const VOCABULARY: f64 = 100_000.0;
const FREQUENT: f64 = 20.0;
/// Memories for each entity, and relations for each.
const MEMORIES_OF_ENTITY: usize = 20;
const RELATIONS_OF_ENTITY: usize = 2;
const SPEAKERS: u64 = 200;
/// Memories of a session, and the time between them.
const SESSION: usize = 20;
const STEP_MS: i64 = 20_000;
const AT: i64 = 1_700_000_000_000;
const LABEL_BYTES: usize = 200;
const QUESTIONS: usize = 300;
const STOPS: [&str; 8] = ["the", "of", "and", "to", "in", "a", "with", "was"];

struct Draw(SplitMix64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.draw_below(bound)
    }

    fn index(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(bound as u64)).expect("below an index")
    }

    /// A rank by Zipf's law, from 0.
    fn rank(&mut self, most: f64, left_out: f64) -> usize {
        let unit = self.below(1 << 32) as f64 / (1_u64 << 32) as f64;
        let of = (left_out + 1.0) * ((most + left_out) / (left_out + 1.0)).powf(unit) - left_out - 1.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to `most`")]
        let rank = of as usize;
        rank
    }

    fn word(&mut self) -> String {
        named(self.rank(VOCABULARY, FREQUENT) as u64)
    }
}

/// A word of its own for each number, of two syllables or more.
fn named(number: u64) -> String {
    const ONSETS: &[u8] = b"bcdfghjklmnprstv";
    const VOWELS: &[u8] = b"aeiou";
    let (mut word, mut rest) = (String::new(), number + 80);
    while rest > 0 {
        let syllable = (rest % 80) as usize;
        word.push(char::from(ONSETS[syllable / 5]));
        word.push(char::from(VOWELS[syllable % 5]));
        rest /= 80;
    }
    word + "n"
}

fn entity(number: usize) -> String {
    let [first, second] = [number as u64 + 300_000, number as u64 * 7 % 5_000 + 250_000].map(named);
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    format!("{} {}", capital(&first), capital(&second))
}

struct Memory {
    text: String,
    words: Vec<String>,
    entities: Vec<usize>,
}

impl Memory {
    fn drawn(draw: &mut Draw, entities: usize) -> Self {
        let count = 4 + draw.index(10) + if draw.below(8) == 0 { draw.index(60) } else { 0 };
        let words: Vec<String> = (0..count).map(|_| draw.word()).collect();
        let mut text = match draw.below(10) {
            0..3 => "The user ".to_owned(),
            3..6 => format!("{}: ", named(400_000 + draw.below(SPEAKERS))),
            _ => String::new(),
        };
        for word in &words {
            if draw.below(2) == 0 {
                text.push_str(STOPS[draw.index(STOPS.len())]);
                text.push(' ');
            }
            text.push_str(word);
            text.push(' ');
        }
        let mentioned = draw.index(4);
        let entities: Vec<usize> = (0..mentioned).map(|_| draw.rank(entities as f64, 2.0)).collect();
        entities.iter().for_each(|number| text.push_str(&(entity(*number) + " ")));
        Self { text, words, entities }
    }
}

fn edge(source: &str, target: String, relation: &str, weight: f32) -> EdgeRow {
    let (source, relation) = (source.to_owned(), relation.to_owned());
    let direction = EdgeDirection::Bidirectional;
    EdgeRow { source, target, relation, weight, direction, inhibitory: false, causal: None }
}

fn view(memories: &[Memory], entities: usize, draw: &mut Draw) -> View {
    let mut builder = GraphBuilder::default();
    let id = |number: usize| format!("m{number:08}");
    let session = |number: usize| format!("session {}", number / SESSION);
    for (number, memory) in memories.iter().enumerate() {
        let row = NodeRow::new(id(number), cut(&memory.text, LABEL_BYTES), NodeType::MEMORY);
        let row = NodeRow { session: Some(session(number)), last_modified: Some(AT), ..row };
        builder.add_node(row).expect("a memory of its own");
    }
    for number in 0..entities {
        let name = entity(number);
        builder.add_node(NodeRow::new(&name, &name, NodeType::Concept)).expect("an entity of its own");
    }
    for (number, memory) in memories.iter().enumerate() {
        for of in &memory.entities {
            builder.add_edge(&edge(&id(number), entity(*of), "MENTIONS", 0.5)).expect("both are there");
        }
    }
    let related: Vec<(String, String, String)> = (0..RELATIONS_OF_ENTITY * entities)
        .map(|_| (entity(draw.index(entities)), entity(draw.index(entities)), named(draw.below(50))))
        .collect();
    for (from, to, _) in &related {
        builder.add_edge(&edge(from, to.clone(), "RELATES_TO", 1.0)).expect("both are there");
    }
    let graph = builder.finalize().expect("a graph");
    let mut index = TextIndex::default();
    let ids: Vec<[String; 2]> = (0..memories.len()).map(|number| [id(number), session(number)]).collect();
    let contents = memories.iter().zip(&ids).zip(0..).map(|((memory, [id, session]), number)| Content {
        id,
        text: &memory.text,
        session: Some(session),
        at: Some(AT + STEP_MS * number),
    });
    index.add(contents).expect("fewer than 2^32");
    let node = |id: &str| graph.find(id).expect("an entity");
    let relations: Vec<_> =
        related.iter().map(|(from, to, kind)| (node(from), node(to), kind.as_str())).collect();
    let snapshot = Snapshot { graph, as_of: Some(AT), skipped: SkippedCounts::default() };
    View::new(snapshot, Texts { index: Arc::new(index), ..Texts::default() }, relations)
}

fn question(draw: &mut Draw, memories: &[Memory]) -> String {
    let memory = &memories[draw.index(memories.len())];
    let mut text = "What did the user say about".to_owned();
    for _ in 0..3 + draw.index(4) {
        text.push(' ');
        text.push_str(&memory.words[draw.index(memory.words.len())]);
    }
    if let Some(of) = memory.entities.first().filter(|_| draw.below(2) == 0) {
        text = text + " and " + &entity(*of);
    }
    text + "?"
}

/// Asks all questions in a few ways, and prints what they cost.
pub(crate) fn run(count: usize) {
    let mut draw = Draw(SplitMix64::new(11));
    let entities = count / MEMORIES_OF_ENTITY;
    let memories: Vec<Memory> = (0..count).map(|_| Memory::drawn(&mut draw, entities)).collect();
    let begun = Instant::now();
    let view = view(&memories, entities, &mut draw);
    let questions: Vec<String> = (0..QUESTIONS).map(|_| question(&mut draw, &memories)).collect();
    drop(memories);
    let bytes = view.bytes();
    println!(
        "{count} memories, {entities} entities, {} slots, made in {:.0} s; {bytes:?}, {:.0} MB in all",
        view.graph().slot_count(),
        begun.elapsed().as_secs_f64(),
        bytes.total() as f64 / 1e6
    );
    let session = Filter { session: Some("session 7".to_owned()), ..Filter::default() };
    let ways = [
        ("all nodes", RecallQuery::default()),
        ("memories", whole()),
        ("one session", RecallQuery { filter: session, ..RecallQuery::default() }),
    ];
    for (name, ask) in ways {
        cost(name, &view, &questions, &ask);
    }
}

fn cost(name: &str, view: &View, questions: &[String], ask: &RecallQuery) {
    let (config, mut scratch) = (config(), Scratch::default());
    let (mut times, mut postings, mut slots) = (Vec::new(), 0, 0);
    for pass in 0..2 {
        for text in questions {
            let ask = RecallQuery { text: text.clone(), ..ask.clone() };
            let mut counters = RecallCounters::default();
            let took = seconds(|| {
                let found = recall(view, &ask, &config, &mut scratch).expect("an answer");
                counters = found.counters;
                found
            });
            if pass > 0 {
                times.push(1e3 * took);
                postings += counters.postings_read;
                slots += counters.slots_read;
            }
        }
    }
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    let asked = questions.len() as u64;
    println!(
        "{name}: p50 {:.2} ms, p99 {:.2} ms of processor time; {} postings and {} slots a question",
        at(50),
        at(99),
        postings / asked,
        slots / asked
    );
}
