//! API processes: `ebb serve --roles http`, each behind a proxy of its own. Clients send each request to one of them and retry with
//! the same `Idempotency-Key` until a response arrives, so it is applied once even if a process is killed.

use super::proxy::{COMMIT, Cut, Proxy, ProxyFault};
use super::random::Random;
use super::server::Host;
use super::worker::free_port;
use serde_json::Value;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a client asks again and again before it counts the outcome as unknown: longer than a server takes to start.
const ASK_TIMEOUT: Duration = Duration::from_secs(40);

/// A running API process.
pub(crate) struct Api {
    child: Child,
    port: u16,
    proxy: Proxy,
}

impl Api {
    pub(crate) async fn start(host: &Host, folder: &Path) -> Result<Self, String> {
        let proxy = Proxy::before(&host.uri).await;
        let port = free_port()?;
        let log = File::options().create(true).append(true).open(folder.join("apis.log"));
        let child = Command::new(env!("CARGO_BIN_EXE_ebb"))
            .args(["serve", "--roles", "http"])
            .env("NEO4J_URI", proxy.uri())
            .env("NEO4J_USERNAME", "neo4j")
            .env("NEO4J_PASSWORD", &host.password)
            .env("EBB__HTTP__LISTEN", format!("127.0.0.1:{port}"))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.map_err(|why| why.to_string())?)
            .spawn()
            .map_err(|why| format!("ebb serve: {why}"))?;
        Ok(Self { child, port, proxy })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Whether it has ended by itself.
    pub(crate) fn is_gone(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|end| end.is_some())
    }

    /// Cuts its connection at a commit, before or after the server sees it.
    pub(crate) fn cut(&self, random: &mut Random) {
        let cut = random.pick(&[Cut::Before, Cut::After]);
        let fault = random.pick(&[ProxyFault::Fin, ProxyFault::Rst]);
        self.proxy.hurt(cut, fault, COMMIT, 1 + random.below(3));
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The ports of the processes that are there, for clients, and what the harness is told of their responses.
#[derive(Clone, Default)]
pub(crate) struct Ports(Arc<Mutex<Served>>);

#[derive(Default)]
struct Served {
    ports: Vec<u16>,
    /// Number of requests that were done or refused.
    answered: u64,
    /// The first response that no request may get.
    broken: Option<String>,
}

impl Ports {
    fn lock(&self) -> MutexGuard<'_, Served> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, ports: Vec<u16>) {
        self.lock().ports = ports;
    }

    pub(crate) fn answered(&self) -> u64 {
        self.lock().answered
    }

    pub(crate) fn broken(&self) -> Option<String> {
        self.lock().broken.clone()
    }

    /// One of them; `None` without any.
    fn one(&self, random: &mut Random) -> Option<u16> {
        let ports = &self.lock().ports;
        (!ports.is_empty()).then(|| random.pick(ports))
    }

    fn note(&self, outcome: &Outcome) {
        let mut served = self.lock();
        match outcome {
            Outcome::Done(_) | Outcome::Refused(_) => served.answered += 1,
            Outcome::Broken(why) => drop(served.broken.get_or_insert_with(|| why.clone())),
            Outcome::Unknown(_) => {}
        }
    }
}

/// Outcome of a request.
pub(crate) enum Outcome {
    Done(Value),
    /// It has not happened and will not.
    Refused(String),
    /// No response arrived in time.
    Unknown(String),
    /// A response that no request may get.
    Broken(String),
}

/// A request, which is the same whenever it is sent.
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) body: Option<Value>,
    pub(crate) key: String,
}

impl Request {
    /// Sends it to one process after another until one responds. Blocks the thread.
    pub(crate) fn send(&self, ports: &Ports, random: &mut Random) -> Outcome {
        let outcome = self.retry(ports, random);
        ports.note(&outcome);
        outcome
    }

    fn retry(&self, ports: &Ports, random: &mut Random) -> Outcome {
        let agent = agent(Duration::from_secs(15));
        let began = Instant::now();
        loop {
            let Some(port) = ports.one(random) else { return Outcome::Unknown("no API process".to_owned()) };
            let why = match self.send_once(&agent, port) {
                Ok((200..=299, answer)) => {
                    return match serde_json::from_str(&answer) {
                        Ok(answer) => Outcome::Done(answer),
                        Err(why) => Outcome::Broken(format!("{why}: {answer}")),
                    };
                }
                // Too slow, too many, or no database at the moment.
                Ok((status @ (408 | 429 | 503), answer)) => format!("{status}: {answer}"),
                Ok((400..=499, answer)) => return Outcome::Refused(answer),
                Ok((status, answer)) => return Outcome::Broken(format!("{status}: {answer}")),
                Err(why) => why.to_string(),
            };
            if began.elapsed() > ASK_TIMEOUT {
                return Outcome::Unknown(why);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn send_once(&self, agent: &ureq::Agent, port: u16) -> Result<(u16, String), ureq::Error> {
        let url = format!("http://127.0.0.1:{port}{}", self.path);
        let mut answer = match (&self.body, self.method) {
            (Some(body), _) => agent.post(url).header("Idempotency-Key", &self.key).send_json(body)?,
            (None, "DELETE") => agent.delete(url).header("Idempotency-Key", &self.key).call()?,
            (None, _) => agent.post(url).header("Idempotency-Key", &self.key).send_empty()?,
        };
        Ok((answer.status().as_u16(), answer.body_mut().read_to_string()?))
    }
}

/// An HTTP client that takes any status for a response.
pub(crate) fn agent(limit: Duration) -> ureq::Agent {
    let config = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(limit));
    config.build().into()
}
