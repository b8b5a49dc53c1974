//! The index after a change of some texts: postings are moved to the places that texts have by their new norms.

use super::{CharNgramIndex, Class, Gathered, Ranked, rarity, square};
use crate::graph::raw::in_large_pages;

/// Place of a text that is not in the index any more.
const GONE: u32 = u32::MAX;
/// A list of at least this share of all texts is sorted by a pass over all places, which are read so many at a time.
const DENSE: usize = 64;
const STEP: usize = 8;

/// A window after the change, with its number in the index before and among the texts added.
struct Window {
    window: u32,
    before: Option<usize>,
    added: Option<usize>,
    spread: usize,
}

/// The index with these texts added, of which `numbers` has the number of each.
pub(super) fn changed(
    index: &CharNgramIndex,
    number: impl Fn(u32) -> Option<u32>,
    added: &Gathered,
    numbers: &[u32],
) -> CharNgramIndex {
    let kept: Vec<u32> = index.order.iter().map(|text| number(*text).unwrap_or(GONE)).collect();
    let count = kept.iter().filter(|text| **text != GONE).count() + numbers.len();
    let by_window = postings_of(added);
    let windows = windows(index, &kept, &by_window, added);
    let rarities: Vec<f64> = windows.iter().map(|of| rarity(count, of.spread)).collect();
    let norms = norms(index, &windows, &rarities, (&by_window, numbers.len()));
    let order = ranked(index, &kept, &norms, (added, numbers));
    let (mut place, mut marks) = (vec![GONE; norms.len()], Vec::with_capacity(order.len()));
    for (at, ranked) in (0..).zip(&order) {
        place[ranked.before as usize] = at;
        marks.push(index.marks.get(ranked.before as usize).copied().unwrap_or_default());
    }
    let mut lists = Lists::with_room(order.len(), windows.iter().map(|of| of.spread).sum());
    let mut starts = Vec::with_capacity(windows.len() + 1);
    for of in &windows {
        starts.push(lists.postings.len());
        let range = of.before.map_or(0..0, |at| index.starts[at]..index.starts[at + 1]);
        let held = index.postings[range.clone()].iter().zip(&index.counts[range]);
        let held = held.map(|(at, count)| (place[*at as usize], *count)).filter(|(at, _)| *at != GONE);
        let more = of.added.map_or(&[][..], |number| &by_window[number]);
        let more = more.iter().map(|(text, count)| (place[index.texts() + text], *count));
        more.clone().for_each(|(at, _)| marks[at as usize].add(of.window));
        lists.push(of.spread, held.chain(more));
    }
    let Lists { postings, counts, .. } = lists;
    starts.push(postings.len());
    let windows = windows.iter().map(|of| of.window).collect();
    CharNgramIndex::of(windows, (starts, postings, counts), order, marks)
}

/// For each window of the texts added the texts that have it, ascending, and how often.
fn postings_of(added: &Gathered) -> Vec<Vec<(usize, u8)>> {
    let mut by_window = vec![Vec::new(); added.windows.len()];
    for text in 0..added.ends.len() {
        added.of(text).for_each(|(number, count)| by_window[number].push((text, count)));
    }
    by_window
}

/// The windows of all texts after the change, ascending.
fn windows(
    index: &CharNgramIndex,
    kept: &[u32],
    by_window: &[Vec<(usize, u8)>],
    added: &Gathered,
) -> Vec<Window> {
    let is_kept: Vec<bool> = kept.iter().map(|text| *text != GONE).collect();
    let stay = is_kept.iter().all(|is_kept| *is_kept);
    let spread = |at: usize| {
        let held = &index.postings[index.starts[at]..index.starts[at + 1]];
        if stay {
            return held.len();
        }
        held.iter().filter(|place| is_kept[**place as usize]).count()
    };
    let mut all: Vec<Window> = (0..)
        .zip(index.windows.iter())
        .map(|(at, window)| Window { window: *window, before: Some(at), added: None, spread: spread(at) })
        .collect();
    let held = all.len();
    for (number, met) in added.windows.iter().enumerate() {
        let more = by_window[number].len();
        match index.windows.binary_search(&met.window) {
            Ok(at) => (all[at].added, all[at].spread) = (Some(number), all[at].spread + more),
            Err(_) => {
                all.push(Window { window: met.window, before: None, added: Some(number), spread: more })
            }
        }
    }
    if all.len() > held {
        all.sort_unstable_by_key(|of| of.window);
    }
    all.retain(|of| of.spread > 0);
    all
}

