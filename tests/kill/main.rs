//! The kill harness: real worker processes on a real server, hurt on a schedule that follows from a seed, and judged.
//!
//! ```text
//! cargo test --test kill -- --rounds 300 --workers 8 --seed 7             kills at every stop point, short leases
//! cargo test --test kill -- --rounds 30 --workers 8 --seed 7 --defaults   at default leases, with the times of re-takes
//! cargo test --test kill -- --rounds 40 --mix pause,partition,server      what else can happen
//! cargo test --test kill -- --rounds 40 --mix skew,slow,full,readonly,foreign,poison,api
//! cargo test --test kill -- --planted all --rounds 200
//! ```
//!
//! A **round** is one hurt in a standing population: clients go on making, using, pinning and forgetting memories, ending
//! sessions and accessing rows of another library's graph, through Ebb's own service and, but for pins, half of it through API processes,
//! whose connections are cut at commits now and then; eight or so workers run the jobs every second and learn from outcomes. One of the workers is killed,
//! paused, cut off, has a wrong clock or slow clients; or an API process is killed; or the server is killed, has a full disk or takes no
//! writes; or another program writes rows of its own, or values that no law can use. Every ten rounds the clients pause, the workers come to rest and are told to
//! stop; the graph is read, and the checker, a process of its own (`--check FOLDER`), judges it by the whole history.
//!
//! What befalls whom follows from seed and round alone, and is printed: `--seed S --from R` goes on at round R. When the
//! blow falls is up to the machine, so a repeat is alike and not equal. Histories, logs and graphs lie in the folder that
//! is printed; `--check` judges it again.
//!
//! | flag | default | |
//! |---|---|---|
//! | `--rounds` | 10 | how many hurts |
//! | `--workers` | 4 | processes that work |
//! | `--apis` | 2 | processes that serve HTTP |
//! | `--seed`, `--from` | 1, 0 | the schedule, and where in it to begin |
//! | `--mix` | `kill` | kinds of rounds, in turns: `kill`, `api`, `pause`, `partition`, `skew`, `slow`, `server`, `full`, `readonly`, `foreign`, `poison` |
//! | `--defaults` | no | leases of 15 s rather than 1.5 s |
//! | `--planted` | none | a bug of `tests/kill/planted`, or `all`: each built into a copy of the sources; succeeds when it is caught |

#![expect(clippy::unwrap_used, reason = "a draw that cannot be made fails the test")]
#![expect(clippy::large_futures, reason = "a handful of them, for as long as the program")]
#![expect(clippy::print_stdout, reason = "what a campaign says is its result")]

mod api;
mod arguments;
mod checker;
mod client;
mod disruption;
mod graph;
mod history;
mod observer;
mod planted;
#[expect(dead_code, reason = "shared with the tests on a server, which use more of it")]
#[path = "../it/harness/proxy.rs"]
mod proxy;
#[expect(dead_code, reason = "shared with the tests on a server, which use more of it")]
#[path = "../it/harness/random.rs"]
mod random;
mod report;
mod rounds;
mod rows;
mod server;
mod server_rounds;
mod slow;
mod worker;

use arguments::Arguments;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args().len() == 1 {
        println!("nothing is killed unless it is asked for, as in: cargo test --test kill -- --rounds 10");
        return ExitCode::SUCCESS;
    }
    let arguments = match Arguments::of(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    let passed = match &arguments.check {
        Some(folder) => judge(folder),
        None => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads");
            runtime.block_on(rounds::all(&arguments))
        }
    };
    match passed {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// The checker as a program: a folder with histories and a graph, and nothing else.
fn judge(folder: &Path) -> Result<(), String> {
    let history = history::read(folder)?;
    let path = folder.join("graph.json");
    let text = std::fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
    let graph = serde_json::from_str(&text).map_err(|why| format!("{}: {why}", path.display()))?;
    let verdict = checker::check(&history, &graph);
    println!("{} lines; {:?}", history.len(), verdict.judged);
    for why in &verdict.inconclusive {
        println!("undecided: {why}");
    }
    if verdict.is_good() {
        return Ok(());
    }
    let told: Vec<String> =
        verdict.violations.iter().take(12).map(|(which, why)| format!("{which}: {why}")).collect();
    Err(format!("{} promises broken\n{}", verdict.violations.len(), told.join("\n")))
}
