//! A mirror from nothing: who may be in it, who is, what they carry and how they are joined, in that order.
//!
//! The census of a scope settles the selection before anything large is read. Then nodes are read by their keys, a page
//! a request, over several connections, each on a thread of its own, which makes rows of a graph of them as they come. What
//! was read is let go page by page, so a load takes little more than what it makes.
//!
//! A load notes the server's time and the words of changes there are before it begins, and reads what was learned by then: what
//! changes meanwhile is left to the refresh that follows it.
//!
//! Its threads own what they work with. Where the future of a load is dropped, at Ctrl-C or at a stop, they
//! end after the page in hand, and what was read is let go.

use super::content::{Names, RELATES_TO, Relations, conductance, view_of};
use super::hot::{Joined, Selection, bytes_of_all};
use super::learned::bound;
use super::{Config, Error, Held};
use crate::domain::ids::Scope;
use crate::domain::units::Timestamp;
use crate::engine::plasticity::Synapses;
use crate::engine::text::counts::WordCounts;
use crate::engine::text::ranking::TextIndex;
use crate::engine::{Texts, View};
use crate::graph::builder::GraphBuilder;
use crate::graph::columns::NodeRow;
use crate::graph::index::Generation;
use crate::graph::kinds::{Kinds, NEVER_MIRRORED};
use crate::graph::snapshot::{Skipped, Snapshot};
use crate::store::{Amount, Eligible, EndSeen, Learned, Mirrored, NodeSeen, OVERLAP_MS, Store, Tied};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;
use tokio::runtime::Handle;

/// Nodes of one request.
const PAGE: usize = 2_000;
/// A selection may take this much of the budget; the rest is for what refreshes bring.
const SHARE: f64 = 0.9;

/// Where each candidate stands, by label and key.
type Places<'a> = Vec<HashMap<&'a str, u32>>;

/// A relationship between places.
#[derive(Debug, Clone, Copy)]
struct Edge {
    from: u32,
    to: u32,
    kind: u16,
    weight: f32,
}

/// What was read so far.
#[derive(Default)]
struct Read {
    rows: Vec<(u32, NodeRow)>,
    edges: Vec<Edge>,
    kinds: Vec<String>,
    relations: Vec<(u32, u32, Tied)>,
    index: TextIndex,
    counts: WordCounts,
    skipped: Skipped,
}

/// What a page says, on its way.
struct Page {
    rows: Vec<(u32, NodeRow)>,
    contents: Vec<(String, String)>,
    edges: Vec<(u32, u32, String, f32)>,
    relations: Vec<(u32, u32, Tied)>,
    skipped: u64,
}

/// What is to be loaded.
struct Load {
    store: Arc<Store>,
    config: Config,
    asked: Mirrored,
    candidates: Vec<Eligible>,
    taken: Vec<bool>,
    whole: bool,
    at: Timestamp,
    learned: Learned,
    /// Of what the future of the load holds, and nobody else.
    waiting: Weak<()>,
}

/// What a load comes to.
struct Made {
    view: View,
    synapses: Synapses,
    relations: Relations,
    names: Names,
}

/// What all threads of a load share.
struct Plan<'a> {
    load: &'a Load,
    names: &'a Names,
    places: &'a Places<'a>,
}

/// Reads a scope as it is at `at`, by the laws' clock, into the first graph of a mirror, or the next after `generation`.
pub(super) async fn load(
    store: &Arc<Store>,
    scope: &Scope,
    config: &Config,
    at: Timestamp,
    generation: Generation,
) -> Result<Held, Error> {
    let begun = Instant::now();
    let asked = asked(store, scope, &config.kinds, config.expired)?;
    // What was committed by now is read below; what comes later is left to the refresh.
    let now = store.server_now().await?;
    let recently = Timestamp::from_millis(now.millis() - OVERLAP_MS).unwrap_or(Timestamp::EPOCH);
    let (seen, changes) = store.changes(recently).await?;
    let learned = store.learned(scope, 0).await?.unwrap_or_default();
    let candidates = census(store, &asked, at).await?;
    let (taken, bytes) = selected(store, config, &asked, &candidates).await?;
    let whole = taken.iter().all(|taken| *taken);
    // Let go with this future at the latest, which tells the threads that nobody waits for them.
    let waits = Arc::new(());
    let load = Load {
        store: Arc::clone(store),
        config: config.clone(),
        asked: asked.clone(),
        candidates,
        taken,
        whole,
        at,
        learned,
        waiting: Arc::downgrade(&waits),
    };
    let made = tokio::task::spawn_blocking(move || load.made(generation)).await;
    drop(waits);
    let Made { view, synapses, relations, names } = made.map_err(|_| Error::Broken)??;
    Ok(Held {
        asked,
        view: Arc::new(view),
        synapses,
        relations,
        names,
        whole,
        bytes,
        read: begun,
        seen,
        applied: changes.into_iter().map(|change| change.element).collect(),
    })
}

