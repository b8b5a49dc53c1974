//! The list `[[adopt]]`: the graphs of other libraries that Ebb reads, each by a preset or by a mapping of the user's.
//!
//! A preset is a file below `config/adopt/`, embedded, and a mapping of the user's is a file of the same form.

use ebb_core::domain::ids::Scope;
use ebb_core::domain::mapping::{Draft, Mapping, ScopeMapping};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A mapping that Ebb brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are those of the libraries")]
pub enum Preset {
    Graphiti,
    Neo4jAgentMemory,
    Mem0,
    Memos,
    McpNeo4jMemory,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 5] =
        [Self::Graphiti, Self::Neo4jAgentMemory, Self::Mem0, Self::Memos, Self::McpNeo4jMemory];

    /// Its name in a configuration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Graphiti => "graphiti",
            Self::Neo4jAgentMemory => "neo4j-agent-memory",
            Self::Mem0 => "mem0",
            Self::Memos => "memos",
            Self::McpNeo4jMemory => "mcp-neo4j-memory",
        }
    }

    /// Its file.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Graphiti => include_str!("../../config/adopt/graphiti.toml"),
            Self::Neo4jAgentMemory => include_str!("../../config/adopt/neo4j-agent-memory.toml"),
            Self::Mem0 => include_str!("../../config/adopt/mem0.toml"),
            Self::Memos => include_str!("../../config/adopt/memos.toml"),
            Self::McpNeo4jMemory => include_str!("../../config/adopt/mcp-neo4j-memory.toml"),
        }
    }

    /// Its mapping.
    ///
    /// # Errors
    /// None for a file of this program.
    pub fn mapping(self) -> Result<Mapping, String> {
        parse(self.text())
    }
}

/// The mappings of all presets, with their names.
///
/// # Errors
/// None for the files of this program.
pub fn presets() -> Result<Vec<(&'static str, Mapping)>, String> {
    Preset::ALL.into_iter().map(|preset| Ok((preset.name(), preset.mapping()?))).collect()
}

/// A table of the list.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Adopt {
    /// The preset; or a file.
    pub preset: Option<Preset>,
    /// A file with a mapping, relative to the current folder.
    pub file: Option<PathBuf>,
    /// The scope of rows that have none of their own, instead of that of the mapping.
    pub scope: Option<Scope>,
}

impl Adopt {
    /// Reads its mapping.
    ///
    /// # Errors
    /// A file that cannot be read or is no mapping; both a preset and a file, or neither.
    pub fn mapping(&self) -> Result<Mapping, String> {
        let mapping = match (self.preset, &self.file) {
            (Some(preset), None) => preset.mapping()?,
            (None, Some(file)) => {
                let text = std::fs::read_to_string(file);
                let text = text.map_err(|why| format!("{} cannot be read: {why}", file.display()))?;
                parse(&text).map_err(|why| format!("{} is no mapping: {why}", file.display()))?
            }
            _ => return Err("it must have either `preset` or `file`".to_owned()),
        };
        let Some(scope) = self.scope.clone() else { return Ok(mapping) };
        let draft = Draft::clone(&mapping);
        Mapping::new(Draft { scope: ScopeMapping { default: scope, ..draft.scope.clone() }, ..draft })
    }
}

pub(super) fn parse(text: &str) -> Result<Mapping, String> {
    let draft: Draft = toml_edit::de::from_str(text).map_err(|why| why.to_string().trim_end().to_owned())?;
    Mapping::new(draft)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_a_mapping_and_is_named_by_its_file() {
        for preset in Preset::ALL {
            let mapping = preset.mapping().unwrap();
            assert!(mapping.releases.contains(' '), "{}", preset.name());
            assert_eq!(serde_json::to_value(preset).unwrap(), preset.name());
        }
    }

    #[test]
    fn a_file_is_a_mapping_or_says_where_it_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mine.toml");
        let adopt =
            Adopt { file: Some(file.clone()), scope: Some(Scope::new("team").unwrap()), ..Adopt::default() };
        assert!(adopt.mapping().unwrap_err().contains("cannot be read"));
        std::fs::write(&file, Preset::Mem0.text()).unwrap();
        assert_eq!(adopt.mapping().unwrap().scope.default.as_str(), "team");
        std::fs::write(&file, Preset::Mem0.text().replace("key = \"name\"", "kye = \"name\"")).unwrap();
        let why = adopt.mapping().unwrap_err();
        assert!(why.contains("unknown field `kye`") && why.contains("line 15"), "{why}");
        assert!(Adopt::default().mapping().unwrap_err().contains("either `preset` or `file`"));
    }
}
