//! Learned weights: one record for each slot that was ever strengthened, stored by name and bound to a graph.
//!
//! A record is identified by source, relation and target, which outlive a graph, and holds the state at its tick. Readers
//! replay the decay since then, one rounded product for each tick: so all processes compute the same bits, and a record
//! that only decayed need not be stored again. An expired record is dropped by all of them at the same tick.
//!
//! [`Synapses`] are the records bound to the slots of one generation of a graph, in the order of slots. Records without an
//! excitatory slot in it are kept as unmatched, and bound again when their slot returns. A graph that holds only a part of
//! the stored one is enough to learn on: records of slots that it lacks only decay.
//!
//! Invariants: binding stored records restores the learned state bit for bit (held by
//! `a_reloaded_set_is_the_running_one`); what was learned on one graph never changes a weight of another (held by
//! `generation_mismatch_rebind`).

use super::PlasticityConfig;
use super::rule::{LTD_PENALTY, LTP_BONUS, NodeSet, faded};
use crate::Error;
use crate::graph::builder::WeightRange;
use crate::graph::codec::plasticity::{SynapticRow, SynapticState};
use crate::graph::index::{EdgeIdx, Generation, NodeId};
use crate::graph::{self, Graph};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// How many records ahead their weights are prefetched.
const AHEAD: usize = 16;
/// Greatest decaying part: the greatest cap of a weight.
pub(super) const DELTA_MAX: f32 = 16.0;

/// Learned state of one slot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Synapse {
    /// The part that decays, `0 ..= 16`.
    pub delta: f32,
    /// The permanent part, `-0.15 ..= 0.15`.
    pub perm: f32,
    /// Strengthenings since the last weakening.
    pub strengthened: u32,
    /// Weakenings since the last strengthening, up to the threshold of the penalty.
    pub weakened: u32,
    /// Whether the permanent bonus was applied.
    pub ltp: bool,
    /// Whether the permanent penalty was applied.
    pub ltd: bool,
}

impl Synapse {
    /// The effective weight of its slot.
    #[must_use]
    pub fn weight(&self, base: f32, range: WeightRange) -> f32 {
        let sum = f64::from(base) + f64::from(self.perm) + f64::from(self.delta);
        #[expect(clippy::cast_possible_truncation, reason = "at most 33, rounded once")]
        let sum = sum as f32;
        range.clamp(sum)
    }

    /// Whether it is back in the initial state.
    pub(super) fn is_empty(&self) -> bool {
        self.delta == 0.0 && self.perm == 0.0 && !self.ltp && !self.ltd
    }

    /// The state after a number of ticks of decay; `None` if it expired.
    fn after(self, ticks: u64, keep: f32) -> Option<Self> {
        let mut delta = self.delta;
        for _ in 0..ticks {
            let left = faded(delta, keep);
            // A fixed point of the product never decays further.
            if left.to_bits() == delta.to_bits() {
                break;
            }
            delta = left;
        }
        Some(Self { delta, ..self }).filter(|left| ticks == 0 || !left.is_empty())
    }
}

/// Identity of a record: a slot by external ids.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SynapseKey {
    /// External id of the source.
    pub source: String,
    /// Relationship type.
    pub relation: String,
    /// External id of the target.
    pub target: String,
}

impl fmt::Display for SynapseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -{}-> {}", self.source, self.relation, self.target)
    }
}

impl SynapseKey {
    fn of(graph: &Graph, SlotRef { slot, source }: SlotRef) -> Self {
        Self {
            source: graph.external_id(source).to_owned(),
            relation: graph.relation(slot).to_owned(),
            target: graph.external_id(graph.target(slot)).to_owned(),
        }
    }

    /// Its slot, if the graph has an excitatory one.
    fn place(&self, graph: &Graph) -> Option<SlotRef> {
        let (source, target) = (graph.find(&self.source)?, graph.find(&self.target)?);
        let slot = graph.slot(source, &self.relation, target)?;
        graph.is_excitatory(source, slot).then_some(SlotRef { slot, source })
    }
}

/// A record as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SynapseRecord {
    /// Its slot.
    pub key: SynapseKey,
    /// Its state.
    pub synapse: Synapse,
    /// The tick of that state.
    pub tick: u64,
}

