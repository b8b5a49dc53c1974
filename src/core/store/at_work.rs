//! Which runs this program works on now.
//!
//! A lease names the program that holds a run, and a program does several things at once: a worker's jobs and those that
//! requests ask for. A run that the program holds and nobody in it works on was left behind, and is taken up at once; one
//! that somebody works on is nobody's to take before its lease is over.

use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A job, and an occurrence of it.
type Name = (&'static str, String);

/// The runs of this program that somebody works on.
#[derive(Debug, Default)]
pub(super) struct AtWork(Mutex<Vec<Weak<Name>>>);

/// As long as it is there, its run is worked on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Working(Arc<Name>);

impl AtWork {
    pub(super) fn begin(&self, job: &'static str, occurrence: &str) -> Working {
        let name = Arc::new((job, occurrence.to_owned()));
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.retain(|name| name.strong_count() > 0);
        names.push(Arc::downgrade(&name));
        Working(name)
    }

    pub(super) fn holds(&self, job: &str, occurrence: &str) -> bool {
        let names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.iter().filter_map(Weak::upgrade).any(|name| name.0 == job && name.1 == occurrence)
    }
}
