//! How much gold stays when a part of each scope is left out of memory, by several orders of its memories: `--forget`.
//!
//! About half of the questions are asked, one an hour after the last memory, by recall as it is by default. Its ten hits are
//! accesses, or those of them alone that are gold; an hour later memories are promoted and expire by the laws. Then the coldest
//! memories are left out: a share of their number, or as many as the selection of a mirror leaves out of a budget that is
//! a share of all bytes. Kept is the mean share of gold that stays: for the questions that were not asked, and for all. Figures
//! are means over ten such halves, so that no single draw decides.

use crate::quality::{config, whole};
use crate::record::Run;
use crate::table::Set;
use ebb_core::domain::event::Remember;
use ebb_core::domain::ids::Scope;
use ebb_core::domain::memory::{self, MemoryState, Revive};
use ebb_core::domain::tunables::{ConsolidationConfig, Tunables};
use ebb_core::domain::units::Timestamp;
use ebb_core::mirror::hot::{Joined, Selection, bytes_of_all};
use ebb_core::service::evaluation::Question;
use ebb_core::store::{Heat, MirrorCandidate};
use ebb_engine::View;
use ebb_engine::graph::index::NodeId;
use ebb_engine::graph::pairs::adjacent;
use ebb_engine::random::SplitMix64;
use ebb_engine::recall::{RecallQuery, recall};
use ebb_engine::scratch::Scratch;
use std::collections::{BTreeMap, BTreeSet};

/// Halves of the questions, each by its own seed.
const HALVES: u64 = 10;
const HOUR_MS: f64 = 3_600_000.0;
const HITS: usize = 10;
/// Shares that are left out, in percent.
const OUT: [u32; 5] = [10, 20, 30, 40, 50];

/// A memory at an instant.
struct Facts<'a> {
    memory: &'a Remember,
    state: &'a MemoryState,
    energy: f64,
    chars: u64,
    words: u64,
}

/// Heat of a memory by an order.
type Order = fn(&Facts<'_>) -> Heat;

const ORDERS: [(&str, Order); 5] = [
    ("age", |of| Heat::Alive(of.memory.at.millis() as f64)),
    ("energy", |of| Heat::Alive(of.energy)),
    ("energy, then last access", |of| {
        if of.state.tier.is_live() {
            Heat::Alive(of.energy)
        } else {
            Heat::Expired(of.state.last_accessed.millis() as f64)
        }
    }),
    ("length", |of| Heat::Alive(of.chars as f64)),
    ("**Ebb**: energy, then length and accesses", |of| {
        if of.state.tier.is_live() {
            Heat::Alive(of.energy)
        } else {
            Heat::expired(of.chars, of.words, of.state.access_count)
        }
    }),
];

/// Hits that count as accesses.
#[derive(Clone, Copy, PartialEq)]
enum Accessed {
    Hits,
    Gold,
}

/// What is left out.
#[derive(Clone, Copy, PartialEq)]
enum Share {
    Memories,
    Bytes,
}

/// A scope after a half of its questions was asked.
struct Past<'a> {
    memories: &'a [Remember],
    view: &'a View,
    questions: Vec<&'a Question>,
    /// Places of those that were asked.
    asked: BTreeSet<usize>,
    states: BTreeMap<&'a str, MemoryState>,
    now: Timestamp,
}

