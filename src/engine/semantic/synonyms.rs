//! Query expansion by synonyms, so that a query finds nodes stored under another word.
//!
//! Words are in groups, and all words of a group mean the same. An expansion replaces one word of the query by another of
//! its group.
//!
//! Words are compared without case and accents: a composed text is split into runs of letters and digits, and these are
//! decomposed, lose their marks and become lower case. A word of several parts, such as `materia-prima`, matches its parts
//! in sequence, whatever is between them, like names in [`seeds`](crate::seeds); of words that begin at one position the
//! one with most parts counts.
//!
//! # Design notes
//! One word is replaced at a time: two at once would change the meaning, and their number would be a product.
//!
//! Accents are dropped for comparison only: the rest of the query keeps them, and so does the replacement, since spelling
//! is compared next.

use crate::Error;
use crate::text::fold::composed;
use crate::text::words::places;
use std::collections::BTreeMap;
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Greatest number of expansions of a query.
pub const EXPANSIONS_MAX: usize = 16;

/// Default groups: words of code, then Portuguese words of trade and industry with their English equivalents.
pub const DEFAULT_GROUPS: [&[&str]; 15] = [
    &["function", "method", "func", "procedure"],
    &["class", "struct", "record"],
    &["module", "package", "crate", "library"],
    &["import", "include", "require"],
    &["error", "exception", "failure", "panic"],
    &["material", "insumo", "materia-prima"],
    &["processo", "etapa", "procedimento"],
    &["produto", "mercadoria", "artigo"],
    &["fornecedor", "supplier", "vendedor"],
    &["norma", "regulamento", "regulatory"],
    &["sistema", "plataforma", "system"],
    &["custo", "despesa", "cost"],
    &["qualidade", "conformidade", "quality"],
    &["memoria", "lembranca", "recordacao"],
    &["pedido", "encomenda", "order"],
];

/// Groups of synonyms.
#[derive(Debug, Clone)]
pub struct SynonymExpander {
    /// Words as given.
    groups: Vec<Vec<String>>,
    /// Group and index of each word, by its parts joined by spaces.
    known: BTreeMap<String, (usize, usize)>,
    /// Number of parts of the longest word.
    parts_max: usize,
}

/// The default groups.
impl Default for SynonymExpander {
    fn default() -> Self {
        // No word is in two groups (held by `synonyms_default_15`).
        Self::build(DEFAULT_GROUPS.iter().map(|group| group.iter().copied())).0
    }
}

impl SynonymExpander {
    /// Groups of words that mean the same. Duplicates in a group count once, and words without letters or digits are ignored.
    ///
    /// # Errors
    /// [`Error::SynonymOverlap`] for a word in two groups.
    /// [`Error::SynonymOverlap`] for a word in two groups.
    pub fn new(groups: &[Vec<String>]) -> Result<Self, Error> {
        match Self::build(groups.iter().map(|group| group.iter().map(String::as_str))) {
            (expander, None) => Ok(expander),
            (_, Some(word)) => Err(Error::SynonymOverlap { word }),
        }
    }

    /// The groups without words that an earlier group has, and the first of these words as given there.
    fn build<'a>(groups: impl Iterator<Item = impl Iterator<Item = &'a str>>) -> (Self, Option<String>) {
        let mut expander = Self { groups: Vec::new(), known: BTreeMap::new(), parts_max: 0 };
        let mut overlap = None;
        for (at, group) in groups.enumerate() {
            let mut members: Vec<String> = Vec::new();
            for word in group {
                let composed = composed(word);
                let parts = words_of(&composed);
                let name = phrase(&parts);
                match expander.known.get(&name) {
                    _ if parts.is_empty() => {}
                    None => {
                        expander.known.insert(name, (at, members.len()));
                        expander.parts_max = expander.parts_max.max(parts.len());
                        members.push(word.to_owned());
                    }
                    Some((of, place)) if *of != at && overlap.is_none() => {
                        overlap = Some(expander.groups[*of][*place].clone());
                    }
                    Some(_) => {}
                }
            }
            expander.groups.push(members);
        }
        (expander, overlap)
    }

    /// The query with one of its words replaced by another of its group, at most [`EXPANSIONS_MAX`] times: in the order of the
    /// query, then in that of the group. Empty if the query has no word of any group.
    #[must_use]
    pub fn expand(&self, query: &str) -> Vec<String> {
        let query = composed(query);
        let words = words_of(&query);
        let (mut rest, mut expanded) = (&words[..], Vec::new());
        while let Some(first) = rest.first() {
            let longest = (1..=self.parts_max.min(rest.len())).rev().find_map(|parts| {
                let (group, place) = self.known.get(&phrase(&rest[..parts]))?;
                Some((parts, *group, *place))
            });
            let Some((parts, group, place)) = longest else {
                rest = &rest[1..];
                continue;
            };
            let (before, after) = (&query[..first.at.start], &query[rest[parts - 1].at.end..]);
            let others = self.groups[group].iter().enumerate().filter(|(at, _)| *at != place);
            let remaining = EXPANSIONS_MAX - expanded.len();
            expanded.extend(others.take(remaining).map(|(_, other)| format!("{before}{other}{after}")));
            if expanded.len() == EXPANSIONS_MAX {
                break;
            }
            rest = &rest[parts..];
        }
        expanded
    }
}

/// A word of a text.
struct Word {
    /// Byte range in the text.
    at: Range<usize>,
    /// Without case and accents.
    bare: String,
}

/// The words of a composed text.
fn words_of(text: &str) -> Vec<Word> {
    let word = |at: Range<usize>| Word { bare: bare(&text[at.clone()]), at };
    places(text).map(word).filter(|word| !word.bare.is_empty()).collect()
}

fn bare(word: &str) -> String {
    word.nfd().filter(|c| !is_combining_mark(*c)).collect::<String>().to_lowercase()
}

/// The key of words in sequence. Pairs of one run, which overlap, have no space between them.
fn phrase(words: &[Word]) -> String {
    let (mut phrase, mut end) = (String::new(), 0);
    for word in words {
        if word.at.start >= end && end > 0 {
            phrase.push(' ');
        }
        phrase.push_str(&word.bare);
        end = word.at.end;
    }
    phrase
}

#[cfg(test)]
mod tests;
