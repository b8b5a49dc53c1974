//! Spelling similarity of texts: cosine of TF-IDF vectors of character trigrams.
//!
//! A text is composed, lower-cased, cut at [`TEXT_BYTES_MAX`] bytes, and represented by the counts of its windows of three
//! characters. A window weighs `count * (ln(N / max(1, df)) + 1)`, where `N` is the number of texts in the index and `df`
//! the number of those with the window. The similarity of two texts is the cosine of these weights, `0 ..= 1`.
//!
//! It measures spelling, not meaning. Near-duplicates are above 0.5, two notes on one subject below 0.3.
//!
//! # Design notes
//! A window is identified by 24 bits of the FNV-1a hash of its UTF-8, so that postings are compact and need no table of
//! strings; collisions are rare, and change a cosine in its third digit.
//!
//! Postings are sorted by the norm of the vector of their text, smallest first, in groups by how often a text repeats a
//! window, and those of names apart from those of longer texts, so that a search of names does not read the others; each text has a
//! 256-bit signature that rules most windows out. How a search uses these to read few postings is described in [`search`].
//!
//! Invariants: scores equal the cosine computed for every pair (held by `trigram_oracle`); early termination does not
//! change a result (held by `early_termination_changes_no_result`).

pub mod search;

use crate::counting::sort_by_number;
use crate::text::fold::{cut, fold};

/// Indexed part of a text, in bytes of its lower case.
pub const TEXT_BYTES_MAX: usize = 200;
/// Similarities up to this count as 0.
pub const SCORE_MIN: f64 = 0.01;

const WINDOW: usize = 3;
/// Greatest number of windows of which a second copy is made to sort them: 64 MiB.
const COPIED_MAX: usize = 8 << 20;
const HASH_MASK: u32 = 0x00ff_ffff;

/// An index of texts.
#[derive(Debug, Clone)]
pub struct CharNgramIndex {
    /// The windows of all texts, ascending.
    windows: Vec<u32>,
    /// Bounds of the postings of each window in `postings`.
    starts: Vec<usize>,
    /// For each window by place.
    postings: Vec<Posting>,
    /// Texts by place: group after group, and in each group by norm ascending.
    order: Vec<u32>,
    /// The place of each text.
    places: Vec<u32>,
    /// Norm of the vector at each place.
    lengths: Vec<f32>,
    /// Signature of the text at each place.
    marks: Vec<Marks>,
    groups: Vec<Group>,
}

/// A signature: one of 256 bits for each window of a text.
#[derive(Debug, Clone, Copy, Default)]
struct Marks([u64; 4]);

impl Marks {
    /// The word and the bit of a window: the first eight bits of its scrambled hash.
    const fn bit(window: u32) -> (usize, u64) {
        let bit = window.wrapping_mul(0x9e37_79b1) >> 24;
        ((bit >> 6) as usize, 1 << (bit & 63))
    }

    fn add(&mut self, window: u32) {
        let (word, bit) = Self::bit(window);
        self.0[word] |= bit;
    }

    /// Whether a text may have the window of a bit.
    fn may_have(&self, (word, bit): (usize, u64)) -> bool {
        self.0[word & 3] & bit != 0
    }
}

/// A range of places whose texts repeat no window more than a given number of times.
#[derive(Debug, Clone, Copy)]
struct Group {
    begin: usize,
    end: usize,
    /// A power of two, or 255.
    repeats: u8,
    are_names: bool,
}

#[derive(Debug, Clone, Copy)]
struct Posting {
    place: u32,
    /// Weight in the normalised vector of the text.
    weight: f32,
}

/// A text of an index with its similarity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NgramMatch {
    /// Index of the text in the order of [`CharNgramIndex::build`].
    pub text: u32,
    /// Similarity, in `SCORE_MIN ..= 1`.
    pub score: f32,
}

