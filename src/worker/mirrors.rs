//! The mirrors of a process that answers questions: loaded, brought up to date at each of their turns, and told of in the graph.
//!
//! # Stopping
//! What is read is dropped where it stands. A word that is being left is left first, since one that is broken off in the middle
//! would keep its row locked against the last thing that a process does here: it takes its words away. Both have limits that
//! together stay below the ten seconds of a stop; what is left behind grows old, and is removed after a day.

use super::{Roles, looped};
use crate::domain::ids::Scope;
use crate::scheduler::panics::{Panics, TooManyPanics};
use crate::service::Service;
use crate::surfaces::http::probes::Ready;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::warn;

/// How long leaving a word may take, and taking all away again.
const WORD_LIMIT: Duration = Duration::from_secs(4);

/// Keeps the mirrors of a process with such roles, until it is told to stop.
pub(super) async fn keep(
    service: &Arc<Service>,
    roles: Roles,
    ready: &watch::Sender<Ready>,
    panics: &Panics,
    stop: &CancellationToken,
) -> Result<(), TooManyPanics> {
    if !roles.http && !roles.mcp {
        return Ok(());
    }
    let (service, told, ready) = (Arc::clone(service), stop.clone(), ready.subscribe());
    looped(panics, stop, move || refreshing(Arc::clone(&service), ready.clone(), told.clone())).await
}

/// Brings all mirrors up to date at each of their turns, while the database answers.
async fn refreshing(
    service: Arc<Service>,
    mut ready: watch::Receiver<Ready>,
    stop: CancellationToken,
) -> Result<(), TooManyPanics> {
    let every = service.refresh_every();
    let mut is_known = false;
    while !stop.is_cancelled() {
        let answers = stop.run_until_cancelled(ready.wait_for(Result::is_ok)).await;
        let answers = answers.is_some_and(|answer| answer.is_ok());
        for held in service.mirrors().into_iter().filter(|_| answers) {
            match stop.run_until_cancelled(Box::pin(service.refresh_mirror(&held.scope))).await {
                None => break,
                Some(Ok(_)) => {
                    is_known = true;
                    tell(&service, &held.scope).await;
                }
                Some(Err(why)) => {
                    warn!(scope = %held.scope, %why, "a mirror could not be brought up to date")
                }
            }
        }
        stop.run_until_cancelled(tokio::time::sleep(every)).await;
    }
    if is_known {
        quit(&service).await;
    }
    Ok(())
}

async fn tell(service: &Service, scope: &Scope) {
    match tokio::time::timeout(WORD_LIMIT, service.tell_mirror(scope)).await {
        Ok(Ok(())) => {}
        Ok(Err(why)) => warn!(%scope, %why, "that a mirror is up to date could not be told"),
        Err(_) => warn!(%scope, "that a mirror is up to date could not be told in time"),
    }
}

async fn quit(service: &Service) {
    match tokio::time::timeout(WORD_LIMIT, service.quit_mirrors()).await {
        Ok(Ok(())) => {}
        Ok(Err(why)) => warn!(%why, "what was told of mirrors stays for a day"),
        Err(_) => warn!("what was told of mirrors stays for a day: the database did not answer in time"),
    }
}
