//! What more workers bring: `cargo bench --bench workers`.
//!
//! A run of a job is held by one worker, so that its `now` and its fence are one; what scales is that the jobs have
//! different holders. For 1, 2, 4 and 8 worker processes the same graph is made anew (50,000 ripe memories, 50,000 due
//! ones), and the time is taken from the start of the first worker until nothing waits. With `--quick` a tenth of it.

#![expect(clippy::print_stdout, reason = "a benchmark talks to a person")]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a second client, apart from the store that is measured"
)]

mod arguments;
mod bed;

use arguments::Arguments;
use bed::{Bed, Program};
use neo4rs::{Graph, query};
use std::time::{Duration, Instant};

/// The jobs that are measured run at once, and the one that would take time from them does not.
const SETTINGS: [(&str, &str); 3] = [
    ("EBB__JOBS__DECAY__EVERY", "1s"),
    ("EBB__JOBS__PROMOTE__EVERY", "1s"),
    ("EBB__JOBS__REINFORCE__ENABLED", "false"),
];

const WIPE: &str = "MATCH (n) WHERE NOT n:EbbMigration AND NOT n:ConsolidationConfig
CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS";

/// Short-term memories whose energy stands at an hour ago, and working ones above the threshold, which the sweep has
/// nothing to do with; each has an instant of its own, as memories have.
const FILL: &str = "UNWIND range(1, $count) AS i
CREATE (:Memory:EbbMemory {
  id: $name + i, scope: 'local', content: 'what ' + $name + i + ' says', tier: $tier, energy: $energy,
  energyAt: datetime() - duration({hours: 1}), lastAccessed: datetime() - duration({hours: 1}),
  created: datetime() - duration({hours: 2}), accessCount: 3,
  dueAt: CASE WHEN $ripe THEN datetime() + duration({hours: 9}) ELSE datetime() - duration({hours: 1, milliseconds: i}) END,
  ripeAt: CASE WHEN $ripe THEN datetime() - duration({hours: 1, milliseconds: i}) END})";

const LEFT: &str = "CALL () { MATCH (m:Memory) WHERE m.ripeAt IS NOT NULL RETURN count(m) AS ripe }
CALL () { MATCH (m:Memory) WHERE m.dueAt <= $began AND m.energyAt < $began RETURN count(m) AS due }
RETURN ripe, due";

#[tokio::main]
async fn main() {
    let count: i64 = if Arguments::of_process().has("--quick") { 5_000 } else { 50_000 };
    let (bed, _) = Bed::open(None).await;
    let graph = bed.client();
    println!("{count} ripe and {count} due memories");
    println!("{:>7}  {:>9}  {:>12}  {:>9}  {:>12}", "workers", "due, s", "due/s", "ripe, s", "ripe/s");
    // The first goes uncounted, with a tenth: it meets a server that has planned nothing yet.
    for (workers, count) in [(1, count / 10), (1, count), (2, count), (4, count), (8, count)] {
        graph.run(query(WIPE)).await.expect("an empty graph");
        for (name, tier, energy, ripe) in [("due-", "shortTerm", 1.0, false), ("ripe-", "working", 4.0, true)]
        {
            let fill = query(FILL).param("count", count).param("name", name).param("tier", tier);
            graph.run(fill.param("energy", energy).param("ripe", ripe)).await.expect("memories");
        }
        let began = Instant::now();
        let programs: Vec<Program> = (0..workers).map(|_| bed.start(&["worker"], &SETTINGS)).collect();
        let (due, ripe) = drained(&graph, began).await;
        let rate = |took: Duration| count as f64 / took.as_secs_f64();
        println!(
            "{workers:>7}  {:>9.1}  {:>12.0}  {:>9.1}  {:>12.0}",
            due.as_secs_f64(),
            rate(due),
            ripe.as_secs_f64(),
            rate(ripe)
        );
        programs.into_iter().for_each(|mut program| assert!(program.stop().success()));
    }
    drop(graph);
    bed.server.release().await.expect("the server stops");
}

/// How long it took until nothing was due, and until nothing was ripe.
async fn drained(graph: &Graph, began: Instant) -> (Duration, Duration) {
    let (mut due, mut ripe) = (None, None);
    let started = chrono::Utc::now().fixed_offset();
    while due.is_none() || ripe.is_none() {
        assert!(began.elapsed() < Duration::from_secs(900), "the workers do not come to an end");
        tokio::time::sleep(Duration::from_millis(200)).await;
        let mut rows = graph.execute(query(LEFT).param("began", started)).await.expect("a look");
        let row = rows.next().await.expect("a look").expect("a row");
        let none = |column| row.get::<i64>(column).expect("a number") == 0;
        if none("due") {
            due.get_or_insert(began.elapsed());
        }
        if none("ripe") {
            ripe.get_or_insert(began.elapsed());
        }
    }
    (due.unwrap_or_default(), ripe.unwrap_or_default())
}
