//! Scratch databases: their time may be simulated, since they contain no real memories.

use super::Store;
use super::catalogue::{SCRATCH_ADVANCE, SCRATCH_EMPTY, SCRATCH_LOOK, SCRATCH_MARK};
use super::error::Error;
use super::tx::{Mode, Tx};
use crate::domain::units::Timestamp;
use serde::Deserialize;

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

    /// Marks a database as scratch if it has the marker already, or contains only what `ebb init` writes.
    ///
    /// # Errors
    /// [`Error::NotScratch`] if it contains anything else. Nothing is written then.
    pub async fn claim_scratch(&self) -> Result<(), Error> {
        self.check_scratch().await?;
        self.transactions
            .run("scratch.mark", Mode::Write, async |tx: &mut Tx| {
                tx.run(SCRATCH_MARK.call().set("holder", self.holder.as_str())).await
            })
            .await?;
        self.forget_present();
        Ok(())
    }

    /// Checks that a database can be marked as scratch.
    ///
    /// # Errors
    /// As [`Store::claim_scratch`].
    pub async fn check_scratch(&self) -> Result<(), Error> {
        let look = self.look_scratch().await?;
        if !look.marked && look.foreign > 0 {
            return Err(Error::NotScratch(format!(
                "the database at {} holds {} nodes that are not Ebb's own bookkeeping; simulated time must not touch \
                 real memories. Give it an empty database (NEO4J_DATABASE, or NEO4J_URI of another server), or let Ebb \
                 start one of its own by leaving NEO4J_URI unset",
                self.uri(),
                look.foreign
            )));
        }
        Ok(())
    }

    /// Deletes all that was written into a scratch database since it was marked, and all of Ebb's. Another database loses nothing.
    pub async fn empty_scratch(&self) -> Result<(), Error> {
        if self.scratch().await?.is_some() {
            self.each_page("scratch.empty", &SCRATCH_EMPTY).await?;
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
    foreign: i64,
}
