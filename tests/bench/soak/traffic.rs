//! The requests of a soak: a fixed rate, a mix by seed, and scopes that follow each other.
//!
//! Request number `n` is due at `n / rate` seconds, and a thread sends it as soon as that is. If all threads wait for answers,
//! requests are sent late, and the lateness is part of their latency. Kind and content of a request follow from seed and number;
//! which memory it names also depends on how many there are.
//!
//! Of three scopes one is current: all writes go there, and three of four reads; the others go to the former one.
//! The third is deleted and made ready for the next turn. `fade`, `sweep` and `audit` run once a turn by request, since even ten
//! times as frequent they would hardly run in a soak.

use crate::random::{SplitMix64, WORDS};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use ureq::Agent;

/// Scopes that may hold facts, besides local.
const SCOPES: [&str; 3] = ["team", "company", "public"];
/// Requests at once.
const THREADS: usize = 64;
/// Time limit of a request, and of one that deletes a scope or runs a job.
const TIMEOUT: Duration = Duration::from_secs(30);
const LONG_TIMEOUT: Duration = Duration::from_secs(900);
/// Time that a scope keeps after its last turn for requests which are still on their way.
const GRACE: Duration = Duration::from_secs(5);
/// The newest memories, whose requests may not be answered yet.
const UNSETTLED: u64 = 200;
/// Memories before these that are read and accessed.
const RECENT: u64 = 2_000;
/// Memories before these that may be deleted.
const KEPT: u64 = UNSETTLED + RECENT + 1_000;
/// Memories of a session, and accesses of a group that is accessed together.
const SESSION: u64 = 8;
const GROUP: u64 = 5;
const ROOMS: u64 = 40;

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Create,
    Access,
    Observe,
    Deposit,
    Explore,
    Assert,
    Recall,
    Context,
    Read,
    Facts,
    Next,
    Outcome,
    Update,
    Delete,
    EndSession,
    /// Of the change of scopes.
    Turn,
}

/// Shares of the kinds, in percent.
const MIX: [(Kind, u64); 15] = [
    (Kind::Create, 20),
    (Kind::Access, 25),
    (Kind::Observe, 8),
    (Kind::Deposit, 6),
    (Kind::Explore, 2),
    (Kind::Assert, 6),
    (Kind::Recall, 12),
    (Kind::Context, 3),
    (Kind::Read, 10),
    (Kind::Facts, 2),
    (Kind::Next, 2),
    (Kind::Outcome, 1),
    (Kind::Update, 1),
    (Kind::Delete, 1),
    (Kind::EndSession, 1),
];

/// What is sent where.
pub(crate) struct Plan {
    pub(crate) base: String,
    /// Requests a second.
    pub(crate) rate: u64,
    pub(crate) seed: u64,
    /// Time from one scope to the next.
    pub(crate) turn: Duration,
}

/// Latencies and statuses since the last sample.
#[derive(Default)]
pub(crate) struct Interval {
    pub(crate) times: Vec<Duration>,
    /// By status; 0 where there was no answer.
    statuses: BTreeMap<u16, u64>,
}

impl Interval {
    /// So many thousandths of the latencies are at most this, milliseconds.
    pub(crate) fn quantile_ms(&self, thousandths: usize) -> f64 {
        let mut times = self.times.clone();
        times.sort();
        let at = times.len().saturating_sub(1) * thousandths / 1_000;
        times.get(at).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    }

    /// Answers with 4xx, with 5xx, and none.
    pub(crate) fn errors(&self) -> [u64; 3] {
        let count = |from: u16, to: u16| self.statuses.range(from..to).map(|(_, count)| count).sum();
        [count(400, 500), count(500, 600), count(0, 1)]
    }
}

/// What is known of a scope.
#[derive(Default)]
struct ScopeState {
    /// Memories that were requested.
    created: AtomicU64,
    /// Memories that were deleted, the oldest.
    deleted: AtomicU64,
}

/// Answers of one kind and status: how many, and the beginning of the first.
type Answers = BTreeMap<(Kind, u16), (u64, String)>;

/// All requests, and what came of them.
pub(crate) struct Traffic {
    plan: Plan,
    next: AtomicU64,
    turn: AtomicU64,
    scopes: [ScopeState; 3],
    interval: Mutex<Interval>,
    answers: Mutex<Answers>,
    /// The last recall with hits: its scope and its answer.
    recalled: Mutex<Option<(usize, Value)>>,
    is_over: AtomicBool,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request, before it is sent.
struct Prepared {
    kind: Kind,
    method: &'static str,
    path: String,
    body: Value,
    scope: usize,
}

impl Traffic {
    pub(crate) fn new(plan: Plan) -> Self {
        Self {
            plan,
            next: AtomicU64::new(0),
            turn: AtomicU64::new(0),
            scopes: Default::default(),
            interval: Mutex::default(),
            answers: Mutex::default(),
            recalled: Mutex::default(),
            is_over: AtomicBool::new(false),
        }
    }

