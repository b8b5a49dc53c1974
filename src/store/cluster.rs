//! Clusters: the part of the graph that a change reaches is read, settled by the law, and written in pages.
//!
//! What is read may change before it is written. Whoever changes it puts the memory on the list again, so the next run
//! looks once more; a memory is taken off the list only as it was put there. Every page of a plan may be written twice.

use super::Store;
use super::catalogue::{
    CLUSTER_AGREE, CLUSTER_AROUND, CLUSTER_DISSOLVE, CLUSTER_DUE, CLUSTER_FORM, CLUSTER_JOIN, CLUSTER_LEAVE,
    CLUSTER_LOOKED, CLUSTER_READ, CLUSTER_SUSPECT, CLUSTER_THRESHOLD,
};
use super::encode::{list, slices};
use super::error::Error;
use super::run::Run;
use super::tally::Tally;
use super::tx::{Mode, Tx};
use crate::domain::cluster::{Cluster, Plan, Strong, components, settle};
use crate::domain::ids::cluster_id;
use crate::domain::units::Timestamp;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// Memories or memberships of one transaction.
const PAGE: usize = 2_000;

/// A memory that the clusters are to look at.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Suspect {
    /// Which.
    pub id: String,
    due: i64,
}

/// A part of the graph, and what would settle it.
#[derive(Debug, Default)]
pub struct Neighbourhood {
    /// The memories that were read.
    pub memories: BTreeSet<String>,
    plan: Plan,
}

#[derive(Deserialize)]
struct AroundRow {
    id: String,
    live: bool,
    clusters: Vec<Option<String>>,
    near: Vec<String>,
    weights: Vec<f64>,
    elsewhere: bool,
}

#[derive(Deserialize)]
struct ClusterRow {
    id: String,
    key: Option<String>,
    strength: Option<f64>,
    size: Option<i64>,
    dissolved: bool,
    members: Vec<String>,
}

/// The label of clusters.
const CLUSTER: &str = "SemanticCluster";

impl From<ClusterRow> for Cluster {
    fn from(row: ClusterRow) -> Self {
        Self {
            id: row.id,
            key: row.key,
            strength: row.strength,
            size: row.size.and_then(|size| usize::try_from(size).ok()),
            dissolved: row.dissolved,
            members: row.members.into_iter().collect(),
        }
    }
}

impl Store {
    /// Memories that the clusters are to look at, the longest-waiting first.
    ///
    /// # Errors
    /// Of the connection or the statement.
    pub async fn suspects(&self, now: Timestamp, limit: usize) -> Result<Vec<Suspect>, Error> {
        self.transactions
            .run("cluster.due", Mode::Read, async |tx: &mut Tx| {
                let limit = i64::try_from(limit).unwrap_or(i64::MAX);
                tx.rows(CLUSTER_DUE.call().set("now", now.millis()).set("limit", limit)).await
            })
            .await
    }

    /// Reads what hangs together with these memories, by strong pairs or by a cluster, and lets the law settle it.
    ///
    /// A memory that lives, belongs to one cluster with all that it is strongly paired with, and is no more strongly
    /// paired than that cluster is strong, changes nothing: what hangs together with it is not read.
    ///
    /// # Errors
    /// Of the connection or a statement.
    pub async fn neighbourhood(&self, suspects: &[Suspect], threshold: f64) -> Result<Neighbourhood, Error> {
        let ids: Vec<String> = suspects.iter().map(|suspect| suspect.id.clone()).collect();
        self.transactions
            .run("cluster.around", Mode::Read, async |tx: &mut Tx| around(tx, &ids, threshold).await)
            .await
    }

