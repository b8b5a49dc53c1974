//! Sorted lists read side by side, so that what is said of one thing in several of them comes together.
//!
//! Nothing is kept per thing, only per list: a query needs no memory that grows with what is indexed.

/// Calls `meet` for each thing that any of the lists names, in the order of their numbers, with the lists that name it in
/// their own order. Each list is ascending by `number`, without repetition; numbers are below `u32::MAX`.
pub(crate) fn side_by_side<'a, P>(
    lists: &[&'a [P]],
    number: impl Fn(&P) -> u32,
    mut meet: impl FnMut(u32, &[(usize, &'a P)]),
) {
    let mut rest: Vec<&'a [P]> = lists.to_vec();
    let head = |list: &[P]| list.first().map_or(u32::MAX, &number);
    let mut heads: Vec<u32> = rest.iter().map(|list| head(list)).collect();
    let mut met = Vec::with_capacity(lists.len());
    while let Some(least) = heads.iter().min().copied().filter(|least| *least != u32::MAX) {
        met.clear();
        for (list, (rest, first)) in rest.iter_mut().zip(&mut heads).enumerate() {
            if *first == least
                && let Some((said, after)) = rest.split_first()
            {
                met.push((list, said));
                (*rest, *first) = (after, head(after));
            }
        }
        meet(least, &met);
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
            side_by_side(&slices, |number| *number, |number, met| {
                got.push((number, met.iter().map(|(list, _)| *list).collect::<Vec<_>>()));
            });
            prop_assert_eq!(got, wanted.into_iter().collect::<Vec<_>>());
        }
    }
}
