//! The end of the program: exit codes, and the error that is printed before one.
//!
//! A script branches on the code, a person reads the text, so each error has both: what happened, why, and the next
//! command to try. The one table from the service's errors to codes is in `failure`; what the command line itself
//! finds out is made where it is found.

use super::page::harmless;
use std::fmt;
use std::io::{self, Write};

/// Exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[non_exhaustive]
pub enum Exit {
    /// Success.
    Ok = 0,
    /// A failure without a code of its own.
    Failed = 1,
    /// Wrong arguments.
    Usage = 2,
    /// Confirmation was declined or impossible.
    Declined = 3,
    /// The caller has no right to do this.
    NotAllowed = 4,
    /// The database cannot be reached.
    Unreachable = 5,
    /// The configuration has faults.
    Configuration = 6,
    /// The doctor found problems, the status that no job can run, or an evaluation a loss.
    Findings = 7,
    /// A guard stopped it before it wrote.
    Guarded = 8,
    /// A signal interrupted it.
    Interrupted = 130,
}

impl Exit {
    /// The code as the shell sees it.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }
}

/// An error as it is printed: what, why, and the next command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliError {
    exit: Exit,
    what: String,
    why: Vec<String>,
    hint: Option<String>,
}

impl CliError {
    /// An error that ends the program in this way. `what` is one line, without a full stop.
    #[must_use]
    pub fn new(exit: Exit, what: impl fmt::Display) -> Self {
        Self { exit, what: what.to_string(), why: Vec::new(), hint: None }
    }

    /// A failure without a code of its own.
    #[must_use]
    pub fn failed(what: impl fmt::Display) -> Self {
        Self::new(Exit::Failed, what)
    }

    /// Arguments that do not make sense together.
    #[must_use]
    pub fn usage(what: impl fmt::Display) -> Self {
        Self::new(Exit::Usage, what)
    }

    /// The end of a program whose reader has gone (`ebb … | head`): no message, no failure.
    #[must_use]
    pub fn reader_gone() -> Self {
        Self::new(Exit::Ok, "")
    }

    /// The same error with another exit code.
    #[must_use]
    pub fn ending(self, exit: Exit) -> Self {
        Self { exit, ..self }
    }

    /// Adds a line, or several, that say why.
    #[must_use]
    pub fn why(mut self, why: impl fmt::Display) -> Self {
        self.why.extend(why.to_string().lines().map(|line| line.trim().to_owned()));
        self
    }

    /// Adds the next command to try.
    #[must_use]
    pub fn try_this(mut self, command: impl fmt::Display) -> Self {
        self.hint = Some(command.to_string());
        self
    }

    /// Adds the next command to try, unless there is one.
    #[must_use]
    pub fn or_try(self, command: impl fmt::Display) -> Self {
        if self.hint.is_some() { self } else { self.try_this(command) }
    }

    /// The exit code.
    #[must_use]
    pub const fn exit(&self) -> Exit {
        self.exit
    }

    /// Prints the error in three parts: `error: what`, an indented line for each reason, `try: command`. Files and rows of others
    /// are quoted in it, so nothing in it reaches the terminal that this would act on.
    pub fn write_to(&self, to: &mut dyn Write, color: bool) -> io::Result<()> {
        if self.exit == Exit::Ok {
            return Ok(());
        }
        let (red, dim, plain) = if color { ("\x1b[1;31m", "\x1b[2m", "\x1b[0m") } else { ("", "", "") };
        let mut what = self.what.lines();
        writeln!(to, "{red}error:{plain} {}", harmless(what.next().unwrap_or_default()))?;
        for line in what.map(str::trim).chain(self.why.iter().map(String::as_str)) {
            writeln!(to, "  {}", harmless(line))?;
        }
        if let Some(hint) = &self.hint {
            writeln!(to, "  {dim}try:{plain} {}", harmless(hint))?;
        }
        Ok(())
    }
}

/// The end of a verb that prints its answer and has a verdict on it: a reader that has gone (`ebb eval … | head`) does not
/// change the verdict.
///
/// # Errors
/// Of printing, else the verdict.
pub fn conclude(printed: Result<(), CliError>, verdict: Result<(), CliError>) -> Result<(), CliError> {
    match printed {
        Err(why) if why.exit() != Exit::Ok => Err(why),
        _ => verdict,
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for CliError {}

impl From<io::Error> for CliError {
    /// Of writing to stdout: a reader that has gone is no failure.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::reader_gone(),
            _ => Self::failed("the answer cannot be written").why(error),
        }
    }
}

impl From<anyhow::Error> for CliError {
    /// Keeps an error of the command line that travelled inside; anything else is a failure with its causes as reasons.
    fn from(error: anyhow::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(inner) => inner,
            Err(other) => other.chain().skip(1).fold(Self::failed(&other), Self::why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(error: &CliError) -> String {
        let mut text = Vec::new();
        error.write_to(&mut text, false).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn an_error_says_what_why_and_what_to_try() {
        let error = CliError::new(Exit::Unreachable, "no Neo4j answers at bolt://localhost:7687")
            .why("connection refused\n  after 5 s")
            .try_this("ebb neo4j start");
        assert_eq!(
            printed(&error),
            "error: no Neo4j answers at bolt://localhost:7687\n  connection refused\n  after 5 s\n  try: ebb neo4j start\n"
        );
        assert_eq!(error.exit().code(), 5);
    }

    #[test]
    fn nothing_in_an_error_moves_the_terminal() {
        let error = CliError::failed("a\u{1b}[2Jb").why("c\u{202e}d").try_this("e\u{7}f\ng");
        assert_eq!(printed(&error), "error: a\u{fffd}[2Jb\n  c\u{fffd}d\n  try: e\u{fffd}f g\n");
    }

    #[test]
    fn a_gone_reader_ends_quietly_and_well() {
        let gone = CliError::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!((gone.exit().code(), printed(&gone).as_str()), (0, ""));
        let full = CliError::from(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(full.exit(), Exit::Failed);
    }

    #[test]
    fn a_gone_reader_does_not_change_a_verdict() {
        let gone = || Err(CliError::from(io::Error::from(io::ErrorKind::BrokenPipe)));
        let full = || Err(CliError::from(io::Error::from(io::ErrorKind::StorageFull)));
        let verdict = || Err(CliError::new(Exit::Findings, "worse"));
        assert_eq!(conclude(gone(), verdict()), verdict());
        assert_eq!(conclude(gone(), Ok(())), Ok(()));
        assert_eq!(conclude(Ok(()), verdict()), verdict());
        assert_eq!(conclude(full(), verdict()), full());
    }

    #[test]
    fn causes_become_reasons_and_an_error_with_a_code_keeps_it() {
        let plain = anyhow::anyhow!("disk is gone").context("cannot read the file");
        assert_eq!(printed(&plain.into()), "error: cannot read the file\n  disk is gone\n");
        let inner = CliError::new(Exit::Guarded, "stopped");
        assert_eq!(CliError::from(anyhow::Error::new(inner.clone())), inner);
    }
}
