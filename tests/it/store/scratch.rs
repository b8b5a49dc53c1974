//! Simulated time meets no real memory: a database is scratch only if it holds nothing but what Ebb itself writes.

use crate::harness::graph::{everything, same};
use crate::harness::neo4j::{at, fresh};
use crate::harness::rows::row;
use crate::surfaces::ebb;
use ebb_core::domain::ids::Scope;
use ebb_core::store::Error;

#[tokio::test(flavor = "multi_thread")]
async fn one_node_of_somebody_elses_is_enough_to_refuse() {
    let db = fresh().await;
    for foreign in
        ["(:Memory {id: 'm'})", "(:Person {name: 'Dana'})", "()", "(:Session {scope: 'local', id: 's'})"]
    {
        db.client.run(&format!("CREATE {foreign}"), &[]).await;
        let before = everything(&db.client).await;
        let why = db.store.claim_scratch("work").await.unwrap_err();
        assert!(matches!(&why, Error::NotScratch(why) if why.contains("1 node")), "{foreign}: {why}");
        same(&before, &everything(&db.client).await, foreign);
        assert_eq!(db.store.scratch().await.unwrap(), None);
        db.clear().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_marked_database_stays_scratch_and_its_time_never_goes_back() {
    let db = fresh().await;
    db.store.claim_scratch("work").await.unwrap();
    assert_eq!(db.store.scratch().await.unwrap(), Some(None));
    db.put(&[row("m", "working", 1.0)]).await;
    db.another().claim_scratch("work").await.unwrap();
    for (told, kept) in [(2.0, 2.0), (1.0, 2.0), (3.0, 3.0)] {
        db.store.advance_scratch(at(told)).await.unwrap();
        assert_eq!(db.store.scratch().await.unwrap(), Some(Some(at(kept))));
    }
}

/// Also one that an earlier version marked, which did not record the work.
#[tokio::test(flavor = "multi_thread")]
async fn a_marked_database_is_refused_to_another_work() {
    let db = fresh().await;
    db.client.run("CREATE (:EbbScratch {name: 'scratch'})", &[]).await;
    db.store.claim_scratch("work").await.unwrap();
    db.put(&[row("m", "working", 1.0)]).await;
    let refused = async |work: &str| {
        let why = db.store.claim_scratch(work).await.unwrap_err();
        assert!(matches!(&why, Error::NotScratch(why) if why.contains("cypher-shell")), "{work}: {why}");
    };
    refused("another").await;
    // Only the process that marked it empties it.
    db.another().empty_scratch([&Scope::local()]).await.unwrap();
    assert_eq!(db.client.value::<i64>("MATCH (m:Memory) RETURN count(m)").await, 1);
    db.store.claim_scratch("work").await.unwrap();
    db.client.run("MATCH (s:EbbScratch) REMOVE s.work", &[]).await;
    refused("work").await;
}

/// "Yesterday" is the day before simulated time, though real time is later.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_to_a_scratch_database_is_asked_at_its_own_time() {
    let db = fresh().await;
    db.store.claim_scratch("work").await.unwrap();
    for (id, when) in [("first", "2026-01-01T10:00Z"), ("yesterday", "2026-01-05T10:00Z")] {
        ebb(&db, &["memory", "add", "lunch with Ann", "--id", id, "--at", when]).json();
    }
    db.store.advance_scratch(at(132.0)).await.unwrap();
    let answer = ebb(&db, &["recall", "lunch yesterday"]).json();
    assert_eq!(answer["hits"][0]["id"], "yesterday", "{answer:#}");
    assert_eq!(answer["as_of"], "2026-01-06T12:00:00.000Z");
}
