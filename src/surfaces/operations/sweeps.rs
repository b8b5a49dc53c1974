//! Operations on sweeps of facts, as the decay document specifies them, and on decay policies.
//!
//! A dry run needs the right to read in the scope, a sweep that writes the right to write. Policies apply to every
//! scope: reading them needs a key over all scopes, changing them the right admin as well.

use crate::surfaces::mcp;
use crate::surfaces::operation::problem::Problem;
use crate::surfaces::operation::{Answer, Call, Operation, RequiredRight};
use axum::http::Method;
use ebb_core::api::fact::{Sweep, SweepJob, SweepPath, SweepQuery, SweepRequest};
use ebb_core::api::input::Nothing;
use ebb_core::api::policy::{
    ChangedPolicy, DecayPolicies, DecayPolicy, PolicyPath, PolicyRequest, RemovedPolicy,
};
use ebb_core::domain::key::Right;
use ebb_core::domain::policy::{Given, Mode};
use std::sync::Arc;

/// The operations.
pub(super) fn operations() -> Vec<Operation> {
    let admin = RequiredRight::Everywhere(Right::Admin);
    vec![
        Operation::with_dry_run(Method::POST, "/v1/decay/sweep", RequiredRight::InScope(Right::Read), is_dry_run, sweep)
            .summary("Apply the decay policies to the facts of a scope")
            .description(
                "A sweep only adds facts. It needs the right to write in the scope; with mode dry_run, which writes \
                 nothing, the right to read. A scope of more than 100,000 facts is queued for a worker: 202. 409 if \
                 the guard stops it because a policy that is new to the scope, or was changed, would retract too many \
                 facts; to accept, repeat their number in accept_affected. Once accepted, the policy is not stopped \
                 again unless it retracts over ten times as much as in any sweep before.",
            )
            .statuses(&[202, 409])
            .no_timeout()
            .tool(mcp::decay::TOOL),
        Operation::new(Method::GET, "/v1/decay/jobs/{id}", RequiredRight::InScope(Right::Read), job)
            .summary("Show the state of a queued sweep")
            .statuses(&[404]),
        Operation::new(Method::GET, "/v1/decay/policies", RequiredRight::Everywhere(Right::Read), policies)
            .summary("List the decay policies in force"),
        Operation::new(Method::PUT, "/v1/decay/policies/{id}", admin, set)
            .summary("Set a decay policy, replacing one with the same id")
            .description(
                "201 if it is new. The first change writes the policies of the configuration into the graph; from then \
                 on the policies of the graph are in force.",
            )
            .statuses(&[201, 409]),
        Operation::new(Method::DELETE, "/v1/decay/policies/{id}", admin, remove)
            .summary("Remove a decay policy")
            .statuses(&[404, 409]),
    ]
}

fn is_dry_run(request: &SweepRequest) -> bool {
    request.mode == Some(Mode::DryRun)
}

async fn sweep(call: Call<Nothing, Nothing, SweepRequest>) -> Result<Answer<Sweep>, Problem> {
    let right = if is_dry_run(&call.body) { Right::Read } else { Right::Write };
    call.fact_scope(Some(call.body.scope), right)?;
    let request = SweepRequest { at: Some(call.write_instant(call.body.at).await?), ..call.body.clone() };
    let stop = Some(call.backend.stop.clone());
    Ok(match call.service().sweep(&call.write_once(), &request, stop).await? {
        done @ Sweep::Done(_) => Answer::ok(done),
        queued @ Sweep::Queued(_) => Answer::accepted(queued),
    })
}

async fn job(call: Call<SweepPath, SweepQuery>) -> Result<Answer<SweepJob>, Problem> {
    let (id, named) = (&call.path.id, call.query.scope);
    if named.is_some() {
        call.fact_scope(named, Right::Read)?;
    }
    let found = call.service().sweep_job(id).await?;
    let own = found.so_far.scope;
    if named.is_some_and(|named| named != own) {
        return Err(Problem::not_found(format!("there is no sweep {id} in this scope")));
    }
    call.fact_scope(Some(own), Right::Read)?;
    Ok(Answer::ok(found))
}

async fn policies(call: Call) -> Result<Answer<DecayPolicies>, Problem> {
    let in_force = call.service().policies().await?;
    let policies = in_force.policies.all().iter().map(DecayPolicy::from).collect();
    Ok(Answer::ok(DecayPolicies {
        policies,
        from: if in_force.in_graph { "graph" } else { "configuration" },
    }))
}

async fn set(call: Call<PolicyPath, Nothing, PolicyRequest>) -> Result<Answer<ChangedPolicy>, Problem> {
    let (backend, mode) = (Arc::clone(&call.backend), call.write_once());
    let (id, PolicyRequest(mut draft)) = (Given::Text(call.path.id), call.body);
    let given = draft.0.entry("id".to_owned()).or_insert_with(|| id.clone());
    if *given == Given::Nothing {
        *given = id.clone();
    }
    if *given != id {
        return Err(Problem::validation(format!("id: {given} in the body and {id} in the path")));
    }
    let (policy, new) = backend.service.set_policy(&mode, draft).await?;
    Ok(Answer::created(new, ChangedPolicy { policy: DecayPolicy::from(&policy), new, dry_run: false }))
}

async fn remove(call: Call<PolicyPath>) -> Result<Answer<RemovedPolicy>, Problem> {
    let id = &call.path.id;
    call.service().remove_policy(&call.write_once(), id).await?;
    Ok(Answer::ok(RemovedPolicy { id: id.clone(), dry_run: false }))
}
