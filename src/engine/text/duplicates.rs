//! Groups of texts that say nearly the same in the same words.
//!
//! Texts are compared by their words and their pairs of adjacent words, each once: the similarity of two is the number that
//! they share divided by the number that either has (Jaccard). So the order of words counts, and so do small words: "Ann likes
//! tea" and "Ann does not like tea" share few pairs.
//!
//! All pairs above a minimum are found without comparing all: sorted by rarity, two sets that are similar enough share one
//! of their first members (prefix filtering; Chaudhuri, Ganti, Kaushik, 2006).
//!
//! A group is a text and those that are similar to it, not to each other by way of third ones; the texts come in the order
//! in which they are preferred as the one to keep.

use super::fold::fold;
use super::words::{hash, words};
use std::collections::{HashMap, HashSet};

/// Texts that are nearly the same as one that comes before them, by their indexes.
#[derive(Debug, Clone, PartialEq)]
pub struct DuplicateGroup {
    /// The most preferred.
    pub kept: usize,
    /// The others with their similarity to it, in their order.
    pub others: Vec<(usize, f64)>,
}

/// The words of a text and its pairs of adjacent words, as sorted hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextShape(Vec<u64>);

impl TextShape {
    /// The shape of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let folded = fold(text);
        let mut parts = Vec::new();
        let mut before = None;
        for word in words(&folded) {
            parts.push(hash(word));
            parts.extend(before.map(|before| hash(&format!("{before} {word}"))));
            before = Some(word);
        }
        parts.sort_unstable();
        parts.dedup();
        parts.shrink_to_fit();
        Self(parts)
    }

    /// Number of its parts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Share of the parts of either that both have; 0 if one has none.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of words")]
    pub fn similarity(&self, other: &Self) -> f64 {
        let (mut a, mut b) = (self.0.as_slice(), other.0.as_slice());
        let mut shared = 0_usize;
        while let ([first, rest_a @ ..], [second, rest_b @ ..]) = (a, b) {
            shared += usize::from(first == second);
            (a, b) = (if first <= second { rest_a } else { a }, if second <= first { rest_b } else { b });
        }
        let either = self.0.len() + other.0.len() - shared;
        if either == 0 { 0.0 } else { shared as f64 / either as f64 }
    }
}

/// Groups of shapes whose similarity to the kept one is at least `min_similarity`, above 0 and at most 1. The shapes come in the
/// order of preference, and so do the groups; no shape is in two. Ends before its comparisons read more than `work_max` parts;
/// returns the number of shapes that were compared by then, too.
#[must_use]
pub fn near_duplicates(
    shapes: &[TextShape],
    min_similarity: f64,
    work_max: usize,
) -> (Vec<DuplicateGroup>, usize) {
    let mut counts: HashMap<u64, u32> = HashMap::new();
    shapes.iter().flat_map(|shape| &shape.0).for_each(|part| *counts.entry(*part).or_default() += 1);
    // Kept texts by each part of their prefix.
    let mut kept_by: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut groups: Vec<DuplicateGroup> = Vec::new();
    let (mut compared, mut work) = (shapes.len(), 0);
    for (at, shape) in shapes.iter().enumerate() {
        let prefix = prefix(shape, &counts, min_similarity);
        let candidates: HashSet<usize> =
            prefix.iter().filter_map(|part| kept_by.get(part)).flatten().copied().collect();
        work += candidates.iter().map(|group| shape.len() + shapes[groups[*group].kept].len()).sum::<usize>();
        if work > work_max {
            compared = at;
            break;
        }
        let similar = |group: usize| {
            let similarity = shape.similarity(&shapes[groups[group].kept]);
            (similarity >= min_similarity).then_some((group, similarity))
        };
        let nearest = candidates.into_iter().filter_map(similar);
        // Of equals the more preferred.
        match nearest.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))) {
            Some((group, similarity)) => groups[group].others.push((at, similarity)),
            None => {
                prefix.into_iter().for_each(|part| kept_by.entry(part).or_default().push(groups.len()));
                groups.push(DuplicateGroup { kept: at, others: Vec::new() });
            }
        }
    }
    groups.retain(|group| !group.others.is_empty());
    (groups, compared)
}

