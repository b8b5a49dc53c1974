//! `ebb recall`: memories, entities and places by question; with `--why` their evidence.

use super::exit::CliError;
use super::instant::Moment;
use super::memory::{Condition, condition, metadata, source, tier_parser};
use super::output::{Format, Output};
use super::page::{Column, Page, searched};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args};
use ebb_core::api::context::{Context, ContextOptions, ContextOrder};
use ebb_core::api::recall::{GivenSeed, Hit, Recall, RecallRequest};
use ebb_core::domain::ids::Term;
use ebb_core::domain::tier::Tier;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::Service;
use ebb_core::service::recall::{
    Dimension, Error, Profile, RecallConfig, SeedMass, View, XlrMode, recall_in,
};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes of a file with an embedding that are read.
const EMBEDDING_BYTES_MAX: u64 = 1 << 20;

/// `ebb recall`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  ebb recall \"who maintains the parser\"\n  ebb recall \"deployment\" --top 5 --kind Memory --why\n  ebb recall --seed Alex --seed ProjectAlpha=0.5\n  ebb recall \"who left\" --embedding question.json\n  ebb recall \"staging\" --context 800 --min-relevance 0.1"
)]
#[command(group(ArgGroup::new("question").args(["words", "seeds", "embedding"]).required(true).multiple(true)))]
pub struct RecallArgs {
    /// The search.
    #[command(flatten)]
    pub search: SearchArgs,
    /// Use this snapshot file (JSON version 3) instead of the database; its labels are the texts
    #[arg(long, value_name = "FILE", conflicts_with = "embedding")]
    pub graph: Option<PathBuf>,
    /// Print the memories as text for a prompt, of at most so many tokens, each with its date and id
    #[arg(long, value_name = "TOKENS", conflicts_with_all = ["graph", "why", "top"], value_parser = clap::value_parser!(u16).range(1..=16_000))]
    pub context: Option<u16>,
    /// Order of the memories in this text
    #[arg(long, value_name = "ORDER", default_value = "time", requires = "context", value_parser = choice(ORDERS))]
    pub order: ContextOrder,
    /// Show the evidence for each seed and the path to each hit
    #[arg(long)]
    pub why: bool,
}

/// A question, and the options of its search.
#[derive(Debug, Clone, Args)]
pub struct SearchArgs {
    /// Question
    #[arg(value_name = "WORDS")]
    pub words: Vec<String>,
    /// Start at the node with this id (of an entity: its name); =SCORE weights it, up to 1
    #[arg(long = "seed", value_name = "ID[=SCORE]", value_parser = seed)]
    pub seeds: Vec<GivenSeed>,
    /// File with the embedding of the question, a JSON list of numbers; - reads it from stdin
    #[arg(long, value_name = "FILE", conflicts_with = "no_words")]
    pub embedding: Option<PathBuf>,
    /// Maximum number of hits
    #[arg(long, value_name = "K", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub top: u16,
    /// Leave out hits that are less relevant, from 0 to 1; 0.1 leaves out most of what does not answer the question
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub min_relevance: Option<f32>,
    /// Only nodes with this label, such as Memory; may be repeated
    #[arg(long = "kind", value_name = "LABEL", value_parser = term)]
    pub kinds: Vec<Term>,
    /// Only memories of this tier; may be repeated
    #[arg(long = "tier", value_name = "TIER", value_parser = tier_parser())]
    pub tiers: Vec<Tier>,
    /// Only nodes used since: RFC 3339, a date, or relative such as -3h
    #[arg(long, value_name = "INSTANT", allow_hyphen_values = true)]
    pub since: Option<Moment>,
    /// Only memories created in this session
    #[arg(long, value_name = "ID", value_parser = term)]
    pub session: Option<Term>,
    /// Only memories with this tag; may be repeated
    #[arg(long = "tag", value_name = "TAG", value_parser = term)]
    pub tags: Vec<Term>,
    /// Only memories whose metadata fulfils this: topic=travel, 'year>=2020'; may be repeated
    #[arg(long = "where", value_name = "CONDITION", value_parser = condition)]
    pub conditions: Vec<Condition>,
    /// Rule by which activation spreads
    #[arg(long, value_name = "PROFILE", default_value = "recall", value_parser = choice(PROFILES))]
    pub profile: Profile,
    /// Kinds of evidence to use, comma-separated [default: engine.dimensions]
    #[arg(long = "dimension", value_name = "KIND", value_delimiter = ',', value_parser = choice(DIMENSIONS))]
    pub dimensions: Vec<Dimension>,
    /// Contrast (XLR) with other parts of the graph [default: engine.xlr]
    #[arg(long, value_name = "HOW", value_parser = choice(XLR))]
    pub xlr: Option<XlrMode>,
    // A process of one question has no earlier ones, so nothing is added there.
    /// Add nodes that appeared with the seeds in earlier questions [default: engine.priming]
    #[arg(long, conflicts_with = "no_prime")]
    pub prime: bool,
    /// Add no such nodes
    #[arg(long)]
    pub no_prime: bool,
    /// Score a seed by the activation that returns to it, without its initial activation
    #[arg(long)]
    pub subtract_seeds: bool,
    /// Do not search the text of memories (BM25)
    #[arg(long)]
    pub no_words: bool,
}

