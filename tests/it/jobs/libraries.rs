//! Graphs of other memory libraries, in the shapes that these write: no job changes a row of them.

use crate::harness::graph::{everything, same};
use crate::harness::neo4j::{Fresh, empty, fresh, trails};
use crate::harness::rows::row;
use crate::surfaces::ebb;
use ebb_core::domain::trail::{Allowed, MirroredLabel, Trails};
use ebb_core::jobs::JobName;
use ebb_core::scheduler::driver::JobReport;
use ebb_core::store::{Config, Store};

/// Rows as other libraries write them: MemOS, mcp-neo4j-memory, neo4j-agent-memory, Graphiti, langchain-neo4j. Some share
/// a label with Ebb, some a key, and some a relationship type.
const LIBRARIES: [&str; 6] = [
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
    "CREATE (:Order)-[:CONSOLIDATING]->(:Shipment), (:Memory {text: 'pay rent', dueAt: datetime('2020-01-01T00:00Z'),
        ripeAt: datetime('2020-01-01T00:00Z'), created: datetime('2999-01-01T00:00Z')}),
        (:Fact {text: 'it rained', assertedAt: datetime('2999-01-01T00:00Z')})",
];

/// Every row that has no label of Ebb's alone, with labels and properties, and its relationships.
async fn theirs(db: &Fresh) -> Vec<String> {
    let text = "MATCH (n) WHERE NOT n:EbbMemory AND NOT n.scope IS NOT NULL
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
    assert_eq!(before.len(), 40 * 10 + 4);
    db.put(&[row("ours", "working", 1.5)]).await;
    for hours in [1.0, 2.0, 50.0] {
        for job in JobName::ALL {
            let JobReport { tally, .. } = db.run(job, hours).await;
            assert_eq!((tally.adopted, tally.quarantined), (0, 0), "{job:?}");
        }
        same(&before, &theirs(&db).await, "rows of other libraries");
    }
    let counts = db.store.memory_adoption().await.unwrap();
    assert_eq!((counts.foreign, counts.waiting(), counts.is_pass_due()), (121, 0, false));
    assert_eq!(db.store.fact_adoption().await.unwrap().foreign, 41);
    let said = ebb(&db, &["doctor", "--fix", "-o", "json"]);
    assert!(!said.out.contains("dates lay ahead"), "{}", said.out);
    ebb(&db, &["memory", "forget", "memos-1", "--yes"]).fails(1, "there is no memory memos-1");
    same(&before, &theirs(&db).await, "a correction of dates, and a deletion");

    // As many go as come, so that the numbers stay: the audit finds the one of the documented shape.
    db.client.run("MATCH (m:Memory {id: 'memos-1'}) DELETE m", &[]).await;
    db.client.run("CREATE (:Memory {id: 'late', content: 'x', tier: 'working'})", &[]).await;
    assert!(!db.store.memory_adoption().await.unwrap().is_pass_due());
    assert_eq!(db.run(JobName::Audit, 51.0).await.tally.adopted, 1);
    let counts = db.store.memory_adoption().await.unwrap();
    assert_eq!((counts.foreign, counts.is_pass_due()), (120, false));
}

/// Entities of Graphiti with attributes of the user's that are called as Ebb's once were.
const ATTRIBUTES: &str = "UNWIND [1, 2] AS i
    CREATE (:Entity {uuid: 'x' + i, scope: 'local', name: 'Ann', group_id: ''})
      -[:RELATES_TO {uuid: 'y' + i, key: 'k', type: 'knows', weight: 1.0, baseWeight: 1.0}]->(:Entity {uuid: 'z' + i, scope: 'local', name: 'Bob'})";

