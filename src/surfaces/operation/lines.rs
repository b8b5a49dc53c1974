//! Answers of lines that come from one long read, and are sent while it goes on.
//!
//! The read is started on its own and holds a permit for long work until it ends. It sends its lines into a channel and must
//! end if nobody takes them for some time: a client that has stalled would hold a connection to the database. If it fails
//! after the first line, the connection to the client is closed.

use super::backend::Backend;
use super::pages::{List, Page, Rest};
use super::problem::Problem;
use crate::surfaces::limits::{QUEUE_TIMEOUT, Work};
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Where a read sends its lines.
pub(in crate::surfaces) type LineSender = mpsc::Sender<Vec<u8>>;

/// Lines that are read ahead of the client.
const AHEAD: usize = 64;
/// Bytes of a page of lines, about.
const PAGE_BYTES: usize = 256 * 1024;

/// Starts a read for a caller, and returns its lines once there is the first.
///
/// # Errors
/// That of the read, if it fails before its first line.
pub(in crate::surfaces) async fn lines<Fut: Future<Output = Result<(), Problem>>>(
    backend: &Arc<Backend>,
    caller: &str,
    read: impl FnOnce(LineSender) -> Fut + Send + 'static,
) -> Result<List, Problem> {
    let permit = backend.limits.permit(Work::Batch, caller, QUEUE_TIMEOUT).await?;
    let (sender, mut lines) = mpsc::channel(AHEAD);
    let (failure, failed) = oneshot::channel();
    backend.start(move || async move {
        let _held = permit;
        if let Err(why) = read(sender).await {
            failure.send(why).ok();
        }
    });
    let Some(first) = lines.recv().await else {
        return Err(failed.await.unwrap_or_else(|_| Problem::own_fault("a read ended without a line")));
    };
    let rest = Some(Box::new(Lines { lines, failed }) as Box<dyn Rest>);
    Ok(List::lines(Page { items: first, rest }))
}

/// The lines that are not sent yet.
struct Lines {
    lines: mpsc::Receiver<Vec<u8>>,
    failed: oneshot::Receiver<Problem>,
}

impl Rest for Lines {
    fn read(mut self: Box<Self>) -> Pin<Box<dyn Future<Output = Result<Page, Problem>>>> {
        Box::pin(async move {
            let mut items = Vec::new();
            while items.len() < PAGE_BYTES {
                let Some(line) = self.lines.recv().await else {
                    return match (&mut self.failed).await {
                        Ok(why) => Err(why),
                        Err(_) => Ok(Page { items, rest: None }),
                    };
                };
                items.extend(line);
            }
            Ok(Page { items, rest: Some(self as Box<dyn Rest>) })
        })
    }
}
