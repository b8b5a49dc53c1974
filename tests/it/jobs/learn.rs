//! Learning: each outcome once, in its order, as the engine has it on the whole graph, whoever is killed when.

use crate::harness::ebb::{UNGUARDED, by_hand, id, remember, together};
use crate::harness::graph::{everything, remembered, same};
use crate::harness::neo4j::{Fresh, START, at, fresh};
use crate::harness::random::Random;
use crate::harness::rows::{list, map};
use crate::mirror::config;
use crate::surfaces::{CliOutput, command};
use ebb_core::clock::new_id;
use ebb_core::domain::attempt::{Right, RunState};
use ebb_core::domain::event::{Event, Remember};
use ebb_core::domain::ids::{EntityName, Scope};
use ebb_core::jobs::{JobName, Request};
use ebb_core::mirror::learned::record;
use ebb_core::mirror::{Mirror, RefreshOutcome};
use ebb_core::scheduler::driver::{Wanted, dry_run_job, run_job};
use ebb_core::store::{Learned, Lesson, OpenedRun, RequestMode, Run, Store, SynapseRow, Tally};
use ebb_engine::graph::Graph;
use ebb_engine::plasticity::{PlasticityConfig, Synapses, TickCounters};
use std::sync::Arc;
use std::time::Duration;

/// Nodes of an outcome, and what it was worth.
type Outcome = (Vec<String>, f64);

const NODES: usize = 10;

fn local() -> Scope {
    Scope::local()
}

/// Ten nodes, the first of which many lead to; calls of many weights, relations of two kinds between the same two, one that
/// holds back, and a memory that nobody stamped.
async fn fill(db: &Fresh, scope: &str) {
    let mut random = Random::seeded(0x001e_a241);
    let mut edges: Vec<(usize, usize, f64)> = (1..7).map(|n| (n, 0, 1.0)).collect();
    for (source, target) in (0..NODES).flat_map(|source| (1..NODES).map(move |target| (source, target))) {
        if source != target && random.once_in(3) {
            edges.push((source, target, random.pick(&[0.02, 0.3, 0.9, 1.6, 2.4])));
        }
    }
    let rows = list(edges.into_iter().map(|(source, target, weight)| {
        map([
            ("source", format!("n{source}").into()),
            ("target", format!("n{target}").into()),
            ("weight", weight.into()),
        ])
    }));
    let params = |more: Vec<(&'static str, neo4rs::BoltType)>| {
        [vec![("scope", neo4rs::BoltType::from(scope))], more].concat()
    };
    let nodes = "UNWIND range(0, 9) AS n CREATE (:Entity {scope: $scope, name: 'n' + n})";
    db.client.run(nodes, &params(Vec::new())).await;
    let calls = "UNWIND $rows AS r MATCH (a:Entity {scope: $scope, name: r.source}) \
                 MATCH (b:Entity {scope: $scope, name: r.target}) CREATE (a)-[:CALLS {weight: r.weight}]->(b)";
    db.client.run(calls, &params(vec![("rows", rows)])).await;
    let others = "MATCH (a:Entity {scope: $scope, name: 'n1'}), (b:Entity {scope: $scope, name: 'n2'}) \
                  CREATE (a)-[:RELATES_TO {type: 'knows', weight: 0.7}]->(b), \
                    (a)-[:RELATES_TO {type: 'helps', weight: 0.4}]->(b), (b)-[:INHIBITS {weight: 0.5}]->(a), \
                    (:Memory {scope: $scope, id: $scope + '-m', content: 'of both'})-[:MENTIONS]->(a)";
    db.client.run(others, &params(Vec::new())).await;
}

