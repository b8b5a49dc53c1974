//! `ebb engine resonate` and `ebb engine harmonics`: standing waves from seeds, and their frequencies.

use super::{Common, Seeds, above_0, close};
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::page::{Column, Page};
use clap::Args;
use ebb_core::api::engine::{
    Harmonic, HarmonicsAnswer, HarmonicsHit, HarmonicsRequest, ResonateAnswer, ResonateHit, ResonateRequest,
    SweepStep, Sympathy,
};

/// Options of waves: seeds, limits, frequency.
#[derive(Debug, Clone, Args)]
pub struct WavesArgs {
    /// Seeds.
    #[command(flatten)]
    pub start: Seeds,
    /// Frequency at which the waves are read
    #[arg(long, value_name = "F", default_value_t = 1.0, value_parser = above_0)]
    pub frequency: f32,
    /// Wavelength in hops at frequency 1 [default: 16]
    #[arg(long, value_name = "N", value_parser = above_0)]
    pub wavelength: Option<f32>,
    /// Maximum number of hops of a wave
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=10))]
    pub hops: u8,
    /// Maximum number of pulses [default: 50000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub pulses: Option<u32>,
    /// Size and graph.
    #[command(flatten)]
    pub common: Common,
}

impl WavesArgs {
    pub(super) fn resonate_request(&self, sympathetic: bool) -> ResonateRequest {
        ResonateRequest { sympathetic, ..self.request().into() }
    }

    pub(super) fn request(&self) -> HarmonicsRequest {
        HarmonicsRequest {
            seeds: self.start.list.clone(),
            frequency: self.frequency,
            wavelength: self.wavelength,
            hops: self.hops,
            pulses: self.pulses,
            top_k: usize::from(self.common.top),
            scope: None,
        }
    }
}

pub(super) fn print(answer: &ResonateAnswer, output: &Output) -> Result<(), CliError> {
    output.emit("engine.resonate", answer, |page| lay_out(answer, page))
}

pub(super) fn print_spectrum(answer: &HarmonicsAnswer, output: &Output) -> Result<(), CliError> {
    output.emit("engine.harmonics", answer, |page| lay_out_spectrum(answer, page))
}

/// Columns of a resonating node; `remark` heads the fourth.
const fn columns(remark: &str) -> [Column<'_>; 7] {
    [
        Column::right("AMPLITUDE"),
        Column::right("PHASE"),
        Column::right("COHERENCE"),
        Column::left(remark),
        Column::left("KIND"),
        Column::cut("ID"),
        Column::cut("LABEL"),
    ]
}

fn row(hit: &ResonateHit, remark: &str) -> [String; 7] {
    [
        format!("{:.4}", hit.amplitude),
        format!("{:.2}", hit.phase),
        format!("{:.2}", hit.coherence),
        remark.to_owned(),
        hit.node.kind.clone(),
        hit.node.id.clone(),
        hit.node.label.clone(),
    ]
}

fn lay_out(answer: &ResonateAnswer, page: &mut Page) {
    if answer.hits.is_empty() {
        page.line("No hits.");
    } else {
        let remark = |hit: &ResonateHit| match (hit.antinode, hit.quiet) {
            (true, true) => "antinode, quiet",
            (true, false) => "antinode",
            (false, true) => "quiet",
            (false, false) => "",
        };
        page.table(&columns("NODE"), answer.hits.iter().map(|hit| row(hit, remark(hit))));
    }
    if let Some(found) = &answer.sympathetic {
        lay_out_sympathy(found, page);
    }
    let mut line = format!(
        "Energy {:.4}; {} nodes reached by {} pulses.",
        answer.energy, answer.waves.nodes_touched, answer.waves.pulses
    );
    if answer.waves.dropped_energy > 0.0 {
        line += &format!(" Energy {:.6} was dropped at the limit of pulses.", answer.waves.dropped_energy);
    }
    close(&answer.state, &line, page);
}

fn lay_out_sympathy(found: &Sympathy, page: &mut Page) {
    page.line("");
    page.heading("Resonating nodes far from every seed");
    if found.hits.is_empty() {
        page.line("None.");
    } else {
        let remark = |cross_region| if cross_region { "another" } else { "a seed's" };
        let rows = found.hits.iter().map(|one| row(&one.swing, remark(one.cross_region)));
        page.table(&columns("COMMUNITY"), rows);
    }
    if found.left_out > 0 {
        page.line(&format!("And {} more.", found.left_out));
    }
    if found.unreached > 0 {
        page.line(&format!("No wave reached {} nodes.", found.unreached));
    }
}

fn lay_out_spectrum(answer: &HarmonicsAnswer, page: &mut Page) {
    if answer.harmonics.is_empty() {
        page.line("No harmonics: at this frequency a hop is more than half a period.");
    } else {
        let columns = ["HARMONIC", "FREQUENCY", "ENERGY", "NODES"].map(Column::right);
        let row = |one: &Harmonic| {
            let (frequency, energy) = (format!("{:.2}", one.frequency), format!("{:.4}", one.energy));
            [one.harmonic.to_string(), frequency, energy, one.nodes.to_string()]
        };
        page.table(&columns, answer.harmonics.iter().map(row));
    }
    if !answer.hits.is_empty() {
        page.line("");
        page.heading("Strongest nodes by harmonic");
        let columns = [
            Column::right("HARMONIC"),
            Column::right("AMPLITUDE"),
            Column::left("KIND"),
            Column::cut("ID"),
            Column::cut("LABEL"),
        ];
        let row = |hit: &HarmonicsHit| {
            let (harmonic, amplitude) = (hit.harmonic.to_string(), format!("{:.4}", hit.score));
            [harmonic, amplitude, hit.node.kind.clone(), hit.node.id.clone(), hit.node.label.clone()]
        };
        page.table(&columns, answer.hits.iter().map(row));
    }
    page.line("");
    page.heading("All frequencies");
    lay_out_sweep(&answer.sweep, page);
    let run = &answer.waves;
    close(&answer.state, &format!("{} nodes reached by {} pulses.", run.nodes_touched, run.pulses), page);
}

/// Cells of the longest bar.
const BAR: u8 = 40;

fn lay_out_sweep(sweep: &[SweepStep], page: &mut Page) {
    let most = sweep.iter().map(|step| step.energy).fold(0.0, f32::max);
    let bar = |energy: f32| {
        let filled = |cell: &u8| most > 0.0 && f32::from(*cell) * most <= f32::from(BAR) * energy;
        "█".repeat((1..=BAR).filter(filled).count())
    };
    let columns = [
        Column::right("FREQUENCY"),
        Column::right("PERIOD (HOPS)"),
        Column::right("ENERGY"),
        Column::left(""),
        Column::left(""),
    ];
    let row = |step: &SweepStep| {
        [
            format!("{:.2}", step.frequency),
            step.period.map_or_else(String::new, |period| format!("{period:.2}")),
            format!("{:.4}", step.energy),
            if step.resonant { "resonates" } else { "" }.to_owned(),
            bar(step.energy),
        ]
    };
    page.table(&columns, sweep.iter().map(row));
}
