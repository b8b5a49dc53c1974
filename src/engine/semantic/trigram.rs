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
//! A posting has the count of a window, not its weight, which is the product of that and its rarity: a score is divided by the
//! norm of the text at the end. Postings are sorted by the norm of the vector of their text, smallest first, in groups by how often a text repeats a
//! window, and those of names apart from those of longer texts, so that a search of names does not read the others; each text has a
//! 256-bit signature that rules most windows out. How a search uses these to read few postings is described in [`search`].
//!
//! After a change of some texts the rarity of all windows is another, and with it every norm and the order of texts. But a norm is
//! a sum over postings, and most texts keep their windows: so postings are not gathered again, only moved to the new places of their
//! texts. Squares are summed as whole numbers, which have one sum in any order.
//!
//! Invariants: scores equal the cosine computed for every pair (held by `trigram_oracle`); early termination does not
//! change a result (held by `early_termination_changes_no_result`).

mod changes;
pub mod search;

use crate::folded::Folded;
use crate::graph::raw::{in_large_pages, prefetch};
use crate::text::fold::{cut, fold};
use std::collections::HashMap;
use std::sync::Arc;

/// Indexed part of a text, in bytes of its lower case.
pub const TEXT_BYTES_MAX: usize = 200;
/// Similarities up to this count as 0.
pub const SCORE_MIN: f64 = 0.01;

const WINDOW: usize = 3;
/// How many texts ahead their windows are prefetched.
const AHEAD: usize = 8;
const HASH_MASK: u32 = 0x00ff_ffff;

/// An index of texts.
#[derive(Debug, Clone)]
pub struct CharNgramIndex {
    /// The windows of all texts, ascending.
    windows: Arc<Vec<u32>>,
    /// Where the postings of each window begin, and the end of the last.
    starts: Arc<Vec<usize>>,
    /// The places of the texts with each window, ascending, and how often each has it.
    postings: Arc<Vec<u32>>,
    counts: Arc<Vec<u8>>,
    /// Texts by place: group after group, and in each group by norm ascending.
    order: Vec<u32>,
    /// The place of each text.
    places: Vec<u32>,
    /// Norm of the vector at each place.
    lengths: Arc<Vec<f32>>,
    /// Signature of the text at each place.
    marks: Arc<Vec<Marks>>,
    groups: Arc<Vec<Group>>,
}

/// A signature: one of 256 bits for each window of a text.
#[derive(Debug, Clone, Copy, Default)]
struct Marks([u64; 4]);

impl Marks {
    /// The bit of a window: the first eight bits of its scrambled hash.
    const fn bit(window: u32) -> u8 {
        window.wrapping_mul(0x9e37_79b1).to_be_bytes()[0]
    }

    fn add(&mut self, window: u32) {
        let bit = Self::bit(window);
        self.0[usize::from(bit >> 6)] |= 1 << (bit & 63);
    }

    /// 1 if a text may have the window of a bit, else 0.
    const fn may_have(&self, bit: u8) -> u64 {
        self.0[(bit >> 6) as usize] >> (bit & 63) & 1
    }
}

/// What texts are grouped by: names first, then by the greatest count of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Class {
    is_long: bool,
    repeats: u8,
}

/// A text with what its place goes by, and its number or place before that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ranked {
    class: Class,
    /// Square of its norm.
    norm: u64,
    text: u32,
    before: u32,
}

/// The groups of texts in their order.
fn groups(order: &[Ranked]) -> Vec<Group> {
    let mut begin = 0;
    let of_class = order.chunk_by(|a, b| a.class == b.class).map(|texts| {
        let Class { is_long, repeats } = texts[0].class;
        let group = Group { begin, end: begin + texts.len(), repeats, are_names: !is_long };
        begin = group.end;
        group
    });
    of_class.collect()
}

/// Parts of a whole in squares of norms: these are below 2^24, as a text has at most 198 windows and a rarity is below 24.
const SQUARE_PARTS: f64 = 549_755_813_888.0;

/// The square of the weight of a window in a text.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a square, below 2^63 in parts")]
fn square(times: u8, rarity: f64) -> u64 {
    (SQUARE_PARTS * (f64::from(times) * rarity).powi(2)).round() as u64
}

/// The norm of a text from its square.
#[expect(clippy::cast_precision_loss, reason = "the digits lost are noise")]
fn length(square: u64) -> f32 {
    narrow(f64::sqrt(square as f64 / SQUARE_PARTS))
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
        let mut gathered = Gathered::default();
        for (text, (content, is_name)) in (1..=u32::MAX).zip(texts) {
            gathered.push(text, content, is_name);
        }
        gathered.into_index()
    }

    /// The index of texts in their order, with the postings of each window and the signature of each text.
    fn of(
        windows: Vec<u32>,
        (starts, postings, counts): (Vec<usize>, Vec<u32>, Vec<u8>),
        order: Vec<Ranked>,
        marks: Vec<Marks>,
    ) -> Self {
        let mut places = vec![0; order.len()];
        (0..).zip(&order).for_each(|(at, ranked)| places[ranked.text as usize] = at);
        Self {
            windows: Arc::new(windows),
            starts: Arc::new(starts),
            postings: Arc::new(postings),
            counts: Arc::new(counts),
            lengths: Arc::new(order.iter().map(|ranked| length(ranked.norm)).collect()),
            groups: Arc::new(groups(&order)),
            order: order.into_iter().map(|ranked| ranked.text).collect(),
            places,
            marks: Arc::new(marks),
        }
    }

    /// The index after a change of some texts: `number` is the new one of each text that stays; the others are added, each with its
    /// number and whether it is a name.
    #[must_use]
    pub(crate) fn changed<'a>(
        &self,
        number: impl Fn(u32) -> Option<u32>,
        added: impl IntoIterator<Item = (u32, &'a str, bool)>,
    ) -> Self {
        let (mut gathered, mut texts) = (Gathered::default(), Vec::new());
        for (at, (text, content, is_name)) in (1..=u32::MAX).zip(added) {
            gathered.push(at, content, is_name);
            texts.push(text);
        }
        changes::changed(self, number, &gathered, &texts)
    }

    /// The same texts under other numbers: `places` has the new one of each.
    #[must_use]
    pub fn renumbered(&self, places: &[u32]) -> Self {
        let order: Vec<u32> = self.order.iter().map(|text| places[*text as usize]).collect();
        let mut renumbered = Self { places: vec![0; order.len()], order, ..self.clone() };
        for (place, text) in (0..).zip(&renumbered.order) {
            renumbered.places[*text as usize] = place;
        }
        renumbered
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
            + self.postings.capacity()
            + self.order.capacity()
            + self.places.capacity()
            + self.lengths.capacity();
        4 * columns
            + 8 * self.starts.capacity()
            + size_of::<Marks>() * self.marks.capacity()
            + self.counts.capacity()
            + size_of::<Group>() * self.groups.capacity()
    }

    fn texts(&self) -> usize {
        self.order.len()
    }
}

