//! The whole graph as sorted lines of text, so that two states of it can be compared to the bit.
//!
//! A float is written with its bits, an instant with its zone and nanoseconds, a node by its labels and all its
//! properties, a relationship with the names of its ends: ids of the server play no part.

use super::neo4j::Client;
use neo4rs::BoltType;
use serde::Deserialize;
use std::collections::HashSet;

/// Labels of records about work done, and properties that only lock.
const BOOKKEEPING: [&str; 10] = [
    "EbbChange",
    "EbbRun",
    "EbbCounter",
    "EbbRequest",
    "EbbImport",
    "EbbMigration",
    "ConsolidationAttempt",
    "ConsolidationConfig",
    "EbbSettings",
    "EbbJournal",
];
const LOCKS: [&str; 2] = ["ebbLock", "lock"];

/// Everything there is, locks and bookkeeping included.
pub(crate) async fn everything(client: &Client) -> Vec<String> {
    lines(client, &[], &[]).await
}

/// What agents would call the graph: without locks and bookkeeping.
pub(crate) async fn remembered(client: &Client) -> Vec<String> {
    lines(client, &BOOKKEEPING, &LOCKS).await
}

/// The same without places in the queue for clustering.
pub(crate) async fn unqueued(client: &Client) -> Vec<String> {
    lines(client, &BOOKKEEPING, &["ebbLock", "lock", "clusterDue"]).await
}

/// All but the ledger, the words of changes, the requests, the attempts, the dates of migrations and the locks: what a replay that was killed
/// and repeated must leave to the bit.
pub(crate) async fn replayed(client: &Client) -> Vec<String> {
    lines(
        client,
        &[
            "EbbChange",
            "EbbRun",
            "EbbRequest",
            "EbbJournal",
            "ConsolidationAttempt",
            "EbbMigration",
            "EbbSettings",
        ],
        &LOCKS,
    )
    .await
}

/// Asserts that two states are one, and says where they part.
pub(crate) fn same(before: &[String], after: &[String], why: &str) {
    let (here, there): (HashSet<_>, HashSet<_>) = (before.iter().collect(), after.iter().collect());
    let gone = before.iter().find(|line| !there.contains(line));
    let new = after.iter().find(|line| !here.contains(line));
    assert!(gone.is_none() && new.is_none(), "{why}\n  before: {gone:?}\n  after:  {new:?}");
    assert_eq!(before.len(), after.len(), "{why}: a line more than once");
}

async fn lines(client: &Client, without: &[&str], nor: &[&str]) -> Vec<String> {
    #[derive(Deserialize)]
    struct Node {
        labels: Vec<String>,
        props: BoltType,
    }
    #[derive(Deserialize)]
    struct Edge {
        a: Vec<String>,
        from: BoltType,
        kind: String,
        props: BoltType,
        b: Vec<String>,
        to: BoltType,
    }
    let hidden = |labels: &[String]| labels.iter().any(|label| without.contains(&label.as_str()));
    let nodes: Vec<Node> =
        client.rows("MATCH (n) RETURN labels(n) AS labels, properties(n) AS props", &[]).await;
    let edges: Vec<Edge> = client
        .rows(
            "MATCH (a)-[r]->(b) RETURN labels(a) AS a, properties(a) AS from, type(r) AS kind, \
             properties(r) AS props, labels(b) AS b, properties(b) AS to",
            &[],
        )
        .await;
    let mut lines: Vec<String> = nodes
        .into_iter()
        .filter(|node| !hidden(&node.labels))
        .map(|node| format!("({} {})", sorted(node.labels), text(&node.props, nor)))
        .chain(edges.into_iter().filter(|edge| !hidden(&edge.a) && !hidden(&edge.b)).map(|edge| {
            let (from, to) = (name(edge.a, &edge.from), name(edge.b, &edge.to));
            format!("{from}-[{} {}]->{to}", edge.kind, text(&edge.props, nor))
        }))
        .collect();
    lines.sort();
    lines
}

fn sorted(mut labels: Vec<String>) -> String {
    labels.sort();
    labels.join(":")
}

fn name(labels: Vec<String>, props: &BoltType) -> String {
    let BoltType::Map(map) = props else { unreachable!("properties are a map") };
    let of = |key: &str| map.value.get(key).map(|value| text(value, &[]));
    let keys = ["scope", "id", "name", "job", "occurrence", "key", "version"];
    format!("({} {})", sorted(labels), keys.iter().filter_map(|key| of(key)).collect::<Vec<_>>().join(" "))
}

/// A value with its type and all its bits.
pub(crate) fn text(value: &BoltType, without: &[&str]) -> String {
    match value {
        BoltType::Map(map) => {
            let mut entries: Vec<String> = map
                .value
                .iter()
                .filter(|(key, _)| !without.contains(&key.value.as_str()))
                .map(|(key, value)| format!("{}: {}", key.value, text(value, without)))
                .collect();
            entries.sort();
            format!("{{{}}}", entries.join(", "))
        }
        BoltType::List(list) => {
            format!("[{}]", list.value.iter().map(|v| text(v, without)).collect::<Vec<_>>().join(", "))
        }
        BoltType::Float(value) => format!("{} ({:016x})", value.value, value.value.to_bits()),
        BoltType::Integer(value) => value.value.to_string(),
        BoltType::String(value) => format!("{:?}", value.value),
        BoltType::Boolean(value) => value.value.to_string(),
        BoltType::DateTime(at) => match chrono::DateTime::<chrono::FixedOffset>::try_from(at) {
            Ok(at) => at.format("%FT%T%.9f%:z").to_string(),
            // A year that chrono does not know.
            Err(_) => format!("{at:?}"),
        },
        other => format!("{other:?}"),
    }
}
