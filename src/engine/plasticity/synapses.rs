//! What was learned: one record for each slot that was ever strengthened, as a row of a store and bound to a graph.
//!
//! A record is known by source, relation and target, which outlive a graph, and holds what it was at its tick. What fades
//! has faded since, and whoever reads it replays that, one rounded product a tick: so all programs hold the same bits, and a
//! record that only faded is not written again. A record of which nothing is left is dropped by all of them at the same tick.
//!
//! [`Synapses`] are the records at the slots of one state of a graph, in the order of these slots. Records without a slot
//! there, or with one that holds back, are set aside and return with their edge. A graph that holds only a part of its scope
//! is enough to learn on: rows of slots that it lacks stay as they are, since all that happens to them is to fade.
//!
//! Invariants: records that are bound again are those that were learned, bit by bit (held by
//! `a_reloaded_set_is_the_running_one`); what was learned on one graph never moves a weight of another (held by
//! `generation_mismatch_rebind`).

use super::Rules;
use super::rule::{LTD_PENALTY, LTP_BONUS, Marks, faded};
use crate::Error;
use crate::graph::builder::WeightRange;
use crate::graph::codec::plasticity::{SynapticRow, SynapticState};
use crate::graph::index::{EdgeIdx, Generation, NodeId};
use crate::graph::{self, Graph};
use std::collections::BTreeMap;
use std::fmt;

/// How many records ahead their weights are asked for.
const AHEAD: usize = 16;
/// The greatest of what fades: the greatest cap of a weight.
pub(super) const DELTA_MAX: f32 = 16.0;

/// What one slot learned.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Synapse {
    /// What fades, `0 ..= 16`.
    pub delta: f32,
    /// What stays, `-0.15 ..= 0.15`.
    pub perm: f32,
    /// How often it was strengthened since it was last weakened.
    pub strengthened: u32,
    /// How often it was weakened since it was last strengthened, counted up to where that costs it something.
    pub weakened: u32,
    /// Whether it has had its lasting bonus.
    pub ltp: bool,
    /// Whether it has had its lasting penalty.
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

    /// Whether nothing is left of it.
    pub(super) fn is_spent(&self) -> bool {
        self.delta == 0.0 && self.perm == 0.0 && !self.ltp && !self.ltd
    }

    /// What it is after so many ticks that only let it fade; nothing if it was spent in one of them.
    fn after(self, ticks: u64, keep: f32) -> Option<Self> {
        let mut delta = self.delta;
        for _ in 0..ticks {
            let left = faded(delta, keep);
            // What a product leaves as it is stays so.
            if left.to_bits() == delta.to_bits() {
                break;
            }
            delta = left;
        }
        Some(Self { delta, ..self }).filter(|left| ticks == 0 || !left.is_spent())
    }
}

/// By what a record is known: a slot without a graph.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The external id of the node it begins at.
    pub source: String,
    /// The type of its relationship.
    pub relation: String,
    /// The external id of the node it leads to.
    pub target: String,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -{}-> {}", self.source, self.relation, self.target)
    }
}

impl Key {
    fn of(graph: &Graph, Place { slot, source }: Place) -> Self {
        Self {
            source: graph.external_id(source).to_owned(),
            relation: graph.relation(slot).to_owned(),
            target: graph.external_id(graph.target(slot)).to_owned(),
        }
    }

    /// Its slot, if the graph has one that passes on.
    fn place(&self, graph: &Graph) -> Option<Place> {
        let (source, target) = (graph.find(&self.source)?, graph.find(&self.target)?);
        let slot = graph.slot(source, &self.relation, target)?;
        graph.is_excitatory(source, slot).then_some(Place { slot, source })
    }
}

/// A row of a store.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Of which slot.
    pub key: Key,
    /// What it had learned.
    pub synapse: Synapse,
    /// After which tick.
    pub tick: u64,
}

impl Record {
    /// Checked, as records are that are bound.
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
        // One zero.
        Ok(Self { synapse: Synapse { delta: delta + 0.0, perm: perm + 0.0, ..self.synapse }, ..self })
    }
}

/// What of a set is to be stored.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    /// To be written.
    pub changed: Vec<Record>,
    /// To be deleted.
    pub dropped: Vec<Key>,
}

/// A slot, and the node whose row it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Which slot.
    pub slot: EdgeIdx,
    /// Where it begins.
    pub source: NodeId,
}

/// A record at its slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Learned {
    pub(super) place: Place,
    pub(super) target: NodeId,
    pub(super) base: f32,
    pub(super) synapse: Synapse,
}