/// Texts by their windows, to be made an index of.
#[derive(Default)]
struct Gathered {
    /// Number of each window, in the order in which they were first met.
    numbers: HashMap<u32, u32, Folded>,
    windows: Vec<MetWindow>,
    /// Windows of all texts, each once for a text, by number, with how often the text has it in the upper bits.
    seen: Vec<u32>,
    /// Where the windows of each text end.
    ends: Vec<usize>,
    /// Greatest count of a window of each text: a power of two, or 255.
    repeats: Vec<u8>,
    is_name: Vec<bool>,
}

/// A window of the texts so far.
struct MetWindow {
    window: u32,
    /// Number of texts with it.
    spread: usize,
    /// The last of these, from 1, and where it has it in `seen`.
    last: u32,
    place: usize,
}

/// One occurrence: above all numbers of windows, which have 24 bits. A text has at most 198.
const ONCE: u32 = HASH_MASK + 1;

impl Gathered {
    /// Adds a text, by its number from 1.
    fn push(&mut self, text: u32, content: &str, is_name: bool) {
        let Self { numbers, windows, seen, .. } = self;
        let mut most = 1;
        each_window(content, |window| {
            let number = *numbers.entry(window).or_insert_with(|| {
                windows.push(MetWindow { window, spread: 0, last: 0, place: 0 });
                u32::try_from(windows.len() - 1).unwrap_or(HASH_MASK)
            });
            let met = &mut windows[number as usize];
            if met.last == text {
                seen[met.place] += ONCE;
                most = most.max(seen[met.place] / ONCE);
            } else {
                (met.last, met.place) = (text, seen.len());
                met.spread += 1;
                seen.push(ONCE + number);
            }
        });
        self.ends.push(self.seen.len());
        self.repeats.push(u8::try_from(most.next_power_of_two()).unwrap_or(u8::MAX));
        self.is_name.push(is_name);
    }

    fn begin(&self, text: usize) -> usize {
        if text == 0 { 0 } else { self.ends[text - 1] }
    }

    /// The windows of a text by number, with how often it has each.
    fn of(&self, text: usize) -> impl Iterator<Item = (usize, u8)> {
        let seen = &self.seen[self.begin(text)..self.ends[text]];
        seen.iter().map(|seen| ((seen & HASH_MASK) as usize, u8::try_from(seen / ONCE).unwrap_or(u8::MAX)))
    }

    /// Texts in an order of their own first, then postings in that of their places: so nothing but the texts and the windows is
    /// sorted.
    fn into_index(self) -> CharNgramIndex {
        let count = self.ends.len();
        let rarities: Vec<f64> = self.windows.iter().map(|met| rarity(count, met.spread)).collect();
        let norm = |text| self.of(text).fold(0, |sum, (number, times)| sum + square(times, rarities[number]));
        let class = |text: usize| Class { is_long: !self.is_name[text], repeats: self.repeats[text] };
        let mut order: Vec<Ranked> = (0..count)
            .zip(0..)
            .map(|(at, text)| Ranked { class: class(at), norm: norm(at), text, before: text })
            .collect();
        order.sort_unstable();
        let mut by_window: Vec<usize> = (0..self.windows.len()).collect();
        by_window.sort_unstable_by_key(|number| self.windows[*number].window);
        let (mut starts, mut next, mut total) = (Vec::new(), vec![0; by_window.len()], 0);
        for number in &by_window {
            starts.push(total);
            next[*number] = total;
            total += self.windows[*number].spread;
        }
        starts.push(total);
        let (mut postings, mut counts) = (in_large_pages(vec![0; total]), vec![0; total]);
        let mut marks = vec![Marks::default(); count];
        for (at, Ranked { text, .. }) in order.iter().enumerate() {
            if let Some(Ranked { text: ahead, .. }) = order.get(at + AHEAD) {
                prefetch(&self.seen[self.begin(*ahead as usize)..]);
            }
            let (text, place) = (*text as usize, u32::try_from(at).unwrap_or(u32::MAX));
            for seen in &self.seen[self.begin(text)..self.ends[text]] {
                let number = (seen & HASH_MASK) as usize;
                postings[next[number]] = place;
                counts[next[number]] = u8::try_from(seen / ONCE).unwrap_or(u8::MAX);
                next[number] += 1;
                marks[at].add(self.windows[number].window);
            }
        }
        let windows = by_window.iter().map(|number| self.windows[*number].window).collect();
        CharNgramIndex::of(windows, (starts, postings, counts), order, marks)
    }
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
