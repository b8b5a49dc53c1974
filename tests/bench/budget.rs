//! The memory budget of a mirror, measured: scopes of several shapes in a real database, and every allocation counted while a mirror
//! loads, loads again beside the generation that answers, and is patched.
//!
//! `mirror.max_bytes` is a peak. Each shape has a budget of a third of what it would take, so selection decides what is held; the
//! peak may exceed that budget by a tenth, and it may not stay far below, or the estimate wastes what it was given. Counts are
//! of bytes that were asked for, and the same in each run but for how far pages are read ahead.

#![expect(clippy::print_stdout, reason = "figures, for whoever calibrates the costs")]
#![expect(unsafe_code, reason = "an allocator is unsafe by its nature; this one hands everything on")]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a second client, apart from the mirror that is measured"
)]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are small and above 0"
)]

mod bed;
mod random;

use bed::Bed;
use ebb_core::clock::new_id;
use ebb_core::domain::event::{Access, Event};
use ebb_core::domain::ids::{MemoryId, Scope};
use ebb_core::domain::memory::Revive;
use ebb_core::domain::units::Timestamp;
use ebb_core::mirror::{Config, Current, Mirror};
use ebb_core::service::Service;
use ebb_core::service::memories::RequestId;
use ebb_engine::graph::builder::WeightRange;
use ebb_engine::graph::kinds::Kinds;
use ebb_engine::plasticity::PlasticityConfig;
use neo4rs::{BoltType, Graph, query};
use random::SplitMix64;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Hands everything on to the system's allocator, and counts what all threads hold.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
static LIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

fn count(grown: usize, freed: usize) {
    let change = grown as i64 - freed as i64;
    let live = LIVE.fetch_add(change, Ordering::Relaxed) + change;
    PEAK.fetch_max(live, Ordering::Relaxed);
}

// SAFETY: each call is the system allocator's with the arguments as they came; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: as the caller vouches.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: as the caller vouches.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both are there while the system copies.
        count(size, 0);
        // SAFETY: as the caller vouches.
        let moved = unsafe { System.realloc(block, layout, size) };
        count(0, layout.size());
        moved
    }
}

/// What is held beyond `from`, and the most that was since this was last asked.
fn beyond(from: i64) -> (i64, i64) {
    let live = LIVE.load(Ordering::Relaxed);
    (live - from, PEAK.swap(live, Ordering::Relaxed) - from)
}

/// The instant of everything, epoch milliseconds.
const AT: i64 = 1_767_225_600_000;
/// Rows of one request.
const PAGE: usize = 2_000;

const MEMORIES: &str = "UNWIND range(0, size($id) - 1) AS i
CREATE (:Memory:EbbMemory {id: $id[i], scope: $scope, content: $content[i], tier: 'longTerm', energy: 1.0 + i * 7919 % 1000 / 1000.0,
  energyAt: datetime({epochMillis: $at}), lastAccessed: datetime({epochMillis: $at}), created: datetime({epochMillis: $at}),
  accessCount: 3})";
const ENTITIES: &str = "UNWIND $id AS id CREATE (:Entity:EbbEntity {scope: $scope, name: id})";
const MENTIONS: &str = "UNWIND range(0, size($from) - 1) AS i
MATCH (a:Memory {id: $from[i]}) MATCH (b:Entity {scope: $scope, name: $to[i]}) CREATE (a)-[:MENTIONS]->(b)";
const COACTIVATED: &str = "UNWIND range(0, size($from) - 1) AS i
MATCH (a:Memory {id: $from[i]}) MATCH (b:Memory {id: $to[i]}) CREATE (a)-[:COACTIVATED {weight: 3}]->(b)";
const RELATES: &str = "UNWIND range(0, size($from) - 1) AS i
MATCH (a:Entity {scope: $scope, name: $from[i]}) MATCH (b:Entity {scope: $scope, name: $to[i]})
CREATE (a)-[:RELATES_TO {ebbKey: $scope + toString($first + i), type: 'knows', weight: 1.0, baseWeight: 1.0,
  weightAt: datetime({epochMillis: $at}), lastObserved: datetime({epochMillis: $at}), pinned: false}]->(b)";

