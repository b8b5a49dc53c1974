//! The program: parses the command line, loads the settings, starts the log, runs the verb, and ends with an exit code.
//!
//! Only this module knows the environment, the settings and the command line together. It is part of the library, so that async code
//! is compiled once and not again in the binary.

mod compare;

use crate::settings::adopt::Preset;
use crate::settings::{self, Environment, Faults, Flag, Flags, Settings};
use crate::surfaces::cli::config::{self, JobSchedule, Setting};
use crate::surfaces::cli::exit::{CliError, Exit};
use crate::surfaces::cli::instant::spelt;
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::progress::Progress;
use crate::surfaces::cli::serve::Role;
use crate::surfaces::cli::{
    self, Cli, Command, Global, adopt, demo, engine, eval, graph, neo4j, policy, recall, run_offline, server,
    with_short_help,
};
use crate::surfaces::mcp::Tools;
use crate::telemetry;
use crate::{wiring, worker};
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use ebb_core::clock::Clock;
use ebb_core::domain::ids::Scope;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::events::in_memory::FileEvents;
use ebb_core::service::mirrors::contents_of_file;
use ebb_core::service::recall::{RecallConfig, View, view_of_file};
use ebb_core::service::{JobName, Rhythm};
use ebb_provision::Origin;
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Runs the command line of this process to its end.
#[must_use]
pub fn main() -> ExitCode {
    let matches = with_short_help(Cli::command()).get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let environment = Environment::of_process();
    let output = cli.global.output(environment.no_color());
    match run(&cli, &environment, &output) {
        Ok(()) => ExitCode::from(Exit::Ok.code()),
        Err(error) => {
            let error = if error.exit() == Exit::Usage { error.or_try(help_of(&matches)) } else { error };
            // If stderr cannot be written, nothing can report it.
            let _ = error.write_to(&mut std::io::stderr(), output.color_on_stderr);
            ExitCode::from(error.exit().code())
        }
    }
}

/// The command that prints the help of the verb that was run.
fn help_of(matches: &ArgMatches) -> String {
    let mut words = vec!["ebb"];
    let mut verb = matches;
    while let Some((name, inner)) = verb.subcommand() {
        words.push(name);
        verb = inner;
    }
    words.push("--help");
    words.join(" ")
}

fn run(cli: &Cli, environment: &Environment, output: &Output) -> Result<(), CliError> {
    if let Some(done) = run_offline(&cli.command, output) {
        return done;
    }
    // The keeper has no settings of its own: the process that starts it gives it all it needs.
    if let Command::Neo4j(neo4j::Verb::Keep { home }) = &cli.command {
        return Ok(ebb_provision::keep(home)?);
    }
    if let Command::Adopt(adopt::Adopt { preset: Some(name), .. }) = &cli.command {
        let known = Preset::ALL.map(|preset| (preset.name(), preset.text()));
        return adopt::preset(name, &known, output);
    }
    let flags = flags(&cli.global);
    let path = flags.config.clone().unwrap_or_else(|| PathBuf::from(settings::FILE_NAME));
    let file = worker::ConfigFile::of(path);
    let load = || Settings::load(&flags, environment);
    let settings = load().map_err(|faults| invalid(&faults))?;
    telemetry::start(&settings.log, output.color_on_stderr).map_err(anyhow::Error::new)?;
    match &cli.command {
        Command::Config(config::Verb::Show) => config::show(&setting_rows(&settings), output),
        Command::Config(config::Verb::Validate) => {
            config::validate(&setting_rows(&settings), &job_schedules(&settings), output)
        }
        Command::Serve(_) | Command::Worker => serve(cli, settings, (file, &load), output),
        Command::Policy(policy::Verb::Compare(args)) => {
            let comparing = Box::pin(compare::run(cli, args, &settings, environment, output));
            until_interrupted(&cli.command, comparing)
        }
        _ => run_on_database(cli, &settings, output),
    }
}

