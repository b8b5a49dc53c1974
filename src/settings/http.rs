//! The section `[http]`.

use serde::Deserialize;
use std::net::SocketAddr;

/// Where and to whom the API answers. Every field is described in `config/default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "each is documented where it is set, in config/default.toml")]
pub struct Config {
    #[serde(default)]
    pub listen: Option<SocketAddr>,
    pub proxy: bool,
    #[serde(default)]
    pub origins: Option<String>,
    pub rate: u32,
}

impl Config {
    /// The origins, one by one.
    #[must_use]
    pub fn origins(&self) -> Vec<String> {
        let origins = self.origins.as_deref().unwrap_or_default().split(',').map(str::trim);
        origins.filter(|origin| !origin.is_empty()).map(str::to_owned).collect()
    }
}
