//! Where a node comes from: a file and lines of it, an excerpt, a namespace. Everything is optional.

use super::Error;

/// Longest path in a request, in characters.
pub const PATH_CHARS_MAX: usize = 4_096;
/// Longest excerpt in a request, in characters.
pub const EXCERPT_CHARS_MAX: usize = 4_096;
/// Longest namespace in a request, in characters.
pub const NAMESPACE_CHARS_MAX: usize = 1_024;

/// Source of a node.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Provenance {
    /// Path of the source file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(length(max = PATH_CHARS_MAX)))]
    pub source_path: Option<String>,
    /// First line in the source, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(range(min = 1)))]
    pub line_start: Option<u32>,
    /// Last line in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(range(min = 1)))]
    pub line_end: Option<u32>,
    /// Excerpt of the source text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(length(max = EXCERPT_CHARS_MAX)))]
    pub excerpt: Option<String>,
    /// Namespace of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(length(max = NAMESPACE_CHARS_MAX)))]
    pub namespace: Option<String>,
    /// Whether this is the original source.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub canonical: bool,
}

impl Provenance {
    /// Checks the line numbers; `owner` names the node in errors.
    ///
    /// # Errors
    /// [`Error::ParameterOutOfRange`] for line 0.
    pub fn checked(self, owner: &str) -> Result<Self, Error> {
        for (name, line) in [("line_start", self.line_start), ("line_end", self.line_end)] {
            if line == Some(0) {
                let name = format!("{name} of {owner}");
                return Err(Error::ParameterOutOfRange {
                    name,
                    value: 0.0,
                    min: 1.0,
                    max: f64::from(u32::MAX),
                });
            }
        }
        Ok(self)
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Merges both: the first text that is not empty, and the widest span of lines.
    #[must_use]
    pub fn merged(self, other: Self) -> Self {
        let text = |a: Option<String>, b: Option<String>| {
            a.filter(|text| !text.is_empty()).or(b.filter(|text| !text.is_empty()))
        };
        let both = |a: Option<u32>, b: Option<u32>, pick: fn(u32, u32) -> u32| match (a, b) {
            (Some(a), Some(b)) => Some(pick(a, b)),
            (one, none) => one.or(none),
        };
        Self {
            source_path: text(self.source_path, other.source_path),
            line_start: both(self.line_start, other.line_start, u32::min),
            line_end: both(self.line_end, other.line_end, u32::max),
            excerpt: text(self.excerpt, other.excerpt),
            namespace: text(self.namespace, other.namespace),
            canonical: self.canonical || other.canonical,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::ops::RangeInclusive;

    /// Any provenance of these texts and lines.
    pub(in crate::graph) fn origin<T: Strategy<Value = String>>(
        text: impl Fn() -> T,
        lines: RangeInclusive<u32>,
    ) -> impl Strategy<Value = Provenance> {
        let some = || proptest::option::of(text());
        let line = || proptest::option::of(lines.clone());
        (some(), line(), line(), some(), some(), any::<bool>()).prop_map(
            |(source_path, line_start, line_end, excerpt, namespace, canonical)| Provenance {
                source_path,
                line_start,
                line_end,
                excerpt,
                namespace,
                canonical,
            },
        )
    }

    /// Few different values, so that they coincide.
    fn few() -> impl Strategy<Value = Provenance> {
        origin(|| "[ab]{0,2}", 1..=8)
    }

    proptest! {
        #[test]
        fn provenance_merge(a in few(), b in few(), c in few()) {
            let left = a.clone().merged(b.clone()).merged(c.clone());
            let right = a.clone().merged(b.clone().merged(c.clone()));
            prop_assert_eq!(&left, &right);
            // Texts depend on the order, all else does not.
            let turned = b.clone().merged(a.clone());
            let straight = a.merged(b);
            prop_assert_eq!(
                (turned.line_start, turned.line_end, turned.canonical),
                (straight.line_start, straight.line_end, straight.canonical)
            );
        }
    }

    #[test]
    fn line_0_is_refused_and_empty_stays_empty() {
        let zero = Provenance { line_end: Some(0), ..Provenance::default() };
        assert!(zero.checked("n").unwrap_err().to_string().contains("line_end of n"));
        assert!(Provenance::default().merged(Provenance::default()).is_empty());
    }
}
