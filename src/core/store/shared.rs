//! Small requests of one process that share a transaction (see `gather`), each with its own receipt.

use super::Store;
use super::batch::SharedEvents;
use super::change::{ChangeToken, committing, set_committed};
use super::error::Error;
use super::fact::FactReceipt;
use super::gather::{Gathering, Turn};
use super::relation::ObservationEffect;
use super::request::{RequestMode, answer, open, response};
use super::trail::TraceEffect;
use super::tx::{Mode, PriorTry, Tx};
use crate::domain::event::{Observe, Trace};
use crate::domain::fact::Assertion;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use tracing::debug;

/// Most items of a request that shares a transaction.
const ITEMS_MAX: usize = 16;

/// Requests that wait to share a transaction, and what each gets of it.
pub(super) type Sharing<J, R> = Gathering<Request<J>, (Done<R>, Option<ChangeToken>)>;

/// The requests of a process that wait, by kind.
#[derive(Default)]
pub(super) struct SharedWrites {
    pub(super) events: SharedEvents,
    pub(super) observations: Sharing<Vec<Observe>, Vec<ObservationEffect>>,
    pub(super) traces: Sharing<Vec<Trace>, Vec<TraceEffect>>,
    pub(super) facts: Sharing<Vec<Assertion>, Vec<FactReceipt>>,
}

/// A request that may share a transaction.
pub(super) struct Request<J> {
    id: String,
    hash: Option<String>,
    by: String,
    seed: Option<String>,
    job: J,
}

/// What was done for a request.
pub(super) struct Done<R> {
    pub(super) result: R,
    /// The response that is recorded, in JSON.
    pub(super) answer: String,
}

impl<J> Request<J> {
    /// `None` for a dry run, and for one with too many items.
    pub(super) fn of(
        mode: RequestMode<'_>,
        seed: Option<&str>,
        items: usize,
        job: impl FnOnce() -> J,
    ) -> Option<Self> {
        let (id, hash, by) = mode.named().filter(|_| (1..=ITEMS_MAX).contains(&items))?;
        Some(Self {
            id: id.to_owned(),
            hash: hash.map(str::to_owned),
            by: by.to_owned(),
            seed: seed.map(str::to_owned),
            job: job(),
        })
    }

    fn mode(&self) -> RequestMode<'_> {
        let (request, by) = (self.id.as_str(), self.by.as_str());
        match &self.hash {
            Some(hash) => RequestMode::Once { request, hash, by },
            None => RequestMode::New { request, by },
        }
    }
}

impl Store {
    /// Writes a request with those that came during the last transaction, by a body that does all of them, each whole or not
    /// at all (`None`). The error says that it is left to be written alone, and what is open then: it may be a repeat, or is
    /// refused, or its transaction failed.
    pub(super) async fn share<J, R>(
        &self,
        name: &'static str,
        sharing: &Sharing<J, R>,
        request: Option<Request<J>>,
        write: impl AsyncFn(&mut Tx, &[&J]) -> Result<Vec<Option<Done<R>>>, Error>,
    ) -> Result<R, PriorTry> {
        let (own, leader) = match sharing.join(request.ok_or_else(PriorTry::default)?).await {
            Turn::Done((done, token)) => {
                set_committed(token);
                return Ok(done.result);
            }
            Turn::Alone(unknown) => return Err(PriorTry { looks_up: true, unknown }),
            Turn::Lead(own, leader) => (own, leader),
        };
        let followers = leader.followers();
        let requests: Vec<&Request<J>> =
            std::iter::once(&own).chain(followers.iter().map(|follower| &follower.job)).collect();
        let body = async |tx: &mut Tx| write_all(tx, &requests, &write).await;
        let (done, token) = committing(self.transactions.try_once(name, Mode::Write, body)).await;
        let (done, unknown) = match done {
            Ok(done) => (done, None),
            Err((why, unknown)) => {
                debug!(tx = name, requests = requests.len(), %why, "each is written alone");
                if why.is_of_server() {
                    self.transactions.counters.retried.fetch_add(1, Ordering::Relaxed);
                }
                (Vec::new(), unknown)
            }
        };
        let mut done = done.into_iter();
        let own = done.next().flatten();
        if own.is_some() {
            set_committed(token.clone());
        }
        for follower in followers {
            match done.next().flatten() {
                Some(done) => follower.send((done, token.clone())),
                None => follower.leave(unknown.clone()),
            }
        }
        drop(leader);
        self.transactions.trim_if_due().await;
        own.map(|done| done.result).ok_or(PriorTry { looks_up: true, unknown })
    }

