//! Checks of a graph of another library: each a finding with why it matters and what to do, or nothing.

use super::super::Service;
use crate::api::layout::{Layout, counted, thousands};
use crate::api::report::{FindingLevel, GraphFinding, LayoutReport, Liveness};
use crate::domain::mapping::{Mapping, Name, NodeMapping, RelationMapping};
use crate::domain::units::Timestamp;
use crate::store::{
    CountedRelationships, Degrees, Error, Hub, IndexRow, InstantRows, ROWS_MAX, RepeatedKeys,
};

/// The checks, in the order of a report.
const CHECKS: [&str; 8] = [
    "duplicate_keys",
    "not_live",
    "shared_retirements",
    "dangling_references",
    "duplicate_names",
    "orphans",
    "hubs",
    "missing_indexes",
];
/// Share of all relationships from which hubs are a warning.
const HUB_SHARE: f64 = 0.25;

impl Service {
    /// Runs all checks on a layout at an instant, and adds a note for each count that ended at the limit of rows.
    pub(super) async fn check_layout(
        &self,
        mapping: &Mapping,
        (indexes, at): (&[IndexRow], Timestamp),
        report: &mut LayoutReport,
        notes: &mut Vec<String>,
    ) -> Result<(), Error> {
        let mut found = Vec::new();
        let layout = &report.layout;
        let is_there = |rule: &&NodeMapping| layout.nodes.iter().any(|row| row.label == rule.label_name());
        for rule in mapping.nodes.iter().filter(is_there) {
            let label = rule.label_name();
            found.extend(
                self.store
                    .repeated_node_keys(mapping, rule)
                    .await?
                    .and_then(|keys| duplicate_keys(label, "nodes", keys)),
            );
            found.extend(shared_retirements(label, &self.store.node_instants(mapping, rule, at).await?));
            if let Some(names) = self.store.repeated_names(mapping, rule).await?
                && names.names > 0
            {
                found.push(GraphFinding {
                    check: "duplicate_names",
                    level: FindingLevel::Warning,
                    of: Some(label.to_owned()),
                    count: names.names,
                    found: format!(
                        "{} of {label} in one scope, on {}",
                        counted(names.names, "name occurs more than once", "names occur more than once"),
                        counted(names.nodes, "node", "nodes")
                    ),
                    why: "What is known of one thing is spread over several nodes, and a search finds a part of it.",
                    fix: "Look at the examples: they may be one thing. Merge with the library's own means, \
                          then search again."
                        .to_owned(),
                    examples: names.examples,
                    statements: Vec::new(),
                });
            }
        }
        let is_there = |rule: &&RelationMapping| {
            let kind = rule.kind.as_ref().map(Name::as_str);
            layout.relationships.iter().any(|row| row.kind.as_deref() == kind)
        };
        for rule in mapping.relationships.iter().filter(is_there) {
            let kind = rule.kind.as_ref().map_or("relationships", Name::as_str);
            let keys = self.store.repeated_relationship_keys(mapping, rule).await?;
            found.extend(keys.and_then(|keys| duplicate_keys(kind, "relationships", keys)));
            found.extend(shared_retirements(
                kind,
                &self.store.relationship_instants(mapping, rule, at).await?,
            ));
            found.extend(self.dangling(mapping, rule, kind).await?);
        }
        found.extend(report.liveness.iter().filter_map(not_live));
        found.extend(self.degrees(mapping, notes).await?);
        found.extend(missing_indexes(mapping, layout, indexes));
        let place = |name: &str| CHECKS.iter().position(|check| *check == name);
        found.sort_by_key(|finding| (finding.level, place(finding.check)));
        report.clean =
            CHECKS.into_iter().filter(|name| !found.iter().any(|finding| finding.check == *name)).collect();
        report.findings = found;
        Ok(())
    }

    async fn dangling(
        &self,
        mapping: &Mapping,
        rule: &RelationMapping,
        kind: &str,
    ) -> Result<Option<GraphFinding>, Error> {
        let Some(evidence) = &rule.evidence else { return Ok(None) };
        let keys = self.store.dangling_keys(mapping, rule, evidence).await?;
        let (property, label) = (&evidence.property, &evidence.label);
        Ok((keys.keys > 0).then(|| GraphFinding {
            check: "dangling_references",
            level: FindingLevel::Warning,
            of: Some(kind.to_owned()),
            count: keys.keys,
            found: format!(
                "{} of {kind} that no {label} has, in {}",
                counted(keys.keys, &format!("key in {property}"), &format!("keys in {property}")),
                counted(keys.references, "place", "places")
            ),
            why: "The texts from which these facts were learned are gone, so the facts cannot be checked against them.",
            fix: format!("See whether {label} nodes were deleted; facts all of whose sources are gone may be wrong."),
            examples: keys.examples.into_iter().flatten().collect(),
            statements: Vec::new(),
        }))
    }

