//! Scratch databases: their time may be simulated, since they contain no real memories.

use super::Store;
use super::catalogue::{SCRATCH_ADVANCE, SCRATCH_LOOK, SCRATCH_MARK};
use super::error::Error;
use super::tx::{Mode, Tx};
use crate::domain::ids::Scope;
use crate::domain::units::Timestamp;
use serde::Deserialize;

/// The command that deletes everything in a database.
const EMPTYING: &str = "cypher-shell 'MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS'";

impl Store {
    /// Whether this database has the scratch marker, and its simulated time.
    pub async fn scratch(&self) -> Result<Option<Option<Timestamp>>, Error> {
        Ok(self.present().await?.scratch)
    }

    /// Records simulated time: the default instant of requests to a scratch database.
    pub async fn advance_scratch(&self, now: Timestamp) -> Result<(), Error> {
        self.transactions
            .run("scratch.advance", Mode::Write, async |tx: &mut Tx| {
                tx.run(SCRATCH_ADVANCE.call().set("now", now.millis())).await
            })
            .await
    }

    /// Marks a database as scratch for one replay, if it has the marker of it already, or contains only what `ebb init` writes.
    ///
    /// # Errors
    /// [`Error::NotScratch`] if it contains anything else. Nothing is written then.
    pub async fn claim_scratch(&self, work: &str) -> Result<(), Error> {
        self.check_scratch(Some(work)).await?;
        self.transactions
            .run("scratch.mark", Mode::Write, async |tx: &mut Tx| {
                let mark = SCRATCH_MARK.call().set("holder", self.holder.as_str());
                tx.run(mark.set("work", work)).await
            })
            .await?;
        self.forget_present();
        // Of two programs that mark it at once, the first one names its replay.
        self.check_scratch(Some(work)).await
    }

    /// Checks that a database can be marked as scratch for a replay; with none, that it has no mark.
    ///
    /// # Errors
    /// As [`Store::claim_scratch`].
    pub async fn check_scratch(&self, work: Option<&str>) -> Result<(), Error> {
        let Look { marked, work: known, foreign, .. } = self.look_scratch().await?;
        if (known.is_some() && known.as_deref() == work) || (known.is_none() && foreign == 0) {
            return Ok(());
        }
        let found = match marked {
            true => "is marked for another replay or comparison, or by a version of Ebb that did not record for which; events of \
                     two replays must not mix"
                .to_owned(),
            false => format!(
                "holds {foreign} nodes that are not Ebb's own bookkeeping; simulated time must not touch real memories"
            ),
        };
        let emptying = match marked {
            true => format!(". To empty this one: {EMPTYING}; one of a managed server: delete its folder"),
            false => String::new(),
        };
        Err(Error::NotScratch(format!(
            "the database at {} {found}. Give it an empty database (NEO4J_DATABASE, or NEO4J_URI of another server), or let \
             Ebb start one of its own by leaving NEO4J_URI unset{emptying}",
            self.uri()
        )))
    }

    /// Deletes the rows of these scopes, and all that is Ebb's, from a scratch database that this process marked. Another one loses
    /// nothing, and so do other scopes and other libraries.
    ///
    /// # Errors
    /// Those of [`Store::erase`] and [`Store::uninstall`].
    pub async fn empty_scratch(&self, scopes: impl IntoIterator<Item = &Scope>) -> Result<(), Error> {
        if self.look_scratch().await?.holder.as_deref() == Some(self.holder.as_str()) {
            for scope in scopes {
                self.erase(scope, "scratch", &self.holder).await?;
            }
            self.uninstall().await?;
        }
        Ok(())
    }

    async fn look_scratch(&self) -> Result<Look, Error> {
        self.read_one(SCRATCH_LOOK.call()).await
    }
}

#[derive(Deserialize)]
struct Look {
    marked: bool,
    work: Option<String>,
    holder: Option<String>,
    foreign: i64,
}
