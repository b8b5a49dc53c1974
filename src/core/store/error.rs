//! Errors of the database, classified by their meaning for a caller.
//!
//! The server's codes are classified here and nowhere else. Three of them are misleading: a transaction time-out is
//! named a client error and is worth a retry with half the page; a memory error is named transient and is not, at the
//! same size; and a message that begins "The transaction has been terminated" may come under a permanent code and
//! deserves one retry.

use crate::domain::guard::{TooFar, TooMuch};
use crate::domain::memory::Refused;
use crate::domain::policy::PolicyFault;
use crate::domain::tunables::{TunableFault, correction};

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No connection, or it broke and could not be restored.
    #[error("Neo4j at {uri} cannot be reached: {why}")]
    Unavailable { uri: String, why: String },
    /// The server does not accept the credentials.
    #[error("Neo4j at {uri} refused the login of user {user}: {why}")]
    Login { uri: String, user: String, why: String },
    /// The server answered a statement with an error.
    #[error("statement {statement} failed: {message} ({code})")]
    Query {
        /// File under `cypher/`.
        statement: &'static str,
        code: String,
        message: String,
        /// Meaning of the code for a caller.
        class: Class,
    },
    /// A row of another shape than declared in the statement's header.
    #[error("statement {statement} returned an unexpected row: {detail}")]
    Decode {
        /// File under `cypher/`.
        statement: &'static str,
        /// Column and types.
        detail: String,
    },
    /// The outcome of a commit is unknown and could not be settled in time.
    #[error("the connection broke while {what} was being committed, and the outcome is unknown: {why}")]
    OutcomeUnknown { what: &'static str, why: String },
    /// The database was not initialised, or by another version.
    #[error("{0}")]
    Schema(String),
    /// The tunables in the graph are invalid.
    #[error("the ConsolidationConfig node in the graph cannot be used: {}. Correct it in Neo4j Browser: {}", list(.0), correction(.0))]
    Tunables(Vec<TunableFault>),
    /// A tunable in the graph is missing or has a wrong type.
    #[error(
        "the ConsolidationConfig node in the graph has no number in {0}. Remove what is no number, then run: ebb init"
    )]
    TunableMissing(String),
    /// The policies in the graph are invalid.
    #[error("the policies in the graph cannot be used: {}", named(.0))]
    Policies(Vec<PolicyFault>),
    /// An invalid request.
    #[error("{0}")]
    Invalid(String),
    #[error("there is no {what} {id}")]
    NotFound { what: &'static str, id: String },
    /// The id is in use for something else, or a request id was used for another request.
    #[error("{0}")]
    Conflict(String),
    /// A law does not allow it.
    #[error("memory {id}: {why}")]
    Refused {
        id: String,
        /// The reason, with the name of the living memory for a stub.
        why: RefusedWhy,
    },
    /// An invalid row. It is quarantined and unchanged.
    #[error("{id} is quarantined: {reason}")]
    Quarantined { id: String, reason: String },
    /// The guard stopped it: nothing was written.
    #[error("the guard stopped this before it wrote: {0}")]
    Guarded(TooMuch),
    /// The guard stopped an advance of the cycle: nothing was written.
    #[error("the guard stopped this before it wrote: {0}")]
    TooFar(TooFar),
    /// Another program took over the work; nothing was written after that.
    #[error("{0}")]
    Fenced(String),
    /// The database contains data that a scratch database must not.
    #[error("{0}")]
    NotScratch(String),
}

/// The reason why a law refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RefusedWhy {
    #[error("{0}")]
    Law(Refused),
    /// A stub, with the id of its living memory.
    #[error("it is the stub of a promotion; the living memory is {0}")]
    StubOf(String),
}

/// The reason why a server refuses a valid request until a person changes something there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It accepts no writes; reads work.
    #[error("the database is read-only")]
    ReadOnly,
    /// The user lacks a right.
    #[error("the user of the database lacks a right that Ebb needs")]
    Forbidden,
    /// It stopped itself after an error of its own, such as a full disk, and neither reads nor writes.
    #[error("the database has stopped itself after a fault, such as a full disk")]
    Stopped,
}

impl Refusal {
    /// Advice for a person.
    #[must_use]
    pub const fn fix(self) -> &'static str {
        match self {
            Self::ReadOnly => {
                "make it writable: see server.databases.default_to_read_only and server.databases.read_only of the \
                 server; in a cluster, connect with neo4j://, so that any server forwards writes to the leader \
                 (dbms.routing.enabled)"
            }
            Self::Forbidden => {
                "give the user a role that may read, write and create names, such as publisher, or architect for ebb init"
            }
            Self::Stopped => "check the disk space of the server and its debug.log; then restart the server",
        }
    }
}

