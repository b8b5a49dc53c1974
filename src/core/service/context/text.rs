//! Text of memories for a prompt, within a number of tokens.
//!
//! | step | result |
//! |---|---|
//! | shorten | a content of more than a quarter of all tokens is cut, so that one long memory does not take the place of all others |
//! | fold | hits with the same text, but for case, spaces and a full stop, are one line with the date and id of the newest; less alike ones are not, since a number or a sign may be all that differs, nor are texts of less than four words, or eight letters of a script without spaces between words, which say something only where they stand |
//! | select | hits by rank until three quarters are full; then memories between selected ones of a session; then further hits |
//! | order | sessions in the order of their first line, each by time; or by rank |
//! | write | a line for each: instant, id, content, with further lines of the content indented, so that no content can pass for a memory of its own |
//!
//! # Tokens
//! Models count differently and this program has none of their tokenizers, so tokens are estimated, rather too high: a run of ASCII
//! letters is one up to seven letters and one for each five beyond, and a capital after a small letter begins a new run; other characters
//! are one each, those of three and four bytes two and three; of spaces each fourth is one. On the dialogues and the passages by
//! which recall is measured this gives 5 % more than the largest of three tokenizers (of Mistral 3, Claude 2 and GPT-2).

mod tokens;

#[cfg(test)]
mod tests;

use crate::api::context::{ContextMemory, ContextOptions, ContextOrder, Duplicate};
use crate::clock::rfc3339;
use crate::domain::invisible::visible;
use crate::domain::units::Timestamp;
use ebb_engine::text::fold::fold;
use ebb_engine::text::words::is_unspaced;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use tokens::{BYTES_MAX, cut, tokens};

/// Share of all tokens that one content may have, as its inverse, and how many it may have whatever the limit.
const CONTENT_SHARE: usize = 4;
const CONTENT_TOKENS: usize = 50;
/// Share of all tokens that is kept for memories between hits, as its inverse.
const BETWEEN_SHARE: usize = 4;
/// Words of the shortest text of which equal ones are folded.
const FOLDED_WORDS: usize = 4;
/// The same in letters of a script without spaces between words.
const FOLDED_LETTERS: usize = 8;
/// Letters of an id that are written.
const ID_LETTERS: usize = 64;
const ELLIPSIS: char = '…';

/// A memory with its content.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) memory: ContextMemory,
    pub(super) content: String,
}

/// Memories that fit into a number of tokens.
#[derive(Debug)]
pub(super) struct Selection {
    left: usize,
    /// Greatest number of tokens of a content.
    content_max: usize,
    selected: Vec<Candidate>,
    /// Hits that get what the memories between selected ones leave, the best first.
    waiting: VecDeque<Candidate>,
}

/// The text, its tokens, its memories in their order, and the number of hits that did not fit.
#[derive(Debug, Default)]
pub(super) struct Composed {
    pub(super) text: String,
    pub(super) tokens: usize,
    pub(super) memories: Vec<ContextMemory>,
    pub(super) omitted: usize,
}

impl Selection {
    /// Selects hits, the best first, until three quarters of the tokens are used.
    pub(super) fn of_hits(hits: impl IntoIterator<Item = Candidate>, max_tokens: usize) -> Self {
        let content_max = (max_tokens / CONTENT_SHARE).max(CONTENT_TOKENS);
        let mut selection =
            Self { left: max_tokens, content_max, selected: Vec::new(), waiting: VecDeque::new() };
        let shortened: Vec<Candidate> = hits.into_iter().map(|hit| selection.shorten(hit)).collect();
        selection.waiting = folded(shortened).into();
        if let Some(best) = selection.waiting.pop_front() {
            let rest = max_tokens.saturating_sub(cost(&Candidate { content: String::new(), ..best.clone() }));
            let best = shorten(best, rest);
            if !selection.add(&best, None) {
                selection.waiting.push_front(best);
            }
        }
        while let Some(hit) = selection.waiting.front() {
            if cost(hit) + max_tokens / BETWEEN_SHARE > selection.left {
                break;
            }
            let hit = hit.clone();
            selection.waiting.pop_front();
            selection.add(&hit, None);
        }
        selection
    }

