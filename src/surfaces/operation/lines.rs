//! Answers of many lines, read from the database while they are sent.

use super::pages::{List, Page, Rest};
use super::problem::Problem;
use super::{Answer, Backend};
use crate::surfaces::limits::{QUEUE_TIMEOUT, Work};
use ebb_core::service::backup::BackupError;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tracing::warn;

/// Lines that are read ahead of the client.
const AHEAD: usize = 1_000;
/// Bytes of a page of lines, about.
const PAGE_BYTES: usize = 256 * 1024;

/// The answer of which a reader sends the lines.
pub(in crate::surfaces) async fn streamed<Fut>(
    backend: &Arc<Backend>,
    caller: &str,
    read: impl FnOnce(Arc<Backend>, mpsc::Sender<Vec<u8>>) -> Fut + Send + 'static,
) -> Result<Answer<String>, Problem>
where
    Fut: Future<Output = Result<(), BackupError>>,
{
    // Kept for as long as it reads.
    let permit = backend.limits.permit(Work::Batch, caller, QUEUE_TIMEOUT).await?;
    let (sender, mut lines) = mpsc::channel(AHEAD);
    let (failure, failed) = oneshot::channel();
    let owned = Arc::clone(backend);
    backend.start(move || async move {
        let _held = permit;
        if let Err(why) = read(owned, sender).await {
            failure.send(why).ok();
        }
    });
    // An error before the first line has a status.
    let Some(first) = lines.recv().await else { return Err(problem(failed.await.ok())) };
    let rest = Some(Box::new(Lines { lines, failed }) as Box<dyn Rest>);
    Ok(Answer::lines(List::lines(Page { items: first, rest })))
}

fn problem(why: Option<BackupError>) -> Problem {
    match why {
        Some(BackupError::Store(why)) => why.into(),
        why => {
            Problem::own_fault(why.map_or_else(|| "a stream ended early".to_owned(), |why| why.to_string()))
        }
    }
}

/// The lines of an export that are not sent yet.
struct Lines {
    lines: mpsc::Receiver<Vec<u8>>,
    failed: oneshot::Receiver<BackupError>,
}

impl Rest for Lines {
    fn read(mut self: Box<Self>) -> Pin<Box<dyn Future<Output = Result<Page, Problem>>>> {
        Box::pin(async move {
            let mut items = Vec::new();
            while items.len() < PAGE_BYTES {
                let Some(line) = self.lines.recv().await else {
                    if let Ok(why) = (&mut self.failed).await {
                        warn!(%why, "a stream ended early");
                        return Err(problem(Some(why)));
                    }
                    return Ok(Page { items, rest: None });
                };
                items.extend(line);
            }
            Ok(Page { items, rest: Some(self as Box<dyn Rest>) })
        })
    }
}
