//! `ebb backup` and `ebb restore`: all that is Ebb's in a database, in a file.

use super::Global;
use super::confirm::confirm;
use super::exit::CliError;
use super::output::Output;
use super::progress::Progress;
use clap::Args;
use ebb_core::service::Service;
use ebb_core::service::backup::file::Checked;
use ebb_core::service::backup::{Backup, BackupCounts, Restored, RowsDone};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// `ebb backup`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
The file holds memories with their versions, sessions, entities, relations, facts, trails, clusters, learned weights, policies, keys, the
ledger of jobs, and the states of rows of other libraries by their keys. Rows of other libraries are not in it.

Examples:
  ebb backup memories.ndjson
  ebb backup memories.ndjson --yes     replaces a file that is there")]
pub struct BackupArgs {
    /// File to write
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// `ebb restore`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Only into a database without rows of Ebb's. A restore that was broken off starts again with the same command.

Examples:
  ebb restore memories.ndjson --dry-run
  ebb restore --abandon
  env -u NEO4J_URI EBB__NEO4J__HOME=.ebb/restored ebb restore memories.ndjson     a managed server")]
pub struct RestoreArgs {
    /// File to read
    #[arg(value_name = "FILE", required_unless_present = "abandon", conflicts_with = "abandon")]
    pub file: Option<PathBuf>,
    /// Check the file and the database, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Delete the rows of a restore that was broken off; asks, in a pipe it needs --yes
    #[arg(long, conflicts_with = "dry_run")]
    pub abandon: bool,
}

#[derive(Serialize)]
struct BackupAnswer<'a> {
    uri: &'a str,
    file: &'a Path,
    nodes: u64,
    relationships: u64,
    relationships_to_others: i64,
    left_out: LeftOut,
    bytes: u64,
    sha256: String,
    changed_meanwhile: bool,
}

/// Rows of the documented shape that are not in a backup.
#[derive(Serialize)]
struct LeftOut {
    memories: i64,
    facts: i64,
    entities: i64,
    relations: i64,
    edges: i64,
}

impl LeftOut {
    fn of(counts: &BackupCounts) -> Self {
        let &BackupCounts { memories, facts, entities, relations, edges, .. } = counts;
        Self { memories, facts, entities, relations, edges }
    }

    /// Those that a run of all jobs takes over; empty without any.
    fn waiting(&self) -> String {
        let counts = [
            (self.memories, "memories"),
            (self.facts, "facts"),
            (self.entities, "entities"),
            (self.relations, "relations"),
        ];
        let some = counts.iter().filter(|(rows, _)| *rows > 0);
        some.map(|(rows, what)| format!("{rows} {what}")).collect::<Vec<_>>().join(", ")
    }
}

#[derive(Serialize)]
struct RestoreAnswer<'a> {
    uri: &'a str,
    made_at: String,
    made_by: String,
    database_schema: String,
    nodes: u64,
    relationships: u64,
    keys: u64,
    relationships_left_out: u64,
    states: usize,
    states_without_row: usize,
    dry_run: bool,
}

/// Runs `ebb backup`.
pub async fn backup(
    args: &BackupArgs,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let file = args.file.as_path();
    if file.exists() {
        confirm(&format!("{} exists. Replace it?", file.display()), global.yes).await?;
    }
    let mut progress = RowProgress::new(output);
    let done = service.backup(file, &mut |done| progress.at(done)).await?;
    drop(progress);
    let Backup { written, counts, changed_meanwhile } = done;
    let uri = service.store().uri();
    let answer = BackupAnswer {
        uri,
        file,
        nodes: written.nodes,
        relationships: written.relationships,
        relationships_to_others: counts.outward,
        left_out: LeftOut::of(&counts),
        bytes: written.bytes,
        sha256: written.checksum,
        changed_meanwhile,
    };
    output.emit("backup", &answer, |page| {
        page.paragraph(&format!(
            "Wrote {} nodes and {} relationships of the database at {uri} to {}.",
            answer.nodes,
            answer.relationships,
            file.display()
        ));
        if counts.outward > 0 {
            page.paragraph(&format!(
                "Not in it: {} relationships to rows that are not in it, such as those of other libraries.",
                counts.outward
            ));
        }
        let waiting = answer.left_out.waiting();
        if !waiting.is_empty() {
            page.paragraph(&format!(
                "Not in it: {waiting}, not taken over yet; ebb job run --all, then run this command again."
            ));
        }
        if counts.edges > 0 {
            page.paragraph(&format!(
                "Not in it: {} edges of trails with an end that has neither a scope nor a pheromone. Give these places a \
                 scope in Neo4j Browser, such as 'local', then run this command again.",
                counts.edges
            ));
        }
        if changed_meanwhile {
            page.paragraph(
                "Ebb wrote to the database meanwhile, so the file may hold a part of these writes. For an exact copy, stop \
                 its processes and repeat the command.",
            );
        }
    })
}

