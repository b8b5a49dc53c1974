//! `ebb memory add`, `update`, `access`, `pin`, `unpin` and `forget`.

use super::conditions::object;
use super::layout::{Memory, emit};
use super::{Access, Add, Forget, Update, memory_id};
use crate::surfaces::cli::confirm::confirm;
use crate::surfaces::cli::exit::{CliError, conclude};
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::{Global, WriteOptions};
use ebb_core::api::memory_list::ForgottenMemories;
use ebb_core::api::memory_update::MemoryPatch;
use ebb_core::domain::annotations::{Annotations, Metadata};
use ebb_core::domain::event::{Access as Used, Remember};
use ebb_core::domain::ids::{EntityName, InstanceId, MemoryId, MemoryKey, SessionId};
use ebb_core::domain::memory::Revive;
use ebb_core::service::memories::{RequestId, WriteMode};
use ebb_core::service::{Error, EventEffect, Service};
use serde::Serialize;
use serde_json::Value;

fn session(text: Option<&str>) -> Result<Option<SessionId>, CliError> {
    text.map(SessionId::new).transpose().map_err(CliError::usage)
}

pub(super) async fn add(
    args: &Add,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let content = content(args).await?;
    // Words that cannot be stored are refused before anybody is asked about instants.
    let mentions = args.mentions.iter().map(|name| EntityName::new(name)).collect::<Result<_, _>>();
    let metadata = Metadata::new(object(args.metadata.iter().cloned())).map_err(CliError::usage)?;
    let annotations = Annotations::new(&args.tags, args.source.provenance());
    let mode = args.write.mode();
    let id = memory_id(&args.id.clone().unwrap_or_else(|| mode.names()))?;
    let embedding = args.embedding.clone().map(|numbers| service.embedding(&id, numbers));
    let remember = Remember {
        id,
        scope: service.scope().clone(),
        content,
        session: session(args.session.as_deref())?,
        instance: args.instance.as_deref().map(InstanceId::new).transpose().map_err(CliError::usage)?,
        mentions: mentions.map_err(CliError::usage)?,
        pinned: args.pinned,
        embedding: embedding.transpose().map_err(CliError::usage)?,
        annotations: annotations.map_err(CliError::usage)?.with_metadata(metadata),
        at: args.write.instant(service, global).await?,
    };
    let remember = remember.checked().map_err(CliError::usage)?;
    let memory = service.remember(&mode, remember).await?;
    emit(output, "memory.add", &[memory], heading)
}

/// Standard input is read by a thread of its own, so that an interrupt is heard meanwhile.
async fn content(args: &Add) -> Result<String, CliError> {
    let args = args.clone();
    let read = tokio::task::spawn_blocking(move || args.content(&mut std::io::stdin().lock()));
    read.await.map_err(|gone| CliError::failed("standard input cannot be read").why(gone))?
}

pub(super) async fn update(
    args: &Update,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let id = memory_id(&args.id)?;
    let removed = args.unset.iter().map(|name| (name.clone(), Value::Null));
    let patch = MemoryPatch {
        content: args.content.clone(),
        tags: (args.no_tags || !args.tags.is_empty()).then(|| args.tags.clone()),
        metadata: object(args.metadata.iter().cloned().chain(removed)),
        embedding: args.embedding.clone(),
        scope: None,
        at: None,
    };
    let update = service.checked_update(&id, patch)?;
    let at = args.write.instant(service, global).await?;
    let key = MemoryKey::new(service.scope(), &id);
    let memory = service.update(&args.write.mode(), &key, &update, at).await?;
    let done = if args.write.dry_run { "would be changed" } else { "changed" };
    emit(output, "memory.update", &[memory], |memory| format!("{}: {done}", memory.id))
}

pub(super) async fn access(
    args: &Access,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let ids = memory_ids(&args.ids)?;
    let session = session(args.session.as_deref())?;
    let at = args.write.instant(service, global).await?;
    let revive = if args.no_revive { Revive::No } else { Revive::Yes };
    let scope = service.scope().clone();
    let used =
        |id: &MemoryId| Used { at, id: id.clone(), scope: scope.clone(), session: session.clone(), revive };
    let touched = service.access_all(&args.write.mode(), &ids, used, at).await?;
    emit(output, "memory.access", &touched, heading)
}

pub(super) async fn pin(
    ids: &[String],
    write: &WriteOptions,
    pin: bool,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let ids = memory_ids(ids)?;
    let at = write.instant(service, global).await?;
    let memories = service.pin(&write.mode(), (service.scope(), &ids), pin, at).await?;
    let dry_run = write.dry_run;
    let (verb, done, would) = if pin {
        ("memory.pin", "pinned", "would be pinned")
    } else {
        ("memory.unpin", "unpinned", "would be unpinned")
    };
    let heading = |memory: &Memory| format!("{}: {}", memory.id, if dry_run { would } else { done });
    emit(output, verb, &memories, heading)
}

pub(super) async fn merge(
    (id, duplicates): (&str, &[String]),
    write: &WriteOptions,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let (kept, duplicates) = (memory_id(id)?, memory_ids(duplicates)?);
    let at = write.instant(service, global).await?;
    if !write.dry_run {
        let many = match duplicates.as_slice() {
            [one] => format!("memory {one}"),
            several => format!("{} memories", several.len()),
        };
        confirm(&format!("Merge {many} into {kept}, and delete what was merged?"), global.yes).await?;
    }
    let memory = service.merge(&write.mode(), (service.scope(), &kept), &duplicates, at).await?;
    let what = if write.dry_run { "would be merged" } else { "merged" };
    let heading = |memory: &Memory| format!("{}: {} {what} into it", memory.id, duplicates.len());
    emit(output, "memory.merge", &[memory], heading)
}

