//! A session that ended.

use crate::domain::units::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// A session that ended, and what rose with it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionEnd {
    /// Its id.
    pub session: String,
    /// Ids of the memories that rose to shortTerm.
    pub promoted: Vec<String>,
    /// Memories that an attempt of the job promote holds and will raise.
    pub held: i64,
    /// When it ended.
    pub at: Timestamp,
    /// Whether nothing was written.
    pub dry_run: bool,
}
