//! Detection of graphs of other libraries and the report on them: rows as each library writes them, versions that are
//! not known, each fault of a report, and no write at all.

use super::adopted::USERS;
use crate::harness::ebb::close;
use crate::harness::graph::{everything, same};
use crate::harness::neo4j::{Fresh, empty};
use crate::surfaces::{command, ebb};
use serde_json::{Value, json};

const GRAPHITI: &str = "UNWIND range(1, 30) AS i
    CREATE (a:Entity:Person {uuid: 'a' + i, name: 'Ann ' + i, group_id: '', summary: 's', name_embedding: [0.1, 0.2, 0.3], created_at: datetime('2026-01-01T10:00Z')})
    CREATE (b:Entity {uuid: 'b' + i, name: 'Bob ' + i, group_id: 'team', summary: 's', created_at: datetime('2026-01-01T10:00Z')})
    CREATE (p:Episodic {uuid: 'p' + i, content: 'said', group_id: 'team', valid_at: datetime('2026-01-01T10:00Z'), created_at: datetime('2026-01-01T10:00Z')})
    CREATE (a)-[:RELATES_TO {uuid: 'r' + i, name: 'KNOWS', fact: 'Ann knows Bob', episodes: ['p' + i], created_at: datetime('2026-01-01T10:00Z')}]->(b)
    CREATE (p)-[:MENTIONS {uuid: 'm' + i}]->(a)";
const AGENT_MEMORY: &str = "UNWIND range(1, 20) AS i
    CREATE (a:Entity {id: 'ea' + i, name: 'Ann', description: 'd', created_at: datetime()})
    CREATE (b:Entity {id: 'eb' + i, name: 'Bob', created_at: datetime(), updated_at: '2026-01-01'})
    CREATE (a)-[:RELATED_TO {id: 'rel' + i, type: 'KNOWS', created_at: datetime()}]->(b)
    CREATE (:Message {id: 'msg' + i, role: 'user', content: 'hi', timestamp: datetime()})-[:MENTIONS {confidence: 1.0}]->(a)
    CREATE (:Fact {id: 'f' + i, subject: 'Ann', predicate: 'likes', object: 'tea', created_at: datetime(), valid_until: '2026-02-01'})
    CREATE (:Preference {id: 'pr' + i, preference: 'tea', context: 'c', created_at: datetime()})-[:ABOUT]->(a)";
const MEM0: &str = "UNWIND range(1, 10) AS i
    CREATE (a:__Entity__:person {name: 'ann' + i, user_id: 'u' + (i % 3), created: 1767225600000, embedding: [0.5, 0.5]})
    CREATE (b:__Entity__ {name: 'tea' + i, user_id: 'u' + (i % 3), created: 1767225600000})
    CREATE (a)-[:likes {created_at: 1767225600000, valid: i > 4}]->(b) CREATE (b)-[:made_of {created_at: 1767225600}]->(a)";
/// As mem0 writes it by default: no common label, some types that are not plain names.
const MEM0_DEFAULT: &str = "UNWIND range(1, 10) AS i
    CREATE (a:person {name: 'ann' + i, user_id: 'u' + (i % 3), created: 1767225600000, mentions: 2, embedding: [0.5, 0.5]})
    CREATE (b:`board-game` {name: 'go' + i, user_id: 'u' + (i % 3), created: 1767225600000, mentions: 1, embedding: [0.5, 0.5]})
    CREATE (a)-[:plays {created_at: 1767225600000, updated_at: 1767225600000, mentions: 1, valid: i > 4}]->(b)";
const MEMOS: &str = "UNWIND range(1, 8) AS i CREATE (:Memory {id: 'memos' + i, memory: 'text', created_at: datetime(), updated_at: datetime(),
    status: CASE WHEN i < 3 THEN 'archived' ELSE 'activated' END, user_name: 'u'})";
const MCP: &str = "UNWIND range(1, 6) AS i
    CREATE (:Memory:Person {name: 'n' + i, type: 'person', observations: ['x']})-[:KNOWS]->(:Memory {name: 'o' + i, type: 'thing', observations: []})";
const OTHERS: &str = "CREATE (:Message {type: 'human', content: 'hi'}), (:Session {id: 's'}), (:Saga {uuid: 'x'}), (:`Odd label`)";

/// A database that was never initialised.
async fn untouched() -> Fresh {
    let db = empty().await;
    db.store.uninstall().await.unwrap();
    db
}

