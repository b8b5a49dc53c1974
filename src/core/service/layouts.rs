//! Detection of the layouts of other libraries in a database; reads only.
//!
//! # Design notes
//! Layouts share labels: `Entity` with `uuid` is of Graphiti, with `id` of neo4j-agent-memory. A row is of a layout if it
//! has the label and the mark of the layout. A user's own attribute may look like the mark of another layout, so a
//! layout all of whose rows are those of another is not reported, and one whose rows cannot be told from those of
//! another is ambiguous: it is named and not proposed.
//!
//! A layout changes with releases of its library. Reading rows with a mapping that does not fit would show facts of the
//! wrong age, so a sample of each label must have what the mapping reads; if not, the missing property is named and the
//! layout is not proposed.

use super::Service;
use crate::api::layout::{
    Detection, Groups, LabelCount, Layout, LayoutState, TypeCount, UnknownLabel, Vector, counted, thousands,
};
use crate::domain::mapping::{
    Mapping, Name, NodeMapping, NodeRole, OWN_LABELS, RelationMapping, RelationRole,
};
use crate::store::{DatabaseNames, Error, GROUPS_MAX, MappedNodes, PropertySample, ROWS_MAX};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Most labels of a database whose unknown nodes are counted.
const LABELS_MAX: usize = 200;

/// A layout that may be in the database.
struct Candidate {
    preset: Option<&'static str>,
    mapping: Mapping,
    adopted: bool,
    /// Counts of its node rules, in their order.
    nodes: Vec<MappedNodes>,
}

impl Candidate {
    fn rows(&self) -> i64 {
        self.nodes.iter().map(|count| count.nodes).sum()
    }

    fn exclusive(&self) -> i64 {
        self.nodes.iter().map(|count| count.nodes - count.shared).sum()
    }

    /// Whether another layout has a rule for the label of rows that both have.
    fn shares_with(&self, other: &Self) -> bool {
        let shared = self.mapping.nodes.iter().zip(&self.nodes).filter(|(_, count)| count.shared > 0);
        let labels: BTreeSet<Option<&Name>> = shared.map(|(rule, _)| rule.label.as_ref()).collect();
        other.rows() > 0 && other.mapping.nodes.iter().any(|rule| labels.contains(&rule.label.as_ref()))
    }

    /// Whether its rows are certainly of it.
    fn has_own_rows(&self) -> bool {
        self.adopted || self.exclusive() > 0
    }
}

/// A layout in the database, with its mapping.
pub(super) struct FoundLayout {
    pub(super) layout: Layout,
    pub(super) mapping: Mapping,
}

impl Service {
    /// The layouts of other libraries in the database, what none of them explains, and the list `[[adopt]]` for them.
    pub async fn detect(&self) -> Result<Detection, Error> {
        let names = self.store.database_names().await?;
        let mut notes = Vec::new();
        let found = self.find_layouts(&names, &mut notes).await?;
        let unknown = self.unknown_labels(&names, &found, &mut notes).await?;
        let adopt = self.proposal(&found);
        let layouts = found.into_iter().map(|found| found.layout).collect();
        Ok(Detection { layouts, unknown, adopt, notes })
    }

    /// The layouts with nodes, without what none of them explains.
    pub(super) async fn detect_layouts(&self) -> Result<Vec<Layout>, Error> {
        let names = self.store.database_names().await?;
        let found = self.find_layouts(&names, &mut Vec::new()).await?;
        Ok(found.into_iter().map(|found| found.layout).collect())
    }

    /// The layouts with nodes: those of the configuration, and presets.
    pub(super) async fn find_layouts(
        &self,
        names: &DatabaseNames,
        notes: &mut Vec<String>,
    ) -> Result<Vec<FoundLayout>, Error> {
        let mut candidates = self.candidates();
        for index in 0..candidates.len() {
            let counts = self.count_nodes(&candidates, index, names).await?;
            candidates[index].nodes = counts;
        }
        let mut found = Vec::new();
        for candidate in candidates.iter().filter(|candidate| candidate.rows() > 0) {
            let rivals: Vec<&Candidate> = candidates
                .iter()
                .filter(|other| !std::ptr::eq(*other, candidate) && candidate.shares_with(other))
                .collect();
            let is_explained = rivals.iter().any(|rival| rival.has_own_rows());
            if !candidate.has_own_rows() && is_explained {
                continue;
            }
            let is_ambiguous = !rivals.is_empty() && (is_explained || !candidate.has_own_rows());
            found.push(self.describe(candidate, is_ambiguous.then_some(&rivals), names, notes).await?);
        }
        Ok(found)
    }

