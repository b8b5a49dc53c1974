//! The result of an evaluation: as JSON, as a page, and as a picture.

use crate::surfaces::cli::page::{Column, Page, harmless};
use crate::surfaces::cli::plot::recall::{RecallPlot, Row};
use ebb_core::domain::ids::Scope;
use ebb_core::service::evaluation::comparison::{COMPARED_AT, Comparison, Lost, SavedAnswer};
use ebb_core::service::evaluation::metrics::{Estimate, mean, percentile};
use ebb_core::service::evaluation::ways::Way;
use ebb_core::service::evaluation::{Answers, Question};
use serde::Serialize;
use std::collections::BTreeSet;

/// Questions that a page shows of those that lost memories.
const LOST_SHOWN: usize = 20;
/// Name of the class of questions without one.
const NO_CLASS: &str = "without class";

/// The result.
#[derive(Debug, Default, Serialize)]
pub(super) struct Evaluation {
    questions: usize,
    scopes: usize,
    /// Gold ids that are not in the graph in memory.
    pub(super) memories_missing: usize,
    /// Events that the graph leaves out.
    pub(super) events_left_out: u64,
    /// Scopes of which the graph in memory holds a part only.
    pub(super) partial: Vec<PartialScope>,
    top: Vec<usize>,
    ways: Vec<WayResult>,
    classes: Vec<ClassResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) comparison: Option<Comparison>,
    /// The answers of recall.
    pub(super) answers: Vec<SavedAnswer>,
}

/// A scope that is not whole in memory.
#[derive(Debug, Serialize)]
pub(super) struct PartialScope {
    pub(super) scope: Scope,
    /// Share of its nodes that are held.
    pub(super) held_share: f64,
}

/// The result of one way.
#[derive(Debug, Serialize)]
struct WayResult {
    way: String,
    /// Share of gold memories among the first hits, by number of hits.
    recall: Vec<Estimate>,
    /// Reciprocal rank of the first gold memory among the first [`COMPARED_AT`].
    reciprocal_rank: Estimate,
    /// Difference to Ebb of the share among the first [`COMPARED_AT`], question by question.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<Estimate>,
    p50_ms: f64,
    p99_ms: f64,
}

/// The result of one class.
#[derive(Debug, Serialize)]
struct ClassResult {
    class: String,
    questions: usize,
    words: Vec<f64>,
    ebb: Vec<f64>,
    /// Whether Ebb finds less among the first [`COMPARED_AT`] than words alone: the interval of the difference is below 0.
    below_words: bool,
}

impl Evaluation {
    /// Of the answers of all ways, at these numbers of hits.
    pub(super) fn of(questions: &[Question], answers: &[Answers], top: Vec<usize>, resamples: usize) -> Self {
        let ebb = answers.iter().find(|answers| answers.way == Way::Ebb);
        let way = |of: &Answers| {
            let each = |value: &dyn Fn(usize) -> f64| {
                let values: Vec<f64> = (0..of.ranks.len()).map(value).collect();
                Estimate::of(&values, resamples)
            };
            let compared = |ranks: &Answers, at: usize| ranks.ranks[at].recall(COMPARED_AT);
            let ebb = ebb.filter(|ebb| ebb.way != of.way);
            let mut took: Vec<f64> = of.took.iter().map(|took| took.as_secs_f64() * 1e3).collect();
            took.sort_by(f64::total_cmp);
            WayResult {
                way: of.way.name(),
                recall: top.iter().map(|k| each(&|at| of.ranks[at].recall(*k))).collect(),
                reciprocal_rank: each(&|at| of.ranks[at].reciprocal(COMPARED_AT)),
                difference: ebb.map(|ebb| each(&|at| compared(of, at) - compared(ebb, at))),
                p50_ms: percentile(&took, 50),
                p99_ms: percentile(&took, 99),
            }
        };
        Self {
            questions: questions.len(),
            scopes: questions.iter().map(|question| &question.scope).collect::<BTreeSet<_>>().len(),
            ways: answers.iter().map(way).collect(),
            classes: classes(questions, answers, &top, resamples),
            top,
            ..Self::default()
        }
    }

    /// The picture of all ways.
    pub(super) fn plot(&self) -> RecallPlot {
        let row = |way: &WayResult| Row { name: way.way.clone(), shares: way.recall.clone() };
        RecallPlot {
            title: format!("Share of gold memories among the first hits, {} questions", self.questions),
            top: self.top.clone(),
            rows: self.ways.iter().map(row).collect(),
        }
    }

    pub(super) fn lay_out(&self, page: &mut Page) {
        let (questions, scopes) = (self.questions, self.scopes);
        page.line(&match scopes {
            1 => format!("{questions} questions."),
            _ => format!("{questions} questions in {scopes} scopes."),
        });
        if self.memories_missing > 0 {
            page.line(&format!(
                "Gold ids not in the graph in memory, so that nothing finds them: {}.",
                self.memories_missing
            ));
        }
        if self.events_left_out > 0 {
            page.line(&format!(
                "Events that have no part without jobs, such as accesses: {}. --after-jobs applies them.",
                self.events_left_out
            ));
        }
        for PartialScope { scope, held_share } in &self.partial {
            let share = points(*held_share);
            page.line(&format!(
                "The graph in memory holds {share} percent of the scope {scope}; mirror.max_bytes limits it."
            ));
        }
        page.line("");
        self.shares(page);
        page.line("");
        self.differences(page);
        if !self.classes.is_empty() {
            page.line("");
            self.by_class(page);
        }
        if let Some(comparison) = &self.comparison {
            page.line("");
            compared(comparison, page);
        }
    }

