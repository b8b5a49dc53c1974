//! The world of the model: one server with its records, workers that go through a promotion, and what may happen to them.

use ebb_core::domain::attempt::{
    AttemptEvent, AttemptRecord, AttemptState, Opening, Right, RunEvent, RunFacts, RunRecord, RunState,
    open_run,
};
use ebb_core::domain::units::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// How long a lease lasts, in ticks of the server's clock.
const LEASE: i64 = 4;

/// A rule that is left out, to see that it is missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Bug {
    /// Transactions of a run begin without its guard.
    NoGuard,
    /// A take leaves the fence as it is.
    SameFence,
    /// What is applied is not asked for state and holder.
    BlindApply,
    /// A transaction of unknown outcome is done again without looking for its receipt.
    NoReceipt,
    /// Reap removes the marks and leaves the attempt as it is.
    HalfReap,
    /// A claim does not look whether another attempt holds the memory.
    BlindClaim,
}

impl Bug {
    pub(crate) const ALL: [Self; 6] =
        [Self::NoGuard, Self::SameFence, Self::BlindApply, Self::NoReceipt, Self::HalfReap, Self::BlindClaim];
}

/// What becomes of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum End {
    Known,
    AppliedUnknown,
    LostUnknown,
    /// It waits at the server, with its locks, for a client that is silent.
    Hangs,
}

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// A worker goes on: reaps, then the next transaction of what it is doing.
    Act(usize, End),
    /// A worker renews its lease.
    Beat(usize),
    /// A worker ends one attempt whose lease is over.
    Reap(usize),
    Crash(usize),
    Restart(usize),
    Pause(usize),
    Resume(usize),
    /// A worker leaves its run to whoever comes next.
    Release(usize),
    /// A worker's own clock is set to another instant.
    Jump(usize, i64),
    /// The server's clock goes on.
    Tick(i64),
    /// The next occurrence of the job is due.
    Due,
    /// A memory becomes ripe.
    Ripen(usize),
    /// A client asks, perhaps again, for a deposit under a request id.
    Deposit(usize, End),
    /// The session of a memory ends: it rises without a run.
    EndSession(usize),
    /// A person takes an attempt away from its holder.
    Abort,
    /// A transaction that hangs is ended: its client's commit arrives after all, or the server, a restart or another
    /// worker takes it back.
    Decide(bool),
    /// Claims take another number of memories.
    Policy(usize),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Memory {
    tier: u8,
    ripe: bool,
    /// Stubs of the steps to short term and to long term.
    stubs: [u8; 2],
}

/// The work of a worker, in the order of its transactions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Doing {
    Opening,
    Claiming { run: usize, fence: i64, attempt: u32 },
    Applying { run: usize, fence: i64, attempt: u32, ids: Vec<usize> },
    Closing { run: usize, fence: i64 },
}