    /// The mappings of the configuration, then the presets of other libraries.
    fn candidates(&self) -> Vec<Candidate> {
        let presets = &self.config.presets;
        let adopted = self.store.mappings().iter().map(|mapping| Candidate {
            preset: presets.iter().find(|(_, known)| known.library == mapping.library).map(|(name, _)| *name),
            mapping: mapping.clone(),
            adopted: true,
            nodes: Vec::new(),
        });
        let mut candidates: Vec<Candidate> = adopted.collect();
        for (name, mapping) in presets {
            if !candidates.iter().any(|known| known.mapping.library == mapping.library) {
                let mapping = mapping.clone();
                candidates.push(Candidate { preset: Some(name), mapping, adopted: false, nodes: Vec::new() });
            }
        }
        candidates
    }

    async fn count_nodes(
        &self,
        candidates: &[Candidate],
        index: usize,
        names: &DatabaseNames,
    ) -> Result<Vec<MappedNodes>, Error> {
        let own = &candidates[index];
        let mut counts = Vec::new();
        for rule in &own.mapping.nodes {
            if !names.may_have(rule) {
                counts.push(MappedNodes::default());
                continue;
            }
            let others = candidates.iter().enumerate().filter(|(other, _)| *other != index);
            let rules =
                others.flat_map(|(_, other)| other.mapping.nodes.iter().map(move |rule| (other, rule)));
            let marks: Vec<Vec<&Name>> = rules
                .filter(|(_, other)| other.label == rule.label)
                // Of two layouts with one mark, that of the configuration has the rows.
                .filter(|(other, theirs)| other.adopted || !own.adopted || !theirs.marks().eq(rule.marks()))
                .map(|(_, other)| other.marks().collect())
                .collect();
            counts.push(self.store.mapped_nodes(&own.mapping, rule, &marks).await?);
        }
        Ok(counts)
    }

    async fn describe(
        &self,
        candidate: &Candidate,
        rivals: Option<&Vec<&Candidate>>,
        names: &DatabaseNames,
        notes: &mut Vec<String>,
    ) -> Result<FoundLayout, Error> {
        let Candidate { preset, mapping, adopted, nodes } = candidate;
        let (mut problems, mut vectors, mut types) = (Vec::new(), Vec::new(), Vec::new());
        let counted_nodes = || mapping.nodes.iter().zip(nodes).filter(|(_, count)| count.nodes > 0);
        for (rule, count) in counted_nodes() {
            let label = rule.label_name();
            let sample = self.store.sample_nodes(mapping, rule, &read_of_node(rule)).await?;
            problems.extend(faults_of_node(rule, &sample));
            vectors.extend(vector(label, rule.vector.as_ref(), &sample));
            if count.nodes >= ROWS_MAX {
                notes.push(format!("{label}: the first {} nodes were counted", thousands(ROWS_MAX)));
            }
        }
        for rule in &mapping.relationships {
            let name = rule.kind.as_ref().map_or("other types", Name::as_str);
            if rule.kind.as_ref().is_some_and(|kind| !names.types.contains(kind.as_str())) {
                continue;
            }
            let relationships = self.store.mapped_relationships(mapping, rule).await?;
            if relationships == 0 {
                continue;
            }
            if relationships >= ROWS_MAX {
                notes.push(format!("{name}: the first {} relationships were counted", thousands(ROWS_MAX)));
            }
            let sample = self.store.sample_relationships(mapping, rule, &read_of_relation(rule)).await?;
            problems.extend(faults_of_relation(name, rule, &sample));
            vectors.extend(vector(name, rule.vector.as_ref(), &sample));
            let kind = rule.kind.as_ref().map(ToString::to_string);
            types.push(TypeCount { kind, role: relation_role(rule.role), relationships });
        }
        let mut state = if problems.is_empty() { LayoutState::Known } else { LayoutState::UnknownVersion };
        if let Some(rivals) = rivals {
            state = LayoutState::Ambiguous;
            let shared: i64 = nodes.iter().map(|count| count.shared).sum();
            let names: Vec<&str> = rivals.iter().map(|rival| rival.mapping.library.as_str()).collect();
            let rows = counted(shared, "node has", "nodes have");
            problems.push(format!("{rows} the properties of {} too", names.join(" and ")));
        }
        let labels = counted_nodes().map(|(rule, count)| LabelCount {
            label: rule.label_name().to_owned(),
            role: node_role(rule.role),
            nodes: count.nodes,
        });
        let layout = Layout {
            library: mapping.library.clone(),
            preset: preset.map(str::to_owned),
            releases: mapping.releases.clone(),
            state,
            adopted: *adopted,
            problems,
            groups: groups(mapping, nodes, notes),
            nodes: labels.collect(),
            relationships: types,
            vectors,
        };
        Ok(FoundLayout { layout, mapping: mapping.clone() })
    }

