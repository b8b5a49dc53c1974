//! What safety costs a writer: `cargo bench --bench writes`.
//!
//! Observations of relations, deposits on trails and assertions of facts, one at a time and 1,000 and 10,000 at once, through
//! the service, which locks what it changes, counts a request once, and answers what each item did; beside it what a
//! developer writes by hand over neo4rs, one statement an item or one `UNWIND` a batch, which does none of that. Both leave
//! the same graph, which is looked at after each round. Judged are ratios of one run: the median of three rounds in turn.
//! The statements by hand name the index that they go by, and compare neighbours by what no index serves, as ours do where it
//! matters: a plan that was made for the empty database of before would scan.
//! After that every edge of a palace evaporates (`--edges N`, a million unless said). With `--quick` a tenth of it all.

#![expect(clippy::print_stdout, reason = "a benchmark talks to a person")]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a second client, apart from the service that is measured"
)]

mod arguments;
mod bed;
mod random;

use arguments::Arguments;
use bed::Bed;
use ebb_core::domain::attempt::Right;
use ebb_core::domain::event::{Observe, PlaceName, Step, Tie, Trace, Walk};
use ebb_core::domain::fact::{Assertion, FactScope, Tuple, Value};
use ebb_core::domain::ids::{EntityName, FactRelation, PlaceId, RelationType, Scope, Source};
use ebb_core::domain::relation::Observation;
use ebb_core::domain::units::{Confidence, Timestamp};
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::{Wanted, run_job};
use ebb_core::service::Service;
use ebb_core::service::memories::{RequestId, WriteMode};
use neo4rs::{BoltMap, BoltType, Graph, query};
use random::SplitMix64;
use std::time::{Duration, Instant};

const START: i64 = 1_767_225_600_000;
const CYCLE: i64 = 3_600_000;

const WIPE: &str = "MATCH (n) WHERE NOT n:EbbMigration AND NOT n:ConsolidationConfig AND NOT n:EbbCounter
CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS";

/// A thousand rooms, from each of which one comes to the next and to the seventh after it.
const PALACE: &str = "UNWIND range(0, 999) AS i CREATE (:Room {scope: 'local', id: 'r-' + i})
WITH count(*) AS made UNWIND range(0, 999) AS i UNWIND [1, 7] AS step
MATCH (a:Room {scope: 'local', id: 'r-' + i}), (b:Room {scope: 'local', id: 'r-' + (i + step) % 1000})
CREATE (a)-[:HALL {base_cost: 0.5, current_cost: 0.5}]->(b)";

const OBSERVE: &str = "MERGE (a:Entity:EbbEntity {scope: 'local', name: row.from})
MERGE (b:Entity:EbbEntity {scope: 'local', name: row.to})
MERGE (a)-[r:RELATES_TO {ebbKey: row.key}]->(b)
ON CREATE SET r.type = row.type, r.pinned = false, r.created = datetime({epochMillis: row.at})
SET r.weight = 1.0, r.baseWeight = 1.0, r.weightAt = datetime({epochMillis: row.at}),
  r.lastObserved = datetime({epochMillis: row.at})";
const OBSERVED: &str = "CALL () { MATCH ()-[r:RELATES_TO]->() RETURN count(r) AS n, sum(r.baseWeight + r.lastObserved.epochMillis / 1e6) AS a }
RETURN n, a, COUNT { (:Entity) } * 1.0 AS b";

const DEPOSIT: &str = "UNWIND range(0, size(row.path) - 1) AS i
MATCH (n:Room {scope: 'local', id: row.path[i]})
USING INDEX SEEK n:Room(scope, id)
SET n.exploitation_pheromone = coalesce(n.exploitation_pheromone, 0.0) + 0.2, n.pheromone_cycle = row.cycle
WITH row, i, n WHERE i > 0
MATCH (m)-[r:HALL]->(n) WHERE coalesce(m.id, '') = row.path[i - 1]
SET r.success_pheromone = coalesce(r.success_pheromone, 0.0) + row.reward * (1.0 - (i - 1) / (size(row.path) - 1.0)),
  r.traversal_pheromone = coalesce(r.traversal_pheromone, 0.0) + 0.1,
  r.recency_pheromone = 1.0, r.pheromone_cycle = row.cycle
