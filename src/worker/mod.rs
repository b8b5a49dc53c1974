//! The worker: a process that runs the jobs by their schedules, answers probes, and stops in good order.
//!
//! It builds its loops over an open database and takes them down again: the dispatcher of jobs, the tick that reaps, the
//! probe that finds out whether the database answers, the watch on the configuration, and the port that says how all of
//! this goes. Several workers share a database without knowing of each other.
//!
//! # Stopping
//! At SIGTERM or SIGINT `/readyz` says no, no run is begun, and those at work stop after the transaction in hand and give
//! their leases back, so that another worker goes on at once. All of this takes ten seconds at most. A second signal ends
//! the process where it stands, which is safe: what was not committed is rolled back, and the lease runs out.
//!
//! # A database that is not there
//! The worker starts, waits, says so in its log and at `/readyz`, and goes on within a second of the database's return.

pub mod metrics;
mod reload;

pub use reload::Source;

use crate::clock::Clock;
use crate::domain::attempt::Right;
use crate::jobs::reap;
use crate::scheduler::cron::{self, Ticks, Wake};
use crate::scheduler::dispatcher::Dispatcher;
use crate::scheduler::meter::Meter;
use crate::scheduler::panics::{Panics, TooManyPanics};
use crate::scheduler::warmth::Warmth;
use crate::service::Service;
use crate::settings::Settings;
use crate::store::Store;
use crate::surfaces::http::Listener;
use crate::surfaces::http::probes::{Ready, router};
use crate::wiring::schedules;
use metrics::Beside;
use reload::Reload;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

/// The usual port of what a worker says of itself.
pub const PORT: u16 = 9464;
/// How often the database is asked whether it answers, and how long it gets. Together below the two seconds within which
/// `/readyz` tells the truth.
const PROBE_EVERY: Duration = Duration::from_millis(500);
const PROBE_LIMIT: Duration = Duration::from_secs(1);
/// How long a probe that is late is still waited for.
const PROBE_PATIENCE: Duration = Duration::from_secs(10);
/// How long attempts whose lease is over wait for work to get on after the database was away: it does not where every look
/// fails, as with tunables that no law can use.
const REAP_PATIENCE: Duration = Duration::from_secs(10);

