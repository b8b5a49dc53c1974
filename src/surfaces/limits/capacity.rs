//! A capacity that callers share: permits for work of a kind, or bytes that are in flight.
//!
//! A caller that finds it taken waits in a queue, up to a timeout. What is given back goes to the caller that holds the least,
//! and among equals to the one that has waited longest, so that a caller with a hundred requests in the queue is served as
//! often as one with a single request, and a caller that is alone may have nearly everything. The rest, `capacity - each`,
//! is never one caller's: another finds it free even while all that the first holds is held for long.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// A capacity. Clones are the same one.
#[derive(Clone)]
pub(in crate::surfaces) struct Capacity(Arc<Inner>);

struct Inner {
    capacity: u64,
    /// Of one caller at most.
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

/// A part of a capacity, given back when it is dropped.
pub(in crate::surfaces) struct Permit {
    of: Capacity,
    caller: String,
    amount: u64,
}

/// How much of a capacity is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// What is held.
    pub used: u64,
    /// How many wait.
    pub waiting: u64,
    /// How many waited in vain so far.
    pub refused: u64,
}

/// It stayed taken for as long as the caller would wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::surfaces) struct Full;

impl Capacity {
    /// So much in all, and so much of it for one caller at most.
    pub(in crate::surfaces) fn new(capacity: u64, each: u64) -> Self {
        debug_assert!(0 < each && each <= capacity);
        Self(Arc::new(Inner { capacity, each, state: Mutex::default() }))
    }

    /// So much of it for a caller, who waits for it this long. More than one caller may have counts as all of that.
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

    /// Gives what is free to those who wait.
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
        // Outside the lock: what somebody does not wait for any more is given back here.
        for (to, held) in granted {
            drop(to.send(held));
        }
    }

    /// Whose turn it is, if what they wait for is free. Nobody overtakes them, or one that wants much would never get it.
    fn next(&self, state: &State) -> Option<usize> {
        let holds = |waiting: &Waiting| state.held.get(&waiting.caller).copied().unwrap_or(0);
        let may = |waiting: &&Waiting| holds(waiting) + waiting.amount <= self.0.each;
        let allowed = state.waiting.iter().enumerate().filter(|(_, waiting)| may(waiting));
        let (next, first) = allowed.min_by_key(|(place, waiting)| (holds(waiting), *place))?;
        (state.used + first.amount <= self.0.capacity).then_some(next)
    }
}

/// A place in the queue: those behind it are looked at again when it is given up.
struct Turn<'a> {
    capacity: &'a Capacity,
    grant: oneshot::Receiver<Permit>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.grant.close();
        // Granted in the moment it was given up.
        drop(self.grant.try_recv());
        self.capacity.settle();
    }
}

impl Permit {
    /// Adds more of the same capacity to what a caller holds.
    pub(in crate::surfaces) fn add(held: &mut Option<Self>, mut more: Self) {
        match held {
            None => *held = Some(more),
            Some(held) => {
                debug_assert!(Arc::ptr_eq(&held.of.0, &more.of.0) && held.caller == more.caller);
                held.amount += std::mem::take(&mut more.amount);
            }
        }
    }

    /// Gives back all but so much.
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
    async fn what_is_given_back_goes_to_whoever_holds_least() {
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
    async fn one_caller_leaves_a_part_that_another_finds_free() {
        let capacity = Capacity::new(3, 2);
        let held = (capacity.take("a", 1, SOON).await.unwrap(), capacity.take("a", 1, SOON).await.unwrap());
        assert_eq!(capacity.take("a", 1, SOON).await.err(), Some(Full));
        let other = capacity.take("b", 1, SOON).await.unwrap();
        assert_eq!(capacity.usage(), Usage { used: 3, waiting: 0, refused: 1 });
        drop((held, other));
        let all = capacity.take("a", 100, SOON).await.unwrap();
        assert_eq!(capacity.usage().used, 2, "more than one may have is all that one may have");
        drop(all);
    }

    #[tokio::test]
    async fn one_that_wants_much_is_not_overtaken_and_gives_way_when_it_gives_up() {
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

    /// A future that has been polled once, so that it waits.
    fn waiting<F: Future + Unpin>(mut future: F) -> F {
        let mut asked = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(std::pin::Pin::new(&mut future).poll(&mut asked).is_pending());
        future
    }
}
