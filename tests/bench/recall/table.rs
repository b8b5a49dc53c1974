//! One table of recall over sets of questions: words, vectors, both fused by ranks, and Ebb, with each part left out.
//!
//! A set is events, questions, and vectors of memories, of questions and of relations in the order of their lines (16-bit floats,
//! little endian). Memories of one scope have ids with the same text before the first colon; a question is asked in the scope of its gold. Intervals are those of
//! 1,000 resamplings of the questions. The row with vectors of facts has them in both columns, which are without vectors of memories
//! and with them.

use crate::quality::{AT, config};
use crate::record::Run;
use crate::set::{events, questions, view, view_with_facts};
use crate::speed::speed;
use ebb_core::domain::event::Remember;
use ebb_core::domain::ids::{EntityName, Scope};
use ebb_core::domain::similarity::{Embedding, Similarity};
use ebb_core::service::evaluation::metrics::{Estimate, Ranks};
use ebb_core::service::evaluation::ways::{Part, Way};
use ebb_core::service::evaluation::{Question, Views, ask, held};
use ebb_core::service::events::in_memory::ScopeEvents;
use ebb_engine::View;
use ebb_engine::graph::index::NodeId;
use ebb_engine::graph::kinds::Dimension;
use ebb_engine::merge::{DIMENSION_WEIGHTS, DimensionWeights};
use ebb_engine::random::SplitMix64;
use ebb_engine::recall::{EvidenceConfig, Filter, FusionWeights, RecallConfig, RecallQuery};
use ebb_engine::text::fold::fold;
use ebb_engine::text::words::words;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Length of the lists that are fused by ranks, and the constant of that.
const LISTED: usize = 200;
const RANK_C: f64 = 5.0;
const SAMPLES: usize = 1_000;
/// A name that no text has.
const SHARED: &str = "Zyxkor";
/// Least length of a word that is a topic, and the least number of memories that have it.
const TOPIC_BYTES_MIN: usize = 5;
const TOPIC_MEMORIES_MIN: usize = 6;

/// A set of questions, each in the scope of its gold, with the events of each scope.
pub(crate) struct Set {
    pub(crate) name: String,
    pub(crate) questions: Vec<Question>,
    pub(crate) events: BTreeMap<Scope, ScopeEvents>,
    pub(crate) views: Views,
    /// Vectors of relations, if there are any.
    facts: Option<Vec<Vec<f32>>>,
}

/// A way to rank memories.
enum Rank {
    /// One of an evaluation, by these rules.
    Way(Way, Box<RecallConfig>),
    /// Words alone and vectors alone, fused by ranks.
    Fused,
}

/// The shares of gold of a question, in percent, with its class.
type Shares = (String, [f64; 4]);

impl Set {
    /// Reads a set; `files` are events, questions, and vectors of memories, of questions and of relations if there are any.
    pub(crate) fn of(name: &str, files: &[String]) -> Self {
        let ScopeEvents { mut memories, relations } = events(&files[0]);
        let mut questions = questions(&files[1]);
        if let Some(file) = files.get(2) {
            let rows = vectors(file, memories.len());
            for (memory, row) in memories.iter_mut().zip(rows) {
                let similarity = Similarity { dimensions: Some(row.len()), text_threshold: 0.5, model: None };
                let numbers = row.into_iter().map(f64::from).collect();
                memory.embedding = Some(Embedding::new(&memory.id, numbers, &similarity).expect("numbers"));
            }
        }
        if let Some(file) = files.get(3) {
            let rows = vectors(file, questions.len());
            questions.iter_mut().zip(rows).for_each(|(question, row)| question.embedding = Some(row));
        }
        let facts = files.get(4).map(|file| vectors(file, relations.len()));
        let scope_of = |id: &str| {
            id.split_once(':').map_or_else(Scope::local, |(scope, _)| Scope::new(scope).expect("a scope"))
        };
        let mut events: BTreeMap<Scope, ScopeEvents> = BTreeMap::new();
        for memory in memories {
            events.entry(scope_of(memory.id.as_str())).or_default().memories.push(memory);
        }
        events.values_mut().for_each(|of| of.relations.clone_from(&relations));
        questions.retain(|question| !question.gold.is_empty());
        for question in &mut questions {
            question.scope = question.gold.first().map_or_else(Scope::local, |gold| scope_of(gold));
        }
        Self { name: name.to_owned(), questions, views: views(&events), events, facts }
    }

