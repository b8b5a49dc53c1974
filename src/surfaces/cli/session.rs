//! `ebb session`: sessions of agents.

use super::exit::CliError;
use super::instant::readable;
use super::output::Output;
use super::{Global, WriteOptions};
use clap::Subcommand;
use ebb_core::api::session::SessionEnd;
use ebb_core::domain::ids::SessionId;
use ebb_core::service::Service;

/// The verbs of `ebb session`.
#[derive(Debug, Clone, Subcommand)]
pub enum Verb {
    /// End a session and promote its working memories of enough energy
    #[command(after_help = "Examples:\n  ebb session end s1\n  ebb session end s1 --threshold 1.2 --dry-run")]
    End {
        /// Id of the session
        #[arg(value_name = "ID")]
        id: String,
        /// Promote memories above this energy [default: sessionEndThreshold of the configuration node]
        #[arg(long, value_name = "X", value_parser = threshold)]
        threshold: Option<f64>,
        /// Write options.
        #[command(flatten)]
        write: WriteOptions,
    },
}

fn threshold(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "an energy is a finite number, 0 or more".to_owned())
}

/// Runs a verb.
pub async fn run(verb: &Verb, service: &Service, output: &Output, global: &Global) -> Result<(), CliError> {
    let Verb::End { id, threshold, write } = verb;
    let session = SessionId::new(id).map_err(CliError::usage)?;
    let at = write.instant(service, global).await?;
    let mode = write.mode();
    let ended = service.end_session(&mode, service.scope(), &session, at, *threshold).await?;
    let answer = SessionEnd {
        session: session.to_string(),
        promoted: ended.promoted,
        held: ended.held,
        at,
        dry_run: write.dry_run,
    };
    output.emit("session.end", &answer, |page| {
        let (promoted, ended) =
            if answer.dry_run { ("would be promoted", "would end") } else { ("promoted", "ended") };
        let many = match answer.promoted.len() {
            0 => "no memory".to_owned(),
            1 => "1 memory".to_owned(),
            n => format!("{n} memories"),
        };
        page.line(&format!(
            "Session {session} {ended} at {} UTC; {many} {promoted} to shortTerm.",
            readable(at)
        ));
        answer.promoted.iter().for_each(|id| page.line(&format!("  {id}")));
        if answer.held > 0 {
            page.line(&format!("{} more are held by an open attempt.", answer.held));
        }
    })
}
