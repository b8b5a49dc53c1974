//! One look-up among trigrams: the texts that are most like one that is asked for, from as few postings as that takes.
//!
//! Both vectors have length 1, so what a text can still gain from some of the asked windows has two bounds: by Cauchy and
//! Schwarz the root of the sum of their squared weights in the question, times that of what the text has left for them; and
//! the sum of what it would have of each if it had all, as often as it repeats any, divided by its own length. A bar rises
//! with what was found: who cannot reach it need not be read.
//!
//! * The lists of the asked windows stand by length, so that the common windows, which weigh least, come last. As soon as
//!   the last ones together cannot lift a text to the bar, they are not walked but only looked into for texts that the
//!   others found (*MaxScore*: Turtle and Flood, 1995), and that only where the mark of a text allows the window.
//! * Texts stand by the length of their vectors. One that is much shorter than what is asked cannot be like it, one that is
//!   much longer neither. Those of like length and longer ones come first, so that the bar is high when the shorter are
//!   looked at, and both ends are left out where the bar says so.
//! * What is walked is summed up in frames of 256 texts: memory of the size of a page, whatever the index has.
//!
//! # Design notes
//! A bound for each text comes from its own length, which is tighter than a maximum stored for a block of postings, and
//! takes no room.
//!
//! Weights are stored as `f32`; bounds carry a slack that is far above their rounding, so none is too low. A score is
//! summed in `f64` in the order of the lists, the shortest first and of equals the smaller window, whichever way a text was
//! found: content alone decides its bits.

use super::{CharNgramIndex, Group, Like, Posting, count_of, each_window, mark, narrow, rarity};
use crate::best::Best;
use std::cmp::Reverse;

/// So many texts are summed up at once.
const FRAME: usize = 256;
/// The same, as places are counted.
const FRAME_PLACES: u32 = 256;
/// Groups up to this size are walked at one go.
const SMALL: usize = 4 * FRAME;
/// Texts from this part of the asked length on are walked first.
const NEAR: f64 = 0.9;
/// Bounds are raised by this much, which is far above what rounding takes from them.
const SLACK: f64 = 1.0 + 1e-5;
/// What rounding may hide of a squared length.
const SQUARE_SLACK: f64 = 1e-5;

/// A text that is asked for, weighed as the texts of the index are.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    index: &'a CharNgramIndex,
    /// Those windows that the index has, the fewest postings first.
    lists: Vec<List<'a>>,
    /// Of its vector.
    length: f64,
    /// How often it has the window that it has most often.
    repeats: f64,
}

#[derive(Debug, Clone, Copy)]
struct List<'a> {
    postings: &'a [Posting],
    /// Of the window in the question, which has length 1.
    weight: f64,
    /// What it can give to a text that has it once, times the length of that.
    reach: f64,
    mark: u64,
}

/// What was found, and what that took.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The likest first, of equals the earlier.
    pub like: Vec<Like>,
    /// How many postings were looked at.
    pub postings_read: u64,
}

impl CharNgramIndex {
    /// Weighs a text, so that it can be compared with those of the index.
    #[must_use]
    pub fn asked(&self, text: &str) -> Asked<'_> {
        let mut windows = Vec::new();
        each_window(text, |window| windows.push(window));
        windows.sort_unstable();
        let (mut lists, mut square, mut repeats) = (Vec::new(), 0.0, 1.0_f64);
        for same in windows.chunk_by(|a, b| a == b) {
            let place = self.windows.binary_search(&same[0]);
            let postings = place.map_or(&[][..], |at| &self.postings[self.starts[at]..self.starts[at + 1]]);
            let (count, rarity) = (f64::from(count_of(same)), rarity(self.texts(), postings.len()));
            let weight = count * rarity;
            square += weight * weight;
            repeats = repeats.max(count);
            if !postings.is_empty() {
                lists.push(List { postings, weight, reach: rarity, mark: mark(same[0]) });
            }
        }
        let length = f64::sqrt(square);
        for list in &mut lists {
            list.weight /= length;
            list.reach *= list.weight;
        }
        // Stable: of equals the smaller window stays first.
        lists.sort_by_key(|list| list.postings.len());
        Asked { index: self, lists, length, repeats }
    }
}

