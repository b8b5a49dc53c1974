//! Readers beside a learner: how much slower the slowest of a hundred questions gets, and whether every weight that is read
//! is one that was written.
//!
//! Eight readers where the machine has the cores, else as many as it has but one, which is the learner's. It learns without
//! a pause, which is more than outcomes ever come. A question is a recall from seeds, and its time is a clock's on the wall.
//!
//! What was read is judged by a twin that learns the same with nobody beside it: a weight must be that of one of the ticks
//! between which it was read, an answer that no tick overlapped that of its tick, and in the end all weights must be the
//! twin's.

use crate::measure::{Pairs, counted, run, with};
use crate::outcomes::{Outcome, outcomes, rules};
use crate::probes::Gather;
use crate::record::{Part, Run};
use crate::sets::{Set, Shape};
use ebb_engine::View;
use ebb_engine::graph::Graph;
use ebb_engine::graph::index::{EdgeIdx, NodeId};
use ebb_engine::graph::snapshot::Snapshot;
use ebb_engine::plasticity::{Synapses, Ticks};
use ebb_engine::recall::{Fusion, RecallConfig, RecallQuery, recall};
use ebb_engine::scratch::Scratch;
use std::collections::BTreeSet;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{available_parallelism, scope};
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::Xxh3;

const READERS: usize = 8;
/// Nodes of an outcome.
const ACTIVE: usize = 64;
/// How often each reader asks all questions for one time.
const ROUNDS: usize = 40;
/// Bytes of the array of the probe.
const GATHER: usize = 4 << 20;
/// Weights that a reader looks at after each question; one of them is kept to be judged.
const LOOKS: usize = 64;
/// Of so many answers that no tick overlapped one is kept to be judged.
const KEPT_OF: usize = 64;

/// How many readers there is room for beside a learner.
fn readers() -> usize {
    available_parallelism().map_or(1, usize::from).saturating_sub(1).clamp(1, READERS)
}

/// A graph that is asked and learns.
struct Place {
    view: View,
    asks: Vec<RecallQuery>,
    config: RecallConfig,
    ticks: Ticks,
}

/// Who moves the weights of a place.
struct Learner {
    synapses: Synapses,
    outcomes: Vec<Outcome>,
}

/// A weight that was read between two ticks, the last that was done before and the last that had begun after.
#[derive(Debug, Clone, Copy)]
struct Look {
    slot: EdgeIdx,
    bits: u32,
    start: u64,
    end: u64,
}

/// What one reader saw.
#[derive(Default)]
struct Seen {
    looks: Vec<Look>,
    /// Ticks, and what was answered to which question there.
    answers: Vec<(u64, usize, u64)>,
    questions: u64,
    /// Weights that cannot be.
    impossible: u64,
}

impl Place {
    fn new(set: &Set) -> Self {
        let graph = set.graph(Shape::PLAIN);
        let named = |(node, score): (NodeId, f32)| (graph.external_id(node).to_owned(), score);
        let ask = |query: Vec<(NodeId, f32)>| {
            let seeds = query.into_iter().map(named).collect();
            RecallQuery { seeds, fusion: Fusion::Off, ..RecallQuery::default() }
        };
        let asks = set.queries(&graph).into_iter().map(ask).collect();
        let snapshot = Snapshot::from(graph);
        let view = View::from_labels(snapshot).expect("a view");
        let config = RecallConfig::default();
        Self { view, asks, config, ticks: Ticks::new(0) }
    }

    fn graph(&self) -> &Graph {
        self.view.graph()
    }

    fn learner(&self, set: &Set) -> Learner {
        let synapses = Synapses::bind(self.graph(), rules(), 0, []).expect("nothing yet");
        Learner { synapses, outcomes: outcomes(set, self.graph(), ACTIVE) }
    }

    /// The next tick.
    fn learn(&self, learner: &mut Learner) {
        let Learner { synapses, outcomes } = learner;
        let at = usize::try_from(synapses.ticks()).expect("ticks") % outcomes.len();
        let tick = synapses.tick(self.graph(), &outcomes[at]).expect("an outcome").tick;
        self.ticks.begin(tick);
        synapses.write_weights(self.graph()).expect("one writer");
        self.ticks.finish(tick);
    }

