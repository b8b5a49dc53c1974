//! Facts: asserted and listed. What policies say of old ones stands in `sweeps`.

use super::api::Api;
use super::door::Needs;
use super::input::{Items, Nothing};
use super::pages::{self, Rows};
use super::problem::Problem;
use super::route::{Answer, Call, Route};
use ebb_core::api::fact::{AssertedFact, Fact};
use ebb_core::clock::new_id;
use ebb_core::domain::fact::{Assertion, FactError, FactScope, Tuple, Value};
use ebb_core::domain::ids::{EntityName, FactRelation, Scope, Source};
use ebb_core::domain::key::Right;
use ebb_core::domain::units::{Confidence, Timestamp};
use ebb_core::service::facts::value as exact;
use ebb_core::service::memories::WriteMode;
use ebb_core::service::{FactFilter, FactReceipt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Facts of a page where nobody says how many.
const PAGE: u32 = 100;

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    let (read, write) = (Needs::InScope(Right::Read), Needs::InScope(Right::Write));
    vec![
        Route::get("/v1/facts", read, list)
            .says("List facts: the latest of each tuple, or all of them")
            .note(
                "Those of confidence 0 too, which somebody or a sweep took back. 100 where no limit is given; the Link \
                 header leads to the next page.",
            )
            .reads_much(),
        Route::post("/v1/facts", write, assert)
            .says("Say something of an entity; what was said before stays")
            .note("A source that begins system: is Ebb's own, and refused with 403.")
            .also(&[201, 409]),
        Route::post("/v1/facts:batch", write, assert_all)
            .says("Say things of entities, all or none, in their order")
            .also(&[201, 409])
            .batch(),
    ]
}

impl<P, Q, B> Call<P, Q, B> {
    /// The scope of facts that is meant, in which the caller may do this.
    pub(super) fn shared(&self, named: Option<FactScope>, right: Right) -> Result<FactScope, Problem> {
        let named = named.map(|named| Scope::new(named.name())).transpose().map_err(Problem::own_fault)?;
        let scope = self.scope_for(named.as_ref(), right)?;
        FactScope::named(scope.as_str()).ok_or_else(|| {
            Problem::validation(format!(
                "scope: facts have no scope {scope}; it is local, team, company or public"
            ))
        })
    }
}

/// Which facts.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FactQuery {
    /// About this entity alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    entity: Option<EntityName>,
    /// Of this relation alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    relation: Option<FactRelation>,
    /// All there are, also those that later ones took the place of.
    #[serde(default)]
    history: bool,
    /// Of which scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<FactScope>,
    /// This many at most.
    #[schemars(range(min = 1, max = 10_000))]
    #[serde(default, deserialize_with = "super::input::page_size")]
    limit: Option<u32>,
    /// Where the page before ended: what its Link header says.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// A page of facts.
#[derive(Serialize, JsonSchema)]
struct Facts {
    facts: Vec<Fact>,
}

async fn list(call: Call<Nothing, FactQuery>) -> Result<Answer<Facts>, Problem> {
    let asked = &call.query;
    let scope = call.shared(asked.scope, Right::Read)?;
    let filter = FactFilter {
        scope,
        entity: asked.entity.as_ref().map(ToString::to_string),
        relation: asked.relation.as_ref().map(ToString::to_string),
        history: asked.history,
    };
    let limit = asked.limit.unwrap_or(PAGE);
    let size = usize::try_from(limit).unwrap_or(usize::MAX);
    let after = asked.cursor.as_deref().unwrap_or_default();
    let rows = FactsInOrder { api: Arc::clone(&call.api), filter };
    let (list, cursor) = pages::listed(&Facts { facts: Vec::new() }, rows, after, size).await?;
    let next = cursor.map(|cursor| FactQuery {
        cursor: Some(cursor),
        limit: Some(limit),
        scope: Some(scope),
        ..call.query
    });
    Ok(Answer::list(list, next))
}

/// Facts by their cursors.
struct FactsInOrder {
    api: Arc<Api>,
    filter: FactFilter,
}

impl Rows for FactsInOrder {
    type Row = Fact;
    /// Their values may be long.
    const PAGE: usize = 128;

