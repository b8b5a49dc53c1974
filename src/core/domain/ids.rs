//! Names of things: checked where they come in, derived where they must be the same each time.
//!
//! A promotion's stub gets the v5 uuid of its promotion key, and an event without an id that of its file and line:
//! doing the same work again names the same node, so a uniqueness constraint can refuse the second time.

use super::tier::Tier;
use super::units::{Confidence, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The namespace of every v5 uuid that Ebb derives.
const NAMESPACE: Uuid = Uuid::from_u128(0x6562_6200_6d65_6d6f_8000_7279_2d69_6473);

/// Longest name, in bytes: well inside what an index key of the server can hold.
pub const NAME_BYTES_MAX: usize = 1_024;
/// Longest term, in bytes: a name with the label before it, of 64 characters at most, and a colon.
pub const TERM_BYTES_MAX: usize = NAME_BYTES_MAX + 65;
/// Longest content of one memory, in bytes.
pub const CONTENT_BYTES_MAX: usize = 65_536;
/// Most entities one memory may mention.
pub const MENTIONS_MAX: usize = 256;

/// A name that no index can hold or no person can read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} {fault}")]
pub struct NameError {
    what: &'static str,
    fault: String,
}

fn checked(what: &'static str, name: &str) -> Result<String, NameError> {
    let fault = if name.trim().is_empty() {
        "is empty".to_owned()
    } else if name.len() > NAME_BYTES_MAX {
        format!("has {} bytes; at most {NAME_BYTES_MAX} fit an index", name.len())
    } else if let Some(c) = name.chars().find(|c| c.is_control()) {
        format!("contains the control character U+{:04X}", u32::from(c))
    } else {
        return Ok(name.to_owned());
    };
    Err(NameError { what, fault })
}

macro_rules! name {
    ($type:ident, $what:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $type(String);

        impl $type {
            /// Checks a name: not blank, at most [`NAME_BYTES_MAX`] bytes, no control characters.
            pub fn new(name: &str) -> Result<Self, NameError> {
                checked($what, name).map(Self)
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $type {
            type Error = NameError;
            fn try_from(name: String) -> Result<Self, NameError> {
                Self::new(&name)
            }
        }

        impl From<$type> for String {
            fn from(name: $type) -> Self {
                name.0
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

name!(MemoryId, "the id of a memory", "The id of a memory, unique in its scope.");
name!(SessionId, "the id of a session", "The id of a session, unique in its scope.");
name!(InstanceId, "the instance of an agent", "Which instance of an agent did it.");
name!(EntityName, "the name of an entity", "The name of an entity, unique in its scope.");
name!(
    RelationType,
    "the type of a relation",
    "What a relation says of its two ends: data, never a type of the graph."
);
name!(
    FactRelation,
    "the relation of a fact",
    "What a fact says of its entity, such as `memory:context`: data, too."
);
name!(Source, "the source of a fact", "Who says it.");
name!(PolicyId, "the id of a policy", "The name of a decay policy, unique among those in force.");
name!(
    PlaceId,
    "the id of a place",
    "The id of a place of the palace, unique among those of its label in a scope; an entity's is its name."
);
name!(
    RecallId,
    "the id of a recall",
    "The id of an answer of recall: a name for logs, under which nothing is kept."
);
name!(Scope, "a scope", "Whose data it is. Nothing crosses scopes.");

/// What somebody looks for: an id as an answer gave it, a label, a type. It may be anything that other writers called
/// things, so it is looked at for its length only, and is compared, never written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Term(String);

impl Term {
    /// The term as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Term {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        if text.len() > TERM_BYTES_MAX {
            let fault = format!("has {} bytes; it has {TERM_BYTES_MAX} at most", text.len());
            return Err(NameError { what: "a term", fault });
        }
        Ok(Self(text))
    }
}

impl From<Term> for String {
    fn from(term: Term) -> Self {
        term.0
    }
}

impl Scope {
    /// The scope of whatever names none.
    #[must_use]
    pub fn local() -> Self {
        Self("local".to_owned())
    }
}

/// The one way to name a memory: its scope and its id there.
///
/// Ids repeat over scopes, so a statement that took an id alone could read or write what belongs to somebody else. Made from
/// checked parts, or from a row of the graph as it stands there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub struct MemoryKey {
    scope: String,
    id: String,
}

impl MemoryKey {
    /// Before all others, where they are walked through.
    pub const FIRST: Self = Self { scope: String::new(), id: String::new() };

    /// The memory of that id in that scope.
    #[must_use]
    pub fn new(scope: &Scope, id: &MemoryId) -> Self {
        Self::of_row(scope.as_str(), id.as_str())
    }

    /// The memory whose row carries these values, whatever characters they have.
    #[must_use]
    pub fn of_row(scope: &str, id: &str) -> Self {
        Self { scope: scope.to_owned(), id: id.to_owned() }
    }

    /// Its scope.
    #[must_use]
    pub fn scope(&self) -> &str {
        &self.scope
    }

    /// Its id in that scope.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }
}

/// The id alone: what a caller who named the scope is told.
impl std::fmt::Display for MemoryKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.id)
    }
}

/// What can happen once in a scope: the promotion of `memory` into `to`.
#[must_use]
pub fn promotion_key(memory: &MemoryKey, to: Tier) -> String {
    format!("{memory}->{to}")
}

/// The id of the stub that the promotion of that key leaves behind in its scope.
#[must_use]
pub fn stub_id(promotion_key: &str) -> String {
    Uuid::new_v5(&NAMESPACE, promotion_key.as_bytes()).to_string()
}

/// The id of an event that came without one: it follows from the file and the line, so a repeat is recognised.
#[must_use]
pub fn event_id(file_key: &str, line: u64) -> String {
    Uuid::new_v5(&NAMESPACE, format!("{file_key}#{line}").as_bytes()).to_string()
}

/// The id of what a request makes at a place of it and does not name. It follows from the seed of the request, a v7 uuid, and
/// is of its time and in the order of the places, as ids that sort by time are.
#[must_use]
pub fn made_id(seed: &str, index: u64) -> String {
    let mut bytes = Uuid::new_v5(&NAMESPACE, format!("made/{seed}#{index}").as_bytes()).into_bytes();
    if let Ok(seed) = Uuid::parse_str(seed) {
        bytes[..6].copy_from_slice(&seed.as_bytes()[..6]);
    }
    let [.., high, low] = index.to_be_bytes();
    (bytes[6], bytes[7]) = (0x70 | (high & 0x0F), low);
    Uuid::from_bytes(bytes).to_string()
}

/// The id of the cluster that forms under this key of a scope at that instant: whoever forms it again makes the same.
#[must_use]
pub fn cluster_id(scope: &str, key: &str, formed: Timestamp) -> String {
    let named = format!("cluster/{}/{}:{scope}{key}", formed.millis(), scope.len());
    Uuid::new_v5(&NAMESPACE, named.as_bytes()).to_string()
}

/// What there is once only: the relation of that type between two entities of a scope.
#[must_use]
pub fn relation_key(scope: &str, from: &str, kind: &str, to: &str) -> String {
    // Lengths keep apart what other writers may have named with any character.
    let named = [scope, from, kind, to].map(|name| format!("{}:{name}", name.len())).concat();
    Uuid::new_v5(&NAMESPACE, format!("relation/{named}").as_bytes()).to_string()
}

/// What there is once only: what the relationship of that type between two nodes of a scope has learned, one way.
#[must_use]
pub fn synapse_key(scope: &str, source: &str, relation: &str, target: &str) -> String {
    let named = [scope, source, relation, target].map(|name| format!("{}:{name}", name.len())).concat();
    Uuid::new_v5(&NAMESPACE, format!("synapse/{named}").as_bytes()).to_string()
}

/// What there is once only: the lineage of all that was ever said of one tuple. `value` is a value with its type.
#[must_use]
pub fn lineage_key(scope: &str, entity: &str, relation: &str, value: &str) -> String {
    let named = [scope, entity, relation, value].map(|name| format!("{}:{name}", name.len())).concat();
    Uuid::new_v5(&NAMESPACE, format!("lineage/{named}").as_bytes()).to_string()
}

/// The id of what a sweep says of a lineage at that instant: whoever says the same again names the same fact.
#[must_use]
pub fn decay_id(lineage: &str, at: Timestamp, confidence: Confidence) -> String {
    let said = format!("decay/{lineage}/{}/{:016x}", at.millis(), confidence.value().to_bits());
    Uuid::new_v5(&NAMESPACE, said.as_bytes()).to_string()
}

/// The label and the key that the name of a node spells out, where it begins with one of these labels and a colon.
///
/// A node whose key reads like such a name is always called by its own label too, so a name means one node.
pub fn labelled<'l, 'n>(
    labels: impl IntoIterator<Item = &'l str>,
    name: &'n str,
) -> Option<(&'l str, &'n str)> {
    labels.into_iter().find_map(|label| Some((label, name.strip_prefix(label)?.strip_prefix(':')?)))
}

/// Bytes as lower-case hexadecimal digits, as hashes are kept and shown.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_ids_follow_from_what_they_name() {
        let key = promotion_key(&MemoryKey::of_row("team", "m-1"), Tier::ShortTerm);
        assert_eq!(key, "m-1->shortTerm");
        assert_eq!(stub_id(&key), stub_id("m-1->shortTerm"));
        assert_ne!(stub_id(&key), stub_id("m-1->longTerm"));
        assert_ne!(event_id("f", 1), event_id("f", 2));
        let seed = "01a2094a-55a7-7427-b204-de12c2e52059";
        assert!(made_id(seed, 1) < made_id(seed, 2) && made_id(seed, 255) < made_id(seed, 256));
        assert!(made_id(seed, 7).starts_with("01a2094a-55a7-7007-"), "{}", made_id(seed, 7));
        assert_ne!(made_id(seed, 0), made_id("01a2094a-55a7-7427-b204-de12c2e52050", 0));
        assert_ne!(relation_key("s", "ab", "t", "c"), relation_key("s", "a", "t", "bc"));
        assert_ne!(relation_key("s", "a", "t", "b"), relation_key("s", "b", "t", "a"), "it has a direction");
        assert_ne!(lineage_key("s", "ab", "r", "v"), lineage_key("s", "a", "br", "v"));
        assert_eq!(labelled(["Memory", "Room"], "Room:Memory:a"), Some(("Room", "Memory:a")));
        assert_eq!(labelled(["Memory", "Room"], "Rooms:a"), None);
        let decayed = |at| decay_id("k", Timestamp::from_millis(at).unwrap(), Confidence::ZERO);
        assert_eq!(decayed(1), decayed(1));
        assert_ne!(decayed(1), decayed(2));
    }

    #[test]
    fn unreadable_names_are_refused_with_the_reason() {
        let fault = |s: &str| MemoryId::new(s).unwrap_err().to_string();
        assert_eq!(fault("  "), "the id of a memory is empty");
        assert_eq!(fault("a\u{0}b"), "the id of a memory contains the control character U+0000");
        assert!(fault(&"x".repeat(2000)).contains("has 2000 bytes"));
        assert!(MemoryId::new("`) DETACH DELETE n //").is_ok(), "hostile text is data");
    }
}
