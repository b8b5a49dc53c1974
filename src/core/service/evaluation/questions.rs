//! A file of questions: NDJSON, one question a line, with the ids of the memories that answer it together.

use crate::domain::ids::Scope;
use crate::domain::similarity::{Similarity, fault};
use crate::service::check_range;
use crate::service::events::FeedError;
use crate::service::events::lines::Lines;
use crate::service::recall::TEXT_BYTES_MAX;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;

/// Most gold memories of one question.
const GOLD_MAX: usize = 1_000;

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Text.
    pub text: String,
    /// Ids of the memories that answer it together.
    pub gold: BTreeSet<String>,
    /// Class, by which results are grouped.
    pub class: Option<String>,
    /// Scope in which it is asked.
    pub scope: Scope,
    /// Embedding of the text.
    pub embedding: Option<Vec<f32>>,
}

/// A line. Fields beside these, such as an id, are allowed and have no effect.
#[derive(Deserialize)]
struct Line {
    question: String,
    gold: BTreeSet<String>,
    class: Option<String>,
    scope: Option<Scope>,
    embedding: Option<Vec<f32>>,
}

/// Reads a file of questions; `scope` is that of questions that name none.
///
/// # Errors
/// [`FeedError`] for a file that cannot be read or has no question, or for its first line that is none or repeats the text of
/// another in the same scope: two evaluations are compared by these.
pub fn questions(path: &Path, scope: &Scope, similarity: &Similarity) -> Result<Vec<Question>, FeedError> {
    read(path, Lines::open(path)?, scope, similarity)
}

fn read<R: Read>(
    path: &Path,
    file: Lines<R>,
    scope: &Scope,
    similarity: &Similarity,
) -> Result<Vec<Question>, FeedError> {
    let (mut questions, mut lines) = (Vec::new(), BTreeMap::new());
    file.read_all(|number, text| {
        let question = question(text, scope, similarity)?;
        if let Some(first) = lines.insert((question.scope.clone(), question.text.clone()), number) {
            return Err(format!(
                "the question is that of line {first}, in the same scope; join their gold ids in one line"
            ));
        }
        questions.push(question);
        Ok(())
    })?;
    match questions.is_empty() {
        true => Err(FeedError::Line {
            path: path.display().to_string(),
            line: 1,
            why: "the file has no question".to_owned(),
        }),
        false => Ok(questions),
    }
}

fn question(text: &str, scope: &Scope, similarity: &Similarity) -> Result<Question, String> {
    let line: Line = serde_json::from_str(text).map_err(|why| {
        let why = why.to_string();
        why.split_once(" at line ").map_or(why.clone(), |(what, _)| what.to_owned())
    })?;
    check_range("the number of bytes of question", line.question.trim().len(), TEXT_BYTES_MAX)?;
    check_range("the number of ids in gold", line.gold.len(), GOLD_MAX)?;
    let found = line.embedding.as_ref().map(Vec::len);
    if found.is_some() && found != similarity.dimensions {
        let wanted = similarity.dimensions.map_or_else(|| "not set".to_owned(), |count| count.to_string());
        return Err(format!(
            "the embedding has {} numbers, and embedding.dimensions is {wanted}",
            found.unwrap_or_default()
        ));
    }
    if let Some(fault) = line.embedding.iter().find_map(|all| fault(all.iter().copied().map(f64::from))) {
        return Err(format!("the embedding {fault}"));
    }
    Ok(Question {
        text: line.question,
        gold: line.gold,
        class: line.class,
        scope: line.scope.unwrap_or_else(|| scope.clone()),
        embedding: line.embedding,
    })
}
