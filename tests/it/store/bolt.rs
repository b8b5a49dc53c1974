//! Every kind of message cut, delayed and sliced: whatever becomes of a connection, each request has its effect once.

use crate::harness::ebb::{access, remember};
use crate::harness::neo4j::{Fresh, fresh};
use crate::harness::proxy::{BEGIN, COMMIT, Cut, PULL, Proxy, ProxyFault, RESET, ROLLBACK, RUN};
use crate::harness::random::{Random, number_from_env};
use ebb_core::domain::event::Event;
use ebb_core::domain::tunables::Tunables;
use ebb_core::store::{Batch, BatchOutcome, Config, Error, Store};
use std::time::{Duration, Instant};

const KINDS: [(&str, u8); 6] = [
    ("BEGIN", BEGIN),
    ("RUN", RUN),
    ("PULL", PULL),
    ("COMMIT", COMMIT),
    ("ROLLBACK", ROLLBACK),
    ("RESET", RESET),
];

/// One connection, so that every transaction but the first checks it out anew.
fn through(db: &Fresh, proxy: &Proxy) -> Store {
    Store::connect(&Config { uri: proxy.uri(), connections: 1, ..db.config.clone() }).unwrap()
}

async fn ask(store: &Store, request: &str, event: Event, tunables: &Tunables) -> BatchOutcome {
    let events = [event];
    let batch = Batch { events: &events, tunables };
    store
        .apply_request(
            ebb_core::store::RequestMode::Once { request, hash: "h", by: "test" },
            None,
            batch,
            |_| Vec::new(),
        )
        .await
        .unwrap()
        .0
}

/// A memory is made and used, and something impossible is asked for, which is rolled back.
async fn three_requests(store: &Store, tunables: &Tunables) {
    assert!(matches!(
        ask(store, "make", Event::Remember(remember("m", 0.0)), tunables).await,
        BatchOutcome::Written(_)
    ));
    assert!(matches!(
        ask(store, "none", Event::Access(access("x", 1.0)), tunables).await,
        BatchOutcome::Rejected(_)
    ));
    assert!(matches!(
        ask(store, "use", Event::Access(access("m", 1.0)), tunables).await,
        BatchOutcome::Written(_)
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_of_message_cut_before_and_after_has_no_second_effect() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    let proxy = Proxy::before(&db.config.uri).await;
    for (kind, tag) in KINDS {
        for cut in [Cut::Before, Cut::After] {
            for how in [ProxyFault::Fin, ProxyFault::Rst] {
                db.clear().await;
                let cuts = proxy.cuts();
                let store = through(&db, &proxy);
                // One that was never reached is given up at once; this one has been.
                store.about().await.unwrap();
                proxy.hurt(cut, how, tag, 1);
                three_requests(&store, &tunables).await;
                assert_eq!(proxy.cuts(), cuts + 1, "there was a {kind} to cut");
                assert_eq!(db.state("m").await.access_count, 2, "{kind} cut {cut:?} with {how:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_many_seeded_faults_has_one_effect() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    let proxy = Proxy::before(&db.config.uri).await;
    let store = through(&db, &proxy);
    ask(&store, "make", Event::Remember(remember("m", 0.0)), &tunables).await;
    let mut random = Random::seeded(number_from_env("EBB_BOLT_SEED", 0xb017));
    let hows = [ProxyFault::Fin, ProxyFault::Rst, ProxyFault::Delay(Duration::from_millis(30))];
    let (mut faults, mut accesses, wanted) = (0, 0, number_from_env("EBB_BOLT_FAULTS", 100));
    while faults < wanted {
        // Nothing is rolled back here but by the server.
        let (_, tag) =
            random.pick(&KINDS.map(|kind| if kind.1 == ROLLBACK { ("COMMIT", COMMIT) } else { kind }));
        let (cut, how) = (random.pick(&[Cut::Before, Cut::After]), random.pick(&hows));
        let cuts = proxy.cuts();
        proxy.hurt(cut, how, tag, 1 + random.below(4));
        while proxy.cuts() == cuts {
            accesses += 1;
            ask(&store, &format!("use-{accesses}"), Event::Access(access("m", 1.0)), &tunables).await;
        }
        faults += 1;
        if faults % 1_000 == 0 {
            let counted = db.state("m").await.access_count;
            println!("{faults} faults in {accesses} requests; next seed {}", random.0);
            assert_eq!(counted, 1 + accesses, "{faults} faults in {accesses} requests");
        }
    }
    assert_eq!(db.state("m").await.access_count, 1 + accesses, "{faults} faults in {accesses} requests");
}

/// Whoever asked has lost patience with a server that fell silent, and asks again on another connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_was_given_up_and_repeated_counts_once() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    let proxy = Proxy::before(&db.config.uri).await;
    // In between, the request would wait until the server ends the transaction of a client that has vanished.
    for (cut, kind, tag) in [(Cut::Before, "BEGIN", BEGIN), (Cut::After, "COMMIT", COMMIT)] {
        db.clear().await;
        ask(&db.store, "make", Event::Remember(remember("m", 0.0)), &tunables).await;
        let store = through(&db, &proxy);
        let cuts = proxy.cuts();
        proxy.hurt(cut, ProxyFault::Silent, tag, 1);
        tokio::select! {
            _ = ask(&store, "use", Event::Access(access("m", 1.0)), &tunables) => panic!("{kind}: the server is silent"),
            () = async { while proxy.cuts() == cuts { tokio::time::sleep(Duration::from_millis(5)).await } } => {}
        }
        drop(store);
        ask(&db.store, "use", Event::Access(access("m", 1.0)), &tunables).await;
        assert_eq!(db.state("m").await.access_count, 2, "{kind} silent {cut:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_byte_by_byte_is_the_same() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    let proxy = Proxy::before(&db.config.uri).await;
    proxy.slice();
    three_requests(&through(&db, &proxy), &tunables).await;
    assert_eq!(db.state("m").await.access_count, 2);
    assert!(proxy.seen(RUN) > 0 && proxy.seen(ROLLBACK) > 0);
}

/// A peer that accepts a connection and says nothing more, at whichever byte of its greeting, holds nobody up for longer
/// than a connection may take to be had.
#[tokio::test(flavor = "multi_thread")]
async fn a_silent_peer_is_given_up() {
    let db = fresh().await;
    let proxy = Proxy::before(&db.config.uri).await;
    let limit = Duration::from_millis(300);
    for bytes in 0..8 {
        proxy.mute_after(Some(bytes));
        let config = Config { uri: proxy.uri(), acquire_timeout: limit, ..db.config.clone() };
        let store = Store::connect(&config).unwrap();
        let began = Instant::now();
        let why = store.about().await.unwrap_err();
        assert!(matches!(why, Error::Unavailable { .. }), "silent after {bytes} bytes: {why}");
        assert!(began.elapsed() < 10 * limit, "silent after {bytes} bytes: {:?}", began.elapsed());
    }
    proxy.mute_after(None);
    through(&db, &proxy).about().await.expect("a peer that speaks again");
}