    async fn read(&self, after: &str, limit: usize) -> Result<Vec<(String, Fact)>, Problem> {
        let found = self.api.service.facts(&self.filter, after, Some(limit)).await?;
        Ok(found.into_iter().map(|fact| (fact.cursor.clone(), fact.into())).collect())
    }
}

/// A fact to assert.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Assertion")]
struct FactRequest {
    /// Of which entity.
    entity: EntityName,
    /// What of it, such as roadmap:status.
    relation: FactRelation,
    /// What that is.
    #[serde(deserialize_with = "exact")]
    value: Value,
    /// How far it is shared.
    scope: Option<FactScope>,
    /// How sure it is: 1 where nothing is said.
    #[schemars(with = "Option<f64>", range(min = 0.0, max = 1.0))]
    confidence: Option<Confidence>,
    /// Who says so.
    source: Source,
    /// Until when it holds.
    valid_until: Option<Timestamp>,
    /// When; needs the right admin.
    at: Option<Timestamp>,
}

impl FactRequest {
    fn assertion(self, scope: FactScope, now: Timestamp) -> Result<Assertion, FactError> {
        let tuple = Tuple { scope, entity: self.entity, relation: self.relation, value: self.value };
        let assertion = Assertion {
            at: self.at.map_or(now, |at| at),
            id: new_id(),
            tuple,
            confidence: self.confidence.unwrap_or(Confidence::ONE),
            source: self.source,
            valid_until: self.valid_until,
        };
        assertion.checked()
    }
}

fn refused(index: Option<usize>, why: &FactError) -> Problem {
    let told = index.map_or_else(|| why.to_string(), |index| format!("[{index}]: {why}"));
    match why {
        FactError::Reserved(_) => Problem::forbidden(told),
        _ => Problem::validation(told),
    }
}

fn wrote(assertion: Assertion, said: FactReceipt) -> AssertedFact {
    let Tuple { scope, entity, relation, value } = assertion.tuple;
    AssertedFact {
        id: said.id,
        entity: entity.to_string(),
        relation: relation.to_string(),
        value,
        scope,
        confidence: assertion.confidence.value(),
        source: assertion.source.to_string(),
        asserted_at: said.at,
        valid_until: assertion.valid_until,
        head: said.is_head,
        dry_run: false,
    }
}

async fn assert(call: Call<Nothing, Nothing, FactRequest>) -> Result<Answer<AssertedFact>, Problem> {
    let scope = call.shared(call.body.scope, Right::Write)?;
    let now = call.written_at(call.body.at).await?;
    let (api, mode) = (call.api.clone(), WriteMode::Once(call.request().clone()));
    let assertion = call.body.assertion(scope, now).map_err(|why| refused(None, &why))?;
    let said = api.service.assert_facts(&mode, std::slice::from_ref(&assertion)).await?;
    let said = said.into_iter().next().ok_or_else(|| Problem::own_fault("nothing was asserted"))?;
    Ok(Answer::made(true, wrote(assertion, said)))
}

/// What a batch asserted, in its order.
#[derive(Serialize, JsonSchema)]
struct AssertedAll {
    facts: Vec<AssertedFact>,
}

async fn assert_all(
    call: Call<Nothing, Nothing, Items<FactRequest>>,
) -> Result<Answer<AssertedAll>, Problem> {
    let mut scopes = Vec::new();
    for told in &call.body.0 {
        scopes.push(call.shared(told.scope, Right::Write)?);
    }
    let now = call.written_at_latest(call.body.0.iter().filter_map(|told| told.at)).await?;
    let (api, mode) = (call.api.clone(), WriteMode::Once(call.request().clone()));
    let mut facts = Vec::new();
    for (index, (told, scope)) in call.body.0.into_iter().zip(scopes).enumerate() {
        facts.push(told.assertion(scope, now).map_err(|why| refused(Some(index), &why))?);
    }
    let said = api.service.assert_facts(&mode, &facts).await?;
    let facts = facts.into_iter().zip(said).map(|(fact, said)| wrote(fact, said)).collect();
    Ok(Answer::made(true, AssertedAll { facts }))
}