#[derive(Serialize)]
struct ForgetReport {
    forgotten: Vec<String>,
    /// Memories and stubs.
    nodes: i64,
    dry_run: bool,
}

pub(super) async fn forget(
    args: &Forget,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let ids = memory_ids(&args.ids)?;
    match (ids.is_empty(), args.conditions.is_empty()) {
        (true, false) => return forget_where(args, service, output, global).await,
        (false, true) => {}
        (true, true) => {
            return Err(
                CliError::usage("neither ids nor conditions are given").try_this("ebb memory forget --help")
            );
        }
        (false, false) => {
            return Err(CliError::usage("both ids and conditions are given")
                .why("the memories to delete are named or described")
                .try_this("ebb memory forget --help"));
        }
    }
    let at = args.write.instant(service, global).await?;
    let dry_run = args.write.dry_run;
    let many = match ids.as_slice() {
        [one] => format!("memory {one}"),
        several => format!("{} memories", several.len()),
    };
    if !dry_run {
        let question = format!("Delete {many} for good, with the stubs of their promotions?");
        confirm(&question, global.yes).await?;
    }
    let all = (service.scope(), ids.as_slice());
    let nodes = service.forget(&args.write.mode(), all, at, args.accept_affected).await?;
    let answer = ForgetReport { forgotten: ids.iter().map(ToString::to_string).collect(), nodes, dry_run };
    output.emit("memory.forget", &answer, |page| {
        let stubs = usize::try_from(nodes).unwrap_or(0).saturating_sub(ids.len());
        let stubs = match stubs {
            0 => String::new(),
            1 => " and 1 stub of a promotion".to_owned(),
            n => format!(" and {n} stubs of promotions"),
        };
        page.line(&if dry_run {
            format!("Would delete {many}{stubs}.")
        } else {
            format!("Deleted {many}{stubs}.")
        });
    })
}

/// Deletes what fulfils conditions, in portions, each once under its own request id.
async fn forget_where(
    args: &Forget,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let filter = args.conditions.filter(service).await?;
    let at = args.write.instant(service, global).await?;
    let chosen = (service.scope(), &filter);
    let counted = service.forget_where(&WriteMode::DryRun, chosen, at, args.accept_affected).await?;
    let all = counted.memories + counted.left;
    let mut done = ForgottenMemories { dry_run: args.write.dry_run, ..counted };
    if !args.write.dry_run && all > 0 {
        confirm(&format!("Delete {all} memories for good, with the stubs of their promotions?"), global.yes)
            .await?;
        done = service.forget_where(&args.write.mode(), chosen, at, args.accept_affected).await?;
        if args.write.request_id.is_some() {
            // A repeat gets the recorded answer of the first portion and deletes nothing: the memories there are now count.
            let now = service.forget_where(&WriteMode::DryRun, chosen, at, Some(all)).await?;
            let left = now.memories + now.left;
            let deleted = (all - left).max(0);
            let nodes = if deleted > 0 { done.nodes } else { 0 };
            done = ForgottenMemories { memories: deleted, nodes: nodes.max(deleted), left, ..done };
        }
        // The guard has accepted so many: those that others write meanwhile are left to another command.
        while done.left > 0 && done.memories < all {
            let mode = WriteMode::from(RequestId::or_new("cli", None));
            let next = match service.forget_where(&mode, chosen, at, Some(all - done.memories)).await {
                Err(Error::Guarded(_)) => break,
                next => next?,
            };
            done.memories += next.memories;
            done.nodes += next.nodes;
            done.left = next.left;
            if next.memories == 0 {
                break;
            }
        }
    }
    let printed = output.emit("memory.forget", &done, |page| {
        let stubs = done.nodes - done.memories;
        page.line(&if done.dry_run {
            format!("Would delete {all} memories.")
        } else {
            format!("Deleted {} memories and {stubs} stubs of promotions.", done.memories)
        });
    });
    let verdict = match done.left {
        left if left > 0 && !done.dry_run => Err(CliError::failed(format!("{left} memories are left"))
            .why("others wrote them, or held them, at the same time")
            .try_this("the same command with another --request-id, or without one")),
        _ => Ok(()),
    };
    conclude(printed, verdict)
}

/// The ids as they were typed, each once.
fn memory_ids(typed: &[String]) -> Result<Vec<MemoryId>, CliError> {
    let mut ids: Vec<MemoryId> = Vec::new();
    for id in typed {
        let id = memory_id(id)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

fn heading(memory: &Memory) -> String {
    let id = &memory.id;
    match (memory.did, memory.dry_run) {
        (Some(EventEffect::Created), false) => format!("{id}: added"),
        (Some(EventEffect::Created), true) => format!("{id}: would be added"),
        (Some(EventEffect::Revived), false) => format!("{id}: revived after expiry"),
        (Some(EventEffect::Revived), true) => format!("{id}: would be revived after expiry"),
        (_, false) => format!("{id}: accessed"),
        (_, true) => format!("{id}: would be accessed"),
    }
}
