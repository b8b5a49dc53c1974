//! Recall as people and programs meet it: `ebb recall`, `ebb engine`, `ebb graph`, with a database and without, over HTTP and MCP.

use super::http::TestServer;
use super::{command, ebb};
use crate::harness::neo4j::{Fresh, fresh};
use crate::worker::process::eventually;
use serde_json::{Value, json};
use std::fs;

pub(super) fn told(db: &Fresh) {
    for (id, content, mention) in [
        ("m1", "The parser was rewritten in spring", "Parser"),
        ("m2", "Alex owns the parser and the lexer", "Alex"),
        ("m3", "Lunch was good", "Lunch"),
    ] {
        ebb(db, &["memory", "add", content, "--id", id, "--mention", mention]).json();
    }
    ebb(db, &["relation", "observe", "Alex", "maintains", "Parser"]).json();
}

pub(super) fn ids(answer: &Value) -> Vec<&str> {
    answer["hits"].as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_with_its_reasons() {
    let db = fresh().await;
    told(&db);
    let answer = ebb(&db, &["recall", "who maintains the Parser", "--why"]).json();
    assert_eq!(answer["schema"], "ebb.recall/1");
    let found = ids(&answer);
    assert!(found.contains(&"m1") && found.contains(&"m2") && found.contains(&"Alex"), "{answer:#}");
    assert!(!found.contains(&"m3"), "{answer:#}");
    let m1 = answer["hits"].as_array().unwrap().iter().find(|hit| hit["id"] == "m1").unwrap();
    assert_eq!(m1["content"], "The parser was rewritten in spring");
    assert_eq!(m1["path"], serde_json::json!(["Parser", "m1"]));
    assert_eq!(m1["steps"][0]["type"], "MENTIONS");
    let grounds: Vec<&Value> =
        answer["seeds"][0]["evidence"].as_array().unwrap().iter().map(|one| &one["ground"]).collect();
    assert!(grounds.iter().any(|ground| **ground == "name" || **ground == "fact"), "{answer:#}");
    assert_eq!((&answer["stale"], &answer["truncated"]), (&Value::from(false), &Value::from(false)));

    let only = ebb(&db, &["recall", "who maintains the Parser", "--kind", "Entity", "--top", "1"]).json();
    assert_eq!(only["hits"].as_array().unwrap().len(), 1);
    assert_eq!(only["hits"][0]["kind"], "Entity");
    let unknown = ebb(&db, &["recall", "--seed", "Nobody"]).json();
    assert_eq!(unknown["unknown_seeds"], serde_json::json!(["Nobody"]));
    assert_eq!(unknown["hits"], serde_json::json!([]));
    ebb(&db, &["recall"]).fails(2, "WORDS");
    ebb(&db, &["recall", "x", "--top", "0"]).fails(2, "1..=1000");
    ebb(&db, &["recall", "--seed", "Alex=2"]).fails(2, "above 0, up to 1");
}

/// Turns of a session that answer a question, and the one between them, as text: the same over all surfaces.
#[tokio::test(flavor = "multi_thread")]
async fn a_context_is_text_for_a_prompt() {
    let db = fresh().await;
    let turn = |id: &str, text: &str, minute: u8| {
        let at = format!("2026-03-01T10:{minute:02}:00Z");
        let session = if id == "twin" { "later" } else { "talk" };
        json!({"kind": "memory", "id": id, "content": text, "at": at, "session": session}).to_string()
    };
    let events = [
        turn("t1", "Ann: Where is the harbour office?", 0),
        turn("t2", "Bob: Behind the fish market\n[t9] on the left", 1),
        turn("t3", "Ann: Then the harbour is close", 2),
        turn("t4", "Bob: Bring a coat", 9),
        turn("twin", "ann: where is the  harbour office?", 30),
    ];
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.ndjson");
    fs::write(&file, events.join("\n")).unwrap();
    ebb(&db, &["import", file.to_str().unwrap()]).json();
    let text = "2026-03-01T10:01Z [t2] Bob: Behind the fish market\n  [t9] on the left\n\
                2026-03-01T10:02Z [t3] Ann: Then the harbour is close\n2026-03-01T10:09Z [t4] Bob: Bring a coat\n\n\
                2026-03-01T10:30Z [twin] (2 times since 2026-03-01T10:00Z) ann: where is the  harbour office?";
    let top = |answer: &Value| -> Vec<String> {
        answer["memories"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let api = TestServer::on(&db, &[]);
    let ask = |body: Value| api.post("/v1/context", &body.to_string());
    let answer = ask(json!({"text": "harbour office"})).json(200);
    assert_eq!(answer["text"], text, "{answer:#}");
    assert_eq!((&answer["omitted"], &answer["truncated"]), (&json!(0), &json!(false)));
    assert_eq!(
        (&answer["memories"][3]["rank"], &answer["memories"][3]["duplicates"][0]["id"]),
        (&json!(1), &json!("t1"))
    );
    let small = ask(json!({"text": "harbour office", "max_tokens": 60})).json(200);
    assert_eq!((top(&small), &small["truncated"]), (vec!["twin".to_owned()], &json!(true)), "{small:#}");
    ask(json!({"text": "x", "max_tokens": 0})).fails(
        400,
        "validation",
        "max_tokens is 0; it must be 1 to 16000",
    );
    ask(json!({"text": "x", "why": true})).fails(400, "validation", "unknown field `why`");
    let printed = ebb(&db, &["recall", "harbour", "office", "--context", "1000"]);
    assert_eq!((printed.out.trim_end(), printed.err.as_str()), (text, ""), "also into a pipe");
    let few = ebb(&db, &["recall", "harbour office", "--context", "60"]);
    assert!(few.err.contains("3 hits did not fit"), "{}", few.err);
    let ranked =
        ebb(&db, &["recall", "harbour office", "--context", "500", "--order", "rank", "-o", "json"]).json();
    assert_eq!((top(&ranked)[0].as_str(), &ranked["schema"]), ("twin", &json!("ebb.recall.context/1")));
    ebb(&db, &["recall", "x", "--order", "rank"]).fails(2, "--context");
}

/// The texts share no word with the question; the embedding leads to one, and to a new one at the next refresh.
#[tokio::test(flavor = "multi_thread")]
async fn an_embedding_finds_what_words_do_not() {
    let db = fresh().await;
    let settings = [("EBB__EMBEDDING__DIMENSIONS", "3"), ("EBB__MIRROR__REFRESH", "1s")];
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| -> super::CliOutput {
        command(&db, folder.path(), args).envs(settings).output().unwrap().into()
    };
    db.embeds(3).await;
    run(&["init", "--yes"]).json();
    let add = |id: &str, text: &str, numbers: &str| {
        run(&["memory", "add", text, "--id", id, &format!("--embedding={numbers}")]).json();
    };
    add("m1", "Salary is paid on the last day", "1,0,0.1");
    add("m2", "Lunch was good", "0,1,0");
    run(&["memory", "add", "Nobody embedded this", "--id", "m3"]).json();
    fs::write(folder.path().join("q.json"), "[0.9, 0.1, 0]").unwrap();
    fs::write(folder.path().join("bad.json"), "[0.9, \"x\"]").unwrap();
    let found = run(&["recall", "wages", "--embedding", "q.json"]).json();
    assert_eq!(ids(&found)[0], "m1", "{found:#}");
    assert!(!ids(&found).contains(&"m3"), "{found:#}");
    assert_eq!(run(&["recall", "wages"]).json()["hits"], json!([]), "words alone");
    run(&["recall", "--embedding", "bad.json"]).fails(2, "JSON list of numbers");
    run(&["recall", "--embedding", "none.json"]).fails(2, "cannot be read");

    let api = TestServer::on(&db, &settings);
    let ask =
        |numbers: Value| api.post("/v1/recall", &json!({"text": "wages", "embedding": numbers}).to_string());
    assert_eq!(ids(&ask(json!([0.9, 0.1, 0])).json(200))[0], "m1");
    ask(json!([1, 0])).fails(400, "validation", "2 numbers, and embedding.dimensions is 3");
    ask(json!([0, 0, 0])).fails(400, "validation", "length 0");
    add("m4", "Pay day", "0.99,0.05,0");
    eventually("the new memory is found by its embedding", async || {
        ids(&ask(json!([0.99, 0.05, 0])).json(200)).first() == Some(&"m4")
    })
    .await;
    let bare = ebb(&db, &["recall", "wages", "--embedding", folder.path().join("q.json").to_str().unwrap()]);
    bare.fails(2, "embedding.dimensions is not set");
}

/// A memory is given tags and a source by each surface, and each shows them.
#[tokio::test(flavor = "multi_thread")]
async fn a_memory_is_found_by_its_tag_and_shown_with_its_source() {
    let db = fresh().await;
    let source = added_with_source(&db);
    let folder = tempfile::tempdir().unwrap();
    let line = r#"{"at":"2026-01-01T10:00:00Z","kind":"memory","id":"m2","content":"Lunch was good","tags":["food"],"provenance":{"source_path":"diary","line_start":3}}"#;
    fs::write(folder.path().join("e.ndjson"), line).unwrap();
    assert!(command(&db, folder.path(), &["import", "e.ndjson"]).status().unwrap().success());
    let api = TestServer::on(&db, &[("EBB__MIRROR__REFRESH", "1s")]);
    let body = r#"{"id":"m3","content":"Back off","tags":["limits"],"provenance":{"namespace":"core"}}"#;
    let made = api.post("/v1/memories", body).json(201);
    assert_eq!((&made["tags"], &made["provenance"]), (&json!(["limits"]), &json!({"namespace": "core"})));
    let bare = api.post("/v1/memories", r#"{"id":"m4","content":"Nothing of it"}"#).json(201);
    assert_eq!((bare.get("tags"), bare.get("provenance")), (None, None));

    // Nothing but the tag has the word.
    let by_tag = |answer: &Value| {
        let evidence =
            answer["seeds"].as_array().unwrap().iter().flat_map(|seed| seed["evidence"].as_array().unwrap());
        evidence
            .map(|one| (one["ground"].as_str().unwrap().to_owned(), one["of"].clone()))
            .collect::<Vec<_>>()
    };
    let question = r#"{"text":"what about limits","kinds":["Memory"],"why":true}"#;
    // The mirror may have been loaded before the last memory was written.
    eventually("both are held", async || {
        let answer = api.post("/v1/recall", question).json(200);
        let mut found = ids(&answer);
        found.sort_unstable();
        found == ["m1", "m3"]
    })
    .await;
    let answer = api.post("/v1/recall", question).json(200);
    assert_eq!(by_tag(&answer), [("tag".to_owned(), json!("limits")), ("tag".to_owned(), json!("limits"))]);
    let m1 = answer["hits"].as_array().unwrap().iter().find(|hit| hit["id"] == "m1").unwrap();
    assert_eq!((&m1["tags"], &m1["provenance"]), (&json!(["#limits", "api"]), &source));
    let question = r#"{"text":"what about limits","content":false}"#;
    let answer = api.post("/v1/recall", question).json(200);
    let m1 = answer["hits"].as_array().unwrap().iter().find(|hit| hit["id"] == "m1").unwrap();
    assert_eq!((m1["provenance"].get("excerpt"), &m1["provenance"]["namespace"]), (None, &json!("core")));
    let answer = ebb(&db, &["recall", "food", "--why"]).json();
    assert_eq!(ids(&answer), ["m2"]);
    assert_eq!(answer["hits"][0]["provenance"], json!({"source_path": "diary", "line_start": 3}));
    assert_eq!(by_tag(&answer), [("tag".to_owned(), json!("food"))]);
    let text = ebb(&db, &["recall", "api", "-o", "table"]).out;
    assert!(text.contains("TAGS") && text.contains("docs/api.md, lines 10-20"), "{text}");
    let text = ebb(&db, &["recall", "nothing", "-o", "table"]).out;
    assert!(!text.contains("TAGS") && !text.contains("SOURCE"), "{text}");

    // A repeat merges, and recall finds the new tag after a refresh.
    let again = r#"{"id":"m2","content":"Lunch was good","tags":["noon"],"provenance":{"line_start":2,"line_end":9}}"#;
    let merged = api.post("/v1/memories", again).json(200);
    assert_eq!(merged["tags"], json!(["food", "noon"]));
    assert_eq!(merged["provenance"], json!({"source_path": "diary", "line_start": 2, "line_end": 9}));
    eventually("the tag is refreshed", async || {
        ids(&api.post("/v1/recall", r#"{"text":"noon"}"#).json(200)) == ["m2"]
    })
    .await;

    // A saved graph has both.
    assert!(command(&db, folder.path(), &["graph", "save", "g.json"]).status().unwrap().success());
    let from_file = command(&db, folder.path(), &["recall", "noon", "--graph", "g.json"]).output().unwrap();
    let hit = super::CliOutput::from(from_file).json()["hits"][0].clone();
    assert_eq!((&hit["tags"], &hit["provenance"]), (&merged["tags"], &merged["provenance"]));
}

/// Adds a memory with tags and a source on the command line, which shows both; returns the source.
fn added_with_source(db: &Fresh) -> Value {
    let add = [
        "memory",
        "add",
        "Retry three times",
        "--id",
        "m1",
        "--tag",
        "#limits",
        "--tag",
        " api ",
        "--source",
        "docs/api.md",
        "--lines",
        "10-20",
        "--excerpt",
        "Retry, then\ngive up",
        "--namespace",
        "core",
        "--canonical",
    ];
    let source = json!({"source_path": "docs/api.md", "line_start": 10, "line_end": 20,
        "excerpt": "Retry, then\ngive up", "namespace": "core", "canonical": true});
    let added = ebb(db, &add).json();
    assert_eq!((&added["tags"], &added["provenance"]), (&json!(["#limits", "api"]), &source));
    let shown = ebb(db, &["memory", "show", "m1"]).json();
    assert_eq!((&shown["tags"], &shown["provenance"]), (&json!(["#limits", "api"]), &source));
    let text = ebb(db, &["memory", "show", "m1", "-o", "table"]).out;
    for line in [
        "tags          #limits, api\n",
        "source        docs/api.md, lines 10-20, namespace core, canonical\n",
        "excerpt       Retry, then give up\n",
    ] {
        assert!(text.split_inclusive('\n').any(|of| squeezed(of) == squeezed(line)), "{line}{text}");
    }
    source
}

/// A line with one blank for several.
fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_and_sources_that_cannot_be_stored_are_refused() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let many: Vec<String> = (0..257).map(|n| n.to_string()).collect();
    for (part, says) in [
        (json!({"tags": [" "]}), "a tag is empty"),
        (json!({"tags": ["x".repeat(257)]}), "a tag has 257 characters; at most 256 are kept"),
        (json!({"tags": many}), "the memory would have 257 tags"),
        (json!({"tags": "x"}), "tags"),
        (json!({"provenance": {"line_start": 0}}), "line_start is 0; lines count from 1"),
        (json!({"provenance": {"line_start": 3, "line_end": 2}}), "line_start is 3, after line_end, 2"),
        (json!({"provenance": {"line_end": 2}}), "line_start is missing"),
        (json!({"provenance": {"line_start": -1}}), "provenance.line_start"),
        (json!({"provenance": {"excerpt": "x".repeat(4097)}}), "the excerpt has 4097 characters"),
        (json!({"provenance": {"path": "x"}}), "unknown field `path`"),
    ] {
        let mut body = json!({"content": "x"});
        body.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        api.post("/v1/memories", &body.to_string()).fails(400, "validation", says);
    }
    for (args, says) in [
        (["--tag", ""].as_slice(), "a tag is empty"),
        (&["--lines", "5-4"], "line_start is 5, after line_end, 4"),
        (&["--lines", "0"], "line_start is 0"),
        (&["--lines", "4-"], "two whole numbers with a hyphen between them"),
        (&["--source", " "], "the source path is empty"),
    ] {
        ebb(&db, &[&["memory", "add", "x"], args].concat()).fails(2, says);
    }
    api.post("/v1/memories", &json!({"id": "m", "content": "x", "tags": &many[1..]}).to_string()).json(201);
    api.post("/v1/memories", r#"{"id":"m","content":"x","tags":["new"]}"#).fails(
        409,
        "conflict",
        "memory m: the memory would have 257 tags; at most 256 are kept",
    );
    assert_eq!(db.client.value::<i64>("MATCH (m:Memory) RETURN sum(m.accessCount)").await, 1);
}

/// Nodes of other labels, of which configuration names some: their kinds in answers, filters, half-lives and files.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_has_the_kind_of_its_label() {
    let db = fresh().await;
    let nodes = "CREATE (:File {scope: 'local', id: 'src/tx.rs', name: 'transactions of the store', \
                   lastModified: datetime() - duration({days: 7})}), \
                 (:File {path: 'transactions of another library'}), \
                 (:Source {scope: 'local', id: 'retry', name: 'transactions repeated'}), \
                 (:Gadget {scope: 'local', id: 'g', name: 'transactions counter'}), \
                 (:Drawer {scope: 'local', id: 'd', name: 'transactions drawer'})";
    db.client.run(nodes, &[]).await;
    ebb(&db, &["memory", "add", "transactions are repeated", "--id", "m"]).json();
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str], env: &[(&str, &str)]| -> super::CliOutput {
        let mut command = command(&db, folder.path(), args);
        command.env("EBB__MIRROR__LABELS", "File, Source=Function, Gadget").envs(env.iter().copied());
        command.output().unwrap().into()
    };
    let kinds =
        [("File", "src/tx.rs"), ("Function", "retry"), ("Gadget", "g"), ("Drawer", "d"), ("Memory", "m")];
    for (kind, id) in kinds {
        let found = run(&["recall", "transactions", "--kind", kind], &[]).json();
        assert_eq!(ids(&found), [id], "{kind}: {found:#}");
        assert_eq!(found["hits"][0]["kind"], kind);
    }
    // The default of the configuration names File alone.
    let found = ebb(&db, &["recall", "transactions", "--kind", "File"]).json();
    assert_eq!(ids(&found), ["src/tx.rs"]);
    assert_eq!(ids(&ebb(&db, &["recall", "transactions", "--kind", "Function"]).json()), Vec::<&str>::new());

    assert_eq!(run(&["graph", "save", "kinds.json"], &[]).code, Some(0));
    let saved: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("kinds.json")).unwrap()).unwrap();
    let code = |id: &str| {
        let mut nodes = saved["nodes"].as_array().unwrap().iter();
        nodes.find(|node| node["external_id"] == id).map(|node| node["node_type"].clone())
    };
    assert_eq!(["src/tx.rs", "retry"].map(code), [0, 2].map(|code| Some(Value::from(code))));
    assert_eq!(["g", "d", "m"].map(code), ["custom:6", "custom:5", "custom:0"].map(|code| Some(code.into())));
    assert_eq!(saved["nodes"].as_array().unwrap().len(), 5, "no node without a scope");

    // A half-life acts on the nodes of its kind alone, from the database and from the file.
    for from in [&[][..], &["--graph", "kinds.json"][..]] {
        let score = |kind: &str, half_lives: &[(&str, &str)]| {
            let ask = [
                "recall",
                "transactions",
                "--kind",
                kind,
                "--dimension",
                "structural",
                "--dimension",
                "temporal",
            ];
            let answer = run(&[&ask, from].concat(), half_lives).json();
            answer["hits"][0]["dimensions"]["temporal"].as_f64().unwrap()
        };
        let long = [("EBB__ENGINE__HALF_LIVES__FILE", "1000000")];
        let other = [("EBB__ENGINE__HALF_LIVES__OTHERS", "1000000")];
        let usual = score("File", &[]);
        assert!(score("File", &long) > usual + 1e-6, "{usual}");
        assert!((score("File", &other) - usual).abs() < 1e-6, "{usual}");
    }
    let wrong = |labels: &str, why: &str| {
        run(&["config", "validate"], &[("EBB__MIRROR__LABELS", labels)]).fails(6, why)
    };
    wrong("Source=Fil", "\"Fil\" is no kind; it must be one of File, Directory");
    wrong("Memory=File", "fixed kinds");
    wrong("File, File=Class", "File is in the list twice");
    wrong("A b", "is not a plain name");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_saved_graph_is_asked_without_any_database() {
    let db = fresh().await;
    told(&db);
    assert_eq!(ebb(&db, &["graph", "stats"]).json()["whole"], true);
    assert_eq!(ebb(&db, &["graph", "verify"]).json()["same"], true);
    let folder = tempfile::tempdir().unwrap();
    let saved = command(&db, folder.path(), &["graph", "save", "memory.json"]).output().unwrap();
    assert!(saved.status.success(), "{}", String::from_utf8_lossy(&saved.stderr));
    let alone = |args: &[&str]| -> super::CliOutput {
        let mut command = command(&db, folder.path(), args);
        command.env("NEO4J_URI", "bolt://127.0.0.1:1").output().unwrap().into()
    };
    let lit = alone(&["engine", "activate", "--seed", "Alex", "--graph", "memory.json"]).json();
    assert_eq!(ids(&lit)[0], "Alex");
    assert!(ids(&lit).contains(&"Parser"), "{lit:#}");
    assert_eq!(lit["as_of"], Value::Null);
    let with = ebb(&db, &["engine", "activate", "--seed", "Alex"]).json();
    // A moment later relations weigh a little less.
    assert_eq!(ids(&with), ids(&lit), "the same graph, the same answer");
    let ranked = alone(&["engine", "pagerank", "--top", "2", "--graph", "memory.json"]).json();
    assert_eq!(ranked["hits"].as_array().unwrap().len(), 2);
    let recalled = alone(&["recall", "who maintains the Parser", "--graph", "memory.json"]).json();
    assert!(ids(&recalled).contains(&"m1"), "{recalled:#}");
    alone(&["engine", "pagerank", "--graph", "nowhere.json"]).fails(2, "nowhere.json");
    fs::write(folder.path().join("broken.json"), "{\"version\":3,\"nodes\":[").unwrap();
    alone(&["engine", "pagerank", "--graph", "broken.json"]).fails(2, "broken.json cannot be used");
    let dot = ebb(&db, &["graph", "export", "--format", "dot"]);
    assert!(dot.code == Some(0) && dot.out.starts_with("digraph"), "{}", dot.out);
    let exported = ebb(&db, &["graph", "export"]).out;
    let [exported, saved] = [exported, fs::read_to_string(folder.path().join("memory.json")).unwrap()]
        .map(|text| serde_json::from_str::<Value>(&text).unwrap());
    assert_eq!(exported["nodes"], saved["nodes"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_forgotten_stands_nowhere_in_an_answer_with_texts() {
    let db = fresh().await;
    told(&db);
    let api = TestServer::on(&db, &[("EBB__MIRROR__REFRESH", "1h"), ("EBB__MIRROR__STALENESS", "2h")]);
    let ask = || {
        let asked = r#"{"text":"rewritten in spring","seeds":[{"id":"m1","score":1}],"why":true}"#;
        api.post("/v1/recall", asked).json(200)
    };
    let path = |answer: &Value| {
        let parser = answer["hits"].as_array().unwrap().iter().find(|hit| hit["id"] == "Parser");
        parser.unwrap()["path"].clone()
    };
    let before = ask();
    assert_eq!(path(&before), serde_json::json!(["m1", "Parser"]), "{before:#}");
    assert!(before["seeds"].to_string().contains("rewritten"), "{before:#}");
    // Without a record no look at the graph finds it.
    db.client.run("MATCH (m:Memory {id: 'm1'}) DETACH DELETE m", &[]).await;
    let after = ask();
    assert_eq!(path(&after), serde_json::json!([]), "{after:#}");
    let whole = after.to_string();
    assert!(!whole.contains("rewritten") && !whole.contains(r#""m1""#), "{after:#}");
}

/// The label of a hit is the beginning of its text.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_text_no_longer_says_stands_in_no_label_beside_it() {
    let db = fresh().await;
    told(&db);
    let api = TestServer::on(&db, &[("EBB__MIRROR__REFRESH", "1h"), ("EBB__MIRROR__STALENESS", "2h")]);
    let ask = || {
        let asked = r#"{"text":"rewritten in spring","seeds":[{"id":"m1","score":1}]}"#;
        api.post("/v1/recall", asked).json(200)
    };
    assert!(ask()["hits"].to_string().contains("rewritten"));
    db.client.run("MATCH (m:Memory {id: 'm1'}) SET m.content = 'The parser is new'", &[]).await;
    let answer = ask();
    for list in ["hits", "seeds"] {
        let m1 = answer[list].as_array().unwrap().iter().find(|node| node["id"] == "m1").unwrap();
        assert_eq!(m1["label"], "The parser is new", "{answer:#}");
    }
    assert!(!answer.to_string().contains("rewritten"), "{answer:#}");
}

/// Other writers may store texts of any size.
#[tokio::test(flavor = "multi_thread")]
async fn a_recall_reads_as_much_of_a_text_as_a_mirror_and_no_more() {
    let db = fresh().await;
    told(&db);
    let longer = "MATCH (m:Memory {id: 'm1'}) SET m.content = m.content + reduce(text = ' long', n IN range(1, 15) | text + text)";
    db.client.run(longer, &[]).await;
    let content = |memory: &Value| memory["content"].as_str().unwrap().len();
    assert_eq!(content(&ebb(&db, &["memory", "show", "m1"]).json()), 34 + 5 * (1 << 15));
    let answer = ebb(&db, &["recall", "who maintains the Parser"]).json();
    let m1 = answer["hits"].as_array().unwrap().iter().find(|hit| hit["id"] == "m1").unwrap();
    assert_eq!(content(m1), 65_536);
}

#[tokio::test(flavor = "multi_thread")]
async fn recall_over_http_follows_what_is_written() {
    let db = fresh().await;
    told(&db);
    let api = TestServer::on(&db, &[("EBB__MIRROR__REFRESH", "1s")]);
    let ask = |body: &str| api.post("/v1/recall", body);
    let answer = ask(r#"{"text":"who maintains the Parser"}"#).json(200);
    assert!(ids(&answer).contains(&"m1"), "{answer:#}");
    let again = ask(r#"{"text":"who maintains the Parser"}"#).json(200);
    assert_eq!((&again["recall_id"], &again["hits"]), (&answer["recall_id"], &answer["hits"]));
    ebb(&db, &["memory", "forget", "m1", "--yes"]).json();
    // With texts it is gone at once, without them about a second later.
    let now = ask(r#"{"text":"who maintains the Parser"}"#).json(200);
    assert!(!ids(&now).contains(&"m1"), "{now:#}");
    eventually("the mirror follows", async || {
        let later = ask(r#"{"text":"who maintains the Parser","content":false}"#).json(200);
        !ids(&later).contains(&"m1")
    })
    .await;
    assert_eq!(api.get("/v1/mirror").json(200)["loaded"], true);
    let lit = api.post("/v1/engine/activate", r#"{"seeds":[{"id":"Alex","score":1}]}"#).json(200);
    assert_eq!(ids(&lit)[0], "Alex");
    assert_eq!(
        api.post("/v1/engine/pagerank", "{\"top_k\":1}").json(200)["hits"].as_array().unwrap().len(),
        1
    );
    assert_eq!(ask("{}").json(200)["hits"], serde_json::json!([]), "nothing asked, nothing answered");
    for (body, says) in [
        (r#"{"text":"x","top_k":0}"#, "top_k"),
        (r#"{"text":"x","top_k":1001}"#, "top_k"),
        (r#"{"text":"x","tokp":1}"#, "unknown field `tokp`"),
        (r#"{"seeds":[{"id":"Alex","score":2}]}"#, "score of seed Alex"),
        (r#"{"seeds":[{"id":"Alex","score":1e999}]}"#, ""),
    ] {
        ask(body).fails(400, "validation", says);
    }
    for (body, says) in [
        (r#"{"seeds":[{"id":"Alex","score":1}],"depth":0}"#, "depth"),
        (r#"{"seeds":[{"id":"Alex","score":1}],"depth":21}"#, "depth"),
    ] {
        api.post("/v1/engine/activate", body).fails(400, "validation", says);
    }
}

/// What joined the seeds, with scores.
fn primed(answer: &Value) -> Vec<(&str, f64)> {
    let all = answer["primed"].as_array().into_iter().flatten();
    all.map(|one| (one["id"].as_str().unwrap(), one["score"].as_f64().unwrap())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_asked_together_comes_along_in_its_own_scope() {
    let db = fresh().await;
    told(&db);
    for name in ["Lunch", "Alex"] {
        ebb(&db, &["--scope", "team", "memory", "add", "of the team", "--mention", name]).json();
    }
    let api = TestServer::on(&db, &[("EBB__MIRROR__SCOPES", "local,team")]);
    let ask = |body: &str| api.post("/v1/recall", body).json(200);
    for _ in 0..2 {
        let both = ask(r#"{"text":"Lunch with Alex"}"#);
        assert!(ids(&both).contains(&"Lunch") && ids(&both).contains(&"Alex"), "{both:#}");
        assert_eq!(both["primed"], Value::Null, "{both:#}");
    }
    let alone = ask(r#"{"text":"Lunch"}"#);
    assert!(!ids(&alone).contains(&"Alex"), "{alone:#}");
    // Of three questions with Lunch two were with Alex, and with what a fact joins to Alex.
    let third = ask(r#"{"text":"Lunch","priming":true,"why":true}"#);
    let joined = primed(&third);
    assert!(
        joined.iter().any(|(id, _)| *id == "Alex") && joined.iter().all(|(id, _)| *id != "Lunch"),
        "{third:#}"
    );
    let strongest = third["seeds"][0]["score"].as_f64().unwrap();
    assert!(joined.iter().all(|(_, score)| (score / strongest - 0.2 / 3.0).abs() < 1e-6), "{third:#}");
    assert!(ids(&third).contains(&"Alex") && ids(&third).contains(&"m2"), "{third:#}");
    assert_eq!(ids(&third)[..2].iter().filter(|id| ["Lunch", "m3"].contains(id)).count(), 2, "{third:#}");
    assert!(third["recall_id"] != alone["recall_id"], "{third:#}");

    let elsewhere = ask(r#"{"text":"Lunch","priming":true,"scope":"team"}"#);
    assert!(ids(&elsewhere).contains(&"Lunch") && primed(&elsewhere).is_empty(), "{elsewhere:#}");
    api.post("/v1/recall", r#"{"text":"x","priming":1}"#).fails(400, "validation", "priming");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_recall_leaves_open_is_as_configured() {
    let db = fresh().await;
    told(&db);
    let variables = [
        ("EBB__ENGINE__PRIMING", "true"),
        ("EBB__ENGINE__DIMENSIONS", "semantic"),
        ("EBB__ENGINE__SYNONYMS", "parser,lexer"),
    ];
    let api = TestServer::on(&db, &variables);
    let ask = |body: &str| api.post("/v1/recall", body).json(200);
    let most = |answer: &Value, of: &str| {
        let hits = answer["hits"].as_array().unwrap();
        hits.iter().map(|hit| hit["dimensions"][of].as_f64().unwrap()).fold(0.0, f64::max)
    };
    for _ in 0..2 {
        let both = ask(r#"{"text":"Lunch with Alex"}"#);
        assert!(most(&both, "semantic") > 0.0 && most(&both, "structural") == 0.0, "{both:#}");
    }
    let said = ask(r#"{"text":"Lunch","dimensions":["structural"]}"#);
    assert!(most(&said, "semantic") == 0.0 && most(&said, "structural") > 0.0, "{said:#}");
    assert!(primed(&said).iter().any(|(id, _)| *id == "Alex"), "{said:#}");
    let unprimed = ask(r#"{"text":"Lunch","dimensions":["structural"],"priming":false}"#);
    assert_eq!(unprimed["primed"], Value::Null, "{unprimed:#}");
    let synonym = ask(r#"{"text":"lexer","words":false}"#);
    assert!(ids(&synonym).contains(&"Parser"), "{synonym:#}");

    // On the command line too, where a process has no questions behind it.
    let folder = tempfile::tempdir().unwrap();
    let said = |args: &[&str]| -> Value {
        let output = command(&db, folder.path(), args).envs(variables).output().unwrap();
        super::CliOutput::from(output).json()
    };
    let usual = said(&["recall", "Lunch", "--prime"]);
    assert!(most(&usual, "semantic") > 0.0 && most(&usual, "structural") == 0.0, "{usual:#}");
    assert_eq!(usual["primed"], Value::Null, "{usual:#}");
    let stated = said(&["recall", "Lunch", "--dimension", "structural", "--no-prime"]);
    assert!(most(&stated, "semantic") == 0.0 && most(&stated, "structural") > 0.0, "{stated:#}");
    ebb(&db, &["recall", "x", "--prime", "--no-prime"]).fails(2, "cannot be used with");
}

#[tokio::test(flavor = "multi_thread")]
async fn earlier_queries_are_shown_in_their_own_scope() {
    let db = fresh().await;
    told(&db);
    let api = TestServer::on(&db, &[("EBB__MIRROR__SCOPES", "local,team")]);
    let seen = |query: &str| api.get(&format!("/v1/engine/queries{query}")).json(200);
    assert_eq!(seen(""), json!({"count": 0, "queries": [], "nodes": [], "pairs": []}));
    let ask = |body: &str| api.post("/v1/recall", body).json(200);
    let first = ask(r#"{"text":"Lunch with Alex","top_k":3}"#);
    let second = ask(r#"{"text":"Parser"}"#);
    let held = seen("");
    assert_eq!((&held["count"], &held["queries"][0]["text"]), (&json!(2), &json!("Parser")));
    let past = &held["queries"][1];
    assert_eq!(past["text"], "Lunch with Alex");
    let hits: Vec<&str> =
        past["activated"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    assert_eq!(hits, ids(&first));
    assert!(past["queried_at"].as_str().unwrap().starts_with("20"), "{past}");
    let of =
        |id: &str| held["nodes"].as_array().unwrap().iter().find(|node| node["id"] == id).unwrap().clone();
    // Alex is a seed of the first query, and a hit of the second at least.
    assert!(ids(&second).contains(&"Alex"), "{second:#}");
    assert_eq!((&of("Alex")["frequency"], &of("Lunch")["frequency"]), (&json!(2), &json!(1)));
    let pairs = held["pairs"].as_array().unwrap();
    assert!(pairs.contains(&json!({"ids": ["Alex", "Lunch"], "count": 1})), "{held:#}");
    assert_eq!(seen("?limit=1")["queries"].as_array().unwrap().len(), 1);
    assert_eq!(seen("?scope=team")["count"], 0, "nothing crosses scopes");
    api.get("/v1/engine/queries?limit=0").fails(400, "validation", "limit");
    assert_eq!(seen("?scope=company")["count"], 0, "it is empty");

    let folder = tempfile::tempdir().unwrap();
    let port = api.port;
    let verb = |more: &[&str]| -> super::CliOutput {
        let listen = ("EBB__HTTP__LISTEN", format!("127.0.0.1:{port}"));
        let args = [&["engine", "queries"], more].concat();
        command(&db, folder.path(), &args).envs([listen]).output().unwrap().into()
    };
    let mut told = verb(&[]).json();
    assert_eq!(told.as_object_mut().unwrap().remove("schema"), Some(json!("ebb.engine.queries/1")));
    assert_eq!(told, held);
    assert_eq!(verb(&["--scope", "company"]).json()["count"], 0);
    // Once a key exists, the verb needs one that may administer the scope.
    let made = ebb(&db, &["key", "create", "--name", "k", "--right", "admin", "--scope", "local"]).json();
    let file = folder.path().join("admin.key");
    fs::write(&file, made["secret"].as_str().unwrap()).unwrap();
    assert_eq!(verb(&["--limit", "1", "--key-file", file.to_str().unwrap()]).json()["count"], 2);
    fs::write(&file, "ebb_of_nobody").unwrap();
    verb(&["--key-file", file.to_str().unwrap()]).fails(1, "--key-file");
    verb(&["--key-file", "no.key"]).fails(2, "no.key");
    drop(api);
    verb(&[]).fails(1, "ebb serve");
}
