//! One of two processes that answer over HTTP has a wrong clock. It says so and is not ready; whoever asks it all the same
//! writes by the server's clock, and nobody's accesses or observations come late because of it.

use super::{HttpRequest, TestServer};
use crate::harness::clocks::{
    ALLOWED_MS, ClockFault, WRONG_MS, doctor, misdated, refusal, server_ms, skew_ms,
};
use crate::harness::ebb::close;
use crate::harness::neo4j::{Fresh, fresh};
use crate::surfaces::ebb;
use crate::worker::process::eventually;
use ebb_core::clock::{parse_rfc3339, rfc3339};
use ebb_core::domain::units::Timestamp;
use serde_json::Value;

/// Both, in turns, the wrong one first and last.
fn turns<'a>(wrong: &'a TestServer, right: &'a TestServer) -> [&'a TestServer; 5] {
    [wrong, right, wrong, right, wrong]
}

fn ms(value: &Value) -> i64 {
    parse_rfc3339(value.as_str().unwrap()).unwrap().millis()
}

/// Each access adds one to what the law leaves of the one before.
async fn accesses(db: &Fresh, wrong: &TestServer, right: &TestServer) {
    let tunables = db.tunables().await;
    let made = r#"{"id":"m","content":"x","session":"s","mentions":["Parser"]}"#;
    wrong.post("/v1/memories", made).json(201);
    wrong
        .post("/v1/memories:batch", r#"[{"id":"b1","content":"y"},{"id":"b2","content":"z","session":"s"}]"#)
        .json(200);
    for api in turns(right, wrong) {
        let before = db.state("m").await;
        api.post("/v1/memories/m/access", r#"{"session":"s"}"#).json(200);
        let after = db.state("m").await;
        assert_eq!(after.access_count, before.access_count + 1);
        assert!(after.energy_at >= before.energy_at && after.energy_at == after.last_accessed, "{after:?}");
        close(after.energy.value(), before.energy_now(after.energy_at, &tunables).value() + 1.0);
        api.post("/v1/accesses:batch", r#"[{"id":"b1"}]"#).json(200);
    }
    let shown = right.get("/v1/memories/m").json(200);
    assert!(shown["energy"].as_f64().unwrap() > 5.9, "six uses in a moment: {shown}");
    assert_eq!(shown["tier"], wrong.get("/v1/memories/m").json(200)["tier"]);
}

/// None comes late, and the last who says something is heard.
fn observed_and_said(wrong: &TestServer, right: &TestServer) {
    for (turn, api) in turns(wrong, right).into_iter().enumerate() {
        let seen = api.post("/memory/graph/edges", r#"{"from":"Alex","to":"Parser","type":"maintains"}"#);
        let (status, outcome) = if turn == 0 { (201, "created") } else { (200, "again") };
        assert_eq!(seen.json(status)["outcome"], outcome);
        let said = format!(r#"{{"entity":"Parser","relation":"owner","value":"Alex","source":"s{turn}"}}"#);
        assert_eq!(api.post("/v1/facts", &said).json(201)["head"], true, "{turn}");
        let heads = right.get("/v1/facts?entity=Parser").json(200);
        assert_eq!(
            (&heads["facts"][0]["source"], &heads["facts"][1]),
            (&format!("s{turn}").into(), &Value::Null)
        );
    }
}

fn walked(wrong: &TestServer, right: &TestServer) {
    for id in ["a", "b"] {
        wrong.post("/v1/trails/nodes", &format!(r#"{{"label":"Room","id":"{id}"}}"#)).json(201);
    }
    wrong.post("/v1/trails/edges", r#"{"from":"a","to":"b","type":"HALL"}"#).json(201);
    let mut success = 0.0;
    for api in turns(wrong, right) {
        let done = api.post("/v1/trails/paths", r#"{"path":["a","b"]}"#).json(200);
        let now = done["edges"][0]["success"].as_f64().unwrap();
        assert!(now > success + 0.9, "each walk counts: {success}, then {done}");
        success = now;
        api.post("/v1/trails/explorations", r#"{"node":"b"}"#).json(200);
    }
    let came = r#"{"recall_id":"r","used":[{"id":"m","path":["Parser","m"]}],"reward":1}"#;
    wrong.post("/v1/outcomes", came).json(200);
}

/// Jobs, sweeps and the end of a session, asked of the wrong one, go by the server's clock.
async fn worked(db: &Fresh, wrong: &TestServer) {
    let near = |at: &Value, now: i64| assert!((ms(at) - now).abs() < ALLOWED_MS, "{at} is not {now}");
    let now = server_ms(db).await;
    wrong
        .put("/v1/decay/policies/all", r#"{"relation":"*","scope":"local","mode":"retract","ttl_s":7200}"#)
        .json(201);
    let swept = wrong.post("/v1/decay/sweep", r#"{"scope":"local"}"#).json(200);
    near(&swept["swept_at"], now);
    assert_eq!(swept["facts_retracted"], 0, "none is two hours old: {swept}");
    for job in ["decay", "fade", "promote", "coactivate"] {
        let ran = wrong.post(&format!("/v1/jobs/{job}/run"), "{}").json(200);
        near(&ran["at"], now);
        assert_eq!(ran["expired"], 0, "{ran}");
    }
    wrong.post("/v1/sessions/s/end", "{}").json(200);
}

/// The present of the wrong machine is refused where it lies ahead.
async fn stated(db: &Fresh, wrong: &TestServer, wrong_ms: i64) {
    let at = Timestamp::from_millis(server_ms(db).await + wrong_ms).unwrap();
    let access = wrong.post("/v1/memories/m/access", &format!(r#"{{"at":"{}"}}"#, rfc3339(at)));
    if wrong_ms > 0 {
        access.fails(400, "validation", "ahead of the server's clock");
    } else {
        access.json(200);
    }
}

/// A key lasts by the server's clock, whoever makes it and whoever is shown it.
async fn keyed(db: &Fresh, variables: &[(&str, String)], apis: [&TestServer; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let words =
        ["key", "create", "--name", "k", "--right", "read", "--scope", "*", "--lasts", "1h", "-o", "json"];
    let mut command = crate::surfaces::command(db, folder.path(), &words);
    let made = command.envs(variables.iter().map(|(name, value)| (name, value))).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let left = ms(&made["expires"]) - server_ms(db).await;
    assert!((left - 3_600_000).abs() < ALLOWED_MS, "{made}");
    let bearer = format!("Bearer {}", made["secret"].as_str().unwrap());
    let path = "/v1/memories/m";
    for api in apis {
        eventually("a key is needed", async || api.get(path).status == 401).await;
        let headers = vec![("authorization", bearer.as_str())];
        api.ask(&HttpRequest { method: "GET", path, headers, body: None }).json(200);
    }
}

async fn beside(how: &ClockFault, wrong_ms: i64) {
    let db = fresh().await;
    let began = server_ms(&db).await;
    let variables = how.variables(wrong_ms);
    let set: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let right = TestServer::on(&db, &[]);
    let wrong = TestServer::begin(&db, "http", &set);
    let readiness = || wrong.raw(b"GET /readyz HTTP/1.0\r\n\r\n");
    eventually("the wrong one says that it is", async || {
        readiness().is_some_and(|told| told.status == 503 && told.body.contains(&refusal(wrong_ms)))
    })
    .await;
    assert_eq!(wrong.get("/healthz").status, 200);
    let gauge = skew_ms(&wrong.get("/metrics").body);
    assert!((gauge - wrong_ms as f64).abs() < ALLOWED_MS as f64, "{gauge} is not {wrong_ms}");
    assert!(skew_ms(&right.get("/metrics").body).abs() < ALLOWED_MS as f64);

    accesses(&db, &wrong, &right).await;
    observed_and_said(&wrong, &right);
    walked(&wrong, &right);
    worked(&db, &wrong).await;
    assert_eq!(misdated(&db, began).await, [""; 0]);
    stated(&db, &wrong, wrong_ms).await;
    keyed(&db, &variables, [&right, &wrong]).await;

    let (clock, is_well) = doctor(&db, &variables, "clock");
    assert_eq!((&clock["level"], is_well), (&"problem".into(), false), "{clock}");
    assert_eq!(doctor(&db, &[], "clock").0["level"], "well");
    assert_eq!(doctor(&db, &[], "dates ahead").0["level"], "well");
    assert_eq!(ebb(&db, &["status"]).code, Some(0));
    assert!(right.is_ready());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_whose_clock_is_set_wrong_writes_by_the_servers() {
    for wrong_ms in WRONG_MS {
        beside(&ClockFault::Injected, wrong_ms).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_on_a_machine_whose_clock_is_wrong_writes_by_the_servers() {
    let Some(faked) = ClockFault::faked("an API under libfaketime") else { return };
    for wrong_ms in WRONG_MS {
        beside(&faked, wrong_ms).await;
    }
}
