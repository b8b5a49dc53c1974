//! The learning rule: strengthens slots between active nodes, decays all others, and bounds the incoming weight of nodes.
//!
//! | phase | applies to | effect |
//! |---|---|---|
//! | 1 | excitatory slots with both ends active | `delta += rate * a * b`, up to the cap of the weight, at most 16 |
//! | 2 | every other record | `delta *= 1 - decay rate`; below 0.0001 it becomes 0, and an empty record is dropped |
//! | 3 | records with an active source | the fifth strengthening in a row adds a permanent 0.15, the fifth weakening -0.15 |
//! | 4 | targets that were strengthened | learned incoming weight is scaled until the total is `max(5, 1.25 * B)` |
//!
//! A record is weakened when its source is active and its target is not; when its source is inactive it only decays. The
//! permanent bonus and penalty are applied once each. `B` is the sum of incoming base weights: only the excess over these
//! is scaled, so an imported hub keeps its own.
//!
//! A tick reads the rows of active nodes and passes once over the records; its cost does not depend on the rest of the
//! graph. It computes in `f64` and rounds each number once, except that decay is one product of two `f32`, so that it can
//! be replayed exactly.
//!
//! Invariants: equal to the rule, slot by slot in double precision (held by `plast_oracle`); incoming weight never exceeds
//! its ceiling, and no weight its range (held by `ceiling_floor_and_cap_always_hold`); without active nodes records only
//! decay (held by `an_empty_outcome_only_decays`).
//!
//! # Design notes
//! *Records that are not stored.* A record that only decayed is not among the touched ones: readers replay the decay. So
//! the number of writes depends on the outcome, not on all that was ever learned. For the same reason a run of weakenings
//! is not counted beyond the fifth: otherwise the records of all inactive targets of a hub would be written each time.
//!
//! *Long rows.* A hub may have a million slots. A row that is long compared with the active set is not scanned: the active
//! targets are looked up in the reverse index.

use super::rule::{
    ACTIVE_MAX, HOMEOSTATIC_CEILING, HOMEOSTATIC_HEADROOM, LTD_PENALTY, LTD_THRESHOLD, LTP_BONUS,
    LTP_THRESHOLD, NodeSet, faded,
};
use super::synapses::{BoundSynapse, DELTA_MAX, SlotRef, Synapse, Synapses};
use crate::Error;
use crate::graph::builder::WeightRange;
use crate::graph::index::{EdgeIdx, NodeId};
use crate::graph::raw::prefetch;
use crate::graph::{self, Graph};
use std::cmp::Reverse;

/// Slots of a row that are scanned for each active node; in a longer row targets are looked up. A look-up, which is a search
/// in the reverse index, takes as long as a scan of about so many slots.
const SCAN_EACH: usize = 64;
/// How many rows ahead their first slots are prefetched.
const AHEAD: usize = 8;

/// Result of a tick.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TickResult {
    /// Number of the tick.
    pub tick: u64,
    /// Slots whose records changed other than by decay, or were dropped; ascending.
    pub touched: Vec<SlotRef>,
    /// Counts of changes.
    pub counts: TickCounters,
}

/// Counts of changes in a tick.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TickCounters {
    /// Active nodes.
    pub active: u64,
    /// Records strengthened, including new ones.
    pub strengthened: u64,
    /// Records decayed.
    pub decayed: u64,
    /// Records dropped.
    pub dropped: u64,
    /// Permanent bonuses applied.
    pub ltp: u64,
    /// Permanent penalties applied.
    pub ltd: u64,
    /// Records scaled down.
    pub scaled: u64,
    /// Slots read to find those between active nodes; a row that is not scanned counts once for each active node.
    pub slots_read: u64,
}

impl Synapse {
    /// Strengthens; returns whether the permanent bonus was applied.
    fn strengthen(&mut self, gain: f64, base: f32, cap: f32) -> bool {
        // Below a permanent penalty there is more room than the greatest part that can be stored.
        let room = f64::from(cap) - f64::from(base) - f64::from(self.perm);
        let room = room.clamp(0.0, f64::from(DELTA_MAX));
        #[expect(clippy::cast_possible_truncation, reason = "at most the cap, rounded once")]
        let delta = (f64::from(self.delta) + gain).min(room) as f32;
        self.delta = delta;
        self.strengthened = self.strengthened.saturating_add(1);
        self.weakened = 0;
        let bonus = self.strengthened >= LTP_THRESHOLD && !self.ltp;
        if bonus {
            self.perm = (self.perm + LTP_BONUS).min(LTP_BONUS);
            self.ltp = true;
        }
        bonus
    }