    pub(super) async fn unknown_labels(
        &self,
        names: &DatabaseNames,
        found: &[FoundLayout],
        notes: &mut Vec<String>,
    ) -> Result<Vec<UnknownLabel>, Error> {
        let places = self.store.trails().allowed.labels().iter().map(|label| label.as_str());
        let own: Vec<&str> = OWN_LABELS.into_iter().chain(places).collect();
        let mappings: Vec<&Mapping> = found.iter().map(|found| &found.mapping).collect();
        let owners = mappings.iter().flat_map(|mapping| mapping.owners());
        let owners: BTreeSet<&str> = owners.map(|owner| owner.label.as_str()).collect();
        let mut unknown = Vec::new();
        let others = || {
            let is_read = |label: &str| own.contains(&label) || owners.contains(label);
            names.labels.iter().filter(move |label| !is_read(label) && !label.starts_with("Ebb"))
        };
        for label in others().take(LABELS_MAX) {
            let Ok(name) = Name::try_from(label.clone()) else {
                unknown.push(UnknownLabel { label: label.clone(), nodes: None });
                continue;
            };
            let count = self.store.unknown_nodes(&name, &mappings, &own).await?;
            if count.nodes > 0 {
                unknown.push(UnknownLabel { label: label.clone(), nodes: Some(count.nodes) });
            }
            if count.looked >= ROWS_MAX {
                notes.push(format!("{label}: the first {} nodes were looked at", thousands(ROWS_MAX)));
            }
        }
        if others().count() > LABELS_MAX {
            notes.push(format!("of all labels, the first {LABELS_MAX} were looked at"));
        }
        Ok(unknown)
    }

    /// The list `[[adopt]]` of all layouts that can be read.
    fn proposal(&self, found: &[FoundLayout]) -> String {
        let mut text = String::new();
        for FoundLayout { layout, mapping } in found {
            if layout.state != LayoutState::Known && !layout.adopted {
                continue;
            }
            // Writing into a String cannot fail.
            let _ = match layout.preset.as_deref() {
                Some(preset) => writeln!(text, "[[adopt]]\npreset = \"{preset}\""),
                None => writeln!(text, "# {}: as the configuration has it, with its file", mapping.library),
            };
            let Some(preset) = layout.preset.as_deref() else { continue };
            let known = self.config.presets.iter().find(|(name, _)| *name == preset);
            let is_changed = known.is_some_and(|(_, known)| known.scope.default != mapping.scope.default);
            let scope = toml_text(mapping.scope.default.as_str());
            let rows = match &layout.groups {
                Some(Groups { property, unscoped, .. }) if *unscoped > 0 => {
                    Some(format!("scope of {} without {property}", counted(*unscoped, "node", "nodes")))
                }
                Some(_) => None,
                None => Some("scope of all rows".to_owned()),
            };
            let _ = match (is_changed, rows) {
                (true, _) => writeln!(text, "scope = {scope}"),
                (false, Some(rows)) => writeln!(text, "# scope = {scope}  # {rows}"),
                (false, None) => Ok(()),
            };
        }
        text
    }
}

/// A text of TOML.
fn toml_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

pub(super) const fn node_role(role: NodeRole) -> &'static str {
    match role {
        NodeRole::Entity => "entity",
        NodeRole::Memory => "memory",
        NodeRole::Episode => "episode",
        NodeRole::Fact => "fact",
    }
}

const fn relation_role(role: RelationRole) -> &'static str {
    match role {
        RelationRole::Fact => "fact",
        RelationRole::Link => "link",
    }
}

