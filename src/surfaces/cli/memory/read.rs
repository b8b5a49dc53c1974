//! `ebb memory show` and `list`.

use super::layout::{Memory, card, table};
use super::{List, key};
use crate::surfaces::cli::ReadOptions;
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::output::{Format, Output};
use ebb_core::domain::units::Timestamp;
use ebb_core::service::{Filter, Service};

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

pub(super) async fn list(args: &List, service: &Service, output: &Output) -> Result<(), CliError> {
    let at = args.when.instant(service).await?;
    if args.limit > 0 {
        // One more than is shown says whether there are more.
        let mut memories = page(args, service, "", args.limit.saturating_add(1), at).await?;
        let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
        let more = memories.len() > limit;
        memories.truncate(limit);
        emit(&memories, output)?;
        if more {
            output.remark(&format!("the first {limit}, by id; --limit 0 lists all"));
        }
        return Ok(());
    }
    let mut all: Vec<Memory> = Vec::new();
    let mut after = String::new();
    loop {
        let memories = page(args, service, &after, PAGE, at).await?;
        let last =
            memories.last().filter(|_| memories.len() == PAGE as usize).map(|memory| memory.id.clone());
        if output.format == Format::Ndjson {
            emit(&memories, output)?;
        } else {
            all.extend(memories);
        }
        match last {
            Some(last) => after = last,
            None if output.format == Format::Ndjson => return Ok(()),
            None => return emit(&all, output),
        }
    }
}

/// The next memories by id. Each tier is asked for on its own.
async fn page(
    args: &List,
    service: &Service,
    after: &str,
    limit: u32,
    at: Timestamp,
) -> Result<Vec<Memory>, CliError> {
    let mut found: Vec<Memory> = Vec::new();
    let tiers =
        if args.tiers.is_empty() { vec![None] } else { args.tiers.iter().copied().map(Some).collect() };
    for tier in tiers {
        let filter = Filter { tier, session: args.session.clone(), after: after.to_owned() };
        found.extend(service.list(service.scope(), &filter, limit, at).await?);
    }
    found.sort_by(|a, b| a.id.cmp(&b.id));
    found.dedup_by(|a, b| a.id == b.id);
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(found)
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
