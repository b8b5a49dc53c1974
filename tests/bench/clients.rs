//! Many clients at once: `cargo bench --bench clients -- [--clients 64] [--seconds 60] [--keyed]`.
//!
//! `ebb serve` without jobs stands over a server of its own, and each client, a thread with a connection, sends one request
//! after the other: by turns a new memory with a session and two mentions, and an access of one of its last ten. Reported are
//! writes a second, the times of the answers, the memory of the process, and the nodes of bookkeeping that are left at the end.
//! With `--keyed` each request has an `Idempotency-Key`.

#![expect(clippy::print_stdout, reason = "a benchmark talks to a person")]
#![expect(clippy::disallowed_methods, reason = "a second client, apart from the program that is measured")]

mod arguments;
mod bed;

use arguments::Arguments;
use bed::Bed;
use neo4rs::query;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use ureq::Agent;

const BOOKKEEPING: &str = "CALL () { MATCH (r:EbbRequest) RETURN count(r) AS requests }
CALL () { MATCH (c:EbbChange) RETURN count(c) AS changes }
CALL () { MATCH (b:EbbRequest|EbbChange) RETURN count(b) AS nodes }
CALL () { MATCH (m:EbbMemory) RETURN count(m) AS memories }
RETURN requests, changes, nodes, memories";

#[tokio::main]
async fn main() {
    let arguments = Arguments::of_process();
    let clients = arguments.number("--clients", 64);
    let seconds = arguments.number("--seconds", 60);
    let is_keyed = arguments.has("--keyed");
    let (bed, service) = Bed::open(None).await;
    drop(service);
    let (mut ebb, base) = bed.serve(&["--roles", "http"], &[("EBB__HTTP__RATE", "1000000")]);
    // The first seconds go uncounted: they meet a server that has planned nothing yet.
    drive(&base, "warm", clients, Duration::from_secs(10), is_keyed);
    let mut times = drive(&base, "run", clients, Duration::from_secs(seconds), is_keyed);
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 1_000].as_secs_f64() * 1e3;
    println!(
        "{clients} clients, {seconds} s{}: {:.0} writes/s; p50 {:.1} ms, p99 {:.1}, most {:.1}; {} MiB resident",
        if is_keyed { ", with keys" } else { "" },
        times.len() as f64 / seconds as f64,
        at(500),
        at(990),
        at(1_000),
        ebb.status("VmRSS").unwrap_or_default() / 1_024,
    );
    let graph = bed.client();
    let mut rows = graph.execute(query(BOOKKEEPING)).await.expect("a look");
    let row = rows.next().await.expect("a look").expect("a row");
    let count = |name| row.get::<i64>(name).expect("a number");
    println!(
        "{} memories beside {} nodes of bookkeeping ({} EbbRequest, {} EbbChange)",
        count("memories"),
        count("nodes"),
        count("requests"),
        count("changes")
    );
    assert!(ebb.stop().success());
    drop((rows, graph));
    bed.server.release().await.expect("the server stops");
}

/// What each request took, by all clients.
fn drive(base: &str, name: &str, clients: u64, how_long: Duration, is_keyed: bool) -> Vec<Duration> {
    std::thread::scope(|scope| {
        let each: Vec<_> = (0..clients)
            .map(|client| {
                scope.spawn(move || one_client(base, &format!("{name}-{client}"), how_long, is_keyed))
            })
            .collect();
        each.into_iter().flat_map(|client| client.join().expect("a client")).collect()
    })
}

fn one_client(base: &str, name: &str, how_long: Duration, is_keyed: bool) -> Vec<Duration> {
    let agent = Agent::new_with_defaults();
    let (begun, mut times) = (Instant::now(), Vec::new());
    for n in 0.. {
        if begun.elapsed() >= how_long {
            break;
        }
        let made = n / 2;
        let session = format!("{name}-{}", made / 20);
        let (path, body): (String, Value) = if n % 2 == 0 {
            let mentions = [format!("module {}", made % 97), format!("module {}", made % 89)];
            let content = format!("note {made} of {name}: the retry waits for the server");
            let body = json!({"id": format!("{name}-{made}"), "content": content, "session": session, "mentions": mentions});
            ("/v1/memories".to_owned(), body)
        } else {
            let id = format!("{name}-{}", made - (made * 7) % 10_i64.min(made + 1));
            (format!("/v1/memories/{id}/access"), json!({"session": session}))
        };
        let mut ask = agent.post(format!("{base}{path}"));
        if is_keyed {
            ask = ask.header("Idempotency-Key", format!("{name}-{n}"));
        }
        let sent = Instant::now();
        let answer = ask.send_json(&body).unwrap_or_else(|why| panic!("{path}: {why}"));
        drop(answer.into_body().read_to_vec());
        times.push(sent.elapsed());
    }
    times
}
