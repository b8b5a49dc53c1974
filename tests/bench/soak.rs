//! A soak: `cargo bench --bench soak -- --seconds 10800 --rate 200 --record`.
//!
//! `ebb serve` with all its roles stands over a server of its own, with schedules ten times as frequent as by default, and gets
//! mixed requests over HTTP at a fixed rate (`soak/traffic.rs`). The rate does not wait for answers: the latency of a request
//! counts from the instant at which it was due. Every 30 s memory, descriptors and threads of the process, latencies, errors,
//! and rows of the graph are sampled, printed and appended to a CSV file. At the end the slope of each curve over the
//! second half is judged: flat, or not.
//!
//! The graph stays bounded by the product's own means (docs/reference/growth.md). Requests and changes are removed an hour after the
//! write, so a run shows whether they are only if it is longer than two hours. Memories, relations, trails and facts have no
//! retention: the traffic moves to another scope every `--turn` seconds, and the scope before the former one is deleted.
//! Runs of jobs are kept for 30 days, so their number grows for as long as this runs.
//!
//! | flag | default | |
//! |---|---|---|
//! | `--seconds` | 10800 | how long |
//! | `--rate` | 200 | requests a second |
//! | `--seed` | 1 | which requests |
//! | `--turn` | 600 | seconds from one scope to the next |
//! | `--every` | 30 | seconds from one sample to the next |
//! | `--out` | `soak.csv` in the folder for tests of the build | the file of samples |
//! | `--record` | | copies the samples to `tests/bench/results/soak.csv`, and writes `docs/images/soak.svg` |
//! | `--from` | | measures nothing: judges the samples of a CSV file, and records them with `--record` |

#![expect(clippy::print_stdout, reason = "a benchmark talks to a person")]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a second client, apart from the program that is measured"
)]
#![expect(clippy::cast_precision_loss, reason = "counts of a bench are small")]

mod arguments;
mod bed;
mod line;
#[path = "soak/picture.rs"]
mod picture;
mod random;
#[path = "soak/samples.rs"]
mod samples;
#[path = "soak/traffic.rs"]
mod traffic;

use arguments::Arguments;
use bed::{Bed, Program, Setup};
use neo4rs::{Graph, query};
use samples::{COLUMNS, Sample, Samples};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use traffic::{Plan, Traffic};

/// Schedules at a tenth of their default intervals, cycles of pheromones at a tenth of theirs, the shortest retention of the
/// journal, a policy for facts, and mirrors of the scopes in use, which are saved.
const SETTINGS: &str = r#"
policies = [{ id = "soak", relation = "*", scope = "*", mode = "confidence", half_life_s = 600, min_confidence = 0.1 }]
[pheromones]
cycle = "6m"
[jobs.audit]
every = "144m"
[jobs.decay]
every = "6m"
[jobs.coactivate]
every = "6m"
[jobs.cluster]
every = "6m"
[jobs.reinforce]
every = "1m"
[jobs.promote]
every = "1m"
[jobs.evaporate]
every = "6m"
[jobs.fade]
every = "1008m"
[jobs.sweep]
every = "144m"
[jobs.learn]
every = "6s"
[retention]
journal = "1h"
[mirror]
scopes = ["team", "company", "public"]
folder = "mirror"
persist_every = 5000
"#;

/// Rows of the graph, from the counts that the server keeps.
const COUNTS: &str = "CALL () { MATCH (n:EbbRequest) RETURN count(n) AS requests }
CALL () { MATCH (n:EbbChange) RETURN count(n) AS changes }
CALL () { MATCH (n:EbbRun) RETURN count(n) AS runs }
CALL () { MATCH (n:ConsolidationAttempt) RETURN count(n) AS attempts }
CALL () { MATCH (n:EbbJournal) RETURN count(n) AS journal }
CALL () { MATCH (n:EbbTombstone) RETURN count(n) AS tombstones }
CALL () { MATCH (n:EbbMemory) RETURN count(n) AS memories }
CALL () { MATCH (n:Fact) RETURN count(n) AS facts }
CALL () { MATCH (n) RETURN count(n) AS nodes }
CALL () { MATCH ()-[r]->() RETURN count(r) AS relationships }
RETURN [requests, changes, runs, attempts, journal, tombstones, memories, facts, nodes, relationships] AS counts";
/// Bytes of the heap that the server uses.
const HEAP: &str = "CALL dbms.queryJmx('java.lang:type=Memory') YIELD attributes
RETURN toInteger(attributes.HeapMemoryUsage.value.properties.used) AS bytes";

struct Options {
    seconds: u64,
    rate: u64,
    seed: u64,
    turn: u64,
    every: u64,
    out: PathBuf,
    record: bool,
    from: Option<PathBuf>,
}

