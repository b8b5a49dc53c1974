//! Where the time of a write, of a page of a job, and of an idle run goes: `cargo bench --bench steps`.
//!
//! Each is done many times alone, and the steps of its transactions (`BEGIN`, each statement, `COMMIT`) are added up from
//! what the store logs of them. A step takes round trips: `BEGIN` two (the driver resets a connection before it is used
//! again), a statement two (`RUN`, `PULL`), `COMMIT` one. What one of these takes with nothing to do is measured first, so
//! that the server's own time remains: to find the plan, to execute it, and to commit. What is not in a transaction at all
//! is this process's. With `--quick` a tenth of the repetitions.

#![expect(clippy::print_stdout, reason = "a benchmark talks to a person")]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a second client, apart from the service that is measured"
)]

mod arguments;
mod bed;

use arguments::Arguments;
use bed::Bed;
use ebb_core::domain::annotations::Annotations;
use ebb_core::domain::attempt::Right;
use ebb_core::domain::event::{Access, Observe, PlaceName, Remember, Step, Tie, Trace, Walk};
use ebb_core::domain::fact::{Assertion, FactScope, Tuple, Value};
use ebb_core::domain::ids::{
    EntityName, FactRelation, MemoryId, PlaceId, RelationType, Scope, SessionId, Source,
};
use ebb_core::domain::memory::Revive;
use ebb_core::domain::relation::Observation;
use ebb_core::domain::units::{Confidence, Timestamp};
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::{Wanted, run_job};
use ebb_core::service::Service;
use ebb_core::service::memories::{RequestId, WriteMode};
use neo4rs::{Graph, query};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

const START: i64 = 1_767_225_600_000;
const HOUR: i64 = 3_600_000;

/// Memories that are all due, and as many that are all ripe, as `cargo bench --bench workers` has them.
const FILL: &str = "UNWIND range(1, $count) AS i
CREATE (:Memory:EbbMemory {
  id: $name + i, scope: 'local', content: 'what ' + $name + i + ' says', tier: $tier, energy: $energy,
  energyAt: datetime({epochMillis: $at}), lastAccessed: datetime({epochMillis: $at}),
  created: datetime({epochMillis: $at}), accessCount: 3,
  dueAt: datetime({epochMillis: $due + i}), ripeAt: CASE WHEN $ripe THEN datetime({epochMillis: $at + i}) END})";

const PALACE: &str = "UNWIND range(0, 3) AS i CREATE (:Room {scope: 'local', id: 'r-' + i})
WITH count(*) AS made UNWIND range(0, 2) AS i
MATCH (a:Room {scope: 'local', id: 'r-' + i}), (b:Room {scope: 'local', id: 'r-' + (i + 1)})
CREATE (a)-[:HALL {base_cost: 0.5, current_cost: 0.5}]->(b)";

/// What the steps took, by name: how often, and microseconds.
#[derive(Clone, Default)]
struct Steps(Arc<Mutex<BTreeMap<String, (u64, u64)>>>);

impl Steps {
    fn take(&self) -> BTreeMap<String, (u64, u64)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[derive(Default)]
struct Seen {
    statement: Option<String>,
    elapsed_us: u64,
}

impl Visit for Seen {
    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "statement" {
            self.statement = Some(value.to_owned());
        }
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        if field.name() == "elapsed_us" {
            self.elapsed_us = u64::try_from(value).unwrap_or(u64::MAX);
        }
    }
}

impl<S: Subscriber> Layer<S> for Steps {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut seen = Seen::default();
        event.record(&mut seen);
        let Some(statement) = seen.statement else { return };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, us) = all.entry(statement).or_default();
        *count += 1;
        *us += seen.elapsed_us;
    }
}

/// What a step takes with nothing to do, microseconds.
struct Floor {
    begin: f64,
    statement: f64,
    commit: f64,
}

