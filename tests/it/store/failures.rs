//! Failures that a real server cannot be brought to at will, from one that answers by a script: how often the store tries,
//! how soon it gives up, and what it says of a commit that nobody can settle.

use crate::harness::ebb::remember;
use crate::harness::fake_bolt::{Answer, Cell, FakeBolt, HELLO};
use crate::harness::proxy::{BEGIN, COMMIT, RUN};
use crate::harness::random::Random;
use ebb_core::domain::event::Event;
use ebb_core::domain::tunables::ConsolidationConfig;
use ebb_core::store::{Batch, BatchOutcome, Config, Error, EventEffect, Refusal, Store};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const TRANSIENT: Answer =
    Answer::Failure("Neo.TransientError.Transaction.DeadlockDetected", "a deadlock, by the script");

fn store(server: &FakeBolt) -> Store {
    store_at(server.uri())
}

fn store_at(uri: String) -> Store {
    Store::connect(&Config {
        uri,
        username: "neo4j".to_owned(),
        password: "any".to_owned().into(),
        database: "neo4j".to_owned(),
        connections: 2,
        acquire_timeout: Duration::from_secs(5),
        lease: Duration::from_secs(15),
        similarity: ebb_core::domain::similarity::Similarity {
            dimensions: None,
            text_threshold: 0.5,
            model: None,
        },
        fading: ebb_core::domain::relation::Fading::new(90.0, 0.10).unwrap(),
        pins: ebb_core::domain::relation::Pins::default(),
        regime: crate::harness::ebb::regime(),
        retention: crate::harness::ebb::retention(),
        mappings: Vec::new(),

        trails: crate::harness::neo4j::trails(),
    })
    .unwrap()
}

/// A request without events: its receipt is all that it reads and writes.
async fn request(store: &Store) -> Result<BatchOutcome, Error> {
    let tunables = ConsolidationConfig::DOCUMENTED.check().unwrap();
    store
        .apply_request(
            ebb_core::store::RequestMode::Once { request: "r", hash: "h", by: "test" },
            None,
            Batch { events: &[], tunables: &tunables },
            |_| Vec::new(),
        )
        .await
        .map(|(applied, ..)| applied)
}

/// The receipt of a request, as it is looked up (`None` while it was not answered) or recorded.
fn receipt(answer: Option<&str>) -> Answer {
    Answer::Row(vec![
        ("hash", Cell::Text(Some("h".to_owned()))),
        ("answer", Cell::Text(answer.map(str::to_owned))),
        ("at", Cell::Number(0)),
        ("isRepeat", Cell::Truth(false)),
    ])
}

/// What the script says at every statement: the receipt of a request that is new.
fn new_request(tag: u8) -> Answer {
    if tag == RUN { receipt(None) } else { Answer::Success }
}

#[tokio::test(flavor = "multi_thread")]
async fn transient_errors_are_tried_again_eight_times_at_most() {
    let random = Mutex::new(Random::seeded(0xfa17));
    let server = FakeBolt::start(move |tag, _| {
        let hurt = [BEGIN, RUN, COMMIT].contains(&tag) && random.lock().unwrap().unit() < 0.3;
        if hurt { TRANSIENT } else { new_request(tag) }
    })
    .await;
    let store = store(&server);
    let (mut passed, mut given_up) = (0, 0);
    for _ in 0..40 {
        let before = server.seen(BEGIN);
        match request(&store).await {
            Ok(_) => passed += 1,
            Err(why) => {
                assert!(matches!(why, Error::Query { .. }), "{why}");
                given_up += 1;
                assert_eq!(
                    server.seen(BEGIN) - before,
                    8,
                    "it is given up after the eighth try and not before"
                );
            }
        }
        assert!(server.seen(BEGIN) - before <= 8);
    }
    assert!(
        passed > given_up && store.counters().retried.load(Ordering::Relaxed) > 20,
        "{passed}, {given_up}"
    );
}

