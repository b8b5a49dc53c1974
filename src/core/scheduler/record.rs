//! The record of the schedules in force, in the graph: when one changed, its job was not late before.
//!
//! Without it a job that is enabled again after a month would show a month of lag at once, and only a process that ran
//! meanwhile could know better. A worker records its schedules when it starts and when one changes; with several
//! configurations on one database the last change wins.

use super::cron::Rhythms;
use crate::clock::Clock;
use crate::jobs::JobName;
use crate::store::Store;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::debug;

/// Pause before a failed record is tried again.
const AGAIN: Duration = Duration::from_secs(2);
/// The schedule of a job that none runs.
const DISABLED: &str = "disabled";

/// Records the rhythms at each change until the stop.
pub async fn record(
    store: Arc<Store>,
    clock: Clock,
    mut rhythms: watch::Receiver<Arc<Rhythms>>,
    stop: CancellationToken,
) {
    let recording = async {
        while rhythms.changed().await.is_ok() {
            let now = clock.now();
            let schedules = schedules(&rhythms.borrow_and_update());
            while let Err(why) = store.record_schedules(&schedules, now).await {
                debug!(%why, "schedules could not be recorded, and are recorded again");
                tokio::time::sleep(AGAIN).await;
                if rhythms.has_changed().unwrap_or(true) {
                    break;
                }
            }
        }
    };
    let _ = stop.run_until_cancelled(Box::pin(recording)).await;
}

/// The schedule of every job, as recorded.
fn schedules(rhythms: &Rhythms) -> Vec<(&'static str, String)> {
    let schedule = |job: &JobName| rhythms.get(job).map_or_else(|| DISABLED.to_owned(), ToString::to_string);
    JobName::ALL.iter().map(|job| (job.name(), schedule(job))).collect()
}
