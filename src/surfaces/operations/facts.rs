//! Facts: asserted and listed. What policies say of old ones stands in `sweeps`.

use crate::surfaces::operation::pages::{self, Rows};
use crate::surfaces::operation::problem::Problem;
use crate::surfaces::operation::{Answer, Backend, Call, Operation, RequiredRight};
use axum::http::Method;
use ebb_core::api::fact::{AssertedAll, AssertedFact, Fact, FactQuery, FactRequest, Facts};
use ebb_core::api::input::{Items, Nothing};
use ebb_core::domain::fact::{FactError, FactScope};
use ebb_core::domain::ids::Scope;
use ebb_core::domain::key::Right;
use ebb_core::service::FactFilter;
use std::sync::Arc;

/// Facts of a page where nobody says how many.
const PAGE: u32 = 100;

/// The operations.
pub(super) fn operations() -> Vec<Operation> {
    let (read, write) = (RequiredRight::InScope(Right::Read), RequiredRight::InScope(Right::Write));
    vec![
        Operation::new(Method::GET, "/v1/facts", read, list)
            .summary("List facts: the latest of each tuple, or all")
            .description(
                "Those of confidence 0 too, which somebody or a sweep took back. 100 where no limit is given; the Link \
                 header leads to the next page.",
            )
            .long_read(),
        Operation::new(Method::POST, "/v1/facts", write, assert)
            .summary("Assert a fact about an entity; earlier ones stay")
            .description("A source that begins system: is Ebb's own, and refused with 403.")
            .statuses(&[201, 409]),
        Operation::new(Method::POST, "/v1/facts:batch", write, assert_all)
            .summary("Assert facts in order, all or none")
            .statuses(&[201, 409])
            .batch(),
    ]
}

impl<P, Q, B> Call<P, Q, B> {
    /// The scope of facts that is meant, in which the caller may do this.
    pub(super) fn fact_scope(&self, named: Option<FactScope>, right: Right) -> Result<FactScope, Problem> {
        let named = named.map(|named| Scope::new(named.name())).transpose().map_err(Problem::own_fault)?;
        let scope = self.scope_with(named.as_ref(), right)?;
        FactScope::named(scope.as_str()).ok_or_else(|| {
            Problem::validation(format!(
                "scope: facts have no scope {scope}; it is local, team, company or public"
            ))
        })
    }
}

async fn list(call: Call<Nothing, FactQuery>) -> Result<Answer<Facts>, Problem> {
    let asked = &call.query;
    let scope = call.fact_scope(asked.scope, Right::Read)?;
    let filter = FactFilter {
        scope,
        entity: asked.entity.as_ref().map(ToString::to_string),
        relation: asked.relation.as_ref().map(ToString::to_string),
        history: asked.history,
    };
    let limit = asked.limit.unwrap_or(PAGE);
    let size = usize::try_from(limit).unwrap_or(usize::MAX);
    let after = asked.cursor.as_deref().unwrap_or_default();
    let rows = FactsInOrder { backend: Arc::clone(&call.backend), filter };
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
    backend: Arc<Backend>,
    filter: FactFilter,
}

impl Rows for FactsInOrder {
    type Row = Fact;
    /// Their values may be long.
    const PAGE: usize = 128;

    async fn read(&self, after: &str, limit: usize) -> Result<Vec<(String, Fact)>, Problem> {
        let found = self.backend.service.facts(&self.filter, after, Some(limit)).await?;
        Ok(found.into_iter().map(|fact| (fact.cursor.clone(), fact.into())).collect())
    }
}

fn refused(index: Option<usize>, why: &FactError) -> Problem {
    let detail = index.map_or_else(|| why.to_string(), |index| format!("[{index}]: {why}"));
    match why {
        FactError::Reserved(_) => Problem::forbidden(detail),
        _ => Problem::validation(detail),
    }
}

async fn assert(call: Call<Nothing, Nothing, FactRequest>) -> Result<Answer<AssertedFact>, Problem> {
    let scope = call.fact_scope(call.body.scope, Right::Write)?;
    let now = call.write_instant(call.body.at).await?;
    let (backend, mode) = (Arc::clone(&call.backend), call.write_once());
    let assertion = call.body.assertion(scope, now).map_err(|why| refused(None, &why))?;
    let said = backend.service.assert_facts(&mode, std::slice::from_ref(&assertion)).await?;
    let said = said.into_iter().next().ok_or_else(|| Problem::own_fault("nothing was asserted"))?;
    Ok(Answer::created(true, AssertedFact::of(assertion, said, false)))
}

async fn assert_all(
    call: Call<Nothing, Nothing, Items<FactRequest>>,
) -> Result<Answer<AssertedAll>, Problem> {
    let mut scopes = Vec::new();
    for fact in &call.body.0 {
        scopes.push(call.fact_scope(fact.scope, Right::Write)?);
    }
    let now = call.batch_instant(call.body.0.iter().map(|fact| fact.at)).await?;
    let (backend, mode) = (Arc::clone(&call.backend), call.write_once());
    let mut facts = Vec::new();
    for (index, (fact, scope)) in call.body.0.into_iter().zip(scopes).enumerate() {
        facts.push(fact.assertion(scope, now).map_err(|why| refused(Some(index), &why))?);
    }
    let said = backend.service.assert_facts(&mode, &facts).await?;
    let facts = facts.into_iter().zip(said).map(|(fact, said)| AssertedFact::of(fact, said, false)).collect();
    Ok(Answer::created(true, AssertedAll { facts }))
}
