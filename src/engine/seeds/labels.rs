//! An index of labels and tags: by name, prefix, substring, tag and spelling.
//!
//! The first [200 bytes](crate::semantic::trigram::TEXT_BYTES_MAX) of the folded label are indexed: as written, and as
//! words joined by spaces, by which a name is found in a sentence.
//!
//! # Design notes
//! A token has only letters and digits, so it occurs in a label inside one word: only the words of all labels and their
//! suffixes are searched, and matches need no verification.

use super::dictionary::{Dictionary, Gathered, Suffixes};
use super::lowest::Lowest;
use crate::graph::Graph;
use crate::graph::kinds::NodeType;
use crate::semantic::trigram::{CharNgramIndex, TEXT_BYTES_MAX};
use crate::text::fold::{cut, fold};
use crate::text::words::words;

/// Number of nodes that a token finds at one level; the best connected ones come first.
pub const CANDIDATES_MAX: usize = 4_096;
/// Nodes from which on spelling is indexed in a thread of its own.
const APART_MIN: usize = 1_000;
/// Least similarity of spelling.
pub const TRIGRAM_MIN: f64 = 0.3;

/// Index of the labels and tags of one graph.
#[derive(Debug, Clone)]
pub struct Labels {
    labels: Dictionary,
    /// The words of each label, joined by spaces.
    phrases: Dictionary,
    words: Dictionary,
    suffixes: Suffixes,
    /// Tags without a leading `#`.
    tags: Dictionary,
    ngrams: CharNgramIndex,
}

/// The indexed part of a label.
fn seen(label: &str) -> String {
    let mut folded = fold(label);
    folded.truncate(cut(&folded, TEXT_BYTES_MAX).len());
    folded
}

/// Joins words by spaces.
fn phrase<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut phrase = String::new();
    for word in words {
        if !phrase.is_empty() {
            phrase.push(' ');
        }
        phrase.push_str(word);
    }
    phrase
}

impl Labels {
    /// Whether two graphs have the same labels, types and tags, node by node.
    #[must_use]
    pub fn are_alike(one: &Graph, other: &Graph) -> bool {
        let is_alike = |node| {
            one.label(node) == other.label(node)
                && one.node_type(node) == other.node_type(node)
                && one.tags(node).eq(other.tags(node))
        };
        one.node_count() == other.node_count() && one.nodes().all(is_alike)
    }

    /// Builds the index of a graph. Spelling is half of the work, and is indexed in a thread of its own if there is much.
    #[must_use]
    pub fn build(graph: &Graph) -> Self {
        if graph.node_count() < APART_MIN {
            return Self::with(graph, || spelling(graph));
        }
        std::thread::scope(|scope| {
            let ngrams = scope.spawn(|| spelling(graph));
            Self::with(graph, || ngrams.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    }

    fn with(graph: &Graph, ngrams: impl FnOnce() -> CharNgramIndex) -> Self {
        let [mut labels, mut phrases, mut spoken, mut tags] = [(); 4].map(|()| Gathered::default());
        for node in graph.nodes() {
            let label = seen(graph.label(node));
            if label.is_empty() {
                // A label without letters or digits is not found by name, nor by tag.
                continue;
            }
            labels.push(&label, node.0);
            phrases.push(&phrase(words(&label)), node.0);
            words(&label).for_each(|word| spoken.push(word, node.0));
            for tag in graph.tags(node) {
                let tag = fold(tag);
                tags.push(tag.strip_prefix('#').unwrap_or(&tag), node.0);
            }
        }
        let words = spoken.into_dictionary();
        Self {
            labels: labels.into_dictionary(),
            phrases: phrases.into_dictionary(),
            suffixes: Suffixes::of(&words),
            words,
            tags: tags.into_dictionary(),
            ngrams: ngrams(),
        }
    }

    /// Index of the trigrams of labels, by node.
    #[must_use]
    pub const fn ngrams(&self) -> &CharNgramIndex {
        &self.ngrams
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let dictionaries = [&self.labels, &self.phrases, &self.words, &self.tags];
        let dictionaries: usize = dictionaries.into_iter().map(Dictionary::bytes).sum();
        dictionaries + self.suffixes.bytes() + self.ngrams.bytes()
    }

    /// Reads a folded query from left to right and calls `found` with the longest run of words that are all words of a label,
    /// and with the nodes of that label; reading continues after the run.
    pub(super) fn names(&self, query: &str, mut found: impl FnMut(&str, &[u32])) {
        let query = phrase(words(query));
        let mut rest = query.as_str();
        while !rest.is_empty() {
            // Each added word narrows the labels that begin so; one that equals the run is the first of them.
            let mut within = 0..self.phrases.len();
            let mut longest = None;
            let ends = rest.match_indices(' ').map(|(at, _)| at).chain([rest.len()]);
            let mut first_word = rest.len();
            for end in ends {
                first_word = first_word.min(end);
                within = self.phrases.starting(within, &rest[..end]);
                if within.is_empty() {
                    break;
                }
                if self.phrases.get(within.start).len() == end {
                    longest = Some((end, within.start));
                }
            }
            if let Some((end, at)) = longest {
                found(&rest[..end], self.phrases.nodes(at));
            }
            let end = longest.map_or(first_word, |(end, _)| end);
            rest = rest[end..].trim_start();
        }
    }

    /// The nodes whose folded labels equal a string.
    pub(super) fn exact(&self, folded: &str) -> &[u32] {
        self.labels.equal(cut(folded, TEXT_BYTES_MAX))
    }

    /// The nodes whose labels begin with a token.
    pub(super) fn starting(&self, token: &str) -> (Vec<u32>, bool) {
        let range = self.labels.starting(0..self.labels.len(), token);
        lowest(range.map(|at| self.labels.nodes(at)))
    }

    /// The nodes whose labels contain a token.
    pub(super) fn containing(&self, token: &str) -> (Vec<u32>, bool) {
        lowest(self.suffixes.containing(&self.words, token).map(|at| self.words.nodes(at)))
    }

    /// The nodes that have a token as a tag.
    pub(super) fn tagged(&self, token: &str) -> &[u32] {
        self.tags.equal(token)
    }

    /// The nodes whose labels are spelt like a token, memories or not, ascending, with the similarity.
    pub(super) fn like(&self, token: &str, with_memories: bool) -> (Vec<(u32, f32)>, bool) {
        let query = self.ngrams.query(token);
        let found = match with_memories {
            true => query.search(TRIGRAM_MIN, usize::MAX),
            false => query.search_names(TRIGRAM_MIN, usize::MAX),
        };
        let found = found.matches;
        let mut like: Vec<(u32, f32)> = found.into_iter().map(|like| (like.text, like.score)).collect();
        like.sort_unstable_by_key(|(node, _)| *node);
        let truncated = like.len() > CANDIDATES_MAX;
        like.truncate(CANDIDATES_MAX);
        (like, truncated)
    }
}

/// Index of the spelling of the labels of a graph.
fn spelling(graph: &Graph) -> CharNgramIndex {
    let is_name = |node| graph.node_type(node) != NodeType::MEMORY;
    CharNgramIndex::build_with_texts(graph.nodes().map(|node| (graph.label(node), is_name(node))))
}

fn lowest<'a>(lists: impl Iterator<Item = &'a [u32]>) -> (Vec<u32>, bool) {
    let mut lowest = Lowest::new(CANDIDATES_MAX);
    lists.for_each(|list| lowest.take(list));
    lowest.into_nodes()
}
