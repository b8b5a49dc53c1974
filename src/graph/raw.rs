//! The unsafe leaf: hints to the processor that change no value. On other processors they do nothing.

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
