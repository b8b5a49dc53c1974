//! The file of a backup: a line for the header, one for each node, then one for each relationship, then the end.
//!
//! Every line is a JSON object with one entry, whose name says what it is. Values of properties are as `store` encodes
//! them. The end has the counts and the SHA-256 of all bytes before its line, so a file that was cut off or changed is
//! rejected.
//!
//! # Design notes
//! A migration that changes rows raises `FORMAT`: a backup of an older schema is loaded as it is.

use crate::clock::rfc3339;
use crate::domain::ids::{Scope, hex};
use crate::domain::units::Timestamp;
use crate::store::{BackupRow, Store};
use ebb_files::{CALLS, Readers, replace_by};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;

/// Version of the format.
const FORMAT: u32 = 1;
/// Longest line, in bytes.
const LINE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Rows, and bytes of their lines, of a batch at most.
const BATCH_ROWS: usize = 1_000;
const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Version of the format.
    pub format: u32,
    /// The last migration of the database.
    pub schema: String,
    /// Version of Ebb.
    pub version: String,
    /// Instant of the backup, RFC 3339.
    pub at: String,
    /// Nodes, counted before they were read.
    pub nodes: u64,
    /// Relationships, counted before they were read.
    pub relationships: u64,
    /// The scope, if it is the export of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

/// Contents of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    pub nodes: u64,
    pub relationships: u64,
    pub bytes: u64,
    /// SHA-256 of all lines before the last, hexadecimal.
    pub checksum: String,
}

/// A file that was read to its end, and can be restored.
#[derive(Debug)]
pub struct Checked {
    pub header: Header,
    pub written: Written,
    /// API keys among its nodes: whoever holds one has access to a database into which the file is restored.
    pub keys: u64,
}

/// The last line.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct End {
    nodes: u64,
    relationships: u64,
    sha256: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstLine {
    backup: Header,
}

/// What the first line of any format has.
#[derive(Deserialize)]
struct Versions {
    backup: Version,
}

#[derive(Deserialize)]
struct Version {
    format: u32,
    schema: String,
    version: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LastLine {
    end: End,
}

/// A failure of a backup file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] ebb_files::Error),
    /// It cannot be read.
    #[error("the backup {path} cannot be read: {why}")]
    Read {
        /// Path of the file.
        path: String,
        why: io::Error,
    },
    /// A line of it is not what it should be.
    #[error("{path}:{line}: {why}")]
    Line {
        /// Path of the file.
        path: String,
        /// Number of the line, from 1.
        line: u64,
        why: String,
    },
    /// Another version of Ebb made it.
    #[error("{path} is a backup of {what}, made by Ebb {version}, and this version reads up to {reads}")]
    Newer {
        /// Path of the file.
        path: String,
        /// Its format or schema.
        what: String,
        /// The version that made it.
        version: String,
        /// Format or schema of this version.
        reads: String,
    },
    /// A row of it cannot be written.
    #[error("a row of the export cannot be written: {0}")]
    Row(io::Error),
    /// Its lines are not taken.
    #[error("the lines of the export are not read: nobody took one for {} s", .0.as_secs())]
    Stalled(Duration),
    /// It was changed, or could not be read again, between being checked and being loaded.
    #[error("the backup {path} was changed while it was restored, so the database holds a part of it: {why}")]
    Changed {
        /// Path of the file.
        path: String,
        why: String,
    },
    /// A thread ended early.
    #[error("the thread that reads or writes the backup has ended early: {0}")]
    Thread(String),
}

/// What the writer of a file receives.
#[derive(Debug)]
pub(super) enum Message {
    Row(Box<BackupRow>),
    /// All rows were sent.
    Complete,
}

impl Header {
    pub(super) fn new(at: Timestamp, nodes: i64, relationships: i64, scope: Option<&Scope>) -> Self {
        let count = |rows: i64| u64::try_from(rows).unwrap_or(0);
        Self {
            format: FORMAT,
            schema: Store::schema_version().to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            at: rfc3339(at),
            nodes: count(nodes),
            relationships: count(relationships),
            scope: scope.map(ToString::to_string),
        }
    }
}

impl Version {
    /// Checks that this version reads it.
    fn check(&self, path: &Path) -> Result<(), FileError> {
        let newer = |what: String, reads: String| {
            let (path, version) = (path.display().to_string(), self.version.clone());
            Err(FileError::Newer { path, what, version, reads })
        };
        let schema = Store::schema_version();
        if self.format > FORMAT {
            return newer(format!("format {}", self.format), format!("format {FORMAT}"));
        }
        let number = |of: &str| of.trim_start_matches('V').parse::<u32>().unwrap_or(u32::MAX);
        if number(&self.schema) > number(schema) {
            return newer(format!("schema {}", self.schema), format!("schema {schema}"));
        }
        Ok(())
    }
}

