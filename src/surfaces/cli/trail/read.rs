//! `ebb trail status`, `hot`, `cold`, `path` and `next`.

use super::super::CliError;
use super::super::ReadOptions;
use super::super::output::Output;
use super::super::page::Column;
use super::{place, table_of_edges, table_of_places};
use ebb_core::api::trail::NextPlace;
use ebb_core::service::Service;

pub(super) async fn status(
    name: &str,
    to: Option<&str>,
    when: &ReadOptions,
    service: &Service,
    output: &Output,
) -> Result<(), CliError> {
    let at = when.instant(service).await?;
    let to = to.map(|to| place(to, service)).transpose()?;
    let answer = service.trail_status(service.scope(), &place(name, service)?, to.as_ref(), at).await?;
    output.emit("trail.status", &answer, |page| {
        table_of_places(page, &answer.nodes);
        if !answer.edges.is_empty() {
            page.line("");
            table_of_edges(page, &answer.edges);
        }
    })
}

pub(super) async fn hot(
    limit: u32,
    when: &ReadOptions,
    service: &Service,
    output: &Output,
) -> Result<(), CliError> {
    let at = when.instant(service).await?;
    let hot = service.hot_trails(service.scope(), usize::try_from(limit).unwrap_or(usize::MAX), at).await?;
    let edges = hot.found;
    output.emit_list("trail.hot", "edges", &edges, |page| {
        if edges.is_empty() {
            page.line("No edge carries success or traversal.");
        } else {
            table_of_edges(page, &edges);
        }
    })
}

pub(super) async fn cold(
    limit: u32,
    when: &ReadOptions,
    service: &Service,
    output: &Output,
) -> Result<(), CliError> {
    let at = when.instant(service).await?;
    let cold = service.cold_places(service.scope(), usize::try_from(limit).unwrap_or(usize::MAX), at).await?;
    let nodes = cold.found;
    output.emit_list("trail.cold", "nodes", &nodes, |page| {
        if nodes.is_empty() {
            page.line("No places.");
        } else {
            table_of_places(page, &nodes);
        }
    })
}

pub(super) async fn path(
    from: &str,
    to: &str,
    when: &ReadOptions,
    service: &Service,
    output: &Output,
) -> Result<(), CliError> {
    let at = when.instant(service).await?;
    let (from, to) = (place(from, service)?, place(to, service)?);
    let answer = service.cheapest_path(service.scope(), &from, &to, at).await?;
    output.emit("trail.path", &answer, |page| {
        match answer.cost {
            None => page.line(&format!("No path from {from} to {to}.")),
            Some(cost) => {
                let over = answer.edges.iter().map(Some).chain(std::iter::once(None));
                for (node, edge) in answer.nodes.iter().zip(over) {
                    page.line(&match edge {
                        Some(edge) => format!("{node}  {} {:.3}", edge.kind, edge.cost),
                        None => node.to_string(),
                    });
                }
                page.line(&format!("Cost: {cost:.3}."));
            }
        }
        if answer.truncated {
            page.line(&format!("The search stopped after {} places: a cheaper path may exist.", answer.read));
        }
    })
}

pub(super) async fn next(
    name: &str,
    limit: u32,
    when: &ReadOptions,
    service: &Service,
    output: &Output,
) -> Result<(), CliError> {
    let at = when.instant(service).await?;
    let from = place(name, service)?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let found = service.next_places(service.scope(), &from, limit, at).await?;
    let candidates = found.found;
    output.emit_list("trail.next", "candidates", &candidates, |page| {
        if candidates.is_empty() {
            page.line(&format!("No edge from {from}."));
            return;
        }
        let columns =
            [Column::left("PLACE"), Column::left("TYPE"), Column::right("COST"), Column::right("SCORE")];
        let row = |one: &NextPlace| {
            [one.node.to_string(), one.kind.clone(), format!("{:.3}", one.cost), format!("{:.3}", one.score)]
        };
        page.table(&columns, candidates.iter().map(row));
    })
}
