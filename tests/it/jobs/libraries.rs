//! Graphs of other memory libraries, in the shapes that these write: no job changes a row of them.

use crate::harness::graph::same;
use crate::harness::neo4j::{Fresh, fresh};
use crate::harness::rows::row;
use ebb_core::jobs::JobName;
use ebb_core::scheduler::driver::JobReport;

/// Rows as other libraries write them: MemOS, mcp-neo4j-memory, neo4j-agent-memory, Graphiti, langchain-neo4j. Some share
/// a label with Ebb, some a key, and some a relationship type.
const LIBRARIES: [&str; 5] = [
    "UNWIND range(1, 40) AS i CREATE (:Memory {id: 'memos-' + i, memory: 'text', created_at: datetime(), updated_at: datetime(),
        status: 'activated', memory_type: 'LongTermMemory', user_name: 'u', tags: ['a'], confidence: 0.9})",
    "UNWIND range(1, 40) AS i CREATE (a:Memory:Person {name: 'n' + i, type: 'person', observations: ['x', 'y']})
        -[:KNOWS]->(:Memory {name: 'o' + i, type: 'thing', observations: []})",
    "UNWIND range(1, 40) AS i CREATE (f:Fact {id: 'fact-' + i, subject: 'Ann', predicate: 'likes', object: 'tea', confidence: 0.9,
        valid_from: '2026-01-01', created_at: datetime()})
        CREATE (e:Entity {id: 'e' + i, name: 'Ann', type: 'PERSON', confidence: 1.0})-[:RELATED_TO {type: 'likes', confidence: 1.0}]->(f)",
    "UNWIND range(1, 40) AS i CREATE (a:Entity {uuid: 'a' + i, name: 'Ann', group_id: '', summary: '', created_at: datetime()})
        CREATE (b:Entity {uuid: 'b' + i, name: 'Bob', group_id: '', summary: '', created_at: datetime()})
        CREATE (a)-[:RELATES_TO {uuid: 'r' + i, name: 'KNOWS', fact: 'Ann knows Bob', episodes: ['p'], created_at: datetime()}]->(b)
        CREATE (:Episodic {uuid: 'p' + i, content: 'c', group_id: ''})-[:MENTIONS {uuid: 'm' + i}]->(a)",
    "UNWIND range(1, 40) AS i CREATE (:Session {id: 's' + i})-[:LAST_MESSAGE]->(:Message {type: 'human', content: 'hi'})",
];

/// Every row that has no label of Ebb's alone, with labels and properties, and its relationships.
async fn theirs(db: &Fresh) -> Vec<String> {
    let text = "MATCH (n) WHERE NOT n:EbbStamped AND NOT n.scope IS NOT NULL
            AND none(label IN labels(n) WHERE label STARTS WITH 'Ebb' OR label = 'ConsolidationConfig')
        WITH n, COLLECT { MATCH (n)-[r]->(o) RETURN type(r) + ' ' + elementId(o) + toString(size(keys(r))) } AS rest
        RETURN elementId(n) + ' ' + reduce(s = '', l IN labels(n) | s + l + ' ') + ' ' +
          reduce(s = '', k IN keys(n) | s + k + '=' + CASE WHEN n[k] IS :: LIST<ANY> THEN toString(size(n[k])) ELSE toString(n[k]) END + ' ') +
          reduce(s = '', r IN rest | s + r + ' ') AS line
        ORDER BY line";
    db.client.column(text).await
}

#[tokio::test(flavor = "multi_thread")]
async fn no_job_changes_a_row_of_another_library() {
    let db = fresh().await;
    for text in LIBRARIES {
        db.client.run(text, &[]).await;
    }
    let before = theirs(&db).await;
    assert_eq!(before.len(), 40 * 10);
    db.put(&[row("ours", "working", 1.5)]).await;
    for hours in [1.0, 2.0, 50.0] {
        for job in JobName::ALL {
            let JobReport { tally, .. } = db.run(job, hours).await;
            assert_eq!((tally.adopted, tally.quarantined), (0, 0), "{job:?}");
        }
        same(&before, &theirs(&db).await, "rows of other libraries");
    }
    let counts = db.store.memory_adoption().await.unwrap();
    assert_eq!((counts.foreign, counts.waiting(), counts.is_pass_due()), (120, 0, false));
    assert_eq!(db.store.fact_adoption().await.unwrap().foreign, 40);

    // As many go as come, so that the numbers stay: the audit finds the one of the documented shape.
    db.client.run("MATCH (m:Memory {id: 'memos-1'}) DELETE m", &[]).await;
    db.client.run("CREATE (:Memory {id: 'late', content: 'x', tier: 'working'})", &[]).await;
    assert!(!db.store.memory_adoption().await.unwrap().is_pass_due());
    assert_eq!(db.run(JobName::Audit, 51.0).await.tally.adopted, 1);
    let counts = db.store.memory_adoption().await.unwrap();
    assert_eq!((counts.foreign, counts.is_pass_due()), (119, false));
}
