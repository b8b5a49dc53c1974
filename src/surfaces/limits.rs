//! Limits on calls: how many are at work at one time, by the kind of work, and the bytes of bodies and answers in flight.
//!
//! Each kind of work has permits of its own, so that lists and dry runs never take those of writes, and work that is long
//! never those of work that is short. Permits follow from the connections to the database: what is long may have three
//! eighths of them at one time, and one caller one permit less than all. What waits for a permit or for bytes waits for a few
//! seconds and is refused then, with 503 and `Retry-After`.
//!
//! # Bytes
//! A body counts as it arrives until its work is done, an answer from when it is written down until the system has taken
//! it: its last byte gives its count back. The first 64 KiB of either count for nothing: 1,024 connections bound them.

mod capacity;

pub(super) use capacity::Permit;
pub use capacity::Usage;

use super::operation::problem::Problem;
use axum::body::Bytes;
use capacity::Capacity;
use std::time::Duration;

/// A kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// Short, and reads.
    Read,
    /// Short, and writes.
    Write,
    /// Long, and reads: lists, dry runs, the engine over a whole graph.
    List,
    /// Long, and writes: batches, jobs and sweeps.
    Batch,
}

/// How long a request waits for a permit, or for room for its answer.
pub(super) const QUEUE_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of bodies, and of answers, that may be in flight.
const BYTES_MAX: u64 = 64 << 20;
/// Of these, of one caller.
const BYTES_EACH: u64 = 48 << 20;
/// Bytes of a body or an answer that are not counted.
pub(super) const SMALL: usize = 64 << 10;

/// The limits on calls.
pub(super) struct Limits {
    reads: Capacity,
    writes: Capacity,
    lists: Capacity,
    batches: Capacity,
    pub(super) bodies: Capacity,
    answers: Capacity,
}

/// An answer, or a part of one, with the count of its bytes.
struct Counted {
    bytes: Vec<u8>,
    _held: Permit,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Limits {
    /// For so many connections to the database.
    pub(super) fn new(connections: usize) -> Self {
        let connections = u64::try_from(connections).unwrap_or(u64::MAX);
        let permits = |count: u64| Capacity::new(count.max(2), count.max(2) - 1);
        let long = connections.saturating_mul(3) / 8;
        Self {
            reads: permits(connections),
            writes: permits(connections),
            lists: permits(long),
            batches: permits(long),
            bodies: Capacity::new(BYTES_MAX, BYTES_EACH),
            answers: Capacity::new(BYTES_MAX, BYTES_EACH),
        }
    }

    /// A permit for work of a kind.
    pub(super) async fn permit(
        &self,
        work: Work,
        caller: &str,
        timeout: Duration,
    ) -> Result<Permit, Problem> {
        let (permits, name) = match work {
            Work::Read => (&self.reads, "reads"),
            Work::Write => (&self.writes, "writes"),
            Work::List => (&self.lists, "lists and dry runs"),
            Work::Batch => (&self.batches, "batches and jobs"),
        };
        let full = |_| Problem::unavailable(format!("there are too many {name} at work"), 1);
        permits.take(caller, 1, timeout).await.map_err(full)
    }

    /// An answer, or a part of one, once there is room for its bytes.
    pub(super) async fn answer(
        &self,
        caller: &str,
        bytes: Vec<u8>,
        timeout: Duration,
    ) -> Result<Bytes, Problem> {
        let Some(counted) = bytes.len().checked_sub(SMALL).filter(|counted| *counted > 0) else {
            return Ok(bytes.into());
        };
        let held = self.answers.take(caller, u64::try_from(counted).unwrap_or(u64::MAX), timeout).await;
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
        timeout: Duration,
        held: &mut Option<Permit>,
    ) -> Result<(), Problem> {
        let full = |_| Problem::unavailable("there is no room for the answer: too many are being sent", 5);
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        Permit::add(held, self.answers.take(caller, bytes, timeout).await.map_err(full)?);
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
        .map(|(what, capacity)| (what, capacity.usage()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn lists_of_one_caller_take_no_permit_of_anything_else() {
        let limits = Limits::new(8);
        let held = [
            limits.permit(Work::List, "a", SOON).await.unwrap(),
            limits.permit(Work::List, "a", SOON).await.unwrap(),
        ];
        assert!(limits.permit(Work::List, "a", SOON).await.is_err());
        assert!(limits.permit(Work::List, "b", SOON).await.is_ok());
        for work in [Work::Read, Work::Write, Work::Batch] {
            assert!(limits.permit(work, "a", SOON).await.is_ok(), "{work:?}");
        }
        drop(held);
    }

    #[tokio::test]
    async fn an_answer_counts_until_its_last_byte_is_gone() {
        let limits = Limits::new(8);
        let used = || limits.usage()[5].1.used;
        let small = limits.answer("a", vec![0; SMALL], SOON).await.unwrap();
        assert_eq!(used(), 0);
        let large = limits.answer("a", vec![0; SMALL + 7], SOON).await.unwrap();
        let part = large.slice(3..5);
        drop(large);
        assert_eq!(used(), 7);
        drop((part, small));
        assert_eq!(used(), 0);
        let most = limits.answer("a", vec![0; 100 << 20], SOON).await.unwrap();
        assert!(limits.answer("a", vec![0; SMALL + 1], SOON).await.is_err(), "one caller has its share");
        assert!(limits.answer("b", vec![0; SMALL + 1], SOON).await.is_ok(), "and another its own");
        drop(most);
    }
}
