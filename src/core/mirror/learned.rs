//! Conversion of learned weights between the store and a graph: rows to records of the engine, and slots to rows.
//!
//! A graph that is not published yet gets its weights before publication. In a published one they are updated in place,
//! and its [`Ticks`](ebb_engine::plasticity::Ticks) record this: a response includes the ticks at its beginning and its
//! end. A graph has one writer, the refresh of its mirror.
//!
//! Numbers of the store are `f64`, those of the engine `f32`; each of these was written from an `f32`, so the
//! conversion is exact. An invalid row is skipped: its slot has nothing learned until an outcome teaches it again.

use super::{Error, MirroredScope};
use crate::store::{Learned, SynapseRow};
use ebb_engine::graph::Graph;
use ebb_engine::plasticity::{PlasticityConfig, SlotRef, Synapse, SynapseKey, SynapseRecord, Synapses};
use std::sync::Arc;
use tracing::warn;

/// A row as a record; `None` if the row is invalid.
#[must_use]
pub fn record(row: SynapseRow) -> Option<SynapseRecord> {
    let SynapseRow { source, relation, target, base: _, delta, perm, strengthened, weakened, ltp, ltd, tick } =
        row;
    #[expect(clippy::cast_possible_truncation, reason = "written values are f32; others are rejected")]
    let (delta, perm) = (delta as f32, perm as f32);
    let (strengthened, weakened) = (u32::try_from(strengthened).ok()?, u32::try_from(weakened).ok()?);
    let synapse = Synapse { delta, perm, strengthened, weakened, ltp, ltd };
    let key = SynapseKey { source, relation, target };
    SynapseRecord { key, synapse, tick: u64::try_from(tick).ok()? }.checked().ok()
}

/// Learned state of a slot after a tick, as a row.
#[must_use]
pub fn row(graph: &Graph, place: SlotRef, synapse: Synapse, tick: u64) -> SynapseRow {
    let Synapse { delta, perm, strengthened, weakened, ltp, ltd } = synapse;
    SynapseRow {
        source: graph.external_id(place.source).to_owned(),
        relation: graph.relation(place.slot).to_owned(),
        target: graph.external_id(graph.target(place.slot)).to_owned(),
        base: f64::from(graph.base(place.slot)),
        delta: f64::from(delta),
        perm: f64::from(perm),
        strengthened: i64::from(strengthened),
        weakened: i64::from(weakened),
        ltp,
        ltd,
        tick: i64::try_from(tick).unwrap_or(i64::MAX),
    }
}

/// Loads the learned state of an unpublished graph and updates its weights.
pub(super) fn bound(graph: &Graph, rules: PlasticityConfig, learned: Learned) -> Result<Synapses, Error> {
    let mut synapses = Synapses::bind(graph, rules, learned.tick, records(learned.rows))?;
    synapses.write_weights(graph)?;
    Ok(synapses)
}

pub(super) fn records(rows: Vec<SynapseRow>) -> Vec<SynapseRecord> {
    let all = rows.len();
    let records: Vec<SynapseRecord> = rows.into_iter().filter_map(record).collect();
    if records.len() < all {
        let unusable = all - records.len();
        warn!(unusable, "skipped learned rows with invalid values");
    }
    records
}

impl MirroredScope {
    /// Applies later learning to the published graph.
    pub(super) fn learn(&mut self, learned: Learned) -> Result<(), Error> {
        let (view, tick) = (Arc::clone(&self.view), learned.tick);
        self.synapses.apply_records(view.graph(), tick, records(learned.rows), [])?;
        view.ticks().begin(tick);
        self.synapses.write_weights(view.graph())?;
        view.ticks().finish(tick);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ebb_engine::graph::builder::{EdgeRow, GraphBuilder};
    use ebb_engine::graph::columns::NodeRow;
    use ebb_engine::graph::kinds::NodeType;

    fn graph() -> Graph {
        let mut builder = GraphBuilder::default();
        for id in ["a", "b"] {
            builder.add_node(NodeRow::new(id, id, NodeType::MEMORY)).unwrap();
        }
        let [source, target] = ["a", "b"].map(str::to_owned);
        let edge =
            EdgeRow { source, target, relation: "CALLS".to_owned(), weight: 0.3, ..EdgeRow::default() };
        builder.add_edge(&edge).unwrap();
        builder.finalize().unwrap()
    }

    #[test]
    fn a_row_comes_back_as_the_record_it_was() {
        let graph = graph();
        let [a, b] = ["a", "b"].map(|id| graph.find(id).unwrap());
        let mut synapses = Synapses::bind(&graph, PlasticityConfig::default(), 6, []).unwrap();
        let ticked = synapses.tick(&graph, &[(a, 0.7), (b, 0.123_456_79)]).unwrap();
        let place = ticked.touched[0];
        let written = row(&graph, place, synapses.synapse(place.slot).unwrap(), ticked.tick);
        assert_eq!([written.source.as_str(), &written.relation, &written.target], ["a", "CALLS", "b"]);
        assert_eq!((written.base.to_bits(), written.tick), (f64::from(0.3_f32).to_bits(), 7));
        assert_eq!(vec![record(written).unwrap()], synapses.records(&graph).unwrap());
    }

    #[test]
    fn what_nothing_learns_is_passed_over() {
        let sound = row(
            &graph(),
            SlotRef { slot: ebb_engine::graph::index::EdgeIdx(0), source: graph().find("a").unwrap() },
            Synapse { delta: 0.5, perm: -0.15, ltd: true, weakened: 5, ..Synapse::default() },
            3,
        );
        let bad = [
            SynapseRow { delta: f64::NAN, ..sound.clone() },
            SynapseRow { delta: -0.1, ..sound.clone() },
            SynapseRow { delta: 1e300, ..sound.clone() },
            SynapseRow { perm: 0.2, ..sound.clone() },
            SynapseRow { strengthened: -1, ..sound.clone() },
            SynapseRow { weakened: i64::from(u32::MAX) + 1, ..sound.clone() },
            SynapseRow { tick: -1, ..sound.clone() },
        ];
        let all: Vec<SynapseRow> = bad.into_iter().chain([sound.clone()]).collect();
        assert_eq!(records(all), [record(sound).unwrap()]);
    }
}
