//! One of two workers has a wrong clock. It runs nothing, says so, and takes nothing from the other.

use super::process::{Worker, eventually};
use crate::harness::clocks::{
    ALLOWED_MS, ClockFault, WRONG_MS, doctor, misdated, refusal, server_ms, skew_ms,
};
use crate::harness::ebb::{access, close, remember};
use crate::harness::neo4j::{Fresh, fresh};
use ebb_core::domain::event::Event;
use ebb_core::domain::units::Timestamp;
use ebb_core::store::OpenRun;

/// Enough for a promotion of several leases: each ten of them are claimed together, and then the worker dozes.
const RIPE: usize = 120;
const DOZE: (&str, &str) = ("EBB_DOZE", "after_claim:400");

/// Two jobs, each second.
fn short() -> String {
    let others = ["audit", "coactivate", "cluster", "reinforce", "evaporate", "fade", "sweep", "learn"]
        .map(|job| format!("[jobs.{job}]\nenabled = false\n"));
    let each_second = "[jobs.decay]\nevery = \"1s\"\n[jobs.promote]\nevery = \"1s\"\n";
    format!("[worker]\nlease = \"2s\"\ntick = \"200ms\"\n{each_second}{}", others.concat())
}

/// Memories that may rise, made now.
async fn ripe(db: &Fresh, now: Timestamp) {
    let made = |n: usize| {
        Event::Remember(ebb_core::domain::event::Remember { at: now, ..remember(&format!("m{n}"), 0.0) })
    };
    let used = |n: usize| {
        Event::Access(ebb_core::domain::event::Access { at: now, ..access(&format!("m{n}"), 0.0) })
    };
    let events: Vec<Event> = (0..RIPE).flat_map(|n| [made(n), used(n), used(n), used(n)]).collect();
    db.apply(&events).await;
}

fn looks(worker: &Worker) -> u64 {
    worker.metric("ebb_failed_looks_total", "")
}

/// The open run of decay.
async fn decay(db: &Fresh) -> OpenRun {
    let mut open = db.store.open_runs().await.unwrap();
    open.retain(|run| run.job == "decay");
    assert_eq!(open.len(), 1, "{open:?}");
    open.remove(0)
}

async fn count(db: &Fresh, text: &str) -> i64 {
    db.client.value(&format!("{text} RETURN count(*) AS n")).await
}

/// It has begun no run, finished none and reaped nothing.
fn did_nothing(wrong: &Worker) {
    for metric in ["ebb_runs_total", "ebb_adopted_runs_total", "ebb_reaped_attempts_total"] {
        assert_eq!(wrong.metric(metric, ""), 0, "{metric}");
    }
}

async fn beside(how: &ClockFault, wrong_ms: i64) {
    let db = fresh().await;
    let began = server_ms(&db).await;
    let now = Timestamp::from_millis(began).unwrap();
    let variables = how.variables(wrong_ms);
    let set: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let wrong = Worker::begin(&db.config, &short(), &set);
    eventually("the wrong one says that it is", async || {
        wrong.page("/readyz").is_some_and(|(status, text)| status == 503 && text.contains(&refusal(wrong_ms)))
    })
    .await;
    let gauge = skew_ms(&wrong.page("/metrics").unwrap().1);
    assert!((gauge - wrong_ms as f64).abs() < ALLOWED_MS as f64, "{gauge} is not {wrong_ms}");

    ripe(&db, now).await;
    let right = Worker::begin(&db.config, &short(), &[DOZE]);
    let risen = "MATCH (m:Memory {tier: 'shortTerm'})";
    eventually("a run of the right one goes on", async || {
        count(&db, "MATCH (r:EbbRun {state: 'open', job: 'promote'})").await == 1
    })
    .await;
    let before = looks(&wrong);
    eventually("the right one promotes", async || count(&db, risen).await == RIPE as i64).await;
    eventually("it goes on", async || right.metric("ebb_runs_total", "decay\",outcome=\"done") >= 3).await;
    did_nothing(&wrong);
    eventually("the wrong one has looked", async || looks(&wrong) > before).await;
    for outcome in ["lost", "failed", "guarded", "panicked"] {
        assert_eq!(right.metric("ebb_runs_total", &format!("outcome=\"{outcome}\"")), 0, "{outcome}");
    }
    assert_eq!(count(&db, "MATCH (r:EbbRun) WHERE r.fence <> 1").await, 0, "no lease was taken");
    assert_eq!(count(&db, "MATCH (a:ConsolidationAttempt) WHERE a.state IN ['aborted', 'expired']").await, 0);
    assert_eq!(count(&db, "MATCH (:Memory)-[:PROMOTED_TO]->(:Memory)").await, RIPE as i64, "each rose once");

    // The law holds of what both have left.
    let state = db.state("m7").await;
    let mut used = access("m7", 0.0);
    used.at = Timestamp::from_millis(server_ms(&db).await).unwrap();
    let wanted = state.energy_now(used.at, &db.tunables().await).value() + 1.0;
    db.apply(&[Event::Access(used)]).await;
    close(db.state("m7").await.energy.value(), wanted);

    left_alone(&db, right, &wrong).await;
    let (clock, is_well) = doctor(&db, &variables, "clock");
    assert_eq!((&clock["level"], is_well), (&"problem".into(), false), "{clock}");
    assert_eq!(doctor(&db, &[], "clock").0["level"], "well");
    assert_eq!(doctor(&db, &[], "dates ahead").0["level"], "well");
    assert_eq!(misdated(&db, began).await, [""; 0]);
}

/// The right one is killed in the middle of a run. The wrong one does not take it, however long its lease is over; the next
/// right one does.
async fn left_alone(db: &Fresh, right: Worker, wrong: &Worker) {
    let mut left = remember("left", 0.0);
    left.at = Timestamp::from_millis(server_ms(db).await).unwrap();
    db.apply(&[Event::Remember(left)]).await;
    let lock = db.client.lock("left").await;
    eventually("its run waits", async || db.waits().await).await;
    drop(right);
    lock.rollback().await.unwrap();
    db.leases_are_over().await;
    let open = decay(db).await;
    let before = looks(wrong);
    eventually("the wrong one looks at it", async || looks(wrong) >= before + 3).await;
    let still = decay(db).await;
    assert_eq!((still.holder, still.fence), (open.holder, open.fence), "nobody took it");
    let next = Worker::begin(&db.config, &short(), &[]);
    let done = format!(
        "MATCH (r:EbbRun {{job: 'decay', occurrence: '{}', state: 'done'}}) WHERE r.fence = 2",
        open.occurrence
    );
    eventually("the next one finishes it", async || count(db, &done).await == 1).await;
    drop(next);
    did_nothing(wrong);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_whose_clock_is_set_wrong_runs_nothing_and_takes_nothing() {
    for wrong_ms in WRONG_MS {
        beside(&ClockFault::Injected, wrong_ms).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_on_a_machine_whose_clock_is_wrong_runs_nothing_and_takes_nothing() {
    let Some(faked) = ClockFault::faked("a worker under libfaketime") else { return };
    for wrong_ms in WRONG_MS {
        beside(&faked, wrong_ms).await;
    }
}
