//! A server that speaks Bolt 4.4 and answers by a script: for faults that a real one cannot be brought to.
//!
//! It has no data. A statement gets the one row that its script gives it, or none, and nothing that is asserted rests on
//! what the row says. Each message is counted, and the script may answer it, fail it, or close the connection before or
//! after it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

pub(crate) const HELLO: u8 = 0x01;
const GOODBYE: u8 = 0x02;
const RESET: u8 = 0x0f;
const RUN: u8 = 0x10;
const PULL: u8 = 0x3f;

/// What a message is answered with.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// As a server that is content; a statement has no rows.
    Success,
    /// So too, and the statement has this row.
    Row(Vec<(&'static str, Cell)>),
    /// An error with a code and a message.
    Failure(&'static str, &'static str),
    /// Nothing: the connection is closed.
    Close,
    /// Nothing: the connection is closed, and so is the port.
    Vanish,
}

/// A value of a row.
#[derive(Debug, Clone)]
pub(crate) enum Cell {
    Text(Option<String>),
    Number(i64),
    Truth(bool),
}

impl Cell {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(value) => value.as_deref().map_or(vec![0xc0], text),
            Self::Number(value) => [&[0xcb][..], &value.to_be_bytes()].concat(),
            Self::Truth(value) => vec![0xc2 + u8::from(*value)],
        }
    }
}

/// By tag, how many messages came, and the bytes of the last one.
type Seen = BTreeMap<u8, (usize, Vec<u8>)>;

type Script = dyn Fn(u8, usize) -> Answer + Send + Sync;

/// A running server; it ends when it is dropped.
pub(crate) struct FakeBolt {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    _tasks: JoinSet<()>,
}

impl FakeBolt {
    /// Starts one. The script is asked for every message but HELLO, RESET and GOODBYE: its tag, and how many of that tag
    /// there were before it.
    pub(crate) async fn start(script: impl Fn(u8, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(BTreeMap::new()));
        let script: Arc<Script> = Arc::new(script);
        let mut tasks = JoinSet::new();
        let shared = Arc::clone(&seen);
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                tokio::select! {
                    Ok((client, _)) = listener.accept() => {
                        let (script, seen) = (Arc::clone(&script), Arc::clone(&shared));
                        connections.spawn(async move { serve(client, &*script, &seen).await.unwrap_or(Ended::Connection) });
                    }
                    Some(Ok(Ended::Server)) = connections.join_next() => return,
                }
            }
        });
        Self { address, seen, _tasks: tasks }
    }

    pub(crate) fn uri(&self) -> String {
        format!("bolt://{}", self.address)
    }

    /// The same address under a scheme that asks the server to route.
    pub(crate) fn routed_uri(&self) -> String {
        format!("neo4j://{}", self.address)
    }

    /// How many messages of that tag came.
    pub(crate) fn seen(&self, tag: u8) -> usize {
        self.seen.lock().unwrap().get(&tag).map_or(0, |(count, _)| *count)
    }

    /// Whether the last message of that tag has a key or a text.
    pub(crate) fn last_names(&self, tag: u8, text: &str) -> bool {
        let seen = self.seen.lock().unwrap();
        let (_, message) = seen.get(&tag).expect("such a message came");
        message.windows(text.len()).any(|window| window == text.as_bytes())
    }
}

enum Ended {
    Connection,
    Server,
}

async fn serve(mut client: TcpStream, script: &Script, seen: &Mutex<Seen>) -> std::io::Result<Ended> {
    client.set_nodelay(true)?;
    let mut hello = [0; 20];
    client.read_exact(&mut hello).await?;
    client.write_all(&[0, 0, 4, 4]).await?;
    let (mut failed, mut row) = (false, Vec::new());
    loop {
        let message = receive(&mut client).await?;
        let tag = message.get(1).copied().unwrap_or_default();
        let before = {
            let mut seen = seen.lock().unwrap();
            let (count, last) = seen.entry(tag).or_default();
            (*count, *last) = (*count + 1, message);
            *count - 1
        };
        let answer = match tag {
            GOODBYE => return Ok(Ended::Connection),
            HELLO => {
                send(
                    &mut client,
                    0x70,
                    &map(&[("server", text("Neo4j/5.26.0")), ("connection_id", text("bolt-1"))]),
                )
                .await?;
                continue;
            }
            RESET => {
                failed = false;
                Answer::Success
            }
            _ if failed => {
                send(&mut client, 0x7e, &[]).await?;
                continue;
            }
            tag => script(tag, before),
        };
        match answer {
            Answer::Close => return Ok(Ended::Connection),
            Answer::Vanish => return Ok(Ended::Server),
            Answer::Failure(code, message) => {
                failed = true;
                send(&mut client, 0x7f, &map(&[("code", text(code)), ("message", text(message))])).await?;
            }
            Answer::Success | Answer::Row(_) => {
                match answer {
                    Answer::Row(columns) => {
                        row = columns.into_iter().map(|(name, value)| (name, value.bytes())).collect();
                    }
                    _ if tag == RUN => row = Vec::new(),
                    _ => {}
                }
                if tag == PULL && !row.is_empty() {
                    let cells: Vec<Vec<u8>> = row.iter().map(|(_, value)| value.clone()).collect();
                    send(&mut client, 0x71, &list(&cells)).await?;
                }
                let fields: Vec<Vec<u8>> = row.iter().map(|(name, _)| text(name)).collect();
                let said = if tag == RUN { map(&[("fields", list(&fields))]) } else { map(&[]) };
                send(&mut client, 0x70, &said).await?;
            }
        }
    }
}

/// Reads one message; its second byte is its tag.
async fn receive(client: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut message = Vec::new();
    loop {
        let length = client.read_u16().await?;
        if length == 0 {
            return Ok(message);
        }
        let from = message.len();
        message.resize(from + usize::from(length), 0);
        client.read_exact(&mut message[from..]).await?;
    }
}

/// Sends a message with one field, or none.
async fn send(client: &mut TcpStream, tag: u8, field: &[u8]) -> std::io::Result<()> {
    let mut message = vec![0xb0 + u8::from(!field.is_empty()), tag];
    message.extend_from_slice(field);
    let mut chunk = u16::try_from(message.len()).unwrap().to_be_bytes().to_vec();
    chunk.extend(message);
    chunk.extend([0, 0]);
    client.write_all(&chunk).await
}

fn text(of: &str) -> Vec<u8> {
    let mut bytes = vec![0xd1];
    bytes.extend(u16::try_from(of.len()).unwrap().to_be_bytes());
    bytes.extend(of.as_bytes());
    bytes
}

fn list(items: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![0x90 + u8::try_from(items.len()).unwrap()];
    bytes.extend(items.concat());
    bytes
}

fn map(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = vec![0xa0 + u8::try_from(entries.len()).unwrap()];
    for (key, value) in entries {
        bytes.extend(text(key));
        bytes.extend(value);
    }
    bytes
}
