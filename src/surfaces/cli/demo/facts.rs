//! The part of the demo about facts: those that policies retracted and reduced.

use super::expected::{self, Check, Expected};
use super::month::Month;
use crate::surfaces::cli::exit::CliError;
use ebb_core::domain::fact::{DECAY_SOURCE, FactScope};
use ebb_core::service::{FactFilter, Service};
use serde::Serialize;

/// Facts at the end of the month.
#[derive(Debug, Serialize)]
pub(super) struct Facts {
    asserted: u64,
    policies: Vec<String>,
    heads: usize,
    retracted: usize,
    reduced: usize,
    pub(super) checks: Vec<Check>,
}

/// Reads them as they are.
pub(super) async fn read(expected: &[Expected], service: &Service, month: &Month) -> Result<Facts, CliError> {
    let mut heads = Vec::new();
    for scope in FactScope::ALL {
        let filter = FactFilter { scope, entity: None, relation: None, history: false };
        heads.extend(service.facts(&filter, "", None).await?);
    }
    let by_sweep = |retracted: bool| {
        let swept = heads.iter().filter(|head| head.source.as_deref() == Some(DECAY_SOURCE));
        swept.filter(|head| (head.confidence == Some(0.0)) == retracted).count()
    };
    let policies = service.policies().await?.policies;
    Ok(Facts {
        asserted: month.count("fact"),
        policies: policies.all().iter().map(|policy| policy.id.to_string()).collect(),
        heads: heads.len(),
        retracted: by_sweep(true),
        reduced: by_sweep(false),
        checks: expected::facts(expected, &heads),
    })
}
