//! One table of recall over sets of questions: words, vectors, both fused by ranks, and Ebb, with each part left out.
//!
//! A set is events, questions, and vectors of both in the order of their lines (16-bit floats, little endian). Memories of one
//! scope have ids with the same text before the first colon; a question is asked in the scope of its gold. Intervals are those of
//! 1,000 resamplings of the questions.

use crate::quality::{self, AT, config, whole};
use crate::record::Run;
use crate::set::{events, questions, view};
use crate::speed::speed;
use ebb_core::domain::ids::EntityName;
use ebb_core::domain::similarity::{Embedding, Similarity};
use ebb_core::service::evaluation::Question;
use ebb_core::service::evaluation::metrics::Estimate;
use ebb_core::service::events::in_memory::ScopeEvents;
use ebb_engine::View;
use ebb_engine::graph::kinds::Dimension;
use ebb_engine::merge::{DIMENSION_WEIGHTS, DimensionWeights};
use ebb_engine::random::SplitMix64;
use ebb_engine::recall::{EvidenceConfig, FusionWeights, RecallConfig, RecallQuery, recall};
use ebb_engine::scratch::Scratch;
use std::collections::{BTreeMap, BTreeSet};

/// Length of the lists that are fused by ranks, and the constant of that.
const LISTED: usize = 200;
const RANK_C: f64 = 5.0;
const SAMPLES: usize = 1_000;
/// A name that no text has.
const SHARED: &str = "Zyxkor";

/// Questions of one scope.
struct Scope {
    events: ScopeEvents,
    view: View,
    questions: Vec<(Question, Option<Vec<f32>>)>,
}

/// A set of questions.
pub(crate) struct Set {
    name: String,
    scopes: Vec<Scope>,
}

/// Answers a question, ids by rank.
type Rank<'a> = dyn Fn(&Scope, &Question, Option<&[f32]>) -> Vec<String> + 'a;
/// A way to ask, by name.
type Way<'a> = (String, Box<Rank<'a>>);

impl Set {
    /// Reads a set; `files` are events, questions, and vectors of memories and of questions if there are any.
    pub(crate) fn of(name: &str, files: &[String]) -> Self {
        let ScopeEvents { mut memories, relations } = events(&files[0]);
        let questions = questions(&files[1]);
        if let Some(file) = files.get(2) {
            let rows = vectors(file, memories.len());
            for (memory, row) in memories.iter_mut().zip(rows) {
                let similarity = Similarity { dimensions: Some(row.len()), text_threshold: 0.5, model: None };
                let numbers = row.into_iter().map(f64::from).collect();
                memory.embedding = Some(Embedding::new(&memory.id, numbers, &similarity).expect("numbers"));
            }
        }
        let of_questions = files.get(3).map(|file| vectors(file, questions.len()));
        let scope_of = |id: &str| id.split_once(':').map_or("", |(scope, _)| scope).to_owned();
        let named: BTreeSet<String> = memories.iter().map(|memory| scope_of(memory.id.as_str())).collect();
        let scopes = named.into_iter().map(|scope| {
            let own = memories.iter().filter(|memory| scope_of(memory.id.as_str()) == scope);
            let events = ScopeEvents { memories: own.cloned().collect(), relations: relations.clone() };
            let asked = questions
                .iter()
                .enumerate()
                .filter(|(_, question)| question.gold.first().is_some_and(|gold| scope_of(gold) == scope));
            let questions = asked
                .map(|(at, question)| (question.clone(), of_questions.as_ref().map(|all| all[at].clone())));
            Scope { questions: questions.collect(), view: view(&events), events }
        });
        Self { name: name.to_owned(), scopes: scopes.collect() }
    }

