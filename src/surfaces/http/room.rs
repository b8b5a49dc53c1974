//! Room for requests: places for work, by its kind, and the bytes of bodies and answers that are in flight.
//!
//! Each kind of work has places of its own, so that lists and dry runs never take those of writes, and work that is long
//! never those of work that is short. Places follow from the connections to the database: what is long may have three
//! eighths of them at one time, and one caller one place less than all. What waits for a place or for bytes waits for a few
//! seconds and is refused then, with 503 and `Retry-After`.
//!
//! # Bytes
//! A body counts as it arrives until its work is done, an answer from when it is written down until the system has taken
//! it: its last byte gives its count back. The first 64 KiB of either count for nothing: 1,024 connections bound them.

use super::problem::Problem;
use super::shares::Shares;
pub use super::shares::{Held, Usage};
use axum::body::Bytes;
use std::time::Duration;

/// A kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::surfaces) enum Kind {
    /// Short, and reads.
    Read,
    /// Short, and writes.
    Write,
    /// Long, and reads: lists, dry runs, the engine over a whole graph.
    List,
    /// Long, and writes: batches, jobs and sweeps.
    Batch,
}

/// How long a request waits for a place, or for room for its answer.
pub(super) const QUEUE_LIMIT: Duration = Duration::from_secs(5);
/// Bytes of bodies, and of answers, that may be in flight.
const BYTES_MAX: u64 = 64 << 20;
/// Of these, of one caller.
const BYTES_EACH: u64 = 48 << 20;
/// Bytes of a body or an answer that are not counted.
pub(super) const SMALL: usize = 64 << 10;

/// Room for requests.
pub(super) struct Room {
    reads: Shares,
    writes: Shares,
    lists: Shares,
    batches: Shares,
    pub(super) bodies: Shares,
    answers: Shares,
}

/// An answer, or a part of one, with the count of its bytes.
struct Counted {
    bytes: Vec<u8>,
    _held: Held,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Room {
    /// For work over so many connections.
    pub(super) fn over(connections: usize) -> Self {
        let connections = u64::try_from(connections).unwrap_or(u64::MAX);
        let places = |count: u64| Shares::new(count.max(2), count.max(2) - 1);
        let long = connections.saturating_mul(3) / 8;
        Self {
            reads: places(connections),
            writes: places(connections),
            lists: places(long),
            batches: places(long),
            bodies: Shares::new(BYTES_MAX, BYTES_EACH),
            answers: Shares::new(BYTES_MAX, BYTES_EACH),
        }
    }

    /// A place for work of a kind.
    pub(super) async fn place(&self, kind: Kind, caller: &str, limit: Duration) -> Result<Held, Problem> {
        let (places, what) = match kind {
            Kind::Read => (&self.reads, "reads"),
            Kind::Write => (&self.writes, "writes"),
            Kind::List => (&self.lists, "lists and dry runs"),
            Kind::Batch => (&self.batches, "batches and jobs"),
        };
        let full = |_| Problem::unavailable(format!("there are too many {what} at work"), 1);
        places.take(caller, 1, limit).await.map_err(full)
    }

    /// An answer, or a part of one, once there is room for its bytes.
    pub(super) async fn answer(
        &self,
        caller: &str,
        bytes: Vec<u8>,
        limit: Duration,
    ) -> Result<Bytes, Problem> {
        let Some(counted) = bytes.len().checked_sub(SMALL).filter(|counted| *counted > 0) else {
            return Ok(bytes.into());
        };
        let held = self.answers.take(caller, u64::try_from(counted).unwrap_or(u64::MAX), limit).await;
        let full = |_| {
            let detail = "there is no room for the answer: too many are being sent. A write was done; repeat it with the \
                          same Idempotency-Key, and it counts once";
            Problem::unavailable(detail, 5)
        };
        Ok(Bytes::from_owner(Counted { bytes, _held: held.map_err(full)? }))
    }

    /// Counts more bytes of what an answer is made of.
    pub(super) async fn hold(
        &self,
        caller: &str,
        bytes: usize,
        limit: Duration,
        held: &mut Option<Held>,
    ) -> Result<(), Problem> {
        let full = |_| Problem::unavailable("there is no room for the answer: too many are being sent", 5);
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        Held::add(held, self.answers.take(caller, bytes, limit).await.map_err(full)?);
        Ok(())
    }

    /// How much of each part is used.
    pub(super) fn usage(&self) -> [(&'static str, Usage); 6] {
        [
            ("reads", &self.reads),
            ("writes", &self.writes),
            ("lists", &self.lists),
            ("batches", &self.batches),
            ("body_bytes", &self.bodies),
            ("answer_bytes", &self.answers),
        ]
        .map(|(what, shares)| (what, shares.usage()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn lists_of_one_caller_take_no_place_of_anything_else() {
        let room = Room::over(8);
        let held = [
            room.place(Kind::List, "a", SOON).await.unwrap(),
            room.place(Kind::List, "a", SOON).await.unwrap(),
        ];
        assert!(room.place(Kind::List, "a", SOON).await.is_err());
        assert!(room.place(Kind::List, "b", SOON).await.is_ok());
        for kind in [Kind::Read, Kind::Write, Kind::Batch] {
            assert!(room.place(kind, "a", SOON).await.is_ok(), "{kind:?}");
        }
        drop(held);
    }

    #[tokio::test]
    async fn an_answer_counts_until_its_last_byte_is_gone() {
        let room = Room::over(8);
        let used = || room.usage()[5].1.used;
        let small = room.answer("a", vec![0; SMALL], SOON).await.unwrap();
        assert_eq!(used(), 0);
        let large = room.answer("a", vec![0; SMALL + 7], SOON).await.unwrap();
        let part = large.slice(3..5);
        drop(large);
        assert_eq!(used(), 7);
        drop((part, small));
        assert_eq!(used(), 0);
        let most = room.answer("a", vec![0; 100 << 20], SOON).await.unwrap();
        assert!(room.answer("a", vec![0; SMALL + 1], SOON).await.is_err(), "one caller has its share");
        assert!(room.answer("b", vec![0; SMALL + 1], SOON).await.is_ok(), "and another its own");
        drop(most);
    }
}
