//! The state of a mirrored scope as a file, from which a restart answers before it has read the store.
//!
//! The pair of JSON files is the format for people and other programs. It lacks what a mirror needs besides: tiers,
//! sessions, the words of contents, relations with their decay, the change records that are applied. This file holds all
//! of it, in a binary form that is read many times as fast, and no other program has to read it.
//!
//! | part | content |
//! |---|---|
//! | [`FORMAT`] | the version of the format |
//! | [`Identity`] | everything besides the contents of the store that decides what a load produces |
//! | [`Position`] | instants, generation and the change records up to which it is complete |
//! | graph, texts | [`GraphRows`], [`Texts`] |
//! | hash | xxh3-64 of all bytes before |
//!
//! A file is used if its hash and its identity are right, and if the database still has the change record that was the
//! latest one when the file was written: a database that was restored from a backup has not. Otherwise the file is
//! ignored with one line in the log, and the scope is loaded. The graph is built by the same builder as in a load, and the
//! indexes are checked, so no file makes a query fail.
//!
//! # Design notes
//! Change records are kept for an hour. If the latest one of a file is older than that, or there was none, the file answers,
//! but nothing tells whether it is complete: the next refresh loads the scope anew.
//!
//! Increase the number in [`FORMAT`] when a type changes that is written here, or what a word is: texts are saved as hashes of words.

use super::changes::Applied;
use super::content::{Names, Relations, view_of};
use super::hot::{Density, at_peak};
use super::persist::open;
use super::{Config, Error, MirroredScope, ago};
use crate::domain::relation::{Fading, RelationState};
use crate::domain::units::{Timestamp, Weight};
use crate::store::{ChangeMark, Database, FadingRelation, KEPT_MS, MirrorQuery};
use ebb_engine::graph::rows::GraphRows;
use ebb_engine::graph::snapshot::{SkippedCounts, Snapshot};
use ebb_engine::plasticity::{SynapseRecord, Synapses};
use ebb_engine::{Texts, View};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashSet};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;

/// First bytes of a file.
const FORMAT: &[u8] = b"ebb mirror state 9\n";
const HASH_BYTES: usize = size_of::<u64>();
/// Bytes that are hashed and written at once.
const CHUNK: usize = 64 * 1024;

/// Hashes of everything besides the contents of the store that decides what a load produces, each with its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity(Vec<(String, u64)>);

impl Identity {
    pub(super) fn of(database: &Database, asked: &MirrorQuery, config: &Config, fading: &Fading) -> Self {
        let labels: Vec<_> = asked.labels().collect();
        let Config { kinds, range, rules, expired, .. } = config;
        let parts = [
            ("database", database.id.clone()),
            ("scope", asked.scope.to_string()),
            ("version of Ebb", env!("CARGO_PKG_VERSION").to_owned()),
            ("share of mirror.max_bytes", config.bytes_of_fixed().to_string()),
            ("mirror.expired", expired.to_string()),
            ("mirror.labels or pheromones.labels", format!("{labels:?}")),
            ("[[adopt]]", asked.mapped()),
            ("embedding.dimensions", format!("{:?}", asked.dimensions)),
            ("embedding.model", format!("{:?}", asked.model)),
            ("engine.causal", format!("{kinds:?}")),
            ("range of weights", format!("{range:?}")),
            ("learning or decay rate", format!("{rules:?}")),
            ("half-life or minimum of relations", format!("{fading:?}")),
        ];
        Self(parts.into_iter().map(|(name, value)| (name.to_owned(), xxh3_64(value.as_bytes()))).collect())
    }

    /// Name of the first part that differs.
    fn difference(&self, other: &Self) -> Option<&str> {
        let mut parts = self.0.iter().zip(&other.0);
        let differing = parts.find(|(one, other)| one != other).map(|(one, _)| one.0.as_str());
        differing.or_else(|| (self != other).then_some("format"))
    }
}