fn groups(mapping: &Mapping, nodes: &[MappedNodes], notes: &mut Vec<String>) -> Option<Groups> {
    let owners: BTreeSet<String> = mapping.owners().map(ToString::to_string).collect();
    let property = mapping.scope.property.iter().map(ToString::to_string).chain(owners);
    let property = property.reduce(|one, next| format!("{one} or {next}"))?;
    let named: BTreeSet<&String> = nodes.iter().flat_map(|count| &count.groups).collect();
    let unscoped: i64 = nodes.iter().map(|count| count.unscoped).sum();
    if nodes.iter().any(|count| i64::try_from(count.groups.len()).is_ok_and(|groups| groups >= GROUPS_MAX)) {
        notes.push(format!("{property}: the first {} values of a label were counted", thousands(GROUPS_MAX)));
    }
    let default = mapping.scope.default.to_string();
    let is_named = named.contains(&default);
    let count = named.len() + usize::from(unscoped > 0 && !is_named);
    Some(Groups { property, count, unscoped, default })
}

fn read_of_node(rule: &NodeMapping) -> BTreeSet<&Name> {
    let one = rule.key.property().into_iter().chain(&rule.name).chain(&rule.vector);
    one.chain(&rule.text).chain(&rule.observed).collect()
}

fn read_of_relation(rule: &RelationMapping) -> BTreeSet<&Name> {
    let key = rule.key.as_ref().and_then(|key| key.property());
    let evidence = rule.evidence.as_ref().map(|evidence| &evidence.property);
    key.into_iter().chain(evidence).chain(&rule.vector).chain(&rule.observed).collect()
}

fn of<'a>(sample: &'a [PropertySample], name: &Name) -> Option<&'a PropertySample> {
    sample.iter().find(|row| row.property == name.as_str())
}

/// Whether rows of the sample have none of these properties.
fn lacks_all<'a>(sample: &[PropertySample], names: impl IntoIterator<Item = &'a Name>) -> bool {
    let mut names = names.into_iter().peekable();
    names.peek().is_some()
        && names.all(|name| of(sample, name).is_some_and(|row| row.rows > 0 && row.present == 0))
}

fn without_key(of_what: &str, key: Option<&Name>, sample: &[PropertySample]) -> Option<String> {
    let row = of(sample, key?)?;
    let without = row.rows - row.present;
    let rows = thousands(row.rows);
    (without > 0).then(|| format!("{} of {rows} {of_what} rows have no {}", thousands(without), row.property))
}

fn none_of(of_what: &str, names: &[&Name], sample: &[PropertySample]) -> String {
    let rows = sample.first().map_or(0, |row| row.rows);
    let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    format!(
        "none of {} has {}",
        counted(rows, &format!("{of_what} row"), &format!("{of_what} rows")),
        names.join(" or ")
    )
}

fn faults_of_node(rule: &NodeMapping, sample: &[PropertySample]) -> Vec<String> {
    let label = rule.label_name();
    let lists = [rule.name.iter().collect(), rule.text.iter().collect(), rule.observed.iter().collect()];
    let lists: [Vec<&Name>; 3] = lists;
    let missing = lists.iter().filter(|names| lacks_all(sample, names.iter().copied()));
    let missing = missing.map(|names| none_of(label, names, sample));
    without_key(label, rule.key.property(), sample).into_iter().chain(missing).collect()
}

fn faults_of_relation(name: &str, rule: &RelationMapping, sample: &[PropertySample]) -> Vec<String> {
    if rule.role == RelationRole::Link {
        return Vec::new();
    }
    let key = rule.key.as_ref().and_then(|key| key.property());
    let evidence = rule.evidence.as_ref().map(|evidence| &evidence.property);
    let observed: Vec<&Name> = rule.observed.iter().chain(evidence).collect();
    let missing = lacks_all(sample, observed.iter().copied());
    let missing = missing.then(|| none_of(name, &observed, sample));
    without_key(name, key, sample).into_iter().chain(missing).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts of a sample")]
fn vector(of_what: &str, property: Option<&Name>, sample: &[PropertySample]) -> Option<Vector> {
    let row = of(sample, property?)?;
    let dimensions = row.size?;
    let share = row.present as f64 / row.rows.max(1) as f64;
    Some(Vector { of: of_what.to_owned(), property: row.property.clone(), dimensions, share })
}
