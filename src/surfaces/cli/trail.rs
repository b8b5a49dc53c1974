//! `ebb trail`: the palace, what agents leave in it, and where that leads.

mod read;
mod write;

use super::exit::CliError;
use super::output::Output;
use super::page::{Column, Page};
use super::{Global, ReadOptions, RunOptions, WriteOptions};
use clap::{Args, Subcommand};
use ebb_core::api::trail::{TrailEdge, TrailPlace};
use ebb_core::domain::event::PlaceName;
use ebb_core::service::Service;
use ebb_core::service::trails::place_name;

/// The verbs of `ebb trail`.
#[derive(Debug, Clone, Subcommand)]
pub enum Verb {
    /// Places of the palace
    #[command(subcommand)]
    Node(NodeVerb),
    /// Edges between places
    #[command(subcommand)]
    Edge(EdgeVerb),
    /// Say that a path led to something: its edges become cheaper, its places more worth coming back to
    Deposit(DepositArgs),
    /// Say that somebody searched at a place: others are sent elsewhere for a while
    Explore {
        /// The place: an id, or Label:id
        #[arg(value_name = "PLACE")]
        place: String,
        /// When, whether for real, and under which request id.
        #[command(flatten)]
        write: WriteOptions,
    },
    /// Show what is left at a place, or on the edges between two
    Status {
        /// The place: an id, or Label:id
        #[arg(value_name = "PLACE")]
        place: String,
        /// The other end, to see the edges between the two
        #[arg(value_name = "TO")]
        to: Option<String>,
        /// As of when.
        #[command(flatten)]
        when: ReadOptions,
    },
    /// List the edges with most success and traversal left
    Hot {
        /// This many at most
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        /// As of when.
        #[command(flatten)]
        when: ReadOptions,
    },
    /// List the places with least exploitation and exploration left
    Cold {
        /// This many at most
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        /// As of when.
        #[command(flatten)]
        when: ReadOptions,
    },
    /// Find the cheapest way between two places
    #[command(
        after_help = "Examples:\n  ebb trail path w1 d7\n  ebb trail path Room:r1 Entity:Alex --at -7d"
    )]
    Path {
        /// Where it begins: an id, or Label:id
        #[arg(value_name = "FROM")]
        from: String,
        /// Where it is to lead: an id, or Label:id
        #[arg(value_name = "TO")]
        to: String,
        /// As of when.
        #[command(flatten)]
        when: ReadOptions,
    },
    /// List where one might go from a place, what draws most first
    Next {
        /// The place: an id, or Label:id
        #[arg(value_name = "PLACE")]
        place: String,
        /// This many at most
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        /// As of when.
        #[command(flatten)]
        when: ReadOptions,
    },
    /// Let everything evaporate to the present cycle, as the job evaporate does when it is time
    Evaporate {
        /// Also where pheromones.decay_interval_cycles have not yet passed
        #[arg(long)]
        force: bool,
        /// When, and whether for real.
        #[command(flatten)]
        options: RunOptions,
    },
    /// Show the present cycle, or add some by hand
    Cycle(CycleArgs),
}

/// The verbs of `ebb trail node`.
#[derive(Debug, Clone, Subcommand)]
pub enum NodeVerb {
    /// Add a place; one that exists stays as it is, but for its name
    Add(NodeArgs),
}

/// The verbs of `ebb trail edge`.
#[derive(Debug, Clone, Subcommand)]
pub enum EdgeVerb {
    /// Add an edge between two places; one that exists stays as it is, but for its base cost
    Add(EdgeArgs),
}

/// `ebb trail node add`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  ebb trail node add Wing w1 --name \"Projects\"\n  ebb trail node add Room r1"
)]
pub struct NodeArgs {
    /// Its label, one of pheromones.labels
    #[arg(value_name = "LABEL")]
    pub label: String,
    /// Its id, unique among those of its label; of an Entity its name
    #[arg(value_name = "ID")]
    pub id: String,
    /// What people call it
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// When, whether for real, and under which request id.
    #[command(flatten)]
    pub write: WriteOptions,
}

