//! `ebb outcome`: reports useful hits of a recall. It takes the response as `ebb recall` printed it, which alone holds the paths
//! to the hits.

use super::exit::CliError;
use super::output::Output;
use super::page::Page;
use super::{Global, WriteOptions};
use clap::Args;
use ebb_core::api::outcome::Outcome;
use ebb_core::domain::ids::RecallId;
use ebb_core::domain::outcome::{self, Used};
use ebb_core::service::Service;
use serde::Deserialize;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// `ebb outcome`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Memories among these hits are accessed. Nodes on the paths to them gain weight for each other, and edges on these paths that carry pheromones earn success.

Examples:
  ebb recall \"who maintains the parser\" -o json > answer.json
  ebb outcome answer.json --used m1 --used Alex
  ebb outcome - --used m1 --reward 0.5 < answer.json")]
pub struct OutcomeArgs {
    /// Response of a recall: a file with the output of `ebb recall -o json`; - reads standard input
    #[arg(value_name = "ANSWER")]
    pub answer: PathBuf,
    /// Id of a useful hit; may be repeated
    #[arg(long, value_name = "ID", required = true)]
    pub used: Vec<String>,
    /// Reward for all of them together, above 0 and at most 10
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    pub reward: f64,
    /// Do not access the memories among them: they were accessed on their own
    #[arg(long)]
    pub no_access: bool,
    /// Write options.
    #[command(flatten)]
    pub write: WriteOptions,
}

/// The part of a recall response that is read.
#[derive(Debug, Deserialize)]
struct Answer {
    recall_id: RecallId,
    hits: Vec<Hit>,
}

#[derive(Debug, Deserialize)]
struct Hit {
    id: String,
    path: Vec<String>,
}

impl Answer {
    fn of(text: &str, from: &Path) -> Result<Self, CliError> {
        serde_json::from_str(text).map_err(|why| {
            CliError::usage(format!("{} is not the response of a recall", from.display()))
                .why(why)
                .try_this("ebb recall WORDS -o json > answer.json")
        })
    }

    /// The outcome in which these hits were of use.
    fn outcome(self, used: &[String], reward: f64) -> Result<outcome::Outcome, CliError> {
        let hit = |id: &String| match self.hits.iter().find(|hit| hit.id == *id) {
            Some(hit) => Ok(Used { id: hit.id.clone(), path: hit.path.clone() }),
            None => Err(CliError::usage(format!("the response has no hit {id}"))),
        };
        let used = used.iter().map(hit).collect::<Result<Vec<Used>, CliError>>()?;
        outcome::Outcome::new(self.recall_id, used, reward).map_err(CliError::usage)
    }
}

/// The text of a file, or of standard input for `-`.
pub(super) async fn read(from: &Path) -> Result<String, CliError> {
    let path = from.to_owned();
    // In a thread of its own, so that an interrupt is heard while standard input is waited for.
    let read = tokio::task::spawn_blocking(move || {
        let mut text = String::new();
        let read = if path == Path::new("-") {
            io::stdin().lock().read_to_string(&mut text)
        } else {
            File::open(&path).and_then(|mut file| file.read_to_string(&mut text))
        };
        read.map(|_| text)
    });
    let name = from.display();
    let read = read.await.map_err(|gone| CliError::failed(format!("{name} cannot be read")).why(gone))?;
    read.map_err(|why| CliError::usage(format!("{name} cannot be read")).why(why))
}

/// Runs the verb.
pub async fn run(
    args: &OutcomeArgs,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let answer = Answer::of(&read(&args.answer).await?, &args.answer)?;
    let outcome = answer.outcome(&args.used, args.reward)?;
    let at = args.write.instant(service, global).await?;
    let mode = args.write.mode();
    let reported = service.report(&mode, service.scope(), (&outcome, !args.no_access), at).await?;
    let report = Outcome::of(&outcome, &reported, args.write.dry_run);
    output.emit("outcome", &report, |page| lay_out(&report, page))
}

fn lay_out(report: &Outcome, page: &mut Page) {
    let memories =
        if report.accessed == 1 { "1 memory".to_owned() } else { format!("{} memories", report.accessed) };
    page.line(&format!(
        "{memories} {} accessed.",
        match (report.dry_run, report.accessed) {
            (true, _) => "would be",
            (false, 1) => "was",
            (false, _) => "were",
        }
    ));
    let nodes = if report.active == 1 { "1 node".to_owned() } else { format!("{} nodes", report.active) };
    page.line(&match (report.learns, report.dry_run) {
        (false, _) => "Nothing will be learned: learning is off.".to_owned(),
        (true, false) => format!("{nodes} will gain weight for each other."),
        (true, true) => format!("{nodes} would gain weight for each other."),
    });
    if report.left_out > 0 {
        page.line(&format!("{} more are left out: the limit of one outcome.", report.left_out));
    }
    let steps = report.deposits + report.not_in_trails;
    let earned = if report.dry_run { "would earn success" } else { "earned success" };
    page.line(&format!(
        "Of {steps} steps {} {earned}; {} have no edge that carries pheromones.",
        report.deposits, report.not_in_trails
    ));
}
