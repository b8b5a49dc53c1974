//! A TCP proxy between a store and the server that hurts a connection at a message of the store's choosing.
//!
//! It passes the server's own traffic unchanged until the n-th client message of a kind; then it closes both sides, with
//! or without a word, falls silent with both open, or dawdles: either before the server has seen the message, or after the
//! server has answered it and before the client hears so, the two worlds of a commit whose outcome is unknown. Or it holds
//! the message, or one that contains a text, so that a test can act in between. It can hand everything on byte by byte, and be silent from the first.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// The tag of a Bolt message.
pub(crate) const RESET: u8 = 0x0f;
/// The tag of a Bolt message.
pub(crate) const RUN: u8 = 0x10;
/// The tag of a Bolt message.
pub(crate) const BEGIN: u8 = 0x11;
/// The tag of a Bolt message.
pub(crate) const COMMIT: u8 = 0x12;
/// The tag of a Bolt message.
pub(crate) const ROLLBACK: u8 = 0x13;
/// The tag of a Bolt message.
pub(crate) const PULL: u8 = 0x3f;

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

/// What is done to the connection then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProxyFault {
    /// It is closed as a program that ends closes it.
    Fin,
    /// It is torn down.
    Rst,
    /// It stays open and nothing passes any more.
    Silent,
    /// Nothing but time is lost.
    Delay(Duration),
}

#[derive(Debug, Default)]
struct Plan {
    next: Mutex<Option<(Cut, ProxyFault, u8, usize)>>,
    /// The next message that contains it is held.
    text: Mutex<Option<String>>,
    cuts: AtomicUsize,
    held: Notify,
    go: Notify,
    bytewise: AtomicBool,
    /// How many bytes of the server's side a new connection sees before it falls silent.
    muted_after: Mutex<Option<usize>>,
    seen: Mutex<BTreeMap<u8, usize>>,
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
                    // No server is a connection that ends at once.
                    let Ok(server) = TcpStream::connect(server).await else { return };
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
        self.hurt(cut, ProxyFault::Fin, tag, nth);
    }

    /// Plans one fault of that kind, as [`Proxy::cut`].
    pub(crate) fn hurt(&self, cut: Cut, how: ProxyFault, tag: u8, nth: usize) {
        *self.plan.next.lock().unwrap() = Some((cut, how, tag, nth));
    }

    /// Holds the next message that contains a text, with its connection.
    pub(crate) fn hold(&self, text: &str) {
        *self.plan.text.lock().unwrap() = Some(text.to_owned());
    }

    /// From now on hands on every byte by itself, in both directions.
    pub(crate) fn slice(&self) {
        self.plan.bytewise.store(true, Ordering::SeqCst);
    }

    /// New connections see so many bytes of the server and then nothing, with the socket open; `None` ends that.
    pub(crate) fn mute_after(&self, bytes: Option<usize>) {
        *self.plan.muted_after.lock().unwrap() = bytes;
    }

    /// How many messages of that tag clients have sent so far.
    pub(crate) fn seen(&self, tag: u8) -> usize {
        self.plan.seen.lock().unwrap().get(&tag).copied().unwrap_or(0)
    }

    /// How many connections were hurt or held so far.
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
fn judge(plan: &Plan, tag: u8, message: &[u8]) -> Option<(Cut, ProxyFault)> {
    *plan.seen.lock().unwrap().entry(tag).or_default() += 1;
    let contains = |text: &String| message.windows(text.len()).any(|part| part == text.as_bytes());
    if plan.text.lock().unwrap().take_if(|text| contains(text)).is_some() {
        plan.cuts.fetch_add(1, Ordering::SeqCst);
        return Some((Cut::Hold, ProxyFault::Silent));
    }
    let mut next = plan.next.lock().unwrap();
    let (cut, how, wanted, nth) = (*next)?;
    if wanted != tag {
        return None;
    }
    *next = (nth > 1).then(|| (cut, how, wanted, nth - 1));
    if next.is_some() {
        return None;
    }
    plan.cuts.fetch_add(1, Ordering::SeqCst);
    Some((cut, how))
}

/// Does it to a connection. What comes back is whether it lives on.
async fn inflict(how: ProxyFault, client: &TcpStream) -> std::io::Result<bool> {
    match how {
        ProxyFault::Fin => Ok(false),
        ProxyFault::Rst => client.set_zero_linger().map(|()| false),
        ProxyFault::Silent => std::future::pending().await,
        ProxyFault::Delay(time) => {
            tokio::time::sleep(time).await;
            Ok(true)
        }
    }
}

async fn send(plan: &Plan, to: &mut (impl AsyncWriteExt + Unpin), bytes: &[u8]) -> std::io::Result<()> {
    if !plan.bytewise.load(Ordering::SeqCst) {
        return to.write_all(bytes).await;
    }
    for byte in bytes.chunks(1) {
        to.write_all(byte).await?;
        to.flush().await?;
        // Whoever reads is let to read it by itself.
        tokio::task::yield_now().await;
    }
    Ok(())
}

async fn pass(client: TcpStream, server: TcpStream, plan: &Plan) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let mut muted = *plan.muted_after.lock().unwrap();
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    // The handshake: four bytes of magic, four versions.
    let mut hello = [0; 20];
    from_client.read_exact(&mut hello).await?;
    send(plan, &mut to_server, &hello).await?;
    let mut bytes = vec![0; 65_536];
    let mut pending: Vec<u8> = Vec::new();
    let mut swallow = None;
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
                    match tag.and_then(|tag| judge(plan, tag, &pending[..length])) {
                        Some((Cut::Before, how)) if !inflict(how, from_client.as_ref()).await? => return Ok(()),
                        Some((Cut::Before, _)) => {}
                        Some((Cut::After, how)) => swallow = Some(how),
                        Some((Cut::Hold, _)) => {
                            plan.held.notify_one();
                            plan.go.notified().await;
                        }
                        None => {}
                    }
                    send(plan, &mut to_server, &pending[..length]).await?;
                    pending.drain(..length);
                }
            }
            read = from_server.read(&mut reply) => {
                let read = read?;
                if read == 0 {
                    return Ok(());
                }
                if let Some(how) = swallow.take()
                    && !inflict(how, from_client.as_ref()).await?
                {
                    return Ok(());
                }
                let heard = muted.map_or(read, |left| left.min(read));
                send(plan, &mut to_client, &reply[..heard]).await?;
                muted = muted.map(|left| left - heard);
                if heard < read || muted == Some(0) {
                    std::future::pending::<()>().await;
                }
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
