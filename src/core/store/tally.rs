//! The counts of a run, named in one place: receipts, metrics and sums take them as a list.

use serde::{Deserialize, Serialize};

macro_rules! tally {
    ($($(#[$doc:meta])* $count:ident,)*) => {
/// The counts of a run, or of one batch of it. An absent count is 0.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Tally {
            $($(#[$doc])* pub $count: i64,)*
        }

        impl Tally {
            /// Each count with its name, which is also that of the property of a run that sums it up.
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

/// What a batch of a run answers, beside what it did.
pub(super) trait Counted {
    /// What it did.
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
    /// Rows looked at.
    scanned,
    /// Rows written.
    changed,
    /// Rows that needed nothing when they were looked at under the lock, or that somebody else held.
    skipped,
    /// Rows quarantined.
    quarantined,
    /// Rows of other writers taken under the laws.
    adopted,
    /// Memories that expired.
    expired,
    /// Memories that rose a tier.
    promoted,
    /// Memories found under two live attempts.
    conflicts,
    /// Sets that were too large and of which only the first count: members of a session, memories to compare with.
    cut,
    /// Clusters that formed or came back.
    formed,
    /// Memories that joined a cluster.
    joined,
    /// Memories that left one.
    left,
    /// Clusters that were dissolved.
    dissolved,
    /// Memories that newer ones strengthened.
    reinforced,
    /// Quarantined rows that were released.
    released,
    /// Requests, runs and attempts of long ago that were removed.
    trimmed,
    /// Relations that are pinned and do not fade.
    pinned,
    /// Relations that weigh less than the minimum.
    below,
    /// Places and edges of trails on which nothing is left.
    silenced,
    /// Facts of which a sweep said confidence 0.
    retracted,
    /// Facts of which a sweep said less confidence.
    reduced,
    /// Facts of which policies that only count would have said so.
    rehearsed,
}
