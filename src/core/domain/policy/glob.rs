//! Glob patterns for relations: `*` matches any run of characters, everything else matches itself.
//!
//! Invariant: a pattern agrees with its definition (held by `agrees_with_the_definition`).

use crate::domain::ids::{FactRelation, NameError};

/// A pattern, anchored and case-sensitive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// Checks a pattern: no longer than a relation may be, and without control characters.
    pub fn new(pattern: &str) -> Result<Self, NameError> {
        FactRelation::new(pattern).map(|name| Self(name.into()))
    }

    /// The pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a text matches. Takes at most as many steps as the product of the two lengths.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let mut parts = self.0.split('*');
        let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
        let mut parts = parts.peekable();
        if parts.peek().is_none() {
            return rest.is_empty();
        }
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                return rest.ends_with(part);
            }
            // The first position suffices: it leaves the longest rest to match.
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        true
    }

    /// The definition, byte by byte: whether the pattern so far matches each beginning of the text. For tests.
    #[cfg(any(test, fuzzing))]
    #[must_use]
    pub fn matches_definition(&self, text: &str) -> bool {
        let text = text.as_bytes();
        let mut row = vec![false; text.len() + 1];
        row[0] = true;
        for byte in self.0.bytes() {
            let mut next = vec![false; text.len() + 1];
            for end in 0..=text.len() {
                next[end] = match byte {
                    b'*' => row[end] || (end > 0 && next[end - 1]),
                    byte => end > 0 && row[end - 1] && text[end - 1] == byte,
                };
            }
            row = next;
        }
        row[text.len()]
    }

    /// Specificity: the kind (0 exact, 1 a pattern, 2 only `*`), and the length of its literal prefix.
    pub(super) fn specificity(&self) -> (u8, usize) {
        match self.0.find('*') {
            None => (0, self.0.len()),
            Some(_) if self.0.bytes().all(|byte| byte == b'*') => (2, 0),
            Some(at) => (1, at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn agrees_with_the_definition(pattern in "[ab:*]{1,8}", text in "[ab:]{0,10}") {
            let glob = Glob::new(&pattern).unwrap();
            prop_assert_eq!(glob.matches(&text), glob.matches_definition(&text), "{} {}", pattern, text);
        }

        #[test]
        fn a_text_is_its_own_pattern(text in "[^*\\p{C}\\s]{1,20}") {
            prop_assert!(Glob::new(&text).unwrap().matches(&text));
        }
    }

    #[test]
    fn nothing_but_the_star_is_special() {
        let matches = |pattern: &str, text: &str| Glob::new(pattern).unwrap().matches(text);
        assert!(
            matches("memory:*", "memory:a:b") && matches("*", "anything") && matches("*:status", "a:status")
        );
        assert!(!matches("memory:*", "Memory:a") && !matches("m.mory", "memory") && !matches("[ab]", "a"));
        assert!(!matches("ab*ba", "aba"), "what the beginning took the end cannot have");
        assert!(matches("a?c", "a?c") && matches("日*語", "日本語"));
    }

    #[test]
    fn no_pattern_makes_it_fall_or_wait() {
        for pattern in crate::mutated::mutated(&["memory:*", "*:a*b*", "**", "roadmap:status"], 4)
            .take(crate::mutated::MANY)
        {
            if let Ok(glob) = Glob::new(&pattern) {
                let _ = glob.matches("memory:context:a:b");
                assert!(glob.matches(&pattern), "{pattern:?} matches itself");
            }
        }
    }
}
