//! A campaign: rounds of hurts, rest and judgement every ten.

use super::api::{Api, Ports};
use super::arguments::Arguments;
use super::client::{Client, Gate, Journal, service};
use super::disruption::{Disruption, Kind};
use super::history::{self, What};
use super::observer::Observer;
use super::planted;
use super::random::Random;
use super::report::{distribution, retakes};
use super::rows::{self, Rows};
use super::server::Host;
use super::server_rounds::{Says, all_say, post, until as wait_until};
use super::worker::{Struck, Timing, Worker};
use ebb_core::clock::Clock;
use ebb_core::jobs::JobName;
use ebb_core::scheduler::driver::dry_run_job;
use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Rounds between two judgements.
const JUDGED_EVERY: u64 = 10;
const CLIENTS: usize = 4;
/// What slow clients may make a worker take, a build for tests: three times what it takes at rest.
const MEMORY_MOST_MIB: u64 = 384;

/// Runs what the arguments ask for.
///
/// # Errors
/// The first broken promise, or whatever kept the harness from judging.
pub(crate) async fn all(arguments: &Arguments) -> Result<(), String> {
    if let Some(bug) = &arguments.bug {
        return caught(arguments, bug).await;
    }
    if arguments.planted.is_empty() {
        return campaign(arguments).await.map_err(String::from);
    }
    let mut missed = Vec::new();
    for bug in &arguments.planted {
        if !planted::is_caught(bug, std::env::args().skip(1))? {
            missed.push(bug.as_str());
        }
    }
    if missed.is_empty() { Ok(()) } else { Err(format!("not caught: {}", missed.join(", "))) }
}

/// A campaign in a copy with a bug: succeeds when the checker notices it.
async fn caught(arguments: &Arguments, bug: &str) -> Result<(), String> {
    match campaign(arguments).await {
        Err(Ended::Broken(round, why)) => {
            let first = why.lines().nth(1).unwrap_or_default();
            println!("planted {bug}: caught by round {round}: {first}");
            Ok(())
        }
        Err(Ended::Harness(why)) => Err(why),
        Ok(()) => Err(format!("planted {bug}: not caught in {} rounds", arguments.rounds)),
    }
}

/// Why a campaign ended early.
pub(super) enum Ended {
    /// A promise was broken, as was seen after so many rounds.
    Broken(u64, String),
    /// The harness could not go on.
    Harness(String),
}

impl From<String> for Ended {
    fn from(why: String) -> Self {
        Self::Harness(why)
    }
}

impl From<Ended> for String {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Broken(round, why) => format!("after round {round}: {why}"),
            Ended::Harness(why) => why,
        }
    }
}

pub(super) struct Campaign<'a> {
    arguments: &'a Arguments,
    pub(super) folder: PathBuf,
    pub(super) host: Host,
    pub(super) observer: Observer,
    pub(super) journal: Journal,
    timing: Timing,
    pub(super) workers: Vec<Worker>,
    /// The oldest first.
    apis: VecDeque<Api>,
    ports: Ports,
    random: Random,
    /// Proxies whose connections are to stay open though their workers are gone.
    silent: Vec<Worker>,
    /// Workers that are paused, and until when.
    paused: Vec<(Worker, Instant)>,
    /// Attempts that were seen to hold something.
    met: BTreeSet<String>,
    /// How many outcomes were filed.
    filed: u64,
    /// The next round whose disruption is to be given to a worker.
    next: u64,
    pub(super) done: u64,
}

