//! Values that the laws give for the month, computed independently of Ebb, and their comparison with the graph.

use crate::surfaces::cli::exit::CliError;
use ebb_core::domain::event::Tie;
use ebb_core::domain::ids::{EntityName, MemoryId, MemoryKey, RelationType};
use ebb_core::domain::tier::Tier;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::trails::place_name;
use ebb_core::service::{Fact, Service};
use serde::{Deserialize, Serialize};

/// Made with the month, by `config/demo/month.py`.
const EXPECTED: &str = include_str!("../../../../config/demo/expected.json");
/// Values agree if they differ by less than this share: the file has twelve digits.
const TOLERANCE: f64 = 1e-9;

/// A value at the end of the month, and why it is that.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(super) enum Expected {
    /// The energy of a memory.
    Memory { id: MemoryId, tier: Tier, energy: f64, why: String },
    /// The weight of a relation.
    Relation {
        from: EntityName,
        #[serde(rename = "type")]
        kind: RelationType,
        to: EntityName,
        weight: f64,
        why: String,
    },
    /// The success and the cost of an edge.
    Edge { edge: PalaceEdge, success: f64, cost: f64, why: String },
    /// The exploitation of a place.
    Place { place: PalacePlace, exploitation: f64, why: String },
    /// The confidence of the head of a lineage.
    Fact { scope: String, entity: EntityName, relation: String, value: String, confidence: f64, why: String },
}

/// An edge of the palace.
#[derive(Debug, Deserialize)]
pub(super) struct PalaceEdge {
    from: PalacePlace,
    #[serde(rename = "type")]
    kind: String,
    to: PalacePlace,
}

/// A place of the palace.
#[derive(Debug, Deserialize)]
pub(super) struct PalacePlace {
    label: String,
    id: String,
}

/// All of them.
pub(super) fn read() -> Result<Vec<Expected>, CliError> {
    serde_json::from_str(EXPECTED).map_err(CliError::failed)
}

/// A memory, with its expected energy.
#[derive(Debug, Serialize)]
pub(super) struct MemoryCheck {
    id: String,
    content: String,
    story: String,
    tier: Tier,
    energy: f64,
    expected: f64,
    agrees: bool,
    because: String,
}

/// Any other value, with the expected one.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    what: String,
    value: f64,
    expected: f64,
    agrees: bool,
    story: String,
}

fn agree(value: f64, expected: f64) -> bool {
    (value - expected).abs() <= TOLERANCE * expected.abs()
}

fn judged(agrees: bool, what: &str, value: f64, expected: f64) -> Result<(), CliError> {
    if agrees {
        return Ok(());
    }
    Err(CliError::failed(format!(
        "{what} ended at {value}, and the laws say {expected}: this is a defect of Ebb"
    )))
}

impl MemoryCheck {
    /// A defect, unless it agrees.
    pub(super) fn judge(&self) -> Result<(), CliError> {
        judged(self.agrees, &format!("memory {}", self.id), self.energy, self.expected)
    }
}

impl Check {
    pub(super) fn new(what: String, value: f64, expected: f64, story: String) -> Self {
        Self { what, value, expected, agrees: agree(value, expected), story }
    }

    /// A defect, unless it agrees.
    pub(super) fn judge(&self) -> Result<(), CliError> {
        judged(self.agrees, &self.what, self.value, self.expected)
    }
}

/// Compares the memories.
pub(super) async fn memories(
    expected: &[Expected],
    service: &Service,
    ends: Timestamp,
) -> Result<Vec<MemoryCheck>, CliError> {
    let mut memories = Vec::new();
    for one in expected {
        let Expected::Memory { id, tier, energy: wanted, why } = one else { continue };
        let report = service.explain(&MemoryKey::new(service.scope(), id), ends).await?.explained;
        let energy = report.memory.energy.unwrap_or(f64::NAN);
        let found = report.memory.tier;
        memories.push(MemoryCheck {
            content: report.memory.content.clone().unwrap_or_default(),
            story: why.clone(),
            tier: found.unwrap_or(*tier),
            energy,
            expected: *wanted,
            agrees: found == Some(*tier) && agree(energy, *wanted),
            because: report.because,
            id: id.to_string(),
        });
    }
    Ok(memories)
}

