//! What `ebb config show` prints: every key, its value, and where that value came from; a secret as stars.
//!
//! Rows are made from the values as they were checked, in which a secret is stars already: nothing that prints ever
//! holds the real one.

use super::kind::Shown;
use super::knobs::KNOBS;
use super::layers::Layer;
use serde::Serialize;

/// One key of the configuration in force.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Section, dot, name.
    pub key: &'static str,
    /// The value; none where nothing is set.
    pub value: Option<Shown>,
    /// `default`, `default, by NAME`, `FILE:LINE:COLUMN`, `env NAME`, `flag --NAME`, or `unset`.
    pub from: String,
}

/// Every key, in the order of the table of knobs. `layers` from the lowest to the highest.
pub(super) fn rows(layers: &[Layer]) -> Vec<Row> {
    let row = |key: &'static str| {
        let given = super::winner(layers, key);
        Row {
            key,
            value: given.map(|given| given.shown.clone()),
            from: given.map_or_else(|| "unset".to_owned(), |given| given.origin.to_string()),
        }
    };
    KNOBS.iter().map(|knob| row(&knob.key)).collect()
}
