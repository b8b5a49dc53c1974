//! Occurrences: run once over all workers, caught up once, taken over when their worker is gone.

use super::hand::{Hand, beside, job, ledger};
use super::process::{Worker, eventually, free_port};
use crate::harness::neo4j::{START, at, fresh};
use crate::harness::rows::{ripe, row};
use ebb_core::domain::attempt::Right;
use ebb_core::jobs::JobName;
use ebb_core::scheduler::calendar::{Pattern, Zone};
use ebb_core::scheduler::due::Rhythm;
use ebb_core::scheduler::{Config, JobConfig};
use std::sync::Arc;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn a_week_of_downtime_is_one_catch_up_run_for_each_job() {
    let db = fresh().await;
    db.put(&[row("m", "longTerm", 8.0)]).await;
    let (hand, dispatcher) = Hand::over(&db, Config([(); JobName::ALL.len()].map(|()| job(None))));
    beside(
        &hand,
        dispatcher,
        Box::pin(async {
            hand.until(&db, 0.5, "decay", 1).await;
            hand.until(&db, 0.5, "promote", 1).await;
            hand.until(&db, 1.5, "decay", 2).await;
            hand.until(&db, 1.5, "promote", 2).await;
            // The workers are away for a week but for its first hours.
            hand.until(&db, 160.25, "decay", 3).await;
            hand.until(&db, 160.25, "promote", 3).await;
        }),
    )
    .await;
    let occurrences = |job| async move {
        let ledger = ledger(&db, job).await;
        (ledger.into_iter().map(|(at, _)| at).collect::<Vec<_>>(), db)
    };
    let (decay, db) = occurrences("decay").await;
    assert_eq!(decay, ["2026-01-07T16:00:00.000Z", "2026-01-01T01:00:00.000Z", "2026-01-01T00:00:00.000Z"]);
    let promote: Vec<String> = ledger(&db, "promote").await.into_iter().map(|(at, _)| at).collect();
    assert_eq!(promote, ["2026-01-07T16:10:00.000Z", "2026-01-01T01:30:00.000Z", "2026-01-01T00:30:00.000Z"]);
    let counts = hand.meter.counts();
    assert_eq!(counts.jobs[&JobName::Decay].missed, 158, "hours between 1 and 160, neither counted");
    // Ten minutes between 00:30 and 01:30, and between 01:30 and 160:10.
    assert_eq!(counts.jobs[&JobName::Promote].missed, 5 + 951);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scratch_database_keeps_its_own_time() {
    let db = fresh().await;
    db.store.claim_scratch("work").await.unwrap();
    db.store.advance_scratch(at(1.0)).await.unwrap();
    db.put(&[row("m", "longTerm", 8.0)]).await;
    let api = format!("127.0.0.1:{}", free_port());
    let worker = Worker::serve(&db.config, &[("EBB__HTTP__LISTEN", &api)]);
    worker.ready().await;
    eventually("it says so", async || worker.log().contains("the time of this database is simulated")).await;
    let status = || -> serde_json::Value {
        let mut status = ureq::get(format!("http://{api}/v1/status")).call().unwrap();
        status.body_mut().read_json().unwrap()
    };
    assert_eq!(status()["at"], "2026-01-01T01:00:00.000Z");
    assert_eq!(status()["unscheduled"], ebb_core::scheduler::dispatcher::UNSCHEDULED);
    drop(worker);
    assert_eq!(ledger(&db, "decay").await, []);

    // The same worker would have begun with a run of each job.
    let variables = [("EBB__WORKER__ON_SCRATCH", "true"), ("EBB__HTTP__LISTEN", &api)];
    let told = Worker::serve(&db.config, &variables);
    eventually("it runs jobs", async || !ledger(&db, "decay").await.is_empty()).await;
    assert_eq!(status()["unscheduled"], serde_json::Value::Null);
    drop(told);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schedule_in_the_graph_or_the_configuration_counts_from_the_next_look() {
    let db = fresh().await;
    let mut jobs = [(); JobName::ALL.len()].map(|()| JobConfig { enabled: false, ..job(None) });
    jobs[JobName::Decay as usize] = job(None);
    let (hand, dispatcher) = Hand::over(&db, Config(jobs.clone()));
    beside(
        &hand,
        dispatcher,
        Box::pin(async {
            hand.until(&db, 0.9, "decay", 1).await;
            let edit = "MATCH (c:ConsolidationConfig) SET c.decayIntervalMinutes = 30";
            db.client.run(edit, &[]).await;
            hand.until(&db, 0.9, "decay", 2).await;
            // Half past two in Berlin, where the clocks skip that half past two.
            let pattern = Pattern::parse("30 2 * * *").unwrap();
            let zone = Zone::named("Europe/Berlin").unwrap();
            jobs[JobName::Decay as usize] = job(Some(Rhythm::Cron(Box::new(pattern), zone)));
            hand.config.send_replace(Arc::new(Config(jobs)));
            let the_night = 24.0 * 87.0;
            hand.until(&db, the_night + 0.9, "decay", 3).await;
            hand.until(&db, the_night + 1.1, "decay", 4).await;
        }),
    )
    .await;
    let occurrences: Vec<String> = ledger(&db, "decay").await.into_iter().map(|(at, _)| at).collect();
    let wanted = [
        "2026-03-29T01:00:00.000Z",
        "2026-03-28T01:30:00.000Z",
        "2026-01-01T00:30:00.000Z",
        "2026-01-01T00:00:00.000Z",
    ];
    assert_eq!(occurrences, wanted);
    assert_eq!(hand.meter.counts().jobs[&JobName::Decay].unfired, 0);
    assert_eq!(START, at(0.0).millis());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_due_job_starts_when_its_timer_fires() {
    let db = fresh().await;
    let (hand, dispatcher) = Hand::over(&db, Config([(); JobName::ALL.len()].map(|()| job(None))));
    beside(
        &hand,
        dispatcher,
        Box::pin(async {
            hand.until(&db, 0.0, "decay", 1).await;
            hand.until_done(&db, "promote", 1).await;
            hand.clock.set(at(1.1));
            hand.wake.fire(JobName::Promote, at(1.1));
            eventually("the occurrence is seen", async || {
                hand.wake.look();
                let counts = hand.meter.counts();
                counts.jobs.get(&JobName::Decay).is_some_and(|counts| !counts.lag.is_zero())
            })
            .await;
            hand.until_done(&db, "promote", 2).await;
            assert_eq!(ledger(&db, "decay").await.len(), 1, "its timer has not fired");
            hand.wake.fire(JobName::Decay, at(1.1));
            hand.until_done(&db, "decay", 2).await;
        }),
    )
    .await;
    assert_eq!(hand.meter.counts().jobs[&JobName::Decay].unfired, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_occurrence_that_comes_due_while_the_last_run_goes_waits_and_is_counted() {
    let db = fresh().await;
    let other = db.another();
    let opened = other.open_run("decay", "2026-01-01T00:00:00.000Z", at(0.0), "schedule", Right::Lease).await;
    let ebb_core::store::OpenedRun::Ours(run) = opened.unwrap() else { panic!("nobody holds it") };
    let (hand, dispatcher) = Hand::over(&db, Config([(); JobName::ALL.len()].map(|()| job(None))));
    beside(
        &hand,
        dispatcher,
        Box::pin(async {
            hand.move_to(1.0);
            eventually("the overlap is counted", async || {
                hand.wake.look();
                hand.meter.counts().jobs.get(&JobName::Decay).is_some_and(|counts| counts.overlaps == 1)
            })
            .await;
            assert_eq!(ledger(&db, "decay").await.len(), 1, "nothing was begun beside it");
            other.close_run(&run, ebb_core::domain::attempt::RunState::Done, false, None).await.unwrap();
            hand.until(&db, 1.0, "decay", 2).await;
        }),
    )
    .await;
    assert_eq!(hand.meter.counts().jobs[&JobName::Decay].overlaps, 1);
}

/// Whole weeks since 1970: an occurrence that no test meets twice, and that is always due for the first time.
const WEEKLY: [(&str, &str); 2] = [("EBB__JOBS__DECAY__EVERY", "7d"), ("EBB__JOBS__PROMOTE__EVERY", "7d")];

#[tokio::test(flavor = "multi_thread")]
async fn two_workers_share_one_occurrence() {
    let db = fresh().await;
    db.put(&(0..300).map(|n| ripe(&format!("m{n:03}"))).collect::<Vec<_>>()).await;
    let workers = [Worker::on(&db, &WEEKLY), Worker::on(&db, &WEEKLY)];
    for worker in &workers {
        worker.ready().await;
    }
    for job in ["decay", "promote"] {
        eventually("the job has run", async || {
            let ledger = ledger(&db, job).await;
            !ledger.is_empty() && ledger.iter().all(|(_, state)| state == "done")
        })
        .await;
    }
    // Both have looked again since.
    for worker in &workers {
        let looks = || worker.metric("ebb_schedule_lag_seconds", "");
        eventually("nothing is due", async || looks() == 0).await;
    }
    for job in ["decay", "promote"] {
        let label = format!("job=\"{job}\",outcome=\"done\"");
        assert_eq!(ledger(&db, job).await.len(), 1, "{job}");
        let runs = || workers.iter().map(|worker| worker.metric("ebb_runs_total", &label)).sum::<u64>();
        eventually("one of them counts it", async || runs() == 1).await;
    }
    let risen: i64 = db.client.value("MATCH ()-[p:PROMOTED_TO]->() RETURN count(p) AS n").await;
    assert_eq!(risen, 300);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_run_is_finished_whatever_the_schedule_says() {
    let db = fresh().await;
    db.put(&[row("m", "working", 1.0)]).await;
    let dead = db.leasing(Duration::from_millis(200));
    dead.open_run("decay", "2026-01-01T01:00:00.000Z", at(1.0), "schedule", Right::Lease).await.unwrap();
    let off = [("EBB__JOBS__DECAY__ENABLED", "false"), ("EBB__JOBS__PROMOTE__ENABLED", "false")];
    let worker = Worker::on(&db, &off);
    eventually("the run is over", async || {
        ledger(&db, "decay").await == [("2026-01-01T01:00:00.000Z".to_owned(), "done".to_owned())]
    })
    .await;
    eventually("it is counted", async || worker.metric("ebb_adopted_runs_total", "decay") == 1).await;
    assert_eq!(ledger(&db, "promote").await, []);
}
