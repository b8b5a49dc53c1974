//! The worker: a process that runs the jobs by their schedules, or answers over HTTP, or both; answers probes, and stops
//! in good order.
//!
//! It runs these loops over an open database: the dispatcher of jobs and its timers, the reaper of attempts, the probe of the database, the
//! mirrors, the recall guard, the watch on the configuration, and the listeners for requests, probes and metrics. Workers that share a database need
//! not know of each other.
//!
//! # Stopping
//! At SIGTERM or SIGINT `/readyz` answers 503, no run is started, and open runs stop after the current transaction and release
//! their leases, so that another worker continues at once; open requests are finished, new ones refused. All of this takes ten
//! seconds at most. A second signal ends the process at once, which is safe: uncommitted work is rolled back, and the lease
//! expires.
//!
//! # A database that is not there
//! The worker starts, waits, reports it in its log and at `/readyz`, and continues within a second of the database's return.

mod listeners;
pub mod metrics;
pub mod mirrors;
mod recall_guard;
mod reload;

pub use listeners::{HTTP_PORT, PORT, Ports};
pub use reload::{ConfigFile, Source};

use crate::settings::Settings;
use crate::surfaces::http::probes::Ready;
use ebb_core::clock::{SKEW_TOLD, too_far_off};
use ebb_core::domain::attempt::Right;
use ebb_core::jobs::reap;
use ebb_core::scheduler::cron::{self, Rhythms, Timers};
use ebb_core::scheduler::dispatcher::Dispatcher;
use ebb_core::scheduler::meter::Meter;
use ebb_core::scheduler::panics::{Panics, TooManyPanics};
use ebb_core::scheduler::record::record;
use ebb_core::scheduler::recovery::Recovery;
use ebb_core::scheduler::wake::Wake;
use ebb_core::service::Service;
use ebb_core::store::{self, Store};
use listeners::Listeners;
use recall_guard::Guarding;
use reload::Reload;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

/// Interval and limit of a probe of the database. Together below two seconds, the greatest delay of `/readyz`.
const PROBE_EVERY: Duration = Duration::from_millis(500);
const PROBE_LIMIT: Duration = Duration::from_secs(1);
/// How long a probe that is late is still waited for.
const LATE_PROBE_LIMIT: Duration = Duration::from_secs(10);
/// How often one value is written, to see whether the database takes writes; and how often when it did not, or when the
/// database has just come back, which then has other things to do.
const WRITE_EVERY: Duration = Duration::from_secs(4);
const WRITE_AGAIN: Duration = Duration::from_secs(2);
/// How long attempts whose lease is over wait for work to get on after the database was away: it does not where every look
/// fails, as with tunables that no law can use.
const RECOVERY_WAIT: Duration = Duration::from_secs(10);

