//! A set of nodes that is emptied in ascending order: a bit for each node, and a list of the words of 64 that have one.
//! Emptying sorts the list if it is short, and reads all words if it is not: so it costs what is in the set and not the
//! size of the graph, and nodes are never sorted one by one.

/// Words for each listed one, below which all are read.
const SPARSE: usize = 8;

/// A set of nodes.
#[derive(Debug, Default)]
pub(super) struct Marks {
    words: Vec<u64>,
    /// The words that have a node.
    listed: Vec<u32>,
}

impl Marks {
    /// Makes room for this many nodes.
    pub(super) fn fit(&mut self, nodes: usize) {
        let words = nodes.div_ceil(64);
        if self.words.len() < words {
            self.words.resize(words, 0);
        }
    }

    /// For adding nodes.
    pub(super) fn marker(&mut self) -> Marker<'_> {
        Marker { words: &mut self.words, listed: &mut self.listed }
    }

    /// Empties the set, and calls `with` for each node, ascending.
    #[inline]
    pub(super) fn drain(&mut self, mut with: impl FnMut(u32)) {
        self.drain_words(|at, word| nodes(at, word, &mut with));
    }

    /// Empties the set into another that has room for it, and calls `with` for each node, ascending.
    #[inline]
    pub(super) fn drain_into(&mut self, other: &mut Self, mut with: impl FnMut(u32)) {
        let mut other = other.marker();
        self.drain_words(|at, word| {
            other.insert_all(at, word);
            nodes(at, word, &mut with);
        });
    }

    /// Empties the set, and calls `with` for each word that has a node, ascending.
    #[inline]
    fn drain_words(&mut self, mut with: impl FnMut(u32, u64)) {
        let Self { words, listed } = self;
        if SPARSE * listed.len() < words.len() {
            listed.sort_unstable();
        } else {
            listed.clear();
            listed.extend((0..).zip(&*words).filter(|(_, word)| **word != 0).map(|(at, _)| at));
        }
        for at in listed.drain(..) {
            with(at, std::mem::take(&mut words[at as usize]));
        }
    }

    /// Size in bytes.
    pub(super) const fn bytes(&self) -> usize {
        8 * self.words.capacity() + 4 * self.listed.capacity()
    }
}

/// Adds nodes to a set. A loop keeps its parts in registers, which it cannot with those of [`Marks`].
pub(super) struct Marker<'a> {
    words: &'a mut [u64],
    listed: &'a mut Vec<u32>,
}

impl Marker<'_> {
    /// Adds a node. There is no branch on whether it is in the set, which nothing predicts.
    #[inline]
    pub(super) fn insert(&mut self, node: u32) {
        self.insert_all(node / 64, 1 << (node % 64));
    }

    /// Adds nodes of one word.
    #[inline]
    fn insert_all(&mut self, at: u32, nodes: u64) {
        let word = &mut self.words[at as usize];
        if *word == 0 {
            self.listed.push(at);
        }
        *word |= nodes;
    }
}

/// Calls `with` for each node of a word.
#[inline]
fn nodes(at: u32, mut word: u64, with: &mut impl FnMut(u32)) {
    while word != 0 {
        with(64 * at + word.trailing_zeros());
        word &= word - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_set_is_emptied_in_order(parts in prop::collection::vec(prop::collection::vec(0..5_000_u32, 0..60), 1..5)) {
            let [mut marks, mut all] = [Marks::default(), Marks::default()];
            marks.fit(5_000);
            all.fit(5_000);
            for part in &parts {
                part.iter().for_each(|node| marks.marker().insert(*node));
                let mut found = Vec::new();
                marks.drain_into(&mut all, |node| found.push(node));
                prop_assert_eq!(found, part.iter().copied().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>());
            }
            let mut found = Vec::new();
            all.drain(|node| found.push(node));
            prop_assert_eq!(found, parts.concat().into_iter().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>());
            for mut set in [marks, all] {
                set.drain(|node| panic!("{node} is left"));
                assert!(set.words.iter().all(|word| *word == 0));
            }
        }
    }
}