impl Floor {
    async fn of(graph: &Graph, count: u32) -> Self {
        let (mut begin, mut statement, mut commit) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        // The first half goes uncounted.
        for round in 0..2 * count {
            let begun = Instant::now();
            let mut txn = graph.start_txn().await.expect("a transaction");
            let opened = Instant::now();
            let mut rows = txn.execute("RETURN 1 AS one").await.expect("a statement");
            while rows.next(txn.handle()).await.expect("a row").is_some() {}
            let ran = Instant::now();
            txn.commit().await.expect("a commit");
            if round >= count {
                begin += opened - begun;
                statement += ran - opened;
                commit += ran.elapsed();
            }
        }
        let each = |took: Duration| took.as_secs_f64() * 1e6 / f64::from(count);
        Self { begin: each(begin), statement: each(statement), commit: each(commit) }
    }

    fn at(&self, step: &str) -> (f64, u32) {
        match step {
            "BEGIN" => (self.begin, 2),
            "COMMIT" => (self.commit, 1),
            _ => (self.statement, 2),
        }
    }
}

struct Bench {
    service: Service,
    graph: Graph,
    steps: Steps,
    floor: Floor,
}

#[tokio::main]
async fn main() {
    let quick = Arguments::of_process().has("--quick");
    let count = if quick { 50 } else { 500 };
    let steps = Steps::default();
    let of_store = Targets::new().with_target("ebb_core::store::tx", Level::TRACE);
    tracing_subscriber::registry().with(steps.clone().with_filter(of_store)).init();
    let (bed, service) = Bed::open(None).await;
    let graph = bed.client();
    let floor = Floor::of(&graph, 2_000).await;
    println!(
        "nothing to do: BEGIN {:.0} us (2 round trips), a statement {:.0} us (2), COMMIT {:.0} us (1)",
        floor.begin, floor.statement, floor.commit
    );
    let bench = Bench { service, graph, steps, floor };
    bench.writes(count).await;
    bench.jobs(count).await;
    drop(bench);
    bed.server.release().await.expect("the server stops");
}

impl Bench {
    /// Does it many times, the first half uncounted, and prints its steps. `per` is how many rows each is of.
    async fn measure(&self, name: &str, count: usize, per: usize, each: impl AsyncFn(usize)) {
        for i in 0..count {
            each(i).await;
        }
        self.steps.take();
        let begun = Instant::now();
        for i in count..2 * count {
            each(i).await;
        }
        let whole = begun.elapsed().as_secs_f64() * 1e6 / count as f64;
        let steps = self.steps.take();
        let times = |(_, (times, _)): (&String, &(u64, u64))| *times as f64 / count as f64;
        let trips: f64 = steps.iter().map(|step| times(step) * f64::from(self.floor.at(step.0).1)).sum();
        let begins = steps.get_key_value("BEGIN").map_or(0.0, times);
        let rows = if per > 1 { format!(", {:.0} rows/s", per as f64 * 1e6 / whole) } else { String::new() };
        println!("\n{name}: {:.2} ms{rows}, {begins:.1} transactions, {trips:.1} round trips", whole / 1e3);
        println!("  {:<28} {:>6} {:>9} {:>9} {:>9}", "", "times", "ms", "to ask", "server");
        let mut rest = whole;
        let mut ordered: Vec<_> = steps.iter().collect();
        ordered.sort_by_key(|(_, (_, us))| std::cmp::Reverse(*us));
        for (step, (n, us)) in ordered {
            let (times, us) = (*n as f64 / count as f64, *us as f64 / count as f64);
            rest -= us;
            let idle = (times * self.floor.at(step).0).min(us);
            println!(
                "  {step:<28} {times:>6.1} {:>9.3} {:>9.3} {:>9.3}",
                us / 1e3,
                idle / 1e3,
                (us - idle) / 1e3
            );
        }
        println!("  {:<28} {:>6} {:>9.3}", "this process", "", rest / 1e3);
    }

