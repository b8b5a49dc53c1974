//! The refresh of a mirror: changed rows are read again and merged into the next graph.
//!
//! Change records name nodes, and types of relationships of nodes. A changed node is read again; a new one is read with
//! all its relationships, in both directions; if relationships of a type of a node changed, all of that type are read,
//! in both directions, since two of them may share a slot. Values are never taken from the record, so a record that is
//! read twice changes nothing.
//!
//! An entity is as recent as the last observation of its relations, and other libraries write a relation without its ends. So the
//! held ends of a relation that is new, gone, or was observed at another instant than before are read again as well.
//!
//! Records are read from some seconds before the last refresh on, since a transaction commits later than its recorded
//! instant. Those applied already are known by their ids.
//!
//! Other libraries record no changes: rows of theirs are found by the instants that they store. Such an instant is from
//! before the row was committed, by minutes where a model was waited for, so they are read from some minutes before the
//! last refresh on, and those applied already are known by their instants. Deletions, and changes without an instant,
//! are found by the comparison with a fresh load.
//!
//! Learned weights are applied last. If nothing else changed, they are updated in the published graph; else the next
//! graph has them before it is published.
//!
//! Relations decay between generations, so each generation computes all of them at its instant; without any change
//! there is a new one only after an hour.
//!
//! # Design notes
//! A changed node was just used, so a new node is added to a partial mirror without a comparison with its present
//! nodes. When the budget is spent, selection is repeated.
//!
//! Invariant: a refreshed mirror equals a loaded one (held by `mirror::patched_is_loaded`).

use super::changes::Reading;
use super::content::{Conducts, MENTIONS, RELATES_TO, RelationKey, Relations, conductance, view_of};
use super::facts::{ReadFacts, set_facts};
use super::learned::records;
use super::load::{facts_page, set_vectors};
use super::{Config, Error, MirroredScope, hot};
use crate::domain::relation::Fading;
use crate::domain::units::Timestamp;
use crate::store::{
    Amount, Change, KEPT_MS, Learned, MirroredEnd, MirroredNode, OVERLAP_MS, STATE_LABEL, Sought, Store,
    WrittenRow,
};
use ebb_engine::Texts;
use ebb_engine::graph::builder::{Batch, EdgeRow, Link, Links};
use ebb_engine::graph::columns::NodeRow;
use ebb_engine::graph::index::NodeId;
use ebb_engine::graph::snapshot::{SkippedCounts, Snapshot};
use ebb_engine::text::ranking::Content;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tracing::error;

/// Keys of one request.
const PAGE: usize = 2_000;
/// Nodes whose facts are read again because of new texts, from which on a load is cheaper: each may have very many.
const ABOUT_MAX: usize = 4_000;
/// How much later than its own instant a row of another library may be committed.
const WRITTEN_LATE: Duration = Duration::from_secs(15 * 60);
/// Greatest age of the weights of relations.
pub(super) const WEIGHED_MS: i64 = 3_600_000;

/// Result of a refresh.
pub(super) enum Refreshed {
    /// Nothing changed; the mirror is as current as the read of the store.
    Same,
    /// There is a next generation.
    Next,
    /// Only learned weights changed.
    Learned,
    /// A load is required: more changed than the record names, or than fits.
    Anew {
        why: &'static str,
        /// The instant that relations are to have their weights of.
        weighed: Timestamp,
        /// Whether a change names the scope as a whole, as its deletion does.
        is_of_scope: bool,
    },
}

impl Refreshed {
    const fn anew(why: &'static str, weighed: Timestamp) -> Self {
        Self::Anew { why, weighed, is_of_scope: false }
    }
}

/// Keys to read, by the index of a label.
#[derive(Default)]
struct Touched {
    nodes: BTreeMap<usize, BTreeSet<String>>,
    /// Nodes of which all relationships are read, by the index of a label.
    around: BTreeMap<usize, BTreeSet<String>>,
    /// Types of relationships, by label and key.
    kinds: BTreeMap<(usize, String), BTreeSet<String>>,
}

