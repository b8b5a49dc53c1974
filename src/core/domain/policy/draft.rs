//! Drafts of policies: unchecked fields, and all errors in them.
//!
//! The fields keep the types that they were given until all of them are checked: a reader that stops at the first field
//! of a wrong type would need one correction of a file per error.

use super::{Glob, Measure, Mode, Policies, Policy};
use crate::domain::fact::FactScope;
use crate::domain::ids::PolicyId;
use crate::domain::units::Confidence;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A value as given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Given {
    /// A boolean, which is invalid for every field.
    Truth(bool),
    Number(f64),
    Text(String),
    List(Vec<Given>),
    /// A map, which is invalid for every field.
    Table(BTreeMap<String, Given>),
    /// Null: the same as a missing field.
    Nothing,
}

/// A policy as given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Draft(pub BTreeMap<String, Given>);

/// An error in a policy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("policies[{index}]{}.{field} {what}", named(.id.as_deref()))]
pub struct PolicyFault {
    pub index: usize,
    pub id: Option<String>,
    pub field: String,
    pub what: String,
}

fn named(id: Option<&str>) -> String {
    id.map(|id| format!(" ({id})")).unwrap_or_default()
}

impl std::fmt::Display for Given {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Truth(truth) => truth.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::List(_) => f.write_str("a list"),
            Self::Table(_) => f.write_str("a table"),
            Self::Nothing => f.write_str("null"),
        }
    }
}

impl Policies {
    /// Checks drafts of policies.
    pub fn check(drafts: &[Draft]) -> Result<Self, Vec<PolicyFault>> {
        let mut faults = Vec::new();
        let mut policies: Vec<Policy> = Vec::new();
        let mut ids: Vec<&str> = Vec::new();
        for (index, draft) in drafts.iter().enumerate() {
            let mut reader = Reader { draft, faults: Vec::new() };
            let policy = reader.policy();
            if let Some(id) = draft.text("id") {
                if ids.contains(&id) {
                    reader.fault("id", format!("is {id:?}, as that of an earlier policy; ids are unique"));
                }
                ids.push(id);
            }
            let id = draft.text("id").map(str::to_owned);
            let fault = |(field, what)| PolicyFault { index, id: id.clone(), field, what };
            faults.extend(reader.faults.into_iter().map(fault));
            policies.extend(policy);
        }
        if faults.is_empty() { Ok(Self(policies)) } else { Err(faults) }
    }
}

impl Draft {
    /// The documented fields.
    pub const FIELDS: [&'static str; 8] =
        ["id", "relation", "scope", "mode", "ttl_s", "half_life_s", "min_confidence", "exempt_relations"];

    fn get(&self, field: &str) -> Option<&Given> {
        self.0.get(field).filter(|given| **given != Given::Nothing)
    }

    fn text(&self, field: &str) -> Option<&str> {
        match self.get(field) {
            Some(Given::Text(text)) => Some(text),
            _ => None,
        }
    }
}

struct Reader<'a> {
    draft: &'a Draft,
    faults: Vec<(String, String)>,
}

