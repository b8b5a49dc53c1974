//! Counts of a run, defined in one place: receipts, metrics and sums use them as a list.

use serde::{Deserialize, Serialize};

macro_rules! tally {
    ($($(#[$doc:meta])* $count:ident,)*) => {
/// Counts of a run, or of one batch of it. An absent count is 0.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Tally {
            $($(#[$doc])* pub $count: i64,)*
        }

        impl Tally {
            /// Each count with its name, also the name of the property of a run that has its sum.
            #[must_use]
            pub fn counts(&self) -> [(&'static str, i64); [$(stringify!($count)),*].len()] {
                [$((stringify!($count), self.$count)),*]
            }
        }

        impl std::ops::AddAssign for Tally {
            fn add_assign(&mut self, more: Self) {
                $(self.$count += more.$count;)*
            }
        }
    };
}

/// Result of a batch of a run with its counts.
pub(super) trait Counted {
    /// Counts.
    fn tally(&self) -> Tally;
}

impl Counted for Tally {
    fn tally(&self) -> Tally {
        *self
    }
}

impl<T> Counted for (Tally, T) {
    fn tally(&self) -> Tally {
        self.0
    }
}

tally! {
    /// Rows read.
    scanned,
    /// Rows written.
    changed,
    /// Rows that needed nothing under the lock, or that another program held.
    skipped,
    /// Rows quarantined.
    quarantined,
    /// Adopted rows of other writers.
    adopted,
    /// Memories that expired.
    expired,
    /// Memories promoted.
    promoted,
    /// Memories with two open attempts.
    conflicts,
    /// Sets that were cut to their limit: members of a session, memories to compare with.
    cut,
    /// Clusters created or restored.
    formed,
    /// Memories that joined a cluster.
    joined,
    /// Memories that left one.
    left,
    /// Clusters that were dissolved.
    dissolved,
    /// Memories reinforced by newer ones.
    reinforced,
    /// Quarantined rows released.
    released,
    /// Expired requests, runs and attempts removed.
    trimmed,
    /// Pinned relations, which do not decay.
    pinned,
    /// Relations below the minimum weight.
    below,
    /// Places and edges of trails without remaining pheromones.
    silenced,
    /// Facts retracted by a sweep.
    retracted,
    /// Facts with confidence reduced by a sweep.
    reduced,
    /// Facts that dry-run policies would have changed.
    rehearsed,
}
