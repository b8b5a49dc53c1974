//! Rows of other libraries as nodes and relationships of a mirror, read through their mapping.
//!
//! A mapped label is one more label of a [`MirrorQuery`], after Ebb's own, read by statements of its own. These return
//! properties by name and values of any type; everything that a mapping says about them is applied here, so that one row
//! with an unusable value costs that value and never a page. States that Ebb keeps of such rows are joined by their keys.

mod accesses;
mod label;
mod values;
mod vectors;
mod written;

use super::super::Store;
use super::super::catalogue::{
    ADOPTED_ALL_STATES, ADOPTED_AROUND, ADOPTED_CENSUS, ADOPTED_EDGES, ADOPTED_EVIDENCE, ADOPTED_FACTS,
    ADOPTED_NODES, ADOPTED_NUMBERS, ADOPTED_STATES,
};
use super::super::cells::{columns, flag, items, number, text, whole};
use super::super::encode::list;
use super::super::error::Error;
use super::super::layouts::{TypeFilter, names};
use super::super::statement::{HALL, ROOM, ROOM_ID, Statement};
use super::rows::vector;
use super::{
    Amount, EmbeddedFact, FadingRelation, Heat, MirrorCandidate, MirrorQuery, MirroredEnd, MirroredNode,
    OutgoingRelation, READ_MAX,
};
use crate::domain::annotations::Provenance;
use crate::domain::ids::Scope;
use crate::domain::mapping::{NodeRole, RelationMapping, RelationRole};
use crate::domain::relation::{Fading, RelationState};
use crate::domain::units::{Timestamp, Weight};
use neo4rs::BoltType;
use serde::Deserialize;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use values::{Values, instant};

pub(super) use label::{AdoptedLabel, labels};
pub use written::WrittenRow;

/// Placeholder of the condition that a node is in the scope.
const IN_SCOPE: &str = "n.scope IN $rows.groups";
/// Placeholder of the key of a relationship.
const RELATION_ID: &str = "r.id";

/// Label of states, by which change records name rows of other libraries.
pub const STATE_LABEL: &str = "EbbState";
/// Kind of the state of a node.
pub const NODE_STATE: &str = "node";
/// Kind of the state of a relationship.
pub const FACT_STATE: &str = "fact";

/// State that Ebb keeps of a row of another library.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RowState {
    pub key: String,
    pub pinned: bool,
    /// Instant of the pin, epoch milliseconds.
    pub pinned_at: Option<i64>,
    pub hidden: bool,
    /// Number of reported accesses.
    pub accesses: i64,
    /// Last reported access, epoch milliseconds.
    pub last_access: Option<i64>,
}

/// A mapped node with its text.
#[derive(Debug, Clone, PartialEq)]
pub struct AdoptedNode {
    pub node: MirroredNode,
    /// Its text for people: of an entity, its name and description.
    pub text: Option<String>,
    pub state: Option<RowState>,
    /// Instant from which it is no longer live.
    pub until: Option<i64>,
}

/// A mapped fact with its ends.
#[derive(Debug, Clone, PartialEq)]
pub struct AdoptedFact {
    pub key: String,
    /// `None` if its library says that it is no longer live.
    pub relation: Option<FadingRelation>,
    /// Index of the label and key of each end, if it is a mapped node.
    pub ends: [Option<(usize, String)>; 2],
    pub state: Option<RowState>,
}

/// What a page of relationships refers to.
struct Context {
    fading: Fading,
    /// Instants of evidence by key.
    evidence: HashMap<String, i64>,
    states: HashMap<String, RowState>,
}

fn by_key(states: Vec<RowState>) -> HashMap<String, RowState> {
    states.into_iter().map(|state| (state.key.clone(), state)).collect()
}

/// The key of a fact: a property, or its element.
fn fact_key(rule: &RelationMapping, element: &str, values: &Values<'_>) -> Option<String> {
    match rule.key.as_ref()?.property() {
        Some(name) => values.text(name),
        None => Some(element.to_owned()),
    }
}