    fn shares(&self, page: &mut Page) {
        page.heading("Share of gold memories among the first hits, in percent, with 95 % intervals");
        let names: Vec<String> = self.top.iter().map(|k| format!("FIRST {k}")).collect();
        let mut columns = vec![Column::left("WAY")];
        columns.extend(names.iter().map(|name| Column::right(name)));
        let rank = format!("MRR@{COMPARED_AT}");
        columns.push(Column::right(&rank));
        let row = |way: &WayResult| {
            let shares = way.recall.iter().map(interval);
            let rank = format!("{:.3}", way.reciprocal_rank.mean);
            [way.way.clone()].into_iter().chain(shares).chain([rank]).collect::<Vec<_>>()
        };
        page.table(&columns, self.ways.iter().map(row));
    }

    fn differences(&self, page: &mut Page) {
        page.heading(&format!(
            "Difference to Ebb among the first {COMPARED_AT}, in points, and time of a question"
        ));
        let columns = ["DIFFERENCE", "P50 MS", "P99 MS"].map(Column::right);
        let columns: Vec<Column<'_>> = [Column::left("WAY")].into_iter().chain(columns).collect();
        let row = |way: &WayResult| {
            let difference = way.difference.as_ref().map_or_else(|| "-".to_owned(), interval);
            [way.way.clone(), difference, format!("{:.2}", way.p50_ms), format!("{:.2}", way.p99_ms)]
        };
        page.table(&columns, self.ways.iter().map(row));
    }

    fn by_class(&self, page: &mut Page) {
        let top: Vec<String> = self.top.iter().map(ToString::to_string).collect();
        page.heading(&format!("By class, among the first {}", top.join(", ")));
        let columns = [
            Column::cut("CLASS"),
            Column::right("QUESTIONS"),
            Column::right("WORDS ALONE"),
            Column::right("EBB"),
            Column::left(""),
        ];
        let shares = |all: &[f64]| all.iter().map(|share| points(*share)).collect::<Vec<_>>().join(" / ");
        let row = |class: &ClassResult| {
            let flag = if class.below_words { "below words alone" } else { "" };
            let numbers = [shares(&class.words), shares(&class.ebb)];
            let [words, ebb] = numbers;
            [class.class.clone(), class.questions.to_string(), words, ebb, flag.to_owned()]
        };
        page.table(&columns, self.classes.iter().map(row));
    }
}

/// The results of recall and of words alone by class, if a question has one.
fn classes(questions: &[Question], answers: &[Answers], top: &[usize], resamples: usize) -> Vec<ClassResult> {
    let of_way = |way: Way| answers.iter().find(|answers| answers.way == way);
    let (Some(words), Some(ebb)) = (of_way(Way::Words), of_way(Way::Ebb)) else { return Vec::new() };
    let class = |question: &Question| question.class.clone().unwrap_or_else(|| NO_CLASS.to_owned());
    let named: BTreeSet<String> = questions.iter().map(class).collect();
    if named.iter().all(|name| name == NO_CLASS) {
        return Vec::new();
    }
    let result = |name: String| {
        let of = (0..questions.len()).filter(|at| class(&questions[*at]) == name);
        let own: Vec<usize> = of.collect();
        let share = |answers: &Answers, k: usize| mean(own.iter().map(|at| answers.ranks[*at].recall(k)));
        let compared = |answers: &Answers, at: usize| answers.ranks[at].recall(COMPARED_AT);
        let differences: Vec<f64> = own.iter().map(|at| compared(ebb, *at) - compared(words, *at)).collect();
        ClassResult {
            questions: own.len(),
            words: top.iter().map(|k| share(words, *k)).collect(),
            ebb: top.iter().map(|k| share(ebb, *k)).collect(),
            below_words: Estimate::of(&differences, resamples).high < 0.0,
            class: name,
        }
    };
    named.into_iter().map(result).collect()
}

fn compared(found: &Comparison, page: &mut Page) {
    page.heading("Compared with the earlier evaluation");
    let Comparison { questions, left_out, before, now, lost, .. } = found;
    page.line(&format!(
        "Among the first {COMPARED_AT} hits of {questions} questions: {} percent before, {} now.",
        points(*before),
        points(*now)
    ));
    if *left_out > 0 {
        page.line(&format!(
            "Questions not in both with the same gold ids, which are not compared: {left_out}."
        ));
    }
    for Lost { question, memories, .. } in lost.iter().take(LOST_SHOWN) {
        page.line(&format!("  {}", harmless(question)));
        for memory in memories {
            let now = memory.now.map_or_else(|| memory.state.text().to_owned(), |rank| rank.to_string());
            page.line(&format!("    {}  rank {} before, now {now}", memory.id, memory.before));
        }
    }
    if lost.len() > LOST_SHOWN {
        page.line(&format!("  and {} more questions; -o json has all", lost.len() - LOST_SHOWN));
    }
}

/// A share in percent.
fn points(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

fn interval(of: &Estimate) -> String {
    format!("{} [{}, {}]", points(of.mean), points(of.low), points(of.high))
}
