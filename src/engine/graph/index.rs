//! Dense ids, valid inside one graph only.

use super::Error;

macro_rules! index {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $type(pub u32);

        impl $type {
            /// As an array index.
            #[must_use]
            pub const fn at(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index!(
    /// A node of one graph.
    NodeId
);
index!(
    /// A slot of one graph.
    EdgeIdx
);
index!(
    /// A string of one interner.
    InternedStr
);
index!(
    /// A community of one partition, the largest first.
    CommunityId
);

/// Version of a graph: one more with each change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Generation(pub u64);

impl Generation {
    /// The next generation.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// Checks a number of nodes.
///
/// # Errors
/// [`Error::TooManyNodes`] from 2^32 on.
pub fn nodes(count: usize) -> Result<u32, Error> {
    u32::try_from(count).ok().filter(|count| *count < u32::MAX).ok_or(Error::TooManyNodes { count })
}

/// Checks a number of slots.
///
/// # Errors
/// [`Error::TooManySlots`] from 2^32 on.
pub fn slots(count: usize) -> Result<u32, Error> {
    u32::try_from(count).ok().filter(|count| *count < u32::MAX).ok_or(Error::TooManySlots { count })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_limits() {
        let most = usize::try_from(u32::MAX).unwrap();
        assert_eq!(nodes(most - 1).unwrap(), u32::MAX - 1);
        assert!(matches!(nodes(most), Err(Error::TooManyNodes { count }) if count == most));
        assert!(matches!(slots(most + 7), Err(Error::TooManySlots { .. })));
        assert_eq!(Generation(u64::MAX).next(), Generation(u64::MAX));
    }
}
