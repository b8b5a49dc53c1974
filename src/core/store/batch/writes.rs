//! The writes of a folded batch, sorted by statement.

use super::super::catalogue::{MEMORY_ANNOTATE, MEMORY_CREATE, MEMORY_MENTION, SESSION_JOIN, SESSION_OPEN};
use super::super::encode::{instants, list, slices};
use super::super::entity;
use super::super::error::Error;
use super::super::memory::{bytes, keyed, state_columns, write};
use super::super::tx::Tx;
use super::{FoldedMemory, SessionAccesses};
use crate::domain::annotations::{Annotations, Metadata};
use crate::domain::event::Remember;
use crate::domain::ids::{InstanceId, MemoryKey};
use crate::domain::memory::MemoryState;
use crate::domain::units::Timestamp;
use neo4rs::{BoltNull, BoltType};
use std::collections::{BTreeMap, BTreeSet};

struct Join<'a> {
    memory: &'a MemoryKey,
    session: &'a str,
    at: Timestamp,
    count: i64,
}

struct Made<'a> {
    key: &'a MemoryKey,
    remember: &'a Remember,
    state: MemoryState,
    /// Accesses by the session that created it.
    joined: Option<SessionAccesses>,
    mentions: Vec<&'a str>,
}

impl Made<'_> {
    fn weight(&self) -> usize {
        let mentions: usize = self.mentions.iter().map(|name| name.len() + 2).sum();
        let numbers = self.remember.embedding.as_ref().map_or(0, |embedding| embedding.numbers().len());
        self.remember.content.len() + bytes(self.key) + mentions + numbers * 9 + 240
    }
}

/// Rows of a batch, sorted by statement.
#[derive(Default)]
struct Writes<'a> {
    sessions: BTreeMap<(&'a str, &'a str), Timestamp>,
    entities: BTreeSet<(&'a str, &'a str)>,
    made: Vec<Made<'a>>,
    changed: Vec<(&'a MemoryKey, MemoryState)>,
    joins: Vec<Join<'a>>,
    mentions: Vec<(&'a MemoryKey, &'a str)>,
    annotations: Vec<(&'a MemoryKey, &'a Annotations)>,
}

impl<'a> Writes<'a> {
    fn of(memories: &'a BTreeMap<&'a MemoryKey, FoldedMemory<'a>>) -> Self {
        let mut writes = Self::default();
        for (key, folded) in memories {
            let Some(state) = folded.state.filter(|_| !folded.forgotten) else { continue };
            let scope = key.scope();
            let own = folded.made_by.and_then(|remember| remember.session.as_ref()).map(|own| own.as_str());
            for (session, joined) in &folded.joins {
                let started = writes.sessions.entry((scope, session)).or_insert(joined.first);
                *started = (*started).min(joined.first);
                if own != Some(*session) {
                    let SessionAccesses { last: at, count, .. } = *joined;
                    writes.joins.push(Join { memory: key, session, at, count });
                }
            }
            writes.entities.extend(folded.mentions.iter().map(|name| (scope, *name)));
            if folded.annotations != folded.annotated {
                writes.annotations.push((key, &folded.annotations));
            }
            match folded.made_by {
                Some(remember) => writes.made.push(Made {
                    key,
                    remember,
                    state,
                    joined: own.and_then(|own| folded.joins.get(own)).copied(),
                    mentions: folded.mentions.iter().copied().collect(),
                }),
                None => {
                    writes.mentions.extend(folded.mentions.iter().map(|name| (*key, *name)));
                    if folded.before != Some(state) {
                        writes.changed.push((key, state));
                    }
                }
            }
        }
        writes
    }
}

/// Numbers of an embedding, null if there is none.
fn embedding(remember: &Remember) -> BoltType {
    match &remember.embedding {
        Some(embedding) => list(embedding.numbers().iter().copied()),
        None => BoltType::Null(BoltNull),
    }
}

