//! A mirror from nothing: who may be in it, who is, what they carry and how they are joined, in that order.
//!
//! The census of a scope settles the selection before anything large is read. Then nodes are read by their keys, a page
//! a request, and what begins at them, over several connections, each on a thread of its own. One more makes rows of a graph
//! of what they bring, so that the server does not wait while somebody counts words. Few pages wait for it, and what was
//! read is let go page by page, so a load takes little more than what it makes.
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
use crate::store::{Amount, Begun, Eligible, EndSeen, Learned, Mirrored, NodeSeen, OVERLAP_MS, Store, Tied};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Weak};
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

/// What one request after the other brought of a page of nodes.
struct Page {
    label: usize,
    nodes: Vec<NodeSeen>,
    edges: Vec<(String, Vec<Begun>)>,
    /// Either way, where not all of a scope is mirrored.
    around: Vec<(String, Vec<EndSeen>)>,
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
    /// Where each candidate stands, by its element.
    elements: HashMap<&'a str, u32>,
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
        let elements = (0..u32::MAX).zip(&self.candidates);
        let elements = elements.map(|(place, candidate)| (&*candidate.element, place)).collect();
        let plan = Plan { load: &self, names: &names, places: &places, elements };
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
    let Load { config, candidates, taken, .. } = plan.load;
    let taken: Vec<&Eligible> =
        candidates.iter().zip(taken).filter(|(_, taken)| **taken).map(|(one, _)| one).collect();
    let pages: Vec<&[&Eligible]> =
        taken.chunk_by(|a, b| a.label == b.label).flat_map(|of_label| of_label.chunks(PAGE)).collect();
    let (next, runtime) = (AtomicUsize::new(0), Handle::current());
    let reader = |brought: &SyncSender<Result<Page, Error>>| {
        while let Some(page) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
            let page = plan.fetched(&runtime, page);
            let is_last = page.is_err();
            // Nobody takes it where another reader or the maker met an error.
            if brought.send(page).is_err() || is_last {
                return;
            }
        }
    };
    std::thread::scope(|threads| {
        let count = config.connections.min(pages.len());
        let (brought, pages) = sync_channel(count);
        let readers: Vec<_> = (0..count)
            .map(|_| {
                let brought = brought.clone();
                threads.spawn(move || reader(&brought))
            })
            .collect();
        drop(brought);
        let mut read = Read::default();
        let made = pages.iter().try_for_each(|page| read.take(plan, page?));
        drop(pages);
        let ended = readers.into_iter().map(|thread| thread.join().map_err(|_| Error::Broken));
        ended.collect::<Vec<_>>().into_iter().collect::<Result<(), Error>>()?;
        made.map(|()| read)
    })
}

impl Plan<'_> {
    fn place(&self, label: usize, key: &str) -> Option<u32> {
        self.places.get(label)?.get(key).copied()
    }

    /// What the store says of nodes of one label, and of what begins at them.
    fn fetched(&self, runtime: &Handle, page: &[&Eligible]) -> Result<Page, Error> {
        self.load.check_wanted()?;
        let Load { store, asked, whole, .. } = self.load;
        let label = page.first().map_or(0, |candidate| candidate.label);
        let keys: Vec<&str> = page.iter().map(|candidate| candidate.key.as_str()).collect();
        Ok(Page {
            label,
            nodes: runtime.block_on(store.mirrored(asked, label, &keys))?,
            edges: runtime.block_on(store.mirrored_edges(asked, label, &keys))?,
            around: match *whole {
                true => Vec::new(),
                false => runtime.block_on(store.mirrored_around(asked, label, &keys, None))?,
            },
        })
    }

    /// Those whose other ends may be mirrored and are not.
    fn lacking(&self, label: usize, around: Vec<(String, Vec<EndSeen>)>) -> HashSet<u32> {
        let is_out = |end: &EndSeen| {
            self.place(end.label, &end.key).is_some_and(|place| !self.load.taken[place as usize])
        };
        let lacks = around.into_iter().filter(|(_, ends)| ends.iter().any(is_out));
        lacks.filter_map(|(key, _)| self.place(label, &key)).collect()
    }
}

impl Read {
    /// Makes rows of a page.
    fn take(&mut self, plan: &Plan<'_>, page: Page) -> Result<(), Error> {
        let lacking = plan.lacking(page.label, page.around);
        let mut contents = Vec::new();
        for mut seen in page.nodes {
            let Some(place) = plan.place(page.label, &seen.key) else { continue };
            let row = plan.names.row(&seen, lacking.contains(&place));
            if let Some(content) = seen.content.take() {
                contents.push((row.external_id.clone(), content));
            }
            self.rows.push((place, row));
        }
        self.index.add(contents.iter().map(|(id, content)| (id.as_str(), content.as_str())))?;
        self.counts.add(contents.iter().map(|(_, content)| content.as_str()));
        for (key, edges) in page.edges {
            let Some(from) = plan.place(page.label, &key) else { continue };
            edges.into_iter().for_each(|edge| self.walk(plan, from, edge));
        }
        Ok(())
    }

    fn walk(&mut self, plan: &Plan<'_>, from: u32, edge: Begun) {
        let to = plan.elements.get(edge.to.as_str()).copied();
        let Some(to) = to.filter(|to| plan.load.taken[*to as usize]) else { return };
        if let Amount::Relation(tied) = edge.amount {
            self.relations.push((from, to, tied));
            return;
        }
        let Some(weight) = conductance(&plan.load.config.kinds, &edge.kind, &edge.amount) else {
            self.skipped.relationships += 1;
            return;
        };
        let known = self.kinds.iter().position(|known| *known == edge.kind);
        let at = known.unwrap_or_else(|| {
            self.kinds.push(edge.kind);
            self.kinds.len() - 1
        });
        // Neo4j has at most 65,536 types of relationships.
        let kind = u16::try_from(at).unwrap_or(u16::MAX);
        self.edges.push(Edge { from, to, kind, weight });
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
    Ok((view_of(None, snapshot, texts, &relations, plan.names, weighed), relations))
}