/// The third statement of a ledger reads the tunables.
#[tokio::test(flavor = "multi_thread")]
async fn tunables_that_could_not_be_read_are_read_again_and_not_called_invalid() {
    let server = FakeBolt::start(|tag, nth| match (tag, nth) {
        (RUN, 2) => TRANSIENT,
        _ => Answer::Success,
    })
    .await;
    let store = store(&server);
    store.configure_tunables(&ConsolidationConfig::DOCUMENTED);
    let ledger = store.ledger(&["decay"]).await.unwrap();
    assert_eq!((server.seen(BEGIN), server.seen(RUN)), (2, 6));
    let stopped = ledger.stopped.unwrap();
    assert!(stopped.contains("no ConsolidationConfig node"), "that of the second try: {stopped}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permanent_error_is_said_at_once() {
    let server = FakeBolt::start(|tag, _| match tag {
        RUN => Answer::Failure("Neo.ClientError.Statement.SyntaxError", "by the script"),
        _ => Answer::Success,
    })
    .await;
    let began = Instant::now();
    let why = request(&store(&server)).await.unwrap_err();
    assert!(matches!(why, Error::Query { .. }), "{why}");
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    assert_eq!((server.seen(BEGIN), server.seen(RUN)), (2, 2), "it might be a repeat, and is looked up once");
}

/// A member of a cluster forwards transactions to the leader if its client lets it route, and answers so during an election;
/// without that, it would answer so for ever.
#[tokio::test(flavor = "multi_thread")]
async fn an_election_is_waited_for_where_the_server_routes() {
    let no_leader = |tag, nth| match (tag, nth) {
        (RUN, 0 | 1) => Answer::Failure("Neo.ClientError.Cluster.NotALeader", "by the script"),
        _ => new_request(tag),
    };
    let server = FakeBolt::start(no_leader).await;
    request(&store_at(server.routed_uri())).await.unwrap();
    assert_eq!(server.seen(BEGIN), 3);
    assert!(server.last_names(HELLO, "routing"));
    assert!(!server.last_names(BEGIN, "mode"), "a transaction that is no write would be run by a follower");

    let server = FakeBolt::start(no_leader).await;
    let why = request(&store(&server)).await.unwrap_err();
    assert_eq!((why.refusal(), server.seen(BEGIN)), (Some(Refusal::ReadOnly), 1), "{why}");
    assert!(!server.last_names(HELLO, "routing"));
}

/// The message of a transaction that was ended by somebody may come under a permanent code: one more try, not eight.
#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_was_terminated_is_tried_once_more() {
    let server = FakeBolt::start(|tag, _| match tag {
        RUN => {
            Answer::Failure("Neo.ClientError.Transaction.Terminated", "The transaction has been terminated.")
        }
        _ => Answer::Success,
    })
    .await;
    assert!(request(&store(&server)).await.is_err());
    assert_eq!(server.seen(BEGIN), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_commit_that_landed_is_not_done_again() {
    let server = FakeBolt::start(|tag, before| match (tag, before) {
        (COMMIT, 0) => Answer::Close,
        // The second transaction finds the receipt of the first.
        (RUN, 1) => receipt(Some(r#"["created"]"#)),
        // What it committed is named by the time of the server.
        (RUN, 2) => Answer::Row(vec![("now", Cell::Number(0))]),
        _ => new_request(tag),
    })
    .await;
    let store = store(&server);
    let applied = request(&store).await.unwrap();
    assert!(
        matches!(applied, BatchOutcome::Written(done) if done == [EventEffect::Created]),
        "what the receipt says"
    );
    assert_eq!(store.counters().unknown_commits.load(Ordering::Relaxed), 1);
    assert_eq!(server.seen(RUN), 3, "one statement, then the receipt and the time alone");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_commit_that_was_lost_is_done_again() {
    let server = FakeBolt::start(|tag, before| match (tag, before) {
        (COMMIT, 0) => Answer::Close,
        _ => new_request(tag),
    })
    .await;
    let store = store(&server);
    request(&store).await.unwrap();
    assert_eq!(store.counters().unknown_commits.load(Ordering::Relaxed), 1);
    assert_eq!(
        (server.seen(RUN), server.seen(COMMIT)),
        (3, 2),
        "the receipt is looked up, and the statement once more"
    );
}

/// Nobody is there to settle it: it is told as unknown, and the work was sent once.
#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_commit_that_nobody_settles_is_said_to_be_unknown() {
    let server = FakeBolt::start(|tag, _| match tag {
        COMMIT => Answer::Vanish,
        tag => new_request(tag),
    })
    .await;
    let store = store(&server);
    let why = request(&store).await.unwrap_err();
    assert!(matches!(why, Error::OutcomeUnknown { .. }), "{why}");
    assert_eq!((server.seen(BEGIN), server.seen(RUN)), (1, 1), "the statement was seen once");
}

/// A request that shares a transaction, whose commit may have landed, and a server that refuses all writes from then on: the refusal
/// says nothing of the first transaction.
#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_commit_of_a_shared_transaction_stays_unknown_where_the_next_is_refused() {
    let server = FakeBolt::start(|tag, before| match (tag, before) {
        (COMMIT, 0) => Answer::Close,
        // The fourth statement of a new memory records its request.
        (RUN, 3) => receipt(None),
        (RUN, 4..) => {
            Answer::Failure("Neo.ClientError.General.WriteOnReadOnlyAccessDatabase", "by the script")
        }
        _ => Answer::Success,
    })
    .await;
    let store = store(&server);
    let tunables = ConsolidationConfig::DOCUMENTED.check().unwrap();
    let events = [Event::Remember(remember("m", 0.0))];
    let once = ebb_core::store::RequestMode::Once { request: "r", hash: "h", by: "test" };
    let batch = Batch { events: &events, tunables: &tunables };
    let why = store
        .apply_request(once, None, batch, |_| Vec::new())
        .await
        .map(|(applied, ..)| applied)
        .unwrap_err();
    assert_eq!((server.seen(COMMIT), store.counters().unknown_commits.load(Ordering::Relaxed)), (1, 1));
    assert!(matches!(why, Error::OutcomeUnknown { .. }), "{why}");
}
