//! Mapping of a graph that another library wrote: which of its nodes and relationships have which role, and in which
//! properties their key, text and instants are.
//!
//! A mapping is data: the presets are files below `config/adopt/`, and a user's own mapping is a file of the same form.
//! Labels, types and the properties by which rows are found are part of a statement's text, so they are plain names of
//! this file's [`Name`]; everything else of a row is read by name at run time.
//!
//! # Design notes
//! A fact's weight needs no state: the writer keeps the instants, and the weight is a function of them. So a mapping
//! says where instants are, not what to write. The same holds for accesses, where a library logs them.
//!
//! A row is of a mapping if it has the label and the property that marks it: labels such as `Memory` and `Entity` occur
//! in several layouts, and in Ebb's own. Where a library makes a label of each type that a text names, a rule does without
//! a label: its rows have all of several marks, and no label of another rule or of Ebb.

use super::ids::Scope;
use super::trail::is_plain;
use super::units::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// Most node mappings, and most relationship mappings, of one mapping.
const RULES_MAX: usize = 16;
/// Most relationships between an owner and its rows.
const PATH_MAX: usize = 4;
/// Name of the label of a rule without one.
pub const ANY_LABEL: &str = "(any label)";
/// Labels that the source documents name for Ebb's own data. Others of its own begin with `Ebb`.
pub const OWN_LABELS: [&str; 11] = [
    "Memory",
    "Session",
    "SemanticCluster",
    "ConsolidationAttempt",
    "ConsolidationConfig",
    "Wing",
    "Room",
    "Closet",
    "Drawer",
    "Entity",
    "Fact",
];
/// The key of rows without a key property: their element id, which a restored backup does not keep.
pub const ELEMENT_ID: &str = "elementId()";

/// A label, type or property that may occur in the text of a statement: a letter or `_`, then letters, digits and `_`,
/// at most 64.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

impl Name {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match is_plain(&name) {
            true => Ok(Self(name)),
            false => Err(format!(
                "{name:?} is not a plain name: a letter or _, then letters, digits and _, at most 64"
            )),
        }
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The key of a row: a property whose value is text, or the element id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Key {
    /// A property.
    Property(Name),
    /// [`ELEMENT_ID`].
    ElementId,
}

impl TryFrom<String> for Key {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text == ELEMENT_ID { Ok(Self::ElementId) } else { Name::try_from(text).map(Self::Property) }
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        key.property().map_or(ELEMENT_ID, Name::as_str).to_owned()
    }
}

impl Key {
    /// The property; `None` for the element id.
    #[must_use]
    pub const fn property(&self) -> Option<&Name> {
        match self {
            Self::Property(name) => Some(name),
            Self::ElementId => None,
        }
    }
}

/// Role of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeRole {
    /// A thing that facts and texts are about: found by its name.
    Entity,
    /// A text of its own, such as a preference: found by its words.
    Memory,
    /// A text as it was said or read, such as a message: found by its words.
    Episode,
    /// A statement stored as a node: found by its words.
    Fact,
}

/// Role of relationships.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RelationRole {
    /// A statement about its two ends, whose weight halves in the half-life since it was last observed.
    Fact,
    /// A text mentions an entity, or any other lasting connection.
    Link,
}

/// Where the scope of a row is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScopeMapping {
    /// Property of nodes whose value is the scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<Name>,
    /// The scope of rows whose property is empty or missing, or that have no owner with a value; without a property and
    /// owners, that of all rows.
    pub default: Scope,
}

/// Nodes whose property is the scope of the rows that they reach. A row with owners of several scopes is in each of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    /// Label of the owners.
    pub label: Name,
    /// Their property whose value is the scope.
    pub property: Name,
    /// Types of the relationships from an owner to the row, in order, each in its direction.
    pub path: Vec<Name>,
}

impl Owner {
    /// The rest of the path from rows of another owner mapping; `None` if they are not on it.
    #[must_use]
    pub fn path_from(&self, other: &Self) -> Option<&[Name]> {
        let is_same = self.label == other.label && self.property == other.property;
        let rest = self.path.strip_prefix(other.path.as_slice()).filter(|rest| !rest.is_empty());
        rest.filter(|_| is_same)
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.label, self.property)
    }
}