    async fn writes(&self, count: usize) {
        let service = &self.service;
        let once = || WriteMode::Once(RequestId::or_new("bench", None));
        let scope = Scope::local();
        let now = async || service.instant(None).await.expect("a clock");
        let session = |i: usize| SessionId::new(&format!("s-{}", i / 20)).expect("an id");
        self.measure("one memory, in a session, two mentions", count, 1, async |i| {
            let entity = |n: usize| EntityName::new(&format!("module {}", n % 50)).expect("a name");
            let remember = Remember {
                at: now().await,
                id: MemoryId::new(&format!("m-{i}")).expect("an id"),
                scope: scope.clone(),
                content: format!("note {i}: the retry waits for the server"),
                session: Some(session(i)),
                instance: None,
                mentions: vec![entity(i), entity(i + 7)],
                embedding: None,
                annotations: Annotations::default(),
                pinned: false,
            };
            service.remember(&once(), remember).await.expect("a memory");
        })
        .await;
        self.measure("one access, in a session", count, 1, async |i| {
            let access = Access {
                at: now().await,
                id: MemoryId::new(&format!("m-{}", i % 100)).expect("an id"),
                scope: scope.clone(),
                session: Some(session(i)),
                revive: Revive::No,
            };
            service.access(&once(), access).await.expect("an access");
        })
        .await;
        self.measure("one observation of a relation", count, 1, async |i| {
            let name = |n: usize| EntityName::new(&format!("module {n}")).expect("a name");
            let tie = Tie {
                scope: scope.clone(),
                from: name(i % 10),
                kind: RelationType::new("works with").expect("a type"),
                to: name(10 + i % 10),
            };
            let seen = Observation { at: now().await, weight: None, pinned: None };
            service.observe(&once(), &[Observe { tie, seen }]).await.expect("an observation");
        })
        .await;
        self.graph.run(query(PALACE)).await.expect("a palace");
        let room = service.allowed().label("Room").expect("a documented label").clone();
        self.measure("one deposit on four places", count, 1, async |_| {
            let step = |n: usize| Step {
                to: PlaceName {
                    label: Some(room.clone()),
                    id: PlaceId::new(&format!("r-{n}")).expect("an id"),
                },
                via: None,
            };
            let what = Walk::deposit((0..4).map(step).collect(), 1.0).expect("a path");
            let trace = Trace { at: now().await, scope: scope.clone(), what };
            service.trace(&once(), &[trace]).await.expect("a deposit");
        })
        .await;
        self.measure("one assertion of a fact", count, 1, async |i| {
            let fact = Assertion {
                at: now().await,
                id: ebb_core::clock::new_id(),
                tuple: Tuple {
                    scope: FactScope::Team,
                    entity: EntityName::new(&format!("module {}", i % 50)).expect("a name"),
                    relation: FactRelation::new("depends on").expect("a relation"),
                    value: Value::Text(format!("library {i}")),
                },
                confidence: Confidence::new(0.9).expect("a confidence"),
                source: Source::new("bench").expect("a source"),
                valid_until: None,
            };
            service.assert_facts(&once(), &[fact]).await.expect("a fact");
        })
        .await;
    }

    async fn jobs(&self, count: usize) {
        self.measure("an idle run of promotion", count, 1, async |i| {
            self.run(JobName::Promote, i as i64).await
        })
        .await;
        let rows: usize = 20 * count;
        self.fill("due-", rows, "shortTerm", false).await;
        self.measure(&format!("a run of decay, {rows} due"), 4, rows, async |i| {
            self.run(JobName::Decay, (i as i64 + 2) * HOUR).await;
        })
        .await;
        let ripe = count.min(500);
        self.measure(&format!("a run of promotion, {ripe} ripe, with their making"), 4, ripe, async |i| {
            self.fill(&format!("ripe-{i}-"), ripe, "working", true).await;
            self.run(JobName::Promote, START + HOUR + i as i64).await;
        })
        .await;
    }

    async fn fill(&self, name: &str, count: usize, tier: &str, ripe: bool) {
        let fill = query(FILL).param("count", count as i64).param("name", name).param("tier", tier);
        let fill = fill.param("energy", 4.0).param("ripe", ripe).param("at", START);
        let due = if ripe { START + 9 * HOUR } else { START + HOUR };
        self.graph.run(fill.param("due", due)).await.expect("memories");
    }

    async fn run(&self, job: JobName, after: i64) {
        let at =
            Timestamp::from_millis(if after < START { START + after } else { after }).expect("an instant");
        let request = Request { force: true, ..Request::default() };
        run_job(self.service.store(), job, &Wanted::by_hand(at, Right::Lease), request).await.expect("a run");
    }
}