#[tokio::test(flavor = "multi_thread")]
async fn entities_of_a_library_may_repeat_and_stay_alone_among_themselves() {
    let db = fresh().await;
    // Twice, and before any job: a constraint that stood in the way would fail the library's own saves.
    db.client.run(ATTRIBUTES, &[]).await;
    db.client.run("CREATE (:Session {id: 'chat'})-[:LAST_MESSAGE]->(:Message {content: 'hi'}), (:Session {id: 'empty'})", &[]).await;
    let before = everything(&db.client).await;
    for words in [
        &["memory", "add", "Ann met Bob", "--mention", "Ann"][..],
        &["relation", "observe", "Ann", "knows", "Cid"],
        &["fact", "assert", "Ann", "lives_in", "Oslo"],
        &["trail", "node", "add", "Entity", "Dan"],
    ] {
        let refused = ebb(&db, words);
        refused.fails(1, "another library keeps its entities in this database: they have the property uuid");
        refused.fails(1, "docs/guide/your-own-data.md");
    }
    ebb(&db, &["memory", "add", "hi", "--session", "chat"])
        .fails(1, "another library has a session \"chat\"");
    same(&before, &everything(&db.client).await, "what was refused");
    for job in JobName::ALL {
        db.run(job, 50.0).await;
    }
    let theirs = "MATCH (a:Entity)-[r:RELATES_TO]->() RETURN toString(r.weight) + reduce(s = '', l IN labels(a) | s + l) + r.key AS line";
    assert_eq!(db.client.column::<String>(theirs).await, ["1.0Entityk", "1.0Entityk"]);
    // Nothing of theirs is in the way of a memory without entities, nor an empty session of an agent's.
    ebb(&db, &["memory", "add", "Ann met Bob", "--session", "empty"]).json();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entity_that_an_agent_made_is_taken_and_not_doubled() {
    let db = fresh().await;
    db.client.run("CREATE (:Entity {scope: 'local', name: 'Ann', note: 'mine'})", &[]).await;
    ebb(&db, &["relation", "observe", "Ann", "knows", "Bob"]).json();
    ebb(&db, &["memory", "add", "Ann met Bob", "--mention", "Ann"]).json();
    let ann =
        "MATCH (e:Entity {name: 'Ann'}) RETURN e.note + toString(e:EbbEntity) + COUNT { (e)--() } AS line";
    assert_eq!(db.client.column::<String>(ann).await, ["minetrue2"]);
}

/// A relation that faded is not faded from its weight of then once more.
#[tokio::test(flavor = "multi_thread")]
async fn an_uninstallation_and_a_new_start_leave_relations_as_they_were() {
    let db = fresh().await;
    ebb(&db, &["relation", "observe", "Ann", "knows", "Bob", "--at", "2026-01-01T00:00:00Z"]).json();
    db.run(JobName::Fade, 24.0 * 90.0).await;
    let state = "MATCH ()-[r:RELATES_TO]->() RETURN toString(r.weight) + ' ' + toString(r.baseWeight) + ' ' + toString(r.weightAt) AS line";
    let before: String = db.client.value(state).await;
    assert!(before.starts_with("0.5 1.0 "), "{before}");
    db.client.run("MATCH (e:Entity {name: 'Ann'}) SET e.dueAt = date('2026-05-01')", &[]).await;
    ebb(&db, &["uninstall", "--yes"]).json();
    assert_eq!(db.client.value::<i64>("MATCH ()-[r:RELATES_TO]->() RETURN count(r.ebbKey) AS n").await, 0);
    ebb(&db, &["init", "--yes"]).json();
    assert_eq!(db.run(JobName::Fade, 24.0 * 90.0).await.tally.adopted, 1);
    assert_eq!(db.client.value::<String>(state).await, before);
    let entities =
        "MATCH (e:EbbEntity) RETURN e.name + coalesce(' ' + toString(e.dueAt), '') AS line ORDER BY line";
    assert_eq!(db.client.column::<String>(entities).await, ["Ann 2026-05-01", "Bob"]);
}

/// Everything in the database: rows without any exception, and the schema.
async fn dump(db: &Fresh) -> Vec<String> {
    let rows = "MATCH (n) RETURN elementId(n) + ' ' + reduce(s = '', l IN labels(n) | s + l + ' ') + reduce(s = '', k IN keys(n) | s + k + ' ') AS line
        UNION MATCH ()-[r]->() RETURN elementId(r) + ' ' + type(r) + ' ' + reduce(s = '', k IN keys(r) | s + k + ' ') AS line";
    let sorted = |line: String| {
        let mut words: Vec<&str> = line.split(' ').collect();
        words.sort_unstable();
        words.join(" ")
    };
    let rows: Vec<String> = db.client.column(rows).await;
    let mut lines: Vec<String> = rows.into_iter().map(sorted).collect();
    lines.extend(db.client.column::<String>("SHOW INDEXES YIELD name RETURN name AS line").await);
    lines.extend(db.client.column::<String>("SHOW CONSTRAINTS YIELD name RETURN name AS line").await);
    lines.sort();
    lines
}

#[tokio::test(flavor = "multi_thread")]
async fn an_uninstalled_database_is_the_one_from_before() {
    let db = empty().await;
    let removed = db.store.uninstall().await.unwrap();
    assert!(db.store.footprint().await.unwrap().is_empty(), "{removed:?}");
    for text in LIBRARIES {
        db.client.run(text, &[]).await;
    }
    // A row of the documented shape, which Ebb adopts and whose marks it must take back.
    let ours = "CREATE (:Memory {id: 'm', content: 'x', tier: 'working', energy: 1.0, scope: 'local', lastAccessed: datetime(),
            energyAt: datetime(), created: datetime(), accessCount: 1})";
    db.client.run(ours, &[]).await;
    db.client.run("CREATE INDEX of_theirs IF NOT EXISTS FOR (m:Memory) ON (m.user_name)", &[]).await;
    let before = dump(&db).await;
    ebb(&db, &["init", "--yes"]).json();
    for _ in 0..2 {
        ebb(&db, &["job", "run", "--all"]).json();
    }
    let rehearsed = ebb(&db, &["uninstall", "--dry-run"]).json();
    assert!(rehearsed["own_nodes"].as_i64().unwrap() > 5 && rehearsed["marked_nodes"] == 1, "{rehearsed}");
    assert!(rehearsed["constraints"].as_array().unwrap().len() > 20, "{rehearsed}");
    ebb(&db, &["uninstall"]).fails(3, "--yes");
    let mut removed = ebb(&db, &["uninstall", "--yes"]).json();
    removed["dry_run"] = true.into();
    assert_eq!(removed, rehearsed);
    same(&before, &dump(&db).await, "before and after");
    let again = ebb(&db, &["uninstall", "--yes"]).json();
    assert_eq!((&again["own_nodes"], &again["constraints"]), (&0.into(), &serde_json::json!([])));
    db.client.run("DROP INDEX of_theirs", &[]).await;
}

