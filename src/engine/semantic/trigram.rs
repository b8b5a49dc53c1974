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
//! Every posting of the asked windows is read; the list of those is what a look-up costs. An index is built by sorting
//! all windows once: it is built for a single run, so building it is most of its cost.
//!
//! Invariant: scores are those of the cosine worked out for every pair (held by `trigram_oracle`).

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
    /// The windows of all texts, ascending.
    windows: Vec<u32>,
    /// Where the postings of each window begin in `postings`, and where the last ones end.
    starts: Vec<usize>,
    postings: Vec<Posting>,
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
        let (mut seen, mut count): (Vec<(u32, u32)>, usize) = (Vec::new(), 0);
        for (text, said) in (0_u32..).zip(texts) {
            each_window(said, |window| seen.push((window, text)));
            count += 1;
        }
        seen.sort_unstable();
        let mut index = Self { texts: count, windows: Vec::new(), starts: Vec::new(), postings: Vec::new() };
        let mut squares = vec![0.0_f64; count];
        for of_window in seen.chunk_by(|a, b| a.0 == b.0) {
            let first = index.postings.len();
            index.windows.push(of_window[0].0);
            index.starts.push(first);
            for of_text in of_window.chunk_by(|a, b| a.1 == b.1) {
                index.postings.push(Posting { text: of_text[0].1, weight: count_of(of_text) });
            }
            let rarity = rarity(count, index.postings.len() - first);
            for posting in &index.postings[first..] {
                squares[posting.text as usize] += (f64::from(posting.weight) * rarity).powi(2);
            }
        }
        index.starts.push(index.postings.len());
        let lengths: Vec<f64> = squares.into_iter().map(f64::sqrt).collect();
        for place in 0..index.windows.len() {
            let range = index.starts[place]..index.starts[place + 1];
            let rarity = rarity(count, range.len());
            for posting in &mut index.postings[range] {
                posting.weight = narrow(f64::from(posting.weight) * rarity / lengths[posting.text as usize]);
            }
        }
        index
    }

    /// The `most` texts that are most like this one, above [`SCORE_MIN`], the likest first, of equals the earlier.
    #[must_use]
    pub fn like(&self, text: &str, most: usize) -> Vec<Like> {
        let mut asked = Vec::new();
        each_window(text, |window| asked.push(window));
        asked.sort_unstable();
        let weighed: Vec<(&[Posting], f64)> = asked
            .chunk_by(|a, b| a == b)
            .map(|same| {
                let postings = self.postings(same[0]);
                (postings, f64::from(count_of(same)) * rarity(self.texts, postings.len()))
            })
            .collect();
        let length = weighed.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
        let mut sums = vec![0.0_f64; self.texts];
        for (postings, weight) in weighed {
            for posting in postings {
                sums[posting.text as usize] += weight / length * f64::from(posting.weight);
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

    fn postings(&self, window: u32) -> &[Posting] {
        let place = self.windows.binary_search(&window);
        place.map_or(&[], |place| &self.postings[self.starts[place]..self.starts[place + 1]])
    }
}

/// What a window says that `spread` of so many texts have.
#[expect(clippy::cast_precision_loss, reason = "fewer texts than an f64 counts exactly")]
fn rarity(texts: usize, spread: usize) -> f64 {
    libm::log(texts.max(1) as f64 / spread.max(1) as f64) + 1.0
}

/// How often a window stands in a text.
#[expect(clippy::cast_precision_loss, reason = "at most as many as a text has bytes that are seen")]
fn count_of<T>(same: &[T]) -> f32 {
    same.len() as f32
}

/// Names the windows of a text, each as often as it stands there; a text shorter than one is its own.
fn each_window(text: &str, mut name: impl FnMut(u32)) {
    let lower: String = text.nfc().collect::<String>().to_lowercase();
    let mut end = lower.len().min(TEXT_BYTES_MAX);
    while !lower.is_char_boundary(end) {
        end -= 1;
    }
    let seen = &lower[..end];
    let mut starts: Vec<usize> = seen.char_indices().map(|(at, _)| at).collect();
    starts.push(seen.len());
    if starts.len() <= WINDOW {
        if !seen.is_empty() {
            name(hash(seen));
        }
    } else {
        starts.windows(WINDOW + 1).for_each(|window| name(hash(&seen[window[0]..window[WINDOW]])));
    }
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
            let windows = |text: &str| {
                let mut named = Vec::new();
                each_window(text, |window| named.push(window));
                named
            };
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
