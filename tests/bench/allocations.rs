//! What a thread allocates: a counting allocator, for the programs that name it as theirs.
//!
//! Counts are a thread's own, so tests that run side by side do not see each other. Memory that one thread allocates and
//! another frees would be counted wrongly; nothing that is measured here does that.

#![allow(dead_code, reason = "each program of this folder uses its own part")]
#![expect(unsafe_code, reason = "an allocator is unsafe by its nature; this one hands everything on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Hands everything on to the system's allocator, and counts.
pub(crate) struct Counting;

#[derive(Clone, Copy, Default)]
struct Counts {
    allocations: u64,
    bytes: u64,
    arrays: u64,
    array_bytes: u64,
    array_least: usize,
    live: i64,
    peak: i64,
}

thread_local! {
    static COUNTS: Cell<Counts> = const { Cell::new(Counts {
        allocations: 0, bytes: 0, arrays: 0, array_bytes: 0, array_least: usize::MAX, live: 0, peak: 0,
    }) };
}

/// What some work allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Allocated {
    pub(crate) allocations: u64,
    pub(crate) bytes: u64,
    /// Allocations that are at least as large as was said, and their bytes.
    pub(crate) arrays: u64,
    pub(crate) array_bytes: u64,
    /// The most that was held at one time beyond what was held before.
    pub(crate) peak: u64,
}

/// Does some work; answers what it answers and what it allocated. `array_least`: the bytes from which an allocation is an
/// array.
pub(crate) fn counted<T>(array_least: usize, work: impl FnOnce() -> T) -> (T, Allocated) {
    let before = COUNTS.get();
    COUNTS.set(Counts { array_least, live: before.live, peak: before.live, ..Counts::default() });
    let done = work();
    let after = COUNTS.get();
    COUNTS.set(Counts { array_least: usize::MAX, live: after.live, ..Counts::default() });
    let Counts { allocations, bytes, arrays, array_bytes, .. } = after;
    let peak = (after.peak - before.live).unsigned_abs();
    (done, Allocated { allocations, bytes, arrays, array_bytes, peak })
}

fn count(grown: usize, freed: usize) {
    // A thread that ends has no counts any more.
    let _ = COUNTS.try_with(|counts| {
        let mut now = counts.get();
        if grown > 0 {
            now.allocations += 1;
            now.bytes += grown as u64;
            if grown >= now.array_least {
                now.arrays += 1;
                now.array_bytes += grown as u64;
            }
        }
        now.live += grown as i64 - freed as i64;
        now.peak = now.peak.max(now.live);
        counts.set(now);
    });
}

// SAFETY: each call is the system allocator's with the arguments as they came; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: as the caller vouches.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: as the caller vouches.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: as the caller vouches.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: as the caller vouches.
        unsafe { System.realloc(block, layout, size) }
    }
}
