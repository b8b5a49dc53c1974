//! Runs: one for each occurrence, held by one program at a time, finished by another if that one dies.

use crate::harness::ebb::{by_hand, close, together};
use crate::harness::graph::{everything, same};
use crate::harness::neo4j::{at, fresh};
use crate::harness::rows::{Row, ripe, row};
use ebb_core::api::job::JobRunRequest;
use ebb_core::domain::attempt::{Right, RunState};
use ebb_core::domain::tier::Tier;
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::{Outcome, Wanted, finish_open, run_job};
use ebb_core::service::memories::RequestId;
use ebb_core::store::{DecayCursor, Error, OpenedRun, PageMode};
use std::num::NonZeroU64;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread")]
async fn a_stale_holder_writes_nothing() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    let rows: Vec<Row> = (0..20).map(|n| row(&format!("m{n:02}"), "working", 1.0)).collect();
    db.put(&rows).await;
    let (a, b) = (&db.store, db.another());
    let open = async |store: &ebb_core::store::Store, right| {
        store.open_run("decay", "2026-01-01T01:00:00.000Z", at(1.0), "schedule", right).await.unwrap()
    };
    let OpenedRun::Ours(mut stale) = open(a, Right::Lease).await else { panic!("nobody holds it") };
    let mut cursor = DecayCursor::default();
    assert_eq!(a.decay(&mut stale, &tunables, &mut cursor, PageMode::Rows(5)).await.unwrap(), 5);
    let OpenedRun::Held { .. } = open(&b, Right::Lease).await else { panic!("its lease lasts") };
    let OpenedRun::Ours(run) = open(&b, Right::Scratch).await else { panic!("taken by right") };
    assert_eq!(run.now, at(1.0));

    let before = everything(&db.client).await;
    let late = a.decay(&mut stale, &tunables, &mut cursor, PageMode::Rows(5)).await.unwrap_err();
    assert!(matches!(&late, Error::Fenced(why) if why.contains("ebb job history decay")), "{late}");
    let late = a.close_run(&stale, RunState::Done, false, None).await.unwrap_err();
    assert!(matches!(late, Error::Fenced(_)), "{late}");
    same(&before, &everything(&db.client).await, "what a stale holder left");

    let mut run = run;
    assert_eq!(
        b.decay(&mut run, &tunables, &mut DecayCursor::default(), PageMode::Rows(100)).await.unwrap(),
        20
    );
    let tally = b.close_run(&run, RunState::Done, false, None).await.unwrap();
    assert_eq!((tally.scanned, tally.changed), (25, 20), "the run remembers what both of its holders did");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_held_job_is_skipped_and_says_who_holds_it() {
    let db = fresh().await;
    db.put(&[row("m", "working", 1.0)]).await;
    let other = db.another();
    other.open_run("decay", "manual/busy", at(1.0), "manual", Right::Lease).await.unwrap();
    let before = everything(&db.client).await;
    for wanted in [Wanted::by_hand(at(2.0), Right::Lease), Wanted::scheduled(at(2.0), Right::Lease)] {
        let report = run_job(&db.store, JobName::Decay, &wanted, Request::default()).await.unwrap();
        assert_eq!((report.outcome, report.run_id, report.tally.changed), (Outcome::Skipped, None, 0));
        assert!(report.reason.unwrap().contains("manual/busy"));
    }
    same(&before, &everything(&db.client).await, "a job that was skipped");
    assert_eq!(db.run(JobName::Promote, 2.0).await.outcome, Outcome::Done, "another job is not held");
}

