//! The words on the command line.

use super::disruption::Kind;
use super::planted;
use std::path::PathBuf;

#[derive(Debug, Clone)]
pub(crate) struct Arguments {
    pub(crate) rounds: u64,
    pub(crate) workers: usize,
    pub(crate) apis: usize,
    pub(crate) seed: u64,
    pub(crate) from: u64,
    pub(crate) mix: Vec<Kind>,
    pub(crate) defaults: bool,
    /// Bugs to plant, one after the other.
    pub(crate) planted: Vec<String>,
    /// The bug that these sources have, as the harness tells the copy that it has built.
    pub(crate) bug: Option<String>,
    pub(crate) check: Option<PathBuf>,
}

impl Arguments {
    pub(crate) fn of(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self {
            rounds: 10,
            workers: 4,
            apis: 2,
            seed: 1,
            from: 0,
            mix: vec![Kind::Kill],
            defaults: false,
            planted: Vec::new(),
            bug: None,
            check: None,
        };
        while let Some(flag) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{flag} wants a value"));
            let number =
                |text: String| text.parse::<u64>().map_err(|_| format!("{flag}: {text} is no number"));
            match flag.as_str() {
                "--rounds" => arguments.rounds = number(value()?)?,
                "--workers" => arguments.workers = usize::try_from(number(value()?)?).unwrap_or(1).max(2),
                "--apis" => arguments.apis = usize::try_from(number(value()?)?).unwrap_or(1).max(1),
                "--seed" => arguments.seed = number(value()?)?,
                "--from" => arguments.from = number(value()?)?,
                "--mix" => arguments.mix = value()?.split(',').map(Kind::named).collect::<Result<_, _>>()?,
                "--defaults" => arguments.defaults = true,
                "--check" => arguments.check = Some(PathBuf::from(value()?)),
                "--planted" => {
                    let name = value()?;
                    let bugs = planted::names()?;
                    arguments.planted =
                        bugs.iter().filter(|bug| name == "all" || **bug == name).cloned().collect();
                    if arguments.planted.is_empty() {
                        return Err(format!("there is no bug {name}; there are: all, {}", bugs.join(", ")));
                    }
                }
                "--in-copy-with" => arguments.bug = Some(value()?),
                // What the test runner hands to every test program.
                "--nocapture" | "--quiet" | "-q" => {}
                other => {
                    return Err(format!("there is no flag {other}; see the file docs of tests/kill/main.rs"));
                }
            }
        }
        Ok(arguments)
    }
}