/// Runs `ebb restore`. Asks before it changes anything.
pub async fn restore(
    args: &RestoreArgs,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let uri = service.store().uri();
    let Some(file) = args.file.as_deref() else { return abandon(service, output, global).await };
    let Checked { header, written, keys } = match args.dry_run {
        true => service.check_restore(file).await?,
        false => service.check_backup(file).await?,
    };
    let mut answer = RestoreAnswer {
        uri,
        made_at: header.at,
        made_by: header.version,
        database_schema: header.schema,
        nodes: written.nodes,
        relationships: written.relationships,
        keys,
        relationships_left_out: 0,
        states: 0,
        states_without_row: 0,
        dry_run: args.dry_run,
    };
    let mut rows = format!("{} nodes and {} relationships", answer.nodes, answer.relationships);
    if keys > 0 {
        rows += &format!(", and {keys} of the nodes are API keys, whose holders have access then");
    }
    if !args.dry_run {
        confirm(&format!("Restore {rows} into the database at {uri}?"), global.yes).await?;
        let mut progress = RowProgress::new(output);
        let done: Restored = service.restore(file, &mut |done| progress.at(done)).await?;
        drop(progress);
        answer.relationships = done.relationships;
        answer.relationships_left_out = done.left_out;
        (answer.states, answer.states_without_row) = (done.states, done.states_without_row);
    }
    output.emit("restore", &answer, |page| {
        let of = format!("the backup of {} by Ebb {}", answer.made_at, answer.made_by);
        if answer.dry_run {
            page.paragraph(&format!("{} is {of}, with {rows}. Nothing was written.", file.display()));
            return;
        }
        page.paragraph(&format!(
            "The database at {uri} holds {of}: {} nodes and {} relationships.",
            answer.nodes, answer.relationships
        ));
        if keys > 0 {
            page.paragraph(&format!(
                "{keys} of the nodes are API keys, whose holders have access: ebb key list, and ebb key revoke ID."
            ));
        }
        if answer.relationships_left_out > 0 {
            page.paragraph(&format!(
                "{} relationships were left out: an end of each is not in the backup, since it was written meanwhile.",
                answer.relationships_left_out
            ));
        }
        if answer.states > 0 {
            page.paragraph(&format!(
                "States of rows of other libraries: {}, of which {} name a row that is not in this database or that no \
                 mapping names. They hold as soon as it is there.",
                answer.states, answer.states_without_row
            ));
        }
    })
}

#[derive(Serialize)]
struct AbandonAnswer<'a> {
    uri: &'a str,
    abandoned: bool,
}

/// Runs `ebb restore --abandon`.
async fn abandon(service: &Service, output: &Output, global: &Global) -> Result<(), CliError> {
    let uri = service.store().uri();
    confirm(&format!("Delete what a restore wrote into the database at {uri}?"), global.yes).await?;
    let answer = AbandonAnswer { uri, abandoned: service.abandon_restore().await? };
    output.emit("restore", &answer, |page| {
        page.paragraph(&match answer.abandoned {
            true => format!("Deleted what the restore into the database at {uri} had written. Tunables that it had replaced are those of the configuration."),
            false => format!("No restore into the database at {uri} was broken off."),
        });
    })
}

/// Progress through the rows of a backup.
pub(super) struct RowProgress<'a> {
    output: &'a Output,
    bar: Option<Progress>,
}

impl<'a> RowProgress<'a> {
    pub(super) fn new(output: &'a Output) -> Self {
        Self { output, bar: None }
    }

    /// The bar appears with the first rows, when their number is known.
    pub(super) fn at(&mut self, done: RowsDone) {
        let bar = self.bar.get_or_insert_with(|| Progress::new(self.output, "rows", Some(done.total)));
        bar.at(done.rows);
    }
}
