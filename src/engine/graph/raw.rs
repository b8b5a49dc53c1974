//! The only unsafe code: prefetch and large-page hints, which change no value. On other platforms they do nothing.

/// Size of a large page in bytes.
#[cfg(target_os = "linux")]
const LARGE_PAGE: usize = 2 << 20;
/// Size in bytes from which large pages are used.
#[cfg(target_os = "linux")]
const LARGE_LEAST: usize = 4 << 20;

/// Prefetches the first bytes of a row; does nothing for an empty row.
#[inline]
pub fn prefetch<T>(row: &[T]) {
    #[cfg(target_arch = "x86_64")]
    #[expect(
        unsafe_code,
        reason = "a prefetch reads nothing: it may be given any address, and this one is of a slice"
    )]
    // SAFETY: the instruction is part of every x86_64, and a prefetch faults on no address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(row.as_ptr().cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = row;
}

/// Requests large pages for a column of 4 MiB or more, and returns it. Call it before the column is written, when it has
/// no pages yet: then each large page is one fault and not 512, and one entry of the page table covers it.
#[must_use]
pub fn in_large_pages<T>(column: Vec<T>) -> Vec<T> {
    #[cfg(target_os = "linux")]
    {
        let bytes = column.capacity() * size_of::<T>();
        let begin = column.as_ptr().addr();
        let first = begin.next_multiple_of(LARGE_PAGE);
        let end = (begin + bytes) / LARGE_PAGE * LARGE_PAGE;
        if bytes >= LARGE_LEAST && first < end {
            let at = column.as_ptr().cast::<u8>().wrapping_add(first - begin);
            #[expect(unsafe_code, reason = "advice on how memory is paged changes nothing of what is in it")]
            // SAFETY: the range lies inside the allocation of the column, and this advice keeps the contents of pages.
            let advised = unsafe {
                rustix::mm::madvise(at.cast_mut().cast(), end - first, rustix::mm::Advice::LinuxHugepage)
            };
            // A system without large pages refuses, and small pages work as well.
            advised.unwrap_or_default();
        }
    }
    column
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_changes_nothing() {
        for len in [0, 1_000, 3 << 20] {
            let mut column: Vec<u32> = in_large_pages(vec![0; len]);
            assert!(column.len() == len && column.iter().all(|value| *value == 0));
            column.iter_mut().zip(0..).for_each(|(value, at)| *value = at);
            let again = in_large_pages(column.clone());
            prefetch(&again);
            assert_eq!(again, column);
        }
    }
}
