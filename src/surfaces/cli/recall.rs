//! `ebb recall`: what a question reminds of, and with `--why` what speaks for it.

use super::exit::CliError;
use super::instant::Moment;
use super::output::Output;
use super::page::{Column, Page, searched};
use clap::{Args, ValueEnum};
use ebb_core::api::recall::{GivenSeed, Hit, Recall, RecallRequest};
use ebb_core::domain::ids::Term;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::Service;
use ebb_core::service::recall::{
    Dimension, Error, Profile, RecallConfig, SeedMass, View, XlrMode, recall_in,
};
use std::path::PathBuf;

/// `ebb recall`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  ebb recall \"who maintains the parser\"\n  ebb recall \"deployment\" --top 5 --kind Memory --why\n  ebb recall --seed Alex --seed ProjectAlpha=0.5"
)]
pub struct RecallArgs {
    /// The question, in words
    #[arg(value_name = "WORDS", required_unless_present = "seeds")]
    pub words: Vec<String>,
    /// Begin at this id, of an entity its name; =SCORE says how much it counts, up to 1
    #[arg(long = "seed", value_name = "ID[=SCORE]", value_parser = seed)]
    pub seeds: Vec<GivenSeed>,
    /// How many hits at most
    #[arg(long, value_name = "K", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub top: u16,
    /// Only nodes of this label, such as Memory; may be repeated
    #[arg(long = "kind", value_name = "LABEL", value_parser = term)]
    pub kinds: Vec<Term>,
    /// Only memories of this tier; may be repeated
    #[arg(long = "tier", value_name = "TIER", value_parser = term)]
    pub tiers: Vec<Term>,
    /// Only what was used since: RFC 3339, a date, or relative such as -3h
    #[arg(long, value_name = "INSTANT", allow_hyphen_values = true)]
    pub since: Option<Moment>,
    /// Only memories made in this session
    #[arg(long, value_name = "ID", value_parser = term)]
    pub session: Option<Term>,
    /// By which rule signals spread
    #[arg(long, value_enum, value_name = "PROFILE", default_value_t = ProfileName::Recall)]
    pub profile: ProfileName,
    /// Which kinds of evidence are heard, with commas between [default: engine.dimensions]
    #[arg(long = "dimension", value_enum, value_name = "KIND", value_delimiter = ',')]
    pub dimensions: Vec<DimensionName>,
    /// What contrast with other places of the graph does [default: engine.xlr]
    #[arg(long, value_enum, value_name = "HOW")]
    pub xlr: Option<XlrName>,
    // A process that asks once has no questions behind it: then nothing joins.
    /// Let nodes join that came with the seeds in earlier questions [default: engine.priming]
    #[arg(long, conflicts_with = "no_prime")]
    pub prime: bool,
    /// Let none join
    #[arg(long)]
    pub no_prime: bool,
    /// Let a seed count for what comes back to it, and not for being one
    #[arg(long)]
    pub subtract_seeds: bool,
    /// Leave the words of memories out of account
    #[arg(long)]
    pub no_words: bool,
    /// Ask this snapshot file (JSON version 3) instead of the database: labels are its texts
    #[arg(long, value_name = "FILE")]
    pub graph: Option<PathBuf>,
    /// Say what speaks for each seed, and by which relationships each hit was reached
    #[arg(long)]
    pub why: bool,
}

/// By which rule signals spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProfileName {
    /// Evidence adds up, and neighbours share
    Recall,
    /// The strongest signal alone counts
    Reference,
}

/// A kind of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DimensionName {
    /// What joins a node to the seeds
    Structural,
    /// How like the question it is called, or what stands with it
    Semantic,
    /// How fresh it is for what it is worth, or how it changes with the seeds
    Temporal,
    /// How the seeds lead to it as causes, or it to them
    Causal,
}

impl From<DimensionName> for Dimension {
    fn from(name: DimensionName) -> Self {
        match name {
            DimensionName::Structural => Self::Structural,
            DimensionName::Semantic => Self::Semantic,
            DimensionName::Temporal => Self::Temporal,
            DimensionName::Causal => Self::Causal,
        }
    }
}

/// What contrast with other places of the graph does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum XlrName {
    /// Nothing
    Off,
    /// What would light up for any question counts for less
    Gate,
    /// It is told of each hit, with --why and in JSON, and changes nothing
    Report,
}

impl From<XlrName> for XlrMode {
    fn from(name: XlrName) -> Self {
        match name {
            XlrName::Off => Self::Off,
            XlrName::Gate => Self::Gate,
            XlrName::Report => Self::Report,
        }
    }
}

/// An id, and how much it counts.
pub(super) fn seed(text: &str) -> Result<GivenSeed, String> {
    let (id, score) = match text.rsplit_once('=') {
        Some((id, score)) => match score.parse::<f32>() {
            Ok(score) => (id, score),
            Err(_) => (text, 1.0),
        },
        None => (text, 1.0),
    };
    let within = score > 0.0 && score <= 1.0;
    if !within {
        return Err("a score is a number above 0, up to 1".to_owned());
    }
    Ok(GivenSeed { id: term(id)?, score })
}

/// What is looked for.
pub(super) fn term(text: &str) -> Result<Term, String> {
    Term::try_from(text.to_owned()).map_err(|why| why.to_string())
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Recall => Self::Recall,
            ProfileName::Reference => Self::Reference,
        }
    }
}

/// Runs the verb.
pub async fn run(args: &RecallArgs, service: &Service, output: &Output) -> Result<(), CliError> {
    let now = service.instant(None).await?;
    print(args, &service.recall(service.scope(), args.request(now)?).await?, output)
}