/// Meaning of a server's error code for the sender of the statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Retry soon.
    Transient,
    /// Retry with half the page.
    TooBig,
    /// Retry once.
    Terminated,
    /// Wait for a person to change something at the server: neither the statement nor its input is at fault.
    Refused(Refusal),
    /// Never retry: the statement or its input is at fault.
    Permanent,
}

impl Class {
    /// Classifies a code and its message.
    #[must_use]
    pub fn of(code: &str, message: &str) -> Self {
        match code {
            "Neo.TransientError.General.MemoryPoolOutOfMemoryError"
            | "Neo.TransientError.General.OutOfMemoryError"
            | "Neo.ClientError.Transaction.TransactionTimedOut"
            | "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration" => Self::TooBig,
            "Neo.ClientError.Transaction.Terminated"
            | "Neo.TransientError.Transaction.Terminated"
            | "Neo.ClientError.Transaction.LockClientStopped" => Self::Terminated,
            "Neo.ClientError.Statement.EntityNotFound" => Self::Transient,
            "Neo.ClientError.General.WriteOnReadOnlyAccessDatabase"
            | "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase"
            | "Neo.ClientError.Cluster.NotALeader" => Self::Refused(Refusal::ReadOnly),
            "Neo.ClientError.Security.Forbidden" => Self::Refused(Refusal::Forbidden),
            _ if code.starts_with("Neo.DatabaseError.Transaction.") => Self::Refused(Refusal::Stopped),
            _ if code.starts_with("Neo.TransientError.") => Self::Transient,
            _ if message.starts_with("The transaction has been terminated") => Self::Terminated,
            _ => Self::Permanent,
        }
    }
}

/// Codes of statements that failed on the values of a row.
const OF_DATA: [&str; 5] = [
    "Neo.ClientError.Statement.TypeError",
    "Neo.ClientError.Statement.ArgumentError",
    "Neo.ClientError.Statement.ArithmeticError",
    "Neo.ClientError.Schema.ConstraintValidationFailed",
    "Neo.DatabaseError.Statement.ExecutionFailed",
];

impl Error {
    /// Whether a page of half the size might succeed.
    #[must_use]
    pub fn is_too_big(&self) -> bool {
        matches!(self, Self::Query { class: Class::TooBig, .. })
    }

    /// Whether the values of a row, or a constraint on them, made the statement fail: it may succeed without that row.
    #[must_use]
    pub fn is_of_data(&self) -> bool {
        match self {
            Self::Query { code, class: Class::Permanent, .. } => OF_DATA.contains(&code.as_str()),
            Self::Decode { .. } => true,
            _ => false,
        }
    }

    /// The reason for the quarantine of a row on which a statement failed: the name of the statement and the server's
    /// message, cut to the length of a property.
    pub(super) fn quarantine_reason(&self) -> String {
        const MESSAGE_MAX: usize = 500;
        let (statement, message) = match self {
            Self::Query { statement, message, .. } => (*statement, message.clone()),
            Self::Decode { statement, detail } => (*statement, detail.clone()),
            why => ("a statement", why.to_string()),
        };
        let message: String = message.chars().take(MESSAGE_MAX).collect();
        format!("{statement} failed on it: {message}")
    }

    /// Whether a retry of the same statement may succeed.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Query { class: Class::Transient | Class::TooBig | Class::Terminated, .. })
    }

    /// Whether the server could not do it now, whatever it was.
    pub(super) const fn is_of_server(&self) -> bool {
        let query = matches!(
            self,
            Self::Query {
                class: Class::Transient | Class::Terminated | Class::TooBig | Class::Refused(_),
                ..
            }
        );
        query || matches!(self, Self::Unavailable { .. } | Self::OutcomeUnknown { .. })
    }

    /// The reason why the server refuses this, if neither the statement nor its input is at fault.
    #[must_use]
    pub const fn refusal(&self) -> Option<Refusal> {
        match self {
            Self::Query { class: Class::Refused(why), .. } => Some(*why),
            _ => None,
        }
    }

    /// Whether a commit with this error may have succeeded. A server that stops itself, as when its disk is full, may
    /// recover unacknowledged commits from its log, and reports to their senders that it is unavailable. Errors of the
    /// request itself, or of other transactions, are detected before the commit is written.
    #[must_use]
    pub(super) fn is_doubtful_at_commit(&self) -> bool {
        let certain =
            ["Neo.ClientError.", "Neo.TransientError.Transaction.", "Neo.TransientError.General.MemoryPool"];
        // A leader that is deposed may have passed the commit on before.
        self.is_not_leader()
            || matches!(self, Self::Query { code, .. } if !certain.iter().any(|start| code.starts_with(start)))
    }

    /// Whether the work was interrupted: another holder has the run, or the server is unreachable. It may continue
    /// elsewhere.
    #[must_use]
    pub const fn is_cut_off(&self) -> bool {
        matches!(self, Self::Fenced(_) | Self::Unavailable { .. } | Self::OutcomeUnknown { .. })
    }

    /// Whether a constraint or index to be created exists: another program has just created it after the check of `IF
    /// NOT EXISTS`.
    #[must_use]
    pub fn is_made_already(&self) -> bool {
        let codes = ["EquivalentSchemaRuleAlreadyExists", "ConstraintAlreadyExists", "IndexAlreadyExists"];
        matches!(self, Self::Query { code, .. }
            if code.strip_prefix("Neo.ClientError.Schema.").is_some_and(|code| codes.contains(&code)))
    }

    /// Whether the server is a member of a cluster and not the leader, or no longer.
    pub(super) fn is_not_leader(&self) -> bool {
        matches!(self, Self::Query { code, .. } if code == "Neo.ClientError.Cluster.NotALeader")
    }

    /// Whether a uniqueness constraint was violated.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        matches!(self, Self::Query { code, .. } if code == "Neo.ClientError.Schema.ConstraintValidationFailed")
    }
}