impl SynapseRecord {
    /// Checks the ranges of its numbers.
    ///
    /// # Errors
    /// [`graph::Error::NonFinite`], [`graph::Error::ParameterOutOfRange`].
    pub fn checked(self) -> Result<Self, graph::Error> {
        let Synapse { delta, perm, .. } = self.synapse;
        for (field, value, min, max) in
            [("delta", delta, 0.0, DELTA_MAX), ("perm", perm, -LTD_PENALTY, LTP_BONUS)]
        {
            if !value.is_finite() {
                return Err(graph::Error::NonFinite { field, owner: self.key.to_string() });
            }
            if !(min..=max).contains(&value) {
                let name = format!("{field} of {}", self.key);
                let [value, min, max] = [value, min, max].map(f64::from);
                return Err(graph::Error::ParameterOutOfRange { name, value, min, max });
            }
        }
        // Normalise -0.0.
        Ok(Self { synapse: Synapse { delta: delta + 0.0, perm: perm + 0.0, ..self.synapse }, ..self })
    }
}

/// Records to store after ticks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChangedRecords {
    /// Records to write.
    pub changed: Vec<SynapseRecord>,
    /// Records to delete.
    pub dropped: Vec<SynapseKey>,
}

/// A slot and its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotRef {
    /// The slot.
    pub slot: EdgeIdx,
    /// Its source.
    pub source: NodeId,
}

/// A record bound to its slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct BoundSynapse {
    pub(super) place: SlotRef,
    pub(super) target: NodeId,
    pub(super) base: f32,
    pub(super) synapse: Synapse,
}

impl BoundSynapse {
    pub(super) fn at(graph: &Graph, place: SlotRef, synapse: Synapse) -> Self {
        Self { place, target: graph.target(place.slot), base: graph.base(place.slot), synapse }
    }

    pub(super) fn weight(&self, range: WeightRange) -> f32 {
        self.synapse.weight(self.base, range)
    }
}

/// All records, bound to one generation of a graph.
#[derive(Debug, Clone)]
pub struct Synapses {
    pub(super) config: PlasticityConfig,
    generation: Generation,
    /// The last tick.
    pub(super) tick: u64,
    /// Bound records, by slot.
    pub(super) learned: Vec<BoundSynapse>,
    /// Records without a slot, as they were stored.
    unmatched: BTreeMap<SynapseKey, (Synapse, u64)>,
    /// The records applied last that have expired.
    expired: Vec<SynapseKey>,
    /// Slots whose records were dropped since weights were last written.
    pub(super) freed: Vec<SlotRef>,
    /// Active nodes during a tick; empty otherwise.
    pub(super) marks: NodeSet,
}

impl Synapses {
    /// Binds the records of a graph, in their state after `tick`; none of them is of a later one.
    ///
    /// # Errors
    /// [`graph::Error::NonFinite`], [`graph::Error::ParameterOutOfRange`] for an invalid record.
    pub fn bind(
        graph: &Graph,
        config: PlasticityConfig,
        tick: u64,
        records: impl IntoIterator<Item = SynapseRecord>,
    ) -> Result<Self, Error> {
        let mut bound = Self {
            config,
            generation: graph.generation(),
            tick,
            learned: Vec::new(),
            unmatched: BTreeMap::new(),
            expired: Vec::new(),
            freed: Vec::new(),
            marks: NodeSet::of(graph.node_count()),
        };
        bound.apply_records(graph, tick, records, std::iter::empty())?;
        Ok(bound)
    }

    /// Binds the records, also the unmatched ones, to another generation of the graph. It takes least for the graph after a batch,
    /// before a view is built of it: then no names are looked up.
    ///
    /// # Errors
    /// [`Error::GenerationMismatch`] if `from` is not the graph it is bound to.
    pub fn rebind(&self, from: &Graph, to: &Graph) -> Result<Self, Error> {
        self.check(from)?;
        let mut bound = Self::bind(to, self.config, self.tick, std::iter::empty())?;
        let mut records: Vec<SynapseRecord> = self.unmatched_records().collect();
        for of in &self.learned {
            let place = || {
                let source = to.node_after(from, of.place.source)?;
                let target = to.node_after(from, of.target)?;
                let slot = to.slot(source, from.relation(of.place.slot), target)?;
                to.is_excitatory(source, slot).then_some(SlotRef { slot, source })
            };
            match place() {
                Some(place) => bound.learned.push(BoundSynapse::at(to, place, of.synapse)),
                None => records.push(self.record(from, of)),
            }
        }
        bound.learned.sort_unstable_by_key(|of| of.place);
        if !records.is_empty() {
            bound.apply_records(to, self.tick, records, std::iter::empty())?;
        }
        Ok(bound)
    }

