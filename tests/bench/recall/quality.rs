//! How much of what answers a question is among the first hits, by one switch after the other.
//!
//! A row of the table is a way to ask; its figures are means over all questions, and over either half of them: the even ones
//! teach where something is learned or primed, the odd ones are asked by a recall that never met them.

use crate::record::Run;
use ebb_core::service::evaluation::Question;
use ebb_core::service::evaluation::metrics::Ranks;
use ebb_engine::View;
use ebb_engine::graph::index::NodeId;
use ebb_engine::graph::kinds::Dimension;
use ebb_engine::merge::DimensionWeights;
use ebb_engine::plasticity::{QueryHistory, prime};
use ebb_engine::recall::{
    EvidenceConfig, Filter, Fusion, RecallConfig, RecallQuery, Spread, XlrMode, recall, recall_primed,
};
use ebb_engine::scratch::Scratch;
use std::collections::BTreeMap;

/// How many hits are looked at.
pub(crate) const AT: [usize; 4] = [2, 5, 10, 20];
/// What all four kinds of evidence weigh beside the default: what joins counts more and more, with all others and with one.
const GRID: [[f32; 4]; 7] = [
    [0.5, 0.2, 0.1, 0.2],
    [0.7, 0.12, 0.06, 0.12],
    [0.9, 0.04, 0.02, 0.04],
    [0.7, 0.3, 0.0, 0.0],
    [0.9, 0.1, 0.0, 0.0],
    [0.8, 0.0, 0.2, 0.0],
    [0.8, 0.0, 0.0, 0.2],
];

/// A way to ask, and what it finds.
pub(crate) struct Row {
    pub(crate) name: String,
    /// Shares of gold memories among the first hits, in percent: of all questions, of those that may teach, of the others.
    pub(crate) shares: [[f64; 4]; 3],
    /// Nodes that a question touches.
    touched: f64,
}

impl Row {
    /// As a file of results has it.
    pub(crate) fn run(&self) -> Run {
        let mut counters = BTreeMap::from([("nodes_touched".to_owned(), self.touched)]);
        for (of, shares) in ["all", "taught", "held_out"].into_iter().zip(self.shares) {
            let named = AT.into_iter().zip(shares).map(|(at, share)| (format!("{of}_r{at}_percent"), share));
            counters.extend(named);
        }
        let [[_, r5, ..], ..] = self.shares;
        Run {
            target: None,
            kernel: "share of gold memories among the first 5, in percent".to_owned(),
            dataset: "multi-hop".to_owned(),
            class: self.name.clone(),
            pairs: 0,
            discarded: 0,
            q1: r5,
            median: r5,
            q3: r5,
            counters,
            correct: true,
        }
    }
}

/// The rules of the defaults.
pub(crate) fn config() -> RecallConfig {
    RecallConfig::default()
}

/// A question for memories, as it is by default.
pub(crate) fn whole() -> RecallQuery {
    let memories = Filter { kinds: vec!["Memory".to_owned()], ..Filter::default() };
    RecallQuery { filter: memories, ..RecallQuery::default() }
}

/// Asks all questions in one way.
pub(crate) fn report(
    name: &str,
    view: &View,
    questions: &[Question],
    ask: &RecallQuery,
    config: &RecallConfig,
) -> Row {
    let mut scratch = Scratch::default();
    measured(name, questions, |text| {
        let ask = RecallQuery { text: text.to_owned(), ..ask.clone() };
        let found = recall(view, &ask, config, &mut scratch).expect("an answer");
        (found.hits.into_iter().map(|hit| hit.id).collect(), found.counters.nodes_touched)
    })
}

/// By what memories say alone.
pub(crate) fn by_text_alone(view: &View, questions: &[Question]) -> Row {
    measured("BM25", questions, |text| {
        let ranked = view.rank_by_text(text, 20, |_| true).ranked;
        (ranked.iter().map(|hit| view.graph().external_id(hit.node).to_owned()).collect(), 0)
    })
}