/// Refreshes the mirrored state from the store; relations have their weights of `at`, by the laws' clock. The state is
/// changed at the very end, or not at all.
pub(super) async fn refresh(
    store: &Store,
    held: &mut MirroredScope,
    config: &Config,
    at: Timestamp,
    reading: Reading,
) -> Result<Refreshed, Error> {
    let applied = Arc::clone(&held.applied);
    let (now, changes) = store.changes(Some(&held.asked.scope), applied.since(reading)).await?;
    let fresh: Vec<&Change> = changes.iter().filter(|change| !applied.has(&change.id)).collect();
    let is_of_scope = fresh.iter().any(|change| change.names_whole(&held.asked.scope));
    let anew = |why| Ok(Refreshed::Anew { why, weighed: at, is_of_scope });
    if now.millis() - applied.swept.millis() > KEPT_MS - OVERLAP_MS {
        return anew("the last read is older than the retention of changes");
    }
    let learned = store.learned(&held.asked.scope, held.synapses.ticks()).await?;
    if learned.as_ref().is_some_and(|learned| learned.tick < held.synapses.ticks()) {
        return anew("the learned state is older than that of the mirror");
    }
    let written = match reading {
        Reading::Recent => None,
        Reading::All | Reading::Weighed => match written(store, held).await? {
            None => return anew("another library wrote more than can be named"),
            written => written,
        },
    };
    let touched = Touched::of(&fresh, written.as_deref().unwrap_or_default(), held);
    let weighed = held.view.snapshot().as_of.unwrap_or(i64::MIN);
    let stale = at.millis().saturating_sub(weighed) > WEIGHED_MS && !held.relations.is_empty();
    let is_weighed = !touched.is_empty() || stale || reading == Reading::Weighed;
    if fresh.iter().any(|change| change.is_of_whole(&held.asked.scope)) {
        // If it was only in another scope, weights must not tell of it.
        let weighed = Timestamp::from_millis(weighed).unwrap_or(at);
        let weighed = if is_weighed { at } else { weighed };
        return Ok(Refreshed::Anew { why: "more changed than can be named", weighed, is_of_scope });
    }
    let refreshed = if is_weighed {
        next(store, held, config, at, (touched, learned)).await?
    } else {
        learned.map_or(Refreshed::Same, |learned| moved(held, learned, at))
    };
    if !matches!(refreshed, Refreshed::Anew { .. }) {
        held.applied = Arc::new(applied.next(reading, now, changes));
        if let Some(written) = written {
            held.written = written.into_iter().collect();
        }
    }
    Ok(refreshed)
}

/// Rows that other libraries wrote since the last such read; `None` if they are too many.
async fn written(store: &Store, held: &MirroredScope) -> Result<Option<Vec<WrittenRow>>, Error> {
    let late = i64::try_from(WRITTEN_LATE.as_millis()).unwrap_or(i64::MAX);
    let since = Timestamp::from_millis(held.applied.swept.millis() - late).unwrap_or(Timestamp::EPOCH);
    Ok(match store.written_since(&held.asked, since).await? {
        // Rows of a large write stay in view for a while: what follows it is then found by the next load.
        None if held.read.elapsed() < WRITTEN_LATE => Some(Vec::new()),
        written => written,
    })
}

/// Updates the weights of the mirrored state.
fn moved(held: &mut MirroredScope, learned: Learned, at: Timestamp) -> Refreshed {
    match held.learn(learned) {
        Ok(()) => Refreshed::Learned,
        Err(why) => {
            error!(scope = %held.asked.scope, %why, "learned rows could not be loaded");
            Refreshed::anew("learned rows could not be loaded", at)
        }
    }
}

impl Touched {
    fn of(changes: &[&Change], written: &[WrittenRow], held: &MirroredScope) -> Self {
        let mut all = Self::default();
        let scope = held.asked.scope.as_str();
        for one in changes.iter().flat_map(|change| &change.touched) {
            if !one.scope.is_empty() && one.scope != scope {
                continue;
            }
            if one.label == STATE_LABEL {
                // The label of the row is not recorded: few have the key.
                let adopted = held.asked.own_labels()..held.asked.label_count();
                adopted.for_each(|label| all.insert(label, &one.key, !one.kind.is_empty()));
                continue;
            }
            let Some(label) = held.names.label(&one.label) else { continue };
            if one.kind.is_empty() {
                all.nodes.entry(label).or_default().insert(one.key.clone());
            } else {
                let kinds = all.kinds.entry((label, one.key.clone())).or_default();
                kinds.insert(one.kind.clone());
            }
        }
        for row in written.iter().filter(|row| !held.written.contains(row)) {
            all.insert(row.label, &row.key, row.is_relation);
        }
        // Relationships of a new node are read with the node. Where labels share a type, a key may be new under this one, and be held
        // under another; a load of a part, which would take one of them again, is not asked for that.
        let around = all.around.iter().flat_map(|(label, keys)| keys.iter().map(|key| (*label, key)));
        let kinds = all.kinds.keys().map(|(label, key)| (*label, key));
        let is_shared = |label: usize| held.left_out == 0 && held.names.of_type(label).nth(1).is_some();
        let unseen = |(label, key): &(usize, &String)| is_shared(*label) || held.find(*label, key).is_none();
        let unseen: Vec<_> =
            around.chain(kinds).filter(unseen).map(|(label, key)| (label, key.clone())).collect();
        for (label, key) in unseen {
            all.nodes.entry(label).or_default().insert(key);
        }
        let nodes = all.nodes.iter().filter(|(label, _)| is_shared(**label));
        let alike: Vec<(usize, BTreeSet<String>)> = nodes
            .flat_map(|(label, keys)| held.names.of_type(*label).map(|other| (other, keys.clone())))
            .collect();
        for (label, mut keys) in alike {
            all.nodes.entry(label).or_default().append(&mut keys);
        }
        all
    }

