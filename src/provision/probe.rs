//! Ready means: answers the Bolt handshake, and says in its own log that it has started.
//!
//! In the handshake four magic bytes and four proposed versions go out, and four bytes come back. An open port is
//! less: Docker's own end of it is open before the server's. The log is needed because another server may have taken
//! the port in the meantime; it would answer as well, while ours is about to fail on it. Logging in is the store's
//! business.

use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use super::error::Error;
use super::home::Home;
use super::lock::POLL;
use super::log;

/// The magic word of Bolt, then the versions proposed: 5.0 to 5.8, 4.2 to 4.4, and two empty places.
const HELLO: [u8; 20] = [0x60, 0x60, 0xB0, 0x17, 0, 8, 8, 5, 0, 2, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0];
/// How long an answer on loopback may take.
const ANSWER: Duration = Duration::from_secs(2);

/// Whether a Bolt server that speaks one of our versions answers on this port of the loopback.
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

/// Waits until the server of this home answers. The time runs only while the server is not replaying its log,
/// which takes as long as it takes and says so; `alive` tells whether there is still something to wait for.
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
        // Asked before the handshake: an answer counts only from a server that was alive when it came.
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