/// Nodes of a label, or of any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeMapping {
    /// Label. None: nodes with all marks, and without a label of another rule or of Ebb.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Name>,
    /// Role.
    pub role: NodeRole,
    /// Property with its key, unique among nodes of the label in a scope.
    pub key: Key,
    /// Property that rows of this layout have and others of the label lack. None: the key. Without a label, a list of all
    /// properties that the library gives each of its nodes.
    #[serde(default, deserialize_with = "one_or_several", skip_serializing_if = "Vec::is_empty")]
    pub mark: Vec<Name>,
    /// Where its scope is, if not in a property of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// Property with its name. None: the beginning of its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Properties with its text, each a text or a list of texts.
    #[serde(default)]
    pub text: Vec<Name>,
    /// Properties with the instant of its last observation; the first usable one counts.
    #[serde(default)]
    pub observed: Vec<Name>,
    /// Properties with instants at which the writer last wrote it, by which changes are found.
    #[serde(default)]
    pub written: Vec<Name>,
    /// Properties with instants from which it is no longer live.
    #[serde(default)]
    pub until: Vec<Name>,
    /// Property with its status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Name>,
    /// Values of the status that are live.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub live: Vec<String>,
    /// Property with its embedding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector: Option<Name>,
}

impl NodeMapping {
    /// Properties that tell its rows from others of the label: one, or several without a label.
    pub fn marks(&self) -> impl Iterator<Item = &Name> {
        let key = self.key.property().filter(|_| self.mark.is_empty());
        self.mark.iter().chain(key)
    }

    /// The label for people: [`ANY_LABEL`] if it has none.
    #[must_use]
    pub fn label_name(&self) -> &str {
        self.label.as_ref().map_or(ANY_LABEL, Name::as_str)
    }

    /// Name of the kind of its nodes.
    #[must_use]
    pub fn kind(&self) -> &str {
        if self.role == NodeRole::Entity { "Entity" } else { self.label_name() }
    }
}

/// Reads a name, or a list of names.
fn one_or_several<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<Name>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Names {
        One(String),
        Several(Vec<String>),
    }
    let names = match Names::deserialize(from)? {
        Names::One(name) => vec![name],
        Names::Several(names) => names,
    };
    names.into_iter().map(Name::try_from).collect::<Result<_, _>>().map_err(serde::de::Error::custom)
}

/// Nodes from which a fact was learned, each an observation of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Property of the relationship with the list of their keys.
    pub property: Name,
    /// Label of the nodes.
    pub label: Name,
    /// Their key property.
    pub key: Name,
    /// Their property with the instant.
    pub observed: Name,
}

/// Relationships of a type between mapped nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelationMapping {
    /// Type. None: every type that no other rule names.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Name>,
    /// Role.
    pub role: RelationRole,
    /// Property with its key. None: it cannot be named in a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Key>,
    /// Properties with its predicate; the first text counts. None: its type.
    #[serde(default)]
    pub predicate: Vec<Name>,
    /// Properties with the instant of its last observation; the first usable one counts.
    #[serde(default)]
    pub observed: Vec<Name>,
    /// Nodes from which it was learned: it was last observed at the latest of these, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Properties with instants at which the writer last wrote it, by which changes are found.
    #[serde(default)]
    pub written: Vec<Name>,
    /// Properties with instants from which it is no longer live.
    #[serde(default)]
    pub until: Vec<Name>,
    /// Property that is false where it is no longer live.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid: Option<Name>,
    /// Property with its confidence, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Name>,
    /// Property with its embedding, which is compared if it is a fact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector: Option<Name>,
}

impl RelationMapping {
    /// Properties that its reading needs, besides its key.
    pub fn read(&self) -> impl Iterator<Item = &Name> {
        let lists = self.predicate.iter().chain(&self.observed).chain(&self.until);
        lists.chain(&self.valid).chain(&self.confidence)
    }
}

