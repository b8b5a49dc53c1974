//! Changes that libraries make, found by the instants that they store.

use super::super::super::Store;
use super::super::super::catalogue::{
    ADOPTED_WRITTEN_ACCESSES, ADOPTED_WRITTEN_BEYOND, ADOPTED_WRITTEN_EDGES, ADOPTED_WRITTEN_NODES,
};
use super::super::super::error::Error;
use super::super::super::layouts::TypeFilter;
use super::super::super::statement::{Call, HALL, Statement};
use super::super::MirrorQuery;
use super::label::AdoptedLabel;
use crate::clock::rfc3339;
use crate::domain::units::Timestamp;
use serde::Deserialize;

/// Placeholders of an instant of the writer.
const NODE_WRITTEN: &str = "n.written";
const RELATION_WRITTEN: &str = "r.written";
/// Furthest that an instant without a zone may be from UTC.
const ZONES_MS: i64 = 14 * 3_600_000;
/// Most changed rows that a refresh reads by name; with more, all is loaded.
const CHANGED_MAX: usize = 50_000;

/// A node, or the relationships of a node, that a library wrote.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WrittenRow {
    /// Index of the label of the node.
    pub label: usize,
    pub key: String,
    /// Whether its relationships changed, not the node.
    pub is_relation: bool,
    /// Instant of the write as the library has it, and the relationship.
    pub at: String,
}

impl Store {
    /// Rows that libraries wrote since an instant, by the instants that they store; `None` if they are too many.
    pub async fn written_since(
        &self,
        asked: &MirrorQuery,
        since: Timestamp,
    ) -> Result<Option<Vec<WrittenRow>>, Error> {
        #[derive(Deserialize)]
        struct Node {
            key: String,
            at: String,
        }
        #[derive(Deserialize)]
        struct End {
            rule: usize,
            key: String,
            at: String,
        }
        impl End {
            fn row(self, of: &AdoptedLabel, is_relation: bool) -> WrittenRow {
                WrittenRow { label: of.first + self.rule, key: self.key, is_relation, at: self.at }
            }
        }
        let local = Timestamp::from_millis(since.millis() - ZONES_MS).unwrap_or(Timestamp::EPOCH);
        let since = |call: Call| {
            call.set("sinceMs", since.millis())
                .set("localMs", local.millis())
                .set("localText", &rfc3339(local)[..10])
                .set("limit", i64::try_from(CHANGED_MAX).unwrap_or(i64::MAX))
        };
        let mut rows = Vec::new();
        for (at, of) in asked.adopted.iter().enumerate() {
            let label = asked.own_labels() + at;
            for name in &of.rule().written {
                let call = |statement: &'static Statement, types: String| {
                    let mut inserted = of.inserted(types);
                    inserted.push((NODE_WRITTEN, format!("n.{name}")));
                    since(of.with_ends(statement.reading(&statement.text_of(&inserted))))
                };
                let found: Vec<Node> = self.read(call(&ADOPTED_WRITTEN_NODES, String::new())).await?;
                let row = |Node { key, at }| WrittenRow { label, key, is_relation: false, at };
                rows.extend(found.into_iter().map(row));
                for path in of.paths_beyond() {
                    let found: Vec<End> = self.read(call(&ADOPTED_WRITTEN_BEYOND, path)).await?;
                    rows.extend(found.into_iter().map(|end| end.row(of, true)));
                }
            }
            let rules = of.mapping.relationships.iter().filter(|_| of.node == 0);
            for (rule, name) in rules.flat_map(|rule| rule.written.iter().map(move |name| (rule, name))) {
                let types = TypeFilter::of(rule, &of.mapping.relationships).text();
                let mut inserted = vec![(HALL, types), (RELATION_WRITTEN, format!("r.{name}"))];
                inserted.extend(of.mapped());
                let call = ADOPTED_WRITTEN_EDGES.reading(&ADOPTED_WRITTEN_EDGES.text_of(&inserted));
                let found: Vec<End> = self.read(since(of.with_ends(call))).await?;
                rows.extend(found.into_iter().map(|end| end.row(of, true)));
            }
            let logs = of.mapping.accesses.iter().filter(|_| of.node == 0);
            for log in logs {
                let mut inserted =
                    vec![(HALL, format!(":{}", log.kind)), (RELATION_WRITTEN, format!("r.{}", log.observed))];
                inserted.extend(of.mapped());
                let call = ADOPTED_WRITTEN_ACCESSES.reading(&ADOPTED_WRITTEN_ACCESSES.text_of(&inserted));
                let found: Vec<End> = self.read(since(of.with_ends(call))).await?;
                rows.extend(found.into_iter().map(|end| end.row(of, false)));
            }
            if rows.len() >= CHANGED_MAX {
                return Ok(None);
            }
        }
        Ok(Some(rows))
    }
}
