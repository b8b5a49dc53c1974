//! `ebb policy`: the decay policies of facts.

pub mod compare;

use super::exit::CliError;
use super::instant::{span, spelt};
use super::output::Output;
use super::page::Column;
use super::write_mode;
use clap::{Args, Subcommand};
use ebb_core::api::policy::{ChangedPolicy, DecayPolicies, DecayPolicy, RemovedPolicy};
use ebb_core::domain::policy::{Draft, Given, Policy};
use ebb_core::service::Service;
use std::collections::BTreeMap;
use std::time::Duration;

/// The verbs of `ebb policy`.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
The first set or remove copies the policies of the configuration into the graph. From then on those of the graph are in force,
and [[policies]] of the configuration has no effect.")]
pub enum Verb {
    /// List the policies in force
    List,
    /// Create or replace a policy
    Set(SetArgs),
    /// Replay events under two configurations and show what differs
    Compare(compare::CompareArgs),
    /// Remove a policy
    Remove {
        /// Id of the policy
        #[arg(value_name = "ID")]
        id: String,
        /// Show what would change and write nothing
        #[arg(long)]
        dry_run: bool,
        /// Idempotency key: repeats within 24 hours count once [default: a new id]
        #[arg(long, value_name = "ID")]
        request_id: Option<String>,
    },
}

/// `ebb policy set`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Sweeps apply the policy from now on. To see first what it would do, set it with --mode dry_run, then run
ebb sweep --scope SCOPE --policy ID --dry-run. The first change copies the policies of the configuration into the graph; from
then on those of the graph are in force.

Examples:
  ebb policy set notes --relation 'memory:*' --for company --mode confidence --half-life 7d --min-confidence 0.1
  ebb policy set stale --relation roadmap:status --for '*' --mode retract --ttl 30d")]
pub struct SetArgs {
    /// Id of the policy
    #[arg(value_name = "ID")]
    pub id: String,
    /// Pattern of relations; * matches any run of characters
    #[arg(long, value_name = "PATTERN")]
    pub relation: String,
    /// Scope of the facts: local, team, company, public, or * for all
    #[arg(id = "for", long = "for", value_name = "SCOPE")]
    pub scope: String,
    /// Mode: retract, confidence or dry_run
    #[arg(long, value_name = "MODE")]
    pub mode: String,
    /// Retract facts older than this, such as 30d
    #[arg(long, value_name = "SPAN", value_parser = span)]
    pub ttl: Option<Duration>,
    /// Halve the confidence in this time, such as 7d
    #[arg(long, value_name = "SPAN", value_parser = span)]
    pub half_life: Option<Duration>,
    /// Lower bound of the confidence, 0 to 1
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    pub min_confidence: f64,
    /// Pattern of relations to exclude; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub exempt: Vec<String>,
    /// Show what would change and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Idempotency key: repeats within 24 hours count once [default: a new id]
    #[arg(long, value_name = "ID")]
    pub request_id: Option<String>,
}

/// Runs a verb.
pub async fn run(verb: &Verb, service: &Service, output: &Output) -> Result<(), CliError> {
    match verb {
        Verb::List => list(service, output).await,
        Verb::Set(args) => set(args, service, output).await,
        Verb::Compare(_) => Err(CliError::usage("this command runs on databases of its own")),
        Verb::Remove { id, dry_run, request_id } => {
            service.remove_policy(&write_mode(*dry_run, request_id.as_deref()), id).await?;
            let removed = RemovedPolicy { id: id.clone(), dry_run: *dry_run };
            output.emit("policy.remove", &removed, |page| {
                page.line(&format!("The policy {id} {} removed.", if *dry_run { "would be" } else { "is" }));
            })
        }
    }
}

async fn list(service: &Service, output: &Output) -> Result<(), CliError> {
    let in_force = service.policies().await?;
    let all = in_force.policies.all();
    let from = if in_force.in_graph { "graph" } else { "configuration" };
    let listed = DecayPolicies { policies: all.iter().map(DecayPolicy::from).collect(), from };
    output.emit("policy.list", &listed, |page| {
        if all.is_empty() {
            page.line(&format!("No policies ({from}); sweeps do nothing."));
            return;
        }
        let columns = ["ID", "RELATION", "SCOPE", "MODE", "BY", "FLOOR", "EXEMPT"].map(Column::left);
        page.table(&columns, all.iter().map(row));
        page.line(&format!("Source: the {from}."));
    })
}

fn row(policy: &Policy) -> [String; 7] {
    use ebb_core::domain::policy::Measure;
    let seconds = |seconds: f64| spelt(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    let by = match policy.measure {
        Measure::TtlS(ttl) => format!("ttl {}", seconds(ttl)),
        Measure::HalfLifeS(half_life) => format!("half-life {}", seconds(half_life)),
    };
    let exempt: Vec<&str> = policy.exempt_relations.iter().map(|glob| glob.as_str()).collect();
    [
        policy.id.to_string(),
        policy.relation.as_str().to_owned(),
        policy.scope.map_or("*", |scope| scope.name()).to_owned(),
        policy.mode.to_string(),
        by,
        policy.min_confidence.value().to_string(),
        exempt.join(", "),
    ]
}

async fn set(args: &SetArgs, service: &Service, output: &Output) -> Result<(), CliError> {
    let text = |text: &str| Given::Text(text.to_owned());
    let seconds =
        |span: Option<Duration>| span.map_or(Given::Nothing, |span| Given::Number(span.as_secs_f64()));
    let fields = BTreeMap::from([
        ("id", text(&args.id)),
        ("relation", text(&args.relation)),
        ("scope", text(&args.scope)),
        ("mode", text(&args.mode)),
        ("ttl_s", seconds(args.ttl)),
        ("half_life_s", seconds(args.half_life)),
        ("min_confidence", Given::Number(args.min_confidence)),
        ("exempt_relations", Given::List(args.exempt.iter().map(|exempt| text(exempt)).collect())),
    ]);
    let draft = Draft(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
    let (policy, new) =
        service.set_policy(&write_mode(args.dry_run, args.request_id.as_deref()), draft).await?;
    let changed = ChangedPolicy { policy: DecayPolicy::from(&policy), new, dry_run: args.dry_run };
    output.emit("policy.set", &changed, |page| {
        let what = match (new, args.dry_run) {
            (true, true) => "would be new; nothing was written",
            (false, true) => "would be changed; nothing was written",
            (true, false) => "is new",
            (false, false) => "was changed",
        };
        page.line(&format!("The policy {} {what}.", policy.id));
    })
}
