//! Embedding: memories whose writers gave no embedding get one of the configured model, whatever the embedder does.

mod waiting;

use crate::harness::ebb::{remember, together};
use crate::harness::embedder::{DIMENSIONS, Manner, TestEmbedder, vector};
use crate::harness::graph::{remembered, same};
use crate::harness::neo4j::{Fresh, at, fresh};
use crate::harness::rows::row;
use crate::surfaces::{CliOutput, command};
use crate::worker::process::eventually;
use ebb_core::domain::attempt::Right;
use ebb_core::domain::event::{Event, Remember};
use ebb_core::domain::ids::MemoryId;
use ebb_core::domain::similarity::{Embedding, Similarity};
use ebb_core::domain::tunables::ConsolidationConfig;
use ebb_core::embedder::Embedder;
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::{JobReport, Wanted, dry_run_job, run_job};
use ebb_core::store::{Config, EmbeddingTarget, OtherEmbeddings, Store};
use std::sync::Arc;
use std::time::Duration;

const MODEL: &str = "small";

fn similarity(model: Option<&str>) -> Similarity {
    Similarity { dimensions: Some(DIMENSIONS), text_threshold: 0.5, model: model.map(str::to_owned) }
}

/// A database whose memories are embedded by a model, if one is named.
async fn bed(model: Option<&str>) -> Fresh {
    let mut db = fresh().await;
    db.embeds(DIMENSIONS).await;
    db.config = Config { similarity: similarity(model), ..db.config.clone() };
    db.store = Store::connect(&db.config).unwrap();
    db.store.initialise(&ConsolidationConfig::DOCUMENTED, at(0.0)).await.unwrap();
    db
}

fn with(client: &Arc<Embedder>) -> Request {
    Request { embedder: Some(Arc::clone(client)), ..Request::default() }
}

async fn run(db: &Fresh, client: &Arc<Embedder>, hours: f64) -> JobReport {
    run_some(db, client, hours, None).await
}

/// A run of so many rows.
async fn run_some(db: &Fresh, client: &Arc<Embedder>, hours: f64, limit: Option<u64>) -> JobReport {
    let wanted = Wanted::by_hand(at(hours), Right::Lease);
    run_job(&db.store, JobName::Embed, &wanted, Request { limit, ..with(client) }).await.unwrap()
}

fn says(id: &str, content: &str) -> Event {
    Event::Remember(Remember { content: content.to_owned(), ..remember(id, 0.0) })
}

/// A memory with an embedding of its writer.
fn given(id: &str, numbers: [f64; DIMENSIONS]) -> Event {
    let embedding = Embedding::new(&MemoryId::new(id).unwrap(), numbers.to_vec(), &similarity(None)).unwrap();
    Event::Remember(Remember { embedding: Some(embedding), ..remember(id, 0.0) })
}

/// `id model numbers` of each memory with an embedding.
async fn embedded(db: &Fresh) -> Vec<String> {
    let text = "MATCH (m:Memory) WHERE m.embedding IS NOT NULL \
                RETURN m.id + ' ' + coalesce(m.ebbEmbeddingModel, '-') + ' ' + \
                reduce(text = '', n IN m.embedding | text + toString(n) + ' ') AS row ORDER BY row";
    db.client.column(text).await
}

fn numbers(text: &str) -> String {
    vector(text).map(|number| format!("{number:?} ")).concat()
}

/// Ids of the memories in the backlog.
async fn due(db: &Fresh) -> Vec<String> {
    db.client.column("MATCH (m:Memory) WHERE m.embedDue IS NOT NULL RETURN m.id AS id ORDER BY id").await
}