/// Why a worker ended of itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The port for probes and metrics cannot be had.
    #[error("{} cannot be listened on: {source}", .address.map_or_else(|| format!("no port from {PORT} on"), |a| a.to_string()))]
    Listen {
        /// The address that was stated, if one was.
        address: Option<SocketAddr>,
        /// What the system said.
        source: std::io::Error,
    },
    /// No signal can be waited for.
    #[error("the process cannot wait for signals: {0}")]
    Signals(#[source] std::io::Error),
    /// No ticks.
    #[error(transparent)]
    Clock(#[from] cron::Error),
    /// Three panics within a minute.
    #[error(transparent)]
    Panics(#[from] TooManyPanics),
    /// A second signal, before the first had done its work.
    #[error("ended by a second signal; what was not committed is rolled back")]
    Impatient,
}

/// Works until a signal comes. `began` is told the address of the probes.
///
/// # Errors
/// Of the start, or [`Error::Panics`]; [`Error::Impatient`] at a second signal.
pub async fn run(
    service: &Service,
    settings: Settings,
    source: Source<'_>,
    began: impl FnOnce(SocketAddr),
) -> Result<(), Error> {
    let stated = settings.worker.listen;
    let listener = Listener::bind(stated, PORT).await;
    let listener = listener.map_err(|source| Error::Listen { address: stated, source })?;
    let on = |kind| signal(kind).map_err(Error::Signals);
    let (mut terminate, mut interrupt) = (on(SignalKind::terminate())?, on(SignalKind::interrupt())?);
    let hangup = on(SignalKind::hangup())?;

    let store = service.share_store();
    let (meter, panics) = (Arc::new(Meter::default()), Arc::new(Panics::default()));
    let (wake, stop) = (Wake::default(), CancellationToken::new());
    let (schedules_in, config) = watch::channel(Arc::new(schedules(&settings)));
    let (ready_in, ready) = watch::channel(Err("the database has not been asked yet".to_owned()));
    let ready_in = Arc::new(ready_in);
    let warmth = Arc::<Warmth>::default();
    let ticks = Ticks::start(wake.clone()).await?;
    began(listener.address);

    let dispatcher = Dispatcher {
        store: Arc::clone(&store),
        clock: Clock::Real,
        config,
        wake: wake.clone(),
        stop: stop.clone(),
        meter: Arc::clone(&meter),
        panics: Arc::clone(&panics),
        warmth: Arc::clone(&warmth),
    };
    let tick = settings.worker.tick;
    let reload =
        Reload { source, settings, schedules: schedules_in, wake: wake.clone(), meter: Arc::clone(&meter) };
    let page = page(Arc::clone(&store), Arc::clone(&meter), ready.clone());

    let over = CancellationToken::new();
    let work = async {
        let probing = probe(&store, &ready_in, &wake, &warmth, &stop);
        let dispatching = looped(&panics, &stop, move || dispatcher.clone().work());
        let reaping = {
            let (store, meter, told) = (Arc::clone(&store), Arc::clone(&meter), stop.clone());
            let (ready, warm) = (ready_in.subscribe(), warmth.watch());
            looped(&panics, &stop, move || {
                reaping(
                    Arc::clone(&store),
                    Arc::clone(&meter),
                    ready.clone(),
                    warm.clone(),
                    told.clone(),
                    tick,
                )
            })
        };
        let ended = tokio::join!(probing, dispatching, reaping);
        over.cancel();
        ended.1.and(ended.2)
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
    let serving = listener.serve(router(ready, page), over.clone());
    let ended = tokio::select! {
        (worked, ()) = async { tokio::join!(work, serving) } => worked.map_err(Error::from),
        () = stopping => Err(Error::Impatient),
        () = reload.watch(hangup) => Ok(()),
    };
    ticks.stop().await;
    ended
}

/// The page of metrics, from what is counted where it happens.
fn page(
    store: Arc<Store>,
    meter: Arc<Meter>,
    ready: watch::Receiver<Ready>,
) -> impl Fn() -> String + Send + Sync + 'static {
    move || {
        let counters = store.counters();
        let beside = Beside {
            ready: ready.borrow().is_ok(),
            retries: counters.retried.load(Ordering::Relaxed),
            unknown_commits: counters.unknown_commits.load(Ordering::Relaxed),
        };
        metrics::page(&meter.counts(), beside)
    }
}

/// Runs a loop on a thread of its own until it ends, and again if it panicked; too many of that stop the worker.
async fn looped<F, Fut>(panics: &Panics, stop: &CancellationToken, make: F) -> Result<(), TooManyPanics>
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
    mut warm: watch::Receiver<bool>,
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
            let _ = tokio::time::timeout(REAP_PATIENCE, warm.wait_for(|warm| *warm)).await;
            reap::run(&store, Right::Lease).await
        };
        let reaped = tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(()),
            reaped = reaping => reaped,
        };
        match reaped {
            Ok(reaped) => meter.counts().reaped += u64::try_from(reaped.expired).unwrap_or(0),
            // The probe tells what is wrong with the database, once.
            Err(why) => debug!(%why, "nothing could be reaped"),
        }
    }
}

/// Finds out whether the database answers and is initialised, and says "look" when it does again.
async fn probe(
    store: &Store,
    ready: &watch::Sender<Ready>,
    wake: &Wake,
    warmth: &Warmth,
    stop: &CancellationToken,
) {
    let tell = |found: Ready| {
        let before = ready.send_replace(found.clone());
        match (&before, &found) {
            (Err(_), Ok(())) => {
                info!("the database answers");
                wake.look();
            }
            (before, Err(why)) if before.as_ref() != Err(why) => warn!(%why, "not ready"),
            _ => {}
        }
        if found.is_err() {
            warmth.set(false);
        }
    };
    let probing = async {
        let mut initialised = false;
        loop {
            // That the database is initialised was seen before it was away, and is seen again once work gets on.
            let short = initialised && !warmth.is_warm();
            let ask = async { if short { store.ping().await } else { store.probe().await } };
            let mut asked = std::pin::pin!(ask);
            let answer = match tokio::time::timeout(PROBE_LIMIT, &mut asked).await {
                Ok(answer) => Some(answer),
                Err(_) => {
                    let limit = PROBE_LIMIT.as_secs();
                    tell(Err(format!("the database at {} did not answer within {limit} s", store.uri())));
                    // A server that was just started is slow at first, and would be slower for being asked again.
                    tokio::time::timeout(PROBE_PATIENCE, asked).await.ok()
                }
            };
            if let Some(answer) = answer {
                initialised |= answer.is_ok();
                tell(answer.map_err(|why| why.to_string()));
            }
            tokio::time::sleep(PROBE_EVERY).await;
        }
    };
    tokio::select! {
        biased;
        () = stop.cancelled() => {}
        () = probing => {}
    }
}
