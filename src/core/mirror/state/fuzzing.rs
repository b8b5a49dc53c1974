//! Fuzz entry point: the file of a mirror's state.

use super::{Config, FORMAT, GraphRows, Identity, Position, RelationRow, Restored, candidate, put, take};
use crate::domain::ids::Scope;
use crate::domain::relation::Fading;
use crate::domain::similarity::Similarity;
use crate::domain::trail::{Allowed, Evaporation, Rates, Trails};
use crate::domain::units::{Timestamp, Weight};
use crate::mirror::hot::Density;
use crate::store::{ChangeMark, Database, MentionRule, MirrorQuery};
use ebb_engine::Texts;
use ebb_engine::graph::builder::{GraphBuilder, WeightRange};
use ebb_engine::graph::columns::NodeRow;
use ebb_engine::graph::kinds::{Kinds, NodeType};
use ebb_engine::plasticity::{PlasticityConfig, Synapse, SynapseKey, SynapseRecord};
use ebb_engine::recall::{RecallConfig, RecallQuery, recall};
use ebb_engine::scratch::Scratch;
use ebb_engine::text::ranking::{Content, TextIndex};
use ebb_engine::vectors::VectorIndex;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_64;

/// Instant of a restart.
const NOW: i64 = 1_767_225_600_000;

/// Reads the part of a file between its format and its hash. A mirror that is restored from it answers queries, and is the
/// same after it was saved and restored again.
pub fn read(content: &[u8]) {
    let restored = match restored(content) {
        Ok(restored) => restored,
        Err(why) => return assert!(!why.is_empty()),
    };
    let view = &restored.held.view;
    let label = view.graph().nodes().next().map(|node| view.graph().label(node).chars().take(100).collect());
    let text: String = label.unwrap_or_default();
    let query = RecallQuery { text, vector: Some(vec![1.0, 0.5]), ..RecallQuery::default() };
    let found = recall(view, &query, &RecallConfig::default(), &mut Scratch::default());
    found.expect("no file makes a query fail");
    let saved = saved(&restored);
    let again = self::restored(&saved).unwrap_or_else(|why| panic!("a saved state is restored: {why}"));
    assert!(
        canonical(&self::saved(&again)) == canonical(&saved),
        "a state is the same after it was saved and restored"
    );
}

/// The same for two files of one state: the index of texts has a hash table, whose entries are written in any order.
fn canonical(content: &[u8]) -> Vec<u8> {
    let (_, rest) = take::<Identity>(content).expect("an identity");
    let (_, rest) = take::<Position>(rest).expect("a position");
    let (_, texts) = take::<GraphRows>(rest).expect("a graph");
    let (others, texts) = content.split_at(content.len() - texts.len());
    let mut texts = texts.to_vec();
    texts.sort_unstable();
    [others, &texts].concat()
}

/// The part of a small valid file between its format and its hash.
///
/// # Panics
/// None: its values are constants.
#[must_use]
pub fn seed() -> Vec<u8> {
    seed_with(&seed_position())
}

fn seed_with(position: &Position) -> Vec<u8> {
    let mut builder = GraphBuilder::default();
    for (id, text, kind) in [
        ("m1", "Ruth reported that staging is down", NodeType::MEMORY),
        ("m2", "a full disk", NodeType::MEMORY),
        ("ruth", "Ruth", NodeType::Concept),
    ] {
        builder.add_node(NodeRow::new(id, text, kind)).expect("a node");
    }
    for memory in ["m1", "m2"] {
        builder.relate(memory, "MENTIONS", "ruth", 0.5).expect("an edge");
    }
    let graph = builder.finalize().expect("a graph");
    let mut index = TextIndex::default();
    let contents = [("m1", "Ruth reported that staging is down"), ("m2", "a full disk")];
    let content = |(id, text)| Content { id, text, session: Some("s"), at: Some(NOW - 5_000) };
    index.add(contents.map(content)).expect("texts");
    let mut vectors = VectorIndex::new(2).expect("two dimensions");
    vectors.add([("m1", &[1.0, 0.5][..]), ("m2", &[0.0, 1.0])]).expect("vectors");
    let facts = VectorIndex::new(2).expect("two dimensions");
    let texts =
        Texts { index: Arc::new(index), vectors: Some(Arc::new(vectors)), facts: Some(Arc::new(facts)) };
    let mut content = Vec::new();
    put(&identity(), &mut content).expect("an identity");
    put(position, &mut content).expect("a position");
    put(&graph, &mut content).expect("a graph");
    put(&texts, &mut content).expect("texts");
    content
}

