//! A memory as text: a list of fields, a row of a table.

use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::instant::readable;
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::page::{Column, Page};
pub(super) use ebb_core::api::memory::Memory;
use ebb_core::domain::annotations::Provenance;
use ebb_core::domain::units::Timestamp;
use serde_json::Value;

/// Lays out all fields of a memory, one a line.
pub(super) fn card(memory: &Memory, page: &mut Page) {
    if let Some(content) = &memory.content {
        page.paragraph(content);
        page.line("");
    }
    let mut fields: Vec<(&str, String)> = vec![("id", memory.id.clone())];
    let mut field = |name, value: Option<String>| fields.extend(value.map(|value| (name, value)));
    let instant = |at: Option<Timestamp>| at.map(|at| format!("{} UTC", readable(at)));
    let several = |list: &[String]| (!list.is_empty()).then(|| list.join(", "));
    field("quarantined", memory.quarantined.clone());
    field("tier", memory.tier.map(|tier| tier.to_string()));
    field("energy", memory.energy.map(|energy| format!("{energy:.3} at {} UTC", readable(memory.at))));
    field("tunables", memory.fallback_tunables.map(|used| format!("{used}; those of the graph are invalid")));
    field(
        "pinned",
        memory.pinned.filter(|pinned| *pinned).map(|_| "yes: no decay, expiry or promotion".to_owned()),
    );
    field("ready since", instant(memory.ripe_at));
    field("created", instant(memory.created));
    field(
        "accessed",
        memory.access_count.map(|count| {
            let last = memory.last_accessed.map(readable).unwrap_or_default();
            format!("{count} {}, last {last} UTC", if count == 1 { "time" } else { "times" })
        }),
    );
    field(
        "strengthened",
        (memory.reinforcement_count > 0).then(|| format!("{} times", memory.reinforcement_count)),
    );
    field("session", memory.session.clone());
    field("instance", memory.instance.clone());
    field("mentions", several(&memory.mentions));
    field("tags", several(&memory.tags));
    field("metadata", memory.metadata.clone().map(|fields| Value::Object(fields).to_string()));
    field("changed", instant(memory.updated));
    field("source", memory.provenance.as_ref().map(source).filter(|source| !source.is_empty()));
    field("excerpt", memory.provenance.as_ref().and_then(|known| known.excerpt.clone()));
    field("clusters", several(&memory.clusters));
    field("promoted from", memory.promoted_from.clone());
    field("scope", memory.scope.clone());
    page.fields(&fields);
}

/// A provenance on one line, without its excerpt.
pub(in crate::surfaces::cli) fn source(known: &Provenance) -> String {
    let lines = match (known.line_start, known.line_end) {
        (Some(first), Some(last)) if first != last => Some(format!("lines {first}-{last}")),
        (first, last) => first.or(last).map(|line| format!("line {line}")),
    };
    let namespace = known.namespace.as_ref().map(|name| format!("namespace {name}"));
    let canonical = known.canonical.then(|| "canonical".to_owned());
    let parts = [known.source_path.clone(), lines, namespace, canonical];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn row(memory: &Memory, with_access: bool) -> Vec<String> {
    let mut row = vec![
        memory.id.clone(),
        memory.tier.map_or_else(|| "quarantined".to_owned(), |tier| tier.to_string()),
        memory.energy.map_or_else(|| "-".to_owned(), |energy| format!("{energy:.3}")),
    ];
    if with_access {
        row.push(memory.last_accessed.map(readable).unwrap_or_default());
    }
    row.push(memory.content.clone().unwrap_or_default());
    row
}

/// Memories as a table; the last access has room on a wide terminal only.
pub(super) fn table(page: &mut Page, memories: &[Memory]) {
    let wide = page.width() >= 100;
    let mut columns = vec![Column::left("ID"), Column::left("TIER"), Column::right("ENERGY")];
    if wide {
        columns.push(Column::left("LAST ACCESS (UTC)"));
    }
    columns.push(Column::cut("CONTENT"));
    page.table(&columns, memories.iter().map(|memory| row(memory, wide)));
}

/// Prints the memories that were written: one as itself, several as a list.
pub(super) fn emit(
    output: &Output,
    verb: &str,
    memories: &[Memory],
    heading: impl Fn(&Memory) -> String,
) -> Result<(), CliError> {
    match memories {
        [one] => output.emit(verb, one, |page| {
            page.heading(&heading(one));
            page.line("");
            card(one, page);
        }),
        _ => output.emit_list(verb, "memories", memories, |page| {
            memories.iter().for_each(|memory| page.line(&heading(memory)));
            page.line("");
            table(page, memories);
        }),
    }
}
