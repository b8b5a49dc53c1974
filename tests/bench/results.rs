//! The files of results are what their schema says, and docs/figures.md says what the newest ones say.

use crate::figures::in_page;
use crate::record::{Record, SCHEMA, TARGETS, records, slug, verdicts};
use crate::{file, holds};

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
        let at = name.strip_suffix(&format!("-{}.json", slug(&record.machine.cpu))).expect(&name);
        // Those of before files had minutes have a day alone.
        let (day, minute) = at.split_once('T').unwrap_or((at, "0000"));
        assert_eq!((day.len(), minute.len()), (10, 4), "{name}");
        assert!(minute.bytes().all(|b| b.is_ascii_digit()), "{name}");
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
fn the_figures_say_what_the_newest_file_says() {
    let records = records();
    let page = std::fs::read_to_string(file("docs/figures.md")).expect("docs/figures.md");
    holds("docs/figures.md", &in_page(&page, &records));
}

#[test]
fn a_machine_is_named_by_its_processor() {
    assert_eq!(slug("Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz"), "intel-xeon-e5-2680-v4");
}