/// A worker's jobs and those that requests ask for are one program, and do not take from each other.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_program_works_on_is_not_its_own_to_take() {
    let db = fresh().await;
    let open = async |occurrence: &str| {
        db.store.open_run("decay", occurrence, at(1.0), "manual", Right::Lease).await.unwrap()
    };
    let is_left = async || db.store.survey(&["decay"]).await.unwrap().jobs[0].open.as_ref().unwrap().ours;
    let OpenedRun::Ours(run) = open("manual/a").await else { panic!("nobody holds it") };
    let OpenedRun::Held { occurrence, .. } = open("manual/b").await else { panic!("it is worked on") };
    assert_eq!(occurrence, "manual/a");
    assert!(!is_left().await, "a dispatcher leaves it alone");
    assert_eq!(db.store.take_open_run("decay", Right::Lease).await.unwrap(), None);
    drop(run);
    assert!(is_left().await, "whoever worked on it is gone");
    let OpenedRun::Predecessor(left) = open("manual/b").await else { panic!("it was left behind") };
    assert_eq!(left.occurrence, "manual/a");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_run_is_finished_with_its_own_now() {
    let db = fresh().await;
    db.put(&[row("m", "working", 0.15), row("n", "working", 8.0)]).await;
    let dead = db.leasing(Duration::from_millis(200));
    dead.open_run("decay", "2026-01-01T01:00:00.000Z", at(1.0), "schedule", Right::Lease).await.unwrap();
    db.leases_are_over().await;

    let report = by_hand(&db.store, JobName::Decay, 3.0).await;

    assert_eq!((report.outcome, report.now, report.tally.expired), (Outcome::Done, at(3.0), 0));
    let expired: i64 = db.client.value("MATCH (m {id: 'm'}) RETURN m.lastExpired.epochMillis AS at").await;
    assert_eq!(expired, at(1.0).millis(), "the first run's instant dates what fell below by then");
    let life = db.state("m").await;
    assert_eq!(life.tier, Tier::ExpiredWorking);
    close(life.energy.value(), 0.15 * (-0.5_f64).exp());
    close(db.state("n").await.energy.value(), 8.0 * (-1.5_f64).exp());
    let runs = db.store.runs(Some("decay"), 10).await.unwrap();
    let told: Vec<_> = runs.iter().map(|run| (run.state.as_str(), run.now, run.tally.expired)).collect();
    assert_eq!(told, [("done", Some(at(3.0).millis()), 0), ("done", Some(at(1.0).millis()), 1)]);
}

