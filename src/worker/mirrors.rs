//! Refreshes the mirrors of a process at their interval and publishes their status in the graph. A process that serves
//! HTTP loads them at its start; over stdio only mirrors that a request has used are kept.
//!
//! Between two refreshes the mirrors follow recorded changes: those of this process at once, those of others within a second.
//!
//! # Comparison
//! Other writers may change the graph without recording it. So a day after a scope was last read whole, a refresh reads all of it
//! and compares: a difference is a warning in the log, and the mirror takes the values that were read.
//!
//! # Threads
//! Each refresh runs on a thread of its own, so that a scope that takes long, as one that is loaded in full, holds up no other: after
//! two seconds, or as soon as a reader waits, the others are looked at while it goes on. A panic ends the loop, which begins again, and
//! leaves the refreshes of other scopes alone.
//!
//! # Stopping
//! A refresh is dropped. The states of the mirrors are saved for the next start while the status is deleted, within the same
//! limit. Publishing is finished first, since a transaction broken off in the middle would keep its row locked
//! against the last act of the process, which deletes its status. Both have limits that together stay below the ten seconds of a
//! stop; a status that stays is deleted after a day. Building a generation cannot be stopped: after the same ten seconds it is
//! abandoned.

use super::recall_guard::Guarding;
use super::{Roles, restart_on_panic};
use crate::surfaces::http::probes::Ready;
use ebb_core::api::recall::Mirror;
use ebb_core::domain::ids::Scope;
use ebb_core::scheduler::meter::Meter;
use ebb_core::scheduler::panics::{Panics, TooManyPanics};
use ebb_core::service::Service;
use ebb_core::service::mirrors::COMPARE_EVERY;
use ebb_core::service::recall::Error;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

/// Limit for publishing a status, and for deleting all of them.
const PUBLISH_LIMIT: Duration = Duration::from_secs(4);
/// How long a stop waits for open work: longer than both of these take.
const STOP_LIMIT: Duration = Duration::from_secs(9);

/// Time between two looks for changes of other processes.
const POLL_EVERY: Duration = Duration::from_secs(1);
/// Pause after changes were applied, as a multiple of the time that it took: building takes a part of the time.
const PAUSE_FACTOR: u32 = 3;
/// Longest pause of all mirrors, and of one for whose change a reader waits.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Time up to which applied changes are quick: then a reader who waits ends the pause.
const QUICK: Duration = Duration::from_millis(250);

/// Time for many mirrors in one round, and for which a round waits for one. The others are in the next one, the most urgent first.
const ROUND_MAX: Duration = Duration::from_secs(2);

/// What a failure counts as, so that the next round is not at once.
const FAILED: Duration = Duration::from_secs(1);

/// Pause after the database came back, so that waiting requests come first.
const PAUSE_AFTER_RETURN: Duration = Duration::from_secs(3);

/// Mirrors that are refreshed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Selection {
    /// All scopes; mirrors not loaded yet are loaded.
    All,
    /// Mirrors that a request has loaded.
    Loaded,
}

/// Refreshes the mirrors of a process with these roles until the stop, and asks the questions of its recall guard.
pub(super) async fn run(
    (service, roles): (&Arc<Service>, Roles),
    (guarding, meter): (Option<Guarding>, &Meter),
    readable: &watch::Receiver<Ready>,
    panics: &Panics,
    stop: &CancellationToken,
) -> Result<(), TooManyPanics> {
    if !roles.answer_requests() {
        return Ok(());
    }
    let guarded = async {
        if let Some(guarding) = guarding {
            guarding.run(service, meter, stop).await;
        }
    };
    let refreshing = refresh_in_loop(service, Selection::All, readable, panics, stop);
    tokio::join!(refreshing, Box::pin(guarded)).0
}

/// Refreshes the loaded mirrors while `serving` runs, and returns its result.
pub async fn refresh_while<T>(service: &Arc<Service>, serving: impl Future<Output = T>) -> T {
    // Nothing probes the database here: a refresh fails while it is away, and the next one follows.
    let (_always, readable) = watch::channel(Ok(()));
    let (panics, stop) = (Panics::default(), CancellationToken::new());
    let served = async {
        let ended = serving.await;
        stop.cancel();
        ended
    };
    let (ended, refreshed) =
        tokio::join!(served, refresh_in_loop(service, Selection::Loaded, &readable, &panics, &stop));
    if let Err(why) = refreshed {
        warn!(%why, "mirrors were not refreshed to the end");
    }
    ended
}

