//! The ports of a managed server. A configured port is that port or an error; otherwise the default port, or a free one
//! if that is taken, which is logged.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};

use serde::{Deserialize, Serialize};

use super::Config;
use super::error::{Error, io};

/// The two ports of a server on 127.0.0.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ports {
    /// Bolt.
    pub(super) bolt: u16,
    /// HTTP and Neo4j Browser.
    pub(super) http: u16,
}

/// Chooses the ports of the next start. `before` are those of a server that ended uncleanly: used again if they are
/// free and none are configured, so that its clients can reconnect.
pub(super) fn choose(config: &Config, before: Option<Ports>) -> Result<Ports, Error> {
    let bolt = listener("bolt_port", config.bolt_port, before.map(|ports| ports.bolt), 7687)?;
    // The first one is still bound while the second is chosen, so they differ.
    let http = listener("http_port", config.http_port, before.map(|ports| ports.http), 7474)?;
    let port = |listener: &TcpListener| listener.local_addr().map(|address| address.port());
    let read = || Ok(Ports { bolt: port(&bolt)?, http: port(&http)? });
    read().map_err(io("cannot choose a port"))
}

fn listener(key: &'static str, stated: u16, before: Option<u16>, usual: u16) -> Result<TcpListener, Error> {
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    if stated != 0 {
        return bind(stated).map_err(|e| match e.kind() {
            ErrorKind::AddrInUse => Error::PortTaken { key, port: stated },
            _ => io(format!("cannot listen on port {stated} (neo4j.{key})"))(e),
        });
    }
    if let Some(listener) = before.and_then(|port| bind(port).ok()) {
        return Ok(listener);
    }
    if let Ok(listener) = bind(usual) {
        return Ok(listener);
    }
    let listener = bind(0).map_err(io("cannot find a free port"))?;
    if let Ok(address) = listener.local_addr() {
        tracing::info!("port {usual} is taken; using {} for neo4j.{key}", address.port());
    }
    Ok(listener)
}
