//! Keys: what each opens, on every route there is, from one table; and that a revoked one opens nothing.

use super::{HttpRequest, TestServer};
use crate::harness::neo4j::{Fresh, fresh};
use crate::surfaces::ebb;
use crate::worker::process::eventually;
use secrecy::ExposeSecret;
use std::collections::BTreeSet;

/// What a route needs: a right, 0 to 2, and whether over every scope.
struct Row {
    method: &'static str,
    /// As the document has it.
    route: &'static str,
    /// As it is asked, in the scope `team` where it knows scopes.
    path: &'static str,
    body: Option<&'static str>,
    right: usize,
    everywhere: bool,
    /// Whether any key with the right opens it: its answer is about the scopes of the key.
    anywhere: bool,
}

const fn looks(route: &'static str, path: &'static str, everywhere: bool) -> Row {
    Row { method: "GET", route, path, body: None, right: 0, everywhere, anywhere: false }
}

const fn writes(route: &'static str, path: &'static str, body: &'static str) -> Row {
    Row { method: "POST", route, path, body: Some(body), right: 1, everywhere: false, anywhere: false }
}

const ROUTES: &[Row] = &[
    looks("/memory/graph/edges", "/memory/graph/edges?scope=team", false),
    writes(
        "/memory/graph/edges",
        "/memory/graph/edges",
        r#"{"from":"a","to":"b","type":"t","scope":"team"}"#,
    ),
    writes(
        "/memory/graph/edges:batch",
        "/memory/graph/edges:batch",
        r#"[{"from":"a","to":"b","type":"t","scope":"team"}]"#,
    ),
    Row {
        everywhere: true,
        ..writes("/memory/graph/decay", "/memory/graph/decay", r#"{"dryRun":true,"scope":"team"}"#)
    },
    looks("/v1/memories", "/v1/memories?scope=team", false),
    writes("/v1/memories", "/v1/memories", r#"{"content":"x","scope":"team"}"#),
    writes("/v1/memories:batch", "/v1/memories:batch", r#"[{"content":"x","scope":"team"}]"#),
    Row { right: 0, ..writes("/v1/memories:search", "/v1/memories:search", r#"{"scope":"team"}"#) },
    Row {
        right: 2,
        ..writes(
            "/v1/memories:forget",
            "/v1/memories:forget",
            r#"{"filter":{"tags":["none"]},"scope":"team"}"#,
        )
    },
    looks("/v1/memories/{id}", "/v1/memories/m?scope=team", false),
    Row {
        method: "PATCH",
        ..writes("/v1/memories/{id}", "/v1/memories/m", r#"{"tags":["a"],"scope":"team"}"#)
    },
    looks("/v1/memories/{id}/versions", "/v1/memories/m/versions?scope=team", false),
    Row {
        method: "DELETE",
        body: None,
        right: 2,
        ..writes("/v1/memories/{id}", "/v1/memories/none?scope=team", "")
    },
    looks("/v1/duplicates", "/v1/duplicates?scope=team", false),
    Row {
        right: 2,
        ..writes(
            "/v1/memories/{id}/merge",
            "/v1/memories/m/merge",
            r#"{"duplicates":["none"],"scope":"team"}"#,
        )
    },
    writes("/v1/memories/{id}/access", "/v1/memories/m/access", r#"{"scope":"team"}"#),
    writes("/v1/memories/{id}/pin", "/v1/memories/m/pin", r#"{"scope":"team"}"#),
    Row {
        method: "DELETE",
        body: None,
        ..writes("/v1/memories/{id}/pin", "/v1/memories/m/pin?scope=team", "")
    },
    looks("/v1/memories/{id}/explain", "/v1/memories/m/explain?scope=team", false),
    Row {
        right: 0,
        ..writes("/v1/memories/{id}/why-not", "/v1/memories/m/why-not", r#"{"text":"x","scope":"team"}"#)
    },
    writes("/v1/accesses:batch", "/v1/accesses:batch", r#"[{"id":"m","scope":"team"}]"#),
    writes("/v1/sessions/{id}/end", "/v1/sessions/s/end", r#"{"scope":"team"}"#),
    looks("/v1/facts", "/v1/facts?scope=team", false),
    writes(
        "/v1/facts",
        "/v1/facts",
        r#"{"entity":"a","relation":"r","value":1,"source":"s","scope":"team"}"#,
    ),
    writes(
        "/v1/facts:batch",
        "/v1/facts:batch",
        r#"[{"entity":"a","relation":"r","value":1,"source":"s","scope":"team"}]"#,
    ),
    writes("/v1/decay/sweep", "/v1/decay/sweep", r#"{"scope":"team"}"#),
    Row { right: 0, ..writes("/v1/decay/sweep", "/v1/decay/sweep", r#"{"scope":"team","mode":"dry_run"}"#) },
    looks("/v1/decay/jobs/{id}", "/v1/decay/jobs/none?scope=team", false),
    looks("/v1/decay/policies", "/v1/decay/policies", true),
    Row {
        method: "PUT",
        right: 2,
        everywhere: true,
        ..writes("/v1/decay/policies/{id}", "/v1/decay/policies/p", POLICY)
    },
    Row {
        method: "DELETE",
        body: None,
        right: 2,
        everywhere: true,
        ..writes("/v1/decay/policies/{id}", "/v1/decay/policies/none", "")
    },
    writes("/v1/trails/nodes", "/v1/trails/nodes", r#"{"label":"Room","id":"r1","scope":"team"}"#),
    writes("/v1/trails/edges", "/v1/trails/edges", r#"{"from":"r1","to":"r9","type":"HALL","scope":"team"}"#),
    writes("/v1/trails/paths", "/v1/trails/paths", r#"{"path":["r1","r9"],"scope":"team"}"#),
    writes("/v1/trails/explorations", "/v1/trails/explorations", r#"{"node":"r1","scope":"team"}"#),
    looks("/v1/trails/hot", "/v1/trails/hot?scope=team", false),
    looks("/v1/trails/cold", "/v1/trails/cold?scope=team", false),
    looks("/v1/trails/status", "/v1/trails/status?place=r1&scope=team", false),
    looks("/v1/trails/path", "/v1/trails/path?from=r1&to=r9&scope=team", false),
    looks("/v1/trails/next", "/v1/trails/next?place=r1&scope=team", false),
    Row { everywhere: true, ..writes("/v1/trails/evaporate", "/v1/trails/evaporate", r#"{"dry_run":true}"#) },
    looks("/v1/trails/cycle", "/v1/trails/cycle", true),
    Row { right: 2, everywhere: true, ..writes("/v1/trails/cycle", "/v1/trails/cycle", r#"{"advance":1}"#) },
    Row { right: 0, ..writes("/v1/rerank", "/v1/rerank", r#"{"keys":["k"],"scope":"team"}"#) },
    looks("/v1/hidden", "/v1/hidden?scope=team", false),
    writes("/v1/states", "/v1/states", r#"{"keys":["k"],"hidden":true,"scope":"team"}"#),
    Row { right: 0, ..writes("/v1/recall", "/v1/recall", r#"{"text":"x","scope":"team"}"#) },
    Row { right: 0, ..writes("/v1/context", "/v1/context", r#"{"text":"x","scope":"team"}"#) },
    Row {
        right: 0,
        ..writes("/v1/engine/activate", "/v1/engine/activate", r#"{"seeds":[],"scope":"team"}"#)
    },
    Row { right: 0, ..writes("/v1/engine/xlr", "/v1/engine/xlr", r#"{"seeds":[],"scope":"team"}"#) },
    Row { right: 0, ..writes("/v1/engine/around", "/v1/engine/around", r#"{"ids":["m"],"scope":"team"}"#) },
    Row { right: 0, ..writes("/v1/engine/causal", "/v1/engine/causal", r#"{"seeds":[],"scope":"team"}"#) },
    Row {
        right: 0,
        ..writes("/v1/engine/resonate", "/v1/engine/resonate", r#"{"seeds":[],"scope":"team"}"#)
    },
    Row {
        right: 0,
        ..writes("/v1/engine/harmonics", "/v1/engine/harmonics", r#"{"seeds":[],"scope":"team"}"#)
    },
    Row { right: 0, ..writes("/v1/engine/communities", "/v1/engine/communities", r#"{"scope":"team"}"#) },
    Row { right: 0, ..writes("/v1/engine/pagerank", "/v1/engine/pagerank", r#"{"scope":"team"}"#) },
    Row { right: 2, ..looks("/v1/engine/queries", "/v1/engine/queries?scope=team", false) },
    looks("/v1/mirror", "/v1/mirror?scope=team", false),
    Row { body: None, ..writes("/v1/mirror/refresh", "/v1/mirror/refresh?scope=team", "") },
    writes(
        "/v1/outcomes",
        "/v1/outcomes",
        r#"{"recall_id":"r","used":[{"id":"m","path":[]}],"reward":1,"scope":"team"}"#,
    ),
    Row { anywhere: true, ..looks("/v1/scopes", "/v1/scopes", false) },
    Row { right: 2, ..looks("/v1/scopes/{scope}/export", "/v1/scopes/team/export", false) },
    Row {
        method: "DELETE",
        body: None,
        right: 2,
        ..writes("/v1/scopes/{scope}", "/v1/scopes/team?dry_run=true", "")
    },
    Row { right: 2, ..looks("/v1/scopes/{scope}/receipts", "/v1/scopes/team/receipts", false) },
    looks("/v1/jobs", "/v1/jobs", true),
    looks("/v1/jobs/history", "/v1/jobs/history", true),
    Row { everywhere: true, ..writes("/v1/jobs/{name}/run", "/v1/jobs/decay/run", r#"{"dry_run":true}"#) },
    looks("/v1/attempts", "/v1/attempts", true),
    looks("/v1/status", "/v1/status", true),
    looks("/v1/health", "/v1/health", true),
];

const POLICY: &str = r#"{"relation":"old:*","scope":"team","mode":"retract","ttl_s":60}"#;

const RIGHTS: [&str; 3] = ["read", "write", "admin"];

fn create(db: &Fresh, right: &str, scope: &str) -> (String, String) {
    let made = ebb(db, &["key", "create", "--name", "k", "--right", right, "--scope", scope]).json();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    assert_eq!((&made["rights"], &made["scopes"]), (&right.into(), &serde_json::json!([scope])));
    (text("id"), text("secret"))
}

fn asked(api: &TestServer, row: &Row, key: Option<&str>) -> u16 {
    let bearer = key.map(|key| format!("Bearer {key}"));
    let headers = bearer.iter().map(|bearer| ("Authorization", bearer.as_str())).collect();
    let told = api.ask(&HttpRequest { method: row.method, path: row.path, headers, body: row.body });
    assert!(told.status < 500, "{} {}: {told:?}", row.method, row.path);
    if matches!(told.status, 401 | 403) {
        told.fails(told.status, "authorization", "");
    }
    told.status
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_opens_to_the_right_keys_and_no_others() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let document = api.get("/openapi.json").json(200);
    let told: BTreeSet<(String, String)> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, item)| item.as_object().unwrap().keys().map(|m| (m.to_uppercase(), path.clone())))
        .filter(|(_, path)| path.starts_with("/v1") || path.starts_with("/memory"))
        .collect();
    let rows: BTreeSet<_> = ROUTES.iter().map(|row| (row.method.to_owned(), row.route.to_owned())).collect();
    assert_eq!(rows, told, "a row for each route");
    api.post("/v1/memories", r#"{"id":"m","content":"x","scope":"team","session":"s"}"#).json(201);

    let over = |scope: &str| RIGHTS.map(|right| create(&db, right, scope).1);
    let (team, other, every) = (over("team"), over("other"), over("*"));
    let (revoked, secret) = create(&db, "admin", "*");
    assert_eq!(ebb(&db, &["key", "revoke", &revoked]).json()["revoked"], true);
    let wrong = format!("{}0", &team[2][..team[2].len() - 1]);
    let wrong = if wrong == team[2] { format!("{}1", &team[2][..team[2].len() - 1]) } else { wrong };
    eventually("a key is asked for", async || api.get("/v1/jobs").status == 401).await;
    for row in ROUTES {
        let name = format!("{} {}", row.method, row.route);
        for (key, what) in [
            (None, "no key"),
            (Some(wrong.as_str()), "a wrong key"),
            (Some(secret.as_str()), "a revoked key"),
            (Some("ebb_0000000000000000_00"), "an unknown key"),
            (Some("nonsense"), "no key at all"),
        ] {
            assert_eq!(asked(&api, row, key), 401, "{name} with {what}");
        }
        for right in 0..3 {
            let opens = |keys: &[String; 3]| !matches!(asked(&api, row, Some(&keys[right])), 401 | 403);
            let enough = right >= row.right;
            assert_eq!(opens(&team), enough && !row.everywhere, "{name} with {} in team", RIGHTS[right]);
            assert_eq!(
                opens(&other),
                enough && row.anywhere,
                "{name} with {} in another scope",
                RIGHTS[right]
            );
            assert_eq!(opens(&every), enough, "{name} with {} everywhere", RIGHTS[right]);
        }
    }
    let at = r#"{"content":"x","scope":"team","at":"2026-01-01T00:00:00Z"}"#;
    let dated = |key: &str| {
        let bearer = format!("Bearer {key}");
        let headers = vec![("Authorization", bearer.as_str())];
        api.ask(&HttpRequest { method: "POST", path: "/v1/memories", headers, body: Some(at) }).status
    };
    assert_eq!((dated(&team[1]), dated(&team[2])), (403, 201), "an instant needs the right admin");
    for path in ["/", "/healthz", "/readyz", "/metrics", "/openapi.json"] {
        assert_eq!(api.get(path).status, 200, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_key_shuts_the_door_and_a_revoked_one_opens_nothing() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    assert_eq!(api.get("/v1/memories").status, 200);
    let (id, secret) = create(&db, "read", "team");
    let bearer = format!("Bearer {secret}");
    let with_key = || {
        let headers = vec![("Authorization", bearer.as_str())];
        api.ask(&HttpRequest { method: "GET", path: "/v1/memories", headers, body: None })
    };
    assert_eq!(with_key().status, 200, "a key that was just made is known at once, and has one scope");
    eventually("nobody comes in without", async || api.get("/v1/memories").status == 401).await;
    assert!(api.get("/v1/memories").header("www-authenticate").is_some_and(|how| how.starts_with("Bearer")));
    let stored: Vec<String> = db.client.column("MATCH (k:EbbKey) RETURN k.hash").await;
    assert!(stored[0].len() == 64 && !secret.contains(&stored[0]), "a hash is stored");
    let listed = ebb(&db, &["key", "list"]);
    assert!(!listed.out.contains(&stored[0]) && listed.json()["keys"][0]["id"] == id.as_str());
    ebb(&db, &["key", "revoke", &id]).json();
    eventually("it opens nothing", async || with_key().status == 401).await;
    assert_eq!(api.get("/v1/memories").status, 401, "the door stays shut");
    ebb(&db, &["key", "revoke", "none"]).fails(1, "there is no key none");
    ebb(&db, &["key", "create", "--name", "x", "--right", "owner", "--scope", "a"]).fails(2, "owner");
    ebb(&db, &["key", "create", "--name", "x", "--right", "read"]).fails(2, "--scope");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_opens_nothing_once_it_has_expired() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let words = ["key", "create", "--name", "k", "--right", "read", "--scope", "team", "--lasts", "1h"];
    let made = ebb(&db, &words).json();
    let bearer = format!("Bearer {}", made["secret"].as_str().unwrap());
    let with_key = || {
        let headers = vec![("Authorization", bearer.as_str())];
        api.ask(&HttpRequest { method: "GET", path: "/v1/memories", headers, body: None }).status
    };
    assert_eq!(with_key(), 200);
    assert_eq!(ebb(&db, &["key", "list"]).json()["keys"][0]["expires"], made["expires"]);
    for expires in ["datetime() - duration('PT1S')", "'never'"] {
        db.client.run(&format!("MATCH (k:EbbKey) SET k.expires = {expires}"), &[]).await;
        eventually("it opens nothing", async || with_key() == 401).await;
        db.client.run("MATCH (k:EbbKey) SET k.expires = datetime() + duration('PT1H')", &[]).await;
        eventually("it opens again", async || with_key() == 200).await;
    }
    let endless = ["key", "create", "--name", "k", "--right", "read", "--scope", "a", "--lasts", "0s"];
    ebb(&db, &endless).fails(2, "not a span of time");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_open_nothing_take_no_place_and_what_is_closed_stays_closed() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let open = |key: &str| {
        let bearer = format!("Bearer {key}");
        let headers = vec![("Authorization", bearer.as_str())];
        api.ask(&HttpRequest { method: "GET", path: "/v1/memories", headers, body: None }).status
    };
    // More than are read at once, and older than any that is made now.
    db.client
        .run(
            "UNWIND range(1, 10001) AS i CREATE (k:EbbKey {id: 'old' + i, name: 'old', hash: 'h', rights: 'read', scopes: ['*'],
               created: datetime('2020-01-01T00:00:00Z')})
             SET k.expires = CASE WHEN i % 2 = 0 THEN datetime('2020-02-01T00:00:00Z') END,
               k.revoked = CASE WHEN i % 2 = 1 THEN datetime('2020-02-01T00:00:00Z') END",
            &[],
        )
        .await;
    let (id, secret) = create(&db, "read", "*");
    assert_eq!(open(&secret), 200, "the key after ten thousand that have ended");
    let shown = ebb(&db, &["key", "list"]).json();
    assert!(shown["keys"].as_array().unwrap().iter().any(|key| key["id"] == id.as_str()), "it is listed");
    assert_eq!(ebb(&db, &["key", "prune", "--days", "36500"]).json()["pruned"], 0);
    assert_eq!(ebb(&db, &["key", "prune"]).json()["pruned"], 10_001);
    assert_eq!(open(&secret), 200, "what is in force stays");
    ebb(&db, &["key", "open"]).fails(3, "--yes");
    ebb(&db, &["--yes", "key", "open"]).fails(1, "there are API keys");
    ebb(&db, &["key", "revoke", &id]).json();
    assert_eq!(ebb(&db, &["key", "prune"]).json()["pruned"], 1);
    for gone in 0..3 {
        // No key is left, whoever took the last away, and for a program that never saw one.
        let other = TestServer::on(&db, &[]);
        assert_eq!(other.get("/v1/memories").status, 401, "{gone}");
        eventually("it stays closed", async || api.get("/v1/memories").status == 401).await;
        let (_, secret) = create(&db, "read", "*");
        assert_eq!(open(&secret), 200);
        db.client.run("MATCH (k:EbbKey) DETACH DELETE k", &[]).await;
    }
    assert_eq!(ebb(&db, &["--yes", "key", "open"]).json()["opened"], true);
    eventually("it is open", async || api.get("/v1/memories").status == 200).await;
    assert_eq!(ebb(&db, &["--yes", "key", "open"]).json()["opened"], false);
    // Keys of a version that left no mark, deleted by hand once they were seen.
    db.client
        .run("CREATE (:EbbKey {id: 'k', hash: 'h', rights: 'read', scopes: ['*'], revoked: datetime()})", &[])
        .await;
    eventually("it closes", async || api.get("/v1/memories").status == 401).await;
    db.client.run("MATCH (k:EbbKey) DETACH DELETE k", &[]).await;
    tokio::time::sleep(std::time::Duration::from_millis(2_500)).await;
    assert_eq!(api.get("/v1/memories").status, 401);
}

/// A server that is started before its database waits for it; until the keys can be read nobody is let in.
#[tokio::test(flavor = "multi_thread")]
async fn behind_a_proxy_a_server_waits_for_its_database() {
    let mut db = fresh().await;
    let nowhere = format!("bolt://127.0.0.1:{}", crate::worker::process::free_port());
    db.config.uri = nowhere;
    let api = TestServer::begin(&db, "http", &[("EBB__HTTP__PROXY", "true")]);
    let healthy = || api.raw(b"GET /healthz HTTP/1.0\r\n\r\n").is_some_and(|told| told.status == 200);
    eventually("it lives", async || healthy()).await;
    assert_eq!(api.raw(b"GET /readyz HTTP/1.0\r\n\r\n").unwrap().status, 503);
    let headers = vec![("Authorization", "Bearer ebb_x_y")];
    let told = api.ask(&HttpRequest { method: "GET", path: "/v1/memories", headers, body: None });
    assert!(matches!(told.status, 401 | 503), "{}", told.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_a_proxy_a_key_must_exist_and_has_a_rate() {
    let db = fresh().await;
    let port = crate::worker::process::free_port();
    let listen = format!("127.0.0.1:{port}");
    let folder = tempfile::tempdir().unwrap();
    let refused = crate::surfaces::command(&db, folder.path(), &["serve", "--roles", "http"])
        .envs([("EBB__HTTP__LISTEN", listen.as_str()), ("EBB__HTTP__PROXY", "true")])
        .output()
        .unwrap();
    super::super::CliOutput::from(refused).fails(1, "there is no API key");
    let open = crate::surfaces::command(&db, folder.path(), &["serve", "--roles", "http"])
        .env("EBB__HTTP__LISTEN", "0.0.0.0:0")
        .output()
        .unwrap();
    super::super::CliOutput::from(open).fails(6, "http.proxy = true");
    let (_, secret) = create(&db, "read", "*");
    let api = TestServer::on(&db, &[("EBB__HTTP__PROXY", "true"), ("EBB__HTTP__RATE", "1")]);
    let bearer = format!("Bearer {secret}");
    let ask = |path: &'static str| {
        let headers = vec![("Authorization", bearer.as_str()), ("Host", "ebb.example.org")];
        api.ask(&HttpRequest { method: "GET", path, headers, body: None })
    };
    assert_eq!(ask("/metrics").status, 200);
    assert_eq!(api.get("/metrics").status, 401);
    let limited = (0..100).map(|_| ask("/v1/jobs")).find(|told| told.status == 429).expect("a rate");
    limited.fails(429, "rate_limited", "1 requests a second");
    assert_eq!(limited.header("retry-after"), Some("1"));
}

/// The script of the service `init` in docker-compose.yml.
fn init_script() -> String {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docker-compose.yml");
    let text = std::fs::read_to_string(file).unwrap();
    let (_, block) = text.split_once("      - |\n").unwrap();
    let lines: Vec<_> = block.lines().map_while(|line| line.strip_prefix("        ")).collect();
    lines.join("\n").replace("$$", "$")
}

#[tokio::test(flavor = "multi_thread")]
async fn compose_makes_a_key_unless_its_own_is_in_force() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    let programs = std::path::Path::new(env!("CARGO_BIN_EXE_ebb")).parent().unwrap();
    let init = || {
        let done = std::process::Command::new("sh")
            .args(["-euc", &init_script()])
            .current_dir(folder.path())
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", programs.display()))
            .env("NEO4J_URI", &db.config.uri)
            .env("NEO4J_PASSWORD", db.config.password.expose_secret())
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        std::fs::read_to_string(folder.path().join("key")).unwrap().trim().to_owned()
    };
    let first = init();
    let (id, secret) = ebb_core::domain::key::parts(&first).unwrap();
    assert_eq!((id.len(), secret.len()), (16, 72));
    assert_eq!(init(), first, "one in force is kept");
    ebb(&db, &["key", "revoke", id]).json();
    let second = init();
    assert_ne!(second, first, "after a revocation");
    db.client.run("MATCH (k:EbbKey) SET k.expires = datetime('9000-01-01T00:00:00Z')", &[]).await;
    assert_eq!(init(), second, "before it expires");
    db.client.run("MATCH (k:EbbKey) SET k.expires = datetime('2020-01-01T00:00:00Z')", &[]).await;
    let third = init();
    assert_ne!(third, second, "after it has expired");
    db.client.run("MATCH (k:EbbKey) DETACH DELETE k", &[]).await;
    assert_ne!(init(), third, "in a database that does not have it");
}
