//! `ebb eval`: how much of what answers questions recall finds, by its parts, and whether it finds less than before.

mod report;

use super::events::FileProgress;
use super::exit::{CliError, Exit, conclude};
use super::output::Output;
use super::plot;
use super::progress::Progress;
use super::recall::choice;
use clap::Args;
use ebb_core::domain::ids::Scope;
use ebb_core::domain::similarity::Similarity;
use ebb_core::service::Service;
use ebb_core::service::evaluation::comparison::{COMPARED_AT, Comparison, SavedAnswer, saved, uncovered};
use ebb_core::service::evaluation::ways::{Part, Way};
use ebb_core::service::evaluation::{Answers, Question, Views, ask, missing_gold, questions};
use ebb_core::service::events::replay::Replay;
use ebb_core::service::events::{BadLines, FeedError};
use ebb_core::service::recall::RecallConfig;
use report::{Evaluation, PartialScope};
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

    /// Reads the files of the arguments and checks all before any work; `scope` is that of questions that name none.
    pub async fn prepare(
        &self,
        scope: &Scope,
        similarity: Similarity,
        rules: &RecallConfig,
    ) -> Result<Prepared, CliError> {
        let (args, scope, top_k_max) = (self.clone(), scope.clone(), rules.top_k_max());
        in_thread(move || args.prepared(&scope, &similarity, top_k_max)).await
    }

    fn prepared(
        &self,
        scope: &Scope,
        similarity: &Similarity,
        top_k_max: usize,
    ) -> Result<Prepared, CliError> {
        let top: BTreeSet<usize> = self.top.iter().map(|k| usize::from(*k)).collect();
        if top.len() > COLUMNS_MAX {
            let many = top.len();
            return Err(CliError::usage(format!("--top has {many} numbers; at most {COLUMNS_MAX} fit")));
        }
        let prepared = Prepared {
            questions: questions(&self.questions, scope, similarity).map_err(|why| bad_file(&why))?,
            before: self.compare.as_deref().map(read_saved).transpose()?,
            top: top.into_iter().collect(),
        };
        if prepared.depth() > top_k_max {
            let depth = prepared.depth();
            let what = format!("the first {depth} hits are ranked, and engine.top_k_max is {top_k_max}");
            return Err(
                CliError::usage(what).try_this("raise engine.top_k_max, or lower the numbers of --top")
            );
        }
        match (&prepared.before, &self.compare) {
            (Some(before), Some(file))
                if uncovered(&prepared.questions, before) == prepared.questions.len() =>
            {
                let (file, questions) = (file.display(), self.questions.display());
                let what = format!("{file} has none of the questions of {questions} with the same gold ids");
                Err(CliError::usage(what))
            }
            _ => Ok(prepared),
        }
    }

    fn ways(&self, questions: &[Question]) -> Vec<Way> {
        let without = if self.without.is_empty() { &Part::ALL[..] } else { &self.without };
        Way::all(without, questions)
    }
}

/// Arguments that were read and checked.
pub struct Prepared {
    /// The questions.
    pub questions: Vec<Question>,
    /// Answers to compare with.
    before: Option<Vec<SavedAnswer>>,
    /// Numbers of hits, in order.
    top: Vec<usize>,
}

impl Prepared {
    /// Number of hits that are ranked.
    fn depth(&self) -> usize {
        self.top.iter().copied().max().unwrap_or(0).max(COMPARED_AT)
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

/// Runs work in a thread of its own, so that Ctrl-C works meanwhile.
pub async fn in_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CliError> + Send + 'static,
) -> Result<T, CliError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|why| CliError::failed("a background task failed").why(why))?
}

