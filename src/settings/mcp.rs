//! The section `[mcp]`.

use serde::Deserialize;

/// What agents may do through MCP. Every field is described in `config/default.toml`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[expect(missing_docs, reason = "each is documented where it is set, in config/default.toml")]
pub struct Config {
    pub allow_writes: bool,
}