/// What is asked of the store for a scope.
pub(super) fn asked(store: &Store, scope: &Scope, kinds: &Kinds, expired: bool) -> Result<Mirrored, Error> {
    let never = NEVER_MIRRORED.iter().map(|kind| (*kind).to_owned()).collect();
    let costed = kinds.costed().map(str::to_owned).collect();
    Ok(Mirrored::new(scope.clone(), store.trails(), expired, never, costed)?)
}

async fn census(store: &Store, asked: &Mirrored, at: Timestamp) -> Result<Vec<Eligible>, Error> {
    let (tunables, counter) = (store.tunables().await?, store.cycles().await?);
    let mut all = Vec::new();
    for label in 0..asked.labels().len() {
        all.append(&mut store.census(asked, label, at, (&tunables, &counter)).await?);
    }
    Ok(all)
}

fn places<'a>(asked: &Mirrored, candidates: &'a [Eligible]) -> Places<'a> {
    let mut places: Places<'a> = vec![HashMap::new(); asked.labels().len()];
    for (place, candidate) in (0..u32::MAX).zip(candidates) {
        places[candidate.label].insert(&candidate.key, place);
    }
    places
}

/// Who is mirrored, and about how many bytes they take.
async fn selected(
    store: &Store,
    config: &Config,
    asked: &Mirrored,
    candidates: &[Eligible],
) -> Result<(Vec<bool>, u64), Error> {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a number of bytes, to the nearest of some"
    )]
    let room = (config.bytes_each() as f64 * SHARE) as u64;
    let all = bytes_of_all(candidates);
    if all <= room {
        return Ok((vec![true; candidates.len()], all));
    }
    let places = places(asked, candidates);
    let mut selection = Selection::new(candidates, room);
    loop {
        let page = selection.page();
        if page.is_empty() {
            return Ok(selection.done());
        }
        let mut near: HashMap<u32, Vec<u32>> = HashMap::with_capacity(page.len());
        for label in 0..asked.labels().len() {
            let keys: Vec<&str> = page
                .iter()
                .map(|place| &candidates[*place as usize])
                .filter(|candidate| candidate.label == label)
                .map(|candidate| candidate.key.as_str())
                .collect();
            if keys.is_empty() {
                continue;
            }
            for (key, ends) in store.mirrored_around(asked, label, &keys, None).await? {
                let Some(place) = places[label].get(key.as_str()) else { continue };
                let ends = ends.iter().filter_map(|end| places.get(end.label)?.get(end.key.as_str()));
                near.insert(*place, ends.copied().collect());
            }
        }
        // One that went since the census has no row. It is offered too, or it would come with every page.
        let joined: Vec<Joined> =
            page.into_iter().map(|place| (place, near.remove(&place).unwrap_or_default())).collect();
        selection.offer(&joined);
    }
}

impl Load {
    /// Reads what was taken, and makes of it a view that knows what was learned, its relations and how its nodes are called.
    fn made(mut self, generation: Generation) -> Result<Made, Error> {
        let learned = std::mem::take(&mut self.learned);
        let keys = self.candidates.iter().map(|candidate| candidate.key.as_str());
        let names = Names::new(&self.asked, keys);
        let places = places(&self.asked, &self.candidates);
        let plan = Plan { load: &self, names: &names, places: &places };
        let read = read(&plan)?;
        self.check_wanted()?;
        let (view, relations) = build(&plan, read, generation)?;
        let synapses = bound(view.graph(), self.config.rules, learned)?;
        Ok(Made { view: view.with_tick(synapses.ticks()), synapses, relations, names })
    }

    /// Ends a load for which nobody waits any more.
    fn check_wanted(&self) -> Result<(), Error> {
        if self.waiting.strong_count() == 0 { Err(Error::Broken) } else { Ok(()) }
    }
}

/// Reads all that was taken, over several connections.
fn read(plan: &Plan<'_>) -> Result<Read, Error> {
    let Load { store, config, asked, candidates, taken, whole, .. } = plan.load;
    let taken: Vec<&Eligible> =
        candidates.iter().zip(taken).filter(|(_, taken)| **taken).map(|(one, _)| one).collect();
    let pages: Vec<&[&Eligible]> =
        taken.chunk_by(|a, b| a.label == b.label).flat_map(|of_label| of_label.chunks(PAGE)).collect();
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Read::default()));
    let runtime = Handle::current();
    let reader = || -> Result<(), Error> {
        while let Some(page) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
            plan.load.check_wanted()?;
            let label = page.first().map_or(0, |candidate| candidate.label);
            let keys: Vec<&str> = page.iter().map(|candidate| candidate.key.as_str()).collect();
            let nodes = runtime.block_on(store.mirrored(asked, label, &keys))?;
            let around = match *whole {
                true => Vec::new(),
                false => runtime.block_on(store.mirrored_around(asked, label, &keys, None))?,
            };
            let lacking = plan.lacking(label, around);
            let page = plan.page(nodes, &lacking);
            all.lock().unwrap_or_else(PoisonError::into_inner).take(page)?;
        }
        Ok(())
    };
    std::thread::scope(|threads| {
        let count = config.connections.min(pages.len());
        let readers: Vec<_> = (0..count).map(|_| threads.spawn(reader)).collect();
        let ended = readers.into_iter().map(|thread| thread.join().unwrap_or(Err(Error::Broken)));
        ended.collect::<Vec<_>>().into_iter().collect::<Result<(), Error>>()
    })?;
    Ok(all.into_inner().unwrap_or_else(PoisonError::into_inner))
}

