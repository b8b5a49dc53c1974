//! Read-only queries for people, each a file under `cypher/inspect/` that can be pasted into Neo4j Browser.
//!
//! What they need of the configuration they read from the graph (see `stored_settings.rs`), except the labels and types
//! of trails, which are put into their text.

use super::Store;
use super::catalogue::ALL;
use super::error::Error;
use super::statement::Statement;
use super::tx::{Mode, Tx};
use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime};
use neo4rs::{BoltNode, BoltType};

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Column names, in the order of the RETURN.
    pub columns: Vec<String>,
    /// Rows, with one cell per column.
    pub rows: Vec<Vec<Cell>>,
    /// Bound at which the rows may have ended, such as `at most 25 rows`.
    pub bound: Option<&'static str>,
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
                let returns = statement.header().returns;
                let (columns, about) = returns.split_once(" (").unwrap_or((returns, ""));
                let columns: Vec<&str> = columns.split(", ").collect();
                let rows =
                    tx.table(statement.reading(&statement.text_with(&self.trails.allowed)), &columns).await?;
                let bound = bound(about).filter(|(most, _)| rows.len() >= *most).map(|(_, bound)| bound);
                let rows = rows.into_iter().map(|row| row.into_iter().map(cell).collect()).collect();
                Ok(Answer { columns: columns.into_iter().map(str::to_owned).collect(), rows, bound })
            })
            .await
    }
}

/// The bound that a header states of the rows, and its number.
fn bound(about: &str) -> Option<(usize, &str)> {
    let bound = about[about.find("at most ")?..].split([';', ')']).next()?;
    let most = bound.split(' ').nth(2)?.parse().ok()?;
    Some((most, bound))
}

fn cell(value: BoltType) -> Cell {
    let instant = |at: Result<DateTime<FixedOffset>, neo4rs::Error>| {
        at.map_or_else(|_| out_of_range(), |at| Cell::Instant(at.timestamp_millis()))
    };
    match value {
        BoltType::Null(_) => Cell::Null,
        BoltType::Boolean(value) => Cell::Boolean(value.value),
        BoltType::Integer(value) => Cell::Integer(value.value),
        BoltType::Float(value) => Cell::Float(value.value),
        BoltType::String(value) => Cell::Text(value.value),
        BoltType::List(values) => Cell::List(values.value.into_iter().map(cell).collect()),
        BoltType::DateTime(at) => instant(DateTime::<FixedOffset>::try_from(&at)),
        BoltType::DateTimeZoneId(at) => {
            match (DateTime::<FixedOffset>::try_from(&at), NaiveDateTime::try_from(&at)) {
                // A local time that its zone has twice, or a zone that is not known here.
                (Err(_), Ok(local)) => Cell::Text(format!("{local:?}[{}]", at.tz_id())),
                (at, _) => instant(at),
            }
        }
        // `Debug` of local dates and times is ISO 8601.
        BoltType::LocalDateTime(at) => {
            NaiveDateTime::try_from(&at).map_or_else(|_| out_of_range(), |at| Cell::Text(format!("{at:?}")))
        }
        BoltType::Date(date) => {
            NaiveDate::try_from(&date).map_or_else(|_| out_of_range(), |date| Cell::Text(format!("{date:?}")))
        }
        BoltType::LocalTime(time) => Cell::Text(format!("{:?}", NaiveTime::from(&time))),
        BoltType::Time(time) => {
            let (time, offset) = <(NaiveTime, FixedOffset)>::from(&time);
            Cell::Text(format!("{time:?}{offset}"))
        }
        BoltType::Point2D(at) => Cell::Text(format!("point({}, {})", at.x.value, at.y.value)),
        BoltType::Point3D(at) => Cell::Text(format!("point({}, {}, {})", at.x.value, at.y.value, at.z.value)),
        // The driver does not give out its parts.
        BoltType::Duration(_) => Cell::Text("a duration".to_owned()),
        BoltType::Bytes(bytes) => Cell::Text(format!("{} bytes", bytes.len())),
        BoltType::Node(node) => Cell::Text(node_name(&node)),
        BoltType::Path(path) => {
            Cell::List(path.nodes().iter().map(|node| Cell::Text(node_name(node))).collect())
        }
        BoltType::Relation(relation) => Cell::Text(format!("[:{}]", relation.typ.value)),
        BoltType::UnboundedRelation(relation) => Cell::Text(format!("[:{}]", relation.typ.value)),
        BoltType::Map(map) => Cell::Text(format!("a map of {} keys", map.len())),
    }
}

fn out_of_range() -> Cell {
    Cell::Text("an instant out of range".to_owned())
}

/// Label and name of a node.
fn node_name(node: &BoltNode) -> String {
    let text = |value: &BoltType| match cell(value.clone()) {
        Cell::Text(text) => text,
        Cell::Integer(number) => number.to_string(),
        Cell::Float(number) => number.to_string(),
        Cell::Boolean(value) => value.to_string(),
        Cell::Null | Cell::Instant(_) | Cell::List(_) => String::new(),
    };
    let label = node.labels.value.first().map(text).unwrap_or_default();
    let name = ["id", "name", "key"].into_iter().find_map(|key| node.properties.value.get(key));
    format!("({label}:{})", name.map(text).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use neo4rs::{BoltList, BoltMap, BoltString};

    #[test]
    fn every_header_states_its_bound() {
        assert_eq!(bound("at most 25 rows; said are numbers)"), Some((25, "at most 25 rows")));
        assert_eq!(bound("a row a tier)"), None);
        let bounds = questions().filter_map(|(_, _, statement)| bound(statement.header().returns));
        assert_eq!(bounds.count(), questions().count() - 2, "all but health and policies");
    }

    #[test]
    fn dates_and_nodes_are_shown_as_people_write_them() {
        let local = |text: &str| text.parse::<NaiveDateTime>().unwrap();
        let zoned = |text: &str, zone: &str| cell(BoltType::DateTimeZoneId((local(text), zone).into()));
        let text = |text: &str| Cell::Text(text.to_owned());
        assert_eq!(zoned("2026-01-01T01:00:00", "Europe/Berlin"), Cell::Instant(1_767_225_600_000));
        let twice = "2026-10-25T02:30:00";
        assert_eq!(zoned(twice, "Europe/Berlin"), text("2026-10-25T02:30:00[Europe/Berlin]"));
        assert_eq!(cell(BoltType::LocalDateTime(local(twice).into())), text(twice));
        assert_eq!(cell(BoltType::Date(local(twice).date().into())), text("2026-10-25"));
        let properties: BoltMap = [(BoltString::from("key"), BoltType::from("k1"))].into_iter().collect();
        let labels = BoltList::from(vec![BoltType::from("SemanticCluster")]);
        let node = BoltNode::new(1.into(), labels, properties);
        assert_eq!(cell(BoltType::Node(node)), text("(SemanticCluster:k1)"));
    }
}
