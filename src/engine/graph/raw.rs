//! The unsafe leaf: hints to the processor and to the system that change no value. Where there is nobody to hear them they
//! do nothing.

/// Bytes of a large page.
#[cfg(target_os = "linux")]
const LARGE_PAGE: usize = 2 << 20;
/// Bytes from which a column is worth large pages.
#[cfg(target_os = "linux")]
const LARGE_LEAST: usize = 4 << 20;

/// Asks for the first bytes of a row before they are needed. A row that is empty is no concern.
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

/// Asks the system for large pages for a column of 4 MiB or more, and hands it back. To be asked before the column is
/// written, when it has no pages yet: then each large page is one fault and not 512, and one entry of the processor's table
/// of pages serves it.
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
            // SAFETY: the range lies inside what the column has allocated, and this advice keeps what pages hold.
            let heard = unsafe {
                rustix::mm::madvise(at.cast_mut().cast(), end - first, rustix::mm::Advice::LinuxHugepage)
            };
            // A system without large pages says no, and small ones do as well.
            heard.unwrap_or_default();
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