    /// All records, bound and unmatched: [`Self::bind`] restores the same state from them.
    ///
    /// # Errors
    /// [`Error::GenerationMismatch`].
    pub fn all_records(&self, graph: &Graph) -> Result<Vec<SynapseRecord>, Error> {
        let mut records = self.records(graph)?;
        records.extend(self.unmatched_records());
        Ok(records)
    }

    fn unmatched_records(&self) -> impl Iterator<Item = SynapseRecord> {
        let record = |(key, (synapse, tick)): (&SynapseKey, &(Synapse, u64))| SynapseRecord {
            key: key.clone(),
            synapse: *synapse,
            tick: *tick,
        };
        self.unmatched.iter().map(record)
    }

    /// Advances to a later tick: `records` have changed since, `dropped` were deleted, and all others decayed. The weights of
    /// the graph follow with [`Self::write_weights`].
    ///
    /// # Errors
    /// [`Error::GenerationMismatch`], and those of an invalid record; nothing is changed then.
    pub fn apply_records(
        &mut self,
        graph: &Graph,
        tick: u64,
        records: impl IntoIterator<Item = SynapseRecord>,
        dropped: impl IntoIterator<Item = SynapseKey>,
    ) -> Result<(), Error> {
        self.check(graph)?;
        let records: Vec<SynapseRecord> =
            records.into_iter().map(SynapseRecord::checked).collect::<Result<_, _>>()?;
        let (keep, steps) = (self.config.keep, tick.saturating_sub(self.tick));
        self.tick = self.tick.max(tick);
        self.expired.clear();
        // New state of slots: their records, or `None` if they have none any more.
        let mut updated: BTreeMap<EdgeIdx, Option<BoundSynapse>> = BTreeMap::new();
        for SynapseRecord { key, synapse, tick } in records {
            let left = synapse.after(self.tick.saturating_sub(tick), keep);
            let place = key.place(graph);
            if let Some(place) = place {
                updated.insert(place.slot, left.map(|left| BoundSynapse::at(graph, place, left)));
            }
            if left.is_none() {
                self.unmatched.remove(&key);
                self.expired.push(key);
            } else if place.is_none() {
                self.unmatched.insert(key, (synapse, tick));
            }
        }
        for key in dropped {
            self.unmatched.remove(&key);
            if let Some(place) = key.place(graph) {
                updated.insert(place.slot, None);
            }
        }
        let before = std::mem::take(&mut self.learned);
        let others = before.iter().filter(|of| !updated.contains_key(&of.place.slot));
        let left =
            others.filter_map(|of| Some(BoundSynapse { synapse: of.synapse.after(steps, keep)?, ..*of }));
        self.learned = left.collect();
        self.learned.extend(updated.into_values().flatten());
        self.learned.sort_unstable_by_key(|of| of.place);
        let places = before.iter().map(|of| of.place);
        let freed: Vec<SlotRef> = places.filter(|place| self.at(place.slot).is_none()).collect();
        self.freed.extend(freed);
        Ok(())
    }

    /// The last tick.
    #[must_use]
    pub const fn ticks(&self) -> u64 {
        self.tick
    }

