//! A TCP proxy between a store and the server that cuts a connection at a message of the store's choosing.
//!
//! It passes the server's own traffic unchanged until the n-th client message of a kind; then it closes both sides,
//! either before the server has seen the message or after the server has answered it and before the client hears so: the
//! two worlds of a commit whose outcome is unknown. Or it holds the message, so that a test can act in between.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// The tag of a Bolt message.
pub(crate) const COMMIT: u8 = 0x12;
/// The tag of a Bolt message.
pub(crate) const RUN: u8 = 0x10;

/// Which world the client is left in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The server never saw the message.
    Before,
    /// The server has answered it, and the answer is lost.
    After,
    /// Nothing is lost: the message waits at the proxy until it is let go.
    Hold,
}

#[derive(Debug, Default)]
struct Plan {
    next: Mutex<Option<(Cut, u8, usize)>>,
    cuts: AtomicUsize,
    held: Notify,
    go: Notify,
}

/// A running proxy; it ends when it is dropped.
pub(crate) struct Proxy {
    address: SocketAddr,
    plan: Arc<Plan>,
    _tasks: JoinSet<()>,
}

impl Proxy {
    /// Listens on a port of its own in front of `bolt://host:port`.
    pub(crate) async fn before(uri: &str) -> Self {
        let server = uri.split("//").nth(1).unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let plan = Arc::new(Plan::default());
        let mut tasks = JoinSet::new();
        let shared = Arc::clone(&plan);
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let (server, plan) = (server.clone(), Arc::clone(&shared));
                connections.spawn(async move {
                    let server = TcpStream::connect(server).await.unwrap();
                    // Either side ending ends the connection.
                    let _ = pass(client, server, &plan).await;
                });
            }
        });
        Self { address, plan, _tasks: tasks }
    }

    /// Where a store is to connect.
    pub(crate) fn uri(&self) -> String {
        format!("bolt://{}", self.address)
    }

    /// Plans one cut, at the `nth` message of that tag from now on, counted from 1.
    pub(crate) fn cut(&self, cut: Cut, tag: u8, nth: usize) {
        *self.plan.next.lock().unwrap() = Some((cut, tag, nth));
    }

    /// How many connections were cut or held so far.
    pub(crate) fn cuts(&self) -> usize {
        self.plan.cuts.load(Ordering::SeqCst)
    }

    /// Waits until a message is held.
    pub(crate) async fn held(&self) {
        self.plan.held.notified().await;
    }

    /// Lets the held message go.
    pub(crate) fn go(&self) {
        self.plan.go.notify_one();
    }
}

/// Says what a client message calls for, and counts it.
fn judge(plan: &Plan, tag: u8) -> Option<Cut> {
    let mut next = plan.next.lock().unwrap();
    let (cut, wanted, nth) = (*next)?;
    if wanted != tag {
        return None;
    }
    *next = (nth > 1).then(|| (cut, wanted, nth - 1));
    if next.is_some() {
        return None;
    }
    plan.cuts.fetch_add(1, Ordering::SeqCst);
    Some(cut)
}

async fn pass(client: TcpStream, server: TcpStream, plan: &Plan) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    // The handshake: four bytes of magic, four versions.
    let mut hello = [0; 20];
    from_client.read_exact(&mut hello).await?;
    to_server.write_all(&hello).await?;
    let mut bytes = vec![0; 65_536];
    let mut pending: Vec<u8> = Vec::new();
    let mut swallow = false;
    let mut reply = vec![0; 65_536];
    loop {
        tokio::select! {
            read = from_client.read(&mut bytes) => {
                let read = read?;
                if read == 0 {
                    return Ok(());
                }
                pending.extend_from_slice(&bytes[..read]);
                while let Some((length, tag)) = message(&pending) {
                    match tag.and_then(|tag| judge(plan, tag)) {
                        Some(Cut::Before) => return Ok(()),
                        Some(Cut::After) => swallow = true,
                        Some(Cut::Hold) => {
                            plan.held.notify_one();
                            plan.go.notified().await;
                        }
                        None => {}
                    }
                    to_server.write_all(&pending[..length]).await?;
                    pending.drain(..length);
                }
            }
            read = from_server.read(&mut reply) => {
                let read = read?;
                if read == 0 || swallow {
                    return Ok(());
                }
                to_client.write_all(&reply[..read]).await?;
            }
        }
    }
}

/// The length of the first whole message and its tag; a message is chunks that end with an empty one.
fn message(bytes: &[u8]) -> Option<(usize, Option<u8>)> {
    let mut at = 0;
    let mut tag = None;
    loop {
        let head = bytes.get(at..at + 2)?;
        let length = usize::from(u16::from_be_bytes([head[0], head[1]]));
        at += 2;
        if length == 0 {
            return Some((at, tag));
        }
        let chunk = bytes.get(at..at + length)?;
        // The first byte says how many fields, the second which message.
        tag = tag.or_else(|| chunk.get(1).copied());
        at += length;
    }
}
