//! Counting sort: items by a small number, without comparisons.

/// Sorts items into `sorted`, which is as long, by numbers below `count`; those of one number stay in their order. `number` is that
/// of the item at an index. Returns the end of each number in `sorted`.
pub(crate) fn sort_by_number<T: Copy>(
    items: &[T],
    sorted: &mut [T],
    count: usize,
    number: impl Fn(usize) -> usize,
) -> Vec<usize> {
    let mut ends = vec![0_usize; count];
    for at in 0..items.len() {
        ends[number(at)] += 1;
    }
    let mut begin = 0;
    for end in &mut ends {
        begin += std::mem::replace(end, begin);
    }
    for (at, item) in items.iter().enumerate() {
        let end = &mut ends[number(at)];
        sorted[*end] = *item;
        *end += 1;
    }
    ends
}
