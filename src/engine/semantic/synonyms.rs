//! Other words for the same, so that a question finds what somebody else called otherwise.
//!
//! Words stand in groups, and a word means what all others of its group mean. A question is expanded by putting each of
//! them in the place of one of its words, the rest as it was.
//!
//! Words are known without case and accents: a composed text is cut into runs of letters and digits, and these are
//! decomposed, lose their marks and become lower case. A word of several parts, such as `materia-prima`, stands where its
//! parts stand in a row, whatever is between them, as names do in [`seeds`](crate::seeds); of words that begin at
//! one place the one with most parts counts.
//!
//! # Design notes
//! One word is replaced at a time. Two at once make a question that nobody asked, and their number would be a product.
//!
//! Accents are dropped to know a word and for nothing else: what a question says beside it keeps them, and so does the
//! word that takes its place, since spelling is compared next.

use crate::Error;
use crate::text::fold::composed;
use crate::text::words::words;
use std::collections::BTreeMap;
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// How often one question is expanded at most.
pub const EXPANSIONS_MAX: usize = 16;

/// The groups that are there without anybody's doing: words of code, then Portuguese words of trade and industry with
/// the English ones that stand beside them.
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

/// Groups of words, ready to expand questions.
#[derive(Debug, Clone)]
pub struct SynonymExpander {
    /// Words as they were given.
    groups: Vec<Vec<String>>,
    /// The parts of each word with a space between them: its group, and its place in it.
    known: BTreeMap<String, (usize, usize)>,
    /// Of the word that has most.
    parts_max: usize,
}

/// The default groups.
impl Default for SynonymExpander {
    fn default() -> Self {
        // None of their words is in two (held by `synonyms_default_15`).
        Self::gathered(DEFAULT_GROUPS.iter().map(|group| group.iter().copied())).0
    }
}

impl SynonymExpander {
    /// Groups of words that mean the same. A word that a group repeats is in it once, and what has no letter or digit is
    /// no word.
    ///
    /// # Errors
    /// [`Error::SynonymOverlap`] for a word in two groups.
    pub fn new(groups: &[Vec<String>]) -> Result<Self, Error> {
        match Self::gathered(groups.iter().map(|group| group.iter().map(String::as_str))) {
            (expander, None) => Ok(expander),
            (_, Some(word)) => Err(Error::SynonymOverlap { word }),
        }
    }

    /// The groups without words that an earlier one has, and the first of these as it was given there.
    fn gathered<'a>(groups: impl Iterator<Item = impl Iterator<Item = &'a str>>) -> (Self, Option<String>) {
        let mut expander = Self { groups: Vec::new(), known: BTreeMap::new(), parts_max: 0 };
        let mut overlap = None;
        for (at, group) in groups.enumerate() {
            let mut members: Vec<String> = Vec::new();
            for word in group {
                let composed = composed(word);
                let parts = spoken(&composed);
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

    /// The query with one of its words replaced by another of its group, at most [`EXPANSIONS_MAX`] times: in the order of
    /// its words, then in that of the group. Empty if no group has any of its words.
    #[must_use]
    pub fn expand(&self, query: &str) -> Vec<String> {
        let query = composed(query);
        let spoken = spoken(&query);
        let (mut rest, mut expanded) = (&spoken[..], Vec::new());
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
            let room = EXPANSIONS_MAX - expanded.len();
            expanded.extend(others.take(room).map(|(_, other)| format!("{before}{other}{after}")));
            if expanded.len() == EXPANSIONS_MAX {
                break;
            }
            rest = &rest[parts..];
        }
        expanded
    }
}

/// A word of a text.
struct Spoken {
    /// Where it stands.
    at: Range<usize>,
    /// Without case and accents.
    bare: String,
}

/// The words of a composed text.
fn spoken(text: &str) -> Vec<Spoken> {
    let mut end = 0;
    let place = |word: &str| {
        // Nothing but what separates words stands before the next one.
        let begin = end + text[end..].find(word).unwrap_or_default();
        end = begin + word.len();
        Spoken { at: begin..end, bare: bare(word) }
    };
    words(text).map(place).filter(|word| !word.bare.is_empty()).collect()
}

fn bare(word: &str) -> String {
    word.nfd().filter(|c| !is_combining_mark(*c)).collect::<String>().to_lowercase()
}

/// By what words in a row are known.
fn phrase(words: &[Spoken]) -> String {
    words.iter().map(|word| word.bare.as_str()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
