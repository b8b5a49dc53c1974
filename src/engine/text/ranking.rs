//! BM25 ranking of memories by the [stems](super::stem) of their words, and what else their texts say about them.
//!
//! The score of a memory is the sum, over the stems it shares with the query, of `idf * tf * (k1 + 1) / (tf + k1 * (1 - b +
//! b * its length / mean length))`, where `idf = ln(1 + (N - df + 0.5) / (df + 0.5))`, `k1` 0.9 and `b` 0.4 (Robertson and
//! Zaragoza, *The Probabilistic Relevance Framework*). Stop words are ignored; a stem repeated in a query counts once. `N`,
//! `df` and the mean length are those of the memories in the graph, so an index that was updated incrementally and one that
//! was built at once give the same bits.
//!
//! # Design notes
//! The turns of a dialogue are short: a greater `b` would punish length that is content, and a greater `k1` count a word twice. Of
//! 1.2 and 0.75, and these, the latter find up to 2 points more (`cargo bench --bench recall`).
//!
//! Memories are numbered in the order of insertion. The node of each number is resolved once for each generation
//! ([`TextIndex::documents`]); memories that are not in the graph, or were replaced, have none and do not score. A memory
//! is identified by a 64-bit hash of its external id, and its content by another, so adding it again unchanged costs
//! nothing.
//!
//! Postings are in segments of sorted words, each at least twice as long as the next, as in a log-structured merge tree:
//! additions form a short segment, and segments of similar length are merged, which drops replaced memories. Segments are
//! immutable, so copies of an index share them: a copy for each generation costs its columns, 45 bytes for each memory and
//! the map of ids. A query reads some of the postings of its words (`search.rs`).
//!
//! Invariant: scores equal the formula over the memories of the graph (held by `bm25_oracle`).

mod search;
mod segment;

use super::situation::{speaker, speaks_of_time};
use super::stem::stem;
use super::stop::is_stop;
use super::words::{CONTENT_BYTES_MAX, hash, words};
use crate::Error;
use crate::folded::Folded;
use crate::graph::Graph;
use crate::graph::index::{NodeId, nodes};
use crate::text::fold::{cut, fold};
use search::Search;
use segment::{Posting, Segment};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// BM25 `k1`: saturation of the term frequency.
const K1: f64 = 0.9;
/// BM25 `b`: normalisation by length.
const B: f64 = 0.4;
/// Number of memories that a recall ranks by text.
pub const RANKED_MAX: usize = 200;
/// Number of postings collected before they become a segment.
const GATHERED_MAX: usize = 1 << 20;
/// No node.
const NO_NODE: u32 = u32::MAX;

/// Inverted index of the contents of memories.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TextIndex {
    /// By number: hash of the content, number of stems, whether it was not replaced, and its situation.
    contents: Vec<u64>,
    lengths: Vec<u32>,
    held: Vec<bool>,
    situations: Vec<Situation>,
    /// The number of each memory, by hash of its external id.
    numbers: HashMap<u64, u32, Folded>,
    segments: Vec<Arc<Segment>>,
}

/// What a memory says about itself beside its words.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Situation {
    /// Hash of its session; 0 for none.
    session: u64,
    /// When it was created, epoch milliseconds; the least number for unknown.
    at: i64,
    /// Hash of the words of its speaker; 0 for none.
    speaker: u64,
    speaks_of_time: bool,
}

/// A memory to add.
#[derive(Debug, Clone, Copy)]
pub struct Content<'a> {
    /// External id.
    pub id: &'a str,
    /// Text.
    pub text: &'a str,
    /// Session in which it was created, and when, epoch milliseconds: its neighbours are those before and after it.
    pub session: Option<&'a str>,
    /// Instant of its creation, epoch milliseconds.
    pub at: Option<i64>,
}

