//! Waves on their own: what seeds make swing, what swings along far from them, and at which frequencies the whole swings.
//!
//! # Design notes
//! What swings along is looked for only when somebody asks: whether it lies in another region takes the communities of the
//! whole graph, which are worked out once for each state of it.

use super::{Node, known, positive, seeds, within};
use crate::domain::ids::Scope;
use crate::service::Service;
use crate::service::recall::{Config, Error, Freshness, TOP_K_MAX, View};
use ebb_engine::communities::Partition;
use ebb_engine::graph::number::PosF32;
use ebb_engine::resonance::harmonics::HarmonicAnalyzer;
use ebb_engine::resonance::sympathetic::SympatheticResonanceDetector;
use ebb_engine::resonance::{self, HOPS_MAX, Report, Resonance, Resonant};
use ebb_engine::scratch::Scratch;
use std::sync::Arc;

/// How many pulses anybody may ask for, so that no question takes memory without end.
pub const PULSES_MAX: u32 = 1_000_000;

/// Waves that are to run, and how they are to be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Waves {
    /// External ids that waves set out from, with amplitudes above 0 and up to 1.
    pub seeds: Vec<(String, f32)>,
    /// At which frequency they are read, above 0.
    pub frequency: f32,
    /// Hops from crest to crest at frequency 1, above 0; 16 where nothing is said.
    pub wavelength: Option<f32>,
    /// Hops of a wave at most, `1 ..= 10`.
    pub hops: u8,
    /// Pulses at most, `1 ..=` [`PULSES_MAX`]; 50,000 where nothing is said.
    pub pulses: Option<u32>,
    /// How many nodes at most, of each list, `1 ..= 1,000`.
    pub top_k: usize,
}

/// How a node swings.
#[derive(Debug, Clone, PartialEq)]
pub struct Swing {
    /// Which.
    pub node: Node,
    /// How far, at least 0.
    pub amplitude: f32,
    /// Where in its turn it is, `0 .. 2 * pi`.
    pub phase: f64,
    /// How much of what came is in step, `0 ..= 1`.
    pub coherence: f32,
    /// Whether it swings at least half as far as the node that swings farthest.
    pub antinode: bool,
    /// Whether much came and next to nothing is left of it.
    pub quiet: bool,
}

/// What swings along far from every seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Sympathy {
    /// By amplitude descending, then by external id; each with whether its community is that of no seed.
    pub nodes: Vec<(Swing, bool)>,
    /// How many there are beside these.
    pub left_out: usize,
    /// How many nodes no wave came to.
    pub unreached: usize,
}

/// What waves make of the nodes they came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Swings {
    /// Which state was asked.
    pub generation: u64,
    /// By amplitude descending, then by external id.
    pub nodes: Vec<Swing>,
    /// Sum of the squared amplitudes of all nodes.
    pub energy: f64,
    /// What swings along, if that was asked.
    pub sympathy: Option<Sympathy>,
    /// How they ran.
    pub run: Run,
}

/// How waves ran.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Seeds that are not there.
    pub unknown: Vec<String>,
    /// What was cut short.
    pub flags: Vec<&'static str>,
    /// Nodes that something came to.
    pub reached: usize,
    /// Pulses that were followed.
    pub pulses: u64,
    /// Sum of the squared amplitudes of those that were dropped for want of budget.
    pub dropped_energy: f64,
}

/// A multiple of a frequency.
#[derive(Debug, Clone, PartialEq)]
pub struct Harmonic {
    /// Which multiple, from 1.
    pub harmonic: u8,
    /// The frequency itself.
    pub frequency: f64,
    /// Sum of the squared amplitudes of all nodes.
    pub energy: f64,
    /// How many nodes answer most to it, of equal ones to the lower.
    pub nodes: usize,
}

/// How a node answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// Which.
    pub node: Node,
    /// The harmonic it answers most to.
    pub harmonic: u8,
    /// How far it swings at that.
    pub amplitude: f32,
    /// How far it swings at each harmonic there is.
    pub amplitudes: Vec<f32>,
}

/// A frequency of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Which, from 0 on.
    pub frequency: f64,
    /// Hops of a whole turn; `None` at 0, where nothing turns.
    pub period: Option<f64>,
    /// Sum of the squared amplitudes of all nodes.
    pub energy: f32,
    /// Whether that is above what it is just below and just above this frequency.
    pub resonant: bool,
}

/// At which frequencies nodes swing.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrum {
    /// Which state was asked.
    pub generation: u64,
    /// The harmonics there are, at most five: no hop turns more than half.
    pub harmonics: Vec<Harmonic>,
    /// Those that answer most to each, by harmonic, then by amplitude descending, then by external id.
    pub nodes: Vec<Response>,
    /// All frequencies there are.
    pub sweep: Vec<Step>,
    /// How they ran.
    pub run: Run,
}

