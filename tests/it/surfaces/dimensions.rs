//! Recall by each dimension of evidence alone and by all together, on a set of questions of which each family needs
//! another one: through the program, from an event file to answers over HTTP.
//!
//! To make the files of tests/fixtures/dimensions anew by their rule: `EBB_UPDATE=1 cargo test --test it dimensions`.

mod rule;

use super::http::TestServer;
use super::{CliOutput, command, ebb};
use crate::harness::neo4j::fresh;
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use ebb_core::clock::Clock;
use rule::{DAYS, FAMILIES};
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const FILES: [&str; 2] = ["events.ndjson", "questions.ndjson"];
/// Numbers of hits at which the share of gold is taken.
const AT: [usize; 3] = [1, 5, 10];

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dimensions").join(file)
}

fn lines(file: &str) -> Vec<Value> {
    let text = fs::read_to_string(path(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_set_is_made_by_its_rule() {
    let set = rule::make();
    for (file, made) in FILES.into_iter().zip([set.events, set.questions]) {
        let text: String = made.iter().map(|line| format!("{line}\n")).collect();
        if super::stories::updates() {
            fs::create_dir_all(path(file).parent().unwrap()).unwrap();
            fs::write(path(file), &text).unwrap();
        }
        assert!(fs::read_to_string(path(file)).unwrap() == text, "{file} is not what the rule makes");
    }
}

/// The events with the year moved so that it ends now: recall measures ages from the present.
fn shifted(events: &[Value], now: DateTime<Utc>) -> String {
    let instant = |event: &Value| event["at"].as_str().unwrap().parse::<DateTime<Utc>>().unwrap();
    let midnight = instant(&events[0]).date_naive().and_time(chrono::NaiveTime::MIN).and_utc();
    let later = now - (midnight + TimeDelta::days(DAYS));
    let moved = events.iter().map(|event| {
        let mut event = event.clone();
        event["at"] = json!((instant(&event) + later).to_rfc3339_opts(SecondsFormat::Millis, true));
        format!("{event}\n")
    });
    moved.collect()
}

/// The share of gold among the first hits of an answer.
fn share(answer: &Value, gold: &[Value], at: usize) -> f64 {
    let hits = answer["hits"].as_array().unwrap();
    let found = hits.iter().take(at).filter(|hit| gold.contains(&hit["id"])).count();
    found as f64 / gold.len() as f64
}

/// One row of the table: shares in percent for each family and for all questions.
fn row(api: &TestServer, questions: &[Value], name: &str, asked: &Value) -> String {
    let mut sums = [[0.0; AT.len()]; FAMILIES.len()];
    let mut counts = [0.0; FAMILIES.len()];
    for question in questions {
        let family = FAMILIES.iter().position(|family| question["family"] == *family).unwrap();
        let mut body = asked.clone();
        body["text"] = question["question"].clone();
        body["kinds"] = json!([question["kind"]]);
        body["content"] = json!(false);
        body["top_k"] = json!(10);
        let answer = api.post("/v1/recall", &body.to_string()).json(200);
        let gold = question["gold"].as_array().unwrap();
        counts[family] += 1.0;
        for (sum, at) in sums[family].iter_mut().zip(AT) {
            *sum += share(&answer, gold, at);
        }
    }
    let mut line = format!("| {name} ");
    for (sum, count) in sums.iter().zip(counts) {
        write!(line, "| {:.0}, {:.0} ", 100.0 * sum[0] / count, 100.0 * sum[1] / count).unwrap();
    }
    for at in 0..AT.len() {
        let all: f64 = sums.iter().map(|sum| sum[at]).sum();
        write!(line, "| {:.1} ", 100.0 * all / counts.iter().sum::<f64>()).unwrap();
    }
    line + "|\n"
}

#[tokio::test(flavor = "multi_thread")]
async fn each_dimension_finds_what_the_others_do_not() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    let now = DateTime::from_timestamp_millis(Clock::Real.now().millis()).unwrap();
    fs::write(folder.path().join(FILES[0]), shifted(&lines(FILES[0]), now)).unwrap();
    let on = |args: &[&str]| -> CliOutput { command(&db, folder.path(), args).output().unwrap().into() };
    on(&["import", FILES[0]]).json();
    ebb(&db, &["job", "run", "coactivate"]).json();
    let api = TestServer::on(&db, &[]);
    let questions = lines(FILES[1]);
    let mut table = String::from(
        "R@1 and R@5 for each family, then R@1, R@5 and R@10 for all questions, in percent.\n\n| | structural | semantic | temporal | together | causal | R@1 | R@5 | R@10 |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for words in [false, true] {
        let suffix = if words { ", and text" } else { "" };
        for dimension in ["structural", "semantic", "temporal", "causal"] {
            let asked = json!({"dimensions": [dimension], "words": words});
            table += &row(&api, &questions, &format!("{dimension} alone{suffix}"), &asked);
        }
        let all = json!({"dimensions": ["structural", "semantic", "temporal", "causal"], "words": words});
        table += &row(&api, &questions, &format!("all four{suffix}"), &all);
    }
    insta::assert_snapshot!("shares", table);
}
