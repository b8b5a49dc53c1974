//! The status of mirrors, published in the graph by each process.
//!
//! A process with a mirror writes a counter `mirror:<scope>:<process>` at each refresh, with the server's time, and
//! deletes it when it stops. A process that was killed does not: its row becomes old, which distinguishes it from live
//! ones, and the audit removes it after a day.

use super::Store;
use super::catalogue::{MIRROR_CLEAR, MIRROR_PUBLISH, MIRROR_STATUS};
use super::error::Error;
use super::tx::{Mode, Tx};
use crate::domain::ids::Scope;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Status of a process's mirror of a scope.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all(deserialize = "camelCase"))]
pub struct MirrorStatus {
    /// Scope.
    pub scope: String,
    /// Process.
    pub process: String,
    /// Milliseconds since its last refresh, by the database's clock.
    pub age_ms: i64,
    /// Whether that exceeds its configured limit: it is late, or was killed. Such a status is removed after a day.
    pub stale: bool,
    /// Generation; each process counts its own.
    pub generation: i64,
    /// Nodes.
    pub nodes: i64,
    /// Relationships, each direction counted.
    pub slots: i64,
    /// Bytes.
    pub bytes: i64,
    /// Learned outcomes.
    pub tick: i64,
    /// Relationships with learned weights, each direction counted.
    pub learned: i64,
    /// Whether all candidates are mirrored.
    pub whole: bool,
    /// Mirrored nodes divided by candidates, 1 if all are mirrored.
    pub held_share: f64,
    /// Milliseconds between two refreshes.
    pub refresh_ms: i64,
    /// Age from which its responses are marked stale, milliseconds.
    #[serde(skip_serializing)]
    #[schemars(skip)]
    pub stale_ms: i64,
}

impl Store {
    /// Publishes the status of this process's mirror of a scope after a refresh. Not retried: there is a next time.
    pub async fn publish_mirror(&self, status: &MirrorStatus) -> Result<(), Error> {
        self.transactions
            .run_once("mirror.publish", Mode::Write, async |tx: &mut Tx| {
                let call = MIRROR_PUBLISH
                    .call()
                    .set("name", self.mirror_name(&status.scope).as_str())
                    .set("scope", status.scope.as_str())
                    .set("process", status.process.as_str())
                    .set("generation", status.generation)
                    .set("nodes", status.nodes)
                    .set("slots", status.slots)
                    .set("bytes", status.bytes)
                    .set("tick", status.tick)
                    .set("learned", status.learned)
                    .set("whole", status.whole)
                    .set("heldShare", status.held_share)
                    .set("refreshMs", status.refresh_ms)
                    .set("staleMs", status.stale_ms);
                tx.run(call).await
            })
            .await
    }

    /// Deletes the status of this process for these scopes.
    pub async fn clear_mirrors(&self, scopes: &[Scope]) -> Result<(), Error> {
        self.transactions
            .run("mirror.clear", Mode::Write, async |tx: &mut Tx| {
                for scope in scopes {
                    tx.run(MIRROR_CLEAR.call().set("name", self.mirror_name(scope.as_str()).as_str()))
                        .await?;
                }
                Ok(())
            })
            .await
    }

    /// Status of the mirrors of all processes.
    pub async fn mirrors_status(&self) -> Result<Vec<MirrorStatus>, Error> {
        self.read(MIRROR_STATUS.call()).await
    }

    fn mirror_name(&self, scope: &str) -> String {
        format!("mirror:{scope}:{}", self.holder)
    }
}
