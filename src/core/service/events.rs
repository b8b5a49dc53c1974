//! Events from files: `import` applies them, `replay` also runs the jobs in between, under simulated time.
//!
//! A file is read in a thread of its own, in batches; each batch is one transaction that also records how many lines
//! are done. Importing a file again, or a longer version of it, continues where the last import stopped, for whatever
//! reason. The effect of an event does not depend on batch boundaries, so a run that was killed and repeated leaves the
//! same graph.

mod feed;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod in_memory;
mod line;
pub(super) mod lines;
mod outcome;
pub mod replay;

use super::{Service, recall};
use crate::clock::SKEW_MAX;
use crate::domain::event::{Event, Trace, Walk};
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use crate::jobs::JobName;
use crate::store::{Batch, BatchFault, BatchOutcome, Error, OtherEvents, Progress};
use feed::{Feed, Step};
use line::Reading;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub use feed::FeedError;

/// Lines of a batch at most: larger ones create nodes no faster.
const BATCH_LINES: usize = 2_000;

/// Handling of a line that cannot be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadLines {
    /// Stop before any line of its batch is written.
    Stop,
    /// Write it to a file of rejected lines beside the events and continue.
    SetAside,
}

/// Progress of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick {
    /// Lines of the file that are done.
    pub events: u64,
    /// Bytes of the file that are done.
    pub bytes: u64,
    /// Bytes of the file.
    pub bytes_total: u64,
    /// Instant of the last event.
    pub at: Option<Timestamp>,
}

/// Result of an import or a replay.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// Events applied now.
    pub events: u64,
    /// Events by kind.
    pub by_kind: BTreeMap<&'static str, u64>,
    /// Lines that an earlier run had applied.
    pub lines_before: u64,
    /// Transactions.
    pub batches: u64,
    /// Outcomes that were not recorded, since the recall returned no useful hit.
    pub outcomes_without_hit: u64,
    /// Rejected lines.
    pub skipped_bad: u64,
    /// File of the rejected lines.
    pub set_aside_in: Option<PathBuf>,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// For a replay: runs by job.
    pub runs: BTreeMap<JobName, JobRuns>,
    /// Simulated instant at which a replay ended.
    pub ended_at: Option<Timestamp>,
}

/// Content of a file that an import would apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Events by kind.
    pub by_kind: BTreeMap<&'static str, u64>,
    /// Lines that an earlier run has applied.
    pub lines_before: u64,
    /// Lines that are not events: number and reason.
    pub bad: Vec<(u64, String)>,
}

/// Runs of one job in a replay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct JobRuns {
    /// Occurrences that ran.
    pub ran: u64,
    /// Occurrences skipped because nothing was due.
    pub nothing_due: u64,
    /// Rows written.
    pub changed: i64,
    /// Memories that expired.
    pub expired: i64,
    /// Memories that were promoted.
    pub promoted: i64,
}