impl Learned {
    pub(super) fn at(graph: &Graph, place: Place, synapse: Synapse) -> Self {
        Self { place, target: graph.target(place.slot), base: graph.base(place.slot), synapse }
    }

    pub(super) fn weight(&self, range: WeightRange) -> f32 {
        self.synapse.weight(self.base, range)
    }
}

/// All that was learned on one state of a graph.
#[derive(Debug, Clone)]
pub struct Synapses {
    pub(super) rules: Rules,
    generation: Generation,
    /// The last tick that is in it.
    pub(super) tick: u64,
    /// By slot.
    pub(super) learned: Vec<Learned>,
    /// Records without a slot, as they came.
    aside: BTreeMap<Key, (Synapse, u64)>,
    /// Of the records that came last those of which nothing is left.
    spent: Vec<Key>,
    /// Slots whose records were dropped since weights were last settled.
    pub(super) freed: Vec<Place>,
    /// Room for a tick to mark nodes in; nothing is marked between two.
    pub(super) marks: Marks,
}

impl Synapses {
    /// Binds the records of a scope to a graph, as they are after a tick; none of them is of a later one.
    ///
    /// # Errors
    /// [`graph::Error::NonFinite`], [`graph::Error::ParameterOutOfRange`] for a record that is not sound.
    pub fn bind(
        graph: &Graph,
        rules: Rules,
        tick: u64,
        records: impl IntoIterator<Item = Record>,
    ) -> Result<Self, Error> {
        let mut bound = Self {
            rules,
            generation: graph.generation(),
            tick,
            learned: Vec::new(),
            aside: BTreeMap::new(),
            spent: Vec::new(),
            freed: Vec::new(),
            marks: Marks::of(graph.node_count()),
        };
        bound.take(graph, tick, records, std::iter::empty())?;
        Ok(bound)
    }

    /// The same on another state of the graph: records find their slots again, also those that were set aside.
    ///
    /// # Errors
    /// [`Error::GenerationMismatch`] where `from` is not what it is bound to.
    pub fn rebind(&self, from: &Graph, to: &Graph) -> Result<Self, Error> {
        let record = |(key, (synapse, tick)): (&Key, &(Synapse, u64))| Record {
            key: key.clone(),
            synapse: *synapse,
            tick: *tick,
        };
        let records = self.records(from)?.into_iter().chain(self.aside.iter().map(record));
        Self::bind(to, self.rules, self.tick, records)
    }

    /// Comes to a later tick by what a store says: `records` are those that changed since, `dropped` those that are gone, and
    /// all others faded. Weights follow when they are [settled](Self::settle).
    ///
    /// # Errors
    /// [`Error::GenerationMismatch`], and those of a record that is not sound; nothing is changed then.
    pub fn take(
        &mut self,
        graph: &Graph,
        tick: u64,
        records: impl IntoIterator<Item = Record>,
        dropped: impl IntoIterator<Item = Key>,
    ) -> Result<(), Error> {
        self.check(graph)?;
        let records: Vec<Record> = records.into_iter().map(Record::checked).collect::<Result<_, _>>()?;
        let (keep, steps) = (self.rules.keep, tick.saturating_sub(self.tick));
        self.tick = self.tick.max(tick);
        self.spent.clear();
        // What is told of slots: their records, or that they have none any more.
        let mut told: BTreeMap<EdgeIdx, Option<Learned>> = BTreeMap::new();
        for Record { key, synapse, tick } in records {
            let left = synapse.after(self.tick.saturating_sub(tick), keep);
            let place = key.place(graph);
            if let Some(place) = place {
                told.insert(place.slot, left.map(|left| Learned::at(graph, place, left)));
            }
            if left.is_none() {
                self.aside.remove(&key);
                self.spent.push(key);
            } else if place.is_none() {
                self.aside.insert(key, (synapse, tick));
            }
        }
        for key in dropped {
            self.aside.remove(&key);
            if let Some(place) = key.place(graph) {
                told.insert(place.slot, None);
            }
        }
        let before = std::mem::take(&mut self.learned);
        let untold = before.iter().filter(|of| !told.contains_key(&of.place.slot));
        let left = untold.filter_map(|of| Some(Learned { synapse: of.synapse.after(steps, keep)?, ..*of }));
        self.learned = left.collect();
        self.learned.extend(told.into_values().flatten());
        self.learned.sort_unstable_by_key(|of| of.place);
        let places = before.iter().map(|of| of.place);
        let freed: Vec<Place> = places.filter(|place| self.at(place.slot).is_none()).collect();
        self.freed.extend(freed);
        Ok(())
    }

