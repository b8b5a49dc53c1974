//! What the relevance of hits is worth: `--relevance` with one or more sets.
//!
//! A row is a set with vectors or without. Calibration is the mean difference between the relevance of the first ten hits and the share
//! of gold among them, in ten bins by relevance, each weighted by its hits. AUC is the probability that a gold hit among the first twenty of any
//! question is more relevant than another hit of any question. Time is that of a recall, as a multiple of that of the same one without
//! relevance. For each least relevance follow the mean number of hits among the first ten, the shares of them that are gold and of gold that
//! is among them, and of questions without any hit; then the share of questions that have any hit that is not gold, as if their gold were not
//! stored, and of those that have any hit in another scope, where no memory answers them: of the next scope of the set, or for one scope of
//! the set before.

use crate::quality::config;
use crate::record::Run;
use crate::speed::with_over_without_relevance;
use crate::table::Set;
use ebb_core::service::evaluation::{Question, held};
use ebb_engine::View;
use ebb_engine::recall::{Filter, RecallQuery, recall};
use ebb_engine::scratch::Scratch;
use std::collections::{BTreeMap, BTreeSet};

/// The least relevances of the table.
const LEAST: [f64; 5] = [0.0, 0.05, 0.1, 0.3, 0.5];
/// Hits that are compared with each other, and those that a reader sees.
const COMPARED: usize = 20;
const SHOWN: usize = 10;
const BINS: usize = 10;

/// The hits of a question.
struct Asked {
    /// The relevance of each, and whether it is gold.
    hits: Vec<(f64, bool)>,
    gold: usize,
}

/// Prints the table of all sets.
pub(crate) fn run(sets: &[Set]) -> Vec<Run> {
    println!(
        "\n| set | calibration error | AUC | time | least relevance | hits | of them gold | gold found | no hit | a hit that is not gold | a hit in another scope |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut runs = Vec::new();
    for (at, set) in sets.iter().enumerate() {
        for with_vectors in [false, true] {
            let views: Vec<&View> = set.views.values().map(|view| &**view).collect();
            let scopes: BTreeMap<_, usize> = set.views.keys().zip(0..).collect();
            let other = &sets[(at + sets.len() - 1) % sets.len()];
            let elsewhere = |question: &Question| match views.len() {
                1 => other.views.values().next().map(|view| &**view),
                count => Some(views[(scopes[&question.scope] + 1) % count]),
            };
            let own = |question: &Question| Some(&*set.views[&question.scope]);
            let answered = asked(set, with_vectors, own);
            let unanswered = asked(set, with_vectors, elsewhere);
            let time = with_over_without_relevance(&set.asks(with_vectors));
            runs.push(row((&set.name, with_vectors, time), &answered, &unanswered));
        }
    }
    runs
}

/// Asks each question of a set in a view.
fn asked<'a>(set: &'a Set, with_vectors: bool, view: impl Fn(&Question) -> Option<&'a View>) -> Vec<Asked> {
    let (config, mut scratch) = (config(), Scratch::default());
    let mut ask = |question: &Question| {
        let view = view(question)?;
        let query = RecallQuery {
            text: question.text.clone(),
            vector: question.embedding.clone().filter(|_| with_vectors),
            top_k: COMPARED,
            filter: Filter { has_text: true, ..Filter::default() },
            ..config.default_query().clone()
        };
        let found = recall(view, &query, &config, &mut scratch).expect("an answer");
        let gold: BTreeSet<_> = question.gold.iter().filter_map(|gold| held(view, gold)).collect();
        let hits = found.hits.iter().map(|hit| {
            let relevance = hit.relevance.map_or(0.0, f64::from);
            (relevance, gold.contains(&hit.node))
        });
        Some(Asked { hits: hits.collect(), gold: question.gold.len() })
    };
    set.questions.iter().filter_map(&mut ask).collect()
}

/// Prints the row of a set.
fn row((set, with_vectors, time): (&str, bool, f64), answered: &[Asked], unanswered: &[Asked]) -> Run {
    let name = format!("{set}, {} vectors", if with_vectors { "with" } else { "without" });
    let (error, auc) = (calibration(answered), auc(answered));
    println!("| {name} | {error:.3} | {auc:.3} | {time:.3} | | | | | | | |");
    let counters = [("calibration_error", error), ("auc", auc), ("time", time)];
    let mut counters: BTreeMap<String, f64> = counters.map(|(name, value)| (name.to_owned(), value)).into();
    for least in LEAST {
        let share = |sum: usize, of: usize| sum as f64 / of.max(1) as f64;
        let shown = |asked: &Asked| {
            let shown = asked.hits.iter().take(SHOWN).filter(|(relevance, _)| *relevance >= least);
            shown.fold((0, 0), |(hits, gold), (_, is_gold)| (hits + 1, gold + usize::from(*is_gold)))
        };
        let all: Vec<(usize, usize)> = answered.iter().map(shown).collect();
        let hits: usize = all.iter().map(|(hits, _)| hits).sum();
        let gold: usize = all.iter().map(|(_, gold)| gold).sum();
        let found: f64 = all.iter().zip(answered).map(|((_, gold), asked)| share(*gold, asked.gold)).sum();
        let none = all.iter().filter(|(hits, _)| *hits == 0).count();
        let wrong = all.iter().filter(|(hits, gold)| hits > gold).count();
        let elsewhere = unanswered.iter().filter(|asked| shown(asked).0 > 0).count();
        let figures = [
            ("hits", share(hits, all.len())),
            ("precision", share(gold, hits)),
            ("recall", found / all.len().max(1) as f64),
            ("none", share(none, all.len())),
            ("not_gold", share(wrong, all.len())),
            ("elsewhere", share(elsewhere, unanswered.len())),
        ];
        let cells: Vec<String> = figures.iter().map(|(_, figure)| format!("{figure:.2}")).collect();
        println!("| | | | | {least} | {} |", cells.join(" | "));
        counters.extend(figures.map(|(figure, value)| (format!("{figure}_at_{least}"), value)));
    }
    Run {
        target: None,
        kernel: "calibration error of relevance".to_owned(),
        dataset: set.to_owned(),
        class: name,
        pairs: 0,
        discarded: 0,
        q1: error,
        median: error,
        q3: error,
        counters,
        correct: true,
    }
}

/// The mean difference between relevance and the share of gold, by bins.
fn calibration(answered: &[Asked]) -> f64 {
    let mut bins = [(0.0, 0.0); BINS];
    let shown = answered.iter().flat_map(|asked| asked.hits.iter().take(SHOWN));
    let mut count = 0_u32;
    for (relevance, is_gold) in shown {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1")]
        let bin = ((relevance * BINS as f64) as usize).min(BINS - 1);
        bins[bin].0 += relevance;
        bins[bin].1 += f64::from(u8::from(*is_gold));
        count += 1;
    }
    bins.iter().map(|(relevance, gold)| (relevance - gold).abs()).sum::<f64>() / f64::from(count.max(1))
}

/// The probability that a gold hit is more relevant than another, ties by half.
fn auc(answered: &[Asked]) -> f64 {
    let mut all: Vec<(f64, bool)> = answered.iter().flat_map(|asked| asked.hits.iter().copied()).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut sum, mut gold) = (0.0, 0.0, 0.0);
    for same in all.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let own = same.iter().filter(|(_, is_gold)| *is_gold).count() as f64;
        let others = same.len() as f64 - own;
        sum += own * (below + others / 2.0);
        below += others;
        gold += own;
    }
    sum / f64::max(gold * below, 1.0)
}
