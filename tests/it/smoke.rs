//! Smoke.
use crate::harness::neo4j::{at, fresh};
use ebb::domain::attempt::Right;
use ebb::domain::event::{Access, Event, Remember};
use ebb::domain::ids::*;
use ebb::domain::memory::Revive;
use ebb::jobs::{JobName, Request};
use ebb::scheduler::driver::{Wanted, run_job};
use ebb::store::Batch;

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_lives() {
    let db = fresh().await;
    let t = db.store.tunables().await.unwrap();
    let id = MemoryId::new("m-1").unwrap();
    let events = vec![
        Event::Remember(Remember {
            at: at(0.0),
            id: id.clone(),
            scope: Scope::local(),
            content: "hello".into(),
            session: Some(SessionId::new("s").unwrap()),
            instance: None,
            mentions: vec![EntityName::new("Dana").unwrap()],
            pinned: false,
        }),
        Event::Access(Access {
            at: at(0.1),
            id: id.clone(),
            scope: None,
            session: Some(SessionId::new("s").unwrap()),
            revive: Revive::Yes,
        }),
        Event::Access(Access {
            at: at(0.2),
            id: id.clone(),
            scope: None,
            session: Some(SessionId::new("s").unwrap()),
            revive: Revive::Yes,
        }),
    ];
    let b = Batch { events: &events, tunables: &t };
    for _ in 0..2 {
        println!("{:?}", db.store.apply_request("r1", "h", at(0.2), b).await.unwrap());
    }
    for job in JobName::ALL {
        let t0 = std::time::Instant::now();
        println!(
            "{:?}",
            run_job(&db.store, job, &Wanted::scheduled(at(1.0), Right::Lease), Request::default())
                .await
                .unwrap()
        );
        println!("{:?}", t0.elapsed());
        println!(
            "{:?}",
            run_job(&db.store, job, &Wanted::by_hand(at(1.0), Right::Lease), Request::default())
                .await
                .unwrap()
        );
    }
    println!("{:?}", db.store.memories(&["m-1".into()]).await.unwrap());
    println!("{:?}", db.store.history("m-1").await.unwrap());
    for (q, ..) in ebb::store::Store::questions() {
        println!("{q}: {:?}", db.store.inspect(q).await.unwrap());
    }
    println!("{:?}", db.store.drift().await.unwrap());
    for i in 0..20 {
        let t0 = std::time::Instant::now();
        run_job(
            &db.store,
            JobName::Promote,
            &Wanted::by_hand(at(1.0 + i as f64), Right::Lease),
            Request::default(),
        )
        .await
        .unwrap();
        println!("{:?}", t0.elapsed());
    }
    println!(
        "{:?}",
        db.store.end_session(&Scope::local(), &SessionId::new("s").unwrap(), at(2.0), 1.5, &t).await.unwrap()
    );
    println!("{:?}", db.store.forget(&id, at(2.0)).await.unwrap());
    println!("{:?}", db.store.apply_request("r2", "h", at(0.2), b).await.unwrap());
    println!("{:?}", db.store.counters());
}