WITH r, CASE WHEN r.success_pheromone < 1.0 THEN r.success_pheromone ELSE 1.0 END AS success,
  CASE WHEN r.traversal_pheromone < 1.0 THEN r.traversal_pheromone ELSE 1.0 END AS traversal
SET r.current_cost = r.base_cost * (1.0 - 0.5 * (0.5 * success + 0.3 + 0.2 * traversal))";
const DEPOSITED: &str = "CALL () { MATCH ()-[r:HALL]->() RETURN count(r.pheromone_cycle) AS n, sum(r.success_pheromone + r.traversal_pheromone + r.current_cost) AS a }
CALL () { MATCH (n:Room) RETURN sum(n.exploitation_pheromone) AS b }
RETURN n, a, b";

const ASSERT: &str = "MERGE (e:Entity:EbbEntity {scope: 'team', name: row.entity})
MERGE (l:EbbLineage {key: row.key})
ON CREATE SET l.scope = 'team', l.relation = row.relation
CREATE (f:Fact:EbbFact {id: row.id, entity: row.entity, relation: row.relation, scope: 'team', value: row.value,
  valueType: 'string', confidence: row.confidence, source: row.source, assertedAt: datetime({epochMillis: row.at})})
CREATE (f)-[:ABOUT]->(e)
WITH l, f
OPTIONAL MATCH (l)-[h:HEAD]->()
DELETE h
CREATE (l)-[:HEAD]->(f)";
const ASSERTED: &str = "CALL () { MATCH (:EbbLineage)-[:HEAD]->(f:Fact) RETURN count(f) AS n, sum(f.assertedAt.epochMillis / 1e6) AS a }
RETURN n, a, COUNT { (:Fact)-[:ABOUT]->(:Entity) } * 1.0 AS b";

/// Rooms, and then ten halls from each; on all of them somebody found something in a cycle.
const TRODDEN: &str = "UNWIND range($from, $to - 1) AS i
CREATE (:Room {scope: 'local', id: 'r-' + i, exploitation_pheromone: 0.4, pheromone_cycle: $cycle})";
const HALLS: &str = "UNWIND range($from, $to - 1) AS i
MATCH (a:Room {scope: 'local', id: 'r-' + i})
USING INDEX SEEK a:Room(scope, id)
UNWIND range(1, 10) AS step
MATCH (b:Room {scope: 'local', id: 'r-' + (i + step) % $rooms})
USING INDEX SEEK b:Room(scope, id)
CREATE (a)-[:HALL {success_pheromone: step * 1.0, traversal_pheromone: 0.5, recency_pheromone: 1.0,
  base_cost: 0.5, current_cost: 0.25, pheromone_cycle: $cycle}]->(b)";

/// One kind of write: what it is called, what a round begins with, the statement by hand, and what is looked at afterwards.
struct Kind {
    name: &'static str,
    before: Option<&'static str>,
    by_hand: &'static str,
    after: &'static str,
}

struct Bench {
    service: Service,
    graph: Graph,
}

#[tokio::main]
async fn main() {
    let arguments = Arguments::of_process();
    let quick = arguments.has("--quick");
    let edges = arguments.number("--edges", if quick { 100_000 } else { 1_000_000 });
    let edges = i64::try_from(edges).expect("a number of edges");
    let (bed, service) = Bed::open(None).await;
    let graph = bed.client();
    let bench = Bench { service, graph };
    println!("{:<22} {:>7}  {:>9}  {:>9}  ratio (least, most)", "", "at once", "ebb, 1/s", "hand, 1/s");
    for at_once in [1, 1_000, 10_000] {
        // Two batches of the largest; at least as many that a round takes seconds.
        let count = if quick { at_once * 2 } else { (at_once * 2).max(20_000) }.max(200);
        let count = if at_once == 1 { if quick { 200 } else { 2_000 } } else { count };
        let (seen, rows) = observations(count);
        let kind = Kind { name: "observe a relation", before: None, by_hand: OBSERVE, after: OBSERVED };
        bench
            .compare(&kind, at_once, &seen, &rows, async |intent, seen| {
                bench.service.observe(&intent, seen).await.expect("observations").len()
            })
            .await;
        let (traces, rows) = deposits(&bench.service, count);
        let kind =
            Kind { name: "deposit on 4 places", before: Some(PALACE), by_hand: DEPOSIT, after: DEPOSITED };
        bench
            .compare(&kind, at_once, &traces, &rows, async |intent, traces| {
                bench.service.trace(&intent, traces).await.expect("deposits").len()
            })
            .await;
        let (facts, rows) = assertions(count);
        let kind = Kind { name: "assert a fact", before: None, by_hand: ASSERT, after: ASSERTED };
        bench
            .compare(&kind, at_once, &facts, &rows, async |intent, facts| {
                bench.service.assert_facts(&intent, facts).await.expect("facts").len()
            })
            .await;
    }
    bench.evaporate(edges).await;
    drop(bench);
    bed.server.release().await.expect("the server stops");
}