/// Writes a folded batch: each memory once, after the nodes that it refers to. `embeds` says whether a new or revived memory
/// without an embedding is queued to get one.
pub(super) async fn store(
    tx: &mut Tx,
    memories: &BTreeMap<&MemoryKey, FoldedMemory<'_>>,
    embeds: bool,
) -> Result<(), Error> {
    let Writes { sessions, entities, made, changed, joins, mentions, annotations } = Writes::of(memories);
    let sessions: Vec<_> = sessions.into_iter().collect();
    for slice in slices(&SESSION_OPEN, &sessions, |((scope, id), _)| scope.len() + id.len() + 11) {
        let call = SESSION_OPEN
            .call()
            .set("scope", list(slice.iter().map(|((scope, _), _)| *scope)))
            .set("id", list(slice.iter().map(|((_, id), _)| *id)))
            .set("at", instants(slice.iter().map(|(_, at)| Some(*at))));
        if let Some(id) = tx.only::<Option<String>>(call).await? {
            return Err(Error::Conflict(format!(
                "another library has a session {id:?} in this database, and would take one of Ebb's with this id for its \
                 own, so nothing was written. Use another id, or a database of Ebb's own: docs/guide/your-own-data.md"
            )));
        }
    }
    entities.iter().for_each(|(scope, name)| tx.touch("Entity", scope, name, ""));
    entity::open(tx, entities).await?;
    tx.touch_memories(made.iter().map(|made| made.key), "");
    for slice in slices(&MEMORY_CREATE, &made, Made::weight) {
        let each = || slice.iter().map(|made| made.remember);
        let call = state_columns(MEMORY_CREATE.call(), slice.iter().map(|made| (made.key, &made.state)))
            .set("content", list(each().map(|remember| remember.content.as_str())))
            .set("created", instants(each().map(|remember| Some(remember.at))))
            .set(
                "session",
                list(each().map(|remember| remember.session.as_ref().map(|session| session.as_str()))),
            )
            .set("instance", list(each().map(|remember| remember.instance.as_ref().map(InstanceId::as_str))))
            .set("at", instants(slice.iter().map(|made| made.joined.map(|joined| joined.last))))
            .set("count", list(slice.iter().map(|made| made.joined.map(|joined| joined.count))))
            .set("embedding", list(each().map(embedding)))
            .set("embeds", embeds)
            .set("mentions", list(slice.iter().map(|made| list(made.mentions.iter().copied()))));
        tx.run(call).await?;
    }
    write(tx, &changed, embeds).await?;
    for slice in slices(&SESSION_JOIN, &joins, |join| bytes(join.memory) + join.session.len() + 20) {
        let call = SESSION_JOIN
            .call()
            .set("scope", list(slice.iter().map(|join| join.memory.scope())))
            .set("memory", list(slice.iter().map(|join| join.memory.id())))
            .set("session", list(slice.iter().map(|join| join.session)))
            .set("at", instants(slice.iter().map(|join| Some(join.at))))
            .set("count", list(slice.iter().map(|join| join.count)));
        tx.run(call).await?;
    }
    tx.touch_memories(mentions.iter().map(|(key, _)| *key), "MENTIONS");
    for slice in slices(&MEMORY_MENTION, &mentions, |(key, name)| bytes(key) + name.len() + 2) {
        let call = keyed(MEMORY_MENTION.call(), slice.iter().map(|(key, _)| *key))
            .set("name", list(slice.iter().map(|(_, name)| *name)));
        tx.run(call).await?;
    }
    annotate(tx, &annotations).await
}

/// Writes tags, metadata and provenance, null where there is none.
pub(in crate::store) async fn annotate(
    tx: &mut Tx,
    rows: &[(&MemoryKey, &Annotations)],
) -> Result<(), Error> {
    tx.touch_memories(rows.iter().map(|(key, _)| *key), "");
    for slice in slices(&MEMORY_ANNOTATE, rows, |(key, annotations)| bytes(key) + annotations.bytes()) {
        let tags = |annotations: &Annotations| {
            let mut tags = annotations.tags().peekable();
            if tags.peek().is_some() { list(tags) } else { BoltType::Null(BoltNull) }
        };
        let each = || slice.iter().map(|(_, annotations)| annotations.provenance());
        let call = keyed(MEMORY_ANNOTATE.call(), slice.iter().map(|(key, _)| *key))
            .set("tags", list(slice.iter().map(|(_, annotations)| tags(annotations))))
            .set(
                "metadata",
                list(slice.iter().map(|(_, annotations)| annotations.metadata().map(Metadata::as_str))),
            )
            .set("sourcePath", list(each().map(|known| known.source_path.as_deref())))
            .set("lineStart", list(each().map(|known| known.line_start.map(i64::from))))
            .set("lineEnd", list(each().map(|known| known.line_end.map(i64::from))))
            .set("excerpt", list(each().map(|known| known.excerpt.as_deref())))
            .set("namespace", list(each().map(|known| known.namespace.as_deref())))
            .set("canonical", list(each().map(|known| known.canonical.then_some(true))));
        tx.run(call).await?;
    }
    Ok(())
}
