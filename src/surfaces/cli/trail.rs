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
    /// Manage places
    #[command(subcommand)]
    Node(NodeVerb),
    /// Manage edges between places
    #[command(subcommand)]
    Edge(EdgeVerb),
    /// Deposit pheromones along a path that led to something
    Deposit(DepositArgs),
    /// Deposit exploration at a place that was searched
    Explore {
        /// Place: an id, or Label:id
        #[arg(value_name = "PLACE")]
        place: String,
        /// Write options.
        #[command(flatten)]
        write: WriteOptions,
    },
    /// Show the pheromones of a place, or of the edges between two
    Status {
        /// Place: an id, or Label:id
        #[arg(value_name = "PLACE")]
        place: String,
        /// Other place, to show the edges between the two
        #[arg(value_name = "TO")]
        to: Option<String>,
        /// Read options.
        #[command(flatten)]
        when: ReadOptions,
    },
    /// List the edges with the most success and traversal
    Hot {
        /// Maximum number of results
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        /// Read options.
        #[command(flatten)]
        when: ReadOptions,
    },
    /// List the places with the least exploitation and exploration
    Cold {
        /// Maximum number of results
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        /// Read options.
        #[command(flatten)]
        when: ReadOptions,
    },
    /// Find the cheapest path between two places
    #[command(
        after_help = "Examples:\n  ebb trail path w1 d7\n  ebb trail path Room:r1 Entity:Alex --at -7d"
    )]
    Path {
        /// Start: an id, or Label:id
        #[arg(value_name = "FROM")]
        from: String,
        /// End: an id, or Label:id
        #[arg(value_name = "TO")]
        to: String,
        /// Read options.
        #[command(flatten)]
        when: ReadOptions,
    },
    /// List the next places, most attractive first
    Next {
        /// Place: an id, or Label:id
        #[arg(value_name = "PLACE")]
        place: String,
        /// Maximum number of results
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        /// Read options.
        #[command(flatten)]
        when: ReadOptions,
    },
    /// Evaporate all pheromones to the current cycle, as the job evaporate does
    Evaporate {
        /// Also before pheromones.decay_interval_cycles have passed
        #[arg(long)]
        force: bool,
        /// Run options.
        #[command(flatten)]
        options: RunOptions,
    },
    /// Show the current cycle, or advance it
    Cycle(CycleArgs),
}

/// The verbs of `ebb trail node`.
#[derive(Debug, Clone, Subcommand)]
pub enum NodeVerb {
    /// Add a place; of an existing one only the name changes
    #[command(
        after_help = "Examples:\n  ebb trail node add Wing w1 --name \"Projects\"\n  ebb trail node add Room r1"
    )]
    Add {
        /// Label, one of pheromones.labels
        #[arg(value_name = "LABEL")]
        label: String,
        /// Id, unique within the label; of an Entity its name
        #[arg(value_name = "ID")]
        id: String,
        /// Display name
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Write options.
        #[command(flatten)]
        write: WriteOptions,
    },
}

/// The verbs of `ebb trail edge`.
#[derive(Debug, Clone, Subcommand)]
pub enum EdgeVerb {
    /// Add an edge between two places; of an existing one only the base cost changes
    #[command(
        after_help = "Examples:\n  ebb trail edge add w1 HAS_ROOM r1\n  ebb trail edge add Room:r1 HALL Room:r2 --base-cost 0.4"
    )]
    Add {
        /// Start: an id, or Label:id
        #[arg(value_name = "FROM")]
        from: String,
        /// Type, one of pheromones.relationship_types
        #[arg(value_name = "TYPE")]
        kind: String,
        /// End: an id, or Label:id
        #[arg(value_name = "TO")]
        to: String,
        /// Base cost, 0 to 10 [default: that of the type]
        #[arg(long, value_name = "X")]
        base_cost: Option<f64>,
        /// Write options.
        #[command(flatten)]
        write: WriteOptions,
    },
}

/// `ebb trail deposit`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  ebb trail deposit w1 r1 Closet:c1 d1 --reward 0.5\n  ebb trail deposit r1 r2 --via TUNNEL"
)]
pub struct DepositArgs {
    /// Places of the path in order, two or more: ids, or Label:id
    #[arg(value_name = "PLACE", num_args = 2.., required = true)]
    pub path: Vec<String>,
    /// Reward, above 0 and at most 10; the first edge earns all of it, later edges less
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    pub reward: f64,
    /// Type or id of the edge of each step, in order [default: the existing edge, the cheapest of several]
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    pub via: Vec<String>,
    /// Write options.
    #[command(flatten)]
    pub write: WriteOptions,
}

/// `ebb trail cycle`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Advancing the cycle fades every trail of every scope, for good. A guard stops more than 100 cycles at once and names the number
to accept; the maximum is 10,000.

Examples:
  ebb trail cycle
  ebb trail cycle --advance 10")]
pub struct CycleArgs {
    /// Advance by this many cycles
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub advance: Option<u32>,
    /// Override the guard: the number of cycles it named
    #[arg(long, value_name = "N", requires = "advance")]
    pub accept_cycles: Option<u32>,
    /// Write options.
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
        Verb::Node(verb) => write::node(verb, service, output, global).await,
        Verb::Edge(verb) => write::edge(verb, service, output, global).await,
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
