//! The status of mirrors, published in the graph by each process.
//!
//! A process that answers from memory leaves a counter `mirror:<scope>:<process>` each time it has looked at the graph, with
//! the server's time, and takes it away when it stops. One that was killed cannot: its row grows old, which is how it is told
//! from one that looks, and the audit removes it after a day.

use super::Store;
use super::catalogue::{MIRROR_CLEAR, MIRROR_PUBLISH, MIRROR_STATUS};
use super::error::Error;
use super::tx::{Mode, Tx};
use crate::domain::ids::Scope;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a process holds in memory of a scope.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all(deserialize = "camelCase"))]
pub struct MirrorStatus {
    /// Whose.
    pub scope: String,
    /// Which process.
    pub process: String,
    /// Milliseconds since it looked at the graph, by the database's clock.
    pub age_ms: i64,
    /// Whether that is longer than its configuration has it: it is late, or was killed. Such a word goes after a day.
    pub stale: bool,
    /// Which state; each process counts its own.
    pub generation: i64,
    /// Nodes.
    pub nodes: i64,
    /// Relationships, each way by itself.
    pub slots: i64,
    /// Bytes.
    pub bytes: i64,
    /// How many outcomes it has learned.
    pub tick: i64,
    /// For how many relationships, each way by itself, something was learned.
    pub learned: i64,
    /// Whether everything that may be held is.
    pub whole: bool,
    /// Nodes that are held divided by nodes that may be, 1 where all are.
    pub held_share: f64,
    /// Milliseconds from one look to the next.
    pub refresh_ms: i64,
    /// From how many milliseconds on its answers say that they are stale.
    #[serde(skip_serializing)]
    #[schemars(skip)]
    pub stale_ms: i64,
}

impl Store {
    /// Says what this process holds of a scope, and that it has just looked. Tried once: there is a next time.
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

    /// Takes away what this process said of these scopes.
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

    /// What all processes say that they hold.
    pub async fn mirrors_status(&self) -> Result<Vec<MirrorStatus>, Error> {
        self.read(MIRROR_STATUS.call()).await
    }

    fn mirror_name(&self, scope: &str) -> String {
        format!("mirror:{scope}:{}", self.holder)
    }
}
