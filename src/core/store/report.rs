//! Rows of the report on a graph of another library: days, repeated names and keys, ends without a node, degrees.
//!
//! # Design notes
//! Other libraries store instants as dates with or without a zone, as text, or as numbers of seconds or milliseconds,
//! and some of them several of these in one property. A statement compares each in its own form and calls nothing that
//! fails on another value. So a text is compared as text, without its zone, and days are those of the stored text.

use super::Store;
use super::catalogue::{
    REPORT_DANGLING, REPORT_DEGREES, REPORT_ENTERING, REPORT_HUB_RELATIONSHIPS, REPORT_HUBS, REPORT_NAMES,
    REPORT_NODE_DAYS, REPORT_NODE_INSTANTS, REPORT_NODE_KEYS, REPORT_RELATIONSHIP_DAYS,
    REPORT_RELATIONSHIP_INSTANTS, REPORT_RELATIONSHIP_KEYS, SERVER_SCHEMA,
};
use super::encode::list;
use super::error::Error;
use super::layouts::{ROWS_MAX, TypeFilter, names};
use super::statement::Call;
use crate::clock::{parse_lenient, rfc3339};
use crate::domain::mapping::{Evidence, Mapping, Name, NodeMapping, NodeRole, RelationMapping};
use crate::domain::units::Timestamp;
use serde::Deserialize;
use std::collections::BTreeSet;

/// Examples of a finding.
const EXAMPLES: i64 = 5;
/// Nodes that are listed by their degree.
const HUBS: i64 = 10;
/// Rows of one instant from which it is listed.
const INSTANT_ROWS_MIN: i64 = 10;
/// Milliseconds of a day.
pub(super) const DAY_MS: i64 = 86_400_000;

/// Rows that were written on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayRows {
    /// The day's beginning; `None` of rows without a usable instant.
    pub day: Option<Timestamp>,
    /// Whether they are live.
    pub is_live: bool,
    /// Number of rows.
    pub rows: i64,
}

/// Names that several nodes have.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RepeatedNames {
    /// Number of such names.
    pub names: i64,
    /// Nodes with such a name.
    pub nodes: i64,
    /// Some of the names.
    pub examples: Vec<String>,
}

/// Keys that several rows have.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RepeatedKeys {
    /// Number of such keys.
    pub keys: i64,
    /// Rows with such a key.
    pub rows: i64,
    /// Some of the keys.
    pub examples: Vec<Option<String>>,
}

/// Keys that no node has.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct DanglingKeys {
    /// Number of such keys.
    pub keys: i64,
    /// Places where they occur.
    pub references: i64,
    /// Some of the keys.
    pub examples: Vec<Option<String>>,
}

/// Relationships of all nodes of a mapping.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Degrees {
    /// Nodes.
    pub nodes: i64,
    /// Outgoing relationships of all of them.
    pub outgoing: i64,
    /// Nodes without any relationship.
    pub orphans: i64,
    /// Some of these.
    pub examples: Vec<String>,
}

/// Relationships of several nodes, counted up to a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct CountedRelationships {
    /// Relationships that were looked at.
    pub looked: i64,
    /// Those that count, each once.
    pub relationships: i64,
}

/// A node with many relationships.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Hub {
    /// Element id.
    pub id: String,
    /// Label and name.
    pub name: String,
    /// Number of its relationships.
    pub degree: i64,
}

/// Rows that stopped being live at one instant.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct InstantRows {
    /// The instant as stored.
    pub instant: String,
    /// Number of rows.
    pub rows: i64,
    /// Rows of all such instants.
    pub total: i64,
}

/// An index.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct IndexRow {
    /// Its type, such as `RANGE`.
    pub kind: String,
    /// `NODE` or `RELATIONSHIP`.
    pub entity: String,
    /// Labels or types.
    pub about: Option<Vec<String>>,
    /// Properties.
    pub properties: Option<Vec<String>>,
}

/// The columns of a count by days.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DayRow {
    day: Option<String>,
    is_live: bool,
    rows: i64,
}

