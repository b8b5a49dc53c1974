//! Limits on calls: the number of concurrent calls by kind of work, and the bytes of bodies and answers in flight.
//!
//! Each kind of work has its own permits, so that lists and dry runs never block writes, and long work never blocks
//! short work. The number of permits follows from the number of database connections: each kind of long work has three
//! eighths of them, and one caller at most all but one. Short writes have as many as share a transaction, since they share its
//! connection, too; those that must be written alone wait for one in the order of their arrival. A call waits a few seconds
//! for a permit or for bytes and is then refused with 503 and `Retry-After`.
//!
//! # Bytes
//! A body counts from its arrival until its work is done, an answer from its serialization until the system has taken
//! its last byte. The first 64 KiB of each are not counted, since the limit of 1,024 connections bounds them.

mod capacity;

pub(super) use capacity::Permit;
pub use capacity::Usage;

use super::operation::problem::Problem;
use axum::body::Bytes;
use capacity::Capacity;
use std::time::Duration;

/// Kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// Short reads.
    Read,
    /// Short writes.
    Write,
    /// Long reads: lists, dry runs, the engine over a whole graph.
    List,
    /// Long writes: batches, jobs and sweeps.
    Batch,
}

/// How long a request waits for a permit, or for room for its answer.
pub(super) const QUEUE_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of bytes in flight, of bodies and of answers each.
const BYTES_MAX: u64 = 64 << 20;
/// Maximum of these for one caller.
pub(super) const BYTES_EACH: u64 = 48 << 20;
/// Bytes at the start of a body or an answer that are not counted.
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

/// An answer, or a part of one, with the permit for its bytes.
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
    /// Limits for a number of connections to the database, and of short writes that share one.
    pub(super) fn new(connections: usize, shared: usize) -> Self {
        let permits = |count: usize| {
            let count = u64::try_from(count.max(2)).unwrap_or(u64::MAX);
            Capacity::new(count, count - 1)
        };
        let long = connections.saturating_mul(3) / 8;
        Self {
            reads: permits(connections),
            writes: permits(connections.max(shared)),
            lists: permits(long),
            batches: permits(long),
            bodies: Capacity::new(BYTES_MAX, BYTES_EACH),
            answers: Capacity::new(BYTES_MAX, BYTES_EACH),
        }
    }

    /// Waits for a permit for a kind of work.
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
        let full = |_| Problem::unavailable(format!("too many {name} in progress"), 1);
        permits.take(caller, 1, timeout).await.map_err(full)
    }

    /// Waits until the bytes of an answer, or of a part of one, fit into the limit.
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
            let detail = "too many answers are being sent, so this one cannot be. What the request writes was written; \
                retry it with the same Idempotency-Key to write only once";
            Problem::unavailable(detail, 5)
        };
        Ok(Bytes::from_owner(Counted { bytes, _held: held.map_err(full)? }))
    }

    /// Counts more bytes of the data that an answer is built from.
    pub(super) async fn hold(
        &self,
        caller: &str,
        bytes: usize,
        timeout: Duration,
        held: &mut Option<Permit>,
    ) -> Result<(), Problem> {
        let full = |_| Problem::unavailable("too many answers are being sent, so this one cannot be", 5);
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        Permit::add(held, self.answers.take(caller, bytes, timeout).await.map_err(full)?);
        Ok(())
    }

    /// The usage of each limit.
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
        let limits = Limits::new(8, 8);
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
        let limits = Limits::new(8, 8);
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
        assert!(limits.answer("a", vec![0; SMALL + 1], SOON).await.is_err(), "one caller has a limit");
        assert!(limits.answer("b", vec![0; SMALL + 1], SOON).await.is_ok(), "and another caller has its own");
        drop(most);
    }
}
