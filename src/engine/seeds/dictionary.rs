//! Sorted strings with the nodes that have them.
//!
//! Equality and prefix queries are binary searches. Substring queries use the sorted suffixes of all strings: a string that
//! contains a word has a suffix that begins with it.

use crate::counting::sort_by_number;
use std::collections::HashMap;
use std::ops::Range;

/// Distinct strings with the nodes that have them.
#[derive(Debug, Clone, Default)]
pub(super) struct Dictionary {
    text: String,
    /// End of each string in `text`, and of its nodes in `nodes`.
    ends: Vec<(usize, usize)>,
    /// Ascending for each string.
    nodes: Vec<u32>,
}

/// Builder of a [`Dictionary`].
#[derive(Debug, Default)]
pub(super) struct Gathered {
    text: String,
    entries: Vec<(Range<usize>, u32)>,
}

impl Gathered {
    /// Adds a string of a node, unless it is empty. Duplicates are allowed.
    pub(super) fn push(&mut self, string: &str, node: u32) {
        if !string.is_empty() {
            let begin = self.text.len();
            self.text.push_str(string);
            self.entries.push((begin..self.text.len(), node));
        }
    }

    /// Sorts each distinct string once, and its nodes without comparing any string again.
    pub(super) fn into_dictionary(self) -> Dictionary {
        let Self { text, entries } = self;
        let (mut numbers, mut strings) = (HashMap::<&str, usize>::new(), Vec::<&str>::new());
        let number = |(range, _): &(Range<usize>, u32)| {
            let string = &text[range.clone()];
            *numbers.entry(string).or_insert_with(|| {
                strings.push(string);
                strings.len() - 1
            })
        };
        let of: Vec<usize> = entries.iter().map(number).collect();
        let all: Vec<u32> = entries.iter().map(|(_, node)| *node).collect();
        let mut nodes = vec![0; all.len()];
        let ends = sort_by_number(&all, &mut nodes, strings.len(), |at| of[at]);
        let mut order: Vec<usize> = (0..strings.len()).collect();
        order.sort_unstable_by_key(|number| strings[*number]);
        let mut dictionary = Dictionary::default();
        for number in order {
            let begin = number.checked_sub(1).map_or(0, |before| ends[before]);
            let same = &mut nodes[begin..ends[number]];
            same.sort_unstable();
            dictionary.nodes.extend(same.chunk_by(u32::eq).map(|same| same[0]));
            dictionary.text.push_str(strings[number]);
            dictionary.ends.push((dictionary.text.len(), dictionary.nodes.len()));
        }
        dictionary.text.shrink_to_fit();
        dictionary.ends.shrink_to_fit();
        dictionary.nodes.shrink_to_fit();
        dictionary
    }
}

impl Dictionary {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    fn begin(&self, at: usize) -> (usize, usize) {
        if at == 0 { (0, 0) } else { self.ends[at - 1] }
    }

    pub(super) fn get(&self, at: usize) -> &str {
        &self.text[self.begin(at).0..self.ends[at].0]
    }

    /// The nodes of a string by index.
    pub(super) fn nodes(&self, at: usize) -> &[u32] {
        &self.nodes[self.begin(at).1..self.ends[at].1]
    }

    /// The nodes of a string.
    pub(super) fn equal(&self, string: &str) -> &[u32] {
        let at = self.below(0..self.len(), string);
        if at < self.len() && self.get(at) == string { self.nodes(at) } else { &[] }
    }

    /// The strings of a range that begin with this one.
    pub(super) fn starting(&self, within: Range<usize>, string: &str) -> Range<usize> {
        let begin = self.below(within.clone(), string);
        begin..run_end(begin..within.end, |at| self.get(at).starts_with(string))
    }

    fn below(&self, within: Range<usize>, string: &str) -> usize {
        partition(within, |at| self.get(at) < string)
    }

    pub(super) fn bytes(&self) -> usize {
        self.text.capacity() + size_of::<(usize, usize)>() * self.ends.capacity() + 4 * self.nodes.capacity()
    }
}

/// The first index of a range at which a condition no longer holds.
fn partition(within: Range<usize>, holds: impl Fn(usize) -> bool) -> usize {
    let Range { start: mut low, end: mut high } = within;
    while low < high {
        let middle = low.midpoint(high);
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// As [`partition`], for a condition that holds for few of a range: by exponential, then binary search.
fn run_end(within: Range<usize>, holds: impl Fn(usize) -> bool) -> usize {
    let Range { start, end } = within;
    let (mut low, mut step) = (start, 1);
    while low < end && holds((low + step - 1).min(end - 1)) {
        low = (low + step).min(end);
        step *= 2;
    }
    partition(low..(low + step).min(end), holds)
}

/// The suffixes of all strings of a [`Dictionary`], in the order of their bytes: index of the string, and offset.
#[derive(Debug, Clone, Default)]
pub(super) struct Suffixes(Vec<(u32, u32)>);

impl Suffixes {
    pub(super) fn of(dictionary: &Dictionary) -> Self {
        let mut all = Vec::new();
        for string in (0..u32::MAX).take(dictionary.len()) {
            let starts = dictionary.get(string as usize).char_indices().map(|(at, _)| at);
            all.extend(starts.filter_map(|at| Some((string, u32::try_from(at).ok()?))));
        }
        let suffix = |(string, at): &(u32, u32)| &dictionary.get(*string as usize)[*at as usize..];
        all.sort_unstable_by(|a, b| suffix(a).cmp(suffix(b)).then(a.cmp(b)));
        Self(all)
    }

    /// The strings that contain `part`, possibly more than once.
    pub(super) fn containing(&self, dictionary: &Dictionary, part: &str) -> impl Iterator<Item = usize> {
        let suffix = |at: usize| {
            let (string, begin) = self.0[at];
            &dictionary.get(string as usize)[begin as usize..]
        };
        let begin = partition(0..self.0.len(), |at| suffix(at) < part);
        let end = run_end(begin..self.0.len(), |at| suffix(at).starts_with(part));
        self.0[begin..end].iter().map(|(string, _)| *string as usize)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of::<(u32, u32)>() * self.0.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn strings_are_found_whole_by_prefix_and_by_substring(
            entries in prop::collection::vec(("[abé]{0,4}", 0_u32..20), 0..40),
            asked in "[abé]{1,3}",
        ) {
            let mut gathered = Gathered::default();
            entries.iter().for_each(|(string, node)| gathered.push(string, *node));
            let dictionary = gathered.into_dictionary();
            let nodes = |holds: &dyn Fn(&str) -> bool| -> BTreeSet<u32> {
                entries.iter().filter(|(string, _)| !string.is_empty() && holds(string)).map(|(_, node)| *node).collect()
            };
            let all = |strings: &mut dyn Iterator<Item = usize>| -> BTreeSet<u32> {
                strings.flat_map(|at| dictionary.nodes(at).iter().copied()).collect()
            };
            let equal = dictionary.equal(&asked);
            prop_assert!(equal.is_sorted_by(|a, b| a < b));
            prop_assert_eq!(equal.iter().copied().collect::<BTreeSet<_>>(), nodes(&|string| string == asked));
            let mut starting = dictionary.starting(0..dictionary.len(), &asked);
            prop_assert_eq!(all(&mut starting), nodes(&|string| string.starts_with(&asked)));
            let suffixes = Suffixes::of(&dictionary);
            prop_assert_eq!(all(&mut suffixes.containing(&dictionary, &asked)), nodes(&|string| string.contains(&asked)));
        }
    }
}