async fn campaign(arguments: &Arguments) -> Result<(), Ended> {
    let name = format!("kill-{}-{}", arguments.seed, arguments.bug.as_deref().unwrap_or("none"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    println!(
        "seed {} from round {}: {} rounds, {} workers; histories in {}",
        arguments.seed,
        arguments.from,
        arguments.rounds,
        arguments.workers,
        folder.display()
    );
    let mapping = folder.join("notes.toml");
    let adopts = format!("adopt = [{{ file = {mapping:?} }}]\n");
    for (file, text) in [(&mapping, rows::MAPPING), (&folder.join("ebb.toml"), adopts.as_str())] {
        std::fs::write(file, text).map_err(|why| format!("{}: {why}", file.display()))?;
    }
    let host = Host::start(&folder).await?;
    prepare(&host).await?;
    let observer = Observer::open(&host)?;
    let journal = Journal::open(&folder, "harness")?;
    let Rows { names, text } = rows::adopted();
    observer.run(&text).await?;
    journal.tell(&What::Leave { rows: names });
    let mut campaign = Campaign {
        arguments,
        observer,
        journal,
        timing: Timing { defaults: arguments.defaults },
        folder,
        host,
        workers: Vec::new(),
        apis: VecDeque::new(),
        ports: Ports::default(),
        random: Random(arguments.seed),
        silent: Vec::new(),
        paused: Vec::new(),
        met: BTreeSet::new(),
        filed: 0,
        next: arguments.from,
        done: 0,
    };
    let ended = campaign.run().await;
    let Campaign { host, workers, apis, silent, paused, .. } = campaign;
    drop((workers, apis, silent, paused));
    host.end().await;
    ended
}

/// An empty database whose memories live and die within seconds.
async fn prepare(host: &Host) -> Result<(), String> {
    let service = service(host, &host.uri)?;
    service.initialise().await.map_err(|why| why.to_string())?;
    let observer = Observer::open(host)?;
    observer.join_two().await?;
    observer.run(
        "MATCH (c:ConsolidationConfig) SET c.workingDecay = 200.0, c.shortTermDecay = 40.0, c.longTermDecay = 1.0, \
         c.shortToLongThreshold = 4.0 RETURN c.name AS name",
    )
    .await
}

impl Campaign<'_> {
    async fn run(&mut self) -> Result<(), Ended> {
        self.start_apis().await?;
        let mut clients = Vec::new();
        for n in 0..CLIENTS {
            let (name, seed, ports) = (format!("client-{n}"), self.random.bits(), self.ports.clone());
            clients.push(Client::new(&self.host, &self.folder, &name, seed, ports).await?);
        }
        while self.done < self.arguments.rounds {
            let until = self.arguments.rounds.min(self.done + JUDGED_EVERY);
            let gate = Gate::default();
            let mut working = tokio::task::JoinSet::new();
            for client in clients.drain(..) {
                let (gate, runtime) = (gate.clone(), tokio::runtime::Handle::current());
                working.spawn_blocking(move || runtime.block_on(client.work(gate)));
            }
            let hurt = self.hurt_until(until).await;
            gate.close();
            clients = working.join_all().await;
            hurt?;
            self.rest().await.map_err(|why| self.found(why))?;
            self.judge(self.done == self.arguments.rounds).await?;
        }
        Ok(())
    }

    pub(super) fn found(&self, why: String) -> Ended {
        Ended::Broken(self.done, why)
    }

    async fn hurt_until(&mut self, until: u64) -> Result<(), Ended> {
        let mut looked = Instant::now();
        let mut moved = Instant::now();
        while self.done < until {
            self.hire(until).await?;
            self.look_at_apis()?;
            self.write_past_slow_clients().await?;
            let struck: Vec<(usize, Struck)> = self
                .workers
                .iter_mut()
                .enumerate()
                .filter_map(|(index, worker)| worker.strike().map(|struck| (index, struck)))
                .collect();
            for (index, struck) in struck.into_iter().rev() {
                moved = Instant::now();
                self.struck(index, struck);
            }
            self.wake();
            if looked.elapsed() > Duration::from_millis(150) {
                looked = Instant::now();
                if self.random.once_in(4) {
                    let one = self.random.below(self.apis.len());
                    self.apis[one].cut(&mut self.random);
                }
                // A server that is gone is no look.
                if let Ok(look) = self.observer.look().await {
                    self.journal.tell(&look);
                }
                self.filed += 1;
                let id = format!("outcome-{}", self.filed);
                self.journal.ask(&What::Outcome { id: id.clone() }, self.observer.file(&id)).await;
                if let Ok(claimed) = self.observer.claimed().await {
                    // One that has just come: one that stays is a fault, and not to be put right by hand.
                    let new =
                        claimed.iter().find(|id| !self.met.contains(*id)).filter(|_| self.done % 3 == 1);
                    if let Some(id) = new {
                        self.release(id).await;
                    }
                    self.met.extend(claimed);
                }
            }
            if moved.elapsed() > Duration::from_secs(if self.timing.defaults { 60 } else { 30 }) {
                moved = Instant::now();
                // A point that nobody comes to, since others do the work, is a kill at any time.
                if let Some(worker) =
                    self.workers.iter_mut().find(|worker| worker.disruption != Disruption::None)
                {
                    worker.disruption = Disruption::Kill(Duration::ZERO);
                }
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }

    /// A person takes an attempt from its holder, as `ebb attempt release` does.
    async fn release(&self, id: &str) {
        if let Ok(service) = service(&self.host, &self.host.uri) {
            let _ = tokio::time::timeout(Duration::from_secs(5), service.store().release_attempt(id)).await;
        }
    }

    pub(super) fn kind(&self, round: u64) -> Kind {
        let mix = &self.arguments.mix;
        mix[usize::try_from(round).unwrap_or(0) % mix.len()]
    }

    /// As many workers as there are to be, each with the disruption of a round of its own; and the round of the server, if it is
    /// its turn.
    async fn hire(&mut self, until: u64) -> Result<(), Ended> {
        while self.workers.len() < self.arguments.workers {
            self.run_immediate_rounds(until).await?;
            let armed =
                self.workers.iter().filter(|worker| worker.disruption != Disruption::None).count() as u64;
            let last = self.arguments.from + until;
            // A round that hurts the server waits until all workers are there, and arms none.
            let wanted =
                self.next < last && self.done + armed < until && !self.kind(self.next).is_of_server();
            let (round, disruption) = if wanted {
                self.next += 1;
                let round = self.next - 1;
                (round, Disruption::of(self.arguments.seed, round, self.kind(round)))
            } else {
                (0, Disruption::None)
            };
            let worker = Worker::start(&self.host, &self.folder, self.timing, round, disruption).await?;
            self.workers.push(worker);
        }
        let calm =
            self.paused.is_empty() && self.workers.iter().all(|worker| worker.disruption == Disruption::None);
        if calm && self.next < self.arguments.from + until && self.kind(self.next).is_of_server() {
            self.next += 1;
            return self.hurt_server(self.next - 1).await;
        }
        // Workers that were spared are armed by nobody, so a round that is left over takes one of them.
        let armed = self.workers.iter().any(|worker| worker.disruption != Disruption::None);
        if !armed && self.done < until && self.paused.is_empty() && self.next < self.arguments.from + until {
            let spared = self.workers.remove(0);
            spared.request_stop();
            self.silent.push(spared);
        }
        Ok(())
    }

    /// Writes a memory through a worker that slow clients occupy: it must let others in, and not grow without bound.
    async fn write_past_slow_clients(&mut self) -> Result<(), Ended> {
        let occupied = |worker: &Worker| worker.is_to_answer().map(|api| (worker.port, api, worker.round));
        let Some((port, api, round)) = self.workers.iter().find_map(occupied) else { return Ok(()) };
        if !all_say(&[port], Says::Ready).await {
            return Ok(());
        }
        let id = format!("slow-{round}");
        let content = format!("what {id} says");
        let body = serde_json::json!({ "id": id, "content": content });
        let asked = Instant::now();
        let answer = post(api, "/v1/memories", body).await;
        if answer.as_ref().is_ok_and(|status| *status == 201) {
            let now = self.observer.created(&id).await?;
            self.journal.tell(&What::Remember { id, content, now, session: None });
        } else {
            return Err(self.found(format!("slow clients\na write beside them got {answer:?}")));
        }
        let Some(worker) = self.workers.iter_mut().find(|worker| worker.port == port) else { return Ok(()) };
        worker.answered = true;
        let peak = worker.peak_mib().unwrap_or(0);
        println!(
            "round {round}: beside slow clients a write took {} ms; at most {peak} MiB",
            asked.elapsed().as_millis()
        );
        if peak > MEMORY_MOST_MIB {
            return Err(self.found(format!("slow clients\nthey made the worker take {peak} MiB")));
        }
        Ok(())
    }

    /// None of the API processes ends by itself, and none answers as no request may be answered.
    fn look_at_apis(&mut self) -> Result<(), Ended> {
        if let Some(port) = self.apis.iter_mut().find_map(|api| api.is_gone().then(|| api.port())) {
            return Err(self.found(format!("API processes\nthat at port {port} has ended; see apis.log")));
        }
        match self.ports.broken() {
            Some(why) => Err(self.found(format!("API processes\na request was answered with {why}"))),
            None => Ok(()),
        }
    }

    /// As many API processes as there are to be.
    async fn start_apis(&mut self) -> Result<(), Ended> {
        while self.apis.len() < self.arguments.apis {
            self.apis.push_back(Api::start(&self.host, &self.folder).await?);
            self.ports.set(self.apis.iter().map(Api::port).collect());
        }
        Ok(())
    }

    /// The rounds that concern no worker, if it is their turn.
    async fn run_immediate_rounds(&mut self, until: u64) -> Result<(), Ended> {
        while self.done < until
            && self.next < self.arguments.from + until
            && self.kind(self.next).is_immediate()
        {
            let round = self.next;
            match self.kind(round) {
                Kind::Api => self.kill_api(round).await?,
                Kind::Foreign => self.write_rows(round, rows::foreign(round)).await,
                _ => self.write_rows(round, rows::poisoned(round)).await,
            }
            self.next += 1;
            self.done += 1;
        }
        Ok(())
    }

    /// Kills the API process that is there the longest, whatever it does just then, and starts another. All of them are at work
    /// before that.
    async fn kill_api(&mut self, round: u64) -> Result<(), Ended> {
        let answered = self.ports.answered();
        let is_at_work = async || {
            let ports: Vec<u16> = self.apis.iter().map(Api::port).collect();
            all_say(&ports, Says::Ready).await && self.ports.answered() > answered
        };
        if wait_until(Duration::from_secs(60), is_at_work).await.is_none() {
            return Err(
                self.found("API processes\nnot ready, or no request answered, within 60 s".to_owned())
            );
        }
        let how = "kill".to_owned();
        if let Some(api) = self.apis.pop_front() {
            println!("round {round}: the API process at port {}: {how}", api.port());
            self.journal.tell(&What::Hurt { victim: format!("api-{}", api.port()), how });
        }
        self.start_apis().await
    }

    async fn write_rows(&self, round: u64, rows: Rows) {
        println!("round {round}: {} rows of another program", rows.names.len());
        let Rows { names, text } = rows;
        self.journal.ask(&What::Leave { rows: names }, self.observer.run(&text)).await;
    }

    fn struck(&mut self, index: usize, struck: Struck) {
        let worker = self.workers.remove(index);
        let (victim, how) = (worker.name.clone(), worker.disruption.to_string());
        self.journal.tell(&What::Hurt { victim: victim.clone(), how: how.clone() });
        if worker.disruption == Disruption::None {
            println!("{victim} ended by itself; see workers.log");
            return;
        }
        println!("round {}: {victim}: {how}", worker.round);
        self.done += 1;
        match struck {
            Struck::Paused => self.paused.push((worker, Instant::now() + 3 * self.timing.lease())),
            Struck::Gone => self.silent.push(worker),
        }
    }

    /// Lets workers go on whose pause is over.
    fn wake(&mut self) {
        let now = Instant::now();
        let (over, still) =
            std::mem::take(&mut self.paused).into_iter().partition(|(_, until)| *until <= now);
        self.paused = still;
        for (mut worker, _) in Vec::<(Worker, Instant)>::from_iter::<Vec<_>>(over) {
            worker.resume();
            self.workers.push(worker);
        }
    }

    /// Waits until all jobs have run since the last write and nothing is open; then the workers stop.
    async fn rest(&mut self) -> Result<(), String> {
        // Rest is promised, not when: a server that has just started takes seconds to plan each statement. This is where
        // waiting ends for a campaign that never comes to it.
        let limit = Duration::from_secs(240);
        for (worker, _) in &mut self.paused {
            worker.resume();
        }
        let paused = std::mem::take(&mut self.paused);
        self.workers.extend(paused.into_iter().map(|(worker, _)| worker));
        // A run may begin just when its worker is told to stop, which then leaves it to whoever comes next.
        for _ in 0..4 {
            if self.stopped(limit).await? {
                return Ok(());
            }
        }
        Err("residue\nI10: something was left open by workers that were told to stop, four times".to_owned())
    }

    /// Waits for rest and stops the workers; whether nothing was left open then.
    async fn stopped(&mut self, limit: Duration) -> Result<bool, String> {
        // Somebody is there who is not to die.
        let rested = Worker::start(&self.host, &self.folder, self.timing, 0, Disruption::None).await?;
        self.workers.push(rested);
        let (began, since) = (Instant::now(), Clock::Real.now().millis() + 1_000);
        loop {
            if began.elapsed() > limit {
                return Err(format!("no rest\nI10: no rest within {} s", limit.as_secs()));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
            // Occurrences begin with the second.
            if (400..700).contains(&(Clock::Real.now().millis() % 1_000))
                && self.observer.is_at_rest(since).await.unwrap_or(false)
            {
                break;
            }
        }
        let mut slowest = Duration::ZERO;
        for worker in &self.workers {
            worker.request_stop();
        }
        for mut worker in self.workers.drain(..) {
            let waits = worker.disruption == Disruption::None;
            match worker.gone().await {
                Some(took) => slowest = slowest.max(took),
                None if waits => {
                    return Err("a worker did not stop within ten seconds of SIGTERM\n".to_owned());
                }
                None => {}
            }
        }
        self.silent.clear();
        println!(
            "at rest after {:.1} s; workers stopped within {} ms",
            began.elapsed().as_secs_f64(),
            slowest.as_millis()
        );
        // What the last one left is free at once.
        let until = Instant::now() + Duration::from_secs(1);
        while Instant::now() < until {
            if self.observer.is_at_rest(since).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn judge(&self, last: bool) -> Result<(), Ended> {
        if last {
            let service = service(&self.host, &self.host.uri)?;
            for job in JobName::ALL {
                let before = self.observer.hash().await?;
                let now = Clock::Real.now().after(60_000.0);
                dry_run_job(service.store(), job, now, Default::default())
                    .await
                    .map_err(|why| why.to_string())?;
                let after = self.observer.hash().await?;
                self.journal.tell(&What::DryRun { job: job.name().to_owned(), before, after });
            }
        }
        if self.ports.answered() == 0 {
            return Err(self.found("API processes\nno request was answered by them".to_owned()));
        }
        let graph = self.observer.read().await?;
        let text = serde_json::to_string(&graph).map_err(|why| why.to_string())?;
        std::fs::write(self.folder.join("graph.json"), text).map_err(|why| why.to_string())?;
        let program = std::env::current_exe().map_err(|why| why.to_string())?;
        let judged = tokio::process::Command::new(program).arg("--check").arg(&self.folder).output().await;
        let judged = judged.map_err(|why| why.to_string())?;
        print!("after {} rounds: {}", self.done, String::from_utf8_lossy(&judged.stdout));
        let times = retakes(&history::read(&self.folder)?);
        println!("re-takes of what the hurt held: {}", distribution(&times));
        if judged.status.success() {
            return Ok(());
        }
        Err(self.found(String::from_utf8_lossy(&judged.stderr).into_owned()))
    }
}
