//! Rows of other libraries by their own keys: scored for a query, pinned, hidden, accessed.
//!
//! # Design notes
//! Weights and liveness are read from the database at the time of the request, so that a row that its library has just
//! retired is not live; scores come from the mirror. A score of a node is that of a recall among nodes of the requested
//! kinds; a fact is worth the mean of its ends, times its weight.

use super::Service;
use super::memories::WriteMode;
use super::recall::{Error, RecallQuery, TOP_K_MAX, View};
use super::request_hash::request_hash;
use crate::api::adopted::{
    Hidden, HiddenRow, KEYS_MAX, RerankRequest, Reranked, RerankedRow, RowKind, StateRequest, StatesSet,
};
use crate::clock::rfc3339;
use crate::domain::ids::{Scope, Term};
use crate::domain::units::Timestamp;
use crate::store::{
    self, AdoptedFact, AdoptedNode, FACT_STATE, MirrorQuery, NODE_STATE, Relation, StateChange, StatedRow,
    bond,
};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Rows by their key.
#[derive(Default)]
struct Rows {
    nodes: BTreeMap<String, (AdoptedNode, i64)>,
    facts: BTreeMap<String, AdoptedFact>,
}

/// What the score of a fact needs besides the fact.
struct Ends<'a> {
    /// Those that are live and not hidden, by index of the label and key.
    live: BTreeSet<(usize, String)>,
    labels: &'a [String],
    view: &'a View,
}

impl Ends<'_> {
    /// The name of an end.
    fn name(&self, (label, key): &(usize, String)) -> Option<String> {
        let graph = self.view.graph();
        // A key that several labels share is named with its label.
        let node = graph.find(key).or_else(|| graph.find(&format!("{}:{key}", self.labels[*label])))?;
        Some(graph.label(node).to_owned())
    }
}

impl Service {
    /// Scores rows for a query.
    pub async fn rerank(&self, scope: &Scope, request: RerankRequest) -> Result<Reranked, Error> {
        let keys = checked(&request.keys).map_err(Error::Invalid)?;
        let current = self.ready(scope).await?;
        let (asked, now) = (self.mirror.query(scope)?, self.instant(None).await?);
        let rows = self.rows(&asked, &keys).await?;
        let view = &current.view;
        let kinds = rows.nodes.values().map(|(row, _)| kind_of(&asked, row.node.label));
        let kinds: BTreeSet<String> = kinds.collect();
        let ask = |kinds: BTreeSet<String>| {
            let usual = self.config.engine.default_query();
            let mut query = RecallQuery {
                text: request.query.clone(),
                top_k: TOP_K_MAX,
                relevance: false,
                ..usual.clone()
            };
            query.filter.kinds = kinds.into_iter().collect();
            query
        };
        let (mut of_nodes, mut of_ends) = (BTreeMap::new(), BTreeMap::new());
        let has_query = !request.query.trim().is_empty();
        if has_query {
            if !kinds.is_empty() {
                of_nodes = scores(self.recalled(scope, &current, ask(kinds)).await?.hits);
            }
            if !rows.facts.is_empty() {
                of_ends = scores(self.recalled(scope, &current, ask(BTreeSet::new())).await?.hits);
            }
        }
        let labels: Vec<String> = asked.labels().map(|(label, _)| label.to_owned()).collect();
        let live = self.live_ends(&asked, &rows.facts).await?;
        let ends = Ends { live, labels: &labels, view };
        // A key that several labels share is named with its label.
        let score_of = |scores: &BTreeMap<String, f64>, label: usize, key: &str| {
            let labelled = || scores.get(&format!("{}:{key}", labels[label]));
            scores.get(key).or_else(labelled).copied().unwrap_or(0.0)
        };
        let scored = |key: &str| {
            let none = RerankedRow {
                key: key.to_owned(),
                kind: None,
                live: false,
                weight: 0.0,
                score: 0.0,
                why: format!("there is no such row in the scope {scope}"),
            };
            if let Some((row, at)) = rows.nodes.get(key) {
                let score = has_query.then(|| score_of(&of_nodes, row.node.label, key));
                return self.node_score(row, (now, *at), score, none);
            }
            match rows.facts.get(key) {
                Some(fact) => {
                    let end = |end: &Option<(usize, String)>| {
                        end.as_ref().map_or(0.0, |(label, key)| score_of(&of_ends, *label, key))
                    };
                    let [from, to] = &fact.ends;
                    let score = has_query.then(|| f64::midpoint(end(from), end(to)));
                    self.fact_score(fact, &ends, now, score, none)
                }
                None => none,
            }
        };
        Ok(Reranked {
            results: request.keys.iter().map(|key| scored(key.as_str())).collect(),
            generation: view.generation().0,
            freshness: self.freshness(&current),
        })
    }

