//! What comes next in a year of dated relations: by current weights, and by what accesses taught these.
//!
//! Events are lines as `ebb import` reads them, of which `observe` counts: a subject, a type, an object, an instant. For each
//! event of a day its object is sought among all entities, ranked by what the relation of this subject and this type weighs
//! when the day begins. One that was seen again the day before weighs most: it begins anew with each sighting, and half is
//! left after 90 days. Figures are the mean reciprocal rank, and the share among the first ten.
//!
//! A relation that is seen again is an access, and so an outcome: the way from the subject to the object was of use, with
//! reward 1. What was seen for the first time was recalled by nobody, and teaches nothing. The outcomes of a day teach when it
//! is over, on the graph of the next.
//!
//! # Design notes
//! Objects that the same question has on the same day beside the one that is sought are left out of its ranking, as in the
//! literature; of equal weights each has the mean place, and so have all that were never seen with subject and type. From day
//! 334 on lies the published test split. Each type has a slot of its own here, since a type is asked for; an outcome
//! strengthens all slots between the two, since a way is one of nodes.
//!
//! What fades, fades by the tick. So it matters how many outcomes a day has, and both are measured: each access by itself,
//! and those of one subject in a day as one.

use crate::record::Run;
use crate::set::{lines, text};
use ebb_core::clock::parse_rfc3339;
use ebb_engine::graph::Graph;
use ebb_engine::graph::builder::{GraphBuilder, StagedKind, StagedNode};
use ebb_engine::graph::columns::NodeRow;
use ebb_engine::graph::index::{EdgeIdx, Generation, NodeId};
use ebb_engine::graph::kinds::{EdgeDirection, NodeType};
use ebb_engine::plasticity::{PlasticityConfig, Synapses};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

const DAY_MS: i64 = 86_400_000;
/// Days in which a relation loses half, and what it must weigh to be mirrored.
const HALF_LIFE_DAYS: f32 = 90.0;
const MINIMUM: f32 = 0.1;
/// The day from which on figures count, and that from which on they are those of the published test split.
const FIRST: usize = 30;
const TEST: usize = 334;

/// Subject, type and object, by their places among names.
type Triple = [u32; 3];

/// Names, each once.
#[derive(Default)]
struct Names {
    known: BTreeMap<String, u32>,
    all: Vec<String>,
}

impl Names {
    fn place(&mut self, name: &str) -> u32 {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let place = u32::try_from(self.all.len()).expect("few names");
        self.known.insert(name.to_owned(), place);
        self.all.push(name.to_owned());
        place
    }
}

/// What happened, by day.
struct Year {
    entities: Vec<String>,
    types: Vec<String>,
    days: Vec<Vec<Triple>>,
}

impl Year {
    fn of_file(path: &str) -> Self {
        let (mut entities, mut types) = (Names::default(), Names::default());
        let (mut days, mut first) = (Vec::<Vec<Triple>>::new(), None);
        for event in lines(path).iter().filter(|event| text(event, "kind") == "observe") {
            let at = parse_rfc3339(text(event, "at")).expect("an instant").millis().div_euclid(DAY_MS);
            let day = usize::try_from(at - *first.get_or_insert(at)).expect("events are in order");
            days.resize_with(days.len().max(day + 1), Vec::new);
            let [from, to] = ["from", "to"].map(|key| entities.place(text(event, key)));
            days[day].push([from, types.place(text(event, "type")), to]);
        }
        Self { entities: entities.all, types: types.all, days }
    }

    /// All relations by what they weigh when a day begins, from the day on which each was seen last.
    fn graph(&self, seen: &BTreeMap<Triple, usize>, day: usize) -> Graph {
        let mut builder = GraphBuilder::default();
        let mut staged: Vec<StagedNode> = Vec::with_capacity(self.entities.len());
        for name in &self.entities {
            let row = NodeRow::new(name, name, NodeType::Concept);
            staged.push(builder.add_node(row).expect("a name of its own"));
        }
        let kind = |name: &String| builder.kind(name, EdgeDirection::Forward, false);
        let kinds: Vec<StagedKind> = self.types.iter().map(kind).collect();
        for ([subject, of, object], last) in seen {
            let weight = (-((day - last) as f32) / HALF_LIFE_DAYS).exp2();
            if weight >= MINIMUM {
                let ends = (staged[*subject as usize], staged[*object as usize]);
                builder.connect(ends.0, ends.1, kinds[*of as usize], weight).expect("both are there");
            }
        }
        let graph = builder.finalize().expect("a graph");
        graph.with_generation(Generation(day as u64 + 1))
    }
}

