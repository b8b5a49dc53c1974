//! The section `[facts]`.

use serde::Deserialize;

/// How closely confidence follows the policies. Every field is described in `config/default.toml`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[expect(missing_docs, reason = "each is documented where it is set, in config/default.toml")]
pub struct Config {
    pub epsilon: f64,
}