impl Store {
    /// Candidates of a mapped label, each key once, with their heat at `now`.
    pub(super) async fn adopted_census(
        &self,
        asked: &MirrorQuery,
        label: usize,
        now: Timestamp,
    ) -> Result<Vec<MirrorCandidate>, Error> {
        const COLUMNS: [&str; 5] = ["key", "element", "observed", "bytes", "degree"];
        let Some(of) = asked.adopted(label) else { return Ok(Vec::new()) };
        let rule = of.rule();
        let call = of.with_status(of.call(&ADOPTED_CENSUS));
        let call = call.set("observed", names(&rule.observed)).set("text", names(&rule.text));
        let states = by_key(self.adopted_states(&asked.scope, NODE_STATE).await?);
        let accesses = self.last_accesses(of, None).await?;
        let has_vectors = of.fact_vectors().next().is_some();
        let numbers = asked.dimensions.filter(|_| has_vectors).map_or(0, |count| count as u64);
        let (mut candidates, mut others) = (BTreeMap::new(), BTreeMap::<String, Vec<String>>::new());
        let found: Vec<i64> = self.read(of.call(&ADOPTED_NUMBERS)).await?;
        for call in call.by_numbers(&found) {
            for row in self.table("adopted.census", || call.clone(), &COLUMNS).await? {
                let [key, element, observed, bytes, degree] = columns(row);
                let (Some(key), Some(element)) = (text(key), text(element)) else { continue };
                let state = states.get(&key);
                if state.is_some_and(|state| state.hidden) {
                    continue;
                }
                let observed = items(observed).iter().find_map(instant);
                let observed = observed.max(accesses.get(&key).copied());
                let observed = observed.max(state.and_then(|state| state.last_access));
                let pinned = state.is_some_and(|state| state.pinned);
                let candidate = MirrorCandidate {
                    label,
                    key: key.clone(),
                    elements: element.as_str().into(),
                    heat: if pinned {
                        Heat::Pinned
                    } else {
                        Heat::Alive(bond(observed, None, self.fading()).weight(now, self.fading()).value())
                    },
                    bytes: whole(&bytes)
                        .and_then(|bytes| u64::try_from(bytes).ok())
                        .unwrap_or(0)
                        .min(READ_MAX),
                    degree: whole(&degree).and_then(|degree| u64::try_from(degree).ok()).unwrap_or(0),
                    numbers,
                };
                match candidates.entry(key) {
                    Entry::Vacant(free) => {
                        free.insert(candidate);
                    }
                    Entry::Occupied(taken) => others.entry(taken.key().clone()).or_default().push(element),
                }
            }
        }
        // Relationships end at any of the rows with a key.
        for (key, elements) in others {
            if let Some(of) = candidates.get_mut(&key) {
                of.elements = format!("{} {}", of.elements, elements.join(" ")).into();
            }
        }
        Ok(candidates.into_values().collect())
    }

    /// Mapped nodes of a label by their keys, of each key one, without hidden ones and those that are no longer live.
    pub async fn adopted_live(
        &self,
        asked: &MirrorQuery,
        label: usize,
        keys: &[&str],
    ) -> Result<Vec<AdoptedNode>, Error> {
        let nodes = self.adopted_nodes(asked, label, keys).await?;
        let is_live = |(node, now): &(AdoptedNode, i64)| {
            !node.state.as_ref().is_some_and(|state| state.hidden)
                && node.until.is_none_or(|until| until > *now)
        };
        Ok(nodes.into_iter().filter(is_live).map(|(node, _)| node).collect())
    }