/// Lets waves run and reads them at one frequency; if `sympathetic`, says what swings along far from every seed.
///
/// # Errors
/// [`Error::Invalid`] for a number outside its range.
pub fn resonate(
    view: &View,
    asked: &Waves,
    sympathetic: bool,
    rules: &Config,
    scratch: &mut Scratch,
) -> Result<Swings, Error> {
    let (waves, frequency, mut run) = set_out(view, asked, rules, scratch)?;
    let report = waves.report(view.graph(), frequency);
    let partition = sympathetic.then(|| view.communities());
    let sympathy = partition.as_ref().map(|partition| {
        run.flags.extend(partition.flags.names());
        sympathy(view, partition, (&waves, frequency, &report), asked.top_k)
    });
    Ok(Swings {
        generation: view.generation().0,
        nodes: report.nodes.iter().take(asked.top_k).map(|of| swing(view, of)).collect(),
        energy: report.energy,
        sympathy,
        run,
    })
}

/// Lets waves run and reads them at multiples of a frequency, and at all frequencies there are.
///
/// # Errors
/// [`Error::Invalid`] for a number outside its range.
pub fn harmonics(
    view: &View,
    asked: &Waves,
    rules: &Config,
    scratch: &mut Scratch,
) -> Result<Spectrum, Error> {
    let (waves, frequency, run) = set_out(view, asked, rules, scratch)?;
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
    let mut nodes = Vec::new();
    for group in &answered.groups {
        nodes.extend(group.nodes.iter().take(asked.top_k).map(|of| {
            let amplitudes: Vec<f32> =
                of.amplitudes.iter().take(usize::from(answered.count)).copied().collect();
            let own = usize::from(group.harmonic).saturating_sub(1);
            let amplitude = amplitudes.get(own).copied().unwrap_or(0.0);
            Response { node: known(view, of.node), harmonic: group.harmonic, amplitude, amplitudes }
        }));
    }
    let wavelength = f64::from(waves.wavelength.get());
    let sweep = analyzer.sweep().into_iter().map(|step| Step {
        frequency: step.frequency,
        period: Some(wavelength / step.frequency).filter(|period| period.is_finite()),
        energy: step.energy,
        resonant: step.resonant,
    });
    Ok(Spectrum {
        generation: view.generation().0,
        harmonics: harmonics.collect(),
        nodes,
        sweep: sweep.collect(),
        run,
    })
}

/// Lets waves run; answers them, the frequency at which they are to be read, and how they ran.
fn set_out(
    view: &View,
    asked: &Waves,
    rules: &Config,
    scratch: &mut Scratch,
) -> Result<(Resonance, PosF32, Run), Error> {
    within("top_k", asked.top_k, TOP_K_MAX)?;
    within("hops", usize::from(asked.hops), usize::from(HOPS_MAX))?;
    let usual = rules.weighing().waves;
    let pulse_budget = asked.pulses.unwrap_or(usual.pulse_budget);
    within("pulses", pulse_budget as usize, PULSES_MAX as usize)?;
    let frequency = positive("frequency", asked.frequency)?;
    let wavelength = asked.wavelength.map_or(Ok(usual.wavelength), |asked| positive("wavelength", asked))?;
    let (seeds, unknown) = seeds(view, &asked.seeds)?;
    let config = resonance::Config { wavelength, pulse_budget, max_hops: asked.hops };
    let mean_degree = view.mean_degree();
    let waves = resonance::resonate(view.graph(), mean_degree, &seeds, &config, &mut scratch.resonance)
        .map_err(|why| Error::Invalid(why.to_string()))?;
    let run = Run {
        unknown,
        flags: waves.flags.names().collect(),
        reached: waves.waves.len(),
        pulses: waves.pulses,
        dropped_energy: waves.dropped_energy,
    };
    Ok((waves, frequency, run))
}

fn swing(view: &View, of: &Resonant) -> Swing {
    Swing {
        node: known(view, of.node),
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
    (waves, frequency, report): (&Resonance, PosF32, &Report),
    most: usize,
) -> Sympathy {
    let communities = Some(partition.of.as_slice());
    let found = SympatheticResonanceDetector { graph: view.graph(), communities }.detect(waves, frequency);
    // They come in the order of the report.
    let mut all = report.nodes.iter();
    let nodes = found.nodes.iter().take(most).filter_map(|one| {
        let of = all.find(|of| of.node == one.node)?;
        Some((swing(view, of), one.cross_region == Some(true)))
    });
    Sympathy {
        nodes: nodes.collect(),
        left_out: found.nodes.len().saturating_sub(most),
        unreached: found.unreached,
    }
}

impl Service {
    /// Lets waves run in the mirror of a scope and reads them at one frequency.
    ///
    /// # Errors
    /// As [`Service::recall`].
    pub async fn resonate(
        &self,
        scope: &Scope,
        asked: Waves,
        sympathetic: bool,
    ) -> Result<(Swings, Freshness), Error> {
        let current = self.ready(scope).await?;
        let (view, rules) = (Arc::clone(&current.view), self.config.engine.clone());
        let found =
            self.compute.run(move |scratch| resonate(&view, &asked, sympathetic, &rules, scratch)).await??;
        Ok((found, self.freshness(&current)))
    }

    /// Lets waves run in the mirror of a scope and reads them at all frequencies.
    ///
    /// # Errors
    /// As [`Service::recall`].
    pub async fn harmonics(&self, scope: &Scope, asked: Waves) -> Result<(Spectrum, Freshness), Error> {
        let current = self.ready(scope).await?;
        let (view, rules) = (Arc::clone(&current.view), self.config.engine.clone());
        let found = self.compute.run(move |scratch| harmonics(&view, &asked, &rules, scratch)).await??;
        Ok((found, self.freshness(&current)))
    }
}