/// Why a worker ended of itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A port cannot be had.
    #[error(
        "{} cannot be listened on: {source}. Set http.listen (worker.listen for the probes of a worker) to another address",
        .address.map_or_else(|| format!("a port from {usual} on"), |a| a.to_string())
    )]
    Listen {
        /// The address that was stated, if one was.
        address: Option<SocketAddr>,
        /// The first port that was tried, if none was stated.
        usual: u16,
        /// The error of the system.
        source: std::io::Error,
    },
    /// Other machines could ask, and there is no key.
    #[error(
        "{0} can be reached from other machines, and there is no API key. Run: ebb key create --name NAME --right RIGHT --scope SCOPE"
    )]
    NoKeys(SocketAddr),
    /// The keys cannot be read.
    #[error("the API keys cannot be read: {0}")]
    Keys(#[source] store::Error),
    /// No signal can be waited for.
    #[error("the process cannot wait for signals: {0}")]
    Signals(#[source] std::io::Error),
    /// A recall guard that cannot be used.
    #[error("the section [recall_guard] cannot be used: {0}")]
    RecallGuard(String),
    /// No timers.
    #[error(transparent)]
    Timers(#[from] cron::Error),
    /// Three panics within a minute.
    #[error(transparent)]
    Panics(#[from] TooManyPanics),
    /// A second signal, before the first had done its work.
    #[error("ended by a second signal; what was not committed is rolled back")]
    ForcedShutdown,
}

/// Roles of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Roles {
    /// Runs the jobs.
    pub worker: bool,
    /// Serves the operations over HTTP.
    pub http: bool,
    /// Offers its tools to agents, at /mcp.
    pub mcp: bool,
}

impl Roles {
    /// Whether it answers requests, at the port of the API.
    fn answer_requests(self) -> bool {
        self.http || self.mcp
    }
}

/// Serves until a signal comes. `on_start` gets the addresses.
///
/// # Errors
/// Of the start, or [`Error::Panics`]; [`Error::ForcedShutdown`] at a second signal.
pub async fn run(
    service: &Arc<Service>,
    settings: Settings,
    roles: Roles,
    source: Source<'_>,
    on_start: impl FnOnce(Ports),
) -> Result<(), Error> {
    let stop = CancellationToken::new();
    let guarding = Guarding::of(&settings.recall_guard, service, roles).map_err(Error::RecallGuard)?;
    let listeners = Listeners::open(service, &settings, roles, &stop).await?;
    let on = |kind| signal(kind).map_err(Error::Signals);
    let (mut terminate, mut interrupt) = (on(SignalKind::terminate())?, on(SignalKind::interrupt())?);

    let store = service.share_store();
    let (meter, panics, wake) = (Arc::new(Meter::default()), Arc::new(Panics::default()), Wake::default());
    let (ready_in, ready) = watch::channel(Err("the database has not been asked yet".to_owned()));
    // A mirror reads, so it is kept current also while the database takes no writes.
    let (readable_in, readable) = watch::channel(Err("the database has not been asked yet".to_owned()));
    let recovery = Arc::<Recovery>::default();
    let (rhythms_in, rhythms) = watch::channel(Arc::<Rhythms>::default());
    let timers = start_timers(service, roles, &wake).await?;
    on_start(listeners.ports());

    let dispatcher = Dispatcher {
        store: Arc::clone(&store),
        clock: service.clock().clone(),
        config: service.schedules().subscribe(),
        rhythms: rhythms_in,
        wake: wake.clone(),
        stop: stop.clone(),
        meter: Arc::clone(&meter),
        panics: Arc::clone(&panics),
        recovery: Arc::clone(&recovery),
        request: service.job_request(),
        on_scratch: settings.worker.on_scratch,
    };
    let tick = settings.worker.tick;
    let schedules = service.schedules().clone();
    let reload = Reload { source, settings, schedules, wake: wake.clone(), meter: Arc::clone(&meter) };

    let (over, drained) = (CancellationToken::new(), listeners.drained(&stop));
    let work = async {
        let probing = probe(&store, (service, &meter), (&ready_in, &readable_in), &wake, &recovery, &stop);
        let jobs = async {
            let Some(timers) = timers else {
                stop.cancelled().await;
                return Ok(());
            };
            let reaping = {
                let (store, meter, told) = (Arc::clone(&store), Arc::clone(&meter), stop.clone());
                let (ready, recovery) = (ready_in.subscribe(), Arc::clone(&recovery));
                restart_on_panic(&panics, &stop, move || {
                    let (store, meter) = (Arc::clone(&store), Arc::clone(&meter));
                    reaping(store, meter, ready.clone(), Arc::clone(&recovery), told.clone(), tick)
                })
            };
            let dispatching = restart_on_panic(&panics, &stop, move || dispatcher.clone().work());
            let following = follow_schedules(timers, service, rhythms, &stop);
            let (dispatched, reaped, ()) = tokio::join!(dispatching, reaping, following);
            dispatched.and(reaped)
        };
        let storing = stop.run_until_cancelled(store_settings(service, ready.clone()));
        let mirroring = mirrors::run((service, roles), (guarding, &meter), &readable, &panics, &stop);
        let ((), ended, (), mirrored, _) = tokio::join!(probing, jobs, drained, mirroring, storing);
        over.cancel();
        ended.and(mirrored)
    };
    let stopping = async {
        let which = tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
            () = stop.cancelled() => "a fault",
        };
        // What it was before does not matter any more.
        let _ = ready_in.send_replace(Err("shutting down".to_owned()));
        info!(by = which, "stopping");
        stop.cancel();
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    let serving = listeners.serve(service, &meter, &ready, &over);
    tokio::select! {
        (worked, ()) = async { tokio::join!(work, serving) } => worked.map_err(Error::from),
        () = stopping => Err(Error::ForcedShutdown),
        () = reload.watch() => Ok(()),
    }
}

/// Keeps the timers and the record of the schedules current.
async fn follow_schedules(
    timers: Timers,
    service: &Service,
    rhythms: watch::Receiver<Arc<Rhythms>>,
    stop: &CancellationToken,
) {
    let (store, clock) = (service.share_store(), service.clock().clone());
    let recording = record(store, clock, rhythms.clone(), stop.clone());
    tokio::join!(recording, timers.follow(rhythms, stop.clone()));
}

/// The timers of a process that runs jobs.
async fn start_timers(service: &Service, roles: Roles, wake: &Wake) -> Result<Option<Timers>, cron::Error> {
    if !roles.worker {
        return Ok(None);
    }
    Timers::start(service.clock().clone(), wake.clone()).await.map(Some)
}

/// Stores the settings of this process in the graph, once the database takes writes.
async fn store_settings(service: &Service, mut ready: watch::Receiver<Ready>) {
    loop {
        let _ = ready.wait_for(Result::is_ok).await;
        match service.store_settings().await {
            Ok(()) => return,
            Err(why) => debug!(%why, "settings could not be stored, and are stored again"),
        }
        tokio::time::sleep(WRITE_AGAIN).await;
    }
}

/// Runs a loop on a thread of its own until it ends, and again if it panicked; too many of that stop the worker.
async fn restart_on_panic<F, Fut>(
    panics: &Panics,
    stop: &CancellationToken,
    make: F,
) -> Result<(), TooManyPanics>
where
    F: Fn() -> Fut + Clone + Send + 'static,
    Fut: Future<Output = Result<(), TooManyPanics>>,
{
    loop {
        let (make, runtime) = (make.clone(), Handle::current());
        match tokio::task::spawn_blocking(move || runtime.block_on(make())).await {
            Ok(ended) => return ended,
            Err(_) => {
                if let Err(why) = panics.count() {
                    stop.cancel();
                    return Err(why);
                }
            }
        }
    }
}

/// Ends attempts whose lease is over, at each tick, once jobs get on.
async fn reaping(
    store: Arc<Store>,
    meter: Arc<Meter>,
    mut ready: watch::Receiver<Ready>,
    recovery: Arc<Recovery>,
    stop: CancellationToken,
    tick: Duration,
) -> Result<(), TooManyPanics> {
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(tick) => {}
        }
        let reaping = async {
            let _ = ready.wait_for(Result::is_ok).await;
            let _ = tokio::time::timeout(RECOVERY_WAIT, recovery.warm()).await;
            reap::run(&store, Right::Lease).await
        };
        let reaped = tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(()),
            reaped = reaping => reaped,
        };
        match reaped {
            Ok(reaped) => meter.counts().reaped += u64::try_from(reaped.expired).unwrap_or(0),
            // The probe logs the state of the database, once.
            Err(why) => debug!(%why, "nothing could be reaped"),
        }
    }
}