    /// Number of bound records.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.learned.len()
    }

    /// Whether no record is bound.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.learned.is_empty()
    }

    /// Number of records for which the graph has no slot.
    #[must_use]
    pub fn unmatched(&self) -> usize {
        self.unmatched.len()
    }

    /// The records applied last that have expired, bound or unmatched: they can be deleted from the store.
    #[must_use]
    pub fn expired(&self) -> &[SynapseKey] {
        &self.expired
    }

    /// The state of a slot.
    #[must_use]
    pub fn synapse(&self, slot: EdgeIdx) -> Option<Synapse> {
        self.at(slot).map(|of| of.synapse)
    }

    fn at(&self, slot: EdgeIdx) -> Option<&BoundSynapse> {
        let at = self.learned.binary_search_by_key(&slot, |of| of.place.slot).ok()?;
        self.learned.get(at)
    }

    /// Checks that it is bound to a graph.
    pub(super) fn check(&self, graph: &Graph) -> Result<(), Error> {
        let (expected, found) = (graph.generation().0, self.generation.0);
        if expected == found { Ok(()) } else { Err(Error::GenerationMismatch { expected, found }) }
    }

    fn record(&self, graph: &Graph, of: &BoundSynapse) -> SynapseRecord {
        SynapseRecord { key: SynapseKey::of(graph, of.place), synapse: of.synapse, tick: self.tick }
    }

    /// All bound records, by slot, in their present state.
    ///
    /// # Errors
    /// [`Error::GenerationMismatch`].
    pub fn records(&self, graph: &Graph) -> Result<Vec<SynapseRecord>, Error> {
        self.check(graph)?;
        Ok(self.learned.iter().map(|of| self.record(graph, of)).collect())
    }

    /// The records of slots that ticks touched: to write where a slot has one, else to delete.
    ///
    /// # Errors
    /// [`Error::GenerationMismatch`].
    pub fn changed_records(&self, graph: &Graph, touched: &[SlotRef]) -> Result<ChangedRecords, Error> {
        self.check(graph)?;
        let mut rows = ChangedRecords::default();
        for place in touched {
            match self.at(place.slot) {
                Some(of) => rows.changed.push(self.record(graph, of)),
                None => rows.dropped.push(SynapseKey::of(graph, *place)),
            }
        }
        Ok(rows)
    }

    /// Writes the learned weights to the graph, and base weights where records were dropped; returns how many changed. The
    /// caller is the only writer; readers see each weight before or after.
    ///
    /// # Errors
    /// [`Error::GenerationMismatch`]; [`graph::Error::CasRetryExhausted`] if there is another writer, after which it can be
    /// retried.
    pub fn write_weights(&mut self, graph: &Graph) -> Result<usize, Error> {
        self.check(graph)?;
        let range = graph.range();
        let mut moved = 0;
        let mut set = |place: SlotRef, weight: f32| -> Result<(), Error> {
            if graph.weight(place.slot).to_bits() != weight.to_bits() {
                graph.write_weight(place.source, place.slot, weight)?;
                moved += 1;
            }
            Ok(())
        };
        // A slot that was learned again since then has a record of its own.
        for place in self.freed.iter().filter(|place| self.at(place.slot).is_none()) {
            set(*place, range.clamp(graph.base(place.slot)))?;
        }
        for (at, of) in self.learned.iter().enumerate() {
            if let Some(ahead) = self.learned.get(at + AHEAD) {
                graph.prefetch_weight(ahead.place.slot);
            }
            set(of.place, of.weight(range))?;
        }
        self.freed.clear();
        Ok(moved)
    }

    /// The bound records for a file, by the external ids of their ends, then by relation.
    ///
    /// # Errors
    /// [`Error::GenerationMismatch`].
    pub fn export(&self, graph: &Graph) -> Result<SynapticState, Error> {
        self.check(graph)?;
        let mut order: Vec<&BoundSynapse> = self.learned.iter().collect();
        order.sort_unstable_by_key(|of| {
            (graph.rank(of.place.source), graph.rank(of.target), graph.relation(of.place.slot))
        });
        let row = |of: &BoundSynapse| {
            let SynapseKey { source, relation, target } = SynapseKey::of(graph, of.place);
            let Synapse { delta, perm, strengthened, weakened, ltp, ltd } = of.synapse;
            SynapticRow {
                source_id: source,
                relation,
                target_id: target,
                original_weight: of.base,
                current_weight: of.weight(graph.range()),
                delta,
                perm,
                strengthen_count: strengthened,
                weaken_count: weakened,
                ltp_applied: ltp,
                ltd_applied: ltd,
            }
        };
        let synapses = order.into_iter().map(row).collect();
        Ok(SynapticState { generation: self.generation.0, tick: self.tick, synapses })
    }

    /// Binds the records of a file to the base weights of this graph. Ends are matched by external ids, not by labels, which
    /// need not be unique.
    ///
    /// # Errors
    /// As [`Self::bind`].
    pub fn import(graph: &Graph, config: PlasticityConfig, state: SynapticState) -> Result<Self, Error> {
        let SynapticState { generation: _, tick, synapses } = state;
        let record = |row: SynapticRow| SynapseRecord {
            key: SynapseKey { source: row.source_id, relation: row.relation, target: row.target_id },
            synapse: Synapse {
                delta: row.delta,
                perm: row.perm,
                strengthened: row.strengthen_count,
                weakened: row.weaken_count,
                ltp: row.ltp_applied,
                ltd: row.ltd_applied,
            },
            tick,
        };
        Self::bind(graph, config, tick, synapses.into_iter().map(record))
    }
}
