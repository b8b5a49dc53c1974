//! Transactions: explicit, named, and the only place of retries.
//!
//! The driver's auto-commit calls may apply a write twice, so every statement runs in an explicit transaction.
//!
//! # A commit of unknown outcome
//! A connection that breaks at COMMIT leaves the outcome unknown. Every write here therefore *begins* by locking and
//! reading the node with its receipt (an `EbbRequest`, the batch number of a run, the lines of an import, the state of
//! an attempt), and writes the receipt in the same transaction. So an unknown commit needs no special path: the
//! transaction is simply run again. Its first statement waits until the lost one is decided, finds the receipt or not,
//! and returns its response or does the work. (A request that is probably no repeat is not looked up at its first try:
//! see `request`.) Invariant: a body that is run twice has its effect once (held by
//! `faults::a_cut_at_commit_counts_once`).
//!
//! # Retries
//! Transient errors: eight tries, 20 ms doubled, full jitter, at most 2 s apart. A lost connection: as many, 100 ms
//! doubled, at most 10 s apart, but within half a second when another transaction has had a response meanwhile; a
//! server that was never reached is reported at once. Page too big: the caller halves it.
//!
//! # Clusters
//! With `neo4j://` the driver tells the server to route: every transaction begins as a write, reads too, and so a
//! server that is not the leader forwards it to the leader. Reads of another member could be older than a write that
//! was acknowledged, and the mirror would take them for newer. A leader that changes meanwhile is retried like a lost
//! connection.

use super::Config;
use super::change::{Listener, Recorded};
use super::error::{Class, Error};
use super::faults::{CommitLog, CommitOutcome, stop_point};
use super::statement::{Call, Statement};
use super::touched::Changes;
use super::trim_schedule::TrimSchedule;
use crate::clock::jitter;
use crate::domain::journal::Tracked;
use neo4rs::BoltType;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc};
use tracing::{Instrument, Span, debug, info_span, trace, warn};

const TRIES_MAX: u32 = 8;
/// Time within which transactions retry once a server responds again.
const RETURN: Duration = Duration::from_millis(500);
const ROLLBACK_LIMIT: Duration = Duration::from_secs(2);

/// The driver, wrapped.
#[expect(clippy::disallowed_types, reason = "store is the driver's only home")]
pub(super) struct Driver {
    pub(super) graph: neo4rs::Graph,
    pub(super) uri: String,
    pub(super) user: String,
    pub(super) acquire_timeout: Duration,
}

impl Driver {
    /// A pool that opens its first connection at its first use.
    #[expect(clippy::disallowed_types, reason = "store is the driver's only home")]
    pub(super) fn connect(how: neo4rs::Config, config: &Config) -> Result<Self, neo4rs::Error> {
        Ok(Self {
            graph: neo4rs::Graph::connect(how)?,
            uri: config.uri.clone(),
            user: config.username.clone(),
            acquire_timeout: config.acquire_timeout,
        })
    }

    /// Whether the server forwards transactions to the leader of its cluster.
    fn is_routed(&self) -> bool {
        self.uri.starts_with("neo4j")
    }
}

/// Counters of transactions, for status and tests.
#[derive(Debug, Default)]
pub struct TxCounters {
    /// Retries after a transient error or a lost connection.
    pub retried: AtomicU64,
    /// Commits with an unknown outcome after a broken connection, each settled by its receipt since.
    pub unknown_commits: AtomicU64,
    /// Transactions of vanished holders that were ended because they blocked others.
    pub evicted: AtomicU64,
}

/// The access mode of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Read,
    Write,
}

/// An open transaction.
#[expect(clippy::disallowed_types, reason = "store is the driver's only home")]
pub(super) struct Tx {
    txn: neo4rs::Txn,
    uri: String,
    abandoned: bool,
    commit_log: CommitLog,
    /// Changes so far.
    pub(super) changes: Changes,
    /// Rows that it names for the journal.
    pub(super) tracked: Vec<Tracked>,
    /// Whether it is to look up its request before it does anything: an earlier one may have been committed.
    pub(super) looks_up: bool,
    /// Whether it went on without: it may be a repeat, then, if it comes to nothing.
    pub(super) may_be_repeat: bool,
    /// Attempt of the work, for the test history.
    pub(super) attempt: Option<String>,
}

impl Tx {
    /// Makes the transaction roll back at its end; the result of its body is kept.
    pub(super) fn abandon(&mut self) {
        self.abandoned = true;
    }