    /// Prints the table of the set.
    pub(crate) fn table(&self) -> Vec<Run> {
        println!(
            "\n{}: {} scopes, {} questions; R@2, 5, 10, 20 in percent, 95 % of resamplings\n",
            self.name,
            self.views.len(),
            self.questions.len()
        );
        println!("| | without vectors | with vectors |\n|---|---|---|");
        let mut runs = Vec::new();
        for (name, rank) in ranks() {
            let mut cells = Vec::new();
            for with in [false, true] {
                let shares = self.shares(&rank, with);
                cells.push(cell(&shares));
                runs.push(run(
                    &self.name,
                    &format!("{name}, {} vectors", if with { "with" } else { "without" }),
                    &shares,
                ));
            }
            println!("| {name} | {} | {} |", cells[0], cells[1]);
        }
        let usual = Rank::Way(Way::Ebb, Box::new(config()));
        for (name, set) in [
            ("half share a mention that each question names", self.shared()),
            ("two random mentions each", self.random()),
            ("two words of each as mentions", self.topics()),
        ] {
            let cells = [false, true].map(|with| cell(&set.shares(&usual, with)));
            println!("| Ebb, {name} | {} | {} |", cells[0], cells[1]);
        }
        if let Some(facts) = &self.facts {
            let cells = [false, true].map(|with| cell(&self.with_facts(facts, with).shares(&usual, true)));
            println!("| Ebb, with vectors of facts | {} | {} |", cells[0], cells[1]);
        }
        println!("\nby class, R@5, 10, 20: words alone; Ebb without vectors; with vectors\n");
        let words = Rank::Way(Way::Words, Box::new(config()));
        let found = [(&words, false), (&usual, false), (&usual, true)];
        let found = found.map(|(rank, with)| self.shares(rank, with));
        let classes: BTreeSet<&String> = found[0].iter().map(|(class, _)| class).collect();
        for class in classes {
            let of = |shares: &Vec<Shares>| {
                let own: Vec<_> = shares.iter().filter(|(other, _)| other == class).cloned().collect();
                let [_, five, ten, twenty] = mean(&own);
                format!("{five:.1}/{ten:.1}/{twenty:.1}")
            };
            let count = found[0].iter().filter(|(other, _)| other == class).count();
            println!("| {class} ({count}) | {} |", found.iter().map(of).collect::<Vec<_>>().join(" | "));
        }
        println!();
        for (name, with_vectors) in [("words and links", false), ("words, vectors and links", true)] {
            let asks = self.asks(with_vectors);
            if !with_vectors || asks.iter().any(|(_, ask)| ask.vector.is_some()) {
                speed(name, &asks);
            }
        }
        runs
    }

    /// Each question as a recall of its scope.
    pub(crate) fn asks(&self, with_vectors: bool) -> Vec<(&View, RecallQuery)> {
        let config = config();
        let ask = |question: &Question| RecallQuery {
            text: question.text.clone(),
            vector: question.embedding.clone().filter(|_| with_vectors),
            filter: Filter { has_text: true, ..Filter::default() },
            ..config.default_query().clone()
        };
        self.questions.iter().map(|question| (&*self.views[&question.scope], ask(question))).collect()
    }

    /// The set, with one more mention in every second memory, which each question names.
    fn shared(&self) -> Self {
        let named = self.changed(|events| {
            let shared = EntityName::new(SHARED).expect("a name");
            events.memories.iter_mut().step_by(2).for_each(|memory| memory.mentions.push(shared.clone()));
        });
        let ask = |question: &Question| {
            let text = format!("{} {SHARED}", question.text);
            Question { text, ..question.clone() }
        };
        Self { questions: self.questions.iter().map(ask).collect(), ..named }
    }

