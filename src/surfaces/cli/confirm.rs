//! The question before a change that cannot be taken back or reaches far.
//!
//! On a terminal a person answers. In a pipe a program that waited for an answer would hang the script: so it declines at once and
//! names `--yes`.

use super::exit::{CliError, Exit};
use super::page::harmless;
use std::io::{self, BufRead, IsTerminal, Write};

/// Asks `question` (a full one, with its figures) unless `yes` was given. A thread of its own waits for the answer, so
/// that an interrupt is heard meanwhile.
///
/// # Errors
/// Exit 3 when the answer is not yes, or there is no terminal.
pub async fn confirm(question: &str, yes: bool) -> Result<(), CliError> {
    let terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    let question = question.to_owned();
    let asked = tokio::task::spawn_blocking(move || {
        ask(&question, yes, terminal, &mut io::stdin().lock(), &mut io::stderr())
    });
    asked
        .await
        .unwrap_or_else(|gone| Err(CliError::new(Exit::Declined, "the answer cannot be read").why(gone)))
}

fn ask(
    question: &str,
    yes: bool,
    terminal: bool,
    input: &mut dyn BufRead,
    to: &mut dyn Write,
) -> Result<(), CliError> {
    if yes {
        return Ok(());
    }
    if !terminal {
        let declined =
            CliError::new(Exit::Declined, "confirmation is needed, and standard input is not a terminal");
        return Err(declined.why(question).try_this("the same command with --yes"));
    }
    let answer = (|| {
        write!(to, "{} [y/N] ", harmless(question))?;
        to.flush()?;
        let mut answer = String::new();
        input.read_line(&mut answer)?;
        Ok::<_, io::Error>(answer)
    })();
    match answer {
        Ok(answer) if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") => Ok(()),
        Ok(_) => Err(CliError::new(Exit::Declined, "declined; nothing was changed")),
        Err(error) => {
            Err(CliError::new(Exit::Declined, "the answer cannot be read; nothing was changed").why(error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(answer: &str, yes: bool, terminal: bool) -> (Result<(), Exit>, String) {
        let mut to = Vec::new();
        let result = ask("Forget 3 memories for good?", yes, terminal, &mut answer.as_bytes(), &mut to);
        (result.map_err(|error| error.exit()), String::from_utf8(to).unwrap())
    }

    #[test]
    fn only_a_yes_goes_ahead() {
        let question = "Forget 3 memories for good? [y/N] ".to_owned();
        assert_eq!(asked("y\n", false, true), (Ok(()), question.clone()));
        assert_eq!(asked("Yes\n", false, true), (Ok(()), question.clone()));
        for no in ["\n", "", "n\n", "yep\n"] {
            assert_eq!(asked(no, false, true), (Err(Exit::Declined), question.clone()));
        }
    }

    #[test]
    fn in_a_pipe_only_the_flag_counts_and_nothing_is_asked() {
        assert_eq!(asked("y\n", false, false), (Err(Exit::Declined), String::new()));
        assert_eq!(asked("", true, false), (Ok(()), String::new()));
    }
}
