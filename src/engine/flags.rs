//! What of an answer was cut short. That is no error: the answer stands, and says so.

/// A way in which a computation can fall short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flag {
    /// Spreading ended before its depth, since it had read as many slots as it may.
    ActivationTruncated,
    /// The question has more tokens than are looked up, or one found more nodes than are looked at.
    SeedsTruncated,
    /// Standing was still moving when it was taken.
    PagerankUnconverged,
    /// Contrast had more pulses than it may have, and kept the largest.
    XlrTruncated,
    /// Contrast would have left nothing, and was left out.
    XlrOverCancelled,
    /// There was nothing to contrast with.
    XlrNoAntiSeeds,
    /// Waves had more pulses than they may have, and kept the largest.
    ResonanceTruncated,
    /// The search for causes ended before it had seen all that it could reach.
    CausalTruncated,
    /// The graph is too large for co-occurrence, which was left out.
    CooccurrenceDisabled,
    /// Communities were still moving when they were taken.
    CommunitiesUnconverged,
    /// There were more pairs that changed together than are kept.
    CochangeFull,
}

impl Flag {
    /// All, in the order of their bits.
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

    /// What it is called in answers.
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
    /// The same, with a flag where it `holds`.
    #[must_use]
    pub const fn with(self, flag: Flag, holds: bool) -> Self {
        if holds { Self(self.0 | flag.bit()) } else { self }
    }

    /// Those of either.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it has a flag.
    #[must_use]
    pub const fn has(self, flag: Flag) -> bool {
        self.0 & flag.bit() != 0
    }

    /// The names of those it has.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Flag::ALL.into_iter().filter(move |flag| self.has(*flag)).map(Flag::name)
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
