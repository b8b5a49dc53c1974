//! The end of a session.

use crate::domain::ids::{Scope, SessionId};
use crate::domain::units::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// Which session.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SessionPath {
    /// Its id.
    pub id: SessionId,
}

/// The end of a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// Promote what has more energy than this: sessionEndThreshold, where nothing is said.
    #[schemars(range(min = 0.0))]
    pub threshold: Option<f64>,
    /// Whether nothing is to be written.
    #[serde(default)]
    pub dry_run: bool,
    /// Whose data.
    pub scope: Option<Scope>,
    /// When; needs the right admin.
    pub at: Option<Timestamp>,
}
