//! Runs that tasks of this program work on.
//!
//! A lease names the program that holds a run, and a program runs several tasks at once: a worker's jobs and those that
//! requests start. A run that the program holds without a task was abandoned, and is resumed at once; a run with a task
//! can be taken over only after its lease expires.

use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Job and occurrence.
type Name = (&'static str, String);

/// Runs of this program that a task works on.
#[derive(Debug, Default)]
pub(super) struct ActiveRuns(Mutex<Vec<Weak<Name>>>);

/// Marks a run as active until the guard is dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ActiveRun(Arc<Name>);

impl ActiveRuns {
    pub(super) fn register(&self, job: &'static str, occurrence: &str) -> ActiveRun {
        let name = Arc::new((job, occurrence.to_owned()));
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.retain(|name| name.strong_count() > 0);
        names.push(Arc::downgrade(&name));
        ActiveRun(name)
    }

    pub(super) fn contains(&self, job: &str, occurrence: &str) -> bool {
        let names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.iter().filter_map(Weak::upgrade).any(|name| name.0 == job && name.1 == occurrence)
    }
}
