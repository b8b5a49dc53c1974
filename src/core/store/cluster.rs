//! Clusters: reads the part of the graph that a change affects, settles it by the law, and writes it in pages.
//!
//! Rows may change between read and write. Such a change puts the memory in the queue again, so the next run repeats
//! the work; an entry is removed only if it is unchanged. Every page of a plan may be written twice.

use super::Store;
use super::catalogue::{
    CLUSTER_ADOPT, CLUSTER_AGREE, CLUSTER_AROUND, CLUSTER_DISSOLVE, CLUSTER_DUE, CLUSTER_FORM, CLUSTER_JOIN,
    CLUSTER_LEAVE, CLUSTER_READ, CLUSTER_SETTLED, CLUSTER_SUSPECT, CLUSTER_THRESHOLD,
};
use super::encode::{list, slices};
use super::error::Error;
use super::journal::CLUSTERS;
use super::memory::{bytes, keyed, quarantine};
use super::run::Run;
use super::tally::Tally;
use super::tx::{Mode, Tx};
use crate::domain::cluster::{Cluster, Plan, Settled, Strong, components, settle};
use crate::domain::ids::{MemoryKey, cluster_id};
use crate::domain::journal::{RowLabel, RowName};
use crate::domain::units::Timestamp;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// Memories or memberships of one transaction.
const PAGE: usize = 2_000;

/// A memory in the queue for clustering.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Suspect {
    #[serde(flatten)]
    pub key: MemoryKey,
    due: i64,
}

/// A plan for a part of the graph, with a separate plan of each scope, since nothing crosses scopes.
#[derive(Debug, Default)]
pub struct Neighbourhood(Vec<(String, Plan)>);

#[derive(Deserialize)]
struct AroundRow {
    id: String,
    live: bool,
    clusters: Vec<Option<String>>,
    unscoped: Vec<String>,
    near: Vec<String>,
    weights: Vec<f64>,
    elsewhere: bool,
}

/// Label of clusters.
pub(super) const CLUSTER: &str = "SemanticCluster";

