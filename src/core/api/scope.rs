//! Requests and responses about scopes as a whole: list, export, deletion and its receipts.

use super::input::page_size;
use crate::domain::ids::Scope;
use crate::domain::units::Timestamp;
use crate::store::{Erasure, ScopeCounts, ScopeMemories};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Path of a scope.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ScopePath {
    /// Its name.
    pub scope: Scope,
}

/// A page of scopes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScopesQuery {
    /// The scope after which the page begins: next of the page before.
    pub after: Option<String>,
    /// Maximum number of scopes; default 100.
    #[serde(default, deserialize_with = "page_size")]
    #[schemars(range(min = 1, max = 10_000))]
    pub limit: Option<u32>,
}

/// A scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScopeSummary {
    /// Its name.
    pub scope: String,
    /// Number of its live memories.
    pub memories: i64,
}

/// Response to a query for scopes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScopesList {
    /// Scopes with rows that the caller may read, by name.
    pub scopes: Vec<ScopeSummary>,
    /// Where the next page begins, if more may follow.
    pub next: Option<String>,
}

/// Query of a deletion of a scope.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScopeDeletionQuery {
    /// Whether to count only.
    #[serde(default)]
    pub dry_run: bool,
    /// The number that the guard named, to delete so many.
    pub accept_affected: Option<i64>,
}

/// The receipt of a deletion of a scope. It has no content of the scope, and stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScopeReceipt {
    /// Its id.
    pub id: String,
    /// The scope.
    pub scope: String,
    /// Id of the API key that asked for it, or the surface.
    pub by: String,
    /// Instant of its beginning, by the server's clock.
    pub at: Timestamp,
    /// Instant of its end; null if it was broken off: the same request continues it.
    pub finished: Option<Timestamp>,
    /// Deleted nodes by label.
    pub nodes: BTreeMap<String, i64>,
    /// Number of deleted nodes.
    pub total: i64,
    /// Those among them that stay as a node without labels and properties of Ebb's, since a relationship of another writer
    /// leads to it.
    pub emptied: i64,
}

/// Response to a deletion of a scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScopeDeletion {
    /// The scope.
    pub scope: String,
    /// Nodes by label: those that were deleted, or would be.
    pub nodes: BTreeMap<String, i64>,
    /// Number of these nodes.
    pub total: i64,
    /// Of a dry run: relationships between them and rows of others, which stay.
    pub relationships_to_others: Option<i64>,
    /// The receipt; null of a dry run.
    pub receipt: Option<ScopeReceipt>,
    /// Whether this was a dry run: nothing was written.
    pub dry_run: bool,
}

/// Response to a query for the receipts of a scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScopeReceipts {
    /// Receipts, latest first, at most 100.
    pub receipts: Vec<ScopeReceipt>,
}

impl From<ScopeMemories> for ScopeSummary {
    fn from(ScopeMemories { scope, memories }: ScopeMemories) -> Self {
        Self { scope, memories }
    }
}

impl From<Erasure> for ScopeReceipt {
    fn from(erasure: Erasure) -> Self {
        let Erasure { id, scope, by, at, finished, nodes, emptied, .. } = erasure;
        Self { id, scope, by, at, finished, total: nodes.values().sum(), nodes, emptied }
    }
}

impl ScopeDeletion {
    /// A dry run.
    pub(crate) fn counted(scope: &Scope, counts: ScopeCounts) -> Self {
        let total = counts.total();
        let relationships_to_others = Some(counts.outward);
        let scope = scope.to_string();
        Self { scope, nodes: counts.nodes, total, relationships_to_others, receipt: None, dry_run: true }
    }

    /// A deletion.
    pub(crate) fn done(erasure: Erasure) -> Self {
        let receipt = ScopeReceipt::from(erasure);
        Self {
            scope: receipt.scope.clone(),
            nodes: receipt.nodes.clone(),
            total: receipt.total,
            relationships_to_others: None,
            receipt: Some(receipt),
            dry_run: false,
        }
    }
}
