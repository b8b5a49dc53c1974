//! The runs that tasks of this program work on now.
//!
//! A lease names the program that holds a run, and a program runs several tasks at once: a worker's jobs and those that
//! requests start. A run that the program holds and no task of it works on was abandoned, and is resumed at once; a run that
//! a task works on can be taken only after its lease is over.

use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A job, and an occurrence of it.
type Name = (&'static str, String);

/// The runs of this program that a task works on.
#[derive(Debug, Default)]
pub(super) struct ActiveRuns(Mutex<Vec<Weak<Name>>>);

/// Marks its run as active until it is dropped.
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