/// Writes a file from messages, whole or not at all.
pub(super) fn write(
    path: &Path,
    header: &Header,
    mut messages: mpsc::Receiver<Message>,
) -> Result<Written, FileError> {
    let mut lines = Lines::default();
    replace_by(&CALLS, path, Readers::Owner, |into| {
        into.write_all(&lines.first(header)?)?;
        loop {
            match messages.blocking_recv() {
                Some(Message::Row(row)) => into.write_all(&lines.row(&row)?)?,
                Some(Message::Complete) => break,
                None => return Err(io::Error::other("the rows were not read to their end")),
            }
        }
        into.write_all(&lines.last()?)
    })?;
    Ok(lines.written)
}

/// The lines of a file in their order, with their counts and checksum.
#[derive(Debug, Default)]
pub(super) struct Lines {
    hash: Sha256,
    pub(super) written: Written,
}

impl Lines {
    pub(super) fn first(&mut self, header: &Header) -> io::Result<Vec<u8>> {
        self.counted(line(&FirstLine { backup: header.clone() })?)
    }

    pub(super) fn row(&mut self, row: &BackupRow) -> io::Result<Vec<u8>> {
        match row {
            BackupRow::Node { .. } => self.written.nodes += 1,
            BackupRow::Relationship { .. } => self.written.relationships += 1,
        }
        self.counted(line(row)?)
    }

    pub(super) fn last(&mut self) -> io::Result<Vec<u8>> {
        self.written.checksum = hex(&std::mem::take(&mut self.hash).finalize());
        let end = line(&LastLine { end: End::of(&self.written) })?;
        self.written.bytes += end.len() as u64;
        Ok(end)
    }

    fn counted(&mut self, line: Vec<u8>) -> io::Result<Vec<u8>> {
        self.hash.update(&line);
        self.written.bytes += line.len() as u64;
        Ok(line)
    }
}

/// A line with its end.
fn line(of: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(of)?;
    line.push(b'\n');
    if line.len() as u64 > LINE_BYTES_MAX {
        return Err(io::Error::other("a row takes more than 64 MiB, which a backup cannot hold"));
    }
    Ok(line)
}

impl End {
    fn of(written: &Written) -> Self {
        let Written { nodes, relationships, .. } = *written;
        Self { nodes, relationships, sha256: written.checksum.clone() }
    }
}

/// A file that is read line by line.
pub(super) struct Reader<R = File> {
    path: PathBuf,
    file: BufReader<R>,
    raw: Vec<u8>,
    number: u64,
    hash: Sha256,
    header: Header,
    done: Written,
    /// Whether the last line was read.
    has_ended: bool,
}

impl Reader {
    /// Opens a file and checks its header.
    pub(super) fn open(path: &Path) -> Result<Self, FileError> {
        let opened = File::open(path);
        let file = opened.map_err(|why| FileError::Read { path: path.display().to_string(), why })?;
        Self::of(path, file)
    }
}

impl<R: Read> Reader<R> {
    /// Checks the header of an open file.
    fn of(path: &Path, file: R) -> Result<Self, FileError> {
        let header = Header::new(Timestamp::EPOCH, 0, 0, None);
        let done = Written::default();
        let mut reader = Self {
            path: path.to_owned(),
            file: BufReader::with_capacity(256 * 1024, file),
            raw: Vec::new(),
            number: 0,
            hash: Sha256::new(),
            header,
            done,
            has_ended: false,
        };
        reader.read_line()?;
        // A newer format may have other fields.
        if let Ok(Versions { backup }) = serde_json::from_slice(&reader.raw) {
            backup.check(path)?;
        }
        let first = serde_json::from_slice(&reader.raw);
        let FirstLine { backup } =
            first.map_err(|why| reader.fault(format!("this is not the first line of a backup: {why}")))?;
        reader.hash.update(&reader.raw);
        reader.header = backup;
        Ok(reader)
    }

    /// Reads the rest, and checks that it can be restored.
    pub(super) fn check(mut self) -> Result<Checked, FileError> {
        let mut keys = 0;
        while let Some(row) = self.next()? {
            row.check().map_err(|why| self.fault(why))?;
            keys += u64::from(row.is_key());
        }
        Ok(Checked { header: self.header, written: self.done, keys })
    }

    /// The next rows; none at the end.
    pub(super) fn batch(&mut self) -> Result<Vec<BackupRow>, FileError> {
        let (mut rows, mut bytes) = (Vec::new(), 0);
        while rows.len() < BATCH_ROWS && bytes < BATCH_BYTES {
            let Some(row) = self.next()? else { break };
            bytes += self.raw.len();
            rows.push(row);
        }
        Ok(rows)
    }

    /// Contents of a file that was read to its end.
    pub(super) fn contents(&self) -> &Written {
        &self.done
    }

    /// The next row; `None` after the last, when counts and checksum were compared.
    fn next(&mut self) -> Result<Option<BackupRow>, FileError> {
        if self.has_ended {
            return Ok(None);
        }
        self.read_line()?;
        if self.raw.starts_with(b"{\"end\"") {
            return self.end().map(|()| None);
        }
        self.hash.update(&self.raw);
        let row = serde_json::from_slice(&self.raw);
        let row = row.map_err(|why| self.fault(format!("this is no row of a backup: {why}")))?;
        match row {
            BackupRow::Node { .. } if self.done.relationships > 0 => {
                return Err(self.fault("a node stands after a relationship".to_owned()));
            }
            BackupRow::Node { .. } => self.done.nodes += 1,
            BackupRow::Relationship { .. } => self.done.relationships += 1,
        }
        Ok(Some(row))
    }