/// The squares of the norms of all texts: by place before, then of those added.
fn norms(
    index: &CharNgramIndex,
    windows: &[Window],
    rarities: &[f64],
    (by_window, more): (&[Vec<(usize, u8)>], usize),
) -> Vec<u64> {
    let mut norms = vec![0; index.texts() + more];
    for (of, rarity) in windows.iter().zip(rarities) {
        // A text has most windows once or twice.
        let few = [0, 1, 2].map(|count| square(count, *rarity));
        let of_count =
            |count: u8| few.get(usize::from(count)).copied().unwrap_or_else(|| square(count, *rarity));
        if let Some(at) = of.before {
            let range = index.starts[at]..index.starts[at + 1];
            for (place, count) in index.postings[range.clone()].iter().zip(&index.counts[range]) {
                norms[*place as usize] += of_count(*count);
            }
        }
        for (text, count) in of.added.map_or(&[][..], |number| &by_window[number]) {
            norms[index.texts() + text] += of_count(*count);
        }
    }
    norms
}

/// All texts after the change, in their order.
fn ranked(
    index: &CharNgramIndex,
    kept: &[u32],
    norms: &[u64],
    (added, numbers): (&Gathered, &[u32]),
) -> Vec<Ranked> {
    let mut order = Vec::with_capacity(norms.len());
    for group in index.groups.iter() {
        let class = Class { is_long: !group.are_names, repeats: group.repeats };
        let texts = (group.begin..group.end).filter(|at| kept[*at] != GONE);
        order.extend(texts.map(|at| Ranked { class, norm: norms[at], text: kept[at], before: place_of(at) }));
    }
    let first = index.texts();
    for (at, text) in numbers.iter().enumerate() {
        let class = Class { is_long: !added.is_name[at], repeats: added.repeats[at] };
        order.push(Ranked { class, norm: norms[first + at], text: *text, before: place_of(first + at) });
    }
    order.sort_unstable();
    order
}

fn place_of(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(GONE)
}

/// Posting lists, one after the other.
struct Lists {
    postings: Vec<u32>,
    counts: Vec<u8>,
    /// How often the text at each place has the window at hand.
    by_place: Vec<u8>,
    /// Postings to sort: places above counts.
    sorted: Vec<u64>,
}

impl Lists {
    fn with_room(texts: usize, total: usize) -> Self {
        Self {
            postings: in_large_pages(Vec::with_capacity(total)),
            counts: Vec::with_capacity(total),
            by_place: vec![0; texts],
            sorted: Vec::new(),
        }
    }

    /// Adds a list of so many postings, in any order.
    fn push(&mut self, count: usize, list: impl Iterator<Item = (u32, u8)>) {
        if count < self.by_place.len() / DENSE {
            self.sorted.clear();
            self.sorted.extend(list.map(|(place, count)| u64::from(place) << 8 | u64::from(count)));
            self.sorted.sort_unstable();
            self.postings
                .extend(self.sorted.iter().map(|posting| u32::try_from(posting >> 8).unwrap_or(GONE)));
            self.counts.extend(self.sorted.iter().map(|posting| posting.to_le_bytes()[0]));
            return;
        }
        list.for_each(|(place, count)| self.by_place[place as usize] = count);
        for (first, counts) in (0..).step_by(STEP).zip(self.by_place.chunks_mut(STEP)) {
            if counts.iter().any(|count| *count > 0) {
                let held = (first..).zip(counts.iter()).filter(|(_, count)| **count > 0);
                self.postings.extend(held.map(|(place, _)| place));
                self.counts.extend(counts.iter().filter(|count| **count > 0));
                counts.fill(0);
            }
        }
    }
}