impl<'a> Past<'a> {
    fn of(
        (set, scope): (&'a Set, &Scope),
        accessed: Accessed,
        tunables: &Tunables,
        draw: &mut SplitMix64,
    ) -> Self {
        let memories = &set.events[scope].memories;
        let questions: Vec<&Question> =
            set.questions.iter().filter(|question| question.scope == *scope).collect();
        let created = |one: &'a Remember| (one.id.as_str(), memory::created(one.at, one.pinned));
        let last = memories.iter().map(|memory| memory.at).max();
        let mut past = Self {
            memories,
            view: &set.views[scope],
            asked: (0..questions.len()).filter(|_| draw.draw_below(2) == 0).collect(),
            questions,
            states: memories.iter().map(created).collect(),
            now: last.expect("a memory"),
        };
        let (mut scratch, config) = (Scratch::default(), config());
        for at in &past.asked {
            past.now = past.now.after(HOUR_MS);
            maintain(&mut past.states, past.now, tunables);
            let question = past.questions[*at];
            let query = RecallQuery { text: question.text.clone(), top_k: HITS, ..whole() };
            let found = recall(past.view, &query, &config, &mut scratch).expect("an answer");
            let counts = |id: &String| accessed == Accessed::Hits || question.gold.contains(id);
            for id in found.hits.into_iter().map(|hit| hit.id).filter(counts) {
                let state = past.states.get_mut(id.as_str()).expect("a memory");
                *state = memory::accessed(*state, past.now, Revive::Yes, tunables).expect("a memory").0;
            }
        }
        past.now = past.now.after(HOUR_MS);
        maintain(&mut past.states, past.now, tunables);
        past
    }

    /// All nodes as the census of a mirror has them.
    fn candidates(&self, order: Order, tunables: &Tunables) -> Vec<MirrorCandidate> {
        let graph = self.view.graph();
        let memories: BTreeMap<&str, &Remember> =
            self.memories.iter().map(|one| (one.id.as_str(), one)).collect();
        let candidate = |node: NodeId| {
            let key = graph.external_id(node);
            let memory = memories.get(key);
            let text = memory.map_or(0, |memory| memory.content.chars().count());
            let chars = (text + key.chars().count()) as u64;
            let heat = memory.map_or(Heat::Alive(0.0), |memory| {
                let state = &self.states[key];
                let energy = state.energy_now(self.now, tunables).value();
                let words = memory.content.split(' ').count() as u64;
                order(&Facts { memory, state, energy, chars, words })
            });
            let degree = adjacent(graph, node).count() as u64;
            MirrorCandidate {
                label: 0,
                key: key.to_owned(),
                elements: "".into(),
                heat,
                bytes: chars,
                degree,
                numbers: 0,
            }
        };
        graph.nodes().map(candidate).collect()
    }

    /// The keys that stay when so many percent are left out.
    fn kept<'c>(&self, all: &'c [MirrorCandidate], share: Share, out: u32) -> BTreeSet<&'c str> {
        match share {
            Share::Memories => {
                let is_memory = |one: &&MirrorCandidate| self.states.contains_key(one.key.as_str());
                let mut memories: Vec<&MirrorCandidate> = all.iter().filter(is_memory).collect();
                memories.sort_by(|a, b| MirrorCandidate::by_heat(a, b));
                let count = memories.len() * (100 - out as usize) / 100;
                memories[..count].iter().map(|one| one.key.as_str()).collect()
            }
            Share::Bytes => {
                let taken = self.selected(all, bytes_of_all(all) * u64::from(100 - out) / 100);
                all.iter().zip(taken).filter(|(_, taken)| *taken).map(|(one, _)| one.key.as_str()).collect()
            }
        }
    }

    /// The nodes that the selection of a mirror takes.
    fn selected(&self, all: &[MirrorCandidate], bytes_max: u64) -> Vec<bool> {
        let graph = self.view.graph();
        let nodes: Vec<NodeId> = graph.nodes().collect();
        let places: BTreeMap<NodeId, u32> = nodes.iter().copied().zip(0..).collect();
        let joined = |place: u32| -> Joined {
            (place, adjacent(graph, nodes[place as usize]).map(|near| places[&near]).collect())
        };
        let mut selection = Selection::new(all, bytes_max);
        loop {
            let page = selection.page();
            if page.is_empty() {
                return selection.done().0;
            }
            selection.offer(&page.into_iter().map(joined).collect::<Vec<Joined>>());
        }
    }
}

/// The hourly jobs.
fn maintain(states: &mut BTreeMap<&str, MemoryState>, now: Timestamp, tunables: &Tunables) {
    for state in states.values_mut() {
        *state = memory::promoted(*state, now, tunables).unwrap_or(*state);
        *state = memory::decayed(*state, now, tunables).0;
    }
}

