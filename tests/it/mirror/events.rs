//! Events read in memory make the graph that their import makes, and a mention conducts by what its text names.

use super::{Bed, about, near, weight};
use crate::harness::ebb::access;
use crate::harness::neo4j::at;
use crate::harness::random::Random;
use ebb_core::domain::event::{Event, Observe, Remember, Tie};
use ebb_core::domain::ids::{EntityName, RelationType, Scope};
use ebb_core::domain::relation::Observation;
use ebb_core::domain::units::Weight;
use ebb_core::mirror::RefreshOutcome;
use ebb_core::mirror::from_events::{EventRules, ScopeEvents};
use ebb_core::store::RequestMode;
use ebb_engine::View;
use ebb_engine::graph::builder::WeightRange;
use ebb_engine::graph::kinds::Kinds;
use std::collections::BTreeSet;
use std::ops::Range;

/// Texts with what they mention, named or not: case, parts of words, several spaces, other scripts, characters outside the basic plane.
const TEXTS: [(&str, &[&str]); 8] = [
    ("Dana's BUILD broke", &["dana", "the build", "Rui", "Is A Bu"]),
    ("They met Herbert in the cities", &["Frank Herbert", "City  Bank", "citi bank", "Porto"]),
    ("東京に行く", &["東京", "京都", "東京 タワー", "大阪 東京"]),
    ("ΟΔΟΣ και οδοσ", &["οδος", "ΟΔΟΣ", "ος"]),
    ("İstanbul, Straße, ﬁle", &["istanbul", "STRASSE", "straße", "file", "ﬁle", "İSTANBUL"]),
    ("so 😀😀 it is", &["😀😀 x", "😀😀😀 y", "😀 😀", "😀"]),
    ("a\nb-c, d", &["b c", "a b", "b-c", "c, d"]),
    ("local", &["Memory:m7", "local", "m7"]),
];

fn remembered(number: usize, text: &str, mentions: &[&str]) -> Remember {
    let Event::Remember(memory) = about(&format!("m{number}"), 0.5, text, mentions) else { unreachable!() };
    memory
}

