//! The earlier queries of a scope, as this process holds them.
//!
//! # Design notes
//! Their texts are those of other callers too, so the operation needs the right to administer the scope. They are not stored,
//! and end with the mirror of the scope, with its deletion, at the latest with the process. A process of one command has none, so
//! `ebb engine queries` asks the running API.

use super::Service;
use super::recall::{Error, TOP_K_MAX, open};
use crate::api::recall::{PastQuery, QueriedNode, Queries, QueriesQuery, SeedPair};
use crate::domain::ids::Scope;
use crate::domain::units::Timestamp;
use std::cmp::Reverse;

impl Service {
    /// The last queries of a scope, with the nodes and pairs that are in most of them.
    pub fn queries(&self, scope: &Scope, request: &QueriesQuery) -> Result<Queries, Error> {
        super::check_range("limit", request.limit, TOP_K_MAX).map_err(Error::Invalid)?;
        let history = self.mirror.questions(scope);
        let history = open(&history);
        let owned = |id: &str| id.to_owned();
        let queries = history.queries().rev().take(request.limit).map(|query| PastQuery {
            text: query.text.clone(),
            queried_at: Timestamp::from_millis(query.now_ms).unwrap_or(Timestamp::EPOCH),
            seeds: history.seeds(query).map(owned).collect(),
            activated: history.activated(query).map(owned).collect(),
        });
        let node = |id: &str| QueriedNode {
            id: owned(id),
            frequency: history.frequency(id),
            seeded: history.seeded(id),
        };
        let mut nodes: Vec<QueriedNode> = history.nodes().map(node).collect();
        // Stable sorts: equal counts stay in the order of ids.
        nodes.sort_by_key(|node| Reverse(node.frequency));
        nodes.truncate(request.limit);
        let of_node =
            |id| history.co_seeds(id).filter(move |(other, _)| id < *other).map(move |pair| (id, pair));
        let mut pairs: Vec<SeedPair> = history
            .nodes()
            .flat_map(of_node)
            .map(|(id, (other, count))| SeedPair { ids: [owned(id), owned(other)], count })
            .collect();
        pairs.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.ids.cmp(&b.ids)));
        pairs.truncate(request.limit);
        Ok(Queries { count: history.len(), queries: queries.collect(), nodes, pairs })
    }
}