    /// What is answered, as one number.
    fn answer(&self, ask: usize, scratch: &mut Scratch) -> u64 {
        let found = recall(&self.view, &self.asks[ask], &self.config, scratch).expect("an answer");
        let mut sum = Xxh3::new();
        for hit in &found.hits {
            sum.update(hit.id.as_bytes());
            sum.update(&hit.score.to_bits().to_le_bytes());
        }
        sum.digest()
    }

    /// Seconds of each question, asked so many times after each once untimed.
    fn asked(&self) -> Vec<f64> {
        let (mut scratch, mut times) = (Scratch::default(), Vec::new());
        for round in 0..=ROUNDS {
            for ask in 0..self.asks.len() {
                let begun = Instant::now();
                black_box(self.answer(ask, &mut scratch));
                if round > 0 {
                    times.push(begun.elapsed().as_secs_f64());
                }
            }
        }
        times
    }

    /// The time of the slowest of a hundred questions of all readers, beside a learner if there is one.
    fn slowest(&self, learner: Option<&mut Learner>) -> f64 {
        let done = &AtomicBool::new(false);
        let mut times: Vec<f64> = scope(|scope| {
            let readers: Vec<_> = (0..readers()).map(|_| scope.spawn(move || self.asked())).collect();
            if let Some(learner) = learner {
                scope.spawn(move || {
                    while !done.load(Ordering::Relaxed) {
                        self.learn(learner);
                    }
                });
            }
            let times: Vec<_> = readers.into_iter().map(|reader| reader.join()).collect();
            done.store(true, Ordering::Relaxed);
            times.into_iter().flat_map(|times| times.expect("a reader")).collect()
        });
        times.sort_by(f64::total_cmp);
        times[times.len() * 99 / 100]
    }

    /// What a reader sees until all are done. Each begins at another question.
    fn watched(&self, first: usize, slots: &[EdgeIdx], done: &AtomicBool) -> Seen {
        let (mut seen, mut scratch, mut at) = (Seen::default(), Scratch::default(), 0);
        let (range, mut whole) = (self.graph().range(), 0);
        let mut ask = first;
        while !done.load(Ordering::Relaxed) {
            ask = (ask + 1) % self.asks.len();
            let start = self.ticks.at_start();
            let answer = self.answer(ask, &mut scratch);
            seen.questions += 1;
            if start == self.ticks.at_end() {
                whole += 1;
                if whole % KEPT_OF == 1 {
                    seen.answers.push((start, ask, answer));
                }
            }
            for look in 0..LOOKS {
                at = (at + 1) % slots.len();
                let start = self.ticks.at_start();
                let weight = self.graph().weight(slots[at]);
                let end = self.ticks.at_end();
                seen.impossible += u64::from(!(range.floor..=range.cap).contains(&weight));
                if look == 0 {
                    seen.looks.push(Look { slot: slots[at], bits: weight.to_bits(), start, end });
                }
            }
        }
        seen
    }

    /// Bits of all weights.
    fn weights(&self) -> Vec<u32> {
        let slots = self.graph().nodes().flat_map(|node| self.graph().slots(node));
        slots.map(|slot| self.graph().weight(slot).to_bits()).collect()
    }
}

/// The slowest of a hundred questions beside a learner over the same without one.
pub(crate) fn beside_a_learner(name: &str) -> Part {
    let set = Set::named(name).expect("a set");
    let place = Place::new(&set);
    let mut learner = place.learner(&set);
    let probe = Gather::new(GATHER);
    let (mut wall, mut ticks) = (0.0, 0);
    let pairs = Pairs::of(
        || probe.run(),
        || {
            let (begun, before) = (Instant::now(), learner.synapses.ticks());
            let slowest = place.slowest(Some(&mut learner));
            wall += begun.elapsed().as_secs_f64();
            ticks += learner.synapses.ticks() - before;
            slowest
        },
        || place.slowest(None),
    );
    // Nobody else wrote: what the learner holds is what readers are given.
    let twin = Place::new(&set);
    let mut again = twin.learner(&set);
    (0..learner.synapses.ticks()).for_each(|_| twin.learn(&mut again));
    let correct = twin.weights() == place.weights();
    let beside = [
        ("p99_us", pairs.a() * 1e6),
        ("idle_p99_us", pairs.b() * 1e6),
        ("readers", readers() as f64),
        ("cores", available_parallelism().map_or(1, usize::from) as f64),
        ("questions_per_time", (readers() * ROUNDS * place.asks.len()) as f64),
        ("ticks_per_s", ticks as f64 / wall),
        ("records", learner.synapses.len() as f64),
    ];
    let figure = run(Some("T17"), "p99 of questions beside a learner over idle", name, "");
    let run = Run { correct, ..with(pairs.a_over_b(figure), beside) };
    Part { datasets: vec![set.told()], runs: vec![run], ..Part::default() }
}

