//! A small embedder of OpenAI's protocol: the same vector for the same text, and each fault on request.
//!
//! A vector has a number for each subject of [`SUBJECTS`], so words of one subject are similar and others are not.

use ebb_core::embedder::{Address, Config, Embedder, Pauses};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Numbers of each vector.
pub(crate) const DIMENSIONS: usize = 4;
/// Words of one subject, each for a number; the last number is that of all other words.
const SUBJECTS: [&[&str]; DIMENSIONS - 1] =
    [&["salary", "wages", "pay"], &["lunch", "food", "soup"], &["parser", "lexer", "grammar"]];

/// How it answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Manner {
    Well,
    /// Not until the manner changes.
    Hangs,
    /// With this status, and the key and texts of the request in the body.
    Status(u16),
    /// With this status once, then well.
    Once(u16),
    /// With vectors of so many numbers.
    Numbers(usize),
    /// With this instead of the first number.
    Instead(&'static str),
    /// With the status 503 to a request of more texts.
    AtMost(usize),
    /// With this status to a request with a text that contains the word.
    Refuses(u16, &'static str),
}

#[derive(Debug)]
struct State {
    manner: Manner,
    /// The texts of each request.
    requests: Vec<Vec<String>>,
    /// The authorization of the last request.
    authorization: Option<String>,
}

/// The server; its thread ends with the process.
#[derive(Debug, Clone)]
pub(crate) struct TestEmbedder {
    port: u16,
    state: Arc<Mutex<State>>,
}

impl TestEmbedder {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = State { manner: Manner::Well, requests: Vec::new(), authorization: None };
        let embedder = Self { port, state: Arc::new(Mutex::new(state)) };
        let serving = embedder.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let serving = serving.clone();
                // A client that goes away is no fault.
                std::thread::spawn(move || serving.answer(connection).ok());
            }
        });
        embedder
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub(crate) fn behave(&self, manner: Manner) {
        self.state.lock().unwrap().manner = manner;
    }

    /// The texts of each request so far.
    pub(crate) fn requests(&self) -> Vec<Vec<String>> {
        self.state.lock().unwrap().requests.clone()
    }

    /// The authorization of the last request.
    pub(crate) fn authorization(&self) -> Option<String> {
        self.state.lock().unwrap().authorization.clone()
    }

    /// A client, without a memory of earlier failures.
    pub(crate) fn client(&self, model: &str) -> Arc<Embedder> {
        Arc::new(Embedder::new(self.config(model)).unwrap())
    }

    /// Settings with time-outs and pauses that no test waits for.
    pub(crate) fn config(&self, model: &str) -> Config {
        let hour = Duration::from_secs(3_600);
        Config {
            address: Address::parse(&self.url()).unwrap(),
            model: model.to_owned(),
            dimensions: DIMENSIONS,
            key: None,
            batch: 8,
            timeout: Duration::from_secs(60),
            recall_timeout: Duration::from_secs(60),
            expired: false,
            pauses: Pauses { job: [hour; 2], questions: [hour; 2] },
        }
    }

    fn answer(&self, mut connection: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(connection.try_clone()?);
        let (mut length, mut authorization, mut line) = (0, None, String::new());
        reader.read_line(&mut line)?;
        assert!(line.starts_with("POST /v1/embeddings HTTP/1.1"), "{line}");
        line.clear();
        while reader.read_line(&mut line)? > 2 {
            let (name, value) = line.split_once(": ").unwrap_or((&line, ""));
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().unwrap(),
                "authorization" => authorization = Some(value.trim().to_owned()),
                _ => {}
            }
            line.clear();
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let request: Value = serde_json::from_slice(&body).unwrap();
        let texts: Vec<String> = serde_json::from_value(request["input"].clone()).unwrap();
        let manner = {
            let mut state = self.state.lock().unwrap();
            state.requests.push(texts.clone());
            state.authorization.clone_from(&authorization);
            let manner = state.manner;
            if matches!(manner, Manner::Once(_)) {
                state.manner = Manner::Well;
            }
            manner
        };
        while manner == Manner::Hangs && self.state.lock().unwrap().manner == Manner::Hangs {
            std::thread::sleep(Duration::from_millis(5));
        }
        let (status, body) = match manner {
            Manner::Status(status) | Manner::Once(status) => (status, quoting(&texts, authorization)),
            Manner::AtMost(count) if texts.len() > count => (503, quoting(&texts, authorization)),
            Manner::Refuses(status, word) if texts.iter().any(|text| text.contains(word)) => {
                (status, quoting(&texts, authorization))
            }
            _ => (200, embeddings(&request["model"], &texts, manner)),
        };
        write!(
            connection,
            "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
    }
}

/// An error as servers write it: with what nobody should log.
fn quoting(texts: &[String], authorization: Option<String>) -> String {
    json!({"error": {"message": format!("{texts:?} {authorization:?}")}}).to_string()
}

fn embeddings(model: &Value, texts: &[String], manner: Manner) -> String {
    let item = |(index, text): (usize, &String)| {
        let mut numbers: Vec<String> = vector(text).iter().map(ToString::to_string).collect();
        match manner {
            Manner::Numbers(count) => numbers = vec!["1".to_owned(); count],
            Manner::Instead(word) => word.clone_into(&mut numbers[0]),
            _ => {}
        }
        // By hand, since JSON has no NaN.
        format!(r#"{{"object": "embedding", "index": {index}, "embedding": [{}]}}"#, numbers.join(", "))
    };
    // In another order than that of the texts, which the protocol allows.
    let items: Vec<String> = texts.iter().enumerate().map(item).rev().collect();
    format!(r#"{{"object": "list", "model": {model}, "data": [{}]}}"#, items.join(", "))
}

/// The vector of a text.
pub(crate) fn vector(text: &str) -> [f64; DIMENSIONS] {
    let mut numbers = [0.0; DIMENSIONS];
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let is_of = |subject: &&[&str]| subject.contains(&word.to_lowercase().as_str());
        match SUBJECTS.iter().position(is_of) {
            Some(subject) => numbers[subject] += 1.0,
            None => numbers[DIMENSIONS - 1] += 0.1,
        }
    }
    numbers
}
