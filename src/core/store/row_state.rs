//! States that Ebb keeps of rows of other libraries: pins, hides and reported accesses.
//!
//! Nothing is written on such a row: a library replaces all properties of a row that it saves, reads those that it does
//! not know into its prompts, and writes them back stale. So a state is a node of its own, `EbbState`, with a unique key.

use super::Store;
use super::catalogue::{ADOPTED_SET_STATES, ADOPTED_STATED_SCOPES};
use super::encode::list;
use super::error::Error;
use super::mirror::{FACT_STATE, NODE_STATE, STATE_LABEL};
use super::request::{RequestMode, answer, open};
use super::tx::{Mode, Tx};
use crate::domain::ids::Scope;
use crate::domain::units::Timestamp;

/// Change of states. `None` leaves a value as it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StateChange {
    pub pinned: Option<bool>,
    pub hidden: Option<bool>,
    /// Whether the rows were accessed.
    pub accessed: bool,
}

/// A row of another library whose state changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatedRow {
    /// A node, by its key.
    Node(String),
    /// A fact, by its key, with the keys of its ends.
    Fact { key: String, ends: Vec<String> },
}

impl StatedRow {
    const fn parts(&self) -> (&'static str, &String) {
        match self {
            Self::Node(key) => (NODE_STATE, key),
            Self::Fact { key, .. } => (FACT_STATE, key),
        }
    }
}

impl Store {
    /// The scopes in which there are states.
    pub async fn stated_scopes(&self) -> Result<Vec<Scope>, Error> {
        let scopes: Vec<String> = self.read(ADOPTED_STATED_SCOPES.call()).await?;
        Ok(scopes.iter().filter_map(|scope| Scope::new(scope).ok()).collect())
    }

    /// Changes the states of rows of a scope, once under a request id, or as a dry run. Returns their number and the instant
    /// of the change.
    ///
    /// # Errors
    /// [`Error::Conflict`] for a request id that was used for other contents.
    pub async fn set_states(
        &self,
        mode: RequestMode<'_>,
        (scope, rows): (&Scope, &[StatedRow]),
        change: StateChange,
        at: Timestamp,
    ) -> Result<(usize, Timestamp), Error> {
        self.transactions
            .run("state.set", Mode::Write, async |tx: &mut Tx| {
                if let Some(done) = open(tx, mode).await? {
                    return Ok(done);
                }
                for row in rows {
                    match row {
                        StatedRow::Node(key) => tx.touch(STATE_LABEL, scope.as_str(), key, ""),
                        StatedRow::Fact { ends, .. } => {
                            ends.iter()
                                .for_each(|end| tx.touch(STATE_LABEL, scope.as_str(), end, FACT_STATE));
                        }
                    }
                }
                let call = ADOPTED_SET_STATES
                    .call()
                    .set("scope", scope.as_str())
                    .set("kinds", list(rows.iter().map(|row| row.parts().0)))
                    .set("keys", list(rows.iter().map(|row| row.parts().1.as_str())))
                    .set("pinned", change.pinned)
                    .set("hidden", change.hidden)
                    .set("accesses", i64::from(change.accessed))
                    .set("at", at.millis());
                tx.run(call).await?;
                let done = (rows.len(), at);
                answer(tx, mode, &done);
                Ok(done)
            })
            .await
    }
}
