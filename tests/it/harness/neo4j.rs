//! The tests' servers and a clean database on one of them.
//!
//! There are two servers, so that two tests run beside each other; the second one starts when it is first needed. One test at a
//! time has a database: [`fresh`] is a guard that wipes it first, and refuses one that does not carry the harness's own marker (an
//! index, so that it is not a node among those that are looked at).

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a second client, apart from the store"
)]

use crate::harness::server::Address;
use ebb_core::domain::tunables::ConsolidationConfig;
use ebb_core::domain::units::Timestamp;
use ebb_core::store::{Config, Store};
use neo4rs::{BoltType, Graph, query};
use std::sync::LazyLock;
use std::time::Duration;
use tokio::sync::{Mutex, MutexGuard, OnceCell, Semaphore, SemaphorePermit};

/// A server, which one test at a time has.
struct Slot {
    address: OnceCell<Address>,
    turn: Mutex<()>,
}

static SLOTS: [Slot; 2] = [const { Slot { address: OnceCell::const_new(), turn: Mutex::const_new(()) } }; 2];
/// As many permits as there are servers: one if it is given.
static FREE: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(if super::server::is_given() { 1 } else { SLOTS.len() }));

/// A clean database that no other test touches meanwhile.
pub(crate) struct Fresh {
    /// The product's own store.
    pub(crate) store: Store,
    /// How it connects: for a second one.
    pub(crate) config: Config,
    /// A second client.
    pub(crate) client: Client,
    /// Where the server answers HTTP.
    pub(crate) http: String,
    // Given back in this order: who has the permit finds a free server.
    _turn: MutexGuard<'static, ()>,
    _permit: SemaphorePermit<'static>,
}

/// 2026-01-01T00:00:00Z.
pub(crate) const START: i64 = 1_767_225_600_000;

/// The one constraint that a test makes as a person would; whoever wipes the database drops it.
pub(crate) const OWN_CONSTRAINT: &str = "a_persons_own";

/// Constraints as a person could have them, each on a property of its own that only rows of a test have. They stand from
/// the server's first test on: to make or to drop one takes every plan from the server, and tests after it wait for new ones.
const STANDING_CONSTRAINTS: [(&str, &str); 8] = [
    ("(m:Memory)", "(m.energyAt, m.poison_energyAt)"),
    ("(m:Memory)", "(m.dueAt, m.poison_dueAt)"),
    ("(m:Memory)", "(m.tier, m.poison_tier)"),
    ("(f:Fact)", "(f.assertedAt, f.poison_assertedAt)"),
    ("(n:Room)", "(n.pheromone_cycle, n.poison_cycle)"),
    ("()-[r:HALL]-()", "(r.pheromone_cycle, r.poison_cycle)"),
    ("()-[r:RELATES_TO]-()", "(r.weight, r.poison_weight)"),
    ("()-[r:RELATES_TO]-()", "(r.baseWeight, r.poison_baseWeight)"),
];

/// The instant that many hours after [`START`].
pub(crate) fn at(hours: f64) -> Timestamp {
    Timestamp::from_millis(START).unwrap().after(hours * 3_600_000.0)
}

/// A client beside the store.
pub(crate) struct Client(Graph);

impl Client {
    /// Runs statements of a test and returns the first column of the rows.
    pub(crate) async fn column<T: serde::de::DeserializeOwned>(&self, text: &str) -> Vec<T> {
        let mut rows = self.0.execute(query(text)).await.unwrap();
        let mut column = Vec::new();
        while let Some(row) = rows.next().await.unwrap() {
            let first = row.keys()[0].value.clone();
            column.push(row.get::<T>(&first).unwrap());
        }
        column
    }

    /// The one value that a statement returns.
    pub(crate) async fn value<T: serde::de::DeserializeOwned>(&self, text: &str) -> T {
        let mut column = self.column(text).await;
        assert_eq!(column.len(), 1, "one row: {text}");
        column.remove(0)
    }

    /// Runs a statement with parameters and returns its rows, each as a struct with a field for each column.
    pub(crate) async fn rows<T: serde::de::DeserializeOwned>(
        &self,
        text: &str,
        params: &[(&str, BoltType)],
    ) -> Vec<T> {
        let call = params.iter().fold(query(text), |call, (name, value)| call.param(name, value.clone()));
        let mut rows = self.0.execute(call).await.unwrap();
        let mut all = Vec::new();
        while let Some(row) = rows.next().await.unwrap() {
            all.push(row.to().unwrap());
        }
        all
    }

    /// Begins a transaction that the test drives by hand.
    pub(crate) async fn begin(&self) -> neo4rs::Txn {
        self.0.start_txn().await.unwrap()
    }

    /// Begins a transaction that holds the lock of a memory until the test ends it.
    pub(crate) async fn lock(&self, id: &str) -> neo4rs::Txn {
        let mut tx = self.begin().await;
        touch(&mut tx, id).await.unwrap();
        tx
    }

    /// Runs a statement for its effect, with parameters.
    pub(crate) async fn run(&self, text: &str, params: &[(&str, BoltType)]) {
        let call = params.iter().fold(query(text), |call, (name, value)| call.param(name, value.clone()));
        let mut rows = self.0.execute(call).await.unwrap();
        while rows.next().await.unwrap().is_some() {}
    }
}

