//! Sweeps of facts, as the decay document has them, and the policies they follow.
//!
//! Who may only read may see what a sweep would do; to let one act needs the right to write in its scope. Policies concern
//! every scope at once: to see them needs a key over all, and to change them one with the right admin.

use super::door::Needs;
use super::input::Nothing;
use super::problem::Problem;
use super::route::{Answer, Call, Route};
use ebb_core::api::fact::{Sweep, SweepJob, SweepRequest};
use ebb_core::api::policy::{ChangedPolicy, DecayPolicies, DecayPolicy, RemovedPolicy};
use ebb_core::domain::fact::FactScope;
use ebb_core::domain::ids::NAME_BYTES_MAX;
use ebb_core::domain::key::Right;
use ebb_core::domain::policy::{Draft, Given, Mode};
use ebb_core::service::memories::WriteMode;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::borrow::Cow;

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    let admin = Needs::Everywhere(Right::Admin);
    vec![
        Route::post_or_dry("/v1/decay/sweep", Needs::InScope(Right::Read), is_dry, sweep)
            .says("Apply the decay policies to the facts of a scope")
            .note(
                "It only adds facts. Needs the right to write in the scope; with mode dry_run, which writes nothing, to \
                 read. Of more than 100,000 facts a worker does it: 202. 409 where it would retract so much that a \
                 person is to accept the number, with accept_affected.",
            )
            .also(&[202, 409])
            .patient(),
        Route::get("/v1/decay/jobs/{id}", Needs::InScope(Right::Read), job)
            .says("Say how a sweep stands that a worker does")
            .also(&[404]),
        Route::get("/v1/decay/policies", Needs::Everywhere(Right::Read), policies)
            .says("List the decay policies in force"),
        Route::put("/v1/decay/policies/{id}", admin, set)
            .says("Set a decay policy, in the place of one of the same id")
            .note(
                "201 if it is new. The first change writes the policies of the configuration into the graph; from then \
                 on those of the graph are in force.",
            )
            .also(&[201, 409]),
        Route::delete("/v1/decay/policies/{id}", admin, remove)
            .says("Remove a decay policy")
            .also(&[404, 409]),
    ]
}

fn is_dry(asked: &SweepRequest) -> bool {
    asked.mode == Some(Mode::DryRun)
}

async fn sweep(call: Call<Nothing, Nothing, SweepRequest>) -> Result<Answer<Sweep>, Problem> {
    let right = if is_dry(&call.body) { Right::Read } else { Right::Write };
    call.shared(Some(call.body.scope), right)?;
    let request = SweepRequest { at: Some(call.written_at(call.body.at).await?), ..call.body.clone() };
    let (mode, stop) = (WriteMode::Once(call.request().clone()), call.api.stop.clone());
    Ok(match call.service().sweep(&mode, &request, Some(stop)).await? {
        done @ Sweep::Done(_) => Answer::ok(done),
        queued @ Sweep::Queued(_) => Answer::accepted(queued),
    })
}

/// Which sweep, or which policy.
#[derive(Debug, Deserialize, JsonSchema)]
struct IdPath {
    /// Its id.
    #[schemars(length(min = 1))]
    id: String,
}

/// Of which scope.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ScopeQuery {
    /// Of which scope it must be; that of the sweep where none is named.
    scope: Option<FactScope>,
}

async fn job(call: Call<IdPath, ScopeQuery>) -> Result<Answer<SweepJob>, Problem> {
    let (id, named) = (&call.path.id, call.query.scope);
    if named.is_some() {
        call.shared(named, Right::Read)?;
    }
    let found = call.service().sweep_job(id).await?;
    let own = found.so_far.scope;
    if named.is_some_and(|named| named != own) {
        return Err(Problem::not_found(format!("there is no sweep {id} in this scope")));
    }
    call.shared(Some(own), Right::Read)?;
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

/// A policy as it is given, whatever its fields hold: all that is wrong with it is told at once.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
struct PolicyRequest(#[schemars(with = "Fields")] Draft);

/// For schemas: the documented fields of a policy.
struct Fields;

impl JsonSchema for Fields {
    fn schema_name() -> Cow<'static, str> {
        "DecayPolicyFields".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mode = generator.subschema_for::<Mode>();
        json_schema!({
            "type": "object",
            "description": "A decay policy: ttl_s goes with mode retract, half_life_s with confidence, one of them with dry_run.",
            "additionalProperties": false,
            "required": ["relation", "scope", "mode"],
            "properties": {
                "id": {"type": "string", "maxLength": NAME_BYTES_MAX, "description": "If given, that of the path."},
                "relation": {"type": "string", "maxLength": NAME_BYTES_MAX, "description": "Which relations; * is any run of characters."},
                "scope": {
                    "enum": FactScope::ALL.map(FactScope::name).into_iter().chain(["*"]).collect::<Vec<_>>(),
                    "description": "Which scope, or * for every one.",
                },
                "mode": mode,
                "ttl_s": {"type": ["number", "null"], "exclusiveMinimum": 0},
                "half_life_s": {"type": ["number", "null"], "exclusiveMinimum": 0},
                "min_confidence": {"type": ["number", "null"], "minimum": 0, "maximum": 1, "default": 0},
                "exempt_relations": {"type": ["array", "null"], "items": {"type": "string", "maxLength": NAME_BYTES_MAX}, "default": []},
            },
        })
    }
}

async fn set(call: Call<IdPath, Nothing, PolicyRequest>) -> Result<Answer<ChangedPolicy>, Problem> {
    let (api, mode) = (call.api.clone(), WriteMode::Once(call.request().clone()));
    let (id, PolicyRequest(mut draft)) = (Given::Text(call.path.id), call.body);
    let said = draft.0.entry("id".to_owned()).or_insert_with(|| id.clone());
    if *said == Given::Nothing {
        *said = id.clone();
    }
    if *said != id {
        return Err(Problem::validation(format!("id: it is {said} here and {id} in the path")));
    }
    let (policy, new) = api.service.set_policy(&mode, draft).await?;
    Ok(Answer::made(new, ChangedPolicy { policy: DecayPolicy::from(&policy), new, dry_run: false }))
}

async fn remove(call: Call<IdPath>) -> Result<Answer<RemovedPolicy>, Problem> {
    let id = &call.path.id;
    call.service().remove_policy(&WriteMode::Once(call.request().clone()), id).await?;
    Ok(Answer::ok(RemovedPolicy { id: id.clone(), dry_run: false }))
}
