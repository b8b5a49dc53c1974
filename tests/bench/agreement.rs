//! When an answer of the engine is that of its textbook: to the bit where both round alike, else as near as their ways of
//! summing up leave them.

use crate::reference::contrast;
use crate::reference::grouping;
use crate::reference::learning::Sweep;
use crate::reference::{Plain, waves};
use ebb_engine::communities::Partition;
use ebb_engine::graph::Graph;
use ebb_engine::resonance::{NodeWave, Resonance};
use ebb_engine::xlr::{Contrast, XlrResult};

/// How far a learned weight may be from one learned in f64, as a share of it.
const WEIGHT_NEAR: f64 = 1e-4;
/// How far what is made of phases may be from what is made of angles.
const PHASE_NEAR: f64 = 1e-5;
/// How far amplitudes may be apart that were summed in another order.
const WAVE_NEAR: f64 = 1e-9;
/// How much less modular than the textbook's communities may be, and how far the measure itself may be off.
const LESS_MODULAR: f64 = 0.005;
const MEASURE_NEAR: f64 = 1e-9;

/// Whether all weights are those of a sweep that learned the same.
pub(crate) fn learned(graph: &Graph, sweep: &Sweep) -> bool {
    let slots = graph.nodes().flat_map(|node| graph.slots(node));
    let mut both = slots.map(|slot| f64::from(graph.weight(slot))).zip(sweep.weights());
    both.all(|(is, wanted)| (is - wanted).abs() <= WEIGHT_NEAR * wanted)
}

/// Whether contrast reached the same nodes with the same amplitudes, from the same anti-seeds with as many pulses, and makes
/// nearly the same of phases.
pub(crate) fn contrasted(found: &XlrResult, wanted: &contrast::Contrast) -> bool {
    let is_near = |(field, wanted): (&Contrast, &contrast::Field)| {
        let amplitudes = [field.hot, field.cold].map(f32::to_bits);
        (field.node.0, amplitudes) == (wanted.node, [wanted.hot, wanted.cold].map(f32::to_bits))
            && (f64::from(field.overlap) - wanted.overlap).abs() <= PHASE_NEAR
            && (f64::from(field.gate) - wanted.gate).abs() <= PHASE_NEAR
    };
    found.pulses == wanted.pulses
        && found.anti_seeds.iter().map(|node| node.0).eq(wanted.anti_seeds.iter().copied())
        && found.nodes.len() == wanted.fields.len()
        && found.nodes.iter().zip(&wanted.fields).all(is_near)
}

/// Whether waves came to the same nodes, as strong at each hop, with as many pulses.
pub(crate) fn waved(found: &Resonance, (came, pulses): &waves::Came) -> bool {
    let is_near = |wave: &NodeWave| {
        let wanted = came.get(&wave.node.0).map_or(&[][..], Vec::as_slice);
        // Hops that are not asked for are not counted.
        let (asked, rest) = wave.amplitudes.split_at(wanted.len().min(wave.amplitudes.len()));
        !wanted.is_empty()
            && asked.iter().zip(wanted).all(|(is, of)| (is - of).abs() <= WAVE_NEAR)
            && rest.iter().all(|is| is.abs() <= 0.0)
    };
    found.pulses == *pulses && found.waves.len() == came.len() && found.waves.iter().all(is_near)
}

/// The modularity of communities and of a textbook's, both as the textbook measures it; and whether the first is what it says
/// it is, and no worse.
pub(crate) fn grouped(plain: &Plain, found: &Partition, wanted: &[u32]) -> (f64, f64, bool) {
    let numbers: Vec<u32> = found.membership.iter().map(|community| community.0).collect();
    let [q, reference] = [&numbers[..], wanted].map(|of| grouping::modularity(plain, of));
    (q, reference, (q - found.modularity).abs() < MEASURE_NEAR && q >= reference - LESS_MODULAR)
}