    /// Weakens; returns whether the state changed, and whether the permanent penalty was applied.
    fn weaken(&mut self) -> (bool, bool) {
        let before = *self;
        self.strengthened = 0;
        if self.weakened < LTD_THRESHOLD {
            self.weakened += 1;
        }
        let penalty = self.weakened >= LTD_THRESHOLD && !self.ltd;
        if penalty {
            self.perm = (self.perm - LTD_PENALTY).max(-LTD_PENALTY);
            self.ltd = true;
        }
        (*self != before, penalty)
    }
}

impl BoundSynapse {
    /// How much its weight differs from that of its base.
    fn contribution(&self, range: WeightRange) -> f64 {
        f64::from(self.weight(range)) - f64::from(range.clamp(self.base))
    }

    /// Scales the learned part to a share, if it is positive.
    #[expect(clippy::cast_possible_truncation, reason = "at most the cap, rounded once")]
    fn scale(&mut self, share: f64, range: WeightRange) -> bool {
        let added = self.contribution(range);
        if added <= 0.0 {
            return false;
        }
        let Synapse { delta, perm, .. } = &mut self.synapse;
        let learned = f64::from(range.clamp(self.base)) + share * added - f64::from(self.base);
        if *perm > 0.0 {
            *perm = (share * f64::from(*perm)).min(learned) as f32;
        }
        *delta = (learned - f64::from(*perm)).max(0.0) as f32;
        true
    }
}

/// A record whose target is active.
struct Incoming {
    target: NodeId,
    /// Its index among all records.
    at: usize,
    strengthened: bool,
}

/// Work left after a pass.
#[derive(Default)]
struct Left {
    incoming: Vec<Incoming>,
    /// Indexes of expired records, ascending.
    expired: Vec<usize>,
}

impl Synapses {
    /// Learns from one outcome: the nodes of the paths that led to useful results, each with an activation above 0, at
    /// most 1 of which counts. Of duplicates the greatest counts, and of more than [`ACTIVE_MAX`] nodes the strongest.
    /// No weight of the graph changes until [`Self::write_weights`].
    ///
    /// # Errors
    /// [`Error::GenerationMismatch`]; [`graph::Error::NonFinite`], [`graph::Error::ParameterOutOfRange`] for an invalid
    /// activation. Nothing is changed then.
    pub fn tick(&mut self, graph: &Graph, active: &[(NodeId, f32)]) -> Result<TickResult, Error> {
        self.check(graph)?;
        let active = chosen(graph, active)?;
        self.marks.toggle(&active);
        let (fresh, slots_read) = self.unlearned(graph, &active);
        self.insert(&fresh);
        self.tick = self.tick.saturating_add(1);
        let counts = TickCounters { active: active.len() as u64, slots_read, ..TickCounters::default() };
        let mut ticked = TickResult { tick: self.tick, touched: Vec::new(), counts };
        let Left { incoming, expired } = self.pass(&active, graph.range(), &mut ticked);
        self.marks.toggle(&active);
        self.normalise(graph, incoming, &mut ticked);
        self.drop_expired(expired);
        Ok(ticked)
    }

    /// New records for the slots between active nodes that have none, ascending; and the number of slots read.
    fn unlearned(&self, graph: &Graph, active: &[(NodeId, f32)]) -> (Vec<BoundSynapse>, u64) {
        let (mut fresh, mut row, mut slots_read) = (Vec::new(), Vec::new(), 0);
        for (at, (source, _)) in active.iter().enumerate() {
            if let Some((ahead, _)) = active.get(at + AHEAD) {
                prefetch(graph.excitatory(*ahead).targets);
            }
            row.clear();
            slots_read += self.slots_between(graph, *source, active, &mut row);
            let Some(first) = row.first() else { continue };
            let begin = self.learned.partition_point(|of| of.place.slot < *first);
            let mut known = self.learned[begin..].iter().peekable();
            for slot in &row {
                while known.next_if(|of| of.place.slot < *slot).is_some() {}
                if known.peek().is_none_or(|of| of.place.slot != *slot) {
                    let place = SlotRef { slot: *slot, source: *source };
                    fresh.push(BoundSynapse::at(graph, place, Synapse::default()));
                }
            }
        }
        (fresh, slots_read)
    }

