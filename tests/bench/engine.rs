//! What the engine costs beside what this machine can do and beside the textbook: `cargo bench --bench engine`.
//!
//! Each figure is a ratio of two things done back to back in one process, in interleaved pairs, with a probe of the machine
//! around each pair. Each kernel and data set has a process of its own, held to one core. An answer that differs from the
//! textbook's fails its target, however fast it came. Verdicts go by the bad-side quartile of the worst run.
//!
//! Each has its textbook (`reference.rs`) or its probe. What counts for no target is told all the same: a whole recall
//! beside one of textbooks, and communities beside a textbook's, which finds less in more time and so is no measure of ours
//! (`peers/graphs.py` has better ones).
//!
//! `--scale 16` takes smaller graphs than 2^20 nodes; `--quick` does that, and watches readers beside a learner for seconds
//! and not for a minute. `--only T1,T2` measures what counts for these targets (`recall` and `communities` for these), `--peers PATH`
//! names the program of `peers/`, without which what is divided by a peer is not measured. `--record` writes the file of
//! results, or adds to that of the same day and commit. `--edges rmat-s16` writes that graph to standard output for another
//! program, an edge a line: source, target, weight (`peers/graphs.py`).

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark talks to a person")]

#[path = "engine/activation.rs"]
mod activation;
mod agreement;
mod allocations;
mod arguments;
#[path = "engine/building.rs"]
mod building;
#[path = "engine/contrast.rs"]
mod contrast;
#[path = "engine/grouping.rs"]
mod grouping;
#[path = "engine/learning.rs"]
mod learning;
#[path = "engine/look_up.rs"]
mod look_up;
#[path = "engine/machine.rs"]
mod machine;
mod measure;
#[path = "engine/memories.rs"]
mod memories;
mod outcomes;
mod plain;
mod probes;
mod random;
#[path = "engine/readers.rs"]
mod readers;
#[path = "engine/recalling.rs"]
mod recalling;
mod record;
mod reference;
mod sets;
#[path = "engine/standing.rs"]
mod standing;
#[path = "engine/waves.rs"]
mod waves;

use arguments::Arguments;
use record::{Part, Record, Run, SCHEMA, State, TARGETS, folder, records, slug, verdicts};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

/// What one process measures: a kernel, data sets, and for what targets that counts.
struct Job {
    words: Vec<String>,
    of_peers: bool,
    targets: &'static [&'static str],
}

fn job(kernel: &str, sets: &[&str], targets: &'static [&'static str]) -> Job {
    let words = std::iter::once(kernel).chain(sets.iter().copied()).map(str::to_owned).collect();
    Job { words, of_peers: kernel.starts_with("peer"), targets }
}

/// The graphs of a run: a sixteenth of the largest, a quarter of it, and that.
fn graphs(scale: u32) -> [String; 3] {
    [scale.saturating_sub(4), scale.saturating_sub(2), scale].map(|scale| format!("rmat-s{}", scale.max(10)))
}

fn jobs(scale: u32) -> Vec<Job> {
    let [small, _, large] = graphs(scale);
    let uniform = small.replace("rmat", "uniform");
    let spread: &[&str] = &["T1", "T2", "T4"];
    let mut jobs = vec![job("build", &[&large], &["T11", "T12"]), job("peer-build", &[&large], &["T11"])];
    for shape in ["0", "10", "50", "skewed"] {
        jobs.push(job("activation", &[&small, shape], spread));
    }
    jobs.push(job("activation", &[&large, "0"], spread));
    jobs.push(job("activation", &[&large, "10"], spread));
    jobs.push(job("activation", &[&uniform, "0"], spread));
    jobs.push(job("activation-growth", &[&small, &large], &["T3"]));
    for set in [&small, &large] {
        jobs.push(job("pagerank", &[set], &["T5"]));
        jobs.push(job("peer-pagerank", &[set], &["T5"]));
    }
    jobs.push(job("pagerank-growth", &[&small, &large], &["T6"]));
    jobs.push(job("look-up", &["100"], &["T16"]));
    jobs
}

