//! The lag of a job whose schedule changed: it counts from the change, in the gauge and in lists.

use super::hand::{Hand, beside, job};
use super::process::eventually;
use crate::harness::neo4j::{at, fresh};
use ebb_core::jobs::JobName;
use ebb_core::scheduler::record::record;
use ebb_core::scheduler::{Config, JobConfig};
use std::sync::Arc;

const HOUR_S: u64 = 3_600;

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_enabled_again_after_a_month_is_not_a_month_late() {
    let db = fresh().await;
    let service = db.service("[]");
    let with_decay = |enabled| {
        let mut jobs = [(); JobName::ALL.len()].map(|()| JobConfig { enabled: false, ..job(None) });
        jobs[JobName::Decay as usize] = JobConfig { enabled, ..job(None) };
        Config(jobs)
    };
    let (hand, dispatcher) = Hand::over(&db, with_decay(true));
    let recording = record(
        Arc::clone(&dispatcher.store),
        hand.clock.clone(),
        dispatcher.rhythms.subscribe(),
        hand.stop.clone(),
    );
    let recorded = async |schedule: &str| {
        eventually("the schedule is recorded", async || {
            hand.wake.look();
            let ledger = db.store.survey(&["decay"]).await.unwrap();
            ledger.jobs[0].schedule.as_deref() == Some(schedule)
        })
        .await;
    };
    let lag_s = || hand.meter.counts().jobs.get(&JobName::Decay).map_or(0, |counts| counts.lag.as_secs());
    let listed_s = async |hours| {
        let jobs = service.jobs(at(hours)).await.unwrap().jobs;
        jobs.iter().find(|found| found.job == JobName::Decay).unwrap().lag_seconds
    };
    let test = async {
        hand.until(&db, 0.9, "decay", 1).await;
        recorded("every 3600000 ms").await;
        hand.config.send_replace(Arc::new(with_decay(false)));
        recorded("disabled").await;

        // A month later. The timer of the job does not fire, so that it stays due.
        hand.clock.set(at(720.5));
        assert_eq!(
            listed_s(720.5).await,
            HOUR_S / 2,
            "from the occurrence that is due: when it changed is not known"
        );
        hand.config.send_replace(Arc::new(with_decay(true)));
        recorded("every 3600000 ms").await;
        assert_eq!(db.store.survey(&["decay"]).await.unwrap().jobs[0].since, Some(at(720.5)));
        hand.clock.set(at(723.5));
        eventually("the gauge counts from the first occurrence after the change", async || {
            hand.wake.look();
            lag_s() == 5 * HOUR_S / 2
        })
        .await;
        assert_eq!(listed_s(723.5).await, 5 * HOUR_S / 2);

        // The same again changes nothing.
        let schedules = [("decay", "every 3600000 ms".to_owned())];
        assert_eq!(db.store.record_schedules(&schedules, at(800.0)).await.unwrap(), 0);
    };
    beside(
        &hand,
        dispatcher,
        Box::pin(async {
            tokio::join!(recording, async {
                test.await;
                hand.stop.cancel();
            });
        }),
    )
    .await;
}