    async fn degrees(&self, mapping: &Mapping, notes: &mut Vec<String>) -> Result<Vec<GraphFinding>, Error> {
        let degrees = self.store.degrees(mapping).await?;
        let mut found = Vec::new();
        if degrees.orphans > 0 {
            found.push(GraphFinding {
                check: "orphans",
                level: FindingLevel::Note,
                of: None,
                count: degrees.orphans,
                found: format!(
                    "{} of {} without any relationship",
                    thousands(degrees.orphans),
                    counted(degrees.nodes, "node is", "nodes are")
                ),
                why: "A search that follows relationships never reaches them.",
                fix: "See whether their facts were deleted, or whether extraction found none; remove what is of no use \
                      with the library's own means."
                    .to_owned(),
                examples: degrees.examples.clone(),
                statements: Vec::new(),
            });
        }
        let (hubs, of_hubs) = self.store.hubs(mapping).await?;
        let entering = self.store.entering(mapping).await?;
        notes.extend(ended(&mapping.library, &degrees, entering, of_hubs));
        if !hubs.is_empty() {
            found.push(hubs_finding(&hubs, of_hubs.relationships, &degrees, entering.relationships));
        }
        Ok(found)
    }
}

/// Counts by degree that ended at the limit of rows.
fn ended(
    library: &str,
    degrees: &Degrees,
    entering: CountedRelationships,
    of_hubs: CountedRelationships,
) -> impl Iterator<Item = String> {
    let limit = thousands(ROWS_MAX);
    let notes = [
        (degrees.nodes, format!("{library}, orphans and hubs: the first {limit} nodes were counted")),
        (
            entering.looked,
            format!("{library}, hubs: the first {limit} relationships that lead to its nodes were counted"),
        ),
        (of_hubs.looked, format!("{library}, hubs: the first {limit} relationships of hubs were counted")),
    ];
    notes.into_iter().filter(|(looked, _)| *looked >= ROWS_MAX).map(|(_, note)| note)
}

/// The share of hubs in all relationships of the layout's nodes: those that begin at one, and those that enter from others.
#[expect(clippy::cast_precision_loss, reason = "counts of relationships")]
fn hubs_finding(hubs: &[Hub], relationships: i64, degrees: &Degrees, entering: i64) -> GraphFinding {
    let all = (degrees.outgoing + entering).max(relationships);
    let share = relationships as f64 / all.max(1) as f64;
    // A graph of a few nodes has all its relationships at ten of them.
    let is_large = degrees.nodes > 100;
    let level = if is_large && share >= HUB_SHARE { FindingLevel::Warning } else { FindingLevel::Note };
    GraphFinding {
        check: "hubs",
        level,
        of: None,
        count: relationships,
        found: format!(
            "The {} with the most relationships {} {:.1} % of all {}",
            counted(i64::try_from(hubs.len()).unwrap_or(i64::MAX), "node", "nodes"),
            if hubs.len() == 1 { "has" } else { "have" },
            share * 100.0,
            counted(all, "relationship", "relationships"),
        ),
        why: "A search that follows relationships passes through such nodes to most of the graph, and finds what is \
              not related.",
        fix: "Where a node stands for a word such as `user`, split it or leave it out of searches; recall of Ebb \
              divides by degree."
            .to_owned(),
        examples: hubs.iter().map(|hub| format!("{} ({})", hub.name, thousands(hub.degree))).collect(),
        statements: Vec::new(),
    }
}

fn not_live(row: &Liveness) -> Option<GraphFinding> {
    let by = row.by.join(", ");
    (row.not_live > 0).then(|| GraphFinding {
        check: "not_live",
        level: FindingLevel::Warning,
        of: Some(row.of.clone()),
        count: row.not_live,
        found: format!(
            "{:.1} % of {} are no longer live ({} of {}, by {by})",
            row.share * 100.0,
            row.of,
            thousands(row.not_live),
            thousands(row.rows)
        ),
        why: "They are still in the graph, where a plain search finds them beside the live ones.",
        fix: format!("Exclude them in every search by {by}; recall of Ebb on an adopted graph does. See: ebb adopt --detect"),
        examples: Vec::new(),
        statements: Vec::new(),
    })
}

fn shared_retirements(of: &str, instants: &[InstantRows]) -> Option<GraphFinding> {
    let first = instants.first()?;
    Some(GraphFinding {
        check: "shared_retirements",
        level: FindingLevel::Warning,
        of: Some(of.to_owned()),
        count: first.total,
        found: format!("{} of {of} were retired at the same instant, {}", counted(first.rows, "row", "rows"), first.instant),
        why: "Facts that are superseded one by one end at different instants. Many at one are a sign of a mistake in bulk, \
              such as one contradiction that retired them all.",
        fix: "Read some of these facts: if they still hold, remove the end with the library's own means or from a backup."
            .to_owned(),
        examples: instants.iter().map(|row| format!("{} ({})", row.instant, thousands(row.rows))).collect(),
        statements: Vec::new(),
    })
}

