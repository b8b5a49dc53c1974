//! `ebb policy compare`: two replays on one server, each under settings of its own.

use super::{flags, invalid, not_open, open, setting_rows};
use crate::settings::{Environment, Flags, Settings};
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::policy::compare;
use crate::surfaces::cli::{Cli, eval};
use crate::wiring;
use ebb_core::clock::Clock;
use ebb_core::domain::ids::Scope;
use ebb_core::service::evaluation::questions;
use ebb_core::service::events::in_memory::FileEvents;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Folder of the managed server of comparisons.
const COMPARE_HOME: &str = ".ebb/compare";

/// Compares what events leave under two configurations: two replays on one server, which is emptied after each. The server is that
/// of the present configuration if it is given, else a managed one that holds nothing else.
pub(super) async fn run(
    cli: &Cli,
    args: &compare::CompareArgs,
    settings: &Settings,
    environment: &Environment,
    output: &Output,
) -> Result<(), CliError> {
    let scope = Scope::new(&cli.global.scope).map_err(CliError::usage)?;
    let load = |file: &Path| {
        let flags = Flags { config: Some(file.to_owned()), ..flags(&cli.global) };
        Settings::load(&flags, environment).map_err(|faults| invalid(&faults))
    };
    let mut both = [load(&args.a)?, load(&args.b)?];
    let differing = compare::differing(args, &setting_rows(&both[0]), &setting_rows(&both[1]))?;
    let until = args.until.map(|until| until.resolve(Clock::Real.now())).transpose();
    let until = until.map_err(|why| CliError::usage("--until leads out of the calendar").why(why))?;
    let similarity = wiring::similarity(&both[0]);
    let asked = args.questions.as_deref().map(|file| questions(file, &scope, &similarity)).transpose();
    let asked = asked.map_err(|why| eval::bad_file(&why))?.unwrap_or_default();
    let allowed = both[0].pheromones.allowed().map_err(CliError::failed)?;
    let (file, own) = (args.events.clone(), scope.clone());
    let scopes: BTreeSet<Scope> = eval::in_thread(move || {
        let events =
            FileEvents::read(&file, &own, &similarity, allowed).map_err(|why| eval::bad_file(&why))?;
        Ok(events.changed)
    })
    .await?;
    let mut neo4j = settings.neo4j.clone();
    if neo4j.uri.is_none() {
        neo4j.home = PathBuf::from(COMPARE_HOME);
        // That of a comparison that was broken off may still run.
        ebb_provision::stop(&neo4j, false).await?;
        ebb_provision::wipe(&neo4j).await?;
        output.remark(&format!("Replaying on a managed server of its own, in {COMPARE_HOME}"));
    }
    let mut left = Vec::new();
    for (name, settings) in ["replaying under A", "replaying under B"].into_iter().zip(&mut both) {
        settings.neo4j = neo4j.clone();
        settings.embedding.url = None;
        let added = asked.iter().map(|question| &question.scope).collect::<BTreeSet<_>>();
        let added = added.into_iter().filter(|scope| !settings.mirror.scopes.contains(scope)).cloned();
        let added: Vec<Scope> = added.collect();
        settings.mirror.scopes.extend(added);
        let open = open(Box::pin(wiring::connect(settings, scope.clone())), output).await?;
        let replaying = compare::replay(args, (name, until), &open.service, (&scopes, &asked), output);
        let replayed = Box::pin(replaying).await;
        open.close().await.map_err(not_open)?;
        left.push(replayed?);
    }
    match left.as_slice() {
        [a, b] => compare::print(differing, (a, b), output),
        _ => Ok(()),
    }
}
