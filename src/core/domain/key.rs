//! API keys: their rights and their format.
//!
//! A key is `ebb_<id>_<secret>`. The id is public; the secret is 256 random bits in hexadecimal and a checksum of eight
//! digits, so that a scanner for leaked secrets can tell a key from similar text. Only a hash of the secret is stored.
//! A key has one right, which includes the lesser ones, over some scopes or over all of them; operations on the whole
//! database need all scopes.
//!
//! Invariant: a key allows nothing in a scope that it does not name (held by `a_key_allows_what_it_names_and_no_more`).

use super::ids::Scope;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Prefix of every key.
pub const PREFIX: &str = "ebb_";
/// Symbol for all scopes.
pub const EVERY_SCOPE: &str = "*";

/// Right of a key. Each includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Right {
    /// Read.
    Read,
    /// Write memories, record accesses and observations, run jobs.
    Write,
    /// Delete memories, and set instants of events.
    Admin,
}

impl Right {
    /// All rights, in ascending order.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Admin];

    /// Name of the right.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }

    /// The right with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|right| right.name() == name)
    }
}

/// Scopes that a key may access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scopes {
    /// All scopes, and the database as a whole.
    Every,
    Some(BTreeSet<Scope>),
}

/// Permissions of a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Greatest right.
    pub right: Right,
    /// Scopes of the right.
    pub scopes: Scopes,
}

impl Grant {
    /// Every right over all scopes.
    pub const ALL: Self = Self { right: Right::Admin, scopes: Scopes::Every };

    /// Parses the stored text of a grant; `None` if it is invalid.
    #[must_use]
    pub fn of(right: &str, scopes: &[String]) -> Option<Self> {
        let right = Right::named(right)?;
        if scopes.iter().any(|scope| scope == EVERY_SCOPE) {
            return Some(Self { right, scopes: Scopes::Every });
        }
        let scopes: Option<BTreeSet<Scope>> = scopes.iter().map(|scope| Scope::new(scope).ok()).collect();
        Some(Self { right, scopes: Scopes::Some(scopes.filter(|scopes| !scopes.is_empty())?) })
    }

    /// Whether a right in a scope is granted.
    #[must_use]
    pub fn allows(&self, right: Right, scope: &Scope) -> bool {
        let over = match &self.scopes {
            Scopes::Every => true,
            Scopes::Some(scopes) => scopes.contains(scope),
        };
        over && right <= self.right
    }

    /// Whether a right over the database as a whole is granted.
    #[must_use]
    pub fn allows_everywhere(&self, right: Right) -> bool {
        self.scopes == Scopes::Every && right <= self.right
    }

    /// The default scope of a request that names none, if the grant implies one.
    #[must_use]
    pub fn only_scope(&self) -> Option<&Scope> {
        match &self.scopes {
            Scopes::Some(scopes) if scopes.len() == 1 => scopes.first(),
            _ => None,
        }
    }

    /// The scopes as text.
    #[must_use]
    pub fn scope_names(&self) -> Vec<String> {
        match &self.scopes {
            Scopes::Every => vec![EVERY_SCOPE.to_owned()],
            Scopes::Some(scopes) => scopes.iter().map(ToString::to_string).collect(),
        }
    }
}

/// The two parts of a key: its id and its secret.
#[must_use]
pub fn parts(token: &str) -> Option<(&str, &str)> {
    let (id, secret) = token.strip_prefix(PREFIX)?.split_once('_')?;
    (!id.is_empty() && !secret.is_empty()).then_some((id, secret))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scope(name: &str) -> Scope {
        Scope::new(name).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn a_key_allows_what_it_names_and_no_more(
            right in 0..3_usize,
            named in prop::collection::btree_set("[a-c*]", 0..3),
            asked in "[a-c]",
            wanted in 0..3_usize,
        ) {
            let names: Vec<String> = named.iter().cloned().collect();
            let grant = Grant::of(Right::ALL[right].name(), &names);
            let allowed = grant.as_ref().is_some_and(|grant| grant.allows(Right::ALL[wanted], &scope(&asked)));
            let over = named.contains("*") || named.contains(&asked);
            prop_assert_eq!(allowed, over && wanted <= right);
            let everywhere = grant.is_some_and(|grant| grant.allows_everywhere(Right::ALL[wanted]));
            prop_assert_eq!(everywhere, named.contains("*") && wanted <= right);
        }
    }

    #[test]
    fn words_that_grant_nothing() {
        assert_eq!(Grant::of("owner", &["a".to_owned()]), None);
        assert_eq!(Grant::of("read", &[]), None);
        assert_eq!(Grant::of("read", &["a".to_owned(), " ".to_owned()]), None);
        assert_eq!(Grant::of("Read", &["*".to_owned()]), None);
    }

    #[test]
    fn a_scope_follows_from_a_grant_that_names_one() {
        let of = |scopes: &[&str]| {
            let names: Vec<String> = scopes.iter().map(|name| (*name).to_owned()).collect();
            Grant::of("read", &names).unwrap().only_scope().cloned()
        };
        assert_eq!(of(&["team"]), Some(scope("team")));
        assert_eq!(of(&["a", "b"]), None);
        assert_eq!(of(&["*"]), None);
    }

    #[test]
    fn a_key_is_taken_apart_and_what_is_none_is_not() {
        assert_eq!(parts("ebb_0af3_5ec_ret"), Some(("0af3", "5ec_ret")));
        for none in ["", "ebb_", "ebb__x", "ebb_id", "ebb_id_", "key_id_secret", "Ebb_id_secret"] {
            assert_eq!(parts(none), None, "{none}");
        }
    }
}