/// Serves until a signal comes.
fn serve(
    cli: &Cli,
    settings: Settings,
    (file, load): (worker::ConfigFile, &dyn Fn() -> Result<Settings, Faults>),
    output: &Output,
) -> Result<(), CliError> {
    let scope = Scope::new(&cli.global.scope).map_err(CliError::usage)?;
    let roles = match &cli.command {
        Command::Serve(serve) => worker::Roles {
            worker: serve.roles.contains(&Role::Worker),
            http: serve.roles.contains(&Role::Http),
            mcp: serve.roles.contains(&Role::Mcp),
        },
        _ => worker::Roles { worker: true, http: false, mcp: false },
    };
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        let source = worker::Source::watching(file, load)
            .map_err(|why| CliError::failed(worker::Error::Signals(why)))?;
        let open = open(Box::pin(wiring::open(&settings, scope)), output).await?;
        let stated = settings.http.listen.is_some();
        let on_start = |ports: worker::Ports| {
            if let Some(address) = ports.probes {
                output.remark(&format!("Probes and metrics at http://{address}"));
            }
            if let Some(address) = ports.api {
                let taken = !stated && address.port() != worker::HTTP_PORT;
                let moved = format!("; port {} is taken", worker::HTTP_PORT);
                let moved = if taken { moved.as_str() } else { "" };
                let what = match roles.http {
                    true => format!("API at http://{address}, described at /openapi.json"),
                    false => format!("Tools at http://{address}/mcp"),
                };
                output.remark(&format!("{what}{moved}"));
            }
        };
        let ended = Box::pin(worker::run(&open.service, settings, roles, source, on_start)).await;
        if let Err(why @ worker::Error::ForcedShutdown) = ended {
            // At once: nothing is taken down but what would be left on the disk.
            ebb_files::remove_unfinished();
            let _ = CliError::new(Exit::Interrupted, why)
                .write_to(&mut std::io::stderr(), output.color_on_stderr);
            std::process::exit(Exit::Interrupted.code().into());
        }
        // The keeper stops a managed server without other users; waiting for it is not necessary.
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, open.close()).await;
        ended.map_err(|why| match why {
            worker::Error::Keys(why) => CliError::from(why).why("the API keys cannot be read"),
            why => CliError::failed(why),
        })
    });
    runtime.shutdown_background();
    ebb_files::remove_unfinished();
    ended
}

/// How long a worker that has stopped waits for a managed server to be gone.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build();
    runtime.map_err(|why| CliError::failed("the runtime cannot be started").why(why))
}

/// Runs a verb over a service until it ends or is interrupted. What is under way when it is interrupted is dropped, and
/// the server rolls it back.
fn run_on_database(cli: &Cli, settings: &Settings, output: &Output) -> Result<(), CliError> {
    until_interrupted(&cli.command, Box::pin(run_verb(cli, settings, output)))
}

/// Runs the work of a verb until it ends or is interrupted.
fn until_interrupted(
    command: &Command,
    work: impl Future<Output = Result<(), CliError>>,
) -> Result<(), CliError> {
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        tokio::select! {
            // In this order, so that the signal is waited for before the work begins.
            biased;
            _ = tokio::signal::ctrl_c() => Err(interrupted(command)),
            ended = work => ended,
        }
    });
    // A thread that waits for a person's answer must not be waited for; one that writes a file ends with the process.
    runtime.shutdown_background();
    ebb_files::remove_unfinished();
    ended
}

/// Threads of the runtime: the work is waiting for the server.
const WORKERS: usize = 2;