/// Relationships by which a library logs accesses, each of the mapped node at which it ends. A node that was accessed after
/// its last observation fades from the access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessMapping {
    /// Type.
    #[serde(rename = "type")]
    pub kind: Name,
    /// Property with the instant of the access.
    pub observed: Name,
}

/// A mapping as written, before it is checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// Name of the library.
    pub library: String,
    /// Releases of the library that wrote this layout when it was read.
    pub releases: String,
    /// Where the scope of a row is.
    pub scope: ScopeMapping,
    /// Nodes.
    pub nodes: Vec<NodeMapping>,
    /// Relationships.
    #[serde(default)]
    pub relationships: Vec<RelationMapping>,
    /// Logs of accesses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accesses: Vec<AccessMapping>,
}

/// A checked mapping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Mapping(Draft);

impl std::ops::Deref for Mapping {
    type Target = Draft;

    fn deref(&self) -> &Draft {
        &self.0
    }
}

impl Mapping {
    /// Checks a mapping.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn new(draft: Draft) -> Result<Self, String> {
        if !(1..=RULES_MAX).contains(&draft.nodes.len())
            || draft.relationships.len().max(draft.accesses.len()) > RULES_MAX
        {
            return Err(format!(
                "it must have 1 to {RULES_MAX} [[nodes]] and at most {RULES_MAX} [[relationships]] and [[accesses]]"
            ));
        }
        let mut logs = BTreeSet::new();
        if let Some(access) = draft.accesses.iter().find(|access| !logs.insert(&access.kind)) {
            return Err(format!("the type {} has two rules in [[accesses]]", access.kind));
        }
        let mut labels = BTreeSet::new();
        for node in &draft.nodes {
            let label = node.label_name();
            if label.starts_with("Ebb") {
                return Err(format!("the label {label} begins with Ebb, a reserved prefix"));
            }
            if !labels.insert(label) {
                return Err(format!("the label {label} has two rules"));
            }
            if node.label.is_none() && node.mark.is_empty() {
                return Err("the rule without a label has no `mark`: it would be of every node".to_owned());
            }
            if node.label.is_some() && node.mark.len() > 1 {
                return Err(format!("the rule of {label} has several marks: with a label it must have one"));
            }
            if node.marks().next().is_none() {
                return Err(format!("the rule of {label} has neither a key property nor a mark"));
            }
            if node.name.is_none() && node.text.is_empty() {
                return Err(format!("the rule of {label} has neither a name nor a text"));
            }
            if node.status.is_some() == node.live.is_empty() {
                return Err(format!("the rule of {label} must have both `status` and `live`, or neither"));
            }
            let Some(owner) = &node.owner else { continue };
            if let Some(property) = &draft.scope.property {
                return Err(format!(
                    "the rule of {label} has an `owner`, but `scope` has the property {property}: a row has one place for its scope, so remove one of them"
                ));
            }
            if !(1..=PATH_MAX).contains(&owner.path.len()) {
                return Err(format!(
                    "the `path` of the owner of {label} has {} types; it must have 1 to {PATH_MAX}",
                    owner.path.len()
                ));
            }
        }
        let mut types = BTreeSet::new();
        for relation in &draft.relationships {
            let name = relation.kind.as_ref().map_or("other types", Name::as_str);
            if !types.insert(&relation.kind) {
                return Err(format!("the type {name} has two rules"));
            }
            if relation.role == RelationRole::Fact
                && relation.observed.is_empty()
                && relation.evidence.is_none()
            {
                return Err(format!(
                    "the rule of {name} is that of a fact and names no instant in `observed`"
                ));
            }
        }
        let evidence = draft.relationships.iter().filter(|relation| relation.evidence.is_some()).count();
        if evidence > 1 {
            return Err(format!("{evidence} rules name `evidence`; at most one may"));
        }
        Ok(Self(draft))
    }

    /// Whether its rows may be of several scopes.
    #[must_use]
    pub fn is_scoped(&self) -> bool {
        self.scope.property.is_some() || self.owners().next().is_some()
    }

    /// Owners of its rows.
    pub fn owners(&self) -> impl Iterator<Item = &Owner> {
        self.nodes.iter().filter_map(|rule| rule.owner.as_ref())
    }

    /// Values of the scope property in a scope.
    #[must_use]
    pub fn groups(&self, scope: &Scope) -> Vec<String> {
        let own = std::iter::once(scope.as_str().to_owned());
        own.chain(self.has_unscoped_rows(scope).then(String::new)).collect()
    }

    /// Whether rows with an empty scope, or without any, are in this one.
    #[must_use]
    pub fn has_unscoped_rows(&self, scope: &Scope) -> bool {
        self.scope.default == *scope
    }

    /// Whether the scope can have rows of this mapping.
    #[must_use]
    pub fn has_scope(&self, scope: &Scope) -> bool {
        self.is_scoped() || self.has_unscoped_rows(scope)
    }

    /// The rule of a label of nodes.
    #[must_use]
    pub fn node(&self, label: &Name) -> Option<&NodeMapping> {
        self.nodes.iter().find(|rule| rule.label.as_ref() == Some(label))
    }

    /// The rule of a type of relationships.
    #[must_use]
    pub fn relation(&self, kind: &str) -> Option<&RelationMapping> {
        let of = |named: bool| {
            self.relationships.iter().find(move |rule| match &rule.kind {
                Some(name) => named && name.as_str() == kind,
                None => !named,
            })
        };
        of(true).or_else(|| of(false))
    }
}

