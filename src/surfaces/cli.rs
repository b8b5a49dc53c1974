//! The command line: `ebb`.
//!
//! stdout is data and nothing else; progress, logs, questions and errors go to stderr, so that a pipe always carries
//! what it promises. The arguments of a group of verbs are in the file named after it, and their doc comments are the
//! help that users read. What every verb shares is here ([`Global`], [`ReadOptions`], [`WriteOptions`]); answers are printed by
//! [`output`], errors by [`exit`].
//!
//! Invariant: the help of every verb is what a golden file says (held by `tests::the_help_of_every_verb`).

pub mod adopt;
pub mod adopted;
pub mod attempt;
pub mod backup;
pub mod config;
pub mod confirm;
pub mod demo;
pub mod docs;
pub mod engine;
pub mod eval;
pub mod events;
pub mod exit;
pub mod fact;
mod failure;
pub mod graph;
pub mod inspect;
pub mod instant;
pub mod job;
pub mod key;
pub mod memory;
pub mod neo4j;
pub mod outcome;
pub mod output;
pub mod page;
pub mod plan;
pub mod plot;
pub mod policy;
pub mod progress;
pub mod recall;
pub mod relation;
pub mod report;
pub mod scope;
pub mod serve;
pub mod server;
pub mod session;
#[cfg(test)]
mod tests;
pub mod trail;
pub mod why_not;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use confirm::confirm;
use ebb_core::clock::SKEW_MAX;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::Service;
use ebb_core::service::memories::{RequestId, WriteMode};
use exit::CliError;
use instant::Moment;
use output::{Format, Output};
use std::path::PathBuf;

/// Maintain agent memory in Neo4j: decay, promotion, expiry, recall, learning
///
/// Uses the Neo4j server of NEO4J_URI, or a managed local one. `ebb demo` shows everything on a scratch server.
#[derive(Debug, Parser)]
#[command(name = "ebb", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Cli {
    /// Options of every verb.
    #[command(flatten)]
    pub global: Global,
    /// The verb.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  ebb demo                                     see decay, promotion and expiry on a scratch server
  ebb init                                     prepare the database
  ebb memory add \"prefers tabs\" --session s1   add a memory
  ebb job run decay                            update the energy of every memory
  ebb memory explain ID                        show why a memory has its energy and tier

Exit codes: 0 ok, 1 failed, 2 usage, 3 declined, 4 not allowed, 5 database unreachable,
6 configuration invalid, 7 doctor, status or eval found problems, 8 stopped by a guard, 130 interrupted";

/// The end of the help of a verb: the options of every verb are only in that of the program.
const GLOBAL_HELP: &str = "Global options: see `ebb help`";

/// The program whose verbs show their own options alone.
#[must_use]
pub fn with_short_help(mut program: clap::Command) -> clap::Command {
    // Verbs get the options of every verb by this.
    program.build();
    program.mut_subcommands(with_own_options)
}

fn with_own_options(verb: clap::Command) -> clap::Command {
    let after = verb.get_after_help().map(|after| format!("{}\n\n", filled(&after.to_string())));
    verb.mut_args(|arg| match arg.is_global_set() {
        true => arg.hide_short_help(true).hide_long_help(true),
        false => arg,
    })
    .after_help(format!("{}{GLOBAL_HELP}", after.unwrap_or_default()))
    .mut_subcommands(with_own_options)
}