impl Store {
    /// Memories in the queue for clustering, the longest-waiting first.
    pub async fn suspects(&self, now: Timestamp, limit: usize) -> Result<Vec<Suspect>, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(CLUSTER_DUE.call().set("now", now.millis()).set("limit", limit)).await
    }

    /// Reads everything connected with these memories by strong pairs or a cluster, and settles it by the law. Clusters
    /// of another writer without a scope get that of their members, as a batch of `run`.
    ///
    /// A live memory in one cluster with all its strong partners, and with no pair stronger than that cluster, changes
    /// nothing: its component is not read.
    ///
    /// The search itself is no batch: that would hold the run, whose lease could not be renewed until the end of it.
    pub async fn neighbourhood(
        &self,
        run: &mut Run,
        suspects: &[Suspect],
        threshold: f64,
    ) -> Result<Neighbourhood, Error> {
        if run.is_dry() {
            // In one transaction: what it adopts would be rolled back before the next one.
            let body = async |tx: &mut Tx| {
                loop {
                    let (around, unscoped) = around_all(tx, suspects, threshold).await?;
                    if adopt(tx, &unscoped).await? == 0 {
                        break Ok((Tally::default(), around));
                    }
                }
            };
            return Ok(self.in_run(run, "cluster.around", body).await?.1);
        }
        loop {
            let body = async |tx: &mut Tx| around_all(tx, suspects, threshold).await;
            let (around, unscoped) = self.transactions.run("cluster.around", Mode::Read, body).await?;
            if unscoped.is_empty() {
                return Ok(around);
            }
            let body = async |tx: &mut Tx| Ok((Tally::default(), adopt(tx, &unscoped).await?));
            if self.in_run(run, "cluster.adopt", body).await?.1 == 0 {
                return Ok(around);
            }
        }
    }

    /// Writes a plan, each page a batch of `run`, and removes its memories from the queue.
    pub async fn settle(
        &self,
        run: &mut Run,
        neighbourhood: &Neighbourhood,
        suspects: &[Suspect],
    ) -> Result<(), Error> {
        let now = run.now;
        let Writes { dissolved, leaves, formed, joins } = Writes::of(neighbourhood, now);
        if run.is_dry() {
            // At once: a cluster whose page was rolled back could not be joined.
            let body = async |tx: &mut Tx| {
                let mut tally = dissolve(tx, &dissolved, now).await?;
                tally += leave(tx, &leaves).await?;
                tally += form(tx, &formed, now).await?;
                tally += join(tx, &joins).await?;
                tally += clear_due(tx, suspects).await?;
                Ok(tally)
            };
            return self.in_run(run, "cluster.settle", body).await.map(drop);
        }
        for page in dissolved.chunks(PAGE) {
            self.in_run(run, "cluster.dissolve", async |tx: &mut Tx| dissolve(tx, page, now).await).await?;
        }
        for page in leaves.chunks(PAGE) {
            self.in_run(run, "cluster.leave", async |tx: &mut Tx| leave(tx, page).await).await?;
        }
        for page in formed.chunks(PAGE) {
            self.in_run(run, "cluster.form", async |tx: &mut Tx| form(tx, page, now).await).await?;
        }
        for page in joins.chunks(PAGE) {
            self.in_run(run, "cluster.join", async |tx: &mut Tx| join(tx, page).await).await?;
        }
        for page in suspects.chunks(PAGE) {
            self.in_run(run, "cluster.clear_due", async |tx: &mut Tx| clear_due(tx, page).await).await?;
        }
        Ok(())
    }

    /// Quarantines a memory whose part of the graph cannot be settled, as a batch of `run`, and removes it from the
    /// queue. The next audit adds it again if it belongs to a cluster, which it then leaves.
    pub async fn quarantine_suspect(
        &self,
        run: &mut Run,
        suspect: &Suspect,
        why: &Error,
    ) -> Result<(), Error> {
        self.in_run(run, "cluster.quarantine", async |tx: &mut Tx| {
            quarantine(tx, &[(&suspect.key, why.quarantine_reason())]).await?;
            let tally = clear_due(tx, std::slice::from_ref(suspect)).await?;
            Ok(Tally { quarantined: 1, ..tally })
        })
        .await
        .map(drop)
    }

    /// Threshold of the last settlement of clusters; `None` before the first.
    pub async fn clusters_threshold(&self) -> Result<Option<f64>, Error> {
        self.read_one(CLUSTER_THRESHOLD.call()).await
    }

    /// Puts every memory that belongs to a cluster, or could by this threshold, in the queue, a page in one batch of
    /// `run`, and records the threshold.
    pub async fn suspect_all(&self, run: &mut Run, threshold: f64) -> Result<(), Error> {
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Row {
            memories: i64,
            last_id: Option<String>,
            last_scope: Option<String>,
        }
        const ROWS: i64 = 1_000;
        let now = run.now;
        let mut after = MemoryKey::FIRST;
        loop {
            let suspect = self.in_run(run, "cluster.suspect", async |tx: &mut Tx| {
                let call = CLUSTER_SUSPECT
                    .call()
                    .set("afterId", after.id())
                    .set("afterScope", after.scope())
                    .set("threshold", threshold)
                    .set("now", now.millis())
                    .set("limit", ROWS);
                let row: Row = tx.only(call).await?;
                if row.memories < ROWS {
                    tx.run(CLUSTER_AGREE.call().set("threshold", threshold)).await?;
                }
                Ok((Tally::default(), row))
            });
            match suspect.await?.1 {
                Row { memories: ROWS, last_id: Some(id), last_scope: Some(scope) } => {
                    after = MemoryKey::of_row(&scope, &id);
                }
                _ => return Ok(()),
            }
        }
    }
}

impl Neighbourhood {
    /// Counts of its plan, made for `waiting` memories.
    #[must_use]
    pub fn tally(&self, waiting: usize) -> Tally {
        let count = |of: fn(&Plan) -> usize| {
            i64::try_from(self.0.iter().map(|(_, plan)| of(plan)).sum::<usize>()).unwrap_or(i64::MAX)
        };
        let (joined, left) = (count(|plan| plan.joins.len()), count(|plan| plan.leaves.len()));
        let dissolved = count(|plan| plan.dissolved.len());
        let changed = count(|plan| plan.settled.iter().filter(|settled| settled.changed).count());
        Tally {
            scanned: i64::try_from(waiting).unwrap_or(i64::MAX),
            changed: joined + left + dissolved + changed,
            formed: count(|plan| plan.settled.iter().filter(|settled| settled.forms).count()),
            joined,
            left,
            dissolved,
            ..Tally::default()
        }
    }
}

