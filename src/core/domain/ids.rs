//! Names and ids: checked on input, derived where a repeat must give the same id.
//!
//! The stub of a promotion has the v5 uuid of its promotion key, and an event without an id that of its file and line:
//! a repeat names the same node, so a uniqueness constraint can reject it.

use super::tier::Tier;
use super::units::{Confidence, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The namespace of every v5 uuid that Ebb derives.
const NAMESPACE: Uuid = Uuid::from_u128(0x6562_6200_6d65_6d6f_8000_7279_2d69_6473);

/// Longest name, in bytes: well within the limit of an index key of the server.
pub const NAME_BYTES_MAX: usize = 1_024;
/// Longest term, in bytes: a name with a prefix of a label, at most 64 characters, and a colon.
pub const TERM_BYTES_MAX: usize = NAME_BYTES_MAX + 65;
/// Longest content of one memory, in bytes.
pub const CONTENT_BYTES_MAX: usize = 65_536;
/// Most entities one memory may mention.
pub const MENTIONS_MAX: usize = 256;

/// A name that does not fit an index or is unreadable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} {fault}")]
pub struct NameError {
    what: &'static str,
    fault: String,
}

/// A name as a word of a command to be pasted into a shell, which acts on nothing in it.
#[must_use]
pub fn shell_word(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@".contains(c);
    if !name.is_empty() && name.chars().all(is_plain) {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', r"'\''"))
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
name!(InstanceId, "the instance of an agent", "The agent instance that acted.");
name!(EntityName, "the name of an entity", "The name of an entity, unique in its scope.");
name!(
    RelationType,
    "the type of a relation",
    "The meaning of a relation between its two ends: data, never a type of the graph."
);
name!(
    FactRelation,
    "the relation of a fact",
    "The attribute of the entity that a fact states, such as `memory:context`: data, never a type of the graph."
);
name!(Source, "the source of a fact", "The origin of a fact.");
name!(PolicyId, "the id of a policy", "The name of a decay policy, unique among those in force.");
name!(
    PlaceId,
    "the id of a place",
    "The id of a place of the palace, unique among those of its label in a scope; an entity's is its name."
);
name!(RecallId, "the id of a recall", "The id of a recall response, for logs; nothing is stored under it.");
name!(KeyName, "the name of a key", "The name of an API key, by which people know it.");
name!(Scope, "a scope", "The scope of the data. Nothing crosses scopes.");

/// A search term: an id from a response, a label or a type. Other writers may have used any text, so only its length is
/// checked; it is compared, never written.
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
            let fault = format!("has {} bytes; at most {TERM_BYTES_MAX} are allowed", text.len());
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
    /// The default scope.
    #[must_use]
    pub fn local() -> Self {
        Self("local".to_owned())
    }
}

/// The key of a memory: its scope and its id there.
///
/// Ids repeat over scopes, so a statement that took an id alone could access another scope's memory. Built from checked
/// parts, or from a row as stored.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub struct MemoryKey {
    scope: String,
    id: String,
}

impl MemoryKey {
    /// Before all others: the start of a scan.
    pub const FIRST: Self = Self { scope: String::new(), id: String::new() };

    /// The memory with this id in this scope.
    #[must_use]
    pub fn new(scope: &Scope, id: &MemoryId) -> Self {
        Self::of_row(scope.as_str(), id.as_str())
    }

    /// The memory of a stored row, without checks of the values.
    #[must_use]
    pub fn of_row(scope: &str, id: &str) -> Self {
        Self { scope: scope.to_owned(), id: id.to_owned() }
    }

    /// Scope of the memory.
    #[must_use]
    pub fn scope(&self) -> &str {
        &self.scope
    }

    /// Id within its scope.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }
}

/// The id alone, for a caller that named the scope.
impl std::fmt::Display for MemoryKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.id)
    }
}