fn duplicate_keys(of: &str, rows: &str, keys: RepeatedKeys) -> Option<GraphFinding> {
    (keys.keys > 0).then(|| GraphFinding {
        check: "duplicate_keys",
        level: FindingLevel::Warning,
        of: Some(of.to_owned()),
        count: keys.keys,
        found: format!(
            "{} of {of} on {} {rows}",
            counted(keys.keys, "key is", "keys are"),
            thousands(keys.rows)
        ),
        why: "A write or a read by key meets any of these rows, or all of them, and their contents diverge.",
        fix: "Keep one row of each key. A uniqueness constraint prevents new ones, if the library's own writes can live \
              with it: try that on a copy."
            .to_owned(),
        examples: keys.examples.into_iter().flatten().collect(),
        statements: Vec::new(),
    })
}

/// Properties that are looked up and have no index.
fn missing_indexes(mapping: &Mapping, layout: &Layout, indexes: &[IndexRow]) -> Option<GraphFinding> {
    let (mut missing, mut statements) = (Vec::new(), Vec::new());
    let mut need = |is_node: bool, of: &Name, property: &Name, pair: Option<&Name>| {
        let entity = if is_node { "NODE" } else { "RELATIONSHIP" };
        let covers = |index: &IndexRow| {
            let properties = index.properties.as_deref().unwrap_or_default();
            let is_alone = properties == [property.as_str()];
            let is_pair = pair.is_some_and(|pair| {
                properties.len() == 2
                    && [property, pair].iter().all(|name| properties.iter().any(|one| one == name.as_str()))
            });
            index.kind == "RANGE"
                && index.entity == entity
                && index.about.as_deref().unwrap_or_default().iter().any(|name| name == of.as_str())
                && (is_alone || is_pair)
        };
        let name = format!("{of}.{property}");
        if missing.contains(&name) || indexes.iter().any(covers) {
            return;
        }
        let pattern = if is_node { format!("(n:{of})") } else { format!("()-[n:{of}]-()") };
        let index = format!("{of}_{property}").to_lowercase();
        statements.push(format!("CREATE INDEX {index} IF NOT EXISTS FOR {pattern} ON (n.{property})"));
        missing.push(name);
    };
    let scope = mapping.scope.property.as_ref();
    for rule in &mapping.nodes {
        if !layout.nodes.iter().any(|row| row.label == rule.label_name()) {
            continue;
        }
        // An index is of a label: rows of any have none.
        let Some(label) = &rule.label else { continue };
        let key = rule.key.property();
        if let Some(key) = key {
            need(true, label, key, scope);
        }
        if let Some(scope) = scope {
            need(true, label, scope, key);
        }
        rule.written.iter().for_each(|name| need(true, label, name, None));
    }
    for rule in &mapping.relationships {
        let Some(kind) = &rule.kind else { continue };
        if !layout.relationships.iter().any(|row| row.kind.as_deref() == Some(kind.as_str())) {
            continue;
        }
        if let Some(key) = rule.key.as_ref().and_then(|key| key.property()) {
            need(false, kind, key, None);
        }
        rule.written.iter().for_each(|name| need(false, kind, name, None));
    }
    let count = i64::try_from(missing.len()).unwrap_or(i64::MAX);
    (count > 0).then(|| GraphFinding {
        check: "missing_indexes",
        level: FindingLevel::Note,
        of: None,
        count,
        found: format!("{} no index", counted(count, "property that is looked up has", "properties that are looked up have")),
        why: "A lookup by key, by scope, or of what was written since the last one reads every row of the label or type.",
        fix: "Create those that matter to you, with the statements listed; each takes space and slows writes a little."
            .to_owned(),
        examples: missing,
        statements,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_where_a_count_ended() {
        let degrees = |nodes| Degrees { nodes, outgoing: 0, orphans: 0, examples: Vec::new() };
        let looked = |looked| CountedRelationships { looked, relationships: 5 };
        let below = ROWS_MAX - 1;
        assert_eq!(ended("mem0", &degrees(below), looked(below), looked(below)).count(), 0);
        let notes: Vec<String> =
            ended("mem0", &degrees(ROWS_MAX), looked(ROWS_MAX), looked(ROWS_MAX)).collect();
        assert_eq!(notes[0], "mem0, orphans and hubs: the first 1,000,000 nodes were counted");
        assert!(
            notes.len() == 3 && notes[1..].iter().all(|note| note.contains("relationships")),
            "{notes:?}"
        );
    }
}
