//! I3: every energy, worked out again from what clients were told.
//!
//! A memory's life is a chain of operations of clients, each counted if it was acknowledged; between them the jobs may have
//! promoted it or let it expire. One whose outcome is unknown counts or not; where no response came, at any time after it was
//! asked for: a client that has given up a request may have done the next thing before the process that still holds the
//! request applies it. So what is carried along is the set of all lives that fit what was told, and the graph must hold one of
//! them.
//!
//! A stub says when its promotion came: after as many accesses as it counts, the latest of them its own. The instant from
//! which the new tier's rate holds is that of the promotion or, where it is later, the anchor that a sweep had left; so
//! the instants of all runs are tried, and the energy that the stub holds says which it was.

use super::super::graph::{Graph, Memory, Stub};
use super::super::history::{Known, What};
use super::operations::{Operation, Operations};
use super::{Invariant, Verdict};
use std::collections::BTreeMap;

/// Unknown outcomes on one memory beyond which a round is undecided.
const UNKNOWN_MAX: usize = 10;
const RELATIVE: f64 = 1e-9;
const TIERS: [&str; 4] = ["working", "shortTerm", "longTerm", "expiredWorking"];

/// A life that fits what was told so far; `None` while there is none.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Life {
    energy: f64,
    anchor: i64,
    tier: usize,
    pinned: bool,
    accesses: i64,
    last: i64,
}

struct Laws<'a> {
    rates: [f64; 4],
    expiry: f64,
    /// Instants of the runs that sweep, in order.
    sweeps: Vec<i64>,
    stubs: BTreeMap<&'a str, &'a Stub>,
}

/// I3.
pub(super) fn is_what_deposits_make(operations: &Operations, graph: &Graph, verdict: &mut Verdict) {
    let tunables = &graph.tunables;
    let mut sweeps: Vec<i64> =
        graph.runs.iter().filter(|run| run.job == "decay").map(|run| run.now).collect();
    sweeps.sort_unstable();
    sweeps.dedup();
    let laws = Laws {
        rates: [tunables.working_decay, tunables.short_term_decay, tunables.long_term_decay, 0.0],
        expiry: tunables.expiry_threshold,
        sweeps,
        stubs: graph.stubs.iter().map(|stub| (stub.key.as_str(), stub)).collect(),
    };
    let memories: BTreeMap<&str, &Memory> =
        graph.memories.iter().map(|memory| (memory.id.as_str(), memory)).collect();
    for (id, operations) in operations.by_memory() {
        // What is gone, rightly or not, is the matter of I1.
        let Some(memory) = memories.get(id) else { continue };
        let unknown = operations.iter().filter(|op| op.known == Known::Info).count();
        if unknown > UNKNOWN_MAX {
            verdict.inconclusive.push(format!("{id} has {unknown} operations of unknown outcome"));
            continue;
        }
        let lives = laws.lives(memory, &operations);
        if !lives.iter().flatten().any(|life| laws.leads_to(life, memory)) {
            let (told, seen) = (
                laws.told(&lives, memory),
                (&memory.tier, memory.energy, memory.energy_at, memory.access_count),
            );
            let why = format!(
                "{id} is {seen:?} after {} operations, {unknown} unknown; what was told makes it {told}",
                operations.len()
            );
            verdict.broken(Invariant::Energy, why);
        }
    }
}

