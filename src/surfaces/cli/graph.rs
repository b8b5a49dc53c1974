//! `ebb graph`: the in-memory graph of a scope.

mod labels;
mod layout;
mod load;
mod picture;
mod refresh;

pub use load::load;

use super::exit::CliError;
use super::output::Output;
use super::page::{Page, percent};
use clap::{Subcommand, ValueEnum};
use ebb_core::api::recall::Mirror;
use ebb_core::service::Service;
use ebb_core::service::mirrors::Difference;
use ebb_core::service::recall::{LearnedFile, dot, export, export_graphml};
use serde::Serialize;
use std::path::PathBuf;

/// The verbs of `ebb graph`.
#[derive(Debug, Clone, Subcommand)]
pub enum Verb {
    /// Show size and contents of the in-memory graph
    Stats,
    /// Make all processes reload the graph at their next refresh
    ///
    /// Mirrors follow the writes of Ebb by themselves. This is for changes that other programs made, Neo4j Browser for one.
    #[command(
        after_help = "Examples:\n  ebb graph refresh\n  ebb graph refresh --dry-run      which processes have mirrors"
    )]
    Refresh {
        /// List the mirrors and request nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Save the in-memory graph as a snapshot file (JSON version 3), for --graph
    #[command(
        after_help = "Examples:\n  ebb graph save memory.json\n  ebb recall --graph memory.json \"who wrote the parser\""
    )]
    Save {
        /// File; learned weights go into one beside it. Each is replaced atomically
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Check a snapshot file (JSON version 3) and show its contents; needs no database
    #[command(after_help = "Examples:\n  ebb graph save memory.json; ebb graph load memory.json")]
    Load {
        /// Snapshot file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Print the in-memory graph as JSON version 3, GraphML, GraphViz or SVG
    #[command(
        after_help = "Examples:\n  ebb graph export --format dot --top 60 | dot -Tsvg > memory.svg\n  ebb graph export --format graphml > memory.graphml\n  ebb graph export --format svg > memory.svg"
    )]
    Export {
        /// Format
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Language::Json)]
        format: Language,
        /// GraphViz: maximum number of nodes, by degree; SVG: by energy, at most 60
        #[arg(long, value_name = "K", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=10_000))]
        top: u16,
    },
    /// Compare the in-memory graph that this command loads with the database; `ebb status` shows those of running processes
    Verify,
}

/// Export format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// Snapshot, JSON version 3
    Json,
    /// Picture, for GraphViz
    Dot,
    /// GraphML 1.0: an edge for each direction of each relationship, memories with energy, tier and dates
    Graphml,
    /// One page: the hottest memories, and what they are connected with
    Svg,
}

/// Files that were saved.
#[derive(Debug, Serialize)]
struct SaveReport {
    file: String,
    bytes: u64,
    learned: LearnedFile,
    mirror: Mirror,
}

/// Differences between a mirror and the graph.
#[derive(Debug, Serialize)]
struct VerifyReport {
    same: bool,
    missing: u64,
    extra: u64,
    differing: u64,
    such_as: Vec<String>,
    mirror: Mirror,
}

/// Runs a verb.
pub async fn run(verb: &Verb, service: &Service, output: &Output) -> Result<(), CliError> {
    if let Verb::Refresh { dry_run } = verb {
        return refresh::run(*dry_run, service, output).await;
    }
    let mirror = service.refresh_mirror(service.scope()).await?;
    match verb {
        Verb::Stats => output.emit("graph.stats", &mirror, |page| stats(&mirror, page)),
        Verb::Save { file } => {
            let learned = service.save_mirror(service.scope(), file).await?;
            let bytes = std::fs::metadata(file).map_or(0, |file| file.len());
            let saved = SaveReport { file: file.display().to_string(), bytes, learned, mirror };
            output.emit("graph.save", &saved, |page| {
                page.line(&format!("Saved {} ({} bytes).", saved.file, saved.bytes));
                page.line(&format!("Learned weights are in {}.", saved.learned.file.display()));
                stats(&saved.mirror, page);
            })
        }
        Verb::Export { format, top } => {
            let view = service.view(service.scope()).await?;
            match format {
                Language::Json => output.stream(|to| export(&view, to)),
                Language::Dot => output.raw(dot(&view, usize::from(*top)).as_bytes()),
                Language::Graphml => {
                    let energies = service.energies(service.scope(), &view).await?;
                    output.stream(|to| export_graphml(&view, &energies, to))
                }
                Language::Svg => {
                    let energies = service.energies(service.scope(), &view).await?;
                    let picture = picture::svg(&view, &energies, service.scope(), usize::from(*top));
                    output.raw(picture.as_bytes())
                }
            }
        }
        Verb::Refresh { .. } | Verb::Load { .. } => {
            Err(CliError::usage("this command does not run on a mirror"))
        }
        Verb::Verify => {
            let difference = service.verify_mirror(service.scope()).await?;
            let mirror = service.mirrored(service.scope());
            let same = difference.is_none();
            let Difference { missing, extra, differing, named } = difference;
            let verified = VerifyReport { same, missing, extra, differing, such_as: named, mirror };
            output.emit("graph.verify", &verified, |page| {
                match verified.same {
                    true => page.line("The mirror equals the database."),
                    false => page.line(&format!(
                        "{missing} nodes were missing, {extra} superfluous, {differing} different, such as {}; the mirror was replaced.",
                        verified.such_as.join(", ")
                    )),
                }
                stats(&verified.mirror, page);
            })
        }
    }
}

/// How many relationships have learned weight, and from how many outcomes.
fn learned(slots: usize, tick: u64) -> String {
    format!("{slots} relationships, in each direction, from {tick} outcomes")
}

fn stats(mirror: &Mirror, page: &mut Page) {
    let number = |number: Option<usize>| number.unwrap_or(0).to_string();
    let skipped = |what| mirror.skipped.get(what).copied().unwrap_or(0);
    let fields = [
        ("scope", mirror.scope.to_string()),
        ("generation", mirror.generation.unwrap_or(0).to_string()),
        ("nodes", number(mirror.nodes)),
        ("relationships, in each direction", number(mirror.slots)),
        ("bytes", number(mirror.bytes)),
        ("learned", learned(mirror.learned.unwrap_or(0), mirror.tick.unwrap_or(0))),
        (
            "complete",
            match mirror.held_share {
                Some(share) if mirror.whole == Some(false) => {
                    format!("no: the hottest {}, limited by mirror.max_bytes", percent(share))
                }
                _ => "yes".to_owned(),
            },
        ),
        (
            "skipped as invalid",
            format!("{} nodes, {} relationships", skipped("nodes"), skipped("relationships")),
        ),
    ];
    page.fields(&fields);
}
