//! `ebb trail node`, `edge`, `deposit`, `explore`, `evaporate` and `cycle`.

use super::super::instant::readable;
use super::super::job::ENDED_EARLY;
use super::super::output::Output;
use super::super::{CliError, Global, RunOptions, WriteOptions};
use super::{CycleArgs, DepositArgs, EdgeVerb, NodeVerb, place, table_of_edges, table_of_places};
use ebb_core::api::job::JobRunRequest;
use ebb_core::api::trail::{Evaporated, TrailCycle, TrailWritten};
use ebb_core::domain::event::{Step, Trace, Walk};
use ebb_core::domain::ids::PlaceId;
use ebb_core::service::memories::RequestId;
use ebb_core::service::{JobName, Service};

pub(super) async fn node(
    verb: &NodeVerb,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let NodeVerb::Add { label, id, name, write } = verb;
    let label = service.allowed().label(label).map_err(CliError::usage)?.clone();
    let id = PlaceId::new(id).map_err(CliError::usage)?;
    let place = format!("{label}:{id}");
    let what = Walk::node(label, id, name.clone()).map_err(CliError::usage)?;
    let wrote = trace(what, write, service, global).await?;
    output.emit("trail.node", &wrote, |page| {
        let state = if wrote.traced.created == Some(true) { "is new" } else { "exists" };
        page.line(&format!("{place} {state}."));
    })
}

pub(super) async fn edge(
    verb: &EdgeVerb,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let EdgeVerb::Add { from, kind, to, base_cost, write } = verb;
    let kind = service.allowed().kind(kind).map_err(CliError::usage)?.clone();
    let (from, to) = (place(from, service)?, place(to, service)?);
    let name = format!("{from} {kind} {to}");
    let what = Walk::edge(from, to, kind, *base_cost).map_err(CliError::usage)?;
    let wrote = trace(what, write, service, global).await?;
    output.emit("trail.edge", &wrote, |page| {
        let state = if wrote.traced.created == Some(true) { "is new" } else { "exists" };
        page.line(&format!("{name} {state}."));
        table_of_edges(page, &wrote.traced.edges);
    })
}

pub(super) async fn deposit(
    args: &DepositArgs,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    if args.via.len() >= args.path.len() {
        return Err(CliError::usage(format!(
            "a path of {} places has {} steps, and --via names {}",
            args.path.len(),
            args.path.len() - 1,
            args.via.len()
        )));
    }
    let via = std::iter::once(None).chain(args.via.iter().cloned().map(Some)).chain(std::iter::repeat(None));
    let path = args
        .path
        .iter()
        .zip(via)
        .map(|(text, via)| Ok(Step { to: place(text, service)?, via }))
        .collect::<Result<Vec<Step>, CliError>>()?;
    let what = Walk::deposit(path, args.reward).map_err(CliError::usage)?;
    let wrote = trace(what, &args.write, service, global).await?;
    output.emit("trail.deposit", &wrote, |page| {
        table_of_edges(page, &wrote.traced.edges);
        page.line("");
        table_of_places(page, &wrote.traced.nodes);
    })
}

pub(super) async fn explore(
    name: &str,
    write: &WriteOptions,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let what = Walk::Explore { place: place(name, service)? };
    let wrote = trace(what, write, service, global).await?;
    output.emit("trail.explore", &wrote, |page| table_of_places(page, &wrote.traced.nodes))
}

async fn trace(
    what: Walk,
    write: &WriteOptions,
    service: &Service,
    global: &Global,
) -> Result<TrailWritten, CliError> {
    let at = write.instant(service, global).await?;
    let trace = Trace { at, scope: service.scope().clone(), what };
    let mut done = service.trace(&write.mode(), std::slice::from_ref(&trace)).await?;
    let done = done.pop().ok_or_else(|| CliError::failed("the database answered nothing"))?;
    Ok(TrailWritten { traced: done, at, dry_run: write.dry_run })
}

pub(super) async fn evaporate(
    force: bool,
    options: &RunOptions,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let at = options.instant(service, global).await?;
    let dry_run = options.dry_run;
    let report = if dry_run {
        service.dry_run_job(JobName::Evaporate, at, &JobRunRequest::default(), force).await?
    } else {
        let once = RequestId::or_new("cli", None);
        service.evaporate(&once, at, force, None).await?.done()?
    };
    let cycle = service.cycles().await?.cycles.at(at);
    let evaporated = Evaporated::of(&report, cycle, dry_run);
    output.emit("trail.evaporate", &evaporated, |page| {
        let (updated, fell) =
            if dry_run { ("would be updated", "would fall") } else { ("were updated", "fell") };
        page.line(&format!(
            "{} places and edges {updated} to cycle {cycle}; of these {} {fell} to 0.",
            evaporated.changed, evaporated.silenced
        ));
        if evaporated.truncated {
            page.line(ENDED_EARLY);
        }
    })
}

pub(super) async fn cycle(
    args: &CycleArgs,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let at = args.write.instant(service, global).await?;
    let dry_run = args.write.dry_run;
    let mut counter = service.cycles().await?;
    let cycle = match args.advance {
        Some(more) => {
            let mode = args.write.mode();
            let cycle = service.advance_cycle(&mode, more, args.accept_cycles, at).await?;
            let after = service.cycles().await?.cycles.advances;
            counter.cycles.advances = if dry_run { after.saturating_add(i64::from(more)) } else { after };
            cycle
        }
        None => counter.cycles.at(at),
    };
    let answer = TrailCycle::of(&counter, cycle, at, dry_run);
    output.emit("trail.cycle", &answer, |page| {
        page.line(&format!("Cycle {cycle}, since {} UTC.", readable(answer.begins)));
        match answer.evaporated {
            Some(last) => page.line(&format!("Last evaporation: cycle {last}.")),
            None => page.line("No pheromones yet."),
        }
    })
}