    fn insert(&mut self, label: usize, key: &str, is_relation: bool) {
        let rows = if is_relation { &mut self.around } else { &mut self.nodes };
        rows.entry(label).or_default().insert(key.to_owned());
    }

    fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.kinds.is_empty() && self.around.is_empty()
    }
}

/// Rows read, to be made into a batch.
#[derive(Default)]
struct Read {
    /// By external id, with whether the graph has it already.
    nodes: BTreeMap<String, (MirroredNode, bool)>,
    gone: BTreeSet<String>,
    /// Label, key and type of the read relationships; no type means all.
    around: Vec<(String, Option<String>, Vec<MirroredEnd>)>,
}

/// Why a load is required although the changed keys are known.
const SHARED_KEY: &str = "nodes of several labels share a key";
const TOO_MANY_FACTS: &str = "new texts may be evidence of facts about too many nodes";

/// Reads what was touched, or returns why a load is required.
async fn read(
    store: &Store,
    held: &MirroredScope,
    touched: Touched,
) -> Result<Result<Read, &'static str>, Error> {
    let mut read = Read::default();
    let mut new: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    let mut changed: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (label, keys) in &touched.nodes {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let mut there: HashSet<String> = HashSet::new();
        for page in keys.chunks(PAGE) {
            for seen in store.mirrored(&held.asked, *label, Sought::Keys(page)).await? {
                let is_held = held.find(*label, &seen.key).is_some();
                let id = held.names.external_id(*label, &seen.key);
                // A key that now has nodes of several labels changes the names of all of them.
                if !is_held && (held.names.is_shared(&seen.key) || held.view.graph().find(&id).is_some()) {
                    return Ok(Err(SHARED_KEY));
                }
                // A text with another instant is other evidence.
                if !is_held || held.asked.is_evidence(*label) {
                    new.entry(*label).or_default().insert(seen.key.clone());
                } else if *label < held.asked.own_labels() && held.says_otherwise(&id, &seen) {
                    changed.entry(*label).or_default().push(seen.key.clone());
                }
                there.insert(seen.key.clone());
                // Several rows of one label are one node.
                let is_known = is_held && held.names.is_shared(&seen.key);
                if read.nodes.insert(id, (seen, is_held)).is_some_and(|(_, was_held)| !was_held || !is_known)
                {
                    return Ok(Err(SHARED_KEY));
                }
            }
        }
        for key in keys.into_iter().filter(|key| !there.contains(*key)) {
            if held.find(*label, key).is_some() {
                if held.names.is_shared(key) {
                    return Ok(Err(SHARED_KEY));
                }
                read.gone.insert(held.names.external_id(*label, key));
            }
        }
    }
    // A node is read under each label of its type, and is there under one.
    let Read { nodes, gone, .. } = &mut read;
    gone.retain(|id| !nodes.contains_key(id));
    for (label, keys) in touched.around {
        let known = keys.into_iter().filter(|key| held.find(label, key).is_some());
        new.entry(label).or_default().extend(known);
    }
    // A new text may be evidence of facts about what it mentions.
    let mut about: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    for (label, keys) in new {
        let (before, keys) = (read.around.len(), Vec::from_iter(keys));
        read.around(store, held, label, &keys, None).await?;
        if held.asked.is_evidence(label) {
            let ends = read.around[before..].iter().flat_map(|(.., ends)| ends);
            for end in ends {
                about.entry(end.label).or_default().insert(end.key.clone());
            }
        }
    }
    // Whether a text has a name decides how much a mention conducts.
    for (label, keys) in changed {
        read.around(store, held, label, &keys, Some(MENTIONS)).await?;
    }
    // Not after each load: those of a large write stay in view for a while.
    let is_many = about.values().map(BTreeSet::len).sum::<usize>() > ABOUT_MAX;
    if is_many && held.read.elapsed() >= WRITTEN_LATE {
        return Ok(Err(TOO_MANY_FACTS));
    }
    for (label, keys) in about {
        let known: Vec<String> = keys.into_iter().filter(|key| held.find(label, key).is_some()).collect();
        read.around(store, held, label, &known, None).await?;
    }
    let mut typed: BTreeMap<(usize, String), Vec<String>> = BTreeMap::new();
    for ((label, key), kinds) in touched.kinds {
        if held.find(label, &key).is_some() {
            for kind in kinds {
                typed.entry((label, kind)).or_default().push(key.clone());
            }
        }
    }
    for ((label, kind), keys) in typed {
        read.around(store, held, label, &keys, Some(&kind)).await?;
    }
    Ok(Ok(read))
}

