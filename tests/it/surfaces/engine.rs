//! Contrast, waves and communities as people and programs meet them: on a file without any database, and over HTTP.

use super::http::TestServer;
use super::recall::{ids, told};
use super::stories::alone;
use super::{CliOutput, command, ebb};
use crate::harness::neo4j::{Fresh, fresh};
use serde_json::{Value, json};

/// Asks the memory of the stories.
fn on_file(line: &str) -> CliOutput {
    let line = format!("engine {line} --graph docs/stories/team.json");
    alone(&line.split(' ').collect::<Vec<_>>())
}

fn numbers(of: &Value, names: &[&str]) {
    for name in names {
        assert!(of[*name].is_number(), "{name} of {of:#}");
    }
}

#[test]
fn a_file_is_asked_without_any_database() {
    let xlr = on_file("xlr --seed Ledger --seed nobody --top 12").json();
    assert_eq!((&xlr["schema"], ids(&xlr).len()), (&json!("ebb.engine.xlr/1"), 12));
    assert_eq!((&xlr["unknown_seeds"], &xlr["as_of"]), (&json!(["nobody"]), &Value::Null));
    assert_eq!((ids(&xlr)[10], ids(&xlr)[11]), ("Amara", "backup-test"));
    assert_eq!(xlr["hits"][11]["was"], 19);
    numbers(&xlr["hits"][0], &["score", "activation", "was"]);
    numbers(&xlr["hits"][0]["contrast"], &["hot", "cold", "overlap", "density", "net", "gate"]);
    assert_eq!(xlr["hits"][0]["contrast"]["immune"], true);

    let waves = on_file("resonate --seed retry-storm --sympathetic").json();
    assert_eq!((&waves["schema"], ids(&waves)[0]), (&json!("ebb.engine.resonate/1"), "retry-storm"));
    numbers(&waves["hits"][0], &["score", "amplitude", "phase", "coherence"]);
    assert_eq!((&waves["hits"][0]["antinode"], &waves["hits"][0]["quiet"]), (&json!(true), &json!(false)));
    numbers(&waves, &["energy", "dropped_energy", "pulses", "nodes_touched"]);
    assert_eq!(ids(&waves["sympathetic"]), ["Kestrel"]);
    assert_eq!(waves["sympathetic"]["hits"][0]["cross_region"], true);
    let cut = on_file("resonate --seed Ledger --pulses 9").json();
    assert_eq!((&cut["truncated"], &cut["flags"]), (&json!(true), &json!(["resonance_truncated"])));
    assert_eq!(cut["sympathetic"], Value::Null, "nobody asked");

    let spectrum = on_file("harmonics --seed release --top 2").json();
    assert_eq!(spectrum["schema"], "ebb.engine.harmonics/1");
    assert_eq!(spectrum["harmonics"].as_array().unwrap().len(), 5);
    numbers(&spectrum["harmonics"][4], &["harmonic", "frequency", "energy", "nodes"]);
    let sweep = spectrum["sweep"].as_array().unwrap();
    let peaks: Vec<&Value> = sweep.iter().filter(|step| step["resonant"] == true).collect();
    assert_eq!((sweep.len(), peaks.len(), &peaks[0]["frequency"]), (33, 1, &json!(5.25)));
    numbers(peaks[0], &["period", "energy"]);
    assert_eq!(spectrum["hits"][0]["amplitudes"].as_array().unwrap().len(), 5);
}

#[test]
fn communities_of_a_file_are_told_whole_or_in_part() {
    let some = on_file("communities --top 2 --members 1").json();
    assert_eq!(some["schema"], "ebb.engine.communities/1");
    numbers(&some, &["modularity", "levels", "alone"]);
    assert_eq!((&some["count"], &some["left_out"]), (&json!(5), &json!(29)));
    assert_eq!(some["communities"], json!([{"community": 0, "size": 8}, {"community": 1, "size": 7}]));
    assert_eq!(ids(&some), ["Ledger", "standup"]);
    numbers(&some["hits"][0], &["score", "community"]);
    let bridge = &some["bridges"][0];
    assert_eq!((&bridge["id"], bridge["ties"].as_array().unwrap().len()), (&json!("standup"), 4));
    numbers(bridge, &["inside", "outside", "community"]);

    let one = on_file("communities --node index-rebuild").json();
    assert_eq!((ids(&one).len(), &one["bridges"][0]["id"]), (6, &json!("index-rebuild")));
    let none = on_file("communities --node nobody").json();
    assert_eq!((ids(&none).len(), &none["unknown_seeds"]), (0, &json!(["nobody"])));

    let all = on_file("communities --all --output ndjson");
    assert_eq!(all.code, Some(0), "{}", all.err);
    let lines: Vec<Value> = all.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 31, "a line for each node");
    assert!(lines.iter().all(|line| line["schema"] == "ebb.engine.communities/1"));
    assert!(lines.is_sorted_by_key(|line| line["community"].as_u64()), "{}", all.out);
}

