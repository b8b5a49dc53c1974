//! How cost grows with the graph: `cargo bench --bench scale -- --nodes 78125,625000,5000000`.
//!
//! For each size, a server of its own gets a generated graph of so many nodes and eight times as many relationships. Measured are:
//! writing it; a mirror of all of it (load, memory, refresh after 1,000 changes, restart from the saved state, recalls); a mirror
//! with a budget of bytes, over the service as the API has it; each job on a backlog of rows that grows with the graph;
//! and what an operator asks: status, a page of a list, `ebb report`, the rows of a backup. Every row is printed and appended to
//! a file as soon as it is measured, so that a run which is broken off loses nothing but the row in progress. At the end there is one
//! table of all sizes in the file.
//!
//! | flag | default | |
//! |---|---|---|
//! | `--nodes` | 10000,20000,40000 | sizes, with commas between |
//! | `--only` | all | the one size to measure; the table has those in the file too |
//! | `--heap`, `--pagecache` | 1024, 512 | memory of the server, MiB |
//! | `--mirror` | 8192 | peak memory of the mirror of all of it, MiB: a larger graph is held in part |
//! | `--budget` | 1024 | peak memory of the mirror with a budget, MiB: by default that of the product |
//! | `--limit` | 120 | time limit of a job, seconds |
//! | `--in` | a temporary folder | where servers and graphs stay; a graph that is there is not written again |
//! | `--out` | `scale.ndjson` in the folder for tests of the build | the file of rows |
//! | `--record` | | copies the file to `tests/bench/results/scale.ndjson` |
//! | `--table` | | prints the table of the file, and measures nothing |
//!
//! The exponent of a row is the slope of log time over log nodes, by least squares: 1 is linear, 0 does not depend on the size.
//! That of a job is of the time of a row, since its rows grow with the graph: they are those that it read, or those that it changed if
//! these are more. A server that has just started is slow at first, so sizes below some ten thousand nodes tell little.

#![expect(clippy::print_stdout, reason = "a benchmark talks to a person")]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a second client, apart from the service that is measured"
)]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "counts and sizes of a bench are small"
)]

mod arguments;
#[path = "scale/backlog.rs"]
mod backlog;
mod bed;
mod line;
mod made;
mod random;
#[path = "scale/rows.rs"]
mod rows;

use arguments::{Arguments, whole};
use backlog::Backlog;
use bed::{Bed, Setup};
use ebb_core::api::recall::RecallRequest;
use ebb_core::domain::attempt::Right;
use ebb_core::domain::ids::Scope;
use ebb_core::domain::units::Timestamp;
use ebb_core::jobs::{JobName, Request};
use ebb_core::mirror::{Mirror, RefreshOutcome};
use ebb_core::scheduler::driver::{Wanted, run_job};
use ebb_core::service::Service;
use ebb_core::store::{Filter, MemoryOrder};
use made::{AT, Sizes, change, config, connect, current, fill, now, questions, questions_of};
use neo4rs::Graph;
use random::{SplitMix64, WORDS};
use rows::{Row, Rows};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

const HOUR: i64 = 3_600_000;
/// Recalls through the service.
const RECALLS: usize = 400;
/// Memories of a page of a list.
const LISTED: usize = 100;

struct Options {
    nodes: Vec<u64>,
    only: Option<u64>,
    heap_mib: u64,
    pagecache_mib: u64,
    mirror_mib: u64,
    budget_mib: u64,
    limit: Duration,
    folder: Option<PathBuf>,
    out: PathBuf,
    record: bool,
    table: bool,
}

impl Options {
    fn of_process() -> Self {
        let arguments = Arguments::of_process();
        let number = |flag: &str, default| arguments.number(flag, default);
        let nodes = arguments.value("--nodes").unwrap_or("10000,20000,40000");
        Self {
            nodes: nodes.split(',').map(|text| whole("--nodes", text)).collect(),
            only: arguments.value("--only").map(|text| whole("--only", text)),
            heap_mib: number("--heap", 1_024),
            pagecache_mib: number("--pagecache", 512),
            mirror_mib: number("--mirror", 8_192),
            budget_mib: number("--budget", 1_024),
            limit: Duration::from_secs(number("--limit", 120)),
            folder: arguments.value("--in").map(PathBuf::from),
            out: arguments
                .value("--out")
                .map_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("scale.ndjson"), PathBuf::from),
            record: arguments.has("--record"),
            table: arguments.has("--table"),
        }
    }
}

#[tokio::main]
async fn main() {
    let options = Options::of_process();
    let mut rows = Rows::open(&options.out);
    println!("rows are appended to {}", options.out.display());
    for nodes in options.nodes.iter().copied().filter(|nodes| options.only.is_none_or(|only| only == *nodes))
    {
        if !options.table {
            Box::pin(measure(&options, nodes, &mut rows)).await;
        }
    }
    print!("\n{}", rows.table());
    if options.record {
        let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/results/scale.ndjson");
        std::fs::copy(&options.out, &recorded).expect("copied");
        println!("\nrecorded in {}", recorded.display());
    }
}