    /// The last tick that is in it.
    #[must_use]
    pub const fn ticks(&self) -> u64 {
        self.tick
    }

    /// How many records have a slot.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.learned.len()
    }

    /// Whether none has.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.learned.is_empty()
    }

    /// How many records are set aside, since the graph has no slot for them.
    #[must_use]
    pub fn unmatched(&self) -> usize {
        self.aside.len()
    }

    /// Of the records that were bound or taken last those of which nothing is left, with a slot or without: their rows say
    /// nothing any more.
    #[must_use]
    pub fn spent(&self) -> &[Key] {
        &self.spent
    }

    /// What it says of a slot.
    #[must_use]
    pub fn synapse(&self, slot: EdgeIdx) -> Option<Synapse> {
        self.at(slot).map(|of| of.synapse)
    }

    fn at(&self, slot: EdgeIdx) -> Option<&Learned> {
        let at = self.learned.binary_search_by_key(&slot, |of| of.place.slot).ok()?;
        self.learned.get(at)
    }

    /// Sees that it is bound to a graph.
    pub(super) fn check(&self, graph: &Graph) -> Result<(), Error> {
        let (expected, found) = (graph.generation().0, self.generation.0);
        if expected == found { Ok(()) } else { Err(Error::GenerationMismatch { expected, found }) }
    }

    fn record(&self, graph: &Graph, of: &Learned) -> Record {
        Record { key: Key::of(graph, of.place), synapse: of.synapse, tick: self.tick }
    }

    /// All records that have a slot, by slot, as they are now.
    ///
    /// # Errors
    /// [`Error::GenerationMismatch`].
    pub fn records(&self, graph: &Graph) -> Result<Vec<Record>, Error> {
        self.check(graph)?;
        Ok(self.learned.iter().map(|of| self.record(graph, of)).collect())
    }

    /// The rows of what one or more ticks touched: a slot that has a record is to be written, any other deleted.
    ///
    /// # Errors
    /// [`Error::GenerationMismatch`].
    pub fn rows(&self, graph: &Graph, touched: &[Place]) -> Result<Rows, Error> {
        self.check(graph)?;
        let mut rows = Rows::default();
        for place in touched {
            match self.at(place.slot) {
                Some(of) => rows.changed.push(self.record(graph, of)),
                None => rows.dropped.push(Key::of(graph, *place)),
            }
        }
        Ok(rows)
    }

    /// Moves the effective weights of the graph to what is learned, and those of dropped records back to their bases; answers
    /// how many it moved. The caller is the only writer; readers see each weight before or after.
    ///
    /// # Errors
    /// [`Error::GenerationMismatch`]; [`graph::Error::CasRetryExhausted`] beside another writer, after which it can be asked
    /// again.
    pub fn settle(&mut self, graph: &Graph) -> Result<usize, Error> {
        self.check(graph)?;
        let range = graph.range();
        let mut moved = 0;
        let mut set = |place: Place, weight: f32| -> Result<(), Error> {
            if graph.weight(place.slot).to_bits() != weight.to_bits() {
                graph.write_weight(place.source, place.slot, weight)?;
                moved += 1;
            }
            Ok(())
        };
        // One that has learned again since then has a weight of its own.
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

    /// What has a slot, for a file: by the external ids of its ends, then by relation.
    ///
    /// # Errors
    /// [`Error::GenerationMismatch`].
    pub fn export(&self, graph: &Graph) -> Result<SynapticState, Error> {
        self.check(graph)?;
        let mut order: Vec<&Learned> = self.learned.iter().collect();
        order.sort_unstable_by_key(|of| {
            (graph.rank(of.place.source), graph.rank(of.target), graph.relation(of.place.slot))
        });
        let row = |of: &Learned| {
            let Key { source, relation, target } = Key::of(graph, of.place);
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

    /// What a file says, on top of the bases that this graph has: [`len`](Self::len) of it matched, and
    /// [`unmatched`](Self::unmatched) did not. Ends are matched by external ids, not by labels, which others may bear too.
    ///
    /// # Errors
    /// As [`Self::bind`].
    pub fn import(graph: &Graph, rules: Rules, state: SynapticState) -> Result<Self, Error> {
        let SynapticState { generation: _, tick, synapses } = state;
        let record = |row: SynapticRow| Record {
            key: Key { source: row.source_id, relation: row.relation, target: row.target_id },
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
        Self::bind(graph, rules, tick, synapses.into_iter().map(record))
    }
}
