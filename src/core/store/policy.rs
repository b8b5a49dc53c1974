//! Policies in the graph: visible nodes, in force from the first change on.
//!
//! Until then those of the configuration are in force. The first change copies them to the graph, so that a policy is
//! never lost by a change of another. Nodes written by hand are checked like a file, and an error stops the run that
//! would have applied them.

mod accepted;

pub use accepted::{AcceptedPolicies, AcceptedPolicy};

use super::Store;
use super::catalogue::{POLICY_OPEN, POLICY_READ, POLICY_REMOVE, POLICY_SET, POLICY_TRIED, POLICY_TRY};
use super::encode::list;
use super::error::Error;
use super::request::{RequestMode, answer, open};
use super::run::Run;
use super::tally::Tally;
use super::tx::{Mode, PriorTry, Tx};
use crate::domain::fact::FactScope;
use crate::domain::policy::{Draft, Given, Measure, Policies, Policy};
use crate::domain::units::Timestamp;
use neo4rs::BoltType;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Columns of `policy/read` after the version, and their fields.
const FIELDS: [(&str, &str); 8] = [
    ("id", "id"),
    ("relation", "relation"),
    ("scope", "scope"),
    ("mode", "mode"),
    ("ttl", "ttl_s"),
    ("halfLife", "half_life_s"),
    ("minConfidence", "min_confidence"),
    ("exemptRelations", "exempt_relations"),
];

/// The policies in force, and their source.
#[derive(Debug, Clone, PartialEq)]
pub struct ActivePolicies {
    pub policies: Policies,
    /// Whether they are nodes of the graph, not of the configuration.
    pub in_graph: bool,
}

impl Store {
    /// The policies in force.
    pub async fn policies(&self) -> Result<ActivePolicies, Error> {
        self.transactions
            .run("policy.read", Mode::Read, async |tx: &mut Tx| self.active_policies(tx).await)
            .await
    }

    /// The policies of a scheduled run: with [`Regime::first_run_dry`], those whose present version is new to scheduled
    /// runs are a dry run, in which a later version keeps the facts of the former. Returns them, and the new policies.
    ///
    /// [`Regime::first_run_dry`]: crate::domain::policy::Regime
    pub async fn policies_on_trial(&self, run: &Run) -> Result<(Policies, Vec<Policy>), Error> {
        #[derive(Deserialize)]
        struct Row {
            policy: String,
            wording: String,
            occurrence: String,
        }
        let policies = self.policies().await?.policies;
        if !self.regime.first_run_dry {
            return Ok((policies, Vec::new()));
        }
        let tried: Vec<Row> = self.read(POLICY_TRIED.call()).await?;
        // After a takeover the run continues as it began.
        let is_new = |policy: &Policy| {
            !tried.iter().any(|row| {
                row.policy == policy.id.as_str()
                    && row.wording == policy.wording()
                    && row.occurrence != run.occurrence
            })
        };
        let is_later_version = |policy: &Policy| tried.iter().any(|row| row.policy == policy.id.as_str());
        let new = policies.all().iter().filter(|policy| is_new(policy)).cloned().collect();
        Ok((policies.on_trial(is_new, is_later_version), new))
    }

    /// Records that these policies had their first scheduled run, as a batch of it.
    pub async fn tried(&self, run: &mut Run, policies: &[Policy]) -> Result<(), Error> {
        let occurrence = run.occurrence.clone();
        self.in_run(run, "policy.try", async |tx: &mut Tx| {
            let call = POLICY_TRY
                .call()
                .set("policy", list(policies.iter().map(|policy| policy.id.as_str())))
                .set("wording", list(policies.iter().map(Policy::wording)))
                .set("occurrence", occurrence.as_str());
            tx.run(call).await?;
            Ok(Tally::default())
        })
        .await?;
        Ok(())
    }

