//! The full load of a mirror: candidates, selection, contents and relationships, in that order.
//!
//! The census of a scope decides the selection before anything large is read. Then nodes are read by their keys, a page
//! a request, with the relationships that begin at them, over several connections, each on a thread of its own. One
//! more thread converts the rows to rows of a graph, so that the server does not wait while words are counted. Its
//! queue is short, and rows are dropped page by page, so a load takes little more memory than its result.
//!
//! A load records the server's time and the existing change records before it begins, and reads the learned state of
//! then: later changes are left to the refresh that follows it.
//!
//! Its threads own their data. If the future of a load is dropped, at Ctrl-C or at a stop, they end after the present
//! page, and the rows are dropped.

use super::changes::Applied;
use super::content::{Names, RELATES_TO, Relations, conductance, view_of};
use super::facts::{Embeddings, ReadFacts, set_facts};
use super::hot::{Density, Joined, Selection, at_peak, bytes_of_all, chars_within, nodes_within, share_of};
use super::learned::bound;
use super::places::Turn;
use super::{Config, Error, MirroredScope};
use crate::domain::ids::Scope;
use crate::domain::units::Timestamp;
use crate::store::{
    Amount, Census, Learned, MentionRule, MirrorCandidate, MirrorQuery, MirroredEnd, MirroredNode,
    OVERLAP_MS, OutgoingRelation, Sought, Store,
};
use ebb_engine::graph::builder::GraphBuilder;
use ebb_engine::graph::columns::NodeRow;
use ebb_engine::graph::index::Generation;
use ebb_engine::graph::kinds::{Kinds, NEVER_MIRRORED, UNNAMED};
use ebb_engine::graph::snapshot::{SkippedCounts, Snapshot};
use ebb_engine::plasticity::Synapses;
use ebb_engine::text::ranking::{Content, TextIndex};
use ebb_engine::text::stop::stop_words;
use ebb_engine::vectors::{VectorIndex, fact_key};
use ebb_engine::{Texts, View};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::time::Instant;
use tokio::runtime::Handle;
use tracing::{info, warn};

/// Most nodes of one request.
const PAGE: usize = 2_000;
/// Approximate size of one response, bytes: a share of the budget, with a maximum and a minimum.
const PAGE_SHARE: u64 = 128;
const PAGE_BYTES_MAX: u64 = 8 << 20;
const PAGE_BYTES_MIN: u64 = 64 << 10;
/// Bytes of a number of an embedding while it is read.
const READ_NUMBER_BYTES: u64 = 64;
/// Bytes of a relationship while it is read: its type, the other end and its value, each allocated by itself.
const READ_BYTES: u64 = 300;
/// Most attempts to read a scope until the mirror is within the budget.
const TRIES: usize = 4;
/// Share of the budget for a selection; the rest is for refreshes.
const SHARE: f64 = 0.9;
/// Part of a selection that is loaded to measure nodes, where not all fit and none were measured yet.
const SAMPLE: u64 = 8;
/// Bytes of a mirror that begins with a sample: less is quickly read again, and an eighth of it tells of little but fixed costs.
const SAMPLED_MIN: u64 = 8 << 20;

/// Index of each node, by label and key.
type Places<'a> = Vec<HashMap<&'a str, u32>>;

/// A relationship between two indexes.
#[derive(Debug, Clone, Copy)]
struct Edge {
    from: u32,
    to: u32,
    kind: u16,
    weight: f32,
}

/// Relationships between indexes.
#[derive(Default)]
struct Edges {
    list: Vec<Edge>,
    /// Causal strengths by index of the edge, ascending, where they differ from those of its kind.
    causal: Vec<(usize, [f32; 2])>,
    kinds: Vec<String>,
    relations: Relations,
    facts: ReadFacts,
    /// Number of invalid ones.
    skipped: u64,
}

/// Rows read so far.
#[derive(Default)]
struct Read {
    rows: Vec<(u32, NodeRow)>,
    edges: Edges,
    index: TextIndex,
    vectors: Option<VectorIndex>,
    facts: Option<VectorIndex>,
}

/// Responses to the queries of one page of nodes, or embeddings of facts of these.
#[derive(Default)]
struct Page {
    label: usize,
    nodes: Vec<MirroredNode>,
    edges: Edges,
    /// Nodes with other ends that are candidates but not taken.
    lacking: HashSet<u32>,
    embeddings: Embeddings,
}

