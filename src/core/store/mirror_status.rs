//! What processes say of the mirrors they keep, left in the graph for whoever asks how things stand.
//!
//! A process that answers from memory leaves a counter `mirror:<scope>:<process>` each time it has looked at the graph, with
//! the server's time, and takes it away when it stops. One that was killed cannot: its row grows old, which is how it is told
//! from one that looks, and the audit removes it after a day.

use super::Store;
use super::catalogue::{MIRROR_CLEAR, MIRROR_PUBLISH, MIRROR_STATUS};
use super::error::Error;
use super::tx::{Mode, Tx};
use crate::domain::ids::Scope;
use serde::Deserialize;
use std::time::Duration;

/// What a process holds of a scope, as it says it.
#[derive(Debug, Clone, PartialEq)]
pub struct MirrorReport {
    /// Whose.
    pub scope: Scope,
    /// Which state.
    pub generation: u64,
    /// Nodes.
    pub nodes: usize,
    /// Slots.
    pub slots: usize,
    /// Bytes.
    pub bytes: usize,
    /// Outcomes that it has learned.
    pub tick: u64,
    /// Slots for which something was learned.
    pub learned: usize,
    /// Whether everything that may be mirrored is in it.
    pub whole: bool,
    /// Nodes in it divided by nodes that may be.
    pub held_share: f64,
    /// Time from one look at the graph to the next.
    pub refresh: Duration,
    /// From which age on its answers say that they are stale.
    pub staleness: Duration,
}

/// What a process said, and how long ago.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MirrorStatus {
    /// Whose.
    pub scope: String,
    /// Which process, by the name that its leases are held under.
    pub process: String,
    /// Milliseconds since it looked, by the server's clock.
    pub age_ms: i64,
    /// Which state it holds.
    pub generation: i64,
    /// Nodes.
    pub nodes: i64,
    /// Slots.
    pub slots: i64,
    /// Bytes.
    pub bytes: i64,
    /// Outcomes that it has learned.
    pub tick: i64,
    /// Slots for which something was learned.
    pub learned: i64,
    /// Whether everything that may be mirrored is in it.
    pub whole: bool,
    /// Nodes in it divided by nodes that may be.
    pub held_share: f64,
    /// Milliseconds from one look to the next.
    pub refresh_ms: i64,
    /// From how many milliseconds on its answers say that they are stale.
    pub stale_ms: i64,
}

impl MirrorStatus {
    /// Whether it looked longer ago than it means to: it is late, or was killed.
    #[must_use]
    pub const fn is_stale(&self) -> bool {
        self.age_ms > self.stale_ms
    }
}

impl Store {
    /// Says what this process holds of a scope, and that it has just looked. Tried once: there is a next time.
    pub async fn publish_mirror(&self, report: &MirrorReport) -> Result<(), Error> {
        let whole = |number: u128| i64::try_from(number).unwrap_or(i64::MAX);
        let size = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        self.transactions
            .run_once("mirror.publish", Mode::Write, async |tx: &mut Tx| {
                let call = MIRROR_PUBLISH
                    .call()
                    .set("name", self.mirror_name(&report.scope).as_str())
                    .set("scope", report.scope.as_str())
                    .set("process", self.holder.as_str())
                    .set("generation", whole(report.generation.into()))
                    .set("nodes", size(report.nodes))
                    .set("slots", size(report.slots))
                    .set("bytes", size(report.bytes))
                    .set("tick", whole(report.tick.into()))
                    .set("learned", size(report.learned))
                    .set("whole", report.whole)
                    .set("heldShare", report.held_share)
                    .set("refreshMs", whole(report.refresh.as_millis()))
                    .set("staleMs", whole(report.staleness.as_millis()));
                tx.run(call).await
            })
            .await
    }

    /// Takes away what this process said of these scopes.
    pub async fn clear_mirrors(&self, scopes: &[Scope]) -> Result<(), Error> {
        self.transactions
            .run("mirror.clear", Mode::Write, async |tx: &mut Tx| {
                for scope in scopes {
                    tx.run(MIRROR_CLEAR.call().set("name", self.mirror_name(scope).as_str())).await?;
                }
                Ok(())
            })
            .await
    }

    /// What all processes say that they hold.
    pub async fn mirrors_status(&self) -> Result<Vec<MirrorStatus>, Error> {
        self.transactions
            .run("mirror.status", Mode::Read, async |tx: &mut Tx| tx.rows(MIRROR_STATUS.call()).await)
            .await
    }

    fn mirror_name(&self, scope: &Scope) -> String {
        format!("mirror:{scope}:{}", self.holder)
    }
}