/// Readiness of a process by the difference of its clock to the server's; `before` is the difference last seen.
fn clock_readiness(skew_ms: i64, before: i64) -> Ready {
    let is_large = |ms: i64| u128::from(ms.unsigned_abs()) > SKEW_TOLD.as_millis();
    if is_large(skew_ms) && !is_large(before) {
        warn!(skew_ms, "this machine's clock is off the server's");
    }
    too_far_off(skew_ms).map_or(Ok(()), Err)
}

/// Finds out whether the database answers, is initialised, takes writes and has the time of this machine, and says "look"
/// when it does again.
///
/// Writes are probed at an interval of their own, however often `/readyz` is requested: one value on one node, so that an idle worker
/// costs the server one small commit in four seconds.
async fn probe(
    store: &Store,
    (service, meter): (&Arc<Service>, &Arc<Meter>),
    (ready, readable): (&watch::Sender<Ready>, &watch::Sender<Ready>),
    wake: &Wake,
    recovery: &Recovery,
    stop: &CancellationToken,
) {
    let publish = |found: Ready, answers: bool| {
        let before = ready.send_replace(found.clone());
        match (&before, &found) {
            (Err(_), Ok(())) => {
                info!("the database answers");
                wake.look();
            }
            (_, Err(why)) if why == UNTRIED => debug!(%why, "not ready"),
            (before, Err(why)) if before.as_ref() != Err(why) => warn!(%why, "not ready"),
            _ => {}
        }
        if answers {
            recovery.answers();
        } else {
            recovery.away();
        }
    };
    let (refusal, clock) = (Refusal::unknown(), service.clock());
    let probing = async {
        let mut initialised = false;
        loop {
            // That the database is initialised was seen before it was away, and is seen again once work gets on.
            let short = initialised && !recovery.is_complete();
            let asked_at = clock.now();
            let ask = async { if short { store.ping().await } else { store.probe().await } };
            let mut asked = std::pin::pin!(ask);
            let answer = match tokio::time::timeout(PROBE_LIMIT, &mut asked).await {
                Ok(answer) => Some(answer),
                Err(_) => {
                    let limit = PROBE_LIMIT.as_secs();
                    let why = format!("the database at {} did not answer within {limit} s", store.uri());
                    let _ = readable.send_replace(Err(why.clone()));
                    publish(Err(why), false);
                    // A server that was just started is slow at first, and would be slower for being asked again.
                    tokio::time::timeout(LATE_PROBE_LIMIT, asked).await.ok()
                }
            };
            if let Some(answer) = answer {
                if let (false, Ok(now)) = (initialised, &answer) {
                    // Before this process is ready, so before facts are written through it.
                    if let Err(why) = store.accept_before_facts(*now).await {
                        debug!(%why, "policies could not be accepted before the first fact");
                    }
                }
                initialised |= answer.is_ok();
                if answer.is_err() {
                    refusal.set(None);
                }
                let answers = answer.is_ok();
                let answer = answer.map_err(|why| reason(&why));
                let _ = readable.send_replace(answer.as_ref().map(|_| ()).map_err(Clone::clone));
                let skew_ms = answer.map(|server| clock.skew_ms(asked_at, server, clock.now()));
                let measured = |skew_ms| {
                    clock_readiness(skew_ms, std::mem::replace(&mut meter.counts().skew_ms, skew_ms))
                };
                let found = skew_ms.and_then(measured).and_then(|()| refusal.get().map_or(Ok(()), Err));
                publish(found, answers);
            }
            tokio::time::sleep(PROBE_EVERY).await;
        }
    };
    tokio::select! {
        biased;
        () = stop.cancelled() => {}
        () = probing => {}
        () = probe_writes(store, readable, &refusal) => {}
    }
}

