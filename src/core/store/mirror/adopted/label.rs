//! A mapped label in a scope: the texts by which its rows are found, and the properties that are read.

use super::super::super::cells::{text, whole};
use super::super::super::encode::list;
use super::super::super::layouts::{MARKED, label_text, mapped_by, marked, scope};
use super::super::super::statement::{Call, HALL, ROOM, ROOM_ID, Statement};
use super::IN_SCOPE;
use crate::domain::ids::Scope;
use crate::domain::mapping::{Evidence, Mapping, Name, NodeMapping, RelationMapping};
use neo4rs::BoltType;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Placeholder of the rows of a page of keys.
const EACH_KEY: &str = "UNWIND $rows.keys AS key";

/// A mapped label in a scope.
#[derive(Debug, Clone)]
pub(in crate::store::mirror) struct AdoptedLabel {
    pub(super) mapping: Arc<Mapping>,
    pub(super) node: usize,
    /// Index of the first label of its mapping.
    pub(super) first: usize,
    groups: Option<Vec<String>>,
    has_unscoped: bool,
}

/// Mapped labels that may have rows in a scope; indexes of labels begin at `first`.
pub(in crate::store::mirror) fn labels(
    mappings: &[Mapping],
    scope: &Scope,
    first: usize,
) -> Vec<AdoptedLabel> {
    let mut labels = Vec::new();
    for mapping in mappings.iter().filter(|mapping| mapping.has_scope(scope)) {
        let first = first + labels.len();
        let mapping = Arc::new(mapping.clone());
        labels.extend((0..mapping.nodes.len()).map(|node| AdoptedLabel {
            node,
            first,
            groups: mapping.groups(scope),
            has_unscoped: mapping.has_unscoped_rows(scope),
            mapping: Arc::clone(&mapping),
        }));
    }
    labels
}

impl AdoptedLabel {
    pub(super) fn rule(&self) -> &NodeMapping {
        &self.mapping.nodes[self.node]
    }

    pub(in crate::store::mirror) fn label(&self) -> &str {
        self.rule().label_name()
    }

    pub(in crate::store::mirror) fn kind(&self) -> &str {
        self.rule().kind()
    }

    /// Property by which its rows are told from others of the label.
    pub(in crate::store::mirror) fn mark(&self) -> Option<&str> {
        self.rule().marks().next().map(Name::as_str)
    }

    /// Values of the scope property.
    pub(super) fn groups(&self) -> BoltType {
        list(self.groups.iter().flatten().map(String::as_str))
    }

    /// Condition that a node `n` is in the scope.
    pub(super) fn in_scope(&self) -> String {
        match &self.mapping.scope.property {
            None => "true".to_owned(),
            Some(scope) if self.has_unscoped => format!("(n.{scope} IN $rows.groups OR n.{scope} IS NULL)"),
            Some(scope) => format!("n.{scope} IN $rows.groups"),
        }
    }

    /// Texts for the placeholders of a statement.
    pub(super) fn inserted(&self) -> Vec<(&'static str, String)> {
        let (rule, rules) = (self.rule(), &self.mapping.nodes);
        let key = rule.key.property().map_or_else(|| "elementId(n)".to_owned(), |key| format!("n.{key}"));
        let marked = marked(rules, rule, "n");
        let mut inserted = vec![(ROOM, label_text(rule)), (HALL, self.types())];
        if rule.label.is_none() {
            // No index finds such a node by its key: all nodes are read once, not once for each key.
            let found = format!("MATCH (n)\nWHERE {key} IN $rows.keys AND {} AND {marked}", self.in_scope());
            inserted.push((EACH_KEY, format!("{found}\nWITH n, {key} AS key")));
        }
        inserted.extend([(IN_SCOPE, self.in_scope()), (ROOM_ID, key), (MARKED, marked)]);
        inserted.extend(mapped_by([rules.as_slice()]));
        inserted
    }

    /// Types of the mapping's relationships; empty for all.
    pub(super) fn types(&self) -> String {
        let kinds: Option<Vec<&str>> =
            self.mapping.relationships.iter().map(|rule| rule.kind.as_ref().map(Name::as_str)).collect();
        kinds.map_or_else(String::new, |kinds| format!(":{}", kinds.join("|")))
    }

    /// A call about nodes of the label.
    pub(super) fn call(&self, statement: &'static Statement) -> Call {
        statement.reading(&statement.text_of(&self.inserted())).set("groups", self.groups())
    }

    pub(super) fn with_status(&self, call: Call) -> Call {
        let rule = self.rule();
        call.set("status", rule.status.as_ref().map(Name::as_str))
            .set("live", list(rule.live.iter().map(String::as_str)))
    }

    /// A call of a text that identifies nodes of any rule of the mapping.
    pub(super) fn with_ends(&self, call: Call) -> Call {
        let ends = self.mapping.nodes.iter().map(|rule| rule.key.property().map_or("", Name::as_str));
        call.set("ends", list(ends))
            .set("scoped", scope(&self.mapping))
            .set("unscoped", self.has_unscoped)
            .set("groups", self.groups())
    }

    /// Names of the properties of nodes that are read.
    pub(super) fn node_read(&self) -> Vec<&Name> {
        let rule = self.rule();
        let lists = rule.text.iter().chain(&rule.observed).chain(&rule.until);
        distinct(rule.name.iter().chain(lists))
    }

    /// Names of the properties of relationships that are read.
    pub(super) fn relation_read(&self) -> Vec<&Name> {
        let rules = || self.mapping.relationships.iter();
        let keys = rules().filter_map(|rule| rule.key.as_ref()?.property());
        let evidence = rules().filter_map(|rule| Some(&rule.evidence.as_ref()?.property));
        distinct(rules().flat_map(RelationMapping::read).chain(keys).chain(evidence))
    }

    /// A node of the mapping, by the index of its label there: the index of the label in the query, and the key.
    pub(super) fn end(&self, label: &BoltType, key: BoltType) -> Option<(usize, String)> {
        Some((self.first + usize::try_from(whole(label)?).ok()?, text(key)?))
    }

    pub(super) fn evidence(&self) -> Option<&Evidence> {
        self.mapping.relationships.iter().find_map(|rule| rule.evidence.as_ref())
    }
}

fn distinct<'n>(names: impl Iterator<Item = &'n Name>) -> Vec<&'n Name> {
    let mut met = BTreeSet::new();
    names.filter(|name| met.insert(*name)).collect()
}
