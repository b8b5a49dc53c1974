//! The file of results, `tests/bench/results/<day>T<time>-<machine>.json`: what was measured, on what, and how it stands.
//!
//! These types are its schema: `results/schema.json` is made from them, and a file with a field that they do not know is
//! none. A target that was not measured is in the file too, as `not_run`.

#![allow(dead_code, reason = "each program of this folder uses its own part")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a file of this shape is called.
pub(crate) const SCHEMA: &str = "ebb.bench/1";

/// A file of results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    /// `ebb.bench/1`.
    pub(crate) schema: String,
    /// The commit that was measured, forty digits.
    pub(crate) commit: String,
    /// The compiler's own words about itself.
    pub(crate) rustc: String,
    /// The profile of the build.
    pub(crate) profile: String,
    pub(crate) machine: Machine,
    /// The database, where one was measured.
    pub(crate) server: Option<Server>,
    pub(crate) datasets: Vec<DataSet>,
    pub(crate) probes: Vec<Probe>,
    pub(crate) runs: Vec<Run>,
    pub(crate) verdicts: Vec<Verdict>,
}

/// What it was measured on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Machine {
    /// The model of the processor.
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    /// Size of each level in KiB, by its name: `L1d`, `L2`.
    pub(crate) caches: BTreeMap<String, u64>,
    /// In MiB.
    pub(crate) memory: u64,
    pub(crate) kernel: String,
    /// Which memory is given in huge pages: `always`, `madvise` or `never`.
    pub(crate) thp: String,
    /// `vm` or `bare`.
    pub(crate) kind: String,
    /// Mean load of the minute before.
    pub(crate) load_before: f64,
    pub(crate) load_after: f64,
    /// The core that one-thread kernels were held to.
    pub(crate) affinity: usize,
}

/// The database that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Server {
    pub(crate) neo4j: String,
    pub(crate) java: String,
    pub(crate) heap: String,
    pub(crate) pagecache: String,
    pub(crate) settings: BTreeMap<String, String>,
}

/// A data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DataSet {
    pub(crate) name: String,
    pub(crate) seed: u64,
    /// Over all edges, sixteen digits.
    pub(crate) checksum: String,
    pub(crate) nodes: u64,
    pub(crate) edges: u64,
}

/// What the machine could do before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Probe {
    /// `P1`: random gather; `P2`: frontier push; `P3`: compare-and-swap; `P4`: stream triad.
    pub(crate) id: String,
    /// Bytes of its state.
    pub(crate) size: u64,
    /// Nanoseconds for each of its items.
    pub(crate) before: f64,
    pub(crate) after: f64,
}

/// One figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    /// The target that it counts for; none for what is only reported.
    pub(crate) target: Option<String>,
    /// What was divided by what.
    pub(crate) kernel: String,
    pub(crate) dataset: String,
    pub(crate) class: String,
    /// Pairs that count; 0 for what is counted and not timed.
    pub(crate) pairs: usize,
    /// Pairs between whose ends the machine changed.
    pub(crate) discarded: usize,
    pub(crate) q1: f64,
    pub(crate) median: f64,
    pub(crate) q3: f64,
    /// Counts and times beside the ratio; the unit ends the name.
    pub(crate) counters: BTreeMap<String, f64>,
    /// Whether the answers were those of the reference.
    pub(crate) correct: bool,
}

impl Run {
    /// What it measures.
    fn of(&self) -> [&str; 4] {
        [self.target.as_deref().unwrap_or_default(), &self.kernel, &self.dataset, &self.class]
    }
}

impl Record {
    /// Takes over what another one measured and this one did not.
    pub(crate) fn add(&mut self, other: Self) {
        let is_new = |run: &Run| self.runs.iter().all(|own| own.of() != run.of());
        let mut runs: Vec<Run> = other.runs.into_iter().filter(is_new).collect();
        runs.append(&mut self.runs);
        self.runs = runs;
        let sets = other.datasets.into_iter().filter(|set| !self.datasets.contains(set)).collect::<Vec<_>>();
        self.datasets.extend(sets);
        self.probes.splice(..0, other.probes);
        self.verdicts = verdicts(&self.runs);
    }
}

/// How a target stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Verdict {
    pub(crate) target: String,
    pub(crate) must: f64,
    pub(crate) stretch: f64,
    /// The bad-side quartile of the worst of its runs.
    pub(crate) value: Option<f64>,
    pub(crate) state: State,
}

/// In what way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Pass,
    /// Up to a quarter beyond: to be run again on a quiet machine.
    AtRisk,
    Fail,
    NotRun,
}

