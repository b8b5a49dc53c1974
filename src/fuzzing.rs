//! Entry points of the fuzz targets in `tests/fuzz`, as those of `ebb_core::fuzzing`.

use crate::settings::fuzzing as settings;
use crate::surfaces::{http, mcp};

/// A configuration file in TOML.
pub fn settings_toml(bytes: &[u8]) {
    settings::toml(bytes);
}

/// A configuration file in YAML.
pub fn settings_yaml(bytes: &[u8]) {
    settings::yaml(bytes);
}

/// Variables of the environment.
pub fn settings_variables(bytes: &[u8]) {
    settings::variables(bytes);
}

/// A mapping of a graph of another library.
pub fn mapping(bytes: &[u8]) {
    settings::mapping(bytes);
}

/// A request over HTTP.
pub fn http(bytes: &[u8]) {
    http::fuzzing::read(bytes);
}

/// A call of a tool over MCP.
pub fn tool(bytes: &[u8]) {
    mcp::fuzzing::read(bytes);
}

#[cfg(test)]
mod tests {
    use crate::corpus::replay;

    #[test]
    fn kept_inputs_are_read() {
        replay("http", super::http);
        replay("mapping", super::mapping);
        replay("settings_toml", super::settings_toml);
        replay("settings_variables", super::settings_variables);
        replay("settings_yaml", super::settings_yaml);
        replay("tool", super::tool);
    }
}
