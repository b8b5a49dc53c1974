//! The smallest distinct ids of several lists.
//!
//! Ids follow degree, so the smallest are the best connected nodes: those are kept for a word that many nodes have.

/// Collects ascending lists and keeps the smallest ids.
#[derive(Debug)]
pub(super) struct Lowest {
    most: usize,
    nodes: Vec<u32>,
    /// Once there are enough ids, larger ones than this are not kept.
    ceiling: u32,
    truncated: bool,
}

impl Lowest {
    pub(super) const fn new(most: usize) -> Self {
        Self { most, nodes: Vec::new(), ceiling: u32::MAX, truncated: false }
    }

    /// Adds an ascending list.
    pub(super) fn take(&mut self, ascending: &[u32]) {
        for node in ascending {
            if *node > self.ceiling {
                break;
            }
            self.nodes.push(*node);
            if self.nodes.len() >= self.most.saturating_mul(2) {
                self.compact();
            }
        }
    }

    fn compact(&mut self) {
        self.nodes.sort_unstable();
        self.nodes.dedup();
        if self.nodes.len() > self.most {
            self.nodes.truncate(self.most);
            self.truncated = true;
            self.ceiling = self.nodes.last().copied().unwrap_or_default();
        }
    }

    /// The kept ids, ascending, and whether there were more.
    pub(super) fn into_nodes(mut self) -> (Vec<u32>, bool) {
        self.compact();
        (self.nodes, self.truncated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn the_lowest_are_the_first_of_all(
            lists in prop::collection::vec(prop::collection::btree_set(0_u32..60, 0..30), 0..8),
            most in 1_usize..40,
        ) {
            let mut lowest = Lowest::new(most);
            let mut all = BTreeSet::new();
            for list in lists {
                lowest.take(&list.iter().copied().collect::<Vec<_>>());
                all.extend(list);
            }
            let (nodes, truncated) = lowest.into_nodes();
            prop_assert_eq!(truncated, all.len() > most);
            prop_assert_eq!(nodes, all.into_iter().take(most).collect::<Vec<_>>());
        }
    }
}
