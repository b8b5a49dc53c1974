//! Entry points of the fuzz targets in `tests/fuzz`: readers that are private to a module, each with its properties.
//!
//! An entry point takes the bytes of an input and panics if a property does not hold. It stands beside its reader, in a
//! module `fuzzing`.

pub use crate::embedder::read_response as embedder;
pub use crate::mirror::{read_state as mirror_state, state_seed as mirror_state_seed};
pub use crate::scheduler::cron::fuzzing::read as cron;
pub use crate::service::backup::file::fuzzing::read as backup;
pub use crate::service::evaluation::read_questions as questions;
pub use crate::service::events::fuzzing::read as events;
pub use crate::service::git::read_log as git_log;
pub use crate::store::statement::fuzzing::read as statement;

#[cfg(test)]
mod tests {
    use crate::corpus::replay;

    #[test]
    fn kept_inputs_are_read() {
        replay("backup", super::backup);
        replay("cron", super::cron);
        replay("embedder", super::embedder);
        replay("events", super::events);
        replay("git_log", super::git_log);
        replay("questions", super::questions);
        replay("statement", super::statement);
    }
}
