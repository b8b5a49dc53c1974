//! API keys: what one may do, and how it is written.
//!
//! A key is `ebb_<id>_<secret>`. The id names it and is no secret; the secret is 256 random bits in hexadecimal and eight
//! digits that follow from the rest, so that a scanner of leaked secrets knows one from anything that merely looks like it.
//! Stored is a hash of the secret alone. A key has one right, which includes the lesser ones, over some scopes or over
//! all of them; what concerns the whole database needs all.
//!
//! Invariant: a key allows nothing in a scope that it does not name (held by `a_key_allows_what_it_names_and_no_more`).

use super::ids::Scope;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What every key begins with.
pub const PREFIX: &str = "ebb_";
/// What stands for every scope.
pub const EVERY_SCOPE: &str = "*";

/// What may be done. Each includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Right {
    /// Look.
    Read,
    /// Remember, use, observe, run jobs.
    Write,
    /// Forget, and state instants.
    Admin,
}

impl Right {
    /// All, the least first.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Admin];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }

    /// The right of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|right| right.name() == name)
    }
}

/// Over whose data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scopes {
    /// Everybody's, and the database as a whole.
    Every,
    Some(BTreeSet<Scope>),
}

/// What a caller may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// At most this.
    pub right: Right,
    /// Over these.
    pub scopes: Scopes,
}

impl Grant {
    /// Everything, everywhere.
    pub const ALL: Self = Self { right: Right::Admin, scopes: Scopes::Every };

    /// What the stored words of a key grant; `None` for words that are none.
    #[must_use]
    pub fn of(right: &str, scopes: &[String]) -> Option<Self> {
        let right = Right::named(right)?;
        if scopes.iter().any(|scope| scope == EVERY_SCOPE) {
            return Some(Self { right, scopes: Scopes::Every });
        }
        let scopes: Option<BTreeSet<Scope>> = scopes.iter().map(|scope| Scope::new(scope).ok()).collect();
        Some(Self { right, scopes: Scopes::Some(scopes.filter(|scopes| !scopes.is_empty())?) })
    }

    /// Whether it allows this in a scope.
    #[must_use]
    pub fn allows(&self, right: Right, scope: &Scope) -> bool {
        let over = match &self.scopes {
            Scopes::Every => true,
            Scopes::Some(scopes) => scopes.contains(scope),
        };
        over && right <= self.right
    }

    /// Whether it allows this over the database as a whole.
    #[must_use]
    pub fn allows_everywhere(&self, right: Right) -> bool {
        self.scopes == Scopes::Every && right <= self.right
    }

    /// The scope that is meant where none is named, if it follows from the grant.
    #[must_use]
    pub fn only_scope(&self) -> Option<&Scope> {
        match &self.scopes {
            Scopes::Some(scopes) if scopes.len() == 1 => scopes.first(),
            _ => None,
        }
    }

    /// The scopes in words.
    #[must_use]
    pub fn scope_names(&self) -> Vec<String> {
        match &self.scopes {
            Scopes::Every => vec![EVERY_SCOPE.to_owned()],
            Scopes::Some(scopes) => scopes.iter().map(ToString::to_string).collect(),
        }
    }
}

/// The two parts of a key as it was given: its id and its secret.
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
