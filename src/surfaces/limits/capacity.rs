//! A capacity shared fairly by callers: permits for a kind of work, or bytes in flight.
//!
//! If the capacity is exhausted, callers wait in a queue, up to a timeout. Released capacity goes to the caller that
//! holds the least, and among equals to the one that has waited longest: a caller with a hundred queued requests is
//! served as often as one with a single request. A single caller may hold nearly everything; the rest,
//! `capacity - each`, stays free for other callers even while it holds its share for long.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// A capacity. Clones share it.
#[derive(Clone)]
pub(in crate::surfaces) struct Capacity(Arc<Inner>);

struct Inner {
    capacity: u64,
    /// Maximum for one caller.
    each: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    used: u64,
    held: BTreeMap<String, u64>,
    waiting: VecDeque<Waiting>,
    refused: u64,
}

struct Waiting {
    caller: String,
    amount: u64,
    granted: oneshot::Sender<Permit>,
}

/// A part of a capacity, released when dropped.
pub(in crate::surfaces) struct Permit {
    of: Capacity,
    caller: String,
    amount: u64,
}

/// Usage of a capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Capacity in use.
    pub used: u64,
    /// Number of waiting requests.
    pub waiting: u64,
    /// Number of requests refused so far.
    pub refused: u64,
}

/// Error: the capacity stayed exhausted until the timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::surfaces) struct Full;

impl Capacity {
    /// A capacity in all, of which one caller may hold at most `each`.
    pub(in crate::surfaces) fn new(capacity: u64, each: u64) -> Self {
        debug_assert!(0 < each && each <= capacity);
        Self(Arc::new(Inner { capacity, each, state: Mutex::default() }))
    }

    /// Waits for a permit, up to the timeout. An amount above the maximum for one caller counts as that maximum.
    pub(in crate::surfaces) async fn take(
        &self,
        caller: &str,
        amount: u64,
        timeout: Duration,
    ) -> Result<Permit, Full> {
        let (granted, grant) = oneshot::channel();
        let amount = amount.min(self.0.each);
        self.state().waiting.push_back(Waiting { caller: caller.to_owned(), amount, granted });
        self.settle();
        let mut turn = Turn { capacity: self, grant };
        match tokio::time::timeout(timeout, &mut turn.grant).await {
            Ok(Ok(held)) => Ok(held),
            _ => {
                self.state().refused += 1;
                Err(Full)
            }
        }
    }

    pub(in crate::surfaces) fn usage(&self) -> Usage {
        let state = self.state();
        let waiting = state.waiting.iter().filter(|waiting| !waiting.granted.is_closed()).count();
        Usage {
            used: state.used,
            waiting: u64::try_from(waiting).unwrap_or(u64::MAX),
            refused: state.refused,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Grants free capacity to waiting callers.
    fn settle(&self) {
        let mut granted = Vec::new();
        {
            let mut state = self.state();
            state.waiting.retain(|waiting| !waiting.granted.is_closed());
            while let Some(next) = self.next(&state) {
                let Some(waiting) = state.waiting.remove(next) else { break };
                let Waiting { caller, amount, granted: to } = waiting;
                state.used += amount;
                *state.held.entry(caller.clone()).or_default() += amount;
                granted.push((to, Permit { of: self.clone(), caller, amount }));
            }
        }
        // Outside the lock: a permit whose caller no longer waits is released here.
        for (to, held) in granted {
            drop(to.send(held));
        }
    }

    /// The index of the next request to grant, if its amount is free. No request overtakes it, or a large one would
    /// starve.
    fn next(&self, state: &State) -> Option<usize> {
        let holds = |waiting: &Waiting| state.held.get(&waiting.caller).copied().unwrap_or(0);
        let may = |waiting: &&Waiting| holds(waiting) + waiting.amount <= self.0.each;
        let allowed = state.waiting.iter().enumerate().filter(|(_, waiting)| may(waiting));
        let (next, first) = allowed.min_by_key(|(place, waiting)| (holds(waiting), *place))?;
        (state.used + first.amount <= self.0.capacity).then_some(next)
    }
}

/// A place in the queue: dropping it re-examines the queue.
struct Turn<'a> {
    capacity: &'a Capacity,
    grant: oneshot::Receiver<Permit>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.grant.close();
        // The permit may have been granted at the moment of the timeout.
        drop(self.grant.try_recv());
        self.capacity.settle();
    }
}

