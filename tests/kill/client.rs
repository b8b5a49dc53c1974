//! Clients: each has memories of its own and does one thing after the other to them, half of it through Ebb's service and half through
//! API processes, while these and workers are killed around it and connections are cut.

use super::api::{Outcome, Ports, Request};
use super::history::{Known, Left, Line, What};
use super::proxy::{COMMIT, Cut, Proxy, ProxyFault, RUN};
use super::random::Random;
use super::rows::{ADOPTED, adopted_key};
use super::server::Host;
use ebb::wiring;
use ebb_core::api::adopted::StateRequest;
use ebb_core::api::memory::Memory;
use ebb_core::clock::Clock;
use ebb_core::domain::annotations::Annotations;
use ebb_core::domain::event::{Access, Remember};
use ebb_core::domain::ids::{MemoryId, Scope, SessionId, Term};
use ebb_core::domain::memory::Revive;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::memories::{RequestId, WriteMode};
use ebb_core::service::{Error, EventEffect, Service};
use ebb_provision::{Endpoint, Origin};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long a client waits before it counts the outcome as unknown.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);
/// Memories of one client at most.
const MEMORIES: usize = 40;

/// The file of one process's history.
#[derive(Clone)]
pub(crate) struct Journal {
    process: String,
    file: Arc<Mutex<(File, u64)>>,
}

impl Journal {
    pub(crate) fn open(folder: &Path, process: &str) -> Result<Self, String> {
        let path = folder.join(format!("{process}.ndjson"));
        let file = File::options().create(true).append(true).open(path).map_err(|why| why.to_string())?;
        Ok(Self { process: process.to_owned(), file: Arc::new(Mutex::new((file, 0))) })
    }

    fn next(&self) -> u64 {
        let mut file = self.file.lock().expect("nobody panics with it");
        file.1 += 1;
        file.1
    }

    fn line(&self, op: u64, known: Known, why: Option<String>, what: &What) {
        let at = Clock::Real.now().millis();
        let line = Line { at, process: self.process.clone(), op, known, why, what: what.clone() };
        let text = format!("{}\n", serde_json::to_string(&line).expect("JSON"));
        self.file
            .lock()
            .expect("nobody panics with it")
            .0
            .write_all(text.as_bytes())
            .expect("room for the history");
    }

    /// One that is asked for: what came of it is known if it went well.
    pub(crate) async fn ask<T, E>(&self, what: &What, asked: impl Future<Output = Result<T, E>>) {
        let op = self.next();
        self.line(op, Known::Invoke, None, what);
        let known = if asked.await.is_ok() { Known::Ok } else { Known::Info };
        self.line(op, known, None, what);
    }

    /// One that has happened.
    pub(crate) fn tell(&self, what: &What) {
        self.line(self.next(), Known::Ok, None, what);
    }
}

/// Says go, and waits until everybody has stopped.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<AtomicBool>);

