//! `ebb relation`: relations between entities, which fade unless somebody observes them.

use super::exit::CliError;
use super::instant::readable;
use super::output::Output;
use super::page::Column;
use super::{Global, Once, When, Write};
use clap::{Args, Subcommand};
use ebb_core::api::relation::{Edge, Passed, WrittenEdge};
use ebb_core::domain::event::{Observe, Tie};
use ebb_core::domain::ids::{EntityName, RelationType};
use ebb_core::domain::relation::Observation;
use ebb_core::domain::units::Weight;
use ebb_core::service::{JobName, ObservationEffect, RelationFilter, Service, Tally};
use serde::Serialize;

/// The verbs of `ebb relation`.
#[derive(Debug, Clone, Subcommand)]
pub enum Verb {
    /// Say that a relation was seen: it weighs 1 from now on, or what you say
    Observe(ObserveArgs),
    /// List relations as they are now, heaviest first
    List(ListArgs),
    /// Hold a relation at what it weighs
    Pin(TieArgs),
    /// Let a pinned relation fade from now on
    Unpin(TieArgs),
    /// Write down what every relation weighs, as the job fade does
    Decay(DecayArgs),
}

/// Which relation.
#[derive(Debug, Clone, Args)]
pub struct Names {
    /// The entity it begins at
    #[arg(value_name = "FROM")]
    pub from: String,
    /// What it says, such as works_on
    #[arg(value_name = "TYPE")]
    pub kind: String,
    /// The entity it ends at
    #[arg(value_name = "TO")]
    pub to: String,
}

/// `ebb relation observe`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  ebb relation observe Alex works_on ProjectAlpha\n  ebb relation observe CoreAuthModule depends_on JWTLibrary --pinned"
)]
pub struct ObserveArgs {
    /// Which.
    #[command(flatten)]
    pub names: Names,
    /// What it weighs, 0 to 1 [default: 1]
    #[arg(long, value_name = "X", value_parser = weight)]
    pub weight: Option<Weight>,
    /// Pin it: it does not fade
    #[arg(long)]
    pub pinned: bool,
    /// When, and whether for real.
    #[command(flatten)]
    pub write: Write,
    /// What makes it count once.
    #[command(flatten)]
    pub once: Once,
}

/// `ebb relation list`
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  ebb relation list\n  ebb relation list --decayed --at 2027-01-01")]
pub struct ListArgs {
    /// Those below the minimum instead, which are left out of what is retrieved
    #[arg(long)]
    pub decayed: bool,
    /// This many at most [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
    /// As of when.
    #[command(flatten)]
    pub when: When,
}

/// `ebb relation pin` and `unpin`
#[derive(Debug, Clone, Args)]
pub struct TieArgs {
    /// Which.
    #[command(flatten)]
    pub names: Names,
    /// When, and whether for real.
    #[command(flatten)]
    pub write: Write,
    /// What makes it count once.
    #[command(flatten)]
    pub once: Once,
}

/// `ebb relation decay`
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  ebb relation decay --dry-run --list\n  ebb relation decay")]
pub struct DecayArgs {
    /// With --dry-run: also name the relations whose weight would be lowered
    #[arg(long, requires = "dry_run")]
    pub list: bool,
    /// When, and whether for real.
    #[command(flatten)]
    pub write: Write,
}

fn weight(text: &str) -> Result<Weight, String> {
    let number = text.parse::<f64>().map_err(|_| "a weight is a number from 0 to 1".to_owned())?;
    Weight::new(number).map_err(|why| why.to_string())
}

impl Names {
    fn tie(&self, service: &Service) -> Result<Tie, CliError> {
        Ok(Tie {
            scope: service.scope().clone(),
            from: EntityName::new(&self.from).map_err(CliError::usage)?,
            kind: RelationType::new(&self.kind).map_err(CliError::usage)?,
            to: EntityName::new(&self.to).map_err(CliError::usage)?,
        })
    }
}

/// A pass, and whether it was one.
#[derive(Serialize)]
struct Pass {
    #[serde(flatten)]
    passed: Passed,
    dry_run: bool,
}

/// Runs a verb.
pub async fn run(verb: &Verb, service: &Service, output: &Output, global: &Global) -> Result<(), CliError> {
    match verb {
        Verb::Observe(args) => observe(args, service, output, global).await,
        Verb::List(args) => list(args, service, output).await,
        Verb::Pin(args) => pin(args, true, service, output, global).await,
        Verb::Unpin(args) => pin(args, false, service, output, global).await,
        Verb::Decay(args) => decay(args, service, output, global).await,
    }
}

