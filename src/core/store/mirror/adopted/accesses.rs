//! Accesses that libraries log themselves.

use super::super::super::Store;
use super::super::super::catalogue::{ADOPTED_ACCESSES, ADOPTED_ALL_ACCESSES};
use super::super::super::cells::{columns, items, text};
use super::super::super::encode::list;
use super::super::super::error::Error;
use super::label::AdoptedLabel;
use super::values::instant;
use std::collections::HashMap;

impl Store {
    /// Instants, epoch milliseconds, of the last logged access of nodes of a mapped label: of these keys, or of all.
    pub(super) async fn last_accesses(
        &self,
        of: &AdoptedLabel,
        keys: Option<&[&str]>,
    ) -> Result<HashMap<String, i64>, Error> {
        let mut latest: HashMap<String, i64> = HashMap::new();
        for log in &of.mapping.accesses {
            let statement = if keys.is_some() { &ADOPTED_ACCESSES } else { &ADOPTED_ALL_ACCESSES };
            let inserted = of.inserted(format!(":{}", log.kind));
            let call = || {
                let call = statement.reading(&statement.text_of(&inserted));
                let call = call.set("groups", of.groups()).set("observed", log.observed.as_str());
                match keys {
                    Some(keys) => call.set("keys", list(keys.iter().copied())),
                    None => call,
                }
            };
            for row in self.table(statement.name, call, &["key", "latest"]).await? {
                let [key, instants] = columns(row);
                let at = items(instants).iter().filter_map(instant).max();
                if let (Some(key), Some(at)) = (text(key), at) {
                    let last = latest.entry(key).or_insert(at);
                    *last = at.max(*last);
                }
            }
        }
        Ok(latest)
    }
}
