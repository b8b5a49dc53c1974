//! A file of events, read ahead in a thread of its own and cut into steps.
//!
//! A step is the content of one transaction: a limited number of lines that touch memories, or the end of one session,
//! or one outcome, whose recall must see the effect of the lines before it. Each step carries the number of lines of
//! the file that are done after it and the hash of all of them, so that a repeat can verify the part that it skips.

use super::line::{Line, OutcomeLine, Reading, SessionEndLine, parse};
use super::lines::{LINE_BYTES_MAX, Lines, text_of};
use crate::domain::event::{Event, Observe, Trace};
use crate::domain::fact::Assertion;
use crate::domain::ids::hex;
use crate::domain::units::Timestamp;
use crate::store::Error;
use ebb_files::Readers;
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;

/// Lines read ahead.
const AHEAD: usize = 4_096;

/// A fault of the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FeedError {
    /// The file cannot be read or written.
    #[error("{path}: {why}")]
    Io {
        /// Path of the file.
        path: String,
        why: std::io::Error,
    },
    /// A line is not an event.
    #[error("{path}:{line}: {why}")]
    Line {
        /// Path of the file.
        path: String,
        /// Line number, from 1.
        line: u64,
        why: String,
    },
    /// The part that was already applied has changed.
    #[error(
        "{path}: its first {lines} lines were imported before and have changed since; an import cannot be undone. \
         Restore these lines, or put what follows them into a new file. Do not rename this one: all of its lines would count \
         a second time"
    )]
    Changed {
        /// Path of the file.
        path: String,
        /// Number of applied lines.
        lines: u64,
    },
    /// Events of a file to be replayed are out of order.
    #[error(
        "{path}:{line}: its instant lies before that of an earlier line; a replay needs events in order of time"
    )]
    OutOfOrder {
        /// Path of the file.
        path: String,
        /// Line number, from 1.
        line: u64,
    },
}

/// A rejected line.
#[derive(Debug)]
pub(super) struct BadLine {
    pub(super) text: String,
    pub(super) why: Why,
}

#[derive(Debug)]
pub(super) enum Why {
    Words(String),
    Store(Error),
}

/// The content of one transaction.
#[derive(Debug, Default)]
pub(super) struct Step {
    /// Events, in order.
    pub(super) events: Vec<Event>,
    /// Line number and text of each event.
    pub(super) places: Vec<(u64, String)>,
    /// Observed relations, in order.
    pub(super) seen: Vec<Observe>,
    /// Asserted facts, in order.
    pub(super) facts: Vec<Assertion>,
    /// Trail events, in order, applied after all others.
    pub(super) traces: Vec<Trace>,
    /// Line number and text of each trail event.
    pub(super) trace_places: Vec<(u64, String)>,
    /// The end of a session, alone in its step.
    pub(super) session_end: Option<(u64, SessionEndLine)>,
    /// An outcome, alone in its step.
    pub(super) outcome: Option<(u64, OutcomeLine)>,
    /// Lines that are not events.
    pub(super) bad: Vec<(u64, BadLine)>,
    /// Lines of the file done after this step.
    pub(super) lines: u64,
    /// Hash of these lines.
    pub(super) digest: String,
}

impl Step {
    /// Latest instant of its events.
    pub(super) fn latest(&self) -> Option<Timestamp> {
        let ended = self.session_end.as_ref().map(|(_, end)| end.at);
        let seen = self.seen.iter().map(|observe| observe.seen.at);
        let asserted = self.facts.iter().map(|fact| fact.at);
        let traced = self.traces.iter().map(|trace| trace.at);
        let came = self.outcome.as_ref().map(|(_, came)| came.judged.at);
        let beside = seen.chain(asserted).chain(traced).chain(came).chain(ended);
        self.events.iter().map(Event::at).chain(beside).max()
    }
}

struct ReadLine {
    number: u64,
    bytes_done: u64,
    digest: Sha256,
    line: Option<Result<Line, String>>,
    text: String,
}