async fn refresh_in_loop(
    service: &Arc<Service>,
    which: Selection,
    readable: &watch::Receiver<Ready>,
    panics: &Panics,
    stop: &CancellationToken,
) -> Result<(), TooManyPanics> {
    let (service, stopped, readable) = (Arc::clone(service), stop.clone(), readable.clone());
    let working = restart_on_panic(panics, stop, move || {
        refreshing(Arc::clone(&service), which, readable.clone(), stopped.clone())
    });
    let late = async {
        stop.cancelled().await;
        tokio::time::sleep(STOP_LIMIT).await;
    };
    tokio::select! {
        ended = working => ended,
        () = late => {
            warn!("a generation of a mirror is still being built, and is abandoned");
            Ok(())
        }
    }
}

/// Refreshes mirrors at their interval, and those that lack a change as soon as it is known, while the database answers.
async fn refreshing(
    service: Arc<Service>,
    which: Selection,
    mut readable: watch::Receiver<Ready>,
    stop: CancellationToken,
) -> Result<(), TooManyPanics> {
    service.keep_mirrors();
    let mut refreshes = Refreshes::new(&service, &stop);
    let mut due = Instant::now();
    while !stop.is_cancelled() {
        let was_away = refreshes.is_known && readable.borrow().is_err();
        let answers = stop.run_until_cancelled(readable.wait_for(Result::is_ok)).await;
        let answers = answers.is_some_and(|answer| answer.is_ok());
        if was_away {
            stop.run_until_cancelled(tokio::time::sleep(PAUSE_AFTER_RETURN)).await;
        }
        let begun = Instant::now();
        let mut round = Round::default();
        if begun < due {
            let caught_up = stop.run_until_cancelled(Box::pin(refreshes.catch_up())).await;
            round = caught_up.unwrap_or_default();
        } else {
            if answers {
                stop.run_until_cancelled(Box::pin(refreshes.refresh_all(which))).await;
            }
            due = begun + service.refresh_every();
        }
        stop.run_until_cancelled(next_round(&service, round, due)).await;
    }
    service.stop_loads();
    // Until their status is published.
    if tokio::time::timeout(PUBLISH_LIMIT, refreshes.ended()).await.is_err() {
        warn!("a generation of a mirror is still being built, and is abandoned");
    }
    if refreshes.is_known {
        tokio::join!(clear(&service), save(&service));
    }
    Ok(())
}

/// Waits for what needs another round. Writes in a row are applied together, unless a reader waits for one that is soon applied.
async fn next_round(service: &Service, round: Round, due: Instant) {
    let (pause, is_quick) = ((round.took * PAUSE_FACTOR).min(PAUSE_MAX), round.took < QUICK);
    let left = || due.saturating_duration_since(Instant::now());
    tokio::select! {
        () = tokio::time::sleep(pause.min(left())) => {}
        () = service.mirrors_wanted(), if is_quick => return,
    }
    if round.is_cut {
        return;
    }
    let woken = async {
        tokio::select! {
            () = service.mirrors_woken() => {}
            () = service.mirrors_wanted() => {}
        }
    };
    let most = round.again.unwrap_or(POLL_EVERY).min(POLL_EVERY);
    let _woken = tokio::time::timeout(left().min(most), woken).await;
}

/// Result of a round over mirrors that lack changes.
#[derive(Debug, Clone, Copy, Default)]
struct Round {
    /// Time of the refreshes that ended in it.
    took: Duration,
    /// Whether it ended before others had their turn.
    is_cut: bool,
    /// When the first mirror is due that was left out of it, as one that has just been refreshed.
    again: Option<Duration>,
}

/// How a mirror is refreshed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refresh {
    /// By recent changes.
    Recent,
    /// By all changes, or a comparison; its status is published.
    Configured,
    /// The same without a status: there may be thousands.
    OnDemand,
}

/// A refresh that has ended.
struct Ended {
    scope: Scope,
    how: Refresh,
    took: Duration,
    at: Instant,
    is_refreshed: bool,
}