async fn run_verb(cli: &Cli, settings: &Settings, output: &Output) -> Result<(), CliError> {
    let scope = Scope::new(&cli.global.scope).map_err(CliError::usage)?;
    match &cli.command {
        Command::Neo4j(verb) => {
            let keeper = wiring::keeper().map_err(not_open)?;
            return neo4j::run(verb, &settings.neo4j, &keeper, output).await;
        }
        Command::Demo => return Box::pin(run_demo(settings, scope, output)).await,
        Command::Engine(engine::Verb::Queries(args)) => {
            let usual = || SocketAddr::from((Ipv4Addr::LOCALHOST, worker::HTTP_PORT));
            let address = settings.http.listen.unwrap_or_else(usual);
            let (args, output) = (args.clone(), output.clone());
            let ask = move || engine::run_queries(&args, address, scope.as_str(), &output);
            return eval::in_thread(ask).await;
        }
        Command::Engine(verb) if verb.file().is_some() => {
            let (file, verb) = (verb.file(), verb.clone());
            let run = move |view: &View, rules: &RecallConfig, output: &Output| {
                engine::run_on(&verb, view, rules, output)
            };
            return run_on_file(file, settings, output, run).await;
        }
        Command::Recall(args) if args.graph.is_some() => {
            let (file, args) = (args.graph.as_deref(), args.clone());
            let run = move |view: &View, rules: &RecallConfig, output: &Output| {
                recall::run_on(&args, view, rules, Clock::Real.now(), output)
            };
            return run_on_file(file, settings, output, run).await;
        }
        Command::Graph(graph::Verb::Load { file }) => {
            let range = settings.engine.range().map_err(CliError::failed)?;
            let (file, output) = (file.clone(), output.clone());
            let load = move || graph::load(&file, contents_of_file(&file, range)?, &output);
            return eval::in_thread(load).await;
        }
        Command::Eval(args) if args.in_memory().is_some() => {
            return run_eval_in_memory(args, settings, &scope, output).await;
        }
        Command::Init(args) => server::write_config(args, &settings::sample(), output)?,
        _ => {}
    }
    let settings = match &cli.command {
        Command::Replay(args) => &replay_settings(settings, &args.file, output)?,
        Command::Eval(args) => &eval_settings(settings, args, &scope, output).await?,
        _ => settings,
    };
    // These open the database as it is: to report what they change, or since they only read. Those that fill an empty one
    // do not ask for a managed server.
    let fills = matches!(cli.command, Command::Init(_) | Command::Restore(_));
    let as_it_is =
        fills || matches!(cli.command, Command::Uninstall(_) | Command::Adopt(_) | Command::Report(_));
    let open = if as_it_is {
        open(Box::pin(wiring::connect(settings, scope)), output).await?
    } else {
        open(Box::pin(wiring::open(settings, scope)), output).await?
    };
    let is_own = open.endpoint().origin != Origin::Given;
    let deletes = matches!(&cli.command, Command::Restore(args) if args.abandon);
    let global = &Global { yes: cli.global.yes || fills && is_own && !deletes, ..cli.global.clone() };
    let ended = match &cli.command {
        Command::Mcp => {
            let tools = Tools::of_user(Arc::clone(&open.service), settings.mcp.allow_writes);
            let serving = Box::pin(tools.serve_stdio());
            worker::mirrors::refresh_while(&open.service, serving).await.map_err(CliError::failed)
        }
        command => Box::pin(cli::run(command, &open.service, output, global)).await,
    };
    if fills && is_own && ended.is_ok() {
        output.remark(&neo4j::runs_on(open.keep()));
    }
    ended.and(open.close().await.map_err(not_open))
}

/// Waits for the server, with a line on the terminal that says for what.
async fn open(
    opening: impl Future<Output = Result<wiring::Open, wiring::Error>>,
    output: &Output,
) -> Result<wiring::Open, CliError> {
    Progress::during(output, telemetry::wait, opening).await.map_err(not_open)
}

