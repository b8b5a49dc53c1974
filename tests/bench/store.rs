//! What the store costs on a real server: `cargo bench --bench store`.
//!
//! Starts a managed Neo4j of its own (1 GiB of heap), fills it with generated memories (SplitMix64, fixed seeds), and
//! measures what a user waits for. Times are reported with the machine they were taken on; what is judged are counters
//! (writes = due items) and ratios taken in one run. With `--quick` everything is a tenth of its size.

#![expect(clippy::print_stdout, reason = "a benchmark talks to a person")]

mod arguments;
mod bed;
mod random;

use arguments::Arguments;
use bed::Bed;
use ebb_core::domain::annotations::Annotations;
use ebb_core::domain::attempt::Right;
use ebb_core::domain::event::{Event, Remember};
use ebb_core::domain::ids::{EntityName, MemoryId, Scope};
use ebb_core::domain::units::Timestamp;
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::{JobReport, Wanted, run_job};
use ebb_core::service::Service;
use ebb_core::service::events::BadLines;
use ebb_core::store::{Batch, BatchOutcome, Store};
use random::SplitMix64;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

const START: i64 = 1_767_225_600_000;
const HOUR: i64 = 3_600_000;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms).expect("within the calendar")
}

struct Bench {
    service: Service,
    quick: bool,
    misses: u32,
}

impl Bench {
    fn store(&self) -> &Store {
        self.service.store()
    }

    fn size(&self, full: usize) -> usize {
        if self.quick { full / 10 } else { full }
    }

    fn report(&mut self, what: &str, value: f64, unit: &str, aim: &str, met: bool) {
        let verdict = if met { "met" } else { "MISSED" };
        self.misses += u32::from(!met);
        println!("{what:<58} {value:>12.1} {unit:<8} aim {aim:<22} {verdict}");
    }
}

#[tokio::main]
async fn main() {
    let quick = Arguments::of_process().has("--quick");
    let (Bed { server, folder }, service) = Bed::open(None).await;
    let mut bench = Bench { service, quick, misses: 0 };
    decay(&mut bench).await;
    import(&mut bench, folder.path()).await;
    idle(&mut bench).await;
    println!(
        "peak memory of this process {} MiB (aim 200 MiB for ebb)",
        bed::status_of("self", "VmHWM").unwrap_or_default() / 1_024
    );
    println!("{} of the aims were missed", bench.misses);
    drop(bench);
    server.release().await.expect("the server stops");
}

/// Events as an agent makes them: half new memories with a session and two mentions, half accesses.
async fn import(bench: &mut Bench, folder: &Path) {
    for (round, count) in [("warm-up", bench.size(40_000)), ("import", bench.size(100_000))] {
        let path = folder.join(format!("{round}.ndjson"));
        let mut file = std::io::BufWriter::new(std::fs::File::create(&path).expect("a file"));
        let mut random = SplitMix64(count as u64);
        let mut made = 0_u64;
        for i in 0..count as i64 {
            let when = ebb_core::clock::rfc3339(at(START + i * 250));
            let session = i / 40;
            if made == 0 || random.below(2) == 0 {
                made += 1;
                let (a, b) = (random.below(2_000), random.below(2_000));
                writeln!(
                    file,
                    r#"{{"at":"{when}","kind":"memory","id":"{round}-{made}","session":"{round}-{session}","content":"note {made}: the retry in module {a} waits for {b}","mentions":["module {a}","module {b}"]}}"#
                )
            } else {
                let id = random.below(made.min(500)) + made.saturating_sub(500) + 1;
                writeln!(
                    file,
                    r#"{{"at":"{when}","kind":"access","id":"{round}-{id}","session":"{round}-{session}"}}"#
                )
            }
            .expect("a line");
        }
        file.flush().expect("a file");
        let done = bench.service.import(&path, BadLines::Stop, &mut |_| {}).await.expect("an import");
        if round == "import" {
            let rate = done.events as f64 / done.seconds;
            bench.report(
                "import, half memories, half accesses",
                rate,
                "events/s",
                "15000 (least 5000)",
                rate >= 15_000.0,
            );
        }
    }
}