impl Permit {
    /// Adds a permit of the same capacity and caller to `held`.
    pub(in crate::surfaces) fn add(held: &mut Option<Self>, mut more: Self) {
        match held {
            None => *held = Some(more),
            Some(held) => {
                debug_assert!(Arc::ptr_eq(&held.of.0, &more.of.0) && held.caller == more.caller);
                held.amount += std::mem::take(&mut more.amount);
            }
        }
    }

    /// Releases all but an amount.
    pub(in crate::surfaces) fn keep(&mut self, amount: usize) {
        let kept = u64::try_from(amount).unwrap_or(u64::MAX).min(self.amount);
        let surplus = Self { of: self.of.clone(), caller: self.caller.clone(), amount: self.amount - kept };
        self.amount = kept;
        drop(surplus);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.amount == 0 {
            return;
        }
        {
            let mut state = self.of.state();
            state.used -= self.amount;
            if let Some(held) = state.held.get_mut(&self.caller) {
                *held -= self.amount;
                if *held == 0 {
                    state.held.remove(&self.caller);
                }
            }
        }
        self.of.settle();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn released_capacity_goes_to_the_caller_that_holds_least() {
        let capacity = Capacity::new(3, 3);
        let mut greedy = Vec::new();
        for _ in 0..3 {
            greedy.push(capacity.take("greedy", 1, LONG).await.unwrap());
        }
        let again: Vec<_> = (0..50).map(|_| Box::pin(capacity.take("greedy", 1, LONG))).collect();
        let mut again = again.into_iter().map(waiting).collect::<Vec<_>>();
        assert_eq!(capacity.usage().waiting, 50);
        let other = waiting(Box::pin(capacity.take("other", 1, LONG)));
        assert_eq!(capacity.usage().waiting, 51);
        greedy.pop();
        let held = other.await.unwrap();
        assert_eq!(capacity.usage(), Usage { used: 3, waiting: 50, refused: 0 });
        drop(held);
        let next = again.remove(0).await.unwrap();
        drop((greedy, next, again));
        assert_eq!(capacity.usage(), Usage { used: 0, waiting: 0, refused: 0 });
    }

    #[tokio::test]
    async fn one_caller_leaves_a_part_free_for_another() {
        let capacity = Capacity::new(3, 2);
        let held = (capacity.take("a", 1, SOON).await.unwrap(), capacity.take("a", 1, SOON).await.unwrap());
        assert_eq!(capacity.take("a", 1, SOON).await.err(), Some(Full));
        let other = capacity.take("b", 1, SOON).await.unwrap();
        assert_eq!(capacity.usage(), Usage { used: 3, waiting: 0, refused: 1 });
        drop((held, other));
        let all = capacity.take("a", 100, SOON).await.unwrap();
        assert_eq!(
            capacity.usage().used,
            2,
            "an amount above the maximum for one caller counts as the maximum"
        );
        drop(all);
    }

    #[tokio::test]
    async fn a_large_request_is_not_overtaken_and_gives_way_when_dropped() {
        let capacity = Capacity::new(10, 10);
        let first = capacity.take("a", 6, SOON).await.unwrap();
        let large = waiting(Box::pin(capacity.take("b", 8, LONG)));
        let small = waiting(Box::pin(capacity.take("c", 1, LONG)));
        assert_eq!(capacity.usage().waiting, 2);
        drop(large);
        let small = small.await.unwrap();
        assert_eq!(capacity.usage(), Usage { used: 7, waiting: 0, refused: 0 });
        let mut first = Some(first);
        Permit::add(&mut first, capacity.take("a", 2, SOON).await.unwrap());
        assert_eq!(capacity.usage().used, 9);
        first.as_mut().unwrap().keep(3);
        assert_eq!(capacity.usage().used, 4);
        drop(first);
        assert_eq!(capacity.usage().used, 1);
        drop(small);
    }

    /// Polls a future once, so that it waits.
    fn waiting<F: Future + Unpin>(mut future: F) -> F {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(std::pin::Pin::new(&mut future).poll(&mut context).is_pending());
        future
    }
}