/// Parameters of a load.
struct Load {
    store: Arc<Store>,
    config: Config,
    bytes_max: u64,
    asked: MirrorQuery,
    names: Names,
    nodes: Vec<MirrorCandidate>,
    whole: bool,
    at: Timestamp,
    learned: Learned,
    /// Dropped with the future of the load, its only owner.
    waiting: Weak<()>,
}

/// Result of a load.
struct LoadedScope {
    view: View,
    synapses: Synapses,
    relations: Relations,
    names: Names,
}

/// State that all threads of a load share.
struct Plan<'a> {
    load: &'a Load,
    places: &'a Places<'a>,
    /// Index of each node, by its element.
    elements: HashMap<&'a str, u32>,
}

/// Memory of a load: its limit, and its turn.
pub(super) struct Room<'t, 'p> {
    pub(super) bytes_max: u64,
    pub(super) turn: &'t mut Turn<'p>,
}

/// Reads a scope as of `at`, by the laws' clock, into the first graph of a mirror, or the next after `generation`. Where not
/// all fit, a sample is read first, since real costs may be a tenth of the estimate or ten times it. A result that exceeds its room, or
/// leaves much of it unused while candidates are excluded, is dropped and read again.
pub(super) async fn load(
    store: &Arc<Store>,
    scope: &Scope,
    (config, mut within): (&Config, Room<'_, '_>),
    at: Timestamp,
    (generation, mut density): (Generation, Density),
) -> Result<MirroredScope, Error> {
    let is_known = density.is_measured() || within.bytes_max < SAMPLED_MIN;
    let mut part = if is_known { 1 } else { SAMPLE };
    for _ in 1..TRIES {
        let held = load_within(store, scope, (config, &mut within), at, (generation, density, part)).await?;
        let is_sample = part > 1 && held.left_out > 0;
        let is_wasteful = held.left_out > 0 && held.density.is_much_less_than(density);
        let exceeds = held.bytes > within.bytes_max;
        if !exceeds && !is_wasteful && !is_sample {
            return Ok(held);
        }
        info!(%scope, bytes = held.bytes, density = ?held.density, "reloading the mirror by the measured size of its nodes");
        density = if exceeds { held.density } else { held.density.among_more() };
        part = 1;
    }
    load_within(store, scope, (config, &mut within), at, (generation, density, 1)).await
}

/// Loads a scope. If it has to wait for a wider turn, it begins again after it: what waits holds no memory.
async fn load_within(
    store: &Arc<Store>,
    scope: &Scope,
    (config, within): (&Config, &mut Room<'_, '_>),
    at: Timestamp,
    next: (Generation, Density, u64),
) -> Result<MirroredScope, Error> {
    loop {
        match load_once(store, scope, (config, within), at, next).await? {
            Loaded::Scope(held) => return Ok(*held),
            Loaded::TooNarrow(bytes) => within.turn.widen(bytes).await,
        }
    }
}

/// Result of an attempt to load.
enum Loaded {
    Scope(Box<MirroredScope>),
    /// The turn is too narrow for so many bytes.
    TooNarrow(u64),
}

