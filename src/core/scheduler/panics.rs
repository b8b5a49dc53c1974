//! The count of panics of a worker's loops: one is tolerated, three within a minute end the worker.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Number of panics within a minute that ends the worker.
const PANICS_MAX: usize = 3;

/// Panics of the last minute, in all loops of a worker.
#[derive(Debug, Default)]
pub struct Panics(std::sync::Mutex<VecDeque<Instant>>);

/// Three panics within a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{PANICS_MAX} panics within a minute; see the log")]
pub struct TooManyPanics;

impl Panics {
    /// Counts a panic.
    pub fn count(&self) -> Result<(), TooManyPanics> {
        let mut recent = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let now = Instant::now();
        recent.push_back(now);
        while recent.front().is_some_and(|first| now.duration_since(*first) > Duration::from_secs(60)) {
            recent.pop_front();
        }
        if recent.len() >= PANICS_MAX { Err(TooManyPanics) } else { Ok(()) }
    }
}
