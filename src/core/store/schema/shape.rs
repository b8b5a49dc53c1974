//! What a constraint or index is on: kind, label or relationship type, properties in order. Two of one shape are equal,
//! whatever their names.

use super::InTheWay;
use serde::Deserialize;

/// The shape of a constraint or index that a statement creates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape<'t> {
    is_unique: bool,
    is_on_relationships: bool,
    about: &'t str,
    properties: Vec<&'t str>,
}

/// An index of the database, with the constraint that owns it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(in crate::store) struct Existing {
    pub(in crate::store) name: String,
    pub(super) state: String,
    kind: String,
    entity: String,
    about: Option<Vec<String>>,
    properties: Option<Vec<String>>,
    /// The constraint: of uniqueness, or of a key, which includes it.
    pub(in crate::store) owner: Option<String>,
}

impl<'t> Shape<'t> {
    /// The shape of a statement that creates a uniqueness constraint or a range index.
    pub(super) fn of(text: &'t str) -> Option<Self> {
        let (head, body) = text.split_once(" FOR ")?;
        let is_unique = head.starts_with("CREATE CONSTRAINT");
        let (pattern, on) = match is_unique {
            true => body.split_once(" REQUIRE ")?,
            false if head.starts_with("CREATE INDEX") => body.split_once(" ON ")?,
            false => return None,
        };
        let about = pattern.split_once(':')?.1;
        let on = on.strip_suffix(" IS UNIQUE").unwrap_or(on);
        let properties =
            on.trim_matches(['(', ')']).split(',').map(|one| Some(one.split_once('.')?.1.trim()));
        Some(Self {
            is_unique,
            is_on_relationships: pattern.contains('['),
            about: about.split([')', ']']).next()?,
            properties: properties.collect::<Option<_>>()?,
        })
    }

    /// Whether an index of the database does what is needed. That of a constraint serves as an index, too.
    pub(super) fn is(&self, row: &Existing) -> bool {
        self.is_index_of(row) && (row.owner.is_some() || !self.is_unique)
    }

    /// Whether it is a range index on the same properties.
    pub(super) fn is_index_of(&self, row: &Existing) -> bool {
        let entity = if self.is_on_relationships { "RELATIONSHIP" } else { "NODE" };
        row.kind == "RANGE"
            && row.entity == entity
            && row.about.as_deref().is_some_and(|names| names == [self.about])
            && row.properties.as_deref().is_some_and(|names| names == self.properties)
    }

    /// The index or constraint that keeps it from being created: of its name, or an index where a constraint is needed.
    pub(super) fn in_the_way(&self, name: &str, there: &[Existing]) -> Option<InTheWay> {
        let other = there.iter().find(|row| row.name == name || self.is_index_of(row))?;
        let kind = if other.owner.is_some() { "constraint" } else { "index" };
        Some(InTheWay { needed: self.needed(), kind, name: other.name.clone() })
    }

    /// What its properties need.
    pub(super) fn needed(&self) -> String {
        format!("{self} needs {}", if self.is_unique { "a uniqueness constraint" } else { "a range index" })
    }
}

impl std::fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.about, self.properties.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn existing(kind: &str, entity: &str, about: &str, properties: &[&str], owner: Option<&str>) -> Existing {
        Existing {
            name: "theirs".to_owned(),
            state: "ONLINE".to_owned(),
            kind: kind.to_owned(),
            entity: entity.to_owned(),
            about: Some(vec![about.to_owned()]),
            properties: Some(properties.iter().map(|name| (*name).to_owned()).collect()),
            owner: owner.map(str::to_owned),
        }
    }

    #[test]
    fn a_shape_is_kind_label_and_properties_in_order_whatever_the_name() {
        let key =
            Shape::of("CREATE CONSTRAINT x IF NOT EXISTS FOR (m:Memory) REQUIRE (m.scope, m.id) IS UNIQUE")
                .unwrap();
        let node = |properties: &[&str], owner| existing("RANGE", "NODE", "Memory", properties, owner);
        assert!(key.is(&node(&["scope", "id"], Some("theirs"))));
        assert!(!key.is(&node(&["scope", "id"], None)) && key.is_index_of(&node(&["scope", "id"], None)));
        assert!(!key.is(&node(&["id", "scope"], Some("theirs"))) && !key.is(&node(&["id"], Some("theirs"))));
        assert_eq!(key.needed(), "Memory (scope, id) needs a uniqueness constraint");
        let there = [node(&["id"], None), node(&["scope", "id"], None)];
        let other = key.in_the_way("x", &there).unwrap();
        assert_eq!((other.remedy().as_str(), other.kind), ("DROP INDEX theirs", "index"));
        assert_eq!(key.in_the_way("x", &there[..1]), None);
        assert!(key.in_the_way("theirs", &there[..1]).is_some(), "its name is taken");
        let index =
            Shape::of("CREATE INDEX IF NOT EXISTS FOR ()-[r:HALL]-() ON (r.pheromone_cycle)").unwrap();
        let of = |kind: &str, entity: &str| existing(kind, entity, "HALL", &["pheromone_cycle"], None);
        assert!(index.is(&of("RANGE", "RELATIONSHIP")));
        assert!(!index.is(&of("RANGE", "NODE")) && !index.is(&of("TEXT", "RELATIONSHIP")));
        let owned = existing("RANGE", "RELATIONSHIP", "HALL", &["pheromone_cycle"], Some("theirs"));
        assert!(index.is(&owned), "the index of a constraint serves, too");
        let lookup = Existing { about: None, properties: None, ..of("LOOKUP", "NODE") };
        assert!(!index.is(&lookup));
        let vector = "CREATE VECTOR INDEX x IF NOT EXISTS FOR (m:Memory) ON (m.embedding) OPTIONS $options";
        for none in [vector, "DROP INDEX x IF EXISTS", "CREATE INDEX x"] {
            assert_eq!(Shape::of(none), None, "{none}");
        }
    }
}