impl CharNgramIndex {
    /// Builds an index of names; they are identified by their position. Those past the first 2^32 are left out.
    #[must_use]
    pub fn build<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self::build_with_texts(names.into_iter().map(|name| (name, true)))
    }

    /// As [`Self::build`], with texts beside names; each says whether it is a name.
    #[must_use]
    pub fn build_with_texts<'a>(texts: impl IntoIterator<Item = (&'a str, bool)>) -> Self {
        let (mut seen, mut is_name): (Vec<(u32, u32)>, Vec<bool>) = (Vec::new(), Vec::new());
        for (text, (content, is_one)) in (0..u32::MAX).zip(texts) {
            each_window(content, |window| seen.push((window, text)));
            is_name.push(is_one);
        }
        let count = is_name.len();
        let seen = by_window(seen);
        let (mut windows, mut starts) = (Vec::new(), Vec::new());
        let mut postings: Vec<Posting> = Vec::new();
        let mut squares = vec![0.0_f64; count];
        let mut repeats = vec![1_u8; count];
        for of_window in seen.chunk_by(|a, b| a.0 == b.0) {
            let first = postings.len();
            windows.push(of_window[0].0);
            starts.push(first);
            for of_text in of_window.chunk_by(|a, b| a.1 == b.1) {
                let most = &mut repeats[of_text[0].1 as usize];
                // At most 198 windows, so 256 is reached only from 128.
                *most =
                    u8::try_from(of_text.len().next_power_of_two()).map_or(u8::MAX, |count| count.max(*most));
                postings.push(Posting { place: of_text[0].1, weight: count_of(of_text) });
            }
            let rarity = rarity(count, postings.len() - first);
            for posting in &postings[first..] {
                squares[posting.place as usize] += (f64::from(posting.weight) * rarity).powi(2);
            }
        }
        starts.push(postings.len());
        drop(seen);
        let lengths: Vec<f64> = squares.into_iter().map(f64::sqrt).collect();
        let mut order: Vec<u32> = (0..u32::MAX).take(count).collect();
        order.sort_unstable_by(|a, b| {
            let (x, y) = (*a as usize, *b as usize);
            let group = |text: usize| (!is_name[text], repeats[text]);
            group(x).cmp(&group(y)).then(lengths[x].total_cmp(&lengths[y])).then(a.cmp(b))
        });
        let mut places = vec![0; count];
        for (place, text) in (0..).zip(&order) {
            places[*text as usize] = place;
        }
        let mut groups: Vec<Group> = Vec::new();
        let group = |text: u32| (repeats[text as usize], is_name[text as usize]);
        for texts in order.chunk_by(|a, b| group(*a) == group(*b)) {
            let begin = groups.last().map_or(0, |before| before.end);
            let (repeats, are_names) = group(texts[0]);
            groups.push(Group { begin, end: begin + texts.len(), repeats, are_names });
        }
        let mut marks = vec![Marks::default(); count];
        for (range, window) in starts.windows(2).zip(&windows) {
            let of_window = &mut postings[range[0]..range[1]];
            let rarity = rarity(count, of_window.len());
            for posting in &mut *of_window {
                let text = posting.place as usize;
                let weight = narrow(f64::from(posting.weight) * rarity / lengths[text]);
                *posting = Posting { place: places[text], weight };
                marks[posting.place as usize].add(*window);
            }
            of_window.sort_unstable_by_key(|posting| posting.place);
        }
        let lengths = order.iter().map(|text| narrow(lengths[*text as usize])).collect();
        Self { windows, starts, postings, order, places, lengths, marks, groups }
    }

    /// The `most` texts most similar to this one, above [`SCORE_MIN`], the most similar first, then by index.
    #[must_use]
    pub fn most_similar(&self, text: &str, most: usize) -> Vec<NgramMatch> {
        self.query(text).search(SCORE_MIN, most).matches
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let columns = self.windows.capacity()
            + self.order.capacity()
            + self.places.capacity()
            + self.lengths.capacity();
        4 * columns
            + 8 * self.starts.capacity()
            + size_of::<Marks>() * self.marks.capacity()
            + size_of::<Posting>() * self.postings.capacity()
            + size_of::<Group>() * self.groups.capacity()
    }

    fn texts(&self) -> usize {
        self.order.len()
    }
}

/// Sorts windows of texts, which come in the order of the texts, by window and text: by the digits of the window while a second
/// copy is small, which takes a fraction of the time of comparisons.
fn by_window(mut seen: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    const DIGIT: u32 = 12;
    if !(1 << DIGIT..COPIED_MAX).contains(&seen.len()) {
        seen.sort_unstable();
        return seen;
    }
    let mut sorted = vec![(0, 0); seen.len()];
    for shift in [0, DIGIT] {
        let digit = |at: usize| ((seen[at].0 >> shift) & ((1 << DIGIT) - 1)) as usize;
        sort_by_number(&seen, &mut sorted, 1 << DIGIT, digit);
        std::mem::swap(&mut seen, &mut sorted);
    }
    seen
}

/// The inverse document frequency of a window that `spread` of all texts have.
#[expect(clippy::cast_precision_loss, reason = "fewer texts than an f64 counts exactly")]
fn rarity(texts: usize, spread: usize) -> f64 {
    libm::log(texts.max(1) as f64 / spread.max(1) as f64) + 1.0
}

/// The number of occurrences of a window.
#[expect(clippy::cast_precision_loss, reason = "at most as many as a text has bytes that are seen")]
fn count_of<T>(same: &[T]) -> f32 {
    same.len() as f32
}

/// Calls `name` with each window of a text, with repetitions; a text shorter than a window is a window itself.
fn each_window(text: &str, mut name: impl FnMut(u32)) {
    let lower = fold(text);
    let seen = cut(&lower, TEXT_BYTES_MAX);
    if seen.is_ascii() && seen.len() > WINDOW {
        seen.as_bytes().windows(WINDOW).for_each(|window| name(hash(window)));
        return;
    }
    let mut starts: Vec<usize> = seen.char_indices().map(|(at, _)| at).collect();
    starts.push(seen.len());
    if starts.len() <= WINDOW {
        if !seen.is_empty() {
            name(hash(seen.as_bytes()));
        }
    } else {
        starts.windows(WINDOW + 1).for_each(|window| name(hash(&seen.as_bytes()[window[0]..window[WINDOW]])));
    }
}

/// 24 bits of FNV-1a.
fn hash(window: &[u8]) -> u32 {
    let step = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    window.iter().fold(0x811c_9dc5, step) & HASH_MASK
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "weights of texts of 200 bytes, and scores up to 1; the digits lost are noise"
)]
fn narrow(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests;