/// Means in percent: of the gold that stays, for questions that were not asked and for all, and of the memories that stay.
#[derive(Clone, Copy, Default)]
struct Kept {
    unseen: f64,
    all: f64,
    memories: f64,
}

fn kept(pasts: &[Past<'_>], candidates: &[Vec<MirrorCandidate>], share: Share, out: u32) -> Kept {
    let (mut unseen, mut all, mut memories) = (Vec::new(), Vec::new(), Vec::new());
    for (past, candidates) in pasts.iter().zip(candidates) {
        let kept = past.kept(candidates, share, out);
        for (at, question) in past.questions.iter().enumerate() {
            let held = question.gold.iter().filter(|gold| kept.contains(gold.as_str())).count();
            let share = held as f64 / question.gold.len() as f64;
            all.push(share);
            unseen.extend((!past.asked.contains(&at)).then_some(share));
        }
        memories.extend(past.states.keys().map(|id| f64::from(u8::from(kept.contains(id)))));
    }
    let mean = |shares: Vec<f64>| 100.0 * shares.iter().sum::<f64>() / shares.len() as f64;
    Kept { unseen: mean(unseen), all: mean(all), memories: mean(memories) }
}

/// Measures all orders on a set, and prints a table for each share and each kind of access.
pub(crate) fn run(set: &Set) -> Vec<Run> {
    let tunables = ConsolidationConfig::DOCUMENTED.check().expect("the documented values");
    let mut runs = Vec::new();
    for (accessed, reported) in
        [(Accessed::Hits, "all hits accessed"), (Accessed::Gold, "gold hits accessed")]
    {
        let mut tables = [(Share::Memories, "memories", Vec::new()), (Share::Bytes, "bytes", Vec::new())];
        let mut pasts = Vec::new();
        for seed in 0..HALVES {
            let mut draw = SplitMix64::new(seed);
            pasts.extend(
                set.events.keys().map(|scope| Past::of((set, scope), accessed, &tunables, &mut draw)),
            );
        }
        for (name, order) in ORDERS {
            let candidates: Vec<Vec<MirrorCandidate>> =
                pasts.iter().map(|past| past.candidates(order, &tunables)).collect();
            for (share, of, rows) in &mut tables {
                let found = OUT.map(|out| kept(&pasts, &candidates, *share, out));
                rows.push((name, found));
                runs.push(run_of(&set.name, &format!("{name}, {reported}, share of {of}"), found));
            }
        }
        for (_, of, rows) in tables {
            print(&set.name, &format!("{reported}, share of {of}"), &rows);
        }
    }
    runs
}

fn print(set: &str, of: &str, rows: &[(&str, [Kept; OUT.len()])]) {
    let out: Vec<String> = OUT.iter().map(|out| format!("{out} % out")).collect();
    println!("\n{set}, {of}: gold kept for questions not asked (for all; memories kept), in percent\n");
    println!("| | {} |\n|---|{}", out.join(" | "), "---|".repeat(OUT.len()));
    for (name, found) in rows {
        let cell = |kept: &Kept| format!("{:.1} ({:.1}; {:.0})", kept.unseen, kept.all, kept.memories);
        println!("| {name} | {} |", found.iter().map(cell).collect::<Vec<_>>().join(" | "));
    }
}

/// As a file of results has it.
fn run_of(set: &str, class: &str, found: [Kept; OUT.len()]) -> Run {
    let counters = OUT.iter().zip(found).flat_map(|(out, kept)| {
        [
            (format!("unseen_kept_{out}_percent"), kept.unseen),
            (format!("all_kept_{out}_percent"), kept.all),
            (format!("memories_kept_{out}_percent"), kept.memories),
        ]
    });
    let [_, Kept { unseen: median, .. }, ..] = found;
    Run {
        target: None,
        kernel: "share of gold memories kept without a fifth, in percent".to_owned(),
        dataset: set.to_owned(),
        class: class.to_owned(),
        pairs: 0,
        discarded: 0,
        q1: median,
        median,
        q3: median,
        counters: counters.collect(),
        correct: true,
    }
}
