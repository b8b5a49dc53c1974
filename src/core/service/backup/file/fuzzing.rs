//! Fuzz entry point: backup files.

use super::{End, FileError, LastLine, Lines, Reader, Written, line};
use crate::domain::ids::hex;
use crate::store::BackupRow;
use sha2::{Digest, Sha256};
use std::path::Path;

const NAME: &str = "backup.ndjson";

/// Reads a file as it is, and its valid lines with the last line that they need.
pub fn read(bytes: &[u8]) {
    let whole = restored(bytes);
    let (lines, nodes, relationships) = valid_lines(bytes);
    if lines == 0 {
        return;
    }
    let begin: Vec<u8> =
        bytes.split_inclusive(|byte| *byte == b'\n').take(lines).flatten().copied().collect();
    let checksum = hex(&Sha256::digest(&begin));
    let end = End::of(&Written { nodes, relationships, bytes: 0, checksum });
    let sealed = [begin, line(&LastLine { end }).expect("a last line")].concat();
    match restored(&sealed) {
        Some(rows) => assert_eq!(rows.len() as u64, nodes + relationships),
        None => assert!(whole.is_none(), "a file is valid, and its lines are not"),
    }
}

/// The number of valid lines at the beginning, and of their rows.
fn valid_lines(bytes: &[u8]) -> (usize, u64, u64) {
    let Ok(mut reader) = Reader::of(Path::new(NAME), bytes) else { return (0, 0, 0) };
    let (mut lines, mut nodes, mut relationships) = (1, 0, 0);
    while let Ok(Some(row)) = reader.next() {
        lines += 1;
        match row {
            BackupRow::Node { .. } => nodes += 1,
            BackupRow::Relationship { .. } => relationships += 1,
        }
    }
    (lines, nodes, relationships)
}

/// The rows of a file that can be restored. They are the same in a file that is written of them.
fn restored(bytes: &[u8]) -> Option<Vec<BackupRow>> {
    let path = Path::new(NAME);
    let header = match Reader::of(path, bytes).and_then(Reader::check) {
        Ok(checked) => checked.header,
        Err(FileError::Line { line, why, .. }) => {
            assert!(line > 0 && !why.is_empty());
            return None;
        }
        Err(FileError::Newer { .. }) => return None,
        Err(why) => panic!("only a line can be at fault: {why}"),
    };
    let rows = rows(bytes);
    rows.iter().for_each(BackupRow::check_values);
    let mut lines = Lines::default();
    let mut again = lines.first(&header).expect("a header");
    rows.iter().for_each(|row| again.extend(lines.row(row).expect("a row")));
    again.extend(lines.last().expect("an end"));
    let read = Reader::of(path, again.as_slice()).and_then(Reader::check).expect("a written file");
    assert_eq!((read.header, read.written), (header, lines.written));
    assert_eq!(self::rows(&again), rows);
    Some(rows)
}

/// The rows of a valid file, as a restore reads them.
fn rows(bytes: &[u8]) -> Vec<BackupRow> {
    let mut reader = Reader::of(Path::new(NAME), bytes).expect("a file that was read before");
    let mut rows = Vec::new();
    loop {
        let batch = reader.batch().expect("a row that was read before");
        if batch.is_empty() {
            return rows;
        }
        rows.extend(batch);
    }
}
