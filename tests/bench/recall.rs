//! What recall finds, by one switch after the other, and what learning makes of it: `cargo bench --bench recall`.
//!
//! | | |
//! |---|---|
//! | `--events FILE --questions FILE` | questions that take several steps to answer |
//! | `--set NAME EVENTS,QUESTIONS[,VECTORS,QUESTION_VECTORS[,FACT_VECTORS]]`, several times | one table for each set: words, vectors, Ebb, and Ebb without each of its parts; and recalls a second |
//! | `--forget` | the gold that stays of these sets when a part of each scope is left out of memory |
//! | `--relevance` | what the relevance of hits is worth in these sets, and where nothing answers |
//! | `--memories NUMBER` | the processor time of a question among so many generated memories, and what it reads |
//! | `--icews FILE` | a year of dated relations: what comes next, with learning and without |
//! | `--json FILE` | all figures, as the file of results has them, too |
//!
//! Events are lines as `ebb import` reads them, memories with their mentions and relations; a question is `{"question",
//! "gold": [ids of memories]}`. The graph is built as the mirror builds it, without a server. Reported is the mean share of
//! gold memories among the first 2, 5, 10 and 20 hits: of recall as it is by default, with each of its switches, of BM25 and
//! of personalised PageRank alone, after one half of the questions taught; and the same for memories that nothing joins, where
//! only texts are left. Then what a question costs on one thread. The data has a licence of its own, so it is no part of the
//! repository; without files there is nothing to do.

#![expect(clippy::print_stdout, reason = "a benchmark talks to a person")]
#![expect(clippy::cast_precision_loss, reason = "counts of questions")]

mod arguments;
#[path = "recall/days.rs"]
mod days;
#[path = "recall/forget.rs"]
mod forget;
#[path = "recall/large.rs"]
mod large;
#[path = "recall/learning.rs"]
mod learning;
mod measure;
#[path = "recall/quality.rs"]
mod quality;
mod record;
#[path = "recall/relevance.rs"]
mod relevance;
#[path = "recall/set.rs"]
mod set;
#[path = "recall/speed.rs"]
mod speed;
#[path = "recall/table.rs"]
mod table;

use arguments::Arguments;
use ebb_core::service::evaluation::Question;
use ebb_core::service::events::in_memory::ScopeEvents;
use ebb_engine::recall::RecallQuery;
use quality::{AT, Row, config, report, whole};
use record::{Part, Run};
use set::view;
use speed::speed;
use std::time::Instant;

/// What the pipeline must reach at each, in percent, and how many questions a second.
const MUST: [f64; 4] = [48.0, 68.0, 78.0, 83.0];
const MUST_RATE: f64 = 1_000.0;

fn main() {
    let arguments = Arguments::of_process();
    let mut runs = Vec::new();
    if let (Some(events), Some(questions)) = (arguments.value("--events"), arguments.value("--questions")) {
        runs.extend(multi_hop(&set::events(events), &set::questions(questions)));
    }
    let mut sets = Vec::new();
    for words in arguments.each("--set") {
        let [name, files, ..] = words else { panic!("--set needs a name and files") };
        let files: Vec<String> = files.split(',').map(str::to_owned).collect();
        sets.push(table::Set::of(name, &files));
    }
    if arguments.has("--relevance") {
        runs.extend(relevance::run(&sets));
    } else {
        runs.extend(
            sets.iter()
                .flat_map(|set| if arguments.has("--forget") { forget::run(set) } else { set.table() }),
        );
    }
    if let Some(dated) = arguments.value("--icews") {
        runs.extend(days::run(dated));
    }
    if let Some(count) = arguments.value("--memories") {
        large::run(count.parse().expect("a number of memories"));
    } else if runs.is_empty() {
        println!(
            "recall: nothing to measure without --events FILE and --questions FILE, --set, --memories or --icews"
        );
    } else if let Some(file) = arguments.value("--json") {
        let part = Part { runs, ..Part::default() };
        let text = serde_json::to_string_pretty(&part).expect("JSON") + "\n";
        std::fs::write(file, text).expect("the figures are written");
    }
}

/// All of the set of questions, with verdicts.
fn multi_hop(events: &ScopeEvents, questions: &[Question]) -> Vec<Run> {
    let begun = Instant::now();
    let view = view(events);
    let (graph, bytes) = (view.graph(), view.bytes());
    println!(
        "{} questions; {} nodes, {} slots, made in {:.2} s; {bytes:?}, {:.1} MB in all",
        questions.len(),
        graph.node_count(),
        graph.slot_count(),
        begun.elapsed().as_secs_f64(),
        bytes.total() as f64 / 1e6
    );
    let mut rows = quality::switches(&view, questions);
    let taught = learning::rows(events, questions);
    let bare = self::view(&set::unjoined(events));
    let bare = [
        report("without mentions and relations", &bare, questions, &whole(), &config()),
        quality::by_text_alone(&bare, questions),
    ];
    println!("\nshare of gold memories among the first hits, in percent:");
    quality::table(&rows);
    println!("\nwhere nothing joins memories:");
    quality::table(&bare);
    println!("\nafter one half taught:");
    if let Some(before) = rows.first() {
        learning::table(before, &taught);
    }
    println!();
    let ask = |question: &Question| (&view, RecallQuery { text: question.text.clone(), ..whole() });
    let rate = speed("words and links", &questions.iter().map(ask).collect::<Vec<_>>());
    verdicts(&rows, &taught, &bare, rate);
    rows.extend(taught);
    rows.extend(bare.into_iter().take(1));
    rows.iter().map(Row::run).collect()
}

fn verdicts(rows: &[Row], taught: &[Row], bare: &[Row; 2], rate: f64) {
    let Some(Row { shares: [all, even, odd], .. }) = rows.first() else { return };
    for (at, (is, must)) in AT.iter().zip(all.iter().zip(MUST)) {
        verdict(&format!("R@{at}"), *is, must);
    }
    let [[alone, ..], [text, ..]] = [bare[0].shares, bare[1].shares];
    for (at, (is, text)) in AT.iter().zip(alone.iter().zip(text)) {
        verdict(&format!("R@{at} without mentions and relations"), *is, text - 1.0);
    }
    if let Some(Row { shares: [_, even_after, odd_after], .. }) = taught.first() {
        verdict("R@5 of the even ones, which taught", even_after[1], even[1] + 8.0);
        verdict("R@5 of the odd ones, which did not", odd_after[1], odd[1] - 1.0);
    }
    verdict("questions a second on one core", rate, MUST_RATE);
}

fn verdict(what: &str, is: f64, must: f64) {
    let state = if is >= must { "met" } else { "MISSED" };
    println!("{what:<44} {is:>8.1}   must {must:>7.1} {state}");
}