    /// Makes the first two scopes ready.
    pub(crate) fn prepare(&self) {
        let agent = agent(LONG_TIMEOUT);
        (0..2).for_each(|scope| self.build_trails(&agent, scope));
    }

    /// Starts all threads; they end after this time.
    pub(crate) fn start(self: &Arc<Self>, begun: Instant, how_long: Duration) -> Vec<JoinHandle<()>> {
        let mut threads = Vec::new();
        for _ in 0..THREADS {
            let traffic = Arc::clone(self);
            threads.push(std::thread::spawn(move || traffic.send_all(begun, how_long)));
        }
        let traffic = Arc::clone(self);
        threads.push(std::thread::spawn(move || traffic.change_scopes(begun)));
        threads
    }

    /// Latencies and statuses since the last call.
    pub(crate) fn take_interval(&self) -> Interval {
        std::mem::take(&mut lock(&self.interval))
    }

    /// Answers by kind and status, with an example of each error.
    pub(crate) fn report(&self) -> String {
        let mut text = "answers by kind and status:\n".to_owned();
        for ((kind, status), (count, example)) in lock(&self.answers).iter() {
            _ = writeln!(text, "  {:<10} {status:>3}  {count:>9}  {example}", format!("{kind:?}"));
        }
        text
    }

    /// Sends requests when they are due, until there are no more.
    fn send_all(&self, begun: Instant, how_long: Duration) {
        let agent = agent(TIMEOUT);
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let after = Duration::from_nanos(number * 1_000_000_000 / self.plan.rate);
            if after >= how_long {
                break self.is_over.store(true, Ordering::Relaxed);
            }
            let due = begun + after;
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let mut random = SplitMix64(self.plan.seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let request = self.request(&mut random);
            let answer = self.send(&agent, &request);
            lock(&self.interval).times.push(due.elapsed());
            let is_recall = request.kind == Kind::Recall;
            if let Some(answer) = answer.filter(|answer| is_recall && !answer["hits"][0].is_null()) {
                *lock(&self.recalled) = Some((request.scope, answer));
            }
        }
    }