/// What the accesses of a day teach.
#[derive(Clone, Copy, PartialEq)]
enum Teaches {
    /// Nothing: relations weigh what they weigh.
    Nothing,
    /// Each access by itself.
    Each,
    /// Those of a subject together.
    BySubject,
}

impl Teaches {
    /// The entities of each outcome.
    fn outcomes(self, accesses: &[Triple]) -> Vec<Vec<u32>> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Each => accesses.iter().map(|[subject, _, object]| vec![*subject, *object]).collect(),
            Self::BySubject => {
                let mut of: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
                for [subject, _, object] in accesses {
                    of.entry(*subject).or_insert_with(|| vec![*subject]).push(*object);
                }
                of.into_values().collect()
            }
        }
    }
}

/// Sums over predictions.
#[derive(Clone, Copy, Default)]
struct Sums {
    reciprocal: f64,
    ten: f64,
    count: f64,
}

impl Sums {
    fn add(&mut self, rank: f64) {
        self.reciprocal += 1.0 / rank;
        self.ten += f64::from(u8::from(rank <= 10.0));
        self.count += 1.0;
    }

    /// Mean reciprocal rank and share among the first ten, in percent.
    fn means(self) -> [f64; 2] {
        [self.reciprocal, self.ten].map(|sum| 100.0 * sum / self.count.max(1.0))
    }
}

/// What a way to rank found: before the test split, and in it.
struct Found {
    sums: [Sums; 2],
    ticks: u64,
    records: usize,
}

/// A graph when a day begins, and where its entities are.
struct Morning<'a> {
    year: &'a Year,
    graph: &'a Graph,
    nodes: Vec<NodeId>,
}

impl<'a> Morning<'a> {
    fn of(year: &'a Year, graph: &'a Graph) -> Self {
        let nodes = year.entities.iter().map(|name| graph.find(name).expect("every name is there")).collect();
        Self { year, graph, nodes }
    }

    fn node(&self, entity: u32) -> NodeId {
        self.nodes[entity as usize]
    }

    /// Predicts each event of the day.
    fn predict(&self, events: &[Triple], sums: &mut Sums) {
        let mut objects: BTreeMap<(u32, u32), BTreeSet<NodeId>> = BTreeMap::new();
        for [subject, of, object] in events {
            objects.entry((*subject, *of)).or_default().insert(self.node(*object));
        }
        for [subject, of, object] in events {
            sums.add(self.rank((*subject, *of), self.node(*object), &objects[&(*subject, *of)]));
        }
    }

    /// The place of an object, from 1; of equals the mean one. `true_now` are all objects of the question on this day.
    fn rank(&self, (subject, of): (u32, u32), object: NodeId, true_now: &BTreeSet<NodeId>) -> f64 {
        let (graph, relation) = (self.graph, &self.year.types[of as usize]);
        let slots = graph.slots(self.node(subject)).filter(|slot| graph.relation(*slot) == relation);
        let slots: Vec<EdgeIdx> = slots.collect();
        let weight = |slot: EdgeIdx| graph.weight(slot).to_bits();
        let own = slots.iter().find(|slot| graph.target(**slot) == object).map(|slot| weight(*slot));
        let others = slots.iter().filter(|slot| !true_now.contains(&graph.target(**slot)));
        let (mut before, mut beside, mut seen) = (0_usize, 0_usize, 0_usize);
        for slot in others {
            seen += 1;
            // Bits of numbers above 0 are in the order of the numbers.
            match own.map_or(Ordering::Greater, |own| weight(*slot).cmp(&own)) {
                Ordering::Greater => before += 1,
                Ordering::Equal => beside += 1,
                Ordering::Less => {}
            }
        }
        if own.is_none() {
            beside = self.nodes.len().saturating_sub(seen + true_now.len());
        }
        1.0 + before as f64 + beside as f64 / 2.0
    }
}