/// A memory, and a cluster of its scope.
type Belonging<'p> = (MemoryKey, &'p str);

/// Rows of plans, sorted by statement.
#[derive(Default)]
struct Writes<'p> {
    /// Scope and cluster.
    dissolved: Vec<(&'p str, &'p str)>,
    leaves: Vec<Belonging<'p>>,
    /// Scope, id of the node, and its new values.
    formed: Vec<(&'p str, String, &'p Settled)>,
    joins: Vec<(MemoryKey, String)>,
}

impl<'p> Writes<'p> {
    fn of(neighbourhood: &'p Neighbourhood, now: Timestamp) -> Self {
        let mut writes = Self::default();
        for (scope, plan) in &neighbourhood.0 {
            let memory = |id: &String| MemoryKey::of_row(scope, id);
            let node = |settled: &Settled| {
                settled.id.clone().unwrap_or_else(|| cluster_id(scope, &settled.key, now))
            };
            writes.dissolved.extend(plan.dissolved.iter().map(|id| (scope.as_str(), id.as_str())));
            writes.leaves.extend(plan.leaves.iter().map(|(id, cluster)| (memory(id), cluster.as_str())));
            let changed = plan.settled.iter().filter(|settled| settled.changed);
            writes.formed.extend(changed.map(|settled| (scope.as_str(), node(settled), settled)));
            writes.joins.extend(plan.joins.iter().map(|(id, at)| (memory(id), node(&plan.settled[*at]))));
        }
        writes
    }
}

/// Clusters of another writer without a scope, by the scope of their members.
type Unscoped = BTreeMap<String, BTreeSet<String>>;

/// Components of memories of any scopes, and the clusters that could not be read with them for want of a scope.
async fn around_all(
    tx: &mut Tx,
    suspects: &[Suspect],
    threshold: f64,
) -> Result<(Neighbourhood, Unscoped), Error> {
    let mut scopes: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for Suspect { key, .. } in suspects {
        scopes.entry(key.scope()).or_default().push(key.id().to_owned());
    }
    let mut plans = Vec::with_capacity(scopes.len());
    let mut unscoped = Unscoped::new();
    for (scope, ids) in scopes {
        plans.push((scope.to_owned(), around(tx, scope, &ids, threshold, &mut unscoped).await?));
    }
    Ok((Neighbourhood(plans), unscoped))
}

async fn around(
    tx: &mut Tx,
    scope: &str,
    ids: &[String],
    threshold: f64,
    unscoped: &mut Unscoped,
) -> Result<Plan, Error> {
    let mut known: BTreeMap<String, Cluster> = BTreeMap::new();
    let mut memories = BTreeSet::new();
    let mut pairs = Vec::new();
    let mut frontier: Vec<String> = unsettled(tx, scope, ids, threshold, unscoped).await?;
    while !frontier.is_empty() {
        let mut next = BTreeSet::new();
        let mut clusters = BTreeSet::new();
        memories.extend(frontier.iter().cloned());
        for row in rows_around(tx, scope, &frontier, threshold, unscoped).await? {
            clusters.extend(row.clusters.into_iter().flatten().filter(|id| !known.contains_key(id)));
            for (near, weight) in row.near.into_iter().zip(row.weights) {
                next.insert(near.clone());
                // Each pair is returned from both sides; one is enough.
                if row.id < near {
                    pairs.push(Strong { a: row.id.clone(), b: near, weight });
                }
            }
        }
        let clusters: Vec<String> = clusters.into_iter().collect();
        for cluster in read(tx, scope, &clusters, &[]).await? {
            next.extend(cluster.members.iter().cloned());
            known.insert(cluster.id.clone(), cluster);
        }
        frontier = next.difference(&memories).cloned().collect();
    }
    let keys: Vec<String> = components(&pairs).into_keys().collect();
    for cluster in read(tx, scope, &[], &keys).await? {
        known.insert(cluster.id.clone(), cluster);
    }
    let clusters: Vec<Cluster> = known.into_values().collect();
    Ok(settle(&pairs, &clusters))
}

