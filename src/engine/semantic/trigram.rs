//! Likeness of texts by the windows of three characters that they share.
//!
//! A text is brought to composed form and lower case, cut at [`TEXT_BYTES_MAX`] bytes, and seen as the set of its
//! windows of three characters with their counts. A window weighs `count * (ln(N / max(1, df)) + 1)`, where `N` is how
//! many texts the index holds and `df` how many of them have the window, so that what every text has says little. Texts
//! are compared by the cosine of these weights: 1 is the same text, 0 is none in common.
//!
//! The measure sees spelling, not meaning. Near-duplicates lie above 0.5, two notes on one subject below 0.3.
//!
//! # Design notes
//! A window is known by 24 bits of the FNV-1a hash of its UTF-8, so that postings are compact and need no table of
//! strings; two windows that share a hash count as one, which changes a cosine in its third digit, seldom.
//!
//! Every posting of the asked windows is read; the list of those is what a look-up costs.
//!
//! Invariant: scores are those of the cosine worked out for every pair (held by `trigram_oracle`).

use std::collections::BTreeMap;
use unicode_normalization::UnicodeNormalization;

/// What is seen of a text, in bytes of its lower case.
pub const TEXT_BYTES_MAX: usize = 200;
/// Likeness up to this is none.
pub const SCORE_MIN: f64 = 0.01;

const WINDOW: usize = 3;
const HASH_MASK: u32 = 0x00ff_ffff;

/// Texts, ready to be compared with others.
#[derive(Debug, Clone)]
pub struct CharNgramIndex {
    texts: usize,
    /// For each window, in ascending order, where its postings begin in `postings`, and how many there are.
    windows: BTreeMap<u32, Range>,
    postings: Vec<Posting>,
}

#[derive(Debug, Clone, Copy)]
struct Range {
    first: usize,
    count: usize,
}

#[derive(Debug, Clone, Copy)]
struct Posting {
    text: u32,
    /// Of a text whose weights have length 1.
    weight: f32,
}

/// A text of an index, and how like it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Like {
    /// Its place among the texts that the index was built from.
    pub text: u32,
    /// In `SCORE_MIN ..= 1`.
    pub score: f32,
}

impl CharNgramIndex {
    /// An index of these texts, known by their place in this order. Texts past the first 2^32 are left out.
    #[must_use]
    pub fn build<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let counted: Vec<BTreeMap<u32, u32>> = texts.into_iter().map(windows).collect();
        let mut spread: BTreeMap<u32, usize> = BTreeMap::new();
        for window in counted.iter().flat_map(BTreeMap::keys) {
            *spread.entry(*window).or_default() += 1;
        }
        let mut first = 0;
        let windows: BTreeMap<u32, Range> = spread
            .into_iter()
            .map(|(window, count)| {
                let range = Range { first, count };
                first += count;
                (window, range)
            })
            .collect();
        let mut index =
            Self { texts: counted.len(), windows, postings: vec![Posting { text: 0, weight: 0.0 }; first] };
        let mut filled: BTreeMap<u32, usize> = BTreeMap::new();
        for (text, counts) in (0_u32..).zip(&counted) {
            for (window, weight) in index.weights(counts) {
                let Some(range) = index.windows.get(&window) else { continue };
                let place = filled.entry(window).or_default();
                index.postings[range.first + *place] = Posting { text, weight: narrow(weight) };
                *place += 1;
            }
        }
        index
    }

    /// The `most` texts that are most like this one, above [`SCORE_MIN`], the likest first, of equals the earlier.
    #[must_use]
    pub fn like(&self, text: &str, most: usize) -> Vec<Like> {
        let mut sums = vec![0.0_f64; self.texts];
        for (window, weight) in self.weights(&windows(text)) {
            let Some(range) = self.windows.get(&window) else { continue };
            for posting in &self.postings[range.first..range.first + range.count] {
                sums[posting.text as usize] += weight * f64::from(posting.weight);
            }
        }
        let mut like: Vec<Like> = (0_u32..)
            .zip(sums)
            .filter(|(_, score)| *score > SCORE_MIN)
            .map(|(text, score)| Like { text, score: narrow(score.min(1.0)) })
            .collect();
        like.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.text.cmp(&b.text)));
        like.truncate(most);
        like
    }

    /// The weights of windows, in ascending order, of length 1 together.
    fn weights(&self, counts: &BTreeMap<u32, u32>) -> Vec<(u32, f64)> {
        #[expect(clippy::cast_precision_loss, reason = "fewer texts than an f64 counts exactly")]
        let rarity = |window: &u32| {
            let spread = self.windows.get(window).map_or(0, |range| range.count).max(1);
            libm::log(self.texts.max(1) as f64 / spread as f64) + 1.0
        };
        let weighed: Vec<(u32, f64)> =
            counts.iter().map(|(window, count)| (*window, f64::from(*count) * rarity(window))).collect();
        let length = weighed.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
        weighed.into_iter().map(|(window, weight)| (window, weight / length)).collect()
    }
}