#[tokio::test(flavor = "multi_thread")]
async fn memories_without_an_embedding_get_one_and_the_change_is_recorded() {
    let db = bed(Some(MODEL)).await;
    let embedder = TestEmbedder::start();
    let crowd: Vec<Event> = (0..9).map(|n| says(&format!("m{n}"), "soup for lunch")).collect();
    db.apply(&crowd).await;
    db.apply(&[says("pay", "the salary of Ann"), given("own", [0.5, 0.5, 0.0, 0.0])]).await;
    db.client.run("CREATE (:Memory {id: 'theirs', content: 'the grammar', energy: 1.0})", &[]).await;
    db.client.run("CREATE (:Memory {id: 'library', content: 'of another library'})", &[]).await;
    assert_eq!(db.store.waiting(at(1.0)).await.unwrap().embed, 10);
    let report = run(&db, &embedder.client(MODEL), 1.0).await;
    let tally = report.tally;
    assert_eq!((tally.scanned, tally.changed, tally.skipped, tally.adopted), (11, 11, 0, 1));
    assert_eq!((report.truncated, report.reason), (false, None));
    let sizes: Vec<usize> = embedder.requests().iter().map(Vec::len).collect();
    assert_eq!(sizes, [8, 3]);
    let all = embedded(&db).await;
    assert_eq!(all.len(), 12);
    assert!(all.contains(&format!("pay {MODEL} {}", numbers("the salary of Ann"))), "{all:?}");
    assert!(all.contains(&format!("theirs {MODEL} {}", numbers("the grammar"))), "{all:?}");
    assert!(all.contains(&"own - 0.5 0.5 0.0 0.0 ".to_owned()), "{all:?}");
    assert!(due(&db).await.is_empty());
    let keys: Vec<Vec<String>> = db
        .client
        .column("MATCH (c:EbbChange) WHERE c.by = 'worker' AND 'pay' IN c.keys RETURN c.keys AS keys")
        .await;
    assert_eq!(keys.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_count_of_embeddings_by_another_model_ends_at_its_limit() {
    let db = bed(Some(MODEL)).await;
    let embedder = TestEmbedder::start();
    db.apply(&(0..5).map(|n| says(&format!("m{n}"), "soup")).collect::<Vec<_>>()).await;
    run(&db, &embedder.client(MODEL), 1.0).await;
    let target = EmbeddingTarget { model: "large".to_owned(), dimensions: DIMENSIONS, expired: true };
    let models = || vec![format!("{MODEL}, {DIMENSIONS} numbers")];
    let some = db.store.other_embeddings(&target, 3).await.unwrap();
    assert_eq!(some, OtherEmbeddings { read: 3, memories: 3, models: models() });
    db.client.run("MATCH (m:Memory {id: 'm0'}) SET m.embedding = 'of another program'", &[]).await;
    let all = db.store.other_embeddings(&target, 10).await.unwrap();
    assert_eq!(all, OtherEmbeddings { read: 5, memories: 4, models: models() });
}

#[tokio::test(flavor = "multi_thread")]
async fn twice_is_once() {
    let db = bed(Some(MODEL)).await;
    let embedder = TestEmbedder::start();
    let client = embedder.client(MODEL);
    db.apply(&(0..20).map(|n| says(&format!("m{n}"), "soup")).collect::<Vec<_>>()).await;
    // Two that are only taken off the backlog: one has an embedding, and one is in no mirror.
    db.apply(&[given("own", [0.5, 0.5, 0.0, 0.0])]).await;
    let off = "MATCH (m:Memory) WHERE m.id IN ['m0', 'own'] SET m.embedDue = m.created - duration('PT1H')";
    db.client.run(off, &[]).await;
    db.client.run("MATCH (m:Memory {id: 'm0'}) SET m.tier = 'expiredWorking'", &[]).await;
    for (limit, counts) in [(Some(5), (5, 5)), (None, (16, 14))] {
        let asked = embedder.requests().len();
        let wanted = Request { limit, ..with(&client) };
        let said = dry_run_job(&db.store, JobName::Embed, at(1.0), wanted).await.unwrap().tally;
        assert_eq!(embedder.requests().len(), asked, "a dry run sends nothing");
        let did = run_some(&db, &client, 1.0, limit).await.tally;
        assert_eq!((said, (did.scanned, did.changed)), (did, counts), "{limit:?}");
    }
    assert_eq!((embedded(&db).await.len(), due(&db).await.len()), (20, 0));
    let (before, asked) = (remembered(&db.client).await, embedder.requests().len());
    let again = run(&db, &client, 1.0).await.tally;
    assert_eq!((again.scanned, again.changed), (0, 0));
    same(&before, &remembered(&db.client).await, "a second run");
    assert_eq!(embedder.requests().len(), asked);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_embedder_nothing_is_due() {
    let db = fresh().await;
    db.apply(&[says("a", "soup")]).await;
    assert_eq!(db.run(JobName::Embed, 1.0).await.tally, Default::default());
    assert_eq!((due(&db).await, db.store.waiting(at(1.0)).await.unwrap().embed), (Vec::<String>::new(), 0));
    assert_eq!(db.store.backlog(&db.tunables().await).await.unwrap().embed, None);
}

/// Servers refuse a text by their rules, or by a fault of their own.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_text_is_put_off_alone() {
    let db = bed(Some(MODEL)).await;
    for (round, status) in [400, 413, 422, 429, 500, 503].into_iter().enumerate() {
        let embedder = TestEmbedder::start();
        embedder.behave(Manner::Refuses(status, "poison"));
        let client = embedder.client(MODEL);
        let hours = 30.0 * round as f64;
        db.clear().await;
        db.apply(&[says("a", "soup"), says("b", "poison"), says("c", "lunch")]).await;
        let report = run(&db, &client, hours + 1.0).await;
        assert_eq!((report.tally.changed, report.tally.skipped), (2, 1), "{status}");
        assert_eq!((report.truncated, due(&db).await), (false, vec!["b".to_owned()]), "{status}");
        // Not before a day has passed, and then once more.
        assert_eq!(run(&db, &client, hours + 24.9).await.tally.scanned, 0, "{status}");
        embedder.behave(Manner::Well);
        assert_eq!(run(&db, &client, hours + 25.1).await.tally.changed, 1, "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_embedder_that_cannot_be_used_ends_the_run_and_all_stays_due() {
    let db = bed(Some(MODEL)).await;
    db.apply(&(0..20).map(|n| says(&format!("m{n}"), "soup")).collect::<Vec<_>>()).await;
    run(&db, &TestEmbedder::start().client(MODEL), 0.0).await;
    db.client.run("MATCH (m:Memory) SET m.embedDue = m.created, m.embedding = null", &[]).await;
    let before = remembered(&db.client).await;
    for (manner, word) in [
        (Manner::Hangs, "did not answer within 100 ms"),
        (Manner::Status(500), "answered 500"),
        (Manner::Status(503), "answered 503"),
        (Manner::Status(429), "answered 429"),
        (Manner::Status(401), "embedding.api_key_file"),
        (Manner::Status(404), "embedding.model"),
        (Manner::Status(307), "set embedding.url"),
        (Manner::Numbers(3), "3 numbers, and embedding.dimensions is 4"),
        (Manner::Instead("NaN"), "sent no JSON"),
        (Manner::Instead("null"), "sent no JSON"),
        (Manner::Instead("1e999"), "sent no JSON"),
        (Manner::Instead("1e300"), "not finite, or too great"),
    ] {
        let embedder = TestEmbedder::start();
        embedder.behave(manner);
        let mut config = embedder.config(MODEL);
        if manner == Manner::Hangs {
            config.timeout = Duration::from_millis(100);
        }
        let client = Arc::new(Embedder::new(config).unwrap());
        let report = run(&db, &client, 1.0).await;
        let why = report.reason.unwrap_or_default();
        assert!(why.contains(word) && why.contains(&embedder.url()), "{manner:?}: {why}");
        assert!(!why.contains("soup"), "{manner:?}: {why}");
        assert_eq!((report.tally.changed, report.truncated, report.due_left), (0, true, 20), "{manner:?}");
        assert!(embedder.requests().len() <= 2, "{manner:?}");
        embedder.behave(Manner::Well);
    }
    same(&before, &remembered(&db.client).await, "after all failures");
    let runs = "MATCH (r:EbbRun {job: 'embed', state: 'done'}) WHERE r.reason CONTAINS 'answered 500' RETURN count(r) AS n";
    assert_eq!(db.client.value::<i64>(runs).await, 1, "the ledger says so");
    assert_eq!(run(&db, &TestEmbedder::start().client(MODEL), 1.0).await.tally.changed, 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_failure_the_embedder_is_left_alone_for_a_while() {
    let db = bed(Some(MODEL)).await;
    db.apply(&[says("a", "soup")]).await;
    let embedder = TestEmbedder::start();
    embedder.behave(Manner::Status(429));
    let client = embedder.client(MODEL);
    assert!(run(&db, &client, 1.0).await.reason.unwrap().contains("429"));
    embedder.behave(Manner::Well);
    let rests = run(&db, &client, 1.0).await;
    assert!(rests.reason.unwrap().contains("tried again in") && rests.truncated);
    assert_eq!(embedder.requests().len(), 2);
    // Another process knows nothing of it. A failure that passes puts no text off.
    embedder.behave(Manner::Once(429));
    assert_eq!(run(&db, &embedder.client(MODEL), 1.0).await.tally.changed, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_embedder_that_takes_few_texts_at_once_gets_fewer() {
    let db = bed(Some(MODEL)).await;
    db.apply(&(0..20).map(|n| says(&format!("m{n}"), "soup")).collect::<Vec<_>>()).await;
    let embedder = TestEmbedder::start();
    embedder.behave(Manner::AtMost(3));
    let report = run(&db, &embedder.client(MODEL), 1.0).await;
    assert_eq!((report.tally.changed, report.tally.skipped, report.reason), (20, 0, None));
    let too_many: Vec<usize> = embedder.requests().iter().map(Vec::len).filter(|texts| *texts > 3).collect();
    assert_eq!(too_many, [8, 4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_memory_does_not_wait_for_all_older_ones() {
    let db = bed(Some(MODEL)).await;
    db.apply(&(0..30).map(|n| says(&format!("m{n}"), "soup")).collect::<Vec<_>>()).await;
    db.apply(&[Event::Remember(remember("new", 0.5))]).await;
    let client = TestEmbedder::start().client(MODEL);
    let report = run_some(&db, &client, 1.0, Some(8)).await;
    let waiting = due(&db).await;
    assert_eq!((report.tally.changed, waiting.len()), (8, 23));
    assert!(!waiting.contains(&"new".to_owned()), "{waiting:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_model_replaces_what_the_first_one_embedded_and_nothing_else() {
    // From before anything was configured: nothing is queued.
    let mut db = bed(None).await;
    db.apply(&[says("a", "soup"), says("b", "salary"), given("own", [0.0, 0.0, 1.0, 0.0])]).await;
    db.put(&[row("expired", "expiredWorking", 0.01)]).await;
    // Writers may name their own models.
    db.client.run("MATCH (m {id: 'own'}) SET m.embeddingModel = 'theirs'", &[]).await;
    assert!(due(&db).await.is_empty());
    let embedder = TestEmbedder::start();
    for (model, hours, changed) in [(MODEL, 1.0, 2), ("large", 4.0, 1)] {
        db.config = Config { similarity: similarity(Some(model)), ..db.config.clone() };
        db.store = Store::connect(&db.config).unwrap();
        let client = embedder.client(model);
        let one = Request { limit: Some(1), ..with(&client) };
        let one = dry_run_job(&db.store, JobName::Embed, at(hours), one).await.unwrap();
        assert_eq!((one.tally.changed, one.truncated), (1, true), "{model}");
        let said = dry_run_job(&db.store, JobName::Embed, at(hours), with(&client)).await.unwrap();
        assert!(!said.truncated, "{model}");
        let said = said.tally;
        let did = run(&db, &client, hours).await.tally;
        assert_eq!((said, did.changed), (did, changed), "{model}");
        let (all, own) = (embedded(&db).await, "own - 0.0 0.0 1.0 0.0 ".to_owned());
        let a = format!("a {model} {}", numbers("soup"));
        let b = if model == MODEL { numbers("salary") } else { "0.0 0.0 0.0 1.0 ".to_owned() };
        assert_eq!(all, [a, format!("b {MODEL} {b}"), own], "{model}");
        assert_eq!(run(&db, &client, hours + 1.0).await.tally.scanned, 0);
        // A program that overwrites the embedding becomes its writer.
        db.client.run("MATCH (m {id: 'b'}) SET m.embedding = [0.0, 0.0, 0.0, 1.0]", &[]).await;
    }
    // One whose embedding somebody removed is found by the search of the next day.
    db.client.run("MATCH (m {id: 'a'}) SET m.embedding = null", &[]).await;
    assert_eq!(run(&db, &embedder.client("large"), 5.0).await.tally.changed, 0);
    assert_eq!(run(&db, &embedder.client("large"), 29.0).await.tally.changed, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_programs_with_two_models_do_not_replace_each_other() {
    let mut db = bed(Some(MODEL)).await;
    db.apply(&[says("a", "soup")]).await;
    let embedder = TestEmbedder::start();
    assert_eq!(run(&db, &embedder.client(MODEL), 1.0).await.tally.changed, 1);
    db.config = Config { similarity: similarity(Some("large")), ..db.config.clone() };
    db.store = Store::connect(&db.config).unwrap();
    let large = embedder.client("large");
    let stopped = run(&db, &large, 1.1).await;
    let why = stopped.reason.unwrap_or_default();
    assert!(why.contains("by small (4 numbers)") && why.contains("by large (4 numbers)"), "{why}");
    assert_eq!((stopped.tally.changed, stopped.truncated), (0, true));
    // The other program is gone.
    assert_eq!(run(&db, &large, 2.1).await.tally.changed, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_changes_meanwhile_is_embedded_as_it_is_then() {
    let db = bed(Some(MODEL)).await;
    db.apply(&[says("a", "soup"), says("b", "lunch"), says("gone", "food")]).await;
    let embedder = TestEmbedder::start();
    embedder.behave(Manner::Hangs);
    let client = embedder.client(MODEL);
    let change = async {
        eventually("the embedder is asked", async || !embedder.requests().is_empty()).await;
        db.client.run("MATCH (m {id: 'a'}) SET m.content = 'salary'", &[]).await;
        db.client.run("MATCH (m {id: 'b'}) SET m.embedding = [0.0, 0.0, 0.0, 1.0]", &[]).await;
        db.client.run("MATCH (m {id: 'gone'}) DETACH DELETE m", &[]).await;
        embedder.behave(Manner::Well);
    };
    let (report, ()) = tokio::join!(run(&db, &client, 1.0), change);
    assert_eq!(report.tally.changed, 0, "{report:?}");
    assert_eq!(run(&db, &client, 1.0).await.tally.changed, 1);
    assert_eq!(
        embedded(&db).await,
        [format!("a {MODEL} {}", numbers("salary")), "b - 0.0 0.0 0.0 1.0 ".to_owned()]
    );
    assert!(due(&db).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn four_programs_at_once_embed_each_memory_once() {
    let db = bed(Some(MODEL)).await;
    db.apply(&(0..60).map(|n| says(&format!("m{n}"), "soup")).collect::<Vec<_>>()).await;
    let embedder = TestEmbedder::start();
    together((0..4).map(|_| {
        let (store, client) = (db.another(), embedder.client(MODEL));
        async move {
            for _ in 0..3 {
                let wanted = Wanted::by_hand(at(1.0), Right::Lease);
                run_job(&store, JobName::Embed, &wanted, with(&client)).await.unwrap();
            }
        }
    }))
    .await;
    run(&db, &embedder.client(MODEL), 1.0).await;
    assert_eq!((embedded(&db).await.len(), due(&db).await.len()), (60, 0));
    assert_eq!(embedder.requests().concat().len(), 60);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_anywhere_it_leaves_nothing_half_done() {
    let db = bed(Some(MODEL)).await;
    db.apply(&(0..30).map(|n| says(&format!("m{n}"), "soup")).collect::<Vec<_>>()).await;
    let embedder = TestEmbedder::start();
    let folder = tempfile::tempdir().unwrap();
    let run = |stop: Option<&str>| {
        let mut command = command(&db, folder.path(), &["job", "run", "embed", "-o", "json"]);
        command.envs([
            ("EBB__EMBEDDING__URL", embedder.url().as_str()),
            ("EBB__EMBEDDING__MODEL", MODEL),
            ("EBB__EMBEDDING__DIMENSIONS", &DIMENSIONS.to_string()),
            ("EBB__EMBEDDING__BATCH", "8"),
            ("EBB__WORKER__LEASE", "1s"),
        ]);
        CliOutput::from(command.envs(stop.map(|stop| ("EBB_STOP", stop))).output().unwrap())
    };
    let half = "MATCH (m:Memory) WHERE (m.embedding IS NULL) <> (m.ebbEmbeddingModel IS NULL) \
                OR (m.embedding IS NULL) <> (m.ebbEmbeddingEnds IS NULL) \
                OR (m.embedding IS NULL) <> (m.embedDue IS NOT NULL) RETURN count(m) AS n";
    let free = "RETURN NOT EXISTS { MATCH (r:EbbRun {state: 'open'}) WHERE r.leaseUntil > datetime.realtime().epochMillis } AS free";
    let mut killed = 0;
    for stop in [
        "after_guard:1",
        "after_work:2",
        "before_commit:2",
        "after_commit:2",
        "after_work:3",
        "before_release:1",
    ] {
        killed += i32::from(run(Some(&format!("{stop}:kill"))).code.is_none());
        assert_eq!(db.client.value::<i64>(half).await, 0, "{stop}");
        while !db.client.value::<bool>(free).await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    assert!(killed >= 5, "{killed} were killed");
    run(None).json();
    assert_eq!((embedded(&db).await.len(), due(&db).await.len()), (30, 0));
}