/// An open run that lost the name of its occurrence can be taken by nobody, and is in nobody's way.
#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_run_holds_up_no_other() {
    let db = fresh().await;
    db.put(&[row("m", "working", 1.0)]).await;
    for occurrence in ["null", "7"] {
        let damaged = format!(
            "CREATE (:EbbRun {{job: 'decay', occurrence: {occurrence}, state: 'open', holder: 'gone', leaseUntil: 0, fence: 1, batch: 0, now: datetime()}})"
        );
        db.client.run(&damaged, &[]).await;
    }
    assert_eq!(db.run(JobName::Decay, 1.0).await.tally.changed, 1);
    assert!(
        finish_open(&db.store, JobName::Decay, Right::Lease, Request::default()).await.unwrap().is_none()
    );
    assert!(db.store.open_runs().await.unwrap().is_empty());
    db.store.survey(&["decay"]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_run_can_be_finished_without_asking_for_another() {
    let db = fresh().await;
    db.put(&[row("m", "working", 1.0)]).await;
    assert_eq!(
        finish_open(&db.store, JobName::Decay, Right::Scratch, Request::default()).await.unwrap(),
        None
    );
    let dead = db.another();
    dead.open_run("decay", "2026-01-01T01:00:00.000Z", at(1.0), "schedule", Right::Lease).await.unwrap();
    assert_eq!(
        finish_open(&db.store, JobName::Decay, Right::Lease, Request::default()).await.unwrap(),
        None,
        "its lease lasts"
    );
    let report =
        finish_open(&db.store, JobName::Decay, Right::Scratch, Request::default()).await.unwrap().unwrap();
    assert_eq!((report.now, report.tally.changed), (at(1.0), 1));
    assert_eq!(db.store.runs(None, 10).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_occurrence_happens_once_and_runs_by_hand_do_not_count() {
    let db = fresh().await;
    db.put(&[row("m", "working", 1.0)]).await;
    let jobs = || ["decay", "promote"];
    db.run(JobName::Decay, 1.5).await;
    assert_eq!(db.store.last_runs(jobs()).await.unwrap(), [None, None], "by hand");
    let wanted = Wanted::scheduled(at(2.0), Right::Lease);
    let report = run_job(&db.store, JobName::Decay, &wanted, Request::default()).await.unwrap();
    assert_eq!((report.outcome, report.tally.changed), (Outcome::Done, 1));
    db.run(JobName::Decay, 3.0).await;
    assert_eq!(db.store.last_runs(jobs()).await.unwrap(), [Some(at(2.0)), None]);
    let [Some(latest), None] = db.store.latest_runs(jobs()).await.unwrap() else { panic!("decay alone ran") };
    assert_eq!((latest.trigger.as_str(), latest.state.as_str()), ("manual", "done"));

    let before = everything(&db.client).await;
    let again = run_job(&db.store, JobName::Decay, &wanted, Request::default()).await.unwrap();
    assert_eq!(again.outcome, Outcome::Skipped);
    assert_eq!(again.reason.unwrap(), "this occurrence is over already: done");
    same(&before, &everything(&db.client).await, "an occurrence that is over");
    let triggers: Vec<String> =
        db.store.runs(None, 10).await.unwrap().into_iter().map(|run| run.trigger).collect();
    assert_eq!(triggers, ["manual", "schedule", "manual"]);
}

/// A repeat within the retention of requests is the same run with the same report; one after it is another run, although
/// runs are kept for longer than requests.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_a_run_is_new_after_its_retention() {
    let db = fresh().await;
    db.put(&["a", "b", "c"].map(ripe)).await;
    let service = db.service("[]");
    let asked = JobRunRequest { limit: NonZeroU64::new(1), ..JobRunRequest::default() };
    let run = async |hours: f64| {
        let nightly = RequestId::or_new("test", Some("nightly"));
        let stop = CancellationToken::new();
        service.run_job_once(&nightly, JobName::Promote, at(hours), &asked, stop).await.unwrap()
    };
    let first = run(1.0).await;
    assert!(first.truncated && first.due_left > 0, "{first:?}");
    assert_eq!(run(2.0).await, first);
    db.client.run("MATCH (r:EbbRun) SET r.reason = 'the embedder rests'", &[]).await;
    assert_eq!(run(2.0).await.reason.as_deref(), Some("the embedder rests"));

    db.client.run("MATCH (r:EbbRequest) SET r.at = r.at - duration({hours: 23})", &[]).await;
    assert_eq!(run(3.0).await.run_id, first.run_id);
    db.client.run("MATCH (r:EbbRequest) SET r.at = r.at - duration({hours: 2})", &[]).await;
    let second = run(4.0).await;
    assert_ne!(second.run_id, first.run_id);
    assert_eq!((second.now, second.tally.promoted), (at(4.0), 1));
    assert_eq!(run(5.0).await, second);
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_programs_ask_for_one_occurrence_and_one_works() {
    let db = fresh().await;
    let rows: Vec<Row> = (0..500).map(|n| row(&format!("m{n:03}"), "working", 1.0)).collect();
    db.put(&rows).await;
    let reports = together((0..8).map(|_| {
        let store = db.another();
        async move {
            let wanted = Wanted::scheduled(at(1.0), Right::Lease);
            run_job(&store, JobName::Decay, &wanted, Request::default()).await.unwrap()
        }
    }))
    .await;
    let worked: Vec<_> = reports.iter().filter(|report| report.outcome == Outcome::Done).collect();
    assert_eq!((worked.len(), worked[0].tally.changed), (1, 500));
}
