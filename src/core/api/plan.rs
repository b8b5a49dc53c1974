//! Plans of jobs, and what applying or undoing them did.

use crate::domain::journal::{Entry, RowName};
use crate::domain::units::Timestamp;
use crate::jobs::JobName;
pub use crate::store::JournalRun;
use serde::{Deserialize, Serialize};

/// The changes that a run of a job would make at an instant. A change that is removed from the list is not applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Id of the plan; changes that are applied are recorded under it.
    pub plan: String,
    /// Job whose rules made the changes.
    pub job: JobName,
    /// Instant of the laws.
    pub at: Timestamp,
    /// Whether these are all the changes that the job would make; with a limit, or of a great number, they may not be.
    pub complete: bool,
    /// Changes, each of rows that change together.
    pub changes: Vec<Entry>,
}

/// The result of applying a plan, or of undoing a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Applied {
    /// Id under which the changes are recorded, and by which they can be undone.
    pub run: String,
    /// Job whose rules made the changes.
    pub job: String,
    /// Number of changes that were applied.
    pub applied: usize,
    /// Number of changes whose rows were so already.
    pub already: usize,
    /// Changes that were refused, since a row is not as it was.
    pub refused: Vec<RefusedChange>,
    /// What else to know of them.
    pub remarks: Vec<&'static str>,
    /// Whether this was a dry run: nothing was written.
    pub dry_run: bool,
}

/// A change that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedChange {
    /// Its rows.
    pub rows: Vec<RowName>,
    /// The row that is not as it was.
    pub why: String,
}
