//! Texts of nodes, read from the store: the mirror holds only their beginnings.
//!
//! A node that was deleted from the store meanwhile is removed from an answer, also from one without texts, since labels hold
//! the beginning of a text.

use super::Error;
use super::stored::TIMEOUT;
use crate::domain::ids::{MemoryKey, Scope, labelled};
use crate::domain::memory::MemoryState;
use crate::domain::units::Timestamp;
use crate::mirror::{Current, LABEL_BYTES_MAX};
use crate::service::Service;
use crate::store::{AdoptedNode, Record, Sought};
use ebb_engine::View;
use ebb_engine::graph::kinds::NodeType;
use ebb_engine::recall::RecallResult;
use ebb_engine::text::fold::cut;
use std::collections::{BTreeMap, BTreeSet};

/// Text of a node, when and in which session it was created, and the state of a sound memory.
#[derive(Debug, Clone)]
pub(in crate::service) struct StoredText {
    pub(in crate::service) content: Option<String>,
    pub(in crate::service) created: Option<Timestamp>,
    pub(in crate::service) session: Option<String>,
    pub(in crate::service) state: Option<MemoryState>,
}

/// Texts by id, and the ids that were looked for.
#[derive(Debug, Default)]
struct Texts {
    read: BTreeSet<String>,
    there: BTreeMap<String, StoredText>,
}

impl StoredText {
    pub(super) fn of_memory(record: Record) -> (String, Self) {
        let life = record.life.ok();
        let (created, state) = life.as_ref().map(|life| (life.created, life.state)).unzip();
        let session = life.and_then(|life| life.session);
        (record.id, Self { content: record.content, created, session, state })
    }

    fn of_adopted(adopted: AdoptedNode) -> (String, Self) {
        let AdoptedNode { node, text, .. } = adopted;
        let created = node.created.and_then(|ms| Timestamp::from_millis(ms).ok());
        (node.key, Self { content: text, created, session: node.session, state: None })
    }
}

/// Whether a node of a view is a memory.
fn is_memory(view: &View, id: &str) -> bool {
    let graph = view.graph();
    graph.find(id).is_some_and(|at| graph.node_type(at) == NodeType::MEMORY)
}

/// The id of a memory by its name, which is its id, or its label and id; the form of the name tells which.
fn id_of(name: &str) -> &str {
    labelled(["Memory"], name).map_or(name, |(_, id)| id)
}

/// The nodes that a result shows.
fn met(recalled: &RecallResult) -> BTreeSet<String> {
    let hits = recalled.hits.iter().map(|hit| &hit.id);
    let ways = recalled.hits.iter().filter_map(|hit| hit.route.as_ref()).flat_map(|route| &route.ids);
    let primed = recalled.primed.iter().map(|one| &one.id);
    recalled.seeds.iter().map(|seed| &seed.id).chain(primed).chain(hits).chain(ways).cloned().collect()
}

/// Removes nodes from a result, and the paths over them.
fn leave_out(recalled: &mut RecallResult, gone: &BTreeSet<String>) {
    recalled.hits.retain(|hit| !gone.contains(&hit.id));
    recalled.seeds.retain(|seed| !gone.contains(&seed.id));
    recalled.primed.retain(|one| !gone.contains(&one.id));
    for hit in &mut recalled.hits {
        hit.route = hit.route.take().filter(|route| !route.ids.iter().any(|id| gone.contains(id)));
    }
}

/// Replaces the labels of memories, which may be of a former text, by the beginnings of the texts that were read.
fn relabel(view: &View, recalled: &mut RecallResult, texts: &BTreeMap<String, StoredText>) {
    let label = |id: &str| {
        let text = texts.get(id).filter(|_| is_memory(view, id))?.content.as_deref()?;
        Some(cut(text, LABEL_BYTES_MAX).to_owned())
    };
    for hit in &mut recalled.hits {
        if let Some(label) = label(&hit.id) {
            hit.label = label;
        }
    }
    for seed in &mut recalled.seeds {
        if let Some(label) = label(&seed.id) {
            seed.label = label;
        }
    }
}

