//! Counts by which the graphs of other libraries are recognised: of nodes and relationships that a mapping describes; and
//! the conditions by which statements find these nodes.
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
use crate::domain::mapping::{Mapping, Name, NodeMapping, OWN_LABELS, Owner, RelationMapping};
use serde::Deserialize;
use std::collections::BTreeSet;

/// Most rows that a count looks at.
pub const ROWS_MAX: i64 = 1_000_000;
/// Rows of a sample.
const SAMPLE_ROWS: i64 = 1_000;
/// Most scopes that are listed.
pub const GROUPS_MAX: i64 = 10_000;

/// Placeholder of the condition that a node of the label is a row of a rule.
pub(super) const MARKED: &str = "n.mark IS NOT NULL";
/// Placeholders of the number of the rule of a node, null if it is a row of none.
const MAPPED: [(&str, &str); 2] = [("n.mapped", "n"), ("m.mapped", "m")];
/// Placeholder of the list of the scopes of a node, each once; missing or empty for the default one.
const SCOPES: &str = "[n.scope]";

/// Labels, types of relationships and property names that the database knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DatabaseNames {
    /// Labels.
    pub labels: BTreeSet<String>,
    /// Types.
    pub types: BTreeSet<String>,
    /// Names of properties.
    pub properties: BTreeSet<String>,
}

impl DatabaseNames {
    /// Whether there may be rows of a rule.
    #[must_use]
    pub fn may_have(&self, rule: &NodeMapping) -> bool {
        // A label such as `Entity` is that of many libraries: without a name of the marks, a count would scan all of its nodes.
        rule.label.as_ref().is_none_or(|label| self.labels.contains(label.as_str()))
            && rule.marks().all(|mark| self.properties.contains(mark.as_str()))
    }
}

/// Nodes of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct MappedNodes {
    /// Nodes with the label and the mark.
    pub nodes: i64,
    /// Those that have the mark of another layout too.
    pub shared: i64,
    /// Those of the default scope, since they or one of their owners have none, or they have no owner.
    pub unscoped: i64,
    /// Other scopes.
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

/// Pattern of the owners of a node, as `owner`.
pub(super) fn owners(owner: &Owner, node: &str) -> String {
    let path: Vec<String> = owner.path.iter().rev().map(|kind| format!("<-[:{kind}]-")).collect();
    format!("({node}){}(owner:{})", path.join("()"), owner.label)
}

/// The list of the scopes of a node `n`.
fn scopes(mapping: &Mapping, rule: &NodeMapping) -> String {
    match (&mapping.scope.property, &rule.owner) {
        (Some(property), _) => format!("[n.{property}]"),
        (None, Some(owner)) => format!(
            "COLLECT {{ OPTIONAL MATCH {} RETURN DISTINCT coalesce(owner.{}, '') }}",
            owners(owner, "n"),
            owner.property
        ),
        (None, None) => "['']".to_owned(),
    }
}

/// Label of the nodes of a rule after a variable; empty for any.
pub(super) fn label_text(rule: &NodeMapping) -> String {
    rule.label.as_ref().map_or_else(String::new, |label| format!(":{label}"))
}

/// Condition that a node, which has the label of a rule if that has one, is a row of the rule. Without a label it has none
/// of another rule or of Ebb.
pub(super) fn marked(rules: &[NodeMapping], rule: &NodeMapping, node: &str) -> String {
    let mut parts: Vec<String> = rule.marks().map(|mark| format!("{node}.{mark} IS NOT NULL")).collect();
    if rule.label.is_none() {
        let others = rules.iter().filter_map(|rule| Some(rule.label.as_ref()?.as_str()));
        let others: Vec<&str> = others.chain(OWN_LABELS).collect();
        parts.push(format!(
            "none(label IN labels({node}) WHERE label STARTS WITH 'Ebb' OR label IN ['{}'])",
            others.join("', '")
        ));
    }
    parts.join(" AND ")
}

/// What stands for the number of a node's rule, counted over these mappings.
pub(super) fn mapped_by<'m>(
    mappings: impl IntoIterator<Item = &'m [NodeMapping]> + Clone,
) -> impl Iterator<Item = (&'static str, String)> {
    MAPPED.into_iter().map(move |(stands, node)| (stands, rule_number(mappings.clone(), node, |_| None)))
}