    /// Sets the entry of this transaction's commit in the test history.
    pub(super) fn log_history(&mut self, what: impl FnOnce() -> serde_json::Value) {
        self.commit_log = CommitLog::of(what);
    }

    /// Runs a statement and returns its rows.
    pub(super) async fn rows<T: DeserializeOwned>(&mut self, call: Call) -> Result<Vec<T>, Error> {
        let mut rows = Vec::new();
        self.each(call, |row| rows.push(row)).await?;
        Ok(rows)
    }

    /// Runs a statement and passes on each row as it arrives.
    pub(super) async fn each<T: DeserializeOwned>(
        &mut self,
        call: Call,
        mut take: impl FnMut(T),
    ) -> Result<(), Error> {
        let mut rows = self.open(call).await?;
        while let Some(row) = rows.next().await? {
            take(row);
        }
        Ok(())
    }

    /// Runs a statement and sends what is made of each row as it arrives; ends early if nobody receives it.
    pub(super) async fn send<T: DeserializeOwned, S>(
        &mut self,
        call: Call,
        to: &mpsc::Sender<S>,
        mut make: impl FnMut(T) -> Result<S, Error>,
    ) -> Result<(), Error> {
        let mut rows = self.open(call).await?;
        while let Some(row) = rows.next().await? {
            if to.send(make(row)?).await.is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Runs a statement whose values may be of any type, and returns these columns of it: the driver does not preserve
    /// order.
    pub(super) async fn table(&mut self, call: Call, columns: &[&str]) -> Result<Vec<Vec<BoltType>>, Error> {
        let mut rows = self.open(call).await?;
        let mut table = Vec::new();
        while let Some(row) = rows.next_row().await? {
            let cells =
                columns.iter().map(|column| row.get::<BoltType>(column).map_err(|why| rows.fault(&why)));
            table.push(cells.collect::<Result<Vec<BoltType>, Error>>()?);
        }
        Ok(table)
    }

    async fn open(&mut self, call: Call) -> Result<Rows<'_>, Error> {
        let Self { txn, uri, .. } = self;
        let (statement, begun) = (call.statement, Instant::now());
        let stream = txn.execute(call.query()).await.map_err(|why| sort(why, statement, uri))?;
        Ok(Rows { txn, uri, statement, stream, begun, count: 0 })
    }

    /// Runs a statement that returns at most one row.
    pub(super) async fn row<T: DeserializeOwned>(&mut self, call: Call) -> Result<Option<T>, Error> {
        Ok(self.rows(call).await?.pop())
    }

    /// Runs a statement that always returns one row.
    pub(super) async fn only<T: DeserializeOwned>(&mut self, call: Call) -> Result<T, Error> {
        let statement = call.statement;
        self.row(call).await?.ok_or_else(|| no_row(statement))
    }

    /// Runs a statement for its effect. One that returns nothing takes one round trip; the result of another is drained,
    /// since the server never evaluates a discarded result.
    pub(super) async fn run(&mut self, call: Call) -> Result<(), Error> {
        #[derive(serde::Deserialize)]
        struct Ignored {}
        let statement = call.statement;
        if statement.header().returns == "nothing" {
            let begun = Instant::now();
            self.txn.run(call.query()).await.map_err(|why| sort(why, statement, &self.uri))?;
            log_step(statement.name, begun, 0);
            return Ok(());
        }
        self.rows::<Ignored>(call).await.map(|_| ())
    }

    /// Rolls back. One that was dropped would keep its locks until its connection is used again. After a failed statement the
    /// server has rolled back already and reports so; either response frees the connection.
    async fn roll_back(self, name: &'static str) {
        let rolled_back = tokio::time::timeout(ROLLBACK_LIMIT, self.txn.rollback()).await;
        debug!(tx = name, ?rolled_back, "rolled back");
    }

    /// Rolls back for this reason.
    async fn fail(self, name: &'static str, why: Error) -> Failure {
        let may_be_repeat = self.may_be_repeat && !why.is_of_server();
        self.roll_back(name).await;
        if may_be_repeat { Failure::Repeat } else { Failure::Known(why) }
    }
}

/// Rows of a statement, as they arrive.
#[expect(clippy::disallowed_types, reason = "store is the driver's only home")]
struct Rows<'t> {
    txn: &'t mut neo4rs::Txn,
    uri: &'t str,
    statement: &'static Statement,
    stream: neo4rs::RowStream,
    begun: Instant,
    count: u64,
}

