//! The number of texts of one request: halved when a request fails, doubled after some in a row that do not.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Requests in a row that are answered before more is sent at once: a server that takes no more fails one in so many.
const ANSWERED: u32 = 10;

/// The size of requests. Written after each request of the job.
#[derive(Debug)]
pub(super) struct RequestSize {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    texts: usize,
    /// Requests that were answered since the size changed.
    answered: u32,
}

impl RequestSize {
    pub(super) const fn new(most: usize) -> Self {
        Self { most, state: Mutex::new(State { texts: most, answered: 0 }) }
    }

    /// Texts of the next request.
    pub(super) fn texts(&self) -> usize {
        self.open().texts
    }

    /// Counts a request that was answered.
    pub(super) fn grow(&self) {
        let mut state = self.open();
        state.answered = state.answered.saturating_add(1);
        if state.answered >= ANSWERED {
            *state = State { texts: state.texts.saturating_mul(2).min(self.most), answered: 0 };
        }
    }

    /// Halves the size after a failed request of so many texts.
    pub(super) fn shrink(&self, sent: usize) {
        *self.open() = State { texts: (sent / 2).max(1), answered: 0 };
    }

    fn open(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_halved_down_to_one_and_doubles_up_to_the_most() {
        let size = RequestSize::new(12);
        let halved: Vec<usize> = std::iter::repeat_with(|| {
            size.shrink(size.texts());
            size.texts()
        })
        .take(4)
        .collect();
        assert_eq!(halved, [6, 3, 1, 1]);
        let doubled: Vec<usize> = std::iter::repeat_with(|| {
            (0..ANSWERED).for_each(|_| size.grow());
            size.texts()
        })
        .take(5)
        .collect();
        assert_eq!(doubled, [2, 4, 8, 12, 12]);
    }
}
