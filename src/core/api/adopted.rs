//! Requests and responses about rows of other libraries, by the keys that these libraries give them.

use crate::api::recall::Freshness;
use crate::domain::ids::{Scope, Term};
use crate::domain::units::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most keys of one request.
pub const KEYS_MAX: usize = 1_000;

/// Kind of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowKind {
    /// A node.
    Node,
    /// A fact, which is a relationship.
    Fact,
}

/// Request to score rows that a search of another library returned.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RerankRequest {
    /// Keys of nodes or facts, as their library has them.
    #[schemars(length(min = 1, max = KEYS_MAX))]
    pub keys: Vec<Term>,
    /// The question, in plain words, like the text of a recall; without one, the score is the weight.
    #[serde(default)]
    #[schemars(length(max = 65_536))]
    pub query: String,
    /// Scope of the data.
    pub scope: Option<Scope>,
}

/// Response to a request to score rows.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Reranked {
    /// A result for each key, in the order of the request.
    pub results: Vec<RerankedRow>,
    /// Generation of the mirror.
    pub generation: u64,
    /// Freshness of the mirror; weights are read from the database.
    #[serde(flatten)]
    pub freshness: Freshness,
}

/// Score of a row.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RerankedRow {
    /// Key as requested.
    pub key: String,
    /// Kind of the row; null if there is none with this key in the scope.
    pub kind: Option<RowKind>,
    /// Whether it is live: there, not retired by its library and not hidden.
    pub live: bool,
    /// Current weight, 0 to 1: 1 when it was last observed or accessed, halved in each half-life since.
    pub weight: f64,
    /// Score for the query; 0 if it is not live.
    pub score: f64,
    /// Reason for the score.
    pub why: String,
}

/// Request to change the states of rows. A missing value stays as it is.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateRequest {
    /// Keys of nodes or facts, as their library has them.
    #[schemars(length(min = 1, max = KEYS_MAX))]
    pub keys: Vec<Term>,
    /// Whether they keep their weight.
    pub pinned: Option<bool>,
    /// Whether recall and rerank leave them out.
    pub hidden: Option<bool>,
    /// Whether they were accessed: their weight is 1 again.
    #[serde(default)]
    pub accessed: bool,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// Response to a change of states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StatesSet {
    /// Number of rows.
    pub rows: usize,
    /// Instant of the change.
    pub at: Timestamp,
    /// Whether this was a dry run: nothing was written.
    pub dry_run: bool,
}

/// Response to a request for hidden rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Hidden {
    /// The hidden rows, nodes first, by key.
    pub hidden: Vec<HiddenRow>,
}

/// A hidden row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HiddenRow {
    /// Key, as its library has it.
    pub key: String,
    /// Kind of the row.
    pub kind: RowKind,
}