impl Asked<'_> {
    /// How like it is to one text of the index, `0 ..= 1`; 0 where the index has no such text.
    #[must_use]
    pub fn score(&self, text: u32) -> f32 {
        let Some(place) = self.index.places.get(text as usize) else { return 0.0 };
        let marks = self.index.marks[*place as usize];
        let gain = |list: &List<'_>| {
            let at = list.postings.binary_search_by_key(place, |posting| posting.place).ok()?;
            Some(list.weight * f64::from(list.postings[at].weight))
        };
        let possible = self.lists.iter().filter(|list| marks & list.mark != 0);
        narrow(possible.filter_map(gain).sum::<f64>().min(1.0))
    }

    /// The `most` texts that are most like it, each by more than `least`.
    #[must_use]
    pub fn search(&self, least: f64, most: usize) -> Found {
        let mut search = Search::of(self, least, most);
        if most > 0 && !self.lists.is_empty() {
            self.index.groups.iter().for_each(|group| search.group(*group));
        }
        let like = search.best.into_sorted().into_iter();
        let like = like.map(|(score, Reverse(text))| Like { text, score: f32::from_bits(score) }).collect();
        Found { like, postings_read: search.postings_read }
    }
}

/// Where a list is looked at.
#[derive(Debug, Clone, Copy, Default)]
struct Cursor {
    at: usize,
    /// The place of the posting there; `u32::MAX` behind the last one.
    place: u32,
}

/// What walked lists give to the texts of a frame.
struct Frame {
    scores: [f64; FRAME],
    /// The squared weights of what was found in each text.
    squares: [f64; FRAME],
    touched: [u64; FRAME / 64],
}

/// A look-up under way.
struct Search<'a> {
    asked: &'a Asked<'a>,
    cursors: Vec<Cursor>,
    /// By how many of the first lists are left out: the root of the squared weights of the others, and their reach.
    rest: Vec<(f64, f64)>,
    frame: Frame,
    least: f64,
    /// Who cannot reach this is not looked for.
    bar: f64,
    best: Best<(u32, Reverse<u32>)>,
    postings_read: u64,
}

impl<'a> Search<'a> {
    fn of(asked: &'a Asked<'a>, least: f64, most: usize) -> Self {
        let mut rest = vec![(0.0, 0.0); asked.lists.len() + 1];
        for (place, list) in asked.lists.iter().enumerate().rev() {
            let (square, reach) = rest[place + 1];
            rest[place] = (square + list.weight * list.weight, reach + list.reach);
        }
        rest.iter_mut().for_each(|(square, _)| *square = f64::sqrt(*square));
        Self {
            asked,
            cursors: vec![Cursor::default(); asked.lists.len()],
            rest,
            frame: Frame { scores: [0.0; FRAME], squares: [0.0; FRAME], touched: [0; FRAME / 64] },
            least,
            bar: least,
            best: Best::new(most),
            postings_read: 0,
        }
    }

    fn length(&self, place: u32) -> f64 {
        f64::from(self.asked.index.lengths[place as usize])
    }

    fn group(&mut self, group: Group) {
        let Group { begin, end, repeats } = group;
        let lengths = &self.asked.index.lengths[begin..end];
        let from = |length: f64| begin + lengths.partition_point(|other| f64::from(*other) < length);
        let near = if end - begin > SMALL { from(self.asked.length * NEAR) } else { end };
        self.walk(near, end, f64::from(repeats));
        // A text gains at most its length over that of the question, times the greatest count there.
        let short = from(self.bar * self.asked.length / self.asked.repeats / SLACK);
        self.walk(short, near, f64::from(repeats));
    }

    /// What texts of this length can gain at most from all but the first `done` lists.
    fn bound(&self, done: usize, repeats: f64, length: f64) -> f64 {
        let (root, reach) = self.rest[done];
        root.min(reach * repeats / length) * SLACK
    }

    /// Looks at the texts of these places, which are of one group.
    fn walk(&mut self, begin: usize, end: usize, repeats: f64) {
        let (Ok(begin), Ok(end)) = (u32::try_from(begin), u32::try_from(end)) else { return };
        for cursor in self.cursors.iter_mut().filter(|cursor| cursor.place > begin) {
            *cursor = Cursor::default();
        }
        let (mut from, mut walked) = (begin, self.asked.lists.len());
        while from < end {
            // As many of the first lists are walked as it takes that the others cannot lift a text to the bar.
            let length = self.length(from);
            while walked > 0 && self.bound(walked - 1, repeats, length) < self.bar {
                walked -= 1;
            }
            for list in 0..walked {
                self.seek(list, from);
            }
            let first = self.cursors[..walked].iter().map(|cursor| cursor.place).min();
            let Some(first) = first.filter(|first| *first < end) else { break };
            from = first.saturating_add(FRAME_PLACES).min(end);
            for list in 0..walked {
                self.sum_up(list, first, from);
            }
            self.look(first, walked, repeats);
        }
    }