impl Bench {
    /// Times both ways in turn, after a round of each that does not count, and sees that they leave the same.
    async fn compare<T>(
        &self,
        kind: &Kind,
        at_once: usize,
        items: &[T],
        rows: &[BoltType],
        ebb: impl AsyncFn(WriteMode, &[T]) -> usize,
    ) {
        let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..4 {
            self.begin(kind).await;
            let begun = Instant::now();
            for page in items.chunks(at_once) {
                assert_eq!(ebb(WriteMode::Once(RequestId::or_new("test", None)), page).await, page.len());
            }
            let ebb = items.len() as f64 / begun.elapsed().as_secs_f64();
            let left = self.left(kind).await;
            self.begin(kind).await;
            let begun = Instant::now();
            self.by_hand(kind, at_once, rows).await;
            let hand = items.len() as f64 / begun.elapsed().as_secs_f64();
            let same = self.left(kind).await.iter().zip(left).all(|(a, b)| (a - b).abs() <= 1e-9 * b.abs());
            assert!(same, "{}: both ways leave the same", kind.name);
            if round > 0 {
                ours.push(ebb);
                theirs.push(hand);
                ratios.push(ebb / hand);
            }
        }
        [&mut ours, &mut theirs, &mut ratios].into_iter().for_each(|all| all.sort_by(f64::total_cmp));
        println!(
            "{:<22} {at_once:>7}  {:>9.0}  {:>9.0}  {:.2} ({:.2}, {:.2})",
            kind.name, ours[1], theirs[1], ratios[1], ratios[0], ratios[2]
        );
    }

    async fn begin(&self, kind: &Kind) {
        self.graph.run(query(WIPE)).await.expect("an empty graph");
        if let Some(before) = kind.before {
            self.graph.run(query(before)).await.expect("what a round begins with");
        }
    }

    async fn by_hand(&self, kind: &Kind, at_once: usize, rows: &[BoltType]) {
        if at_once == 1 {
            let text = format!("WITH $row AS row\n{}", kind.by_hand);
            for row in rows {
                self.graph.run(query(&text).param("row", row.clone())).await.expect("a write");
            }
            return;
        }
        let text = format!("UNWIND $rows AS row\n{}", kind.by_hand);
        for page in rows.chunks(at_once) {
            self.graph.run(query(&text).param("rows", page.to_vec())).await.expect("a batch");
        }
    }

    async fn left(&self, kind: &Kind) -> [f64; 3] {
        let mut rows = self.graph.execute(query(kind.after)).await.expect("a look");
        let row = rows.next().await.expect("a look").expect("a row");
        let n: i64 = row.get("n").expect("a number");
        assert!(n > 0, "{}: something is left", kind.name);
        [n as f64, row.get("a").expect("a number"), row.get("b").expect("a number")]
    }

    /// Every edge and every room of a palace, ten cycles after somebody was there.
    async fn evaporate(&self, edges: i64) {
        self.graph.run(query(WIPE)).await.expect("an empty graph");
        let (rooms, cycle) = (edges / 10, START / CYCLE);
        for fill in [TRODDEN, HALLS] {
            for from in (0..rooms).step_by(2_000) {
                let fill = query(fill).param("rooms", rooms).param("cycle", cycle);
                let fill = fill.param("from", from).param("to", rooms.min(from + 2_000));
                self.graph.run(fill).await.expect("a palace");
            }
        }
        let run = async |now: i64| {
            let begun = Instant::now();
            let wanted = Wanted::by_hand(at(now), Right::Lease);
            let request =
                Request { force: true, time_limit: Some(Duration::from_secs(3_600)), ..Request::default() };
            let report = run_job(self.service.store(), JobName::Evaporate, &wanted, request).await;
            (report.expect("a run").tally.changed, begun.elapsed().as_secs_f64())
        };
        let (changed, seconds) = run(START + 10 * CYCLE).await;
        assert_eq!(changed, rooms + edges, "all of them, each once");
        println!(
            "evaporation of {edges} edges and {rooms} places: {seconds:.1} s, {:.0} rows/s",
            changed as f64 / seconds
        );
        let (changed, seconds) = run(START + 10 * CYCLE).await;
        assert_eq!(changed, 0, "a second run finds nothing to do");
        println!("and once more: nothing to do, {seconds:.2} s");
    }
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms).expect("within the calendar")
}