    /// The set, with mentions of two entities at random in every memory; the speakers are those of a dialogue.
    fn random(&self) -> Self {
        self.changed(|events| {
            let mentioned = events.memories.iter().flat_map(|memory| memory.mentions.iter());
            let related = events.relations.iter().flat_map(|seen| [&seen.tie.from, &seen.tie.to]);
            let all: BTreeSet<EntityName> = mentioned.chain(related).cloned().collect();
            let all: Vec<EntityName> = all.into_iter().collect();
            let mut draw = SplitMix64::new(1);
            for memory in events.memories.iter_mut().filter(|_| !all.is_empty()) {
                let one = |_| usize::try_from(draw.draw_below(all.len() as u64)).expect("an index");
                memory.mentions.extend([0, 1].map(one).map(|at| all[at].clone()));
                memory.mentions.sort_unstable();
                memory.mentions.dedup();
            }
        })
    }

    /// The set, with mentions of the two rarest words of every memory that at least six have, as of topics.
    fn topics(&self) -> Self {
        self.changed(|events| {
            let of = |memory: &Remember| -> BTreeSet<String> {
                let folded = fold(&memory.content);
                words(&folded).filter(|word| word.len() >= TOPIC_BYTES_MIN).map(str::to_owned).collect()
            };
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            for word in events.memories.iter().flat_map(of) {
                *counts.entry(word).or_default() += 1;
            }
            for memory in &mut events.memories {
                let mut topics: Vec<String> =
                    of(memory).into_iter().filter(|word| counts[word] >= TOPIC_MEMORIES_MIN).collect();
                topics.sort_by_key(|word| counts[word]);
                topics.truncate(2);
                memory.mentions.extend(topics.iter().map(|word| EntityName::new(word).expect("a name")));
                memory.mentions.sort_unstable();
                memory.mentions.dedup();
            }
        })
    }

    /// The set with vectors of facts, and with those of memories or without.
    fn with_facts(&self, facts: &[Vec<f32>], with_memories: bool) -> Self {
        let mut set = self.changed(|events| {
            let without = events.memories.iter_mut().filter(|_| !with_memories);
            without.for_each(|memory| memory.embedding = None);
        });
        let view = |(scope, events): (&Scope, _)| (scope.clone(), Arc::new(view_with_facts(events, facts)));
        set.views = set.events.iter().map(view).collect();
        set
    }

    /// The set with other events.
    fn changed(&self, change: impl Fn(&mut ScopeEvents)) -> Self {
        let mut events = self.events.clone();
        events.values_mut().for_each(change);
        Self {
            name: self.name.clone(),
            questions: self.questions.clone(),
            views: views(&events),
            events,
            facts: None,
        }
    }

    /// The shares of all questions.
    fn shares(&self, rank: &Rank, with_vectors: bool) -> Vec<Shares> {
        let mut questions = self.questions.clone();
        if !with_vectors {
            questions.iter_mut().for_each(|question| question.embedding = None);
        }
        let ranks = match rank {
            Rank::Way(way, rules) => {
                let depth = AT.into_iter().max().unwrap_or_default();
                ask(*way, &questions, &self.views, rules, depth).expect("answers").ranks
            }
            Rank::Fused => {
                questions.iter().map(|question| fused(&self.views[&question.scope], question)).collect()
            }
        };
        let shares = |(question, ranks): (Question, Ranks)| {
            (question.class.unwrap_or_default(), AT.map(|at| 100.0 * ranks.recall(at)))
        };
        questions.into_iter().zip(ranks).map(shares).collect()
    }
}

fn views(events: &BTreeMap<Scope, ScopeEvents>) -> Views {
    events.iter().map(|(scope, events)| (scope.clone(), Arc::new(view(events)))).collect()
}

/// The ranks of gold when words alone and vectors alone are fused by ranks.
fn fused(view: &View, question: &Question) -> Ranks {
    let words = view.rank_by_text(&question.text, LISTED, |_| true).ranked;
    let similar = question.embedding.as_ref();
    let similar = similar.map(|vector| {
        let [ranked] = view.rank_by_vector(vector, LISTED, |_| [true]).expect("its space");
        ranked
    });
    let words: Vec<NodeId> = words.iter().map(|hit| hit.node).collect();
    let similar: Vec<NodeId> = similar.iter().flatten().map(|hit| hit.node).collect();
    let mut sums: BTreeMap<NodeId, f64> = BTreeMap::new();
    for list in [words, similar] {
        for (place, node) in list.into_iter().enumerate() {
            *sums.entry(node).or_default() += 1.0 / (RANK_C + place as f64 + 1.0);
        }
    }
    let mut ranked: Vec<(NodeId, f64)> = sums.into_iter().collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    let rank = |gold: &String| {
        let node = held(view, gold)?;
        (1..).zip(&ranked).find_map(|(rank, (hit, _))| (*hit == node).then_some(rank))
    };
    Ranks(question.gold.iter().map(rank).collect())
}

