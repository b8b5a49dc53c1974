//! Outcomes taken in: what they leave on trails, what waits to be learned, and that each counts once.

use crate::harness::ebb::{close, remember, together};
use crate::harness::graph::{everything, remembered, same};
use crate::harness::neo4j::{Fresh, at, fresh};
use ebb_core::api::recall::RecallRequest;
use ebb_core::domain::event::{Event, PlaceName, Remember, Step, Trace, Walk};
use ebb_core::domain::ids::{EntityName, PlaceId, RecallId, Scope};
use ebb_core::domain::outcome::{Outcome, Used};
use ebb_core::jobs::JobName;
use ebb_core::store::{Error, OutcomeReceipt, OutcomeReport, RequestMode};
use ebb_engine::plasticity::LearningMode;
use serde::Deserialize;

/// An outcome in which the ends of these ways were of use.
fn outcome(ways: &[&[&str]], reward: f64) -> Outcome {
    let used = |way: &&[&str]| {
        let path: Vec<String> = way.iter().map(|node| (*node).to_owned()).collect();
        Used { id: path.last().unwrap().clone(), path }
    };
    Outcome::new(RecallId::new("r").unwrap(), ways.iter().map(used).collect(), reward).unwrap()
}

fn once(request: &str) -> RequestMode<'_> {
    RequestMode::Once { request, hash: "h", by: "test" }
}

async fn reported(db: &Fresh, lasting: RequestMode<'_>, outcome: &Outcome) -> Result<OutcomeReceipt, Error> {
    let scope = Scope::local();
    db.store
        .report(lasting, OutcomeReport { scope: &scope, outcome, at: at(1.0), learns: true, accesses: None })
        .await
}

/// Five rooms in a row, joined by halls.
async fn rooms(db: &Fresh) {
    db.client.run("UNWIND range(0, 4) AS i CREATE (:Room {scope: 'local', id: 'r' + i})", &[]).await;
    let halls = "UNWIND range(0, 3) AS i MATCH (a:Room {id: 'r' + i}) MATCH (b:Room {id: 'r' + (i + 1)}) \
                 CREATE (a)-[:HALL]->(b)";
    db.client.run(halls, &[]).await;
}

fn deposit(way: &[&str]) -> Trace {
    let step = |id: &&str| Step { to: PlaceName { label: None, id: PlaceId::new(id).unwrap() }, via: None };
    let what = Walk::deposit(way.iter().map(step).collect(), 1.0).unwrap();
    Trace { at: at(1.0), scope: Scope::local(), what }
}

async fn success(db: &Fresh) -> Vec<f64> {
    let text = "MATCH (a:Room)-[r:HALL]->() WHERE r.success_pheromone IS :: FLOAT NOT NULL \
                RETURN r.success_pheromone AS success ORDER BY a.id";
    db.client.column(text).await
}