    /// Writes a plan, each page a batch of `run`, and takes the memories it was made for off the list.
    ///
    /// # Errors
    /// [`Error::Fenced`] if the run was lost.
    pub async fn settle(
        &self,
        run: &mut Run,
        neighbourhood: &Neighbourhood,
        suspects: &[Suspect],
    ) -> Result<(), Error> {
        let (now, plan) = (run.now, &neighbourhood.plan);
        let nodes = named(plan, now);
        let changed: Vec<usize> =
            (0..plan.settled.len()).filter(|index| plan.settled[*index].changed).collect();
        for page in plan.dissolved.chunks(PAGE) {
            self.in_run(run, "cluster.dissolve", async |tx: &mut Tx| dissolve(tx, page, now).await).await?;
        }
        for page in plan.leaves.chunks(PAGE) {
            self.in_run(run, "cluster.leave", async |tx: &mut Tx| leave(tx, page).await).await?;
        }
        for page in changed.chunks(PAGE) {
            self.in_run(run, "cluster.form", async |tx: &mut Tx| form(tx, plan, &nodes, page, now).await)
                .await?;
        }
        for page in plan.joins.chunks(PAGE) {
            self.in_run(run, "cluster.join", async |tx: &mut Tx| join(tx, &nodes, page).await).await?;
        }
        for page in suspects.chunks(PAGE) {
            self.in_run(run, "cluster.looked", async |tx: &mut Tx| looked(tx, page).await).await?;
        }
        Ok(())
    }

    /// By which threshold the clusters were settled last; `None` before the first time.
    ///
    /// # Errors
    /// Of the connection or the statement.
    pub async fn clusters_threshold(&self) -> Result<Option<f64>, Error> {
        #[derive(Deserialize)]
        struct Row {
            threshold: Option<f64>,
        }
        self.transactions
            .run("cluster.threshold", Mode::Read, async |tx: &mut Tx| {
                Ok(tx.only::<Row>(CLUSTER_THRESHOLD.call()).await?.threshold)
            })
            .await
    }

    /// Puts every memory that belongs to a cluster, or could by this threshold, on the list, a page in one batch of
    /// `run`, and records the threshold.
    ///
    /// # Errors
    /// [`Error::Fenced`] if the run was lost.
    pub async fn suspect_all(&self, run: &mut Run, threshold: f64) -> Result<(), Error> {
        #[derive(Default, Deserialize)]
        struct Row {
            memories: i64,
            last: Option<String>,
        }
        const ROWS: i64 = 1_000;
        let now = run.now;
        let mut after = String::new();
        loop {
            let page = Mutex::new(Row::default());
            self.in_run(run, "cluster.suspect", async |tx: &mut Tx| {
                let call = CLUSTER_SUSPECT
                    .call()
                    .set("after", after.as_str())
                    .set("threshold", threshold)
                    .set("now", now.millis())
                    .set("limit", ROWS);
                let row: Row = tx.only(call).await?;
                if row.memories < ROWS {
                    tx.run(CLUSTER_AGREE.call().set("threshold", threshold)).await?;
                }
                if let Ok(mut page) = page.lock() {
                    *page = row;
                }
                Ok(Tally::default())
            })
            .await?;
            match page.into_inner().unwrap_or_default() {
                Row { memories: ROWS, last: Some(last) } => after = last,
                _ => return Ok(()),
            }
        }
    }
}

impl Neighbourhood {
    /// What its plan comes to; `waiting` memories were looked at for it.
    #[must_use]
    pub fn tally(&self, waiting: usize) -> Tally {
        let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let plan = &self.plan;
        let changed = plan.settled.iter().filter(|settled| settled.changed).count();
        Tally {
            scanned: count(waiting),
            changed: count(plan.joins.len() + plan.leaves.len() + plan.dissolved.len() + changed),
            formed: count(plan.settled.iter().filter(|settled| settled.forms).count()),
            joined: count(plan.joins.len()),
            left: count(plan.leaves.len()),
            dissolved: count(plan.dissolved.len()),
            ..Tally::default()
        }
    }
}

