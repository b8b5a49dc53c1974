//! Tiers: three live ones, and three terminal ones in which energy no longer changes.
//!
//! A memory moves one tier per pass, upwards only; it moves down only by expiry, which the next access undoes.

use serde::{Deserialize, Serialize};

/// A tier, under its documented name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Tier {
    /// Just created or revived; decays within hours.
    Working,
    /// Promoted once; decays within days.
    ShortTerm,
    /// Promoted twice; decays within months.
    LongTerm,
    /// An expired working memory. Nothing is deleted; its next access revives it.
    ExpiredWorking,
    /// The stub left by a promotion out of `working`.
    ArchivedWorking,
    /// The stub left by a promotion out of `shortTerm`.
    ArchivedShortTerm,
}

impl Tier {
    /// Every tier, live ones first.
    pub const ALL: [Self; 6] = [
        Self::Working,
        Self::ShortTerm,
        Self::LongTerm,
        Self::ExpiredWorking,
        Self::ArchivedWorking,
        Self::ArchivedShortTerm,
    ];

    /// Name in the graph.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::ShortTerm => "shortTerm",
            Self::LongTerm => "longTerm",
            Self::ExpiredWorking => "expiredWorking",
            Self::ArchivedWorking => "archivedWorking",
            Self::ArchivedShortTerm => "archivedShortTerm",
        }
    }

    /// The tier with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.name() == name)
    }

    /// Whether energy decays in this tier.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Working | Self::ShortTerm | Self::LongTerm)
    }

    /// Whether this is the stub of a promotion and not a memory.
    #[must_use]
    pub const fn is_stub(self) -> bool {
        matches!(self, Self::ArchivedWorking | Self::ArchivedShortTerm)
    }

    /// The next tier up.
    #[must_use]
    pub const fn next(self) -> Option<Self> {
        match self {
            Self::Working => Some(Self::ShortTerm),
            Self::ShortTerm => Some(Self::LongTerm),
            _ => None,
        }
    }

    /// The tier of the stub of a promotion out of this one.
    #[must_use]
    pub const fn archived(self) -> Option<Self> {
        match self {
            Self::Working => Some(Self::ArchivedWorking),
            Self::ShortTerm => Some(Self::ArchivedShortTerm),
            _ => None,
        }
    }
}

impl std::fmt::Display for Tier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_and_serde_agrees() {
        for tier in Tier::ALL {
            assert_eq!(Tier::named(tier.name()), Some(tier));
            assert_eq!(serde_json::to_string(&tier).unwrap(), format!("\"{tier}\""));
            assert_eq!(tier.next().is_some(), tier.archived().is_some_and(Tier::is_stub));
        }
        assert_eq!(Tier::named("archived"), None);
    }
}
