//! Decoding of rows to checked domain values.
//!
//! Statements return a value of a wrong type as null, so a bad row never fails a page. A missing or invalid value is
//! named here, and the row is quarantined for that reason with its values unchanged.

use crate::domain::ids::{MemoryId, Scope};
use crate::domain::memory::MemoryState;
use crate::domain::tier::Tier;
use crate::domain::units::{Energy, Timestamp};
use serde::Deserialize;

/// Columns of `memory/lock` and `memory/read` that laws need.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LifeRow {
    pub(super) id: String,
    pub(super) scope: Option<String>,
    pub(super) tier: Option<String>,
    pub(super) energy: Option<f64>,
    /// Values of the properties in [`DATES`], in their order.
    pub(super) dates: Vec<DateValue>,
    pub(super) access_count: Option<i64>,
    pub(super) pinned: Option<bool>,
    pub(super) session: Option<String>,
    pub(super) fault: Option<String>,
}

/// Properties of the values in `dates`.
const DATES: [&str; 6] = ["energyAt", "lastAccessed", "created", "ripeAt", "dueAt", "lastExpired"];

/// Value of a property that should be a date.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum DateValue {
    /// A date within the years 0001 to 9999, in epoch milliseconds.
    Millis(i64),
    /// The Cypher type of any other value, `NULL` if it is absent.
    Type(String),
}

impl DateValue {
    /// The instant, or `None` for an absent property.
    ///
    /// # Errors
    /// The reason why the value is invalid.
    fn instant(&self, name: &str) -> Result<Option<Timestamp>, String> {
        match self {
            Self::Millis(ms) => Timestamp::from_millis(*ms).map(Some).map_err(|why| format!("{name}: {why}")),
            Self::Type(of) if of == "NULL" => Ok(None),
            Self::Type(of) if of.starts_with("ZONED DATETIME") => {
                Err(format!("{name} is outside the years 0001 to 9999"))
            }
            Self::Type(_) => Err(format!("{name} is not a date with time and zone")),
        }
    }
}

/// A decoded memory with its key.
#[derive(Debug, Clone, PartialEq)]
pub struct Life {
    pub id: MemoryId,
    pub scope: Scope,
    pub state: MemoryState,
    pub created: Timestamp,
    /// Session that created it.
    pub session: Option<String>,
}

impl LifeRow {
    /// The checked state, or the reason why the row is invalid.
    pub(super) fn check(&self) -> Result<Life, String> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let [energy_at, last_accessed, created, ripe_at, due_at] = self.dates_of_life()?;
        let tier = self.tier.as_deref().unwrap_or("missing or not text");
        let energy = self.energy.ok_or("energy is missing or not a number")?;
        let last_accessed = last_accessed.ok_or("lastAccessed is not a date with time and zone")?;
        Ok(Life {
            id: MemoryId::new(&self.id).map_err(|why| why.to_string())?,
            scope: match &self.scope {
                Some(scope) => Scope::new(scope).map_err(|why| why.to_string())?,
                None => Scope::local(),
            },
            state: MemoryState {
                tier: Tier::named(tier).ok_or_else(|| format!("tier is {tier}"))?,
                energy: Energy::new(energy).map_err(|why| why.to_string())?,
                energy_at: energy_at.unwrap_or(last_accessed),
                last_accessed,
                access_count: self.access_count.unwrap_or(1),
                ripe_at,
                due_at,
                pinned: self.pinned.unwrap_or(false),
            },
            created: created.unwrap_or(last_accessed),
            session: self.session.clone(),
        })
    }

    /// Names each date but `lastExpired`.
    fn dates_of_life(&self) -> Result<[Option<Timestamp>; 5], String> {
        let mut dates = [None; 5];
        for ((date, value), name) in dates.iter_mut().zip(&self.dates).zip(DATES) {
            *date = value.instant(name)?;
        }
        Ok(dates)
    }

    /// Last expiry of the memory, if recorded.
    pub(super) fn last_expired(&self) -> Option<Timestamp> {
        self.dates.get(5)?.instant(DATES[5]).ok()?
    }
}
