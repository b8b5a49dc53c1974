//! Which memories say most of what is asked: BM25 over their contents.
//!
//! A memory scores the sum, over the words it shares with the query, of `idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * its
//! length / mean length))`, where `idf = ln(1 + (N - df + 0.5) / (df + 0.5))`, `k1` 1.2 and `b` 0.75 (Robertson and
//! Zaragoza, *The Probabilistic Relevance Framework*). Stop words are in neither; a word that a query repeats counts once.
//! `N`, `df` and the mean length are those of the memories that stand in the graph, so an index that grew with refreshes
//! and one that was built at once give the same bits.
//!
//! # Design notes
//! Memories get numbers in the order in which they come, and keep them. Which node of a graph a number stands for is worked
//! out once a generation ([`TextIndex::documents`]); what is not in the graph, or came again with another content, stands
//! for none and does not score. A memory is known by the 64 bits of its external id, and so is its content, so that one
//! that comes again unchanged costs nothing.
//!
//! Postings stand in segments of sorted words, each at least twice as long as the next, as in a log-structured merge tree:
//! adding writes a short segment and merges those of like length, which drops what was replaced. A segment never changes, so
//! copies of an index share them: one copy for each generation costs what its columns take, 13 bytes a memory and the
//! look-up by id, and no posting. A query reads the postings of its words, twice where the first time tells how many of
//! them still stand for a node, and nothing else.
//!
//! Invariant: scores are those of the formula over the memories of the graph (held by `bm25_oracle`).

use super::merge::side_by_side;
use super::stop::is_stop;
use super::words::{each_word, hash, words};
use crate::Error;
use crate::best::Best;
use crate::graph::Graph;
use crate::graph::index::{NodeId, nodes};
use crate::text::fold::fold;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

/// How soon more of a word stops to count.
const K1: f64 = 1.2;
/// How much long texts pay for their length.
const B: f64 = 0.75;
/// How many memories a query ranks.
pub const RANKED_MAX: usize = 200;
/// So many postings are gathered before they become a segment.
const GATHERED_MAX: usize = 1 << 20;
/// No node.
const NOWHERE: u32 = u32::MAX;

/// The words of memories, as they came in.
#[derive(Debug, Clone, Default)]
pub struct TextIndex {
    /// By number: 64 bits of the content, how many words it has, and whether it was not replaced.
    contents: Vec<u64>,
    lengths: Vec<u32>,
    held: Vec<bool>,
    /// The number of each memory by 64 bits of its external id.
    numbers: HashMap<u64, u32>,
    segments: Vec<Arc<Segment>>,
}

/// Words in the order of their hashes, and where each stands.
#[derive(Debug, Clone, Default)]
struct Segment {
    words: Vec<u64>,
    /// Where the postings of each word end.
    ends: Vec<usize>,
    /// Of each word by number.
    postings: Vec<Posting>,
}

#[derive(Debug, Clone, Copy)]
struct Posting {
    number: u32,
    count: u32,
}

/// Which nodes of one graph the numbers of a [`TextIndex`] stand for.
#[derive(Debug, Clone, Default)]
pub struct Documents {
    nodes: Vec<u32>,
    count: u32,
    length_mean: f64,
}

/// The memories that answer a query best by their texts, and what finding them took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranking {
    /// The best first; of equals the one whose external id comes first.
    pub ranked: Vec<Ranked>,
    /// How many postings were looked at.
    pub postings_read: u64,
}

/// A memory and how well its text answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// The memory.
    pub node: NodeId,
    /// More than 0; without an upper end.
    pub score: f32,
}

