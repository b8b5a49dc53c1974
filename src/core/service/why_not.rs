//! Why a memory is not among the hits of a recall, or why it is gone, and what would change that.
//!
//! | step | read from | ends with |
//! |---|---|---|
//! | stored | the database | not stored, forgotten, a stub, quarantined; a row of another library that is not live |
//! | expired | the database | expired, if expired memories are not searched or nothing was asked |
//! | held | the mirror | not held, or not yet |
//! | conditions | the mirror | excluded |
//! | ranked | the mirror | outranked, without evidence, or a hit |
//!
//! The first step with a reason ends the walk, and nothing is said of the steps after it.
//!
//! # Design notes
//! The recall is that of the request, ranked further down. It is neither recorded nor learned from, since it is no use of what it
//! finds.
//!
//! A memory that the mirror lacks may have been written since. The mirror is brought up to date to tell these from those for which
//! it has no room.

mod expiry;
mod ranking;

use super::Service;
use super::recall::{Error, Filter, Prepared, View};
use crate::api::adopted::RerankRequest;
use crate::api::memory::Memory;
use crate::api::recall::RecallRequest;
use crate::api::why_not::{LossReason, MirrorSearched, Remedy, WhyNot};
use crate::clock::rfc3339;
use crate::domain::ids::{MemoryId, MemoryKey, Scope, Term, shell_word};
use crate::domain::memory::MemoryState;
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use crate::mirror::Current;
use crate::store::Record;
use ebb_engine::graph::index::NodeId;
use ebb_engine::graph::kinds::NodeType;
use ebb_engine::recall::missing::failed_conditions;
use std::slice;

impl WhyNot {
    fn new(id: &MemoryId, scope: &Scope) -> Self {
        Self {
            id: id.to_string(),
            scope: scope.clone(),
            reason: LossReason::Searchable,
            because: Vec::new(),
            remedies: Vec::new(),
            memory: None,
            forgotten_at: None,
            stub_of: None,
            expiry: None,
            mirror: None,
            excluded_by: Vec::new(),
            ranking: None,
            flags: Vec::new(),
        }
    }

    fn say(&mut self, sentence: String) {
        self.because.push(sentence);
    }

    fn suggest(&mut self, text: String) {
        self.remedies.push(Remedy { text, setting: None, value: None, needed: None });
    }

    fn ends(mut self, reason: LossReason) -> Self {
        self.reason = reason;
        self
    }
}

impl Service {
    /// Why a memory is not among the hits of a recall. A request without a question concerns the memory alone.
    pub async fn why_not(
        &self,
        scope: &Scope,
        id: &MemoryId,
        request: RecallRequest,
    ) -> Result<WhyNot, Error> {
        let at = self.instant(None).await?;
        let key = MemoryKey::new(scope, id);
        let query = request.to_query(self.config.engine.default_query())?;
        let asks =
            !request.text.trim().is_empty() || request.embedding.is_some() || !request.seeds.is_empty();
        let mut answer = WhyNot::new(id, scope);
        let record = self.store.memories(slice::from_ref(&key)).await?.pop();
        let is_memory = record.is_some();
        match record {
            Some(record) => {
                let tunables = self.store.tunables().await?;
                if let Some(reason) = self.stored(&key, record, (asks, at, &tunables), &mut answer).await? {
                    return Ok(answer.ends(reason));
                }
            }
            None => {
                if let Some(reason) = self.loss_of(scope, &key, &mut answer).await? {
                    return Ok(answer.ends(reason));
                }
            }
        }
        if !asks {
            answer.say("It can be found by recall; no question was given.".to_owned());
            answer.suggest("Repeat the command with the question that should find it.".to_owned());
            return Ok(answer);
        }
        let Prepared { current, query, outside, flags } =
            Box::pin(self.prepare(scope, &request, query)).await?;
        answer.flags = flags;
        let node = node_of(&current.view, id.as_str(), is_memory);
        answer.mirror = Some(MirrorSearched {
            generation: current.view.generation().0,
            as_of: current.as_of,
            whole: current.is_whole(),
            held_share: current.held_share(),
            holds: node.is_some(),
        });
        let is_outside = query.outside.iter().any(|(name, _)| is_name(name, id.as_str()));
        if node.is_none() && !is_outside {
            let reason = self.not_held(scope, (&key, is_memory), &current, at, &mut answer).await?;
            return Ok(answer.ends(reason));
        }
        if let Some(node) = node
            && excluded(&current.view, &query.filter, node, &mut answer)
        {
            return Ok(answer.ends(LossReason::Excluded));
        }
        let reason = self.place(scope, (&current, node), query, outside, &mut answer).await?;
        Ok(answer.ends(reason))
    }

