//! The one table from errors of the service to errors of the command line: exit code, what, why, and the next command.
//!
//! An error of the service is one message; here it gets a code and is broken into lines, and a command that it names moves to
//! the line that begins with `try:`.

use super::exit::{CliError, Exit};
use ebb_core::domain::guard::TooFar;
use ebb_core::domain::ids::shell_word;
use ebb_core::domain::tunables::correction;
use ebb_core::service::backup::BackupError;
use ebb_core::service::backup::file::FileError;
use ebb_core::service::events::{FeedError, ImportError};
use ebb_core::service::git::GitError;
use ebb_core::service::{Error, RefusedWhy};

impl From<Error> for CliError {
    fn from(error: Error) -> Self {
        match error {
            Error::Unavailable { uri, why } => {
                Self::new(Exit::Unreachable, format!("Neo4j at {uri} cannot be reached"))
                    .why(why)
                    .try_this("ebb doctor, once the server runs and NEO4J_URI names it")
            }
            Error::OutcomeUnknown { .. } => Self::new(Exit::Unreachable, error)
                .why("with --request-id ID a repeated command counts once; without, check first whether it was written")
                .try_this("ebb doctor, then look at what was to be written"),
            Error::Login { uri, user, why } => {
                Self::new(Exit::Unreachable, format!("Neo4j at {uri} refused the login of user {user}"))
                    .why(why)
                    .try_this("set NEO4J_USERNAME, and NEO4J_PASSWORD or NEO4J_PASSWORD_FILE")
            }
            Error::Tunables(faults) => {
                let what = "the ConsolidationConfig node in the graph cannot be used";
                let error = Self::new(Exit::Configuration, what);
                let command = format!(
                    "in Neo4j Browser (Ebb's defaults, not your former values): {}",
                    correction(&faults)
                );
                faults.iter().fold(error, Self::why).try_this(command)
            }
            Error::TunableMissing(_) => from_message(&error.to_string()).ending(Exit::Configuration),
            Error::Policies(faults) => {
                let error = Self::new(Exit::Configuration, "the policies in the graph cannot be used");
                faults
                    .iter()
                    .fold(error, Self::why)
                    .try_this("correct them in Neo4j Browser: MATCH (p:EbbPolicy) RETURN p")
            }
            Error::NotFound { what, ref id } => not_found(&error, what, id),
            Error::Refused { ref id, ref why } => {
                let hint = match why {
                    RefusedWhy::StubOf(living) => format!("ebb memory show {}", shell_word(living)),
                    _ => format!("ebb memory explain {}", shell_word(id)),
                };
                Self::failed(&error).try_this(hint)
            }
            Error::Quarantined { .. } => Self::failed(&error)
                .why("correct the value in Neo4j Browser, then: ebb doctor --fix")
                .try_this("ebb inspect quarantine"),
            Error::Invalid(why) => from_message(&why).ending(Exit::Usage),
            Error::Guarded(ref too_much) => Self::new(Exit::Guarded, &error)
                .why("nothing was written")
                .try_this(format!("the same command with --accept-affected {}", too_much.affected)),
            Error::TooFar(TooFar::Impossible(_)) => Self::usage(&error),
            Error::TooFar(TooFar::Unaccepted(cycles)) => Self::new(Exit::Guarded, &error)
                .why("nothing was written")
                .try_this(format!("the same command with --accept-cycles {cycles}")),
            Error::Query { ref code, .. } if code == "Neo.ClientError.Security.Forbidden" => {
                Self::new(Exit::NotAllowed, &error).try_this("the same command as a user with that privilege")
            }
            Error::Query { ref code, .. } if code == "Neo.ClientError.Database.DatabaseNotFound" => {
                Self::failed(&error).try_this("NEO4J_DATABASE=NAME with the name of an existing database")
            }
            Error::Query { .. } | Error::Decode { .. } => match error.refusal() {
                Some(refusal) => Self::failed(refusal).why(&error),
                None => Self::failed(&error),
            }
            .try_this("ebb doctor"),
            // Conflicts, fences, schema and scratch say themselves what to do.
            other => from_message(&other.to_string()),
        }
    }
}

/// The error of what is not there, with the command that lists what is.
fn not_found(error: &Error, what: &str, id: &str) -> CliError {
    let hint = match what {
        "session" => "ebb inspect sessions",
        "attempt" => "ebb attempt list --all",
        "question" => "ebb inspect",
        "policy" => "ebb policy list",
        "sweep" => "ebb job history sweep",
        "key" => "ebb key list",
        "run with a journal" => "ebb undo",
        "place" => "ebb trail cold",
        "edge" => "ebb trail edge add FROM TYPE TO",
        "relation" => "ebb relation list",
        "scope" => "ebb scope list",
        "memory" => {
            return CliError::failed(error)
                .why("not in this scope: others are named by ebb scope list, and chosen by --scope NAME")
                .try_this(format!("ebb why-not {}", shell_word(id)));
        }
        _ => "ebb memory list",
    };
    CliError::failed(error).try_this(hint)
}

impl From<GitError> for CliError {
    fn from(error: GitError) -> Self {
        match error {
            GitError::Store(why) => why.into(),
            why @ GitError::Read { .. } => {
                Self::failed(why).try_this("ebb import --git FOLDER, with a repository")
            }
            why => from_message(&why.to_string()),
        }
    }
}