/// Learning, contrast, waves, communities, and all of it in one question.
fn further_jobs(scale: u32, quick: bool) -> Vec<Job> {
    let [small, middle, large] = graphs(scale);
    let grid = small.replace("rmat", "grid");
    let mut jobs = Vec::new();
    for set in [small.as_str(), &middle, if quick { "code-10k" } else { "code-100k" }] {
        jobs.push(job("communities", &[set], &["communities"]));
    }
    jobs.push(job("communities-growth", &[&small, &large], &["communities"]));
    for set in [&small, &large] {
        jobs.push(job("learning", &[set], &["T8"]));
    }
    // Sixteen times the nodes, of which the same few learn.
    jobs.push(job("learning-growth", &["island-1x", "island-31x"], &["T8", "T8 growth"]));
    for set in [&small, &large] {
        for shape in ["0", "10"] {
            jobs.push(job("contrast", &[set, shape], &["T9"]));
        }
    }
    for set in [&small, &middle, &large, &grid] {
        jobs.push(job("waves", &[set], &["T10"]));
    }
    for set in [&small, &large] {
        jobs.push(job("readers", &[set], &["T17"]));
    }
    jobs.push(job("readers-long", &[&small, if quick { "5" } else { "60" }], &["T17"]));
    // In a smaller graph nodes have company, which the textbook does not know.
    let memories = format!("sparse-s{}", scale.max(16));
    jobs.push(job("recall", &[&memories], &["recall"]));
    jobs
}

fn main() {
    let arguments = Arguments::of_process();
    if let Some(words) = arguments.each("--measure").next() {
        let part = measured(words);
        println!("{}", serde_json::to_string(&part).expect("JSON"));
        return;
    }
    if let Some(set) = arguments.value("--edges") {
        return write_edges(set).expect("standard output takes the edges");
    }
    let quick = arguments.has("--quick");
    let scale = arguments.number("--scale", if quick { 16 } else { 20 });
    let scale = u32::try_from(scale).expect("a scale such as 16");
    let only = arguments.value("--only");
    let peers = arguments.value("--peers").map(PathBuf::from);
    let wanted = |job: &Job| {
        let is_asked = |only: &str| only.split(',').any(|target| job.targets.contains(&target));
        only.is_none_or(is_asked)
    };
    let begun = machine::look();
    let mut all = Part::default();
    let work = |all: &mut Part| {
        for job in jobs(scale).iter().chain(&further_jobs(scale, quick)).filter(|job| wanted(job)) {
            run(job, peers.as_deref(), all);
        }
    };
    if arguments.has("--record") {
        let affinity = measure::pin();
        let probes = probes::around(|| work(&mut all));
        let record = Record {
            schema: SCHEMA.to_owned(),
            commit: machine::said(Command::new("git").args(["rev-parse", "HEAD"])),
            rustc: machine::said(Command::new("rustc").arg("--version")),
            profile: "bench".to_owned(),
            machine: record::Machine { load_after: machine::load(), affinity, ..begun },
            server: None,
            datasets: std::mem::take(&mut all.datasets),
            probes,
            verdicts: verdicts(&all.runs),
            runs: std::mem::take(&mut all.runs),
        };
        tell(&record.runs);
        write(record);
    } else {
        work(&mut all);
        tell(&all.runs);
    }
    if !all.failed.is_empty() {
        eprintln!("not measured, since they failed: {}", all.failed.join(", "));
        std::process::exit(1);
    }
}

fn write_edges(set: &str) -> std::io::Result<()> {
    let graph = sets::Set::named(set).expect("a set").graph(sets::Shape::PLAIN);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for node in graph.nodes() {
        for slot in graph.slots(node) {
            writeln!(out, "{} {} {}", node.0, graph.target(slot).0, graph.weight(slot))?;
        }
    }
    out.flush()
}