/// A failure of an import.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file, or a line of it.
    #[error(transparent)]
    File(#[from] FeedError),
    /// The database.
    #[error(transparent)]
    Store(#[from] Error),
    /// The recall of an outcome.
    #[error(transparent)]
    Recall(#[from] recall::Error),
    /// A line that the database refuses.
    #[error("{path}:{line}: {why}")]
    Line {
        /// Path of the file.
        path: String,
        /// Line number, from 1.
        line: u64,
        why: Error,
    },
}

impl Service {
    /// Imports the events of a file, exactly once however often it is repeated.
    ///
    /// # Errors
    /// [`ImportError`]: the file cannot be read, a line of it is invalid, its applied part has changed, or the database
    /// failed.
    pub async fn import(
        &self,
        path: &Path,
        bad: BadLines,
        watch: &mut dyn FnMut(Tick),
    ) -> Result<Imported, ImportError> {
        let mut feeder = Feeder::open(self, path, bad).await?;
        while let Some(step) = feeder.feed.next(BATCH_LINES, None).await? {
            feeder.apply(step).await?;
            watch(feeder.tick());
        }
        Ok(feeder.finish())
    }

    /// Reads and checks every line of a file that an import would apply, and writes nothing. Faults that only the
    /// database can find (an id that is taken, an access to a missing memory) appear at the import.
    pub async fn check(
        &self,
        path: &Path,
        bad: BadLines,
        watch: &mut dyn FnMut(Tick),
    ) -> Result<Checked, ImportError> {
        let (key, name) = feed::identify(path)?;
        let progress = self.store.look_import(&key, &name, &self.config.scope).await?;
        let lines_before = u64::try_from(progress.lines).unwrap_or(0);
        let mut feed = Feed::open(path, self.reading(&key).await?, lines_before, progress.digest).await?;
        let mut checked = Checked { by_kind: BTreeMap::new(), lines_before, bad: Vec::new() };
        let mut count = |kind, count: usize| {
            if count > 0 {
                *checked.by_kind.entry(kind).or_default() += count as u64;
            }
        };
        while let Some(step) = feed.next(BATCH_LINES, None).await? {
            let made = step.events.iter().filter(|event| matches!(event, Event::Remember(_))).count();
            count("memory", made);
            count("access", step.events.len() - made);
            count("observe", step.seen.len());
            count("fact", step.facts.len());
            for trace in &step.traces {
                count(kind(trace), 1);
            }
            count("outcome", usize::from(step.outcome.is_some()));
            count("session_end", usize::from(step.session_end.is_some()));
            for (line, fault) in step.bad {
                let feed::Why::Words(why) = fault.why else { continue };
                if bad == BadLines::Stop {
                    return Err(FeedError::Line { path: path.display().to_string(), line, why }.into());
                }
                checked.bad.push((line, why));
            }
            watch(Tick {
                events: feed.line(),
                bytes: feed.bytes_done(),
                bytes_total: feed.bytes_total(),
                at: None,
            });
        }
        Ok(checked)
    }

    /// The parameters by which the lines of a file are read.
    async fn reading(&self, key: &str) -> Result<Reading, Error> {
        let present = self.store.present().await?;
        let latest = self.counted(present.server).after(SKEW_MAX.as_secs_f64() * 1_000.0);
        Ok(Reading {
            key: key.to_owned(),
            scope: self.config.scope.clone(),
            similarity: self.store.similarity().clone(),
            allowed: self.store.allowed().clone(),
            latest: present.scratch.is_none().then_some(latest),
        })
    }
}

/// Folder of the managed server that replays a file: named after the file and its key.
pub fn scratch_folder(path: &Path) -> Result<PathBuf, FeedError> {
    let (key, name) = feed::identify(path)?;
    let stem: String =
        name.chars().take(40).map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    Ok(Path::new(".ebb/replay").join(format!("{stem}-{}", &key[..8])))
}

/// Name of its kind in a file.
fn kind(trace: &Trace) -> &'static str {
    match trace.what {
        Walk::Node { .. } => "node",
        Walk::Edge { .. } => "edge",
        Walk::Deposit { .. } => "deposit",
        Walk::Explore { .. } => "explore",
    }
}

/// A file while it is imported.
struct Feeder<'a> {
    service: &'a Service,
    feed: Feed,
    key: String,
    lines: i64,
    bad: BadLines,
    begun: Instant,
    at: Option<Timestamp>,
    /// For a replay, whose batches are short: the tunables at the beginning; an import reads them for each batch.
    tunables: Option<Tunables>,
    done: Imported,
}

impl<'a> Feeder<'a> {
    async fn open(service: &'a Service, path: &Path, bad: BadLines) -> Result<Self, ImportError> {
        let begun = Instant::now();
        let (key, name) = feed::identify(path)?;
        let progress = service.store.open_import(&key, &name, &service.config.scope).await?;
        let lines_before = u64::try_from(progress.lines).unwrap_or(0);
        let at = progress.at.and_then(|ms| Timestamp::from_millis(ms).ok());
        let feed = Feed::open(path, service.reading(&key).await?, lines_before, progress.digest).await?;
        let done = Imported {
            events: 0,
            by_kind: BTreeMap::new(),
            lines_before,
            batches: 0,
            outcomes_without_hit: 0,
            skipped_bad: 0,
            set_aside_in: None,
            seconds: 0.0,
            runs: BTreeMap::new(),
            ended_at: None,
        };
        Ok(Self { service, feed, key, lines: progress.lines, bad, begun, at, tunables: None, done })
    }