    /// Appends the excitatory slots from a node to active nodes, ascending; returns the number of slots read or looked up.
    fn slots_between(
        &self,
        graph: &Graph,
        source: NodeId,
        active: &[(NodeId, f32)],
        into: &mut Vec<EdgeIdx>,
    ) -> u64 {
        let row = graph.excitatory(source);
        if row.targets.len() <= SCAN_EACH * active.len() {
            let slots = (row.first.0..).zip(row.targets);
            into.extend(
                slots.filter(|(_, to)| self.marks.contains(NodeId(**to))).map(|(slot, _)| EdgeIdx(slot)),
            );
            return row.targets.len() as u64;
        }
        for (target, _) in active {
            into.extend(graph.between(source, *target).filter(|slot| graph.is_excitatory(source, *slot)));
        }
        into.sort_unstable();
        active.len() as u64
    }

    /// Inserts new records, which are sorted.
    fn insert(&mut self, fresh: &[BoundSynapse]) {
        let mut end = self.learned.len();
        self.learned.extend_from_slice(fresh);
        let mut to = self.learned.len();
        // From the last on: each old record moves once, to its final position.
        for new in fresh.iter().rev() {
            let begin = self.learned[..end].partition_point(|of| of.place < new.place);
            to -= end - begin;
            self.learned.copy_within(begin..end, to);
            to -= 1;
            self.learned[to] = *new;
            end = begin;
        }
    }

    /// Phases 1 to 3, over all records.
    fn pass(&mut self, active: &[(NodeId, f32)], range: WeightRange, ticked: &mut TickResult) -> Left {
        let (rate, keep) = (f64::from(self.config.learning_rate.get()), self.config.keep);
        let Self { learned, marks, .. } = self;
        let (mut left, mut rest) = (Left::default(), 0);
        // Records are sorted by slot, and so by source, as active nodes are. The records between only decay.
        for (source, activated) in active {
            let begin = rest + learned[rest..].partition_point(|of| of.place.source < *source);
            let own = learned[begin..].iter().take_while(|of| of.place.source == *source).count();
            let end = begin + own;
            fade(&mut learned[rest..begin], rest, (keep, marks), ticked, &mut left);
            for (at, of) in (begin..).zip(&mut learned[begin..end]) {
                if marks.contains(of.target) {
                    let gain = rate * f64::from(*activated) * f64::from(activation(active, of.target));
                    ticked.counts.strengthened += 1;
                    ticked.counts.ltp += u64::from(of.synapse.strengthen(gain, of.base, range.cap));
                    ticked.touched.push(of.place);
                    left.incoming.push(Incoming { target: of.target, at, strengthened: true });
                } else if !fades(of, at, keep, ticked, &mut left) {
                    let (changed, penalty) = of.synapse.weaken();
                    ticked.counts.ltd += u64::from(penalty);
                    if changed {
                        ticked.touched.push(of.place);
                    }
                }
            }
            rest = end;
        }
        fade(&mut learned[rest..], rest, (keep, marks), ticked, &mut left);
        left
    }

    /// Phase 4.
    fn normalise(&mut self, graph: &Graph, mut incoming: Vec<Incoming>, ticked: &mut TickResult) {
        let range = graph.range();
        // A stable sort: the records of one target stay in the order of their slots, in which they are summed.
        incoming.sort_by_key(|one| one.target);
        for of_target in incoming.chunk_by(|a, b| a.target == b.target) {
            let Some(one) = of_target.iter().find(|one| one.strengthened) else { continue };
            let bases = graph.in_strength(one.target);
            let ceiling = HOMEOSTATIC_CEILING.max((1.0 + HOMEOSTATIC_HEADROOM) * bases);
            let (mut more, mut less) = (0.0, 0.0);
            for one in of_target {
                let differs = self.learned[one.at].contribution(range);
                if differs > 0.0 {
                    more += differs;
                } else {
                    less += differs;
                }
            }
            if bases + less + more <= ceiling {
                continue;
            }
            let share = (ceiling - bases - less) / more;
            for one in of_target {
                let of = &mut self.learned[one.at];
                if of.scale(share, range) {
                    ticked.counts.scaled += 1;
                    if !one.strengthened {
                        ticked.touched.push(of.place);
                    }
                }
            }
        }
        ticked.touched.sort_unstable();
    }