/// Memories of few characters, so that many names stand in a text, or nearly.
fn drawn(random: &mut Random, numbers: Range<usize>) -> Vec<Remember> {
    let mut word = |longest: usize| -> String {
        let length = random.below(longest) + 1;
        (0..length)
            .map(|_| random.pick(&['a', 'A', 'b', 'é', 'É', 'ß', 'İ', 'Σ', '日', '😀', ' ', '-']))
            .collect()
    };
    let mut memory = |number: usize| {
        let text = word(12);
        let names: Vec<String> =
            (0..4).map(|_| word(6)).filter(|name| EntityName::new(name).is_ok()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        (!text.trim().is_empty()).then(|| remembered(number, &text, &names))
    };
    numbers.filter_map(&mut memory).collect()
}

fn observed(from: &str, kind: &str, to: &str) -> Observe {
    let tie = Tie {
        scope: Scope::local(),
        from: EntityName::new(from).unwrap(),
        kind: RelationType::new(kind).unwrap(),
        to: EntityName::new(to).unwrap(),
    };
    Observe { tie, seen: Observation { at: at(1.0), weight: None, pinned: None } }
}

/// Every slot with the bits of its weight, every node with its kind, label and last observation, and every fact.
fn described(view: &View) -> BTreeSet<String> {
    let graph = view.graph();
    let slots = graph.nodes().flat_map(|node| graph.slots(node).map(move |slot| (node, slot)));
    let slots = slots.map(|(node, slot)| {
        let [from, to] = [node, graph.target(slot)].map(|node| graph.external_id(node));
        format!("{from} {} {to} {:08x}", graph.relation(slot), graph.base(slot).to_bits())
    });
    let nodes = graph.nodes().map(|node| {
        let seen = graph.last_modified(node);
        format!("{} {} {:?} {seen:?}", view.kind(node), graph.external_id(node), graph.label(node))
    });
    let facts = view.sources().facts.best("Dana Rui Porto Room File", 100).into_iter().map(|fact| {
        let (from, to) = fact.ends;
        let [from, to] = [from, to].map(|node| graph.external_id(node));
        format!("fact {from} {to} {:08x}", fact.score.to_bits())
    });
    slots.chain(nodes).chain(facts).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn events_in_memory_make_the_graph_of_their_import() {
    let bed = Bed::new(1 << 30).await;
    let mut memories: Vec<Remember> =
        (0..).zip(TEXTS).map(|(number, (text, mentions))| remembered(number, text, mentions)).collect();
    memories.extend(drawn(&mut Random::seeded(20_261_126), 100..300));
    let weighed = |weight, hours, seen: Observe| Observe {
        seen: Observation { at: at(hours), weight: Some(Weight::new(weight).unwrap()), ..seen.seen },
        ..seen
    };
    let events = ScopeEvents {
        memories,
        relations: vec![
            observed("Dana", "knows", "Rui"),
            observed("Dana", "knows", "Rui"),
            observed("Rui", "causes", "Porto"),
            observed("Room:5", "knows", "File:notes"),
            weighed(0.05, 1.0, observed("Dana", "forgets", "Porto")),
            // A late one changes nothing.
            weighed(0.8, 1.0, observed("Porto", "likes", "Dana")),
            weighed(0.9, 0.5, observed("Porto", "likes", "Dana")),
        ],
    };
    let written: Vec<Event> = events.memories.iter().cloned().map(Event::Remember).collect();
    bed.db.apply(&written).await;
    for (number, one) in events.relations.iter().enumerate() {
        let request = number.to_string();
        let once = RequestMode::Once { request: &request, hash: "h", by: "test" };
        bed.db.store.observe(once, std::slice::from_ref(one)).await.unwrap();
    }
    bed.clock.set(at(1.0));
    let (_, current) = bed.refresh().await;
    let store = &bed.db.config;
    let rules = EventRules {
        kinds: Kinds::default(),
        range: WeightRange::default(),
        fading: store.fading,
        pins: store.pins.clone(),
        trails: store.trails.clone(),
        mappings: store.mappings.clone(),
    };
    let view = events.view(&rules).unwrap();
    let (imported, read) = (described(&current.view), described(&view));
    assert_eq!(imported.difference(&read).collect::<Vec<_>>(), Vec::<&String>::new());
    assert_eq!(read.difference(&imported).collect::<Vec<_>>(), Vec::<&String>::new());
    let unnamed = read.iter().filter(|line| line.contains(" MENTIONS ") && line.ends_with("3d4ccccd"));
    assert!(unnamed.count() > 100, "{read:#?}");
}

/// Another writer changes a text; its next access brings it to the mirror, and its mentions with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_changed_text_changes_what_its_mentions_conduct() {
    let bed = Bed::new(1 << 30).await;
    bed.db.apply(&[about("m1", 0.0, "Dana and Rui met", &["Dana", "Rui", "Porto"])]).await;
    let (_, current) = bed.refresh().await;
    near(weight(&current, "m1", "MENTIONS", "Dana"), 0.5);
    near(weight(&current, "Porto", "MENTIONS", "m1"), 0.05);
    bed.db.client.run("MATCH (m:Memory {id: 'm1'}) SET m.content = 'Rui went to Porto'", &[]).await;
    bed.db.apply(&[Event::Access(access("m1", 0.5))]).await;
    bed.clock.set(at(0.5));
    let (done, current) = bed.refresh().await;
    assert_eq!(done, RefreshOutcome::Patched);
    near(weight(&current, "m1", "MENTIONS", "Dana"), 0.05);
    near(weight(&current, "m1", "MENTIONS", "Rui"), 0.5);
    near(weight(&current, "Porto", "MENTIONS", "m1"), 0.5);
    let difference = bed.mirror.verify(&Scope::local(), bed.clock.now()).await.unwrap();
    assert!(difference.is_none(), "{difference}");
}
