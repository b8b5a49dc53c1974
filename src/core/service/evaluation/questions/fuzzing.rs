//! Fuzz entry point: files of questions.

use super::{GOLD_MAX, read as read_file};
use crate::domain::ids::Scope;
use crate::domain::similarity::Similarity;
use crate::service::events::FeedError;
use crate::service::events::lines::Lines;
use crate::service::recall::TEXT_BYTES_MAX;
use std::collections::BTreeSet;
use std::path::Path;

/// Reads a file. Each question is within its limits and occurs once.
pub fn read(bytes: &[u8]) {
    let similarity = Similarity { dimensions: Some(2), text_threshold: 0.5, model: None };
    let path = Path::new("questions.ndjson");
    let questions = match read_file(path, Lines::of(path, bytes), &Scope::local(), &similarity) {
        Ok(questions) => questions,
        Err(FeedError::Line { line, why, .. }) => return assert!(line > 0 && !why.is_empty()),
        Err(why) => panic!("only a line can be at fault: {why}"),
    };
    let mut known = BTreeSet::new();
    assert!(!questions.is_empty());
    for question in &questions {
        assert!(known.insert((&question.scope, &question.text)));
        assert!((1..=TEXT_BYTES_MAX).contains(&question.text.trim().len()));
        assert!((1..=GOLD_MAX).contains(&question.gold.len()));
        let is_vector = |of: &Vec<f32>| of.len() == 2 && of.iter().all(|number| number.is_finite());
        assert!(question.embedding.as_ref().is_none_or(is_vector));
    }
}