    /// The reason in what is stored of a memory.
    async fn stored(
        &self,
        key: &MemoryKey,
        record: Record,
        (asks, at, tunables): (bool, Timestamp, &Tunables),
        answer: &mut WhyNot,
    ) -> Result<Option<LossReason>, Error> {
        let life = match &record.life {
            Ok(life) => life.clone(),
            Err(why) => {
                answer.say(format!("Its row is quarantined, so that no job and no recall reads it: {why}."));
                answer.suggest(
                    "Correct the property that the reason names; `ebb doctor` lists such rows.".to_owned(),
                );
                answer.memory = Some(Memory::at(record, at, tunables));
                return Ok(Some(LossReason::Quarantined));
            }
        };
        let last_expired = record.last_expired;
        answer.memory = Some(Memory::at(record, at, tunables));
        let state = life.state;
        if state.tier.is_stub() {
            answer.stub_of = self.store.memory_of_stub(key).await?;
            let of = answer.stub_of.clone();
            answer.say(match &of {
                Some(of) => format!(
                    "It is no memory: it is the record that the promotion of {of} left, in the tier {}, and recall finds {of} \
                     instead.",
                    state.tier
                ),
                None => format!(
                    "It is no memory: it is the record that a promotion left, in the tier {}, and the memory that was promoted \
                     is gone.",
                    state.tier
                ),
            });
            answer.remedies.extend(of.map(|of| Remedy {
                text: format!("Ask for the memory itself: ebb why-not {of}"),
                setting: None,
                value: None,
                needed: None,
            }));
            return Ok(Some(LossReason::Stub));
        }
        if state.tier.is_live() {
            answer.say(living(&state, at, tunables));
            return Ok(None);
        }
        let history = self.store.history(key).await?;
        let expired = expiry::of(&life, &history, last_expired, tunables);
        expiry::explain(&expired, &life, at, tunables, answer);
        answer.expiry = Some(expired);
        let is_searched = self.mirror.config().expired;
        if !is_searched {
            answer.say("Recall does not search expired memories: mirror.expired is false.".to_owned());
            answer
                .suggest("Set mirror.expired = true: then recall searches expired memories, too.".to_owned());
        } else if asks {
            answer.say("Recall searches expired memories, too: mirror.expired is true.".to_owned());
        }
        Ok((!is_searched || !asks).then_some(LossReason::Expired))
    }

    /// The reason for an id under which no memory is stored; `None` if the mirror has a node with it.
    async fn loss_of(
        &self,
        scope: &Scope,
        key: &MemoryKey,
        answer: &mut WhyNot,
    ) -> Result<Option<LossReason>, Error> {
        if let Some(at) = self.store.deletion(key).await? {
            answer.forgotten_at = at;
            let when = at.map_or_else(String::new, |at| format!(" at {}", rfc3339(at)));
            answer.say(format!(
                "It was forgotten{when}: a deletion on request, which removed its text and its history for good."
            ));
            answer.suggest(
                "Nothing brings it back, and its id stays blocked; store the text anew under another id."
                    .to_owned(),
            );
            return Ok(Some(LossReason::Forgotten));
        }
        if let Ok(term) = Term::try_from(key.id().to_owned()) {
            let request = RerankRequest { keys: vec![term], query: String::new(), scope: None };
            let row = Box::pin(self.rerank(scope, request)).await?.results.pop();
            if let Some(row) = row.filter(|row| row.kind.is_some() && !row.live) {
                answer.say(format!("It is a row of another library, and recall leaves it out: {}.", row.why));
                if row.why == "hidden" {
                    answer.suggest(format!("Show it again: ebb adopted unhide {}", shell_word(key.id())));
                }
                return Ok(Some(LossReason::NotLive));
            }
        }
        if node_of(&self.ready(scope).await?.view, key.id(), false).is_some() {
            return Ok(None);
        }
        answer.say(format!(
            "Nothing is stored under this id in the scope {scope}, and no deletion of it is recorded; other scopes were not \
             looked at."
        ));
        answer.suggest("Check the id and the scope: ebb memory list --text WORDS".to_owned());
        Ok(Some(LossReason::NotStored))
    }

