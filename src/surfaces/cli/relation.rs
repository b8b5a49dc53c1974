//! `ebb relation`: relations between entities, which fade unless they are observed again.

use super::exit::CliError;
use super::instant::readable;
use super::job::ENDED_EARLY;
use super::output::Output;
use super::page::Column;
use super::{Global, ReadOptions, RunOptions, WriteOptions};
use clap::{Args, Subcommand};
use ebb_core::api::job::JobRunRequest;
use ebb_core::api::relation::{Edge, Passed, WrittenEdge};
use ebb_core::domain::event::{Observe, Tie};
use ebb_core::domain::ids::{EntityName, RelationType};
use ebb_core::domain::relation::Observation;
use ebb_core::domain::units::Weight;
use ebb_core::service::{JobName, ObservationEffect, RelationFilter, Service};
use serde::Serialize;

/// The verbs of `ebb relation`.
#[derive(Debug, Clone, Subcommand)]
pub enum Verb {
    /// Observe a relation: its weight becomes 1, or --weight
    Observe(ObserveArgs),
    /// List relations of at least the minimum weight, heaviest first; the others: --decayed
    #[command(after_help = "Examples:\n  ebb relation list\n  ebb relation list --decayed --at 2027-01-01")]
    List {
        /// Only relations below the minimum, which retrieval leaves out
        #[arg(long)]
        decayed: bool,
        /// Maximum number of relations [default: all]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        limit: Option<u32>,
        /// Read options.
        #[command(flatten)]
        when: ReadOptions,
    },
    /// Pin a relation at its current weight
    Pin {
        /// The relation.
        #[command(flatten)]
        names: Names,
        /// Write options.
        #[command(flatten)]
        write: WriteOptions,
    },
    /// Unpin a relation: it fades from now on
    Unpin {
        /// The relation.
        #[command(flatten)]
        names: Names,
        /// Write options.
        #[command(flatten)]
        write: WriteOptions,
    },
    /// Store the current weight of every relation, as the job fade does
    #[command(after_help = "Examples:\n  ebb relation decay --dry-run --list\n  ebb relation decay")]
    Decay {
        /// With --dry-run: also list the relations whose weight would be lowered
        #[arg(long, requires = "dry_run")]
        list: bool,
        /// Run options.
        #[command(flatten)]
        options: RunOptions,
    },
}

/// Names of a relation: two entities and a type.
#[derive(Debug, Clone, Args, Serialize)]
pub struct Names {
    /// Entity at the start
    #[arg(value_name = "FROM")]
    pub from: String,
    /// Type, such as works_on
    #[arg(value_name = "TYPE")]
    #[serde(rename = "type")]
    pub kind: String,
    /// Entity at the end
    #[arg(value_name = "TO")]
    pub to: String,
}

/// `ebb relation observe`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  ebb relation observe Alex works_on ProjectAlpha\n  ebb relation observe CoreAuthModule depends_on JWTLibrary --pinned"
)]
pub struct ObserveArgs {
    /// The relation.
    #[command(flatten)]
    pub names: Names,
    /// Weight, 0 to 1 [default: 1]
    #[arg(long, value_name = "X", value_parser = weight)]
    pub weight: Option<Weight>,
    /// Pin it: it does not fade
    #[arg(long)]
    pub pinned: bool,
    /// Write options.
    #[command(flatten)]
    pub write: WriteOptions,
}

fn weight(text: &str) -> Result<Weight, String> {
    let number = text.parse::<f64>().map_err(|_| "a weight is a number from 0 to 1".to_owned())?;
    Weight::new(number).map_err(|why| why.to_string())
}

impl Names {
    /// The relation of these names, in the scope of this command.
    pub(super) fn tie(&self, service: &Service) -> Result<Tie, CliError> {
        Ok(Tie {
            scope: service.scope().clone(),
            from: EntityName::new(&self.from).map_err(CliError::usage)?,
            kind: RelationType::new(&self.kind).map_err(CliError::usage)?,
            to: EntityName::new(&self.to).map_err(CliError::usage)?,
        })
    }
}