    /// Mapped nodes of a label by their keys, of each key one, and the server's time.
    pub async fn adopted_nodes(
        &self,
        asked: &MirrorQuery,
        label: usize,
        keys: &[&str],
    ) -> Result<Vec<(AdoptedNode, i64)>, Error> {
        let Some(of) = asked.adopted(label) else { return Ok(Vec::new()) };
        let (rule, mut read) = (of.rule(), of.node_read());
        read.extend(rule.vector.iter().filter(|_| asked.dimensions.is_some()));
        let call = || {
            let call = of.with_status(of.call(&ADOPTED_NODES));
            call.set("keys", list(keys.iter().copied())).set("read", names(read.iter().copied()))
        };
        let rows = self.table("adopted.nodes", call, &["key", "values", "now"]).await?;
        let mut states = self.states_of(&asked.scope, NODE_STATE, keys.iter().copied()).await?;
        let accesses = self.last_accesses(of, Some(keys)).await?;
        let mut nodes = BTreeMap::new();
        for row in rows {
            let [key, values, now] = columns(row);
            let Some(key) = text(key) else { continue };
            let values = Values::new(&read, values);
            let state = states.remove(&key);
            let texts: Vec<String> = rule.text.iter().flat_map(|name| values.texts(name)).collect();
            let joint = if rule.role == NodeRole::Fact { " " } else { "\n" };
            let content = Some(texts.join(joint)).filter(|text| !text.is_empty());
            let observed = values.first_instant(&rule.observed);
            let used = observed.max(accesses.get(&key).copied());
            let embedding = rule.vector.as_ref().and_then(|name| vector(values.get(name)?.clone()));
            let node = MirroredNode {
                label,
                key: key.clone(),
                name: rule.name.as_ref().and_then(|name| values.text(name)),
                content: content.clone().filter(|_| rule.role != NodeRole::Entity),
                tier: None,
                session: None,
                last_accessed: used.max(state.as_ref().and_then(|state| state.last_access)),
                created: observed,
                access_count: state.as_ref().map(|state| state.accesses),
                tags: Vec::new(),
                metadata: None,
                provenance: Provenance::default(),
                embedding: embedding.filter(|numbers| Some(numbers.len()) == asked.dimensions),
            };
            let node = AdoptedNode { node, text: content, state, until: values.earliest(&rule.until) };
            nodes.entry(key).or_insert((node, whole(&now).unwrap_or(i64::MIN)));
        }
        Ok(nodes.into_values().collect())
    }

    /// Relationships that begin at mapped nodes of a label.
    pub(super) async fn adopted_edges(
        &self,
        asked: &MirrorQuery,
        label: usize,
        keys: &[&str],
    ) -> Result<Vec<(String, Vec<OutgoingRelation>)>, Error> {
        let Some(of) = asked.adopted(label) else { return Ok(Vec::new()) };
        let parse = |edge| {
            let [kind, to, element, values] = columns(edge);
            Some((text(to)?, (text(kind)?, text(element)?, values)))
        };
        let made = |to, (kind, amount, element): (String, Amount, Option<String>)| {
            let embedded = element.map(|element| EmbeddedFact { label, element });
            OutgoingRelation { kind, to, amount, causal: None, embedded }
        };
        self.edges_by(asked, of, keys, ("adopted.edges", &ADOPTED_EDGES), parse, made).await
    }

    /// Relationships of mapped nodes of a label, in both directions.
    pub(super) async fn adopted_around(
        &self,
        asked: &MirrorQuery,
        label: usize,
        keys: &[&str],
    ) -> Result<Vec<(String, Vec<MirroredEnd>)>, Error> {
        let Some(of) = asked.adopted(label) else { return Ok(Vec::new()) };
        let parse = |edge| {
            let [kind, label, key, element, values, begins] = columns(edge);
            Some(((of.end(&label, key)?, flag(&begins)), (text(kind)?, text(element)?, values)))
        };
        let made = |((end, key), begins), (kind, amount, element): (String, Amount, Option<String>)| {
            let from = if begins { label } else { end };
            let embedded = element.map(|element| EmbeddedFact { label: from, element });
            MirroredEnd { kind, label: end, key, amount, causal: None, begins, embedded }
        };
        self.edges_by(asked, of, keys, ("adopted.around", &ADOPTED_AROUND), parse, made).await
    }