impl Read {
    async fn around(
        &mut self,
        store: &Store,
        held: &MirroredScope,
        label: usize,
        keys: &[String],
        kind: Option<&str>,
    ) -> Result<(), Error> {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        for page in keys.chunks(PAGE) {
            for (key, ends) in store.mirrored_around(&held.asked, label, Sought::Keys(page), kind).await? {
                self.around.push((held.names.external_id(label, &key), kind.map(str::to_owned), ends));
            }
        }
        Ok(())
    }

    /// Reads those of these nodes that are held, unless they are read already or gone.
    async fn add_held(
        &mut self,
        store: &Store,
        held: &MirroredScope,
        ids: BTreeSet<&str>,
    ) -> Result<(), Error> {
        let mut rows: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        for id in ids.into_iter().filter(|id| !self.nodes.contains_key(*id) && !self.gone.contains(*id)) {
            held.rows_of(id).for_each(|(label, key)| rows.entry(label).or_default().push(key));
        }
        for (label, keys) in rows {
            for page in keys.chunks(PAGE) {
                for seen in store.mirrored(&held.asked, label, Sought::Keys(page)).await? {
                    let id = held.names.external_id(label, &seen.key);
                    self.nodes.entry(id).or_insert((seen, true));
                }
            }
        }
        Ok(())
    }
}

async fn next(
    store: &Store,
    held: &mut MirroredScope,
    config: &Config,
    at: Timestamp,
    (touched, learned): (Touched, Option<Learned>),
) -> Result<Refreshed, Error> {
    let mut read = match read(store, held, touched).await? {
        Ok(read) => read,
        Err(why) => return Ok(Refreshed::anew(why, at)),
    };
    let fading = store.fading();
    let (mut batch, tied, skipped) = merged(held, config, &read, (at, fading));
    let Tied { relations, ends, facts, keys } = tied;
    read.add_held(store, held, relations.ends_observed_otherwise(&held.relations, &keys)).await?;
    let observed = observed(&relations, &ends, held, &read);
    let mut texts = texts(held, &read)?;
    if let Some(index) = &mut texts.facts {
        let set = |embeddings| set_facts(Arc::make_mut(index), &embeddings);
        facts.read(store, &held.asked, facts_page(&held.asked, held.bytes_max), set).await?;
    }
    let graph = held.view.graph();
    batch.nodes = read
        .nodes
        .iter()
        .map(|(id, (seen, is_held))| {
            let lacks = held.left_out > 0 && !is_held;
            let partial = lacks || graph.find(id).is_some_and(|node| graph.is_partial(node));
            let row = held.names.row(seen, partial);
            let last_modified = observed.get(id.as_str()).copied().or(row.last_modified);
            NodeRow { last_modified, ..row }
        })
        .collect();
    let graph = graph.apply(&batch)?;
    drop(batch);
    let mut synapses = held.synapses.rebind(held.view.graph(), &graph)?;
    if let Some(learned) = learned {
        synapses.apply_records(&graph, learned.tick, records(learned.rows), [])?;
    }
    let snapshot = Snapshot { graph, as_of: Some(at.millis()), skipped };
    let view = view_of(Some(&held.view), snapshot, texts, &relations, &held.names, (at, fading));
    let bytes = hot::at_peak(view.bytes().total() + relations.bytes());
    // A node that already exceeds the budget, since no load keeps it, is not read again for a patch that adds nothing.
    if bytes > held.bytes_max.max(held.bytes) {
        return Ok(Refreshed::anew("the budget is spent", at));
    }
    synapses.write_weights(view.graph())?;
    held.view = Arc::new(view.with_tick(synapses.ticks()));
    held.synapses = synapses;
    held.relations = relations;
    held.bytes = bytes;
    Ok(Refreshed::Next)
}

