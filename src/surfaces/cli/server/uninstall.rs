//! `ebb uninstall`: what of Ebb's is in a database, and its removal.

use super::Uninstall;
use crate::surfaces::cli::Global;
use crate::surfaces::cli::confirm::confirm;
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::output::Output;
use ebb_core::service::{Footprint, Service};
use serde::Serialize;

#[derive(Serialize)]
struct Answer<'a> {
    uri: &'a str,
    own_nodes: i64,
    marked_nodes: i64,
    marked_relationships: i64,
    constraints: Vec<String>,
    indexes: Vec<String>,
    dry_run: bool,
}

/// Runs `ebb uninstall`. Asks before it changes anything.
pub async fn uninstall(
    args: &Uninstall,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let (store, uri) = (service.store(), service.store().uri());
    let mut found = store.footprint().await?;
    let is_absent = found.is_empty();
    if !is_absent && !args.dry_run {
        let question =
            format!("Remove Ebb from the database at {uri}, which cannot be undone: {}?", parts(&found));
        confirm(&question, global.yes).await?;
        found = store.uninstall().await?;
    }
    let parts = parts(&found);
    let answer = Answer {
        uri,
        own_nodes: found.nodes,
        marked_nodes: found.marked,
        marked_relationships: found.relationships,
        constraints: found.constraints.into_iter().collect(),
        indexes: found.indexes.into_iter().collect(),
        dry_run: args.dry_run,
    };
    output.emit("uninstall", &answer, |page| {
        page.paragraph(&match (is_absent, args.dry_run) {
            (true, _) => format!("The database at {uri} has nothing of Ebb's."),
            (false, true) => format!("The database at {uri} has {parts}. Nothing was removed."),
            (false, false) => format!("Removed from the database at {uri}: {parts}."),
        });
        if !is_absent {
            page.paragraph("Memories, facts, relations, sessions, clusters, places, and files and commits of git stay, with their state.");
        }
    })
}

fn parts(found: &Footprint) -> String {
    let count = |number: usize, one: &str, several: &str| match number {
        1 => format!("1 {one}"),
        n => format!("{n} {several}"),
    };
    let rows = |number: i64| usize::try_from(number).unwrap_or(0);
    [
        count(rows(found.nodes), "node of its own", "nodes of its own"),
        count(rows(found.marked), "mark on another node", "marks on other nodes"),
        count(rows(found.relationships), "mark on a relationship", "marks on relationships"),
        count(found.constraints.len(), "constraint", "constraints"),
        count(found.indexes.len(), "index", "indexes"),
    ]
    .join(", ")
}