/// A scope.
struct Shape {
    name: &'static str,
    memories: usize,
    /// Words of a memory, and how many different ones there are.
    words: usize,
    vocabulary: u64,
    entities: usize,
    mentions: usize,
    coactivated: usize,
    relations: usize,
}

const SHAPES: [Shape; 7] = [
    Shape {
        name: "short",
        memories: 6_000,
        words: 7,
        vocabulary: 20_000,
        entities: 0,
        mentions: 0,
        coactivated: 0,
        relations: 0,
    },
    Shape {
        name: "usual",
        memories: 4_000,
        words: 25,
        vocabulary: 20_000,
        entities: 400,
        mentions: 8_000,
        coactivated: 8_000,
        relations: 800,
    },
    Shape {
        name: "long",
        memories: 800,
        words: 1_500,
        vocabulary: 50_000,
        entities: 0,
        mentions: 0,
        coactivated: 0,
        relations: 0,
    },
    Shape {
        name: "unique",
        memories: 1_000,
        words: 200,
        vocabulary: u64::MAX,
        entities: 0,
        mentions: 0,
        coactivated: 0,
        relations: 0,
    },
    Shape {
        name: "dense",
        memories: 2_000,
        words: 7,
        vocabulary: 20_000,
        entities: 200,
        mentions: 10_000,
        coactivated: 70_000,
        relations: 0,
    },
    Shape {
        name: "entities",
        memories: 1_000,
        words: 7,
        vocabulary: 20_000,
        entities: 4_000,
        mentions: 8_000,
        coactivated: 0,
        relations: 12_000,
    },
    // Few words, and relationships to anywhere: most of those of a node that is held lead to none that is.
    Shape {
        name: "scattered",
        memories: 8_000,
        words: 4,
        vocabulary: 16,
        entities: 800,
        mentions: 35_000,
        coactivated: 35_000,
        relations: 0,
    },
];

fn list<T: Into<BoltType>>(values: impl IntoIterator<Item = T>) -> BoltType {
    BoltType::from(values.into_iter().map(Into::into).collect::<Vec<BoltType>>())
}

impl Shape {
    fn scope(&self) -> Scope {
        Scope::new(self.name).expect("a scope")
    }

    fn memory(&self, n: usize) -> String {
        format!("{}-{n:08}", self.name)
    }

    fn content(&self, n: usize) -> String {
        let mut random = SplitMix64(n as u64);
        let word = |_| match self.vocabulary {
            u64::MAX => format!("w{:08x}", random.below(1 << 32)),
            many => format!("word{:x}", random.below(many).min(random.below(many))),
        };
        (0..self.words).map(word).collect::<Vec<String>>().join(" ")
    }

    async fn fill(&self, graph: &Graph) {
        let run = async |text: &str, params: Vec<(&str, BoltType)>| {
            let call = query(text).param("scope", self.name).param("at", AT);
            let call = params.into_iter().fold(call, |call, (name, value)| call.param(name, value));
            graph.run(call).await.expect("written");
        };
        let all: Vec<usize> = (0..self.memories).collect();
        for page in all.chunks(PAGE.min(2_000_000 / self.words / 8)) {
            let ids = list(page.iter().map(|n| self.memory(*n)));
            run(MEMORIES, vec![("id", ids), ("content", list(page.iter().map(|n| self.content(*n))))]).await;
        }
        let entity = |n: usize| format!("entity number {n} of {}", self.name);
        let all: Vec<String> = (0..self.entities).map(entity).collect();
        for page in all.chunks(PAGE) {
            run(ENTITIES, vec![("id", list(page.iter().cloned()))]).await;
        }
        let mut random = SplitMix64(7);
        let parts = [
            (MENTIONS, self.mentions, false, true),
            (COACTIVATED, self.coactivated, false, false),
            (RELATES, self.relations, true, true),
        ];
        for (text, count, from_entity, to_entity) in parts {
            for first in (0..count).step_by(PAGE) {
                let mut end = |is_entity: bool| -> Vec<String> {
                    let of = if is_entity { self.entities } else { self.memories };
                    let page = PAGE.min(count - first);
                    let any = (0..page).map(|_| random.below(of as u64) as usize);
                    any.map(|n| if is_entity { entity(n) } else { self.memory(n) }).collect()
                };
                let (from, to) = (list(end(from_entity)), list(end(to_entity)));
                run(text, vec![("from", from), ("to", to), ("first", (first as i64).into())]).await;
            }
        }
    }
}

