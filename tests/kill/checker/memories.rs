//! I1, I2 and I7: memories are there, once; stubs tell their tier steps; what is pinned stays.

use super::super::graph::{Graph, Memory};
use super::super::history::What;
use super::operations::Operations;
use super::{Invariant, Verdict};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Tiers in which a memory that is no stub may be.
const TIERS: [&str; 4] = ["working", "shortTerm", "longTerm", "expiredWorking"];

fn hash(id: &str) -> String {
    let named = format!("local\u{0}{id}");
    Sha256::digest(named.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// I1.
pub(super) fn exist_once(operations: &Operations, graph: &Graph, verdict: &mut Verdict) {
    let mut found: BTreeMap<&str, Vec<&Memory>> = BTreeMap::new();
    for memory in &graph.memories {
        found.entry(&memory.id).or_default().push(memory);
    }
    let stubs: BTreeSet<&str> = graph.stubs.iter().filter_map(|stub| stub.key.split("->").next()).collect();
    let tombstones: BTreeSet<&str> = graph.tombstones.iter().map(String::as_str).collect();
    let asked = operations.by_memory();
    let mut broken = |why: String| verdict.broken(Invariant::Memories, why);
    for (id, operations) in &asked {
        let here = found.get(id).map_or(&[][..], Vec::as_slice);
        let made = operations.iter().any(|op| op.counts() && matches!(op.what, What::Remember { .. }));
        let forgets: Vec<_> = operations.iter().filter(|op| matches!(op.what, What::Forget { .. })).collect();
        let forgotten = forgets.iter().any(|op| op.counts());
        let perhaps = forgets.iter().any(|op| op.may_count());
        let tombstone = tombstones.contains(hash(id).as_str());
        if forgotten {
            if !here.is_empty() || stubs.contains(id) {
                broken(format!("{id} was forgotten on request and is there"));
            }
            if !tombstone {
                broken(format!("{id} was forgotten on request and has no tombstone"));
            }
            continue;
        }
        if tombstone && !perhaps {
            broken(format!("{id} has a tombstone, and nobody asked to forget it"));
        }
        if made && here.is_empty() && !(perhaps && tombstone) {
            broken(format!("{id} was acknowledged and is lost"));
        }
        if here.len() > 1 {
            broken(format!("{id} is there {} times", here.len()));
        }
        for memory in here {
            if tombstone {
                broken(format!("{id} has a tombstone and is there"));
            }
            if !TIERS.contains(&memory.tier.as_str()) {
                broken(format!("{id} is in the tier {}", memory.tier));
            }
            if let Some(reason) = &memory.quarantined {
                broken(format!("{id} was set aside: {reason}"));
            }
            let said = operations.iter().find_map(|op| match &op.what {
                What::Remember { content, .. } => Some(content),
                _ => None,
            });
            if said != Some(&memory.content) {
                broken(format!("{id} says {:?} and was made to say {said:?}", memory.content));
            }
        }
    }
    for id in found.keys().filter(|id| !asked.contains_key(**id)) {
        broken(format!("{id} is there and nobody made it"));
    }
}

/// I2.
pub(super) fn stubs_tell_the_steps(operations: &Operations, graph: &Graph, verdict: &mut Verdict) {
    let mut stubs: BTreeMap<&str, usize> = BTreeMap::new();
    for stub in &graph.stubs {
        *stubs.entry(&stub.key).or_default() += 1;
        let memory = stub.key.split("->").next();
        if stub.memory.as_deref() != memory {
            let leads = stub.memory.as_deref().unwrap_or("nothing");
            verdict.broken(Invariant::Stubs, format!("the stub {} leads to {leads}", stub.key));
        }
    }
    for (key, count) in stubs.iter().filter(|(_, count)| **count > 1) {
        verdict.broken(Invariant::Stubs, format!("{count} stubs of {key}"));
    }
    for memory in &graph.memories {
        let steps = match memory.tier.as_str() {
            "shortTerm" => 1,
            "longTerm" => 2,
            _ => 0,
        };
        for (step, tier) in ["shortTerm", "longTerm"].into_iter().enumerate() {
            let key = format!("{}->{tier}", memory.id);
            let (there, wanted) = (stubs.contains_key(key.as_str()), step < steps);
            if there != wanted {
                let said = if there { "a stub and not" } else { "no stub and yet" };
                let why = format!("{} has {said} the step to {tier}: it is in {}", memory.id, memory.tier);
                verdict.broken(Invariant::Stubs, why);
            }
        }
    }
    let asked = operations.by_memory();
    let orphan = |id: &str| !graph.memories.iter().any(|memory| memory.id == id) && !asked.contains_key(id);
    for stub in graph.stubs.iter().filter(|stub| stub.key.split("->").next().is_none_or(orphan)) {
        verdict.broken(Invariant::Stubs, format!("the stub {} belongs to no memory", stub.key));
    }
}

/// I7: a memory whose last operation was an acknowledged pin is to the bit what it was then.
pub(super) fn pinned_stay(operations: &Operations, graph: &Graph, verdict: &mut Verdict) {
    let memories: BTreeMap<&str, &Memory> =
        graph.memories.iter().map(|memory| (memory.id.as_str(), memory)).collect();
    for (id, operations) in operations.by_memory() {
        let Some(last) = operations.iter().rfind(|op| op.may_count()) else { continue };
        let What::Pin { pin: true, left: Some(left), .. } = &last.what else { continue };
        let Some(memory) = memories.get(id).filter(|_| last.counts()) else { continue };
        let same = memory.pinned
            && memory.tier == left.tier
            && memory.energy.to_bits() == left.energy.to_bits()
            && memory.energy_at == left.energy_at;
        if !same {
            let now = (&memory.tier, memory.energy, memory.energy_at, memory.pinned);
            verdict.broken(Invariant::Pinned, format!("{id} was pinned as {left:?} and is {now:?}"));
        }
    }
}