/// Outcomes of two to five nodes, the first node in every other.
fn outcomes(count: usize) -> Vec<Outcome> {
    let mut random = Random::seeded(0x0b5e_55ed);
    (0..count)
        .map(|n| {
            let mut nodes: Vec<String> =
                (0..2 + random.below(4)).map(|_| format!("n{}", random.below(NODES))).collect();
            if n % 2 == 0 {
                nodes.push("n0".to_owned());
            }
            if n % 7 == 0 {
                nodes.push("local-m".to_owned());
            }
            (nodes, f64::from(u32::try_from(1 + random.below(8)).unwrap()) / 8.0)
        })
        .collect()
}

/// Files outcomes; two of them come in each millisecond.
pub(crate) async fn file(db: &Fresh, scope: &str, outcomes: &[Outcome]) {
    let before: i64 = db.client.value("MATCH (r:EbbRequest) RETURN count(r) AS n").await;
    let rows = list((before..).zip(outcomes).map(|(n, (nodes, reward))| {
        map([
            ("id", format!("o{n:05}").into()),
            ("at", (START + n / 2).into()),
            ("active", list(nodes.iter().map(String::as_str))),
            ("reward", (*reward).into()),
        ])
    }));
    let text = "UNWIND $rows AS r CREATE (:EbbRequest {id: r.id, hash: 'h', at: datetime({epochMillis: r.at}), \
                waits: $scope, active: r.active, reward: r.reward})";
    db.client.run(text, &[("rows", rows), ("scope", scope.into())]).await;
}

fn of(nodes: &[&str], reward: f64) -> Outcome {
    (nodes.iter().map(|node| (*node).to_owned()).collect(), reward)
}

async fn waiting(db: &Fresh) -> i64 {
    db.client.value("MATCH (r:EbbRequest) WHERE r.waits IS NOT NULL RETURN count(r) AS n").await
}

async fn learned(db: &Fresh, scope: &Scope) -> Learned {
    db.store.learned(scope, 0).await.unwrap().unwrap_or_default()
}

fn read(graph: &Graph, learned: Learned) -> Synapses {
    let records = learned.rows.into_iter().filter_map(record);
    Synapses::bind(graph, PlasticityConfig::default(), learned.tick, records).unwrap()
}

