//! `ebb memory show`, `list` and `versions`.

use super::layout::{Memory, card, table};
use super::{List, key};
use crate::surfaces::cli::ReadOptions;
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::instant::readable;
use crate::surfaces::cli::output::{Format, Output};
use ebb_core::api::memory_update::Versions;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::{MemoryOrder, Service};
use serde_json::Value;

/// Rows asked for at once where all are listed.
const PAGE: u32 = 1_000;

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
            page.line(&format!("{id} has not changed. `ebb memory update {id} --content TEXT` changes it."));
        }
        for version in &versions.versions {
            let instant = |at: Option<Timestamp>| at.map_or_else(|| "?".to_owned(), readable);
            page.heading(&format!("{} to {} UTC", instant(version.since), instant(version.until)));
            page.paragraph(version.content.as_deref().unwrap_or_default());
            let tags = version.tags.join(", ");
            let metadata = Value::Object(version.metadata.clone()).to_string();
            let fields = [("tags", tags), ("metadata", metadata)];
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

pub(super) async fn list(args: &List, service: &Service, output: &Output) -> Result<(), CliError> {
    let at = args.when.instant(service).await?;
    let filter = args.conditions.filter(service).await?;
    let order = if args.newest { MemoryOrder::Newest } else { MemoryOrder::Id };
    let page = async |after: &str, limit: u32| {
        Ok::<_, CliError>(service.list(service.scope(), (&filter, order), (after, limit), at).await?)
    };
    let memories =
        |page: Vec<(String, Memory)>| page.into_iter().map(|(_, memory)| memory).collect::<Vec<_>>();
    if args.limit > 0 {
        // One more than is shown says whether there are more.
        let mut found = page("", args.limit.saturating_add(1)).await?;
        let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
        let more = found.len() > limit;
        found.truncate(limit);
        emit(&memories(found), output)?;
        if more {
            let order = if args.newest { "the newest" } else { "by id" };
            output.remark(&format!("the first {limit}, {order}; --limit 0 lists all"));
        }
        return Ok(());
    }
    let mut all: Vec<Memory> = Vec::new();
    let mut after = String::new();
    loop {
        let found = page(&after, PAGE).await?;
        let last = found.last().filter(|_| found.len() == PAGE as usize).map(|(cursor, _)| cursor.clone());
        if output.format == Format::Ndjson {
            emit(&memories(found), output)?;
        } else {
            all.extend(memories(found));
        }
        match last {
            Some(last) => after = last,
            None if output.format == Format::Ndjson => return Ok(()),
            None => return emit(&all, output),
        }
    }
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