/// Everything but graph and texts.
#[derive(Debug, Serialize, Deserialize)]
struct Position {
    /// Instant of the last read of the store, and of the last full read, by the laws' clock.
    as_of: i64,
    read: i64,
    /// Changes up to this instant, that of the last sweep, are applied, by the server's clock, and those of these records.
    seen: i64,
    applied: BTreeSet<String>,
    /// The latest change record of the database.
    newest: Option<(String, i64)>,
    left_out: u64,
    density: Density,
    /// Keys that nodes of several labels share.
    shared: BTreeSet<String>,
    /// Instant for which relations are weighed.
    weighed: i64,
    skipped: (u64, u64),
    relations: Vec<RelationRow>,
    tick: u64,
    synapses: Vec<SynapseRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
struct RelationRow {
    ends: (String, String),
    kind: String,
    base: Weight,
    weight_at: i64,
    last_observed: i64,
    pinned: bool,
    confidence: Option<f64>,
    causal: Option<f32>,
    until: Option<i64>,
    is_adopted: bool,
}

/// State to be written, taken under the lock of the refresh.
pub(super) struct State {
    view: Arc<View>,
    identity: Identity,
    position: Position,
}

/// A scope from a file, complete up to an instant.
pub(super) struct Restored {
    pub(super) held: MirroredScope,
    pub(super) as_of: Timestamp,
}

impl MirroredScope {
    /// The state to save, of a scope that was last read at `as_of`, and in full at `read`.
    pub(super) fn state(
        &self,
        database: &Database,
        config: &Config,
        fading: &Fading,
        (as_of, read): (i64, i64),
    ) -> Result<State, Error> {
        let snapshot = self.view.snapshot();
        let row = |(from, to, _, tied): (&str, &str, &str, &FadingRelation)| RelationRow {
            ends: (from.to_owned(), to.to_owned()),
            kind: tied.kind.clone(),
            base: tied.bond.base,
            weight_at: tied.bond.weight_at.millis(),
            last_observed: tied.bond.last_observed.millis(),
            pinned: tied.bond.pinned,
            confidence: tied.confidence,
            causal: tied.causal,
            until: tied.until,
            is_adopted: tied.is_adopted,
        };
        let newest = database.newest.as_ref().map(|newest| (newest.element.clone(), newest.at));
        let position = Position {
            as_of,
            read,
            // Older than the last read, so that the next one goes back as far as after that of this instant.
            seen: self.applied.swept.millis(),
            applied: self.applied.ids().cloned().collect(),
            newest,
            left_out: self.left_out,
            density: self.density,
            shared: self.names.shared().map(str::to_owned).collect(),
            weighed: snapshot.as_of.unwrap_or(as_of),
            skipped: (snapshot.skipped.nodes, snapshot.skipped.relationships),
            relations: self.relations.iter().map(row).collect(),
            tick: self.synapses.ticks(),
            synapses: self.synapses.all_records(self.view.graph())?,
        };
        let identity = Identity::of(database, &self.asked, config, fading);
        Ok(State { view: Arc::clone(&self.view), identity, position })
    }
}

impl State {
    /// Writes a file.
    pub(super) fn write(&self, into: &mut dyn Write) -> io::Result<()> {
        let mut into = BufWriter::with_capacity(CHUNK, Hashed { into, sum: Xxh3Default::new() });
        into.write_all(FORMAT)?;
        put(&self.identity, &mut into)?;
        put(&self.position, &mut into)?;
        put(self.view.graph(), &mut into)?;
        put(self.view.texts(), &mut into)?;
        into.flush()?;
        let Hashed { into, sum } = into.into_inner().map_err(|why| why.into_error())?;
        into.write_all(&sum.digest().to_le_bytes())
    }
}

fn put<T: Serialize>(value: &T, into: &mut impl Write) -> io::Result<()> {
    postcard::to_io(value, into).map(drop).map_err(io::Error::other)
}

/// A writer that hashes the bytes it passes on.
struct Hashed<'w> {
    into: &'w mut dyn Write,
    sum: Xxh3Default,
}

impl Write for Hashed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.into.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.into.flush()
    }
}

/// A file with the right format, hash and identity.
pub(super) struct Found {
    bytes: Vec<u8>,
    /// Where the graph begins.
    at: usize,
    position: Position,
}

/// Reads a file; `None` if there is none. The reason of an error completes the sentence "the state is not used: it …".
pub(super) fn find(path: &Path, config: &Config) -> Result<Option<Candidate>, String> {
    let unreadable = |why: &dyn std::fmt::Display| format!("it cannot be read: {why}");
    let Some(mut file) = open(path).map_err(|why| unreadable(&why))? else { return Ok(None) };
    let known = file.metadata().map_err(|why| unreadable(&why))?;
    if !known.is_file() || known.len() > config.max_bytes {
        return Err("it is no file, or larger than mirror.max_bytes".to_owned());
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|why| unreadable(&why))?;
    candidate(bytes).map(Some)
}

/// Checks format and hash of the bytes of a file, and reads all but graph and texts.
fn candidate(mut bytes: Vec<u8>) -> Result<Candidate, String> {
    if !bytes.starts_with(FORMAT) {
        return Err("it has another format".to_owned());
    }
    let end = bytes.len().saturating_sub(HASH_BYTES);
    let is_sound = end >= FORMAT.len() && bytes[end..] == xxh3_64(&bytes[..end]).to_le_bytes();
    if !is_sound {
        return Err("it is damaged".to_owned());
    }
    bytes.truncate(end);
    let rest = &bytes[FORMAT.len()..];
    let (identity, rest) = take::<Identity>(rest)?;
    let (position, rest) = take::<Position>(rest)?;
    let at = bytes.len() - rest.len();
    Ok(Candidate { identity, found: Found { at, bytes, position } })
}

