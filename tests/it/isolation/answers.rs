//! The answers of a scope, without the fields that may differ: each with the reason.

use super::program::DONE;

/// Fields whose values are taken out, and why they may be another each time.
const APART: [(&str, &str); 10] = [
    ("request_id", "made for each request"),
    ("change", "made for each write, with an instant of the server"),
    ("generation", "counts the times that a mirror of this process was brought up to date, whatever changed"),
    ("recall_id", "follows from the generation"),
    ("bytes", "memory of this process, by whether it loaded the graph or patched what it held"),
    ("postings_read", "work of this process, by the same"),
    ("checksum", "of a file with all of these in it"),
    ("stale_ms", "time that passed in this process"),
    ("queried_at", "the clock of the process"),
    ("confirm", "a token of this process, good once"),
];

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    /// After which pass.
    pub(super) pass: usize,
    /// What was asked.
    pub(super) asked: String,
    /// What was answered, without what may differ.
    pub(super) answer: String,
}

/// What a scope was answered, in the order it was asked.
#[derive(Debug, Default)]
pub(super) struct Answers {
    all: Vec<Answer>,
    /// The ids that Ebb made of time and chance, which are told apart by when they were first seen.
    made: Vec<String>,
}

impl Answers {
    pub(super) fn push(&mut self, pass: usize, asked: String, answer: &str) {
        let answer = self.named(&rounded(&apart(answer)));
        self.all.push(Answer { pass, asked, answer });
    }

    /// Where another was answered something else first, or where a job failed: the two answers.
    pub(super) fn differs<'a>(&'a self, other: &'a Self) -> Option<(&'a Answer, &'a Answer)> {
        assert_eq!(self.all.len(), other.all.len(), "the same was asked");
        let failed = |one: &Answer| one.asked.starts_with("job ") && one.answer != DONE;
        let differ = |(one, other): &(&Answer, &Answer)| {
            one.answer != other.answer || failed(one) || one.asked != other.asked
        };
        self.all.iter().zip(&other.all).find(differ)
    }

    /// Calls ids of version 7 by the order in which they were seen.
    fn named(&mut self, answer: &str) -> String {
        let mut said = String::with_capacity(answer.len());
        let mut rest = answer;
        while let Some(at) = rest.as_bytes().windows(36).position(is_made) {
            said += &rest[..at];
            let id = &rest[at..at + 36];
            let known = self.made.iter().position(|made| made == id);
            let number = known.unwrap_or_else(|| {
                self.made.push(id.to_owned());
                self.made.len() - 1
            });
            said += &format!("<id {number}>");
            rest = &rest[at + 36..];
        }
        said + rest
    }
}

/// Whether bytes are a uuid of version 7 as text.
fn is_made(bytes: &[u8]) -> bool {
    let is_part = |(at, byte): (usize, &u8)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        14 => *byte == b'7',
        _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(byte),
    };
    bytes.iter().enumerate().all(is_part)
}

/// An answer without the values of [`APART`], which are numbers or texts without commas; also where JSON stands in a text.
fn apart(answer: &str) -> String {
    let mut answer = answer.to_owned();
    for (field, _) in APART {
        for named in [format!("\"{field}\":"), format!("\\\"{field}\\\":")] {
            let mut parts = answer.split(&named);
            let mut said = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                let end = part.find([',', '}']).unwrap_or(part.len());
                said += &named;
                said += &part[end..];
            }
            answer = said;
        }
    }
    answer
}

/// An answer with numbers of twelve digits: what fades is brought to now in one step or in several, by how many rows of all
/// scopes a pass takes, and the last bit of a product depends on that.
fn rounded(answer: &str) -> String {
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    let mut said = String::with_capacity(answer.len());
    let mut rest = answer;
    while let Some(at) = rest.find([':', ',', '[']) {
        let (before, after) = rest.split_at(at + 1);
        said += before;
        let (number, later) = after.split_at(after.find(|c| !is_of_number(c)).unwrap_or(after.len()));
        match number.parse::<f64>() {
            Ok(value) if number.contains('.') && number.len() > 12 => said += &format!("{value:.11e}"),
            _ => said += number,
        }
        rest = later;
    }
    said + rest
}