/// A text whose paragraphs are one line each, which help breaks at the width of the terminal; those with indented lines,
/// such as examples, stay as they are.
fn filled(text: &str) -> String {
    let fill = |paragraph: &str| match paragraph.contains("\n ") {
        true => paragraph.to_owned(),
        false => paragraph.replace('\n', " "),
    };
    text.split("\n\n").map(fill).collect::<Vec<_>>().join("\n\n")
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the demo on a scratch server
    ///
    /// Starts a scratch Neo4j, restores a bundled month of three coding agents, replays its last hours under simulated time, and
    /// shows the energy of a memory and a recall before and after learning. Ends with commands to try and a link to Neo4j
    /// Browser. With NEO4J_URI it uses that database, if it is empty, and marks it as scratch: no job runs in it by schedule. One
    /// that holds anything else is never touched.
    #[command(after_help = "Examples:\n  ebb demo\n  ebb demo -o json")]
    Demo,
    /// Prepare a database: constraints, indexes and the configuration node
    Init(server::Init),
    /// Remove Ebb from a database: its nodes, marks, constraints and indexes
    Uninstall(server::Uninstall),
    /// Write all that is Ebb's in a database to a file
    Backup(backup::BackupArgs),
    /// Load a backup into a database without rows of Ebb's
    Restore(backup::RestoreArgs),
    /// Find graphs of other libraries, and print the presets that read them
    Adopt(adopt::Adopt),
    /// Score, pin, hide and access rows of other libraries
    #[command(subcommand)]
    Adopted(adopted::Verb),
    /// Report size, growth and faults of the graphs of other libraries
    Report(report::Report),
    /// Check connection, server, schema and rows, and name the fix for each problem
    #[command(after_help = "\
Exit code 7 on a problem. --fix asks nothing: it creates missing constraints, indexes and tunables, releases quarantined rows
whose values are valid now, and sets dates ahead of the server's clock to now (ebbMoved keeps the former ones). So run
`ebb doctor` without it first, and see that the server's clock is right.

Examples:
  ebb doctor
  ebb doctor --fix")]
    Doctor {
        /// Repair what has only one right repair
        #[arg(long)]
        fix: bool,
    },
    /// Show jobs, attempts, tiers and backlog
    Status(server::Status),
    /// Show memories and energies by tier, stuck attempts and backlog
    #[command(after_help = "Examples:\n  ebb health\n  ebb health -o json")]
    Health {
        /// Read options.
        #[command(flatten)]
        when: ReadOptions,
    },
    /// Run the jobs on schedule and serve the HTTP API
    Serve(serve::Serve),
    /// Run the jobs on schedule: `serve --roles worker`
    Worker,
    /// Manage the local Neo4j server
    #[command(subcommand)]
    Neo4j(neo4j::Verb),
    /// Run jobs by hand and show past runs
    #[command(subcommand)]
    Job(job::Verb),
    /// List the rows that a job would move, and why
    Plan(plan::PlanArgs),
    /// Apply the changes of a plan whose rows are as they were
    Apply(plan::ApplyArgs),
    /// Take back what a run changed
    Undo(plan::UndoArgs),
    /// List and release consolidation attempts
    #[command(subcommand)]
    Attempt(attempt::Verb),
    /// Add, access, show, pin and forget memories
    #[command(subcommand)]
    Memory(memory::Verb),
    /// List scopes, export and delete everything of one
    #[command(subcommand)]
    Scope(scope::Verb),
    /// End sessions
    #[command(subcommand)]
    Session(session::Verb),
    /// Observe, list and pin relations between entities
    #[command(subcommand)]
    Relation(relation::Verb),
    /// Search memories by question
    Recall(recall::RecallArgs),
    /// Explain why a memory is not among the hits of a recall, or why it is gone
    WhyNot(why_not::WhyNotArgs),
    /// Measure what recall finds for questions with known answers
    Eval(eval::Eval),
    /// Report which hits of a recall were useful
    Outcome(outcome::OutcomeArgs),
    /// Run one mechanism of recall on its own
    #[command(subcommand)]
    Engine(engine::Verb),
    /// Show, save, export and verify the in-memory graph
    #[command(subcommand)]
    Graph(graph::Verb),
    /// Add places, deposit pheromones and find paths
    #[command(subcommand)]
    Trail(trail::Verb),
    /// Serve tools to an agent over stdin and stdout (MCP)
    Mcp,
    /// Create, list and revoke API keys
    #[command(subcommand)]
    Key(key::Verb),
    /// Assert and list facts about entities
    #[command(subcommand)]
    Fact(fact::Verb),
    /// Apply decay policies to the facts of a scope
    Sweep(fact::SweepArgs),
    /// List, set and remove decay policies of facts
    #[command(subcommand)]
    Policy(policy::Verb),
    /// Import events from a file, each exactly once
    Import(events::Import),
    /// Replay events from a file under simulated time, with the real jobs
    Replay(events::Replay),
    /// Run a prepared query
    Inspect(inspect::Inspect),
    /// Draw energies, tiers, relations and trails
    #[command(subcommand)]
    Plot(plot::Verb),
    /// Show and validate the configuration
    #[command(subcommand)]
    Config(config::Verb),
    /// Print a shell completion script
    #[command(after_help = "\
Examples:
  ebb completions bash > ~/.local/share/bash-completion/completions/ebb
  ebb completions zsh > \"${fpath[1]}/_ebb\"
  ebb completions fish > ~/.config/fish/completions/ebb.fish")]
    Completions {
        /// Shell
        #[arg(value_name = "SHELL")]
        shell: docs::Shell,
    },
    /// Print the manual, or write all its pages
    #[command(after_help = "Examples:\n  ebb man | man -l -\n  ebb man --dir ~/.local/share/man/man1")]
    Man {
        /// Write the pages of all verbs into this folder instead of the first page to stdout
        #[arg(long, value_name = "FOLDER")]
        dir: Option<PathBuf>,
    },
}