impl Content<'_> {
    /// Hash of what is indexed. A memory that moved is another one.
    fn hash(&self) -> u64 {
        let (session, at) = (self.session.map_or(0, hash), self.at.unwrap_or(i64::MIN));
        hash(self.text) ^ session.rotate_left(1) ^ at.cast_unsigned().rotate_left(32)
    }
}

impl<'a> From<(&'a str, &'a str)> for Content<'a> {
    fn from((id, text): (&'a str, &'a str)) -> Self {
        Self { id, text, session: None, at: None }
    }
}

/// The nodes of one graph for the numbers of a [`TextIndex`].
#[derive(Debug, Clone, Default)]
pub struct Documents {
    nodes: Vec<u32>,
    /// The number of each node.
    numbers: Vec<u32>,
    /// The nodes before and after each number in its session.
    neighbours: Vec<[u32; 2]>,
    has_speakers: bool,
    /// Words of memories that are not in the graph, sorted, with the number of these: one entry for each segment.
    absent: Vec<(u64, u32)>,
    count: u32,
    length_mean: f64,
}

/// Result of [`TextIndex::rank`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranking {
    /// Memories, the best first, then by external id.
    pub ranked: Vec<RankedMemory>,
    /// Memories that pass the filter, alike.
    pub passing: Vec<RankedMemory>,
    /// Hashes of the stems of the query, ascending, with the number of memories that have each.
    pub words: Vec<(u64, u32)>,
    /// Number of postings read.
    pub postings_read: u64,
}

/// A memory with its BM25 score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedMemory {
    /// The memory.
    pub node: NodeId,
    /// Score, above 0; unbounded.
    pub score: f32,
}