    /// Sends a request, and counts its answer; returns that if it is one of success.
    fn send(&self, agent: &Agent, request: &Prepared) -> Option<Value> {
        let uri = format!("{}{}", self.plan.base, request.path);
        let sent = match request.method {
            "GET" => agent.get(uri).call(),
            "DELETE" => agent.delete(uri).call(),
            "PATCH" => agent.patch(uri).send_json(&request.body),
            _ => agent.post(uri).send_json(&request.body),
        };
        let (status, text) = match sent {
            Ok(answer) => {
                let status = answer.status().as_u16();
                match answer.into_body().read_to_string() {
                    Ok(text) => (status, text),
                    Err(why) => (0, why.to_string()),
                }
            }
            Err(why) => (0, why.to_string()),
        };
        let is_success = (200..300).contains(&status);
        *lock(&self.interval).statuses.entry(status).or_default() += 1;
        let mut answers = lock(&self.answers);
        let counted = answers.entry((request.kind, status)).or_default();
        counted.0 += 1;
        if !is_success && counted.1.is_empty() {
            counted.1 = format!("{} {}: ", request.method, request.path)
                + &text.chars().take(300).collect::<String>();
        }
        drop(answers);
        is_success.then(|| serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    /// The scope of writes, and the former one.
    fn current(&self) -> (u64, usize, usize) {
        let turn = self.turn.load(Ordering::Relaxed);
        let scope = |turn: u64| usize::try_from(turn % 3).unwrap_or(0);
        (turn, scope(turn), scope(turn + 2))
    }

    fn request(&self, random: &mut SplitMix64) -> Prepared {
        let mut drawn = random.below(100);
        let kind = MIX.iter().find(|(_, share)| {
            let is_this = drawn < *share;
            drawn = drawn.saturating_sub(*share);
            is_this
        });
        let kind = kind.map_or(Kind::Read, |(kind, _)| *kind);
        let (turn, current, former) = self.current();
        let reads_former = turn > 0 && random.below(4) == 0;
        let scope = if reads_former && matches!(kind, Kind::Recall | Kind::Context | Kind::Read) {
            former
        } else {
            current
        };
        let turn = if scope == current { turn } else { turn - 1 };
        self.on_memories(kind, turn, scope, random)
            .or_else(|| on_others(kind, scope, random))
            .unwrap_or_else(|| self.create(turn, scope, random))
    }

    /// A request that names a memory, if there is one by now.
    fn on_memories(&self, kind: Kind, turn: u64, scope: usize, random: &mut SplitMix64) -> Option<Prepared> {
        let state = &self.scopes[scope];
        let settled = state.created.load(Ordering::Relaxed).checked_sub(UNSETTLED)?;
        let recent = |random: &mut SplitMix64| {
            let within = RECENT.min(settled);
            // The newest are met most often.
            let back = random.below(within).min(random.below(within));
            format!("m-{turn}-{}", settled - 1 - back)
        };
        if settled == 0 {
            return None;
        }
        let name = SCOPES[scope];
        let session = format!("s-{turn}-{}", settled / SESSION);
        let prepared = |method, path, body| Some(Prepared { kind, method, path, body, scope });
        match kind {
            Kind::Access => {
                // A third belongs to a group that is accessed again and again, so that there is something to promote and to cluster.
                let first = (settled - 1) / 400 * 400;
                let id = if random.below(3) == 0 && settled - first > GROUP {
                    format!("m-{turn}-{}", first + random.below(GROUP))
                } else {
                    recent(random)
                };
                let body = if random.below(2) == 0 {
                    json!({"scope": name, "session": session})
                } else {
                    json!({"scope": name})
                };
                prepared("POST", format!("/v1/memories/{id}/access"), body)
            }
            Kind::Read => {
                prepared("GET", format!("/v1/memories/{}?scope={name}", recent(random)), Value::Null)
            }
            Kind::Update => {
                let body = json!({"scope": name, "tags": [WORDS[index(random, 16)]]});
                prepared("PATCH", format!("/v1/memories/{}", recent(random)), body)
            }
            Kind::EndSession => {
                prepared("POST", format!("/v1/sessions/{session}/end"), json!({"scope": name}))
            }
            Kind::Delete => {
                let deleted = state.deleted.load(Ordering::Relaxed);
                if deleted + KEPT >= settled {
                    return prepared(
                        "GET",
                        format!("/v1/memories/{}?scope={name}", recent(random)),
                        Value::Null,
                    );
                }
                let number = state.deleted.fetch_add(1, Ordering::Relaxed);
                prepared("DELETE", format!("/v1/memories/m-{turn}-{number}?scope={name}"), Value::Null)
            }
            Kind::Outcome => {
                let recalled = lock(&self.recalled).take().filter(|(of, _)| *of == scope)?.1;
                let used = json!([{"id": recalled["hits"][0]["id"], "path": recalled["hits"][0]["path"]}]);
                let body =
                    json!({"scope": name, "recall_id": recalled["recall_id"], "reward": 1, "used": used});
                prepared("POST", "/v1/outcomes".to_owned(), body)
            }
            _ => None,
        }
    }

    fn create(&self, turn: u64, scope: usize, random: &mut SplitMix64) -> Prepared {
        let number = self.scopes[scope].created.fetch_add(1, Ordering::Relaxed);
        let [a, b, c] = [0; 3].map(|_| WORDS[index(random, 16)]);
        let body = json!({
            "scope": SCOPES[scope],
            "id": format!("m-{turn}-{number}"),
            "content": format!("note {number}: the {a} of module {} waits for the {b}, says the {c}", random.below(500)),
            "session": format!("s-{turn}-{}", number / SESSION),
            "mentions": [format!("module {}", random.below(500)), format!("{a} {}", random.below(50))],
        });
        Prepared { kind: Kind::Create, method: "POST", path: "/v1/memories".to_owned(), body, scope }
    }

    /// Moves to the next scope at each turn, deletes the one before the former, and makes it ready for the turn after.
    fn change_scopes(&self, begun: Instant) {
        for turn in 1.. {
            // A turn that took longer than it should is followed by a whole one.
            let passed = begun.elapsed().as_secs() / self.plan.turn.as_secs();
            let due = begun + Duration::from_secs(self.plan.turn.as_secs() * (passed + 1));
            while Instant::now() < due {
                if self.is_over.load(Ordering::Relaxed) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(200));
            }
            self.turn.store(turn, Ordering::Relaxed);
            std::thread::sleep(GRACE);
            // The connections of the turn before were closed for idleness.
            let agent = agent(LONG_TIMEOUT);
            for job in ["fade", "sweep", "audit"] {
                self.send(&agent, &on_turn("POST", format!("/v1/jobs/{job}/run"), json!({})));
            }
            let (_, current, _) = self.current();
            let next = (current + 1) % 3;
            self.delete_scope(&agent, next);
            self.scopes[next].created.store(0, Ordering::Relaxed);
            self.scopes[next].deleted.store(0, Ordering::Relaxed);
            self.build_trails(&agent, next);
        }
    }

    /// Deletes all of a scope: a dry run tells the number that the guard wants to be accepted.
    fn delete_scope(&self, agent: &Agent, scope: usize) {
        let path = format!("/v1/scopes/{}", SCOPES[scope]);
        let counted = self.send(agent, &on_turn("DELETE", format!("{path}?dry_run=true"), Value::Null));
        let total = counted.and_then(|counted| counted["total"].as_i64()).unwrap_or(0);
        if total == 0 {
            return;
        }
        let begun = Instant::now();
        let deletion = on_turn("DELETE", format!("{path}?accept_affected={total}"), Value::Null);
        let done = if self.send(agent, &deletion).is_some() { "deleted" } else { "NOT deleted" };
        println!("scope {}: {total} nodes {done} in {:.1} s", SCOPES[scope], begun.elapsed().as_secs_f64());
    }

    /// Rooms of a scope in a ring.
    fn build_trails(&self, agent: &Agent, scope: usize) {
        let name = SCOPES[scope];
        for room in 0..ROOMS {
            let body = json!({"scope": name, "label": "Room", "id": format!("room-{room}")});
            self.send(agent, &on_turn("POST", "/v1/trails/nodes".to_owned(), body));
        }
        for room in 0..ROOMS {
            let [from, to] = [room, (room + 1) % ROOMS].map(|room| format!("room-{room}"));
            let body = json!({"scope": name, "from": from, "to": to, "type": "HALL"});
            self.send(agent, &on_turn("POST", "/v1/trails/edges".to_owned(), body));
        }
    }
}

/// A request that names no memory.
fn on_others(kind: Kind, scope: usize, random: &mut SplitMix64) -> Option<Prepared> {
    let name = SCOPES[scope];
    let module = |random: &mut SplitMix64| format!("module {}", random.below(500));
    let words = |random: &mut SplitMix64| {
        format!("what does the {} of {} wait for", WORDS[index(random, 16)], module(random))
    };
    let room = |room: u64| format!("room-{}", room % ROOMS);
    let (path, body) = match kind {
        Kind::Observe => {
            let body =
                json!({"scope": name, "from": module(random), "to": module(random), "type": "waits for"});
            ("/memory/graph/edges", body)
        }
        Kind::Deposit => {
            let first = random.below(ROOMS);
            let path: Vec<String> = (first..first + 4).map(room).collect();
            ("/v1/trails/paths", json!({"scope": name, "path": path}))
        }
        Kind::Explore => {
            ("/v1/trails/explorations", json!({"scope": name, "node": room(random.below(ROOMS))}))
        }
        Kind::Assert => {
            let value = random.below(1_000);
            let body = json!({"scope": name, "entity": module(random), "relation": "soak:version", "value": value, "source": "soak"});
            ("/v1/facts", body)
        }
        Kind::Recall => ("/v1/recall", json!({"scope": name, "text": words(random), "top_k": 10})),
        Kind::Context => ("/v1/context", json!({"scope": name, "text": words(random), "max_tokens": 500})),
        Kind::Facts | Kind::Next => {
            let path = if kind == Kind::Facts {
                format!("/v1/facts?scope={name}&limit=20&entity=module%20{}", random.below(500))
            } else {
                format!("/v1/trails/next?scope={name}&place={}", room(random.below(ROOMS)))
            };
            return Some(Prepared { kind, method: "GET", path, body: Value::Null, scope });
        }
        _ => return None,
    };
    Some(Prepared { kind, method: "POST", path: path.to_owned(), body, scope })
}

fn on_turn(method: &'static str, path: String, body: Value) -> Prepared {
    Prepared { kind: Kind::Turn, method, path, body, scope: 0 }
}

fn index(random: &mut SplitMix64, bound: u64) -> usize {
    usize::try_from(random.below(bound)).unwrap_or(0)
}

fn agent(limit: Duration) -> Agent {
    Agent::config_builder().http_status_as_error(false).timeout_global(Some(limit)).build().into()
}