/// Compares the weights of relations.
pub(super) async fn weights(
    expected: &[Expected],
    service: &Service,
    ends: Timestamp,
) -> Result<Vec<Check>, CliError> {
    let mut checks = Vec::new();
    for one in expected {
        let Expected::Relation { from, kind, to, weight, why } = one else { continue };
        let tie =
            Tie { scope: service.scope().clone(), from: from.clone(), kind: kind.clone(), to: to.clone() };
        let found = service.relation(&tie, ends).await?;
        checks.push(Check::new(tie.to_string(), found.weight, *weight, why.clone()));
    }
    Ok(checks)
}

/// Compares the edges and places of trails.
pub(super) async fn trails(
    expected: &[Expected],
    service: &Service,
    ends: Timestamp,
) -> Result<Vec<Check>, CliError> {
    let name = |named: &PalacePlace| place_name(&format!("{}:{}", named.label, named.id), service.allowed());
    let name = |named: &PalacePlace| name(named).map_err(CliError::failed);
    let (scope, mut checks) = (service.scope(), Vec::new());
    for one in expected {
        match one {
            Expected::Edge { edge, success, cost, why } => {
                let seen =
                    service.trail_status(scope, &name(&edge.from)?, Some(&name(&edge.to)?), ends).await?;
                let found = seen.edges.into_iter().find(|found| found.kind == edge.kind);
                let (walked, costs) = found.map_or((f64::NAN, f64::NAN), |found| (found.success, found.cost));
                let what = format!("{} {} {}", edge.from.id, edge.kind, edge.to.id);
                checks.push(Check::new(format!("{what}: success"), walked, *success, why.clone()));
                checks.push(Check::new(format!("{what}: cost"), costs, *cost, why.clone()));
            }
            Expected::Place { place, exploitation, why } => {
                let seen = service.trail_status(scope, &name(place)?, None, ends).await?;
                let found = seen.nodes.first().map_or(f64::NAN, |found| found.exploitation);
                let what = format!("{} {}: exploitation", place.label, place.id);
                checks.push(Check::new(what, found, *exploitation, why.clone()));
            }
            _ => {}
        }
    }
    Ok(checks)
}

/// Compares the confidence of facts.
pub(super) fn facts(expected: &[Expected], heads: &[Fact]) -> Vec<Check> {
    let check = |one: &Expected| {
        let Expected::Fact { scope, entity, relation, value, confidence, why } = one else { return None };
        let is = |head: &&Fact| {
            head.scope.as_ref() == Some(scope)
                && head.entity.as_deref() == Some(entity.as_str())
                && head.relation.as_ref() == Some(relation)
                && head.value().is_some_and(|found| found.to_string() == *value)
        };
        let found = heads.iter().find(is).and_then(|head| head.confidence).unwrap_or(f64::NAN);
        Some(Check::new(format!("{entity} {relation} {value}"), found, *confidence, why.clone()))
    };
    expected.iter().filter_map(check).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_holds_what_readme_tells() {
        let all = read().unwrap();
        let memories = all.iter().filter(|one| matches!(one, Expected::Memory { .. })).count();
        let relations = all.iter().filter(|one| matches!(one, Expected::Relation { .. })).count();
        let trails =
            all.iter().filter(|one| matches!(one, Expected::Edge { .. } | Expected::Place { .. })).count();
        let facts = all.iter().filter(|one| matches!(one, Expected::Fact { .. })).count();
        assert_eq!((memories, relations, trails, facts), (5, 3, 2, 3));
    }

    #[test]
    fn a_value_that_differs_is_a_defect() {
        let check = |value| Check::new("a b c".to_owned(), value, 0.5, String::new());
        assert!(check(0.5 + 1e-12).judge().is_ok());
        let why = check(0.500_001).judge().unwrap_err().to_string();
        assert!(why.contains("a b c ended at 0.500001, and the laws say 0.5"), "{why}");
        assert!(check(f64::NAN).judge().is_err());
    }
}
