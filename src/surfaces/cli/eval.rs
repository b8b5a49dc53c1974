//! `ebb eval`: how much of what answers questions recall finds, by its parts, and whether it finds less than before.

mod report;

use super::events::FileProgress;
use super::exit::{CliError, Exit};
use super::output::Output;
use super::plot;
use super::progress::Progress;
use super::recall::choice;
use clap::Args;
use ebb_core::domain::ids::Scope;
use ebb_core::domain::similarity::Similarity;
use ebb_core::service::Service;
use ebb_core::service::evaluation::comparison::{COMPARED_AT, Comparison, SavedAnswer, saved};
use ebb_core::service::evaluation::ways::{Part, Way};
use ebb_core::service::evaluation::{Answers, Question, Views, ask, missing_gold, questions};
use ebb_core::service::events::replay::Replay;
use ebb_core::service::events::{BadLines, FeedError};
use ebb_core::service::recall::RecallConfig;
use report::Evaluation;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most numbers of hits: more columns do not fit.
const COLUMNS_MAX: usize = 4;

/// `ebb eval`
#[derive(Debug, Clone, Args)]
#[command(
    allow_missing_positional = true,
    after_help = "\
A question is one JSON object a line: {\"question\": \"who left\", \"gold\": [\"m-1\", \"m-7\"]}, with the ids of the memories that
answer it together, and \"class\", \"scope\" and \"embedding\" if it has them.

With EVENTS, a file as `ebb import` reads it, their graph is built in memory and no database is needed; with --after-jobs they
are replayed on a scratch database as by `ebb replay`. Without EVENTS the questions are asked of the graph in the database, and
nothing is written.

-o json has the rank of each memory; --compare reads such a file and names what is not found any more. Exit code 7 if the
loss is greater than --max-loss.

Examples:
  ebb eval events.ndjson questions.ndjson
  ebb eval events.ndjson questions.ndjson --after-jobs --svg recall.svg
  ebb eval questions.ndjson -o json > before.json
  ebb eval questions.ndjson --compare before.json --max-loss 0.02"
)]
pub struct Eval {
    /// File of events to ask [default: ask the graph in the database]
    #[arg(value_name = "EVENTS")]
    pub events: Option<PathBuf>,
    /// File of questions
    #[arg(value_name = "QUESTIONS", required = true)]
    pub questions: PathBuf,
    /// Replay the events with the jobs on a scratch database first
    #[arg(long, requires = "events")]
    pub after_jobs: bool,
    /// Numbers of first hits, comma-separated, at most four
    #[arg(long, value_name = "K", value_delimiter = ',', default_value = "5,10,20", value_parser = clap::value_parser!(u16).range(1..=200))]
    pub top: Vec<u16>,
    /// Parts to leave out in turn, comma-separated [default: all]
    #[arg(long, value_name = "PART", value_delimiter = ',', value_parser = choice(PARTS))]
    pub without: Vec<Part>,
    /// Samples from which intervals are computed
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(100..=100_000))]
    pub resamples: u32,
    /// Draw the shares into an SVG file as well
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Compare with an earlier evaluation, the JSON of this command
    #[arg(long, value_name = "FILE")]
    pub compare: Option<PathBuf>,
    /// Greatest loss of mean recall among the first 10 hits, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, value_parser = share, requires = "compare")]
    pub max_loss: f64,
}

/// Parts by name.
const PARTS: [(&str, &str, Part); 6] = [
    ("words", "Words of the text (BM25)", Part::Words),
    ("vectors", "Similarity of embeddings", Part::Vectors),
    ("links", "Activation over relationships", Part::Links),
    ("neighbours", "Memories before and after in the session", Part::Neighbours),
    ("time", "Preference for memories that speak of time, if the question asks when", Part::Time),
    ("speakers", "Preference for memories whose speaker the question names", Part::Speakers),
];

fn share(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|value| (0.0..=1.0).contains(value));
    value.ok_or_else(|| "a share is a number from 0 to 1".to_owned())
}

impl Eval {
    /// The file of events whose graph is built in memory, if that is asked.
    #[must_use]
    pub fn in_memory(&self) -> Option<&Path> {
        self.events.as_deref().filter(|_| !self.after_jobs)
    }

    /// Reads the questions; `scope` is that of those that name none.
    pub fn questions(&self, scope: &Scope, similarity: &Similarity) -> Result<Vec<Question>, CliError> {
        questions(&self.questions, scope, similarity).map_err(|why| bad_file(&why))
    }

    /// The numbers of hits, in order.
    fn top(&self) -> Result<Vec<usize>, CliError> {
        let top: BTreeSet<usize> = self.top.iter().map(|k| usize::from(*k)).collect();
        match top.len() {
            ..=COLUMNS_MAX => Ok(top.into_iter().collect()),
            many => Err(CliError::usage(format!("--top has {many} numbers; at most {COLUMNS_MAX} fit"))),
        }
    }

    fn ways(&self, questions: &[Question]) -> Vec<Way> {
        let without = if self.without.is_empty() { &Part::ALL[..] } else { &self.without };
        Way::all(without, questions)
    }
}

