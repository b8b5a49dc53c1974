//! Texts that are nearly right, for tests of whatever reads text: seeds with a few bytes changed, the same from each seed.

/// How many of them a reader must bear at each commit.
pub(crate) const MANY: usize = 20_000;

/// Endless texts, each one of `seeds` with one to six changes: a byte replaced, left out or put in, a piece doubled, moved
/// or swapped for one of another seed. What is no UTF-8 any more is mended with `�`.
pub(crate) fn mutated<'a>(seeds: &'a [&'a str], mut state: u64) -> impl Iterator<Item = String> + 'a {
    let mut below = move |end: usize| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % end.max(1) as u64).unwrap_or(0)
    };
    std::iter::repeat_with(move || {
        let mut text = seeds[below(seeds.len())].as_bytes().to_vec();
        for _ in 0..=below(6) {
            let at = below(text.len() + 1);
            let end = (at + below(12)).min(text.len());
            let piece = match below(3) {
                0 => text[at..end].to_vec(),
                1 => {
                    let other = seeds[below(seeds.len())].as_bytes();
                    let from = below(other.len() + 1);
                    other[from..(from + below(12)).min(other.len())].to_vec()
                }
                _ => vec![b"\0\n\"'[]{}:=#,.*-+/0919eE\\ \xff\xc3"[below(27)]],
            };
            match below(3) {
                0 => drop(text.splice(at..at, piece)),
                1 => drop(text.splice(at..end, piece)),
                _ => drop(text.drain(at..end)),
            }
        }
        String::from_utf8_lossy(&text).into_owned()
    })
}