/// All ways, by name.
fn ranks() -> Vec<(String, Rank)> {
    let by = |way: Way| (way.name(), Rank::Way(way, Box::new(config())));
    let parts = Part::ALL.into_iter().filter(|part| *part != Part::Vectors);
    let mut ranks: Vec<(String, Rank)> = [Way::Words, Way::Vectors].map(by).into();
    ranks.push(("words and vectors, fused by ranks".to_owned(), Rank::Fused));
    ranks.push(by(Way::Ebb));
    ranks.extend(parts.map(Way::Without).map(by));
    let undated = config().with_fusion(FusionWeights { date: 0.0, ..FusionWeights::default() });
    ranks.push(("without dates".to_owned(), Rank::Way(Way::Ebb, Box::new(undated.expect("weights")))));
    for (part, more, weights) in [
        ("semantic", &[Dimension::Semantic][..], DIMENSION_WEIGHTS),
        ("semantic at a tenth", &[Dimension::Semantic], [0.9, 0.1, 0.0, 0.0]),
        ("temporal", &[Dimension::Temporal], DIMENSION_WEIGHTS),
        ("causal", &[Dimension::Causal], DIMENSION_WEIGHTS),
    ] {
        let weights = DimensionWeights::new(weights).expect("weights");
        let dimensions = [Dimension::Structural].iter().chain(more).copied().collect();
        let rules = config()
            .with_evidence(EvidenceConfig { weights, ..EvidenceConfig::default() })
            .with_default_query(RecallQuery { dimensions, ..RecallQuery::default() });
        ranks.push((format!("with {part}"), Rank::Way(Way::Ebb, Box::new(rules))));
    }
    ranks
}

/// 16-bit floats of a file, as many rows as expected.
fn vectors(file: &str, rows: usize) -> Vec<Vec<f32>> {
    let bytes = std::fs::read(file).expect("the file of vectors");
    let dimensions = bytes.len() / 2 / rows;
    assert_eq!(rows * dimensions * 2, bytes.len(), "{file} has a row for each line");
    let number = |pair: &[u8]| {
        let bits = u16::from_le_bytes([pair[0], pair[1]]);
        let (sign, exponent, rest) = (bits >> 15, (bits >> 10) & 31, f32::from(bits & 1_023));
        let value = match exponent {
            0 => rest * 2.0_f32.powi(-24),
            _ => (1.0 + rest / 1_024.0) * 2.0_f32.powi(i32::from(exponent) - 15),
        };
        if sign == 1 { -value } else { value }
    };
    bytes.chunks(2 * dimensions).map(|row| row.chunks(2).map(number).collect()).collect()
}

fn mean(shares: &[Shares]) -> [f64; 4] {
    let count = shares.len().max(1) as f64;
    [0, 1, 2, 3].map(|at| shares.iter().map(|(_, found)| found[at]).sum::<f64>() / count)
}

/// Means with the interval of the one at 5.
fn cell(shares: &[Shares]) -> String {
    let [two, five, ten, twenty] = mean(shares);
    let fives: Vec<f64> = shares.iter().map(|(_, found)| found[1]).collect();
    let Estimate { low, high, .. } = Estimate::of(&fives, SAMPLES);
    format!("{two:.1}/{five:.1}/{ten:.1}/{twenty:.1} ({low:.1} to {high:.1})")
}

fn run(set: &str, class: &str, shares: &[Shares]) -> Run {
    let found = mean(shares);
    let counters = AT.iter().zip(found).map(|(at, share)| (format!("all_r{at}_percent"), share)).collect();
    Run {
        target: None,
        kernel: "share of gold memories among the first 5, in percent".to_owned(),
        dataset: set.to_owned(),
        class: class.to_owned(),
        pairs: 0,
        discarded: 0,
        q1: found[1],
        median: found[1],
        q3: found[1],
        counters,
        correct: true,
    }
}