/// An error of a file of events or of questions.
pub fn bad_file(why: &FeedError) -> CliError {
    let error = CliError::failed(why);
    match why {
        FeedError::Line { .. } => error.try_this("correct the line and repeat the command"),
        _ => error,
    }
}

/// Runs the verb on a database: on its graph, or after a replay of the events.
pub async fn run(args: &Eval, service: &Service, output: &Output) -> Result<(), CliError> {
    let questions = args.questions(service.scope(), service.store().similarity())?;
    if let Some(events) = args.events.as_deref() {
        let mut bar = FileProgress::new(output, "replaying");
        service.replay(events, Replay::default(), BadLines::Stop, &mut |tick| bar.at(tick)).await?;
    }
    let views = service.views(&questions).await?;
    let rules = service.rules().clone();
    let mut evaluation = evaluate(args, questions, views, rules, output).await?;
    if let Some(comparison) = &mut evaluation.comparison {
        service.find_lost(comparison).await?;
    }
    print(args, &evaluation, output)
}

/// Runs the verb on views in memory; `left_out` events have no part in them.
pub async fn run_in_memory(
    args: &Eval,
    questions: Vec<Question>,
    views: Views,
    left_out: u64,
    rules: RecallConfig,
    output: &Output,
) -> Result<(), CliError> {
    let mut evaluation = evaluate(args, questions, views, rules, output).await?;
    evaluation.events_left_out = left_out;
    print(args, &evaluation, output)
}

/// Prints an evaluation; its picture is drawn already.
fn print(args: &Eval, evaluation: &Evaluation, output: &Output) -> Result<(), CliError> {
    output.emit("eval", evaluation, |page| evaluation.lay_out(page))?;
    match &evaluation.comparison {
        Some(found) if found.loss > args.max_loss => Err(too_great(found, args.max_loss)),
        _ => Ok(()),
    }
}

async fn evaluate(
    args: &Eval,
    questions: Vec<Question>,
    views: Views,
    rules: RecallConfig,
    output: &Output,
) -> Result<Evaluation, CliError> {
    let top = args.top()?;
    let before = args.compare.as_deref().map(read_saved).transpose()?;
    let depth = top.iter().copied().max().unwrap_or(0).max(COMPARED_AT);
    let (questions, views) = (Arc::new(questions), Arc::new(views));
    let ways = args.ways(&questions);
    let mut bar = Progress::new(output, "ways", Some(ways.len() as u64));
    let mut answers: Vec<Answers> = Vec::new();
    for (at, way) in (0..).zip(ways) {
        bar.at(at);
        let (questions, views, rules) = (Arc::clone(&questions), Arc::clone(&views), rules.clone());
        // In a thread of its own, so that an interrupt is heard meanwhile.
        let asked = tokio::task::spawn_blocking(move || ask(way, &questions, &views, &rules, depth)).await;
        let asked =
            asked.map_err(|why| CliError::failed("the questions were not asked to the end").why(why))?;
        answers.push(asked.map_err(CliError::failed)?);
    }
    drop(bar);
    let now = answers.iter().find(|answers| answers.way == Way::Ebb);
    let now = now.map(|answers| SavedAnswer::of(&questions, answers)).unwrap_or_default();
    let comparison = before.map(|before| compared(args, &before, &now, &views)).transpose()?;
    let resamples = usize::try_from(args.resamples).unwrap_or(usize::MAX);
    let mut evaluation = Evaluation::of(&questions, &answers, top, resamples);
    evaluation.memories_missing = missing_gold(&questions, &views);
    if let Some(file) = &args.svg {
        plot::save(&evaluation.plot().svg(), file)?;
        evaluation.svg = Some(file.clone());
    }
    evaluation.comparison = comparison;
    evaluation.answers = now;
    Ok(evaluation)
}

fn read_saved(file: &Path) -> Result<Vec<SavedAnswer>, CliError> {
    saved(file).map_err(|why| {
        CliError::usage(format!("{} is no saved evaluation", file.display()))
            .why(why)
            .try_this("ebb eval QUESTIONS -o json > FILE")
    })
}

fn compared(
    args: &Eval,
    before: &[SavedAnswer],
    now: &[SavedAnswer],
    views: &Views,
) -> Result<Comparison, CliError> {
    Comparison::of(before, now, views).ok_or_else(|| {
        let file = args.compare.as_deref().unwrap_or_else(|| Path::new("")).display();
        CliError::usage(format!("{file} has none of the questions of {}", args.questions.display()))
    })
}

fn too_great(found: &Comparison, max_loss: f64) -> CliError {
    let Comparison { before, now, loss, lost, .. } = found;
    let what = format!("recall among the first {COMPARED_AT} hits fell from {before:.3} to {now:.3}");
    CliError::new(Exit::Findings, what)
        .why(format!(
            "the loss is {loss:.3}, greater than --max-loss {max_loss}; {} questions lost memories",
            lost.len()
        ))
        .try_this("ebb memory explain ID, for a memory that is not found any more")
}