impl TextIndex {
    /// Takes memories in, as external id and content, of which the first [64 KiB](super::words::CONTENT_BYTES_MAX) are seen.
    /// One that is there already is replaced, unless its content is the same.
    ///
    /// # Errors
    /// [`crate::graph::Error::TooManyNodes`] when numbers run out; those before are taken in.
    pub fn add<'a>(&mut self, memories: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<(), Error> {
        let mut gathered = Vec::new();
        let outcome =
            memories.into_iter().try_for_each(|(id, content)| self.take(id, content, &mut gathered));
        self.settle(&mut gathered);
        outcome
    }

    fn take(&mut self, id: &str, content: &str, gathered: &mut Vec<(u64, Posting)>) -> Result<(), Error> {
        let (id, said) = (hash(id), hash(content));
        let before = self.numbers.get(&id).map(|number| *number as usize);
        if before.is_some_and(|before| self.contents[before] == said) {
            return Ok(());
        }
        let number = nodes(self.contents.len() + 1)? - 1;
        if let Some(before) = before {
            self.held[before] = false;
        }
        let mut own = Vec::new();
        each_word(content, |word| own.extend((!is_stop(word)).then(|| hash(word))));
        self.numbers.insert(id, number);
        self.contents.push(said);
        self.lengths.push(u32::try_from(own.len()).unwrap_or(u32::MAX));
        self.held.push(true);
        own.sort_unstable();
        gathered.extend(
            own.chunk_by(|a, b| a == b).map(|same| {
                (same[0], Posting { number, count: u32::try_from(same.len()).unwrap_or(u32::MAX) })
            }),
        );
        if gathered.len() >= GATHERED_MAX {
            self.settle(gathered);
        }
        Ok(())
    }

    /// Lets a memory go; its postings go when their segment is merged.
    pub fn remove(&mut self, id: &str) {
        if let Some(number) = self.numbers.remove(&hash(id)) {
            self.held[number as usize] = false;
        }
    }

    fn settle(&mut self, gathered: &mut Vec<(u64, Posting)>) {
        if gathered.is_empty() {
            return;
        }
        gathered.sort_unstable_by_key(|(word, posting)| (*word, posting.number));
        let mut segment = Segment::default();
        for of_word in gathered.chunk_by(|a, b| a.0 == b.0) {
            segment.push(of_word[0].0, of_word.iter().map(|(_, posting)| *posting));
        }
        gathered.clear();
        while let Some(before) = self.segments.pop_if(|before| before.len() < 2 * segment.len()) {
            segment = before.merged(&segment, &self.held);
        }
        segment.words.shrink_to_fit();
        segment.ends.shrink_to_fit();
        segment.postings.shrink_to_fit();
        self.segments.push(Arc::new(segment));
    }

    /// Which nodes of this graph its numbers stand for.
    #[must_use]
    pub fn documents(&self, graph: &Graph) -> Documents {
        let mut documents = Documents { nodes: vec![NOWHERE; self.contents.len()], ..Documents::default() };
        let mut length_sum = 0_u64;
        for node in graph.nodes() {
            let Some(number) = self.numbers.get(&hash(graph.external_id(node))) else { continue };
            let place = &mut documents.nodes[*number as usize];
            if *place == NOWHERE {
                *place = node.0;
                documents.count += 1;
                length_sum += u64::from(self.lengths[*number as usize]);
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "fewer words than an f64 counts exactly")]
        let sum = length_sum as f64;
        // Texts without a word have no postings, so a mean of 0 is never asked for.
        documents.length_mean = sum / f64::from(documents.count.max(1));
        documents
    }

    /// The memories of `graph` whose texts answer a query best, at most `most` of those that pass; `documents` are those
    /// that were worked out for it.
    #[must_use]
    pub fn rank(
        &self,
        (graph, documents): (&Graph, &Documents),
        query: &str,
        most: usize,
        passes: impl Fn(NodeId) -> bool,
    ) -> Ranking {
        let query = fold(query);
        let mut asked: Vec<u64> = words(&query).filter(|word| !is_stop(word)).map(hash).collect();
        asked.sort_unstable();
        asked.dedup();
        let mut postings_read = 0;
        let rarities: Vec<f64> =
            asked.iter().map(|word| self.rarity(documents, *word, &mut postings_read)).collect();
        let mut best = Best::new(most);
        for segment in &self.segments {
            let lists: Vec<&[Posting]> = asked.iter().map(|word| segment.of(*word)).collect();
            side_by_side(
                &lists,
                |posting| posting.number,
                |number, met| {
                    postings_read += met.len() as u64;
                    let Some(node) = documents.node(number) else { return };
                    let length = f64::from(self.lengths[number as usize]);
                    let saturation = K1 * (1.0 - B + B * length / documents.length_mean);
                    let gain = |(word, posting): &(usize, &Posting)| {
                        let count = f64::from(posting.count);
                        rarities[*word] * count * (K1 + 1.0) / (count + saturation)
                    };
                    let score = met.iter().map(gain).sum::<f64>();
                    #[expect(
                        clippy::cast_possible_truncation,
                        reason = "rounded once, far below the greatest f32"
                    )]
                    let score = score as f32;
                    let place = (score.to_bits(), Reverse(graph.rank(node)), node);
                    // Asked last: most memories are not among the best, whoever they are.
                    if best.bar().is_none_or(|bar| *bar < place) && passes(node) {
                        best.offer(place);
                    }
                },
            );
        }
        let ranked = best.into_sorted().into_iter();
        let ranked = ranked.map(|(score, _, node)| Ranked { node, score: f32::from_bits(score) }).collect();
        Ranking { ranked, postings_read }
    }

    /// How much it says that a memory has a word.
    fn rarity(&self, documents: &Documents, word: u64, postings_read: &mut u64) -> f64 {
        let mut spread = 0_u32;
        for segment in &self.segments {
            let postings = segment.of(word);
            *postings_read += postings.len() as u64;
            let held = postings.iter().filter(|posting| documents.node(posting.number).is_some());
            spread = spread.saturating_add(u32::try_from(held.count()).unwrap_or(u32::MAX));
        }
        let (all, spread) = (f64::from(documents.count), f64::from(spread));
        libm::log(1.0 + (all - spread + 0.5) / (spread + 0.5))
    }

    /// Bytes that it takes, the look-up by id at its most.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let columns = 8 * self.contents.capacity() + 4 * self.lengths.capacity() + self.held.capacity();
        // A hash table has a byte of its own for each place, and up to 8 places for 7 entries.
        let numbers = self.numbers.capacity() * 8 / 7 * (size_of::<(u64, u32)>() + 1);
        columns + numbers + self.segments.iter().map(|segment| segment.bytes()).sum::<usize>()
    }
}

