//! Memories as a test wants them, written past Ebb: any tier, any energy, any instant.

use super::neo4j::{Fresh, at};
use neo4rs::{BoltList, BoltMap, BoltString, BoltType};

/// A stamped memory. Instants are hours after the start.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) tier: &'static str,
    pub(crate) energy: f64,
    pub(crate) at: f64,
    pub(crate) ripe: Option<f64>,
    pub(crate) due: Option<f64>,
    pub(crate) pinned: bool,
    pub(crate) session: Option<&'static str>,
}

/// A memory of that tier and energy at the start, due from then on.
pub(crate) fn row(id: &str, tier: &'static str, energy: f64) -> Row {
    Row { id: id.to_owned(), tier, energy, at: 0.0, ripe: None, due: Some(0.0), pinned: false, session: None }
}

/// A working memory that waits for promotion since the start.
pub(crate) fn ripe(id: &str) -> Row {
    Row { ripe: Some(0.0), ..row(id, "working", 3.0) }
}

/// A parameter that is a list.
pub(crate) fn list<T: Into<BoltType>>(values: impl IntoIterator<Item = T>) -> BoltType {
    BoltType::List(BoltList::from(values.into_iter().map(Into::into).collect::<Vec<BoltType>>()))
}

/// A parameter that is a map.
pub(crate) fn map<const N: usize>(entries: [(&str, BoltType); N]) -> BoltType {
    BoltType::Map(entries.into_iter().map(|(key, value)| (BoltString::from(key), value)).collect::<BoltMap>())
}

impl Fresh {
    /// Writes rows, 2,000 at a time.
    pub(crate) async fn put(&self, rows: &[Row]) {
        const TEXT: &str = "UNWIND $rows AS r
            CREATE (m:Memory:EbbMemory {
              id: r.id, scope: 'local', content: 'content of ' + r.id, tier: r.tier, energy: r.energy,
              energyAt: datetime({epochMillis: r.at}), lastAccessed: datetime({epochMillis: r.at}),
              created: datetime({epochMillis: r.at}), accessCount: 1, sessionId: r.session,
              ripeAt: CASE WHEN r.ripe IS NULL THEN null ELSE datetime({epochMillis: r.ripe}) END,
              dueAt: CASE WHEN r.due IS NULL THEN null ELSE datetime({epochMillis: r.due}) END,
              pinned: CASE WHEN r.pinned THEN true END})
            FOREACH (session IN CASE WHEN r.session IS NULL THEN [] ELSE [r.session] END |
              MERGE (s:Session {scope: 'local', id: session})
                ON CREATE SET s.started = datetime({epochMillis: r.at})
              CREATE (m)-[:ACCESSED_IN {at: datetime({epochMillis: r.at}), count: 1, counted: false}]->(s))";
        for rows in rows.chunks(2_000) {
            let rows = list(rows.iter().map(|row| {
                map([
                    ("id", row.id.as_str().into()),
                    ("tier", row.tier.into()),
                    ("energy", row.energy.into()),
                    ("at", at(row.at).millis().into()),
                    ("ripe", row.ripe.map(|hours| at(hours).millis()).into()),
                    ("due", row.due.map(|hours| at(hours).millis()).into()),
                    ("pinned", row.pinned.into()),
                    ("session", row.session.into()),
                ])
            }));
            self.client.run(TEXT, &[("rows", rows)]).await;
        }
    }
}
