//! Events and questions as files have them, and the graph that events make.

use ebb_core::domain::event::Observe;
use ebb_core::domain::ids::Scope;
use ebb_core::domain::relation::{Fading, Pins};
use ebb_core::domain::similarity::Similarity;
use ebb_core::domain::trail::{Allowed, Evaporation, Rates, Trails};
use ebb_core::service::evaluation::{self, Question};
use ebb_core::service::events::in_memory::{EventRules, FileEvents, ScopeEvents};
use ebb_engine::View;
use ebb_engine::graph::builder::WeightRange;
use ebb_engine::graph::kinds::Kinds;
use ebb_engine::vectors::{VectorIndex, fact_key};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

/// Embeddings are in files of their own.
const SIMILARITY: Similarity = Similarity { dimensions: None, text_threshold: 0.5, model: None };

/// The questions of a file.
pub(crate) fn questions(path: &str) -> Vec<Question> {
    evaluation::questions(Path::new(path), &Scope::local(), &SIMILARITY).expect("questions")
}

/// The memories and relations of a file.
pub(crate) fn events(path: &str) -> ScopeEvents {
    let allowed = rules().trails.allowed;
    let read = FileEvents::read(Path::new(path), &Scope::local(), &SIMILARITY, allowed).expect("events");
    read.scopes.into_values().next().expect("events of one scope")
}

/// The lines of a file of JSON objects.
pub(crate) fn lines(path: &str) -> Vec<Value> {
    let file = File::open(path).expect("the file");
    let parse = |line: std::io::Result<String>| serde_json::from_str(&line.expect("a line")).expect("JSON");
    BufReader::new(file).lines().map(parse).collect()
}

/// A text of an object; empty if it has none of this name.
pub(crate) fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of[key].as_str().unwrap_or_default()
}

/// The documented settings.
fn rules() -> EventRules {
    let rates = Rates { exploitation: 0.02, exploration: 0.05, success: 0.01, traversal: 0.03, recency: 0.1 };
    EventRules {
        kinds: Kinds::default(),
        range: WeightRange::default(),
        fading: Fading::new(90.0, 0.1).expect("the documented decay"),
        pins: Pins::default(),
        trails: Trails {
            evaporation: Evaporation::new(rates, 1e6).expect("the documented rates"),
            allowed: Allowed::new(&Allowed::LABELS, &Allowed::TYPES).expect("the usual names"),
            cycle_ms: 3_600_000,
            interval_cycles: 10,
            mirrored: Vec::new(),
        },
        mappings: Vec::new(),
    }
}

/// The view of these events.
pub(crate) fn view(events: &ScopeEvents) -> View {
    events.view(&rules()).expect("a graph")
}

/// The view of these events, with a vector of each relation in their order.
pub(crate) fn view_with_facts(events: &ScopeEvents, vectors: &[Vec<f32>]) -> View {
    let rules = rules();
    let parts = events.parts(&rules);
    let (snapshot, mut texts, relations) = parts.expect("a graph");
    let graph = &snapshot.graph;
    let key = |(from, to, kind)| {
        let ends = (graph.label(from), graph.label(to), kind);
        (ends, fact_key(graph.external_id(from), graph.external_id(to), kind))
    };
    let keys: BTreeMap<(&str, &str, &str), String> = relations.iter().copied().map(key).collect();
    let known = events.relations.iter().zip(vectors).filter_map(|(Observe { tie, .. }, vector)| {
        let key = keys.get(&(tie.from.as_str(), tie.to.as_str(), tie.kind.as_str()))?;
        Some((key.as_str(), vector.as_slice()))
    });
    let mut facts = VectorIndex::new(vectors.first().map_or(1, Vec::len)).expect("dimensions");
    facts.add(known).expect("vectors");
    texts.facts = Some(Arc::new(facts));
    View::new(snapshot, texts, relations)
}

/// The same events without what joins memories.
pub(crate) fn unjoined(events: &ScopeEvents) -> ScopeEvents {
    let mut memories = events.memories.clone();
    memories.iter_mut().for_each(|memory| memory.mentions.clear());
    ScopeEvents { memories, relations: Vec::new() }
}