/// An instant as epoch milliseconds, from a number of seconds or milliseconds since 1970. `None` outside the years 0001 to
/// 9999.
#[must_use]
pub fn instant_of_number(number: i64) -> Option<i64> {
    /// Below this a number is of seconds: in milliseconds it would be in the first four months of 1970.
    const SECONDS_MAX: u64 = 10_000_000_000;
    let ms = if number.unsigned_abs() < SECONDS_MAX { number.checked_mul(1_000)? } else { number };
    Timestamp::from_millis(ms).ok().map(Timestamp::millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(text: &str) -> Result<Mapping, String> {
        serde_json::from_str(text).map_err(|why| why.to_string()).and_then(Mapping::new)
    }

    const NODE: &str = r#"{"label": "Entity", "role": "entity", "key": "uuid", "name": "name"}"#;

    fn with(nodes: &str, relationships: &str) -> Result<Mapping, String> {
        draft(&format!(
            r#"{{"library": "L", "releases": "1", "scope": {{"property": "g", "default": "local"}},
                "nodes": [{nodes}], "relationships": [{relationships}]}}"#
        ))
    }

    #[test]
    fn each_fault_of_a_mapping_is_named() {
        assert!(with(NODE, "").is_ok());
        let said = |nodes: &str, relationships: &str| with(nodes, relationships).unwrap_err();
        assert!(said("", "").contains("1 to 16 [[nodes]]"));
        assert!(said(&format!("{NODE}, {NODE}"), "").contains("the label Entity has two rules"));
        assert!(said(&NODE.replace("uuid", "a b"), "").contains("not a plain name"));
        assert!(said(&NODE.replace("Entity\"", "EbbRun\""), "").contains("reserved prefix"));
        assert!(said(&NODE.replace("uuid", ELEMENT_ID), "").contains("neither a key property nor a mark"));
        assert!(said(&NODE.replace(r#", "name": "name""#, ""), "").contains("neither a name nor a text"));
        assert!(said(&NODE.replace('}', r#", "status": "s"}"#), "").contains("both `status` and `live`"));
        assert!(said(NODE, r#"{"type": "R", "role": "fact"}"#).contains("names no instant"));
        let any = NODE.replace(r#""label": "Entity", "#, "");
        assert!(said(&any, "").contains("it would be of every node"));
        let marked = |node: &str| node.replace('}', r#", "mark": ["a", "b"]}"#);
        assert!(said(&marked(NODE), "").contains("with a label it must have one"));
        assert!(said(&format!("{0}, {0}", marked(&any)), "").contains("the label (any label) has two rules"));
        let marks =
            |node: &str| with(node, "").unwrap().nodes[0].marks().map(Name::to_string).collect::<Vec<_>>();
        assert_eq!(marks(&marked(&any)), ["a", "b"]);
        assert_eq!(
            (marks(NODE), marks(&NODE.replace('}', r#", "mark": "m"}"#))),
            (vec!["uuid".to_owned()], vec!["m".to_owned()])
        );
        let log = r#"{"type": "T", "observed": "at"}"#;
        let logs = |logs: &str| {
            let text = format!(
                r#"{{"library": "L", "releases": "1", "scope": {{"default": "local"}}, "nodes": [{NODE}], "accesses": [{logs}]}}"#
            );
            draft(&text)
        };
        assert_eq!(logs(log).unwrap().accesses.len(), 1);
        assert!(
            logs(&format!("{log}, {log}")).unwrap_err().contains("the type T has two rules in [[accesses]]")
        );
        let link = r#"{"type": "R", "role": "link"}"#;
        assert!(said(NODE, &format!("{link}, {link}")).contains("the type R has two rules"));
        assert!(said(&NODE.replace('}', r#", "colour": "s"}"#), "").contains("unknown field `colour`"));
    }

    #[test]
    fn the_scope_of_rows_without_one_has_two_values() {
        let mapping =
            with(NODE, r#"{"type": "R", "role": "link"}, {"role": "fact", "observed": ["at"]}"#).unwrap();
        let scope = |name: &str| Scope::new(name).unwrap();
        assert_eq!(mapping.groups(&scope("local")), ["local", ""]);
        assert_eq!(mapping.groups(&scope("team")), ["team"]);
        assert!(mapping.has_scope(&scope("team")));
        assert_eq!(mapping.relation("R").unwrap().role, RelationRole::Link);
        assert_eq!(mapping.relation("OTHER").unwrap().role, RelationRole::Fact);
    }

    #[test]
    fn an_owner_is_the_only_place_of_a_scope_and_a_short_path_away() {
        let owned = |property: &str, path: &str| {
            let owner = format!(r#", "owner": {{"label": "User", "property": "id", "path": [{path}]}}}}"#);
            draft(&format!(
                r#"{{"library": "L", "releases": "1", "scope": {{{property}"default": "local"}}, "nodes": [{}]}}"#,
                NODE.replace('}', &owner)
            ))
        };
        let mapping = owned("", r#""HAS", "SAYS""#).unwrap();
        assert!(mapping.has_scope(&Scope::new("ann").unwrap()));
        let of = |path: &[&str]| Owner {
            path: path.iter().map(|kind| Name((*kind).to_owned())).collect(),
            ..mapping.nodes[0].owner.clone().unwrap()
        };
        let owner = of(&["HAS", "SAYS"]);
        assert_eq!(owner.path_from(&of(&["HAS"])).unwrap(), &owner.path[1..]);
        assert!(owner.path_from(&owner).is_none() && owner.path_from(&of(&["SAYS"])).is_none());
        assert!(owner.path_from(&Owner { property: Name("name".to_owned()), ..of(&["HAS"]) }).is_none());
        let both = owned(r#""property": "g", "#, r#""HAS""#).unwrap_err();
        assert!(both.contains("the rule of Entity has an `owner`, but `scope` has the property g"), "{both}");
        assert!(owned("", "").unwrap_err().contains("the owner of Entity has 0 types; it must have 1 to 4"));
        assert!(owned("", &[r#""A""#; 5].join(", ")).unwrap_err().contains("has 5 types"));
        assert!(owned("", r#""A]->()//""#).unwrap_err().contains("not a plain name"));
    }

    #[test]
    fn a_number_is_of_seconds_or_of_milliseconds() {
        assert_eq!(instant_of_number(1_767_225_600), Some(1_767_225_600_000));
        assert_eq!(instant_of_number(1_767_225_600_000), Some(1_767_225_600_000));
        assert_eq!([i64::MIN, i64::MAX].map(instant_of_number), [None, None]);
    }
}
