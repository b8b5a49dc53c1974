//! Text of memories for a prompt, within a number of tokens.
//!
//! | step | result |
//! |---|---|
//! | fold | a hit with the same text as a better one, but for case, spaces and a full stop, is not repeated; less alike ones are, since a number or a sign may be all that differs |
//! | select | hits by rank while they fit; then the memories between hits of a session, if both of these were selected |
//! | order | by time, the undated last, or by rank |
//! | write | a line for each: instant, id, content, with further lines of the content indented, so that no content can pass for a memory of its own |
//!
//! If not even the best hit fits it is cut, so that a text is empty only if nothing was found or the limit is below a line.
//!
//! # Tokens
//! Models count differently and this program has none of their tokenizers, so tokens are estimated from above: a run of ASCII letters is
//! one up to seven letters and one for each five beyond, any other character except a space is one. On the dialogues and the
//! passages by which recall is measured this gives 5 % more than the largest of three tokenizers (of Mistral 3, Claude 2 and GPT-2).

use crate::api::context::{ContextMemory, ContextOptions, ContextOrder};
use crate::clock::rfc3339;
use crate::domain::units::Timestamp;
use ebb_engine::text::fold::fold;
use std::collections::{BTreeMap, BTreeSet};

/// A memory that was found, or stands between two that were.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) memory: ContextMemory,
    pub(super) content: String,
}

/// The text, its tokens, its memories in order, and the number of hits that did not fit.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Composed {
    pub(super) text: String,
    pub(super) tokens: usize,
    pub(super) memories: Vec<ContextMemory>,
    pub(super) omitted: usize,
}

/// Composes the text of hits, the best first. `between` holds memories that stand between two hits of a session, with the ids of
/// these hits.
pub(super) fn compose(
    hits: Vec<Candidate>,
    between: Vec<(Candidate, [String; 2])>,
    options: ContextOptions,
) -> Composed {
    let mut known = BTreeMap::new();
    let mut budget = Budget { left: options.max_tokens, selected: Vec::new() };
    let mut omitted = 0;
    for hit in folded(hits, &mut known) {
        omitted += usize::from(!budget.add(hit));
    }
    let ids: BTreeSet<String> = budget.selected.iter().map(|one| one.memory.id.clone()).collect();
    for (candidate, ends) in between {
        let is_new = known.insert(normal_form(&candidate.content), 0).is_none();
        if is_new && ends.iter().all(|end| ids.contains(end)) {
            budget.add(candidate);
        }
    }
    let mut selected = budget.selected;
    if options.order == ContextOrder::Time {
        let undated = |created: Option<Timestamp>| (created.is_none(), created);
        selected.sort_by_key(|one| (undated(one.memory.created), one.memory.rank.unwrap_or(usize::MAX)));
    }
    let lines: Vec<String> = selected.iter().map(line).collect();
    Composed {
        text: lines.join("\n"),
        tokens: options.max_tokens - budget.left,
        memories: selected.into_iter().map(|one| one.memory).collect(),
        omitted,
    }
}

/// Hits without those that repeat the text of a better one, which lists them.
fn folded(hits: Vec<Candidate>, known: &mut BTreeMap<String, usize>) -> Vec<Candidate> {
    let mut kept: Vec<Candidate> = Vec::new();
    for hit in hits {
        let at = *known.entry(normal_form(&hit.content)).or_insert(kept.len());
        match kept.get_mut(at) {
            Some(better) => better.memory.duplicates.push(hit.memory.id),
            None => kept.push(hit),
        }
    }
    kept
}

/// A content without what may differ in equal ones.
fn normal_form(content: &str) -> String {
    let folded = fold(content);
    let all: Vec<&str> = folded.trim_end().trim_end_matches('.').split_whitespace().collect();
    all.join(" ")
}

struct Budget {
    left: usize,
    selected: Vec<Candidate>,
}

impl Budget {
    /// Selects a memory if it fits; the first one is cut if it does not.
    fn add(&mut self, mut candidate: Candidate) -> bool {
        let mut cost = tokens(&line(&candidate)) + 1;
        if cost > self.left && self.selected.is_empty() {
            let empty = Candidate { content: ELLIPSIS.to_owned(), ..candidate.clone() };
            let rest = self.left.saturating_sub(tokens(&line(&empty)) + 1);
            let kept = cut(&candidate.content, rest).trim_end();
            if kept.is_empty() {
                return false;
            }
            candidate.content = format!("{kept}{ELLIPSIS}");
            candidate.memory.is_cut = true;
            cost = tokens(&line(&candidate)) + 1;
        }
        let fits = cost <= self.left;
        if fits {
            self.left -= cost;
            self.selected.push(candidate);
        }
        fits
    }
}

const ELLIPSIS: &str = "…";

/// The line of a memory.
fn line(Candidate { memory, content }: &Candidate) -> String {
    let created = memory.created.map(|at| {
        let full = rfc3339(at);
        // To the minute: `2026-03-01T12:30Z`.
        full.get(..16).map_or(full.clone(), |minute| format!("{minute}Z "))
    });
    let repeated = match memory.duplicates.len() {
        0 => String::new(),
        count => format!(" (and {count} with the same text)"),
    };
    let (id, content) = (lines(&memory.id).join(" "), lines(content).join("\n  "));
    format!("{}[{id}] {content}{repeated}", created.unwrap_or_default())
}

/// The lines of a text that are not empty, whatever ends them.
fn lines(text: &str) -> Vec<&str> {
    let ends = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    text.split(ends).map(str::trim_end).filter(|line| !line.is_empty()).collect()
}

/// The estimated number of tokens of a text.
fn tokens(text: &str) -> usize {
    let mut count = Count::default();
    text.chars().for_each(|c| count.add(c));
    count.tokens
}

/// A prefix of at most so many tokens, cut before a word if there is a space in it.
fn cut(text: &str, tokens_max: usize) -> &str {
    let mut count = Count::default();
    let end = text.char_indices().find(|(_, c)| {
        count.add(*c);
        count.tokens > tokens_max
    });
    let Some((end, _)) = end else { return text };
    let kept = &text[..end];
    kept.rfind(char::is_whitespace).map_or(kept, |space| &kept[..space])
}

/// Letters of a word that are one token, and of each further one.
const LETTERS_OF_FIRST: usize = 7;
const LETTERS_OF_NEXT: usize = 5;

#[derive(Default)]
struct Count {
    tokens: usize,
    /// Letters of the present word.
    letters: usize,
}

impl Count {
    fn add(&mut self, c: char) {
        if c.is_ascii_alphabetic() {
            self.letters += 1;
            let begins = self.letters == 1
                || self.letters > LETTERS_OF_FIRST
                    && (self.letters - LETTERS_OF_FIRST) % LETTERS_OF_NEXT == 1;
            self.tokens += usize::from(begins);
        } else {
            self.letters = 0;
            self.tokens += usize::from(c != ' ');
        }
    }
}

#[cfg(test)]
mod tests;
