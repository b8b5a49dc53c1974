//! Trails over HTTP: a palace is laid, walked and asked; what cannot be is said, and nothing is written.

use super::TestServer;
use crate::harness::neo4j::{Fresh, fresh};
use crate::surfaces::contents;
use serde_json::{Value, json};

const DAY: &str = r#""at":"2026-01-01T00:00:00Z""#;

/// Four places in a row.
fn row(api: &TestServer) {
    for id in ["a", "b", "c", "d"] {
        api.post("/v1/trails/nodes", &format!(r#"{{"label":"Room","id":"{id}",{DAY}}}"#)).json(201);
    }
    for (from, to) in [(r#""a""#, r#""Room:b""#), (r#"{"id":"b"}"#, r#"{"label":"Room","id":"c"}"#)] {
        let edge = format!(r#"{{"from":{from},"to":{to},"type":"HALL",{DAY}}}"#);
        assert_eq!(api.post("/v1/trails/edges", &edge).json(201)["created"], true);
        assert_eq!(api.post("/v1/trails/edges", &edge).json(200)["created"], false);
    }
    let last = format!(r#"{{"from":"c","to":"d","type":"HALL","base_cost":0.4,{DAY}}}"#);
    assert_eq!(api.post("/v1/trails/edges", &last).json(201)["edges"][0]["base_cost"], 0.4);
}

async fn served() -> (Fresh, TestServer) {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    row(&api);
    (db, api)
}

fn numbers(list: &Value, field: &str) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|one| one[field].as_f64().unwrap()).collect()
}

/// Names decide between edges of equal pheromones and paths of equal cost, and not the numbers of the server, which others have
/// a part in: the same trails that are written in another order are answered alike.
#[tokio::test(flavor = "multi_thread")]
async fn ties_do_not_depend_on_the_order_of_writes() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let mut answers = Vec::new();
    for (scope, middles) in [("a", ["z", "y", "x"]), ("b", ["x", "z", "y"])] {
        for id in [&middles[..], &["t", "s"]].concat() {
            let place = format!(r#"{{"label":"Room","id":"{id}","scope":"{scope}",{DAY}}}"#);
            api.post("/v1/trails/nodes", &place).json(201);
        }
        for (from, to) in middles.into_iter().flat_map(|id| [("s", id), (id, "t")]) {
            let edge = format!(r#"{{"from":"{from}","to":"{to}","type":"HALL","scope":"{scope}",{DAY}}}"#);
            api.post("/v1/trails/edges", &edge).json(201);
            let path = format!(r#"{{"path":["{from}","{to}"],"scope":"{scope}",{DAY}}}"#);
            api.post("/v1/trails/paths", &path).json(200);
        }
        let get = |query: &str| {
            api.get(&format!("/v1/trails/{query}&scope={scope}&at=2026-01-01T00:00:00Z")).json(200)
        };
        answers.push([get("hot?limit=3"), get("path?from=s&to=t")]);
    }
    let ends = |edge: &Value| format!("{} {}", edge["from"]["id"], edge["to"]["id"]).replace('"', "");
    let hottest: Vec<String> = answers[0][0]["edges"].as_array().unwrap().iter().map(ends).collect();
    assert_eq!(hottest, ["s x", "s y", "s z"]);
    assert_eq!(answers[0], answers[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_earns_less_with_each_step_and_counts_once() {
    let (_db, api) = served().await;
    let path = format!(r#"{{"path":["a",{{"id":"b","via":"HALL"}},"Room:c","d"],{DAY}}}"#);
    let done = api.once("w", "/v1/trails/paths", &path).json(200);
    let success = numbers(&done["edges"], "success");
    for (found, wanted) in success.iter().zip([1.0, 2.0 / 3.0, 1.0 / 3.0]) {
        assert!((found - wanted).abs() < 1e-9, "{success:?}");
    }
    assert_eq!((success.len(), done["nodes"].as_array().unwrap().len()), (3, 4), "{done}");
    let again = api.once("w", "/v1/trails/paths", &path).json(200);
    assert_eq!(numbers(&again["edges"], "success"), success, "a request counts once");

    let at = "at=2026-01-01T00:00:00Z";
    let hot = api.get(&format!("/v1/trails/hot?limit=1&{at}")).json(200);
    assert_eq!((&hot["edges"][0]["from"]["id"], &hot["edges"][1]), (&json!("a"), &json!(null)));
    assert_eq!(api.get(&format!("/v1/trails/cold?{at}")).json(200)["nodes"].as_array().unwrap().len(), 4);
    let explored = api.post("/v1/trails/explorations", &format!(r#"{{"node":"b",{DAY}}}"#)).json(200);
    assert!(explored["nodes"][0]["exploration"].as_f64().unwrap() > 0.0, "{explored}");
    let status = api.get(&format!("/v1/trails/status?place=a&to=Room:b&{at}")).json(200);
    assert_eq!(
        (&status["nodes"][1]["id"], &status["edges"][0]["success"]),
        (&json!("b"), &json!(success[0])),
        "{status}"
    );
    let way = api.get(&format!("/v1/trails/path?from=a&to=d&{at}")).json(200);
    assert_eq!(way["nodes"].as_array().unwrap().len(), 4, "{way}");
    assert!(
        (way["cost"].as_f64().unwrap() - numbers(&way["edges"], "cost").iter().sum::<f64>()).abs() < 1e-9
    );
    let next = api.get(&format!("/v1/trails/next?place=a&{at}")).json(200);
    assert_eq!(next["candidates"][0]["id"], "b", "{next}");

    let rehearsed = api.post("/v1/trails/evaporate", r#"{"dry_run":true,"force":true}"#).json(200);
    assert_eq!(rehearsed["dry_run"], true);
    let before = api.get("/v1/trails/cycle?at=2026-01-01T05:00:00Z").json(200);
    let more = r#"{"advance":10,"at":"2026-01-01T05:00:00Z"}"#;
    let after = api.once("c", "/v1/trails/cycle", more).json(200);
    assert_eq!(after["cycle"].as_i64(), before["cycle"].as_i64().map(|cycle| cycle + 10));
    assert_eq!(api.once("c", "/v1/trails/cycle", more).json(200)["cycle"], after["cycle"]);
    let gone = r#"{"at":"2026-01-01T05:00:00Z"}"#;
    let changed = api.once("e", "/v1/trails/evaporate", gone).json(200)["changed"].as_i64().unwrap();
    assert!(changed > 0);
    assert_eq!(api.once("e", "/v1/trails/evaporate", gone).json(200)["changed"], changed, "its answer again");
    assert_eq!(api.post("/v1/trails/evaporate", gone).json(200)["changed"], 0, "twice is once");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_is_said_and_nothing_is_written() {
    let (db, api) = served().await;
    let before = contents(&db).await;
    let wrong = |path: &str, body: &str, says: &str| {
        api.post(&format!("/v1/trails/{path}"), body).fails(400, "validation", says);
    };
    wrong("nodes", r#"{"label":"Ro`om","id":"x"}"#, "label: ");
    wrong("nodes", r#"{"label":"Room","id":" "}"#, "id: ");
    wrong("edges", r#"{"from":"a","to":"b","type":"KNOWS"}"#, "HAS_ROOM, HAS_CLOSET");
    wrong("edges", r#"{"from":"a","to":"b","type":"HALL","base_cost":11}"#, "it must be 0 to 10");
    wrong("edges", r#"{"from":["a"],"to":"b","type":"HALL"}"#, "a place is an id, Label:id");
    wrong("paths", r#"{"path":["a"]}"#, "this one has 1");
    wrong("paths", r#"{"path":["a","b"],"reward":0}"#, "it must be above 0");
    wrong("paths", r#"{"path":["a",{"label":"EbbRun","id":"b"}]}"#, "path[1]: ");
    wrong("paths", r#"{"path":["a","b","d"]}"#, "there is no edge between Room:b and Room:d");
    wrong("paths", r#"{"path":["a","z"]}"#, "there is no place z");
    wrong("cycle", r#"{"advance":0}"#, "advance: ");
    wrong("cycle", r#"{"advance":4294967295,"accept_cycles":4294967295}"#, "more than can be added at once");
    for unaccepted in [r#"{"advance":101}"#, r#"{"advance":101,"accept_cycles":100}"#] {
        let says = "To accept, set accept_cycles to 101";
        api.post("/v1/trails/cycle", unaccepted).fails(409, "conflict", says);
    }
    wrong("evaporate", r#"{"dryrun":true}"#, "unknown field `dryrun`");
    let missing = |path: &str, body: &str, says: &str| {
        api.post(&format!("/v1/trails/{path}"), body).fails(404, "not_found", says);
    };
    missing("edges", r#"{"from":"a","to":"z","type":"HALL"}"#, "there is no place z");
    missing("explorations", r#"{"node":"a","scope":"team"}"#, "there is no place a");
    api.get("/v1/trails/status?place=a&scope=team").fails(404, "not_found", "there is no place a");
    api.get("/v1/trails/next").fails(400, "validation", "missing field `place`");
    assert_eq!(contents(&db).await, before);
}
