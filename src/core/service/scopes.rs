//! Scopes as a whole: list, deletion, receipts. Their export is a backup (`backup.rs`).

use super::Service;
use crate::api::scope::{ScopeDeletion, ScopeReceipt, ScopeReceipts, ScopesList};
use crate::domain::ids::Scope;
use crate::domain::key::Scopes;
use crate::service::memories::RequestId;
use crate::store::{Erasure, Error};
use tracing::warn;

impl Service {
    /// The scopes after a name that have rows and are among those granted, by name.
    pub async fn scopes(&self, after: &str, limit: usize, granted: &Scopes) -> Result<ScopesList, Error> {
        let only = match granted {
            Scopes::Every => None,
            Scopes::Some(scopes) => Some(scopes),
        };
        let found = self.store.scopes(after, limit, only).await?;
        let next = found.last().filter(|_| found.len() == limit).map(|last| last.scope.clone());
        Ok(ScopesList { scopes: found.into_iter().map(Into::into).collect(), next })
    }

    /// Counts what a deletion of a scope would delete.
    pub async fn count_scope(&self, scope: &Scope) -> Result<ScopeDeletion, Error> {
        Ok(ScopeDeletion::counted(scope, self.jobs_store.scope_counts(scope).await?))
    }

    /// Deletes all rows of a scope. The guard judges their number, except where a deletion that was accepted and broken
    /// off continues. Where nothing is left, the latest receipt is answered, and that of the request if it was done before.
    ///
    /// # Errors
    /// [`Error::Guarded`] if the number is not accepted, [`Error::NotFound`] if the scope has neither rows nor a receipt.
    pub async fn delete_scope(
        &self,
        scope: &Scope,
        request: &RequestId,
        accepted: Option<i64>,
    ) -> Result<ScopeDeletion, Error> {
        let receipts = self.jobs_store.erasures(scope).await?;
        let is_repeat = |receipt: &&Erasure| {
            receipt.finished.is_some() && receipt.requests.iter().any(|id| id == request.id())
        };
        if let Some(done) = receipts.iter().find(is_repeat) {
            self.remove_saved(scope);
            return Ok(ScopeDeletion::done(done.clone()));
        }
        let latest = receipts.into_iter().next();
        if latest.as_ref().is_none_or(|receipt| receipt.finished.is_some()) {
            let total = self.jobs_store.scope_size(scope).await?;
            if total == 0 {
                let none = || Error::NotFound { what: "scope", id: scope.to_string() };
                self.remove_saved(scope);
                return Ok(ScopeDeletion::done(latest.ok_or_else(none)?));
            }
            self.config.guard.judge(total, total, accepted).map_err(Error::Guarded)?;
        }
        let erasure = self.jobs_store.erase(scope, request.by(), request.id()).await?;
        self.remove_saved(scope);
        Ok(ScopeDeletion::done(erasure))
    }

    /// Removes the saved mirror of a deleted scope. If it cannot be, the next deletion of the scope tries again.
    fn remove_saved(&self, scope: &Scope) {
        if let Err(why) = self.mirror.remove_saved(scope) {
            warn!(%scope, %why, "the saved mirror of a deleted scope is still there; repeat the deletion");
        }
    }

    /// The receipts of deletions of a scope, latest first.
    pub async fn scope_receipts(&self, scope: &Scope) -> Result<ScopeReceipts, Error> {
        let found = self.jobs_store.erasures(scope).await?;
        Ok(ScopeReceipts { receipts: found.into_iter().map(ScopeReceipt::from).collect() })
    }
}
