//! Counts by which the graphs of other libraries are recognised: of nodes and relationships that a mapping describes.
//!
//! Everything here only reads, and works on a database that was never initialised. A count ends at [`ROWS_MAX`] rows, so
//! that it takes seconds on any database.

use super::Store;
use super::catalogue::{
    LAYOUT_NAMES, LAYOUT_NODE_SAMPLE, LAYOUT_NODES, LAYOUT_RELATIONSHIP_SAMPLE, LAYOUT_RELATIONSHIPS,
    LAYOUT_UNKNOWN,
};
use super::encode::list;
use super::error::Error;
use super::statement::{Call, HALL, ROOM, Statement};
use crate::domain::mapping::{Mapping, Name, NodeMapping, RelationMapping};
use serde::Deserialize;
use std::collections::BTreeSet;

/// Most rows that a count looks at.
pub const ROWS_MAX: i64 = 1_000_000;
/// Rows of a sample.
const SAMPLE_ROWS: i64 = 1_000;
/// Most scopes that are listed.
pub const GROUPS_MAX: i64 = 10_000;

/// Labels and types of relationships that the database knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DatabaseNames {
    /// Labels.
    pub labels: BTreeSet<String>,
    /// Types.
    pub types: BTreeSet<String>,
}

/// Nodes of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct MappedNodes {
    /// Nodes with the label and the mark.
    pub nodes: i64,
    /// Those that have the mark of another layout too.
    pub shared: i64,
    /// Those without a scope.
    pub unscoped: i64,
    /// Scopes of the others.
    pub groups: Vec<String>,
}

/// A property in a sample.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PropertySample {
    /// Its name.
    pub property: String,
    /// Rows of the sample.
    pub rows: i64,
    /// Rows that have it.
    pub present: i64,
    /// Length of the longest list in it.
    pub size: Option<i64>,
}

/// Nodes of a label that nothing explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct UnknownNodes {
    /// Nodes of the label that were looked at.
    pub looked: i64,
    /// Unknown ones among them.
    pub nodes: i64,
}

/// A list parameter of names.
pub(super) fn names<'a>(names: impl IntoIterator<Item = &'a Name>) -> neo4rs::BoltType {
    list(names.into_iter().map(Name::as_str))
}

/// Property with the scope of nodes; null if there is none.
pub(super) fn scope(mapping: &Mapping) -> Option<&str> {
    mapping.scope.property.as_ref().map(Name::as_str)
}

/// Types of relationships of a mapping's rule, in the form of Cypher: one, or all but those of other rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TypeFilter(String);

impl TypeFilter {
    /// The types of a rule among those of its mapping.
    pub(super) fn of(rule: &RelationMapping, rules: &[RelationMapping]) -> Self {
        let others: Vec<&str> = rules.iter().filter_map(|rule| Some(rule.kind.as_ref()?.as_str())).collect();
        Self(match &rule.kind {
            Some(kind) => kind.as_str().to_owned(),
            None if others.is_empty() => "%".to_owned(),
            None => format!("!({})", others.join("|")),
        })
    }

    /// Its text after the variable of a relationship.
    pub(super) fn text(&self) -> String {
        format!(":{}", self.0)
    }
}

impl Statement {
    /// The text for these labels and types of a mapping.
    fn text_mapped(&self, labels: &[&Name], kind: Option<&TypeFilter>) -> String {
        let labels: Vec<&str> = labels.iter().map(|label| label.as_str()).collect();
        let mut inserted = vec![(ROOM, format!(":{}", labels.join("|")))];
        inserted.extend(kind.map(|kind| (HALL, kind.text())));
        self.text_of(&inserted)
    }

    /// A call for these labels and types of a mapping.
    pub(super) fn mapped(&'static self, labels: &[&Name], kind: Option<&TypeFilter>) -> Call {
        self.reading(&self.text_mapped(labels, kind))
    }

    /// A call about the nodes of a rule.
    pub(super) fn nodes(&'static self, rule: &NodeMapping) -> Call {
        let mark = rule.mark().map(Name::as_str);
        self.mapped(&[&rule.label], None).set("mark", mark).set("limit", ROWS_MAX)
    }