impl Service {
    /// Reads the texts of the hits. Those deleted meanwhile are removed everywhere: from hits and seeds, whose labels hold the
    /// beginning of their text, from primed nodes, and from the paths of other hits, which are then omitted.
    pub(in crate::service) async fn contents(
        &self,
        scope: &Scope,
        view: &View,
        recalled: &mut RecallResult,
    ) -> Result<BTreeMap<String, StoredText>, Error> {
        let hits: BTreeSet<String> = recalled.hits.iter().map(|hit| hit.id.clone()).collect();
        let mut others = met(recalled);
        others.retain(|id| !hits.contains(id));
        let texts = Box::pin(self.texts(scope, view, &hits));
        // Neither is dropped before its end, which would leave its transaction open.
        let (texts, gone) = tokio::join!(texts, Box::pin(self.find_deleted(scope, view, &others)));
        let (Texts { read, there }, mut gone) = (texts?, gone?);
        gone.extend(read.into_iter().filter(|id| !there.contains_key(id)));
        leave_out(recalled, &gone);
        relabel(view, recalled, &there);
        Ok(there)
    }

    /// Removes what was deleted meanwhile from a result, as [`Self::contents`] does, without reading texts.
    pub(in crate::service) async fn leave_out_deleted(
        &self,
        scope: &Scope,
        current: &Current,
        recalled: &mut RecallResult,
    ) -> Result<(), Error> {
        let deleted = self.deleted_since(scope, current, || met(recalled)).await?;
        leave_out(recalled, &deleted);
        Ok(())
    }

    /// Those of these nodes that were deleted since their view was read. None if it is up to date, nor while the database does
    /// not respond, since a mirror answers without it and says as of when.
    pub(in crate::service) async fn deleted_since(
        &self,
        scope: &Scope,
        current: &Current,
        ids: impl FnOnce() -> BTreeSet<String>,
    ) -> Result<BTreeSet<String>, Error> {
        if self.is_up_to_date(current) {
            return Ok(BTreeSet::new());
        }
        let ids = ids();
        let deleted = Box::pin(self.find_deleted(scope, &current.view, &ids));
        match tokio::time::timeout(TIMEOUT, deleted).await {
            Err(_) => Ok(BTreeSet::new()),
            Ok(Err(Error::Store(why))) if why.is_cut_off() => Ok(BTreeSet::new()),
            Ok(deleted) => deleted,
        }
    }

