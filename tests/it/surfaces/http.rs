//! HTTP as programs meet it: the built program on a real database, asked over plain sockets.

mod around;
mod browsers;
mod clocks;
mod facts;
mod greedy;
mod keys;
mod large_sweeps;
mod limits;
mod memories;
mod relations;
mod status;
mod trails;
mod writes;

use crate::harness::neo4j::Fresh;
use crate::worker::process::{LIMIT, free_port};
use secrecy::ExposeSecret;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use tempfile::TempDir;

/// `ebb serve --roles http`; killed when it is dropped.
pub(super) struct TestServer {
    child: Child,
    pub(super) port: u16,
    folder: TempDir,
}

/// An answer.
#[derive(Debug)]
pub(super) struct HttpAnswer {
    pub(super) status: u16,
    head: String,
    pub(super) body: String,
}

/// A body that came in chunks, if its last one is there.
fn joined(chunks: &str) -> Option<String> {
    let (mut rest, mut body) = (chunks, String::new());
    loop {
        let (size, more) = rest.split_once("\r\n")?;
        let size = usize::from_str_radix(size, 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        body += more.get(..size)?;
        rest = more.get(size..)?.strip_prefix("\r\n")?;
    }
}

impl HttpAnswer {
    fn of(answer: &[u8]) -> Self {
        let text = String::from_utf8_lossy(answer);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let told = Self { status, head: head.to_owned(), body: body.to_owned() };
        match told.header("transfer-encoding") {
            Some("chunked") => Self { body: joined(&told.body).expect("a whole body"), ..told },
            _ => told,
        }
    }

    /// The value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &&str| line.split(':').next().is_some_and(|own| own.eq_ignore_ascii_case(name));
        self.head.lines().find(named).and_then(|line| line.split_once(':')).map(|(_, value)| value.trim())
    }

    /// The body as JSON; the answer must have this status.
    #[track_caller]
    pub(super) fn json(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}\n{}", self.head, self.body);
        serde_json::from_str(&self.body).unwrap_or_else(|why| panic!("{why}: {}", self.body))
    }

    /// The body as JSON without the token of its change: that of a repeated request is of another instant.
    #[track_caller]
    pub(super) fn unchanging(&self, status: u16) -> Value {
        let mut body = self.json(status);
        assert!(body.as_object_mut().is_some_and(|fields| fields.remove("change").is_some()), "{body}");
        body
    }

    /// Asserts that it is a problem of this status and code, and that its detail says this.
    #[track_caller]
    pub(super) fn fails(&self, status: u16, code: &str, says: &str) {
        let problem = self.json(status);
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{}", self.head);
        assert_eq!(problem["code"], code, "{problem}");
        assert_eq!(problem["status"], status, "{problem}");
        assert_eq!(problem["request_id"].as_str(), self.header("x-request-id"), "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains(says), "{problem}");
    }
}

/// A request.
pub(super) struct HttpRequest<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) headers: Vec<(&'a str, &'a str)>,
    pub(super) body: Option<&'a str>,
}

impl TestServer {
    /// A server on this database, with these variables; ready when this returns.
    pub(super) fn on(db: &Fresh, variables: &[(&str, &str)]) -> Self {
        Self::with_roles(db, "http", variables)
    }

    /// A server with these roles.
    pub(super) fn with_roles(db: &Fresh, roles: &str, variables: &[(&str, &str)]) -> Self {
        let served = Self::begin(db, roles, variables);
        let deadline = Instant::now() + LIMIT;
        while !served.is_ready() {
            assert!(Instant::now() < deadline, "never ready:\n{}", served.log());
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        served
    }

    /// The same, ready or not.
    pub(super) fn begin(db: &Fresh, roles: &str, variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let child = Command::new(env!("CARGO_BIN_EXE_ebb"))
            .args(["serve", "--roles", roles, "-v"])
            .env("NEO4J_URI", &db.config.uri)
            .env("NEO4J_USERNAME", &db.config.username)
            .env("NEO4J_PASSWORD", db.config.password.expose_secret())
            .env("EBB__HTTP__LISTEN", format!("127.0.0.1:{port}"))
            .envs(variables.iter().copied())
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stderr(std::fs::File::create(folder.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        Self { child, port, folder }
    }

    fn is_ready(&self) -> bool {
        self.raw(b"GET /readyz HTTP/1.0\r\n\r\n").is_some_and(|told| told.status == 200)
    }

    /// Memory that it has, MiB.
    pub(super) fn resident_mib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1_024
    }

    /// What it has logged.
    pub(super) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// Tells it to stop.
    pub(super) fn terminate(&self) {
        let sent = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits for its end, and says whether it ended well.
    pub(super) fn ended_well(&mut self) -> bool {
        self.child.wait().unwrap().success()
    }

    /// Tells it to stop, and says whether it ended well.
    pub(super) fn stop(&mut self) -> bool {
        self.terminate();
        self.ended_well()
    }

    /// A connection.
    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream
    }

    /// Sends bytes and reads to the end; `None` while nothing answers.
    pub(super) fn raw(&self, bytes: &[u8]) -> Option<HttpAnswer> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        // A server that has heard enough hangs up before all is sent, and its answer is there to be read.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        (!answer.is_empty()).then(|| HttpAnswer::of(&answer))
    }

    /// Asks.
    #[track_caller]
    pub(super) fn ask(&self, ask: &HttpRequest<'_>) -> HttpAnswer {
        let mut head = format!("{} {} HTTP/1.1\r\nConnection: close\r\n", ask.method, ask.path);
        if !ask.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head += &format!("Host: 127.0.0.1:{}\r\n", self.port);
        }
        for (name, value) in &ask.headers {
            head += &format!("{name}: {value}\r\n");
        }
        let body = ask.body.unwrap_or_default();
        if ask.body.is_some() {
            if !ask.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
                head += "Content-Type: application/json\r\n";
            }
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        self.raw(format!("{head}\r\n{body}").as_bytes()).expect("an answer")
    }

    #[track_caller]
    pub(super) fn get(&self, path: &str) -> HttpAnswer {
        self.ask(&HttpRequest { method: "GET", path, headers: Vec::new(), body: None })
    }

    #[track_caller]
    pub(super) fn post(&self, path: &str, body: &str) -> HttpAnswer {
        self.ask(&HttpRequest { method: "POST", path, headers: Vec::new(), body: Some(body) })
    }

    #[track_caller]
    pub(super) fn delete(&self, path: &str) -> HttpAnswer {
        self.ask(&HttpRequest { method: "DELETE", path, headers: Vec::new(), body: None })
    }

    #[track_caller]
    pub(super) fn put(&self, path: &str, body: &str) -> HttpAnswer {
        self.ask(&HttpRequest { method: "PUT", path, headers: Vec::new(), body: Some(body) })
    }

    /// Posts under an `Idempotency-Key`.
    #[track_caller]
    pub(super) fn once(&self, key: &str, path: &str, body: &str) -> HttpAnswer {
        self.ask(&HttpRequest {
            method: "POST",
            path,
            headers: vec![("Idempotency-Key", key)],
            body: Some(body),
        })
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("the server said:\n{}", self.log());
        }
    }
}
