//! Sorted strings with the nodes that have them.
//!
//! Equality and prefix queries are binary searches. Substring queries use the sorted suffixes of all strings: a string that
//! contains a word has a suffix that begins with it.
//!
//! # Design notes
//! Few strings change from one generation of a graph to the next, but most ids do. A dictionary is sorted once; after a
//! change its strings are merged with the new ones, or shared if there are none, and its ids are looked up.

use crate::counting::sort_by_number;
use crate::graph::builder::{head_of, ranked};
use crate::graph::columns::StringColumn;
use crate::graph::index::InternedStr;
use crate::graph::interner::StringInterner;
use std::ops::Range;
use std::sync::Arc;

/// New index of a string that no node has any more.
const GONE: u32 = u32::MAX;

/// Distinct strings with the nodes that have them.
#[derive(Debug, Clone, Default)]
pub(super) struct Dictionary {
    strings: Arc<StringColumn>,
    /// End of the nodes of each string in `nodes`.
    ends: Arc<Vec<u32>>,
    /// Ascending for each string.
    nodes: Vec<u32>,
}

/// Strings of nodes, to be made a [`Dictionary`]. What exceeds 4 GiB of distinct strings is left out.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    strings: StringInterner,
    /// Handles of strings with their nodes.
    entries: Vec<(InternedStr, u32)>,
}

impl Gathered {
    /// Adds a string of a node, unless it is empty. Duplicates are allowed.
    pub(super) fn push(&mut self, string: &str, node: u32) {
        if string.is_empty() {
            return;
        }
        if let Ok(handle) = self.strings.intern(string) {
            self.entries.push((handle, node));
        }
    }

    /// Sorts each distinct string once, and its nodes without comparing any string again.
    pub(super) fn into_dictionary(self) -> Dictionary {
        let Self { strings, entries } = self;
        let all: Vec<u32> = entries.iter().map(|(_, node)| *node).collect();
        let mut nodes = vec![0; all.len()];
        let ends = sort_by_number(&all, &mut nodes, strings.len(), |at| entries[at].0.at());
        drop((all, entries));
        let mut sorted = Sorted::with_room(strings.len(), nodes.len());
        for number in ranked(strings.iter()) {
            let at = number as usize;
            let same = &mut nodes[at.checked_sub(1).map_or(0, |before| ends[before])..ends[at]];
            same.sort_unstable();
            sorted.push(strings.resolve(InternedStr(number)), same.chunk_by(u32::eq).map(|same| same[0]));
        }
        sorted.into_dictionary()
    }
}

/// A dictionary whose strings are added in their order.
struct Sorted {
    strings: StringColumn,
    ends: Vec<u32>,
    nodes: Vec<u32>,
}

impl Sorted {
    fn with_room(strings: usize, nodes: usize) -> Self {
        let (ends, nodes) = (Vec::with_capacity(strings), Vec::with_capacity(nodes));
        Self { strings: StringColumn::with_room(strings), ends, nodes }
    }

    /// Adds a string with its distinct nodes and returns its index, [`GONE`] if it has none.
    fn push(&mut self, string: &str, nodes: impl Iterator<Item = u32>) -> u32 {
        let begin = self.nodes.len();
        self.nodes.extend(nodes);
        let own = &mut self.nodes[begin..];
        if !own.is_sorted() {
            own.sort_unstable();
        }
        let is_empty = own.is_empty();
        let end = u32::try_from(self.nodes.len()).unwrap_or(GONE);
        if is_empty || end == GONE || self.strings.push(string).is_err() {
            self.nodes.truncate(begin);
            return GONE;
        }
        self.ends.push(end);
        u32::try_from(self.ends.len() - 1).unwrap_or(GONE)
    }

    fn into_dictionary(self) -> Dictionary {
        let Self { mut strings, mut ends, mut nodes } = self;
        strings.shrink_to_fit();
        ends.shrink_to_fit();
        nodes.shrink_to_fit();
        Dictionary { strings: Arc::new(strings), ends: Arc::new(ends), nodes }
    }
}

