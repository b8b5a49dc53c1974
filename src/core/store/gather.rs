//! Group commit: requests that come while another is being written wait for it, and then share a transaction.
//!
//! The first of them leads: it takes those that wait, writes all in one transaction, and passes on their results. Nobody
//! waits for company, so a lone request is as fast as without; under load each transaction has as many requests as came
//! during the one before.
//!
//! # Design notes
//! A leader may vanish at any point, as when its client hangs up. Its followers then learn that they have no result, and are
//! on their own: they look up their receipts first, since the transaction may have been committed. So does a request that
//! cannot share, because it is refused or a repeat, and one whose transaction failed. Where that may have been committed all the
//! same, and the server then refuses the request, its outcome is unknown and not "refused".

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Most requests of one transaction.
pub const SHARED_MAX: usize = 128;

/// Requests that are to be written.
pub(super) struct Gathering<J, R>(Mutex<State<J, R>>);

impl<J, R> Default for Gathering<J, R> {
    fn default() -> Self {
        Self(Mutex::new(State { is_led: false, waiting: VecDeque::new() }))
    }
}

struct State<J, R> {
    is_led: bool,
    waiting: VecDeque<Follower<J, R>>,
}

/// A request that waits.
pub(super) struct Follower<J, R> {
    pub(super) job: J,
    sender: oneshot::Sender<Message<J, R>>,
}

enum Message<J, R> {
    Done(R),
    /// It leads now, and gets its request back.
    Lead(J),
    /// It is written alone.
    Alone(Option<String>),
}

/// What a request does.
pub(super) enum Turn<'g, J, R> {
    /// Nothing: its leader has done it.
    Done(R),
    /// It leads.
    Lead(J, Leader<'g, J, R>),
    /// It looks up its receipt, and is written alone: why it may have been written already, if it may.
    Alone(Option<String>),
}

/// What is said of a request whose leader has vanished.
const VANISHED: &str = "the request that led its transaction was given up";

/// The right to write, until it is dropped; then the next one leads.
pub(super) struct Leader<'g, J, R>(&'g Gathering<J, R>);

impl<J, R> Gathering<J, R> {
    /// Waits until it is the request's turn.
    pub(super) async fn join(&self, job: J) -> Turn<'_, J, R> {
        let waiter = {
            let mut state = self.lock();
            if !state.is_led {
                state.is_led = true;
                return Turn::Lead(job, Leader(self));
            }
            let (sender, result) = oneshot::channel();
            state.waiting.push_back(Follower { job, sender });
            Waiter { of: self, result }
        };
        waiter.turn().await
    }

    fn lock(&self) -> MutexGuard<'_, State<J, R>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that waits for its turn. One that is given up when it is to lead lets the next one lead.
struct Waiter<'g, J, R> {
    of: &'g Gathering<J, R>,
    result: oneshot::Receiver<Message<J, R>>,
}

impl<'g, J, R> Waiter<'g, J, R> {
    async fn turn(mut self) -> Turn<'g, J, R> {
        match (&mut self.result).await {
            Ok(Message::Done(result)) => Turn::Done(result),
            Ok(Message::Lead(job)) => Turn::Lead(job, Leader(self.of)),
            Ok(Message::Alone(unknown)) => Turn::Alone(unknown),
            Err(_) => Turn::Alone(Some(VANISHED.to_owned())),
        }
    }
}

impl<J, R> Drop for Waiter<'_, J, R> {
    fn drop(&mut self) {
        self.result.close();
        if let Ok(Message::Lead(_)) = self.result.try_recv() {
            drop(Leader(self.of));
        }
    }
}

impl<J, R> Leader<'_, J, R> {
    /// Those that wait and are still wanted, in the order in which they came.
    pub(super) fn followers(&self) -> Vec<Follower<J, R>> {
        let mut state = self.0.lock();
        state.waiting.retain(|one| !one.sender.is_closed());
        let count = state.waiting.len().min(SHARED_MAX - 1);
        state.waiting.drain(..count).collect()
    }
}

impl<J, R> Drop for Leader<'_, J, R> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        while let Some(Follower { job, sender }) = state.waiting.pop_front() {
            if sender.send(Message::Lead(job)).is_ok() {
                return;
            }
        }
        state.is_led = false;
    }
}

impl<J, R> Follower<J, R> {
    /// Passes on its result.
    pub(super) fn send(self, result: R) {
        // One who has hung up needs none.
        let _ = self.sender.send(Message::Done(result));
    }

    /// Leaves it to be written alone, with the reason why it may have been written already.
    pub(super) fn leave(self, unknown: Option<String>) {
        let _ = self.sender.send(Message::Alone(unknown));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Who did it, and how many were done at once.
    async fn work(gathering: &Gathering<u32, (u32, usize)>, job: u32) -> Option<(u32, usize)> {
        match gathering.join(job).await {
            Turn::Done(result) => Some(result),
            Turn::Alone(_) => None,
            Turn::Lead(job, leader) => {
                tokio::task::yield_now().await;
                let followers = leader.followers();
                let count = followers.len() + 1;
                tokio::task::yield_now().await;
                followers.into_iter().for_each(|one| one.send((job, count)));
                Some((job, count))
            }
        }
    }

    #[tokio::test]
    async fn those_who_come_meanwhile_share_the_next_turn() {
        let gathering = Arc::new(Gathering::default());
        assert_eq!(work(&gathering, 0).await, Some((0, 1)), "nobody waits for company");
        let of = |job| work(&gathering, job);
        let (a, b, c) = tokio::join!(of(1), of(2), of(3));
        assert_eq!((a, b, c), (Some((1, 3)), Some((1, 3)), Some((1, 3))));
    }

    #[tokio::test]
    async fn who_gives_up_stops_nobody() {
        let gathering = Gathering::<u32, (u32, usize)>::default();
        let Turn::Lead(_, leader) = gathering.join(0).await else { panic!("the first leads") };
        let mut given_up = Box::pin(gathering.join(1));
        let mut left_alone = Box::pin(gathering.join(2));
        let mut next = Box::pin(gathering.join(3));
        let mut last = Box::pin(work(&gathering, 4));
        assert!(futures_are_pending(&mut given_up).await && futures_are_pending(&mut left_alone).await);
        drop(given_up);
        // The leader takes one, and vanishes.
        let followers = leader.followers();
        assert_eq!(followers.iter().map(|one| one.job).collect::<Vec<_>>(), [2]);
        assert!(futures_are_pending(&mut next).await && futures_are_pending(&mut last).await);
        drop(followers);
        assert!(matches!(left_alone.await, Turn::Alone(Some(why)) if why == VANISHED));
        drop(leader);
        // The next was told to lead, and gives up without having looked.
        drop(next);
        assert_eq!(last.await, Some((4, 1)));
        assert_eq!(work(&gathering, 5).await, Some((5, 1)), "nobody leads any more");
    }

    async fn futures_are_pending<T>(future: &mut (impl Future<Output = T> + Unpin)) -> bool {
        tokio::select! {
            biased;
            _ = future => false,
            () = std::future::ready(()) => true,
        }
    }
}