/// Number of a node's rule, counted over these mappings; the first that fits counts. `also` returns a further condition of
/// a rule.
pub(super) fn rule_number<'m>(
    mappings: impl IntoIterator<Item = &'m [NodeMapping]>,
    node: &str,
    also: impl Fn(&NodeMapping) -> Option<String>,
) -> String {
    let rules = mappings.into_iter().flat_map(|rules| rules.iter().map(move |rule| (rules, rule)));
    let cases = rules.enumerate().map(|(number, (rules, rule))| {
        let label = rule.label.as_ref().map(|label| format!("{node}:{label}"));
        let conditions = label.into_iter().chain([marked(rules, rule, node)]).chain(also(rule));
        format!(" WHEN {} THEN {number}", conditions.collect::<Vec<_>>().join(" AND "))
    });
    let cases: String = cases.collect();
    // A CASE needs a branch.
    if cases.is_empty() { "null".to_owned() } else { format!("CASE{cases} END") }
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
    /// A call for a label and types of a mapping.
    pub(super) fn labelled(&'static self, label: &Name, kind: Option<&TypeFilter>) -> Call {
        let mut inserted = vec![(ROOM, format!(":{label}"))];
        inserted.extend(kind.map(|kind| (HALL, kind.text())));
        self.reading(&self.text_of(&inserted))
    }

    /// A call about the nodes of a rule.
    pub(super) fn nodes(&'static self, mapping: &Mapping, rule: &NodeMapping) -> Call {
        let marked = marked(&mapping.nodes, rule, "n");
        let inserted = [(ROOM, label_text(rule)), (MARKED, marked), (SCOPES, scopes(mapping, rule))];
        self.reading(&self.text_of(&inserted)).set("limit", ROWS_MAX)
    }

    /// The text about all nodes of rules, or about relationships of these types between them.
    fn text_of_graph(&self, rules: &[NodeMapping], kind: Option<&TypeFilter>) -> String {
        let labels: Option<Vec<&str>> =
            rules.iter().map(|rule| rule.label.as_ref().map(Name::as_str)).collect();
        let labels = labels.map_or_else(String::new, |labels| format!(":{}", labels.join("|")));
        let mut inserted = vec![(ROOM, labels)];
        inserted.extend(kind.map(|kind| (HALL, kind.text())));
        inserted.extend(mapped_by([rules]));
        self.text_of(&inserted)
    }

    /// A call about all nodes of a mapping, or about the relationships of a rule between them.
    pub(super) fn graph(&'static self, mapping: &Mapping, rule: Option<&RelationMapping>) -> Call {
        let kind = rule.map(|rule| TypeFilter::of(rule, &mapping.relationships));
        let text = self.text_of_graph(&mapping.nodes, kind.as_ref());
        self.reading(&text)
            .set("limit", ROWS_MAX)
            .set("labels", names(mapping.nodes.iter().filter_map(|rule| rule.label.as_ref())))
    }
}