#[tokio::test(flavor = "multi_thread")]
async fn edges_of_the_list_earn_by_their_place_in_the_whole_way() {
    let db = fresh().await;
    let write =
        "CREATE (m1:Memory {id: 'm1', scope: 'local'})-[:MENTIONS]->(a:Entity {name: 'A', scope: 'local'}),
        (a)-[:RELATES_TO {ebbKey: 'ab'}]->(b:Entity {name: 'B', scope: 'local'}),
        (c:Entity {name: 'C', scope: 'local'})-[:RELATES_TO {ebbKey: 'cb'}]->(b),
        (m2:Memory {id: 'm2', scope: 'local'})-[:MENTIONS]->(c)";
    db.client.run(write, &[]).await;
    let one = outcome(&[&["m1", "A", "B", "C", "m2"]], 1.0);
    let done = reported(&db, once("o"), &one).await.unwrap();
    assert_eq!((done.active, done.left_out, done.learns), (5, 0, true));
    assert_eq!((done.deposits, done.passed_over), (2, 2), "mentions carry no pheromones");
    #[derive(Debug, Deserialize)]
    struct Left {
        success: f64,
        traversal: f64,
        recency: f64,
        cost: f64,
    }
    let text = "MATCH ()-[r:RELATES_TO]->() RETURN r.success_pheromone AS success, r.traversal_pheromone AS traversal,
        r.recency_pheromone AS recency, r.current_cost AS cost ORDER BY r.ebbKey";
    let left: Vec<Left> = db.client.rows(text, &[]).await;
    assert_eq!(left.len(), 2);
    for (left, success) in left.iter().zip([0.75, 0.5]) {
        assert_eq!((left.success, left.traversal, left.recency), (success, 0.1, 1.0));
        close(left.cost, 1.0 - 0.5 * (0.5 * success + 0.3 + 0.02));
    }
    let places: Vec<String> = db
        .client
        .column(
            "MATCH (n) WHERE n.exploitation_pheromone = 0.2 RETURN coalesce(n.name, n.id) AS name ORDER BY name",
        )
        .await;
    assert_eq!(places, ["A", "B", "C"], "places that such an edge joins, each once");
    let held: i64 =
        db.client.value("MATCH (m:Memory) WHERE m.ebbLock IS NOT NULL RETURN count(m) AS n").await;
    assert_eq!(held, 0, "memories are not held up");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_way_through_the_palace_leaves_what_a_deposit_along_it_does() {
    let db = fresh().await;
    let way = ["r0", "r1", "r2", "r3", "r4"];
    rooms(&db).await;
    let done = reported(&db, once("o"), &outcome(&[&way], 1.0)).await.unwrap();
    assert_eq!((done.deposits, done.passed_over), (4, 0));
    assert_eq!(success(&db).await, [1.0, 0.75, 0.5, 0.25]);
    let left = remembered(&db.client).await;
    db.clear().await;
    rooms(&db).await;
    db.store.trace(once("d"), &[deposit(&way)]).await.unwrap();
    same(&left, &remembered(&db.client).await, "a deposit along the same way");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outcome_counts_once_and_a_dry_run_not_at_all() {
    let db = fresh().await;
    rooms(&db).await;
    let one = outcome(&[&["r0", "r1"], &["r0", "r1", "r2"]], 2.0);
    let before = everything(&db.client).await;
    let dry = reported(&db, RequestMode::DryRun, &one).await.unwrap();
    same(&before, &everything(&db.client).await, "a dry run");
    let first = reported(&db, once("o"), &one).await.unwrap();
    assert_eq!(first, dry);
    assert_eq!((first.active, first.deposits), (3, 3));
    assert_eq!(success(&db).await, [4.0, 1.0], "each way by itself: 2 and 2, and half of 2");
    let after = everything(&db.client).await;
    assert_eq!(reported(&db, once("o"), &one).await.unwrap(), first);
    let other = RequestMode::Once { request: "o", hash: "other", by: "test" };
    assert!(matches!(reported(&db, other, &one).await, Err(Error::Conflict(_))));
    same(&after, &everything(&db.client).await, "a request that was answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_is_kept_until_it_is_learned() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Waiting {
        id: String,
        waits: Option<String>,
        active: Option<Vec<String>>,
        reward: Option<f64>,
    }
    let db = fresh().await;
    rooms(&db).await;
    let waiting = async || -> Vec<Waiting> {
        let text = "MATCH (r:EbbRequest) RETURN r.id AS id, r.waits AS waits, r.active AS active, r.reward AS reward \
                    ORDER BY id";
        db.client.rows(text, &[]).await
    };
    reported(&db, once("a"), &outcome(&[&["r0", "r1"], &["r2"]], 0.25)).await.unwrap();
    reported(&db, once("b"), &outcome(&[&["r1"]], 3.0)).await.unwrap();
    let (scope, one) = (Scope::local(), outcome(&[&["r0", "r1"]], 1.0));
    let off = OutcomeReport { scope: &scope, outcome: &one, at: at(1.0), learns: false, accesses: None };
    let done = db.store.report(once("c"), off).await.unwrap();
    assert_eq!((done.learns, done.deposits), (false, 1), "trails are left all the same");
    let row = |id: &str, active: &[&str], reward: f64| Waiting {
        id: id.to_owned(),
        waits: Some("local".to_owned()),
        active: Some(active.iter().map(|node| (*node).to_owned()).collect()),
        reward: Some(reward),
    };
    let none = Waiting { id: "c".to_owned(), waits: None, active: None, reward: None };
    assert_eq!(waiting().await, [row("a", &["r0", "r1", "r2"], 0.25), row("b", &["r1"], 1.0), none]);

    db.client.run("MATCH (r:EbbRequest) SET r.at = datetime() - duration('P2D')", &[]).await;
    db.run(JobName::Audit, 2.0).await;
    let kept: Vec<String> = waiting().await.into_iter().map(|row| row.id).collect();
    assert_eq!(kept, ["a", "b"], "however old they are");
    db.client.run("MATCH (r:EbbRequest {id: 'a'}) REMOVE r.waits, r.active, r.reward", &[]).await;
    db.run(JobName::Audit, 3.0).await;
    let kept: Vec<String> = waiting().await.into_iter().map(|row| row.id).collect();
    assert_eq!(kept, ["b"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_passed_over() {
    let db = fresh().await;
    rooms(&db).await;
    db.client.run("MATCH (:Room {id: 'r1'})-[r:HALL]->() SET r.success_pheromone = 'much'", &[]).await;
    let one = outcome(&[&["r0", "r1", "r2", "r3"], &["nobody", "r4"], &["r0", "r2"]], 1.0);
    let done = reported(&db, once("o"), &one).await.unwrap();
    assert_eq!((done.active, done.deposits, done.passed_over), (6, 2, 3));
    let left = success(&db).await;
    assert_eq!(left.len(), 2);
    close(left[0], 1.0);
    close(left[1], 1.0 / 3.0);
    let aside: String =
        db.client.value("MATCH (:Room {id: 'r1'})-[r:HALL]->() RETURN r.success_pheromone AS value").await;
    assert_eq!(aside, "much", "what was set aside keeps its values");
    let before = remembered(&db.client).await;
    let team = Scope::new("team").unwrap();
    let theirs = OutcomeReport { scope: &team, outcome: &one, at: at(1.0), learns: true, accesses: None };
    let done = db.store.report(once("t"), theirs).await.unwrap();
    assert_eq!((done.deposits, done.passed_over), (0, 5));
    same(&before, &remembered(&db.client).await, "nothing crosses scopes");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_labels_share_is_named_with_its_label() {
    let db = fresh().await;
    rooms(&db).await;
    let write = "MATCH (a:Room {id: 'r0'}) CREATE (a)-[:HAS_CLOSET]->(:Closet {id: 'r1', scope: 'local'})";
    db.client.run(write, &[]).await;
    let closet = async || -> Vec<Option<f64>> {
        db.client.column("MATCH ()-[r:HAS_CLOSET]->() RETURN r.success_pheromone AS success").await
    };
    reported(&db, once("a"), &outcome(&[&["r0", "Room:r1"]], 1.0)).await.unwrap();
    assert_eq!((success(&db).await, closet().await), (vec![1.0], vec![None]));
    reported(&db, once("b"), &outcome(&[&["r0", "Closet:r1"]], 1.0)).await.unwrap();
    assert_eq!((success(&db).await, closet().await), (vec![1.0], vec![Some(1.0)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn outcomes_and_deposits_at_one_time_lose_nothing() {
    let db = fresh().await;
    rooms(&db).await;
    let stores: Vec<_> = (0..8).map(|_| db.another()).collect();
    together(stores.into_iter().enumerate().map(|(n, store)| async move {
        let (scope, one) = (Scope::local(), outcome(&[&["r0", "r1", "r2"]], 1.0));
        let report =
            OutcomeReport { scope: &scope, outcome: &one, at: at(1.0), learns: true, accesses: None };
        for i in 0..5 {
            let request = format!("{n}/{i}");
            if n % 2 == 0 {
                store.report(once(&request), report).await.unwrap();
            } else {
                store.trace(once(&request), &[deposit(&["r2", "r1", "r0"])]).await.unwrap();
            }
        }
    }))
    .await;
    let left = success(&db).await;
    assert_eq!(left.len(), 2);
    left.iter().for_each(|success| close(*success, 30.0));
    let waiting: i64 =
        db.client.value("MATCH (r:EbbRequest) WHERE r.waits = 'local' RETURN count(r) AS n").await;
    assert_eq!(waiting, 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recall_files_itself_where_every_recall_is_learned_from() {
    let db = fresh().await;
    let mentions = vec![EntityName::new("Build").unwrap()];
    let content = "the build needs a home".to_owned();
    db.apply(&[Event::Remember(Remember { mentions, content, ..remember("a", 0.0) })]).await;
    let filed = async || -> Vec<Vec<String>> {
        let text =
            "MATCH (r:EbbRequest) WHERE r.waits = 'local' AND r.reward = 1.0 RETURN r.active AS active";
        db.client.column(text).await
    };
    let ask = || RecallRequest {
        text: "what does the Build need".to_owned(),
        content: false,
        ..RecallRequest::default()
    };
    for learn in [LearningMode::OnOutcome, LearningMode::Off] {
        let answered = db.learning("[]", learn).recall(&Scope::local(), ask()).await.unwrap();
        assert!(answered.hits.iter().any(|hit| hit.id == "a"), "{answered:#?}");
        assert!(filed().await.is_empty(), "{learn:?}");
    }
    let service = db.learning("[]", LearningMode::Always);
    for times in 1..=2 {
        let answered = service.recall(&Scope::local(), ask()).await.unwrap();
        let filed = filed().await;
        assert_eq!(filed.len(), times, "each by itself");
        for hit in &answered.hits {
            assert!(filed.iter().all(|active| active.contains(&hit.id)), "{} is not in {filed:?}", hit.id);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn useful_memories_are_accessed_and_other_nodes_are_not() {
    let db = fresh().await;
    // A place and a memory of one name, a memory whose name begins with a label, a stub, and an invalid row.
    for id in ["kitchen", "Room:kitchen", "plain", "stub", "bad"] {
        db.apply(&[Event::Remember(remember(id, 0.0))]).await;
    }
    db.client.run("MERGE (:Room {scope: 'local', id: 'kitchen'})", &[]).await;
    db.client.run("MATCH (m:Memory {id: 'stub'}) SET m.tier = 'archivedWorking'", &[]).await;
    db.client.run("MATCH (m:Memory {id: 'bad'}) SET m.energy = 'much'", &[]).await;
    let accesses = async || -> Vec<(String, i64)> {
        let counted = "MATCH (m:Memory) RETURN m.id AS id, m.accessCount AS n ORDER BY id";
        db.client.rows::<Accesses>(counted, &[]).await.into_iter().map(|row| (row.id, row.n)).collect()
    };
    let before = accesses().await;
    let tunables = db.store.valid_tunables().await.unwrap();
    let used = outcome(
        &[&["Room:kitchen"], &["Memory:Room:kitchen"], &["plain"], &["stub"], &["bad"], &["gone"]],
        1.0,
    );
    let scope = Scope::local();
    let report =
        OutcomeReport { scope: &scope, outcome: &used, at: at(1.0), learns: true, accesses: Some(&tunables) };
    assert_eq!(db.store.report(RequestMode::DryRun, report).await.unwrap().accessed, 2);
    assert_eq!(accesses().await, before, "a dry run writes nothing");
    let done = db.store.report(once("a"), report).await.unwrap();
    assert_eq!(done.accessed, 2);
    let after = accesses().await;
    assert_eq!(db.store.report(once("a"), report).await.unwrap(), done, "it counts once");
    assert_eq!(accesses().await, after);
    let lifted = before.iter().zip(&after).filter(|(before, after)| after.1 == before.1 + 1);
    assert_eq!(lifted.map(|(_, (id, _))| id.as_str()).collect::<Vec<_>>(), ["Room:kitchen", "plain"]);
}

#[derive(Debug, Deserialize)]
struct Accesses {
    id: String,
    n: i64,
}
