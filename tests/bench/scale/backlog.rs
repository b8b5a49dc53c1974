//! The backlog of the jobs: rows that wait for each of them, a fixed share of the nodes, written straight into Neo4j. Statements name
//! their indexes: what was just written is not in the samples by which the server would choose one.
//!
//! | job | rows |
//! |---|---|
//! | decay | a fifth of the memories, short-term, due |
//! | promote | a fiftieth of the memories, working, ready |
//! | reinforce | a hundredth of the memories, new |
//! | coactivate, cluster | groups of five new memories, each accessed together in four sessions: a group for every 1,000 nodes |
//! | evaporate | a room for every 50 nodes, with ten edges each |
//! | fade | the relations of the graph |
//! | sweep | a fact for every 20 nodes, in scope team |

use crate::made::{AT, PAGE, Sizes, list, run};
use neo4rs::{BoltType, Graph, query};

/// Cycles of an hour since the pheromones were written.
pub(crate) const CYCLES: i64 = 10;
const CYCLE_MS: i64 = 3_600_000;

const DUE: &str = "UNWIND range(0, size($id) - 1) AS i
MATCH (m:Memory {scope: 'local', id: $id[i]}) USING INDEX SEEK m:Memory(scope, id)
SET m.tier = 'shortTerm', m.dueAt = datetime({epochMillis: $at + $number[i]})";
const READY: &str = "UNWIND range(0, size($id) - 1) AS i
MATCH (m:Memory {scope: 'local', id: $id[i]}) USING INDEX SEEK m:Memory(scope, id)
SET m.tier = 'working', m.energy = 4.0, m.ripeAt = datetime({epochMillis: $at + $number[i]}),
  m.dueAt = datetime({epochMillis: $at + 9 * 3600000})";
const NEW: &str = "UNWIND range(0, size($id) - 1) AS i
MATCH (m:Memory {scope: 'local', id: $id[i]}) USING INDEX SEEK m:Memory(scope, id)
SET m.reinforceDue = datetime({epochMillis: $at + $number[i]})";
const GROUPS: &str = "UNWIND $number AS n
UNWIND range(0, 4) AS k
CREATE (m:Memory:EbbMemory {id: 'group-' + n + '-' + k, scope: 'local', content: 'note ' + k + ' of group ' + n, tier: 'longTerm',
  energy: 3.0, energyAt: datetime({epochMillis: $at}), lastAccessed: datetime({epochMillis: $at}),
  created: datetime({epochMillis: $at}), accessCount: 4})
WITH n, collect(m) AS members
UNWIND range(0, 3) AS k
CREATE (s:Session {id: 'session-' + n + '-' + k, scope: 'local', started: datetime({epochMillis: $at}),
  coactivateDue: datetime({epochMillis: $at + n})})
WITH members, s
UNWIND members AS m
CREATE (m)-[:ACCESSED_IN {at: datetime({epochMillis: $at}), count: 1, counted: false}]->(s)";
const ROOMS: &str = "UNWIND $number AS n
CREATE (:Room {scope: 'local', id: 'r-' + n, exploitation_pheromone: 0.4, pheromone_cycle: $cycle})";
const HALLS: &str = "UNWIND $number AS n
MATCH (a:Room {scope: 'local', id: 'r-' + n}) USING INDEX SEEK a:Room(scope, id)
UNWIND range(1, 10) AS step
MATCH (b:Room {scope: 'local', id: 'r-' + (n + step) % $rooms}) USING INDEX SEEK b:Room(scope, id)
CREATE (a)-[:HALL {success_pheromone: step * 1.0, traversal_pheromone: 0.5, recency_pheromone: 1.0,
  base_cost: 0.5, current_cost: 0.25, pheromone_cycle: $cycle}]->(b)";
const SUBJECTS: &str =
    "UNWIND range(0, 999) AS n CREATE (:Entity:EbbEntity {scope: 'team', name: 'subject ' + n})";
const FACTS: &str = "UNWIND $number AS n
MATCH (e:Entity {scope: 'team', name: 'subject ' + n % 1000}) USING INDEX SEEK e:Entity(scope, name)
CREATE (l:EbbLineage {key: 'scale-' + n, scope: 'team', relation: 'scale:status'})
CREATE (f:Fact:EbbFact {id: 'fact-' + n, entity: 'subject ' + n % 1000, relation: 'scale:status', scope: 'team', value: 'value ' + n,
  valueType: 'string', confidence: 0.9, source: 'bench', assertedAt: datetime({epochMillis: $at})})-[:ABOUT]->(e)
CREATE (l)-[:HEAD]->(f)";
/// The last row that is written: with it the backlog is whole.
const LAST: &str = "MERGE (e:Entity:EbbEntity {scope: 'local', name: 'the backlog is whole'})";
const IS_THERE: &str =
    "MATCH (e:EbbEntity {scope: 'local', name: 'the backlog is whole'}) RETURN count(e) AS count";
const BEGUN: &str = "MATCH (m:Memory {scope: 'local', id: 'group-0-0'}) RETURN count(m) AS count";

/// The number that a statement counts.
pub(crate) async fn count(graph: &Graph, text: &str) -> i64 {
    let mut rows = graph.execute(query(text)).await.expect("read");
    rows.next().await.expect("read").expect("a row").get("count").expect("a number")
}

/// The backlog of a graph.
pub(crate) struct Backlog<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) sizes: &'a Sizes,
}

impl Backlog<'_> {
    /// Whether an earlier run has written it.
    pub(crate) async fn is_there(&self) -> bool {
        let is_whole = count(self.graph, IS_THERE).await > 0;
        let is_begun = count(self.graph, BEGUN).await > 0;
        assert_eq!(
            is_whole, is_begun,
            "an earlier run was broken off while it wrote the backlog: delete the folder"
        );
        is_whole
    }

    pub(crate) async fn write(&self) {
        let nodes = self.sizes.memories + self.sizes.entities;
        let each = |share: u64| (nodes / share).max(20);
        self.pages(GROUPS, 0, each(1_000), PAGE / 50).await;
        let (due, ready) = (self.sizes.memories / 5, self.sizes.memories / 50);
        self.pages(DUE, 0, due, PAGE).await;
        self.pages(READY, due, ready, PAGE).await;
        self.pages(NEW, due + ready, self.sizes.memories / 100, PAGE).await;
        self.pages(ROOMS, 0, each(50), PAGE).await;
        self.pages(HALLS, 0, each(50), PAGE / 10).await;
        run(self.graph, SUBJECTS, Vec::new()).await;
        self.pages(FACTS, 0, each(20), PAGE / 2).await;
        run(self.graph, LAST, Vec::new()).await;
    }

    /// Runs a statement for so many numbers, some at a time. Memories are those of the numbers.
    async fn pages(&self, text: &str, first: u64, count: u64, page: usize) {
        let rooms = (self.sizes.memories + self.sizes.entities).div_euclid(50).max(20);
        for from in (first..first + count).step_by(page) {
            let numbers = from..(first + count).min(from + page as u64);
            let params: Vec<(&str, BoltType)> = vec![
                ("id", list(numbers.clone().map(|n| format!("memory-{n:012}")))),
                ("number", list(numbers.map(|n| n as i64))),
                ("at", AT.into()),
                ("cycle", (AT / CYCLE_MS).into()),
                ("rooms", (rooms as i64).into()),
            ];
            run(self.graph, text, params).await;
        }
    }
}
