//! The listening port and its limits on connections: HTTP/1.1 only, loopback by default.
//!
//! A client that sends its request slowly or opens many connections must not block others: the head of a request has a
//! timeout of five seconds, one address has a maximum number of connections, and connections beyond the limit wait in
//! the system's queue. A client that does not read its response is disconnected (see `min_rate`).

use super::min_rate::MinRate;
use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

/// Maximum number of concurrent connections.
const CONNECTIONS_MAX: usize = 1_024;
/// Maximum of these from one address, except behind a proxy, and except for loopback, which all local clients share.
const OF_ONE_MAX: usize = 64;
/// Timeout of the head of a request, and of an idle connection.
const HEAD_LIMIT: Duration = Duration::from_secs(5);
/// Maximum number of headers.
const HEADERS_MAX: usize = 64;
/// Maximum bytes of a request's head.
const HEAD_MAX: usize = 16 * 1024;
/// Pause when no connection can be accepted, such as without free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Number of ports to try, from the default one.
const PORTS: u16 = 100;
/// How long a shutdown waits for answers that are being sent.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);

/// A listening port.
pub struct Listener {
    listener: TcpListener,
    /// Address of the port.
    pub address: SocketAddr,
    behind_proxy: bool,
    cut: Arc<AtomicU64>,
}

/// Number of connections of each address.
#[derive(Default)]
struct Peers(Mutex<BTreeMap<IpAddr, usize>>);

/// Permit for a connection of an address, released when dropped.
struct PeerPermit {
    peers: Arc<Peers>,
    of: IpAddr,
}

impl Listener {
    /// Listens on a stated address, which must be free; otherwise on the default loopback port, or the next free one.
    ///
    /// # Errors
    /// If the stated address, or the whole range of ports, is taken or not permitted.
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
                Ok(listener) => {
                    let (address, cut) = (listener.local_addr()?, Arc::default());
                    return Ok(Self { address, listener, behind_proxy: false, cut });
                }
                Err(why) => last = why,
            }
        }
        Err(last)
    }

    /// Sets whether all connections come from a proxy, so that the limit for one address does not apply.
    #[must_use]
    pub fn behind_proxy(self, behind_proxy: bool) -> Self {
        Self { behind_proxy, ..self }
    }

    /// Counter of connections closed because their clients did not read.
    #[must_use]
    pub fn cut(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.cut)
    }

    /// Serves until `stop`. Answers being sent then have half a second; remaining connections are closed.
    pub async fn serve(self, router: Router, stop: CancellationToken) {
        let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let peers = Arc::<Peers>::default();
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
                () = stop.cancelled() => break,
                accepted = accepted => accepted,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let shared = self.behind_proxy || peer.ip().is_loopback();
                    let place = if shared { None } else { Some(Peers::permit(&peers, peer.ip())) };
                    if place.as_ref().is_some_and(Option::is_none) {
                        debug!(%peer, "refused a connection: its address has the maximum number");
                        continue;
                    }
                    let (router, stop) = (router.clone(), stop.clone());
                    let stream = MinRate::new(stream, Arc::clone(&self.cut));
                    connections.spawn(async move {
                        let _held = (permit, place);
                        connection(stream, router, stop).await;
                    });
                }
                Err(why) => {
                    warn!(%why, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        let answered = async { while connections.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, answered).await;
    }
}

impl Peers {
    /// A permit for one more connection of an address, unless it has the maximum.
    fn permit(peers: &Arc<Self>, of: IpAddr) -> Option<PeerPermit> {
        let mut counts = peers.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(of).or_default();
        if *count >= OF_ONE_MAX {
            return None;
        }
        *count += 1;
        Some(PeerPermit { peers: Arc::clone(peers), of })
    }
}

impl Drop for PeerPermit {
    fn drop(&mut self) {
        let mut counts = self.peers.0.lock().unwrap_or_else(PoisonError::into_inner);
        match counts.get_mut(&self.of) {
            Some(count) if *count > 1 => *count -= 1,
            _ => {
                counts.remove(&self.of);
            }
        }
    }
}

async fn connection(stream: MinRate<TcpStream>, router: Router, stop: CancellationToken) {
    let served = hyper::server::conn::http1::Builder::new()
        // Without a timer, the timeout of the head has no effect.
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_LIMIT)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEAD_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut served = std::pin::pin!(served);
    let ended = tokio::select! {
        biased;
        ended = &mut served => ended,
        () = stop.cancelled() => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(why) = ended {
        debug!(%why, "a connection ended");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_taken_default_port_moves_on_and_a_taken_stated_one_fails() {
        let first = Listener::bind(None, 41_900).await.unwrap();
        let second = Listener::bind(None, first.address.port()).await.unwrap();
        assert!(second.address.port() > first.address.port() && second.address.ip().is_loopback());
        let taken = Listener::bind(Some(first.address), 41_900).await;
        assert_eq!(taken.err().map(|why| why.kind()), Some(io::ErrorKind::AddrInUse));
    }

    #[test]
    fn one_address_has_a_maximum_and_closed_connections_do_not_count() {
        let peers = Arc::<Peers>::default();
        let one = IpAddr::from([10, 0, 0, 1]);
        let mut held: Vec<_> = (0..OF_ONE_MAX).map(|_| Peers::permit(&peers, one).unwrap()).collect();
        assert!(Peers::permit(&peers, one).is_none());
        assert!(
            Peers::permit(&peers, IpAddr::from([10, 0, 0, 2])).is_some(),
            "another address has its own maximum"
        );
        held.pop();
        assert!(Peers::permit(&peers, one).is_some());
        held.clear();
        assert!(peers.0.lock().unwrap().is_empty());
    }
}
