//! The outcome of a line: its question is recalled again, and the useful hits are reported.
//!
//! The mirror is first refreshed as of the instant of the line, so the recall sees the effect of all lines before it.
//! That costs reading the changes since the outcome before; a file with many outcomes is read as slowly as questions
//! are answered.
//!
//! The request id follows from the place of the line in the file, and the request hash is that of the line: the same
//! question may have another answer at another time.

use super::feed::{BadLine, Why};
use super::line::OutcomeLine;
use super::{Feeder, ImportError};
use crate::service::recall::Error;
use crate::service::request_hash::request_hash;
use crate::store::{OutcomeReport, Progress, RequestMode};

impl Feeder<'_> {
    /// Records an outcome, in one transaction with its place in the file; nothing if the recall returns no useful hit.
    pub(super) async fn take_in(
        &mut self,
        line: u64,
        came: OutcomeLine,
        from: i64,
        progress: &Progress,
    ) -> Result<(), ImportError> {
        let OutcomeLine { judged, request, text } = came;
        let (service, store) = (self.service, &self.service.store);
        let (scope, at) = (judged.scope.clone(), judged.at);
        let outcome = match Box::pin(service.judged(judged)).await {
            Ok(outcome) => outcome,
            Err(Error::Store(why)) => return Err(why.into()),
            Err(Error::Invalid(why)) => {
                self.refuse(line, BadLine { text, why: Why::Words(why) })?;
                return Ok(store.skip_lines(&self.key, from, progress).await?);
            }
            Err(why) => return Err(why.into()),
        };
        match outcome {
            Some(outcome) => {
                let hash = request_hash("import_outcome", &serde_json::json!(text));
                let mode = RequestMode::Once { request: &request, hash: &hash, by: "import" };
                // A file records accesses in lines of their own.
                let (learns, accesses) = (service.learns(), None);
                let report = OutcomeReport { scope: &scope, outcome: &outcome, at, learns, accesses };
                store.import_outcome(&self.key, from, progress, mode, report).await?;
            }
            None => {
                self.done.outcomes_without_hit += 1;
                store.skip_lines(&self.key, from, progress).await?;
            }
        }
        self.count("outcome", 1);
        Ok(())
    }
}