/// A pass of the job fade, and whether it was a dry run.
#[derive(Serialize)]
struct PassReport {
    #[serde(flatten)]
    passed: Passed,
    dry_run: bool,
}

/// Runs a verb.
pub async fn run(verb: &Verb, service: &Service, output: &Output, global: &Global) -> Result<(), CliError> {
    match verb {
        Verb::Observe(args) => observe(args, service, output, global).await,
        Verb::List { decayed, limit, when } => list(*decayed, *limit, when, service, output).await,
        Verb::Pin { names, write } => pin(names, write, true, service, output, global).await,
        Verb::Unpin { names, write } => pin(names, write, false, service, output, global).await,
        Verb::Decay { list, options } => decay(*list, options, service, output, global).await,
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
    let done = service.observe(&args.write.mode(), std::slice::from_ref(&observe)).await?;
    let outcome = done.first().copied().unwrap_or(ObservationEffect::Late);
    let answer = WrittenEdge::of(&observe.tie, Some(outcome), None, at, args.write.dry_run);
    output.emit("relation.observe", &answer, |page| {
        page.line(&match outcome {
            ObservationEffect::Created => format!("{} is new.", observe.tie),
            ObservationEffect::Again => format!("{} was observed again.", observe.tie),
            ObservationEffect::Late => {
                format!("{} was observed later than {} already; nothing changed.", observe.tie, readable(at))
            }
        });
    })
}

async fn list(
    decayed: bool,
    limit: Option<u32>,
    when: &ReadOptions,
    service: &Service,
    output: &Output,
) -> Result<(), CliError> {
    let at = when.instant(service).await?;
    let which = if decayed { RelationFilter::Decayed } else { RelationFilter::Retrievable };
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    let found = service.relations(service.scope(), which, limit, at).await?;
    let edges: Vec<Edge> = found.into_iter().map(Edge::of).collect();
    output.emit_list("relation.list", "edges", &edges, |page| {
        if edges.is_empty() {
            let at = readable(at);
            page.line(&match decayed {
                true => format!("No relation is below the minimum at {at} UTC."),
                false => format!("No relation reaches the minimum weight at {at} UTC. Those below it: ebb relation list --decayed"),
            });
            return;
        }
        table(page, &edges);
    })
}

/// A table of relations.
pub(super) fn table(page: &mut super::page::Page, edges: &[Edge]) {
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
    names: &Names,
    write: &WriteOptions,
    pin: bool,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let tie = names.tie(service)?;
    let at = write.instant(service, global).await?;
    let weight = service.pin_relation(&write.mode(), &tie, pin, at).await?;
    let answer = WrittenEdge::of(&tie, None, Some(weight), at, write.dry_run);
    output.emit(if pin { "relation.pin" } else { "relation.unpin" }, &answer, |page| {
        let what = if pin { "is pinned at" } else { "fades from" };
        page.line(&format!("{tie} {what} {weight:.3}."));
    })
}

async fn decay(
    list: bool,
    options: &RunOptions,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let at = options.instant(service, global).await?;
    let dry_run = options.dry_run;
    let all = JobRunRequest::default();
    let report = if dry_run {
        service.dry_run_job(JobName::Fade, at, &all, false).await?
    } else {
        service.run_job(JobName::Fade, at, &all).await?.done()?
    };
    let edges = if list {
        let lowered = service.relations(service.scope(), RelationFilter::Lowered, None, at).await?;
        Some(lowered.into_iter().map(Edge::of).collect::<Vec<_>>())
    } else {
        None
    };
    let passed = Passed::of(&report, edges);
    let answer = PassReport { passed, dry_run };
    output.emit("relation.decay", &answer, |page| {
        let passed = &answer.passed;
        let lowered = if dry_run { "would be lowered" } else { "were lowered" };
        page.line(&format!(
            "{} relations read, {} {lowered}, {} below the minimum, {} pinned.",
            passed.processed, passed.decayed, passed.below_minimum, passed.pinned
        ));
        if passed.truncated {
            page.line(ENDED_EARLY);
        }
        if let Some(edges) = passed.edges.as_ref().filter(|edges| !edges.is_empty()) {
            table(page, edges);
        }
    })
}
