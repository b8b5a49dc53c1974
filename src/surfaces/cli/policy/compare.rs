//! `ebb policy compare`: what the same events leave under two configurations.

use crate::surfaces::cli::config::Setting;
use crate::surfaces::cli::events::FileProgress;
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::instant::{Moment, readable};
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::page::{Column, Page, harmless};
use clap::Args;
use ebb_core::domain::ids::Scope;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::Service;
use ebb_core::service::evaluation::Question;
use ebb_core::service::evaluation::comparison::Lost;
use ebb_core::service::events::BadLines;
use ebb_core::service::events::replay::{COMPARISON, Replay};
use ebb_core::service::replayed::{
    DifferingAnswers, DifferingFacts, ExpiredExample, FactExample, OnlyExpired, RecallPair, ReplayDifference,
    Replayed, TierPair,
};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Questions that a page shows of those that lost memories.
const LOST_SHOWN: usize = 10;

/// `ebb policy compare`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
A and B are configuration files as --config takes them: what they leave out is as by default. Decay rates, thresholds, half-lives and
policies of facts may differ, and so may the parameters of recall.

The events are replayed twice, one after the other, on a managed server of its own, or in the database of NEO4J_URI if it is set: that
must hold nothing, and Ebb's rows in the scopes of the events are deleted after each. Exit code 0 whether or not they differ.

Examples:
  ebb policy compare now.toml slower.toml --events events.ndjson
  ebb policy compare now.toml slower.toml --events events.ndjson --questions questions.ndjson -o json")]
pub struct CompareArgs {
    /// First configuration file
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// Second configuration file
    #[arg(value_name = "B")]
    pub b: PathBuf,
    /// File of events, as `ebb import` reads it
    #[arg(long, value_name = "FILE")]
    pub events: PathBuf,
    /// File of questions, as `ebb eval` reads it
    #[arg(long, value_name = "FILE")]
    pub questions: Option<PathBuf>,
    /// Stop at this instant of simulated time [default: the last event]
    #[arg(long, value_name = "INSTANT", allow_hyphen_values = true)]
    pub until: Option<Moment>,
}

/// A setting that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DifferingSetting {
    setting: String,
    a: Option<Value>,
    b: Option<Value>,
}

/// The settings that differ, but for those of the server, which both replays share.
///
/// # Errors
/// If none does.
pub fn differing(
    args: &CompareArgs,
    a: &[Setting],
    b: &[Setting],
) -> Result<Vec<DifferingSetting>, CliError> {
    let is_used = |setting: &Setting| !setting.key.starts_with("neo4j.");
    let pairs = a.iter().zip(b).filter(|(a, b)| is_used(a) && a.value != b.value);
    let differing: Vec<DifferingSetting> = pairs
        .map(|(a, b)| DifferingSetting { setting: a.key.clone(), a: a.value.clone(), b: b.value.clone() })
        .collect();
    if differing.is_empty() {
        let (a, b) = (args.a.display(), args.b.display());
        return Err(CliError::usage(format!(
            "{a} and {b} give the same settings: there is nothing to compare"
        ))
        .why("environment variables and flags win over both files, and [neo4j] has no part in a comparison")
        .try_this(format!("ebb --config {b} config show")));
    }
    Ok(differing)
}

