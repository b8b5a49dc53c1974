//! Document frequencies of words in memories.
//!
//! A name that many memories contain identifies none of them; a rare one does. Words are identified by a 64-bit hash, so
//! the table takes 12 bytes for each word.
//!
//! # Design notes
//! Words are kept in sorted runs, each at least twice as long as the next, as in a log-structured merge tree: additions form
//! a short run, and runs of similar length are merged. Runs are immutable, so copies of a table share them. Nothing is
//! removed: forgotten memories count until the table is rebuilt.

use super::words::{each_word, hash, words};
use crate::graph::Graph;
use crate::graph::kinds::NodeType;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Number of words collected before they become a run.
const GATHERED_MAX: usize = 1 << 20;

/// Number of memories for each word, by hash.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct WordCounts {
    runs: Vec<Arc<Run>>,
}

/// A run of words, sorted by hash.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Run {
    words: Vec<u64>,
    counts: Vec<u32>,
}

impl WordCounts {
    /// Whether each word of a table that was read from a file has a count.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.runs.iter().all(|run| run.words.len() == run.counts.len() && run.words.is_sorted())
    }

    /// Counts the labels of all memories of a graph, for a graph without contents.
    #[must_use]
    pub fn of_labels(graph: &Graph) -> Self {
        let mut counts = Self::default();
        let memories = graph.nodes().filter(|node| graph.node_type(*node) == NodeType::MEMORY);
        counts.add(memories.map(|memory| graph.label(memory)));
        counts
    }

    /// Adds memories by their contents, of which the first [64 KiB](super::words::CONTENT_BYTES_MAX) are used.
    pub fn add<'a>(&mut self, contents: impl IntoIterator<Item = &'a str>) {
        let (mut gathered, mut own) = (Vec::new(), Vec::new());
        for content in contents {
            own.clear();
            each_word(content, |word| own.push(hash(word)));
            own.sort_unstable();
            own.dedup();
            gathered.append(&mut own);
            if gathered.len() >= GATHERED_MAX {
                self.add_run(&mut gathered);
            }
        }
        self.add_run(&mut gathered);
    }

    fn add_run(&mut self, gathered: &mut Vec<u64>) {
        if gathered.is_empty() {
            return;
        }
        gathered.sort_unstable();
        let mut run = Run::default();
        for same in gathered.chunk_by(|a, b| a == b) {
            run.push(same[0], u32::try_from(same.len()).unwrap_or(u32::MAX));
        }
        gathered.clear();
        while let Some(longer) = self.runs.pop_if(|before| before.words.len() < 2 * run.words.len()) {
            run = longer.merged(&run);
        }
        run.words.shrink_to_fit();
        run.counts.shrink_to_fit();
        self.runs.push(Arc::new(run));
    }

    /// Number of memories with a folded word.
    #[must_use]
    pub fn count(&self, word: &str) -> u32 {
        let word = hash(word);
        self.runs.iter().fold(0, |sum, run| sum.saturating_add(run.count(word)))
    }

    /// Number of memories with the rarest word of a folded name; at least 1.
    #[must_use]
    pub fn rarest(&self, name: &str) -> u32 {
        words(name).map(|word| self.count(word)).min().unwrap_or(1).max(1)
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.runs.iter().map(|run| 8 * run.words.capacity() + 4 * run.counts.capacity()).sum()
    }
}

impl Run {
    fn push(&mut self, word: u64, count: u32) {
        self.words.push(word);
        self.counts.push(count);
    }

    fn count(&self, word: u64) -> u32 {
        self.words.binary_search(&word).map_or(0, |at| self.counts[at])
    }

    fn merged(&self, other: &Self) -> Self {
        let mut all = Self::default();
        all.words.reserve(self.words.len() + other.words.len());
        all.counts.reserve(self.words.len() + other.words.len());
        let (mut a, mut b) = (self.iter().peekable(), other.iter().peekable());
        loop {
            match (a.peek().copied(), b.peek().copied()) {
                (Some((x, n)), Some((y, m))) if x == y => {
                    all.push(x, n.saturating_add(m));
                    a.next();
                    b.next();
                }
                (Some((x, n)), y) if y.is_none_or(|(y, _)| x < y) => {
                    all.push(x, n);
                    a.next();
                }
                (_, Some((y, m))) => {
                    all.push(y, m);
                    b.next();
                }
                _ => return all,
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = (u64, u32)> {
        self.words.iter().copied().zip(self.counts.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::fold::fold;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn a_word_counts_once_a_memory(batches in prop::collection::vec(prop::collection::vec("[a-dÁ ]{0,12}", 0..6), 0..9)) {
            let mut counts = WordCounts::default();
            let mut said: Vec<BTreeSet<String>> = Vec::new();
            for batch in &batches {
                counts.add(batch.iter().map(String::as_str));
                said.extend(batch.iter().map(|text| words(&fold(text)).map(str::to_owned).collect()));
            }
            for word in said.iter().flatten().map(String::as_str).chain(["nowhere"]) {
                let wanted = said.iter().filter(|words| words.contains(word)).count();
                prop_assert_eq!(counts.count(word) as usize, wanted);
            }
            prop_assert!(counts.runs.iter().is_sorted_by(|a, b| a.words.len() >= 2 * b.words.len()));
            let words: usize = counts.runs.iter().map(|run| run.words.len()).sum();
            prop_assert_eq!(counts.bytes(), 12 * words);
        }
    }

    #[test]
    fn the_words_of_long_contents_count_until_64_kib() {
        let mut content = (0..300).map(|n| format!("word{n} ")).collect::<String>();
        let mut counts = WordCounts::default();
        counts.add([content.as_str()]);
        assert_eq!([counts.count("word299"), counts.count("word300")], [1, 0]);
        content.push_str(&" ".repeat(64 * 1024));
        content.push_str("beyond");
        counts.add([content.as_str()]);
        assert_eq!([counts.count("word299"), counts.count("beyond")], [2, 0]);
    }

    #[test]
    fn the_rarest_word_decides_and_no_word_is_rarer_than_one() {
        let mut counts = WordCounts::default();
        counts.add(["dune", "dune messiah", "the dune", "Dune, messiah"]);
        assert_eq!(
            [counts.rarest("dune"), counts.rarest("dune messiah"), counts.rarest("unheard")],
            [4, 2, 1]
        );
        assert_eq!(counts.rarest(""), 1);
    }
}