fn row(entries: impl IntoIterator<Item = (&'static str, BoltType)>) -> BoltType {
    let mut map = BoltMap::default();
    for (name, value) in entries {
        map.put(name.into(), value);
    }
    BoltType::Map(map)
}

/// Half as many ties as observations, so that about half meet one that is there.
fn observations(count: usize) -> (Vec<Observe>, Vec<BoltType>) {
    let (mut random, ties) = (SplitMix64(1), count as u64 / 2);
    let one = |i: usize| {
        let pick = random.below(ties);
        let (from, to) = (format!("entity {}", pick % 997), format!("entity {}", pick / 997 + 1_000));
        let tie = Tie {
            scope: Scope::local(),
            from: EntityName::new(&from).expect("a name"),
            kind: RelationType::new("works with").expect("a type"),
            to: EntityName::new(&to).expect("a name"),
        };
        let when = START + i as i64;
        let entries = [
            ("key", tie.key().into()),
            ("from", from.into()),
            ("to", to.into()),
            ("type", "works with".into()),
            ("at", when.into()),
        ];
        (Observe { tie, seen: Observation { at: at(when), weight: None, pinned: None } }, row(entries))
    };
    (0..count).map(one).unzip()
}

/// Paths of four rooms, all within one cycle.
fn deposits(service: &Service, count: usize) -> (Vec<Trace>, Vec<BoltType>) {
    let mut random = SplitMix64(2);
    let room = service.allowed().label("Room").expect("a documented label").clone();
    let one = |_| {
        let mut here = random.below(1_000);
        let mut path = vec![here];
        for _ in 0..3 {
            let step = if random.below(2) == 0 { 1 } else { 7 };
            here = (here + step) % 1_000;
            path.push(here);
        }
        let ids: Vec<String> = path.iter().map(|room| format!("r-{room}")).collect();
        let reward = (random.below(10) + 1) as f64;
        let step = |id: &String| Step {
            to: PlaceName { label: Some(room.clone()), id: PlaceId::new(id).expect("an id") },
            via: None,
        };
        let what = Walk::deposit(ids.iter().map(step).collect(), reward).expect("a path");
        let entries = [("path", ids.into()), ("reward", reward.into()), ("cycle", (START / CYCLE).into())];
        (Trace { at: at(START), scope: Scope::local(), what }, row(entries))
    };
    (0..count).map(one).unzip()
}

/// Each lineage twice, first all of them and then all again.
fn assertions(count: usize) -> (Vec<Assertion>, Vec<BoltType>) {
    let lineages = count / 2;
    let one = |i: usize| {
        let (n, when) = (i % lineages, START + i as i64);
        let (entity, relation) = (format!("module {}", n % 500), "depends on");
        let value = format!("library {n} of those that are looked at");
        let tuple = Tuple {
            scope: FactScope::Team,
            entity: EntityName::new(&entity).expect("a name"),
            relation: FactRelation::new(relation).expect("a relation"),
            value: Value::Text(value.clone()),
        };
        let id = ebb_core::clock::new_id();
        let entries = [
            ("key", tuple.key().into()),
            ("entity", entity.into()),
            ("relation", relation.into()),
            ("value", value.into()),
            ("id", id.clone().into()),
            ("confidence", 0.9.into()),
            ("source", "bench".into()),
            ("at", when.into()),
        ];
        let fact = Assertion {
            at: at(when),
            id,
            tuple,
            confidence: Confidence::new(0.9).expect("a confidence"),
            source: Source::new("bench").expect("a source"),
            valid_until: None,
        };
        (fact, row(entries))
    };
    (0..count).map(one).unzip()
}