async fn load_once(
    store: &Arc<Store>,
    scope: &Scope,
    (config, within): (&Config, &mut Room<'_, '_>),
    at: Timestamp,
    (generation, density, part): (Generation, Density, u64),
) -> Result<Loaded, Error> {
    let begun = Instant::now();
    let asked = asked(store, scope, &config.kinds, config.expired)?;
    // Changes committed by now are read below; later ones are left to the refresh.
    let now = store.server_now().await?;
    let recently = Timestamp::from_millis(now.millis() - OVERLAP_MS).unwrap_or(Timestamp::EPOCH);
    let (seen, changes) = store.changes(Some(scope), recently).await?;
    let learned = store.learned(scope, 0).await?.unwrap_or_default();
    let room = density.room(room(within.bytes_max));
    let Census { hottest: mut nodes, count, too_large } = census(store, &asked, at, room).await?;
    if too_large > 0 {
        warn!(%scope, too_large, "nodes that exceed the memory budget of their scope alone are not mirrored");
    }
    let names = Names::new(&asked, nodes.iter().map(|node| node.key.as_str()));
    let (taken, estimated) = selected(store, (room, part), &asked, &nodes, count).await?;
    let bytes = density.measured(estimated);
    if within.turn.is_too_narrow(bytes) {
        return Ok(Loaded::TooNarrow(bytes));
    }
    within.turn.widen(bytes).await;
    let mut taken = taken.into_iter();
    nodes.retain(|_| taken.next().unwrap_or(false));
    nodes.shrink_to_fit();
    let left_out = count - nodes.len() as u64;
    // Dropped with this future at the latest, which makes the threads stop.
    let waits = Arc::new(());
    let load = Load {
        store: Arc::clone(store),
        config: config.clone(),
        bytes_max: within.bytes_max,
        asked: asked.clone(),
        names,
        nodes,
        whole: left_out == 0,
        at,
        learned,
        waiting: Arc::downgrade(&waits),
    };
    let made = tokio::task::spawn_blocking(move || load.made(generation)).await;
    drop(waits);
    let LoadedScope { view, synapses, relations, names } = made.map_err(|_| Error::Broken)??;
    let bytes = at_peak(view.bytes().total() + relations.bytes());
    let view_is_empty = view.graph().node_count() == 0;
    Ok(Loaded::Scope(Box::new(MirroredScope {
        asked,
        view: Arc::new(view),
        synapses,
        relations,
        names,
        left_out,
        bytes,
        bytes_max: within.bytes_max,
        density: if view_is_empty { density } else { Density::of(bytes, estimated) },
        read: begun,
        applied: Arc::new(Applied::swept(seen, changes)),
        written: HashSet::new(),
    })))
}

/// Query parameters for a scope.
pub(super) fn asked(
    store: &Store,
    scope: &Scope,
    kinds: &Kinds,
    expired: bool,
) -> Result<MirrorQuery, Error> {
    let never = NEVER_MIRRORED.iter().map(|kind| (*kind).to_owned()).collect();
    let costed = kinds.costed().map(str::to_owned).collect();
    let mentions = MentionRule { unnamed: UNNAMED, stop_words: stop_words().collect() };
    let mapped = (store.trails(), store.mappings());
    let asked = MirrorQuery::new(scope.clone(), mapped, expired, never, (costed, mentions))?;
    Ok(asked.with_embeddings(Some(store.similarity())))
}

/// Greatest cost of a selection.
fn room(bytes_max: u64) -> u64 {
    share_of(bytes_max, SHARE)
}

/// Candidates: no more than fit.
async fn census(store: &Store, asked: &MirrorQuery, at: Timestamp, room: u64) -> Result<Census, Error> {
    let (tunables, counter) = (store.tunables().await?, store.cycles().await?);
    let limits = chars_within(room).map_or((0, 0), |chars| (nodes_within(room), chars));
    Ok(store.census(asked, at, (&tunables, &counter), limits).await?)
}

fn places<'a>(asked: &MirrorQuery, nodes: &'a [MirrorCandidate]) -> Places<'a> {
    let mut places: Places<'a> = vec![HashMap::new(); asked.label_count()];
    for (place, node) in (0..u32::MAX).zip(nodes) {
        places[node.label].insert(&node.key, place);
    }
    places
}

/// Consecutive parts, each of one label and for one request of about so many bytes.
fn pages<'n>(
    nodes: &'n [&'n MirrorCandidate],
    asked: &MirrorQuery,
    bytes_max: u64,
) -> Vec<&'n [&'n MirrorCandidate]> {
    let embedding = asked.dimensions.map_or(0, |count| count as u64 * READ_NUMBER_BYTES);
    let (mut pages, mut begin, mut bytes) = (Vec::new(), 0, 0);
    for (at, node) in nodes.iter().enumerate() {
        let own = 3 * node.bytes + node.degree * READ_BYTES + embedding;
        let is_full = bytes + own > bytes_max || at - begin == PAGE;
        if at > begin && (is_full || nodes[begin].label != node.label) {
            pages.push(&nodes[begin..at]);
            (begin, bytes) = (at, 0);
        }
        bytes += own;
    }
    if begin < nodes.len() {
        pages.push(&nodes[begin..]);
    }
    pages
}

