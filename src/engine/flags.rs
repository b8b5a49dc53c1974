//! Flags of incomplete results. A truncated result is no error.

/// A reason why a result is incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flag {
    /// Spreading stopped before its depth because it reached the slot limit.
    ActivationTruncated,
    /// The query has more tokens than are looked up, or a token matched more nodes than are examined.
    SeedsTruncated,
    /// PageRank stopped before convergence.
    PagerankUnconverged,
    /// The pulse budget of XLR was exceeded, and the largest pulses were kept.
    XlrTruncated,
    /// XLR would have suppressed every node, and was not applied.
    XlrOverCancelled,
    /// XLR found no anti-seeds.
    XlrNoAntiSeeds,
    /// The pulse budget of resonance was exceeded, and the largest pulses were kept.
    ResonanceTruncated,
    /// The search for causal chains ended at its budget.
    CausalTruncated,
    /// The graph is too large for co-occurrence, which was skipped.
    CooccurrenceDisabled,
    /// Community detection stopped before convergence.
    CommunitiesUnconverged,
    /// There were more co-change pairs than are kept.
    CochangeFull,
}

impl Flag {
    /// All flags, in the order of their bits.
    pub const ALL: [Self; 11] = [
        Self::ActivationTruncated,
        Self::SeedsTruncated,
        Self::PagerankUnconverged,
        Self::XlrTruncated,
        Self::XlrOverCancelled,
        Self::XlrNoAntiSeeds,
        Self::ResonanceTruncated,
        Self::CausalTruncated,
        Self::CooccurrenceDisabled,
        Self::CommunitiesUnconverged,
        Self::CochangeFull,
    ];

    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ActivationTruncated => "activation_truncated",
            Self::SeedsTruncated => "seeds_truncated",
            Self::PagerankUnconverged => "pagerank_unconverged",
            Self::XlrTruncated => "xlr_truncated",
            Self::XlrOverCancelled => "xlr_over_cancelled",
            Self::XlrNoAntiSeeds => "xlr_no_anti_seeds",
            Self::ResonanceTruncated => "resonance_truncated",
            Self::CausalTruncated => "causal_truncated",
            Self::CooccurrenceDisabled => "cooccurrence_disabled",
            Self::CommunitiesUnconverged => "communities_unconverged",
            Self::CochangeFull => "cochange_full",
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// A set of [`Flag`]s.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(u16);

impl Flags {
    /// Adds a flag if it `holds`.
    #[must_use]
    pub const fn with(self, flag: Flag, holds: bool) -> Self {
        if holds { Self(self.0 | flag.bit()) } else { self }
    }

    /// The flags of either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it contains a flag.
    #[must_use]
    pub const fn contains(self, flag: Flag) -> bool {
        self.0 & flag.bit() != 0
    }

    /// The names of its flags.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Flag::ALL.into_iter().filter(move |flag| self.contains(*flag)).map(Flag::name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_named_where_it_was_raised() {
        assert_eq!(Flags::default().names().count(), 0);
        for flag in Flag::ALL {
            let raised = Flags::default().with(flag, true);
            assert_eq!(raised.names().collect::<Vec<_>>(), [flag.name()]);
            assert_eq!(raised.with(flag, false), raised);
        }
        let all = Flag::ALL.into_iter().fold(Flags::default(), |flags, flag| flags.with(flag, true));
        assert_eq!(all.names().count(), Flag::ALL.len());
    }
}