/// Refreshes in progress, each on a thread of its own, at most one of a scope.
struct Refreshes {
    service: Arc<Service>,
    stop: CancellationToken,
    running: JoinSet<Ended>,
    scopes: BTreeSet<Scope>,
    /// When changes were last applied to a scope, and how long it took, where it was not quick.
    last: BTreeMap<Scope, (Instant, Duration)>,
    /// One comparison at a time: many scopes are due together.
    comparing: Arc<Semaphore>,
    /// Whether a mirror was refreshed.
    is_known: bool,
}

impl Refreshes {
    fn new(service: &Arc<Service>, stop: &CancellationToken) -> Self {
        Self {
            service: Arc::clone(service),
            stop: stop.clone(),
            running: JoinSet::new(),
            scopes: BTreeSet::new(),
            last: BTreeMap::new(),
            comparing: Arc::new(Semaphore::new(1)),
            is_known: false,
        }
    }

    /// Applies changes to the mirrors that lack them.
    async fn catch_up(&mut self) -> Round {
        let outdated = match self.service.outdated_mirrors().await {
            Ok(outdated) => outdated,
            Err(why) => {
                // The next refresh names it if it lasts.
                debug!(%why, "changes could not be read");
                return Round::default();
            }
        };
        self.note_ended();
        let mut round = Round::default();
        for scope in outdated {
            if self.scopes.contains(&scope) {
                continue;
            }
            let pause = self.pause(&scope);
            if !pause.is_zero() {
                round.again = Some(round.again.map_or(pause, |again| again.min(pause)));
                continue;
            }
            match self.refresh(&scope, Refresh::Recent).await {
                Some(took) => round.took += took,
                None => round.is_cut = true,
            }
            if round.is_cut || round.took > ROUND_MAX {
                break;
            }
        }
        round
    }

    /// Refreshes mirrors, those of the configuration first.
    async fn refresh_all(&mut self, which: Selection) {
        self.note_ended();
        let is_kept = |held: &Mirror| which == Selection::All || held.loaded;
        for Mirror { scope, .. } in self.service.mirrors().into_iter().filter(is_kept) {
            if !self.scopes.contains(&scope) && self.refresh(&scope, Refresh::Configured).await.is_none() {
                self.catch_up().await;
            }
        }
        self.refresh_on_demand().await;
    }

    /// Refreshes the mirrors on demand that need it.
    async fn refresh_on_demand(&mut self) {
        let due = match self.service.sweep_mirrors().await {
            Ok(due) => due,
            Err(why) => {
                warn!(%why, "mirrors on demand could not be refreshed");
                return;
            }
        };
        self.is_known |= self.service.mirrors_on_demand().0 > 0;
        let mut spent = Duration::ZERO;
        for scope in due {
            if self.scopes.contains(&scope) {
                continue;
            }
            let took = self.refresh(&scope, Refresh::OnDemand).await;
            spent += took.unwrap_or_default();
            if spent > ROUND_MAX {
                break;
            }
            if took.is_none() || self.service.mirrors_are_awaited() {
                self.catch_up().await;
            }
        }
    }

    /// How long changes of a scope are not applied yet, so that building it takes a part of the time. A refresh at the interval
    /// does not wait for that.
    fn pause(&self, scope: &Scope) -> Duration {
        let Some((ended, took)) = self.last.get(scope) else { return Duration::ZERO };
        let pause = *took * PAUSE_FACTOR;
        let pause = if self.service.mirror_is_awaited(scope) { pause.min(PAUSE_MAX) } else { pause };
        pause.saturating_sub(ended.elapsed())
    }

    /// Refreshes a scope. Returns how long that took, or none if it is in progress still: others are not to wait for it for long,
    /// and shorter if a reader waits.
    async fn refresh(&mut self, scope: &Scope, how: Refresh) -> Option<Duration> {
        self.start(scope, how);
        let service = Arc::clone(&self.service);
        let wanted = async {
            tokio::time::sleep(QUICK).await;
            service.mirrors_wanted().await;
        };
        let mut late = std::pin::pin!(tokio::time::timeout(ROUND_MAX, wanted));
        loop {
            tokio::select! {
                biased;
                Some(ended) = self.running.join_next() => {
                    let ended = self.note(ended);
                    if let Some((_, took)) = ended.filter(|(of, _)| of == scope) {
                        return Some(took);
                    }
                }
                _ = &mut late => return None,
            }
        }
    }

