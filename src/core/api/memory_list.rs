//! Requests and responses about memories by filter: search and deletion.

use super::memory::Memory;
use crate::domain::annotations::MetadataFilter;
use crate::domain::ids::{Scope, SessionId, Term};
use crate::domain::tier::Tier;
use crate::domain::units::Timestamp;
use crate::store::{Filter, MemoryOrder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Most memories of a page of a search.
pub const SEARCH_MAX: u32 = 1_000;

/// Conditions on memories, all of which must hold; without any, all memories of the scope.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct MemoryFilter {
    /// Only memories of these tiers; default all: expiredWorking too. The stubs of promotions (archivedWorking, archivedShortTerm) are never listed.
    #[serde(default)]
    #[schemars(length(max = 6))]
    pub tiers: Vec<Tier>,
    /// Only memories created in this session.
    pub session: Option<SessionId>,
    /// Only memories with each of these tags.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub tags: Vec<Term>,
    /// Only memories whose content contains this text; upper and lower case are the same.
    pub text: Option<Term>,
    /// Only memories whose metadata fulfils these conditions: a field and its value, null for a missing field, or bounds such as {"$gte": 2020, "$lt": 2024}. The key is the path of the field, such as user.age.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 16))]
    pub metadata: Map<String, Value>,
    /// Only memories created at this instant or later.
    pub created_since: Option<Timestamp>,
    /// Only memories created before this instant.
    pub created_before: Option<Timestamp>,
}

/// Request for memories that fulfil conditions.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemorySearch {
    /// Conditions on the memories.
    #[serde(default)]
    pub filter: MemoryFilter,
    /// Order of the memories.
    #[serde(default)]
    pub sort: MemoryOrder,
    /// Maximum number of memories in the page; default 100.
    #[schemars(range(min = 1, max = SEARCH_MAX))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    #[schemars(length(max = 2_048))]
    pub cursor: Option<String>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant to evaluate at; default now.
    pub at: Option<Timestamp>,
}

/// A page of a search.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundMemories {
    pub memories: Vec<Memory>,
    /// Cursor of the next page; null if this is the last one. A page may be short, and another follow: with conditions on metadata, and after 16 MiB of texts.
    pub cursor: Option<String>,
}

/// Request to delete the memories that fulfil conditions.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgetMemories {
    /// Conditions on the memories, at least one.
    pub filter: MemoryFilter,
    /// Whether to count only.
    #[serde(default)]
    pub dry_run: bool,
    /// The number that the guard named, to delete so many.
    pub accept_affected: Option<i64>,
    /// Scope of the data.
    pub scope: Option<Scope>,
}

/// Response to a deletion by conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ForgottenMemories {
    /// Number of memories that were deleted, at most 1000.
    pub memories: i64,
    /// Number of deleted nodes: memories and their stubs.
    pub nodes: i64,
    /// Number of memories that fulfil the conditions and are left: repeat the request with another key to delete them.
    pub left: i64,
    /// Whether this was a dry run: nothing was written.
    pub dry_run: bool,
}

impl MemoryFilter {
    /// Whether it has no condition.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { tiers, session, tags, text, metadata, created_since, created_before } = self;
        tiers.is_empty()
            && session.is_none()
            && tags.is_empty()
            && text.is_none()
            && metadata.is_empty()
            && created_since.is_none()
            && created_before.is_none()
    }

    /// The filter of the store.
    ///
    /// # Errors
    /// Names the condition on metadata that cannot be used.
    pub fn checked(&self) -> Result<Filter, String> {
        let metadata =
            MetadataFilter::new(&self.metadata).map_err(|why| format!("filter.metadata: {why}"))?;
        let texts =
            self.tags.iter().map(|tag| ("tags", tag)).chain(self.text.iter().map(|text| ("text", text)));
        for (name, text) in texts {
            // An empty text is contained in every one.
            if text.as_str().trim().is_empty() {
                return Err(format!("filter.{name} is empty"));
            }
        }
        Ok(Filter {
            tiers: self.tiers.clone(),
            session: self.session.as_ref().map(ToString::to_string),
            tags: self.tags.iter().map(|tag| tag.as_str().to_owned()).collect(),
            text: self.text.as_ref().map(|text| text.as_str().to_owned()),
            metadata,
            created_since: self.created_since,
            created_before: self.created_before,
        })
    }
}