#[expect(clippy::disallowed_types, reason = "store is the driver's only home")]
impl Rows<'_> {
    async fn next_row(&mut self) -> Result<Option<neo4rs::Row>, Error> {
        let row = self.stream.next(self.txn.handle()).await;
        let row = row.map_err(|why| sort(why, self.statement, self.uri))?;
        match row {
            Some(_) => self.count += 1,
            None => log_step(self.statement.name, self.begun, self.count),
        }
        Ok(row)
    }

    async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Error> {
        let row = self.next_row().await?;
        row.map(|row| row.to::<T>().map_err(|why| self.fault(&why))).transpose()
    }

    fn fault(&self, why: &neo4rs::DeError) -> Error {
        Error::Decode { statement: self.statement.name, detail: why.to_string() }
    }
}

/// Logs a step of a transaction: a statement, `BEGIN` or `COMMIT`. What a write takes is the sum of these
/// (`cargo bench --bench steps`).
fn log_step(statement: &'static str, begun: Instant, rows: u64) {
    trace!(statement, rows, elapsed_us = begun.elapsed().as_micros());
}

/// Transactions on one server.
pub(super) struct Transactions {
    driver: Driver,
    reached: AtomicBool,
    /// Notifies transactions that wait for an unreachable server, once one has had a response over any pool.
    back: Arc<Notify>,
    pub(super) counters: Arc<TxCounters>,
    /// Schedule of trims after writes.
    pub(super) trims: Arc<TrimSchedule>,
    pub(super) listener: Arc<Listener>,
}

/// State left by an earlier transaction of the same write.
#[derive(Debug, Clone, Default)]
pub(super) struct PriorTry {
    /// Whether one may have been committed, so that the write is looked up first.
    pub(super) looks_up: bool,
    /// Why the outcome of one is unknown, if it is.
    pub(super) unknown: Option<String>,
}

/// Tries of one transaction.
struct Tries {
    count: u32,
    prior: PriorTry,
}

impl Tries {
    /// Begins the next one.
    fn next(&mut self, name: &'static str) -> Span {
        self.count += 1;
        info_span!("store.tx", tx = name, attempt = self.count)
    }
}

impl Transactions {
    pub(super) fn new(
        driver: Driver,
        counters: Arc<TxCounters>,
        back: Arc<Notify>,
        (trims, listener): (Arc<TrimSchedule>, Arc<Listener>),
    ) -> Self {
        Self { driver, reached: AtomicBool::new(false), back, counters, trims, listener }
    }

    pub(super) fn uri(&self) -> &str {
        &self.driver.uri
    }

    /// Runs `body` in a transaction called `name` and commits it, and retries if that is safe and useful. A body must
    /// be safe to run again: it begins with its receipt, or only reads.
    pub(super) async fn run<T, F>(&self, name: &'static str, mode: Mode, body: F) -> Result<T, Error>
    where
        F: AsyncFn(&mut Tx) -> Result<T, Error>,
    {
        self.run_after(PriorTry::default(), name, mode, body).await
    }

    /// As [`Self::run`], after other transactions.
    async fn run_after<T, F>(
        &self,
        prior: PriorTry,
        name: &'static str,
        mode: Mode,
        body: F,
    ) -> Result<T, Error>
    where
        F: AsyncFn(&mut Tx) -> Result<T, Error>,
    {
        let mut tries = Tries { count: 0, prior };
        loop {
            // On the heap, so that the futures of callers stay small.
            let once = Box::pin(self.once(name, mode, tries.prior.looks_up, &body));
            match once.instrument(tries.next(name)).await {
                Ok(answer) => {
                    if mode == Mode::Write {
                        self.trim_if_due().await;
                    }
                    return Ok(answer);
                }
                Err(failure) => self.wait(name, &mut tries, failure).await?,
            }
        }
    }

    /// Waits until a transaction that failed is to be tried again.
    ///
    /// # Errors
    /// That of the transaction, if another try is of no use.
    async fn wait(&self, name: &'static str, tries: &mut Tries, failure: Failure) -> Result<(), Error> {
        let why = match failure {
            Failure::Unknown(why) => {
                tries.prior = PriorTry { looks_up: true, unknown: Some(why.to_string()) };
                why
            }
            Failure::Repeat => {
                tries.prior.looks_up = true;
                return Ok(());
            }
            Failure::Known(why) => why,
        };
        let unknown = &mut tries.prior.unknown;
        let pause = match &why {
            Error::Unavailable { .. } if self.reached.load(Ordering::Relaxed) => {
                pause(tries.count, 100, 10_000)
            }
            Error::Query { class: Class::Transient, .. } => pause(tries.count, 20, 2_000),
            Error::Query { class: Class::Terminated, .. } if tries.count == 1 => Duration::from_millis(20),
            // An election: once it is over, the server forwards transactions to the new leader.
            _ if why.is_not_leader() && self.driver.is_routed() => pause(tries.count, 100, 10_000),
            // Stopped or not let in by the server, so it says nothing of an earlier try.
            _ if why.is_of_server() || matches!(why, Error::Login { .. }) => {
                return Err(final_error(why, unknown.take(), name));
            }
            _ => return Err(why),
        };
        if tries.count >= TRIES_MAX {
            return Err(final_error(why, unknown.take(), name));
        }
        if unknown.is_some() {
            stop_point!("before_receipt_read");
        }
        self.counters.retried.fetch_add(1, Ordering::Relaxed);
        debug!(tx = name, tries = tries.count, pause_ms = pause.as_millis(), %why, "retrying");
        let away = is_away(&why);
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            // Jittered: a server that has just restarted plans a statement once for each transaction that arrives
            // meanwhile.
            () = self.back.notified(), if away => tokio::time::sleep(jitter(RETURN)).await,
        }
        Ok(())
    }

