//! Refreshes the mirrors of a process at their interval and publishes their status in the graph. A process that serves
//! HTTP loads them at its start; over stdio only mirrors that a request has used are kept.
//!
//! Between two refreshes the mirrors follow recorded changes: those of this process at once, those of others within a second.
//!
//! # Comparison
//! Other writers may change the graph without recording it. So a day after a scope was last read whole, a refresh reads all of it
//! and compares: a difference is a warning in the log, and the mirror takes the values that were read.
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
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

/// Limit for publishing a status, and for deleting all of them.
const PUBLISH_LIMIT: Duration = Duration::from_secs(4);
/// How long a stop waits for open work: longer than both of these take.
const STOP_LIMIT: Duration = Duration::from_secs(9);

/// Time between two looks for changes of other processes.
const POLL_EVERY: Duration = Duration::from_secs(1);
/// Pause after changes were applied, as a multiple of the time that it took, and the longest: building takes a part of the time.
const PAUSE_FACTOR: u32 = 3;
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Time up to which applied changes are quick: then a reader who waits ends the pause.
const QUICK: Duration = Duration::from_millis(250);

/// Time for many mirrors in one round. The others are in the next one, the most urgent first.
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
    if !roles.http && !roles.mcp {
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
    let (mut is_known, mut due) = (false, Instant::now());
    while !stop.is_cancelled() {
        let was_away = is_known && readable.borrow().is_err();
        let answers = stop.run_until_cancelled(readable.wait_for(Result::is_ok)).await;
        let answers = answers.is_some_and(|answer| answer.is_ok());
        if was_away {
            stop.run_until_cancelled(tokio::time::sleep(PAUSE_AFTER_RETURN)).await;
        }
        let begun = Instant::now();
        let mut built = Duration::ZERO;
        if begun < due {
            let caught_up = stop.run_until_cancelled(Box::pin(catch_up(&service))).await;
            built = caught_up.unwrap_or_default();
            is_known |= !built.is_zero();
        } else {
            if answers {
                is_known |= refresh_all(&service, which, &stop).await;
            }
            due = begun + service.refresh_every();
        }
        // Writes in a row are applied together, unless a reader waits for one that is soon applied.
        let (pause, is_quick) = ((built * PAUSE_FACTOR).min(PAUSE_MAX), built < QUICK);
        let next = async {
            let left = || due.saturating_duration_since(Instant::now());
            let paused = tokio::time::sleep(pause.min(left()));
            tokio::select! {
                () = paused => {}
                () = service.mirrors_wanted(), if is_quick => return,
            }
            let woken = async {
                tokio::select! {
                    () = service.mirrors_woken() => {}
                    () = service.mirrors_wanted() => {}
                }
            };
            let _woken = tokio::time::timeout(left().min(POLL_EVERY), woken).await;
        };
        stop.run_until_cancelled(next).await;
    }
    service.stop_loads();
    if is_known {
        tokio::join!(clear(&service), save(&service));
    }
    Ok(())
}

/// Applies changes to the mirrors that lack them. Returns how long that took.
async fn catch_up(service: &Service) -> Duration {
    let outdated = match service.outdated_mirrors().await {
        Ok(outdated) => outdated,
        Err(why) => {
            // The next refresh names it if it lasts.
            debug!(%why, "changes could not be read");
            return Duration::ZERO;
        }
    };
    let mut took = Duration::ZERO;
    for scope in outdated {
        let begun = Instant::now();
        match service.catch_up_mirror(&scope).await {
            // It has its turn in the next round.
            Ok(()) | Err(Error::Busy(_)) => {}
            Err(why) => {
                warn!(%scope, %why, "a mirror could not be refreshed");
                took += FAILED;
            }
        }
        took += begun.elapsed();
        if took > ROUND_MAX {
            break;
        }
    }
    took
}

/// Refreshes mirrors and publishes their status. Returns whether there was one.
async fn refresh_all(service: &Service, which: Selection, stop: &CancellationToken) -> bool {
    let mut any = false;
    let is_kept = |held: &Mirror| which == Selection::All || held.loaded;
    for Mirror { scope, .. } in service.mirrors().into_iter().filter(is_kept) {
        match stop.run_until_cancelled(Box::pin(look(service, &scope))).await {
            None => break,
            Some(Ok(held)) => {
                any = true;
                publish(service, &held).await;
            }
            Some(Err(why)) => warn!(%scope, %why, "a mirror could not be refreshed"),
        }
    }
    any |= stop.run_until_cancelled(Box::pin(refresh_on_demand(service))).await.unwrap_or_default();
    any
}

/// Refreshes the mirrors on demand that need it. Their status is not published: there may be thousands. Returns whether there was
/// one.
async fn refresh_on_demand(service: &Service) -> bool {
    let due = match service.sweep_mirrors().await {
        Ok(due) => due,
        Err(why) => {
            warn!(%why, "mirrors on demand could not be refreshed");
            return true;
        }
    };
    let begun = Instant::now();
    for scope in due {
        match look(service, &scope).await {
            Ok(_) | Err(Error::Busy(_)) => {}
            Err(why) => warn!(%scope, %why, "a mirror could not be refreshed"),
        }
        if begun.elapsed() > ROUND_MAX {
            break;
        }
        if service.mirrors_are_awaited() {
            catch_up(service).await;
        }
    }
    service.mirrors_on_demand().0 > 0
}

/// Refreshes a mirror, or compares it if that is due.
async fn look(service: &Service, scope: &Scope) -> Result<Mirror, Error> {
    if service.since_read(scope).is_none_or(|ago| ago < COMPARE_EVERY) {
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