impl Documents {
    /// How many memories of the graph have a text.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Bytes that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        4 * self.nodes.capacity()
    }

    fn node(&self, number: u32) -> Option<NodeId> {
        self.nodes.get(number as usize).filter(|node| **node != NOWHERE).map(|node| NodeId(*node))
    }
}

impl Segment {
    fn len(&self) -> usize {
        self.postings.len()
    }

    fn push(&mut self, word: u64, postings: impl Iterator<Item = Posting>) {
        let begin = self.postings.len();
        self.postings.extend(postings);
        if self.postings.len() > begin {
            self.words.push(word);
            self.ends.push(self.postings.len());
        }
    }

    fn at(&self, place: usize) -> &[Posting] {
        let begin = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.postings[begin..self.ends[place]]
    }

    fn of(&self, word: u64) -> &[Posting] {
        self.words.binary_search(&word).map_or(&[], |place| self.at(place))
    }

    /// This one and one of later numbers, without what is no longer held.
    fn merged(&self, later: &Self, held: &[bool]) -> Self {
        let mut all = Self::default();
        all.postings.reserve(self.len() + later.len());
        let (mut a, mut b) = (0, 0);
        while a < self.words.len() || b < later.words.len() {
            let word = match (self.words.get(a), later.words.get(b)) {
                (Some(x), Some(y)) => *x.min(y),
                (x, y) => x.or(y).copied().unwrap_or_default(),
            };
            let mut own: &[Posting] = &[];
            let mut others: &[Posting] = &[];
            if self.words.get(a) == Some(&word) {
                own = self.at(a);
                a += 1;
            }
            if later.words.get(b) == Some(&word) {
                others = later.at(b);
                b += 1;
            }
            let both = own.iter().chain(others).copied();
            all.push(word, both.filter(|posting| held[posting.number as usize]));
        }
        all
    }

    fn bytes(&self) -> usize {
        8 * (self.words.capacity() + self.ends.capacity()) + size_of::<Posting>() * self.postings.capacity()
    }
}

#[cfg(test)]
mod tests;