impl Options {
    fn of_process() -> Self {
        let arguments = Arguments::of_process();
        let number = |flag: &str, default: u64| {
            let number = arguments.number(flag, default);
            assert!(number > 0, "{flag}: 0 is too small");
            number
        };
        let out = || Path::new(env!("CARGO_TARGET_TMPDIR")).join("soak.csv");
        Self {
            seconds: number("--seconds", 10_800),
            rate: number("--rate", 200),
            seed: number("--seed", 1),
            turn: number("--turn", 600),
            every: number("--every", 30),
            out: arguments.value("--out").map_or_else(out, PathBuf::from),
            record: arguments.has("--record"),
            from: arguments.value("--from").map(PathBuf::from),
        }
    }
}

#[tokio::main]
async fn main() {
    let options = Options::of_process();
    let samples = match &options.from {
        Some(path) => Samples::read(path, options.turn),
        None => Box::pin(soak(&options)).await,
    };
    println!("\n{}", samples.report());
    if options.record {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (table, drawn) = (root.join("tests/bench/results/soak.csv"), root.join("docs/images/soak.svg"));
        std::fs::write(&table, samples.to_csv()).expect("written");
        std::fs::write(&drawn, picture::draw(&samples)).expect("written");
        println!("recorded in {} and {}", table.display(), drawn.display());
    }
}

/// Runs it, and returns the samples.
async fn soak(options: &Options) -> Samples {
    let setup = Setup { file: SETTINGS.to_owned(), ..Setup::default() };
    let (bed, service) = Bed::open_with(None, setup).await;
    drop(service);
    let graph = bed.client();
    let (program, base) = bed.serve(&[], &[]);
    let mut ebb = Ebb { program, last: Instant::now() };
    let plan = Plan { base, rate: options.rate, seed: options.seed, turn: Duration::from_secs(options.turn) };
    let traffic = Arc::new(Traffic::new(plan));
    traffic.prepare();
    println!("samples are appended to {}\n{}", options.out.display(), samples::head());
    let mut samples = Samples::create(&options.out, options.turn);
    let begun = Instant::now();
    let threads = traffic.start(begun, Duration::from_secs(options.seconds));
    for round in 1..=options.seconds / options.every {
        let due = begun + Duration::from_secs(round * options.every);
        tokio::time::sleep(due.saturating_duration_since(Instant::now())).await;
        let sample = ebb.sample(&graph, &traffic, begun).await;
        println!("{}", samples::line(&sample));
        samples.add(sample);
    }
    for thread in threads {
        thread.join().expect("a client");
    }
    println!("\n{}", traffic.report());
    let (end, log) = (ebb.program.stop(), ebb.program.log());
    println!("ebb serve ended with {end}; its log has {} lines, the first of them:", log.lines().count());
    log.lines().take(10).for_each(|line| println!("  {line}"));
    drop(graph);
    bed.server.release().await.expect("the server stops");
    samples
}

/// The program that is measured, and the instant of its last sample.
struct Ebb {
    program: Program,
    last: Instant,
}

impl Ebb {
    /// All columns now, in their order.
    async fn sample(&mut self, graph: &Graph, traffic: &Traffic, begun: Instant) -> Sample {
        self.program.assert_runs();
        let interval = traffic.take_interval();
        let seconds = self.last.elapsed().as_secs_f64();
        self.last = Instant::now();
        let [resident, threads] = ["VmRSS", "Threads"].map(|field| self.program.status(field));
        let resident_mib = number(resident) / 1_024.0;
        let mut values = vec![begun.elapsed().as_secs_f64(), interval.times.len() as f64 / seconds];
        values.extend([500, 990, 1_000].map(|share| interval.quantile_ms(share)));
        values.extend(interval.errors().map(|count| count as f64));
        values.extend([resident_mib, number(self.program.descriptors()), number(threads)]);
        values.extend(counts(graph).await);
        values.push(heap_mib(graph).await);
        assert_eq!(values.len(), COLUMNS.len(), "a value for each column");
        Sample { values }
    }
}

/// A count as a value of a sample; not a number where there is none.
fn number(count: Option<u64>) -> f64 {
    count.map_or(f64::NAN, |count| count as f64)
}

async fn counts(graph: &Graph) -> Vec<f64> {
    let mut rows = graph.execute(query(COUNTS)).await.expect("counted");
    let row = rows.next().await.expect("counted").expect("a row");
    row.get::<Vec<i64>>("counts").expect("numbers").into_iter().map(|count| count as f64).collect()
}

/// The used heap of the server; not a number where it does not tell.
async fn heap_mib(graph: &Graph) -> f64 {
    let Ok(mut rows) = graph.execute(query(HEAP)).await else { return f64::NAN };
    let Ok(Some(row)) = rows.next().await else { return f64::NAN };
    row.get::<i64>("bytes").map_or(f64::NAN, |bytes| bytes as f64 / f64::from(1 << 20))
}
