//! K-way merge of sorted posting lists.
//!
//! Memory is needed for each list only, not for each document. The lists wait in a heap by their next number, so a query of
//! a thousand words costs the logarithm of a thousand for each posting.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// Calls `visit` for each number in any of the lists, ascending, with the lists that contain it in their own order. Each
/// list is strictly ascending by `number`.
pub(crate) fn merge_postings<'a, P>(
    lists: &[&'a [P]],
    number: impl Fn(&P) -> u32,
    mut visit: impl FnMut(u32, &[(usize, &'a P)]),
) {
    let mut rest: Vec<&'a [P]> = lists.to_vec();
    let head = |(at, list): (usize, &&[P])| list.first().map(|first| Reverse((number(first), at)));
    let mut heads: BinaryHeap<Reverse<(u32, usize)>> = rest.iter().enumerate().filter_map(head).collect();
    let mut current = Vec::with_capacity(lists.len());
    while let Some(Reverse((least, _))) = heads.peek().copied() {
        current.clear();
        while let Some(mut first) = heads.peek_mut().filter(|first| first.0.0 == least) {
            let list = first.0.1;
            let Some((posting, after)) = rest[list].split_first() else { break };
            current.push((list, posting));
            rest[list] = after;
            match after.first() {
                Some(next) => first.0.0 = number(next),
                None => drop(PeekMut::pop(first)),
            }
        }
        visit(least, &current);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    proptest! {
        #[test]
        fn every_list_meets_every_other(lists in prop::collection::vec(prop::collection::btree_set(0_u32..40, 0..20), 0..6)) {
            let sorted: Vec<Vec<u32>> = lists.iter().map(|list: &BTreeSet<u32>| list.iter().copied().collect()).collect();
            let mut wanted: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
            for (list, of) in sorted.iter().enumerate() {
                of.iter().for_each(|number| wanted.entry(*number).or_default().push(list));
            }
            let mut got = Vec::new();
            let slices: Vec<&[u32]> = sorted.iter().map(Vec::as_slice).collect();
            merge_postings(&slices, |number| *number, |number, current| {
                got.push((number, current.iter().map(|(list, _)| *list).collect::<Vec<_>>()));
            });
            prop_assert_eq!(got, wanted.into_iter().collect::<Vec<_>>());
        }
    }
}