/// Runs the verb on a database: on its graph, or after a replay of the events.
pub async fn run(args: &Eval, service: &Service, output: &Output) -> Result<(), CliError> {
    let rules = service.rules().clone();
    let prepared = args.prepare(service.scope(), service.store().similarity().clone(), &rules).await?;
    if let Some(events) = args.events.as_deref() {
        let mut bar = FileProgress::new(output, "replaying");
        service.replay(events, Replay::default(), BadLines::Stop, &mut |tick| bar.at(tick)).await?;
    }
    let views = service.views(&prepared.questions).await?;
    let partial = partial(&views, service);
    let mut evaluation = evaluate(args, prepared, views, rules, output).await?;
    if let Some(comparison) = &mut evaluation.comparison
        && let Err(why) = service.find_lost(&mut comparison.lost).await
    {
        // The figures hold all the same.
        output.remark(&format!("The state of lost memories could not be read: {why}"));
    }
    evaluation.partial = partial;
    finish(args, &evaluation, output)
}

/// Runs the verb on views in memory; `left_out` events have no part in them.
pub async fn run_in_memory(
    args: &Eval,
    prepared: Prepared,
    views: Views,
    left_out: u64,
    rules: RecallConfig,
    output: &Output,
) -> Result<(), CliError> {
    let mut evaluation = evaluate(args, prepared, views, rules, output).await?;
    evaluation.events_left_out = left_out;
    finish(args, &evaluation, output)
}

/// The scopes whose mirrors do not hold all.
fn partial(views: &Views, service: &Service) -> Vec<PartialScope> {
    let part = |scope: &Scope| {
        let mirror = Some(service.mirrored(scope)).filter(|mirror| mirror.whole == Some(false))?;
        Some(PartialScope { scope: mirror.scope, held_share: mirror.held_share? })
    };
    views.keys().filter_map(part).collect()
}

/// Prints an evaluation, then draws it, so that a picture that cannot be written does not cost the figures.
fn finish(args: &Eval, evaluation: &Evaluation, output: &Output) -> Result<(), CliError> {
    let printed = output.emit("eval", evaluation, |page| evaluation.lay_out(page));
    let drawn: Result<(), CliError> = args.svg.as_ref().map_or(Ok(()), |file| {
        plot::save(&evaluation.plot().svg(), file)?;
        output.remark(&format!("Wrote {}", file.display()));
        Ok(())
    });
    let verdict = match &evaluation.comparison {
        Some(found) if found.loss > args.max_loss => Err(too_great(found, args.max_loss)),
        _ => Ok(()),
    };
    conclude(printed, drawn.and(verdict))
}

async fn evaluate(
    args: &Eval,
    prepared: Prepared,
    views: Views,
    rules: RecallConfig,
    output: &Output,
) -> Result<Evaluation, CliError> {
    let depth = prepared.depth();
    let Prepared { questions, before, top } = prepared;
    let (questions, views) = (Arc::new(questions), Arc::new(views));
    let ways = args.ways(&questions);
    let mut bar = Progress::new(output, "ways", Some(ways.len() as u64));
    let mut answers: Vec<Answers> = Vec::new();
    for (at, way) in (0..).zip(ways) {
        bar.at(at);
        let (questions, views, rules) = (Arc::clone(&questions), Arc::clone(&views), rules.clone());
        let asked = in_thread(move || ask(way, &questions, &views, &rules, depth).map_err(CliError::failed));
        answers.push(asked.await?);
    }
    drop(bar);
    let resamples = usize::try_from(args.resamples).unwrap_or(usize::MAX);
    in_thread(move || {
        let now = answers.iter().find(|answers| answers.way == Way::Ebb);
        let now = now.map(|answers| SavedAnswer::of(&questions, answers)).unwrap_or_default();
        let mut evaluation = Evaluation::of(&questions, &answers, top, resamples);
        evaluation.memories_missing = missing_gold(&questions, &views);
        evaluation.comparison = before.and_then(|before| Comparison::of(&before, &now, &views));
        evaluation.answers = now;
        Ok(evaluation)
    })
    .await
}

fn read_saved(file: &Path) -> Result<Vec<SavedAnswer>, CliError> {
    saved(file).map_err(|why| {
        CliError::usage(format!("{} is no saved evaluation", file.display()))
            .why(why)
            .try_this("ebb eval QUESTIONS -o json > FILE")
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
