//! The allow-list of labels and relationship types of the palace.
//!
//! An allow-list, because other labels and types of the graph belong to other applications and must not be written. It
//! also prevents injection into statements: a label or type cannot be a parameter, so the few that occur in a
//! statement's text are of these types, which are built only from configuration and only from plain words.

use std::fmt;

/// Longest label or type.
const NAME_CHARS_MAX: usize = 64;
/// Most labels, and most types.
const NAMES_MAX: usize = 64;

/// The reason why a list of labels or types is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NamesError {
    /// Not a plain word.
    #[error("{what} {name:?} is not a plain name: a letter or _, then letters, digits and _, at most 64")]
    Plain {
        /// Label or relationship type.
        what: &'static str,
        name: String,
    },
    /// Reserved for records of Ebb.
    #[error("{what} {name:?} begins with Ebb, a reserved prefix")]
    Own {
        /// Label or relationship type.
        what: &'static str,
        name: String,
    },
    /// Repeated in the list.
    #[error("{what} {name:?} is in the list twice")]
    Twice {
        /// Label or relationship type.
        what: &'static str,
        name: String,
    },
    /// None, or too many.
    #[error("there are {count} {what}s; it must be 1 to 64")]
    Count {
        /// Label or relationship type.
        what: &'static str,
        count: usize,
    },
    /// A name that is not in the list.
    #[error("{what} {name:?} is not in the list of those that carry pheromones: {known}")]
    NotListed {
        /// Label or relationship type.
        what: &'static str,
        name: String,
        known: String,
    },
}

macro_rules! listed {
    ($type:ident, $doc:literal) => {
        #[doc = $doc]
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(String);

        impl $type {
            /// The name, safe for the text of a statement.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

listed!(PlaceLabel, "A label of places, from the list.");
listed!(EdgeType, "A relationship type of edges, from the list.");

impl PlaceLabel {
    /// Key property of places with this label in their scope: `name` of an entity, `id` of all others.
    #[must_use]
    pub fn key(&self) -> &'static str {
        if self.0 == "Entity" { "name" } else { "id" }
    }
}

/// A label of nodes that mirrors hold, with the name of their kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirroredLabel {
    label: PlaceLabel,
    kind: String,
}

impl MirroredLabel {
    /// Reads `Label`, whose name is that of the kind, or `Label=Kind`.
    pub fn new(text: &str) -> Result<Self, NamesError> {
        let (label, kind) = text.split_once('=').unwrap_or((text, text));
        let mut names = checked("label", &[label.trim()])?;
        let label = names.pop().map(PlaceLabel).ok_or(NamesError::Count { what: "label", count: 0 })?;
        Ok(Self { label, kind: kind.trim().to_owned() })
    }

    /// The label.
    #[must_use]
    pub const fn label(&self) -> &PlaceLabel {
        &self.label
    }

    /// Name of the kind.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }
}

/// Labels and relationship types that carry pheromones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    labels: Vec<PlaceLabel>,
    types: Vec<EdgeType>,
}

impl Allowed {
    /// Labels of the stigmergy document.
    pub const LABELS: [&'static str; 5] = ["Wing", "Room", "Closet", "Drawer", "Entity"];
    /// Types of the stigmergy document.
    pub const TYPES: [&'static str; 8] =
        ["HAS_ROOM", "HAS_CLOSET", "HAS_DRAWER", "HALL", "TUNNEL", "RELATES_TO", "REFERENCES", "SIMILAR_TO"];

    /// Checks the lists of a configuration.
    pub fn new(labels: &[impl AsRef<str>], types: &[impl AsRef<str>]) -> Result<Self, NamesError> {
        Ok(Self {
            labels: checked("label", labels)?.into_iter().map(PlaceLabel).collect(),
            types: checked("relationship type", types)?.into_iter().map(EdgeType).collect(),
        })
    }

    /// The labels, in the order of the configuration.
    #[must_use]
    pub fn labels(&self) -> &[PlaceLabel] {
        &self.labels
    }

    /// The types, in the order of the configuration.
    #[must_use]
    pub fn types(&self) -> &[EdgeType] {
        &self.types
    }

    /// The label with this name.
    pub fn label(&self, name: &str) -> Result<&PlaceLabel, NamesError> {
        self.labels.iter().find(|label| label.0 == name).ok_or_else(|| NamesError::NotListed {
            what: "label",
            name: name.to_owned(),
            known: joined(self.labels.iter().map(PlaceLabel::as_str)),
        })
    }

    /// The type with this name.
    pub fn kind(&self, name: &str) -> Result<&EdgeType, NamesError> {
        self.types.iter().find(|kind| kind.0 == name).ok_or_else(|| NamesError::NotListed {
            what: "relationship type",
            name: name.to_owned(),
            known: joined(self.types.iter().map(EdgeType::as_str)),
        })
    }
}

fn joined<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

fn checked(what: &'static str, names: &[impl AsRef<str>]) -> Result<Vec<String>, NamesError> {
    if !(1..=NAMES_MAX).contains(&names.len()) {
        return Err(NamesError::Count { what, count: names.len() });
    }
    let mut all: Vec<String> = Vec::new();
    for name in names.iter().map(AsRef::as_ref) {
        let name = name.to_owned();
        if !is_plain(&name) {
            return Err(NamesError::Plain { what, name });
        }
        if name.starts_with("Ebb") {
            return Err(NamesError::Own { what, name });
        }
        if all.contains(&name) {
            return Err(NamesError::Twice { what, name });
        }
        all.push(name);
    }
    Ok(all)
}

/// Whether a name may occur in the text of a statement: a letter or `_`, then letters, digits and `_`, at most 64.
pub(crate) fn is_plain(name: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(first)
        && name.len() <= NAME_CHARS_MAX
        && name.chars().all(|c| first(c) || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn only_plain_words_pass(name in any::<String>()) {
            let plain = !name.is_empty() && name.len() <= 64 && !name.starts_with(|c: char| c.is_ascii_digit())
                && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
            let made = Allowed::new(&[name.as_str()], &["HALL"]);
            prop_assert_eq!(made.is_ok(), plain && !name.starts_with("Ebb"));
        }
    }

    #[test]
    fn each_fault_of_a_list_is_named() {
        let said = |labels: &[&str]| Allowed::new(labels, &["HALL"]).unwrap_err().to_string();
        assert!(said(&["Room`) DETACH DELETE n //"]).contains("is not a plain name"));
        assert!(said(&["Room Wing"]).contains("is not a plain name"));
        assert!(said(&["EbbRun"]).contains("a reserved prefix"));
        assert!(said(&["Room", "Room"]).contains("twice"));
        assert!(said(&[]).contains("there are 0 labels"));
        assert!(said(&["1st"]).contains("is not a plain name") && said(&[&"x".repeat(65)]).contains("plain"));
        let allowed = Allowed::new(&Allowed::LABELS, &Allowed::TYPES).unwrap();
        assert_eq!(allowed.label("Entity").unwrap().key(), "name");
        let why = allowed.kind("PROMOTED_TO").unwrap_err().to_string();
        assert!(why.contains("\"PROMOTED_TO\" is not in the list") && why.contains("HAS_ROOM, "), "{why}");
    }
}
