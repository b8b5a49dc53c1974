//! Adoption of facts that other writers made.
//!
//! Agents may write `:Fact` nodes of the documented shape with plain Cypher. Missing values are added (an id, a scope,
//! a confidence, an instant, the entity), and their lineage; present values are unchanged, and invalid facts are
//! quarantined with the reason.

use super::{Line, lineages, move_heads, value};
use crate::domain::fact::{FactScope, Rank, Speaker, Tuple};
use crate::domain::ids::{EntityName, FactRelation};
use crate::domain::units::{Confidence, Timestamp};
use crate::store::Store;
use crate::store::adoption::{self, AdoptedLabel};
use crate::store::catalogue::{FACT_ADOPT, FACT_FOREIGN};
use crate::store::encode::{instants, list, slices};
use crate::store::entity;
use crate::store::error::Error;
use crate::store::run::Run;
use crate::store::statement::PageMode;
use crate::store::tally::Tally;
use crate::store::tx::Tx;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ForeignRow {
    element: String,
    id: Option<String>,
    scope: Option<String>,
    entity: Option<String>,
    relation: Option<String>,
    text: Option<String>,
    whole: Option<i64>,
    number: Option<f64>,
    truth: Option<bool>,
    confidence: Option<f64>,
    source: Option<String>,
    asserted_at: Option<i64>,
    origin_at: Option<i64>,
    fault: Option<String>,
}

/// A fact to adopt.
struct Taken {
    key: String,
    tuple: Tuple,
    confidence: Confidence,
    at: Timestamp,
    rank: Rank,
}

impl Store {
    /// Adopts facts of other writers, a page as a batch of `run`. Returns its number of rows, valid and invalid.
    pub async fn adopt_facts(&self, run: &mut Run, page_mode: PageMode<'_>) -> Result<usize, Error> {
        let now = run.now;
        let tally =
            self.in_run(run, "facts.adopt", async |tx: &mut Tx| adopt(tx, now, page_mode).await).await?;
        Ok(usize::try_from(tally.adopted + tally.quarantined).unwrap_or(0))
    }
}

/// Adopts a page of facts.
pub(in crate::store) async fn adopt(
    tx: &mut Tx,
    now: Timestamp,
    page_mode: PageMode<'_>,
) -> Result<Tally, Error> {
    let foreign = FACT_FOREIGN.call().page(page_mode);
    if let PageMode::Quarantine(_) = page_mode {
        return tx.only(foreign).await;
    }
    let counts = adoption::counts(tx, AdoptedLabel::Fact).await?;
    let rows: Vec<ForeignRow> = tx.rows(foreign).await?;
    let mut ids = BTreeSet::new();
    let rows: Vec<(ForeignRow, Result<Taken, String>)> = rows
        .into_iter()
        .map(|row| {
            let taken = row.check(now).and_then(|taken| match row.scope {
                None if !ids.insert(taken.rank.id().to_owned()) => {
                    Err("id is that of another fact of the scope local".to_owned())
                }
                _ => Ok(taken),
            });
            (row, taken)
        })
        .collect();
    let sound = || rows.iter().filter_map(|(_, taken)| taken.as_ref().ok());
    let lines: BTreeMap<&str, Line<'_>> = sound()
        .map(|taken| {
            let key = taken.key.as_str();
            (key, (key, taken.tuple.scope, taken.tuple.relation.as_str()))
        })
        .collect();
    let lines: Vec<Line<'_>> = lines.into_values().collect();
    let before = lineages(tx, &lines).await?;
    let entities = sound().map(|taken| (taken.tuple.scope.name(), taken.tuple.entity.as_str()));
    entity::open_where_allowed(tx, entities).await?;
    let mut tally = Tally::default();
    for slice in slices(&FACT_ADOPT, &rows, |(row, _)| row.element.len() + 200) {
        let each = || slice.iter().map(|(_, taken)| taken.as_ref().ok());
        let call = FACT_ADOPT
            .call()
            .set("element", list(slice.iter().map(|(row, _)| row.element.as_str())))
            .set("id", list(slice.iter().map(|(_, taken)| id_of(taken))))
            .set("scope", list(each().map(|taken| taken.map(|taken| taken.tuple.scope.name()))))
            .set("entity", list(each().map(|taken| taken.map(|taken| taken.tuple.entity.as_str()))))
            .set("valueType", list(each().map(|taken| taken.map(|taken| taken.tuple.value.type_name()))))
            .set("confidence", list(each().map(|taken| taken.map(|taken| taken.confidence.value()))))
            .set("assertedAt", instants(each().map(|taken| taken.map(|taken| taken.at))))
            .set("fault", list(slice.iter().map(|(_, taken)| taken.as_ref().err().map(String::as_str))));
        tally += tx.only::<Tally>(call).await?;
    }
    for Tuple { scope, entity, .. } in sound().map(|taken| &taken.tuple) {
        tx.touch("Entity", scope.name(), entity.as_str(), "");
    }
    adoption::record(tx, AdoptedLabel::Fact, counts, page_mode, tally).await?;
    move_heads(tx, &before, sound().map(|taken| (taken.key.as_str(), taken.rank.clone()))).await?;
    Ok(tally)
}

/// The id of a fact, or one for an invalid fact that has none.
fn id_of(taken: &Result<Taken, String>) -> String {
    taken.as_ref().map_or_else(|_| crate::clock::new_id(), |taken| taken.rank.id().to_owned())
}

impl ForeignRow {
    fn check(&self, now: Timestamp) -> Result<Taken, String> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let scope = self.scope.as_deref().unwrap_or(FactScope::Local.name());
        let scope = FactScope::named(scope).ok_or("scope is not local, team, company or public")?;
        let entity = self.entity.as_deref().ok_or("entity is missing")?;
        let relation = self.relation.as_deref().ok_or("relation is missing")?;
        let value = value(self.text.as_deref(), self.whole, self.number, self.truth);
        let tuple = Tuple {
            scope,
            entity: EntityName::new(entity).map_err(|why| format!("entity: {why}"))?,
            relation: FactRelation::new(relation).map_err(|why| format!("relation: {why}"))?,
            value: value.ok_or("value is not text, a number, or true or false")?,
        };
        let confidence = self.confidence.map_or(Ok(Confidence::ONE), Confidence::new);
        let at = self.asserted_at.map_or(Ok(now), Timestamp::from_millis);
        let at = at.map_err(|why| format!("assertedAt: {why}"))?;
        let is_derived = self.source.as_deref().map(Speaker::of) == Some(Speaker::Sweep);
        let origin_at = self.origin_at.filter(|_| is_derived);
        let origin_at = origin_at.and_then(|ms| Timestamp::from_millis(ms).ok());
        let id = self.id.clone().unwrap_or_else(crate::clock::new_id);
        Ok(Taken {
            key: tuple.key(),
            tuple,
            confidence: confidence.map_err(|why| why.to_string())?,
            at,
            rank: Rank::new(at, origin_at, id),
        })
    }
}