/// Profiles by name.
pub(super) const PROFILES: [(&str, &str, Profile); 2] = [
    ("recall", "Activation adds up, and neighbours share it", Profile::Recall),
    ("reference", "Only the strongest activation counts", Profile::Reference),
];
/// Kinds of evidence by name.
const DIMENSIONS: [(&str, &str, Dimension); 4] = [
    ("structural", "Activation over relationships from the seeds", Dimension::Structural),
    ("semantic", "Similar name, or co-occurrence with such nodes", Dimension::Semantic),
    ("temporal", "Freshness, or change together with the seeds", Dimension::Temporal),
    ("causal", "Causal edges to or from the seeds", Dimension::Causal),
];
/// Orders of a text by name.
const ORDERS: [(&str, &str, ContextOrder); 2] =
    [("time", "The oldest first", ContextOrder::Time), ("rank", "The best first", ContextOrder::Rank)];
/// Uses of contrast (XLR) by name.
const XLR: [(&str, &str, XlrMode); 3] = [
    ("off", "No contrast", XlrMode::Off),
    ("gate", "Lower the score of nodes that any question would reach", XlrMode::Gate),
    ("report", "Report contrast with --why and in JSON, without changing scores", XlrMode::Report),
];

/// Parses one of several names, each with its line of help and its value.
pub(super) fn choice<T: Copy + Send + Sync + 'static, const N: usize>(
    choices: [(&'static str, &'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    let names = choices.map(|(name, help, _)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(names).try_map(move |name| {
        let known = choices.iter().find(|(known, ..)| *known == name);
        known.map(|(.., value)| *value).ok_or("not one of the names")
    })
}

/// A seed: an id and its weight.
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

/// A number from 0 to 1.
fn share(text: &str) -> Result<f32, String> {
    let number = text.parse::<f32>().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "it is a number from 0 to 1".to_owned())
}

/// A checked term.
pub(super) fn term(text: &str) -> Result<Term, String> {
    Term::try_from(text.to_owned()).map_err(|why| why.to_string())
}

/// Runs the verb.
pub async fn run(args: &RecallArgs, service: &Service, output: &Output) -> Result<(), CliError> {
    let request = RecallRequest { why: args.why, ..args.search.asked(service).await? };
    if let Some(max_tokens) = args.context {
        let options = ContextOptions { max_tokens: usize::from(max_tokens), order: args.order };
        let context = service.context(service.scope(), request, options).await?;
        return print_context(&context, output);
    }
    print(args, &service.recall(service.scope(), request).await?, output)
}

/// The numbers of a file, or of standard input.
fn embedding(file: &Path) -> Result<Vec<f32>, CliError> {
    let name = file.display();
    // A byte more shows that it is too long.
    let limit = EMBEDDING_BYTES_MAX + 1;
    let read = match file.to_str() {
        Some("-") => io::read_to_string(io::stdin().lock().take(limit)),
        _ => File::open(file).and_then(|file| io::read_to_string(file.take(limit))),
    };
    let text =
        read.map_err(|why| CliError::usage(format!("the embedding {name} cannot be read")).why(why))?;
    if text.len() as u64 > EMBEDDING_BYTES_MAX {
        return Err(CliError::usage(format!(
            "the embedding {name} has more than {EMBEDDING_BYTES_MAX} bytes"
        )));
    }
    serde_json::from_str(&text).map_err(|why| {
        CliError::usage(format!("the embedding {name} is no JSON list of numbers, such as [0.1, -0.2]"))
            .why(why)
    })
}

/// Runs the verb on the graph of a file, at `now`.
pub fn run_on(
    args: &RecallArgs,
    view: &View,
    rules: &RecallConfig,
    now: Timestamp,
    output: &Output,
) -> Result<(), CliError> {
    let request = RecallRequest { why: args.why, ..args.search.request(now)? };
    print(args, &recall_in(view, &request, rules, now)?, output)
}

fn print(args: &RecallArgs, answer: &Recall, output: &Output) -> Result<(), CliError> {
    output.emit("recall", answer, |page| lay_out(answer, args.why, page))
}

impl SearchArgs {
    /// The request, with the embedding of its file.
    pub(super) async fn asked(&self, service: &Service) -> Result<RecallRequest, CliError> {
        let now = service.instant(None).await?;
        let file = self.embedding.clone();
        // Standard input is read by a thread of its own, so that an interrupt is heard meanwhile.
        let embedding = tokio::task::spawn_blocking(move || file.as_deref().map(embedding).transpose()).await;
        let embedding =
            embedding.map_err(|why| CliError::failed("the embedding was not read").why(why))??;
        Ok(RecallRequest { embedding, ..self.request(now)? })
    }

    fn request(&self, now: Timestamp) -> Result<RecallRequest, CliError> {
        let resolved = self.since.map(|since| since.resolve(now)).transpose();
        let since = resolved.map_err(|why| CliError::usage("--since leads out of the calendar").why(why))?;
        Ok(RecallRequest {
            text: self.words.join(" "),
            seeds: self.seeds.clone(),
            top_k: usize::from(self.top),
            min_relevance: self.min_relevance,
            kinds: self.kinds.clone(),
            tiers: self.tiers.clone(),
            since,
            session: self.session.clone(),
            tags: self.tags.clone(),
            metadata: metadata(&self.conditions)?,
            profile: self.profile,
            dimensions: Some(self.dimensions.clone()).filter(|kinds| !kinds.is_empty()),
            xlr: self.xlr,
            priming: if self.no_prime { Some(false) } else { self.prime.then_some(true) },
            seed_mass: if self.subtract_seeds { SeedMass::Subtract } else { SeedMass::Keep },
            words: !self.no_words,
            ..RecallRequest::default()
        })
    }
}

/// Lays out the hits, and with `why` the seeds and paths.
pub(super) fn lay_out(answer: &Recall, why: bool, page: &mut Page) {
    if answer.hits.is_empty() {
        page.line(if answer.flags.contains(&"nothing_relevant") { "Nothing relevant." } else { "No hits." });
    } else {
        table(&answer.hits, page);
    }
    if why {
        reasons(answer, page);
    }
    for id in &answer.unknown_seeds {
        page.line(&format!("No node is named {id}."));
    }
    let stale = if answer.freshness.stale { " (stale)" } else { "" };
    page.line("");
    page.line(&format!(
        "Generation {}, refreshed {} ms ago{stale}; {} nodes reached over {} of {} relationships read.",
        answer.generation,
        answer.freshness.stale_ms,
        answer.counters.nodes_touched,
        answer.counters.useful_slots,
        answer.counters.slots_read
    ));
    searched(answer.freshness.whole, answer.freshness.held_share, page);
    if answer.truncated {
        page.line(&format!("Truncated: {}.", answer.flags.join(", ")));
    }
}

/// Prints a text for a prompt, and nothing else, so that it can be piped; the rest is remarked on stderr.
fn print_context(context: &Context, output: &Output) -> Result<(), CliError> {
    if output.is_requested(Format::Json) || output.is_requested(Format::Ndjson) {
        return output.emit("recall.context", context, |_| ());
    }
    for id in &context.unknown_seeds {
        output.remark(&format!("no node is named {id}"));
    }
    match (context.memories.len(), context.omitted) {
        (0, 0) if context.flags.contains(&"nothing_relevant") => output.remark("nothing relevant"),
        (0, 0) => output.remark("no hits"),
        (_, 0) => (),
        (_, omitted) => {
            output.remark(&format!("{omitted} hits did not fit into the tokens; raise --context"))
        }
    }
    if context.freshness.stale {
        output.remark(&format!("refreshed {} ms ago (stale)", context.freshness.stale_ms));
    }
    if !context.text.is_empty() {
        output.raw(format!("{}\n", context.text).as_bytes())?;
    }
    Ok(())
}

/// Hits as a table, with columns of tags and sources where a hit has any.
fn table(hits: &[Hit], page: &mut Page) {
    let tagged = hits.iter().any(|hit| !hit.tags.is_empty());
    let sourced = hits.iter().any(|hit| hit.provenance.is_some());
    let mut columns =
        vec![Column::right("SCORE"), Column::right("RELEVANCE"), Column::left("KIND"), Column::cut("ID")];
    columns.extend(tagged.then_some(Column::cut("TAGS")));
    columns.extend(sourced.then_some(Column::cut("SOURCE")));
    columns.push(Column::cut("CONTENT"));
    let row = |hit: &Hit| {
        let relevance = hit.relevance.map_or_else(String::new, |relevance| format!("{relevance:.2}"));
        let mut row = vec![format!("{:.4}", hit.score), relevance, hit.kind.clone(), hit.id.clone()];
        row.extend(tagged.then(|| hit.tags.join(", ")));
        row.extend(sourced.then(|| hit.provenance.as_ref().map_or_else(String::new, source)));
        row.push(hit.content.as_deref().unwrap_or(&hit.label).to_owned());
        row
    };
    page.table(&columns, hits.iter().map(row));
}

/// Seeds that a page shows, and the longest label of one.
const SEEDS_SHOWN: usize = 10;
const LABEL_CHARS: usize = 60;

fn reasons(answer: &Recall, page: &mut Page) {
    page.line("");
    page.heading("Seeds");
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
        page.line(&format!("Primed: {}.", joined.collect::<Vec<_>>().join(", ")));
    }
    if !answer.anti_seeds.is_empty() {
        page.line(&format!("Contrasted with {}.", answer.anti_seeds.join(", ")));
    }
    page.line("");
    page.heading("Paths");
    for hit in &answer.hits {
        let rank = hit.text_rank.map(|rank| format!("rank {rank} by text"));
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
        let similar = hit.similarity.map(|similarity| format!("similarity {similarity:.2}"));
        let stored = hit.from_database.then(|| "from the database".to_owned());
        let reasons = way.into_iter().chain(rank).chain(similar).chain(stored).chain(contrast);
        let mut reasons: Vec<String> = reasons.collect();
        if reasons.is_empty() {
            reasons.push("next to a hit in its session".to_owned());
        }
        page.line(&format!("  {}: {}", hit.id, reasons.join("; ")));
    }
}

impl From<Error> for CliError {
    fn from(why: Error) -> Self {
        match why {
            Error::Store(why) => why.into(),
            Error::Invalid(why) => Self::usage(why),
            other => Self::failed(other),
        }
    }
}
