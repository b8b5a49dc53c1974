//! `ebb engine queries`: the earlier queries of a scope, as the running `ebb serve` holds them.
//!
//! They are kept in the memory of the process that answered them, so this verb asks it over HTTP and needs no database.

use crate::surfaces::cli::exit::{CliError, Exit};
use crate::surfaces::cli::instant::readable;
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::page::{Column, Page};
use clap::Args;
use ebb_core::api::recall::{PastQuery, QueriedNode, Queries, SeedPair};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `ebb engine queries`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  ebb engine queries\n  ebb engine queries --limit 5 --scope team --key-file admin.key"
)]
pub struct QueriesArgs {
    /// Maximum number of queries, of nodes and of pairs
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub limit: u16,
    /// File with an API key that may administer the scope; needed once a key exists (ebb key create)
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
}

/// Longest wait for the answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Asks the API at an address, and prints its answer.
pub fn run(args: &QueriesArgs, address: SocketAddr, scope: &str, output: &Output) -> Result<(), CliError> {
    let answer = ask(args, address, scope)?;
    output.emit("engine.queries", &answer, |page| lay_out(&answer, page))
}

fn ask(args: &QueriesArgs, address: SocketAddr, scope: &str) -> Result<Queries, CliError> {
    let agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(TIMEOUT))
        .proxy(None)
        .build()
        .new_agent();
    let mut request = agent.get(format!("http://{address}/v1/engine/queries"));
    request = request.query("limit", args.limit.to_string()).query("scope", scope);
    if let Some(file) = &args.key_file {
        request = request.header("Authorization", format!("Bearer {}", key(file)?));
    }
    let mut response = request.call().map_err(|why| {
        CliError::new(Exit::Failed, format!("no `ebb serve` answers at {address}"))
            .why(why)
            .why("earlier queries are held by the process that answered them")
            .try_this("ebb serve, or set http.listen to the address of the one that runs")
    })?;
    let body = response.body_mut().read_to_vec().map_err(|why| CliError::failed("no answer").why(why))?;
    if !response.status().is_success() {
        let problem: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
        let status = response.status().as_u16();
        let why = problem["detail"].as_str().unwrap_or("the answer is not one of Ebb's");
        let error = CliError::failed(format!("the API at {address} answered {status}")).why(why);
        return Err(if matches!(status, 401 | 403) {
            error.try_this("ebb engine queries --key-file FILE, with a key of `ebb key create --right admin`")
        } else {
            error
        });
    }
    serde_json::from_slice(&body)
        .map_err(|why| CliError::failed(format!("{address} is not an API of this version of Ebb")).why(why))
}

fn key(file: &Path) -> Result<String, CliError> {
    let text = std::fs::read_to_string(file)
        .map_err(|why| CliError::usage(format!("the key file {} cannot be read", file.display())).why(why))?;
    Ok(text.trim().to_owned())
}

fn lay_out(answer: &Queries, page: &mut Page) {
    if answer.queries.is_empty() {
        page.line("No queries yet.");
        return;
    }
    let columns = [Column::left("AT"), Column::cut("QUERY"), Column::cut("SEEDS"), Column::cut("HITS")];
    page.table(&columns, answer.queries.iter().map(past));
    page.line("");
    let columns = [Column::right("QUERIES"), Column::right("AS SEED"), Column::cut("ID")];
    page.table(&columns, answer.nodes.iter().map(node));
    if !answer.pairs.is_empty() {
        page.line("");
        let columns = [Column::right("TOGETHER"), Column::cut("SEED"), Column::cut("SEED")];
        page.table(&columns, answer.pairs.iter().map(pair));
    }
    page.line("");
    page.line(&format!("{} queries are held; seeds that come together prime later ones.", answer.count));
}

fn past(query: &PastQuery) -> [String; 4] {
    let PastQuery { text, queried_at, seeds, activated } = query;
    [readable(*queried_at), text.clone(), seeds.join(", "), activated.join(", ")]
}

fn node(node: &QueriedNode) -> [String; 3] {
    [node.frequency.to_string(), node.seeded.to_string(), node.id.clone()]
}

fn pair(pair: &SeedPair) -> [String; 3] {
    let [one, other] = pair.ids.clone();
    [pair.count.to_string(), one, other]
}
