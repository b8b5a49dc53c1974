//! The files of results are what their schema says, and the README says what the newest ones say.

use crate::figures::in_page;
use crate::record::{Record, SCHEMA, TARGETS, files, slug, verdicts};
use crate::{file, holds};

fn records() -> Vec<(String, Record)> {
    let read = |path: std::path::PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("readable");
        let record = serde_json::from_str(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
        (name, record)
    };
    files().into_iter().map(read).collect()
}

#[test]
fn the_schema_is_that_of_the_record() {
    let schema = serde_json::to_string_pretty(&schemars::schema_for!(Record)).expect("JSON");
    holds("tests/bench/results/schema.json", &(schema + "\n"));
}

#[test]
fn every_file_of_results_is_what_it_says() {
    for (name, record) in records() {
        assert_eq!(record.schema, SCHEMA, "{name}");
        assert!(record.commit.len() == 40 && record.commit.bytes().all(|b| b.is_ascii_hexdigit()), "{name}");
        assert!(name.ends_with(&format!("-{}.json", slug(&record.machine.cpu))), "{name}");
        assert!(name[..10].bytes().all(|b| b.is_ascii_digit() || b == b'-'), "{name} begins with a day");
    }
}

#[test]
fn the_newest_file_has_a_verdict_on_every_target() {
    if let Some((name, record)) = records().last() {
        let told: Vec<&str> = record.verdicts.iter().map(|verdict| verdict.target.as_str()).collect();
        assert_eq!(told, TARGETS.map(|target| target.id), "{name}");
        assert_eq!(record.verdicts, verdicts(&record.runs), "{name}: verdicts follow from runs");
    }
}

#[test]
fn the_readme_says_what_the_newest_file_says() {
    let records = records();
    let page = std::fs::read_to_string(file("README.md")).expect("README.md");
    holds("README.md", &in_page(&page, &records));
}

#[test]
fn a_machine_is_named_by_its_processor() {
    assert_eq!(slug("Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz"), "intel-xeon-e5-2680-v4");
}
