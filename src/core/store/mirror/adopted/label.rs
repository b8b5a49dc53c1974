//! A mapped label in a scope: the texts by which its rows are found, and the properties that are read.

use super::super::super::cells::{text, whole};
use super::super::super::encode::list;
use super::super::super::layouts::{MARKED, label_text, marked, owners, rule_number};
use super::super::super::statement::{Call, HALL, ROOM, ROOM_ID, Statement};
use super::IN_SCOPE;
use crate::domain::ids::Scope;
use crate::domain::mapping::{Evidence, Mapping, Name, NodeMapping, RelationMapping, RelationRole};
use neo4rs::BoltType;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Placeholder of the rows of a page of keys.
const EACH_KEY: &str = "UNWIND $rows.keys AS key";

/// Placeholders of the number of the rule of a node in the scope, null if it is a row of none or not in the scope.
const MAPPED: [(&str, &str); 3] = [
    ("CASE WHEN n.scope IN $rows.groups THEN n.mapped END", "n"),
    ("CASE WHEN a.scope IN $rows.groups THEN a.mapped END", "a"),
    ("CASE WHEN b.scope IN $rows.groups THEN b.mapped END", "b"),
];

/// A mapped label in a scope.
#[derive(Debug, Clone)]
pub(in crate::store::mirror) struct AdoptedLabel {
    pub(super) mapping: Arc<Mapping>,
    pub(super) node: usize,
    /// Index of the first label of its mapping.
    pub(super) first: usize,
    groups: Vec<String>,
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
        list(self.groups.iter().map(String::as_str))
    }

    /// Condition that a node is in the scope, by the rule of its label if there is one.
    pub(super) fn in_scope(&self, rule: Option<&NodeMapping>, node: &str) -> String {
        let has_value = |property: String| match self.has_unscoped {
            true => format!("({property} IN $rows.groups OR {property} IS NULL)"),
            false => format!("{property} IN $rows.groups"),
        };
        match (&self.mapping.scope.property, rule.and_then(|rule| rule.owner.as_ref())) {
            (Some(property), _) => has_value(format!("{node}.{property}")),
            (None, None) => self.has_unscoped.to_string(),
            (None, Some(owner)) => {
                let pattern = owners(owner, node);
                let value = has_value(format!("owner.{}", owner.property));
                let owned = format!("EXISTS {{ {pattern} WHERE {value} }}");
                if self.has_unscoped { format!("({owned} OR NOT EXISTS {{ {pattern} }})") } else { owned }
            }
        }
    }

    /// Texts for the placeholders of the numbers of rules.
    pub(super) fn mapped(&self) -> impl Iterator<Item = (&'static str, String)> {
        let rules = self.mapping.nodes.as_slice();
        MAPPED.into_iter().map(move |(stands, node)| {
            (stands, rule_number([rules], node, |rule| Some(self.in_scope(Some(rule), node))))
        })
    }

    /// Texts for the placeholders of a statement about these types of relationships.
    pub(super) fn inserted(&self, types: String) -> Vec<(&'static str, String)> {
        let (rule, rules) = (self.rule(), &self.mapping.nodes);
        let key = rule.key.property().map_or_else(|| "elementId(n)".to_owned(), |key| format!("n.{key}"));
        let (marked, in_scope) = (marked(rules, rule, "n"), self.in_scope(Some(rule), "n"));
        let mut inserted = vec![(ROOM, label_text(rule)), (HALL, types)];
        if rule.label.is_none() {
            // No index finds such a node by its key: all nodes are read once, not once for each key.
            let found = format!("MATCH (n)\nWHERE {key} IN $rows.keys AND {in_scope} AND {marked}");
            inserted.push((EACH_KEY, format!("{found}\nWITH n, {key} AS key")));
        }
        inserted.extend([(IN_SCOPE, in_scope), (ROOM_ID, key), (MARKED, marked)]);
        inserted.extend(self.mapped());
        inserted
    }

    /// Types of the mapping's relationships; empty for all.
    fn types(&self) -> String {
        let kinds: Option<Vec<&str>> =
            self.mapping.relationships.iter().map(|rule| rule.kind.as_ref().map(Name::as_str)).collect();
        kinds.map_or_else(String::new, |kinds| format!(":{}", kinds.join("|")))
    }

    /// Types on the paths from its rows to those of other rules with the same owners, in the form of `HALL`.
    pub(super) fn paths_beyond(&self) -> BTreeSet<String> {
        let own = self.rule().owner.as_ref();
        let beyond = self.mapping.owners().filter_map(|owner| owner.path_from(own?));
        let text = |path: &[Name]| path.iter().map(Name::as_str).collect::<Vec<_>>().join("]->()-[:");
        beyond.map(|path| format!(":{}", text(path))).collect()
    }

    /// A call about nodes of the label.
    pub(super) fn call(&self, statement: &'static Statement) -> Call {
        statement.reading(&statement.text_of(&self.inserted(self.types()))).set("groups", self.groups())
    }

    pub(super) fn with_status(&self, call: Call) -> Call {
        let rule = self.rule();
        call.set("status", rule.status.as_ref().map(Name::as_str))
            .set("live", list(rule.live.iter().map(String::as_str)))
    }

    /// A call of a text that identifies nodes of any rule of the mapping.
    pub(super) fn with_ends(&self, call: Call) -> Call {
        let ends = self.mapping.nodes.iter().map(|rule| rule.key.property().map_or("", Name::as_str));
        call.set("ends", list(ends)).set("groups", self.groups())
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

    /// Properties with embeddings of facts.
    pub(super) fn fact_vectors(&self) -> impl Iterator<Item = &Name> {
        let facts = self.mapping.relationships.iter().filter(|rule| rule.role == RelationRole::Fact);
        facts.filter_map(|rule| rule.vector.as_ref())
    }

    /// The property with the embeddings of facts of a type.
    pub(super) fn fact_vector(&self, kind: &str) -> Option<&Name> {
        let rule = self.mapping.relation(kind).filter(|rule| rule.role == RelationRole::Fact);
        rule?.vector.as_ref()
    }

    /// A node of the mapping, by the index of its label there: the index of the label in the query, and the key.
    pub(super) fn end(&self, label: &BoltType, key: BoltType) -> Option<(usize, String)> {
        Some((self.first + usize::try_from(whole(label)?).ok()?, text(key)?))
    }

    pub(in crate::store::mirror) fn evidence(&self) -> Option<&Evidence> {
        self.mapping.relationships.iter().find_map(|rule| rule.evidence.as_ref())
    }
}