fn take<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), String> {
    postcard::take_from_bytes(bytes).map_err(|why| format!("it has another content: {why}"))
}

/// A readable file.
pub(super) struct Candidate {
    identity: Identity,
    found: Found,
}

impl Candidate {
    /// The change record that the database must have.
    pub(super) fn newest(&self) -> Option<ChangeMark> {
        let newest = self.found.position.newest.as_ref();
        newest.map(|(element, at)| ChangeMark { element: element.clone(), at: *at })
    }

    /// Checks that it was written from this database, under these settings, and not later than `at`.
    pub(super) fn checked(
        mut self,
        identity: &Identity,
        database: &Database,
        at: Timestamp,
    ) -> Result<Found, String> {
        if let Some(part) = identity.difference(&self.identity) {
            return Err(format!("it was written with another {part}"));
        }
        let position = &mut self.found.position;
        if position.as_of > at.millis() || position.seen > database.now {
            return Err("it was written later than now".to_owned());
        }
        let kept = position.newest.as_ref().is_some_and(|(_, at)| database.now.saturating_sub(*at) < KEPT_MS);
        if kept && !database.has_known {
            return Err("the database lacks the latest change that the file knows".to_owned());
        }
        if !kept {
            position.seen = Timestamp::EPOCH.millis();
        }
        Ok(self.found)
    }
}

impl Found {
    /// Builds the mirror of a scope, as [`load`](super::load) would have at the instant of the file.
    pub(super) fn build(
        self,
        asked: MirrorQuery,
        config: &Config,
        fading: &Fading,
        at: Timestamp,
    ) -> Result<Restored, String> {
        let Self { bytes, at: begin, position } = self;
        let (graph, rest) = take::<GraphRows>(&bytes[begin..])?;
        let (texts, rest) = take::<Texts>(rest)?;
        if !rest.is_empty() || !texts.is_sound() {
            return Err("its indexes are inconsistent".to_owned());
        }
        drop(bytes);
        position
            .built(graph, texts, asked, config, fading, at)
            .map_err(|why| format!("it cannot be used: {why}"))
    }
}

impl Position {
    fn built(
        self,
        graph: GraphRows,
        texts: Texts,
        asked: MirrorQuery,
        config: &Config,
        fading: &Fading,
        at: Timestamp,
    ) -> Result<Restored, Error> {
        let dimensions = [&texts.vectors, &texts.facts].map(|index| index.as_ref().map(|of| of.dimensions()));
        if dimensions.iter().any(|count| *count != asked.dimensions) {
            return Err(Error::Broken);
        }
        let instant = |millis: i64| Timestamp::from_millis(millis).map_err(|_| Error::Broken);
        let graph = graph.build(config.kinds.clone(), config.range)?;
        let mut relations = Relations::default();
        for row in self.relations {
            let bond = RelationState {
                base: row.base,
                weight_at: instant(row.weight_at)?,
                last_observed: instant(row.last_observed)?,
                pinned: row.pinned,
            };
            let RelationRow { ends: (from, to), kind, confidence, causal, until, is_adopted, .. } = row;
            relations.put(from, to, FadingRelation { kind, bond, confidence, causal, until, is_adopted });
        }
        let mut synapses = Synapses::bind(&graph, config.rules, self.tick, self.synapses)?;
        synapses.write_weights(&graph)?;
        let names = Names::with_shared(&asked, self.shared.into_iter().collect());
        let skipped = SkippedCounts { nodes: self.skipped.0, relationships: self.skipped.1 };
        let snapshot = Snapshot { graph, as_of: Some(self.weighed), skipped };
        let weighed = (instant(self.weighed)?, fading);
        let view = view_of(None, snapshot, texts, &relations, &names, weighed).with_tick(synapses.ticks());
        let bytes = at_peak(view.bytes().total() + relations.bytes());
        let held = MirroredScope {
            asked,
            view: Arc::new(view),
            synapses,
            relations,
            names,
            left_out: self.left_out,
            bytes,
            bytes_max: config.bytes_of_fixed(),
            density: self.density,
            read: ago(at.millis().saturating_sub(self.read)),
            applied: Arc::new(Applied::restored(instant(self.seen)?, self.applied)),
            written: HashSet::new(),
        };
        Ok(Restored { held, as_of: instant(self.as_of)? })
    }
}