/// A label that configuration adds may have had them before: an equal one serves Ebb, and stays its owner's.
#[tokio::test(flavor = "multi_thread")]
async fn an_uninstallation_leaves_unnamed_indexes_and_constraints() {
    let db = fresh().await;
    for text in [
        "CREATE INDEX FOR (n:Den) ON (n.id)",
        "CREATE CONSTRAINT FOR (n:Lair) REQUIRE (n.scope, n.id) IS UNIQUE",
        "CREATE INDEX FOR ()-[r:PATH]-() ON (r.pheromone_cycle)",
    ] {
        db.client.run(text, &[]).await;
    }
    let all = "SHOW INDEXES YIELD name, labelsOrTypes
        WHERE any(label IN labelsOrTypes WHERE label IN ['Den', 'Lair', 'Nook', 'PATH', 'WAY']) RETURN name ORDER BY name";
    let theirs: Vec<String> = db.client.column(all).await;
    assert_eq!(theirs.len(), 3, "{theirs:?}");
    let trails = Trails {
        allowed: Allowed::new(&["Den", "Lair"], &["PATH", "WAY"]).unwrap(),
        mirrored: vec![MirroredLabel::new("Nook").unwrap()],
        ..trails()
    };
    let store = Store::connect(&Config { trails, ..db.config.clone() }).unwrap();
    for _ in 0..2 {
        store.ensure_trail_indexes().await.unwrap();
        let made: Vec<String> = db.client.column(all).await;
        let made: Vec<&str> = made.iter().filter(|name| !theirs.contains(name)).map(String::as_str).collect();
        let wanted = [
            "ebb_edge_cycle_WAY",
            "ebb_label_key_Nook",
            "ebb_place_cycle_Den",
            "ebb_place_cycle_Lair",
            "ebb_place_find_Lair",
            "ebb_place_key_Den",
        ];
        assert_eq!(made, wanted, "no second one beside an equal one");
    }
    db.client.run("CALL db.awaitIndexes(60)", &[]).await;
    assert_eq!(store.drift().await.unwrap(), []);
    let removed = store.uninstall().await.unwrap();
    let names: Vec<&String> = removed.constraints.iter().chain(&removed.indexes).collect();
    assert!(names.iter().all(|name| name.starts_with("ebb_")), "{names:?}");
    assert_eq!(db.client.column::<String>(all).await, theirs);
    let lair = "SHOW CONSTRAINTS YIELD name, labelsOrTypes WHERE 'Lair' IN labelsOrTypes RETURN name";
    for name in db.client.column::<String>(lair).await {
        db.client.run(&format!("DROP CONSTRAINT {name}"), &[]).await;
    }
    for name in db.client.column::<String>(all).await {
        db.client.run(&format!("DROP INDEX {name}"), &[]).await;
    }
}