impl Dictionary {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, at: usize) -> &str {
        self.strings.get(at)
    }

    fn range(&self, at: usize) -> Range<usize> {
        let begin = if at == 0 { 0 } else { self.ends[at - 1] };
        begin as usize..self.ends[at] as usize
    }

    /// The nodes of a string by index.
    pub(super) fn nodes(&self, at: usize) -> &[u32] {
        &self.nodes[self.range(at)]
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

    /// The same strings under other ids: `places` has the new one of each node.
    pub(super) fn renumbered(&self, places: &[u32]) -> Self {
        let (strings, ends) = (Arc::clone(&self.strings), Arc::clone(&self.ends));
        let nodes = self.nodes.iter().map(|node| places[*node as usize]).collect();
        let mut renumbered = Self { strings, ends, nodes };
        for at in 0..renumbered.len() {
            let range = renumbered.range(at);
            let own = &mut renumbered.nodes[range];
            if !own.is_sorted() {
                own.sort_unstable();
            }
        }
        renumbered
    }

    /// The dictionary after a change: with the new ids of the nodes that keep their strings, which is `None` for the others,
    /// and the strings of `added`. Also the new index of each string, [`GONE`] for those that no node has any more.
    fn merged(&self, place: impl Fn(u32) -> Option<u32>, added: &Self) -> (Self, Vec<u32>) {
        let mut sorted = Sorted::with_room(self.len() + added.len(), self.nodes.len() + added.nodes.len());
        let (mut indexes, mut next) = (Vec::with_capacity(self.len()), 0);
        for at in 0..self.len() {
            let string = self.get(at);
            while next < added.len() && added.get(next) < string {
                sorted.push(added.get(next), added.nodes(next).iter().copied());
                next += 1;
            }
            let is_added = next < added.len() && added.get(next) == string;
            let more = if is_added { added.nodes(next) } else { &[] };
            next += usize::from(is_added);
            let kept = self.nodes(at).iter().filter_map(|node| place(*node));
            indexes.push(sorted.push(string, kept.chain(more.iter().copied())));
        }
        for at in next..added.len() {
            sorted.push(added.get(at), added.nodes(at).iter().copied());
        }
        (sorted.into_dictionary(), indexes)
    }

    /// The dictionary after a change: see [`Self::merged`].
    pub(super) fn renewed(&self, place: impl Fn(u32) -> Option<u32>, added: &Self) -> Self {
        self.merged(place, added).0
    }

    /// The same, with the suffixes of its strings.
    pub(super) fn renewed_with(
        &self,
        suffixes: &Suffixes,
        place: impl Fn(u32) -> Option<u32>,
        added: &Self,
    ) -> (Self, Suffixes) {
        let (renewed, indexes) = self.merged(place, added);
        let suffixes = suffixes.renewed((self, &renewed), &indexes);
        (renewed, suffixes)
    }

    pub(super) fn bytes(&self) -> usize {
        self.strings.bytes() + 4 * (self.ends.capacity() + self.nodes.capacity())
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

/// The suffixes of all strings of a [`Dictionary`], in the order of their bytes, then of the strings: index of the string, and
/// offset.
#[derive(Debug, Clone, Default)]
pub(super) struct Suffixes(Arc<Vec<(u32, u32)>>);

impl Suffixes {
    pub(super) fn of(dictionary: &Dictionary) -> Self {
        Self(Arc::new(sorted_suffixes(dictionary, 0..u32::try_from(dictionary.len()).unwrap_or(GONE))))
    }

    /// The suffixes of the strings after a change, which has given these indexes to the strings before it.
    fn renewed(&self, (before, after): (&Dictionary, &Dictionary), indexes: &[u32]) -> Self {
        let mut is_new = vec![true; after.len()];
        indexes.iter().filter(|index| **index != GONE).for_each(|index| is_new[*index as usize] = false);
        let new: Vec<u32> = (0..GONE).zip(&is_new).filter(|(_, is_new)| **is_new).map(|(at, _)| at).collect();
        if new.is_empty() && before.len() == after.len() {
            return self.clone();
        }
        if new.len() > after.len() / ANEW {
            return Self::of(after);
        }
        let mut all = Vec::with_capacity(self.0.len());
        let now = |(string, at): &(u32, u32)| {
            let index = indexes[*string as usize];
            (index != GONE).then_some((index, *at))
        };
        let mut from = 0;
        for (string, at) in sorted_suffixes(after, new.into_iter()) {
            let whole = after.get(string as usize);
            let place = (&whole[at as usize..], whole);
            let is_before = |(other, begin): &(u32, u32)| {
                let other = before.get(*other as usize);
                (&other[*begin as usize..], other) < place
            };
            let to = from + self.0[from..].partition_point(is_before);
            all.extend(self.0[from..to].iter().filter_map(now));
            all.push((string, at));
            from = to;
        }
        all.extend(self.0[from..].iter().filter_map(now));
        all.shrink_to_fit();
        Self(Arc::new(all))
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

/// Share of new strings from which on suffixes are sorted anew.
const ANEW: usize = 8;

/// The suffixes of some strings, sorted.
fn sorted_suffixes(dictionary: &Dictionary, strings: impl Iterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut all: Vec<(u64, u32, u32)> = Vec::new();
    for string in strings {
        let text = dictionary.get(string as usize);
        let suffixes = text.char_indices().filter_map(|(at, _)| Some((at, u32::try_from(at).ok()?)));
        all.extend(suffixes.map(|(begin, at)| (head_of(&text[begin..]), string, at)));
    }
    let suffix = |(_, string, at): &(u64, u32, u32)| &dictionary.get(*string as usize)[*at as usize..];
    all.sort_unstable_by(|a, b| {
        a.0.cmp(&b.0).then_with(|| suffix(a).cmp(suffix(b))).then_with(|| (a.1, a.2).cmp(&(b.1, b.2)))
    });
    all.into_iter().map(|(_, string, at)| (string, at)).collect()
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

    fn gathered(entries: impl IntoIterator<Item = (String, u32)>) -> Dictionary {
        let mut gathered = Gathered::default();
        entries.into_iter().for_each(|(string, node)| gathered.push(&string, node));
        gathered.into_dictionary()
    }

    fn entries(dictionary: &Dictionary) -> Vec<(&str, &[u32])> {
        (0..dictionary.len()).map(|at| (dictionary.get(at), dictionary.nodes(at))).collect()
    }

    /// Ids in an order that these numbers give.
    fn permutation(order: &[u16]) -> Vec<u32> {
        let mut places: Vec<u32> = (0..).take(order.len()).collect();
        places.sort_by_key(|node| order[*node as usize]);
        places
    }

    proptest! {
        #[test]
        fn after_a_change_a_dictionary_is_as_if_gathered_anew(
            own in prop::collection::vec(("[abé]{1,5}", 0_u32..20), 20..120),
            order in prop::collection::vec(any::<u16>(), 20),
            leaving in prop::collection::vec(prop::bool::weighted(0.2), 20),
            added in prop::collection::vec(("[abcé]{1,5}", 20_u32..24), 0..9),
        ) {
            let places = permutation(&order);
            let place = |node: u32| (!leaving[node as usize]).then_some(places[node as usize]);
            let before = gathered(own.iter().cloned());
            let kept = own.iter().filter_map(|(string, node)| Some((string.clone(), place(*node)?)));
            let wanted = gathered(kept.chain(added.iter().cloned()));
            let suffixes = Suffixes::of(&before);
            let (renewed, suffixes) = before.renewed_with(&suffixes, place, &gathered(added.iter().cloned()));
            prop_assert_eq!(entries(&renewed), entries(&wanted));
            prop_assert_eq!(suffixes.0, Suffixes::of(&wanted).0);
            let moved = gathered(own.iter().map(|(string, node)| (string.clone(), places[*node as usize])));
            let renumbered = before.renumbered(&places);
            prop_assert_eq!(entries(&renumbered), entries(&moved));
        }
    }
}