    fn node_score(
        &self,
        row: &AdoptedNode,
        (now, server): (Timestamp, i64),
        score: Option<f64>,
        none: RerankedRow,
    ) -> RerankedRow {
        let is_hidden = row.state.as_ref().is_some_and(|state| state.hidden);
        let is_pinned = row.state.as_ref().is_some_and(|state| state.pinned);
        let at = row.node.last_accessed.and_then(|at| Timestamp::from_millis(at).ok());
        let fading = self.store.fading();
        let weight = bond(row.node.last_accessed, row.state.as_ref(), fading).weight(now, fading).value();
        let live = !is_hidden && row.until.is_none_or(|until| until > server);
        let why =
            match row.until.filter(|until| *until <= server).and_then(|at| Timestamp::from_millis(at).ok()) {
                _ if is_hidden => "hidden".to_owned(),
                Some(until) => format!("not live since {}", rfc3339(until)),
                None => observed_at(at, is_pinned),
            };
        let why = if live { explained(why, score) } else { why };
        let score = if live { score.unwrap_or(weight) } else { 0.0 };
        RerankedRow { kind: Some(RowKind::Node), live, weight, score, why, ..none }
    }

    fn fact_score(
        &self,
        fact: &AdoptedFact,
        ends: &Ends<'_>,
        now: Timestamp,
        score: Option<f64>,
        none: RerankedRow,
    ) -> RerankedRow {
        let none = RerankedRow { kind: Some(RowKind::Fact), ..none };
        let is_hidden = fact.state.as_ref().is_some_and(|state| state.hidden);
        let Some(relation) = &fact.relation else {
            let why = if is_hidden { "hidden" } else { "not live for its library" };
            return RerankedRow { why: why.to_owned(), ..none };
        };
        let weight = relation.weight(now, self.store.fading()).value();
        if let Some(until) = relation.until.filter(|_| !relation.is_live(now)) {
            let until = Timestamp::from_millis(until).unwrap_or(now);
            return RerankedRow { weight, why: format!("not live since {}", rfc3339(until)), ..none };
        }
        if let Some((_, key)) = fact.ends.iter().flatten().find(|end| !ends.live.contains(*end)) {
            let why = format!("its end {key} is hidden, or not live for its library");
            return RerankedRow { weight, why, ..none };
        }
        let is_pinned = fact.state.as_ref().is_some_and(|state| state.pinned);
        let at = Some(relation.bond.last_observed).filter(|at| *at > Timestamp::EPOCH);
        let named = |end: &Option<(usize, String)>| {
            let name = end.as_ref().and_then(|end| ends.name(end));
            name.unwrap_or_else(|| "a node that is not mirrored".to_owned())
        };
        let [from, to] = &fact.ends;
        let why = format!("{}; {} {} {}", observed_at(at, is_pinned), named(from), relation.kind, named(to));
        let why = explained(why, score);
        RerankedRow { live: true, weight, score: score.map_or(weight, |score| score * weight), why, ..none }
    }

    /// Changes the states of rows, all or none.
    ///
    /// # Errors
    /// [`store::Error::NotFound`] for a key that no row of the scope has, [`store::Error::Invalid`] for a request that
    /// changes nothing.
    pub async fn set_states(
        &self,
        mode: &WriteMode,
        scope: &Scope,
        request: &StateRequest,
        at: Timestamp,
    ) -> Result<StatesSet, store::Error> {
        let keys = checked(&request.keys).map_err(store::Error::Invalid)?;
        let StateRequest { pinned, hidden, accessed, .. } = *request;
        if pinned.is_none() && hidden.is_none() && !accessed {
            return Err(store::Error::Invalid(
                "give pinned, hidden or accessed: nothing would change".to_owned(),
            ));
        }
        let asked = self.mirror.query(scope).map_err(|why| store::Error::Invalid(why.to_string()))?;
        let rows = self.rows(&asked, &keys).await?;
        // A row that was deleted may have a state all the same.
        let (mut nodes, mut facts): (BTreeSet<String>, BTreeSet<String>) = Default::default();
        if keys.iter().any(|key| !rows.nodes.contains_key(*key) && !rows.facts.contains_key(*key)) {
            for (kind, known) in [(NODE_STATE, &mut nodes), (FACT_STATE, &mut facts)] {
                let states = self.store.adopted_states(scope, kind).await?;
                known.extend(states.into_iter().map(|state| state.key));
            }
        }
        let stated = |key: &&str| {
            let (key, text) = (*key, (*key).to_owned());
            if let Some(fact) = rows.facts.get(key) {
                let ends = fact.ends.iter().flatten().map(|(_, key)| key.clone()).collect();
                return Ok(StatedRow::Fact { key: text, ends });
            }
            if rows.nodes.contains_key(key) || nodes.contains(key) {
                return Ok(StatedRow::Node(text));
            }
            if facts.contains(key) {
                return Ok(StatedRow::Fact { key: text, ends: Vec::new() });
            }
            Err(store::Error::NotFound {
                what: "row of a mapped library with the key",
                id: format!("{key} in the scope {scope}"),
            })
        };
        let stated: Vec<StatedRow> = keys.iter().map(stated).collect::<Result<_, store::Error>>()?;
        let document = json!({ "scope": scope.as_str(), "keys": keys, "pinned": pinned, "hidden": hidden,
            "accessed": accessed });
        let hash = request_hash("state", &document);
        let change = StateChange { pinned, hidden, accessed };
        let (rows, at) = self.store.set_states(mode.with_hash(&hash), (scope, &stated), change, at).await?;
        Ok(StatesSet { rows, at, dry_run: *mode == WriteMode::DryRun })
    }