    /// Prints the table of the set.
    pub(crate) fn table(&self) -> Vec<Run> {
        let questions: usize = self.scopes.iter().map(|scope| scope.questions.len()).sum();
        println!(
            "\n{}: {} scopes, {questions} questions; R@2, 5, 10, 20 in percent, 95 % of resamplings\n",
            self.name,
            self.scopes.len()
        );
        println!("| | without vectors | with vectors |\n|---|---|---|");
        let mut runs = Vec::new();
        for (name, rank) in ways() {
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
        for (name, set) in [
            ("half share a mention that each question names", self.shared()),
            ("two random mentions each", self.random()),
        ] {
            let cells = [false, true].map(|with| cell(&set.shares(&weighed(FusionWeights::default()), with)));
            println!("| Ebb, {name} | {} | {} |", cells[0], cells[1]);
        }
        println!("\nby class, R@5, 10, 20: words alone; Ebb without vectors; with vectors\n");
        let all = ways();
        let found: Vec<Vec<(String, [f64; 4])>> =
            [(0, false), (3, false), (3, true)].map(|(way, with)| self.shares(&all[way].1, with)).into();
        let classes: BTreeSet<&String> = found[0].iter().map(|(class, _)| class).collect();
        for class in classes {
            let of = |shares: &Vec<(String, [f64; 4])>| {
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
    fn asks(&self, with_vectors: bool) -> Vec<(&View, RecallQuery)> {
        let mut asks = Vec::new();
        for scope in &self.scopes {
            for (question, vector) in &scope.questions {
                let vector = vector.clone().filter(|_| with_vectors);
                asks.push((&scope.view, RecallQuery { text: question.text.clone(), vector, ..whole() }));
            }
        }
        asks
    }

    /// The set, with one more mention in every second memory, which each question names.
    fn shared(&self) -> Self {
        let named = self.changed(|events| {
            events.memories.iter_mut().step_by(2).for_each(|memory| memory.mentions.push(name(SHARED)));
        });
        let scopes = named.scopes.into_iter().map(|scope| {
            let ask = |(question, vector): (Question, _)| {
                (Question { text: format!("{} {SHARED}", question.text), ..question }, vector)
            };
            Scope { questions: scope.questions.into_iter().map(ask).collect(), ..scope }
        });
        Self { scopes: scopes.collect(), ..named }
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

    /// The set with other events.
    fn changed(&self, change: impl Fn(&mut ScopeEvents)) -> Self {
        let scopes = self.scopes.iter().map(|scope| {
            let mut events = scope.events.clone();
            change(&mut events);
            Scope { view: view(&events), events, questions: scope.questions.clone() }
        });
        Self { name: self.name.clone(), scopes: scopes.collect() }
    }

    /// The shares of gold of each question, with its class.
    fn shares(&self, rank: &Rank<'_>, with_vectors: bool) -> Vec<(String, [f64; 4])> {
        let mut all = Vec::new();
        for scope in &self.scopes {
            for (question, vector) in &scope.questions {
                let ranked = rank(scope, question, vector.as_deref().filter(|_| with_vectors));
                let found = quality::shares(question, &ranked).map(|share| 100.0 * share);
                all.push((question.class.clone().unwrap_or_default(), found));
            }
        }
        all
    }
}

/// Ebb with such a configuration, and such a query for each question.
fn asked(
    config: RecallConfig,
    query: RecallQuery,
) -> impl Fn(&Scope, &Question, Option<&[f32]>) -> Vec<String> {
    move |scope, question, vector| {
        let query =
            RecallQuery { text: question.text.clone(), vector: vector.map(<[f32]>::to_vec), ..query.clone() };
        let found = recall(&scope.view, &query, &config, &mut Scratch::default()).expect("an answer");
        found.hits.into_iter().map(|hit| hit.id).collect()
    }
}

fn weighed(fusion: FusionWeights) -> impl Fn(&Scope, &Question, Option<&[f32]>) -> Vec<String> {
    asked(config().with_fusion(fusion).expect("weights"), whole())
}

fn name(text: &str) -> EntityName {
    EntityName::new(text).expect("a name")
}

fn ways<'a>() -> Vec<Way<'a>> {
    let words = |scope: &Scope, question: &Question| -> Vec<String> {
        let ranked = scope.view.rank_by_text(&question.text, LISTED, |_| true).ranked;
        ranked.iter().map(|hit| scope.view.graph().external_id(hit.node).to_owned()).collect()
    };
    let similar = |scope: &Scope, vector: Option<&[f32]>| -> Vec<String> {
        let Some(vector) = vector else { return Vec::new() };
        let [ranked] = scope.view.rank_by_vector(vector, LISTED, |_| [true]).expect("a vector of the space");
        ranked.iter().map(|hit| scope.view.graph().external_id(hit.node).to_owned()).collect()
    };
    let usual = FusionWeights::default();
    let mut ways: Vec<Way<'a>> = vec![
        ("words alone (BM25)".to_owned(), Box::new(move |scope, question, _| words(scope, question))),
        ("vectors alone".to_owned(), Box::new(move |scope, _, vector| similar(scope, vector))),
        (
            "words and vectors, fused by ranks".to_owned(),
            Box::new(move |scope, question, vector| {
                let mut sums: BTreeMap<String, f64> = BTreeMap::new();
                for list in [words(scope, question), similar(scope, vector)] {
                    for (place, id) in list.into_iter().enumerate() {
                        *sums.entry(id).or_default() += 1.0 / (RANK_C + place as f64 + 1.0);
                    }
                }
                let mut ranked: Vec<(String, f64)> = sums.into_iter().collect();
                ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
                ranked.into_iter().map(|(id, _)| id).collect()
            }),
        ),
        ("**Ebb**".to_owned(), Box::new(weighed(usual))),
    ];
    let without = [
        ("words", FusionWeights { text: 0.0, ..usual }),
        ("links", FusionWeights { links: 0.0, ..usual }),
        ("neighbours", FusionWeights { neighbours: 0.0, ..usual }),
        ("time", FusionWeights { time: 0.0, ..usual }),
        ("speakers", FusionWeights { speaker: 0.0, ..usual }),
        ("dates", FusionWeights { date: 0.0, ..usual }),
    ];
    for (part, fusion) in without {
        ways.push((format!("Ebb without {part}"), Box::new(weighed(fusion))));
    }
    let with = |more: &[Dimension], weights: [f32; 4]| {
        let weights = DimensionWeights::new(weights).expect("weights");
        let config = config().with_evidence(EvidenceConfig { weights, ..EvidenceConfig::default() });
        let dimensions = [Dimension::Structural].iter().chain(more).copied().collect();
        asked(config, RecallQuery { dimensions, ..whole() })
    };
    for (part, more, weights) in [
        ("semantic", &[Dimension::Semantic][..], DIMENSION_WEIGHTS),
        ("semantic at a tenth", &[Dimension::Semantic], [0.9, 0.1, 0.0, 0.0]),
        ("temporal", &[Dimension::Temporal], DIMENSION_WEIGHTS),
        ("causal", &[Dimension::Causal], DIMENSION_WEIGHTS),
    ] {
        ways.push((format!("Ebb with {part}"), Box::new(with(more, weights))));
    }
    ways
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

fn mean(shares: &[(String, [f64; 4])]) -> [f64; 4] {
    let count = shares.len().max(1) as f64;
    [0, 1, 2, 3].map(|at| shares.iter().map(|(_, found)| found[at]).sum::<f64>() / count)
}

/// Means with the interval of the one at 5.
fn cell(shares: &[(String, [f64; 4])]) -> String {
    let [two, five, ten, twenty] = mean(shares);
    let fives: Vec<f64> = shares.iter().map(|(_, found)| found[1]).collect();
    let Estimate { low, high, .. } = Estimate::of(&fives, SAMPLES);
    format!("{two:.1}/{five:.1}/{ten:.1}/{twenty:.1} ({low:.1} to {high:.1})")
}

fn run(set: &str, class: &str, shares: &[(String, [f64; 4])]) -> Run {
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