/// Runs a verb on a snapshot file, without a database.
async fn run_on_file(
    file: Option<&Path>,
    settings: &Settings,
    output: &Output,
    run: impl FnOnce(&View, &RecallConfig, &Output) -> Result<(), CliError> + Send + 'static,
) -> Result<(), CliError> {
    let rules = settings.engine.rules().map_err(CliError::failed)?;
    let range = settings.engine.range().map_err(CliError::failed)?;
    let (file, output) = (file.unwrap_or(Path::new("")).to_owned(), output.clone());
    eval::in_thread(move || {
        let (view, learned) = view_of_file(&file, range)?;
        if let Some(learned) = learned {
            output.remark(&format!("With learned weights from {}", learned.file.display()));
        }
        run(&view, &rules, &output)
    })
    .await
}

/// The settings of a replay: a managed server of its own, since simulated time must not affect real memories. Each file has its
/// folder, so that the same command continues where it stopped.
fn replay_settings(settings: &Settings, file: &Path, output: &Output) -> Result<Settings, CliError> {
    let mut settings = settings.clone();
    // No memory waits for an embedding that nobody computes.
    settings.embedding.url = None;
    if settings.neo4j.uri.is_none() {
        settings.neo4j.home = ebb_core::service::events::scratch_folder(file).map_err(CliError::failed)?;
        let home = settings.neo4j.home.display();
        output.remark(&format!("Replaying on a managed server of its own, in {home}"));
        output.remark(&format!("Query it afterwards with: EBB__NEO4J__HOME='{home}' ebb memory explain ID"));
    }
    Ok(settings)
}

/// Evaluates recall on the graph of a file of events, without a database.
async fn run_eval_in_memory(
    args: &eval::Eval,
    settings: &Settings,
    scope: &Scope,
    output: &Output,
) -> Result<(), CliError> {
    let rules = settings.engine.rules().map_err(CliError::failed)?;
    let event_rules = wiring::event_rules(settings).map_err(CliError::failed)?;
    let similarity = wiring::similarity(settings);
    let prepared = args.prepare(scope, similarity.clone(), &rules).await?;
    let (file, scope) = (args.in_memory().unwrap_or(Path::new("")).to_owned(), scope.clone());
    let (views, left_out) = eval::in_thread(move || {
        let allowed = event_rules.trails.allowed.clone();
        let events =
            FileEvents::read(&file, &scope, &similarity, allowed).map_err(|why| eval::bad_file(&why))?;
        Ok((events.views(&event_rules).map_err(CliError::failed)?, events.left_out))
    })
    .await?;
    eval::run_in_memory(args, prepared, views, left_out, rules, output).await
}

/// The settings of an evaluation: mirrors of all scopes that are asked beside those that `ebb serve` has, since these share the
/// memory, and a server of its own if events are replayed.
async fn eval_settings(
    settings: &Settings,
    args: &eval::Eval,
    scope: &Scope,
    output: &Output,
) -> Result<Settings, CliError> {
    let rules = settings.engine.rules().map_err(CliError::failed)?;
    let prepared = args.prepare(scope, wiring::similarity(settings), &rules).await?;
    let mut settings = match &args.events {
        Some(file) => replay_settings(settings, file, output)?,
        None => settings.clone(),
    };
    let scopes: BTreeSet<Scope> = prepared.questions.into_iter().map(|question| question.scope).collect();
    let is_added = |asked: &Scope| asked != scope && !settings.mirror.scopes.contains(asked);
    let added: Vec<Scope> = scopes.into_iter().filter(is_added).collect();
    if !added.is_empty() && args.events.is_none() {
        let names: Vec<&str> = added.iter().map(Scope::as_str).collect();
        let names = names.join(", ");
        output.remark(&format!("Scopes that mirror.scopes does not name, but questions do: {names}"));
        output.remark("They share mirror.max_bytes, so each scope has less of it than under `ebb serve`");
    }
    settings.mirror.scopes.extend(added);
    Ok(settings)
}