async fn rows_around(
    tx: &mut Tx,
    scope: &str,
    ids: &[String],
    threshold: f64,
    unscoped: &mut Unscoped,
) -> Result<Vec<AroundRow>, Error> {
    let mut rows = Vec::with_capacity(ids.len());
    for slice in slices(&CLUSTER_AROUND, ids, |id| id.len() + 2) {
        let call = CLUSTER_AROUND
            .call()
            .set("scope", scope)
            .set("id", list(slice.iter().map(String::as_str)))
            .set("threshold", threshold);
        rows.extend(tx.rows::<AroundRow>(call).await?);
    }
    let mut found = rows.iter().flat_map(|row| row.unscoped.iter().cloned()).peekable();
    if found.peek().is_some() {
        unscoped.entry(scope.to_owned()).or_default().extend(found);
    }
    Ok(rows)
}

/// Moves clusters of another writer without a scope into that of their members. Returns their number.
async fn adopt(tx: &mut Tx, unscoped: &Unscoped) -> Result<i64, Error> {
    let mut adopted = 0;
    for (scope, ids) in unscoped {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        for slice in slices(&CLUSTER_ADOPT, &ids, |id| id.len() + 2) {
            let call =
                CLUSTER_ADOPT.call().set("scope", scope.as_str()).set("id", list(slice.iter().copied()));
            adopted += tx.only::<i64>(call).await?;
        }
    }
    Ok(adopted)
}