impl Reader<'_> {
    fn fault(&mut self, field: &str, what: String) {
        self.faults.push((field.to_owned(), what));
    }

    /// Reads a required field.
    fn needed<T>(&mut self, field: &str, words: &str, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let what = match self.draft.get(field) {
            None => format!("is missing; it is {words}"),
            Some(Given::Text(text)) => match read(text) {
                Ok(value) => return Some(value),
                Err(why) => why,
            },
            Some(other) => format!("is {other}; it is {words}"),
        };
        self.fault(field, what);
        None
    }

    fn number(&mut self, field: &str) -> Option<f64> {
        match self.draft.get(field) {
            None => None,
            Some(Given::Number(number)) => Some(*number),
            Some(other) => {
                self.fault(field, format!("is {other}; it is a number"));
                None
            }
        }
    }

    /// Reads a number of seconds, which must be above 0.
    fn seconds(&mut self, field: &str) -> Option<f64> {
        let seconds = self.number(field)?;
        // Domain types use milliseconds.
        if (seconds * 1_000.0).is_finite() && seconds > 0.0 {
            return Some(seconds);
        }
        self.fault(field, format!("is {seconds}; it is a number of seconds above 0"));
        None
    }

    fn policy(&mut self) -> Option<Policy> {
        for field in self.draft.0.keys().filter(|field| !Draft::FIELDS.contains(&field.as_str())) {
            self.faults
                .push((field.clone(), format!("is unknown; the fields are {}", Draft::FIELDS.join(", "))));
        }
        let id = self
            .needed("id", "a name", |text| PolicyId::new(text).map_err(|why| format!("is no name: {why}")));
        let pattern = "a relation, or a pattern such as memory:*";
        let relation = self.needed("relation", pattern, |text| {
            Glob::new(text).map_err(|why| format!("is no pattern: {why}"))
        });
        let scopes = "local, team, company, public or *";
        let scope = self.needed("scope", scopes, |text| match (text, FactScope::named(text)) {
            ("*", _) => Ok(None),
            (_, Some(scope)) => Ok(Some(scope)),
            _ => Err(format!("is {text:?}; it is {scopes}")),
        });
        let modes = "retract, confidence or dry_run";
        let mode = self.needed("mode", modes, |text| {
            Mode::named(text).ok_or_else(|| format!("is {text:?}; it is {modes}"))
        });
        let floor = self.number("min_confidence").unwrap_or(0.0);
        let floor = Confidence::new(floor)
            .map_err(|_| self.fault("min_confidence", format!("is {floor}; it is from 0 to 1")))
            .ok();
        let exempt_relations = self.exempt();
        let measure = self.measure(mode);
        let (measure, floor) = (measure?, floor?);
        Some(Policy {
            id: id?,
            relation: relation?,
            scope: scope?,
            mode: mode?,
            measure,
            min_confidence: floor,
            exempt_relations,
            decay: measure.decay(floor)?,
            keeps: false,
        })
    }

    fn measure(&mut self, mode: Option<Mode>) -> Option<Measure> {
        let (has_ttl, has_half_life) =
            (self.draft.get("ttl_s").is_some(), self.draft.get("half_life_s").is_some());
        let (ttl, half_life) = (self.seconds("ttl_s"), self.seconds("half_life_s"));
        if has_ttl && has_half_life {
            self.fault("half_life_s", "is given beside ttl_s; a policy has one of them".to_owned());
            return None;
        }
        match mode {
            Some(Mode::Retract) if !has_ttl => {
                let other = if has_half_life { ", not half_life_s" } else { "" };
                self.fault("ttl_s", format!("is missing; mode retract needs it{other}"));
                None
            }
            Some(Mode::Confidence) if !has_half_life => {
                let other = if has_ttl { ", not ttl_s" } else { "" };
                self.fault("half_life_s", format!("is missing; mode confidence needs it{other}"));
                None
            }
            Some(Mode::DryRun) if !has_ttl && !has_half_life => {
                self.fault("ttl_s", "is missing; mode dry_run needs it, or half_life_s".to_owned());
                None
            }
            _ => ttl.map(Measure::TtlS).or(half_life.map(Measure::HalfLifeS)),
        }
    }

    fn exempt(&mut self) -> Vec<Glob> {
        let words = "a list of relations or patterns";
        let draft = self.draft;
        let given = match draft.get("exempt_relations") {
            None => return Vec::new(),
            Some(Given::List(given)) => given,
            Some(other) => {
                self.fault("exempt_relations", format!("is {other}; it is {words}"));
                return Vec::new();
            }
        };
        let mut globs = Vec::new();
        for one in given {
            match one {
                Given::Text(text) => match Glob::new(text) {
                    Ok(glob) => globs.push(glob),
                    Err(why) => self.fault("exempt_relations", format!("holds no pattern: {why}")),
                },
                other => self.fault("exempt_relations", format!("holds {other}; it is {words}")),
            }
        }
        globs
    }
}