impl Doing {
    fn run(&self) -> Option<(usize, i64)> {
        match self {
            Self::Opening => None,
            Self::Claiming { run, fence, .. }
            | Self::Applying { run, fence, .. }
            | Self::Closing { run, fence } => Some((*run, *fence)),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Life {
    Up,
    Paused,
    Down,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Worker {
    /// Anew at each start.
    holder: String,
    life: Life,
    doing: Doing,
    /// Whether its last commit was of unknown outcome.
    unsure: bool,
    /// How far its clock is off. It dates attempts, and decides nothing.
    skew: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Attempt {
    record: AttemptRecord,
    started: i64,
    /// How often its work was committed.
    applied: u8,
}

/// A transaction that hangs: what it was going to do, begun when its guard passed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Hanging {
    doing: Doing,
    holder: String,
    since: i64,
}

/// Everything there is.
#[derive(Debug, Clone)]
pub(crate) struct World {
    now: i64,
    due: usize,
    claim: usize,
    runs: Vec<RunRecord>,
    attempts: BTreeMap<u32, Attempt>,
    memories: Vec<Memory>,
    marks: BTreeSet<(usize, u32)>,
    /// Whether a request was recorded, and how often it had its effect.
    requests: [(bool, u8); 3],
    hanging: Option<Hanging>,
    workers: Vec<Worker>,
    starts: usize,
    next: u32,
    bug: Option<Bug>,
    /// The highest fence that committed, by run.
    committed: Vec<i64>,
    closed: Vec<u8>,
    broken: Option<String>,
    /// How many things went wrong so far.
    pub(crate) faults: u64,
}

impl World {
    pub(crate) fn new(workers: usize, memories: usize, bug: Option<Bug>) -> Self {
        let worker = |n| Worker {
            holder: format!("w{n}"),
            life: Life::Up,
            doing: Doing::Opening,
            unsure: false,
            skew: 0,
        };
        Self {
            now: 0,
            due: 1,
            claim: 2,
            runs: Vec::new(),
            attempts: BTreeMap::new(),
            memories: vec![Memory { tier: 0, ripe: true, stubs: [0, 0] }; memories],
            marks: BTreeSet::new(),
            requests: [(false, 0); 3],
            hanging: None,
            workers: (0..workers).map(worker).collect(),
            starts: workers,
            next: 0,
            bug,
            committed: Vec::new(),
            closed: Vec::new(),
            broken: None,
            faults: 0,
        }
    }

    pub(crate) fn workers(&self) -> usize {
        self.workers.len()
    }

    pub(crate) fn memories(&self) -> usize {
        self.memories.len()
    }

    pub(crate) fn promotions(&self) -> u64 {
        self.memories.iter().map(|memory| u64::from(memory.tier)).sum()
    }

    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    fn breaks(&mut self, why: impl FnOnce() -> String) {
        if self.broken.is_none() {
            self.broken = Some(why());
        }
    }

    /// Lets something happen. What cannot happen now does nothing.
    pub(crate) fn step(&mut self, event: Event) {
        match event {
            Event::Act(worker, end) => self.act(worker, end),
            Event::Beat(worker) => self.beat(worker),
            Event::Reap(worker) if self.is_up(worker) => self.reap(),
            Event::Reap(_) => {}
            Event::Crash(worker) => {
                self.faults += 1;
                self.workers[worker].life = Life::Down;
            }
            Event::Restart(worker) if self.workers[worker].life == Life::Down => {
                let holder = format!("w{}", self.starts);
                self.starts += 1;
                let skew = self.workers[worker].skew;
                self.workers[worker] =
                    Worker { holder, life: Life::Up, doing: Doing::Opening, unsure: false, skew };
            }
            Event::Restart(_) => {}
            Event::Pause(worker) if self.is_up(worker) => {
                self.faults += 1;
                self.workers[worker].life = Life::Paused;
            }
            Event::Pause(_) => {}
            Event::Resume(worker) => {
                if self.workers[worker].life == Life::Paused {
                    self.workers[worker].life = Life::Up;
                }
            }
            Event::Release(worker) => self.release(worker),
            Event::Jump(worker, skew) => {
                self.faults += 1;
                self.workers[worker].skew = skew;
            }
            Event::Tick(ticks) => self.now += ticks,
            Event::Due => self.due += 1,
            Event::Ripen(memory) => {
                let memory = &mut self.memories[memory];
                memory.ripe |= memory.tier < 2;
            }
            Event::Deposit(request, end) => self.deposit(request, end),
            Event::EndSession(memory) => self.end_session(memory),
            Event::Abort => self.abort(),
            Event::Decide(applied) => self.decide(applied),
            Event::Policy(claim) => self.claim = claim,
        }
    }

    fn is_up(&self, worker: usize) -> bool {
        self.workers[worker].life == Life::Up
    }

    /// Whether a transaction on a run has to wait for one that hangs.
    fn waits(&self, run: Option<usize>) -> bool {
        let held = self.hanging.as_ref().map(|hanging| hanging.doing.run().map(|(run, _)| run));
        // One that opens holds the lock of the job, which every open asks for.
        held.is_some_and(|held| held.is_none() || run.is_none() || held == run)
    }

    fn act(&mut self, worker: usize, end: End) {
        if !self.is_up(worker) {
            return;
        }
        let doing = self.workers[worker].doing.clone();
        if self.waits(doing.run().map(|(run, _)| run)) {
            return;
        }
        self.faults += u64::from(end != End::Known);
        let holder = self.workers[worker].holder.clone();
        match end {
            End::Hangs => {
                if self.hanging.is_none() {
                    let since = self.now;
                    self.hanging = Some(Hanging { doing, holder, since });
                    self.workers[worker].unsure = true;
                }
            }
            End::LostUnknown => self.workers[worker].unsure = true,
            End::AppliedUnknown => {
                let unsure = self.workers[worker].unsure;
                let skew = self.workers[worker].skew;
                self.transact(&doing, &holder, self.now, skew, unsure);
                self.workers[worker].unsure = true;
            }
            End::Known => {
                let (unsure, skew) = (self.workers[worker].unsure, self.workers[worker].skew);
                let next = self.transact(&doing, &holder, self.now, skew, unsure);
                self.workers[worker].doing = next.unwrap_or(Doing::Opening);
                self.workers[worker].unsure = false;
            }
        }
    }

    /// One transaction, whole: what its holder does next, or nothing where the protocol refused it.
    fn transact(&mut self, doing: &Doing, holder: &str, now: i64, skew: i64, again: bool) -> Option<Doing> {
        match doing {
            Doing::Opening => self.open(holder, now),
            Doing::Claiming { run, fence, attempt } => self.claim(*run, *fence, *attempt, holder, now, skew),
            Doing::Applying { run, fence, attempt, ids } => {
                self.guard(*run, *fence, holder, now)?;
                self.apply(*attempt, ids, holder, now, again)?;
                self.receipt(*run, *fence);
                Some(Doing::Claiming { run: *run, fence: *fence, attempt: self.name() })
            }
            Doing::Closing { run, fence } => {
                let close = RunEvent::Close { me: holder, fence: *fence, state: RunState::Done };
                let over = self.runs[*run].state.is_terminal();
                let next = self.runs[*run].step(close, now, LEASE).ok()?;
                if !over {
                    self.closed[*run] += 1;
                }
                self.set_run(*run, next);
                Some(Doing::Opening)
            }
        }
    }

    fn name(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn open(&mut self, holder: &str, now: i64) -> Option<Doing> {
        let facts = |index: usize, run: &RunRecord| RunFacts {
            occurrence: index.to_string(),
            state: run.state,
            holder: run.holder.clone(),
            lease_until: Timestamp::from_millis(run.lease_until).expect("an instant"),
        };
        let wanted = self.due - 1;
        let open = self.runs.iter().position(|run| run.state == RunState::Open);
        let open = open.map(|index| facts(index, &self.runs[index]));
        // Occurrences that nobody opened before the next was due are missed.
        let record = (wanted < self.runs.len()).then(|| facts(wanted, &self.runs[wanted]));
        let name = wanted.to_string();
        let server = Timestamp::from_millis(now).expect("an instant");
        match open_run(holder, Some(&name), open.as_ref(), record.as_ref(), server, Right::Lease) {
            Opening::Create => {
                while self.runs.len() < wanted {
                    self.runs.push(RunRecord {
                        state: RunState::Done,
                        holder: None,
                        fence: 0,
                        lease_until: 0,
                        batch: 0,
                    });
                    self.committed.push(0);
                    self.closed.push(1);
                }
                let held = Some(holder.to_owned());
                self.runs.push(RunRecord {
                    state: RunState::Open,
                    holder: held,
                    fence: 1,
                    lease_until: now + LEASE,
                    batch: 0,
                });
                self.committed.push(0);
                self.closed.push(0);
                Some(Doing::Claiming { run: wanted, fence: 1, attempt: self.name() })
            }
            Opening::Take(taken) => {
                let run: usize = taken.parse().expect("an index");
                let mut next = self.runs[run]
                    .step(RunEvent::Take { me: holder, right: Right::Lease }, now, LEASE)
                    .ok()?;
                if self.has(Bug::SameFence) {
                    next.fence -= 1;
                }
                if next.fence <= self.runs[run].fence {
                    self.breaks(|| format!("I5: run {run} was taken and its fence did not rise"));
                }
                let fence = next.fence;
                self.set_run(run, next);
                Some(Doing::Claiming { run, fence, attempt: self.name() })
            }
            Opening::AlreadyOver(_) | Opening::Nothing | Opening::Held { .. } => None,
        }
    }

    fn guard(&mut self, run: usize, fence: i64, holder: &str, now: i64) -> Option<()> {
        if self.has(Bug::NoGuard) {
            return Some(());
        }
        let next = self.runs[run].step(RunEvent::Guard { me: holder, fence }, now, LEASE).ok()?;
        self.set_run(run, next);
        Some(())
    }

    fn receipt(&mut self, run: usize, fence: i64) {
        if fence < self.committed[run] || self.runs[run].state.is_terminal() {
            let found = self.runs[run].clone();
            self.breaks(|| format!("I5: fence {fence} committed to run {run}, which is {found:?}"));
            return;
        }
        self.committed[run] = fence;
        match self.runs[run].step(RunEvent::Receipt, self.now, LEASE) {
            Ok(next) if next.batch == self.runs[run].batch + 1 => self.set_run(run, next),
            other => self.breaks(|| format!("I9: the receipt of run {run} makes {other:?}")),
        }
    }

    fn live(&self, attempt: u32) -> bool {
        self.attempts
            .get(&attempt)
            .and_then(|attempt| attempt.record.state)
            .is_some_and(|state| !state.is_terminal())
    }

    fn held(&self, memory: usize) -> bool {
        self.marks.range((memory, 0)..=(memory, u32::MAX)).any(|(_, attempt)| self.live(*attempt))
    }

    fn claim(
        &mut self,
        run: usize,
        fence: i64,
        attempt: u32,
        holder: &str,
        now: i64,
        skew: i64,
    ) -> Option<Doing> {
        self.guard(run, fence, holder, now)?;
        let marked = |world: &Self| -> Vec<usize> {
            world.marks.iter().filter(|(_, of)| *of == attempt).map(|(memory, _)| *memory).collect()
        };
        if self.attempts.contains_key(&attempt) {
            // The commit of this claim was lost and has landed.
            let ids = marked(self);
            self.receipt(run, fence);
            return Some(Doing::Applying { run, fence, attempt, ids });
        }
        let free: Vec<usize> = (0..self.memories.len())
            .filter(|memory| {
                self.memories[*memory].ripe && (self.has(Bug::BlindClaim) || !self.held(*memory))
            })
            .take(self.claim)
            .collect();
        let planned = AttemptRecord {
            state: Some(AttemptState::Planned),
            holder: Some(holder.to_owned()),
            lease_until: now + LEASE,
        };
        let event = if free.is_empty() {
            AttemptEvent::Finish { state: AttemptState::Aborted }
        } else {
            AttemptEvent::Claim { me: holder }
        };
        let record = planned.step(event, now, LEASE).ok()?;
        self.attempts.insert(attempt, Attempt { record, started: now + skew, applied: 0 });
        self.marks.extend(free.iter().map(|memory| (*memory, attempt)));
        self.receipt(run, fence);
        Some(if free.is_empty() {
            Doing::Closing { run, fence }
        } else {
            Doing::Applying { run, fence, attempt, ids: free }
        })
    }

    fn apply(&mut self, attempt: u32, ids: &[usize], holder: &str, now: i64, again: bool) -> Option<()> {
        let found = self.attempts.get(&attempt)?.clone();
        let guard = AttemptEvent::Guard { me: holder };
        let (state, ids) = if self.has(Bug::BlindApply) {
            (Some(AttemptState::Claimed), ids.to_vec())
        } else {
            let record = found.record.step(guard, now, LEASE).ok()?;
            let ids = self.marks.iter().filter(|(_, of)| *of == attempt).map(|(memory, _)| *memory);
            (record.state, ids.collect())
        };
        if state == Some(AttemptState::Done) && !(again && self.has(Bug::NoReceipt)) {
            return Some(());
        }
        if found.record.state != Some(AttemptState::Claimed) {
            self.breaks(|| {
                format!("I5: the attempt {attempt} is {:?} and its work is committed", found.record.state)
            });
        }
        for memory in ids {
            let memory = &mut self.memories[memory];
            if memory.ripe && memory.tier < 2 {
                memory.stubs[usize::from(memory.tier)] += 1;
                memory.tier += 1;
                memory.ripe = false;
            }
        }
        let done = AttemptEvent::Finish { state: AttemptState::Done };
        let record = found.record.step(done, now, LEASE).unwrap_or(found.record);
        self.set_attempt(attempt, record);
        if let Some(attempt) = self.attempts.get_mut(&attempt) {
            attempt.applied += 1;
        }
        self.marks.retain(|(_, of)| *of != attempt);
        Some(())
    }

    fn beat(&mut self, worker: usize) {
        let Some((run, fence)) = self.workers[worker].doing.run().filter(|_| self.is_up(worker)) else {
            return;
        };
        if self.waits(Some(run)) {
            return;
        }
        let holder = self.workers[worker].holder.clone();
        let guard = RunEvent::Guard { me: &holder, fence };
        match self.runs[run].step(guard, self.now, LEASE) {
            Ok(next) => self.set_run(run, next),
            // It has learned that its run is lost.
            Err(_) => self.workers[worker].doing = Doing::Opening,
        }
    }

    fn release(&mut self, worker: usize) {
        let Some((run, fence)) = self.workers[worker].doing.run().filter(|_| self.is_up(worker)) else {
            return;
        };
        if self.waits(Some(run)) {
            return;
        }
        let holder = self.workers[worker].holder.clone();
        if let Ok(next) = self.runs[run].step(RunEvent::Release { me: &holder, fence }, self.now, LEASE) {
            self.set_run(run, next);
        }
        self.workers[worker].doing = Doing::Opening;
    }

    /// The attempt that a hanging transaction has locked.
    fn locked(&self) -> Option<u32> {
        match &self.hanging.as_ref()?.doing {
            Doing::Claiming { attempt, .. } | Doing::Applying { attempt, .. } => Some(*attempt),
            _ => None,
        }
    }

    fn reap(&mut self) {
        let reap = AttemptEvent::Reap { right: Right::Lease };
        let locked = self.locked();
        let over = self
            .attempts
            .iter()
            .filter(|(id, _)| locked != Some(**id))
            .find_map(|(id, attempt)| Some((*id, attempt.record.step(reap, self.now, LEASE).ok()?)));
        let Some((id, record)) = over else { return };
        self.marks.retain(|(_, of)| *of != id);
        if !self.has(Bug::HalfReap) {
            self.set_attempt(id, record);
        }
    }

    fn abort(&mut self) {
        let locked = self.locked();
        let claimed = self.attempts.iter().find(|(id, attempt)| {
            attempt.record.state == Some(AttemptState::Claimed) && locked != Some(**id)
        });
        let Some((id, attempt)) = claimed.map(|(id, attempt)| (*id, attempt.record.clone())) else { return };
        if let Ok(record) =
            attempt.step(AttemptEvent::Finish { state: AttemptState::Aborted }, self.now, LEASE)
        {
            self.marks.retain(|(_, of)| *of != id);
            self.set_attempt(id, record);
        }
    }

    fn deposit(&mut self, request: usize, end: End) {
        self.faults += u64::from(end != End::Known);
        let (recorded, effects) = &mut self.requests[request];
        if end != End::LostUnknown && end != End::Hangs && !*recorded {
            (*recorded, *effects) = (true, *effects + 1);
        }
    }

    fn end_session(&mut self, memory: usize) {
        // Its transaction locks the memory: one that is marked is left to who holds it, one that is locked is waited for.
        if self.held(memory) || self.hanging.is_some() {
            return;
        }
        let memory = &mut self.memories[memory];
        if memory.tier == 0 {
            memory.stubs[0] += 1;
            memory.tier = 1;
            memory.ripe = false;
        }
    }

    fn decide(&mut self, applied: bool) {
        let Some(Hanging { doing, holder, since }) = self.hanging.take() else { return };
        self.faults += 1;
        if applied {
            self.transact(&doing, &holder, since, 0, false);
        }
    }

    fn set_run(&mut self, run: usize, next: RunRecord) {
        let before = &self.runs[run];
        if (before.state.is_terminal() && before.state != next.state) || next.batch < before.batch {
            let before = before.clone();
            self.breaks(|| format!("I4: run {run} goes from {before:?} to {next:?}"));
            return;
        }
        self.runs[run] = next;
    }

    fn set_attempt(&mut self, id: u32, next: AttemptRecord) {
        let Some(attempt) = self.attempts.get_mut(&id) else { return };
        let (before, after) = (attempt.record.state, next.state);
        attempt.record = next;
        let advances = match (before, after) {
            (Some(before), Some(after)) => before == after || before.may_become(after),
            (before, _) => before.is_none(),
        };
        if !advances {
            self.breaks(|| format!("I4: the attempt {id} goes from {before:?} to {after:?}"));
        }
    }

    /// The invariants that hold at every step.
    pub(crate) fn check(&self) -> Result<(), String> {
        if let Some(why) = &self.broken {
            return Err(why.clone());
        }
        for (index, memory) in self.memories.iter().enumerate() {
            let wanted = [u8::from(memory.tier > 0), u8::from(memory.tier > 1)];
            if memory.stubs != wanted {
                return Err(format!("I2: memory {index} is {memory:?}"));
            }
            let marks = self.marks.range((index, 0)..=(index, u32::MAX));
            if marks.filter(|(_, attempt)| self.live(*attempt)).count() > 1 {
                return Err(format!("I6: memory {index} is under two attempts"));
            }
        }
        if let Some(run) = self.closed.iter().position(|closed| *closed > 1) {
            return Err(format!("I9: run {run} was closed twice"));
        }
        if self.runs.iter().filter(|run| run.state == RunState::Open).count() > 1 {
            return Err("I9: two runs of one job are open".to_owned());
        }
        if let Some(request) =
            self.requests.iter().position(|(recorded, effects)| u8::from(*recorded) != *effects)
        {
            return Err(format!("request {request} had its effect {} times", self.requests[request].1));
        }
        Ok(())
    }

    /// The last attempts are looked at too: none has committed its work twice.
    pub(crate) fn check_rest(&self) -> Result<(), String> {
        self.check()?;
        if let Some((id, attempt)) = self.attempts.iter().find(|(_, attempt)| attempt.applied > 1) {
            return Err(format!("I5: the attempt {id} was applied {} times", attempt.applied));
        }
        if let Some((memory, attempt)) = self.marks.first() {
            return Err(format!("I10: memory {memory} is marked by attempt {attempt}"));
        }
        if let Some((id, attempt)) = self.attempts.iter().find(|(id, _)| self.live(**id)) {
            return Err(format!("I10: attempt {id} is {:?}", attempt.record));
        }
        if let Some(run) = self.runs.iter().position(|run| run.state == RunState::Open) {
            return Err(format!("I10: run {run} is open"));
        }
        match self.memories.iter().position(|memory| memory.ripe) {
            Some(memory) => Err(format!("I10: memory {memory} is ripe")),
            None => Ok(()),
        }
    }

    /// Whether there is anything left that the workers would still do.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.check_rest().is_ok()
    }

    /// All that may happen next in a small world. Its clock goes on by whole leases, so a lease is fresh or over, and a
    /// sign of life between two transactions changes nothing; a worker that is paused or down is one that does not act,
    /// and one whose commit is lost asks again as if it had not.
    pub(crate) fn events(&self) -> Vec<Event> {
        let mut events = vec![Event::Tick(LEASE), Event::Abort, Event::EndSession(0)];
        if self.due < 2 {
            events.push(Event::Due);
        }
        if self.hanging.is_some() {
            events.extend([Event::Decide(true), Event::Decide(false)]);
        }
        for worker in 0..self.workers.len() {
            if self.is_up(worker) {
                events
                    .extend([End::Known, End::AppliedUnknown, End::Hangs].map(|end| Event::Act(worker, end)));
                events.extend([Event::Reap(worker), Event::Crash(worker), Event::Release(worker)]);
            } else {
                events.push(Event::Restart(worker));
            }
        }
        events
    }

    /// The same world with its clock at zero and its names renewed, so that worlds that will go the same way are equal.
    pub(crate) fn normal(mut self) -> Self {
        for worker in 0..self.workers.len() {
            self.step(Event::Restart(worker));
            self.workers[worker].unsure = false;
        }
        let now = self.now;
        // A lease that is over is over, however long since.
        let lasts = |until: i64| (until - now).max(0);
        for run in &mut self.runs {
            run.lease_until = lasts(run.lease_until);
        }
        for attempt in self.attempts.values_mut() {
            attempt.record.lease_until = lasts(attempt.record.lease_until);
            attempt.started = 0;
        }
        if let Some(hanging) = &mut self.hanging {
            hanging.since = (hanging.since - now).max(-LEASE);
        }
        // What is over is told apart by nothing any more, but for whoever still works on it.
        let wanted: Vec<u32> = self
            .workers
            .iter()
            .map(|worker| &worker.doing)
            .chain(self.hanging.iter().map(|hanging| &hanging.doing))
            .filter_map(|doing| match doing {
                Doing::Claiming { attempt, .. } | Doing::Applying { attempt, .. } => Some(*attempt),
                _ => None,
            })
            .collect();
        let kept: Vec<u32> =
            self.attempts.keys().copied().filter(|id| self.live(*id) || wanted.contains(id)).collect();
        self.attempts.retain(|id, _| kept.contains(id));
        self.marks.retain(|(_, attempt)| kept.contains(attempt));
        self.now = 0;
        self.faults = 0;
        self
    }

    /// The world in a number, its names replaced by the order in which they are met; the same for worlds that differ by
    /// which worker is which.
    pub(crate) fn digest(&self) -> u64 {
        let forwards = self.digest_of(self.workers.iter());
        forwards.min(self.digest_of(self.workers.iter().rev()))
    }

    fn digest_of<'a>(&self, workers: impl Iterator<Item = &'a Worker>) -> u64 {
        let mut hasher = DefaultHasher::new();
        let mut met: Vec<String> = Vec::new();
        let mut number = |of: Option<&str>| -> usize {
            let Some(of) = of else { return 0 };
            let at = met.iter().position(|known| known == of).unwrap_or_else(|| {
                met.push(of.to_owned());
                met.len() - 1
            });
            at + 1
        };
        let mut ids: Vec<u32> = Vec::new();
        let mut id = |of: u32| -> usize {
            ids.iter().position(|known| *known == of).unwrap_or_else(|| {
                ids.push(of);
                ids.len() - 1
            })
        };
        (self.due, self.claim, &self.memories, self.requests).hash(&mut hasher);
        for worker in workers {
            number(Some(&worker.holder)).hash(&mut hasher);
            hash_doing(&worker.doing, &mut id, &mut hasher);
        }
        for run in &self.runs {
            (run.state, number(run.holder.as_deref()), run.fence, run.lease_until).hash(&mut hasher);
        }
        (&self.committed, &self.closed).hash(&mut hasher);
        if let Some(hanging) = &self.hanging {
            (number(Some(&hanging.holder)), hanging.since).hash(&mut hasher);
            hash_doing(&hanging.doing, &mut id, &mut hasher);
        }
        for (attempt, found) in &self.attempts {
            (
                id(*attempt),
                found.record.state,
                number(found.record.holder.as_deref()),
                found.record.lease_until,
                found.applied,
            )
                .hash(&mut hasher);
        }
        for (memory, attempt) in &self.marks {
            (memory, id(*attempt)).hash(&mut hasher);
        }
        hasher.finish()
    }
}

fn hash_doing(doing: &Doing, id: &mut impl FnMut(u32) -> usize, hasher: &mut DefaultHasher) {
    match doing {
        Doing::Opening => 0.hash(hasher),
        Doing::Claiming { run, fence, attempt } => (1, run, fence, id(*attempt)).hash(hasher),
        Doing::Applying { run, fence, attempt, ids } => (2, run, fence, id(*attempt), ids).hash(hasher),
        Doing::Closing { run, fence } => (3, run, fence).hash(hasher),
    }
}
