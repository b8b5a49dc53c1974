//! `ebb init`: what a database lacks, and then what was made.

use super::Init;
use crate::surfaces::cli::Global;
use crate::surfaces::cli::confirm::confirm;
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::output::Output;
use ebb_core::service::{InitReport, Service};
use ebb_files::Readers;
use serde::Serialize;
use std::path::PathBuf;

#[derive(Serialize)]
struct Answer<'a> {
    uri: &'a str,
    applied: Vec<String>,
    tunables_added: i64,
    vector_index: bool,
    config_written: Option<&'a PathBuf>,
    dry_run: bool,
}

/// Writes a commented configuration file where one is wanted; needs no server. `sample` is its text. One that an earlier try wrote
/// stays, so that an `init` that failed after it can be repeated.
///
/// # Errors
/// Exit 1 if another file exists or it cannot be written.
pub fn write_config(args: &Init, sample: &str, output: &Output) -> Result<(), CliError> {
    let Some(path) = args.write_config.as_ref().filter(|_| !args.dry_run) else { return Ok(()) };
    if std::fs::read(path).is_ok_and(|there| there == sample.as_bytes()) {
        return Ok(());
    }
    if path.exists() {
        return Err(CliError::failed(format!("{} exists, and may hold settings of yours", path.display()))
            .try_this("ebb init --write-config FILE, with a name that is free"));
    }
    ebb_files::replace(path, Readers::Everybody, sample.as_bytes()).map_err(|error| {
        CliError::failed(format!("the configuration cannot be written to {}", path.display()))
            .why(error)
            .try_this("ebb init --write-config FILE, in a folder that you may write")
    })?;
    output.remark(&format!("wrote {}: every key with its default, as a comment", path.display()));
    Ok(())
}

/// Runs `ebb init`. Asks before it changes anything.
pub async fn init(args: &Init, service: &Service, output: &Output, global: &Global) -> Result<(), CliError> {
    let mut done = service.dry_run_initialise().await?;
    let lacks = !done.applied.is_empty() || done.tunables_added > 0 || done.vector_index;
    let uri = service.store().uri();
    if lacks && !args.dry_run {
        let question = format!("Prepare the database at {uri}: {}?", parts(&done));
        confirm(&question, global.yes).await?;
        done = service.initialise().await?;
    } else if !args.dry_run {
        service.store_settings().await?;
    }
    let parts = parts(&done);
    let answer = Answer {
        uri,
        applied: done.applied,
        tunables_added: done.tunables_added,
        vector_index: done.vector_index,
        config_written: args.write_config.as_ref().filter(|_| !args.dry_run),
        dry_run: args.dry_run,
    };
    output.emit("init", &answer, |page| {
        page.paragraph(&match (lacks, answer.dry_run) {
            (false, _) => format!("The database at {uri} is ready; nothing was missing."),
            (true, true) => format!("The database at {uri} lacks {parts}."),
            (true, false) => format!("The database at {uri} is ready now. It got {parts}."),
        });
        if lacks && !answer.dry_run {
            page.line("Next: ebb memory add \"CONTENT\"");
        }
    })
}

fn parts(report: &InitReport) -> String {
    let schema = match report.applied.as_slice() {
        [] => None,
        names => {
            let names: Vec<&str> = names.iter().map(|name| name.trim_start_matches("schema/")).collect();
            Some(format!("the constraints and indexes of {}", names.join(", ")))
        }
    };
    let tunables = match report.tunables_added {
        0 => None,
        1 => Some("1 tunable on the ConsolidationConfig node".to_owned()),
        n => Some(format!("{n} tunables on the ConsolidationConfig node")),
    };
    let vectors = report.vector_index.then(|| "the vector index of embeddings".to_owned());
    schema.into_iter().chain(tunables).chain(vectors).collect::<Vec<_>>().join(" and ")
}
