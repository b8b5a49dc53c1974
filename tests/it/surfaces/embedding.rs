//! Embedding by configuration as people and programs meet it: memories in words, recalls in words, and an embedder that is
//! down, slow or wrong.

use super::http::TestServer;
use super::recall::ids;
use super::{CliOutput, command};
use crate::harness::embedder::{DIMENSIONS, Manner, TestEmbedder};
use crate::harness::neo4j::{Fresh, fresh};
use crate::harness::proxy::{Cut, Proxy, ProxyFault, RUN};
use crate::worker::process::eventually;
use ebb_core::embedder::{Config, Embedder};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// A key that must be nowhere but in the request.
const KEY: &str = "sk-of-the-test-4711";

struct Bed {
    db: Fresh,
    embedder: TestEmbedder,
    folder: tempfile::TempDir,
    settings: Vec<(&'static str, String)>,
}

impl Bed {
    async fn new() -> Self {
        let db = fresh().await;
        db.embeds(DIMENSIONS).await;
        let (embedder, folder) = (TestEmbedder::start(), tempfile::tempdir().unwrap());
        let file = folder.path().join("key");
        std::fs::write(&file, format!("{KEY}\n")).unwrap();
        let settings = vec![
            ("EBB__EMBEDDING__URL", embedder.url()),
            ("EBB__EMBEDDING__MODEL", "small".to_owned()),
            ("EBB__EMBEDDING__DIMENSIONS", DIMENSIONS.to_string()),
            ("EBB__EMBEDDING__API_KEY_FILE", file.display().to_string()),
            // Longer than any answer of the test's embedder takes, however slow the machine is.
            ("EBB__EMBEDDING__RECALL_TIMEOUT", "10s".to_owned()),
            ("EBB__EMBEDDING__TIMEOUT", "60s".to_owned()),
            ("EBB__MIRROR__REFRESH", "1s".to_owned()),
            ("EBB__JOBS__EMBED__EVERY", "1s".to_owned()),
        ];
        let bed = Self { db, embedder, folder, settings };
        bed.run(&["init", "--yes"]).json();
        bed
    }

    fn variables(&self) -> Vec<(&str, &str)> {
        self.settings.iter().map(|(name, value)| (*name, value.as_str())).collect()
    }

    fn run(&self, args: &[&str]) -> CliOutput {
        let mut command = command(&self.db, self.folder.path(), args);
        command.envs(self.variables()).output().unwrap().into()
    }

