//! `ebb memory`: single memories.

mod conditions;
mod explain;
mod layout;
mod read;
mod write;

pub(super) use conditions::{Condition, condition, metadata};
pub(super) use explain::energy_plot;
pub(super) use layout::source;

use super::exit::CliError;
use super::output::Output;
use super::{Global, ReadOptions, WriteOptions};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use conditions::{Conditions, field};
use ebb_core::domain::annotations::Provenance;
use ebb_core::domain::ids::{MemoryId, MemoryKey};
use ebb_core::domain::tier::Tier;
use ebb_core::service::Service;
use serde_json::Value;
use std::io::Read;

/// The verbs of `ebb memory`.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Examples:
  ebb memory add \"the build needs JAVA_HOME\" --session s1 --mention build
  ebb memory list --tier working
  ebb memory explain ID")]
pub enum Verb {
    /// Add a memory: tier working, energy 1
    Add(Add),
    /// Record an access: +1 energy; an expired memory is revived
    Access(Access),
    /// Show a memory
    #[command(after_help = "Examples:\n  ebb memory explain ID\n  ebb memory show ID --at +2d -o json")]
    Show {
        /// Id of the memory
        #[arg(value_name = "ID")]
        id: String,
        /// Read options.
        #[command(flatten)]
        when: ReadOptions,
    },
    /// List memories with their current energy
    List(List),
    /// Change the content, the tags or the metadata of a memory; former versions are kept
    Update(Update),
    /// Show what a memory was before each change
    Versions {
        /// Id of the memory
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Pin memories: no decay, expiry or promotion
    Pin {
        /// Ids of the memories
        #[arg(value_name = "ID", required = true)]
        ids: Vec<String>,
        /// Write options.
        #[command(flatten)]
        write: WriteOptions,
    },
    /// Unpin memories: decay continues from now
    Unpin {
        /// Ids of the memories
        #[arg(value_name = "ID", required = true)]
        ids: Vec<String>,
        /// Write options.
        #[command(flatten)]
        write: WriteOptions,
    },
    /// Delete memories for good, with the stubs of their promotions
    Forget(Forget),
    /// List groups of memories that say nearly the same in the same words
    #[command(after_help = "\
The first of a group is the one to keep: pinned, else of the highest tier, else with the most energy. Similarity is the share of the words and pairs of adjacent words of either
text that both have.

Examples:
  ebb memory duplicates
  ebb memory duplicates --min-similarity 0.95 --limit 10
  ebb memory merge ID DUPLICATE --dry-run")]
    Duplicates {
        /// Least similarity, 0.3 to 1
        #[arg(long, value_name = "S", default_value_t = 0.8)]
        min_similarity: f64,
        /// Maximum number of groups
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: u32,
        /// Read options.
        #[command(flatten)]
        when: ReadOptions,
    },
    /// Merge memories that say the same into one, and delete them
    #[command(after_help = "\
The kept memory gets the energies, accesses, tags, metadata and mentions of all; its own metadata wins. The texts of the others
stay readable: `ebb memory versions ID`. They are deleted as by `ebb memory forget`. Asks for confirmation; in a pipe it needs --yes.

Examples:
  ebb memory merge ID DUPLICATE --dry-run
  ebb memory merge ID DUPLICATE DUPLICATE --yes")]
    Merge {
        /// Id of the memory to keep
        #[arg(value_name = "ID")]
        id: String,
        /// Ids of the memories to merge into it, at most 50
        #[arg(value_name = "DUPLICATE", required = true)]
        duplicates: Vec<String>,
        /// Write options.
        #[command(flatten)]
        write: WriteOptions,
    },
    /// Show why a memory has its energy and tier, and when it crosses which threshold
    #[command(after_help = "Examples:\n  ebb memory explain ID\n  ebb memory show ID --at +2d -o json")]
    Explain {
        /// Id of the memory
        #[arg(value_name = "ID")]
        id: String,
        /// Read options.
        #[command(flatten)]
        when: ReadOptions,
    },
}

/// Runs a verb.
pub async fn run(verb: &Verb, service: &Service, output: &Output, global: &Global) -> Result<(), CliError> {
    match verb {
        Verb::Add(args) => write::add(args, service, output, global).await,
        Verb::Access(args) => write::access(args, service, output, global).await,
        Verb::Pin { ids, write } => write::pin(ids, write, true, service, output, global).await,
        Verb::Unpin { ids, write } => write::pin(ids, write, false, service, output, global).await,
        Verb::Forget(args) => write::forget(args, service, output, global).await,
        Verb::Duplicates { min_similarity, limit, when } => {
            read::duplicates((*min_similarity, *limit), when, service, output).await
        }
        Verb::Merge { id, duplicates, write } => {
            write::merge((id, duplicates), write, service, output, global).await
        }
        Verb::Show { id, when } => read::show(id, when, service, output).await,
        Verb::List(args) => read::list(args, service, output).await,
        Verb::Update(args) => write::update(args, service, output, global).await,
        Verb::Versions { id } => read::versions(id, service, output).await,
        Verb::Explain { id, when } => explain::explain(id, when, service, output).await,
    }
}

/// The id of a memory as it was typed.
fn memory_id(text: &str) -> Result<MemoryId, CliError> {
    MemoryId::new(text).map_err(CliError::usage)
}

/// The memory of the id that was typed, in the scope of this command.
pub(super) fn key(text: &str, service: &Service) -> Result<MemoryKey, CliError> {
    Ok(MemoryKey::new(service.scope(), &memory_id(text)?))
}

/// `ebb memory add`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
An id that exists with the same content counts as an access, and its tags and its source are merged with the given ones; with
other content it is refused.

Examples:
  ebb memory add \"prefers tabs\" --session s1 --mention editor --mention style
  ebb memory add \"retry three times\" --tag api --source docs/api.md --lines 10-20
  git log -1 --format=%B | ebb memory add - --session s1")]
pub struct Add {
    /// Content, or - to read it from standard input
    #[arg(value_name = "CONTENT")]
    pub content: String,
    /// Id [default: a new one]
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// Session of the write
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Agent instance of the write
    #[arg(long, value_name = "ID")]
    pub instance: Option<String>,
    /// Entity that it mentions; may be repeated
    #[arg(long = "mention", value_name = "NAME")]
    pub mentions: Vec<String>,
    /// Tag, by which recall finds it too; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Field of your own, such as topic=travel; the value is JSON or text; may be repeated
    #[arg(long = "metadata", value_name = "FIELD=VALUE", value_parser = field)]
    pub metadata: Vec<(String, Value)>,
    /// Source of the content.
    #[command(flatten)]
    pub source: Source,
    /// Pin it: no decay, expiry or promotion
    #[arg(long)]
    pub pinned: bool,
    /// Embedding: comma-separated numbers, as many as embedding.dimensions says
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    pub embedding: Option<Vec<f64>>,
    /// Write options.
    #[command(flatten)]
    pub write: WriteOptions,
}

/// The source of a content.
#[derive(Debug, Clone, Args)]
pub struct Source {
    /// Path of the file that the content is from
    #[arg(long = "source", value_name = "PATH")]
    pub path: Option<String>,
    /// Lines of that file: the first and the last, or one
    #[arg(long, value_name = "FIRST-LAST", value_parser = lines)]
    pub lines: Option<(u32, u32)>,
    /// Excerpt of the source
    #[arg(long, value_name = "TEXT")]
    pub excerpt: Option<String>,
    /// Namespace of the source
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Mark the source as the original
    #[arg(long)]
    pub canonical: bool,
}

/// `ebb memory access`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
One memory is printed as an object, several as a list. If one id fails, nothing is written.

Examples:
  ebb memory access ID --session s2
  ebb memory access ID1 ID2 --at -10m")]
pub struct Access {
    /// Ids of the memories
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
    /// Session of the write
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Fail on an expired memory instead of reviving it
    #[arg(long)]
    pub no_revive: bool,
    /// Write options.
    #[command(flatten)]
    pub write: WriteOptions,
}

/// `ebb memory update`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
What is not given stays as it is. This is no access: energy and tier stay as they are.

Examples:
  ebb memory update ID --content \"prefers spaces\"
  ebb memory update ID --metadata topic=editor --unset draft --tag style")]
pub struct Update {
    /// Id of the memory
    #[arg(value_name = "ID")]
    pub id: String,
    /// New content; the embedding of the former one is removed
    #[arg(long, value_name = "TEXT")]
    pub content: Option<String>,
    /// New tags, in place of the former ones; may be repeated
    #[arg(long = "tag", value_name = "TAG", conflicts_with = "no_tags")]
    pub tags: Vec<String>,
    /// Remove all tags
    #[arg(long)]
    pub no_tags: bool,
    /// Field of the metadata to set; the value is JSON or text; may be repeated
    #[arg(long = "metadata", value_name = "FIELD=VALUE", value_parser = field)]
    pub metadata: Vec<(String, Value)>,
    /// Field of the metadata to remove; may be repeated
    #[arg(long, value_name = "FIELD")]
    pub unset: Vec<String>,
    /// Embedding of the content: comma-separated numbers
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    pub embedding: Option<Vec<f64>>,
    /// Write options.
    #[command(flatten)]
    pub write: WriteOptions,
}

/// `ebb memory list`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  ebb memory list --tier longTerm
  ebb memory list --where topic=travel --where 'year>=2020' --newest
  ebb memory list --session s1 --limit 0 -o ndjson")]
pub struct List {
    /// Conditions.
    #[command(flatten)]
    pub conditions: Conditions,
    /// The newest first, instead of by id
    #[arg(long)]
    pub newest: bool,
    /// Maximum number of memories; 0 lists all
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: u32,
    /// Read options.
    #[command(flatten)]
    pub when: ReadOptions,
}

/// `ebb memory forget`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
This cannot be undone: the memories, the stubs of their promotions and all their relationships are deleted, and import and
replay will not bring them back. With conditions in place of ids, all memories that fulfil them are deleted. Asks for confirmation; in a pipe it needs --yes. A guard stops a deletion of more than a
fifth of a scope and more than 50 memories, and names the number to accept.

Examples:
  ebb memory forget ID --dry-run
  ebb memory forget ID --yes
  ebb memory forget --tag draft --created-before -30d --dry-run")]
pub struct Forget {
    /// Ids of the memories
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// Conditions.
    #[command(flatten)]
    pub conditions: Conditions,
    /// Override the guard: the number of memories it named
    #[arg(long, value_name = "N")]
    pub accept_affected: Option<i64>,
    /// Write options.
    #[command(flatten)]
    pub write: WriteOptions,
}

/// A range of lines, or one line.
fn lines(text: &str) -> Result<(u32, u32), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) => Ok((first, last)),
        _ => Err("lines are two whole numbers with a hyphen between them, such as 10-20, or one".to_owned()),
    }
}

impl Source {
    fn provenance(&self) -> Provenance {
        let Self { path, lines, excerpt, namespace, canonical } = self.clone();
        Provenance {
            source_path: path,
            line_start: lines.map(|(first, _)| first),
            line_end: lines.map(|(_, last)| last),
            excerpt,
            namespace,
            canonical,
        }
    }
}

pub(super) fn tier_parser() -> impl TypedValueParser<Value = Tier> {
    PossibleValuesParser::new(Tier::ALL.map(Tier::name))
        .try_map(|name| Tier::named(&name).ok_or("not the name of a tier"))
}

impl Add {
    /// The content: the argument, or all of `stdin` where it is `-`, without the last line break.
    pub fn content(&self, stdin: &mut dyn Read) -> Result<String, CliError> {
        if self.content != "-" {
            return Ok(self.content.clone());
        }
        let mut text = String::new();
        stdin.read_to_string(&mut text).map_err(|error| {
            CliError::usage("standard input cannot be read as text")
                .why(error)
                .try_this("ebb memory add \"CONTENT\"")
        })?;
        let line_break = text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text).len());
        text.truncate(line_break.unwrap_or(text.len()));
        Ok(text)
    }
}
