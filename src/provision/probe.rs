//! Readiness: the server answers the Bolt handshake and its own log says that it has started.
//!
//! In the handshake the client sends four magic bytes and four proposed versions, and gets four bytes back. An open
//! port is not sufficient: Docker opens its own end of it before the server. The log is needed because another server
//! may have taken the port in the meantime; it would answer as well, while ours is about to fail on it. Authentication
//! is left to the store.

use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use super::error::Error;
use super::home::Home;
use super::lock::POLL;
use super::log;

/// The magic bytes of Bolt, then the proposed versions: 5.0 to 5.8, 4.2 to 4.4, and two empty entries.
const HELLO: [u8; 20] = [0x60, 0x60, 0xB0, 0x17, 0, 8, 8, 5, 0, 2, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0];
/// Time limit of an answer on loopback.
const ANSWER: Duration = Duration::from_secs(2);

/// Whether a Bolt server with a supported version answers on this port of the loopback.
pub(super) async fn answers(port: u16) -> bool {
    let talk = async {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        stream.write_all(&HELLO).await?;
        let mut reply = [0; 4];
        stream.read_exact(&mut reply).await?;
        Ok::<_, std::io::Error>(reply)
    };
    matches!(timeout(ANSWER, talk).await, Ok(Ok([0, _, _, 4 | 5])))
}

/// Waits until the server of this home answers. The time limit excludes the replay of its log, which takes as long as
/// it takes and is logged; `alive` tells whether the server process still exists.
pub(super) async fn wait(
    home: &Home,
    port: u16,
    log_from: u64,
    limit: Duration,
    mut alive: impl FnMut() -> bool,
) -> Result<(), Error> {
    let mut deadline = Instant::now() + limit;
    let mut say = Instant::now();
    loop {
        // Read before the handshake: an answer counts only from a server that was alive when it came.
        let lives = alive();
        if lives && log::started(home) && answers(port).await {
            return Ok(());
        }
        if !lives {
            return Err(log::cause(home));
        }
        if Instant::now() >= say + Duration::from_secs(5) && log::recovering(home, log_from) {
            tracing::info!("Neo4j is replaying its transaction log after an unclean stop; waiting for it");
            say = Instant::now();
            deadline = deadline.max(say + Duration::from_secs(10));
        }
        if Instant::now() >= deadline {
            let log = home.join(log::SERVER_LOG);
            return Err(Error::NotReady {
                home: home.path().to_path_buf(),
                port,
                seconds: limit.as_secs(),
                log,
            });
        }
        tokio::time::sleep(POLL).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_open_port_is_not_a_server() {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let http = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        };
        let (answer, ()) = tokio::join!(answers(port), http);
        assert!(!answer);
        drop(listener);
        assert!(!answers(port).await);
    }
}
