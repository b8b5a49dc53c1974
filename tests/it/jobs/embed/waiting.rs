//! Memories that wait for an embedding: new ones strengthen no other meanwhile, revived ones wait as well, and dates ahead of
//! the clock are brought back.

use super::{MODEL, bed, due, run, says};
use crate::harness::ebb::{access, by_hand};
use crate::harness::embedder::{Manner, TestEmbedder};
use crate::harness::neo4j::{Fresh, at};
use crate::harness::rows::row;
use ebb_core::domain::event::{Access, Event, Remember};
use ebb_core::domain::memory::Revive;
use ebb_core::jobs::JobName;

/// Who strengthened whom.
async fn pairs(db: &Fresh) -> Vec<String> {
    let text = "MATCH (n:Memory)-[:REINFORCES]->(o:Memory) RETURN n.id + ' ' + o.id AS pair ORDER BY pair";
    db.client.column(text).await
}

fn later(id: &str, hours: f64, content: &str) -> Event {
    let Event::Remember(of) = says(id, content) else { unreachable!("it says something") };
    Event::Remember(Remember { at: at(hours), ..of })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_memory_strengthens_others_once_it_is_embedded_or_a_day_later() {
    let db = bed(Some(MODEL)).await;
    let embedder = TestEmbedder::start();
    let client = embedder.client(MODEL);
    db.put(&[row("old", "shortTerm", 3.0)]).await;
    db.client.run("MATCH (m:Memory {id: 'old'}) SET m.content = 'the salary'", &[]).await;
    run(&db, &client, 0.5).await;
    db.apply(&[later("meant", 1.0, "wages and pay"), later("refused", 1.0, "the salary, poison")]).await;
    // Neither is due, nor late.
    assert_eq!(by_hand(&db.store, JobName::Reinforce, 1.5).await.tally.scanned, 0);
    assert_eq!(db.store.waiting(at(1.5)).await.unwrap().reinforce, 0);
    assert!(
        db.store.backlog(&db.tunables().await).await.unwrap().reinforce.is_some_and(|first| first > at(24.0))
    );
    embedder.behave(Manner::Refuses(500, "poison"));
    run(&db, &client, 2.0).await;
    assert_eq!(db.store.waiting(at(2.0)).await.unwrap().reinforce, 2, "a refused one waits no longer either");
    db.client.run("CALL db.awaitIndexes(60)", &[]).await;
    assert_eq!(by_hand(&db.store, JobName::Reinforce, 2.5).await.tally.scanned, 2);
    assert_eq!(pairs(&db).await, ["meant old", "refused old"], "by meaning, and by text");
    // Nobody embeds.
    db.apply(&[later("late", 3.0, "the salary")]).await;
    for (hours, scanned) in [(26.9, 0), (27.1, 1), (27.2, 0)] {
        assert_eq!(by_hand(&db.store, JobName::Reinforce, hours).await.tally.scanned, scanned, "{hours}");
    }
    assert_eq!(pairs(&db).await, ["late old", "meant old", "refused old"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revived_memory_waits_for_an_embedding_if_it_has_none() {
    for (model, wanted) in [(Some(MODEL), vec!["accessed"]), (None, Vec::new())] {
        let db = bed(model).await;
        let rows = ["accessed", "embedded"].map(|id| row(id, "expiredWorking", 0.01));
        db.put(&rows).await;
        let embed = "MATCH (m:Memory {id: 'embedded'}) SET m.embedding = [1.0, 0.0, 0.0, 0.0]";
        db.client.run(embed, &[]).await;
        assert!(due(&db).await.is_empty());
        let revive = |id| Event::Access(Access { revive: Revive::Yes, ..access(id, 1.0) });
        db.apply(&["accessed", "embedded"].map(revive)).await;
        assert_eq!(due(&db).await, wanted);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn waits_of_more_than_a_day_are_of_a_wrong_clock() {
    let db = bed(Some(MODEL)).await;
    db.apply(&[says("soon", "soup"), says("ahead", "soup")]).await;
    let set = "MATCH (m:Memory) WITH m, m.created + duration({hours: CASE m.id WHEN 'soon' THEN 24 ELSE 60 END}) AS due \
               SET m.embedDue = due, m.reinforceDue = due";
    db.client.run(set, &[]).await;
    let found = db.store.future_rows(at(0.0)).await.unwrap();
    assert_eq!((found.memories, found.named), (1, vec!["ahead".to_owned()]));
    for rewound in [1, 0] {
        assert_eq!(db.store.rewind(at(0.0)).await.unwrap(), rewound);
    }
    let text = "MATCH (m:Memory) RETURN m.id + ' ' + m.embedDue.epochMillis + ' ' + m.reinforceDue.epochMillis AS row \
                ORDER BY row";
    let [now, soon] = [at(0.0), at(24.0)].map(|at| at.millis());
    assert_eq!(
        db.client.column::<String>(text).await,
        [format!("ahead {now} {now}"), format!("soon {soon} {soon}")]
    );
    let moved: String = db.client.value("MATCH (m:Memory {id: 'ahead'}) RETURN m.ebbMoved AS moved").await;
    assert!(moved.starts_with("reinforceDue ") && moved.contains(" embedDue "), "{moved}");
}
