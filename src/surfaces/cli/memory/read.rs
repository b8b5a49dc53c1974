//! `ebb memory show`, `list`, `versions` and `duplicates`.

use super::layout::{Memory, card, table};
use super::{List, key};
use crate::surfaces::cli::ReadOptions;
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::instant::readable;
use crate::surfaces::cli::output::{Format, Output};
use ebb_core::api::duplicates::{DuplicatesQuery, Group};
use ebb_core::api::memory_update::Versions;
use ebb_core::domain::ids::shell_word;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::{MemoryOrder, Service};
use serde_json::Value;

/// Rows asked for at once where all are listed.
const PAGE: usize = 1_000;

pub(super) async fn show(
    id: &str,
    when: &ReadOptions,
    service: &Service,
    output: &Output,
) -> Result<(), CliError> {
    let at = when.instant(service).await?;
    let shown = service.show(&key(id, service)?, at).await?;
    output.emit("memory.show", &shown, |page| card(&shown, page))
}

pub(super) async fn versions(id: &str, service: &Service, output: &Output) -> Result<(), CliError> {
    let versions = service.versions(&key(id, service)?).await?;
    let versions = Versions { versions: versions.into_iter().map(Into::into).collect() };
    output.emit("memory.versions", &versions, |page| {
        if versions.versions.is_empty() {
            let word = shell_word(id);
            page.line(&format!(
                "{id} has not changed. `ebb memory update {word} --content TEXT` changes it."
            ));
        }
        for version in &versions.versions {
            let instant = |at: Option<Timestamp>| at.map_or_else(|| "?".to_owned(), readable);
            page.heading(&format!("{} to {} UTC", instant(version.since), instant(version.until)));
            page.paragraph(version.content.as_deref().unwrap_or_default());
            let tags = version.tags.join(", ");
            let metadata = Value::Object(version.metadata.clone()).to_string();
            let merged_from = version.merged_from.clone().unwrap_or_default();
            let fields = [("merged from", merged_from), ("tags", tags), ("metadata", metadata)];
            page.fields(
                &fields
                    .into_iter()
                    .filter(|(_, value)| !matches!(value.as_str(), "" | "{}"))
                    .collect::<Vec<_>>(),
            );
            page.line("");
        }
    })
}

pub(super) async fn duplicates(
    (min_similarity, limit): (f64, u32),
    when: &ReadOptions,
    service: &Service,
    output: &Output,
) -> Result<(), CliError> {
    let query = DuplicatesQuery { min_similarity: Some(min_similarity), limit: Some(limit), scope: None };
    let found = service.duplicates(service.scope(), &query, when.instant(service).await?).await?;
    output.emit("memory.duplicates", &found, |page| {
        for Group { keep, content, duplicates, count } in &found.groups {
            page.heading(keep);
            page.paragraph(content);
            for duplicate in duplicates {
                page.line(&format!("  {}  {:.2}  {}", duplicate.id, duplicate.similarity, duplicate.content));
            }
            let ids: Vec<String> = duplicates.iter().map(|one| shell_word(&one.id)).collect();
            if *count > ids.len() {
                page.line(&format!("  and {} more: merge these, and list again", count - ids.len()));
            }
            page.line(&format!("  ebb memory merge {} {}", shell_word(keep), ids.join(" ")));
            page.line("");
        }
        let of_all = if found.complete { "" } else { ", not all of the scope" };
        page.line(&format!("{} groups among {} memories{of_all}.", found.found, found.compared));
    })
}

pub(super) async fn list(args: &List, service: &Service, output: &Output) -> Result<(), CliError> {
    let at = args.when.instant(service).await?;
    let filter = args.conditions.filter(service).await?;
    let order = if args.newest { MemoryOrder::Newest } else { MemoryOrder::Id };
    let limit = usize::try_from(args.limit).ok().filter(|limit| *limit > 0);
    let streams = limit.is_none() && output.format == Format::Ndjson;
    let mut all: Vec<Memory> = Vec::new();
    let mut next = Some(String::new());
    while let Some(after) = next.take() {
        let room = limit.map_or(PAGE, |limit| (limit - all.len()).min(PAGE));
        let (found, continues) = service.list(service.scope(), (&filter, order), (&after, room), at).await?;
        if streams {
            emit(&found, output)?;
        } else {
            all.extend(found);
        }
        next = continues;
        if limit.is_some_and(|limit| all.len() >= limit) {
            break;
        }
    }
    if streams {
        return Ok(());
    }
    emit(&all, output)?;
    if let Some(limit) = limit.filter(|_| next.is_some()) {
        let order = if args.newest { "the newest" } else { "by id" };
        output.remark(&format!("the first {limit}, {order}; --limit 0 lists all"));
    }
    Ok(())
}

fn emit(memories: &[Memory], output: &Output) -> Result<(), CliError> {
    output.emit_list("memory.list", "memories", memories, |page| {
        if memories.is_empty() {
            page.line("No memories. `ebb memory add \"CONTENT\"` makes one.");
        } else {
            table(page, memories);
        }
    })
}