/// Unique key of the promotion of `memory` into `to` in its scope.
#[must_use]
pub fn promotion_key(memory: &MemoryKey, to: Tier) -> String {
    format!("{memory}->{to}")
}

/// The id of the stub that the promotion of that key creates in its scope.
#[must_use]
pub fn stub_id(promotion_key: &str) -> String {
    Uuid::new_v5(&NAMESPACE, promotion_key.as_bytes()).to_string()
}

/// The id of an event without one: derived from its file and line, so that a repeat is recognised.
#[must_use]
pub fn event_id(file_key: &str, line: u64) -> String {
    Uuid::new_v5(&NAMESPACE, format!("{file_key}#{line}").as_bytes()).to_string()
}

/// The id of an unnamed item of a request. Derived from the seed of the request, a v7 uuid, with its time and the order
/// of the items, so that ids that sort by time do so.
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

/// The id of the cluster that forms under this key of a scope at that instant: the same for every process.
#[must_use]
pub fn cluster_id(scope: &str, key: &str, formed: Timestamp) -> String {
    let named = format!("cluster/{}/{}:{scope}{key}", formed.millis(), scope.len());
    Uuid::new_v5(&NAMESPACE, named.as_bytes()).to_string()
}

/// Unique key of the relation of that type between two entities of a scope.
#[must_use]
pub fn relation_key(scope: &str, from: &str, kind: &str, to: &str) -> String {
    // Lengths delimit the parts, since names of other writers may contain any character.
    let named = [scope, from, kind, to].map(|name| format!("{}:{name}", name.len())).concat();
    Uuid::new_v5(&NAMESPACE, format!("relation/{named}").as_bytes()).to_string()
}

/// Unique key of the learned weight of the relationship of that type between two nodes of a scope, in one direction.
#[must_use]
pub fn synapse_key(scope: &str, source: &str, relation: &str, target: &str) -> String {
    let named = [scope, source, relation, target].map(|name| format!("{}:{name}", name.len())).concat();
    Uuid::new_v5(&NAMESPACE, format!("synapse/{named}").as_bytes()).to_string()
}

/// Unique key of the lineage of one tuple. `value` is a value with its type.
#[must_use]
pub fn lineage_key(scope: &str, entity: &str, relation: &str, value: &str) -> String {
    let named = [scope, entity, relation, value].map(|name| format!("{}:{name}", name.len())).concat();
    Uuid::new_v5(&NAMESPACE, format!("lineage/{named}").as_bytes()).to_string()
}

/// The id of the fact that a sweep derives in a lineage at that instant: the same in a repeat. A late assertion can become the
/// head after a sweep, and be derived from at the same instant; its origin is another.
#[must_use]
pub fn decay_id(lineage: &str, origin: Timestamp, at: Timestamp, confidence: Confidence) -> String {
    let [origin, at] = [origin, at].map(Timestamp::millis);
    let said = format!("decay/{lineage}/{origin}/{at}/{:016x}", confidence.value().to_bits());
    Uuid::new_v5(&NAMESPACE, said.as_bytes()).to_string()
}

/// Splits a node name into label and key if it begins with one of these labels and a colon.
///
/// The name of a node with such a key always includes its own label, so a name is unambiguous.
pub fn labelled<'l, 'n>(
    labels: impl IntoIterator<Item = &'l str>,
    name: &'n str,
) -> Option<(&'l str, &'n str)> {
    labels.into_iter().find_map(|label| Some((label, name.strip_prefix(label)?.strip_prefix(':')?)))
}

/// Bytes as lower-case hexadecimal digits, the format of stored hashes.
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
        let ms = |at| Timestamp::from_millis(at).unwrap();
        let decayed = |origin, at| decay_id("k", ms(origin), ms(at), Confidence::ZERO);
        assert_eq!(decayed(1, 3), decayed(1, 3));
        assert_ne!(decayed(1, 3), decayed(1, 4));
        assert_ne!(decayed(1, 3), decayed(2, 3));
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