    /// Writes the items of a request by a body that does such items in order, all or none, and returns a result for each:
    /// once under its id, with those of other requests if they can share, or as a dry run.
    pub(super) async fn write_items<T, R, W>(
        &self,
        name: &'static str,
        sharing: &Sharing<Vec<T>, Vec<R>>,
        mode: RequestMode<'_>,
        items: &[T],
        write: W,
    ) -> Result<Vec<R>, Error>
    where
        T: Clone,
        R: Serialize + DeserializeOwned,
        W: AsyncFn(&mut Tx, &[T]) -> Result<Vec<R>, Error>,
    {
        let request = Request::of(mode, None, items.len(), || items.to_vec());
        let all = async |tx: &mut Tx, all: &[&Vec<T>]| in_order(tx, all, &write).await;
        let prior = match self.share(name, sharing, request, all).await {
            Ok(results) => return Ok(results),
            Err(prior) => prior,
        };
        let alone = async |tx: &mut Tx| {
            if let Some(results) = open(tx, mode).await? {
                return Ok(results);
            }
            let results = write(tx, items).await?;
            answer(tx, mode, &results);
            Ok(results)
        };
        self.transactions.retry_on_unique_conflict(prior, name, alone).await
    }
}

/// Does the requests and adds their receipts. Of several with one id the first is done.
async fn write_all<J, R>(
    tx: &mut Tx,
    requests: &[&Request<J>],
    write: &impl AsyncFn(&mut Tx, &[&J]) -> Result<Vec<Option<Done<R>>>, Error>,
) -> Result<Vec<Option<Done<R>>>, Error> {
    let mut ids = BTreeSet::new();
    let is_first: Vec<bool> = requests.iter().map(|request| ids.insert(request.id.as_str())).collect();
    let firsts = requests.iter().zip(&is_first).filter(|(_, is_first)| **is_first);
    let jobs: Vec<&J> = firsts.map(|(request, _)| &request.job).collect();
    let mut done = write(tx, &jobs).await?.into_iter();
    let all: Vec<Option<Done<R>>> =
        is_first.into_iter().map(|is_first| is_first.then(|| done.next().flatten()).flatten()).collect();
    for (request, done) in requests.iter().zip(&all) {
        let receipt =
            done.as_ref().and_then(|done| request.mode().receipt(request.seed.clone(), &done.answer));
        tx.changes.receipts.extend(receipt);
    }
    if tx.changes.receipts.is_empty() {
        tx.abandon();
    }
    Ok(all)
}

/// Does requests with items of one kind by a body that does them in order, all or none, and gives each its own results.
async fn in_order<T: Clone, R: Serialize>(
    tx: &mut Tx,
    requests: &[&Vec<T>],
    write: &impl AsyncFn(&mut Tx, &[T]) -> Result<Vec<R>, Error>,
) -> Result<Vec<Option<Done<Vec<R>>>>, Error> {
    let items: Vec<T> = requests.iter().flat_map(|items| items.iter().cloned()).collect();
    let mut results = write(tx, &items).await?.into_iter();
    let done = |items: &&Vec<T>| {
        let result: Vec<R> = results.by_ref().take(items.len()).collect();
        Some(Done { answer: response(&result), result })
    };
    Ok(requests.iter().map(done).collect())
}
