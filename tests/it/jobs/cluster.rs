//! Clusters: the components of strong pairs, whatever happened to get there.

use super::coactivate::triangle;
use crate::harness::ebb::{UNGUARDED, access, id, remember};
use crate::harness::graph::{remembered, same};
use crate::harness::neo4j::{Fresh, at, fresh};
use crate::harness::random::Random;
use crate::harness::rows::{Row, list, row};
use ebb_core::domain::attempt::Right;
use ebb_core::domain::cluster::{Strong, components};
use ebb_core::domain::event::Event;
use ebb_core::jobs::JobName;
use ebb_core::store::OpenedRun;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Draws pairs with their weights, as co-activation does, and lets the clusters look at their ends.
pub(crate) async fn pair(db: &Fresh, pairs: &[(String, String, i64)]) {
    let text = "UNWIND range(0, size($a) - 1) AS i \
                MATCH (a:Memory {id: $a[i]}) MATCH (b:Memory {id: $b[i]}) \
                MERGE (a)-[c:COACTIVATED]->(b) SET c.weight = $w[i], \
                a.clusterDue = datetime({epochMillis: 1767225600000}), \
                b.clusterDue = datetime({epochMillis: 1767225600000})";
    let params = [
        ("a", list(pairs.iter().map(|(a, ..)| a.as_str()))),
        ("b", list(pairs.iter().map(|(_, b, _)| b.as_str()))),
        ("w", list(pairs.iter().map(|(.., weight)| *weight))),
    ];
    db.client.run(text, &params).await;
}

/// Undissolved clusters, each with its members.
async fn clusters(db: &Fresh) -> Vec<String> {
    db.client
        .column(
            "MATCH (c:SemanticCluster) WHERE c.dissolved IS NULL \
             CALL (c) { MATCH (c)<-[:BELONGS_TO]-(m:Memory) WITH m ORDER BY m.id RETURN collect(m.id) AS members } \
             RETURN c.key + ' ' + toString(c.strength) + ' ' + toString(c.size) + \
             reduce(text = ':', id IN members | text + ' ' + id) AS line ORDER BY line",
        )
        .await
}

fn named(a: &str, b: &str, weight: i64) -> (String, String, i64) {
    (a.to_owned(), b.to_owned(), weight)
}

#[tokio::test(flavor = "multi_thread")]
async fn clusters_merge_lose_members_and_dissolve() {
    let db = fresh().await;
    db.put(&["a", "b", "c", "d", "e"].map(|id| row(id, "shortTerm", 1.0))).await;
    pair(&db, &[named("a", "b", 4), named("c", "d", 6), named("d", "e", 3)]).await;
    let first = db.run(JobName::Cluster, 1.0).await.tally;
    assert_eq!((first.formed, first.joined), (2, 4), "a weight of 3 is not strictly above 3");
    assert_eq!(clusters(&db).await, ["a 4.0 2: a b", "c 6.0 2: c d"]);

    pair(&db, &[named("b", "c", 5)]).await;
    let merged = db.run(JobName::Cluster, 2.0).await.tally;
    assert_eq!((merged.formed, merged.joined, merged.left, merged.dissolved), (0, 2, 2, 1));
    assert_eq!(clusters(&db).await, ["a 6.0 4: a b c d"]);

    // The memory in the middle expires: the rest falls apart.
    db.client
        .run(
            "MATCH (m {id: 'b'}) SET m.tier = 'expiredWorking', m.clusterDue = datetime({epochMillis: 1767225600000})",
            &[],
        )
        .await;
    let split = db.run(JobName::Cluster, 3.0).await.tally;
    assert_eq!(clusters(&db).await, ["c 6.0 2: c d"]);
    assert_eq!((split.formed, split.dissolved), (1, 1), "the node of c and d comes back, that of a goes");

    // It comes back by its next access, and with it everything.
    db.apply(&[Event::Access(access("b", 4.0))]).await;
    db.run(JobName::Cluster, 5.0).await;
    assert_eq!(clusters(&db).await, ["a 6.0 4: a b c d"]);
    let nodes: i64 = db.client.value("MATCH (c:SemanticCluster) RETURN count(c) AS n").await;
    assert_eq!(nodes, 2, "dissolved nodes are kept and taken up again");
}

