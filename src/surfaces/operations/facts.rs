//! Operations that assert and list facts. Sweeps of old facts are in `sweeps`.

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

/// Default number of facts in a page.
const PAGE: u32 = 100;

/// The operations.
pub(super) fn operations() -> Vec<Operation> {
    let (read, write) = (RequiredRight::InScope(Right::Read), RequiredRight::InScope(Right::Write));
    vec![
        Operation::new(Method::GET, "/v1/facts", read, list)
            .summary("List facts: the latest of each tuple, or all")
            .description(
                "Includes facts of confidence 0, which a source or a sweep retracted. The default limit is 100; the \
                 Link header points to the next page.",
            )
            .long_read(),
        Operation::new(Method::POST, "/v1/facts", write, assert)
            .summary("Assert a fact about an entity; earlier facts are kept")
            .description("Sources that begin with system: are reserved for Ebb and refused with 403.")
            .statuses(&[201, 409]),
        Operation::new(Method::POST, "/v1/facts:batch", write, assert_all)
            .summary("Assert facts in order, all or none")
            .statuses(&[201, 409])
            .batch(),
    ]
}

impl<P, Q, B> Call<P, Q, B> {
    /// The scope of the facts, in which the caller must have the right.
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
    let query = &call.query;
    let scope = call.fact_scope(query.scope, Right::Read)?;
    let filter = FactFilter {
        scope,
        entity: query.entity.as_ref().map(ToString::to_string),
        relation: query.relation.as_ref().map(ToString::to_string),
        history: query.history,
    };
    let limit = query.limit.unwrap_or(PAGE);
    let size = usize::try_from(limit).unwrap_or(usize::MAX);
    let after = query.cursor.as_deref().unwrap_or_default();
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

/// Facts in order of their cursors.
struct FactsInOrder {
    backend: Arc<Backend>,
    filter: FactFilter,
}

impl Rows for FactsInOrder {
    type Row = Fact;
    /// Smaller than the default, because a value may be long.
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
    let receipts = backend.service.assert_facts(&mode, std::slice::from_ref(&assertion)).await?;
    let receipt = receipts.into_iter().next().ok_or_else(|| Problem::own_fault("no fact was asserted"))?;
    Ok(Answer::created(true, AssertedFact::of(assertion, receipt, false)))
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
    let receipts = backend.service.assert_facts(&mode, &facts).await?;
    let asserted =
        facts.into_iter().zip(receipts).map(|(fact, receipt)| AssertedFact::of(fact, receipt, false));
    Ok(Answer::created(true, AssertedAll { facts: asserted.collect() }))
}