#[test]
fn what_makes_no_sense_ends_with_2() {
    for (line, says) in [
        ("xlr", "--seed"),
        ("xlr --seed Ledger=2", "above 0, up to 1"),
        ("resonate --seed Ledger --frequency 0", "a number above 0"),
        ("harmonics --seed Ledger --hops 11", "11 is not in 1..=10"),
        ("communities --resolution x", "a number above 0"),
        ("communities --all --members 3", "cannot be used with"),
    ] {
        on_file(line).fails(2, says);
    }
    for line in ["xlr --seed x", "resonate --seed x", "harmonics --seed x", "communities"] {
        let line = format!("engine {line} --graph nowhere.json");
        alone(&line.split(' ').collect::<Vec<_>>()).fails(2, "nowhere.json");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_routes_of_mechanisms_answer_from_the_mirror() {
    let db = fresh().await;
    told(&db);
    let api = TestServer::on(&db, &[]);
    let ask = |verb: &str, body: &str| api.post(&format!("/v1/engine/{verb}"), body);
    let alex = r#"{"seeds":[{"id":"Alex","score":1},{"id":"Nobody","score":0.5}]}"#;
    for verb in ["xlr", "resonate", "harmonics", "communities"] {
        let answer = ask(verb, if verb == "communities" { "{}" } else { alex }).json(200);
        numbers(&answer, &["generation", "stale_ms"]);
        assert!(answer["as_of"].is_string(), "{verb}: {answer:#}");
        assert_eq!((&answer["stale"], &answer["truncated"]), (&json!(false), &json!(false)), "{verb}");
        let unknown = if verb == "communities" { json!([]) } else { json!(["Nobody"]) };
        assert_eq!(answer["unknown_seeds"], unknown, "{verb}");
        let hit = &answer["hits"][0];
        assert!(hit["id"].is_string() && hit["kind"].is_string() && hit["label"].is_string(), "{hit:#}");
        numbers(hit, &["score"]);
    }

    let xlr = ask("xlr", alex).json(200);
    assert_eq!((ids(&xlr)[0], &xlr["anti_seeds"]), ("Alex", &json!(["Lunch", "m3"])));
    numbers(&xlr["hits"][0]["contrast"], &["hot", "cold", "overlap", "density", "net", "gate"]);

    let body = r#"{"seeds":[{"id":"Alex","score":1}],"sympathetic":true,"top_k":3}"#;
    let waves = ask("resonate", body).json(200);
    assert_eq!((ids(&waves).len(), &waves["nodes_touched"]), (3, &json!(4)));
    assert_eq!(waves["sympathetic"], json!({"hits": [], "left_out": 0, "unreached": 2}));
    assert_eq!(waves["hits"][0]["score"], waves["hits"][0]["amplitude"]);

    let spectrum = ask("harmonics", alex).json(200);
    assert_eq!(spectrum["sweep"].as_array().unwrap().len(), 33);
    assert_eq!(spectrum["harmonics"].as_array().unwrap().len(), 5);

    let parts = ask("communities", "{}").json(200);
    assert_eq!(
        (&parts["count"], &parts["communities"]),
        (&json!(2), &json!([{"community": 0, "size": 4}, {"community": 1, "size": 2}]))
    );
    assert!(parts["modularity"].as_f64().unwrap() > 0.0, "{parts:#}");
    assert_eq!(ask("communities", "{}").json(200)["hits"], parts["hits"], "asked twice");
    let lunch = ask("communities", r#"{"node":"m3"}"#).json(200);
    assert_eq!((ids(&lunch).len(), &lunch["hits"][0]["community"]), (2, &json!(1)));

    // The command line says the same.
    let said = ebb(&db, &["engine", "communities"]).json();
    assert_eq!(ids(&said), ids(&parts));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_routes_of_mechanisms_refuse_what_makes_no_sense() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let ask = |verb: &str, body: &str| api.post(&format!("/v1/engine/{verb}"), body);
    for (verb, body, says) in [
        ("xlr", "{}", "missing field `seeds`"),
        ("xlr", r#"{"seeds":[],"topk":1}"#, "unknown field `topk`"),
        ("xlr", r#"{"seeds":[],"top_k":0}"#, "top_k is 0"),
        ("xlr", r#"{"seeds":[{"id":"Alex","score":2}]}"#, "score of seed Alex"),
        ("resonate", r#"{"seeds":[],"hops":0}"#, "hops is 0"),
        ("resonate", r#"{"seeds":[],"frequency":0}"#, "frequency is 0"),
        ("resonate", r#"{"seeds":[],"pulses":1000001}"#, "pulses is 1000001"),
        ("resonate", r#"{"seeds":[],"amplitude":1}"#, "unknown field `amplitude`"),
        ("harmonics", r#"{"seeds":[],"wavelength":-1}"#, "wavelength is -1"),
        ("harmonics", r#"{"seeds":[],"sympathetic":true}"#, "unknown field `sympathetic`"),
        ("communities", r#"{"resolution":0}"#, "resolution is 0"),
        ("communities", r#"{"members":1001}"#, "members is 1001"),
        ("communities", r#"{"top_k":1001}"#, "top_k is 1001"),
        ("communities", r#"{"seeds":[]}"#, "unknown field `seeds`"),
    ] {
        ask(verb, body).fails(400, "validation", says);
    }
}

/// The effects or causes of a node by a verb, with their scores to three digits.
fn chained(db: &Fresh, variables: &[(&str, &str)], seed: &str, direction: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let args = ["engine", "causal", "--seed", seed, "--direction", direction];
    let output = command(db, folder.path(), &args).envs(variables.iter().copied()).output().unwrap();
    let answer = CliOutput::from(output).json();
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| format!("{} {:.3}", hit["id"].as_str().unwrap(), hit["score"].as_f64().unwrap())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn causes_and_effects_are_found_in_a_graph_of_others() {
    let db = fresh().await;
    ebb(&db, &["memory", "add", "It was hot", "--id", "hot", "--mention", "Heat"]).json();
    // Types of another writer, one with a strength of its own, and relations observed with predicates.
    db.client
        .run(
            "MATCH (heat:Entity {scope: 'local', name: 'Heat'}) \
             CREATE (heat)-[:CAUSES {weight: 0.8}]->(cut:Entity {scope: 'local', name: 'Cut'}), \
               (halt:Entity {scope: 'local', name: 'Halt'})-[:Caused_By {causal_strength: 0.9}]->(cut), \
               (heat)-[:CAUSES {causal_strength: 'much'}]->(:Entity {scope: 'local', name: 'Wrong'})",
            &[],
        )
        .await;
    for (from, kind, to) in
        [("Halt", "leads to", "Refund"), ("Halt", "likes", "Refund"), ("Cut", "likes", "Lunch")]
    {
        ebb(&db, &["relation", "observe", from, kind, to]).json();
    }
    assert_eq!(chained(&db, &[], "Heat", "effects"), ["Cut 0.560", "Halt 0.353", "Refund 0.247"]);
    assert_eq!(chained(&db, &[], "Refund", "causes"), ["Halt 0.700", "Cut 0.441", "Heat 0.247"]);
    let none: [String; 0] = [];
    assert_eq!(chained(&db, &[], "Refund", "effects"), none);
    assert_eq!(chained(&db, &[], "Lunch", "causes"), none);
    let own = [("EBB__ENGINE__CAUSAL__CAUSES", "likes=0.5"), ("EBB__ENGINE__CAUSAL__CAUSED_BY", "causes")];
    assert_eq!(chained(&db, &own, "Cut", "effects"), ["Heat 0.560", "Lunch 0.350"]);

    let api = TestServer::on(&db, &[]);
    let body = r#"{"seeds":[{"id":"Refund","score":1}],"direction":"causes","depth":2,"top_k":5}"#;
    let answer = api.post("/v1/engine/causal", body).json(200);
    assert_eq!((ids(&answer), &answer["nodes_touched"]), (vec!["Halt", "Cut"], &json!(2)));
    assert_eq!(answer["hits"][1]["path"], json!(["Refund", "Halt", "Cut"]));
    assert_eq!(answer["hits"][1]["steps"][0]["type"], "RELATES_TO");
    assert_eq!(answer["hits"][1]["steps"][1]["type"], "Caused_By");
    // A refresh reads what a load reads.
    ebb(&db, &["relation", "observe", "Storm", "triggers", "Cut"]).json();
    db.client.run("MATCH (:Entity {name: 'Halt'})-[r:Caused_By]->() SET r.causal_strength = 0.5", &[]).await;
    ebb(&db, &["relation", "observe", "Halt", "likes", "Refund"]).json();
    assert_eq!(
        chained(&db, &[], "Refund", "causes"),
        ["Halt 0.700", "Cut 0.245", "Storm 0.171", "Heat 0.137"]
    );
    for (body, says) in [
        (r#"{"seeds":[],"depth":7}"#, "depth"),
        (r#"{"seeds":[],"depth":0}"#, "depth"),
        (r#"{"seeds":[],"direction":"sideways"}"#, "direction"),
        (r#"{"seeds":[{"id":"x","score":2}]}"#, "above 0, up to 1"),
    ] {
        api.post("/v1/engine/causal", body).fails(400, "validation", says);
    }
}
