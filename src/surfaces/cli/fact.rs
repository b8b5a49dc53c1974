//! `ebb fact` and `ebb sweep`: immutable facts, and decay policies applied to them.

use super::exit::{CliError, Exit};
use super::instant::{Moment, readable};
use super::output::Output;
use super::page::Column;
use super::{Global, ReadOptions, WriteOptions};
use clap::{Args, Subcommand, ValueEnum};
use ebb_core::api::fact::{AssertedFact, Fact, Sweep, SweepAnswer, SweepRequest};
use ebb_core::clock::new_id;
use ebb_core::domain::fact::{Assertion, FactError, FactScope, Tuple, Value};
use ebb_core::domain::ids::{EntityName, FactRelation, Source, Term};
use ebb_core::domain::policy::Mode;
use ebb_core::domain::units::Confidence;
use ebb_core::service::{FactFilter, Service};

/// The verbs of `ebb fact`.
#[derive(Debug, Clone, Subcommand)]
pub enum Verb {
    /// Assert a fact about an entity; earlier facts stay
    Assert(AssertArgs),
    /// List facts: the latest of each tuple, or the whole history
    #[command(after_help = "Examples:\n  ebb fact list --scope company\n  ebb fact list Alex --history")]
    List {
        /// Only facts about this entity
        #[arg(value_name = "ENTITY")]
        entity: Option<String>,
        /// Only facts of this relation
        #[arg(long, value_name = "RELATION")]
        relation: Option<String>,
        /// All facts, also those replaced by later ones
        #[arg(long)]
        history: bool,
        /// Maximum number of facts [default: all]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        limit: Option<u32>,
    },
}

/// Type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ValueType {
    /// Text, unchanged.
    String,
    /// A number with its digits: 1 is an integer, 1.0 is not.
    Number,
    /// true or false.
    Boolean,
}

/// `ebb fact assert`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  ebb fact assert Alex memory:prefers tabs --source agent-7
  ebb fact assert Atlas roadmap:status shipped --scope company --confidence 0.8")]
pub struct AssertArgs {
    /// Entity
    #[arg(value_name = "ENTITY")]
    pub entity: String,
    /// Relation, such as roadmap:status
    #[arg(value_name = "RELATION")]
    pub relation: String,
    /// Value
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    pub value: String,
    /// Type of the value
    #[arg(long = "type", value_enum, value_name = "TYPE", default_value_t = ValueType::String)]
    pub value_type: ValueType,
    /// Confidence, 0 to 1 [default: 1]
    #[arg(long, value_name = "X", value_parser = confidence)]
    pub confidence: Option<Confidence>,
    /// Source of the fact
    #[arg(long, value_name = "NAME", default_value = "cli")]
    pub source: String,
    /// Expiry of the fact: RFC 3339, a date, or relative such as +30d
    #[arg(long, value_name = "INSTANT", allow_hyphen_values = true)]
    pub valid_until: Option<Moment>,
    /// Write options.
    #[command(flatten)]
    pub write: WriteOptions,
}

/// `ebb sweep`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
A sweep only adds facts: with confidence 0 where a policy retracts, with less confidence where it reduces. A scope of more
than 100,000 facts is swept by a worker; the answer names the job. A guard stops a sweep by a policy that is new to the scope
and would retract more than a fifth of it and more than 50 facts, and names the number to accept. Once accepted, the policy
runs by itself; the guard stops it again if it is changed, or retracts over ten times as much as in any sweep before.

Examples:
  ebb sweep --scope company --dry-run
  ebb sweep --scope company --mode retract --policy stale-roadmap-retract
  ebb sweep --job ID")]
pub struct SweepArgs {
    /// Mode for all policies instead of their own: retract, confidence or dry_run
    #[arg(long, value_name = "MODE", value_parser = mode)]
    pub mode: Option<Mode>,
    /// Apply only this policy
    #[arg(long, value_name = "ID")]
    pub policy: Option<String>,
    /// Override the guard: the number of facts it named
    #[arg(long, value_name = "N")]
    pub accept_affected: Option<i64>,
    /// Show the state of a sweep that a worker runs
    #[arg(long, value_name = "ID", conflicts_with_all = ["mode", "policy", "accept_affected"])]
    pub job: Option<String>,
    /// Write options.
    #[command(flatten)]
    pub write: WriteOptions,
}

fn confidence(text: &str) -> Result<Confidence, String> {
    let number = text.parse::<f64>().map_err(|_| "a confidence is a number from 0 to 1".to_owned())?;
    Confidence::new(number).map_err(|why| why.to_string())
}

fn mode(text: &str) -> Result<Mode, String> {
    Mode::named(text).ok_or_else(|| "a mode is retract, confidence or dry_run".to_owned())
}

/// The scope of facts that `--scope` names.
fn scope(service: &Service) -> Result<FactScope, CliError> {
    FactScope::named(service.scope().as_str()).ok_or_else(|| {
        CliError::usage(format!("facts have no scope {}", service.scope()))
            .why("it is local, team, company or public")
            .try_this("the same command with --scope local")
    })
}

impl AssertArgs {
    fn value(&self) -> Result<Value, CliError> {
        match self.value_type {
            ValueType::String => Ok(Value::Text(self.value.clone())),
            ValueType::Number => Value::number(&self.value)
                .map_err(|why| CliError::usage(why).try_this("the same command with --type string")),
            ValueType::Boolean => self
                .value
                .parse()
                .map(Value::Truth)
                .map_err(|_| CliError::usage(format!("{:?} is no true or false", self.value))),
        }
    }
}