/// Goes through the year by one way to learn.
fn pass(year: &Year, teaches: Teaches) -> Found {
    let rules = PlasticityConfig::default();
    let mut seen: BTreeMap<Triple, usize> = BTreeMap::new();
    let mut accesses: Vec<Triple> = Vec::new();
    let mut yesterday: Option<(Graph, Synapses)> = None;
    let mut sums = [Sums::default(); 2];
    for (day, events) in year.days.iter().enumerate() {
        let graph = year.graph(&seen, day);
        let mut synapses = match &yesterday {
            Some((graph_before, before)) => before.rebind(graph_before, &graph),
            None => Synapses::bind(&graph, rules, 0, []),
        }
        .expect("records of the graph of the day before");
        let morning = Morning::of(year, &graph);
        for outcome in teaches.outcomes(&accesses) {
            let active: Vec<(NodeId, f32)> =
                outcome.into_iter().map(|entity| (morning.node(entity), 1.0)).collect();
            synapses.tick(&graph, &active).expect("nodes of this graph");
        }
        synapses.write_weights(&graph).expect("there is one writer");
        if day >= FIRST {
            morning.predict(events, &mut sums[usize::from(day >= TEST)]);
        }
        accesses.clear();
        for triple in events {
            if seen.insert(*triple, day).is_some() {
                accesses.push(*triple);
            }
        }
        yesterday = Some((graph, synapses));
    }
    let (ticks, records) = yesterday.map_or((0, 0), |(_, synapses)| (synapses.ticks(), synapses.len()));
    Found { sums, ticks, records }
}

/// Measures all ways on a file, and tells them as a table.
pub(crate) fn run(path: &str) -> Vec<Run> {
    let year = Year::of_file(path);
    let events: usize = year.days.iter().map(Vec::len).sum();
    println!("{events} events of {} entities on {} days", year.entities.len(), year.days.len());
    let ways = [
        (Teaches::Nothing, "current weights alone"),
        (Teaches::Each, "each access an outcome"),
        (Teaches::BySubject, "accesses of a subject and day an outcome"),
    ];
    let mut rows = Vec::new();
    for (teaches, name) in ways {
        let begun = Instant::now();
        let found = pass(&year, teaches);
        println!("{name}: {:.0} s", begun.elapsed().as_secs_f64());
        rows.push((name, found));
    }
    println!(
        "\n| objects ranked by | MRR, days {FIRST} to {} | first ten | MRR, from day {TEST} | first ten | outcomes | records |",
        TEST - 1
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, Found { sums, ticks, records }) in &rows {
        let [[mrr, ten], [test_mrr, test_ten]] = sums.map(Sums::means);
        println!("| {name} | {mrr:.1} | {ten:.1} | {test_mrr:.1} | {test_ten:.1} | {ticks} | {records} |");
    }
    rows.iter().map(|(name, found)| found.run(name)).collect()
}

impl Found {
    /// As a file of results has it.
    fn run(&self, name: &str) -> Run {
        let [[mrr, ten], [test_mrr, test_ten]] = self.sums.map(Sums::means);
        let counters = [
            ("mrr_before_test_percent", mrr),
            ("first_ten_before_test_percent", ten),
            ("first_ten_percent", test_ten),
            ("outcomes", self.ticks as f64),
            ("records", self.records as f64),
        ];
        Run {
            target: None,
            kernel: "mean reciprocal rank of next-day objects, in percent".to_owned(),
            dataset: "dated relations".to_owned(),
            class: name.to_owned(),
            pairs: 0,
            discarded: 0,
            q1: test_mrr,
            median: test_mrr,
            q3: test_mrr,
            counters: counters.map(|(counter, value)| (counter.to_owned(), value)).into(),
            correct: true,
        }
    }
}
