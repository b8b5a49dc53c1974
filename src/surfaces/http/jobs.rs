//! Jobs run by hand, under the same rules as by a worker, and the attempts that hold memories.

use super::door::Needs;
use super::input::Nothing;
use super::problem::Problem;
use super::relations::run;
use super::route::{Answer, Call, Route};
use ebb_core::api::attempt::Attempt;
use ebb_core::api::job::{Job, JobRun};
use ebb_core::domain::key::Right;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::JobName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/jobs", Needs::Everywhere(Right::Read), list)
            .says("List the jobs: schedule, last run, what is due")
            .reads_much(),
        Route::post_or_dry(
            "/v1/jobs/{name}/run",
            Needs::Everywhere(Right::Write),
            |how: &JobRunRequest| how.dry_run,
            work,
        )
        .says("Run a job now")
        .note("It does not count as the schedule's. While another run of the job goes on, it is skipped.")
        .also(&[404, 409])
        .patient(),
        Route::get("/v1/attempts", Needs::Everywhere(Right::Read), attempts)
            .says("List consolidation attempts, those that are not over first")
            .reads_much(),
    ]
}

/// The jobs.
#[derive(Serialize, JsonSchema)]
struct Jobs {
    jobs: Vec<Job>,
}

async fn list(call: Call) -> Result<Answer<Jobs>, Problem> {
    let at = call.at(None).await?;
    let jobs = call.service().jobs(at).await?;
    Ok(Answer::ok(Jobs { jobs }))
}

/// Which job.
#[derive(Debug, Deserialize, JsonSchema)]
struct JobPath {
    /// Its name.
    #[schemars(with = "JobName")]
    name: String,
}

/// How to run it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct JobRunRequest {
    /// Whether nothing is to be written.
    #[serde(default)]
    dry_run: bool,
    /// Stop after about this many rows.
    #[schemars(range(min = 1))]
    limit: Option<std::num::NonZeroU64>,
    /// As of when; needs the right admin.
    at: Option<Timestamp>,
}

async fn work(call: Call<JobPath, Nothing, JobRunRequest>) -> Result<Answer<JobRun>, Problem> {
    let known = || JobName::ALL.map(JobName::name).join(", ");
    let name = &call.path.name;
    let job = JobName::named(name)
        .ok_or_else(|| Problem::not_found(format!("there is no job {name}; there are {}", known())))?;
    let at = call.written_at(call.body.at).await?;
    let limit = call.body.limit.map(std::num::NonZeroU64::get);
    Ok(Answer::ok(if call.body.dry_run {
        JobRun::of(job, call.service().dry_run_job(job, at, limit, false).await?, at)
    } else {
        JobRun::reported(run(&call.api, call.request(), job, at, limit).await?)
    }))
}

/// Which attempts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AttemptQuery {
    /// Also those that are over.
    #[serde(default)]
    all: bool,
    /// This many at most; 20, where nothing is said.
    #[schemars(range(min = 1, max = 10_000))]
    #[serde(default, deserialize_with = "super::input::page_size")]
    limit: Option<u32>,
}

/// The attempts.
#[derive(Serialize, JsonSchema)]
struct Attempts {
    attempts: Vec<Attempt>,
}

async fn attempts(call: Call<Nothing, AttemptQuery>) -> Result<Answer<Attempts>, Problem> {
    let AttemptQuery { all, limit } = call.query;
    let found = call.service().attempts(!all, limit.unwrap_or(20)).await?;
    Ok(Answer::ok(Attempts { attempts: found }))
}