/// All rows, indexes and constraints.
async fn dump(db: &Fresh) -> Vec<String> {
    let mut lines = everything(&db.client).await;
    for list in ["SHOW INDEXES", "SHOW CONSTRAINTS"] {
        lines.extend(db.client.column::<String>(&format!("{list} YIELD name RETURN name AS line")).await);
    }
    lines
}

fn of<'a>(found: &'a Value, library: &str) -> &'a Value {
    let layouts = found["layouts"].as_array().unwrap();
    layouts.iter().find(|row| row["library"] == library).unwrap_or_else(|| panic!("{library}: {found:#}"))
}

/// Rows by label and by type.
fn counts(layout: &Value) -> Vec<(String, i64)> {
    let rows = |list: &str, name: &str, count: &str| -> Vec<(String, i64)> {
        let rows = layout[list].as_array().unwrap().iter();
        rows.map(|row| (row[name].as_str().unwrap_or("*").to_owned(), row[count].as_i64().unwrap())).collect()
    };
    [rows("nodes", "label", "nodes"), rows("relationships", "type", "relationships")].concat()
}

fn is(found: &[(String, i64)], wanted: &[(&str, i64)]) {
    let wanted: Vec<(String, i64)> =
        wanted.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
    assert_eq!(found, wanted);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_layout_is_detected_beside_the_others_and_nothing_is_written() {
    let db = untouched().await;
    for text in [GRAPHITI, AGENT_MEMORY, MEM0, MEMOS, MCP, OTHERS] {
        db.client.run(text, &[]).await;
    }
    let before = dump(&db).await;
    let found = ebb(&db, &["adopt", "--detect", "--json"]).json();
    ebb(&db, &["report", "--json"]).json();
    let folder = tempfile::tempdir().unwrap();
    let page = command(&db, folder.path(), &["report", "--html", "r.html"]).output().unwrap();
    assert!(page.status.success());
    same(&before, &dump(&db).await, "before and after");

    let graphiti = of(&found, "Graphiti");
    is(&counts(graphiti), &[("Entity", 60), ("Episodic", 30), ("RELATES_TO", 30), ("MENTIONS", 30)]);
    assert_eq!(
        graphiti["groups"],
        json!({"property": "group_id", "count": 2, "unscoped": 30, "default": "local"})
    );
    assert_eq!(graphiti["vectors"][0]["dimensions"], 3);
    let agent = of(&found, "neo4j-agent-memory");
    let wanted = [
        ("Entity", 40),
        ("Message", 20),
        ("Fact", 20),
        ("Preference", 20),
        ("RELATED_TO", 20),
        ("MENTIONS", 20),
        ("ABOUT", 20),
    ];
    is(&counts(agent), &wanted);
    is(&counts(of(&found, "mem0")), &[("__Entity__", 20), ("*", 20)]);
    is(&counts(of(&found, "MemOS")), &[("Memory", 8)]);
    is(&counts(of(&found, "mcp-neo4j-memory")), &[("Memory", 12), ("*", 6)]);
    for layout in found["layouts"].as_array().unwrap() {
        assert_eq!((&layout["state"], &layout["adopted"]), (&json!("known"), &json!(false)), "{layout}");
    }
    let unknown = [("Message", json!(1)), ("Odd label", json!(null)), ("Saga", json!(1))];
    assert_eq!(
        found["unknown"],
        Value::from_iter(unknown.map(|(label, nodes)| json!({"label": label, "nodes": nodes})))
    );

    let table = ebb(&db, &["adopt", "--detect", "-o", "table"]).out;
    assert!(table.contains("60 entities, 30 episodes, 30 facts, 2 groups"), "{table}");
    assert!(table.contains("Unknown, and not read: Message (1 node)"), "{table}");

    // What is proposed is a configuration, and is then adopted.
    std::fs::write(folder.path().join("ebb.toml"), found["adopt"].as_str().unwrap()).unwrap();
    let again = command(&db, folder.path(), &["adopt", "--detect", "--json"]).output().unwrap();
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again["layouts"].as_array().unwrap().len(), 5);
    assert!(again["layouts"].as_array().unwrap().iter().all(|layout| layout["adopted"] == true), "{again}");
    assert_eq!(again["adopt"], found["adopt"]);

    ebb(&db, &["init", "--yes"]).json();
    let doctor = ebb(&db, &["doctor"]).json();
    let layouts = doctor["findings"].as_array().unwrap().iter().find(|row| row["what"] == "layouts").unwrap();
    assert_eq!(layouts["level"], "well");
    let said = layouts["found"].as_str().unwrap();
    assert!(
        said.starts_with(
            "Graphiti: 60 entities, 30 episodes, 30 facts, 2 groups; not read: run ebb adopt --detect"
        ),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn scopes_by_path_are_counted() {
    let db = untouched().await;
    db.client.run(AGENT_MEMORY, &[]).await;
    let groups = |found: &Value| of(found, "neo4j-agent-memory")["groups"].clone();
    let property = "Conversation.user_identifier or User.identifier";
    let counted = |count: i64, unscoped: i64| json!({"property": property, "count": count, "unscoped": unscoped, "default": "local"});
    let found = ebb(&db, &["adopt", "--detect"]).json();
    assert_eq!(groups(&found), counted(1, 100), "without a user");
    db.client.run("MATCH (n) DETACH DELETE n", &[]).await;
    db.client.run(USERS, &[]).await;
    // One name in the scopes of both users, and one in two scopes.
    db.client
        .run("MATCH (e:Entity) WHERE e.id IN ['ab-e', 'ab-e2', 'b-e', 'l-e'] SET e.name = 'Same'", &[])
        .await;
    let before = dump(&db).await;
    let found = ebb(&db, &["adopt", "--detect"]).json();
    assert_eq!(groups(&found), counted(3, 7));
    is(&counts(of(&found, "neo4j-agent-memory"))[..2], &[("Entity", 7), ("Message", 4)]);
    assert!(
        found["adopt"].as_str().unwrap().contains(&format!("scope of 7 nodes without {property}")),
        "{found}"
    );
    let report = ebb(&db, &["report"]).json();
    same(&before, &dump(&db).await, "before and after");
    let layout = of(&report, "neo4j-agent-memory");
    assert_eq!(layout["groups"], counted(3, 7));
    let findings = layout["findings"].as_array().unwrap();
    let names = findings.iter().find(|row| row["check"] == "duplicate_names").unwrap();
    assert_eq!((&names["count"], &names["examples"]), (&json!(2), &json!(["same (3)", "same (2)"])));
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_without_a_common_label_are_found_by_their_marks() {
    let db = untouched().await;
    db.client.run(MEM0_DEFAULT, &[]).await;
    // With all marks, and a label of Ebb or of another rule; and with all marks but one.
    let marks = "user_id: 'u1', created: 1, mentions: 1, embedding: [0.1]";
    let others = format!(
        "CREATE (:Memory {{name: 'x', {marks}}}), (:EbbOther {{name: 'x', {marks}}}), (:__Entity__:person {{name: 'both', {marks}}}),
           (:person {{name: 'mine', user_id: 'u1', created: 1, mentions: 1}})"
    );
    db.client.run(&others, &[]).await;
    let before = dump(&db).await;
    let found = ebb(&db, &["adopt", "--detect"]).json();
    let mem0 = of(&found, "mem0");
    is(&counts(mem0), &[("__Entity__", 1), ("(any label)", 20), ("*", 10)]);
    assert_eq!(
        (&mem0["state"], &found["adopt"]),
        (&json!("known"), &json!("[[adopt]]\npreset = \"mem0\"\n"))
    );
    assert_eq!(mem0["groups"]["count"], 3);
    assert_eq!(
        (&mem0["vectors"][1]["of"], &mem0["vectors"][1]["dimensions"]),
        (&json!("(any label)"), &json!(2))
    );
    let unknown = json!([{"label": "board-game", "nodes": null}, {"label": "person", "nodes": 1}]);
    assert_eq!(found["unknown"], unknown, "the row that lacks a mark");

    db.client.run("MATCH (n:person {name: 'ann2'}) SET n.name = 'ann5', n.user_id = 'u2'", &[]).await;
    let report = ebb(&db, &["report"]).json();
    db.client.run("MATCH (n:person)-[:plays]->({name: 'go2'}) SET n.name = 'ann2'", &[]).await;
    same(&before, &dump(&db).await, "before and after");
    let findings = of(&report, "mem0")["findings"].as_array().unwrap().clone();
    let finding = |check: &str| {
        findings.iter().find(|row| row["check"] == check).unwrap_or_else(|| panic!("{check}: {findings:#?}"))
    };
    assert_eq!(
        (&finding("duplicate_keys")["of"], &finding("duplicate_keys")["examples"]),
        (&json!("(any label)"), &json!(["ann5"]))
    );
    assert_eq!(finding("orphans")["examples"], json!(["__Entity__ both"]));
    let hubs = finding("hubs")["examples"].to_string();
    assert!(hubs.contains("person ann") && hubs.contains("board-game go"), "{hubs}");
    assert_eq!(
        finding("missing_indexes")["examples"],
        json!(["__Entity__.name", "__Entity__.user_id", "__Entity__.created"])
    );
    let rows: i64 = of(&report, "mem0")["growth"]["weeks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|week| week["rows"].as_i64().unwrap())
        .sum();
    assert!(rows >= 30, "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_layout_of_an_unknown_version_is_named_and_not_proposed() {
    let db = untouched().await;
    db.client.run(GRAPHITI, &[]).await;
    db.client.run("MATCH (n:Entity) SET n.born_at = n.created_at REMOVE n.created_at", &[]).await;
    db.client.run("MATCH ()-[r:RELATES_TO {uuid: 'r1'}]->() REMOVE r.uuid", &[]).await;
    let found = ebb(&db, &["adopt", "--detect"]).json();
    let graphiti = of(&found, "Graphiti");
    assert_eq!((&graphiti["state"], &found["adopt"]), (&json!("unknown_version"), &json!("")));
    let wanted = ["none of 60 Entity rows has created_at", "1 of 30 RELATES_TO rows have no uuid"];
    assert_eq!(graphiti["problems"], json!(wanted));
    let report = ebb(&db, &["report"]).json();
    assert_eq!(
        (&of(&report, "Graphiti")["growth"], &report["layouts"][0]["findings"]),
        (&json!(null), &json!([]))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_with_the_marks_of_two_layouts_belong_to_the_one_with_rows_of_its_own() {
    let db = untouched().await;
    // A user's attribute of the name `id`, in Graphiti.
    db.client.run("CREATE (:Entity {uuid: 'u', id: 'mine', name: 'Ann', created_at: datetime()})", &[]).await;
    let found = ebb(&db, &["adopt", "--detect"]).json();
    assert_eq!((found["layouts"].as_array().unwrap().len(), &found["adopt"]), (2, &json!("")));
    for library in ["Graphiti", "neo4j-agent-memory"] {
        assert_eq!(of(&found, library)["state"], "ambiguous");
    }
    db.client.run(GRAPHITI, &[]).await;
    let found = ebb(&db, &["adopt", "--detect"]).json();
    assert_eq!(found["layouts"].as_array().unwrap().len(), 1);
    is(&counts(of(&found, "Graphiti"))[..1], &[("Entity", 61)]);
    assert_eq!(of(&found, "Graphiti")["state"], "known");
    db.client.run(AGENT_MEMORY, &[]).await;
    let found = ebb(&db, &["adopt", "--detect"]).json();
    let graphiti = of(&found, "Graphiti");
    assert_eq!(graphiti["state"], "ambiguous");
    assert_eq!(graphiti["problems"], json!(["1 node has the properties of neo4j-agent-memory too"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_ebb_are_of_no_layout_and_not_unknown() {
    let db = crate::harness::neo4j::fresh().await;
    ebb(&db, &["memory", "add", "hi", "--mention", "Ann"]).json();
    ebb(&db, &["fact", "assert", "Ann", "lives_in", "Oslo"]).json();
    let found = ebb(&db, &["adopt", "--detect"]).json();
    assert_eq!((&found["layouts"], &found["unknown"]), (&json!([]), &json!([])));
    let doctor = ebb(&db, &["doctor"]).json();
    let layouts = doctor["findings"].as_array().unwrap().iter().find(|row| row["what"] == "layouts").unwrap();
    assert_eq!(layouts["found"], "no graph of another library is known");
}

#[test]
fn a_preset_is_printed_without_a_database() {
    let run = |name: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ebb"));
        let ended = command.args(["adopt", "--preset", name]).env_clear().output().unwrap();
        (ended.status.code(), String::from_utf8(ended.stdout).unwrap())
    };
    let file = include_str!("../../../config/adopt/graphiti.toml");
    assert_eq!(run("graphiti"), (Some(0), file.to_owned()));
    assert_eq!(run("grafiti").0, Some(2));
}

/// A graph of Graphiti with each fault. Instants are those of hours before 2026-03-01T00:00Z, in several forms.
const FAULTS: [&str; 7] = [
    "CREATE INDEX of_theirs IF NOT EXISTS FOR (n:Entity) ON (n.uuid)",
    "UNWIND range(1, 120) AS i CREATE (:Entity {uuid: 'e' + i, name: 'Name ' + i, group_id: 'g', summary: '<b>&',
        created_at: datetime('2026-02-28T00:00Z') - duration({days: i})})
     WITH count(*) AS all UNWIND range(1, 4) AS i CREATE (:Episodic {uuid: 'p' + i, content: 'c', group_id: 'g', created_at: localdatetime('2026-02-01T00:00'), valid_at: '2026-02-01T00:00:00'})",
    // Orphans: 5. Same names: one of three, one of two; one in another scope.
    "UNWIND [[' ann', 'g'], ['Ann', 'g'], ['ANN ', 'g'], ['<i>bob', 'g'], ['<I>Bob', 'g']] AS row CREATE (:Entity {uuid: 'd' + row[0], name: row[0], group_id: row[1], created_at: 1772236800})
     CREATE (:Other {name: 'x'})",
    // 119 facts from the first entity, of which 12 ended at one instant, 3 at others in other forms, and one will end.
    "MATCH (a:Entity {uuid: 'e1'}) UNWIND range(2, 120) AS i MATCH (b:Entity {uuid: 'e' + i})
     CREATE (a)-[r:RELATES_TO {uuid: 'r' + i, name: 'KNOWS', fact: 'f', episodes: ['p1', 'gone' + (i % 3)], created_at: 1772236800000}]->(b)
     FOREACH (_ IN CASE WHEN i <= 13 THEN [1] ELSE [] END | SET r.expired_at = datetime('2026-02-20T12:00Z'))
     FOREACH (_ IN CASE WHEN i = 14 THEN [1] ELSE [] END | SET r.invalid_at = '2026-02-21T00:00:00+00:00')
     FOREACH (_ IN CASE WHEN i = 15 THEN [1] ELSE [] END | SET r.invalid_at = 1771632000)
     FOREACH (_ IN CASE WHEN i = 16 THEN [1] ELSE [] END | SET r.invalid_at = date('2026-02-21'))
     FOREACH (_ IN CASE WHEN i = 17 THEN [1] ELSE [] END | SET r.invalid_at = datetime('2027-01-01T00:00Z'))
     FOREACH (_ IN CASE WHEN i = 18 THEN [1] ELSE [] END | SET r.invalid_at = [1, 2], r.expired_at = 'never', r.created_at = true)",
    "CREATE (:Entity {uuid: 'e1', name: 'Another', group_id: 'g', created_at: datetime('2026-02-28T00:00Z')})-[:RELATES_TO {uuid: 'r2', name: 'KNOWS',
        fact: 'f', created_at: datetime('2026-02-28T00:00Z')}]->(:Entity {uuid: 'e1', name: 'In another group', group_id: 'h', created_at: datetime('2026-02-28T00:00Z')})",
    "MATCH (p:Episodic) MATCH (b:Entity {uuid: 'e2'}) CREATE (p)-[:MENTIONS {uuid: 'm' + p.uuid}]->(b)",
    "CALL db.awaitIndexes(300)",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_report_counts_each_fault_and_writes_nothing() {
    let db = untouched().await;
    for text in FAULTS {
        db.client.run(text, &[]).await;
    }
    let before = dump(&db).await;
    let report = ebb(&db, &["report", "--at", "2026-03-01"]).json();
    let folder = tempfile::tempdir().unwrap();
    let words = ["report", "--at", "2026-03-01", "--html", "r.html"];
    assert!(command(&db, folder.path(), &words).output().unwrap().status.success());
    let table = ebb(&db, &["report", "--at", "2026-03-01", "-o", "table"]).out;
    same(&before, &dump(&db).await, "before and after");
    db.client.run("DROP INDEX of_theirs", &[]).await;

    let graphiti = of(&report, "Graphiti");
    is(&counts(graphiti), &[("Entity", 127), ("Episodic", 4), ("RELATES_TO", 120), ("MENTIONS", 4)]);
    let growth = &graphiti["growth"];
    // Of the last 30 days, from 2026-01-31: entities of days 1 to 28, five and two more; the episodes; all facts but one.
    assert_eq!((growth["undated"].as_i64(), growth["by"].clone()), (Some(1), json!(["created_at"])));
    let rows: i64 = growth["days"].as_array().unwrap().iter().map(|day| day["rows"].as_i64().unwrap()).sum();
    let facts: i64 =
        growth["days"].as_array().unwrap().iter().map(|day| day["facts"].as_i64().unwrap()).sum();
    assert_eq!((rows, facts), (28 + 5 + 2 + 4 + 119, 119), "{growth}");
    let all: i64 =
        growth["weeks"].as_array().unwrap().iter().map(|week| week["rows"].as_i64().unwrap()).sum();
    assert_eq!(all, 127 + 4 + 119);
    close(growth["facts_per_day"].as_f64().unwrap(), 119.0 / 30.0);

    let liveness = graphiti["liveness"].as_array().unwrap();
    assert_eq!(liveness.len(), 1);
    assert_eq!((&liveness[0]["rows"], &liveness[0]["not_live"]), (&json!(120), &json!(15)), "{liveness:?}");

    let findings = graphiti["findings"].as_array().unwrap();
    let finding = |check: &str, of: Value| {
        let mut found = findings.iter().filter(|row| row["check"] == check && row["of"] == of);
        found.next().unwrap_or_else(|| panic!("{check} {of}: {findings:#?}"))
    };
    let entity = || json!("Entity");
    assert_eq!(finding("duplicate_keys", entity())["examples"], json!(["e1"]));
    assert_eq!(finding("duplicate_keys", json!("RELATES_TO"))["examples"], json!(["r2"]));
    let names = finding("duplicate_names", entity());
    assert_eq!((&names["count"], &names["examples"]), (&json!(2), &json!(["ann (3)", "<i>bob (2)"])));
    let orphans = finding("orphans", json!(null));
    assert_eq!((&orphans["count"], orphans["examples"].as_array().unwrap().len()), (&json!(5), 5));
    let dangling = finding("dangling_references", json!("RELATES_TO"));
    assert_eq!(dangling["count"], 3);
    assert!(dangling["found"].as_str().unwrap().ends_with("in 119 places"), "{dangling}");
    let retired = finding("shared_retirements", json!("RELATES_TO"));
    assert_eq!(
        (&retired["count"], &retired["examples"]),
        (&json!(12), &json!(["2026-02-20T12:00:00Z (12)"]))
    );
    let hubs = finding("hubs", json!(null));
    assert_eq!((&hubs["level"], &hubs["examples"][0]), (&json!("warning"), &json!("Entity Name 1 (119)")));
    let indexes = finding("missing_indexes", json!(null));
    let statements = indexes["statements"].as_array().unwrap();
    let wanted = "CREATE INDEX relates_to_uuid IF NOT EXISTS FOR ()-[n:RELATES_TO]-() ON (n.uuid)";
    assert!(
        statements.contains(&json!(wanted)) && !indexes["examples"].to_string().contains("Entity.uuid"),
        "{indexes}"
    );
    for statement in statements {
        // Each is a statement that the server accepts.
        let text = statement.as_str().unwrap();
        db.client.run(text, &[]).await;
        let name = text.split(' ').nth(2).unwrap();
        db.client.run(&format!("DROP INDEX {name}"), &[]).await;
    }
    for row in findings {
        for field in ["found", "why", "fix"] {
            assert!(row[field].as_str().unwrap().len() > 20, "{row}");
        }
    }
    assert_eq!(
        (&graphiti["clean"], &report["unknown"][0]),
        (&json!([]), &json!({"label": "Other", "nodes": 5}))
    );

    assert!(table.contains("12.5 % of RELATES_TO are no longer live (15 of 120"), "{table}");
    let page = std::fs::read_to_string(folder.path().join("r.html")).unwrap();
    assert!(
        page.contains("&lt;i&gt;bob (2)") && !page.contains("<i>bob") && !page.contains("<script"),
        "{page}"
    );
    assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("src="));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_reads_every_layout() {
    let db = untouched().await;
    for text in [GRAPHITI, AGENT_MEMORY, MEM0, MEMOS, MCP] {
        db.client.run(text, &[]).await;
    }
    let report = ebb(&db, &["report"]).json();
    let not_live = |library: &str| -> Vec<(String, i64)> {
        let rows = of(&report, library)["liveness"].as_array().unwrap().iter();
        rows.map(|row| (row["of"].as_str().unwrap().to_owned(), row["not_live"].as_i64().unwrap())).collect()
    };
    is(&not_live("Graphiti"), &[("RELATES_TO", 0)]);
    is(&not_live("neo4j-agent-memory"), &[("Entity", 0), ("Fact", 20), ("Preference", 0), ("RELATED_TO", 0)]);
    is(&not_live("mem0"), &[("relationships", 4)]);
    is(&not_live("MemOS"), &[("Memory", 2)]);
    assert_eq!(of(&report, "mcp-neo4j-memory")["growth"]["by"], json!([]));
    assert_eq!(of(&report, "neo4j-agent-memory")["growth"]["undated"], 0);
}

/// The finding of a check, of a label or type.
fn finding<'a>(layout: &'a Value, check: &str, of: &Value) -> &'a Value {
    let findings = layout["findings"].as_array().unwrap();
    let found = findings.iter().find(|row| row["check"] == check && row["of"] == *of);
    found.unwrap_or_else(|| panic!("{check} {of}: {layout:#}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn hubs_have_a_share_of_all_relationships_of_the_nodes() {
    let db = untouched().await;
    // Each entity is as connected as any other, by relationships of nodes that no mapping describes.
    let even = "UNWIND range(1, 200) AS i
        CREATE (n:Entity {uuid: 'e' + i, name: 'Name ' + i, group_id: 'g', summary: 's', created_at: datetime()})
        WITH n UNWIND range(1, 10) AS i CREATE (:Community {uuid: n.uuid + i})-[:HAS_MEMBER]->(n)";
    db.client.run(even, &[]).await;
    let chain = "UNWIND range(1, 199) AS i MATCH (a:Entity {uuid: 'e' + i}), (b:Entity {uuid: 'e' + (i + 1)})
        CREATE (a)-[:RELATES_TO {uuid: 'r' + i, name: 'KNOWS', fact: 'f', episodes: [], created_at: datetime()}]->(b)";
    db.client.run(chain, &[]).await;
    let report = ebb(&db, &["report"]).json();
    let hubs = finding(of(&report, "Graphiti"), "hubs", &json!(null));
    assert_eq!(hubs["level"], "note");
    let said = hubs["found"].as_str().unwrap();
    assert!(said.ends_with("% of all 2,199 relationships") && said.contains(" 5."), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ends_to_come_and_values_that_are_no_instant_retire_nothing() {
    let db = untouched().await;
    // 12 facts both of whose ends are one instant, ten at each of six days, some that end later, and some that end at no instant.
    let facts = "UNWIND range(1, 120) AS i
        CREATE (:Entity {uuid: 'a' + i, name: 'Ann', group_id: 'g', created_at: datetime('2026-01-01T00:00Z')})
          -[r:RELATES_TO {uuid: 'r' + i, name: 'KNOWS', fact: 'f', episodes: [], created_at: datetime('2026-01-01T00:00Z')}]->
          (:Entity {uuid: 'b' + i, name: 'Bob', group_id: 'g', created_at: datetime('2026-01-01T00:00Z')})
        SET r += CASE
          WHEN i <= 12 THEN {expired_at: datetime('2026-02-20T12:00Z'), invalid_at: datetime('2026-02-20T12:00Z')}
          WHEN i <= 72 THEN {invalid_at: date('2026-02-01') + duration({days: (i - 13) / 10})}
          WHEN i <= 101 THEN {invalid_at: datetime('2030-12-31T00:00Z')}
          WHEN i <= 111 THEN {invalid_at: []}
          ELSE {invalid_at: 'never'} END";
    db.client.run(facts, &[]).await;
    let report = ebb(&db, &["report", "--at", "2026-03-01"]).json();
    let graphiti = of(&report, "Graphiti");
    let retired = finding(graphiti, "shared_retirements", &json!("RELATES_TO"));
    let days = (1..=4).map(|day| format!("2026-02-0{day} (10)"));
    let examples: Vec<String> = std::iter::once("2026-02-20T12:00:00Z (12)".to_owned()).chain(days).collect();
    assert_eq!((&retired["count"], &retired["examples"]), (&json!(72), &json!(examples)));
    assert_eq!(finding(graphiti, "not_live", &json!("RELATES_TO"))["count"], 72);
}
