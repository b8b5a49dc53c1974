//! The mirrors of a process that answers questions: brought up to date at each of their turns, their status published in
//! the graph. A process that serves loads them before anybody asks; over stdio there are those that somebody
//! asked.
//!
//! # Comparison
//! Other writers may change the graph and leave no word. So a turn reads all of a scope and compares, a day
//! after all of it was last read: a difference is a warning in the log, and what was read takes its place.
//!
//! # Stopping
//! What is read is dropped where it stands. A word that is being left is left first, since one that is broken
//! off in the middle would keep its row locked against the last thing that a process does here: it takes its
//! words away. Both have limits that together stay below the ten seconds of a stop; what is left behind grows
//! old, and is removed after a day. A generation that is being made heeds no stop: within the same ten
//! seconds it is left where it stands, and goes with the process.

use super::{Roles, looped};
use crate::surfaces::http::probes::Ready;
use ebb_core::api::recall::Mirror;
use ebb_core::domain::ids::Scope;
use ebb_core::scheduler::panics::{Panics, TooManyPanics};
use ebb_core::service::Service;
use ebb_core::service::recall::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::warn;

/// How long leaving a word may take, and taking all away again.
const WORD_LIMIT: Duration = Duration::from_secs(4);
/// How long a stop waits for what is in hand: longer than both of these take.
const STOP_LIMIT: Duration = Duration::from_secs(9);
/// Time from one reading of all of a scope to the next, to compare.
const COMPARED_EVERY: Duration = Duration::from_secs(24 * 3_600);

/// How long a database that was away is left to those who wait for it: what it has just planned for them is planned.
const AFTER_RETURN: Duration = Duration::from_secs(3);

/// Which mirrors are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// All; what nobody asked is loaded.
    All,
    /// Those that somebody asked.
    Asked,
}

/// Keeps the mirrors of a process with such roles, until it is told to stop.
pub(super) async fn keep(
    service: &Arc<Service>,
    roles: Roles,
    readable: &watch::Receiver<Ready>,
    panics: &Panics,
    stop: &CancellationToken,
) -> Result<(), TooManyPanics> {
    if !roles.http && !roles.mcp {
        return Ok(());
    }
    kept(service, Kept::All, readable, panics, stop).await
}

/// Keeps those mirrors current that somebody asked, as long as `serving` goes on; answers what that answers.
pub async fn beside<T>(service: &Arc<Service>, serving: impl Future<Output = T>) -> T {
    // Nobody probes: a look at a database that is away fails, and there is a next one.
    let (_answers, readable) = watch::channel(Ok(()));
    let (panics, stop) = (Panics::default(), CancellationToken::new());
    let served = async {
        let ended = serving.await;
        stop.cancel();
        ended
    };
    let (ended, kept) = tokio::join!(served, kept(service, Kept::Asked, &readable, &panics, &stop));
    if let Err(why) = kept {
        warn!(%why, "mirrors were not kept current to the end");
    }
    ended
}

async fn kept(
    service: &Arc<Service>,
    which: Kept,
    readable: &watch::Receiver<Ready>,
    panics: &Panics,
    stop: &CancellationToken,
) -> Result<(), TooManyPanics> {
    let (service, told, readable) = (Arc::clone(service), stop.clone(), readable.clone());
    let working =
        looped(panics, stop, move || refreshing(Arc::clone(&service), which, readable.clone(), told.clone()));
    let late = async {
        stop.cancelled().await;
        tokio::time::sleep(STOP_LIMIT).await;
    };
    tokio::select! {
        ended = working => ended,
        () = late => {
            warn!("a generation of a mirror is still being made, and is left where it stands");
            Ok(())
        }
    }
}

/// Brings mirrors up to date at each of their turns, while the database answers.
async fn refreshing(
    service: Arc<Service>,
    which: Kept,
    mut readable: watch::Receiver<Ready>,
    stop: CancellationToken,
) -> Result<(), TooManyPanics> {
    let every = service.refresh_every();
    let mut is_known = false;
    while !stop.is_cancelled() {
        let was_away = is_known && readable.borrow().is_err();
        let answers = stop.run_until_cancelled(readable.wait_for(Result::is_ok)).await;
        let answers = answers.is_some_and(|answer| answer.is_ok());
        if was_away {
            stop.run_until_cancelled(tokio::time::sleep(AFTER_RETURN)).await;
        }
        let is_kept = |held: &Mirror| answers && (which == Kept::All || held.loaded);
        for Mirror { scope, .. } in service.mirrors().into_iter().filter(is_kept) {
            match stop.run_until_cancelled(Box::pin(look(&service, &scope))).await {
                None => break,
                Some(Ok(held)) => {
                    is_known = true;
                    publish(&service, &held).await;
                }
                Some(Err(why)) => warn!(%scope, %why, "a mirror could not be brought up to date"),
            }
        }
        stop.run_until_cancelled(tokio::time::sleep(every)).await;
    }
    if is_known {
        clear(&service).await;
    }
    Ok(())
}

/// Brings a mirror up to date, or compares it when that is due.
async fn look(service: &Service, scope: &Scope) -> Result<Mirror, Error> {
    if service.since_read(scope)?.is_none_or(|ago| ago < COMPARED_EVERY) {
        return service.refresh_mirror(scope).await;
    }
    // What differed is in the log by then.
    service.verify_mirror(scope).await?;
    service.mirrored(scope)
}

async fn publish(service: &Service, held: &Mirror) {
    let scope = &held.scope;
    match tokio::time::timeout(WORD_LIMIT, service.publish_mirror(held)).await {
        Ok(Ok(())) => {}
        Ok(Err(why)) => warn!(%scope, %why, "that a mirror is up to date could not be published"),
        Err(_) => warn!(%scope, "that a mirror is up to date could not be published in time"),
    }
}

async fn clear(service: &Service) {
    match tokio::time::timeout(WORD_LIMIT, service.clear_mirrors()).await {
        Ok(Ok(())) => {}
        Ok(Err(why)) => warn!(%why, "the status of the mirrors stays for a day"),
        Err(_) => warn!("the status of the mirrors stays for a day: the database did not answer in time"),
    }
}