async fn observe(
    args: &ObserveArgs,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let tie = args.names.tie(service)?;
    let at = args.write.instant(service, global).await?;
    let seen = Observation { at, weight: args.weight, pinned: args.pinned.then_some(true) };
    let observe = Observe { tie, seen };
    let done = service.observe(&args.write.mode(&args.once), std::slice::from_ref(&observe)).await?;
    let outcome = done.first().copied().unwrap_or(ObservationEffect::Late);
    let answer = WrittenEdge::of(&observe.tie, Some(outcome), None, at, args.write.dry_run);
    output.emit("relation.observe", &answer, |page| {
        page.line(&match outcome {
            ObservationEffect::Created => format!("{} is new.", observe.tie),
            ObservationEffect::Again => format!("{} was seen again.", observe.tie),
            ObservationEffect::Late => {
                format!("{} was seen later than {} already; nothing changes.", observe.tie, readable(at))
            }
        });
    })
}

async fn list(args: &ListArgs, service: &Service, output: &Output) -> Result<(), CliError> {
    let at = args.when.instant(service).await?;
    let which = if args.decayed { RelationFilter::Decayed } else { RelationFilter::Retrievable };
    let limit = args.limit.and_then(|limit| usize::try_from(limit).ok());
    let found = service.relations(service.scope(), which, limit, at).await?;
    let edges: Vec<Edge> = found.into_iter().map(Edge::of).collect();
    output.emit_list("relation.list", "edges", &edges, |page| {
        if edges.is_empty() {
            let none =
                if args.decayed { "No relation is below the minimum" } else { "There are no relations" };
            page.line(&format!("{none} at {} UTC.", readable(at)));
            return;
        }
        table(page, &edges);
    })
}

fn table(page: &mut super::page::Page, edges: &[Edge]) {
    let columns = [
        Column::left("FROM"),
        Column::left("TYPE"),
        Column::left("TO"),
        Column::right("WEIGHT"),
        Column::left("OBSERVED (UTC)"),
    ];
    let row = |edge: &Edge| {
        let pinned = if edge.pinned { " pinned" } else { "" };
        [
            edge.from.clone(),
            edge.kind.clone(),
            edge.to.clone(),
            format!("{:.3}{pinned}", edge.weight),
            readable(edge.last_observed),
        ]
    };
    page.table(&columns, edges.iter().map(row));
}

async fn pin(
    args: &TieArgs,
    pin: bool,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let tie = args.names.tie(service)?;
    let at = args.write.instant(service, global).await?;
    let weight = service.pin_relation(&args.write.mode(&args.once), &tie, pin, at).await?;
    let answer = WrittenEdge::of(&tie, None, Some(weight), at, args.write.dry_run);
    output.emit(if pin { "relation.pin" } else { "relation.unpin" }, &answer, |page| {
        let what = if pin { "is held at" } else { "fades from" };
        page.line(&format!("{tie} {what} {weight:.3}."));
    })
}

async fn decay(
    args: &DecayArgs,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let at = args.write.instant(service, global).await?;
    let dry_run = args.write.dry_run;
    let tally: Tally = if dry_run {
        service.dry_run_job(JobName::Fade, at, None, false).await?
    } else {
        service.run_job(JobName::Fade, at, None).await?.done()?
    };
    let edges = if args.list {
        let lowered = service.relations(service.scope(), RelationFilter::Lowered, None, at).await?;
        Some(lowered.into_iter().map(Edge::of).collect::<Vec<_>>())
    } else {
        None
    };
    let passed = Passed::of(&tally, edges);
    let answer = Pass { passed, dry_run };
    output.emit("relation.decay", &answer, |page| {
        let passed = &answer.passed;
        let lowered = if dry_run { "would be lowered" } else { "were lowered" };
        page.line(&format!(
            "{} relations looked at, {} {lowered}, {} weigh less than the minimum, {} are pinned.",
            passed.processed, passed.decayed, passed.below_minimum, passed.pinned
        ));
        if let Some(edges) = passed.edges.as_ref().filter(|edges| !edges.is_empty()) {
            table(page, edges);
        }
    })
}