impl DayRow {
    fn read(self) -> DayRows {
        let Self { day, is_live, rows } = self;
        DayRows { day: day.as_deref().and_then(day_of), is_live, rows }
    }
}

/// A day from its number since 1970 or from the beginning of an RFC 3339 text.
fn day_of(text: &str) -> Option<Timestamp> {
    let of_number = || Timestamp::from_millis(text.parse::<i64>().ok()?.checked_mul(DAY_MS)?).ok();
    parse_lenient(text).or_else(of_number)
}

/// The present instant for comparisons with numbers, dates and texts.
fn at(call: Call, now: Timestamp) -> Call {
    call.set("now", now.millis()).set("today", &rfc3339(now)[..19])
}

/// Instants by which the growth of rows is counted: those of the writer's first write, else of the observation.
fn written<'a>(written: &'a [Name], observed: &'a [Name]) -> neo4rs::BoltType {
    names(if written.is_empty() { observed } else { written })
}

/// Properties by which nodes of a mapping are named in an answer.
fn naming(mapping: &Mapping) -> neo4rs::BoltType {
    let of = |node: &'_ NodeMapping| -> Vec<String> {
        let texts = node.name.iter().chain(&node.text).map(|name| name.as_str().to_owned());
        texts.collect()
    };
    let mut seen = BTreeSet::new();
    list(mapping.nodes.iter().flat_map(of).filter(|name| seen.insert(name.clone())))
}

impl Store {
    /// Nodes of a rule by the day on which they were written.
    pub async fn node_days(
        &self,
        mapping: &Mapping,
        rule: &NodeMapping,
        now: Timestamp,
    ) -> Result<Vec<DayRows>, Error> {
        let call = REPORT_NODE_DAYS
            .nodes(mapping, rule)
            .set("status", rule.status.as_ref().map(Name::as_str))
            .set("written", written(&rule.written, &rule.observed))
            .set("until", names(&rule.until))
            .set("live", list(rule.live.iter().map(String::as_str)));
        Ok(self.read(at(call, now)).await?.into_iter().map(DayRow::read).collect())
    }

    /// Relationships of a rule by the day on which they were written.
    pub async fn relationship_days(
        &self,
        mapping: &Mapping,
        rule: &RelationMapping,
        now: Timestamp,
    ) -> Result<Vec<DayRows>, Error> {
        let call = REPORT_RELATIONSHIP_DAYS
            .graph(mapping, Some(rule))
            .set("valid", rule.valid.as_ref().map(Name::as_str))
            .set("written", written(&rule.written, &rule.observed))
            .set("until", names(&rule.until));
        Ok(self.read(at(call, now)).await?.into_iter().map(DayRow::read).collect())
    }

    /// Names that several entities of a rule have in one scope; `None` of rows that are no entities.
    pub async fn repeated_names(
        &self,
        mapping: &Mapping,
        rule: &NodeMapping,
    ) -> Result<Option<RepeatedNames>, Error> {
        let (Some(name), NodeRole::Entity) = (&rule.name, rule.role) else { return Ok(None) };
        let call = REPORT_NAMES
            .nodes(mapping, rule)
            .set("property", name.as_str())
            .set("examples", EXAMPLES)
            .set("until", names(&rule.until));
        self.read_one(call).await.map(Some)
    }

    /// Keys that several nodes of a rule have in one scope; `None` of rows without a key property.
    pub async fn repeated_node_keys(
        &self,
        mapping: &Mapping,
        rule: &NodeMapping,
    ) -> Result<Option<RepeatedKeys>, Error> {
        let Some(key) = rule.key.property() else { return Ok(None) };
        let call = REPORT_NODE_KEYS.nodes(mapping, rule).set("key", key.as_str());
        self.read_one(call.set("examples", EXAMPLES)).await.map(Some)
    }