/// Runs the verb on a graph that is no mirror's, at `now`.
pub fn run_on(
    args: &RecallArgs,
    view: &View,
    rules: &RecallConfig,
    now: Timestamp,
    output: &Output,
) -> Result<(), CliError> {
    print(args, &recall_in(view, &args.request(now)?, rules, now)?, output)
}

fn print(args: &RecallArgs, answer: &Recall, output: &Output) -> Result<(), CliError> {
    output.emit("recall", answer, |page| lay_out(answer, args.why, page))
}

impl RecallArgs {
    fn request(&self, now: Timestamp) -> Result<RecallRequest, CliError> {
        let resolved = self.since.map(|since| since.resolve(now)).transpose();
        let since = resolved.map_err(|why| CliError::usage("--since leads out of the calendar").why(why))?;
        let heard: Vec<Dimension> = self.dimensions.iter().map(|name| (*name).into()).collect();
        Ok(RecallRequest {
            text: self.words.join(" "),
            seeds: self.seeds.clone(),
            top_k: usize::from(self.top),
            kinds: self.kinds.clone(),
            tiers: self.tiers.clone(),
            since,
            session: self.session.clone(),
            profile: self.profile.into(),
            dimensions: Some(heard).filter(|heard| !heard.is_empty()),
            xlr: self.xlr.map(Into::into),
            priming: if self.no_prime { Some(false) } else { self.prime.then_some(true) },
            seed_mass: if self.subtract_seeds { SeedMass::Subtract } else { SeedMass::Keep },
            words: !self.no_words,
            why: self.why,
            ..RecallRequest::default()
        })
    }
}

/// The answer as a page: hits, and with reasons where each begins and how it was reached.
pub(super) fn lay_out(answer: &Recall, why: bool, page: &mut Page) {
    if answer.hits.is_empty() {
        page.line("Nothing comes to mind.");
    } else {
        let columns = [Column::right("SCORE"), Column::left("KIND"), Column::cut("ID"), Column::cut("SAYS")];
        let row = |hit: &Hit| {
            let says = hit.content.as_deref().unwrap_or(&hit.label).to_owned();
            [format!("{:.4}", hit.score), hit.kind.clone(), hit.id.clone(), says]
        };
        page.table(&columns, answer.hits.iter().map(row));
    }
    if why {
        reasons(answer, page);
    }
    for id in &answer.unknown_seeds {
        page.line(&format!("There is nothing called {id}."));
    }
    let stale = if answer.freshness.stale { ", which is long ago" } else { "" };
    page.line("");
    page.line(&format!(
        "Generation {}, as the graph was {} ms ago{stale}; {} nodes reached over {} of {} relationships read.",
        answer.generation,
        answer.freshness.stale_ms,
        answer.counters.nodes_touched,
        answer.counters.useful_slots,
        answer.counters.slots_read
    ));
    searched(answer.freshness.whole, answer.freshness.held_share, page);
    if answer.truncated {
        page.line(&format!("Cut short: {}.", answer.flags.join(", ")));
    }
}

/// Seeds that a page shows, and how much of what each is called.
const SEEDS_SHOWN: usize = 10;
const LABEL_CHARS: usize = 60;

fn reasons(answer: &Recall, page: &mut Page) {
    page.line("");
    page.heading("Where it began");
    for seed in answer.seeds.iter().take(SEEDS_SHOWN) {
        let grounds: Vec<String> = seed
            .evidence
            .iter()
            .flatten()
            .map(|one| {
                let ground = one.ground.name();
                if one.of.is_empty() { ground.to_owned() } else { format!("{ground} \"{}\"", one.of) }
            })
            .collect();
        let label: String = seed.label.chars().take(LABEL_CHARS).collect();
        page.line(&format!("  {:.4}  {label}  {}", seed.score, grounds.join(", ")));
    }
    if let Some(more) = answer.seeds.len().checked_sub(SEEDS_SHOWN).filter(|more| *more > 0) {
        page.line(&format!("  and {more} weaker ones"));
    }
    if !answer.primed.is_empty() {
        let joined = answer.primed.iter().map(|one| format!("{} ({:.4})", one.id, one.score));
        page.line(&format!("Joined by habit: {}.", joined.collect::<Vec<_>>().join(", ")));
    }
    if !answer.anti_seeds.is_empty() {
        page.line(&format!("Contrasted with {}.", answer.anti_seeds.join(", ")));
    }
    page.line("");
    page.heading("How each was reached");
    for hit in &answer.hits {
        let rank = hit.text_rank.map(|rank| format!("place {rank} by its words"));
        let steps = hit.steps.iter().flatten();
        let way: String = hit
            .path
            .iter()
            .take(1)
            .cloned()
            .chain(
                steps
                    .zip(hit.path.iter().skip(1))
                    .map(|(step, id)| format!(" -{} {:.2}-> {id}", step.kind, step.weight)),
            )
            .collect();
        let way = if way.is_empty() { None } else { Some(way) };
        let contrast = hit.contrast.as_ref().map(|found| {
            format!("contrast {:.2} (hot {:.3}, cold {:.3})", found.gate, found.hot, found.cold)
        });
        let reasons: Vec<String> = way.into_iter().chain(rank).chain(contrast).collect();
        page.line(&format!("  {}: {}", hit.id, reasons.join("; ")));
    }
}

impl From<Error> for CliError {
    fn from(why: Error) -> Self {
        match why {
            Error::Store(why) => why.into(),
            Error::Invalid(why) | Error::NotMirrored(why) => Self::usage(why),
            other => Self::failed(other),
        }
    }
}