    /// Whether there is room for another memory.
    pub(super) fn has_room(&self) -> bool {
        self.left > LINE_TOKENS
    }

    /// Ids of the selected memories, and of those that they stand for.
    pub(super) fn ids(&self) -> Vec<String> {
        let ids = self.selected.iter().flat_map(|one| {
            let twins = one.memory.duplicates.iter().map(|twin| &twin.id);
            std::iter::once(&one.memory.id).chain(twins)
        });
        ids.cloned().collect()
    }

    /// Adds memories that follow selected ones in their session, each with the id of that one, if they fit.
    pub(super) fn add_between(&mut self, between: Vec<(Candidate, String)>) {
        let mut known: BTreeSet<String> = self.selected.iter().map(|one| normal_form(&one.content)).collect();
        let mut after: BTreeMap<String, usize> = BTreeMap::new();
        for (candidate, from) in between {
            let waiting = self.waiting.iter().position(|hit| hit.memory.id == candidate.memory.id);
            let hit = waiting.and_then(|at| self.waiting.get(at)).cloned();
            let candidate = hit.unwrap_or_else(|| self.shorten(candidate));
            let form = normal_form(&candidate.content);
            if is_folded(&form) && known.contains(&form) {
                continue;
            }
            let added = after.entry(from.clone()).or_default();
            if self.add(&candidate, Some((&from, *added))) {
                waiting.map(|at| self.waiting.remove(at));
                known.insert(form);
                *added += 1;
            }
        }
    }

    /// Selects a memory if it fits: after the memory with an id and so many more, or last.
    fn add(&mut self, candidate: &Candidate, after: Option<(&str, usize)>) -> bool {
        let cost = cost(candidate);
        let fits = cost <= self.left && !candidate.content.is_empty();
        if fits {
            self.left -= cost;
            let from = after.and_then(|(id, added)| {
                let at = self.selected.iter().position(|one| one.memory.id == id)?;
                Some(at + 1 + added)
            });
            self.selected.insert(from.unwrap_or(self.selected.len()), candidate.clone());
        }
        fits
    }

    fn shorten(&self, candidate: Candidate) -> Candidate {
        let Candidate { memory, content } = candidate;
        // Work is bounded by what can be written, not by what is stored.
        let end = content.char_indices().map(|(at, _)| at).find(|at| *at > self.content_max * BYTES_MAX);
        let letters = content[..end.unwrap_or(content.len())].chars();
        let content: String = visible(letters.map(|c| if is_line_end(c) { '\n' } else { c })).collect();
        let memory = ContextMemory { is_cut: end.is_some(), ..memory };
        shorten(Candidate { memory, content }, self.content_max)
    }

    /// Adds the hits that still fit, and writes all.
    pub(super) fn compose(mut self, options: ContextOptions) -> Composed {
        let mut omitted = 0;
        while let Some(hit) = self.waiting.pop_front() {
            omitted += usize::from(!self.add(&hit, None));
        }
        let tokens = options.max_tokens - self.left;
        let mut text = String::new();
        let mut memories: Vec<ContextMemory> = Vec::new();
        let selected = match options.order {
            ContextOrder::Time => by_time(self.selected),
            ContextOrder::Rank => self.selected,
        };
        for candidate in selected {
            if let Some(before) = memories.last() {
                let is_next = before.session == candidate.memory.session;
                text.push_str(if is_next || options.order == ContextOrder::Rank { "\n" } else { "\n\n" });
            }
            text.push_str(&line(&candidate));
            memories.push(candidate.memory);
        }
        Composed { text, tokens, memories, omitted }
    }
}