/// Why a process that has just started is not ready.
const UNTRIED: &str = "it is not known yet whether the database takes writes";

/// Why the database takes no writes, if it takes none.
struct Refusal(Mutex<Option<String>>);

impl Refusal {
    /// Before the first try: a process that has just started is not ready for a moment, and then not.
    fn unknown() -> Self {
        Self(Mutex::new(Some(UNTRIED.to_owned())))
    }

    fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, why: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }
}

/// Tries a write now and then, while the database answers at all.
async fn probe_writes(store: &Store, readable: &watch::Sender<Ready>, refusal: &Refusal) {
    let mut readable = readable.subscribe();
    let mut is_first = true;
    loop {
        let was_away = readable.borrow().is_err();
        let _ = readable.wait_for(Result::is_ok).await;
        if was_away && !is_first {
            tokio::time::sleep(WRITE_AGAIN).await;
        }
        // One that is slow to answer has not said that it takes no writes.
        let pause = match tokio::time::timeout(LATE_PROBE_LIMIT, store.probe_write()).await {
            Ok(Ok(())) => {
                refusal.set(None);
                WRITE_EVERY
            }
            Ok(Err(why)) => {
                refusal.set(why.refusal().map(|_| reason(&why)));
                WRITE_AGAIN
            }
            Err(_) => {
                if is_first {
                    refusal.set(None);
                }
                WRITE_AGAIN
            }
        };
        is_first = false;
        tokio::time::sleep(pause).await;
    }
}

/// The reason that `/readyz` gives.
fn reason(why: &store::Error) -> String {
    match why.refusal() {
        Some(refusal) => format!("{refusal}, see ebb doctor: {why}"),
        None => why.to_string(),
    }
}
