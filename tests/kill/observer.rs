//! The view that the harness has of the graph: samples during a round, whether workers are idle, all of it at the end.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a second client, apart from the store that is judged"
)]

use super::graph::{Graph, Learned, Memory, Other, State, Stub, Tunables};
use super::history::{AttemptSeen, RunSeen, What};
use super::server::Host;
use neo4rs::{BoltType, query};
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A client of the server that is no part of what is judged.
pub(crate) struct Observer {
    graph: neo4rs::Graph,
    /// Runs and attempts that were not over when they were last seen.
    open: BTreeSet<String>,
}

const RUN: &str = "r.job AS job, r.occurrence AS occurrence, r.state AS state, r.fence AS fence, r.batch AS batch, \
                   r.now.epochMillis AS now, r.trigger = 'schedule' AS scheduled";

impl Observer {
    pub(crate) fn open(host: &Host) -> Result<Self, String> {
        let config = neo4rs::ConfigBuilder::default()
            .uri(&host.uri)
            .user("neo4j")
            .password(&host.password)
            .db("neo4j")
            .build()
            .map_err(|why| why.to_string())?;
        let graph = neo4rs::Graph::connect(config).map_err(|why| why.to_string())?;
        Ok(Self { graph, open: BTreeSet::new() })
    }

    async fn rows<T: DeserializeOwned>(&self, text: &str) -> Result<Vec<T>, String> {
        let said = |why: &dyn std::fmt::Display| format!("{why}: {text}");
        let mut rows = self.graph.execute(query(text)).await.map_err(|why| said(&why))?;
        let mut all = Vec::new();
        while let Some(row) = rows.next().await.map_err(|why| said(&why))? {
            all.push(row.to().map_err(|why| said(&why))?);
        }
        Ok(all)
    }

    /// Whether the server lets somebody in and answers within a second.
    pub(crate) async fn answers(&self) -> bool {
        let run = self.run("RETURN 1 AS n");
        tokio::time::timeout(std::time::Duration::from_secs(1), run).await.is_ok_and(|ran| ran.is_ok())
    }

    pub(crate) async fn run(&self, text: &str) -> Result<(), String> {
        #[derive(serde::Deserialize)]
        struct Nothing {}
        self.rows::<Nothing>(text).await.map(|_| ())
    }

    /// Looks at runs and attempts that are not over, or were not at the last look, and at memories with two marks.
    pub(crate) async fn look(&mut self) -> Result<What, String> {
        #[derive(serde::Deserialize)]
        struct Marked {
            id: String,
        }
        let known: Vec<String> = self.open.iter().map(|name| format!("{name:?}")).collect();
        let known = known.join(", ");
        let runs: Vec<RunSeen> = self
            .rows(&format!("MATCH (r:EbbRun) WHERE r.state = 'open' OR r.id IN [{known}] RETURN {RUN}"))
            .await?;
        let ids: Vec<Marked> = self.rows("MATCH (r:EbbRun {state: 'open'}) RETURN r.id AS id").await?;
        let attempts: Vec<AttemptSeen> = self
            .rows(&format!(
                "MATCH (a:ConsolidationAttempt) WHERE a.state IN ['planned', 'claimed'] OR a.id IN [{known}] \
                 RETURN a.id AS id, a.state AS state"
            ))
            .await?;
        self.open = attempts
            .iter()
            .filter(|seen| matches!(seen.state.as_str(), "planned" | "claimed"))
            .map(|seen| seen.id.clone())
            .collect();
        self.open.extend(ids.into_iter().map(|run| run.id));
        // Reads are only read-committed: what seems to have two marks is locked, as a claim does, and looked at again.
        let two = "MATCH (m:Memory) WHERE COUNT { (m)-[:CONSOLIDATING]->(a) WHERE a.state IN ['planned', 'claimed'] } > 1";
        let suspects: Vec<Marked> = self.rows(&format!("{two} RETURN m.id AS id")).await?;
        let mut doubly_marked = Vec::new();
        for Marked { id } in suspects {
            let lock = format!(
                "MATCH (m:Memory {{id: {id:?}}}) SET m.ebbLock = true WITH m \
                 WHERE COUNT {{ (m)-[:CONSOLIDATING]->(a) WHERE a.state IN ['planned', 'claimed'] }} > 1 \
                 RETURN m.id + reduce(all = '', id IN [(m)-[:CONSOLIDATING]->(a) | a.id] | all + ' ' + id) AS id"
            );
            doubly_marked.extend(self.rows::<Marked>(&lock).await?.into_iter().map(|row| row.id));
        }
        Ok(What::Look { runs, attempts, doubly_marked })
    }