impl TextIndex {
    /// Whether all numbers of an index that was read from a file are within it.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let count = self.contents.len();
        let is_number = |number: u32| (number as usize) < count;
        self.lengths.len() == count
            && self.held.len() == count
            && self.situations.len() == count
            && self.numbers.values().all(|number| is_number(*number))
            && self.segments.iter().all(|segment| segment.is_sound(is_number))
    }

    /// Adds memories, of whose texts the first [64 KiB](super::words::CONTENT_BYTES_MAX) are used. A
    /// memory that exists is replaced, unless its content is the same.
    ///
    /// # Errors
    /// [`crate::graph::Error::TooManyNodes`] if numbers run out; the memories before are added.
    pub fn add<'a, C: Into<Content<'a>>>(
        &mut self,
        memories: impl IntoIterator<Item = C>,
    ) -> Result<(), Error> {
        let mut gathered = Vec::new();
        let outcome = memories.into_iter().try_for_each(|memory| self.take(memory.into(), &mut gathered));
        self.add_segment(&mut gathered);
        outcome
    }

    fn take(&mut self, memory: Content<'_>, gathered: &mut Vec<(u64, Posting)>) -> Result<(), Error> {
        let content_hash = memory.hash();
        let Content { id, text, session, at } = memory;
        let (session, at) = (session.map_or(0, hash), at.unwrap_or(i64::MIN));
        let id = hash(id);
        let before = self.numbers.get(&id).map(|number| *number as usize);
        if before.is_some_and(|before| self.contents[before] == content_hash) {
            return Ok(());
        }
        let number = nodes(self.contents.len() + 1)? - 1;
        if let Some(before) = before {
            self.held[before] = false;
        }
        let folded = fold(cut(text, CONTENT_BYTES_MAX));
        let mut own: Vec<u64> = stems(&folded).collect();
        let speaker = speaker(text).map_or(0, |name| hash(&name));
        let speaks_of_time = speaks_of_time(&folded);
        self.numbers.insert(id, number);
        self.contents.push(content_hash);
        self.lengths.push(u32::try_from(own.len()).unwrap_or(u32::MAX));
        self.held.push(true);
        self.situations.push(Situation { session, at, speaker, speaks_of_time });
        own.sort_unstable();
        let short = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        gathered.extend(
            own.chunk_by(|a, b| a == b).map(|same| {
                (same[0], Posting { number, count: short(same.len()), length: short(own.len()) })
            }),
        );
        if gathered.len() >= GATHERED_MAX {
            self.add_segment(gathered);
        }
        Ok(())
    }

    /// Whether a memory is here with this content.
    #[must_use]
    pub fn has(&self, memory: Content<'_>) -> bool {
        self.content_hash(memory.id) == Some(memory.hash())
    }

    /// Hash of the content of a memory; `None` for one without a text.
    #[must_use]
    pub fn content_hash(&self, id: &str) -> Option<u64> {
        self.numbers.get(&hash(id)).map(|number| self.contents[*number as usize])
    }

    /// Removes a memory; its postings are dropped when their segment is merged.
    pub fn remove(&mut self, id: &str) {
        if let Some(number) = self.numbers.remove(&hash(id)) {
            self.held[number as usize] = false;
        }
    }

    fn add_segment(&mut self, gathered: &mut Vec<(u64, Posting)>) {
        if gathered.is_empty() {
            return;
        }
        gathered.sort_unstable_by_key(|(word, posting)| (*word, posting.number));
        let mut segment = Segment::of(gathered);
        gathered.clear();
        while let Some(before) = self.segments.pop_if(|before| before.len() < 2 * segment.len()) {
            segment = before.merged(&segment, &self.held);
        }
        self.segments.push(Arc::new(segment.finished()));
    }

    /// Resolves the nodes of a graph.
    #[must_use]
    pub fn documents(&self, graph: &Graph) -> Documents {
        let mut documents = Documents {
            nodes: vec![NO_NODE; self.contents.len()],
            numbers: vec![NO_NODE; graph.node_count()],
            neighbours: vec![[NO_NODE; 2]; self.contents.len()],
            ..Documents::default()
        };
        let mut length_sum = 0_u64;
        for node in graph.nodes() {
            let Some(number) = self.numbers.get(&hash(graph.external_id(node))) else { continue };
            let place = &mut documents.nodes[*number as usize];
            if *place == NO_NODE {
                *place = node.0;
                documents.numbers[node.at()] = *number;
                documents.has_speakers |= self.situations[*number as usize].speaker != 0;
                documents.count += 1;
                length_sum += u64::from(self.lengths[*number as usize]);
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "fewer words than an f64 counts exactly")]
        let sum = length_sum as f64;
        // Without words there are no postings, so a mean of 0 is never used.
        documents.length_mean = sum / f64::from(documents.count.max(1));
        self.find_neighbours(graph, &mut documents);
        self.find_absent(&mut documents);
        documents
    }

    /// Finds the nodes before and after each memory in its session. Memories of one instant, such as passages that were imported
    /// together, are no sequence.
    fn find_neighbours(&self, graph: &Graph, documents: &mut Documents) {
        let dated = (0..).zip(&self.situations).filter(|(number, situation)| {
            situation.session != 0 && situation.at != i64::MIN && documents.node(*number).is_some()
        });
        let rank = |number: u32| documents.node(number).map(|node| graph.rank(node));
        let mut order: Vec<(u64, i64, Option<u32>, u32)> =
            dated.map(|(number, of)| (of.session, of.at, rank(number), number)).collect();
        order.sort_unstable();
        for pair in order.windows(2) {
            let [(session, earlier, _, before), (same, later, _, after)] = [pair[0], pair[1]];
            if session == same && earlier < later {
                documents.neighbours[before as usize][1] = documents.nodes[after as usize];
                documents.neighbours[after as usize][0] = documents.nodes[before as usize];
            }
        }
    }

    /// Whether a memory speaks of time.
    #[must_use]
    pub fn speaks_of_time(&self, documents: &Documents, node: NodeId) -> bool {
        documents.number(node).is_some_and(|number| self.situations[number].speaks_of_time)
    }

    /// When a memory was created, epoch milliseconds.
    #[must_use]
    pub fn created(&self, documents: &Documents, node: NodeId) -> Option<i64> {
        let at = self.situations[documents.number(node)?].at;
        (at != i64::MIN).then_some(at)
    }

    /// Hash of the speaker of a memory, of its folded words with spaces between.
    #[must_use]
    pub fn speaker(&self, documents: &Documents, node: NodeId) -> Option<u64> {
        let speaker = self.situations[documents.number(node)?].speaker;
        (speaker != 0).then_some(speaker)
    }

    /// The `most` memories of `graph` that match a query best, and those that also pass; `documents` are those of the graph and of
    /// this index.
    #[must_use]
    pub fn rank(
        &self,
        (graph, documents): (&Graph, &Documents),
        query: &str,
        most: usize,
        passes: impl Fn(NodeId) -> bool,
    ) -> Ranking {
        let mut words = stems_of(query);
        words.sort_unstable();
        words.dedup();
        let words: Vec<(u64, u32)> =
            words.into_iter().map(|word| (word, self.frequency(documents, word))).collect();
        let rare: Vec<(u64, f64)> =
            words.iter().map(|(word, spread)| (*word, rarity(documents, *spread))).collect();
        let mut search = Search::new((graph, documents), most, passes);
        if most > 0 {
            self.segments.iter().for_each(|segment| search.segment(segment, &rare));
        }
        Ranking { words, ..search.ranking() }
    }

    /// The postings of those of these [stems](stems_of) that a text has.
    pub(crate) fn words_shared(&self, words: &[u64], text: &str) -> SharedWords<'_> {
        let shared: Vec<u64> = stems(&fold(text)).filter(|word| words.contains(word)).collect();
        let segments = self.segments.iter();
        let of = |segment: &'_ Arc<Segment>, word: &u64| segment.range_of(*word);
        SharedWords(
            segments
                .flat_map(|segment| shared.iter().map(move |word| segment.postings(of(segment, word))))
                .filter(|postings| !postings.is_empty())
                .collect(),
        )
    }

    /// Which of these [stems](stems_of) each node has, the first as the lowest bit: at most 64 count.
    pub(crate) fn words_of(&self, documents: &Documents, words: &[u64], nodes: &[NodeId]) -> Vec<u64> {
        // A number is in few of the segments.
        let mut lists: Vec<(usize, u32, u32, &[Posting])> = Vec::new();
        for segment in &self.segments {
            for (bit, word) in words.iter().take(64).enumerate() {
                let postings = segment.postings(segment.range_of(*word));
                if let (Some(first), Some(last)) = (postings.first(), postings.last()) {
                    lists.push((bit, first.number, last.number, postings));
                }
            }
        }
        let has = |number: u32| {
            let near = lists.iter().filter(|(_, first, last, _)| (*first..=*last).contains(&number));
            let is_in =
                |postings: &[Posting]| postings.binary_search_by_key(&number, |one| one.number).is_ok();
            near.fold(0, |all, (bit, .., postings)| all | u64::from(is_in(postings)) << bit)
        };
        let number = |node: &NodeId| u32::try_from(documents.number(*node)?).ok();
        nodes.iter().map(|node| number(node).map_or(0, has)).collect()
    }

    /// Number of memories of the graph with the rarest word of a folded name, in any of its forms; at least 1. Stop words
    /// identify nothing: a name that has no other words is in all memories.
    #[must_use]
    pub fn spread(&self, documents: &Documents, name: &str) -> u32 {
        let spread = stems(name).map(|word| self.frequency(documents, word)).min();
        spread.unwrap_or(documents.count).max(1)
    }

    /// Number of memories of the graph with a word.
    fn frequency(&self, documents: &Documents, word: u64) -> u32 {
        let postings: usize = self.segments.iter().map(|segment| segment.range_of(word).len()).sum();
        u32::try_from(postings).unwrap_or(u32::MAX).saturating_sub(documents.absent(word))
    }

    /// Number of postings of memories that are not in the graph, for each word that has any. They are counted once for a generation:
    /// a query that counted those in the graph would read all postings of its words.
    fn find_absent(&self, documents: &mut Documents) {
        if documents.nodes.iter().all(|node| *node != NO_NODE) {
            return;
        }
        for (word, postings) in self.segments.iter().flat_map(|segment| segment.of_words()) {
            let absent = postings.iter().filter(|posting| documents.node(posting.number).is_none()).count();
            if absent > 0 {
                documents.absent.push((word, u32::try_from(absent).unwrap_or(u32::MAX)));
            }
        }
        documents.absent.sort_unstable();
        documents.absent.shrink_to_fit();
    }

    /// Size in bytes, with an upper bound for the map of ids.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let columns = 8 * self.contents.capacity()
            + 4 * self.lengths.capacity()
            + self.held.capacity()
            + size_of::<Situation>() * self.situations.capacity();
        // A hash table has one more byte for each bucket, and up to 8 buckets for 7 entries.
        let numbers = self.numbers.capacity() * 8 / 7 * (size_of::<(u64, u32)>() + 1);
        columns + numbers + self.segments.iter().map(|segment| segment.bytes()).sum::<usize>()
    }
}