/// The relations after a refresh, with their ends in the graph before it; those whose embeddings may be others than before; and
/// the keys of all that were read or dropped.
struct Tied {
    relations: Relations,
    ends: Vec<[Option<NodeId>; 2]>,
    facts: ReadFacts,
    keys: BTreeSet<RelationKey>,
}

/// Last observations of the entities that were read.
fn observed<'a>(
    relations: &'a Relations,
    ends: &[[Option<NodeId>; 2]],
    held: &MirroredScope,
    read: &Read,
) -> BTreeMap<&'a str, i64> {
    let graph = held.view.graph();
    let mut is_read = vec![false; graph.node_count()];
    read.nodes.keys().filter_map(|id| graph.find(id)).for_each(|node| is_read[node.at()] = true);
    // One that the graph lacks is new, or is not mirrored.
    relations.observed_of(|place, ends_there| {
        ends[place][usize::from(ends_there)].is_none_or(|node| is_read[node.at()])
    })
}

/// The rows as a batch without its nodes, including all relations with their weights at an instant; the relations after
/// it; and the number of invalid rows so far.
fn merged(
    held: &MirroredScope,
    config: &Config,
    read: &Read,
    (at, fading): (Timestamp, &Fading),
) -> (Batch, Tied, SkippedCounts) {
    let (mut relations, mut facts) = (held.relations.clone(), ReadFacts::of(&held.asked));
    let mut batch = Batch { removed_nodes: read.gone.iter().cloned().collect(), ..Batch::default() };
    let mut skipped = held.view.snapshot().skipped;
    // Rows that were read again replace the former ones.
    let is_related = |kind: &Option<String>| kind.as_deref().is_none_or(|kind| kind == RELATES_TO);
    let related = read.around.iter().filter(|(_, kind, _)| is_related(kind)).map(|(id, ..)| id.as_str());
    let dropped = relations.drop_of(&related.chain(read.gone.iter().map(String::as_str)).collect());
    dropped.iter().for_each(|key| facts.remove(key));
    let mut keys: BTreeSet<RelationKey> = dropped.into_iter().collect();
    let is_there = |id: &str| {
        read.nodes.contains_key(id) || (held.view.graph().find(id).is_some() && !read.gone.contains(id))
    };
    for (id, kind, ends) in &read.around {
        held.slots_of(id, kind.as_deref(), &mut batch.removed_edges);
        for end in ends {
            let other = held.names.external_id(end.label, &end.key);
            if !is_there(id) || !is_there(&other) {
                continue;
            }
            let (from, to) = if end.begins { (id.clone(), other) } else { (other, id.clone()) };
            if let Amount::Relation(tied) = &end.amount {
                keys.insert((from.as_str().into(), to.as_str().into(), tied.kind.as_str().into()));
                if relations.put(from.clone(), to.clone(), tied.clone()) {
                    facts.put((&from, &to), tied, end.embedded.clone());
                }
                continue;
            }
            match conductance(&config.kinds, &end.kind, &end.amount, end.causal) {
                Some(conducts) => batch.edges.push(config.edge(from, to, &end.kind, conducts)),
                None => skipped.relationships += 1,
            }
        }
    }
    let graph = held.view.graph();
    let leaving: HashSet<NodeId> = read.gone.iter().filter_map(|id| graph.find(id)).collect();
    let rule = config.kinds.of(RELATES_TO);
    let (relation, direction, inhibitory) = (RELATES_TO.to_owned(), rule.direction, rule.inhibitory);
    let mut links = Links { relation, direction, inhibitory, list: Vec::new() };
    let ends = relations.ends(graph);
    for ((from, to, conducts), ends) in relations.weighed(&config.kinds, at, fading).zip(&ends) {
        match (conducts, *ends) {
            (Some((weight, causal)), [Some(source), Some(target)])
                if !leaving.contains(&source) && !leaving.contains(&target) =>
            {
                links.list.push(Link { source, target, weight, causal });
            }
            (Some(conducts), _) if is_there(from) && is_there(to) => {
                batch.edges.push(config.edge(from.to_owned(), to.to_owned(), RELATES_TO, conducts));
            }
            (_, [Some(source), Some(target)]) if graph.slot(source, RELATES_TO, target).is_some() => {
                batch.removed_edges.push((from.to_owned(), RELATES_TO.to_owned(), to.to_owned()));
            }
            _ => {}
        }
    }
    batch.links.push(links);
    (batch, Tied { relations, ends, facts, keys }, skipped)
}