    /// Two nodes and what joins them, for outcomes to teach.
    pub(crate) async fn join_two(&self) -> Result<(), String> {
        self.run(
            "CREATE (:Entity {scope: 'local', name: 'Here'})-[:CALLS {weight: 0.5}]->(:Entity {scope: 'local', name: 'There'})",
        )
        .await
    }

    /// Files an outcome of these two.
    pub(crate) async fn file(&self, id: &str) -> Result<(), String> {
        self.run(&format!(
            "CREATE (:EbbRequest {{id: {id:?}, hash: 'h', at: datetime.realtime(), waits: 'local', \
             active: ['Here', 'There'], reward: 0.0625}})"
        ))
        .await
    }

    /// Whether every job has run since that instant, and nothing is open.
    pub(crate) async fn is_at_rest(&self, since: i64) -> Result<bool, String> {
        #[derive(serde::Deserialize)]
        struct Row {
            rest: bool,
        }
        let text = format!(
            "RETURN NOT EXISTS {{ MATCH (r:EbbRun {{state: 'open'}}) }} \
             AND NOT EXISTS {{ MATCH (a:ConsolidationAttempt) WHERE a.state IN ['planned', 'claimed'] }} \
             AND COUNT {{ MATCH (c:EbbCounter) WHERE c.name IN ['job:decay', 'job:promote', 'job:learn'] AND c.last >= datetime({{epochMillis: {since}}}) }} = 3 AS rest"
        );
        Ok(self.rows::<Row>(&text).await?.first().is_some_and(|row| row.rest))
    }

    /// Attempts that could be taken from their holders.
    pub(crate) async fn claimed(&self) -> Result<Vec<String>, String> {
        let text = "MATCH (a:ConsolidationAttempt {state: 'claimed'}) RETURN a.id AS id, a.state AS state";
        Ok(self.rows::<AttemptSeen>(text).await?.into_iter().map(|seen| seen.id).collect())
    }

    /// The instant at which a memory was made.
    pub(crate) async fn created(&self, id: &str) -> Result<i64, String> {
        #[derive(serde::Deserialize)]
        struct Row {
            at: i64,
        }
        let text =
            format!("MATCH (m:Memory {{scope: 'local', id: {id:?}}}) RETURN m.created.epochMillis AS at");
        let made = self.rows::<Row>(&text).await?;
        made.first().map(|row| row.at).ok_or_else(|| format!("the memory {id} is not there"))
    }

