//! A pause after failures, which doubles with each up to a limit.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The state of the pauses. Written by whoever called the embedder last.
#[derive(Debug)]
pub(super) struct Pause {
    first: Duration,
    longest: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Failures since the last success.
    failures: u32,
    until: Option<Instant>,
}

impl Pause {
    /// No pause yet; the first and the longest to come.
    pub(super) fn new([first, longest]: [Duration; 2]) -> Self {
        Self { first, longest, state: Mutex::default() }
    }

    /// The rest of the pause, if there is one.
    pub(super) fn left(&self) -> Option<Duration> {
        self.open().until?.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    /// Begins a pause after a failure, unless there is one: calls that failed together count once. Returns its length.
    pub(super) fn begin(&self) -> Duration {
        if let Some(left) = self.left() {
            return left;
        }
        let mut state = self.open();
        let factor = 1_u32.checked_shl(state.failures).unwrap_or(u32::MAX);
        let length = self.first.saturating_mul(factor).min(self.longest);
        state.failures = state.failures.saturating_add(1);
        state.until = Instant::now().checked_add(length);
        length
    }

    /// Ends the pause after a success.
    pub(super) fn end(&self) {
        *self.open() = State::default();
    }

    fn open(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_begin_anew_after_a_success() {
        let pause = Pause::new([Duration::from_secs(5), Duration::from_secs(60)]);
        assert_eq!(pause.left(), None);
        let mut lengths = Vec::new();
        for _ in 0..6 {
            lengths.push(pause.begin().as_secs());
            assert!(pause.left().is_some() && pause.begin().as_secs() <= *lengths.last().unwrap());
            pause.open().until = None;
        }
        assert_eq!(lengths, [5, 10, 20, 40, 60, 60]);
        pause.open().failures = 99;
        assert_eq!(pause.begin(), Duration::from_secs(60));
        pause.end();
        assert_eq!((pause.left(), pause.begin()), (None, Duration::from_secs(5)));
    }
}