/// Most facts whose embeddings are read by one request.
pub(super) fn facts_page(asked: &MirrorQuery, bytes_max: u64) -> usize {
    let fact = asked.dimensions.map_or(1, |count| count as u64 * READ_NUMBER_BYTES);
    usize::try_from(page_bytes(room(bytes_max)) / fact).unwrap_or(PAGE).clamp(1, PAGE)
}

fn page_bytes(room: u64) -> u64 {
    (room / PAGE_SHARE).clamp(PAGE_BYTES_MIN, PAGE_BYTES_MAX)
}

/// Selects from these candidates, of `count` in all: all of them, or what fits into a part of the room. Returns the choice and
/// its cost.
async fn selected(
    store: &Store,
    (room, part): (u64, u64),
    asked: &MirrorQuery,
    candidates: &[MirrorCandidate],
    count: u64,
) -> Result<(Vec<bool>, u64), Error> {
    let all = bytes_of_all(candidates);
    if all <= room && candidates.len() as u64 == count {
        return Ok((vec![true; candidates.len()], all));
    }
    let places = places(asked, candidates);
    let mut selection = Selection::new(candidates, room / part);
    loop {
        let page = selection.page();
        if page.is_empty() {
            return Ok(selection.done());
        }
        let mut near: HashMap<u32, Vec<u32>> = HashMap::with_capacity(page.len());
        let mut nodes: Vec<&MirrorCandidate> =
            page.iter().map(|place| &candidates[*place as usize]).collect();
        nodes.sort_unstable_by_key(|node| node.label);
        for part in pages(&nodes, asked, page_bytes(room)) {
            let label = part.first().map_or(0, |node| node.label);
            let sought = Sought::Candidates(part);
            for (key, ends) in store.mirrored_around(asked, label, sought, None).await? {
                let Some(place) = places[label].get(key.as_str()) else { continue };
                let ends = ends.iter().filter_map(|end| places.get(end.label)?.get(end.key.as_str()));
                near.insert(*place, ends.copied().collect());
            }
        }
        // A node deleted since the census has no row, and no relationships.
        let joined: Vec<Joined> =
            page.into_iter().map(|place| (place, near.remove(&place).unwrap_or_default())).collect();
        selection.offer(&joined);
    }
}

impl Load {
    /// Reads the taken nodes, and builds a view with learned weights, relations and names.
    fn made(mut self, generation: Generation) -> Result<LoadedScope, Error> {
        let learned = std::mem::take(&mut self.learned);
        let places = places(&self.asked, &self.nodes);
        let elements = (0..u32::MAX).zip(&self.nodes);
        let elements = elements
            .flat_map(|(place, node)| node.elements.split(' ').map(move |element| (element, place)))
            .collect();
        let plan = Plan { load: &self, places: &places, elements };
        let read = read(&plan)?;
        self.check_wanted()?;
        drop(plan);
        drop(places);
        let (view, relations) = build(&self, read, generation)?;
        let synapses = bound(view.graph(), self.config.rules, learned)?;
        Ok(LoadedScope { view: view.with_tick(synapses.ticks()), synapses, relations, names: self.names })
    }

    /// Ends a load whose future was dropped.
    fn check_wanted(&self) -> Result<(), Error> {
        if self.waiting.strong_count() == 0 { Err(Error::Broken) } else { Ok(()) }
    }
}