impl Laws<'_> {
    /// What is left of an energy in a tier after `ms`.
    fn factor(&self, tier: usize, ms: i64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of a round are exact")]
        let hours = ms.max(0) as f64 / 3_600_000.0;
        (-(self.rates[tier] * hours)).exp()
    }

    /// The life brought to an instant, which becomes its anchor unless that is later.
    fn brought(&self, mut life: Life, to: i64) -> Life {
        if !life.pinned {
            life.energy *= self.factor(life.tier, to - life.anchor);
        }
        life.anchor = life.anchor.max(to);
        life
    }

    /// An instant, and those of sweeps after it until another.
    fn at_or_swept(&self, from: i64, until: i64) -> Vec<i64> {
        let swept = self.sweeps.iter().copied().filter(|sweep| *sweep > from && *sweep <= until);
        [from].into_iter().chain(swept).collect()
    }

    /// Every life that fits these operations, but for those with more accesses than the memory counts.
    fn lives(&self, memory: &Memory, operations: &[&Operation]) -> Vec<Option<Life>> {
        let mut open: Vec<&Operation> = Vec::new();
        let mut lives = vec![(None, 0)];
        for operation in operations.iter().filter(|operation| operation.may_count()) {
            if operation.is_open() {
                lives.iter_mut().for_each(|(_, left)| *left |= 1 << open.len());
                open.push(operation);
                continue;
            }
            let mut next = Vec::new();
            for (life, left) in self.reached(memory, lives, &open, operation.told) {
                let mut applied = Vec::new();
                self.apply(life, operation, operation.told, &mut applied);
                if operation.known == Known::Info {
                    applied.push(life);
                }
                next.extend(applied.into_iter().map(|life| (life, left)));
            }
            lives = next;
        }
        self.reached(memory, lives, &open, i64::MAX).into_iter().map(|(life, _)| life).collect()
    }

    /// These lives, and what promotions and open operations may have made of them until an instant. Each comes with the
    /// operations that may still count: a bit for each.
    fn reached(
        &self,
        memory: &Memory,
        lives: Vec<(Option<Life>, u32)>,
        open: &[&Operation],
        until: i64,
    ) -> Vec<(Option<Life>, u32)> {
        let mut reached = Vec::new();
        // Energies that were met, by all else: the order in which they were added makes no other life.
        let mut met: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        let mut waiting = lives;
        while let Some((life, left)) = waiting.pop() {
            let but_energy = life.map(|life| (life.anchor, life.tier, life.pinned, life.accesses, life.last));
            let energy = life.map_or(0.0, |life| life.energy);
            let met = met.entry((left, but_energy)).or_default();
            if life.is_some_and(|life| life.accesses > memory.access_count)
                || met.iter().any(|met| close(*met, energy))
            {
                continue;
            }
            met.push(energy);
            reached.push((life, left));
            waiting.extend(self.promoted(&memory.id, life).into_iter().skip(1).map(|life| (life, left)));
            for (n, operation) in open.iter().enumerate().filter(|(n, _)| left & (1 << n) != 0) {
                let mut applied = Vec::new();
                self.apply(life, operation, until, &mut applied);
                waiting.extend(applied.into_iter().map(|life| (life, left & !(1 << n))));
            }
        }
        reached
    }

    /// The life itself, and what promotions that have left a stub may have made of it by now.
    fn promoted(&self, id: &str, life: Option<Life>) -> Vec<Option<Life>> {
        let mut reached = vec![life];
        let mut from = 0;
        while let Some(last) = reached.get(from).copied() {
            from += 1;
            let Some(life) = last.filter(|life| !life.pinned && life.tier < 2) else { continue };
            let Some(stub) = self.stubs.get(format!("{id}->{}", TIERS[life.tier + 1]).as_str()) else {
                continue;
            };
            if stub.access_count != life.accesses || stub.last_accessed != life.last {
                continue;
            }
            let begin = stub.at.max(life.anchor);
            let rose = self.at_or_swept(begin, i64::MAX).into_iter().map(|at| self.brought(life, at));
            // The first instant that fits: a later one with the same energy is the same life.
            if let Some(rose) = rose.into_iter().find(|rose| close(rose.energy, stub.energy)) {
                reached.push(Some(Life { tier: life.tier + 1, ..rose }));
            }
        }
        reached
    }

    /// What one operation that took effect until an instant makes of a life; nothing, if it cannot have happened to it.
    fn apply(&self, life: Option<Life>, operation: &Operation, until: i64, next: &mut Vec<Option<Life>>) {
        match (&operation.what, life) {
            (What::Remember { now, .. }, None) => {
                let born =
                    Life { energy: 1.0, anchor: *now, tier: 0, pinned: false, accesses: 1, last: *now };
                next.push(Some(born));
            }
            (What::Access { now, revived, .. }, Some(life))
                if !(operation.counts() && *revived) || self.may_have_expired(life, until) =>
            {
                next.push(Some(self.lifted(life, *now)));
            }
            (What::Pin { now, pin: true, .. }, Some(life)) if !life.pinned => {
                let until = until.min(now.saturating_add(60_000));
                let at = self.at_or_swept(*now, until);
                next.extend(at.into_iter().map(|at| Some(Life { pinned: true, ..self.brought(life, at) })));
            }
            (What::Pin { now, pin: false, .. }, Some(life)) if life.pinned => {
                next.push(Some(Life { pinned: false, ..self.brought(life, *now) }));
            }
            (What::Pin { .. }, Some(life)) => next.push(Some(life)),
            (What::Forget { .. }, Some(_)) => next.push(None),
            _ => {}
        }
    }

    /// An access, also to an expired memory. One whose instant lies before the anchor brings a deposit that has faded since.
    fn lifted(&self, life: Life, now: i64) -> Life {
        let late = if life.pinned { 1.0 } else { self.factor(life.tier, life.anchor - now) };
        let brought = self.brought(life, now);
        Life {
            energy: brought.energy + late,
            accesses: life.accesses + 1,
            last: life.last.max(now),
            ..brought
        }
    }

    /// Whether a sweep until an instant may have let a memory expire.
    fn may_have_expired(&self, life: Life, until: i64) -> bool {
        let mut later = self.sweeps.iter().filter(|sweep| **sweep > life.anchor && **sweep <= until);
        life.tier == 0 && !life.pinned && later.any(|sweep| self.brought(life, *sweep).energy < self.expiry)
    }

    /// Whether a life ends as what the graph holds, the jobs having swept it meanwhile.
    fn leads_to(&self, life: &Life, memory: &Memory) -> bool {
        let expired = memory.tier == TIERS[3];
        let tier = if expired { life.tier == 0 && !life.pinned } else { TIERS[life.tier] == memory.tier };
        let swept = self.brought(*life, memory.energy_at);
        tier && memory.pinned == life.pinned
            && memory.access_count == life.accesses
            && memory.last_accessed == life.last
            && memory.energy_at.max(memory.last_accessed) >= life.anchor
            && (!expired || swept.energy < self.expiry)
            && close(memory.energy, swept.energy)
    }

    /// The nearest of the lives, in words.
    fn told(&self, lives: &[Option<Life>], memory: &Memory) -> String {
        let distance = |life: &Life| (self.brought(*life, memory.energy_at).energy - memory.energy).abs();
        let nearest = lives.iter().flatten().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map_or("nothing".to_owned(), |life| format!("{:?}", self.brought(*life, memory.energy_at)))
    }
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= RELATIVE * one.abs().max(other.abs()).max(f64::MIN_POSITIVE)
}