async fn around(tx: &mut Tx, ids: &[String], threshold: f64) -> Result<Neighbourhood, Error> {
    let mut known: BTreeMap<String, Cluster> = BTreeMap::new();
    let mut memories = BTreeSet::new();
    let mut pairs = Vec::new();
    let mut frontier: Vec<String> = unsettled(tx, ids, threshold).await?;
    while !frontier.is_empty() {
        let mut next = BTreeSet::new();
        let mut clusters = BTreeSet::new();
        memories.extend(frontier.iter().cloned());
        for row in rows_around(tx, &frontier, threshold).await? {
            clusters.extend(row.clusters.into_iter().flatten().filter(|id| !known.contains_key(id)));
            for (near, weight) in row.near.into_iter().zip(row.weights) {
                next.insert(near.clone());
                // Each pair is met from both sides; one is enough.
                if row.id < near {
                    pairs.push(Strong { a: row.id.clone(), b: near, weight });
                }
            }
        }
        let clusters: Vec<String> = clusters.into_iter().collect();
        for cluster in read(tx, &clusters, &[]).await? {
            next.extend(cluster.members.iter().cloned());
            known.insert(cluster.id.clone(), cluster);
        }
        frontier = next.difference(&memories).cloned().collect();
    }
    let keys: Vec<String> = components(&pairs).into_keys().collect();
    for cluster in read(tx, &[], &keys).await? {
        known.insert(cluster.id.clone(), cluster);
    }
    let clusters: Vec<Cluster> = known.into_values().collect();
    Ok(Neighbourhood { memories, plan: settle(&pairs, &clusters) })
}

async fn rows_around(tx: &mut Tx, ids: &[String], threshold: f64) -> Result<Vec<AroundRow>, Error> {
    let mut rows = Vec::with_capacity(ids.len());
    for slice in slices(&CLUSTER_AROUND, ids, |id| id.len() + 2) {
        let call = CLUSTER_AROUND
            .call()
            .set("id", list(slice.iter().map(String::as_str)))
            .set("threshold", threshold);
        rows.extend(tx.rows::<AroundRow>(call).await?);
    }
    Ok(rows)
}

/// Those of these memories that may change something.
async fn unsettled(tx: &mut Tx, ids: &[String], threshold: f64) -> Result<Vec<String>, Error> {
    let rows = rows_around(tx, ids, threshold).await?;
    let own: BTreeSet<String> = rows.iter().flat_map(|row| row.clusters.iter().flatten().cloned()).collect();
    let own: Vec<String> = own.into_iter().collect();
    let clusters: BTreeMap<String, Cluster> =
        read(tx, &own, &[]).await?.into_iter().map(|cluster| (cluster.id.clone(), cluster)).collect();
    let settled = |row: &AroundRow| {
        let strongest = row.weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        match row.clusters.as_slice() {
            [] => row.near.is_empty(),
            [Some(id)] => clusters.get(id).is_some_and(|cluster| {
                let as_strong = cluster.strength.is_some_and(|strength| strongest <= strength);
                let whole = !cluster.dissolved && cluster.size == Some(cluster.members.len());
                row.live && !row.near.is_empty() && !row.elsewhere && as_strong && whole
            }),
            _ => false,
        }
    };
    Ok(rows.into_iter().filter(|row| !settled(row)).map(|row| row.id).collect())
}

async fn read(tx: &mut Tx, ids: &[String], keys: &[String]) -> Result<Vec<Cluster>, Error> {
    let both: Vec<(Option<&str>, Option<&str>)> = ids
        .iter()
        .map(|id| (Some(id.as_str()), None))
        .chain(keys.iter().map(|key| (None, Some(key.as_str()))))
        .collect();
    let mut clusters = Vec::with_capacity(both.len());
    for slice in slices(&CLUSTER_READ, &both, |(id, key)| id.or(*key).map_or(0, str::len) + 2) {
        let call = CLUSTER_READ
            .call()
            .set("id", list(slice.iter().filter_map(|(id, _)| *id)))
            .set("key", list(slice.iter().filter_map(|(_, key)| *key)));
        clusters.extend(tx.rows::<ClusterRow>(call).await?.into_iter().map(Cluster::from));
    }
    Ok(clusters)
}

/// The ids of the nodes that stand for the components of a plan.
fn named(plan: &Plan, now: Timestamp) -> Vec<String> {
    let id = |settled: &crate::domain::cluster::Settled| {
        settled.id.clone().unwrap_or_else(|| cluster_id(&settled.key, now))
    };
    plan.settled.iter().map(id).collect()
}

async fn dissolve(tx: &mut Tx, ids: &[String], now: Timestamp) -> Result<Tally, Error> {
    #[derive(Deserialize)]
    struct Row {
        dissolved: i64,
    }
    let mut tally = Tally::default();
    ids.iter().for_each(|id| tx.touch(CLUSTER, "", id, ""));
    for slice in slices(&CLUSTER_DISSOLVE, ids, |id| id.len() + 2) {
        let ids = list(slice.iter().map(String::as_str));
        let row: Row = tx.only(CLUSTER_DISSOLVE.call().set("id", ids).set("now", now.millis())).await?;
        tally.dissolved += row.dissolved;
    }
    tally.changed = tally.dissolved;
    Ok(tally)
}