/// Reads all taken nodes, over several connections.
fn read(plan: &Plan<'_>) -> Result<Read, Error> {
    let Load { config, nodes, bytes_max, .. } = plan.load;
    let nodes: Vec<&MirrorCandidate> = nodes.iter().collect();
    let pages = pages(&nodes, &plan.load.asked, page_bytes(room(*bytes_max)));
    let (next, runtime) = (AtomicUsize::new(0), Handle::current());
    let reader = |brought: &SyncSender<Result<Page, Error>>| {
        while let Some(page) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
            // Sending fails after an error of another reader or of the builder.
            let send = |page| brought.send(Ok(page)).map_err(|_| Error::Broken);
            if let Err(why) = plan.fetch(&runtime, page, send) {
                drop(brought.send(Err(why)));
                return;
            }
        }
    };
    std::thread::scope(|threads| {
        let count = config.connections.min(pages.len());
        let (brought, pages) = sync_channel(1);
        let readers: Vec<_> = (0..count)
            .map(|_| {
                let brought = brought.clone();
                threads.spawn(move || reader(&brought))
            })
            .collect();
        drop(brought);
        let vectors = plan.load.asked.dimensions.map(VectorIndex::new).transpose()?;
        let (rows, facts) = (Vec::with_capacity(nodes.len()), vectors.clone());
        let mut read = Read { rows, vectors, facts, ..Read::default() };
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

    fn external_id(&self, place: u32) -> String {
        let node = &self.load.nodes[place as usize];
        self.load.names.external_id(node.label, &node.key)
    }

    /// Reads the nodes of one label, and the relationships that begin at them; then the embeddings of these, which are too large to
    /// be all read at once.
    fn fetch(
        &self,
        runtime: &Handle,
        page: &[&MirrorCandidate],
        send: impl Fn(Page) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.load.check_wanted()?;
        let Load { store, asked, whole, bytes_max, .. } = self.load;
        let label = page.first().map_or(0, |candidate| candidate.label);
        let sought = Sought::Candidates(page);
        let nodes = runtime.block_on(store.mirrored(asked, label, sought))?;
        let mut edges = Edges { facts: ReadFacts::of(asked), ..Edges::default() };
        for (key, begun) in runtime.block_on(store.mirrored_edges(asked, label, sought))? {
            let Some(from) = self.place(label, &key) else { continue };
            begun.into_iter().for_each(|edge| edges.walk(self, from, edge));
        }
        let lacking = match *whole {
            true => HashSet::new(),
            false => {
                let around = runtime.block_on(store.mirrored_around(asked, label, sought, None))?;
                self.lacking(label, around)
            }
        };
        let facts = std::mem::take(&mut edges.facts);
        send(Page { label, nodes, edges, lacking, ..Page::default() })?;
        runtime.block_on(facts.read(store, asked, facts_page(asked, *bytes_max), |embeddings| {
            self.load.check_wanted()?;
            send(Page { embeddings, ..Page::default() })
        }))
    }

    /// Nodes with other ends that are candidates but not taken.
    fn lacking(&self, label: usize, around: Vec<(String, Vec<MirroredEnd>)>) -> HashSet<u32> {
        let is_out = |end: &MirroredEnd| self.place(end.label, &end.key).is_none();
        let lacks = around.into_iter().filter(|(_, ends)| ends.iter().any(is_out));
        lacks.filter_map(|(key, _)| self.place(label, &key)).collect()
    }
}

impl Edges {
    /// Records a relationship that begins at a node, if its other end is taken.
    fn walk(&mut self, plan: &Plan<'_>, from: u32, edge: OutgoingRelation) {
        let Some(to) = plan.elements.get(edge.to.as_str()).copied() else { return };
        if let Amount::Relation(tied) = edge.amount {
            let (from, to) = (plan.external_id(from), plan.external_id(to));
            if self.relations.put(from.clone(), to.clone(), tied.clone()) {
                self.facts.put((&from, &to), &tied, edge.embedded);
            }
            return;
        }
        let conducts = conductance(&plan.load.config.kinds, &edge.kind, &edge.amount, edge.causal);
        let Some((weight, causal)) = conducts else {
            self.skipped += 1;
            return;
        };
        let kind = self.kind(&edge.kind);
        self.causal.extend(causal.map(|causal| (self.list.len(), causal)));
        self.list.push(Edge { from, to, kind, weight });
    }

    fn kind(&mut self, kind: &str) -> u16 {
        let known = self.kinds.iter().position(|known| known == kind);
        let at = known.unwrap_or_else(|| {
            self.kinds.push(kind.to_owned());
            self.kinds.len() - 1
        });
        // Neo4j has at most 65,536 types of relationships.
        u16::try_from(at).unwrap_or(u16::MAX)
    }

    fn append(&mut self, other: Self) {
        let kinds: Vec<u16> = other.kinds.iter().map(|kind| self.kind(kind)).collect();
        let before = self.list.len();
        self.causal.extend(other.causal.into_iter().map(|(at, causal)| (before + at, causal)));
        self.list.extend(other.list.into_iter().map(|edge| Edge { kind: kinds[edge.kind as usize], ..edge }));
        self.relations.append(other.relations);
        self.skipped += other.skipped;
    }
}

impl Read {
    /// Converts the rows of a page.
    fn take(&mut self, plan: &Plan<'_>, page: Page) -> Result<(), Error> {
        let (mut contents, mut embeddings) = (Vec::new(), Vec::new());
        for mut seen in page.nodes {
            let Some(place) = plan.place(page.label, &seen.key) else { continue };
            let row = plan.load.names.row(&seen, page.lacking.contains(&place));
            embeddings.extend(seen.embedding.take().map(|embedding| (row.external_id.clone(), embedding)));
            if let Some(content) = seen.content.take() {
                contents.push((row.external_id.clone(), content, seen.session.take(), seen.created));
            }
            self.rows.push((place, row));
        }
        if let Some(index) = &mut self.vectors {
            set_vectors(
                index,
                embeddings.iter().map(|(id, embedding)| (id.as_str(), Some(embedding.as_slice()))),
            )?;
        }
        if let Some(index) = &mut self.facts {
            set_facts(index, &page.embeddings)?;
        }
        let contents_of = contents.iter();
        self.index.add(contents_of.map(|(id, text, session, at)| Content {
            id,
            text,
            session: session.as_deref(),
            at: *at,
        }))?;
        self.edges.append(page.edges);
        Ok(())
    }
}

/// Sets the embeddings of nodes; one that has no direction, or is no vector of numbers, is left out.
pub(super) fn set_vectors<'a>(
    index: &mut VectorIndex,
    nodes: impl IntoIterator<Item = (&'a str, Option<&'a [f32]>)>,
) -> Result<(), Error> {
    let mut sound = Vec::new();
    for (id, embedding) in nodes {
        match embedding.filter(|embedding| index.check(id, embedding).is_ok()) {
            Some(embedding) => sound.push((id, embedding)),
            None => index.remove(id),
        }
    }
    Ok(index.add(sound)?)
}

