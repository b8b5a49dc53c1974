//! The `k` greatest items of a stream, without sorting the rest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Keeps the `k` greatest items that are pushed; one comparison for each item that is rejected.
#[derive(Debug)]
pub(crate) struct TopK<K> {
    most: usize,
    kept: BinaryHeap<Reverse<K>>,
}

impl<K: Ord> TopK<K> {
    pub(crate) const fn new(most: usize) -> Self {
        Self { most, kept: BinaryHeap::new() }
    }

    pub(crate) fn push(&mut self, one: K) {
        if self.kept.len() < self.most {
            self.kept.push(Reverse(one));
        } else if let Some(mut least) = self.kept.peek_mut()
            && least.0 < one
        {
            least.0 = one;
        }
    }

    /// The least item that is kept, once there are `k`: anything less need not be pushed.
    pub(crate) fn threshold(&self) -> Option<&K> {
        self.kept.peek().filter(|_| self.kept.len() == self.most).map(|least| &least.0)
    }

    /// The items, the greatest first.
    pub(crate) fn into_sorted(self) -> Vec<K> {
        self.kept.into_sorted_vec().into_iter().map(|kept| kept.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_are_the_first_of_all_sorted(all in prop::collection::vec(0_u8..50, 0..60), most in 0_usize..70) {
            let mut best = TopK::new(most);
            all.iter().for_each(|one| best.push(*one));
            prop_assert_eq!(best.threshold().is_some(), most > 0 && all.len() >= most);
            let mut sorted = all;
            sorted.sort_by_key(|one| Reverse(*one));
            sorted.truncate(most);
            prop_assert_eq!(best.into_sorted(), sorted);
        }
    }
}
