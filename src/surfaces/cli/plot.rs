//! `ebb plot`, and the pictures themselves: pure functions from values to text, in the terminal or as SVG.
//!
//! # Design notes
//! The canvas is our own. A picture here is one curve with named thresholds and dated events, a few counts over time, or
//! named bars, and it is readable by its names: at 80 columns, next to the line they belong to. The plotting crates on the
//! registry draw dots without time axes (textplots) or bring a font stack to place SVG text (plotters), and would have
//! to be overdrawn by hand for exactly these names. One small canvas, one axis and a dozen SVG shapes serve all pictures.
//!
//! Tiers are drawn as one panel each on a scale of its own, not as one stack: thirty long-term memories on top of eight
//! thousand expired ones would be a line of less than a pixel, and they matter most.

mod axis;
mod canvas;
pub mod decay;
pub mod energy;
pub mod recall;
pub(super) mod svg;
pub mod tiers;
pub mod trails;
pub(super) mod verbs;

pub use verbs::run;

use super::ReadOptions;
use super::exit::CliError;
use clap::{Args, Subcommand};
use ebb_files::Readers;
use std::path::{Path, PathBuf};

/// The verbs of `ebb plot`.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  ebb plot energy ID\n  ebb plot tiers --svg tiers.svg\n  ebb plot decay\n  ebb plot trails"
)]
pub enum Verb {
    /// Draw the energy of a memory: history and forecast
    #[command(after_help = "Examples:\n  ebb plot energy ID\n  ebb plot energy ID --svg energy.svg --at +1d")]
    Energy {
        /// Id of the memory
        #[arg(value_name = "ID")]
        id: String,
        /// Destination and instant.
        #[command(flatten)]
        picture: Picture,
    },
    /// Draw the number of memories in each tier over time
    #[command(after_help = "Examples:\n  ebb plot tiers\n  ebb plot tiers --svg tiers.svg")]
    Tiers(Picture),
    /// Draw the weights of relations, or the curve of one
    Decay(Decay),
    /// Draw the hottest trails with their pheromones and costs
    #[command(
        after_help = "Examples:\n  ebb plot trails\n  ebb plot trails --limit 40 --svg trails.svg --at -7d"
    )]
    Trails {
        /// Maximum number of edges
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
        /// Destination and instant.
        #[command(flatten)]
        picture: Picture,
    },
}

/// `ebb plot decay`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  ebb plot decay\n  ebb plot decay Alex works_on ProjectAlpha --svg alex.svg\n  ebb plot decay --at +1y"
)]
pub struct Decay {
    /// Start of one relation [default: draw the lightest of all]
    #[arg(value_name = "FROM", requires_all = ["kind", "to"])]
    pub from: Option<String>,
    /// Type of the relation
    #[arg(value_name = "TYPE")]
    pub kind: Option<String>,
    /// End of the relation
    #[arg(value_name = "TO")]
    pub to: Option<String>,
    /// Maximum number of relations
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000), conflicts_with = "from")]
    pub limit: u16,
    /// Destination and instant.
    #[command(flatten)]
    pub picture: Picture,
}

/// Options of every picture.
#[derive(Debug, Clone, Args)]
pub struct Picture {
    /// Write an SVG file instead of drawing in the terminal
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Read options.
    #[command(flatten)]
    pub when: ReadOptions,
}

/// The colours of pictures, by what they stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ink {
    /// The working tier, and a curve.
    Amber,
    /// The short-term tier.
    Blue,
    /// The long-term tier.
    Green,
    /// Expired and archived memories.
    Grey,
    /// A threshold, a crossing.
    Red,
}

impl Ink {
    /// The escape sequence that begins it on a terminal.
    pub(super) const fn ansi(self) -> &'static str {
        match self {
            Self::Amber => "\x1b[33m",
            Self::Blue => "\x1b[36m",
            Self::Green => "\x1b[32m",
            Self::Grey => "\x1b[90m",
            Self::Red => "\x1b[31m",
        }
    }

    /// Its name in the style sheet of an SVG.
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Amber => "amber",
            Self::Blue => "blue",
            Self::Green => "green",
            Self::Grey => "grey",
            Self::Red => "red",
        }
    }
}

/// Writes a picture into a file, replacing what was there.
pub fn save(svg: &str, to: &Path) -> Result<(), CliError> {
    let saved = ebb_files::replace(to, Readers::Everybody, svg.as_bytes()).map(drop);
    saved.map_err(|error| {
        CliError::failed(format!("the picture cannot be written to {}", to.display()))
            .why(error)
            .try_this("the same command with --svg FILE, in a folder that exists")
    })
}
