//! Waves: nodes that resonate with seeds, near and far, and the frequencies of the whole graph.
//!
//! # Design notes
//! Sympathetic nodes are searched for only on request: whether one lies in another region depends on the communities of
//! the whole graph, which are computed once for each state of it.

use super::{NodeAnswer, check_range, known, positive, seeds, state};
use crate::api::engine::{
    Harmonic, HarmonicsAnswer, HarmonicsHit, HarmonicsRequest, ResonateAnswer, ResonateHit, ResonateRequest,
    SweepStep, Sympathetic, Sympathy, WavesRun,
};
use crate::domain::ids::Scope;
use crate::service::Service;
use crate::service::recall::{Error, RecallConfig, TOP_K_MAX, View};
use ebb_engine::communities::Partition;
use ebb_engine::graph::number::PosF32;
use ebb_engine::resonance::harmonics::HarmonicAnalyzer;
use ebb_engine::resonance::sympathetic::sympathetic_resonance;
use ebb_engine::resonance::{self, HOPS_MAX, NodeResonance, Resonance, ResonanceReport};
use ebb_engine::scratch::Scratch;

/// Greatest number of pulses of a request, which bounds its memory.
pub const PULSES_MAX: u32 = 1_000_000;

/// Runs waves from seeds and reads them at one frequency; on request also at nodes far from every seed.
pub fn resonate(
    view: &View,
    request: &ResonateRequest,
    rules: &RecallConfig,
    scratch: &mut Scratch,
) -> Result<ResonateAnswer, Error> {
    let Running { waves, frequency, unknown } = run_waves(view, request, rules, scratch)?;
    let mut flags: Vec<&'static str> = waves.flags.names().collect();
    let report = waves.report(view.graph(), frequency);
    let partition = request.sympathetic.then(|| view.communities());
    let sympathetic = partition.as_ref().map(|partition| {
        flags.extend(partition.flags.names());
        sympathy(view, partition, (&waves, frequency, &report), request.top_k)
    });
    Ok(ResonateAnswer {
        state: state(view, flags, unknown),
        hits: report.nodes.iter().take(request.top_k).map(|of| swing(view, of)).collect(),
        energy: report.energy,
        sympathetic,
        waves: ran(&waves),
    })
}

/// Runs waves from seeds and reads them at multiples of a frequency, and at all frequencies found.
pub fn harmonics(
    view: &View,
    request: HarmonicsRequest,
    rules: &RecallConfig,
    scratch: &mut Scratch,
) -> Result<HarmonicsAnswer, Error> {
    let request = ResonateRequest::from(request);
    let Running { waves, frequency, unknown } = run_waves(view, &request, rules, scratch)?;
    let analyzer = HarmonicAnalyzer::new(view.graph(), &waves);
    let answered = analyzer.harmonics(frequency);
    let size = |harmonic: u8| {
        let group = answered.groups.iter().find(|group| group.harmonic == harmonic);
        group.map_or(0, |group| group.nodes.len())
    };
    let energies = (1_u8..).zip(analyzer.energies(frequency));
    let harmonics = energies.map(|(harmonic, energy)| Harmonic {
        harmonic,
        frequency: f64::from(harmonic) * f64::from(frequency.get()),
        energy,
        nodes: size(harmonic),
    });
    let mut hits = Vec::new();
    for group in &answered.groups {
        hits.extend(group.nodes.iter().take(request.top_k).map(|of| {
            let amplitudes: Vec<f32> =
                of.amplitudes.iter().take(usize::from(answered.count)).copied().collect();
            let own = usize::from(group.harmonic).saturating_sub(1);
            let score = amplitudes.get(own).copied().unwrap_or(0.0);
            HarmonicsHit { node: known(view, of.node), score, harmonic: group.harmonic, amplitudes }
        }));
    }
    let wavelength = f64::from(waves.wavelength.get());
    let sweep = analyzer.sweep().into_iter().map(|step| SweepStep {
        frequency: step.frequency,
        period: Some(wavelength / step.frequency).filter(|period| period.is_finite()),
        energy: step.energy,
        resonant: step.resonant,
    });
    let flags = waves.flags.names().collect();
    Ok(HarmonicsAnswer {
        state: state(view, flags, unknown),
        harmonics: harmonics.collect(),
        hits,
        sweep: sweep.collect(),
        waves: ran(&waves),
    })
}