    fn serve(&self, roles: &str, more: &[(&str, &str)]) -> TestServer {
        TestServer::with_roles(&self.db, roles, &[&self.variables(), more].concat())
    }
}

fn recall(api: &TestServer, text: &str) -> Value {
    api.post("/v1/recall", &json!({"text": text, "why": true}).to_string()).json(200)
}

fn flags(answer: &Value) -> Vec<&str> {
    answer["flags"].as_array().unwrap().iter().map(|flag| flag.as_str().unwrap()).collect()
}

/// No text has a word of the question.
#[tokio::test(flavor = "multi_thread")]
async fn memories_and_questions_in_words_meet_by_meaning() {
    let bed = Bed::new().await;
    let api = bed.serve("worker,http", &[]);
    for (id, content) in
        [("m1", "The salary comes on Friday"), ("m2", "Soup again"), ("m3", "The lexer is slow")]
    {
        api.post("/v1/memories", &json!({"id": id, "content": content}).to_string()).json(201);
    }
    eventually("the memories are embedded and mirrored", async || {
        ids(&recall(&api, "wages")).first() == Some(&"m1")
            && ids(&recall(&api, "grammar")).first() == Some(&"m3")
    })
    .await;
    assert_eq!(bed.embedder.authorization(), Some(format!("Bearer {KEY}")));
    let answer = recall(&api, "wages");
    assert!(
        flags(&answer).is_empty() && answer["hits"][0]["similarity"].as_f64().unwrap() > 0.5,
        "{answer:#}"
    );
    // Once is enough for each question.
    let asked = bed.embedder.requests().concat().iter().filter(|text| *text == "wages").count();
    assert_eq!(asked, 1);
    let given = json!({"text": "wages", "embedding": [0, 1, 0, 0]}).to_string();
    assert_eq!(ids(&api.post("/v1/recall", &given).json(200))[0], "m2", "the caller's embedding counts");
    assert!(flags(&api.post("/v1/recall", r#"{"text": "wages", "words": false}"#).json(200)).is_empty());
    let asked = bed.embedder.requests().concat().iter().filter(|text| *text == "wages").count();
    assert_eq!(asked, 1);

    assert_eq!(ids(&bed.run(&["recall", "wages"]).json())[0], "m1", "on the command line, too");
    let status = api.get("/v1/status").json(200);
    assert_eq!(status["waiting"]["embed"], 0);
    let job = status["jobs"].as_array().unwrap().iter().find(|job| job["job"] == "embed").unwrap();
    assert_eq!((&job["enabled"], &job["every_seconds"]), (&json!(true), &json!(1)));
    assert!(!api.log().contains(KEY), "{}", api.log());
    drop(api);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recall_is_answered_without_an_embedder_and_says_so() {
    let bed = Bed::new().await;
    bed.run(&["memory", "add", "The salary comes on Friday", "--id", "m1"]).json();
    bed.run(&["job", "run", "embed"]).json();
    for (manner, log) in [
        (Manner::Hangs, "did not answer within 100 ms"),
        (Manner::Status(500), "answered 500"),
        (Manner::Status(429), "answered 429"),
        (Manner::Numbers(7), "embeddings of 7 numbers"),
        (Manner::Instead("NaN"), "sent no JSON"),
    ] {
        bed.embedder.behave(manner);
        let limit = if manner == Manner::Hangs { "100ms" } else { "10s" };
        let api = bed.serve("http", &[("EBB__EMBEDDING__RECALL_TIMEOUT", limit)]);
        let answer = recall(&api, "salary");
        assert_eq!((ids(&answer)[0], flags(&answer)), ("m1", vec!["embedding_unavailable"]), "{manner:?}");
        eventually("the failure is logged", async || api.log().contains(log)).await;
        for question in ["salary", "wages", "pay"] {
            assert_eq!(flags(&recall(&api, question)), ["embedding_unavailable"], "{manner:?}");
        }
        assert!(!api.log().contains(KEY) && !api.log().contains("salary"), "{}", api.log());
        bed.embedder.behave(Manner::Well);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_delays_others_only_if_the_embedder_fails() {
    let embedder = TestEmbedder::start();
    let client = embedder.client("small");
    let asked = || embedder.requests().len();
    embedder.behave(Manner::Refuses(500, "poison"));
    // The question and a probe; not again.
    for _ in 0..2 {
        assert!(client.question("poison").await.is_none());
        assert_eq!(asked(), 2);
    }
    assert!(client.question("wages").await.is_some());
    embedder.behave(Manner::Status(503));
    for question in ["pay", "lunch", "pay"] {
        assert!(client.question(question).await.is_none());
        assert_eq!(asked(), 4, "after {question}");
    }
    assert!(client.question("wages").await.is_some(), "its vector is kept");
    assert_eq!(asked(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_goes_on_after_its_recall_and_ends_the_pause() {
    let embedder = TestEmbedder::start();
    let config = Config { recall_timeout: Duration::from_millis(100), ..embedder.config("small") };
    let client = Embedder::new(config).unwrap();
    embedder.behave(Manner::Hangs);
    assert!(client.question("wages").await.is_none());
    eventually("the embedder is asked", async || !embedder.requests().is_empty()).await;
    assert!(client.question("lunch").await.is_none(), "during the pause");
    embedder.behave(Manner::Well);
    eventually("the vector is there", async || client.question("wages").await.is_some()).await;
    assert_eq!(embedder.requests(), [["wages"]]);
    eventually("the pause is over", async || client.question("lunch").await.is_some()).await;
}

/// Libraries log what they send.
#[tokio::test(flavor = "multi_thread")]
async fn no_filter_of_the_log_shows_the_key_or_a_text() {
    let mut bed = Bed::new().await;
    bed.run(&["memory", "add", "The salary comes on Friday", "--id", "m1"]).json();
    bed.settings.push(("EBB__LOG__FILTER", "trace,ureq_proto=trace".to_owned()));
    let run = bed.run(&["job", "run", "embed", "-o", "json"]);
    assert_eq!(bed.embedder.requests().concat(), ["The salary comes on Friday"]);
    assert!(run.err.contains("TRACE") && !run.err.contains("ureq"), "{}", run.err);
    assert!(!run.err.contains(KEY) && !run.err.contains("salary"), "{}", run.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_the_job_and_the_doctor_say_what_is_wrong() {
    let bed = Bed::new().await;
    bed.run(&["memory", "add", "The salary comes on Friday", "--id", "m1"]).json();
    let well = bed.run(&["doctor", "-o", "json"]);
    assert!(
        well.out.contains("small at http://127.0.0.1") && well.out.contains("1 memories wait"),
        "{}",
        well.out
    );
    bed.run(&["job", "run", "embed"]).json();
    let folder = bed.folder.path();
    let mut other = command(&bed.db, folder, &["doctor", "-o", "json"]);
    other.envs(bed.variables()).env("EBB__EMBEDDING__MODEL", "large");
    let other = CliOutput::from(other.output().unwrap()).out;
    assert!(
        other.contains("1 have embeddings of another model or length (small, 4 numbers)")
            && other.contains("job run embed"),
        "{other}"
    );
    assert!(!bed.run(&["doctor", "-o", "json"]).out.contains("another model"));
    bed.run(&["memory", "add", "Soup again", "--id", "m2"]).json();
    for (manner, word) in [
        (Manner::Status(401), "check the key in embedding.api_key_file"),
        (Manner::Numbers(7), "embedding.dimensions is 4"),
    ] {
        bed.embedder.behave(manner);
        let run = bed.run(&["job", "run", "embed", "-o", "table"]);
        let all = format!("{}{}", run.out, run.err).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(all.contains("It ended early") && all.contains(word), "{all}");
        let doctor = bed.run(&["doctor", "-o", "json"]);
        assert!(doctor.code != Some(0) && doctor.out.contains(word), "{}{}", doctor.out, doctor.err);
        for output in [run, doctor] {
            assert!(!output.out.contains(KEY) && !output.err.contains(KEY));
        }
    }
    let shown = bed.run(&["config", "show"]);
    assert!(shown.out.contains("embedding.api_key_file") && !shown.out.contains(KEY));
    std::fs::write(Path::new(bed.folder.path()).join("key"), "two words\n").unwrap();
    bed.run(&["status"]).fails(1, "[embedding] cannot be used: the key in embedding.api_key_file has spaces");
    std::fs::remove_file(bed.folder.path().join("key")).unwrap();
    bed.run(&["status"]).fails(1, "cannot be used");
}

/// Memories `m0` to `m2999` about lunch, hotter than those about wages: of these `cold` alone may be found.
const LARGE: &str = "UNWIND range(0, 2999) AS n CREATE (:Memory:EbbMemory {scope: 'local', id: 'm' + n, \
    content: 'note of word' + n, tier: 'longTerm', energy: 2.0 + n / 1000.0, energyAt: datetime(), lastAccessed: datetime(), \
    created: datetime(), accessCount: 1, pinned: false, embedding: [0.0, 1.0, 0.5 + n / 3000.0, 0.1]})";
const COLD: &str = "UNWIND [ \
      {id: 'cold', tier: 'longTerm'}, {id: 'other', tier: 'longTerm', scope: 'team'}, {id: 'stub', tier: 'archivedWorking'}, \
      {id: 'expired', tier: 'expiredWorking'}, {id: 'foreign', tier: 'longTerm', model: 'large'}] AS row \
    CREATE (m:Memory:EbbMemory {scope: coalesce(row.scope, 'local'), id: row.id, content: 'Money of ' + row.id, tier: row.tier, \
      energy: 0.5, energyAt: datetime(), lastAccessed: datetime(), created: datetime(), accessCount: 1, pinned: false, \
      sessionId: 's1', tags: ['pay'], embedding: [1.0, 0.0, 0.0, 0.1], ebbEmbeddingEnds: [1.0, 0.1], ebbEmbeddingModel: coalesce(row.model, 'small')}) \
    WITH m WHERE m.id = 'cold' \
    CREATE (:Memory:EbbMemory:EbbQuarantined {scope: 'local', id: 'invalid', content: m.content, tier: m.tier, embedding: m.embedding})";
const SMALL: [(&str, &str); 3] = [
    ("EBB__MIRROR__MAX_BYTES", "1 MiB"),
    ("EBB__MIRROR__EXPIRED", "false"),
    ("EBB__MIRROR__SCOPES", "local,team"),
];

async fn large_bed() -> Bed {
    let mut bed = Bed::new().await;
    bed.settings.extend(SMALL.map(|(name, value)| (name, value.to_owned())));
    for text in [LARGE, COLD, "CALL db.awaitIndexes(300)"] {
        bed.db.client.run(text, &[]).await;
    }
    bed
}

/// The hits from the database.
fn from_database(answer: &Value) -> Vec<&str> {
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.filter(|hit| hit["from_database"] == true).map(|hit| hit["id"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn memories_that_did_not_fit_into_the_mirror_are_found_by_the_index() {
    let bed = large_bed().await;
    let api = bed.serve("http", &[]);
    let ask = |body: Value| api.post("/v1/recall", &body.to_string()).json(200);
    // The first statements of a server take longest.
    eventually("the index answers in time", async || {
        from_database(&ask(json!({"text": "wages"}))).contains(&"cold")
    })
    .await;
    let answer = ask(json!({"text": "wages"}));
    assert_eq!((&answer["whole"], ids(&answer)[0]), (&json!(false), "cold"), "{answer:#}\n{}", api.log());
    let hit = &answer["hits"][0];
    for (field, value) in [
        ("content", json!("Money of cold")),
        ("label", json!("Money of cold")),
        ("kind", json!("Memory")),
        ("tags", json!(["pay"])),
        ("score", json!(1.0)),
        ("from_database", json!(true)),
    ] {
        assert_eq!(hit[field], value, "{field}: {hit:#}");
    }
    assert!(hit["similarity"].as_f64().unwrap() > 0.99);
    // Of its text, too: a question with its words finds it more relevant.
    let relevance = |answer: &Value| {
        let hits = answer["hits"].as_array().unwrap().iter();
        hits.filter(|hit| hit["id"] == "cold").filter_map(|hit| hit["relevance"].as_f64()).next_back()
    };
    let given = json!([1, 0, 0, 0.05]);
    let by = |text: &str, least: f64| ask(json!({"text": text, "embedding": given, "min_relevance": least}));
    let [without, with] = ["wages", "money of cold"].map(|text| relevance(&by(text, 0.0)).unwrap());
    assert!(0.0 < without && without < with && with < 1.0, "{without} {with}");
    assert_eq!(relevance(&by("money of cold", with)), Some(with));
    assert_eq!(relevance(&by("wages", (without + with) / 2.0)), None);
    let found = from_database(&answer);
    for hidden in ["other", "stub", "expired", "foreign", "invalid"] {
        assert!(!found.contains(&hidden), "{hidden}: {answer:#}");
    }
    assert_eq!(answer["hits"].as_array().unwrap().len(), 20, "no more than asked for");
    for (filter, is_found) in [
        (json!({"tiers": ["longTerm"]}), true),
        (json!({"tiers": ["shortTerm"]}), false),
        (json!({"kinds": ["Memory"]}), true),
        (json!({"kinds": ["Entity"]}), false),
        (json!({"session": "s1"}), true),
        (json!({"session": "s2"}), false),
        (json!({"since": "2999-01-01T00:00:00Z"}), false),
        (json!({"content": false}), true),
        (json!({"words": false}), false),
    ] {
        let mut body = json!({"text": "wages"});
        if filter["words"] != false {
            body["embedding"] = given.clone();
        }
        body.as_object_mut().unwrap().extend(filter.as_object().unwrap().clone());
        let answer = ask(body);
        assert_eq!(from_database(&answer).contains(&"cold"), is_found, "{filter}: {answer:#}");
    }
    let team = ask(json!({"text": "wages", "scope": "team"}));
    assert_eq!((ids(&team), from_database(&team)), (vec!["other"], Vec::new()), "that mirror is whole");
    let context = api.post("/v1/context", &json!({"text": "wages"}).to_string()).json(200);
    let best = context["memories"].as_array().unwrap().iter().find(|memory| memory["rank"] == 1);
    assert_eq!(best.unwrap()["id"], "cold", "{context:#}");
    let table = bed.run(&["recall", "wages", "--why", "-o", "table"]).out;
    assert!(table.contains("cold: similarity 1.00; from the database"), "{table}");
    drop(api);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recall_is_answered_without_the_index_and_says_so() {
    let bed = large_bed().await;
    let proxy = Proxy::before(&bed.db.config.uri).await;
    let uri = proxy.uri();
    let api = bed.serve("http", &[("NEO4J_URI", uri.as_str()), ("EBB__MIRROR__REFRESH", "1h")]);
    let send = || api.post("/v1/recall", &json!({"text": "wages", "content": false}).to_string());
    let ask = || send().json(200);
    eventually("the index answers in time", async || from_database(&ask()).contains(&"cold")).await;
    eventually("the statement of a recall has no response", async || {
        // Then the keys were read a moment ago, and are not read by the next request. It may meet what is left of the last try.
        if send().status != 200 {
            return false;
        }
        proxy.hurt(Cut::Before, ProxyFault::Silent, RUN, 1);
        let sent = send();
        if sent.status != 200 {
            return false;
        }
        let answer = sent.json(200);
        assert!(!answer["hits"].as_array().unwrap().is_empty());
        flags(&answer) == ["vector_index_unavailable"] && from_database(&answer).is_empty()
    })
    .await;
    bed.db.client.run("DROP INDEX ebb_memory_embedding", &[]).await;
    assert_eq!(flags(&ask()), ["vector_index_unavailable"]);
    drop(api);
}
