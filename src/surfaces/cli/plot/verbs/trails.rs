//! `ebb plot trails`: the hottest edges.

use super::{Target, drawn, target, written};
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::instant::readable;
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::plot::Picture;
use crate::surfaces::cli::plot::trails::{Edge, TrailsPlot};
use ebb_core::api::trail::TrailEdge;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::Service;

pub(super) async fn run(
    limit: u16,
    picture: &Picture,
    service: &Service,
    output: &Output,
) -> Result<(), CliError> {
    let at = picture.when.instant(service).await?;
    let limit = usize::from(limit);
    match target(picture, output) {
        Target::Svg(to) => written(&hottest(service, limit, at).await?.svg(), to, output),
        Target::Numbers => {
            let edges = service.hot_trails(service.scope(), limit, at).await?.found;
            output.emit_list("plot.trails", "edges", &edges, |_| {})
        }
        Target::Terminal => {
            drawn(&hottest(service, limit, at).await?.terminal(output.width, output.color), output)
        }
    }
}

/// A picture of the edges on which most lies.
pub(in crate::surfaces::cli) async fn hottest(
    service: &Service,
    limit: usize,
    at: Timestamp,
) -> Result<TrailsPlot, CliError> {
    let hot = service.hot_trails(service.scope(), limit, at).await?;
    let edge = |seen: TrailEdge| Edge {
        name: format!("{} {} {}", seen.from.id, seen.kind, seen.to.id),
        success: seen.success,
        traversal: seen.traversal,
        recency: seen.recency,
        cost: seen.cost,
        base: seen.base_cost,
    };
    Ok(TrailsPlot {
        title: format!("Hottest trails at {} UTC, cycle {}", readable(at), hot.cycle),
        edges: hot.found.into_iter().map(edge).collect(),
    })
}