/// Finished waves.
struct Running {
    waves: Resonance,
    /// Frequencies to read them at.
    frequency: PosF32,
    /// Seeds that do not exist.
    unknown: Vec<String>,
}

fn run_waves(
    view: &View,
    request: &ResonateRequest,
    rules: &RecallConfig,
    scratch: &mut Scratch,
) -> Result<Running, Error> {
    check_range("top_k", request.top_k, TOP_K_MAX)?;
    check_range("hops", usize::from(request.hops), usize::from(HOPS_MAX))?;
    let usual = rules.evidence().waves;
    let pulse_budget = request.pulses.unwrap_or(usual.pulse_budget);
    check_range("pulses", pulse_budget as usize, PULSES_MAX as usize)?;
    let frequency = positive("frequency", request.frequency)?;
    let wavelength =
        request.wavelength.map_or(Ok(usual.wavelength), |length| positive("wavelength", length))?;
    let (seeds, unknown) = seeds(view, &request.seeds)?;
    let config = resonance::ResonanceConfig { wavelength, pulse_budget, max_hops: request.hops };
    let mean_degree = view.mean_degree();
    let waves = resonance::resonate(view.graph(), mean_degree, &seeds, &config, &mut scratch.resonance)
        .map_err(|why| Error::Invalid(why.to_string()))?;
    Ok(Running { waves, frequency, unknown })
}

fn ran(waves: &Resonance) -> WavesRun {
    WavesRun { nodes_touched: waves.waves.len(), pulses: waves.pulses, dropped_energy: waves.dropped_energy }
}

fn swing(view: &View, of: &NodeResonance) -> ResonateHit {
    ResonateHit {
        node: known(view, of.node),
        score: of.amplitude,
        amplitude: of.amplitude,
        phase: of.field.phase(),
        coherence: of.coherence,
        antinode: of.antinode,
        quiet: of.quiet,
    }
}

fn sympathy(
    view: &View,
    partition: &Partition,
    (waves, frequency, report): (&Resonance, PosF32, &ResonanceReport),
    most: usize,
) -> Sympathy {
    let communities = Some(partition.membership.as_slice());
    let found = sympathetic_resonance(view.graph(), waves, frequency, communities);
    // In the order of the report.
    let mut all = report.nodes.iter();
    let hits = found.nodes.iter().take(most).filter_map(|one| {
        let of = all.find(|of| of.node == one.node)?;
        Some(Sympathetic { swing: swing(view, of), cross_region: one.cross_region == Some(true) })
    });
    Sympathy {
        hits: hits.collect(),
        left_out: found.nodes.len().saturating_sub(most),
        unreached: found.unreached,
    }
}

impl NodeAnswer for ResonateAnswer {
    fn retain(&mut self, keep: &mut dyn FnMut(&str) -> bool) {
        self.hits.retain(|hit| keep(&hit.node.id));
        if let Some(sympathetic) = &mut self.sympathetic {
            sympathetic.hits.retain(|hit| keep(&hit.swing.node.id));
        }
    }
}

impl NodeAnswer for HarmonicsAnswer {
    fn retain(&mut self, keep: &mut dyn FnMut(&str) -> bool) {
        self.hits.retain(|hit| keep(&hit.node.id));
    }
}

impl Service {
    /// Runs [`resonate`] on the mirror of a scope.
    pub async fn resonate(&self, scope: &Scope, request: ResonateRequest) -> Result<ResonateAnswer, Error> {
        let work = move |view: &View, rules: &RecallConfig, scratch: &mut Scratch| {
            resonate(view, &request, rules, scratch)
        };
        let (mut answer, freshness) = self.on_mirror(scope, work).await?;
        answer.state.freshness = freshness;
        Ok(answer)
    }

    /// Runs [`harmonics`] on the mirror of a scope.
    pub async fn harmonics(
        &self,
        scope: &Scope,
        request: HarmonicsRequest,
    ) -> Result<HarmonicsAnswer, Error> {
        let work = move |view: &View, rules: &RecallConfig, scratch: &mut Scratch| {
            harmonics(view, request, rules, scratch)
        };
        let (mut answer, freshness) = self.on_mirror(scope, work).await?;
        answer.state.freshness = freshness;
        Ok(answer)
    }
}