/// `ebb trail edge add`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  ebb trail edge add w1 HAS_ROOM r1\n  ebb trail edge add Room:r1 HALL Room:r2 --base-cost 0.4"
)]
pub struct EdgeArgs {
    /// Where it begins: an id, or Label:id
    #[arg(value_name = "FROM")]
    pub from: String,
    /// Its type, one of pheromones.relationship_types
    #[arg(value_name = "TYPE")]
    pub kind: String,
    /// Where it ends: an id, or Label:id
    #[arg(value_name = "TO")]
    pub to: String,
    /// What it costs where nobody has walked, 0 to 10 [default: that of its type]
    #[arg(long, value_name = "X")]
    pub base_cost: Option<f64>,
    /// When, whether for real, and under which request id.
    #[command(flatten)]
    pub write: WriteOptions,
}

/// `ebb trail deposit`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  ebb trail deposit w1 r1 Closet:c1 d1 --reward 0.5\n  ebb trail deposit r1 r2 --via TUNNEL"
)]
pub struct DepositArgs {
    /// The places of the path in order, two or more: ids, or Label:id
    #[arg(value_name = "PLACE", num_args = 2.., required = true)]
    pub path: Vec<String>,
    /// What it led to was worth this, above 0 and at most 10; the first edge earns it whole, later ones less
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    pub reward: f64,
    /// The type or the id of the edge of each step, in order [default: the one that is there, of several the cheapest]
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    pub via: Vec<String>,
    /// When, whether for real, and under which request id.
    #[command(flatten)]
    pub write: WriteOptions,
}

/// `ebb trail cycle`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Cycles that are added fade every trail of every scope, for good. A guard stops what would add more than 100 at once, and
names the number to accept; 10,000 is the most.

Examples:
  ebb trail cycle
  ebb trail cycle --advance 10")]
pub struct CycleArgs {
    /// Add this many cycles by hand
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub advance: Option<u32>,
    /// Go ahead although a guard stopped it: the number of cycles that it named
    #[arg(long, value_name = "N", requires = "advance")]
    pub accept_cycles: Option<u32>,
    /// When, whether for real, and under which request id.
    #[command(flatten)]
    pub write: WriteOptions,
}

fn place(text: &str, service: &Service) -> Result<PlaceName, CliError> {
    place_name(text, service.allowed()).map_err(CliError::usage)
}

fn table_of_places(page: &mut Page, places: &[TrailPlace]) {
    let columns = [Column::left("PLACE"), Column::right("EXPLOITATION"), Column::right("EXPLORATION")];
    let row = |place: &TrailPlace| {
        [place.node.to_string(), format!("{:.3}", place.exploitation), format!("{:.3}", place.exploration)]
    };
    page.table(&columns, places.iter().map(row));
}

fn table_of_edges(page: &mut Page, edges: &[TrailEdge]) {
    let columns = [
        Column::left("FROM"),
        Column::left("TYPE"),
        Column::left("TO"),
        Column::right("SUCCESS"),
        Column::right("TRAVERSAL"),
        Column::right("RECENCY"),
        Column::right("COST"),
    ];
    let row = |edge: &TrailEdge| {
        let number = |value: f64| format!("{value:.3}");
        let [success, traversal, recency, cost] =
            [edge.success, edge.traversal, edge.recency, edge.cost].map(number);
        [edge.from.to_string(), edge.kind.clone(), edge.to.to_string(), success, traversal, recency, cost]
    };
    page.table(&columns, edges.iter().map(row));
}

/// Runs a verb.
pub async fn run(verb: &Verb, service: &Service, output: &Output, global: &Global) -> Result<(), CliError> {
    match verb {
        Verb::Node(NodeVerb::Add(args)) => write::node(args, service, output, global).await,
        Verb::Edge(EdgeVerb::Add(args)) => write::edge(args, service, output, global).await,
        Verb::Deposit(args) => write::deposit(args, service, output, global).await,
        Verb::Explore { place, write } => write::explore(place, write, service, output, global).await,
        Verb::Evaporate { force, options } => {
            write::evaporate(*force, options, service, output, global).await
        }
        Verb::Cycle(args) => write::cycle(args, service, output, global).await,
        Verb::Status { place, to, when } => read::status(place, to.as_deref(), when, service, output).await,
        Verb::Hot { limit, when } => read::hot(*limit, when, service, output).await,
        Verb::Cold { limit, when } => read::cold(*limit, when, service, output).await,
        Verb::Path { from, to, when } => read::path(from, to, when, service, output).await,
        Verb::Next { place, limit, when } => read::next(place, *limit, when, service, output).await,
    }
}
