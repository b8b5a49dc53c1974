//! Policies that the guard lets run by themselves: what was accepted in each scope, by the wording of the policy, and the
//! most facts that it retracted there in a run.
//!
//! The record is in the graph, so every worker knows it. A policy with another wording is a new one. A policy that comes
//! into force while a scope has no facts is accepted there.

use crate::domain::fact::FactScope;
use crate::domain::guard::Record;
use crate::domain::policy::{Measure, Policy};
use crate::domain::units::Timestamp;
use crate::store::Store;
use crate::store::catalogue::{POLICY_ACCEPT, POLICY_ACCEPTED, POLICY_UNWRITTEN};
use crate::store::encode::list;
use crate::store::error::Error;
use crate::store::run::Run;
use crate::store::statement::Call;
use crate::store::tally::Tally;
use crate::store::tx::{PriorTry, Tx};
use serde::Deserialize;

/// A policy that is accepted in a scope.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AcceptedPolicy {
    pub scope: FactScope,
    pub policy: String,
    /// Its fields as text.
    pub wording: String,
    /// The most facts that it retracted there in a run, if any.
    pub most: Option<i64>,
}

/// All that is accepted.
#[derive(Debug, Clone, Default)]
pub struct AcceptedPolicies(Vec<AcceptedPolicy>);

impl AcceptedPolicies {
    /// The guard's record of a policy in a scope.
    #[must_use]
    pub fn record(&self, scope: FactScope, policy: &Policy) -> Record {
        let wording = policy.wording();
        let is_it = |row: &&AcceptedPolicy| {
            row.scope == scope && row.policy == policy.id.as_str() && row.wording == wording
        };
        self.0.iter().find(is_it).map_or(Record::New, |row| Record::Accepted { most: row.most })
    }
}

impl AcceptedPolicy {
    /// The acceptance of a policy that retracted `most` facts.
    #[must_use]
    pub fn new(scope: FactScope, policy: &Policy, most: Option<i64>) -> Self {
        Self { scope, policy: policy.id.as_str().to_owned(), wording: policy.wording(), most }
    }
}

impl Store {
    /// The accepted policies.
    pub async fn accepted_policies(&self) -> Result<AcceptedPolicies, Error> {
        Ok(AcceptedPolicies(self.read(POLICY_ACCEPTED.call()).await?))
    }

    /// Records accepted policies, as a batch of a run.
    pub async fn accept_policies(&self, run: &mut Run, rows: &[AcceptedPolicy]) -> Result<(), Error> {
        let now = run.now;
        self.in_run(run, "policy.accept", async |tx: &mut Tx| {
            accept(tx, rows, now).await?;
            Ok(Tally::default())
        })
        .await?;
        Ok(())
    }

    /// Accepts the policies in force in each scope that has no facts. Invalid ones are reported by the sweep.
    pub async fn accept_before_facts(&self, now: Timestamp) -> Result<(), Error> {
        let policies = match self.policies().await {
            Err(Error::Policies(_)) => return Ok(()),
            read => read?.policies,
        };
        let new = new_policies(policies.all(), &self.accepted_policies().await?);
        // Read first: most sweeps find nothing to record.
        if new.is_empty() || in_unwritten_scopes(new.clone(), &self.read(unwritten()).await?).is_empty() {
            return Ok(());
        }
        self.transactions
            .retry_on_unique_conflict(PriorTry::default(), "policy.unwritten", async |tx: &mut Tx| {
                accept_unwritten(tx, &new, now).await
            })
            .await
    }
}

/// The policies, for each of their scopes, whose wording was not accepted there. Those that reduce confidence retract
/// nothing.
pub(super) fn new_policies(policies: &[Policy], accepted: &AcceptedPolicies) -> Vec<AcceptedPolicy> {
    let retracting = policies.iter().filter(|policy| matches!(policy.measure, Measure::TtlS(_)));
    let scopes = |policy: &Policy| {
        let own = policy.scope;
        FactScope::ALL.into_iter().filter(move |scope| own.is_none_or(|own| own == *scope))
    };
    retracting
        .flat_map(|policy| scopes(policy).map(move |scope| (scope, policy)))
        .filter(|(scope, policy)| accepted.record(*scope, policy) == Record::New)
        .map(|(scope, policy)| AcceptedPolicy::new(scope, policy, None))
        .collect()
}

/// Records those of these policies whose scope has no facts, inside a transaction of the caller.
pub(super) async fn accept_unwritten(
    tx: &mut Tx,
    new: &[AcceptedPolicy],
    now: Timestamp,
) -> Result<(), Error> {
    let rows = in_unwritten_scopes(new.to_vec(), &tx.rows(unwritten()).await?);
    accept(tx, &rows, now).await
}

/// The scopes without facts.
fn unwritten() -> Call {
    POLICY_UNWRITTEN.call().set("scope", list(FactScope::ALL.map(FactScope::name)))
}

fn in_unwritten_scopes(mut new: Vec<AcceptedPolicy>, unwritten: &[FactScope]) -> Vec<AcceptedPolicy> {
    new.retain(|row| unwritten.contains(&row.scope));
    new
}

async fn accept(tx: &mut Tx, rows: &[AcceptedPolicy], now: Timestamp) -> Result<(), Error> {
    if rows.is_empty() {
        return Ok(());
    }
    let call = POLICY_ACCEPT
        .call()
        .set("scope", list(rows.iter().map(|row| row.scope.name())))
        .set("policy", list(rows.iter().map(|row| row.policy.as_str())))
        .set("wording", list(rows.iter().map(|row| row.wording.as_str())))
        .set("most", list(rows.iter().map(|row| row.most)))
        .set("now", now.millis());
    tx.run(call).await
}