    /// Relationships of mapped nodes by the nodes' keys. `parse` returns the other end, then type, element and values;
    /// `made` converts a relationship that conducts, by its type, its amount, and its element if it may have an embedding. They are
    /// in the order of their elements, by which several of one predicate between two nodes are told apart.
    async fn edges_by<E, T>(
        &self,
        asked: &MirrorQuery,
        of: &AdoptedLabel,
        keys: &[&str],
        (name, statement): (&'static str, &'static Statement),
        parse: impl Fn(Vec<BoltType>) -> Option<(E, (String, String, BoltType))>,
        made: impl Fn(E, (String, Amount, Option<String>)) -> T,
    ) -> Result<Vec<(String, Vec<T>)>, Error> {
        if of.mapping.relationships.is_empty() {
            return Ok(Vec::new());
        }
        let read = of.relation_read();
        let call = || {
            of.with_ends(of.call(statement))
                .set("keys", list(keys.iter().copied()))
                .set("never", list(asked.never.iter().map(String::as_str)))
                .set("read", names(read.iter().copied()))
        };
        let mut nodes = Vec::new();
        for row in self.table(name, call, &["key", "edges"]).await? {
            let [key, edges] = columns(row);
            let edges = items(edges).into_iter().filter_map(|edge| {
                let (end, (kind, element, values)) = parse(items(edge))?;
                Some((end, kind, element, Values::new(&read, values)))
            });
            let mut edges: Vec<_> = edges.collect();
            edges.sort_by(|a, b| a.2.cmp(&b.2));
            nodes.push((text(key).unwrap_or_default(), edges));
        }
        let all = nodes.iter().flat_map(|(_, edges)| edges);
        let context =
            self.context(asked, of, all.map(|(_, kind, element, values)| (kind, element, values))).await?;
        let conducts = |(end, kind, element, values): (E, String, String, Values<'_>)| {
            let amount = of.amount(&kind, &element, &values, &context)?;
            let is_embedded = asked.dimensions.is_some() && of.fact_vector(&kind).is_some();
            Some(made(end, (kind, amount, is_embedded.then_some(element))))
        };
        Ok(nodes
            .into_iter()
            .map(|(key, all)| (key, all.into_iter().filter_map(conducts).collect()))
            .collect())
    }

    /// Evidence and states of facts.
    async fn context<'e>(
        &self,
        asked: &MirrorQuery,
        of: &AdoptedLabel,
        edges: impl Iterator<Item = (&'e String, &'e String, &'e Values<'e>)>,
    ) -> Result<Context, Error> {
        let (mut evidence, mut keys) = (BTreeSet::new(), BTreeSet::new());
        for (kind, element, values) in edges {
            let rule = of.mapping.relation(kind).filter(|rule| rule.role == RelationRole::Fact);
            let Some(rule) = rule else { continue };
            evidence.extend(rule.evidence.iter().flat_map(|evidence| values.texts(&evidence.property)));
            keys.extend(fact_key(rule, element, values));
        }
        let mut context = Context {
            states: self.states_of(&asked.scope, FACT_STATE, keys.iter().map(String::as_str)).await?,
            evidence: HashMap::new(),
            fading: *self.fading(),
        };
        let Some(rule) = of.evidence().filter(|_| !evidence.is_empty()) else { return Ok(context) };
        let inserted = [
            (ROOM, format!(":{}", rule.label)),
            (ROOM_ID, format!("n.{}", rule.key)),
            (IN_SCOPE, of.in_scope(of.mapping.node(&rule.label), "n")),
        ];
        let call = || {
            let call = ADOPTED_EVIDENCE.reading(&ADOPTED_EVIDENCE.text_of(&inserted));
            call.set("keys", list(evidence.iter().map(String::as_str)))
                .set("groups", of.groups())
                .set("observed", rule.observed.as_str())
        };
        for row in self.table("adopted.evidence", call, &["key", "at"]).await? {
            let [key, at] = columns(row);
            if let (Some(key), Some(at)) = (text(key), instant(&at)) {
                let latest = context.evidence.entry(key).or_insert(at);
                *latest = at.max(*latest);
            }
        }
        Ok(context)
    }

    /// Mapped facts by their keys.
    pub async fn adopted_facts(&self, asked: &MirrorQuery, keys: &[&str]) -> Result<Vec<AdoptedFact>, Error> {
        let mut facts: BTreeMap<String, AdoptedFact> = BTreeMap::new();
        for of in asked.adopted.iter().filter(|of| of.node == 0) {
            let rules = of.mapping.relationships.iter();
            let read = of.relation_read();
            for rule in rules.filter(|rule| rule.role == RelationRole::Fact) {
                let Some(key) = &rule.key else { continue };
                let id = key.property().map_or_else(|| "elementId(r)".to_owned(), |key| format!("r.{key}"));
                let types = TypeFilter::of(rule, &of.mapping.relationships).text();
                let mut inserted = vec![(HALL, types), (RELATION_ID, id)];
                inserted.extend(of.mapped());
                let text_of = ADOPTED_FACTS.text_of(&inserted);
                let call = || {
                    of.with_ends(ADOPTED_FACTS.reading(&text_of))
                        .set("keys", list(keys.iter().copied()))
                        .set("read", names(read.iter().copied()))
                };
                let mut found = Vec::new();
                for row in self.table("adopted.facts", call, &["key", "edge"]).await? {
                    let [key, edge] = columns(row);
                    let [kind, element, values, from_label, from, to_label, to] = columns(items(edge));
                    let ends = [of.end(&from_label, from), of.end(&to_label, to)];
                    if let (Some(key), Some(kind), Some(element)) = (text(key), text(kind), text(element)) {
                        found.push((key, kind, element, Values::new(&read, values), ends));
                    }
                }
                let edges = found.iter().map(|(_, kind, element, values, _)| (kind, element, values));
                let context = self.context(asked, of, edges).await?;
                for (key, kind, element, values, ends) in found {
                    let relation = of.fact(rule, &kind, (&element, &values), &context);
                    let state = context.states.get(&key).cloned();
                    facts.entry(key.clone()).or_insert(AdoptedFact { key, relation, ends, state });
                }
            }
        }
        Ok(facts.into_values().collect())
    }

    /// States of nodes or relationships of a scope by their keys.
    async fn states_of<'k>(
        &self,
        scope: &Scope,
        kind: &str,
        keys: impl Iterator<Item = &'k str>,
    ) -> Result<HashMap<String, RowState>, Error> {
        let keys: Vec<&str> = keys.collect();
        if keys.is_empty() {
            return Ok(HashMap::new());
        }
        let call =
            ADOPTED_STATES.call().set("scope", scope.as_str()).set("kind", kind).set("keys", list(keys));
        Ok(by_key(self.read(call).await?))
    }

    /// All states of nodes or relationships of a scope, by key.
    pub async fn adopted_states(&self, scope: &Scope, kind: &str) -> Result<Vec<RowState>, Error> {
        self.read(ADOPTED_ALL_STATES.call().set("scope", scope.as_str()).set("kind", kind)).await
    }
}