impl Gate {
    pub(crate) fn close(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn is_closed(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// One client; it lives for a whole campaign.
pub(crate) struct Client {
    name: String,
    service: Service,
    proxy: Proxy,
    journal: Journal,
    random: Random,
    /// Where API processes serve.
    ports: Ports,
    memories: Vec<(String, bool)>,
    made: usize,
    session: usize,
}

impl Client {
    pub(crate) async fn new(
        host: &Host,
        folder: &Path,
        name: &str,
        seed: u64,
        ports: Ports,
    ) -> Result<Self, String> {
        let proxy = Proxy::before(&host.uri).await;
        let service = service(host, &proxy.uri())?;
        let journal = Journal::open(folder, name)?;
        Ok(Self {
            name: name.to_owned(),
            service,
            proxy,
            journal,
            random: Random(seed),
            ports,
            memories: Vec::new(),
            made: 0,
            session: 0,
        })
    }

    /// Works until the gate closes, and comes back with all that it knows.
    pub(crate) async fn work(mut self, gate: Gate) -> Self {
        while !gate.is_closed() {
            if self.random.once_in(25) {
                let cut = self.random.pick(&[Cut::Before, Cut::After]);
                let tag = self.random.pick(&[COMMIT, COMMIT, RUN]);
                self.proxy.hurt(
                    cut,
                    self.random.pick(&[ProxyFault::Fin, ProxyFault::Rst]),
                    tag,
                    1 + self.random.below(3),
                );
            }
            self.one().await;
            tokio::time::sleep(Duration::from_millis(20 + self.random.bits() % 60)).await;
        }
        self
    }

    async fn one(&mut self) {
        let drawn = self.random.below(100);
        if self.memories.len() < 6 || (drawn < 12 && self.memories.len() < MEMORIES) {
            return self.remember().await;
        }
        let which = self.random.below(self.memories.len());
        match drawn {
            0..=15 => self.forget(which).await,
            16..=25 => self.pin(which).await,
            26..=29 => self.end_session().await,
            95..=99 => self.access_row().await,
            // Bursts are what makes a memory rise.
            30..=64 => {
                for _ in 0..3 + self.random.below(4) {
                    self.access(which).await;
                }
            }
            _ => self.access(which).await,
        }
    }

    fn now() -> Timestamp {
        Clock::Real.now()
    }

    /// Asks, and writes down what is known of it. What may or may not have happened is never taken for a failure: an
    /// answer may be lost after its effect.
    async fn ask<T>(
        &self,
        what: What,
        asked: impl Future<Output = Result<T, Error>>,
        told: impl FnOnce(&T, What) -> What,
    ) -> (Known, Option<T>) {
        let op = self.journal.next();
        self.journal.line(op, Known::Invoke, None, &what);
        let outcome = tokio::time::timeout(WAIT_TIMEOUT, asked).await;
        let why = outcome.as_ref().ok().and_then(|outcome| outcome.as_ref().err()).map(ToString::to_string);
        let (known, answer) = match outcome {
            Ok(Ok(answer)) => (Known::Ok, Some(answer)),
            Ok(Err(
                Error::NotFound { .. }
                | Error::Refused { .. }
                | Error::Conflict(_)
                | Error::Quarantined { .. }
                | Error::Unavailable { .. },
            )) => (Known::Fail, None),
            // What a server refuses it has not done; a commit that it did not answer is told as one of unknown outcome.
            Ok(Err(why)) if why.refusal().is_some() => (Known::Fail, None),
            Ok(Err(_)) | Err(_) => (Known::Info, None),
        };
        let what = match &answer {
            Some(answer) => told(answer, what),
            None => what,
        };
        self.journal.line(op, known, why, &what);
        (known, answer)
    }

    /// Whether the next request goes to an API process.
    fn uses_api(&mut self) -> bool {
        self.random.once_in(2)
    }

    /// As [`Self::ask`], over HTTP.
    fn send_to_api(
        &mut self,
        what: What,
        (method, path): (&'static str, String),
        body: Option<Value>,
        told: impl FnOnce(&Value, What) -> What,
    ) -> Known {
        let op = self.journal.next();
        self.journal.line(op, Known::Invoke, None, &what);
        let request = Request { method, path, body, key: format!("{}-{op}", self.name) };
        let (known, why, what) = match request.send(&self.ports, &mut self.random) {
            Outcome::Done(answer) => (Known::Ok, None, told(&answer, what)),
            Outcome::Refused(why) => (Known::Fail, Some(why), what),
            Outcome::Unknown(why) | Outcome::Broken(why) => (Known::Info, Some(why), what),
        };
        self.journal.line(op, known, why, &what);
        known
    }

    fn request(&mut self) -> RequestId {
        RequestId::or_new("test", None)
    }

    async fn remember(&mut self) {
        self.made += 1;
        let id = format!("{}-{}", self.name, self.made);
        let content = format!("what {id} says");
        let session = format!("{}-s{}", self.name, self.session);
        let at = Self::now();
        let what = What::Remember {
            id: id.clone(),
            content: content.clone(),
            now: at.millis(),
            session: Some(session.clone()),
        };
        if self.uses_api() {
            let body = json!({"id": id, "content": content, "session": session, "at": at});
            let known =
                self.send_to_api(what, ("POST", "/v1/memories".to_owned()), Some(body), |_, what| what);
            if known != Known::Fail {
                self.memories.push((id, false));
            }
            return;
        }
        let remember = Remember {
            at,
            id: MemoryId::new(&id).expect("a name"),
            scope: Scope::local(),
            content,
            session: SessionId::new(&session).ok(),
            instance: ebb_core::domain::ids::InstanceId::new(&self.name).ok(),
            mentions: Vec::new(),
            pinned: false,
            embedding: None,
            annotations: Annotations::default(),
        };
        let request = self.request().into();
        let (known, _) = self.ask(what, self.service.remember(&request, remember), |_, what| what).await;
        if known != Known::Fail {
            self.memories.push((id, false));
        }
    }

    async fn access(&mut self, which: usize) {
        let (id, at) = (self.memories[which].0.clone(), Self::now());
        let what = What::Access { id: id.clone(), now: at.millis(), revived: false };
        if self.uses_api() {
            let told = |answer: &Value, what| match what {
                What::Access { id, now, .. } => What::Access { id, now, revived: answer["did"] == "revived" },
                other => other,
            };
            let path = format!("/v1/memories/{id}/access");
            self.send_to_api(what, ("POST", path), Some(json!({ "at": at })), told);
            return;
        }
        let access = Access {
            at,
            id: MemoryId::new(&id).expect("a name"),
            scope: Scope::local(),
            session: None,
            revive: Revive::Yes,
        };
        let request = self.request().into();
        let told = |answer: &Memory, what| match what {
            What::Access { id, now, .. } => {
                What::Access { id, now, revived: answer.did == Some(EventEffect::Revived) }
            }
            other => other,
        };
        self.ask(what, self.service.access(&request, access), told).await;
    }

    async fn pin(&mut self, which: usize) {
        let (id, pinned) = self.memories[which].clone();
        let (pin, at) = (!pinned, Self::now());
        let what = What::Pin { id: id.clone(), now: at.millis(), pin, left: None };
        let ids = [MemoryId::new(&id).expect("a name")];
        let intent = WriteMode::Once(self.request());
        let (known, _) = self
            .ask(what, self.service.pin(&intent, (&Scope::local(), &ids), pin, at), |memories, what| {
                match (what, memories.first()) {
                    (What::Pin { id, now, pin, .. }, Some(memory)) => {
                        // What is stored, as far as the answer says it: the energy of the instant is that of the anchor, or
                        // rests.
                        let rests = memory.energy_at == Some(at) || memory.pinned == Some(true);
                        let left = || {
                            Some(Left {
                                tier: memory.tier?.name().to_owned(),
                                energy: memory.energy?,
                                energy_at: memory.energy_at?.millis(),
                            })
                        };
                        What::Pin { id, now, pin, left: rests.then(left).flatten() }
                    }
                    (other, _) => other,
                }
            })
            .await;
        if known == Known::Ok {
            self.memories[which].1 = pin;
        }
    }

    async fn forget(&mut self, which: usize) {
        let (id, at) = (self.memories[which].0.clone(), Self::now());
        let ids = [MemoryId::new(&id).expect("a name")];
        let intent = WriteMode::Once(self.request());
        let path = format!("/v1/memories/{id}");
        let what = What::Forget { id, now: at.millis() };
        let known = if self.uses_api() {
            self.send_to_api(what, ("DELETE", path), None, |_, what| what)
        } else {
            let scope = Scope::local();
            let forgotten = self.service.forget(&intent, (&scope, &ids), at, None);
            self.ask(what, forgotten, |_, what| what).await.0
        };
        if known != Known::Fail {
            self.memories.swap_remove(which);
        }
    }

    async fn end_session(&mut self) {
        let (session, at) = (format!("{}-s{}", self.name, self.session), Self::now());
        self.session += 1;
        let what = What::EndSession { session: session.clone(), now: at.millis() };
        if self.uses_api() {
            let path = format!("/v1/sessions/{session}/end");
            self.send_to_api(what, ("POST", path), Some(json!({ "at": at })), |_, what| what);
            return;
        }
        let Ok(session) = SessionId::new(&session) else { return };
        let intent = WriteMode::Once(self.request());
        let scope = Scope::local();
        let ended = self.service.end_session(&intent, &scope, &session, at, None);
        self.ask(what, ended, |_, what| what).await;
    }

    /// Accesses a row of the adopted graph.
    async fn access_row(&mut self) {
        let row = adopted_key(self.random.below(ADOPTED));
        let (what, at) = (What::AccessRow { row: row.clone() }, Self::now());
        if self.uses_api() {
            let body = json!({"keys": [row], "accessed": true, "at": at});
            self.send_to_api(what, ("POST", "/v1/states".to_owned()), Some(body), |_, what| what);
            return;
        }
        let Ok(key) = Term::try_from(row) else { return };
        let request = StateRequest { keys: vec![key], accessed: true, ..StateRequest::default() };
        let intent = WriteMode::Once(self.request());
        let scope = Scope::local();
        let set = self.service.set_states(&intent, &scope, &request, at);
        self.ask(what, set, |_, what| what).await;
    }
}

/// Ebb's service on the server of a campaign, through another address.
pub(crate) fn service(host: &Host, uri: &str) -> Result<Service, String> {
    let endpoint = Endpoint {
        uri: uri.to_owned(),
        username: "neo4j".to_owned(),
        password: host.password.clone().into(),
        database: "neo4j".to_owned(),
        http: None,
        home: None,
        origin: Origin::Given,
    };
    wiring::service_over(&endpoint, &host.settings, Scope::local()).map_err(|why| why.to_string())
}