/// What one process measured: a piece of a file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    pub(crate) datasets: Vec<DataSet>,
    pub(crate) probes: Vec<Probe>,
    pub(crate) runs: Vec<Run>,
    /// The jobs that ended without figures, by their words.
    #[serde(skip)]
    pub(crate) failed: Vec<String>,
}

/// What is asked of the product.
pub(crate) struct Target {
    pub(crate) id: &'static str,
    /// What is measured, and in what it is counted.
    pub(crate) what: &'static str,
    pub(crate) must: f64,
    pub(crate) stretch: f64,
    pub(crate) more_is_better: bool,
}

const fn at_least(id: &'static str, what: &'static str, must: f64, stretch: f64) -> Target {
    Target { id, what, must, stretch, more_is_better: true }
}

const fn at_most(id: &'static str, what: &'static str, must: f64, stretch: f64) -> Target {
    Target { id, what, must, stretch, more_is_better: false }
}

/// All of them. Each stands in the newest file.
pub(crate) const TARGETS: [Target; 20] = [
    at_least("T1", "activation, heavy: useful edges/s over a bare frontier push", 0.35, 0.5),
    at_least("T2 heavy", "activation over a full scan, state in L2: times faster", 1.5, 3.0),
    at_least("T2 medium", "the same, medium", 10.0, 30.0),
    at_least("T2 light", "the same, light", 20.0, 50.0),
    at_most("T3", "light query, time a touched node on 16 times the graph", 1.5, 1.2),
    at_most("T4", "edges read beyond one a row, over useful ones", 1.5, 1.1),
    at_most("T5", "PageRank, time over that of the peer `graph`", 0.9, 0.65),
    at_most("T6", "PageRank, time an edge on 16 times the graph", 1.6, 1.4),
    at_most("T8", "plasticity tick over bare writes", 2.5, 1.5),
    at_most("T8 growth", "plasticity tick, time on 16 times the graph", 1.3, 1.1),
    at_most("T9", "noise cancelling over one activation", 3.5, 2.5),
    at_most("T10", "resonance over a textbook's pulse queue", 0.5, 0.3),
    at_least("T11 build", "building the graph, edges/s over the peer `graph`", 1.5, 2.3),
    at_least("T11 apply", "applying a change of 1 %, slots/s over the same", 1.5, 2.3),
    at_most("T12 resident", "memory, bytes a slot", 24.0, 23.0),
    at_most("T12 peak", "memory while a graph is built or changed, bytes a slot", 52.0, 46.0),
    at_most("T16 time", "trigram look-up, a posting read over a random gather", 4.0, 2.0),
    at_most("T16 share", "trigram look-up, share of the postings read", 0.3, 0.1),
    at_most("T17", "slowest 1 % of queries while something is learned", 2.0, 1.3),
    at_most("T17 torn", "torn weights, answers of no tick and lost updates meanwhile", 0.0, 0.0),
];

/// How all targets stand by these runs.
pub(crate) fn verdicts(runs: &[Run]) -> Vec<Verdict> {
    TARGETS.iter().map(|target| verdict(target, runs)).collect()
}

fn verdict(target: &Target, runs: &[Run]) -> Verdict {
    let own = || runs.iter().filter(|run| run.target.as_deref() == Some(target.id));
    let bad_side = own().map(|run| if target.more_is_better { run.q1 } else { run.q3 });
    let value = bad_side.reduce(if target.more_is_better { f64::min } else { f64::max });
    let within = |slack: f64| {
        value.is_some_and(|value| {
            if target.more_is_better { value * slack >= target.must } else { value <= target.must * slack }
        })
    };
    let state = match value {
        None => State::NotRun,
        Some(_) if own().any(|run| !run.correct) => State::Fail,
        Some(_) if within(1.0) => State::Pass,
        Some(_) if within(1.25) => State::AtRisk,
        Some(_) => State::Fail,
    };
    Verdict { target: target.id.to_owned(), must: target.must, stretch: target.stretch, value, state }
}

/// The machine's part of a file's name.
pub(crate) fn slug(cpu: &str) -> String {
    let model = cpu.split('@').next().unwrap_or_default();
    let words = model.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| {
        // Marks of ownership say nothing.
        !word.is_empty() && !["R", "TM", "CPU"].contains(word)
    });
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

/// Where the files of results are.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/results")
}

/// The files of results with their names, the oldest first.
pub(crate) fn records() -> Vec<(String, Record)> {
    let entries = std::fs::read_dir(folder()).expect("a folder of results");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let is_file = |name: &String| name.ends_with(".json") && name != "schema.json";
    let mut names: Vec<String> = names.filter(is_file).collect();
    names.sort();
    let read = |name: String| {
        let text = std::fs::read_to_string(folder().join(&name)).expect("readable");
        let record = serde_json::from_str(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
        (name, record)
    };
    names.into_iter().map(read).collect()
}