/// Builds the view, and its relations.
fn build(load: &Load, read: Read, generation: Generation) -> Result<(View, Relations), Error> {
    let Load { store, config, names, nodes, at, .. } = load;
    let Read { rows, edges, index, vectors, mut facts } = read;
    let Edges { list: edges, causal, kinds, mut relations, skipped, .. } = edges;
    // A node that was listed, and is gone or no longer live when it is read, takes its relations with it.
    let mut is_read = vec![false; nodes.len()];
    rows.iter().for_each(|(place, _)| is_read[*place as usize] = true);
    let unread = nodes.iter().zip(is_read).filter(|(_, is_read)| !is_read);
    let mut unread: HashSet<String> =
        unread.map(|(node, _)| names.external_id(node.label, &node.key)).collect();
    if !unread.is_empty() {
        // Several rows may have one key.
        for (_, row) in &rows {
            unread.remove(&row.external_id);
        }
    }
    for (from, to, kind) in relations.drop_of(&unread.iter().map(String::as_str).collect()) {
        facts.iter_mut().for_each(|facts| facts.remove(&fact_key(&from, &to, &kind)));
    }
    let mut skipped = SkippedCounts { relationships: skipped, ..SkippedCounts::default() };
    let observed = relations.observed();
    let mut builder = GraphBuilder::new(config.kinds.clone(), config.range);
    let mut staged = vec![None; nodes.len()];
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
    let mut deviating = causal.into_iter().peekable();
    for (at, edge) in edges.into_iter().enumerate() {
        let causal = deviating.next_if(|(of, _)| *of == at).map(|(_, causal)| causal);
        // A node deleted during the read removes its relationships.
        if let (Some(from), Some(to)) = (staged[edge.from as usize], staged[edge.to as usize]) {
            builder.connect_causal(from, to, staged_kinds[edge.kind as usize], edge.weight, causal)?;
        }
    }
    for (from, to, weight) in relations.weighed(&config.kinds, *at, store.fading()) {
        let ends = (builder.find(from), builder.find(to));
        if let ((Some(from), Some(to)), Some((weight, causal))) = (ends, weight) {
            builder.connect_causal(from, to, related, weight, causal)?;
        }
    }
    let graph = builder.finalize()?.with_generation(generation);
    let snapshot = Snapshot { graph, as_of: Some(at.millis()), skipped };
    let (vectors, facts) = (vectors.map(Arc::new), facts.map(Arc::new));
    let texts = Texts { index: Arc::new(index), vectors, facts };
    let weighed = (*at, store.fading());
    Ok((view_of(None, snapshot, texts, &relations, names, weighed), relations))
}
