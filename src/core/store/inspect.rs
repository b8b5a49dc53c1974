//! Read-only queries for people, each a file under `cypher/inspect/` that can be pasted into Neo4j Browser.
//!
//! What they need of the configuration they read from the graph (see `stored_settings.rs`), except the labels and types
//! of trails, which are put into their text.

use super::Store;
use super::catalogue::ALL;
use super::error::Error;
use super::statement::Statement;
use super::tx::{Mode, Tx};
use neo4rs::BoltType;

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Column names, in the order of the RETURN.
    pub columns: Vec<String>,
    /// Rows, with one cell per column.
    pub rows: Vec<Vec<Cell>>,
}

/// A printable value.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Null,
    Boolean(bool),
    Integer(i64),
    /// Any number, including NaN and infinities: a quarantined row is shown as stored.
    Float(f64),
    Text(String),
    /// An instant, epoch milliseconds.
    Instant(i64),
    List(Vec<Cell>),
}

/// All queries: name, title and text.
pub(super) fn questions() -> impl Iterator<Item = (&'static str, &'static str, &'static Statement)> {
    ALL.iter().filter_map(|statement| {
        let name = statement.name.strip_prefix("inspect/")?;
        let title = statement.file.lines().next().unwrap_or_default().trim_start_matches("//").trim();
        Some((name, title, *statement))
    })
}

impl Store {
    /// Available queries: name and title.
    pub fn questions() -> impl Iterator<Item = (&'static str, &'static str)> {
        questions().map(|(name, title, _)| (name, title))
    }

    /// The text of a query, to paste; `None` if there is none of that name.
    #[must_use]
    pub fn question(&self, name: &str) -> Option<String> {
        let (_, _, statement) = questions().find(|(known, ..)| *known == name)?;
        Some(statement.text_with(&self.trails.allowed))
    }

    /// Runs one query.
    pub async fn inspect(&self, name: &str) -> Result<Answer, Error> {
        let (_, _, statement) = questions()
            .find(|(known, ..)| *known == name)
            .ok_or_else(|| Error::NotFound { what: "question", id: name.to_owned() })?;
        self.transactions
            .run("inspect", Mode::Read, async |tx: &mut Tx| {
                let returns = statement.header().returns.split(" (").next().unwrap_or_default();
                let columns: Vec<&str> = returns.split(", ").collect();
                let rows =
                    tx.table(statement.reading(&statement.text_with(&self.trails.allowed)), &columns).await?;
                let rows = rows.into_iter().map(|row| row.into_iter().map(cell).collect()).collect();
                Ok(Answer { columns: columns.into_iter().map(str::to_owned).collect(), rows })
            })
            .await
    }
}

fn cell(value: BoltType) -> Cell {
    match value {
        BoltType::Null(_) => Cell::Null,
        BoltType::Boolean(value) => Cell::Boolean(value.value),
        BoltType::Integer(value) => Cell::Integer(value.value),
        BoltType::Float(value) => Cell::Float(value.value),
        BoltType::String(value) => Cell::Text(value.value),
        BoltType::List(values) => Cell::List(values.value.into_iter().map(cell).collect()),
        BoltType::DateTime(at) => match chrono::DateTime::<chrono::FixedOffset>::try_from(&at) {
            Ok(at) => Cell::Instant(at.timestamp_millis()),
            Err(_) => Cell::Text(format!("{at:?}")),
        },
        BoltType::Path(path) => {
            let name = |node: &neo4rs::BoltNode| {
                let labels: Vec<String> = node.labels.value.iter().map(|label| text(label.clone())).collect();
                let of = |key: &str| node.properties.value.get(key).cloned().map(text);
                let name = of("id").or_else(|| of("name")).unwrap_or_default();
                format!("({}:{name})", labels.first().cloned().unwrap_or_default())
            };
            Cell::List(path.nodes().iter().map(|node| Cell::Text(name(node))).collect())
        }
        other => Cell::Text(format!("{other:?}")),
    }
}

fn text(value: BoltType) -> String {
    match value {
        BoltType::String(value) => value.value,
        other => format!("{other:?}"),
    }
}