/// Memories of these that may change something.
async fn unsettled(
    tx: &mut Tx,
    scope: &str,
    ids: &[String],
    threshold: f64,
    unscoped: &mut Unscoped,
) -> Result<Vec<String>, Error> {
    let rows = rows_around(tx, scope, ids, threshold, unscoped).await?;
    let own: BTreeSet<String> = rows.iter().flat_map(|row| row.clusters.iter().flatten().cloned()).collect();
    let own: Vec<String> = own.into_iter().collect();
    let clusters: BTreeMap<String, Cluster> =
        read(tx, scope, &own, &[]).await?.into_iter().map(|cluster| (cluster.id.clone(), cluster)).collect();
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

async fn read(tx: &mut Tx, scope: &str, ids: &[String], keys: &[String]) -> Result<Vec<Cluster>, Error> {
    let both: Vec<(Option<&str>, Option<&str>)> = ids
        .iter()
        .map(|id| (Some(id.as_str()), None))
        .chain(keys.iter().map(|key| (None, Some(key.as_str()))))
        .collect();
    let mut clusters = Vec::with_capacity(both.len());
    for slice in slices(&CLUSTER_READ, &both, |(id, key)| id.or(*key).map_or(0, str::len) + 2) {
        let call = CLUSTER_READ
            .call()
            .set("scope", scope)
            .set("id", list(slice.iter().filter_map(|(id, _)| *id)))
            .set("key", list(slice.iter().filter_map(|(_, key)| *key)));
        clusters.extend(tx.rows::<Cluster>(call).await?);
    }
    Ok(clusters)
}

fn cluster(scope: &str, id: &str) -> RowName {
    RowName::new(RowLabel::SemanticCluster, scope, id)
}

async fn dissolve(tx: &mut Tx, clusters: &[(&str, &str)], now: Timestamp) -> Result<Tally, Error> {
    let mut tally = Tally::default();
    for (scope, id) in clusters {
        tx.touch(CLUSTER, scope, id, "");
        tx.track(CLUSTERS, "no strong pair is left in it".to_owned(), vec![cluster(scope, id)]);
    }
    for slice in slices(&CLUSTER_DISSOLVE, clusters, |(scope, id)| scope.len() + id.len() + 4) {
        let call = CLUSTER_DISSOLVE
            .call()
            .set("scope", list(slice.iter().map(|(scope, _)| *scope)))
            .set("id", list(slice.iter().map(|(_, id)| *id)))
            .set("now", now.millis());
        tally.dissolved += tx.only::<i64>(call).await?;
    }
    tally.changed = tally.dissolved;
    Ok(tally)
}

async fn leave(tx: &mut Tx, leaves: &[Belonging<'_>]) -> Result<Tally, Error> {
    let mut tally = Tally::default();
    tx.touch_memories(leaves.iter().map(|(memory, _)| memory), "BELONGS_TO");
    for (memory, id) in leaves {
        let reason = "no strong pair connects it with the cluster".to_owned();
        tx.track(CLUSTERS, reason, vec![RowName::memory(memory), cluster(memory.scope(), id)]);
    }
    for slice in slices(&CLUSTER_LEAVE, leaves, |(memory, cluster)| bytes(memory) + cluster.len() + 2) {
        let call = CLUSTER_LEAVE
            .call()
            .set("scope", list(slice.iter().map(|(memory, _)| memory.scope())))
            .set("memory", list(slice.iter().map(|(memory, _)| memory.id())))
            .set("cluster", list(slice.iter().map(|(_, cluster)| *cluster)));
        tally.left += tx.only::<i64>(call).await?;
    }
    tally.changed = tally.left;
    Ok(tally)
}

async fn form(tx: &mut Tx, page: &[(&str, String, &Settled)], now: Timestamp) -> Result<Tally, Error> {
    let mut tally = Tally::default();
    for (scope, id, settled) in page {
        tx.touch(CLUSTER, scope, id, "");
        let reason = format!("strong pairs connect its {} members", settled.members.len());
        tx.track(CLUSTERS, reason, vec![cluster(scope, id)]);
    }
    for slice in
        slices(&CLUSTER_FORM, page, |(scope, id, settled)| scope.len() + id.len() + settled.key.len() + 26)
    {
        let each = || slice.iter().map(|(.., settled)| *settled);
        let size = |settled: &Settled| i64::try_from(settled.members.len()).unwrap_or(i64::MAX);
        let call = CLUSTER_FORM
            .call()
            .set("scope", list(slice.iter().map(|(scope, ..)| *scope)))
            .set("id", list(slice.iter().map(|(_, id, _)| id.as_str())))
            .set("key", list(each().map(|settled| settled.key.as_str())))
            .set("strength", list(each().map(|settled| settled.strength)))
            .set("size", list(each().map(size)))
            .set("now", now.millis());
        tally.formed += tx.only::<i64>(call).await?;
    }
    tally.changed = i64::try_from(page.len()).unwrap_or(i64::MAX);
    Ok(tally)
}

async fn join(tx: &mut Tx, joins: &[(MemoryKey, String)]) -> Result<Tally, Error> {
    let mut tally = Tally::default();
    tx.touch_memories(joins.iter().map(|(memory, _)| memory), "BELONGS_TO");
    for (memory, id) in joins {
        let reason = "strong pairs connect it with the cluster".to_owned();
        tx.track(CLUSTERS, reason, vec![RowName::memory(memory), cluster(memory.scope(), id)]);
    }
    for slice in slices(&CLUSTER_JOIN, joins, |(memory, cluster)| bytes(memory) + cluster.len() + 2) {
        let call = CLUSTER_JOIN
            .call()
            .set("scope", list(slice.iter().map(|(memory, _)| memory.scope())))
            .set("memory", list(slice.iter().map(|(memory, _)| memory.id())))
            .set("cluster", list(slice.iter().map(|(_, cluster)| cluster.as_str())));
        tally.joined += tx.only::<i64>(call).await?;
    }
    tally.changed = tally.joined;
    Ok(tally)
}

async fn clear_due(tx: &mut Tx, suspects: &[Suspect]) -> Result<Tally, Error> {
    let mut sorted: Vec<&Suspect> = suspects.iter().collect();
    sorted.sort_by(|a, b| a.key.cmp(&b.key));
    for slice in slices(&CLUSTER_SETTLED, &sorted, |suspect| bytes(&suspect.key) + 9) {
        let call = keyed(CLUSTER_SETTLED.call(), slice.iter().map(|suspect| &suspect.key))
            .set("due", list(slice.iter().map(|suspect| suspect.due)));
        tx.run(call).await?;
    }
    Ok(Tally { scanned: i64::try_from(suspects.len()).unwrap_or(i64::MAX), ..Tally::default() })
}
