//! A writer and a reader that compute a checksum of the bytes that pass.
//!
//! The checksum is part of the file, so it covers the bytes before the quotation mark of its name. A reader finds its
//! position only at the end, and keeps the last bytes unhashed until then.

use crate::graph::Error;
use std::io::{self, BufWriter, Read, Write};
use xxhash_rust::xxh3::Xxh3Default;

/// Bytes read at once.
const CHUNK: usize = 64 * 1024;
/// Bytes kept unhashed: the checksum, and any white space around it.
const TAIL: usize = 256;
/// Name of the checksum in a file.
const NAME: &[u8] = b"\"checksum\"";

/// A writer that hashes the written bytes.
pub(super) struct SummedWriter<W> {
    inner: W,
    sum: Xxh3Default,
}

impl<W: Write> SummedWriter<W> {
    pub(super) fn new(inner: W) -> Self {
        Self { inner, sum: Xxh3Default::new() }
    }

    /// Ends a file whose last list is open: closes the list, writes the checksum, closes the file.
    pub(super) fn finish(mut out: BufWriter<Self>) -> io::Result<()> {
        out.write_all(b"\n],")?;
        // The hash covers only what has left the buffer.
        out.flush()?;
        let sum = out.get_ref().sum.digest();
        write!(out, "\"checksum\":\"{sum:016x}\"}}")?;
        out.flush()
    }
}

impl<W: Write> Write for SummedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// A reader that hashes the bytes read, in chunks.
pub(super) struct SummedReader<R> {
    inner: R,
    /// Bytes that are not hashed yet: consumed up to `at`, then read ahead up to `end`.
    chunk: Vec<u8>,
    at: usize,
    end: usize,
    sum: Xxh3Default,
}

impl<R: Read> SummedReader<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, chunk: vec![0; TAIL + CHUNK], at: 0, end: 0, sum: Xxh3Default::new() }
    }

    /// Verifies the checksum of the file.
    pub(super) fn check(self, given: &str) -> Result<(), Error> {
        let reason = match self.sum_before_name().map(|sum| format!("{sum:016x}")) {
            Some(sum) if sum == given => return Ok(()),
            Some(sum) => format!("it is {given}, but the content has {sum}"),
            None => format!("\"checksum\" is not among the last {TAIL} bytes of the file"),
        };
        Err(Error::CorruptSnapshot { path: "checksum".to_owned(), reason })
    }

    /// The hash of all bytes before the name of the checksum, if the name is among the last bytes.
    fn sum_before_name(mut self) -> Option<u64> {
        let read = &self.chunk[..self.at];
        let name = read.windows(NAME.len()).rposition(|bytes| bytes == NAME)?;
        self.sum.update(&read[..name]);
        Some(self.sum.digest())
    }

    fn refill(&mut self) -> io::Result<()> {
        let kept = self.end.min(TAIL);
        self.sum.update(&self.chunk[..self.end - kept]);
        self.chunk.copy_within(self.end - kept..self.end, 0);
        (self.at, self.end) = (kept, kept);
        self.end += self.inner.read(&mut self.chunk[kept..])?;
        Ok(())
    }
}

impl<R: Read> Read for SummedReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.end {
            self.refill()?;
        }
        let count = into.len().min(self.end - self.at);
        into[..count].copy_from_slice(&self.chunk[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}
