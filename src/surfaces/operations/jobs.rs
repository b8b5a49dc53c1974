//! Operations on jobs and attempts. A manual run follows the same rules as a run by a worker.

use crate::surfaces::operation::problem::Problem;
use crate::surfaces::operation::{Answer, Call, Operation, RequiredRight};
use axum::http::Method;
use ebb_core::api::attempt::{AttemptQuery, Attempts};
use ebb_core::api::input::Nothing;
use ebb_core::api::job::{JobHistory, JobHistoryQuery, JobPath, JobRun, JobRunRequest, Jobs};
use ebb_core::domain::key::Right;
use ebb_core::service::JobName;

/// The operations.
pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(Method::GET, "/v1/jobs", RequiredRight::Everywhere(Right::Read), list)
            .summary("List jobs with schedule, last run and lag")
            .long_read(),
        Operation::new(Method::GET, "/v1/jobs/history", RequiredRight::Everywhere(Right::Read), history)
            .summary("List past runs of jobs, newest first, and the jobs that wait for one")
            .description("The ledger keeps runs as long as retention.runs says.")
            .statuses(&[404])
            .long_read(),
        Operation::with_dry_run(
            Method::POST,
            "/v1/jobs/{name}/run",
            RequiredRight::Everywhere(Right::Write),
            |how: &JobRunRequest| how.dry_run,
            run,
        )
        .summary("Run a job now")
        .description(
            "The run does not replace a scheduled one. It is skipped while another run of the job is in progress. 409 if \
             the guard stops a sweep; to accept, repeat the number that it names in accept_affected.",
        )
        .statuses(&[404, 409])
        .no_timeout(),
        Operation::new(Method::GET, "/v1/attempts", RequiredRight::Everywhere(Right::Read), attempts)
            .summary("List consolidation attempts, open ones first")
            .long_read(),
    ]
}

async fn list(call: Call) -> Result<Answer<Jobs>, Problem> {
    let at = call.instant(None).await?;
    Ok(Answer::ok(call.service().jobs(at).await?))
}

async fn history(call: Call<Nothing, JobHistoryQuery>) -> Result<Answer<JobHistory>, Problem> {
    let job = call.query.job.as_deref().map(named).transpose()?;
    let at = call.instant(None).await?;
    Ok(Answer::ok(call.service().job_history(job, call.query.limit.unwrap_or(50), at).await?))
}

/// The job of a name.
fn named(name: &str) -> Result<JobName, Problem> {
    let known = || JobName::ALL.map(JobName::name).join(", ");
    JobName::named(name)
        .ok_or_else(|| Problem::not_found(format!("there is no job {name}; there are {}", known())))
}

async fn run(call: Call<JobPath, Nothing, JobRunRequest>) -> Result<Answer<JobRun>, Problem> {
    let job = named(&call.path.name)?;
    let at = call.write_instant(call.body.at).await?;
    Ok(Answer::ok(if call.body.dry_run {
        JobRun::dry(call.service().dry_run_job(job, at, &call.body, false).await?)
    } else {
        let stop = call.backend.stop.clone();
        JobRun::reported(call.service().run_job_once(&call.request_id, job, at, &call.body, stop).await?)
    }))
}

async fn attempts(call: Call<Nothing, AttemptQuery>) -> Result<Answer<Attempts>, Problem> {
    let AttemptQuery { all, limit } = call.query;
    let found = call.service().attempts(!all, limit.unwrap_or(20)).await?;
    Ok(Answer::ok(Attempts { attempts: found }))
}