/// A file of events.
pub(super) struct Feed {
    path: PathBuf,
    bytes_total: u64,
    bytes_done: u64,
    line: u64,
    lines: mpsc::Receiver<Result<ReadLine, FeedError>>,
    peeked: VecDeque<ReadLine>,
    done_before: u64,
    set_aside: Option<File>,
}

/// Key and name of a file: the key identifies repeats of the same import.
pub(super) fn identify(path: &Path) -> Result<(String, String), FeedError> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut first = Vec::new();
    let file = File::open(path).map_err(|why| io(path, why))?;
    BufReader::new(file).take(LINE_BYTES_MAX).read_until(b'\n', &mut first).map_err(|why| io(path, why))?;
    let mut hash = Sha256::new();
    hash.update(name.as_bytes());
    hash.update([0]);
    hash.update(first.trim_ascii_end());
    Ok((hex(&hash.finalize())[..32].to_owned(), name))
}

impl Feed {
    /// Opens a file whose first `done_before` lines, with this digest, are done.
    pub(super) async fn open(
        path: &Path,
        reading: Reading,
        done_before: u64,
        digest: String,
    ) -> Result<Self, FeedError> {
        let file = File::open(path).map_err(|why| io(path, why))?;
        let bytes_total = file.metadata().map_err(|why| io(path, why))?.len();
        let (sender, lines) = mpsc::channel(AHEAD);
        let from = path.to_owned();
        std::thread::spawn(move || {
            let reader = Reader { path: from, reading, done_before, digest };
            if let Err(why) = reader.read(file, &sender) {
                // A dropped receiver needs no error either.
                let _ = sender.blocking_send(Err(why));
            }
        });
        Ok(Self {
            path: path.to_owned(),
            bytes_total,
            bytes_done: 0,
            line: done_before,
            lines,
            peeked: VecDeque::new(),
            done_before,
            set_aside: None,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The last line that was returned.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    pub(super) fn bytes_done(&self) -> u64 {
        self.bytes_done
    }

    pub(super) fn bytes_total(&self) -> u64 {
        self.bytes_total
    }

    /// Instant of the next line that has one.
    pub(super) async fn next_at(&mut self) -> Result<Option<Timestamp>, FeedError> {
        let mut index = 0;
        loop {
            if index == self.peeked.len() {
                match self.lines.recv().await {
                    Some(read) => self.peeked.push_back(read?),
                    None => return Ok(None),
                }
            }
            if let Some(Ok(line)) = &self.peeked[index].line {
                return Ok(Some(line.at()));
            }
            index += 1;
        }
    }

    /// Returns the next step: at most `lines_max` lines, all before `until`; `None` at the end of the file, or if the
    /// next event is not before `until`.
    pub(super) async fn next(
        &mut self,
        lines_max: usize,
        until: Option<Timestamp>,
    ) -> Result<Option<Step>, FeedError> {
        let mut step = Step::default();
        let mut digest = None;
        for taken in 0..lines_max {
            let Some(read) = self.take().await? else { break };
            let at = read.line.as_ref().and_then(|line| line.as_ref().ok()).map(Line::at);
            let alone = matches!(&read.line, Some(Ok(Line::SessionEnd(_) | Line::Outcome(_))));
            // Trail events come last in their step: they may refer to places that the lines before create.
            let before_traces = matches!(&read.line, Some(Ok(Line::Event(_) | Line::Observe(_))));
            let apart = (alone && taken > 0) || (before_traces && !step.traces.is_empty());
            if at.zip(until).is_some_and(|(at, until)| at >= until) || apart {
                self.peeked.push_front(read);
                break;
            }
            step.lines = read.number;
            self.bytes_done = read.bytes_done;
            self.line = read.number;
            digest = Some(read.digest);
            match read.line {
                None => {}
                Some(Ok(Line::Event(event))) => {
                    step.events.push(event);
                    step.places.push((read.number, read.text));
                }
                Some(Ok(Line::Observe(observe))) => step.seen.push(observe),
                Some(Ok(Line::Fact(fact))) => step.facts.push(fact),
                Some(Ok(Line::Trace(trace))) => {
                    step.traces.push(trace);
                    step.trace_places.push((read.number, read.text));
                }
                Some(Ok(Line::Outcome(came))) => step.outcome = Some((read.number, came)),
                Some(Ok(Line::SessionEnd(end))) => step.session_end = Some((read.number, end)),
                Some(Err(why)) => {
                    step.bad.push((read.number, BadLine { text: read.text, why: Why::Words(why) }));
                }
            }
            if alone {
                break;
            }
        }
        Ok(digest.map(|digest: Sha256| Step { digest: hex(&digest.finalize()), ..step }))
    }

    async fn take(&mut self) -> Result<Option<ReadLine>, FeedError> {
        match self.peeked.pop_front() {
            Some(read) => Ok(Some(read)),
            None => self.lines.recv().await.transpose(),
        }
    }

    /// Writes a rejected line to the file of rejected lines, with its number and the reason.
    pub(super) fn set_aside(&mut self, line: u64, bad: &BadLine) -> Result<PathBuf, FeedError> {
        let mut name = self.path.file_name().unwrap_or_default().to_os_string();
        name.push(".skipped.ndjson");
        let path = self.path.with_file_name(name);
        let file = match &mut self.set_aside {
            Some(file) => file,
            slot => slot.insert(aside(&path, self.done_before).map_err(|why| io(&path, why))?),
        };
        let why = match &bad.why {
            Why::Words(why) => why.clone(),
            Why::Store(why) => why.to_string(),
        };
        let row = serde_json::json!({ "line": line, "why": why, "text": bad.text });
        writeln!(file, "{row}").and_then(|()| file.flush()).map_err(|why| io(&path, why))?;
        Ok(path)
    }
}

/// The file of rejected lines; entries of an earlier run about lines that it did not finish are dropped, since these
/// lines are read again.
fn aside(path: &Path, done_before: u64) -> std::io::Result<File> {
    let kept: String = match std::fs::read_to_string(path) {
        Ok(text) => text
            .lines()
            .filter(|row| {
                let row: Option<serde_json::Value> = serde_json::from_str(row).ok();
                row.and_then(|row| row["line"].as_u64()).is_some_and(|line| line <= done_before)
            })
            .map(|row| format!("{row}\n"))
            .collect(),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(why) => return Err(why),
    };
    Ok(ebb_files::replace(path, Readers::Owner, kept.as_bytes())?)
}

struct Reader {
    path: PathBuf,
    reading: Reading,
    done_before: u64,
    digest: String,
}

impl Reader {
    fn read(&self, file: File, sender: &mpsc::Sender<Result<ReadLine, FeedError>>) -> Result<(), FeedError> {
        let mut lines = Lines::of(&self.path, file);
        let mut hash = Sha256::new();
        for number in 1.. {
            let Some(line) = lines.next()? else {
                return if number <= self.done_before { Err(self.changed()) } else { Ok(()) };
            };
            hash.update(line);
            hash.update([b'\n']);
            if number <= self.done_before {
                if number == self.done_before && hex(&hash.clone().finalize()) != self.digest {
                    return Err(self.changed());
                }
                continue;
            }
            let text = String::from_utf8_lossy(line).into_owned();
            let line = match text_of(line) {
                Ok(text) if text.trim().is_empty() => None,
                Ok(text) => Some(parse(text, number, &self.reading)),
                Err(why) => Some(Err(why)),
            };
            let bytes_done = lines.bytes_done();
            let read = ReadLine { number, bytes_done, digest: hash.clone(), line, text };
            if sender.blocking_send(Ok(read)).is_err() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn changed(&self) -> FeedError {
        FeedError::Changed { path: self.path.display().to_string(), lines: self.done_before }
    }
}

pub(super) fn io(path: &Path, why: std::io::Error) -> FeedError {
    FeedError::Io { path: path.display().to_string(), why }
}
