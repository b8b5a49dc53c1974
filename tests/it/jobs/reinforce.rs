//! Strengthening: a new memory lifts the promoted ones that are like it, each pair once.

use crate::harness::ebb::{by_hand, close, remember};
use crate::harness::graph::{everything, remembered, same};
use crate::harness::neo4j::{Fresh, at, fresh};
use crate::harness::rows::{Row, list, row};
use ebb_core::domain::event::{Event, Remember};
use ebb_core::domain::ids::{MemoryId, Scope};
use ebb_core::domain::similarity::{Embedding, Similarity};
use ebb_core::domain::tunables::ConsolidationConfig;
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::dry_run_job;
use ebb_core::store::{Config, Error, Store};

/// Promoted memories that say these things.
async fn promoted(db: &Fresh, texts: &[(&str, &str)]) {
    let rows: Vec<Row> = texts.iter().map(|(id, _)| row(id, "shortTerm", 3.0)).collect();
    db.put(&rows).await;
    let text =
        "UNWIND range(0, size($id) - 1) AS i MATCH (m:Memory {id: $id[i]}) SET m.content = $content[i]";
    let params = [
        ("id", list(texts.iter().map(|(id, _)| *id))),
        ("content", list(texts.iter().map(|(_, text)| *text))),
    ];
    db.client.run(text, &params).await;
}

fn says(id: &str, hours: f64, content: &str) -> Event {
    Event::Remember(Remember { content: content.to_owned(), ..remember(id, hours) })
}

/// Who strengthened whom, and how much.
async fn drawn(db: &Fresh) -> Vec<String> {
    db.client
        .column(
            "MATCH (n:Memory)-[r:REINFORCES]->(o:Memory) \
             RETURN n.id + ' ' + o.id + ' ' + toString(round(r.strength, 3)) AS pair ORDER BY pair",
        )
        .await
}

