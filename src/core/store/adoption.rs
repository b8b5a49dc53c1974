//! Counts by which a run knows whether rows of other writers are to be adopted.
//!
//! Ebb adopts rows of the documented shape alone, and leaves all others of the same label to their writers. A pass over
//! the rows that are not adopted costs a scan, so a pass records how many it left: the next one runs when rows and
//! adopted rows differ by another number. The daily audit makes a pass in any case, since a number stays the same where
//! as many rows came as went.

use super::Store;
use super::catalogue::{FACT_ADOPTION, FOREIGN_RECORD, MEMORY_ADOPTION};
use super::error::Error;
use super::statement::{Call, PageMode};
use super::tally::Tally;
use super::tx::{Mode, Tx};
use serde::Deserialize;

/// Label of adopted rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AdoptedLabel {
    Memory,
    Fact,
}

impl AdoptedLabel {
    fn counts(self) -> Call {
        match self {
            Self::Memory => MEMORY_ADOPTION.call(),
            Self::Fact => FACT_ADOPTION.call(),
        }
    }

    /// Name of the counter of foreign rows.
    const fn counter(self) -> &'static str {
        match self {
            Self::Memory => "foreign:Memory",
            Self::Fact => "foreign:Fact",
        }
    }
}

/// Counts of the rows of a label.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct AdoptionCounts {
    /// All rows.
    pub rows: i64,
    /// Rows under the laws, or quarantined.
    pub adopted: i64,
    /// Rows that the last pass left to other writers, since they do not have the documented shape.
    pub foreign: i64,
}

impl AdoptionCounts {
    /// Whether rows came or went since the last pass.
    #[must_use]
    pub const fn is_pass_due(&self) -> bool {
        self.rows - self.adopted != self.foreign
    }

    /// Rows that came since the last pass, at least.
    #[must_use]
    pub fn waiting(&self) -> i64 {
        (self.rows - self.adopted - self.foreign).max(0)
    }
}

impl Store {
    /// Counts of memories.
    pub async fn memory_adoption(&self) -> Result<AdoptionCounts, Error> {
        self.adoption("memory.adoption", AdoptedLabel::Memory).await
    }

    /// Counts of facts.
    pub async fn fact_adoption(&self) -> Result<AdoptionCounts, Error> {
        self.adoption("fact.adoption", AdoptedLabel::Fact).await
    }

    async fn adoption(&self, name: &'static str, label: AdoptedLabel) -> Result<AdoptionCounts, Error> {
        self.transactions.run(name, Mode::Read, async |tx: &mut Tx| counts(tx, label).await).await
    }
}

/// Counts of a label. A pass reads them before its rows: a row that comes between the two is then counted as new.
pub(super) async fn counts(tx: &mut Tx, label: AdoptedLabel) -> Result<AdoptionCounts, Error> {
    tx.only(label.counts()).await
}

/// Records the number of foreign rows after the last page of a pass.
pub(super) async fn record(
    tx: &mut Tx,
    label: AdoptedLabel,
    before: AdoptionCounts,
    page_mode: PageMode<'_>,
    tally: Tally,
) -> Result<(), Error> {
    let taken = tally.adopted + tally.quarantined;
    let foreign = (before.rows - before.adopted - taken).max(0);
    if page_mode.is_full(taken) || foreign == before.foreign {
        return Ok(());
    }
    let call = FOREIGN_RECORD.call().set("name", label.counter()).set("rows", foreign);
    tx.run(call).await.map(drop)
}