    /// The texts of these nodes, as far as they are memories or rows of other libraries that the store still has.
    pub(in crate::service) async fn texts_of(
        &self,
        scope: &Scope,
        view: &View,
        ids: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, StoredText>, Error> {
        Ok(self.texts(scope, view, ids).await?.there)
    }

    /// The same, with those of these nodes that were deleted meanwhile.
    pub(in crate::service) async fn texts_and_gone(
        &self,
        scope: &Scope,
        view: &View,
        ids: &BTreeSet<String>,
    ) -> Result<(BTreeMap<String, StoredText>, BTreeSet<String>), Error> {
        let Texts { read, there } = self.texts(scope, view, ids).await?;
        let gone = read.into_iter().filter(|id| !there.contains_key(id)).collect();
        Ok((there, gone))
    }

    /// Those of these nodes that are memories or rows of other libraries and were deleted meanwhile. Of memories the ids alone
    /// are read.
    async fn find_deleted(
        &self,
        scope: &Scope,
        view: &View,
        ids: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>, Error> {
        let Texts { read, there } = self.adopted_texts(scope, view, ids).await?;
        let mut gone: BTreeSet<String> = read.into_iter().filter(|id| !there.contains_key(id)).collect();
        let memories: Vec<&str> = ids
            .iter()
            .map(String::as_str)
            .filter(|id| is_memory(view, id) && !there.contains_key(*id))
            .collect();
        if !memories.is_empty() {
            let wanted: Vec<&str> = memories.iter().map(|name| id_of(name)).collect();
            let existing = self.store.existing_memories(&self.mirror.query(scope)?, &wanted).await?;
            let missing = memories.into_iter().filter(|name| !existing.contains(id_of(name)));
            gone.extend(missing.map(str::to_owned));
        }
        Ok(gone)
    }

    async fn texts(&self, scope: &Scope, view: &View, ids: &BTreeSet<String>) -> Result<Texts, Error> {
        let Texts { mut read, mut there } = self.adopted_texts(scope, view, ids).await?;
        let ids: BTreeSet<&String> =
            ids.iter().filter(|id| is_memory(view, id) && !there.contains_key(*id)).collect();
        if !ids.is_empty() {
            let wanted: Vec<MemoryKey> =
                ids.iter().map(|name| MemoryKey::of_row(scope.as_str(), id_of(name))).collect();
            let memories = self.store.memories_cut(&wanted).await?;
            let memories: BTreeMap<String, StoredText> =
                memories.into_iter().map(StoredText::of_memory).collect();
            let found = |name: &&String| Some(((*name).clone(), memories.get(id_of(name))?.clone()));
            there.extend(ids.iter().filter_map(found));
            read.extend(ids.into_iter().cloned());
        }
        Ok(Texts { read, there })
    }

    /// The texts of those of these nodes that are rows of other libraries, and the nodes that can be nothing else.
    async fn adopted_texts(
        &self,
        scope: &Scope,
        view: &View,
        ids: &BTreeSet<String>,
    ) -> Result<Texts, Error> {
        let Texts { mut read, mut there } = Texts::default();
        if self.store.mappings().is_empty() {
            return Ok(Texts { read, there });
        }
        let (asked, graph) = (self.mirror.query(scope)?, view.graph());
        let labels: Vec<(&str, &str)> = asked.labels().collect();
        let own = &labels[..asked.own_labels()];
        let key_of = |label: &str, id: &str| labelled([label], id).map_or(id, |(_, key)| key).to_owned();
        for (at, (label, kind)) in labels.iter().enumerate().skip(asked.own_labels()) {
            let is_of_kind = |id: &&String| graph.find(id).is_some_and(|node| view.kind(node) == *kind);
            let of_kind: Vec<&String> = ids.iter().filter(is_of_kind).collect();
            let keys: Vec<String> = of_kind.iter().map(|id| key_of(label, id)).collect();
            if keys.is_empty() {
                continue;
            }
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let live = self.store.adopted_live(&asked, at, &keys).await?;
            let texts: BTreeMap<String, StoredText> = live.into_iter().map(StoredText::of_adopted).collect();
            let found = |id: &&String| Some(((*id).clone(), texts.get(&key_of(label, id))?.clone()));
            there.extend(of_kind.iter().filter_map(found));
            // A node of one of Ebb's own kinds may be Ebb's.
            let missing: Vec<&String> =
                of_kind.iter().filter(|id| !there.contains_key(**id)).copied().collect();
            let mut known: BTreeSet<&String> = BTreeSet::new();
            let of_kind_too = |(_, (_, own)): &(usize, &(&str, &str))| !missing.is_empty() && own == kind;
            for (at, (label, _)) in own.iter().enumerate().filter(of_kind_too) {
                let keys: Vec<String> = missing.iter().map(|id| key_of(label, id)).collect();
                let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
                let found = self.store.mirrored(&asked, at, Sought::Keys(&keys)).await?;
                let found: BTreeSet<String> = found.into_iter().map(|one| one.key).collect();
                known.extend(missing.iter().filter(|id| found.contains(&key_of(label, id))));
            }
            read.extend(of_kind.into_iter().filter(|id| !known.contains(id)).cloned());
        }
        Ok(Texts { read, there })
    }
}
