//! The section `[similarity]`.

use serde::Deserialize;

/// How memories are compared. Every field is described in `config/default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "each is documented where it is set, in config/default.toml")]
pub struct Config {
    #[serde(default)]
    pub embedding_dimensions: Option<usize>,
    pub text_threshold: f64,
}