/// Where some words are.
pub(crate) struct SharedWords<'a>(Vec<&'a [Posting]>);

impl SharedWords<'_> {
    /// Whether no memory has any.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a memory has one.
    pub(crate) fn are_in(&self, documents: &Documents, node: NodeId) -> bool {
        let has = |number| {
            let is_there = |postings: &&[Posting]| {
                postings.binary_search_by_key(&number, |posting| posting.number as usize).is_ok()
            };
            self.0.iter().any(is_there)
        };
        documents.number(node).is_some_and(has)
    }
}

/// The inverse document frequency of a word that so many memories have.
fn rarity(documents: &Documents, spread: u32) -> f64 {
    let (all, spread) = (f64::from(documents.count), f64::from(spread));
    libm::log(1.0 + (all - spread + 0.5) / (spread + 0.5))
}

/// Hashes of the stems of the words of a text that are no stop words.
pub(crate) fn stems_of(text: &str) -> Vec<u64> {
    stems(&fold(text)).collect()
}

/// Hashes of the stems of the words of a folded text that are no stop words.
fn stems(folded: &str) -> impl Iterator<Item = u64> {
    words(folded).filter(|word| !is_stop(word)).map(|word| hash(&stem(word)))
}

impl Documents {
    /// Number of memories of the graph with a text.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        4 * (self.nodes.capacity() + self.numbers.capacity() + 2 * self.neighbours.capacity())
            + size_of::<(u64, u32)>() * self.absent.capacity()
    }

    /// Number of postings of a word whose memories are not in the graph.
    fn absent(&self, word: u64) -> u32 {
        let begin = self.absent.partition_point(|(other, _)| *other < word);
        let of_word = self.absent[begin..].iter().take_while(|(other, _)| *other == word);
        of_word.fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// Whether a node is a memory with a text.
    #[must_use]
    pub fn has(&self, node: NodeId) -> bool {
        self.number(node).is_some()
    }

    /// Whether any memory has a speaker.
    #[must_use]
    pub const fn has_speakers(&self) -> bool {
        self.has_speakers
    }

    /// The memories before and after one in its session.
    #[must_use]
    pub fn neighbours(&self, node: NodeId) -> [Option<NodeId>; 2] {
        let Some(number) = self.number(node) else { return [None, None] };
        self.neighbours[number].map(|node| (node != NO_NODE).then_some(NodeId(node)))
    }

    /// The number of a node.
    fn number(&self, node: NodeId) -> Option<usize> {
        self.numbers.get(node.at()).filter(|number| **number != NO_NODE).map(|number| *number as usize)
    }

    fn node(&self, number: u32) -> Option<NodeId> {
        self.nodes.get(number as usize).filter(|node| **node != NO_NODE).map(|node| NodeId(*node))
    }
}

#[cfg(test)]
mod tests;