    /// Everything that the checker asks for.
    pub(crate) async fn read(&self) -> Result<Graph, String> {
        #[derive(serde::Deserialize)]
        struct Pair {
            one: String,
            other: String,
        }
        let tunables: Vec<Tunables> = self
            .rows(
                "MATCH (c:ConsolidationConfig) RETURN toFloat(c.workingDecay) AS working_decay, \
                 toFloat(c.shortTermDecay) AS short_term_decay, toFloat(c.longTermDecay) AS long_term_decay, \
                 toFloat(c.expiryThreshold) AS expiry_threshold",
            )
            .await?;
        let memories: Vec<Memory> = self
            .rows(
                "MATCH (m:Memory) WHERE m.promotionKey IS NULL AND m.row IS NULL RETURN m.id AS id, m.content AS content, m.tier AS tier, \
                 toFloat(m.energy) AS energy, m.energyAt.epochMillis AS energy_at, \
                 m.lastAccessed.epochMillis AS last_accessed, m.accessCount AS access_count, \
                 coalesce(m.pinned, false) AS pinned, m.ripeAt.epochMillis AS ripe_at, m.dueAt.epochMillis AS due_at, \
                 CASE WHEN m:EbbQuarantined THEN coalesce(m.ebbReason, '') END AS quarantined",
            )
            .await?;
        let stubs: Vec<Stub> = self
            .rows(
                "MATCH (s:Memory) WHERE s.promotionKey IS NOT NULL \
                 AND NOT s.promotionKey STARTS WITH 'foreign-' AND NOT s.promotionKey STARTS WITH 'poison-' \
                 OPTIONAL MATCH (s)-[p:PROMOTED_TO|CRYSTALLIZED_INTO]->(m:Memory) \
                 RETURN s.promotionKey AS key, m.id AS memory, coalesce(p.at.epochMillis, 0) AS at, \
                 toFloat(s.energy) AS energy, s.lastAccessed.epochMillis AS last_accessed, s.accessCount AS access_count",
            )
            .await?;
        let tombstones: Vec<Pair> =
            self.rows("MATCH (t:EbbTombstone) RETURN t.hash AS one, '' AS other").await?;
        let runs = self.rows(&format!("MATCH (r:EbbRun) RETURN {RUN}")).await?;
        let attempts =
            self.rows("MATCH (a:ConsolidationAttempt) RETURN a.id AS id, a.state AS state").await?;
        let marks: Vec<Pair> = self
            .rows("MATCH (m)-[:CONSOLIDATING]->(a) RETURN coalesce(toStringOrNull(m.id), '?') AS one, coalesce(a.id, '?') AS other")
            .await?;
        let learned: Vec<Learned> = self
            .rows(
                "RETURN COUNT { MATCH (r:EbbRequest) WHERE r.waits IS NOT NULL } AS waiting, \
                 coalesce(head(COLLECT { MATCH (c:EbbCounter {name: 'tick:local'}) RETURN c.tick }), 0) AS ticks, \
                 coalesce(head(COLLECT { MATCH (s:EbbSynapse) RETURN s.strengthened }), 0) AS strengthened",
            )
            .await?;
        let others: Vec<Other> = self
            .rows(
                "MATCH (n) WHERE n.row IS NOT NULL AND n.promotionKey IS NULL \
                 RETURN n.row AS row, n.said = 'what ' + n.row + ' says' \
                 AND coalesce(toString(n[n.poisoned]) = n.was, n.poisoned IS NULL) \
                 AND (NOT n.row STARTS WITH 'note-' OR n.own = size(keys(n)) AND labels(n) = ['Note'] AND COUNT { (n)--() } = 2 \
                 AND COUNT { (n)-[r:NEXT]->(:Note) WHERE properties(r) = {since: 1} } = 1) AS same",
            )
            .await?;
        let states: Vec<State> =
            self.rows("MATCH (s:EbbState) RETURN s.key AS row, s.accesses AS accesses").await?;
        Ok(Graph {
            others,
            states,
            learned: learned.first().copied().unwrap_or_default(),
            tunables: tunables.first().copied().ok_or("no ConsolidationConfig")?,
            memories,
            stubs,
            tombstones: tombstones.into_iter().map(|row| row.one).collect(),
            runs,
            attempts,
            marks: marks.into_iter().map(|row| (row.one, row.other)).collect(),
        })
    }

    /// The whole graph but its ledger, in a number.
    pub(crate) async fn hash(&self) -> Result<String, String> {
        #[derive(serde::Deserialize)]
        struct Row {
            labels: Vec<String>,
            props: BoltType,
        }
        let mut lines = Vec::new();
        for text in [
            "MATCH (n) WHERE NOT n:EbbRun AND NOT n:EbbCounter AND NOT n:EbbSettings RETURN labels(n) AS labels, properties(n) AS props",
            "MATCH (a)-[r]->(b) RETURN [type(r), elementId(a), elementId(b)] AS labels, properties(r) AS props",
        ] {
            for Row { labels, props } in self.rows::<Row>(text).await? {
                let BoltType::Map(props) = props else { continue };
                let mut cells: Vec<String> =
                    props.value.iter().map(|(key, value)| format!("{key:?}{value:?}")).collect();
                cells.sort();
                lines.push(format!("{labels:?}{cells:?}"));
            }
        }
        lines.sort();
        let mut hasher = DefaultHasher::new();
        lines.hash(&mut hasher);
        Ok(format!("{:016x} of {} lines", hasher.finish(), lines.len()))
    }
}