/// Replays the events under one configuration, reads back what they leave, and takes it out of the database again.
pub async fn replay(
    args: &CompareArgs,
    (name, until): (&'static str, Option<Timestamp>),
    service: &Service,
    (scopes, questions): (&BTreeSet<Scope>, &[Question]),
    output: &Output,
) -> Result<Replayed, CliError> {
    let store = service.store();
    // Nothing tells what an interrupted comparison left from what others wrote there since.
    store.check_scratch(None).await?;
    service.ensure_initialised().await?;
    let read_back = async {
        let mut bar = FileProgress::new(output, name);
        let plan = Replay { until, step_ms: None, work: Some(COMPARISON) };
        let done = service.replay(&args.events, plan, BadLines::Stop, &mut |tick| bar.at(tick)).await?;
        drop(bar);
        Ok::<_, CliError>(service.replayed(scopes, done.ended_at, questions).await?)
    };
    let replayed = read_back.await;
    let emptied = store.empty_scratch(scopes).await;
    let replayed = replayed?;
    emptied?;
    Ok(replayed)
}

/// The result of a comparison.
#[derive(Debug, Serialize)]
struct Compared {
    settings: Vec<DifferingSetting>,
    ended_at: Option<Timestamp>,
    #[serde(flatten)]
    difference: ReplayDifference,
}

/// Prints a comparison.
pub fn print(
    settings: Vec<DifferingSetting>,
    (a, b): (&Replayed, &Replayed),
    output: &Output,
) -> Result<(), CliError> {
    let compared =
        Compared { settings, ended_at: a.ended_at.max(b.ended_at), difference: ReplayDifference::of(a, b) };
    output.emit("policy.compare", &compared, |page| compared.lay_out(page))
}

impl Compared {
    fn lay_out(&self, page: &mut Page) {
        let Self { settings, ended_at, difference } = self;
        page.heading("Settings that differ");
        let columns = [Column::left("SETTING"), Column::cut("A"), Column::cut("B")];
        let value = |of: &Option<Value>| of.as_ref().map_or_else(|| "unset".to_owned(), Value::to_string);
        let row = |one: &DifferingSetting| [one.setting.clone(), value(&one.a), value(&one.b)];
        page.table(&columns, settings.iter().map(row));
        page.line("");
        let end = ended_at.map_or_else(String::new, |at| format!(", at {}", readable(at)));
        page.heading(&format!("Memories by tier at the end{end}"));
        let columns = [Column::left("TIER"), Column::right("A"), Column::right("B")];
        let row = |pair: &TierPair| [pair.tier.to_string(), pair.a.to_string(), pair.b.to_string()];
        page.table(&columns, difference.tiers.iter().map(row));
        page.line("");
        expired(("A", "B"), &difference.expired_only_a, page);
        expired(("B", "A"), &difference.expired_only_b, page);
        facts(&difference.facts, page);
        if let Some(questions) = &difference.questions {
            answers(questions, page);
        }
    }
}

fn expired((of, other): (&str, &str), only: &OnlyExpired, page: &mut Page) {
    page.heading(&format!("Expired under {of} only: {}", only.count));
    let columns = [
        Column::left("EXPIRED (UTC)"),
        Column::left("LAST ACCESS (UTC)"),
        Column::right("ENERGY"),
        Column::left(other),
        Column::right(""),
        Column::left("ID"),
    ];
    let row = |one: &ExpiredExample| {
        [
            one.expired_at.map_or_else(String::new, readable),
            readable(one.last_accessed),
            format!("{:.3}", one.energy),
            one.other_tier.to_string(),
            format!("{:.3}", one.other_energy),
            one.id.clone(),
        ]
    };
    if !only.examples.is_empty() {
        page.table(&columns, only.examples.iter().map(row));
        more(only.count, only.examples.len(), page);
    }
    page.line("");
}

fn facts(facts: &DifferingFacts, page: &mut Page) {
    page.heading(&format!(
        "Facts whose confidence differs: {}; retracted under A only: {}, under B only: {}",
        facts.count, facts.retracted_only_a, facts.retracted_only_b
    ));
    let confidence = |of: Option<f64>| of.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
    let columns = [
        Column::right("A"),
        Column::right("B"),
        Column::left("SCOPE"),
        Column::left("RELATION"),
        Column::cut("ENTITY"),
        Column::cut("VALUE"),
    ];
    let row = |one: &FactExample| {
        let value = one.value.as_ref().map(ToString::to_string).unwrap_or_default();
        let (scope, relation, entity) = (one.scope.clone(), one.relation.clone(), one.entity.clone());
        [confidence(one.a), confidence(one.b), scope, relation, entity, value]
    };
    if !facts.examples.is_empty() {
        page.table(&columns, facts.examples.iter().map(row));
        more(facts.count, facts.examples.len(), page);
    }
}

fn answers(answers: &DifferingAnswers, page: &mut Page) {
    page.line("");
    page.heading(&format!("Share of the memories that answer {} questions, in percent", answers.questions));
    let columns = [Column::left("AMONG"), Column::right("A"), Column::right("B")];
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let row = |pair: &RecallPair| [format!("first {}", pair.first), percent(pair.a), percent(pair.b)];
    page.table(&columns, answers.recall.iter().map(row));
    for (under, lost) in [("B", &answers.lost_under_b), ("A", &answers.lost_under_a)] {
        page.line("");
        page.heading(&format!("Questions that lose memories under {under}: {}", lost.len()));
        for Lost { question, memories, .. } in lost.iter().take(LOST_SHOWN) {
            let ids: Vec<&str> = memories.iter().map(|memory| memory.id.as_str()).collect();
            page.line(&format!("  {}  {}", harmless(question), harmless(&ids.join(", "))));
        }
        more(lost.len(), lost.len().min(LOST_SHOWN), page);
    }
}

fn more(all: usize, shown: usize, page: &mut Page) {
    if all > shown {
        page.line(&format!("and {} more", all - shown));
    }
}