    /// Runs a read-only statement in a transaction with the statement's name, and returns its rows.
    pub(super) async fn read<T: DeserializeOwned>(&self, call: Call) -> Result<Vec<T>, Error> {
        debug_assert_eq!(call.statement.header().mode, "read", "{}", call.statement.name);
        self.run(call.statement.name, Mode::Read, async |tx: &mut Tx| tx.rows(call.clone()).await).await
    }

    /// Runs a body that creates something unique. One that lost the race for a new key is run again, and then finds it
    /// there.
    pub(super) async fn retry_on_unique_conflict<T, F>(
        &self,
        prior: PriorTry,
        name: &'static str,
        body: F,
    ) -> Result<T, Error>
    where
        F: AsyncFn(&mut Tx) -> Result<T, Error>,
    {
        let mut races = 0;
        loop {
            match self.run_after(prior.clone(), name, Mode::Write, &body).await {
                Err(why) if why.is_taken() && races < 3 => races += 1,
                outcome => return outcome,
            }
        }
    }

    /// Runs `body` in a transaction without retries, for a caller that needs the present state.
    pub(super) async fn run_once<T, F>(&self, name: &'static str, mode: Mode, body: F) -> Result<T, Error>
    where
        F: AsyncFn(&mut Tx) -> Result<T, Error>,
    {
        self.try_once(name, mode, body).await.map_err(|(why, _)| why)
    }

    /// As [`Self::run_once`]; the error comes with the reason why the transaction may have been committed, if it may.
    pub(super) async fn try_once<T, F>(
        &self,
        name: &'static str,
        mode: Mode,
        body: F,
    ) -> Result<T, (Error, Option<String>)>
    where
        F: AsyncFn(&mut Tx) -> Result<T, Error>,
    {
        Box::pin(self.once(name, mode, false, &body)).await.map_err(|why| match why {
            Failure::Known(why) => (why, None),
            Failure::Unknown(why) => {
                let unknown = Some(why.to_string());
                (why, unknown)
            }
            Failure::Repeat => (Error::Conflict("the request may be a repeat".to_owned()), None),
        })
    }

    // A function with a body is compiled once for each body, and so is short; what does not depend on it stands in others.
    async fn once<T, F>(&self, name: &'static str, mode: Mode, looks_up: bool, body: &F) -> Result<T, Failure>
    where
        F: AsyncFn(&mut Tx) -> Result<T, Error>,
    {
        let mut tx = self.begin(looks_up).await.map_err(Failure::Known)?;
        match body(&mut tx).await {
            Ok(answer) => self.end(tx, name, mode).await.map(|()| answer),
            Err(why) => Err(tx.fail(name, why).await),
        }
    }

    /// Commits a transaction whose body is done, or rolls back one that was abandoned.
    async fn end(&self, mut tx: Tx, name: &'static str, mode: Mode) -> Result<(), Failure> {
        let change = if tx.abandoned { Ok(None) } else { tx.record_change().await };
        let change = match change {
            Ok(change) => change,
            Err(why) => return Err(tx.fail(name, why).await),
        };
        self.back.notify_waiters();
        if tx.abandoned {
            let may_be_repeat = tx.may_be_repeat;
            tx.roll_back(name).await;
            return if may_be_repeat { Err(Failure::Repeat) } else { Ok(()) };
        }
        if mode == Mode::Write {
            stop_point!("before_commit");
        }
        let Tx { txn, uri, commit_log, .. } = tx;
        commit_log.record_start();
        let begun = Instant::now();
        match txn.commit().await {
            Ok(()) => {
                log_step("COMMIT", begun, 0);
                commit_log.record_end(CommitOutcome::Committed);
                if mode == Mode::Write {
                    self.trims.count(change.as_ref().map_or(1, Recorded::writes));
                    stop_point!("after_commit");
                }
                if let Some(change) = change {
                    self.listener.tell(change);
                }
                Ok(())
            }
            Err(why) => match sort(why, &Statement { name, file: "" }, &uri) {
                why if mode == Mode::Write && (is_away(&why) || why.is_doubtful_at_commit()) => {
                    commit_log.record_end(CommitOutcome::Unknown);
                    self.counters.unknown_commits.fetch_add(1, Ordering::Relaxed);
                    warn!(tx = name, %why, "the outcome of a commit is unknown; retrying, its receipt decides");
                    Err(Failure::Unknown(why))
                }
                why => {
                    commit_log.record_end(CommitOutcome::Failed);
                    Err(Failure::Known(why))
                }
            },
        }
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place where transactions begin")]
    async fn begin(&self, looks_up: bool) -> Result<Tx, Error> {
        let begun = Instant::now();
        match tokio::time::timeout(self.driver.acquire_timeout, self.driver.graph.start_txn()).await {
            Ok(Ok(txn)) => {
                log_step("BEGIN", begun, 0);
                self.reached.store(true, Ordering::Relaxed);
                Ok(Tx {
                    txn,
                    uri: self.driver.uri.clone(),
                    abandoned: false,
                    commit_log: CommitLog::default(),
                    changes: Changes::default(),
                    tracked: Vec::new(),
                    looks_up,
                    may_be_repeat: false,
                    attempt: None,
                })
            }
            Ok(Err(neo4rs::Error::AuthenticationError(why))) => {
                Err(Error::Login { uri: self.driver.uri.clone(), user: self.driver.user.clone(), why })
            }
            Ok(Err(why)) => Err(sort(why, &Statement { name: "BEGIN", file: "" }, &self.driver.uri)),
            Err(_) => Err(Error::Unavailable {
                uri: self.driver.uri.clone(),
                why: format!("no response within {} s", self.driver.acquire_timeout.as_secs()),
            }),
        }
    }
}

/// The error of a statement that violates its header.
pub(super) fn no_row(statement: &Statement) -> Error {
    Error::Decode { statement: statement.name, detail: "no row where one is required".to_owned() }
}

/// The error of a transaction that is not retried: an outcome that an earlier try left unknown stays unknown.
fn final_error(why: Error, unknown: Option<String>, what: &'static str) -> Error {
    match unknown {
        Some(why) => Error::OutcomeUnknown { what, why },
        None => why,
    }
}

const fn is_away(why: &Error) -> bool {
    matches!(why, Error::Unavailable { .. })
}

enum Failure {
    Known(Error),
    /// Of a commit.
    Unknown(Error),
    /// It came to nothing, and may be the repeat of a request that it has not looked up.
    Repeat,
}

/// Full jitter: any duration up to the doubled pause, so that two conflicting transactions do not collide again.
fn pause(tries: u32, first_ms: u64, most_ms: u64) -> Duration {
    jitter(Duration::from_millis((first_ms << tries.min(16)).min(most_ms)))
}

/// Converts the driver's error.
fn sort(why: neo4rs::Error, statement: &Statement, uri: &str) -> Error {
    match why {
        neo4rs::Error::Neo4j(why) => Error::Query {
            statement: statement.name,
            code: why.code().to_owned(),
            message: why.message().to_owned(),
            class: Class::of(why.code(), why.message()),
        },
        neo4rs::Error::DeserializationError(why) => {
            Error::Decode { statement: statement.name, detail: why.to_string() }
        }
        why => Error::Unavailable { uri: uri.to_owned(), why: why.to_string() },
    }
}