async fn run(bench: &Bench, job: JobName, now: i64) -> (JobReport, f64) {
    let begun = Instant::now();
    let wanted = Wanted::by_hand(at(now), Right::Lease);
    let report = run_job(bench.store(), job, &wanted, Request::default()).await.expect("a run");
    (report, begun.elapsed().as_secs_f64())
}

/// A ledgered run with nothing to do.
async fn idle(bench: &mut Bench) {
    // A server that has just started interprets what it will soon have compiled: the first hundreds are not the rule.
    for _ in 0..bench.size(500) {
        run(bench, JobName::Promote, START - HOUR).await;
    }
    let mut times = Vec::new();
    for _ in 0..60 {
        let (report, seconds) = run(bench, JobName::Promote, START - HOUR).await;
        assert_eq!(report.tally.changed, 0);
        times.push(seconds * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    bench.report(
        "idle run of promote, ledger included (median of 60)",
        times[30],
        "ms",
        "5",
        times[30] <= 5.0,
    );
}

/// Memories that are due at once, beside those that rest.
async fn fill(bench: &Bench, from: usize, to: usize, born: i64) {
    let tunables = bench.store().tunables().await.expect("tunables");
    for page in (from..to).collect::<Vec<_>>().chunks(2_000) {
        let events: Vec<Event> = page
            .iter()
            .map(|i| {
                Event::Remember(Remember {
                    at: at(born + *i as i64),
                    id: MemoryId::new(&format!("d-{i:07}")).expect("an id"),
                    scope: Scope::local(),
                    content: format!("memory number {i}"),
                    session: None,
                    instance: None,
                    mentions: Vec::<EntityName>::new(),
                    embedding: None,
                    annotations: Annotations::default(),
                    pinned: false,
                })
            })
            .collect();
        let batch = Batch { events: &events, tunables: &tunables };
        let request = ebb_core::clock::new_id();
        match bench
            .store()
            .apply_request(
                ebb_core::store::RequestMode::Once { request: &request, hash: "bench", by: "test" },
                None,
                batch,
                |_| Vec::new(),
            )
            .await
            .expect("a batch")
            .0
        {
            BatchOutcome::Written(_) => {}
            BatchOutcome::Rejected(faults) => panic!("{faults:?}"),
        }
    }
}

async fn decay(bench: &mut Bench) {
    let many = bench.size(100_000);
    let more = bench.size(1_000_000);
    let base = START;
    fill(bench, 0, many, base).await;
    run(bench, JobName::Decay, base + HOUR).await;
    let mut rates = Vec::new();
    for round in 2..5 {
        let (report, seconds) = run(bench, JobName::Decay, base + round * HOUR).await;
        assert!(report.tally.changed >= many as i64, "every due memory is written: {report:?}");
        rates.push(report.tally.changed as f64 / seconds);
    }
    rates.sort_by(f64::total_cmp);
    let what = format!("decay of {many} due memories (median of 3)");
    bench.report(&what, rates[1], "rows/s", "65000 (least 40000)", rates[1] >= 65_000.0);
    // Everything expires, and nothing is due any more; then a thousand are.
    run(bench, JobName::Decay, base + 6 * HOUR).await;
    let small = thousand(bench, more * 2, base + 7 * HOUR).await;
    fill(bench, many, more, base + 40 * HOUR).await;
    run(bench, JobName::Decay, base + 60 * HOUR).await;
    let large = thousand(bench, more * 3, base + 70 * HOUR).await;
    let what = format!("1,000 due of {more}, time over 1,000 due of {many}");
    bench.report(&what, large / small, "x", "1.3", large / small <= 1.3);
}

/// The median time of a sweep in which exactly a thousand memories are due.
async fn thousand(bench: &Bench, first: usize, born: i64) -> f64 {
    let mut times = Vec::new();
    fill(bench, first, first + 1_000, born).await;
    for round in 1..8 {
        let (report, seconds) = run(bench, JobName::Decay, born + first as i64 + round * 1_000_000).await;
        if round < 7 {
            assert_eq!(report.tally.changed, 1_000, "writes are due items: {report:?}");
        }
        times.push(seconds);
    }
    let (_, _) = run(bench, JobName::Decay, born + first as i64 + 9 * HOUR).await;
    times.truncate(6);
    times.sort_by(f64::total_cmp);
    times[2]
}
