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

mod bed;
#[path = "soak/picture.rs"]
mod picture;
mod random;
#[path = "soak/samples.rs"]
mod samples;
#[path = "soak/traffic.rs"]
mod traffic;

use bed::{Bed, Setup};
use neo4rs::{Graph, query};
use rustix::process::{Pid, Signal, kill_process};
use samples::{COLUMNS, Sample, Samples};
use secrecy::ExposeSecret;
use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
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
        let words: Vec<String> = std::env::args().collect();
        let value = |name: &str| {
            let at = words.iter().position(|word| word == name)?;
            Some(words.get(at + 1).unwrap_or_else(|| panic!("{name} needs a value")).clone())
        };
        let number = |name: &str, default: u64| {
            value(name).map_or(default, |text| {
                text.parse()
                    .ok()
                    .filter(|n| *n > 0)
                    .unwrap_or_else(|| panic!("{name}: {text} is not a number above 0"))
            })
        };
        let out = || Path::new(env!("CARGO_TARGET_TMPDIR")).join("soak.csv");
        Self {
            seconds: number("--seconds", 10_800),
            rate: number("--rate", 200),
            seed: number("--seed", 1),
            turn: number("--turn", 600),
            every: number("--every", 30),
            out: value("--out").map_or_else(out, PathBuf::from),
            record: words.iter().any(|word| word == "--record"),
            from: value("--from").map(PathBuf::from),
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
    let (Bed { server, folder }, service) = Bed::open_with(None, setup).await;
    drop(service);
    let password = server.endpoint.password.expose_secret().to_owned();
    let graph = Graph::new(&server.endpoint.uri, "neo4j", &password).expect("an address");
    let mut ebb = Ebb::start(&server.endpoint.uri, &password, folder.path());
    let plan = Plan {
        base: ebb.base.clone(),
        rate: options.rate,
        seed: options.seed,
        turn: Duration::from_secs(options.turn),
    };
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
    ebb.stop();
    drop(graph);
    server.release().await.expect("the server stops");
    samples
}

/// The program that is measured.
struct Ebb {
    child: Child,
    base: String,
    log: PathBuf,
    last: Instant,
}

impl Ebb {
    fn start(uri: &str, password: &str, folder: &Path) -> Self {
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        let base = format!("http://127.0.0.1:{port}");
        let log = folder.join("ebb.log");
        let child = Command::new(env!("CARGO_BIN_EXE_ebb"))
            .arg("serve")
            .env("NEO4J_URI", uri)
            .env("NEO4J_USERNAME", "neo4j")
            .env("NEO4J_PASSWORD", password)
            .env("EBB__HTTP__LISTEN", format!("127.0.0.1:{port}"))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log).expect("a log"))
            .spawn()
            .expect("ebb serve");
        let mut ebb = Self { child, base, log, last: Instant::now() };
        while ureq::get(format!("{}/readyz", ebb.base)).call().is_err() {
            ebb.assert_runs();
            std::thread::sleep(Duration::from_millis(100));
        }
        ebb.last = Instant::now();
        ebb
    }

    fn assert_runs(&mut self) {
        if let Some(end) = self.child.try_wait().expect("a status") {
            panic!("ebb serve ended with {end}:\n{}", std::fs::read_to_string(&self.log).unwrap_or_default());
        }
    }

    /// All columns now, in their order.
    async fn sample(&mut self, graph: &Graph, traffic: &Traffic, begun: Instant) -> Sample {
        self.assert_runs();
        let interval = traffic.take_interval();
        let seconds = self.last.elapsed().as_secs_f64();
        self.last = Instant::now();
        let process = format!("/proc/{}", self.child.id());
        let status = std::fs::read_to_string(format!("{process}/status")).unwrap_or_default();
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
            line.split_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok()).unwrap_or(f64::NAN)
        };
        let descriptors =
            std::fs::read_dir(format!("{process}/fd")).map_or(f64::NAN, |all| all.count() as f64);
        let mut values = vec![begun.elapsed().as_secs_f64(), interval.times.len() as f64 / seconds];
        values.extend([500, 990, 1_000].map(|share| interval.quantile_ms(share)));
        values.extend(interval.errors().map(|count| count as f64));
        values.extend([field("VmRSS:") / 1_024.0, descriptors, field("Threads:")]);
        values.extend(counts(graph).await);
        values.push(heap_mib(graph).await);
        assert_eq!(values.len(), COLUMNS.len(), "a value for each column");
        Sample { values }
    }

    fn stop(mut self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            kill_process(pid, Signal::TERM).expect("a signal");
        }
        let end = self.child.wait().expect("an end");
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        println!("ebb serve ended with {end}; its log has {} lines, the first of them:", log.lines().count());
        log.lines().take(10).for_each(|line| println!("  {line}"));
    }
}

/// A run that fails leaves no process behind.
impl Drop for Ebb {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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