fn seed_position() -> Position {
    let key =
        SynapseKey { source: "m1".to_owned(), relation: "MENTIONS".to_owned(), target: "ruth".to_owned() };
    let synapse = Synapse { delta: 0.25, strengthened: 2, ..Synapse::default() };
    Position {
        as_of: NOW - 1_000,
        read: NOW - 2_000,
        seen: NOW - 3_000,
        applied: BTreeSet::from(["c".to_owned()]),
        newest: Some(("e".to_owned(), NOW - 3_000)),
        left_out: 1,
        density: Density::default(),
        shared: BTreeSet::from(["k".to_owned()]),
        weighed: NOW - 1_000,
        skipped: (0, 1),
        relations: vec![RelationRow {
            ends: ("ruth".to_owned(), "ruth".to_owned()),
            kind: "KNOWS".to_owned(),
            base: Weight::new(0.5).expect("a weight"),
            weight_at: NOW - 4_000,
            last_observed: NOW - 4_000,
            pinned: true,
            confidence: Some(0.5),
            causal: Some(0.5),
            until: Some(NOW),
            is_adopted: true,
        }],
        tick: 3,
        synapses: vec![SynapseRecord { key, synapse, tick: 3 }],
    }
}

fn restored(content: &[u8]) -> Result<Restored, String> {
    let mut file = [FORMAT, content].concat();
    file.extend(xxh3_64(&file).to_le_bytes());
    let candidate = candidate(file)?;
    // Almost no mutation keeps the identity right: the rest of the file would remain unread.
    let written = candidate.identity.clone();
    candidate.checked(&written, &database(), now())?.build(query(), &config(), &fading(), now())
}

/// The same part of the file that a restored mirror is saved in.
fn saved(restored: &Restored) -> Vec<u8> {
    let instants = (restored.as_of.millis(), NOW);
    let state = restored.held.state(&database(), &config(), &fading(), instants).expect("a state");
    let mut file = Vec::new();
    state.write(&mut file).expect("a file in memory");
    file[FORMAT.len()..file.len() - super::HASH_BYTES].to_vec()
}

fn now() -> Timestamp {
    Timestamp::from_millis(NOW).expect("an instant")
}

fn identity() -> Identity {
    Identity::of(&database(), &query(), &config(), &fading())
}

fn database() -> Database {
    // Recent, so that a saved state keeps the instant up to which its changes are applied.
    let newest = Some(ChangeMark { element: "e".to_owned(), at: NOW });
    Database { id: "d".to_owned(), now: NOW, newest, has_known: true }
}

fn fading() -> Fading {
    Fading::new(90.0, 0.1).expect("the documented decay")
}

fn config() -> Config {
    Config {
        max_bytes: 64 << 20,
        expired: false,
        refresh: Duration::from_secs(30),
        staleness: Duration::from_secs(60),
        scopes: vec![Scope::local()],
        connections: 1,
        kinds: Kinds::default(),
        range: WeightRange::default(),
        rules: PlasticityConfig::default(),
        saves: None,
    }
}

fn query() -> MirrorQuery {
    let rates = Rates { exploitation: 0.02, exploration: 0.05, success: 0.01, traversal: 0.03, recency: 0.1 };
    let trails = Trails {
        evaporation: Evaporation::new(rates, 1.0).expect("the documented rates"),
        allowed: Allowed::new(&Allowed::LABELS, &Allowed::TYPES).expect("the documented names"),
        cycle_ms: 1_000,
        interval_cycles: 10,
        mirrored: Vec::new(),
    };
    let mentions = MentionRule { unnamed: 0.5, stop_words: Vec::new() };
    let query = MirrorQuery::new(Scope::local(), (&trails, &[]), false, Vec::new(), (Vec::new(), mentions));
    let similarity = Similarity { dimensions: Some(2), text_threshold: 0.5, model: None };
    query.expect("a query").with_embeddings(Some(&similarity))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a file in which one instant is another.
    fn with(change: fn(&mut Position, i64), instant: i64) -> Result<(), String> {
        let mut position = seed_position();
        change(&mut position, instant);
        restored(&seed_with(&position)).map(drop)
    }

    #[test]
    fn no_instant_of_a_file_overflows() {
        assert_eq!(restored(&seed()).map(drop), Ok(()));
        for instant in [i64::MIN, i64::MIN + 1, -1, 0] {
            assert_eq!(with(|position, at| position.read = at, instant), Ok(()), "{instant}");
            let newest = with(|position, at| position.newest = Some(("e".to_owned(), at)), instant);
            assert_eq!(newest, Ok(()), "{instant}");
        }
        let later = with(|position, at| position.as_of = at, i64::MAX);
        assert_eq!(later, Err("it was written later than now".to_owned()));
        assert!(with(|position, at| position.weighed = at, i64::MIN).is_err());
    }
}