/// Runs a verb.
pub async fn run(verb: &Verb, service: &Service, output: &Output, global: &Global) -> Result<(), CliError> {
    match verb {
        Verb::Assert(args) => assert(args, service, output, global).await,
        Verb::List { entity, relation, history, limit } => {
            let (entity, relation) = (entity.clone(), relation.clone());
            let filter = FactFilter { scope: scope(service)?, entity, relation, history: *history };
            list(&filter, *limit, service, output).await
        }
    }
}

async fn assert(
    args: &AssertArgs,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let at = args.write.instant(service, global).await?;
    let valid_until = match args.valid_until {
        Some(until) => Some(ReadOptions { at: Some(until) }.instant(service).await?),
        None => None,
    };
    let assertion = Assertion {
        at,
        id: new_id(),
        tuple: Tuple {
            scope: scope(service)?,
            entity: EntityName::new(&args.entity).map_err(CliError::usage)?,
            relation: FactRelation::new(&args.relation).map_err(CliError::usage)?,
            value: args.value()?,
        },
        confidence: args.confidence.unwrap_or(Confidence::ONE),
        source: Source::new(&args.source).map_err(CliError::usage)?,
        valid_until,
    };
    let assertion = assertion.checked().map_err(|why| match why {
        FactError::Reserved(_) => {
            CliError::new(Exit::NotAllowed, why).try_this("the same command with another --source")
        }
        why => CliError::usage(why),
    })?;
    let said = service.assert_facts(&args.write.mode(), std::slice::from_ref(&assertion)).await?;
    let Some(said) = said.into_iter().next() else { return Err(CliError::failed("nothing was asserted")) };
    let text = assertion.tuple.to_string();
    let answer = AssertedFact {
        id: said.id,
        entity: args.entity.clone(),
        relation: args.relation.clone(),
        value: assertion.tuple.value,
        scope: assertion.tuple.scope,
        confidence: assertion.confidence.value(),
        source: args.source.clone(),
        asserted_at: said.at,
        valid_until,
        head: said.is_head,
        dry_run: args.write.dry_run,
    };
    output.emit("fact.assert", &answer, |page| {
        page.line(&if answer.head {
            format!("{text} (confidence {}).", answer.confidence)
        } else {
            format!("{text}: stored, but a later fact of the same tuple exists.")
        });
    })
}

async fn list(
    filter: &FactFilter,
    limit: Option<u32>,
    service: &Service,
    output: &Output,
) -> Result<(), CliError> {
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    let found = service.facts(filter, "", limit).await?;
    let facts: Vec<Fact> = found.into_iter().map(Fact::from).collect();
    output.emit_list("fact.list", "facts", &facts, |page| {
        if facts.is_empty() {
            page.line(&format!("No matching facts in the scope {}.", filter.scope));
            return;
        }
        let columns = [
            Column::left("ENTITY"),
            Column::left("RELATION"),
            Column::left("VALUE"),
            Column::right("CONFIDENCE"),
            Column::left("ASSERTED (UTC)"),
            Column::left("SOURCE"),
        ];
        let row = |fact: &Fact| {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            let was = if fact.head { "" } else { " was" };
            [
                text(&fact.entity),
                text(&fact.relation),
                fact.value.as_ref().map(ToString::to_string).unwrap_or_default(),
                format!("{:.3}{was}", fact.confidence.unwrap_or_default()),
                fact.asserted_at.map_or_else(String::new, readable),
                text(&fact.source),
            ]
        };
        page.table(&columns, facts.iter().map(row));
    })
}

/// Runs `ebb sweep`.
pub async fn sweep(
    args: &SweepArgs,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    if let Some(id) = &args.job {
        let standing = service.sweep_job(id).await?;
        return output.emit("sweep.job", &standing, |page| {
            page.line(&format!("The sweep {} is {}.", standing.job_id, standing.status));
            page.line(&summary(&standing.so_far));
            if let Some(reason) = &standing.reason {
                page.line(reason);
            }
        });
    }
    let request = SweepRequest {
        scope: scope(service)?,
        mode: args.mode,
        policy_id: args.policy.clone().map(Term::try_from).transpose().map_err(CliError::usage)?,
        accept_affected: args.accept_affected,
        at: Some(args.write.instant(service, global).await?),
    };
    match service.sweep(&args.write.mode(), &request, None).await? {
        Sweep::Done(answer) => output.emit("sweep", &answer, |page| page.line(&summary(&answer))),
        Sweep::Queued(queued) => output.emit("sweep", &queued, |page| {
            page.line(&format!(
                "The sweep {} is {}; it takes a worker about {} s.",
                queued.job_id, queued.status, queued.estimated_s
            ));
            page.line(&format!("Show its state with: ebb sweep --job {}", queued.job_id));
        }),
    }
}

fn summary(swept: &SweepAnswer) -> String {
    let by = match swept.policies_applied.as_slice() {
        [] => "no policy matched".to_owned(),
        ids => format!("by {}", ids.join(", ")),
    };
    let (retracted, reduced, would) = match swept.mode {
        Mode::DryRun => (swept.dry_run_would_retract, swept.dry_run_would_reduce, "would be "),
        _ => (swept.facts_retracted, swept.facts_reduced, ""),
    };
    format!(
        "{} facts of the scope {} evaluated, {retracted} {would}retracted, {reduced} {would}reduced; {by}.",
        swept.facts_evaluated, swept.scope
    )
}