/// Options of every verb.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Output format [default: table on a terminal, json in a pipe]
    #[arg(short, long, global = true, value_enum, value_name = "FORMAT")]
    pub output: Option<Format>,
    /// When to use colour; NO_COLOR turns "auto" off
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColorWhen::Auto)]
    pub color: ColorWhen,
    /// Log less to stderr; -qq: nothing
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub quiet: u8,
    /// Log more to stderr: -v each run of a job, -vv details, -vvv everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    pub verbose: u8,
    /// Configuration file [default: ebb.toml in the current folder, if there is one]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Scope of memories, sessions, entities, relations, facts and places. Without effect on commands about the whole
    /// database: job, plan, apply, undo, policy, attempt, backup, restore, status, health, doctor, inspect, report, adopt,
    /// trail evaporate, trail cycle, plot tiers, relation decay
    #[arg(long, global = true, value_name = "SCOPE", default_value = "local")]
    pub scope: String,
    /// Answer yes to every question
    #[arg(short, long, global = true)]
    pub yes: bool,
    /// Allow a server on another machine without verified TLS
    #[arg(long, global = true)]
    pub insecure: bool,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Options of a verb that reads at an instant.
#[derive(Debug, Clone, Copy, Args)]
pub struct ReadOptions {
    /// Read as of this instant: RFC 3339, a date, or relative such as -3h [default: now]
    #[arg(long, value_name = "INSTANT", allow_hyphen_values = true)]
    pub at: Option<Moment>,
}

/// Options of a verb that runs a job.
#[derive(Debug, Clone, Copy, Args)]
pub struct RunOptions {
    /// Instant of the write: RFC 3339, a date, or relative such as -3h [default: now]
    #[arg(long, value_name = "INSTANT", allow_hyphen_values = true)]
    pub at: Option<Moment>,
    /// Show what would change and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Options of a verb that writes, once per request id.
#[derive(Debug, Clone, Args)]
pub struct WriteOptions {
    /// Instant of the write: RFC 3339, a date, or relative such as -3h [default: now]
    #[arg(long, value_name = "INSTANT", allow_hyphen_values = true)]
    pub at: Option<Moment>,
    /// Show what would change and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Idempotency key: repeats within 24 hours count once [default: a new id]
    #[arg(long, value_name = "ID")]
    pub request_id: Option<String>,
}

impl Global {
    /// How answers are printed. `no_color` is the user's wish from the environment.
    #[must_use]
    pub fn output(&self, no_color: bool) -> Output {
        Output::of_process(self.output, self.color, no_color, self.quiet > 0)
    }