/// A cluster of `a`, `b` and `c`.
async fn one_cluster() -> Fresh {
    let db = fresh().await;
    triangle(&db, 5).await;
    for job in [JobName::Coactivate, JobName::Cluster] {
        db.run(job, 4.5).await;
    }
    assert_eq!(clusters(&db).await, ["a 5.0 3: a b c"]);
    db
}

/// Deletes memories by one request.
async fn forget(db: &Fresh, names: &[&str]) {
    let ids: Vec<_> = names.iter().map(|name| id(name)).collect();
    let once = ebb_core::store::RequestMode::Once { request: "r", hash: "h", by: "test" };
    let scope = ebb_core::domain::ids::Scope::local();
    db.store.forget(once, (&scope, &ids), at(4.6), (&UNGUARDED, None)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_takes_the_expired_out_and_forgetting_looks_at_who_is_left() {
    let db = one_cluster().await;
    forget(&db, &["c"]).await;
    db.run(JobName::Cluster, 4.7).await;
    assert_eq!(clusters(&db).await, ["a 5.0 2: a b"]);
    db.client.run("MATCH (m:Memory) SET m.ripeAt = null", &[]).await;
    db.run(JobName::Decay, 100.0).await;
    let last = db.run(JobName::Cluster, 100.0).await.tally;
    assert_eq!((last.left, last.dissolved), (2, 1));
    assert_eq!(clusters(&db).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_threshold_settles_everything_anew() {
    let db = fresh().await;
    db.put(&["a", "b", "c"].map(|id| row(id, "longTerm", 1.0))).await;
    pair(&db, &[named("a", "b", 4), named("b", "c", 2)]).await;
    db.run(JobName::Cluster, 1.0).await;
    assert_eq!(clusters(&db).await, ["a 4.0 2: a b"]);
    for (threshold, wanted) in [(1, vec!["a 4.0 3: a b c"]), (9, vec![]), (3, vec!["a 4.0 2: a b"])] {
        db.client
            .run(&format!("MATCH (c:ConsolidationConfig) SET c.coactivationThreshold = {threshold}"), &[])
            .await;
        db.run(JobName::Cluster, 2.0).await;
        assert_eq!(clusters(&db).await, wanted, "threshold {threshold}");
    }
}

/// Members of a cluster that are all deleted by one request, as those of a session are, leave none that could be looked at.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_whose_members_are_all_deleted_is_dissolved() {
    let db = one_cluster().await;
    forget(&db, &["a", "b", "c"]).await;
    let left = "MATCH (c:SemanticCluster) RETURN c.size + ' ' + (c.dissolved IS NOT NULL) AS left";
    assert_eq!(db.client.column::<String>(left).await, ["0 true"]);
}

/// A random year: pairs grow, memories expire and come back, in any order, against a search through the last state.
#[tokio::test(flavor = "multi_thread")]
async fn clusters_are_the_components() {
    const MEMORIES: usize = 120;
    let db = fresh().await;
    let mut random = Random::seeded(7);
    let name = |n: usize| format!("m{n:03}");
    let rows: Vec<Row> = (0..MEMORIES).map(|n| row(&name(n), "shortTerm", 1.0)).collect();
    db.put(&rows).await;
    let mut weights: BTreeMap<(String, String), i64> = BTreeMap::new();
    let mut dead: BTreeSet<String> = BTreeSet::new();
    for round in 0..12 {
        let mut drawn = Vec::new();
        for _ in 0..25 {
            let (a, b) = (random.below(MEMORIES), random.below(MEMORIES));
            if a != b {
                let pair = (name(a.min(b)), name(a.max(b)));
                let weight = weights.entry(pair.clone()).or_default();
                *weight += random.whole(5);
                drawn.push((pair.0, pair.1, *weight));
            }
        }
        pair(&db, &drawn).await;
        for _ in 0..6 {
            let id = name(random.below(MEMORIES));
            let tier = if dead.remove(&id) { "shortTerm" } else { "expiredWorking" };
            if tier == "expiredWorking" {
                dead.insert(id.clone());
            }
            let text = format!(
                "MATCH (m:Memory {{id: '{id}'}}) SET m.tier = '{tier}', \
                 m.clusterDue = datetime({{epochMillis: 1767225600000}})"
            );
            db.client.run(&text, &[]).await;
        }
        db.run(JobName::Cluster, f64::from(round)).await;
        let strong: Vec<Strong> = weights
            .iter()
            .filter(|((a, b), weight)| **weight > 3 && !dead.contains(a) && !dead.contains(b))
            .map(|((a, b), weight)| Strong {
                a: a.clone(),
                b: b.clone(),
                weight: f64::from(i32::try_from(*weight).unwrap()),
            })
            .collect();
        let wanted: Vec<String> = components(&strong)
            .into_iter()
            .map(|(key, (members, strength))| {
                let ids: Vec<&str> = members.iter().map(String::as_str).collect();
                format!("{key} {strength:.1} {}: {}", members.len(), ids.join(" "))
            })
            .collect();
        assert_eq!(clusters(&db).await, wanted, "round {round}");
    }
    let before = remembered(&db.client).await;
    assert_eq!(db.run(JobName::Cluster, 99.0).await.tally.changed, 0);
    same(&before, &remembered(&db.client).await, "a run that finds nothing on the list");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_documented_statement_made_becomes_one_cluster() {
    let db = fresh().await;
    db.apply(&["a", "b", "c"].map(|id| Event::Remember(remember(id, 0.0)))).await;
    pair(&db, &[named("a", "b", 5), named("b", "c", 5)]).await;
    db.client
        .run(
            "MATCH (m1:Memory)-[c:COACTIVATED]-(m2:Memory) WHERE c.weight > 3 \
             CREATE (k:SemanticCluster {id: randomUUID(), formed: datetime(), strength: c.weight}) \
             CREATE (m1)-[:BELONGS_TO]->(k)<-[:BELONGS_TO]-(m2)",
            &[],
        )
        .await;
    let nodes: i64 = db.client.value("MATCH (c:SemanticCluster) RETURN count(c) AS n").await;
    assert_eq!(nodes, 4, "two for each pair");
    let tally = db.run(JobName::Cluster, 1.0).await.tally;
    assert_eq!((tally.dissolved, tally.formed), (3, 0));
    assert_eq!(clusters(&db).await, ["a 5.0 3: a b c"]);
}

/// A component may take longer to read than a lease: that its holder renews the lease meanwhile must not wait for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_search_does_not_hold_its_run() {
    let db = fresh().await;
    db.put(&["a", "b"].map(|id| row(id, "shortTerm", 1.0))).await;
    pair(&db, &[named("a", "b", 5)]).await;
    let opened = db.store.open_run("cluster", "o", at(1.0), "schedule", Right::Lease).await.unwrap();
    let OpenedRun::Ours(mut run) = opened else { panic!("{opened:?}") };
    let suspects = db.store.suspects(at(1.0), 10).await.unwrap();
    let mut renewing = db.client.begin().await;
    let text = "MATCH (r:EbbRun {occurrence: 'o'}) SET r.lock = true RETURN r.id";
    crate::harness::neo4j::run(&mut renewing, text).await.unwrap();
    let search = db.store.neighbourhood(&mut run, &suspects, 3.0);
    let found = tokio::time::timeout(Duration::from_secs(60), search).await.expect("it waits").unwrap();
    renewing.rollback().await.unwrap();
    assert_eq!((found.tally(2).formed, found.tally(2).joined), (1, 2));
}