/// Sessions in the order of their first memory, each by time; undated ones last.
fn by_time(mut selected: Vec<Candidate>) -> Vec<Candidate> {
    let of = |created: Option<Timestamp>| (created.is_none(), created);
    let mut first: BTreeMap<Option<String>, (bool, Option<Timestamp>)> = BTreeMap::new();
    for Candidate { memory, .. } in &selected {
        let at = of(memory.created);
        first.entry(memory.session.clone()).and_modify(|first| *first = at.min(*first)).or_insert(at);
    }
    selected.sort_by_key(|Candidate { memory, .. }| {
        let at = of(memory.created);
        // Memories without a session are no conversation.
        let session = memory.session.as_ref().map(|_| first[&memory.session]);
        (session.unwrap_or(at), memory.session.clone(), at)
    });
    selected
}

/// Cuts a content to so many tokens.
fn shorten(candidate: Candidate, tokens_max: usize) -> Candidate {
    let Candidate { mut memory, mut content } = candidate;
    if memory.is_cut || tokens(&content) > tokens_max {
        // The mark that it was cut is two tokens.
        content = cut(&content, tokens_max.saturating_sub(2)).trim_end().to_owned();
        memory.is_cut = true;
    }
    Candidate { memory, content }
}

/// Hits without those whose text another one has: the newest stands for all, in the place of the best.
fn folded(hits: Vec<Candidate>) -> Vec<Candidate> {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut kept: Vec<Candidate> = Vec::new();
    for mut hit in hits {
        let form = normal_form(&hit.content);
        let at = if is_folded(&form) && !hit.memory.is_cut {
            *known.entry(form).or_insert(kept.len())
        } else {
            kept.len()
        };
        let Some(best) = kept.get_mut(at) else {
            kept.push(hit);
            continue;
        };
        if hit.memory.created > best.memory.created {
            std::mem::swap(best, &mut hit);
            best.memory.duplicates = std::mem::take(&mut hit.memory.duplicates);
            (best.memory.rank, best.memory.score) = (hit.memory.rank, hit.memory.score);
        }
        best.memory.duplicates.push(Duplicate { id: hit.memory.id, created: hit.memory.created });
    }
    kept
}

/// Whether texts of this form are folded.
fn is_folded(form: &str) -> bool {
    form.split(' ').nth(FOLDED_WORDS - 1).is_some()
        || form.chars().filter(|c| is_unspaced(*c)).nth(FOLDED_LETTERS - 1).is_some()
}

/// A content without what may differ in equal ones.
fn normal_form(content: &str) -> String {
    let folded = fold(content);
    let all: Vec<&str> = folded.trim_end().trim_end_matches(['.', '。']).split_whitespace().collect();
    all.join(" ")
}

/// Tokens of the line of a memory, with the ends of lines around it.
fn cost(candidate: &Candidate) -> usize {
    tokens(&line(candidate)) + 2
}

/// Tokens of the shortest line.
const LINE_TOKENS: usize = 5;

/// The line of a memory: `2026-03-01T12:30Z [id] content`.
fn line(Candidate { memory, content }: &Candidate) -> String {
    let mut line = memory.created.map_or_else(String::new, |at| format!("{} ", minute(at)));
    let letters = memory.id.chars().map(|c| if c.is_whitespace() || "[]".contains(c) { '_' } else { c });
    let mut id: String = visible(letters.clone()).take(ID_LETTERS).collect();
    if letters.count() > ID_LETTERS {
        id.push(ELLIPSIS);
    }
    line.push_str(&format!("[{id}] "));
    if !memory.duplicates.is_empty() {
        let mut dates: Vec<Timestamp> = memory.duplicates.iter().filter_map(|twin| twin.created).collect();
        dates.sort_unstable();
        let since = dates.first().map_or_else(String::new, |first| format!(" since {}", minute(*first)));
        line.push_str(&format!("({} times{since}) ", memory.duplicates.len() + 1));
    }
    let lines = content.split(is_line_end).map(str::trim_end).filter(|line| !line.is_empty());
    line.push_str(&lines.collect::<Vec<_>>().join("\n  "));
    if memory.is_cut {
        line.push(ELLIPSIS);
    }
    line
}

/// An instant to the minute: `2026-03-01T12:30Z`.
fn minute(at: Timestamp) -> String {
    let full = rfc3339(at);
    full.get(..16).map_or(full.clone(), |minute| format!("{minute}Z"))
}

/// Whether a character ends a line for any program that may read the text.
fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