/// What a twin that learns alone finds wrong with what was seen: looks and answers.
fn judged(twin: &Place, learner: &mut Learner, last: u64, seen: Vec<Seen>) -> [u64; 2] {
    let (mut looks, mut answers): (Vec<Look>, Vec<(u64, usize, u64)>) = (Vec::new(), Vec::new());
    for one in seen {
        looks.extend(one.looks);
        answers.extend(one.answers);
    }
    looks.sort_by_key(|look| look.start);
    answers.sort_unstable();
    let (mut looks, mut answers) = (looks.into_iter().peekable(), answers.into_iter().peekable());
    let (mut open, mut scratch, mut wrong): (Vec<Look>, _, _) = (Vec::new(), Scratch::default(), [0; 2]);
    for tick in 0..=last {
        if tick > 0 {
            twin.learn(learner);
        }
        while let Some(look) = looks.next_if(|look| look.start == tick) {
            open.push(look);
        }
        open.retain(|look| {
            let found = twin.graph().weight(look.slot).to_bits() == look.bits;
            wrong[0] += u64::from(!found && look.end == tick);
            !found && look.end > tick
        });
        while let Some((_, ask, answer)) = answers.next_if(|(at, _, _)| *at == tick) {
            wrong[1] += u64::from(twin.answer(ask, &mut scratch) != answer);
        }
    }
    wrong
}

/// Readers and a learner for so many seconds: torn weights, answers of no tick, and updates that were lost.
pub(crate) fn for_a_while(name: &str, seconds: u64) -> Part {
    let set = Set::named(name).expect("a set");
    let (place, twin) = (Place::new(&set), Place::new(&set));
    let (mut learner, mut again) = (place.learner(&set), twin.learner(&set));
    // Slots that will learn: those that one round of all outcomes touches.
    let mut trial = place.learner(&set).synapses;
    let touched = learner.outcomes.iter().flat_map(|outcome| {
        let ticked = trial.tick(place.graph(), outcome).expect("an outcome");
        ticked.touched.into_iter().map(|of| of.slot)
    });
    let slots: Vec<EdgeIdx> = touched.collect::<BTreeSet<EdgeIdx>>().into_iter().collect();
    let (read, slots, done) = (&place, &slots[..], &AtomicBool::new(false));
    let seen: Vec<Seen> = scope(|scope| {
        let watch = |reader: usize| scope.spawn(move || read.watched(reader * 4, slots, done));
        let readers: Vec<_> = (0..readers()).map(watch).collect();
        let end = Instant::now() + Duration::from_secs(seconds);
        while Instant::now() < end {
            read.learn(&mut learner);
        }
        done.store(true, Ordering::Relaxed);
        readers.into_iter().map(|reader| reader.join().expect("a reader")).collect()
    });
    let ticks = learner.synapses.ticks();
    let sum = |count: fn(&Seen) -> usize| seen.iter().map(count).sum::<usize>() as f64;
    let impossible: u64 = seen.iter().map(|one| one.impossible).sum();
    let questions: u64 = seen.iter().map(|one| one.questions).sum();
    let beside = [
        ("seconds", seconds as f64),
        ("readers", readers() as f64),
        ("cores", available_parallelism().map_or(1, usize::from) as f64),
        ("ticks", ticks as f64),
        ("records", learner.synapses.len() as f64),
        ("questions", questions as f64),
        ("weights_judged", sum(|one| one.looks.len())),
        ("answers_judged", sum(|one| one.answers.len())),
    ];
    let [torn, wrong] = judged(&twin, &mut again, ticks, seen);
    let records = |place: &Place, learner: &Learner| learner.synapses.records(place.graph()).expect("bound");
    let lost = twin.weights().iter().zip(place.weights()).filter(|(wanted, is)| **wanted != *is).count()
        as u64
        + u64::from(records(&twin, &again) != records(&place, &learner));
    let offences = torn + wrong + impossible + lost;
    let what = "torn weights, answers of no tick and updates lost beside a learner";
    let figure = with(counted(Some("T17 torn"), what, name, offences as f64), beside);
    let run = Run { correct: offences == 0, ..figure };
    Part { datasets: vec![set.told()], runs: vec![run], ..Part::default() }
}