/// Runs a statement in a transaction that the test drives by hand, to its last row.
pub(crate) async fn run(tx: &mut neo4rs::Txn, text: &str) -> Result<usize, neo4rs::Error> {
    let mut rows = tx.execute(query(text)).await?;
    let mut count = 0;
    while rows.next(tx.handle()).await?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// Locks a memory in a transaction that the test drives by hand.
pub(crate) async fn touch(tx: &mut neo4rs::Txn, id: &str) -> Result<usize, neo4rs::Error> {
    run(tx, &format!("MATCH (m:Memory {{id: '{id}'}}) SET m.touched = true RETURN m.id")).await
}

/// A clean, initialised database.
pub(crate) async fn fresh() -> Fresh {
    let fresh = empty().await;
    fresh.store.initialise(&ConsolidationConfig::DOCUMENTED, at(0.0)).await.unwrap();
    fresh
}

/// A clean database that nobody has initialised since; the constraints of an earlier test may be there.
pub(crate) async fn empty() -> Fresh {
    let permit = FREE.acquire().await.unwrap();
    let free = (0..).zip(&SLOTS).find_map(|(n, slot)| Some((n, slot, slot.turn.try_lock().ok()?)));
    let (n, slot, turn) = free.expect("a server for each permit");
    let address = slot.address.get_or_init(|| super::server::start(n)).await;
    let config = config(address);
    let uri = config.uri.clone();
    let graph = Graph::connect(
        neo4rs::ConfigBuilder::default()
            .uri(&uri)
            .user("neo4j")
            .password(secrecy::ExposeSecret::expose_secret(&config.password))
            .db("neo4j")
            .build()
            .unwrap(),
    )
    .unwrap();
    let client = Client(graph);
    wipe(&client).await;
    let store = Store::connect(&config).unwrap();
    Fresh { store, config, client, http: address.http.clone(), _turn: turn, _permit: permit }
}

impl Fresh {
    /// Makes room for a vector index of embeddings of so many numbers, which whoever initialises the database makes. One that is there
    /// already stays, also after the test: to make or to drop one takes every plan from the server.
    pub(crate) async fn embeds(&self, dimensions: usize) {
        let index = "SHOW VECTOR INDEXES YIELD name, options WHERE name = 'ebb_memory_embedding'
                     RETURN options.indexConfig['vector.dimensions'] AS dimensions";
        let found: Vec<i64> = self.client.column(index).await;
        if found.iter().any(|found| usize::try_from(*found) != Ok(dimensions)) {
            self.client.run("DROP INDEX ebb_memory_embedding", &[]).await;
        }
    }

    /// Drops all plans. A server of the tests keeps a plan for an hour, so a test of many rows calls this when they are there: it would
    /// run with plans that were made for few.
    pub(crate) async fn drop_plans(&self) {
        self.client.run("CALL db.clearQueryCaches()", &[]).await;
    }
}

async fn wipe(client: &Client) {
    let ours: Vec<String> = client
        .column(
            "SHOW INDEXES YIELD name, properties WHERE name = 'test_harness_of_ebb' \
             OR any(p IN properties WHERE p STARTS WITH 'poison_') RETURN name",
        )
        .await;
    if !ours.iter().any(|name| name == "test_harness_of_ebb") {
        let nodes: i64 = client.value("MATCH (n) RETURN count(n) AS n").await;
        assert_eq!(nodes, 0, "this database is not the harness's own and is not empty: refusing to wipe it");
        client
            .run("CREATE INDEX test_harness_of_ebb IF NOT EXISTS FOR (n:EbbTestHarness) ON (n.marker)", &[])
            .await;
    }
    // Also on a server that is given and that tests of before have marked.
    if ours.len() <= STANDING_CONSTRAINTS.len() {
        for (rows, unique) in STANDING_CONSTRAINTS {
            client
                .run(&format!("CREATE CONSTRAINT IF NOT EXISTS FOR {rows} REQUIRE {unique} IS UNIQUE"), &[])
                .await;
        }
    }
    client.run(&format!("DROP CONSTRAINT {OWN_CONSTRAINT} IF EXISTS"), &[]).await;
    client.run("DROP CONSTRAINT ebb_restored IF EXISTS", &[]).await;
    while client.value::<i64>("MATCH (n) WITH n LIMIT 20000 DETACH DELETE n RETURN count(*) AS n").await > 0 {
    }
}

fn config(address: &Address) -> Config {
    Config {
        uri: address.uri.clone(),
        username: "neo4j".to_owned(),
        password: address.password.clone(),
        database: "neo4j".to_owned(),
        connections: 60,
        acquire_timeout: Duration::from_secs(10),
        lease: Duration::from_secs(15),
        similarity: ebb_core::domain::similarity::Similarity {
            dimensions: None,
            text_threshold: 0.5,
            model: None,
        },
        fading: ebb_core::domain::relation::Fading::new(90.0, 0.10).unwrap(),
        pins: ebb_core::domain::relation::Pins::default(),
        regime: crate::harness::ebb::regime(),
        retention: crate::harness::ebb::retention(),
        mappings: Vec::new(),

        trails: trails(),
    }
}

/// What trails go by, as the document has it.
pub(crate) fn trails() -> ebb_core::domain::trail::Trails {
    use ebb_core::domain::trail::{Allowed, Evaporation, MirroredLabel, Rates, Trails};
    let rates =
        Rates { exploitation: 0.02, exploration: 0.05, success: 0.01, traversal: 0.03, recency: 0.10 };
    Trails {
        evaporation: Evaporation::new(rates, 1e6).expect("documented"),
        allowed: Allowed::new(&Allowed::LABELS, &Allowed::TYPES).expect("documented"),
        cycle_ms: 3_600_000,
        interval_cycles: 10,
        mirrored: vec![MirroredLabel::new("File").expect("a label")],
    }
}