    /// The hidden rows of a scope.
    pub async fn hidden(&self, scope: &Scope) -> Result<Hidden, store::Error> {
        let mut hidden = Vec::new();
        for (kind, of) in [(NODE_STATE, RowKind::Node), (FACT_STATE, RowKind::Fact)] {
            let states = self.store.adopted_states(scope, kind).await?;
            let rows = states.into_iter().filter(|state| state.hidden);
            hidden.extend(rows.map(|state| HiddenRow { key: state.key, kind: of }));
        }
        Ok(Hidden { hidden })
    }

    /// The live facts of other libraries in a scope, heaviest first at an instant. Empty, without a load, where no mapping has
    /// the scope.
    pub async fn adopted_facts(&self, scope: &Scope, at: Timestamp) -> Result<Vec<Relation>, Error> {
        if !self.store.mappings().iter().any(|mapping| mapping.has_scope(scope)) {
            return Ok(Vec::new());
        }
        self.ready(scope).await?;
        Ok(self.mirror.adopted_facts(scope, at).await)
    }

    /// Number of these keys that no row of a mapped library has in a scope.
    pub(super) async fn keys_without_row(&self, scope: &Scope, keys: &[&str]) -> Result<usize, store::Error> {
        let asked = self.mirror.query(scope).map_err(|why| store::Error::Invalid(why.to_string()))?;
        let mut without = keys.len();
        for page in keys.chunks(KEYS_MAX) {
            let rows = self.rows(&asked, page).await?;
            let has_row = |key: &&&str| rows.nodes.contains_key(**key) || rows.facts.contains_key(**key);
            without -= page.iter().filter(has_row).count();
        }
        Ok(without)
    }

    /// Those ends of facts that are live and not hidden.
    async fn live_ends(
        &self,
        asked: &MirrorQuery,
        facts: &BTreeMap<String, AdoptedFact>,
    ) -> Result<BTreeSet<(usize, String)>, store::Error> {
        let mut keys: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
        for (label, key) in facts.values().flat_map(|fact| fact.ends.iter().flatten()) {
            keys.entry(*label).or_default().insert(key);
        }
        let mut live = BTreeSet::new();
        for (label, keys) in keys {
            let rows = self.store.adopted_live(asked, label, &Vec::from_iter(keys)).await?;
            live.extend(rows.into_iter().map(|row| (label, row.node.key)));
        }
        Ok(live)
    }

    /// The rows with these keys: nodes, and facts.
    async fn rows(&self, asked: &MirrorQuery, keys: &[&str]) -> Result<Rows, store::Error> {
        let mut rows = Rows::default();
        for label in asked.own_labels()..asked.label_count() {
            for (row, now) in self.store.adopted_nodes(asked, label, keys).await? {
                rows.nodes.entry(row.node.key.clone()).or_insert((row, now));
            }
        }
        let others: Vec<&str> = keys.iter().copied().filter(|key| !rows.nodes.contains_key(*key)).collect();
        if !others.is_empty() {
            let facts = self.store.adopted_facts(asked, &others).await?;
            rows.facts = facts.into_iter().map(|fact| (fact.key.clone(), fact)).collect();
        }
        Ok(rows)
    }
}

/// The keys of a request, each once.
fn checked(keys: &[Term]) -> Result<Vec<&str>, String> {
    if !(1..=KEYS_MAX).contains(&keys.len()) {
        return Err(format!("there are {} keys; it must be 1 to {KEYS_MAX}", keys.len()));
    }
    let keys: BTreeSet<&str> = keys.iter().map(Term::as_str).collect();
    Ok(keys.into_iter().collect())
}

fn kind_of(asked: &MirrorQuery, label: usize) -> String {
    asked.labels().nth(label).map_or_else(String::new, |(_, kind)| kind.to_owned())
}

fn scores(hits: Vec<ebb_engine::recall::Hit>) -> BTreeMap<String, f64> {
    hits.into_iter().map(|hit| (hit.id, f64::from(hit.score))).collect()
}

/// A reason, with whether the query found anything.
fn explained(why: String, score: Option<f64>) -> String {
    if score == Some(0.0) { format!("{why}; not reached from the query") } else { why }
}

fn observed_at(at: Option<Timestamp>, is_pinned: bool) -> String {
    let at =
        at.map_or_else(|| "without an instant".to_owned(), |at| format!("last observed {}", rfc3339(at)));
    if is_pinned { format!("pinned, {at}") } else { at }
}