const OLD: [(&str, &str); 4] = [
    ("build", "The build needs JAVA_HOME to point at a JDK 17"),
    ("dana", "Dana prefers small pull requests with a test"),
    ("outbox", "Events go through an outbox because the broker loses them"),
    ("flaky", "The flaky test is a time zone in disguise"),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_new_memory_strengthens_what_says_nearly_the_same() {
    let db = fresh().await;
    promoted(&db, &OLD).await;
    db.apply(&[
        says("again", 1.0, "the build needs JAVA_HOME to point to a JDK 17!"),
        says("other", 1.0, "Redis Streams were given up on Friday"),
    ])
    .await;
    let tally = db.run(JobName::Reinforce, 2.0).await.tally;
    assert_eq!((tally.scanned, tally.changed, tally.reinforced, tally.cut), (2, 1, 1, 0));
    let strength: f64 = db.client.value("MATCH ()-[r:REINFORCES]->() RETURN r.strength").await;
    assert!(strength > 0.8 && strength < 1.0, "{strength}");
    let old = db.state("build").await;
    close(old.energy.value(), 3.0 * (-0.05_f64 * 2.0).exp() + 0.5 * strength);
    assert_eq!((old.last_accessed, old.energy_at), (at(0.0), at(2.0)));
    let (count, last): (i64, i64) = (
        db.client.value("MATCH (m {id: 'build'}) RETURN m.reinforcementCount").await,
        db.client.value("MATCH (m {id: 'build'}) RETURN m.lastReinforced.epochMillis").await,
    );
    assert_eq!((count, last), (1, at(2.0).millis()));
    let waiting: i64 =
        db.client.value("MATCH (m:Memory) WHERE m.reinforceDue IS NOT NULL RETURN count(m) AS n").await;
    assert_eq!(waiting, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn twice_is_once() {
    let db = fresh().await;
    promoted(&db, &OLD).await;
    db.apply(&OLD.map(|(id, text)| says(&format!("new-{id}"), 1.0, text))).await;
    let asked = Request { limit: Some(2), ..Request::default() };
    let two = dry_run_job(&db.store, JobName::Reinforce, at(2.0), asked).await.unwrap();
    assert_eq!((two.tally.scanned, two.truncated), (2, true));
    let said = dry_run_job(&db.store, JobName::Reinforce, at(2.0), Default::default()).await.unwrap();
    assert!(!said.truncated);
    let said = said.tally;
    let did = db.run(JobName::Reinforce, 2.0).await.tally;
    assert_eq!((said, did.reinforced), (did, 4));
    let before = remembered(&db.client).await;
    assert_eq!(db.run(JobName::Reinforce, 2.0).await.tally.changed, 0);
    same(&before, &remembered(&db.client).await, "a second run");

    // Even if somebody puts them on the list again: each pair once.
    db.client.run("MATCH (m:Memory) SET m.reinforceDue = datetime({epochMillis: 1767225600000})", &[]).await;
    let energies = db.client.column::<f64>("MATCH (m:Memory) RETURN m.energy ORDER BY m.id").await;
    db.run(JobName::Reinforce, 2.0).await;
    // The new ones have been strengthened by nobody: they are in working memory.
    assert_eq!(db.client.column::<f64>("MATCH (m:Memory) RETURN m.energy ORDER BY m.id").await, energies);
    same(&before, &remembered(&db.client).await, "a third run");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_strengthened_often_becomes_ripe() {
    let db = fresh().await;
    promoted(&db, &OLD).await;
    let text = OLD[0].1;
    db.apply(&(0..5).map(|n| says(&format!("n{n}"), 1.0, text)).collect::<Vec<_>>()).await;
    db.run(JobName::Reinforce, 1.0).await;
    let old = db.state("build").await;
    close(old.energy.value(), 3.0 * (-0.05_f64).exp() + 5.0 * 0.5);
    assert_eq!(old.ripe_at, Some(at(1.0)));
    assert_eq!(db.run(JobName::Promote, 1.0).await.tally.promoted, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_at_most_of_the_same_scope_and_none_that_is_working() {
    let db = fresh().await;
    let text = "The build needs JAVA_HOME to point at a JDK 17";
    let ids: Vec<String> = (0..30).map(|n| format!("o{n:02}")).collect();
    promoted(&db, &ids.iter().map(|id| (id.as_str(), text)).collect::<Vec<_>>()).await;
    db.client.run("MATCH (m:Memory) WHERE m.id < 'o05' SET m.tier = 'working'", &[]).await;
    db.client.run("MATCH (m:Memory {id: 'o05'}) SET m.scope = 'team'", &[]).await;
    db.client.run("MATCH (m:Memory {id: 'o06'}) SET m:EbbQuarantined, m.ebbReason = 'x'", &[]).await;
    let team = Remember { scope: Scope::new("team").unwrap(), ..remember("t", 1.0) };
    db.apply(&[says("n", 1.0, text), Event::Remember(Remember { content: text.to_owned(), ..team })]).await;
    db.run(JobName::Reinforce, 1.0).await;
    let pairs = drawn(&db).await;
    let wanted: Vec<String> =
        (7..27).map(|n| format!("n o{n:02} 1.0")).chain(["t o05 1.0".to_owned()]).collect();
    assert_eq!(pairs, wanted, "of equals the first by id");
}

/// The same store, for memories with embeddings of three numbers.
async fn embedding(db: &Fresh) -> Store {
    db.embeds(3).await;
    let similarity = Similarity { dimensions: Some(3), text_threshold: 0.5, model: None };
    let store = Store::connect(&Config { similarity, ..db.config.clone() }).unwrap();
    store.initialise(&ConsolidationConfig::DOCUMENTED, at(0.0)).await.unwrap();
    db.client.run("CALL db.awaitIndexes(60)", &[]).await;
    store
}

fn points(id: &str, hours: f64, numbers: [f64; 3]) -> Event {
    let similarity = Similarity { dimensions: Some(3), text_threshold: 0.5, model: None };
    let embedding = Embedding::new(&MemoryId::new(id).unwrap(), numbers.to_vec(), &similarity).unwrap();
    Event::Remember(Remember { embedding: Some(embedding), ..remember(id, hours) })
}

#[tokio::test(flavor = "multi_thread")]
async fn memories_with_embeddings_are_compared_by_them() {
    let db = fresh().await;
    let store = embedding(&db).await;
    let old = [("east", [1.0, 0.0, 0.0]), ("north", [0.0, 1.0, 0.0]), ("north-east", [1.0, 1.0, 0.0])];
    db.apply(&old.map(|(id, numbers)| points(id, 0.0, numbers))).await;
    by_hand(&store, JobName::Reinforce, 0.5).await;
    db.client.run("MATCH (m:Memory) SET m.tier = 'longTerm'", &[]).await;
    // A hundred and fifty nearer ones that do not count, since they are in working memory.
    let crowd: Vec<Event> = (0..150)
        .map(|n| points(&format!("w{n:03}"), 1.0, [1.0, 0.2 + f64::from(n) / 10_000.0, 0.0]))
        .collect();
    db.apply(&crowd).await;
    db.client.run("MATCH (m:Memory) WHERE m.id STARTS WITH 'w' SET m.reinforceDue = null", &[]).await;
    db.apply(&[points("new", 1.0, [10.0, 2.0, 0.0])]).await;
    // The index is brought up to date in the background.
    db.client.run("CALL db.awaitIndexes(60)", &[]).await;
    let tally = by_hand(&store, JobName::Reinforce, 2.0).await.tally;
    assert_eq!((tally.scanned, tally.reinforced), (1, 2));
    let cosine = |x: f64, y: f64| (10.0 * x + 2.0 * y) / (104.0_f64.sqrt() * (x * x + y * y).sqrt());
    let strength = |id: &str| format!("MATCH ()-[r:REINFORCES]->({{id: '{id}'}}) RETURN r.strength");
    for (id, wanted) in [("east", cosine(1.0, 0.0)), ("north-east", cosine(1.0, 1.0))] {
        let found: f64 = db.client.value(&strength(id)).await;
        assert!((found - wanted).abs() < 1e-6, "{id}: {found} is not {wanted}");
    }
}

/// One without a direction, or with a number that is none, is compared by its text, and holds up no other.
#[tokio::test(flavor = "multi_thread")]
async fn an_embedding_that_no_index_can_compare_stops_nothing() {
    let db = fresh().await;
    let store = embedding(&db).await;
    let text = "UNWIND [[0.0, 0.0, 0.0], [1e200, 0.0, 0.0], [0.0 / 0.0, 1.0, 1.0], [1e-200, 0.0, 0.0]] AS numbers
        CREATE (:Memory {id: 'm' + toString(numbers[0]), scope: 'local', content: 'c', tier: 'working', energy: 1.0, embedding: numbers})";
    db.client.run(text, &[]).await;
    db.apply(&[points("good", 1.0, [1.0, 0.0, 0.0])]).await;
    db.client.run("CALL db.awaitIndexes(60)", &[]).await;
    by_hand(&store, JobName::Audit, 2.0).await;
    assert_eq!(by_hand(&store, JobName::Reinforce, 2.0).await.tally.scanned, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_for_another_dimension_is_named_with_both_numbers() {
    let db = fresh().await;
    embedding(&db).await;
    let similarity = Similarity { dimensions: Some(4), text_threshold: 0.5, model: None };
    let store = Store::connect(&Config { similarity, ..db.config.clone() }).unwrap();
    let why = store.initialise(&ConsolidationConfig::DOCUMENTED, at(0.0)).await.unwrap_err();
    assert!(matches!(why, Error::Conflict(_)), "{why}");
    assert!(why.to_string().contains("embeddings of 3 numbers") && why.to_string().contains("is 4"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_writer_made_is_new_once() {
    let db = fresh().await;
    promoted(&db, &OLD).await;
    let foreign = format!("CREATE (:Memory {{id: 'f', energy: 1.0, content: '{}'}})", OLD[1].1);
    db.client.run(&foreign, &[]).await;
    assert_eq!(db.run(JobName::Reinforce, 1.0).await.tally.reinforced, 1);
    // Judged anew, it is not new again.
    db.client.run("MATCH (m {id: 'f'}) REMOVE m:EbbMemory", &[]).await;
    let before = everything(&db.client).await.len();
    assert_eq!(db.run(JobName::Reinforce, 2.0).await.tally.scanned, 0);
    assert!(everything(&db.client).await.len() >= before);
}
