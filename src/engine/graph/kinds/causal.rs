//! Causal relations: which relationships lead from a cause to its effect, in which direction, and how strongly.
//!
//! A name is a type of relationships, or the predicate of a relation between entities. Names are compared without case,
//! and `leads to`, `leads-to` and `LEADS_TO` are one name. A relation that is not in the table has no causal strength,
//! unless it has one as a property.

use crate::graph::Error;
use std::collections::BTreeMap;

/// A relation of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CausalRule {
    /// Whether the target is the cause of the source, instead of the other way round.
    pub backward: bool,
    /// Causal share of the weight, above 0, at most 1.
    pub strength: f32,
}

/// Default relations from a cause to its effect: those of the source document, then the usual words.
#[rustfmt::skip]
pub const CAUSES: [&str; 18] = [
    "CONTAINS", "IMPORTS", "CALLS", "REINFORCES", "CAUSES", "CAUSED", "LEADS_TO", "LED_TO", "TRIGGERS", "TRIGGERED",
    "RESULTS_IN", "RESULTED_IN", "PRODUCES", "BREAKS", "ENABLES=0.5", "AFFECTS=0.5", "INFLUENCES=0.5",
    "CONTRIBUTES_TO=0.5",
];
/// Default relations from an effect to its cause.
#[rustfmt::skip]
pub const CAUSED_BY: [&str; 7] = [
    "CAUSED_BY", "TRIGGERED_BY", "RESULTS_FROM", "RESULTED_FROM", "PRODUCED_BY", "DUE_TO", "BECAUSE_OF",
];

/// Causal relations by name.
#[derive(Debug, Clone, PartialEq)]
pub struct CausalTable(BTreeMap<String, CausalRule>);

impl Default for CausalTable {
    fn default() -> Self {
        // The default names are valid and distinct (held by `the_default_table`).
        Self::new(&CAUSES, &CAUSED_BY).unwrap_or(Self(BTreeMap::new()))
    }
}

impl CausalTable {
    /// A table of names, each with `=STRENGTH` if that is not 1: relations from a cause, and from an effect.
    ///
    /// # Errors
    /// [`Error::CausalName`] for a name that is empty or in the table twice; [`Error::ParameterOutOfRange`] for a strength
    /// outside its range.
    pub fn new<S: AsRef<str>>(causes: &[S], caused_by: &[S]) -> Result<Self, Error> {
        let mut table = BTreeMap::new();
        let forward = causes.iter().map(|entry| (entry.as_ref(), false));
        let all = forward.chain(caused_by.iter().map(|entry| (entry.as_ref(), true)));
        for (entry, backward) in all {
            let (name, strength) = entry.split_once('=').unwrap_or((entry, "1"));
            let folded = fold(name.trim());
            if folded.is_empty() || table.contains_key(&folded) {
                return Err(Error::CausalName { name: name.trim().to_owned() });
            }
            let given: f32 = strength.trim().parse().unwrap_or(f32::NAN);
            if !(given > 0.0 && given <= 1.0) {
                let name = format!("the causal strength of {}", name.trim());
                return Err(Error::ParameterOutOfRange { name, value: f64::from(given), min: 0.0, max: 1.0 });
            }
            table.insert(folded, CausalRule { backward, strength: given });
        }
        Ok(Self(table))
    }

    /// The rule of a relation.
    #[must_use]
    pub fn of(&self, name: &str) -> Option<&CausalRule> {
        self.0.get(&fold(name))
    }

    /// Names, folded, with their rules.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &CausalRule)> {
        self.0.iter().map(|(name, rule)| (name.as_str(), rule))
    }
}

impl CausalRule {
    /// Causal shares of the weight in the direction of a relationship, and against it.
    pub(super) const fn shares(self) -> [f32; 2] {
        if self.backward { [0.0, self.strength] } else { [self.strength, 0.0] }
    }
}

/// A name in upper case, its words joined by underscores.
pub(super) fn fold(name: &str) -> String {
    let same = |c: char| if matches!(c, ' ' | '-') { '_' } else { c };
    name.trim().chars().map(same).flat_map(char::to_uppercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_table() {
        let table = CausalTable::new(&CAUSES, &CAUSED_BY).unwrap();
        assert_eq!((table.0.len(), &table), (25, &CausalTable::default()));
        let of = |name: &str| table.of(name).map(|rule| (rule.backward, rule.strength.to_bits()));
        let whole = 1.0_f32.to_bits();
        for name in ["LEADS_TO", "leads_to", "Leads to", " leads-to "] {
            assert_eq!(of(name), Some((false, whole)), "{name}");
        }
        assert_eq!(of("caused by"), Some((true, whole)));
        assert_eq!(of("calls"), Some((false, whole)));
        assert_eq!(of("influences"), Some((false, 0.5_f32.to_bits())));
        assert_eq!((of("likes"), of("RELATES_TO"), of("")), (None, None, None));
    }

    #[test]
    fn an_invalid_table_names_its_fault() {
        let told = |causes: &[&str], caused_by: &[&str]| {
            CausalTable::new(causes, caused_by).unwrap_err().to_string()
        };
        assert_eq!(
            told(&["SPARKS"], &["sparks=0.2"]),
            "the causal relation 'sparks' is empty or given twice"
        );
        assert_eq!(told(&["=0.5"], &[]), "the causal relation '' is empty or given twice");
        for bad in ["0", "1.1", "-1", "x", "NaN", "inf"] {
            let why = told(&[&format!("SPARKS={bad}")], &[]);
            assert!(why.starts_with("the causal strength of SPARKS is "), "{why}");
        }
        assert!(CausalTable::new::<&str>(&[], &[]).is_ok());
    }
}
