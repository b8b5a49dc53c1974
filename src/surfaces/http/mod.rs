//! HTTP: an accept loop of our own, under limits.
//!
//! A client that dribbles its request line must not be waited for, and one that opens connections without end must not
//! take all there are: the head of a request has five seconds, and connections beyond the limit wait in the system's
//! queue. HTTP/1.1 alone, loopback by default.

pub mod probes;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

/// Connections at most at one time.
const CONNECTIONS_MAX: usize = 64;
/// How long the head of a request may take, and a connection may idle.
const HEAD_LIMIT: Duration = Duration::from_secs(5);
/// Headers of a request at most.
const HEADERS_MAX: usize = 64;
/// Bytes of a request's head at most.
const HEAD_MAX: usize = 16 * 1024;
/// How long to wait when no connection can be accepted, as when descriptors have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How many ports are tried after the usual one.
const PORTS: u16 = 100;

/// A port that is listened on.
pub struct Listener {
    listener: TcpListener,
    /// Its address.
    pub address: SocketAddr,
}

impl Listener {
    /// Listens on an address that somebody stated, which must be free; else on the usual port of this machine, or the
    /// next one that is free.
    ///
    /// # Errors
    /// When a stated address, or a whole range of ports, is taken or may not be used.
    pub async fn bind(stated: Option<SocketAddr>, usual: u16) -> io::Result<Self> {
        let ports = match stated {
            Some(address) => vec![address],
            None => {
                (usual..usual.saturating_add(PORTS)).map(|port| (Ipv4Addr::LOCALHOST, port).into()).collect()
            }
        };
        let mut last = io::Error::from(io::ErrorKind::AddrInUse);
        for address in ports {
            match TcpListener::bind(address).await {
                Ok(listener) => return Ok(Self { address: listener.local_addr()?, listener }),
                Err(why) => last = why,
            }
        }
        Err(last)
    }

    /// Serves until it is told to stop; answers that are under way are then cut off.
    pub async fn serve(self, router: Router, stop: CancellationToken) {
        let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let mut connections = JoinSet::new();
        loop {
            while connections.try_join_next().is_some() {}
            let accepted = async {
                // Never closed, so there is always one to wait for.
                let permit = Arc::clone(&permits).acquire_owned().await.ok();
                (permit, self.listener.accept().await)
            };
            let (permit, accepted) = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                accepted = accepted => accepted,
            };
            match accepted {
                Ok((stream, _)) => {
                    let router = router.clone();
                    connections.spawn(async move {
                        let _permit = permit;
                        connection(stream, router).await;
                    });
                }
                Err(why) => {
                    warn!(%why, "no connection can be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

async fn connection(stream: TcpStream, router: Router) {
    let served = hyper::server::conn::http1::Builder::new()
        // Without a timer the time-out of the head is inert.
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_LIMIT)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEAD_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .await;
    if let Err(why) = served {
        debug!(%why, "a connection ended");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_usual_port_that_is_taken_moves_on_and_a_stated_one_fails() {
        let first = Listener::bind(None, 41_900).await.unwrap();
        let second = Listener::bind(None, first.address.port()).await.unwrap();
        assert!(second.address.port() > first.address.port() && second.address.ip().is_loopback());
        let taken = Listener::bind(Some(first.address), 41_900).await;
        assert_eq!(taken.err().map(|why| why.kind()), Some(io::ErrorKind::AddrInUse));
    }
}