    /// Adds to the frame what a list gives to texts from `first` on, up to `end`.
    fn sum_up(&mut self, list: usize, first: u32, end: u32) {
        let Cursor { at, place } = self.cursors[list];
        if place >= end {
            return;
        }
        let List { postings, weight, .. } = self.asked.lists[list];
        let rest = &postings[at..];
        let mut read = 0;
        for posting in rest.iter().take_while(|posting| posting.place < end) {
            let cell = (posting.place - first) as usize;
            let held = f64::from(posting.weight);
            self.frame.scores[cell] += weight * held;
            self.frame.squares[cell] += held * held;
            self.frame.touched[cell / 64] |= 1 << (cell % 64);
            read += 1;
        }
        self.postings_read += read as u64;
        self.cursors[list] =
            Cursor { at: at + read, place: rest.get(read).map_or(u32::MAX, |posting| posting.place) };
    }

    /// Looks at the texts of the frame that begins at `first` and clears it.
    fn look(&mut self, first: u32, walked: usize, repeats: f64) {
        let gain_max = self.bound(walked, repeats, self.length(first));
        for (word, place) in (0..FRAME / 64).zip((first..).step_by(64)) {
            let mut touched = std::mem::take(&mut self.frame.touched[word]);
            while touched != 0 {
                let bit = touched.trailing_zeros();
                touched &= touched - 1;
                let cell = 64 * word + bit as usize;
                let score = std::mem::take(&mut self.frame.scores[cell]);
                let square = std::mem::take(&mut self.frame.squares[cell]);
                if score + gain_max >= self.bar {
                    self.complete(place + bit, score, square, walked, repeats);
                }
            }
        }
    }

    /// Looks into the lists that are not walked for a text that has `score` of the others, and takes it in if it may be
    /// among the best.
    fn complete(&mut self, place: u32, mut score: f64, square: f64, walked: usize, repeats: f64) {
        let marks = self.asked.index.marks[place as usize];
        let others = &self.asked.lists[walked..];
        let possible = |list: &List<'_>| marks & list.mark != 0;
        let (mut asked, mut reach) = (0.0, 0.0);
        for list in others.iter().filter(|list| possible(list)) {
            asked += list.weight * list.weight;
            reach += list.reach;
        }
        let mut left = 1.0 + SQUARE_SLACK - square;
        let per_reach = repeats / self.length(place);
        for (list, other) in (walked..).zip(others).filter(|(_, list)| possible(list)) {
            let root = f64::sqrt((asked * left).max(0.0));
            if score + (root.min(reach * per_reach) + SQUARE_SLACK) * SLACK < self.bar {
                return;
            }
            self.seek(list, place);
            if self.cursors[list].place == place {
                let held = f64::from(other.postings[self.cursors[list].at].weight);
                score += other.weight * held;
                left -= held * held;
            }
            asked -= other.weight * other.weight;
            reach -= other.reach;
        }
        if score > self.least {
            let text = self.asked.index.order[place as usize];
            self.best.offer((narrow(score.min(1.0)).to_bits(), Reverse(text)));
            if let Some((worst, _)) = self.best.bar() {
                self.bar = self.bar.max(f64::from(f32::from_bits(*worst)));
            }
        }
    }

    /// Goes on in a list to a place, or to the first behind it: by steps that double and then by halves, or at once by
    /// halves where it was not looked at before.
    fn seek(&mut self, list: usize, place: u32) {
        let cursor = self.cursors[list];
        if cursor.place >= place && cursor.place > 0 {
            return;
        }
        let rest = &self.asked.lists[list].postings[cursor.at..];
        let (mut low, mut high) = (0, if cursor.at == 0 { rest.len() } else { 1 });
        while high < rest.len() && rest[high].place < place {
            (low, high) = (high, 2 * high);
            self.postings_read += 1;
        }
        high = high.min(rest.len());
        while low < high {
            let middle = low.midpoint(high);
            self.postings_read += 1;
            if rest[middle].place < place {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        self.cursors[list] =
            Cursor { at: cursor.at + low, place: rest.get(low).map_or(u32::MAX, |posting| posting.place) };
    }
}
