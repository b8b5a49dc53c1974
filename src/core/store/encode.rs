//! Encoding of domain values as parameters: one list per column, never a list of maps.
//!
//! Columns are the fastest for the server to read and the simplest to build. Requests are cut into slices of less than
//! 8 KiB where that is cheaper than one large one: the driver leaves Nagle's algorithm on, so a request that does not
//! fit one segment waits 40 ms for an acknowledgement, enough time for fifty small ones.

use super::statement::Statement;
use crate::domain::units::Timestamp;
use neo4rs::{BoltList, BoltType};

/// A list parameter from values.
pub(super) fn list<T: Into<BoltType>>(values: impl IntoIterator<Item = T>) -> BoltType {
    BoltType::List(BoltList::from(values.into_iter().map(Into::into).collect::<Vec<BoltType>>()))
}

/// A list of instants as epoch milliseconds, null where there is none.
pub(super) fn instants(values: impl IntoIterator<Item = Option<Timestamp>>) -> BoltType {
    list(values.into_iter().map(|at| at.map(Timestamp::millis)))
}

/// Bytes of a request that is sent without delay.
const REQUEST_BYTES: usize = 8_192;
/// Part of these bytes for frames, parameter names and list headers, at most.
const FRAME_BYTES: usize = 700;
/// Size from which one large request is cheaper than many small ones.
const LARGE_BYTES: usize = 600_000;
/// Most rows of one request.
const ROWS_MAX: usize = 5_000;

/// Cuts rows into the slices of the requests of a statement, given the size of each row in bytes. Every row is in
/// exactly one slice, in order.
pub(super) fn slices<'a, T>(
    statement: &Statement,
    rows: &'a [T],
    weight: impl Fn(&T) -> usize,
) -> impl Iterator<Item = &'a [T]> {
    let room = REQUEST_BYTES.saturating_sub(FRAME_BYTES + statement.body().len());
    let large = rows.iter().map(&weight).sum::<usize>() >= LARGE_BYTES;
    let mut rest = rows;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut bytes = 0;
        let fitting = rest
            .iter()
            .take(ROWS_MAX)
            .take_while(|row| {
                bytes += weight(row);
                large || bytes <= room
            })
            .count();
        let (slice, later) = rest.split_at(fitting.max(1));
        rest = later;
        Some(slice)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_row_is_sent_once_and_small_sets_stay_small(rows in prop::collection::vec(1_usize..20_000, 0..300)) {
            let statement = Statement { name: "a", file: "RETURN 1" };
            let cut: Vec<&[usize]> = slices(&statement, &rows, |row| *row).collect();
            prop_assert_eq!(cut.concat(), rows.clone());
            if rows.iter().sum::<usize>() < LARGE_BYTES {
                for slice in cut {
                    prop_assert!(slice.len() == 1 || slice.iter().sum::<usize>() <= REQUEST_BYTES);
                }
            }
        }
    }
}
