//! A dispatcher in the hand of a test: it looks when it is told to, by a clock that the test moves, and the test fires
//! in place of the timers.

use super::process::eventually;
use crate::harness::neo4j::{Fresh, at};
use ebb_core::clock::Clock;
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::dispatcher::Dispatcher;
use ebb_core::scheduler::due::Rhythm;
use ebb_core::scheduler::meter::Meter;
use ebb_core::scheduler::panics::Panics;
use ebb_core::scheduler::wake::Wake;
use ebb_core::scheduler::{Config, JobConfig};
use ebb_core::store::Store;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Occurrences as the ledger has them, newest first.
pub(super) async fn ledger(db: &Fresh, job: &str) -> Vec<(String, String)> {
    let runs = db.store.runs(Some(job), 100).await.unwrap();
    runs.into_iter().map(|run| (run.occurrence, run.state)).collect()
}

/// A job that runs at this rhythm; `None` leaves it to the graph.
pub(super) fn job(rhythm: Option<Rhythm>) -> JobConfig {
    JobConfig { enabled: true, rhythm, jitter: Duration::ZERO, time_limit: Duration::from_secs(60) }
}

/// A dispatcher that looks when it is told to, by a clock that a test moves.
pub(super) struct Hand {
    pub(super) clock: Clock,
    pub(super) wake: Wake,
    pub(super) stop: CancellationToken,
    pub(super) meter: Arc<Meter>,
    pub(super) config: watch::Sender<Arc<Config>>,
}

impl Hand {
    pub(super) fn over(db: &Fresh, config: Config) -> (Self, Dispatcher) {
        let (config, schedules) = watch::channel(Arc::new(config));
        let hand = Self {
            clock: Clock::manual(at(0.0)),
            wake: Wake::default(),
            stop: CancellationToken::new(),
            meter: Arc::new(Meter::default()),
            config,
        };
        let dispatcher = Dispatcher {
            store: Arc::new(Store::connect(&db.config).unwrap()),
            clock: hand.clock.clone(),
            config: schedules,
            rhythms: watch::channel(Arc::default()).0,
            wake: hand.wake.clone(),
            stop: hand.stop.clone(),
            meter: Arc::clone(&hand.meter),
            panics: Arc::new(Panics::default()),
            recovery: Arc::default(),
            request: Request::default(),
            on_scratch: false,
        };
        (hand, dispatcher)
    }

    /// Moves the clock, and fires all jobs up to then.
    pub(super) fn move_to(&self, hours: f64) {
        self.clock.set(at(hours));
        for job in JobName::ALL {
            self.wake.fire(job, at(hours));
        }
    }

    /// Moves the clock and waits until a job has that many occurrences in the ledger, all of them over.
    pub(super) async fn until(&self, db: &Fresh, hours: f64, job: &str, runs: usize) {
        self.move_to(hours);
        self.until_done(db, job, runs).await;
    }

    /// Waits until a job has that many occurrences in the ledger, all of them over.
    pub(super) async fn until_done(&self, db: &Fresh, job: &str, runs: usize) {
        eventually("the job has run", async || {
            self.wake.look();
            let ledger = ledger(db, job).await;
            ledger.len() >= runs && ledger.iter().all(|(_, state)| state == "done")
        })
        .await;
    }
}

/// Runs a dispatcher beside what a test does with it, and stops it then.
pub(super) async fn beside(hand: &Hand, dispatcher: Dispatcher, test: impl Future<Output = ()>) {
    let test = async {
        test.await;
        hand.stop.cancel();
    };
    let (ended, ()) = tokio::join!(Box::pin(dispatcher.work()), test);
    ended.unwrap();
}