    /// Compares counts and checksum with the last line.
    fn end(&mut self) -> Result<(), FileError> {
        let last = serde_json::from_slice(&self.raw);
        let LastLine { end } =
            last.map_err(|why| self.fault(format!("this is not the last line of a backup: {why}")))?;
        self.done.checksum = hex(&std::mem::take(&mut self.hash).finalize());
        if end != End::of(&self.done) {
            let why =
                "the file was changed after it was written: its rows are not those that its last line counts";
            return Err(self.fault(why.to_owned()));
        }
        self.has_ended = true;
        match self.file.fill_buf() {
            Ok([]) => Ok(()),
            Ok(_) => Err(self.fault("more lines follow the last one of the backup".to_owned())),
            Err(why) => Err(self.unreadable(why)),
        }
    }

    fn read_line(&mut self) -> Result<(), FileError> {
        self.raw.clear();
        self.number += 1;
        let read = (&mut self.file).take(LINE_BYTES_MAX).read_until(b'\n', &mut self.raw);
        self.done.bytes += read.map_err(|why| self.unreadable(why))? as u64;
        match self.raw.last() {
            Some(b'\n') => Ok(()),
            Some(_) if self.raw.len() as u64 == LINE_BYTES_MAX => {
                Err(self.fault("the line is longer than 64 MiB".to_owned()))
            }
            _ => Err(self.fault("the file ends before the last line of the backup".to_owned())),
        }
    }

    fn unreadable(&self, why: io::Error) -> FileError {
        FileError::Read { path: self.path.display().to_string(), why }
    }

    fn fault(&self, why: String) -> FileError {
        FileError::Line { path: self.path.display().to_string(), line: self.number, why }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    fn row(name: &str) -> BackupRow {
        BackupRow::Node {
            name: name.to_owned(),
            labels: vec!["Memory".to_owned()],
            values: Map::from_iter([("content".to_owned(), "a\nb".into())]),
        }
    }

    fn link() -> BackupRow {
        let [kind, from, to] = ["REINFORCES", "1", "2"].map(str::to_owned);
        BackupRow::Relationship { kind, from, to, values: Map::new() }
    }

    /// Writes a file of these messages.
    fn written(path: &Path, messages: Vec<Message>) -> Result<Written, FileError> {
        let (sender, receiver) = mpsc::channel(messages.len().max(1));
        messages.into_iter().for_each(|message| sender.try_send(message).unwrap());
        drop(sender);
        write(path, &Header::new(Timestamp::EPOCH, 2, 1, None), receiver)
    }

    fn whole(path: &Path) -> Written {
        let rows = [row("1"), row("2"), link()].map(|row| Message::Row(Box::new(row)));
        written(path, rows.into_iter().chain([Message::Complete]).collect()).unwrap()
    }

    #[test]
    fn a_file_comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.ndjson");
        let written = whole(&path);
        assert_eq!((written.nodes, written.relationships), (2, 1));
        assert_eq!(written.bytes, path.metadata().unwrap().len());
        let Checked { header, written: read, .. } = Reader::open(&path).unwrap().check().unwrap();
        assert_eq!((header.format, read), (FORMAT, written));
        let mut reader = Reader::open(&path).unwrap();
        assert_eq!(reader.batch().unwrap(), [row("1"), row("2"), link()]);
        assert_eq!(reader.batch().unwrap(), []);
    }

    #[test]
    fn rows_that_were_not_read_to_their_end_leave_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.ndjson");
        let why = written(&path, vec![Message::Row(Box::new(row("1")))]).unwrap_err();
        assert!(why.to_string().contains("not read to their end"), "{why}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_that_was_cut_off_or_changed_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.ndjson");
        whole(&path);
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let without = |at: usize| {
            let kept = lines.iter().enumerate().filter(|(line, _)| *line != at);
            kept.map(|(_, line)| format!("{line}\n")).collect::<String>()
        };
        let damaged = [
            (String::new(), "ends before"),
            (text[..text.len() / 2].to_owned(), "ends before"),
            (without(4), "ends before"),
            (without(0), "not the first line"),
            (without(1), "was changed"),
            (text.replace("a\\nb", "a\\nc"), "was changed"),
            (format!("{text}{{}}\n"), "more lines follow"),
            (text.replace("\"labels\"", "\"label\""), "no row of a backup"),
            (text.replace("\"format\":1", "\"format\":2"), "of format 2"),
            (text.replace("\"format\":1", "\"more\":1,\"format\":2"), "of format 2"),
            (text.replace(Store::schema_version(), "V999"), "of schema V999"),
        ];
        for (damaged, wanted) in damaged {
            std::fs::write(&path, &damaged).unwrap();
            let why = Reader::open(&path).and_then(Reader::check).unwrap_err().to_string();
            assert!(why.contains(wanted), "{why}\n{damaged}");
        }
    }
}
