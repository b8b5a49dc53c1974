//! Ends attempts whose lease is over and frees the memories they held.
//!
//! Runs before every claim and needs no ledger: ending an attempt twice is ending it once. Only this ends a lease that
//! ran out, by the server's clock.

use crate::domain::attempt::Right;
use crate::store::{Error, Store};

/// Reaps. Answers how many attempts were ended.
///
/// # Errors
/// Of the store.
pub async fn run(store: &Store, right: Right) -> Result<i64, Error> {
    store.reap(right).await
}