pub(super) fn distinct<'n>(names: impl Iterator<Item = &'n Name>) -> Vec<&'n Name> {
    let mut met = BTreeSet::new();
    names.filter(|name| met.insert(*name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_in_the_scope_by_its_property_or_its_owners() {
        let of = |scope: &str, name: &str| {
            let owner = r#"{"label": "User", "property": "id", "path": ["HAS", "SAYS"]}"#;
            let owner = if scope.is_empty() { format!(r#""owner": {owner},"#) } else { String::new() };
            let text = format!(
                r#"{{"library": "L", "releases": "1", "scope": {{{scope}"default": "local"}}, "nodes": [
                    {{"label": "A", {owner}"role": "entity", "key": "k", "name": "name"}},
                    {{"label": "B", "role": "entity", "key": "k", "name": "name"}}]}}"#
            );
            let mapping = Mapping::new(serde_json::from_str(&text).unwrap()).unwrap();
            let labels = labels(&[mapping], &Scope::new(name).unwrap(), 0);
            let text = |label: &AdoptedLabel| label.in_scope(Some(label.rule()), "b");
            (text(&labels[0]), text(&labels[1]), labels[0].in_scope(None, "b"))
        };
        let same = |text: &str| (text.to_owned(), text.to_owned(), text.to_owned());
        let property = r#""property": "g", "#;
        assert_eq!(of(property, "team"), same("b.g IN $rows.groups"));
        assert_eq!(of(property, "local"), same("(b.g IN $rows.groups OR b.g IS NULL)"));
        let path = "(b)<-[:SAYS]-()<-[:HAS]-(owner:User)";
        let owned = format!("EXISTS {{ {path} WHERE owner.id IN $rows.groups }}");
        assert_eq!(of("", "ann"), (owned, "false".to_owned(), "false".to_owned()));
        let value = "(owner.id IN $rows.groups OR owner.id IS NULL)";
        let owned = format!("(EXISTS {{ {path} WHERE {value} }} OR NOT EXISTS {{ {path} }})");
        assert_eq!(of("", "local"), (owned, "true".to_owned(), "true".to_owned()));
    }
}
