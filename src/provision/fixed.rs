//! Settings that a managed server has from its start to its end, and how those of a later program differ: they apply to
//! the next server, which the later program says.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::home::Record;
use super::{Config, Way};

/// Settings that a server is started with and that its record does not show otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fixed {
    image: String,
    heap_mb: u32,
    pagecache_mb: u32,
    java: Option<PathBuf>,
}

impl Fixed {
    /// Those of a server that is started with this configuration.
    pub(super) fn of(config: &Config) -> Self {
        Self {
            image: config.image.clone(),
            heap_mb: config.heap_mb,
            pagecache_mb: config.pagecache_mb,
            java: config.java.clone(),
        }
    }
}

/// Settings that differ from those of the running server, as `neo4j.heap_mb = 512 (now 1024)`. Ports and way count only
/// where they are stated; `keep` does not count for a server that stays.
pub(super) fn differences(record: &Record, config: &Config) -> Vec<String> {
    let Some(fixed) = &record.fixed else { return Vec::new() };
    let now = Fixed::of(config);
    let seconds = |time: Duration| format!("{}s", time.as_secs_f64());
    let path =
        |java: &Option<PathBuf>| java.as_ref().map_or("unset".to_owned(), |path| path.display().to_string());
    let way = |way: Way| super::Origin::from(way).to_string();
    let is_docker = record.way == Way::Docker;
    let all = [
        ("way", true, way(record.way), way(config.way.unwrap_or(record.way))),
        ("image", is_docker, fixed.image.clone(), now.image),
        ("java", !is_docker, path(&fixed.java), path(&now.java)),
        ("bolt_port", config.bolt_port != 0, record.bolt.to_string(), config.bolt_port.to_string()),
        ("http_port", config.http_port != 0, record.http.to_string(), config.http_port.to_string()),
        ("heap_mb", true, fixed.heap_mb.to_string(), now.heap_mb.to_string()),
        ("pagecache_mb", true, fixed.pagecache_mb.to_string(), now.pagecache_mb.to_string()),
        ("keep", !record.stay, seconds(record.keep), seconds(config.keep)),
    ];
    let differ = all.into_iter().filter(|(_, counts, then, now)| *counts && then != now);
    differ.map(|(key, _, then, now)| format!("neo4j.{key} = {then} (now {now})")).collect()
}