    /// Removes records by their indexes.
    fn drop_expired(&mut self, expired: Vec<usize>) {
        if expired.is_empty() {
            return;
        }
        let (mut expired, mut at) = (expired.into_iter().peekable(), 0_usize);
        let freed = &mut self.freed;
        self.learned.retain(|of| {
            let stays = expired.next_if_eq(&at).is_none();
            if !stays {
                freed.push(of.place);
            }
            at += 1;
            stays
        });
    }
}

/// Decays records of inactive sources; `first` is the index of the first among all.
fn fade(
    records: &mut [BoundSynapse],
    first: usize,
    (keep, marks): (f32, &NodeSet),
    ticked: &mut TickResult,
    left: &mut Left,
) {
    // A sum in memory would be what each record waits for.
    let mut decayed = 0;
    for (at, of) in (first..).zip(records) {
        decayed += u64::from(of.synapse.delta > 0.0);
        of.synapse.delta = faded(of.synapse.delta, keep);
        if of.synapse.is_empty() {
            expire(of, at, ticked, left);
        }
        if marks.contains(of.target) {
            left.incoming.push(Incoming { target: of.target, at, strengthened: false });
        }
    }
    ticked.counts.decayed += decayed;
}

/// Decays a record; returns whether it expired.
fn fades(of: &mut BoundSynapse, at: usize, keep: f32, ticked: &mut TickResult, left: &mut Left) -> bool {
    ticked.counts.decayed += u64::from(of.synapse.delta > 0.0);
    of.synapse.delta = faded(of.synapse.delta, keep);
    let expired = of.synapse.is_empty();
    if expired {
        expire(of, at, ticked, left);
    }
    expired
}

/// Lists an expired record.
#[cold]
fn expire(of: &BoundSynapse, at: usize, ticked: &mut TickResult, left: &mut Left) {
    ticked.counts.dropped += 1;
    ticked.touched.push(of.place);
    left.expired.push(at);
}

/// The active nodes of an outcome by id, each once.
fn chosen(graph: &Graph, active: &[(NodeId, f32)]) -> Result<Vec<(NodeId, f32)>, graph::Error> {
    let mut chosen = Vec::with_capacity(active.len());
    for (node, value) in active.iter().filter(|(node, _)| graph.has_node(*node)) {
        let owner = graph.external_id(*node);
        if !value.is_finite() {
            return Err(graph::Error::NonFinite { field: "activation", owner: owner.to_owned() });
        }
        if *value <= 0.0 {
            let (name, value) = (format!("activation of {owner}"), f64::from(*value));
            return Err(graph::Error::ParameterOutOfRange { name, value, min: 0.0, max: 1.0 });
        }
        chosen.push((*node, value.min(1.0)));
    }
    // Bits of positive numbers sort like the numbers.
    chosen.sort_unstable_by_key(|(node, value)| (*node, Reverse(value.to_bits())));
    chosen.dedup_by_key(|(node, _)| *node);
    if chosen.len() > ACTIVE_MAX {
        chosen.sort_unstable_by_key(|(node, value)| (Reverse(value.to_bits()), graph.rank(*node)));
        chosen.truncate(ACTIVE_MAX);
        chosen.sort_unstable_by_key(|(node, _)| *node);
    }
    Ok(chosen)
}

/// The activation of a node, or 0.
fn activation(active: &[(NodeId, f32)], node: NodeId) -> f32 {
    let at = active.binary_search_by_key(&node, |(of, _)| *of).ok();
    at.and_then(|at| active.get(at)).map_or(0.0, |(_, value)| *value)
}