/// Words of the memories after the rows are applied.
fn texts(held: &MirroredScope, read: &Read) -> Result<Texts, Error> {
    let mut texts = held.view.texts().clone();
    // Most changes are accesses: the indexes stay shared where nothing in them changes.
    let nodes = || read.nodes.iter().map(|(id, (seen, _))| (id, content(id, seen)));
    let silent = nodes().filter(|(_, content)| content.is_none()).map(|(id, _)| id).chain(&read.gone);
    let silenced: Vec<&String> = silent.filter(|id| texts.index.content_hash(id).is_some()).collect();
    let told: Vec<Content<'_>> =
        nodes().filter_map(|(_, content)| content).filter(|content| !texts.index.has(*content)).collect();
    if !silenced.is_empty() || !told.is_empty() {
        let index = Arc::make_mut(&mut texts.index);
        silenced.into_iter().for_each(|id| index.remove(id));
        index.add(told)?;
    }
    if let Some(vectors) = &mut texts.vectors {
        // A row may have lost its embedding, or have one of another model.
        let embedded = read.nodes.iter().map(|(id, (seen, _))| (id.as_str(), seen.embedding.as_deref()));
        let embedded = embedded.chain(read.gone.iter().map(|id| (id.as_str(), None)));
        let changed: Vec<_> = embedded.filter(|(id, embedding)| !vectors.has(id, *embedding)).collect();
        if !changed.is_empty() {
            set_vectors(Arc::make_mut(vectors), changed)?;
        }
    }
    Ok(texts)
}

/// What is indexed of a node with a text.
fn content<'a>(id: &'a str, seen: &'a MirroredNode) -> Option<Content<'a>> {
    let (text, session) = (seen.content.as_deref()?, seen.session.as_deref());
    Some(Content { id, text, session, at: seen.created })
}

impl MirroredScope {
    /// Whether a held node has another text or name than before.
    fn says_otherwise(&self, id: &str, seen: &MirroredNode) -> bool {
        let (graph, texts) = (self.view.graph(), self.view.texts());
        match (graph.find(id), content(id, seen)) {
            (None, _) => false,
            (Some(_), Some(content)) => !texts.index.has(content),
            (Some(node), None) => {
                self.view.has_text(node) || graph.label(node) != self.names.row(seen, false).label
            }
        }
    }

    /// Labels and keys that a held node may have by its id: several labels may have nodes of its type.
    fn rows_of<'i>(&self, id: &'i str) -> impl Iterator<Item = (usize, &'i str)> {
        let rows =
            (0..self.asked.label_count()).filter_map(|label| Some((label, self.names.key(label, id)?)));
        rows.filter(|(label, key)| self.find(*label, key).is_some())
    }

    /// A node of a label.
    fn find(&self, label: usize, key: &str) -> Option<NodeId> {
        let graph = self.view.graph();
        let node = graph.find(&self.names.external_id(label, key))?;
        (graph.node_type(node) == self.names.node_type(label)).then_some(node)
    }

    /// Identifies the slots of a node in both directions: of one type, or of all.
    fn slots_of(&self, id: &str, kind: Option<&str>, into: &mut Vec<(String, String, String)>) {
        let graph = self.view.graph();
        let Some(node) = graph.find(id) else { return };
        let relation = kind.and_then(|kind| graph.find_relation(kind));
        if kind.is_some() && relation.is_none() {
            return;
        }
        let mut name = |source: NodeId, slot, target: NodeId| {
            if relation.is_none_or(|relation| graph.is_of(slot, relation)) {
                let [source, target] = [source, target].map(|node| graph.external_id(node).to_owned());
                into.push((source, graph.relation(slot).to_owned(), target));
            }
        };
        graph.slots(node).for_each(|slot| name(node, slot, graph.target(slot)));
        graph.incoming(node).for_each(|(source, slot)| name(source, slot, node));
    }
}

impl Config {
    fn edge(&self, source: String, target: String, relation: &str, (weight, causal): Conducts) -> EdgeRow {
        let rule = self.kinds.of(relation);
        let (direction, inhibitory) = (rule.direction, rule.inhibitory);
        EdgeRow { source, target, relation: relation.to_owned(), weight, direction, inhibitory, causal }
    }
}