/// One switch after the other; the first row is what is the default.
pub(crate) fn switches(view: &View, questions: &[Question]) -> Vec<Row> {
    let (whole, config) = (whole(), config());
    let hears = |more: &[Dimension]| {
        let dimensions = [Dimension::Structural].iter().chain(more).copied().collect();
        RecallQuery { dimensions, ..whole.clone() }
    };
    let off = RecallQuery { fusion: Fusion::Off, ..whole.clone() };
    let walk = RecallQuery { spread: Spread::PersonalPageRank, ..off.clone() };
    let ways = [
        ("as it is by default", whole.clone()),
        ("without the ranking by text", off.clone()),
        ("with meaning", hears(&[Dimension::Semantic])),
        ("with time", hears(&[Dimension::Temporal])),
        ("with cause", hears(&[Dimension::Causal])),
        ("with all four", hears(&Dimension::ALL)),
        ("with all four, without text", RecallQuery { fusion: Fusion::Off, ..hears(&Dimension::ALL) }),
        ("gated by contrast", RecallQuery { xlr: XlrMode::Gate, ..whole.clone() }),
        ("gated by contrast, without text", RecallQuery { xlr: XlrMode::Gate, ..off }),
        ("personalised PageRank from the same seeds", walk),
    ];
    let mut rows: Vec<Row> =
        ways.iter().map(|(name, ask)| report(name, view, questions, ask, &config)).collect();
    rows.push(by_text_alone(view, questions));
    rows.push(primed(view, questions));
    let all = hears(&Dimension::ALL);
    for weights in GRID {
        let weighing = EvidenceConfig {
            weights: DimensionWeights::new(weights).expect("some"),
            ..EvidenceConfig::default()
        };
        let name = format!("with all four, as {weights:?}");
        rows.push(report(&name, view, questions, &all, &config.clone().with_evidence(weighing)));
    }
    rows
}

/// After each question that may teach was asked twice, so that what came together is a habit.
fn primed(view: &View, questions: &[Question]) -> Row {
    let (whole, config, mut scratch) = (whole(), config(), Scratch::default());
    let mut memory = QueryHistory::default();
    for question in questions.iter().step_by(2).chain(questions.iter().step_by(2)) {
        let ask = RecallQuery { text: question.text.clone(), ..whole.clone() };
        let found = recall(view, &ask, &config, &mut scratch).expect("an answer");
        found.record_in(view.graph(), &ask, 0, &mut memory);
    }
    let mut joined = 0_usize;
    let row = measured("primed by one half", questions, |text| {
        let ask = RecallQuery { text: text.to_owned(), priming: true, ..whole.clone() };
        let primes = |seeds: &[(NodeId, f32)]| prime(view.graph(), &memory, seeds);
        let found = recall_primed(view, &ask, &config, primes, &mut scratch).expect("an answer");
        joined += usize::from(!found.primed.is_empty());
        (found.hits.into_iter().map(|hit| hit.id).collect(), found.counters.nodes_touched)
    });
    println!("of {} questions {joined} were primed", questions.len());
    row
}

/// The shares of gold ids among the first of a ranking.
pub(crate) fn shares(question: &Question, ranked: &[String]) -> [f64; 4] {
    let rank = |gold: &String| (1..).zip(ranked).find_map(|(rank, hit)| (hit == gold).then_some(rank));
    let ranks = Ranks(question.gold.iter().map(rank).collect());
    AT.map(|at| ranks.recall(at))
}

/// Asks all questions by a rule, which answers ids by rank and how many nodes it touched.
fn measured(name: &str, questions: &[Question], mut rank: impl FnMut(&str) -> (Vec<String>, u64)) -> Row {
    let (mut means, mut counts, mut touched) = ([[0.0; 4]; 3], [0_usize; 3], 0_u64);
    for (at, question) in questions.iter().enumerate() {
        let (ranked, work) = rank(&question.text);
        touched += work;
        let found = shares(question, &ranked);
        for part in [0, 1 + at % 2] {
            counts[part] += 1;
            means[part].iter_mut().zip(found).for_each(|(sum, share)| *sum += share);
        }
    }
    for (of, count) in means.iter_mut().zip(counts) {
        of.iter_mut().for_each(|sum| *sum *= 100.0 / count.max(1) as f64);
    }
    Row { name: name.to_owned(), shares: means, touched: touched as f64 / questions.len().max(1) as f64 }
}

/// Prints rows as a table.
pub(crate) fn table(rows: &[Row]) {
    println!("\n| | R@2 | R@5 | R@10 | R@20 | R@5, even ones | R@5, odd ones | nodes touched |");
    println!("|---|---|---|---|---|---|---|---|");
    for Row { name, shares, touched } in rows {
        let [[a, b, c, d], [_, even, ..], [_, odd, ..]] = shares;
        println!("| {name} | {a:.1} | {b:.1} | {c:.1} | {d:.1} | {even:.1} | {odd:.1} | {touched:.0} |");
    }
}