async fn leave(tx: &mut Tx, leaves: &[(String, String)]) -> Result<Tally, Error> {
    #[derive(Deserialize)]
    struct Row {
        left: i64,
    }
    let mut tally = Tally::default();
    tx.touch_memories(leaves.iter().map(|(memory, _)| memory.as_str()), "BELONGS_TO");
    for slice in slices(&CLUSTER_LEAVE, leaves, |(memory, cluster)| memory.len() + cluster.len() + 4) {
        let call = CLUSTER_LEAVE
            .call()
            .set("memory", list(slice.iter().map(|(memory, _)| memory.as_str())))
            .set("cluster", list(slice.iter().map(|(_, cluster)| cluster.as_str())));
        tally.left += tx.only::<Row>(call).await?.left;
    }
    tally.changed = tally.left;
    Ok(tally)
}

async fn form(
    tx: &mut Tx,
    plan: &Plan,
    nodes: &[String],
    page: &[usize],
    now: Timestamp,
) -> Result<Tally, Error> {
    #[derive(Deserialize)]
    struct Row {
        formed: i64,
    }
    let mut tally = Tally::default();
    page.iter().for_each(|index| tx.touch(CLUSTER, "", &nodes[*index], ""));
    for slice in
        slices(&CLUSTER_FORM, page, |index| nodes[*index].len() + plan.settled[*index].key.len() + 24)
    {
        let each = || slice.iter().map(|index| &plan.settled[*index]);
        let size = |settled: &crate::domain::cluster::Settled| {
            i64::try_from(settled.members.len()).unwrap_or(i64::MAX)
        };
        let call = CLUSTER_FORM
            .call()
            .set("id", list(slice.iter().map(|index| nodes[*index].as_str())))
            .set("key", list(each().map(|settled| settled.key.as_str())))
            .set("strength", list(each().map(|settled| settled.strength)))
            .set("size", list(each().map(size)))
            .set("now", now.millis());
        tally.formed += tx.only::<Row>(call).await?.formed;
    }
    tally.changed = i64::try_from(page.len()).unwrap_or(i64::MAX);
    Ok(tally)
}

async fn join(tx: &mut Tx, nodes: &[String], joins: &[(String, usize)]) -> Result<Tally, Error> {
    #[derive(Deserialize)]
    struct Row {
        joined: i64,
    }
    let mut tally = Tally::default();
    tx.touch_memories(joins.iter().map(|(memory, _)| memory.as_str()), "BELONGS_TO");
    // One that was formed a moment ago has its scope from here on.
    joins.iter().for_each(|(_, index)| tx.touch(CLUSTER, "", &nodes[*index], ""));
    for slice in slices(&CLUSTER_JOIN, joins, |(memory, index)| memory.len() + nodes[*index].len() + 4) {
        let call = CLUSTER_JOIN
            .call()
            .set("memory", list(slice.iter().map(|(memory, _)| memory.as_str())))
            .set("cluster", list(slice.iter().map(|(_, index)| nodes[*index].as_str())));
        tally.joined += tx.only::<Row>(call).await?.joined;
    }
    tally.changed = tally.joined;
    Ok(tally)
}

async fn looked(tx: &mut Tx, suspects: &[Suspect]) -> Result<Tally, Error> {
    let mut sorted: Vec<&Suspect> = suspects.iter().collect();
    sorted.sort_by(|a, b| a.id.cmp(&b.id));
    for slice in slices(&CLUSTER_LOOKED, &sorted, |suspect| suspect.id.len() + 11) {
        let call = CLUSTER_LOOKED
            .call()
            .set("id", list(slice.iter().map(|suspect| suspect.id.as_str())))
            .set("due", list(slice.iter().map(|suspect| suspect.due)));
        tx.run(call).await?;
    }
    Ok(Tally { scanned: i64::try_from(suspects.len()).unwrap_or(i64::MAX), ..Tally::default() })
}