/// The windows of a text with their counts; a text shorter than one is its own.
fn windows(text: &str) -> BTreeMap<u32, u32> {
    let lower: String = text.nfc().collect::<String>().to_lowercase();
    let mut end = lower.len().min(TEXT_BYTES_MAX);
    while !lower.is_char_boundary(end) {
        end -= 1;
    }
    let seen = &lower[..end];
    let mut starts: Vec<usize> = seen.char_indices().map(|(at, _)| at).collect();
    starts.push(seen.len());
    let mut counts = BTreeMap::new();
    let mut add = |window: &str| *counts.entry(hash(window)).or_insert(0) += 1;
    if starts.len() <= WINDOW {
        if !seen.is_empty() {
            add(seen);
        }
    } else {
        starts.windows(WINDOW + 1).for_each(|window| add(&seen[window[0]..window[WINDOW]]));
    }
    counts
}

/// 24 bits of FNV-1a.
fn hash(window: &str) -> u32 {
    let step = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    window.as_bytes().iter().fold(0x811c_9dc5, step) & HASH_MASK
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "weights and scores lie in 0 ..= 1; the digits lost are noise"
)]
fn narrow(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fnv_vectors() {
        assert_eq!([hash("cha"), hash("han"), hash("ab")], [8_754_941, 12_519_428, 2_426_314]);
    }

    /// The cosine of two texts over all texts, from the definition.
    fn cosine(texts: &[String], a: &str, b: &str) -> f64 {
        let grams = |text: &str| -> Vec<String> {
            let mut lower: String = text.nfc().collect::<String>().to_lowercase();
            while lower.len() > TEXT_BYTES_MAX {
                lower.pop();
            }
            let chars: Vec<char> = lower.chars().collect();
            match chars.len() {
                0 => Vec::new(),
                1..=2 => vec![lower],
                _ => chars.windows(3).map(|window| window.iter().collect()).collect(),
            }
        };
        let all: Vec<Vec<String>> = texts.iter().map(|text| grams(text)).collect();
        let vector = |text: &str| -> Vec<(String, f64)> {
            let own = grams(text);
            let mut distinct = own.clone();
            distinct.sort();
            distinct.dedup();
            let weighed: Vec<(String, f64)> = distinct
                .into_iter()
                .map(|gram| {
                    let spread = all.iter().filter(|other| other.contains(&gram)).count().max(1);
                    let count = own.iter().filter(|other| **other == gram).count();
                    let weight = count as f64 * ((texts.len() as f64 / spread as f64).ln() + 1.0);
                    (gram, weight)
                })
                .collect();
            let length = weighed.iter().map(|(_, w)| w * w).sum::<f64>().sqrt();
            weighed.into_iter().map(|(gram, w)| (gram, w / length)).collect()
        };
        let (a, b) = (vector(a), vector(b));
        a.iter().flat_map(|(g, x)| b.iter().filter(move |(h, _)| g == h).map(move |(_, y)| x * y)).sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn trigram_oracle(texts in prop::collection::vec("[abcA-Cé ]{0,14}", 1..20), asked in "[abcA-Cé ]{0,14}") {
            let index = CharNgramIndex::build(texts.iter().map(String::as_str));
            let found = index.like(&asked, usize::MAX);
            for (place, text) in texts.iter().enumerate() {
                let wanted = cosine(&texts, &asked, text);
                let score = found.iter().find(|like| like.text as usize == place).map_or(0.0, |like| f64::from(like.score));
                prop_assert!((wanted - score).abs() < 1e-5 || (wanted < SCORE_MIN + 1e-5 && score == 0.0), "{wanted} {score}");
            }
            prop_assert!(found.is_sorted_by(|a, b| (b.score, a.text) <= (a.score, b.text) || a.score > b.score));
        }

        #[test]
        fn composed_and_decomposed_are_the_same_text(text in "[aeiouçãé ]{3,40}") {
            let decomposed: String = text.nfd().collect();
            prop_assert_eq!(windows(&text), windows(&decomposed));
        }
    }

    #[test]
    fn the_same_text_is_wholly_like_and_empty_text_like_nothing() {
        let index = CharNgramIndex::build(["The build needs JAVA_HOME", "Dana prefers small changes", ""]);
        let found = index.like("the build needs java_home", 5);
        assert_eq!((found[0].text, found.len()), (0, 1));
        assert!((found[0].score - 1.0).abs() < 1e-6);
        assert!(index.like("", 5).is_empty());
        assert!(CharNgramIndex::build([]).like("anything", 5).is_empty());
    }
}
