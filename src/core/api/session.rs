//! Request and response of ending a session.

use crate::domain::ids::{Scope, SessionId};
use crate::domain::units::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A session that ended, with the memories it promoted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionEnd {
    /// Its id.
    pub session: String,
    /// Ids of the memories promoted to shortTerm.
    pub promoted: Vec<String>,
    /// Memories that an attempt of the job promote holds and will promote.
    pub held: i64,
    /// Instant of the end.
    pub at: Timestamp,
    /// Whether this was a dry run: nothing was written.
    pub dry_run: bool,
}

/// Path of a session.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SessionPath {
    /// Its id.
    pub id: SessionId,
}

/// Request to end a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// Energy above which memories are promoted; default sessionEndThreshold.
    #[schemars(range(min = 0.0))]
    pub threshold: Option<f64>,
    /// Whether this is a dry run: nothing is written.
    #[serde(default)]
    pub dry_run: bool,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}