impl From<BackupError> for CliError {
    fn from(error: BackupError) -> Self {
        match error {
            BackupError::Store(why) => why.into(),
            BackupError::File(why @ FileError::Newer { .. }) => Self::failed(why)
                .try_this("the same command with the version of Ebb that made it, or a later one"),
            BackupError::File(why @ FileError::Changed { .. }) => {
                Self::failed(why).try_this("the same command: it starts again")
            }
            BackupError::File(why @ (FileError::Line { .. } | FileError::Read { .. })) => {
                Self::failed(why).why("nothing was written").try_this("ebb restore FILE, with a whole backup")
            }
            other => Self::failed(other),
        }
    }
}

impl From<ImportError> for CliError {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Store(why) => why.into(),
            ImportError::Recall(why) => why.into(),
            ImportError::File(why @ FeedError::Line { .. }) => bad_line(&why),
            ImportError::File(why @ FeedError::OutOfOrder { .. }) => {
                Self::failed(why).try_this("the same command, with a file that is sorted by its instants")
            }
            ImportError::Line { .. } => bad_line(&error),
            other => Self::failed(other),
        }
    }
}

fn bad_line(error: &dyn std::fmt::Display) -> CliError {
    let text = error.to_string();
    let (what, rest) = text.split_once('\n').unwrap_or((&text, ""));
    CliError::failed(what)
        .why(rest)
        .why("an import or a replay has written the batches before that of this line, and nothing of that batch")
        .try_this("correct the line and repeat the command (ebb import and ebb replay also take --skip-bad)")
}

/// Splits a message that holds its own advice: the first clause is what, the rest why, a command at its end what to try.
fn from_message(text: &str) -> CliError {
    let marks = [". Run: ", ". Write it with: ", ". See: ", ", then run: ", ": ebb "];
    let cut = marks.iter().find_map(|mark| text.rsplit_once(mark).map(|(text, hint)| (text, *mark, hint)));
    let (text, hint) = match cut {
        Some((text, ": ebb ", hint)) => (text, Some(format!("ebb {hint}"))),
        Some((text, _, hint)) => (text, Some(hint.to_owned())),
        None => (text, None),
    };
    let end = ["\n", "; ", ". "].iter().filter_map(|mark| Some((text.find(mark)?, mark.len()))).min();
    let (what, why) = end.map_or((text, ""), |(at, mark)| (&text[..at], &text[at + mark..]));
    let error = CliError::failed(what.trim_end_matches(':')).why(why.replace(". ", ".\n"));
    match hint {
        Some(hint) => error.try_this(hint),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(error: CliError) -> (u8, String) {
        let mut text = Vec::new();
        error.write_to(&mut text, false).unwrap();
        (error.exit().code(), String::from_utf8(text).unwrap())
    }

    #[test]
    fn each_meaning_has_its_code() {
        let uri = || "bolt://h:7687".to_owned();
        let cases = [
            (Error::Unavailable { uri: uri(), why: "refused".into() }, 5),
            (Error::Login { uri: uri(), user: "neo4j".into(), why: "no".into() }, 5),
            (Error::OutcomeUnknown { what: "memory.pin", why: "cut".into() }, 5),
            (Error::Tunables(Vec::new()), 6),
            (Error::TunableMissing("workingDecay".into()), 6),
            (Error::Schema("x".into()), 1),
            (Error::NotFound { what: "memory", id: "m".into() }, 1),
            (Error::Conflict("taken".into()), 1),
        ];
        for (error, code) in cases {
            let name = error.to_string();
            assert_eq!(CliError::from(error).exit().code(), code, "{name}");
        }
    }

    #[test]
    fn advice_inside_a_message_becomes_the_next_command() {
        let schema =
            Error::Schema("the database is not initialised for this version of Ebb. Run: ebb init".into());
        let text = "error: the database is not initialised for this version of Ebb\n  try: ebb init\n";
        assert_eq!(said(schema.into()), (1, text.to_owned()));
        let rows =
            Error::Conflict("rows are in the way:\n  Memory \"a\"\nMerge them, then run: ebb init".into());
        let text = "error: rows are in the way\n  Memory \"a\"\n  Merge them\n  try: ebb init\n";
        assert_eq!(said(rows.into()), (1, text.to_owned()));
    }

    #[test]
    fn an_id_in_a_command_is_one_word_of_it() {
        let gone = Error::NotFound { what: "memory", id: "a'; rm -r b".into() };
        assert!(said(gone.into()).1.ends_with("  try: ebb why-not 'a'\\''; rm -r b'\n"));
        assert_eq!([shell_word("a/b-1"), shell_word("")], ["a/b-1", "''"]);
    }

    #[test]
    fn a_bad_line_is_printed_with_its_place() {
        let line = FeedError::Line { path: "e.ndjson".into(), line: 7, why: "no kind".into() };
        let (code, text) = said(ImportError::from(line).into());
        assert_eq!(code, 1);
        assert!(text.starts_with("error: e.ndjson:7: no kind\n") && text.contains("--skip-bad"), "{text}");
    }
}
