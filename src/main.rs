//! The program `ebb`: parses the command line, loads the settings, starts the log, runs the verb, and ends with a code
//! that says how it went.
//!
//! This is the one place that knows the environment's wishes, the settings and the command line together; below it, each
//! gets what it needs.

use clap::Parser;
use ebb::domain::ids::Scope;
use ebb::settings::{self, Environment, Faults, Flag, Flags, Settings};
use ebb::surfaces::cli::config::{self, Setting};
use ebb::surfaces::cli::exit::{CliError, Exit};
use ebb::surfaces::cli::output::Output;
use ebb::surfaces::cli::{self, Cli, Command, Global, run_alone, server};
use ebb::telemetry;
use ebb::wiring::{self, Prepare};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let environment = Environment::of_process();
    let output = cli.global.output(environment.no_color());
    match run(&cli, &environment, &output) {
        Ok(()) => ExitCode::from(Exit::Ok.code()),
        Err(error) => {
            // Where stderr cannot be written there is nobody left to tell.
            let _ = error.tell(&mut std::io::stderr(), output.color_on_stderr);
            ExitCode::from(error.exit().code())
        }
    }
}

fn run(cli: &Cli, environment: &Environment, output: &Output) -> Result<(), CliError> {
    if let Some(done) = run_alone(&cli.command, output) {
        return done;
    }
    let settings = Settings::load(&flags(&cli.global), environment).map_err(|faults| invalid(&faults))?;
    telemetry::start(&settings.log, output.color_on_stderr).map_err(anyhow::Error::new)?;
    match &cli.command {
        Command::Config(config::Verb::Show) => config::show(&shown(&settings), output),
        Command::Config(config::Verb::Validate) => config::validate(&shown(&settings), output),
        _ => on_a_database(cli, &settings, output),
    }
}

/// Runs a verb over a service until it ends or is interrupted. What is under way when it is interrupted is dropped, and
/// the server rolls it back.
fn on_a_database(cli: &Cli, settings: &Settings, output: &Output) -> Result<(), CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build();
    let runtime = runtime.map_err(|why| CliError::failed("no threads can be had").why(why))?;
    let ended = runtime.block_on(async {
        let verb = Box::pin(verb(cli, settings, output));
        tokio::select! {
            ended = verb => ended,
            _ = tokio::signal::ctrl_c() => Err(interrupted(&cli.command)),
        }
    });
    // A thread that waits for a person's answer must not be waited for.
    runtime.shutdown_background();
    ended
}

/// Threads of the runtime: the work is waiting for the server.
const WORKERS: usize = 2;

async fn verb(cli: &Cli, settings: &Settings, output: &Output) -> Result<(), CliError> {
    let scope = Scope::new(&cli.global.scope).map_err(CliError::usage)?;
    if let Command::Init(args) = &cli.command {
        server::write_config(args, &settings::sample(), output, &cli.global).await?;
    }
    let open = wiring::open(settings, scope, Prepare::AsItIs).await.map_err(not_open)?;
    cli::run(&cli.command, &open.service, output, &cli.global).await
}

fn interrupted(command: &Command) -> CliError {
    let error = CliError::new(Exit::Interrupted, "interrupted; what was being written was rolled back");
    match command {
        Command::Import(_) | Command::Replay(_) => {
            error.try_this("the same command: it goes on where it stopped")
        }
        _ => error,
    }
}

fn not_open(error: wiring::Error) -> CliError {
    match error {
        wiring::Error::Store(why) => why.into(),
        wiring::Error::NoServer => {
            CliError::new(Exit::Unreachable, error).try_this("NEO4J_URI=bolt://localhost:7687 ebb status")
        }
        other => CliError::new(Exit::Configuration, other),
    }
}

/// What the command line adds to the settings.
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
    list.iter().fold(CliError::new(Exit::Configuration, what), CliError::why).try_this("ebb config validate")
}

fn shown(settings: &Settings) -> Vec<Setting> {
    let setting = |row: &settings::Row| Setting {
        key: row.key.to_owned(),
        value: row.value.as_ref().and_then(|value| serde_json::to_value(value).ok()),
        from: row.from.clone(),
    };
    settings.rows().iter().map(setting).collect()
}
