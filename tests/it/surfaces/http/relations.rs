//! The documented routes, whole bodies, byte for byte; and their pages and batches.

use super::TestServer;
use crate::harness::neo4j::fresh;
use crate::surfaces::contents;
use std::collections::BTreeSet;

#[tokio::test(flavor = "multi_thread")]
async fn the_documented_routes_answer_as_documented() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let seen = |body: &str, status: u16| {
        let told = api.post("/memory/graph/edges", body);
        told.json(status);
        told.body
    };
    assert_eq!(
        seen(
            r#"{"from":"Alex","to":"ProjectAlpha","type":"works_on","weight":0.08,"at":"2025-09-01T00:00:00Z"}"#,
            201
        ),
        r#"{"from":"Alex","type":"works_on","to":"ProjectAlpha","outcome":"created","at":"2025-09-01T00:00:00.000Z","dry_run":false}"#
    );
    seen(
        r#"{"from":"ProjectAlpha","to":"OldFramework","type":"uses","weight":0.04,"at":"2025-06-15T10:00:00Z"}"#,
        201,
    );
    seen(
        r#"{"from":"CoreAuthModule","to":"JWTLibrary","type":"depends_on","weight":1.0,"pinned":true,"at":"2025-06-15T10:00:00Z"}"#,
        201,
    );
    assert_eq!(
        api.get("/memory/graph/edges?decayed=true&at=2025-06-15T10:00:00Z").body,
        r#"[{"from":"Alex","to":"ProjectAlpha","type":"works_on","weight":0.08,"lastObserved":"2025-09-01","pinned":false},{"from":"ProjectAlpha","to":"OldFramework","type":"uses","weight":0.04,"lastObserved":"2025-06-15","pinned":false}]"#
    );
    assert_eq!(
        api.get("/memory/graph/edges").body,
        r#"[{"from":"CoreAuthModule","to":"JWTLibrary","type":"depends_on","weight":1.0,"lastObserved":"2025-06-15","pinned":true}]"#
    );
    let before = contents(&db).await;
    let dry = api.post("/memory/graph/decay", r#"{"dryRun":true}"#);
    assert_eq!(dry.body, r#"{"processed":2,"decayed":2,"belowMinimum":2,"pinned":1}"#);
    let named = api.post("/memory/graph/decay", r#"{"dryRun":true,"list":true}"#).json(200);
    assert_eq!(named["edges"].as_array().unwrap().len(), 2, "{named}");
    assert_eq!(contents(&db).await, before, "a dry run writes nothing");
    let passed = api.once("pass-1", "/memory/graph/decay", r#"{"dryRun":false}"#);
    assert_eq!(passed.body, r#"{"processed":2,"decayed":2,"belowMinimum":2,"pinned":1}"#);
    let again = api.once("pass-1", "/memory/graph/decay", r#"{"dryRun":false}"#);
    assert_eq!(again.body, passed.body, "what the same request did");
    assert_eq!(
        seen(r#"{"from":"Alex","to":"ProjectAlpha","type":"works_on"}"#, 200).matches("again").count(),
        1
    );
    api.post("/memory/graph/decay", r#"{"list":true}"#).fails(400, "validation", "list needs dryRun");
    api.post("/memory/graph/decay", r#"{"dryrun":true}"#).fails(400, "validation", "unknown field `dryrun`");
    api.post("/memory/graph/edges", r#"{"from":"a","to":"b","type":"t","weight":1.5}"#).fails(
        400,
        "validation",
        "weight: weight is 1.5, outside 0 ..= 1",
    );
    api.post("/memory/graph/edges", r#"{"from":" ","to":"b","type":"t"}"#).fails(
        400,
        "validation",
        "from: the name of an entity is empty",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_relations_show_each_once() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let many: Vec<String> =
        (0..25).map(|n| format!(r#"{{"from":"e{n}","to":"hub","type":"knows"}}"#)).collect();
    let told = api.post("/memory/graph/edges:batch", &format!("[{}]", many.join(","))).json(200);
    assert_eq!(told["edges"].as_array().unwrap().len(), 25);
    assert_eq!(told["edges"][24]["outcome"], "created");
    let (mut seen, mut path, mut pages) = (BTreeSet::new(), "/memory/graph/edges?limit=10".to_owned(), 0);
    loop {
        let page = api.get(&path);
        for edge in page.json(200).as_array().unwrap() {
            assert!(seen.insert(edge["from"].as_str().unwrap().to_owned()), "{edge} came twice");
        }
        pages += 1;
        let Some(link) = page.header("link") else { break };
        let (next, rest) = link.trim_start_matches('<').split_once('>').unwrap();
        assert_eq!(rest, "; rel=\"next\"");
        path = next.to_owned();
    }
    assert_eq!((seen.len(), pages), (25, 3));
    api.get("/memory/graph/edges?limit=0").fails(400, "validation", "limit: a page has 1 to 10000 items");
    api.get("/memory/graph/edges?cursor=x").fails(400, "validation", "a cursor needs a limit");
    let bad = format!("[{},{{\"from\":\"a\",\"to\":\"b\"}}]", many[0]);
    api.post("/memory/graph/edges:batch", &bad).fails(400, "validation", "[1]: missing field `type`");
}

#[tokio::test(flavor = "multi_thread")]
async fn more_relations_than_one_answer_may_sort_are_refused_at_once() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    // A thousand names of 64 KiB are more than the limit.
    let relations = "WITH reduce(name = 'x', i IN range(1, 16) | name + name) AS long
        CREATE (a:Hub {scope: 'local', name: long})
        WITH a UNWIND range(1, 1000) AS n
        CREATE (a)-[:RELATES_TO {type: 't', ebbKey: 'k' + n, weight: 1.0, baseWeight: 1.0, weightAt: datetime(),
          lastObserved: datetime(), pinned: true}]->(:Hub {scope: 'local', name: 'b' + n})";
    db.client.run(relations, &[]).await;
    let all = api.get("/memory/graph/edges");
    all.fails(
        400,
        "validation",
        "the first 1000 relations take more than the 48 MiB that one answer may hold",
    );
    all.fails(400, "validation", "list them with a limit, in pages");
    assert_eq!(api.get("/memory/graph/edges?limit=5").json(200).as_array().unwrap().len(), 5);
}