    /// The flags that stand for keys of the configuration: key, value, and the flag as it was written. `filter` is what
    /// the counted `-q` and `-v` stand for.
    #[must_use]
    pub fn keys(&self, filter: Option<&str>) -> Vec<(&'static str, String, String)> {
        let verbosity = || match self.quiet {
            0 => format!("-{}", "v".repeat(self.verbose.into())),
            quiet => format!("-{}", "q".repeat(quiet.into())),
        };
        let filter = filter.map(|filter| ("log.filter", filter.to_owned(), verbosity()));
        let insecure = self.insecure.then(|| ("neo4j.insecure", "true".to_owned(), "--insecure".to_owned()));
        filter.into_iter().chain(insecure).collect()
    }
}

impl ReadOptions {
    /// The instant to read at: the one asked for, else the simulated time of a scratch database, else now.
    pub async fn instant(&self, service: &Service) -> Result<Timestamp, CliError> {
        resolved(self.at, service).await
    }
}

impl RunOptions {
    /// As [`WriteOptions::instant`].
    pub async fn instant(&self, service: &Service, global: &Global) -> Result<Timestamp, CliError> {
        write_instant(self.at, self.dry_run, service, global).await
    }
}

impl WriteOptions {
    /// The instant that counts. Asks before one that lies ahead, unless nothing is to be written.
    ///
    /// # Errors
    /// As [`ReadOptions::instant`]; exit 3 without a yes.
    pub async fn instant(&self, service: &Service, global: &Global) -> Result<Timestamp, CliError> {
        write_instant(self.at, self.dry_run, service, global).await
    }