/// In the process of a job.
fn measured(words: &[String]) -> Part {
    let [kernel, of @ ..] = words else { panic!("which kernel?") };
    if kernel.starts_with("readers") {
        measure::free();
    } else {
        measure::pin();
    }
    match (kernel.as_str(), of) {
        ("build", [set]) => building::build(set),
        ("activation", [set, shape]) => activation::classes(set, shape),
        ("activation-growth", [small, large]) => activation::growth(small, large),
        ("pagerank", [set]) => standing::beside_textbook(set),
        ("pagerank-growth", [small, large]) => standing::growth(small, large),
        ("look-up", [thousands]) => look_up::labels(thousands.parse().expect("how many thousand labels")),
        ("communities", [set]) => grouping::beside_textbook(set),
        ("communities-growth", [small, large]) => grouping::growth(small, large),
        ("learning", [set]) => learning::beside_writes(set),
        ("learning-growth", [small, large]) => learning::growth(small, large),
        ("contrast", [set, shape]) => contrast::beside_activation(set, shape),
        ("waves", [set]) => waves::beside_queue(set),
        ("readers", [set]) => readers::beside_a_learner(set),
        ("readers-long", [set, seconds]) => readers::for_a_while(set, seconds.parse().expect("seconds")),
        ("recall", [set]) => recalling::beside_textbooks(set),
        _ => panic!("there is no such kernel: {words:?}"),
    }
}

/// Runs a job and takes in what it found.
fn run(job: &Job, peers: Option<&Path>, all: &mut Part) {
    let own = std::env::current_exe().expect("the path of this program");
    let Some(program) = (if job.of_peers { peers } else { Some(own.as_path()) }) else { return };
    eprintln!("{}", job.words.join(" "));
    let output = Command::new(program)
        .arg("--measure")
        .args(&job.words)
        .stderr(Stdio::inherit())
        .output()
        .expect("the program runs");
    if !output.status.success() {
        all.failed.push(job.words.join(" "));
        return;
    }
    let part: Part = serde_json::from_slice(&output.stdout).expect("what a job found");
    all.runs.extend(part.runs);
    for set in part.datasets {
        if !all.datasets.contains(&set) {
            all.datasets.push(set);
        }
    }
}

/// A table of what was found, and how the targets stand.
fn tell(runs: &[Run]) {
    println!("ratios: lower quartile, median, upper quartile (pairs kept + discarded)");
    for Run { target, kernel, dataset, class, pairs, discarded, q1, median, q3, counters, correct } in runs {
        let target = target.as_deref().unwrap_or("-");
        let wrong = if *correct { "" } else { "  WRONG ANSWER" };
        println!(
            "{target:<12} {dataset:<12} {class:<13} {q1:>8.3} {median:>8.3} {q3:>8.3} ({pairs} + {discarded})  {kernel}{wrong}"
        );
        let beside: Vec<String> = counters.iter().map(|(name, value)| format!("{name} {value:.5}")).collect();
        if !beside.is_empty() {
            println!("             {}", beside.join(", "));
        }
    }
    for (verdict, target) in verdicts(runs).iter().zip(&TARGETS) {
        let state = match verdict.state {
            State::Pass => "met",
            State::AtRisk => "AT RISK",
            State::Fail => "MISSED",
            State::NotRun => continue,
        };
        let value = verdict.value.unwrap_or_default();
        println!("{:<12} {state:<8} {value:>8.3}, must be {:<6} {}", target.id, target.must, target.what);
    }
}

/// Writes a file; what the last one has of other targets stays in it, if that is of the same day and commit.
fn write(mut record: Record) {
    let now = ebb_core::clock::rfc3339(ebb_core::clock::Clock::Real.now());
    let is_same =
        |(name, known): &(String, Record)| name.starts_with(&now[..10]) && known.commit == record.commit;
    let name = match records().pop().filter(is_same) {
        Some((name, known)) => {
            record.add(known);
            name
        }
        None => format!("{}-{}.json", now[..16].replace(':', ""), slug(&record.machine.cpu)),
    };
    let path = folder().join(name);
    let text = serde_json::to_string_pretty(&record).expect("JSON") + "\n";
    std::fs::write(&path, text).expect("the file of results is written");
    println!("{}", path.display());
}
