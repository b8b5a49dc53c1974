//! Whether work gets on, which all loops of a worker want to know.
//!
//! A server that has just come back plans each statement when it first meets it, once for everybody who asks. So the
//! first job is asked for by itself, and all else waits until it has come to its end.

use tokio::sync::watch;

/// Whether a job has come to its end since the database was last away, or there was none to do, or it has answered for ten
/// seconds. Until then all else that a worker asks of the database can wait: while a server that has just come back plans
/// that, work waits.
#[derive(Debug)]
pub struct Warmth(watch::Sender<bool>);

impl Default for Warmth {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Warmth {
    /// Whether work gets on.
    #[must_use]
    pub fn is_warm(&self) -> bool {
        *self.0.borrow()
    }

    /// Says that it does, or that the database is away.
    pub fn set(&self, warm: bool) {
        self.0.send_if_modified(|before| std::mem::replace(before, warm) != warm);
    }

    /// Tells each change.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<bool> {
        self.0.subscribe()
    }
}