impl Store {
    /// Labels, types and property names of the database.
    pub async fn database_names(&self) -> Result<DatabaseNames, Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Kind {
            Label,
            Type,
            Property,
        }
        #[derive(Deserialize)]
        struct Row {
            name: String,
            kind: Kind,
        }
        let mut names = DatabaseNames::default();
        for Row { name, kind } in self.read::<Row>(LAYOUT_NAMES.call()).await? {
            match kind {
                Kind::Label => names.labels.insert(name),
                Kind::Type => names.types.insert(name),
                Kind::Property => names.properties.insert(name),
            };
        }
        Ok(names)
    }

    /// Counts the nodes of a rule. `others` are the marks of each rule of other layouts on the same label.
    pub async fn mapped_nodes(
        &self,
        mapping: &Mapping,
        rule: &NodeMapping,
        others: &[Vec<&Name>],
    ) -> Result<MappedNodes, Error> {
        let call = LAYOUT_NODES.nodes(mapping, rule).set("groups", GROUPS_MAX);
        let others = list(others.iter().map(|marks| names(marks.iter().copied())));
        self.read_one(call.set("others", others)).await
    }

    /// Which of these properties a sample of the nodes of a rule has. Empty without nodes.
    pub async fn sample_nodes(
        &self,
        mapping: &Mapping,
        rule: &NodeMapping,
        properties: &BTreeSet<&Name>,
    ) -> Result<Vec<PropertySample>, Error> {
        let properties = names(properties.iter().copied());
        let call = LAYOUT_NODE_SAMPLE.nodes(mapping, rule).set("limit", SAMPLE_ROWS);
        self.read(call.set("properties", properties)).await
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

    /// Counts the nodes of a label that have none of Ebb's labels and are of none of these mappings.
    pub async fn unknown_nodes(
        &self,
        label: &Name,
        mappings: &[&Mapping],
        own: &[&str],
    ) -> Result<UnknownNodes, Error> {
        let rules: Vec<&[NodeMapping]> = mappings.iter().map(|mapping| mapping.nodes.as_slice()).collect();
        let mut inserted = vec![(ROOM, format!(":{label}"))];
        inserted.extend(mapped_by(rules));
        let call = LAYOUT_UNKNOWN.reading(&LAYOUT_UNKNOWN.text_of(&inserted)).set("limit", ROWS_MAX);
        self.read_one(call.set("own", list(own.iter().copied()))).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Vec<NodeMapping> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn no_rows_are_counted_without_a_name_that_each_of_them_has() {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let known = DatabaseNames {
            labels: set(&["Entity"]),
            types: BTreeSet::new(),
            properties: set(&["uuid", "name", "x", "y"]),
        };
        let nodes = rules(
            r#"[{"label": "Entity", "role": "entity", "key": "uuid"}, {"label": "Entity", "role": "entity", "key": "id"},
                {"label": "Other", "role": "entity", "key": "uuid"}, {"role": "entity", "key": "name", "mark": ["x", "y"]},
                {"role": "entity", "key": "name", "mark": ["x", "z"]}]"#,
        );
        let may: Vec<bool> = nodes.iter().map(|rule| known.may_have(rule)).collect();
        assert_eq!(may, [true, false, false, true, false]);
    }

    #[test]
    fn names_of_a_mapping_come_into_a_text_where_its_header_says() {
        let file = "// names: :Room, :HALL\nMATCH (n:Room)-[r:HALL]->(m) RETURN count(r)";
        let statement = Statement { name: "layout/some", file };
        let kinds: Vec<RelationMapping> =
            serde_json::from_str(r#"[{"type": "KNOWS", "role": "link"}, {"role": "link"}]"#).unwrap();
        let nodes = rules(
            r#"[{"label": "A", "role": "entity", "key": "k"}, {"label": "__B__", "role": "entity", "key": "k"},
                {"role": "entity", "key": "k", "mark": ["x", "y"]}]"#,
        );
        let text = |kind: usize, kinds: &[RelationMapping], nodes: &[NodeMapping]| {
            statement.text_of_graph(nodes, Some(&TypeFilter::of(&kinds[kind], kinds)))
        };
        assert_eq!(text(0, &kinds, &nodes[..2]), "MATCH (n:A|__B__)-[r:KNOWS]->(m) RETURN count(r)");
        assert!(text(1, &kinds, &nodes[..2]).contains("[r:!(KNOWS)]"));
        assert!(text(0, &kinds[1..], &nodes[..2]).contains("[r:%]"));
        assert!(text(0, &kinds, &nodes).starts_with("MATCH (n)-["), "one rule is of any label");
    }

    #[test]
    fn a_row_without_a_label_has_all_marks_and_no_label_of_another_rule_or_of_ebb() {
        let nodes = rules(
            r#"[{"label": "A", "role": "entity", "key": "k"}, {"role": "entity", "key": "k", "mark": ["x", "y"]}]"#,
        );
        assert_eq!(marked(&nodes, &nodes[0], "n"), "n.k IS NOT NULL");
        let any = marked(&nodes, &nodes[1], "m");
        let start = "m.x IS NOT NULL AND m.y IS NOT NULL AND none(label IN labels(m) WHERE label STARTS WITH 'Ebb' OR label IN ['A', 'Memory', ";
        assert!(any.starts_with(start), "{any}");
        let (stands, text) = mapped_by([nodes.as_slice()]).next().unwrap();
        assert_eq!(stands, "n.mapped");
        assert!(text.starts_with("CASE WHEN n:A AND n.k IS NOT NULL THEN 0 WHEN n.x IS NOT NULL"), "{text}");
        assert!(text.ends_with(" THEN 1 END"), "{text}");
        assert_eq!(mapped_by([]).next().unwrap().1, "null");
    }
}
