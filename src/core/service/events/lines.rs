//! The lines of a file, each of limited length.

use super::FeedError;
use super::feed::io;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Longest line, in bytes: a memory of the greatest size, escaped, with all its mentions and tags.
pub(super) const LINE_BYTES_MAX: u64 = 3 * 1024 * 1024;

/// A file that is read line by line.
pub(in crate::service) struct Lines<R = File> {
    path: PathBuf,
    reader: BufReader<R>,
    raw: Vec<u8>,
    number: u64,
    bytes_done: u64,
}

impl Lines {
    pub(in crate::service) fn open(path: &Path) -> Result<Self, FeedError> {
        Ok(Self::of(path, File::open(path).map_err(|why| io(path, why))?))
    }
}

impl<R: Read> Lines<R> {
    pub(in crate::service) fn of(path: &Path, file: R) -> Self {
        let reader = BufReader::with_capacity(256 * 1024, file);
        Self { path: path.to_owned(), reader, raw: Vec::new(), number: 0, bytes_done: 0 }
    }

    /// The next line, without blanks at its end; `None` at the end of the file.
    pub(in crate::service) fn next(&mut self) -> Result<Option<&[u8]>, FeedError> {
        self.raw.clear();
        let read = (&mut self.reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut self.raw);
        let read = read.map_err(|why| io(&self.path, why))? as u64;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.bytes_done += read;
        if read == LINE_BYTES_MAX && self.raw.last() != Some(&b'\n') {
            return Err(self.fault("the line is longer than 3 MiB".to_owned()));
        }
        Ok(Some(self.raw.trim_ascii_end()))
    }

    /// Reads all lines that are not blank, with their numbers.
    pub(in crate::service) fn read_all(
        mut self,
        mut read: impl FnMut(u64, &str) -> Result<(), String>,
    ) -> Result<(), FeedError> {
        while let Some(line) = self.next()? {
            let text = text_of(line).map(str::to_owned);
            let done = text.and_then(|text| match text.trim().is_empty() {
                true => Ok(()),
                false => read(self.number, &text),
            });
            done.map_err(|why| self.fault(why))?;
        }
        Ok(())
    }

    /// Bytes read.
    pub(super) const fn bytes_done(&self) -> u64 {
        self.bytes_done
    }

    /// A fault of the last line.
    fn fault(&self, why: String) -> FeedError {
        FeedError::Line { path: self.path.display().to_string(), line: self.number, why }
    }
}

/// The text of a line.
pub(super) fn text_of(line: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(line).map_err(|_| "the line is not UTF-8 text".to_owned())
}
