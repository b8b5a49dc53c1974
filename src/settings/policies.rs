//! The list `[[policies]]`, whose fields are those of the decay semantics document.
//!
//! The domain checks the fields, alone and together, so that the same rules hold for a file, a variable and a request.

use super::values::map_of;
use config::{Map, Value, ValueKind};
use ebb_core::domain::policy::{self, Draft, Policies, PolicyFault};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// The name of the list.
pub(super) const KEY: &str = "policies";

/// A policy before it is checked.
struct Fields(Draft);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let fields: BTreeMap<String, Option<policy::Given>> = map_of(from, &Draft::FIELDS)?;
        Ok(Self(Draft(fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())))
    }
}

pub(super) fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Policies, D::Error> {
    let drafts: Vec<Draft> = Vec::deserialize(from)?.into_iter().map(|Fields(draft)| draft).collect();
    Policies::check(&drafts).map_err(|faults| {
        Error::custom(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    })
}

/// Returns the faults of the policies of one layer. Their words, like all of a configuration, may be in letters of any
/// case.
pub(super) fn faults(tables: &mut [Map<String, Value>]) -> Vec<PolicyFault> {
    let draft = |table: &mut Map<String, Value>| {
        for name in ["scope", "mode"] {
            if let Some(Value { kind: ValueKind::String(word), .. }) = table.get_mut(name) {
                word.make_ascii_lowercase();
            }
        }
        let fields = Value::new(None, ValueKind::Table(table.clone())).try_deserialize();
        fields.map_or_else(|_| Draft::default(), |Fields(draft)| draft)
    };
    let drafts: Vec<Draft> = tables.iter_mut().map(draft).collect();
    Policies::check(&drafts).err().unwrap_or_default()
}
