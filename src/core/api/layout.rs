//! Layouts of other libraries that are in a database.

use serde::Serialize;

/// The layouts in a database, and what none of them explains.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Detection {
    /// Layouts with nodes.
    pub layouts: Vec<Layout>,
    /// Nodes that neither a layout nor Ebb explains, by label.
    pub unknown: Vec<UnknownLabel>,
    /// The list `[[adopt]]` that reads these layouts, as TOML; empty if there is none.
    pub adopt: String,
    /// Where a count ended before the last row.
    pub notes: Vec<String>,
}

/// State of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LayoutState {
    /// It can be read.
    Known,
    /// It has the labels of a known layout and lacks a property that is needed to read it.
    UnknownVersion,
    /// Some rows have the marks of two layouts.
    Ambiguous,
}

/// A layout in a database.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Layout {
    /// Name of the library.
    pub library: String,
    /// Name of the preset; none for a mapping of the user's.
    pub preset: Option<String>,
    /// Releases of the library that write it.
    pub releases: String,
    /// State.
    pub state: LayoutState,
    /// Whether the configuration reads it.
    pub adopted: bool,
    /// Why it is not in the state `known`.
    pub problems: Vec<String>,
    /// Scopes; none if the layout has no scopes of its own.
    pub groups: Option<Groups>,
    /// Nodes by label.
    pub nodes: Vec<LabelCount>,
    /// Relationships by type.
    pub relationships: Vec<TypeCount>,
    /// Embeddings.
    pub vectors: Vec<Vector>,
}

/// Scopes of a layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Groups {
    /// Property with the scope; of owners, with their label.
    pub property: String,
    /// Distinct scopes, the default one included if rows are in it.
    pub count: usize,
    /// Nodes without a scope, or with an owner without one, which belong to the default one.
    pub unscoped: i64,
    /// The default scope.
    pub default: String,
}

/// Nodes of a label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LabelCount {
    /// Label.
    pub label: String,
    /// Role: `entity`, `memory`, `episode` or `fact`.
    pub role: &'static str,
    /// Number of nodes.
    pub nodes: i64,
}

/// Relationships of a type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TypeCount {
    /// Type; none for all types without a rule of their own.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Role: `fact` or `link`.
    pub role: &'static str,
    /// Number of relationships.
    pub relationships: i64,
}

/// Embeddings in a property.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Vector {
    /// Label or type of their rows.
    pub of: String,
    /// Property.
    pub property: String,
    /// Dimensions of the longest in the sample.
    pub dimensions: i64,
    /// Share of the sample that has one.
    pub share: f64,
}

/// Nodes of a label that nothing explains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnknownLabel {
    /// Label.
    pub label: String,
    /// Number of nodes; none if the label is no plain name, so that it is not counted.
    pub nodes: Option<i64>,
}

impl Layout {
    /// Nodes and relationships of a role.
    #[must_use]
    pub fn of_role(&self, role: &str) -> i64 {
        let nodes = self.nodes.iter().filter(|row| row.role == role).map(|row| row.nodes);
        let facts = self.relationships.iter().filter(|row| row.role == role).map(|row| row.relationships);
        nodes.chain(facts).sum()
    }

    /// Sizes as text: `433 entities, 96 episodes, 2,057 facts, 2 groups`.
    #[must_use]
    pub fn summary(&self) -> String {
        const ROLES: [(&str, &str, &str); 4] = [
            ("entity", "entity", "entities"),
            ("memory", "memory", "memories"),
            ("episode", "episode", "episodes"),
            ("fact", "fact", "facts"),
        ];
        let mut parts: Vec<String> = Vec::new();
        for (role, one, several) in ROLES {
            let rows = self.of_role(role);
            parts.extend((rows > 0).then(|| counted(rows, one, several)));
        }
        let links = self.of_role("link");
        if self.of_role("fact") == 0 && links > 0 {
            parts.push(counted(links, "link", "links"));
        }
        if let Some(groups) = &self.groups {
            parts.push(counted(i64::try_from(groups.count).unwrap_or(i64::MAX), "group", "groups"));
        }
        parts.join(", ")
    }
}

/// A number with its noun: `1 fact`, `2,057 facts`.
#[must_use]
pub fn counted(number: i64, one: &str, several: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { one } else { several })
}

/// A number with commas between thousands.
#[must_use]
pub fn thousands(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let first = digits.len() % 3;
    let mut text = String::from(if number < 0 { "-" } else { "" });
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && at % 3 == first {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_have_commas() {
        let said = [0, 12, 123, 1_234, 12_345, 123_456, 1_234_567, -1_234].map(thousands);
        assert_eq!(said, ["0", "12", "123", "1,234", "12,345", "123,456", "1,234,567", "-1,234"]);
        assert_eq!(counted(1, "entity", "entities"), "1 entity");
    }
}