impl AdoptedLabel {
    /// The fact of a relationship; `None` if it is not live for its library, or hidden.
    fn fact(
        &self,
        rule: &RelationMapping,
        kind: &str,
        (element, values): (&str, &Values<'_>),
        context: &Context,
    ) -> Option<FadingRelation> {
        let invalid = rule
            .valid
            .as_ref()
            .is_some_and(|valid| matches!(values.get(valid), Some(BoltType::Boolean(valid)) if !valid.value));
        let state = fact_key(rule, element, values).and_then(|key| context.states.get(&key));
        if invalid || state.is_some_and(|state| state.hidden) {
            return None;
        }
        let learned = rule.evidence.iter().flat_map(|evidence| values.texts(&evidence.property));
        let learned = learned.filter_map(|key| context.evidence.get(&key).copied()).max();
        let observed = learned.or_else(|| values.first_instant(&rule.observed));
        let observed = observed.max(state.and_then(|state| state.last_access));
        let confidence = rule.confidence.as_ref().and_then(|name| number(values.get(name)?));
        let predicate = rule.predicate.iter().find_map(|name| values.text(name));
        Some(FadingRelation {
            kind: predicate.unwrap_or_else(|| kind.to_owned()),
            bond: bond(observed, state, &context.fading),
            confidence: confidence.filter(|confidence| (0.0..=1.0).contains(confidence)),
            causal: None,
            until: values.earliest(&rule.until),
            is_adopted: true,
        })
    }

    /// What a relationship conducts; `None` if it is of no rule, or a fact that is not live.
    fn amount(&self, kind: &str, element: &str, values: &Values<'_>, context: &Context) -> Option<Amount> {
        let rule = self.mapping.relation(kind)?;
        match rule.role {
            RelationRole::Link => Some(Amount::None),
            RelationRole::Fact => self.fact(rule, kind, (element, values), context).map(Amount::Relation),
        }
    }
}

/// State of a row that was last observed at an instant. Without one there is nothing to fade from.
#[must_use]
pub fn bond(observed: Option<i64>, state: Option<&RowState>, fading: &Fading) -> RelationState {
    let instant = |at: i64| Timestamp::from_millis(at).ok();
    let at = observed.and_then(instant);
    let (base, anchor) = (Weight::ONE, at.unwrap_or(Timestamp::EPOCH));
    let bond = RelationState { base, weight_at: anchor, last_observed: anchor, pinned: at.is_none() };
    match state.filter(|state| state.pinned && !bond.pinned) {
        Some(state) => bond.pinned(state.pinned_at.and_then(instant).unwrap_or(anchor), fading),
        None => bond,
    }
}
