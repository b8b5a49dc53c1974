//! Relations between entities: observed, listed, pinned.

use super::Service;
use super::memories::WriteMode;
use super::request_hash::request_hash;
use crate::domain::event::{Observe, Tie};
use crate::domain::ids::Scope;
use crate::domain::relation::Fading;
use crate::domain::units::{Timestamp, Weight};
use crate::store::{Error, ObservationEffect, Relation, RelationFilter};
use serde_json::{Value, json};

/// Relations of one request to the database.
const PAGE: usize = 1_000;

impl Service {
    /// Observes relations in order, all or none; returns the effect of each observation.
    pub async fn observe(&self, mode: &WriteMode, seen: &[Observe]) -> Result<Vec<ObservationEffect>, Error> {
        // The instant is not part of the hash: a retry comes later.
        let observation = |one: &Observe| json!({ "relation": named(&one.tie), "weight": one.seen.weight.map(Weight::value), "pinned": one.seen.pinned });
        let hash = request_hash("observe", &seen.iter().map(observation).collect());
        self.store.observe(mode.with_hash(&hash), seen).await
    }

    /// Pins a relation at its present weight, or unpins it; returns that weight, `0 ..= 1`.
    pub async fn pin_relation(
        &self,
        mode: &WriteMode,
        tie: &Tie,
        pin: bool,
        at: Timestamp,
    ) -> Result<f64, Error> {
        let hash = request_hash("pin_relation", &json!({ "relation": named(tie), "pin": pin }));
        self.store.pin_relation(mode.with_hash(&hash), tie, pin, at).await
    }

    /// A page of relations of a scope at an instant, in a stable order: by key after `after`, at most `limit`.
    pub async fn relations_after(
        &self,
        scope: &Scope,
        which: RelationFilter,
        after: &str,
        limit: usize,
        at: Timestamp,
    ) -> Result<Vec<Relation>, Error> {
        self.store.relations(scope, which, at, after, limit).await
    }

    /// Relations of a scope by the keys of a list, in its order and with its weights; without those that no longer
    /// exist.
    pub async fn relations_of(
        &self,
        scope: &Scope,
        listed: &[(String, f64)],
    ) -> Result<Vec<Relation>, Error> {
        self.store.relations_of(scope, listed).await
    }

    /// One relation at an instant.
    ///
    /// # Errors
    /// [`Error::NotFound`], also for one with invalid values.
    pub async fn relation(&self, tie: &Tie, at: Timestamp) -> Result<Relation, Error> {
        let key = tie.key();
        // A list starts after a key: after all but the last letter of this one come at most 16 others, and this one.
        let after = &key[..key.len().saturating_sub(1)];
        for which in [RelationFilter::Retrievable, RelationFilter::Decayed] {
            let near = self.store.relations(&tie.scope, which, at, after, 16).await?;
            if let Some(found) = near.into_iter().find(|one| one.key == key) {
                return Ok(found);
            }
        }
        Err(Error::NotFound { what: "relation", id: tie.to_string() })
    }

    /// The parameters of relation decay.
    #[must_use]
    pub fn fading(&self) -> &Fading {
        self.store.fading()
    }

    /// Relations of a scope at an instant, heaviest first, then by name; at most `limit` if given.
    pub async fn relations(
        &self,
        scope: &Scope,
        which: RelationFilter,
        limit: Option<usize>,
        at: Timestamp,
    ) -> Result<Vec<Relation>, Error> {
        let mut all: Vec<Relation> = Vec::new();
        loop {
            let after = all.last().map(|last| last.key.clone()).unwrap_or_default();
            let page = self.store.relations(scope, which, at, &after, PAGE).await?;
            let was_full = page.len() == PAGE;
            all.extend(page);
            if !was_full {
                break;
            }
        }
        let names = |one: &Relation| (one.from.clone(), one.kind.clone(), one.to.clone());
        all.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| names(a).cmp(&names(b))));
        all.truncate(limit.unwrap_or(usize::MAX));
        Ok(all)
    }
}

/// A relation in the document of a request.
fn named(tie: &Tie) -> Value {
    json!({ "scope": tie.scope.as_str(), "from": tie.from.as_str(), "type": tie.kind.as_str(), "to": tie.to.as_str() })
}