    /// The write mode: a dry run, or once under the request id.
    #[must_use]
    pub fn mode(&self) -> WriteMode {
        write_mode(self.dry_run, self.request_id.as_deref())
    }
}

fn write_mode(dry_run: bool, request_id: Option<&str>) -> WriteMode {
    if dry_run { WriteMode::DryRun } else { WriteMode::Once(RequestId::or_new("cli", request_id)) }
}

async fn write_instant(
    moment: Option<Moment>,
    dry_run: bool,
    service: &Service,
    global: &Global,
) -> Result<Timestamp, CliError> {
    let at = resolved(moment, service).await?;
    confirm_ahead(at, dry_run || moment.is_none(), service, global).await?;
    Ok(at)
}

/// Asks before a write at an instant that lies ahead of the server's clock.
async fn confirm_ahead(
    at: Timestamp,
    dry_run: bool,
    service: &Service,
    global: &Global,
) -> Result<(), CliError> {
    if !dry_run {
        let ahead = service.ahead(at).await?;
        // A typing error would move memories into a future that only the doctor brings them back from.
        if ahead > SKEW_MAX {
            let question = format!(
                "{} lies {} ahead of the server's clock, and what is written there cannot be taken back. Write it?",
                instant::rfc3339(at),
                instant::about(ahead)
            );
            confirm(&question, global.yes).await?;
        }
    }
    Ok(())
}

async fn resolved(asked: Option<Moment>, service: &Service) -> Result<Timestamp, CliError> {
    match asked {
        Some(Moment::At(at)) => Ok(at),
        Some(from_now) => {
            let now = service.instant(None).await?;
            from_now.resolve(now).map_err(|why| CliError::usage("--at leads out of the calendar").why(why))
        }
        None => Ok(service.instant(None).await?),
    }
}

/// Runs a verb that needs the service. Any but init, uninstall, restore, adopt, report, doctor, status, replay and eval of events refuse a
/// database that was not initialised; `demo`, `neo4j` and those of [`run_offline`] have no part here.
pub async fn run(
    command: &Command,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    if !matches!(
        command,
        Command::Init(_)
            | Command::Uninstall(_)
            | Command::Restore(_)
            | Command::Adopt(_)
            | Command::Report(_)
            | Command::Doctor { .. }
            | Command::Status(_)
            | Command::Replay(_)
            | Command::Eval(eval::Eval { after_jobs: true, .. })
    ) {
        service.prepared().await?;
    }
    match command {
        Command::Init(args) => server::init(args, service, output, global).await,
        Command::Uninstall(args) => server::uninstall(args, service, output, global).await,
        Command::Backup(args) => backup::backup(args, service, output, global).await,
        Command::Restore(args) => backup::restore(args, service, output, global).await,
        Command::Adopt(args) => adopt::detect(args, service, output).await,
        Command::Adopted(verb) => adopted::run(verb, service, output, global).await,
        Command::Report(args) => report::run(args, service, output).await,
        Command::Doctor { fix } => server::doctor(*fix, service, output).await,
        Command::Status(args) => server::status(args, service, output).await,
        Command::Health { when } => server::health(when, service, output).await,
        Command::Job(verb) => job::run(verb, service, output, global).await,
        Command::Plan(args) => plan::plan(args, service, output).await,
        Command::Apply(args) => plan::apply(args, service, output, global).await,
        Command::Undo(args) => plan::undo(args, service, output, global).await,
        Command::Attempt(verb) => attempt::run(verb, service, output, global).await,
        Command::Memory(verb) => memory::run(verb, service, output, global).await,
        Command::Scope(verb) => scope::run(verb, service, output, global).await,
        Command::Session(verb) => session::run(verb, service, output, global).await,
        Command::Relation(verb) => relation::run(verb, service, output, global).await,
        Command::Recall(args) => recall::run(args, service, output).await,
        Command::WhyNot(args) => why_not::run(args, service, output).await,
        Command::Eval(args) => Box::pin(eval::run(args, service, output)).await,
        Command::Outcome(args) => outcome::run(args, service, output, global).await,
        Command::Engine(verb) => engine::run(verb, service, output).await,
        Command::Graph(verb) => graph::run(verb, service, output).await,
        Command::Trail(verb) => trail::run(verb, service, output, global).await,
        Command::Key(verb) => key::run(verb, service, output, global).await,
        Command::Fact(verb) => fact::run(verb, service, output, global).await,
        Command::Sweep(args) => fact::sweep(args, service, output, global).await,
        Command::Policy(verb) => policy::run(verb, service, output).await,
        Command::Import(args) => events::import(args, service, output).await,
        Command::Replay(args) => Box::pin(events::replay(args, service, output)).await,
        Command::Inspect(args) => inspect::run(args, service, output).await,
        Command::Plot(verb) => plot::run(verb, service, output).await,
        Command::Demo
        | Command::Serve(_)
        | Command::Worker
        | Command::Mcp
        | Command::Neo4j(_)
        | Command::Config(_)
        | Command::Completions { .. }
        | Command::Man { .. } => Err(CliError::usage("this command does not run on a database")),
    }
}

/// A name that is none of the known ones, with the nearest.
fn unknown(what: &str, name: &str, known: impl Iterator<Item = &'static str>, list: &str) -> CliError {
    let like = |known: &&str| strsim::normalized_damerau_levenshtein(&name.to_ascii_lowercase(), known);
    let nearest = known.max_by(|a, b| like(a).total_cmp(&like(b))).filter(|known| like(known) >= 0.4);
    let error = CliError::usage(format!("there is no {what} {name}"));
    match nearest {
        Some(nearest) => error.why(format!("the nearest name is {nearest}")).try_this(list),
        None => error.try_this(list),
    }
}

/// Runs a verb that needs neither configuration nor database; `None` for all others.
#[must_use]
pub fn run_offline(command: &Command, output: &Output) -> Option<Result<(), CliError>> {
    match command {
        Command::Completions { shell } => Some(docs::completions(*shell, Cli::command(), output)),
        Command::Man { dir } => Some(docs::man(dir.as_deref(), Cli::command(), output)),
        Command::Inspect(args) if args.style => Some(inspect::style(output)),
        _ => None,
    }
}