/// The rarest parts of a shape, of which it shares one with every shape that is similar enough.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of words"
)]
fn prefix(shape: &TextShape, counts: &HashMap<u64, u32>, min_similarity: f64) -> Vec<u64> {
    let mut parts = shape.0.clone();
    parts.sort_unstable_by_key(|part| (counts.get(part).copied().unwrap_or(0), *part));
    // A little less than the product, so that its rounding excludes nothing.
    let shared = (min_similarity * parts.len() as f64 - 1e-9).ceil().max(1.0) as usize;
    parts.truncate((parts.len() + 1).saturating_sub(shared));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shapes(texts: &[&str]) -> Vec<TextShape> {
        texts.iter().map(|text| TextShape::of(text)).collect()
    }

    fn grouped(texts: &[&str], min_similarity: f64) -> Vec<(usize, Vec<usize>)> {
        let (groups, _) = near_duplicates(&shapes(texts), min_similarity, usize::MAX);
        groups
            .into_iter()
            .map(|group| (group.kept, group.others.iter().map(|other| other.0).collect()))
            .collect()
    }

    #[test]
    fn only_texts_in_nearly_the_same_words_are_duplicates() {
        let texts = [
            "Ann prefers green tea in the morning, with a little honey.",
            "The build needs JAVA_HOME",
            "ann prefers green tea in the morning with a little honey",
            "Ann prefers black tea in the morning, with a little honey",
            "the build needs JAVA_HOME!",
            "Ann does not prefer green tea in the morning, with a little honey",
            "Bob beat Ann",
            "Ann beat Bob",
            "",
            "…",
        ];
        assert_eq!(grouped(&texts, 1.0), [(0, vec![2]), (1, vec![4])]);
        assert_eq!(grouped(&texts, 0.7), [(0, vec![2, 3]), (1, vec![4])]);
        let far = shapes(&["Bob beat Ann", "Ann beat Bob"]);
        assert!((far[0].similarity(&far[1]) - 3.0 / 7.0).abs() < 1e-12);
    }

    #[test]
    fn a_text_is_in_the_group_that_is_nearest() {
        let texts = ["a b c d e f g h", "a b c d e f x y", "a b c d e f x z"];
        assert_eq!(grouped(&texts, 0.5), [(0, vec![1, 2])], "the second is no longer one to keep");
        assert_eq!(grouped(&texts, 0.7), [(1, vec![2])]);
    }

    #[test]
    fn what_was_found_before_the_work_was_too_much_is_returned() {
        let shapes = shapes(&["a b c", "a b c", "a b c", "a b c"]);
        let (groups, compared) = near_duplicates(&shapes, 0.5, 20);
        assert_eq!((groups[0].others.len(), compared), (2, 3), "each comparison reads ten parts");
    }

    proptest! {
        /// As by comparing each text with each kept one.
        #[test]
        fn no_pair_is_missed(texts in prop::collection::vec("[a-d ]{0,12}", 0..30), min in 0.05_f64..=1.0) {
            let shapes: Vec<TextShape> = texts.iter().map(|text| TextShape::of(text)).collect();
            let (found, compared) = near_duplicates(&shapes, min, usize::MAX);
            prop_assert_eq!(compared, shapes.len());
            let mut groups: Vec<DuplicateGroup> = Vec::new();
            for (at, shape) in shapes.iter().enumerate() {
                let near = |group: &DuplicateGroup| shape.similarity(&shapes[group.kept]);
                let best = (0..groups.len()).max_by(|a, b| near(&groups[*a]).total_cmp(&near(&groups[*b])).then(b.cmp(a)));
                match best.filter(|best| near(&groups[*best]) >= min) {
                    Some(best) => { let similarity = near(&groups[best]); groups[best].others.push((at, similarity)); }
                    None => groups.push(DuplicateGroup { kept: at, others: Vec::new() }),
                }
            }
            groups.retain(|group| !group.others.is_empty());
            prop_assert_eq!(found, groups);
        }
    }
}