    /// Begins a refresh of a scope of which none is in progress.
    fn start(&mut self, scope: &Scope, how: Refresh) {
        self.scopes.insert(scope.clone());
        let (service, scope, stop) = (Arc::clone(&self.service), scope.clone(), self.stop.clone());
        let (comparing, runtime) = (Arc::clone(&self.comparing), Handle::current());
        // Its future is not `Send`.
        self.running.spawn_blocking(move || {
            let begun = Instant::now();
            let refreshed = runtime.block_on(Box::pin(refresh(&service, &scope, how, &comparing, &stop)));
            let took = begun.elapsed() + if refreshed.is_err() { FAILED } else { Duration::ZERO };
            Ended { scope, how, took, at: Instant::now(), is_refreshed: refreshed == Ok(true) }
        });
    }

    /// Notes all refreshes that have ended.
    fn note_ended(&mut self) {
        while let Some(ended) = self.running.try_join_next() {
            self.note(ended);
        }
    }

    /// Notes a refresh that has ended; returns its scope and how long it took.
    fn note(&mut self, ended: Result<Ended, JoinError>) -> Option<(Scope, Duration)> {
        let Ended { scope, how, took, at, is_refreshed } = match ended {
            Ok(ended) => ended,
            // As a panic of the loop, which is counted and begun again.
            Err(why) if why.is_panic() => std::panic::resume_unwind(why.into_panic()),
            Err(_) => return None,
        };
        self.scopes.remove(&scope);
        self.is_known |= is_refreshed;
        self.last.retain(|_, (ended, took)| ended.elapsed() < *took * PAUSE_FACTOR);
        if how == Refresh::Recent && took >= QUICK {
            self.last.insert(scope.clone(), (at, took));
        }
        Some((scope, took))
    }

    /// Waits until none is in progress.
    async fn ended(&mut self) {
        while let Some(ended) = self.running.join_next().await {
            self.note(ended);
        }
    }
}

/// Refreshes a scope until the stop. Returns whether it did; a failure is logged.
async fn refresh(
    service: &Service,
    scope: &Scope,
    how: Refresh,
    comparing: &Semaphore,
    stop: &CancellationToken,
) -> Result<bool, ()> {
    let refreshing = async {
        match how {
            Refresh::Recent => service.catch_up_mirror(scope).await.map(|()| None),
            Refresh::Configured | Refresh::OnDemand => look(service, scope, comparing).await.map(Some),
        }
    };
    match stop.run_until_cancelled(Box::pin(refreshing)).await {
        None => Ok(false),
        Some(Ok(held)) => {
            if let Some(held) = held.filter(|_| how == Refresh::Configured) {
                publish(service, &held).await;
            }
            Ok(true)
        }
        // It has its turn in the next round.
        Some(Err(Error::Busy(_))) if how != Refresh::Configured => Ok(false),
        Some(Err(why)) => {
            warn!(%scope, %why, "a mirror could not be refreshed");
            Err(())
        }
    }
}

/// Refreshes a mirror, or compares it if that is due and no other is compared.
async fn look(service: &Service, scope: &Scope, comparing: &Semaphore) -> Result<Mirror, Error> {
    let is_due = service.since_read(scope).is_some_and(|ago| ago >= COMPARE_EVERY);
    let alone = if is_due { comparing.try_acquire().ok() } else { None };
    if alone.is_none() {
        return service.refresh_kept_mirror(scope).await;
    }
    // Differences have been logged by then.
    service.verify_mirror(scope).await?;
    Ok(service.mirrored(scope))
}

async fn publish(service: &Service, held: &Mirror) {
    let scope = &held.scope;
    match tokio::time::timeout(PUBLISH_LIMIT, service.publish_mirror(held)).await {
        Ok(Ok(())) => {}
        Ok(Err(why)) => warn!(%scope, %why, "the status of a mirror could not be published"),
        Err(_) => warn!(%scope, "the status of a mirror could not be published in time"),
    }
}

async fn save(service: &Service) {
    if tokio::time::timeout(PUBLISH_LIMIT, service.save_mirror_states()).await.is_err() {
        warn!("the mirrors could not be saved in time: the next start reads older files, or the graph");
    }
}

async fn clear(service: &Service) {
    match tokio::time::timeout(PUBLISH_LIMIT, service.clear_mirrors()).await {
        Ok(Ok(())) => {}
        Ok(Err(why)) => warn!(%why, "the status of the mirrors stays for a day"),
        Err(_) => warn!("the status of the mirrors stays for a day: the database did not answer in time"),
    }
}
