//! `ebb engine communities`: communities, their members, and the nodes that bridge them.

use super::{above_0, close};
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::output::{Format, Output};
use crate::surfaces::cli::page::{Column, Page};
use crate::surfaces::cli::recall::term;
use clap::Args;
use ebb_core::api::engine::{Bridge, CommunitiesAnswer, CommunitiesRequest};
use ebb_core::domain::ids::Term;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// `ebb engine communities`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  ebb engine communities\n  ebb engine communities --node Kestrel --graph docs/stories/team.json\n  ebb engine communities --all -o ndjson      # which node is in which"
)]
pub struct CommunitiesArgs {
    /// Only the community of this id (of an entity: its name), and its bridges
    #[arg(long, value_name = "ID", value_parser = term)]
    pub node: Option<Term>,
    /// Resolution: above 1 for smaller communities
    #[arg(long, value_name = "R", default_value_t = 1.0, value_parser = above_0)]
    pub resolution: f32,
    /// Maximum number of communities
    #[arg(long, value_name = "K", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub top: u16,
    /// Maximum number of members of each, by PageRank [default: 5, and 20 with --node]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub members: Option<u16>,
    /// All communities with all their members; as ndjson one line per node
    #[arg(long, conflicts_with_all = ["top", "members"])]
    pub all: bool,
    /// Use this snapshot file (JSON version 3) instead of the database
    #[arg(long, value_name = "FILE")]
    pub graph: Option<PathBuf>,
}

impl CommunitiesArgs {
    pub(super) fn request(&self) -> CommunitiesRequest {
        CommunitiesRequest {
            resolution: self.resolution,
            node: self.node.clone(),
            all: self.all,
            top_k: usize::from(self.top),
            members: self.members.map(usize::from),
            scope: None,
        }
    }
}

pub(super) fn print(
    args: &CommunitiesArgs,
    answer: &CommunitiesAnswer,
    output: &Output,
) -> Result<(), CliError> {
    if args.all && output.format == Format::Ndjson {
        return output.emit_list("engine.communities", "hits", &answer.hits, |_| {});
    }
    output.emit("engine.communities", answer, |page| lay_out(args.node.is_some(), answer, page))
}

fn lay_out(of_one: bool, answer: &CommunitiesAnswer, page: &mut Page) {
    if !answer.hits.is_empty() {
        lay_out_members(answer, page);
    }
    if !answer.bridges.is_empty() {
        page.line("");
        page.heading(if of_one { "Bridges of this community" } else { "Bridges between communities" });
        let columns = [
            Column::right("OUTSIDE"),
            Column::right("INSIDE"),
            Column::right("COMMUNITY"),
            Column::left("TO"),
            Column::left("KIND"),
            Column::left("ID"),
            Column::cut("LABEL"),
        ];
        page.table(&columns, answer.bridges.iter().map(joined));
    }
    let mut line = format!("{} communities, modularity {:.4}", answer.count, answer.modularity);
    if answer.alone > 0 {
        line += &format!("; {} of them of one node", answer.alone);
    }
    if answer.left_out > 0 {
        line += &format!("; {} nodes are not shown", answer.left_out);
    }
    close(&answer.state, &format!("{line}."), page);
}

/// Members by community; number and size stand beside the first of each.
fn lay_out_members(answer: &CommunitiesAnswer, page: &mut Page) {
    let columns = [
        Column::right("COMMUNITY"),
        Column::right("SIZE"),
        Column::right("PAGERANK"),
        Column::left("KIND"),
        Column::left("ID"),
        Column::cut("LABEL"),
    ];
    let sizes: BTreeMap<u32, usize> = answer.communities.iter().map(|of| (of.community, of.size)).collect();
    let mut last = None;
    let rows = answer.hits.iter().map(|hit| {
        let (mut number, mut size) = (String::new(), String::new());
        if last.replace(hit.community) != Some(hit.community) {
            number = hit.community.to_string();
            size = sizes.get(&hit.community).map(usize::to_string).unwrap_or_default();
        }
        let rank = format!("{:.4}", hit.score);
        [number, size, rank, hit.node.kind.clone(), hit.node.id.clone(), hit.node.label.clone()]
    });
    page.table(&columns, rows);
}

fn joined(bridge: &Bridge) -> [String; 7] {
    let ties: Vec<String> =
        bridge.ties.iter().map(|tie| format!("{} ({:.2})", tie.community, tie.weight)).collect();
    [
        format!("{:.2}", bridge.outside),
        format!("{:.2}", bridge.inside),
        bridge.community.to_string(),
        ties.join(", "),
        bridge.node.kind.clone(),
        bridge.node.id.clone(),
        bridge.node.label.clone(),
    ]
}
