//! `ebb graph`: what is held in memory of the graph, beside it.

use super::exit::CliError;
use super::output::Output;
use super::page::Page;
use crate::service::Service;
use crate::service::recall::Difference;
use crate::surfaces::answer::recall::Mirrored;
use clap::Subcommand;
use serde::Serialize;

/// The verbs of `ebb graph`.
#[derive(Debug, Clone, Subcommand)]
pub enum Verb {
    /// Load the mirror of a scope and say what it holds and takes
    Stats,
    /// Bring the mirror up to date, then read everything anew and say where the two differ
    Verify,
}

/// Where a mirror differed.
#[derive(Debug, Serialize)]
struct Verified {
    same: bool,
    missing: u64,
    extra: u64,
    differing: u64,
    such_as: Vec<String>,
    mirror: Mirrored,
}

/// Runs a verb.
///
/// # Errors
/// How the program ends, unless well.
pub async fn run(verb: &Verb, service: &Service, output: &Output) -> Result<(), CliError> {
    let held = service.refresh_mirror(service.scope()).await?;
    match verb {
        Verb::Stats => {
            let mirror = Mirrored::from(held);
            output.emit("graph.stats", &mirror, |page| stats(&mirror, page))
        }
        Verb::Verify => {
            let difference = service.verify_mirror(service.scope()).await?;
            let mirror = Mirrored::from(service.mirrored(service.scope())?);
            let same = difference.is_none();
            let Difference { missing, extra, differing, named } = difference;
            let verified = Verified { same, missing, extra, differing, such_as: named, mirror };
            output.emit("graph.verify", &verified, |page| {
                match verified.same {
                    true => page.line("The mirror is what the graph is."),
                    false => page.line(&format!(
                        "{missing} nodes were missing, {extra} too many, {differing} differed, such as {}; what was read anew takes its place.",
                        verified.such_as.join(", ")
                    )),
                }
                stats(&verified.mirror, page);
            })
        }
    }
}

fn stats(mirror: &Mirrored, page: &mut Page) {
    let number = |number: Option<usize>| number.unwrap_or(0).to_string();
    let skipped = |what| mirror.skipped.get(what).copied().unwrap_or(0);
    let fields = [
        ("scope", mirror.scope.clone()),
        ("generation", mirror.generation.unwrap_or(0).to_string()),
        ("nodes", number(mirror.nodes)),
        ("relationships, each way", number(mirror.slots)),
        ("bytes", number(mirror.bytes)),
        (
            "holds everything",
            if mirror.whole == Some(true) { "yes" } else { "no: the hottest, as far as they fit" }.to_owned(),
        ),
        ("not usable", format!("{} nodes, {} relationships", skipped("nodes"), skipped("relationships"))),
    ];
    page.fields(&fields);
}