fn named(faults: &[PolicyFault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn list(faults: &[TunableFault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_lie_are_sorted_by_what_they_mean() {
        let class = |code| Class::of(code, "");
        assert_eq!(class("Neo.TransientError.Transaction.DeadlockDetected"), Class::Transient);
        assert_eq!(class("Neo.TransientError.General.MemoryPoolOutOfMemoryError"), Class::TooBig);
        let timed_out = "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration";
        assert_eq!(class(timed_out), Class::TooBig);
        assert_eq!(class("Neo.ClientError.Transaction.Terminated"), Class::Terminated);
        assert_eq!(class("Neo.ClientError.Statement.TypeError"), Class::Permanent);
        for (code, why) in [
            ("Neo.ClientError.General.WriteOnReadOnlyAccessDatabase", Refusal::ReadOnly),
            ("Neo.ClientError.Security.Forbidden", Refusal::Forbidden),
            ("Neo.DatabaseError.Transaction.TransactionStartFailed", Refusal::Stopped),
            ("Neo.DatabaseError.Transaction.TransactionLogError", Refusal::Stopped),
        ] {
            assert_eq!(class(code), Class::Refused(why));
        }
        let doubtful = |code: &str| {
            let (code, message) = (code.to_owned(), String::new());
            Error::Query { statement: "COMMIT", class: Class::of(&code, ""), code, message }
                .is_doubtful_at_commit()
        };
        for code in [
            "Neo.DatabaseError.Transaction.TransactionLogError",
            "Neo.ClientError.Cluster.NotALeader",
            "Neo.TransientError.General.DatabaseUnavailable",
            "Neo.DatabaseError.General.UnknownError",
        ] {
            assert!(doubtful(code), "{code}");
        }
        for code in [
            "Neo.ClientError.Schema.ConstraintValidationFailed",
            "Neo.TransientError.Transaction.DeadlockDetected",
            "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
        ] {
            assert!(!doubtful(code), "{code}");
        }
        let late = "The transaction has been terminated. Retry your operation in a new transaction";
        assert_eq!(Class::of("Neo.ClientError.Schema.ConstraintValidationFailed", late), Class::Terminated);
    }

    #[test]
    fn a_failure_on_data_is_told_from_others_and_named_within_a_length() {
        let failed = |code: &str, message: &str| Error::Query {
            statement: "memory/decay",
            code: code.to_owned(),
            message: message.to_owned(),
            class: Class::of(code, message),
        };
        for code in OF_DATA {
            assert!(failed(code, "").is_of_data(), "{code}");
        }
        for code in [
            "Neo.ClientError.Statement.SyntaxError",
            "Neo.ClientError.Statement.ParameterMissing",
            "Neo.ClientError.Security.Forbidden",
            "Neo.TransientError.Transaction.DeadlockDetected",
            "Neo.DatabaseError.Transaction.TransactionCommitFailed",
        ] {
            assert!(!failed(code, "").is_of_data(), "{code}");
        }
        let late = "The transaction has been terminated. Retry your operation in a new transaction";
        assert!(!failed(OF_DATA[3], late).is_of_data());
        let long = failed(OF_DATA[0], &"ü".repeat(10_000)).quarantine_reason();
        assert_eq!(long, format!("memory/decay failed on it: {}", "ü".repeat(500)));
    }
}