/// Everything at one size.
async fn measure(options: &Options, nodes: u64, rows: &mut Rows) {
    let stays = options.folder.as_ref().map(|folder| folder.join(nodes.to_string()));
    let setup = Setup {
        heap_mib: options.heap_mib,
        pagecache_mib: options.pagecache_mib,
        file: format!(
            "policies = [{{ id = \"scale\", relation = \"scale:*\", scope = \"team\", mode = \"confidence\", half_life_s = 86400 }}]\n\
             [mirror]\nmax_bytes = \"{} MiB\"\n",
            options.budget_mib
        ),
    };
    let (Bed { server, folder }, service) = Bed::open_with(stays.as_deref(), setup).await;
    let size = Size {
        graph: connect(&server.endpoint),
        sizes: Sizes::of(nodes, 8 * nodes),
        service: Arc::new(service),
        nodes,
    };
    size.write(rows).await;
    size.whole_mirror(options, rows).await;
    size.budget(rows).await;
    size.jobs(options, rows).await;
    size.reads(rows).await;
    drop(size);
    server.release().await.expect("the server stops");
    drop(folder);
}

/// One size, and how it is reached.
struct Size {
    graph: Graph,
    sizes: Sizes,
    service: Arc<Service>,
    nodes: u64,
}

impl Size {
    /// Writes the graph, unless an earlier run has.
    async fn write(&self, rows: &mut Rows) {
        let there = backlog::count(&self.graph, "MATCH (m:EbbMemory) RETURN count(m) AS count").await;
        if there > 0 && rows.has(self.nodes, WRITTEN) {
            return println!("{} memories are there already", there);
        }
        assert_eq!(there, 0, "an earlier run was broken off while it wrote: delete the folder");
        // The first run records the threshold of clusters, so that later ones examine what changed and not every pair.
        self.run(JobName::Cluster, AT, Request::default()).await;
        let begun = Instant::now();
        fill(&self.graph, &self.sizes).await;
        let seconds = begun.elapsed().as_secs_f64();
        let count = self.sizes.memories + self.sizes.entities + self.sizes.relationships;
        rows.add(Row::seconds(self.nodes, WRITTEN, seconds).of(count as i64));
    }