    /// The reason why a mirror has no node for a memory.
    async fn not_held(
        &self,
        scope: &Scope,
        (key, is_memory): (&MemoryKey, bool),
        current: &Current,
        at: Timestamp,
        answer: &mut WhyNot,
    ) -> Result<LossReason, Error> {
        self.mirror.catch_up(scope, at).await?;
        let renewed = self.ready(scope).await?;
        // The texts name no generation: it also counts what others write.
        if node_of(&renewed.view, key.id(), is_memory).is_some() {
            answer.say(format!(
                "The mirror had not read it: its state of {} is older than the last write of the memory.",
                rfc3339(current.as_of)
            ));
            answer.say("The mirror has been brought up to date for this answer and holds it now.".to_owned());
            answer.suggest(
                "Ask again; a recall with at_least, the `change` of the answer to the write, waits for it."
                    .to_owned(),
            );
            return Ok(LossReason::NotYetHeld);
        }
        if renewed.is_whole() {
            answer.say(
                "The mirror holds all that it knows of the scope, and not this memory: another program wrote it, and no record \
                 tells of it, or its row cannot be read."
                    .to_owned(),
            );
            answer.suggest("Read the rows of other programs: ebb graph refresh".to_owned());
            answer.suggest("Find rows that cannot be read: ebb doctor".to_owned());
            return Ok(LossReason::NotHeld);
        }
        let bytes = self.mirror.config().max_bytes;
        answer.say(format!(
            "The mirror has no room for it: mirror.max_bytes is {bytes}, which holds {:.1} percent of the nodes of the scope, \
             pinned memories first, then those of the most energy.",
            100.0 * renewed.held_share()
        ));
        #[expect(clippy::cast_precision_loss, reason = "for people to read")]
        let value = bytes as f64;
        answer.remedies.push(Remedy {
            text: "Raise mirror.max_bytes.".to_owned(),
            setting: Some("mirror.max_bytes"),
            value: Some(value),
            needed: None,
        });
        answer.suggest(format!(
            "Pin the memory, so that it is held first: ebb memory pin {}",
            shell_word(key.id())
        ));
        Ok(LossReason::NotHeld)
    }
}

/// Whether a name of a node is that of a memory: its id, or with the label where several labels share the id.
fn is_name(name: &str, id: &str) -> bool {
    name == id || name.strip_prefix("Memory:") == Some(id)
}

/// The node of an id in a view: of a memory, or of any kind.
fn node_of(view: &View, id: &str, is_memory: bool) -> Option<NodeId> {
    let graph = view.graph();
    let fits = |node: &NodeId| !is_memory || graph.node_type(*node) == NodeType::MEMORY;
    let find = |name: &str| graph.find(name).filter(fits);
    find(id).or_else(|| find(&format!("Memory:{id}")))
}

/// The state of a live memory, as a sentence.
fn living(state: &MemoryState, at: Timestamp, tunables: &Tunables) -> String {
    let pinned = if state.pinned { ", pinned" } else { "" };
    format!(
        "It is stored in the tier {}{pinned}, with an energy of {:.3} now; it was last accessed at {}.",
        state.tier,
        state.energy_now(at, tunables).value(),
        rfc3339(state.last_accessed)
    )
}

/// Names the conditions that a node does not fulfil; returns whether there are any.
fn excluded(view: &View, filter: &Filter, node: NodeId, answer: &mut WhyNot) -> bool {
    let failed = failed_conditions(view, filter, node);
    let graph = view.graph();
    let instant = |ms: i64| Timestamp::from_millis(ms).map_or_else(|_| ms.to_string(), rfc3339);
    for name in &failed {
        let (wanted, own) = match *name {
            "kinds" => (filter.kinds.join(", "), view.kind(node).into_owned()),
            "tiers" => (filter.tiers.join(", "), graph.tier(node).unwrap_or("in no tier").to_owned()),
            "since" => (
                filter.since.map(instant).unwrap_or_default(),
                graph.last_modified(node).map_or_else(|| "never".to_owned(), instant),
            ),
            "session" => (
                filter.session.clone().unwrap_or_default(),
                graph.session(node).unwrap_or("no session").to_owned(),
            ),
            "tags" => {
                let tags: Vec<&str> = graph.tags(node).collect();
                (filter.tags.join(", "), if tags.is_empty() { "no tag".to_owned() } else { tags.join(", ") })
            }
            _ => (filter.metadata.to_string(), graph.metadata(node).unwrap_or("no metadata").to_owned()),
        };
        answer.say(format!("The condition {name} excludes it: the request wants {wanted}; it has {own}."));
    }
    if !failed.is_empty() {
        answer.suggest(format!("Leave out {}, or correct the memory.", failed.join(" and ")));
    }
    answer.excluded_by = failed;
    !answer.excluded_by.is_empty()
}
