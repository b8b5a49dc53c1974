//! Fuzz entry point: event files.

use super::FeedError;
use super::in_memory::{FileEvents, documented_rules};
use super::line::{Reading, parse};
use super::lines::{Lines, text_of};
use crate::domain::ids::Scope;
use crate::domain::similarity::Similarity;
use crate::domain::trail::Allowed;
use crate::domain::units::Timestamp;
use ebb_engine::recall::{RecallConfig, RecallQuery, recall};
use ebb_engine::scratch::Scratch;
use std::path::Path;

/// Reads a file line by line, as an import does, and as a whole, as views in memory are made.
pub fn read(bytes: &[u8]) {
    let similarity = Similarity { dimensions: Some(2), text_threshold: 0.5, model: None };
    let allowed = Allowed::new(&Allowed::LABELS, &Allowed::TYPES).expect("the documented names");
    let reading = Reading { key: "k".to_owned(), scope: Scope::local(), similarity, allowed, latest: None };
    let path = Path::new("events.ndjson");
    let mut lines = Lines::of(path, bytes);
    for number in 1.. {
        match lines.next() {
            Ok(Some(line)) => text_of(line).map_or((), |text| check_line(text, number, &reading)),
            Ok(None) => break,
            Err(why) => panic!("no line is too long: {why}"),
        }
    }
    match FileEvents::of(Lines::of(path, bytes), &reading) {
        Ok(events) => check_views(&events),
        Err(FeedError::Line { line, why, .. }) => assert!(line > 0 && !why.is_empty()),
        Err(why) => panic!("only a line can be at fault: {why}"),
    }
}

/// Reads a line, and again with its own instant as the latest that is allowed, and the instant before it.
fn check_line(text: &str, number: u64, reading: &Reading) {
    let line = match parse(text, number, reading) {
        Ok(line) => line,
        Err(why) => return assert!(!why.is_empty()),
    };
    let until = |millis| {
        Timestamp::from_millis(millis).ok().map(|at| Reading { latest: Some(at), ..reading.clone() })
    };
    let at = line.at().millis();
    let same = until(at).expect("the instant of an event");
    assert_eq!(parse(text, number, &same).as_ref(), Ok(&line));
    if let Some(earlier) = until(at - 1) {
        assert!(parse(text, number, &earlier).is_err());
    }
}

fn check_views(events: &FileEvents) {
    let views = events.views(&documented_rules()).expect("events make a view");
    for (scope, view) in &views {
        let text = events.scopes[scope].memories.first().map(|memory| memory.content.clone());
        let text: String = text.unwrap_or_default().chars().take(100).collect();
        let query = RecallQuery { text, vector: Some(vec![1.0, 0.5]), ..RecallQuery::default() };
        let found = recall(view, &query, &RecallConfig::default(), &mut Scratch::default());
        let found = found.expect("a view answers a query");
        assert!(found.hits.iter().all(|hit| hit.score.is_finite()));
    }
}