/// What the engine learns from outcomes on one graph, in one go.
fn engine(graph: &Graph, outcomes: &[Outcome]) -> (Synapses, TickCounters) {
    let mut synapses = Synapses::bind(graph, PlasticityConfig::default(), 0, []).unwrap();
    let mut all = TickCounters::default();
    for (nodes, reward) in outcomes {
        #[expect(clippy::cast_possible_truncation, reason = "eighths")]
        let worth = *reward as f32;
        let active: Vec<_> = nodes.iter().filter_map(|id| Some((graph.find(id)?, worth))).collect();
        let counts = synapses.tick(graph, &active).unwrap().counts;
        all.ltp += counts.ltp;
        all.ltd += counts.ltd;
        all.scaled += counts.scaled;
        all.dropped += counts.dropped;
    }
    (synapses, all)
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_those_of_the_engine_on_the_whole_graph() {
    let db = fresh().await;
    fill(&db, "local").await;
    let mirror = Mirror::new(Arc::new(Store::connect(&db.config).unwrap()), config(1 << 30));
    mirror.refresh(&local(), at(0.0)).await.unwrap();
    let before = mirror.current(&local()).unwrap();
    let graph = before.view.graph();
    let outcomes = outcomes(130);
    let (synapses, counts) = engine(graph, &outcomes);
    assert!(counts.ltp > 0 && counts.ltd > 0 && counts.scaled > 0, "every phase had work: {counts:?}");

    file(&db, "local", &outcomes).await;
    let did = db.run(JobName::Learn, 0.0).await.tally;
    assert_eq!((did.scanned, did.skipped, waiting(&db).await), (130, 0, 0));
    let rows = learned(&db, &local()).await;
    assert_eq!((rows.tick, before.ticks()), (130, (0, 0)));
    let base = |row: &SynapseRow| {
        let [source, target] = [&row.source, &row.target].map(|id| graph.find(id).unwrap());
        f64::from(graph.base(graph.slot(source, &row.relation, target).unwrap()))
    };
    assert!(rows.rows.iter().all(|row| row.base.to_bits() == base(row).to_bits()));
    assert_eq!(read(graph, rows).records(graph).unwrap(), synapses.records(graph).unwrap());

    // The mirror takes them over in place, and who asked before is told.
    assert_eq!(mirror.refresh(&local(), at(0.0)).await.unwrap(), RefreshOutcome::Learned);
    let after = mirror.current(&local()).unwrap();
    assert!(Arc::ptr_eq(&before.view, &after.view));
    assert_eq!((before.ticks(), after.ticks(), after.learned), ((0, 130), (130, 130), synapses.len()));
    for slot in graph.nodes().flat_map(|node| graph.slots(node)) {
        let unlearned = graph.range().clamp(graph.base(slot));
        let wanted =
            synapses.synapse(slot).map_or(unlearned, |of| of.weight(graph.base(slot), graph.range()));
        assert_eq!(graph.weight(slot).to_bits(), wanted.to_bits(), "{}", graph.relation(slot));
    }
    assert!(mirror.verify(&local(), at(0.0)).await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_leave_the_same_rows() {
    let db = fresh().await;
    let outcomes = outcomes(120);
    let mut left = Vec::new();
    for limit in [None, Some(7), Some(1)] {
        fill(&db, "local").await;
        file(&db, "local", &outcomes).await;
        let request = Request { limit, ..Request::default() };
        for run in 0.. {
            let wanted = Wanted::by_hand(at(0.0), Right::Lease);
            let report = run_job(&db.store, JobName::Learn, &wanted, request.clone()).await.unwrap();
            assert_eq!(report.due_left, waiting(&db).await, "run {run}");
            if !report.truncated {
                break;
            }
        }
        assert_eq!((waiting(&db).await, learned(&db, &local()).await.tick), (0, 120));
        left.push(remembered(&db.client).await);
        db.clear().await;
    }
    same(&left[0], &left[1], "seven at a time");
    same(&left[0], &left[2], "one at a time");
}

#[tokio::test(flavor = "multi_thread")]
async fn twice_is_once() {
    let db = fresh().await;
    fill(&db, "local").await;
    file(&db, "local", &outcomes(60)).await;
    assert!(db.run(JobName::Learn, 0.0).await.tally.changed > 0);
    let before = remembered(&db.client).await;
    for hours in [0.0, 1.0] {
        assert_eq!(db.run(JobName::Learn, hours).await.tally, Tally::default());
    }
    same(&before, &remembered(&db.client).await, "a second run");
    assert_eq!(learned(&db, &local()).await.tick, 60);
}

/// What an undisturbed run leaves of so many outcomes, and the same outcomes waiting again.
async fn undisturbed(db: &Fresh, count: usize) -> Vec<String> {
    let outcomes = outcomes(count);
    fill(db, "local").await;
    file(db, "local", &outcomes).await;
    db.run(JobName::Learn, 1.0).await;
    let left = remembered(&db.client).await;
    db.clear().await;
    fill(db, "local").await;
    file(db, "local", &outcomes).await;
    left
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_anywhere_it_leaves_what_an_undisturbed_run_leaves() {
    let db = fresh().await;
    let wanted = undisturbed(&db, 600).await;
    let folder = tempfile::tempdir().unwrap();
    let run = |stop: Option<&str>| {
        let args = ["job", "run", "learn", "--at", "2026-01-01T01:00Z"];
        let mut command = command(&db, folder.path(), &args);
        command.env("EBB__WORKER__LEASE", "1s").envs(stop.map(|stop| ("EBB_STOP", stop)));
        CliOutput::from(command.output().unwrap())
    };
    let stops = [
        "after_guard:1",
        "after_guard:2",
        "after_work:2",
        "before_commit:1",
        "before_commit:3",
        "after_commit:2",
        "after_commit:3",
        "before_release:1",
    ];
    let free = "RETURN NOT EXISTS { MATCH (r:EbbRun {state: 'open'}) WHERE r.leaseUntil > datetime.realtime().epochMillis } AS free";
    let mut killed = 0;
    for stop in stops {
        killed += i32::from(run(Some(&format!("{stop}:kill"))).code.is_none());
        while !db.client.value::<bool>(free).await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    assert!(killed >= 6, "{killed} were killed");
    run(None).json();
    assert_eq!((waiting(&db).await, learned(&db, &local()).await.tick), (0, 600));
    same(&wanted, &remembered(&db.client).await, "killed again and again");
}

#[tokio::test(flavor = "multi_thread")]
async fn four_programs_at_once_learn_each_outcome_once() {
    let db = fresh().await;
    let wanted = undisturbed(&db, 200).await;
    together((0..4).map(|_| {
        let store = db.another();
        async move {
            for _ in 0..3 {
                by_hand(&store, JobName::Learn, 1.0).await;
            }
        }
    }))
    .await;
    db.run(JobName::Learn, 1.0).await;
    assert_eq!((waiting(&db).await, learned(&db, &local()).await.tick), (0, 200));
    same(&wanted, &remembered(&db.client).await, "four at once");
}

/// A run of the job, in the hand of a test.
async fn opened(db: &Fresh) -> Run {
    match db.store.open_run("learn", "manual/x", at(0.0), "manual", Right::Lease).await.unwrap() {
        OpenedRun::Ours(run) => run,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lesson_that_landed_is_not_learned_again() {
    let db = fresh().await;
    fill(&db, "local").await;
    file(&db, "local", &[of(&["n1", "n0"], 1.0)]).await;
    let mut run = opened(&db).await;
    let row = SynapseRow {
        source: "n1".to_owned(),
        relation: "CALLS".to_owned(),
        target: "n0".to_owned(),
        base: 1.0,
        delta: 0.5,
        perm: 0.0,
        strengthened: 1,
        weakened: 0,
        ltp: false,
        ltd: false,
        tick: 1,
    };
    let outcomes = vec!["o00000".to_owned()];
    let lesson = Lesson { scope: local(), from: 0, outcomes, rows: vec![row.clone()], unknown: 3 };
    let did = db.store.learn(&mut run, &lesson).await.unwrap();
    assert_eq!((did.scanned, did.changed, did.skipped, waiting(&db).await), (1, 1, 3, 0));
    let before = remembered(&db.client).await;
    // Its answer was lost, and it is sent again.
    let again = Lesson { rows: vec![SynapseRow { delta: 0.9, ..row.clone() }], ..lesson };
    assert_eq!(db.store.learn(&mut run, &again).await.unwrap(), Tally::default());
    same(&before, &remembered(&db.client).await, "a lesson that landed");
    assert_eq!(learned(&db, &local()).await, Learned { tick: 1, rows: vec![row] });
    // Who looks is told what came since it looked last, and nothing where nothing came.
    assert_eq!(db.store.learned(&local(), 1).await.unwrap(), None);
    assert_eq!(
        db.store.learned(&local(), 7).await.unwrap().unwrap().rows.len(),
        1,
        "it was another learner's"
    );
    db.store.close_run(&run, RunState::Done, false, None).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn scopes_learn_apart_and_take_turns() {
    let db = fresh().await;
    let team = Scope::new("team").unwrap();
    for scope in ["local", "team"] {
        fill(&db, scope).await;
    }
    file(&db, "local", &outcomes(120)).await;
    file(&db, "team", &[of(&["n1", "n0"], 1.0), of(&["n1", "local-m"], 0.5)]).await;
    // Of each a page.
    let request = Request { limit: Some(52), ..Request::default() };
    let wanted = Wanted::by_hand(at(0.0), Right::Lease);
    let report = run_job(&db.store, JobName::Learn, &wanted, request).await.unwrap();
    assert_eq!((report.tally.scanned, report.tally.skipped, report.due_left), (52, 1, 70));
    assert_eq!((learned(&db, &local()).await.tick, learned(&db, &team).await.tick), (50, 2));
    db.run(JobName::Learn, 0.0).await;
    let (here, there) = (learned(&db, &local()).await, learned(&db, &team).await);
    assert_eq!((here.tick, there.tick), (120, 2));
    assert!(here.rows.len() > 20, "{}", here.rows.len());
    let ways: Vec<_> = there.rows.iter().map(|row| (row.source.as_str(), row.target.as_str())).collect();
    assert_eq!(ways, [("n1", "n0")]);
    assert_eq!((there.rows[0].tick, there.rows[0].weakened), (2, 1));
    assert!((there.rows[0].delta - 0.3 * 0.995).abs() < 1e-7, "{:?}", there.rows[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_or_worth_nothing_counts_and_teaches_nothing() {
    let db = fresh().await;
    fill(&db, "local").await;
    db.client
        .run("CREATE (:Entity {scope: 'local', name: 'twin'}), (:Room {scope: 'local', id: 'twin'})-[:TUNNEL {base_cost: 0.0}]->(:Room {scope: 'local', id: 'r'})", &[])
        .await;
    let all = [of(&["n1", "n0"], 1.0), of(&["nobody", "n0"], 1.0), of(&[], 1.0), of(&["twin", "r"], 1.0)];
    file(&db, "local", &all).await;
    db.client
        .run(
            "CREATE (:EbbRequest {id: 'p1', at: datetime(), waits: 'local', active: ['n1', 'n0'], reward: 'much'}), \
             (:EbbRequest {id: 'p2', at: datetime(), waits: 'local', active: 7, reward: 1.0}), \
             (:EbbRequest {id: 'p3', at: datetime(), waits: 'local', active: ['n1', 'n0'], reward: 0.0 / 0.0})",
            &[],
        )
        .await;
    let did = db.run(JobName::Learn, 0.0).await.tally;
    assert_eq!((did.scanned, did.changed, did.skipped), (7, 1, 6));
    let rows = learned(&db, &local()).await;
    assert_eq!((rows.tick, rows.rows.len(), rows.rows[0].tick), (7, 1, 1));
    // What is called by its label too, since its key is not its own.
    file(&db, "local", &[of(&["Room:twin", "r"], 1.0)]).await;
    assert_eq!(db.run(JobName::Learn, 0.0).await.tally.changed, 2);
    let ways: Vec<String> = db
        .client
        .column(
            "MATCH (s:EbbSynapse {relation: 'TUNNEL'}) RETURN s.source + ' ' + s.target AS way ORDER BY way",
        )
        .await;
    assert_eq!(ways, ["Room:twin r", "r Room:twin"]);
    // And so it is where only what is beside it was active: the way to it is weakened.
    file(&db, "local", &[of(&["r"], 1.0)]).await;
    let did = db.run(JobName::Learn, 0.0).await.tally;
    assert_eq!((did.scanned, did.changed, did.skipped), (1, 1, 0));
    let weakened = "MATCH (s:EbbSynapse {source: 'r', target: 'Room:twin'}) RETURN s.weakened AS n";
    assert_eq!(db.client.value::<i64>(weakened).await, 1);
    // A row that somebody spoilt is nothing learned, until it is learned anew.
    db.client.run("MATCH (s:EbbSynapse {source: 'n1'}) SET s.delta = 'much'", &[]).await;
    file(&db, "local", &[of(&["n1", "n0"], 0.5)]).await;
    db.run(JobName::Learn, 0.0).await;
    let delta: f64 = db.client.value("MATCH (s:EbbSynapse {source: 'n1'}) RETURN s.delta AS delta").await;
    assert!((delta - 0.075).abs() < 1e-7, "{delta}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_learned_with_a_memory_goes_with_it_and_does_not_come_back() {
    let db = fresh().await;
    let mentions = vec![EntityName::new("Ada").unwrap(), EntityName::new("Ben").unwrap()];
    db.apply(&[
        Event::Remember(Remember { mentions: mentions.clone(), ..remember("m1", 0.0) }),
        Event::Remember(Remember { mentions, ..remember("m2", 0.0) }),
    ])
    .await;
    file(&db, "local", &[of(&["m1", "Ada", "m2"], 1.0)]).await;
    assert_eq!(db.run(JobName::Learn, 0.1).await.tally.changed, 4);
    let kept = learned(&db, &local()).await.rows;
    let request = new_id();
    let lasting = RequestMode::Once { request: &request, hash: "h", by: "test" };
    db.store.forget(lasting, (&local(), &[id("m1")]), at(0.2), (&UNGUARDED, None)).await.unwrap();
    let ends = "MATCH (s:EbbSynapse) RETURN s.source + ' ' + s.target AS way ORDER BY way";
    assert_eq!(db.client.column::<String>(ends).await, ["Ada m2", "m2 Ada"]);

    // An outcome that names it comes late: the other is weakened by it. And one was being learned while it went.
    file(&db, "local", &[of(&["m1", "Ada"], 1.0)]).await;
    let did = db.run(JobName::Learn, 0.3).await.tally;
    assert_eq!((did.scanned, did.changed, did.skipped), (1, 1, 1));
    let mut run = opened(&db).await;
    let lesson = Lesson { scope: local(), from: 2, outcomes: Vec::new(), rows: kept, unknown: 0 };
    assert_eq!(db.store.learn(&mut run, &lesson).await.unwrap().changed, 2);
    db.store.close_run(&run, RunState::Done, false, None).await.unwrap();
    assert_eq!(db.client.column::<String>(ends).await, ["Ada m2", "m2 Ada"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_faded_is_removed_and_what_stays_is_kept() {
    let db = fresh().await;
    fill(&db, "local").await;
    file(&db, "local", &[of(&["n1", "n2", "n0"], 1.0)]).await;
    let first = db.run(JobName::Learn, 0.0).await.tally;
    assert!(first.changed >= 3 && first.trimmed == 0, "{first:?}");
    db.client.run("MATCH (s:EbbSynapse {source: 'n1', target: 'n0'}) SET s.ltp = true", &[]).await;
    db.client.run("MATCH (c:EbbCounter {name: 'tick:local'}) SET c.tick = 2390", &[]).await;
    file(&db, "local", &[of(&["n9"], 1.0)]).await;
    assert_eq!(db.run(JobName::Learn, 0.0).await.tally.trimmed, 0, "one more and all has faded");
    file(&db, "local", &[of(&["n9"], 1.0)]).await;
    let did = db.run(JobName::Learn, 0.0).await.tally;
    assert_eq!((did.changed, did.trimmed), (0, first.changed - 1));
    let left = learned(&db, &local()).await;
    assert_eq!((left.tick, left.rows.len(), left.rows[0].source.as_str()), (2_392, 1, "n1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_writes_nothing_and_tells_what_a_run_does() {
    let db = fresh().await;
    for scope in ["local", "team"] {
        fill(&db, scope).await;
    }
    file(&db, "local", &outcomes(60)).await;
    db.run(JobName::Learn, 0.0).await;
    file(&db, "local", &outcomes(120)).await;
    file(&db, "team", &[of(&["n1", "n0", "nobody"], 1.0)]).await;
    let before = everything(&db.client).await;
    let said = dry_run_job(&db.store, JobName::Learn, at(1.0), Default::default()).await.unwrap().tally;
    same(&before, &everything(&db.client).await, "a dry run");
    assert_eq!((said.scanned, said.skipped), (121, 1));
    assert_eq!(said, db.run(JobName::Learn, 1.0).await.tally);
}