    /// A mirror of all of it, as far as the limit allows.
    async fn whole_mirror(&self, options: &Options, rows: &mut Rows) {
        let saves = tempfile::tempdir().expect("a folder");
        let config = |connections| ebb_core::mirror::Config {
            max_bytes: options.mirror_mib << 20,
            ..config(connections, saves.path())
        };
        let mirror = Mirror::new(self.service.share_store(), config(4));
        let begun = Instant::now();
        mirror.refresh(&Scope::local(), now()).await.expect("loaded");
        rows.add(Row::seconds(self.nodes, "mirror: load", begun.elapsed().as_secs_f64()));
        let held = current(&mirror);
        let bytes = held.view.bytes().total() as f64 / held.view.graph().node_count().max(1) as f64;
        rows.add(Row::new(self.nodes, "mirror: memory a node", bytes, "bytes"));
        rows.add(Row::new(self.nodes, "mirror: share of the nodes held", held.held_share(), "share"));
        drop(held);
        let mut random = SplitMix64(11);
        let mut times = Vec::new();
        for round in 1..=3 {
            let at = now().after(1_000.0 * f64::from(round));
            change(&self.service, &self.sizes, 1_000, &mut random, at).await;
            let begun = Instant::now();
            let done = mirror.refresh(&Scope::local(), at).await.expect("refreshed");
            assert_ne!(done, RefreshOutcome::Same);
            times.push(begun.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        rows.add(Row::seconds(self.nodes, "mirror: refresh after 1,000 changes", times[1]));
        let (median, late) = questions(&mirror, 3);
        rows.add(Row::new(self.nodes, "recall: p50", median, "ms"));
        rows.add(Row::new(self.nodes, "recall: p99", late, "ms"));
        let begun = Instant::now();
        mirror.save_states().await;
        rows.add(Row::seconds(self.nodes, "mirror: save", begun.elapsed().as_secs_f64()));
        mirror.stop();
        drop(mirror);
        let again = Mirror::new(self.service.share_store(), config(4));
        again.keep();
        let begun = Instant::now();
        again.ready(&Scope::local(), now().after(60_000.0)).await.expect("answered");
        questions_of(&again, 3, 1);
        rows.add(Row::seconds(
            self.nodes,
            "mirror: restart to the first answer",
            begun.elapsed().as_secs_f64(),
        ));
        again.stop();
    }

    /// Recalls of the service, whose mirror has a budget of bytes: what does not fit is left out by energy. Texts of hits are read
    /// from the server.
    async fn budget(&self, rows: &mut Rows) {
        let begun = Instant::now();
        self.service.view(&Scope::local()).await.expect("loaded");
        rows.add(Row::seconds(self.nodes, "budget: load", begun.elapsed().as_secs_f64()));
        let (mut random, mut times, mut share) = (SplitMix64(3), Vec::new(), 1.0);
        for _ in 0..RECALLS {
            let [a, b] = [random.below(16), random.below(16)].map(|n| WORDS[n as usize]);
            let request = RecallRequest {
                text: format!("{a} {} {b}", random.below(1_000)),
                ..RecallRequest::default()
            };
            let begun = Instant::now();
            let answer = self.service.recall(&Scope::local(), request).await.expect("an answer");
            times.push(begun.elapsed().as_secs_f64() * 1e3);
            share = answer.freshness.held_share;
        }
        times.sort_by(f64::total_cmp);
        rows.add(Row::new(self.nodes, "budget: share of the nodes held", share, "share"));
        rows.add(Row::new(self.nodes, "budget: recall p50", times[times.len() / 2], "ms"));
        rows.add(Row::new(self.nodes, "budget: recall p99", times[times.len() * 99 / 100], "ms"));
        self.service.stop_loads();
    }

    /// Each job on its backlog, with a limit of time.
    async fn jobs(&self, options: &Options, rows: &mut Rows) {
        let begun = Instant::now();
        let backlog = Backlog { graph: &self.graph, sizes: &self.sizes };
        let is_there = backlog.is_there().await;
        if !is_there {
            backlog.write().await;
            println!("backlog of the jobs written in {:.1} s", begun.elapsed().as_secs_f64());
        }
        let jobs = [
            (JobName::Decay, HOUR),
            (JobName::Coactivate, HOUR),
            (JobName::Cluster, HOUR),
            (JobName::Reinforce, HOUR),
            (JobName::Promote, HOUR),
            (JobName::Evaporate, backlog::CYCLES * HOUR),
            (JobName::Fade, 7 * 24 * HOUR),
            (JobName::Sweep, 10 * 24 * HOUR),
            (JobName::Audit, 11 * 24 * HOUR),
        ];
        for (job, later) in jobs {
            if is_there && rows.has(self.nodes, job.name()) {
                println!("{job} was measured by an earlier run, which left nothing of its backlog");
                continue;
            }
            let request = Request { force: true, time_limit: Some(options.limit), ..Request::default() };
            let begun = Instant::now();
            let (done, truncated) = self.run(job, AT + later, request).await;
            let seconds = begun.elapsed().as_secs_f64();
            let mut row = Row::new(self.nodes, job.name(), done as f64 / seconds, "rows/s").of(done);
            (row.seconds, row.truncated) = (Some(seconds), truncated);
            rows.add(row);
        }
    }

    /// What an operator asks.
    async fn reads(&self, rows: &mut Rows) {
        let mut took = |name: &str, begun: Instant| {
            rows.add(Row::seconds(self.nodes, name, begun.elapsed().as_secs_f64()))
        };
        let begun = Instant::now();
        self.service.status(at(AT)).await.expect("a status");
        took("status", begun);
        let middle = format!("memory-{:012}", self.sizes.memories / 2);
        let (scope, filter, begun) = (Scope::local(), Filter::default(), Instant::now());
        let listed = self.service.list(&scope, (&filter, MemoryOrder::Id), (&middle, LISTED), at(AT));
        assert_eq!(listed.await.expect("a list").0.len(), LISTED);
        took("memory list: 100 from the middle", begun);
        let begun = Instant::now();
        self.service.graph_report(at(AT)).await.expect("a report");
        took("report", begun);
        let begun = Instant::now();
        let (sender, mut receiver) = tokio::sync::mpsc::channel(1_000);
        let counted = async {
            let mut count: i64 = 0;
            while receiver.recv().await.is_some() {
                count += 1;
            }
            count
        };
        let read = async {
            let read = self.service.store().read_backup(&sender).await;
            drop(sender);
            read
        };
        let (read, count) = tokio::join!(read, counted);
        read.expect("a backup");
        let seconds = begun.elapsed().as_secs_f64();
        let row = Row::new(self.nodes, "backup: read", count as f64 / seconds, "rows/s").of(count);
        rows.add(Row { seconds: Some(seconds), ..row });
    }

    /// Runs a job; returns its rows, and whether the limit ended it.
    async fn run(&self, job: JobName, now: i64, request: Request) -> (i64, bool) {
        let wanted = Wanted::by_hand(at(now), Right::Lease);
        let report = run_job(self.service.store(), job, &wanted, request).await.expect("a run");
        (report.tally.scanned.max(report.tally.changed), report.truncated)
    }
}

/// The row of the graph.
const WRITTEN: &str = "graph written";

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms).expect("within the calendar")
}
