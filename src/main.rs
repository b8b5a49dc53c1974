//! The program `ebb`: parses the command line, loads the settings, starts the log, runs the verb, and ends with a code
//! that says how it went.
//!
//! This is the one place that knows the environment's wishes, the settings and the command line together; below it, each
//! gets what it needs.

use clap::Parser;
use ebb::provision;
use ebb::settings::{Environment, Faults, Flag, Flags, Settings};
use ebb::surfaces::cli::config::{self, Setting};
use ebb::surfaces::cli::exit::{CliError, Exit};
use ebb::surfaces::cli::output::Output;
use ebb::surfaces::cli::{Cli, Command, Global, neo4j, run_alone};
use ebb::telemetry;
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
    // The keeper has no settings of its own: what it is to run comes from whoever starts it.
    if let Command::Neo4j(neo4j::Verb::Keep(keep)) = &cli.command {
        return provision::keep(&keep.home).map_err(CliError::failed);
    }
    let settings = Settings::load(&flags(&cli.global), environment).map_err(|faults| invalid(&faults))?;
    telemetry::start(&settings.log, output.color_on_stderr).map_err(anyhow::Error::new)?;
    match &cli.command {
        Command::Config(config::Verb::Show) => config::show(&shown(&settings), output),
        Command::Config(config::Verb::Validate) => config::validate(&shown(&settings), output),
        other => Err(CliError::failed(format!("this build has no service for {other:?}"))),
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
    let setting = |row: &ebb::settings::Row| Setting {
        key: row.key.to_owned(),
        value: row.value.as_ref().and_then(|value| serde_json::to_value(value).ok()),
        from: row.from.clone(),
    };
    settings.rows().iter().map(setting).collect()
}