    /// Adds a policy or replaces that of the same id, once under a request id, or as a dry run. Returns whether it is
    /// new. In scopes without facts it is accepted at once.
    pub async fn set_policy(
        &self,
        mode: RequestMode<'_>,
        policy: &Policy,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let accepted = self.accepted_policies().await?;
        let lacking = accepted::new_policies(std::slice::from_ref(policy), &accepted);
        self.transactions
            .retry_on_unique_conflict(PriorTry::default(), "policy.set", async |tx: &mut Tx| {
                if let Some(new) = open(tx, mode).await? {
                    return Ok(new);
                }
                let known = self.write_down(tx).await?;
                set(tx, policy).await?;
                accepted::accept_unwritten(tx, &lacking, now).await?;
                let new = !known.has(policy.id.as_str());
                answer(tx, mode, &new);
                Ok(new)
            })
            .await
    }

    /// Removes a policy, once under a request id, or as a dry run.
    pub async fn remove_policy(&self, mode: RequestMode<'_>, id: &str) -> Result<(), Error> {
        self.transactions
            .retry_on_unique_conflict(PriorTry::default(), "policy.remove", async |tx: &mut Tx| {
                if open::<()>(tx, mode).await?.is_some() {
                    return Ok(());
                }
                if !self.write_down(tx).await?.has(id) {
                    return Err(Error::NotFound { what: "policy", id: id.to_owned() });
                }
                tx.run(POLICY_REMOVE.call().set("id", id)).await?;
                answer(tx, mode, &());
                Ok(())
            })
            .await
    }

    /// Locks the policies of the graph until commit, with those of the configuration copied the first time. Returns the
    /// policies in force.
    async fn write_down(&self, tx: &mut Tx) -> Result<Policies, Error> {
        if tx.only::<i64>(POLICY_OPEN.call()).await? > 1 {
            return Ok(self.active_policies(tx).await?.policies);
        }
        for policy in self.regime.policies.all() {
            set(tx, policy).await?;
        }
        Ok(self.regime.policies.clone())
    }

    async fn active_policies(&self, tx: &mut Tx) -> Result<ActivePolicies, Error> {
        let columns: Vec<&str> = std::iter::once("version").chain(FIELDS.map(|(column, _)| column)).collect();
        let rows = tx.table(POLICY_READ.call(), &columns).await?;
        let mut drafts = Vec::new();
        for mut row in rows {
            let fields = row.split_off(1);
            if matches!(row.first(), None | Some(BoltType::Null(_))) {
                return Ok(ActivePolicies { policies: self.regime.policies.clone(), in_graph: false });
            }
            let given: BTreeMap<String, Given> = FIELDS
                .iter()
                .zip(fields)
                .map(|((_, field), value)| ((*field).to_owned(), given(&value)))
                .collect();
            if given.values().any(|given| *given != Given::Nothing) {
                drafts.push(Draft(given));
            }
        }
        let policies = Policies::check(&drafts).map_err(Error::Policies)?;
        Ok(ActivePolicies { policies, in_graph: true })
    }
}

async fn set(tx: &mut Tx, policy: &Policy) -> Result<(), Error> {
    let (ttl, half_life) = match policy.measure {
        Measure::TtlS(seconds) => (Some(seconds), None),
        Measure::HalfLifeS(seconds) => (None, Some(seconds)),
    };
    let call = POLICY_SET
        .call()
        .set("id", policy.id.as_str())
        .set("relation", policy.relation.as_str())
        .set("scope", policy.scope.map_or("*", FactScope::name))
        .set("mode", policy.mode.name())
        .set("ttl", ttl)
        .set("halfLife", half_life)
        .set("minConfidence", policy.min_confidence.value())
        .set("exempt", list(policy.exempt_relations.iter().map(|glob| glob.as_str())));
    tx.run(call).await
}

/// Decodes a property of any type.
fn given(value: &BoltType) -> Given {
    match value {
        BoltType::Null(_) => Given::Nothing,
        BoltType::Boolean(truth) => Given::Truth(truth.value),
        BoltType::Float(number) => Given::Number(number.value),
        #[expect(
            clippy::cast_precision_loss,
            reason = "a duration or a share that large is rejected either way"
        )]
        BoltType::Integer(number) => Given::Number(number.value as f64),
        BoltType::String(text) => Given::Text(text.value.clone()),
        BoltType::List(all) => Given::List(all.value.iter().map(given).collect()),
        _ => Given::Table(BTreeMap::new()),
    }
}