impl Plan<'_> {
    fn place(&self, label: usize, key: &str) -> Option<u32> {
        self.places.get(label)?.get(key).copied()
    }

    /// Those whose other ends may be mirrored and are not.
    fn lacking(&self, label: usize, around: Vec<(String, Vec<EndSeen>)>) -> HashSet<u32> {
        let is_out = |end: &EndSeen| {
            self.place(end.label, &end.key).is_some_and(|place| !self.load.taken[place as usize])
        };
        let lacks = around.into_iter().filter(|(_, ends)| ends.iter().any(is_out));
        lacks.filter_map(|(key, _)| self.place(label, &key)).collect()
    }

    fn page(&self, nodes: Vec<NodeSeen>, lacking: &HashSet<u32>) -> Page {
        let mut page = Page {
            rows: Vec::new(),
            contents: Vec::new(),
            edges: Vec::new(),
            relations: Vec::new(),
            skipped: 0,
        };
        for mut seen in nodes {
            let Some(from) = self.place(seen.label, &seen.key) else { continue };
            for edge in std::mem::take(&mut seen.edges) {
                let Some(to) = self.place(edge.label, &edge.key) else { continue };
                if !self.load.taken[to as usize] {
                    continue;
                }
                if let Amount::Relation(tied) = edge.amount {
                    page.relations.push((from, to, tied));
                    continue;
                }
                match conductance(&self.load.config.kinds, &edge.kind, &edge.amount) {
                    Some(weight) => page.edges.push((from, to, edge.kind, weight)),
                    None => page.skipped += 1,
                }
            }
            let row = self.names.row(&seen, lacking.contains(&from));
            if let Some(content) = seen.content {
                page.contents.push((row.external_id.clone(), content));
            }
            page.rows.push((from, row));
        }
        page
    }
}

impl Read {
    fn take(&mut self, page: Page) -> Result<(), Error> {
        self.index.add(page.contents.iter().map(|(id, content)| (id.as_str(), content.as_str())))?;
        self.counts.add(page.contents.iter().map(|(_, content)| content.as_str()));
        self.rows.extend(page.rows);
        for (from, to, kind, weight) in page.edges {
            let known = self.kinds.iter().position(|known| *known == kind);
            let at = known.unwrap_or_else(|| {
                self.kinds.push(kind);
                self.kinds.len() - 1
            });
            // Neo4j has at most 65,536 types of relationships.
            let kind = u16::try_from(at).unwrap_or(u16::MAX);
            self.edges.push(Edge { from, to, kind, weight });
        }
        self.relations.extend(page.relations);
        self.skipped.relationships += page.skipped;
        Ok(())
    }
}

/// The view of what was read, and its relations.
fn build(plan: &Plan<'_>, read: Read, generation: Generation) -> Result<(View, Relations), Error> {
    let Load { store, config, candidates, at, .. } = plan.load;
    let Read { rows, edges, kinds, relations: tied, index, counts, mut skipped } = read;
    let id = |place: u32| {
        let candidate = &candidates[place as usize];
        plan.names.external_id(candidate.label, &candidate.key)
    };
    let mut relations = Relations::default();
    tied.into_iter().for_each(|(from, to, tied)| relations.put(id(from), id(to), tied));
    let observed = relations.observed();
    let mut builder = GraphBuilder::new(config.kinds.clone(), config.range);
    let mut staged = vec![None; candidates.len()];
    for (place, mut row) in rows {
        if let Some(at) = observed.get(row.external_id.as_str()) {
            row.last_modified = Some(*at);
        }
        match builder.add_node(row) {
            Ok(node) => staged[place as usize] = Some(node),
            Err(_) => skipped.nodes += 1,
        }
    }
    let mut both = |kind: &str| {
        let rule = config.kinds.of(kind).clone();
        builder.kind(kind, rule.direction, rule.inhibitory)
    };
    let staged_kinds: Vec<_> = kinds.iter().map(|kind| both(kind)).collect();
    let related = both(RELATES_TO);
    for edge in edges {
        // A node that went while it was read takes its relationships with it.
        if let (Some(from), Some(to)) = (staged[edge.from as usize], staged[edge.to as usize]) {
            builder.connect(from, to, staged_kinds[edge.kind as usize], edge.weight)?;
        }
    }
    for (from, to, weight) in relations.weighed(&config.kinds, *at, store.fading()) {
        if let (Some(from), Some(to), Some(weight)) = (builder.find(from), builder.find(to), weight) {
            builder.connect(from, to, related, weight)?;
        }
    }
    let graph = builder.finalize()?.at_generation(generation);
    let snapshot = Snapshot { graph, as_of: Some(at.millis()), skipped };
    let texts = Texts { index: Arc::new(index), counts: Arc::new(counts) };
    let weighed = (*at, store.fading());
    Ok((view_of(snapshot, texts, &relations, plan.names, weighed), relations))
}
