//! From rows to checked domain values.
//!
//! Statements return a value of a wrong type as null, so a bad row never fails a page. What is missing or impossible
//! is named here, and the row is set aside under that reason with its values as they are.

use crate::domain::ids::{MemoryId, Scope};
use crate::domain::memory::MemoryState;
use crate::domain::tier::Tier;
use crate::domain::units::{Energy, Timestamp};
use serde::Deserialize;

/// What `memory/lock` and `memory/read` return of a memory's life.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LifeRow {
    pub(super) id: String,
    pub(super) scope: Option<String>,
    pub(super) tier: Option<String>,
    pub(super) energy: Option<f64>,
    pub(super) energy_at: Option<i64>,
    pub(super) last_accessed: Option<i64>,
    pub(super) access_count: Option<i64>,
    pub(super) ripe_at: Option<i64>,
    pub(super) due_at: Option<i64>,
    pub(super) pinned: Option<bool>,
    pub(super) created: Option<i64>,
    pub(super) session: Option<String>,
    pub(super) fault: Option<String>,
}

/// A memory as the laws see it, with what identifies it.
#[derive(Debug, Clone, PartialEq)]
pub struct Life {
    /// Its id.
    pub id: MemoryId,
    /// Whose it is.
    pub scope: Scope,
    /// Its life.
    pub vital: MemoryState,
    /// When it was made.
    pub created: Timestamp,
    /// The session it was made in.
    pub session: Option<String>,
}

impl LifeRow {
    /// The checked life, or the reason why no law can use the row.
    pub(super) fn check(&self) -> Result<Life, String> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let instant = |name: &str, ms: Option<i64>| {
            let ms = ms.ok_or_else(|| format!("{name} is missing or not a date with time and zone"))?;
            Timestamp::from_millis(ms).map_err(|why| format!("{name}: {why}"))
        };
        let maybe = |name, ms: Option<i64>| ms.map(|ms| instant(name, Some(ms))).transpose();
        let tier = self.tier.as_deref().unwrap_or("missing or not text");
        let energy = self.energy.ok_or("energy is missing or not a number")?;
        let last_accessed = instant("lastAccessed", self.last_accessed)?;
        Ok(Life {
            id: MemoryId::new(&self.id).map_err(|why| why.to_string())?,
            scope: match &self.scope {
                Some(scope) => Scope::new(scope).map_err(|why| why.to_string())?,
                None => Scope::local(),
            },
            vital: MemoryState {
                tier: Tier::named(tier).ok_or_else(|| format!("tier is {tier}"))?,
                energy: Energy::new(energy).map_err(|why| why.to_string())?,
                energy_at: maybe("energyAt", self.energy_at)?.unwrap_or(last_accessed),
                last_accessed,
                access_count: self.access_count.unwrap_or(1),
                ripe_at: maybe("ripeAt", self.ripe_at)?,
                due_at: maybe("dueAt", self.due_at)?,
                pinned: self.pinned.unwrap_or(false),
            },
            created: maybe("created", self.created)?.unwrap_or(last_accessed),
            session: self.session.clone(),
        })
    }
}