fn config(scope: Scope, max_bytes: u64) -> Config {
    Config {
        // An eighth of all is left to other scopes.
        max_bytes: max_bytes.div_ceil(7).saturating_mul(8),
        expired: true,
        refresh: Duration::from_secs(30),
        staleness: Duration::from_secs(90),
        scopes: vec![scope],
        connections: 4,
        kinds: Kinds::default(),
        range: WeightRange::default(),
        rules: PlasticityConfig::default(),
        saves: None,
    }
}

fn after(seconds: u32) -> Timestamp {
    Timestamp::from_millis(AT).expect("an instant").after(1_000.0 * f64::from(seconds))
}

fn current(mirror: &Mirror, scope: &Scope) -> Current {
    mirror.current(scope).expect("loaded")
}

/// What a mirror takes.
struct Taken {
    /// At rest.
    held: i64,
    /// While it loads, loads again, and is patched.
    peaks: [i64; 3],
    share: f64,
    nodes: usize,
    slots: usize,
}

async fn measured(service: &Service, shape: &Shape, max_bytes: u64) -> Taken {
    let scope = shape.scope();
    let from = LIVE.load(Ordering::Relaxed);
    let mirror = Mirror::new(service.share_store(), config(scope.clone(), max_bytes));
    beyond(from);
    mirror.refresh(&scope, after(1)).await.expect("loaded");
    let (held, loading) = beyond(from);
    mirror.verify(&scope, after(2)).await.expect("compared");
    let (_, again) = beyond(from);
    // A change and an hour: relations are weighed, and every column is made anew.
    let touched = Event::Access(Access {
        at: after(3),
        id: MemoryId::new(&shape.memory(0)).expect("an id"),
        scope: scope.clone(),
        session: None,
        revive: Revive::Yes,
    });
    service.apply_all(&RequestId::or_new("test", Some(&new_id())), &[touched]).await.expect("used");
    beyond(from);
    mirror.refresh(&scope, after(7_200)).await.expect("patched");
    let (_, patching) = beyond(from);
    let current = current(&mirror, &scope);
    let graph = current.view.graph();
    let (nodes, slots) = (graph.node_count(), graph.slot_count());
    Taken { held, peaks: [loading, again, patching], share: current.held_share(), nodes, slots }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_peak_of_a_mirror_is_its_budget() {
    let (bed, service) = Bed::open(None).await;
    let graph = bed.client();
    for shape in &SHAPES {
        shape.fill(&graph).await;
    }
    drop(graph);
    // Connections are opened and their buffers grown.
    measured(&service, &SHAPES[0], 1 << 40).await;
    let mut faults = Vec::new();
    for shape in &SHAPES {
        let all = measured(&service, shape, 1 << 40).await;
        let peak = all.peaks.into_iter().max().unwrap_or(0);
        println!(
            "{:>9} all: {} nodes, {} slots; held {} B, {} a node; peaks {:?}, {:.2} times as much",
            shape.name,
            all.nodes,
            all.slots,
            all.held,
            all.held / all.nodes as i64,
            all.peaks,
            peak as f64 / all.held as f64
        );
        let budget = peak / 3;
        let taken = measured(&service, shape, budget as u64).await;
        let used = taken.peaks.map(|peak| (peak as f64 / budget as f64 * 100.0).round() / 100.0);
        println!(
            "{:>9} in {budget} B: {} nodes, {} slots, share {:.3}; held {:.2}, peaks {used:?} of it",
            shape.name,
            taken.nodes,
            taken.slots,
            taken.share,
            taken.held as f64 / budget as f64
        );
        let most = used.into_iter().fold(0.0, f64::max);
        if !(0.5..=1.1).contains(&most) {
            faults.push(format!("{} takes {most:.2} of its budget", shape.name));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    bed.server.release().await.expect("stopped");
}