    /// Keys that several relationships of a rule have; `None` of rows without a key property.
    pub async fn repeated_relationship_keys(
        &self,
        mapping: &Mapping,
        rule: &RelationMapping,
    ) -> Result<Option<RepeatedKeys>, Error> {
        let Some(key) = rule.key.as_ref().and_then(|key| key.property()) else { return Ok(None) };
        let call = REPORT_RELATIONSHIP_KEYS.graph(mapping, Some(rule)).set("key", key.as_str());
        self.read_one(call.set("examples", EXAMPLES)).await.map(Some)
    }

    /// Keys in the evidence of relationships that no node has.
    pub async fn dangling_keys(
        &self,
        mapping: &Mapping,
        rule: &RelationMapping,
        evidence: &Evidence,
    ) -> Result<DanglingKeys, Error> {
        let kind = TypeFilter::of(rule, &mapping.relationships);
        let call = REPORT_DANGLING
            .labelled(&evidence.label, Some(&kind))
            .set("property", evidence.property.as_str())
            .set("key", evidence.key.as_str())
            .set("limit", ROWS_MAX)
            .set("examples", EXAMPLES);
        self.read_one(call).await
    }

    /// Relationships of all nodes of a mapping.
    pub async fn degrees(&self, mapping: &Mapping) -> Result<Degrees, Error> {
        let call = REPORT_DEGREES.graph(mapping, None).set("properties", naming(mapping));
        self.read_one(call.set("examples", EXAMPLES)).await
    }

    /// Relationships that lead to nodes of a mapping from others.
    pub async fn entering(&self, mapping: &Mapping) -> Result<CountedRelationships, Error> {
        self.read_one(REPORT_ENTERING.graph(mapping, None)).await
    }

    /// The nodes with the most relationships, and the number of all these relationships.
    pub async fn hubs(&self, mapping: &Mapping) -> Result<(Vec<Hub>, CountedRelationships), Error> {
        let call = REPORT_HUBS.graph(mapping, None).set("properties", naming(mapping)).set("top", HUBS);
        let hubs: Vec<Hub> = self.read(call).await?;
        let ids = list(hubs.iter().map(|hub| hub.id.as_str()));
        let call = REPORT_HUB_RELATIONSHIPS.call().set("limit", ROWS_MAX).set("ids", ids);
        let relationships = self.read_one(call).await?;
        Ok((hubs, relationships))
    }

    /// Instants until now from which many nodes of a rule are no longer live.
    pub async fn node_instants(
        &self,
        mapping: &Mapping,
        rule: &NodeMapping,
        now: Timestamp,
    ) -> Result<Vec<InstantRows>, Error> {
        self.instants(REPORT_NODE_INSTANTS.nodes(mapping, rule), &rule.until, now).await
    }

    /// Instants until now from which many relationships of a rule are no longer live.
    pub async fn relationship_instants(
        &self,
        mapping: &Mapping,
        rule: &RelationMapping,
        now: Timestamp,
    ) -> Result<Vec<InstantRows>, Error> {
        self.instants(REPORT_RELATIONSHIP_INSTANTS.graph(mapping, Some(rule)), &rule.until, now).await
    }

    async fn instants(&self, call: Call, until: &[Name], now: Timestamp) -> Result<Vec<InstantRows>, Error> {
        if until.is_empty() {
            return Ok(Vec::new());
        }
        let call = call.set("least", INSTANT_ROWS_MIN).set("examples", EXAMPLES);
        self.read(at(call.set("until", names(until)), now)).await
    }

    /// All indexes.
    pub async fn index_rows(&self) -> Result<Vec<IndexRow>, Error> {
        self.read(SERVER_SCHEMA.call()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_a_date_or_a_number() {
        let ms = |text| day_of(text).map(Timestamp::millis);
        assert_eq!(ms("2026-01-01"), Some(1_767_225_600_000));
        assert_eq!(ms("20454"), Some(1_767_225_600_000));
        for other in ["never", "", "-0005-01-0", "+999999999", "9223372036854775807", "12:09:37.4"] {
            assert_eq!(ms(other), None, "{other}");
        }
    }
}