    fn tick(&self) -> Tick {
        let feed = &self.feed;
        Tick { events: feed.line(), bytes: feed.bytes_done(), bytes_total: feed.bytes_total(), at: self.at }
    }

    fn finish(mut self) -> Imported {
        self.done.seconds = self.begun.elapsed().as_secs_f64();
        self.done
    }

    /// Applies one step of the file in one transaction, or in a few for the end of a session.
    async fn apply(&mut self, step: Step) -> Result<(), ImportError> {
        let from = self.lines;
        self.lines = i64::try_from(step.lines).unwrap_or(i64::MAX);
        self.at = step.latest().max(self.at);
        let progress =
            Progress { lines: self.lines, digest: step.digest, at: self.at.map(Timestamp::millis) };
        let tunables = match &self.tunables {
            Some(kept) => kept.clone(),
            None => self.service.store.valid_tunables().await?,
        };
        let store = &self.service.store;
        for (line, fault) in step.bad {
            self.refuse(line, fault)?;
        }
        if let Some((line, end)) = step.session_end {
            let ended = store
                .import_session_end(&self.key, from, &progress, &end.scope, &end.session, end.at, &tunables)
                .await;
            match ended {
                Ok(_) => self.count("session_end", 1),
                Err(why @ Error::NotFound { .. }) => {
                    self.refuse(line, feed::BadLine { text: end.text, why: feed::Why::Store(why) })?;
                    store.skip_lines(&self.key, from, &progress).await?;
                }
                Err(why) => return Err(why.into()),
            }
            self.done.batches += 1;
            return Ok(());
        }
        if let Some((line, came)) = step.outcome {
            self.done.batches += 1;
            return Box::pin(self.take_in(line, came, from, &progress)).await;
        }
        let mut events = step.events;
        let mut places = step.places;
        let (mut traces, mut trace_places) = (step.traces, step.trace_places);
        loop {
            if events.is_empty() && step.seen.is_empty() && step.facts.is_empty() && traces.is_empty() {
                store.skip_lines(&self.key, from, &progress).await?;
                break;
            }
            let batch = Batch { events: &events, tunables: &tunables };
            let beside = OtherEvents { seen: &step.seen, facts: &step.facts, traces: &traces };
            match store.import_events(&self.key, from, &progress, batch, beside).await? {
                BatchOutcome::Written(done) => {
                    let made = events.iter().filter(|event| matches!(event, Event::Remember(_))).count();
                    self.count("memory", made);
                    self.count("access", done.len() - made);
                    self.count("observe", step.seen.len());
                    self.count("fact", step.facts.len());
                    for trace in &traces {
                        self.count(kind(trace), 1);
                    }
                    break;
                }
                BatchOutcome::Rejected(faults) => {
                    for BatchFault { index, why } in faults.into_iter().rev() {
                        let (line, text) = match index.checked_sub(events.len()) {
                            Some(index) => {
                                traces.remove(index);
                                trace_places.remove(index)
                            }
                            None => {
                                events.remove(index);
                                places.remove(index)
                            }
                        };
                        self.refuse(line, feed::BadLine { text, why: feed::Why::Store(why) })?;
                    }
                }
            }
        }
        self.done.batches += 1;
        Ok(())
    }

    fn count(&mut self, kind: &'static str, count: usize) {
        let count = count as u64;
        if count > 0 {
            *self.done.by_kind.entry(kind).or_default() += count;
            self.done.events += count;
        }
    }

    /// Stops at an invalid line, or writes it to the file of rejected lines.
    fn refuse(&mut self, line: u64, bad: feed::BadLine) -> Result<(), ImportError> {
        match self.bad {
            BadLines::Stop => Err(match bad.why {
                feed::Why::Words(why) => {
                    FeedError::Line { path: self.feed.path().display().to_string(), line, why }.into()
                }
                feed::Why::Store(why) => {
                    ImportError::Line { path: self.feed.path().display().to_string(), line, why }
                }
            }),
            BadLines::SetAside => {
                self.done.set_aside_in = Some(self.feed.set_aside(line, &bad)?);
                self.done.skipped_bad += 1;
                Ok(())
            }
        }
    }
}