    /// A call about all nodes of a mapping, or about the relationships of a rule between them.
    pub(super) fn graph(&'static self, mapping: &Mapping, rule: Option<&RelationMapping>) -> Call {
        let labels: Vec<&Name> = mapping.nodes.iter().map(|node| &node.label).collect();
        let kind = rule.map(|rule| TypeFilter::of(rule, &mapping.relationships));
        self.mapped(&labels, kind.as_ref())
            .set("limit", ROWS_MAX)
            .set("labels", names(labels))
            .set("marks", names(mapping.nodes.iter().filter_map(NodeMapping::mark)))
    }
}

impl Store {
    /// Labels and types of the database.
    pub async fn database_names(&self) -> Result<DatabaseNames, Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Row {
            name: String,
            is_label: bool,
        }
        let mut names = DatabaseNames::default();
        for Row { name, is_label } in self.read::<Row>(LAYOUT_NAMES.call()).await? {
            if is_label {
                names.labels.insert(name)
            } else {
                names.types.insert(name)
            };
        }
        Ok(names)
    }

    /// Counts the nodes of a rule. `others` are the marks of other layouts on the same label.
    pub async fn mapped_nodes(
        &self,
        mapping: &Mapping,
        rule: &NodeMapping,
        others: &[&Name],
    ) -> Result<MappedNodes, Error> {
        let call = LAYOUT_NODES.nodes(rule).set("scope", scope(mapping)).set("groups", GROUPS_MAX);
        self.read_one(call.set("others", names(others.iter().copied()))).await
    }

    /// Which of these properties a sample of the nodes of a rule has. Empty without nodes.
    pub async fn sample_nodes(
        &self,
        rule: &NodeMapping,
        properties: &BTreeSet<&Name>,
    ) -> Result<Vec<PropertySample>, Error> {
        let properties = names(properties.iter().copied());
        self.read(LAYOUT_NODE_SAMPLE.nodes(rule).set("limit", SAMPLE_ROWS).set("properties", properties))
            .await
    }

    /// Counts the relationships of a rule.
    pub async fn mapped_relationships(
        &self,
        mapping: &Mapping,
        rule: &RelationMapping,
    ) -> Result<i64, Error> {
        self.read_one(LAYOUT_RELATIONSHIPS.graph(mapping, Some(rule))).await
    }

    /// As [`Store::sample_nodes`], of the relationships of a rule.
    pub async fn sample_relationships(
        &self,
        mapping: &Mapping,
        rule: &RelationMapping,
        properties: &BTreeSet<&Name>,
    ) -> Result<Vec<PropertySample>, Error> {
        let call = LAYOUT_RELATIONSHIP_SAMPLE.graph(mapping, Some(rule)).set("limit", SAMPLE_ROWS);
        self.read(call.set("properties", names(properties.iter().copied()))).await
    }

    /// Counts the nodes of a label that have none of Ebb's labels and are of none of these rules.
    pub async fn unknown_nodes(
        &self,
        label: &Name,
        rules: &[&NodeMapping],
        own: &[&str],
    ) -> Result<UnknownNodes, Error> {
        let call = LAYOUT_UNKNOWN.mapped(&[label], None).set("limit", ROWS_MAX);
        let call = call.set("labels", names(rules.iter().map(|rule| &rule.label)));
        let call = call.set("marks", names(rules.iter().filter_map(|rule| rule.mark())));
        self.read_one(call.set("own", list(own.iter().copied()))).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_mapping_come_into_a_text_where_its_header_says() {
        let file = "// names: :Room, :HALL\nMATCH (n:Room)-[r:HALL]->(m) RETURN count(r)";
        let statement = Statement { name: "layout/some", file };
        let rules: Vec<RelationMapping> =
            serde_json::from_str(r#"[{"type": "KNOWS", "role": "link"}, {"role": "link"}]"#).unwrap();
        let labels = ["A", "__B__"].map(|label| Name::try_from(label.to_owned()).unwrap());
        let text = |rule: usize, rules: &[RelationMapping]| {
            let kind = TypeFilter::of(&rules[rule], rules);
            statement.text_mapped(&labels.iter().collect::<Vec<_>>(), Some(&kind))
        };
        assert_eq!(text(0, &rules), "MATCH (n:A|__B__)-[r:KNOWS]->(m) RETURN count(r)");
        assert!(text(1, &rules).contains("[r:!(KNOWS)]"));
        assert!(text(0, &rules[1..]).contains("[r:%]"));
    }
}