/// The demo: on a scratch server of its own, or on a given database that holds nothing but what `ebb init` writes.
async fn run_demo(settings: &Settings, scope: Scope, output: &Output) -> Result<(), CliError> {
    let mut settings = settings.clone();
    // The folder of a managed server holds nothing without its marker file, so that it can be removed.
    let is_given = settings.neo4j.uri.is_some();
    let folder = PathBuf::from(if is_given { ".ebb/demo-files" } else { ".ebb/demo" });
    if !is_given {
        settings.neo4j.home.clone_from(&folder);
        settings.neo4j.is_brief = true;
        // That of the demo before may still run.
        ebb_provision::stop(&settings.neo4j, false).await?;
        ebb_provision::wipe(&settings.neo4j).await?;
        output.remark("Starting a scratch Neo4j of its own, in .ebb/demo");
    }
    settings.embedding.url = None;
    settings.policies = settings::policies_of(demo::POLICIES).map_err(CliError::failed)?;
    let open = open(Box::pin(wiring::open(&settings, scope)), output).await?;
    let about = (folder.as_path(), settings.neo4j.keep);
    let shown = Box::pin(demo::run(&open.service, open.endpoint(), about, output)).await;
    shown.and(open.close().await.map_err(not_open))
}

fn interrupted(command: &Command) -> CliError {
    let error =
        CliError::new(Exit::Interrupted, "interrupted; a transaction that was not committed is rolled back");
    match command {
        Command::Restore(_) => error.try_this("the same command: it starts again"),
        Command::Import(_) | Command::Replay(_) => {
            error.try_this("the same command: it continues where it stopped")
        }
        _ => error,
    }
}

fn not_open(error: wiring::Error) -> CliError {
    match error {
        wiring::Error::Store(why) => why.into(),
        wiring::Error::Provision(why) => why.into(),
        other => CliError::failed(other),
    }
}

/// Settings from the command line.
fn flags(global: &Global) -> Flags {
    let filter = telemetry::verbosity(global.quiet, global.verbose);
    let set = global.keys(filter).into_iter().map(|(key, value, written)| Flag { key, value, written });
    Flags { config: global.config.clone(), set: set.collect() }
}

fn invalid(faults: &Faults) -> CliError {
    let list = faults.list();
    let what = match list.len() {
        1 => "the configuration has a fault".to_owned(),
        n => format!("the configuration has {n} faults"),
    };
    list.iter()
        .fold(CliError::new(Exit::Configuration, what), CliError::why)
        .try_this("correct the configuration, then run: ebb config validate")
}

/// The schedules of all jobs with their next runs. A schedule that is left to the graph is taken from the defaults written there.
fn job_schedules(settings: &Settings) -> Vec<JobSchedule> {
    let Ok(tunables) = settings.memory.clone().check() else { return Vec::new() };
    let schedules = wiring::schedules(settings);
    let of = |job: JobName| {
        let schedule = schedules.of(job).schedule(job, &tunables);
        let next = |at: &Timestamp| schedule.rhythm.next(*at);
        let (written, key) = match &schedule.rhythm {
            Rhythm::Every(ms) => {
                (format!("every {}", spelt(Duration::from_millis(ms.unsigned_abs()))), "every")
            }
            Rhythm::Cron(pattern, zone) => (format!("{} {}", pattern.text(), zone.name()), "cron"),
        };
        let own = schedules.of(job).rhythm.is_some();
        JobSchedule {
            job,
            enabled: schedules.of(job).enabled,
            schedule: written,
            from: if own { format!("jobs.{job}.{key}") } else { "ConsolidationConfig".to_owned() },
            next: std::iter::successors(next(&Clock::Real.now()), next).take(3).collect(),
        }
    };
    JobName::ALL.into_iter().map(of).collect()
}

fn setting_rows(settings: &Settings) -> Vec<Setting> {
    let setting = |row: &settings::Row| Setting {
        key: row.key.to_owned(),
        value: row.value.clone(),
        from: row.from.clone(),
    };
    settings.rows().iter().map(setting).collect()
}
